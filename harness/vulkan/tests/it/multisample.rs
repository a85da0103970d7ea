//! Every bit pattern of multisampled images is uploaded and read back, sample by sample.

use assay_spirv::tables::ImageFormat;
use assay_testkit::Shader;
use assay_vulkan::{
    BindingLayout, Bindings, Device, DeviceOptions, Dispatch, Error, ImageDim, ImageSpec, ImageView, PhysicalDevice,
    PipelineDesc, Resource, ResourceSpec, TexelFormat,
};

use crate::devices::{LONG, on_each_driver};

fn image(format: TexelFormat, layers: u32) -> ImageSpec {
    ImageSpec {
        dim: ImageDim::D2,
        arrayed: layers > 1,
        extent: [3, 2, 1],
        layers,
        levels: 1,
        samples: 4,
        format,
        view: ImageView::ALL,
    }
}

fn bound(resources: impl IntoIterator<Item = Resource>) -> Vec<ResourceSpec> {
    (0..).zip(resources).map(|(binding, resource)| ResourceSpec { set: 0, binding, element: 0, resource }).collect()
}

/// Runs a module once on resources with these contents; returns the contents afterwards.
fn run(
    physical: &PhysicalDevice,
    code: &[u32],
    specs: &[ResourceSpec],
    contents: &[Vec<u8>],
) -> Result<Vec<Vec<u8>>, Error> {
    let device = Device::open(physical, &DeviceOptions::default()).unwrap();
    let layout = BindingLayout::of(specs)?;
    let pipeline =
        device.pipeline(&PipelineDesc { bindings: Bindings::Listed(&layout), ..PipelineDesc::new(code, 0) })?;
    let mut slot = device.dispatch_slot_of(specs)?;
    for (index, bytes) in contents.iter().enumerate() {
        slot.write::<u8>(index)?.copy_from_slice(bytes);
    }
    slot.submit(&pipeline, &Dispatch::linear(1))?;
    slot.wait(LONG)?;
    (0..specs.len()).map(|index| Ok(slot.read::<u8>(index)?.to_vec())).collect()
}

#[test]
fn samples_are_fetched_and_stored_one_by_one() {
    let code = assay_spirv::assemble(include_str!("multisample.spvasm")).unwrap();
    let color = TexelFormat::Color(ImageFormat::R32ui);
    let specs = bound([Resource::SampledImage(image(color, 2)), Resource::StorageImage(image(color, 1))]);
    let words = |first: u32, n: u32| (first..first + n).flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
    let contents = [words(1000, 48), words(70_000, 24)];
    on_each_driver(|physical| {
        let after = run(physical, &code, &specs, &contents).unwrap();
        assert_eq!(after[0], contents[0]);
        let sums = (0..24u32).flat_map(|i| (70_000 + i + 1024 + i).to_le_bytes());
        assert_eq!(after[1], sums.collect::<Vec<_>>());
    });
}

/// NaNs with payload and denormals included.
#[test]
fn every_bit_pattern_survives() {
    use ImageFormat as F;
    let code = assay_spirv::assemble(&Shader::default().text()).unwrap();
    let formats = [F::R8, F::R8ui, F::Rg8, F::R16f, F::Rgba8, F::R32f, F::Rgb10A2, F::Rgba16f, F::Rg32ui, F::Rgba32f];
    on_each_driver(|physical| {
        let mut stored = 0;
        for format in formats.map(TexelFormat::Color) {
            let spec = image(format, 2);
            let bytes = spec.bytes().unwrap();
            let contents: Vec<u8> = (0..bytes).map(|i| (i as u32).wrapping_mul(0x9e37_79b1).to_le_bytes()[3]).collect();
            let contents = [contents];
            let after = run(physical, &code, &bound([Resource::SampledImage(spec)]), &contents).unwrap();
            assert_eq!(after, contents, "{}", format.name());
            // Not every format can be stored.
            match run(physical, &code, &bound([Resource::StorageImage(spec)]), &contents) {
                Ok(after) => {
                    assert_eq!(after, contents, "{}", format.name());
                    stored += 1;
                }
                Err(Error::NotSupported { .. }) => {}
                Err(error) => panic!("{}: {error}", format.name()),
            }
        }
        assert!(stored >= 4, "{stored} formats can be stored");
        let depths: Vec<u8> = (0..48u32).flat_map(|i| (i as f32 / 47.0).to_le_bytes()).collect();
        let specs = bound([Resource::SampledImage(image(TexelFormat::Depth32, 2))]);
        let after = run(physical, &code, &specs, std::slice::from_ref(&depths)).unwrap();
        assert_eq!(after[0], depths);
    });
}

/// A depth buffer holds numbers from 0 to 1: others cannot be uploaded, which is not a fault of the
/// shader's device.
#[test]
fn an_image_that_cannot_be_filled_is_an_error() {
    let code = assay_spirv::assemble(&Shader::default().text()).unwrap();
    let specs = bound([Resource::SampledImage(image(TexelFormat::Depth32, 1))]);
    let mut depths = [0.5f32; 24];
    depths[17] = 2.0;
    let contents = depths.iter().flat_map(|depth| depth.to_le_bytes()).collect();
    on_each_driver(|physical| {
        let error = run(physical, &code, &specs, std::slice::from_ref(&contents)).unwrap_err().to_string();
        let expected =
            "filling a multisampled image failed with sample 1 of texel (1, 1) in layer 0, which holds 0x3f800000";
        assert!(error.contains(expected), "{error}");
    });
}

#[test]
fn numbers_of_samples_that_cannot_be_are_refused_with_the_reason() {
    on_each_driver(|physical| {
        let device = Device::open(physical, &DeviceOptions::default()).unwrap();
        let float = image(TexelFormat::Color(ImageFormat::R32f), 1);
        for (spec, part) in [
            (ImageSpec { samples: 3, ..float }, "cannot have 3 samples"),
            (ImageSpec { samples: 0, ..float }, "no bytes"),
            (ImageSpec { samples: 64, ..float }, "at most 32"),
            (ImageSpec { samples: 32, ..float }, "with 32 samples (only 1,"),
            (ImageSpec { levels: 2, ..float }, "of 2 levels cannot have 4 samples"),
            (ImageSpec { format: TexelFormat::Stencil8, ..float }, "a multisampled image of"),
        ] {
            let error = device.dispatch_slot_of(&bound([Resource::SampledImage(spec)])).err().unwrap();
            let fits = matches!(error, Error::Invalid { .. } | Error::NotSupported { .. });
            assert!(fits && error.to_string().contains(part), "expected {part}: {error}");
        }
        let without = ["shaderStorageImageMultisample".to_owned()].into();
        let device = Device::open(physical, &DeviceOptions { without, ..Default::default() }).unwrap();
        let error = device.dispatch_slot_of(&bound([Resource::StorageImage(float)])).err().unwrap();
        assert!(error.to_string().contains("shaderStorageImageMultisample"), "{error}");
    });
}
