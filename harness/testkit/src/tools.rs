//! Programs and paths that `scripts/setup --tests` provides.

use crate::skip_missing;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Returns the value of an environment variable; skips the test if it is unset or empty.
pub fn required_variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    if value.is_none() {
        skip_missing(&format!("{name} is not set"));
    }
    value
}

/// Returns the result of spirv-val, with its message; skips the test if it is not installed.
pub fn spirv_val(words: &[u32], arguments: &[&str]) -> Option<Result<(), String>> {
    let mut command = Command::new("spirv-val");
    command.args(arguments).arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        skip_missing("spirv-val is missing");
        return None;
    };
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    child.stdin.take().expect("it is piped").write_all(&bytes).expect("it reads to the end");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Some(if output.status.success() { Ok(()) } else { Err(text.into_owned()) })
}
