//! Copies of a binary of Assay on the machines of `--via`.
//!
//! Each command consists of plain words, so that launchers that start a program (`srun`,
//! `kubectl exec`) and those that hand a line to a shell (`ssh`, `adb shell`) agree on it.

use crate::{
    exit::{self, Failure, WithCode, usage},
    prefix::Prefix,
    spinner::Spinner,
};
use assay_check::{ToolOutput, run_tool};
use assay_files::input;
use sha2::{Digest, Sha256};
use std::{ffi::OsString, path::Path, time::Duration};

/// Largest size of a binary in bytes.
const MAX_BINARY_BYTES: u64 = 1 << 30;

/// Longest time for a command that copies nothing.
const COMMAND_TIME: Duration = Duration::from_secs(60);

/// Longest time for a copy.
const COPY_TIME: Duration = Duration::from_secs(1800);

/// Beginning of what a binary of Assay prints for `--version`.
const VERSION_PREFIX: &str = "assay ";

/// Copies a binary to a path on the machine of each prefix, unless it is there.
///
/// # Errors
/// It cannot be read; a machine is not reached, or has another file under this path that is no
/// binary of Assay; or the copy does not run there.
pub(crate) fn push_binary(binary: &Path, to: &Path, prefixes: &[Prefix]) -> Result<(), Failure> {
    let Some(to) = to.to_str().filter(|to| to.contains('/') && to.chars().all(is_plain)) else {
        let to = to.display();
        return Err(usage(format!(
            "--push-binary copies to the path of --via-binary, which must have a `/` and consist of letters, digits and \
             `._-/`; `{to}` does not"
        )));
    };
    let bytes = input::read(binary, MAX_BINARY_BYTES).map_err(|error| {
        let binary = binary.display();
        usage(format!("cannot read the binary of --push-binary, {binary}: {error}"))
    })?;
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    for (index, prefix) in prefixes.iter().enumerate() {
        if prefixes[..index].iter().any(|earlier| earlier.0 == prefix.0) {
            continue;
        }
        Machine { prefix, to }.receive(&bytes, &digest).code(exit::NO_DEVICE)?;
    }
    Ok(())
}

/// Returns whether no shell changes a character of a word.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-/".contains(c)
}

/// A machine that a prefix reaches.
struct Machine<'a> {
    prefix: &'a Prefix,
    /// Path of the binary there.
    to: &'a str,
}

impl Machine<'_> {
    /// Copies the bytes, unless a file with their digest is there.
    fn receive(&self, bytes: &[u8], digest: &str) -> anyhow::Result<()> {
        let Machine { prefix, to } = self;
        let found = self.run(&["sha256sum", to], Vec::new(), COMMAND_TIME)?;
        if String::from_utf8_lossy(&found.stdout).split_whitespace().next() == Some(digest) {
            return Ok(());
        }
        let exists = found.success() || self.run(&["test", "-e", to], Vec::new(), COMMAND_TIME)?.success();
        if exists && !self.version(to)?.starts_with(VERSION_PREFIX) {
            anyhow::bail!(
                "`{prefix}`: {to} is no binary of Assay, and is not replaced; choose another path with --via-binary"
            );
        }
        let part = format!("{to}.{}.part", std::process::id());
        let bar = Spinner::new(&format!("copying {} MiB with `{prefix}`", bytes.len() >> 20));
        let copied = self.copy(bytes, &part);
        drop(bar);
        if let Err(error) = copied {
            // What was copied is of no use. The machine may be gone.
            _ = self.run(&["rm", "-f", &part], Vec::new(), COMMAND_TIME);
            return Err(error);
        }
        Ok(())
    }

    /// Copies the bytes to a file beside the path, tries it, and renames it, so that no machine starts
    /// half a binary, or one of another architecture.
    fn copy(&self, bytes: &[u8], part: &str) -> anyhow::Result<()> {
        self.must_run(&["dd", &format!("of={part}"), "bs=65536"], bytes.to_vec(), COPY_TIME)?;
        self.must_run(&["chmod", "755", part], Vec::new(), COMMAND_TIME)?;
        let (prefix, version) = (self.prefix, self.version(part)?);
        let own = format!("{VERSION_PREFIX}{}", env!("CARGO_PKG_VERSION"));
        anyhow::ensure!(
            version == own,
            "`{prefix}`: the copied binary says `{version}` for --version in place of `{own}`; it must be of this version, \
             and built for that machine"
        );
        self.must_run(&["mv", "-f", part, self.to], Vec::new(), COMMAND_TIME)
    }

    /// Returns the line that a binary there prints for `--version`, or else its error.
    fn version(&self, binary: &str) -> anyhow::Result<String> {
        let ran = self.run(&[binary, "--version"], Vec::new(), COMMAND_TIME)?;
        let said = if ran.success() { String::from_utf8_lossy(&ran.stdout).into_owned() } else { ran.text() };
        Ok(said.trim().lines().next().unwrap_or_default().to_owned())
    }

    fn must_run(&self, words: &[&str], input: Vec<u8>, limit: Duration) -> anyhow::Result<()> {
        let ran = self.run(words, input, limit)?;
        let Machine { prefix, to } = self;
        anyhow::ensure!(
            ran.success(),
            "`{prefix} {}` failed, so nothing was copied to {to}: {}",
            words.join(" "),
            ran.text()
        );
        Ok(())
    }

    /// Runs a command on the machine.
    fn run(&self, words: &[&str], input: Vec<u8>, limit: Duration) -> anyhow::Result<ToolOutput> {
        let Machine { prefix, .. } = self;
        let words = prefix.0.iter().cloned().chain(words.iter().map(OsString::from)).collect::<Vec<_>>();
        run_tool(&words[0], &words[1..], input, limit)
            .map_err(|error| anyhow::anyhow!("`{prefix}` cannot be run: {error}; nothing was copied"))
    }
}
