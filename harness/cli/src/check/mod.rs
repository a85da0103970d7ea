//! `assay check` and `assay repro`.

mod attribution;
mod device_check;
mod isolated_check;
mod sequence_check;

pub(crate) use isolated_check::{CheckSetup, CheckWorker};

use crate::{
    args::{Api, CompileArgs, Isolate, ViaArgs, whole_number},
    exit::{self, Failure, WithCode, usage},
    note, output_file, print, print_summary, run,
};
use assay_check::{
    AddressWord, BUNDLE_FOLDER, BindingName, BindingSource, CaseFile, Check, CheckError, CheckSession, Diagnosis,
    Mutation, Options, SequenceSession, ShaderSource, assignment, bundle, check_equivalence, interpret_only,
    load_translation, refuse_foreign_bundles, remove_bundles, run_tool, subgroup_size, translation_options,
    without_source,
};
use assay_events::{CheckResult, Status};
use assay_exec::{Descriptor, Target};
use assay_files::OwnedFiles;
use assay_oracle::Robustness;
use assay_reports::{ResultDirWriter, plural};
use assay_spirv::Style;
use assay_suite::NoDevice;
use assay_vulkan::Instance;
use assay_vulkan_exec::VulkanTarget;
use assay_wgpu_exec::WgpuTarget;
use clap::Args;
use device_check::{DeviceVerdict, SelectedDevice, Subject, check_on};
use serde::{Deserialize, Serialize};
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

/// End of `assay check --help`.
pub(crate) const HELP: &str = "\
FILE:
  WGSL (.wgsl), GLSL (.comp, .glsl, or #version in the first line), HLSL
  (.hlsl), Slang (.slang), a case file (.toml), a SPIR-V binary if it starts
  with the magic number, else SPIR-V text. An installed compiler (glslc,
  glslang, dxc, slangc) compiles GLSL, HLSL and Slang. A case file names a
  shader and sets the options below, or lists several dispatches over shared
  buffers; so does an Amber script (.amber, .vkscript). Each dispatch of such
  a sequence is judged from the contents that the device left before it. A
  family of precision cases runs as `assay run` would run it. So do all
  shaders, scripts and case files below a folder: in worker processes, with
  one report, and resumable.

Inputs:
  A BINDING is SET.BINDING, BINDING (in set 0) or a variable's name, with [N]
  for one element of a descriptor array; BINDING.MEMBER, BINDING[INDEX] and
  BINDING@BYTE select scalars of a buffer for a NUMBER. CONTENTS is one of:
    usual        floats of moderate size, small integers (default, round 0)
    hard         special values, their neighbours, any bits (default, round 1)
    1.5..2       random numbers from a range
    NUMBER       this number everywhere; also zeros and ones
    index        0, 1, 2, ..
    PATH         the bytes of a file
  Run-time arrays and texel buffers have one element per invocation unless
  --elements sets another length. Images have one texel per invocation along
  each axis, sampled images at least 16, unless --image-size sets another
  size; by default each texel encodes its coordinates. Samplers are nearest
  and clamped in round 0, linear and repeating in round 1. A case file can set
  other samplers and images.
  Buffers with device addresses (--buffer, or [buffer] in a case file) are
  allocated first. Their addresses are stored as --address (or [address])
  says, before the interpreter and the device run.

What is checked:
  Assay compares every scalar of every storage buffer, storage image and
  storage texel buffer with its permitted set. A Pass requires written
  elements that could have come out wrong; without any, the status is
  Undetermined and the exit code 3. A shader that violates a rule of SPIR-V,
  or whose behaviour is undefined with its inputs, is refused; no device runs
  it.
  If the device fails, Assay reruns an instrumented shader that records
  intermediate results, and reports the first instruction whose recorded
  result is not permitted for its recorded operands.

Examples:
  assay check shader.wgsl
  assay check blur.comp --define RADIUS=3 --include shaders
  assay check blur.spv --workgroups 8,8 --input 0.0=image.raw --spec 3=16
  assay check scale.spv --push count=4096,factor=0.5 --input params.stride=4
  assay check sort.wgsl --elements 65536 --device all
  assay check shader.wgsl --mutate ulp:4@OpFMul --out found
  assay repro found/bundle";

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Shader, script or case file, or a folder of them
    #[arg(value_name = "FILE|DIR")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    dispatch: DispatchArgs,

    #[command(flatten)]
    execution: ExecutionArgs,

    /// Write the verdict, and a bundle that reproduces a failure, into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Show the derivation of the first wrong element: each instruction with its operands, result
    /// and permitted set
    #[arg(long, conflicts_with = "no_trace")]
    explain: bool,

    /// If the device fails, rerun an instrumented shader to find the first wrong instruction
    /// (default)
    #[arg(long)]
    trace: bool,

    /// Do not search for the first wrong instruction
    #[arg(long, conflicts_with = "trace")]
    no_trace: bool,

    /// Reduce a failing shader for up to five minutes while the same instruction fails in the same
    /// way, and bundle the result
    #[arg(long)]
    reduce: bool,

    /// Compare another translation of the shader instead of a device: a file, or `spirv-opt` (run
    /// with -O)
    #[arg(long, value_name = "FILE|spirv-opt", conflicts_with_all = ["mutate", "out", "reduce", "sample"])]
    against: Option<PathBuf>,

    /// Interpret the shader without a device: undefined behaviour, and expectations of the case file
    ///
    /// The exit code is 0 if a round is defined and no expectation fails.
    #[arg(
        long,
        conflicts_with_all = [
            "against", "mutate", "out", "reduce", "explain", "trace", "no_trace", "device", "api", "validation", "isolate"
        ]
    )]
    no_device: bool,

    /// Plant an error in the module that the device receives, to see Assay find it
    ///
    /// KIND is ulp:N, rounding, sign-of-zero, off-by-one, signedness, lost-atomic or
    /// missing-barrier. INSTRUCTION is a name (OpFMul, Sqrt), a result (%12, or %name from OpName),
    /// a position as Assay prints it ('missing-barrier@word 420'), or `last` [default: the first
    /// instruction that fits].
    #[arg(long, value_name = "KIND[@INSTRUCTION]", value_parser = str::parse::<Mutation>)]
    mutate: Option<Mutation>,
}

/// Inputs and configuration of the dispatch.
#[derive(Debug, Args)]
struct DispatchArgs {
    /// Entry point, if the module has several
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,

    #[command(flatten)]
    compile: CompileArgs,

    /// Treat warnings as violations
    #[arg(long)]
    strict: bool,

    /// Number of workgroups along x, y and z
    #[arg(long, value_name = "X,Y,Z", value_parser = assay_check::groups)]
    workgroups: Option<[u32; 3]>,

    /// Specialisation constant by id or name, or WGSL override by name or @id; repeatable
    #[arg(long, value_name = "ID=VALUE", value_parser = assignment)]
    spec: Vec<(String, String)>,

    /// Contents of the push constants, as for --input, or values of single ones by name or byte
    /// offset: `ne=2048,size[0]=16,@32=4`; repeatable
    #[arg(long, value_name = "CONTENTS|NAME=VALUE,..")]
    push: Vec<String>,

    /// Contents of a binding before the dispatch; repeatable
    #[arg(long, value_name = "BINDING=CONTENTS", value_parser = assignment)]
    input: Vec<(String, String)>,

    /// Length of run-time arrays: of all, or of one binding; repeatable
    #[arg(long, value_name = "[BINDING=]N")]
    elements: Vec<String>,

    /// Size of an image in texels, one number for each axis; repeatable
    #[arg(long, value_name = "BINDING=WxHxD", value_parser = assignment)]
    image_size: Vec<(String, String)>,

    /// Buffer without a binding, which the shader reaches by its device address; repeatable
    ///
    /// COUNT*[NAME:]TYPE,[NAME:]TYPE,..: COUNT records, each laid out as a C structure of scalars
    /// i8 to i64, u8 to u64, f16 to f64. --input NAME=CONTENTS sets its contents.
    #[arg(long, value_name = "NAME=COUNT*TYPES", value_parser = assignment)]
    buffer: Vec<(String, String)>,

    /// Store the address of a --buffer as a 64-bit word into the push constants (`push@0=nodes`), a
    /// binding (`0.1@8=nodes+16`) or another --buffer; repeatable
    #[arg(long, value_name = "PLACE@BYTE=BUFFER[+BYTES]", value_parser = assignment)]
    address: Vec<(String, String)>,

    /// Robustness of accesses out of bounds: none, access (robustBufferAccess, robustImageAccess)
    /// or access2 (robustBufferAccess2, robustImageAccess2)
    ///
    /// With `none`, an access out of bounds is undefined behaviour of the shader [default: none].
    #[arg(long, value_name = "NAME", value_parser = assay_check::robustness)]
    robustness: Option<Robustness>,

    /// Storage buffer in which the shader itself records its subgroup layout
    ///
    /// One record of three words per invocation, ordered by workgroup and local index: SubgroupId,
    /// SubgroupLocalInvocationId, SubgroupSize [default: if results depend on the layout, an
    /// instrumented shader records it, and the results of that run are checked].
    #[arg(long, value_name = "BINDING", value_parser = str::parse::<BindingName>)]
    subgroups: Option<BindingName>,

    /// Required subgroup size (VK_EXT_subgroup_size_control), a power of two
    #[arg(long, value_name = "N", value_parser = required_subgroup_size)]
    subgroup_size: Option<u32>,

    /// Require full subgroups (VK_EXT_subgroup_size_control)
    #[arg(long)]
    full_subgroups: bool,

    /// Permit benign races: racing stores of one value to one location store that value
    ///
    /// The specification makes every data race undefined behaviour, so the verdict is at best
    /// QualityWarning and names the race.
    #[arg(long)]
    benign_races: bool,

    /// Number of rounds, each with different inputs
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>(1..=u64::from(u32::MAX)))]
    rounds: Option<u32>,

    /// Interpret a subset of about N invocations, by whole workgroups, if the dispatch is too large
    /// to interpret whole
    ///
    /// The device runs the whole dispatch. If the subset does not permit an element, Assay
    /// interprets all workgroups, unless that would take too long. Elements that only other
    /// workgroups write are not checked.
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(1..=u64::MAX))]
    sample: Option<u64>,

    /// Factor on the interpreter's time limits, beyond which the shader counts as endless
    ///
    /// The limits are a few seconds for a workgroup and about ten minutes for a dispatch.
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(1..=u64::MAX))]
    patience: Option<u64>,

    /// Do not search for other sizes if the default push constants, buffers and workgroups lead to
    /// undefined behaviour or to few written elements
    #[arg(long)]
    no_search: bool,

    /// Seed of the inputs; the same seed gives the same inputs on every machine
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(0..=u64::MAX))]
    seed: Option<u64>,
}

/// Parses a required subgroup size.
fn required_subgroup_size(text: &str) -> Result<u32, String> {
    let size = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    subgroup_size(size).map_err(|error| error.to_string())
}

/// Device, API and process that run the shader.
#[derive(Debug, Args)]
struct ExecutionArgs {
    /// Device: index in `assay devices`, part of the name, UUID, `lavapipe`, or `all`
    #[arg(long, visible_alias = "devices", value_name = "DEVICE")]
    device: Option<String>,

    /// API: vulkan, wgpu (which receives WGSL unchanged and SPIR-V through naga; WGSL's rules
    /// apply) or both
    ///
    /// [default: vulkan; for a bundle, the API that it was made with]
    #[arg(long, value_name = "API", hide_possible_values = true)]
    api: Option<Api>,

    /// Time limit of one round on the device, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = crate::args::positive_seconds)]
    timeout: f64,

    /// Run under the Vulkan validation layer; its errors are reported as InternalError
    #[arg(long)]
    validation: bool,

    #[command(flatten)]
    via: ViaArgs,

    /// Open the device in a worker process, so that a crash or hang does not end the check: yes or
    /// no [default: yes]
    #[arg(long, value_name = "YES|NO", default_value = "yes", hide_possible_values = true, hide_default_value = true)]
    isolate: Isolate,
}

impl From<CheckError> for Failure {
    fn from(error: CheckError) -> Failure {
        Failure { code: exit::USAGE, error: error.into() }
    }
}

/// Checks a shader.
pub(crate) fn check(args: &CheckArgs) -> Result<u8, Failure> {
    let case = if is_toml(&args.file) { CaseFile::load(&args.file)? } else { None };
    if args.file.is_dir() {
        return run::run_as(args.execution.run_command(
            args,
            "a folder",
            &["--target-env", "--define", "--include"],
        )?);
    }
    let compile = args.dispatch.compile.options();
    if let Some(session) = SequenceSession::load(&args.file, &compile, Options::default())? {
        return sequence_check::check(session, args);
    }
    if is_toml(&args.file) && case.is_none() {
        return run::run_as(args.execution.run_command(args, "a family of precision cases", &[])?);
    }
    args.execution.via.must_suit(args.execution.isolate)?;
    let api = args.execution.api.unwrap_or(Api::Vulkan);
    if api != Api::Vulkan && (args.against.is_some() || args.execution.validation) {
        return Err(usage("--against and --validation require --api vulkan"));
    }
    let mut session = args.session(case)?;
    args.dispatch.refuse_duplicates(&session.check()?)?;
    if !args.dispatch.no_search {
        let bar = isolated_check::spinner("searching for parameters");
        let searched = session.search(&NoDevice::default());
        bar.finish_and_clear();
        searched?;
    }
    if let Some(other) = &args.against {
        return check_translation(&session, other, args);
    }
    // Reports errors in the arguments and files before a device is opened.
    let check = session.check()?;
    session.must_have_inputs(&check)?;
    if args.no_device {
        let result = interpret_only(&check, &NoDevice::default())?;
        print(assay_reports::check_text(&result).as_bytes())?;
        return Ok(if result.status == Status::Fail { exit::FAILURES } else { exit::OK });
    }
    args.must_suit(api, &session)?;
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
            session.options.rules = device_check::rules(api);
            let check = session.check()?;
            let subject = Subject::Shader(&session, &check);
            let verdict = check_on(subject, &args.execution, (api, device), folder.as_deref());
            let verdict = verdict.inspect_err(|_| {
                // The refusal is reported; a result directory that keeps files is not worth another error.
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
    print_summary(&summary);
    Ok(worst_code(&results))
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

/// Returns a line per device with failures: the APIs that fail, and the component at fault, if the
/// results of both APIs say so. `results` has a pair per device, Vulkan first.
fn api_comparison(results: &[DeviceVerdict], planted: Option<&Mutation>) -> String {
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
    let found = wgpu.notes.iter().find(|note| note.starts_with(attribution::AT_FAULT));
    let both_checked = results.iter().all(|result| result.status.is_checked() && !result.fails_only_the_case());
    found.cloned().or_else(|| both_checked.then(|| format!("{}{default}", attribution::AT_FAULT)))
}

/// Returns the worst exit code of all devices. A device that cannot run the shader counts only if
/// no other device ran it.
fn worst_code(results: &[DeviceVerdict]) -> u8 {
    let codes = || results.iter().map(|verdict| verdict.code);
    let worst = codes().filter(|&code| code != exit::OK && code != exit::NOTHING).max();
    worst.unwrap_or_else(|| if codes().any(|code| code == exit::OK) { exit::OK } else { exit::NOTHING })
}

/// `assay repro`: reruns a bundle on this machine.
pub(crate) fn repro(args: &ReproArgs) -> Result<u8, Failure> {
    args.execution.via.must_suit(args.execution.isolate)?;
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
            session.options.rules = device_check::rules(api);
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
    print_summary(&text);
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

/// Returns true if a file's name ends in `.toml`.
pub(crate) fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "toml")
}

/// `--against`: checks that the shader permits every result that another translation permits.
fn check_translation(session: &CheckSession, other: &Path, args: &CheckArgs) -> Result<u8, Failure> {
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
    let ran = run_tool("spirv-opt", &["-O", "-", "-o", "-"], bytes).map_err(|error| failed(error.to_string()))?;
    if !ran.success {
        return Err(failed(String::from_utf8_lossy(&ran.stderr).trim().to_owned()));
    }
    Ok(ran.stdout)
}

/// Returns a line for each device: status, name, and the number of elements or the reason.
fn device_summary(results: &[DeviceVerdict]) -> String {
    let mut text = String::from("\n");
    for verdict in results {
        let DeviceVerdict { device, result: Some(result), .. } = verdict else { continue };
        let device = &device.name;
        let status = format!("{:?}", result.status);
        let details = match result.status {
            Status::Pass => {
                let writes = result.writes.as_ref().map(|writes| format!(", {writes}")).unwrap_or_default();
                format!("{} elements checked{writes}, {}", result.elements_checked, result.rounds_text())
            }
            _ => result.reason.clone().unwrap_or_default(),
        };
        _ = writeln!(text, "{status:<14} {device}: {details}");
    }
    text
}

impl CheckArgs {
    /// Returns the session of the arguments and the case file.
    fn session(&self, case: Option<CaseFile>) -> Result<CheckSession, Failure> {
        let mut options = case.as_ref().map(|case| case.options.clone()).unwrap_or_default();
        self.dispatch.apply(&mut options)?;
        let mut session = CheckSession::load(case, &self.file, self.dispatch.compile.options(), options)?;
        session.mutation = self.mutate.clone();
        session.diagnosis = self.diagnosis();
        Ok(session)
    }

    fn diagnosis(&self) -> Diagnosis {
        let trace = self.trace || self.explain || !self.no_trace;
        Diagnosis { trace, derive: self.explain, reduce: self.reduce }
    }

    /// Refuses settings that the API does not have.
    fn must_suit(&self, api: Api, session: &CheckSession) -> Result<(), Failure> {
        let Options { robustness, subgroups, subgroup_control, .. } = &session.options;
        let default = *robustness == Robustness::None && subgroups.is_none() && subgroup_control.is_default();
        if api != Api::Vulkan && !default {
            return Err(usage(
                "--robustness, --subgroups, --subgroup-size and --full-subgroups, or these settings in the case \
                 file, require --api vulkan",
            ));
        }
        Ok(())
    }

    /// Returns the given options that apply to shaders only, not to precision cases.
    fn shader_options(&self) -> Vec<&'static str> {
        let given = &self.dispatch;
        let options = [
            ("--entry", given.entry.is_some()),
            ("--target-env", given.compile.target_env.is_some()),
            ("--define", !given.compile.define.is_empty()),
            ("--include", !given.compile.include.is_empty()),
            ("--strict", given.strict),
            ("--workgroups", given.workgroups.is_some()),
            ("--spec", !given.spec.is_empty()),
            ("--push", !given.push.is_empty()),
            ("--input", !given.input.is_empty()),
            ("--elements", !given.elements.is_empty()),
            ("--image-size", !given.image_size.is_empty()),
            ("--buffer", !given.buffer.is_empty()),
            ("--address", !given.address.is_empty()),
            ("--robustness", given.robustness.is_some()),
            ("--subgroups", given.subgroups.is_some()),
            ("--subgroup-size", given.subgroup_size.is_some()),
            ("--full-subgroups", given.full_subgroups),
            ("--benign-races", given.benign_races),
            ("--rounds", given.rounds.is_some()),
            ("--sample", given.sample.is_some()),
            ("--no-search", given.no_search),
            ("--patience", given.patience.is_some()),
            ("--explain", self.explain),
            ("--trace", self.trace),
            ("--no-trace", self.no_trace),
            ("--reduce", self.reduce),
            ("--against", self.against.is_some()),
            ("--no-device", self.no_device),
            ("--mutate", self.mutate.is_some()),
        ];
        options.into_iter().filter(|(_, given)| *given).map(|(option, _)| option).collect()
    }
}

/// Refuses a repeatable option that is given twice for the same key. Each value has its text for
/// the message.
fn refuse_duplicate<K>(option: &str, given: &[(K, &str)], same: impl Fn(&K, &K) -> bool) -> Result<(), Failure> {
    for (i, (key, text)) in given.iter().enumerate() {
        if let Some((_, first)) = given.iter().take(i).find(|(other, _)| same(other, key)) {
            return Err(usage(format!("{option} {first} and {option} {text} set the same thing; remove one of them")));
        }
    }
    Ok(())
}

impl DispatchArgs {
    /// Refuses options that set the same thing twice. A binding and an element of its array are
    /// different things.
    fn refuse_duplicates(&self, check: &Check<'_>) -> Result<(), Failure> {
        let descriptors = &check.setup.descriptors;
        let same_binding = |a: &BindingName, b: &BindingName| {
            let both = |d: &Descriptor| [a, b].iter().all(|name| name.names(d.slot, d.name.as_deref()));
            a.is_element() == b.is_element() && descriptors.iter().any(both)
        };
        let joined = |pairs: &[(String, String)]| -> Vec<(String, String)> {
            pairs.iter().map(|(key, value)| (key.clone(), format!("{key}={value}"))).collect()
        };
        let inputs = joined(&self.input);
        let inputs = inputs.iter().map(|(key, text)| Ok((key.parse::<BindingName>()?, text.as_str())));
        refuse_duplicate("--input", &inputs.collect::<Result<Vec<_>, CheckError>>()?, same_binding)?;
        let sizes = joined(&self.image_size);
        let sizes = sizes.iter().map(|(key, text)| Ok((key.parse::<BindingName>()?, text.as_str())));
        refuse_duplicate("--image-size", &sizes.collect::<Result<Vec<_>, CheckError>>()?, same_binding)?;
        let elements = self.elements.iter().map(|text| {
            let to = text.split_once('=').map(|(to, _)| to.parse::<BindingName>()).transpose()?;
            Ok((to, text.as_str()))
        });
        refuse_duplicate("--elements", &elements.collect::<Result<Vec<_>, CheckError>>()?, |a, b| match (a, b) {
            (Some(a), Some(b)) => same_binding(a, b),
            (a, b) => a == b,
        })?;
        for (option, pairs) in [("--spec", &self.spec), ("--buffer", &self.buffer), ("--address", &self.address)] {
            let pairs = joined(pairs);
            let pairs: Vec<(&str, &str)> = pairs.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
            refuse_duplicate(option, &pairs, |a, b| a == b)?;
        }
        Ok(())
    }

    /// Overrides the options of a case file.
    fn apply(&self, options: &mut Options) -> Result<(), Failure> {
        options.entry = self.entry.clone().or(options.entry.take());
        options.groups = self.workgroups.or(options.groups);
        options.rounds = self.rounds.unwrap_or(options.rounds);
        options.seed = self.seed.unwrap_or(options.seed);
        options.checked_invocations = self.sample.or(options.checked_invocations);
        options.strict = self.strict;
        options.robustness = self.robustness.unwrap_or(options.robustness);
        options.subgroups = self.subgroups.clone().or(options.subgroups.take());
        options.subgroup_control.size = self.subgroup_size.or(options.subgroup_control.size);
        options.subgroup_control.full |= self.full_subgroups;
        options.benign_races |= self.benign_races;
        if let Some(patience) = self.patience {
            options.limits = options.limits.patient(patience);
        }
        options.specs.extend(self.spec.iter().cloned());
        for push in &self.push {
            options.add_push(push)?;
        }
        for (binding, contents) in &self.input {
            options.inputs.push((binding.parse::<BindingName>()?, contents.parse::<BindingSource>()?));
        }
        for (name, form) in &self.buffer {
            options.buffers.retain(|(known, _)| known != name);
            options.buffers.push((name.clone(), form.parse()?));
        }
        for (place, value) in &self.address {
            options.addresses.push(AddressWord::parse(place, value)?);
        }
        for text in &self.elements {
            let (to, number) = match text.split_once('=') {
                Some((to, number)) => (Some(to.parse::<BindingName>()?), number),
                None => (None, text.as_str()),
            };
            let elements = number.trim().parse().ok().filter(|&n: &u64| n > 0);
            let elements =
                elements.ok_or_else(|| usage(format!("--elements {text}: expected [BINDING=]N, N above 0")))?;
            options.elements.push((to, elements));
        }
        for (binding, text) in &self.image_size {
            let sides: Option<Vec<u32>> = text.split('x').map(|side| side.parse().ok().filter(|&n| n > 0)).collect();
            let sides = sides.filter(|sides| sides.len() <= 3).ok_or_else(|| {
                usage(format!("--image-size {binding}={text}: expected W, WxH or WxHxD in texels, such as 64x32"))
            })?;
            options.image_sizes.push((binding.parse()?, sides));
        }
        Ok(())
    }
}

impl ExecutionArgs {
    /// Returns the `assay run` command line for a folder of shaders or a family of precision cases,
    /// with the same options.
    ///
    /// # Errors
    /// Options of a single shader are given, apart from those in `suitable`.
    fn run_command(&self, args: &CheckArgs, content: &str, suitable: &[&str]) -> Result<Vec<String>, Failure> {
        let file = args.file.display();
        let mut unfit = args.shader_options();
        unfit.retain(|option| !suitable.contains(option));
        if !unfit.is_empty() {
            let apply = plural(unfit.len(), "applies", "apply");
            let unfit = unfit.join(", ");
            return Err(usage(format!(
                "{file} is {content}, but {unfit} {apply} to a single shader only; `assay run --help` lists the options of \
                 runs (--seed, --workers, --resume and others)"
            )));
        }
        let mut command: Vec<String> = ["assay", "run"].map(str::to_owned).into();
        // The separator tells a folder from a group of cases.
        let path = if args.file.is_dir() { args.file.join("") } else { args.file.clone() };
        command.push(path.display().to_string());
        let out = args.out.as_ref().map(|out| out.display().to_string());
        let isolate = if self.isolate == Isolate::Yes { "yes" } else { "no" };
        let compile = &args.dispatch.compile;
        let values = [
            ("device", self.device.clone()),
            ("api", self.api.map(|api| api.name().to_owned())),
            ("timeout", Some(self.timeout.to_string())),
            ("isolate", Some(isolate.to_owned())),
            ("seed", args.dispatch.seed.map(|seed| seed.to_string())),
            ("target-env", compile.target_env.map(|target| target.to_string())),
            ("out", out),
        ];
        command.extend(values.into_iter().filter_map(|(option, value)| Some(format!("--{option}={}", value?))));
        command.extend(compile.define.iter().map(|define| format!("--define={define}")));
        command.extend(compile.include.iter().map(|folder| format!("--include={}", folder.display())));
        command.extend(self.validation.then(|| "--validation".to_owned()));
        if !self.via.via.is_empty() {
            command.extend(self.via.via.iter().map(|prefix| format!("--via={prefix}")));
            command.push(format!("--via-binary={}", self.via.via_binary.display()));
        }
        Ok(command)
    }

    /// Returns the settings with which devices are opened.
    fn settings(&self) -> DeviceSettings {
        DeviceSettings { timeout: self.timeout, validation: self.validation }
    }

    /// Returns the devices that `--device` selects.
    fn devices(&self) -> Result<Vec<CheckDevice>, Failure> {
        match self.device.as_deref() {
            Some(run::ALL) => {
                let index =
                    |index: usize| CheckDevice { selector: Some(index.to_string()), index: Some(index.to_string()) };
                Ok((0..run::devices()?.len()).map(index).collect())
            }
            selector => Ok(vec![CheckDevice { selector: selector.map(str::to_owned), index: None }]),
        }
    }
}

/// Settings with which a device is opened.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct DeviceSettings {
    /// Time limit of one round, in seconds.
    timeout: f64,
    validation: bool,
}

impl DeviceSettings {
    /// Opens a device.
    fn target(self, selected: &SelectedDevice) -> Result<Box<dyn Target>, Failure> {
        let limit = Duration::from_secs_f64(self.timeout);
        let selector = selected.selector.as_deref();
        Ok(if selected.wgpu {
            let (device, caps) = run::wgpu_device(selector)?;
            Box::new(WgpuTarget::new(device, caps, limit)?.with_spirv())
        } else {
            let physical = Instance::new(self.validation)?.select(selector)?;
            Box::new(VulkanTarget::new(&physical, limit, self.validation)?)
        })
    }
}

/// A device to check on.
struct CheckDevice {
    /// Argument of `--device` that selects it.
    selector: Option<String>,
    /// Index in `assay devices`, for `--device all`.
    index: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

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
