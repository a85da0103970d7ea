//! Command-line options that rerun a case.

use crate::{CHECK_BUDGET, DeviceInfo, RunInfo};

/// Options with a value that affect a single case, apart from device, API, budget and seed.
const VALUES: [&str; 4] = ["--path", "--range", "--timeout", "--memory"];

/// Options without a value that affect a single case.
const FLAGS: [&str; 1] = ["--validation"];

/// Returns the options with which `assay run NAME` runs a case as this command line did on that
/// device, each preceded by a space.
pub fn rerun_options(command: &[String], device: &DeviceInfo, budget: &str, seed: u64) -> String {
    let mut options = String::new();
    if device.api != "none" {
        // Names may be ambiguous between drivers, and indices change when a driver is installed or
        // removed.
        options += &format!(" --device {}", device.uuid);
        if device.api != "vulkan" {
            options += &format!(" --api {}", device.api);
        }
    }
    options += &format!(" --budget {budget} --seed {seed}");
    let mut rest = command.iter();
    while let Some(argument) = rest.next() {
        let (option, value) = match argument.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (argument.as_str(), None),
        };
        if option.ends_with(".toml") {
            // The case may come from a user's file, which is run as a whole.
            options += &format!(" {}", quoted(argument));
        } else if FLAGS.contains(&option) {
            options += &format!(" {option}");
        } else if VALUES.contains(&option)
            && let Some(value) = value.or_else(|| rest.next().map(String::as_str))
        {
            options += &format!(" {option} {}", quoted(value));
        }
    }
    options
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
        budget => format!("assay run {}{}", quoted(name), rerun_options(&run.command, &run.device, budget, run.seed)),
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

    #[test]
    fn options_that_affect_a_result_are_in_the_rerun_command() {
        let options = |command: &str, api: &str| {
            let command: Vec<String> = command.split(' ').map(str::to_owned).collect();
            rerun_options(&command, &device(api), "quick", 7)
        };
        let on = format!(" --device {}", "0f".repeat(16));
        assert_eq!(options("assay run", "vulkan"), format!("{on} --budget quick --seed 7"));
        let long = "assay run precision --device 1 --timeout=3 --out x --partition hash:1/2 --range -inf..-0 -q";
        assert_eq!(
            options(long, "wgpu"),
            format!("{on} --api wgpu --budget quick --seed 7 --timeout 3 --range -inf..-0")
        );
        assert_eq!(options("assay run my.toml", "none"), " --budget quick --seed 7 my.toml");
        assert_eq!((quoted("0.5 .. 2"), quoted("it's")), ("'0.5 .. 2'".to_owned(), "'it'\\''s'".to_owned()));
        let run = |command: &str, budget: &str| RunInfo {
            schema: crate::SCHEMA,
            version: String::new(),
            specification: String::new(),
            device: device("vulkan"),
            budget: budget.to_owned(),
            seed: 7,
            cases: 1,
            command: command.split(' ').map(str::to_owned).collect(),
            started: String::new(),
            host: String::new(),
            selection: String::new(),
            part: None,
        };
        let one = rerun_command(&run("./assay run p --device all --timeout 3", "sampled"), "p.f32.a");
        assert_eq!(one, format!("assay run p.f32.a{on} --budget sampled --seed 7 --timeout 3"));
        let check = rerun_command(&run("./assay check it's.wgsl --reduce", CHECK_BUDGET), "it's.wgsl");
        assert_eq!(check, "assay check 'it'\\''s.wgsl' --reduce");
        let reference = "assay run tile --path reference --validation";
        assert_eq!(options(reference, "none"), " --budget quick --seed 7 --path reference --validation");
    }
}
