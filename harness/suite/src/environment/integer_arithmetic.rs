//! Integer arithmetic of every width, exactly: at the ends of the range, with every shift amount,
//! in many bit fields.

use super::about;
use super::operand_rows::{
    EmitInstruction, InstructionArgs, InstructionCase, OperandRow, OperandSource, Ty, U32, plain,
};
use crate::Case;
use crate::module_builder::ModuleBuilder;

const CLAUSE: &str = "SPIR-V specification, 3.42.13 arithmetic and 3.42.14 bit instructions";

const WIDTHS: [u32; 4] = [8, 16, 32, 64];

/// The results of operands of a width; `None` if the specification does not define them.
type Semantics = fn(u32, &[u64]) -> Option<Vec<u64>>;

/// Signedness of the types that an instruction accepts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signedness {
    /// Any integer type.
    Any,
    /// Unsigned types only.
    Unsigned,
    /// Any integer type, interpreted as signed.
    Signed,
}

/// The kinds of an instruction's operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperandKinds {
    Unary,
    Binary,
    /// Base and shift amount.
    Shift,
    /// Base, insert, offset and count.
    Insert,
    /// Base, offset and count.
    Extract,
}

/// The kind of an instruction's result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResultKind {
    Same,
    /// A boolean, stored as 1 or 0.
    Bool,
    /// A structure of two members.
    Pair,
}

struct Instruction {
    name: &'static str,
    spirv: &'static str,
    signedness: Signedness,
    operands: OperandKinds,
    result: ResultKind,
    semantics: Semantics,
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

/// Returns true if quotient and remainder are representable.
fn divisible(width: u32, x: &[u64]) -> bool {
    let least = -(1i128 << (width - 1));
    x[1] != 0 && !(signed(width, x[0]) == least && signed(width, x[1]) == -1)
}

fn negative(width: u32, x: &[u64]) -> bool {
    signed(width, x[0]) < 0 || signed(width, x[1]) < 0
}

/// The remainder with the sign of the dividend.
fn rem(width: u32, x: &[u64]) -> i128 {
    signed(width, x[0]) % signed(width, x[1])
}

fn modulo(width: u32, x: &[u64]) -> i128 {
    let (divisor, rest) = (signed(width, x[1]), rem(width, x));
    if rest != 0 && (rest < 0) != (divisor < 0) { rest + divisor } else { rest }
}

macro_rules! instruction {
    ($name:literal, $spirv:literal, $signedness:ident, $operands:ident, $result:ident, $semantics:expr) => {
        Instruction {
            name: $name,
            spirv: $spirv,
            signedness: Signedness::$signedness,
            operands: OperandKinds::$operands,
            result: ResultKind::$result,
            semantics: $semantics,
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
    // The results of these are defined only with maintenance8.
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

/// The mask of a bit field; `None` if it exceeds the word.
fn field(width: u32, offset: u64, count: u64) -> Option<u64> {
    match (offset, count) {
        (offset, count) if offset + count > width.into() => None,
        (_, 0) => Some(0),
        (offset, count) => Some(mask(count as u32) << offset),
    }
}

/// Ends of the signed and unsigned ranges with their neighbours, small numbers, and irregular
/// patterns.
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

/// The rows of an instruction whose results are defined.
fn rows(instruction: &Instruction, width: u32) -> Vec<OperandRow> {
    let values = boundaries(width);
    let distances: Vec<u64> = (0..u64::from(width)).collect();
    let fields: Vec<(u64, u64)> = [0, 1, 5, width / 2, width - 1, width]
        .into_iter()
        .flat_map(|offset| [0, 1, 3, width / 2, width - 1, width].map(|count| (u64::from(offset), u64::from(count))))
        .collect();
    let mut operands: Vec<Vec<u64>> = Vec::new();
    for (i, &a) in values.iter().enumerate() {
        match instruction.operands {
            OperandKinds::Unary => {
                operands.push(vec![a]);
                // Each bit flipped as well.
                operands.extend((0..width).map(|bit| vec![a ^ 1 << bit]));
            }
            OperandKinds::Binary => operands.extend(values.iter().map(|&b| vec![a, b])),
            OperandKinds::Shift => operands.extend(distances.iter().map(|&b| vec![a, b])),
            OperandKinds::Insert => {
                let b = values[(i * 5 + 3) % values.len()];
                operands.extend(fields.iter().map(|&(offset, count)| vec![a, b, offset, count]));
            }
            OperandKinds::Extract => operands.extend(fields.iter().map(|&(offset, count)| vec![a, offset, count])),
        }
    }
    operands.into_iter().filter_map(|x| Some((x.clone(), (instruction.semantics)(width, &x)?))).collect()
}

/// Emits a comparison; stores its boolean as 1 or 0.
fn compared(shader: &mut ModuleBuilder, args: &InstructionArgs<'_>) -> Vec<String> {
    let bool = shader.bool();
    let bools = shader.vector(&bool, args.shape);
    let result = shader.op(&bools, args.spirv, args.ids.join(" "));
    let [one, zero] = [1, 0].map(|n| {
        let n = shader.constant_u32(n);
        match args.shape {
            1 => n,
            shape => {
                let parts = vec![n; shape as usize].join(" ");
                shader.declare(&format!("OpConstantComposite {} {parts}", args.types[0]))
            }
        }
    });
    vec![shader.op(&args.types[0], "OpSelect", format_args!("{result} {one} {zero}"))]
}

/// Emits an instruction with a structure of two results.
fn paired(shader: &mut ModuleBuilder, args: &InstructionArgs<'_>) -> Vec<String> {
    let ty = shader.declare(&format!("OpTypeStruct {} {}", args.types[0], args.types[1]));
    let both = shader.op(&ty, args.spirv, args.ids.join(" "));
    [0, 1].map(|i| shader.op(&args.types[i], "OpCompositeExtract", format_args!("{both} {i}"))).to_vec()
}

fn case(instruction: &'static Instruction, ty: Ty, shape: u32, from: OperandSource) -> Case {
    let shape_name = if shape == 1 { "scalar".to_owned() } else { format!("vec{shape}") };
    let suffix = if from == OperandSource::Constant { ".constant" } else { "" };
    let operands = match instruction.operands {
        OperandKinds::Unary => vec![ty],
        OperandKinds::Binary => vec![ty; 2],
        // A shift amount may have any type, so it has the opposite signedness of the base.
        OperandKinds::Shift => match ty {
            Ty::Int { width, signed } => vec![ty, Ty::Int { width, signed: !signed }],
            Ty::Float { .. } => vec![ty; 2],
        },
        OperandKinds::Insert => vec![ty, ty, U32, U32],
        OperandKinds::Extract => vec![ty, U32, U32],
    };
    let (results, write): (Vec<Ty>, EmitInstruction) = match instruction.result {
        ResultKind::Same => (vec![ty], plain),
        ResultKind::Bool => (vec![U32], compared),
        ResultKind::Pair => (vec![ty; 2], paired),
    };
    let names = |types: &[Ty]| types.iter().map(|ty| ty.name()).collect::<Vec<_>>().join(", ");
    let types = format!("{} <- {}", names(&results), names(&operands));
    InstructionCase {
        name: format!("environment.integer.{}.{}.{shape_name}{suffix}", instruction.name, ty.name()),
        subject: about(instruction.spirv, types, "the result is exact modulo the width", CLAUSE),
        operands,
        results,
        shape,
        from,
        write,
        spirv: instruction.spirv,
    }
    .case(move || rows(instruction, ty.width()))
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for instruction in INSTRUCTIONS {
        for width in WIDTHS {
            for is_signed in [false, true] {
                if instruction.signedness == Signedness::Unsigned && is_signed {
                    continue;
                }
                let ty = Ty::Int { width, signed: is_signed };
                // Set for the natural signedness. The other one differs only in the type's name.
                let natural = is_signed == (instruction.signedness == Signedness::Signed);
                cases.push(case(instruction, ty, 1, OperandSource::Buffer).thinned(!natural));
                // A few cases suffice for results that depend on maintenance8.
                let rare = instruction.name.ends_with("_negative");
                if natural && !(rare && width != 32) {
                    cases.push(case(instruction, ty, 1, OperandSource::Constant));
                    // Offset and count of a bit field are scalars for all components.
                    let vectors = !matches!(instruction.operands, OperandKinds::Insert | OperandKinds::Extract);
                    for shape in [2, 3, 4].into_iter().filter(|_| vectors) {
                        cases.push(case(instruction, ty, shape, OperandSource::Buffer).thinned(shape != 3));
                    }
                }
            }
        }
    }
    cases
}
