//! The SPIR-V that a driver gets to see of WGSL that goes through wgpu.

use assay_runner::DeviceInfo;
use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What naga makes of WGSL with the checks that wgpu asks for on that device: accesses kept inside, loops that end, workgroup
/// memory that begins as zero. wgpu hands its own to the driver and shows it to nobody; this is made in the same way.
///
/// # Errors
/// naga's message.
pub fn naga_spirv(text: &str, device: &DeviceInfo) -> Result<Vec<u32>, String> {
    let module = naga::front::wgsl::parse_str(text).map_err(|error| error.emit_to_string(text))?;
    let validated = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
    let info = validated.map_err(|error| error.emit_to_string(text))?;
    let has = |name: &str| device.features.iter().any(|feature| feature == name);
    let checked = |robust: bool| if robust { BoundsCheckPolicy::Unchecked } else { BoundsCheckPolicy::Restrict };
    let options = spv::Options {
        lang_version: version(&device.api_version),
        flags: spv::WriterFlags::empty(),
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: checked(has("robustBufferAccess2")),
            image_load: checked(has("robustImageAccess") || has("robustImageAccess2")),
            binding_array: BoundsCheckPolicy::Unchecked,
        },
        zero_initialize_workgroup_memory: if has("shaderZeroInitializeWorkgroupMemory") {
            spv::ZeroInitializeWorkgroupMemoryMode::Native
        } else {
            spv::ZeroInitializeWorkgroupMemoryMode::Polyfill
        },
        force_loop_bounding: true,
        ..spv::Options::default()
    };
    let written = catch_unwind(AssertUnwindSafe(|| spv::write_vec(&module, &info, &options, None)));
    written.map_err(|_| "naga panics on it".to_owned())?.map_err(|error| error.to_string())
}

/// The version of SPIR-V that wgpu asks for on a device of that version of Vulkan.
fn version(api: &str) -> (u8, u8) {
    let mut parts = api.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    match (parts.next().unwrap_or(1), parts.next().unwrap_or(0)) {
        (0 | 1, 0) => (1, 0),
        (0 | 1, 1) => (1, 3),
        (0 | 1, 2) => (1, 5),
        _ => (1, 6),
    }
}
