//! Check of a sequence of dispatches: an Amber script, or a case file with `[[dispatch]]`.

use super::{
    check_args::CheckArgs,
    device_check::{DeviceVerdict, check_on},
    execution_args::rules,
    must_be_writable,
    subject::Subject,
    verdict_summary::{device_summary, worst_code},
};
use crate::{
    common_args::Api,
    exit::{Failure, usage},
    note, print_summary,
};
use assay_check::{SequenceSession, remove_bundles};

/// Options of a single shader that apply to a sequence, too.
const SUITABLE: [&str; 10] = [
    "--target-env",
    "--define",
    "--include",
    "--strict",
    "--benign-races",
    "--patience",
    "--explain",
    "--trace",
    "--no-trace",
    "--mutate",
];

/// Checks a sequence on the chosen devices.
pub(super) fn check(mut session: SequenceSession, args: &CheckArgs) -> Result<u8, Failure> {
    let file = args.file.display();
    args.refuse_unsuitable("a sequence of dispatches", &SUITABLE, "")?;
    if args.execution.api.is_some_and(|api| api != Api::Vulkan) {
        return Err(usage(format!("{file} is a sequence of dispatches, which requires --api vulkan")));
    }
    args.dispatch.apply(&mut session.options)?;
    session.options.rules = rules(Api::Vulkan);
    session.mutation = args.mutate.clone();
    session.diagnosis = args.diagnosis();
    // Reports errors in the file before a device is opened.
    session.must_be_valid()?;
    session.sequence.why.iter().for_each(|why| note(why));
    let devices = args.execution.devices()?;
    let mut results: Vec<DeviceVerdict> = Vec::new();
    for device in &devices {
        let folder = args.out.clone().map(|folder| match &device.index {
            Some(index) if devices.len() > 1 => folder.join(index),
            _ => folder,
        });
        folder.as_deref().map_or(Ok(()), must_be_writable)?;
        let subject = Subject::Sequence(&session);
        let verdict = check_on(subject, &args.execution, (Api::Vulkan, device), folder.as_deref());
        let verdict = verdict.inspect_err(|_| {
            // The refusal is reported; a result directory that keeps files is not worth another
            // error.
            folder.iter().for_each(|folder| _ = remove_bundles(folder));
        })?;
        let interrupted = verdict.result.is_none();
        results.push(verdict);
        if interrupted {
            break;
        }
    }
    if results.len() > 1 && !args.execution.json {
        print_summary(&device_summary(&results));
    }
    Ok(worst_code(&results))
}
