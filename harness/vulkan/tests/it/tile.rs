//! Native tile shading on the mock driver, with the test layer's answers below the validation
//! layer: correct passes cause no message, and each mistake causes its own. The mock driver
//! executes nothing, so no result is checked.

use std::time::Duration;

use assay_spirv::reflect::DescriptorKind;
use assay_spirv::tables::ImageFormat;
use assay_testkit::required_variable;
use assay_vulkan::{
    AttachmentRole, BindingLayout, Bindings, Device, DeviceOptions, Error, ImageDim, ImageSpec, ImageView, Instance,
    Mistake, PassForm, PassRecording, Pipeline, PipelineDesc, PropertyValue, SamplerSpec, TexelFormat, TileAttachment,
    TileBuffer, TilePass, TilePassOutput, TileStep, ValidationMessage,
};

use crate::environment::with_environment;

const RATE: &str = include_str!("../../../spirv-lower/tests/lower/tile.spvasm");
pub(crate) const WIDTH: u32 = 200;
pub(crate) const HEIGHT: u32 = 100;

/// Runs `body`, the whole body of the test `name` (with its module), on the mock driver with the
/// test layer.
pub(crate) fn on_the_mock_stack(name: &str, body: impl FnOnce(&Instance)) {
    let (Some(mock), Some(layers)) = (required_variable("ASSAY_MOCK_ICD"), required_variable("VK_LAYER_PATH")) else {
        return;
    };
    // The library is next to this program, because it is one of its dependencies.
    let folder = tempfile::tempdir().unwrap();
    let library = std::env::current_exe().unwrap().with_file_name(assay_testlayer::LIBRARY_FILE);
    assert!(library.exists(), "{} is missing", library.display());
    std::fs::write(folder.path().join("layer.json"), assay_testlayer::manifest(&library)).unwrap();
    // The first is the nearest to the program: loaders before 1.3.263 use the first list, later
    // ones the second.
    let layers = format!("{layers}:{}", folder.path().display());
    let order = format!("VK_LAYER_KHRONOS_validation:{}", assay_testlayer::LAYER_NAME);
    let variables = [
        ("VK_DRIVER_FILES", &*mock),
        ("VK_ICD_FILENAMES", &*mock),
        ("VK_LAYER_PATH", &*layers),
        ("VK_INSTANCE_LAYERS", &*order),
    ];
    with_environment(name, &variables, || body(&Instance::new(true).unwrap()));
}

pub(crate) fn image(layers: u32, format: TexelFormat) -> ImageSpec {
    ImageSpec {
        dim: ImageDim::D2,
        arrayed: layers > 1,
        extent: [WIDTH, HEIGHT, 1],
        layers,
        levels: 1,
        samples: 1,
        format,
        view: ImageView::ALL,
    }
}

pub(crate) const R32UI: TexelFormat = TexelFormat::Color(ImageFormat::R32ui);

/// A module of a pass with its bindings.
pub(crate) struct Shader {
    words: Vec<u32>,
    bindings: Vec<BindingLayout>,
    push: u32,
}

impl Shader {
    /// Creates a shader with two storage images and a buffer.
    pub(crate) fn new(text: &str) -> Shader {
        let bindings = [DescriptorKind::StorageImage, DescriptorKind::StorageImage, DescriptorKind::StorageBuffer];
        let bindings = bindings.into_iter().zip(0..).map(|(kind, i)| BindingLayout::new(0, i, kind, 1));
        let words = assay_spirv::assemble(text).unwrap_or_else(|e| panic!("{e}"));
        Shader { words, bindings: bindings.collect(), push: 20 }
    }

    pub(crate) fn pipeline(&self, device: &Device) -> Result<Pipeline, Error> {
        let bindings = Bindings::Listed(&self.bindings);
        device.pipeline(&PipelineDesc { bindings, push_constants: self.push, ..PipelineDesc::new(&self.words, 0) })
    }
}

/// Returns the same shader with a local size of its own.
pub(crate) fn local_size() -> String {
    assert!(RATE.contains("TileShadingRateQCOM 2 2 1"));
    RATE.replace("TileShadingRateQCOM 2 2 1", "LocalSize 8 4 1")
}

pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// Runs a pass over two colour attachments, changed by `change`.
pub(crate) fn pass_with(
    device: &Device,
    steps: &[TileStep<'_>],
    mistake: Mistake,
    change: impl FnOnce(&mut TilePass<'_>),
) -> Result<TilePassOutput, Error> {
    let data = vec![0; (WIDTH * HEIGHT * 4) as usize];
    let attachment = |binding| TileAttachment {
        image: image(1, R32UI),
        role: AttachmentRole::Color,
        bindings: vec![(0, binding, DescriptorKind::StorageImage)],
        sampler: None,
        data: &data,
    };
    let attachments = [attachment(0), attachment(1)];
    let buffers = [TileBuffer { set: 0, binding: 2, data: &[0; 12] }];
    let mut pass = TilePass {
        form: PassForm::Dynamic,
        recording: PassRecording::Primary,
        extent: [WIDTH, HEIGHT],
        layers: 1,
        area: [[3, 5], [190, 90]],
        apron: [2, 2],
        attachments: &attachments,
        buffers: &buffers,
        steps,
    };
    change(&mut pass);
    if mistake == Mistake::None {
        return device.tile_pass(&pass, LIMIT);
    }
    // SAFETY: the mock driver stores its arguments and executes nothing.
    unsafe { device.tile_pass_with(&pass, mistake, LIMIT) }
}

pub(crate) fn open(instance: &Instance, without: &[&str]) -> Device {
    let without = without.iter().map(|name| (*name).to_owned()).collect();
    Device::open(&instance.select(None).unwrap(), &DeviceOptions { without, ..Default::default() }).unwrap()
}

pub(crate) fn ids(messages: &[ValidationMessage]) -> Vec<&str> {
    let mut ids: Vec<&str> = messages.iter().map(|m| &*m.id).collect();
    ids.dedup();
    ids
}

#[test]
fn the_test_layer_answers_as_a_device_with_tile_shading_does() {
    on_the_mock_stack("tile::the_test_layer_answers_as_a_device_with_tile_shading_does", |instance| {
        let physical = instance.select(None).unwrap();
        let has = physical.capabilities();
        assert!(has.has_feature("tileShadingDispatchTile") && has.has_feature("tileProperties"));
        assert!(has.has_feature("imageGatherExtendedModes"));
        let number = |name: &str| has.properties.get(name).cloned();
        assert_eq!(number("maxApronSize"), Some(PropertyValue::Number(4)));
        assert_eq!(number("tileGranularityX"), Some(PropertyValue::Number(16)));
        assert_eq!(number("maxTileShadingRateY"), Some(PropertyValue::Number(8)));
        assert_eq!(instance.take_validation_messages(), []);
    });
}

#[test]
fn passes_of_both_forms_draw_no_validation_message() {
    on_the_mock_stack("tile::passes_of_both_forms_draw_no_validation_message", |instance| {
        let device = open(instance, &[]);
        let rate = Shader::new(RATE).pipeline(&device).unwrap();
        let local = Shader::new(&local_size()).pipeline(&device).unwrap();
        let push = [0; 20];
        let tile = TileStep::DispatchTile { pipeline: &rate, push_constants: &push };
        let groups = TileStep::Dispatch { pipeline: &local, push_constants: &push, groups: [12, 16, 1] };
        for form in [PassForm::Dynamic, PassForm::Objects] {
            for steps in [
                std::slice::from_ref(&tile),
                std::slice::from_ref(&groups),
                &[tile.clone(), TileStep::Barrier, groups.clone()],
            ] {
                if form == PassForm::Dynamic && steps.len() > 1 {
                    let refused = pass_with(&device, steps, Mistake::None, |_| ()).unwrap_err().to_string();
                    assert!(refused.contains("VUID-vkCmdPipelineBarrier2-srcStageMask-09556"), "{refused}");
                    continue;
                }
                for apron in [[0, 0], [2, 2], [4, 1]] {
                    let left = pass_with(&device, steps, Mistake::None, |pass| {
                        (pass.form, pass.apron) = (form, apron);
                    });
                    let left = left.unwrap_or_else(|e| panic!("{form:?}: {e}"));
                    assert_eq!(left.grid.size, [96, 64, 1]);
                    assert_eq!((left.attachments.len(), left.buffers.len()), (2, 1));
                    let messages = instance.take_validation_messages();
                    assert!(messages.is_empty(), "{form:?}, {} steps, apron {apron:?}: {messages:#?}", steps.len());
                }
            }
        }
    });
}

/// Returns a shader that reads a sampled colour attachment and a depth attachment, and adds to
/// another one.
fn sampled() -> Shader {
    let text = include_str!("tile_sampled.spvasm");
    let kinds = [
        (0, DescriptorKind::StorageImage),
        (1, DescriptorKind::CombinedImageSampler),
        (2, DescriptorKind::SampledImage),
        (3, DescriptorKind::StorageImage),
    ];
    let bindings = kinds.map(|(binding, kind)| BindingLayout::new(0, binding, kind, 1)).to_vec();
    Shader { words: assay_spirv::assemble(text).unwrap_or_else(|e| panic!("{e}")), bindings, push: 0 }
}

#[test]
fn sampled_depth_and_layered_attachments_draw_no_validation_message() {
    on_the_mock_stack("tile::sampled_depth_and_layered_attachments_draw_no_validation_message", |instance| {
        let device = open(instance, &[]);
        let pipeline = sampled().pipeline(&device).unwrap();
        let layers = 2;
        let rgba = TexelFormat::Color(ImageFormat::Rgba8);
        let data = vec![0; (WIDTH * HEIGHT * 4 * layers) as usize];
        let attachment = |binding, format, role, kind| TileAttachment {
            image: image(layers, format),
            role,
            bindings: vec![(0, binding, kind)],
            sampler: (kind == DescriptorKind::CombinedImageSampler).then_some(SamplerSpec::NEAREST),
            data: &data,
        };
        let steps = [TileStep::DispatchTile { pipeline: &pipeline, push_constants: &[] }];
        for form in [PassForm::Dynamic, PassForm::Objects] {
            let role = if form == PassForm::Objects { AttachmentRole::Input } else { AttachmentRole::Color };
            let attachments = [
                attachment(0, rgba, AttachmentRole::Color, DescriptorKind::StorageImage),
                attachment(1, rgba, role, DescriptorKind::CombinedImageSampler),
                attachment(2, TexelFormat::Depth32, AttachmentRole::DepthStencil, DescriptorKind::SampledImage),
                attachment(3, R32UI, AttachmentRole::Color, DescriptorKind::StorageImage),
            ];
            let pass = TilePass {
                form,
                recording: PassRecording::Primary,
                extent: [WIDTH, HEIGHT],
                layers,
                area: [[0, 0], [WIDTH, HEIGHT]],
                apron: [1, 1],
                attachments: &attachments,
                buffers: &[],
                steps: &steps,
            };
            device.tile_pass(&pass, LIMIT).unwrap_or_else(|e| panic!("{form:?}: {e}"));
            let messages = instance.take_validation_messages();
            assert!(messages.is_empty(), "{form:?}: {messages:#?}");
        }
    });
}

/// Depth and stencil of one image, each accessed through a view of its aspect.
#[test]
fn stencil_attachments_draw_no_validation_message() {
    on_the_mock_stack("tile::stencil_attachments_draw_no_validation_message", |instance| {
        let device = open(instance, &[]);
        let text = include_str!("tile_stencil.spvasm");
        let kinds =
            [(0, DescriptorKind::StorageImage), (1, DescriptorKind::SampledImage), (2, DescriptorKind::SampledImage)];
        let bindings = kinds.map(|(binding, kind)| BindingLayout::new(0, binding, kind, 1)).to_vec();
        let words = assay_spirv::assemble(text).unwrap_or_else(|e| panic!("{e}"));
        let pipeline = Shader { words, bindings, push: 0 }.pipeline(&device).unwrap();
        let data = vec![0; (WIDTH * HEIGHT * 4) as usize];
        let attachment = |binding, format: TexelFormat, role, kind| TileAttachment {
            image: image(1, format),
            role,
            bindings: vec![(0, binding, kind)],
            sampler: None,
            data: &data[..(WIDTH * HEIGHT) as usize * format.bytes()],
        };
        let part =
            |binding, format| attachment(binding, format, AttachmentRole::DepthStencil, DescriptorKind::SampledImage);
        let color = || attachment(0, R32UI, AttachmentRole::Color, DescriptorKind::StorageImage);
        let steps = [TileStep::DispatchTile { pipeline: &pipeline, push_constants: &[] }];
        let pass_of = |form, attachments: &[TileAttachment<'_>]| {
            let pass = TilePass {
                form,
                recording: PassRecording::Primary,
                extent: [WIDTH, HEIGHT],
                layers: 1,
                area: [[0, 0], [WIDTH, HEIGHT]],
                apron: [1, 1],
                attachments,
                buffers: &[],
                steps: &steps,
            };
            device.tile_pass(&pass, LIMIT).map(|left| left.attachments.len())
        };
        for form in [PassForm::Dynamic, PassForm::Objects] {
            let both = [color(), part(1, TexelFormat::Depth32), part(2, TexelFormat::Stencil8)];
            assert_eq!(pass_of(form, &both).unwrap_or_else(|e| panic!("{form:?}: {e}")), 3);
            let messages = instance.take_validation_messages();
            assert!(messages.is_empty(), "{form:?}: {messages:#?}");
            // Two attachments of the same kind, and a stencil attachment that is stored to.
            let twice = [color(), part(1, TexelFormat::Stencil8), part(2, TexelFormat::Stencil8)];
            assert!(pass_of(form, &twice).unwrap_err().to_string().contains("one stencil attachment at most"));
            let mut stored = [color(), part(1, TexelFormat::Depth32), part(2, TexelFormat::Stencil8)];
            stored[2].bindings = vec![(0, 2, DescriptorKind::StorageImage)];
            assert!(pass_of(form, &stored).unwrap_err().to_string().contains("is no storage image"));
        }
    });
}

/// Messages of the layer (1.4.364) for every dispatch in a secondary command buffer that declares
/// per-tile execution: it looks for the begin in that command buffer alone. It does know the rules
/// about the combination of the two (10621, 10624).
const NOT_INHERITED: [&str; 3] = ["-None-10668", "-None-10672", "VUID-RuntimeSpirv-TileShadingQCOM-10701"];

#[test]
fn secondary_command_buffers_draw_no_validation_message() {
    on_the_mock_stack("tile::secondary_command_buffers_draw_no_validation_message", |instance| {
        let device = open(instance, &[]);
        let rate = Shader::new(RATE).pipeline(&device).unwrap();
        let local = Shader::new(&local_size()).pipeline(&device).unwrap();
        let push = [0; 20];
        let tile = TileStep::DispatchTile { pipeline: &rate, push_constants: &push };
        let groups = TileStep::Dispatch { pipeline: &local, push_constants: &push, groups: [12, 16, 1] };
        for recording in [PassRecording::Secondary, PassRecording::PerTile] {
            for (steps, apron) in [(&tile, [0, 0]), (&groups, [2, 2])] {
                let left = pass_with(&device, std::slice::from_ref(steps), Mistake::None, |pass| {
                    (pass.form, pass.recording, pass.apron) = (PassForm::Objects, recording, apron);
                });
                left.unwrap_or_else(|e| panic!("{recording:?}: {e}"));
                let mut messages = instance.take_validation_messages();
                if recording == PassRecording::PerTile {
                    messages.retain(|message| !NOT_INHERITED.iter().any(|id| message.id.ends_with(id)));
                }
                assert!(messages.is_empty(), "{recording:?}, apron {apron:?}: {messages:#?}");
            }
        }
        // State inherited from dynamic rendering cannot declare tile shading.
        let steps = std::slice::from_ref(&tile);
        let refused = pass_with(&device, steps, Mistake::None, |pass| pass.recording = PassRecording::Secondary);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("VUID-VkCommandBufferBeginInfo-flags-10618"), "{refused}");
        // Inline and secondary contents together need `maintenance7`.
        let older = open(instance, &["maintenance7"]);
        let pipeline = Shader::new(RATE).pipeline(&older).unwrap();
        let steps = [TileStep::DispatchTile { pipeline: &pipeline, push_constants: &push }];
        let refused = pass_with(&older, &steps, Mistake::None, |pass| {
            (pass.form, pass.recording) = (PassForm::Objects, PassRecording::PerTile);
        });
        assert!(refused.unwrap_err().to_string().contains("maintenance7"));
    });
}

#[test]
fn each_mistake_draws_its_message() {
    on_the_mock_stack("tile::each_mistake_draws_its_message", |instance| {
        let device = open(instance, &[]);
        let rate = Shader::new(RATE).pipeline(&device).unwrap();
        let local = Shader::new(&local_size()).pipeline(&device).unwrap();
        let push = [0; 20];
        let tile = [TileStep::DispatchTile { pipeline: &rate, push_constants: &push }];
        let groups = [TileStep::Dispatch { pipeline: &local, push_constants: &push, groups: [12, 16, 1] }];
        assert_eq!(instance.take_validation_messages(), []);
        use Mistake as M;
        use PassForm::{Dynamic, Objects};
        let barrier = [tile[0].clone(), TileStep::Barrier, tile[0].clone()];
        let mistakes: &[(M, PassForm, &[TileStep<'_>], &str)] = &[
            (M::NotTileShading, Dynamic, &tile, "VUID-VkRenderPassTileShadingCreateInfoQCOM-flags-10659"),
            (M::NotTileShading, Objects, &tile, "VUID-VkRenderPassTileShadingCreateInfoQCOM-flags-10659"),
            (M::PerTileFlag, Dynamic, &tile, "VUID-vkCmdBeginRendering-flags-10642"),
            (M::PerTileFlag, Objects, &tile, "VUID-vkCreateRenderPass2-flags-10649"),
            (M::PerTileFlagAlone, Dynamic, &tile, "VUID-VkRenderPassTileShadingCreateInfoQCOM-flags-10660"),
            (M::SimultaneousUse, Dynamic, &tile, "VUID-vkCmdBeginRendering-flags-10641"),
            (M::SimultaneousUse, Objects, &tile, "VUID-vkCmdBeginRenderPass2-flags-10652"),
            (M::NoBegin, Dynamic, &tile, "VUID-vkCmdDispatchTileQCOM-None-10668"),
            (M::NoBegin, Dynamic, &groups, "VUID-RuntimeSpirv-TileShadingQCOM-10701"),
            (M::EndTwice, Dynamic, &tile, "VUID-vkCmdEndPerTileExecutionQCOM-None-10666"),
            (M::NoEnd, Dynamic, &tile, "VUID-vkCmdEndRendering-None-10645"),
            (M::NoEnd, Objects, &tile, "VUID-vkCmdEndRenderPass-None-10653"),
            (M::Clear, Dynamic, &tile, "VUID-vkCmdClearAttachments-None-10616"),
            (M::Timestamp, Dynamic, &tile, "VUID-vkCmdWriteTimestamp-None-10640"),
            (M::Event, Dynamic, &tile, "VUID-vkCmdWaitEvents-None-10655"),
            (M::OutsidePass, Dynamic, &groups, "VUID-RuntimeSpirv-TileShadingQCOM-10700"),
            (M::DynamicBarrier, Dynamic, &barrier, "VUID-vkCmdPipelineBarrier2-srcStageMask-09556"),
            (M::ApronFlag, Objects, &tile, "VUID-VkSubpassDescription2-flags-10683"),
            (M::SecondaryOrdinary, Objects, &tile, "VUID-VkCommandBufferBeginInfo-flags-10617"),
            (M::SecondaryApron, Objects, &tile, "VUID-VkCommandBufferBeginInfo-flags-10619"),
            (M::SecondaryPerTile, Objects, &tile, "VUID-vkCmdExecuteCommands-pCommandBuffers-10624"),
            (M::SecondaryNotPerTile, Objects, &tile, "VUID-vkCmdExecuteCommands-pCommandBuffers-10621"),
        ];
        let mut silent = Vec::new();
        for &(mistake, form, steps, expected) in mistakes {
            let result = pass_with(&device, steps, mistake, |pass| {
                pass.form = form;
                if mistake == M::ApronFlag {
                    pass.apron = [0, 0];
                }
                pass.recording = match mistake {
                    M::SecondaryOrdinary | M::SecondaryApron | M::SecondaryPerTile => PassRecording::Secondary,
                    M::SecondaryNotPerTile => PassRecording::PerTile,
                    _ => PassRecording::Primary,
                };
            });
            let messages = instance.take_validation_messages();
            if !messages.iter().any(|message| message.id == expected) {
                silent.push(format!("{mistake:?} ({form:?}): {:?} {:?}\n", ids(&messages), result.err()));
            }
        }
        assert!(silent.is_empty(), "{}", silent.concat());
    });
}

/// Steps without a required feature are refused before they reach the driver; the layer knows the
/// rule too.
#[test]
fn steps_without_a_required_feature_are_refused_here_and_by_the_layer() {
    on_the_mock_stack("tile::steps_without_a_required_feature_are_refused_here_and_by_the_layer", |instance| {
        let cases: &[(&[&str], [u32; 2], &str)] = &[
            (
                &["tileShadingApron", "tileShadingAnisotropicApron"],
                [2, 2],
                "VUID-VkRenderPassTileShadingCreateInfoQCOM-flags-10659",
            ),
            (
                &["tileShadingAnisotropicApron"],
                [2, 1],
                "VUID-VkRenderPassTileShadingCreateInfoQCOM-tileShadingAnisotropicApron-10661",
            ),
            (&[], [5, 5], "VUID-VkRenderPassTileShadingCreateInfoQCOM-tileApronSize-10662"),
            (&["tileShadingColorAttachments"], [0, 0], "VUID-RuntimeSpirv-OpTypeImage-10707"),
            (
                &["tileShadingPerTileDispatch", "tileShadingDispatchTile"],
                [0, 0],
                "VUID-vkCmdDispatchTileQCOM-None-10674",
            ),
            (&["tileShadingDispatchTile"], [0, 0], "VUID-vkCmdDispatchTileQCOM-None-10669"),
        ];
        let mut wrong = Vec::new();
        for (without, apron, rule) in cases {
            let device = open(instance, without);
            let pipeline = Shader::new(RATE).pipeline(&device).unwrap();
            let push = [0; 20];
            let steps = [TileStep::DispatchTile { pipeline: &pipeline, push_constants: &push }];
            let _made = instance.take_validation_messages();
            let refused =
                pass_with(&device, &steps, Mistake::None, |pass| pass.apron = *apron).unwrap_err().to_string();
            assert!(refused.contains(without.first().copied().unwrap_or("maxApronSize")), "{refused}");
            // Without our checks; the layer finds no other error.
            let _left = pass_with(&device, &steps, Mistake::Unchecked, |pass| pass.apron = *apron);
            let messages = instance.take_validation_messages();
            if !messages.iter().any(|message| message.id == *rule) {
                wrong.push(format!("{without:?} {apron:?}: {:?}\n", ids(&messages)));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.concat());
    });
}

/// The features of the kinds of attachments: color, depth, stencil and input ones, and sampled ones of any kind.
#[test]
fn attachments_of_a_kind_that_the_device_lacks_are_refused_by_its_feature() {
    on_the_mock_stack("tile::attachments_of_a_kind_that_the_device_lacks_are_refused_by_its_feature", |instance| {
        let color = R32UI;
        let sampled = DescriptorKind::CombinedImageSampler;
        for (feature, format, role, kind) in [
            ("tileShadingColorAttachments", color, AttachmentRole::Color, DescriptorKind::StorageImage),
            ("tileShadingDepthAttachments", TexelFormat::Depth32, AttachmentRole::DepthStencil, sampled),
            ("tileShadingStencilAttachments", TexelFormat::Stencil8, AttachmentRole::DepthStencil, sampled),
            ("tileShadingInputAttachments", color, AttachmentRole::Input, DescriptorKind::StorageImage),
            ("tileShadingSampledAttachments", color, AttachmentRole::Color, sampled),
        ] {
            let said = |without: &[&str]| {
                let device = open(instance, without);
                let data = vec![0; (WIDTH * HEIGHT) as usize * format.bytes()];
                let attachments = [TileAttachment {
                    image: image(1, format),
                    role,
                    bindings: vec![(0, 0, kind)],
                    sampler: (kind == sampled).then_some(SamplerSpec::NEAREST),
                    data: &data,
                }];
                let pass = TilePass {
                    form: PassForm::Objects,
                    recording: PassRecording::Primary,
                    extent: [WIDTH, HEIGHT],
                    layers: 1,
                    area: [[0, 0], [WIDTH, HEIGHT]],
                    apron: [0, 0],
                    attachments: &attachments,
                    buffers: &[],
                    steps: &[],
                };
                device.tile_pass(&pass, LIMIT).map(|_| ()).map_err(|error| error.to_string()).err().unwrap_or_default()
            };
            let (with, without) = (said(&[]), said(&[feature]));
            assert!(without.contains(feature), "{feature}: {without}");
            assert!(!with.contains(feature), "{feature}: {with}");
        }
    });
}

/// Our rules and the layer's validator refuse the same modules.
#[test]
fn the_layer_agrees_with_the_rules_about_modules() {
    on_the_mock_stack("tile::the_layer_agrees_with_the_rules_about_modules", |instance| {
        let rate = "OpExecutionMode %main TileShadingRateQCOM 2 2 1";
        let changes: &[(&str, String, &str)] = &[
            (rate, format!("{rate}\nOpExecutionMode %main LocalSize 4 4 1"), "TileShadingRateQCOM-10692"),
            ("%uint 2D 0 0 0 2 R32ui", "%uint 3D 0 0 0 2 R32ui".into(), "OpTypeImage-10693"),
            ("OpDecorate %source Binding 1\n", String::new(), "TileAttachmentQCOM-10695"),
            (
                "OpDecorate %source Binding 1\n",
                "OpDecorate %source Binding 1\nOpDecorate %source Component 0\n".into(),
                "TileAttachmentQCOM-10696",
            ),
            ("%own = ", "%extent = OpImageQuerySize %v2uint %target_image\n%own = ".into(), "TileAttachmentQCOM-10697"),
            (rate, "OpExecutionMode %main TileShadingRateQCOM 2 3 1".into(), "powers of 2"),
        ];
        let device = open(instance, &[]);
        let (mut ours, mut layers) = (Vec::new(), Vec::new());
        for (from, to, rule) in changes {
            assert!(RATE.contains(from), "{from}");
            let text = RATE
                .replace(from, to)
                .replace("OpCapability Shader\n", "OpCapability Shader\nOpCapability ImageQuery\n");
            let words = assay_spirv::assemble(&text).unwrap_or_else(|e| panic!("{rule}: {e}"));
            let module = assay_spirv::Module::parse(words.clone()).unwrap();
            let broken = assay_spirv_rules::rules::violations(
                &module,
                assay_spirv_rules::rules::Environment::of_module(&module),
            );
            if !broken.iter().any(|violation| violation.rule.id.contains(rule)) {
                ours.push(format!("{rule}: {broken:?}\n"));
            }
            let said = device.validate(&words).unwrap();
            // This one breaks two rules, and the validator names the more general one.
            let named = rule.replace("TileAttachmentQCOM-10696", "StandaloneSpirv-Location-06672");
            if !said.iter().any(|message| message.id.contains(&named) || message.text.contains(&named)) {
                layers.push(format!("{rule}: {said:?}\n"));
            }
        }
        assert!(ours.is_empty() && layers.is_empty(), "rules: {}\nlayer: {}", ours.concat(), layers.concat());
    });
}
