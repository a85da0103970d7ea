//! SIMD evaluation of the permitted error for many inputs at once, as an inner approximation in
//! `f64`.
//!
//! [`SimdEvaluator`] evaluates the same formulas as
//! [`IntervalEvaluator`](crate::interval_eval::IntervalEvaluator), with the same table and the same
//! bounds, but in plain `f64` and as an *inner* approximation: a range contains only values that
//! the certified evaluation finds too, or that lie between two of those. Every end is moved inward
//! by a bound on the rounding errors of the `f64` arithmetic ([`SLACK`]), where interval arithmetic
//! would round outward. It follows that
//!
//! * a permitted error from here is never greater than the certified one, so that a result within
//!   it is permitted;
//! * `any` is set only where an operand that can occur leads to it, so that nothing is required of
//!   the result;
//! * every other outcome (a difference within the slack, a special value, a NaN on the way) decides
//!   nothing and is left to the certified evaluation.

pub(crate) mod arithmetic;
pub(crate) mod inner_bound;
mod reference_value;
mod rounding_path;
pub(crate) mod unary;

use crate::{
    Rounding,
    environment::Environment,
    evaluator::Evaluator,
    formula::{Formula, NodeId},
    rank_interval::Stop,
    real_op::{Bound, RealOp},
};
use arithmetic::{Grid, LANES, LaneValues, SLACK, flag, greatest, lane, lanes, least, vectorised};
use assay_float::Dyadic;
pub(crate) use reference_value::ReferenceValue;
use std::rc::Rc;

/// Hull of some results that an operation may return, for each lane.
#[derive(Clone, Debug)]
pub(crate) struct LaneRange {
    /// Lower end: a permitted value, or one between permitted values.
    pub(crate) lo: LaneValues,
    /// Upper end: a permitted value, or one between permitted values.
    pub(crate) hi: LaneValues,
    /// 1.0 where an operand that can occur has no required result, otherwise 0.0.
    pub(crate) any: LaneValues,
    /// Set if the two ends are equal in every lane.
    point: bool,
}

impl LaneRange {
    /// Range of operands with known values.
    pub(crate) fn point(values: &LaneValues) -> Rc<LaneRange> {
        Rc::new(LaneRange { lo: *values, hi: *values, any: [0.0; LANES], point: true })
    }
}

/// Evaluator of formulas for [`LANES`] inputs at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimdEvaluator<'a> {
    pub(crate) env: &'a Environment,
    pub(crate) grid: Grid,
}

/// Permitted results for operands with known values, for each lane: those whose error is at most
/// `bound`.
#[derive(Clone, Debug)]
pub(crate) struct LaneBounds {
    pub(crate) exact: ReferenceValue,
    /// Lower bound on the permitted error.
    pub(crate) bound: LaneValues,
    pub(crate) any: LaneValues,
}

impl SimdEvaluator<'_> {
    /// Permitted results of an operation with a bound of its own, for known operands.
    pub(crate) fn real_point(&self, real: RealOp, x: &[&LaneValues]) -> Option<LaneBounds> {
        if let Some(point) = unary::visit_stated_bound(real, self, unary::FillLanes(x[0])) {
            return Some(point);
        }
        let (exact, any) = reference_value::real_operation(real, x, self)?;
        let grid = self.grid;
        let f = &exact.value;
        let bound = match real.bound(self.env.specification, self.env.half_column()) {
            Bound::Rounded if self.env.rounding == Rounding::Rte => lanes!([f], |i| 0.5 * grid.ulp(f[i])),
            Bound::Rounded | Bound::Either => lanes!([f], |i| grid.ulp(f[i])),
            Bound::Ulps { half_ulps } => {
                let n = 0.5 * f64::from(half_ulps);
                lanes!([f], |i| n * grid.ulp(f[i]))
            }
            // These are bounds of functions of one operand, which `unary::visit_stated_bound` has
            // handled.
            Bound::UlpsPlusTwiceX { .. } | Bound::Logarithm { .. } | Bound::Trigonometric { .. } => return None,
        };
        Some(LaneBounds { exact, bound, any })
    }

    /// Permitted results of a formula for known operands.
    ///
    /// The permitted error of an inherited precision is the distance `E` of the farthest result of
    /// any equivalent formula from the exact result. The bound is the distance of the farther end
    /// of the inner range from the approximate exact value, or the formula's absolute error if that
    /// is more, less the error of that value and the slack.
    pub(crate) fn formula_point(&self, formula: &Formula, x: &[&LaneValues]) -> Option<LaneBounds> {
        let operands: Vec<Rc<LaneRange>> = x.iter().map(|x| self.values_in_use(LaneRange::point(x))).collect();
        let range = formula.range(self, &operands).ok()?;
        let exact = reference_value::formula(formula, x)?;
        let (v, e) = (&exact.value, &exact.error);
        let absolute =
            formula.absolute.map_or(0.0, |(digits, exponent)| digits as f64 / 10f64.powi(exponent.cast_signed()));
        let bound = vectorised(|| {
            lane(|i| {
                let farthest = greatest((v[i] - range.lo[i]).abs(), (v[i] - range.hi[i]).abs());
                let farthest = greatest(farthest, absolute);
                farthest - e[i] - SLACK * farthest
            })
        });
        let mut any = range.any;
        if self.env.not_inf {
            let max = self.grid.max;
            vectorised(|| {
                (0..LANES).for_each(|i| any[i] = greatest(any[i], flag(range.lo[i] < -max || range.hi[i] > max)))
            });
        }
        Some(LaneBounds { exact, bound, any })
    }

    /// Ends of the permitted set, moved inward to values of the format. An end that overflows
    /// becomes an infinity.
    fn ends(&self, point: LaneBounds) -> LaneRange {
        let LaneBounds { exact: ReferenceValue { value: v, error: e }, bound: b, any } = point;
        let grid = self.grid;
        let (mut lo, mut hi) = ([0.0; LANES], [0.0; LANES]);
        vectorised(|| {
            for i in 0..LANES {
                let inward = e[i] + SLACK * (v[i].abs() + b[i]);
                let (least, greatest) = (v[i] - b[i] + inward, v[i] + b[i] - inward);
                let low = if least < -grid.max { f64::NEG_INFINITY } else { grid.ceil(least) };
                let high = if greatest > grid.max { f64::INFINITY } else { grid.floor(greatest) };
                // Ends that were moved past each other are not members of the set, and their hull
                // would exceed it.
                let known = low <= high;
                (lo[i], hi[i]) = if known { (low, high) } else { (f64::NAN, f64::NAN) };
            }
        });
        LaneRange { lo, hi, any, point: false }
    }

    /// Least and greatest correctly rounded result of an exact value that differs from `v` by at
    /// most `SLACK / 64` relatively. A NaN where the slack leaves the result undecided, and with
    /// round toward zero.
    #[inline(always)]
    pub(crate) fn rounded(&self, v: f64, rounding: Rounding) -> (f64, f64) {
        let grid = self.grid;
        let slack = SLACK / 64.0 * v.abs();
        match rounding {
            Rounding::Undeclared => {
                let (lo, hi) = (grid.floor(v + slack), grid.ceil(v - slack));
                let clamp = |r: f64| {
                    if r > grid.max {
                        f64::INFINITY
                    } else if r < -grid.max {
                        f64::NEG_INFINITY
                    } else {
                        r
                    }
                };
                (clamp(lo), clamp(hi))
            }
            Rounding::Rtz => (f64::NAN, f64::NAN),
            Rounding::Rte => {
                let (a, b) = (grid.nearest(v + slack), grid.nearest(v - slack));
                let nearest = if a == b && a.abs() <= grid.max { a } else { f64::NAN };
                (nearest, nearest)
            }
        }
    }

    /// Range of a correctly rounded operation that is monotone in each operand: the hull of its
    /// results at the corners.
    fn corners(&self, a: &LaneRange, b: &LaneRange, operation: impl Fn(f64, f64) -> f64) -> Rc<LaneRange> {
        let rounding = self.env.rounding;
        let (mut lo, mut hi, mut any) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        vectorised(|| {
            for i in 0..LANES {
                (lo[i], hi[i]) = self.rounded(operation(a.lo[i], b.lo[i]), rounding);
                any[i] = greatest(a.any[i], b.any[i]);
            }
        });
        for (p, q, needed) in [(&a.lo, &b.hi, !b.point), (&a.hi, &b.lo, !a.point), (&a.hi, &b.hi, !a.point && !b.point)]
        {
            if needed {
                vectorised(|| {
                    for i in 0..LANES {
                        let (l, h) = self.rounded(operation(p[i], q[i]), rounding);
                        lo[i] = nan_or(l, lo[i], least(l, lo[i]));
                        hi[i] = nan_or(h, hi[i], greatest(h, hi[i]));
                    }
                });
            }
        }
        Rc::new(self.as_intermediate(LaneRange { lo, hi, any, point: false }))
    }

    /// Applies flushing, where intermediate results may be flushed, and marks lanes with an
    /// overflow, where infinities are assumed not to occur.
    fn as_intermediate(&self, mut range: LaneRange) -> LaneRange {
        let max = self.grid.max;
        let (min_normal, flush, overflow) = (self.grid.min_normal, self.env.flush_inside, self.env.not_inf);
        vectorised(|| {
            for i in 0..LANES {
                let (lo, hi) = (range.lo[i], range.hi[i]);
                let infinite = lo < -max || hi > max;
                // Without that assumption, infinities are left to the certified evaluation.
                range.any[i] = greatest(range.any[i], flag(infinite && overflow));
                let unknown = infinite && !overflow;
                if flush {
                    range.lo[i] = if lo > 0.0 && lo < min_normal { 0.0 } else { lo };
                    range.hi[i] = if hi < 0.0 && hi > -min_normal { 0.0 } else { hi };
                }
                range.lo[i] = if unknown { f64::NAN } else { range.lo[i] };
            }
        });
        range
    }

    /// Operand as an operation may read it: flushed if it is denormal and may be flushed.
    fn values_in_use(&self, range: Rc<LaneRange>) -> Rc<LaneRange> {
        let min_normal = self.grid.min_normal;
        let denormal = |v: &f64| *v != 0.0 && v.abs() < min_normal;
        if !self.env.flush_inside || !range.lo.iter().any(denormal) {
            return range;
        }
        Rc::new(LaneRange { point: false, ..self.as_intermediate((*range).clone()) })
    }

    /// Hull of the results at some corners of the operands' box.
    fn at_corners(
        &self,
        operands: &[Rc<LaneRange>],
        point: impl Fn(&[&LaneValues]) -> Option<LaneBounds>,
    ) -> Result<Rc<LaneRange>, Stop> {
        let free: Vec<usize> = (0..operands.len()).filter(|&k| !operands[k].point).collect();
        // All corners are visited if at most two operands are ranges, otherwise the two at which
        // all operands are at the same end. Fewer corners leave an inner range.
        let corners = if free.len() <= 2 { 1usize << free.len() } else { 2 };
        let mut found: Option<LaneRange> = None;
        for corner in 0..corners {
            let upper = |k: usize| match free.iter().position(|&f| f == k) {
                Some(_) if free.len() > 2 => corner == 1,
                Some(bit) => corner >> bit & 1 == 1,
                None => false,
            };
            let x: Vec<&LaneValues> =
                operands.iter().enumerate().map(|(k, o)| if upper(k) { &o.hi } else { &o.lo }).collect();
            let ends = self.ends(point(&x).ok_or(Stop::Undecided)?);
            found = Some(match found {
                Some(found) => merged(&found, &ends),
                None => ends,
            });
        }
        let mut range = found.ok_or(Stop::Undecided)?;
        for operand in operands {
            vectorised(|| (0..LANES).for_each(|i| range.any[i] = greatest(range.any[i], operand.any[i])));
        }
        Ok(Rc::new(self.as_intermediate(range)))
    }
}

/// Returns a NaN if either of `a` and `b` is one, otherwise the third argument.
#[inline(always)]
fn nan_or(a: f64, b: f64, otherwise: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { otherwise }
}

/// Hull of two ranges.
fn merged(a: &LaneRange, b: &LaneRange) -> LaneRange {
    let mut range = a.clone();
    range.point = false;
    vectorised(|| {
        for i in 0..LANES {
            range.lo[i] = nan_or(a.lo[i], b.lo[i], least(a.lo[i], b.lo[i]));
            range.hi[i] = nan_or(a.hi[i], b.hi[i], greatest(a.hi[i], b.hi[i]));
            range.any[i] = greatest(a.any[i], b.any[i]);
        }
    });
    range
}

impl Evaluator for SimdEvaluator<'_> {
    type Range = Rc<LaneRange>;

    fn constant(&self, value: Dyadic) -> Result<Rc<LaneRange>, Stop> {
        Ok(LaneRange::point(&[value.to_f64(); LANES]))
    }

    fn radians_per_degree(&self) -> Result<Rc<LaneRange>, Stop> {
        Ok(self.neighbours(std::f64::consts::PI / 180.0))
    }

    fn degrees_per_radian(&self) -> Result<Rc<LaneRange>, Stop> {
        Ok(self.neighbours(180.0 / std::f64::consts::PI))
    }

    fn add(&self, a: &Rc<LaneRange>, b: &Rc<LaneRange>) -> Result<Rc<LaneRange>, Stop> {
        Ok(self.corners(a, b, |x, y| x + y))
    }

    fn mul(&self, a: &Rc<LaneRange>, b: &Rc<LaneRange>) -> Result<Rc<LaneRange>, Stop> {
        Ok(self.corners(a, b, |x, y| x * y))
    }

    fn neg(&self, a: &Rc<LaneRange>) -> Rc<LaneRange> {
        Rc::new(LaneRange { lo: a.hi.map(|v| -v), hi: a.lo.map(|v| -v), ..(**a).clone() })
    }

    fn hull(&self, a: &Rc<LaneRange>, b: &Rc<LaneRange>) -> Rc<LaneRange> {
        Rc::new(merged(a, b))
    }

    fn real(&self, real: RealOp, operands: &[Rc<LaneRange>]) -> Result<Rc<LaneRange>, Stop> {
        let range = self.at_corners(operands, |x| self.real_point(real, x))?;
        // A zero between the ends of an operand is as possible as the ends are. A zero divisor, or
        // two zeros for Atan2, permit anything.
        let excluded = match real {
            RealOp::Div => &operands[1..],
            RealOp::Atan2 => operands,
            _ => return Ok(range),
        };
        let mut range = (*range).clone();
        vectorised(|| {
            for i in 0..LANES {
                let zero = excluded.iter().all(|o| o.lo[i] <= 0.0 && o.hi[i] >= 0.0);
                range.any[i] = greatest(range.any[i], flag(zero));
            }
        });
        Ok(Rc::new(range))
    }

    fn inherited(&self, formula: &Formula, operands: &[Rc<LaneRange>]) -> Result<Rc<LaneRange>, Stop> {
        self.at_corners(operands, |x| {
            let mut point = self.formula_point(formula, x)?;
            if formula.zero_is_zero && !self.env.zero_unspecified {
                // A zero operand gives exactly zero, whatever the formula gives.
                for (i, _) in x[0].iter().enumerate().filter(|(_, v)| **v == 0.0) {
                    (point.exact.value[i], point.exact.error[i]) = (0.0, 0.0);
                    (point.bound[i], point.any[i]) = (0.0, 0.0);
                }
            }
            Some(point)
        })
    }

    fn bind(&self, value: &Rc<LaneRange>, body: &Formula) -> Result<Rc<LaneRange>, Stop> {
        // The hull of the results for two values of the variable, each in all its uses.
        let least = body.range(self, &[LaneRange::point(&value.lo)])?;
        let mut range = if value.point {
            (*least).clone()
        } else {
            merged(&least, &*body.range(self, &[LaneRange::point(&value.hi)])?)
        };
        vectorised(|| (0..LANES).for_each(|i| range.any[i] = greatest(range.any[i], value.any[i])));
        Ok(Rc::new(range))
    }

    fn integral(&self, operand: &Rc<LaneRange>, toward_zero: bool) -> Result<Rc<LaneRange>, Stop> {
        let round = |v: f64| if toward_zero { v.trunc() } else { v.floor() };
        let (lo, hi) = vectorised(|| (lane(|i| round(operand.lo[i])), lane(|i| round(operand.hi[i]))));
        Ok(Rc::new(LaneRange { lo, hi, ..(**operand).clone() }))
    }

    fn clamp_to_unit(&self, operand: &Rc<LaneRange>) -> Result<Rc<LaneRange>, Stop> {
        let unit = |v: f64| v.clamp(0.0, 1.0);
        Ok(Rc::new(LaneRange { lo: operand.lo.map(unit), hi: operand.hi.map(unit), ..(**operand).clone() }))
    }

    fn not_negative(&self, operand: &Rc<LaneRange>) -> Result<Rc<LaneRange>, Stop> {
        let clamp = |v: f64| if v < 0.0 { 0.0 } else { v };
        Ok(Rc::new(LaneRange { lo: operand.lo.map(clamp), hi: operand.hi.map(clamp), ..(**operand).clone() }))
    }

    fn select(
        &self,
        condition: &Rc<LaneRange>,
        negative: impl FnOnce() -> Result<Rc<LaneRange>, Stop>,
        otherwise: impl FnOnce() -> Result<Rc<LaneRange>, Stop>,
    ) -> Result<Rc<LaneRange>, Stop> {
        let (negative, otherwise) = (negative()?, otherwise()?);
        let mut range = merged(&negative, &otherwise);
        for i in 0..LANES {
            let only = match (condition.lo[i] < 0.0, condition.hi[i] >= 0.0) {
                (true, true) => continue,
                (true, false) => &negative,
                (false, true) => &otherwise,
                (false, false) => {
                    (range.lo[i], range.hi[i]) = (f64::NAN, f64::NAN);
                    continue;
                }
            };
            (range.lo[i], range.hi[i], range.any[i]) = (only.lo[i], only.hi[i], only.any[i]);
        }
        for i in 0..LANES {
            range.any[i] = greatest(range.any[i], condition.any[i]);
        }
        Ok(Rc::new(range))
    }

    fn settle(&self, _: &Formula, _: NodeId, range: Rc<LaneRange>) -> Result<Rc<LaneRange>, Stop> {
        // The operations above apply `as_intermediate` themselves.
        Ok(range)
    }
}

impl SimdEvaluator<'_> {
    fn neighbours(&self, value: f64) -> Rc<LaneRange> {
        let (lo, hi) = (self.grid.floor(value), self.grid.ceil(value));
        Rc::new(LaneRange { lo: [lo; LANES], hi: [hi; LANES], any: [0.0; LANES], point: false })
    }
}
