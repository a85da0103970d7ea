//! Objects of a pass: images with staging, buffers, descriptors, and a render pass with its
//! framebuffer.

use std::sync::Arc;

use ash::{qcom, vk};
use assay_spirv::reflect::DescriptorKind;
use gpu_allocator::MemoryLocation;

use super::tile_draw::GraphicsPipeline;
use super::tile_shading_structs::{self, RenderPassTileShadingCreateInfo};
use super::{
    AttachmentRole, Mistake, PassForm, PassRecording, TileAttachment, TileGrid, TilePass, TilePassOutput, TileStep,
};
use crate::buffer_memory::Buffer;
use crate::device::DeviceShared;
use crate::error::Error;
use crate::image_objects::{AspectView, Image, Sampler, aspect_of, vk_format};
use crate::layout_cache::{LayoutKey, descriptor_type};
use crate::resource::BindingLayout;
use crate::slot_objects::SlotObjects;

/// Returns the bindings of a pass, sorted by set and binding.
pub(super) fn bindings(pass: &TilePass<'_>) -> Result<Vec<BindingLayout>, Error> {
    let attachments = pass.attachments.iter().flat_map(|a| &a.bindings);
    let mut all: Vec<_> = attachments.map(|&(set, binding, kind)| BindingLayout::new(set, binding, kind, 1)).collect();
    let buffers = pass.buffers.iter();
    all.extend(buffers.map(|b| BindingLayout::new(b.set, b.binding, DescriptorKind::StorageBuffer, 1)));
    all.sort_unstable();
    if let Some(pair) = all.windows(2).find(|pair| (pair[0].set, pair[0].binding) == (pair[1].set, pair[1].binding)) {
        return Err(Error::invalid(format!("set {}, binding {} is given twice", pair[0].set, pair[0].binding)));
    }
    Ok(all)
}

/// Objects of an attachment. It has a sampler if its description has one.
pub(super) struct Attachment {
    /// The attachment's aspect of the image.
    pub(super) aspect: vk::ImageAspectFlags,
    /// View of this aspect alone, for shaders.
    view: AspectView,
    /// The image, which depth and stencil share if a pass has both.
    pub(super) image: Arc<Image>,
    sampler: Option<Sampler>,
    pub(super) staging: Buffer,
}

/// All objects of a pass; dropped when no work uses them.
pub(super) struct PassObjects {
    pub(super) base: SlotObjects,
    pub(super) attachments: Vec<Attachment>,
    pub(super) buffers: Vec<Buffer>,
    /// Null for dynamic rendering.
    pub(super) render_pass: vk::RenderPass,
    pub(super) framebuffer: vk::Framebuffer,
    pub(super) flags: u32,
    /// For each step, the pipeline of its draw, if it is one.
    pub(super) draws: Vec<Option<GraphicsPipeline>>,
}

impl Drop for PassObjects {
    fn drop(&mut self) {
        let raw = &self.base.device.raw;
        // SAFETY: the owner drops this when no work uses it; null handles are ignored.
        unsafe {
            raw.destroy_framebuffer(self.framebuffer, None);
            raw.destroy_render_pass(self.render_pass, None);
        }
    }
}

impl PassObjects {
    pub(super) fn new(device: &Arc<DeviceShared>, pass: &TilePass<'_>, mistake: Mistake) -> Result<Self, Error> {
        let key = LayoutKey { bindings: bindings(pass)?, push_constants: 0 };
        let base = SlotObjects::new(device, &key, &[])?;
        let usage_of = |attachment: &TileAttachment<'_>| {
            let mut usage = vk::ImageUsageFlags::TRANSFER_SRC
                | vk::ImageUsageFlags::TRANSFER_DST
                | match attachment.role {
                    AttachmentRole::Color => vk::ImageUsageFlags::COLOR_ATTACHMENT,
                    AttachmentRole::DepthStencil => vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
                    AttachmentRole::Input => vk::ImageUsageFlags::INPUT_ATTACHMENT,
                };
            for (_, _, kind) in &attachment.bindings {
                usage |= match kind {
                    DescriptorKind::StorageImage => vk::ImageUsageFlags::STORAGE,
                    _ => vk::ImageUsageFlags::SAMPLED,
                };
            }
            usage
        };
        let parts = || pass.attachments.iter().filter(|a| a.role == AttachmentRole::DepthStencil);
        let usage = parts().fold(vk::ImageUsageFlags::empty(), |usage, part| usage | usage_of(part));
        let aspects = parts().fold(vk::ImageAspectFlags::empty(), |all, part| all | aspect_of(part.image.format));
        let mut shared: Option<Arc<Image>> = None;
        let attachments = pass.attachments.iter().map(|attachment| {
            let aspect = aspect_of(attachment.image.format);
            let image = match (attachment.role, &shared) {
                (AttachmentRole::DepthStencil, Some(shared)) => shared.clone(),
                (AttachmentRole::DepthStencil, None) => {
                    let made = Image::of_aspects(device, attachment.image, usage, aspects)?;
                    shared.insert(Arc::new(made)).clone()
                }
                _ => Arc::new(Image::with_usage(device, attachment.image, usage_of(attachment))?),
            };
            Ok(Attachment {
                aspect,
                view: image.view_of(aspect)?,
                image,
                sampler: attachment.sampler.as_ref().map(|sampler| Sampler::new(device, sampler)).transpose()?,
                staging: Buffer::new(
                    device,
                    attachment.data.len(),
                    vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST,
                    MemoryLocation::GpuToCpu,
                )?,
            })
        });
        let attachments = attachments.collect::<Result<Vec<_>, Error>>()?;
        let buffers = pass.buffers.iter().map(|buffer| {
            let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
            Buffer::new(device, buffer.data.len(), usage, MemoryLocation::GpuToCpu)
        });
        let buffers = buffers.collect::<Result<Vec<_>, Error>>()?;
        let flags = match mistake {
            Mistake::NotTileShading => 0,
            Mistake::PerTileFlag => tile_shading_structs::ENABLE | tile_shading_structs::PER_TILE_EXECUTION,
            Mistake::PerTileFlagAlone => tile_shading_structs::PER_TILE_EXECUTION,
            _ => tile_shading_structs::ENABLE,
        };
        // From here on, a drop cleans up.
        let (render_pass, framebuffer) = (vk::RenderPass::null(), vk::Framebuffer::null());
        let mut objects = Self { base, attachments, buffers, render_pass, framebuffer, flags, draws: Vec::new() };
        objects.describe(pass);
        if pass.form == PassForm::Objects {
            objects.make_render_pass(pass, mistake)?;
        }
        let layout = device.layout(&key)?.pipeline;
        for step in pass.steps {
            objects.draws.push(match step {
                TileStep::Draw { fragment, .. } => Some(GraphicsPipeline::new(&objects, pass, layout, fragment)?),
                _ => None,
            });
        }
        Ok(objects)
    }

    fn describe(&self, pass: &TilePass<'_>) {
        let set_of = |set: u32| self.base.sets.get(set as usize).copied().unwrap_or_default();
        let mut images = Vec::new();
        for (attachment, objects) in pass.attachments.iter().zip(&self.attachments) {
            let sampler = objects.sampler.as_ref().map(|s| s.raw).unwrap_or_default();
            for &(set, binding, kind) in &attachment.bindings {
                let combined = kind == DescriptorKind::CombinedImageSampler;
                let info = vk::DescriptorImageInfo::default()
                    .image_layout(vk::ImageLayout::GENERAL)
                    .image_view(objects.view.raw)
                    .sampler(if combined { sampler } else { vk::Sampler::null() });
                images.push((set, binding, kind, [info]));
            }
        }
        let buffers: Vec<_> = pass
            .buffers
            .iter()
            .zip(&self.buffers)
            .map(|(buffer, made)| {
                let info = vk::DescriptorBufferInfo::default().buffer(made.raw).range(buffer.data.len() as u64);
                (buffer.set, buffer.binding, [info])
            })
            .collect();
        let mut writes = Vec::new();
        for (set, binding, kind, info) in &images {
            let write = vk::WriteDescriptorSet::default().dst_set(set_of(*set)).dst_binding(*binding);
            writes.push(write.descriptor_type(descriptor_type(*kind).unwrap_or_default()).image_info(info));
        }
        for (set, binding, info) in &buffers {
            let write = vk::WriteDescriptorSet::default().dst_set(set_of(*set)).dst_binding(*binding);
            writes.push(write.descriptor_type(vk::DescriptorType::STORAGE_BUFFER).buffer_info(info));
        }
        // SAFETY: the sets are new, so nothing uses them; the resources live as long as the sets;
        // the layout was made from the same bindings.
        unsafe { self.base.device.raw.update_descriptor_sets(&writes, &[]) };
    }

    fn make_render_pass(&mut self, pass: &TilePass<'_>, mistake: Mistake) -> Result<(), Error> {
        let general = vk::ImageLayout::GENERAL;
        let mut descriptions = Vec::new();
        let (mut colors, mut inputs, mut depth) = (Vec::new(), Vec::new(), None);
        for (index, (attachment, made)) in (0..).zip(self.images(pass)) {
            let description = vk::AttachmentDescription2::default()
                .format(format(attachment, made)?)
                .samples(vk::SampleCountFlags::TYPE_1)
                .load_op(vk::AttachmentLoadOp::LOAD)
                .store_op(vk::AttachmentStoreOp::STORE)
                .stencil_load_op(vk::AttachmentLoadOp::LOAD)
                .stencil_store_op(vk::AttachmentStoreOp::STORE)
                .initial_layout(general)
                .final_layout(general);
            descriptions.push(description);
            let reference = vk::AttachmentReference2::default().attachment(index).layout(general);
            match attachment.role {
                AttachmentRole::Color => colors.push(reference.aspect_mask(vk::ImageAspectFlags::COLOR)),
                AttachmentRole::DepthStencil => depth = Some(reference),
                AttachmentRole::Input => inputs.push(reference.aspect_mask(made.aspect)),
            }
        }
        let apron = (pass.apron != [0; 2]) != (mistake == Mistake::ApronFlag);
        let mut subpass = vk::SubpassDescription2::default()
            .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
            .flags(if apron { tile_shading_structs::APRON } else { vk::SubpassDescriptionFlags::empty() })
            .color_attachments(&colors)
            .input_attachments(&inputs);
        if let Some(depth) = &depth {
            subpass = subpass.depth_stencil_attachment(depth);
        }
        let subpasses = [subpass];
        let mut barrier = step_barrier();
        let dependency = vk::SubpassDependency2::default()
            .src_subpass(0)
            .dst_subpass(0)
            .dependency_flags(vk::DependencyFlags::BY_REGION);
        let dependencies = [dependency.push_next(&mut barrier)];
        let mut tiles = RenderPassTileShadingCreateInfo::new(self.flags, pass.apron);
        let info = vk::RenderPassCreateInfo2::default()
            .attachments(&descriptions)
            .subpasses(&subpasses)
            .dependencies(&dependencies)
            .push_next(&mut tiles);
        let device = &self.base.device;
        // SAFETY: the device is alive, here and below; all that the infos point to lives until the
        // calls return.
        let made = unsafe { device.raw.create_render_pass2(&info, None) };
        self.render_pass = device.check(made, "vkCreateRenderPass2")?;
        let views: Vec<_> = self.images(pass).map(|(_, made)| made.image.view).collect();
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(self.render_pass)
            .attachments(&views)
            .width(pass.extent[0])
            .height(pass.extent[1])
            .layers(pass.layers);
        // SAFETY: as above.
        let made = unsafe { device.raw.create_framebuffer(&info, None) };
        self.framebuffer = device.check(made, "vkCreateFramebuffer")?;
        Ok(())
    }

    /// Returns the attachments without those that share the image of an earlier one.
    pub(super) fn images<'p, 'a>(
        &'p self,
        pass: &'p TilePass<'a>,
    ) -> impl Iterator<Item = (&'p TileAttachment<'a>, &'p Attachment)> {
        let first = |index: usize| {
            let image = &self.attachments[index].image;
            !self.attachments[..index].iter().any(|before| Arc::ptr_eq(&before.image, image))
        };
        let all = pass.attachments.iter().zip(&self.attachments).enumerate();
        all.filter(move |(index, _)| first(*index)).map(|(_, both)| both)
    }

    /// Calls `with` with the description of dynamic rendering.
    pub(super) fn rendering<T>(&self, pass: &TilePass<'_>, with: impl FnOnce(&vk::RenderingInfo<'_>) -> T) -> T {
        let info = |index: usize| {
            vk::RenderingAttachmentInfo::default()
                .image_view(self.attachments[index].image.view)
                .image_layout(vk::ImageLayout::GENERAL)
                .load_op(vk::AttachmentLoadOp::LOAD)
                .store_op(vk::AttachmentStoreOp::STORE)
        };
        let of = |role| (0..pass.attachments.len()).filter(move |i| pass.attachments[*i].role == role);
        let colors: Vec<_> = of(AttachmentRole::Color).map(info).collect();
        let part = |aspect| of(AttachmentRole::DepthStencil).find(|i| self.attachments[*i].aspect == aspect).map(info);
        let (depth, stencil) = (part(vk::ImageAspectFlags::DEPTH), part(vk::ImageAspectFlags::STENCIL));
        let mut tiles = RenderPassTileShadingCreateInfo::new(self.flags, pass.apron);
        let mut rendering = vk::RenderingInfo::default()
            .render_area(area(pass))
            .layer_count(pass.layers)
            .color_attachments(&colors)
            .push_next(&mut tiles);
        if let Some(depth) = &depth {
            rendering = rendering.depth_attachment(depth);
        }
        if let Some(stencil) = &stencil {
            rendering = rendering.stencil_attachment(stencil);
        }
        with(&rendering)
    }

    /// Calls `with` with the state that a secondary command buffer inherits from the pass, which
    /// uses render pass objects.
    pub(super) fn inherited<T>(
        &self,
        pass: &TilePass<'_>,
        mistake: Mistake,
        with: impl FnOnce(&vk::CommandBufferInheritanceInfo<'_>) -> T,
    ) -> T {
        let per_tile = match mistake {
            Mistake::SecondaryPerTile => true,
            Mistake::SecondaryNotPerTile => false,
            _ => pass.recording == PassRecording::PerTile,
        };
        let flags = tile_shading_structs::ENABLE | if per_tile { tile_shading_structs::PER_TILE_EXECUTION } else { 0 };
        let apron = pass.apron.map(|n| n + u32::from(mistake == Mistake::SecondaryApron));
        let mut tiles = RenderPassTileShadingCreateInfo::new(flags, apron);
        let mut info =
            vk::CommandBufferInheritanceInfo::default().render_pass(self.render_pass).framebuffer(self.framebuffer);
        if mistake != Mistake::SecondaryOrdinary {
            info = info.push_next(&mut tiles);
        }
        with(&info)
    }

    /// Queries the grid of tiles.
    pub(super) fn grid(&self, pass: &TilePass<'_>) -> Result<TileGrid, Error> {
        let device = &self.base.device;
        let commands = qcom::tile_properties::Device::new(&device.instance.raw, &device.raw);
        let mut found = vk::TilePropertiesQCOM::default();
        let result = match pass.form {
            PassForm::Dynamic => {
                let command = commands.fp().get_dynamic_rendering_tile_properties_qcom;
                // SAFETY: the extension is enabled; the info and what it points to live until the
                // call returns.
                self.rendering(pass, |info| unsafe { command(device.raw.handle(), info, &mut found) })
            }
            PassForm::Objects => {
                let command = commands.fp().get_framebuffer_tile_properties_qcom;
                let mut count = 1;
                // SAFETY: the extension is enabled; there is room for as many as the count says.
                unsafe { command(device.raw.handle(), self.framebuffer, &mut count, &mut found) }
            }
        };
        if result.as_raw() < 0 {
            device.check(Err(result), "vkGetDynamicRenderingTilePropertiesQCOM")?;
        }
        let (size, apron, origin) = (found.tile_size, found.apron_size, found.origin);
        Ok(TileGrid {
            size: [size.width, size.height, size.depth],
            apron: [apron.width, apron.height],
            origin: [origin.x, origin.y],
        })
    }

    /// Copies the initial contents to the mapped buffers.
    pub(super) fn upload(&mut self, pass: &TilePass<'_>) -> Result<(), Error> {
        let unmapped = || Error::Vulkan { during: "vkMapMemory", code: "memory that is not mapped".into() };
        let attachments =
            self.attachments.iter_mut().map(|a| &mut a.staging).zip(pass.attachments.iter().map(|a| a.data));
        let buffers = self.buffers.iter_mut().zip(pass.buffers.iter().map(|b| b.data));
        for (buffer, data) in attachments.chain(buffers) {
            buffer.bytes_mut().ok_or_else(unmapped)?.copy_from_slice(data);
        }
        Ok(())
    }

    /// Returns the contents of the mapped buffers after the pass.
    pub(super) fn output(&self, grid: TileGrid) -> TilePassOutput {
        let bytes = |buffer: &Buffer| buffer.bytes().unwrap_or_default().to_vec();
        TilePassOutput {
            grid,
            attachments: self.attachments.iter().map(|a| bytes(&a.staging)).collect(),
            buffers: self.buffers.iter().map(bytes).collect(),
        }
    }
}

/// Returns the format of an attachment's image.
pub(super) fn format(attachment: &TileAttachment<'_>, made: &Attachment) -> Result<vk::Format, Error> {
    let both = made.image.aspects != made.aspect;
    if both { Ok(vk::Format::D32_SFLOAT_S8_UINT) } else { vk_format(attachment.image.format) }
}

/// Returns the barrier between two steps of a tile.
///
/// A dependency of a graphics subpass and a barrier in a render pass may not name compute stages
/// (VUID-VkRenderPassCreateInfo2-pDependencies-03054, VUID-vkCmdPipelineBarrier2-None-07892),
/// although the access flags of tile attachments belong to them. The barrier therefore names all
/// commands.
pub(super) fn step_barrier() -> vk::MemoryBarrier2<'static> {
    let all = vk::PipelineStageFlags2::ALL_COMMANDS;
    use vk::AccessFlags2 as A;
    let read = tile_shading_structs::ATTACHMENT_READ | A::SHADER_READ | A::COLOR_ATTACHMENT_READ;
    let write = tile_shading_structs::ATTACHMENT_WRITE | A::SHADER_WRITE | A::COLOR_ATTACHMENT_WRITE;
    vk::MemoryBarrier2::default()
        .src_stage_mask(all)
        .src_access_mask(write)
        .dst_stage_mask(all)
        .dst_access_mask(read | write)
}

/// Returns the render area.
pub(super) fn area(pass: &TilePass<'_>) -> vk::Rect2D {
    let [[x, y], [width, height]] = pass.area;
    vk::Rect2D { offset: vk::Offset2D { x: x as i32, y: y as i32 }, extent: vk::Extent2D { width, height } }
}
