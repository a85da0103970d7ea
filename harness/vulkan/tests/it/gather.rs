//! Native gathers on the mock driver, with the test layer's answers below the validation layer.
//! Features, a pipeline of every mode, and a dispatch over sampled images cause no message, and
//! each mistake causes its own. The mock driver executes nothing, so no result is checked.

use assay_spirv::tables::ImageFormat;
use assay_vulkan::{
    AddressMode, BindingLayout, Bindings, BorderColor, BufferSpec, Device, DeviceOptions, Dispatch, Error, ImageDim,
    ImageSpec, ImageView, PipelineDesc, Resource, ResourceSpec, SamplerSpec, TexelFormat,
};

use crate::devices::LONG;
use crate::tile::on_the_mock_stack;

/// An array of layers with its sampler, places, and results.
const GATHER: &str = include_str!("../../../spirv-lower/tests/lower/gather.spvasm");

fn text(call: &str) -> String {
    let text = GATHER.replace("COMPONENT", "2").replace("OFFSET_X", "-8").replace("OFFSET_Y", "7");
    text.replace("GATHER", &format!("OpImageGatherQCOM %v4uint %both %at %component {call}"))
}

fn resources() -> Vec<ResourceSpec> {
    let swizzle = ImageView::swizzle_from("bgr1").unwrap();
    let image = ImageSpec {
        dim: ImageDim::D2,
        arrayed: true,
        extent: [7, 5, 1],
        layers: 4,
        levels: 2,
        samples: 1,
        format: TexelFormat::Color(ImageFormat::Rgba8ui),
        view: ImageView { base_level: 1, levels: 1, base_layer: 1, layers: 2, swizzle },
    };
    let sampler = SamplerSpec {
        address: [AddressMode::MirroredRepeat, AddressMode::ClampToBorder, AddressMode::Repeat],
        border: BorderColor::IntOpaqueWhite,
        ..SamplerSpec::NEAREST
    };
    let buffer = |bytes| Resource::StorageBuffer(BufferSpec::in_out(bytes));
    [Resource::CombinedImageSampler(image, sampler), buffer(64), buffer(64)]
        .into_iter()
        .zip(0..)
        .map(|(resource, binding)| ResourceSpec { set: 0, binding, element: 0, resource })
        .collect()
}

fn run(device: &Device, text: &str) -> Result<(), Error> {
    let words = assay_spirv::assemble(text).unwrap_or_else(|e| panic!("{e}"));
    let resources = resources();
    let layout = BindingLayout::of(&resources)?;
    let pipeline =
        device.pipeline(&PipelineDesc { bindings: Bindings::Listed(&layout), ..PipelineDesc::new(&words, 0) })?;
    let mut slot = device.dispatch_slot_of(&resources)?;
    slot.submit(&pipeline, &Dispatch::linear(4))?;
    slot.wait(LONG).map(|_| ())
}

#[test]
fn native_gathers_draw_no_message_and_mistakes_draw_theirs() {
    on_the_mock_stack("gather::native_gathers_draw_no_message_and_mistakes_draw_theirs", |instance| {
        let physical = instance.select(None).unwrap();
        let has = physical.capabilities();
        for feature in ["imageGatherLinear", "imageGatherExtendedModes", "shaderImageGatherExtended"] {
            assert!(has.has_feature(feature), "{feature}");
        }
        let without = |names: &[&str]| {
            let without = names.iter().map(|name| (*name).to_owned()).collect();
            Device::open(&physical, &DeviceOptions { without, ..Default::default() }).unwrap()
        };
        let messages = || {
            let mut messages = instance.take_validation_messages();
            messages.retain(|m| m.id != "UNASSIGNED-vkAllocateMemory-maxMemoryAllocationSize");
            messages
        };
        let device = without(&[]);
        for mode in 0..4 {
            for operands in ["", "ConstOffset %offset"] {
                run(&device, &text(&format!("%uint_{mode} {operands}"))).unwrap();
            }
        }
        let found = messages();
        assert!(found.is_empty(), "{found:#?}");
        // For each mistake: the features that are left disabled, the gather, and a part of the
        // expected message.
        let mistakes: [(&[&str], &str, &str); 4] = [
            (&["imageGatherLinear"], "%uint_0", "ImageGatherLinearQCOM"),
            (&["imageGatherExtendedModes"], "%uint_2", "ImageGatherExtendedModesQCOM"),
            (&[], "%uint_4", "ode"),
            (&[], "%uint_1 ConstOffset %far", "ffset"),
        ];
        for (features, call, said) in mistakes {
            let device = without(features);
            let far =
                "%far_n = OpConstant %int 400\n%far = OpConstantComposite %v2int %far_n %far_n\n%group = OpVariable";
            let four = "%uint_4 = OpConstant %uint 4\n%component = ";
            let text = text(call).replacen("%group = OpVariable", far, 1).replacen("%component = ", four, 1);
            let refused = run(&device, &text).err().map(|error| error.to_string()).unwrap_or_default();
            let found = format!("{refused} {:?}", messages());
            assert!(found.contains(said), "{call} without {features:?}: {found}");
        }
    });
}
