//! Every kind of descriptor, in several sets and in arrays, is uploaded and read back.

use assay_spirv::reflect::DescriptorKind;
use assay_spirv::tables::ImageFormat;
use assay_vulkan::{
    BindingLayout, Bindings, BufferSpec, Device, DeviceOptions, Dispatch, Error, ImageDim, ImageSpec, ImageView,
    PipelineDesc, Resource, ResourceSpec, SamplerSpec, Staging, TexelFormat,
};

use crate::devices::{LONG, on_each_driver};

fn image(format: TexelFormat) -> ImageSpec {
    ImageSpec {
        dim: ImageDim::D2,
        arrayed: false,
        extent: [4, 4, 1],
        layers: 1,
        levels: 1,
        samples: 1,
        format,
        view: ImageView::ALL,
    }
}

fn resources() -> Vec<ResourceSpec> {
    let color = TexelFormat::Color;
    let texels = |storage| Resource::TexelBuffer { format: color(ImageFormat::R32ui), texels: 16, storage };
    let float = image(color(ImageFormat::R32f));
    [
        (0, 0, 0, Resource::UniformBuffer { bytes: 16 }),
        (0, 1, 0, Resource::StorageBuffer(BufferSpec::input(64))),
        (0, 1, 1, Resource::StorageBuffer(BufferSpec::in_out(64))),
        (0, 7, 0, Resource::StorageBuffer(BufferSpec::in_out(128))),
        (2, 0, 0, Resource::StorageImage(image(color(ImageFormat::R32ui)))),
        (2, 3, 0, Resource::SampledImage(float)),
        (2, 4, 0, Resource::CombinedImageSampler(float, SamplerSpec::NEAREST)),
        (2, 5, 0, texels(false)),
        (2, 6, 0, texels(true)),
    ]
    .map(|(set, binding, element, resource)| ResourceSpec { set, binding, element, resource })
    .to_vec()
}

#[test]
fn every_kind_of_descriptor_travels() {
    let code = assay_spirv::assemble(include_str!("resources.spvasm")).unwrap();
    let specs = resources();
    let layout = BindingLayout::of(&specs).unwrap();
    on_each_driver(|physical| {
        for staging in [Staging::Never, Staging::Always] {
            let device = Device::open(physical, &DeviceOptions { staging, ..Default::default() }).unwrap();
            let bindings = Bindings::Listed(&layout);
            let pipeline = device.pipeline(&PipelineDesc { bindings, ..PipelineDesc::new(&code, 0) }).unwrap();
            let mut slot = device.dispatch_slot_of(&specs).unwrap();
            // Word i of a resource identifies the resource and i.
            for (index, spec) in specs.iter().enumerate() {
                let words = slot.write::<u32>(index).unwrap();
                assert_eq!(words.len() * 4, spec.resource.bytes().unwrap());
                for (i, word) in (0..).zip(words) {
                    *word = 1000 * index as u32 + i;
                }
            }
            for _ in 0..2 {
                slot.submit(&pipeline, &Dispatch::linear(1)).unwrap();
                slot.wait(LONG).unwrap();
            }
            let read = |index: usize| slot.read::<u32>(index).unwrap().to_vec();
            let expect = |f: &dyn Fn(u32) -> u32, n: u32| (0..n).map(f).collect::<Vec<_>>();
            // The uniform buffer's first word is 0, and buffers[0] holds 1000 + i.
            assert_eq!(read(2), expect(&|i| 1000 + i, 16));
            assert_eq!(read(4), expect(&|i| 4000 + i + 2 * (1000 + i), 16), "twice added to");
            assert_eq!(read(3), expect(&|k| if k % 2 == 0 { 5000 + k / 2 } else { 6000 + k / 2 }, 32));
            assert_eq!(read(8), expect(&|i| 7001 + i, 16));
            assert_eq!(read(5), expect(&|i| 5000 + i, 16), "an input is as it was");
        }
    });
}

#[test]
fn resources_that_cannot_be_are_refused_with_the_reason() {
    let code = assay_spirv::assemble(include_str!("resources.spvasm")).unwrap();
    on_each_driver(|physical| {
        let device = Device::open(physical, &DeviceOptions::default()).unwrap();
        let refused = |error: Error, part: &str| {
            let fits = matches!(error, Error::Invalid { .. } | Error::NotSupported { .. });
            assert!(fits && error.to_string().contains(part), "expected {part}: {error}");
        };
        let float = image(TexelFormat::Color(ImageFormat::R32f));
        let one = |resource| [ResourceSpec { set: 0, binding: 0, element: 0, resource }];
        for (resource, part) in [
            (Resource::SampledImage(ImageSpec { extent: [4, 0, 1], ..float }), "[4, 0, 1] texels"),
            (Resource::SampledImage(ImageSpec { levels: 4, ..float }), "4 levels"),
            (Resource::SampledImage(ImageSpec { extent: [1 << 20, 4, 1], ..float }), "at most"),
            (Resource::SampledImage(ImageSpec { dim: ImageDim::Cube, ..float }), "1 layers"),
            (Resource::SampledImage(image(TexelFormat::Color(ImageFormat::Unknown))), "no bytes"),
            (Resource::UniformBuffer { bytes: 0 }, "no bytes"),
            (Resource::UniformBuffer { bytes: usize::MAX }, "maxUniformBufferRange"),
        ] {
            refused(device.dispatch_slot_of(&one(resource)).err().unwrap(), part);
        }
        let far = [ResourceSpec { set: 4000, ..one(Resource::UniformBuffer { bytes: 4 })[0] }];
        refused(device.dispatch_slot_of(&far).err().unwrap(), "maxBoundDescriptorSets");
        let layout = BindingLayout::of(&resources()).unwrap();
        let listed = |bindings| PipelineDesc { bindings: Bindings::Listed(bindings), ..PipelineDesc::new(&code, 0) };
        let twice = [layout[0], layout[0]];
        refused(device.pipeline(&listed(&twice)).err().unwrap(), "twice");
        let tensor = [BindingLayout::new(0, 0, DescriptorKind::Tensor, 1)];
        refused(device.pipeline(&listed(&tensor)).err().unwrap(), "Tensor");
        // A slot whose bindings differ from the pipeline's.
        let pipeline = device.pipeline(&listed(&layout)).unwrap();
        let mut slot = device.dispatch_slot_of(&one(Resource::UniformBuffer { bytes: 4 })).unwrap();
        refused(slot.submit(&pipeline, &Dispatch::linear(1)).unwrap_err(), "buffers");
    });
}
