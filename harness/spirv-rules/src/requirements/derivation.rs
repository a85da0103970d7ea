//! The requirements of a module that have been derived so far, and the conditions that they are
//! made of.

use super::{ApiVersion, Condition, DeviceCondition, PropertyCondition, RequirementItem};
use assay_spirv::grammar::EnablingCondition;
use assay_spirv::module::{Module, TypeId};
use assay_spirv::reflect;
use assay_spirv::tables::{Capability, Decoration};
use std::cell::OnceCell;

/// Returns the condition of a capability; `None` if every device supports it.
pub(super) fn capability_needs(capability: Capability) -> Option<Condition> {
    match capability.enabling_conditions() {
        Some([]) => None,
        Some(ways) => Some(enabled_by(ways)),
        None => Some(Condition::Unsatisfiable("an API other than Vulkan, which does not list it".to_owned())),
    }
}

/// A derivation of the requirements of a module. Its methods are in the files of their topics.
pub(super) struct Derivation<'a> {
    pub(super) module: &'a Module,
    /// Set for 16, 32 and 64 bits if the module has floats of that width.
    pub(super) floats: OnceCell<[bool; 3]>,
    pub(super) items: Vec<RequirementItem>,
}

pub(super) fn feature(name: &'static str) -> Condition {
    Condition::Atom(DeviceCondition::Feature(name))
}

pub(super) fn api(minor: u32) -> Condition {
    Condition::Atom(DeviceCondition::Api(ApiVersion::v1(minor)))
}

pub(super) fn extension(name: &'static str) -> Condition {
    Condition::Atom(DeviceCondition::Extension(name))
}

pub(super) fn property(name: &'static str, test: PropertyCondition) -> Condition {
    Condition::Atom(DeviceCondition::Property(name, test))
}

/// Returns the condition that one of these holds.
pub(super) fn enabled_by(ways: &[EnablingCondition]) -> Condition {
    let mut parts: Vec<Condition> = Vec::new();
    for way in ways {
        let part = match *way {
            EnablingCondition::Version(minor) => api(minor),
            EnablingCondition::Extension(name) => extension(name),
            EnablingCondition::Feature { feature: name, .. } => feature(name),
            EnablingCondition::Property { member, value: "VK_TRUE", .. } => property(member, PropertyCondition::True),
            EnablingCondition::Property { member, value, bits, .. } => {
                property(member, PropertyCondition::Bits(bits, value))
            }
        };
        // Several structures may contain one feature.
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    match parts.len() {
        1 => parts.remove(0),
        _ => Condition::Any(parts),
    }
}

impl<'a> Derivation<'a> {
    pub(super) fn new(module: &'a Module) -> Derivation<'a> {
        Derivation { module, floats: OnceCell::new(), items: Vec::new() }
    }

    pub(super) fn push(&mut self, at: usize, imposed_by: String, rule: Option<&'static str>, expression: Condition) {
        self.items.push(RequirementItem { expression, imposed_by, rule, at });
    }

    pub(super) fn is_buffer_block(&self, ty: TypeId) -> bool {
        self.element_has(ty, Decoration::BufferBlock)
    }

    pub(super) fn has_block(&self, ty: TypeId) -> bool {
        self.element_has(ty, Decoration::Block)
    }

    pub(super) fn element_has(&self, ty: TypeId, decoration: Decoration) -> bool {
        let (element, _) = reflect::elements(self.module, ty);
        let declared = self.module.type_definition(element).result().unwrap_or_default();
        reflect::has_decoration(self.module, declared, decoration)
    }
}
