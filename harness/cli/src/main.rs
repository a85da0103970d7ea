//! The `assay` binary: arguments in, exit codes out.

mod args;
mod cases;
mod check;
mod coverage;
mod devices;
mod exit;
mod explain;
mod folders;
mod inspect;
mod lists;
mod run;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use exit::{Failure, WithCode};
use std::{
    collections::BTreeSet,
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
    sync::{Mutex, PoisonError},
};

fn main() -> ExitCode {
    if let Err(error) = catch_file_size_signal() {
        note(&format!("a file that exceeds the limit on file sizes will end Assay: {error}"));
    }
    let cli = match Cli::try_parse_from(std::env::args_os().map(shield_minus)) {
        Ok(cli) => cli,
        Err(error) => return explain_usage(&error),
    };
    // A panic is a defect of Assay and of nothing else: it must not look like a failure of a driver.
    let result = std::panic::catch_unwind(|| dispatch(cli.command));
    let code = match result {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            complain(&failure);
            failure.code
        }
        Err(_) => {
            let error = anyhow::anyhow!(
                "this is a defect of Assay; please report it with the command line and the lines above"
            );
            complain(&Failure { code: exit::INTERNAL, error });
            exit::INTERNAL
        }
    };
    ExitCode::from(code)
}

fn dispatch(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Devices(args) => devices::devices(&args),
        Command::List(args) => cases::list(&args),
        Command::Run(args) => run::run(&args),
        Command::Worker => run::worker::worker(),
        Command::Check(args) => check::check(&args),
        Command::Repro(args) => check::repro(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Inspect(args) => inspect::inspect(&args),
        Command::Coverage(args) => coverage::coverage(&args),
        Command::Report(args) => folders::report(&args),
        Command::History { command } => folders::history(&command),
        Command::Merge(args) => folders::merge(&args),
        Command::Diff(args) => folders::diff(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "assay", &mut script);
            print(&script)
        }
    }
}

/// Writes to stdout. A reader that has gone (`assay list | head`) is no error.
fn print(text: &[u8]) -> Result<u8, Failure> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).code(exit::USAGE).map_err(|f| Failure { error: f.error.context("cannot write to stdout"), ..f })
        }
        _ => Ok(exit::OK),
    }
}

/// Stdout of a run or a check, whose product is elsewhere: the first write that fails is said on stderr, with what becomes of
/// the work. A reader that has gone (`assay run | head`) is not worth a word.
struct Stdout {
    /// What a failed write means for the work.
    otherwise: String,
}

impl Write for Stdout {
    /// Writes the block, which stays together though several runs write at the same time.
    fn write(&mut self, block: &[u8]) -> io::Result<usize> {
        let mut out = anstream::stdout().lock();
        out.write_all(block).and_then(|()| out.flush()).inspect_err(|error| {
            if error.kind() != io::ErrorKind::BrokenPipe {
                note_once(&format!("cannot write to stdout ({error}): {}", self.otherwise));
            }
        })?;
        Ok(block.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Shows on stdout what the exit code sums up: that it cannot be written is said on stderr and changes nothing.
fn show(text: &str) {
    // What is wrong has been said.
    _ = Stdout { otherwise: "the exit code has the verdict".to_owned() }.write_all(text.as_bytes());
}

/// Has writes beyond the limit on file sizes (`ulimit -f`) fail with EFBIG, as on a full disk: by default SIGXFSZ ends the
/// process without a word. The handler does nothing but be there, and a process that this one starts has one of its own.
fn catch_file_size_signal() -> io::Result<()> {
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default())?;
    Ok(())
}

/// Says on stderr what is wrong.
fn complain(failure: &Failure) {
    let red = anstyle::AnsiColor::Red.on_default().bold();
    // Without a stderr the exit code has to do.
    _ = writeln!(anstream::stderr(), "{red}error:{red:#} {}", as_typed(failure.to_string()));
}

/// Says what is wrong with the arguments, or helps, if that is what they ask for.
fn explain_usage(error: &clap::Error) -> ExitCode {
    if error.exit_code() == i32::from(exit::OK) {
        return match print(error.render().ansi().to_string().as_bytes()) {
            Ok(code) => ExitCode::from(code),
            Err(failure) => {
                complain(&failure);
                ExitCode::from(failure.code)
            }
        };
    }
    _ = write!(anstream::stderr(), "{}", as_typed(error.render().ansi().to_string()));
    ExitCode::from(exit::USAGE)
}

/// A message with every minus as it was typed: see [`shield_minus`].
fn as_typed(message: String) -> String {
    let typed = |argument: OsString| argument.to_str().is_some_and(|text| text.contains(SHIELDED));
    if std::env::args_os().any(typed) { message } else { message.replace(SHIELDED, "-") }
}

/// Says something on stderr that is worth knowing and no error.
fn note(text: &str) {
    let cyan = anstyle::AnsiColor::Cyan.on_default().bold();
    _ = writeln!(anstream::stderr(), "{cyan}note:{cyan:#} {text}");
}

/// As [`note`], once however many runs this is part of.
fn note_once(text: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(text.to_owned()) {
        note(text);
    }
}

/// A minus that clap does not take for the beginning of an option.
const SHIELDED: char = '\u{2212}';

/// A number with a minus (`-1e-3`, `-inf`, `-0x1p3`) is an operand, which clap would take for an option: its minus becomes
/// U+2212, which operands may be written with as well.
fn shield_minus(argument: OsString) -> OsString {
    let number = argument.to_str().and_then(|text| text.strip_prefix('-')).filter(|rest| {
        let first = rest.split(',').next().unwrap_or_default().to_ascii_lowercase();
        // Rust reads inf, infinity and nan as well. Ends of a range are for the range to read.
        !rest.contains("..") && (first.parse::<f64>().is_ok() || first.starts_with("0x"))
    });
    match number {
        Some(rest) => format!("{SHIELDED}{rest}").into(),
        None => argument,
    }
}
