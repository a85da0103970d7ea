//! Indexing into arrays of descriptors.

use super::facts::{Facts, is_constant};
use super::{Findings, On, Rule, Severity};
use crate::module::{Instruction, Module, Type};
use crate::reflect;
use crate::tables::{Capability, Decoration, Dim, Op, StorageClass};

/// The capability that an access chain into an array of descriptors needs, if its first index is not a constant.
pub(crate) fn dynamic(module: &Module, chain: Instruction) -> Option<Capability> {
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
    // A pointer may also lead to an array of structures inside a buffer; those are no descriptors, and no blocks.
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
    if facts.has_arrays && !facts.has(capability) && dynamic(facts.module, chain) == Some(capability) {
        found.at(chain, format!("descriptor array indexed with a non-constant; this requires {capability}"));
    }
}

/// The severity of what compilers leave undeclared: the capabilities of SPIR-V 1.0, but for input attachments.
const TAKEN: Severity =
    Severity::Warning { why: "compilers of GLSL do not declare the capability, and drivers take their modules" };

const CHAINS: &[Op] = &[Op::AccessChain, Op::InBoundsAccessChain];

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "uniform-buffer-index",
        id: "VUID-StandaloneSpirv-UniformBufferArrayDynamicIndexing-10127",
        says: "uniform buffers are indexed by constants unless the capability is declared",
        severity: TAKEN,
        on: On::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Capability::UniformBufferArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "sampled-image-index",
        id: "VUID-StandaloneSpirv-SampledImageArrayDynamicIndexing-10128",
        says: "sampled images and samplers are indexed by constants unless the capability is declared",
        severity: TAKEN,
        on: On::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Capability::SampledImageArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "storage-buffer-index",
        id: "VUID-StandaloneSpirv-StorageBufferArrayDynamicIndexing-10129",
        says: "storage buffers are indexed by constants unless the capability is declared",
        severity: TAKEN,
        on: On::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Capability::StorageBufferArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "storage-image-index",
        id: "VUID-StandaloneSpirv-StorageImageArrayDynamicIndexing-10130",
        says: "storage images are indexed by constants unless the capability is declared",
        severity: TAKEN,
        on: On::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Capability::StorageImageArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "input-attachment-index",
        id: "VUID-StandaloneSpirv-InputAttachmentArrayDynamicIndexing-10131",
        says: "input attachments are indexed by constants unless the capability is declared",
        severity: Severity::Error,
        on: On::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Capability::InputAttachmentArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "uniform-texel-buffer-index",
        id: "VUID-StandaloneSpirv-UniformTexelBufferArrayDynamicIndexing-10132",
        says: "uniform texel buffers are indexed by constants unless the capability is declared",
        severity: Severity::Error,
        on: On::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Capability::UniformTexelBufferArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "storage-texel-buffer-index",
        id: "VUID-StandaloneSpirv-StorageTexelBufferArrayDynamicIndexing-10133",
        says: "storage texel buffers are indexed by constants unless the capability is declared",
        severity: Severity::Error,
        on: On::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Capability::StorageTexelBufferArrayDynamicIndexing);
        }),
    },
];
