//! `--device all` and `--api both`: a folder for each. Devices are run at the same time, by workers of their own; the APIs of one,
//! which share it, one after the other.

use super::{
    ALL, INTERRUPTED,
    among::{Among, at_once},
    default_folder, how_to_resume, one,
    resume::{self, Given},
    session,
};
use crate::{
    args::{Api, Isolate, RunArgs},
    exit::{self, Failure, WithCode},
    folders, note, show,
};
use anyhow::Context;
use assay_files::{Owned, input};
use assay_reports::Folder;
use assay_runner::{DeviceInfo, Status};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::Ordering,
};

/// The file that says what was begun in a folder of several runs.
const BEGUN: &str = "run.json";

/// What [`BEGUN`] holds.
#[derive(Serialize, Deserialize)]
struct Begun {
    version: String,
    command: Vec<String>,
}

/// Whether several runs were begun in a folder.
pub(super) fn was_begun(folder: &Path) -> bool {
    folder.join(BEGUN).is_file()
}

/// The result folders of a folder in which several runs were begun, by name; none of any other.
pub(crate) fn folders_within(folder: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    };
    if !was_begun(folder) || Folder::is_begun(folder) {
        return Vec::new();
    }
    // Those of devices, those of APIs, or of each device those of APIs.
    let mut folders = inside(folder);
    folders.extend(folders.clone().iter().flat_map(|folder| inside(folder)));
    folders.retain(|folder| Folder::is_begun(folder));
    folders.sort();
    folders
}

/// Goes on with the runs of a folder: with those that were begun, then with those that were not.
pub(super) fn go_on(given: &Given, out: &Path) -> Result<u8, Failure> {
    let file = out.join(BEGUN);
    let text = input::read_text(&file, input::DESCRIPTION).with_context(|| format!("cannot read {}", file.display()));
    let begun = text.and_then(|text| serde_json::from_str(&text).with_context(|| file.display().to_string()));
    let Begun { version, command } = begun.code(exit::USAGE)?;
    let args = RunArgs { out: Some(out.to_owned()), ..resume::again(given, out, &version, &command)? };
    // Each of them was begun with its device and its API.
    let given = given.clone().without(&["device", "api"]);
    each(&args, places(&args)?, &command, out, Some(&given))
}

/// Runs on every device that `assay devices` finds, in its order, or on the one that is asked for, through each API that is.
pub(super) fn run(args: &RunArgs, command: &[String]) -> Result<u8, Failure> {
    let out = args.out.clone().unwrap_or_else(default_folder);
    // What is wrong for each of them is refused before anything is written.
    session::Work::new(&RunArgs { api: Api::Vulkan, ..args.clone() }, command.to_vec(), String::new())?;
    let places = places(args)?;
    let folders: Vec<PathBuf> = places.iter().flat_map(|place| place.folders(args, &out)).collect();
    let existed = out.exists();
    let begun = Begun { version: env!("CARGO_PKG_VERSION").to_owned(), command: command.to_vec() };
    let text = serde_json::to_string_pretty(&begun).code(exit::INTERNAL)? + "\n";
    let own = Owned::of(&out);
    fs::create_dir_all(&out)
        .and_then(|()| own.claim([BEGUN]))
        .with_context(|| format!("cannot write to {}", out.display()))
        .code(exit::USAGE)?;
    folders::write(&out.join(BEGUN), text)?;
    let ran = each(args, places, command, &out, None);
    if !folders.iter().any(|folder| Folder::is_begun(folder)) {
        // There is nothing to go on with. What cannot be removed is in nobody's way.
        _ = own.remove([BEGUN]);
        _ = (!existed).then(|| fs::remove_dir(&out));
    }
    ran
}

/// Runs each; those that were begun are gone on with, if this goes on with what was begun.
fn each(
    args: &RunArgs,
    places: Vec<Place>,
    command: &[String],
    out: &Path,
    going_on: Option<&Given>,
) -> Result<u8, Failure> {
    let place = |(place, among): (Place, Option<Among>)| at_place(&place, among.as_ref(), args, command, out, going_on);
    let codes: Result<Vec<Vec<u8>>, Failure> = if places.len() > 1 && args.isolate == Isolate::Yes {
        let names = (0..places.len()).map(|index| format!("device {index}"));
        let among = Among::new(names, session::jobs(args));
        at_once(places.into_iter().zip(among.into_iter().map(Some)).collect(), place).into_iter().collect()
    } else {
        // Whatever ends one would end the others that are in the same process.
        places.into_iter().map(|device| place((device, None))).collect()
    };
    let code = together(&codes?.concat());
    if code == exit::INTERRUPTED {
        note(&format!("some of the runs were interrupted: {}", how_to_resume(out)));
    }
    Ok(code)
}

/// Runs on one device, through each API that is asked for: the codes of these runs.
fn at_place(
    place: &Place,
    among: Option<&Among>,
    args: &RunArgs,
    command: &[String],
    out: &Path,
    going_on: Option<&Given>,
) -> Result<Vec<u8>, Failure> {
    let jobs = |args: &RunArgs| among.and_then(|among| u16::try_from(among.share()).ok()).or(args.jobs);
    let (mut folders, mut codes) = (Vec::new(), Vec::new());
    for (&api, folder) in args.api.each().iter().zip(place.folders(args, out)) {
        if INTERRUPTED.load(Ordering::Relaxed) {
            codes.push(exit::INTERRUPTED);
            break;
        }
        let name = place.name.as_ref().map_or_else(String::new, |name| format!("{name}, "));
        note(&format!("{name}through {}, into {}", api.name(), folder.display()));
        let ran = match going_on.filter(|_| Folder::is_begun(&folder)) {
            Some(given) => resume::resume(&given.clone().with_jobs(jobs(&given.args)), &folder, among),
            None => {
                let (device, jobs) = (place.device.clone(), jobs(args));
                let args = RunArgs { device, api, jobs, out: Some(folder.clone()), ..args.clone() };
                let command = alone(command, place.device.as_deref(), api, &folder.to_string_lossy());
                one(&args, command, None, among)
            }
        };
        codes.push(match ran {
            Ok(code) => {
                folders.push(folder);
                code
            }
            Err(failure) => {
                // One device that cannot be used is no reason to leave out the others.
                let Failure { code, error } = failure;
                let error = match &place.name {
                    Some(name) => error.context(name.clone()),
                    None => error,
                };
                crate::complain(&Failure { code, error });
                code
            }
        });
    }
    if let [vulkan, wgpu] = folders.as_slice() {
        compare(vulkan, wgpu)?;
    }
    Ok(codes)
}

/// A device to run on.
struct Place {
    /// What selects it.
    device: Option<String>,
    /// Its folder, where there are several.
    folder: Option<String>,
    /// What is said of it, where there are several.
    name: Option<String>,
}

impl Place {
    /// The folders of its runs, one for each API.
    fn folders(&self, args: &RunArgs, out: &Path) -> Vec<PathBuf> {
        let within = self.folder.as_ref().map_or_else(|| out.to_owned(), |folder| out.join(folder));
        let apis = args.api.each().iter();
        apis.map(|api| if args.api == Api::Both { within.join(api.name()) } else { within.clone() }).collect()
    }
}

/// Where such arguments ask for runs.
fn places(args: &RunArgs) -> Result<Vec<Place>, Failure> {
    match args.device.as_deref() {
        Some(ALL) => every_device(),
        _ => Ok(vec![Place { device: args.device.clone(), folder: None, name: None }]),
    }
}

fn every_device() -> Result<Vec<Place>, Failure> {
    let mut taken = BTreeSet::new();
    let place = |(index, device): (usize, DeviceInfo)| Place {
        device: Some(index.to_string()),
        folder: Some(folder(&device, index, &mut taken)),
        name: Some(format!("device {index}: {}", device.name)),
    };
    Ok(devices()?.into_iter().enumerate().map(place).collect())
}

/// Says which cases failed through one API and not through the other.
fn compare(vulkan: &Path, wgpu: &Path) -> Result<(), Failure> {
    let statuses = |folder: &Path| folders::open(folder)?.statuses().code(exit::USAGE);
    show(&apart(&statuses(vulkan)?, &statuses(wgpu)?));
    Ok(())
}

/// The cases that failed through one API only, and how they came out through the other.
fn apart(vulkan: &BTreeMap<String, Status>, wgpu: &BTreeMap<String, Status>) -> String {
    /// Cases that are listed.
    const SHOWN: usize = 40;
    let only = |one: &BTreeMap<String, Status>, other: &BTreeMap<String, Status>| -> Vec<String> {
        let failing = one.iter().filter(|(_, status)| status.is_failure());
        let here = failing.filter(|(name, _)| other.get(*name).is_none_or(|status| !status.is_failure()));
        here.map(|(name, status)| match other.get(name) {
            Some(other) => format!("  {name}: {status:?}, and {other:?} through the other"),
            None => format!("  {name}: {status:?}, and no result through the other"),
        })
        .collect()
    };
    let mut text = String::new();
    for (api, lines) in [("Vulkan", only(vulkan, wgpu)), ("wgpu", only(wgpu, vulkan))] {
        text += &format!(
            "\nfailing through {api} only: {}\n",
            if lines.is_empty() { "none".to_owned() } else { lines.len().to_string() }
        );
        for line in lines.iter().take(SHOWN) {
            text += line;
            text.push('\n');
        }
        if lines.len() > SHOWN {
            text += &format!("  and {} more: assay diff shows them\n", lines.len() - SHOWN);
        }
    }
    let both =
        vulkan.iter().filter(|(name, status)| status.is_failure() && wgpu.get(*name).is_some_and(|s| s.is_failure()));
    text += &format!("failing through both: {}\n", both.count());
    text
}

/// What is here, found out in a process of its own: drivers may crash when they are loaded, too.
pub(crate) fn devices() -> Result<Vec<DeviceInfo>, Failure> {
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

/// The command line that runs on that device through that API alone.
fn alone(command: &[String], device: Option<&str>, api: Api, folder: &str) -> Vec<String> {
    let mut alone = Vec::new();
    let mut rest = command.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--device" | "--out" | "--api" => _ = rest.next(),
            other if ["--device=", "--out=", "--api="].iter().any(|option| other.starts_with(option)) => {}
            _ => alone.push(argument.clone()),
        }
    }
    if let Some(device) = device {
        alone.extend(["--device".to_owned(), device.to_owned()]);
    }
    alone.extend(["--api".to_owned(), api.name().to_owned(), "--out".to_owned(), folder.to_owned()]);
    alone
}

/// The exit code of several runs: an interruption first, then failures, then what kept a run from its end; nothing checked only
/// if all say so.
fn together(codes: &[u8]) -> u8 {
    let first = |code: &u8| codes.contains(code);
    let order = [exit::INTERRUPTED, exit::FAILURES, exit::INTERNAL, exit::USAGE, exit::NO_DEVICE, exit::OK];
    order.into_iter().find(first).unwrap_or(exit::NOTHING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_one_device_is_told_apart() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let command = words("assay run p.f32 --device all --out o --seed 3");
        let (one, zero) = (Some("1"), Some("0"));
        let alone_on_one = alone(&command, one, Api::Vulkan, "o/x");
        assert_eq!(alone_on_one, words("assay run p.f32 --seed 3 --device 1 --api vulkan --out o/x"));
        let command = words("assay run --device=all --api=both --out=o");
        assert_eq!(alone(&command, zero, Api::Wgpu, "o/x"), words("assay run --device 0 --api wgpu --out o/x"));
        let command = words("assay run --api both");
        assert_eq!(alone(&command, None, Api::Wgpu, "o/x"), words("assay run --api wgpu --out o/x"));
    }

    #[test]
    fn what_fails_through_one_api_only_is_said() {
        let results = |of: &[(&str, Status)]| of.iter().map(|(name, status)| ((*name).to_owned(), *status)).collect();
        let vulkan = results(&[("a", Status::Fail), ("b", Status::Pass), ("c", Status::Crash), ("d", Status::Fail)]);
        let wgpu = results(&[("a", Status::Fail), ("b", Status::Fail), ("c", Status::NotSupported)]);
        let text = apart(&vulkan, &wgpu);
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        let expected = [
            "failing through Vulkan only: 2",
            "  c: Crash, and NotSupported through the other",
            "  d: Fail, and no result through the other",
            "failing through wgpu only: 1",
            "  b: Fail, and Pass through the other",
            "failing through both: 1",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_worst_code_speaks_for_all() {
        assert_eq!(together(&[0, 0]), 0);
        assert_eq!(together(&[0, 3]), 0);
        assert_eq!(together(&[3, 3]), 3);
        assert_eq!(together(&[4, 1]), 1);
        assert_eq!(together(&[0, 130]), 130);
        assert_eq!(together(&[1, 130]), 130);
        assert_eq!(together(&[]), 3);
    }
}
