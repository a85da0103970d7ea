//! A target that measures the time spent in the driver.

use assay_events::DeviceInfo;
use assay_exec::{AllocatedDispatch, DispatchOutput, DispatchRequest, Target, TargetError};
use assay_spirv_rules::requirements::DeviceCaps;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time spent in the driver.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DriverTime {
    /// Compiling shaders.
    pub(crate) compile: Duration,
    /// Dispatches, including copies.
    pub(crate) device: Duration,
    /// All calls from their begin to their end.
    pub(crate) total: Duration,
}

/// A target that measures the time of its dispatches.
pub(crate) struct TimedTarget<'a> {
    target: &'a dyn Target,
    spent: Mutex<DriverTime>,
}

impl<'a> TimedTarget<'a> {
    /// Measures the dispatches on `target`.
    pub(crate) fn new(target: &'a dyn Target) -> TimedTarget<'a> {
        TimedTarget { target, spent: Mutex::default() }
    }

    /// Returns the time spent so far.
    pub(crate) fn spent(&self) -> DriverTime {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Target for TimedTarget<'_> {
    fn info(&self) -> &DeviceInfo {
        self.target.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        self.target.capabilities()
    }

    fn begin_round(&self, round: u32, excuse: Option<&str>) {
        self.target.begin_round(round, excuse);
    }

    fn allocate(&self, request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        self.target.allocate(request)
    }

    fn clear_workgroup_memory(&self) {
        self.target.clear_workgroup_memory();
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        let started = Instant::now();
        let ran = self.target.run(request);
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(output) = &ran {
            spent.compile += output.compile;
            spent.device += output.duration;
        }
        spent.total += started.elapsed();
        ran
    }
}
