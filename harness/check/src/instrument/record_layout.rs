//! Layout of the record buffer: the rows of each invocation, and the code that finds them.
//!
//! The rows of an invocation form a ring; see [`super`] for the layout.

use super::emit::{EmittedWord, invocation_offset};
use crate::DispatchSetup;
use crate::repeated_blocks::repeated_blocks;
use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::{BlockIndex, Function, Instruction, InstructionIndex};
use assay_spirv::reflect::EntryPointUses;
use assay_spirv::tables::{Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of rows of an invocation.
const MAX_ROWS: u32 = 64;

/// Largest size of all rings together in bytes, if an invocation has several rows.
const MAX_RING_BYTES: u64 = 1 << 25;

/// Layout of the records of a dispatch.
#[derive(Clone, Debug)]
pub(super) struct RecordLayout {
    /// Rows of an invocation: a power of two.
    pub(super) rows_each: u32,
    /// Words of a row.
    pub(super) stride: u32,
    /// Invocations of the dispatch.
    pub(super) invocations: u64,
    /// Blocks that an invocation may execute more than once.
    repeated: BTreeSet<BlockIndex>,
}

/// Ids of the words by which inserted code finds its row.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordPosition {
    /// Index of the first word of the invocation's first row.
    pub(super) base: u32,
    /// Index of the first word of the row of this execution.
    pub(super) row: u32,
    /// Time of this execution in the invocation: positive and increasing.
    pub(super) time: u32,
}

impl RecordLayout {
    /// Chooses the number of rows with `stride` words each.
    pub(super) fn find(module: &Module, usage: &EntryPointUses, invocations: u64, stride: u32) -> RecordLayout {
        let repeated = repeated_blocks(module, usage);
        let row = invocations.saturating_mul(u64::from(stride) * 4).max(1);
        let most = if repeated.is_empty() { 1 } else { u64::from(MAX_ROWS).min(MAX_RING_BYTES / row).max(1) };
        RecordLayout { rows_each: 1 << most.ilog2(), stride, invocations, repeated }
    }

    /// Returns the number of rows of the dispatch.
    pub(super) fn count(&self) -> u64 {
        self.invocations.saturating_mul(self.rows_each.into())
    }

    /// Returns the size of the record buffer in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.count().saturating_mul(u64::from(self.stride) * 4)
    }

    /// Returns the rows of an invocation.
    pub(super) fn of_invocation(&self, invocation: u64) -> std::ops::Range<u64> {
        let rows_each = u64::from(self.rows_each);
        invocation * rows_each..(invocation + 1) * rows_each
    }

    /// Returns the invocation that a row belongs to.
    pub(super) fn invocation(&self, row: u64) -> u64 {
        row / u64::from(self.rows_each)
    }

    /// Returns whether records of an instruction may have been overwritten, given that all rows of
    /// an invocation have one.
    pub(super) fn may_be_lost(&self, module: &Module, at: InstructionIndex) -> bool {
        block_at(module, at).is_none_or(|block| self.repeated.contains(&block))
    }

    /// Inserts code that finds the current row into each block with an instruction in `recording`
    /// (word offsets). Returns the position of each of these instructions.
    pub(super) fn locate(
        &self,
        editor: &mut Editor<'_>,
        setup: &DispatchSetup,
        entry: &Function,
        recording: &BTreeSet<usize>,
    ) -> Option<RecordPositions> {
        let module = editor.module();
        let uint = editor.uint(32);
        let private = editor.pointer(StorageClass::Private, uint);
        let [base, clock] = std::array::from_fn(|_| editor.variable(private, StorageClass::Private));
        let mut found =
            RecordPositions { positions: BTreeMap::new(), inputs: Vec::new(), variables: vec![base, clock] };
        let (EmittedWord { code, result }, inputs) = invocation_offset(editor, setup, self.stride * self.rows_each);
        found.inputs = inputs;
        let zero = editor.constant(uint, 32, 0);
        let mut first = code;
        first.extend(instruction(Op::Store, &[base, result]));
        first.extend(instruction(Op::Store, &[clock, zero]));
        let blocks: BTreeSet<BlockIndex> =
            recording.iter().filter_map(|at| block_at(module, module.instruction_at(*at)?.index)).collect();
        let counters: BTreeMap<BlockIndex, u32> = blocks
            .iter()
            .filter(|block| self.rows_each > 1 && self.repeated.contains(block))
            .map(|block| (*block, editor.variable(private, StorageClass::Private)))
            .collect();
        for counter in counters.values() {
            first.extend(instruction(Op::Store, &[*counter, zero]));
        }
        found.variables.extend(counters.values());
        editor.insert_after(insertion_point(module, BlockIndex(entry.blocks.start))?.at, &first);
        for block in blocks {
            let place = insertion_point(module, block)?;
            let (from, mut code) = (editor.id(), Vec::new());
            code.extend(instruction(Op::Load, &[uint, from, base]));
            let row = match counters.get(&block) {
                Some(&counter) => self.next_row(editor, &mut code, from, counter),
                None => from,
            };
            let mut here = RecordPosition { base: from, row, time: increment(editor, &mut code, clock) };
            editor.insert_after(place.at, &code);
            found.positions.insert(place.at, here);
            for i in module.instructions_in(module.block(block).instructions.clone()) {
                if i.op == Some(Op::FunctionCall) {
                    // The called function has advanced the clock.
                    let mut code = Vec::new();
                    here.time = increment(editor, &mut code, clock);
                    editor.insert_after(i.at, &code);
                }
                if recording.contains(&i.at) {
                    found.positions.insert(i.at, here);
                }
            }
        }
        Some(found)
    }

    /// Emits code that finds the row of the next execution by a counter, and increments the
    /// counter.
    fn next_row(&self, editor: &mut Editor<'_>, code: &mut Vec<u32>, base: u32, counter: u32) -> u32 {
        let uint = editor.uint(32);
        let mut constant = |number: u32| editor.constant(uint, 32, number.into());
        let (one, mask, stride) = (constant(1), constant(self.rows_each - 1), constant(self.stride));
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

/// Positions for probes, and the variables that finding them takes.
pub(super) struct RecordPositions {
    /// Positions by the word offset of the instruction.
    pub(super) positions: BTreeMap<usize, RecordPosition>,
    /// Input variables that the inserted code reads.
    pub(super) inputs: Vec<u32>,
    /// Other variables of the inserted code.
    pub(super) variables: Vec<u32>,
}

/// Emits code that adds one to a private variable; returns the id of the new value.
pub(super) fn increment(editor: &mut Editor<'_>, code: &mut Vec<u32>, clock: u32) -> u32 {
    let uint = editor.uint(32);
    let one = editor.constant(uint, 32, 1);
    let [before, now] = [editor.id(), editor.id()];
    code.extend(instruction(Op::Load, &[uint, before, clock]));
    code.extend(instruction(Op::IAdd, &[uint, now, before, one]));
    code.extend(instruction(Op::Store, &[clock, now]));
    now
}

/// Returns the block that contains an instruction.
fn block_at(module: &Module, at: InstructionIndex) -> Option<BlockIndex> {
    let blocks = module.function_at(at)?.blocks.clone();
    let mut inside = blocks.map(BlockIndex);
    inside.find(|block| module.block(*block).instructions.contains(&at.0))
}

/// Returns the instruction after which code can be inserted into a block: its label, or the last
/// `OpPhi` or `OpVariable`.
pub(super) fn insertion_point(module: &Module, block: BlockIndex) -> Option<Instruction<'_>> {
    let first = |i: &Instruction<'_>| matches!(i.op, Some(Op::Label | Op::Phi | Op::Variable));
    let before = |i: &Instruction<'_>| first(i) || matches!(i.op, Some(Op::Line | Op::NoLine));
    module.instructions_in(module.block(block).instructions.clone()).take_while(before).filter(first).last()
}
