//! A worker process, from the coordinator's side.

use crate::{
    message::{Order, WorkerMessage, own_protocol},
    message_frame::{self, MAX_EVENT_BYTES},
    platform,
};
use serde_json::Value;
use std::{
    collections::VecDeque,
    ffi::OsString,
    io::{self, BufReader, Read, Write},
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

/// Longest time for a launcher to end by itself: one of a scheduler cancels its job meanwhile.
const LAUNCHER_TIMEOUT: Duration = Duration::from_secs(1);

/// Command for starting worker processes.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Command prefixes that start a supervised worker elsewhere, such as `ssh board7`; empty for
    /// workers of this machine. `program` is then the name of the binary there.
    pub via: Vec<Vec<OsString>>,
    /// Binary and arguments of a worker of this machine that starts the prefix itself and checks the
    /// results ([`serve_for_device`](crate::serve_for_device)); empty if the results are checked elsewhere.
    pub check_here: Vec<OsString>,
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
        let Some(prefix) = via.and_then(|via| self.via.get(via)) else {
            let mut command = Command::new(&self.program);
            command.args(&self.arguments).envs(environment());
            return command;
        };
        let mut words = self.check_here.iter().chain(prefix);
        let mut command = Command::new(words.next().unwrap_or(&OsString::new()));
        command.args(words);
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

/// Sends orders to a worker, whose stdin is closed once all of these are dropped.
#[derive(Clone, Debug)]
pub(crate) struct Orders(Sender<Vec<u8>>);

impl Orders {
    /// Sends an order, which is lost if the worker is gone: the reader of its messages notices that.
    pub(crate) fn send(&self, order: &Order) -> io::Result<()> {
        _ = self.0.send(message_frame::encode(order)?);
        Ok(())
    }
}

/// A running worker process; it is killed with its process group on drop.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    reaped: bool,
    /// Set for a launcher of a worker elsewhere.
    is_launcher: bool,
    /// Sender of orders; dropping it closes stdin and lets the process end.
    orders: Option<Orders>,
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
        let mut command = launch.command(via);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        platform::set_own_group(&mut command);
        let mut child = command.spawn()?;
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
        let process = Process { child, reaped: false, is_launcher: via.is_some(), orders: Some(Orders(orders)), tail };
        process.send(&Order::SetUp { protocol, version, setup: launch.setup.clone() })?;
        Ok(process)
    }

    /// Treats its program as a launcher of a worker elsewhere.
    pub(crate) fn mark_as_launcher(&mut self) {
        self.is_launcher = true;
    }

    /// Sends an order, unless the worker was dismissed.
    pub(crate) fn send(&self, order: &Order) -> io::Result<()> {
        self.orders.as_ref().map_or(Ok(()), |orders| orders.send(order))
    }

    /// Returns a further sender of orders; `None` if the worker was dismissed.
    pub(crate) fn orders(&self) -> Option<Orders> {
        self.orders.clone()
    }

    /// Returns the number of bytes that it has written to stderr.
    pub(crate) fn written(&self) -> u64 {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }

    /// Returns its resident memory in bytes; `None` if the system does not report it.
    pub(crate) fn memory(&self) -> Option<u64> {
        platform::resident_memory(&self.child)
    }

    /// Returns the last line that it has written to stderr.
    pub(crate) fn last_stderr_line(&self) -> Option<String> {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = tail.last.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        Some(line.chars().filter(|c| !c.is_control()).take(300).collect())
    }

    /// Returns true if it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        platform::has_ended(&mut self.child)
    }

    /// Closes the pipe of orders, so that the worker closes its device.
    pub(crate) fn dismiss(&mut self) {
        self.orders = None;
    }

    /// Kills it with all its children; a launcher is asked to end first. Returns the exit status, from
    /// this or an earlier end, or `None` if it does not end.
    pub(crate) fn end(&mut self) -> Option<ExitStatus> {
        if !self.reaped {
            if self.is_launcher {
                platform::terminate_group(&mut self.child);
                let since = Instant::now();
                while !self.has_ended() && since.elapsed() < LAUNCHER_TIMEOUT {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            platform::kill_group(&mut self.child);
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

/// Describes the end of a process.
pub(crate) fn describe_end(status: Option<ExitStatus>) -> String {
    let Some(status) = status else { return "its process does not end, not even when killed".to_owned() };
    match (platform::ending_signal(status), status.code()) {
        (Some(signal), _) => format!("its process was ended by {signal}"),
        (None, Some(code)) => format!("its process exited with code {code} in the middle of it"),
        (None, None) => format!("its process ended: {status}"),
    }
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
