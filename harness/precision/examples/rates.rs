//! What the bulk checker costs: nanoseconds per result on one core, beside the obvious loop, over inputs spread evenly over all 2^32 of each
//! instruction, and how many of the results it leaves to the certain evaluation.
//!
//! `cargo run --release -p assay-precision --example rates -- [--blocks N] [INSTRUCTION]...`
//!
//! The device is an ideal one that is up to one ulp off; `benches/checker.rs` compares the same with the obvious loop.

#[path = "../benches/support/mod.rs"]
mod support;

use assay_precision::{Call, Census, Checker, Column, Modes, Scalar, Shape, Verdict};
use std::{hint::black_box, io::Write as _, process::ExitCode, sync::LazyLock, time::Instant};

/// Seconds that this thread has run: on a busy machine less than have passed. Linux; elsewhere the time that has passed.
fn cpu() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let run = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = run.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |ns| ns * 1e-9)
}

fn main() -> ExitCode {
    let mut blocks = 512;
    let mut names = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if arg == "--blocks" {
            let Some(n) = args.next().and_then(|n| n.parse().ok()) else {
                let _ = writeln!(std::io::stderr(), "--blocks takes how many blocks of 16384 inputs to check");
                return ExitCode::from(2);
            };
            blocks = n;
        } else {
            names.push(arg);
        }
    }
    let mut out = std::io::stdout();
    let _ = writeln!(
        out,
        "{:<14} {:>10} {:>10} {:>12} {:>12} {:>10}",
        "instruction", "ns/result", "loop", "certain", "unchecked", "worst"
    );
    for device in support::UNARY.iter().filter(|d| names.is_empty() || names.iter().any(|n| n == d.op.name())) {
        let call = Call::new(device.op, Scalar::Float(assay_float::F32), Shape::Scalar, None, Modes::default());
        let checker = Checker::new(call.expect("every unary instruction takes a single"));
        let mut census = Census::default();
        let (mut seconds, mut plain) = (0.0, 0.0);
        for block in 0..blocks {
            let (operands, results) = support::block(device, block, blocks);
            let started = cpu();
            checker.check(&[Column::Words(&operands)], &[Column::Words(&results)], &mut census);
            seconds += cpu() - started;
            if let Some(function) = support::reference(device.op) {
                let started = cpu();
                black_box(support::obvious(device.op, black_box(function), &operands, &results));
                plain += cpu() - started;
            }
        }
        let results = census.inputs as f64;
        let unchecked = census.verdicts.get(&Verdict::Unchecked).copied().unwrap_or(0);
        let worst = census.worst.as_ref().and_then(|w| w.margin).unwrap_or(0.0);
        let _ = writeln!(
            out,
            "{:<14} {:>10.2} {:>10.2} {:>11.4}% {:>11.2}% {:>10.4}",
            device.op.name(),
            1e9 * seconds / results,
            1e9 * plain / results,
            100.0 * census.certain as f64 / results,
            100.0 * unchecked as f64 / results,
            worst
        );
    }
    ExitCode::SUCCESS
}
