//! `assay repro`: the check of a bundle on this machine.

use super::{
    device_check::{DeviceVerdict, check_on},
    execution_args::{ExecutionArgs, rules},
    subject::Subject,
    verdict_summary::worst_code,
};
use crate::{
    common_args::{Api, whole_number},
    exit::Failure,
    note, print_summary,
};
use assay_check::{CheckSession, Mutation, bundle};
use assay_events::CheckResult;
use clap::Args;
use std::{fmt::Write as _, path::PathBuf};

/// `assay repro`: reruns a bundle on this machine.
pub(crate) fn repro(args: &ReproArgs) -> Result<u8, Failure> {
    let bundle::Bundle { shader, options, manifest, result: recorded, device } =
        bundle::read(&args.folder, args.patience)?;
    let recorded_api = if device.api == Api::Wgpu.name() { Api::Wgpu } else { Api::Vulkan };
    let api = args.execution.api.unwrap_or(recorded_api);
    let mut session = CheckSession::new(shader, options);
    session.mutation = manifest.mutation.as_deref().map(str::parse::<Mutation>).transpose()?;
    session.diagnosis.trace = true;
    let planted = session.planted_description(&session.check()?)?;
    planted.iter().for_each(|planted| note(planted));
    let mut results = Vec::new();
    for selected in &args.execution.devices()? {
        for &api in api.each() {
            session.options.rules = rules(api);
            let check = session.check()?;
            let subject = Subject::Shader(&session, &check);
            results.push(check_on(subject, &args.execution, (api, selected), None)?);
        }
    }
    let mut text = format!("\nin the bundle: {:?} on {}\n", recorded.status, device.name);
    for verdict in &results {
        let DeviceVerdict { device, result: Some(result), .. } = verdict else { continue };
        let device = &device.name;
        let outcome = match (result.status == recorded.status, first_mismatches(&recorded).eq(first_mismatches(result)))
        {
            (true, true) => "reproduced, with the same bits",
            (true, false) => "reproduced, with other values",
            (false, _) => "not reproduced",
        };
        _ = writeln!(text, "here:          {:?} on {device}: {outcome}", result.status);
    }
    if !args.execution.json {
        print_summary(&text);
    }
    Ok(worst_code(&results))
}

/// Returns the mismatches with the round and status of the first one: offset, buffer and device
/// value. A bundle has that round only. Other statuses are left out, because failures of other
/// rounds can displace warnings from a result's limited list.
fn first_mismatches(result: &CheckResult) -> impl Iterator<Item = (u64, &str, &str)> {
    let first = result.mismatches.first().map(|m| (m.round, m.status));
    let all = result.mismatches.iter().filter(move |m| Some((m.round, m.status)) == first);
    all.map(|m| (m.offset, m.buffer.as_str(), m.got.as_str()))
}

#[derive(Debug, Args)]
pub(crate) struct ReproArgs {
    /// Folder of the bundle
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Factor on the interpreter's time limits [default: the bundle's factor, at most 10]
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(1..=u64::MAX))]
    patience: Option<u64>,

    #[command(flatten)]
    execution: ExecutionArgs,
}
