//! Subgroup options of the pipeline: a required subgroup size and full subgroups
//! (`VK_EXT_subgroup_size_control`).

use crate::CheckError;
use crate::check::Check;
use crate::invocation_choice::product;
use assay_exec::{SubgroupControl, Target};

/// Largest subgroup size of any device.
const MAX_SIZE: u32 = 128;

/// `VK_SHADER_STAGE_COMPUTE_BIT`.
const COMPUTE_STAGE: u64 = 0x20;

/// Checks a required subgroup size.
///
/// # Errors
/// It is not a power of two from 1 to 128.
pub fn subgroup_size(size: u32) -> Result<u32, CheckError> {
    if size.is_power_of_two() && size <= MAX_SIZE {
        return Ok(size);
    }
    Err(CheckError::option(format!("`{size}`: a subgroup size is a power of two from 1 to {MAX_SIZE}")))
}

impl Check<'_> {
    /// Returns the reason why a device lacks the subgroup options, if it does.
    pub(crate) fn lacking_subgroup_control(&self, target: &dyn Target) -> Option<String> {
        let SubgroupControl { size, full } = self.subgroup_control;
        let (caps, device) = (target.capabilities(), &target.info().name);
        let number = |name: &str| caps.properties.get(name).copied().unwrap_or(0);
        if full && !caps.features.contains("computeFullSubgroups") {
            return Some(format!("full subgroups: {device} lacks the feature computeFullSubgroups"));
        }
        let size = u64::from(size?);
        let (least, greatest) = (number("minSubgroupSize"), number("maxSubgroupSize"));
        if !caps.features.contains("subgroupSizeControl") {
            return Some(format!("a subgroup size of {size}: {device} lacks the feature subgroupSizeControl"));
        }
        if number("requiredSubgroupSizeStages") & COMPUTE_STAGE == 0 {
            let what = "does not support it in compute shaders (requiredSubgroupSizeStages)";
            return Some(format!("a subgroup size of {size}: {device} {what}"));
        }
        if !(least..=greatest).contains(&size) {
            return Some(format!("a subgroup size of {size}: {device} supports {least} to {greatest}"));
        }
        let most = size.saturating_mul(number("maxComputeWorkgroupSubgroups"));
        let invocations = product(self.setup.local);
        (invocations > most).then(|| {
            format!(
                "a subgroup size of {size}: {device} supports at most {most} invocations in a workgroup with it \
                 (maxComputeWorkgroupSubgroups), and the shader has {invocations}"
            )
        })
    }

    /// Refuses full subgroups if the workgroup is not a multiple of the subgroup size along x.
    ///
    /// # Errors
    /// [`CheckError::Option`] with both sizes.
    pub(crate) fn must_fill_subgroups(&self, target: &dyn Target) -> Result<(), CheckError> {
        let SubgroupControl { size, full: true } = self.subgroup_control else { return Ok(()) };
        let number = |name: &str| target.capabilities().properties.get(name).copied();
        // A module of SPIR-V 1.6 permits the device any subgroup size.
        let of_device = if self.program.varies_subgroup_size() { "maxSubgroupSize" } else { "subgroupSize" };
        let size = size.map(u64::from).or_else(|| number(of_device)).unwrap_or(1).max(1);
        let [x, ..] = self.setup.local;
        if u64::from(x).is_multiple_of(size) {
            return Ok(());
        }
        let advice = self.advice("; change the workgroup size in the shader or with --spec").unwrap_or_default();
        Err(CheckError::option(format!(
            "full subgroups need a workgroup size along x that is a multiple of the subgroup size: {x} is not a \
             multiple of {size}{advice}"
        )))
    }
}
