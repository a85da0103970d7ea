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
    message::{Order, Refusal, WorkerMessage},
    platform::kill_own_group,
    serve::{ServeError, WorkerBackend, serve_with},
    target_call::{self, TargetCall},
};
use assay_case::{Case, Columns};
use assay_events::DeviceInfo;
use assay_exec::{ExecError, Executor, PreparedCase, TargetError};
use assay_spirv_rules::requirements::DeviceCaps;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{
    collections::HashMap,
    ffi::OsString,
    process,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

/// Number of messages that wait for this worker.
const MESSAGE_QUEUE: usize = 1 << 10;

/// Time for the reader of the launcher's stderr, which may lag behind that of its messages.
const STDERR_TIME: Duration = Duration::from_millis(50);

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
    capabilities: DeviceCaps,
}

/// Answer to a call, with its data.
type Answer = (DeviceReply, Vec<u8>);

/// The link to that worker.
struct Link {
    process: Process,
    /// Receivers of the answers, by the number of the call.
    calls: Mutex<HashMap<u64, Sender<Answer>>>,
    /// The next number of a call, a prepared case or allocated memory.
    next: AtomicU64,
}

impl RemoteDevice {
    /// Starts the worker and waits until it has opened the device.
    fn open(launch: Launch, coordinator: &EventSender) -> Result<RemoteDevice, Refusal> {
        const INTERNAL: u8 = 70;
        let (events, received) = mpsc::sync_channel(MESSAGE_QUEUE);
        let mut process = Process::start(&launch, None, 0, events).map_err(|error| Refusal {
            reason: format!("cannot start `{}`: {error}", launch.program.display()),
            code: INTERNAL,
        })?;
        process.mark_as_launcher();
        let link = Arc::new(Link { process, calls: Mutex::default(), next: AtomicU64::new(0) });
        let (ready, opened) = mpsc::channel();
        let (pass, coordinator) = (Arc::clone(&link), coordinator.clone());
        thread::spawn(move || pass.pass_on(&received, &coordinator, &ready));
        // Without a device, the thread ends this process.
        let info = opened.recv().unwrap_or_else(|_| kill_own_group());
        let mut device = RemoteDevice { link, info, capabilities: DeviceCaps::default() };
        device.capabilities = device.call_target("", &TargetCall::Capabilities).map_err(|error| Refusal {
            reason: format!("the device does not tell its limits: {error}"),
            code: INTERNAL,
        })?;
        Ok(device)
    }

    /// Returns the description of the device.
    pub fn description(&self) -> &DeviceInfo {
        &self.info
    }

    /// Returns the features and limits of the device.
    pub(crate) fn capabilities(&self) -> &DeviceCaps {
        &self.capabilities
    }

    /// Calls the target of the device for a case, and returns the result of the call.
    pub(crate) fn call_target<T: DeserializeOwned>(&self, case: &str, call: &TargetCall) -> Result<T, TargetError> {
        let data = target_call::to_bytes(call)?;
        match self.link.ask(DeviceCall::Target { case: case.to_owned() }, data)? {
            (DeviceReply::Target, data) => target_call::from_bytes::<Result<T, TargetError>>(&data)?,
            _ => Err(ExecError::Internal(UNEXPECTED.to_owned()).into()),
        }
    }

    /// Returns a new number for something that the worker of the device keeps.
    pub(crate) fn object(&self) -> RemoteObject {
        RemoteObject { link: Arc::clone(&self.link), number: self.link.number() }
    }
}

impl Link {
    /// Distributes the answers of the worker and passes its other messages on, until it or the link ends;
    /// then this process ends.
    fn pass_on(&self, received: &Receiver<(u64, WorkerEvent)>, coordinator: &EventSender, ready: &Sender<DeviceInfo>) {
        for (_, event) in received {
            let message = match event {
                WorkerEvent::Message(message) => *message,
                WorkerEvent::Broken(what) => self.lose(&what),
                WorkerEvent::Closed => self.lose("the link was closed"),
            };
            match message {
                WorkerMessage::Ready { device, .. } => _ = ready.send(*device),
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
                | WorkerMessage::Done
                | WorkerMessage::Beat
                | WorkerMessage::Usage { .. } => coordinator.send(&message),
            }
        }
    }

    /// Ends this process as a launcher whose link is lost, with the reason on stderr.
    #[expect(clippy::print_stderr, reason = "the coordinator shows the last line of a launcher that ends")]
    fn lose(&self, what: &str) -> ! {
        thread::sleep(STDERR_TIME);
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
        let object = self.object();
        let prepared = object.number;
        let data = constants.map(Columns::to_bytes).unwrap_or_default();
        let constants = constants.map(Columns::rows);
        self.link.ask(DeviceCall::Build { case: NamedCase::of(case), prepared, capacity, constants }, data)?;
        Ok(Box::new(RemoteCase(object)))
    }

    /// Refuses, as [`AnnouncedExecutor`](assay_exec::AnnouncedExecutor) does.
    fn recover(&self) -> Result<(), ExecError> {
        Err(ExecError::lost_earlier())
    }
}

/// A case that the worker of the device has prepared.
struct RemoteCase(RemoteObject);

impl PreparedCase for RemoteCase {
    fn run(&mut self, operands: &Columns, results: &mut Columns) -> Result<Duration, ExecError> {
        let call = DeviceCall::Run { prepared: self.0.number, rows: operands.rows() };
        let (reply, data) = self.0.link.ask(call, operands.to_bytes())?;
        match reply {
            DeviceReply::Ran(time) if results.set_bytes(operands.rows(), &data) => Ok(time),
            _ => Err(ExecError::Internal(UNEXPECTED.to_owned())),
        }
    }
}

/// A case or memory that the worker of the device keeps until this is dropped.
pub(crate) struct RemoteObject {
    link: Arc<Link>,
    number: u64,
}

impl RemoteObject {
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for RemoteObject {
    fn drop(&mut self) {
        let call = DeviceCall::Drop { number: self.number };
        _ = self.link.process.send(&Order::Device { number: self.link.number(), call, data: Vec::new() });
    }
}

/// A defect of the other worker.
const UNEXPECTED: &str = "the worker of the device gave an answer of the wrong kind or size";
