//! Process handling on Unix.

use rustix::{
    io::dup,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_current_process_group, kill_process_group, waitid},
    stdio,
};
use std::{
    fs::{self, File},
    io,
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, Command, ExitStatus},
};

/// Gives the process of a command its own process group, which can be killed as a whole and does
/// not receive the terminal's Ctrl-C.
pub(crate) fn set_own_group(command: &mut Command) {
    command.process_group(0);
}

/// Kills a process and its children; it must not have been reaped.
pub(crate) fn kill_group(child: &mut Child) {
    if let Some(group) = pid(child) {
        _ = kill_process_group(group, Signal::KILL);
    }
}

/// Asks a process and its children to end; it must not have been reaped.
pub(crate) fn terminate_group(child: &mut Child) {
    if let Some(group) = pid(child) {
        _ = kill_process_group(group, Signal::TERM);
    }
}

/// Ends this process and its children, whatever a driver is doing.
pub(crate) fn kill_own_group() -> ! {
    _ = kill_current_process_group(Signal::KILL);
    std::process::abort()
}

/// Returns true if a process has ended by itself. It is not reaped, so that its process id and its
/// group's remain its own.
pub(crate) fn has_ended(child: &mut Child) -> bool {
    let Some(pid) = pid(child) else { return true };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}

fn pid(child: &Child) -> Option<Pid> {
    Pid::from_raw(child.id().cast_signed())
}

/// Returns the resident memory of a process in bytes; `None` if the system does not report it.
pub(crate) fn resident_memory(child: &Child) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// Returns a handle to stdout, and redirects later output to stdout to stderr.
pub(crate) fn take_stdout() -> io::Result<File> {
    let own = dup(io::stdout())?;
    stdio::dup2_stdout(io::stderr())?;
    Ok(File::from(own))
}

/// Returns true if the cause of the end may be outside the process: the kernel, short of memory, or
/// a person.
pub(crate) fn may_be_external(status: Option<ExitStatus>) -> bool {
    let signal = status.and_then(|status| status.signal());
    [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP].into_iter().any(|outside| Some(outside.as_raw()) == signal)
}

/// Returns the name of the signal that ended a process, if one did.
pub(crate) fn ending_signal(status: ExitStatus) -> Option<String> {
    let names = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::TERM, "SIGTERM"),
        (Signal::SYS, "SIGSYS"),
        (Signal::XCPU, "SIGXCPU"),
    ];
    let signal = status.signal()?;
    let name = names.iter().find(|(known, _)| known.as_raw() == signal);
    Some(name.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned()))
}
