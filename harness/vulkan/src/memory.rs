//! Buffers and their memory.

use std::sync::Arc;

use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};

use crate::device::DeviceShared;
use crate::error::{Error, allocating};

/// A buffer with its memory. Freed on drop: its owner sees to it that the device is done with it.
pub(crate) struct Buffer {
    device: Arc<DeviceShared>,
    pub(crate) raw: vk::Buffer,
    allocation: Option<Allocation>,
    bytes: usize,
}

impl Buffer {
    /// Makes a buffer; mapped ones are zero-filled.
    pub(crate) fn new(
        device: &Arc<DeviceShared>,
        bytes: usize,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
    ) -> Result<Self, Error> {
        // Between what two addresses lead to lies memory that neither may reach: an access beyond the end is in no buffer.
        let apart = if usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS) { APART } else { 0 };
        let info = vk::BufferCreateInfo::default()
            .size(whole_words(bytes) + apart)
            .usage(usage)
            .sharing_mode(vk::SharingMode::EXCLUSIVE);
        // SAFETY: the device is alive and the size is not zero (the slot checks it).
        let raw = unsafe { device.raw.create_buffer(&info, None) };
        let raw = device.check(raw, "vkCreateBuffer")?;
        // From here on a drop of `buffer` cleans up.
        let mut buffer = Self { device: device.clone(), raw, allocation: None, bytes };
        // SAFETY: a live buffer of this device.
        let requirements = unsafe { device.raw.get_buffer_memory_requirements(raw) };
        let allocation = device
            .allocator()
            .allocate(&AllocationCreateDesc {
                name: "slot buffer",
                requirements,
                location,
                linear: true,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            })
            .map_err(allocating)?;
        let allocation = buffer.allocation.insert(allocation);
        // SAFETY: the allocation fits the requirements of the buffer, is bound once, and outlives it (see `drop`).
        let bound = unsafe { device.raw.bind_buffer_memory(raw, allocation.memory(), allocation.offset()) };
        device.check(bound, "vkBindBufferMemory")?;
        if let Some(bytes) = buffer.bytes_mut() {
            bytes.fill(0);
        }
        Ok(buffer)
    }

    /// The device address of its first byte.
    ///
    /// # Errors
    /// [`Error::NotSupported`] of a device without `bufferDeviceAddress`.
    pub(crate) fn address(&self) -> Result<u64, Error> {
        let device = &self.device;
        if !device.addresses {
            return Err(device.lacks("buffers with device addresses (bufferDeviceAddress)"));
        }
        let info = vk::BufferDeviceAddressInfo::default().buffer(self.raw);
        // SAFETY: the feature is enabled, and the buffer is alive, has memory that was allocated for addresses, and was made
        // for them (the caller's usage says so).
        let address = unsafe {
            if device.capabilities.api_version.at_least(1, 2) {
                device.raw.get_buffer_device_address(&info)
            } else {
                ash::khr::buffer_device_address::Device::new(&device.instance.raw, &device.raw)
                    .get_buffer_device_address(&info)
            }
        };
        Ok(address)
    }

    /// What is copied and filled: the bytes asked for, up to a whole number of words, so that fills and copies reach
    /// every byte.
    pub(crate) fn size(&self) -> u64 {
        whole_words(self.bytes)
    }

    /// The mapped bytes; `None` where the memory is not mapped. The caller sees to it that the device is not at work
    /// on them.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        self.allocation.as_ref()?.mapped_slice()?.get(..self.bytes)
    }

    /// The mapped bytes, to write.
    pub(crate) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        self.allocation.as_mut()?.mapped_slice_mut()?.get_mut(..self.bytes)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the owner vouches that no work uses the buffer; it goes once, before its memory.
        unsafe { self.device.raw.destroy_buffer(self.raw, None) };
        if let Some(allocation) = self.allocation.take() {
            // The allocator refuses only what it did not hand out.
            let _freed = self.device.allocator().free(allocation);
        }
    }
}

/// Bytes after a buffer with an address that belong to nothing; more than any one access of a shader takes.
const APART: u64 = 256;

fn whole_words(bytes: usize) -> u64 {
    (bytes as u64).next_multiple_of(4)
}
