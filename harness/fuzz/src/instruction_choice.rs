//! Instructions of a module by chance, and how a description names them.

use assay_spirv::Module;
use assay_spirv::module::{Instruction, InstructionIndex};
use fastrand::Rng;

/// Returns a random one of the instructions of functions of which `is` holds.
pub(crate) fn chosen_instruction<'a>(
    module: &'a Module,
    rng: &mut Rng,
    is: impl Fn(&Instruction<'a>) -> bool,
) -> Option<Instruction<'a>> {
    let all: Vec<Instruction<'a>> = module
        .functions()
        .iter()
        .flat_map(|function| module.instructions_in(function.instructions.clone()))
        .filter(is)
        .collect();
    rng.choice(all)
}

/// Returns the result of an instruction with its name.
pub(crate) fn id_text(one: &Instruction<'_>) -> String {
    let InstructionIndex(index) = one.index;
    one.result().map_or_else(|| format!("instruction {index}, {}", one.name()), |id| format!("%{id}, {}", one.name()))
}
