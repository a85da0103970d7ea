//! Atomics in the order that a device had ([`Dispatch::observed`](crate::Dispatch::observed)): what they found there is what they give, and what all those of
//! a place found and left must make a trail from what was there before. Where it is not known what one of them did, those of its place
//! are not taken at their word either.

use super::Run;
use crate::error::Place;
use crate::memory::Found;
use crate::observed::Execution;
use crate::outcome::{CauseKind, Disorder, Expected, Given, Standing};
use crate::steps::{Step, trail_with_stores};
use crate::value::Value;
use assay_spirv::module::Index;
use std::collections::{BTreeMap, HashMap};

/// How often an instruction was executed that some lanes of an invocation execute perhaps.
const PERHAPS: usize = usize::MAX;

/// The largest scalar, in bytes.
const LARGEST: u32 = 8;

/// What atomics did to the places that several invocations change without order.
#[derive(Debug, Default)]
pub(crate) struct Trails {
    /// How often an instruction was executed by an invocation.
    executed: HashMap<(Index, u64), usize>,
    /// By object and offset.
    open: BTreeMap<(u32, u32), Trail>,
    /// Those that no order explains: the object, and the rest.
    disorder: Vec<(u32, Disorder)>,
    /// What was given that may not be: the object, and the rest.
    given: Vec<(u32, Given)>,
}

/// What they did to one place since it was known what it held.
#[derive(Debug)]
struct Trail {
    size: usize,
    /// Since when nothing is ordered of the place.
    epoch: u32,
    first: u64,
    steps: Vec<Step>,
    /// What atomic stores left, which do not say what they found.
    stores: Vec<u64>,
    at: Place,
}

impl Run<'_> {
    /// What the atomic instruction being executed found for a lane on the device and was given there, if that is known.
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

    /// The number of a lane's invocation in the dispatch, as [`Observed::insert`](crate::Observed::insert) counts them.
    fn invocation_number(&self, lane: usize) -> u64 {
        self.group_number(u64::from(self.place)) * self.lanes as u64 + self.forks.original(lane) as u64
    }

    /// Takes the device at its word as to what an atomic was given, and says whether that can be done: something must be known that it can
    /// be held against. If it is nothing that it may be, that is noted, and the rest follows from it all the same.
    pub(super) fn settle(
        &mut self,
        (object, offset, size): (usize, usize, usize),
        value: &(Value, u64),
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

    /// The values that atomics were given on the device and may not be; with the object each.
    pub(super) fn wrongly_given(&mut self) -> Vec<(u32, Given)> {
        std::mem::take(&mut self.trails.given)
    }

    /// Whether what atomics found in a place is taken at its word.
    pub(super) fn is_followed(&self, object: usize, offset: usize) -> bool {
        self.dispatch.observed.is_some() && !self.contention.unfollowed.contains(&(object as u32, offset as u32))
    }

    /// Notes that it is not known what an atomic does to a place, and when.
    pub(super) fn do_not_follow(&mut self, object: usize, offset: usize) {
        self.contention.found_unfollowed.insert((object as u32, offset as u32));
    }

    /// Begins a trail where there is none, from what the place holds.
    pub(super) fn begin_trail(&mut self, object: usize, offset: usize, size: usize) {
        let place = (object as u32, offset as u32);
        if self.trails.open.contains_key(&place) {
            return;
        }
        if !matches!(self.objects[object].read(offset, size), Found::Value(Value::Bits)) {
            // What it holds is not known either behind what cannot have been: that has been said.
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

    /// Takes in what an atomic did to a place that has a trail: what it found, unless it only stores, and what it left; `None` if that is
    /// not known.
    pub(super) fn follow(&mut self, object: usize, offset: usize, size: usize, did: Option<(Option<u64>, u64)>) {
        let place = (object as u32, offset as u32);
        let Some(trail) = self.trails.open.get_mut(&place) else { return };
        match did.filter(|_| trail.size == size) {
            Some((Some(found), left)) => trail.steps.push(Step { found, left }),
            Some((None, left)) => trail.stores.push(left),
            None => self.do_not_follow(object, offset),
        }
    }

    /// Ends the trails of the places that something else is stored to, in order or as far as `ordered` says not.
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

    /// Ends a trail: what the place holds behind it, if that is certain.
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

    /// Ends those of workgroup memory, which ends with the workgroup.
    pub(super) fn end_trails_of_group(&mut self) {
        let own: Vec<_> = self.trails.open.range((1, 0)..(2, 0)).map(|(place, _)| *place).collect();
        own.into_iter().for_each(|place| {
            self.end_trail(place);
        });
    }

    /// Ends the trails of places of which a barrier has ordered everything that was done: of memory that no other workgroup accesses.
    pub(super) fn end_trails_before_barrier(&mut self) {
        let alone = self.group_count() == 1;
        let ordered =
            |(object, _): (u32, u32), trail: &Trail| (object == 1 || alone) && self.races.epoch(object) != trail.epoch;
        let places = self.trails.open.iter().filter(|(place, trail)| ordered(**place, trail));
        let places = places.map(|(place, trail)| (*place, trail.size)).collect();
        self.end_with(places);
    }

    /// Ends all trails, and has what they end with in memory; what cannot have been, if everything that atomics did is known.
    pub(super) fn end_all_trails(&mut self) -> Vec<(u32, Disorder)> {
        self.end_with(self.trails.open.iter().map(|(place, trail)| (*place, trail.size)).collect());
        if self.is_given_up() { Vec::new() } else { std::mem::take(&mut self.trails.disorder) }
    }

    /// Ends the trails of places, each with its size, and has what they end with in memory.
    fn end_with(&mut self, places: Vec<((u32, u32), usize)>) {
        for ((object, offset), size) in places {
            let Some(end) = self.end_trail((object, offset)) else { continue };
            let memory = &mut self.objects[object as usize];
            if let Found::Value(Value::Any(cause)) = memory.read(offset as usize, size)
                && self.log.kind(cause) == CauseKind::Order
            {
                memory.write(offset as usize, size, end, Value::Bits, cause);
            }
        }
    }

    /// Whether not all that the shader does is known.
    fn is_given_up(&self) -> bool {
        self.endless || self.is_lost()
    }
}
