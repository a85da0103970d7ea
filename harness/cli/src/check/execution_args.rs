//! Device, API and process of a check, and the opening of devices.

use crate::{
    common_args::{Api, Isolate, ViaArgs, positive_seconds},
    exit::Failure,
    run,
};
use assay_exec::Target;
use assay_precision::Specification;
use assay_vulkan::Instance;
use assay_vulkan_exec::VulkanTarget;
use assay_wgpu_exec::WgpuTarget;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Device, API and process that run the shader.
#[derive(Debug, Args)]
pub(super) struct ExecutionArgs {
    /// Device: index in `assay devices`, part of the name, UUID, `lavapipe`, or `all`
    #[arg(long, visible_alias = "devices", value_name = "DEVICE")]
    pub(super) device: Option<String>,

    /// API: vulkan, wgpu (which receives WGSL unchanged and SPIR-V through naga; WGSL's rules
    /// apply) or both
    ///
    /// [default: vulkan; for a bundle, the API that it was made with]
    #[arg(long, value_name = "API", hide_possible_values = true)]
    pub(super) api: Option<Api>,

    /// Time limit of one round on the device, in seconds; the driver may compile the shader for five
    /// times as long
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = positive_seconds)]
    pub(super) timeout: f64,

    /// Run under the Vulkan validation layer; its errors are reported as InternalError
    #[arg(long)]
    pub(super) validation: bool,

    #[command(flatten)]
    pub(super) via: ViaArgs,

    /// Print the lines of results.jsonl to stdout in place of the text: the device, the verdict,
    /// the end
    #[arg(long)]
    pub(super) json: bool,

    /// Open the device in a worker process, so that a crash or hang does not end the check: yes or
    /// no [default: yes]
    #[arg(long, value_name = "YES|NO", default_value = "yes", hide_possible_values = true, hide_default_value = true)]
    pub(super) isolate: Isolate,
}

impl ExecutionArgs {
    /// Returns the settings with which devices are opened.
    pub(super) fn settings(&self) -> DeviceSettings {
        DeviceSettings { timeout: self.timeout, validation: self.validation }
    }

    /// Returns the devices that `--device` selects, of machines that have the binary.
    pub(super) fn devices(&self) -> Result<Vec<CheckDevice>, Failure> {
        self.via.must_suit(self.isolate)?;
        self.via.push()?;
        match self.device.as_deref() {
            Some(run::ALL) => {
                let index =
                    |index: usize| CheckDevice { selector: Some(index.to_string()), index: Some(index.to_string()) };
                Ok((0..run::devices()?.len()).map(index).collect())
            }
            selector => Ok(vec![CheckDevice { selector: selector.map(str::to_owned), index: None }]),
        }
    }
}

/// Settings with which a device is opened.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct DeviceSettings {
    /// Time limit of one round, in seconds.
    pub(super) timeout: f64,
    validation: bool,
}

impl DeviceSettings {
    /// Opens a device.
    pub(super) fn target(self, selected: &SelectedDevice) -> Result<Box<dyn Target + Sync>, Failure> {
        let limit = Duration::from_secs_f64(self.timeout);
        let selector = selected.selector.as_deref();
        Ok(if selected.wgpu {
            let (device, caps) = run::wgpu_device(selector)?;
            Box::new(WgpuTarget::new(device, caps, limit)?.with_spirv())
        } else {
            let physical = Instance::new(self.validation)?.select(selector)?;
            Box::new(VulkanTarget::new(&physical, limit, self.validation)?)
        })
    }
}

/// A device to check on.
pub(super) struct CheckDevice {
    /// Argument of `--device` that selects it.
    pub(super) selector: Option<String>,
    /// Index in `assay devices`, for `--device all`.
    pub(super) index: Option<String>,
}

/// Device of a check, and the API through which it runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SelectedDevice {
    /// Argument of `--device` that selects it.
    pub(super) selector: Option<String>,
    pub(super) wgpu: bool,
}

/// Returns the specification that judges an API.
pub(super) fn rules(api: Api) -> Specification {
    if api == Api::Wgpu { Specification::Wgsl } else { Specification::Vulkan }
}
