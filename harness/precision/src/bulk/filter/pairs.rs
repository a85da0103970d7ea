//! Filter for instructions of two operands: pairs of halves, and discrete operations on pairs of
//! any narrow type.
//!
//! # Method
//!
//! For each pair the filter computes the infinitely precise result `v`, a bound `e` on its error, an
//! upper bound `s` on the reciprocal of the permitted error, and an interval `[lo, hi]` of results that are permitted
//! whatever their margins. The margin of a result `r` is `(|r - v| + e) s`. A result passes inside the interval, or, unless the interval is the
//! whole permitted set, with a margin of at most [`CERTAIN`].
//!
//! # Exactness
//!
//! A half is a multiple of `2^-24` below `2^16` with 11 significant bits. Hence, in `f64`,
//!
//! * a sum or difference of two halves is exact: it has at most `16 + 24 + 1 = 41` bits;
//! * a product is exact: it has at most 22 bits;
//! * a quotient `q = x / y` is on the right side of, or equal to, every number `g` with at most 13
//!   significant bits. Let `x = a 2^i`, `y = b 2^j`, `g = c 2^k` with integers `a, b < 2^11`, `c <
//!   2^13`. If `q != g`, then `|q - g| = |a 2^(i - j) - b c 2^k| / b`, whose numerator is a non-zero
//!   multiple of the lesser of `2^(i - j)` and `2^k`. Relative to `q`, respectively to `g`, this is
//!   at least `1 / (a b) > 2^-22` or `1 / (b c) > 2^-24`, far above the `2^-53` of the division. If
//!   `q = g`, then the division is exact.
//!
//! The ends `q ± 2.5 ulp(q)` are compared with halves, that is `q` with numbers of at most 13
//! significant bits, and the integral parts of `q` are those of the exact quotient.
//!
//! Rounding to the grid of halves ([`Grid`]) is exact for exact numbers, ties included.
//!
//! # Readings of denormal operands
//!
//! Where denormal operands may be flushed, a result passes if it does so for some choice of the
//! denormal operands as they are or as zeros of their own signs; nothing is required of it if
//! nothing is for some choice. The certified evaluation forms the same union, with zeros of either
//! sign where signs matter.
//!
//! # Limits
//!
//! Only Vulkan's rules are handled. Left to the certified evaluation are infinite operands of
//! operations other than discrete ones, divisions by zero if infinities or NaNs are significant,
//! and Pow outside sweeps, because its tables cost more than a few thousand certified evaluations.

#[cfg(test)]
mod agreement;

use super::{
    CERTAIN, Decoder, Filter, FilterOutcome, GroupCounts, LaneGroup, MarginRule, SpecialResults,
    ordered::GroupVerdict,
    pair_outcome::{HalfRounding, PairOutcome, RTE, RTZ, UNDECLARED, reciprocal},
    pow::{self, PowTables},
};
use crate::{
    Op, Rounding, Scalar, Specification,
    bound::divisor_exponent,
    bulk::simd::arithmetic::{LANES, LaneValues, SLACK, flag, greatest, least, power_of_two, vectorised},
    discrete_op::{DiscreteOp, Relation},
    real_op::{Bound, RealOp},
    result_slot::{ResultRule, ResultSlot},
};
use assay_float::{F16, f64_kernels};

/// Use of a function of two operands, compiled once for each function (static dispatch).
pub(super) trait PairVisitor {
    /// Result of the use.
    type Output;

    /// Applies this use to a function.
    fn visit(self, function: impl Fn(f64, f64) -> PairOutcome) -> Self::Output;
}

/// `x - y * floor(x / y)`, or `trunc` for `floor`, of finite halves.
///
/// The range is that of the certified evaluation: the quotient's ends with an error of 2.5 ulp,
/// their integral parts `w`, the products `y w`, correctly rounded, and the differences, correctly
/// rounded. Each step is monotone in the one before, so that the ends suffice. Where intermediate
/// results may be flushed, a range that holds a denormal number and no zero extends to zero.
#[derive(Clone, Copy)]
struct Remainder<const MODE: u8, const TOWARD_ZERO: bool> {
    rounding: HalfRounding<MODE>,
    divisor: [f64; 2],
    /// Magnitude below which intermediate results may be flushed; 0 if none may be.
    flush_below: f64,
    /// 1.0 if infinities are assumed not to occur, otherwise 0.0.
    not_inf: f64,
}

impl<const MODE: u8, const TOWARD_ZERO: bool> Remainder<MODE, TOWARD_ZERO> {
    #[inline(always)]
    fn integral(v: f64) -> f64 {
        if TOWARD_ZERO { v.trunc() } else { v.floor() }
    }

    /// Range with zero if it holds a denormal number and no zero.
    #[inline(always)]
    fn flushed(self, lo: f64, hi: f64) -> (f64, f64) {
        let lo_flushed = (lo > 0.0) & (lo < self.flush_below);
        let hi_flushed = (hi < 0.0) & (hi > -self.flush_below);
        (if lo_flushed { 0.0 } else { lo }, if hi_flushed { 0.0 } else { hi })
    }

    #[inline(always)]
    fn outcome(self, x: f64, y: f64) -> PairOutcome {
        let grid = self.rounding.grid;
        let q = x / y;
        let reach = 2.5 * grid.ulp(q);
        let (least_q, greatest_q) = (q - reach, q + reach);
        // A denormal dividend that may be read as zero, with the quotients of zero.
        let tiny = (x != 0.0) & (x.abs() < self.flush_below);
        let quantum = 2.0 * grid.spacing(0.0);
        let (lo, hi) = (grid.ceil(least_q), grid.floor(greatest_q));
        let lo = if tiny { least(lo, -quantum) } else { lo };
        let hi = if tiny { greatest(hi, quantum) } else { hi };
        let (lo, hi) = self.flushed(lo, hi);
        let (p, r) = (y * Self::integral(lo), y * Self::integral(hi));
        let (p, r) = if y < 0.0 { (r, p) } else { (p, r) };
        let (lo, hi) = (self.rounding.ends(p).0, self.rounding.ends(r).1);
        let (lo, hi) = self.flushed(lo, hi);
        let (x_lo, x_hi) = (if tiny { least(x, 0.0) } else { x }, if tiny { greatest(x, 0.0) } else { x });
        let (least_d, greatest_d) = (self.rounding.ends(x_lo - hi).0, self.rounding.ends(x_hi - lo).1);
        let (least_d, greatest_d) = self.flushed(least_d, greatest_d);
        let exact = x - y * Self::integral(q);
        let outside = (y.abs() < self.divisor[0]) | (y.abs() > self.divisor[1]);
        let quotient_overflows = (least_q < -grid.max) | (greatest_q > grid.max);
        let overflows = (lo.abs() > grid.max) | (hi.abs() > grid.max) | (least_d < -grid.max) | (greatest_d > grid.max);
        let any = outside | quotient_overflows | (overflows & (self.not_inf > 0.0));
        let exact = if overflows { f64::NAN } else { exact };
        let unknown = any | overflows | !x.is_finite();
        let (lo, hi) = if unknown { (f64::NAN, f64::NAN) } else { (least_d, greatest_d) };
        // Nothing is required of a formula of a NaN.
        let any = flag((any & x.is_finite()) | x.is_nan() | y.is_nan());
        PairOutcome { any, ..PairOutcome::inherited(exact, 0.0, lo, hi) }
    }
}

impl Filter {
    /// Returns true if this filter handles the result component.
    pub(super) fn takes_pairs(slot: &ResultSlot) -> bool {
        let [(_, first), (_, second)] = slot.inputs[..] else { return false };
        let half = Scalar::Float(F16);
        let halves = (first, second, slot.result) == (half, half, half);
        slot.env.specification == Specification::Vulkan
            && match &slot.rule {
                ResultRule::Discrete(op) => {
                    visit_discrete_pair(*op, first, KnownPair).is_some() && !matches!(first, Scalar::Bool)
                }
                ResultRule::Real(RealOp::Ldexp) => (first, slot.result) == (half, half),
                ResultRule::Real(
                    RealOp::Add | RealOp::Sub | RealOp::Mul | RealOp::Difference | RealOp::Div | RealOp::Atan2,
                ) => halves,
                ResultRule::Formula(_) => halves && matches!(slot.op, Op::FMod | Op::FRem | Op::Pow),
                _ => false,
            }
    }

    /// Applies the function of two operands of this filter.
    fn visit_pair<V: PairVisitor>(&self, visitor: V) -> Option<V::Output> {
        match &self.rule {
            ResultRule::Discrete(op) => visit_discrete_pair(*op, self.operands[0].1, visitor),
            ResultRule::Real(RealOp::Div) => Some(self.visit_quotient(visitor)),
            ResultRule::Real(RealOp::Atan2) => Some(self.visit_angle(visitor)),
            ResultRule::Real(_) | ResultRule::Formula(_) => match self.env.rounding {
                Rounding::Undeclared => self.visit_rounded::<UNDECLARED, V>(visitor),
                Rounding::Rte => self.visit_rounded::<RTE, V>(visitor),
                Rounding::Rtz => self.visit_rounded::<RTZ, V>(visitor),
            },
            _ => None,
        }
    }

    fn visit_rounded<const MODE: u8, V: PairVisitor>(&self, visitor: V) -> Option<V::Output> {
        let rounding = HalfRounding::<MODE> { grid: self.grid };
        macro_rules! visit {
            (|$x:ident, $y:ident| $outcome:expr) => {
                Some(visitor.visit(
                    #[inline(always)]
                    move |$x, $y| $outcome,
                ))
            };
        }
        match (&self.rule, self.op) {
            (ResultRule::Real(RealOp::Add), _) => visit!(|x, y| rounding.outcome(x + y)),
            (ResultRule::Real(RealOp::Sub), _) => visit!(|x, y| rounding.outcome(x - y)),
            (ResultRule::Real(RealOp::Difference), _) => visit!(|x, y| rounding.outcome(y - x)),
            (ResultRule::Real(RealOp::Mul), _) => visit!(|x, y| rounding.outcome(x * y)),
            (ResultRule::Real(RealOp::Ldexp), _) => visit!(|x, n| scaled(rounding, x, n)),
            (ResultRule::Formula(_), Op::FMod) => {
                let remainder = self.remainder::<MODE, false>(rounding);
                visit!(|x, y| remainder.outcome(x, y))
            }
            (ResultRule::Formula(_), Op::FRem) => {
                let remainder = self.remainder::<MODE, true>(rounding);
                visit!(|x, y| remainder.outcome(x, y))
            }
            (ResultRule::Formula(_), Op::Pow) => {
                let (tables, flush_below) = (self.pow_tables.get()?, self.flush_inside_below());
                visit!(|x, y| tables.outcome(rounding, flush_below, x, y))
            }
            _ => None,
        }
    }

    /// Magnitude below which intermediate results may be flushed; 0 if none may be.
    fn flush_inside_below(&self) -> f64 {
        if self.env.flush_inside { self.grid.min_normal } else { 0.0 }
    }

    fn remainder<const MODE: u8, const TOWARD_ZERO: bool>(
        &self,
        rounding: HalfRounding<MODE>,
    ) -> Remainder<MODE, TOWARD_ZERO> {
        let flush_below = self.flush_inside_below();
        Remainder { rounding, divisor: divisors(), flush_below, not_inf: flag(self.env.not_inf) }
    }

    /// Quotients, within 2.5 ulp for divisors in range.
    fn visit_quotient<V: PairVisitor>(&self, visitor: V) -> V::Output {
        let (grid, [least, greatest]) = (self.grid, divisors());
        let Bound::Ulps { half_ulps } = RealOp::Div.bound(Specification::Vulkan, true) else {
            unreachable!("the bound of OpFDiv is in ULP")
        };
        let scale = per_half_ulps(half_ulps);
        let by_zero_any = flag(self.assumes_finite());
        visitor.visit(
            #[inline(always)]
            move |x, y| {
                let q = x / y;
                let outside = ((y.abs() < least) | (y.abs() > greatest)) & !x.is_nan();
                let by_zero = y == 0.0;
                // A quotient by zero may be an infinity that is required.
                let value = if by_zero { f64::NAN } else { q };
                let any = if by_zero { by_zero_any } else { 1.0 };
                let any = if outside { any } else { 0.0 };
                let nan = x.is_nan() | y.is_nan();
                PairOutcome {
                    nan,
                    any,
                    ..PairOutcome::near(value, f64::EPSILON * q.abs(), scale * reciprocal(grid.ulp(q)))
                }
            },
        )
    }

    /// Angles, with a bound in ulp.
    fn visit_angle<V: PairVisitor>(&self, visitor: V) -> V::Output {
        let grid = self.grid;
        let Bound::Ulps { half_ulps } = RealOp::Atan2.bound(Specification::Vulkan, true) else {
            unreachable!("the bound of Atan2 is in ULP")
        };
        let scale = per_half_ulps(half_ulps);
        visitor.visit(
            #[inline(always)]
            move |y, x| {
                let none = (y == 0.0) & (x == 0.0);
                // Nothing is required of operands that are not finite.
                let finite = y.is_finite() & x.is_finite();
                let v = f64_kernels::atan2(if finite & !none { y } else { 1.0 }, if finite { x } else { 1.0 });
                // On the cut the sign of y matters, which the kernel may not see.
                let at_cut = (y == 0.0) & (x < 0.0);
                let value = if finite & !at_cut { v } else { f64::NAN };
                let outcome = PairOutcome::near(value, SLACK / 4.0 * v.abs(), scale * reciprocal(grid.ulp(v)));
                PairOutcome { nan: false, any: flag(none | !finite), ..outcome }
            },
        )
    }
}

/// Upper bound on the reciprocal of `half_ulps / 2`, with two roundings of the product that it
/// enters.
fn per_half_ulps(half_ulps: u32) -> f64 {
    2.0 / f64::from(half_ulps) * (1.0 + 2.0 * f64::EPSILON)
}

/// Least and greatest divisor of OpFDiv with a stated precision.
fn divisors() -> [f64; 2] {
    let exponent = divisor_exponent(true);
    [power_of_two(-exponent), power_of_two(exponent)]
}

/// Ldexp: `x * 2^n`, correctly rounded. Undefined for exponents above 16 and where the product is
/// `2^16` or more in magnitude; for exponents below that of the smallest normal half, a zero is
/// permitted as well.
///
/// A product with an exponent below -200 is far below the least half, and is as close to it as
/// `x * 2^-200` is, within the precision of margins.
#[inline(always)]
fn scaled<const MODE: u8>(rounding: HalfRounding<MODE>, x: f64, n: f64) -> PairOutcome {
    let exponent = greatest(least(n, 17.0), -200.0);
    // The bits of 2^exponent: its exponent field as an integer is that of the number 2^52 + field.
    let field = (exponent + 1023.0 + 4_503_599_627_370_496.0).to_bits() << 52;
    let v = x * f64::from_bits(field);
    let undefined = (n > 16.0) | (v.abs() >= 2.0 * power_of_two(15));
    // A NaN gives a NaN, whatever the exponent.
    PairOutcome { zero: (n < -14.0) & x.is_finite(), any: flag(undefined), ..rounding.outcome(v) }
}

/// Use that only shows that there is a function.
struct KnownPair;

impl PairVisitor for KnownPair {
    type Output = ();

    fn visit(self, _: impl Fn(f64, f64) -> PairOutcome) {}
}

/// Applies the exact function of a discrete operation of two operands. `None` for all others.
fn visit_discrete_pair<V: PairVisitor>(op: DiscreteOp, operand: Scalar, visitor: V) -> Option<V::Output> {
    macro_rules! visit {
        (|$x:ident, $y:ident| $outcome:expr) => {
            Some(visitor.visit(
                #[inline(always)]
                move |$x: f64, $y: f64| $outcome,
            ))
        };
    }
    // The operands must be read with the sign that the operation gives them.
    let signed = |expected: bool| matches!(operand, Scalar::Int { signed, .. } if signed == expected);
    match op {
        DiscreteOp::Min => visit!(|x, y| either_of_nan(x, y, lesser(x, y))),
        DiscreteOp::Max => visit!(|x, y| either_of_nan(x, y, -lesser(-x, -y))),
        // What an atomic gives for a signalling NaN, and a group for NaNs alone, is left undecided.
        DiscreteOp::NMin => visit!(|x, y| number_of(x, y, lesser(x, y))),
        DiscreteOp::NMax => visit!(|x, y| number_of(x, y, -lesser(-x, -y))),
        DiscreteOp::AtomicMin | DiscreteOp::GroupMin => visit!(|x, y| of_numbers(x, y, lesser(x, y))),
        DiscreteOp::AtomicMax | DiscreteOp::GroupMax => visit!(|x, y| of_numbers(x, y, -lesser(-x, -y))),
        DiscreteOp::Step => visit!(|edge, x| PairOutcome::exactly(1.0 - flag(x < edge))),
        DiscreteOp::AllEqual if matches!(operand, Scalar::Float(_)) => {
            visit!(|x, y| PairOutcome::exactly(flag(x == y)))
        }
        DiscreteOp::Compare(relation, false) => match relation {
            Relation::Equal => visit!(|x, y| PairOutcome::exactly(flag(x == y))),
            Relation::NotEqual => visit!(|x, y| PairOutcome::exactly(flag((x < y) | (x > y)))),
            Relation::Less => visit!(|x, y| PairOutcome::exactly(flag(x < y))),
            Relation::Greater => visit!(|x, y| PairOutcome::exactly(flag(x > y))),
            Relation::LessEqual => visit!(|x, y| PairOutcome::exactly(flag(x <= y))),
            Relation::GreaterEqual => visit!(|x, y| PairOutcome::exactly(flag(x >= y))),
        },
        DiscreteOp::Compare(relation, true) => match relation {
            Relation::Equal => visit!(|x, y| PairOutcome::exactly(1.0 - flag((x < y) | (x > y)))),
            Relation::NotEqual => visit!(|x, y| PairOutcome::exactly(1.0 - flag(x == y))),
            Relation::Less => visit!(|x, y| PairOutcome::exactly(1.0 - flag(x >= y))),
            Relation::Greater => visit!(|x, y| PairOutcome::exactly(1.0 - flag(x <= y))),
            Relation::LessEqual => visit!(|x, y| PairOutcome::exactly(1.0 - flag(x > y))),
            Relation::GreaterEqual => visit!(|x, y| PairOutcome::exactly(1.0 - flag(x < y))),
        },
        DiscreteOp::SMin if signed(true) => visit!(|x, y| PairOutcome::exactly(least(x, y))),
        DiscreteOp::UMin if signed(false) => visit!(|x, y| PairOutcome::exactly(least(x, y))),
        DiscreteOp::SMax if signed(true) => visit!(|x, y| PairOutcome::exactly(greatest(x, y))),
        DiscreteOp::UMax if signed(false) => visit!(|x, y| PairOutcome::exactly(greatest(x, y))),
        _ => None,
    }
}

/// The lesser of two numbers, -0 being less than +0.
#[inline(always)]
fn lesser(x: f64, y: f64) -> f64 {
    let other = if y < x { y } else { x };
    // Equal numbers have equal bits, except for zeros.
    let equal = f64::from_bits(x.to_bits() | y.to_bits());
    if x == y { equal } else { other }
}

/// Minimum or maximum of which a NaN makes either operand.
#[inline(always)]
fn either_of_nan(x: f64, y: f64, of_numbers: f64) -> PairOutcome {
    let value = if x.is_nan() {
        y
    } else if y.is_nan() {
        x
    } else {
        of_numbers
    };
    PairOutcome { nan: x.is_nan() | y.is_nan(), ..PairOutcome::exactly(value) }
}

/// Minimum or maximum that prefers a number to a NaN.
#[inline(always)]
fn number_of(x: f64, y: f64, of_numbers: f64) -> PairOutcome {
    let nan = x.is_nan() & y.is_nan();
    PairOutcome { nan, ..either_of_nan(x, y, of_numbers) }
}

/// Minimum or maximum of two numbers; undecided if either operand is a NaN.
#[inline(always)]
fn of_numbers(x: f64, y: f64, value: f64) -> PairOutcome {
    let value = if x.is_nan() | y.is_nan() { f64::NAN } else { value };
    PairOutcome { nan: false, ..PairOutcome::exactly(value) }
}

/// Parameters by which the results of pairs are judged. Conditions are thresholds and numbers,
/// which vectorise better than truth values.
#[derive(Clone, Copy)]
struct PairRule {
    /// Exact results below this magnitude may be flushed; 0 if none may be.
    flush_below: f64,
    /// Zeros below this magnitude must have the sign of the exact result: 0 if none must have.
    signed_below: f64,
    /// Denormal results below this magnitude are left undecided; 0 if none are.
    refused_below: f64,
    /// Greatest finite half.
    max: f64,
    /// Operands below these magnitudes may be read as zeros.
    zero_below: [f64; 2],
    /// 1.0 if NaNs are assumed not to occur, otherwise 0.0.
    not_nan: f64,
    /// 1.0 if infinities are assumed not to occur, otherwise 0.0.
    not_inf: f64,
}

impl PairRule {
    /// Margin of a result: at most one if it is permitted, a NaN if it is undecided.
    #[inline(always)]
    fn margin(self, o: PairOutcome, got: f64) -> f64 {
        let error = (got - o.value).abs() + o.error;
        let ratio = error * o.scale;
        let distance = if error == 0.0 { 0.0 } else { ratio };
        let overflown = (got.abs() == f64::INFINITY) & (o.value.copysign(o.value * got) - o.error > self.max);
        let distance = if overflown { -0.0 } else { distance };
        let known = if distance <= 1.0 { distance } else { o.inside };
        let certain = if distance <= CERTAIN { distance } else { f64::NAN };
        let outside = if o.only { f64::NAN } else { certain };
        let margin = if (o.lo <= got) & (got <= o.hi) { known } else { outside };
        // A zero that comes from rounding has the sign of the exact result.
        let sign_differs = (got.to_bits() ^ o.value.to_bits()).cast_signed() < 0;
        let refused = o.only & (got.abs() < self.signed_below) & sign_differs;
        let margin = if refused { f64::NAN } else { margin };
        let refused = (got != 0.0) & (got.abs() < self.refused_below);
        let margin = if refused { f64::NAN } else { margin };
        // A zero that is permitted in addition has no error if its distance exceeds the bound. A
        // distance that may equal the bound counts as equal.
        let added = if distance <= 2.0 - CERTAIN { least(distance, 1.0) } else { 0.0 };
        let magnitude = o.value.abs();
        let flushed = (magnitude + o.error < self.flush_below) & (magnitude > o.error) & (got == 0.0);
        let margin = if flushed & margin.is_nan() { added } else { margin };
        let margin = if o.zero & (got == 0.0) { added } else { margin };
        let nan = if self.not_nan > 0.0 { f64::NAN } else { 0.0 };
        if o.nan & got.is_nan() { nan } else { margin }
    }

    /// 1.0 for an operand that is assumed not to occur, otherwise 0.0.
    #[inline(always)]
    fn assumed_away(self, operand: f64) -> f64 {
        let nan = if operand.is_nan() { self.not_nan } else { 0.0 };
        if operand.abs() == f64::INFINITY { self.not_inf } else { nan }
    }

    /// Margins over all readings of the operands, and 1.0 where nothing is required. `denormals`
    /// tells which of the operands are denormal numbers in some lane.
    #[inline(always)]
    fn over_readings(
        self,
        function: impl Fn(f64, f64) -> PairOutcome,
        [x, y, got]: [&LaneValues; 3],
        denormals: [bool; 2],
    ) -> FilterOutcome {
        let mut outcome = FilterOutcome { margins: [f64::NAN; LANES], any: [0.0; LANES] };
        for i in 0..LANES {
            outcome.any[i] = greatest(self.assumed_away(x[i]), self.assumed_away(y[i]));
        }
        for reading in [[false, false], [true, false], [false, true], [true, true]] {
            if (reading[0] & !denormals[0]) | (reading[1] & !denormals[1]) {
                continue;
            }
            let [edge_x, edge_y] = [0, 1].map(|k| if reading[k] { self.zero_below[k] } else { 0.0 });
            for i in 0..LANES {
                let x = if x[i].abs() < edge_x { 0f64.copysign(x[i]) } else { x[i] };
                let y = if y[i].abs() < edge_y { 0f64.copysign(y[i]) } else { y[i] };
                let found = function(x, y);
                let margin = self.margin(found, got[i]);
                let before = outcome.margins[i];
                outcome.margins[i] = if (margin < before) | before.is_nan() { margin } else { before };
                outcome.any[i] = greatest(outcome.any[i], found.any);
            }
        }
        for i in 0..LANES {
            outcome.margins[i] = if outcome.any[i] > 0.0 { f64::NAN } else { outcome.margins[i] };
        }
        outcome
    }
}

/// Decides a group in one loop, from the words of operands and results to the counts.
struct WholeGroup<'a> {
    rule: PairRule,
    words: [&'a [u32; LANES]; 3],
    decoders: [Decoder; 3],
    reported_lane: usize,
}

impl PairVisitor for WholeGroup<'_> {
    type Output = Option<GroupVerdict>;

    #[inline(always)]
    fn visit(self, function: impl Fn(f64, f64) -> PairOutcome) -> Option<GroupVerdict> {
        let WholeGroup { rule, words, decoders, reported_lane } = self;
        let tally = vectorised(
            #[inline(always)]
            move || {
                let denormals = [0, 1].map(|k| (rule.zero_below[k] > 0.0) && decoders[k].has_denormal(words[k]));
                let finite = [0, 1].map(|k| decoders[k].is_finite(words[k]));
                let (mut x, mut y, mut got) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
                decoders[0].read(words[0], &mut x);
                decoders[1].read(words[1], &mut y);
                decoders[2].read(words[2], &mut got);
                let mut tally = Tally::default();
                if finite == [true; 2] && denormals == [false; 2] {
                    for i in 0..LANES {
                        let found = function(x[i], y[i]);
                        tally.add(rule.margin(found, got[i]), found.any, i == reported_lane);
                    }
                } else {
                    let outcome = rule.over_readings(&function, [&x, &y, &got], denormals);
                    for i in 0..LANES {
                        tally.add(outcome.margins[i], outcome.any[i], i == reported_lane);
                    }
                }
                tally
            },
        );
        let Tally { passed, unchecked, worst, reported_margin } = tally;
        let worst = if worst < 0 { -1.0 } else { f64::from_bits(worst.cast_unsigned()) };
        let counts = GroupCounts { passed, unchecked, worst };
        (passed + unchecked == LANES as u64)
            .then(|| GroupVerdict { counts, reported_margin: f64::from_bits(reported_margin) })
    }
}

/// Counts of a loop over lanes, as integers: integer reductions vectorise, and margins are ordered
/// as their bit patterns are.
struct Tally {
    passed: u64,
    unchecked: u64,
    worst: i64,
    reported_margin: u64,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally { passed: 0, unchecked: 0, worst: -1, reported_margin: 0 }
    }
}

impl Tally {
    #[inline(always)]
    fn add(&mut self, margin: f64, any: f64, is_reported: bool) {
        let margin = if any > 0.0 { f64::NAN } else { margin };
        let passes = margin <= 1.0;
        let bits = if passes { margin.to_bits() } else { (-1f64).to_bits() };
        self.passed += u64::from(passes);
        self.unchecked += u64::from(any > 0.0);
        self.worst = if bits.cast_signed() > self.worst { bits.cast_signed() } else { self.worst };
        self.reported_margin |= if is_reported { bits } else { 0 };
    }
}

/// Decides each lane of a group.
struct EachLane<'a> {
    rule: PairRule,
    group: &'a LaneGroup,
}

impl PairVisitor for EachLane<'_> {
    type Output = FilterOutcome;

    #[inline(always)]
    fn visit(self, function: impl Fn(f64, f64) -> PairOutcome) -> FilterOutcome {
        let EachLane { rule, group } = self;
        let values = [&group.x[0], &group.x[1], &group.got];
        let denormals = rule.zero_below.map(|edge| edge > 0.0 && group.denormals);
        vectorised(
            #[inline(always)]
            move || rule.over_readings(&function, values, denormals),
        )
    }
}

impl Filter {
    fn pair_rule(&self) -> PairRule {
        let edge = |k: usize| if self.env.flush_operands { self.min_normal(k) } else { 0.0 };
        let MarginRule { may_flush, edge: flush_below, .. } = self.measure;
        let SpecialResults { zero, denormal, min_normal } = self.special;
        let least_half = self.grid.spacing(0.0);
        PairRule {
            flush_below: if may_flush { flush_below } else { 0.0 },
            signed_below: if zero { least_half } else { 0.0 },
            refused_below: if denormal { min_normal } else { 0.0 },
            max: self.measure.max,
            zero_below: [edge(0), edge(1)],
            not_nan: flag(self.env.not_nan),
            not_inf: flag(self.env.not_inf),
        }
    }

    /// Decides a group of pairs: first operands, second operands and results. `None` unless each
    /// lane passes or is unchecked, or if the filter is not one of pairs.
    pub(crate) fn judge_ordered_pairs(&self, words: [&[u32; LANES]; 3], reported_lane: usize) -> Option<GroupVerdict> {
        if !self.is_pair {
            return None;
        }
        if let (ResultRule::Formula(formula), Op::Pow) = (&self.rule, self.op) {
            if pow::requires_nothing(words[0], words[1]) {
                return Some(GroupVerdict { counts: GroupCounts::unchecked(LANES as u64), reported_margin: -1.0 });
            }
            self.pow_tables.get_or_init(|| PowTables::new(formula, &self.env));
        }
        let decoders = [self.operands[0].1, self.operands[1].1, self.result].map(Decoder::new);
        self.visit_pair(WholeGroup { rule: self.pair_rule(), words, decoders, reported_lane })?
    }

    /// Filters each lane of a group of pairs.
    pub(super) fn judge_pairs(&self, group: &LaneGroup) -> Option<FilterOutcome> {
        self.visit_pair(EachLane { rule: self.pair_rule(), group })
    }
}
