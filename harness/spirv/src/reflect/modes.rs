//! Execution modes, and the workgroup sizes that a mode or a constant declares.

use super::spec_id;
use crate::hash::FastMap;
use crate::module::{Instruction, InstructionIndex, Module, Section};
use crate::tables::{BuiltIn, Decoration, ExecutionMode, Op};

/// An execution mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionModeUse {
    /// The mode; `None` if the grammar does not define the word.
    pub mode: Option<ExecutionMode>,
    /// Its operands: literals, or raw ids.
    pub operands: Vec<u32>,
    /// Index in the module of the instruction's first word.
    pub at: usize,
}

/// Workgroup size of an entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkgroupSize {
    /// Sizes in x, y and z. For a specialisation constant this is its default; for an
    /// `OpSpecConstantOp`, which is not evaluated here, it is 1.
    pub size: [u32; 3],
    /// The `SpecId` of the specialisation constant that gives each size.
    pub spec_ids: [Option<u32>; 3],
}

/// The execution modes of all entry points, and the constant that overrides their workgroup sizes.
#[derive(Debug)]
pub struct Modes {
    by_function: FastMap<u32, Vec<ExecutionModeUse>>,
    /// The constant decorated `WorkgroupSize`.
    size: Option<InstructionIndex>,
}

impl Modes {
    /// Collects the modes of a module.
    pub fn new(module: &Module) -> Modes {
        let mut by_function: FastMap<u32, Vec<ExecutionModeUse>> = FastMap::default();
        for instruction in module.section(Section::ExecutionModes) {
            let [function, mode, operands @ ..] = instruction.operands() else { continue };
            by_function.entry(*function).or_default().push(ExecutionModeUse {
                mode: ExecutionMode::from_word(*mode),
                operands: operands.to_vec(),
                at: instruction.at,
            });
        }
        let decorated = module.all_decorations().filter(|(_, d)| {
            let size = d.operands.first() == Some(&BuiltIn::WorkgroupSize.word());
            size && d.decoration == Some(Decoration::BuiltIn) && d.member.is_none()
        });
        let constants = decorated.filter_map(|(target, _)| module.definition_of(target)).filter(is_constant);
        Modes { by_function, size: constants.map(|constant| constant.index).max() }
    }

    /// Returns the modes of one entry point, by the raw id of its function.
    pub fn of(&self, function: u32) -> &[ExecutionModeUse] {
        self.by_function.get(&function).map_or(&[], Vec::as_slice)
    }

    /// Returns the workgroup size of an entry point. A constant decorated `WorkgroupSize` takes
    /// precedence over execution modes.
    pub fn workgroup_size(&self, module: &Module, function: u32) -> Option<WorkgroupSize> {
        if let Some(constant) = self.size {
            let constant = module.instruction(constant);
            // The operands of an `OpSpecConstantOp` are not the sizes.
            let parts = if constant.op == Some(Op::SpecConstantOp) { &[][..] } else { constant.operands() };
            return Some(of_ids(module, parts));
        }
        self.of(function).iter().find_map(|mode| match (mode.mode, &mode.operands[..]) {
            (Some(ExecutionMode::LocalSize), [x, y, z]) => {
                Some(WorkgroupSize { size: [*x, *y, *z], spec_ids: [None; 3] })
            }
            (Some(ExecutionMode::LocalSizeId), ids @ [_, _, _]) => Some(of_ids(module, ids)),
            _ => None,
        })
    }
}

fn is_constant(constant: &Instruction) -> bool {
    matches!(constant.op, Some(Op::ConstantComposite | Op::SpecConstantComposite | Op::SpecConstantOp))
}

fn of_ids(module: &Module, ids: &[u32]) -> WorkgroupSize {
    let mut found = WorkgroupSize { size: [1; 3], spec_ids: [None; 3] };
    for (i, id) in ids.iter().take(3).enumerate() {
        found.size[i] = module.constant_int(*id).and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
        found.spec_ids[i] = spec_id(module, *id);
    }
    found
}
