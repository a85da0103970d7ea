//! Runs the synthetic devices over all rows and modes: `--count` results in all (default 10^8).

#[path = "../tests/support/devices.rs"]
mod devices;

use std::{io::Write as _, process::ExitCode};

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
    let mut score = devices::Score::default();
    // In rounds, so that memory does not grow with the count.
    let mut seed = 0;
    while score.conforming.0 < count {
        for call in &calls {
            devices::run(call, 1_024, seed, &mut score);
            seed += 1;
        }
        let _ = writeln!(
            std::io::stdout(),
            "conforming: {} results, {} falsely accused; violating: {} results, {} missed",
            score.conforming.0,
            score.conforming.1,
            score.violating.0,
            score.violating.1
        );
        if !score.examples.is_empty() {
            let _ = writeln!(std::io::stdout(), "{}", score.examples.join("\n"));
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
