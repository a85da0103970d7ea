//! How a case is run again as it was.

use crate::DeviceInfo;

/// Options that decide what a single case comes to, with a value; the device, the API, the budget and the seed aside.
const VALUES: [&str; 4] = ["--path", "--range", "--timeout", "--memory"];

/// Those that have none.
const FLAGS: [&str; 1] = ["--validation"];

/// The options with which `assay run NAME` runs a case as this command line did, on that device: each after a space.
pub fn again(command: &[String], device: &DeviceInfo, budget: &str, seed: u64) -> String {
    let mut options = String::new();
    if device.api != "none" {
        // What it is called is what two drivers of it may call it, and its number is another when a driver comes or goes.
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
            // The case may be of a file of one's own: all of it is run.
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

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=+,@%".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn device(api: &str) -> DeviceInfo {
        DeviceInfo {
            name: "a device".to_owned(),
            api: api.to_owned(),
            kind: "cpu".to_owned(),
            vendor_id: 1,
            device_id: 2,
            uuid: "0f".repeat(16),
            driver_name: String::new(),
            driver_info: String::new(),
            driver_version: 1,
            api_version: "1.3.0".to_owned(),
            conformance_version: "1.3.0.0".to_owned(),
            features: Vec::new(),
            extensions: Vec::new(),
            properties: BTreeMap::new(),
            environment: BTreeMap::new(),
            host_cpu: String::new(),
        }
    }

    #[test]
    fn what_decides_a_result_is_given_again() {
        let options = |command: &str, api: &str| {
            let command: Vec<String> = command.split(' ').map(str::to_owned).collect();
            again(&command, &device(api), "quick", 7)
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
        let reference = "assay run tile --path reference --validation";
        assert_eq!(options(reference, "none"), " --budget quick --seed 7 --path reference --validation");
    }
}
