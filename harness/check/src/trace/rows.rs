//! Where executions are recorded: each invocation has rows of words, of which a block that it executes more than once takes one after the
//! other, and the first again after the last. So the last executions of each block are there.

use super::code::{Computed, position};
use crate::Setup;
use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::{BlockIndex, ConstructKind, Function, Index, Instruction};
use assay_spirv::reflect::Usage;
use assay_spirv::tables::{Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Rows of an invocation, at most.
const MOST_ROWS: u32 = 64;

/// Bytes that all rows together may take where there are several.
const SEVERAL: u64 = 1 << 25;

/// The rows of a dispatch.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// Rows of an invocation: a power of two.
    pub(super) each: u32,
    /// Words of a row.
    pub(super) stride: u32,
    /// Invocations of the dispatch.
    pub(super) invocations: u64,
    /// Blocks that an invocation may execute more than once.
    repeated: BTreeSet<BlockIndex>,
}

/// What code at some place knows of where it records: ids of words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here {
    /// The first word of the invocation's first row.
    pub(super) base: u32,
    /// The first word of the row of this execution.
    pub(super) row: u32,
    /// When that is, in the invocation: later is greater, and none is 0.
    pub(super) time: u32,
}

impl Rows {
    /// Room for rows of `stride` words.
    pub(super) fn find(module: &Module, usage: &Usage, invocations: u64, stride: u32) -> Rows {
        let repeated = repeated(module, usage);
        let row = invocations.saturating_mul(u64::from(stride) * 4).max(1);
        let most = if repeated.is_empty() { 1 } else { u64::from(MOST_ROWS).min(SEVERAL / row).max(1) };
        Rows { each: 1 << most.ilog2(), stride, invocations, repeated }
    }

    /// Rows of the dispatch.
    pub(super) fn count(&self) -> u64 {
        self.invocations.saturating_mul(self.each.into())
    }

    /// Their bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.count().saturating_mul(u64::from(self.stride) * 4)
    }

    /// The rows of an invocation.
    pub(super) fn of(&self, invocation: u64) -> std::ops::Range<u64> {
        let each = u64::from(self.each);
        invocation * each..(invocation + 1) * each
    }

    /// The invocation that a row is of.
    pub(super) fn invocation(&self, row: u64) -> u64 {
        row / u64::from(self.each)
    }

    /// Whether rows of what stands there may be lost, given that each row of an invocation has one.
    pub(super) fn may_be_lost(&self, module: &Module, at: Index) -> bool {
        block_at(module, at).is_none_or(|block| self.repeated.contains(&block))
    }

    /// Puts code into the blocks of all these instructions (by their first words) that finds their rows, and says what it is known by behind
    /// each. And the input variables and others that it needs.
    pub(super) fn lead(
        &self,
        editor: &mut Editor<'_>,
        setup: &Setup,
        entry: &Function,
        recording: &BTreeSet<usize>,
    ) -> Option<Led> {
        let module = editor.module();
        let uint = editor.uint(32);
        let private = editor.pointer(StorageClass::Private, uint);
        let [base, clock] = std::array::from_fn(|_| editor.variable(private, StorageClass::Private));
        let mut led = Led { places: BTreeMap::new(), inputs: Vec::new(), others: vec![base, clock] };
        let (Computed { code, result }, inputs) = position(editor, setup, self.stride * self.each);
        led.inputs = inputs;
        let zero = editor.constant(uint, 32, 0);
        let mut first = code;
        first.extend(instruction(Op::Store, &[base, result]));
        first.extend(instruction(Op::Store, &[clock, zero]));
        let blocks: BTreeSet<BlockIndex> =
            recording.iter().filter_map(|at| block_at(module, module.instruction_at(*at)?.index)).collect();
        let counters: BTreeMap<BlockIndex, u32> = blocks
            .iter()
            .filter(|block| self.each > 1 && self.repeated.contains(block))
            .map(|block| (*block, editor.variable(private, StorageClass::Private)))
            .collect();
        for counter in counters.values() {
            first.extend(instruction(Op::Store, &[*counter, zero]));
        }
        led.others.extend(counters.values());
        editor.after(start(module, BlockIndex(entry.blocks.start))?.at, &first);
        for block in blocks {
            let place = start(module, block)?;
            let (from, mut code) = (editor.id(), Vec::new());
            code.extend(instruction(Op::Load, &[uint, from, base]));
            let row = match counters.get(&block) {
                Some(&counter) => self.next_row(editor, &mut code, from, counter),
                None => from,
            };
            let mut here = Here { base: from, row, time: tick(editor, &mut code, clock) };
            editor.after(place.at, &code);
            led.places.insert(place.at, here);
            for i in module.instructions_in(module.block(block).instructions.clone()) {
                if i.op == Some(Op::FunctionCall) {
                    // What was called has moved the clock.
                    let mut code = Vec::new();
                    here.time = tick(editor, &mut code, clock);
                    editor.after(i.at, &code);
                }
                if recording.contains(&i.at) {
                    led.places.insert(i.at, here);
                }
            }
        }
        Some(led)
    }

    /// Code for the row of the next execution, which a counter of them says.
    fn next_row(&self, editor: &mut Editor<'_>, code: &mut Vec<u32>, base: u32, counter: u32) -> u32 {
        let uint = editor.uint(32);
        let mut constant = |number: u32| editor.constant(uint, 32, number.into());
        let (one, mask, stride) = (constant(1), constant(self.each - 1), constant(self.stride));
        let [before, number, offset, row, next] = std::array::from_fn(|_| editor.id());
        code.extend(instruction(Op::Load, &[uint, before, counter]));
        code.extend(instruction(Op::BitwiseAnd, &[uint, number, before, mask]));
        code.extend(instruction(Op::IMul, &[uint, offset, number, stride]));
        code.extend(instruction(Op::IAdd, &[uint, row, base, offset]));
        code.extend(instruction(Op::IAdd, &[uint, next, before, one]));
        code.extend(instruction(Op::Store, &[counter, next]));
        row
    }
}

/// What code that records is told.
pub(super) struct Led {
    /// By the first words of instructions.
    pub(super) places: BTreeMap<usize, Here>,
    /// Input variables.
    pub(super) inputs: Vec<u32>,
    /// Other variables.
    pub(super) others: Vec<u32>,
}

/// Code that adds one to a variable of an invocation; the id of what it is then.
pub(super) fn tick(editor: &mut Editor<'_>, code: &mut Vec<u32>, clock: u32) -> u32 {
    let uint = editor.uint(32);
    let one = editor.constant(uint, 32, 1);
    let [before, now] = [editor.id(), editor.id()];
    code.extend(instruction(Op::Load, &[uint, before, clock]));
    code.extend(instruction(Op::IAdd, &[uint, now, before, one]));
    code.extend(instruction(Op::Store, &[clock, now]));
    now
}

/// The block that an instruction stands in.
fn block_at(module: &Module, at: Index) -> Option<BlockIndex> {
    let blocks = module.function_at(at)?.blocks.clone();
    let mut inside = blocks.map(BlockIndex);
    inside.find(|block| module.block(*block).instructions.contains(&at.0))
}

/// What new code of a block stands behind: its label, or the last of what must come first.
pub(super) fn start(module: &Module, block: BlockIndex) -> Option<Instruction<'_>> {
    let first = |i: &Instruction<'_>| matches!(i.op, Some(Op::Label | Op::Phi | Op::Variable));
    let before = |i: &Instruction<'_>| first(i) || matches!(i.op, Some(Op::Line | Op::NoLine));
    module.instructions_in(module.block(block).instructions.clone()).take_while(before).filter(first).last()
}

/// The blocks of an entry point's functions that an invocation may execute more than once.
fn repeated(module: &Module, usage: &Usage) -> BTreeSet<BlockIndex> {
    let functions = || usage.functions.iter().filter_map(|f| module.functions().get(*f));
    let mut repeated: BTreeSet<BlockIndex> = BTreeSet::new();
    for function in functions() {
        let flow = module.flow(function);
        let in_loop = |block: &BlockIndex| {
            let mut around = flow.innermost(*block);
            while let Some(construct) = around.and_then(|at| flow.constructs().get(at)) {
                if construct.kind == ConstructKind::Loop {
                    return true;
                }
                around = construct.parent;
            }
            false
        };
        repeated.extend(function.blocks.clone().map(BlockIndex).filter(in_loop));
    }
    // What is called more than once, or by what is executed more than once, is itself: until nothing is added.
    loop {
        let mut calls: BTreeMap<u32, usize> = BTreeMap::new();
        for block in functions().flat_map(|f| f.blocks.clone()).map(BlockIndex) {
            let calling = |i: &Instruction<'_>| i.op == Some(Op::FunctionCall);
            for i in module.instructions_in(module.block(block).instructions.clone()).filter(calling) {
                let count = calls.entry(i.operand(0).unwrap_or(0)).or_default();
                *count += if repeated.contains(&block) { 2 } else { 1 };
            }
        }
        let before = repeated.len();
        let often = functions().filter(|f| calls.get(&f.id).is_some_and(|count| *count > 1));
        repeated.extend(often.flat_map(|f| f.blocks.clone()).map(BlockIndex));
        if repeated.len() == before {
            return repeated;
        }
    }
}
