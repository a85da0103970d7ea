//! Kinds of undefined behaviour in words.

use assay_oracle::{FaultKind, Outcome};

/// Description of a dynamic error in WGSL: an access out of bounds, a data race or an endless loop.
///
/// "Memory accesses will be restricted to (..) any part of a resource bound to a variable in the
/// WGSL module (..). Otherwise, the program may not behave as described in the rest of this
/// specification. These effects may be non-local" (WGSL, "Errors"). So no bound resource can be
/// checked. The outcomes in the note at "Out-of-Bounds Access" are examples, and a trap among them
/// also omits later stores of the invocation.
pub(crate) const DYNAMIC_ERROR: &str =
    "has a dynamic error (after which WGSL does not define the contents of bound resources)";

/// Description of a loop that exceeds the interpreter's limits, which is not a proof.
pub(crate) const SEEMS_ENDLESS: &str = "seems to run endlessly";

/// Description of a loop in which a state repeats.
pub(crate) const ENDLESS: &str = "runs endlessly";

/// Describes the faults of an outcome: endless loops, if there are no others.
pub(crate) fn description_of_faults(outcome: &Outcome) -> &'static str {
    let only = |kinds: &[FaultKind]| outcome.faults.iter().all(|fault| kinds.contains(&fault.kind));
    match () {
        () if only(&[FaultKind::Repetition]) => ENDLESS,
        () if only(&[FaultKind::Repetition, FaultKind::Endless]) => SEEMS_ENDLESS,
        () => "has undefined behaviour",
    }
}

/// Joins the lines of one fault from [`Check::faults`].
pub(crate) fn on_one_line(fault: &str) -> String {
    fault.lines().map(str::trim).collect::<Vec<_>>().join(": ")
}
