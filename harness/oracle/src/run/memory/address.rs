//! Addresses: access chains, and the memory that a pointer refers to.

use crate::abstract_value::AbstractValue;
use crate::correlated_set::JointOperands;
use crate::decode::RUNTIME_DESCRIPTORS;
use crate::dispatch::Robustness;
use crate::inst::{Reg, Term};
use crate::integer::signed;
use crate::outcome::{CauseKind, FaultKind, IndicesBeyond};
use crate::pointer::{FAR, FROM_NULL, NULL, OBJECT, OUTSIDE, counted, outside};
use crate::program::Descriptors;
use crate::rule_enforcement::named;
use crate::run::images::beyond_edge;
use crate::run::lanes::Lanes;
use crate::run::{Run, UNREAD};
use smallvec::SmallVec;
use std::ops::Range;

/// Number of bytes that an offset of 32 bits counts.
const WRAP: i64 = 1 << 32;

/// Detail of a fault: a pointer without an object.
const UNBOUND: &str = "a descriptor that nothing is bound to";

/// The memory that a pointer refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum Target {
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

impl Run<'_> {
    pub(in crate::run) fn chain(&mut self, dst: Reg, base: Reg, constant: u64, terms: &[Term], lanes: Lanes) {
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
            return (AbstractValue::Unknown(self.beyond_array((index, count), lane)), 0);
        }
        (AbstractValue::Bits, self.outside((index, count)))
    }

    /// Reports an index beyond an array of fixed length.
    fn beyond_array(&mut self, (index, count): (i64, u64), lane: usize) -> u32 {
        let detail = || format!("index {index} of an array of {count}");
        let cause = self.fault(FaultKind::OutOfBounds, lane, detail);
        let indices = IndicesBeyond { smallest: index, largest: index, length: count };
        self.log.note_indices(FaultKind::OutOfBounds, self.here, indices);
        cause
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
    pub(in crate::run) fn location(&mut self, dst: Reg, pointer: Reg, lanes: Lanes) {
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
    pub(super) fn nowhere(&mut self, pointer: u64, lane: usize, other: &str) -> u32 {
        let which = outside(pointer).map(|which| which.checked_sub(1).and_then(|at| self.beyond.get(at).copied()));
        if let Some(Some(beyond)) = which.filter(|_| !matches!(pointer, NULL | FROM_NULL)) {
            return self.beyond_array(beyond, lane);
        }
        let what = || match which {
            _ if matches!(pointer, NULL | FROM_NULL) => "a null pointer".into(),
            Some(_) => "an index beyond an array".into(),
            None => other.into(),
        };
        self.fault(FaultKind::OutOfBounds, lane, what)
    }

    /// The memory that `size` bytes at a pointer refer to.
    pub(in crate::run) fn target(
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
            if !write && self.out_of_bounds.is_near(object, bytes.clone()) {
                return Target::Open { object, cause: self.cause(CauseKind::Robustness) };
            }
            if let Some(cause) = self.accessed_as((object, number), bytes, write, lane) {
                return Target::Nowhere { cause };
            }
            return Target::At { object, offset: inside };
        }
        let image = self.bindings.images.get(object).copied().flatten();
        if let Some(found) = image.and_then(|image| beyond_edge(image, offset)) {
            return found;
        }
        // Robustness applies to buffers only.
        let is_buffer = number >= 2;
        let bytes = offset..offset.saturating_add(size.cast_signed());
        let access = if write { "writes" } else { "reads" };
        // The calculation of the offset may wrap, and lead back into the buffer on a robust device.
        let reaches = if offset < 0 { offset } else { bytes.end };
        if is_buffer && !self.program.wide_offsets && !(-WRAP / 2..=WRAP).contains(&reaches) {
            let rule = named("10834");
            let detail = || format!("{access} {size} bytes at byte {offset}, which takes more than 32 bits ({rule})");
            return Target::Nowhere { cause: self.fault(FaultKind::OutOfBounds, lane, detail) };
        }
        match self.dispatch.robustness {
            Robustness::Access2 if is_buffer => self.discarded((number, object), bytes, lane, write),
            Robustness::Access if is_buffer => {
                if !write {
                    self.out_of_bounds.load(object, &bytes, length as usize);
                }
                Target::Open { object, cause: self.cause(CauseKind::Robustness) }
            }
            _ => {
                if let Ok(end) = u64::try_from(bytes.end) {
                    self.log.note_reach(object, end);
                }
                let detail = || format!("{access} {size} bytes at byte {offset}, but the size is {length} bytes");
                let accessed = Some((object, offset));
                Target::Nowhere { cause: self.fault_in(FaultKind::OutOfBounds, lane, accessed, detail) }
            }
        }
    }

    /// The target of bytes that are partly outside a buffer, under `robustBufferAccess2`. A load
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
                    || self.out_of_bounds.has_stored(object, invocation, &bytes)
                    || self.objects[object].lost.is_some()
            }
        };
        if write {
            self.out_of_bounds.store(object, invocation, bytes);
        }
        if open { Target::Open { object, cause: self.cause(CauseKind::Robustness) } } else { Target::Void }
    }

    /// Notes an access through an undetermined pointer.
    pub(in crate::run) fn note_open_pointer(&mut self, pointer: Reg, physical: bool, lanes: Lanes) {
        let column = &self.columns[pointer as usize];
        let is_open = |l: usize| column.value(l).patterns(column.bits[l]).is_err();
        if column.is_wide(lanes) && lanes.iter().any(is_open) {
            self.log.open_address |= physical;
            self.note_possible_fault(if physical { FaultKind::Pointer } else { FaultKind::OutOfBounds });
        }
    }

    fn physical_target(&mut self, address: u64, size: u64, alignment: u64, lane: usize) -> Target {
        if !address.is_multiple_of(alignment.max(1)) {
            self.log.open_address = true;
            let rule = named("06315");
            let detail = || format!("address {address:#x} is not aligned to {alignment} ({rule})");
            return Target::Nowhere { cause: self.fault(FaultKind::Pointer, lane, detail) };
        }
        let after = self.bindings.addresses.partition_point(|(first, ..)| *first <= address);
        let around = after.checked_sub(1).map(|at| self.bindings.addresses[at]);
        if let Some((first, length, number)) = around
            && let Some(object) = self.object_of(number * OBJECT)
        {
            let end = (address - first).saturating_add(size);
            if end <= length {
                return Target::At { object, offset: (address - first) as usize };
            }
            // Not certain: the address may have been computed from that of another buffer.
            self.log.note_reach(object, end);
        }
        // If the fault is not certain, it is still possible.
        self.log.open_address = true;
        let rule = named("11819");
        let detail = || format!("{size} bytes at address {address:#x} lie in no buffer that was given ({rule})");
        Target::Nowhere { cause: self.fault(FaultKind::Pointer, lane, detail) }
    }

    pub(in crate::run) fn length(&mut self, dst: Reg, pointer: Reg, (offset, stride): (u64, u64), lanes: Lanes) {
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
