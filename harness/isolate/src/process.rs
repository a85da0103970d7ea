//! A worker process as the coordinator sees it.

use crate::{
    frame,
    message::{Order, PROTOCOL, Said},
};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde_json::Value;
use std::{
    collections::VecDeque,
    ffi::OsString,
    fs,
    io::{self, BufReader, Read, Write},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::PathBuf,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Sender, SyncSender},
    },
    thread,
    time::{Duration, Instant},
};

/// Bytes of what a worker writes to stderr that are kept: the last ones.
const KEPT: usize = 4 << 10;

/// How long a killed process may take to end: it is the kernel's turn then, and a kernel driver may hang as well.
const DYING: Duration = Duration::from_secs(5);

/// How a worker process is started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The binary.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables that are set for it besides those that it inherits.
    pub environment: Vec<(OsString, OsString)>,
    /// What the bench needs to know to open its device.
    pub setup: Value,
}

/// What was heard of a worker.
#[derive(Debug)]
pub(crate) enum Heard {
    Said(Box<Said>),
    /// Bytes that are no message.
    Broken(String),
    /// The pipe is closed.
    Closed,
}

/// What a worker has written to stderr.
#[derive(Debug, Default)]
struct Tail {
    last: VecDeque<u8>,
    bytes: u64,
}

/// A running worker process, killed with its group when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    reaped: bool,
    /// Taken when the process may end: what closes stdin.
    orders: Option<Sender<Vec<u8>>>,
    tail: Arc<Mutex<Tail>>,
}

impl Process {
    /// Starts one and sets it up. What it says comes from `heard`, with this number.
    pub(crate) fn start(launch: &Launch, number: u64, heard: SyncSender<(u64, Heard)>) -> io::Result<Process> {
        let mut child = Command::new(&launch.program)
            .args(&launch.arguments)
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own: killed as a whole, and spared by the Ctrl-C of the terminal.
            .process_group(0)
            .spawn()?;
        let taken = |what: &str| io::Error::other(format!("no pipe to the worker's {what}"));
        let stdin = child.stdin.take().ok_or_else(|| taken("stdin"))?;
        let stdout = child.stdout.take().ok_or_else(|| taken("stdout"))?;
        let stderr = child.stderr.take().ok_or_else(|| taken("stderr"))?;
        let tail = Arc::new(Mutex::new(Tail::default()));
        let kept = Arc::clone(&tail);
        thread::Builder::new().spawn(move || keep(stderr, &kept))?;
        thread::Builder::new().spawn(move || listen(stdout, number, &heard))?;
        let (orders, lines) = mpsc::channel();
        thread::Builder::new().spawn(move || write(stdin, &lines))?;
        let process = Process { child, reaped: false, orders: Some(orders), tail };
        process.order(&Order::SetUp { protocol: PROTOCOL, setup: launch.setup.clone() })?;
        Ok(process)
    }

    /// Gives an order; a worker that is gone does not get it.
    pub(crate) fn order(&self, order: &Order) -> io::Result<()> {
        let line = frame::line(order)?;
        if let Some(orders) = &self.orders {
            // Its end is noticed where it is listened to.
            _ = orders.send(line);
        }
        Ok(())
    }

    /// Bytes that it has written to stderr.
    pub(crate) fn written(&self) -> u64 {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }

    /// Its memory that is in use, in bytes; `None` if the system does not tell.
    pub(crate) fn memory(&self) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib << 10)
    }

    /// The last line that it has written to stderr.
    pub(crate) fn last_words(&self) -> Option<String> {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = tail.last.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        Some(line.chars().filter(|c| !c.is_control()).take(300).collect())
    }

    /// Whether it has ended by itself. It is not reaped: as long as it is not, its number and its group's are its own.
    pub(crate) fn has_ended(&self) -> bool {
        let Some(pid) = self.pid() else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
    }

    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// Lets it close its device: no orders will come.
    pub(crate) fn dismiss(&mut self) {
        self.orders = None;
    }

    /// Ends it and all that it has started; says how it ended, by this or before. `None` if it does not die.
    pub(crate) fn end(&mut self) -> Option<ExitStatus> {
        if let (false, Some(group)) = (self.reaped, self.pid()) {
            _ = kill_process_group(group, Signal::KILL);
        }
        let since = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    self.reaped = true;
                    return Some(status);
                }
                Ok(None) if since.elapsed() < DYING => thread::sleep(Duration::from_millis(1)),
                Ok(None) | Err(_) => return None,
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether something that is no part of the process may have ended it: the kernel, short of memory, or a person.
pub(crate) fn from_outside(status: Option<ExitStatus>) -> bool {
    let signal = status.and_then(|status| status.signal());
    [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP].into_iter().any(|outside| Some(outside.as_raw()) == signal)
}

/// How a process ended, in words.
pub(crate) fn how(status: Option<ExitStatus>) -> String {
    let Some(status) = status else { return "its process does not end, not even when killed".to_owned() };
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("its process was ended by {}", signal_name(signal)),
        (None, Some(code)) => format!("its process exited with code {code} in the middle of it"),
        (None, None) => format!("its process ended: {status}"),
    }
}

fn signal_name(signal: i32) -> String {
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
    let name = names.iter().find(|(known, _)| known.as_raw() == signal);
    name.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}

/// Writes orders to a worker's stdin. In a thread: a worker that does not read must not stop the coordinator.
fn write(mut stdin: ChildStdin, lines: &mpsc::Receiver<Vec<u8>>) {
    for line in lines {
        if stdin.write_all(&line).is_err() {
            return;
        }
    }
}

fn listen(stdout: impl Read, number: u64, heard: &SyncSender<(u64, Heard)>) {
    let mut stdout = BufReader::with_capacity(1 << 16, stdout);
    loop {
        let (what, last) = match frame::read::<Said>(&mut stdout) {
            Ok(Some(said)) => (Heard::Said(Box::new(said)), false),
            Ok(None) => (Heard::Closed, true),
            Err(error) => (Heard::Broken(error.to_string()), true),
        };
        if heard.send((number, what)).is_err() || last {
            return;
        }
    }
}

/// Reads what a worker writes to stderr, and keeps the end of it.
fn keep(mut stderr: impl Read, tail: &Mutex<Tail>) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let got = match stderr.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(got) => &buffer[..got],
        };
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.bytes += got.len() as u64;
        tail.last.extend(&got[got.len().saturating_sub(KEPT)..]);
        let over = tail.last.len().saturating_sub(KEPT);
        tail.last.drain(..over);
    }
}
