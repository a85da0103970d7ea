//! Cases that apply one instruction to rows of operands: from buffers, one row for each invocation,
//! or as constants, all rows in one invocation.

use crate::bytes::bytes_input;
use crate::module_builder::ModuleBuilder;
use crate::{Case, CaseSubject, Program};
use assay_check::Options;
use assay_oracle::Slot;

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ty {
    Int { width: u32, signed: bool },
    Float { width: u32 },
}

pub(super) const U32: Ty = Ty::Int { width: 32, signed: false };

impl Ty {
    pub(super) fn width(self) -> u32 {
        match self {
            Ty::Int { width, .. } | Ty::Float { width } => width,
        }
    }

    pub(super) fn bytes(self) -> u32 {
        self.width() / 8
    }

    /// Returns `u8`, `i64`, `f16`, and so on.
    pub(super) fn name(self) -> String {
        match self {
            Ty::Int { width, signed: true } => format!("i{width}"),
            Ty::Int { width, signed: false } => format!("u{width}"),
            Ty::Float { width } => format!("f{width}"),
        }
    }

    /// Declares the type with the capabilities for arithmetic and for storage in buffers.
    pub(super) fn declare(self, shader: &mut ModuleBuilder) -> String {
        match self.width() {
            8 => {
                shader.extension("SPV_KHR_8bit_storage");
                shader.capability("StorageBuffer8BitAccess");
                shader.capability("Int8");
            }
            16 => shader.capability("StorageBuffer16BitAccess"),
            _ => {}
        }
        match self {
            Ty::Int { width, signed } => shader.int(width, signed),
            Ty::Float { width } => shader.float(width),
        }
    }

    /// Emits a constant with these bits.
    pub(super) fn constant(self, shader: &mut ModuleBuilder, bits: u64) -> String {
        let ty = self.declare(shader);
        match self {
            Ty::Int { width, signed: true } => {
                let shift = 64 - width;
                shader.constant(&ty, (bits << shift).cast_signed() >> shift)
            }
            Ty::Int { .. } => shader.constant(&ty, bits),
            // A float is given by its bits, which may be any pattern.
            Ty::Float { width } => {
                let word = Ty::Int { width, signed: false };
                let id = word.constant(shader, bits);
                shader.op(&ty, "OpBitcast", id)
            }
        }
    }
}

/// Source of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperandSource {
    Buffer,
    Constant,
}

/// Operands of a row, and the expected results.
pub(super) type OperandRow = (Vec<u64>, Vec<u64>);

/// Emits an instruction; returns the ids of its results.
pub(super) type EmitInstruction = fn(&mut ModuleBuilder, &InstructionArgs<'_>) -> Vec<String>;

/// A case that applies one instruction.
pub(super) struct InstructionCase {
    pub(super) name: String,
    pub(super) subject: CaseSubject,
    /// Types of the operands' components.
    pub(super) operands: Vec<Ty>,
    /// Types of the results' components.
    pub(super) results: Vec<Ty>,
    /// Number of components of operands and results.
    pub(super) shape: u32,
    pub(super) from: OperandSource,
    pub(super) write: EmitInstruction,
    pub(super) spirv: &'static str,
}

/// Arguments for emitting an instruction.
pub(super) struct InstructionArgs<'a> {
    /// The instruction's name.
    pub(super) spirv: &'static str,
    /// Types of the results: scalars or vectors.
    pub(super) types: &'a [String],
    /// Number of components.
    pub(super) shape: u32,
    /// Ids of the operands.
    pub(super) ids: &'a [String],
}

/// Emits `%result = INSTRUCTION TYPE OPERANDS`.
pub(super) fn plain(shader: &mut ModuleBuilder, args: &InstructionArgs<'_>) -> Vec<String> {
    vec![shader.op(&args.types[0], args.spirv, args.ids.join(" "))]
}

/// Invocations of a workgroup.
const LOCAL: u32 = 64;

/// Largest number of rows in a module with constant operands.
const CONSTANTS: usize = 48;

impl InstructionCase {
    /// Builds the case. `rows` returns rows of scalars; a vector takes its components from consecutive
    /// rows.
    pub(super) fn case(self, rows: impl Fn() -> Vec<OperandRow> + Send + Sync + 'static) -> Case {
        let (name, subject) = (self.name.clone(), self.subject.clone());
        Case::core(name, subject, move || match self.from {
            OperandSource::Buffer => self.with_buffers(&rows()),
            OperandSource::Constant => self.with_constants(&rows()),
        })
    }

    fn output_binding(&self) -> u32 {
        self.operands.len() as u32
    }

    /// Declares a buffer for each result, bound after the operands; returns component types and
    /// variables.
    fn outputs(&self, shader: &mut ModuleBuilder, rows: u32) -> Vec<(String, String)> {
        let arrays = self.results.iter().enumerate().map(|(i, ty)| {
            let scalar = ty.declare(shader);
            let array = shader.array(&scalar, rows, Some(ty.bytes()));
            let block = shader.block(&[(array, 0)], "Block");
            (scalar, shader.resource("StorageBuffer", &block, self.output_binding() + i as u32))
        });
        arrays.collect()
    }

    fn types(&self, shader: &mut ModuleBuilder) -> Vec<String> {
        let scalars: Vec<String> = self.results.iter().map(|ty| ty.declare(shader)).collect();
        scalars.into_iter().map(|scalar| shader.vector(&scalar, self.shape)).collect()
    }

    /// Stores results; `places` are the rows of their components.
    fn store(&self, shader: &mut ModuleBuilder, outputs: &[(String, String)], results: &[String], places: &[String]) {
        let zero = shader.constant_u32(0);
        for ((scalar, output), result) in outputs.iter().zip(results) {
            for (i, place) in places.iter().enumerate() {
                let part = match self.shape {
                    1 => result.clone(),
                    _ => shader.op(scalar, "OpCompositeExtract", format_args!("{result} {i}")),
                };
                let to = shader.access("StorageBuffer", scalar, output, &[&zero, place]);
                shader.run(format_args!("OpStore {to} {part}"));
            }
        }
    }

    fn with_buffers(&self, rows: &[OperandRow]) -> Program {
        // The last invocations repeat the first rows.
        let each = LOCAL * self.shape;
        let count = (rows.len() as u32).next_multiple_of(each);
        let rows: Vec<OperandRow> = rows.iter().cycle().take(count as usize).cloned().collect();
        let mut shader = ModuleBuilder::new([LOCAL, 1, 1]);
        let mut inputs = Vec::new();
        for (i, ty) in self.operands.iter().enumerate() {
            let scalar = ty.declare(&mut shader);
            let array = shader.array(&scalar, count, Some(ty.bytes()));
            let block = shader.block(&[(array, 0)], "Block");
            inputs.push((scalar, shader.resource("StorageBuffer", &block, i as u32)));
        }
        let outputs = self.outputs(&mut shader, count);
        let types = self.types(&mut shader);
        let (u32, zero) = (shader.u32(), shader.constant_u32(0));
        let invocation = shader.global_x();
        let places: Vec<String> = match self.shape {
            1 => vec![invocation],
            n => {
                let factor = shader.constant_u32(n);
                let first = shader.op(&u32, "OpIMul", format_args!("{invocation} {factor}"));
                let parts = (0..n).map(|i| {
                    let offset = shader.constant_u32(i);
                    shader.op(&u32, "OpIAdd", format_args!("{first} {offset}"))
                });
                parts.collect()
            }
        };
        let mut ids = Vec::new();
        for (scalar, input) in &inputs {
            let mut parts = Vec::new();
            for place in &places {
                let from = shader.access("StorageBuffer", scalar, input, &[&zero, place]);
                parts.push(shader.op(scalar, "OpLoad", from));
            }
            ids.push(compose(&mut shader, scalar, parts));
        }
        let args = InstructionArgs { spirv: self.spirv, types: &types, shape: self.shape, ids: &ids };
        let results = (self.write)(&mut shader, &args);
        self.store(&mut shader, &outputs, &results, &places);
        let mut options = Options { groups: Some([count / each, 1, 1]), padding: true, ..Options::default() };
        for (i, ty) in self.operands.iter().enumerate() {
            let bytes = rows.iter().flat_map(|(operands, _)| le_bytes(operands[i], *ty));
            options.inputs.push(bytes_input(i as u32, bytes.collect()));
        }
        self.program(shader, options, rows)
    }

    fn with_constants(&self, rows: &[OperandRow]) -> Program {
        // The rows are spread over all rows, so that every group of operands occurs.
        let step = rows.len().div_ceil(CONSTANTS).max(1);
        let rows: Vec<OperandRow> = rows.iter().step_by(step).cloned().collect();
        let mut shader = ModuleBuilder::new([1, 1, 1]);
        let outputs = self.outputs(&mut shader, rows.len() as u32);
        let types = self.types(&mut shader);
        for (at, (operands, _)) in rows.iter().enumerate() {
            let ids: Vec<String> =
                self.operands.iter().zip(operands).map(|(ty, bits)| ty.constant(&mut shader, *bits)).collect();
            let args = InstructionArgs { spirv: self.spirv, types: &types, shape: 1, ids: &ids };
            let results = (self.write)(&mut shader, &args);
            let place = shader.constant_u32(at as u32);
            self.store(&mut shader, &outputs, &results, &[place]);
        }
        let options = Options { groups: Some([1; 3]), padding: true, ..Options::default() };
        self.program(shader, options, rows)
    }

    fn program(&self, shader: ModuleBuilder, mut options: Options, rows: Vec<OperandRow>) -> Program {
        let results: Vec<(Slot, Vec<u8>)> = self
            .results
            .iter()
            .enumerate()
            .map(|(i, ty)| {
                let bytes = rows.iter().flat_map(|(_, results)| le_bytes(results[i], *ty)).collect();
                (Slot::new(0, self.output_binding() + i as u32), bytes)
            })
            .collect();
        for (slot, bytes) in &results {
            options.inputs.push(bytes_input(slot.binding, crate::bytes::pattern(bytes.len() as u32, 0x33)));
        }
        Program::new(shader.finish(), options).with_reference(move |_| results.iter().cloned().collect())
    }
}

/// Emits a vector of these components; a single component is returned as it is.
fn compose(shader: &mut ModuleBuilder, scalar: &str, parts: Vec<String>) -> String {
    match parts.len() {
        1 => parts.into_iter().next().unwrap_or_default(),
        n => {
            let ty = shader.vector(scalar, n as u32);
            shader.op(&ty, "OpCompositeConstruct", parts.join(" "))
        }
    }
}

/// The bytes of a value in memory.
fn le_bytes(bits: u64, ty: Ty) -> Vec<u8> {
    bits.to_le_bytes()[..ty.bytes() as usize].to_vec()
}
