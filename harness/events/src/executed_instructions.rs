//! Executed instructions of a shader, and those whose own results were checked.

use crate::{Writes, group_digits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Instructions of a shader that some invocation executed, over all rounds, as the oracle
/// interpreted it.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ExecutedInstructions {
    /// Instructions of the shader, except those that a branch on a constant excludes.
    pub instructions: u64,
    /// Those that some invocation executed.
    pub executed: u64,
    /// The branch that skips most of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<SkippedCode>,
}

/// Code to which a branch never led.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct SkippedCode {
    /// Place of the branch: `blur.comp:53:5: if (id.x >= size)`.
    pub branch: String,
    /// Place of the first instruction of the code.
    pub first: String,
    /// Instructions of the code, with those of the functions that only it calls.
    pub instructions: u64,
    /// Parameters on which the branch depends: `push constant size`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
}

impl ExecutedInstructions {
    /// Reciprocal of the smallest share of instructions on which a meaningful verdict rests: half.
    pub const MEANINGFUL: u64 = 2;

    /// Returns whether a verdict says something about the shader: one in
    /// [`ExecutedInstructions::MEANINGFUL`] instructions was executed.
    pub fn is_meaningful(&self) -> bool {
        self.executed.saturating_mul(ExecutedInstructions::MEANINGFUL) >= self.instructions
    }
}

impl std::fmt::Display for ExecutedInstructions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ExecutedInstructions { executed, instructions, .. } = self;
        let plural = if *instructions == 1 { "" } else { "s" };
        write!(f, "executed {} of {} instruction{plural}", group_digits(executed), group_digits(instructions))
    }
}

impl std::fmt::Display for SkippedCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let SkippedCode { branch, first, instructions, depends_on } = self;
        let plural = if *instructions == 1 { "" } else { "s" };
        let count = group_digits(instructions);
        write!(f, "the branch at {branch} never leads to {count} instruction{plural} from {first}")?;
        match &depends_on[..] {
            [] => Ok(()),
            names => write!(f, "; it depends on {}", names.join(", ")),
        }
    }
}

/// Returns whether a verdict says something about its shader: the elements and the executed
/// instructions suffice, or the instructions were checked by themselves. The counts are those of a
/// [`CheckResult`](crate::CheckResult).
pub fn says_enough(
    writes: Option<&Writes>,
    executed: Option<&ExecutedInstructions>,
    traced: Option<&TracedInstructions>,
) -> bool {
    let suffices =
        writes.is_some_and(Writes::is_meaningful) && executed.is_none_or(ExecutedInstructions::is_meaningful);
    suffices || traced.is_some_and(TracedInstructions::is_meaningful)
}

/// An instruction of a shader that may have undefined behaviour.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct PossibleFault {
    /// Location of the instruction.
    pub place: String,
    /// Set if a variant of the shader with guards excludes its undefined behaviour, and that of all
    /// other instructions.
    pub is_guardable: bool,
}

/// Check of instructions by themselves: an instrumented variant of the shader recorded the operands
/// and the result of each instruction that computes a number, and each result was compared with the
/// permitted results for its recorded operands.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct TracedInstructions {
    /// Instructions with a result that could have come out wrong.
    pub instructions: u64,
    /// Instructions that can be recorded, executed or not.
    pub of: u64,
    /// Scalar results that could have come out wrong.
    pub results: u64,
    /// Scalar results that only a lenient reading permits.
    #[serde(default, skip_serializing_if = "crate::skip::is_zero")]
    pub lenient: u64,
    /// Names of the instructions that compute a value and could not be recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unrecorded: Vec<String>,
}

impl TracedInstructions {
    /// Returns whether the check says something about the shader: it covers half of the
    /// instructions that can be recorded.
    pub fn is_meaningful(&self) -> bool {
        self.results > 0 && self.instructions.saturating_mul(ExecutedInstructions::MEANINGFUL) >= self.of
    }
}

impl std::fmt::Display for TracedInstructions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let TracedInstructions { instructions, of, results, .. } = self;
        let [instructions, of, results] = [instructions, of, results].map(group_digits);
        write!(f, "{results} results of {instructions} of {of} computations")
    }
}
