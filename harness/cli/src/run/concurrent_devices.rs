//! Runs of several devices at the same time: sharing threads and the terminal.

use assay_reports::ProgressBars;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// One of several concurrent runs. Dropping it marks the run as ended and frees its threads.
pub(super) struct ConcurrentRun {
    /// Label of the run in output.
    pub(super) label: String,
    /// Progress bars of all runs.
    pub(super) bars: ProgressBars,
    /// Number of threads shared by all runs.
    jobs: usize,
    /// Number of runs that have not ended, including this one.
    active: Arc<AtomicUsize>,
    /// Number of runs at the start.
    initial: usize,
}

impl ConcurrentRun {
    /// Returns one run per label; they share `jobs` threads.
    pub(super) fn group(labels: impl ExactSizeIterator<Item = String>, jobs: usize) -> Vec<ConcurrentRun> {
        let (bars, initial) = (ProgressBars::default(), labels.len());
        let active = Arc::new(AtomicUsize::new(initial));
        let run = |label| ConcurrentRun { label, bars: bars.clone(), jobs, active: Arc::clone(&active), initial };
        labels.map(run).collect()
    }

    /// Returns the number of threads for this run while all runs are active.
    pub(super) fn initial_threads(&self) -> usize {
        thread_share(self.jobs, self.initial)
    }

    /// Returns the number of runs at the start.
    pub(super) fn run_count(&self) -> usize {
        self.initial
    }

    /// Returns a function that gives the current number of threads for this run: the active runs
    /// share the threads of ended ones.
    pub(super) fn available_threads(&self) -> impl Fn() -> usize + 'static {
        let (jobs, active) = (self.jobs, Arc::clone(&self.active));
        move || thread_share(jobs, active.load(Ordering::Relaxed))
    }
}

impl Drop for ConcurrentRun {
    fn drop(&mut self) {
        self.active.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns one run's share of the threads, at least 1.
fn thread_share(jobs: usize, runs: usize) -> usize {
    (jobs / runs.max(1)).max(1)
}

/// Calls `work` for all items at the same time, each in its own thread, and returns the results in
/// the items' order.
pub(super) fn run_concurrently<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = items.into_iter().map(|item| scope.spawn(move || work(item))).collect();
        let results = threads.into_iter().map(thread::ScopedJoinHandle::join);
        // `main` reports a panic as a defect of Assay.
        results.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::mpsc, time::Duration};

    #[test]
    fn items_run_at_the_same_time_and_results_keep_their_order() {
        // Each item waits for a message from another: run one after the other, they would deadlock.
        let ends: Vec<(mpsc::Sender<u8>, mpsc::Receiver<u8>)> = (0..3).map(|_| mpsc::channel()).collect();
        let (senders, receivers): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
        let mut to = senders;
        to.rotate_right(1);
        let pairs = to.into_iter().zip(receivers).enumerate().collect();
        let received = run_concurrently(pairs, |(place, (to, from))| {
            to.send(place as u8).expect("the other is there");
            (place, from.recv_timeout(Duration::from_secs(60)))
        });
        assert_eq!(received, [(0, Ok(1)), (1, Ok(2)), (2, Ok(0))]);
    }

    #[test]
    fn active_runs_share_the_threads_of_ended_runs() {
        let mut all = ConcurrentRun::group(["a", "b", "c"].map(str::to_owned).into_iter(), 8);
        assert_eq!(all.iter().map(ConcurrentRun::initial_threads).collect::<Vec<_>>(), [2, 2, 2]);
        let threads = all[0].available_threads();
        assert_eq!(threads(), 2);
        all.pop();
        assert_eq!(threads(), 4);
        all.pop();
        assert_eq!((threads(), all[0].initial_threads()), (8, 2));
        // Every run has at least one thread, even if there are more runs than threads.
        assert_eq!(ConcurrentRun::group((0..5).map(|n| n.to_string()), 2)[4].initial_threads(), 1);
    }
}
