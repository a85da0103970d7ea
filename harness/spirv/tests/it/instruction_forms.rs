//! Every instruction of the grammar in each form of its operands.

use assay_spirv::grammar::{
    ExtendedSet, GLSL_STD450, INSTRUCTIONS, Instruction, Kind, OPEN_CL_STD, Operand, OperandEncoding, Quantifier,
};

/// Ids that the prelude defines.
const INT: u32 = 1;
const LONG: u32 = 2;
const FLOAT: u32 = 3;
const HALF: u32 = 4;
const INT_VALUE: u32 = 5;
const LONG_VALUE: u32 = 6;
const GLSL: u32 = 7;
const OPEN_CL: u32 = 8;
const OTHER_SET: u32 = 9;
const DOUBLE: u32 = 10;
const SHORT: u32 = 11;
/// First free id.
const FREE: u32 = 20;

/// Types, values and imports that operands of instructions refer to.
pub(crate) const PRELUDE: &str = "%7 = OpExtInstImport \"GLSL.std.450\"\n%8 = OpExtInstImport \"OpenCL.std\"\n%9 = OpExtInstImport \"NonSemantic.Other\"\n\
%1 = OpTypeInt 32 0\n%2 = OpTypeInt 64 1\n%3 = OpTypeFloat 32\n%4 = OpTypeFloat 16\n%10 = OpTypeFloat 64\n%11 = OpTypeInt 16 1\n\
%5 = OpUndef %1\n%6 = OpUndef %2\n";

/// Returns the words of every form of an instruction that differs from its shortest form in one
/// operand.
pub(crate) fn forms(instruction: &Instruction) -> Vec<Vec<u32>> {
    let mut forms = Vec::new();
    for tail in lists(instruction, instruction.operands) {
        let mut words = vec![instruction.op as u32 | (tail.len() as u32 + 1) << 16];
        words.extend(tail);
        forms.push(words);
    }
    forms
}

/// Returns word sequences for a list of operands: the shortest, and each other form of each
/// operand.
fn lists(instruction: &Instruction, operands: &[Operand]) -> Vec<Vec<u32>> {
    // Forms of each operand; the first one is combined with the forms of the others.
    let mut places: Vec<Vec<Vec<u32>>> = Vec::new();
    for operand in operands {
        let one = kinds(instruction, operand.kind);
        places.push(match operand.quantifier {
            Quantifier::One => one,
            Quantifier::Optional => [vec![Vec::new()], one].concat(),
            Quantifier::Any => {
                let twice: Vec<u32> = [one[0].clone(), one[one.len() - 1].clone()].concat();
                [vec![Vec::new()], one, vec![twice]].concat()
            }
        });
    }
    let mut all = Vec::new();
    // An optional operand requires those before it.
    let needed = |upto: usize, i: usize| {
        let optional = operands[i].quantifier == Quantifier::Optional;
        if i < upto && optional && places[i].len() > 1 { &places[i][1] } else { &places[i][0] }
    };
    for (i, place) in places.iter().enumerate() {
        for form in if i == 0 { &place[..] } else { &place[1..] } {
            let mut words = Vec::new();
            for j in 0..places.len() {
                words.extend(if i == j { form } else { needed(i, j) });
            }
            all.push(words);
        }
    }
    if all.is_empty() {
        all.push(Vec::new());
    }
    all
}

/// Returns word sequences for one operand of a kind, including its parameters.
fn kinds(instruction: &Instruction, kind: Kind) -> Vec<Vec<u32>> {
    match kind {
        Kind::IdResultType if instruction.operands.iter().any(|o| o.kind == Kind::LiteralContextDependentNumber) => {
            // The literal's width depends on the type: one width is tested here, the others in
            // separate tests.
            vec![vec![INT], vec![FLOAT], vec![HALF], vec![SHORT]]
        }
        Kind::IdResultType => vec![vec![FLOAT]],
        Kind::IdResult => vec![vec![FREE]],
        Kind::LiteralContextDependentNumber => vec![vec![5], vec![0], vec![0x7c00]],
        Kind::LiteralString => ["", "abc", "abcd", "a \"quoted\" \\ string; ü\n"].map(string).to_vec(),
        Kind::LiteralInteger => vec![vec![32], vec![u32::MAX]],
        Kind::LiteralFloat => vec![vec![0x3fc0_0000], vec![1]],
        Kind::LiteralExtInstInteger => unreachable!("extended instructions have their own forms"),
        Kind::LiteralSpecConstantOpInteger => INSTRUCTIONS
            .iter()
            .filter(|i| i.has_result_type() && i.has_result() && !reads_context(i))
            .flat_map(|i| lists(i, &i.operands[2..]).into_iter().map(|w| [vec![i.op as u32], w].concat()))
            .collect(),
        Kind::PairLiteralIntegerIdRef => vec![vec![7, INT_VALUE]],
        _ => match kind.info().encoding {
            OperandEncoding::Id => vec![vec![INT_VALUE]],
            OperandEncoding::Value(rows) => rows
                .iter()
                .flat_map(|row| lists(instruction, row.parameters).into_iter().map(|w| [vec![row.value], w].concat()))
                .collect(),
            OperandEncoding::Mask(rows) => {
                let mut forms: Vec<Vec<u32>> = vec![vec![0]];
                for row in rows.iter().filter(|row| row.value != 0) {
                    for parameters in lists(instruction, row.parameters) {
                        forms.push([vec![row.value], parameters].concat());
                    }
                }
                // All bits at once, with the shortest parameters of each.
                let all = rows.iter().fold(0, |bits, row| bits | row.value);
                let parameters =
                    rows.iter().filter(|r| r.value != 0).flat_map(|r| lists(instruction, r.parameters)[0].clone());
                forms.push([all].into_iter().chain(parameters).collect());
                forms
            }
            OperandEncoding::Composite(bases) => {
                vec![bases.iter().flat_map(|b| kinds(instruction, *b)[0].clone()).collect()]
            }
            OperandEncoding::Literal => vec![vec![3]],
        },
    }
}

fn reads_context(instruction: &Instruction) -> bool {
    let reads = |kind| {
        matches!(
            kind,
            Kind::LiteralContextDependentNumber
                | Kind::LiteralExtInstInteger
                | Kind::LiteralSpecConstantOpInteger
                | Kind::PairLiteralIntegerIdRef
        )
    };
    instruction.operands.iter().any(|o| reads(o.kind))
}

/// Returns true if the instruction contains an extended one; [`extended_forms`] returns its forms.
pub(crate) fn is_extended(instruction: &Instruction) -> bool {
    instruction.operands.iter().any(|o| o.kind == Kind::LiteralExtInstInteger)
}

/// Returns every extended instruction in each form, inside the instruction `carrier`.
pub(crate) fn extended_forms(carrier: &Instruction) -> Vec<Vec<u32>> {
    let mut forms = Vec::new();
    for (set, id) in [(ExtendedSet::Glsl, GLSL), (ExtendedSet::OpenCl, OPEN_CL)] {
        let rows = if set == ExtendedSet::Glsl { GLSL_STD450 } else { OPEN_CL_STD };
        for row in rows {
            for tail in lists(carrier, row.operands) {
                forms.push(extended(carrier, id, row.number, &tail));
            }
        }
    }
    forms.push(extended(carrier, OTHER_SET, 77, &[INT_VALUE, LONG_VALUE]));
    forms
}

fn extended(carrier: &Instruction, set: u32, number: u32, tail: &[u32]) -> Vec<u32> {
    let mut words = vec![carrier.op as u32 | (tail.len() as u32 + 5) << 16, FLOAT, FREE, set, number];
    words.extend(tail);
    words
}

/// Returns instructions with literals of two words.
pub(crate) fn wide_forms() -> Vec<Vec<u32>> {
    let wide = |ty, low, high| vec![43 | 5 << 16, ty, FREE, low, high];
    vec![
        wide(LONG, 5, 0),
        wide(LONG, u32::MAX, u32::MAX),
        wide(DOUBLE, 0, 0x3ff0_0000),
        wide(DOUBLE, 1, 0x7ff8_0000),
        vec![251 | 9 << 16, LONG_VALUE, INT_VALUE, 1, 0, INT_VALUE, 0, 0x8000_0000, INT_VALUE],
    ]
}

fn string(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(text.len() / 4 * 4 + 4, 0);
    bytes.chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}
