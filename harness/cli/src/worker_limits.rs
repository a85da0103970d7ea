//! Limits of worker processes, which `check` and `run` share.

use assay_exec::compile_limit;
use assay_isolate::WorkerLimits;
use std::time::Duration;

/// Longest time for opening a device.
const START: Duration = Duration::from_secs(120);

/// Largest number of bytes that a driver may write to stdout and stderr during one order.
const OUTPUT: u64 = 64 << 20;

/// Returns the limits of a worker that gives up a submission after `timeout` seconds, and may use
/// this many bytes of memory. The coordinator kills one that does not return from a call soon
/// after that time.
pub(crate) fn worker_limits(timeout: f64, memory: Option<u64>) -> WorkerLimits {
    let submission = Duration::from_secs_f64(timeout);
    let call = submission.mul_f64(1.25) + Duration::from_secs(2);
    let compile = call + compile_limit(submission);
    WorkerLimits { call, compile, start: START.max(call), memory, output: OUTPUT }
}
