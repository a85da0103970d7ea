//! Workgroups on several threads, with the outcome of sequential execution.
//!
//! Each part of the workgroups runs on a copy of the memory before the dispatch. Afterwards the
//! records of the race detector show whether a part wrote memory that another accessed. If not, the
//! parts are independent, and their effects are merged in order. Otherwise all of them run again,
//! one after another.

use super::concurrency::atomics::Contention;
use super::memory::robustness::OutOfBounds;
use super::{Run, UNREAD};
use crate::atomic_history::AtomicOrder;
use crate::dispatch::{Dispatch, Limits};
use crate::error::RunError;
use crate::float_op::Reading;
use crate::program::Program;
use rayon::prelude::*;
use std::ops::Range;

/// Parts for each thread, because some take longer than others.
const PARTS: u64 = 4;

/// Runs all workgroups, with the knowledge of earlier runs about atomics and out-of-bounds
/// accesses.
pub(super) fn groups<'a>(
    program: &'a Program,
    dispatch: &'a Dispatch,
    limits: &Limits,
    reading: Reading,
    (contention, out_of_bounds): (&Contention, &OutOfBounds),
) -> Result<Run<'a>, RunError> {
    let make = || -> Result<Run<'a>, RunError> {
        let mut run = Run::new(program, dispatch, *limits, reading)?;
        run.contention = contention.knowing();
        run.out_of_bounds = out_of_bounds.knowing();
        Ok(run)
    };
    // The registers take work, which does not count again for each part.
    let make_whole = || -> Result<Run<'a>, RunError> {
        let mut run = make()?;
        run.work.add_units(run.state());
        Ok(run)
    };
    let mut run = make_whole()?;
    let count = run.group_count();
    if count == 0 {
        return Ok(run);
    }
    // The first workgroup shows what to expect of the others.
    run.group(0);
    let parts = run.parts(count);
    if parts > 1 {
        let bounds = |part: u64| (1 + part * (count - 1) / parts)..(1 + (part + 1) * (count - 1) / parts);
        let others = (1..parts).into_par_iter().map(|part| Part::run(make()?, bounds(part)));
        let first = || {
            run.groups_of(bounds(0));
            run
        };
        let (first, others) = rayon::join(first, || others.collect::<Result<Vec<Part<'a>>, RunError>>());
        if let Some(whole) = first.joined(others?) {
            return whole.within_limit();
        }
        run = make_whole()?;
        run.group(0);
    }
    run.groups_of(1..count);
    run.within_limit()
}

/// A part of the workgroups with its own run.
struct Part<'a> {
    run: Run<'a>,
    /// Number of faults in constants, which every part has.
    faults: u64,
}

impl<'a> Part<'a> {
    fn run(mut run: Run<'a>, numbers: Range<u64>) -> Result<Part<'a>, RunError> {
        let faults = run.log.fault_count;
        run.groups_of(numbers);
        Ok(Part { run, faults })
    }
}

impl<'a> Run<'a> {
    /// Runs workgroups until one of them counts as endless, or they take too much work.
    fn groups_of(&mut self, mut numbers: Range<u64>) {
        while !self.work.endless
            && self.work.total() <= self.limits.work
            && let Some(number) = numbers.next()
        {
            self.group(number);
        }
    }

    /// Returns the run, unless it took too much work.
    fn within_limit(self) -> Result<Run<'a>, RunError> {
        let limit = self.limits.work;
        if self.work.total() <= limit { Ok(self) } else { Err(RunError::TooMuchWork { limit }) }
    }

    /// Number of registers of all lanes.
    fn state(&self) -> u64 {
        self.columns.iter().map(|column| column.bits.len() as u64).sum()
    }

    /// Number of parts to divide the remaining workgroups into, after this run has executed the
    /// first one.
    fn parts(&self, count: u64) -> u64 {
        let threads = rayon::current_num_threads() as u64;
        let work = self.work.instructions.saturating_mul(count);
        // Workgroups that share atomics would have to run again in sequence.
        let meet = self.contention.is_shared()
            || self.dispatch.atomic_order != AtomicOrder::Any
            || !self.races.is_watching()
            || !self.aliases.is_empty()
            || self.is_lost();
        if threads < 2 || count < 3 || work < self.limits.together_from || meet {
            return 1;
        }
        let memory: u64 = self.objects.iter().map(|object| object.bytes.len() as u64).sum();
        let each = (memory + self.state() * 8 + self.races.full_bytes()).max(1);
        let fit = self.limits.state_bytes / each;
        (threads * PARTS).min(count - 1).min(fit).max(1)
    }

    /// Returns true if the content of some memory is unknown.
    pub(super) fn is_lost(&self) -> bool {
        self.objects.iter().any(|object| object.lost.is_some())
    }

    /// Merges the parts with this run, which comes first. `None` if they have to run in sequence.
    fn joined(mut self, others: Vec<Part<'a>>) -> Option<Run<'a>> {
        let limit = self.limits.faults;
        for Part { run: other, faults } in others {
            let full = |run: &Run| run.log.faults.len() >= limit || run.is_lost();
            if full(&self) || full(&other) {
                return None;
            }
            let written = self.races.join(&other.races)?;
            let numbers = self.log.join(other.log, faults, limit);
            let number = |cause: u32| if cause == UNREAD { UNREAD } else { numbers[cause as usize] };
            let mut objects: Vec<_> = other.objects.into_iter().map(Some).collect();
            for (object, ranges) in written {
                let theirs = objects[object].take()?;
                self.objects[object].take_over(theirs, &ranges, number);
            }
            // Workgroup memory is that of the last workgroup.
            if let Some(mut last) = objects[1].take() {
                last.renumber(number);
                self.objects[1] = last;
            }
            self.contention.join(other.contention);
            self.out_of_bounds.join(&other.out_of_bounds);
            self.readings_differ |= other.readings_differ;
            self.work.add(&other.work);
            self.executed.add(&other.executed);
            self.forks.total += other.forks.total;
        }
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buffer, Resource, Slot, SpecValues};

    /// Returns true if two parts of a shader's workgroups can be merged.
    fn apart(body: &str) -> bool {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n\
             @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) g: vec3<u32>) {{ {body} }}"
        );
        let program = Program::new(&assay_testkit::wgsl(&text), "main", &SpecValues::new()).expect("a program");
        let buffer = Resource::Buffer(Buffer { data: vec![0; 64], address: None });
        let bindings = [(Slot::new(0, 0), buffer)].into();
        let dispatch = Dispatch { groups: [4, 1, 1], bindings, ..Dispatch::default() };
        let run = || Run::new(&program, &dispatch, Limits::default(), Reading::Usual).expect("a run");
        let mut first = run();
        (0..2).for_each(|number| first.group(number));
        first.joined(vec![Part::run(run(), 2..4).expect("a part")]).is_some()
    }

    #[test]
    fn only_workgroups_without_shared_memory_are_merged() {
        assert!(apart("out[g.x] = out[g.x] + 1u;"));
        // All read memory that none writes.
        assert!(apart("if out[0] == 0u && g.x > 0u { out[g.x] = 1u; }"));
        assert!(!apart("out[g.x % 8u] = g.x;"));
        assert!(!apart("out[g.x] = out[15u - g.x];"));
    }
}
