//! Prints the module of a case: `cargo run -p assay-suite --example program
//! storage8.array.nested.dynamic`. A second argument selects the path.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for a terminal")]

use assay_suite::{RunPath, all};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let path = arguments.next().map_or(Ok(RunPath::Native), |path| path.parse());
    let case = all().into_iter().flat_map(|suite| suite.cases()).find(|case| case.name == name);
    let program = match (&case, &path) {
        (Some(case), Ok(path)) => case.program(*path),
        (_, Err(unknown)) => {
            eprintln!("{unknown}");
            None
        }
        (None, _) => None,
    };
    match program {
        Some(program) => {
            println!("{}", program.text);
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("no case `{name}` with this path");
            ExitCode::FAILURE
        }
    }
}
