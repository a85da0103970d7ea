//! Stretches of an ordered sweep: consecutive operands, along which a smooth function is nearly a parabola.
//!
//! Of consecutive operands in one binade each lies as far from the next, and 128 of them are next to nothing of their own magnitude: a parabola
//! through the function's values at the first, and at those 128 and 256 further on (the *knots*), is the function but for a remainder that its
//! third derivative bounds, far below an ulp. So a result costs a few operations in `f32` rather than an evaluation, and no division: the error
//! is over the bound if the greatest of the group is.
//!
//! A bound that a function inherits from a formula moves up and down from one operand to the next, as the roundings inside the formula fall.
//! Here it is one for the whole group that holds for each of its operands ([`inner::along`]), and those whose results lie too far from the
//! parabola for that are looked at one by one.
//!
//! The same care as in [`crate::lanes`]: a margin from here is never less than the certain one. A group that holds anything which may matter (a
//! margin greater than has been seen, a special value, a domain's edge) is not settled here.

use super::{CERTAIN, Measure, Screen, Settled, Special, named, of_one, sweep::Swept};
use crate::{
    Op,
    evaluate::Kernel,
    exact::Exact,
    lanes::{
        Point,
        arithmetic::{LANES, power_of_two, vectorised},
        inner,
        unary::{Apply, Fill, Found},
    },
};

/// Groups of [`LANES`] operands in a stretch.
const GROUPS: usize = 64;

/// Operands of a stretch.
pub(crate) const STRETCH: usize = GROUPS * LANES;

/// From one knot to the next.
const WIDTH: u32 = LANES as u32;

/// More than the roundings of a parabola in `f32`, of its coefficients and of a difference come to, relatively to the sum of their magnitudes:
/// eight of them.
const ROUNDINGS: f64 = 1.0 / (1u64 << 21) as f64;

/// More than the roundings that an error goes through add to it.
const ROUNDED: f64 = 1.0 + 1.0 / (1u64 << 22) as f64;

/// A margin may be too great by so much: by this of itself, or by [`NOTHING`].
const HARDLY: f64 = 1.0 / 1024.0;
const NOTHING: f64 = 1.0 / (1 << 16) as f64;

/// The greatest third derivative's magnitude between two operands of one sign, of which `near` is the one nearer to zero, given the values
/// there.
type Third = fn(near: f64, far: f64, at_near: f64, at_far: f64) -> f64;

/// For functions that are monotone in magnitude where their bound is in ulp, whose bound is constant, or that many ulp, or grows by two ulp with
/// each unit of the operand; or whose bound is inherited, and known along a group.
fn third(op: Op) -> Option<Third> {
    Some(match op {
        // The function itself, times the cube of ln 2 < 0.334 for Exp2.
        Op::Exp => |_, _, v, w| v.max(w),
        Op::Exp2 => |_, _, v, w| 0.334 * v.max(w),
        // 2 / x^3, over ln 2 for Log2.
        Op::Log => |near, _, _, _| 2.0 / near.abs().powi(3),
        Op::Log2 => |near, _, _, _| 2.886 / near.abs().powi(3),
        // 15/8 x^(-7/2)
        Op::InverseSqrt => |near, _, at_near, _| 1.875 * at_near / near.abs().powi(3),
        Op::Sin | Op::Cos => |_, _, _, _| 1.0,
        // (6 x^2 - 2) / (1 + x^2)^3
        Op::Atan => |near, _, _, _| (6.0 / near.powi(4)).min(2.0),
        // (1 + 2 x^2) / (1 - x^2)^(5/2)
        Op::Asin | Op::Acos => |_, far, _, _| {
            let rest = 1.0 - far * far;
            3.0 / (rest * rest * rest.sqrt())
        },
        // 3/8 x^(-5/2)
        Op::Sqrt => |near, _, at_near, _| 0.375 * at_near / near.abs().powi(3),
        // 2 (1 + t^2) (1 + 3 t^2), with t the tangent.
        Op::Tan => |_, _, v, w| {
            let square = v.abs().max(w.abs()).powi(2);
            2.0 * (1.0 + square) * (1.0 + 3.0 * square)
        },
        // The other function, which is at most one more in magnitude.
        Op::Sinh | Op::Cosh => |_, _, v, w| 1.0 + v.abs().max(w.abs()),
        // (6 t^2 - 2) (1 - t^2), with t the function itself.
        Op::Tanh => |_, _, _, _| 2.0,
        // (2 x^2 - 1) / (1 + x^2)^(5/2)
        Op::Asinh => |near, _, _, _| (2.0 / near.abs().powi(3)).min(1.0),
        // (2 x^2 + 1) / (x^2 - 1)^(5/2)
        Op::Acosh => |near, _, _, _| {
            let rest = near * near - 1.0;
            (2.0 * near * near + 1.0) / (rest * rest * rest.sqrt())
        },
        // (6 x^2 + 2) / (1 - x^2)^3
        Op::Atanh => |_, far, _, _| (6.0 * far * far + 2.0) / (1.0 - far * far).powi(3),
        _ => return None,
    })
}

/// Consecutive operands.
pub(crate) struct Stretch<'a> {
    screen: &'a Screen,
    first: u32,
    way: Way,
}

/// How results along a stretch are decided.
enum Way {
    /// By the one result that a discrete operation has.
    Discrete(Exact),
    /// By parabolas.
    Smooth(Box<Smooth>),
}

/// Operands that are looked at together because their results lie far from a parabola.
const FEW: usize = 16;

/// The greatest margin of a few operands and their results; a NaN if one of them is.
struct Greatest {
    x: [f64; FEW],
    got: [f64; FEW],
    measure: Measure,
}

impl Apply for Greatest {
    type Output = f64;

    #[inline(always)]
    fn apply(self, function: impl Fn(f64) -> Found) -> f64 {
        let Greatest { x, got, measure } = self;
        let greatest = vectorised(
            #[inline(always)]
            move || {
                let mut greatest = 0i64;
                for i in 0..FEW {
                    let found = function(x[i]);
                    let margin = measure.margin(found.value, found.error, found.bound, got[i]);
                    // Margins are ordered as their bits are, what has none comes before, and NaNs come last.
                    let bits = if margin.is_nan() { f64::NAN.to_bits() } else { margin.to_bits() }.cast_signed();
                    greatest = if bits > greatest { bits } else { greatest };
                }
                greatest
            },
        );
        f64::from_bits(greatest.cast_unsigned())
    }
}

/// What is permitted at the knots.
struct Smooth {
    third: Third,
    knots: Point,
    /// Whether the bounds are less than what is permitted of most operands.
    is_lower: bool,
}

impl Screen {
    /// The stretch of these operands, at most [`STRETCH`]. `None` if they are not consecutive, do not begin a group, or if the function is none
    /// for it.
    pub(crate) fn stretch(&self, operands: &[u32]) -> Option<Stretch<'_>> {
        let first = *operands.first()?;
        let aligned = first % WIDTH == 0 && operands.len() <= STRETCH;
        if !(self.is_of_one_single() && aligned) {
            return None;
        }
        let way = match self.kernel {
            Kernel::Exact(exact) => Way::Discrete(exact),
            _ => {
                let third = third(self.op)?;
                let x = std::array::from_fn(|k| f64::from(f32::from_bits(first.wrapping_add(k as u32 * WIDTH))));
                let along = inner::along(self.op, &self.lanes(), Fill(&x));
                let is_lower = along.is_some();
                let knots = along.or_else(|| self.of_one_single(Fill(&x)))?;
                Way::Smooth(Box::new(Smooth { third, knots, is_lower }))
            }
        };
        are_consecutive(first, operands).then_some(Stretch { screen: self, first, way })
    }
}

impl Stretch<'_> {
    /// Whether margins may be greater than the certain ones by more than a little: of groups whose bound is only known to be no less.
    pub(crate) fn exaggerates(&self) -> bool {
        matches!(&self.way, Way::Smooth(smooth) if smooth.is_lower)
    }

    /// Settles the group of that index if each of its results passes by a margin of no more than `least`, or is not checked.
    pub(crate) fn settle(&self, index: usize, results: &[u32; LANES], sample: usize, least: f64) -> Option<Swept> {
        let at = |knot: u32| self.first.wrapping_add(index as u32 * WIDTH + knot * WIDTH);
        let x = [0, 1, 2].map(|knot| f64::from(f32::from_bits(at(knot))));
        // One binade and its end: all operands are as far apart, and of one sign.
        let one_binade = at(0) >> 23 == at(2).wrapping_sub(1) >> 23;
        // Next to a bound that is far greater, denormals are as good as others.
        let small = self.exaggerates() && inner::takes_denormals(self.screen.op);
        let normal = x[0].abs() >= self.screen.grid.min_normal || small;
        let has_named = named(self.screen.op).is_some_and(|named| x[0].min(x[2]) <= named && named <= x[0].max(x[2]));
        if !(one_binade && normal && x[2].is_finite()) || has_named {
            return None;
        }
        match &self.way {
            Way::Discrete(exact) => {
                let same = of_one(*exact, Same { first: at(0), results, special: self.screen.special })?;
                (same && least >= 0.0).then_some(Swept { settled: Settled::passed(0.0), sampled: 0.0 })
            }
            Way::Smooth(smooth) => smooth.settle(self.screen, (index, x), results, sample, least),
        }
    }
}

/// Whether each result is the function's value.
struct Same<'a> {
    first: u32,
    results: &'a [u32; LANES],
    special: Special,
}

impl Apply for Same<'_> {
    type Output = bool;

    #[inline(always)]
    fn apply(self, function: impl Fn(f64) -> Found) -> bool {
        let Same { first, results, special } = self;
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

impl Smooth {
    /// Settles the group of that index, whose knots are these.
    fn settle(
        &self,
        screen: &Screen,
        (index, x): (usize, [f64; 3]),
        results: &[u32; LANES],
        sample: usize,
        least: f64,
    ) -> Option<Swept> {
        // What lies beyond a domain's end does so together with all that is farther from zero, or nearer.
        let any = &self.knots.any[index..index + 3];
        if any.iter().all(|&any| any > 0.0) {
            let settled = Settled::unchecked(LANES as u64);
            return screen.assumes_finite().then_some(Swept { settled, sampled: -1.0 });
        }
        if !any.iter().all(|&any| any == 0.0) {
            return None;
        }
        if self.overflows(screen, index, results) {
            return Some(Swept { settled: Settled::passed(-1.0), sampled: -1.0 });
        }
        let parabola = self.parabola(screen, index, x)?;
        let margin = parabola.margin(parabola.greatest_error(results));
        let precise = parabola.error + parabola.roundings <= parabola.bound * NOTHING.max(HARDLY * margin);
        // Of a NaN none holds.
        if !(margin <= CERTAIN && (precise || self.is_lower)) {
            return None;
        }
        if margin > least && !(self.is_lower && self.is_no_worse(screen, &parabola, x, results, least)) {
            return None;
        }
        let margin = margin.min(least);
        let sampled = parabola.error(sample, f64::from(f32::from_bits(results[sample]))) / parabola.bound;
        Some(Swept { settled: Settled::passed(margin), sampled })
    }

    /// Whether no margin of a group is greater than `least`, by the bounds of those operands whose results lie far from the parabola.
    fn is_no_worse(
        &self,
        screen: &Screen,
        parabola: &Parabola,
        x: [f64; 3],
        results: &[u32; LANES],
        least: f64,
    ) -> bool {
        let errors = parabola.errors(results);
        let near = parabola.distance(least);
        let (mut lanes, mut count) = ([0; LANES], 0);
        for (lane, &error) in errors.iter().enumerate() {
            lanes[count] = lane;
            count += usize::from(error > near);
        }
        let step = (x[1] - x[0]) / f64::from(WIDTH);
        lanes[..count].chunks(FEW).all(|lanes| {
            // The first of a few stands for those that are missing.
            let (mut operands, mut got) = ([0.0; FEW], [0.0; FEW]);
            for i in 0..FEW {
                let lane = lanes.get(i).copied().unwrap_or(lanes[0]);
                operands[i] = x[0] + step * lane as f64;
                got[i] = f32::from_bits(results[lane]).into();
            }
            screen.of_one_single(Greatest { x: operands, got, measure: screen.measure }).is_some_and(|g| g <= least)
        })
    }

    /// Whether all results are the infinity that is permitted at both ends, and so between them.
    fn overflows(&self, screen: &Screen, index: usize, results: &[u32; LANES]) -> bool {
        let Point { exact, bound, .. } = &self.knots;
        let got = f32::INFINITY.copysign(exact.value[index] as f32);
        // An infinity that is permitted has no margin.
        let permitted = |knot| {
            let margin = screen.measure.margin(exact.value[knot], exact.error[knot], bound[knot], got.into());
            margin == 0.0 && margin.is_sign_negative()
        };
        permitted(index) && permitted(index + 1) && *results == [got.to_bits(); LANES]
    }

    /// The parabola of a group, if what is permitted is known and holds nothing special.
    fn parabola(&self, screen: &Screen, index: usize, x: [f64; 3]) -> Option<Parabola> {
        let Measure { open, max, .. } = screen.measure;
        let v = &self.knots.exact.value[index..index + 3];
        let (e, bound) = (&self.knots.exact.error[index..index + 3], &self.knots.bound[index..index + 2]);
        // Where the ulp steps, the least bound is none for the whole group.
        let even = (bound[0] - bound[1]).abs() <= HARDLY * bound[0];
        if !(even && bound.iter().all(|&bound| bound > 0.0)) {
            return None;
        }
        let bound = bound[0].min(bound[1]);
        let (least, greatest) = (v[0].abs().min(v[1].abs()), v[0].abs().max(v[1].abs()));
        let reaches_special = screen.special.is_possible() && least - bound <= screen.grid.min_normal;
        if reaches_special || greatest + bound > open.min(max) {
            return None;
        }
        let step = (x[1] - x[0]).abs();
        let remainder = (self.third)(x[0], x[2], v[0], v[2]) * step * step * step / 15.5;
        Parabola::through([v[0], v[1], v[2]], 1.25 * e[0].max(e[1]).max(e[2]) + remainder, bound)
    }
}

/// A parabola along a group, and by how much results may lie from it.
struct Parabola {
    /// The value at the first operand, its increase per operand, and half the increase of that.
    coefficients: [f64; 3],
    /// By how much it may be off.
    error: f64,
    /// By how much distances from it are, in `f32`.
    roundings: f64,
    bound: f64,
    /// The `f32` that errors are measured from.
    base: f32,
    /// Two powers of two that make values moderate, one after the other: their product may be none of `f32`.
    scale: [f32; 2],
}

impl Parabola {
    fn through([v, w, z]: [f64; 3], error: f64, bound: f64) -> Option<Parabola> {
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
        Some(Parabola { coefficients, error, roundings: ROUNDINGS * extent, bound, base, scale })
    }

    /// The greatest distance of results from the parabola; a NaN if one of them is.
    fn greatest_error(&self, results: &[u32; LANES]) -> f64 {
        let results = *results;
        let error = self.scaled();
        let greatest = vectorised(
            #[inline(always)]
            move || {
                let mut greatest = 0u32;
                for (i, bits) in results.into_iter().enumerate() {
                    // Magnitudes are ordered as their bits are, and NaNs come last.
                    greatest = greatest.max(error(i, bits).abs().to_bits());
                }
                greatest
            },
        );
        f64::from(f32::from_bits(greatest)) / self.scale()
    }

    /// The distance of each result from the parabola, to the scale of [`Parabola::distance`].
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

    /// The greatest distance at which the margin is certainly no more than this, scaled; a negative one if there is none.
    fn distance(&self, margin: f64) -> f32 {
        let distance = (margin * self.bound - self.roundings - self.error) / ROUNDED;
        // A rounding up is less than what `ROUNDED` leaves.
        (distance * self.scale()) as f32
    }

    fn scale(&self) -> f64 {
        let [s, t] = self.scale;
        f64::from(s) * f64::from(t)
    }

    /// The distance of a lane's result from the parabola, with its sign, times the scale.
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

    /// Error over bound for such a distance, at most.
    fn margin(&self, greatest: f64) -> f64 {
        (greatest * ROUNDED + self.roundings + self.error) / self.bound
    }

    /// The distance of one result from the parabola.
    fn error(&self, lane: usize, got: f64) -> f64 {
        let [a, b, c] = self.coefficients;
        let i = lane as f64;
        (got - (a + i * (b + i * c))).abs()
    }
}

/// Whether each is the next pattern after the one before.
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
    use crate::{Call, Modes, Reference, Scalar, Shape, Verdict, lanes::arithmetic::Lane, trace::Trace};
    use assay_float::F32;
    use rayon::prelude::*;

    const MODES: [&str; 5] = ["", "RoundingModeRTE", "DenormFlushToZero", "DenormPreserve", "SignedZeroInfNanPreserve"];

    /// Instructions of one single with what stretches they have, in a mode.
    fn screens(mode: &str) -> Vec<(Op, Reference, Screen)> {
        let modes = if mode.is_empty() { Modes::default() } else { Modes::default().with(mode).expect("a mode") };
        let reference = |op| Some(Call::new(op, Scalar::Float(F32), Shape::Scalar, None, modes).ok()?.reference());
        let screens = Op::ALL.iter().filter_map(|&op| {
            let reference = reference(op)?;
            let screen = Screen::new(reference.slots.first()?).filter(Screen::is_of_one_single)?;
            let discrete =
                matches!(screen.kernel, Kernel::Exact(exact) if of_one(exact, Fill(&[1.0; LANES])).is_some());
            (discrete || third(op).is_some()).then_some((op, reference, screen))
        });
        screens.collect()
    }

    /// First operands of groups: binades' ends and insides, the ends of domains, of both signs.
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

    /// The value that is nearest to what is exact, of each operand of a group, as far as the quick way knows it.
    fn nearest(screen: &Screen, start: u32) -> [u32; LANES] {
        let x: Lane = std::array::from_fn(|i| f64::from(f32::from_bits(start + i as u32)));
        let point = screen.of_one_single(Fill(&x)).expect("a function");
        std::array::from_fn(|i| (point.exact.value[i] as f32).to_bits())
    }

    /// Of the result after the one nearest to what is exact: how far it lies from that, at most, and its certain margin. The quick bound of one
    /// operand is moved inward as well; the certain one decides.
    fn margin_of_next(reference: &Reference, x: f64, point: &Point, lane: usize) -> Option<(f64, f64)> {
        let value = point.exact.value[lane];
        let got = (value as f32).to_bits().wrapping_add(1);
        let certain = reference.judge(0, &[u64::from((x as f32).to_bits())], got.into()).margin?;
        Some(((f64::from(f32::from_bits(got)) - value).abs() + point.exact.error[lane], certain))
    }

    /// Where a bound is inherited, what is said to be permitted all along a group is permitted for each of its operands: of groups everywhere,
    /// or with `ASSAY_FULL=1` of all 2^25 of them, where roundings are declared of every thirteenth (a quarter of an hour on two cores).
    #[test]
    fn bounds_along_groups_are_bounds_of_each_operand() {
        let full = std::env::var_os("ASSAY_FULL").is_some();
        for (mode, some, most) in [("", 401, 1), ("RoundingModeRTE", 1201, 13)] {
            let step = if full { most } else { some };
            let screens: Vec<_> = screens(mode).into_iter().filter(|(op, ..)| inner::has_jagged_bound(*op)).collect();
            let groups: u64 = screens
                .par_iter()
                .map(|(op, reference, screen)| groups_with_bounds(reference, screen, step, &format!("{op} {mode}")))
                .sum();
            assert!(groups > 5_000, "{groups}");
        }
    }

    /// Looks at one in `step` of a function's groups, each operand of them; how many have a bound.
    fn groups_with_bounds(reference: &Reference, screen: &Screen, step: usize, name: &str) -> u64 {
        let mut groups = 0;
        for first in (0..=u32::MAX / STRETCH as u32).step_by(step).map(|k| k * STRETCH as u32) {
            let operands: Vec<u32> = (0..STRETCH as u32).map(|i| first.wrapping_add(i)).collect();
            let Some(Stretch { way: Way::Smooth(smooth), .. }) = screen.stretch(&operands) else { continue };
            for (index, operands) in operands.chunks_exact(LANES).enumerate() {
                let end = operands[0].wrapping_add(2 * WIDTH - 1);
                let x = [0, 1, 2].map(|k| f64::from(f32::from_bits(operands[0].wrapping_add(k * WIDTH))));
                let clear = smooth.knots.any[index..index + 3].iter().all(|&any| any == 0.0);
                if operands[0] >> 23 != end >> 23 || !clear || x.contains(&0.0) {
                    continue;
                }
                let Some(parabola) = smooth.parabola(screen, index, x) else { continue };
                let lanes: Lane = std::array::from_fn(|i| f64::from(f32::from_bits(operands[i])));
                let point = screen.of_one_single(Fill(&lanes)).expect("a function");
                groups += 1;
                let holds = |i: usize| parabola.bound <= point.bound[i] && point.any[i] == 0.0;
                for i in (0..LANES).filter(|&i| !holds(i)) {
                    let margin = margin_of_next(reference, lanes[i], &point, i);
                    let permitted = margin.is_some_and(|(off, certain)| certain <= off / parabola.bound);
                    assert!(permitted, "{name} of {:e}: {margin:?}, {:e}", lanes[i], parabola.bound);
                }
            }
        }
        groups
    }

    /// The function lies no farther from its parabola than is said, and nothing less is permitted anywhere along it than is said.
    #[test]
    fn a_parabola_is_as_near_as_it_says() {
        let mut parabolas = 0;
        for (op, reference, screen) in MODES.iter().flat_map(|mode| screens(mode)) {
            for start in starts(1) {
                let stretch = screen.stretch(&operands(start)).expect("a stretch");
                let Way::Smooth(smooth) = &stretch.way else { continue };
                let x = [0, 1, 2].map(|knot| f64::from(f32::from_bits(start + knot * WIDTH)));
                let one_binade = start >> 23 == (start + 2 * WIDTH - 1) >> 23;
                let Some(parabola) = smooth.parabola(&screen, 0, x).filter(|_| one_binade) else { continue };
                let lanes: Lane = std::array::from_fn(|i| f64::from(f32::from_bits(start + i as u32)));
                let point = screen.of_one_single(Fill(&lanes)).expect("a function");
                if smooth.knots.any[..3].iter().any(|&any| any > 0.0) || named(op).is_some_and(|n| lanes.contains(&n)) {
                    continue;
                }
                let results = point.exact.value.map(|v| (v as f32).to_bits().wrapping_add(1));
                let distances = (0..LANES).map(|i| parabola.error(i, f32::from_bits(results[i]).into()));
                let (certain, quick) = (distances.fold(0.0, f64::max), parabola.greatest_error(&results));
                let most = parabola.roundings + (ROUNDED - 1.0) * certain;
                assert!((quick - certain).abs() <= most, "{op} at {:e}: {quick:e}, not {certain:e}", lanes[0]);
                for (i, x) in lanes.iter().enumerate() {
                    let off = parabola.error(i, point.exact.value[i]);
                    let place = format!("{op} at {x:e}");
                    assert!(off <= parabola.error + point.exact.error[i], "{place}: {off:e}, not {:e}", parabola.error);
                    let permitted = parabola.bound <= point.bound[i] || {
                        let margin = margin_of_next(&reference, *x, &point, i);
                        margin.is_some_and(|(distance, certain)| certain <= distance / parabola.bound)
                    };
                    assert!(permitted, "{place}: {:e}, not {:e}", point.bound[i], parabola.bound);
                }
                parabolas += 1;
            }
        }
        assert!(parabolas > 20_000, "{parabolas}");
    }

    /// What is settled passes, by a margin that is not less than the certain one and hardly more.
    #[test]
    fn margins_of_a_stretch_are_at_least_the_certain_ones() {
        let (mut settled, mut left, mut exaggerated) = (0, 0, 0);
        for (op, reference, screen) in MODES.iter().flat_map(|mode| screens(mode)) {
            for start in starts(23) {
                let stretch = screen.stretch(&operands(start)).expect("a stretch");
                let right = nearest(&screen, start);
                for off in [0, 1, 2] {
                    let results = std::array::from_fn(|i| right[i].wrapping_add(i as u32 * off % 3));
                    let Some(swept) = stretch.settle(0, &results, 77, f64::INFINITY) else {
                        left += usize::from(off == 0);
                        continue;
                    };
                    let judged = |i: usize| reference.judge(0, &[u64::from(start) + i as u64], results[i].into());
                    // All with the greatest error, as the quick way sees it, and some others.
                    let group = screen.group(
                        &[crate::Column::Words(&operands(start)[..LANES])],
                        crate::Column::Words(&results),
                        0,
                        LANES,
                    );
                    let screened = screen.glance(&group).or_else(|| screen.judge(&group));
                    let margins = screened.expect("a screen").margins;
                    let known = (0..LANES).filter(|&i| !margins[i].is_nan());
                    let greatest = known.max_by(|&a, &b| margins[a].total_cmp(&margins[b]));
                    let place = format!("{op} from {start:#010x}, off by {off}");
                    for judgement in greatest.into_iter().chain([0, 127]).map(judged) {
                        let allowed = [Verdict::Pass, Verdict::Unchecked];
                        assert!(allowed.contains(&judgement.verdict), "{place}: {judgement:?}");
                        let margin = judgement.margin.unwrap_or(-1.0);
                        assert!(
                            swept.settled.worst >= margin,
                            "{place}: {} is less than {margin}",
                            swept.settled.worst
                        );
                    }
                    let greatest = greatest.map_or(-1.0, |i| margins[i]);
                    let more = greatest + (greatest * 2.0 * HARDLY).max(2.0 * NOTHING);
                    if stretch.exaggerates() {
                        exaggerated += usize::from(swept.settled.worst > 1.5 * greatest + NOTHING);
                    } else {
                        assert!(swept.settled.worst <= more, "{place}: {} for {greatest}", swept.settled.worst);
                    }
                    settled += 1;
                }
            }
        }
        // A way that settles nothing would be useless, and pass.
        assert!(settled > 4_000 && left < settled / 4, "{settled} {left}");
        assert!(exaggerated < settled / 4, "{exaggerated} of {settled}");
    }

    /// One result just outside what is permitted, among right ones, is left to the certain way.
    #[test]
    fn one_wrong_result_unsettles_its_group() {
        let mut wrong = 0;
        for (op, reference, screen) in screens("") {
            for (n, start) in starts(37).enumerate() {
                let stretch = screen.stretch(&operands(start)).expect("a stretch");
                let lane = n * 29 % LANES;
                let right = nearest(&screen, start);
                if stretch.settle(0, &right, 77, f64::INFINITY).is_none() {
                    continue;
                }
                let operand = u64::from(start) + lane as u64;
                let set = reference.slots[0].evaluate(&[operand], None, false, &Trace::off()).set;
                let ends = set.ranges().iter().flat_map(|range| [range.lo - 1, range.hi + 1]);
                for rank in ends.filter(|rank| (F32.neg_infinity()..=F32.infinity()).contains(rank)) {
                    let outside = F32.bits(rank);
                    if reference.judge(0, &[operand], outside).verdict != Verdict::Fail {
                        continue;
                    }
                    let mut results = right;
                    results[lane] = outside as u32;
                    let swept = stretch.settle(0, &results, 77, f64::INFINITY);
                    assert!(swept.is_none(), "{op} from {start:#010x}, lane {lane}");
                    wrong += 1;
                }
            }
        }
        assert!(wrong > 500, "{wrong}");
    }

    /// Neither what does not begin a group nor what skips an operand is a stretch.
    #[test]
    fn a_stretch_is_of_consecutive_operands() {
        let (_, _, screen) = screens("").into_iter().find(|(op, ..)| *op == Op::Exp2).expect("Exp2");
        let mut consecutive = operands(0x3f80_0000);
        assert!(screen.stretch(&consecutive).is_some());
        assert!(screen.stretch(&operands(0x3f80_0001)).is_none());
        consecutive.swap(100, 101);
        assert!(screen.stretch(&consecutive).is_none());
    }
}
