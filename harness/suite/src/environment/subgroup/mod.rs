//! Subgroup instructions, checked under the layout that the device records together with the
//! results.
//!
//! The device chooses which invocations form a subgroup. Every program therefore stores
//! `SubgroupId`, `SubgroupLocalInvocationId` and `SubgroupSize` of each invocation. The oracle
//! rejects an impossible layout and otherwise evaluates the program under the recorded one.

mod arithmetic;
mod ballot;
mod shuffle;
mod subgroup_program;
mod vote;

use super::about;
use super::bit_preservation::FloatMode;
use super::operand_rows::Ty;
use crate::{Case, CaseSubject};
use subgroup_program::{Participation, SubgroupCase, SubgroupResult, ValueType};

const CLAUSE: &str = "SPIR-V specification, group and non-uniform instructions";

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(vote::cases());
    cases.extend(ballot::cases());
    cases.extend(shuffle::cases());
    cases.extend(arithmetic::cases());
    cases
}

/// All numeric types.
const NUMBERS: [Ty; 11] = [
    Ty::Int { width: 8, signed: false },
    Ty::Int { width: 16, signed: false },
    Ty::Int { width: 32, signed: false },
    Ty::Int { width: 64, signed: false },
    Ty::Int { width: 8, signed: true },
    Ty::Int { width: 16, signed: true },
    Ty::Int { width: 32, signed: true },
    Ty::Int { width: 64, signed: true },
    Ty::Float { width: 16 },
    Ty::Float { width: 32 },
    Ty::Float { width: 64 },
];

const U32: Ty = Ty::Int { width: 32, signed: false };

/// All types and shapes under test: every scalar, 32-bit vectors, and vectors of the narrowest and
/// widest types.
fn shapes() -> Vec<(ValueType, u32)> {
    let mut shapes = vec![(ValueType::Bool, 1)];
    shapes.extend(NUMBERS.iter().map(|ty| (ValueType::Number(*ty), 1)));
    shapes.extend((2..=4).map(|n| (ValueType::Number(U32), n)));
    shapes.extend(
        [(NUMBERS[0], 4), (NUMBERS[3], 3), (NUMBERS[8], 2), (NUMBERS[9], 4), (NUMBERS[10], 2)]
            .map(|(ty, n)| (ValueType::Number(ty), n)),
    );
    shapes
}

fn shape_name((of, shape): (ValueType, u32)) -> String {
    if shape == 1 { of.name() } else { format!("{}.vec{shape}", of.name()) }
}

/// A case of an instruction whose result has the type of its operand.
fn value_case(
    spirv: &'static str,
    capabilities: &'static [&'static str],
    value: (ValueType, u32),
    rule: &'static str,
    parts: impl Fn() -> Vec<SubgroupResult> + Send + Sync + 'static,
) -> SubgroupCase {
    let name = shape_name(value);
    SubgroupCase {
        name: format!("environment.subgroup.{}.{name}", short(spirv)),
        subject: subgroup(spirv, format!("{name} <- {name}"), rule),
        capabilities,
        extension: None,
        version: "1.3",
        participation: Participation::All,
        value,
        bits: distinct,
        mode: FloatMode::None,
        result: value,
        parts: Box::new(parts),
    }
}

/// The instruction in case names: `shuffleup` for `OpGroupNonUniformShuffleUp`.
fn short(spirv: &str) -> String {
    let stem = spirv.trim_start_matches("Op").trim_start_matches("GroupNonUniform");
    stem.to_ascii_lowercase()
}

fn subgroup(spirv: &'static str, types: String, rule: &'static str) -> CaseSubject {
    about(spirv, types, rule, CLAUSE)
}

/// Bits that differ from number to number. Floats are finite and normal, in both signs.
fn distinct(ty: Ty, number: u32) -> u64 {
    let spread = u64::from(number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let spread = spread ^ spread >> 29;
    match ty {
        Ty::Int { width, .. } => spread >> (64 - width),
        // Exponents about 1.
        Ty::Float { width: 16 } => spread >> 48 & 0x83ff | (0x3800 + u64::from(number % 3) * 0x400),
        Ty::Float { width: 32 } => spread >> 32 & 0x807f_ffff | (0x3f00_0000 + (u64::from(number % 5) << 23)),
        Ty::Float { .. } => spread & 0x800f_ffff_ffff_ffff | (0x3fe0_0000_0000_0000 + (u64::from(number % 5) << 52)),
    }
}
