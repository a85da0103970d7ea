//! Reporter with shared ownership, for reading it after a run.

use assay_events::{Event, Reporter};
use std::{cell::RefCell, io, rc::Rc};

/// Handle to a shared reporter. Pass one handle to the run and keep another.
#[derive(Debug, Default)]
pub struct SharedReporter<R>(Rc<RefCell<R>>);

impl<R> Clone for SharedReporter<R> {
    fn clone(&self) -> SharedReporter<R> {
        SharedReporter(Rc::clone(&self.0))
    }
}

impl<R> SharedReporter<R> {
    /// Wraps a reporter.
    pub fn new(reporter: R) -> SharedReporter<R> {
        SharedReporter(Rc::new(RefCell::new(reporter)))
    }

    /// Calls `ask` with the reporter.
    pub fn with<T>(&self, ask: impl FnOnce(&R) -> T) -> T {
        ask(&self.0.borrow())
    }
}

impl<R: Reporter> Reporter for SharedReporter<R> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.0.borrow_mut().event(event)
    }
}
