//! Messages of a worker to the coordinator.

use crate::{
    message::{Refusal, WorkerMessage},
    message_frame,
    platform::kill_own_group,
};
use assay_events::{Event, Reporter};
use assay_exec::{CallDescription, DriverCalls};
use std::{
    fs::File,
    io::{self, Write},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// Sends messages to the coordinator. Threads share it.
#[derive(Clone, Debug)]
pub struct EventSender(Arc<SenderState>);

#[derive(Debug)]
struct SenderState {
    pipe: Mutex<File>,
    calls: AtomicU64,
}

impl EventSender {
    pub(crate) fn new(pipe: File) -> EventSender {
        EventSender(Arc::new(SenderState { pipe: Mutex::new(pipe), calls: AtomicU64::new(0) }))
    }

    pub(crate) fn send(&self, message: &WorkerMessage) {
        // All messages are types of this crate and of the runner, and have a JSON form.
        let line = message_frame::encode(message).expect("a message has a JSON form");
        let written = self.0.pipe.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line);
        if written.is_err() {
            kill_own_group();
        }
    }

    /// Sends an event of a case.
    pub fn event(&self, event: &Event) {
        self.send(&WorkerMessage::Event { event: Box::new(event.clone()) });
    }

    /// Reports that the request is invalid on any device, which ends the run.
    pub fn refuse(&self, refusal: Refusal) {
        self.send(&WorkerMessage::Refused(refusal));
    }

    /// Writes raw bytes to the pipe like a damaged worker, for tests.
    ///
    /// # Errors
    /// The coordinator is gone.
    pub fn write_raw(&self, bytes: &[u8]) -> io::Result<()> {
        self.0.pipe.lock().unwrap_or_else(PoisonError::into_inner).write_all(bytes)
    }
}

impl DriverCalls for EventSender {
    type Call<'a> = DriverCall<'a>;

    /// Sends the announcement to the coordinator. If the call exceeds the time limit of the run,
    /// the coordinator kills the worker and attributes that to the case.
    fn begin_call(&self, case: &str, call: CallDescription<'_>) -> DriverCall<'_> {
        let CallDescription { doing, compiles, excuse } = call;
        let call = self.0.calls.fetch_add(1, Ordering::Relaxed);
        self.send(&WorkerMessage::Enter {
            call,
            case: case.to_owned(),
            doing: doing.to_owned(),
            compiles,
            excuse: excuse.map(str::to_owned),
        });
        DriverCall { sender: self, call }
    }
}

/// A call into the driver; it ends when this is dropped.
#[must_use = "the call ends when this is dropped"]
#[derive(Debug)]
pub struct DriverCall<'a> {
    sender: &'a EventSender,
    call: u64,
}

impl Drop for DriverCall<'_> {
    fn drop(&mut self) {
        self.sender.send(&WorkerMessage::Leave { call: self.call });
    }
}

impl Reporter for EventSender {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            // The coordinator reports the run as a whole.
            Event::RunStarted(_) | Event::RunFinished { .. } => {}
            Event::CaseStarted { .. }
            | Event::CaseProgress { .. }
            | Event::CaseFinished(_)
            | Event::CheckFinished(_) => EventSender::event(self, event),
        }
        Ok(())
    }
}
