//! Several reporters as one.

use assay_runner::{Event, Reporter};
use std::io;

/// Hands every event to each of several reporters, in order.
#[derive(Default)]
pub struct Fanout<'a> {
    reporters: Vec<&'a mut dyn Reporter>,
}

impl<'a> Fanout<'a> {
    /// One that feeds these.
    pub fn new(reporters: Vec<&'a mut dyn Reporter>) -> Fanout<'a> {
        Fanout { reporters }
    }
}

impl Reporter for Fanout<'_> {
    /// Every reporter gets the event, even if one before it fails; the first error is the answer.
    fn event(&mut self, event: &Event) -> io::Result<()> {
        let results: Vec<_> = self.reporters.iter_mut().map(|r| r.event(event)).collect();
        results.into_iter().collect()
    }
}
