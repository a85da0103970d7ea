//! Races: accesses of different invocations to the same memory, one of them a write, with nothing that orders them.
//!
//! Within a workgroup, control barriers whose memory semantics cover the storage, or fences around them, order what comes before them before
//! what comes after: an epoch ends. Between workgroups nothing orders plain accesses; where the shader has atomics or fences
//! with acquire or release semantics of a scope that reaches so far, they may, and a conflict is not called a race but what
//! it leads to is undetermined: so is what was read before the other invocation wrote, once it is known that it does. Every
//! location remembers its last writer and its last readers.

use super::Run;
use crate::dispatch::Resource;
use crate::inst::{Inst, Order};
use crate::outcome::{CauseKind, FaultKind};
use crate::program::ObjectKind;
use crate::value::Value;
use assay_spirv::tables::Scope;
use std::ops::Range;

/// Flags of an invocation's number in a record: of atomics, whether their scope reaches no further than the workgroup.
const NARROW: u32 = 1 << 31;
/// Others of its workgroup have made such accesses since the last barrier.
const SEVERAL: u32 = 1 << 30;
/// Invocations of other workgroups have made such accesses.
const ABROAD: u32 = 1 << 29;
/// It is not certain that the invocation made the access.
const PERHAPS: u32 = 1 << 28;
/// Atomics of 64 bits.
const WIDE: u32 = 1 << 27;
/// Atomics of fewer bits.
const SHORT: u32 = 1 << 26;
/// Of atomics, whether their scope reaches no further than the subgroup.
const CLOSE: u32 = 1 << 25;
/// Of a time: the access was private.
const PRIVATE: u32 = 1 << 31;
/// Numbers begin at 1, and end here.
const NUMBER: u32 = CLOSE - 1;
/// So many invocations can be told apart.
pub(super) const NUMBERED: u64 = NUMBER as u64 - 1;

/// The last accesses to one granule of memory: neither kind hides the other.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    plain: Last,
    atomic: Last,
}

/// The last accesses of a kind; numbers are from 1, 0 is nobody.
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

/// The records of all memory that may be written.
#[derive(Debug, Default)]
pub(crate) struct Races {
    /// By object; empty where nothing writes.
    shadows: Vec<Vec<Record>>,
    /// Bytes of a granule, as a power of two.
    shift: u32,
    lanes: u32,
    /// Number of the workgroup's first invocation.
    first: u32,
    /// Since when nothing is ordered before what comes: all accesses before are.
    epochs: Epochs,
    /// Before when all accesses are released, and with a barrier of the workgroup having come since.
    pending: Epochs,
    released: Epochs,
    /// Which objects are images.
    are_images: Vec<bool>,
    /// The time at which the workgroup began.
    pub(super) begun: u32,
    /// Counts barriers and fences.
    now: u32,
    /// Whether the access that is made is private, so that nothing orders it and those of other invocations.
    pub(super) is_private: bool,
    /// Whether atomics or fences may order workgroups, and invocations of one.
    orders_device: bool,
    orders_group: bool,
    /// The workgroup's subgroup that each invocation is in, or may be in.
    pub(super) subgroup_of: Vec<u32>,
    /// Whether it is known which it is in.
    pub(super) subgroups_known: bool,
    /// Whether barriers or fences of subgroups were executed.
    orders_subgroup: bool,
}

/// Times by the memory that they are about.
#[derive(Clone, Copy, Debug, Default)]
struct Epochs {
    buffers: u32,
    images: u32,
    workgroup: u32,
}

impl Epochs {
    /// The same time for the memory that semantics are about.
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

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The other invocation: its number in the dispatch.
    pub(crate) other: u32,
    /// Whether something that is not followed may order them.
    perhaps_ordered: bool,
    /// Whether one of them is not certain to be made.
    doubtful: bool,
    /// Whether what was read before is written now.
    was_read: bool,
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) write: bool,
    pub(crate) atomic: Option<Atomic>,
    /// Whether it is one of several that may be made instead.
    pub(crate) perhaps: bool,
}

/// An atomic access: two of them are ordered by themselves if they reach the same bytes, and each other's invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Atomic {
    /// Whether it is of 64 bits.
    pub(crate) wide: bool,
    /// Whether its scope reaches no further than the workgroup, and than the subgroup.
    pub(crate) narrow: bool,
    pub(crate) close: bool,
}

impl Races {
    /// Since when nothing is ordered of an object's memory.
    #[inline]
    pub(super) fn epoch(&self, object: u32) -> u32 {
        match object {
            1 => self.epochs.workgroup,
            _ if self.are_images.get(object as usize) == Some(&true) => self.epochs.images,
            _ => self.epochs.buffers,
        }
    }

    /// Whether a number is that of an invocation of the workgroup.
    #[inline]
    fn is_here(&self, number: u32) -> bool {
        number > self.first && number <= self.first + self.lanes
    }

    /// Whether two invocations of the workgroup are in one subgroup, or may be.
    fn in_one_subgroup(&self, a: u32, b: u32) -> bool {
        let subgroup = |number: u32| self.subgroup_of.get((number - self.first - 1) as usize);
        subgroup(a) == subgroup(b)
    }

    /// What there is to say of an access with these flags and the last one of another invocation, with its time. "For private memory
    /// operations to be Location-Ordered between distinct agents requires using system-synchronizes-with": no atomic and no barrier does it.
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

    /// Notes an access; gives the first one that it races with.
    pub(crate) fn access(
        &mut self,
        object: u32,
        offset: usize,
        size: usize,
        lane: usize,
        Access { write, atomic, perhaps }: Access,
    ) -> Option<Conflict> {
        if self.shadows.get(object as usize).is_none_or(Vec::is_empty) {
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
                    // One conflict that is certain is enough.
                    let doubtful = doubtful && (found.is_none() || first.doubtful);
                    found = Some(Conflict { doubtful, was_read: first.was_read || was_read, ..first });
                };
                let wrote = self.others(object, me, (last.writer, last.written), epoch);
                if wrote.any() && !(both_atomic && self.mutual(me, flags, last.writer, wrote)) {
                    // An atomic gave what it had found.
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
            // Who it is that conflicts is not told apart: perhaps, and of such scope or width, if any of them is.
            let again = when & !PRIVATE >= epoch && who & NUMBER == me;
            let theirs = match () {
                () if others.any() => who & (PERHAPS | NARROW | CLOSE | WIDE | SHORT),
                () if again => who & (NARROW | CLOSE | WIDE | SHORT),
                () => who & NARROW,
            };
            // What it did before for certain it has done.
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

    /// Who else has made accesses, of which the last is given with its time, that nothing orders before one of `me`.
    fn others(&self, object: u32, me: u32, (who, when): (u32, u32), epoch: u32) -> Others {
        let last = who & NUMBER;
        let is_here = self.is_here(last);
        let since = self.is_private || when & PRIVATE != 0 || when >= epoch;
        Others {
            // Several of this workgroup since its last barrier.
            here: is_here && since && (last != me || who & SEVERAL != 0),
            // Workgroup memory of another workgroup is other memory.
            abroad: object != 1 && last != 0 && (!is_here || who & ABROAD != 0),
        }
    }

    /// Whether atomics are ordered by themselves: they reach the same bytes, and each other.
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

    /// Takes in what other workgroups did that ran apart from these: gives the bytes that they wrote, by object. `None` if one
    /// side wrote what the other one accessed, so that they could not run apart.
    pub(super) fn join(&mut self, other: &Races) -> Option<Vec<(usize, Vec<Range<usize>>)>> {
        let mut written = Vec::new();
        // The push constants are not written; workgroup memory is each workgroup's own.
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

    /// Whether it tells which memory was accessed: not where there is nobody to race with.
    pub(super) fn is_watching(&self) -> bool {
        self.lanes > 0 && self.shadows.iter().skip(2).any(|shadow| !shadow.is_empty())
    }

    /// The bytes of an object that were written, as far as they lie inside.
    pub(super) fn written(&self, object: usize, bytes: usize) -> Vec<Range<usize>> {
        let mut written = Vec::new();
        for (granule, record) in self.shadows.get(object).into_iter().flatten().enumerate() {
            if record.is_written() {
                extend(&mut written, granule << self.shift..((granule + 1) << self.shift).min(bytes));
            }
        }
        written
    }

    /// Bytes that the records take.
    pub(super) fn bytes(&self) -> u64 {
        self.shadows.iter().map(|shadow| size_of_val(&shadow[..]) as u64).sum()
    }

    /// A barrier of the workgroup with these semantics was executed by all. "If A is a release barrier, B is an acquire barrier, and C is a
    /// control barrier (where A can equal C, and B can equal C)", A synchronizes with B if it is before C, and C before B.
    pub(super) fn barrier(&mut self, order: Order) {
        self.release(order);
        self.released = self.pending;
        self.acquire(order);
        self.orders_subgroup |= order.is_of_subgroups();
    }

    /// A fence with these semantics was executed by all.
    pub(super) fn fence(&mut self, order: Order) {
        self.release(order);
        self.acquire(order);
    }

    /// A barrier of subgroups, or a fence, with these semantics was executed by some.
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

/// Who has made accesses that nothing orders before another one: invocations of its workgroup, and of others.
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

/// Adds a range that begins where the last one ends, or after it.
fn extend(ranges: &mut Vec<Range<usize>>, next: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == next.start => last.end = next.end,
        _ => ranges.push(next),
    }
}

impl Run<'_> {
    /// Begins a workgroup: nothing that others did is ordered before it.
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
                // A barrier of the workgroup is a fence, too: before and after an atomic it orders what another workgroup does.
                Inst::Barrier { order, .. } => {
                    device |= atomics && order.orders_device();
                    // What it orders may be made available and visible by something else.
                    group |= order.partial;
                }
                Inst::Load { leaves, .. } | Inst::Store { leaves, .. } => {
                    let least = leaves.iter().map(|leaf| leaf.kind.bytes()).min().unwrap_or(4);
                    shift = shift.min(least.trailing_zeros());
                }
                // A fence by itself orders nothing: it needs an atomic, or a barrier, that another invocation sees.
                Inst::Fence { .. } if !atomics && !barriers => {}
                Inst::Atomic { order, .. } | Inst::Fence { order } => {
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
        // What a sample wrote is known by the records.
        let alone = groups * self.lanes as u64 <= 1 && self.dispatch.only.is_none();
        let mut shadows = vec![Vec::new(); self.objects.len()];
        if !alone {
            let granules = |bytes: usize| bytes.div_ceil(1 << shift);
            for (place, object) in self.objects.iter().enumerate().skip(1) {
                if place == 1 || self.is_writable(place) {
                    shadows[place] = vec![Record::default(); granules(object.bytes.len())];
                }
            }
        }
        self.races = Races {
            shadows,
            shift,
            are_images: self.images.iter().map(Option::is_some).collect(),
            lanes: self.lanes as u32,
            orders_device: device,
            orders_group: group,
            ..Races::default()
        };
    }

    /// Whether the shader has a variable for an object that it may write through (or may point anywhere).
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

    /// Notes a write. What it races with is a fault, or leaves the memory undetermined.
    #[inline]
    pub(super) fn note_write(&mut self, object: usize, offset: usize, size: usize, lane: usize) {
        let raced = self.accessed(object, offset, size, lane, (true, None));
        self.end_trails(object, offset, size, raced.is_none() && !self.in_doubt && !self.forks.is_weak(lane));
        if let Some(cause) = raced {
            self.objects[object].write(offset, size, 0, Value::Any(cause), cause);
        }
    }

    /// Notes a read; the cause of an undetermined value if it races.
    #[inline]
    pub(super) fn note_read(&mut self, object: usize, offset: usize, size: usize, lane: usize) -> Option<u32> {
        self.accessed(object, offset, size, lane, (false, None))
    }

    /// Notes an access; the cause for the values involved if it races, or if what it finds may be written before it or after.
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

    /// What becomes of a conflict: the cause for the values involved.
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
                // What has been read may have come from here, and be anywhere by now.
                let _stop = self.lose_everything(cause);
            }
            return cause;
        }
        let (group, index) = (conflict.other / self.lanes as u32, conflict.other % self.lanes as u32);
        let group = self.group_number(u64::from(group));
        let detail = || {
            format!(
                "at offset {offset}, with invocation {index} of workgroup {group} (counted in order): nothing orders \
                 the two accesses, and one writes"
            )
        };
        self.fault(FaultKind::DataRace, lane, detail)
    }
}
