//! The bulk checker beside the obvious loop: a correctly rounded reference from CORE-MATH, the error in `f64` over the bound of
//! the table, compared with one. The loop knows nothing of denormals, infinities, domains and inherited bounds; where the
//! rule is inherited it is given a constant number of ulp.
//!
//! `cargo bench -p assay-precision --bench checker`; both run on one core, over the same inputs.

mod support;

use assay_float::F32;
use assay_precision::{Call, Census, Checker, Column, Modes, Op, Scalar, Shape, Verdict};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

/// Blocks spread over all inputs.
const BLOCKS: u32 = 64;

/// What the obvious loop allows, in ulp, for an operand.
fn ulps(op: Op, x: f64) -> f64 {
    match op {
        Op::Exp | Op::Exp2 => 3.0 + 2.0 * x.abs(),
        Op::Log | Op::Log2 => 3.0,
        Op::InverseSqrt => 2.0,
        Op::Sin | Op::Cos | Op::Atan => 4096.0,
        _ => 16.0,
    }
}

/// The correctly rounded functions in double precision that the loop measures against.
fn reference(op: Op) -> Option<fn(f64) -> f64> {
    Some(match op {
        Op::Exp => core_math::exp,
        Op::Exp2 => core_math::exp2,
        Op::Log => core_math::log,
        Op::Log2 => core_math::log2,
        Op::InverseSqrt => core_math::rsqrt,
        Op::Sin => core_math::sin,
        Op::Cos => core_math::cos,
        Op::Atan => core_math::atan,
        Op::Tan => core_math::tan,
        Op::Asin => core_math::asin,
        Op::Sinh => core_math::sinh,
        Op::Tanh => core_math::tanh,
        Op::Atanh => core_math::atanh,
        _ => return None,
    })
}

/// How many results are off by more than is allowed, and the worst ratio.
fn obvious(op: Op, function: fn(f64) -> f64, operands: &[u32], results: &[u32]) -> (u64, f64) {
    let (mut failing, mut worst) = (0, 0f64);
    for (&x, &got) in operands.iter().zip(results) {
        let (x, got) = (f64::from(f32::from_bits(x)), f64::from(f32::from_bits(got)));
        let exact = function(x);
        if !exact.is_finite() || !got.is_finite() {
            continue;
        }
        let ulp = f64::from_bits(exact.abs().max(2f64.powi(-126)).to_bits() & 0x7ff0_0000_0000_0000) * 2f64.powi(-23);
        let margin = (got - exact).abs() / (ulps(op, x) * ulp);
        failing += u64::from(margin > 1.0);
        worst = worst.max(margin);
    }
    (failing, worst)
}

fn checker(c: &mut Criterion) {
    for device in &support::UNARY {
        let Some(function) = reference(device.op) else { continue };
        let blocks: Vec<_> = (0..BLOCKS).map(|index| support::block(device, index, BLOCKS)).collect();
        let mut group = c.benchmark_group(device.op.name());
        group.throughput(Throughput::Elements(u64::from(BLOCKS * support::BLOCK))).sample_size(10);
        let call = Call::new(device.op, Scalar::Float(F32), Shape::Scalar, None, Modes::default());
        let checker = Checker::new(call.expect("every unary instruction takes a single"));
        group.bench_function("checker", |b| {
            b.iter(|| {
                let mut census = Census::default();
                for (operands, results) in &blocks {
                    checker.check(&[Column::Words(operands)], &[Column::Words(results)], &mut census);
                }
                census.verdicts.get(&Verdict::Fail).copied()
            });
        });
        group.bench_function("obvious loop", |b| {
            b.iter(|| {
                let counts = blocks.iter().map(|(x, got)| obvious(device.op, black_box(function), x, got));
                counts.fold((0, 0f64), |(a, b), (failing, worst)| (a + failing, b.max(worst)))
            });
        });
        group.finish();
    }
}

criterion_group!(benches, checker);
criterion_main!(benches);
