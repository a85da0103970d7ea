//! Targets to run programs on.

use assay_check::CompileOptions;
use assay_events::{CaseResult, DeviceInfo, Event};
use assay_exec::{AllocatedDispatch, DispatchOutput, DispatchRequest, Target, TargetError};
use assay_oracle::{Resource, Slot};
use assay_runner::ProgramRunner;
use assay_spirv::tables::Op;
use assay_spirv_rules::requirements::DeviceCaps;
use assay_suite::{Case, ProgramSet, ProgramSettings, RunPath};
use assay_synthetic_target::SyntheticTarget;
use assay_testkit::{on_software_drivers, spirv_val};
use assay_vulkan::Instance;
use assay_vulkan_exec::VulkanTarget;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A target with another device's capabilities. It interprets an edited module in the oracle, then
/// changes the results with knowledge of the initial contents.
pub(crate) fn faulty_oracle<'a>(
    caps: DeviceCaps,
    edit: fn(&mut [u32]),
    spoil: impl Fn(&DispatchOutput, &mut DispatchOutput) + Sync + 'a,
) -> SyntheticTarget<'a> {
    SyntheticTarget::with_capabilities(caps).altering(move |words, _| edit(words)).spoiling(
        move |request, _, output| {
            let initial = |slot: &Slot| match request.dispatch.bindings.get(slot) {
                Some(Resource::Buffer(buffer)) => buffer.data.clone(),
                _ => Vec::new(),
            };
            let memory = output.memory.keys().map(|slot| (*slot, initial(slot))).collect();
            spoil(&DispatchOutput { memory, ..DispatchOutput::default() }, output);
        },
    )
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

/// Calls `change` for each instruction of a module.
pub(crate) fn instructions(words: &mut [u32], mut change: impl FnMut(Op, &mut [u32])) {
    let mut at = 5;
    while at < words.len() {
        let end = (at + (words[at] >> 16).max(1) as usize).min(words.len());
        if let Some(op) = Op::from_opcode((words[at] & 0xffff) as u16) {
            change(op, &mut words[at..end]);
        }
        at = end;
    }
}

/// Replaces the opcodes of a module that are `from`.
pub(crate) fn replace(words: &mut [u32], from: Op, to: Op) {
    instructions(words, |op, words| {
        if op == from {
            words[0] = words[0] & 0xffff_0000 | to as u32;
        }
    });
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
        settings: ProgramSettings { path, seed: 0, compile: CompileOptions::default(), jobs: 2 },
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
    let devices = Instance::new(true).or_else(|_| Instance::new(false)).and_then(|instance| instance.devices());
    on_software_drivers(
        devices,
        |device| &device.identity().name,
        |device| {
            test(&VulkanTarget::new(device, Duration::from_secs(60), false).unwrap());
        },
    );
}

/// Result of spirv-val with its message; `None` without spirv-val.
pub(crate) fn validator(words: &[u32]) -> Option<Result<(), String>> {
    spirv_val(words, &["--target-env", "vulkan1.3", "--scalar-block-layout"])
}
