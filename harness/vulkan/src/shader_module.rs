//! Shader modules of graphics pipelines.

use ash::vk;

use crate::device::DeviceShared;
use crate::error::Error;

/// A shader module that exists until its pipeline is created.
pub(crate) struct ShaderModule<'a> {
    device: &'a DeviceShared,
    raw: vk::ShaderModule,
}

impl<'a> ShaderModule<'a> {
    pub(crate) fn new(device: &'a DeviceShared, words: &[u32]) -> Result<Self, Error> {
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the device is alive; the words live until the call returns.
        let made = unsafe { device.raw.create_shader_module(&info, None) };
        Ok(Self { device, raw: device.check(made, "vkCreateShaderModule")? })
    }

    /// Assembles a module from the text of this crate that is called `name`.
    pub(crate) fn assemble(device: &'a DeviceShared, name: &str, text: &str) -> Result<Self, Error> {
        let words = assay_spirv::assemble(text).map_err(|error| Error::invalid(format!("{name}: {error}")))?;
        Self::new(device, &words)
    }

    /// Returns the vertex shader of a triangle that covers the viewport.
    pub(crate) fn triangle(device: &'a DeviceShared) -> Result<Self, Error> {
        Self::assemble(device, "the vertex shader of draws", include_str!("triangle.spvasm"))
    }

    pub(crate) fn stage(&self, stage: vk::ShaderStageFlags) -> vk::PipelineShaderStageCreateInfo<'static> {
        vk::PipelineShaderStageCreateInfo::default().stage(stage).module(self.raw).name(c"main")
    }
}

impl Drop for ShaderModule<'_> {
    fn drop(&mut self) {
        // SAFETY: pipelines do not need the module after their creation.
        unsafe { self.device.raw.destroy_shader_module(self.raw, None) };
    }
}
