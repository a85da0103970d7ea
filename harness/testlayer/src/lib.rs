//! A Vulkan layer for tests, never installed: above a driver that advertises the tile shading extensions but leaves their
//! structures unwritten, it answers their queries with the values of a plausible device ([`answers`]). Loaded beneath the
//! validation layer, which then checks a native path as if there were such a device. It changes no other call.
//!
//! [`manifest`] is the JSON file by which the loader finds it; [`NAME`] is its name there.

pub mod answers;
mod link;
mod state;

use ash::vk;
use std::ffi::{CStr, c_char};
use std::path::Path;

/// The layer's name.
pub const NAME: &str = "VK_LAYER_ASSAY_tile_shading";

/// The library's file name, beside the programs that depend on this crate.
pub const LIBRARY: &str = "libassay_testlayer.so";

/// The manifest for the library at a path.
pub fn manifest(library: &Path) -> String {
    format!(
        "{{\"file_format_version\": \"1.2.0\", \"layer\": {{\"name\": \"{NAME}\", \"type\": \"GLOBAL\", \
         \"library_path\": \"{}\", \"api_version\": \"1.4.0\", \"implementation_version\": \"1\", \
         \"description\": \"Assay's answers of a device with tile shading, for tests\"}}}}\n",
        library.display()
    )
}

/// `VkNegotiateLayerInterface`.
#[repr(C)]
#[derive(Debug)]
pub struct NegotiateLayerInterface {
    s_type: u32,
    next: *mut std::ffi::c_void,
    version: u32,
    get_instance_proc_addr: Option<GetInstanceProcAddr>,
    get_device_proc_addr: Option<vk::PFN_vkGetDeviceProcAddr>,
    get_physical_device_proc_addr: vk::PFN_vkVoidFunction,
}

type GetInstanceProcAddr = unsafe extern "system" fn(vk::Instance, *const c_char) -> vk::PFN_vkVoidFunction;

/// What the loader asks first.
///
/// # Safety
/// `interface` is what the loader passes: null, or a structure that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(
    interface: *mut NegotiateLayerInterface,
) -> vk::Result {
    const VERSION: u32 = 2;
    // SAFETY: by the contract of this function.
    let Some(interface) = (unsafe { interface.as_mut() }) else { return vk::Result::ERROR_INITIALIZATION_FAILED };
    if interface.version < VERSION {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    }
    interface.version = VERSION;
    interface.get_instance_proc_addr = Some(get_instance_proc_addr);
    interface.get_device_proc_addr = Some(get_device_proc_addr);
    interface.get_physical_device_proc_addr = None;
    vk::Result::SUCCESS
}

/// A function of this layer as the loader keeps it.
macro_rules! function {
    ($function:expr, $ty:ty) => {{
        let function: $ty = $function;
        // SAFETY: a function pointer of the command's own type; the loader gives it back to callers of that command.
        Some(unsafe { std::mem::transmute::<$ty, unsafe extern "system" fn()>(function) })
    }};
}

unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the loader passes a string.
    let text = unsafe { CStr::from_ptr(name) };
    match text.to_bytes() {
        b"vkGetInstanceProcAddr" => function!(get_instance_proc_addr, GetInstanceProcAddr),
        b"vkCreateInstance" => function!(link::create_instance, vk::PFN_vkCreateInstance),
        b"vkDestroyInstance" => function!(link::destroy_instance, vk::PFN_vkDestroyInstance),
        b"vkCreateDevice" => function!(link::create_device, vk::PFN_vkCreateDevice),
        b"vkGetPhysicalDeviceFeatures2" | b"vkGetPhysicalDeviceFeatures2KHR" => {
            function!(answers::features, vk::PFN_vkGetPhysicalDeviceFeatures2)
        }
        b"vkGetPhysicalDeviceProperties2" | b"vkGetPhysicalDeviceProperties2KHR" => {
            function!(answers::properties, vk::PFN_vkGetPhysicalDeviceProperties2)
        }
        _ => device_function(text).or_else(|| {
            let next = state::instance(instance)?;
            // SAFETY: the next element's function, with the arguments of this call.
            unsafe { (next.get_proc_addr)(instance, name) }
        }),
    }
}

unsafe extern "system" fn get_device_proc_addr(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the loader passes a string.
    let text = unsafe { CStr::from_ptr(name) };
    device_function(text).or_else(|| {
        let next = state::device(device)?;
        // SAFETY: the next element's function, with the arguments of this call.
        unsafe { (next.get_proc_addr)(device, name) }
    })
}

fn device_function(name: &CStr) -> vk::PFN_vkVoidFunction {
    match name.to_bytes() {
        b"vkGetDeviceProcAddr" => function!(get_device_proc_addr, vk::PFN_vkGetDeviceProcAddr),
        b"vkDestroyDevice" => function!(link::destroy_device, vk::PFN_vkDestroyDevice),
        b"vkGetFramebufferTilePropertiesQCOM" => {
            function!(answers::framebuffer_tiles, vk::PFN_vkGetFramebufferTilePropertiesQCOM)
        }
        b"vkGetDynamicRenderingTilePropertiesQCOM" => {
            function!(answers::rendering_tiles, vk::PFN_vkGetDynamicRenderingTilePropertiesQCOM)
        }
        _ => None,
    }
}
