//! Combinations of instructions, types and modes that programs have reached.

use assay_spirv::Module;
use assay_spirv::module::{Instruction, Section, Type, TypeId};
use assay_spirv::tables::{GlslStd450, Op};
use std::collections::BTreeSet;

/// Combinations reached so far. A driver is a black box, so coverage is that of what it receives.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Instructions with the types of result and operands, and the kinds of operands.
    combinations: BTreeSet<String>,
    /// Pairs of an instruction and the one that makes its operand.
    pairs: BTreeSet<String>,
    /// Capabilities, execution modes and decorations.
    modes: BTreeSet<String>,
}

impl Coverage {
    /// Adds a module. Returns the number of combinations that no earlier module has reached.
    pub fn add(&mut self, module: &Module) -> usize {
        let before = self.len();
        for section in [Section::Capabilities, Section::ExecutionModes, Section::Annotations] {
            for instruction in module.section(section) {
                let first = if section == Section::Capabilities { 0 } else { 1 };
                let numbers = instruction.operands().get(first..=first).unwrap_or_default();
                self.modes.insert(format!("{} {numbers:?}", instruction.name()));
            }
        }
        for function in module.functions() {
            for instruction in module.instructions_in(function.instructions.clone()) {
                let Some(operation) = operation_text(module, instruction) else { continue };
                self.combinations.insert(operation);
                let name = instruction_name(module, instruction);
                module.uses(instruction, |id| {
                    let maker = module.definition_of(id).map(|maker| instruction_name(module, maker));
                    _ = maker.map(|maker| self.pairs.insert(format!("{name} {maker}")));
                });
            }
        }
        self.len() - before
    }

    /// Returns the number of combinations.
    pub fn len(&self) -> usize {
        self.combinations.len() + self.pairs.len() + self.modes.len()
    }

    /// Returns true if no module was added.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl std::fmt::Display for Coverage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: BTreeSet<&str> = self.combinations.iter().filter_map(|text| text.split(' ').next()).collect();
        write!(
            f,
            "{} instructions in {} combinations with types and kinds of operands, {} pairs of instructions, {} \
             capabilities, modes and decorations",
            names.len(),
            self.combinations.len(),
            self.pairs.len(),
            self.modes.len()
        )
    }
}

/// Returns an instruction with the types of its result and operands, and the kinds of its operands:
/// `OpIEqual bool <- u32x2 constant, u32x2`. `None` for instructions without a meaning of their own.
pub(crate) fn operation_text(module: &Module, instruction: Instruction<'_>) -> Option<String> {
    if matches!(instruction.op, None | Some(Op::Label | Op::Function | Op::FunctionEnd | Op::FunctionParameter)) {
        return None;
    }
    let mut text = instruction_name(module, instruction);
    if let Some(ty) = instruction.result().and_then(|id| module.type_of(id)) {
        text += &format!(" {} <-", type_text(module, ty));
    }
    let mut operands = Vec::new();
    module.uses(instruction, |id| {
        let Some(definition) = module.definition_of(id) else { return };
        let Some(ty) = module.type_of(id) else { return };
        operands.push(format!("{}{}", type_text(module, ty), kind_text(definition)));
    });
    // A call or a phi with many operands would be a combination of its own.
    operands.dedup();
    operands.truncate(4);
    Some(format!("{text} {}", operands.join(", ")).trim_end().to_owned())
}

/// Returns the kind of an operand, for the end of its type.
fn kind_text(definition: Instruction<'_>) -> &'static str {
    match definition.op {
        Some(Op::ConstantNull) => " null",
        Some(Op::Constant | Op::ConstantComposite | Op::ConstantTrue | Op::ConstantFalse) => " constant",
        Some(Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse) => " specialisation",
        _ => "",
    }
}

/// Returns the name of an instruction; of an extended one, that in its set.
pub(crate) fn instruction_name(module: &Module, instruction: Instruction<'_>) -> String {
    match (instruction.op, instruction.operand(1)) {
        (Some(Op::ExtInst), Some(number))
            if instruction.operand(0).and_then(|set| module.extended_set(set)).is_some() =>
        {
            GlslStd450::from_word(number).map_or_else(|| "OpExtInst".to_owned(), |op| format!("{op:?}"))
        }
        _ => instruction.name().to_owned(),
    }
}

/// Returns a type in a few characters: `f32`, `u32x4`, `f32x4x3`, `array of i32`.
pub(crate) fn type_text(module: &Module, ty: TypeId) -> String {
    match *module.ty(ty) {
        Type::Bool => "bool".to_owned(),
        Type::Int { width, signed } => format!("{}{width}", if signed { 'i' } else { 'u' }),
        Type::Float { width, .. } => format!("f{width}"),
        Type::Vector { component, count } => format!("{}x{count}", type_text(module, component)),
        Type::Matrix { column, count } => format!("{}x{count}", type_text(module, column)),
        Type::Array { element, .. } => format!("array of {}", type_text(module, element)),
        Type::RuntimeArray { .. } => "run-time array".to_owned(),
        Type::Struct { .. } => "structure".to_owned(),
        Type::Pointer { class, .. } => format!("{class:?} pointer"),
        _ => "other".to_owned(),
    }
}
