//! Indexing into arrays of descriptors.

use super::facts::Facts;
use super::{Findings, On, Rule};
use crate::module::{Instruction, Type};
use crate::tables::{Capability, Decoration, Dim, Op, StorageClass};

/// What an array holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    UniformBuffer,
    SampledImage,
    StorageBuffer,
    StorageImage,
    InputAttachment,
    UniformTexelBuffer,
    StorageTexelBuffer,
}

/// What an access chain's array of descriptors holds, if its first index is no constant.
fn dynamic(facts: &Facts, chain: Instruction) -> Option<Held> {
    let [base, index, ..] = *chain.operands() else { return None };
    if facts.is_constant(index) {
        return None;
    }
    let (class, pointee) = facts.pointer(Some(base))?;
    let (Type::Array { element, .. } | Type::RuntimeArray { element }) = *facts.module.ty(pointee?) else {
        return None;
    };
    let (element, _) = crate::reflect::elements(facts.module, element);
    // A pointer may also lead to an array of structures inside a buffer; those are no descriptors, and no blocks.
    match (class, facts.module.ty(element)) {
        (StorageClass::Uniform, Type::Struct { .. }) if facts.type_has(element, Decoration::BufferBlock) => {
            Some(Held::StorageBuffer)
        }
        (_, Type::Struct { .. }) if !facts.type_has(element, Decoration::Block) => None,
        (StorageClass::Uniform, Type::Struct { .. }) => Some(Held::UniformBuffer),
        (StorageClass::StorageBuffer, Type::Struct { .. }) => Some(Held::StorageBuffer),
        (StorageClass::UniformConstant, Type::Sampler) => Some(Held::SampledImage),
        (StorageClass::UniformConstant, Type::SampledImage { image }) => match facts.module.ty(*image) {
            Type::Image(image) if image.dim == Some(Dim::Buffer) => Some(Held::UniformTexelBuffer),
            _ => Some(Held::SampledImage),
        },
        (StorageClass::UniformConstant, Type::Image(image)) => Some(match (image.dim, image.sampled) {
            (Some(Dim::SubpassData), _) => Held::InputAttachment,
            (Some(Dim::Buffer), 1) => Held::UniformTexelBuffer,
            (Some(Dim::Buffer), _) => Held::StorageTexelBuffer,
            (_, 1) => Held::SampledImage,
            _ => Held::StorageImage,
        }),
        _ => None,
    }
}

fn check(facts: &Facts, chain: Instruction, found: &mut Findings, held: Held, capability: Capability) {
    if facts.has_arrays && !facts.has(capability) && dynamic(facts, chain) == Some(held) {
        found.at(chain, format!("an array of descriptors indexed by what is no constant, without {capability}"));
    }
}

const CHAINS: &[Op] = &[Op::AccessChain, Op::InBoundsAccessChain];

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "uniform-buffer-index",
        id: "VUID-StandaloneSpirv-UniformBufferArrayDynamicIndexing-10127",
        says: "uniform buffers are indexed by constants unless the capability is declared",
        on: On::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Held::UniformBuffer, Capability::UniformBufferArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "sampled-image-index",
        id: "VUID-StandaloneSpirv-SampledImageArrayDynamicIndexing-10128",
        says: "sampled images and samplers are indexed by constants unless the capability is declared",
        on: On::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Held::SampledImage, Capability::SampledImageArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "storage-buffer-index",
        id: "VUID-StandaloneSpirv-StorageBufferArrayDynamicIndexing-10129",
        says: "storage buffers are indexed by constants unless the capability is declared",
        on: On::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Held::StorageBuffer, Capability::StorageBufferArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "storage-image-index",
        id: "VUID-StandaloneSpirv-StorageImageArrayDynamicIndexing-10130",
        says: "storage images are indexed by constants unless the capability is declared",
        on: On::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Held::StorageImage, Capability::StorageImageArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "input-attachment-index",
        id: "VUID-StandaloneSpirv-InputAttachmentArrayDynamicIndexing-10131",
        says: "input attachments are indexed by constants unless the capability is declared",
        on: On::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Held::InputAttachment, Capability::InputAttachmentArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "uniform-texel-buffer-index",
        id: "VUID-StandaloneSpirv-UniformTexelBufferArrayDynamicIndexing-10132",
        says: "uniform texel buffers are indexed by constants unless the capability is declared",
        on: On::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Held::UniformTexelBuffer, Capability::UniformTexelBufferArrayDynamicIndexing);
        }),
    },
    Rule {
        name: "storage-texel-buffer-index",
        id: "VUID-StandaloneSpirv-StorageTexelBufferArrayDynamicIndexing-10133",
        says: "storage texel buffers are indexed by constants unless the capability is declared",
        on: On::Instructions(CHAINS, |facts, chain, found| {
            check(facts, chain, found, Held::StorageTexelBuffer, Capability::StorageTexelBufferArrayDynamicIndexing);
        }),
    },
];
