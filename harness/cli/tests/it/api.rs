//! `--api`: runs and checks through Vulkan and wgpu. Skipped without a device.

use crate::support::assay;
use crate::support::device::device;
use assay_events::{DeviceInfo, Event, Status};
use std::{collections::BTreeSet, fs, path::Path};

fn results(folder: &Path) -> Vec<(String, Status, String)> {
    let text = fs::read_to_string(folder.join("results.jsonl")).expect("results.jsonl");
    let events = text.lines().map(|line| serde_json::from_str::<Event>(line).expect("a whole event a line"));
    events
        .filter_map(|event| match event {
            Event::CaseFinished(case) => Some((case.name, case.status, case.api)),
            _ => None,
        })
        .collect()
}

fn reported_device(folder: &Path) -> DeviceInfo {
    serde_json::from_str(&fs::read_to_string(folder.join("device.json")).expect("device.json")).expect("a device")
}

#[test]
fn a_run_through_both_apis_has_two_folders_and_lists_the_differences() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let path = out.to_str().unwrap();
    let filters = ["precision.f32.fnegate.scalar.default", "precision.f32.fmod.scalar.default"];
    let output = assay(&["run", filters[0], filters[1], "--api", "both", "--out", path, "--device", "0"]);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(output.stdout.contains("failures through Vulkan only: none"), "{output:?}");
    assert!(output.stdout.contains("failures through wgpu only: none"), "{output:?}");
    let (vulkan, wgpu) = (out.join("vulkan"), out.join("wgpu"));
    assert_eq!([reported_device(&vulkan).api, reported_device(&wgpu).api], ["vulkan", "wgpu"]);
    assert_eq!(format!("{}, wgpu", reported_device(&vulkan).name), reported_device(&wgpu).name);
    let all = results(&wgpu);
    assert!(all.iter().all(|(_, _, api)| api == "wgpu"), "{all:?}");
    let status = |name: &str| all.iter().find(|(n, ..)| n == name).map(|(_, status, _)| *status);
    assert_eq!(status(filters[0]), Some(Status::Pass));
    assert_eq!(status(filters[1]), Some(Status::NotSupported));
    // Results are in the order in which the workers finish them.
    let names = |of: &Path| results(of).into_iter().map(|(name, ..)| name).collect::<BTreeSet<_>>();
    assert_eq!(names(&vulkan), names(&wgpu), "the same cases");
    assert_eq!((results(&vulkan).len(), names(&vulkan).len()), (all.len(), all.len()), "each once");
    // Only the device's name and a margin differ, so the run is not worse.
    let diff = assay(&["diff", vulkan.to_str().unwrap(), wgpu.to_str().unwrap()]);
    assert_eq!(diff.code, 0, "{diff:?}");
    // A run is resumed through the same API only.
    let other = assay(&["run", "--resume", wgpu.to_str().unwrap(), "--api", "both"]);
    assert!(other.code == 2 && other.stderr.contains("--api"), "{other:?}");
}

#[test]
fn requests_that_wgpu_cannot_run_are_refused_before_a_device_is_opened() {
    let requests = [
        (&["run", "precision.f64", "--api", "wgpu"][..], 3, "it has no f64"),
        (&["run", "storage8", "--api", "wgpu"], 3, "SPIR-V suites cannot run through wgpu"),
        (&["run", "precision.f32.isnan", "--api", "wgpu"], 3, "IsNan cannot be expressed in WGSL"),
        (&["run", "precision.f32", "--api", "wgpu", "--validation"], 2, "--validation requires --api vulkan"),
        (&["run", "precision.f32", "--api", "metal"], 2, "metal"),
        (&["explain", "OpFMod", "--in", "1", "2", "--api", "wgpu"], 2, "rounds down"),
        (&["explain", "OpFAdd", "--format", "f64", "--in", "1", "2", "--api", "wgpu"], 2, "it has no f64"),
    ];
    for (arguments, code, message) in requests {
        let output = assay(arguments);
        assert!(output.code == code && output.stderr.contains(message), "{arguments:?}: {output:?}");
    }
}

#[test]
fn an_explanation_follows_the_rules_of_the_selected_api() {
    let judged = |api: &str| assay(&["explain", "Acos", "--in", "0x3f7fbe77", "--got", "0x3d377000", "--api", api]);
    let (vulkan, wgpu, both) = (judged("vulkan"), judged("wgpu"), judged("both"));
    assert_eq!([vulkan.code, wgpu.code, both.code], [1, 0, 1], "{vulkan:?} {wgpu:?}");
    assert!(wgpu.stdout.contains("absolute error of 6.77e-5") && !vulkan.stdout.contains("6.77e-5"), "{wgpu:?}");
    assert_eq!(both.stdout, format!("{}\n{}", vulkan.stdout, wgpu.stdout));
}

const SHADER: &str = "@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  data[id.x] = data[id.x] * 2.0 + 1.0;
}
";

#[test]
fn a_check_through_both_apis_has_two_verdicts_and_keeps_nagas_translation() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (file, out) = (dir.path().join("shader.wgsl"), dir.path().join("found"));
    fs::write(&file, SHADER).unwrap();
    let arguments = ["check", file.to_str().unwrap(), "--api", "both", "--device", "0", "--rounds", "1"];
    let right = assay(&arguments);
    assert_eq!(right.code, 0, "{right:?}");
    assert_eq!(right.stdout.matches("elements checked").count().min(2), 2, "{right:?}");
    // wgpu receives the module with the planted error as SPIR-V, through naga.
    let planted = [&arguments[..], &["--mutate", "ulp:64@OpFMul", "--out", out.to_str().unwrap()]].concat();
    let wrong = assay(&planted);
    assert_eq!(wrong.code, 1, "{wrong:?}");
    assert!(
        wrong.stdout.contains("fails through both APIs; ulp:64@OpFMul was planted: no component is at fault"),
        "{wrong:?}"
    );
    assert!(!wrong.stdout.contains("at fault: the driver"), "{wrong:?}");
    assert_eq!(wrong.stdout.matches("was planted: the device is not at fault.").count(), 2);
    let made = fs::read_to_string(out.join("wgpu/bundle/naga.spvasm")).expect("naga's translation");
    assert!(made.contains("OpFMul") && made.contains("OpEntryPoint GLCompute"), "{made}");
    assert!(!out.join("vulkan/bundle/naga.spvasm").exists());
    // The bundle is rerun through the API that it was made with.
    let again = assay(&["repro", out.join("wgpu/bundle").to_str().unwrap(), "--device", "0"]);
    assert!(again.stdout.contains("wgpu: reproduced"), "{again:?}");
}

/// Under WGSL's rules, no resource can be checked after an access out of bounds; the refusal says
/// so.
#[test]
fn an_access_out_of_bounds_is_a_dynamic_error_through_wgpu() {
    if !device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("beyond.wgsl");
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;
        @compute @workgroup_size(16) fn main(@builtin(local_invocation_index) i: u32) { data[i] = i; }";
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let output = assay(&["check", path, "--api", "wgpu", "--workgroups", "1"]);
    assert_eq!(output.code, 2, "{output:?}");
    assert!(output.stderr.contains("has a dynamic error (after which WGSL does not define"), "{output:?}");
    let output = assay(&["check", path, "--workgroups", "1"]);
    assert!(output.stderr.contains("has undefined behaviour with these inputs"), "{output:?}");
}
