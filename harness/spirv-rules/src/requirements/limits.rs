//! Requirements of types and instructions that a limit or feature of their own governs.

use super::derivation::{Derivation, feature, property};
use super::{Condition, PropertyCondition};
use assay_spirv::module::{Instruction, Section, Type};
use assay_spirv::reflect;
use assay_spirv::tables::{Capability, Decoration, Op, Scope, StorageClass};

/// Number of components of the longest vectors that every device supports.
const EVERY_VECTOR: u32 = 4;

impl Derivation<'_> {
    pub(super) fn declares(&self, capability: Capability) -> bool {
        self.declaration(capability).is_some()
    }

    /// Returns the position of a capability's declaration.
    pub(super) fn declaration(&self, capability: Capability) -> Option<usize> {
        let mut declared = self.module.section(Section::Capabilities);
        declared.find(|i| i.operand(0) == Some(capability.word())).map(|i| i.at)
    }

    /// Adds the requirements of a type's size and scope.
    pub(super) fn type_limits(&mut self, instruction: Instruction) {
        let module = self.module;
        let count = match instruction.op {
            Some(Op::TypeCooperativeMatrixKHR) => {
                if self.scope(instruction.operand(1)) == Some(Scope::Workgroup) {
                    let rule = Some("VUID-RuntimeSpirv-cooperativeMatrixWorkgroupScope-10164");
                    let imposed_by = "a cooperative matrix of scope Workgroup".to_owned();
                    self.push(instruction.at, imposed_by, rule, feature("cooperativeMatrixWorkgroupScope"));
                }
                return;
            }
            Some(Op::TypeVector) => instruction.operand(1),
            Some(Op::TypeVectorIdEXT) => {
                instruction.operand(1).and_then(|word| u32::try_from(module.constant_int(word)?).ok())
            }
            _ => return,
        };
        let Some(count) = count.filter(|count| *count > EVERY_VECTOR) else { return };
        let (limit, rule) = if self.declares(Capability::LongVectorEXT) {
            ("maxVectorComponents", "VUID-RuntimeSpirv-longVector-12296")
        } else {
            ("maxCooperativeVectorComponents", "VUID-RuntimeSpirv-maxCooperativeVectorComponents-10094")
        };
        let needs = property(limit, PropertyCondition::AtLeast(u64::from(count)));
        self.push(instruction.at, format!("a vector of {count} components"), Some(rule), needs);
    }

    /// Adds the requirement of a uniform block that ends in a run-time array.
    pub(super) fn unsized_uniform(&mut self, instruction: Instruction) {
        let module = self.module;
        let Some(word) = instruction.result() else { return };
        let Some((StorageClass::Uniform, ty)) = reflect::variable(module, word) else { return };
        let (block, _) = reflect::elements(module, ty);
        let declared = module.type_definition(block).result().unwrap_or_default();
        let unsized_last =
            module.members(block).last().is_some_and(|last| matches!(module.ty(*last), Type::RuntimeArray { .. }));
        if unsized_last && reflect::has_decoration(module, declared, Decoration::Block) {
            let rule = Some("VUID-RuntimeSpirv-shaderUniformBufferUnsizedArray-11806");
            let imposed_by = format!("uniform buffer {} that ends in a run-time array", module.names().display(word));
            self.push(instruction.at, imposed_by, rule, feature("shaderUniformBufferUnsizedArray"));
        }
    }

    /// Adds the requirements of instructions whose permitted operands a feature extends.
    pub(super) fn widened(&mut self, instruction: Instruction, op: Op) {
        let module = self.module;
        match op {
            Op::GroupNonUniformRotateKHR if instruction.operand(3).is_some() => {
                let rule = Some("VUID-RuntimeSpirv-shaderSubgroupRotateClustered-09566");
                let imposed_by = "ClusterSize of OpGroupNonUniformRotateKHR".to_owned();
                self.push(instruction.at, imposed_by, rule, feature("shaderSubgroupRotateClustered"));
            }
            Op::BitCount | Op::BitReverse | Op::BitFieldInsert | Op::BitFieldSExtract | Op::BitFieldUExtract => {
                let base = instruction.operand(0).and_then(|word| self.number_width(module.type_of(word)?));
                if let Some(width) = base.filter(|width| *width != 32) {
                    let rule = Some("VUID-RuntimeSpirv-None-10824");
                    self.push(instruction.at, format!("{width}-bit {op}"), rule, feature("maintenance9"));
                }
            }
            _ => {}
        }
    }

    /// Returns the requirement of 8- or 16-bit values in explicitly laid out workgroup memory.
    /// Untyped pointers may access them as wider values, which the types do not show: then this
    /// returns `None`.
    pub(super) fn narrow_workgroup(&self, width: u32) -> Option<(Condition, &'static str)> {
        if self.declares(Capability::UntypedPointersKHR) {
            return None;
        }
        let bytes = "workgroupMemoryExplicitLayout8BitAccess";
        Some(match width {
            8 => (feature(bytes), "VUID-RuntimeSpirv-workgroupMemoryExplicitLayout8BitAccess-10756"),
            _ => (
                Condition::Any(vec![feature("workgroupMemoryExplicitLayout16BitAccess"), feature(bytes)]),
                "VUID-RuntimeSpirv-workgroupMemoryExplicitLayout16BitAccess-10757",
            ),
        })
    }
}
