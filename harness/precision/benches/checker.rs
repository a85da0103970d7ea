//! The bulk checker and the plain loop over equal inputs on one core: `cargo bench -p
//! assay-precision --bench checker`.

#[path = "support/pairs.rs"]
mod devices;
mod support;

use assay_float::{F16, F32};
use assay_precision::{Call, CheckCounts, Checker, Column, Modes, Scalar, Shape, Verdict};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

/// Number of blocks, spread over all inputs.
const BLOCKS: u32 = 64;

fn checker(c: &mut Criterion) {
    for device in &support::UNARY {
        let Some(function) = support::reference(device.op) else { continue };
        let blocks: Vec<_> = (0..BLOCKS).map(|index| support::block(device, index, BLOCKS)).collect();
        let mut group = c.benchmark_group(device.op.name());
        group.throughput(Throughput::Elements(u64::from(BLOCKS * support::BLOCK))).sample_size(10);
        let call = Call::new(device.op, Scalar::Float(F32), Shape::Scalar, None, Modes::default());
        let checker = Checker::new(call.expect("every unary instruction takes a single"));
        group.bench_function("checker", |b| {
            b.iter(|| {
                let mut counts = CheckCounts::default();
                for (operands, results) in &blocks {
                    checker.check(&[Column::Words(operands)], &[Column::Words(results)], &mut counts);
                }
                counts.verdicts.get(&Verdict::Fail).copied()
            });
        });
        group.bench_function("obvious loop", |b| {
            b.iter(|| {
                let counts = blocks.iter().map(|(x, got)| support::obvious(device.op, black_box(function), x, got));
                counts.fold((0, 0f64), |(a, b), (failing, worst)| (a + failing, b.max(worst)))
            });
        });
        group.finish();
    }
}

/// Number of rows of pairs, a quarter of each.
const ROWS: u32 = 64;

fn pairs(c: &mut Criterion) {
    let table: Vec<f64> = (0..=0xffffu64).map(|bits| F16.to_f64(bits)).collect();
    for device in &devices::PAIRS {
        let blocks: Vec<_> = (0..ROWS).map(|row| device.block(4 * row + row % 4, Modes::default())).collect();
        let mut group = c.benchmark_group(format!("pairs {}", device.op.name()));
        group.throughput(Throughput::Elements(u64::from(ROWS * devices::BLOCK))).sample_size(10);
        let checker = Checker::new(device.call(Modes::default()));
        group.bench_function("checker", |b| {
            b.iter(|| {
                let mut counts = CheckCounts::default();
                for block in &blocks {
                    let operands = [Column::Words(&block.operands), Column::Words(&block.seconds)];
                    checker.check(&operands, &[Column::Words(&block.results)], &mut counts);
                }
                counts.verdicts.get(&Verdict::Fail).copied()
            });
        });
        group.bench_function("obvious loop", |b| {
            b.iter(|| {
                let counts = blocks.iter().map(|block| devices::obvious(device, &table, black_box(block)));
                counts.fold((0, 0f64), |(a, b), (failing, worst)| (a + failing, b.max(worst)))
            });
        });
        group.finish();
    }
}

criterion_group!(benches, checker, pairs);
criterion_main!(benches);
