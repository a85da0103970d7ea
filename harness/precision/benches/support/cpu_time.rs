//! Clock of the measurements.

use std::{sync::LazyLock, time::Instant};

/// CPU time of this thread in seconds: less than the elapsed time on a busy machine. Linux;
/// elsewhere the elapsed time.
pub(crate) fn cpu() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let run = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = run.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |ns| ns * 1e-9)
}
