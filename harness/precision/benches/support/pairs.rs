//! Ideal devices for instructions of two halves, and a plain loop that checks their results.

use assay_float::F16;
use assay_precision::{Call, Denormals, Modes, Op, Rounding, Scalar, Shape};

/// An instruction of two halves (the exponent of Ldexp: an integer) and its function, computed in
/// double precision.
pub(crate) struct PairDevice {
    /// The instruction.
    pub(crate) op: Op,
    /// Result that is rounded to a half, or a truth value.
    pub(crate) function: fn(f64, f64) -> f64,
}

const fn device(op: Op, function: fn(f64, f64) -> f64) -> PairDevice {
    PairDevice { op, function }
}

/// Instructions of two operands: those with a bound of their own, inherited ones, discrete ones.
pub(crate) const PAIRS: [PairDevice; 19] = [
    device(Op::FAdd, |x, y| x + y),
    device(Op::FSub, |x, y| x - y),
    device(Op::FMul, |x, y| x * y),
    device(Op::FDiv, |x, y| x / y),
    device(Op::Atan2, core_math::atan2),
    device(Op::Ldexp, |x, y| x * y.exp2()),
    device(Op::Pow, |x, y| half(half(y * half(x.log2())).exp2())),
    device(Op::FMod, |x, y| half(x - half(y * half(x / y).floor()))),
    device(Op::FRem, |x, y| half(x - half(y * half(x / y).trunc()))),
    device(Op::Distance, |x, y| (x - y).abs()),
    device(Op::Reflect, |x, y| x - half(half(2.0 * half(x * y)) * y)),
    device(Op::FMin, |x, y| if y < x { y } else { x }),
    device(Op::FMax, |x, y| if x < y { y } else { x }),
    device(Op::NMin, f64::min),
    device(Op::Step, |edge, x| if x < edge { 0.0 } else { 1.0 }),
    device(Op::FOrdLessThan, |x, y| f64::from(x < y)),
    device(Op::FUnordEqual, |x, y| f64::from(x == y || x.is_nan() || y.is_nan())),
    device(Op::SMin, f64::min),
    device(Op::UMax, f64::max),
];

/// Pairs in a block.
pub(crate) const BLOCK: u32 = 1 << 14;

impl PairDevice {
    /// Type of the first operand.
    fn scalar(&self) -> Scalar {
        match self.op {
            Op::SMin => Scalar::Int { width: 16, signed: true },
            Op::UMax => Scalar::Int { width: 16, signed: false },
            _ => Scalar::Float(F16),
        }
    }

    /// Number that bits of the first operand represent.
    fn value(&self, bits: u32) -> f64 {
        match self.scalar() {
            Scalar::Int { signed: true, .. } => f64::from(bits as u16 as i16),
            Scalar::Int { .. } | Scalar::Bool => f64::from(bits),
            Scalar::Float(format) => format.to_f64(bits.into()),
        }
    }

    /// Call of the instruction.
    pub(crate) fn call(&self, modes: Modes) -> Call {
        Call::new(self.op, self.scalar(), Shape::Scalar, None, modes).expect("an instruction of halves")
    }

    /// Bits of the second operand of a row.
    pub(crate) fn second(&self, row: u32) -> u32 {
        match self.op {
            // Exponents that matter for halves.
            Op::Ldexp => (row % 64).wrapping_sub(40),
            // Multiples of the golden ratio: all bit patterns within 65536 rows.
            _ => row.wrapping_mul(0x9e37) & 0xffff,
        }
    }

    /// Block `index` of [`BLOCK`] pairs: consecutive first operands and one second operand. The rows
    /// of consecutive blocks are far apart, so that a few blocks show all kinds of pairs. Results
    /// are those of a device that rounds to nearest, or toward zero where that is declared, and
    /// flushes denormals where that is declared.
    pub(crate) fn block(&self, index: u32, modes: Modes) -> PairBlock {
        let start = index % 4 * BLOCK;
        let second = self.second(index / 4);
        let operands: Vec<u32> = (start..start + BLOCK).collect();
        let y = if self.op == Op::Ldexp { f64::from(second.cast_signed()) } else { self.value(second) };
        let result = self.call(modes).results[0].scalar;
        let results = operands.iter().map(|&x| {
            let exact = (self.function)(self.value(x), y);
            match result {
                Scalar::Float(_) => {
                    let bits = half_bits(exact, modes.rounding == Rounding::Rtz);
                    let flushed = modes.denormals == Denormals::FlushToZero && F16.is_denormal(bits.into());
                    if flushed { bits & 0x8000 } else { bits }
                }
                Scalar::Int { .. } | Scalar::Bool => exact as i32 as u32 & 0xffff,
            }
        });
        PairBlock { results: results.collect(), seconds: vec![second; operands.len()], operands }
    }
}

/// Operands and results of a block.
pub(crate) struct PairBlock {
    /// First operands.
    pub(crate) operands: Vec<u32>,
    /// Second operands.
    pub(crate) seconds: Vec<u32>,
    /// Results.
    pub(crate) results: Vec<u32>,
}

/// Value rounded to a half, ties to even.
fn half(value: f64) -> f64 {
    F16.to_f64(half_bits(value, false).into())
}

/// Bits of a value rounded to a half, toward zero or to nearest with ties to even.
fn half_bits(value: f64, toward_zero: bool) -> u32 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return 0x7e00;
    }
    // Spacing of the binade; a denormal has that of the least normal numbers.
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).clamp(-14, 15);
    let steps = magnitude * f64::from(10 - exponent).exp2();
    let steps = if toward_zero { steps.floor() } else { steps.round_ties_even() };
    let most = if toward_zero && magnitude.is_finite() { 0x7bff } else { 0x7c00 };
    let bits = if steps >= 4096.0 { most } else { steps as u32 + ((exponent + 14) as u32) * 0x400 };
    sign | bits.min(most)
}

/// Permitted error of the plain loop in ulp.
fn ulps(op: Op) -> f64 {
    match op {
        Op::FAdd | Op::FSub | Op::FMul => 1.0,
        Op::FDiv => 2.5,
        Op::Atan2 => 5.0,
        _ => 64.0,
    }
}

/// The plain loop: the function in double precision, and the error over the bound, compared with
/// one. It ignores denormals, infinities, domains and inherited bounds, and takes all operands and
/// results for halves, which it decodes by a table.
///
/// Returns the number of results with too large an error, and the greatest ratio.
pub(crate) fn obvious(device: &PairDevice, table: &[f64], block: &PairBlock) -> (u64, f64) {
    let (mut failing, mut worst) = (0, 0f64);
    let n = ulps(device.op);
    for ((&x, &y), &got) in block.operands.iter().zip(&block.seconds).zip(&block.results) {
        let exact = (device.function)(table[x as usize], table[(y & 0xffff) as usize]);
        let got = table[got as usize];
        if !exact.is_finite() || !got.is_finite() {
            continue;
        }
        let binade = exact.abs().max(2f64.powi(-14)).to_bits() & 0x7ff0_0000_0000_0000;
        let margin = (got - exact).abs() / (n * f64::from_bits(binade) * 2f64.powi(-10));
        failing += u64::from(margin > 1.0);
        worst = worst.max(margin);
    }
    (failing, worst)
}
