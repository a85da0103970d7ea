//! Bounds of WGSL's table.

use crate::real_op::{Bound, RealOp};

/// **The** bound of an operation, from "Accuracy of Concrete Floating Point Expressions". `half`
/// selects the column.
pub(crate) const fn bound(real: RealOp, half: bool) -> Bound {
    match real {
        RealOp::Add
        | RealOp::Sub
        | RealOp::Mul
        // `x * y + z` as one step of another expression; `fma` itself is inherited.
        | RealOp::Fma
        | RealOp::FromInt
        | RealOp::Convert
        | RealOp::Ldexp
        // Inherited from `x - floor(x)`: the floor is exact, the difference correctly rounded.
        | RealOp::Fract
        // WGSL states no accuracy for derivatives; their rows do not use a bound.
        | RealOp::Difference
        | RealOp::Width => Bound::Rounded,
        RealOp::PackHalf
        // For bfloat16, which WGSL does not have.
        | RealOp::Dot => Bound::Either,
        RealOp::Div => Bound::Ulps { half_ulps: 5 },
        RealOp::Unpack => Bound::Ulps { half_ulps: 2 * 3 },
        RealOp::InverseSqrt => Bound::Ulps { half_ulps: 2 * 2 },
        RealOp::Atan | RealOp::Atan2 => Bound::Ulps { half_ulps: if half { 2 * 5 } else { 2 * 4096 } },
        RealOp::Exp | RealOp::Exp2 => Bound::UlpsPlusTwiceX { base: if half { 1 } else { 3 } },
        RealOp::Log | RealOp::Log2 => Bound::Logarithm { ulps: 3, exponent: if half { -7 } else { -21 }, strict: false },
        RealOp::Sin | RealOp::Cos => Bound::Trigonometric { exponent: if half { -7 } else { -11 } },
    }
}

/// Exponent `e` of the range `[2^-e, 2^e]` in which `|y|` of `x / y` and `|x|` of `atan2(y, x)`
/// have a stated accuracy.
pub(crate) const fn range_exponent(half: bool) -> i32 {
    if half { 14 } else { 126 }
}
