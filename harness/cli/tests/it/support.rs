//! Helpers that run the binary.

pub(crate) mod device;
#[cfg(unix)]
pub(crate) mod proxy;
#[cfg(unix)]
pub(crate) mod slurm_cluster;
#[cfg(unix)]
pub(crate) mod ssh_daemon;

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

/// Returns the variables of this process that select the driver, as `env` takes them.
#[cfg(unix)]
fn driver_variables() -> String {
    let names = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "MESA_SHADER_CACHE_DISABLE"];
    let set = names.iter().filter_map(|name| Some(format!("{name}={}", std::env::var(name).ok()?)));
    set.collect::<Vec<_>>().join(" ")
}
