//! The worker's side of the protocol.

use crate::{
    called_device::{CalledDevice, Interfaces},
    event_sender::EventSender,
    message::{Order, PROTOCOL, Refusal, Task, WorkerMessage, mismatch, own_protocol},
    message_frame::{self, MAX_ORDER_BYTES},
    platform::{kill_own_group, take_stdout},
};
use assay_events::DeviceInfo;
use assay_exec::{Executor, Target};
use serde_json::Value;
use std::{
    io::{self, BufReader},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

/// Interval of the worker's signs of life.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);

/// Longest time for an idle worker to close its device after its orders end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Work of a worker process: holds a device and runs cases on it.
pub trait WorkerBackend {
    /// Returns the description of its device.
    fn device(&self) -> &DeviceInfo;

    /// Returns the executor of its device, if a worker elsewhere may call it and check the results there.
    fn executor(&self) -> Option<&dyn Executor> {
        None
    }

    /// Returns the target of its device, under the same condition.
    fn target(&self) -> Option<&(dyn Target + Sync)> {
        None
    }

    /// Runs these cases in any order.
    ///
    /// It reports the beginning of each case ([`CaseStarted`](assay_events::Event::CaseStarted)) and its
    /// end ([`CaseFinished`](assay_events::Event::CaseFinished), or
    /// [`CheckFinished`](assay_events::Event::CheckFinished), which partial results may precede). Calls into
    /// a driver are announced with [`begin_call`](assay_exec::DriverCalls::begin_call). It ends early once
    /// `stop` is set. For a task that names chunks, only these chunks are run.
    ///
    /// # Errors
    /// A case is not known, or there is a defect. The worker then ends, which is attributed like
    /// any other exit.
    fn run(&mut self, tasks: &[Task], sender: &EventSender, stop: &AtomicBool) -> Result<(), String>;
}

impl<B: WorkerBackend + ?Sized> WorkerBackend for Box<B> {
    fn device(&self) -> &DeviceInfo {
        (**self).device()
    }

    fn executor(&self) -> Option<&dyn Executor> {
        (**self).executor()
    }

    fn target(&self) -> Option<&(dyn Target + Sync)> {
        (**self).target()
    }

    fn run(&mut self, tasks: &[Task], sender: &EventSender, stop: &AtomicBool) -> Result<(), String> {
        (**self).run(tasks, sender, stop)
    }
}

/// Reason for the early end of a worker.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It was not started by a coordinator.
    #[error("a worker is started by `assay run` or `assay check`, and takes its orders on stdin: {0}")]
    Orders(String),
    /// The pipe cannot be set up.
    #[error("cannot set up the pipe: {0}")]
    Pipe(#[from] io::Error),
    /// The backend failed.
    #[error("{0}")]
    Backend(String),
}

/// Runs orders from stdin until there are no more. From here on, output of a driver to stdout goes
/// to stderr, because the coordinator reads stdout.
///
/// # Errors
/// There is no coordinator, or the backend failed. A device that cannot be opened is reported to
/// the coordinator and is not an error.
pub fn serve<B: WorkerBackend>(open: impl FnOnce(Value) -> Result<B, Refusal>) -> Result<(), ServeError> {
    serve_with(|setup, sender| {
        let beating = sender.clone();
        thread::spawn(move || {
            loop {
                thread::sleep(HEARTBEAT_INTERVAL);
                beating.send(&WorkerMessage::Beat);
            }
        });
        open(setup)
    })
}

/// As [`serve`], without signs of life of its own.
pub(crate) fn serve_with<B: WorkerBackend>(
    open: impl FnOnce(Value, &EventSender) -> Result<B, Refusal>,
) -> Result<(), ServeError> {
    let sender = EventSender::new(take_stdout()?);
    let orders = |error: String| ServeError::Orders(error);
    let mut stdin = BufReader::new(io::stdin());
    let first = message_frame::read::<Order>(&mut stdin, MAX_ORDER_BYTES).map_err(|error| orders(error.to_string()))?;
    let setup = match first {
        Some(Order::SetUp { protocol, version, setup }) => {
            let (own, own_version) = own_protocol();
            if let Some(reason) = mismatch((protocol, &version), (own, &own_version)) {
                sender.send(&WorkerMessage::Refused(Refusal { reason, code: 70 }));
                return Ok(());
            }
            setup
        }
        Some(_) | None => return Err(orders("there are none".to_owned())),
    };
    let (stop, busy) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(true)));
    let orders = read_orders(stdin, Arc::clone(&stop), Arc::clone(&busy));
    let mut backend = match open(setup, &sender) {
        Ok(backend) => backend,
        Err(refusal) => {
            sender.send(&WorkerMessage::Refused(refusal));
            return Ok(());
        }
    };
    sender.send(&WorkerMessage::Ready { protocol: PROTOCOL, device: Box::new(backend.device().clone()) });
    busy.store(false, Ordering::SeqCst);
    let called = CalledDevice::default();
    let mut next = orders.recv().ok();
    while let Some(order) = next {
        next = if let Order::Run { cases } = order {
            busy.store(true, Ordering::SeqCst);
            backend.run(&cases, &sender, &stop).map_err(ServeError::Backend)?;
            busy.store(false, Ordering::SeqCst);
            sender.send(&WorkerMessage::Done);
            orders.recv().ok()
        } else {
            let device = Interfaces { executor: backend.executor(), target: backend.target() };
            called.serve(order, &orders, (device, &sender, &busy))
        };
    }
    Ok(())
}

/// Starts the thread that reads orders. The orders end when the coordinator has closed the pipe or
/// is gone. Then an idle worker closes its device, and a busy one ends at once, because its results
/// are not needed. Returns the others than [`Order::Stop`].
fn read_orders(mut stdin: BufReader<io::Stdin>, stop: Arc<AtomicBool>, busy: Arc<AtomicBool>) -> mpsc::Receiver<Order> {
    let (sender, orders) = mpsc::channel();
    thread::spawn(move || {
        while let Ok(Some(order)) = message_frame::read::<Order>(&mut stdin, MAX_ORDER_BYTES) {
            match order {
                Order::Run { .. } | Order::Device { .. } => _ = sender.send(order),
                Order::Stop => stop.store(true, Ordering::SeqCst),
                Order::SetUp { .. } => break,
            }
        }
        drop(sender);
        if !busy.load(Ordering::SeqCst) {
            thread::sleep(CLOSE_TIMEOUT);
        }
        kill_own_group();
    });
    orders
}
