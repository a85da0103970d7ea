//! Fuzzer: mutates modules and texts for some seconds, `fuzz SECONDS [SEED]`, and prints the number
//! of executions. If a round panics, it prints the seed, which reproduces that round alone.

#[path = "../tests/it/support/mod.rs"]
#[expect(dead_code, reason = "the tests of the grammar need more of it")]
mod support;

use std::time::{Duration, Instant};

use support::mutate::{Random, round};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own, run by hand")]
fn main() {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<u64>().expect("SECONDS [SEED], both numbers"));
    let limit = Duration::from_secs(arguments.next().unwrap_or(10));
    let mut seed = arguments.next().unwrap_or(1);
    let seeds = support::seeds();
    let start = Instant::now();
    let mut rounds = 0u64;
    let mut slowest = Duration::ZERO;
    while start.elapsed() < limit {
        let one = Instant::now();
        if std::panic::catch_unwind(|| round(&seeds, &mut Random(seed))).is_err() {
            eprintln!("panic in the round with seed {seed}");
            std::process::exit(1);
        }
        slowest = slowest.max(one.elapsed());
        seed = seed.wrapping_add(1);
        rounds += 1;
    }
    println!("{} executions in {:?}, slowest round {slowest:?}, next seed {seed}", rounds * 3, start.elapsed());
}
