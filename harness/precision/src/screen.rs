//! Deciding the bulk of many results quickly, and saying which are left.

#![expect(clippy::needless_range_loop, reason = "indexed loops over several lanes at once vectorise")]

use crate::{
    Column, Op, Rounding, Scalar,
    environment::{Environment, Flush},
    evaluate::{Kernel, Slot},
    exact::{Exact, Relation},
    lanes::{
        Lanes,
        arithmetic::{Grid, LANES, Lane, SLACK, flag, lane, vectorised},
    },
    real::Bound,
};
use assay_float::{F16, F32, Format};
use smallvec::SmallVec;

/// A result whose margin is at most this is permitted for certain; up to 1.0 it is too close to call.
const CERTAIN: f64 = 1.0 - 1.0 / (1 << 20) as f64;

/// Quick verdicts for one result slot, for the usual reading.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    op: Op,
    kernel: Kernel,
    env: Environment,
    operands: SmallVec<[(usize, Scalar); 4]>,
    result: Scalar,
}

/// What the screen says about each lane.
pub(crate) struct Screened {
    /// Error over bound, at least the certain one and hardly more; a NaN where the screen cannot tell.
    pub(crate) margins: Lane,
    /// 1.0 where nothing is required.
    pub(crate) any: Lane,
}

impl Screened {
    /// Whether the lane is permitted for certain.
    pub(crate) fn passes(&self, lane: usize) -> bool {
        self.margins[lane] <= CERTAIN
    }

    /// Whether nothing is required of the lane.
    pub(crate) fn is_unchecked(&self, lane: usize) -> bool {
        self.any[lane] > 0.0
    }
}

impl Screen {
    /// A screen for the slot, if its kind is one that pays.
    pub(crate) fn new(slot: &Slot) -> Option<Screen> {
        let narrow = |scalar: Scalar| match scalar {
            Scalar::Float(format) => format == F16 || format == F32,
            Scalar::Int { width, .. } => width <= 32,
            Scalar::Bool => true,
        };
        let types = slot.inputs.iter().all(|&(_, scalar)| narrow(scalar)) && narrow(slot.result);
        let known = match &slot.kernel {
            Kernel::Exact(exact) => discrete(*exact, &[1.0; 3]).is_some(),
            Kernel::Real(_) => slot.env.rounding != Rounding::Rtz,
            // Several operands and a declared mode, or infinities that count, are left to the certain evaluation altogether.
            Kernel::Formula(_) if slot.inputs.len() > 1 => {
                slot.env.rounding == Rounding::Undeclared && slot.env.not_inf && slot.env.not_nan
            }
            Kernel::Formula(_) => slot.env.rounding != Rounding::Rtz,
            Kernel::Unpack { .. } | Kernel::UnpackHalf | Kernel::Measured => false,
        };
        (types && known && !slot.relaxed && slot.packed_with.is_empty()).then(|| Screen {
            op: slot.op,
            kernel: slot.kernel.clone(),
            env: slot.env,
            operands: slot.inputs.clone(),
            result: slot.result,
        })
    }

    /// Screens up to [`LANES`] invocations from `start` on. `None` if these operands are none for it.
    pub(crate) fn judge(
        &self,
        operands: &[Column<'_>],
        result: Column<'_>,
        start: usize,
        count: usize,
    ) -> Option<Screened> {
        let x: SmallVec<[Lane; 4]> =
            self.operands.iter().map(|&(i, scalar)| decode(operands[i], scalar, start, count)).collect();
        let got = decode(result, self.result, start, count);
        let mut screened = self.alternative(&x, &got)?;
        if self.env.flush_operands && x.iter().enumerate().any(|(k, x)| self.has_denormal(k, x)) {
            // The alternative that all denormal operands are read as zero.
            let flushed: SmallVec<[Lane; 4]> = x
                .iter()
                .enumerate()
                .map(|(k, x)| {
                    let edge = self.min_normal(k);
                    x.map(|v| if v.abs() < edge { 0.0 } else { v })
                })
                .collect();
            let other = self.alternative(&flushed, &got)?;
            for i in 0..LANES {
                let (a, b) = (screened.margins[i], other.margins[i]);
                screened.margins[i] = if b < a || a.is_nan() { b } else { a };
                screened.any[i] = screened.any[i].max(other.any[i]);
            }
        }
        self.refuse_what_is_special(&x, &got, &mut screened);
        Some(screened)
    }

    /// The smallest normal value of an operand's format; 0 for an integer.
    fn min_normal(&self, operand: usize) -> f64 {
        self.operands[operand].1.format().map_or(0.0, |f| Grid::new(f).min_normal)
    }

    fn has_denormal(&self, operand: usize, x: &Lane) -> bool {
        let edge = self.min_normal(operand);
        vectorised(|| x.iter().fold(0.0, |found, &v| found + flag(v != 0.0 && v.abs() < edge)) > 0.0)
    }

    /// Margins for operands with these values.
    fn alternative(&self, x: &[Lane], got: &Lane) -> Option<Screened> {
        let mut screened = self.by_kernel(x, got)?;
        self.refuse_what_is_named(x, &mut screened);
        Some(screened)
    }

    fn by_kernel(&self, x: &[Lane], got: &Lane) -> Option<Screened> {
        let lanes = Lanes::new(&self.env);
        let references: SmallVec<[&Lane; 8]> = x.iter().collect();
        let point = match &self.kernel {
            Kernel::Exact(exact) => return self.discrete(*exact, x, got),
            Kernel::Real(real) => lanes.real_point(*real, &references)?,
            Kernel::Formula(formula) => lanes.formula_point(formula, &references)?,
            Kernel::Unpack { .. } | Kernel::UnpackHalf | Kernel::Measured => return None,
        };
        let (v, e, bound) = (&point.exact.value, &point.exact.error, &point.bound);
        let flushed = self.env.flush_results != Flush::Never;
        let edge = lanes.grid.min_normal * (1.0 - SLACK);
        // An infinity is permitted where the range reaches beyond the largest finite value.
        let max = lanes.grid.max * (1.0 + SLACK);
        let margins = vectorised(|| {
            lane(|i| {
                let error = (got[i] - v[i]).abs() + e[i];
                let margin = if error == 0.0 { 0.0 } else { error / bound[i] };
                // A bound that is not positive bounds nothing here.
                let margin = if error == 0.0 || bound[i] > 0.0 { margin } else { f64::NAN };
                let tiny = v[i].abs() + e[i] < edge && v[i].abs() > e[i];
                let flushed = flushed && tiny && got[i] == 0.0;
                let overflown = got[i].is_infinite() && got[i].signum() * v[i] - e[i] > max;
                if flushed || overflown { 0.0 } else { margin }
            })
        });
        let mut screened = Screened { margins, any: point.any };
        if let Some(rounding) = self.rounds() {
            // Next to a power of two more than the neighbours lie within an ulp.
            vectorised(|| {
                for i in 0..LANES {
                    let (lo, hi) = lanes.rounded(v[i], rounding);
                    let neighbour = lo <= got[i] && got[i] <= hi;
                    let flushed = screened.margins[i] == 0.0 && got[i] == 0.0;
                    screened.margins[i] = if neighbour || flushed { screened.margins[i] } else { f64::NAN };
                }
            });
        }
        Some(screened)
    }

    /// The rounding mode, for what is correctly rounded.
    fn rounds(&self) -> Option<Rounding> {
        let Kernel::Real(real) = &self.kernel else { return None };
        match real.bound(self.env.half_column()) {
            Bound::Rounded => Some(self.env.rounding),
            Bound::Either => Some(Rounding::Undeclared),
            Bound::Ulps { .. }
            | Bound::UlpsPlusTwiceX { .. }
            | Bound::Logarithm { .. }
            | Bound::Trigonometric { .. } => None,
        }
    }

    fn discrete(&self, exact: Exact, x: &[Lane], got: &Lane) -> Option<Screened> {
        let edge = self.result.format().map_or(0.0, |f| Grid::new(f).min_normal);
        let flushed = self.env.flush_results != Flush::Never;
        let mut margins = [f64::NAN; LANES];
        for (i, margin) in margins.iter_mut().enumerate() {
            let mut operands = [0.0; 3];
            operands.iter_mut().zip(x).for_each(|(operand, x)| *operand = x[i]);
            let expected = discrete(exact, &operands)?;
            let is_flushed = flushed && got[i] == 0.0 && expected.abs() < edge;
            if got[i] == expected || is_flushed {
                *margin = 0.0;
            }
        }
        Some(Screened { margins, any: [0.0; LANES] })
    }

    /// Leaves to the certain evaluation what the quick one does not model.
    fn refuse_what_is_special(&self, x: &[Lane], got: &Lane, screened: &mut Screened) {
        let env = &self.env;
        let classifies = matches!(self.kernel, Kernel::Exact(Exact::IsNan | Exact::IsInf));
        let assumed_away = env.not_nan && env.not_inf && !classifies;
        let is_float = self.result.format().is_some();
        let edge = self.result.format().map_or(0.0, |f| Grid::new(f).min_normal);
        let (zero_is_special, denormal_is_special) = (is_float && !env.nsz, env.flush_results == Flush::Must);
        vectorised(|| {
            for i in 0..LANES {
                let special =
                    zero_is_special && got[i] == 0.0 || denormal_is_special && got[i] != 0.0 && got[i].abs() < edge;
                screened.margins[i] = if special { f64::NAN } else { screened.margins[i] };
                // What is not required does not count as passed; without the assumptions the certain evaluation says which.
                let unchecked = screened.any[i] > 0.0;
                screened.margins[i] = if unchecked { f64::NAN } else { screened.margins[i] };
                screened.any[i] = flag(unchecked && assumed_away);
            }
        });
        for x in x {
            vectorised(|| {
                for i in 0..LANES {
                    let finite = x[i].is_finite();
                    screened.any[i] = if finite { screened.any[i] } else { flag(assumed_away) };
                    screened.margins[i] = if finite { screened.margins[i] } else { f64::NAN };
                }
            });
        }
    }
}

impl Screen {
    /// Leaves to the certain evaluation the operands for which the instruction set names a result, or names none.
    fn refuse_what_is_named(&self, x: &[Lane], screened: &mut Screened) {
        let named = |i: usize| match self.op {
            Op::Log => x[0][i] == 1.0,
            Op::Sqrt => x[0][i] == 0.0,
            Op::SmoothStep => x[0][i] >= x[1][i],
            _ => false,
        };
        if !matches!(self.op, Op::Log | Op::Sqrt | Op::SmoothStep) {
            return;
        }
        for i in (0..LANES).filter(|&i| named(i)) {
            (screened.margins[i], screened.any[i]) = (f64::NAN, 0.0);
        }
    }
}

/// One permitted result of a discrete operation on finite operands, for those that are simple; a NaN where there is none.
#[inline(always)]
fn discrete(exact: Exact, x: &[f64; 3]) -> Option<f64> {
    let [a, b, c] = *x;
    Some(match exact {
        Exact::Negate => -a,
        Exact::Abs => a.abs(),
        Exact::Sign if a == 0.0 => 0.0,
        Exact::Sign => a.signum(),
        Exact::Round | Exact::RoundEven => a.round_ties_even(),
        Exact::Trunc | Exact::ToInt => a.trunc(),
        Exact::Floor => a.floor(),
        Exact::Ceil => a.ceil(),
        Exact::Fraction => a - a.trunc(),
        Exact::Copy => a,
        Exact::Min | Exact::NMin | Exact::AtomicMin | Exact::GroupMin => {
            if b < a {
                b
            } else {
                a
            }
        }
        Exact::Max | Exact::NMax | Exact::AtomicMax | Exact::GroupMax => {
            if a < b {
                b
            } else {
                a
            }
        }
        Exact::Clamp | Exact::NClamp if b > c => f64::NAN,
        Exact::Clamp | Exact::NClamp => a.max(b).min(c),
        Exact::Step => flag(b >= a),
        Exact::IsNan | Exact::IsInf => 0.0,
        Exact::Compare(relation, _) => flag(match relation {
            Relation::Equal => a == b,
            Relation::NotEqual => a != b,
            Relation::Less => a < b,
            Relation::Greater => a > b,
            Relation::LessEqual => a <= b,
            Relation::GreaterEqual => a >= b,
        }),
        Exact::AllEqual
        | Exact::Significand
        | Exact::Exponent
        | Exact::CompareExchange
        | Exact::QuantizeToF16
        | Exact::SAbs
        | Exact::SSign
        | Exact::SMin
        | Exact::UMin
        | Exact::SMax
        | Exact::UMax
        | Exact::SClamp
        | Exact::UClamp
        | Exact::FindILsb
        | Exact::FindSMsb
        | Exact::FindUMsb
        | Exact::PackSnorm
        | Exact::PackUnorm
        | Exact::PackDouble
        | Exact::UnpackDouble => return None,
    })
}

/// The values of a column as numbers, infinities and NaNs as such; past the end, one.
fn decode(column: Column<'_>, scalar: Scalar, start: usize, count: usize) -> Lane {
    let mut out = [1.0; LANES];
    let Column::Words(words) = column else { return [f64::NAN; LANES] };
    let words = &words[start..start + count];
    vectorised(|| match scalar {
        Scalar::Float(format) if format == F32 => {
            out.iter_mut().zip(words).for_each(|(v, &bits)| *v = f64::from(f32::from_bits(bits)));
        }
        Scalar::Float(format) => out.iter_mut().zip(words).for_each(|(v, &bits)| *v = value(format, bits.into())),
        Scalar::Int { width, signed: true } => {
            let shift = 32 - width;
            out.iter_mut().zip(words).for_each(|(v, &w)| *v = f64::from((w << shift).cast_signed() >> shift));
        }
        Scalar::Int { signed: false, .. } | Scalar::Bool => {
            out.iter_mut().zip(words).for_each(|(v, &bits)| *v = f64::from(bits));
        }
    });
    out
}

/// The value of a pattern of a narrow format, by the same exponent field in `f64` and a scale.
#[inline(always)]
fn value(format: Format, bits: u64) -> f64 {
    let magnitude = bits & format.magnitude_mask();
    let scale = f64::from_bits(((2046 - format.bias()) as u64) << 52);
    let finite = f64::from_bits(magnitude << (52 - format.fraction_bits)) * scale;
    let value = if magnitude as i64 > format.max_finite() { f64::NAN } else { finite };
    if bits & format.sign_mask() != 0 { -value } else { value }
}
