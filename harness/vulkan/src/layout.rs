//! Descriptor set and pipeline layouts: N storage buffers in set 0, and push constants. Made once each.

use std::collections::BTreeMap;

use ash::vk;

use crate::error::{Error, during};

/// What a layout depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LayoutKey {
    /// Storage buffers, at bindings 0 and up.
    pub(crate) buffers: u32,
    /// Bytes of push constants.
    pub(crate) push_constants: u32,
}

/// The layouts made so far.
#[derive(Default)]
pub(crate) struct Layouts {
    sets: BTreeMap<u32, vk::DescriptorSetLayout>,
    pipelines: BTreeMap<LayoutKey, vk::PipelineLayout>,
}

impl Layouts {
    /// The set layout and the pipeline layout of `key`.
    pub(crate) fn get(
        &mut self,
        device: &ash::Device,
        key: LayoutKey,
    ) -> Result<(vk::DescriptorSetLayout, vk::PipelineLayout), Error> {
        let set = match self.sets.get(&key.buffers) {
            Some(&set) => set,
            None => {
                let bindings: Vec<_> = (0..key.buffers)
                    .map(|i| {
                        vk::DescriptorSetLayoutBinding::default()
                            .binding(i)
                            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                            .descriptor_count(1)
                            .stage_flags(vk::ShaderStageFlags::COMPUTE)
                    })
                    .collect();
                let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
                // SAFETY: the device is alive; the info lives until the call returns.
                let set = unsafe { device.create_descriptor_set_layout(&info, None) }
                    .map_err(during("vkCreateDescriptorSetLayout"))?;
                *self.sets.entry(key.buffers).or_insert(set)
            }
        };
        let pipeline = match self.pipelines.get(&key) {
            Some(&pipeline) => pipeline,
            None => {
                let sets = [set];
                let ranges = [vk::PushConstantRange::default()
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
                    .size(key.push_constants)];
                let ranges = if key.push_constants == 0 { &[] } else { &ranges[..] };
                let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(ranges);
                // SAFETY: as above.
                let pipeline =
                    unsafe { device.create_pipeline_layout(&info, None) }.map_err(during("vkCreatePipelineLayout"))?;
                *self.pipelines.entry(key).or_insert(pipeline)
            }
        };
        Ok((set, pipeline))
    }

    /// Destroys all of them.
    ///
    /// # Safety
    /// The device is alive, and nothing that uses the layouts is.
    pub(crate) unsafe fn destroy(self, device: &ash::Device) {
        // SAFETY: the caller vouches for it; `self` is consumed, so each goes once.
        unsafe {
            for layout in self.pipelines.into_values() {
                device.destroy_pipeline_layout(layout, None);
            }
            for layout in self.sets.into_values() {
                device.destroy_descriptor_set_layout(layout, None);
            }
        }
    }
}
