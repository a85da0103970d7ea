//! Checks of a subset of invocations, for dispatches that are too large to interpret.
//!
//! The device runs the whole dispatch. The oracle interprets some workgroups, or if the invocations of
//! a workgroup are independent, some invocations of these. The elements that they write are checked;
//! all others are only counted. The subset is spread evenly over the dispatch and includes the first
//! and the last workgroup.
//!
//! In a shader without races the results of such invocations do not depend on others, except through
//! atomics, whose results are undetermined in a subset. In a shader with races the device would
//! seem to be wrong. An element that the subset does not permit is therefore not a failure yet: the
//! oracle then interprets all invocations, and if that would take too long, the element is
//! undetermined.

use crate::CheckError;
use crate::check::Check;
use crate::invocation_choice::{DispatchShape, product};
use assay_events::{WorkgroupSubset, group_digits};
use assay_exec::Target;
use assay_oracle::{Dispatch, InvocationSubset, Outcome};

/// Largest number of instructions, summed over invocations, for interpreting a whole dispatch. That
/// takes some ten minutes with floats.
const MAX_INSTRUCTIONS: u64 = 20_000_000_000;

/// Dispatches with fewer invocations are not estimated beforehand.
const FEW_INVOCATIONS: u64 = 1 << 17;

/// Largest memory in bytes that is allocated for an estimate.
const MAX_ESTIMATE_BYTES: u64 = 1 << 28;

/// Resolution of a round in whose subset some elements were not permitted.
pub(crate) enum SampleResolution {
    /// Outcome with all invocations.
    Whole(Box<Outcome>),
    /// Interpreting all invocations would take about this many instructions.
    Open(u64),
}

impl Check<'_> {
    /// Returns the number of workgroups in the dispatch.
    fn workgroup_count(&self) -> u64 {
        product(self.setup.groups)
    }

    /// Returns the invocations to interpret; `None` for all.
    pub(crate) fn chosen_invocations(&self) -> Option<InvocationSubset> {
        DispatchShape::new(&self.setup, &self.program).choose(self.sample?, self.setup.seed())
    }

    /// Returns the number of invocations in a workgroup.
    fn workgroup_size(&self) -> u64 {
        product(self.setup.local)
    }

    /// Returns the summary of the subset for the result.
    pub(crate) fn sampled(&self, only: &InvocationSubset, beyond: u64) -> WorkgroupSubset {
        WorkgroupSubset {
            workgroups: only.workgroups.len() as u64,
            of: self.workgroup_count(),
            invocations: only.local.as_ref().map(|local| local.len() as u64),
            elements_beyond: beyond,
        }
    }

    /// Estimates the number of instructions of the dispatch from those of a subset.
    fn expected_instructions(&self, ran: &Outcome, only: &InvocationSubset) -> u64 {
        let (local, groups) = (self.workgroup_size(), self.workgroup_count());
        let interpreted = only.invocations(local).max(1);
        let all = u128::from(ran.instructions) * u128::from(groups) * u128::from(local) / u128::from(interpreted);
        u64::try_from(all).unwrap_or(u64::MAX)
    }

    /// Interprets the whole dispatch, unless that would take too long.
    ///
    /// # Errors
    /// As [`Check::permitted`].
    pub(crate) fn resolve(
        &self,
        dispatch: &Dispatch,
        only: &InvocationSubset,
        ran: &Outcome,
    ) -> Result<SampleResolution, CheckError> {
        let expected = self.expected_instructions(ran, only);
        if expected > MAX_INSTRUCTIONS {
            return Ok(SampleResolution::Open(expected));
        }
        Ok(SampleResolution::Whole(Box::new(self.permitted(dispatch)?)))
    }

    /// Refuses workgroups that exceed the limits of the device, in size or number.
    ///
    /// # Errors
    /// [`CheckError::Option`] with the device's limit.
    pub(crate) fn must_be_taken(&self, target: &dyn Target) -> Result<(), CheckError> {
        let limit = |name: String| target.capabilities().properties.get(&name).map(|limit| (*limit, name));
        let device = &target.info().name;
        let invocations =
            [(self.workgroup_size(), limit("maxComputeWorkGroupInvocations".into()), "invocations in a workgroup")];
        let sizes = ["X", "Y", "Z"].into_iter().zip(self.setup.local);
        let sizes = sizes.map(|(axis, n)| {
            (n.into(), limit(format!("maxComputeWorkGroupSize{axis}")), "invocations of a workgroup along one axis")
        });
        for (found, limit, what) in invocations.into_iter().chain(sizes) {
            if let Some((most, name)) = limit.filter(|(most, _)| found > *most) {
                let advice =
                    self.advice("; change the workgroup size in the shader or with --spec").unwrap_or_default();
                return Err(CheckError::option(format!(
                    "{found} {what}; {device} supports at most {most} ({name}){advice}"
                )));
            }
        }
        for (axis, found) in ["X", "Y", "Z"].into_iter().zip(self.setup.groups.map(u64::from)) {
            let limit = limit(format!("maxComputeWorkGroupCount{axis}"));
            if let Some((most, name)) = limit.filter(|(most, _)| found > *most) {
                let axis = axis.to_lowercase();
                let advice = self.advice("; dispatch fewer with --workgroups").unwrap_or_default();
                return Err(CheckError::option(format!(
                    "{found} workgroups along {axis}; {device} supports at most {most} ({name}){advice}"
                )));
            }
        }
        Ok(())
    }

    /// Refuses a dispatch that has too many invocations or executes too many instructions, before
    /// it is interpreted.
    ///
    /// # Errors
    /// [`CheckError::Oracle`] with the estimate and a remedy.
    pub(crate) fn must_fit(&self, target: &dyn Target) -> Result<(), CheckError> {
        let found = self.workgroup_count().saturating_mul(self.workgroup_size());
        let limit = self.limits.invocations;
        if self.sample.is_some() || self.kernel.is_some() || found <= limit.min(FEW_INVOCATIONS) {
            return Ok(());
        }
        let much = self.estimate(target)?;
        let said = |much: u64| format!("about {} instructions, estimated from the first workgroup", rounded(much));
        let most = MAX_INSTRUCTIONS.saturating_mul(self.limits.patience());
        let (what, remedy) = match much {
            Some(much) if found > limit => {
                (format!("{found} invocations, more than the limit of {limit} ({})", said(much)), "")
            }
            None if found > limit => (format!("{found} invocations, more than the limit of {limit}"), ""),
            Some(much) if much > most => {
                let most = rounded(most);
                (
                    format!("{found} invocations ({}), more than the limit of {most} instructions", said(much)),
                    ", or raise the limit with --patience 10",
                )
            }
            _ => return Ok(()),
        };
        let advice = format!(
            "; dispatch fewer workgroups with --workgroups, or check a part with --sample N, where N is at most \
             {limit}{remedy}"
        );
        let what = what + &self.advice(&advice).unwrap_or_default();
        Err(CheckError::Oracle { name: self.shader.name.clone(), what })
    }

    /// Estimates the number of instructions of a round, summed over invocations, from its first
    /// workgroup. Returns `None` if that is too large or cannot be interpreted.
    fn estimate(&self, target: &dyn Target) -> Result<Option<u64>, CheckError> {
        let bytes = self.setup.descriptors.iter().fold(0u64, |all, d| all.saturating_add(d.bytes));
        if bytes > MAX_ESTIMATE_BYTES {
            return Ok(None);
        }
        let only = InvocationSubset::of_workgroups([0]);
        let mut first = Dispatch { only: Some(only.clone()), ..self.dispatch(0, target)? };
        self.put_synthetic_addresses(&mut first);
        // Errors are reported by the check itself.
        let ran = self.permitted(&first).ok();
        Ok(ran.filter(|ran| ran.faults.is_empty()).map(|ran| self.expected_instructions(&ran, &only)))
    }
}

/// Returns a number for people: in full below a million, else with two digits (`4.2e10`).
pub(crate) fn rounded(number: u64) -> String {
    if number < 1_000_000 { group_digits(number) } else { format!("{:.1e}", number as f64).replace(".0e", "e") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_readable() {
        let all = [(999, "999"), (999_999, "999,999"), (1_500_000, "1.5e6"), (20_000_000_000, "2e10")];
        all.into_iter().for_each(|(number, text)| assert_eq!(rounded(number), text));
    }
}
