//! Cost of single operations: `cargo bench -p assay-float`.

use assay_float::{BigEnclosure, Dyadic, Enclosure, F32, F64Enclosure, Function};
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime};
use std::{hint::black_box, time::Duration};

/// Functions with an ordinary argument.
const FUNCTIONS: [(Function, f64); 18] = [
    (Function::Sqrt, 0.7),
    (Function::InverseSqrt, 0.7),
    (Function::Exp, 3.7),
    (Function::Exp2, 3.7),
    (Function::Ln, 3.7),
    (Function::Log2, 3.7),
    (Function::Sin, 2.7),
    (Function::Cos, 2.7),
    (Function::Tan, 2.7),
    (Function::Asin, 0.7),
    (Function::Acos, 0.7),
    (Function::Atan, 3.7),
    (Function::Sinh, 3.7),
    (Function::Cosh, 3.7),
    (Function::Tanh, 0.7),
    (Function::Asinh, 3.7),
    (Function::Acosh, 3.7),
    (Function::Atanh, 0.7),
];

fn operations<R: Enclosure>(group: &mut BenchmarkGroup<'_, WallTime>, precision: R::Precision) {
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(300)).sample_size(20);
    // An argument of single precision, as in most questions.
    let number = |x: f64| R::exact(Dyadic::from_f64(f64::from(x as f32)).expect("finite"), precision);
    for (function, x) in FUNCTIONS {
        let x = number(x);
        group.bench_function(format!("{function:?}"), |b| b.iter(|| black_box(&x).function(function)));
    }
    let (x, y) = (number(1.1), number(3.3));
    let third = number(1.0).div(&number(3.0)).expect("not zero");
    group.bench_function("add", |b| b.iter(|| black_box(&x).add(black_box(&y))));
    group.bench_function("mul", |b| b.iter(|| black_box(&x).mul(black_box(&y))));
    group.bench_function("mul_interval", |b| b.iter(|| black_box(&third).mul(black_box(&y))));
    group.bench_function("div", |b| b.iter(|| black_box(&x).div(black_box(&y))));
    group.bench_function("atan2", |b| b.iter(|| black_box(&x).atan2(black_box(&y))));
    group.bench_function("pow", |b| b.iter(|| black_box(&x).pow(black_box(&y))));
    group.bench_function("rem_trunc", |b| b.iter(|| black_box(&y).rem_trunc(black_box(&x))));
    group.bench_function("ceil_rank", |b| b.iter(|| black_box(&third).ceil_rank(F32)));
    group.bench_function("exact", |b| b.iter(|| number(black_box(0.3))));
}

fn enclosures(criterion: &mut Criterion) {
    operations::<F64Enclosure>(&mut criterion.benchmark_group("fast"), ());
    operations::<BigEnclosure>(&mut criterion.benchmark_group("big96"), 96);
    operations::<BigEnclosure>(&mut criterion.benchmark_group("big400"), 400);
}

criterion_group!(benches, enclosures);
criterion_main!(benches);
