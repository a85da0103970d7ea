//! Objects of a slot besides its resources: descriptor sets, a command buffer, a fence, queries.

use std::collections::BTreeMap;
use std::sync::Arc;

use ash::vk;

use crate::device::DeviceShared;
use crate::dispatch_slot::{BoundResource, ResourceObjects};
use crate::error::Error;
use crate::layout_cache::{LayoutKey, descriptor_type};

/// The Vulkan objects of a slot without its resources; null if not created.
pub(crate) struct SlotObjects {
    pub(crate) device: Arc<DeviceShared>,
    /// A set for each number from 0 to the last one with bindings.
    pub(crate) sets: Vec<vk::DescriptorSet>,
    pub(crate) commands: vk::CommandBuffer,
    pub(crate) command_pool: vk::CommandPool,
    pub(crate) queries: vk::QueryPool,
    pub(crate) fence: vk::Fence,
    descriptor_pool: vk::DescriptorPool,
}

impl Drop for SlotObjects {
    fn drop(&mut self) {
        let device = &self.device.raw;
        // SAFETY: the slot is not in flight (`DispatchSlot::drop` leaks the objects of one that
        // is); null handles are ignored; sets and command buffers are freed with their pools.
        unsafe {
            device.destroy_query_pool(self.queries, None);
            device.destroy_fence(self.fence, None);
            device.destroy_command_pool(self.command_pool, None);
            device.destroy_descriptor_pool(self.descriptor_pool, None);
        }
    }
}

impl SlotObjects {
    /// Creates the objects for resources whose layout is `key` (without push constants).
    pub(crate) fn new(device: &Arc<DeviceShared>, key: &LayoutKey, resources: &[BoundResource]) -> Result<Self, Error> {
        let made = device.layout(key)?;
        // The fields are filled one by one, so that an error on the way drops the existing objects.
        let mut objects = Self {
            device: device.clone(),
            sets: Vec::new(),
            commands: vk::CommandBuffer::null(),
            command_pool: vk::CommandPool::null(),
            queries: vk::QueryPool::null(),
            descriptor_pool: vk::DescriptorPool::null(),
            fence: vk::Fence::null(),
        };
        let raw = &device.raw;
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(device.family.index);
        // SAFETY: the device is alive, here and below; each info lives until its call returns.
        let pool = unsafe { raw.create_command_pool(&info, None) };
        objects.command_pool = device.check(pool, "vkCreateCommandPool")?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(objects.command_pool).command_buffer_count(1);
        // SAFETY: the pool was just made and is used by this slot alone.
        let commands = unsafe { raw.allocate_command_buffers(&info) };
        let commands = device.check(commands, "vkAllocateCommandBuffers")?;
        objects.commands = commands.first().copied().unwrap_or_default();
        // SAFETY: as above.
        let fence = unsafe { raw.create_fence(&vk::FenceCreateInfo::default(), None) };
        objects.fence = device.check(fence, "vkCreateFence")?;
        if device.family.timestamp_bits > 0 {
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
            // SAFETY: as above.
            let queries = unsafe { raw.create_query_pool(&info, None) };
            objects.queries = device.check(queries, "vkCreateQueryPool")?;
        }
        if made.sets.is_empty() {
            return Ok(objects);
        }
        let mut counts: BTreeMap<i32, u32> = BTreeMap::new();
        for b in &key.bindings {
            *counts.entry(descriptor_type(b.kind).unwrap_or_default().as_raw()).or_default() += b.count;
        }
        let sizes: Vec<_> = counts
            .into_iter()
            .map(|(ty, count)| {
                vk::DescriptorPoolSize::default().ty(vk::DescriptorType::from_raw(ty)).descriptor_count(count)
            })
            .collect();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(made.sets.len() as u32).pool_sizes(&sizes);
        // SAFETY: as above.
        let pool = unsafe { raw.create_descriptor_pool(&info, None) };
        objects.descriptor_pool = device.check(pool, "vkCreateDescriptorPool")?;
        let info =
            vk::DescriptorSetAllocateInfo::default().descriptor_pool(objects.descriptor_pool).set_layouts(&made.sets);
        // SAFETY: the pool has room for just these sets.
        let sets = unsafe { raw.allocate_descriptor_sets(&info) };
        objects.sets = device.check(sets, "vkAllocateDescriptorSets")?;
        objects.describe(resources);
        Ok(objects)
    }

    /// Writes the descriptors.
    fn describe(&self, resources: &[BoundResource]) {
        let infos: Vec<DescriptorInfo> = resources.iter().map(DescriptorInfo::of).collect();
        let writes: Vec<_> = resources
            .iter()
            .zip(&infos)
            .filter_map(|(bound, info)| {
                let spec = &bound.spec;
                let kind = spec.resource.kind()?;
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(self.sets.get(spec.set as usize).copied().unwrap_or_default())
                    .dst_binding(spec.binding)
                    .dst_array_element(spec.element)
                    .descriptor_type(descriptor_type(kind).unwrap_or_default());
                Some(match info {
                    DescriptorInfo::Buffer(info) => write.buffer_info(info),
                    DescriptorInfo::Texels(info) => write.texel_buffer_view(info),
                    DescriptorInfo::Image(info) => write.image_info(info),
                })
            })
            .collect();
        // SAFETY: the sets are new, so nothing uses them; the resources are alive and live as long
        // as the sets; the layout was made from the resources, so each write fits it.
        unsafe { self.device.raw.update_descriptor_sets(&writes, &[]) };
    }
}

/// Contents of a descriptor write.
enum DescriptorInfo {
    Buffer([vk::DescriptorBufferInfo; 1]),
    Texels([vk::BufferView; 1]),
    Image([vk::DescriptorImageInfo; 1]),
}

impl DescriptorInfo {
    fn of(bound: &BoundResource) -> DescriptorInfo {
        let image = vk::DescriptorImageInfo::default().image_layout(vk::ImageLayout::GENERAL);
        match &bound.objects {
            ResourceObjects::Buffer { view: Some(view), .. } => DescriptorInfo::Texels([view.raw]),
            ResourceObjects::Buffer { buffer, view: None, .. } => {
                let info = vk::DescriptorBufferInfo::default().buffer(buffer.raw).range(bound.bytes as u64);
                DescriptorInfo::Buffer([info])
            }
            ResourceObjects::Image { image: of, sampler, .. } => {
                let sampler = sampler.as_ref().map(|s| s.raw).unwrap_or_default();
                DescriptorInfo::Image([image.image_view(of.view).sampler(sampler)])
            }
            ResourceObjects::Sampler(sampler) => {
                DescriptorInfo::Image([vk::DescriptorImageInfo::default().sampler(sampler.raw)])
            }
        }
    }
}
