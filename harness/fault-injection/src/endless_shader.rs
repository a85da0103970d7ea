//! A real device with shaders that never end.

use crate::result;
use assay_events::{DeviceInfo, Event, Status};
use assay_exec::{CallDescription, DriverCalls};
use assay_isolate::{EventSender, Refusal, Task, WorkerBackend};
use assay_testkit::Shader;
use assay_vulkan::{BufferSpec, Device, DeviceOptions, Dispatch, Error, Instance, PipelineDesc};
use assay_vulkan_exec::device_info;
use std::{sync::atomic::AtomicBool, time::Duration};

/// Workgroups of a shader that never ends. Mesa's llvmpipe ends any loop after 65 535 rounds; with
/// this number of workgroups even those take far longer than a lifetime.
const GROUPS: [u32; 3] = [65_535, 65_535, 1];

/// Runs `real.ends.NUMBER` and `real.endless.NUMBER` on a device.
pub struct EndlessShaderBackend {
    device: Device,
    info: DeviceInfo,
    limit: Duration,
}

impl EndlessShaderBackend {
    /// Opens the device that the selector names; `limit` is the longest time for a submission.
    ///
    /// # Errors
    /// There is no such device, or it cannot be opened.
    pub fn open(selector: &str, limit: Duration) -> Result<EndlessShaderBackend, Refusal> {
        let opened = || -> Result<EndlessShaderBackend, Error> {
            let physical = Instance::new(false)?.select(Some(selector))?;
            let device = Device::open(&physical, &DeviceOptions::default())?;
            Ok(EndlessShaderBackend { info: device_info(&physical), device, limit })
        };
        opened().map_err(|error| Refusal { reason: error.to_string(), code: 4 })
    }

    /// Runs a shader that loops until a word of memory is not zero.
    fn wait_for(&self, word: u32) -> Result<(), Error> {
        let pipeline = self.device.pipeline(&PipelineDesc::new(ENDLESS_SHADER.module().words(), 1))?;
        let mut slot = self.device.dispatch_slot(&[BufferSpec::in_out(4)])?;
        slot.write::<u32>(0)?[0] = word;
        let groups = if word == 0 { GROUPS } else { [1; 3] };
        slot.submit(&pipeline, &Dispatch { groups, ..Dispatch::linear(1) })?;
        slot.wait(self.limit).map(|_| ())
    }
}

impl WorkerBackend for EndlessShaderBackend {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn run(&mut self, tasks: &[Task], sender: &EventSender, _: &AtomicBool) -> Result<(), String> {
        for Task { name, .. } in tasks {
            sender.event(&Event::CaseStarted { name: name.clone(), inputs: 1 });
            let ran = {
                let _call = sender.begin_call(name, CallDescription::new("running a shader"));
                self.wait_for(u32::from(!name.starts_with("real.endless.")))
            };
            let (status, reason) = match ran {
                Ok(()) => (Status::Pass, None),
                Err(error @ Error::Timeout { .. }) => (Status::Timeout, Some(error.to_string())),
                Err(error @ Error::DeviceLost { .. }) => (Status::DeviceLost, Some(error.to_string())),
                Err(error) => (Status::InternalError, Some(error.to_string())),
            };
            sender.event(&result(name, status, reason));
        }
        Ok(())
    }
}

/// A module that loops until the first word of its buffer is not zero.
const ENDLESS_SHADER: Shader<'_> = Shader {
    version: "1.3",
    buffers: &[("%buffer", "%ublocks")],
    body: "%word = OpAccessChain %puint %buffer %zero %zero
        OpBranch %head
        %head = OpLabel
        OpLoopMerge %end %next None
        OpBranch %body
        %body = OpLabel
        OpBranch %next
        %next = OpLabel
        %value = OpAtomicLoad %uint %word %one %zero
        %is_zero = OpIEqual %bool %value %zero
        OpBranchConditional %is_zero %head %end
        %end = OpLabel",
    ..Shader::DEFAULT
};
