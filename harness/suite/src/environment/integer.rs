//! Integer arithmetic of every width, exactly: at the ends of the range, at every shift, in every bit field.

use super::about;
use super::apply::{Apply, Operands, Row, Ty, U32, Write, Written, plain};
use crate::Case;
use crate::write::Shader;

const CLAUSE: &str = "SPIR-V specification, 3.42.13 arithmetic and 3.42.14 bit instructions";

const WIDTHS: [u32; 4] = [8, 16, 32, 64];

/// What comes of operands of a width; `None` where nothing is required.
type Means = fn(u32, &[u64]) -> Option<Vec<u64>>;

/// Which types an instruction takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Any integers.
    Any,
    /// Unsigned ones only.
    Unsigned,
    /// It means them as signed ones, whatever they are.
    Signed,
}

/// What its operands are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Unary,
    Binary,
    /// The second operand is a distance.
    Shift,
    /// Base, insert, offset and count.
    Insert,
    /// Base, offset and count.
    Extract,
}

/// What it gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gives {
    Same,
    /// A boolean, which becomes 1 or 0.
    Bool,
    /// A structure of two.
    Pair,
}

struct Instruction {
    name: &'static str,
    spirv: &'static str,
    takes: Takes,
    form: Form,
    gives: Gives,
    means: Means,
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

fn signed(width: u32, bits: u64) -> i128 {
    i128::from((bits << (64 - width)).cast_signed() >> (64 - width))
}

/// The low bits of a number.
fn low(width: u32, value: i128) -> u64 {
    value as u64 & mask(width)
}

fn one(width: u32, value: i128) -> Option<Vec<u64>> {
    Some(vec![low(width, value)])
}

fn truth(value: bool) -> Option<Vec<u64>> {
    Some(vec![u64::from(value)])
}

fn u(x: &[u64], i: usize) -> i128 {
    i128::from(x[i])
}

/// Quotient and remainder that both fit.
fn divisible(width: u32, x: &[u64]) -> bool {
    let least = -(1i128 << (width - 1));
    x[1] != 0 && !(signed(width, x[0]) == least && signed(width, x[1]) == -1)
}

fn negative(width: u32, x: &[u64]) -> bool {
    signed(width, x[0]) < 0 || signed(width, x[1]) < 0
}

/// The sign of the dividend, or of the divisor.
fn rem(width: u32, x: &[u64]) -> i128 {
    signed(width, x[0]) % signed(width, x[1])
}

fn modulo(width: u32, x: &[u64]) -> i128 {
    let (divisor, rest) = (signed(width, x[1]), rem(width, x));
    if rest != 0 && (rest < 0) != (divisor < 0) { rest + divisor } else { rest }
}

macro_rules! instruction {
    ($name:literal, $spirv:literal, $takes:ident, $form:ident, $gives:ident, $means:expr) => {
        Instruction {
            name: $name,
            spirv: $spirv,
            takes: Takes::$takes,
            form: Form::$form,
            gives: Gives::$gives,
            means: $means,
        }
    };
}

#[rustfmt::skip]
const INSTRUCTIONS: &[Instruction] = &[
    instruction!("snegate", "OpSNegate", Signed, Unary, Same, |w, x| one(w, -signed(w, x[0]))),
    instruction!("not", "OpNot", Any, Unary, Same, |w, x| one(w, !u(x, 0))),
    instruction!("bitcount", "OpBitCount", Any, Unary, Same, |w, x| one(w, x[0].count_ones().into())),
    instruction!("bitreverse", "OpBitReverse", Any, Unary, Same, |w, x| Some(vec![x[0].reverse_bits() >> (64 - w)])),
    instruction!("iadd", "OpIAdd", Any, Binary, Same, |w, x| one(w, u(x, 0) + u(x, 1))),
    instruction!("isub", "OpISub", Any, Binary, Same, |w, x| one(w, u(x, 0) - u(x, 1))),
    instruction!("imul", "OpIMul", Any, Binary, Same, |w, x| one(w, signed(w, x[0]) * signed(w, x[1]))),
    instruction!("udiv", "OpUDiv", Unsigned, Binary, Same, |w, x| if x[1] == 0 { None } else { one(w, u(x, 0) / u(x, 1)) }),
    instruction!("umod", "OpUMod", Unsigned, Binary, Same, |w, x| if x[1] == 0 { None } else { one(w, u(x, 0) % u(x, 1)) }),
    instruction!("sdiv", "OpSDiv", Signed, Binary, Same, |w, x| if divisible(w, x) { one(w, signed(w, x[0]) / signed(w, x[1])) } else { None }),
    instruction!("srem", "OpSRem", Signed, Binary, Same, |w, x| if divisible(w, x) && !negative(w, x) { one(w, rem(w, x)) } else { None }),
    instruction!("smod", "OpSMod", Signed, Binary, Same, |w, x| if divisible(w, x) && !negative(w, x) { one(w, modulo(w, x)) } else { None }),
    // Without maintenance8 nothing is required of these.
    instruction!("srem_negative", "OpSRem", Signed, Binary, Same, |w, x| if divisible(w, x) && negative(w, x) { one(w, rem(w, x)) } else { None }),
    instruction!("smod_negative", "OpSMod", Signed, Binary, Same, |w, x| if divisible(w, x) && negative(w, x) { one(w, modulo(w, x)) } else { None }),
    instruction!("and", "OpBitwiseAnd", Any, Binary, Same, |w, x| one(w, u(x, 0) & u(x, 1))),
    instruction!("or", "OpBitwiseOr", Any, Binary, Same, |w, x| one(w, u(x, 0) | u(x, 1))),
    instruction!("xor", "OpBitwiseXor", Any, Binary, Same, |w, x| one(w, u(x, 0) ^ u(x, 1))),
    instruction!("shl", "OpShiftLeftLogical", Any, Shift, Same, |w, x| if x[1] < w.into() { one(w, u(x, 0) << x[1]) } else { None }),
    instruction!("shr", "OpShiftRightLogical", Any, Shift, Same, |w, x| if x[1] < w.into() { one(w, u(x, 0) >> x[1]) } else { None }),
    instruction!("sar", "OpShiftRightArithmetic", Signed, Shift, Same, |w, x| if x[1] < w.into() { one(w, signed(w, x[0]) >> x[1]) } else { None }),
    instruction!("iequal", "OpIEqual", Any, Binary, Bool, |_, x| truth(x[0] == x[1])),
    instruction!("inotequal", "OpINotEqual", Any, Binary, Bool, |_, x| truth(x[0] != x[1])),
    instruction!("ugreaterthan", "OpUGreaterThan", Any, Binary, Bool, |_, x| truth(x[0] > x[1])),
    instruction!("ugreaterthanequal", "OpUGreaterThanEqual", Any, Binary, Bool, |_, x| truth(x[0] >= x[1])),
    instruction!("ulessthan", "OpULessThan", Any, Binary, Bool, |_, x| truth(x[0] < x[1])),
    instruction!("ulessthanequal", "OpULessThanEqual", Any, Binary, Bool, |_, x| truth(x[0] <= x[1])),
    instruction!("sgreaterthan", "OpSGreaterThan", Signed, Binary, Bool, |w, x| truth(signed(w, x[0]) > signed(w, x[1]))),
    instruction!("sgreaterthanequal", "OpSGreaterThanEqual", Signed, Binary, Bool, |w, x| truth(signed(w, x[0]) >= signed(w, x[1]))),
    instruction!("slessthan", "OpSLessThan", Signed, Binary, Bool, |w, x| truth(signed(w, x[0]) < signed(w, x[1]))),
    instruction!("slessthanequal", "OpSLessThanEqual", Signed, Binary, Bool, |w, x| truth(signed(w, x[0]) <= signed(w, x[1]))),
    instruction!("iaddcarry", "OpIAddCarry", Unsigned, Binary, Pair, |w, x| { let sum = u(x, 0) + u(x, 1); Some(vec![low(w, sum), low(w, sum >> w)]) }),
    instruction!("isubborrow", "OpISubBorrow", Unsigned, Binary, Pair, |w, x| Some(vec![low(w, u(x, 0) - u(x, 1)), u64::from(x[0] < x[1])])),
    instruction!("umulextended", "OpUMulExtended", Unsigned, Binary, Pair, |w, x| { let product = u128::from(x[0]) * u128::from(x[1]); Some(vec![product as u64 & mask(w), (product >> w) as u64 & mask(w)]) }),
    instruction!("smulextended", "OpSMulExtended", Any, Binary, Pair, |w, x| { let product = signed(w, x[0]) * signed(w, x[1]); Some(vec![low(w, product), low(w, product >> w)]) }),
    instruction!("bitfieldinsert", "OpBitFieldInsert", Any, Insert, Same, |w, x| {
        let field = field(w, x[2], x[3])?;
        Some(vec![x[0] & !field & mask(w) | x[1] << x[2].min(63) & field])
    }),
    instruction!("bitfieldsextract", "OpBitFieldSExtract", Any, Extract, Same, |w, x| {
        field(w, x[1], x[2])?;
        if x[2] == 0 { return Some(vec![0]); }
        one(w, signed(x[2] as u32, x[0] >> x[1] & mask(x[2] as u32)))
    }),
    instruction!("bitfielduextract", "OpBitFieldUExtract", Any, Extract, Same, |w, x| {
        field(w, x[1], x[2])?;
        if x[2] == 0 { return Some(vec![0]); }
        Some(vec![x[0] >> x[1] & mask(x[2] as u32)])
    }),
];

/// The bits of a field; `None` beyond the word.
fn field(width: u32, offset: u64, count: u64) -> Option<u64> {
    match (offset, count) {
        (offset, count) if offset + count > width.into() => None,
        (_, 0) => Some(0),
        (offset, count) => Some(mask(count as u32) << offset),
    }
}

/// Both ends of both ranges, their neighbours, small numbers, and patterns that no shift leaves alone.
fn boundaries(width: u32) -> Vec<u64> {
    let all = mask(width);
    let top = 1u64 << (width - 1);
    let half = width / 2;
    let patterns = [0x5555_5555_5555_5555, 0x1234_5678_9abc_def1, 0xfedc_ba98_7654_3210];
    let mut values =
        vec![0, 1, 2, 3, 7, top - 1, top, top + 1, all - 1, all, (1 << half) - 1, 1 << half, all - 6, all - 2];
    values.extend(patterns.map(|pattern| pattern & all));
    values
}

/// Rows of an instruction: all that are required to have a result.
fn rows(instruction: &Instruction, width: u32) -> Vec<Row> {
    let values = boundaries(width);
    let distances: Vec<u64> = (0..u64::from(width)).collect();
    let fields: Vec<(u64, u64)> = [0, 1, 5, width / 2, width - 1, width]
        .into_iter()
        .flat_map(|offset| [0, 1, 3, width / 2, width - 1, width].map(|count| (u64::from(offset), u64::from(count))))
        .collect();
    let mut operands: Vec<Vec<u64>> = Vec::new();
    for (i, &a) in values.iter().enumerate() {
        match instruction.form {
            Form::Unary => {
                operands.push(vec![a]);
                // Every single bit as well.
                operands.extend((0..width).map(|bit| vec![a ^ 1 << bit]));
            }
            Form::Binary => operands.extend(values.iter().map(|&b| vec![a, b])),
            Form::Shift => operands.extend(distances.iter().map(|&b| vec![a, b])),
            Form::Insert => {
                let b = values[(i * 5 + 3) % values.len()];
                operands.extend(fields.iter().map(|&(offset, count)| vec![a, b, offset, count]));
            }
            Form::Extract => operands.extend(fields.iter().map(|&(offset, count)| vec![a, offset, count])),
        }
    }
    operands.into_iter().filter_map(|x| Some((x.clone(), (instruction.means)(width, &x)?))).collect()
}

/// A boolean becomes 1 or 0.
fn compared(shader: &mut Shader, written: &Written<'_>) -> Vec<String> {
    let bool = shader.bool();
    let bools = shader.vector(&bool, written.shape);
    let result = shader.op(&bools, written.spirv, written.ids.join(" "));
    let [one, zero] = [1, 0].map(|n| {
        let n = shader.constant_u32(n);
        match written.shape {
            1 => n,
            shape => {
                let parts = vec![n; shape as usize].join(" ");
                shader.declare(&format!("OpConstantComposite {} {parts}", written.types[0]))
            }
        }
    });
    vec![shader.op(&written.types[0], "OpSelect", format_args!("{result} {one} {zero}"))]
}

/// A structure of two results.
fn paired(shader: &mut Shader, written: &Written<'_>) -> Vec<String> {
    let ty = shader.declare(&format!("OpTypeStruct {} {}", written.types[0], written.types[1]));
    let both = shader.op(&ty, written.spirv, written.ids.join(" "));
    [0, 1].map(|i| shader.op(&written.types[i], "OpCompositeExtract", format_args!("{both} {i}"))).to_vec()
}

fn case(instruction: &'static Instruction, ty: Ty, shape: u32, from: Operands) -> Case {
    let shape_name = if shape == 1 { "scalar".to_owned() } else { format!("vec{shape}") };
    let suffix = if from == Operands::Constant { ".constant" } else { "" };
    let operands = match instruction.form {
        Form::Unary => vec![ty],
        Form::Binary => vec![ty; 2],
        // Distances are of any type: where the base is signed, they are not, and the other way round.
        Form::Shift => match ty {
            Ty::Int { width, signed } => vec![ty, Ty::Int { width, signed: !signed }],
            Ty::Float { .. } => vec![ty; 2],
        },
        Form::Insert => vec![ty, ty, U32, U32],
        Form::Extract => vec![ty, U32, U32],
    };
    let (results, write): (Vec<Ty>, Write) = match instruction.gives {
        Gives::Same => (vec![ty], plain),
        Gives::Bool => (vec![U32], compared),
        Gives::Pair => (vec![ty; 2], paired),
    };
    let names = |types: &[Ty]| types.iter().map(|ty| ty.name()).collect::<Vec<_>>().join(", ");
    let types = format!("{} <- {}", names(&results), names(&operands));
    Apply {
        name: format!("environment.integer.{}.{}.{shape_name}{suffix}", instruction.name, ty.name()),
        about: about(instruction.spirv, types, "the exact result, of the width's lowest bits", CLAUSE),
        operands,
        results,
        shape,
        from,
        rows: rows(instruction, ty.width()),
        write,
        spirv: instruction.spirv,
    }
    .case()
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for instruction in INSTRUCTIONS {
        for width in WIDTHS {
            for is_signed in [false, true] {
                if instruction.takes == Takes::Unsigned && is_signed {
                    continue;
                }
                let ty = Ty::Int { width, signed: is_signed };
                // The type that it is meant for; the other differs in the name of the type only.
                let natural = is_signed == (instruction.takes == Takes::Signed);
                cases.push(case(instruction, ty, 1, Operands::Buffer).thinned(!natural));
                // Where it takes maintenance8, a few say it.
                let rare = instruction.name.ends_with("_negative");
                if natural && !(rare && width != 32) {
                    cases.push(case(instruction, ty, 1, Operands::Constant));
                    // Offsets and counts of bit fields are one for all components.
                    let vectors = !matches!(instruction.form, Form::Insert | Form::Extract);
                    for shape in [2, 3, 4].into_iter().filter(|_| vectors) {
                        cases.push(case(instruction, ty, shape, Operands::Buffer).thinned(shape != 3));
                    }
                }
            }
        }
    }
    cases
}
