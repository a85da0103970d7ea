//! Pointers, loads and stores.

use super::expr::build::{bound_of_any, bound_of_value};
use super::images::beyond_edge;
use super::lanes::{Column, Lanes};
use super::{Run, UNREAD};
use crate::abstract_value::AbstractValue;
use crate::correlated_set::JointOperands;
use crate::decode::{FAR, FROM_NULL, NULL, OBJECT, OUTSIDE, RUNTIME_DESCRIPTORS, counted, outside};
use crate::dispatch::Robustness;
use crate::expr_bound::ExprBound;
use crate::inst::{Reg, Term};
use crate::integer::signed;
use crate::memory::Found;
use crate::outcome::{CauseKind, FaultKind};
use crate::program::Descriptors;
use crate::ty::{Kind, Leaf};
use crate::watch::named;
use smallvec::SmallVec;
use std::ops::Range;

/// Detail of a fault: a pointer without an object.
const UNBOUND: &str = "a descriptor that nothing is bound to";

/// The memory that a pointer refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Bytes of an object.
    At { object: usize, offset: usize },
    /// Out of bounds, with an effect that robustness leaves open.
    Open { object: usize, cause: u32 },
    /// Out of bounds: reads zero, writes nothing. The result of an atomic is undefined.
    Void,
    /// Out of bounds: reads zero, writes nothing. An atomic returns zero.
    Zero,
    /// Undefined behaviour, with the cause for values that follow.
    Nowhere { cause: u32 },
}

/// A scalar of a load or a store.
#[derive(Clone, Copy)]
struct Part<'a> {
    leaf: &'a Leaf,
    /// Number of scalars of the whole access, and its first and end offset.
    scalars: usize,
    whole: (u64, u64),
    /// The alignment that an access through a physical pointer states.
    physical: Option<u32>,
}

impl<'a> Part<'a> {
    /// The scalars of an access.
    fn all(leaves: &'a [Leaf], physical: Option<u32>) -> impl Iterator<Item = Part<'a>> {
        let first = leaves.iter().map(|leaf| leaf.offset).min().unwrap_or(0);
        let end = leaves.iter().map(|leaf| leaf.offset + leaf.kind.bytes()).max().unwrap_or(0);
        leaves.iter().map(move |leaf| Part { leaf, scalars: leaves.len(), whole: (first, end), physical })
    }

    /// The bytes of the whole access if this scalar is at `offset`.
    fn around(&self, offset: usize) -> Range<i64> {
        let start = offset as i64 - self.leaf.offset.cast_signed();
        start + self.whole.0.cast_signed()..start + self.whole.1.cast_signed()
    }
}

impl Run<'_> {
    pub(super) fn chain(&mut self, dst: Reg, base: Reg, constant: u64, terms: &[Term], lanes: Lanes) {
        let mut d = self.take(dst);
        let column = |reg: Reg| &self.columns[reg as usize];
        let wide = column(base).is_wide(lanes) || terms.iter().any(|term| column(term.index).is_wide(lanes));
        if !wide {
            d.make_plain(lanes);
            let base = &column(base).bits;
            lanes.iter().for_each(|l| d.bits[l] = start(base[l], constant));
            let mut beyond = Vec::new();
            for term in terms {
                let index = &column(term.index).bits;
                for l in lanes.iter() {
                    match step(d.bits[l], index[l], term) {
                        Ok(next) => d.bits[l] = next,
                        Err(index) => {
                            d.bits[l] = OUTSIDE;
                            beyond.push((l, index));
                        }
                    }
                }
            }
            for (l, index) in beyond {
                let (value, bits) = self.out_of_array(dst, index, l);
                d.set(l, bits, value);
            }
            return self.give(dst, d);
        }
        for l in lanes.iter() {
            let column = |reg: Reg| &self.columns[reg as usize];
            let regs = std::iter::once(base).chain(terms.iter().map(|term| term.index));
            let operands = regs.map(|reg| column(reg).value(l).correlated(column(reg).bits[l]));
            let found = operands.collect::<Result<Vec<_>, _>>().map(|operands| {
                let together = JointOperands::new(&operands)?;
                let end = |row: &SmallVec<[u64; 4]>| {
                    let mut indices = row[1..].iter().zip(terms);
                    indices.try_fold(start(row[0], constant), |at, (index, term)| step(at, *index, term))
                };
                let ends: Vec<Result<u64, (i64, u64)>> = together.rows().iter().map(end).collect();
                // An error for some of the indices, but not for all, is not a fault.
                match ends.iter().map(|end| end.err()).collect::<Option<Vec<_>>>() {
                    Some(beyond) => beyond.first().map(|index| Err(*index)),
                    None => together.into_value(ends.into_iter().map(|end| end.unwrap_or(OUTSIDE))).map(Ok),
                }
            });
            let (value, bits) = match found {
                Ok(Some(Ok((value, bits)))) => (value, bits),
                Ok(Some(Err(index))) => self.out_of_array(dst, index, l),
                Ok(None) | Err(None) => (AbstractValue::Unknown(self.log.cause(CauseKind::Precision, self.here)), 0),
                Err(Some(cause)) => (AbstractValue::Unknown(cause), 0),
            };
            d.set(l, bits, value);
        }
        self.give(dst, d);
    }

    /// The pointer after an index out of bounds: "causes undefined behavior if not in bounds". With
    /// robustness, only an access through it is wrong. The same holds for values that WGSL indexes,
    /// and for descriptor arrays whose length the shader does not state.
    fn out_of_array(&mut self, dst: Reg, (index, count): (i64, u64), lane: usize) -> (AbstractValue, u64) {
        let stated = count != RUNTIME_DESCRIPTORS;
        if stated && self.dispatch.robustness == Robustness::None && !self.program.kept.contains(&dst) {
            let detail = || format!("index {index} of an array of {count}");
            return (AbstractValue::Unknown(self.fault(FaultKind::OutOfBounds, lane, detail)), 0);
        }
        (AbstractValue::Bits, self.outside((index, count)))
    }

    /// An out-of-bounds pointer that records its index for the fault of an access.
    fn outside(&mut self, index: (i64, u64)) -> u64 {
        let known = self.beyond.iter().position(|known| *known == index).unwrap_or_else(|| {
            self.beyond.push(index);
            self.beyond.len() - 1
        });
        let pointer = OUTSIDE - 1 - known as u64;
        if outside(pointer).is_some() && pointer > FROM_NULL { pointer } else { OUTSIDE }
    }

    /// Computes the canonical form of a pointer for comparisons; see
    /// [`Inst::Location`](crate::inst::Inst::Location).
    pub(super) fn location(&mut self, dst: Reg, pointer: Reg, lanes: Lanes) {
        let pointers = self.take(pointer);
        for l in lanes.iter() {
            if pointers.value(l).patterns(pointers.bits[l]).is_ok_and(|all| all.contains(&FROM_NULL)) {
                let cause = self.cause(CauseKind::Unspecified);
                self.columns[dst as usize].set(l, 0, AbstractValue::Unknown(cause));
                continue;
            }
            let found = pointers.value(l).correlated(pointers.bits[l]).map(|few| {
                let together = JointOperands::new(&[few])?;
                let places: Vec<Result<u64, u64>> = together.rows().iter().map(|row| self.place_of(row[0])).collect();
                // An error for some of the pointers, but not for all, is not a fault.
                match places.iter().map(|place| place.err()).collect::<Option<Vec<_>>>() {
                    Some(nowhere) => nowhere.first().map(|pointer| Err(*pointer)),
                    None => together.into_value(places.into_iter().collect::<Result<Vec<_>, _>>().ok()?).map(Ok),
                }
            });
            let (value, bits) = match found {
                Ok(Some(Ok(made))) => made,
                Ok(Some(Err(pointer))) => {
                    let cause = self.nowhere(pointer, l, UNBOUND);
                    (AbstractValue::Unknown(cause), 0)
                }
                Ok(None) | Err(None) => (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0),
                Err(Some(cause)) => (AbstractValue::Unknown(cause), 0),
            };
            self.columns[dst as usize].set(l, bits, value);
        }
        self.give(pointer, pointers);
    }

    /// The pointer with the number of its memory object in place of that of the variable. The error
    /// is a pointer without an object.
    fn place_of(&self, pointer: u64) -> Result<u64, u64> {
        if pointer == NULL {
            return Ok(NULL);
        }
        let place = self.object_of(pointer).ok_or(pointer)?;
        Ok((place as u64 * OBJECT).wrapping_add_signed(counted(pointer).1))
    }

    /// Reports the fault of a pointer to no memory. `other` describes it unless an index or a null
    /// pointer caused it.
    fn nowhere(&mut self, pointer: u64, lane: usize, other: &str) -> u32 {
        let which = outside(pointer).map(|which| which.checked_sub(1).and_then(|at| self.beyond.get(at).copied()));
        let what = || match which {
            _ if matches!(pointer, NULL | FROM_NULL) => "a null pointer".into(),
            Some(Some((index, count))) => format!("index {index} of an array of {count}"),
            Some(None) => "an index beyond an array".into(),
            None => other.into(),
        };
        self.fault(FaultKind::OutOfBounds, lane, what)
    }

    /// The registers that a pointer to lane-local storage may refer to, ascending. The error is the
    /// cause why they are unknown.
    fn local_targets(&mut self, pointer: Reg, n: u32, lane: usize) -> Result<Vec<Reg>, u32> {
        let column = &self.columns[pointer as usize];
        match column.value(lane).patterns(column.bits[lane]) {
            Ok(targets) => {
                let end = self.columns.len() as u64;
                let wrong = |target: &u64| target.saturating_add(u64::from(n)) > end;
                if self.program.kept.contains(&pointer) && targets.iter().any(wrong) {
                    // The pointer indexes a value, not a variable.
                    return Err(self.cause(CauseKind::Unspecified));
                }
                if targets.iter().all(wrong) {
                    return Err(self.nowhere(targets[0], lane, "a place beyond what the invocation has"));
                }
                if targets.iter().any(wrong) {
                    return Err(self.cause(CauseKind::Precision));
                }
                Ok(targets.into_iter().map(|t| t as Reg).collect())
            }
            Err(None) => Err(self.cause(CauseKind::Precision)),
            Err(Some(cause)) if self.is_undefined(cause) => Err(self.decided_by(cause, lane)),
            Err(Some(cause)) => Err(cause),
        }
    }

    pub(super) fn local_load(&mut self, dst: Reg, pointer: Reg, n: u32, lanes: Lanes) {
        for l in lanes.iter() {
            match self.local_targets(pointer, n, l) {
                Ok(targets) if targets.len() == 1 => {
                    (0..n).for_each(|i| self.write_register(dst + i, targets[0] + i, l, false));
                }
                Ok(targets) => self.local_load_one_of((dst, n), pointer, &targets, l),
                Err(cause) => {
                    (0..n).for_each(|i| self.columns[(dst + i) as usize].set(l, 0, AbstractValue::Unknown(cause)))
                }
            }
        }
        for i in 0..n {
            let mut column = self.take(dst + i);
            if column.wide.is_some() {
                self.notice_unwritten(&mut column, lanes);
            }
            self.give(dst + i, column);
        }
    }

    /// Loads from one of several lane-local places.
    fn local_load_one_of(&mut self, (dst, n): (Reg, u32), pointer: Reg, targets: &[Reg], lane: usize) {
        let column = &self.columns[pointer as usize];
        let Ok(selector) = column.value(lane).correlated(column.bits[lane]) else { return };
        for i in 0..n {
            let values: Vec<_> = targets.iter().map(|target| self.scalar(target + i, lane)).collect();
            let kind = self.program.kinds[(dst + i) as usize];
            let (value, bits) = self.picked(kind, &selector, &values);
            let bound = bound_of_any(kind, targets.iter().map(|target| (&self.columns[(target + i) as usize], lane)));
            let bound = bound.map(|bound| self.numbered_bound(bound));
            self.columns[(dst + i) as usize].set_made(lane, (value, bits), bound);
        }
    }

    pub(super) fn local_store(&mut self, pointer: Reg, src: Reg, n: u32, lanes: Lanes) {
        for l in lanes.iter() {
            // The target is only lost after undefined behaviour or beyond a budget. Then so are all
            // local variables.
            match self.local_targets(pointer, n, l) {
                Ok(targets) => {
                    for target in &targets {
                        (0..n).for_each(|i| self.write_register(target + i, src + i, l, targets.len() > 1));
                    }
                }
                Err(cause) => self.lose_locals(l, cause),
            }
        }
    }

    /// Makes all local variables of a lane unknown.
    fn lose_locals(&mut self, lane: usize, cause: u32) {
        for &(first, n) in &self.program.locals {
            for reg in first..first + n {
                self.columns[reg as usize].set(lane, 0, AbstractValue::Unknown(cause));
            }
        }
    }

    /// The memory that `size` bytes at a pointer refer to.
    pub(super) fn target(
        &mut self,
        pointer: u64,
        size: u64,
        physical: Option<u32>,
        lane: usize,
        write: bool,
    ) -> Target {
        if let Some(alignment) = physical.filter(|_| outside(pointer).is_none()) {
            return self.physical_target(pointer, size, u64::from(alignment), lane);
        }
        let (number, offset) = counted(pointer);
        let Some(object) = self.object_of(pointer) else {
            return Target::Nowhere { cause: self.nowhere(pointer, lane, UNBOUND) };
        };
        let length = self.objects[object].bytes.len() as u64;
        if let Ok(inside) = usize::try_from(offset)
            && inside as u64 + size <= length
        {
            let bytes = inside..inside + size as usize;
            if !write && self.edges.is_near(object, bytes.clone()) {
                return Target::Open { object, cause: self.cause(CauseKind::Robustness) };
            }
            if let Some(cause) = self.accessed_as((object, number), bytes, write, lane) {
                return Target::Nowhere { cause };
            }
            return Target::At { object, offset: inside };
        }
        let image = self.images.get(object).copied().flatten();
        if let Some(found) = image.and_then(|image| beyond_edge(image, offset)) {
            return found;
        }
        // Robustness applies to buffers only.
        let is_buffer = number >= 2;
        let bytes = offset..offset.saturating_add(size.cast_signed());
        match self.dispatch.robustness {
            Robustness::Access2 if is_buffer => self.discarded((number, object), bytes, lane, write),
            Robustness::Access if is_buffer => {
                if !write {
                    self.edges.load(object, &bytes, length as usize);
                }
                Target::Open { object, cause: self.cause(CauseKind::Robustness) }
            }
            _ => {
                let access = if write { "writes" } else { "reads" };
                let detail = || format!("{access} {size} bytes at byte {offset}, but the size is {length} bytes");
                let accessed = Some((object, offset));
                Target::Nowhere { cause: self.fault_in(FaultKind::OutOfBounds, lane, accessed, detail) }
            }
        }
    }

    /// The target of bytes not all of which are in a buffer, under `robustBufferAccess2`. A load
    /// gives zero, or the value that the invocation stored there; in the aligned range, the
    /// contents of memory. An access of more than 32 bits may be several accesses.
    fn discarded(&mut self, (number, object): (u64, usize), bytes: Range<i64>, lane: usize, write: bool) -> Target {
        let length = self.objects[object].bytes.len() as u64;
        let uniform = self.program.objects.iter().any(|declared| {
            let of = declared.choice.map(|choice| choice.of);
            of == Some(Descriptors::UniformBuffers)
                && (declared.first..declared.first + declared.count).contains(&number)
        });
        let alignment = self.dispatch.robust_alignment;
        let alignment = if uniform { alignment.uniform } else { alignment.storage };
        let reaches = |end: u64| bytes.end > 0 && bytes.start < end.cast_signed();
        let invocation = self.forks.original(lane) as u32;
        let open = match write {
            true => reaches(length),
            false => {
                reaches(length.next_multiple_of(u64::from(alignment.max(1))))
                    || self.edges.has_stored(object, invocation, &bytes)
                    || self.objects[object].lost.is_some()
            }
        };
        if write {
            self.edges.store(object, invocation, bytes);
        }
        if open { Target::Open { object, cause: self.cause(CauseKind::Robustness) } } else { Target::Void }
    }

    /// Returns true if in-bounds accesses need no checks other than for races.
    fn is_plain(&self) -> bool {
        self.dispatch.robustness == Robustness::None && self.aliases.is_empty()
    }

    /// Returns true if a scalar in bounds may be treated as out of bounds because another scalar of
    /// its access is.
    fn is_cut(&self, object: usize, offset: usize, part: &Part<'_>) -> bool {
        // Push constants and workgroup memory are not robust.
        if self.dispatch.robustness == Robustness::None || part.physical.is_some() || object < 2 {
            return false;
        }
        let whole = part.around(offset);
        whole.start < 0 || whole.end > self.objects[object].bytes.len() as i64
    }

    fn physical_target(&mut self, address: u64, size: u64, alignment: u64, lane: usize) -> Target {
        if !address.is_multiple_of(alignment.max(1)) {
            let rule = named("06315");
            let detail = || format!("address {address:#x} is not aligned to {alignment} ({rule})");
            return Target::Nowhere { cause: self.fault(FaultKind::Pointer, lane, detail) };
        }
        let after = self.addresses.partition_point(|(first, ..)| *first <= address);
        let around = after.checked_sub(1).map(|at| self.addresses[at]);
        if let Some((first, length, number)) = around
            && address - first + size <= length
            && let Some(object) = self.object_of(number * OBJECT)
        {
            return Target::At { object, offset: (address - first) as usize };
        }
        let rule = named("11819");
        let detail = || format!("{size} bytes at address {address:#x} lie in no buffer that was given ({rule})");
        Target::Nowhere { cause: self.fault(FaultKind::Pointer, lane, detail) }
    }

    pub(super) fn load(&mut self, dst: Reg, pointer: Reg, leaves: &[Leaf], physical: Option<u32>, lanes: Lanes) {
        let pointers = self.take(pointer);
        let wide = pointers.is_wide(lanes);
        for (reg, part) in (dst..).zip(Part::all(leaves, physical)) {
            let mut d = self.take(reg);
            if wide {
                lanes.iter().for_each(|l| self.load_from_any(&mut d, &pointers, part, l));
            } else {
                d.make_plain(lanes);
                self.load_leaf(&mut d, &pointers, part, lanes);
            }
            self.moved(reg, &mut d, lanes);
            self.give(reg, d);
        }
        self.give(pointer, pointers);
    }

    /// Loads one scalar of each lane through exact pointers.
    fn load_leaf(&mut self, d: &mut Column, pointers: &Column, part: Part<'_>, lanes: Lanes) {
        let leaf = part.leaf;
        let size = leaf.kind.bytes() as usize;
        for l in lanes.iter() {
            let pointer = pointers.bits[l];
            // The common case: in bounds of an object of exact bytes.
            if part.physical.is_none()
                && self.is_plain()
                && let Some(place) = self.object_of(pointer)
            {
                let object = &self.objects[place];
                let offset = (pointer % OBJECT + leaf.offset) as usize;
                if object.is_plain() && offset + size <= object.bytes.len() {
                    d.bits[l] = loaded(leaf.kind, object.bits(offset, size));
                    if let Some(cause) = self.note_read(place, offset, size, l) {
                        d.set(l, 0, AbstractValue::Unknown(cause));
                    }
                    continue;
                }
            }
            let target = self.targets(&[pointer], &part, l, false)[0];
            let made = self.load_at(target, part, l);
            let bound = if matches!(made.0, AbstractValue::Unknown(_)) { None } else { self.made_at(target, size, l) };
            d.set_made(l, made, bound);
        }
    }

    /// The expression bound of a float in memory, if this invocation wrote it.
    fn made_at(&self, target: Target, size: usize, lane: usize) -> Option<ExprBound> {
        let Target::At { object, offset } = target else { return None };
        self.objects[object].bound(offset, size, self.forks.original(lane) as u32).copied()
    }

    /// The expression bound of a float in one of several places, given their values.
    fn made_at_any(
        &self,
        targets: &[Target],
        kind: Kind,
        values: &[(AbstractValue, u64)],
        lane: usize,
    ) -> Option<ExprBound> {
        let Kind::Float(fmt) = kind else { return None };
        let bounds = targets.iter().map(|target| self.made_at(*target, kind.bytes() as usize, lane));
        let bounds: SmallVec<[Option<ExprBound>; 4]> = bounds.collect();
        bounds.iter().any(Option::is_some).then_some(())?;
        let each = bounds
            .into_iter()
            .zip(values)
            .map(|(bound, (value, bits))| bound.unwrap_or_else(|| bound_of_value(value, *bits, fmt)));
        each.reduce(ExprBound::either)
    }

    /// The target of one scalar for each possible pointer. If some of several are wrong, that is
    /// not certain. If all are wrong, it is a fault, and the result is one target.
    fn targets(&mut self, pointers: &[u64], part: &Part<'_>, lane: usize, write: bool) -> Vec<Target> {
        let Part { leaf, physical, .. } = *part;
        let target = |run: &mut Self, pointer: u64| {
            // The stated alignment applies to the whole access.
            let misaligned = physical.filter(|a| !pointer.is_multiple_of(u64::from((*a).max(1))));
            let whole = outside(pointer).is_some() || misaligned.is_some();
            let at = if whole { pointer } else { pointer.wrapping_add(leaf.offset) };
            let found = run.target(at, leaf.kind.bytes(), physical.map(|_| misaligned.unwrap_or(1)), lane, write);
            match found {
                Target::At { object, offset } if !write && run.is_cut(object, offset, part) => {
                    if run.dispatch.robustness == Robustness::Access {
                        let length = run.objects[object].bytes.len();
                        run.edges.load(object, &part.around(offset), length);
                    }
                    Target::Open { object, cause: run.cause(CauseKind::Robustness) }
                }
                found => found,
            }
        };
        let several = pointers.len() > 1;
        let all: Vec<Target> =
            self.in_doubt(several, |run| pointers.iter().map(|pointer| target(run, *pointer)).collect());
        if several && all.iter().all(|target| matches!(target, Target::Nowhere { .. })) {
            return vec![target(self, pointers[0])];
        }
        all
    }

    fn load_at(&mut self, target: Target, part: Part<'_>, lane: usize) -> (AbstractValue, u64) {
        let leaf = part.leaf;
        let size = leaf.kind.bytes() as usize;
        match target {
            Target::At { object, offset } => {
                if let Some(cause) = self.note_read(object, offset, size, lane) {
                    return (AbstractValue::Unknown(cause), 0);
                }
                let found = self.objects[object].read(offset, size);
                let bits = loaded(leaf.kind, self.objects[object].bits(offset, size));
                match found {
                    Found::Value(AbstractValue::Unknown(UNREAD)) | Found::Unwritten => {
                        (AbstractValue::Unknown(self.cause(CauseKind::Uninitialized)), 0)
                    }
                    Found::Value(value) => (self.numbered(value), bits),
                    Found::Parts => (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0),
                }
            }
            Target::Void | Target::Zero => (AbstractValue::Bits, 0),
            Target::Open { object, cause } => {
                let (value, bits) = self.out_of_bounds_load(object, (leaf.kind, part.scalars), cause);
                (self.numbered(value), bits)
            }
            Target::Nowhere { cause } => (AbstractValue::Unknown(cause), 0),
        }
    }

    /// The values that `robustBufferAccess` lets a load out of bounds return: zero, or anything in
    /// the buffer's memory. The memory is assumed to end with the buffer, so only callers whose
    /// buffers fill theirs may ask. The value is unknown if the shader may change the buffer, if it
    /// may be combined from several places, or if it may be the (0, 0, 0, x) of a vector, and under
    /// `robustBufferAccess2`. It is also unknown for floats, for scalars over 4 bytes and for more
    /// than 3 scalars. Also returns the bits of one member of the set.
    fn out_of_bounds_load(
        &mut self,
        object: usize,
        (kind, scalars): (Kind, usize),
        cause: u32,
    ) -> (AbstractValue, u64) {
        let size = kind.bytes() as usize;
        let memory = &self.objects[object];
        if self.dispatch.robustness != Robustness::Access
            || size > 4
            || scalars > 3
            || !matches!(kind, Kind::Int { .. })
            || !memory.is_plain()
            || self.is_writable(object)
        {
            return (AbstractValue::Unknown(cause), 0);
        }
        let windows = (0..memory.bytes.len().saturating_sub(size - 1)).map(|offset| memory.bits(offset, size));
        let mut all: Vec<u64> = std::iter::once(0).chain(windows).collect();
        all.sort_unstable();
        all.dedup();
        AbstractValue::of_patterns(all).unwrap_or((AbstractValue::Unknown(cause), 0))
    }

    fn load_from_any(&mut self, d: &mut Column, pointers: &Column, part: Part<'_>, lane: usize) {
        let mut bound = None;
        let (value, bits) = match pointers.value(lane).correlated(pointers.bits[lane]) {
            Ok(selector) => {
                let targets = self.targets(&selector.distinct(), &part, lane, false);
                let wrong = targets.iter().find(|target| matches!(target, Target::Nowhere { .. })).copied();
                match (&targets[..], wrong) {
                    ([only], _) => {
                        bound = self.made_at(*only, part.leaf.kind.bytes() as usize, lane);
                        self.load_at(*only, part, lane)
                    }
                    // Possibly undefined: the value read is unknown.
                    (_, Some(wrong)) => self.load_at(wrong, part, lane),
                    _ => {
                        let load =
                            |run: &mut Self| targets.iter().map(|target| run.load_at(*target, part, lane)).collect();
                        let values: Vec<_> = self.in_doubt(true, load);
                        let made = self.made_at_any(&targets, part.leaf.kind, &values, lane);
                        bound = made.map(|bound| self.numbered_bound(bound));
                        self.picked(part.leaf.kind, &selector, &values)
                    }
                }
            }
            Err(None) => (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0),
            Err(Some(cause)) if self.is_undefined(cause) => (AbstractValue::Unknown(self.decided_by(cause, lane)), 0),
            Err(Some(cause)) => (AbstractValue::Unknown(cause), 0),
        };
        let bound = if matches!(value, AbstractValue::Unknown(_)) { None } else { bound };
        d.set_made(lane, (value, bits), bound);
    }

    pub(super) fn store(&mut self, pointer: Reg, src: Reg, leaves: &[Leaf], physical: Option<u32>, lanes: Lanes) {
        let pointers = self.take(pointer);
        for (reg, part) in (src..).zip(Part::all(leaves, physical)) {
            let leaf = part.leaf;
            // A pointer may be stored where it points.
            let s = if reg == pointer { pointers.clone() } else { self.take(reg) };
            let size = leaf.kind.bytes() as usize;
            let stored = self.stored(reg, &s, lanes);
            let simple = !pointers.is_wide(lanes) && !stored.is_wide(lanes) && physical.is_none() && self.is_plain();
            for l in lanes.iter() {
                let pointer = pointers.bits[l];
                let bound = stored.bound(l).filter(|bound| !bound.is_plain());
                if simple
                    && bound.is_none()
                    && !self.forks.is_weak(l)
                    && let Some(object) = self.object_of(pointer)
                {
                    let offset = (pointer % OBJECT + leaf.offset) as usize;
                    let memory = &mut self.objects[object];
                    if memory.is_plain() && offset + size <= memory.bytes.len() {
                        memory.put(offset, size, stored.bits[l]);
                        self.note_write(object, offset, size, l);
                        continue;
                    }
                }
                self.store_any(&pointers, (stored.value(l), stored.bits[l]), bound, &part, l);
            }
            if reg != pointer {
                self.give(reg, s);
            }
        }
        self.give(pointer, pointers);
    }

    fn store_any(
        &mut self,
        pointers: &Column,
        (value, bits): (&AbstractValue, u64),
        bound: Option<&ExprBound>,
        part: &Part<'_>,
        lane: usize,
    ) {
        let all = match pointers.value(lane).patterns(pointers.bits[lane]) {
            Ok(all) => all,
            Err(unknown) => {
                let cause = match unknown {
                    None => self.cause(CauseKind::Precision),
                    Some(cause) if self.is_undefined(cause) => self.decided_by(cause, lane),
                    Some(cause) => cause,
                };
                let _stop = self.lose_everything(cause);
                return;
            }
        };
        let targets = self.targets(&all, part, lane, true);
        let perhaps = targets.len() > 1 || self.forks.is_weak(lane);
        for target in &targets {
            match *target {
                Target::At { object, offset } => {
                    let several = targets.len() > 1;
                    let perhaps = perhaps || self.is_cut(object, offset, part);
                    let kind = part.leaf.kind;
                    let made = bound.copied();
                    let bound =
                        if perhaps { self.perhaps_made(object, offset, kind, (value, bits, made), lane) } else { made };
                    self.in_doubt(several, |run| run.put(object, offset, kind, (value, bits), perhaps, lane));
                    if let Some(bound) = bound {
                        let (size, invocation) = (kind.bytes() as usize, self.forks.original(lane) as u32);
                        self.objects[object].keep_bound(offset, size, invocation, bound);
                    }
                }
                Target::Open { object, cause } => drop(self.objects[object].lost.get_or_insert(cause)),
                // The store may go anywhere.
                Target::Nowhere { cause } if perhaps => {
                    let _stop = self.lose_everything(cause);
                }
                Target::Void | Target::Zero | Target::Nowhere { .. } => {}
            }
        }
    }

    /// The expression bound of a place after an invocation has possibly written a value there.
    /// `None` if neither that value nor the invocation's own previous one has a bound.
    fn perhaps_made(
        &mut self,
        object: usize,
        offset: usize,
        kind: Kind,
        (value, bits, bound): (&AbstractValue, u64, Option<ExprBound>),
        lane: usize,
    ) -> Option<ExprBound> {
        let Kind::Float(fmt) = kind else { return None };
        let (memory, size) = (&self.objects[object], kind.bytes() as usize);
        let before = memory.bound(offset, size, self.forks.original(lane) as u32).copied();
        if bound.is_none() && before.is_none() {
            return None;
        }
        let before = before.or_else(|| match memory.read(offset, size) {
            Found::Value(old) => Some(bound_of_value(&old, loaded(kind, memory.bits(offset, size)), fmt)),
            Found::Unwritten | Found::Parts => None,
        });
        let either = bound.unwrap_or_else(|| bound_of_value(value, bits, fmt)).either(before?);
        Some(self.numbered_bound(either))
    }

    /// Writes a scalar. If the write is uncertain, the old value may also stay.
    pub(super) fn put(
        &mut self,
        object: usize,
        offset: usize,
        kind: Kind,
        (value, bits): (&AbstractValue, u64),
        perhaps: bool,
        lane: usize,
    ) {
        let size = kind.bytes() as usize;
        let (mut value, mut bits) = (value.clone(), bits);
        if value == AbstractValue::Unknown(UNREAD) {
            value = AbstractValue::Unknown(self.cause(CauseKind::Uninitialized));
        }
        if perhaps {
            let old = match self.objects[object].read(offset, size) {
                Found::Value(old) => old,
                Found::Unwritten => AbstractValue::Unknown(UNREAD),
                Found::Parts => AbstractValue::Unknown(self.cause(CauseKind::Precision)),
            };
            let old_bits = loaded(kind, self.objects[object].bits(offset, size));
            (value, bits) = self.union(kind, (&old, old_bits), (&value, bits));
        }
        let parts = self.cause(CauseKind::Precision);
        self.objects[object].write(offset, size, bits, value, parts);
        self.note_write(object, offset, size, lane);
    }

    pub(super) fn length(&mut self, dst: Reg, pointer: Reg, (offset, stride): (u64, u64), lanes: Lanes) {
        for l in lanes.iter() {
            let column = &self.columns[pointer as usize];
            let (value, bits) = match column.value(l).patterns(column.bits[l]) {
                Ok(all) => {
                    let length = |run: &Self, pointer: u64| {
                        let bytes = run.object_of(pointer).map_or(0, |object| run.objects[object].bytes.len() as u64);
                        bytes.saturating_sub(pointer % OBJECT + offset) / stride.max(1)
                    };
                    let all = all.into_iter().map(|pointer| length(self, pointer)).collect();
                    AbstractValue::of_patterns(all).unwrap_or((AbstractValue::Unknown(UNREAD), 0))
                }
                Err(None) => (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0),
                Err(Some(cause)) => (AbstractValue::Unknown(cause), 0),
            };
            self.columns[dst as usize].set(l, bits, value);
        }
    }
}

/// A pointer advanced by `constant` bytes.
#[inline(always)]
fn start(base: u64, constant: u64) -> u64 {
    match base {
        NULL => FROM_NULL,
        _ if outside(base).is_some() => base,
        _ => base.wrapping_add(constant),
    }
}

/// A pointer advanced by one index. The error is an index out of bounds with the length of the
/// array.
#[inline(always)]
fn step(at: u64, index: u64, term: &Term) -> Result<u64, (i64, u64)> {
    let index = signed(u32::from(term.width), index);
    match term.count {
        _ if outside(at).is_some() => Ok(at),
        Some(count) if index.cast_unsigned() >= count => Err((index, count)),
        // An element that is farther away than any buffer is large must not count as one of the
        // next buffer's.
        None if term.stride < OBJECT && !term.address => {
            let bytes = index.saturating_mul(term.stride.cast_signed());
            Ok(at.wrapping_add_signed(bytes.clamp(-FAR, FAR)))
        }
        _ => Ok(at.wrapping_add(index.cast_unsigned().wrapping_mul(term.stride))),
    }
}

/// Bits of memory as the register's representation.
#[inline(always)]
fn loaded(kind: Kind, bits: u64) -> u64 {
    if kind == Kind::Bool { u64::from(bits != 0) } else { bits }
}
