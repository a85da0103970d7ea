//! What a run tells its reporters. The serialised form of these types is the schema of `results.jsonl`.

use crate::{CheckResult, Picture};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the serialised form; raised when a reader of the old form would misread the new one.
pub const SCHEMA: u32 = 1;

/// The specification whose text the precision table follows.
pub const SPECIFICATION: &str = "Vulkan 1.4.360";

/// The specification whose text WGSL's accuracy table follows: the editor's draft of that day.
pub const WGSL_SPECIFICATION: &str = "WGSL, editor's draft of 2026-08-19";

/// What the case did, in deqp's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
pub enum Status {
    /// Every checked result is permitted.
    Pass,
    /// Only a lenient reading of the text permits some results.
    QualityWarning,
    /// Some results are not permitted.
    Fail,
    /// The device lacks what the case needs.
    NotSupported,
    /// The driver ended the process.
    Crash,
    /// The time limit passed.
    Timeout,
    /// The device was lost.
    DeviceLost,
    /// The harness is at fault, or a validation layer objected.
    InternalError,
    /// Nothing that was checked could be decided.
    Undetermined,
}

/// One result scalar with what it belongs to; bits in hexadecimal (`0x3f800000`).
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Example {
    /// Bits of all operand slots; of a program, the place of the element in words.
    pub operands: Vec<String>,
    /// The result slot.
    pub slot: usize,
    /// Of a program, the type of the element: `f32`. Else the case's types say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scalar: Option<String>,
    /// What the device returned.
    pub got: String,
    /// What is permitted: ranges of bit patterns, lowest value first.
    pub permitted: Vec<[String; 2]>,
    /// Error over bound; infinite where no error is permitted and there is one (`"inf"` in JSON, which has no infinity).
    #[serde(with = "margin")]
    #[schemars(with = "Option<margin::Json>")]
    pub margin: Option<f64>,
    /// The command that derives the permitted set; of a program, the one that runs it alone; of a check, empty.
    pub explain: String,
}

/// Failing and warning scalars of one class.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ClassCount {
    /// `QualityWarning` or `Fail`.
    pub status: Status,
    /// The class, such as `FewUlp`.
    pub class: String,
    /// How many scalars.
    pub count: u64,
    /// The worst of them.
    pub examples: Vec<Example>,
}

/// Seconds that a case took, part by part; parts overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Times {
    /// From start to end.
    pub wall: f64,
    /// Building shaders and pipelines.
    pub build: f64,
    /// Waiting for or running on the device.
    pub device: f64,
    /// Checking, summed over threads.
    pub check: f64,
    /// Of the seconds of the device, those in which results were being checked, of this case or another.
    #[serde(default)]
    pub overlap: f64,
}

/// Everything a verdict carries.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct CaseResult {
    /// The case's name.
    pub name: String,
    /// What it did.
    pub status: Status,
    /// Why, for every status but `Pass`: one line.
    pub reason: Option<String>,
    /// The instruction, as SPIR-V spells it; of a program, the one that it is about.
    pub instruction: String,
    /// Types of results and operands: `f32 <- f32, f32`.
    pub types: String,
    /// The modes declared: `default`, or SPIR-V names joined by `+`.
    pub modes: String,
    /// Where the operands came from: `buffer`, `constant`, `specconstant`.
    pub source: String,
    /// `vulkan` or `wgpu`.
    pub api: String,
    /// `native`, `lowered` or `reference`.
    pub path: String,
    /// The rule in words, from the table.
    pub rule: String,
    /// The clause of the specification.
    pub clause: String,
    /// Inputs run; of a program, elements of its memory that were held against something.
    pub inputs_tested: u64,
    /// Inputs that there are, as a decimal number (it may exceed 64 bits); empty of a program that did not run, where nobody knows.
    pub inputs_possible: String,
    /// Which part of the possible inputs was run, in words: `every input`, or how a sample was taken.
    pub coverage: String,
    /// Inputs with a failing scalar.
    pub failing_inputs: u64,
    /// Inputs with a warning and no failing scalar.
    pub warning_inputs: u64,
    /// Result scalars checked.
    pub scalars_checked: u64,
    /// Result scalars not checked because nothing is required of them.
    pub scalars_unchecked: u64,
    /// The result with the greatest error over bound.
    pub worst: Option<Example>,
    /// Failures and warnings by class.
    pub classes: Vec<ClassCount>,
    /// Chunks of inputs with failing results, those with the worst among them, in order: what is run again to see whether
    /// the same comes out. Not all of them, if there are many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_chunks: Vec<FailedChunk>,
    /// Where the errors lie; `None` if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Of a failing result that is an image: expected, got and where they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Box<Picture>>,
    /// The seed of the inputs.
    pub seed: u64,
    /// Whether an interruption ended it, or the runs that were to confirm it: a resumed run runs it again.
    #[serde(default, skip_serializing_if = "is_false")]
    pub partial: bool,
    /// What came of running it again, if it failed and was; `None` if it was run once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Box<Repeat>>,
    /// Times.
    pub times: Times,
}

/// The API of results that do not name theirs: there was no other when they were written.
fn vulkan() -> String {
    "vulkan".to_owned()
}

/// For serde, which asks with a reference.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

/// A chunk of a case's inputs in which something failed. Inputs of a case are divided into chunks in the same way each time,
/// and each is one dispatch.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct FailedChunk {
    /// Its number, from 0.
    pub chunk: u64,
    /// Inputs in it with a failing scalar.
    pub inputs: u64,
    /// A hash of those scalars, their operands and what the device returned, in hexadecimal: where it is the same, the same
    /// inputs failed with the same bits.
    pub fingerprint: String,
}

/// What came of running a failing case again, in processes of its own.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Repeat {
    /// What the runs say together.
    pub verdict: Repeated,
    /// The runs in the order in which they took place; the first was in the company of other cases.
    pub runs: Vec<OneRun>,
    /// For [`Repeated::InCompany`]: the cases that have to run before it in the same process, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// What runs of the same case say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub enum Repeated {
    /// It fails alone as it does in company; where it is known which inputs fail with which bits, with the same.
    Same,
    /// Runs differ, in what it did or in the bits of failing results, and nothing tells why.
    Flaky,
    /// It fails after certain other cases, and alone it does not.
    InCompany,
}

/// How a case came out once.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct OneRun {
    /// Cases that had begun in the same process before it.
    pub after: u64,
    /// Inputs that were run: fewer than in the first run where only chunks were run again in which something had failed.
    #[serde(default)]
    pub inputs: u64,
    /// What it did.
    pub status: Status,
    /// Why.
    pub reason: Option<String>,
}

impl CaseResult {
    /// The result of a case of which nothing was run, on the device itself; what the case is about is still to be said.
    pub fn blank(name: String, status: Status, seed: u64) -> CaseResult {
        CaseResult {
            name,
            status,
            reason: None,
            instruction: String::new(),
            types: String::new(),
            modes: "default".to_owned(),
            source: "buffer".to_owned(),
            api: "vulkan".to_owned(),
            path: "native".to_owned(),
            rule: String::new(),
            clause: String::new(),
            inputs_tested: 0,
            inputs_possible: String::new(),
            coverage: "none".to_owned(),
            failing_inputs: 0,
            warning_inputs: 0,
            scalars_checked: 0,
            scalars_unchecked: 0,
            worst: None,
            classes: Vec::new(),
            failed_chunks: Vec::new(),
            profile: None,
            picture: None,
            seed,
            partial: false,
            repeat: None,
            times: Times::default(),
        }
    }
}

/// Where the errors of a case lie.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Profile {
    /// The type of the first operand: `f32`.
    pub operand: String,
    /// The greatest error over bound in each 128th of the first operand's bit patterns, in the order of their values (of
    /// floats: negative NaNs, -inf .. -0, +0 .. +inf, NaNs), to three digits; `null` where there is none. At most 1e9.
    pub worst: Vec<Option<f64>>,
    /// How many results have no error, an error over bound up to 2^-10, 2^-9, .. 2^7, and more. Of ordered sweeps one
    /// in 128 is counted.
    pub errors: Vec<u64>,
}

/// Identity of the device and its driver, and what the run depends on.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// `deviceName`, and the API if it is another than Vulkan.
    pub name: String,
    /// What results come through: `vulkan` or `wgpu`.
    #[serde(default = "vulkan")]
    pub api: String,
    /// `VkPhysicalDeviceType`, as `discrete`, `integrated`, `virtual`, `cpu`, `other`.
    pub kind: String,
    /// `vendorID`.
    pub vendor_id: u32,
    /// `deviceID`.
    pub device_id: u32,
    /// `deviceUUID` in hexadecimal.
    pub uuid: String,
    /// `driverName`.
    pub driver_name: String,
    /// `driverInfo`.
    pub driver_info: String,
    /// `driverVersion`, as the driver encodes it.
    pub driver_version: u32,
    /// `apiVersion` as `major.minor.patch`.
    pub api_version: String,
    /// `conformanceVersion`.
    pub conformance_version: String,
    /// Feature names that are supported.
    pub features: Vec<String>,
    /// Extension names that are supported.
    pub extensions: Vec<String>,
    /// Properties by name, float controls among them.
    pub properties: BTreeMap<String, String>,
    /// `VK_*`, `MESA_*`, `LVP_*`, `LP_*`, `NIR_*` variables that were set.
    pub environment: BTreeMap<String, String>,
    /// The host's processor, which software drivers depend on.
    pub host_cpu: String,
}

impl DeviceInfo {
    /// The specification that results through its API are held against.
    pub fn specification(&self) -> &'static str {
        if self.api == "wgpu" { WGSL_SPECIFICATION } else { SPECIFICATION }
    }
}

/// What a run is, before its first case.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct RunInfo {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Version of Assay.
    pub version: String,
    /// [`DeviceInfo::specification`].
    pub specification: String,
    /// The device.
    pub device: DeviceInfo,
    /// `quick`, `sampled`, `exhaustive`.
    pub budget: String,
    /// The seed.
    pub seed: u64,
    /// Cases planned.
    pub cases: usize,
    /// The command line.
    pub command: Vec<String>,
    /// When it started, RFC 3339.
    pub started: String,
    /// A hash of the names of the planned cases and of what else decides their results, in hexadecimal: what was begun
    /// with one is not continued with another.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub selection: String,
    /// Which part of a larger run it is; `None` if it is a whole one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
}

/// Which part of a larger run this is, so that parts can be put together again.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Part {
    /// `hash:2/4`; several, in the order of their numbers, where some were joined already.
    pub of: Vec<String>,
    /// Cases of all parts together.
    pub cases: usize,
    /// A hash of the names of all those cases, in hexadecimal: parts belong together only if they agree in it.
    pub selection: String,
}

/// What happens in a run, in order.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// First.
    RunStarted(Box<RunInfo>),
    /// A case begins.
    CaseStarted {
        /// Its name.
        name: String,
        /// Inputs that it will run.
        inputs: u64,
    },
    /// More of a long case is done.
    CaseProgress {
        /// Its name.
        name: String,
        /// Inputs checked so far.
        done: u64,
        /// Inputs in all.
        inputs: u64,
    },
    /// A case ended.
    CaseFinished(Box<CaseResult>),
    /// A check of a user's shader ended; a partial one from a worker is what is known so far.
    CheckFinished(Box<CheckResult>),
    /// Last.
    RunFinished {
        /// Whether it was interrupted, so that planned cases are missing.
        interrupted: bool,
        /// Seconds from start to end.
        wall: f64,
    },
}

impl Event {
    /// The name, the status and the reason of a case or check that ended; `None` for other events.
    pub fn ended(&self) -> Option<(&str, Status, Option<&str>)> {
        match self {
            Event::CaseFinished(case) => Some((&case.name, case.status, case.reason.as_deref())),
            Event::CheckFinished(check) => Some((&check.name, check.status, check.reason.as_deref())),
            Event::RunStarted(_)
            | Event::CaseStarted { .. }
            | Event::CaseProgress { .. }
            | Event::RunFinished { .. } => None,
        }
    }

    /// Whether it is the end of a case that a resumed run has to run again.
    pub fn is_partial(&self) -> bool {
        match self {
            Event::CaseFinished(case) => case.partial,
            Event::CheckFinished(check) => check.partial,
            Event::RunStarted(_)
            | Event::CaseStarted { .. }
            | Event::CaseProgress { .. }
            | Event::RunFinished { .. } => false,
        }
    }

    /// Says of a case that ended that a resumed run has to run it again.
    pub fn set_partial(&mut self) {
        match self {
            Event::CaseFinished(case) => case.partial = true,
            Event::CheckFinished(check) => check.partial = true,
            Event::RunStarted(_)
            | Event::CaseStarted { .. }
            | Event::CaseProgress { .. }
            | Event::RunFinished { .. } => {}
        }
    }

    /// Says of a case that ended what came of running it again, and why it has its status.
    pub fn set_repeat(&mut self, of: Repeat, why: Option<String>) {
        let (reason, repeat) = match self {
            Event::CaseFinished(case) => (&mut case.reason, &mut case.repeat),
            Event::CheckFinished(check) => (&mut check.reason, &mut check.repeat),
            Event::RunStarted(_)
            | Event::CaseStarted { .. }
            | Event::CaseProgress { .. }
            | Event::RunFinished { .. } => {
                return;
            }
        };
        *repeat = Some(Box::new(of));
        if why.is_some() {
            *reason = why;
        }
    }
}

impl Status {
    /// Whether the case was checked, or ended badly before it could be: what counts as checked in a verdict on a run.
    pub fn is_checked(self) -> bool {
        !matches!(self, Status::NotSupported | Status::Undetermined)
    }

    /// Whether the run has failed if a case has this status and nothing expects it.
    pub fn is_failure(self) -> bool {
        match self {
            Status::Fail | Status::Crash | Status::Timeout | Status::DeviceLost | Status::InternalError => true,
            Status::Pass | Status::QualityWarning | Status::NotSupported | Status::Undetermined => false,
        }
    }
}

/// Takes events as they come. Reporters implement this.
pub trait Reporter {
    /// Takes one event.
    ///
    /// # Errors
    /// What it writes to is full or gone; the run stops.
    fn event(&mut self, event: &Event) -> std::io::Result<()>;
}

/// JSON has no infinity: left to itself, serde would write `null`, which means that there is no margin.
mod margin {
    use schemars::JsonSchema;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// A number, or the word `inf`.
    #[derive(JsonSchema, Serialize, Deserialize)]
    #[serde(untagged)]
    pub(super) enum Json {
        Number(f64),
        Word(Infinite),
    }

    #[derive(JsonSchema, Serialize, Deserialize)]
    pub(super) enum Infinite {
        #[serde(rename = "inf")]
        Inf,
    }

    pub(super) fn serialize<S: Serializer>(margin: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        let json = margin.filter(|m| !m.is_nan()).map(|m| match m.is_infinite() {
            true => Json::Word(Infinite::Inf),
            false => Json::Number(m),
        });
        json.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Json>::deserialize(deserializer)?.map(|json| match json {
            Json::Number(m) => m,
            Json::Word(Infinite::Inf) => f64::INFINITY,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_infinite_margin_survives_json() {
        for margin in [None, Some(0.5), Some(f64::INFINITY)] {
            let example = Example {
                operands: vec!["0x00000000".to_owned()],
                slot: 0,
                scalar: None,
                got: "0x00000001".to_owned(),
                permitted: Vec::new(),
                margin,
                explain: String::new(),
            };
            let json = serde_json::to_string(&example).expect("serialises");
            assert_eq!(serde_json::from_str::<Example>(&json).expect("reads back"), example, "{json}");
        }
    }
}
