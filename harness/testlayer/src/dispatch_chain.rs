//! Creation and destruction of instances and devices, in which a layer obtains the next element of
//! the call chain.

use crate::{GetInstanceProcAddr, state};
use ash::vk;
use std::ffi::{CStr, c_void};

/// `VkLayerInstanceCreateInfo` and `VkLayerDeviceCreateInfo`, with one member of their union.
#[repr(C)]
struct LayerCreateInfo<L> {
    s_type: vk::StructureType,
    next: *const c_void,
    function: u32,
    link: *mut L,
}

/// `VkLayerInstanceLink`.
#[repr(C)]
struct InstanceLink {
    next: *mut InstanceLink,
    get_instance_proc_addr: GetInstanceProcAddr,
    get_physical_device_proc_addr: vk::PFN_vkVoidFunction,
}

/// `VkLayerDeviceLink`.
#[repr(C)]
struct DeviceLink {
    next: *mut DeviceLink,
    get_instance_proc_addr: GetInstanceProcAddr,
    get_device_proc_addr: vk::PFN_vkGetDeviceProcAddr,
}

/// `VK_LAYER_LINK_INFO`.
const LINK_INFO: u32 = 0;

/// Returns the loader's structure in a chain, which the layer must advance.
///
/// # Safety
/// `next` is a valid chain of Vulkan structures, in which structures with this type are the
/// loader's.
unsafe fn find<L>(mut next: *const c_void, s_type: vk::StructureType) -> Option<*mut LayerCreateInfo<L>> {
    while !next.is_null() {
        let info = next.cast_mut().cast::<LayerCreateInfo<L>>();
        // SAFETY: every structure of a chain begins with its type and a pointer to the next one;
        // the loader's have a function too.
        let found = unsafe { (*info).s_type == s_type && (*info).function == LINK_INFO };
        if found {
            return Some(info);
        }
        // SAFETY: as above.
        next = unsafe { (*info).next };
    }
    None
}

/// Returns a command of the next element.
macro_rules! command {
    ($get:expr, $handle:expr, $name:expr, $ty:ty) => {{
        let name: &CStr = $name;
        // SAFETY: the next element's function with a live handle; its result has the type of the
        // command.
        unsafe { $get($handle, name.as_ptr()).map(|f| std::mem::transmute::<unsafe extern "system" fn(), $ty>(f)) }
    }};
}

pub(crate) unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
) -> vk::Result {
    const FAILED: vk::Result = vk::Result::ERROR_INITIALIZATION_FAILED;
    // SAFETY: the loader passes valid pointers, here and below, and its structure in the chain.
    let link = unsafe { find::<InstanceLink>((*info).p_next, vk::StructureType::LOADER_INSTANCE_CREATE_INFO) };
    let Some(link) = link else { return FAILED };
    // SAFETY: as above; the element is taken off, as the interface asks.
    let get = unsafe {
        let element = (*link).link;
        (*link).link = (*element).next;
        (*element).get_instance_proc_addr
    };
    let create = command!(get, vk::Instance::null(), c"vkCreateInstance", vk::PFN_vkCreateInstance);
    let Some(create) = create else { return FAILED };
    // SAFETY: the caller's own arguments.
    let result = unsafe { create(info, allocator, instance) };
    if result == vk::Result::SUCCESS {
        // SAFETY: it was just written.
        let made = unsafe { *instance };
        let features = c"vkGetPhysicalDeviceFeatures2";
        let properties = c"vkGetPhysicalDeviceProperties2";
        let next = state::Instance {
            get_proc_addr: get,
            destroy: command!(get, made, c"vkDestroyInstance", vk::PFN_vkDestroyInstance),
            features: command!(get, made, features, vk::PFN_vkGetPhysicalDeviceFeatures2),
            properties: command!(get, made, properties, vk::PFN_vkGetPhysicalDeviceProperties2),
        };
        state::add_instance(made, next);
    }
    result
}

pub(crate) unsafe extern "system" fn destroy_instance(
    instance: vk::Instance,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    if let Some(destroy) = state::remove_instance(instance).and_then(|next| next.destroy) {
        // SAFETY: the caller's own arguments.
        unsafe { destroy(instance, allocator) }
    }
}

pub(crate) unsafe extern "system" fn create_device(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
) -> vk::Result {
    const FAILED: vk::Result = vk::Result::ERROR_INITIALIZATION_FAILED;
    // SAFETY: the loader passes valid pointers, here and below, and its structure in the chain.
    let link = unsafe { find::<DeviceLink>((*info).p_next, vk::StructureType::LOADER_DEVICE_CREATE_INFO) };
    let Some(link) = link else { return FAILED };
    // SAFETY: as above; the element is taken off, as the interface asks.
    let (get_instance, get) = unsafe {
        let element = (*link).link;
        (*link).link = (*element).next;
        ((*element).get_instance_proc_addr, (*element).get_device_proc_addr)
    };
    let create = command!(get_instance, vk::Instance::null(), c"vkCreateDevice", vk::PFN_vkCreateDevice);
    let Some(create) = create else { return FAILED };
    // SAFETY: the caller's own arguments.
    let result = unsafe { create(physical, info, allocator, device) };
    if result == vk::Result::SUCCESS {
        // SAFETY: it was just written.
        let made = unsafe { *device };
        let destroy = command!(get, made, c"vkDestroyDevice", vk::PFN_vkDestroyDevice);
        state::add_device(made, state::Device { get_proc_addr: get, destroy });
    }
    result
}

pub(crate) unsafe extern "system" fn destroy_device(device: vk::Device, allocator: *const vk::AllocationCallbacks<'_>) {
    if let Some(destroy) = state::remove_device(device).and_then(|next| next.destroy) {
        // SAFETY: the caller's own arguments.
        unsafe { destroy(device, allocator) }
    }
}
