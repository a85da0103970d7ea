//! Races: accesses of different invocations to the same memory, one of them a write, with nothing that orders them.
//!
//! Within a workgroup, control barriers whose memory semantics cover the storage order what comes before them before what
//! comes after: an epoch ends. Between workgroups nothing orders plain accesses; where the shader has atomics or fences
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
/// Others of its workgroup have read since the last barrier.
const SEVERAL: u32 = 1 << 30;
/// Invocations of other workgroups have read.
const ABROAD: u32 = 1 << 29;
/// It is not certain that the invocation made the access.
const PERHAPS: u32 = 1 << 28;
/// An atomic of 64 bits.
const WIDE: u32 = 1 << 27;
/// Numbers begin at 1, and end below this.
const NUMBER: u32 = WIDE - 1;
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
    write_epoch: u32,
    reader: u32,
    read_epoch: u32,
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
    /// Epoch in which the workgroup is, of buffers, of images and of its own memory.
    buffers: u32,
    images: u32,
    workgroup: u32,
    /// Which objects are images.
    are_images: Vec<bool>,
    /// The epoch in which the workgroup began.
    pub(super) begun: u32,
    last_epoch: u32,
    /// Whether atomics or fences may order workgroups, and invocations of one.
    orders_device: bool,
    orders_group: bool,
    /// The workgroup's subgroup that each invocation is in, or may be in.
    pub(super) subgroup_of: Vec<u32>,
    /// Whether barriers or fences of subgroups were executed.
    pub(super) orders_subgroup: bool,
}

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The other invocation: its number in the dispatch.
    pub(crate) other: u32,
    /// Whether something that is not followed may order them, and whether it may order them either way: barriers of a subgroup
    /// keep the order of the program.
    perhaps_ordered: bool,
    either_way: bool,
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
    /// Whether its scope reaches no further than the workgroup.
    pub(crate) narrow: bool,
}

impl Races {
    /// The epoch of an object's memory in which the workgroup is.
    #[inline]
    pub(super) fn epoch(&self, object: u32) -> u32 {
        match object {
            1 => self.workgroup,
            _ if self.are_images.get(object as usize) == Some(&true) => self.images,
            _ => self.buffers,
        }
    }

    /// Whether a number is that of an invocation of the workgroup.
    #[inline]
    fn is_here(&self, number: u32) -> bool {
        number > self.first && number <= self.first + self.lanes
    }

    /// Whether an access of `other` in `epoch` may be at the same time as one of `me`.
    #[inline]
    fn unordered(&self, object: u32, me: u32, other: u32, epoch: u32) -> bool {
        let other = other & NUMBER;
        if other == 0 || other == me {
            return false;
        }
        match (object, self.is_here(other)) {
            // Workgroup memory of another workgroup is other memory.
            (1, false) => false,
            (_, false) => true,
            (_, true) => epoch >= self.epoch(object),
        }
    }

    fn conflict(&self, me: u32, other: u32) -> Conflict {
        let other = other & NUMBER;
        let same_group = self.is_here(other);
        let subgroup = |number: u32| self.subgroup_of.get((number - self.first - 1) as usize);
        let same_subgroup = same_group && subgroup(other) == subgroup(me);
        let either_way = self.orders_device || (same_group && self.orders_group);
        let perhaps_ordered = either_way || (same_subgroup && self.orders_subgroup);
        Conflict { other: other - 1, perhaps_ordered, either_way, doubtful: false, was_read: false }
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
        let epoch = self.epoch(object);
        let flag = |flag: u32, on: bool| if on { flag } else { 0 };
        let flags =
            atomic.map_or(0, |atomic| flag(WIDE, atomic.wide) | flag(NARROW, atomic.narrow)) | flag(PERHAPS, perhaps);
        let mut found: Option<Conflict> = None;
        for (_, granule) in self.granules(object as usize, offset, size) {
            let granule = granule as usize;
            let record = self.shadows[object as usize][granule];
            for (last, theirs_atomic) in [(record.plain, false), (record.atomic, true)] {
                // Atomics that reach the same bytes and each other are ordered by themselves.
                let mutual = |who: u32| {
                    let reach = (flags | who) & NARROW == 0 || self.is_here(who & NUMBER);
                    atomic.is_some() && theirs_atomic && (flags ^ who) & WIDE == 0 && reach
                };
                let mut meet = |who: u32, was_read: bool| {
                    let first = found.unwrap_or_else(|| self.conflict(me, who));
                    let doubtful = perhaps || who & PERHAPS != 0;
                    // One conflict that is certain is enough.
                    let doubtful = doubtful && (found.is_none() || first.doubtful);
                    found = Some(Conflict { doubtful, was_read: first.was_read || was_read, ..first });
                };
                if self.unordered(object, me, last.writer, last.write_epoch) && !mutual(last.writer) {
                    // An atomic gave what it had found.
                    meet(last.writer, write && theirs_atomic);
                }
                let (several, abroad) = self.readers(object, me, &last, epoch);
                if write && (abroad || several) && !mutual(last.reader) {
                    meet(last.reader, true);
                }
            }
            let own = if atomic.is_some() { record.atomic } else { record.plain };
            let (several, abroad) = self.readers(object, me, &own, epoch);
            let record = &mut self.shadows[object as usize][granule];
            let own = if atomic.is_some() { &mut record.atomic } else { &mut record.plain };
            if write {
                let before = own.write_epoch == epoch && own.writer & (NUMBER | PERHAPS) == me;
                own.writer = me | if before { flags & !PERHAPS } else { flags };
                own.write_epoch = epoch;
            } else {
                // Perhaps, or of narrow scope, if any of them is: who it is that conflicts is not told apart.
                let theirs = if several || abroad { own.reader & (PERHAPS | NARROW) } else { 0 };
                own.reader = me | flags | theirs | flag(SEVERAL, several) | flag(ABROAD, abroad);
                own.read_epoch = epoch;
            }
        }
        found
    }

    /// Whether there are readers of this workgroup, and of others, which nothing orders before an access.
    fn readers(&self, object: u32, me: u32, last: &Last, epoch: u32) -> (bool, bool) {
        let reader = last.reader & NUMBER;
        let here = self.is_here(reader);
        // Readers of other workgroups, which nothing orders, and several of this one since its last barrier.
        let abroad = object != 1 && reader != 0 && (!here || last.reader & ABROAD != 0);
        let several = here && last.read_epoch >= epoch && (reader != me || last.reader & SEVERAL != 0);
        (several, abroad)
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

    /// A barrier of the workgroup with these semantics was executed by all.
    pub(super) fn barrier(&mut self, order: Order) {
        let both = order.acquire && order.release;
        let reaches = matches!(
            Scope::from_word(order.scope),
            Some(Scope::Workgroup | Scope::QueueFamily | Scope::Device | Scope::CrossDevice)
        );
        if both && reaches {
            self.last_epoch += 1;
            if order.buffers {
                self.buffers = self.last_epoch;
            }
            if order.images {
                self.images = self.last_epoch;
            }
            if order.workgroup {
                self.workgroup = self.last_epoch;
            }
        }
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
        self.races.last_epoch += 1;
        self.races.begun = self.races.last_epoch;
        self.races.buffers = self.races.last_epoch;
        self.races.images = self.races.last_epoch;
        self.races.workgroup = self.races.last_epoch;
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
                Inst::Barrier { order, .. } if atomics => device |= order.orders_device(),
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
            if conflict.was_read && conflict.either_way {
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
