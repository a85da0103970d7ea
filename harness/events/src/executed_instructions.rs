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
    /// Places of the loops that were entered and whose bodies then ran once at most, on average: what one
    /// iteration leaves for the next was hardly checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loops_without_repetition: Vec<String>,
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

    /// Largest number of loops that a text lists.
    const LISTED: usize = 2;

    /// Returns whether a verdict says something about the shader: one in
    /// [`ExecutedInstructions::MEANINGFUL`] instructions was executed.
    pub fn is_meaningful(&self) -> bool {
        self.executed.saturating_mul(ExecutedInstructions::MEANINGFUL) >= self.instructions
    }

    /// Returns whether the instructions of a shader that wrote a number of elements did enough to be
    /// checked by themselves: nine in ten were executed and something was written, as by a reduction, or
    /// a meaningful share of them and [`Writes::FEW`] elements.
    pub fn did_much(&self, written: u64) -> bool {
        let nearly_all = self.executed.saturating_mul(10) >= self.instructions.saturating_mul(9);
        written > 0 && nearly_all || written >= Writes::FEW && self.is_meaningful()
    }
}

impl std::fmt::Display for ExecutedInstructions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ExecutedInstructions { executed, instructions, .. } = self;
        let plural = if *instructions == 1 { "" } else { "s" };
        write!(f, "executed {} of {} instruction{plural}", group_digits(executed), group_digits(instructions))?;
        let loops = &self.loops_without_repetition;
        let more = loops.len().saturating_sub(ExecutedInstructions::LISTED);
        match &loops[..loops.len() - more] {
            [] => return Ok(()),
            [one] => write!(f, "; the body of the loop at {one} ran at most once on average")?,
            some => write!(f, "; the bodies of the loops at {} ran at most once on average", some.join(" and "))?,
        }
        if more > 0 { write!(f, ", and {more} more") } else { Ok(()) }
    }
}

impl std::fmt::Display for SkippedCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let SkippedCode { branch, first, instructions, depends_on } = self;
        let plural = if *instructions == 1 { "" } else { "s" };
        let count = group_digits(instructions);
        let from = if first == branch { String::new() } else { format!(" from {first}") };
        write!(f, "the branch at {branch} never leads to {count} instruction{plural}{from}")?;
        match &depends_on[..] {
            [] => Ok(()),
            names => write!(f, "; it depends on {}", names.join(", ")),
        }
    }
}

/// Returns whether a verdict says something about its shader: the elements, the executed
/// instructions and the mutation score suffice, or the instructions were checked by themselves. The
/// counts are those of a [`CheckResult`](crate::CheckResult).
pub fn says_enough(
    writes: Option<&Writes>,
    executed: Option<&ExecutedInstructions>,
    mutations: Option<&MutationScore>,
    traced: Option<&TracedInstructions>,
) -> bool {
    let suffices = writes.is_some_and(Writes::is_meaningful)
        && executed.is_none_or(ExecutedInstructions::is_meaningful)
        && mutations.is_none_or(MutationScore::is_meaningful);
    suffices || traced.is_some_and(TracedInstructions::is_meaningful)
}

/// Mutation score of a check: errors were planted in computations of the shader, one at a time, and
/// the oracle interpreted the changed shader in place of a device. Values off by 1,000 ulp, integers
/// off by one and negated booleans are planted.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct MutationScore {
    /// Errors in floats.
    pub floats: PlantedErrors,
    /// Errors in integers and booleans.
    pub integers: PlantedErrors,
    /// Some of those that are not noticed, each with the option that plants it for a device:
    /// `OpFMul at blur.comp:53:5 (--mutate 'ulp:1000@word 420')`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unnoticed: Vec<String>,
    /// Reason why the score could not be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmeasured: Option<String>,
}

/// Errors planted in computations whose results have one kind of type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct PlantedErrors {
    /// Computations with a planted error whose effect is known: a sample of the executed ones.
    pub planted: u64,
    /// Those with an error that leads to a result that is not permitted.
    pub noticed: u64,
    /// Computations with a planted error whose effect is not known: results of the changed shader are
    /// undetermined.
    #[serde(default, skip_serializing_if = "crate::skip::is_zero")]
    pub unknown: u64,
}

impl PlantedErrors {
    /// Fewer errors of one kind are not judged by themselves.
    const FEW: u64 = 2;

    /// So many errors of one kind whose effects are not known do not count against those of the other.
    const FEW_UNKNOWN: u64 = 3;

    /// Returns whether the effects of at least half of the errors are known.
    fn is_known(self) -> bool {
        self.planted + self.unknown <= PlantedErrors::FEW_UNKNOWN || self.planted >= self.unknown
    }

    /// Returns the share that is noticed, in hundredths; `None` if none was planted.
    fn share(self) -> Option<u64> {
        (self.planted > 0).then(|| 100 * self.noticed / self.planted)
    }
}

impl MutationScore {
    /// Share of noticed errors that suffices for a meaningful verdict, in hundredths: half.
    pub const MEANINGFUL: u64 = 50;

    /// Returns a score that could not be measured.
    pub fn unmeasured(reason: &str) -> MutationScore {
        MutationScore { unmeasured: Some(reason.to_owned()), ..MutationScore::default() }
    }

    /// Returns whether an error was planted.
    pub fn has_planted(&self) -> bool {
        let PlantedErrors { planted, unknown, .. } = self.all();
        planted + unknown > 0
    }

    /// Returns whether the score is known, of all errors and of each kind.
    pub fn is_known(&self) -> bool {
        let PlantedErrors { planted, unknown, .. } = self.all();
        self.unmeasured.is_none() && planted >= unknown && self.floats.is_known() && self.integers.is_known()
    }

    /// Returns whether a verdict says something about the shader: half of the planted errors would
    /// be noticed, of all and of each kind, as far as is known.
    pub fn is_meaningful(&self) -> bool {
        self.is_known() && self.least_share() >= MutationScore::MEANINGFUL
    }

    /// Returns whether less than half of the errors in floats are noticed, and of those in integers and
    /// booleans.
    pub(crate) fn hidden_kinds(&self) -> [bool; 2] {
        let is_hidden = |share| share < MutationScore::MEANINGFUL;
        [self.floats, self.integers].map(|kind| kind.share().is_some_and(is_hidden))
    }

    /// Returns the least share of noticed errors, in hundredths: of all, of those in floats, or of
    /// those in integers and booleans.
    pub fn least_share(&self) -> u64 {
        let kinds = [self.floats, self.integers].into_iter().filter(|kind| kind.planted >= PlantedErrors::FEW);
        kinds.chain([self.all()]).filter_map(PlantedErrors::share).min().unwrap_or(100)
    }

    fn all(&self) -> PlantedErrors {
        let [floats, integers] = [self.floats, self.integers];
        PlantedErrors {
            planted: floats.planted + integers.planted,
            noticed: floats.noticed + integers.noticed,
            unknown: floats.unknown + integers.unknown,
        }
    }
}

impl std::fmt::Display for MutationScore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let MutationScore { floats, integers, unmeasured, .. } = self;
        if let Some(reason) = unmeasured {
            return write!(f, "it is not known if the output would show an error in a computation: {reason}");
        }
        let some = |PlantedErrors { planted, noticed, .. }: &PlantedErrors| format!("{noticed} of {planted}");
        match (floats.planted, integers.planted) {
            (_, 0) => write!(f, "the output shows {} errors planted in float computations", some(floats))?,
            (0, _) => write!(f, "the output shows {} errors planted in integer computations", some(integers))?,
            _ => write!(
                f,
                "the output shows {} errors planted in float computations and {} in integer ones",
                some(floats),
                some(integers)
            )?,
        }
        match floats.unknown + integers.unknown {
            0 => Ok(()),
            1 => write!(f, "; 1 other leaves it undetermined"),
            unknown => write!(f, "; {unknown} others leave it undetermined"),
        }
    }
}

/// An instruction of a shader that may have undefined behaviour.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct PossibleFault {
    /// Location of the instruction.
    pub place: String,
    /// Kind of undefined behaviour: `data race`; `None` if it may be any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Means by which a variant of the shader excludes its undefined behaviour, and that of all other
    /// instructions; `None` if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded_by: Option<FaultExclusion>,
    /// Set if the place that it accesses depends on the result of an atomic.
    #[serde(default, skip_serializing_if = "crate::skip::is_false")]
    pub by_atomic: bool,
}

/// Means by which a variant of a shader has no undefined behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultExclusion {
    /// Operands with which an instruction is undefined are replaced.
    Guards,
    /// Beside that, invocations access the memory that they share by atomics.
    AtomicAccesses,
}

impl std::fmt::Display for FaultExclusion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FaultExclusion::Guards => "guards",
            FaultExclusion::AtomicAccesses => "guards and atomic accesses to memory that invocations share",
        })
    }
}

impl PossibleFault {
    /// Returns a clause: `the shader may have undefined behaviour at a.comp:7, where ..`.
    pub fn clause(&self) -> String {
        let why = match self.kind {
            Some(_) => "where Assay cannot determine the operands",
            None => "where Assay gave up following it",
        };
        format!("the shader may have {self}, {why}")
    }
}

impl std::fmt::Display for PossibleFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            Some(kind) => write!(f, "undefined behaviour ({kind}) at {}", self.place),
            None => write!(f, "undefined behaviour after {}", self.place),
        }
    }
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
    /// Instructions that can be recorded, and that no invocation of the device executed.
    #[serde(default, skip_serializing_if = "crate::skip::is_zero")]
    pub unexecuted: u64,
    /// Scalar results that only a lenient reading permits.
    #[serde(default, skip_serializing_if = "crate::skip::is_zero")]
    pub lenient: u64,
    /// The instruction that gave most of these: `OpFDiv at blur.comp:3:4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_lenient: Option<String>,
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
        let TracedInstructions { instructions, of, results, unexecuted, .. } = self;
        let [instructions, of, results] = [instructions, of, results].map(group_digits);
        write!(f, "{instructions} of {of} computations ({results} results")?;
        match unexecuted {
            0 => f.write_str(")"),
            _ => write!(f, "; {} did not run)", group_digits(unexecuted)),
        }
    }
}
