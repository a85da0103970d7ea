//! Subgroup arithmetic: reductions, scans and clustered reductions.

use super::super::operand_rows::Ty;
use super::subgroup_program::{Participation, SubgroupCase, SubgroupResult, ValueType};
use super::{NUMBERS, value_case};
use crate::Case;

/// Combines two values of a width, given as bits.
type Combine = fn(u32, u64, u64) -> u64;

struct Operation {
    spirv: &'static str,
    /// Returns true for the types that the operation accepts.
    accepts: fn(Ty) -> bool,
    /// The bits of test values, chosen so that a mistake changes the result.
    bits: fn(Ty, u32) -> u64,
    /// The identity for integers; floats do not use it.
    identity: fn(u32) -> u64,
    combine: Combine,
}

fn signed(width: u32, bits: u64) -> i64 {
    (bits << (64 - width)).cast_signed() >> (64 - width)
}

fn float(width: u32, bits: u64) -> f64 {
    match width {
        // Normal numbers only.
        16 => {
            let size =
                (1.0 + (bits & 0x3ff) as f64 / 1024.0) * f64::from((bits >> 10 & 0x1f) as u32 as f32 - 15.0).exp2();
            if bits >> 15 == 1 { -size } else { size }
        }
        32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

fn unsigned_int(ty: Ty) -> bool {
    matches!(ty, Ty::Int { signed: false, .. })
}

fn signed_int(ty: Ty) -> bool {
    matches!(ty, Ty::Int { signed: true, .. })
}

fn is_float(ty: Ty) -> bool {
    matches!(ty, Ty::Float { .. })
}

/// An odd value, so that a product is never 0.
fn odd(ty: Ty, number: u32) -> u64 {
    super::distinct(ty, number) | 1
}

/// A value with a single bit set.
fn one_bit(ty: Ty, number: u32) -> u64 {
    1 << (number * 11 % ty.width())
}

fn all_but_one_bit(ty: Ty, number: u32) -> u64 {
    u64::MAX >> (64 - ty.width()) & !one_bit(ty, number)
}

fn all_bits(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

#[rustfmt::skip]
const OPERATIONS: [Operation; 11] = [
    Operation { spirv: "OpGroupNonUniformIAdd", accepts: unsigned_int, bits: super::distinct, identity: |_| 0, combine: |_, a, b| a.wrapping_add(b) },
    Operation { spirv: "OpGroupNonUniformIMul", accepts: unsigned_int, bits: odd, identity: |_| 1, combine: |_, a, b| a.wrapping_mul(b) },
    Operation { spirv: "OpGroupNonUniformUMin", accepts: unsigned_int, bits: super::distinct, identity: all_bits, combine: |_, a, b| a.min(b) },
    Operation { spirv: "OpGroupNonUniformUMax", accepts: unsigned_int, bits: super::distinct, identity: |_| 0, combine: |_, a, b| a.max(b) },
    Operation { spirv: "OpGroupNonUniformSMin", accepts: signed_int, bits: super::distinct, identity: |w| all_bits(w) >> 1, combine: |w, a, b| if signed(w, a) < signed(w, b) { a } else { b } },
    Operation { spirv: "OpGroupNonUniformSMax", accepts: signed_int, bits: super::distinct, identity: |w| 1 << (w - 1), combine: |w, a, b| if signed(w, a) > signed(w, b) { a } else { b } },
    Operation { spirv: "OpGroupNonUniformBitwiseAnd", accepts: unsigned_int, bits: all_but_one_bit, identity: all_bits, combine: |_, a, b| a & b },
    Operation { spirv: "OpGroupNonUniformBitwiseOr", accepts: unsigned_int, bits: one_bit, identity: |_| 0, combine: |_, a, b| a | b },
    Operation { spirv: "OpGroupNonUniformBitwiseXor", accepts: unsigned_int, bits: super::distinct, identity: |_| 0, combine: |_, a, b| a ^ b },
    Operation { spirv: "OpGroupNonUniformFMin", accepts: is_float, bits: super::distinct, identity: |_| 0, combine: |w, a, b| if float(w, a) < float(w, b) { a } else { b } },
    Operation { spirv: "OpGroupNonUniformFMax", accepts: is_float, bits: super::distinct, identity: |_| 0, combine: |w, a, b| if float(w, a) > float(w, b) { a } else { b } },
];

#[rustfmt::skip]
const LOGICAL: [Operation; 3] = [
    Operation { spirv: "OpGroupNonUniformLogicalAnd", accepts: unsigned_int, bits: super::distinct, identity: |_| 1, combine: |_, a, b| a & b },
    Operation { spirv: "OpGroupNonUniformLogicalOr", accepts: unsigned_int, bits: super::distinct, identity: |_| 0, combine: |_, a, b| a | b },
    Operation { spirv: "OpGroupNonUniformLogicalXor", accepts: unsigned_int, bits: super::distinct, identity: |_| 0, combine: |_, a, b| a ^ b },
];

/// The values that the operation combines: SPIR-V's group operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GroupOperation {
    All,
    Inclusive,
    Exclusive,
    Clusters,
}

const GROUP_OPERATIONS: [(GroupOperation, &str); 4] = [
    (GroupOperation::All, "reduce"),
    (GroupOperation::Inclusive, "inclusive"),
    (GroupOperation::Exclusive, "exclusive"),
    (GroupOperation::Clusters, "clustered"),
];

const ARITHMETIC: &[&str] = &["GroupNonUniformArithmetic"];
const CLUSTERED: &[&str] = &["GroupNonUniformClustered"];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for operation in &OPERATIONS {
        for ty in NUMBERS.into_iter().filter(|ty| (operation.accepts)(*ty)) {
            for group in GROUP_OPERATIONS {
                let plain = ty.width() == 32;
                cases.push(subgroup_case(operation, (ValueType::Number(ty), 1), group, Participation::All).case());
                if plain {
                    for n in 2..=4 {
                        cases.push(
                            subgroup_case(operation, (ValueType::Number(ty), n), group, Participation::All)
                                .case()
                                .thinned(n != 3),
                        );
                    }
                }
                if group.0 != GroupOperation::Clusters && plain {
                    for participation in [Participation::Few, Participation::Apart] {
                        cases.extend(subset(operation, ValueType::Number(ty), group, participation));
                    }
                }
            }
        }
    }
    for operation in &LOGICAL {
        for group in GROUP_OPERATIONS {
            cases.push(subgroup_case(operation, (ValueType::Bool, 1), group, Participation::All).case());
            if group.0 != GroupOperation::Clusters {
                for participation in [Participation::Few, Participation::Apart] {
                    cases.extend(subset(operation, ValueType::Bool, group, participation));
                }
            }
        }
    }
    cases
}

/// The case for a subset of the invocations. Exclusive scans of floats are left out, because the
/// first active invocation gets the identity, whose bits are not checked.
fn subset(
    operation: &'static Operation,
    of: ValueType,
    group: (GroupOperation, &'static str),
    participation: Participation,
) -> Option<Case> {
    let begins = matches!(of, ValueType::Number(Ty::Float { .. })) && group.0 == GroupOperation::Exclusive;
    (!begins).then(|| subgroup_case(operation, (of, 1), group, participation).case())
}

fn subgroup_case(
    operation: &'static Operation,
    value: (ValueType, u32),
    (group, name): (GroupOperation, &'static str),
    participation: Participation,
) -> SubgroupCase {
    let capabilities = if group == GroupOperation::Clusters { CLUSTERED } else { ARITHMETIC };
    let rule = match group {
        GroupOperation::All => "every invocation gets the reduction of all values",
        GroupOperation::Inclusive => "every invocation gets the reduction of the values up to and including its own",
        GroupOperation::Exclusive => "every invocation gets the reduction of the values before its own",
        GroupOperation::Clusters => "every invocation gets the reduction of its cluster's values",
    };
    let width = match value.0 {
        ValueType::Number(ty) => ty.width(),
        ValueType::Bool => 1,
    };
    let is_float = matches!(value.0, ValueType::Number(Ty::Float { .. }));
    let definition = value_case(operation.spirv, capabilities, value, rule, move || match group {
        GroupOperation::Clusters => [1, 2, 4, 8, 16, 32]
            .map(|size| part(operation, width, group, size, is_float).for_size_at_least(size))
            .into(),
        _ => vec![part(operation, width, group, 1, is_float)],
    });
    SubgroupCase {
        name: format!("{}.{name}{}", definition.name, participation.suffix()),
        bits: operation.bits,
        participation,
        ..definition
    }
}

fn part(
    operation: &'static Operation,
    width: u32,
    group: GroupOperation,
    cluster: u32,
    is_float: bool,
) -> SubgroupResult {
    let begins_empty = is_float && group == GroupOperation::Exclusive;
    SubgroupResult::new(
        move |shader, ids| {
            let (scope, value) = (&ids.scope, &ids.value);
            let operands = match group {
                GroupOperation::All => format!("{scope} Reduce {value}"),
                GroupOperation::Inclusive => format!("{scope} InclusiveScan {value}"),
                GroupOperation::Exclusive => format!("{scope} ExclusiveScan {value}"),
                GroupOperation::Clusters => format!("{scope} ClusteredReduce {value} {}", shader.constant_u32(cluster)),
            };
            let found = shader.op(&ids.ty, operation.spirv, operands);
            if !begins_empty {
                return found;
            }
            // The first invocation gets an infinity, which the device need not preserve, so it
            // keeps its own value.
            let (bool, zero) = (shader.bool(), shader.constant_u32(0));
            let is = shader.op(&bool, "OpINotEqual", format_args!("{} {zero}", ids.own));
            ids.select(shader, &is, &found)
        },
        move |active, own| {
            let counts = |place: &u32| match group {
                GroupOperation::All => true,
                GroupOperation::Inclusive => *place <= own,
                GroupOperation::Exclusive => *place < own,
                GroupOperation::Clusters => place / cluster == own / cluster,
            };
            let of_own = active.value(own);
            let fold = |c: usize| {
                let mut all = active.members.iter().filter(|(place, _)| counts(place)).map(|(_, (_, value))| value[c]);
                let combine = |a, b| (operation.combine)(width, a, b) & all_bits(width);
                match is_float {
                    true => all.reduce(combine).unwrap_or(of_own[c]),
                    false => all.by_ref().fold((operation.identity)(width), combine),
                }
            };
            (0..of_own.len()).map(fold).collect()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaving_out_a_value_changes_the_result() {
        for operation in &OPERATIONS {
            for ty in NUMBERS.into_iter().filter(|ty| (operation.accepts)(*ty)) {
                let values: Vec<u64> = (0..8).map(|number| (operation.bits)(ty, number)).collect();
                let combine = |a, b| (operation.combine)(ty.width(), a, b) & all_bits(ty.width());
                let all = values.iter().copied().reduce(combine);
                let tells = (0..8).filter(|left_out| {
                    let others = values.iter().enumerate().filter(|(i, _)| i != left_out).map(|(_, value)| *value);
                    others.reduce(combine) != all
                });
                // A minimum or maximum depends on one value only.
                assert!(tells.count() >= 1, "{} {}", operation.spirv, ty.name());
            }
        }
        assert_eq!(float(16, 0x3c00), 1.0);
        assert_eq!(float(16, 0xc200), -3.0);
    }
}
