//! Functions that replace those of the wrapped driver.

use crate::driver::{Shim, shim};
use crate::fault::{DriverFault, FaultKind};
use crate::{complain, record};
use ash::vk;
use assay_spirv::Module;
use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

type Function = unsafe extern "system" fn();

/// A command of the wrapped driver and its replacement. The driver has one function for all its
/// instances and devices.
struct Hook {
    names: &'static [&'static CStr],
    ours: fn() -> Function,
    /// Returns true if the fault needs the hook.
    wanted: fn(Option<DriverFault>) -> bool,
    own: OnceLock<Function>,
}

/// Creates a hook with a function of the command's own type.
macro_rules! hook {
    ($names:expr, $ours:expr, $ty:ty, $wanted:expr) => {
        Hook {
            names: $names,
            ours: || {
                let ours: $ty = $ours;
                // SAFETY: a function pointer of the command's own type, which callers of that
                // command receive.
                unsafe { std::mem::transmute::<$ty, Function>(ours) }
            },
            wanted: $wanted,
            own: OnceLock::new(),
        }
    };
}

/// Returns the wrapped driver's function of a hook.
macro_rules! own {
    ($hook:expr, $ty:ty) => {
        // SAFETY: it was got by the name of the command, which has that type.
        $hook.own.get().map(|own| unsafe { std::mem::transmute::<Function, $ty>(*own) })
    };
}

static GET_DEVICE: Hook = hook!(&[c"vkGetDeviceProcAddr"], get_device, vk::PFN_vkGetDeviceProcAddr, |_| true);
static SHADER_MODULE: Hook =
    hook!(&[c"vkCreateShaderModule"], create_shader_module, vk::PFN_vkCreateShaderModule, |fault| fault.is_some());
static PUSH: Hook = hook!(&[c"vkCmdPushConstants"], push_constants, vk::PFN_vkCmdPushConstants, |fault| fault
    == Some(DriverFault(FaultKind::ShortPush)));
static SAMPLER: Hook = hook!(&[c"vkCreateSampler"], create_sampler, vk::PFN_vkCreateSampler, |fault| fault
    == Some(DriverFault(FaultKind::NormalizedSamplers)));
static EXTENSIONS: Hook = hook!(
    &[c"vkEnumerateDeviceExtensionProperties"],
    extensions,
    vk::PFN_vkEnumerateDeviceExtensionProperties,
    offers_indexing
);
static FEATURES: Hook = hook!(
    &[c"vkGetPhysicalDeviceFeatures2", c"vkGetPhysicalDeviceFeatures2KHR"],
    features,
    vk::PFN_vkGetPhysicalDeviceFeatures2,
    offers_indexing
);
static CREATE_DEVICE: Hook = hook!(&[c"vkCreateDevice"], create_device, vk::PFN_vkCreateDevice, offers_indexing);

static HOOKS: [&Hook; 7] = [&GET_DEVICE, &SHADER_MODULE, &PUSH, &SAMPLER, &EXTENSIONS, &FEATURES, &CREATE_DEVICE];

fn offers_indexing(fault: Option<DriverFault>) -> bool {
    fault.is_some_and(DriverFault::offers_indexing)
}

/// Returns the function for callers of a command: the wrapped driver's, or its replacement.
pub(crate) fn replacement(name: &CStr, own: Function, shim: &Shim) -> Function {
    let Some(hook) = HOOKS.iter().find(|hook| hook.names.contains(&name) && (hook.wanted)(shim.fault)) else {
        return own;
    };
    hook.own.get_or_init(|| own);
    (hook.ours)()
}

unsafe extern "system" fn get_device(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    let get = own!(GET_DEVICE, vk::PFN_vkGetDeviceProcAddr)?;
    // SAFETY: the wrapped driver's function with the arguments of this call.
    let own = unsafe { get(device, name) }?;
    // SAFETY: the loader passes a string.
    Some(replacement(unsafe { CStr::from_ptr(name) }, own, shim().ok()?))
}

unsafe extern "system" fn create_shader_module(
    device: vk::Device,
    info: *const vk::ShaderModuleCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    module: *mut vk::ShaderModule,
) -> vk::Result {
    const FAILED: vk::Result = vk::Result::ERROR_INITIALIZATION_FAILED;
    let Some(create) = own!(SHADER_MODULE, vk::PFN_vkCreateShaderModule) else { return FAILED };
    let Some(fault) = shim().ok().and_then(|shim| shim.fault) else { return FAILED };
    // SAFETY: the caller passes the structure, and in it words and the number of their bytes.
    let words = unsafe { std::slice::from_raw_parts((*info).p_code, (*info).code_size / 4) };
    let planted = match Module::parse(words.to_vec()) {
        Ok(module) => fault.plant(&module),
        Err(error) => {
            complain(format_args!("a shader module cannot be read, so {fault} is not planted: {error}"));
            return FAILED;
        }
    };
    if planted != words {
        record();
    }
    // SAFETY: as above; the copy points to words that live until the call returns.
    unsafe {
        let changed = vk::ShaderModuleCreateInfo { code_size: 4 * planted.len(), p_code: planted.as_ptr(), ..*info };
        create(device, &raw const changed, allocator, module)
    }
}

/// Number of bytes of push constants that reach the driver.
const SHORT: u32 = 32;

unsafe extern "system" fn push_constants(
    commands: vk::CommandBuffer,
    layout: vk::PipelineLayout,
    stages: vk::ShaderStageFlags,
    offset: u32,
    size: u32,
    values: *const c_void,
) {
    let whole = size;
    let size = size.min(SHORT.saturating_sub(offset));
    if size < whole {
        record();
    }
    if let Some(push) = own!(PUSH, vk::PFN_vkCmdPushConstants).filter(|_| size > 0) {
        // SAFETY: the caller's own arguments, with fewer of the bytes.
        unsafe { push(commands, layout, stages, offset, size, values) }
    }
}

unsafe extern "system" fn create_sampler(
    device: vk::Device,
    info: *const vk::SamplerCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    sampler: *mut vk::Sampler,
) -> vk::Result {
    let Some(create) = own!(SAMPLER, vk::PFN_vkCreateSampler) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: the caller passes the structure; all else is the caller's own.
    unsafe {
        if (*info).unnormalized_coordinates == vk::TRUE {
            record();
        }
        let changed = vk::SamplerCreateInfo { unnormalized_coordinates: vk::FALSE, ..*info };
        create(device, &raw const changed, allocator, sampler)
    }
}

/// `VK_EXT_shader_64bit_indexing`, which is hidden from the wrapped driver.
const INDEXING: &CStr = c"VK_EXT_shader_64bit_indexing";

/// `VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_64_BIT_INDEXING_FEATURES_EXT`.
const INDEXING_FEATURES: i32 = 1_000_627_000;

unsafe extern "system" fn extensions(
    physical: vk::PhysicalDevice,
    layer: *const c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    let Some(own) = own!(EXTENSIONS, vk::PFN_vkEnumerateDeviceExtensionProperties) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: the caller passes a writable number, and null or room for as many structures.
    unsafe {
        if properties.is_null() || !layer.is_null() {
            let result = own(physical, layer, count, properties);
            *count += u32::from(layer.is_null());
            return result;
        }
        let Some(mut own_count) = (*count).checked_sub(1) else { return vk::Result::INCOMPLETE };
        let result = own(physical, layer, &raw mut own_count, properties);
        let added = properties.add(own_count as usize);
        *added = vk::ExtensionProperties::default().extension_name(INDEXING).unwrap_or_default().spec_version(1);
        *count = own_count + 1;
        result
    }
}

unsafe extern "system" fn features(physical: vk::PhysicalDevice, features: *mut vk::PhysicalDeviceFeatures2<'_>) {
    /// A structure with one feature.
    #[repr(C)]
    struct Feature {
        s_type: vk::StructureType,
        next: *mut c_void,
        is_there: vk::Bool32,
    }
    let Some(own) = own!(FEATURES, vk::PFN_vkGetPhysicalDeviceFeatures2) else { return };
    // SAFETY: the caller's own arguments: a chain of structures, each of which begins with its type
    // and a pointer to the next one, and has the members of its type.
    unsafe {
        own(physical, features);
        let mut next = (*features).p_next.cast::<Feature>();
        while !next.is_null() {
            if (*next).s_type.as_raw() == INDEXING_FEATURES {
                (*next).is_there = vk::TRUE;
            }
            next = (*next).next.cast();
        }
    }
}

unsafe extern "system" fn create_device(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
) -> vk::Result {
    let Some(create) = own!(CREATE_DEVICE, vk::PFN_vkCreateDevice) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: the caller passes the structure, with names and their number; the copy points to
    // fewer names, which live until the call returns. Drivers ignore structures of unknown
    // features.
    unsafe {
        let count = (*info).enabled_extension_count as usize;
        let names =
            if count == 0 { &[] } else { std::slice::from_raw_parts((*info).pp_enabled_extension_names, count) };
        let known: Vec<*const c_char> =
            names.iter().copied().filter(|name| CStr::from_ptr(*name) != INDEXING).collect();
        let mut changed = vk::DeviceCreateInfo { ..*info };
        changed.enabled_extension_count = known.len() as u32;
        changed.pp_enabled_extension_names = known.as_ptr();
        create(physical, &raw const changed, allocator, device)
    }
}
