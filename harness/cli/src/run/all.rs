//! `--device all`: one run after another, a folder for each device.

use super::{INTERRUPTED, default_folder, one, resume};
use crate::{
    args::RunArgs,
    exit::{self, Failure, WithCode},
    note,
};
use anyhow::Context;
use assay_reports::Folder;
use assay_runner::DeviceInfo;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fs, path::Path, process::Command, sync::atomic::Ordering};

/// The file that says what was begun in a folder of several runs.
const BEGUN: &str = "run.json";

/// What [`BEGUN`] holds.
#[derive(Serialize, Deserialize)]
struct Begun {
    version: String,
    command: Vec<String>,
}

/// Whether runs on several devices were begun in a folder.
pub(super) fn was_begun(folder: &Path) -> bool {
    folder.join(BEGUN).is_file()
}

/// Goes on with the runs of a folder: with those that were begun, then with those that were not.
pub(super) fn go_on(given: &RunArgs, out: &Path) -> Result<u8, Failure> {
    let file = out.join(BEGUN);
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()));
    let begun = text.and_then(|text| serde_json::from_str(&text).with_context(|| file.display().to_string()));
    let Begun { version, command } = begun.code(exit::USAGE)?;
    let args = RunArgs { out: Some(out.to_owned()), ..resume::again(given, out, &version, &command)? };
    // Each of them was begun with its device.
    each(&args, &command, out, Some(&RunArgs { device: None, ..given.clone() }))
}

/// Runs on every device that `assay devices` finds, in its order.
pub(super) fn run(args: &RunArgs, command: &[String]) -> Result<u8, Failure> {
    let out = args.out.clone().unwrap_or_else(default_folder);
    let begun = Begun { version: env!("CARGO_PKG_VERSION").to_owned(), command: command.to_vec() };
    let text = serde_json::to_string_pretty(&begun).code(exit::INTERNAL)? + "\n";
    let partial = out.join(format!("{BEGUN}.partial"));
    fs::create_dir_all(&out)
        .and_then(|()| fs::write(&partial, text))
        .and_then(|()| fs::rename(&partial, out.join(BEGUN)))
        .with_context(|| format!("cannot write to {}", out.display()))
        .code(exit::USAGE)?;
    each(args, command, &out, None)
}

/// Runs on each device; those whose run was begun go on with it, if this goes on with what was begun.
fn each(args: &RunArgs, command: &[String], out: &Path, going_on: Option<&RunArgs>) -> Result<u8, Failure> {
    let (mut codes, mut folders) = (Vec::new(), BTreeSet::new());
    for (index, device) in devices()?.into_iter().enumerate() {
        if INTERRUPTED.load(Ordering::Relaxed) {
            codes.push(exit::INTERRUPTED);
            break;
        }
        let folder = out.join(folder(&device, index, &mut folders));
        note(&format!("device {index}: {}, into {}", device.name, folder.display()));
        let ran = match going_on.filter(|_| Folder::is_begun(&folder)) {
            Some(given) => resume::resume(given, &folder),
            None => {
                let args = RunArgs { device: Some(index.to_string()), out: Some(folder.clone()), ..args.clone() };
                one(&args, alone(command, index, &folder.to_string_lossy()), None)
            }
        };
        codes.push(match ran {
            Ok(code) => code,
            Err(failure) => {
                // One device that cannot be used is no reason to leave out the others.
                crate::complain(&failure);
                failure.code
            }
        });
    }
    Ok(together(&codes))
}

/// What is here, found out in a process of its own: drivers may crash when they are loaded, too.
fn devices() -> Result<Vec<DeviceInfo>, Failure> {
    let program = std::env::current_exe().code(exit::INTERNAL)?;
    let output = Command::new(program).args(["devices", "--json"]).output().code(exit::INTERNAL)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim().trim_start_matches("error:").trim();
        let code = output.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(exit::NO_DEVICE);
        return Err(Failure { code, error: anyhow::anyhow!("cannot list the devices: {said} ({})", output.status) });
    }
    serde_json::from_slice(&output.stdout).context("cannot read the list of devices").code(exit::INTERNAL)
}

/// A name for the folder of a device: its own in plain letters, with its number where two have the same.
fn folder(device: &DeviceInfo, index: usize, taken: &mut BTreeSet<String>) -> String {
    let plain = device.name.to_ascii_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    let mut name = words.join("-");
    if name.is_empty() || taken.contains(&name) {
        name = format!("{name}-{index}").trim_start_matches('-').to_owned();
    }
    taken.insert(name.clone());
    name
}

/// The command line that runs on that device alone.
fn alone(command: &[String], index: usize, folder: &str) -> Vec<String> {
    let mut alone = Vec::new();
    let mut rest = command.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--device" | "--out" => _ = rest.next(),
            other if other.starts_with("--device=") || other.starts_with("--out=") => {}
            _ => alone.push(argument.clone()),
        }
    }
    alone.extend(["--device".to_owned(), index.to_string(), "--out".to_owned(), folder.to_owned()]);
    alone
}

/// The exit code of several runs: failures first, then what kept a run from its end; nothing checked only if all say so.
fn together(codes: &[u8]) -> u8 {
    let first = |code: &u8| codes.contains(code);
    let order = [exit::FAILURES, exit::INTERNAL, exit::USAGE, exit::NO_DEVICE, exit::INTERRUPTED, exit::OK];
    order.into_iter().find(first).unwrap_or(exit::NOTHING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_one_device_is_told_apart() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let command = words("assay run p.f32 --device all --out o --seed 3");
        assert_eq!(alone(&command, 1, "o/x"), words("assay run p.f32 --seed 3 --device 1 --out o/x"));
        let command = words("assay run --device=all --out=o");
        assert_eq!(alone(&command, 0, "o/x"), words("assay run --device 0 --out o/x"));
    }

    #[test]
    fn the_worst_code_speaks_for_all() {
        assert_eq!(together(&[0, 0]), 0);
        assert_eq!(together(&[0, 3]), 0);
        assert_eq!(together(&[3, 3]), 3);
        assert_eq!(together(&[4, 1]), 1);
        assert_eq!(together(&[0, 130]), 130);
        assert_eq!(together(&[]), 3);
    }
}
