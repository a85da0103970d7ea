//! naga's translation of shaders that go through wgpu, and the SPIR-V that the driver receives.

use assay_check::{
    capabilities_except, control_flow_too_deep, with_deep_stack, with_overrides, without_enable_subgroups,
};
use assay_events::DeviceInfo;
use assay_exec::{SpecValue, Wgsl};
use assay_spirv::Module;
use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{ScalarKind, TypeInner};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A shader in the form given to wgpu.
#[derive(Clone, Copy, Debug)]
pub enum NagaInput<'a> {
    /// WGSL text.
    Wgsl(Wgsl<'a>),
    /// SPIR-V words and the values of specialisation constants.
    Spirv(&'a [u32], &'a [SpecValue]),
}

/// naga's module and the values of its overrides, as wgpu takes them.
pub(crate) type ParsedShader = (naga::Module, Vec<(String, f64)>);

/// Parses a shader with naga.
///
/// # Errors
/// naga's message.
pub(crate) fn parse(given: NagaInput<'_>) -> Result<ParsedShader, String> {
    match given {
        NagaInput::Wgsl(Wgsl { text, overrides }) => {
            let module = naga::front::wgsl::parse_str(&without_enable_subgroups(text))
                .map_err(|error| error.emit_to_string(text))?;
            Ok((module, overrides.to_vec()))
        }
        NagaInput::Spirv(words, specs) => {
            if let Some(what) = Module::parse(words.to_vec()).ok().as_ref().and_then(control_flow_too_deep) {
                return Err(format!("naga cannot read this SPIR-V: {what}"));
            }
            let options = naga::front::spv::Options::default();
            let bytes: &[u8] = bytemuck::cast_slice(words);
            // naga's reader panics on some legal modules.
            let read = catch_unwind(AssertUnwindSafe(|| naga::front::spv::parse_u8_slice(bytes, &options)));
            let read = read.map_err(|_| "naga panics on this SPIR-V".to_owned())?;
            let module = read.map_err(|error| format!("naga does not read this SPIR-V: {error}"))?;
            let values = specs.iter().map(|spec| value(&module, spec)).collect::<Result<Vec<_>, String>>()?;
            Ok((module, values))
        }
    }
}

/// Returns the value of a specialisation constant in WebGPU's form: a number of type f64.
fn value(module: &naga::Module, spec: &SpecValue) -> Result<(String, f64), String> {
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

/// Translates a shader with naga and the options that wgpu uses on that device: accesses restricted
/// to their objects, loops that end, zero-initialised workgroup memory. wgpu does not reveal the
/// words that it gives to the driver; this function produces them in the same way.
///
/// # Errors
/// naga's message.
pub fn naga_spirv(given: NagaInput<'_>, device: &DeviceInfo) -> Result<Vec<u32>, String> {
    with_deep_stack(|| naga_spirv_here(given, device))
}

/// Translates on this thread.
fn naga_spirv_here(given: NagaInput<'_>, device: &DeviceInfo) -> Result<Vec<u32>, String> {
    let (module, overrides) = parse(given)?;
    let validated = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
    let info = validated.map_err(|error| format!("naga holds the shader for invalid: {}", error.as_inner()))?;
    let (module, info) = with_overrides(&module, &info, &overrides)?;
    let has = |name: &str| device.features.iter().any(|feature| feature == name);
    let checked = |robust: bool| if robust { BoundsCheckPolicy::Unchecked } else { BoundsCheckPolicy::Restrict };
    // Capabilities that wgpu lets naga avoid on devices without them.
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
        capabilities: Some(capabilities_except(&without)),
        ..spv::Options::default()
    };
    let written = catch_unwind(AssertUnwindSafe(|| spv::write_vec(&module, &info, &options, None)));
    written.map_err(|_| "naga panics on it".to_owned())?.map_err(|error| error.to_string())
}

/// Capabilities of devices with `shaderIntegerDotProduct`.
const DOT_PRODUCTS: [spv::Capability; 4] = [
    spv::Capability::DotProductInputAllKHR,
    spv::Capability::DotProductInput4x8BitKHR,
    spv::Capability::DotProductInput4x8BitPackedKHR,
    spv::Capability::DotProductKHR,
];

/// Returns the SPIR-V version that wgpu uses on a device of that Vulkan version.
fn version(api: &str) -> (u8, u8) {
    let mut parts = api.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    match (parts.next().unwrap_or(1), parts.next().unwrap_or(0)) {
        (0 | 1, 0) => (1, 0),
        (0 | 1, 1) => (1, 3),
        (0 | 1, 2) => (1, 5),
        _ => (1, 6),
    }
}
