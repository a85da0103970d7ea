//! A worker process, from the coordinator's side.

use crate::{
    message::{Order, WorkerMessage, own_protocol},
    message_frame::{self, MAX_EVENT_BYTES},
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

/// Number of last bytes of a worker's stderr that are kept.
const STDERR_TAIL_BYTES: usize = 4 << 10;

/// Longest time for a killed process to end. It depends on the kernel, whose driver can hang as
/// well.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Command for starting worker processes.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Command prefixes that start a supervised worker elsewhere, such as `ssh board7`; empty for
    /// workers of this machine. `program` is then the name of the binary there.
    pub via: Vec<Vec<OsString>>,
    /// Path of the binary.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables that are set in addition to the inherited ones.
    pub environment: Vec<(OsString, OsString)>,
    /// Data that the backend needs to open its device.
    pub setup: Value,
}

impl Launch {
    /// Returns the command for a worker, which a prefix starts elsewhere.
    fn command(&self, via: Option<usize>) -> Command {
        let environment = || self.environment.iter().map(|(name, value)| (name, value));
        let Some([launcher, prefix @ ..]) = via.and_then(|via| self.via.get(via)).map(Vec::as_slice) else {
            let mut command = Command::new(&self.program);
            command.args(&self.arguments).envs(environment());
            return command;
        };
        let mut command = Command::new(launcher);
        command.args(prefix);
        // Launchers do not pass the environment on.
        if !self.environment.is_empty() {
            command.arg("env").args(environment().map(|(name, value)| {
                let mut assignment = name.clone();
                assignment.push("=");
                assignment.push(value);
                assignment
            }));
        }
        command.arg(&self.program).args(&self.arguments);
        command
    }
}

/// Message or event on the pipe of a worker.
#[derive(Debug)]
pub(crate) enum WorkerEvent {
    Message(Box<WorkerMessage>),
    /// Bytes that are not a message.
    Broken(String),
    /// The pipe is closed.
    Closed,
}

/// End of a worker's output to stderr, and its total size.
#[derive(Debug, Default)]
struct StderrTail {
    last: VecDeque<u8>,
    bytes: u64,
}

/// A running worker process; it is killed with its process group on drop.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    reaped: bool,
    /// Sender of orders; dropping it closes stdin and lets the process end.
    orders: Option<Sender<Vec<u8>>>,
    tail: Arc<Mutex<StderrTail>>,
}

impl Process {
    /// Starts a process, through one of the prefixes if there are any, and sends it the setup. Its
    /// messages arrive at `events` with this number.
    pub(crate) fn start(
        launch: &Launch,
        via: Option<usize>,
        number: u64,
        events: SyncSender<(u64, WorkerEvent)>,
    ) -> io::Result<Process> {
        Process::start_as(launch, via, number, events, own_protocol())
    }

    /// As [`Process::start`], with the protocol and version of another coordinator.
    pub(crate) fn start_as(
        launch: &Launch,
        via: Option<usize>,
        number: u64,
        events: SyncSender<(u64, WorkerEvent)>,
        (protocol, version): (u32, String),
    ) -> io::Result<Process> {
        let mut child = launch
            .command(via)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Its own process group can be killed as a whole, and does not receive the terminal's
            // Ctrl-C.
            .process_group(0)
            .spawn()?;
        let taken = |what: &str| io::Error::other(format!("no pipe to the worker's {what}"));
        let stdin = child.stdin.take().ok_or_else(|| taken("stdin"))?;
        let stdout = child.stdout.take().ok_or_else(|| taken("stdout"))?;
        let stderr = child.stderr.take().ok_or_else(|| taken("stderr"))?;
        let tail = Arc::new(Mutex::new(StderrTail::default()));
        let kept = Arc::clone(&tail);
        thread::Builder::new().spawn(move || read_stderr(stderr, &kept))?;
        thread::Builder::new().spawn(move || read_messages(stdout, number, &events))?;
        let (orders, lines) = mpsc::channel();
        thread::Builder::new().spawn(move || write_orders(stdin, &lines))?;
        let process = Process { child, reaped: false, orders: Some(orders), tail };
        process.send(&Order::SetUp { protocol, version, setup: launch.setup.clone() })?;
        Ok(process)
    }

    /// Sends an order, which is lost if the worker is gone.
    pub(crate) fn send(&self, order: &Order) -> io::Result<()> {
        let line = message_frame::encode(order)?;
        if let Some(orders) = &self.orders {
            // The reader of its messages notices the end of the worker.
            _ = orders.send(line);
        }
        Ok(())
    }

    /// Returns the number of bytes that it has written to stderr.
    pub(crate) fn written(&self) -> u64 {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }

    /// Returns its resident memory in bytes; `None` if the system does not report it.
    pub(crate) fn memory(&self) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib << 10)
    }

    /// Returns the last line that it has written to stderr.
    pub(crate) fn last_stderr_line(&self) -> Option<String> {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = tail.last.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        Some(line.chars().filter(|c| !c.is_control()).take(300).collect())
    }

    /// Returns true if it has ended by itself. It is not reaped, so that its process id and its
    /// group's remain its own.
    pub(crate) fn has_ended(&self) -> bool {
        let Some(pid) = self.pid() else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
    }

    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// Closes the pipe of orders, so that the worker closes its device.
    pub(crate) fn dismiss(&mut self) {
        self.orders = None;
    }

    /// Kills it with all its children. Returns the exit status, from this or an earlier end, or
    /// `None` if it does not end.
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
                Ok(None) if since.elapsed() < KILL_TIMEOUT => thread::sleep(Duration::from_millis(1)),
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

/// Returns true if the cause of the end may be outside the process: the kernel, short of memory, or
/// a person.
pub(crate) fn may_be_external(status: Option<ExitStatus>) -> bool {
    let signal = status.and_then(|status| status.signal());
    [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP].into_iter().any(|outside| Some(outside.as_raw()) == signal)
}

/// Describes the end of a process.
pub(crate) fn describe_end(status: Option<ExitStatus>) -> String {
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

/// Writes orders to a worker's stdin. It runs in a thread of its own, so that a worker that does
/// not read cannot block the coordinator.
fn write_orders(mut stdin: ChildStdin, lines: &mpsc::Receiver<Vec<u8>>) {
    for line in lines {
        if stdin.write_all(&line).is_err() {
            return;
        }
    }
}

fn read_messages(stdout: impl Read, number: u64, events: &SyncSender<(u64, WorkerEvent)>) {
    let mut stdout = BufReader::with_capacity(1 << 16, stdout);
    loop {
        let (what, last) = match message_frame::read::<WorkerMessage>(&mut stdout, MAX_EVENT_BYTES) {
            Ok(Some(message)) => (WorkerEvent::Message(Box::new(message)), false),
            Ok(None) => (WorkerEvent::Closed, true),
            Err(error) => (WorkerEvent::Broken(error.to_string()), true),
        };
        if events.send((number, what)).is_err() || last {
            return;
        }
    }
}

/// Reads a worker's stderr and keeps its end.
fn read_stderr(mut stderr: impl Read, tail: &Mutex<StderrTail>) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let got = match stderr.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(got) => &buffer[..got],
        };
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.bytes += got.len() as u64;
        tail.last.extend(&got[got.len().saturating_sub(STDERR_TAIL_BYTES)..]);
        let over = tail.last.len().saturating_sub(STDERR_TAIL_BYTES);
        tail.last.drain(..over);
    }
}
