//! Rules of the extension that a description can break, checked before any object is created.

use assay_spirv::reflect::DescriptorKind;

use super::tile_draw::written;
use super::{AttachmentRole, PassForm, PassRecording, TileGrid, TilePass, TileStep};
use crate::device::DeviceShared;
use crate::device_capabilities::PropertyValue;
use crate::error::Error;
use crate::layout_cache::LayoutKey;
use crate::resource::{ImageDim, ImageView, TexelFormat};

const EXTENSION: &str = "VK_QCOM_tile_shading";

/// Checks that the tiles are deep enough for the blocks in which they are shaded, and a multiple of
/// their depth (VUID-RuntimeSpirv-z-10704, VUID-RuntimeSpirv-tileSize-10705).
pub(super) fn depth(device: &DeviceShared, pass: &TilePass<'_>, grid: &TileGrid) -> Result<(), Error> {
    let [.., tile] = grid.size;
    let depths = pass.steps.iter().filter_map(|step| match step {
        TileStep::DispatchTile { pipeline, .. } => pipeline.shared.shading_depth,
        _ => None,
    });
    match depths.into_iter().find(|depth| tile < *depth || !tile.is_multiple_of(*depth)) {
        Some(depth) => Err(device.unsupported(format!("tiles of a depth that {depth} divides: theirs is {tile}"))),
        None => Ok(()),
    }
}

pub(super) fn check(device: &DeviceShared, pass: &TilePass<'_>) -> Result<(), Error> {
    let has = &device.capabilities;
    if !has.has_extension(EXTENSION) {
        return Err(device.unsupported(EXTENSION));
    }
    let feature = |name: &str, rule: &str| match has.has_feature(name) {
        true => Ok(()),
        false => Err(device.unsupported(format!("the feature {name} ({rule})"))),
    };
    feature("tileShading", "VUID-VkRenderPassTileShadingCreateInfoQCOM-tileShading-10658")?;
    let is_dispatch = |step: &TileStep<'_>| !matches!(step, TileStep::Draw { .. } | TileStep::Barrier);
    if pass.steps.iter().any(is_dispatch) {
        feature("tileShadingPerTileDispatch", "VUID-vkCmdDispatch-None-10674")?;
    }
    if pass.steps.iter().any(|step| matches!(step, TileStep::Draw { .. })) {
        feature("tileShadingFragmentStage", "VUID-RuntimeSpirv-TileShadingQCOM-10699")?;
    }
    if pass.steps.iter().any(|step| matches!(step, TileStep::Draw { per_tile: true, .. })) {
        feature("tileShadingPerTileDraw", "VUID-vkCmdDraw-None-10677")?;
    }
    if pass.steps.iter().any(|step| matches!(step, TileStep::DispatchTile { .. })) {
        feature("tileShadingDispatchTile", "VUID-vkCmdDispatchTileQCOM-None-10669")?;
    }
    if pass.form == PassForm::Dynamic && !(has.api_version.at_least(1, 3) && has.has_feature("dynamicRendering")) {
        return Err(device.unsupported("dynamicRendering"));
    }
    if !has.has_feature("synchronization2") {
        return Err(device.unsupported("synchronization2, whose access flags tile attachments have"));
    }
    if pass.recording != PassRecording::Primary && pass.form == PassForm::Dynamic {
        return Err(Error::invalid(
            "secondary command buffers come with render pass objects: what is inherited of dynamic rendering must not say that it \
             shades tiles (VUID-VkCommandBufferBeginInfo-flags-10618), and what is executed in such a pass must",
        ));
    }
    if pass.recording == PassRecording::PerTile && !has.has_feature("maintenance7") {
        return Err(
            device.unsupported("maintenance7, with which a pass has commands inline and in secondary command buffers")
        );
    }
    if !device.family.graphics {
        return Err(device.unsupported("graphics on the queue that it computes on"));
    }
    apron(device, pass)?;
    area(pass)?;
    attachments(device, pass)?;
    steps(device, pass)
}

fn apron(device: &DeviceShared, pass: &TilePass<'_>) -> Result<(), Error> {
    let [x, y] = pass.apron;
    if [x, y] == [0, 0] {
        return Ok(());
    }
    let has = &device.capabilities;
    if !has.has_feature("tileShadingApron") {
        return Err(
            device.unsupported("the feature tileShadingApron (VUID-VkRenderPassTileShadingCreateInfoQCOM-flags-10659)")
        );
    }
    if x != y && !has.has_feature("tileShadingAnisotropicApron") {
        let rule = "VUID-VkRenderPassTileShadingCreateInfoQCOM-tileShadingAnisotropicApron-10661";
        return Err(device.unsupported(format!("the feature tileShadingAnisotropicApron ({rule})")));
    }
    let most = match has.properties.get("maxApronSize") {
        Some(PropertyValue::Number(most)) => *most,
        _ => 0,
    };
    if u64::from(x.max(y)) > most {
        let rule = "VUID-VkRenderPassTileShadingCreateInfoQCOM-tileApronSize-10662";
        return Err(device.unsupported(format!("an apron of {x} x {y} (maxApronSize is {most}, {rule})")));
    }
    Ok(())
}

fn area(pass: &TilePass<'_>) -> Result<(), Error> {
    let [origin, extent] = pass.area;
    let inside =
        (0..2).all(|i| extent[i] > 0 && origin[i].checked_add(extent[i]).is_some_and(|end| end <= pass.extent[i]));
    if !inside || pass.layers == 0 {
        return Err(Error::invalid(format!(
            "the render area {:?} is not inside a framebuffer of {:?} texels and {} layers",
            pass.area, pass.extent, pass.layers
        )));
    }
    Ok(())
}

fn attachments(device: &DeviceShared, pass: &TilePass<'_>) -> Result<(), Error> {
    let has = &device.capabilities;
    let mut parts = [0; 2];
    for (index, attachment) in pass.attachments.iter().enumerate() {
        let image = &attachment.image;
        let [width, height] = pass.extent;
        let fits = image.view == ImageView::ALL
            && image.dim == ImageDim::D2
            && image.extent == [width, height, 1]
            && image.levels == 1;
        if !fits || image.layers != pass.layers || image.arrayed != (pass.layers > 1) {
            return Err(Error::invalid(format!("attachment {index} is not of the framebuffer's size")));
        }
        let given = attachment.data.len();
        if image.bytes()? != given {
            return Err(Error::invalid(format!("attachment {index} is given {given} bytes, not {}", image.bytes()?)));
        }
        let is_color = matches!(image.format, TexelFormat::Color(_));
        let needs = match (attachment.role, image.format) {
            (AttachmentRole::Color, TexelFormat::Depth32 | TexelFormat::Stencil8) => {
                return Err(Error::invalid(format!("attachment {index}: depth and stencil are no colour")));
            }
            (AttachmentRole::Color, TexelFormat::Color(_)) => "tileShadingColorAttachments",
            (AttachmentRole::DepthStencil, TexelFormat::Color(_)) => {
                return Err(Error::invalid(format!("attachment {index} has neither depth nor stencil")));
            }
            (AttachmentRole::DepthStencil, TexelFormat::Depth32) => {
                parts[0] += 1;
                "tileShadingDepthAttachments"
            }
            (AttachmentRole::DepthStencil, TexelFormat::Stencil8) => {
                parts[1] += 1;
                "tileShadingStencilAttachments"
            }
            (AttachmentRole::Input, _) if pass.form == PassForm::Dynamic => {
                return Err(Error::invalid("input attachments come with render pass objects"));
            }
            (AttachmentRole::Input, _) => "tileShadingInputAttachments",
        };
        if !attachment.bindings.is_empty() && !has.has_feature(needs) {
            return Err(device.unsupported(format!("the feature {needs} (VUID-RuntimeSpirv-OpTypeImage-10707 ff)")));
        }
        for (_, _, kind) in &attachment.bindings {
            match kind {
                DescriptorKind::StorageImage if !is_color => {
                    return Err(Error::invalid("a depth or stencil attachment is no storage image"));
                }
                DescriptorKind::StorageImage => {}
                DescriptorKind::SampledImage | DescriptorKind::CombinedImageSampler => {
                    if !has.has_feature("tileShadingSampledAttachments") {
                        let rule = "VUID-RuntimeSpirv-OpTypeSampledImage-10711";
                        return Err(device.unsupported(format!("the feature tileShadingSampledAttachments ({rule})")));
                    }
                    if *kind == DescriptorKind::CombinedImageSampler && attachment.sampler.is_none() {
                        return Err(Error::invalid(format!("attachment {index} lacks its sampler")));
                    }
                }
                other => return Err(Error::invalid(format!("a tile attachment is not bound as {other:?}"))),
            }
        }
    }
    if parts.iter().any(|part| *part > 1) {
        return Err(Error::invalid("a render pass has one depth attachment and one stencil attachment at most"));
    }
    Ok(())
}

fn draw(device: &DeviceShared, pass: &TilePass<'_>, fragment: &[u32], per_tile: bool) -> Result<(), Error> {
    if pass.layers != 1 {
        return Err(Error::invalid("a draw reaches the first layer of a framebuffer, and the pass has several"));
    }
    if !per_tile && pass.recording != PassRecording::Primary {
        return Err(Error::invalid("a draw outside per-tile execution is recorded in the primary command buffer"));
    }
    let colors = pass.attachments.iter().filter(|a| a.role == AttachmentRole::Color).count();
    let written = written(fragment)?;
    if let Some(location) = written.iter().find(|location| **location as usize >= colors) {
        return Err(Error::invalid(format!(
            "an output at location {location} of a pass with {colors} colour attachments"
        )));
    }
    if !written.is_empty() && written.len() < colors && !device.capabilities.has_feature("independentBlend") {
        let rule = "VUID-VkPipelineColorBlendStateCreateInfo-pAttachments-00605";
        return Err(
            device.unsupported(format!("the feature independentBlend, to write some attachments only ({rule})"))
        );
    }
    Ok(())
}

fn steps(device: &DeviceShared, pass: &TilePass<'_>) -> Result<(), Error> {
    let bindings = super::pass_objects::bindings(pass)?;
    for step in pass.steps {
        let (pipeline, push) = match step {
            TileStep::Barrier if pass.form == PassForm::Dynamic => {
                return Err(Error::invalid(
                    "a barrier between a tile's dispatches comes with render pass objects: in dynamic rendering barriers name \
                     no compute stage (VUID-vkCmdPipelineBarrier2-srcStageMask-09556)",
                ));
            }
            TileStep::Barrier => continue,
            TileStep::Draw { fragment, per_tile } => {
                draw(device, pass, fragment, *per_tile)?;
                continue;
            }
            TileStep::Dispatch { pipeline, push_constants, groups } => {
                let most = device.properties.limits.max_workgroups;
                if groups.contains(&0) || groups.iter().zip(most).any(|(asked, most)| *asked > most) {
                    let what = format!("a dispatch of {groups:?} workgroups (maxComputeWorkGroupCount is {most:?})");
                    return Err(Error::invalid(what));
                }
                (pipeline, push_constants)
            }
            TileStep::Cover { pipeline, push_constants, .. } | TileStep::DispatchTile { pipeline, push_constants } => {
                (pipeline, push_constants)
            }
        };
        if !std::ptr::eq(device, &*pipeline.shared.device) {
            return Err(Error::invalid("a pipeline belongs to another device"));
        }
        let LayoutKey { bindings: has, push_constants } = &pipeline.shared.key;
        if *has != bindings {
            return Err(Error::invalid(format!("a pipeline has {has:?} where the pass has {bindings:?}")));
        }
        if push.len() != *push_constants as usize {
            let given = push.len();
            return Err(Error::invalid(format!(
                "a pipeline has {push_constants} bytes of push constants, given: {given}"
            )));
        }
    }
    Ok(())
}
