//! Arrays of descriptors of fixed length, for a device without run-time arrays of descriptors.

use crate::changing_target::{ChangingTarget, ModuleChange};
use crate::dispatch_setup::RUNTIME_DESCRIPTORS;
use assay_exec::Target;
use assay_precision::Specification;
use assay_spirv::Module;
use assay_spirv::module::Section;
use assay_spirv::tables::Capability;
use assay_spirv_lower::with_sized_descriptors;

/// Feature of a device that runs modules with run-time arrays of descriptors.
const FEATURE: &str = "runtimeDescriptorArray";

/// Arrays of as many descriptors as a check binds, in place of run-time arrays. An access within them
/// means the same, and another has undefined behaviour in both.
pub(crate) struct SizedDescriptors;

impl ModuleChange for SizedDescriptors {
    fn changed(&self, module: &Module) -> Result<Vec<u32>, String> {
        let sized = with_sized_descriptors(module, RUNTIME_DESCRIPTORS as u32);
        Ok(sized.unwrap_or_else(|| module.words().to_vec()))
    }
}

impl SizedDescriptors {
    /// Returns the target that runs a module with run-time arrays of descriptors on a device that
    /// lacks them; `None` if the module has none, or the device has the feature.
    pub(crate) fn target<'a>(
        module: &Module,
        device: &'a dyn Target,
    ) -> Option<ChangingTarget<&'a dyn Target, SizedDescriptors>> {
        let capability = Some(Capability::RuntimeDescriptorArray.word());
        let is_declared = module.section(Section::Capabilities).any(|i| i.operand(0) == capability);
        let mut caps = device.capabilities().clone();
        let is_missing = device.rules() == Specification::Vulkan && caps.features.insert(FEATURE.to_owned());
        let target = || ChangingTarget::new(device, SizedDescriptors).with_capabilities(caps);
        (is_declared && is_missing).then(target)
    }

    /// Returns a note on the change.
    pub(crate) fn note() -> String {
        format!(
            "the device lacks {FEATURE}, so it received arrays of {RUNTIME_DESCRIPTORS} descriptors in place of run-time \
             arrays"
        )
    }
}
