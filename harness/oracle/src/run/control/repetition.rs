//! Detection of loops that certainly never end.
//!
//! The interpreter is deterministic, so a workgroup never ends once a state repeats. No other order
//! of its invocations ends it either: without atomics, a loop that another invocation could end has a
//! data race. Cycles are found as by
//! Brent ("An improved Monte Carlo factorization algorithm", BIT 20, 1980): one state is saved, and
//! replaced each time that the number of executed blocks has doubled, until a later state equals it.
//!
//! A state is the block with its lanes, the lanes that wait at other blocks, all registers, and all
//! memory. The callers of the function do not change while it runs.
//!
//! # Limits
//!
//! Only states of exact bits are compared: not while an invocation has taken both sides of an
//! undecided branch, and not where a register is more than its bits. Shaders with atomics are left
//! out, because other invocations may change what a loop waits for, and so are those whose subgroup
//! operations depend on how invocations converged, which is part of their state. Such loops, and
//! those with too much memory to copy, end at the limits of [`Limits`](crate::Limits).

use crate::inst::Inst;
use crate::memory::Object;
use crate::program::Program;
use crate::run::Run;

/// Blocks that a workgroup executes before its states are compared.
const FIRST_COMPARED: u64 = 1 << 12;
/// Largest size of a saved state in bytes.
const MAX_STATE_BYTES: usize = 1 << 25;

/// Waiting lanes by block.
pub(super) type Waiting = [(u32, Vec<u32>)];

/// The saved state of a workgroup.
#[derive(Debug)]
struct SavedState {
    /// Number of the call that executes the block.
    call: u64,
    block: u32,
    lanes: Vec<u32>,
    waiting: Vec<(u32, Vec<u32>)>,
    registers: Vec<Box<[u64]>>,
    objects: Vec<Object>,
    /// The register that differed in the last comparison: it probably differs in the next one.
    differing: usize,
}

/// Search for a repeated state.
#[derive(Debug)]
pub(crate) struct Repetition {
    /// Set if a repeated state proves that the program does not end.
    applies: bool,
    /// Number of calls so far.
    calls: u64,
    saved: Option<SavedState>,
    /// Number of executed blocks from which another state is saved.
    save_at: u64,
    /// Only states of calls with smaller numbers are saved: those of the callers of a call that has
    /// ended. Otherwise each of many short calls would save the state again.
    save_below: u64,
}

impl Repetition {
    /// Creates the search for a program.
    pub(in crate::run) fn new(program: &Program) -> Repetition {
        let has_atomics = program.code.iter().any(|inst| matches!(inst, Inst::Atomic { .. }));
        let applies = !has_atomics && !program.tangled;
        Repetition { applies, calls: 0, saved: None, save_at: 0, save_below: u64::MAX }
    }

    /// Begins a call, and returns its number.
    pub(super) fn enter(&mut self) -> u64 {
        self.calls += 1;
        self.calls
    }

    /// Ends a call. A state inside it cannot repeat; one of its caller is saved instead.
    pub(super) fn leave(&mut self, call: u64) {
        if self.saved.as_ref().is_some_and(|saved| saved.call == call) {
            (self.saved, self.save_at, self.save_below) = (None, 0, call);
        }
    }

    /// Begins a workgroup.
    pub(in crate::run) fn begin_group(&mut self) {
        (self.saved, self.save_at, self.save_below) = (None, 0, u64::MAX);
    }
}

impl Run<'_> {
    /// Returns true if the workgroup was in its present state before: `lanes` execute a block, and
    /// others wait.
    pub(super) fn is_repetition(&mut self, (call, block): (u64, u32), lanes: &[u32], waiting: &Waiting) -> bool {
        if self.work.group.blocks < FIRST_COMPARED || !self.repetition.applies || self.forks.in_use > 0 {
            return false;
        }
        if let Some(saved) = &mut self.repetition.saved
            && (saved.call, saved.block) == (call, block)
        {
            let same = |at: usize| self.columns[at].is_plain() && self.columns[at].bits == saved.registers[at];
            if same(saved.differing) {
                match (0..self.columns.len()).find(|at| !same(*at)) {
                    Some(at) => saved.differing = at,
                    None if saved.lanes == lanes && saved.waiting == waiting && saved.objects == self.objects => {
                        return true;
                    }
                    None => {}
                }
            }
        }
        if self.work.group.blocks >= self.repetition.save_at && call < self.repetition.save_below {
            (self.repetition.save_at, self.repetition.save_below) = (2 * self.work.group.blocks, u64::MAX);
            self.repetition.saved = self.saved_state((call, block), lanes, waiting);
        }
        false
    }

    fn saved_state(&self, (call, block): (u64, u32), lanes: &[u32], waiting: &Waiting) -> Option<SavedState> {
        let memory: usize = self.objects.iter().map(|object| object.bytes.len()).sum();
        let registers: usize = self.columns.iter().map(|column| size_of_val(&column.bits[..])).sum();
        if memory + registers > MAX_STATE_BYTES || !self.columns.iter().all(|column| column.is_plain()) {
            return None;
        }
        Some(SavedState {
            call,
            block,
            lanes: lanes.to_vec(),
            waiting: waiting.to_vec(),
            registers: self.columns.iter().map(|column| column.bits.clone()).collect(),
            objects: self.objects.clone(),
            differing: 0,
        })
    }
}
