//! Subgroup instructions, each under the layout that the device records beside the results.
//!
//! Which invocations share a subgroup is the device's to choose. So every program stores `SubgroupId`, `SubgroupLocalInvocationId`
//! and `SubgroupSize` of each invocation; the oracle refuses a layout that cannot be, and else computes all under it.

mod arithmetic;
mod ballot;
mod hand;
mod program;
mod vote;

use super::about;
use super::apply::Ty;
use super::bits::Mode;
use crate::{About, Case};
use program::{Form, Of, Part, Who};

const CLAUSE: &str = "SPIR-V specification, group and non-uniform instructions";

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(vote::cases());
    cases.extend(ballot::cases());
    cases.extend(hand::cases());
    cases.extend(arithmetic::cases());
    cases
}

/// Every type of number: unsigned and signed integers, floats.
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

/// Every type and shape: all scalars, vectors of 32 bits and of the narrowest and the widest.
fn shapes() -> Vec<(Of, u32)> {
    let mut shapes = vec![(Of::Bool, 1)];
    shapes.extend(NUMBERS.iter().map(|ty| (Of::Number(*ty), 1)));
    shapes.extend((2..=4).map(|n| (Of::Number(U32), n)));
    shapes.extend(
        [(NUMBERS[0], 4), (NUMBERS[3], 3), (NUMBERS[8], 2), (NUMBERS[9], 4), (NUMBERS[10], 2)]
            .map(|(ty, n)| (Of::Number(ty), n)),
    );
    shapes
}

fn shape_name((of, shape): (Of, u32)) -> String {
    if shape == 1 { of.name() } else { format!("{}.vec{shape}", of.name()) }
}

/// An instruction on a value, with a result of the same type.
fn of_value(
    spirv: &'static str,
    capabilities: &'static [&'static str],
    value: (Of, u32),
    rule: &'static str,
    parts: impl Fn() -> Vec<Part> + Send + Sync + 'static,
) -> Form {
    let name = shape_name(value);
    Form {
        name: format!("environment.subgroup.{}.{name}", short(spirv)),
        about: subgroup(spirv, format!("{name} <- {name}"), rule),
        capabilities,
        extension: None,
        version: "1.3",
        who: Who::All,
        value,
        bits: distinct,
        mode: Mode::None,
        result: value,
        parts: Box::new(parts),
    }
}

/// `shuffle_up` of `OpGroupNonUniformShuffleUp` is `shuffleup`.
fn short(spirv: &str) -> String {
    let stem = spirv.trim_start_matches("Op").trim_start_matches("GroupNonUniform");
    stem.to_ascii_lowercase()
}

fn subgroup(spirv: &'static str, types: String, rule: &'static str) -> About {
    about(spirv, types, rule, CLAUSE)
}

/// Bits that differ from number to number; of floats, ordinary numbers of both signs.
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
