//! Devices that are run at the same time, each by workers of its own: how they share the cores and the terminal.

use assay_reports::Bars;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// A run among others.
pub(super) struct Among {
    /// What tells it from the others in what is said.
    pub(super) which: String,
    /// The terminal's lines of progress.
    pub(super) bars: Bars,
    /// Threads that all of them have together.
    jobs: usize,
    /// How many are at work still, this one included.
    at_work: Arc<AtomicUsize>,
    /// How many there were.
    all: usize,
}

impl Among {
    /// So many runs that have so many threads together.
    pub(super) fn new(names: impl ExactSizeIterator<Item = String>, jobs: usize) -> Vec<Among> {
        let (bars, all) = (Bars::default(), names.len());
        let at_work = Arc::new(AtomicUsize::new(all));
        let one = |which| Among { which, bars: bars.clone(), jobs, at_work: Arc::clone(&at_work), all };
        names.map(one).collect()
    }

    /// The threads that it has while all are at work.
    pub(super) fn share(&self) -> usize {
        part(self.jobs, self.all)
    }

    /// How many runs there were at the beginning.
    pub(super) fn all(&self) -> usize {
        self.all
    }

    /// Tells how many threads it may have at the moment: those of runs that have ended are for the others.
    pub(super) fn threads(&self) -> impl Fn() -> usize + 'static {
        let (jobs, at_work) = (self.jobs, Arc::clone(&self.at_work));
        move || part(jobs, at_work.load(Ordering::Relaxed))
    }
}

impl Drop for Among {
    fn drop(&mut self) {
        self.at_work.fetch_sub(1, Ordering::Relaxed);
    }
}

fn part(jobs: usize, runs: usize) -> usize {
    (jobs / runs.max(1)).max(1)
}

/// Does something with each of them at the same time; what came of each, in their order.
pub(super) fn at_once<T: Send, R: Send>(all: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = all.into_iter().map(|one| scope.spawn(move || work(one))).collect();
        let ended = threads.into_iter().map(thread::ScopedJoinHandle::join);
        // A panic is a defect, and is told as one where the process ends.
        ended.map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::mpsc, time::Duration};

    #[test]
    fn all_are_at_work_at_the_same_time_and_answer_in_their_order() {
        // Each waits for a word of the one after it: in turn, none would come to its end.
        let ends: Vec<(mpsc::Sender<u8>, mpsc::Receiver<u8>)> = (0..3).map(|_| mpsc::channel()).collect();
        let (senders, receivers): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
        let mut to = senders;
        to.rotate_right(1);
        let pairs = to.into_iter().zip(receivers).enumerate().collect();
        let said = at_once(pairs, |(place, (to, from))| {
            to.send(place as u8).expect("the other is there");
            (place, from.recv_timeout(Duration::from_secs(60)))
        });
        assert_eq!(said, [(0, Ok(1)), (1, Ok(2)), (2, Ok(0))]);
    }

    #[test]
    fn threads_of_runs_that_have_ended_are_for_the_others() {
        let mut all = Among::new(["a", "b", "c"].map(str::to_owned).into_iter(), 8);
        assert_eq!(all.iter().map(Among::share).collect::<Vec<_>>(), [2, 2, 2]);
        let threads = all[0].threads();
        assert_eq!(threads(), 2);
        all.pop();
        assert_eq!(threads(), 4);
        all.pop();
        assert_eq!((threads(), all[0].share()), (8, 2));
        // Each has one, however many there are.
        assert_eq!(Among::new((0..5).map(|n| n.to_string()), 2)[4].share(), 1);
    }
}
