//! Lengths and directions of vectors that are sets.
//!
//! `Length` inherits from `Sqrt(dot(x, x))`: `X` being the exact length of one member and `F` what the formula gives for it, the rule
//! permits `[X - E, X + E]` with `E` the largest `|F - X|`. All summands of the dot product have one sign, so that however they are
//! associated and fused, rounding them leaves it within a factor `(1 + u)^n` of what it is, and underflow moves it by at most
//! `a = (2 n - 1) l (1 + u)^n` (`u` the relative distance of neighbours, which is at least an ULP and the error of a correctly
//! rounded operation; `l` what one may be off by underflow or a flush). The root, `1.0 / InverseSqrt(x)`, is within `(1 + 2.5 u) / (1 - 2 u)` of what it
//! is. Together
//!
//! `E <= (1 + c) (X + h(X)) - X`, with `1 + c = (1 + u)^(n / 2) (1 + 2.5 u) / (1 - 2 u)` and `h(X)` the larger of
//! `X - sqrt(max(0, X^2 - a))` and `sqrt(X^2 + a) - X`.
//!
//! `X - E` grows with `X` from `sqrt(a)` on, and is no less than `-(1 + 2 c) sqrt(a)` before; `X + E` grows up to `sqrt(a)` and is convex
//! from there: the ends of what `X` may be tell. `Distance` rounds each difference once more. Reading operands or differences as zeros moves
//! `X` by at most `sqrt(n) l` each time.

use crate::direct::{self, Range};
use crate::round::{Real, value};
use crate::ty::Fmt;
use assay_precision::Environment;
use smallvec::SmallVec;

/// What a component lies between.
type Part = (f64, f64);

/// ULP that `InverseSqrt` and `OpFDiv` may be off.
const ROOT: f64 = 2.0;
const QUOTIENT: f64 = 2.5;
/// More than what `f64` itself loses here.
const SLACK: f64 = 1.0 / (1u64 << 44) as f64;

/// The bounds in an environment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    fmt: Fmt,
    /// Relative distance of neighbours. Whether a formula rounds as declared has two readings; either neighbour covers both.
    unit: f64,
    /// What an operation may be off by underflow or a flush.
    lost: f64,
    /// Whether nothing is said of the root of zero.
    zero_is_open: bool,
}

/// The permitted lengths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    pub(super) range: Range,
    /// Whether the root may be taken of zero, of which a reading says nothing.
    pub(super) may_be_of_zero: bool,
}

impl Lengths {
    pub(super) fn new(fmt: Fmt, env: &Environment) -> Lengths {
        let unit = 2f64.powi(-(fmt.format().fraction_bits as i32));
        Lengths { fmt, unit, lost: direct::errors(fmt, env).1, zero_is_open: env.zero_unspecified }
    }

    /// `Length`; `None` where the sum may overflow.
    pub(super) fn length(&self, x: &[Part]) -> Option<Length> {
        self.rooted(x, 1.0, if self.may_be_flushed(x) { 1.0 } else { 0.0 })
    }

    /// `Distance`, which is `Length(x - y)`; `None` where the sum may overflow.
    pub(super) fn distance(&self, x: &[Part], y: &[Part]) -> Option<Length> {
        let difference = |(x, y): (&Part, &Part)| match x.0 == x.1 && x == y {
            true => (0.0, 0.0),
            false => ((x.0 - y.1).next_down(), (x.1 - y.0).next_up()),
        };
        let differences: SmallVec<[Part; 4]> = x.iter().zip(y).map(difference).collect();
        let times = [x, y, &differences].into_iter().filter(|parts| self.may_be_flushed(parts)).count();
        self.rooted(&differences, 1.0 + self.unit, times as f64)
    }

    /// Whether a component may be less than the smallest normal, and is not zero.
    fn may_be_flushed(&self, parts: &[Part]) -> bool {
        let edge = value(self.fmt, self.fmt.format().min_normal());
        parts.iter().any(|&(lo, hi)| (lo, hi) != (0.0, 0.0) && lo < edge && hi > -edge)
    }

    /// The length of what is within a factor of these, and may have been moved so many times by what is read as zero.
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

    /// A component of `Normalize`, `x * InverseSqrt(dot(x, x))`; `None` where the sum may be near zero or overflow.
    pub(super) fn direction(&self, parts: &[Part], component: usize) -> Option<Range> {
        let n = parts.len() as f64;
        let (least, most) = squares(parts);
        let lost = self.lost_of_a_sum(n);
        let rounded = (1.0 + self.unit).powf(n);
        if least <= 4.0 * lost || most * rounded + lost >= self.largest() {
            return None;
        }
        let shrunk = (1.0 - self.unit).powf(n) - lost / least;
        let factor = (1.0 + ROOT * self.unit) * (1.0 + self.unit) / shrunk.sqrt() - 1.0 + SLACK;
        // x / sqrt(x^2 + r) grows with x, and its magnitude shrinks as the other squares' sum r grows.
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

    /// What a sum of so many squares may be off by that.
    fn lost_of_a_sum(&self, n: f64) -> f64 {
        (2.0 * n - 1.0) * self.lost * (1.0 + self.unit).powf(n) * (1.0 + SLACK)
    }

    fn largest(&self) -> f64 {
        value(self.fmt, self.fmt.format().max_finite())
    }

    /// The values between two numbers, if there are any and they are finite.
    fn between(&self, lo: f64, hi: f64) -> Option<Range> {
        let format = self.fmt.format();
        let (lo, hi) = (Real::exact(lo).neighbours(self.fmt).1, Real::exact(hi).neighbours(self.fmt).0);
        (lo > format.neg_infinity() && hi < format.infinity() && lo <= hi).then_some((lo, hi))
    }
}

/// What the sum of squares of such components lies between.
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

    /// What is permitted of any members is within the bounds, and the bounds are not much more than that for one.
    #[test]
    fn bounds_hold_what_is_permitted_of_members() {
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
                    for round in 0..10 {
                        // Around one, near zero, near the smallest normal and its root, and anywhere.
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
        assert!(decided.iter().all(|count| *count > 15), "{decided:?}");
    }

    /// A set as wide as it is comes out about as wide, and of one member not much wider than what is permitted.
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
