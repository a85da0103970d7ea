//! A device without run-time arrays of descriptors, which receives arrays of fixed length.

use crate::dispatch_setup::RUNTIME_DESCRIPTORS;
use assay_events::DeviceInfo;
use assay_exec::{AllocatedDispatch, DispatchOutput, DispatchRequest, ExecError, Target, TargetError};
use assay_precision::Specification;
use assay_spirv::Module;
use assay_spirv::module::Section;
use assay_spirv::tables::Capability;
use assay_spirv_lower::with_sized_descriptors;
use assay_spirv_rules::requirements::DeviceCaps;

/// Feature of a device that runs modules with run-time arrays of descriptors.
const FEATURE: &str = "runtimeDescriptorArray";

/// A target that runs modules with run-time arrays of descriptors, on a device that does not: arrays
/// of as many descriptors as a check binds take their place. An access within them means the same,
/// and another has undefined behaviour in both.
pub(crate) struct SizedDescriptorTarget<'a> {
    target: &'a dyn Target,
    caps: DeviceCaps,
}

impl<'a> SizedDescriptorTarget<'a> {
    /// Returns the target for a module; `None` if the module has no such array, or the device has the
    /// feature.
    pub(crate) fn for_module(module: &Module, target: &'a dyn Target) -> Option<SizedDescriptorTarget<'a>> {
        let capability = Some(Capability::RuntimeDescriptorArray.word());
        let is_declared = module.section(Section::Capabilities).any(|i| i.operand(0) == capability);
        let mut caps = target.capabilities().clone();
        let is_missing = target.rules() == Specification::Vulkan && caps.features.insert(FEATURE.to_owned());
        (is_declared && is_missing).then_some(SizedDescriptorTarget { target, caps })
    }

    /// Returns a note on the change.
    pub(crate) fn note() -> String {
        format!(
            "the device lacks {FEATURE}, so it received arrays of {RUNTIME_DESCRIPTORS} descriptors in place of run-time \
             arrays"
        )
    }
}

impl Target for SizedDescriptorTarget<'_> {
    fn info(&self) -> &DeviceInfo {
        self.target.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        &self.caps
    }

    fn begin_round(&self, round: u32, possible_fault: Option<&str>) {
        self.target.begin_round(round, possible_fault);
    }

    fn allocate(&self, request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        self.target.allocate(request)
    }

    fn clear_workgroup_memory(&self) {
        self.target.clear_workgroup_memory();
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        let module = Module::parse(request.words.to_vec()).map_err(|error| {
            ExecError::Internal(format!("cannot parse the module whose arrays of descriptors get a length: {error}"))
        })?;
        let sized = with_sized_descriptors(&module, RUNTIME_DESCRIPTORS as u32);
        let words = sized.as_deref().unwrap_or(request.words);
        self.target.run(&DispatchRequest { wgsl: None, words, ..*request })
    }
}
