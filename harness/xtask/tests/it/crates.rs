//! Dependencies between the crates of the workspace: the floors of `ARCHITECTURE.md`, and which
//! crates know of devices.

use crate::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// Returns the directories of the crates of the workspace.
pub(crate) fn crate_folders() -> Vec<PathBuf> {
    let harness = fs::read_dir(root().join("harness")).expect("a folder");
    let mut folders: Vec<PathBuf> = harness.map(|entry| entry.expect("an entry").path()).collect();
    folders.push(root().join("reports"));
    folders.retain(|folder| folder.join("Cargo.toml").exists());
    folders.sort();
    folders
}

/// Returns the name of a crate as `ARCHITECTURE.md` writes it: its folder's.
pub(crate) fn name_of(folder: &std::path::Path) -> String {
    folder.file_name().expect("a name").to_string_lossy().into_owned()
}

/// Returns the dependencies of each crate, by folder: crates of the workspace by their folders, and
/// others by their names. Dependencies of tests are not included.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let manifests: Vec<(String, toml::Table)> = crate_folders()
        .into_iter()
        .map(|folder| {
            let text = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
            (name_of(&folder), text.parse().expect("TOML"))
        })
        .collect();
    let package = |manifest: &toml::Table| manifest["package"]["name"].as_str().expect("a name").to_owned();
    let folders: BTreeMap<String, String> =
        manifests.iter().map(|(folder, manifest)| (package(manifest), folder.clone())).collect();
    let of = |manifest: &toml::Table| -> BTreeSet<String> {
        let targets = manifest.get("target").and_then(toml::Value::as_table);
        let tables = targets.into_iter().flat_map(|targets| targets.values());
        let tables = tables.filter_map(|target| target.get("dependencies")).chain(manifest.get("dependencies"));
        let names = tables.filter_map(toml::Value::as_table).flat_map(|table| table.keys());
        names.map(|name| folders.get(name).unwrap_or(name).clone()).collect()
    };
    manifests.iter().map(|(folder, manifest)| (folder.clone(), of(manifest))).collect()
}

/// Returns the floor of each crate in the drawing of `ARCHITECTURE.md`; `None` for crates apart.
fn floors() -> BTreeMap<String, Option<u32>> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("a document");
    let mut floors = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace().filter(|word| !word.starts_with('('));
        let floor = match words.next() {
            Some("floor") => Some(words.next().and_then(|number| number.parse().ok()).expect("a number of a floor")),
            Some("apart") => None,
            _ => continue,
        };
        for name in words {
            assert_eq!(floors.insert(name.to_owned(), floor), None, "{name} is on two floors");
        }
    }
    floors
}

#[test]
fn a_crate_uses_crates_of_lower_floors_only() {
    let (dependencies, floors) = (dependencies(), floors());
    let drawn: BTreeSet<&String> = floors.keys().collect();
    assert_eq!(drawn, dependencies.keys().collect(), "ARCHITECTURE.md draws exactly the crates of the workspace");
    let mut wrong = Vec::new();
    for (user, used) in &dependencies {
        for used in used.iter().filter(|used| floors.contains_key(*used)) {
            let lower = match (floors[user], floors[used]) {
                (Some(user), Some(used)) => used < user,
                // Crates apart stand beside the floors.
                (None, _) => true,
                (Some(_), None) => false,
            };
            if !lower {
                wrong.push(format!("{user} uses {used}"));
            }
        }
    }
    assert!(wrong.is_empty(), "dependencies that ARCHITECTURE.md does not allow:\n{}", wrong.join("\n"));
}

#[test]
fn only_backends_and_programs_know_of_devices() {
    /// Crates that talk to a driver.
    const DEVICES: [&str; 6] = ["vulkan", "vulkan-exec", "wgpu-exec", "ash", "gpu-allocator", "wgpu"];
    let dependencies = dependencies();
    for device in DEVICES {
        assert!(dependencies.values().any(|used| used.contains(device)), "nothing uses {device}: is this its name?");
    }
    for user in ["events", "exec", "case", "oracle", "runner", "isolate", "check", "suite", "coverage", "reports"] {
        let (mut reached, mut pending) = (BTreeSet::new(), vec![user]);
        while let Some(next) = pending.pop() {
            for used in dependencies.get(next).into_iter().flatten() {
                assert!(!DEVICES.contains(&used.as_str()), "{user} depends on {used}, through {next}");
                if reached.insert(used) {
                    pending.push(used);
                }
            }
        }
    }
}
