//! Replay of atomics in the order that a device had
//! ([`AtomicOrder::Recorded`]).
//!
//! An atomic returns the value that it found on the device. All values that the atomics of a
//! location found and left must form a modification order from the initial value (see
//! [`crate::modification_order`]). The operations of a location are collected until an instruction
//! that is ordered after all of them ends the order. If the effect of one atomic is unknown, the
//! recorded values of its location are not used.

use crate::abstract_value::AbstractValue;
use crate::atomic_history::{AtomicExecution, AtomicOrder};
use crate::error::Place;
use crate::memory::ReadValue;
use crate::modification_order::{AtomicStep, last_value_with_stores};
use crate::outcome::{CauseKind, Disorder, Expected, Standing, WrongOperand};
use crate::run::Run;
use assay_spirv::module::InstructionIndex;
use std::collections::{BTreeMap, HashMap};

/// Execution count of an instruction that some lanes of an invocation possibly execute.
const UNCERTAIN: usize = usize::MAX;

/// Size of the largest scalar in bytes.
const LARGEST: u32 = 8;

/// The atomics on locations that several invocations modify without order.
#[derive(Debug, Default)]
pub(crate) struct OpenOrders {
    /// Number of executions of an instruction by an invocation.
    executed: HashMap<(InstructionIndex, u64), usize>,
    /// The open orders by object and offset.
    open: BTreeMap<(u32, u32), OpenOrder>,
    /// Locations without a modification order: the object, and the description.
    disorder: Vec<(u32, Disorder)>,
    /// Recorded operands that are not permitted: the object, and the description.
    wrong_operands: Vec<(u32, WrongOperand)>,
}

/// The atomics on one location since its content was last known.
#[derive(Debug)]
struct OpenOrder {
    size: usize,
    /// The epoch of the location when the order began.
    epoch: u32,
    first: u64,
    steps: Vec<AtomicStep>,
    /// Values left by atomic stores, whose found values are not recorded.
    stores: Vec<u64>,
    at: Place,
}

impl Run<'_> {
    /// The device's record of the atomic instruction that a lane executes; `None` if it has none,
    /// or the number of earlier executions is uncertain.
    pub(in crate::run) fn observed(&mut self, lane: usize) -> Option<AtomicExecution> {
        let AtomicOrder::Recorded(observed) = &self.dispatch.atomic_order else { return None };
        let invocation = self.invocation_number(lane);
        let weak = self.forks.is_weak(lane) || self.in_doubt;
        let time = self.orders.executed.entry((self.here.instruction, invocation)).or_default();
        if weak || *time == UNCERTAIN {
            *time = UNCERTAIN;
            return None;
        }
        *time += 1;
        observed.get(self.here.instruction, invocation, *time - 1)
    }

    /// Number of a lane's invocation in the dispatch, in the order of
    /// [`AtomicHistory::insert`](crate::AtomicHistory::insert).
    fn invocation_number(&self, lane: usize) -> u64 {
        self.group_number(u64::from(self.place)) * self.lanes as u64 + self.forks.original(lane) as u64
    }

    /// Compares a recorded operand of an atomic with the permitted set, and returns true if the
    /// recorded value can replace the operand: the permitted set must be known. An operand that is
    /// not permitted is reported, and execution continues with it all the same.
    pub(in crate::run) fn accepts_operand(
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
            let wrong = WrongOperand { at, invocation, slot: None, offset, width, found, bits, expected, standing };
            self.orders.wrong_operands.push((object as u32, wrong));
        }
        !matches!(standing, Standing::Open(_))
    }

    /// Takes the recorded operands that are not permitted, each with its object.
    pub(in crate::run) fn wrong_operands(&mut self) -> Vec<(u32, WrongOperand)> {
        std::mem::take(&mut self.orders.wrong_operands)
    }

    /// Returns true if the recorded values of a location are used.
    pub(in crate::run) fn uses_history(&self, object: usize, offset: usize) -> bool {
        matches!(self.dispatch.atomic_order, AtomicOrder::Recorded(_))
            && !self.contention.without_history.contains(&(object as u32, offset as u32))
    }

    /// Records that the effect of an atomic on a location is unknown.
    pub(in crate::run) fn ignore_history(&mut self, object: usize, offset: usize) {
        self.contention.found_without_history.insert((object as u32, offset as u32));
    }

    /// Begins an order from the content of a location, unless one is open.
    pub(in crate::run) fn begin_order(&mut self, object: usize, offset: usize, size: usize) {
        let place = (object as u32, offset as u32);
        if self.orders.open.contains_key(&place) {
            return;
        }
        if !matches!(self.objects[object].read(offset, size), ReadValue::Value(AbstractValue::Bits)) {
            // Behind a location without a modification order the content is unknown as well, which
            // was reported.
            let of_place = |(of, disorder): &(u32, Disorder)| (*of, disorder.offset) == (place.0, offset as u64);
            if !self.orders.disorder.iter().any(of_place) {
                self.ignore_history(object, offset);
            }
            return;
        }
        let first = self.objects[object].bits(offset, size);
        let epoch = self.races.epoch(place.0);
        self.orders
            .open
            .insert(place, OpenOrder { size, epoch, first, steps: Vec::new(), stores: Vec::new(), at: self.here });
    }

    /// Adds an atomic to the order of its location, if there is one: the value it found (`None` for
    /// a store) and the value it left. `did` is `None` if these are unknown.
    pub(in crate::run) fn follow(
        &mut self,
        object: usize,
        offset: usize,
        size: usize,
        did: Option<(Option<u64>, u64)>,
    ) {
        let place = (object as u32, offset as u32);
        let Some(order) = self.orders.open.get_mut(&place) else { return };
        match did.filter(|_| order.size == size) {
            Some((Some(found), left)) => order.steps.push(AtomicStep { found, left }),
            Some((None, left)) => order.stores.push(left),
            None => self.ignore_history(object, offset),
        }
    }

    /// Ends the orders of locations that another instruction writes. If that write is not
    /// `ordered`, their recorded values are not used.
    pub(in crate::run) fn end_orders(&mut self, object: usize, offset: usize, size: usize, ordered: bool) {
        if self.orders.open.is_empty() {
            return;
        }
        let (object, from, end) = (object as u32, offset as u32, (offset + size) as u32);
        let near = self.orders.open.range((object, from.saturating_sub(LARGEST))..(object, end));
        let over = near.filter(|((_, start), order)| start + order.size as u32 > from).map(|(place, _)| *place);
        for place in over.collect::<Vec<_>>() {
            if ordered {
                self.end_order(place);
            } else {
                self.contention.found_without_history.insert(place);
            }
        }
    }

    /// Ends an order, and returns the content of the location if it is determined.
    fn end_order(&mut self, place: (u32, u32)) -> Option<u64> {
        let ended = self.orders.open.remove(&place)?;
        if self.is_given_up() || self.contention.found_without_history.contains(&place) {
            return None;
        }
        if let Ok(end) = last_value_with_stores(&ended.steps, &ended.stores, ended.first) {
            return end;
        }
        let OpenOrder { size, first, steps, stores, at, .. } = ended;
        let (offset, width) = (place.1.into(), size as u32 * 8);
        self.orders.disorder.push((place.0, Disorder { at, slot: None, offset, width, first, steps, stores }));
        None
    }

    /// Ends the orders of workgroup memory at the end of the workgroup.
    pub(in crate::run) fn end_orders_of_group(&mut self) {
        let own: Vec<_> = self.orders.open.range((1, 0)..(2, 0)).map(|(place, _)| *place).collect();
        own.into_iter().for_each(|place| {
            self.end_order(place);
        });
    }

    /// Ends the orders whose operations a barrier has ordered, on memory that no other workgroup
    /// accesses.
    pub(in crate::run) fn end_orders_before_barrier(&mut self) {
        let alone = self.group_count() == 1;
        let ordered = |(object, _): (u32, u32), order: &OpenOrder| {
            (object == 1 || alone) && self.races.epoch(object) != order.epoch
        };
        let places = self.orders.open.iter().filter(|(place, order)| ordered(**place, order));
        let places = places.map(|(place, order)| (*place, order.size)).collect();
        self.end_with(places);
    }

    /// Ends all orders and writes their last values to memory. Returns the locations without a
    /// modification order, provided that all effects of the atomics are known.
    pub(in crate::run) fn end_all_orders(&mut self) -> Vec<(u32, Disorder)> {
        self.end_with(self.orders.open.iter().map(|(place, order)| (*place, order.size)).collect());
        if self.is_given_up() { Vec::new() } else { std::mem::take(&mut self.orders.disorder) }
    }

    /// Ends the orders of locations, given with their sizes, and writes their last values to
    /// memory.
    fn end_with(&mut self, places: Vec<((u32, u32), usize)>) {
        for ((object, offset), size) in places {
            let Some(end) = self.end_order((object, offset)) else { continue };
            let memory = &mut self.objects[object as usize];
            if let ReadValue::Value(AbstractValue::Unknown(cause)) = memory.read(offset as usize, size)
                && self.log.kind(cause) == CauseKind::Order
            {
                memory.write(offset as usize, size, end, AbstractValue::Bits, cause);
            }
        }
    }

    /// Returns true if not all effects of the shader are known.
    fn is_given_up(&self) -> bool {
        self.work.endless || self.is_lost()
    }
}
