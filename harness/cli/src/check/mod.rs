//! `assay check` and `assay repro`.

mod attribution;
mod check_args;
mod device_check;
mod execution_args;
mod isolated_check;
mod repro;
mod sequence_check;
mod subject;
mod translation;
mod verdict_summary;

pub(crate) use check_args::{CheckArgs, HELP};
pub(crate) use isolated_check::{CheckSetup, CheckWorker};
pub(crate) use repro::{ReproArgs, repro};

use crate::{
    ReportOutput, VERDICT_STAYS,
    cases::is_toml,
    common_args::Api,
    exit::{self, Failure, WithCode, usage},
    note, output_file, print, print_summary, run,
    spinner::Spinner,
};
use assay_check::{
    BUNDLE_FOLDER, CaseFile, Check, CheckError, CheckSession, Options, SEARCH_TIME, SequenceSession, SessionOutput,
    bundle, interpret_only, refuse_foreign_bundles, remove_bundles,
};
use assay_events::{Event, Reporter, Status};
use assay_exec::Target;
use assay_files::OwnedFiles;
use assay_oracle::Robustness;
use assay_reports::{JsonLines, ResultDirWriter};
use assay_spirv::Style;
use assay_suite::{NoDevice, ShaderFiles};
use device_check::{DeviceVerdict, check_on};
use execution_args::{CheckDevice, rules};
use std::{cell::Cell, fs, path::Path};
use subject::Subject;
use translation::check_translation;
use verdict_summary::{api_comparison, device_summary, worst_code};

impl From<CheckError> for Failure {
    fn from(error: CheckError) -> Failure {
        Failure { code: exit::USAGE, error: error.into() }
    }
}

/// Advice for options that a run does not take.
const RUN_OPTIONS: &str = "; `assay run --help` lists the options of runs (--seed, --workers, --resume and others)";

/// Returns the entry points of a file, or the macros that select its shaders, if the arguments
/// choose none.
fn parts(args: &CheckArgs) -> Result<Vec<String>, Failure> {
    if args.dispatch.entry.is_some() || !args.dispatch.compile.define.is_empty() {
        return Ok(Vec::new());
    }
    let shaders = ShaderFiles::find(&args.file)?.cases;
    Ok(shaders.iter().filter_map(|shader| Some(shader.name.rsplit_once(':')?.1.to_owned())).collect())
}

/// Checks a shader.
pub(crate) fn check(args: &CheckArgs) -> Result<u8, Failure> {
    let case = if is_toml(&args.file) { CaseFile::load(&args.file)? } else { None };
    if args.file.is_dir() {
        return run::run_as(&args.run_args("a folder", &["--target-env", "--define", "--include"], RUN_OPTIONS)?);
    }
    let compile = args.dispatch.compile.options();
    if let Some(session) = SequenceSession::load(&args.file, &compile, Options::default())? {
        return sequence_check::check(session, args);
    }
    if is_toml(&args.file) && case.is_none() {
        return run::run_as(&args.run_args("a family of precision cases", &[], RUN_OPTIONS)?);
    }
    let parts = if case.is_none() { parts(args)? } else { Vec::new() };
    if parts.len() > 1 {
        let content = format!("a file with {} shaders", parts.len());
        let advice = format!("; choose one of {} with --entry or --define", parts.join(", "));
        return run::run_as(&args.run_args(&content, &["--target-env", "--include"], &advice)?);
    }
    args.execution.via.must_suit(args.execution.isolate)?;
    let api = args.execution.api.unwrap_or(Api::Vulkan);
    if api != Api::Vulkan && (args.against.is_some() || args.execution.validation) {
        return Err(usage("--against and --validation require --api vulkan"));
    }
    let mut session = args.session(case)?;
    args.must_suit(api, &session)?;
    if api != Api::Vulkan {
        // Only Vulkan has this setting, so that the search must not choose it.
        session.options.robustness.get_or_insert(Robustness::None);
    }
    args.dispatch.refuse_duplicates(&session.check()?)?;
    // Without a device, undefined behaviour is refused.
    session.takes_variants = !args.no_device;
    if !args.dispatch.no_search {
        search(&mut session)?;
    }
    if let Some(other) = &args.against {
        return check_translation(&session, other, args);
    }
    // Reports errors in the arguments and files before a device is opened.
    let check = session.check()?;
    session.must_have_inputs(&check)?;
    if args.no_device {
        let nothing = NoDevice::default();
        let mut result = interpret_only(&check, &nothing)?;
        session.conclude(&check, &mut result, Target::info(&nothing), SessionOutput { folder: None, command: &[] })?;
        let code = if result.status == Status::Fail { exit::FAILURES } else { exit::OK };
        if args.execution.json {
            let line = Event::CheckFinished(Box::new(result));
            JsonLines::new(ReportOutput { consequence: VERDICT_STAYS.to_owned() }).event(&line).code(exit::USAGE)?;
        } else {
            print(assay_reports::check_text(&result).as_bytes())?;
        }
        return Ok(code);
    }
    session.purpose().into_iter().for_each(note);
    if session.shader.wgsl().is_none() && api != Api::Vulkan {
        note("naga translates the SPIR-V for wgpu: the driver receives naga's output, not the module itself");
    }
    session.planted_description(&check)?.iter().for_each(|planted| note(planted));
    drop(check);
    if let Some(out) = &args.out {
        must_be_writable(out)?;
    }
    let devices = args.execution.devices()?;
    let folder = |device: &CheckDevice, api: Api| {
        let mut folder = args.out.clone()?;
        if let (Some(index), true) = (&device.index, devices.len() > 1) {
            folder = folder.join(index);
        }
        Some(if args.execution.api == Some(Api::Both) { folder.join(api.name()) } else { folder })
    };
    let folders = devices.iter().flat_map(|device| api.each().iter().filter_map(|&api| folder(device, api)));
    folders.collect::<Vec<_>>().iter().try_for_each(|folder| must_be_writable(folder))?;
    let mut results = Vec::new();
    'devices: for device in &devices {
        for &api in api.each() {
            let folder = folder(device, api);
            session.options.rules = rules(api);
            let check = session.check()?;
            let subject = Subject::Shader(&session, &check);
            let verdict = check_on(subject, &args.execution, (api, device), folder.as_deref());
            let verdict = verdict.inspect_err(|_| {
                // The refusal is reported; a result directory that keeps files is not worth another
                // error.
                folder.iter().for_each(|folder| _ = remove_bundles(folder));
            })?;
            if api == Api::Wgpu {
                write_translation(&check, folder.as_deref(), &verdict)?;
            }
            let interrupted = verdict.result.is_none();
            results.push(verdict);
            if interrupted {
                break 'devices;
            }
        }
    }
    let mut summary = String::new();
    if results.len() > 1 {
        summary += &device_summary(&results);
    }
    if api == Api::Both {
        summary += &api_comparison(&results, args.mutate.as_ref());
    }
    if !args.execution.json {
        print_summary(&summary);
    }
    Ok(worst_code(&results))
}

/// Searches for parameters, and shows how far the search is.
fn search(session: &mut CheckSession) -> Result<(), Failure> {
    let bar = Spinner::new("searching for parameters");
    let candidates = Cell::new(0);
    let on_candidate = || {
        candidates.set(candidates.get() + 1);
        bar.set_message(format!(
            "searching for parameters: candidate {} (--no-search skips this, which takes {} s at most)",
            candidates.get(),
            SEARCH_TIME.as_secs()
        ));
    };
    Ok(session.search(&NoDevice::default(), &on_candidate)?)
}

/// Checks that results can be written to a folder, and removes the folders created for the test.
fn must_be_writable(folder: &Path) -> Result<(), Failure> {
    let made: Vec<&Path> = folder.ancestors().take_while(|path| !path.exists()).collect();
    let writable =
        ResultDirWriter::create(folder).map(drop).code(exit::USAGE).and_then(|()| Ok(refuse_foreign_bundles(folder)?));
    for path in made {
        // Removes empty folders only. A folder that could not be created does not exist.
        _ = fs::remove_dir(path);
    }
    writable
}

/// Writes naga's translation of a failing shader into the bundle, if there is a bundle.
fn write_translation(
    check: &Check<'_>,
    folder: Option<&Path>,
    DeviceVerdict { device, result, .. }: &DeviceVerdict,
) -> Result<(), Failure> {
    let folder = folder.map(|folder| folder.join(BUNDLE_FOLDER)).filter(|folder| folder.is_dir());
    let Some(folder) = folder else { return Ok(()) };
    if result.as_ref().is_none_or(|result| result.mismatches.is_empty()) {
        return Ok(());
    }
    let words = match assay_wgpu_exec::naga_spirv(attribution::wgpu_input(check), device) {
        Ok(words) => words,
        Err(reason) => {
            note(&format!("cannot add naga's SPIR-V to the bundle: {}", reason.trim()));
            return Ok(());
        }
    };
    let text = assay_spirv::disassemble(&words, Style::Indented).code(exit::INTERNAL)?;
    let path = folder.join(bundle::TRANSLATION);
    OwnedFiles::new(&folder).claim([bundle::TRANSLATION]).code(exit::USAGE)?;
    output_file::write(&path, text)?;
    note(&format!("naga's translation of the shader for wgpu: {}", path.display()));
    Ok(())
}
