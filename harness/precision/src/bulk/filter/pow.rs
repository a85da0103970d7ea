//! Tables for the power of halves.
//!
//! Pow inherits its precision from `Exp2(y * Log2(x))`, of which the certified evaluation forms the
//! range in three steps. The first depends on `x` alone and the third on the product alone, which
//! is a half: both are tables of the certified ranges. The second is a correctly rounded product of
//! halves, exact before rounding and monotone in `Log2(x)`.
//!
//! # Limits
//!
//! The range of the third step is taken at the ends of the range of products. Between them, just
//! above a power of two of the result, the least result may be a little less, so that the hull is
//! an inner approximation: a result is never accepted wrongly, and a margin is never too small.
//! Whether the range contains an infinity depends on its upper end alone, because `Exp2` and its
//! bound increase there.

use super::pair_outcome::{HalfRounding, PairOutcome};
use crate::{
    bulk::simd::arithmetic::{LANES, SLACK, flag, greatest, least, power_of_two},
    derivation::Derivation,
    environment::Environment,
    evaluator::Evaluator,
    formula::{Formula, Node},
    interval_eval::IntervalEvaluator,
    rank_interval::RankInterval,
    real_op::RealOp,
};
use assay_float::{F16, f64_kernels};

/// Number of halves.
const HALVES: usize = 1 << 16;

/// Ranges of the steps of Pow by the bits of their operands.
#[derive(Debug)]
pub(super) struct PowTables {
    /// Least and greatest permitted logarithm; NaNs where nothing is required.
    log: Box<[[f32; 2]; HALVES]>,
    /// Logarithm in `f64`.
    exact_log: Box<[f64; HALVES]>,
    /// Least and greatest permitted exponential; NaNs where nothing is required, and an infinity
    /// where any number is permitted.
    exp: Box<[[f32; 2]; HALVES]>,
}

impl PowTables {
    /// Tables of the formula in an environment: about 100,000 certified evaluations.
    pub(super) fn new(formula: &Formula, env: &Environment) -> PowTables {
        let mut exact_log: Box<[f64; HALVES]> = zeroed();
        for (bits, log) in exact_log.iter_mut().enumerate() {
            let x = F16.to_f64(bits as u64);
            *log = if x > 0.0 { f64_kernels::log2(x) } else { f64::NAN };
        }
        PowTables { log: ranges(formula, RealOp::Log2, env), exact_log, exp: ranges(formula, RealOp::Exp2, env) }
    }

    /// Permitted results for two halves.
    #[inline(always)]
    pub(super) fn outcome<const MODE: u8>(
        &self,
        rounding: HalfRounding<MODE>,
        flush_below: f64,
        x: f64,
        y: f64,
    ) -> PairOutcome {
        let of_x = index(x);
        let [a, b] = self.log[of_x].map(|end| y * f64::from(end));
        let (lo, hi) = (rounding.ends(if y < 0.0 { b } else { a }).0, rounding.ends(if y < 0.0 { a } else { b }).1);
        let lo = if (lo > 0.0) & (lo < flush_below) { 0.0 } else { lo };
        let hi = if (hi < 0.0) & (hi > -flush_below) { 0.0 } else { hi };
        let overflows = greatest(-lo, hi) > rounding.grid.max;
        let (least_result, greatest_result) = (f64::from(self.exp[index(lo)][0]), f64::from(self.exp[index(hi)][1]));
        let exponent = y * self.exact_log[of_x];
        let value = f64_kernels::exp2_moderate(greatest(least(exponent, 300.0), -300.0));
        let error = SLACK / 4.0 * (1.0 + exponent.abs()) * value;
        // A logarithm or an exponential of which nothing is required is a NaN.
        let required = (lo <= hi) & (least_result <= greatest_result) & !overflows;
        let infinite = (x.abs() == f64::INFINITY) | (y.abs() == f64::INFINITY);
        let any = if infinite { 0.0 } else { flag(!required) };
        // Any number is permitted where a formula overflows and infinities may occur.
        let number = greatest_result == f64::INFINITY;
        let value = if infinite | number { f64::NAN } else { value };
        let end = if infinite { f64::NAN } else { least_result };
        let end = if number { f64::NEG_INFINITY } else { end };
        let inside = if number { -0.0 } else { 1.0 };
        PairOutcome { inside, any, ..PairOutcome::inherited(value, error, end, greatest_result) }
    }
}

/// Returns true if every base is negative or a NaN with a sign, and finite otherwise, and every
/// exponent is finite: `Log2` is not defined there.
pub(super) fn requires_nothing(bases: &[u32; LANES], exponents: &[u32; LANES]) -> bool {
    let negative = bases.iter().fold(true, |all, &x| all & (x > 0x8000) & (x != 0xfc00));
    negative && exponents.iter().fold(true, |all, &y| all & (y & 0x7c00 != 0x7c00))
}

fn zeroed() -> Box<[f64; HALVES]> {
    vec![0.0; HALVES].try_into().expect("one entry for each half")
}

/// Certified ranges of an operation of the formula, as the next one may read its result.
fn ranges(formula: &Formula, real: RealOp, env: &Environment) -> Box<[[f32; 2]; HALVES]> {
    let evaluator = IntervalEvaluator { env, derivation: &Derivation::disabled() };
    let is_this = |node: &Node| matches!(node, Node::Real(other, _) if *other == real);
    let node = formula.nodes.iter().position(is_this).expect("an operation of the formula");
    let value = |rank| F16.to_f64(F16.bits(rank)) as f32;
    let range = |bits: u64| {
        if !F16.is_finite(bits) {
            return [f32::NAN; 2];
        }
        let operand = RankInterval::point(F16.rank(bits));
        // Only the operand of the instruction itself has not been flushed yet.
        let operand = if real == RealOp::Log2 { evaluator.values_in_use(operand) } else { operand.into() };
        let found = evaluator.real(real, &[operand]).and_then(|found| evaluator.settle(formula, node, found));
        found.map_or([f32::NAN; 2], |found| [value(found.hull().lo), value(found.hull().hi)])
    };
    let table: Vec<[f32; 2]> = (0..HALVES as u64).map(range).collect();
    table.try_into().expect("one entry for each half")
}

/// Bits of a half: the inverse of the exact product that moves its magnitude into the fields of an
/// `f64`.
#[inline(always)]
fn index(half: f64) -> usize {
    let magnitude = (half.abs() * power_of_two(-1008)).to_bits() >> 42 & 0x7fff;
    (magnitude | half.to_bits() >> 63 << 15) as usize
}
