//! What a check of a user's shader came to: part of the schema of `results.jsonl`.

use crate::{ClassCount, Example, Picture, Repeat, Status, Times, class};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything that the verdict on a shader carries.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct CheckResult {
    /// The file, or the case's name.
    pub name: String,
    /// What it did.
    pub status: Status,
    /// Why, for every status but `Pass`: one line.
    pub reason: Option<String>,
    /// The entry point.
    pub entry: String,
    /// Workgroups along x, y and z.
    pub workgroups: [u32; 3],
    /// Invocations of a workgroup along x, y and z.
    pub workgroup_size: [u32; 3],
    /// Rounds, each with other inputs.
    pub rounds: u32,
    /// Rounds whose results were checked; the rest is in `notes`.
    pub rounds_checked: u32,
    /// The seed of the inputs.
    pub seed: u64,
    /// Elements (scalars of buffers) held against what is permitted, all rounds together.
    pub elements_checked: u64,
    /// Elements of which nothing can be said; why is in `undetermined`.
    pub elements_undetermined: u64,
    /// Elements outside every reading.
    pub elements_failing: u64,
    /// Elements that only a lenient reading permits.
    pub elements_warning: u64,
    /// The first of those, what fails before what only warns; each by round, buffer and place.
    pub mismatches: Vec<Mismatch>,
    /// All elements that fail or warn, by class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassCount>,
    /// Why elements were not determined.
    pub undetermined: Vec<Undetermined>,
    /// The instructions that a trace found wrong, given the device's own operands; earliest first.
    pub blamed: Vec<Blame>,
    /// How the first element that is not permitted came about, where that was asked for.
    pub derivation: Vec<Derived>,
    /// What else is worth knowing, such as rounds that were not run.
    pub notes: Vec<String>,
    /// Instructions that the oracle executed, counted once for each invocation.
    pub instructions: u64,
    /// Whether an interruption ended it, or the runs that were to confirm it: a resumed run runs it again.
    #[serde(default, skip_serializing_if = "crate::event::is_false")]
    pub partial: bool,
    /// What came of running it again, if it failed and was; `None` if it was run once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Box<Repeat>>,
    /// Of a failing result that is an image: expected, got and where they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Box<Picture>>,
    /// Where only some workgroups were checked: which part that is. `None`: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sampled>,
    /// Times; `check` is the oracle's.
    pub times: Times,
}

/// The part of a dispatch that was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Sampled {
    /// Workgroups whose results were checked.
    pub workgroups: u64,
    /// Workgroups of the dispatch.
    pub of: u64,
    /// Elements that only other workgroups may write, all rounds together: nothing is said of them.
    pub elements_beyond: u64,
}

/// An element that is not as it should be; bits in hexadecimal.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Mismatch {
    /// `QualityWarning` or `Fail`.
    pub status: Status,
    /// The round, from 0.
    pub round: u32,
    /// The buffer: `set 0 binding 1 (sums)`.
    pub buffer: String,
    /// The path in it: `[3].x`.
    pub element: String,
    /// Offset in bytes.
    pub offset: u64,
    /// Its type: `f32`.
    pub scalar: String,
    /// The invocation that wrote it, counted through the dispatch, where a trace shows it.
    pub invocation: Option<u64>,
    /// What was there before the dispatch.
    pub before: String,
    /// What the device left.
    pub got: String,
    /// What is permitted: ranges of bit patterns, lowest value first; `["nan", "nan"]` for any NaN.
    pub permitted: Vec<[String; 2]>,
    /// How it is wrong, such as `FewUlp`, or `Unwritten` where the device left what was there before.
    pub class: String,
    /// Whose expectation it breaks: `specification` or `case`.
    pub by: String,
}

impl Mismatch {
    /// What [`Mismatch::by`] is where the specification does not permit the element.
    pub const SPECIFICATION: &str = "specification";

    /// Whether the specification does not permit the element; else it is what the case file does not expect.
    pub fn is_against_the_specification(&self) -> bool {
        self.by == Mismatch::SPECIFICATION
    }

    /// Where it is: buffer, element and byte.
    pub fn place(&self) -> String {
        let Mismatch { buffer, element, offset, .. } = self;
        format!("{buffer} {element} at byte {offset}")
    }

    /// As an example of its class, but for how it is run again.
    pub fn example(&self) -> Example {
        Example {
            operands: vec![format!("{}, {} before", self.place(), self.before)],
            slot: 0,
            scalar: Some(self.scalar.clone()),
            got: self.got.clone(),
            permitted: self.permitted.clone(),
            margin: None,
            explain: String::new(),
        }
    }
}

impl CheckResult {
    /// Whether elements fail, and none of them for the specification's sake: the case file expects something else.
    pub fn fails_only_the_case(&self) -> bool {
        let mut failing = self.classes.iter().filter(|of| of.status == Status::Fail).peekable();
        failing.peek().is_some() && failing.all(|of| of.class == class::EXPECTATION)
    }
}

/// Why elements were not determined.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Undetermined {
    /// What kind of reason.
    pub cause: String,
    /// The instruction at which it began.
    pub place: String,
    /// How many elements.
    pub elements: u64,
}

/// An instruction whose result on the device is not permitted for the operands that the device had.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Blame {
    /// The instruction, by its place in the module.
    pub instruction: u32,
    /// Its name: `OpFMul`, `Exp2`.
    pub name: String,
    /// Where it stands in the source.
    pub place: String,
    /// Executions of it with a result that is not permitted, of those recorded.
    pub wrong: u64,
    /// Executions recorded: all of each invocation, or the last ones where there are very many.
    pub recorded: u64,
    /// One of them: the invocation's global id, operands, result and what is permitted.
    pub example: BlameExample,
}

/// An instruction that a wrong element depends on, in the invocation that wrote it; bits in hexadecimal, component by
/// component.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Derived {
    /// Its name.
    pub name: String,
    /// Where it stands in the source.
    pub place: String,
    /// The operands that the device had; constants are left out.
    pub operands: Vec<Vec<String>>,
    /// What the device computed.
    pub result: Vec<String>,
    /// Type of the result's components.
    pub scalar: String,
    /// What is permitted for these operands, by component.
    pub permitted: Vec<Vec<[String; 2]>>,
    /// Whether the result is permitted; `None` where nothing can be said.
    pub within: Option<bool>,
}

/// One wrong execution; bits in hexadecimal, component by component.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct BlameExample {
    /// The invocation, counted through the dispatch.
    pub invocation: u64,
    /// The operands, each with its components.
    pub operands: Vec<Vec<String>>,
    /// The component of the result.
    pub component: usize,
    /// What the device computed.
    pub got: String,
    /// What is permitted.
    pub permitted: Vec<[String; 2]>,
    /// Type of the result's components.
    pub scalar: String,
}
