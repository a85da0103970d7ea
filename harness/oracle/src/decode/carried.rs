//! Registers whose values live from one block to another.
//!
//! A lane that takes both ways of an undecided branch continues as two lanes, which are joined
//! later. Only these registers have to be copied and joined: by the rules of dominance, a register
//! that occurs in one block alone is written there before it is read. Registers that are written
//! outside blocks (variables, built-ins, parameters) and those of blocks with calls, in which
//! branches of the callee fork lanes, count as carried.
//!
//! Registers that occur in one function alone are carried only while it is being called: a function
//! never calls itself, and its variables begin anew with each call.

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

/// Finds the carried registers of a program: those of [`Program::carried`], and of each function those
/// that it alone uses, ascending ([`super::liveness`]).
pub(crate) fn carried_registers(program: &Program) -> (Vec<Reg>, Vec<Vec<Reg>>) {
    let registers = program.kinds.len();
    let mut occurrences =
        Occurrences { of: vec![Occurrence::None; registers], users: vec![Users::None; registers], function: None };
    for inst in program.setup.iter().chain(&program.fresh) {
        spans(inst, &program.float_ops).into_iter().for_each(|(first, n)| occurrences.share(first, n));
    }
    for inst in &program.fresh {
        occurrences.carry_all(inst, &program.float_ops);
    }
    for &(_, first, n) in &program.builtins {
        occurrences.share(first, u64::from(n));
        occurrences.carry(first, u64::from(n));
    }
    for parameter in program.parameters.iter().flatten() {
        let n = parameter.leaves.as_ref().map_or(1, Vec::len);
        occurrences.share(parameter.reg, n as u64);
        occurrences.carry(parameter.reg, n as u64);
    }
    let blocks = program
        .functions
        .iter()
        .enumerate()
        .flat_map(|(at, function)| function.blocks.iter().map(move |block| (at, function, block)));
    for (number, (at, function, block)) in blocks.enumerate() {
        occurrences.function = Some(at);
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
    // Code may also reach variables through pointers, in any block.
    for &(first, n) in &program.locals {
        occurrences.of[first as usize..first as usize + n as usize].fill(Occurrence::Carried);
    }
    let (mut everywhere, mut by_function) = (Vec::new(), vec![Vec::new(); program.functions.len()]);
    let carried = occurrences.of.iter().enumerate().filter(|(_, occurrence)| **occurrence == Occurrence::Carried);
    for (reg, _) in carried {
        match occurrences.users[reg] {
            Users::One(function) => by_function[function].push(reg as Reg),
            Users::None | Users::Several => everywhere.push(reg as Reg),
        }
    }
    (everywhere, by_function)
}

/// The functions in which a register occurs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Users {
    None,
    /// The function with this number.
    One(usize),
    /// Several functions, or code outside of functions.
    Several,
}

/// Occurrences by register.
struct Occurrences {
    of: Vec<Occurrence>,
    users: Vec<Users>,
    /// The function whose code is being visited, if any.
    function: Option<usize>,
}

impl Occurrences {
    fn range(&mut self, first: Reg, n: u64) -> &mut [Occurrence] {
        let range = first as usize..first as usize + n as usize;
        if let Some(function) = self.function {
            for users in &mut self.users[range.clone()] {
                *users = match *users {
                    Users::None => Users::One(function),
                    Users::One(known) if known == function => Users::One(known),
                    Users::One(_) | Users::Several => Users::Several,
                };
            }
        }
        &mut self.of[range]
    }

    /// Notes that code outside of functions uses registers.
    fn share(&mut self, first: Reg, n: u64) {
        self.users[first as usize..first as usize + n as usize].fill(Users::Several);
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
