//! Range of a function over an interval, from its values at the ends and at its extremes.

use super::interval::{End, Interval, Number};
use crate::{Function, Undecided};

/// Numbers that the non-monotone functions need, in the type of the ends.
pub(crate) struct RangeConstants<T> {
    pub(crate) one: T,
    /// Enclosure of half of pi.
    pub(crate) half_pi: (T, T),
    /// Enclosure of pi.
    pub(crate) pi: (T, T),
}

/// Enclosure of a function over an interval. `at` returns both neighbours of its value at an end,
/// or the value twice.
pub(crate) fn function_range<T: Number>(
    function: Function,
    x: &Interval<T>,
    landmarks: impl Fn() -> RangeConstants<T>,
    at: impl Fn(&T) -> Result<(T, T), Undecided>,
) -> Result<Interval<T>, Undecided> {
    if x.is_point() {
        return at(&x.lo.value).map(Interval::around);
    }
    // Value at an end, open if the end is: every function is strictly monotone between its
    // extremes.
    let value = |end: &End<T>| {
        let mut value = Interval::around(at(&end.value)?);
        value.lo.open |= end.open;
        value.hi.open |= end.open;
        Ok(value)
    };
    let (first, last) = (value(&x.lo)?, value(&x.hi)?);
    // Returns true if a member of the interval may lie between the bounds of a landmark.
    let may_hold = |mark: &(T, T)| x.lo.value <= mark.1 && mark.0 <= x.hi.value;
    let mirror = |mark: &(T, T)| (mark.1.negated(), mark.0.negated());
    let ends = first.hull(&last);
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
        | Function::Atanh => Ok(Interval { lo: first.lo, hi: last.hi }),
        Function::InverseSqrt | Function::Acos => Ok(Interval { lo: last.lo, hi: first.hi }),
        Function::Cosh if x.meets_zero() => Ok(ends.hull(&Interval::point(landmarks().one))),
        Function::Cosh => Ok(ends),
        Function::Sin => {
            let marks = landmarks();
            Ok(with_extremes(ends, may_hold(&marks.half_pi), may_hold(&mirror(&marks.half_pi)), marks.one))
        }
        Function::Cos => {
            let marks = landmarks();
            let trough = may_hold(&marks.pi) || may_hold(&mirror(&marks.pi));
            Ok(with_extremes(ends, x.meets_zero(), trough, marks.one))
        }
        Function::Tan => {
            let marks = landmarks();
            if may_hold(&marks.half_pi) || may_hold(&mirror(&marks.half_pi)) {
                return Err(Undecided);
            }
            Ok(Interval { lo: first.lo, hi: last.hi })
        }
    }
}

/// The range with the extremes 1 and -1, if it may contain them.
fn with_extremes<T: Number>(ends: Interval<T>, crest: bool, trough: bool, one: T) -> Interval<T> {
    let ends = if trough { ends.hull(&Interval::point(one.negated())) } else { ends };
    if crest { ends.hull(&Interval::point(one)) } else { ends }
}
