//! Indexing of descriptor arrays.

use super::analysis::facts::{Facts, is_constant};
use super::{Check, Findings, Rule, Severity};
use assay_spirv::module::{Instruction, Module, Type};
use assay_spirv::reflect;
use assay_spirv::tables::{Capability, Decoration, Dim, Op, StorageClass};

/// Capability that an access chain into a descriptor array requires. `None` if its first index is a
/// constant, or if it does not index descriptors.
pub(crate) fn dynamic_indexing(module: &Module, chain: Instruction) -> Option<Capability> {
    use Capability as C;
    let [base, index, ..] = *chain.operands() else { return None };
    let (class, pointee) = module.pointer(module.type_of(base)?)?;
    let pointee = pointee?;
    if !matches!(module.ty(pointee), Type::Array { .. } | Type::RuntimeArray { .. }) || is_constant(module, index) {
        return None;
    }
    let (element, _) = reflect::elements(module, pointee);
    let has = |decoration: Decoration| {
        module.type_definition(element).result().is_some_and(|word| reflect::has_decoration(module, word, decoration))
    };
    // The pointer may also lead to an array of structures inside a buffer, which are neither
    // descriptors nor blocks.
    match (class, module.ty(element)) {
        (StorageClass::Uniform, Type::Struct { .. }) if has(Decoration::BufferBlock) => {
            Some(C::StorageBufferArrayDynamicIndexing)
        }
        (_, Type::Struct { .. }) if !has(Decoration::Block) => None,
        (StorageClass::Uniform, Type::Struct { .. }) => Some(C::UniformBufferArrayDynamicIndexing),
        (StorageClass::StorageBuffer, Type::Struct { .. }) => Some(C::StorageBufferArrayDynamicIndexing),
        (StorageClass::UniformConstant, Type::Sampler) => Some(C::SampledImageArrayDynamicIndexing),
        (StorageClass::UniformConstant, Type::SampledImage { image }) => match module.ty(*image) {
            Type::Image(image) if image.dim == Some(Dim::Buffer) => Some(C::UniformTexelBufferArrayDynamicIndexing),
            _ => Some(C::SampledImageArrayDynamicIndexing),
        },
        (StorageClass::UniformConstant, Type::Image(image)) => Some(match (image.dim, image.sampled) {
            (Some(Dim::SubpassData), _) => C::InputAttachmentArrayDynamicIndexing,
            (Some(Dim::Buffer), 1) => C::UniformTexelBufferArrayDynamicIndexing,
            (Some(Dim::Buffer), _) => C::StorageTexelBufferArrayDynamicIndexing,
            (_, 1) => C::SampledImageArrayDynamicIndexing,
            _ => C::StorageImageArrayDynamicIndexing,
        }),
        _ => None,
    }
}

fn check(facts: &Facts, chain: Instruction, found: &mut Findings, capability: Capability) {
    if facts.has_arrays && !facts.has(capability) && dynamic_indexing(facts.module, chain) == Some(capability) {
        found.report(chain, format!("descriptor array indexed with a non-constant; this requires {capability}"));
    }
}

/// Severity of the indexing rules for the capabilities of SPIR-V 1.0 other than
/// InputAttachmentArrayDynamicIndexing.
const UNDECLARED_BY_COMPILERS: Severity =
    Severity::Warning { reason: "GLSL compilers do not declare the capability, and drivers accept their modules" };

const CHAINS: &[Op] = &[Op::AccessChain, Op::InBoundsAccessChain];

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "uniform-buffer-index",
        id: "VUID-StandaloneSpirv-UniformBufferArrayDynamicIndexing-10127",
        requirement: "arrays of uniform buffers must be indexed with constants, except with UniformBufferArrayDynamicIndexing",
        severity: UNDECLARED_BY_COMPILERS,
        check: Check::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Capability::UniformBufferArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "sampled-image-index",
        id: "VUID-StandaloneSpirv-SampledImageArrayDynamicIndexing-10128",
        requirement: "arrays of sampled images and samplers must be indexed with constants, except with SampledImageArrayDynamicIndexing",
        severity: UNDECLARED_BY_COMPILERS,
        check: Check::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Capability::SampledImageArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "storage-buffer-index",
        id: "VUID-StandaloneSpirv-StorageBufferArrayDynamicIndexing-10129",
        requirement: "arrays of storage buffers must be indexed with constants, except with StorageBufferArrayDynamicIndexing",
        severity: UNDECLARED_BY_COMPILERS,
        check: Check::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Capability::StorageBufferArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "storage-image-index",
        id: "VUID-StandaloneSpirv-StorageImageArrayDynamicIndexing-10130",
        requirement: "arrays of storage images must be indexed with constants, except with StorageImageArrayDynamicIndexing",
        severity: UNDECLARED_BY_COMPILERS,
        check: Check::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Capability::StorageImageArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "input-attachment-index",
        id: "VUID-StandaloneSpirv-InputAttachmentArrayDynamicIndexing-10131",
        requirement: "arrays of input attachments must be indexed with constants, except with InputAttachmentArrayDynamicIndexing",
        severity: Severity::Error,
        check: Check::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Capability::InputAttachmentArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "uniform-texel-buffer-index",
        id: "VUID-StandaloneSpirv-UniformTexelBufferArrayDynamicIndexing-10132",
        requirement: "arrays of uniform texel buffers must be indexed with constants, except with UniformTexelBufferArrayDynamicIndexing",
        severity: Severity::Error,
        check: Check::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Capability::UniformTexelBufferArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "storage-texel-buffer-index",
        id: "VUID-StandaloneSpirv-StorageTexelBufferArrayDynamicIndexing-10133",
        requirement: "arrays of storage texel buffers must be indexed with constants, except with StorageTexelBufferArrayDynamicIndexing",
        severity: Severity::Error,
        check: Check::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Capability::StorageTexelBufferArrayDynamicIndexing);
        }),
    },
];
