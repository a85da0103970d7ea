//! Discrete operations: the result is one bit pattern, or one of a few, that follows from the
//! operands' bit patterns.

use crate::{
    Rounding, Scalar,
    integral::{IntegralRounding, integral},
    pack,
    rank_interval::{convert_rank, rank_of_representable},
    real_range::neighbours,
};
use assay_float::{Dyadic, F16, F64, Format, RankRange, Set};

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Relation {
    Equal,
    NotEqual,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
}

/// Context of a discrete operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiscreteContext {
    /// Type of the operands.
    pub(crate) operand: Scalar,
    /// Type of the result.
    pub(crate) result: Scalar,
    /// Index of the result component, for unpacking operations.
    pub(crate) slot: usize,
    /// Rounding mode of correctly rounded steps.
    pub(crate) rounding: Rounding,
}

/// An operation with a discrete result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DiscreteOp {
    Negate,
    Abs,
    Sign,
    Round,
    RoundEven,
    Trunc,
    Floor,
    Ceil,
    /// `x - trunc(x)`, with the sign of `x`: the fraction of Modf.
    Fraction,
    /// Significand of Frexp: in `[0.5, 1.0)`, with the sign of `x`.
    Significand,
    /// Exponent of Frexp.
    Exponent,
    /// Operand 0, unchanged: the value that an atomic returns.
    Copy,
    Min,
    Max,
    Clamp,
    NMin,
    NMax,
    NClamp,
    AtomicMin,
    AtomicMax,
    /// Minimum of a subgroup: numbers are preferred to NaNs, the result for NaNs alone is
    /// undefined, and the zeros are unordered.
    GroupMin,
    GroupMax,
    /// "An ordered-and-equal compare is used."
    AllEqual,
    CompareExchange,
    Step,
    IsNan,
    IsInf,
    /// Comparison with a relation; the flag is its result if an operand is a NaN.
    Compare(Relation, bool),
    ToInt,
    QuantizeToF16,
    SAbs,
    SSign,
    SMin,
    UMin,
    SMax,
    UMax,
    SClamp,
    UClamp,
    FindILsb,
    FindSMsb,
    FindUMsb,
    PackSnorm,
    PackUnorm,
    PackDouble,
    UnpackDouble,
}

impl DiscreteOp {
    /// The rule in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            DiscreteOp::Round
            | DiscreteOp::RoundEven
            | DiscreteOp::Trunc
            | DiscreteOp::Floor
            | DiscreteOp::Ceil
            | DiscreteOp::Step => "correctly rounded (the result is an integer)",
            DiscreteOp::ToInt => "rounded toward zero",
            DiscreteOp::QuantizeToF16 => {
                "correctly rounded with implementation-defined rounding mode, denormal halves to zero"
            }
            DiscreteOp::PackSnorm => "round(clamp(c, -1, 1) * k), the product correctly rounded, halves either way",
            DiscreteOp::PackUnorm => "round(clamp(c, 0, 1) * k), the product correctly rounded, halves either way",
            _ => "correct result",
        }
    }

    /// Permitted results for these operand bits, with signs of zeros and NaNs as IEEE 754 and the
    /// instruction set define them.
    pub(crate) fn set(self, x: &[u64], context: &DiscreteContext) -> Set {
        match context.operand {
            Scalar::Float(format) => self.float(x, format, context),
            Scalar::Int { width, .. } => self.integer(x, width, context.result),
            // The only instruction on booleans: whether those of all invocations are equal.
            Scalar::Bool if self == DiscreteOp::AllEqual => Set::point((x[0] == x[1]).into()),
            Scalar::Bool => Set::anything(),
        }
    }

    /// Returns true if the operation returns one of its operands, selected by comparing them.
    /// GLSL.std.450 defines FMin and similar instructions in this way. For group and atomic minima
    /// the text says only "minimum"; they are included so that an implementation built on FMin is
    /// not accused.
    pub(crate) fn chooses(self) -> bool {
        use DiscreteOp::{AtomicMax, AtomicMin, Clamp, GroupMax, GroupMin, Max, Min, NClamp, NMax, NMin};
        matches!(self, Min | Max | Clamp | NMin | NMax | NClamp | AtomicMin | AtomicMax | GroupMin | GroupMax)
    }

    /// Results of a selecting operation if denormals compare as the zeros that they may be read as,
    /// and are returned unchanged.
    pub(crate) fn chosen(self, x: &[u64], context: &DiscreteContext) -> Set {
        let Scalar::Float(f) = context.operand else { return self.set(x, context) };
        match self {
            DiscreteOp::Clamp | DiscreteOp::NClamp => self.clamped(x, f, context, DiscreteOp::chosen),
            // The order of two zeros is stated.
            _ if x.iter().all(|&bits| f.is_zero(bits) || f.is_denormal(bits))
                && x.iter().any(|&bits| f.is_denormal(bits)) =>
            {
                let mut either = Set::point(f.rank(x[0]));
                either.insert(RankRange::point(f.rank(x[1])));
                either
            }
            _ => self.set(x, context),
        }
    }

    /// `min(max(x, low), high)`, with `of` for the minimum and the maximum of two values.
    fn clamped(
        self,
        x: &[u64],
        f: Format,
        context: &DiscreteContext,
        of: fn(DiscreteOp, &[u64], &DiscreteContext) -> Set,
    ) -> Set {
        if !f.is_nan(x[1]) && !f.is_nan(x[2]) && less(f, x[2], x[1]) {
            return Set::anything();
        }
        let (min, max) = match self {
            DiscreteOp::Clamp => (DiscreteOp::Min, DiscreteOp::Max),
            _ => (DiscreteOp::NMin, DiscreteOp::NMax),
        };
        let mut clamped = Set::empty();
        let lower = of(max, &x[..2], context);
        let points = lower.ranges().iter().flat_map(|r| r.lo..=r.hi).map(|rank| f.bits(rank));
        for bits in points.chain(lower.has_nan().then(|| f.nan())) {
            clamped.union_with(&of(min, &[bits, x[2]], context));
        }
        clamped
    }

    fn float(self, x: &[u64], f: Format, context: &DiscreteContext) -> Set {
        let nan = |i: usize| f.is_nan(x[i]);
        let keep = |bits: u64| if f.is_nan(bits) { Set::nans() } else { Set::point(f.rank(bits)) };
        let truth = |value: bool| Set::point(value.into());
        match self {
            DiscreteOp::Negate => keep(x[0] ^ f.sign_mask()),
            DiscreteOp::Abs => keep(x[0] & f.magnitude_mask()),
            // "Any of ±1.0 or ±0.0"
            DiscreteOp::Sign if nan(0) => {
                let mut any = Set::range(-1, 0);
                for negative in [false, true] {
                    any.insert(RankRange::point(with_sign(f.rank_of_one(), negative)));
                }
                any
            }
            // "+0.0 if x = +0.0, and ±0.0 if x = -0.0"
            DiscreteOp::Sign if f.is_zero(x[0]) => Set::range(if f.is_negative(x[0]) { -1 } else { 0 }, 0),
            DiscreteOp::Sign => Set::point(with_sign(f.rank_of_one(), f.is_negative(x[0]))),
            DiscreteOp::Round | DiscreteOp::RoundEven | DiscreteOp::Trunc | DiscreteOp::Floor | DiscreteOp::Ceil
                if !f.is_finite(x[0]) =>
            {
                keep(x[0])
            }
            DiscreteOp::Round => integral(IntegralRounding::Nearest, x[0], f),
            DiscreteOp::RoundEven => integral(IntegralRounding::NearestEven, x[0], f),
            DiscreteOp::Trunc => integral(IntegralRounding::TowardZero, x[0], f),
            DiscreteOp::Floor => integral(IntegralRounding::Down, x[0], f),
            DiscreteOp::Ceil => integral(IntegralRounding::Up, x[0], f),
            // The instruction set does not define the significand or the exponent of a NaN or an
            // infinity, nor Modf's fraction.
            DiscreteOp::Fraction | DiscreteOp::Significand | DiscreteOp::Exponent if !f.is_finite(x[0]) => {
                Set::anything()
            }
            DiscreteOp::Fraction => {
                let value = f.value(x[0]).map(Dyadic::abs).unwrap_or(Dyadic::ZERO);
                Set::point(with_sign(rank_of_representable(value.fraction(), f), f.is_negative(x[0])))
            }
            DiscreteOp::Significand | DiscreteOp::Exponent => frexp(x[0], f, self == DiscreteOp::Exponent),
            DiscreteOp::Copy => keep(x[0]),
            DiscreteOp::Min | DiscreteOp::Max if nan(0) || nan(1) => {
                let mut either = keep(x[0]);
                either.union_with(&keep(x[1]));
                either
            }
            DiscreteOp::GroupMin | DiscreteOp::GroupMax if nan(0) && nan(1) => Set::anything(),
            DiscreteOp::AllEqual => DiscreteOp::Compare(Relation::Equal, false).float(x, f, context),
            // "min(x, sNaN) = min(sNaN, x) = NaN or x": SPV_EXT_shader_atomic_float_min_max.
            DiscreteOp::AtomicMin | DiscreteOp::AtomicMax if f.is_signalling(x[0]) || f.is_signalling(x[1]) => {
                let mut either = keep(if nan(0) { x[1] } else { x[0] });
                either.union_with(&Set::nans());
                either
            }
            DiscreteOp::NMin
            | DiscreteOp::NMax
            | DiscreteOp::AtomicMin
            | DiscreteOp::AtomicMax
            | DiscreteOp::GroupMin
            | DiscreteOp::GroupMax
                if nan(0) || nan(1) =>
            {
                keep(if nan(0) { x[1] } else { x[0] })
            }
            DiscreteOp::AtomicMin | DiscreteOp::AtomicMax | DiscreteOp::GroupMin | DiscreteOp::GroupMax
                if f.is_zero(x[0]) && f.is_zero(x[1]) =>
            {
                let mut either = keep(x[0]);
                either.union_with(&keep(x[1]));
                either
            }
            DiscreteOp::Min | DiscreteOp::NMin | DiscreteOp::AtomicMin | DiscreteOp::GroupMin => {
                Set::point(f.rank(x[0]).min(f.rank(x[1])))
            }
            DiscreteOp::Max | DiscreteOp::NMax | DiscreteOp::AtomicMax | DiscreteOp::GroupMax => {
                Set::point(f.rank(x[0]).max(f.rank(x[1])))
            }
            DiscreteOp::Clamp | DiscreteOp::NClamp => self.clamped(x, f, context, DiscreteOp::set),
            DiscreteOp::CompareExchange => keep(if x[0] == x[2] { x[1] } else { x[0] }),
            // Step(edge, x): "0.0 if x < edge; otherwise result is 1.0".
            DiscreteOp::Step if !nan(0) && !nan(1) && less(f, x[1], x[0]) => Set::point(0),
            DiscreteOp::Step => Set::point(f.rank_of_one()),
            DiscreteOp::IsNan => truth(nan(0)),
            DiscreteOp::IsInf => truth(f.is_infinite(x[0])),
            DiscreteOp::Compare(_, unordered) if nan(0) || nan(1) => truth(unordered),
            DiscreteOp::Compare(relation, _) => {
                let (lt, gt) = (less(f, x[0], x[1]), less(f, x[1], x[0]));
                truth(match relation {
                    Relation::Equal => !lt && !gt,
                    Relation::NotEqual => lt || gt,
                    Relation::Less => lt,
                    Relation::Greater => gt,
                    Relation::LessEqual => !gt,
                    Relation::GreaterEqual => !lt,
                })
            }
            DiscreteOp::ToInt => {
                let Scalar::Int { width, signed } = context.result else { return Set::anything() };
                to_integer(f, x[0], width, signed).map_or_else(Set::anything, |bits| Set::point(bits as i64))
            }
            DiscreteOp::QuantizeToF16 => quantize(x[0], f),
            DiscreteOp::PackSnorm | DiscreteOp::PackUnorm => {
                let Scalar::Int { width, .. } = context.result else { return Set::anything() };
                pack::normalized(x[0], f, width, self == DiscreteOp::PackSnorm, context.rounding)
            }
            DiscreteOp::UnpackDouble => Set::point((x[0] >> (32 * context.slot) & 0xffff_ffff) as i64),
            DiscreteOp::SAbs
            | DiscreteOp::SSign
            | DiscreteOp::SMin
            | DiscreteOp::UMin
            | DiscreteOp::SMax
            | DiscreteOp::UMax
            | DiscreteOp::SClamp
            | DiscreteOp::UClamp
            | DiscreteOp::FindILsb
            | DiscreteOp::FindSMsb
            | DiscreteOp::FindUMsb
            | DiscreteOp::PackDouble => Set::anything(),
        }
    }

    fn integer(self, x: &[u64], width: u32, result: Scalar) -> Set {
        let mask = u64::MAX >> (64 - width);
        let signed = |bits: u64| (bits << (64 - width)) as i64 >> (64 - width);
        let back = |value: i64| value as u64 & mask;
        let bits = match self {
            DiscreteOp::SAbs => back(signed(x[0]).wrapping_abs()),
            DiscreteOp::SSign => back(signed(x[0]).signum()),
            DiscreteOp::SMin => back(signed(x[0]).min(signed(x[1]))),
            DiscreteOp::SMax => back(signed(x[0]).max(signed(x[1]))),
            DiscreteOp::UMin => x[0].min(x[1]),
            DiscreteOp::UMax => x[0].max(x[1]),
            DiscreteOp::SClamp if signed(x[1]) > signed(x[2]) => return Set::anything(),
            DiscreteOp::SClamp => back(signed(x[0]).max(signed(x[1])).min(signed(x[2]))),
            DiscreteOp::UClamp if x[1] > x[2] => return Set::anything(),
            DiscreteOp::UClamp => x[0].max(x[1]).min(x[2]),
            DiscreteOp::FindILsb => {
                if x[0] == 0 {
                    mask
                } else {
                    x[0].trailing_zeros().into()
                }
            }
            DiscreteOp::FindUMsb => highest(x[0]).map_or(mask, u64::from),
            DiscreteOp::FindSMsb => {
                let significant = if signed(x[0]) < 0 { !x[0] & mask } else { x[0] };
                highest(significant).map_or(mask, u64::from)
            }
            DiscreteOp::CompareExchange => {
                if x[0] == x[2] {
                    x[1]
                } else {
                    x[0]
                }
            }
            DiscreteOp::Copy => x[0],
            DiscreteOp::PackDouble => {
                let bits = x[0] | x[1] << 32;
                // "If an IEEE 754 Inf or NaN is created, .. the resulting floating-point value is
                // unspecified."
                if !F64.is_finite(bits) {
                    return Set::anything();
                }
                bits
            }
            _ => return Set::anything(),
        };
        match result {
            Scalar::Float(format) if format.is_nan(bits) => Set::nans(),
            Scalar::Float(format) => Set::point(format.rank(bits)),
            // Integers have their bits as ranks.
            Scalar::Int { .. } | Scalar::Bool => Set::point(bits as i64),
        }
    }
}

/// Significand or exponent of a finite value, `x = significand * 2^exponent`; both are zero for
/// zero.
fn frexp(bits: u64, f: Format, exponent: bool) -> Set {
    let Some(value) = f.value(bits).filter(|v| !v.is_zero()) else {
        return if exponent { Set::point(0) } else { Set::point(f.rank(bits)) };
    };
    let length = 64 - value.mantissa().leading_zeros() as i32;
    if exponent {
        return Set::point((length + value.exponent()) as u32 as i64);
    }
    Set::point(with_sign(rank_of_representable(Dyadic::new(false, value.mantissa(), -length), f), value.is_negative()))
}

fn highest(bits: u64) -> Option<u32> {
    bits.checked_ilog2()
}

fn with_sign(rank: i64, negative: bool) -> i64 {
    if negative { -1 - rank } else { rank }
}

/// `a < b` for numbers; the zeros are equal.
fn less(f: Format, a: u64, b: u64) -> bool {
    f.rank(a) < f.rank(b) && !(f.is_zero(a) && f.is_zero(b))
}

/// Bits of the value truncated to an integer type; `None` if it does not fit, which is undefined
/// behaviour.
pub(crate) fn to_integer(f: Format, bits: u64, width: u32, signed: bool) -> Option<u64> {
    let whole = f.value(bits)?.trunc();
    let length = 64 - whole.mantissa().leading_zeros() as i32 + whole.exponent();
    if whole.is_zero() {
        return Some(0);
    }
    if length > 64 {
        return None;
    }
    let magnitude = i128::from(whole.mantissa()) << whole.exponent();
    let value = if whole.is_negative() { -magnitude } else { magnitude };
    let (least, greatest) = match signed {
        true => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        false => (0, (1i128 << width) - 1),
    };
    (least..=greatest).contains(&value).then_some(value as u64 & (u64::MAX >> (64 - width)))
}

/// Neighbours of a value in binary16, in the value's own format: the result of OpQuantizeToF16
/// except for denormal halves.
pub(crate) fn nearest_halves(bits: u64, f: Format) -> Set {
    let wide = |rank| convert_rank(rank, F16, f);
    match f.value(bits) {
        None if f.is_nan(bits) => Set::nans(),
        None => Set::point(f.rank(bits)),
        Some(value) => {
            let halves = neighbours(value, F16);
            let mut set = Set::point(wide(halves.lo));
            set.insert(RankRange::point(wide(halves.hi)));
            set
        }
    }
}

/// `OpQuantizeToF16` in the usual reading: either half neighbour, with zero in place of denormal
/// halves, and infinity for values from the next power of two after the largest half on.
fn quantize(bits: u64, f: Format) -> Set {
    let beyond = f.value(bits).is_some_and(|value| value.abs().to_f64() >= 65_536.0);
    if beyond {
        return Set::point(with_sign(f.infinity(), f.is_negative(bits)));
    }
    let mut halves = nearest_halves(bits, f);
    let edge = convert_rank(F16.min_normal(), F16, f);
    let denormal = RankRange::new(-edge, edge - 1);
    if halves.meets(denormal) {
        halves.remove(denormal);
        halves.insert(RankRange::new(-1, 0));
    }
    halves
}
