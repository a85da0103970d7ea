//! The quick evaluation: many inputs at once, from inside.
//!
//! [`Lanes`] evaluates formulas like [`Spans`](crate::spans::Spans) does, but in `f64` and *from inside*: a range here is the hull of some
//! values that the certain evaluation would find too, each end moved inward by what the arithmetic may be off. So
//!
//! * an error bound from here is never greater than the certain one: a result within it is permitted;
//! * "anything" from here follows from an operand that may really occur: nothing is required indeed;
//! * whatever else comes out (too close to call, a special value, a NaN on the way) is left to the certain evaluation.
//!
//! Tables, bounds and formulas are the same; only the arithmetic differs.

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

/// Values that an operation may give, for each lane.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    /// One of the least.
    pub(crate) lo: Lane,
    /// One of the greatest.
    pub(crate) hi: Lane,
    /// 1.0 where nothing is required: an operand that may occur leads there.
    pub(crate) any: Lane,
    /// Whether the ends are the same in every lane.
    point: bool,
}

impl Range {
    /// Operands with known values.
    pub(crate) fn point(values: &Lane) -> Rc<Range> {
        Rc::new(Range { lo: *values, hi: *values, any: [0.0; LANES], point: true })
    }
}

/// Evaluates formulas in lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes<'a> {
    pub(crate) env: &'a Environment,
    pub(crate) grid: Grid,
}

/// What is permitted for operands with known values, for each lane: an error below `bound`.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) exact: Exact,
    /// At most the permitted error.
    pub(crate) bound: Lane,
    pub(crate) any: Lane,
}

impl Lanes<'_> {
    /// What an operation with a bound of its own permits for known operands.
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
            // Of functions of one operand only.
            Bound::UlpsPlusTwiceX { .. } | Bound::Logarithm { .. } | Bound::Trigonometric { .. } => return None,
        };
        Some(Point { exact, bound, any })
    }

    /// What a formula permits for known operands.
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

    /// The ends of what is permitted, moved inward to values of the format. An overflow is an infinity.
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
                // Moved past each other they are no values of the set, and their hull would be more than it.
                let known = low <= high;
                (lo[i], hi[i]) = if known { (low, high) } else { (f64::NAN, f64::NAN) };
            }
        });
        Range { lo, hi, any, point: false }
    }

    /// Correctly rounded: the ends of what rounding may give of a value that is off by less than the slack.
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

    /// A correctly rounded operation, monotone in each operand, at its corners.
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

    /// Flushed where it may be, and not overflown where that is assumed not to happen.
    fn settled(&self, mut range: Range) -> Range {
        let max = self.grid.max;
        let (min_normal, flush, overflow) = (self.grid.min_normal, self.env.flush_inside, self.env.not_inf);
        vectorised(|| {
            for i in 0..LANES {
                let (lo, hi) = (range.lo[i], range.hi[i]);
                let infinite = lo < -max || hi > max;
                // Without the assumption infinities are left to the certain evaluation.
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

    /// An operand as an operation may read it.
    fn uses(&self, range: Rc<Range>) -> Rc<Range> {
        let min_normal = self.grid.min_normal;
        let denormal = |v: &f64| *v != 0.0 && v.abs() < min_normal;
        if !self.env.flush_inside || !range.lo.iter().any(denormal) {
            return range;
        }
        Rc::new(Range { point: false, ..self.settled((*range).clone()) })
    }

    /// The hull of what an operation permits at some corners of its operands.
    fn at_corners(&self, operands: &[Rc<Range>], point: impl Fn(&[&Lane]) -> Option<Point>) -> Result<Rc<Range>, Stop> {
        let free: Vec<usize> = (0..operands.len()).filter(|&k| !operands[k].point).collect();
        // All corners of two operands; of more, only those at which all are at the same end.
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

/// A NaN among the first two, else the third.
#[inline(always)]
fn nan_or(a: f64, b: f64, otherwise: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { otherwise }
}

/// The hull of two ranges.
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
        // A zero between the ends is as possible as they are.
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
                // A zero operand gives zero, whatever the formula says.
                for (i, _) in x[0].iter().enumerate().filter(|(_, v)| **v == 0.0) {
                    (point.exact.value[i], point.exact.error[i]) = (0.0, 0.0);
                    (point.bound[i], point.any[i]) = (0.0, 0.0);
                }
            }
            Some(point)
        })
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
        // Operations settle what they return.
        Ok(range)
    }
}

impl Lanes<'_> {
    fn neighbours(&self, value: f64) -> Rc<Range> {
        let (lo, hi) = (self.grid.floor(value), self.grid.ceil(value));
        Rc::new(Range { lo: [lo; LANES], hi: [hi; LANES], any: [0.0; LANES], point: false })
    }
}
