//! Bounds of operations that are real functions.
//!
//! Vulkan's table ("Precision of Individual Operations") states bounds as correct rounding, as
//! multiples of `ulp(x)` of the exact result `x`, or as absolute errors. `ulp(x)` is the least
//! distance `b - a` of finite values `a <= x <= b`, `a != b`, of the format: at a power of two it
//! is the spacing below. Every value in `[x - n ulp(x), x + n ulp(x)]` is permitted for a bound of
//! `n` ulp.

use crate::{
    Specification,
    real_op::{Bound, RealOp},
    wgsl::wgsl_bounds,
};

/// [`Bound::Either`] in words.
pub(crate) const EITHER: &str = "correctly rounded with implementation-defined rounding mode";

impl RealOp {
    /// **The** bound of the operation, from "Precision of Individual Operations" of Vulkan or from
    /// WGSL's table. `half` selects the column.
    pub(crate) const fn bound(self, specification: Specification, half: bool) -> Bound {
        if let Specification::Wgsl = specification {
            return wgsl_bounds::bound(self, half);
        }
        match self {
            RealOp::Add
            | RealOp::Sub
            | RealOp::Mul
            | RealOp::Fma
            | RealOp::Difference
            | RealOp::Width
            | RealOp::FromInt
            | RealOp::Convert
            | RealOp::Ldexp
            | RealOp::Fract => Bound::Rounded,
            RealOp::PackHalf | RealOp::Dot => Bound::Either,
            RealOp::Div | RealOp::Unpack => Bound::Ulps { half_ulps: 5 },
            RealOp::InverseSqrt => Bound::Ulps { half_ulps: 4 },
            RealOp::Atan | RealOp::Atan2 => Bound::Ulps { half_ulps: if half { 2 * 5 } else { 2 * 4096 } },
            RealOp::Exp | RealOp::Exp2 => Bound::UlpsPlusTwiceX { base: if half { 1 } else { 3 } },
            RealOp::Log | RealOp::Log2 => {
                Bound::Logarithm { ulps: 3, exponent: if half { -7 } else { -21 }, strict: true }
            }
            RealOp::Sin | RealOp::Cos => Bound::Trigonometric { exponent: if half { -7 } else { -11 } },
        }
    }

    /// The rule in words.
    pub(crate) fn words(self, specification: Specification, half: bool) -> String {
        match self.bound(specification, half) {
            Bound::Rounded => "correctly rounded".into(),
            Bound::Either => EITHER.into(),
            Bound::Ulps { half_ulps } => {
                let ulps = format!("{} ULP", f64::from(half_ulps) / 2.0);
                let e = divisor_exponent(half);
                match (self, specification) {
                    (RealOp::Div | RealOp::Unpack, Specification::Vulkan) => {
                        format!("{ulps} for |y| = 0 or |y| in [2^-{e}, 2^{e}]")
                    }
                    (RealOp::Div, Specification::Wgsl) => {
                        let e = wgsl_bounds::range_exponent(half);
                        format!("{ulps} for |y| in [2^-{e}, 2^{e}]")
                    }
                    (RealOp::Atan2, Specification::Wgsl) => {
                        let e = wgsl_bounds::range_exponent(half);
                        format!("{ulps} for |x| in [2^-{e}, 2^{e}] and y finite and normal")
                    }
                    _ => ulps,
                }
            }
            Bound::UlpsPlusTwiceX { base } => format!("{base} + 2 * |x| ULP"),
            Bound::Logarithm { ulps, exponent, strict } => {
                let most = if strict { "<" } else { "<=" };
                format!("{ulps} ULP outside [0.5, 2.0], absolute error {most} 2^{exponent} inside [0.5, 2.0]")
            }
            Bound::Trigonometric { exponent } => format!("absolute error <= 2^{exponent} inside [-pi, pi]"),
        }
    }
}

/// The table's rule for `OpFDiv`, for callers that divide many numbers in `f64` and consult the
/// table only close to the ends of its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Division {
    /// Bound in ulp.
    pub ulps: f64,
    /// Exponent of the range of divisors with a stated precision: zero and magnitudes in
    /// `[2^-exponent, 2^exponent]`.
    pub exponent: i32,
}

impl Division {
    /// Rule of one of the two columns.
    pub const fn of(half: bool) -> Division {
        let Bound::Ulps { half_ulps } = RealOp::Div.bound(Specification::Vulkan, half) else {
            panic!("the bound of OpFDiv is in ULP")
        };
        Division { ulps: half_ulps as f64 / 2.0, exponent: divisor_exponent(half) }
    }
}

/// Exponent `e` of OpFDiv's range of divisors `[2^-e, 2^e]`.
pub(crate) const fn divisor_exponent(half: bool) -> i32 {
    if half { 14 } else { 126 }
}
