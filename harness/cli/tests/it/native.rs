//! `--path native` of extensions that no available driver has, on the mock driver. The test layer
//! reports the extensions beneath the validation layer. The mock driver executes nothing, so no
//! result is checked; the recorded commands must cause no validation message.

use crate::support::{assay, assay_with};
use assay_testkit::required_variable;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// One case is enough to see a message, because a failing case is rerun alone.
const ONE: &str = "tile.program.histogram.rate4x4";
const VALIDATION: &str = "VK_LAYER_KHRONOS_validation";

/// Returns the mock driver and the folder of the validation layer; `None` if they are missing.
fn stack() -> Option<(String, String)> {
    required_variable("ASSAY_MOCK_ICD").zip(required_variable("VK_LAYER_PATH"))
}

/// Returns the status and reason of each case of a native run on the mock driver with layers, in
/// the order from application to driver.
fn native(cases: &str, (mock, path): (&str, &str), layers: &str, out: &Path) -> Vec<(String, String)> {
    let folder = out.to_str().unwrap();
    let environment = [
        ("VK_DRIVER_FILES", mock),
        ("VK_ICD_FILENAMES", mock),
        ("VK_LAYER_PATH", path),
        ("VK_INSTANCE_LAYERS", layers),
    ];
    let ran = assay_with(&["run", cases, "--path", "native", "--validation", "--out", folder], &environment);
    let text = format!("{}{}", ran.stdout, ran.stderr);
    let results = fs::read_to_string(out.join("results.jsonl")).unwrap_or_else(|_| panic!("{text}"));
    let mut found = Vec::new();
    for line in results.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let word = |name: &str| event.get(name).and_then(|v| v.as_str()).unwrap_or_default().to_owned();
        if event.get("status").is_some() && word("name").starts_with("tile.") {
            assert_eq!(word("path"), "native", "{line}");
            found.push((word("status"), word("reason")));
        }
    }
    // The quick budget includes a good part of the cases.
    let all = assay(&["list", cases]).stdout.lines().count();
    assert!(found.len() > all / 3, "{} of {all}, exit code {}: {text}", found.len(), ran.code);
    found
}

#[test]
fn native_tile_shading_runs_clean_on_the_mock_stack() {
    let Some((mock, validation)) = stack() else { return };
    let folder = tempfile::tempdir().unwrap();
    let library: PathBuf = env::current_exe().unwrap().with_file_name(assay_testlayer::LIBRARY_FILE);
    let layer = folder.path().join("layer");
    fs::create_dir(&layer).unwrap();
    fs::write(layer.join("layer.json"), assay_testlayer::manifest(&library)).unwrap();
    let (test, layer) = (assay_testlayer::LAYER_NAME, layer.display());
    // Loaders before 1.3.263 use the order of the folders, later ones the order of the names.
    let path = format!("{validation}:{layer}");
    let clean = native("tile.*", (&mock, &path), &format!("{VALIDATION}:{test}"), &folder.path().join("clean"));
    for (status, reason) in &clean {
        assert_eq!(status, "Undetermined", "{reason}");
        assert!(reason.contains("the device does not execute work"), "{reason}");
    }
    // If the test layer is above the validation layer, the validation layer does not see the
    // extensions. Its messages then show that such messages are reported.
    let path = format!("{layer}:{validation}");
    let swapped = native(ONE, (&mock, &path), &format!("{test}:{VALIDATION}"), &folder.path().join("swapped"));
    let reported =
        |(status, reason): &(String, String)| status == "InternalError" && reason.contains("VUID-RuntimeSpirv-x-10702");
    assert!(swapped.iter().any(reported), "{:?}", swapped.first());
}
