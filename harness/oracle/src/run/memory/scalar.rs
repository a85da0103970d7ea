//! The scalars of a load or a store, and the memory that each of them refers to.

use super::address::Target;
use crate::dispatch::Robustness;
use crate::outcome::CauseKind;
use crate::pointer::outside;
use crate::run::Run;
use crate::ty::Leaf;
use std::ops::Range;

/// A scalar of a load or a store.
#[derive(Clone, Copy)]
pub(super) struct AccessedScalar<'a> {
    pub(super) leaf: &'a Leaf,
    /// Number of scalars of the whole access, and its first and end offset.
    pub(super) scalars: usize,
    pub(super) whole: (u64, u64),
    /// The alignment that an access through a physical pointer states.
    pub(super) physical: Option<u32>,
}

impl<'a> AccessedScalar<'a> {
    /// The scalars of an access.
    pub(super) fn all(leaves: &'a [Leaf], physical: Option<u32>) -> impl Iterator<Item = AccessedScalar<'a>> {
        let first = leaves.iter().map(|leaf| leaf.offset).min().unwrap_or(0);
        let end = leaves.iter().map(|leaf| leaf.offset + leaf.kind.bytes()).max().unwrap_or(0);
        leaves.iter().map(move |leaf| AccessedScalar { leaf, scalars: leaves.len(), whole: (first, end), physical })
    }

    /// The bytes of the whole access if this scalar is at `offset`.
    pub(super) fn around(&self, offset: usize) -> Range<i64> {
        let start = offset as i64 - self.leaf.offset.cast_signed();
        start + self.whole.0.cast_signed()..start + self.whole.1.cast_signed()
    }
}

impl Run<'_> {
    /// Returns true if in-bounds accesses need no checks other than for races.
    pub(super) fn is_plain(&self) -> bool {
        self.dispatch.robustness == Robustness::None && self.aliases.is_empty()
    }

    /// Returns true if a scalar in bounds may be treated as out of bounds because another scalar of
    /// its access is.
    pub(super) fn is_cut(&self, object: usize, offset: usize, part: &AccessedScalar<'_>) -> bool {
        // Push constants and workgroup memory are not robust.
        if self.dispatch.robustness == Robustness::None || part.physical.is_some() || object < 2 {
            return false;
        }
        let whole = part.around(offset);
        whole.start < 0 || whole.end > self.objects[object].bytes.len() as i64
    }

    /// The target of one scalar for each possible pointer. If some of several are wrong, that is
    /// not certain. If all are wrong, it is a fault, and the result is one target.
    pub(super) fn targets(
        &mut self,
        pointers: &[u64],
        part: &AccessedScalar<'_>,
        lane: usize,
        write: bool,
    ) -> Vec<Target> {
        let AccessedScalar { leaf, physical, .. } = *part;
        let target = |run: &mut Self, pointer: u64| {
            // The stated alignment applies to the whole access.
            let misaligned = physical.filter(|a| !pointer.is_multiple_of(u64::from((*a).max(1))));
            let whole = outside(pointer).is_some() || misaligned.is_some();
            let at = if whole { pointer } else { pointer.wrapping_add(leaf.offset) };
            let found = run.target(at, leaf.kind.bytes(), physical.map(|_| misaligned.unwrap_or(1)), lane, write);
            match found {
                Target::At { object, offset } if !write && run.is_cut(object, offset, part) => {
                    if run.dispatch.robustness == Robustness::Access {
                        let length = run.objects[object].bytes.len();
                        run.out_of_bounds.load(object, &part.around(offset), length);
                    }
                    Target::Open { object, cause: run.cause(CauseKind::Robustness) }
                }
                found => found,
            }
        };
        self.target_of_each(pointers, target)
    }

    /// The target of each possible pointer; of one if all are wrong.
    pub(in crate::run) fn target_of_each(
        &mut self,
        pointers: &[u64],
        target: impl Fn(&mut Self, u64) -> Target,
    ) -> Vec<Target> {
        let several = pointers.len() > 1;
        let all: Vec<Target> =
            self.in_doubt(several, |run| pointers.iter().map(|pointer| target(run, *pointer)).collect());
        if several && all.iter().all(|target| matches!(target, Target::Nowhere { .. })) {
            return vec![target(self, pointers[0])];
        }
        all
    }
}
