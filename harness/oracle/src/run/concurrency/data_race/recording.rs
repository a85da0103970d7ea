//! Recording of the accesses of a run, and the reports of their conflicts.

use super::{Access, Atomic, Conflict, Epochs, RaceDetector, ShadowMemory};
use crate::abstract_value::AbstractValue;
use crate::dispatch::Resource;
use crate::inst::Inst;
use crate::memory::Object;
use crate::outcome::{CauseKind, Fault, FaultKind};
use crate::program::ObjectKind;
use crate::run::Run;
use assay_spirv::tables::Scope;

impl Run<'_> {
    /// Begins a workgroup. No access of another workgroup happens before its accesses.
    pub(in crate::run) fn begin_races(&mut self) {
        if self.races.shadows.is_empty() {
            self.make_records();
        }
        self.races.first = self.place * self.races.lanes;
        self.races.now += 1;
        self.races.workgroup_start = self.races.now;
        let workgroup_start = Epochs::all(self.races.now);
        (self.races.epochs, self.races.pending, self.races.released) =
            (workgroup_start, workgroup_start, workgroup_start);
        self.races.orders_subgroup = false;
    }

    fn make_records(&mut self) {
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
        let (mut shadows, mut marks) = (vec![ShadowMemory::default(); self.objects.len()], Vec::new());
        if alone {
            let bits = |object: &Object| vec![0; object.bytes.len().div_ceil(64 << shift)];
            marks = self.objects.iter().map(bits).collect();
        } else {
            let granules = |bytes: usize| bytes.div_ceil(1 << shift);
            for (place, object) in self.objects.iter().enumerate().skip(1) {
                if place == 1 || self.is_writable(place) {
                    shadows[place] = ShadowMemory::new(granules(object.bytes.len()));
                }
            }
        }
        self.races = RaceDetector {
            shadows,
            marks,
            shift,
            are_images: self.bindings.images.iter().map(Option::is_some).collect(),
            lanes: self.lanes as u32,
            orders_device: device,
            orders_group: group,
            ..RaceDetector::default()
        };
    }

    /// Returns true if the shader has a writable variable for an object, or may reach it by an
    /// address.
    pub(in crate::run) fn is_writable(&self, place: usize) -> bool {
        let mut named = false;
        for declared in &self.program.objects {
            let ObjectKind::Binding(_) = declared.kind else { continue };
            let numbers = declared.first..declared.first + declared.count;
            if numbers.clone().any(|n| self.bindings.numbers.get(n as usize) == Some(&(place as u32))) {
                named = true;
                if declared.writable {
                    return true;
                }
            }
        }
        !named || !self.bindings.addresses.is_empty()
    }

    /// Records a write. After a data race the memory is undetermined, unless the race is benign:
    /// `same` is set if that is permitted, and the memory held the written bits before.
    #[inline]
    pub(in crate::run) fn note_write(&mut self, object: usize, offset: usize, size: usize, lane: usize, same: bool) {
        let raced = match self.conflict_of(object, offset, size, lane, (true, None)) {
            Some(conflict) if same && conflict.only_stores => {
                self.note_benign_race(conflict, lane, (object, offset));
                None
            }
            Some(conflict) => Some(self.raced(conflict, lane, (object, offset, size))),
            None => None,
        };
        self.end_orders(object, offset, size, raced.is_none() && !self.in_doubt && !self.forks.is_weak(lane));
        if let Some(cause) = raced {
            self.objects[object].write(offset, size, 0, AbstractValue::Unknown(cause), cause);
        }
    }

    /// Records a read; returns the cause of an undetermined value if it races.
    #[inline]
    pub(in crate::run) fn note_read(&mut self, object: usize, offset: usize, size: usize, lane: usize) -> Option<u32> {
        self.accessed(object, offset, size, lane, (false, None))
    }

    /// Records an access. Returns the cause for the values involved if it races, or if the value
    /// read may be written before or after it.
    #[inline]
    pub(in crate::run) fn accessed(
        &mut self,
        object: usize,
        offset: usize,
        size: usize,
        lane: usize,
        (write, atomic): (bool, Option<Atomic>),
    ) -> Option<u32> {
        if let Some(conflict) = self.conflict_of(object, offset, size, lane, (write, atomic)) {
            return Some(self.raced(conflict, lane, (object, offset, size)));
        }
        let reads = !write || atomic.is_some();
        let early = &self.contention.early;
        if reads && !early.is_empty() && self.races.granules(object, offset, size).any(|place| early.contains(&place)) {
            return Some(self.cause(CauseKind::PossibleRace));
        }
        None
    }

    /// Records an access and returns its first conflict.
    #[inline]
    fn conflict_of(
        &mut self,
        object: usize,
        offset: usize,
        size: usize,
        lane: usize,
        (write, atomic): (bool, Option<Atomic>),
    ) -> Option<Conflict> {
        let uncertain = self.in_doubt || self.forks.is_weak(lane);
        let invocation = self.forks.original(lane);
        self.races.access(object as u32, offset, size, invocation, Access { write, atomic, uncertain })
    }

    /// Notes a benign race.
    fn note_benign_race(&mut self, conflict: Conflict, lane: usize, (object, offset): (usize, usize)) {
        let at = self.here;
        if !self.log.keeps_benign(at, self.limits.faults) {
            return;
        }
        let (invocation, memory) = (self.invocation(lane), self.memory_of(object, offset as i64));
        let detail = format!("{} stores the same value, and nothing orders them", self.other_invocation(conflict));
        let (kind, writes) = (FaultKind::DataRace, Some(conflict.writes));
        let (undefined, indices) = (None, None);
        self.log.benign_races.push(Fault { kind, at, invocation, memory, detail, undefined, writes, indices });
    }

    /// Reports a conflict and returns the cause for the values involved.
    fn raced(&mut self, conflict: Conflict, lane: usize, (object, offset, size): (usize, usize, usize)) -> u32 {
        if conflict.maybe_ordered {
            if conflict.was_read {
                self.contention.found_early.extend(self.races.granules(object, offset, size));
            }
            return self.cause(CauseKind::PossibleRace);
        }
        if conflict.uncertain {
            self.note_possible_fault(FaultKind::DataRace);
            let cause = self.cause(CauseKind::Precision);
            if conflict.was_read {
                // The value read may have come from here and may have reached any memory since.
                let _stop = self.lose_everything(cause);
            }
            return cause;
        }
        let other = self.other_invocation(conflict);
        let [x, y, z] = self.invocation(lane);
        let (this_does, other_does) = match conflict.writes {
            [true, true] => ("writes", "writes, too"),
            [true, false] => ("writes", "reads"),
            [false, _] => ("reads", "writes"),
        };
        let order = if conflict.orders_other_memory { Fault::ORDERS_OTHER_MEMORY } else { "nothing orders the two" };
        let detail = || format!("invocation {x}, {y}, {z} {this_does} here what {other} {other_does}, and {order}");
        let known = self.log.faults.len();
        let cause = self.fault_in(FaultKind::DataRace, lane, Some((object, offset as i64)), detail);
        if let Some(fault) = self.log.faults.get_mut(known) {
            fault.writes = Some(conflict.writes);
        }
        cause
    }

    /// Names the other invocation of a conflict.
    fn other_invocation(&self, conflict: Conflict) -> String {
        let Some(other) = conflict.other else { return "another invocation".to_owned() };
        let lanes = self.lanes as u32;
        let group = self.group_id(self.group_number(u64::from(other / lanes)));
        let [x, y, z] = self.global_id(group, other % lanes);
        format!("invocation {x}, {y}, {z}")
    }
}
