//! Pointers, loads and stores.

use super::forms::{of_any, of_value};
use super::images::beyond_edge;
use super::lanes::{Column, Lanes};
use super::{Run, UNREAD};
use crate::decode::{FROM_NULL, NULL, OBJECT, OUTSIDE, RUNTIME_DESCRIPTORS, counted, outside};
use crate::dispatch::Robustness;
use crate::few::Together;
use crate::form::Form;
use crate::inst::{Reg, Term};
use crate::integer::signed;
use crate::memory::Found;
use crate::outcome::{CauseKind, FaultKind};
use crate::program::Descriptors;
use crate::ty::{Kind, Leaf};
use crate::value::Value;
use crate::watch::named;
use smallvec::SmallVec;
use std::ops::Range;

/// A pointer whose object nobody gave.
const UNBOUND: &str = "a descriptor that nothing is bound to";

/// What an address leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Bytes of an object.
    At { object: usize, offset: usize },
    /// Beyond the end, where robustness leaves open what happens.
    Open { object: usize, cause: u32 },
    /// Beyond the end: reads zero, writes nothing; what an atomic returns is undefined.
    Void,
    /// The same, but an atomic returns zero.
    Zero,
    /// Undefined behaviour; the cause for what follows.
    Nowhere { cause: u32 },
}

/// A scalar of what is loaded or stored.
#[derive(Clone, Copy)]
struct Part<'a> {
    leaf: &'a Leaf,
    /// How many scalars all of it is, and where these begin and end.
    scalars: usize,
    whole: (u64, u64),
    /// The alignment that the access states, through a physical pointer.
    physical: Option<u32>,
}

impl<'a> Part<'a> {
    /// Each of them.
    fn all(leaves: &'a [Leaf], physical: Option<u32>) -> impl Iterator<Item = Part<'a>> {
        let first = leaves.iter().map(|leaf| leaf.offset).min().unwrap_or(0);
        let end = leaves.iter().map(|leaf| leaf.offset + leaf.kind.bytes()).max().unwrap_or(0);
        leaves.iter().map(move |leaf| Part { leaf, scalars: leaves.len(), whole: (first, end), physical })
    }

    /// The bytes of the whole access, where this part of it is at that offset.
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
            let operands = regs.map(|reg| column(reg).value(l).few(column(reg).bits[l]));
            let found = operands.collect::<Result<Vec<_>, _>>().map(|operands| {
                let together = Together::of(&operands)?;
                let end = |row: &SmallVec<[u64; 4]>| {
                    let mut indices = row[1..].iter().zip(terms);
                    indices.try_fold(start(row[0], constant), |at, (index, term)| step(at, *index, term))
                };
                let ends: Vec<Result<u64, (i64, u64)>> = together.rows().iter().map(end).collect();
                // With some of several indices, and not with all: nobody's fault yet.
                match ends.iter().map(|end| end.err()).collect::<Option<Vec<_>>>() {
                    Some(beyond) => beyond.first().map(|index| Err(*index)),
                    None => together.give(ends.into_iter().map(|end| end.unwrap_or(OUTSIDE))).map(Ok),
                }
            });
            let (value, bits) = match found {
                Ok(Some(Ok((value, bits)))) => (value, bits),
                Ok(Some(Err(index))) => self.out_of_array(dst, index, l),
                Ok(None) | Err(None) => (Value::Any(self.log.cause(CauseKind::Precision, self.here)), 0),
                Err(Some(cause)) => (Value::Any(cause), 0),
            };
            d.set(l, bits, value);
        }
        self.give(dst, d);
    }

    /// The pointer after an index beyond an array of that length: "causes undefined behavior if not in bounds". Where robustness is asked for,
    /// only an access through it does; so it is of values that WGSL indexes, and of descriptors of which the shader does not say how many
    /// there are.
    fn out_of_array(&mut self, dst: Reg, (index, count): (i64, u64), lane: usize) -> (Value, u64) {
        let stated = count != RUNTIME_DESCRIPTORS;
        if stated && self.dispatch.robustness == Robustness::None && !self.program.kept.contains(&dst) {
            let detail = || format!("index {index} of an array of {count}");
            return (Value::Any(self.fault(FaultKind::OutOfBounds, lane, detail)), 0);
        }
        (Value::Bits, self.outside((index, count)))
    }

    /// The same, so that an access through it says which index it was.
    fn outside(&mut self, index: (i64, u64)) -> u64 {
        let known = self.beyond.iter().position(|known| *known == index).unwrap_or_else(|| {
            self.beyond.push(index);
            self.beyond.len() - 1
        });
        let pointer = OUTSIDE - 1 - known as u64;
        if outside(pointer).is_some() && pointer > FROM_NULL { pointer } else { OUTSIDE }
    }

    /// What pointers are compared by: see [`Inst::Location`](crate::inst::Inst::Location).
    pub(super) fn location(&mut self, dst: Reg, pointer: Reg, lanes: Lanes) {
        let pointers = self.take(pointer);
        for l in lanes.iter() {
            if pointers.value(l).patterns(pointers.bits[l]).is_ok_and(|all| all.contains(&FROM_NULL)) {
                let cause = self.cause(CauseKind::Unspecified);
                self.columns[dst as usize].set(l, 0, Value::Any(cause));
                continue;
            }
            let found = pointers.value(l).few(pointers.bits[l]).map(|few| {
                let together = Together::of(&[few])?;
                let places: Vec<Result<u64, u64>> = together.rows().iter().map(|row| self.place_of(row[0])).collect();
                // With some of several, and not with all: nobody's fault yet.
                match places.iter().map(|place| place.err()).collect::<Option<Vec<_>>>() {
                    Some(nowhere) => nowhere.first().map(|pointer| Err(*pointer)),
                    None => together.give(places.into_iter().collect::<Result<Vec<_>, _>>().ok()?).map(Ok),
                }
            });
            let (value, bits) = match found {
                Ok(Some(Ok(made))) => made,
                Ok(Some(Err(pointer))) => {
                    let cause = self.nowhere(pointer, l, UNBOUND);
                    (Value::Any(cause), 0)
                }
                Ok(None) | Err(None) => (Value::Any(self.cause(CauseKind::Precision)), 0),
                Err(Some(cause)) => (Value::Any(cause), 0),
            };
            self.columns[dst as usize].set(l, bits, value);
        }
        self.give(pointer, pointers);
    }

    /// A pointer, counted by the memory that it points into instead of the variable; `Err` is one that points nowhere.
    fn place_of(&self, pointer: u64) -> Result<u64, u64> {
        if pointer == NULL {
            return Ok(NULL);
        }
        let place = self.object_of(pointer).ok_or(pointer)?;
        Ok((place as u64 * OBJECT).wrapping_add_signed(counted(pointer).1))
    }

    /// The fault of a pointer into nothing, which is `other` if no index and no null has made it.
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

    /// The registers that a pointer into lane-local storage may name, ascending; `Err` is the cause of none being known.
    fn local_targets(&mut self, pointer: Reg, n: u32, lane: usize) -> Result<Vec<Reg>, u32> {
        let column = &self.columns[pointer as usize];
        match column.value(lane).patterns(column.bits[lane]) {
            Ok(targets) => {
                let end = self.columns.len() as u64;
                let wrong = |target: &u64| target.saturating_add(u64::from(n)) > end;
                if self.program.kept.contains(&pointer) && targets.iter().any(wrong) {
                    // Of a value, not of a variable.
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
                Err(cause) => (0..n).for_each(|i| self.columns[(dst + i) as usize].set(l, 0, Value::Any(cause))),
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

    /// What a lane has in one of several places.
    fn local_load_one_of(&mut self, (dst, n): (Reg, u32), pointer: Reg, targets: &[Reg], lane: usize) {
        let column = &self.columns[pointer as usize];
        let Ok(selector) = column.value(lane).few(column.bits[lane]) else { return };
        for i in 0..n {
            let values: Vec<_> = targets.iter().map(|target| self.scalar(target + i, lane)).collect();
            let kind = self.program.kinds[(dst + i) as usize];
            let (value, bits) = self.picked(kind, &selector, &values);
            let form = of_any(kind, targets.iter().map(|target| (&self.columns[(target + i) as usize], lane)));
            let form = form.map(|form| self.numbered_form(form));
            self.columns[(dst + i) as usize].set_made(lane, (value, bits), form);
        }
    }

    pub(super) fn local_store(&mut self, pointer: Reg, src: Reg, n: u32, lanes: Lanes) {
        for l in lanes.iter() {
            // Where it goes is lost only after undefined behaviour or beyond a budget: the invocation's arrays are too.
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

    /// Nothing is known any more of what a lane keeps in variables.
    fn lose_locals(&mut self, lane: usize, cause: u32) {
        for &(first, n) in &self.program.locals {
            for reg in first..first + n {
                self.columns[reg as usize].set(lane, 0, Value::Any(cause));
            }
        }
    }

    /// What `size` bytes at a pointer are.
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
        // Robustness is about buffers.
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
                let access = if write { "a write" } else { "a read" };
                let detail = || format!("{access} of {size} bytes at offset {offset}, of {length} bytes");
                Target::Nowhere { cause: self.fault(FaultKind::OutOfBounds, lane, detail) }
            }
        }
    }

    /// What bytes not all of which are in a buffer are under `robustBufferAccess2`. A load gives zero, or what the invocation stored there;
    /// in the aligned range, what is in memory. An access of more than 32 bits may be several.
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

    /// Whether nothing is watched of accesses inside buffers but races.
    fn is_plain(&self) -> bool {
        self.dispatch.robustness == Robustness::None && self.aliases.is_empty()
    }

    /// Whether a part of an access, which is inside a buffer, may be treated as beyond its end because another part is.
    fn is_cut(&self, object: usize, offset: usize, part: &Part<'_>) -> bool {
        // Neither push constants nor workgroup memory are robust.
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

    /// One scalar of each lane, the pointers being exact.
    fn load_leaf(&mut self, d: &mut Column, pointers: &Column, part: Part<'_>, lanes: Lanes) {
        let leaf = part.leaf;
        let size = leaf.kind.bytes() as usize;
        for l in lanes.iter() {
            let pointer = pointers.bits[l];
            // The common case: inside an object of plain bytes.
            if part.physical.is_none()
                && self.is_plain()
                && let Some(place) = self.object_of(pointer)
            {
                let object = &self.objects[place];
                let offset = (pointer % OBJECT + leaf.offset) as usize;
                if object.is_plain() && offset + size <= object.bytes.len() {
                    d.bits[l] = loaded(leaf.kind, object.bits(offset, size));
                    if let Some(cause) = self.note_read(place, offset, size, l) {
                        d.set(l, 0, Value::Any(cause));
                    }
                    continue;
                }
            }
            let target = self.targets(&[pointer], &part, l, false)[0];
            let made = self.load_at(target, part, l);
            let form = if matches!(made.0, Value::Any(_)) { None } else { self.made_at(target, size, l) };
            d.set_made(l, made, form);
        }
    }

    /// How what a place holds came about: what the invocation wrote itself, as it did when it was written.
    fn made_at(&self, target: Target, size: usize, lane: usize) -> Option<Form> {
        let Target::At { object, offset } = target else { return None };
        self.objects[object].form(offset, size, self.forks.original(lane) as u32).copied()
    }

    /// The same of several places, one of which it is, with what each of them holds.
    fn made_at_any(&self, targets: &[Target], kind: Kind, values: &[(Value, u64)], lane: usize) -> Option<Form> {
        let Kind::Float(fmt) = kind else { return None };
        let forms = targets.iter().map(|target| self.made_at(*target, kind.bytes() as usize, lane));
        let forms: SmallVec<[Option<Form>; 4]> = forms.collect();
        forms.iter().any(Option::is_some).then_some(())?;
        let each = forms
            .into_iter()
            .zip(values)
            .map(|(form, (value, bits))| form.unwrap_or_else(|| of_value(value, *bits, fmt)));
        each.reduce(Form::either)
    }

    /// What one scalar's place is, for each pointer that may be the one. If there are several, what is wrong with some of them is not
    /// certain to be wrong; what is with all is, and they are one then.
    fn targets(&mut self, pointers: &[u64], part: &Part<'_>, lane: usize, write: bool) -> Vec<Target> {
        let Part { leaf, physical, .. } = *part;
        let target = |run: &mut Self, pointer: u64| {
            // The alignment that is stated is that of the whole access.
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

    fn load_at(&mut self, target: Target, part: Part<'_>, lane: usize) -> (Value, u64) {
        let leaf = part.leaf;
        let size = leaf.kind.bytes() as usize;
        match target {
            Target::At { object, offset } => {
                if let Some(cause) = self.note_read(object, offset, size, lane) {
                    return (Value::Any(cause), 0);
                }
                let found = self.objects[object].read(offset, size);
                let bits = loaded(leaf.kind, self.objects[object].bits(offset, size));
                match found {
                    Found::Value(Value::Any(UNREAD)) | Found::Unwritten => {
                        (Value::Any(self.cause(CauseKind::Uninitialized)), 0)
                    }
                    Found::Value(value) => (self.numbered(value), bits),
                    Found::Parts => (Value::Any(self.cause(CauseKind::Precision)), 0),
                }
            }
            Target::Void | Target::Zero => (Value::Bits, 0),
            Target::Open { object, cause } => {
                let (value, bits) = self.something_of(object, (leaf.kind, part.scalars), cause);
                (self.numbered(value), bits)
            }
            Target::Nowhere { cause } => (Value::Any(cause), 0),
        }
    }

    /// What `robustBufferAccess` lets a load beyond the end give: zero, or anything that is in the buffer's memory. The memory is taken
    /// to end with the buffer, so only callers whose buffers fill theirs may ask. Where the shader may change it, and of
    /// values that may be put together from several places or be a vector's (0, 0, 0, x), nothing is known; nor is it of what
    /// `robustBufferAccess2` leaves open.
    fn something_of(&mut self, object: usize, (kind, scalars): (Kind, usize), cause: u32) -> (Value, u64) {
        let size = kind.bytes() as usize;
        let memory = &self.objects[object];
        if self.dispatch.robustness != Robustness::Access
            || size > 4
            || scalars > 3
            || !matches!(kind, Kind::Int { .. })
            || !memory.is_plain()
            || self.is_writable(object)
        {
            return (Value::Any(cause), 0);
        }
        let windows = (0..memory.bytes.len().saturating_sub(size - 1)).map(|offset| memory.bits(offset, size));
        let mut all: Vec<u64> = std::iter::once(0).chain(windows).collect();
        all.sort_unstable();
        all.dedup();
        Value::of_patterns(all).unwrap_or((Value::Any(cause), 0))
    }

    fn load_from_any(&mut self, d: &mut Column, pointers: &Column, part: Part<'_>, lane: usize) {
        let mut form = None;
        let (value, bits) = match pointers.value(lane).few(pointers.bits[lane]) {
            Ok(selector) => {
                let targets = self.targets(&selector.distinct(), &part, lane, false);
                let wrong = targets.iter().find(|target| matches!(target, Target::Nowhere { .. })).copied();
                match (&targets[..], wrong) {
                    ([only], _) => {
                        form = self.made_at(*only, part.leaf.kind.bytes() as usize, lane);
                        self.load_at(*only, part, lane)
                    }
                    // Perhaps undefined: what is read then is not known.
                    (_, Some(wrong)) => self.load_at(wrong, part, lane),
                    _ => {
                        let load =
                            |run: &mut Self| targets.iter().map(|target| run.load_at(*target, part, lane)).collect();
                        let values: Vec<_> = self.in_doubt(true, load);
                        let made = self.made_at_any(&targets, part.leaf.kind, &values, lane);
                        form = made.map(|form| self.numbered_form(form));
                        self.picked(part.leaf.kind, &selector, &values)
                    }
                }
            }
            Err(None) => (Value::Any(self.cause(CauseKind::Precision)), 0),
            Err(Some(cause)) if self.is_undefined(cause) => (Value::Any(self.decided_by(cause, lane)), 0),
            Err(Some(cause)) => (Value::Any(cause), 0),
        };
        let form = if matches!(value, Value::Any(_)) { None } else { form };
        d.set_made(lane, (value, bits), form);
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
                let form = stored.form(l).filter(|form| !form.is_plain());
                if simple
                    && form.is_none()
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
                self.store_any(&pointers, (stored.value(l), stored.bits[l]), form, &part, l);
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
        (value, bits): (&Value, u64),
        form: Option<&Form>,
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
                    let made = form.copied();
                    let form =
                        if perhaps { self.perhaps_made(object, offset, kind, (value, bits, made), lane) } else { made };
                    self.in_doubt(several, |run| run.put(object, offset, kind, (value, bits), perhaps, lane));
                    if let Some(form) = form {
                        let (size, invocation) = (kind.bytes() as usize, self.forks.original(lane) as u32);
                        self.objects[object].keep_form(offset, size, invocation, form);
                    }
                }
                Target::Open { object, cause } => drop(self.objects[object].lost.get_or_insert(cause)),
                // It may go anywhere.
                Target::Nowhere { cause } if perhaps => {
                    let _stop = self.lose_everything(cause);
                }
                Target::Void | Target::Zero | Target::Nowhere { .. } => {}
            }
        }
    }

    /// How what a place holds came about once an invocation has perhaps written a value there, if that or what it wrote itself before is a
    /// chain.
    fn perhaps_made(
        &mut self,
        object: usize,
        offset: usize,
        kind: Kind,
        (value, bits, form): (&Value, u64, Option<Form>),
        lane: usize,
    ) -> Option<Form> {
        let Kind::Float(fmt) = kind else { return None };
        let (memory, size) = (&self.objects[object], kind.bytes() as usize);
        let before = memory.form(offset, size, self.forks.original(lane) as u32).copied();
        if form.is_none() && before.is_none() {
            return None;
        }
        let before = before.or_else(|| match memory.read(offset, size) {
            Found::Value(old) => Some(of_value(&old, loaded(kind, memory.bits(offset, size)), fmt)),
            Found::Unwritten | Found::Parts => None,
        });
        let either = form.unwrap_or_else(|| of_value(value, bits, fmt)).either(before?);
        Some(self.numbered_form(either))
    }

    /// Writes a scalar, if it is sure that it is written; else it may also stay as it is.
    pub(super) fn put(
        &mut self,
        object: usize,
        offset: usize,
        kind: Kind,
        (value, bits): (&Value, u64),
        perhaps: bool,
        lane: usize,
    ) {
        let size = kind.bytes() as usize;
        let (mut value, mut bits) = (value.clone(), bits);
        if value == Value::Any(UNREAD) {
            value = Value::Any(self.cause(CauseKind::Uninitialized));
        }
        if perhaps {
            let old = match self.objects[object].read(offset, size) {
                Found::Value(old) => old,
                Found::Unwritten => Value::Any(UNREAD),
                Found::Parts => Value::Any(self.cause(CauseKind::Precision)),
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
                    Value::of_patterns(all).unwrap_or((Value::Any(UNREAD), 0))
                }
                Err(None) => (Value::Any(self.cause(CauseKind::Precision)), 0),
                Err(Some(cause)) => (Value::Any(cause), 0),
            };
            self.columns[dst as usize].set(l, bits, value);
        }
    }
}

/// A pointer, some bytes further.
#[inline(always)]
fn start(base: u64, constant: u64) -> u64 {
    match base {
        NULL => FROM_NULL,
        _ if outside(base).is_some() => base,
        _ => base.wrapping_add(constant),
    }
}

/// A pointer, one index further; the index and the length of the array that it is beyond.
#[inline(always)]
fn step(at: u64, index: u64, term: &Term) -> Result<u64, (i64, u64)> {
    let index = signed(u32::from(term.width), index);
    match term.count {
        _ if outside(at).is_some() => Ok(at),
        Some(count) if index.cast_unsigned() >= count => Err((index, count)),
        _ => Ok(at.wrapping_add(index.cast_unsigned().wrapping_mul(term.stride))),
    }
}

/// Bits of memory as a register has them.
#[inline(always)]
fn loaded(kind: Kind, bits: u64) -> u64 {
    if kind == Kind::Bool { u64::from(bits != 0) } else { bits }
}
