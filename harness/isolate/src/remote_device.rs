//! A worker that checks the results of a device on another machine.
//!
//! ```text
//!  this machine                                  the other machine
//!  Coordinator ---> serve_for_device(backend) -- launcher: ssh, .. --> supervise() ---> serve(backend)
//!                     checks results      calls of the device, results                    one device
//! ```
//!
//! The worker of the device announces its calls, shows signs of life and reports its end as any other
//! worker elsewhere does, and all of that is passed on to the coordinator: a fault is attributed in the
//! same way, and a lost link ends this worker as it ends a launcher. A call waits for its answer, and the
//! runner bounds the number of calls, so that neither side sends more than the other can take.

use crate::{
    child_process::{Launch, Process, WorkerEvent},
    device_call::{DeviceCall, DeviceReply, NamedCase},
    event_sender::EventSender,
    message::{Order, Refusal, Task, WorkerMessage},
    platform::kill_own_group,
    serve::{ServeError, WorkerBackend, serve_with},
};
use assay_case::{Case, Columns};
use assay_events::DeviceInfo;
use assay_exec::{ExecError, Executor, PreparedCase};
use serde_json::Value;
use std::{
    collections::HashMap,
    ffi::OsString,
    process,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::Duration,
};

/// Number of messages that wait for this worker.
const MESSAGE_QUEUE: usize = 1 << 10;

/// Interval at which a request to stop is passed on.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// As [`serve`](crate::serve), with the device of a supervised worker that a command starts.
///
/// # Errors
/// As [`serve`](crate::serve), or the command cannot be started.
pub fn serve_for_device<B: WorkerBackend>(
    command: &[OsString],
    open: impl FnOnce(Value, RemoteDevice) -> Result<B, Refusal>,
) -> Result<(), ServeError> {
    let [program, arguments @ ..] = command else {
        return Err(ServeError::Backend("no command that starts the worker of the device".to_owned()));
    };
    let launch = Launch { program: program.into(), arguments: arguments.to_vec(), ..Launch::default() };
    serve_with(|setup, sender| {
        let device = RemoteDevice::open(Launch { setup: setup.clone(), ..launch }, sender)?;
        open(setup, device)
    })
}

/// The device of a worker on another machine.
pub struct RemoteDevice {
    link: Arc<Link>,
    info: DeviceInfo,
    /// Receives the end of each order of cases.
    done: Mutex<Receiver<()>>,
}

/// Answer to a call, with its data.
type Answer = (DeviceReply, Vec<u8>);

/// The link to that worker.
struct Link {
    process: Process,
    /// Receivers of the answers, by the number of the call.
    calls: Mutex<HashMap<u64, Sender<Answer>>>,
    /// The next number of a call or a prepared case.
    next: AtomicU64,
}

impl RemoteDevice {
    /// Starts the worker and waits until it has opened the device.
    fn open(launch: Launch, coordinator: &EventSender) -> Result<RemoteDevice, Refusal> {
        const CANNOT_START: u8 = 70;
        let (events, received) = mpsc::sync_channel(MESSAGE_QUEUE);
        let process = Process::start(&launch, None, 0, events).map_err(|error| Refusal {
            reason: format!("cannot start `{}`: {error}", launch.program.display()),
            code: CANNOT_START,
        })?;
        let link = Arc::new(Link { process, calls: Mutex::default(), next: AtomicU64::new(0) });
        let (ready, opened) = mpsc::channel();
        let (ended, done) = mpsc::channel();
        let (pass, coordinator) = (Arc::clone(&link), coordinator.clone());
        thread::spawn(move || pass.pass_on(&received, &coordinator, (&ready, &ended)));
        // Without a device, the thread ends this process.
        let info = opened.recv().unwrap_or_else(|_| kill_own_group());
        Ok(RemoteDevice { link, info, done: Mutex::new(done) })
    }

    /// Runs cases on the other machine, which checks them there.
    ///
    /// # Errors
    /// An order cannot be sent.
    pub fn run_there(&self, tasks: Vec<Task>, stop: &AtomicBool) -> Result<(), String> {
        let send = |order: &Order| self.link.process.send(order).map_err(|error| error.to_string());
        send(&Order::Run { cases: tasks })?;
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let mut has_stopped = false;
        while let Err(RecvTimeoutError::Timeout) = done.recv_timeout(STOP_INTERVAL) {
            if stop.load(Ordering::Relaxed) && !has_stopped {
                send(&Order::Stop)?;
                has_stopped = true;
            }
        }
        Ok(())
    }
}

impl Link {
    /// Distributes the answers of the worker and passes its other messages on, until it or the link ends;
    /// then this process ends.
    fn pass_on(
        &self,
        received: &Receiver<(u64, WorkerEvent)>,
        coordinator: &EventSender,
        (ready, done): (&Sender<DeviceInfo>, &Sender<()>),
    ) {
        for (_, event) in received {
            let message = match event {
                WorkerEvent::Message(message) => *message,
                WorkerEvent::Broken(what) => self.lose(&what),
                WorkerEvent::Closed => self.lose("the link was closed"),
            };
            match message {
                WorkerMessage::Ready { device, .. } => _ = ready.send(*device),
                WorkerMessage::Done => _ = done.send(()),
                WorkerMessage::Device { number, reply, data } => {
                    let call = self.calls.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
                    _ = call.map(|call| call.send((reply, data)));
                }
                WorkerMessage::Refused(_) | WorkerMessage::Ended { .. } | WorkerMessage::Broken { .. } => {
                    coordinator.send(&message);
                    kill_own_group();
                }
                WorkerMessage::Enter { .. }
                | WorkerMessage::Leave { .. }
                | WorkerMessage::Event { .. }
                | WorkerMessage::Beat
                | WorkerMessage::Usage { .. } => coordinator.send(&message),
            }
        }
    }

    /// Ends this process as a launcher whose link is lost, with the reason on stderr.
    #[expect(clippy::print_stderr, reason = "the coordinator shows the last line of a launcher that ends")]
    fn lose(&self, what: &str) -> ! {
        // The reader of the launcher's stderr may lag behind that of its messages.
        thread::sleep(STOP_INTERVAL);
        eprintln!("{}", self.process.last_stderr_line().unwrap_or_else(|| what.to_owned()));
        process::exit(1)
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a call and waits for the answer.
    fn ask(&self, call: DeviceCall, data: Vec<u8>) -> Result<Answer, ExecError> {
        let number = self.number();
        let (sender, answer) = mpsc::channel();
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).insert(number, sender);
        let failed = |error: String| ExecError::Internal(error);
        self.process.send(&Order::Device { number, call, data }).map_err(|error| failed(error.to_string()))?;
        match answer.recv().map_err(|error| failed(error.to_string()))? {
            (DeviceReply::Failed(error), _) => Err(error),
            answer => Ok(answer),
        }
    }
}

impl Executor for RemoteDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// A call that fails is no missing requirement: building the case fails in the same way.
    fn missing(&self, case: &Case) -> Option<String> {
        match self.link.ask(DeviceCall::Missing { case: NamedCase::of(case) }, Vec::new()) {
            Ok((DeviceReply::Missing(missing), _)) => missing,
            Ok(_) | Err(_) => None,
        }
    }

    fn build(
        &self,
        case: &Case,
        capacity: usize,
        constants: Option<&Columns>,
    ) -> Result<Box<dyn PreparedCase>, ExecError> {
        let prepared = self.link.number();
        let data = constants.map(Columns::to_bytes).unwrap_or_default();
        let constants = constants.map(Columns::rows);
        self.link.ask(DeviceCall::Build { case: NamedCase::of(case), prepared, capacity, constants }, data)?;
        Ok(Box::new(RemoteCase { link: Arc::clone(&self.link), prepared }))
    }

    /// Refuses, as [`AnnouncedExecutor`](assay_exec::AnnouncedExecutor) does.
    fn recover(&self) -> Result<(), ExecError> {
        Err(ExecError::lost_earlier())
    }
}

/// A case that the worker of the device has prepared.
struct RemoteCase {
    link: Arc<Link>,
    prepared: u64,
}

impl PreparedCase for RemoteCase {
    fn run(&mut self, operands: &Columns, results: &mut Columns) -> Result<Duration, ExecError> {
        let call = DeviceCall::Run { prepared: self.prepared, rows: operands.rows() };
        let (reply, data) = self.link.ask(call, operands.to_bytes())?;
        match reply {
            DeviceReply::Ran(time) if results.set_bytes(operands.rows(), &data) => Ok(time),
            _ => Err(ExecError::Internal(UNEXPECTED.to_owned())),
        }
    }
}

impl Drop for RemoteCase {
    fn drop(&mut self) {
        let call = DeviceCall::Drop { prepared: self.prepared };
        _ = self.link.process.send(&Order::Device { number: self.link.number(), call, data: Vec::new() });
    }
}

/// A defect of the other worker.
const UNEXPECTED: &str = "the worker of the device gave an answer of the wrong kind or size";
