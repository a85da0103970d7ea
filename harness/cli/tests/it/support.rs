//! Helpers that run the binary.

pub(crate) mod device;

use std::process::Command;

/// Output and exit code of a run of the binary.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    pub(crate) fn of(output: std::process::Output) -> Output {
        Output {
            code: output.status.code().expect("it exits"),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }
}

/// Runs `assay` with arguments and environment variables.
pub(crate) fn assay_with(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(arguments).env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE");
    Output::of(command.envs(environment.iter().copied()).output().expect("the binary starts"))
}

/// Runs `assay` with arguments.
pub(crate) fn assay(arguments: &[&str]) -> Output {
    assay_with(arguments, &[])
}
