//! The commands of one dispatch.

use std::time::Duration;

use ash::vk;

use crate::dispatch_slot::{BoundResource, Dispatch, ResourceObjects, Role};
use crate::error::Error;
use crate::multisample::FetchTarget;
use crate::pipeline::PipelineShared;
use crate::slot_objects::SlotObjects;

/// Inputs of a recording.
pub(crate) struct DispatchRecording<'a> {
    pub(crate) objects: &'a SlotObjects,
    pub(crate) resources: &'a [BoundResource],
    pub(crate) pipeline: &'a PipelineShared,
    pub(crate) dispatch: &'a Dispatch<'a>,
}

/// Records clears and uploads, the dispatch between two timestamps, downloads, and the barriers
/// between them. The slot is not in flight.
pub(crate) fn record(recording: &DispatchRecording<'_>) -> Result<(), Error> {
    let DispatchRecording { objects, resources, pipeline, dispatch } = *recording;
    let device = &objects.device;
    let raw = &device.raw;
    let commands = objects.commands;
    // SAFETY: the pool belongs to this slot alone, which is not in flight.
    let reset = unsafe { raw.reset_command_pool(objects.command_pool, vk::CommandPoolResetFlags::empty()) };
    device.check(reset, "vkResetCommandPool")?;
    let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
    // SAFETY: the command buffer was reset with its pool.
    device.check(unsafe { raw.begin_command_buffer(commands, &begin) }, "vkBeginCommandBuffer")?;
    let timed = objects.queries != vk::QueryPool::null();
    // SAFETY: the command buffer is being recorded by this thread alone; all objects belong to its
    // device and live until the work is done, because the slot holds them; sizes were checked
    // against the pipeline's layout.
    unsafe {
        if timed {
            raw.cmd_reset_query_pool(commands, objects.queries, 0, 2);
        }
        if prepare(recording)? {
            barrier(
                recording,
                (vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_WRITE),
                (vk::PipelineStageFlags::COMPUTE_SHADER, vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE),
            );
        }
        raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline.raw);
        if !objects.sets.is_empty() {
            let (point, sets) = (vk::PipelineBindPoint::COMPUTE, &objects.sets);
            raw.cmd_bind_descriptor_sets(commands, point, pipeline.layout, 0, sets, &[]);
        }
        if !dispatch.push_constants.is_empty() {
            let stage = vk::ShaderStageFlags::COMPUTE;
            raw.cmd_push_constants(commands, pipeline.layout, stage, 0, dispatch.push_constants);
        }
        if timed {
            raw.cmd_write_timestamp(commands, vk::PipelineStageFlags::TOP_OF_PIPE, objects.queries, 0);
        }
        let [x, y, z] = dispatch.groups;
        raw.cmd_dispatch(commands, x, y, z);
        if timed {
            raw.cmd_write_timestamp(commands, vk::PipelineStageFlags::COMPUTE_SHADER, objects.queries, 1);
        }
        let written = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::AccessFlags::SHADER_WRITE);
        let host = (vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ);
        if resources.iter().any(|bound| bound.objects.is_copied()) {
            let copied = (vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_WRITE);
            // Shaders read multisampled images back.
            let copying = (
                vk::PipelineStageFlags::TRANSFER | vk::PipelineStageFlags::COMPUTE_SHADER,
                vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::SHADER_READ,
            );
            barrier(recording, written, copying);
            collect(recording)?;
            // Unstaged buffers are read where the shader wrote them.
            barrier(recording, (written.0 | copied.0, written.1 | copied.1), host);
        } else {
            barrier(recording, written, host);
        }
        device.check(raw.end_command_buffer(commands), "vkEndCommandBuffer")
    }
}

/// Records fills and uploads; returns true if there were any.
///
/// # Safety
/// As in `record`.
unsafe fn prepare(recording: &DispatchRecording<'_>) -> Result<bool, Error> {
    let DispatchRecording { objects, resources, dispatch, .. } = *recording;
    let raw = &objects.device.raw;
    let mut any = false;
    for bound in resources {
        match (&bound.objects, bound.role) {
            (ResourceObjects::Buffer { buffer, staging: Some(staging), .. }, Role::Input | Role::InOut) => {
                let region = [vk::BufferCopy::default().size(buffer.size())];
                // SAFETY: both buffers have that size and their usage.
                unsafe { raw.cmd_copy_buffer(objects.commands, staging.raw, buffer.raw, &region) };
                any = true;
            }
            (ResourceObjects::Buffer { buffer, .. }, Role::Output) => {
                if let Some(word) = dispatch.clear.or(bound.fresh.then_some(0)) {
                    let all = vk::WHOLE_SIZE;
                    // SAFETY: the buffer may be written by transfers and is a whole number of
                    // words.
                    unsafe { raw.cmd_fill_buffer(objects.commands, buffer.raw, 0, all, word) };
                    any = true;
                }
            }
            (ResourceObjects::Image { transfer: Some(transfer), image, .. }, _) => {
                // SAFETY: the slot holds the transfer, its image and its buffer.
                unsafe { transfer.upload(image, objects.commands) };
            }
            (ResourceObjects::Image { transfer: None, image, staging, .. }, _) => {
                let (layout, regions) = (vk::ImageLayout::GENERAL, image.regions()?);
                let ready = [vk::ImageMemoryBarrier::default()
                    .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                    .old_layout(vk::ImageLayout::UNDEFINED)
                    .new_layout(layout)
                    .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .image(image.raw)
                    .subresource_range(image.range())];
                let (top, transfer) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::TRANSFER);
                let none = vk::DependencyFlags::empty();
                // SAFETY: every upload writes the whole image, so its old contents may be
                // discarded; the staging buffer holds all regions.
                unsafe {
                    raw.cmd_pipeline_barrier(objects.commands, top, transfer, none, &[], &[], &ready);
                    raw.cmd_copy_buffer_to_image(objects.commands, staging.raw, image.raw, layout, &regions);
                }
                any = true;
            }
            (ResourceObjects::Buffer { staging: None, .. }, Role::Input | Role::InOut)
            | (ResourceObjects::Sampler(_), _) => {}
        }
    }
    Ok(any)
}

/// Records the downloads.
///
/// # Safety
/// As in `record`.
unsafe fn collect(recording: &DispatchRecording<'_>) -> Result<(), Error> {
    let DispatchRecording { objects, resources, .. } = *recording;
    let raw = &objects.device.raw;
    for bound in resources.iter().filter(|bound| bound.role != Role::Input) {
        match &bound.objects {
            ResourceObjects::Buffer { buffer, staging: Some(staging), .. } => {
                let region = [vk::BufferCopy::default().size(buffer.size())];
                // SAFETY: both buffers have that size and their usage.
                unsafe { raw.cmd_copy_buffer(objects.commands, buffer.raw, staging.raw, &region) };
            }
            ResourceObjects::Image { transfer: Some(transfer), .. } => {
                // SAFETY: the slot holds the transfer, its image and its buffer; the image is visible
                // to compute shaders by the barrier before.
                unsafe { transfer.fetch(objects.commands, FetchTarget::Staging) };
            }
            ResourceObjects::Image { transfer: None, image, staging, .. } => {
                let (layout, regions) = (vk::ImageLayout::GENERAL, image.regions()?);
                // SAFETY: only storage images are not inputs, and they have the usage; the buffer
                // holds all regions.
                unsafe { raw.cmd_copy_image_to_buffer(objects.commands, image.raw, layout, staging.raw, &regions) };
            }
            ResourceObjects::Buffer { staging: None, .. } | ResourceObjects::Sampler(_) => {}
        }
    }
    Ok(())
}

/// Records a barrier over all memory.
///
/// # Safety
/// As in `record`.
unsafe fn barrier(
    recording: &DispatchRecording<'_>,
    from: (vk::PipelineStageFlags, vk::AccessFlags),
    to: (vk::PipelineStageFlags, vk::AccessFlags),
) {
    let barriers = [vk::MemoryBarrier::default().src_access_mask(from.1).dst_access_mask(to.1)];
    let objects = recording.objects;
    let none = vk::DependencyFlags::empty();
    // SAFETY: as in `record`.
    unsafe {
        objects.device.raw.cmd_pipeline_barrier(objects.commands, from.0, to.0, none, &barriers, &[], &[]);
    }
}

/// Returns the time between the two timestamps of a finished dispatch.
pub(crate) fn device_time(objects: &SlotObjects) -> Result<Option<Duration>, Error> {
    if objects.queries == vk::QueryPool::null() {
        return Ok(None);
    }
    let device = &objects.device;
    let mut ticks = [0_u64; 2];
    // SAFETY: the pool has two queries, both written by work whose fence is signalled.
    let result =
        unsafe { device.raw.get_query_pool_results(objects.queries, 0, &mut ticks, vk::QueryResultFlags::TYPE_64) };
    device.check(result, "vkGetQueryPoolResults")?;
    let bits = device.family.timestamp_bits.min(64);
    let mask = u64::MAX >> (64 - bits);
    let elapsed = ticks[1].wrapping_sub(ticks[0]) & mask;
    let nanoseconds = elapsed as f64 * f64::from(device.properties.limits.timestamp_period);
    Ok(Duration::try_from_secs_f64(nanoseconds * 1e-9).ok())
}
