//! Data race detection with epochs, in the manner of FastTrack (Flanagan & Freund, "FastTrack:
//! Efficient and Precise Dynamic Race Detection", PLDI 2009), adapted to workgroups.
//!
//! # Definition
//!
//! Vulkan, appendix "Memory Model", section "Data Race":
//!
//! > Let X and Y be operations that access overlapping sets of memory locations M, where X != Y,
//! > and at least one of X and Y is a write, and X and Y are not mutually-ordered atomic
//! > operations. If there does not exist a location-ordered relation between X and Y for each
//! > location in M, then there is a data race.
//!
//! By the sections "Location-Ordered" and "Happens-Before", accesses of two invocations of one
//! dispatch are location-ordered only if both are non-private, X happens before Y, and a write X is
//! made available before Y and, if Y reads, visible to it. One rule of "Synchronizes-With" needs no
//! atomics: a release barrier A synchronizes with an acquire barrier B if there is a control
//! barrier C with
//!
//! * A program-ordered before C or equal to it, and C before B or equal to it,
//! * A and B in each other's memory scopes, and in the execution scope of C.
//!
//! All other rules go through atomics. Happens-before exists for each class of memory on its own
//! ("inter-thread-happens-before<SC>"): A and B order the classes that both name in their
//! semantics. C need not name any.
//!
//! # Algorithm
//!
//! *Time.* The time of an access is the number of release barriers that its invocation executed
//! before it. All invocations of a workgroup execute the counted barriers together, therefore one
//! counter, [`RaceDetector::now`], serves all of them. It continues from one workgroup to the next.
//!
//! *Two-stage release.* The rule above has three events, and there is one state for each:
//!
//! ```text
//! A, release:          now += 1; pending[c] = now    for each class c that A names
//! C, control barrier:  released = pending
//! B, acquire:          epochs[c] = released[c]       for each class c that B names
//! ```
//!
//! An `OpControlBarrier` is C, and by its semantics also A before that and B after that. An access
//! X to class `c` at time `t` happens before the next access of any invocation of the workgroup if
//! `t < epochs[c]`: after X came some A with `t < now`, after A some C, after C some B. If `t >=
//! epochs[c]`, no such A, C and B exist.
//!
//! *Records.* Each granule of memory has the [`LastAccesses`] of either kind: the last plain write,
//! plain read, atomic write and atomic read, each with invocation, flags and time. A new access
//! meets the two records of writes and, if it writes, those of reads. It conflicts with those that
//! do not happen before it, except for mutually-ordered atomics: those of equal width that are in
//! the scope of each other.
//!
//! # Comparison with FastTrack
//!
//! * FastTrack stores the last write as an epoch (a clock and a thread) and compares it with the
//!   vector clock of the current thread. A barrier of a workgroup joins the vector clocks of all
//!   its threads, so that one epoch for each class of memory (buffers, images, workgroup memory)
//!   takes their place. No vector clock relates workgroups: nothing orders plain accesses of
//!   different workgroups.
//! * FastTrack keeps a vector of readers where reads are concurrent. Here two flags replace it:
//!   [`SEVERAL`] (further invocations of the workgroup, since the epoch began) and
//!   [`OTHER_WORKGROUPS`] (invocations of other workgroups, at any time). They suffice to decide
//!   whether there is a conflict, but only the last of the invocations can be named.
//! * The same flags are kept for writers: atomics of several invocations write without a race.
//!
//! # Approximations
//!
//! A fault is reported only if both accesses are certain to be executed and nothing that is not
//! modelled can order them. Each approximation errs to the other side: it takes a conflict for one
//! that is possibly ordered or possibly not executed, after which the values are undetermined, or
//! it misses a conflict.
//!
//! * Atomics and fences with acquire or release semantics are not followed. If the shader contains
//!   one whose scope reaches both invocations, every conflict of the two counts as possibly ordered
//!   ([`RaceDetector::orders_device`], [`RaceDetector::orders_group`]). Values that were read
//!   before the other invocation wrote then become undetermined as well, in another run that knows
//!   the write. The exceptions are private accesses: "for private memory operations to be
//!   Location-Ordered between distinct agents requires using system-synchronizes-with rather than
//!   shader-based synchronization".
//! * A barrier of subgroups, once executed, possibly orders all invocations that may be in one
//!   subgroup.
//! * Availability and visibility: barriers that order memory without making it available and
//!   visible, where the memory model requires them to say so, order possibly ([`Order::partial`]).
//! * An access of an invocation that took both sides of an undecided branch, or through one of
//!   several pointers, is possibly not executed ([`UNCERTAIN`]). A record of several invocations
//!   has the flags of all of them.
//! * A record has one time. If its accesses were released at different barriers ([`PARTED`]), an
//!   acquire barrier may order the earlier ones but not the last, and its conflicts count as
//!   possibly not executed. This takes a barrier that releases without acquiring.
//! * "Mutually-ordered" asks for the same set of locations and the same reference. Only the width
//!   is compared, and all widths below 64 bits count as one. Overlapping atomics through two
//!   descriptors are therefore not reported.
//! * Granules have the size of the smallest scalar that the shader accesses, at most 4 bytes.
//!   Scalars are aligned to their size, so that a granule never belongs to two of them.
//! * A benign race (GPUVerify's word: Betts et al., "GPUVerify: A Verifier for GPU Kernels", OOPSLA
//!   2012) is undefined behaviour like any other, unless the dispatch permits it. It is one if the
//!   memory holds exactly the stored bits already, and all conflicting accesses are plain stores.
//! * Only accesses of this execution are seen, with one set of inputs. Up to the first conflict no
//!   value depends on the order of invocations, so that every execution has the conflict.

mod recording;
mod shadow_memory;

use crate::inst::Order;
use shadow_memory::ShadowMemory;
use std::ops::Range;

/// Flag of an invocation's number in a record: the scope of its atomic reaches no further than the
/// workgroup.
const WORKGROUP_SCOPE: u32 = 1 << 31;
/// Flag: other invocations of the workgroup made such accesses since the last barrier.
const SEVERAL: u32 = 1 << 30;
/// Flag: invocations of other workgroups made such accesses.
const OTHER_WORKGROUPS: u32 = 1 << 29;
/// Flag: the access was possibly not made.
const UNCERTAIN: u32 = 1 << 28;
/// Flag: an atomic of 64 bits.
const BITS_64: u32 = 1 << 27;
/// Flag: an atomic of fewer bits.
const FEWER_BITS: u32 = 1 << 26;
/// Flag: the scope of the atomic reaches no further than the subgroup.
const SUBGROUP_SCOPE: u32 = 1 << 25;
/// Flag of a time: the access was private.
const PRIVATE: u32 = 1 << 31;
/// Flag of a time: a release barrier came between this access and earlier ones that the record also
/// stands for ([`SEVERAL`]). The next acquire barrier may order those, but not this one.
const PARTED: u32 = 1 << 30;
/// Mask of the time itself.
const TIME: u32 = PARTED - 1;
/// Mask of the invocation's number, which begins at 1.
const NUMBER: u32 = SUBGROUP_SCOPE - 1;
/// Largest number of invocations that records can tell apart.
pub(in crate::run) const NUMBERED: u64 = NUMBER as u64 - 1;

/// The last accesses to one granule of memory. Plain and atomic accesses do not hide each other.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    plain: LastAccesses,
    atomic: LastAccesses,
}

/// The last accesses of a kind, with their times. Invocation numbers begin at 1; 0 means no access.
#[derive(Clone, Copy, Debug, Default)]
struct LastAccesses {
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
pub(crate) struct RaceDetector {
    /// Records by object; empty for objects that are not written.
    shadows: Vec<ShadowMemory>,
    /// Written granules by object, a bit each, if a single invocation runs, so that there are no
    /// records.
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
    pub(in crate::run) workgroup_start: u32,
    /// The current time: the number of release operations.
    now: u32,
    /// Set while a private access is made, which nothing orders with those of other invocations.
    pub(in crate::run) is_private: bool,
    /// Set if atomics or fences may order workgroups, and invocations of one workgroup,
    /// respectively.
    orders_device: bool,
    orders_group: bool,
    /// The subgroup of each invocation of the workgroup, or one that it may be in.
    pub(in crate::run) subgroup_of: Vec<u32>,
    /// Set if the layout of subgroups is known.
    pub(in crate::run) subgroups_known: bool,
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
    /// Number of the other invocation in the dispatch; `None` if it is one of several that are not
    /// told apart.
    pub(crate) other: Option<u32>,
    /// Set if this invocation writes, and if the other one does.
    writes: [bool; 2],
    /// Set if a barrier between the two orders accesses to other classes of memory alone.
    orders_other_memory: bool,
    /// Set if synchronisation that is not modelled may order them.
    maybe_ordered: bool,
    /// Set if one of them is possibly not made.
    uncertain: bool,
    /// Set if the earlier access read and the later one writes.
    was_read: bool,
    /// Set if all of the accesses are plain stores.
    only_stores: bool,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) write: bool,
    pub(crate) atomic: Option<Atomic>,
    /// Set if the access is possibly not made: another one may be made instead.
    pub(crate) uncertain: bool,
}

/// An atomic access. Two of them are mutually ordered if they have the same width and each reaches
/// the other's invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Atomic {
    /// Set for 64 bits.
    pub(crate) is_64_bit: bool,
    /// Set if the scope reaches no further than the workgroup (`workgroup_scope`) or the subgroup
    /// (`subgroup_scope`).
    pub(crate) workgroup_scope: bool,
    pub(crate) subgroup_scope: bool,
}

impl RaceDetector {
    /// Start of the current epoch for an object's memory.
    #[inline]
    pub(in crate::run) fn epoch(&self, object: u32) -> u32 {
        self.of_class(&self.epochs, object)
    }

    /// The time of the class of memory that an object belongs to.
    #[inline]
    fn of_class(&self, times: &Epochs, object: u32) -> u32 {
        match object {
            1 => times.workgroup,
            _ if self.are_images.get(object as usize) == Some(&true) => times.images,
            _ => times.buffers,
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
        let by_subgroup = self.orders_subgroup || (!self.subgroups_known && (flags | who) & SUBGROUP_SCOPE != 0);
        let same_subgroup = same_group && self.in_one_subgroup(me, other);
        let private = self.is_private || (when & PRIVATE != 0 && other != me);
        let ordered = self.orders_device || (same_group && self.orders_group) || (same_subgroup && by_subgroup);
        let maybe_ordered = ordered && !private;
        let Epochs { buffers, images, workgroup } = self.epochs;
        let orders_other_memory = same_group && !private && when & TIME < buffers.max(images).max(workgroup);
        let other = (other != me).then(|| other - 1);
        let writes = [true; 2];
        let (uncertain, was_read, only_stores) = (false, false, true);
        Conflict { other, writes, orders_other_memory, maybe_ordered, uncertain, was_read, only_stores }
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
        Access { write, atomic, uncertain }: Access,
    ) -> Option<Conflict> {
        if self.shadows.get(object as usize).is_none_or(ShadowMemory::is_empty) {
            if write && let Some(marks) = self.marks.get_mut(object as usize) {
                let granules = offset >> self.shift..=(offset + size - 1) >> self.shift;
                granules.for_each(|granule| marks[granule / 64] |= 1 << (granule % 64));
            }
            return None;
        }
        let me = self.first + 1 + lane as u32;
        let flag = |flag: u32, on: bool| if on { flag } else { 0 };
        let (epoch, pending) = (self.epoch(object), self.of_class(&self.pending, object));
        let now = self.now | flag(PRIVATE, self.is_private);
        let of_atomic = |Atomic { is_64_bit, workgroup_scope, subgroup_scope }: Atomic| {
            flag(BITS_64, is_64_bit)
                | flag(FEWER_BITS, !is_64_bit)
                | flag(WORKGROUP_SCOPE, workgroup_scope)
                | flag(SUBGROUP_SCOPE, subgroup_scope)
        };
        let flags = atomic.map_or(0, of_atomic) | flag(UNCERTAIN, uncertain);
        let mut found: Option<Conflict> = None;
        for (_, granule) in self.granules(object as usize, offset, size) {
            let granule = granule as usize;
            let record = self.shadows[object as usize].record(granule);
            for (last, theirs_atomic) in [(record.plain, false), (record.atomic, true)] {
                let both_atomic = atomic.is_some() && theirs_atomic;
                let mut meet = |(who, when): (u32, u32), they_write: bool, was_read: bool, theirs_stores: bool| {
                    let writes = [write, they_write];
                    let first = found.unwrap_or_else(|| Conflict { writes, ..self.conflict(me, flags, (who, when)) });
                    // Not the access of `who` itself, but one that its record also stands for.
                    let parted = when & PARTED != 0 && (both_atomic || who & NUMBER == me);
                    let uncertain = uncertain || who & UNCERTAIN != 0 || parted;
                    // One certain conflict makes the result certain.
                    let uncertain = uncertain && (found.is_none() || first.uncertain);
                    let only_stores = first.only_stores && theirs_stores && write && atomic.is_none();
                    found = Some(Conflict { uncertain, was_read: first.was_read || was_read, only_stores, ..first });
                };
                let wrote = self.others(object, me, (last.writer, last.written), epoch);
                if wrote.any() && !(both_atomic && self.mutual(me, flags, last.writer, wrote)) {
                    // The earlier atomic also read, and returned the value it found.
                    meet((last.writer, last.written), true, write && theirs_atomic, !theirs_atomic);
                }
                let read = self.others(object, me, (last.reader, last.read), epoch);
                if write && read.any() && !(both_atomic && self.mutual(me, flags, last.reader, read)) {
                    meet((last.reader, last.read), false, true, false);
                }
            }
            let own = if atomic.is_some() { record.atomic } else { record.plain };
            let (who, when) = if write { (own.writer, own.written) } else { (own.reader, own.read) };
            let others = self.others(object, me, (who, when), epoch);
            // The record does not tell several invocations apart: it takes the flags of all of
            // them.
            let again = when & TIME >= epoch && who & NUMBER == me;
            let theirs = match () {
                () if others.any() => who & (UNCERTAIN | WORKGROUP_SCOPE | SUBGROUP_SCOPE | BITS_64 | FEWER_BITS),
                () if again => who & (WORKGROUP_SCOPE | SUBGROUP_SCOPE | BITS_64 | FEWER_BITS),
                () => who & WORKGROUP_SCOPE,
            };
            // An access that was certainly made before stays certain.
            let certain = write && again && who & UNCERTAIN == 0;
            let flags = if certain { flags & !UNCERTAIN } else { flags };
            let who = me
                | flags
                | theirs
                | flag(SEVERAL, others.same_workgroup)
                | flag(OTHER_WORKGROUPS, others.other_workgroups);
            let parted = others.same_workgroup && (when & TIME < pending || when & PARTED != 0);
            let now = now | flag(PARTED, parted);
            let record = self.shadows[object as usize].record_mut(granule);
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
    fn others(&self, object: u32, me: u32, (who, when): (u32, u32), epoch: u32) -> UnorderedAccesses {
        let last = who & NUMBER;
        let is_here = self.is_here(last);
        let since = self.is_private || when & PRIVATE != 0 || when & TIME >= epoch;
        UnorderedAccesses {
            // Several invocations of this workgroup since its last barrier.
            same_workgroup: is_here && since && (last != me || who & SEVERAL != 0),
            // Each workgroup has its own workgroup memory.
            other_workgroups: object != 1 && last != 0 && (!is_here || who & OTHER_WORKGROUPS != 0),
        }
    }

    /// Returns true if two atomics are mutually ordered: they have the same width, and each scope
    /// reaches the other.
    fn mutual(&self, me: u32, flags: u32, who: u32, others: UnorderedAccesses) -> bool {
        let all = flags | who;
        let reach = match () {
            () if all & (WORKGROUP_SCOPE | SUBGROUP_SCOPE) == 0 => true,
            () if others.other_workgroups => false,
            () if all & SUBGROUP_SCOPE == 0 => true,
            () => self.subgroups_known && self.in_one_subgroup(me, who & NUMBER),
        };
        reach && all & (BITS_64 | FEWER_BITS) != BITS_64 | FEWER_BITS
    }

    /// Merges the records of workgroups that ran concurrently with these, and returns the bytes
    /// that they wrote, by object. `None` if one side wrote a granule that the other accessed, so
    /// that they could not run concurrently.
    pub(in crate::run) fn join(&mut self, other: &RaceDetector) -> Option<Vec<(usize, Vec<Range<usize>>)>> {
        let mut written = Vec::new();
        // The push constants are not written, and workgroup memory belongs to one workgroup.
        let pairs = self.shadows.iter_mut().zip(&other.shadows).enumerate().skip(2);
        for (object, (mine, theirs)) in pairs {
            let mut ranges: Vec<Range<usize>> = Vec::new();
            for (granule, theirs) in theirs.accessed() {
                let own = mine.record(granule);
                if own.is_written() || theirs.is_written() && own.is_accessed() {
                    return None;
                }
                *mine.record_mut(granule) = *theirs;
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
    pub(in crate::run) fn is_watching(&self) -> bool {
        self.lanes > 0 && self.shadows.iter().skip(2).any(|shadow| !shadow.is_empty())
    }

    /// The bytes of an object that an invocation wrote or may have written, clipped to `bytes`.
    pub(in crate::run) fn written(&self, object: usize, bytes: usize) -> Vec<Range<usize>> {
        let mut written = Vec::new();
        let records = self.shadows.get(object).into_iter().flat_map(ShadowMemory::accessed);
        let records = records.filter(|(_, record)| record.is_written()).map(|(granule, _)| granule);
        let bits = |bits: &u64| -> [bool; 64] { std::array::from_fn(|bit| bits >> bit & 1 == 1) };
        let marks = self.marks.get(object).into_iter().flatten().flat_map(bits).enumerate();
        let marks = marks.filter(|(_, written)| *written).map(|(granule, _)| granule);
        for granule in records.chain(marks) {
            extend(&mut written, granule << self.shift..((granule + 1) << self.shift).min(bytes));
        }
        written
    }

    /// Size of the records in bytes once all memory was accessed.
    pub(in crate::run) fn full_bytes(&self) -> u64 {
        self.shadows.iter().map(ShadowMemory::full_bytes).sum()
    }

    /// Executes a control barrier of the workgroup. "If A is a release barrier, B is an acquire
    /// barrier, and C is a control barrier (where A can equal C, and B can equal C)", A
    /// synchronizes with B if it is before C, and C before B.
    pub(in crate::run) fn barrier(&mut self, order: Order) {
        self.release(order);
        self.released = self.pending;
        self.acquire(order);
        self.orders_subgroup |= order.is_of_subgroups();
    }

    /// Executes a fence that the whole workgroup reaches.
    pub(in crate::run) fn fence(&mut self, order: Order) {
        self.release(order);
        self.acquire(order);
    }

    /// Executes a barrier of subgroups, or a fence that some invocations reach.
    pub(in crate::run) fn fence_of_some(&mut self, order: Order) {
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
struct UnorderedAccesses {
    same_workgroup: bool,
    other_workgroups: bool,
}

impl UnorderedAccesses {
    fn any(self) -> bool {
        self.same_workgroup || self.other_workgroups
    }
}

/// Adds a range that does not begin before the end of the last one.
fn extend(ranges: &mut Vec<Range<usize>>, next: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == next.start => last.end = next.end,
        _ => ranges.push(next),
    }
}
