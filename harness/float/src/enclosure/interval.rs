//! Interval arithmetic, generic over the type of the ends.
//!
//! An end may be *open*: not a member itself. A rounded end knows on which side of it the exact
//! number lies. A sum of a bound and a minute number (`1 + 2^-100` in 53 bits) can then be rounded
//! to a format without more precision, and so can functions that approach a value without reaching
//! it.

use std::cmp::Ordering;

/// Numbers that ends consist of. Each operation returns both neighbours of the exact result, equal
/// if and only if it is exact.
pub(crate) trait Number: Clone + PartialOrd {
    /// Parameter of the operations: a precision.
    type Context: Copy;

    fn zero() -> Self;
    fn sign(&self) -> Ordering;
    fn negated(&self) -> Self;
    fn add(&self, other: &Self, context: Self::Context) -> (Self, Self);
    fn mul(&self, other: &Self, context: Self::Context) -> (Self, Self);
    /// Quotient by a number that is not zero.
    fn div(&self, other: &Self, context: Self::Context) -> (Self, Self);
}

/// One end of an interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End<T> {
    pub(crate) value: T,
    /// Set if the value itself is excluded.
    pub(crate) open: bool,
}

/// All numbers between two ends. A point has equal, closed ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval<T> {
    pub(crate) lo: End<T>,
    pub(crate) hi: End<T>,
}

/// Operation on ends.
type Operation<T> = fn(&T, &T, <T as Number>::Context) -> (T, T);

impl<T: Number> End<T> {
    pub(crate) fn closed(value: T) -> End<T> {
        End { value, open: false }
    }

    fn negated(&self) -> End<T> {
        End { value: self.value.negated(), open: self.open }
    }

    /// Returns true for a zero that is a member: every product with it attains zero.
    fn is_attained_zero(&self) -> bool {
        self.value.sign().is_eq() && !self.open
    }

    /// Lesser end; for equal ends `tie` decides about openness.
    fn lesser(&self, other: &End<T>, tie: fn(bool, bool) -> bool) -> End<T> {
        match self.value.partial_cmp(&other.value) {
            Some(Ordering::Less) => self.clone(),
            Some(Ordering::Equal) => End { value: self.value.clone(), open: tie(self.open, other.open) },
            _ => other.clone(),
        }
    }

    /// Greater end; for equal ends `tie` decides about openness.
    fn greater(&self, other: &End<T>, tie: fn(bool, bool) -> bool) -> End<T> {
        match self.value.partial_cmp(&other.value) {
            Some(Ordering::Greater) => self.clone(),
            Some(Ordering::Equal) => End { value: self.value.clone(), open: tie(self.open, other.open) },
            _ => other.clone(),
        }
    }
}

fn both(a: bool, b: bool) -> bool {
    a && b
}

fn either(a: bool, b: bool) -> bool {
    a || b
}

/// Returns true if the sum of two ends is open, apart from rounding.
fn sum_open<T: Number>(a: &End<T>, b: &End<T>) -> bool {
    a.open || b.open
}

/// Returns true if the product of two ends is open, apart from rounding.
fn product_open<T: Number>(a: &End<T>, b: &End<T>) -> bool {
    (a.open || b.open) && !a.is_attained_zero() && !b.is_attained_zero()
}

/// Returns true if the quotient of two ends is open, apart from rounding.
fn quotient_open<T: Number>(a: &End<T>, b: &End<T>) -> bool {
    (a.open || b.open) && !a.is_attained_zero()
}

impl<T: Number> Interval<T> {
    pub(crate) fn point(value: T) -> Interval<T> {
        Interval { lo: End::closed(value.clone()), hi: End::closed(value) }
    }

    /// Interval between the neighbours of a number, or the number as a point. Neighbours are never
    /// the number itself.
    #[inline]
    pub(crate) fn around((lo, hi): (T, T)) -> Interval<T> {
        let open = lo != hi;
        Interval { lo: End { value: lo, open }, hi: End { value: hi, open } }
    }

    #[inline]
    pub(crate) fn is_point(&self) -> bool {
        self.lo.value == self.hi.value
    }

    /// Returns true if zero lies between the ends or is one of them.
    pub(crate) fn meets_zero(&self) -> bool {
        self.lo.value.sign().is_le() && self.hi.value.sign().is_ge()
    }

    #[inline]
    pub(crate) fn neg(&self) -> Interval<T> {
        Interval { lo: self.hi.negated(), hi: self.lo.negated() }
    }

    pub(crate) fn abs(&self) -> Interval<T> {
        match (self.lo.value.sign().is_ge(), self.hi.value.sign().is_le()) {
            (true, _) => self.clone(),
            (_, true) => self.neg(),
            _ => Interval { lo: End::closed(T::zero()), hi: self.lo.negated().greater(&self.hi, both) },
        }
    }

    pub(crate) fn hull(&self, other: &Interval<T>) -> Interval<T> {
        Interval { lo: self.lo.lesser(&other.lo, both), hi: self.hi.greater(&other.hi, both) }
    }

    pub(crate) fn min(&self, other: &Interval<T>) -> Interval<T> {
        Interval { lo: self.lo.lesser(&other.lo, both), hi: self.hi.lesser(&other.hi, either) }
    }

    pub(crate) fn max(&self, other: &Interval<T>) -> Interval<T> {
        Interval { lo: self.lo.greater(&other.lo, either), hi: self.hi.greater(&other.hi, both) }
    }

    /// Interval between the results at two pairs of ends. One evaluation suffices if both operands
    /// are points.
    #[inline]
    fn corners(
        operation: Operation<T>,
        open: fn(&End<T>, &End<T>) -> bool,
        low: (&End<T>, &End<T>),
        high: (&End<T>, &End<T>),
        context: T::Context,
    ) -> Interval<T> {
        let first = operation(&low.0.value, &low.1.value, context);
        let inexact = first.0 != first.1;
        if low.0.value == high.0.value && low.1.value == high.1.value {
            return Interval::around(first);
        }
        let second = operation(&high.0.value, &high.1.value, context);
        Interval {
            lo: End { value: first.0, open: inexact || open(low.0, low.1) },
            hi: End { open: second.0 != second.1 || open(high.0, high.1), value: second.1 },
        }
    }

    #[inline]
    pub(crate) fn add(&self, other: &Interval<T>, context: T::Context) -> Interval<T> {
        Self::corners(T::add, sum_open, (&self.lo, &other.lo), (&self.hi, &other.hi), context)
    }

    #[inline]
    pub(crate) fn sub(&self, other: &Interval<T>, context: T::Context) -> Interval<T> {
        self.add(&other.neg(), context)
    }

    #[inline]
    pub(crate) fn mul(&self, other: &Interval<T>, context: T::Context) -> Interval<T> {
        let (a, b) = (self, other);
        let mul = |low, high| Self::corners(T::mul, product_open, low, high, context);
        // Each pair of flags: no negative member, no positive member.
        let (a_pos, a_neg) = (a.lo.value.sign().is_ge(), a.hi.value.sign().is_le());
        let (b_pos, b_neg) = (b.lo.value.sign().is_ge(), b.hi.value.sign().is_le());
        match (a_pos, a_neg, b_pos, b_neg) {
            (true, _, true, _) => mul((&a.lo, &b.lo), (&a.hi, &b.hi)),
            (true, _, _, true) => mul((&a.hi, &b.lo), (&a.lo, &b.hi)),
            (_, true, true, _) => mul((&a.lo, &b.hi), (&a.hi, &b.lo)),
            (_, true, _, true) => mul((&a.hi, &b.hi), (&a.lo, &b.lo)),
            (true, ..) => mul((&a.hi, &b.lo), (&a.hi, &b.hi)),
            (_, true, ..) => mul((&a.lo, &b.hi), (&a.lo, &b.lo)),
            (_, _, true, _) => mul((&a.lo, &b.hi), (&a.hi, &b.hi)),
            (_, _, _, true) => mul((&a.hi, &b.lo), (&a.lo, &b.lo)),
            _ => mul((&a.lo, &b.hi), (&a.lo, &b.lo)).hull(&mul((&a.hi, &b.lo), (&a.hi, &b.hi))),
        }
    }

    /// Quotient; `None` if the divisor contains zero.
    #[inline]
    pub(crate) fn div(&self, other: &Interval<T>, context: T::Context) -> Option<Interval<T>> {
        let (a, b) = (self, other);
        let div = |low, high| Some(Self::corners(T::div, quotient_open, low, high, context));
        match (b.lo.value.sign(), b.hi.value.sign()) {
            (Ordering::Greater, _) if a.lo.value.sign().is_ge() => div((&a.lo, &b.hi), (&a.hi, &b.lo)),
            (Ordering::Greater, _) if a.hi.value.sign().is_le() => div((&a.lo, &b.lo), (&a.hi, &b.hi)),
            (Ordering::Greater, _) => div((&a.lo, &b.lo), (&a.hi, &b.lo)),
            (_, Ordering::Less) => self.neg().div(&other.neg(), context),
            _ => None,
        }
    }

    /// Order of all members of one interval and all members of the other, if it is the same for
    /// all.
    #[inline]
    pub(crate) fn compare(&self, other: &Interval<T>) -> Option<Ordering> {
        let below = |a: &End<T>, b: &End<T>| a.value < b.value || a.value == b.value && (a.open || b.open);
        if self.is_point() && other.is_point() {
            self.lo.value.partial_cmp(&other.lo.value)
        } else if below(&self.hi, &other.lo) {
            Some(Ordering::Less)
        } else if below(&other.hi, &self.lo) {
            Some(Ordering::Greater)
        } else {
            None
        }
    }
}
