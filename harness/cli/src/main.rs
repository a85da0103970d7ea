//! The `assay` binary: parses arguments, runs a command, and returns an exit code.

mod args;
mod atlas;
mod cases;
mod check;
mod common_args;
mod coverage;
mod devices;
mod diff;
mod exit;
mod explain;
mod fuzz;
mod history;
mod inspect;
mod lab_lists;
mod man;
mod merge;
mod output_file;
mod prefix;
mod preparation_progress;
mod profile;
mod push_binary;
mod report;
mod result_folders;
mod run;
mod spinner;
mod table;
mod worker;
mod worker_limits;

use args::{Cli, Command};
use clap::{ColorChoice, CommandFactory, Parser};
use exit::{Failure, WithCode};
use std::{
    collections::BTreeSet,
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
    sync::{Mutex, OnceLock, PoisonError},
};

fn main() -> ExitCode {
    if let Err(error) = catch_file_size_signal() {
        note(&format!("writing a file beyond the size limit (ulimit -f) will end Assay without a message: {error}"));
    }
    let arguments = match profile::with_profile(std::env::args_os().map(shield_minus).collect()) {
        Ok(arguments) => COMMAND_LINE.get_or_init(|| arguments),
        Err(failure) => {
            print_error(&failure);
            return ExitCode::from(failure.code);
        }
    };
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return print_usage(&error),
    };
    match cli.color {
        ColorChoice::Auto => {}
        ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
        ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
    }
    // A panic is a defect of Assay and must not look like a failure of a driver.
    let result = std::panic::catch_unwind(|| dispatch(cli.command));
    let code = match result {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            print_error(&failure);
            failure.code
        }
        Err(_) => {
            let error = anyhow::anyhow!(
                "this is a defect of Assay; please report it with the command line and the lines above"
            );
            print_error(&Failure { code: exit::INTERNAL, error });
            exit::INTERNAL
        }
    };
    ExitCode::from(code)
}

/// The command line with the options of a profile, and minus signs as [`shield_minus`] leaves them.
static COMMAND_LINE: OnceLock<Vec<OsString>> = OnceLock::new();

/// Returns the command line, for results that name it.
fn command_line() -> Vec<String> {
    let arguments = COMMAND_LINE.get().map(Vec::as_slice).unwrap_or_default();
    arguments.iter().map(|argument| restore_minus(argument.to_string_lossy().into_owned())).collect()
}

/// Runs a command and returns its exit code.
fn dispatch(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Devices(args) => devices::devices(&args),
        Command::List(args) => cases::list(&args),
        Command::Run(args) => run::run(&args),
        Command::Fuzz(args) => fuzz::fuzz(&args),
        Command::Worker(args) => worker::serve(&args),
        Command::Check(args) => check::check(&args),
        Command::Repro(args) => check::repro(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Inspect(args) => inspect::inspect(&args),
        Command::Table(args) => table::table(&args),
        Command::Coverage(args) => coverage::coverage(&args),
        Command::Report(args) => report::report(&args),
        Command::Atlas(args) => atlas::atlas(&args),
        Command::History { command } => history::history(&command),
        Command::Merge(args) => merge::merge(&args),
        Command::Diff(args) => diff::diff(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "assay", &mut script);
            print(&script)
        }
        Command::Man { folder } => man::write_pages(Cli::command(), &folder),
    }
}

/// Writes to stdout. A closed pipe (`assay list | head`) is not an error.
fn print(text: &[u8]) -> Result<u8, Failure> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).code(exit::USAGE).map_err(|f| Failure { error: f.error.context("cannot write to stdout"), ..f })
        }
        _ => Ok(exit::OK),
    }
}

/// Stdout of a command whose result does not depend on it, such as a run with a result folder. The
/// first failed write gives a note on stderr. A closed pipe (`assay run | head`) does not.
struct ReportOutput {
    /// Consequence of a failed write, for the note.
    consequence: String,
}

impl Write for ReportOutput {
    /// Writes the whole block at once, so that blocks of concurrent runs do not mix.
    fn write(&mut self, block: &[u8]) -> io::Result<usize> {
        let mut out = anstream::stdout().lock();
        out.write_all(block).and_then(|()| out.flush()).inspect_err(|error| {
            if error.kind() != io::ErrorKind::BrokenPipe {
                note_once(&format!("cannot write to stdout ({error}): {}", self.consequence));
            }
        })?;
        Ok(block.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Consequence of a failed write of a result.
const VERDICT_STAYS: &str = "the exit code still gives the verdict";

/// Prints the summary of results. A failed write gives a note and does not change the exit code.
fn print_summary(text: &str) {
    // `ReportOutput` has noted the error.
    _ = ReportOutput { consequence: VERDICT_STAYS.to_owned() }.write_all(text.as_bytes());
}

/// Makes writes beyond the file size limit (`ulimit -f`) fail with EFBIG, in the same way as a full
/// disk. By default SIGXFSZ ends the process without a message. Installing any handler prevents
/// that; worker processes install their own.
fn catch_file_size_signal() -> io::Result<()> {
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default())?;
    Ok(())
}

/// Prints an error on stderr.
fn print_error(failure: &Failure) {
    let red = anstyle::AnsiColor::Red.on_default().bold();
    // If stderr is closed, only the exit code reports the error.
    _ = writeln!(anstream::stderr(), "{red}error:{red:#} {}", restore_minus(failure.to_string()));
}

/// Prints the help or version that the arguments request, or the error in them.
fn print_usage(error: &clap::Error) -> ExitCode {
    if error.exit_code() == i32::from(exit::OK) {
        return match print(error.render().ansi().to_string().as_bytes()) {
            Ok(code) => ExitCode::from(code),
            Err(failure) => {
                print_error(&failure);
                ExitCode::from(failure.code)
            }
        };
    }
    _ = write!(anstream::stderr(), "{}", restore_minus(error.render().ansi().to_string()));
    ExitCode::from(exit::USAGE)
}

/// Restores the minus signs in a message that [`shield_minus`] replaced.
fn restore_minus(message: String) -> String {
    let typed = |argument: OsString| argument.to_str().is_some_and(|text| text.contains(SHIELDED));
    if std::env::args_os().any(typed) { message } else { message.replace(SHIELDED, "-") }
}

/// Prints a note on stderr, or a warning if the text begins as one.
fn note(text: &str) {
    let (color, label, text) = match text.strip_prefix("warning: ") {
        Some(warning) => (anstyle::AnsiColor::Yellow, "warning", warning),
        None => (anstyle::AnsiColor::Cyan, "note", text),
    };
    let style = color.on_default().bold();
    _ = writeln!(anstream::stderr(), "{style}{label}:{style:#} {text}");
}

/// Prints a note on stderr unless the same note was printed before.
fn note_once(text: &str) {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    if printed.insert(text.to_owned()) {
        note(text);
    }
}

/// Minus sign that clap does not mistake for the start of an option.
const SHIELDED: char = '\u{2212}';

/// Replaces the minus of a negative number (`-1e-3`, `-inf`, `-0x1p3`), which clap would take for
/// an option, by U+2212, which operands accept too.
fn shield_minus(argument: OsString) -> OsString {
    let number = argument.to_str().and_then(|text| text.strip_prefix('-')).filter(|rest| {
        let first = rest.split(',').next().unwrap_or_default().to_ascii_lowercase();
        // Rust also parses inf, infinity and nan. Ranges (`-1..1`) are left to the parser of
        // --range.
        !rest.contains("..") && (first.parse::<f64>().is_ok() || first.starts_with("0x"))
    });
    match number {
        Some(rest) => format!("{SHIELDED}{rest}").into(),
        None => argument,
    }
}
