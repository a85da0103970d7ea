//! Control flow in lockstep: lanes wait at blocks, and the first block in the function's order that
//! has waiting lanes executes all of them together.
//!
//! The order is the reverse postorder of the structural graph, in which each header has an edge to
//! its merge block and, before its branches, a loop header one to its continue target. All blocks
//! of a construct therefore precede its merge block, and all blocks of a loop precede its continue
//! target: lanes that diverge reconverge where the structure of the program says so, and no lane
//! begins an iteration while another one of its iteration is still inside the loop.

use crate::abstract_value::AbstractValue;
use crate::control_flow::{Decider, Edge, End, Function};
use crate::correlated_set::{CorrelatedSet, NondetChoice};
use crate::executed_blocks::{BlockNumber, Executions};
use crate::inst::Reg;
use crate::outcome::{CauseKind, FaultKind};
use crate::run::expr::build::bound_of_any;
use crate::run::lanes::Lanes;
use crate::run::work::GroupWork;
use crate::run::{Run, Stop};
use crate::ty::Kind;
use std::sync::Arc;
use std::time::Instant;

/// Largest average number of order-dependent branches per invocation of a workgroup. A loop that
/// ends once an atomic succeeds exceeds it: it need not end if all values that the atomic may find
/// are followed.
const DECIDED_BY_ORDER: u64 = 16;
const LEAST_INVOCATIONS: usize = 64;

/// Work of a workgroup with a fault, beyond which it is given up: the dispatch is refused. It takes
/// about a second.
const FAULTY_WORK: u64 = 1 << 26;

/// Block index of lanes that have returned.
const LEFT: u32 = u32::MAX;

/// The waiting lanes by block, in descending order of blocks.
#[derive(Debug, Default)]
struct WaitingLanes(Vec<(u32, Vec<u32>)>);

impl WaitingLanes {
    /// The lanes at a block.
    fn at(&mut self, block: u32) -> &mut Vec<u32> {
        let place = self.0.binary_search_by(|(waiting, _)| block.cmp(waiting));
        let place = place.unwrap_or_else(|place| {
            self.0.insert(place, (block, Vec::new()));
            place
        });
        &mut self.0[place].1
    }
}

impl<'a> Run<'a> {
    /// Executes a function for some lanes until all have returned.
    pub(in crate::run) fn call(&mut self, callee: u32, lanes: Lanes) -> Result<(), Stop> {
        let program = self.program;
        let function = &program.functions[callee as usize];
        let mut waiting = WaitingLanes::default();
        waiting.at(0).extend(lanes.list);
        let before = self.tangles.call(lanes.list);
        let call = self.repetition.enter();
        while let Some((block, mut list)) = waiting.0.pop() {
            if block == LEFT {
                break;
            }
            list.sort_unstable();
            self.tangles.arrive(function, block, &list, list.len() == self.lanes);
            let number = block;
            let block = &function.blocks[number as usize];
            self.count(&list, block.code.len(), block.at)?;
            let certain = match self.in_doubt {
                true => 0,
                false => list.iter().filter(|lane| !self.forks.is_weak(**lane as usize)).count(),
            };
            let executions = Executions { possible: list.len() as u64, certain: certain as u64 };
            self.executed.insert(BlockNumber { function: callee, block: number }, executions);
            if self.is_repetition((call, number), &list, &waiting.0) {
                return Err(self.never_ends(list[0] as usize));
            }
            let carried = self.carried.len();
            self.carried.extend_from_slice(&block.live.calls);
            for at in block.code.clone() {
                self.here = program.at[at as usize];
                let lanes = self.mask(&list);
                self.execute(&program.code[at as usize], lanes)?;
            }
            self.carried.truncate(carried);
            self.here = block.at;
            match &block.end {
                End::Jump(edge) => self.go(function, edge, list, &mut waiting),
                End::If { condition, then, other } => {
                    let parts = self.part((*condition, &block.live.exit), list, |bits| usize::from(bits == 0), 2)?;
                    self.tangles.part([then.block, other.block].into_iter().zip(&parts.0), block.construct);
                    let (yes, no) = parts.into_two();
                    self.go(function, then, yes, &mut waiting);
                    self.go(function, other, no, &mut waiting);
                }
                End::Switch { selector, cases, edges } => {
                    let choose =
                        |bits| cases.iter().find(|(case, _)| *case == bits).map_or(0, |(_, edge)| *edge as usize);
                    let parts = self.part((*selector, &block.live.exit), list, choose, edges.len())?;
                    for lane in parts.0.iter().flatten().map(|lane| *lane as usize) {
                        let bits = self.columns[selector.reg as usize].bits[lane];
                        self.tangles.choose(lane, block.construct, bits);
                    }
                    self.tangles.part(edges.iter().map(|edge| edge.block).zip(&parts.0), block.construct);
                    for (edge, list) in edges.iter().zip(parts.0) {
                        self.go(function, edge, list, &mut waiting);
                    }
                }
                End::Return { value } => {
                    if let Some(value) = value {
                        let lanes = self.mask(&list);
                        self.copy(function.result, *value, function.result_scalars, false, lanes);
                    }
                    self.arrive((LEFT, &[]), list, &mut waiting);
                }
                End::Unreachable => {
                    for &lane in &list {
                        self.fault(FaultKind::Unreachable, lane as usize, || "OpUnreachable was executed".into());
                    }
                    self.arrive((LEFT, &[]), list, &mut waiting);
                }
            }
        }
        self.tangles.returned(lanes.list, before);
        self.repetition.leave(call);
        Ok(())
    }

    /// Reports a loop that certainly never ends.
    fn never_ends(&mut self, lane: usize) -> Stop {
        self.work.endless = true;
        let blocks = self.work.group.blocks;
        let detail = || format!("the workgroup is in a state that repeats, after {blocks} blocks");
        let cause = self.fault(FaultKind::Repetition, lane, detail);
        self.lose_everything(cause)
    }

    fn mask<'l>(&self, list: &'l [u32]) -> Lanes<'l> {
        Lanes { list, all: list.len() == self.lanes && self.forks.in_use == 0 }
    }

    /// Counts the execution of a block with this number of instructions. The error gives the
    /// workgroup up because a limit is reached.
    fn count(&mut self, list: &[u32], block: usize, at: crate::Place) -> Result<(), Stop> {
        self.work.group.blocks += 1;
        // A block without instructions takes work, too.
        self.work.group.units += (list.len() * (1 + block)) as u64;
        self.here = at;
        let (blocks, instructions) = (self.work.group.blocks, self.work.instructions);
        if blocks > self.limits.blocks_per_group || self.work.group.units > self.limits.work_per_group {
            let sure = list.iter().find(|lane| !self.forks.is_weak(**lane as usize)).copied();
            let cause = match sure {
                Some(lane) => {
                    self.work.endless = true;
                    self.fault(FaultKind::Endless, lane as usize, || {
                        format!("given up after {blocks} blocks of the workgroup and {instructions} instructions of all invocations")
                    })
                }
                None => self.cause(CauseKind::Budget),
            };
            return Err(self.lose_everything(cause));
        }
        let GroupWork { earlier_faults, .. } = self.work.group;
        if self.log.fault_count > earlier_faults && self.work.group.total() > FAULTY_WORK {
            let cause = self.cause(CauseKind::Budget);
            return Err(self.lose_everything(cause));
        }
        if self.work.group.is_time_check_due() && Instant::now() >= self.deadline {
            let cause = self.cause(CauseKind::Time);
            return Err(self.lose_everything(cause));
        }
        if self.forks.in_use > 0 && list.iter().any(|lane| self.forks.is_weak(*lane as usize)) {
            self.work.group.undecided_blocks += 1;
            if self.work.group.undecided_blocks > self.limits.undecided_blocks {
                let cause = self.cause(CauseKind::Budget);
                return Err(self.lose_everything(cause));
            }
        }
        Ok(())
    }

    /// Makes all memory that the shader may write undetermined.
    pub(in crate::run) fn lose_everything(&mut self, cause: u32) -> Stop {
        for object in self.written_objects() {
            self.objects[object].lost.get_or_insert(cause);
        }
        Stop
    }

    /// Lets lanes take an edge: sets the phis of the target, and waits there.
    fn go(&mut self, function: &Function, edge: &'a Edge, list: Vec<u32>, waiting: &mut WaitingLanes) {
        if list.is_empty() {
            return;
        }
        let lanes = self.mask(&list);
        match &edge.phis[..] {
            [] => {}
            [(dst, src, n)] if dst.abs_diff(*src) >= *n => self.copy(*dst, *src, *n, false, lanes),
            phis => {
                // In parallel: a phi may use the old value of another one.
                let pairs = phis.iter().flat_map(|(dst, src, n)| (0..*n).map(move |i| (dst + i, src + i)));
                let pairs: Vec<(Reg, Reg)> = pairs.collect();
                let written: std::collections::HashSet<Reg> = pairs.iter().map(|pair| pair.0).collect();
                let saved: Vec<_> = pairs
                    .iter()
                    .map(|(_, src)| written.contains(src).then(|| self.columns[*src as usize].clone()))
                    .collect();
                for ((dst, src), saved) in pairs.iter().zip(saved) {
                    match saved {
                        Some(old) => self.columns[*dst as usize].copy(&old, lanes),
                        None => self.copy(*dst, *src, 1, false, lanes),
                    }
                }
            }
        }
        self.arrive((edge.block, &function.blocks[edge.block as usize].live.entry), list, waiting);
    }

    /// Lets lanes wait at a block, before which these registers live. Lanes of one invocation that meet
    /// there are joined.
    fn arrive(&mut self, (block, live): (u32, &[Reg]), list: Vec<u32>, waiting: &mut WaitingLanes) {
        let there = waiting.at(block);
        if there.is_empty() && self.forks.in_use == 0 {
            *there = list;
            return;
        }
        if self.forks.in_use == 0 {
            there.extend(list);
            return;
        }
        let mut there = std::mem::take(there);
        for lane in list {
            let weak = self.forks.is_weak(lane as usize);
            let family = self.forks.original(lane as usize);
            match there.iter().position(|other| weak && self.forks.original(*other as usize) == family) {
                Some(place) => there[place] = self.join(lane as usize, there[place] as usize, live) as u32,
                None => there.push(lane),
            }
        }
        *waiting.at(block) = there;
    }

    /// Separates lanes by a value, after which these registers live. A lane whose value permits several
    /// targets continues as several lanes.
    fn part(
        &mut self,
        (Decider { reg, is_undef }, live): (Decider, &[Reg]),
        list: Vec<u32>,
        choose: impl Fn(u64) -> usize,
        ways: usize,
    ) -> Result<Parts, Stop> {
        let column = &self.columns[reg as usize];
        let lanes = self.mask(&list);
        if !column.is_wide(lanes) {
            let first = choose(column.bits[list[0] as usize]);
            if list.iter().all(|lane| choose(column.bits[*lane as usize]) == first) {
                let mut parts = vec![Vec::new(); ways];
                parts[first] = list;
                return Ok(Parts(parts));
            }
        }
        let mut parts = vec![Vec::new(); ways];
        for lane in list {
            let l = lane as usize;
            let column = &self.columns[reg as usize];
            let value = column.value(l).clone();
            let mut taken: Vec<usize> = match value.clone() {
                AbstractValue::Bits => {
                    parts[choose(column.bits[l])].push(lane);
                    continue;
                }
                // "If Condition is an OpUndef, behavior is undefined". A result that is computed
                // from one, or loaded from unwritten memory, is some value.
                AbstractValue::Unknown(cause) if is_undef || self.log.kind(cause) == CauseKind::Fault => {
                    self.decided_by(cause, l);
                    vec![ways - 1]
                }
                AbstractValue::Unknown(cause) => {
                    if !self.in_doubt && !self.forks.is_weak(l) {
                        self.log.note_decision(self.here, cause);
                    }
                    (0..ways).collect()
                }
                value => match value.patterns(0) {
                    Ok(patterns) => patterns.into_iter().map(&choose).collect(),
                    Err(_) => (0..ways).collect(),
                },
            };
            taken.sort_unstable();
            taken.dedup();
            if let AbstractValue::Unknown(cause) = value
                && self.log.kind(cause) == CauseKind::Order
            {
                self.work.group.decided_by_order += 1;
                if self.work.group.decided_by_order > DECIDED_BY_ORDER * self.lanes.max(LEAST_INVOCATIONS) as u64 {
                    return Err(self.lose_everything(cause));
                }
            }
            let mut lanes = vec![l];
            for _ in &taken[1..] {
                let Some(new) = self.fork(l, live) else {
                    let cause = self.cause(CauseKind::Budget);
                    return Err(self.lose_everything(cause));
                };
                lanes.push(new);
            }
            for (way, lane) in taken.iter().zip(lanes) {
                if let (AbstractValue::OneOf(few), true) = (&value, taken.len() > 1) {
                    for choice in few.alternatives_where(|bits| choose(bits) == *way) {
                        self.decide(lane, choice, live);
                    }
                }
                parts[*way].push(lane as u32);
            }
        }
        Ok(Parts(parts))
    }

    /// Restricts a choice to these alternatives in one lane, and all values that depend on it.
    fn decide(&mut self, lane: usize, choice: NondetChoice, live: &[Reg]) {
        self.forks.decide(lane, choice);
        for reg in self.carried.iter().chain(live) {
            let column = &mut self.columns[*reg as usize];
            let AbstractValue::OneOf(few) = column.value(lane) else { continue };
            if let Some((value, bits)) = few.restricted(choice) {
                column.set(lane, bits, value);
            }
        }
    }

    /// Creates a second lane with the state of the first one at the end of a block.
    fn fork(&mut self, lane: usize, live: &[Reg]) -> Option<usize> {
        let new = self.forks.fork(lane)?;
        self.work.group.copied += (self.carried.len() + live.len()) as u64;
        for reg in self.carried.iter().chain(live) {
            self.columns[*reg as usize].duplicate(lane, new);
        }
        self.tangles.fork(lane, new);
        Some(new)
    }

    /// Joins two lanes: each live register may have either value. Returns the lane that stays.
    fn join(&mut self, a: usize, b: usize, live: &[Reg]) -> usize {
        let parted = self.forks.parted_by(a, b);
        let (stays, goes) = self.forks.join(a, b);
        self.tangles.join(stays, goes);
        let parted = parted.map(|(one, other)| if stays == a { (one, other) } else { (other, one) });
        let carried = std::mem::take(&mut self.carried);
        for reg in carried.iter().chain(live).map(|reg| *reg as usize) {
            let column = &self.columns[reg];
            let same = column.bits[stays] == column.bits[goes] && column.value(stays) == column.value(goes);
            if same && column.bound(stays).map(|bound| bound.id) == column.bound(goes).map(|bound| bound.id) {
                continue;
            }
            let mut column = self.take(reg as Reg);
            let x = (column.value(stays).clone(), column.bits[stays]);
            let y = (column.value(goes).clone(), column.bits[goes]);
            let kind = self.program.kinds[reg];
            let bound = bound_of_any(kind, [stays, goes].into_iter().map(|lane| (&column, lane)));
            let bound = bound.map(|bound| self.numbered_bound(bound));
            let made = match parted {
                // Members of one set, but possibly different ones.
                _ if same => x,
                Some((one, other)) if !matches!(kind, Kind::Float(_)) => {
                    // For each alternative, the value in the lane that has it.
                    let both = NondetChoice { remaining: one.remaining | other.remaining, ..one };
                    let of = |bit: u8| {
                        let (value, bits) = if one.remaining & bit != 0 { &x } else { &y };
                        let few = if let AbstractValue::OneOf(few) = value { Some(few) } else { None };
                        let made = few.and_then(|few| few.restricted(NondetChoice { remaining: bit, ..one }));
                        made.unwrap_or_else(|| (value.clone(), *bits))
                    };
                    let values: Vec<_> = both.each().map(of).collect();
                    self.picked(kind, &Arc::new(CorrelatedSet::of(both, 0..values.len() as u64)), &values)
                }
                _ => self.union(kind, (&x.0, x.1), (&y.0, y.1)),
            };
            column.set_made(stays, made, bound);
            self.give(reg as Reg, column);
        }
        self.carried = carried;
        stays
    }
}

struct Parts(Vec<Vec<u32>>);

impl Parts {
    fn into_two(mut self) -> (Vec<u32>, Vec<u32>) {
        let second = self.0.pop().unwrap_or_default();
        (self.0.pop().unwrap_or_default(), second)
    }
}
