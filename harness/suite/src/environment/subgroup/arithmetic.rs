//! Values of a subgroup combined: all of them, those up to an invocation, those of a cluster.

use super::super::apply::Ty;
use super::program::{Form, Of, Part, Who};
use super::{NUMBERS, of_value};
use crate::Case;

/// How two values are combined: width, and bits of both.
type Combine = fn(u32, u64, u64) -> u64;

struct Operation {
    spirv: &'static str,
    /// The types that it is for.
    of: fn(Ty) -> bool,
    /// Bits of a value that let a mistake show in the result.
    bits: fn(Ty, u32) -> u64,
    /// The identity of its integers; of floats none is needed.
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

/// Odd, so that a product is never 0.
fn odd(ty: Ty, number: u32) -> u64 {
    super::distinct(ty, number) | 1
}

/// One bit only, and all but one.
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
    Operation { spirv: "OpGroupNonUniformIAdd", of: unsigned_int, bits: super::distinct, identity: |_| 0, combine: |_, a, b| a.wrapping_add(b) },
    Operation { spirv: "OpGroupNonUniformIMul", of: unsigned_int, bits: odd, identity: |_| 1, combine: |_, a, b| a.wrapping_mul(b) },
    Operation { spirv: "OpGroupNonUniformUMin", of: unsigned_int, bits: super::distinct, identity: all_bits, combine: |_, a, b| a.min(b) },
    Operation { spirv: "OpGroupNonUniformUMax", of: unsigned_int, bits: super::distinct, identity: |_| 0, combine: |_, a, b| a.max(b) },
    Operation { spirv: "OpGroupNonUniformSMin", of: signed_int, bits: super::distinct, identity: |w| all_bits(w) >> 1, combine: |w, a, b| if signed(w, a) < signed(w, b) { a } else { b } },
    Operation { spirv: "OpGroupNonUniformSMax", of: signed_int, bits: super::distinct, identity: |w| 1 << (w - 1), combine: |w, a, b| if signed(w, a) > signed(w, b) { a } else { b } },
    Operation { spirv: "OpGroupNonUniformBitwiseAnd", of: unsigned_int, bits: all_but_one_bit, identity: all_bits, combine: |_, a, b| a & b },
    Operation { spirv: "OpGroupNonUniformBitwiseOr", of: unsigned_int, bits: one_bit, identity: |_| 0, combine: |_, a, b| a | b },
    Operation { spirv: "OpGroupNonUniformBitwiseXor", of: unsigned_int, bits: super::distinct, identity: |_| 0, combine: |_, a, b| a ^ b },
    Operation { spirv: "OpGroupNonUniformFMin", of: is_float, bits: super::distinct, identity: |_| 0, combine: |w, a, b| if float(w, a) < float(w, b) { a } else { b } },
    Operation { spirv: "OpGroupNonUniformFMax", of: is_float, bits: super::distinct, identity: |_| 0, combine: |w, a, b| if float(w, a) > float(w, b) { a } else { b } },
];

#[rustfmt::skip]
const LOGICAL: [Operation; 3] = [
    Operation { spirv: "OpGroupNonUniformLogicalAnd", of: unsigned_int, bits: super::distinct, identity: |_| 1, combine: |_, a, b| a & b },
    Operation { spirv: "OpGroupNonUniformLogicalOr", of: unsigned_int, bits: super::distinct, identity: |_| 0, combine: |_, a, b| a | b },
    Operation { spirv: "OpGroupNonUniformLogicalXor", of: unsigned_int, bits: super::distinct, identity: |_| 0, combine: |_, a, b| a ^ b },
];

/// Which values are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    All,
    Inclusive,
    Exclusive,
    Clusters,
}

const REACHES: [(Reach, &str); 4] = [
    (Reach::All, "reduce"),
    (Reach::Inclusive, "inclusive"),
    (Reach::Exclusive, "exclusive"),
    (Reach::Clusters, "clustered"),
];

const ARITHMETIC: &[&str] = &["GroupNonUniformArithmetic"];
const CLUSTERED: &[&str] = &["GroupNonUniformClustered"];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for operation in &OPERATIONS {
        for ty in NUMBERS.into_iter().filter(|ty| (operation.of)(*ty)) {
            for reach in REACHES {
                let plain = ty.width() == 32;
                cases.push(form(operation, (Of::Number(ty), 1), reach, Who::All).case());
                if plain {
                    for n in 2..=4 {
                        cases.push(form(operation, (Of::Number(ty), n), reach, Who::All).case().thinned(n != 3));
                    }
                }
                if reach.0 != Reach::Clusters && plain {
                    for who in [Who::Few, Who::Apart] {
                        cases.extend(among(operation, Of::Number(ty), reach, who));
                    }
                }
            }
        }
    }
    for operation in &LOGICAL {
        for reach in REACHES {
            cases.push(form(operation, (Of::Bool, 1), reach, Who::All).case());
            if reach.0 != Reach::Clusters {
                for who in [Who::Few, Who::Apart] {
                    cases.extend(among(operation, Of::Bool, reach, who));
                }
            }
        }
    }
    cases
}

/// Where not all invocations take part: of floats no value is what an exclusive scan begins with, so that one is left out.
fn among(operation: &'static Operation, of: Of, reach: (Reach, &'static str), who: Who) -> Option<Case> {
    let begins = matches!(of, Of::Number(Ty::Float { .. })) && reach.0 == Reach::Exclusive;
    (!begins).then(|| form(operation, (of, 1), reach, who).case())
}

fn form(operation: &'static Operation, value: (Of, u32), (reach, name): (Reach, &'static str), who: Who) -> Form {
    let capabilities = if reach == Reach::Clusters { CLUSTERED } else { ARITHMETIC };
    let rule = match reach {
        Reach::All => "all get what the values of all come to",
        Reach::Inclusive => "each gets what the values up to its own come to",
        Reach::Exclusive => "each gets what the values before its own come to",
        Reach::Clusters => "all of a cluster get what its values come to",
    };
    let width = match value.0 {
        Of::Number(ty) => ty.width(),
        Of::Bool => 1,
    };
    let is_float = matches!(value.0, Of::Number(Ty::Float { .. }));
    let form = of_value(operation.spirv, capabilities, value, rule, move || match reach {
        Reach::Clusters => {
            [1, 2, 4, 8, 16, 32].map(|size| part(operation, width, reach, size, is_float).of_at_least(size)).into()
        }
        _ => vec![part(operation, width, reach, 1, is_float)],
    });
    Form { name: format!("{}.{name}{}", form.name, who.suffix()), bits: operation.bits, who, ..form }
}

fn part(operation: &'static Operation, width: u32, reach: Reach, cluster: u32, is_float: bool) -> Part {
    let begins_empty = is_float && reach == Reach::Exclusive;
    Part::new(
        move |shader, given| {
            let (scope, value) = (&given.scope, &given.value);
            let operands = match reach {
                Reach::All => format!("{scope} Reduce {value}"),
                Reach::Inclusive => format!("{scope} InclusiveScan {value}"),
                Reach::Exclusive => format!("{scope} ExclusiveScan {value}"),
                Reach::Clusters => format!("{scope} ClusteredReduce {value} {}", shader.constant_u32(cluster)),
            };
            let found = shader.op(&given.ty, operation.spirv, operands);
            if !begins_empty {
                return found;
            }
            // Of no values it is an infinity, which need not be kept: the first keeps its own.
            let (bool, zero) = (shader.bool(), shader.constant_u32(0));
            let is = shader.op(&bool, "OpINotEqual", format_args!("{} {zero}", given.own));
            given.select(shader, &is, &found)
        },
        move |team, own| {
            let counts = |place: &u32| match reach {
                Reach::All => true,
                Reach::Inclusive => *place <= own,
                Reach::Exclusive => *place < own,
                Reach::Clusters => place / cluster == own / cluster,
            };
            let of_own = team.value(own);
            let fold = |c: usize| {
                let mut all = team.members.iter().filter(|(place, _)| counts(place)).map(|(_, (_, value))| value[c]);
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
    fn values_tell_a_missing_one() {
        for operation in &OPERATIONS {
            for ty in NUMBERS.into_iter().filter(|ty| (operation.of)(*ty)) {
                let values: Vec<u64> = (0..8).map(|number| (operation.bits)(ty, number)).collect();
                let combine = |a, b| (operation.combine)(ty.width(), a, b) & all_bits(ty.width());
                let all = values.iter().copied().reduce(combine);
                let tells = (0..8).filter(|left_out| {
                    let others = values.iter().enumerate().filter(|(i, _)| i != left_out).map(|(_, value)| *value);
                    others.reduce(combine) != all
                });
                // Of extremes only the one that counts.
                assert!(tells.count() >= 1, "{} {}", operation.spirv, ty.name());
            }
        }
        assert_eq!(float(16, 0x3c00), 1.0);
        assert_eq!(float(16, 0xc200), -3.0);
    }
}
