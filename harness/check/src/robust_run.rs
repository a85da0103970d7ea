//! Runs of shaders in which an access may lie out of bounds: it could end the process. The device has
//! robust access then, and what is permitted stays the same.

use crate::Check;
use assay_exec::{AllocatedDispatch, DispatchOutput, Target, TargetError};
use assay_oracle::{Dispatch, FaultKind, Outcome, Place, PossibleFault, Robustness};

impl Check<'_> {
    /// Returns the robustness of a device for a dispatch with this outcome, and the access for which it is
    /// not that of the check.
    pub(crate) fn safe_robustness(&self, outcome: &Outcome) -> (Robustness, Option<Place>) {
        // Robust access covers buffers and images alone.
        let is_outside =
            |fault: &&PossibleFault| fault.kind == Some(FaultKind::OutOfBounds) && !self.accesses_workgroup(fault.at);
        match (self.robustness, outcome.possible_faults.iter().find(is_outside)) {
            (Robustness::None, Some(fault)) => (Robustness::Access, Some(fault.at)),
            (asked, _) => (asked, None),
        }
    }

    /// Runs a dispatch with this outcome. Returns the access for which the device had robust access, too.
    ///
    /// # Errors
    /// As [`Target::run`].
    pub(crate) fn run_safely(
        &self,
        dispatch: &mut Dispatch,
        allocated: Option<&AllocatedDispatch>,
        outcome: &Outcome,
        target: &dyn Target,
    ) -> Result<(DispatchOutput, Option<Place>), TargetError> {
        let asked = dispatch.robustness;
        if let (robustness, Some(place)) = self.safe_robustness(outcome) {
            dispatch.robustness = robustness;
            let ran = target.run(&self.request(dispatch, allocated));
            dispatch.robustness = asked;
            // Few devices lack robust access.
            if !matches!(ran, Err(TargetError::Unsupported(_))) {
                return ran.map(|output| (output, Some(place)));
            }
        }
        target.run(&self.request(dispatch, allocated)).map(|output| (output, None))
    }
}
