//! Before the first workgroup, between workgroups, and after the last.

use super::bindings::Bindings;
use super::concurrency::atomics::Contention;
use super::concurrency::data_race::{NUMBERED, RaceDetector};
use super::concurrency::modification_order::OpenOrders;
use super::control::fork::Forks;
use super::control::repetition::Repetition;
use super::control::tangles::Tangles;
use super::diagnostics::Log;
use super::lanes::{Column, Lanes};
use super::memory::aliasing::AliasedObjects;
use super::memory::robustness::OutOfBounds;
use super::work::WorkCounters;
use super::{Run, UNREAD};
use crate::abstract_value::AbstractValue;
use crate::dispatch::{Buffer, Dispatch, Image, Limits, Resource, Slot};
use crate::error::{Place, RunError};
use crate::executed_blocks::ExecutedBlocks;
use crate::float_op::Reading;
use crate::inst::{Inst, Reg};
use crate::memory::Object;
use crate::outcome::{
    CauseKind, Cell, Disorder, Expected, FaultKind, Memory, Outcome, PossibleFault, Standing, WrongOperand,
};
use crate::pointer::OBJECTS;
use crate::program::{DeclaredImage, Object as DeclaredObject, ObjectKind, Program};
use crate::rule_enforcement::named;
use crate::subgroup_layout::{SubgroupLayout, SubgroupPosition};
use crate::texel::Texel;
use assay_spirv::module::InstructionIndex;
use assay_spirv::tables::{BuiltIn, ImageFormat};
use assay_texture::Sampler;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The size of a workgroup, and the number of workgroups. With a shading rate the implementation
/// chooses: here a workgroup is as much of the tile's grid of blocks as is run together.
pub(super) fn shape(program: &Program, dispatch: &Dispatch) -> ([u32; 3], [u32; 3]) {
    /// Lanes that are run together.
    const TOGETHER: u64 = 1 << 12;
    let (Some(rate), Some(tile)) = (program.rate, dispatch.tile) else { return (program.size, dispatch.groups) };
    let [x, y, z] = tile.blocks(rate);
    let product = |sides: &[u32]| sides.iter().fold(1u64, |all, n| all.saturating_mul(u64::from(*n)));
    match () {
        () if product(&[x, y, z]) <= TOGETHER => ([x, y, z], [1; 3]),
        () if product(&[x, y]) <= TOGETHER => ([x, y, 1], [1, 1, z]),
        () if product(&[x]) <= TOGETHER => ([x, 1, 1], [1, y, z]),
        () => ([1; 3], [x, y, z]),
    }
}

/// Refuses dispatches that exceed a limit or lack a resource, before anything runs.
pub(super) fn check(program: &Program, dispatch: &Dispatch, limits: &Limits) -> Result<(), RunError> {
    let product = |sizes: [u32; 3]| sizes.iter().fold(1u64, |all, n| all.saturating_mul(u64::from(*n)));
    let (size, groups) = shape(program, dispatch);
    let lanes = product(size);
    if let Some(only) = &dispatch.only {
        let last = only.workgroups.last().copied().unwrap_or(0);
        if last >= product(groups) || !only.workgroups.is_sorted_by(|a, b| a < b) {
            let what = format!("a subset of workgroups that ends with number {last}, of {}", product(groups));
            return Err(RunError::Dispatch(what));
        }
        let local = only.local.as_deref().unwrap_or_default();
        let last = local.last().copied().unwrap_or(0);
        if u64::from(last) >= lanes.max(1) || !local.is_sorted_by(|a, b| a < b) {
            let what = format!("a subset of invocations that ends with local index {last}, of {lanes}");
            return Err(RunError::Dispatch(what));
        }
        if only.local.is_some() && !program.has_independent_invocations() {
            return Err(RunError::Dispatch("a subset of invocations that communicate with the others".into()));
        }
    }
    let all = lanes.saturating_mul(product(groups));
    let found = dispatch.only.as_ref().map_or(all, |only| only.invocations(lanes));
    let limit = limits.invocations.min(NUMBERED);
    if found > limit {
        return Err(RunError::TooLarge { what: "invocations", found, limit });
    }
    if lanes == 0 || lanes > 1 << 16 {
        return Err(RunError::Dispatch(format!("a workgroup of {lanes} invocations")));
    }
    let subgroup = dispatch.subgroup_size;
    if !subgroup.is_power_of_two() || subgroup > 128 {
        return Err(RunError::Dispatch(format!("a subgroup size of {subgroup}; it is a power of two from 1 to 128")));
    }
    if let SubgroupLayout::Recorded(seats) = &dispatch.layout
        && (seats.len() as u64 != all || seats.iter().any(|seat| seat.place >= subgroup))
    {
        let (is, of) = (seats.len(), "a seat below the subgroup's size for each");
        return Err(RunError::Dispatch(format!("a recorded layout of {is} invocations; the dispatch has {all}, {of}")));
    }
    let registers = program.kinds.len() as u64;
    let found = registers.saturating_mul(capacity(program, size, limits) as u64).saturating_mul(8);
    if found > limits.state_bytes {
        return Err(RunError::TooLarge { what: "bytes of a workgroup's registers", found, limit: limits.state_bytes });
    }
    if program.tiled && dispatch.tile.is_none() {
        let (pass, on) = (named("TileShadingQCOM-10700"), named("10701"));
        return Err(RunError::Dispatch(format!(
            "a shader with capability TileShadingQCOM and no tile ({pass}, {on}, VUID-vkCmdDispatch-None-10743)"
        )));
    }
    if let (Some([.., z]), Some(tile)) = (program.rate, dispatch.tile) {
        let layers = tile.size[2];
        if z > layers {
            let rule = named("z-10704");
            return Err(RunError::Dispatch(format!("a shading rate of z {z} in a tile of {layers} layers ({rule})")));
        }
        if z > 0 && !layers.is_multiple_of(z) {
            let rule = named("10705");
            return Err(RunError::Dispatch(format!("a shading rate of z {z} in a tile of {layers} layers ({rule})")));
        }
    }
    super::kernel::check(program, dispatch)?;
    for object in &program.objects {
        let ObjectKind::Binding(slot) = object.kind else { continue };
        if object.count == 1 && !dispatch.bindings.contains_key(&slot) {
            return Err(RunError::Unbound { slot });
        }
    }
    Ok(())
}

/// Returns the time at which a run with this time limit is given up.
pub(super) fn deadline(limit: Duration) -> Instant {
    /// A year, in place of limits beyond the clock's.
    const FOREVER: Duration = Duration::from_secs(365 * 86_400);
    let now = Instant::now();
    now.checked_add(limit).unwrap_or_else(|| now + FOREVER)
}

/// Lanes with those that undecided branches may take.
fn capacity(program: &Program, size: [u32; 3], limits: &Limits) -> usize {
    let lanes = size.iter().map(|n| *n as usize).product::<usize>();
    // Without floats and atomics there is hardly anything to be undecided about.
    let decided = program.float_ops.is_empty() && !program.code.iter().any(|inst| matches!(inst, Inst::Atomic { .. }));
    let spare = if decided { 8.min(limits.forks as usize) } else { limits.forks as usize };
    lanes + spare
}

impl<'a> Run<'a> {
    pub(super) fn new(
        program: &'a Program,
        dispatch: &'a Dispatch,
        limits: Limits,
        reading: Reading,
    ) -> Result<Run<'a>, RunError> {
        let (size, groups) = shape(program, dispatch);
        let lanes = size.iter().map(|n| *n as usize).product::<usize>();
        let capacity = capacity(program, size, &limits);
        let mut run = Run {
            program,
            dispatch,
            limits,
            reading,
            readings_differ: false,
            columns: program.kinds.iter().map(|_| Column::new(capacity)).collect(),
            size,
            groups,
            lanes,
            forks: Forks::new(lanes, capacity),
            objects: Vec::new(),
            bindings: Bindings::default(),
            subgroups: BTreeMap::new(),
            log: Log::default(),
            races: RaceDetector::default(),
            contention: Contention::default(),
            out_of_bounds: OutOfBounds::default(),
            aliases: AliasedObjects::default(),
            orders: OpenOrders::default(),
            tangles: Tangles::default(),
            repetition: Repetition::new(program),
            group: [0; 3],
            place: 0,
            here: Place { instruction: InstructionIndex(0), line: None },
            work: WorkCounters::default(),
            executed: ExecutedBlocks::none_of(program.functions.iter().map(|function| function.blocks.len())),
            deadline: deadline(limits.time),
            last_id: 0,
            last_choice: 0,
            in_doubt: false,
            beyond: Vec::new(),
            scratch: Vec::new(),
            carried: Vec::new(),
            always_carried: 0,
        };
        run.bind()?;
        // A constant is the same in all lanes; what is wrong with one is wrong once.
        for (inst, at) in program.setup.iter().zip(&program.setup_at) {
            run.here = *at;
            let _nothing_stops = run.execute(inst, Lanes { list: &[0], all: false });
        }
        for column in run.columns.iter_mut().filter(|column| !column.is_plain() || column.bits[0] != 0) {
            (1..capacity).for_each(|lane| column.duplicate(0, lane));
        }
        run.work = WorkCounters::default();
        // A decision of a branch also restricts constants with several values.
        let made = (0..run.columns.len() as Reg).filter(|reg| !run.columns[*reg as usize].is_plain());
        run.carried = made.chain(program.carried.iter().copied()).collect();
        run.carried.sort_unstable();
        run.carried.dedup();
        run.always_carried = run.carried.len();
        run.scratch = (0..run.columns.len() as Reg).filter(|reg| run.columns[*reg as usize].is_clear()).collect();
        Ok(run)
    }

    /// Makes the memory objects, numbered as pointers count them.
    fn bind(&mut self) -> Result<(), RunError> {
        if self.program.parameters.is_some() {
            return self.bind_kernel();
        }
        let end = self.program.objects.iter().map(|object| object.first + object.count).max().unwrap_or(0);
        self.bindings.numbers = vec![u32::MAX; end.min(OBJECTS) as usize];
        for declared in &self.program.objects {
            match declared.kind {
                ObjectKind::Push => self.add(declared.first, Object::new(self.dispatch.push_constants.clone())),
                ObjectKind::Workgroup => self.add(declared.first, Object::default()),
                ObjectKind::Binding(slot) => {
                    let bound = self.dispatch.bindings.iter();
                    let here = bound.filter(|(at, _)| (at.set, at.binding) == (slot.set, slot.binding));
                    for (at, resource) in here.filter(|(at, _)| u64::from(at.element) < declared.count) {
                        let number = declared.first + u64::from(at.element);
                        // Two variables may name one binding.
                        let twin = self.program.objects.iter().find(|o| o.kind == declared.kind);
                        if let Some(twin) = twin.filter(|o| o.first < declared.first) {
                            let place = self.bindings.numbers[(twin.first + u64::from(at.element)) as usize];
                            self.bindings.numbers[number as usize] = place;
                            self.aliases.name(place as usize, number, declared);
                            continue;
                        }
                        match resource {
                            Resource::Image(image) => self.add_image(number, *at, image, Some(declared))?,
                            Resource::CombinedImageSampler(image, sampler) => {
                                self.add_image(number, *at, image, Some(declared))?;
                                self.add_sampler(sampler);
                            }
                            Resource::Sampler(sampler) => {
                                self.add(number, Object::default());
                                self.add_sampler(sampler);
                            }
                            Resource::Buffer(buffer) => {
                                if let Some(address) = buffer.address {
                                    self.bindings.addresses.push((address, buffer.data.len() as u64, number));
                                }
                                self.add(number, Object::new(buffer.data.clone()));
                            }
                        }
                        self.aliases.name(self.bindings.numbers[number as usize] as usize, number, declared);
                    }
                }
            }
        }
        self.aliases.watch();
        // Buffers that no descriptor of the shader names may still be pointed at.
        let mut number = end;
        for (slot, resource) in &self.dispatch.bindings {
            let Resource::Buffer(Buffer { address: Some(address), data }) = resource else { continue };
            let address = *address;
            let named = self.program.objects.iter().any(|o| {
                matches!(o.kind, ObjectKind::Binding(s) if (s.set, s.binding) == (slot.set, slot.binding))
                    && u64::from(slot.element) < o.count
            });
            if !named && number < OBJECTS {
                self.bindings.numbers.push(u32::MAX);
                self.bindings.addresses.push((address, data.len() as u64, number));
                self.add(number, Object::new(data.clone()));
                self.bindings.pointed.push((*slot, number));
                number += 1;
            }
        }
        self.bindings.addresses.sort_unstable();
        if let Some(pair) = self.bindings.addresses.windows(2).find(|pair| pair[0].0 + pair[0].1 > pair[1].0) {
            return Err(RunError::Dispatch(format!("buffers overlap at device address {:#x}", pair[1].0)));
        }
        Ok(())
    }

    pub(super) fn add_image(
        &mut self,
        number: u64,
        at: Slot,
        image: &'a Image,
        declared: Option<&DeclaredObject>,
    ) -> Result<(), RunError> {
        if let Some(DeclaredImage { dim, format, multisampled }) = declared.and_then(|declared| declared.image) {
            if dim != image.dim {
                let rule = named("Image Dimensions and Vulkan ImageView Types");
                return Err(RunError::Dispatch(format!(
                    "{at} has an image of {:?}, declared as {dim:?} ({rule})",
                    image.dim
                )));
            }
            if format != ImageFormat::Unknown && format != image.format {
                let rule = named("Image Formats and Vulkan Formats");
                return Err(RunError::Dispatch(format!(
                    "{at} has an image of {:?}, declared as {format:?} ({rule})",
                    image.format
                )));
            }
            if multisampled != (image.samples > 1) {
                let (rule, samples) = (named(if multisampled { "08726" } else { "08725" }), image.samples);
                let declared = if multisampled { "multisampled" } else { "single-sampled" };
                return Err(RunError::Dispatch(format!(
                    "{at} has an image with {samples} samples, declared as {declared} ({rule})"
                )));
            }
        }
        let texel = Texel::of(image.format);
        let expected = texel.map(|t| image.samples_before(image.levels).saturating_mul(u64::from(t.bytes)));
        let found = image.data.len() as u64;
        if expected != Some(found) {
            return Err(RunError::Dispatch(format!(
                "{at} has an image of {found} bytes; its format and size take {}",
                expected.map_or_else(|| "a format that is known".into(), |n| n.to_string())
            )));
        }
        if !image.view.fits(image.levels, image.layers) {
            let (levels, layers, view) = (image.levels, image.layers, image.view);
            return Err(RunError::Dispatch(format!(
                "{at} has an image of {levels} levels and {layers} layers, which a view of its {view} does not fit"
            )));
        }
        self.add(number, Object::new(image.data.clone()));
        self.bindings.images.resize(self.objects.len(), None);
        self.bindings.images[self.objects.len() - 1] = Some(image);
        if declared.is_some_and(|declared| declared.tile) {
            self.bindings.attachments.insert(self.objects.len() - 1);
        }
        Ok(())
    }

    /// The sampler of the object that was added last.
    pub(super) fn add_sampler(&mut self, sampler: &'a Sampler) {
        self.bindings.samplers.resize(self.objects.len(), None);
        self.bindings.samplers[self.objects.len() - 1] = Some(sampler);
    }

    pub(super) fn add(&mut self, number: u64, object: Object) {
        self.bindings.numbers[number as usize] = self.objects.len() as u32;
        self.objects.push(object);
    }

    /// The objects that the shader may write.
    pub(super) fn written_objects(&self) -> Vec<usize> {
        // The push constants are the first.
        (1..self.objects.len()).collect()
    }

    /// Returns whether a register holds a constant.
    pub(super) fn is_constant(&self, reg: Reg) -> bool {
        self.scratch.binary_search(&reg).is_err()
    }

    /// Returns the number of workgroups that run.
    pub(super) fn group_count(&self) -> u64 {
        let all = || self.groups.iter().fold(1u64, |all, n| all.saturating_mul(u64::from(*n)));
        self.dispatch.only.as_ref().map_or_else(all, |only| only.workgroups.len() as u64)
    }

    /// The number of a workgroup, counted along x, then y, then z. `place` is its index among those
    /// that are run.
    pub(super) fn group_number(&self, place: u64) -> u64 {
        self.dispatch.only.as_ref().map_or(place, |only| only.workgroups[place as usize])
    }

    /// The id of a workgroup, by its number.
    pub(super) fn group_id(&self, number: u64) -> [u32; 3] {
        let [x, y, _] = self.groups.map(|n| u64::from(n.max(1)));
        [number % x, number / x % y, number / x / y].map(|n| n as u32)
    }

    /// Runs the workgroup with this index among those that are run.
    pub(super) fn group(&mut self, place: u64) {
        let number = self.group_number(place);
        self.place = place as u32;
        self.group = self.group_id(number);
        self.repetition.begin_group();
        self.work.begin_group(self.log.fault_count);
        self.carried.truncate(self.always_carried);
        // Nothing of another workgroup is left: lanes are joined in all carried registers,
        // in those too that they do not read.
        for reg in &self.scratch {
            self.columns[*reg as usize].clear(self.lanes);
        }
        self.forks.reset(self.lanes);
        self.objects.iter_mut().for_each(Object::forget_forms);
        let mut memory = Object::unwritten(self.program.workgroup_bytes as usize);
        self.program.zeroed.iter().for_each(|(offset, size)| memory.mark_written(*offset, *size));
        self.objects[1] = memory;
        self.out_of_bounds.begin_group();
        self.begin_races();
        self.begin_subgroups();
        if self.program.tangled {
            let lanes = self.columns.first().map_or(0, |column| column.bits.len());
            self.tangles.begin(lanes, self.program.reconverges);
        }
        let all: Vec<u32> = (0..self.lanes as u32).collect();
        let lanes = Lanes { list: &all, all: true };
        for inst in &self.program.fresh {
            let _nothing_stops = self.execute(inst, lanes);
        }
        self.builtins();
        self.arguments();
        let lanes = match self.dispatch.only.as_ref().and_then(|only| only.local.as_deref()) {
            None => lanes,
            Some(local) => Lanes { list: local, all: local.len() == self.lanes },
        };
        let _given_up = self.call(self.program.entry, lanes);
        self.end_orders_of_group();
    }

    fn builtins(&mut self) {
        let [sx, sy, _] = self.size;
        let size = self.dispatch.subgroup_size;
        let sizes: Vec<u64> = self.program.subgroup_sizes(self.dispatch).into_iter().map(u64::from).collect();
        let lanes = self.lanes as u32;
        let tile = self.dispatch.tile;
        for &(builtin, reg, n) in &self.program.builtins {
            for lane in 0..lanes {
                let global = self.invocation(lane as usize);
                let local = [lane % sx, lane / sx % sy, lane / sx / sy];
                let seat = self.seat(lane as usize);
                let SubgroupPosition { subgroup, place: within } =
                    seat.unwrap_or(SubgroupPosition { subgroup: 0, place: 0 });
                // Masks of four words: bits of the subgroup's invocations that the comparison
                // names.
                let bits = |test: fn(u32, u32) -> bool| -> [u32; 4] {
                    std::array::from_fn(|word| {
                        (0..32)
                            .filter(|bit| word as u32 * 32 + bit < size && test(word as u32 * 32 + bit, within))
                            .fold(0, |all, bit| all | 1 << bit)
                    })
                };
                let of3 = |v: [u32; 3]| [v[0], v[1], v[2], 0];
                let words: [u32; 4] = match builtin {
                    BuiltIn::NumWorkgroups => of3(self.groups),
                    BuiltIn::WorkgroupSize => of3(self.size),
                    BuiltIn::WorkgroupId => of3(self.group),
                    BuiltIn::LocalInvocationId => of3(local),
                    BuiltIn::GlobalInvocationId => of3(global),
                    BuiltIn::LocalInvocationIndex => [lane, 0, 0, 0],
                    BuiltIn::SubgroupSize => [size, 0, 0, 0],
                    BuiltIn::NumSubgroups => [self.subgroups.len() as u32, 0, 0, 0],
                    BuiltIn::SubgroupId => [subgroup, 0, 0, 0],
                    BuiltIn::SubgroupLocalInvocationId => [within, 0, 0, 0],
                    BuiltIn::SubgroupEqMask => bits(|bit, own| bit == own),
                    BuiltIn::SubgroupGeMask => bits(|bit, own| bit >= own),
                    BuiltIn::SubgroupGtMask => bits(|bit, own| bit > own),
                    BuiltIn::SubgroupLeMask => bits(|bit, own| bit <= own),
                    BuiltIn::SubgroupLtMask => bits(|bit, own| bit < own),
                    BuiltIn::TileOffsetQCOM => tile.map_or([0; 4], |t| [t.offset[0], t.offset[1], 0, 0]),
                    BuiltIn::TileDimensionQCOM => tile.map_or([0; 4], |t| of3(t.size)),
                    BuiltIn::TileApronSizeQCOM => tile.map_or([0; 4], |t| [t.apron[0], t.apron[1], 0, 0]),
                    _ => [0; 4],
                };
                let laid_out = !matches!(
                    builtin,
                    BuiltIn::SubgroupSize
                        | BuiltIn::NumWorkgroups
                        | BuiltIn::WorkgroupSize
                        | BuiltIn::WorkgroupId
                        | BuiltIn::LocalInvocationId
                        | BuiltIn::GlobalInvocationId
                        | BuiltIn::LocalInvocationIndex
                        | BuiltIn::DeviceIndex
                        | BuiltIn::TileOffsetQCOM
                        | BuiltIn::TileDimensionQCOM
                        | BuiltIn::TileApronSizeQCOM
                );
                if laid_out && seat.is_none() {
                    let at = read_at(self.program, reg..reg + n).unwrap_or(self.here);
                    let cause = self.log.cause(CauseKind::SubgroupLayout, at);
                    (0..n).for_each(|i| {
                        self.columns[(reg + i) as usize].set(lane as usize, 0, AbstractValue::Unknown(cause))
                    });
                    continue;
                }
                for i in 0..n.min(4) {
                    let column = &mut self.columns[(reg + i) as usize];
                    column.wide = None;
                    column.bits[lane as usize] = u64::from(words[i as usize]);
                }
                if let (BuiltIn::SubgroupSize, [_, _, ..], None) = (builtin, &sizes[..], seat) {
                    let value = self.one_of(&sizes);
                    self.columns[reg as usize].set(lane as usize, sizes[0], value);
                }
            }
        }
    }

    /// Returns the outcome, with the sets of the lenient reading where they are larger.
    pub(super) fn finish(mut self, lenient: Option<Run>) -> Outcome {
        let disorder = self.end_all_orders();
        let mut wrong_operands = self.wrong_operands();
        let log = std::mem::take(&mut self.log);
        let mut causes = log.causes;
        let lenient = lenient.map(|mut run| {
            run.end_all_orders();
            let wrong = run.wrong_operands();
            let also = |one: &WrongOperand| {
                let same = |(_, other): &(u32, WrongOperand)| (other.at, other.invocation) == (one.at, one.invocation);
                wrong.iter().any(|other| same(other) && other.1.bits == one.bits)
            };
            wrong_operands
                .iter_mut()
                .filter(|(_, one)| !also(one))
                .for_each(|(_, one)| one.standing = Standing::Lenient);
            let offset = causes.len() as u32;
            causes.extend(run.log.causes.iter().copied());
            run.memory(offset)
        });
        let (instructions, forks) = (self.work.instructions, self.forks.total);
        let work = self.work.total();
        let executed = std::mem::take(&mut self.executed);
        let slots = self.slots();
        let slot_of = |object: u32| slots.iter().find(|(_, number)| self.bindings.numbers[*number as usize] == object);
        let slot_of = |object: u32| slot_of(object).map(|(slot, _)| *slot);
        let disorder = disorder.into_iter().map(|(object, one)| Disorder { slot: slot_of(object), ..one }).collect();
        let wrong_operands =
            wrong_operands.into_iter().map(|(object, one)| WrongOperand { slot: slot_of(object), ..one }).collect();
        let reach = log.reach.iter().filter_map(|(object, end)| Some((slot_of(*object as u32)?, *end))).collect();
        let size = |(object, size): (&usize, &[u32; 3])| Some((slot_of(*object as u32)?, *size));
        let image_reach = log.image_reach.iter().filter_map(size).collect();
        let mut memory = self.memory(0);
        for (slot, lenient) in lenient.into_iter().flatten() {
            if let Some(usual) = memory.get_mut(&slot) {
                merge(usual, &lenient);
            }
        }
        let (faults, fault_count, benign_races) = (log.faults, log.fault_count, log.benign_races);
        let open_address = log.open_address;
        let mut possible_faults = log.possible_faults;
        possible_faults.extend(causes.iter().filter_map(|cause| match cause.kind {
            CauseKind::Budget | CauseKind::Time => Some(PossibleFault { kind: None, at: cause.at }),
            CauseKind::PossibleRace => Some(PossibleFault { kind: Some(FaultKind::DataRace), at: cause.at }),
            _ => None,
        }));
        Outcome {
            memory,
            faults,
            fault_count,
            benign_races,
            reach,
            image_reach,
            open_address,
            possible_faults,
            uninitialized: log.uninitialized,
            causes,
            instructions,
            work,
            executed,
            forks,
            disorder,
            wrong_operands,
        }
    }

    /// Binds the resources and numbers their objects.
    fn slots(&self) -> Vec<(crate::Slot, u64)> {
        let mut slots = self.bindings.pointed.clone();
        for declared in &self.program.objects {
            if let ObjectKind::Binding(slot) = declared.kind {
                let bound = self.dispatch.bindings.keys();
                let here = bound.filter(|at| (at.set, at.binding) == (slot.set, slot.binding));
                let here = here.filter(|at| {
                    let samples = matches!(self.dispatch.bindings.get(at), Some(Resource::Sampler(_)));
                    u64::from(at.element) < declared.count && !samples
                });
                slots.extend(here.map(|at| (*at, declared.first + u64::from(at.element))));
            }
        }
        slots
    }

    fn memory(self, cause_offset: u32) -> BTreeMap<crate::Slot, Memory> {
        let slots = self.slots();
        let partial = self.dispatch.only.is_some();
        let mut objects: Vec<Option<Object>> = self.objects.into_iter().map(Some).collect();
        let mut memory = BTreeMap::new();
        for (slot, number) in slots {
            let place = self.bindings.numbers[number as usize] as usize;
            if let Some(object) = objects[place].take() {
                let bytes = object.bytes.len();
                let written = match object.lost {
                    Some(_) => std::iter::once(0..bytes).collect(),
                    None => self.races.written(place, bytes),
                };
                memory.insert(slot, Memory { written, partial, ..left(object, cause_offset) });
            }
        }
        memory
    }
}

/// Returns where the first register of a built-in variable is read.
fn read_at(program: &Program, regs: std::ops::Range<Reg>) -> Option<Place> {
    let reads = |inst: &Inst| matches!(inst, Inst::Copy { src, load: true, .. } if regs.contains(src));
    let found = program.code.iter().zip(&program.at).find(|(inst, _)| reads(inst));
    found.map(|(_, at)| *at)
}

/// An object as the caller sees it.
fn left(object: Object, cause_offset: u32) -> Memory {
    let (mut bytes, cells, lost) = object.into_parts();
    if let Some(cause) = lost {
        let expected = Expected::Undetermined(cause + cause_offset);
        let cell =
            |offset, size| Cell { offset: offset as u64, width: size, expected: expected.clone(), lenient: None };
        let words = bytes.len() / 4 * 4;
        let cells = (0..words).step_by(4).map(|offset| cell(offset, 32));
        let cells = cells.chain((words..bytes.len()).map(|offset| cell(offset, 8))).collect();
        bytes.fill(0);
        return Memory { bytes, cells, ..Memory::default() };
    }
    let cells = cells.into_iter().filter_map(|(offset, size, value)| {
        let expected = match value.expected() {
            Ok(expected) => expected?,
            Err(UNREAD) => return None,
            Err(cause) => Expected::Undetermined(cause + cause_offset),
        };
        Some(Cell { offset: u64::from(offset), width: u32::from(size) * 8, expected, lenient: None })
    });
    Memory { cells: cells.collect(), bytes, ..Memory::default() }
}

/// Adds the values that only the lenient reading permits.
fn merge(usual: &mut Memory, lenient: &Memory) {
    let mut cells = std::mem::take(&mut usual.cells);
    for cell in &lenient.cells {
        match cells.binary_search_by_key(&cell.offset, |c| c.offset) {
            Ok(at) if cells[at].width == cell.width => {
                if cells[at].expected != cell.expected {
                    cells[at].lenient = Some(Box::new(cell.expected.clone()));
                }
            }
            Ok(_) => {}
            Err(at) => {
                // Exact in the usual reading.
                let (from, size) = (cell.offset as usize, (cell.width / 8) as usize);
                let overlaps = at > 0 && cells[at - 1].offset + u64::from(cells[at - 1].width / 8) > cell.offset;
                let overlaps = overlaps || cells.get(at).is_some_and(|next| next.offset < cell.offset + size as u64);
                if overlaps {
                    continue;
                }
                let bits =
                    usual.bytes[from..from + size].iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
                let expected = Expected::Exact(bits);
                let lenient = Some(Box::new(cell.expected.clone()));
                cells.insert(at, Cell { offset: cell.offset, width: cell.width, expected, lenient });
            }
        }
    }
    usual.cells = cells;
    usual.written.extend_from_slice(&lenient.written);
    usual.written.sort_unstable_by_key(|range| range.start);
    // Only ranges that another one begins in or next to grow.
    usual.written.dedup_by(|next, range| {
        let meet = next.start <= range.end;
        range.end = if meet { range.end.max(next.end) } else { range.end };
        meet
    });
}
