//! The range of a function over an interval, from its values at the ends: the same for every kind of end.

use crate::{Function, Undecided};

/// What the periodic functions need to know about the kind of end.
pub(crate) struct Landmarks<T> {
    pub(crate) zero: T,
    pub(crate) one: T,
    pub(crate) minus_one: T,
    /// Ends around half of pi.
    pub(crate) half_pi: (T, T),
    /// Ends around pi.
    pub(crate) pi: (T, T),
    pub(crate) neg: fn(&T) -> T,
}

/// An enclosure of the function over `[lo, hi]`; `at` gives one of its value at an end.
pub(crate) fn image<T: PartialOrd + Clone>(
    function: Function,
    lo: &T,
    hi: &T,
    landmarks: impl Fn() -> Landmarks<T>,
    at: impl Fn(&T) -> Result<(T, T), Undecided>,
) -> Result<(T, T), Undecided> {
    if lo == hi {
        return at(lo);
    }
    let max = |a: T, b: T| if a < b { b } else { a };
    let min = |a: T, b: T| if b < a { b } else { a };
    match function {
        Function::Sqrt
        | Function::Exp
        | Function::Exp2
        | Function::Ln
        | Function::Log2
        | Function::Asin
        | Function::Atan
        | Function::Sinh
        | Function::Tanh
        | Function::Asinh
        | Function::Acosh
        | Function::Atanh => Ok((at(lo)?.0, at(hi)?.1)),
        Function::InverseSqrt | Function::Acos => Ok((at(hi)?.0, at(lo)?.1)),
        Function::Cosh => {
            let (a, b, marks) = (at(lo)?, at(hi)?, landmarks());
            let least = if *lo <= marks.zero && marks.zero <= *hi { marks.one } else { min(a.0, b.0) };
            Ok((least, max(a.1, b.1)))
        }
        Function::Sin | Function::Cos | Function::Tan => {
            let (a, b, marks) = (at(lo)?, at(hi)?, landmarks());
            // Whether a member of the interval may lie between the ends of a landmark, or of its mirror image.
            let may_hold = |mark: &(T, T)| *lo <= mark.1 && mark.0 <= *hi;
            let mirror = |mark: &(T, T)| ((marks.neg)(&mark.1), (marks.neg)(&mark.0));
            let (crest, trough) = match function {
                Function::Sin => (may_hold(&marks.half_pi), may_hold(&mirror(&marks.half_pi))),
                Function::Cos => {
                    (*lo <= marks.zero && marks.zero <= *hi, may_hold(&marks.pi) || may_hold(&mirror(&marks.pi)))
                }
                _ => {
                    if may_hold(&marks.half_pi) || may_hold(&mirror(&marks.half_pi)) {
                        return Err(Undecided);
                    }
                    return Ok((a.0, b.1));
                }
            };
            let greatest = if crest { marks.one } else { max(a.1, b.1) };
            let least = if trough { marks.minus_one } else { min(a.0, b.0) };
            Ok((least, greatest))
        }
    }
}
