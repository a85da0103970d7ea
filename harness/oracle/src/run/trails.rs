//! Replay of atomics in the order that a device had
//! ([`Dispatch::observed`](crate::Dispatch::observed)).
//!
//! An atomic returns the value that it found on the device. All values that the atomics of a
//! location found and left must form a modification order from the initial value (see
//! [`crate::steps`]). If the effect of one atomic is unknown, the recorded values of its location
//! are not used.

use super::Run;
use crate::abstract_value::AbstractValue;
use crate::error::Place;
use crate::memory::Found;
use crate::observed::Execution;
use crate::outcome::{CauseKind, Disorder, Expected, Given, Standing};
use crate::steps::{Step, trail_with_stores};
use assay_spirv::module::Index;
use std::collections::{BTreeMap, HashMap};

/// Execution count of an instruction that some lanes of an invocation possibly execute.
const PERHAPS: usize = usize::MAX;

/// Size of the largest scalar in bytes.
const LARGEST: u32 = 8;

/// The atomics on locations that several invocations modify without order.
#[derive(Debug, Default)]
pub(crate) struct Trails {
    /// Number of executions of an instruction by an invocation.
    executed: HashMap<(Index, u64), usize>,
    /// Trails by object and offset.
    open: BTreeMap<(u32, u32), Trail>,
    /// Locations without a modification order: the object, and the description.
    disorder: Vec<(u32, Disorder)>,
    /// Recorded operands that are not permitted: the object, and the description.
    given: Vec<(u32, Given)>,
}

/// The atomics on one location since its content was last known.
#[derive(Debug)]
struct Trail {
    size: usize,
    /// The epoch of the location when the trail began.
    epoch: u32,
    first: u64,
    steps: Vec<Step>,
    /// Values left by atomic stores, whose found values are not recorded.
    stores: Vec<u64>,
    at: Place,
}

impl Run<'_> {
    /// The device's record of the atomic instruction that a lane executes; `None` if it has none,
    /// or the number of earlier executions is uncertain.
    pub(super) fn observed(&mut self, lane: usize) -> Option<Execution> {
        let observed = self.dispatch.observed.as_ref()?;
        let invocation = self.invocation_number(lane);
        let weak = self.forks.is_weak(lane) || self.in_doubt;
        let time = self.trails.executed.entry((self.here.instruction, invocation)).or_default();
        if weak || *time == PERHAPS {
            *time = PERHAPS;
            return None;
        }
        *time += 1;
        observed.get(self.here.instruction, invocation, *time - 1)
    }

    /// Number of a lane's invocation in the dispatch, in the order of
    /// [`Observed::insert`](crate::Observed::insert).
    fn invocation_number(&self, lane: usize) -> u64 {
        self.group_number(u64::from(self.place)) * self.lanes as u64 + self.forks.original(lane) as u64
    }

    /// Compares a recorded operand of an atomic with the permitted set, and returns true if the
    /// recorded value can replace the operand: the permitted set must be known. An operand that is
    /// not permitted is reported, and execution continues with it all the same.
    pub(super) fn settle(
        &mut self,
        (object, offset, size): (usize, usize, usize),
        value: &(AbstractValue, u64),
        (found, bits): (u64, u64),
        lane: usize,
    ) -> bool {
        let Ok(expected) = value.0.expected() else { return false };
        let expected = expected.unwrap_or(Expected::Exact(value.1));
        let standing = expected.judge(None, bits);
        if standing == Standing::Outside {
            let (at, invocation) = (self.here, self.invocation_number(lane));
            let (offset, width) = (offset as u64, size as u32 * 8);
            let given = Given { at, invocation, slot: None, offset, width, found, bits, expected, standing };
            self.trails.given.push((object as u32, given));
        }
        !matches!(standing, Standing::Open(_))
    }

    /// Takes the recorded operands that are not permitted, each with its object.
    pub(super) fn wrongly_given(&mut self) -> Vec<(u32, Given)> {
        std::mem::take(&mut self.trails.given)
    }

    /// Returns true if the recorded values of a location are used.
    pub(super) fn is_followed(&self, object: usize, offset: usize) -> bool {
        self.dispatch.observed.is_some() && !self.contention.unfollowed.contains(&(object as u32, offset as u32))
    }

    /// Records that the effect of an atomic on a location is unknown.
    pub(super) fn do_not_follow(&mut self, object: usize, offset: usize) {
        self.contention.found_unfollowed.insert((object as u32, offset as u32));
    }

    /// Begins a trail from the content of a location, unless one is open.
    pub(super) fn begin_trail(&mut self, object: usize, offset: usize, size: usize) {
        let place = (object as u32, offset as u32);
        if self.trails.open.contains_key(&place) {
            return;
        }
        if !matches!(self.objects[object].read(offset, size), Found::Value(AbstractValue::Bits)) {
            // Behind a location without a modification order the content is unknown as well, which
            // was reported.
            let of_place = |(of, disorder): &(u32, Disorder)| (*of, disorder.offset) == (place.0, offset as u64);
            if !self.trails.disorder.iter().any(of_place) {
                self.do_not_follow(object, offset);
            }
            return;
        }
        let first = self.objects[object].bits(offset, size);
        let epoch = self.races.epoch(place.0);
        self.trails
            .open
            .insert(place, Trail { size, epoch, first, steps: Vec::new(), stores: Vec::new(), at: self.here });
    }

    /// Adds an atomic to the trail of its location, if there is one: the value it found (`None` for
    /// a store) and the value it left. `did` is `None` if these are unknown.
    pub(super) fn follow(&mut self, object: usize, offset: usize, size: usize, did: Option<(Option<u64>, u64)>) {
        let place = (object as u32, offset as u32);
        let Some(trail) = self.trails.open.get_mut(&place) else { return };
        match did.filter(|_| trail.size == size) {
            Some((Some(found), left)) => trail.steps.push(Step { found, left }),
            Some((None, left)) => trail.stores.push(left),
            None => self.do_not_follow(object, offset),
        }
    }

    /// Ends the trails of locations that another instruction writes. If that write is not
    /// `ordered`, their recorded values are not used.
    pub(super) fn end_trails(&mut self, object: usize, offset: usize, size: usize, ordered: bool) {
        if self.trails.open.is_empty() {
            return;
        }
        let (object, from, end) = (object as u32, offset as u32, (offset + size) as u32);
        let near = self.trails.open.range((object, from.saturating_sub(LARGEST))..(object, end));
        let over = near.filter(|((_, start), trail)| start + trail.size as u32 > from).map(|(place, _)| *place);
        for place in over.collect::<Vec<_>>() {
            if ordered {
                self.end_trail(place);
            } else {
                self.contention.found_unfollowed.insert(place);
            }
        }
    }

    /// Ends a trail, and returns the content of the location if it is determined.
    fn end_trail(&mut self, place: (u32, u32)) -> Option<u64> {
        let ended = self.trails.open.remove(&place)?;
        if self.is_given_up() || self.contention.found_unfollowed.contains(&place) {
            return None;
        }
        if let Ok(end) = trail_with_stores(&ended.steps, &ended.stores, ended.first) {
            return end;
        }
        let Trail { size, first, steps, stores, at, .. } = ended;
        let (offset, width) = (place.1.into(), size as u32 * 8);
        self.trails.disorder.push((place.0, Disorder { at, slot: None, offset, width, first, steps, stores }));
        None
    }

    /// Ends the trails of workgroup memory at the end of the workgroup.
    pub(super) fn end_trails_of_group(&mut self) {
        let own: Vec<_> = self.trails.open.range((1, 0)..(2, 0)).map(|(place, _)| *place).collect();
        own.into_iter().for_each(|place| {
            self.end_trail(place);
        });
    }

    /// Ends the trails whose operations a barrier has ordered, on memory that no other workgroup
    /// accesses.
    pub(super) fn end_trails_before_barrier(&mut self) {
        let alone = self.group_count() == 1;
        let ordered =
            |(object, _): (u32, u32), trail: &Trail| (object == 1 || alone) && self.races.epoch(object) != trail.epoch;
        let places = self.trails.open.iter().filter(|(place, trail)| ordered(**place, trail));
        let places = places.map(|(place, trail)| (*place, trail.size)).collect();
        self.end_with(places);
    }

    /// Ends all trails and writes their last values to memory. Returns the locations without a
    /// modification order, provided that all effects of the atomics are known.
    pub(super) fn end_all_trails(&mut self) -> Vec<(u32, Disorder)> {
        self.end_with(self.trails.open.iter().map(|(place, trail)| (*place, trail.size)).collect());
        if self.is_given_up() { Vec::new() } else { std::mem::take(&mut self.trails.disorder) }
    }

    /// Ends the trails of locations, given with their sizes, and writes their last values to
    /// memory.
    fn end_with(&mut self, places: Vec<((u32, u32), usize)>) {
        for ((object, offset), size) in places {
            let Some(end) = self.end_trail((object, offset)) else { continue };
            let memory = &mut self.objects[object as usize];
            if let Found::Value(AbstractValue::Unknown(cause)) = memory.read(offset as usize, size)
                && self.log.kind(cause) == CauseKind::Order
            {
                memory.write(offset as usize, size, end, AbstractValue::Bits, cause);
            }
        }
    }

    /// Returns true if not all effects of the shader are known.
    fn is_given_up(&self) -> bool {
        self.endless || self.is_lost()
    }
}
