//! Fault injection: lavapipe behind a shim that plants driver faults. The cases that target a fault
//! must fail under it, and without a fault the shim must not change any result.

use crate::support::assay_with;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A fault, the cases under which it is planted, and the status that all of them must have.
struct PlantedFault {
    fault: &'static str,
    cases: &'static [&'static str],
    status: &'static str,
}

const fn fails(fault: &'static str, cases: &'static [&'static str]) -> PlantedFault {
    PlantedFault { fault, cases, status: "Fail" }
}

/// Returns a fault whose results one reading of the specification permits.
const fn warns(fault: &'static str, cases: &'static [&'static str]) -> PlantedFault {
    PlantedFault { fault, cases, status: "QualityWarning" }
}

/// Returns a fault that makes a device access memory outside the buffer.
const fn crashes(fault: &'static str, cases: &'static [&'static str]) -> PlantedFault {
    PlantedFault { fault, cases, status: "Crash" }
}

/// Casts of special floats between types of the same width, scalars and vectors.
const CASTS: &[&str] = &[
    "environment.convert.bitcast.f32.from_u32.special",
    "environment.convert.bitcast.u32.from_f32.special",
    "environment.convert.bitcast.f32.from_u16vec2.special",
    "environment.convert.bitcast.u16vec2.from_f32.special",
    "environment.convert.bitcast.f32.from_f16vec2.special",
    "environment.convert.bitcast.f16vec2.from_f32.special",
    "environment.convert.bitcast.f64.from_u32vec2.special",
    "environment.convert.bitcast.u32vec2.from_f64.special",
    "environment.convert.bitcast.f64.from_u16vec4.special",
    "environment.convert.bitcast.f64vec2.from_u32vec4.special",
];

/// Faults in addition to those that statements of the coverage table name.
const PLANTED_FAULTS: &[PlantedFault] = &[
    fails(
        "positive-zero@OpLoad",
        &["environment.bits.load.f32.preserving", "environment.bits.load.f32vec4.preserving"],
    ),
    fails("finite@OpSelect", &["environment.bits.select.f32.preserving"]),
    warns("positive-zero@OpLoad", &["environment.bits.load.f32", "environment.bits.load.f16vec4"]),
    warns("finite@OpSelect", &["environment.bits.select.f32"]),
    warns("plain-nan@OpCopyObject", &["environment.bits.copy.f32", "environment.bits.copy.f32.preserving"]),
    warns("plain-nan@OpBitcast", CASTS),
    warns("positive-zero@OpBitcast", CASTS),
    warns("finite@OpBitcast", CASTS),
    fails(
        "positive-zero@OpAtomicLoad",
        &[
            "environment.atomic.buffer.fload.f32.special.preserving",
            "environment.atomic.workgroup.fload.f32.special.preserving",
        ],
    ),
    fails("finite@OpAtomicStore", &["environment.atomic.buffer.fstore.f32.special.preserving"]),
    warns("finite@OpAtomicStore", &["environment.atomic.buffer.fstore.f32.special"]),
    fails(
        "positive-zero@OpAtomicExchange",
        &[
            "environment.atomic.buffer.fexchange.f32.special.preserving",
            "environment.atomic.image.fexchange.f32.special.preserving",
        ],
    ),
    warns("positive-zero@OpAtomicExchange", &["environment.atomic.buffer.fexchange.f32.special"]),
    fails(
        "positive-zero@OpGroupNonUniformBroadcast",
        &[
            "environment.subgroup.broadcast.f32.special.preserving",
            "environment.subgroup.broadcast.f32.dynamic.special.preserving",
            "environment.subgroup.broadcast.f32.vec4.special.preserving",
        ],
    ),
    warns("positive-zero@OpGroupNonUniformBroadcast", &["environment.subgroup.broadcast.f32.special"]),
    fails("finite@OpGroupNonUniformShuffle", &["environment.subgroup.shuffle.f32.special.preserving"]),
    crashes(
        "cut-64bit-indices",
        &[
            "environment.indexing64.address.element.load.u64.stride4.far",
            "environment.indexing64.address.element.load.i64.stride8.before",
            "environment.indexing64.address.element.load.u64.stride256.beyond",
            "environment.indexing64.address.element.store.i64.stride12.far",
            "environment.indexing64.address.member.load.u64.stride12.far",
            "environment.indexing64.address.member.load.i64.stride4.beyond",
            "environment.indexing64.address.member.store.u64.stride4.far",
        ],
    ),
    fails(
        "short-push",
        &["storage8.load.push.u8.offset32", "storage8.load.push.u8.offset127", "storage8.load.push.u8vec4.offset124"],
    ),
    fails(
        "normalized-samplers",
        &["gather.core.unnormalized.sure.7x5.clamp_to_edge", "gather.core.unnormalized.beside.16x9.clamp_to_border"],
    ),
    fails("reversed-depth-gathers", &["gather.core.depth.repeat", "gather.core.depth.clamp_to_border.white"]),
    // Not a fault: a correct implementation of a feature that lavapipe lacks.
    PlantedFault {
        fault: "64bit-indexing",
        cases: &[
            "environment.indexing64.load.u64.stride4.far",
            "environment.indexing64.load.i64.stride256.beyond",
            "environment.indexing64.store.i64.stride256.far",
            "environment.indexing64.length.whole.u64.stride4.inside",
            "environment.indexing64.address.element.load.u64.stride4.far",
            "environment.indexing64.address.element.load.i64.stride256.before",
            "environment.indexing64.address.element.store.u64.stride12.far",
            "environment.indexing64.address.member.load.i64.stride8.beyond",
            "environment.indexing64.address.member.store.u64.stride256.far",
        ],
        status: "Pass",
    },
];

/// Returns the cases and the status that they must have, by the fault under which they run.
fn planted() -> BTreeMap<String, BTreeMap<String, &'static str>> {
    let mut planted = BTreeMap::<String, BTreeMap<String, &'static str>>::new();
    for PlantedFault { fault, cases, status } in PLANTED_FAULTS {
        let of_fault = planted.entry((*fault).to_owned()).or_default();
        of_fault.extend(cases.iter().map(|case| ((*case).to_owned(), *status)));
    }
    let statements = assay_coverage::documents().unwrap().into_iter().flat_map(|document| document.statements);
    for named in statements.flat_map(|statement| statement.faults) {
        let of_fault = planted.entry(named.fault).or_default();
        of_fault.extend(named.cases.into_iter().map(|case| (case, "Fail")));
    }
    planted
}

/// Returns the manifests of lavapipe and of the shim that wraps it; `None` without lavapipe.
fn manifests(folder: &Path) -> Option<(String, String)> {
    let lavapipe = assay_testkit::required_variable("ASSAY_LAVAPIPE_ICD")?;
    let library: PathBuf = env::current_exe().unwrap().with_file_name(assay_shim::LIBRARY_FILE);
    let shim = folder.join("shim.json");
    fs::write(&shim, assay_shim::manifest(&library)).unwrap();
    Some((lavapipe, shim.to_str().unwrap().to_owned()))
}

/// Runs cases, and cases whose names start with theirs, on the driver of a manifest. Returns status
/// and reason by case.
fn run<'a>(
    cases: impl Iterator<Item = &'a String>,
    manifest: &str,
    shim: &[(&str, &str)],
    (isolate, out): (&str, &Path),
) -> BTreeMap<String, (String, String)> {
    let mut environment = vec![("VK_DRIVER_FILES", manifest), ("VK_ICD_FILENAMES", manifest)];
    environment.extend(shim);
    let mut arguments = vec!["run", "--out", out.to_str().unwrap(), "--isolate", isolate];
    for case in cases {
        arguments.push(case);
    }
    let ran = assay_with(&arguments, &environment);
    let text = format!("{}{}", ran.stdout, ran.stderr);
    let results = fs::read_to_string(out.join("results.jsonl")).unwrap_or_else(|_| panic!("{text}"));
    let mut found = BTreeMap::new();
    for line in results.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let word = |name: &str| event.get(name).and_then(|v| v.as_str()).unwrap_or_default().to_owned();
        if event.get("status").is_some() && !word("name").is_empty() {
            found.insert(word("name"), (word("status"), word("reason")));
        }
    }
    found
}

/// Returns the number of modules and calls that a fault has changed, from the file where the shim
/// records them.
fn changes(record: &Path) -> u64 {
    fs::metadata(record).map_or(0, |file| file.len())
}

#[test]
fn a_fault_that_is_not_planted_anywhere_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    let Some((lavapipe, shim)) = manifests(folder.path()) else { return };
    let record = folder.path().join("changes");
    // A case without matrices.
    let case = "environment.bits.copy.f32".to_owned();
    for (fault, is_planted) in [("flush@OpTranspose", false), ("flush@OpCopyObject", true)] {
        let environment = [
            (assay_shim::DRIVER_VARIABLE, &*lavapipe),
            (assay_shim::FAULT_VARIABLE, fault),
            (assay_shim::RECORD_VARIABLE, record.to_str().unwrap()),
        ];
        let found = run([&case].into_iter(), &shim, &environment, ("no", &folder.path().join(fault)));
        assert_eq!(changes(&record) > 0, is_planted, "{fault}: {found:?}");
    }
}

#[test]
fn planted_faults_are_detected() {
    let folder = tempfile::tempdir().unwrap();
    let Some((lavapipe, shim)) = manifests(folder.path()) else { return };
    let mut missed = Vec::new();
    for (number, (fault, cases)) in planted().iter().enumerate() {
        let record = folder.path().join(format!("{number}.changes"));
        let environment = [
            (assay_shim::DRIVER_VARIABLE, &*lavapipe),
            (assay_shim::FAULT_VARIABLE, fault),
            (assay_shim::RECORD_VARIABLE, record.to_str().unwrap()),
        ];
        // Processes of their own take longer, and only crashes need them.
        let isolate = if cases.values().any(|status| *status == "Crash") { "yes" } else { "no" };
        let found = run(cases.keys(), &shim, &environment, (isolate, &folder.path().join(number.to_string())));
        if changes(&record) == 0 {
            missed.push(format!("{fault}: no module and no call was changed"));
        }
        for (case, status) in cases {
            match found.get(case) {
                Some((got, _)) if got == status => {}
                got => missed.push(format!("{fault}: {case}, expected {status}: {got:?}")),
            }
        }
    }
    assert!(missed.is_empty(), "{} cases:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn without_a_fault_the_shim_does_not_change_results() {
    let folder = tempfile::tempdir().unwrap();
    let Some((lavapipe, shim)) = manifests(folder.path()) else { return };
    let cases: BTreeSet<String> = planted().into_values().flat_map(BTreeMap::into_keys).collect();
    let own = run(cases.iter(), &lavapipe, &[], ("yes", &folder.path().join("own")));
    let driver = [(assay_shim::DRIVER_VARIABLE, &*lavapipe)];
    let wrapped = run(cases.iter(), &shim, &driver, ("yes", &folder.path().join("wrapped")));
    assert_eq!(own, wrapped);
    // Only features that lavapipe lacks are skipped.
    let wrong = cases.iter().filter(|name| {
        let expected = if name.starts_with("environment.indexing64") { "NotSupported" } else { "Pass" };
        own.get(*name).is_none_or(|(status, _)| status != expected)
    });
    assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_misconfigured_shim_reports_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let Some((lavapipe, shim)) = manifests(folder.path()) else { return };
    for (variable, value, words) in [
        (assay_shim::FAULT_VARIABLE, "flush@OpNothing", "`flush@OpNothing` is not a fault: expected"),
        (assay_shim::DRIVER_VARIABLE, "/nowhere.json", "the manifest /nowhere.json cannot be read"),
        (assay_shim::DRIVER_VARIABLE, "", "ASSAY_SHIM_DRIVER is not set"),
    ] {
        let environment = [
            ("VK_DRIVER_FILES", &*shim),
            ("VK_ICD_FILENAMES", &*shim),
            (assay_shim::DRIVER_VARIABLE, &*lavapipe),
            (variable, value),
        ];
        let ran = assay_with(&["devices"], &environment);
        assert!(ran.stderr.contains(words), "{ran:?}");
        assert_ne!(ran.code, 0, "{ran:?}");
    }
}
