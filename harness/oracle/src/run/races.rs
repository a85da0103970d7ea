//! Epoch-based data race detection in the manner of FastTrack (Flanagan & Freund, PLDI 2009),
//! adapted to workgroups.
//!
//! A data race is a pair of accesses by different invocations to one location, one of them a write,
//! that happens-before does not order. Every granule of memory remembers its last writer and its
//! last reader, each with the time of the access, once for plain accesses and once for atomics.
//! Time is one counter for each workgroup, which release operations advance. Control barriers whose
//! memory semantics cover the storage, or fences around them, start a new epoch: accesses before
//! the epoch happen before those that follow.
//!
//! Differences from FastTrack:
//!
//! * Barriers synchronise whole workgroups, so one clock for each class of memory (buffers, images,
//!   workgroup memory) replaces the vector clock of each thread.
//! * In place of a vector of readers, flags say that several invocations of the workgroup, or
//!   invocations of other workgroups, made such accesses. Only one conflicting invocation is named.
//! * The same flags are kept for writers: several atomics may write without a race.
//! * Between workgroups nothing orders plain accesses.
//!
//! Limits: synchronisation through atomics is not modelled. If the shader has atomics or fences
//! with acquire or release semantics of a scope that reaches both invocations, they may order a
//! conflict. It is then not reported as a race. The values involved become undetermined, and so do
//! values that were read before the other invocation wrote, once the write is known. Only accesses
//! of this execution are seen, in granules of the smallest scalar that the shader accesses, at most
//! 4 bytes.

use super::Run;
use crate::abstract_value::AbstractValue;
use crate::dispatch::Resource;
use crate::inst::{Inst, Order};
use crate::memory::Object;
use crate::outcome::{CauseKind, FaultKind};
use crate::program::ObjectKind;
use assay_spirv::tables::Scope;
use std::ops::Range;

/// Flag of an invocation's number in a record: the scope of its atomic reaches no further than the
/// workgroup.
const NARROW: u32 = 1 << 31;
/// Flag: other invocations of the workgroup made such accesses since the last barrier.
const SEVERAL: u32 = 1 << 30;
/// Flag: invocations of other workgroups made such accesses.
const ABROAD: u32 = 1 << 29;
/// Flag: the access was possibly not made.
const PERHAPS: u32 = 1 << 28;
/// Flag: an atomic of 64 bits.
const WIDE: u32 = 1 << 27;
/// Flag: an atomic of fewer bits.
const SHORT: u32 = 1 << 26;
/// Flag: the scope of the atomic reaches no further than the subgroup.
const CLOSE: u32 = 1 << 25;
/// Flag of a time: the access was private.
const PRIVATE: u32 = 1 << 31;
/// Mask of the invocation's number, which begins at 1.
const NUMBER: u32 = CLOSE - 1;
/// Largest number of invocations that records can tell apart.
pub(super) const NUMBERED: u64 = NUMBER as u64 - 1;

/// The last accesses to one granule of memory. Plain and atomic accesses do not hide each other.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    plain: Last,
    atomic: Last,
}

/// The last accesses of a kind, with their times. Invocation numbers begin at 1; 0 means no access.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    writer: u32,
    written: u32,
    reader: u32,
    read: u32,
}

impl Record {
    fn is_written(&self) -> bool {
        self.plain.writer != 0 || self.atomic.writer != 0
    }

    fn is_accessed(&self) -> bool {
        self.is_written() || self.plain.reader != 0 || self.atomic.reader != 0
    }
}

/// The state of the race detector: the records of all memory that may be written.
#[derive(Debug, Default)]
pub(crate) struct Races {
    /// Records by object; empty for objects that are not written.
    shadows: Vec<Vec<Record>>,
    /// Written granules by object, a bit each, where there is nobody to race with and so no record.
    marks: Vec<Vec<u64>>,
    /// Size of a granule in bytes, as a power of two.
    shift: u32,
    lanes: u32,
    /// Number of the workgroup's first invocation.
    first: u32,
    /// Start of the current epoch: earlier accesses of the workgroup happen before the next one.
    epochs: Epochs,
    /// Accesses before `pending` have been released; those before `released`, with a control
    /// barrier of the workgroup since.
    pending: Epochs,
    released: Epochs,
    /// Set for objects that are images.
    are_images: Vec<bool>,
    /// The time at which the workgroup began.
    pub(super) begun: u32,
    /// The current time: the number of release operations.
    now: u32,
    /// Set while a private access is made, which nothing orders with those of other invocations.
    pub(super) is_private: bool,
    /// Set if atomics or fences may order workgroups, and invocations of one workgroup,
    /// respectively.
    orders_device: bool,
    orders_group: bool,
    /// The subgroup of each invocation of the workgroup, or one that it may be in.
    pub(super) subgroup_of: Vec<u32>,
    /// Set if the layout of subgroups is known.
    pub(super) subgroups_known: bool,
    /// Set once a barrier or fence of subgroups was executed.
    orders_subgroup: bool,
}

/// A time for each class of memory.
#[derive(Clone, Copy, Debug, Default)]
struct Epochs {
    buffers: u32,
    images: u32,
    workgroup: u32,
}

impl Epochs {
    /// Copies the times of the classes of memory that the semantics name.
    fn set(&mut self, order: Order, to: Epochs) {
        if order.buffers {
            self.buffers = to.buffers;
        }
        if order.images {
            self.images = to.images;
        }
        if order.workgroup {
            self.workgroup = to.workgroup;
        }
    }

    fn all(time: u32) -> Epochs {
        Epochs { buffers: time, images: time, workgroup: time }
    }
}

/// Two accesses that happens-before does not order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// Number of the other invocation in the dispatch.
    pub(crate) other: u32,
    /// Set if synchronisation that is not modelled may order them.
    perhaps_ordered: bool,
    /// Set if one of them is possibly not made.
    doubtful: bool,
    /// Set if the earlier access read and the later one writes.
    was_read: bool,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) write: bool,
    pub(crate) atomic: Option<Atomic>,
    /// Set if the access is possibly not made: another one may be made instead.
    pub(crate) perhaps: bool,
}

/// An atomic access. Two of them are mutually ordered if they have the same width and each reaches
/// the other's invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Atomic {
    /// Set for 64 bits.
    pub(crate) wide: bool,
    /// Set if the scope reaches no further than the workgroup (`narrow`) or the subgroup (`close`).
    pub(crate) narrow: bool,
    pub(crate) close: bool,
}

impl Races {
    /// Start of the current epoch for an object's memory.
    #[inline]
    pub(super) fn epoch(&self, object: u32) -> u32 {
        match object {
            1 => self.epochs.workgroup,
            _ if self.are_images.get(object as usize) == Some(&true) => self.epochs.images,
            _ => self.epochs.buffers,
        }
    }

    /// Returns true for the number of an invocation of the workgroup.
    #[inline]
    fn is_here(&self, number: u32) -> bool {
        number > self.first && number <= self.first + self.lanes
    }

    /// Returns true if two invocations of the workgroup are, or may be, in one subgroup.
    fn in_one_subgroup(&self, a: u32, b: u32) -> bool {
        let subgroup = |number: u32| self.subgroup_of.get((number - self.first - 1) as usize);
        subgroup(a) == subgroup(b)
    }

    /// The conflict of an access that has these flags with the last one of another invocation, and
    /// its time. "For private memory operations to be Location-Ordered between distinct agents
    /// requires using system-synchronizes-with": atomics and barriers do not order them.
    fn conflict(&self, me: u32, flags: u32, (who, when): (u32, u32)) -> Conflict {
        let other = who & NUMBER;
        let same_group = self.is_here(other);
        let by_subgroup = self.orders_subgroup || (!self.subgroups_known && (flags | who) & CLOSE != 0);
        let same_subgroup = same_group && self.in_one_subgroup(me, other);
        let private = self.is_private || (when & PRIVATE != 0 && other != me);
        let ordered = self.orders_device || (same_group && self.orders_group) || (same_subgroup && by_subgroup);
        let perhaps_ordered = ordered && !private;
        Conflict { other: other - 1, perhaps_ordered, doubtful: false, was_read: false }
    }

    /// The granules of an access, each with its object.
    fn granules(&self, object: usize, offset: usize, size: usize) -> impl Iterator<Item = (u32, u32)> + use<> {
        let (from, to) = (offset >> self.shift, (offset + size - 1) >> self.shift);
        (from..=to).map(move |granule| (object as u32, granule as u32))
    }

    /// Records an access, and returns the first conflict.
    pub(crate) fn access(
        &mut self,
        object: u32,
        offset: usize,
        size: usize,
        lane: usize,
        Access { write, atomic, perhaps }: Access,
    ) -> Option<Conflict> {
        if self.shadows.get(object as usize).is_none_or(Vec::is_empty) {
            if write && let Some(marks) = self.marks.get_mut(object as usize) {
                let granules = offset >> self.shift..=(offset + size - 1) >> self.shift;
                granules.for_each(|granule| marks[granule / 64] |= 1 << (granule % 64));
            }
            return None;
        }
        let me = self.first + 1 + lane as u32;
        let flag = |flag: u32, on: bool| if on { flag } else { 0 };
        let (epoch, now) = (self.epoch(object), self.now | flag(PRIVATE, self.is_private));
        let of_atomic = |Atomic { wide, narrow, close }: Atomic| {
            flag(WIDE, wide) | flag(SHORT, !wide) | flag(NARROW, narrow) | flag(CLOSE, close)
        };
        let flags = atomic.map_or(0, of_atomic) | flag(PERHAPS, perhaps);
        let mut found: Option<Conflict> = None;
        for (_, granule) in self.granules(object as usize, offset, size) {
            let granule = granule as usize;
            let record = self.shadows[object as usize][granule];
            for (last, theirs_atomic) in [(record.plain, false), (record.atomic, true)] {
                let both_atomic = atomic.is_some() && theirs_atomic;
                let mut meet = |(who, when): (u32, u32), was_read: bool| {
                    let first = found.unwrap_or_else(|| self.conflict(me, flags, (who, when)));
                    let doubtful = perhaps || who & PERHAPS != 0;
                    // One certain conflict makes the result certain.
                    let doubtful = doubtful && (found.is_none() || first.doubtful);
                    found = Some(Conflict { doubtful, was_read: first.was_read || was_read, ..first });
                };
                let wrote = self.others(object, me, (last.writer, last.written), epoch);
                if wrote.any() && !(both_atomic && self.mutual(me, flags, last.writer, wrote)) {
                    // The earlier atomic also read, and returned the value it found.
                    meet((last.writer, last.written), write && theirs_atomic);
                }
                let read = self.others(object, me, (last.reader, last.read), epoch);
                if write && read.any() && !(both_atomic && self.mutual(me, flags, last.reader, read)) {
                    meet((last.reader, last.read), true);
                }
            }
            let own = if atomic.is_some() { record.atomic } else { record.plain };
            let (who, when) = if write { (own.writer, own.written) } else { (own.reader, own.read) };
            let others = self.others(object, me, (who, when), epoch);
            // The record does not tell several invocations apart: it takes the flags of all of
            // them.
            let again = when & !PRIVATE >= epoch && who & NUMBER == me;
            let theirs = match () {
                () if others.any() => who & (PERHAPS | NARROW | CLOSE | WIDE | SHORT),
                () if again => who & (NARROW | CLOSE | WIDE | SHORT),
                () => who & NARROW,
            };
            // An access that was certainly made before stays certain.
            let certain = write && again && who & PERHAPS == 0;
            let flags = if certain { flags & !PERHAPS } else { flags };
            let who = me | flags | theirs | flag(SEVERAL, others.here) | flag(ABROAD, others.abroad);
            let record = &mut self.shadows[object as usize][granule];
            let own = if atomic.is_some() { &mut record.atomic } else { &mut record.plain };
            if write {
                (own.writer, own.written) = (who, now);
            } else {
                (own.reader, own.read) = (who, now);
            }
        }
        found
    }

    /// The invocations other than `me` with such accesses that do not happen before the current
    /// one. `who` is the latest one with its flags, `when` its time.
    fn others(&self, object: u32, me: u32, (who, when): (u32, u32), epoch: u32) -> Others {
        let last = who & NUMBER;
        let is_here = self.is_here(last);
        let since = self.is_private || when & PRIVATE != 0 || when >= epoch;
        Others {
            // Several invocations of this workgroup since its last barrier.
            here: is_here && since && (last != me || who & SEVERAL != 0),
            // Each workgroup has its own workgroup memory.
            abroad: object != 1 && last != 0 && (!is_here || who & ABROAD != 0),
        }
    }

    /// Returns true if two atomics are mutually ordered: they have the same width, and each scope
    /// reaches the other.
    fn mutual(&self, me: u32, flags: u32, who: u32, others: Others) -> bool {
        let all = flags | who;
        let reach = match () {
            () if all & (NARROW | CLOSE) == 0 => true,
            () if others.abroad => false,
            () if all & CLOSE == 0 => true,
            () => self.subgroups_known && self.in_one_subgroup(me, who & NUMBER),
        };
        reach && all & (WIDE | SHORT) != WIDE | SHORT
    }

    /// Merges the records of workgroups that ran concurrently with these, and returns the bytes
    /// that they wrote, by object. `None` if one side wrote a granule that the other accessed, so
    /// that they could not run concurrently.
    pub(super) fn join(&mut self, other: &Races) -> Option<Vec<(usize, Vec<Range<usize>>)>> {
        let mut written = Vec::new();
        // The push constants are not written, and workgroup memory belongs to one workgroup.
        let pairs = self.shadows.iter_mut().zip(&other.shadows).enumerate().skip(2);
        for (object, (mine, theirs)) in pairs {
            let mut ranges: Vec<Range<usize>> = Vec::new();
            for (granule, (mine, theirs)) in mine.iter_mut().zip(theirs).enumerate() {
                let meet = |one: &Record, other: &Record| one.is_written() && other.is_accessed();
                if meet(mine, theirs) || meet(theirs, mine) {
                    return None;
                }
                if theirs.is_accessed() {
                    *mine = *theirs;
                }
                if theirs.is_written() {
                    let bytes = granule << self.shift..(granule + 1) << self.shift;
                    extend(&mut ranges, bytes);
                }
            }
            if !ranges.is_empty() {
                written.push((object, ranges));
            }
        }
        Some(written)
    }

    /// Returns true if accesses to shared memory are recorded. They are not for a single
    /// invocation.
    pub(super) fn is_watching(&self) -> bool {
        self.lanes > 0 && self.shadows.iter().skip(2).any(|shadow| !shadow.is_empty())
    }

    /// The bytes of an object that an invocation wrote or may have written, clipped to `bytes`.
    pub(super) fn written(&self, object: usize, bytes: usize) -> Vec<Range<usize>> {
        let mut written = Vec::new();
        let records = self.shadows.get(object).into_iter().flatten().map(Record::is_written);
        let bits = |bits: &u64| -> [bool; 64] { std::array::from_fn(|bit| bits >> bit & 1 == 1) };
        let marks = self.marks.get(object).into_iter().flatten().flat_map(bits);
        for (granule, _) in records.chain(marks).enumerate().filter(|(_, written)| *written) {
            extend(&mut written, granule << self.shift..((granule + 1) << self.shift).min(bytes));
        }
        written
    }

    /// Size of the records in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.shadows.iter().map(|shadow| size_of_val(&shadow[..]) as u64).sum()
    }

    /// Executes a control barrier of the workgroup. "If A is a release barrier, B is an acquire
    /// barrier, and C is a control barrier (where A can equal C, and B can equal C)", A
    /// synchronizes with B if it is before C, and C before B.
    pub(super) fn barrier(&mut self, order: Order) {
        self.release(order);
        self.released = self.pending;
        self.acquire(order);
        self.orders_subgroup |= order.is_of_subgroups();
    }

    /// Executes a fence that the whole workgroup reaches.
    pub(super) fn fence(&mut self, order: Order) {
        self.release(order);
        self.acquire(order);
    }

    /// Executes a barrier of subgroups, or a fence that some invocations reach.
    pub(super) fn fence_of_some(&mut self, order: Order) {
        self.orders_subgroup |= order.orders();
    }

    fn release(&mut self, order: Order) {
        if order.release && order.orders_group() {
            self.now += 1;
            self.pending.set(order, Epochs::all(self.now));
        }
    }

    fn acquire(&mut self, order: Order) {
        if order.acquire && order.orders_group() {
            self.epochs.set(order, self.released);
        }
    }
}

/// The other invocations with an access that happens-before does not order: some of the workgroup,
/// and some of others.
#[derive(Clone, Copy, Debug)]
struct Others {
    here: bool,
    abroad: bool,
}

impl Others {
    fn any(self) -> bool {
        self.here || self.abroad
    }
}

/// Adds a range that does not begin before the end of the last one.
fn extend(ranges: &mut Vec<Range<usize>>, next: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == next.start => last.end = next.end,
        _ => ranges.push(next),
    }
}

impl Run<'_> {
    /// Begins a workgroup. No access of another workgroup happens before its accesses.
    pub(super) fn begin_races(&mut self) {
        if self.races.shadows.is_empty() {
            self.make_shadows();
        }
        self.races.first = self.place * self.races.lanes;
        self.races.now += 1;
        self.races.begun = self.races.now;
        let begun = Epochs::all(self.races.now);
        (self.races.epochs, self.races.pending, self.races.released) = (begun, begun, begun);
        self.races.orders_subgroup = false;
    }

    fn make_shadows(&mut self) {
        let groups = self.dispatch.groups.iter().fold(1u64, |all, n| all.saturating_mul(u64::from(*n)));
        let program = self.program;
        let mut shift = 2;
        let (mut device, mut group) = (false, false);
        let atomics = program.code.iter().any(|inst| matches!(inst, Inst::Atomic { .. }));
        let barriers = program.code.iter().any(|inst| matches!(inst, Inst::Barrier { .. }));
        for inst in &program.code {
            match inst {
                // A control barrier is also a fence: around atomics it can order accesses of
                // another workgroup.
                Inst::Barrier { order, .. } => {
                    device |= atomics && order.orders_device();
                    // Another instruction may make available and visible the memory that it orders.
                    group |= order.partial;
                }
                Inst::Load { leaves, .. } | Inst::Store { leaves, .. } => {
                    let least = leaves.iter().map(|leaf| leaf.kind.bytes()).min().unwrap_or(4);
                    shift = shift.min(least.trailing_zeros());
                }
                // A fence alone orders nothing. It needs an atomic or a barrier that another
                // invocation observes.
                Inst::Fence { .. } if !atomics && !barriers => {}
                Inst::Atomic { order, .. } | Inst::Fence { order } => {
                    if let Inst::Atomic { kind, .. } = inst {
                        shift = shift.min(kind.bytes().trailing_zeros());
                    }
                    device |= order.orders_device();
                    group |= order.orders() && Scope::from_word(order.scope) == Some(Scope::Workgroup);
                }
                _ => {}
            }
        }
        // Texels are read and written channel by channel.
        for resource in self.dispatch.bindings.values() {
            let Resource::Image(image) = resource else { continue };
            let scalars = crate::texel_scalars(image.format).unwrap_or_default();
            let least = scalars.iter().map(|scalar| scalar.width() / 8).min().unwrap_or(4);
            shift = shift.min(least.trailing_zeros());
        }
        let alone = groups * self.lanes as u64 <= 1;
        let (mut shadows, mut marks) = (vec![Vec::new(); self.objects.len()], Vec::new());
        if alone {
            let bits = |object: &Object| vec![0; object.bytes.len().div_ceil(64 << shift)];
            marks = self.objects.iter().map(bits).collect();
        } else {
            let granules = |bytes: usize| bytes.div_ceil(1 << shift);
            for (place, object) in self.objects.iter().enumerate().skip(1) {
                if place == 1 || self.is_writable(place) {
                    shadows[place] = vec![Record::default(); granules(object.bytes.len())];
                }
            }
        }
        self.races = Races {
            shadows,
            marks,
            shift,
            are_images: self.images.iter().map(Option::is_some).collect(),
            lanes: self.lanes as u32,
            orders_device: device,
            orders_group: group,
            ..Races::default()
        };
    }

    /// Returns true if the shader has a writable variable for an object, or may reach it by an
    /// address.
    pub(super) fn is_writable(&self, place: usize) -> bool {
        let mut named = false;
        for declared in &self.program.objects {
            let ObjectKind::Binding(_) = declared.kind else { continue };
            let numbers = declared.first..declared.first + declared.count;
            if numbers.clone().any(|n| self.numbers.get(n as usize) == Some(&(place as u32))) {
                named = true;
                if declared.writable {
                    return true;
                }
            }
        }
        !named || !self.addresses.is_empty()
    }

    /// Records a write. After a data race the memory is undetermined.
    #[inline]
    pub(super) fn note_write(&mut self, object: usize, offset: usize, size: usize, lane: usize) {
        let raced = self.accessed(object, offset, size, lane, (true, None));
        self.end_trails(object, offset, size, raced.is_none() && !self.in_doubt && !self.forks.is_weak(lane));
        if let Some(cause) = raced {
            self.objects[object].write(offset, size, 0, AbstractValue::Unknown(cause), cause);
        }
    }

    /// Records a read; returns the cause of an undetermined value if it races.
    #[inline]
    pub(super) fn note_read(&mut self, object: usize, offset: usize, size: usize, lane: usize) -> Option<u32> {
        self.accessed(object, offset, size, lane, (false, None))
    }

    /// Records an access. Returns the cause for the values involved if it races, or if the value
    /// read may be written before or after it.
    #[inline]
    pub(super) fn accessed(
        &mut self,
        object: usize,
        offset: usize,
        size: usize,
        lane: usize,
        (write, atomic): (bool, Option<Atomic>),
    ) -> Option<u32> {
        let perhaps = self.in_doubt || self.forks.is_weak(lane);
        let invocation = self.forks.original(lane);
        let access = Access { write, atomic, perhaps };
        if let Some(conflict) = self.races.access(object as u32, offset, size, invocation, access) {
            return Some(self.raced(conflict, lane, (object, offset, size)));
        }
        let reads = !write || atomic.is_some();
        let early = &self.contention.early;
        if reads && !early.is_empty() && self.races.granules(object, offset, size).any(|place| early.contains(&place)) {
            return Some(self.cause(CauseKind::PossibleRace));
        }
        None
    }

    /// Reports a conflict and returns the cause for the values involved.
    fn raced(&mut self, conflict: Conflict, lane: usize, (object, offset, size): (usize, usize, usize)) -> u32 {
        if conflict.perhaps_ordered {
            if conflict.was_read {
                self.contention.found_early.extend(self.races.granules(object, offset, size));
            }
            return self.cause(CauseKind::PossibleRace);
        }
        if conflict.doubtful {
            let cause = self.cause(CauseKind::Precision);
            if conflict.was_read {
                // The value read may have come from here and may have reached any memory since.
                let _stop = self.lose_everything(cause);
            }
            return cause;
        }
        let (group, index) = (conflict.other / self.lanes as u32, conflict.other % self.lanes as u32);
        let [x, y, z] = self.global_id(self.group_id(self.group_number(u64::from(group))), index);
        let detail =
            || format!("invocation {x}, {y}, {z} accesses it, too; one of the two writes, and nothing orders them");
        self.fault_in(FaultKind::DataRace, lane, Some((object, offset as i64)), detail)
    }
}
