//! Targets to run programs on.

use assay_events::{CaseResult, DeviceInfo, Event};
use assay_exec::{AllocatedDispatch, DispatchOutput, DispatchRequest, Target, TargetError, synthetic_addresses};
use assay_oracle::{Limits, Program, Resource, Slot};
use assay_runner::ProgramRunner;
use assay_spirv::Module;
use assay_spirv::requirements::DeviceCaps;
use assay_suite::{Case, NoDevice, ProgramSet, ProgramSettings, RunPath};
use assay_vulkan::Instance;
use assay_vulkan_exec::VulkanTarget;
use std::io::Write;
use std::ops::ControlFlow;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A target with another device's capabilities. It interprets an edited module in the oracle, then
/// changes the results with knowledge of the initial contents.
pub(crate) struct FaultyOracle<F> {
    none: NoDevice,
    caps: DeviceCaps,
    edit: fn(&mut [u32]),
    spoil: F,
}

impl<F: Fn(&DispatchOutput, &mut DispatchOutput)> FaultyOracle<F> {
    pub(crate) fn new(caps: DeviceCaps, edit: fn(&mut [u32]), spoil: F) -> Self {
        Self { none: NoDevice::default(), caps, edit, spoil }
    }
}

impl<F: Fn(&DispatchOutput, &mut DispatchOutput)> Target for FaultyOracle<F> {
    fn info(&self) -> &DeviceInfo {
        Target::info(&self.none)
    }

    fn capabilities(&self) -> &DeviceCaps {
        &self.caps
    }

    fn allocate(&self, request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        Ok(AllocatedDispatch::at(synthetic_addresses(request.descriptors)))
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        let mut words = request.words.to_vec();
        (self.edit)(&mut words);
        let module = Module::parse(words).expect("the sent words are a module");
        let program =
            Program::new(&module, request.entry, &Default::default()).expect("the oracle supports the module");
        let outcome = program.run(request.dispatch, &Limits::default()).expect("it was run before");
        let of = |memory| DispatchOutput { memory, duration: Duration::ZERO };
        let held = |slot: &Slot| match request.dispatch.bindings.get(slot) {
            Some(Resource::Buffer(buffer)) => buffer.data.clone(),
            _ => Vec::new(),
        };
        let before = of(outcome.memory.keys().map(|slot| (*slot, held(slot))).collect());
        let mut left = of(outcome.memory.iter().map(|(slot, memory)| (*slot, memory.bytes().to_vec())).collect());
        (self.spoil)(&before, &mut left);
        Ok(left)
    }
}

/// A device that runs an edited module in place of each requested one.
pub(crate) struct EditedModules<'a> {
    pub(crate) target: &'a (dyn Target + Sync),
    /// Edits the words of a module.
    pub(crate) fault: &'a (dyn Fn(&[u32]) -> Vec<u32> + Sync),
}

impl Target for EditedModules<'_> {
    fn info(&self) -> &DeviceInfo {
        self.target.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        self.target.capabilities()
    }

    fn allocate(&self, request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        self.target.allocate(request)
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        let words = (self.fault)(request.words);
        assert!(words != request.words, "the fault is somewhere");
        self.target.run(&DispatchRequest { wgsl: None, words: &words, ..*request })
    }
}

/// Formats a result.
pub(crate) fn line(result: &CaseResult) -> String {
    format!("{} {:?} {}", result.name, result.status, result.reason.as_deref().unwrap_or_default())
}

/// Runs cases and returns their results in order.
pub(crate) fn run(cases: &[Case], target: &(dyn Target + Sync), path: Option<RunPath>) -> Vec<CaseResult> {
    let programs = ProgramSet {
        cases,
        target,
        settings: ProgramSettings { path, seed: 0, jobs: 2, rerun_options: String::new() },
    };
    let mut results = Vec::new();
    programs.run(&AtomicBool::new(false), &mut |event| {
        if let Event::CaseFinished(result) = event {
            results.push(*result);
        }
        ControlFlow::Continue(())
    });
    results
}

/// Runs `test` on every software driver.
pub(crate) fn on_each_driver(test: impl Fn(&VulkanTarget)) {
    let strict = std::env::var_os("ASSAY_TEST_ALL_DRIVERS").is_some_and(|v| v == "1");
    let skip = |what: &str| {
        assert!(!strict, "{what}");
        skipped(what);
    };
    let devices = match Instance::new(true).or_else(|_| Instance::new(false)).and_then(|i| i.devices()) {
        Ok(devices) => devices,
        Err(error) => return skip(&error.to_string()),
    };
    for name in ["llvmpipe", "SwiftShader"] {
        match devices.iter().find(|d| d.identity().name.contains(name)) {
            Some(device) => test(&VulkanTarget::new(device, Duration::from_secs(60), false).unwrap()),
            None => skip(&format!("no {name} among the devices")),
        }
    }
}

#[expect(clippy::print_stderr, reason = "a skipped part of a test must be seen")]
fn skipped(what: &str) {
    eprintln!("SKIPPED: {what}");
}

/// Result of spirv-val with its message; `None` without spirv-val.
pub(crate) fn validator(words: &[u32]) -> Option<Result<(), String>> {
    let mut command = Command::new("spirv-val");
    command.args(["--target-env", "vulkan1.3", "--scalar-block-layout", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        assert!(std::env::var_os("ASSAY_TEST_ALL_DRIVERS").is_none(), "spirv-val is missing");
        skipped("spirv-val is missing (scripts/setup --tests installs it)");
        return None;
    };
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    child.stdin.take().expect("it is piped").write_all(&bytes).expect("it reads to the end");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Some(if output.status.success() { Ok(()) } else { Err(text.into_owned()) })
}
