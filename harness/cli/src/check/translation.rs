//! `assay check --against`: comparison of two translations of a shader.

use super::{check_args::CheckArgs, execution_args::SelectedDevice};
use crate::{
    exit::{self, Failure, usage},
    note, print, run,
};
use assay_check::{
    Check, CheckSession, ShaderSource, check_equivalence, load_translation, run_tool, translation_options,
    without_source,
};
use assay_events::Status;
use assay_exec::Target;
use assay_suite::NoDevice;
use std::path::Path;
use std::time::Duration;

/// Time limit of spirv-opt.
const OPTIMIZER_TIME: Duration = Duration::from_secs(120);

/// `--against`: checks that the shader permits every result that another translation permits.
pub(super) fn check_translation(session: &CheckSession, other: &Path, args: &CheckArgs) -> Result<u8, Failure> {
    let (check, options) = (&session.check()?, &session.options);
    session.must_have_inputs(check)?;
    check.warnings.iter().for_each(|line| note(&format!("warning: {line}; --strict makes this an error")));
    let module = &check.shader.source.module;
    let other = match other.to_str() {
        Some("spirv-opt") => ShaderSource::read("spirv-opt -O", &spirv_opt(&without_source(module))?)?,
        _ => load_translation(other, check, options)?,
    };
    let theirs = Check::new(&other, &translation_options(check, &other, options))?;
    theirs.warnings.iter().for_each(|line| note(&format!("warning: {line}; --strict makes this an error")));
    let device = args.execution.device.as_deref();
    if device == Some(run::ALL) {
        return Err(usage(
            "--against takes one --device: nothing runs on it, but its subgroup size and limits apply to both translations",
        ));
    }
    let limits;
    let target: Box<dyn Target> =
        match args.execution.settings().target(&SelectedDevice { selector: device.map(str::to_owned), wgpu: false }) {
            Err(failure) if device.is_none() => {
                note(&format!("no device can be opened: {}", failure.error));
                let without = NoDevice::default();
                let size = without.capabilities().properties.get("subgroupSize").copied().unwrap_or(1);
                limits = format!("a subgroup size of {size} and Vulkan's minimum limits");
                Box::new(without)
            }
            target => {
                let target = target?;
                limits = format!("the subgroup size and limits of {}", target.info().name);
                target
            }
        };
    note(&format!("comparing the translations without running them, with {limits}"));
    let result = check_equivalence(check, &theirs, &*target)?;
    let status = result.status;
    print(assay_reports::check_text(&result).as_bytes())?;
    Ok(match status {
        Status::Pass | Status::QualityWarning => exit::OK,
        Status::Undetermined => exit::NOTHING,
        _ => exit::FAILURES,
    })
}

/// Returns a module optimised by `spirv-opt -O`.
fn spirv_opt(words: &[u32]) -> Result<Vec<u8>, Failure> {
    let failed = |error: String| usage(format!("cannot run spirv-opt (SPIRV-Tools; apt install spirv-tools): {error}"));
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let ran = run_tool("spirv-opt", &["-O", "-", "-o", "-"], bytes, OPTIMIZER_TIME)
        .map_err(|error| failed(error.to_string()))?;
    if !ran.success() {
        return Err(failed(ran.text()));
    }
    Ok(ran.stdout)
}
