//! Rates of the bulk checker on pairs of halves: millions of pairs for each second of CPU time, next
//! to the plain loop, over rows spread over all pairs. Operands and results are in the core's cache.
//!
//! `cargo run --release -p assay-precision --example pairs -- [--modes A,B] [--rows N]
//! [INSTRUCTION]...`

#[path = "../benches/support/cpu_time.rs"]
mod cpu_time;
#[path = "../benches/support/pairs.rs"]
mod devices;

use assay_float::F16;
use assay_precision::{CheckCounts, Checker, Column, Modes, Verdict};
use cpu_time::cpu;
use devices::{PAIRS, PairDevice, obvious};
use std::{hint::black_box, io::Write as _, process::ExitCode};

/// Blocks in a batch: as many as a core's own cache holds.
const BATCH: u32 = 8;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (mut modes, mut rows, mut names) = (Modes::default(), 64u32, Vec::new());
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--modes" => {
                for name in args.next().unwrap_or_default().split(',') {
                    match modes.with(name) {
                        Some(with) => modes = with,
                        None => return usage(&format!("unknown mode `{name}`")),
                    }
                }
            }
            "--rows" => match args.next().and_then(|n| n.parse().ok()) {
                Some(n) => rows = n,
                None => return usage("--rows takes a number of second operands"),
            },
            _ => names.push(arg),
        }
    }
    for device in PAIRS.iter().filter(|d| names.is_empty() || names.iter().any(|n| n == d.op.name())) {
        rate(device, modes, rows);
    }
    ExitCode::SUCCESS
}

fn usage(error: &str) -> ExitCode {
    _ = writeln!(std::io::stderr(), "error: {error}");
    ExitCode::from(2)
}

/// Prints the rate of the checker and of the plain loop for one instruction.
fn rate(device: &PairDevice, modes: Modes, rows: u32) {
    let checker = Checker::new(device.call(modes));
    let table: Vec<f64> = (0..=0xffffu64).map(|bits| F16.to_f64(bits)).collect();
    let (mut counts, mut seconds, mut plain) = (CheckCounts::default(), 0.0, 0.0);
    for start in (0..4 * rows).step_by(BATCH as usize) {
        let batch: Vec<_> = (start..start + BATCH).map(|index| device.block(index, modes)).collect();
        let check = |counts: &mut CheckCounts| {
            for block in &batch {
                let operands = [Column::Words(&block.operands), Column::Words(&block.seconds)];
                checker.check(&operands, &[Column::Words(&block.results)], counts);
            }
        };
        // One pass before the clock starts: in a sweep of all pairs, results as bad as those of the
        // batch have occurred before.
        let mut first = counts.next();
        check(&mut first);
        // The system advances the clock only a few hundred times a second.
        let turns = if 50 * first.certified > first.inputs { 1 } else { 16 };
        let started = cpu();
        (0..turns).for_each(|_| check(&mut first.next()));
        seconds += (cpu() - started) / f64::from(turns);
        counts.merge(&first);
        let started = cpu();
        for block in batch.iter().cycle().take(turns as usize * batch.len()) {
            black_box(obvious(device, &table, block));
        }
        plain += (cpu() - started) / f64::from(turns);
    }
    let n = counts.inputs as f64;
    let share = |verdict| 100.0 * counts.verdicts.get(&verdict).copied().unwrap_or(0) as f64 / n;
    _ = writeln!(
        std::io::stdout(),
        "{:<16} {:>8.1} M/s, loop {:>8.1} M/s  certain {:>8.4}%  unchecked {:>6.2}%  failing {:>7.3}%  worst {:.6}",
        device.op.name(),
        1e-6 * n / seconds,
        1e-6 * n / plain,
        100.0 * counts.certified as f64 / n,
        share(Verdict::Unchecked),
        share(Verdict::Fail),
        counts.worst.as_ref().and_then(|w| w.margin).unwrap_or(0.0),
    );
}
