//! Vulkan objects of the copies between a buffer and a multisampled image.

use std::sync::Arc;

use ash::vk;

use super::transfer_format;
use crate::buffer_memory::Buffer;
use crate::device::DeviceShared;
use crate::error::Error;
use crate::image_objects::{Image, aspect_of, vk_format};
use crate::resource::TexelFormat;
use crate::shader_module::ShaderModule;

/// Stages that access the buffer and the push constants.
pub(super) const STAGES: vk::ShaderStageFlags =
    vk::ShaderStageFlags::from_raw(vk::ShaderStageFlags::FRAGMENT.as_raw() | vk::ShaderStageFlags::COMPUTE.as_raw());

/// Bytes of the push constants of both shaders.
const PUSHED: u32 = 32;

/// The objects; null if not created yet.
pub(super) struct TransferObjects {
    pub(super) device: Arc<DeviceShared>,
    pub(super) render_pass: vk::RenderPass,
    /// One framebuffer for each layer.
    pub(super) framebuffers: Vec<vk::Framebuffer>,
    pub(super) layout: vk::PipelineLayout,
    /// Descriptors for each buffer: the buffer and the image.
    pub(super) sets: Vec<vk::DescriptorSet>,
    pub(super) draw: vk::Pipeline,
    pub(super) fetch: vk::Pipeline,
    /// A view of all layers, then one of each layer.
    views: Vec<vk::ImageView>,
    set_layout: vk::DescriptorSetLayout,
    pool: vk::DescriptorPool,
}

impl Drop for TransferObjects {
    fn drop(&mut self) {
        let device = &self.device.raw;
        // SAFETY: the owner ensures that no work uses them; null handles are ignored; sets are freed
        // with their pool.
        unsafe {
            device.destroy_pipeline(self.draw, None);
            device.destroy_pipeline(self.fetch, None);
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_set_layout(self.set_layout, None);
            for framebuffer in &self.framebuffers {
                device.destroy_framebuffer(*framebuffer, None);
            }
            for view in &self.views {
                device.destroy_image_view(*view, None);
            }
            device.destroy_render_pass(self.render_pass, None);
        }
    }
}

impl TransferObjects {
    /// Creates the objects for copies between the image and each of the buffers.
    pub(super) fn new(device: &Arc<DeviceShared>, image: &Image, buffers: [&Buffer; 2]) -> Result<Self, Error> {
        // The fields are filled one by one, so that an error on the way drops the existing objects.
        let mut objects = Self {
            device: device.clone(),
            render_pass: vk::RenderPass::null(),
            framebuffers: Vec::new(),
            layout: vk::PipelineLayout::null(),
            sets: Vec::new(),
            draw: vk::Pipeline::null(),
            fetch: vk::Pipeline::null(),
            views: Vec::new(),
            set_layout: vk::DescriptorSetLayout::null(),
            pool: vk::DescriptorPool::null(),
        };
        let texel = transfer_format(image.spec.format)?;
        let format = vk_format(texel)?;
        objects.check_extent(image)?;
        objects.make_render_pass(image, format)?;
        objects.make_views(image, format)?;
        objects.make_framebuffers(image)?;
        objects.make_layouts()?;
        objects.make_sets(buffers)?;
        objects.make_draw_pipeline(image, texel)?;
        objects.make_fetch_pipeline(texel)?;
        Ok(objects)
    }

    /// Returns an error if no framebuffer or viewport is as large as the image.
    fn check_extent(&self, image: &Image) -> Result<(), Error> {
        let device = &self.device;
        // SAFETY: the handle is of this instance, which the device keeps alive.
        let limits = unsafe { device.instance.raw.get_physical_device_properties(device.physical) }.limits;
        let [width, height, _] = image.spec.extent;
        let [wide, high] = limits.max_viewport_dimensions;
        let (wide, high) = (wide.min(limits.max_framebuffer_width), high.min(limits.max_framebuffer_height));
        if width > wide || height > high {
            return Err(device.unsupported(format!(
                "multisampled images of {width} x {height} texels (its framebuffers and viewports have at most {wide} x \
                 {high})"
            )));
        }
        Ok(())
    }

    fn make_render_pass(&mut self, image: &Image, format: vk::Format) -> Result<(), Error> {
        let layout = vk::ImageLayout::GENERAL;
        let attachments = [vk::AttachmentDescription::default()
            .format(format)
            .samples(vk::SampleCountFlags::from_raw(image.spec.samples))
            .load_op(vk::AttachmentLoadOp::DONT_CARE)
            .store_op(vk::AttachmentStoreOp::STORE)
            .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
            .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
            .initial_layout(layout)
            .final_layout(layout)];
        let reference = [vk::AttachmentReference::default().attachment(0).layout(layout)];
        let subpass = vk::SubpassDescription::default().pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS);
        let subpasses = [match aspect_of(image.spec.format) {
            vk::ImageAspectFlags::COLOR => subpass.color_attachments(&reference),
            _ => subpass.depth_stencil_attachment(&reference[0]),
        }];
        let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
        // SAFETY: the device is alive, here and below; each info lives until its call returns.
        let made = unsafe { self.device.raw.create_render_pass(&info, None) };
        self.render_pass = self.device.check(made, "vkCreateRenderPass")?;
        Ok(())
    }

    fn make_views(&mut self, image: &Image, format: vk::Format) -> Result<(), Error> {
        let layers = image.spec.layers;
        let all = (vk::ImageViewType::TYPE_2D_ARRAY, 0, layers, vk::ImageUsageFlags::SAMPLED);
        let attached = super::image_usage(image.spec.format) & !vk::ImageUsageFlags::SAMPLED;
        let each = (0..layers).map(|layer| (vk::ImageViewType::TYPE_2D, layer, 1, attached));
        for (view_type, base, count, usage) in [all].into_iter().chain(each) {
            // The format of the view need not support storage.
            let mut usage = vk::ImageViewUsageCreateInfo::default().usage(usage);
            let range = image.range().base_array_layer(base).layer_count(count);
            let info = vk::ImageViewCreateInfo::default()
                .image(image.raw)
                .view_type(view_type)
                .format(format)
                .subresource_range(range)
                .push_next(&mut usage);
            // SAFETY: as above; the image is bound to memory, and its formats are compatible.
            let made = unsafe { self.device.raw.create_image_view(&info, None) };
            self.views.push(self.device.check(made, "vkCreateImageView")?);
        }
        Ok(())
    }

    fn make_framebuffers(&mut self, image: &Image) -> Result<(), Error> {
        let [width, height, _] = image.spec.extent;
        for view in &self.views[1..] {
            let attachments = [*view];
            let info = vk::FramebufferCreateInfo::default()
                .render_pass(self.render_pass)
                .attachments(&attachments)
                .width(width)
                .height(height)
                .layers(1);
            // SAFETY: as above.
            let made = unsafe { self.device.raw.create_framebuffer(&info, None) };
            self.framebuffers.push(self.device.check(made, "vkCreateFramebuffer")?);
        }
        Ok(())
    }

    fn make_layouts(&mut self) -> Result<(), Error> {
        let binding = |binding, ty, stages| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(ty)
                .descriptor_count(1)
                .stage_flags(stages)
        };
        let bindings = [
            binding(0, vk::DescriptorType::STORAGE_BUFFER, STAGES),
            binding(1, vk::DescriptorType::SAMPLED_IMAGE, vk::ShaderStageFlags::COMPUTE),
        ];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: as above.
        let made = unsafe { self.device.raw.create_descriptor_set_layout(&info, None) };
        self.set_layout = self.device.check(made, "vkCreateDescriptorSetLayout")?;
        let (layouts, ranges) =
            ([self.set_layout], [vk::PushConstantRange::default().stage_flags(STAGES).size(PUSHED)]);
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&ranges);
        // SAFETY: as above.
        let made = unsafe { self.device.raw.create_pipeline_layout(&info, None) };
        self.layout = self.device.check(made, "vkCreatePipelineLayout")?;
        Ok(())
    }

    fn make_sets(&mut self, buffers: [&Buffer; 2]) -> Result<(), Error> {
        let size = |ty| vk::DescriptorPoolSize::default().ty(ty).descriptor_count(buffers.len() as u32);
        let sizes = [size(vk::DescriptorType::STORAGE_BUFFER), size(vk::DescriptorType::SAMPLED_IMAGE)];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(buffers.len() as u32).pool_sizes(&sizes);
        // SAFETY: as above.
        let made = unsafe { self.device.raw.create_descriptor_pool(&info, None) };
        self.pool = self.device.check(made, "vkCreateDescriptorPool")?;
        let layouts = [self.set_layout; 2];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.pool).set_layouts(&layouts);
        // SAFETY: the pool has room for just these sets.
        let made = unsafe { self.device.raw.allocate_descriptor_sets(&info) };
        self.sets = self.device.check(made, "vkAllocateDescriptorSets")?;
        for (set, buffer) in self.sets.iter().zip(buffers) {
            let memory = [vk::DescriptorBufferInfo::default().buffer(buffer.raw).range(vk::WHOLE_SIZE)];
            let image =
                [vk::DescriptorImageInfo::default().image_view(self.views[0]).image_layout(vk::ImageLayout::GENERAL)];
            let write =
                |binding, ty| vk::WriteDescriptorSet::default().dst_set(*set).dst_binding(binding).descriptor_type(ty);
            let writes = [
                write(0, vk::DescriptorType::STORAGE_BUFFER).buffer_info(&memory),
                write(1, vk::DescriptorType::SAMPLED_IMAGE).image_info(&image),
            ];
            // SAFETY: the sets are new, so nothing uses them; buffers and image live as long as the
            // sets.
            unsafe { self.device.raw.update_descriptor_sets(&writes, &[]) };
        }
        Ok(())
    }

    fn make_draw_pipeline(&mut self, image: &Image, texel: TexelFormat) -> Result<(), Error> {
        let device = &self.device;
        let vertex = ShaderModule::triangle(device)?;
        let text = text_for(texel, include_str!("write_samples.spvasm"));
        let fragment = ShaderModule::assemble(device, "the shader that writes samples", &text)?;
        let stages = [vertex.stage(vk::ShaderStageFlags::VERTEX), fragment.stage(vk::ShaderStageFlags::FRAGMENT)];
        let [width, height, _] = image.spec.extent;
        let scissors = [vk::Rect2D { extent: vk::Extent2D { width, height }, ..Default::default() }];
        let (wide, high) = (width as f32, height as f32);
        let viewports = [vk::Viewport { x: 0.0, y: 0.0, width: wide, height: high, min_depth: 0.0, max_depth: 1.0 }];
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
        let vertices = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly =
            vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let rasterization = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::from_raw(image.spec.samples));
        let blends = [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
        let is_color = aspect_of(texel) == vk::ImageAspectFlags::COLOR;
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(if is_color { &blends } else { &[] });
        let tests = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(!is_color)
            .depth_write_enable(!is_color)
            .depth_compare_op(vk::CompareOp::ALWAYS);
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&vertices)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&rasterization)
            .multisample_state(&samples)
            .depth_stencil_state(&tests)
            .color_blend_state(&blend)
            .layout(self.layout)
            .render_pass(self.render_pass);
        // SAFETY: as above. Without a cache object, the driver takes calls from several threads.
        let made = unsafe { device.raw.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
        let made = device.check(made.map_err(|(_, error)| error), "vkCreateGraphicsPipelines")?;
        self.draw = made.first().copied().unwrap_or_default();
        Ok(())
    }

    fn make_fetch_pipeline(&mut self, texel: TexelFormat) -> Result<(), Error> {
        let device = &self.device;
        let text = text_for(texel, include_str!("read_samples.spvasm"));
        let shader = ShaderModule::assemble(device, "the shader that reads samples", &text)?;
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(shader.stage(vk::ShaderStageFlags::COMPUTE))
            .layout(self.layout);
        // SAFETY: as above.
        let made = unsafe { device.raw.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        let made = device.check(made.map_err(|(_, error)| error), "vkCreateComputePipelines")?;
        self.fetch = made.first().copied().unwrap_or_default();
        Ok(())
    }
}

/// Returns the variant of a shader for a format: lines that begin with `; COLOR` or `; DEPTH` belong
/// to one of the two.
fn text_for(texel: TexelFormat, text: &str) -> String {
    let mark = if texel == TexelFormat::Depth32 { "; DEPTH " } else { "; COLOR " };
    text.replace(mark, "")
}
