//! Quadratic filter for ordered sweeps: interpolation of a smooth function over consecutive
//! operands.
//!
//! # Method
//!
//! A group is [`LANES`] = 128 consecutive `f32` operands `x0, x0 + s, ..` of one binade, `s` being
//! the spacing. The filter interpolates the function `f` by the quadratic polynomial `p` through
//! its values at three *knots*: the operands 0, `h` and `2h` after the first, `h = 128 s` (Newton's
//! forward differences; de Boor, *A Practical Guide to Splines*, chapter 1). A result then costs a
//! few `f32` operations instead of an evaluation of `f`, and a group costs one division: its
//! greatest error over its bound is at least every margin of it.
//!
//! # Bounds
//!
//! *Remainder.* The operands of the group lie between the first two knots. With `t = (x - x0) / h`,
//! `0 <= t <= 1`, there is a `y` between the first and the third knot with
//!
//! ```text
//! f(x) - p(x) = f'''(y) (x - x0) (x - x0 - h) (x - x0 - 2h) / 6 = f'''(y) t (t - 1) (t - 2) h^3 / 6
//! |f(x) - p(x)| <= D h^3 / 15.588,   D >= |f'''(y)| for all y from x0 to x0 + 2h
//! ```
//!
//! `|t (t - 1) (t - 2)|` is greatest on `[0, 1]` for `t = 1 - 1 / sqrt(3)`, where it is `2 / (3
//! sqrt(3)) < 0.38491`, and `6 / 0.38491 > 15.588`. All `y` have one sign, because the knots lie in
//! one binade or at its end. [`third_derivative`] gives `D`. The code divides by 15.5, which is
//! 0.5 % more than required. This covers the relative error of the computed `D`, less than `2^-40`:
//! that of the functions' values at the knots, `2^-46`, times the condition number of the
//! expression, at most 4, and a few roundings. Differences such as `1 - x^2` have at most one
//! rounding, because the square of a number of 24 bits is exact in `f64`.
//!
//! *Errors at the knots.* Errors `e` of the three values change the polynomial by at most `1.25
//! max(e)`: the sum of the magnitudes of the Lagrange polynomials of the knots 0, 1 and 2 is
//!
//! ```text
//! (1 - t) (2 - t) / 2 + t (2 - t) + t (1 - t) / 2 = 1 + t - t^2 <= 5/4   on [0, 1]
//! ```
//!
//! The coefficients are computed in `f64`. With `u = 2^-53`, their roundings change the polynomial
//! by less than `4 u` of the largest of the three values: `2 u` by the slope and `u` by the second
//! difference. The stated errors contain that: they are at least `2^-47` of the value, `64 u`, of
//! which the evaluation needs `8 u` ([`assay_float::f64_kernels`]) and a few roundings.
//!
//! *Evaluation in `f32`.* The roundings contribute [`ROUNDINGS`] times the sum of the terms'
//! magnitudes, and [`ROUNDED`] times the error itself. Both are derived at these constants.
//!
//! The permitted error must hold for each operand of the group. Bounds in ulp, and constant ones,
//! are monotone between the ends of a group apart from the steps of the ulp, so that the smaller of
//! the two ends serves if the ends agree within [`RELATIVE_EXCESS`]. A bound that the function
//! inherits from a formula is jagged: it changes from one operand to the next with the roundings
//! inside the formula. For these functions [`inner_bound::visit_group_bound`] gives one bound for
//! the whole group, and the few operands whose results lie too far from the polynomial are
//! evaluated one by one.
//!
//! # Limits
//!
//! As in [`crate::simd`], a margin from here is never less than the certified one. A group that
//! contains anything special (a margin greater than the greatest so far, a special result, the end
//! of a domain, an end of a binade within the knots, a step of the ulp) is not decided here.

use super::{
    CERTAIN, Filter, GroupCounts, MarginRule, SpecialResults, named_operand, ordered::GroupVerdict, visit_discrete,
};
use crate::{
    Op,
    bulk::simd::{
        LaneBounds,
        arithmetic::{LANES, power_of_two, vectorised},
        inner_bound,
        unary::{FillLanes, UnaryOutcome, UnaryVisitor},
    },
    discrete_op::DiscreteOp,
    result_slot::ResultRule,
};

/// Groups of [`LANES`] operands in one [`OperandBlock`].
const GROUPS: usize = 64;

/// Greatest number of operands in one [`OperandBlock`].
pub(crate) const BLOCK: usize = GROUPS * LANES;

/// Number of operands from one knot to the next.
const WIDTH: u32 = LANES as u32;

/// Bound on the rounding errors of the polynomial in `f32`, relative to the sum of its terms'
/// magnitudes.
///
/// The computed distance is `(got - base) - (a + i (b + i c))`, scaled by a power of two. A term of
/// the polynomial passes through at most 5 roundings of unit roundoff `u = 2^-24`: `a` through the
/// conversion of the coefficient and an addition, `i b` through a conversion, an addition, a
/// multiplication and an addition, `i^2 c` through one multiplication more. The rounding of `got -
/// base`, which is the distance plus the polynomial, counts as a sixth. The bound is `8 u > 6 u / (1
/// - 6 u)` (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, lemma 3.1).
const ROUNDINGS: f64 = 1.0 / (1u64 << 21) as f64;

/// Bound on the relative rounding error of a distance: the subtraction of the base and that of the
/// polynomial round it by `u = 2^-24` each. `1 + 4 u > 1 / (1 - u)^2` is provided.
const ROUNDED: f64 = 1.0 + 1.0 / (1u64 << 22) as f64;

/// A margin from here may exceed the certified one by [`RELATIVE_EXCESS`] of itself or by
/// [`ABSOLUTE_EXCESS`], whichever is more.
const RELATIVE_EXCESS: f64 = 1.0 / 1024.0;
const ABSOLUTE_EXCESS: f64 = 1.0 / (1 << 16) as f64;

/// Upper bound on the magnitude of the third derivative between two operands of one sign: `near`,
/// the one closer to zero, and `far`. `at_near` and `at_far` are the function's values there.
type ThirdDerivative = fn(near: f64, far: f64, at_near: f64, at_far: f64) -> f64;

/// Bound on the third derivative of each function that the quadratic filter handles, over the whole
/// range from `near` to `far`: the first and the third knot, which have one sign.
///
/// Each expression is monotone in the magnitude of the operand and is taken at the end where it is
/// greater: `near` for powers with a negative exponent and for Acosh, `far` for Asin, Acos and
/// Atanh, whose derivatives grow towards 1. Expressions of the function's own value use the greater
/// magnitude of both ends, because the function is monotone between them. Tan has no pole there: it
/// has a bound only for cosines above `2^-6`, and two groups are at most `2^-14` long. Near the ends
/// of the domains of Asin, Acos, Acosh and Atanh the expression grows without limit, and the group
/// is not decided.
///
/// The permitted error of each of them is constant, or a number of ulp of a result that is monotone
/// in magnitude along a group (with `Exp` and `Exp2` two ulp more for each unit of the operand), or
/// inherited from a formula with a bound that is known for a whole group. The derivatives are
/// elementary; the tests compare the polynomials with the certified function.
fn third_derivative(op: Op) -> Option<ThirdDerivative> {
    Some(match op {
        // f''' is the function itself, times (ln 2)^3 < 0.334 for Exp2.
        Op::Exp => |_, _, v, w| v.max(w),
        Op::Exp2 => |_, _, v, w| 0.334 * v.max(w),
        // f''' = 2 / x^3, divided by ln 2 for Log2 (2 / ln 2 < 2.886).
        Op::Log => |near, _, _, _| 2.0 / near.abs().powi(3),
        Op::Log2 => |near, _, _, _| 2.886 / near.abs().powi(3),
        // |f'''| = 15/8 x^(-7/2)
        Op::InverseSqrt => |near, _, at_near, _| 1.875 * at_near / near.abs().powi(3),
        Op::Sin | Op::Cos => |_, _, _, _| 1.0,
        // f''' = (6 x^2 - 2) / (1 + x^2)^3, in magnitude at most 2 and at most 6 / x^4.
        Op::Atan => |near, _, _, _| (6.0 / near.powi(4)).min(2.0),
        // |f'''| = (1 + 2 x^2) / (1 - x^2)^(5/2), with 1 + 2 x^2 <= 3.
        Op::Asin | Op::Acos => |_, far, _, _| {
            let rest = 1.0 - far * far;
            3.0 / (rest * rest * rest.sqrt())
        },
        // f''' = 3/8 x^(-5/2)
        Op::Sqrt => |near, _, at_near, _| 0.375 * at_near / near.abs().powi(3),
        // f''' = 2 (1 + t^2) (1 + 3 t^2), where t is the tangent.
        Op::Tan => |_, _, v, w| {
            let square = v.abs().max(w.abs()).powi(2);
            2.0 * (1.0 + square) * (1.0 + 3.0 * square)
        },
        // f''' is the other of the two functions, whose magnitude is at most one more.
        Op::Sinh | Op::Cosh => |_, _, v, w| 1.0 + v.abs().max(w.abs()),
        // f''' = (6 t^2 - 2) (1 - t^2), where t is the function itself.
        Op::Tanh => |_, _, _, _| 2.0,
        // f''' = (2 x^2 - 1) / (1 + x^2)^(5/2), in magnitude at most 1 and at most 2 / x^3.
        Op::Asinh => |near, _, _, _| (2.0 / near.abs().powi(3)).min(1.0),
        // f''' = (2 x^2 + 1) / (x^2 - 1)^(5/2)
        Op::Acosh => |near, _, _, _| {
            let rest = near * near - 1.0;
            (2.0 * near * near + 1.0) / (rest * rest * rest.sqrt())
        },
        // f''' = (6 x^2 + 2) / (1 - x^2)^3
        Op::Atanh => |_, far, _, _| (6.0 * far * far + 2.0) / (1.0 - far * far).powi(3),
        _ => return None,
    })
}

/// Consecutive operands of an ordered sweep, with the data that decides their results.
pub(crate) struct OperandBlock<'a> {
    filter: &'a Filter,
    first: u32,
    method: Method,
}

/// Method by which the results of a block are decided.
enum Method {
    /// Comparison with the one result that a discrete operation permits.
    Discrete(DiscreteOp),
    /// Distance from quadratic polynomials.
    Quadratic(Box<KnotValues>),
}

/// Number of operands that are evaluated together if their results lie far from the polynomial.
const OUTLIER_CHUNK: usize = 16;

/// Computes the greatest margin of a few operands and their results; a NaN if any margin is one.
struct GreatestMargin {
    x: [f64; OUTLIER_CHUNK],
    got: [f64; OUTLIER_CHUNK],
    measure: MarginRule,
}

impl UnaryVisitor for GreatestMargin {
    type Output = f64;

    #[inline(always)]
    fn visit(self, function: impl Fn(f64) -> UnaryOutcome) -> f64 {
        let GreatestMargin { x, got, measure } = self;
        let greatest = vectorised(
            #[inline(always)]
            move || {
                let mut greatest = 0i64;
                for i in 0..OUTLIER_CHUNK {
                    let found = function(x[i]);
                    let margin = measure.margin(found.value, found.error, found.bound, got[i]);
                    // Non-negative margins are ordered as their bit patterns are. The negative zero
                    // of a permitted infinity comes before them, and NaNs come after them.
                    let bits = if margin.is_nan() { f64::NAN.to_bits() } else { margin.to_bits() }.cast_signed();
                    greatest = if bits > greatest { bits } else { greatest };
                }
                greatest
            },
        );
        f64::from_bits(greatest.cast_unsigned())
    }
}

/// Function values and permitted errors at the knots of a block.
struct KnotValues {
    third_derivative: ThirdDerivative,
    knots: LaneBounds,
    /// Set if the bounds are less than the permitted errors of most operands, because they hold for
    /// a whole group.
    is_lower: bool,
}

impl Filter {
    /// Prepares the filter for these operands, at most [`BLOCK`]. `None` if they are not
    /// consecutive, do not begin at a multiple of [`LANES`], or if the instruction has no quadratic
    /// filter.
    pub(crate) fn block(&self, operands: &[u32]) -> Option<OperandBlock<'_>> {
        let first = *operands.first()?;
        let aligned = first % WIDTH == 0 && operands.len() <= BLOCK;
        if !(self.is_single_function() && aligned) {
            return None;
        }
        let method = match self.rule {
            ResultRule::Discrete(op) => Method::Discrete(op),
            _ => {
                let third_derivative = third_derivative(self.op)?;
                let x = std::array::from_fn(|k| f64::from(f32::from_bits(first.wrapping_add(k as u32 * WIDTH))));
                let along = inner_bound::visit_group_bound(self.op, &self.evaluator(), FillLanes(&x));
                let is_lower = along.is_some();
                let knots = along.or_else(|| self.visit_single(FillLanes(&x)))?;
                Method::Quadratic(Box::new(KnotValues { third_derivative, knots, is_lower }))
            }
        };
        are_consecutive(first, operands).then_some(OperandBlock { filter: self, first, method })
    }
}

impl OperandBlock<'_> {
    /// Returns true if margins may exceed the certified ones by more than a little, because the
    /// bounds of the groups are lower bounds.
    pub(crate) fn overestimates(&self) -> bool {
        matches!(&self.method, Method::Quadratic(values) if values.is_lower)
    }

    /// Decides the group of that index if each of its results passes with a margin of at most
    /// `least`, or is not checked. `reported_lane` is the lane whose own margin is returned.
    pub(crate) fn judge_group(
        &self,
        index: usize,
        results: &[u32; LANES],
        reported_lane: usize,
        least: f64,
    ) -> Option<GroupVerdict> {
        let at = |knot: u32| self.first.wrapping_add(index as u32 * WIDTH + knot * WIDTH);
        let x = [0, 1, 2].map(|knot| f64::from(f32::from_bits(at(knot))));
        // All operands up to the third knot lie in one binade or at its end, so that they have
        // equal spacing and one sign.
        let one_binade = at(0) >> 23 == at(2).wrapping_sub(1) >> 23;
        // Where the permitted error is far greater than a denormal, denormal operands need no
        // special care.
        let small = self.overestimates() && inner_bound::allows_denormals(self.filter.op);
        let normal = x[0].abs() >= self.filter.grid.min_normal || small;
        let has_named =
            named_operand(self.filter.op).is_some_and(|named| x[0].min(x[2]) <= named && named <= x[0].max(x[2]));
        if !(one_binade && normal && x[2].is_finite()) || has_named {
            return None;
        }
        match &self.method {
            Method::Discrete(op) => {
                let same = visit_discrete(*op, EqualResults { first: at(0), results, special: self.filter.special })?;
                (same && least >= 0.0)
                    .then_some(GroupVerdict { counts: GroupCounts::passed(0.0), reported_margin: 0.0 })
            }
            Method::Quadratic(values) => values.judge_group(self.filter, (index, x), results, reported_lane, least),
        }
    }
}

/// Returns true if each result equals the function's value and is not special.
struct EqualResults<'a> {
    first: u32,
    results: &'a [u32; LANES],
    special: SpecialResults,
}

impl UnaryVisitor for EqualResults<'_> {
    type Output = bool;

    #[inline(always)]
    fn visit(self, function: impl Fn(f64) -> UnaryOutcome) -> bool {
        let EqualResults { first, results, special } = self;
        let results = *results;
        vectorised(
            #[inline(always)]
            move || {
                let mut other = 0u64;
                for (i, bits) in results.into_iter().enumerate() {
                    let x = f64::from(f32::from_bits(first.wrapping_add(i as u32)));
                    let got = f64::from(f32::from_bits(bits));
                    other |= u64::from((function(x).value != got) | special.is(got));
                }
                other == 0
            },
        )
    }
}

impl KnotValues {
    /// Decides the group of that index, whose knots are `x`.
    fn judge_group(
        &self,
        filter: &Filter,
        (index, x): (usize, [f64; 3]),
        results: &[u32; LANES],
        reported_lane: usize,
        least: f64,
    ) -> Option<GroupVerdict> {
        // An operand outside the domain lies there together with all operands farther from zero, or
        // with all operands closer to zero.
        let any = &self.knots.any[index..index + 3];
        if any.iter().all(|&any| any > 0.0) {
            let counts = GroupCounts::unchecked(LANES as u64);
            return filter.assumes_finite().then_some(GroupVerdict { counts, reported_margin: -1.0 });
        }
        if !any.iter().all(|&any| any == 0.0) {
            return None;
        }
        if self.overflows(filter, index, results) {
            return Some(GroupVerdict { counts: GroupCounts::passed(-1.0), reported_margin: -1.0 });
        }
        let segment = self.segment(filter, index, x)?;
        let margin = segment.margin(segment.greatest_error(results));
        let precise =
            segment.error + segment.roundings <= segment.bound * ABSOLUTE_EXCESS.max(RELATIVE_EXCESS * margin);
        // A comparison with a NaN is false, so that a NaN leaves the group undecided.
        if !(margin <= CERTAIN && (precise || self.is_lower)) {
            return None;
        }
        if margin > least && !(self.is_lower && self.all_margins_within(filter, &segment, x, results, least)) {
            return None;
        }
        let margin = margin.min(least);
        let reported_margin =
            segment.error(reported_lane, f64::from(f32::from_bits(results[reported_lane]))) / segment.bound;
        Some(GroupVerdict { counts: GroupCounts::passed(margin), reported_margin })
    }

    /// Returns true if no margin of the group exceeds `least`. Operands whose results lie far from
    /// the polynomial are judged by their own bounds.
    fn all_margins_within(
        &self,
        filter: &Filter,
        segment: &QuadraticSegment,
        x: [f64; 3],
        results: &[u32; LANES],
        least: f64,
    ) -> bool {
        let errors = segment.errors(results);
        let near = segment.distance(least);
        let (mut lanes, mut count) = ([0; LANES], 0);
        for (lane, &error) in errors.iter().enumerate() {
            lanes[count] = lane;
            count += usize::from(error > near);
        }
        let step = (x[1] - x[0]) / f64::from(WIDTH);
        lanes[..count].chunks(OUTLIER_CHUNK).all(|lanes| {
            // The first lane fills the places of a last chunk that is not full.
            let (mut operands, mut got) = ([0.0; OUTLIER_CHUNK], [0.0; OUTLIER_CHUNK]);
            for i in 0..OUTLIER_CHUNK {
                let lane = lanes.get(i).copied().unwrap_or(lanes[0]);
                operands[i] = x[0] + step * lane as f64;
                got[i] = f32::from_bits(results[lane]).into();
            }
            filter
                .visit_single(GreatestMargin { x: operands, got, measure: filter.measure })
                .is_some_and(|g| g <= least)
        })
    }

    /// Returns true if all results are the infinity that is permitted at both ends of the group,
    /// and therefore between them.
    fn overflows(&self, filter: &Filter, index: usize, results: &[u32; LANES]) -> bool {
        let LaneBounds { exact, bound, .. } = &self.knots;
        let got = f32::INFINITY.copysign(exact.value[index] as f32);
        // A permitted infinity has the margin -0.0.
        let permitted = |knot| {
            let margin = filter.measure.margin(exact.value[knot], exact.error[knot], bound[knot], got.into());
            margin == 0.0 && margin.is_sign_negative()
        };
        permitted(index) && permitted(index + 1) && *results == [got.to_bits(); LANES]
    }

    /// Quadratic polynomial of a group. `None` if the permitted error is unknown or not even, or if
    /// the group may contain a special result.
    fn segment(&self, filter: &Filter, index: usize, x: [f64; 3]) -> Option<QuadraticSegment> {
        let MarginRule { open, max, .. } = filter.measure;
        let v = &self.knots.exact.value[index..index + 3];
        let (e, bound) = (&self.knots.exact.error[index..index + 3], &self.knots.bound[index..index + 2]);
        // Across a step of the ulp the smaller bound would not hold closely for the whole group.
        let even = (bound[0] - bound[1]).abs() <= RELATIVE_EXCESS * bound[0];
        if !(even && bound.iter().all(|&bound| bound > 0.0)) {
            return None;
        }
        let bound = bound[0].min(bound[1]);
        let (least, greatest) = (v[0].abs().min(v[1].abs()), v[0].abs().max(v[1].abs()));
        let reaches_special = filter.special.is_possible() && least - bound <= filter.grid.min_normal;
        if reaches_special || greatest + bound > open.min(max) {
            return None;
        }
        let step = (x[1] - x[0]).abs();
        let remainder = (self.third_derivative)(x[0], x[2], v[0], v[2]) * step * step * step / 15.5;
        QuadraticSegment::through([v[0], v[1], v[2]], 1.25 * e[0].max(e[1]).max(e[2]) + remainder, bound)
    }
}

/// Quadratic polynomial along a group, with its error bounds.
struct QuadraticSegment {
    /// Coefficients in units of one operand: the value at the first operand, the slope there, and
    /// half the second difference.
    coefficients: [f64; 3],
    /// Bound on the distance of the polynomial from the function.
    error: f64,
    /// Bound on the rounding error of a distance that is computed in `f32`, apart from its own
    /// relative error.
    roundings: f64,
    bound: f64,
    /// `f32` value from which results and polynomial are measured, close to the value at the first
    /// operand.
    base: f32,
    /// Two powers of two whose product scales values to moderate magnitudes. The product itself may
    /// not be an `f32`.
    scale: [f32; 2],
}

impl QuadraticSegment {
    fn through([v, w, z]: [f64; 3], error: f64, bound: f64) -> Option<QuadraticSegment> {
        let width = f64::from(WIDTH);
        let coefficients = [v, (4.0 * w - 3.0 * v - z) / (2.0 * width), (v - 2.0 * w + z) / (2.0 * width * width)];
        let magnitude = v.abs().max(w.abs()).max(bound);
        if !(magnitude > 1e-45 && magnitude < 1e38) {
            return None;
        }
        let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
        let scale = [-exponent / 2, -exponent - -exponent / 2].map(|part| power_of_two(part) as f32);
        let base = v as f32;
        let [_, b, c] = coefficients;
        let extent = (v - f64::from(base)).abs() + (width * b).abs() + (width * width * c).abs();
        Some(QuadraticSegment { coefficients, error, roundings: ROUNDINGS * extent, bound, base, scale })
    }

    /// Greatest distance of a result from the polynomial; a NaN if any distance is one.
    fn greatest_error(&self, results: &[u32; LANES]) -> f64 {
        let results = *results;
        let error = self.scaled();
        let greatest = vectorised(
            #[inline(always)]
            move || {
                let mut greatest = 0u32;
                for (i, bits) in results.into_iter().enumerate() {
                    // Magnitudes are ordered as their bit patterns are, and NaNs come last.
                    greatest = greatest.max(error(i, bits).abs().to_bits());
                }
                greatest
            },
        );
        f64::from(f32::from_bits(greatest)) / self.scale()
    }

    /// Distance of each result from the polynomial, in the scale of [`QuadraticSegment::distance`].
    fn errors(&self, results: &[u32; LANES]) -> [f32; LANES] {
        let results = *results;
        let error = self.scaled();
        vectorised(
            #[inline(always)]
            move || {
                let mut errors = [0.0; LANES];
                for (i, bits) in results.into_iter().enumerate() {
                    errors[i] = error(i, bits).abs();
                }
                errors
            },
        )
    }

    /// Greatest scaled distance at which the margin is certainly at most `margin`; negative if
    /// there is none.
    fn distance(&self, margin: f64) -> f32 {
        let distance = (margin * self.bound - self.roundings - self.error) / ROUNDED;
        // Rounding up by the conversion is covered by `ROUNDED`.
        (distance * self.scale()) as f32
    }

    fn scale(&self) -> f64 {
        let [s, t] = self.scale;
        f64::from(s) * f64::from(t)
    }

    /// Signed distance of a lane's result from the polynomial, times the scale.
    #[inline(always)]
    fn scaled(&self) -> impl Fn(usize, u32) -> f32 + use<> {
        let [s, t] = self.scale;
        let scale = self.scale();
        let [a, b, c] = self.coefficients;
        let base = self.base * s * t;
        let a = ((a - f64::from(self.base)) * scale) as f32;
        let (b, c) = ((b * scale) as f32, (c * scale) as f32);
        #[inline(always)]
        move |lane, bits| {
            let i = lane as f32;
            (f32::from_bits(bits) * s * t - base) - (a + i * (b + i * c))
        }
    }

    /// Upper bound on the margin of a result at distance `greatest`.
    fn margin(&self, greatest: f64) -> f64 {
        (greatest * ROUNDED + self.roundings + self.error) / self.bound
    }

    /// Distance of one result from the polynomial, in `f64`.
    fn error(&self, lane: usize, got: f64) -> f64 {
        let [a, b, c] = self.coefficients;
        let i = lane as f64;
        (got - (a + i * (b + i * c))).abs()
    }
}

/// Returns true if each operand is the successor of the one before as a bit pattern.
fn are_consecutive(first: u32, operands: &[u32]) -> bool {
    vectorised(
        #[inline(always)]
        move || {
            let different = |(i, &bits): (usize, &u32)| bits ^ first.wrapping_add(i as u32);
            operands.iter().enumerate().map(different).fold(0, |found, other| found | other) == 0
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Call, Modes, Reference, Scalar, Shape, Verdict, bulk::simd::arithmetic::LaneValues, derivation::Derivation,
    };
    use assay_float::F32;
    use rayon::prelude::*;

    const MODES: [&str; 5] = ["", "RoundingModeRTE", "DenormFlushToZero", "DenormPreserve", "SignedZeroInfNanPreserve"];

    /// Instructions of one `f32` that the quadratic filter handles in a mode, with their references
    /// and filters.
    fn filters(mode: &str) -> Vec<(Op, Reference, Filter)> {
        let modes = if mode.is_empty() { Modes::default() } else { Modes::default().with(mode).expect("a mode") };
        let reference = |op| Some(Call::new(op, Scalar::Float(F32), Shape::Scalar, None, modes).ok()?.reference());
        let filters = Op::ALL.iter().filter_map(|&op| {
            let reference = reference(op)?;
            let filter = Filter::new(reference.slots.first()?).filter(Filter::is_single_function)?;
            let discrete =
                matches!(filter.rule, ResultRule::Discrete(op) if visit_discrete(op, FillLanes(&[1.0; LANES])).is_some());
            (discrete || third_derivative(op).is_some()).then_some((op, reference, filter))
        });
        filters.collect()
    }

    /// First operands of groups of either sign: ends and insides of binades, and ends of domains.
    fn starts(step: usize) -> impl Iterator<Item = u32> {
        let exponents = (1..255u32).step_by(step).chain([123, 124, 125, 126, 127, 128, 129, 132, 133]);
        let starts =
            exponents.flat_map(|e| [0, 0x2a_5e00, 0x49_0000, 0x7f_fe80, 0x7f_ff80].map(|within| e << 23 | within));
        let ends = [0x3f7f_ff00, 0x3f7f_ff80, 0x4049_0e80, 0x4049_0f00, 0x4049_0f80, 0x4049_1000, 0x3f7d_7080];
        starts.chain(ends).flat_map(|start| [start, start | 1 << 31])
    }

    fn operands(start: u32) -> Vec<u32> {
        (start..).take(2 * LANES).collect()
    }

    /// The `f32` nearest to the exact result of each operand of a group, as far as the quick
    /// evaluation knows it.
    fn nearest(filter: &Filter, start: u32) -> [u32; LANES] {
        let x: LaneValues = std::array::from_fn(|i| f64::from(f32::from_bits(start + i as u32)));
        let point = filter.visit_single(FillLanes(&x)).expect("a function");
        std::array::from_fn(|i| (point.exact.value[i] as f32).to_bits())
    }

    /// For the successor of the `f32` nearest to the exact result: an upper bound on its distance
    /// from the exact result, and its certified margin. The quick bound of one operand is an
    /// under-approximation too, therefore the certified margin decides.
    fn margin_of_next(reference: &Reference, x: f64, point: &LaneBounds, lane: usize) -> Option<(f64, f64)> {
        let value = point.exact.value[lane];
        let got = (value as f32).to_bits().wrapping_add(1);
        let certain = reference.judge(0, &[u64::from((x as f32).to_bits())], got.into()).margin?;
        Some(((f64::from(f32::from_bits(got)) - value).abs() + point.exact.error[lane], certain))
    }

    /// An inherited bound that holds along a group is permitted for each operand of the group. The
    /// test visits a part of all groups; with `ASSAY_FULL=1` it visits all 2^25 groups, and every
    /// thirteenth of them where rounding is declared (a quarter of an hour on two cores).
    #[test]
    fn bounds_along_groups_are_bounds_of_each_operand() {
        let full = std::env::var_os("ASSAY_FULL").is_some();
        for (mode, some, most) in [("", 401, 1), ("RoundingModeRTE", 1201, 13)] {
            let step = if full { most } else { some };
            let filters: Vec<_> =
                filters(mode).into_iter().filter(|(op, ..)| inner_bound::has_jagged_bound(*op)).collect();
            let groups: u64 = filters
                .par_iter()
                .map(|(op, reference, filter)| groups_with_bounds(reference, filter, step, &format!("{op} {mode}")))
                .sum();
            assert!(groups > 5_000, "{groups}");
        }
    }

    /// Checks each operand of every `step`-th block of a function, and returns the number of
    /// groups that have a bound.
    fn groups_with_bounds(reference: &Reference, filter: &Filter, step: usize, name: &str) -> u64 {
        let mut groups = 0;
        for first in (0..=u32::MAX / BLOCK as u32).step_by(step).map(|k| k * BLOCK as u32) {
            let operands: Vec<u32> = (0..BLOCK as u32).map(|i| first.wrapping_add(i)).collect();
            let Some(OperandBlock { method: Method::Quadratic(values), .. }) = filter.block(&operands) else {
                continue;
            };
            for (index, operands) in operands.chunks_exact(LANES).enumerate() {
                let end = operands[0].wrapping_add(2 * WIDTH - 1);
                let x = [0, 1, 2].map(|k| f64::from(f32::from_bits(operands[0].wrapping_add(k * WIDTH))));
                let clear = values.knots.any[index..index + 3].iter().all(|&any| any == 0.0);
                if operands[0] >> 23 != end >> 23 || !clear || x.contains(&0.0) {
                    continue;
                }
                let Some(segment) = values.segment(filter, index, x) else { continue };
                let lanes: LaneValues = std::array::from_fn(|i| f64::from(f32::from_bits(operands[i])));
                let point = filter.visit_single(FillLanes(&lanes)).expect("a function");
                groups += 1;
                let holds = |i: usize| segment.bound <= point.bound[i] && point.any[i] == 0.0;
                for i in (0..LANES).filter(|&i| !holds(i)) {
                    let margin = margin_of_next(reference, lanes[i], &point, i);
                    let permitted = margin.is_some_and(|(off, certain)| certain <= off / segment.bound);
                    assert!(permitted, "{name} of {:e}: {margin:?}, {:e}", lanes[i], segment.bound);
                }
            }
        }
        groups
    }

    /// The function lies within the stated error of its polynomial, and the bound of the group is
    /// permitted for each operand.
    #[test]
    fn a_segment_is_as_near_as_it_says() {
        let mut segments = 0;
        for (op, reference, filter) in MODES.iter().flat_map(|mode| filters(mode)) {
            for start in starts(1) {
                let block = filter.block(&operands(start)).expect("a block");
                let Method::Quadratic(values) = &block.method else { continue };
                let x = [0, 1, 2].map(|knot| f64::from(f32::from_bits(start + knot * WIDTH)));
                let one_binade = start >> 23 == (start + 2 * WIDTH - 1) >> 23;
                let Some(segment) = values.segment(&filter, 0, x).filter(|_| one_binade) else { continue };
                let lanes: LaneValues = std::array::from_fn(|i| f64::from(f32::from_bits(start + i as u32)));
                let point = filter.visit_single(FillLanes(&lanes)).expect("a function");
                if values.knots.any[..3].iter().any(|&any| any > 0.0)
                    || named_operand(op).is_some_and(|n| lanes.contains(&n))
                {
                    continue;
                }
                let results = point.exact.value.map(|v| (v as f32).to_bits().wrapping_add(1));
                let distances = (0..LANES).map(|i| segment.error(i, f32::from_bits(results[i]).into()));
                let (certain, quick) = (distances.fold(0.0, f64::max), segment.greatest_error(&results));
                let most = segment.roundings + (ROUNDED - 1.0) * certain;
                assert!((quick - certain).abs() <= most, "{op} at {:e}: {quick:e}, not {certain:e}", lanes[0]);
                for (i, x) in lanes.iter().enumerate() {
                    let off = segment.error(i, point.exact.value[i]);
                    let place = format!("{op} at {x:e}");
                    assert!(off <= segment.error + point.exact.error[i], "{place}: {off:e}, not {:e}", segment.error);
                    let permitted = segment.bound <= point.bound[i] || {
                        let margin = margin_of_next(&reference, *x, &point, i);
                        margin.is_some_and(|(distance, certain)| certain <= distance / segment.bound)
                    };
                    assert!(permitted, "{place}: {:e}, not {:e}", point.bound[i], segment.bound);
                }
                segments += 1;
            }
        }
        assert!(segments > 20_000, "{segments}");
    }

    /// A group that the filter decides passes, with a margin that is at least the certified one and
    /// hardly greater.
    #[test]
    fn margins_of_a_block_are_at_least_the_certain_ones() {
        let (mut decided, mut left, mut exaggerated) = (0, 0, 0);
        for (op, reference, filter) in MODES.iter().flat_map(|mode| filters(mode)) {
            for start in starts(23) {
                let block = filter.block(&operands(start)).expect("a block");
                let right = nearest(&filter, start);
                for off in [0, 1, 2] {
                    let results = std::array::from_fn(|i| right[i].wrapping_add(i as u32 * off % 3));
                    let Some(verdict) = block.judge_group(0, &results, 77, f64::INFINITY) else {
                        left += usize::from(off == 0);
                        continue;
                    };
                    let judged = |i: usize| reference.judge(0, &[u64::from(start) + i as u64], results[i].into());
                    // The lane with the greatest quick margin, and two others.
                    let group = filter.group(
                        &[crate::Column::Words(&operands(start)[..LANES])],
                        crate::Column::Words(&results),
                        0,
                        LANES,
                    );
                    let outcome = filter.judge_by_inner_bound(&group).or_else(|| filter.judge_by_rule(&group));
                    let margins = outcome.expect("a filter").margins;
                    let known = (0..LANES).filter(|&i| !margins[i].is_nan());
                    let greatest = known.max_by(|&a, &b| margins[a].total_cmp(&margins[b]));
                    let place = format!("{op} from {start:#010x}, off by {off}");
                    for judgement in greatest.into_iter().chain([0, 127]).map(judged) {
                        let allowed = [Verdict::Pass, Verdict::Unchecked];
                        assert!(allowed.contains(&judgement.verdict), "{place}: {judgement:?}");
                        let margin = judgement.margin.unwrap_or(-1.0);
                        assert!(
                            verdict.counts.worst >= margin,
                            "{place}: {} is less than {margin}",
                            verdict.counts.worst
                        );
                    }
                    let greatest = greatest.map_or(-1.0, |i| margins[i]);
                    let more = greatest + (greatest * 2.0 * RELATIVE_EXCESS).max(2.0 * ABSOLUTE_EXCESS);
                    if block.overestimates() {
                        exaggerated += usize::from(verdict.counts.worst > 1.5 * greatest + ABSOLUTE_EXCESS);
                    } else {
                        assert!(verdict.counts.worst <= more, "{place}: {} for {greatest}", verdict.counts.worst);
                    }
                    decided += 1;
                }
            }
        }
        // A filter that decides nothing would be useless and would pass this test.
        assert!(decided > 4_000 && left < decided / 4, "{decided} {left}");
        assert!(exaggerated < decided / 4, "{exaggerated} of {decided}");
    }

    /// A group with one result just outside the permitted set is left to the certified evaluation.
    #[test]
    fn one_wrong_result_leaves_its_group_to_the_certified_evaluation() {
        let mut wrong = 0;
        for (op, reference, filter) in filters("") {
            for (n, start) in starts(37).enumerate() {
                let block = filter.block(&operands(start)).expect("a block");
                let lane = n * 29 % LANES;
                let right = nearest(&filter, start);
                if block.judge_group(0, &right, 77, f64::INFINITY).is_none() {
                    continue;
                }
                let operand = u64::from(start) + lane as u64;
                let set = reference.slots[0].evaluate(&[operand], None, false, &Derivation::disabled()).set;
                let ends = set.ranges().iter().flat_map(|range| [range.lo - 1, range.hi + 1]);
                for rank in ends.filter(|rank| (F32.neg_infinity()..=F32.infinity()).contains(rank)) {
                    let outside = F32.bits(rank);
                    if reference.judge(0, &[operand], outside).verdict != Verdict::Fail {
                        continue;
                    }
                    let mut results = right;
                    results[lane] = outside as u32;
                    let verdict = block.judge_group(0, &results, 77, f64::INFINITY);
                    assert!(verdict.is_none(), "{op} from {start:#010x}, lane {lane}");
                    wrong += 1;
                }
            }
        }
        assert!(wrong > 500, "{wrong}");
    }

    /// Operands that do not begin a group, or that skip one, are not a block.
    #[test]
    fn a_block_is_of_consecutive_operands() {
        let (_, _, filter) = filters("").into_iter().find(|(op, ..)| *op == Op::Exp2).expect("Exp2");
        let mut consecutive = operands(0x3f80_0000);
        assert!(filter.block(&consecutive).is_some());
        assert!(filter.block(&operands(0x3f80_0001)).is_none());
        consecutive.swap(100, 101);
        assert!(filter.block(&consecutive).is_none());
    }
}
