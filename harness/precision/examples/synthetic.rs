//! Runs the synthetic devices over all rows and modes, on all cores: `--count` results in all (default 10^8).
//!
//! Each row in each mode gets equal time in each round, so that rows with a slow reference
//! (inherited precision in 64 bits, with its lenient reading) take part in every round without
//! delaying the others. The least number of results of any row is reported.

#[path = "../tests/it/devices.rs"]
mod devices;

use devices::Score;
use rayon::prelude::*;
use std::{
    io::Write as _,
    process::ExitCode,
    time::{Duration, Instant},
};

/// Duration of one row in one mode in one round.
const SLICE: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let count: u64 = match (args.next().as_deref(), args.next().map(|n| n.parse())) {
        (None, _) => 100_000_000,
        (Some("--count"), Some(Ok(count))) => count,
        _ => {
            let _ = writeln!(std::io::stderr(), "usage: synthetic [--count N]");
            return ExitCode::from(2);
        }
    };
    let calls = devices::calls();
    let (mut score, mut each) = (Score::default(), vec![0; calls.len()]);
    let start = Instant::now();
    let mut seed = 0;
    while score.conforming.0 < count {
        let found: Vec<Score> = calls.par_iter().map(|call| slice(call, seed)).collect();
        for (total, one) in each.iter_mut().zip(&found) {
            *total += one.conforming.0;
        }
        score = found.into_iter().fold(score, sum);
        seed += 1 << 32;
        let rate = score.conforming.0 as f64 / start.elapsed().as_secs_f64();
        let (fewest, call) = each.iter().zip(&calls).min_by_key(|(n, _)| **n).expect("a call");
        let _ = writeln!(
            std::io::stdout(),
            "conforming: {} results, {} falsely accused; violating: {} results, {} missed; {rate:.0} results/s; fewest \
             of a row in a mode: {fewest} ({} {} {})",
            score.conforming.0,
            score.conforming.1,
            score.violating.0,
            score.violating.1,
            call.op,
            call.results[0],
            call.modes,
        );
    }
    let _ = writeln!(std::io::stdout(), "{}", score.examples.join("\n"));
    if score.examples.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Sum of two scores.
fn sum(a: Score, b: Score) -> Score {
    let both = |p: (u64, u64), q: (u64, u64)| (p.0 + q.0, p.1 + q.1);
    Score {
        conforming: both(a.conforming, b.conforming),
        violating: both(a.violating, b.violating),
        examples: a.examples.into_iter().chain(b.examples).take(20).collect(),
    }
}

/// Runs one row in one mode for its time, in ever larger batches, and one sweep of it.
fn slice(call: &assay_precision::Call, seed: u64) -> Score {
    let (start, mut score, mut batch) = (Instant::now(), Score::default(), 8);
    let mut turn = 0;
    while start.elapsed() < SLICE {
        devices::run(call, batch, seed + turn, &mut score);
        batch = (batch * 2).min(4_096);
        turn += 1;
    }
    devices::sweep(call, seed, &mut score);
    score
}
