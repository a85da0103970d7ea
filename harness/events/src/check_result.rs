//! Results of checks of users' shaders: part of the schema of `results.jsonl`.

use crate::{
    ClassCount, Example, ExecutedInstructions, MutationScore, Picture, PossibleFault, Repeat, Status, Times,
    TracedInstructions, Writes, class_names, says_enough,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of a check of a shader.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct CheckResult {
    /// Path of the file, or name of the case.
    pub name: String,
    /// Outcome.
    pub status: Status,
    /// The reason in one line, for every status except `Pass`.
    pub reason: Option<String>,
    /// Name of the entry point.
    pub entry: String,
    /// Workgroups along x, y and z.
    pub workgroups: [u32; 3],
    /// Invocations of a workgroup along x, y and z.
    pub workgroup_size: [u32; 3],
    /// Number of rounds, each with different inputs.
    pub rounds: u32,
    /// Number of rounds in which a result was judged that could have come out wrong; `unjudged`
    /// explains the others.
    pub rounds_checked: u32,
    /// Rounds that say nothing about the device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<UnjudgedRound>,
    /// The seed of the inputs.
    pub seed: u64,
    /// Number of elements (scalars of buffers) that were compared with their permitted sets, over
    /// all rounds; also those that the shader did not write.
    pub elements_checked: u64,
    /// Number of elements without a known permitted set; `undetermined` gives the causes.
    pub elements_undetermined: u64,
    /// Number of elements that no reading permits.
    pub elements_failing: u64,
    /// Number of elements that only a lenient reading permits.
    pub elements_warning: u64,
    /// Elements that the shader wrote; `None` in results of versions of Assay that did not count
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Writes>,
    /// The first failing and warning elements; failing ones come first, in each group by round,
    /// buffer and element.
    pub mismatches: Vec<Mismatch>,
    /// All failing and warning elements, by class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassCount>,
    /// Causes of undetermined elements.
    pub undetermined: Vec<UndeterminedElements>,
    /// Instructions whose result on the device is not permitted for the device's own operands, as
    /// recorded by a trace; earliest first.
    pub blamed: Vec<Blame>,
    /// Derivation of the first element that is not permitted, if it was requested.
    pub derivation: Vec<DerivationStep>,
    /// Further information, such as rounds that were not run.
    pub notes: Vec<String>,
    /// Number of instructions that the oracle executed, counted for each invocation.
    pub instructions: u64,
    /// Set if an interruption ended the check or its confirmation; a resumed run runs it again.
    #[serde(default, skip_serializing_if = "crate::skip::is_false")]
    pub partial: bool,
    /// Instructions of the shader that were executed; `None` if no round was judged, and in results
    /// of versions of Assay that did not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executed: Option<ExecutedInstructions>,
    /// Share of planted errors that the check would notice; `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutations: Option<MutationScore>,
    /// An instruction that may have undefined behaviour, as far as Assay followed the shader: its
    /// operands, or whether it is executed, are undetermined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub possible_fault: Option<PossibleFault>,
    /// The end of the driver (`Crash`, `Timeout` or `DeviceLost`) that is not held against the
    /// device, because the shader may have undefined behaviour, or because the device received a changed
    /// shader; `status` is `Undetermined` then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excused: Option<Status>,
    /// Check of the instructions by themselves, where the output of the shader says little.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traced: Option<TracedInstructions>,
    /// Result of the confirmation; `None` if the check was run once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Box<Repeat>>,
    /// For a failing result that is an image: expected values, actual values, and the difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Box<Picture>>,
    /// Options of the command line that set the parameters that a search chose, and the values that the
    /// text leaves open; `None` if nothing was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
    /// Parameters of the shader in push constants and uniform buffers, or at the beginning of storage
    /// buffers, with their values in each round if they differ: `size=16, scale=0.5/1.25`. `None` if
    /// there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<String>,
    /// The compiler that made the module of the shader's text, with its version and command; `None` if
    /// the file holds a module, or Assay compiled the text itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    /// The checked part of the dispatch, if only some invocations were checked; `None` if all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<WorkgroupSubset>,
    /// Duration by part; `check` is that of the oracle.
    pub times: Times,
}

/// A round that says nothing about the device.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct UnjudgedRound {
    /// The round, from 0.
    pub round: u32,
    /// Reason, worded as a predicate of `round 0`: `wrote nothing`.
    pub why: String,
}

/// The checked part of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct WorkgroupSubset {
    /// Number of workgroups whose results were checked.
    pub workgroups: u64,
    /// Number of workgroups of the dispatch.
    pub of: u64,
    /// Number of invocations in each of these workgroups whose results were checked; `None` if all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocations: Option<u64>,
    /// Number of elements that only other invocations may write, over all rounds; they were not
    /// checked.
    pub elements_beyond: u64,
}

/// An element that is not permitted or not expected; bits in hexadecimal.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Mismatch {
    /// `QualityWarning` or `Fail`.
    pub status: Status,
    /// Index of the round, from 0.
    pub round: u32,
    /// The buffer: `set 0 binding 1 (sums)`.
    pub buffer: String,
    /// Path of the element in the buffer: `[3].x`.
    pub element: String,
    /// Offset in bytes.
    pub offset: u64,
    /// Its type: `f32`.
    pub scalar: String,
    /// Index in the dispatch of the invocation that wrote it, if a trace recorded it.
    pub invocation: Option<u64>,
    /// Bits before the dispatch.
    pub before: String,
    /// Bits after the dispatch.
    pub got: String,
    /// Permitted results: ranges of bit patterns, lowest value first; `["nan", "nan"]` for any NaN.
    pub permitted: Vec<[String; 2]>,
    /// Class of the error, such as `FewUlp`, or `Unwritten` if the element still has its earlier
    /// contents.
    pub class: String,
    /// Origin of the violated requirement: `specification` or `case`.
    pub by: String,
}

impl Mismatch {
    /// Value of [`Mismatch::by`] if the specification does not permit the element.
    pub const SPECIFICATION: &str = "specification";

    /// Returns true if the specification does not permit the element; otherwise the case file does
    /// not expect it.
    pub fn is_against_the_specification(&self) -> bool {
        self.by == Mismatch::SPECIFICATION
    }

    /// Returns its position: buffer, element and byte.
    pub fn position_text(&self) -> String {
        let Mismatch { buffer, element, offset, .. } = self;
        format!("{buffer} {element} at byte {offset}")
    }

    /// Returns it as an example of its class.
    pub fn example(&self) -> Example {
        Example {
            operands: vec![format!("{}, {} before", self.position_text(), self.before)],
            slot: 0,
            scalar: Some(self.scalar.clone()),
            got: self.got.clone(),
            permitted: self.permitted.clone(),
            margin: None,
            call: None,
        }
    }
}

impl CheckResult {
    /// Returns true if the shader's interface is known: it was read and compiled.
    pub fn is_prepared(&self) -> bool {
        !self.entry.is_empty()
    }

    /// Returns whether the verdict says something about the shader: it is a Fail, or
    /// [`says_enough`].
    pub fn is_meaningful(&self) -> bool {
        let CheckResult { writes, executed, mutations, traced, .. } = self;
        let enough = || says_enough(writes.as_ref(), executed.as_ref(), mutations.as_ref(), traced.as_ref());
        self.status == Status::Fail || self.status.has_verdict() && enough()
    }

    /// Returns the result of a shader that was not run, about whose interface nothing is known.
    pub fn not_run(name: String, status: Status, reason: String, seed: u64) -> CheckResult {
        CheckResult {
            name,
            status,
            reason: Some(reason),
            entry: String::new(),
            workgroups: [0; 3],
            workgroup_size: [0; 3],
            rounds: 0,
            rounds_checked: 0,
            unjudged: Vec::new(),
            seed,
            elements_checked: 0,
            elements_undetermined: 0,
            elements_failing: 0,
            elements_warning: 0,
            writes: None,
            mismatches: Vec::new(),
            classes: Vec::new(),
            undetermined: Vec::new(),
            blamed: Vec::new(),
            derivation: Vec::new(),
            notes: Vec::new(),
            instructions: 0,
            partial: false,
            repeat: None,
            picture: None,
            executed: None,
            mutations: None,
            possible_fault: None,
            excused: None,
            traced: None,
            chosen: None,
            parameters: None,
            compiler: None,
            sampled: None,
            times: Times::default(),
        }
    }

    /// Does not hold the end of the driver against the device, for a reason that is a clause.
    pub fn excuse(&mut self, why: &str) {
        self.excused = Some(std::mem::replace(&mut self.status, Status::Undetermined));
        let reason = self.reason.take().unwrap_or_default();
        self.reason = Some(format!("{reason}; {why}, so this is not held against the device"));
    }

    /// Returns true if elements fail, but only because the case file expects something else.
    pub fn fails_only_the_case(&self) -> bool {
        let of_the_case =
            |of: &ClassCount| [class_names::EXPECTATION, class_names::NEVER_EXPECTED].contains(&of.class.as_str());
        let mut failing = self.classes.iter().filter(|of| of.status == Status::Fail).peekable();
        failing.peek().is_some() && failing.all(of_the_case)
    }

    /// Returns the number of rounds, and why the output of some was not judged: `2 rounds`, or
    /// `2 rounds; round 0 wrote nothing`.
    pub fn rounds_text(&self) -> String {
        let plural = if self.rounds == 1 { "" } else { "s" };
        let rounds = format!("{} round{plural}", self.rounds);
        if self.unjudged.is_empty() && self.rounds_checked < self.rounds {
            return format!("{rounds}, {} of them checked", self.rounds_checked);
        }
        let alike = self.unjudged.chunk_by(|one, next| one.why == next.why);
        let why = alike.map(|rounds| {
            let numbers: Vec<String> = rounds.iter().map(|one| one.round.to_string()).collect();
            format!("; round{} {} {}", if rounds.len() == 1 { "" } else { "s" }, numbers.join(", "), rounds[0].why)
        });
        why.fold(rounds, |text, one| text + &one)
    }
}

/// A cause of undetermined elements.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct UndeterminedElements {
    /// Kind of cause.
    pub cause: String,
    /// The instruction that introduced the cause.
    pub place: String,
    /// Number of elements.
    pub elements: u64,
}

/// An instruction whose result on the device is not permitted for the device's operands.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Blame {
    /// Index of the instruction in the module.
    pub instruction: u32,
    /// Its name: `OpFMul`, `Exp2`.
    pub name: String,
    /// Position of the instruction in the source.
    pub place: String,
    /// Number of recorded executions with a result that is not permitted.
    pub wrong: u64,
    /// Number of recorded executions: all of each invocation, or the last ones if there are very
    /// many.
    pub recorded: u64,
    /// One wrong execution.
    pub example: BlameExample,
}

/// An instruction on which a wrong element depends, in the invocation that wrote it; bits in
/// hexadecimal, component by component.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct DerivationStep {
    /// Its name.
    pub name: String,
    /// Position of the instruction in the source.
    pub place: String,
    /// The device's operands without constants.
    pub operands: Vec<Vec<String>>,
    /// The device's result.
    pub result: Vec<String>,
    /// Type of the result's components.
    pub scalar: String,
    /// Permitted results for these operands, by component.
    pub permitted: Vec<Vec<[String; 2]>>,
    /// Set if the result is permitted; `None` if that is unknown.
    pub within: Option<bool>,
}

/// One wrong execution; bits in hexadecimal, component by component.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct BlameExample {
    /// Index of the invocation in the dispatch.
    pub invocation: u64,
    /// The operands, each with its components.
    pub operands: Vec<Vec<String>>,
    /// Index of the component of the result.
    pub component: usize,
    /// The device's result.
    pub got: String,
    /// Permitted results.
    pub permitted: Vec<[String; 2]>,
    /// Type of the result's components.
    pub scalar: String,
}
