//! Precision cases as WGSL: the expression that corresponds to the instruction, applied to one row of operands by each invocation.
//!
//! Operands and results lie in two storage buffers of words, column after column, as those of the SPIR-V shaders do; they are bitcast
//! next to the expression.

use assay_case::{Case, Columns, Source};
use assay_precision::{Call, NotInWgsl, Op, Scalar, Spelling, Type};
use std::fmt::Write;

/// Why a case is not run through wgpu.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPortable {
    /// WGSL has not what it is about.
    #[error(transparent)]
    Wgsl(#[from] NotInWgsl),
    /// Its operands are constants.
    #[error(
        "operands from a {0} are not run through wgpu: in WGSL they make expressions that are evaluated before the shader runs, \
         with errors of their own for overflow"
    )]
    Source(Source),
}

/// The case as WGSL has it, judged by WGSL's rules.
///
/// # Errors
/// It cannot be expressed.
pub fn translated(case: &Case) -> Result<Case, NotPortable> {
    let call = case.call.in_wgsl()?;
    match case.source {
        Source::Buffer => Ok(Case { call, ..case.clone() }),
        source => Err(NotPortable::Source(source)),
    }
}

/// The invocations of a workgroup.
pub(crate) const WORKGROUP: u32 = 64;

/// Whether values of `f16` occur, which WGSL has as an extension.
pub(crate) fn uses_f16(call: &Call) -> bool {
    let half = |ty: &Type| ty.scalar.format().is_some_and(|format| format.width == 16);
    let results: &[Type] = if packs(call.op) { &[] } else { &call.results };
    call.operands.iter().chain(results).any(half)
}

/// Whether the result is a word whose parts are results of their own.
fn packs(op: Op) -> bool {
    matches!(op, Op::PackSnorm4x8 | Op::PackUnorm4x8 | Op::PackSnorm2x16 | Op::PackUnorm2x16 | Op::PackHalf2x16)
}

/// The shader of a translated case for columns of that capacity.
///
/// # Errors
/// WGSL has no such expression.
pub fn shader(case: &Case, capacity: usize) -> Result<String, NotInWgsl> {
    let call = &case.call;
    let spelling = call.op.in_wgsl()?;
    let capacity = capacity.next_multiple_of(Columns::ALIGN);
    let mut body = String::new();
    let mut names = Vec::new();
    let mut slot = 0;
    for (index, ty) in call.operands.iter().enumerate() {
        let loads: Vec<String> =
            (0..ty.len()).map(|i| load(ty.scalar, &format!("operands[{}u + row]", (slot + i) * capacity))).collect();
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
    let mut put = |body: &mut String, word: String| {
        line(body, &format!("results[{}u + row] = {word};", slot * capacity));
        slot += 1;
    };
    if packs(call.op) {
        let width = call.results[0].scalar.width();
        for part in 0..call.results[0].len() as u32 {
            put(&mut body, format!("extractBits(result, {}u, {width}u)", part * width));
        }
    } else {
        for (index, &ty) in call.results.iter().enumerate() {
            let value = members.map_or_else(|| "result".to_owned(), |members| format!("result.{}", members[index]));
            for part in parts(ty, &value) {
                put(&mut body, store(ty.scalar, &part));
            }
        }
    }
    let enable = if uses_f16(call) { "enable f16;\n\n" } else { "" };
    Ok(format!(
        "// {name}\n{enable}\
         @group(0) @binding(0) var<storage, read> operands: array<u32>;\n\
         @group(0) @binding(1) var<storage, read_write> results: array<u32>;\n\n\
         @compute @workgroup_size({WORKGROUP})\n\
         fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {{\n    \
         let row = id.x + id.y * groups.x * {WORKGROUP}u;\n    \
         if row >= {capacity}u {{\n        return;\n    }}\n{body}}}\n",
        name = case.name,
    ))
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

/// The scalar whose bits are the low ones of a word.
fn load(scalar: Scalar, word: &str) -> String {
    match scalar {
        Scalar::Bool => format!("{word} != 0u"),
        Scalar::Int { signed: false, .. } => word.to_owned(),
        Scalar::Float(format) if format.width == 16 => format!("bitcast<vec2<f16>>({word}).x"),
        Scalar::Int { .. } | Scalar::Float(_) => format!("bitcast<{}>({word})", scalar_name(scalar)),
    }
}

/// A word whose low bits are those of a scalar.
fn store(scalar: Scalar, value: &str) -> String {
    match scalar {
        Scalar::Bool => format!("select(0u, 1u, {value})"),
        Scalar::Int { signed: false, .. } => value.to_owned(),
        Scalar::Float(format) if format.width == 16 => format!("bitcast<u32>(vec2<f16>({value}, 0.0h))"),
        Scalar::Int { .. } | Scalar::Float(_) => format!("bitcast<u32>({value})"),
    }
}

/// A value from its scalars, matrices column by column.
fn compose(ty: Type, scalars: &[String]) -> String {
    if ty.is_scalar() {
        return scalars[0].clone();
    }
    format!("{}({})", type_name(ty), scalars.join(", "))
}

/// The scalars of a value, in the order of [`compose`].
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
