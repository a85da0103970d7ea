//! SIMD evaluation of the permitted error for many inputs at once, as an inner approximation in
//! `f64`.
//!
//! [`Lanes`] evaluates the same formulas as [`Spans`](crate::spans::Spans), with the same table and
//! the same bounds, but in plain `f64` and as an *inner* approximation: a range contains only
//! values that the certified evaluation finds too, or that lie between two of those. Every end is
//! moved inward by a bound on the rounding errors of the `f64` arithmetic ([`SLACK`]), where
//! interval arithmetic would round outward. It follows that
//!
//! * a permitted error from here is never greater than the certified one, so that a result within
//!   it is permitted;
//! * `any` is set only where an operand that can occur leads to it, so that nothing is required of
//!   the result;
//! * every other outcome (a difference within the slack, a special value, a NaN on the way) decides
//!   nothing and is left to the certified evaluation.

pub(crate) mod arithmetic;
pub(crate) mod inner;
mod truth;
pub(crate) mod unary;
mod way;

use crate::{
    Rounding,
    algebra::Algebra,
    environment::Environment,
    formula::{Formula, NodeId},
    real::{Bound, Real},
    span::Stop,
};
use arithmetic::{Grid, LANES, Lane, SLACK, flag, greatest, lane, lanes, least, vectorised};
use assay_float::Dyadic;
use std::rc::Rc;
pub(crate) use truth::Exact;

/// Hull of some results that an operation may return, for each lane.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    /// Lower end: a permitted value, or one between permitted values.
    pub(crate) lo: Lane,
    /// Upper end: a permitted value, or one between permitted values.
    pub(crate) hi: Lane,
    /// 1.0 where an operand that can occur has no required result, otherwise 0.0.
    pub(crate) any: Lane,
    /// Set if the two ends are equal in every lane.
    point: bool,
}

impl Range {
    /// Range of operands with known values.
    pub(crate) fn point(values: &Lane) -> Rc<Range> {
        Rc::new(Range { lo: *values, hi: *values, any: [0.0; LANES], point: true })
    }
}

/// Evaluator of formulas for [`LANES`] inputs at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes<'a> {
    pub(crate) env: &'a Environment,
    pub(crate) grid: Grid,
}

/// Permitted results for operands with known values, for each lane: those whose error is at most
/// `bound`.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) exact: Exact,
    /// Lower bound on the permitted error.
    pub(crate) bound: Lane,
    pub(crate) any: Lane,
}

impl Lanes<'_> {
    /// Permitted results of an operation with a bound of its own, for known operands.
    pub(crate) fn real_point(&self, real: Real, x: &[&Lane]) -> Option<Point> {
        if let Some(point) = unary::direct(real, self, unary::Fill(x[0])) {
            return Some(point);
        }
        let (exact, any) = truth::real(real, x, self)?;
        let grid = self.grid;
        let f = &exact.value;
        let bound = match real.bound(self.env.rules, self.env.half_column()) {
            Bound::Rounded if self.env.rounding == Rounding::Rte => lanes!([f], |i| 0.5 * grid.ulp(f[i])),
            Bound::Rounded | Bound::Either => lanes!([f], |i| grid.ulp(f[i])),
            Bound::Ulps { half_ulps } => {
                let n = 0.5 * f64::from(half_ulps);
                lanes!([f], |i| n * grid.ulp(f[i]))
            }
            // These are bounds of functions of one operand, which `unary::direct` has handled.
            Bound::UlpsPlusTwiceX { .. } | Bound::Logarithm { .. } | Bound::Trigonometric { .. } => return None,
        };
        Some(Point { exact, bound, any })
    }

    /// Permitted results of a formula for known operands.
    ///
    /// The permitted error of an inherited precision is the distance `E` of the farthest result of
    /// any equivalent formula from the exact result. The bound is the distance of the farther end
    /// of the inner range from the approximate exact value, or the formula's absolute error if that
    /// is more, less the error of that value and the slack.
    pub(crate) fn formula_point(&self, formula: &Formula, x: &[&Lane]) -> Option<Point> {
        let operands: Vec<Rc<Range>> = x.iter().map(|x| self.uses(Range::point(x))).collect();
        let range = formula.range(self, &operands).ok()?;
        let exact = truth::formula(formula, x)?;
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
        Some(Point { exact, bound, any })
    }

    /// Ends of the permitted set, moved inward to values of the format. An end that overflows
    /// becomes an infinity.
    fn ends(&self, point: Point) -> Range {
        let Point { exact: Exact { value: v, error: e }, bound: b, any } = point;
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
        Range { lo, hi, any, point: false }
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
    fn corners(&self, a: &Range, b: &Range, operation: impl Fn(f64, f64) -> f64) -> Rc<Range> {
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
        Rc::new(self.settled(Range { lo, hi, any, point: false }))
    }

    /// Applies flushing, where intermediate results may be flushed, and marks lanes with an
    /// overflow, where infinities are assumed not to occur.
    fn settled(&self, mut range: Range) -> Range {
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
    fn uses(&self, range: Rc<Range>) -> Rc<Range> {
        let min_normal = self.grid.min_normal;
        let denormal = |v: &f64| *v != 0.0 && v.abs() < min_normal;
        if !self.env.flush_inside || !range.lo.iter().any(denormal) {
            return range;
        }
        Rc::new(Range { point: false, ..self.settled((*range).clone()) })
    }

    /// Hull of the results at some corners of the operands' box.
    fn at_corners(&self, operands: &[Rc<Range>], point: impl Fn(&[&Lane]) -> Option<Point>) -> Result<Rc<Range>, Stop> {
        let free: Vec<usize> = (0..operands.len()).filter(|&k| !operands[k].point).collect();
        // All corners are visited if at most two operands are ranges, otherwise the two at which
        // all operands are at the same end. Fewer corners leave an inner range.
        let corners = if free.len() <= 2 { 1usize << free.len() } else { 2 };
        let mut found: Option<Range> = None;
        for corner in 0..corners {
            let upper = |k: usize| match free.iter().position(|&f| f == k) {
                Some(_) if free.len() > 2 => corner == 1,
                Some(bit) => corner >> bit & 1 == 1,
                None => false,
            };
            let x: Vec<&Lane> =
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
        Ok(Rc::new(self.settled(range)))
    }
}

/// Returns a NaN if either of `a` and `b` is one, otherwise the third argument.
#[inline(always)]
fn nan_or(a: f64, b: f64, otherwise: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { otherwise }
}

/// Hull of two ranges.
fn merged(a: &Range, b: &Range) -> Range {
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

impl Algebra for Lanes<'_> {
    type Range = Rc<Range>;

    fn constant(&self, value: Dyadic) -> Result<Rc<Range>, Stop> {
        Ok(Range::point(&[value.to_f64(); LANES]))
    }

    fn radians_per_degree(&self) -> Result<Rc<Range>, Stop> {
        Ok(self.neighbours(std::f64::consts::PI / 180.0))
    }

    fn degrees_per_radian(&self) -> Result<Rc<Range>, Stop> {
        Ok(self.neighbours(180.0 / std::f64::consts::PI))
    }

    fn add(&self, a: &Rc<Range>, b: &Rc<Range>) -> Result<Rc<Range>, Stop> {
        Ok(self.corners(a, b, |x, y| x + y))
    }

    fn mul(&self, a: &Rc<Range>, b: &Rc<Range>) -> Result<Rc<Range>, Stop> {
        Ok(self.corners(a, b, |x, y| x * y))
    }

    fn neg(&self, a: &Rc<Range>) -> Rc<Range> {
        Rc::new(Range { lo: a.hi.map(|v| -v), hi: a.lo.map(|v| -v), ..(**a).clone() })
    }

    fn hull(&self, a: &Rc<Range>, b: &Rc<Range>) -> Rc<Range> {
        Rc::new(merged(a, b))
    }

    fn real(&self, real: Real, operands: &[Rc<Range>]) -> Result<Rc<Range>, Stop> {
        let range = self.at_corners(operands, |x| self.real_point(real, x))?;
        // A zero between the ends of an operand is as possible as the ends are. A zero divisor, or
        // two zeros for Atan2, permit anything.
        let excluded = match real {
            Real::Div => &operands[1..],
            Real::Atan2 => operands,
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

    fn inherited(&self, formula: &Formula, operands: &[Rc<Range>]) -> Result<Rc<Range>, Stop> {
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

    fn bind(&self, value: &Rc<Range>, body: &Formula) -> Result<Rc<Range>, Stop> {
        // The hull of the results for two values of the variable, each in all its uses.
        let least = body.range(self, &[Range::point(&value.lo)])?;
        let mut range = if value.point {
            (*least).clone()
        } else {
            merged(&least, &*body.range(self, &[Range::point(&value.hi)])?)
        };
        vectorised(|| (0..LANES).for_each(|i| range.any[i] = greatest(range.any[i], value.any[i])));
        Ok(Rc::new(range))
    }

    fn integral(&self, operand: &Rc<Range>, toward_zero: bool) -> Result<Rc<Range>, Stop> {
        let round = |v: f64| if toward_zero { v.trunc() } else { v.floor() };
        let (lo, hi) = vectorised(|| (lane(|i| round(operand.lo[i])), lane(|i| round(operand.hi[i]))));
        Ok(Rc::new(Range { lo, hi, ..(**operand).clone() }))
    }

    fn clamp_to_unit(&self, operand: &Rc<Range>) -> Result<Rc<Range>, Stop> {
        let unit = |v: f64| v.clamp(0.0, 1.0);
        Ok(Rc::new(Range { lo: operand.lo.map(unit), hi: operand.hi.map(unit), ..(**operand).clone() }))
    }

    fn not_negative(&self, operand: &Rc<Range>) -> Result<Rc<Range>, Stop> {
        let clamp = |v: f64| if v < 0.0 { 0.0 } else { v };
        Ok(Rc::new(Range { lo: operand.lo.map(clamp), hi: operand.hi.map(clamp), ..(**operand).clone() }))
    }

    fn select(
        &self,
        condition: &Rc<Range>,
        negative: impl FnOnce() -> Result<Rc<Range>, Stop>,
        otherwise: impl FnOnce() -> Result<Rc<Range>, Stop>,
    ) -> Result<Rc<Range>, Stop> {
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

    fn settle(&self, _: &Formula, _: NodeId, range: Rc<Range>) -> Result<Rc<Range>, Stop> {
        // The operations above apply `settled` themselves.
        Ok(range)
    }
}

impl Lanes<'_> {
    fn neighbours(&self, value: f64) -> Rc<Range> {
        let (lo, hi) = (self.grid.floor(value), self.grid.ceil(value));
        Rc::new(Range { lo: [lo; LANES], hi: [hi; LANES], any: [0.0; LANES], point: false })
    }
}
