//! Registers whose values live from one block to another.
//!
//! A lane that takes both ways of an undecided branch continues as two lanes, which are joined
//! later. Only these registers have to be copied and joined: by the rules of dominance, a register
//! that occurs in one block alone is written there before it is read. Registers that are written
//! outside blocks (variables, built-ins, parameters) and those of blocks with calls, in which
//! branches of the callee fork lanes, count as carried.

use super::verify::spans;
use crate::control_flow::{Edge, End};
use crate::float_op::FloatOp;
use crate::inst::{Inst, Reg};
use crate::program::Program;

/// Occurrences of a register so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Occurrence {
    None,
    /// In the block with this number, over all functions.
    In(usize),
    Carried,
}

/// Returns the carried registers of a program, in ascending order.
pub(crate) fn carried_registers(program: &Program) -> Vec<Reg> {
    let mut occurrences = Occurrences(vec![Occurrence::None; program.kinds.len()]);
    for &(first, n) in &program.locals {
        occurrences.carry(first, u64::from(n));
    }
    for &(_, first, n) in &program.builtins {
        occurrences.carry(first, u64::from(n));
    }
    for inst in &program.fresh {
        occurrences.carry_all(inst, &program.float_ops);
    }
    for parameter in program.parameters.iter().flatten() {
        let n = parameter.leaves.as_ref().map_or(1, Vec::len);
        occurrences.carry(parameter.reg, n as u64);
    }
    let blocks =
        program.functions.iter().flat_map(|function| function.blocks.iter().map(move |block| (function, block)));
    for (number, (function, block)) in blocks.enumerate() {
        let code = &program.code[block.code.start as usize..block.code.end as usize];
        let calls = code.iter().any(|inst| matches!(inst, Inst::Call { .. }));
        for inst in code {
            if calls {
                occurrences.carry_all(inst, &program.float_ops);
                continue;
            }
            for (first, n) in spans(inst, &program.float_ops) {
                occurrences.occur(first, n, number);
            }
        }
        match &block.end {
            End::Jump(edge) => occurrences.carry_phis(edge),
            End::If { condition, then, other } => {
                occurrences.carry(condition.reg, 1);
                occurrences.carry_phis(then);
                occurrences.carry_phis(other);
            }
            End::Switch { selector, edges, .. } => {
                occurrences.carry(selector.reg, 1);
                edges.iter().for_each(|edge| occurrences.carry_phis(edge));
            }
            End::Return { value } => {
                let n = u64::from(function.result_scalars);
                occurrences.carry(function.result, n);
                value.iter().for_each(|value| occurrences.carry(*value, n));
            }
            End::Unreachable => {}
        }
    }
    let carried = occurrences.0.iter().enumerate().filter(|(_, occurrence)| **occurrence == Occurrence::Carried);
    carried.map(|(reg, _)| reg as Reg).collect()
}

/// Occurrences by register.
struct Occurrences(Vec<Occurrence>);

impl Occurrences {
    fn range(&mut self, first: Reg, n: u64) -> &mut [Occurrence] {
        &mut self.0[first as usize..first as usize + n as usize]
    }

    fn carry(&mut self, first: Reg, n: u64) {
        self.range(first, n).fill(Occurrence::Carried);
    }

    fn carry_all(&mut self, inst: &Inst, float_ops: &[FloatOp]) {
        spans(inst, float_ops).into_iter().for_each(|(first, n)| self.carry(first, n));
    }

    fn carry_phis(&mut self, edge: &Edge) {
        for &(dst, src, n) in &edge.phis {
            self.carry(dst, u64::from(n));
            self.carry(src, u64::from(n));
        }
    }

    fn occur(&mut self, first: Reg, n: u64, block: usize) {
        for occurrence in self.range(first, n) {
            *occurrence = match *occurrence {
                Occurrence::None => Occurrence::In(block),
                Occurrence::In(known) if known == block => continue,
                Occurrence::In(_) | Occurrence::Carried => Occurrence::Carried,
            };
        }
    }
}
