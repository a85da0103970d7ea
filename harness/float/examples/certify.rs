//! Measures every `f64` kernel against CORE-MATH over all `f32` inputs of its domain, and over
//! pairs for the functions of two variables. Fails if a kernel exceeds the documented bound.
//!
//! `cargo run --release -p assay-float --example certify -- [--stride N] [FUNCTION]...`
//!
//! CORE-MATH's `f64` functions are correctly rounded, hence within one unit of 2^-53 of the exact
//! value; the measured error is increased by that unit.

use assay_float::f64_kernels;
use std::{
    io::Write,
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

/// A kernel, the correctly rounded function, and the domain as a closed interval.
struct Kernel {
    name: &'static str,
    kernel: fn(f64) -> f64,
    reference: fn(f64) -> f64,
    domain: (f64, f64),
}

const fn row(name: &'static str, kernel: fn(f64) -> f64, reference: fn(f64) -> f64, lo: f64, hi: f64) -> Kernel {
    Kernel { name, kernel, reference, domain: (lo, hi) }
}

const ABOVE_ONE: f64 = 1.0 + f64::EPSILON;
const BELOW_ONE: f64 = 1.0 - f64::EPSILON;

const KERNELS: [Kernel; 18] = [
    row("exp", f64_kernels::exp, core_math::exp, -708.0, 709.7),
    row("exp2", f64_kernels::exp2, core_math::exp2, -1022.0, 1023.9),
    row("ln", f64_kernels::ln, core_math::log, f64::MIN_POSITIVE, f64::MAX),
    row("ln_1p", f64_kernels::ln_1p, core_math::log1p, -BELOW_ONE, f64::MAX),
    row("log2", f64_kernels::log2, core_math::log2, f64::MIN_POSITIVE, f64::MAX),
    row("sin", f64_kernels::sin, core_math::sin, -4.0, 4.0),
    row("cos", f64_kernels::cos, core_math::cos, -4.0, 4.0),
    row("tan", f64_kernels::tan, core_math::tan, -4.0, 4.0),
    row("asin", f64_kernels::asin, core_math::asin, -1.0, 1.0),
    row("acos", f64_kernels::acos, core_math::acos, -1.0, BELOW_ONE),
    row("atan", f64_kernels::atan, core_math::atan, f64::MIN, f64::MAX),
    row("atan2", atan2_kernel, atan2_reference, f64::MIN, f64::MAX),
    row("sinh", f64_kernels::sinh, core_math::sinh, -709.0, 709.0),
    row("cosh", f64_kernels::cosh, core_math::cosh, -708.0, 708.0),
    row("tanh", f64_kernels::tanh, core_math::tanh, -350.0, 350.0),
    row("asinh", f64_kernels::asinh, core_math::asinh, f64::MIN, f64::MAX),
    row("acosh", f64_kernels::acosh, core_math::acosh, ABOVE_ONE, f64::MAX),
    row("atanh", f64_kernels::atanh, core_math::atanh, -BELOW_ONE, BELOW_ONE),
];

/// Second coordinate of similar magnitude that depends on the first, so that all quadrants occur.
fn other(x: f64) -> f64 {
    let hash = x.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let factor = f64::from_bits(0x3fc0_0000_0000_0000 + (hash >> 8));
    let factor = if factor.is_finite() { factor.clamp(0.01, 100.0) } else { 1.0 };
    (f64::from((x * factor) as f32)).copysign(if hash & 1 == 0 { 1.0 } else { -1.0 })
}

fn atan2_kernel(y: f64) -> f64 {
    f64_kernels::atan2(y, other(y))
}

fn atan2_reference(y: f64) -> f64 {
    core_math::atan2(y, other(y))
}

/// Error of `value` against `expected` in units of 2^-53, relative; infinite if either is NaN.
fn units(value: f64, expected: f64) -> f64 {
    if value == expected {
        return 0.0;
    }
    let error = ((value - expected) / expected).abs() / (f64::EPSILON / 2.0);
    if error.is_nan() { f64::INFINITY } else { error }
}

/// Largest error over every `stride`-th `f32`, its input, and the number of inputs. Each input is
/// also changed below single precision, so that doubles that are not singles occur as well.
fn certify(kernel: &Kernel, stride: u64) -> (f64, f64, u64) {
    const CHUNK: u64 = 1 << 22;
    let next = AtomicU64::new(0);
    let work = || {
        let (mut worst, mut at, mut count) = (0.0, f64::NAN, 0);
        loop {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            if start > u64::from(u32::MAX) {
                return (worst, at, count);
            }
            let first = start.next_multiple_of(stride);
            for bits in (first..(start + CHUNK).min(1 << 32)).step_by(stride as usize) {
                let single = f64::from(f32::from_bits(bits as u32));
                if !single.is_finite() || single == 0.0 {
                    continue;
                }
                let noise = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 35;
                for x in [single, f64::from_bits(single.to_bits() | noise)] {
                    if x < kernel.domain.0 || x > kernel.domain.1 {
                        continue;
                    }
                    count += 1;
                    let expected = (kernel.reference)(x);
                    let error = units((kernel.kernel)(x), expected);
                    if error > worst {
                        (worst, at) = (error, x);
                    }
                }
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).fold(
            (0.0, f64::NAN, 0),
            |total: (f64, f64, u64), part| {
                let (worst, at) = if part.0 <= total.0 { (total.0, total.1) } else { (part.0, part.1) };
                (worst, at, total.2 + part.2)
            },
        )
    })
}

fn main() -> ExitCode {
    let mut stride = 1;
    let mut names = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--stride" {
            let Some(value) = arguments.next().and_then(|value| value.parse().ok()).filter(|&value| value > 0) else {
                let _ = writeln!(std::io::stderr(), "--stride needs a positive number");
                return ExitCode::from(2);
            };
            stride = value;
        } else {
            names.push(argument);
        }
    }
    let bound = f64_kernels::ERROR_BOUND / (f64::EPSILON / 2.0);
    let mut holds = true;
    for kernel in KERNELS.iter().filter(|kernel| names.is_empty() || names.iter().any(|name| name == kernel.name)) {
        let (worst, at, count) = certify(kernel, stride);
        let ok = worst + 1.0 <= bound;
        holds &= ok;
        let verdict = if ok { "holds" } else { "EXCEEDED" };
        let _ = writeln!(
            std::io::stdout(),
            "{:6} {count:>11} inputs: at most {worst:.3} + 1 units of 2^-53, at {at:e}; bound {bound}: {verdict}",
            kernel.name
        );
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
