//! Dispatches that are too large to be interpreted whole: what some workgroups write is checked.
//!
//! The device is given the whole dispatch. The oracle runs a few workgroups, each with all that it depends on; elements that these
//! wrote are checked, the others are counted. Workgroups are chosen evenly over the dispatch, with the first and the last.
//!
//! That a workgroup's results depend on no other one is so in a shader without races, except through atomics, of which nothing
//! is said in a sample. A shader with races would show as a device that is wrong. So an element that is not permitted by the
//! sample is no failure yet: all workgroups are run then, as if nothing had been said of a sample, and if that would take too
//! long the element is undetermined.

use crate::CheckError;
use crate::check::Check;
use crate::device::Target;
use assay_case::stable_hash;
use assay_oracle::{Dispatch, Outcome};
use assay_runner::Sampled;

/// Instructions, counted for each invocation, that running all workgroups may take, also after a sample shows something: some ten
/// minutes with floats.
const WHOLE: u64 = 20_000_000_000;

/// Of fewer invocations it is not asked beforehand how much they do.
const FEW: u64 = 1 << 17;

/// Bytes of memory that are made for an estimate of what a dispatch costs.
const TRIED: u64 = 1 << 28;

/// The numbers of the workgroups that stand for all of them; `None` where these are no fewer.
fn chosen(total: u64, local: u64, invocations: u64, seed: u64) -> Option<Vec<u64>> {
    let wanted = invocations.div_ceil(local.max(1)).max(1);
    if wanted >= total {
        return None;
    }
    // In stretches of equal length, so that they lie everywhere, but at no period.
    let end = |i: u64| (u128::from(i) * u128::from(total) / u128::from(wanted)) as u64;
    let number = |i: u64| {
        let (from, to) = (end(i), end(i + 1));
        match i {
            0 => 0,
            _ if i + 1 == wanted => total - 1,
            _ => from + stable_hash(&(seed ^ i).to_le_bytes()) % (to - from),
        }
    };
    Some((0..wanted).map(number).collect())
}

/// What came of a round whose sample had elements that are not permitted.
pub(crate) enum Resolved {
    /// All workgroups were run.
    Whole(Box<Outcome>),
    /// That would take too long: about so many instructions.
    Open(u64),
}

impl Check<'_> {
    /// Workgroups of the dispatch.
    fn total(&self) -> u64 {
        self.setup.groups.iter().fold(1, |all: u64, n| all.saturating_mul(u64::from(*n)))
    }

    /// The workgroups that are run of a dispatch, where that is only a part of them.
    pub(crate) fn chosen(&self) -> Option<Vec<u64>> {
        chosen(self.total(), self.local(), self.sample?, self.setup.seed())
    }

    /// Invocations of a workgroup.
    fn local(&self) -> u64 {
        self.setup.local.iter().fold(1, |all: u64, n| all.saturating_mul(u64::from(*n)))
    }

    /// What is said of a sample in the result.
    pub(crate) fn sampled(&self, only: &[u64], beyond: u64) -> Sampled {
        Sampled { workgroups: only.len() as u64, of: self.total(), elements_beyond: beyond }
    }

    /// About how many instructions all workgroups execute, by those that were run.
    fn expected(&self, ran: &Outcome, workgroups: u64) -> u64 {
        let all = u128::from(ran.instructions) * u128::from(self.total()) / u128::from(workgroups.max(1));
        u64::try_from(all).unwrap_or(u64::MAX)
    }

    /// Finds out, of the whole dispatch, whether what the sample does not permit is permitted after all.
    ///
    /// # Errors
    /// As [`Check::permitted`].
    pub(crate) fn resolve(&self, dispatch: &Dispatch, only: &[u64], ran: &Outcome) -> Result<Resolved, CheckError> {
        let expected = self.expected(ran, only.len() as u64);
        if expected > WHOLE {
            return Ok(Resolved::Open(expected));
        }
        Ok(Resolved::Whole(Box::new(self.permitted(dispatch)?)))
    }

    /// Refuses workgroups that are larger or more than the device takes, before any work is done for them.
    ///
    /// # Errors
    /// [`CheckError::Option`], with the device's limit.
    pub(crate) fn must_be_taken(&self, target: &dyn Target) -> Result<(), CheckError> {
        let limit = |name: String| target.have().properties.get(&name).map(|limit| (*limit, name));
        let device = &target.info().name;
        let invocations =
            [(self.local(), limit("maxComputeWorkGroupInvocations".into()), "invocations in a workgroup")];
        let sizes = ["X", "Y", "Z"].into_iter().zip(self.setup.local);
        let sizes = sizes.map(|(axis, n)| {
            (n.into(), limit(format!("maxComputeWorkGroupSize{axis}")), "invocations of a workgroup along one axis")
        });
        for (found, limit, what) in invocations.into_iter().chain(sizes) {
            if let Some((most, name)) = limit.filter(|(most, _)| found > *most) {
                let advice = self.advice("; the shader says how many, or --spec").unwrap_or_default();
                return Err(CheckError::option(format!(
                    "{found} {what}: {device} takes at most {most} ({name}){advice}"
                )));
            }
        }
        for (axis, found) in ["X", "Y", "Z"].into_iter().zip(self.setup.groups.map(u64::from)) {
            let limit = limit(format!("maxComputeWorkGroupCount{axis}"));
            if let Some((most, name)) = limit.filter(|(most, _)| found > *most) {
                let axis = axis.to_lowercase();
                let advice = self.advice("; dispatch fewer with --workgroups").unwrap_or_default();
                return Err(CheckError::option(format!(
                    "{found} workgroups along {axis}: {device} takes at most {most} ({name}){advice}"
                )));
            }
        }
        Ok(())
    }

    /// Refuses a dispatch of too many invocations, or in which they do too much, before it is run: how much it would be, and what of it
    /// can be checked.
    ///
    /// # Errors
    /// [`CheckError::Oracle`], if it is too large.
    pub(crate) fn must_fit(&self, target: &dyn Target) -> Result<(), CheckError> {
        let found = self.total().saturating_mul(self.local());
        let limit = self.limits.invocations;
        if self.sample.is_some() || self.kernel.is_some() || found <= limit.min(FEW) {
            return Ok(());
        }
        let much = self.estimated(target)?;
        let said = |much: u64| format!("by its first workgroup about {} instructions", rounded(much));
        let most = WHOLE.saturating_mul(self.limits.patience());
        let (what, remedy) = match much {
            Some(much) if found > limit => (format!("{found} invocations, of at most {limit}; {}", said(much)), ""),
            None if found > limit => (format!("{found} invocations, of at most {limit}"), ""),
            Some(much) if much > most => {
                let most = rounded(most);
                (
                    format!("{found} invocations; {}, of at most {most}", said(much)),
                    ", or have more patience with --patience 10",
                )
            }
            _ => return Ok(()),
        };
        let advice = format!(
            ": dispatch less with --workgroups, or check a part with --sample N, N up to {limit} invocations{remedy}"
        );
        let what = what + &self.advice(&advice).unwrap_or_default();
        Err(CheckError::Oracle { name: self.subject.name.clone(), what })
    }

    /// Instructions, counted for each invocation, that a round may take by what its first workgroup does; `None` where even that is too
    /// large, or cannot be run.
    fn estimated(&self, target: &dyn Target) -> Result<Option<u64>, CheckError> {
        let bytes = self.setup.descriptors.iter().fold(0u64, |all, d| all.saturating_add(d.bytes));
        if bytes > TRIED {
            return Ok(None);
        }
        let mut first = Dispatch { only: Some(vec![0]), ..self.dispatch(0, target)? };
        self.place_anywhere(&mut first);
        // Whatever is wrong with it is said when it is run.
        let ran = self.permitted(&first).ok();
        Ok(ran.filter(|ran| ran.faults.is_empty()).map(|ran| self.expected(&ran, 1)))
    }
}

/// A large number in words: two digits and its magnitude.
pub(crate) fn rounded(number: u64) -> String {
    for (unit, name) in
        [(1_000_000_000_000, "million million"), (1_000_000_000, "thousand million"), (1_000_000, "million")]
    {
        if number >= 10 * unit {
            return format!("{} {name}", number / unit);
        }
        if number >= unit {
            return format!("{:.1} {name}", number as f64 / unit as f64);
        }
    }
    number.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_lies_everywhere_and_has_both_ends() {
        let sample = chosen(1 << 40, 64, 640, 1).unwrap();
        assert_eq!((sample.len(), sample[0], sample[9]), (10, 0, (1 << 40) - 1));
        assert!(sample.windows(2).all(|pair| pair[0] < pair[1]), "{sample:?}");
        assert!(sample.windows(2).all(|pair| pair[1] - pair[0] < 1 << 38), "{sample:?}");
        assert_ne!(sample, chosen(1 << 40, 64, 640, 2).unwrap());
        assert_eq!(chosen(10, 64, 640, 1), None);
        assert_eq!(chosen(10, 64, 1, 1), Some(vec![0]));
        assert_eq!(chosen(3, 64, 128, 1), Some(vec![0, 2]));
    }

    #[test]
    fn large_numbers_are_readable() {
        let all = [(999, "999"), (1_500_000, "1.5 million"), (42_000_000_000, "42 thousand million")];
        all.into_iter().for_each(|(number, text)| assert_eq!(rounded(number), text));
    }
}
