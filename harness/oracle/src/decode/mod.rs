//! Decoding of a module into the instructions of the interpreter.

mod carried;
mod constant_propagation;
mod constants;
mod control;
mod floats;
mod functions;
mod glsl;
mod images;
mod instruction;
mod integers;
mod kernel;
mod liveness;
mod matrix_layout;
mod memory;
mod relaxed;
mod spec_constant_op;
mod subgroups;
mod support;
mod verify;
mod wgsl;

use crate::control_flow::Function;
use crate::dispatch::SpecValues;
use crate::error::{Place, ProgramError};
use crate::float_op::FloatOps;
use crate::inst::{Inst, Reg, WrapDecorations};
use crate::pointer::OBJECT;
use crate::possible_values::PossibleValues;
use crate::program::{Numbers, Object, ObjectKind, Program};
use crate::ty::{Kind, Layout, Layouts, Leaf, Mode};
use assay_precision::Specification;
use assay_spirv::grammar::Version;
use assay_spirv::module::{Instruction, InstructionIndex, Module, Section, Type, TypeId};
use assay_spirv::reflect::{self, EntryPointUses};
use assay_spirv::tables::{BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

pub use spec_constant_op::folded;
pub(crate) use support::{Group, group};
pub(crate) use verify::written as written_registers;

/// Largest number of registers of a program; more would exceed every limit of state.
const REGISTERS: u64 = 1 << 20;

/// Largest workgroup memory of a program in bytes; no device has as much.
const WORKGROUP_BYTES: u64 = 1 << 30;

/// Number of descriptors of a binding without a stated length.
pub(crate) const RUNTIME_DESCRIPTORS: u64 = 1 << 16;

/// An id that has a value.
#[derive(Clone, Debug)]
pub(super) struct Val {
    pub(super) reg: Reg,
    pub(super) ty: TypeId,
    pub(super) n: u32,
    pub(super) pointee: Option<Pointee>,
}

/// The pointee of a pointer type.
#[derive(Clone, Debug)]
pub(super) struct Pointee {
    pub(super) class: StorageClass,
    pub(super) layout: Rc<Layout>,
    /// For lane-local storage, the register that it always refers to.
    pub(super) fixed: Option<Reg>,
}

impl Pointee {
    pub(super) fn is_local(&self) -> bool {
        is_local(self.class)
    }

    /// True if pointers are device addresses, or a kernel's.
    pub(super) fn is_physical(&self) -> bool {
        matches!(self.class, StorageClass::PhysicalStorageBuffer | StorageClass::CrossWorkgroup)
    }
}

fn is_local(class: StorageClass) -> bool {
    matches!(class, StorageClass::Function | StorageClass::Private | StorageClass::Input | StorageClass::Output)
}

pub(super) struct Decoder<'a> {
    pub(super) module: &'a Module,
    spec: &'a SpecValues,
    usage: &'a EntryPointUses,
    pub(super) layouts: Layouts<'a>,
    values: Vec<Option<Val>>,
    /// Values of registers that are known: constants.
    known: HashMap<Reg, u64>,
    pub(super) kinds: Vec<Kind>,
    pub(super) code: Vec<Inst>,
    pub(super) at: Vec<Place>,
    /// Code that runs once: constants.
    setup: Vec<Inst>,
    setup_at: Vec<Place>,
    in_function: bool,
    here: InstructionIndex,
    functions: Vec<Function>,
    /// Function numbers by the word of their id.
    numbers: HashMap<u32, u32>,
    objects: Vec<Object>,
    workgroup_bytes: u64,
    /// Registers of variables: the first one, and their number.
    locals: Vec<(Reg, u32)>,
    /// Workgroup memory that begins as zero: offset and bytes.
    zeroed: Vec<(u64, u64)>,
    /// Registers that every workgroup initialises: private variables.
    fresh: Vec<Inst>,
    builtins: Vec<(BuiltIn, Reg, u32)>,
    /// Registers of pointers into arrays of push constants, at indices that are not constants.
    pub(super) pushed: BTreeSet<Reg>,
    /// Texel type that accesses to images without a format assume.
    pub(super) unformatted: BTreeMap<InstructionIndex, Numbers>,
    pub(super) float_ops: FloatOps,
    /// True if the module is a translation of WGSL.
    pub(super) wgsl: bool,
    /// Pointer registers into values that the translation of WGSL keeps in memory to index them.
    pub(super) kept: BTreeSet<Reg>,
    pub(super) environment: floats::FloatDeclarations,
    sharing: memory::Sharing,
    /// True if the module decorates anything `RelaxedPrecision`.
    relaxes: bool,
    /// True if the current instruction computes integers of relaxed precision.
    relaxing: bool,
    /// Width that the result of the current instruction fits, if it declares one.
    fits: Option<WrapDecorations>,
    /// True if workgroup memory has an explicit layout: all variables there are blocks, or none is.
    shares_blocks: bool,
}

type Result<T = ()> = std::result::Result<T, ProgramError>;

/// Reads an entry point of a module.
pub(crate) fn program(
    specification: Specification,
    wgsl: bool,
    module: &Module,
    entry: &str,
    spec: &SpecValues,
) -> Result<Program> {
    let usages = reflect::static_uses(module);
    let models = [Some(ExecutionModel::GLCompute), Some(ExecutionModel::Kernel)];
    let computes = || usages.iter().filter(|u| models.contains(&u.model));
    let Some(usage) = computes().find(|u| u.name == entry) else {
        let there = computes().map(|u| u.name.clone()).collect();
        return Err(ProgramError::NoEntryPoint { name: entry.into(), there });
    };
    let mut decoder = Decoder::new(specification, wgsl, module, usage, spec);
    decoder.globals()?;
    let entry = decoder.all_functions()?;
    let size = decoder.workgroup_size()?;
    let parameters = decoder.parameters()?;
    let copied = decoder.copied()?;
    let cast = decoder.cast()?;
    let float_ops = std::mem::take(&mut decoder.float_ops).finish();
    let registers = decoder.kinds.len() as u64;
    let setup = decoder.setup.iter().zip(&decoder.setup_at);
    for (inst, at) in setup.chain(decoder.code.iter().zip(&decoder.at)) {
        if !verify::fits(inst, &float_ops, registers) {
            let what = "operands that do not fit the instruction".to_owned();
            return Err(ProgramError::Invalid { what, at: *at });
        }
    }
    for function in &decoder.functions {
        if !verify::ends_fit(function, registers) {
            return decoder.invalid("a function whose results do not fit their types");
        }
    }
    let tangled = decoder.code.iter().any(|inst| matches!(inst, Inst::Subgroup { .. } | Inst::Barrier { .. }));
    let varies = module.version() >= Version { major: 1, minor: 6 };
    let reconverges = decoder.has_mode(ExecutionMode::MaximallyReconvergesKHR);
    let wide_offsets = decoder.has_mode(ExecutionMode::Shader64BitIndexingEXT);
    let non_uniform = decoder.non_uniform();
    let tiled = decoder.module.declares(Capability::TileShadingQCOM);
    let rate = decoder.tile_shading_rate();
    let mut program = Program {
        name: usage.name.clone(),
        size,
        kinds: decoder.kinds,
        at: decoder.at,
        code: decoder.code,
        setup: decoder.setup,
        setup_at: decoder.setup_at,
        functions: decoder.functions,
        entry,
        objects: decoder.objects,
        workgroup_bytes: decoder.workgroup_bytes,
        locals: decoder.locals,
        zeroed: decoder.zeroed,
        fresh: decoder.fresh,
        builtins: decoder.builtins,
        float_ops,
        wgsl,
        kept: decoder.kept,
        copied,
        cast,
        varies,
        reconverges,
        wide_offsets,
        tangled,
        non_uniform,
        pushed: decoder.pushed,
        unformatted: decoder.unformatted,
        tiled,
        rate,
        parameters,
        carried: Vec::new(),
        constants: decoder.known,
        possible: PossibleValues::default(),
    };
    let (carried, by_function) = carried::carried_registers(&program);
    program.carried = carried;
    let live = liveness::live_registers(&program, &by_function);
    for (function, live) in program.functions.iter_mut().zip(live) {
        function.blocks.iter_mut().zip(live).for_each(|(block, live)| block.live = live);
    }
    program.possible = constant_propagation::possible_values(&program);
    Ok(program)
}

/// Position of an instruction.
pub(crate) fn place(module: &Module, instruction: InstructionIndex) -> Place {
    Place { instruction, line: module.line(instruction).map(|source| source.line) }
}

impl<'a> Decoder<'a> {
    fn new(
        specification: Specification,
        wgsl: bool,
        module: &'a Module,
        usage: &'a EntryPointUses,
        spec: &'a SpecValues,
    ) -> Decoder<'a> {
        let mut decoder = Decoder {
            module,
            spec,
            usage,
            layouts: Layouts::new(module),
            values: vec![None; module.id_count()],
            known: HashMap::new(),
            kinds: Vec::new(),
            code: Vec::new(),
            at: Vec::new(),
            setup: Vec::new(),
            setup_at: Vec::new(),
            in_function: false,
            here: InstructionIndex(0),
            functions: Vec::new(),
            numbers: HashMap::new(),
            objects: vec![
                Object {
                    kind: ObjectKind::Push,
                    first: 0,
                    count: 1,
                    writable: false,
                    aliased: false,
                    tile: false,
                    choice: None,
                    image: None,
                },
                Object {
                    kind: ObjectKind::Workgroup,
                    first: 1,
                    count: 1,
                    writable: true,
                    aliased: false,
                    tile: false,
                    choice: None,
                    image: None,
                },
            ],
            locals: Vec::new(),
            zeroed: Vec::new(),
            fresh: Vec::new(),
            workgroup_bytes: 0,
            builtins: Vec::new(),
            pushed: BTreeSet::new(),
            unformatted: BTreeMap::new(),
            float_ops: FloatOps::under(specification),
            wgsl,
            kept: BTreeSet::new(),
            environment: floats::FloatDeclarations::new(module, usage.function),
            sharing: memory::Sharing::of(module),
            relaxes: module.all_decorations().any(|(_, d)| d.decoration == Some(Decoration::RelaxedPrecision)),
            relaxing: false,
            fits: None,
            shares_blocks: false,
        };
        decoder.shares_blocks = decoder.has_workgroup_blocks();
        decoder
    }

    pub(super) fn place(&self) -> Place {
        place(self.module, self.here)
    }

    pub(super) fn unsupported<T>(&self, what: impl Into<String>) -> Result<T> {
        Err(ProgramError::Unsupported { what: what.into(), at: self.place() })
    }

    pub(super) fn invalid<T>(&self, what: impl Into<String>) -> Result<T> {
        Err(ProgramError::Invalid { what: what.into(), at: self.place() })
    }

    pub(super) fn unsupported_op<T>(&self, i: Instruction) -> Result<T> {
        self.unsupported(i.op.map_or_else(|| "an unknown instruction".to_owned(), |op| op.name().to_owned()))
    }

    /// Operand word `i` of an instruction.
    pub(super) fn word(&self, i: Instruction, operand: usize) -> Result<u32> {
        i.operand(operand).map_or_else(|| self.invalid(format!("operand {operand} is missing")), Ok)
    }

    /// Appends an instruction.
    pub(super) fn emit(&mut self, inst: Inst) {
        if !self.in_function {
            return self.emit_once(inst);
        }
        self.code.push(inst);
        let place = self.place();
        self.at.push(place);
    }

    /// Appends an instruction to the code that runs once.
    pub(super) fn emit_once(&mut self, inst: Inst) {
        self.setup.push(inst);
        let place = self.place();
        self.setup_at.push(place);
    }

    pub(super) fn layout(&mut self, ty: TypeId, mode: Mode) -> Result<Rc<Layout>> {
        let layout = self.layouts.get(ty, mode);
        layout.or_else(|what| self.unsupported(what))
    }

    /// New registers of these kinds.
    pub(super) fn registers(&mut self, kinds: impl IntoIterator<Item = Kind>) -> Result<Reg> {
        let first = self.kinds.len() as Reg;
        self.kinds.extend(kinds);
        let found = self.kinds.len() as u64;
        if found > REGISTERS {
            let at = self.place();
            return Err(ProgramError::TooLarge {
                what: "scalars of values and variables",
                found,
                limit: REGISTERS,
                at,
            });
        }
        Ok(first)
    }

    /// The kinds of a type's scalars.
    pub(super) fn scalars(&mut self, ty: TypeId) -> Result<Vec<Kind>> {
        let layout = self.layout(ty, Mode::Leaves)?;
        self.kinds_of(&layout)
    }

    /// The kinds of a layout's scalars.
    pub(super) fn kinds_of(&self, layout: &Layout) -> Result<Vec<Kind>> {
        Ok(self.leaves_of(layout)?.iter().map(|leaf| leaf.kind).collect())
    }

    /// The scalars of a layout; refuses values too large before it lists them.
    pub(super) fn leaves_of(&self, layout: &Layout) -> Result<Vec<Leaf>> {
        let found = layout.parts();
        if found > REGISTERS {
            let at = self.place();
            return Err(ProgramError::TooLarge { what: "scalars of a value", found, limit: REGISTERS, at });
        }
        Ok(layout.leaves())
    }

    /// Gives an id registers.
    pub(super) fn declare(&mut self, word: u32, ty: TypeId) -> Result<Val> {
        let kinds = self.scalars(ty)?;
        let n = kinds.len() as u32;
        let reg = self.registers(kinds)?;
        let mut pointee = self.pointee(ty)?;
        if let Some(pointee) = &mut pointee {
            self.lay_out_matrix(word, ty, pointee)?;
        }
        let val = Val { reg, ty, n, pointee };
        self.bind(word, val.clone());
        Ok(val)
    }

    pub(super) fn bind(&mut self, word: u32, val: Val) {
        if let Some(id) = self.module.dense_id(word) {
            self.values[id.0 as usize] = Some(val);
        }
    }

    /// Returns the pointee of a pointer type.
    pub(super) fn pointee(&mut self, ty: TypeId) -> Result<Option<Pointee>> {
        let Type::Pointer { class, pointee } = *self.module.ty(ty) else { return Ok(None) };
        let Some(pointee) = pointee else { return self.unsupported("an untyped pointer") };
        let layout = match class {
            StorageClass::Function | StorageClass::Private | StorageClass::Input | StorageClass::Output => {
                self.layout(pointee, Mode::Leaves)?
            }
            StorageClass::Workgroup if !self.shares_blocks => self.layout(pointee, Mode::Tight)?,
            StorageClass::CrossWorkgroup => self.kernel_layout(pointee)?,
            StorageClass::UniformConstant if self.usage.model == Some(ExecutionModel::Kernel) => {
                return self.unsupported("a kernel's constant memory");
            }
            StorageClass::UniformConstant | StorageClass::TileAttachmentQCOM => self.descriptors(pointee)?,
            StorageClass::Uniform | StorageClass::StorageBuffer if self.is_descriptor_array(pointee) => {
                self.descriptors(pointee)?
            }
            _ => self.layout(pointee, Mode::Explicit)?,
        };
        Ok(Some(Pointee { class, layout, fixed: None }))
    }

    fn is_block(&self, ty: TypeId) -> bool {
        let word = self.module.type_definition(ty).result().unwrap_or_default();
        self.module
            .decorations(word)
            .any(|d| d.member.is_none() && matches!(d.decoration, Some(Decoration::Block | Decoration::BufferBlock)))
    }

    fn has_workgroup_blocks(&self) -> bool {
        let module = self.module;
        let mut variables = module.section(Section::Globals).filter(|i| i.op == Some(Op::Variable));
        variables.any(|i| {
            let pointer = i.result_type().and_then(|ty| module.pointer(module.type_declared(ty)?));
            matches!(pointer, Some((StorageClass::Workgroup, Some(ty))) if self.is_block(ty))
        })
    }

    fn is_descriptor_array(&self, ty: TypeId) -> bool {
        match *self.module.ty(ty) {
            Type::Array { element, .. } | Type::RuntimeArray { element } => {
                self.is_block(element) || self.is_descriptor_array(element)
            }
            _ => false,
        }
    }

    /// Arrays of descriptors, one object an element.
    fn descriptors(&mut self, ty: TypeId) -> Result<Rc<Layout>> {
        let (element, count) = match *self.module.ty(ty) {
            Type::Array { element, .. } => {
                let whole = self.layout(ty, Mode::Leaves)?;
                let Layout::Many { count, .. } = *whole else { return self.invalid("an array without length") };
                (element, count)
            }
            Type::RuntimeArray { element } => (element, Some(RUNTIME_DESCRIPTORS)),
            _ => return self.layout(ty, Mode::Explicit),
        };
        let of = self.descriptors(element)?;
        let inner = match &*of {
            Layout::Many { count, stride, .. } if *stride >= OBJECT => count.unwrap_or(1).saturating_mul(*stride),
            _ => OBJECT,
        };
        Ok(Rc::new(Layout::Many { count, stride: inner, of }))
    }

    /// The value of an id.
    pub(super) fn val(&mut self, word: u32) -> Result<Val> {
        let found = self.module.dense_id(word).and_then(|id| self.values[id.0 as usize].clone());
        match found {
            Some(val) => Ok(val),
            None => self.invalid(format!("{} has no value here", self.module.names().display(word))),
        }
    }

    /// The value of an operand.
    pub(super) fn operand(&mut self, i: Instruction, operand: usize) -> Result<Val> {
        let word = self.word(i, operand)?;
        self.val(word)
    }

    /// The registers of an instruction's result.
    pub(super) fn result(&mut self, i: Instruction) -> Result<Val> {
        let word = i.result().unwrap_or_default();
        self.val(word)
    }

    /// The kind of a value's first scalar.
    pub(super) fn kind(&self, val: &Val) -> Kind {
        self.kinds.get(val.reg as usize).copied().unwrap_or(Kind::Handle)
    }

    /// The value of an id that must be a constant (a scope, semantics, a mode).
    pub(super) fn constant(&mut self, word: u32) -> Result<u64> {
        let val = self.val(word)?;
        match self.known.get(&val.reg) {
            Some(bits) => Ok(*bits),
            None => self.unsupported("a scope, semantics or mode that is no constant"),
        }
    }

    fn has_mode(&self, wanted: ExecutionMode) -> bool {
        let mut modes = self.module.section(Section::ExecutionModes);
        modes.any(|i| i.operand(0) == Some(self.usage.function) && i.operand(1) == Some(wanted.word()))
    }

    /// Registers of the values that are decorated `NonUniform`.
    fn non_uniform(&self) -> BTreeSet<Reg> {
        let module = self.module;
        let decorated = module.all_decorations().filter(|(_, d)| d.decoration == Some(Decoration::NonUniform));
        let values = decorated.filter_map(|(word, _)| self.values[module.dense_id(word)?.0 as usize].as_ref());
        values.map(|val| val.reg).collect()
    }

    fn tile_shading_rate(&self) -> Option<[u32; 3]> {
        let modes = reflect::Reflection::new(self.module).entry_points;
        let entry = modes.iter().find(|entry| entry.function == self.usage.function)?;
        let rate = entry.modes.iter().find(|mode| mode.mode == Some(ExecutionMode::TileShadingRateQCOM))?;
        rate.operands[..].try_into().ok()
    }

    fn workgroup_size(&mut self) -> Result<[u32; 3]> {
        let mut size = [1u32; 3];
        let module = self.module;
        let globals = module.section(Section::Globals);
        let mut decorated = globals.filter(|i| {
            i.result().is_some_and(|word| {
                module.decorations(word).any(|d| {
                    d.decoration == Some(Decoration::BuiltIn)
                        && d.operands.first() == Some(&BuiltIn::WorkgroupSize.word())
                })
            })
        });
        if let Some(constant) = decorated.next_back().and_then(|i| i.result()) {
            let val = self.val(constant)?;
            for (i, part) in size.iter_mut().enumerate() {
                *part = self.known.get(&(val.reg + i as u32)).map_or(1, |bits| *bits as u32);
            }
            return Ok(size);
        }
        let modes = module.section(Section::ExecutionModes);
        for mode in modes.filter(|i| i.operand(0) == Some(self.usage.function)) {
            match (mode.operand(1).and_then(ExecutionMode::from_word), mode.operands()) {
                (Some(ExecutionMode::LocalSize), [_, _, x, y, z]) => size = [*x, *y, *z],
                (Some(ExecutionMode::LocalSizeId), [_, _, ids @ ..]) => {
                    for (part, word) in size.iter_mut().zip(ids) {
                        *part = self.constant(*word)? as u32;
                    }
                }
                _ => {}
            }
        }
        Ok(size)
    }
}
