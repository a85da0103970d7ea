//! Arrays of descriptors that a device without descriptor indexing runs.

use crate::changing_target::{ChangingTarget, ModuleChange};
use crate::dispatch_setup::RUNTIME_DESCRIPTORS;
use assay_exec::Target;
use assay_precision::Specification;
use assay_spirv::Module;
use assay_spirv_lower::{with_selected_descriptors, with_sized_descriptors};
use assay_spirv_rules::requirements::Requirements;
use std::collections::BTreeSet;

/// Feature of a device that runs modules with run-time arrays of descriptors.
const RUNTIME_ARRAY: &str = "runtimeDescriptorArray";

/// Ends of the names of features of a device that runs modules with indices into arrays of
/// descriptors that are not constants.
const INDEXING: [&str; 2] = ["ArrayDynamicIndexing", "ArrayNonUniformIndexing"];

/// Changes of arrays of descriptors for a device that lacks features. An access within them means the
/// same, and another has undefined behaviour with and without the change.
#[derive(Clone, Debug)]
pub(crate) struct DescriptorArrays {
    /// The missing features that the changed module does not need.
    missing: BTreeSet<String>,
}

impl ModuleChange for DescriptorArrays {
    fn changed(&self, module: &Module) -> Result<Vec<u32>, String> {
        let mut words = module.words().to_vec();
        if self.missing.contains(RUNTIME_ARRAY) {
            words = with_sized_descriptors(module, RUNTIME_DESCRIPTORS as u32).unwrap_or(words);
        }
        if self.missing.iter().any(|feature| is_indexing(feature)) {
            let sized = Module::parse(words).map_err(|error| format!("cannot parse sized arrays: {error}"))?;
            let selected = with_selected_descriptors(&sized);
            words = selected.ok_or("an index into an array of descriptors is not supported")?;
        }
        Ok(words)
    }

    fn excuse(&self) -> Option<String> {
        Some(self.note())
    }
}

impl DescriptorArrays {
    /// Returns the target that runs a module on a device that lacks features for its arrays of
    /// descriptors; `None` if the device has them, or if a change does not help.
    pub(crate) fn target<'a>(
        module: &Module,
        device: &'a dyn Target,
    ) -> Option<ChangingTarget<&'a dyn Target, DescriptorArrays>> {
        let mut caps = device.capabilities().clone();
        let needed = Requirements::of(module).features().into_iter();
        let is_missing =
            |feature: &&str| (*feature == RUNTIME_ARRAY || is_indexing(feature)) && !caps.features.contains(*feature);
        let missing: BTreeSet<String> = needed.filter(is_missing).map(str::to_owned).collect();
        if missing.is_empty() || device.rules() != Specification::Vulkan {
            return None;
        }
        let change = DescriptorArrays { missing };
        let changed = Module::parse(change.changed(module).ok()?).ok()?;
        let still_needed = Requirements::of(&changed).features();
        if change.missing.iter().any(|feature| still_needed.contains(feature.as_str())) {
            return None;
        }
        caps.features.extend(change.missing.iter().cloned());
        Some(ChangingTarget::new(device, change).with_capabilities(caps))
    }

    /// Returns a note on the changes.
    pub(crate) fn note(&self) -> String {
        let sized = format!("arrays of {RUNTIME_DESCRIPTORS} descriptors in place of run-time arrays");
        let selected = "switches over the descriptors in place of their indices".to_owned();
        let has_indexing = self.missing.iter().any(|feature| is_indexing(feature));
        let changes = [(self.missing.contains(RUNTIME_ARRAY), sized), (has_indexing, selected)];
        let changes: Vec<String> = changes.into_iter().filter(|(is_made, _)| *is_made).map(|(_, text)| text).collect();
        let missing: Vec<&str> = self.missing.iter().map(String::as_str).collect();
        format!("the device lacks {} and received {}", missing.join(" and "), changes.join(", and "))
    }
}

fn is_indexing(feature: &str) -> bool {
    INDEXING.iter().any(|end| feature.ends_with(end))
}
