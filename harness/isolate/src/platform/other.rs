//! Process handling where Unix's is missing. Each function has the documentation of its namesake in
//! `unix.rs`; its own comment states the part that is missing.

use std::{
    fs::File,
    io,
    process::{Child, Command, ExitStatus},
};

/// Missing: the worker receives the terminal's Ctrl-C.
pub(crate) fn set_own_group(_: &mut Command) {}

/// Missing: children of the process live on.
pub(crate) fn kill_group(child: &mut Child) {
    _ = child.kill();
}

/// Missing: a process is not asked to end.
pub(crate) fn terminate_group(_: &mut Child) {}

/// Missing: children of this process live on.
pub(crate) fn kill_own_group() -> ! {
    std::process::abort()
}

/// Complete: a process that has ended keeps its identity until its handle is closed.
pub(crate) fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

/// Missing: memory is not measured, so its limit is not kept.
pub(crate) fn resident_memory(_: &Child) -> Option<u64> {
    None
}

/// Missing: output of a driver to stdout is not redirected, and damages the messages.
pub(crate) fn take_stdout() -> io::Result<File> {
    #[cfg(windows)]
    return Ok(File::from(std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned()?));
    #[cfg(not(windows))]
    return Err(io::ErrorKind::Unsupported.into());
}

/// Missing: an end caused by another process looks like an exit.
pub(crate) fn may_be_external(_: Option<ExitStatus>) -> bool {
    false
}

/// Complete: there are no signals, and an exception is an exit code.
pub(crate) fn ending_signal(_: ExitStatus) -> Option<String> {
    None
}
