//! A Vulkan layer for tests, which is never installed. Above a driver that advertises the tile
//! shading extensions without filling in their structures, it answers queries with the values of a
//! plausible device ([`property_overrides`]). It is loaded below the validation layer, which then
//! checks native code as on such a device. It does not change other calls.
//!
//! [`manifest`] returns the JSON file by which the loader finds the layer; [`LAYER_NAME`] is its
//! name there.

mod dispatch_chain;
pub mod property_overrides;
mod state;

use ash::vk;
use std::ffi::{CStr, c_char};
use std::path::Path;

/// The layer's name.
pub const LAYER_NAME: &str = "VK_LAYER_ASSAY_tile_shading";

/// The library's file name, next to the programs that depend on this crate.
pub const LIBRARY_FILE: &str = "libassay_testlayer.so";

/// Returns the manifest for the library at a path.
pub fn manifest(library: &Path) -> String {
    format!(
        "{{\"file_format_version\": \"1.2.0\", \"layer\": {{\"name\": \"{LAYER_NAME}\", \"type\": \"GLOBAL\", \
         \"library_path\": \"{}\", \"api_version\": \"1.4.0\", \"implementation_version\": \"1\", \
         \"description\": \"Properties of a device with tile shading, for Assay's tests\"}}}}\n",
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

/// Negotiates the interface version, in the loader's first call.
///
/// # Safety
/// `interface` is null or points to a writable structure.
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

/// Returns a function of this layer as an untyped function pointer.
macro_rules! function {
    ($function:expr, $ty:ty) => {{
        let function: $ty = $function;
        // SAFETY: a function pointer of the command's own type; the loader casts it back for
        // callers of that command.
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
        b"vkCreateInstance" => function!(dispatch_chain::create_instance, vk::PFN_vkCreateInstance),
        b"vkDestroyInstance" => function!(dispatch_chain::destroy_instance, vk::PFN_vkDestroyInstance),
        b"vkCreateDevice" => function!(dispatch_chain::create_device, vk::PFN_vkCreateDevice),
        b"vkGetPhysicalDeviceFeatures2" | b"vkGetPhysicalDeviceFeatures2KHR" => {
            function!(property_overrides::features, vk::PFN_vkGetPhysicalDeviceFeatures2)
        }
        b"vkGetPhysicalDeviceProperties2" | b"vkGetPhysicalDeviceProperties2KHR" => {
            function!(property_overrides::properties, vk::PFN_vkGetPhysicalDeviceProperties2)
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
        b"vkDestroyDevice" => function!(dispatch_chain::destroy_device, vk::PFN_vkDestroyDevice),
        b"vkGetFramebufferTilePropertiesQCOM" => {
            function!(property_overrides::framebuffer_tiles, vk::PFN_vkGetFramebufferTilePropertiesQCOM)
        }
        b"vkGetDynamicRenderingTilePropertiesQCOM" => {
            function!(property_overrides::rendering_tiles, vk::PFN_vkGetDynamicRenderingTilePropertiesQCOM)
        }
        _ => None,
    }
}
