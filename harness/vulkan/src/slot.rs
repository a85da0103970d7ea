//! Slots: buffers, and what it takes to dispatch over them and wait.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use bytemuck::Pod;
use gpu_allocator::MemoryLocation;

use crate::device::DeviceShared;
use crate::error::Error;
use crate::layout::LayoutKey;
use crate::memory::Buffer;
use crate::pipeline::{Pipeline, PipelineShared};
use crate::record::{self, Recording};

/// What a buffer is for: which way its contents travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The host writes, the device reads. What a shader writes there is lost.
    Input,
    /// The device writes, the host reads. It holds zeros, then what earlier dispatches left, unless a dispatch clears
    /// it ([`Dispatch::clear`]).
    Output,
    /// Both.
    InOut,
}

/// Size and role of one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferSpec {
    /// Bytes that the shader sees; not zero.
    pub bytes: usize,
    /// Which way its contents travel.
    pub role: Role,
}

impl BufferSpec {
    /// An [`Role::Input`] of this many bytes.
    #[must_use]
    pub fn input(bytes: usize) -> Self {
        Self { bytes, role: Role::Input }
    }

    /// An [`Role::Output`] of this many bytes.
    #[must_use]
    pub fn output(bytes: usize) -> Self {
        Self { bytes, role: Role::Output }
    }

    /// An [`Role::InOut`] of this many bytes.
    #[must_use]
    pub fn in_out(bytes: usize) -> Self {
        Self { bytes, role: Role::InOut }
    }
}

/// One dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Dispatch<'a> {
    /// Workgroups for x, y and z; none of them zero.
    pub groups: [u32; 3],
    /// Exactly as many bytes as the pipeline has.
    pub push_constants: &'a [u8],
    /// Fill every [`Role::Output`] buffer with this word before the dispatch, so that what the shader does not write
    /// can be told.
    pub clear: Option<u32>,
}

impl<'a> Dispatch<'a> {
    /// This many workgroups along x; no push constants, nothing cleared.
    #[must_use]
    pub fn linear(groups: u32) -> Self {
        Self { groups: [groups, 1, 1], push_constants: &[], clear: None }
    }

    /// The same with these push constants.
    #[must_use]
    pub fn with_push_constants(self, push_constants: &'a [u8]) -> Self {
        Self { push_constants, ..self }
    }
}

/// How long a dispatch took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// From the submission to the end of the wait for it, copies included.
    pub wall: Duration,
    /// The dispatch alone by the device's own clock, where its queue has one.
    pub device: Option<Duration>,
}

/// One buffer as the shader sees it, and, where that is not mapped, the mapped one it is copied from and to.
pub(crate) struct Bound {
    pub(crate) spec: BufferSpec,
    pub(crate) buffer: Buffer,
    pub(crate) staging: Option<Buffer>,
    /// Device-local contents are still undefined.
    pub(crate) fresh: bool,
}

enum State {
    Idle,
    InFlight {
        since: Instant,
        /// Keeps the pipeline until the work is done.
        _pipeline: Arc<PipelineShared>,
        /// The limit of a wait has passed already: a drop does not wait again.
        overdue: bool,
    },
}

/// A set of buffers with all that it takes to dispatch over them: at most one dispatch is in flight at a time, and
/// while it is, the buffers cannot be touched. Two slots let the host check the results of one while the device works
/// on the other. Any pipeline of the same device with as many buffers can be submitted to it, one after the other.
pub struct Slot {
    // Always there but while being dropped.
    parts: Option<Parts>,
    state: State,
}

struct Parts {
    buffers: Vec<Bound>,
    objects: Objects,
}

/// The Vulkan objects of a slot but for its buffers; null where not yet made.
pub(crate) struct Objects {
    pub(crate) device: Arc<DeviceShared>,
    pub(crate) set: vk::DescriptorSet,
    pub(crate) commands: vk::CommandBuffer,
    pub(crate) command_pool: vk::CommandPool,
    pub(crate) queries: vk::QueryPool,
    descriptor_pool: vk::DescriptorPool,
    fence: vk::Fence,
}

impl Drop for Objects {
    fn drop(&mut self) {
        let device = &self.device.raw;
        // SAFETY: the slot is not in flight (one that is gets forgotten, see `Slot::drop`); null handles are ignored;
        // sets and command buffers go with their pools.
        unsafe {
            device.destroy_query_pool(self.queries, None);
            device.destroy_fence(self.fence, None);
            device.destroy_command_pool(self.command_pool, None);
            device.destroy_descriptor_pool(self.descriptor_pool, None);
        }
    }
}

/// How long a drop waits for work that was never waited for.
const LAST_WAIT: Duration = Duration::from_secs(2);

impl Slot {
    pub(crate) fn new(device: &Arc<DeviceShared>, specs: &[BufferSpec]) -> Result<Self, Error> {
        device.alive("vkCreateBuffer")?;
        check(device, specs)?;
        let buffers: Vec<Bound> = specs.iter().map(|&spec| Bound::new(device, spec)).collect::<Result<_, _>>()?;
        let objects = Objects::new(device, &buffers)?;
        Ok(Self { parts: Some(Parts { buffers, objects }), state: State::Idle })
    }

    /// How many buffers it has.
    #[must_use]
    pub fn buffers(&self) -> usize {
        self.parts.as_ref().map_or(0, |p| p.buffers.len())
    }

    /// Whether a dispatch was submitted and not yet waited for.
    #[must_use]
    pub fn in_flight(&self) -> bool {
        matches!(self.state, State::InFlight { .. })
    }

    /// The contents of buffer `index` as the host last saw or wrote them.
    ///
    /// # Errors
    /// [`Error::InFlight`]; [`Error::Invalid`] where there is no such buffer or its bytes are not a whole number of
    /// `T`.
    pub fn read<T: Pod>(&self, index: usize) -> Result<&[T], Error> {
        let (_, parts) = self.idle()?;
        let bound = parts.buffers.get(index).ok_or_else(|| no_buffer(index, parts.buffers.len()))?;
        let bytes = bound.host().bytes().ok_or_else(unmapped)?;
        bytemuck::try_cast_slice(bytes).map_err(|e| not_a_slice(index, e))
    }

    /// The contents of buffer `index`, to be written. On discrete GPUs this can be memory that is slow to read.
    ///
    /// # Errors
    /// As [`Slot::read`], and [`Error::Invalid`] for a [`Role::Output`].
    pub fn write<T: Pod>(&mut self, index: usize) -> Result<&mut [T], Error> {
        self.idle()?;
        let buffers = self.parts.as_mut().map(|p| &mut p.buffers[..]).unwrap_or_default();
        let count = buffers.len();
        let bound = buffers.get_mut(index).ok_or_else(|| no_buffer(index, count))?;
        if bound.spec.role == Role::Output {
            return Err(Error::invalid(format!("buffer {index} is an output: the host does not write it")));
        }
        let bytes = bound.host_mut().bytes_mut().ok_or_else(unmapped)?;
        bytemuck::try_cast_slice_mut(bytes).map_err(|e| not_a_slice(index, e))
    }

    /// Submits one dispatch of `pipeline` over the buffers and returns at once.
    ///
    /// # Errors
    /// [`Error::InFlight`] if the last one was not waited for; [`Error::Invalid`] for a pipeline of another device or
    /// with another number of buffers, and for push constants of the wrong size; [`Error::NotSupported`] for more
    /// workgroups than the device takes; [`Error::DeviceLost`], [`Error::OutOfMemory`].
    pub fn submit(&mut self, pipeline: &Pipeline, dispatch: &Dispatch<'_>) -> Result<(), Error> {
        let (device, parts) = self.idle()?;
        check_dispatch(device, parts.buffers.len(), &pipeline.shared, dispatch)?;
        let Some(Parts { buffers, objects }) = &mut self.parts else { return Err(Error::InFlight) };
        record::record(&Recording { objects, buffers, pipeline: &pipeline.shared, dispatch })?;
        let device = &objects.device;
        // SAFETY: the slot is not in flight, so nothing waits on the fence or will signal it.
        device.check(unsafe { device.raw.reset_fences(&[objects.fence]) }, "vkResetFences")?;
        let since = Instant::now();
        device.submit(objects.commands, objects.fence)?;
        for bound in buffers {
            bound.fresh = false;
        }
        self.state = State::InFlight { since, _pipeline: pipeline.shared.clone(), overdue: false };
        Ok(())
    }

    /// Waits until the submitted dispatch is done and its results can be read.
    ///
    /// # Errors
    /// [`Error::NotSubmitted`]; [`Error::Timeout`] after which the slot is still in flight and may be waited for again
    /// (dropped then, its memory is given up: only the end of the process stops a device that does not end);
    /// [`Error::DeviceLost`].
    pub fn wait(&mut self, limit: Duration) -> Result<Timing, Error> {
        let (State::InFlight { since, overdue, .. }, Some(Parts { objects, .. })) = (&mut self.state, &self.parts)
        else {
            return Err(Error::NotSubmitted);
        };
        let device = &objects.device;
        let nanoseconds = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the fence was submitted and is alive.
        match unsafe { device.raw.wait_for_fences(&[objects.fence], true, nanoseconds) } {
            Ok(()) => {}
            Err(vk::Result::TIMEOUT) => {
                *overdue = true;
                return Err(Error::Timeout { limit });
            }
            Err(error) => {
                let result = device.check(Err(error), "vkWaitForFences");
                // A lost device ends all work; after other errors the work may still run.
                if device.is_lost() {
                    self.state = State::Idle;
                }
                return result;
            }
        }
        let timing = Timing { wall: since.elapsed(), device: record::device_time(objects)? };
        self.state = State::Idle;
        Ok(timing)
    }

    fn idle(&self) -> Result<(&DeviceShared, &Parts), Error> {
        match (&self.state, &self.parts) {
            (State::Idle, Some(parts)) => Ok((&parts.objects.device, parts)),
            _ => Err(Error::InFlight),
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let State::InFlight { overdue, .. } = self.state {
            let limit = if overdue { Duration::ZERO } else { LAST_WAIT };
            if matches!(self.wait(limit), Err(Error::Timeout { .. })) || self.in_flight() {
                // The device may still use all of it, and nothing here can stop it. What is forgotten holds the device
                // and the pipeline, so neither is destroyed under its feet.
                std::mem::forget(self.parts.take());
                std::mem::forget(std::mem::replace(&mut self.state, State::Idle));
            }
        }
    }
}

impl Bound {
    fn new(device: &Arc<DeviceShared>, spec: BufferSpec) -> Result<Self, Error> {
        let storage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
        if !device.staged {
            let buffer = Buffer::new(device, spec.bytes, storage, MemoryLocation::GpuToCpu)?;
            return Ok(Self { spec, buffer, staging: None, fresh: false });
        }
        let usage = storage | vk::BufferUsageFlags::TRANSFER_SRC;
        let buffer = Buffer::new(device, spec.bytes, usage, MemoryLocation::GpuOnly)?;
        let (usage, location) = match spec.role {
            Role::Input => (vk::BufferUsageFlags::TRANSFER_SRC, MemoryLocation::CpuToGpu),
            Role::Output => (vk::BufferUsageFlags::TRANSFER_DST, MemoryLocation::GpuToCpu),
            Role::InOut => {
                (vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST, MemoryLocation::GpuToCpu)
            }
        };
        let staging = Some(Buffer::new(device, spec.bytes, usage, location)?);
        Ok(Self { spec, buffer, staging, fresh: true })
    }

    fn host(&self) -> &Buffer {
        self.staging.as_ref().unwrap_or(&self.buffer)
    }

    fn host_mut(&mut self) -> &mut Buffer {
        self.staging.as_mut().unwrap_or(&mut self.buffer)
    }
}

impl Objects {
    fn new(device: &Arc<DeviceShared>, buffers: &[Bound]) -> Result<Self, Error> {
        let key = LayoutKey { buffers: buffers.len() as u32, push_constants: 0 };
        let (layout, _) = device.layout(key)?;
        // Filled in one by one: a failure on the way drops what is there.
        let mut objects = Self {
            device: device.clone(),
            set: vk::DescriptorSet::null(),
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
        if buffers.is_empty() {
            return Ok(objects);
        }
        let sizes = [vk::DescriptorPoolSize::default()
            .ty(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(buffers.len() as u32)];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        // SAFETY: as above.
        let pool = unsafe { raw.create_descriptor_pool(&info, None) };
        objects.descriptor_pool = device.check(pool, "vkCreateDescriptorPool")?;
        let layouts = [layout];
        let info =
            vk::DescriptorSetAllocateInfo::default().descriptor_pool(objects.descriptor_pool).set_layouts(&layouts);
        // SAFETY: the pool has room for just this set.
        let sets = unsafe { raw.allocate_descriptor_sets(&info) };
        let sets = device.check(sets, "vkAllocateDescriptorSets")?;
        objects.set = sets.first().copied().unwrap_or_default();
        let infos: Vec<_> = buffers
            .iter()
            .map(|b| [vk::DescriptorBufferInfo::default().buffer(b.buffer.raw).range(b.spec.bytes as u64)])
            .collect();
        let writes: Vec<_> = (0..)
            .zip(&infos)
            .map(|(binding, info)| {
                vk::WriteDescriptorSet::default()
                    .dst_set(objects.set)
                    .dst_binding(binding)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(info)
            })
            .collect();
        // SAFETY: the set is new, so nothing uses it; the buffers are alive and live as long as the set.
        unsafe { raw.update_descriptor_sets(&writes, &[]) };
        Ok(objects)
    }
}

fn check(device: &DeviceShared, specs: &[BufferSpec]) -> Result<(), Error> {
    let limits = &device.properties.limits;
    if specs.len() > limits.max_storage_buffers as usize {
        let (asked, most) = (specs.len(), limits.max_storage_buffers);
        return Err(device.lacks(format!("{asked} storage buffers (maxPerStageDescriptorStorageBuffers is {most})")));
    }
    for (index, spec) in specs.iter().enumerate() {
        let bytes = spec.bytes as u64;
        if bytes == 0 {
            return Err(Error::invalid(format!("buffer {index} has no bytes; leave it out or give it some")));
        }
        if bytes > limits.max_storage_buffer_range {
            let most = limits.max_storage_buffer_range;
            return Err(device.lacks(format!("a buffer of {bytes} bytes (maxStorageBufferRange is {most})")));
        }
        if bytes > limits.max_allocation {
            let most = limits.max_allocation;
            return Err(device.lacks(format!("a buffer of {bytes} bytes (maxMemoryAllocationSize is {most})")));
        }
    }
    Ok(())
}

fn check_dispatch(
    device: &DeviceShared,
    buffers: usize,
    pipeline: &PipelineShared,
    dispatch: &Dispatch<'_>,
) -> Result<(), Error> {
    if !std::ptr::eq(device, &*pipeline.device) {
        return Err(Error::invalid("the pipeline belongs to another device than the slot"));
    }
    let LayoutKey { buffers: bound, push_constants } = pipeline.key;
    if bound as usize != buffers {
        return Err(Error::invalid(format!("the pipeline has {bound} buffers and the slot has {buffers}")));
    }
    let given = dispatch.push_constants.len();
    if given != push_constants as usize {
        return Err(Error::invalid(format!(
            "the pipeline has {push_constants} bytes of push constants, given: {given}"
        )));
    }
    let most = device.properties.limits.max_workgroups;
    if dispatch.groups.contains(&0) {
        return Err(Error::invalid(format!("a dispatch of {:?} workgroups computes nothing", dispatch.groups)));
    }
    if dispatch.groups.iter().zip(most).any(|(&asked, most)| asked > most) {
        return Err(device
            .lacks(format!("a dispatch of {:?} workgroups (maxComputeWorkGroupCount is {most:?})", dispatch.groups)));
    }
    Ok(())
}

fn no_buffer(index: usize, count: usize) -> Error {
    Error::invalid(format!("there is no buffer {index}: the slot has {count}"))
}

fn not_a_slice(index: usize, error: bytemuck::PodCastError) -> Error {
    Error::invalid(format!("buffer {index} cannot be seen as a slice of that type: {error}"))
}

fn unmapped() -> Error {
    Error::Vulkan { during: "vkMapMemory", code: "memory that is not mapped".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it_can_move_between_threads() {
        fn check<T: Send + Sync>() {}
        check::<Slot>();
        check::<Pipeline>();
        check::<crate::Device>();
        check::<crate::PhysicalDevice>();
        check::<crate::Instance>();
        check::<Error>();
    }
}
