//! Live registers: those that may still be read (backward data-flow analysis; Aho, Lam, Sethi and
//! Ullman, "Compilers", 9.2.5). Lanes are forked and joined in live registers only.
//!
//! A variable to which the program makes a pointer lives as long as its function.

use super::verify::{read, written};
use crate::control_flow::{End, LiveRegisters};
use crate::inst::{Inst, Reg};
use crate::program::Program;
use crate::ty::Kind;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Largest size of the sets of a function in bits: blocks times registers. In a larger one, all of
/// its registers count as live.
const BITS: usize = 1 << 27;

/// Largest number of live registers of a function, summed over its blocks.
const LISTED: usize = 1 << 24;

/// Finds the live registers of each block of each function, given those that live from one block to
/// another in one function alone.
pub(super) fn live_registers(program: &Program, carried: &[Vec<Reg>]) -> Vec<Vec<LiveRegisters>> {
    let escaped = escaped(program);
    (0..program.functions.len()).map(|function| of_function(program, function, &carried[function], &escaped)).collect()
}

/// Registers of the variables to which the program makes a pointer.
fn escaped(program: &Program) -> BTreeSet<Reg> {
    // Pointers to variables and their parts are constants.
    let is_pointer = |reg: Reg| program.kinds[reg as usize] == Kind::Pointer;
    let places: BTreeMap<Reg, u64> = program
        .setup
        .iter()
        .filter_map(|inst| match inst {
            Inst::Set { dst, bits } if bits.len() == 1 && is_pointer(*dst) => Some((*dst, bits[0])),
            _ => None,
        })
        .collect();
    let ends = program.functions.iter().flat_map(|function| &function.blocks).map(|block| &block.end);
    let phis = ends.clone().flat_map(End::edges).flat_map(|edge| &edge.phis).map(|(_, src, n)| (*src, u64::from(*n)));
    let returned =
        ends.filter_map(|end| if let End::Return { value: Some(value) } = end { Some((*value, 1)) } else { None });
    let code = program.setup.iter().chain(&program.fresh).chain(&program.code);
    let reads = code.flat_map(|inst| read(inst, &program.float_ops)).chain(phis).chain(returned);
    let used =
        reads.flat_map(|(first, n)| places.range(first..first.saturating_add(n as Reg))).map(|(_, place)| *place);
    let used: BTreeSet<u64> = used.collect();
    let has_pointer = |(first, n): &&(Reg, u32)| used.range(u64::from(*first)..u64::from(first + n)).next().is_some();
    program.locals.iter().filter(has_pointer).flat_map(|(first, n)| *first..first + n).collect()
}

fn of_function(program: &Program, number: usize, carried: &[Reg], escaped: &BTreeSet<Reg>) -> Vec<LiveRegisters> {
    let blocks = &program.functions[number].blocks;
    let everything = || {
        let all: Arc<[Reg]> = carried.into();
        vec![LiveRegisters { entry: all.clone(), exit: all.clone(), calls: all }; blocks.len()]
    };
    if blocks.len().saturating_mul(carried.len()) > BITS {
        return everything();
    }
    let registers = Registers { carried };
    let always = registers.set(escaped.iter().map(|reg| (*reg, 1)));
    let mut entries = vec![always.clone(); blocks.len()];
    let exit = |entries: &[Set], block: usize| {
        let mut live = always.clone();
        for edge in blocks[block].end.edges() {
            let mut needed = entries[edge.block as usize].clone();
            edge.phis.iter().for_each(|(dst, _, n)| registers.remove(&mut needed, (*dst, u64::from(*n))));
            edge.phis.iter().for_each(|(_, src, n)| registers.insert(&mut needed, (*src, u64::from(*n))));
            live.add(&needed);
        }
        if let End::Return { value: Some(value) } = &blocks[block].end {
            registers.insert(&mut live, (*value, u64::from(program.functions[number].result_scalars)));
        }
        live
    };
    // The live registers before a block, and those after any of its calls.
    let before = |mut live: Set, block: usize| {
        let mut calls = None::<Set>;
        match &blocks[block].end {
            End::If { condition: decider, .. } | End::Switch { selector: decider, .. } => {
                registers.insert(&mut live, (decider.reg, 1));
            }
            End::Jump(_) | End::Return { .. } | End::Unreachable => {}
        }
        for at in blocks[block].code.clone().rev() {
            let inst = &program.code[at as usize];
            if matches!(inst, Inst::Call { .. }) {
                calls.get_or_insert_with(|| always.clone()).add(&live);
            }
            written(inst, &program.float_ops).into_iter().for_each(|span| registers.remove(&mut live, span));
            read(inst, &program.float_ops).into_iter().for_each(|span| registers.insert(&mut live, span));
        }
        live.add(&always);
        (live, calls)
    };
    let mut changed = true;
    while changed {
        changed = false;
        for block in (0..blocks.len()).rev() {
            let (live, _) = before(exit(&entries, block), block);
            changed |= live != entries[block];
            entries[block] = live;
        }
    }
    let mut listed = 0;
    let mut found = Vec::new();
    for block in 0..blocks.len() {
        let exit = exit(&entries, block);
        let (_, calls) = before(exit.clone(), block);
        let live = LiveRegisters {
            entry: registers.list(&entries[block]),
            exit: registers.list(&exit),
            calls: calls.map_or_else(|| [].into(), |calls| registers.list(&calls)),
        };
        listed += live.entry.len() + live.exit.len() + live.calls.len();
        if listed > LISTED {
            return everything();
        }
        found.push(live);
    }
    found
}

/// A set of the carried registers of a function, by their index among these.
#[derive(Clone, PartialEq, Eq)]
struct Set(Vec<u64>);

impl Set {
    fn add(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(here, there)| *here |= there);
    }
}

/// The carried registers of a function, ascending.
struct Registers<'a> {
    carried: &'a [Reg],
}

impl Registers<'_> {
    fn set(&self, spans: impl Iterator<Item = (Reg, u64)>) -> Set {
        let mut set = Set(vec![0; self.carried.len().div_ceil(64)]);
        spans.for_each(|span| self.insert(&mut set, span));
        set
    }

    /// The indices of those registers of a span that are carried.
    fn indices(&self, (first, n): (Reg, u64)) -> std::ops::Range<usize> {
        let index = |reg: u64| self.carried.partition_point(|carried| u64::from(*carried) < reg);
        index(u64::from(first))..index(u64::from(first).saturating_add(n))
    }

    fn insert(&self, set: &mut Set, span: (Reg, u64)) {
        self.indices(span).for_each(|at| set.0[at / 64] |= 1 << (at % 64));
    }

    fn remove(&self, set: &mut Set, span: (Reg, u64)) {
        self.indices(span).for_each(|at| set.0[at / 64] &= !(1 << (at % 64)));
    }

    fn list(&self, set: &Set) -> Arc<[Reg]> {
        let carried = self.carried.iter().enumerate();
        carried.filter(|(at, _)| set.0[at / 64] >> (at % 64) & 1 == 1).map(|(_, reg)| *reg).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SpecValues;

    /// `a` is last read before the second branch, `b` after it; `c` is indexed, so a pointer leads to it.
    #[test]
    fn variables_live_until_their_last_read_or_behind_a_pointer() {
        let module = assay_testkit::wgsl(
            "@group(0) @binding(0) var<storage, read_write> d: array<u32, 8>;
            @compute @workgroup_size(1) fn main() {
                var a: u32; var b: u32; var c: array<u32, 4>;
                a = d[0]; b = d[1]; c[d[2]] = 3u;
                if a > 4u { d[3] = a; }
                if d[4] > 1u { d[5] = 7u; }
                d[6] = b;
            }",
        );
        let program = Program::new(&module, "main", &SpecValues::new()).unwrap();
        let [(a, 1), (b, 1), (c, 4)] = program.locals[..] else { panic!("{:?}", program.locals) };
        let blocks = &program.functions[program.entry as usize].blocks;
        let lives = |block: usize, reg: Reg| {
            [&blocks[block].live.entry, &blocks[block].live.exit].map(|set| set.contains(&reg))
        };
        let last = blocks.len() - 1;
        // naga initialises variables in a block of their own, and the body writes both first.
        assert_eq!([lives(0, a), lives(0, b)], [[false, false], [false, false]]);
        assert_eq!([lives(1, a), lives(1, b)], [[false, true], [false, true]]);
        assert_eq!([lives(last, a), lives(last, b)], [[false, false], [true, false]]);
        assert!((0..blocks.len()).all(|block| (c..c + 4).all(|reg| lives(block, reg) == [true, true])));
        assert!(blocks.iter().all(|block| block.live.calls.is_empty()));
    }
}
