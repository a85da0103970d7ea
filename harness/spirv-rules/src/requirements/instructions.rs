//! Requirements of single instructions that follow from their operands.

use super::derivation::{Derivation, capability_needs, feature};
use crate::rules::dynamic_indexing;
use crate::rules::opcode_groups::GATHERS;
use assay_spirv::OperandLayout;
use assay_spirv::grammar::{InstructionClass, Kind};
use assay_spirv::module::{Instruction, Section, Type, TypeId};
use assay_spirv::tables::{ImageOperands, MemoryModel, Op, Scope, StorageClass};

impl Derivation<'_> {
    /// Adds the requirement of the capability for an index into an array of descriptors, whether or
    /// not the module declares it.
    fn dynamic_indexing(&mut self, chain: Instruction) {
        let Some(capability) = dynamic_indexing(self.module, chain) else { return };
        if let Some(needs) = capability_needs(capability) {
            let imposed_by = "a descriptor array indexed with a non-constant".to_owned();
            self.push(chain.at, imposed_by, None, needs);
        }
    }

    /// Adds the requirements of an instruction in a function.
    pub(super) fn body(&mut self, instruction: Instruction) {
        let module = self.module;
        let Some(op) = instruction.op else { return };
        self.memory_scope(instruction, op);
        self.widened(instruction, op);
        self.offset(instruction, op);
        match op {
            Op::FmaKHR => {
                let rules = [
                    (16, "shaderFmaFloat16", "VUID-RuntimeSpirv-shaderFmaFloat16-10977"),
                    (32, "shaderFmaFloat32", "VUID-RuntimeSpirv-shaderFmaFloat32-10978"),
                    (64, "shaderFmaFloat64", "VUID-RuntimeSpirv-shaderFmaFloat64-10979"),
                ];
                let width = instruction.result_type().and_then(|ty| self.number_width(module.type_declared(ty)?));
                for (of, name, rule) in rules {
                    if width == Some(of) {
                        self.push(instruction.at, format!("{of}-bit OpFmaKHR"), Some(rule), feature(name));
                    }
                }
            }
            Op::ReadClockKHR => match self.scope(instruction.operand(0)) {
                Some(Scope::Subgroup) => {
                    let rule = Some("VUID-RuntimeSpirv-shaderSubgroupClock-06267");
                    self.push(
                        instruction.at,
                        "OpReadClockKHR of the subgroup".to_owned(),
                        rule,
                        feature("shaderSubgroupClock"),
                    );
                }
                Some(Scope::Device) => {
                    let rule = Some("VUID-RuntimeSpirv-shaderDeviceClock-06268");
                    self.push(
                        instruction.at,
                        "OpReadClockKHR of the device".to_owned(),
                        rule,
                        feature("shaderDeviceClock"),
                    );
                }
                _ => {}
            },
            Op::AccessChain | Op::InBoundsAccessChain => self.dynamic_indexing(instruction),
            Op::ExtInstWithForwardRefsKHR => {
                let rule = Some("VUID-RuntimeSpirv-shaderRelaxedExtendedInstruction-10773");
                self.push(instruction.at, op.name().to_owned(), rule, feature("shaderRelaxedExtendedInstruction"));
            }
            Op::ImageTexelPointer => {
                let pointer = instruction.operand(0).and_then(|word| module.pointer(module.type_of(word)?));
                if pointer.is_some_and(|(class, _)| class == StorageClass::TileAttachmentQCOM) {
                    let rule = Some("VUID-RuntimeSpirv-OpImage-10706");
                    self.push(
                        instruction.at,
                        "atomics on a tile attachment".to_owned(),
                        rule,
                        feature("tileShadingAtomicOps"),
                    );
                }
            }
            _ if op.info().class == InstructionClass::Atomic => self.atomic(instruction, op),
            _ if is_subgroup_operation(op) => self.extended_types(instruction, op),
            _ => {}
        }
    }

    /// Adds the requirement of a non-constant offset, which originally only gathers permitted.
    fn offset(&mut self, instruction: Instruction, op: Op) {
        let operands = OperandLayout::of(op).image_operands(instruction.words).map(ImageOperands);
        if !GATHERS.contains(&op) && operands.is_some_and(|operands| operands.contains(ImageOperands::OFFSET)) {
            let rule = Some("VUID-RuntimeSpirv-Offset-10213");
            self.push(instruction.at, format!("operand Offset of {op}"), rule, feature("maintenance8"));
        }
    }

    /// Adds the requirements of scopes that a feature of the memory model governs.
    fn memory_scope(&mut self, instruction: Instruction, op: Op) {
        let module = self.module;
        match op {
            Op::ControlBarrier => self.memory_scope_of(instruction, op, instruction.operand(1)),
            Op::MemoryBarrier => self.memory_scope_of(instruction, op, instruction.operand(0)),
            _ if op.info().class == InstructionClass::Atomic => {
                self.memory_scope_of(instruction, op, instruction.operand(1))
            }
            // In memory and image instructions, only memory and image operands are scopes.
            _ if matches!(op.info().class, InstructionClass::Memory | InstructionClass::Image) => {
                let mut scopes = Vec::new();
                let _newer = module.operands(instruction, |operand| {
                    if operand.kind == Kind::IdScope {
                        scopes.push(instruction.words[operand.at]);
                    }
                });
                scopes.into_iter().for_each(|word| self.memory_scope_of(instruction, op, Some(word)));
            }
            _ => {}
        }
    }

    fn memory_scope_of(&mut self, instruction: Instruction, op: Op, word: Option<u32>) {
        let vulkan = MemoryModel::Vulkan.word();
        let model = self.module.section(Section::MemoryModel).next().and_then(|i| i.operand(1));
        match self.scope(word) {
            Some(Scope::Device) if model == Some(vulkan) => {
                let rule = Some("VUID-RuntimeSpirv-vulkanMemoryModel-06265");
                let imposed_by = format!("{op} of scope Device in the Vulkan memory model");
                self.push(instruction.at, imposed_by, rule, feature("vulkanMemoryModelDeviceScope"));
            }
            Some(Scope::QueueFamily) => {
                let rule = Some("VUID-RuntimeSpirv-vulkanMemoryModel-06266");
                self.push(instruction.at, format!("{op} of scope QueueFamily"), rule, feature("vulkanMemoryModel"));
            }
            _ => {}
        }
    }

    pub(super) fn scope(&self, word: Option<u32>) -> Option<Scope> {
        Scope::from_word(u32::try_from(self.module.constant_int(word?)?).ok()?)
    }

    pub(super) fn number_width(&self, ty: TypeId) -> Option<u32> {
        match *self.module.ty(ty) {
            Type::Int { width, .. } | Type::Float { width, .. } => Some(width),
            Type::Vector { component, .. } => self.number_width(component),
            _ => None,
        }
    }

    fn atomic(&mut self, instruction: Instruction, op: Op) {
        let module = self.module;
        let Some((class, Some(pointee))) =
            instruction.operand(0).and_then(|word| module.pointer(module.type_of(word)?))
        else {
            return;
        };
        let target = match class {
            StorageClass::StorageBuffer | StorageClass::Uniform | StorageClass::PhysicalStorageBuffer => {
                AtomicTarget::Buffer
            }
            StorageClass::Workgroup => AtomicTarget::Shared,
            StorageClass::Image => AtomicTarget::Image,
            _ => return,
        };
        let imposed_by = |what: &str| format!("{what} {op} in {class}");
        match *module.ty(pointee) {
            Type::Int { width: 64, .. } => {
                let (name, rule) = match target {
                    AtomicTarget::Buffer => ("shaderBufferInt64Atomics", "VUID-RuntimeSpirv-None-06278"),
                    AtomicTarget::Shared => ("shaderSharedInt64Atomics", "VUID-RuntimeSpirv-None-06279"),
                    AtomicTarget::Image => ("shaderImageInt64Atomics", "VUID-RuntimeSpirv-None-06288"),
                };
                self.push(instruction.at, imposed_by("64-bit"), Some(rule), feature(name));
            }
            Type::Float { width, .. } => {
                let rule = match target {
                    AtomicTarget::Buffer => "VUID-RuntimeSpirv-None-06284",
                    AtomicTarget::Shared => "VUID-RuntimeSpirv-None-06285",
                    AtomicTarget::Image => "VUID-RuntimeSpirv-None-06286",
                };
                if let Some(name) = float_atomic(target, width, op) {
                    self.push(instruction.at, imposed_by(&format!("{width}-bit float")), Some(rule), feature(name));
                }
            }
            Type::Vector { .. } => {
                let rule = Some("VUID-RuntimeSpirv-shaderFloat16VectorAtomics-09581");
                self.push(instruction.at, imposed_by("vector"), rule, feature("shaderFloat16VectorAtomics"));
            }
            _ => {}
        }
    }

    fn extended_types(&mut self, instruction: Instruction, op: Op) {
        let module = self.module;
        let types = instruction
            .operands()
            .iter()
            .chain(instruction.words.get(1))
            .filter_map(|word| module.type_of(*word).or_else(|| module.type_declared(*word)));
        let extended = types.into_iter().find(|ty| match *module.ty(*ty) {
            Type::Vector { component, .. } => self.is_extended(component),
            _ => self.is_extended(*ty),
        });
        if extended.is_some() {
            let rule = Some("VUID-RuntimeSpirv-None-06275");
            let imposed_by = format!("{op} on 8, 16 or 64-bit values");
            self.push(instruction.at, imposed_by, rule, feature("shaderSubgroupExtendedTypes"));
        }
    }

    fn is_extended(&self, ty: TypeId) -> bool {
        matches!(*self.module.ty(ty), Type::Int { width: 8 | 16 | 64, .. } | Type::Float { width: 16, .. })
    }
}

/// Memory that an atomic operates on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtomicTarget {
    Buffer,
    Shared,
    Image,
}

/// Returns the feature that a float atomic requires.
fn float_atomic(target: AtomicTarget, width: u32, op: Op) -> Option<&'static str> {
    let add = op == Op::AtomicFAddEXT;
    let extreme = matches!(op, Op::AtomicFMinEXT | Op::AtomicFMaxEXT);
    Some(match (target, width, add, extreme) {
        (AtomicTarget::Buffer, 16, true, _) => "shaderBufferFloat16AtomicAdd",
        (AtomicTarget::Buffer, 16, _, true) => "shaderBufferFloat16AtomicMinMax",
        (AtomicTarget::Buffer, 16, ..) => "shaderBufferFloat16Atomics",
        (AtomicTarget::Buffer, 32, true, _) => "shaderBufferFloat32AtomicAdd",
        (AtomicTarget::Buffer, 32, _, true) => "shaderBufferFloat32AtomicMinMax",
        (AtomicTarget::Buffer, 32, ..) => "shaderBufferFloat32Atomics",
        (AtomicTarget::Buffer, 64, true, _) => "shaderBufferFloat64AtomicAdd",
        (AtomicTarget::Buffer, 64, _, true) => "shaderBufferFloat64AtomicMinMax",
        (AtomicTarget::Buffer, 64, ..) => "shaderBufferFloat64Atomics",
        (AtomicTarget::Shared, 16, true, _) => "shaderSharedFloat16AtomicAdd",
        (AtomicTarget::Shared, 16, _, true) => "shaderSharedFloat16AtomicMinMax",
        (AtomicTarget::Shared, 16, ..) => "shaderSharedFloat16Atomics",
        (AtomicTarget::Shared, 32, true, _) => "shaderSharedFloat32AtomicAdd",
        (AtomicTarget::Shared, 32, _, true) => "shaderSharedFloat32AtomicMinMax",
        (AtomicTarget::Shared, 32, ..) => "shaderSharedFloat32Atomics",
        (AtomicTarget::Shared, 64, true, _) => "shaderSharedFloat64AtomicAdd",
        (AtomicTarget::Shared, 64, _, true) => "shaderSharedFloat64AtomicMinMax",
        (AtomicTarget::Shared, 64, ..) => "shaderSharedFloat64Atomics",
        (AtomicTarget::Image, 32, true, _) => "shaderImageFloat32AtomicAdd",
        (AtomicTarget::Image, 32, _, true) => "shaderImageFloat32AtomicMinMax",
        (AtomicTarget::Image, 32, ..) => "shaderImageFloat32Atomics",
        _ => return None,
    })
}
/// Returns true if instructions with this opcode are group operations of the subgroup.
pub(super) fn is_subgroup_operation(op: Op) -> bool {
    let info = op.info();
    match info.class {
        InstructionClass::NonUniform => true,
        // The grammar files some newer subgroup operations under the groups of kernels.
        InstructionClass::Group => {
            info.name.starts_with("OpGroupNonUniform")
                || info.name.starts_with("OpSubgroup") && info.name.ends_with("KHR")
        }
        _ => false,
    }
}
