//! Summaries of the verdicts on several devices or through both APIs.

use super::{attribution::AT_FAULT, device_check::DeviceVerdict};
use crate::exit;
use assay_check::Mutation;
use assay_events::{CheckResult, Status};
use std::fmt::Write as _;

/// Returns a line per device with failures: the APIs that fail, and the component at fault, if the
/// results of both APIs say so. `results` has a pair per device, Vulkan first.
pub(super) fn api_comparison(results: &[DeviceVerdict], planted: Option<&Mutation>) -> String {
    let mut text = String::new();
    for pair in results.chunks(2) {
        let [DeviceVerdict { device, result: Some(vulkan), .. }, DeviceVerdict { result: Some(wgpu), .. }] = pair
        else {
            continue;
        };
        let (failure, default) = match (vulkan.status.is_failure(), wgpu.status.is_failure()) {
            (true, true) => ("fails through both APIs".to_owned(), "probably the driver, which both have in common"),
            (true, false) => {
                (fails_through("Vulkan", "wgpu", wgpu), "probably the driver, with the SPIR-V that Assay passes to it")
            }
            (false, true) => {
                (fails_through("wgpu", "Vulkan", vulkan), "probably wgpu, naga, or the checks that they add")
            }
            (false, false) => continue,
        };
        let attribution = attribution_of([vulkan, wgpu], planted, default);
        let attribution = attribution.map(|attribution| format!("; {attribution}")).unwrap_or_default();
        _ = writeln!(text, "{}: {failure}{attribution}", device.name);
    }
    text
}

/// Describes a failure through one API only. An API that gave no verdict is not said to pass.
fn fails_through(api: &str, other: &str, result: &CheckResult) -> String {
    if result.status.is_checked() {
        format!("fails through {api} only")
    } else {
        format!("fails through {api}; through {other} it was {:?}", result.status)
    }
}

/// Returns the component at fault for a failure through one API or both: the one that the check
/// through wgpu found, otherwise `default` if both APIs gave a verdict.
fn attribution_of(results: [&CheckResult; 2], planted: Option<&Mutation>, default: &str) -> Option<String> {
    let failing = || results.iter().filter(|result| result.status.is_failure());
    if let Some(mutation) = planted {
        return Some(format!("{mutation} was planted: no component is at fault"));
    }
    if failing().any(|result| result.status == Status::InternalError) {
        return Some("InternalError is a defect of Assay or an objection of the validation layer".to_owned());
    }
    if failing().all(|result| result.fails_only_the_case()) {
        return Some("only expectations of the case file are not met: no component is at fault".to_owned());
    }
    let [_, wgpu] = results;
    let found = wgpu.notes.iter().find(|note| note.starts_with(AT_FAULT));
    let both_checked = results.iter().all(|result| result.status.is_checked() && !result.fails_only_the_case());
    found.cloned().or_else(|| both_checked.then(|| format!("{}{default}", AT_FAULT)))
}

/// Returns the worst exit code of all devices. A device that cannot run the shader counts only if
/// no other device ran it.
pub(super) fn worst_code(results: &[DeviceVerdict]) -> u8 {
    let codes = || results.iter().map(|verdict| verdict.code);
    let worst = codes().filter(|&code| code != exit::OK && code != exit::NOTHING).max();
    worst.unwrap_or_else(|| if codes().any(|code| code == exit::OK) { exit::OK } else { exit::NOTHING })
}

/// Returns a line for each device: status, name, and the number of elements or the reason.
pub(super) fn device_summary(results: &[DeviceVerdict]) -> String {
    let mut text = String::from("\n");
    for verdict in results {
        let DeviceVerdict { device, result: Some(result), .. } = verdict else { continue };
        let device = &device.name;
        let status = format!("{:?}", result.status);
        let details = match result.status {
            Status::Pass => format!("{}, {}", result.conclusion(), result.rounds_text()),
            _ => result.conclusion(),
        };
        _ = writeln!(text, "{status:<14} {device}: {details}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_check::{Check, Options, ShaderSource};
    use assay_exec::Target;
    use assay_suite::NoDevice;

    const SHADER: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = id.x; }";

    /// Returns the line on two results; a note is that of the check through wgpu.
    fn compared(statuses: [Status; 2], note: Option<&str>) -> String {
        let subject = ShaderSource::read("shader.wgsl", SHADER.as_bytes()).expect("a shader");
        let check = Check::new(&subject, &Options::default()).expect("ready");
        let verdicts = statuses.map(|status| {
            let result = check.not_run(status, "for a reason".to_owned());
            let result = CheckResult { notes: note.map(str::to_owned).into_iter().collect(), ..result };
            DeviceVerdict { device: NoDevice::default().info().clone(), result: Some(result), code: exit::OK }
        });
        api_comparison(&verdicts, None)
    }

    #[test]
    fn an_api_without_a_verdict_neither_passes_nor_accuses() {
        let line = compared([Status::Fail, Status::Pass], None);
        assert!(line.contains(": fails through Vulkan only; at fault: probably the driver"), "{line}");
        for status in [Status::NotSupported, Status::Undetermined] {
            let line = compared([Status::Fail, status], None);
            assert!(line.ends_with(&format!(": fails through Vulkan; through wgpu it was {status:?}\n")), "{line}");
            let line = compared([status, Status::Crash], None);
            assert!(line.ends_with(&format!(": fails through wgpu; through Vulkan it was {status:?}\n")), "{line}");
        }
        let line = compared([Status::NotSupported, Status::Fail], Some("at fault: naga: for a reason"));
        assert!(line.ends_with("it was NotSupported; at fault: naga: for a reason\n"), "{line}");
        assert_eq!(compared([Status::Undetermined, Status::Pass], None), "");
    }

    #[test]
    fn an_internal_error_accuses_no_component() {
        for statuses in [[Status::InternalError, Status::Pass], [Status::Fail, Status::InternalError]] {
            let line = compared(statuses, None);
            assert!(line.contains("InternalError is a defect of Assay") && !line.contains("at fault"), "{line}");
        }
    }
}
