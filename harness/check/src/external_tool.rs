//! Runs of installed programs, such as compilers.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Interval at which the end of a run is looked for.
const TICK: Duration = Duration::from_millis(2);

/// Largest output in bytes, of each stream.
const MAX_OUTPUT_BYTES: u64 = 256 << 20;

/// Output of a program that ended.
#[derive(Debug)]
pub struct ToolOutput {
    /// Exit code, or the signal that ended it.
    pub status: ExitStatus,
    /// Bytes written to standard output.
    pub stdout: Vec<u8>,
    /// Bytes written to standard error.
    pub stderr: Vec<u8>,
}

impl ToolOutput {
    /// Returns true if the program ended with exit code 0.
    pub fn success(&self) -> bool {
        self.status.success()
    }

    /// Returns standard error followed by standard output, as text; how the program failed if both are
    /// empty.
    pub fn text(&self) -> String {
        let [stderr, stdout] = [&self.stderr, &self.stdout].map(|bytes| String::from_utf8_lossy(bytes));
        let text = format!("{}\n{}", stderr.trim(), stdout.trim()).trim().to_owned();
        if text.is_empty() && !self.success() { format!("it ended with {}", self.status) } else { text }
    }
}

/// Runs a program of `PATH` with bytes as its input, for a limited time.
///
/// # Errors
/// The program cannot be started ([`io::ErrorKind::NotFound`] if it is not installed), or it is
/// killed at the time limit ([`io::ErrorKind::TimedOut`]).
pub fn run_tool(
    program: impl AsRef<OsStr>,
    arguments: &[impl AsRef<OsStr>],
    input: Vec<u8>,
    limit: Duration,
) -> io::Result<ToolOutput> {
    let program = program.as_ref();
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdin = child.stdin.take();
    // Separate threads, because full pipes would block the program. A program may end without
    // reading its input.
    thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    let stdout = read_all(child.stdout.take());
    let stderr = read_all(child.stderr.take());
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if started.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            let what = format!("{} was killed after {} s", program.display(), limit.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, what));
        }
        thread::sleep(TICK);
    };
    let joined = |thread: thread::JoinHandle<io::Result<Vec<u8>>>| {
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread that reads the output panicked")))
    };
    Ok(ToolOutput { status, stdout: joined(stdout)?, stderr: joined(stderr)? })
}

/// Reads a stream in a thread.
fn read_all(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<io::Result<Vec<u8>>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stream) = stream {
            stream.take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    })
}
