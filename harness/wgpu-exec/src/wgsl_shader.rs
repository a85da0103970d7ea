//! Precision cases as WGSL: each invocation applies the expression for the instruction to one row
//! of operands.
//!
//! Operands and results are in storage buffers of words, column after column as for the SPIR-V
//! shaders, and are bitcast next to the expression. Values of `f16` are in the low halves of their
//! words. naga 30 has no `bitcast` between a word and a vector of halves, so they are loaded and
//! stored through bindings of type `array<f16>` with the same layout.

use assay_case::{Case, Columns, OperandSource};
use assay_precision::{Call, NotInWgsl, Op, Scalar, Spelling, Type};
use std::fmt::Write;

/// Reason why a case cannot run through wgpu.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WgpuUnsupported {
    /// WGSL has no equivalent of its instruction.
    #[error(transparent)]
    Wgsl(#[from] NotInWgsl),
    /// Its operands are constants.
    #[error(
        "operands from a {0} are not run through wgpu: in WGSL they make expressions that are evaluated before the shader runs, \
         with errors of their own for overflow"
    )]
    Source(OperandSource),
}

/// Returns the case for WGSL, with WGSL's rules.
///
/// # Errors
/// WGSL cannot express it.
pub fn to_wgsl(case: &Case) -> Result<Case, WgpuUnsupported> {
    let call = case.call.in_wgsl()?;
    match case.source {
        OperandSource::Buffer => Ok(Case { call, ..case.clone() }),
        source => Err(WgpuUnsupported::Source(source)),
    }
}

/// Invocations of a workgroup.
pub(crate) const WORKGROUP: u32 = 64;

/// Returns true if values of `f16` occur, which need an extension of WGSL.
pub(crate) fn uses_f16(call: &Call) -> bool {
    let half = |ty: &Type| is_half(ty.scalar);
    let results: &[Type] = if packs(call.op) { &[] } else { &call.results };
    call.operands.iter().chain(results).any(half)
}

/// Returns true if the result is a word whose parts count as separate results.
fn packs(op: Op) -> bool {
    matches!(op, Op::PackSnorm4x8 | Op::PackUnorm4x8 | Op::PackSnorm2x16 | Op::PackUnorm2x16 | Op::PackHalf2x16)
}

/// The shader of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WgslShader {
    /// Its text.
    pub text: String,
    /// Buffers that it binds in group 0, by binding.
    pub bindings: Vec<CaseBuffer>,
}

/// A storage buffer of a case's shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseBuffer {
    /// Operands as words.
    Operands,
    /// Results as words.
    Results,
    /// The buffer of operands, as halves.
    OperandHalves,
    /// Results of type `f16`, each in the low half of its word, in a separate buffer.
    ResultHalves,
}

impl CaseBuffer {
    /// Returns its binding in group 0.
    pub fn number(self) -> u32 {
        match self {
            CaseBuffer::Operands => 0,
            CaseBuffer::Results => 1,
            CaseBuffer::OperandHalves => 2,
            CaseBuffer::ResultHalves => 3,
        }
    }

    fn declaration(self) -> &'static str {
        match self {
            CaseBuffer::Operands => "var<storage, read> operands: array<u32>;",
            CaseBuffer::Results => "var<storage, read_write> results: array<u32>;",
            CaseBuffer::OperandHalves => "var<storage, read> operand_halves: array<f16>;",
            CaseBuffer::ResultHalves => "var<storage, read_write> result_halves: array<f16>;",
        }
    }
}

/// Returns true if a scalar is transferred as a half.
pub(crate) fn is_half(scalar: Scalar) -> bool {
    scalar.format().is_some_and(|format| format.width == 16)
}

/// Returns the shader of a translated case for columns of that capacity.
///
/// # Errors
/// WGSL has no such expression.
pub fn shader(case: &Case, capacity: usize) -> Result<WgslShader, NotInWgsl> {
    let call = &case.call;
    let spelling = call.op.in_wgsl()?;
    let capacity = capacity.next_multiple_of(Columns::ALIGN);
    let mut body = String::new();
    let mut names = Vec::new();
    let mut slot = 0;
    for (index, ty) in call.operands.iter().enumerate() {
        let loads: Vec<String> = (0..ty.len()).map(|i| load(ty.scalar, (slot + i) * capacity)).collect();
        slot += ty.len();
        let name = ["x", "y", "z"].get(index).map_or_else(|| format!("x{index}"), |name| (*name).to_owned());
        line(&mut body, &format!("let {name} = {};", compose(*ty, &loads)));
        names.push(name);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (expression, members) = match spelling {
        Spelling::Conversion => (format!("{}({})", type_name(call.results[0]), names.join(", ")), None),
        Spelling::Members(_, members) => (spelling.expression(&names), Some(members)),
        Spelling::Function(_) | Spelling::Infix(_) | Spelling::Prefix(_) => (spelling.expression(&names), None),
    };
    line(&mut body, &format!("let result = {expression};"));
    let mut slot = 0;
    let mut put = |body: &mut String, scalar: Scalar, value: &str| {
        let at = slot * capacity;
        line(
            body,
            &match is_half(scalar) {
                true => format!("result_halves[{}u + 2u * row] = {value};", 2 * at),
                false => format!("results[{at}u + row] = {};", store(scalar, value)),
            },
        );
        slot += 1;
    };
    if packs(call.op) {
        let width = call.results[0].scalar.width();
        for part in 0..call.results[0].len() as u32 {
            put(&mut body, WORD, &format!("extractBits(result, {}u, {width}u)", part * width));
        }
    } else {
        for (index, &ty) in call.results.iter().enumerate() {
            let value = members.map_or_else(|| "result".to_owned(), |members| format!("result.{}", members[index]));
            for part in parts(ty, &value) {
                put(&mut body, ty.scalar, &part);
            }
        }
    }
    let enable = if uses_f16(call) { "enable f16;\n\n" } else { "" };
    let results: &[Type] = if packs(call.op) { &[Type::scalar(WORD)] } else { &call.results };
    let some = |types: &[Type], half: bool| types.iter().any(|ty| is_half(ty.scalar) == half);
    let used = [
        (CaseBuffer::Operands, some(&call.operands, false)),
        (CaseBuffer::Results, some(results, false)),
        (CaseBuffer::OperandHalves, some(&call.operands, true)),
        (CaseBuffer::ResultHalves, some(results, true)),
    ];
    let bindings: Vec<CaseBuffer> = used.into_iter().filter_map(|(binding, used)| used.then_some(binding)).collect();
    let declarations = bindings.iter().fold(String::new(), |text, binding| {
        text + &format!("@group(0) @binding({}) {}\n", binding.number(), binding.declaration())
    });
    let text = format!(
        "// {name}\n{enable}{declarations}\n\
         @compute @workgroup_size({WORKGROUP})\n\
         fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {{\n    \
         let row = id.x + id.y * groups.x * {WORKGROUP}u;\n    \
         if row >= {capacity}u {{\n        return;\n    }}\n{body}}}\n",
        name = case.name,
    );
    Ok(WgslShader { text, bindings })
}

fn line(body: &mut String, text: &str) {
    writeln!(body, "    {text}").expect("a string takes all");
}

fn scalar_name(scalar: Scalar) -> String {
    scalar.to_string()
}

fn type_name(ty: Type) -> String {
    let scalar = scalar_name(ty.scalar);
    match (ty.columns, ty.rows) {
        (1, 1) => scalar,
        (1, rows) => format!("vec{rows}<{scalar}>"),
        (columns, rows) => format!("mat{columns}x{rows}<{scalar}>"),
    }
}

const WORD: Scalar = Scalar::Int { width: 32, signed: false };

/// Returns the expression for the row's scalar in the column that begins at word `at`.
fn load(scalar: Scalar, at: usize) -> String {
    let word = format!("operands[{at}u + row]");
    match scalar {
        Scalar::Bool => format!("{word} != 0u"),
        Scalar::Int { signed: false, .. } => word,
        scalar if is_half(scalar) => format!("operand_halves[{}u + 2u * row]", 2 * at),
        Scalar::Int { .. } | Scalar::Float(_) => format!("bitcast<{}>({word})", scalar_name(scalar)),
    }
}

/// Returns an expression for a word whose low bits are those of a scalar.
fn store(scalar: Scalar, value: &str) -> String {
    match scalar {
        Scalar::Bool => format!("select(0u, 1u, {value})"),
        Scalar::Int { signed: false, .. } => value.to_owned(),
        Scalar::Int { .. } | Scalar::Float(_) => format!("bitcast<u32>({value})"),
    }
}

/// Returns the expression for a value made of its scalars, matrices column by column.
fn compose(ty: Type, scalars: &[String]) -> String {
    if ty.is_scalar() {
        return scalars[0].clone();
    }
    format!("{}({})", type_name(ty), scalars.join(", "))
}

/// Returns the expressions for the scalars of a value, in the order of [`compose`].
fn parts(ty: Type, value: &str) -> Vec<String> {
    let letter = |row: u32| ["x", "y", "z", "w"][row as usize % 4];
    match (ty.columns, ty.rows) {
        (1, 1) => vec![value.to_owned()],
        (1, rows) => (0..rows).map(|row| format!("{value}.{}", letter(row))).collect(),
        (columns, rows) => (0..columns)
            .flat_map(|column| (0..rows).map(move |row| format!("{value}[{column}].{}", letter(row))))
            .collect(),
    }
}
