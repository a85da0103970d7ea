//! The options of a run, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

/// Options of `assay run`, apart from the result folder and the output on the console. Command lines
/// are made from them for display; no reader parses one.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSettings {
    /// Case filters, shaders and folders; empty for all built-in cases.
    pub filters: Vec<String>,
    /// `quick`, `sampled`, `exhaustive` or `hunt`.
    pub budget: String,
    /// Selector of the device.
    pub device: Option<String>,
    /// `vulkan`, `wgpu` or `both`.
    pub api: String,
    /// Time limit of one submission, in seconds.
    pub timeout: f64,
    /// Seed of the sampled inputs.
    pub seed: u64,
    /// Time limit of the search for the worst inputs of a case, in seconds.
    pub time: Option<f64>,
    /// Range of the first operand.
    pub range: Option<String>,
    /// Part of the cases: `hash:2/4`.
    pub partition: Option<String>,
    /// `native`, `lowered` or `reference`.
    pub path: Option<String>,
    /// Set if the validation layer is loaded.
    pub validation: bool,
    /// Set if worker processes open the device.
    pub isolate: bool,
    /// Set if failures are confirmed.
    pub confirm: bool,
    /// Target environment of the compilation of shaders.
    pub target_env: Option<String>,
    /// Macros for compilers.
    pub define: Vec<String>,
    /// Folders of included files.
    pub include: Vec<PathBuf>,
    /// Filters of excluded cases.
    pub exclude: Vec<String>,
    /// File with the cases to run.
    pub caselist: Option<PathBuf>,
    /// File with the cases to skip.
    pub skips: Option<PathBuf>,
    /// File with the cases whose failures are ignored.
    pub flakes: Option<PathBuf>,
    /// File with the expected failures.
    pub baseline: Option<PathBuf>,
    /// File with the known failures.
    pub waivers: Option<PathBuf>,
    /// Number of threads.
    pub jobs: Option<u16>,
    /// Number of worker processes.
    pub workers: Option<u16>,
    /// Memory limit of a worker, in MiB.
    pub memory: Option<u64>,
    /// Command prefixes that start workers on other machines.
    pub via: Vec<String>,
    /// Path of the binary on these machines.
    pub via_binary: PathBuf,
    /// `there` or `here`: the machine that checks the results of precision cases.
    pub check: String,
}

impl Default for RunSettings {
    /// Returns the settings of `assay run` without options.
    fn default() -> RunSettings {
        RunSettings {
            filters: Vec::new(),
            budget: "quick".to_owned(),
            device: None,
            api: "vulkan".to_owned(),
            timeout: 60.0,
            seed: 0,
            time: None,
            range: None,
            partition: None,
            path: None,
            validation: false,
            isolate: true,
            confirm: true,
            target_env: None,
            define: Vec::new(),
            include: Vec::new(),
            exclude: Vec::new(),
            caselist: None,
            skips: None,
            flakes: None,
            baseline: None,
            waivers: None,
            jobs: None,
            workers: None,
            memory: None,
            via: Vec::new(),
            via_binary: "assay".into(),
            check: "there".to_owned(),
        }
    }
}

/// Settings that do not affect results. They may change when a run is resumed.
const WITHOUT_EFFECT: [&str; 6] = ["jobs", "workers", "memory", "via", "via_binary", "check"];

impl RunSettings {
    /// Returns the settings that affect results, by field, as text: `none` if there is no value.
    pub fn values(&self) -> Vec<(String, String)> {
        let text = |value: &Value| {
            let words = words(value);
            if words.is_empty() { "none".to_owned() } else { words.join(" ") }
        };
        let fields = self.fields().filter(|(name, _)| !WITHOUT_EFFECT.contains(&name.as_str()));
        fields.map(|(name, value)| (name, text(&value))).collect()
    }

    /// Returns the command line with these settings, for display: the options that differ from the
    /// defaults.
    pub fn command_line(&self) -> Vec<String> {
        let mut line = ["assay", "run"].map(str::to_owned).to_vec();
        line.extend(self.filters.iter().cloned());
        let defaults: Vec<(String, Value)> = RunSettings::default().fields().collect();
        for (name, value) in self.fields().filter(|field| field.0 != "filters" && !defaults.contains(field)) {
            let option = name.replace('_', "-");
            match value {
                Value::Bool(true) => line.push(format!("--{option}")),
                value => line.extend(words(&value).iter().map(|word| format!("--{option}={word}"))),
            }
        }
        line
    }

    /// Returns the fields by name.
    fn fields(&self) -> impl Iterator<Item = (String, Value)> {
        let value = serde_json::to_value(self).unwrap_or_default();
        let Value::Object(fields) = value else { return serde_json::Map::new().into_iter() };
        fields.into_iter()
    }

    /// Returns what a command line in a result folder of schema 1 says about the repetition of a
    /// single case. Other settings are the defaults.
    pub(crate) fn from_schema_1(command: &[String]) -> RunSettings {
        let mut settings = RunSettings::default();
        let mut rest = command.iter();
        while let Some(argument) = rest.next() {
            let (option, value) = match argument.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (argument.as_str(), None),
            };
            let mut value = || value.or_else(|| rest.next().map(String::as_str)).map(str::to_owned);
            match option {
                "--device" => settings.device = value(),
                "--path" => settings.path = value(),
                "--range" => settings.range = value(),
                "--timeout" => {
                    settings.timeout = value().and_then(|text| text.parse().ok()).unwrap_or(settings.timeout)
                }
                "--memory" => settings.memory = value().and_then(|text| text.parse().ok()),
                "--validation" => settings.validation = true,
                file if file.ends_with(".toml") => settings.filters.push(argument.clone()),
                _ => {}
            }
        }
        settings
    }
}

/// Returns the values of an option as words.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Bool(yes) => vec![if *yes { "yes" } else { "no" }.to_owned()],
        Value::String(text) => vec![text.clone()],
        // A whole number of seconds is shown without a fraction.
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (None, Some(float)) => vec![float.to_string()],
            _ => vec![number.to_string()],
        },
        Value::Array(values) => values.iter().flat_map(words).collect(),
        Value::Object(_) => vec![value.to_string()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_has_what_differs_from_the_defaults() {
        let settings = RunSettings {
            filters: vec!["precision.f32".to_owned(), "a b.toml".to_owned()],
            timeout: 2.5,
            validation: true,
            isolate: false,
            define: vec!["A=1".to_owned(), "B".to_owned()],
            target_env: Some("vulkan1.2".to_owned()),
            ..RunSettings::default()
        };
        let line = settings.command_line();
        let options =
            ["--define=A=1", "--define=B", "--isolate=no", "--target-env=vulkan1.2", "--timeout=2.5", "--validation"];
        assert_eq!(line, [&["assay", "run", "precision.f32", "a b.toml"][..], &options].concat());
        assert_eq!(RunSettings::default().command_line(), ["assay", "run"]);
    }

    #[test]
    fn values_are_those_that_affect_results() {
        let settings = RunSettings { jobs: Some(3), timeout: 50.0, seed: u64::MAX, ..RunSettings::default() };
        let values = settings.values();
        let value = |name: &str| values.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str());
        assert_eq!((value("timeout"), value("device"), value("isolate")), (Some("50"), Some("none"), Some("yes")));
        assert_eq!((value("seed"), value("jobs")), (Some("18446744073709551615"), None));
    }

    #[test]
    fn settings_survive_json_and_missing_ones_are_the_defaults() {
        let settings = RunSettings { timeout: 0.1, seed: u64::MAX, ..RunSettings::default() };
        let text = serde_json::to_string(&settings).expect("serialises");
        assert_eq!(serde_json::from_str::<RunSettings>(&text).expect("reads back"), settings);
        assert_eq!(serde_json::from_str::<RunSettings>("{}").expect("defaults"), RunSettings::default());
    }
}
