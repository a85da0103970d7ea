//! Generator of SPIR-V, with shapes that compilers of WGSL do not emit.
//!
//! # Values
//!
//! A value in scope is usable in every block that its definition dominates. Integers and booleans in
//! scope are always decided, so that any of them may be a condition, an index or a divisor. A result
//! that depends on the rounding of a float is only stored ([`Generator::results`]).

mod addresses;
mod control;
mod images;
mod memory;
mod operations;
mod types;
mod values;

use assay_check::{BindingSource, ImageConfig, SamplerConfig};
use assay_suite::module_builder::ModuleBuilder;
use fastrand::Rng;
use memory::BlockClass;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use types::{Scalar, Type, U32};

/// A generated module with its dispatch.
pub(crate) struct GeneratedModule {
    /// The module as text.
    pub(crate) text: String,
    /// Workgroups along x, y and z.
    pub(crate) workgroups: [u32; 3],
    /// Contents of bindings.
    pub(crate) inputs: Vec<(u32, BindingSource)>,
    /// Contents of the push constants.
    pub(crate) push: Option<BindingSource>,
    /// Lengths of run-time arrays, by binding.
    pub(crate) elements: Vec<(u32, u64)>,
    /// Images by binding, or by descriptor of an array (`20[1]`).
    pub(crate) images: Vec<(String, ImageConfig)>,
    /// Samplers by binding.
    pub(crate) samplers: Vec<(u32, SamplerConfig)>,
    /// Buffers without a descriptor, with the words that hold their addresses.
    pub(crate) addressed: Vec<AddressedInput>,
    /// Set if accesses out of bounds occur, which a robust device must confine.
    pub(crate) is_robust: bool,
}

/// A buffer without a descriptor.
pub(crate) struct AddressedInput {
    pub(crate) name: &'static str,
    /// Number and type of its scalars: `16*u32`.
    pub(crate) shape: String,
    /// Word that holds its address: `0.17@0`.
    pub(crate) word: String,
    pub(crate) contents: BindingSource,
}

/// A value in scope.
#[derive(Clone, Debug)]
struct Value {
    id: String,
    ty: Type,
    /// Largest number of roundings on the way to it; 0 for an exact value.
    roundings: u32,
}

/// A variable of an invocation.
#[derive(Clone, Debug)]
struct Variable {
    id: String,
    ty: Type,
    class: &'static str,
}

/// A function that later functions call.
#[derive(Clone, Debug)]
struct Function {
    id: String,
    parameters: Vec<Parameter>,
    result: Type,
    /// Bindings of the images and samplers that it and the functions that it calls use.
    used: BTreeSet<u32>,
}

/// A parameter of a function: a value, or a pointer to a variable in this storage class.
#[derive(Clone, Debug)]
struct Parameter {
    ty: Type,
    pointer: Option<&'static str>,
}

/// The features that a program uses.
#[derive(Clone, Debug)]
struct Features {
    ints: Vec<u32>,
    real_widths: Vec<u32>,
    floats: bool,
    vectors: bool,
    matrices: bool,
    composites: bool,
    control: bool,
    functions: bool,
    variables: bool,
    /// A storage buffer with an explicit layout of nested structures.
    layout: bool,
    workgroup: bool,
    atomics: bool,
    subgroups: bool,
    images: bool,
    /// Inputs in push constants.
    push: bool,
    /// Inputs in a uniform buffer.
    uniform: bool,
    /// Buffers that are reached by device addresses.
    addresses: bool,
    /// Accesses out of bounds, on a robust device.
    wild: bool,
    specialisation: bool,
    no_contraction: bool,
    /// Operands outside the domain of instructions.
    unshaped: bool,
    /// SPIR-V 1.4 or later.
    new: bool,
    /// Blocks in another order than that of the control flow.
    reordered: bool,
    /// One loop with many iterations.
    long_loop: bool,
    /// Instructions whose operands are all constants.
    folded: bool,
}

impl Features {
    fn random(rng: &mut Rng) -> Features {
        let mut one_in = |n: u32| rng.u32(..n) == 0;
        // Many devices lack some of the unusual widths, so only half of the programs have them.
        let has_widths = one_in(2);
        let mut ints = vec![32, 32];
        for width in [64, 16, 8] {
            if has_widths && one_in(2) {
                ints.push(width);
            }
        }
        let mut real_widths = vec![32];
        for width in [64, 16] {
            if has_widths && one_in(2) {
                real_widths.push(width);
            }
        }
        let floats = !one_in(3);
        Features {
            ints,
            real_widths,
            floats,
            vectors: !one_in(4),
            matrices: floats && one_in(3),
            composites: one_in(2),
            control: !one_in(4),
            functions: one_in(3),
            variables: !one_in(3),
            layout: one_in(4),
            workgroup: one_in(4),
            atomics: one_in(4),
            subgroups: one_in(5),
            images: one_in(4),
            push: one_in(4),
            uniform: one_in(6),
            addresses: one_in(12),
            // Rarely, because a driver that does not confine them goes wrong in later programs, too.
            wild: one_in(120),
            specialisation: one_in(4),
            no_contraction: one_in(4),
            unshaped: one_in(32),
            new: one_in(3),
            reordered: one_in(3),
            long_loop: one_in(50),
            folded: one_in(3),
        }
    }
}

struct Generator {
    rng: Rng,
    module: ModuleBuilder,
    features: Features,
    /// Text of the blocks of the current function.
    body: String,
    /// Blocks that come at the end of the current function, the last ones first.
    deferred: Vec<String>,
    /// Label of the current block.
    block: String,
    scope: Vec<Value>,
    /// Results that are only stored, because they may be undecided.
    results: Vec<Value>,
    variables: Vec<Variable>,
    /// Variables of the current function, and the stores that set them.
    declared: [String; 2],
    functions: Vec<Function>,
    /// Input and output buffers by scalar type, with their bindings.
    inputs: BTreeMap<Scalar, String>,
    /// Remaining number of statements.
    budget: u32,
    specialisations: u32,
    /// Invocations of a workgroup.
    local: u32,
    /// The index of the invocation in the dispatch and in its workgroup.
    global_index: String,
    local_index: String,
    counts: Option<String>,
    /// Result type of the current function; `None` in the entry point.
    result: Option<Type>,
    pictures: Vec<images::Picture>,
    canvas: Option<images::Canvas>,
    /// Images by binding, with the names of their descriptors, and samplers by binding.
    images: Vec<(u32, String, ImageConfig)>,
    samplers: Vec<(u32, SamplerConfig)>,
    /// Bindings of the images and samplers that the current function uses.
    used: BTreeSet<u32>,
    /// Set while all operands are to be constants.
    folds: bool,
    /// Widths of the floats whose infinities and NaNs are preserved.
    preserved: Vec<u32>,
    /// Values that may be or contain an infinity or a NaN.
    nonfinite: BTreeSet<String>,
    /// Set while no operand may be one of them.
    needs_finite: bool,
    /// Set while no operand has been one of them.
    is_finite: bool,
    addressed: Option<addresses::Addressed>,
    /// Buffer of the atomics that may lie out of bounds.
    scratch: Option<String>,
}

/// Number of input values of each type for an invocation.
const INPUTS: u32 = 4;

/// Number of them that are finite in any mode.
const FINITE_INPUTS: u64 = 2;

/// Largest number of stored scalars of each type for an invocation.
const OUTPUTS: usize = 24;

/// Binding of the first output buffer.
const FIRST_OUTPUT: u32 = 10;

/// Scalar types of buffers, in the order of their bindings.
const BUFFERS: [Scalar; 7] = [
    U32,
    Scalar::Float(32),
    Scalar::Int { width: 64, signed: false },
    Scalar::Float(64),
    Scalar::Float(16),
    Scalar::Int { width: 16, signed: false },
    Scalar::Int { width: 8, signed: false },
];

/// Contents of a block whose floats must be finite. An integer takes the numbers that its type has.
const FINITE: &str = "one-of:0,1,2,3,5,7,31,100,255,65537,1000000007,2147483648,4294967295,-1,-2,-7,-128,-2147483648,0.5,\
                      -0.25,1.5,-2.75,0.001,1000.25";

/// Binding of the buffer with an explicit layout.
const RECORDS: u32 = 7;
/// Binding of the counters of atomics.
const COUNTS: u32 = 8;
/// Binding of the device addresses.
const ADDRESSES: u32 = 17;
/// Binding of the buffer of atomics that may lie out of bounds, and its number of words.
const SCRATCH: u32 = 18;
const SCRATCH_WORDS: u64 = 4;
/// Binding of the uniform buffer.
const UNIFORMS: u32 = 19;

/// Returns a random module.
pub(crate) fn shader(mut rng: Rng) -> GeneratedModule {
    let features = Features::random(&mut rng);
    let mut local = *choose(
        &mut rng,
        &[[8, 1, 1], [16, 1, 1], [32, 1, 1], [64, 1, 1], [4, 4, 1], [21, 1, 1], [7, 3, 1], [2, 3, 4], [1, 1, 1]],
    );
    let mut workgroups = [rng.u32(1..=3), 1, 1];
    if features.long_loop {
        (local, workgroups) = ([4, 1, 1], [1, 1, 1]);
    }
    let mut module = ModuleBuilder::new(local);
    if features.new {
        let version = *choose(&mut rng, &["1.4", "1.5", "1.6"]);
        module.version(version);
    }
    let budget = rng.u32(4..24);
    let mut generator = Generator {
        rng,
        module,
        features,
        body: String::new(),
        deferred: Vec::new(),
        block: String::new(),
        scope: Vec::new(),
        results: Vec::new(),
        variables: Vec::new(),
        declared: Default::default(),
        functions: Vec::new(),
        inputs: BTreeMap::new(),
        budget,
        specialisations: 0,
        local: local.iter().product(),
        global_index: String::new(),
        local_index: String::new(),
        counts: None,
        result: None,
        pictures: Vec::new(),
        canvas: None,
        images: Vec::new(),
        samplers: Vec::new(),
        used: BTreeSet::new(),
        folds: false,
        preserved: Vec::new(),
        nonfinite: BTreeSet::new(),
        needs_finite: false,
        is_finite: false,
        addressed: None,
        scratch: None,
    };
    let invocations = generator.local * workgroups.iter().product::<u32>();
    generator.modes();
    if generator.features.addresses {
        generator.declare_addresses();
    }
    if generator.features.images {
        generator.declare_images(invocations);
    }
    let outputs = generator.main();
    let invocations = u64::from(invocations);
    let mut elements: Vec<(u32, u64)> =
        outputs.iter().map(|(binding, count)| (*binding, count * invocations)).collect();
    let mut inputs = Vec::new();
    for scalar in generator.inputs.keys().copied().collect::<Vec<_>>() {
        let binding = binding(scalar);
        let count = u64::from(INPUTS) * invocations;
        elements.push((binding, count));
        let contents = match scalar {
            Scalar::Float(width) => {
                let special = generator.chance(2);
                let nonfinite = generator.preserved.contains(&width);
                let rng = &mut generator.rng;
                // Mostly one number now and then, because the invocations of a subgroup rarely agree otherwise.
                let common = (rng.u32(..3) == 0).then(|| float_bytes(rng, width, special, false));
                let bytes = (0..count).flat_map(|index| match &common {
                    Some(common) if rng.u32(..16) > 0 => common.clone(),
                    _ => float_bytes(rng, width, special, nonfinite && index % u64::from(INPUTS) >= FINITE_INPUTS),
                });
                BindingSource::Bytes(bytes.collect())
            }
            _ => generated(generator.pick(&["usual", "hard", "index"])),
        };
        inputs.push((binding, contents));
    }
    for (is_there, binding) in [(generator.features.layout, RECORDS), (generator.features.uniform, UNIFORMS)] {
        if is_there {
            inputs.push((binding, generator.mixed_contents()));
        }
    }
    let push = generator.features.push.then(|| generator.mixed_contents());
    let is_robust = generator.scratch.is_some();
    if is_robust {
        elements.push((SCRATCH, SCRATCH_WORDS));
    }
    let addressed = generator.addressed_inputs(invocations);
    let Generator { module, images, mut samplers, used, .. } = generator;
    let images = images.into_iter().filter(|(binding, ..)| used.contains(binding));
    let images = images.map(|(_, name, image)| (name, image)).collect();
    samplers.retain(|(binding, _)| used.contains(binding));
    let text = module.finish();
    GeneratedModule { text, workgroups, inputs, push, elements, images, samplers, addressed, is_robust }
}

fn generated(text: &str) -> BindingSource {
    text.parse().expect("contents")
}

/// Returns the bytes of a random float: of moderate size, or one with special neighbours. Infinities
/// and NaNs occur where `nonfinite` is set, because elsewhere nothing is required of them.
fn float_bytes(rng: &mut Rng, width: u32, special: bool, nonfinite: bool) -> Vec<u8> {
    let (mantissa, bias) = match width {
        16 => (10, 15),
        64 => (52, 1023),
        _ => (23, 127),
    };
    let highest = (1_u64 << (width - 1 - mantissa)) - 1;
    let fraction = (1_u64 << mantissa) - 1;
    let any = rng.u64(..);
    if special && width > 16 && rng.u32(..6) == 0 {
        return beside_narrower(rng, width);
    }
    let exponent = match rng.u32(..if special { 12 } else { 4 }) {
        // Moderate numbers, more often than the others.
        0..=4 => bias - 4 + rng.u64(..8),
        5 | 6 => 0,
        7 => 1,
        8 if nonfinite => highest,
        8 | 9 if nonfinite => rng.u64(..highest),
        // The product of four of them is finite.
        8 | 9 => bias - bias / 4 + rng.u64(..bias / 2),
        _ => bias,
    };
    let fraction = match rng.u32(..6) {
        0 => 0,
        1 if special => 1,
        2 if special => fraction,
        // Few bits, so that sums and products are exact.
        3 => (any & 7) << (mantissa - 3),
        _ => any & fraction,
    };
    let bits = u64::from(rng.bool()) << (width - 1) | exponent << mantissa | fraction;
    bits.to_le_bytes()[..width as usize / 8].to_vec()
}

/// Returns the bytes of a float next to a number of a narrower format, or next to the middle between
/// two of them, where a conversion to that format must round in one direction.
fn beside_narrower(rng: &mut Rng, width: u32) -> Vec<u8> {
    let (mantissa, bias) = if width == 64 { (52, 1023) } else { (23, 127) };
    let bits = if width == 64 && rng.bool() { 23 } else { 10 };
    // From the denormals of a half to its largest numbers, and more often their limits: half of the
    // smallest denormal, the smallest normal number, the largest one. Those of a single are as good as
    // any.
    let exponent = bias - 25 + if rng.bool() { rng.u64(..42) } else { *choose(rng, &[0, 10, 11, 40]) };
    let middle = if rng.bool() { 0 } else { rng.u64(..1 << (bits + 1)) };
    let middle = (middle << (mantissa - bits - 1)) as i64;
    let near = (exponent << mantissa) as i64 + middle + i64::from(rng.i8(-2..=2));
    let bits = u64::from(rng.bool()) << (width - 1) | near.cast_unsigned();
    bits.to_le_bytes()[..width as usize / 8].to_vec()
}

/// Returns the binding of the input buffer of a scalar.
fn binding(scalar: Scalar) -> u32 {
    BUFFERS.iter().position(|of| *of == scalar).map_or(0, |at| at as u32)
}

fn choose<'a, T>(rng: &mut Rng, all: &'a [T]) -> &'a T {
    &all[rng.usize(..all.len())]
}

impl Generator {
    fn chance(&mut self, one_in: u32) -> bool {
        self.rng.u32(..one_in) == 0
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        *choose(&mut self.rng, all)
    }

    /// Returns contents for a block of integers and floats, finite unless all its floats may be
    /// infinities or NaNs.
    fn mixed_contents(&mut self) -> BindingSource {
        let is_preserved = self.features.real_widths.iter().all(|width| self.preserved.contains(width));
        generated(self.pick(&[if is_preserved { "usual" } else { FINITE }, "index"]))
    }

    fn line(&mut self, text: &str) {
        _ = writeln!(self.body, "{text}");
    }

    /// Declares the execution modes of the entry point.
    fn modes(&mut self) {
        let mut modes = Vec::new();
        for width in self.features.real_widths.clone() {
            for (mode, one_in) in [("SignedZeroInfNanPreserve", 3), ("RoundingModeRTE", 4), ("DenormPreserve", 40)] {
                if self.features.floats && self.chance(one_in) {
                    self.module.capability(mode);
                    self.preserved.extend((mode == "SignedZeroInfNanPreserve").then_some(width));
                    modes.push(format!("{mode} {width}"));
                }
            }
        }
        if !modes.is_empty() && !self.features.new {
            self.module.extension("SPV_KHR_float_controls");
        }
        modes.iter().for_each(|mode| self.module.mode(mode));
    }

    /// Generates the functions and the entry point. Returns the bindings of the outputs, with the
    /// number of scalars for an invocation.
    fn main(&mut self) -> Vec<(u32, u64)> {
        if self.features.functions {
            for _ in 0..self.rng.u32(1..=3) {
                self.function();
            }
        }
        let (entry, last) = (self.module.label(), self.module.label());
        self.block.clone_from(&entry);
        self.read_inputs();
        while self.budget > 0 {
            self.statement(0, true);
        }
        let outputs = self.write_outputs();
        self.line(&format!("OpBranch {last}"));
        self.body.insert_str(0, &format!("OpBranch {entry}\n{entry} = OpLabel\n"));
        // The builder opens and closes the entry point.
        let text = self.take_function();
        self.module.run(format!("{text}{last} = OpLabel"));
        outputs
    }

    /// Returns the text of the current function from its variables on.
    fn take_function(&mut self) -> String {
        let [variables, stores] = std::mem::take(&mut self.declared);
        let body = std::mem::take(&mut self.body);
        // Nested blocks were deferred before those that contain them, which must come first.
        let deferred: Vec<String> = std::mem::take(&mut self.deferred).into_iter().rev().collect();
        self.variables.retain(|variable| variable.class != "Function");
        self.scope.clear();
        format!("{variables}{stores}{body}{}", deferred.concat())
    }

    /// Computes the indices of the invocation, and loads inputs of every type.
    fn read_inputs(&mut self) {
        let (u32, u32_id) = (Type::Scalar(U32), self.module.u32());
        let local = self.module.builtin("LocalInvocationIndex", &u32_id);
        self.local_index = self.op(&u32, "OpLoad", local);
        let v3_id = self.module.vector(&u32_id, 3);
        let group = self.module.builtin("WorkgroupId", &v3_id);
        let group = self.op(&Type::Vector(U32, 3), "OpLoad", group);
        let group = self.op(&u32, "OpCompositeExtract", format!("{group} 0"));
        let size = self.module.constant_u32(self.local);
        let first = self.op(&u32, "OpIMul", format!("{group} {size}"));
        self.global_index = self.op(&u32, "OpIAdd", format!("{first} {}", self.local_index));
        let mut scalars = vec![U32];
        let widths: Vec<u32> = self.features.ints.iter().copied().filter(|width| *width != 32).collect();
        scalars.extend(widths.into_iter().map(|width| Scalar::Int { width, signed: false }));
        if self.features.floats {
            scalars.extend(self.features.real_widths.iter().map(|width| Scalar::Float(*width)));
        }
        for scalar in scalars {
            let buffer = self.buffer(scalar, binding(scalar), "NonWritable");
            self.inputs.insert(scalar, buffer.clone());
            for index in 0..3 {
                let id = self.load_input(scalar, &buffer, index);
                self.is_finite = u64::from(index) < FINITE_INPUTS;
                self.push(id, Type::Scalar(scalar), 0);
            }
            self.is_finite = false;
        }
        let index = self.local_index.clone();
        self.push(index, u32, 0);
        if self.features.layout {
            self.read_records();
        }
        if self.features.push {
            self.read_block(BlockClass::PushConstant);
        }
        if self.features.uniform {
            self.read_block(BlockClass::Uniform);
        }
        if self.features.addresses {
            self.reach();
        }
    }

    /// Declares a buffer with a run-time array of scalars.
    fn buffer(&mut self, scalar: Scalar, binding: u32, decoration: &str) -> String {
        let bytes = scalar.width() / 8;
        match bytes {
            1 => {
                self.module.capability("StorageBuffer8BitAccess");
                self.module.extension("SPV_KHR_8bit_storage");
            }
            2 => self.module.capability("StorageBuffer16BitAccess"),
            _ => {}
        }
        let id = self.scalar_id(scalar);
        let array = self.module.runtime_array(&id, bytes);
        let block = self.module.block(&[(array, 0)], "Block");
        let variable = self.module.resource("StorageBuffer", &block, binding);
        if !decoration.is_empty() {
            self.module.decorate(format!("{variable} {decoration}"));
        }
        variable
    }

    /// Returns a pointer to element `index * INPUTS + offset` or `index * stride + offset` of a
    /// buffer.
    fn element(&mut self, scalar: Scalar, buffer: &str, stride: u32, offset: u32) -> String {
        let u32 = Type::Scalar(U32);
        let (stride, offset) = (self.module.constant_u32(stride), self.module.constant_u32(offset));
        let index = self.global_index.clone();
        let first = self.op(&u32, "OpIMul", format!("{index} {stride}"));
        let at = self.op(&u32, "OpIAdd", format!("{first} {offset}"));
        let zero = self.module.constant_u32(0);
        let scalar = self.scalar_id(scalar);
        let pointer = self.module.pointer("StorageBuffer", &scalar);
        let id = self.module.label();
        self.line(&format!("{id} = OpAccessChain {pointer} {buffer} {zero} {at}"));
        id
    }

    fn load_input(&mut self, scalar: Scalar, buffer: &str, index: u32) -> String {
        let pointer = self.element(scalar, buffer, INPUTS, index);
        self.op(&Type::Scalar(scalar), "OpLoad", pointer)
    }

    /// Stores the results and the last values in scope. Returns the bindings, with the number of
    /// scalars for an invocation.
    fn write_outputs(&mut self) -> Vec<(u32, u64)> {
        let mut scalars: BTreeMap<Scalar, Vec<String>> = BTreeMap::new();
        let results = std::mem::take(&mut self.results);
        let last: Vec<Value> = self.scope.iter().rev().cloned().collect();
        let loads: Vec<Variable> = self.variables.clone();
        for value in results.into_iter().rev().chain(last) {
            self.flatten(&value.id, &value.ty, &mut scalars);
        }
        for variable in loads {
            let id = self.op(&variable.ty, "OpLoad", &variable.id);
            self.flatten(&id, &variable.ty, &mut scalars);
        }
        let mut outputs = Vec::new();
        for (scalar, ids) in scalars {
            let binding = FIRST_OUTPUT + binding(scalar);
            let buffer = self.buffer(scalar, binding, "");
            for (index, id) in ids.iter().enumerate() {
                let pointer = self.element(scalar, &buffer, ids.len() as u32, index as u32);
                self.line(&format!("OpStore {pointer} {id}"));
            }
            outputs.push((binding, ids.len() as u64));
        }
        outputs
    }

    /// Adds the scalars of a value to those that are stored, as the types of buffers.
    fn flatten(&mut self, id: &str, ty: &Type, scalars: &mut BTreeMap<Scalar, Vec<String>>) {
        let parts = ty.constituents();
        if !parts.is_empty() {
            for (index, part) in parts.iter().enumerate() {
                let full = |scalar: Scalar| scalars.get(&stored(scalar)).is_none_or(|ids| ids.len() < OUTPUTS);
                if part.has(&full) {
                    let part_id = self.op(part, "OpCompositeExtract", format!("{id} {index}"));
                    self.flatten(&part_id, part, scalars);
                }
            }
            return;
        }
        let Type::Scalar(scalar) = *ty else { return };
        let to = stored(scalar);
        if scalars.get(&to).is_some_and(|ids| ids.len() >= OUTPUTS) {
            return;
        }
        let id = match scalar {
            Scalar::Bool => {
                let (one, zero) = (self.module.constant_u32(1), self.module.constant_u32(0));
                self.op(&Type::Scalar(U32), "OpSelect", format!("{id} {one} {zero}"))
            }
            _ if scalar == to => id.to_owned(),
            _ => self.op(&Type::Scalar(to), "OpBitcast", id),
        };
        scalars.entry(to).or_default().push(id);
    }
}

/// Returns the type of the buffer that stores a scalar.
fn stored(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::Bool => U32,
        Scalar::Int { width, .. } => Scalar::Int { width, signed: false },
        Scalar::Float(_) => scalar,
    }
}
