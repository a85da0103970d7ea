//! A worker on another machine: a supervisor there keeps its limits and reports its end.
//!
//! ```text
//! Coordinator --- launcher: ssh, srun, kubectl exec, .. ---> supervise() --- pipes ---> serve(backend)
//! ```
//!
//! A launcher cannot tell how a remote process ended, and its own end may be that of the link. The
//! supervisor is the parent of the worker. It forwards every message in both directions, and sends
//! the worker's memory and its end as messages of its own. A pipe that closes without such an end is
//! a lost link, which is never attributed to a case. When the supervisor loses the coordinator, it
//! kills the worker.

use crate::{
    child_process::{Launch, Process, WorkerEvent, describe_end},
    message::{Order, WorkerMessage},
    message_frame::{self, MAX_ORDER_BYTES},
    platform::may_be_external,
    serve::ServeError,
};
use std::{
    io::{self, BufReader, Write},
    process::ExitStatus,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

/// Interval at which the memory of the worker is measured.
const MEMORY_INTERVAL: Duration = Duration::from_millis(250);

/// Number of messages that wait for the coordinator.
const MESSAGE_QUEUE: usize = 1 << 10;

/// Longest time for a worker to end after it has closed its pipe.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

/// Supervises a worker of this machine that `launch` starts; its setup is the first order on stdin.
///
/// # Errors
/// There is no coordinator, or the worker cannot be started.
pub fn supervise(mut launch: Launch) -> Result<(), ServeError> {
    let mut stdin = BufReader::new(io::stdin());
    let orders = |error: String| ServeError::Orders(error);
    let first = message_frame::read::<Order>(&mut stdin, MAX_ORDER_BYTES).map_err(|error| orders(error.to_string()))?;
    let Some(Order::SetUp { protocol, version, setup }) = first else {
        return Err(orders("there are none".to_owned()));
    };
    launch.setup = setup;
    let (sender, events) = mpsc::sync_channel(MESSAGE_QUEUE);
    // A version that differs is passed on, so that the worker refuses it.
    let mut worker = Process::start_as(&launch, None, 0, sender, (protocol, version))?;
    let has_coordinator = Arc::new(AtomicBool::new(true));
    let (orders, is_there) = (worker.orders(), Arc::clone(&has_coordinator));
    thread::spawn(move || {
        while let Ok(Some(order)) = message_frame::read::<Order>(&mut stdin, MAX_ORDER_BYTES) {
            _ = orders.as_ref().map(|orders| orders.send(&order));
        }
        is_there.store(false, Ordering::SeqCst);
    });
    let mut measured = Instant::now();
    loop {
        if !has_coordinator.load(Ordering::SeqCst) {
            // The worker closes its device if it is idle, and ends at once if it is not.
            worker.dismiss();
        }
        match events.recv_timeout(Duration::from_millis(5)) {
            Ok((_, WorkerEvent::Message(message))) => send(&message)?,
            Ok((_, WorkerEvent::Broken(what))) => {
                worker.end();
                return Ok(send(&WorkerMessage::Broken { what })?);
            }
            Ok((_, WorkerEvent::Closed)) | Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Ok(send(&end_of(&mut worker))?);
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        if measured.elapsed() >= MEMORY_INTERVAL {
            measured = Instant::now();
            let (memory, written) = (worker.memory(), worker.written());
            send(&WorkerMessage::Usage { memory, written })?;
        }
    }
}

/// Returns the message on the end of a worker that has closed its pipe.
fn end_of(worker: &mut Process) -> WorkerMessage {
    let since = Instant::now();
    while !worker.has_ended() && since.elapsed() < EXIT_TIMEOUT {
        thread::sleep(Duration::from_millis(1));
    }
    let status: Option<ExitStatus> = worker.end();
    WorkerMessage::Ended {
        how: describe_end(status),
        external: may_be_external(status),
        stderr: worker.last_stderr_line().unwrap_or_default(),
    }
}

/// Sends a message to the coordinator.
fn send(message: &WorkerMessage) -> io::Result<()> {
    let line = message_frame::encode(message)?;
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}
