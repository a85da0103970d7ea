//! Graphics pipelines of draws: a triangle that covers the render area, shaded by a tile-shading
//! fragment shader.

use std::sync::Arc;

use ash::vk;
use assay_spirv::Module;
use assay_spirv_lower::fragment::locations;

use super::pass_objects::{PassObjects, area, format};
use super::{AttachmentRole, PassForm, TilePass};
use crate::device::DeviceShared;
use crate::error::Error;
use crate::shader_module::ShaderModule;

/// Returns the locations of the fragment shader's outputs.
pub(super) fn written(fragment: &[u32]) -> Result<Vec<u32>, Error> {
    let module = Module::parse(fragment.to_vec());
    let module = module.map_err(|error| Error::invalid(format!("the fragment shader of a draw: {error}")))?;
    Ok(locations(&module))
}

/// The pipeline of a draw.
pub(super) struct GraphicsPipeline {
    device: Arc<DeviceShared>,
    raw: vk::Pipeline,
    layout: vk::PipelineLayout,
}

impl Drop for GraphicsPipeline {
    fn drop(&mut self) {
        // SAFETY: the pass that owns it is dropped when no work uses it.
        unsafe { self.device.raw.destroy_pipeline(self.raw, None) };
    }
}

impl GraphicsPipeline {
    /// Creates the pipeline for the render pass of `objects`, or for dynamic rendering with its
    /// attachments.
    pub(super) fn new(
        objects: &PassObjects,
        pass: &TilePass<'_>,
        layout: vk::PipelineLayout,
        fragment: &[u32],
    ) -> Result<Self, Error> {
        let device = &objects.base.device;
        let shaders = (ShaderModule::triangle(device)?, ShaderModule::new(device, fragment)?);
        let stages = [shaders.0.stage(vk::ShaderStageFlags::VERTEX), shaders.1.stage(vk::ShaderStageFlags::FRAGMENT)];
        let scissors = [area(pass)];
        let [[x, y], [width, height]] = pass.area.map(|corner| corner.map(|n| n as f32));
        let viewports = [vk::Viewport { x, y, width, height, min_depth: 0.0, max_depth: 1.0 }];
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
        let written = written(fragment)?;
        let (mut blends, mut formats) = (Vec::new(), Vec::new());
        let (mut depth, mut stencil) = (vk::Format::UNDEFINED, vk::Format::UNDEFINED);
        for (attachment, made) in pass.attachments.iter().zip(&objects.attachments) {
            let format = format(attachment, made)?;
            match (attachment.role, made.aspect) {
                (AttachmentRole::Color, _) => {
                    let is_written = written.contains(&(formats.len() as u32));
                    let mask =
                        if is_written { vk::ColorComponentFlags::RGBA } else { vk::ColorComponentFlags::empty() };
                    blends.push(vk::PipelineColorBlendAttachmentState::default().color_write_mask(mask));
                    formats.push(format);
                }
                (AttachmentRole::DepthStencil, vk::ImageAspectFlags::STENCIL) => stencil = format,
                (AttachmentRole::DepthStencil, _) => depth = format,
                (AttachmentRole::Input, _) => {}
            }
        }
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
        let vertices = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly =
            vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let rasterization = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
        // Depth and stencil tests are off by default.
        let tests = vk::PipelineDepthStencilStateCreateInfo::default();
        let mut rendering = vk::PipelineRenderingCreateInfo::default()
            .color_attachment_formats(&formats)
            .depth_attachment_format(depth)
            .stencil_attachment_format(stencil);
        let mut info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&vertices)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&rasterization)
            .multisample_state(&samples)
            .depth_stencil_state(&tests)
            .color_blend_state(&blend)
            .layout(layout)
            .render_pass(objects.render_pass);
        if pass.form == PassForm::Dynamic {
            info = info.push_next(&mut rendering);
        }
        // SAFETY: all that `info` refers to lives until the call returns. Without a cache object,
        // the driver takes calls from several threads.
        let made = unsafe { device.raw.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
        let made = device.check(made.map_err(|(_, error)| error), "vkCreateGraphicsPipelines")?;
        Ok(Self { device: device.clone(), raw: made.first().copied().unwrap_or_default(), layout })
    }

    /// Records the draw.
    ///
    /// # Safety
    /// The command buffer is being recorded, in the pass of `objects`, which live until the work is
    /// done.
    pub(super) unsafe fn draw(&self, objects: &PassObjects, commands: vk::CommandBuffer) {
        let (raw, point) = (&self.device.raw, vk::PipelineBindPoint::GRAPHICS);
        // SAFETY: by the contract of this function.
        unsafe {
            raw.cmd_bind_pipeline(commands, point, self.raw);
            if !objects.base.sets.is_empty() {
                raw.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &objects.base.sets, &[]);
            }
            raw.cmd_draw(commands, 3, 1, 0, 0);
        }
    }
}
