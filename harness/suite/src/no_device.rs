//! A target without a device, for the reference path.

use assay_case::{Case, Columns};
use assay_events::DeviceInfo;
use assay_exec::{DispatchOutput, DispatchRequest, ExecError, Executor, PreparedCase, Target, TargetError};
use assay_spirv_rules::requirements::DeviceCaps;

/// A target that runs nothing: every request fails with a reason.
#[derive(Debug)]
pub struct NoDevice {
    info: DeviceInfo,
    caps: DeviceCaps,
}

const WHY: &str = "the reference path uses no device, and the case has no independent reference";

impl Default for NoDevice {
    fn default() -> NoDevice {
        let none = || "none".to_owned();
        NoDevice {
            info: DeviceInfo {
                name: "no device: the oracle alone".to_owned(),
                api: "none".to_owned(),
                kind: "other".to_owned(),
                uuid: "0".repeat(32),
                driver_name: none(),
                driver_info: none(),
                api_version: "0.0.0".to_owned(),
                conformance_version: "0.0.0.0".to_owned(),
                host_cpu: std::env::consts::ARCH.to_owned(),
                ..DeviceInfo::default()
            },
            // `maintenance8` defines results that are undefined without it. A subgroup size above 1
            // makes the subgroup instructions exchange values.
            caps: DeviceCaps {
                features: ["maintenance8".to_owned()].into(),
                properties: [("subgroupSize".to_owned(), 8)].into(),
                ..DeviceCaps::default()
            },
        }
    }
}

impl Target for NoDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn capabilities(&self) -> &DeviceCaps {
        &self.caps
    }

    fn run(&self, _: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        Err(TargetError::Unsupported(WHY.to_owned()))
    }
}

impl Executor for NoDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn missing(&self, _: &Case) -> Option<String> {
        Some(WHY.to_owned())
    }

    fn build(&self, _: &Case, _: usize, _: Option<&Columns>) -> Result<Box<dyn PreparedCase>, ExecError> {
        Err(ExecError::Internal(WHY.to_owned()))
    }

    fn recover(&self) -> Result<(), ExecError> {
        Ok(())
    }
}
