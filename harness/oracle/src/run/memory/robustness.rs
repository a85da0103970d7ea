//! Robustness: effects of out-of-bounds accesses on other accesses. Vulkan, "Robust Buffer Access",
//! "Robust Buffer Access 2", "Robust Image Access" and "Robust Image Access 2".
//!
//! A load may return the value that the same invocation stored out of bounds. With the weaker
//! guarantee, a load in bounds may be treated as out of bounds if another load out of bounds is
//! less than 16 bytes away, by whichever invocation and whenever. A first run therefore records the
//! loads out of bounds.

use crate::abstract_value::AbstractValue;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

/// "Any access of the same type (..) to the same buffer that is less than 16 bytes away .. may
/// behave as if it is also outside".
const NEAR: i64 = 16;

/// The out-of-bounds accesses.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutOfBounds {
    /// Bytes out of bounds of buffers that invocations of this workgroup stored, by object and
    /// invocation.
    stored: HashMap<(usize, u32), Vec<Range<i64>>>,
    /// Texels beyond the edges of images that they stored.
    texels: HashSet<(usize, u32, [i64; 4])>,
    /// For buffers with loads out of bounds, the loads nearest to their ends: known from the run
    /// before.
    known: BTreeMap<usize, NearestOutOfBounds>,
    /// The loads known from the run before and those of this run.
    found: BTreeMap<usize, NearestOutOfBounds>,
    /// Zero or the contents of read-only buffers, as scalars of some bytes, with the bits of one; `None` if
    /// they are too many.
    contents: HashMap<(usize, usize), Option<(AbstractValue, u64)>>,
}

/// The loads out of bounds that are nearest to a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NearestOutOfBounds {
    /// The largest end of those that begin before the buffer.
    before: i64,
    /// The least start of those that end after the buffer.
    behind: i64,
}

impl NearestOutOfBounds {
    const NONE: NearestOutOfBounds = NearestOutOfBounds { before: i64::MIN, behind: i64::MAX };

    fn with(self, other: NearestOutOfBounds) -> NearestOutOfBounds {
        NearestOutOfBounds { before: self.before.max(other.before), behind: self.behind.min(other.behind) }
    }
}

impl OutOfBounds {
    /// Returns zero or the contents of a read-only buffer, as scalars of some bytes; `make` makes them.
    pub(super) fn contents(
        &mut self,
        object: usize,
        bytes: usize,
        make: impl FnOnce() -> Option<(AbstractValue, u64)>,
    ) -> Option<(AbstractValue, u64)> {
        self.contents.entry((object, bytes)).or_insert_with(make).clone()
    }

    /// The state for the next run, which knows the findings of this one; `None` if it found nothing
    /// new.
    pub(in crate::run) fn next(&self) -> Option<OutOfBounds> {
        (self.found != self.known)
            .then(|| OutOfBounds { known: self.found.clone(), ..OutOfBounds::default() }.knowing())
    }

    /// The state of a run with the same knowledge that has found nothing more.
    pub(in crate::run) fn knowing(&self) -> OutOfBounds {
        OutOfBounds { known: self.known.clone(), found: self.known.clone(), ..OutOfBounds::default() }
    }

    /// Merges the findings of workgroups that ran concurrently.
    pub(in crate::run) fn join(&mut self, other: &OutOfBounds) {
        other.found.iter().for_each(|(object, next)| self.find(*object, *next));
    }

    /// Begins a workgroup.
    pub(in crate::run) fn begin_group(&mut self) {
        self.stored.clear();
        self.texels.clear();
    }

    /// Records a store of bytes out of bounds of a buffer.
    pub(in crate::run) fn store(&mut self, object: usize, invocation: u32, bytes: Range<i64>) {
        self.stored.entry((object, invocation)).or_default().push(bytes);
    }

    /// Returns true if an invocation has stored any of these bytes.
    pub(in crate::run) fn has_stored(&self, object: usize, invocation: u32, bytes: &Range<i64>) -> bool {
        let stored = self.stored.get(&(object, invocation));
        stored.is_some_and(|all| all.iter().any(|one| one.start < bytes.end && bytes.start < one.end))
    }

    /// Records a store to a texel beyond the edge of an image.
    pub(in crate::run) fn store_texel(&mut self, object: usize, invocation: u32, at: [i64; 4]) {
        self.texels.insert((object, invocation, at));
    }

    /// Returns true if an invocation has stored a texel.
    pub(in crate::run) fn has_stored_texel(&self, object: usize, invocation: u32, at: [i64; 4]) -> bool {
        self.texels.contains(&(object, invocation, at))
    }

    /// Records a load of bytes that are not all within a buffer of `length` bytes.
    pub(in crate::run) fn load(&mut self, object: usize, bytes: &Range<i64>, length: usize) {
        let length = length as i64;
        let before = if bytes.start < 0 && bytes.end > -NEAR { bytes.end } else { i64::MIN };
        let behind = if bytes.end > length && bytes.start < length + NEAR { bytes.start } else { i64::MAX };
        let next = NearestOutOfBounds { before, behind };
        if next != NearestOutOfBounds::NONE {
            self.find(object, next);
        }
    }

    fn find(&mut self, object: usize, next: NearestOutOfBounds) {
        let found = self.found.entry(object).or_insert(NearestOutOfBounds::NONE);
        *found = found.with(next);
    }

    /// Returns true if bytes of a buffer are near a load out of bounds.
    #[inline]
    pub(in crate::run) fn is_near(&self, object: usize, bytes: Range<usize>) -> bool {
        self.known.get(&object).is_some_and(|next| {
            let (start, end) = (bytes.start as i64, bytes.end as i64);
            start.saturating_sub(next.before) < NEAR || next.behind.saturating_sub(end) < NEAR
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_is_less_than_16_bytes_away() {
        let mut out_of_bounds = OutOfBounds::default();
        // From the 8th byte after a buffer of 64 bytes on, and too far before it.
        out_of_bounds.load(3, &(72..76), 64);
        out_of_bounds.load(3, &(-20..-16), 64);
        assert!(!out_of_bounds.is_near(3, 60..64));
        let next = out_of_bounds.next().expect("something new");
        assert!(next.is_near(3, 60..64) && next.is_near(3, 57..58));
        assert!(!next.is_near(3, 52..56) && !next.is_near(3, 0..4) && !next.is_near(4, 60..64));
        assert!(next.next().is_none());
    }

    #[test]
    fn an_invocation_finds_its_own_stores() {
        let mut out_of_bounds = OutOfBounds::default();
        out_of_bounds.store(2, 5, 64..68);
        assert!(out_of_bounds.has_stored(2, 5, &(67..68)) && !out_of_bounds.has_stored(2, 5, &(68..72)));
        assert!(!out_of_bounds.has_stored(2, 6, &(64..68)) && !out_of_bounds.has_stored(1, 5, &(64..68)));
        out_of_bounds.begin_group();
        assert!(!out_of_bounds.has_stored(2, 5, &(64..68)));
    }
}
