//! Sparse conditional constant propagation (Wegman and Zadeck, "Constant Propagation with Conditional
//! Branches", 1991) over small sets in place of constants.
//!
//! All stores to a variable count at all loads, and all calls of a function at each of them. A
//! compiler passes a constant argument in a variable of the caller by a pointer, which takes the
//! variables of several calls.

use super::verify::written;
use crate::control_flow::End;
use crate::inst::{Inst, Reg};
use crate::possible_values::{Possible, PossibleValues, VALUES};
use crate::program::Program;
use crate::ty::mask;

/// Largest number of passes over the code. Each adds a value somewhere; few programs take ten.
const PASSES: usize = 64;

/// Finds the possible bits of the registers of a program: all, apart from constants, if that takes too
/// many passes.
pub(super) fn possible_values(program: &Program) -> PossibleValues {
    let registers = program.kinds.len();
    let mut propagation = Propagation { program, found: PossibleValues::none(registers) };
    let parameters = program.parameters.iter().flatten();
    let parameters = parameters.map(|p| (p.reg, p.leaves.as_ref().map_or(1, Vec::len) as u64));
    let builtins = program.builtins.iter().map(|(_, reg, n)| (*reg, u64::from(*n)));
    for (first, n) in builtins.chain(parameters) {
        propagation.found.add_anything(first, n);
    }
    for inst in &program.setup {
        propagation.execute(inst);
    }
    propagation.found.set_constants(&program.constants);
    for inst in &program.fresh {
        propagation.execute(inst);
    }
    for _ in 0..PASSES {
        if !propagation.pass() {
            return propagation.found;
        }
    }
    PossibleValues::of_constants(registers, &program.constants)
}

struct Propagation<'a> {
    program: &'a Program,
    found: PossibleValues,
}

impl Propagation<'_> {
    /// Executes all blocks that can be reached. Returns whether a register got a value.
    fn pass(&mut self) -> bool {
        let program = self.program;
        let mut changed = false;
        for number in program.reachable_blocks(&self.found) {
            let function = &program.functions[number.function as usize];
            let block = &function.blocks[number.block as usize];
            for inst in &program.code[block.code.start as usize..block.code.end as usize] {
                changed |= self.execute(inst);
            }
            if let End::Return { value: Some(value) } = &block.end {
                changed |= self.copy(function.result, *value, function.result_scalars);
            }
            for (dst, src, n) in block.end.edges().into_iter().flat_map(|edge| &edge.phis) {
                changed |= self.copy(*dst, *src, *n);
            }
        }
        changed
    }

    /// Adds the results of an instruction. Returns whether that changes anything.
    fn execute(&mut self, inst: &Inst) -> bool {
        let program = self.program;
        let mut changed = false;
        match inst {
            Inst::Set { dst, bits } => {
                bits.iter().zip(*dst..).for_each(|(bits, reg)| changed |= self.found.add(reg, *bits));
            }
            Inst::Copy { dst, src, n, .. } => changed |= self.copy(*dst, *src, *n),
            Inst::Select { dst, a, b, n, .. } => changed |= self.copy(*dst, *a, *n) | self.copy(*dst, *b, *n),
            Inst::Call { args, .. } => {
                args.iter().for_each(|(dst, src, n)| changed |= self.copy(*dst, *src, *n));
            }
            // A value that was never written is none.
            Inst::Undef { .. } => {}
            Inst::LocalLoad { dst, pointer, n } => match self.found.get(u64::from(*pointer)) {
                Possible::OneOf(places) => {
                    places.iter().for_each(|place| changed |= self.found.copy(u64::from(*dst), *place, *n));
                }
                Possible::Anything => changed |= self.found.add_anything(*dst, u64::from(*n)),
            },
            Inst::LocalStore { pointer, src, n } => match self.found.get(u64::from(*pointer)) {
                Possible::OneOf(places) => {
                    places.iter().for_each(|place| changed |= self.found.copy(*place, u64::from(*src), *n));
                }
                Possible::Anything => {
                    let locals = program.locals.iter();
                    locals.for_each(|(first, n)| changed |= self.found.add_anything(*first, u64::from(*n)));
                }
            },
            Inst::Int { op, width, out, n, dst, args, scalar, relaxed: false } => {
                for i in 0..Reg::from(*n) {
                    let at = |k: usize| u64::from(args[k] + if scalar >> k & 1 == 1 { 0 } else { i });
                    let operands: Vec<Possible> = (0..op.arity()).map(|k| self.found.get(at(k))).collect();
                    let results = rows(&operands).and_then(|rows| {
                        let results = rows.into_iter().map(|row| op.eval(u32::from(*width), row, false));
                        results.collect::<Result<Vec<u64>, _>>().ok()
                    });
                    changed |= match results {
                        Some(results) => results.into_iter().fold(false, |changed, bits| {
                            self.found.add(dst + i, bits & mask(u32::from(*out))) | changed
                        }),
                        None => self.found.add_anything(dst + i, 1),
                    };
                }
            }
            other => {
                let made = written(other, &program.float_ops);
                made.into_iter().for_each(|(first, n)| changed |= self.found.add_anything(first, n));
            }
        }
        changed
    }

    fn copy(&mut self, dst: Reg, src: Reg, n: u32) -> bool {
        self.found.copy(u64::from(dst), u64::from(src), n)
    }
}

/// Returns the combinations of the values of operands; `None` if some operand may have any value, or
/// they are too many.
fn rows(operands: &[Possible]) -> Option<Vec<[u64; 4]>> {
    let mut rows = vec![[0; 4]];
    for (k, operand) in operands.iter().enumerate() {
        let Possible::OneOf(values) = operand else { return None };
        let with = |row: [u64; 4]| {
            values.iter().map(move |bits| {
                let mut row = row;
                row[k] = *bits;
                row
            })
        };
        rows = rows.into_iter().flat_map(with).collect();
        if rows.len() > VALUES * VALUES {
            return None;
        }
    }
    Some(rows)
}
