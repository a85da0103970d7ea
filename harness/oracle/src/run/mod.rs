//! Execution of programs.

mod bindings;
mod bit_range;
mod concurrency;
mod control;
mod diagnostics;
mod expr;
mod float;
mod float_env;
mod images;
mod integer;
mod kernel;
pub(crate) mod lanes;
mod memory;
mod moves;
mod one_result;
mod parallel;
mod sampling;
mod setup;
mod subgroups;
mod work;

use crate::abstract_value::AbstractValue;
use crate::correlated_set::CorrelatedSet;
use crate::dispatch::{Copies, Dispatch, FollowedResults, Limits, Slot};
use crate::error::{Place, RunError};
use crate::executed_blocks::ExecutedBlocks;
use crate::expr_bound::ExprBound;
use crate::float_op::Reading;
use crate::inst::{Inst, Reg};
use crate::memory::Object;
use crate::outcome::{CauseKind, FaultKind, FaultMemory, Outcome, PossibleFault};
use crate::pointer::counted;
use crate::program::{ObjectKind, Program};
use bindings::Bindings;
use concurrency::atomics::{Contention, Operation};
use concurrency::data_race::RaceDetector;
use concurrency::modification_order::OpenOrders;
use control::fork::Forks;
use control::repetition::Repetition;
use control::tangles::Tangles;
use diagnostics::Log;
use lanes::{Column, Lanes};
use memory::aliasing::AliasedObjects;
use memory::robustness::OutOfBounds;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use work::WorkCounters;

pub use concurrency::atomics::left_by_atomic;
pub(crate) use diagnostics::UNREAD;

/// Interprets a dispatch.
pub(crate) fn run(program: &Program, dispatch: &Dispatch, limits: &Limits) -> Result<Outcome, RunError> {
    setup::check(program, dispatch, limits)?;
    let deadline = setup::deadline(limits.time);
    let mut usual = once(program, dispatch, limits, deadline, Reading::Usual)?;
    let differ = usual.readings_differ || dispatch.copies == Copies::Assume;
    if !differ || usual.work.endless || dispatch.results == FollowedResults::One {
        return Ok(usual.finish(None));
    }
    // The readings differ somewhere: run again in the lenient reading.
    let lenient = once(program, dispatch, limits, deadline, Reading::Lenient)?;
    usual.work.add_units(lenient.work.total());
    Ok(usual.finish(Some(lenient)))
}

fn once<'a>(
    program: &'a Program,
    dispatch: &'a Dispatch,
    limits: &Limits,
    deadline: Instant,
    reading: Reading,
) -> Result<Run<'a>, RunError> {
    let (mut contention, mut out_of_bounds) = (Contention::default(), OutOfBounds::default());
    let mut work_before = 0;
    loop {
        let limits = Limits { time: deadline.saturating_duration_since(Instant::now()), ..*limits };
        let mut run = parallel::groups(program, dispatch, &limits, reading, (&contention, &out_of_bounds))?;
        run.work.add_units(work_before);
        work_before = run.work.total();
        // Each round knows the findings of the one before: contended atomics, and loads out of
        // bounds.
        match (run.contention.next(), run.out_of_bounds.next()) {
            (None, None) => return Ok(run),
            (order, beyond) => {
                contention = order.unwrap_or(contention);
                out_of_bounds = beyond.unwrap_or(out_of_bounds);
            }
        }
    }
}

/// Marks that a workgroup is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stop;

/// The run of a dispatch, or of a part of its workgroups, one after another.
pub(crate) struct Run<'a> {
    pub(crate) program: &'a Program,
    pub(crate) dispatch: &'a Dispatch,
    pub(crate) limits: Limits,
    pub(crate) reading: Reading,
    /// Set if the other reading would permit something else.
    pub(crate) readings_differ: bool,
    pub(crate) columns: Vec<Column>,
    /// The workgroup size, and the number of workgroups.
    pub(crate) size: [u32; 3],
    pub(crate) groups: [u32; 3],
    /// Number of lanes of a workgroup. The columns have room for more, which forked lanes use.
    pub(crate) lanes: usize,
    pub(crate) forks: Forks,
    pub(crate) objects: Vec<Object>,
    pub(crate) bindings: Bindings<'a>,
    pub(crate) log: Log,
    pub(crate) races: RaceDetector,
    pub(crate) contention: Contention,
    pub(crate) out_of_bounds: OutOfBounds,
    pub(crate) aliases: AliasedObjects,
    pub(crate) orders: OpenOrders,
    pub(crate) tangles: Tangles,
    pub(crate) repetition: Repetition,
    pub(crate) group: [u32; 3],
    /// Index of the workgroup among those that are run.
    pub(crate) place: u32,
    /// Number of invocations of each subgroup of the workgroup; empty if the layout is unknown.
    pub(crate) subgroups: BTreeMap<u32, usize>,
    /// The place of the current instruction.
    pub(crate) here: Place,
    pub(crate) work: WorkCounters,
    pub(crate) executed: ExecutedBlocks,
    /// Time at which the run is given up.
    deadline: Instant,
    /// The last number given to a value.
    pub(crate) last_id: u32,
    /// The last number given to a nondeterministic choice.
    pub(crate) last_choice: u64,
    /// Set while only one of several possible actions is executed, none of which is certain.
    pub(crate) in_doubt: bool,
    /// Indices out of bounds, with the lengths of their arrays; see
    /// [`OUTSIDE`](crate::pointer::OUTSIDE).
    pub(crate) beyond: Vec<(i64, u64)>,
    /// The registers that do not hold constants.
    pub(crate) scratch: Vec<Reg>,
    /// Registers that a forked lane takes with it, beside the live ones of the function:
    /// [`Program::carried`], constants with several values, and those that live in the callers, outermost
    /// first.
    pub(crate) carried: Vec<Reg>,
    /// Number of carried registers outside of calls.
    pub(crate) always_carried: usize,
}

impl Run<'_> {
    /// Executes an instruction for some lanes.
    pub(crate) fn execute(&mut self, inst: &Inst, lanes: Lanes) -> Result<(), Stop> {
        self.work.instructions += lanes.list.len() as u64;
        self.work.group.units += lanes.list.len() as u64 * inst.copied_scalars();
        self.must_be_uniform(inst, lanes);
        match inst {
            Inst::Int { op, width, out, n, dst, args, scalar, relaxed } => {
                for i in 0..u32::from(*n) {
                    let arg = |k: usize| args[k] + if scalar >> k & 1 == 1 { 0 } else { i };
                    let args = std::array::from_fn(arg);
                    if *relaxed {
                        self.relaxed_integer(*op, dst + i, args, lanes);
                    } else {
                        self.integer(*op, (*width, *out), dst + i, args, lanes);
                    }
                }
            }
            Inst::Filtered { dst, n } => (*dst..dst + n).for_each(|reg| self.relax_filtered(reg, lanes)),
            Inst::Relax { kind, dst, n } => (*dst..dst + n).for_each(|reg| self.relax(*kind, reg, lanes)),
            Inst::Pass { dst, n, signs } => (*dst..dst + n).for_each(|reg| self.pass(reg, *signs, lanes)),
            Inst::Copy { dst, src, n, load } => self.copy(*dst, *src, *n, *load, lanes),
            Inst::Select { dst, cond, step, a, b, n } => {
                for i in 0..*n {
                    self.select(dst + i, cond + i * step, a + i, b + i, lanes);
                }
            }
            Inst::Recast { dst, src, n, from, to, cast } => {
                let flags = if *cast { self.assumed_of_cast([*src, *dst]) } else { None };
                self.recast((*dst, *src), *n, (*from, *to), flags, lanes);
            }
            Inst::Extract { dst, src, n, index } => self.extract(*dst, *src, *n, *index, lanes),
            Inst::Insert { dst, src, n, value, index } => self.insert(*dst, *src, *n, (*value, *index), lanes),
            Inst::Undef { dst, n } => {
                for i in 0..*n {
                    let column = &mut self.columns[(dst + i) as usize];
                    lanes.iter().for_each(|l| column.set(l, 0, AbstractValue::Unknown(UNREAD)));
                }
            }
            Inst::Set { dst, bits } => {
                for (i, bits) in bits.iter().enumerate() {
                    let column = &mut self.columns[*dst as usize + i];
                    lanes.iter().for_each(|l| column.bits[l] = *bits);
                    column.make_plain(lanes);
                }
            }
            Inst::Chain { dst, base, constant, terms } => self.chain(*dst, *base, *constant, terms, lanes),
            Inst::Location { dst, pointer } => self.location(*dst, *pointer, lanes),
            Inst::LocalLoad { dst, pointer, n } => self.local_load(*dst, *pointer, *n, lanes),
            Inst::LocalStore { pointer, src, n } => self.local_store(*pointer, *src, *n, lanes),
            Inst::Load { dst, pointer, leaves, physical, private } => {
                self.note_open_pointer(*pointer, physical.is_some(), lanes);
                self.races.is_private = *private;
                self.load(*dst, *pointer, leaves, *physical, lanes);
                self.races.is_private = false;
            }
            Inst::Store { pointer, src, leaves, physical, private } => {
                self.note_open_pointer(*pointer, physical.is_some(), lanes);
                self.races.is_private = *private;
                self.store(*pointer, *src, leaves, *physical, lanes);
                self.races.is_private = false;
            }
            Inst::Length { dst, pointer, offset, stride } => self.length(*dst, *pointer, (*offset, *stride), lanes),
            Inst::Atomic { op, kind, float_op, dst, pointer, args, order, physical, relaxed } => {
                self.note_open_pointer(*pointer, *physical, lanes);
                let operation = Operation { op: *op, kind: *kind, float_op: *float_op, relaxed: *relaxed };
                self.atomic(operation, *dst, *pointer, *args, *order, *physical, lanes);
                self.moved_by(inst, lanes);
            }
            Inst::Barrier { scope, order } => self.barrier(*scope, *order, lanes)?,
            Inst::Assume { condition } => self.assume(*condition, lanes)?,
            Inst::Fence { order } => self.fence(*order, lanes),
            Inst::Call { function, args } => {
                for (dst, src, n) in args {
                    self.copy(*dst, *src, *n, false, lanes);
                }
                self.call(*function, lanes)?;
            }
            Inst::ImageRead { dst, n, image, coordinates, operands } => {
                self.image_read((*dst, *n), *image, *coordinates, *operands, lanes);
            }
            Inst::ImageWrite { image, coordinates, texel, sample } => {
                self.image_write(*image, *coordinates, *texel, *sample, lanes);
            }
            Inst::Handle { dst, handle, kind, shape } => self.handle(*dst, *handle, (*kind, *shape), lanes),
            Inst::SampledImage { dst, image, sampler } => self.sampled_image(*dst, *image, *sampler, lanes),
            Inst::LookUp(look_up) => self.look_up(look_up, lanes),
            Inst::ImageQuery { dst, n, image, query } => self.image_query((*dst, *n), *image, *query, lanes),
            Inst::TexelPointer { dst, image, coordinates, sample } => {
                self.texel_pointer(*dst, *image, *coordinates, *sample, lanes);
            }
            Inst::Subgroup { op, dst, value, n, second } => {
                self.subgroup(*op, *dst, (*value, *n), *second, lanes);
                self.moved_by(inst, lanes);
            }
            Inst::Float { float_op, dst, args } => self.float(*float_op, *dst, args, lanes),
        }
        if self.dispatch.results == FollowedResults::One {
            self.keep_one_result(inst, lanes);
        }
        Ok(())
    }

    /// Takes a register out; [`Run::give`] puts it back.
    #[inline]
    pub(crate) fn take(&mut self, reg: Reg) -> Column {
        std::mem::take(&mut self.columns[reg as usize])
    }

    /// Puts a register back.
    #[inline]
    pub(crate) fn give(&mut self, reg: Reg, column: Column) {
        self.columns[reg as usize] = column;
    }

    /// Makes an uncorrelated set the result of a new choice, which values computed from it depend
    /// on.
    pub(crate) fn numbered(&mut self, value: AbstractValue) -> AbstractValue {
        match value {
            AbstractValue::OneOf(few) if few.is_uncorrelated() => {
                self.last_choice += 1;
                AbstractValue::OneOf(Arc::new(few.numbered(self.last_choice)))
            }
            value => value,
        }
    }

    /// The expression bound with the identity of a new value.
    pub(crate) fn numbered_bound(&mut self, bound: ExprBound) -> ExprBound {
        self.last_id = self.last_id.wrapping_add(1).max(1);
        ExprBound { id: self.last_id, ..bound }
    }

    /// Runs an action that is one of several alternatives if `several` is set, so it is not
    /// certain.
    pub(crate) fn in_doubt<T>(&mut self, several: bool, act: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.in_doubt;
        self.in_doubt |= several;
        let result = act(self);
        self.in_doubt = before;
        result
    }

    /// One of several patterns, by a new choice.
    pub(crate) fn one_of(&mut self, patterns: &[u64]) -> AbstractValue {
        self.numbered(AbstractValue::OneOf(Arc::new(CorrelatedSet::uncorrelated(patterns))))
    }

    /// The number of a cause that begins at the current instruction.
    pub(crate) fn cause(&mut self, kind: CauseKind) -> u32 {
        self.log.cause(kind, self.here)
    }

    /// Reports undefined behaviour of a lane. It is a fault if the lane certainly executes the
    /// action; otherwise only the values that follow are unknown. Returns the cause for these.
    pub(crate) fn fault(&mut self, kind: FaultKind, lane: usize, detail: impl FnOnce() -> String) -> u32 {
        self.fault_in(kind, lane, None, detail)
    }

    /// Notes that the current instruction may have undefined behaviour.
    pub(crate) fn note_possible_fault(&mut self, kind: FaultKind) {
        self.log.note_possible_fault(PossibleFault { kind: Some(kind), at: self.here });
    }

    /// As [`Run::fault`], for an access to a byte of an object.
    pub(crate) fn fault_in(
        &mut self,
        kind: FaultKind,
        lane: usize,
        accessed: Option<(usize, i64)>,
        detail: impl FnOnce() -> String,
    ) -> u32 {
        if self.forks.is_weak(lane) {
            self.note_possible_fault(kind);
            return self.cause(CauseKind::Budget);
        }
        if self.in_doubt {
            self.note_possible_fault(kind);
            return self.cause(CauseKind::Precision);
        }
        let invocation = self.invocation(lane);
        let accessed = accessed.filter(|_| self.log.keeps(kind, self.here, self.limits.faults));
        let memory = accessed.and_then(|(object, offset)| self.memory_of(object, offset));
        self.log.fault(kind, self.here, invocation, self.limits.faults, (memory, detail));
        self.cause(CauseKind::Fault)
    }

    /// Byte of an object, as a caller knows it.
    pub(crate) fn memory_of(&self, object: usize, offset: i64) -> Option<FaultMemory> {
        let is_object = |number: u64| self.bindings.numbers.get(number as usize) == Some(&(object as u32));
        let pointed = self.bindings.pointed.iter().find(|(_, number)| is_object(*number));
        let pointed = pointed.map(|(slot, _)| FaultMemory::Binding(*slot, offset));
        let mut declared = self.program.objects.iter();
        pointed.or_else(|| {
            declared.find_map(|declared| {
                let element = (0..declared.count).find(|element| is_object(declared.first + element))?;
                Some(match declared.kind {
                    ObjectKind::Push => FaultMemory::Push,
                    ObjectKind::Workgroup => FaultMemory::Workgroup,
                    ObjectKind::Binding(slot) => FaultMemory::Binding(Slot { element: element as u32, ..slot }, offset),
                })
            })
        })
    }

    /// A lane's global invocation id.
    pub(crate) fn invocation(&self, lane: usize) -> [u32; 3] {
        self.global_id(self.group, self.forks.original(lane) as u32)
    }

    /// The global id of an invocation, by its index in a workgroup.
    pub(crate) fn global_id(&self, group: [u32; 3], index: u32) -> [u32; 3] {
        let size = self.size;
        let local = [index % size[0], index / size[0] % size[1], index / size[0] / size[1]];
        std::array::from_fn(|i| group[i].wrapping_mul(size[i]).wrapping_add(local[i]))
    }

    /// The object of a pointer's number.
    #[inline]
    pub(crate) fn object_of(&self, pointer: u64) -> Option<usize> {
        let place = *self.bindings.numbers.get(counted(pointer).0 as usize)?;
        (place != u32::MAX).then_some(place as usize)
    }
}
