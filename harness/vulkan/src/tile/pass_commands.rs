//! The commands of a pass.

use std::ops::Range;

use ash::vk;

use super::pass_objects::{PassObjects, area, step_barrier};
use super::tile_shading_structs::{Commands, INLINE_AND_SECONDARY};
use super::{AttachmentRole, Mistake, PassForm, PassRecording, TileGrid, TilePass, TileStep};
use crate::device::DeviceShared;
use crate::error::Error;
use crate::pipeline::Pipeline;

/// Records the uploads, the pass with its steps, and the downloads.
pub(super) fn record(
    device: &DeviceShared,
    objects: &PassObjects,
    pass: &TilePass<'_>,
    grid: &TileGrid,
    mistake: Mistake,
) -> Result<(), Error> {
    let raw = &device.raw;
    let tiles = Commands::load(&device.instance.raw, raw).map_err(|name| device.unsupported(name))?;
    let commands = objects.base.commands;
    let usage = match mistake {
        Mistake::SimultaneousUse => vk::CommandBufferUsageFlags::SIMULTANEOUS_USE,
        _ => vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT,
    };
    let begin = vk::CommandBufferBeginInfo::default().flags(usage);
    // SAFETY: the command buffer is new and used by this thread alone.
    device.check(unsafe { raw.begin_command_buffer(commands, &begin) }, "vkBeginCommandBuffer")?;
    // SAFETY: the command buffer is being recorded; all objects belong to its device and live until
    // the work is done. The contents of the pass were checked before, unless the caller vouches for
    // a driver that executes nothing.
    unsafe {
        if mistake == Mistake::Timestamp {
            raw.cmd_reset_query_pool(commands, objects.base.queries, 0, 2);
        }
        transfer(objects, pass, true)?;
        if mistake == Mistake::OutsidePass {
            steps(device, objects, pass);
        } else {
            let secondary = match pass.recording {
                PassRecording::Primary => None,
                PassRecording::Secondary | PassRecording::PerTile => {
                    Some(secondary(device, objects, (pass, grid), &tiles, mistake)?)
                }
            };
            begin_pass(objects, pass);
            match (pass.recording, secondary) {
                (PassRecording::Primary, _) | (_, None) => {
                    execution(objects, commands, (pass, grid), &tiles, mistake)?;
                }
                (PassRecording::Secondary, Some(secondary)) => raw.cmd_execute_commands(commands, &[secondary]),
                (PassRecording::PerTile, Some(secondary)) => {
                    tiles.begin_per_tile_execution(commands);
                    raw.cmd_execute_commands(commands, &[secondary]);
                    tiles.end_per_tile_execution(commands);
                }
            }
            match pass.form {
                PassForm::Objects => raw.cmd_end_render_pass2(commands, &vk::SubpassEndInfo::default()),
                PassForm::Dynamic => raw.cmd_end_rendering(commands),
            }
        }
        transfer(objects, pass, false)?;
        device.check(raw.end_command_buffer(commands), "vkEndCommandBuffer")
    }
}

/// Returns true if a step is inside per-tile execution. A barrier is inside if its neighbours are.
fn is_inside(steps: &[TileStep<'_>], step: usize) -> bool {
    let own = |step: &TileStep<'_>| match step {
        TileStep::Draw { per_tile, .. } => Some(*per_tile),
        TileStep::Dispatch { .. } | TileStep::Cover { .. } | TileStep::DispatchTile { .. } => Some(true),
        TileStep::Barrier => None,
    };
    let before = steps[..=step].iter().rev().find_map(own);
    let after = steps[step..].iter().find_map(own);
    before.unwrap_or(true) && after.unwrap_or(true)
}

/// Groups consecutive steps that are all inside per-tile execution (true) or all outside it
/// (false).
fn runs(steps: &[TileStep<'_>]) -> Vec<(bool, Range<usize>)> {
    let mut runs: Vec<(bool, Range<usize>)> = Vec::new();
    for step in 0..steps.len() {
        let inside = is_inside(steps, step);
        match runs.last_mut() {
            Some((last, range)) if *last == inside => range.end = step + 1,
            _ => runs.push((inside, step..step + 1)),
        }
    }
    runs
}

/// Records all steps, with a begin and an end of per-tile execution around those inside it.
///
/// # Safety
/// As in `record`.
unsafe fn execution(
    objects: &PassObjects,
    commands: vk::CommandBuffer,
    (pass, grid): (&TilePass<'_>, &TileGrid),
    tiles: &Commands<'_>,
    mistake: Mistake,
) -> Result<(), Error> {
    for (inside, range) in runs(pass.steps) {
        // SAFETY: as in `record`.
        unsafe {
            if inside && !matches!(mistake, Mistake::NoBegin | Mistake::EndTwice) {
                tiles.begin_per_tile_execution(commands);
            }
            if inside && mistake == Mistake::BeginTwice {
                tiles.begin_per_tile_execution(commands);
            }
            wrong(objects, pass, mistake)?;
            record_steps(objects, commands, (pass, range, grid), tiles);
            if inside && !matches!(mistake, Mistake::NoBegin | Mistake::NoEnd) {
                tiles.end_per_tile_execution(commands);
            }
        }
    }
    Ok(())
}

/// Records a secondary command buffer with the steps, or with all of per-tile execution. It is
/// freed with its pool.
///
/// # Safety
/// As in `record`.
unsafe fn secondary(
    device: &DeviceShared,
    objects: &PassObjects,
    (pass, grid): (&TilePass<'_>, &TileGrid),
    tiles: &Commands<'_>,
    mistake: Mistake,
) -> Result<vk::CommandBuffer, Error> {
    let raw = &device.raw;
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(objects.base.command_pool)
        .level(vk::CommandBufferLevel::SECONDARY)
        .command_buffer_count(1);
    // SAFETY: the pool is used by this pass alone; as in `record`.
    let made = device.check(unsafe { raw.allocate_command_buffers(&info) }, "vkAllocateCommandBuffers")?;
    let commands = made.first().copied().unwrap_or_default();
    let usage = vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE | vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
    let begun = objects.inherited(pass, mistake, |inherited| {
        let begin = vk::CommandBufferBeginInfo::default().flags(usage).inheritance_info(inherited);
        // SAFETY: the command buffer is new and used by this thread alone; the inherited state
        // lives until the call returns.
        unsafe { raw.begin_command_buffer(commands, &begin) }
    });
    device.check(begun, "vkBeginCommandBuffer")?;
    // SAFETY: as in `record`.
    unsafe {
        match pass.recording {
            PassRecording::PerTile => record_steps(objects, commands, (pass, 0..pass.steps.len(), grid), tiles),
            PassRecording::Primary | PassRecording::Secondary => {
                execution(objects, commands, (pass, grid), tiles, mistake)?;
            }
        }
        device.check(raw.end_command_buffer(commands), "vkEndCommandBuffer")?;
    }
    Ok(commands)
}

/// Records a command that is forbidden inside per-tile execution, if `mistake` names one.
///
/// # Safety
/// As in `record`.
unsafe fn wrong(objects: &PassObjects, pass: &TilePass<'_>, mistake: Mistake) -> Result<(), Error> {
    let (raw, commands) = (&objects.base.device.raw, objects.base.commands);
    // SAFETY: as in `record`.
    unsafe {
        match mistake {
            Mistake::Clear => {
                let clear = vk::ClearAttachment::default().aspect_mask(vk::ImageAspectFlags::COLOR);
                let rect = vk::ClearRect::default().rect(area(pass)).layer_count(1);
                raw.cmd_clear_attachments(commands, &[clear], &[rect]);
            }
            Mistake::Timestamp => {
                let stage = vk::PipelineStageFlags::COMPUTE_SHADER;
                raw.cmd_write_timestamp(commands, stage, objects.base.queries, 0);
            }
            Mistake::Event => {
                let event = raw.create_event(&vk::EventCreateInfo::default(), None);
                let event = objects.base.device.check(event, "vkCreateEvent")?;
                raw.cmd_wait_events(
                    commands,
                    &[event],
                    vk::PipelineStageFlags::HOST,
                    vk::PipelineStageFlags::COMPUTE_SHADER,
                    &[],
                    &[],
                    &[],
                );
                // The driver executes nothing, so no work waits for the event.
                raw.destroy_event(event, None);
            }
            _ => {}
        }
    }
    Ok(())
}

/// # Safety
/// As in `record`.
unsafe fn begin_pass(objects: &PassObjects, pass: &TilePass<'_>) {
    let (raw, commands) = (&objects.base.device.raw, objects.base.commands);
    match pass.form {
        PassForm::Objects => {
            let info = vk::RenderPassBeginInfo::default()
                .render_pass(objects.render_pass)
                .framebuffer(objects.framebuffer)
                .render_area(area(pass));
            let contents = match pass.recording {
                PassRecording::Primary => vk::SubpassContents::INLINE,
                PassRecording::Secondary => vk::SubpassContents::SECONDARY_COMMAND_BUFFERS,
                PassRecording::PerTile => INLINE_AND_SECONDARY,
            };
            let subpass = vk::SubpassBeginInfo::default().contents(contents);
            // SAFETY: as in `record`.
            unsafe { raw.cmd_begin_render_pass2(commands, &info, &subpass) }
        }
        // SAFETY: as in `record`.
        PassForm::Dynamic => objects.rendering(pass, |info| unsafe { raw.cmd_begin_rendering(commands, info) }),
    }
}

/// # Safety
/// As in `record`.
unsafe fn record_steps(
    objects: &PassObjects,
    commands: vk::CommandBuffer,
    (pass, range, grid): (&TilePass<'_>, Range<usize>, &TileGrid),
    tiles: &Commands<'_>,
) {
    let raw = &objects.base.device.raw;
    for (step, draw) in pass.steps[range.clone()].iter().zip(&objects.draws[range]) {
        // SAFETY: as in `record`.
        unsafe {
            match step {
                TileStep::Dispatch { pipeline, push_constants, groups: [x, y, z] } => {
                    bind(objects, commands, pipeline, push_constants);
                    raw.cmd_dispatch(commands, *x, *y, *z);
                }
                TileStep::Cover { pipeline, push_constants, texels } => {
                    bind(objects, commands, pipeline, push_constants);
                    let [x, y, z] = std::array::from_fn(|i| grid.size[i].div_ceil(texels[i].max(1)));
                    raw.cmd_dispatch(commands, x, y, z);
                }
                TileStep::DispatchTile { pipeline, push_constants } => {
                    bind(objects, commands, pipeline, push_constants);
                    tiles.dispatch_tile(commands);
                }
                TileStep::Draw { .. } => {
                    if let Some(draw) = draw {
                        draw.draw(objects, commands);
                    }
                }
                TileStep::Barrier => barrier(objects, commands, &step_barrier(), vk::DependencyFlags::BY_REGION),
            }
        }
    }
}

/// Records dispatches outside a pass.
///
/// # Safety
/// As in `record`.
unsafe fn steps(device: &DeviceShared, objects: &PassObjects, pass: &TilePass<'_>) {
    let commands = objects.base.commands;
    for step in pass.steps {
        if let TileStep::Dispatch { pipeline, push_constants, groups: [x, y, z] } = step {
            // SAFETY: as in `record`.
            unsafe {
                bind(objects, commands, pipeline, push_constants);
                device.raw.cmd_dispatch(commands, *x, *y, *z);
            }
        }
    }
}

/// # Safety
/// As in `record`.
unsafe fn bind(objects: &PassObjects, commands: vk::CommandBuffer, pipeline: &Pipeline, push_constants: &[u8]) {
    let raw = &objects.base.device.raw;
    let (point, layout) = (vk::PipelineBindPoint::COMPUTE, pipeline.shared.layout);
    // SAFETY: as in `record`.
    unsafe {
        raw.cmd_bind_pipeline(commands, point, pipeline.shared.raw);
        if !objects.base.sets.is_empty() {
            raw.cmd_bind_descriptor_sets(commands, point, layout, 0, &objects.base.sets, &[]);
        }
        if !push_constants.is_empty() {
            raw.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, push_constants);
        }
    }
}

/// # Safety
/// As in `record`.
unsafe fn barrier(
    objects: &PassObjects,
    commands: vk::CommandBuffer,
    barrier: &vk::MemoryBarrier2<'_>,
    flags: vk::DependencyFlags,
) {
    let barriers = [*barrier];
    let info = vk::DependencyInfo::default().memory_barriers(&barriers).dependency_flags(flags);
    // SAFETY: as in `record`.
    unsafe { objects.base.device.raw.cmd_pipeline_barrier2(commands, &info) }
}

/// Records the copies between images and staging buffers: uploads before the pass, downloads after
/// it.
///
/// # Safety
/// As in `record`.
unsafe fn transfer(objects: &PassObjects, pass: &TilePass<'_>, before: bool) -> Result<(), Error> {
    let (raw, commands) = (&objects.base.device.raw, objects.base.commands);
    let all = vk::PipelineStageFlags2::ALL_COMMANDS;
    let memory = vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE;
    let everything = vk::MemoryBarrier2::default()
        .src_stage_mask(all)
        .src_access_mask(memory)
        .dst_stage_mask(all)
        .dst_access_mask(memory);
    if before {
        let general = vk::ImageLayout::GENERAL;
        for (_, made) in objects.images(pass) {
            let ready = [vk::ImageMemoryBarrier2::default()
                .dst_stage_mask(vk::PipelineStageFlags2::COPY)
                .dst_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
                .old_layout(vk::ImageLayout::UNDEFINED)
                .new_layout(general)
                .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .image(made.image.raw)
                .subresource_range(made.image.range())];
            let info = vk::DependencyInfo::default().image_memory_barriers(&ready);
            // SAFETY: as in `record`.
            unsafe { raw.cmd_pipeline_barrier2(commands, &info) };
        }
        for made in &objects.attachments {
            let regions = made.image.regions_of(made.aspect)?;
            // SAFETY: as in `record`; the staging buffer holds all regions.
            unsafe { raw.cmd_copy_buffer_to_image(commands, made.staging.raw, made.image.raw, general, &regions) };
        }
    }
    // SAFETY: as in `record`.
    unsafe { barrier(objects, commands, &everything, vk::DependencyFlags::empty()) };
    if !before {
        for (attachment, made) in pass.attachments.iter().zip(&objects.attachments) {
            // Only colour attachments can have changed.
            if attachment.role != AttachmentRole::Color {
                continue;
            }
            let (general, regions) = (vk::ImageLayout::GENERAL, made.image.regions()?);
            // SAFETY: as in `record`; the staging buffer holds all regions.
            unsafe { raw.cmd_copy_image_to_buffer(commands, made.image.raw, general, made.staging.raw, &regions) };
        }
        let host = vk::MemoryBarrier2::default()
            .src_stage_mask(all)
            .src_access_mask(memory)
            .dst_stage_mask(vk::PipelineStageFlags2::HOST)
            .dst_access_mask(vk::AccessFlags2::HOST_READ);
        // SAFETY: as in `record`.
        unsafe { barrier(objects, commands, &host, vk::DependencyFlags::empty()) };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn per_tile_execution_begins_and_ends_around_the_steps_that_stand_inside() {
        let draw = |per_tile| TileStep::Draw { fragment: &[], per_tile };
        let (tile, pass, barrier) = (draw(true), draw(false), TileStep::Barrier);
        let steps = [&tile, &barrier, &tile, &barrier, &pass, &barrier, &tile, &pass].map(Clone::clone);
        // A barrier next to a step outside is outside as well.
        assert_eq!(runs(&steps), [(true, 0..3), (false, 3..6), (true, 6..7), (false, 7..8)]);
        assert_eq!(runs(&[]), []);
    }
}
