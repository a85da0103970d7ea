//! Command-line options that rerun a case.

use crate::{CHECK_BUDGET, RunInfo, RunSettings};

/// Returns the options with which `assay run NAME` runs a case as that run did, each preceded by a
/// space.
pub fn rerun_options(run: &RunInfo) -> String {
    let (settings, device) = (run.known_settings(), &run.device);
    let mut options = String::new();
    if device.api != "none" {
        // Names may be ambiguous between drivers, and indices change when a driver is installed or
        // removed.
        options += &format!(" --device {}", device.uuid);
        if device.api != "vulkan" {
            options += &format!(" --api {}", device.api);
        }
    }
    options += &format!(" --budget {} --seed {}", run.budget, run.seed);
    // The case may come from a user's file, which is run as a whole.
    let families = settings.filters.iter().filter(|filter| filter.ends_with(".toml"));
    options.extend(families.map(|file| format!(" {}", quoted(file))));
    let timeout = Some(settings.timeout).filter(|timeout| *timeout != RunSettings::default().timeout);
    let values = [
        ("path", settings.path),
        ("range", settings.range),
        ("timeout", timeout.map(|seconds| seconds.to_string())),
        ("memory", settings.memory.map(|mib| mib.to_string())),
    ];
    let values = values.into_iter().filter_map(|(name, value)| Some(format!(" --{name} {}", quoted(&value?))));
    options.extend(values);
    options + if settings.validation { " --validation" } else { "" }
}

/// Returns the command that repeats a case of a run alone; for a check, which is one case, the command
/// line of the check.
pub fn rerun_command(run: &RunInfo, name: &str) -> String {
    match run.budget.as_str() {
        CHECK_BUDGET => {
            // The program may have been started by a path.
            let rest = shell_command(run.command.get(1..).unwrap_or_default());
            format!("assay {rest}")
        }
        _ => format!("assay run {}{}", quoted(name), rerun_options(run)),
    }
}

/// Returns a command line as it can be typed into a shell.
pub fn shell_command(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=+,@%".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceInfo;

    fn device(api: &str) -> DeviceInfo {
        DeviceInfo {
            name: "a device".to_owned(),
            api: api.to_owned(),
            kind: "cpu".to_owned(),
            uuid: "0f".repeat(16),
            api_version: "1.3.0".to_owned(),
            ..DeviceInfo::default()
        }
    }

    fn run(command: &str, budget: &str, api: &str, settings: Option<RunSettings>) -> RunInfo {
        RunInfo {
            schema: crate::SCHEMA,
            version: String::new(),
            specification: String::new(),
            device: device(api),
            budget: budget.to_owned(),
            seed: 7,
            cases: 1,
            command: command.split(' ').map(str::to_owned).collect(),
            settings: settings.map(Box::new),
            started: String::new(),
            host: String::new(),
            selection: String::new(),
            part: None,
        }
    }

    #[test]
    fn options_that_affect_a_result_are_in_the_rerun_command() {
        let on = format!(" --device {}", "0f".repeat(16));
        let options = |settings: RunSettings, api: &str| rerun_options(&run("assay run", "quick", api, Some(settings)));
        assert_eq!(options(RunSettings::default(), "vulkan"), format!("{on} --budget quick --seed 7"));
        let many = RunSettings {
            device: Some("1".to_owned()),
            timeout: 3.0,
            range: Some("-inf..-0".to_owned()),
            partition: Some("hash:1/2".to_owned()),
            ..RunSettings::default()
        };
        assert_eq!(
            options(many, "wgpu"),
            format!("{on} --api wgpu --budget quick --seed 7 --range -inf..-0 --timeout 3")
        );
        let reference = RunSettings {
            filters: vec!["my.toml".to_owned(), "tile".to_owned()],
            path: Some("reference".to_owned()),
            validation: true,
            ..RunSettings::default()
        };
        assert_eq!(options(reference, "none"), " --budget quick --seed 7 my.toml --path reference --validation");
        assert_eq!((quoted("0.5 .. 2"), quoted("it's")), ("'0.5 .. 2'".to_owned(), "'it'\\''s'".to_owned()));
        let check = rerun_command(&run("./assay check it's.wgsl --reduce", CHECK_BUDGET, "vulkan", None), "it's.wgsl");
        assert_eq!(check, "assay check 'it'\\''s.wgsl' --reduce");
    }

    #[test]
    fn the_options_of_a_run_of_schema_1_are_read_from_its_command_line() {
        let on = format!(" --device {}", "0f".repeat(16));
        let command = "./assay run p my.toml --device all --timeout=3 --range -inf..-0 --memory 8 --validation -q";
        let old = RunInfo { schema: 1, ..run(command, "sampled", "vulkan", None) };
        let options = "--budget sampled --seed 7 my.toml --range -inf..-0 --timeout 3 --memory 8 --validation";
        assert_eq!(rerun_command(&old, "p.f32.a"), format!("assay run p.f32.a{on} {options}"));
        // Later schemas have the options as data.
        let new = run(command, "sampled", "vulkan", None);
        assert_eq!(rerun_command(&new, "p.f32.a"), format!("assay run p.f32.a{on} --budget sampled --seed 7"));
    }
}
