//! What naga makes of a shader that goes through wgpu, and the SPIR-V that a driver gets to see of it.

use assay_check::{Spec, Wgsl, capabilities_but, with_overrides};
use assay_runner::DeviceInfo;
use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{ScalarKind, TypeInner};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A shader as wgpu is given it.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// As it is written.
    Wgsl(Wgsl<'a>),
    /// Words, and values of its specialisation constants.
    Spirv(&'a [u32], &'a [Spec]),
}

/// What naga reads, and the values of its overrides as wgpu takes them.
pub(crate) type Parsed = (naga::Module, Vec<(String, f64)>);

/// Has naga read a shader.
///
/// # Errors
/// naga's message.
pub(crate) fn parsed(given: Given<'_>) -> Result<Parsed, String> {
    match given {
        Given::Wgsl(Wgsl { text, overrides }) => {
            let module = naga::front::wgsl::parse_str(text).map_err(|error| error.emit_to_string(text))?;
            Ok((module, overrides.to_vec()))
        }
        Given::Spirv(words, specs) => {
            let options = naga::front::spv::Options::default();
            let bytes: &[u8] = bytemuck::cast_slice(words);
            // There are legal modules on which naga's reader panics.
            let read = catch_unwind(AssertUnwindSafe(|| naga::front::spv::parse_u8_slice(bytes, &options)));
            let read = read.map_err(|_| "naga panics on this SPIR-V".to_owned())?;
            let module = read.map_err(|error| format!("naga does not read this SPIR-V: {error}"))?;
            let values = specs.iter().map(|spec| value(&module, spec)).collect::<Result<Vec<_>, String>>()?;
            Ok((module, values))
        }
    }
}

/// The value of a specialisation constant as WebGPU has it: a number of type f64.
fn value(module: &naga::Module, spec: &Spec) -> Result<(String, f64), String> {
    let found = module.overrides.iter().find(|(_, known)| known.id.map(u32::from) == Some(spec.id));
    let (_, known) = found.ok_or_else(|| format!("naga finds no specialisation constant {}", spec.id))?;
    let lacks =
        || format!("the value 0x{:x} of specialisation constant {} is none that WebGPU can give", spec.bits, spec.id);
    let TypeInner::Scalar(scalar) = module.types[known.ty].inner else { return Err(lacks()) };
    let shift = 64 - spec.width.clamp(1, 64);
    let signed = ((spec.bits << shift) as i64) >> shift;
    let value = match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => f64::from(u8::from(spec.bits != 0)),
        (ScalarKind::Sint, _) if (signed as f64) as i64 == signed && signed != i64::MAX => signed as f64,
        (ScalarKind::Uint, _) if (spec.bits as f64) as u64 == spec.bits && spec.bits != u64::MAX => spec.bits as f64,
        (ScalarKind::Float, 4) => f64::from(f32::from_bits(spec.bits as u32)),
        (ScalarKind::Float, 8) => f64::from_bits(spec.bits),
        _ => return Err(lacks()),
    };
    Ok((spec.id.to_string(), value))
}

/// What naga makes of a shader with the checks that wgpu asks for on that device: accesses kept inside, loops that end, workgroup
/// memory that begins as zero. wgpu hands its own to the driver and shows it to nobody; this is made in the same way.
///
/// # Errors
/// naga's message.
pub fn naga_spirv(given: Given<'_>, device: &DeviceInfo) -> Result<Vec<u32>, String> {
    let (module, overrides) = parsed(given)?;
    let validated = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
    let info = validated.map_err(|error| format!("naga holds the shader for invalid: {}", error.as_inner()))?;
    let (module, info) = with_overrides(&module, &info, &overrides)?;
    let has = |name: &str| device.features.iter().any(|feature| feature == name);
    let checked = |robust: bool| if robust { BoundsCheckPolicy::Unchecked } else { BoundsCheckPolicy::Restrict };
    // What wgpu lets naga do without where the device has it not.
    let mut without = Vec::new();
    if !has("shaderInt8") {
        without.push(spv::Capability::Int8);
    }
    if !has("shaderIntegerDotProduct") {
        without.extend(DOT_PRODUCTS);
    }
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
        capabilities: Some(capabilities_but(&without)),
        ..spv::Options::default()
    };
    let written = catch_unwind(AssertUnwindSafe(|| spv::write_vec(&module, &info, &options, None)));
    written.map_err(|_| "naga panics on it".to_owned())?.map_err(|error| error.to_string())
}

/// What a device has with `shaderIntegerDotProduct`.
const DOT_PRODUCTS: [spv::Capability; 4] = [
    spv::Capability::DotProductInputAllKHR,
    spv::Capability::DotProductInput4x8BitKHR,
    spv::Capability::DotProductInput4x8BitPackedKHR,
    spv::Capability::DotProductKHR,
];

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
