//! Cost of the bulk checker: nanoseconds per result on one core, next to the plain loop, over
//! inputs spread evenly over all 2^32 of each instruction, and the number of results that the
//! filter leaves to the certified evaluation. Operands and results are in the core's cache; from
//! memory the fastest rates are up to two times lower.
//!
//! `cargo run --release -p assay-precision --example rates -- [--blocks N] [INSTRUCTION]...`
//!
//! The device is an ideal one with errors of up to one ulp. `benches/checker.rs` compares the
//! checker with the plain loop.

#[path = "../benches/support/cpu_time.rs"]
mod cpu_time;
#[path = "../benches/support/mod.rs"]
mod support;

use assay_precision::{Call, CheckCounts, Checker, Column, Modes, Op, Scalar, Shape, Verdict};
use cpu_time::cpu;
use std::{hint::black_box, io::Write as _, process::ExitCode};

/// Number of blocks in a batch: as many as a core's own cache holds, so that memory is not
/// measured.
const BATCH: usize = 8;

/// Number of passes over a batch between two readings of the clock, which the system advances only
/// a few hundred times a second.
const TURNS: usize = 16;

fn main() -> ExitCode {
    let mut blocks = 4096;
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
    let _ = writeln!(
        std::io::stdout(),
        "{:<14} {:>10} {:>10} {:>12} {:>12} {:>10}   {:>10} at",
        "instruction",
        "ns/result",
        "loop",
        "certain",
        "unchecked",
        "worst",
        "slowest"
    );
    for device in support::UNARY.iter().filter(|d| names.is_empty() || names.iter().any(|n| n == d.op.name())) {
        line(device.op, device.op.name(), blocks, |block| support::block(device, block, blocks));
        if let Some(formula) = by_formula(device.op) {
            line(device.op, "  by formula", blocks, |block| {
                let operands = support::operands(block, blocks);
                let results = operands.iter().map(|&x| formula(f32::from_bits(x)).to_bits()).collect();
                (operands, results)
            });
        }
    }
    ExitCode::SUCCESS
}

/// Typical implementation of an instruction of inherited precision: the specification's formula,
/// step by step in single precision.
fn by_formula(op: Op) -> Option<fn(f32) -> f32> {
    use core_math::{atan2f, cosf, expf, logf, sinf};
    Some(match op {
        Op::Tan => |x| sinf(x) / cosf(x),
        Op::Asin => |x| atan2f(x, (1.0 - x * x).sqrt()),
        Op::Acos => |x| atan2f((1.0 - x * x).sqrt(), x),
        Op::Sinh => |x| (expf(x) - expf(-x)) * 0.5,
        Op::Cosh => |x| (expf(x) + expf(-x)) * 0.5,
        Op::Tanh => |x| ((expf(x) - expf(-x)) * 0.5) / ((expf(x) + expf(-x)) * 0.5),
        Op::Asinh => |x| logf(x + (x * x + 1.0).sqrt()),
        Op::Acosh => |x| logf(x + (x * x - 1.0).sqrt()),
        Op::Atanh => |x| logf((1.0 + x) / (1.0 - x)) * 0.5,
        _ => return None,
    })
}

/// Checks the blocks of a device and prints the cost.
fn line(op: Op, name: &str, blocks: u32, device: impl Fn(u32) -> (Vec<u32>, Vec<u32>)) {
    let call = Call::new(op, Scalar::Float(assay_float::F32), Shape::Scalar, None, Modes::default());
    let checker = Checker::new(call.expect("every unary instruction takes a single"));
    let mut counts = CheckCounts::default();
    let (mut seconds, mut plain, mut slowest) = (0.0, 0.0, (0.0, 0));
    let mut next = (0..blocks).peekable();
    while next.peek().is_some() {
        let batch: Vec<_> = next.by_ref().take(BATCH).map(&device).collect();
        let check = |counts: &mut CheckCounts| {
            for (operands, results) in &batch {
                checker.check(&[Column::Words(operands)], &[Column::Words(results)], counts);
            }
        };
        // One pass before the clock starts: in a sweep of all inputs, results as bad as those of
        // the batch, a 32,768th of it, have occurred before.
        let mut first = counts.next();
        check(&mut first);
        let started = cpu();
        (0..TURNS).for_each(|_| check(&mut first.next()));
        let taken = cpu() - started;
        counts.merge(&first);
        seconds += taken / TURNS as f64;
        let each = taken / (TURNS * batch.iter().map(|(operands, _)| operands.len()).sum::<usize>()) as f64;
        if each > slowest.0 {
            slowest = (each, batch[0].0[0]);
        }
        if let Some(function) = support::reference(op) {
            let started = cpu();
            for (operands, results) in batch.iter().cycle().take(TURNS * batch.len()) {
                black_box(support::obvious(op, black_box(function), operands, results));
            }
            plain += (cpu() - started) / TURNS as f64;
        }
    }
    let results = counts.inputs as f64;
    let unchecked = counts.verdicts.get(&Verdict::Unchecked).copied().unwrap_or(0);
    let worst = counts.worst.as_ref().and_then(|w| w.margin).unwrap_or(0.0);
    let _ = writeln!(
        std::io::stdout(),
        "{name:<14} {:>10.2} {:>10.2} {:>11.4}% {:>11.2}% {worst:>10.4}   {:>10.1} {:#010x}",
        1e9 * seconds / results,
        1e9 * plain / results,
        100.0 * counts.certified as f64 / results,
        100.0 * unchecked as f64 / results,
        1e9 * slowest.0,
        slowest.1
    );
}
