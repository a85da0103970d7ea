//! Shaders and targets for tests.

use assay_check::{Check, CheckSession, Options, SessionOutput, ShaderSource};
use assay_events::{CheckResult, DeviceInfo};
use assay_exec::{DispatchOutput, DispatchRequest, Target, TargetError};
use assay_oracle::Slot;
use assay_spirv_rules::requirements::DeviceCaps;
pub(crate) use assay_synthetic_target::SyntheticTarget;
use assay_testkit::{Shader, on_software_drivers};
use assay_vulkan::Instance;
use assay_vulkan_exec::VulkanTarget;
use std::time::Duration;

/// Parses WGSL.
pub(crate) fn wgsl(text: &str) -> ShaderSource {
    ShaderSource::read("test.wgsl", text.as_bytes()).expect("the shaders of these tests compile")
}

/// Runs a session on a target, and adds what its search chose to the result.
pub(crate) fn concluded(session: &CheckSession, target: &dyn Target) -> CheckResult {
    let (check, output) = (session.check().unwrap(), SessionOutput { folder: None, command: &[] });
    let mut result = session.run(&check, target, None, output, &|_| ()).unwrap();
    session.conclude(&check, &mut result, target.info(), output).unwrap();
    result
}

/// Assembles a shader.
pub(crate) fn spirv(shader: &Shader<'_>) -> ShaderSource {
    ShaderSource::read("test.spvasm", shader.text().as_bytes()).unwrap()
}

/// Returns a shader with a buffer of words `%data` and the local index `%id`.
pub(crate) fn on_words<'a>(local_size: u32, declared: &'a str, functions: &'a str, body: &'a str) -> Shader<'a> {
    Shader {
        local_size,
        inputs: &[("%id", "LocalInvocationIndex")],
        buffers: &[("%data", "%ublocks")],
        declared,
        functions,
        body,
        ..Shader::default()
    }
}

/// Checks a shader on a target whose output is changed by `spoil`.
pub(crate) fn spoilt(text: &str, options: &Options, spoil: impl Fn(&mut DispatchOutput) + Sync) -> CheckResult {
    let shader = wgsl(text);
    Check::new(&shader, options).unwrap().run(&SyntheticTarget::spoilt(spoil)).unwrap()
}

/// A driver that changes the words of the record buffer of instrumented variants.
pub(crate) struct SpoiltRecords<'a, F> {
    pub(crate) inner: &'a VulkanTarget,
    pub(crate) records: Slot,
    pub(crate) spoil: F,
}

impl<F: Fn(&mut [u8])> Target for SpoiltRecords<'_, F> {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        self.inner.capabilities()
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        let mut output = self.inner.run(request)?;
        output.memory.get_mut(&self.records).into_iter().for_each(|records| (self.spoil)(records));
        Ok(output)
    }
}

/// Runs `test` on every software driver.
pub(crate) fn on_each_driver(test: impl Fn(&VulkanTarget)) {
    let devices = Instance::new(true).or_else(|_| Instance::new(false)).and_then(|instance| instance.devices());
    on_software_drivers(
        devices,
        |device| &device.identity().name,
        |device| {
            test(&VulkanTarget::new(device, Duration::from_secs(60), true).unwrap());
        },
    );
}
