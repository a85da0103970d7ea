//! Accesses and divisions whose value is one alternative of a selection.

use assay_spirv::Module;
use assay_spirv::module::{Instruction, InstructionIndex};
use assay_spirv::tables::Op;

/// Returns whether the value of a load, or of a load through an access chain, or of an integer division
/// is used by selections alone. For `x < n ? a[x] : 0` in HLSL and `select(0, a[x], x < n)` in WGSL, compilers load `a[x]`
/// whatever `x` is.
pub(crate) fn is_only_selected(module: &Module, at: InstructionIndex) -> bool {
    let access = module.instruction(at);
    // The condition of a selection is no alternative.
    let is_use = |i: &Instruction<'_>, op| i.op == Some(op) && (op != Op::Select || i.operand(0) != access.result());
    let mut users =
        module.functions().iter().flat_map(|f| module.instructions_in(f.instructions.clone())).filter(|i| {
            let mut is_user = false;
            module.uses(*i, |id| is_user |= access.result() == Some(id));
            is_user
        });
    let Some(first) = users.next() else { return false };
    match access.op {
        Some(Op::Load | Op::SDiv | Op::UDiv | Op::SRem | Op::SMod | Op::UMod) => {
            is_use(&first, Op::Select) && users.all(|i| is_use(&i, Op::Select))
        }
        Some(Op::AccessChain | Op::InBoundsAccessChain) => {
            is_use(&first, Op::Load) && users.next().is_none() && is_only_selected(module, first.index)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alternative_of_a_selection_is_told_from_a_value_that_is_used() {
        let load = |used: &str| {
            let text = format!(
                "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
                @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {{
                    let loaded = data[i + 3u];
                    data[i] = {used};
                }}"
            );
            let module = Module::parse(crate::compile_wgsl(&text, "a.wgsl").unwrap()).unwrap();
            let chains = module.instructions().filter(|i| i.op == Some(Op::AccessChain)).map(|i| i.index);
            let loads = module.instructions().filter(|i| i.op == Some(Op::Load)).map(|i| i.index);
            chains.chain(loads).any(|at| is_only_selected(&module, at))
        };
        assert!(load("select(7u, loaded, i < 2u)"));
        assert!(!load("loaded"));
        assert!(!load("select(7u, loaded, i < 2u) + loaded"));
    }
}
