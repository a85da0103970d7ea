//! Operations that are real functions, and their kinds of bounds.

/// Operation that is judged by its distance from a real number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RealOp {
    Add,
    Sub,
    Mul,
    Div,
    /// A normalised integer, operand 0, divided by its largest value, operand 1.
    Unpack,
    Fma,
    /// `operand 1 - operand 0`, a derivative.
    Difference,
    /// `|operand 1 - operand 0| + |operand 2 - operand 0|`.
    Width,
    FromInt,
    Convert,
    PackHalf,
    /// Sum of the products of the components, rounded once.
    Dot,
    Ldexp,
    Fract,
    Exp,
    Exp2,
    Log,
    Log2,
    InverseSqrt,
    Sin,
    Cos,
    Atan,
    Atan2,
}

/// Bound on the distance of a result from the exact value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    /// Correctly rounded, in the declared mode if there is one.
    Rounded,
    /// Correctly rounded with implementation-defined rounding mode: either neighbour, even if a
    /// mode is declared.
    Either,
    /// `half_ulps / 2` ulp.
    Ulps { half_ulps: u32 },
    /// `base + 2 * |x|` ulp.
    UlpsPlusTwiceX { base: u32 },
    /// `ulps` ulp outside `[0.5, 2.0]`; inside, an absolute error of at most `2^exponent`, or less
    /// than that if `strict`.
    Logarithm { ulps: u32, exponent: i32, strict: bool },
    /// Absolute error of at most `2^exponent` for `x` in `[-pi, pi]`; nothing is required
    /// elsewhere.
    Trigonometric { exponent: i32 },
}
