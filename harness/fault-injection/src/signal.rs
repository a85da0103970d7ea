//! Signals that faults send. A system without signals aborts the process instead.

#[cfg(unix)]
use rustix::process::{Pid, Signal, getpid, kill_process};

/// Sends SIGKILL to a process; returns true if the process exists.
#[cfg(unix)]
pub(crate) fn kill(process: u32) -> bool {
    Pid::from_raw(process.cast_signed()).is_some_and(|process| kill_process(process, Signal::KILL).is_ok())
}

/// Sends SIGSEGV to this process.
#[cfg(unix)]
pub(crate) fn raise_segfault() {
    _ = kill_process(getpid(), Signal::SEGV);
}

/// Ends this process; cannot end another one.
#[cfg(not(unix))]
pub(crate) fn kill(process: u32) -> bool {
    if process == std::process::id() {
        std::process::abort();
    }
    false
}

/// Ends this process.
#[cfg(not(unix))]
pub(crate) fn raise_segfault() {
    std::process::abort();
}
