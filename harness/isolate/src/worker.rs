//! The side of a worker process.

use crate::{
    frame,
    message::{Order, PROTOCOL, Refusal, Said, Task},
};
use assay_runner::{DeviceInfo, Event, Reporter};
use rustix::{
    io::dup,
    process::{Signal, kill_current_process_group},
    stdio,
};
use serde_json::Value;
use std::{
    fs::File,
    io::{self, BufReader, Write},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

/// How often a worker says that it is alive.
const BEAT: Duration = Duration::from_secs(1);

/// How long a worker without a coordinator may take to close its device.
const FAREWELL: Duration = Duration::from_secs(5);

/// What a worker does: holds a device and runs cases on it.
pub trait Bench {
    /// What cases run on.
    fn device(&self) -> &DeviceInfo;

    /// Runs these cases in any order and tells of each when it begins ([`Event::CaseStarted`]) and how it ended
    /// ([`Event::CaseFinished`], [`Event::CheckFinished`], which may come before as partial ones); calls into a driver are announced
    /// ([`Teller::enter`]). Ends early once `stop` is set. Of a task that names chunks nothing else is run.
    ///
    /// # Errors
    /// A case is not known, or there is a defect: the reason is charged to the cases without a result.
    fn run(&mut self, tasks: &[Task], teller: &Teller, stop: &AtomicBool) -> Result<(), String>;
}

impl<B: Bench + ?Sized> Bench for Box<B> {
    fn device(&self) -> &DeviceInfo {
        (**self).device()
    }

    fn run(&mut self, tasks: &[Task], teller: &Teller, stop: &AtomicBool) -> Result<(), String> {
        (**self).run(tasks, teller, stop)
    }
}

/// Why a worker ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It was not started by a coordinator.
    #[error("a worker is started by `assay run` or `assay check`, and takes its orders on stdin: {0}")]
    Orders(String),
    /// The pipe cannot be set up.
    #[error("cannot set up the pipe: {0}")]
    Pipe(#[from] io::Error),
    /// The bench gave up.
    #[error("{0}")]
    Bench(String),
}

/// Tells the coordinator what happens. Shared by threads.
#[derive(Clone, Debug)]
pub struct Teller(Arc<Telling>);

#[derive(Debug)]
struct Telling {
    pipe: Mutex<File>,
    calls: AtomicU64,
}

impl Teller {
    fn new(pipe: File) -> Teller {
        Teller(Arc::new(Telling { pipe: Mutex::new(pipe), calls: AtomicU64::new(0) }))
    }

    fn say(&self, said: &Said) {
        // What is told are types of this crate and of the runner, all of which have a JSON form.
        let line = frame::line(said).expect("a message has a JSON form");
        let written = self.0.pipe.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line);
        if written.is_err() {
            vanish();
        }
    }

    /// Tells an event of a case.
    pub fn event(&self, event: &Event) {
        self.say(&Said::Event { event: Box::new(event.clone()) });
    }

    /// Says that what was asked for cannot be done, whatever the device: the run ends with this.
    pub fn refuse(&self, refusal: Refusal) {
        self.say(&Said::Refused(refusal));
    }

    /// Announces a call into the driver for a case, `doing` something in words, until the result is dropped. It has to
    /// return within the limit of the run, or the worker is killed and the case charged.
    #[must_use = "the call ends when this is dropped"]
    pub fn enter(&self, case: &str, doing: &str) -> Call<'_> {
        let call = self.0.calls.fetch_add(1, Ordering::Relaxed);
        self.say(&Said::Enter { call, case: case.to_owned(), doing: doing.to_owned() });
        Call { teller: self, call }
    }

    /// Writes bytes to the pipe as a damaged worker would: for tests of what becomes of them.
    ///
    /// # Errors
    /// Nobody reads them.
    pub fn spoil(&self, bytes: &[u8]) -> io::Result<()> {
        self.0.pipe.lock().unwrap_or_else(PoisonError::into_inner).write_all(bytes)
    }
}

/// A call into the driver, while it lasts.
#[derive(Debug)]
pub struct Call<'a> {
    teller: &'a Teller,
    call: u64,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.teller.say(&Said::Leave { call: self.call });
    }
}

impl Reporter for Teller {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            // The coordinator tells of the run as a whole.
            Event::RunStarted(_) | Event::RunFinished { .. } => {}
            Event::CaseStarted { .. }
            | Event::CaseProgress { .. }
            | Event::CaseFinished(_)
            | Event::CheckFinished(_) => Teller::event(self, event),
        }
        Ok(())
    }
}

/// Ends this process and what it has started, whatever a driver is doing.
fn vanish() -> ! {
    _ = kill_current_process_group(Signal::KILL);
    std::process::abort()
}

/// Takes orders on stdin until there are no more. What a driver writes to stdout goes to stderr from here on, since stdout
/// is where the coordinator listens.
///
/// # Errors
/// There is no coordinator, or the bench gave up. That it cannot be opened has been told to the coordinator and is none.
pub fn serve<B: Bench>(open: impl FnOnce(Value) -> Result<B, Refusal>) -> Result<(), ServeError> {
    let teller = Teller::new(File::from(dup(io::stdout()).map_err(io::Error::from)?));
    stdio::dup2_stdout(io::stderr()).map_err(io::Error::from)?;
    let orders = |error: String| ServeError::Orders(error);
    let mut stdin = BufReader::new(io::stdin());
    let first = frame::read::<Order>(&mut stdin).map_err(|error| orders(error.to_string()))?;
    let setup = match first {
        Some(Order::SetUp { protocol: PROTOCOL, setup }) => setup,
        Some(Order::SetUp { protocol, .. }) => {
            let reason =
                format!("the worker speaks protocol {PROTOCOL}, and was asked for {protocol}: the binary has changed");
            teller.say(&Said::Refused(Refusal { reason, code: 70 }));
            return Ok(());
        }
        Some(_) | None => return Err(orders("there are none".to_owned())),
    };
    let beating = teller.clone();
    thread::spawn(move || {
        loop {
            thread::sleep(BEAT);
            beating.say(&Said::Beat);
        }
    });
    let (stop, busy) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(true)));
    let batches = listen(stdin, Arc::clone(&stop), Arc::clone(&busy));
    let mut bench = match open(setup) {
        Ok(bench) => bench,
        Err(refusal) => {
            teller.say(&Said::Refused(refusal));
            return Ok(());
        }
    };
    teller.say(&Said::Ready { protocol: PROTOCOL, device: Box::new(bench.device().clone()) });
    busy.store(false, Ordering::SeqCst);
    for cases in batches {
        busy.store(true, Ordering::SeqCst);
        bench.run(&cases, &teller, &stop).map_err(ServeError::Bench)?;
        busy.store(false, Ordering::SeqCst);
        teller.say(&Said::Done);
    }
    Ok(())
}

/// A thread that reads orders. Once there are no more, the coordinator has closed the pipe or is gone: a worker that is
/// idle closes its device, one that is not ends at once, since nobody wants its results.
fn listen(mut stdin: BufReader<io::Stdin>, stop: Arc<AtomicBool>, busy: Arc<AtomicBool>) -> mpsc::Receiver<Vec<Task>> {
    let (sender, batches) = mpsc::channel();
    thread::spawn(move || {
        while let Ok(Some(order)) = frame::read::<Order>(&mut stdin) {
            match order {
                Order::Run { cases } => _ = sender.send(cases),
                Order::Stop => stop.store(true, Ordering::SeqCst),
                Order::SetUp { .. } => break,
            }
        }
        drop(sender);
        if !busy.load(Ordering::SeqCst) {
            thread::sleep(FAREWELL);
        }
        vanish();
    });
    batches
}
