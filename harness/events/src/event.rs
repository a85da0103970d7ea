//! Events that a run reports. The serialised form of these types is the schema of `results.jsonl`.

use crate::{CheckResult, ExampleCall, Picture, RunSettings, example_call};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the serialised form; raised if a reader of the old form would misread the new one.
pub const SCHEMA: u32 = 3;

/// The specification that the precision table follows.
pub const SPECIFICATION: &str = "Vulkan 1.4.360";

/// The specification that WGSL's accuracy table follows: the editor's draft of that day.
pub const WGSL_SPECIFICATION: &str = "WGSL, editor's draft of 2026-08-19";

/// Outcome of a case, in deqp's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
pub enum Status {
    /// Every checked result is permitted.
    Pass,
    /// Some results are permitted only by a lenient reading of the text.
    QualityWarning,
    /// Some results are not permitted.
    Fail,
    /// The device lacks a requirement of the case.
    NotSupported,
    /// The driver ended the process.
    Crash,
    /// The time limit passed.
    Timeout,
    /// The device was lost.
    DeviceLost,
    /// The harness failed, or a validation layer reported an error.
    InternalError,
    /// No checked result could be decided.
    Undetermined,
}

/// One result scalar with its operands; bits in hexadecimal (`0x3f800000`).
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Example {
    /// Bits of all operand slots; for a program, the position of the element in words.
    pub operands: Vec<String>,
    /// Index of the result slot.
    pub slot: usize,
    /// For a program, the type of the element: `f32`. Otherwise the types of the case state it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scalar: Option<String>,
    /// Bits that the device returned.
    pub got: String,
    /// Permitted results: ranges of bit patterns, lowest value first.
    pub permitted: Vec<[String; 2]>,
    /// Error divided by its bound; infinite if no error is permitted and there is one (`"inf"` in
    /// JSON, which has no infinity).
    #[serde(with = "margin")]
    #[schemars(with = "Option<margin::Json>")]
    pub margin: Option<f64>,
    /// The call whose permitted set `assay explain` derives; `None` for an element of a program or
    /// a check.
    #[serde(
        default,
        alias = "explain",
        deserialize_with = "example_call::deserialize",
        skip_serializing_if = "Option::is_none"
    )]
    pub call: Option<ExampleCall>,
}

impl Example {
    /// Returns the command that derives the permitted set; `None` for an element of a program.
    pub fn explain_command(&self) -> Option<String> {
        Some(self.call.as_ref()?.command(&self.operands, Some(&self.got)))
    }
}

/// Failing and warning scalars of one class.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ClassCount {
    /// `QualityWarning` or `Fail`.
    pub status: Status,
    /// Name of the class, such as `FewUlp`.
    pub class: String,
    /// Number of scalars.
    pub count: u64,
    /// The scalars with the largest errors.
    pub examples: Vec<Example>,
    /// The same scalars by the region of their operands. Empty for programs and checks, whose
    /// elements have no operands, and in results of versions of Assay that did not count them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<RegionCount>,
}

/// Scalars of one class whose operands lie in one region.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct RegionCount {
    /// Region of the operands that a scalar depends on: `Nan`, `Infinite`, `Denormal`, `Zero`,
    /// `NearOverflow` and `NearUnderflow` (the two highest and the two lowest binades of normal
    /// numbers), `Large` (integers only), `Moderate` or, without a float operand, `Integer`. The
    /// first of these that an operand is in.
    pub region: String,
    /// Number of scalars.
    pub count: u64,
    /// The scalar with the largest error; among equal errors the one with the simplest operands.
    pub example: Example,
}

/// Duration of a case in seconds, by part; the parts overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Times {
    /// From start to end.
    pub wall: f64,
    /// Building shaders and pipelines.
    pub build: f64,
    /// Waiting for the device or running on it.
    pub device: f64,
    /// Checking, summed over threads.
    pub check: f64,
    /// Part of the device's seconds during which results of this or another case were being
    /// checked.
    #[serde(default)]
    pub overlap: f64,
    /// Search for parameters of a shader.
    #[serde(default, skip_serializing_if = "is_none_spent")]
    pub search: f64,
}

/// Returns true for no time at all, which is not written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none_spent(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// Result of one case.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct CaseResult {
    /// The case's name.
    pub name: String,
    /// Outcome.
    pub status: Status,
    /// The reason in one line, for every status except `Pass`.
    pub reason: Option<String>,
    /// The instruction, as SPIR-V spells it; for a program, its subject.
    pub instruction: String,
    /// Types of results and operands: `f32 <- f32, f32`.
    pub types: String,
    /// The declared modes: `default`, or SPIR-V names joined by `+`.
    pub modes: String,
    /// Source of the operands: `buffer`, `constant`, `specconstant`.
    pub source: String,
    /// `vulkan` or `wgpu`.
    pub api: String,
    /// `native`, `lowered` or `reference`.
    pub path: String,
    /// The rule in words, from the table.
    pub rule: String,
    /// The clause of the specification.
    pub clause: String,
    /// Inputs run; for a program, elements of its memory that were compared.
    pub inputs_tested: u64,
    /// Number of possible inputs as a decimal number, which can exceed 64 bits; empty for a program
    /// that did not run, because its count is unknown.
    pub inputs_possible: String,
    /// The part of the possible inputs that was run, in words: `every input`, or how it was
    /// sampled.
    pub coverage: String,
    /// Inputs with a failing scalar.
    pub failing_inputs: u64,
    /// Inputs with a warning and no failing scalar.
    pub warning_inputs: u64,
    /// Result scalars checked.
    pub scalars_checked: u64,
    /// Result scalars not checked because nothing is required of them.
    pub scalars_unchecked: u64,
    /// The result with the largest error divided by its bound.
    pub worst: Option<Example>,
    /// Failures and warnings by class.
    pub classes: Vec<ClassCount>,
    /// Chunks of inputs with failing results, in order, among them those with the largest errors. A
    /// confirmation runs these again and compares the results. If there are many, only some are
    /// listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_chunks: Vec<FailedChunk>,
    /// Growth of the greatest margin during a search for the worst inputs (budget `hunt`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub growth: Vec<GrowthStep>,
    /// Distribution of the errors; `None` if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// For a failing result that is an image: expected values, actual values, and the difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Box<Picture>>,
    /// The seed of the inputs.
    pub seed: u64,
    /// Set if an interruption ended the case or its confirmation; a resumed run runs it again.
    #[serde(default, skip_serializing_if = "crate::skip::is_false")]
    pub partial: bool,
    /// Result of the confirmation; `None` if the case was run once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Box<Repeat>>,
    /// Duration by part.
    pub times: Times,
}

/// The API of results that do not name one: when they were written there was no other.
fn vulkan() -> String {
    "vulkan".to_owned()
}

/// A chunk of a case's inputs with failing results. The inputs of a case are divided into chunks in
/// the same way each time, and each chunk is one dispatch.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct FailedChunk {
    /// Index of the chunk, from 0.
    pub chunk: u64,
    /// Inputs in it with a failing scalar.
    pub inputs: u64,
    /// A hash of the failing scalars, their operands and the device's results, in hexadecimal.
    /// Equal fingerprints mean that the same inputs failed with the same bits.
    pub fingerprint: String,
}

/// Result of a confirmation: the runs of a failing case in processes of its own.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Repeat {
    /// Conclusion from all runs.
    pub verdict: RepeatVerdict,
    /// The runs in chronological order; the first one ran among other cases.
    pub runs: Vec<RepeatRun>,
    /// For [`RepeatVerdict::InCompany`]: the cases that must run before it in the same process, in
    /// this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// Conclusion from several runs of the same case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub enum RepeatVerdict {
    /// The case fails alone as it does among others. If the failing inputs and bits are known, they
    /// are equal.
    Same,
    /// The runs differ in status or in the bits of failing results, for no known reason.
    Flaky,
    /// The case fails after certain other cases, but not alone.
    InCompany,
}

/// Outcome of one run of a case.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct RepeatRun {
    /// Number of cases that began in the same process before it.
    pub after: u64,
    /// Inputs that were run: fewer than in the first run if only the failing chunks were run again.
    #[serde(default)]
    pub inputs: u64,
    /// Outcome.
    pub status: Status,
    /// Reason for the outcome.
    pub reason: Option<String>,
}

impl CaseResult {
    /// Returns the result of a case without any run, for native Vulkan; the caller sets what
    /// describes the case.
    pub fn not_run(name: String, status: Status, seed: u64) -> CaseResult {
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
            growth: Vec::new(),
            profile: None,
            picture: None,
            seed,
            partial: false,
            repeat: None,
            times: Times::default(),
        }
    }
}

/// A step of the growth of the greatest margin.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct GrowthStep {
    /// Number of inputs run until then.
    pub inputs: u64,
    /// The margin; `inf` if a failing result has none.
    #[serde(with = "margin")]
    #[schemars(with = "Option<margin::Json>")]
    pub margin: Option<f64>,
    /// Operands in hexadecimal.
    pub operands: Vec<String>,
}

/// Distribution of the errors of a case.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Profile {
    /// The type of the first operand: `f32`.
    pub operand: String,
    /// The largest error divided by its bound in equal parts of the first operand's bit patterns,
    /// to three digits and at most 1e9; `null` if there is none. The patterns are in the order of
    /// their values; floats are ordered from negative NaNs over -inf .. -0 and +0 .. +inf to
    /// positive NaNs. Their number is a power of two: 512 for `f32`, `bf16` (each sign and binade)
    /// and `f64`, 128 for other types and in results of earlier versions of Assay.
    pub worst: Vec<Option<f64>>,
    /// Numbers of results by error divided by its bound: no error, up to 2^-10, 2^-9, .. 2^7, and
    /// more. Of ordered sweeps one result in 128 is counted.
    pub errors: Vec<u64>,
}

/// Identity of the device and its driver, and other properties that affect the run.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// `deviceName`, with the API if it is not Vulkan.
    pub name: String,
    /// API of the run: `vulkan` or `wgpu`.
    #[serde(default = "vulkan")]
    pub api: String,
    /// `VkPhysicalDeviceType` in lower case: `discrete gpu`, `integrated gpu`, `virtual gpu`, `cpu`
    /// or `other`.
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
    /// Names of the supported features.
    pub features: Vec<String>,
    /// Names of the supported extensions.
    pub extensions: Vec<String>,
    /// Properties by name, float controls among them.
    pub properties: BTreeMap<String, String>,
    /// Environment variables that affect the loader and Mesa's drivers: `VK_*`, `MESA_*`, `LVP_*`,
    /// `LP_*`, `NIR_*`, `GALLIUM_*`, `RADV_*`.
    pub environment: BTreeMap<String, String>,
    /// The host's processor, on which software drivers depend.
    pub host_cpu: String,
}

impl DeviceInfo {
    /// Value of [`DeviceInfo::api`] for devices through wgpu.
    pub const API_WGPU: &'static str = "wgpu";

    /// Returns the specification by which results of its API are judged.
    pub fn specification(&self) -> &'static str {
        if self.api == Self::API_WGPU { WGSL_SPECIFICATION } else { SPECIFICATION }
    }
}

/// The budget of a check of a shader, which has none to choose.
pub const CHECK_BUDGET: &str = "check";

/// Description of a run, before its first case.
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
    /// `quick`, `sampled`, `exhaustive`, `hunt`, or [`CHECK_BUDGET`].
    pub budget: String,
    /// The seed.
    pub seed: u64,
    /// Number of planned cases.
    pub cases: usize,
    /// The command line, for display.
    pub command: Vec<String>,
    /// The options of `assay run`; `None` for a check and in results of schema 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Box<RunSettings>>,
    /// Start time, RFC 3339.
    pub started: String,
    /// Name of the machine. Parts of a run on several machines have several names, separated by
    /// spaces.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// A hash of the names of the planned cases and of everything else that decides their results,
    /// in hexadecimal. A run can only be resumed with the same value.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub selection: String,
    /// The part of a larger run that this run is; `None` for a whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<RunPart>,
}

impl RunInfo {
    /// Returns the settings of the run. Those of a result folder of schema 1 are known as far as
    /// they are needed to repeat a single case.
    pub fn known_settings(&self) -> RunSettings {
        match &self.settings {
            Some(settings) => (**settings).clone(),
            None if self.schema == 1 => RunSettings::from_schema_1(&self.command),
            None => RunSettings::default(),
        }
    }
}

/// Part of a larger run, with the information needed to join parts.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct RunPart {
    /// `hash:2/4`; several, in the order of their numbers, if parts were joined already.
    pub of: Vec<String>,
    /// Number of cases in all parts together.
    pub cases: usize,
    /// A hash of the names of all these cases, in hexadecimal; parts belong together only if it is
    /// equal.
    pub selection: String,
}

/// Events of a run, in chronological order.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The first event.
    RunStarted(Box<RunInfo>),
    /// A case begins.
    CaseStarted {
        /// Its name.
        name: String,
        /// Number of inputs that it will run.
        inputs: u64,
    },
    /// Progress of a long case.
    CaseProgress {
        /// Its name.
        name: String,
        /// Inputs checked so far.
        done: u64,
        /// Number of inputs in all.
        inputs: u64,
    },
    /// A case ended.
    CaseFinished(Box<CaseResult>),
    /// A check of a user's shader ended; a partial result from a worker contains what is known so
    /// far.
    CheckFinished(Box<CheckResult>),
    /// The last event.
    RunFinished {
        /// Set if the run was interrupted, so that planned cases are missing.
        interrupted: bool,
        /// Seconds from start to end.
        wall: f64,
    },
}

/// The end of a case or check.
#[derive(Clone, Copy, Debug)]
pub struct CaseEnd<'a> {
    /// Name of the case or check.
    pub name: &'a str,
    /// Its status.
    pub status: Status,
    /// Its reason, if it has one.
    pub reason: Option<&'a str>,
    /// The end of the driver that is not held against the device: [`CheckResult::excused`].
    pub excused: Option<Status>,
}

impl CaseEnd<'_> {
    /// Returns what happened, even if it is not held against the device.
    pub fn observed(&self) -> Status {
        self.excused.unwrap_or(self.status)
    }

    /// Returns true if other results of the process or the device are not trustworthy any more.
    pub fn leaves_device_unusable(&self) -> bool {
        matches!(self.observed(), Status::DeviceLost | Status::Timeout)
    }
}

impl Event {
    /// Returns the end of a case or check; `None` for other events.
    pub fn case_end(&self) -> Option<CaseEnd<'_>> {
        match self {
            Event::CaseFinished(case) => {
                Some(CaseEnd { name: &case.name, status: case.status, reason: case.reason.as_deref(), excused: None })
            }
            Event::CheckFinished(check) => {
                let CheckResult { name, status, reason, excused, .. } = &**check;
                Some(CaseEnd { name, status: *status, reason: reason.as_deref(), excused: *excused })
            }
            Event::RunStarted(_)
            | Event::CaseStarted { .. }
            | Event::CaseProgress { .. }
            | Event::RunFinished { .. } => None,
        }
    }

    /// Excuses the end of the driver: [`CheckResult::excuse`]. The shaders of other cases have no
    /// undefined behaviour.
    pub fn excuse(&mut self, why: &str) {
        if let Event::CheckFinished(check) = self {
            check.excuse(why);
        }
    }

    /// Returns true for the end of a case that a resumed run has to run again.
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

    /// Marks a case that ended as partial, so that a resumed run runs it again.
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

    /// Stores the result of the confirmation of a case that ended, and replaces its reason if `why`
    /// is given.
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
    /// Returns true if the case was checked, or failed before it could be. A run without such cases
    /// checked nothing.
    pub fn is_checked(self) -> bool {
        !matches!(self, Status::NotSupported | Status::Undetermined)
    }

    /// Returns true if results were judged: the case did not end before that.
    pub fn has_verdict(self) -> bool {
        matches!(self, Status::Pass | Status::QualityWarning | Status::Fail)
    }

    /// Returns true if an unexpected case with this status makes the run fail.
    pub fn is_failure(self) -> bool {
        match self {
            Status::Fail | Status::Crash | Status::Timeout | Status::DeviceLost | Status::InternalError => true,
            Status::Pass | Status::QualityWarning | Status::NotSupported | Status::Undetermined => false,
        }
    }
}

/// Receiver of events.
pub trait Reporter {
    /// Takes one event.
    ///
    /// # Errors
    /// The destination is full or gone; the run stops.
    fn event(&mut self, event: &Event) -> std::io::Result<()>;
}

/// Serialisation of margins. serde would write infinity as `null`, which means that there is no
/// margin.
pub(crate) mod margin {
    use schemars::JsonSchema;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// A number, or the word `inf`.
    #[derive(JsonSchema, Serialize, Deserialize)]
    #[serde(untagged)]
    pub(crate) enum Json {
        Number(f64),
        Word(Infinite),
    }

    #[derive(JsonSchema, Serialize, Deserialize)]
    pub(crate) enum Infinite {
        #[serde(rename = "inf")]
        Inf,
    }

    pub(crate) fn serialize<S: Serializer>(margin: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        let json = margin.filter(|m| !m.is_nan()).map(|m| match m.is_infinite() {
            true => Json::Word(Infinite::Inf),
            false => Json::Number(m),
        });
        json.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Json>::deserialize(deserializer)?.map(|json| match json {
            Json::Number(m) => m,
            Json::Word(Infinite::Inf) => f64::INFINITY,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A resumed run writes the numbers that it has read.
    #[test]
    fn a_margin_survives_json_to_its_last_digit() {
        for margin in [None, Some(0.5), Some(3.740_000_000_000_000_5e-21), Some(f64::INFINITY)] {
            let example = Example {
                operands: vec!["0x00000000".to_owned()],
                slot: 0,
                scalar: None,
                got: "0x00000001".to_owned(),
                permitted: Vec::new(),
                margin,
                call: None,
            };
            let json = serde_json::to_string(&example).expect("serialises");
            assert_eq!(serde_json::from_str::<Example>(&json).expect("reads back"), example, "{json}");
        }
    }
}
