//! `--device all` and `--api both`: several runs, each with its own result folder. Devices run at
//! the same time, each with its own workers. The APIs of one device run one after the other.

use super::{
    ALL, INTERRUPTED, RunArgs,
    concurrent_devices::{ConcurrentRun, run_concurrently},
    default_folder,
    resume::{self, ResumeArgs},
    resume_advice, run_one, session,
};
use crate::{
    common_args::{Api, Isolate},
    exit::{self, Failure, WithCode},
    note, output_file, print_summary,
    result_folders::{self, RUN_FILE},
};
use anyhow::Context;
use assay_events::{DeviceInfo, RunSettings, Status};
use assay_files::{OwnedFiles, input};
use assay_reports::ResultDirWriter;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::Ordering,
};

/// Contents of [`RUN_FILE`].
#[derive(Serialize, Deserialize)]
struct ResumeState {
    version: String,
    /// `None` in a file of an earlier build.
    settings: Option<RunSettings>,
}

/// Resumes the runs in a folder. Runs that had not begun are started.
pub(super) fn resume_all(current: &ResumeArgs, out: &Path) -> Result<u8, Failure> {
    let file = out.join(RUN_FILE);
    let text = input::read_text(&file, input::MAX_DESCRIPTION_BYTES)
        .with_context(|| format!("cannot read {}", file.display()));
    let state = text.and_then(|text| serde_json::from_str(&text).with_context(|| file.display().to_string()));
    let ResumeState { version, settings } = state.code(exit::USAGE)?;
    resume::must_be_of_this_version(out, &version)?;
    let original = resume::original_args(current, out, settings.as_ref(), "resume")?;
    let args = RunArgs { out: Some(out.to_owned()), ..original };
    // Each run has its own device and API.
    let current = current.clone().without(&["device", "api"]);
    run_each(&args, selected_devices(&args)?, out, Some(&current))
}

/// Runs on every device that `assay devices` finds, or on the selected one, through each selected
/// API.
pub(super) fn run(args: &RunArgs) -> Result<u8, Failure> {
    let out = args.out.clone().unwrap_or_else(default_folder);
    // Refuses errors common to all runs before anything is written.
    session::PlannedRun::new(&RunArgs { api: Api::Vulkan, ..args.clone() }, Vec::new(), String::new())?;
    let devices = selected_devices(args)?;
    let folders: Vec<PathBuf> = devices.iter().flat_map(|device| device.folders(args, &out)).collect();
    let existed = out.exists();
    let state = ResumeState { version: env!("CARGO_PKG_VERSION").to_owned(), settings: Some(args.settings()) };
    let text = serde_json::to_string_pretty(&state).code(exit::INTERNAL)? + "\n";
    let own = OwnedFiles::new(&out);
    fs::create_dir_all(&out)
        .and_then(|()| own.claim([RUN_FILE]))
        .with_context(|| format!("cannot write to {}", out.display()))
        .code(exit::USAGE)?;
    output_file::write(&out.join(RUN_FILE), text)?;
    let ran = run_each(args, devices, &out, None);
    if !folders.iter().any(|folder| ResultDirWriter::has_run(folder)) {
        // There is nothing to resume. Files that cannot be removed do no harm.
        _ = own.remove([RUN_FILE]);
        _ = (!existed).then(|| fs::remove_dir(&out));
    }
    ran
}

/// Runs on each device. With `resumed`, runs that had begun are resumed.
fn run_each(args: &RunArgs, devices: Vec<RunDevice>, out: &Path, resumed: Option<&ResumeArgs>) -> Result<u8, Failure> {
    let run = |(device, concurrent): (RunDevice, Option<ConcurrentRun>)| {
        run_on(&device, concurrent.as_ref(), args, out, resumed)
    };
    let codes: Result<Vec<Vec<u8>>, Failure> = if devices.len() > 1 && args.isolate == Isolate::Yes {
        let labels = (0..devices.len()).map(|index| format!("device {index}"));
        let concurrent = ConcurrentRun::group(labels, args.threads());
        run_concurrently(devices.into_iter().zip(concurrent.into_iter().map(Some)).collect(), run).into_iter().collect()
    } else {
        // In one process, a crash of one device's driver would end the other runs: one device at a
        // time.
        devices.into_iter().map(|device| run((device, None))).collect()
    };
    let code = combined_code(&codes?.concat());
    if code == exit::INTERRUPTED {
        note(&format!("some runs were interrupted: {}", resume_advice(out)));
    }
    Ok(code)
}

/// Runs on one device through each selected API, and returns the exit codes.
fn run_on(
    device: &RunDevice,
    concurrent: Option<&ConcurrentRun>,
    args: &RunArgs,
    out: &Path,
    resumed: Option<&ResumeArgs>,
) -> Result<Vec<u8>, Failure> {
    let jobs = |args: &RunArgs| {
        concurrent.and_then(|concurrent| u16::try_from(concurrent.initial_threads()).ok()).or(args.jobs)
    };
    let (mut folders, mut codes) = (Vec::new(), Vec::new());
    for (&api, folder) in args.api.each().iter().zip(device.folders(args, out)) {
        if INTERRUPTED.load(Ordering::Relaxed) {
            codes.push(exit::INTERRUPTED);
            break;
        }
        let label = device.label.as_ref().map_or_else(String::new, |label| format!("{label}, "));
        note(&format!("{label}through {}: results go to {}", api.name(), folder.display()));
        let ran = match resumed.filter(|_| ResultDirWriter::has_run(&folder)) {
            Some(current) => resume::resume_one(&current.clone().with_jobs(jobs(&current.args)), &folder, concurrent),
            None => {
                let (selector, jobs) = (device.selector.clone(), jobs(args));
                let args = RunArgs { device: selector, api, jobs, out: Some(folder.clone()), ..args.clone() };
                run_one(&args, args.command_line(), None, concurrent)
            }
        };
        codes.push(match ran {
            Ok(code) => {
                folders.push(folder);
                code
            }
            Err(failure) => {
                // A device that cannot be used does not stop the runs on the others.
                let Failure { code, error } = failure;
                let error = match &device.label {
                    Some(label) => error.context(label.clone()),
                    None => error,
                };
                crate::print_error(&Failure { code, error });
                code
            }
        });
    }
    if let [vulkan, wgpu] = folders.as_slice() {
        print_differences(vulkan, wgpu)?;
    }
    Ok(codes)
}

/// A device to run on.
struct RunDevice {
    /// Argument of `--device` that selects it.
    selector: Option<String>,
    /// Name of its subfolder, if there are several devices.
    folder: Option<String>,
    /// Label in output, if there are several devices.
    label: Option<String>,
}

impl RunDevice {
    /// Returns the result folders of its runs, one for each API.
    fn folders(&self, args: &RunArgs, out: &Path) -> Vec<PathBuf> {
        let within = self.folder.as_ref().map_or_else(|| out.to_owned(), |folder| out.join(folder));
        let apis = args.api.each().iter();
        apis.map(|api| if args.api == Api::Both { within.join(api.name()) } else { within.clone() }).collect()
    }
}

/// Returns the devices that `--device` selects.
fn selected_devices(args: &RunArgs) -> Result<Vec<RunDevice>, Failure> {
    match args.device.as_deref() {
        Some(ALL) => all_devices(),
        _ => Ok(vec![RunDevice { selector: args.device.clone(), folder: None, label: None }]),
    }
}

fn all_devices() -> Result<Vec<RunDevice>, Failure> {
    let mut taken = BTreeSet::new();
    let run_device = |(index, device): (usize, DeviceInfo)| RunDevice {
        selector: Some(index.to_string()),
        folder: Some(folder_name(&device, index, &mut taken)),
        label: Some(format!("device {index}: {}", device.name)),
    };
    Ok(devices()?.into_iter().enumerate().map(run_device).collect())
}

/// Prints the cases that failed through one API only.
fn print_differences(vulkan: &Path, wgpu: &Path) -> Result<(), Failure> {
    let statuses = |folder: &Path| result_folders::open(folder)?.statuses().code(exit::USAGE);
    print_summary(&differing_failures(&statuses(vulkan)?, &statuses(wgpu)?));
    Ok(())
}

/// Returns a text that lists the cases that failed through one API only, with their status through
/// the other.
fn differing_failures(vulkan: &BTreeMap<String, Status>, wgpu: &BTreeMap<String, Status>) -> String {
    /// Largest number of cases to list.
    const SHOWN: usize = 40;
    let only = |one: &BTreeMap<String, Status>, other: &BTreeMap<String, Status>| -> Vec<String> {
        let failing = one.iter().filter(|(_, status)| status.is_failure());
        let here = failing.filter(|(name, _)| other.get(*name).is_none_or(|status| !status.is_failure()));
        here.map(|(name, status)| match other.get(name) {
            Some(other) => format!("  {name}: {status:?}, but {other:?} through the other API"),
            None => format!("  {name}: {status:?}, but no result through the other API"),
        })
        .collect()
    };
    let mut text = String::new();
    for (api, lines) in [("Vulkan", only(vulkan, wgpu)), ("wgpu", only(wgpu, vulkan))] {
        text += &format!(
            "\nfailures through {api} only: {}\n",
            if lines.is_empty() { "none".to_owned() } else { lines.len().to_string() }
        );
        for line in lines.iter().take(SHOWN) {
            text += line;
            text.push('\n');
        }
        if lines.len() > SHOWN {
            text += &format!("  and {} more; list them with `assay diff`\n", lines.len() - SHOWN);
        }
    }
    let both =
        vulkan.iter().filter(|(name, status)| status.is_failure() && wgpu.get(*name).is_some_and(|s| s.is_failure()));
    text += &format!("failures through both: {}\n", both.count());
    text
}

/// Lists the machine's devices in a separate process, because a driver may crash while it is
/// loaded.
pub(crate) fn devices() -> Result<Vec<DeviceInfo>, Failure> {
    let program = std::env::current_exe().code(exit::INTERNAL)?;
    let output = Command::new(program).args(["devices", "--json"]).output().code(exit::INTERNAL)?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        let message = message.trim().trim_start_matches("error:").trim();
        let code = output.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(exit::NO_DEVICE);
        return Err(Failure { code, error: anyhow::anyhow!("cannot list the devices: {message} ({})", output.status) });
    }
    serde_json::from_slice(&output.stdout).context("cannot read the list of devices").code(exit::INTERNAL)
}

/// Returns a folder name for a device: its name in lower-case letters, digits and hyphens, with its
/// index if the name is taken.
fn folder_name(device: &DeviceInfo, index: usize, taken: &mut BTreeSet<String>) -> String {
    let plain = device.name.to_ascii_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    let mut name = words.join("-");
    if name.is_empty() || taken.contains(&name) {
        name = format!("{name}-{index}").trim_start_matches('-').to_owned();
    }
    taken.insert(name.clone());
    name
}

/// Returns the exit code of several runs, in order of precedence: interruption, failures, errors
/// that kept a run from completing, success. It is [`exit::NOTHING`] only if all runs checked
/// nothing.
fn combined_code(codes: &[u8]) -> u8 {
    let occurs = |code: &u8| codes.contains(code);
    let order = [exit::INTERRUPTED, exit::FAILURES, exit::INTERNAL, exit::USAGE, exit::NO_DEVICE, exit::OK];
    order.into_iter().find(occurs).unwrap_or(exit::NOTHING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_through_one_api_only_are_listed() {
        let results = |of: &[(&str, Status)]| of.iter().map(|(name, status)| ((*name).to_owned(), *status)).collect();
        let vulkan = results(&[("a", Status::Fail), ("b", Status::Pass), ("c", Status::Crash), ("d", Status::Fail)]);
        let wgpu = results(&[("a", Status::Fail), ("b", Status::Fail), ("c", Status::NotSupported)]);
        let text = differing_failures(&vulkan, &wgpu);
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        let expected = [
            "failures through Vulkan only: 2",
            "  c: Crash, but NotSupported through the other API",
            "  d: Fail, but no result through the other API",
            "failures through wgpu only: 1",
            "  b: Fail, but Pass through the other API",
            "failures through both: 1",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_combined_exit_code_follows_the_order_of_precedence() {
        assert_eq!(combined_code(&[0, 0]), 0);
        assert_eq!(combined_code(&[0, 3]), 0);
        assert_eq!(combined_code(&[3, 3]), 3);
        assert_eq!(combined_code(&[4, 1]), 1);
        assert_eq!(combined_code(&[0, 130]), 130);
        assert_eq!(combined_code(&[1, 130]), 130);
        assert_eq!(combined_code(&[]), 3);
    }
}
