//! Devices that announce each call into the driver, so that another process knows which call was in
//! progress when this one ended.

use crate::{
    AllocatedDispatch, DispatchOutput, DispatchRequest, ExecError, Executor, PreparedCase, SeriesRequest, SeriesWork,
    Target, TargetError, TilePass, TilePassOutput,
};
use assay_case::{Case, Columns};
use assay_events::DeviceInfo;
use assay_spirv_rules::requirements::DeviceCaps;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Description of a call into the driver.
#[derive(Clone, Copy, Debug)]
pub struct CallDescription<'a> {
    /// Activity of the driver, worded after `while`: `running a shader`.
    pub doing: &'a str,
    /// Set for a call that may take [`compile_limit`](crate::compile_limit) longer than the others.
    pub compiles: bool,
    /// Reason, as a clause, why the end of the driver is not a fault of the device in the call: the
    /// shader may have undefined behaviour, for example.
    pub excuse: Option<&'a str>,
}

impl<'a> CallDescription<'a> {
    /// Describes a call that does not compile, and in which the end of the driver is a fault of the device.
    pub fn new(doing: &'a str) -> CallDescription<'a> {
        CallDescription { doing, compiles: false, excuse: None }
    }
}

/// Receives the announcements.
pub trait DriverCalls: Clone + Send + Sync + 'static {
    /// A call in progress; it ends when this is dropped.
    type Call<'a>;

    /// Announces a call into the driver for a case.
    fn begin_call(&self, case: &str, call: CallDescription<'_>) -> Self::Call<'_>;
}

/// An executor that announces its calls.
pub struct AnnouncedExecutor<'a, C> {
    executor: &'a dyn Executor,
    calls: &'a C,
}

impl<'a, C: DriverCalls> AnnouncedExecutor<'a, C> {
    /// Announces the calls of an executor.
    pub fn new(executor: &'a dyn Executor, calls: &'a C) -> Self {
        AnnouncedExecutor { executor, calls }
    }
}

impl<C: DriverCalls> Executor for AnnouncedExecutor<'_, C> {
    fn info(&self) -> &DeviceInfo {
        self.executor.info()
    }

    fn missing(&self, case: &Case) -> Option<String> {
        self.executor.missing(case)
    }

    fn build(
        &self,
        case: &Case,
        capacity: usize,
        constants: Option<&Columns>,
    ) -> Result<Box<dyn PreparedCase>, ExecError> {
        let call = self.calls.begin_call(&case.name, CallDescription::new("building a pipeline"));
        let prepared = self.executor.build(case, capacity, constants)?;
        drop(call);
        Ok(Box::new(AnnouncedCase { prepared, case: case.name.clone(), calls: self.calls.clone() }))
    }

    /// Refuses: results after a loss are not trustworthy. Whoever receives the announcements ends
    /// this process and continues in another.
    fn recover(&self) -> Result<(), ExecError> {
        Err(ExecError::lost_earlier())
    }
}

struct AnnouncedCase<C> {
    prepared: Box<dyn PreparedCase>,
    case: String,
    calls: C,
}

impl<C: DriverCalls> PreparedCase for AnnouncedCase<C> {
    fn run(&mut self, operands: &Columns, results: &mut Columns) -> Result<Duration, ExecError> {
        let _call = self.calls.begin_call(&self.case, CallDescription::new("running a shader"));
        self.prepared.run(operands, results)
    }
}

/// A target that announces its calls for one case.
pub struct AnnouncedTarget<'a, T, C, D> {
    target: T,
    calls: &'a C,
    case: &'a str,
    /// Describes a dispatch, given its round.
    describe: D,
    /// The current round, and a description of undefined behaviour that it may have.
    round: Mutex<(u32, Option<String>)>,
}

impl<'a, T: Target, C: DriverCalls, D: Fn(u32) -> String> AnnouncedTarget<'a, T, C, D> {
    /// Announces the calls of a target. `describe` is called before each dispatch of
    /// [`Target::run`] with its round, and returns its description.
    pub fn new(target: T, calls: &'a C, case: &'a str, describe: D) -> Self {
        AnnouncedTarget { target, calls, case, describe, round: Mutex::default() }
    }

    fn begin_call(&self, doing: &str) -> C::Call<'_> {
        self.calls.begin_call(self.case, CallDescription::new(doing))
    }
}

impl<T: Target, C: DriverCalls, D: Fn(u32) -> String> Target for AnnouncedTarget<'_, T, C, D> {
    fn info(&self) -> &DeviceInfo {
        self.target.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        self.target.capabilities()
    }

    fn begin_round(&self, round: u32, excuse: Option<&str>) {
        *self.round.lock().unwrap_or_else(PoisonError::into_inner) = (round, excuse.map(str::to_owned));
        self.target.begin_round(round, excuse);
    }

    fn allocate(&self, request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        let _call = self.begin_call("allocating buffers with device addresses");
        self.target.allocate(request)
    }

    fn clear_workgroup_memory(&self) {
        let _call = self.begin_call("clearing workgroup memory");
        self.target.clear_workgroup_memory();
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        let (round, excuse) = self.round.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let doing = (self.describe)(round);
        let call = CallDescription { doing: &doing, compiles: true, excuse: excuse.as_deref() };
        let _call = self.calls.begin_call(self.case, call);
        self.target.run(request)
    }

    fn run_series(&self, series: &SeriesRequest<'_>, work: &mut SeriesWork<'_>) -> Result<(), TargetError> {
        let _call = self.begin_call(series.during);
        self.target.run_series(series, work)
    }

    fn run_tile_pass(&self, pass: &TilePass<'_>) -> Result<TilePassOutput, TargetError> {
        let _call = self.begin_call(TilePass::DURING);
        self.target.run_tile_pass(pass)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PassForm;
    use assay_oracle::Dispatch;
    use std::sync::Arc;

    /// Announcements in order; `end` for the end of a call.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<String>>>);

    impl Log {
        fn add(&self, line: String) {
            self.0.lock().unwrap().push(line);
        }
    }

    struct LoggedCall<'a>(&'a Log);

    impl Drop for LoggedCall<'_> {
        fn drop(&mut self) {
            self.0.add("end".to_owned());
        }
    }

    impl DriverCalls for Log {
        type Call<'a> = LoggedCall<'a>;

        fn begin_call(&self, case: &str, call: CallDescription<'_>) -> LoggedCall<'_> {
            let CallDescription { doing, compiles, excuse } = call;
            let compiling = if compiles { ", compiling" } else { "" };
            let excuse = excuse.map_or_else(String::new, |excuse| format!(", but {excuse}"));
            self.add(format!("{case}: {doing}{compiling}{excuse}"));
            LoggedCall(self)
        }
    }

    /// A driver that logs when it is called.
    struct LoggingDriver(Log, DeviceInfo, DeviceCaps);

    impl Target for LoggingDriver {
        fn info(&self) -> &DeviceInfo {
            &self.1
        }

        fn capabilities(&self) -> &DeviceCaps {
            &self.2
        }

        fn allocate(&self, _: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
            self.0.add("allocate".to_owned());
            Ok(AllocatedDispatch::at([].into()))
        }

        fn clear_workgroup_memory(&self) {
            self.0.add("clear".to_owned());
        }

        fn run(&self, _: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
            self.0.add("run".to_owned());
            Ok(DispatchOutput::default())
        }

        fn run_series(&self, _: &SeriesRequest<'_>, _: &mut SeriesWork<'_>) -> Result<(), TargetError> {
            self.0.add("series".to_owned());
            Ok(())
        }

        fn run_tile_pass(&self, _: &TilePass<'_>) -> Result<TilePassOutput, TargetError> {
            self.0.add("pass".to_owned());
            Err(TargetError::Unsupported("no passes".to_owned()))
        }
    }

    fn info() -> DeviceInfo {
        DeviceInfo {
            name: "none".to_owned(),
            api: "none".to_owned(),
            kind: "other".to_owned(),
            vendor_id: 0,
            device_id: 0,
            uuid: String::new(),
            driver_name: String::new(),
            driver_info: String::new(),
            driver_version: 0,
            api_version: String::new(),
            conformance_version: String::new(),
            features: Vec::new(),
            extensions: Vec::new(),
            properties: [].into(),
            environment: [].into(),
            host_cpu: String::new(),
        }
    }

    #[test]
    fn every_call_into_the_driver_is_announced_until_it_ends() {
        let log = Log::default();
        let driver = LoggingDriver(log.clone(), info(), DeviceCaps::default());
        let target = AnnouncedTarget::new(&driver, &log, "case", |round| format!("round {round}"));
        let dispatch = Dispatch::default();
        let request = DispatchRequest {
            wgsl: None,
            words: &[],
            entry: "main",
            specs: &[],
            subgroup_control: Default::default(),
            descriptors: &[],
            dispatch: &dispatch,
            allocated: None,
        };
        target.begin_round(3, Some("the shader is undefined"));
        target.allocate(&request).unwrap();
        target.run(&request).unwrap();
        target.clear_workgroup_memory();
        let series = SeriesRequest { during: "running a series", modules: &[], descriptors: &[], dispatch: &dispatch };
        target.run_series(&series, &mut |_| Ok(())).unwrap();
        let pass = TilePass {
            form: PassForm::Dynamic,
            extent: [1; 2],
            layers: 1,
            area: [[0; 2], [1; 2]],
            apron: [0; 2],
            attachments: &[],
            buffers: &[],
            steps: &[],
        };
        target.run_tile_pass(&pass).unwrap_err();
        let expected = [
            ["case: allocating buffers with device addresses", "allocate", "end"],
            ["case: round 3, compiling, but the shader is undefined", "run", "end"],
            ["case: clearing workgroup memory", "clear", "end"],
            ["case: running a series", "series", "end"],
            ["case: running the tile-shading render pass", "pass", "end"],
        ];
        assert_eq!(*log.0.lock().unwrap(), expected.concat());
    }
}
