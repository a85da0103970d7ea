//! Buffers and their memory.

use std::sync::Arc;

use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};

use crate::device::DeviceShared;
use crate::error::{Error, allocation_error};

/// A buffer with its memory. It is freed on drop; its owner ensures that no work uses it then.
pub(crate) struct Buffer {
    device: Arc<DeviceShared>,
    pub(crate) raw: vk::Buffer,
    allocation: Option<Allocation>,
    bytes: usize,
}

impl Buffer {
    /// Creates a buffer; mapped memory is filled with zeros.
    pub(crate) fn new(
        device: &Arc<DeviceShared>,
        bytes: usize,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
    ) -> Result<Self, Error> {
        // The gap separates addressable buffers, so that an access slightly beyond the end of one
        // reaches no other buffer.
        let apart = if usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS) { APART } else { 0 };
        let info = vk::BufferCreateInfo::default()
            .size(whole_words(bytes) + apart)
            .usage(usage)
            .sharing_mode(vk::SharingMode::EXCLUSIVE);
        // SAFETY: the device is alive and the size is not zero (the slot checks it).
        let raw = unsafe { device.raw.create_buffer(&info, None) };
        let raw = device.check(raw, "vkCreateBuffer")?;
        // From here on, dropping `buffer` cleans up.
        let mut buffer = Self { device: device.clone(), raw, allocation: None, bytes };
        // SAFETY: a live buffer of this device.
        let mut requirements = unsafe { device.raw.get_buffer_memory_requirements(raw) };
        if apart > 0 {
            requirements.alignment = requirements.alignment.max(ADDRESS_ALIGNMENT);
        }
        let allocation = device
            .allocator()
            .allocate(&AllocationCreateDesc {
                name: "slot buffer",
                requirements,
                location,
                linear: true,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            })
            .map_err(allocation_error)?;
        let allocation = buffer.allocation.insert(allocation);
        // SAFETY: the allocation fits the requirements of the buffer, is bound once, and outlives
        // it (see `drop`).
        let bound = unsafe { device.raw.bind_buffer_memory(raw, allocation.memory(), allocation.offset()) };
        device.check(bound, "vkBindBufferMemory")?;
        if let Some(bytes) = buffer.bytes_mut() {
            bytes.fill(0);
        }
        Ok(buffer)
    }

    /// Returns the device address of its first byte.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a device without `bufferDeviceAddress`.
    pub(crate) fn address(&self) -> Result<u64, Error> {
        let device = &self.device;
        if !device.addresses {
            return Err(device.unsupported("buffers with device addresses (bufferDeviceAddress)"));
        }
        let info = vk::BufferDeviceAddressInfo::default().buffer(self.raw);
        // SAFETY: the feature is enabled; the buffer is alive, was created with the usage for
        // addresses (the caller ensures it), and has memory that was allocated for addresses.
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

    /// Returns the number of bytes that copies and fills cover: the requested size, rounded up to
    /// whole words.
    pub(crate) fn size(&self) -> u64 {
        whole_words(self.bytes)
    }

    /// Returns the mapped bytes, or `None` if the memory is not mapped. The caller ensures that the
    /// device does not access them.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        self.allocation.as_ref()?.mapped_slice()?.get(..self.bytes)
    }

    /// Returns the mapped bytes for writing.
    pub(crate) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        self.allocation.as_mut()?.mapped_slice_mut()?.get_mut(..self.bytes)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the owner ensures that no work uses the buffer; it is destroyed once, before its
        // memory.
        unsafe { self.device.raw.destroy_buffer(self.raw, None) };
        if let Some(allocation) = self.allocation.take() {
            // The allocator refuses only allocations that are not its own.
            let _freed = self.device.allocator().free(allocation);
        }
    }
}

/// Unused bytes after an addressable buffer; more than one access of a shader covers.
const APART: u64 = 256;

/// Alignment of addressable buffers in their memory. Shaders may state an alignment of pointers that
/// is larger than that of the buffer.
const ADDRESS_ALIGNMENT: u64 = 4096;

fn whole_words(bytes: usize) -> u64 {
    (bytes as u64).next_multiple_of(4)
}
