//! Debian's `spirv-tools`.

use std::io::Write;
use std::process::{Command, Stdio};

/// Runs a tool that reads standard input. Returns its output, or its complaint as `Err`; `None` if
/// it is not installed.
pub(crate) fn run(tool: &str, arguments: &[&str], input: &[u8]) -> Option<Result<Vec<u8>, String>> {
    let mut child = Command::new(tool)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    // A tool may stop reading early; its complaint then gives the reason.
    let _closed = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().ok()?;
    if output.status.success() {
        Some(Ok(output.stdout))
    } else {
        Some(Err(String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}

/// Returns true if the tools are installed.
pub(crate) fn tools() -> bool {
    let here = run("spirv-as", &["--version"], b"").is_some();
    if !here {
        assay_testkit::skip_missing("spirv-as is missing");
    }
    here
}
