//! Bounds on lengths and directions of vectors whose components are intervals.
//!
//! `Length` inherits its precision from `sqrt(dot(x, x))`. Let `X` be the exact length of one
//! member and `F` a result of the formula. The rule permits `[X - E, X + E]`, with `E` the largest
//! `|F - X|`.
//!
//! The summands of the dot product have one sign. Each passes through `n` roundings however they
//! are associated and fused, so rounding changes the sum by a factor of at most `(1 + u)^n`.
//! Underflow in its `2 n - 1` operations moves it by at most `a = (2 n - 1) l (1 + u)^n`. Here `u`
//! is the relative distance of neighbours, which bounds an ULP and the error of a correctly rounded
//! operation, and `l` the absolute error of one operation by underflow or a flush. The root, `1.0 /
//! InverseSqrt(x)`, has a relative error of at most `(1 + 2.5 u) / (1 - 2 u) - 1`. Together
//!
//! ```text
//! E <= (1 + c) (X + h(X)) - X
//! 1 + c = (1 + u)^(n / 2) (1 + 2.5 u) / (1 - 2 u)
//! h(X)  = max(X - sqrt(max(0, X^2 - a)), sqrt(X^2 + a) - X)
//! ```
//!
//! Over an interval of lengths, `X - E` grows with `X` from `sqrt(a)` on, and is at least `-(1 + 2
//! c) sqrt(a)` below. `X + E` grows up to `sqrt(a)` and is convex from there. The ends of the
//! interval and `sqrt(a)` therefore give the extremes.
//!
//! `Distance` rounds each difference once more. Reading operands or differences as zeros moves `X`
//! by at most `sqrt(n) l` each time.

use crate::fast_path::{self, Range};
use crate::residual::{RoundedReal, value};
use crate::ty::Fmt;
use assay_precision::Environment;
use smallvec::SmallVec;

/// Ends of the interval of a component.
type Part = (f64, f64);

/// Error of `InverseSqrt` in ULP; that of `OpFDiv` follows.
const ROOT: f64 = 2.0;
const QUOTIENT: f64 = 2.5;
/// Relative error that covers the roundings of `f64` in this module.
const SLACK: f64 = 1.0 / (1u64 << 44) as f64;

/// The bounds in one environment.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct Lengths {
    fmt: Fmt,
    /// Relative distance of neighbours. The text can be read to round formulas as declared or not;
    /// either neighbour covers both readings.
    unit: f64,
    /// Absolute error of one operation by underflow or a flush.
    lost: f64,
    /// Set if nothing is required of the root of zero.
    zero_is_open: bool,
}

/// Permitted lengths.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct Length {
    pub(in crate::run) range: Range,
    /// Set if the operand of the root may be zero, for which one reading requires nothing.
    pub(in crate::run) may_be_of_zero: bool,
}

impl Lengths {
    pub(in crate::run) fn new(fmt: Fmt, env: &Environment) -> Lengths {
        let unit = 2f64.powi(-(fmt.format().fraction_bits as i32));
        Lengths { fmt, unit, lost: fast_path::errors(fmt, env).1, zero_is_open: env.zero_unspecified }
    }

    /// Bounds `Length`; `None` if the sum may overflow.
    pub(in crate::run) fn length(&self, x: &[Part]) -> Option<Length> {
        self.rooted(x, 1.0, if self.may_be_flushed(x) { 1.0 } else { 0.0 })
    }

    /// Bounds `Distance`, which is `Length(x - y)`; `None` if the sum may overflow.
    pub(in crate::run) fn distance(&self, x: &[Part], y: &[Part]) -> Option<Length> {
        let difference = |(x, y): (&Part, &Part)| match x.0 == x.1 && x == y {
            true => (0.0, 0.0),
            false => ((x.0 - y.1).next_down(), (x.1 - y.0).next_up()),
        };
        let differences: SmallVec<[Part; 4]> = x.iter().zip(y).map(difference).collect();
        let times = [x, y, &differences].into_iter().filter(|parts| self.may_be_flushed(parts)).count();
        self.rooted(&differences, 1.0 + self.unit, times as f64)
    }

    /// Returns true if a component may be below the smallest normal number and is not exactly zero.
    fn may_be_flushed(&self, parts: &[Part]) -> bool {
        let edge = value(self.fmt, self.fmt.format().min_normal());
        parts.iter().any(|&(lo, hi)| (lo, hi) != (0.0, 0.0) && lo < edge && hi > -edge)
    }

    /// Bounds the length of components that carry a relative error of `more - 1`, after up to
    /// `times` flushes of the vector.
    fn rooted(&self, parts: &[Part], more: f64, times: f64) -> Option<Length> {
        if parts.iter().all(|part| *part == (0.0, 0.0)) && times == 0.0 {
            return (!self.zero_is_open).then_some(Length { range: (-1, 0), may_be_of_zero: true });
        }
        let n = parts.len() as f64;
        let (least, most) = squares(parts);
        let growth = (1.0 + self.unit).powf(n / 2.0) * (1.0 + QUOTIENT * self.unit) / (1.0 - ROOT * self.unit);
        let factor = growth * more - 1.0 + SLACK;
        let moved = n.sqrt() * self.lost * times * (1.0 + factor);
        let lost = self.lost_of_a_sum(n);
        let edge = lost.sqrt() * (1.0 + SLACK);
        let lo = (least.sqrt() * (1.0 - SLACK) - moved).max(0.0);
        let hi = (most.sqrt() + moved) * (1.0 + SLACK);
        if (hi * (1.0 + factor)).powi(2) + lost >= self.largest() {
            return None;
        }
        let underflow = |x: f64| (x - (x * x - lost).max(0.0).sqrt()).max((x * x + lost).sqrt() - x);
        let error = |x: f64| factor * x + (1.0 + factor) * underflow(x) + x * SLACK;
        let below = if lo > edge { lo - error(lo) } else { -(1.0 + 2.0 * factor) * edge };
        let turn = lo.max(edge).min(hi);
        let above = (hi + error(hi)).max(turn + error(turn));
        let may_be_of_zero = lo <= edge * (1.0 + factor);
        if may_be_of_zero && self.zero_is_open {
            return None;
        }
        Some(Length { range: self.between(below, above)?, may_be_of_zero })
    }

    /// Bounds a component of `Normalize`, `x * InverseSqrt(dot(x, x))`; `None` if the sum may be
    /// near zero or may overflow.
    pub(in crate::run) fn direction(&self, parts: &[Part], component: usize) -> Option<Range> {
        let n = parts.len() as f64;
        let (least, most) = squares(parts);
        let lost = self.lost_of_a_sum(n);
        let rounded = (1.0 + self.unit).powf(n);
        if least <= 4.0 * lost || most * rounded + lost >= self.largest() {
            return None;
        }
        let shrunk = (1.0 - self.unit).powf(n) - lost / least;
        let factor = (1.0 + ROOT * self.unit) * (1.0 + self.unit) / shrunk.sqrt() - 1.0 + SLACK;
        // x / sqrt(x^2 + r) grows with x, and its magnitude shrinks as the sum r of the other
        // squares grows.
        let mut others: SmallVec<[Part; 4]> = parts.into();
        let (x, y) = others.remove(component);
        let (few, many) = squares(&others);
        let exact = |x: f64, rest: f64| if x == 0.0 { 0.0 } else { x / (x * x + rest).sqrt() };
        let lo = exact(x, if x < 0.0 { few } else { many });
        let hi = exact(y, if y > 0.0 { few } else { many });
        // An operand, or the product, may be read as zero.
        let moved = self.lost * (1.0 + 1.0 / least.sqrt()) * (1.0 + factor);
        let error = |x: f64| x.abs() * factor + moved;
        self.between(lo - error(lo), hi + error(hi))
    }

    /// Bound on the absolute error that underflow and flushes cause in a sum of `n` squares.
    fn lost_of_a_sum(&self, n: f64) -> f64 {
        (2.0 * n - 1.0) * self.lost * (1.0 + self.unit).powf(n) * (1.0 + SLACK)
    }

    fn largest(&self) -> f64 {
        value(self.fmt, self.fmt.format().max_finite())
    }

    /// The values of the format between two numbers; `None` if there are none or an end is
    /// infinite.
    fn between(&self, lo: f64, hi: f64) -> Option<Range> {
        let format = self.fmt.format();
        let (lo, hi) = (RoundedReal::exact(lo).neighbours(self.fmt).1, RoundedReal::exact(hi).neighbours(self.fmt).0);
        (lo > format.neg_infinity() && hi < format.infinity() && lo <= hi).then_some((lo, hi))
    }
}

/// Bounds on the sum of the squares of the components.
fn squares(parts: &[Part]) -> (f64, f64) {
    parts.iter().fold((0.0, 0.0), |(least, most), &(lo, hi)| {
        let nearest = if lo <= 0.0 && hi >= 0.0 { 0.0 } else { lo.abs().min(hi.abs()) };
        let farthest = lo.abs().max(hi.abs());
        let sum = (least + nearest * nearest, most + farthest * farthest);
        (sum.0 * (1.0 - SLACK), sum.1 * (1.0 + SLACK))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_precision::{Call, Modes, Op, Scalar, Shape};

    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            self.0 >> 20
        }
    }

    /// The bounds contain the permitted results of every member.
    #[test]
    fn bounds_hold_what_is_permitted_of_members() {
        let rounds = if std::env::var_os("ASSAY_FULL").is_some() { 50 } else { 5 };
        let mut random = Random(7);
        let mut decided = [0; 3];
        for fmt in [Fmt::F32, Fmt::F16] {
            let format = fmt.format();
            for names in [&[][..], &["DenormPreserve"], &["RoundingModeRTE"]] {
                let modes = names.iter().fold(Modes::default(), |m, name| m.with(name).unwrap());
                for (k, op) in [Op::Length, Op::Distance, Op::Normalize].into_iter().enumerate() {
                    let call = Call::new(op, Scalar::Float(format), Shape::Vector(3), None, modes).unwrap();
                    let reference = call.reference();
                    let lengths = Lengths::new(fmt, &reference.environment(0));
                    let slots = call.operand_slots().count();
                    for round in 0..rounds {
                        // Around one, near zero, near the smallest normal and its root, and
                        // anywhere.
                        let middle = match round % 5 {
                            0 => format.rank_of_one(),
                            1 => 0,
                            2 => format.min_normal(),
                            3 => format.rank_of_one() / 2,
                            _ => (random.next() % (format.rank_of_one() as u64 * 5 / 4)) as i64,
                        };
                        let width = 1i64 << (random.next() % u64::from(format.fraction_bits));
                        let boxes: Vec<(i64, i64)> = (0..slots)
                            .map(|_| {
                                let lo = middle + (random.next() % (4 * width as u64)) as i64 - 2 * width;
                                let hi = lo + (random.next() % width as u64) as i64;
                                if random.next().is_multiple_of(2) { (lo, hi) } else { (-1 - hi, -1 - lo) }
                            })
                            .collect();
                        let parts: Vec<Part> = boxes.iter().map(|b| (value(fmt, b.0), value(fmt, b.1))).collect();
                        let found = match op {
                            Op::Length => lengths.length(&parts).map(|length| length.range),
                            Op::Distance => lengths.distance(&parts[..3], &parts[3..]).map(|length| length.range),
                            _ => lengths.direction(&parts, 1),
                        };
                        let Some((lo, hi)) = found else { continue };
                        decided[k] += 1;
                        for member in 0..3 {
                            let pick = |(lo, hi): &(i64, i64), random: &mut Random| match member {
                                0 => *lo,
                                1 => *hi,
                                _ => lo + (random.next() % (hi - lo + 1) as u64) as i64,
                            };
                            let x: Vec<u64> = boxes.iter().map(|b| format.bits(pick(b, &mut random))).collect();
                            let slot = usize::from(op == Op::Normalize);
                            let Some(hull) = reference.permitted(slot, &x).usual.hull() else { continue };
                            let zero = hull.lo <= 0 && hull.hi >= -1;
                            let (lo, hi) = if zero { (lo.min(-1), hi.max(0)) } else { (lo, hi) };
                            assert!(lo <= hull.lo && hull.hi <= hi, "{op} {names:?} {x:x?}: {hull:?} in {lo}..{hi}");
                        }
                    }
                }
            }
        }
        assert!(decided.iter().all(|count| 2 * *count > rounds), "{decided:?}");
    }

    /// The bound of a wide set is about as wide as the set; the bound of one member is at most
    /// three times as wide as its permitted set.
    #[test]
    fn bounds_are_not_much_wider_than_what_is_permitted() {
        let call = Call::new(Op::Length, Scalar::Float(assay_float::F32), Shape::Vector(3), None, Modes::default());
        let reference = call.unwrap().reference();
        let lengths = Lengths::new(Fmt::F32, &reference.environment(0));
        let of = |parts: &[Part]| lengths.length(parts).unwrap().range;
        for x in [[1.0f32, 2.0, 3.0], [0.1, -7.5, 1e-3], [1e-9, 1e9, 5.0]] {
            let (lo, hi) = of(&x.map(|x| (x.into(), x.into())));
            let hull = reference.permitted(0, &x.map(|x| u64::from(x.to_bits()))).usual.hull().unwrap();
            assert!(hi - lo <= 3 * (hull.hi - hull.lo), "{x:?}: {} for {}", hi - lo, hull.hi - hull.lo);
        }
        let (lo, hi) = of(&[(3.0, 6.0), (0.0, 0.0), (0.0, 0.0)]);
        assert!(value(Fmt::F32, lo) > 2.999 && value(Fmt::F32, hi) < 6.001);
        assert_eq!(of(&[(0.0, 0.0); 3]), (-1, 0));
    }
}
