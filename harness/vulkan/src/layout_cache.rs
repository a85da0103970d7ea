//! Descriptor set and pipeline layouts, each created once.

use std::collections::BTreeMap;

use ash::vk;
use assay_spirv::reflect::DescriptorKind;

use crate::error::{Error, command_error};
use crate::resource::BindingLayout;

/// Properties that determine a layout.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LayoutKey {
    /// The bindings, sorted by set and binding.
    pub(crate) bindings: Vec<BindingLayout>,
    /// Bytes of push constants.
    pub(crate) push_constants: u32,
}

impl LayoutKey {
    /// Describes `buffers` storage buffers in set 0, at bindings 0 and up.
    pub(crate) fn buffers(buffers: u32, push_constants: u32) -> Self {
        let bindings = (0..buffers).map(|i| BindingLayout::new(0, i, DescriptorKind::StorageBuffer, 1));
        Self { bindings: bindings.collect(), push_constants }
    }

    /// Returns the bindings of each set from 0 to the last set that has bindings.
    fn sets(&self) -> Vec<&[BindingLayout]> {
        let count = self.bindings.last().map_or(0, |last| last.set + 1);
        (0..count)
            .map(|set| {
                let start = self.bindings.partition_point(|b| b.set < set);
                let end = self.bindings.partition_point(|b| b.set <= set);
                &self.bindings[start..end]
            })
            .collect()
    }
}

/// The layouts created so far.
#[derive(Default)]
pub(crate) struct LayoutCache {
    /// Set layouts by their bindings, with set 0 in place of the set number.
    sets: BTreeMap<Vec<BindingLayout>, vk::DescriptorSetLayout>,
    pipelines: BTreeMap<LayoutKey, PipelineLayouts>,
}

/// The layouts of a key.
#[derive(Clone, Debug, Default)]
pub(crate) struct PipelineLayouts {
    /// Layout of each set from 0 on.
    pub(crate) sets: Vec<vk::DescriptorSetLayout>,
    /// The pipeline layout.
    pub(crate) pipeline: vk::PipelineLayout,
}

/// Returns the descriptor type of a kind, or `None` for kinds that this crate does not support.
pub(crate) fn descriptor_type(kind: DescriptorKind) -> Option<vk::DescriptorType> {
    Some(match kind {
        DescriptorKind::Sampler => vk::DescriptorType::SAMPLER,
        DescriptorKind::CombinedImageSampler => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        DescriptorKind::SampledImage => vk::DescriptorType::SAMPLED_IMAGE,
        DescriptorKind::StorageImage => vk::DescriptorType::STORAGE_IMAGE,
        DescriptorKind::UniformTexelBuffer => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
        DescriptorKind::StorageTexelBuffer => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
        DescriptorKind::UniformBuffer => vk::DescriptorType::UNIFORM_BUFFER,
        DescriptorKind::StorageBuffer => vk::DescriptorType::STORAGE_BUFFER,
        DescriptorKind::InputAttachment | DescriptorKind::AccelerationStructure | DescriptorKind::Tensor => {
            return None;
        }
    })
}

impl LayoutCache {
    /// Returns the set layouts and the pipeline layout of `key`, whose kinds all have a descriptor
    /// type. The descriptors are visible to `stages`.
    pub(crate) fn get(
        &mut self,
        device: &ash::Device,
        key: &LayoutKey,
        stages: vk::ShaderStageFlags,
    ) -> Result<PipelineLayouts, Error> {
        if let Some(made) = self.pipelines.get(key) {
            return Ok(made.clone());
        }
        let mut sets = Vec::new();
        for set in key.sets() {
            sets.push(self.set(device, set, stages)?);
        }
        let ranges =
            [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(key.push_constants)];
        let ranges = if key.push_constants == 0 { &[] } else { &ranges[..] };
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(ranges);
        // SAFETY: the device is alive; the info lives until the call returns.
        let pipeline =
            unsafe { device.create_pipeline_layout(&info, None) }.map_err(command_error("vkCreatePipelineLayout"))?;
        Ok(self.pipelines.entry(key.clone()).or_insert(PipelineLayouts { sets, pipeline }).clone())
    }

    fn set(
        &mut self,
        device: &ash::Device,
        bindings: &[BindingLayout],
        stages: vk::ShaderStageFlags,
    ) -> Result<vk::DescriptorSetLayout, Error> {
        let key: Vec<BindingLayout> = bindings.iter().map(|b| BindingLayout { set: 0, ..*b }).collect();
        if let Some(&set) = self.sets.get(&key) {
            return Ok(set);
        }
        let bindings: Vec<_> = key
            .iter()
            .map(|b| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(b.binding)
                    .descriptor_type(descriptor_type(b.kind).unwrap_or_default())
                    .descriptor_count(b.count)
                    .stage_flags(stages)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: as above.
        let set = unsafe { device.create_descriptor_set_layout(&info, None) }
            .map_err(command_error("vkCreateDescriptorSetLayout"))?;
        Ok(*self.sets.entry(key).or_insert(set))
    }

    /// Destroys all layouts.
    ///
    /// # Safety
    /// The device is alive, and no object that uses the layouts is.
    pub(crate) unsafe fn destroy(self, device: &ash::Device) {
        // SAFETY: by the contract of this function; `self` is consumed, so each layout is destroyed
        // once.
        unsafe {
            for made in self.pipelines.into_values() {
                device.destroy_pipeline_layout(made.pipeline, None);
            }
            for layout in self.sets.into_values() {
                device.destroy_descriptor_set_layout(layout, None);
            }
        }
    }
}
