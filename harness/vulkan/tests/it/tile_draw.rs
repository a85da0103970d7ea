//! Draws in tile-shading render passes on the mock driver, below the validation layer; see `tile`.

use assay_spirv::reflect::DescriptorKind;
use assay_spirv_rules::rules::{self, Environment};
use assay_vulkan::{
    AttachmentRole, Device, Error, Mistake, PassForm, PassRecording, TexelFormat, TileAttachment, TileBuffer, TilePass,
    TilePassOutput, TileStep,
};

use crate::tile::{HEIGHT, LIMIT, R32UI, Shader, WIDTH, ids, image, local_size, on_the_mock_stack, open, pass_with};

const FRAGMENT: &str = include_str!("../../../spirv-lower/tests/lower/fragment.spvasm");

fn words(text: &str) -> Vec<u32> {
    assay_spirv::assemble(text).unwrap_or_else(|e| panic!("{e}"))
}

fn draw(fragment: &[u32], per_tile: bool) -> TileStep<'_> {
    TileStep::Draw { fragment, per_tile }
}

/// Runs a pass with one per-tile draw of a fragment shader, changed by `change`.
fn drawn(
    device: &Device,
    text: &str,
    mistake: Mistake,
    change: impl FnOnce(&mut TilePass<'_>),
) -> Result<TilePassOutput, Error> {
    pass_with(device, &[draw(&words(text), true)], mistake, change)
}

#[test]
fn draws_in_passes_of_both_forms_draw_no_validation_message() {
    on_the_mock_stack("tile_draw::draws_in_passes_of_both_forms_draw_no_validation_message", |instance| {
        let device = open(instance, &[]);
        let coherent = words(&FRAGMENT.replace("OpExecutionMode %main NonCoherentTileAttachmentReadQCOM\n", ""));
        let non_coherent = words(FRAGMENT);
        let local = Shader::new(&local_size()).pipeline(&device).unwrap();
        let push = [0; 20];
        let dispatch = TileStep::Dispatch { pipeline: &local, push_constants: &push, groups: [12, 16, 1] };
        let (tile, pass, barrier) = (draw(&coherent, true), draw(&non_coherent, false), TileStep::Barrier);
        let every: [&[TileStep<'_>]; 6] = [
            std::slice::from_ref(&tile),
            std::slice::from_ref(&pass),
            &[tile.clone(), pass.clone(), tile.clone()],
            &[tile.clone(), dispatch.clone()],
            &[dispatch.clone(), barrier.clone(), tile.clone(), barrier.clone(), dispatch.clone()],
            &[pass.clone(), barrier.clone(), dispatch.clone(), barrier.clone(), pass.clone()],
        ];
        for form in [PassForm::Dynamic, PassForm::Objects] {
            for (index, steps) in every.iter().enumerate() {
                if form == PassForm::Dynamic && steps.iter().any(|step| matches!(step, TileStep::Barrier)) {
                    continue;
                }
                for apron in [[0, 0], [4, 1]] {
                    let left = pass_with(&device, steps, Mistake::None, |pass| {
                        (pass.form, pass.apron) = (form, apron);
                    });
                    left.unwrap_or_else(|e| panic!("{form:?}: {e}"));
                    let messages = instance.take_validation_messages();
                    assert!(messages.is_empty(), "{form:?}, steps {index}, apron {apron:?}: {messages:#?}");
                }
            }
        }
        // In a secondary command buffer, from begin to end of per-tile execution.
        let left = pass_with(&device, &[tile], Mistake::None, |pass| {
            (pass.form, pass.recording) = (PassForm::Objects, PassRecording::Secondary);
        });
        left.unwrap_or_else(|e| panic!("{e}"));
        let messages = instance.take_validation_messages();
        assert!(messages.is_empty(), "{messages:#?}");
    });
}

/// Depth and stencil attachments that the draw neither tests nor writes, and a colour attachment
/// without an output.
#[test]
fn draws_beside_depth_and_stencil_draw_no_validation_message() {
    on_the_mock_stack("tile_draw::draws_beside_depth_and_stencil_draw_no_validation_message", |instance| {
        let device = open(instance, &[]);
        let data = vec![0; image(1, R32UI).bytes().unwrap()];
        let attachment = |binding, format: TexelFormat, role, kind| TileAttachment {
            image: image(1, format),
            role,
            bindings: vec![(0, binding, kind)],
            sampler: None,
            data: &data[..data.len() / 4 * format.bytes()],
        };
        let (color, part) = (AttachmentRole::Color, AttachmentRole::DepthStencil);
        let attachments = [
            attachment(0, R32UI, color, DescriptorKind::StorageImage),
            attachment(1, R32UI, color, DescriptorKind::StorageImage),
            attachment(3, TexelFormat::Depth32, part, DescriptorKind::SampledImage),
            attachment(4, TexelFormat::Stencil8, part, DescriptorKind::SampledImage),
        ];
        let buffers = [TileBuffer { set: 0, binding: 2, data: &[0; 12] }];
        let fragment = words(FRAGMENT);
        for form in [PassForm::Dynamic, PassForm::Objects] {
            for parts in [2, 3, 4] {
                let pass = TilePass {
                    form,
                    recording: PassRecording::Primary,
                    extent: [WIDTH, HEIGHT],
                    layers: 1,
                    area: [[0, 0], [WIDTH, HEIGHT]],
                    apron: [0, 0],
                    attachments: &attachments[..parts],
                    buffers: &buffers,
                    steps: &[draw(&fragment, true)],
                };
                device.tile_pass(&pass, LIMIT).unwrap_or_else(|e| panic!("{form:?}: {e}"));
                let messages = instance.take_validation_messages();
                assert!(messages.is_empty(), "{form:?}, {parts} attachments: {messages:#?}");
            }
        }
    });
}

/// The layer (1.4.364) does not notice a draw in a pass without tile shading (10700).
#[test]
fn each_mistake_of_a_draw_draws_its_message() {
    on_the_mock_stack("tile_draw::each_mistake_of_a_draw_draws_its_message", |instance| {
        let device = open(instance, &[]);
        use Mistake as M;
        use PassForm::{Dynamic, Objects};
        let mistakes = [
            (M::EndTwice, Dynamic, "VUID-vkCmdEndPerTileExecutionQCOM-None-10666"),
            (M::NoEnd, Dynamic, "VUID-vkCmdEndRendering-None-10645"),
            (M::NoEnd, Objects, "VUID-vkCmdEndRenderPass-None-10653"),
            (M::Clear, Dynamic, "VUID-vkCmdClearAttachments-None-10616"),
        ];
        let mut silent = Vec::new();
        for (mistake, form, expected) in mistakes {
            let result = drawn(&device, FRAGMENT, mistake, |pass| pass.form = form);
            let messages = instance.take_validation_messages();
            if !messages.iter().any(|message| message.id == expected) {
                silent.push(format!("{mistake:?} ({form:?}): {:?} {:?}\n", ids(&messages), result.err()));
            }
        }
        assert!(silent.is_empty(), "{}", silent.concat());
    });
}

/// Draws without a required feature, or with unsupported contents, are refused before they reach
/// the driver, and by the layer if it has the rule.
#[test]
fn unsupported_draws_are_refused_here_and_by_the_layer() {
    on_the_mock_stack("tile_draw::unsupported_draws_are_refused_here_and_by_the_layer", |instance| {
        let features = [
            ("tileShadingFragmentStage", "VUID-RuntimeSpirv-TileShadingQCOM-10699"),
            ("tileShadingPerTileDraw", "VUID-vkCmdDraw-None-10677"),
            ("independentBlend", "VUID-VkPipelineColorBlendStateCreateInfo-pAttachments-00605"),
        ];
        let mut silent = Vec::new();
        for (feature, rule) in features {
            let device = open(instance, &[feature]);
            let refused = drawn(&device, FRAGMENT, Mistake::None, |_| ()).unwrap_err().to_string();
            assert!(refused.contains(feature) && refused.contains(rule), "{refused}");
            let _made = instance.take_validation_messages();
            let _left = drawn(&device, FRAGMENT, Mistake::Unchecked, |_| ());
            let messages = instance.take_validation_messages();
            if !messages.iter().any(|message| message.id == rule) {
                silent.push(format!("{feature}: {:?}\n", ids(&messages)));
            }
        }
        assert!(silent.is_empty(), "{}", silent.concat());
        // Without dispatches, no features of dispatches are needed.
        let device = open(instance, &["tileShadingPerTileDispatch", "tileShadingDispatchTile"]);
        assert_eq!(drawn(&device, FRAGMENT, Mistake::None, |_| ()).map(|left| left.attachments.len()).ok(), Some(2));
        let device = open(instance, &[]);
        let fragment = words(FRAGMENT);
        let refused = |text: &str, change: fn(&mut TilePass<'_>)| {
            drawn(&device, text, Mistake::None, change).unwrap_err().to_string()
        };
        let third = FRAGMENT.replace("%color Location 0", "%color Location 2");
        assert!(refused(&third, |_| ()).contains("location 2 of a pass with 2 colour attachments"));
        let outside = pass_with(&device, &[draw(&fragment, false)], Mistake::None, |pass| {
            (pass.form, pass.recording) = (PassForm::Objects, PassRecording::Secondary);
        });
        assert!(outside.unwrap_err().to_string().contains("the primary command buffer"));
        let none = pass_with(&device, &[draw(&[], true)], Mistake::None, |_| ());
        assert!(none.unwrap_err().to_string().contains("the fragment shader of a draw"));
    });
}

/// Our rules and the layer's validator refuse the same fragment modules.
#[test]
fn the_layer_agrees_with_the_rules_about_fragment_modules() {
    on_the_mock_stack("tile_draw::the_layer_agrees_with_the_rules_about_fragment_modules", |instance| {
        let own = "%own = OpImageRead %v4uint %target_image %at\n";
        let mode = "OpExecutionMode %main NonCoherentTileAttachmentReadQCOM";
        let changes = [
            (mode, "OpExecutionMode %main TileShadingRateQCOM 1 1 1", "Execution-10688"),
            ("OpDecorate %source Binding 1\n", "", "TileAttachmentQCOM-10695"),
            ("%uint 2D 0 0 0 2 R32ui", "%uint 3D 0 0 0 2 R32ui", "OpTypeImage-10693"),
            (own, &format!("{own}OpImageWrite %target_image %at %own\n"), "only in the compute stage"),
        ];
        let device = open(instance, &[]);
        let mut wrong = Vec::new();
        for (from, to, rule) in changes {
            assert!(FRAGMENT.contains(from), "{from}");
            let words = words(&FRAGMENT.replace(from, to));
            let module = assay_spirv::Module::parse(words.clone()).unwrap();
            let broken = rules::violations(&module, Environment::of_module(&module));
            if !broken.iter().any(|violation| violation.rule.id.contains(rule)) {
                wrong.push(format!("rules, {rule}: {broken:?}\n"));
            }
            // The validator has no rule about stores.
            let said = device.validate(&words).unwrap();
            if rule.contains("-10")
                && !said.iter().any(|message| message.text.contains(rule) || message.id.contains(rule))
            {
                wrong.push(format!("layer, {rule}: {said:?}\n"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.concat());
    });
}
