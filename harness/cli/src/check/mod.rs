//! `assay check` and `assay repro`.

mod blame;
mod isolated;
mod plan;

pub(crate) use isolated::{Bench, Setup};

use crate::{
    args::{Api, Isolate},
    exit::{self, Failure, WithCode, usage},
    folders, note, print, run, show,
};
use assay_check::{
    AddressWord, BindingName, CaseFile, Check, CheckError, Descriptor, Mutation, Options, Source, Subject, Target,
    VulkanTarget, against, assignment, bundle, load_translation, options_of_translation, without_source,
};
use assay_files::Owned;
use assay_oracle::Robustness;
use assay_portable::PortableTarget;
use assay_reports::Folder;
use assay_runner::{CheckResult, Status};
use assay_spirv::{Style, TargetEnv};
use assay_suite::NoDevice;
use assay_vulkan::Instance;
use clap::Args;
use plan::{Asked, Judged};
use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

/// What `assay check --help` says at its end.
pub(crate) const HELP: &str = "\
The file:
  WGSL if its name ends in .wgsl, a case file if in .toml, SPIR-V words if it
  starts with the magic number, else SPIR-V text. A case file names a shader and
  fixes what the options below say; one of precision cases is run as such.

Inputs:
  Bindings are written SET.BINDING, BINDING (of set 0) or by their variable's
  name, with [N] for one of an array. What they hold:
    usual        floats of moderate size, small integers (the first round)
    hard         special values, their neighbours, any bits (the second round)
    1.5..2       any number of a range
    =NUMBER      that number everywhere; also zeros and ones
    index        0, 1, 2, ..
    PATH         the bytes of a file
  Run-time arrays and texel buffers have an element for each invocation unless
  --elements says otherwise. Images have a texel for each invocation along each
  axis; they hold, unless --input says otherwise, texels that show their place.
  Addresses (--buffer and --address, or [buffer] and [address] of a case file):
  the buffers are made first, then their addresses put into the words that are
  to hold them, then the oracle interprets with these, then it is dispatched.
  Samplers are nearest and clamped in the first round, linear and repeating in
  the second; a case file states other samplers, and other images.

What is checked:
  Every scalar of every storage buffer, storage image and storage texel
  buffer, against the set of values that the specification permits. A Pass
  rests on those that the shader wrote and that could have come out wrong: if
  there are none, the status is Undetermined and the exit code 3. A shader that
  breaks a rule, or whose behaviour is undefined with its inputs, is refused
  and no device is given it.
  Of a device that fails, a variant of the shader stores intermediate results:
  the first instruction is named whose result its own operands do not permit.

Examples:
  assay check shader.wgsl
  assay check blur.spv --workgroups 8,8 --input 0.0=image.raw --spec 3=16
  assay check sort.wgsl --elements 65536 --device all
  assay check shader.wgsl --mutate ulp:4@OpFMul --out found
  assay repro found/bundle";

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The shader, or a case file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    given: GivenArgs,

    #[command(flatten)]
    on: OnArgs,

    /// Write a reproduction bundle for a device that fails into this folder, and the verdict
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Show how the first wrong element came about: each instruction with its operands, result and permitted set
    #[arg(long, conflicts_with = "no_trace")]
    explain: bool,

    /// Ask a device that fails for its intermediate results: what is done unless --no-trace is given
    #[arg(long)]
    trace: bool,

    /// Do not ask a device that fails for its intermediate results
    #[arg(long, conflicts_with = "trace")]
    no_trace: bool,

    /// Make a failure smaller and bundle that, too: a shader that still shows the same instruction and the same class, as small as five
    /// minutes make it
    #[arg(long)]
    reduce: bool,

    /// Check another translation of the shader instead of a device: a file, or `spirv-opt` (run with -O)
    #[arg(long, value_name = "FILE|spirv-opt", conflicts_with_all = ["mutate", "out", "reduce", "sample"])]
    against: Option<PathBuf>,

    /// Plant an error in what the device is given, to see the tool find it
    ///
    /// KIND or KIND@INSTRUCTION; KIND is one of ulp:N, rounding, sign-of-zero, off-by-one, signedness, lost-atomic,
    /// missing-barrier; INSTRUCTION a name (OpFMul, Sqrt), a result (%12, or %name as OpName has it), a place in the module
    /// ('missing-barrier@word 420', as places are told), or `last`. Without one it is the first that fits.
    #[arg(long, value_name = "KIND[@INSTRUCTION]", value_parser = str::parse::<Mutation>)]
    mutate: Option<Mutation>,
}

/// What the shader is given.
#[derive(Debug, Args)]
struct GivenArgs {
    /// The entry point, where there are several
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,

    /// Assemble SPIR-V text for this environment, which decides its version: spv1.0 to spv1.6, vulkan1.0 to vulkan1.4
    ///
    /// Without one a `; Version:` comment at the text's start decides, else it is SPIR-V 1.6.
    #[arg(long, value_name = "ENV")]
    pub(super) target_env: Option<TargetEnv>,

    /// Refuse the shader for what is otherwise only a warning
    #[arg(long)]
    strict: bool,

    /// Workgroups along x, y and z
    #[arg(long, value_name = "X,Y,Z", value_parser = assay_check::groups)]
    workgroups: Option<[u32; 3]>,

    /// A specialisation constant by its id or name, or an override of WGSL by its name or @id
    #[arg(long, value_name = "ID=VALUE", value_parser = assignment)]
    spec: Vec<(String, String)>,

    /// The push constants: as for --input
    #[arg(long, value_name = "WHAT")]
    push: Option<String>,

    /// What a binding holds before the dispatch
    #[arg(long, value_name = "BINDING=WHAT", value_parser = assignment)]
    input: Vec<(String, String)>,

    /// Elements of run-time arrays: of all, or of one binding's
    #[arg(long, value_name = "[BINDING=]N")]
    elements: Vec<String>,

    /// A buffer that no binding names and the shader reaches by its device address: so many records of scalars
    ///
    /// COUNT*TYPE,TYPE,..: laid out as a C structure of them, types i8 to i64, u8 to u64 and f16 to f64, each after a NAME: if it
    /// is to have one. --input NAME=WHAT says what it holds.
    #[arg(long, value_name = "NAME=COUNT*TYPES", value_parser = assignment)]
    buffer: Vec<(String, String)>,

    /// A 64-bit word that holds the address of such a buffer: in the push constants (`push@0=nodes`), a binding (`0.1@8=nodes+16`) or
    /// another such buffer
    #[arg(long, value_name = "PLACE@BYTE=BUFFER[+BYTES]", value_parser = assignment)]
    address: Vec<(String, String)>,

    /// What the device is opened with for accesses beyond the end of buffers and images: none, access (robustBufferAccess and
    /// robustImageAccess) or access2 (robustBufferAccess2 and robustImageAccess2)
    ///
    /// With none, such an access is the shader's fault.
    #[arg(long, value_name = "NAME", value_parser = assay_check::robustness)]
    robustness: Option<Robustness>,

    /// The storage buffer in which the shader records where its invocations are in subgroups, so that what depends on it is checked
    ///
    /// For each invocation, in the order of workgroups and local indices: SubgroupId, SubgroupLocalInvocationId and SubgroupSize, a
    /// word each.
    #[arg(long, value_name = "BINDING", value_parser = str::parse::<BindingName>)]
    subgroups: Option<BindingName>,

    /// Rounds, each with other inputs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,

    /// Check what about N invocations write, by whole workgroups, where the dispatch is too large to check all of it
    ///
    /// The device is given the whole dispatch. What workgroups outside the sample do is not seen; of elements that are not
    /// permitted all workgroups are run after all, unless that would take too long.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,

    /// How many times as long as usual the shader may run in the oracle before it is taken not to end
    ///
    /// Usual are a few seconds for a workgroup, and some ten minutes for a dispatch.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    patience: Option<u64>,

    /// The seed of the inputs; the same seed gives the same inputs on every machine
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// Where it is run.
#[derive(Debug, Args)]
struct OnArgs {
    /// The device: its index in `assay devices`, a part of its name, its UUID, `lavapipe`, or `all`
    #[arg(long, visible_alias = "devices", value_name = "DEVICE")]
    device: Option<String>,

    /// What it is run through: vulkan, wgpu (WGSL as it is written, SPIR-V as naga reads it; judged by WGSL's rules) or both
    ///
    /// A bundle is run again through what it came from.
    #[arg(long, value_name = "API", hide_possible_values = true)]
    api: Option<Api>,

    /// How long the device may take over one round, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = crate::args::positive_seconds)]
    timeout: f64,

    /// Run under the Vulkan validation layer; what it objects to is an InternalError
    #[arg(long)]
    validation: bool,

    /// Whether the device is opened in a process of its own, so that nothing it does ends the check: yes or no
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
    if is_toml(&args.file) && case.is_none() {
        return run::run_as(args.on.of_family(args)?);
    }
    let api = args.on.api.unwrap_or(Api::Vulkan);
    if api != Api::Vulkan && (args.against.is_some() || args.on.validation) {
        return Err(usage("--against and --validation go with --api vulkan"));
    }
    let asked = Asked::Check(args, case.as_ref());
    if let Some(other) = &args.against {
        return plan::prepared(asked, Api::Vulkan, |plan| translation(plan.check, other, &plan.options, args));
    }
    // A mistake in the input is said before anything is said of a device.
    plan::prepared(asked, Api::Vulkan, |plan| {
        let Options { robustness, subgroups, .. } = &plan.options;
        if api != Api::Vulkan && (*robustness != Robustness::None || subgroups.is_some()) {
            return Err(usage("robustness and recorded subgroups (options or case file) go with --api vulkan"));
        }
        if let Some(why) = &plan.why {
            note(why);
        }
        if plan.check.subject.wgsl().is_none() && api != Api::Vulkan {
            note("wgpu is given the SPIR-V as naga reads it, and the driver what naga writes of that");
        }
        plan.announce_mutation()
    })?;
    if let Some(out) = &args.out {
        must_be_writable(out)?;
    }
    let places = args.on.places()?;
    let folder = |place: &Place, api: Api| {
        let mut folder = args.out.clone()?;
        if let (Some(index), true) = (&place.index, places.len() > 1) {
            folder = folder.join(index);
        }
        Some(if args.on.api == Some(Api::Both) { folder.join(api.name()) } else { folder })
    };
    let folders = places.iter().flat_map(|place| api.each().iter().filter_map(|&api| folder(place, api)));
    folders.collect::<Vec<_>>().iter().try_for_each(|folder| must_be_writable(folder))?;
    let mut results = Vec::new();
    'places: for place in &places {
        for &api in api.each() {
            let folder = folder(place, api);
            let judged = plan::prepared(asked, api, |plan| {
                let judged = plan.on(&args.on, api, place, folder.as_deref())?;
                if api == Api::Wgpu {
                    translated(plan.check, folder.as_deref(), &judged)?;
                }
                Ok(judged)
            })?;
            let interrupted = judged.result.is_none();
            results.push(judged);
            if interrupted {
                break 'places;
            }
        }
    }
    let mut summary = String::new();
    if results.len() > 1 {
        summary += &side_by_side(&results);
    }
    if api == Api::Both {
        summary += &between_apis(&results, args.mutate.as_ref());
    }
    show(&summary);
    Ok(code(&results))
}

/// Makes sure that results can be written to a folder before anything is done for them, and leaves no trace of that.
fn must_be_writable(folder: &Path) -> Result<(), Failure> {
    let made: Vec<&Path> = folder.ancestors().take_while(|path| !path.exists()).collect();
    let writable = Folder::create(folder).map(drop).code(exit::USAGE).and_then(|()| plan::bundles_must_be_free(folder));
    for path in made {
        // Only what is empty goes: what could not be made is not there.
        _ = fs::remove_dir(path);
    }
    writable
}

/// Puts what naga makes of the shader beside the bundle, if there is one.
fn translated(check: &Check<'_>, folder: Option<&Path>, Judged { device, result, .. }: &Judged) -> Result<(), Failure> {
    let folder = folder.map(|folder| folder.join(plan::BUNDLE)).filter(|folder| folder.is_dir());
    let Some(folder) = folder else { return Ok(()) };
    if result.as_ref().is_none_or(|result| result.mismatches.is_empty()) {
        return Ok(());
    }
    let words = match assay_portable::naga_spirv(blame::given(check), device) {
        Ok(words) => words,
        Err(what) => {
            note(&format!("the SPIR-V of the bundle is not written: {}", what.trim()));
            return Ok(());
        }
    };
    let text = assay_spirv::disassemble(&words, Style::Indented).code(exit::INTERNAL)?;
    let path = folder.join(bundle::TRANSLATION);
    Owned::of(&folder).claim([bundle::TRANSLATION]).code(exit::USAGE)?;
    folders::write(&path, text)?;
    note(&format!("what naga makes of the shader for wgpu: {}", path.display()));
    Ok(())
}

/// Which of the two fails, and who is at fault as far as that was found out: results come in pairs. For an error that was planted
/// nobody is.
fn between_apis(results: &[Judged], planted: Option<&Mutation>) -> String {
    let mut text = String::new();
    for pair in results.chunks(2) {
        let [Judged { device, result: Some(vulkan), .. }, Judged { result: Some(wgpu), .. }] = pair else { continue };
        let device = &device.name;
        let told = wgpu.notes.iter().find_map(|note| note.strip_prefix(blame::AT_FAULT));
        let at_fault = |usual: &str| match planted {
            Some(mutation) => format!("{mutation} was planted: nobody is at fault"),
            None => format!("{}{}", blame::AT_FAULT, told.unwrap_or(usual)),
        };
        let what = match (vulkan.status.is_failure(), wgpu.status.is_failure()) {
            (true, false) => {
                let driver = "the driver, on the SPIR-V that this harness gives it";
                format!("fails through Vulkan only; {}", at_fault(driver))
            }
            (false, true) => format!("fails through wgpu only; {}", at_fault("wgpu, naga or what their checks add")),
            (true, true) => format!("fails through both; {}", at_fault("the driver")),
            (false, false) => continue,
        };
        _ = writeln!(text, "{device}: {what}");
    }
    text
}

/// The worst of all devices; one that lacks what the shader needs says nothing about the others.
fn code(results: &[Judged]) -> u8 {
    let codes = || results.iter().map(|judged| judged.code);
    let worst = codes().filter(|&code| code != exit::OK && code != exit::NOTHING).max();
    worst.unwrap_or_else(|| if codes().any(|code| code == exit::OK) { exit::OK } else { exit::NOTHING })
}

/// `assay repro`: runs a bundle here.
pub(crate) fn repro(args: &ReproArgs) -> Result<u8, Failure> {
    let bundle = bundle::read(&args.folder, args.patience)?;
    let through = if bundle.device.api == Api::Wgpu.name() { Api::Wgpu } else { Api::Vulkan };
    let api = args.on.api.unwrap_or(through);
    plan::prepared(Asked::Repro(args), through, |plan| plan.announce_mutation())?;
    let mut results = Vec::new();
    for place in &args.on.places()? {
        for &api in api.each() {
            results.push(plan::prepared(Asked::Repro(args), api, |plan| plan.on(&args.on, api, place, None))?);
        }
    }
    let was = &bundle.result;
    let mut text = format!("\nin the bundle: {:?} on {}\n", was.status, bundle.device.name);
    for judged in &results {
        let Judged { device, result: Some(result), .. } = judged else { continue };
        let device = &device.name;
        let what = match (result.status == was.status, worst(was).eq(worst(result))) {
            (true, true) => "it happens here, bit by bit",
            (true, false) => "it happens here, with other values",
            (false, _) => "it does not happen here",
        };
        _ = writeln!(text, "here:          {:?} on {device}: {what}", result.status);
    }
    show(&text);
    Ok(code(&results))
}

/// Where the elements of the first round with any are that are as wrong as the first is, and what they are: a bundle has that round
/// only, and failures of others may have driven its warnings out of what is kept.
fn worst(result: &CheckResult) -> impl Iterator<Item = (u64, &str, &str)> {
    let first = result.mismatches.first().map(|m| (m.round, m.status));
    let all = result.mismatches.iter().filter(move |m| Some((m.round, m.status)) == first);
    all.map(|m| (m.offset, m.buffer.as_str(), m.got.as_str()))
}

#[derive(Debug, Args)]
pub(crate) struct ReproArgs {
    /// The bundle's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// How many times as long as usual the shader may run in the oracle [default: what the bundle asks for, at most 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    patience: Option<u64>,

    #[command(flatten)]
    on: OnArgs,
}

/// Whether a file's name is that of a case file.
pub(crate) fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "toml")
}

/// `--against`: what another translation may become, held against what this one permits.
fn translation(check: &Check<'_>, other: &Path, options: &Options, args: &CheckArgs) -> Result<u8, Failure> {
    check.warnings.iter().for_each(|line| note(&format!("warning: {line}; --strict refuses it")));
    let module = &check.subject.source.module;
    let other = match other.to_str() {
        Some("spirv-opt") => Subject::read("spirv-opt -O", &spirv_opt(&without_source(module))?)?,
        _ => load_translation(other, check, options)?,
    };
    let theirs = Check::new(&other, &options_of_translation(check, &other, options))?;
    theirs.warnings.iter().for_each(|line| note(&format!("warning: {line}; --strict refuses it")));
    let device = args.on.device.as_deref();
    if device == Some(run::ALL) {
        return Err(usage("--against takes one --device, whose subgroups and limits the two have: nothing runs on it"));
    }
    let target: Box<dyn Target> = match args.on.target(Api::Vulkan, device) {
        Err(failure) if device.is_none() => {
            note(&format!("there is no device whose limits could be taken: {}", failure.error));
            Box::new(NoDevice::default())
        }
        target => target?,
    };
    note(&format!(
        "nothing is run: the two are held against each other, with the subgroups and limits of {}",
        target.info().name
    ));
    let result = against(check, &theirs, &*target)?;
    let status = result.status;
    print(assay_reports::check_text(&result).as_bytes())?;
    Ok(match status {
        Status::Pass | Status::QualityWarning => exit::OK,
        Status::Undetermined => exit::NOTHING,
        _ => exit::FAILURES,
    })
}

/// What `spirv-opt -O` makes of a module.
fn spirv_opt(words: &[u32]) -> Result<Vec<u8>, Failure> {
    let failed = |what: String| usage(format!("spirv-opt (of SPIRV-Tools, apt: spirv-tools): {what}"));
    let mut child = Command::new("spirv-opt")
        .args(["-O", "-", "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let stdin = child.stdin.take();
    // From a thread of its own: a pipe that is full both ways would wait for ever.
    let writer = std::thread::spawn(move || stdin.map_or(Ok(()), |mut stdin| stdin.write_all(&bytes)));
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    let written = writer.join().map_err(|_| failed("it could not be given the module".into()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    written.map_err(|error| failed(error.to_string()))?;
    Ok(output.stdout)
}

/// A line for each device.
fn side_by_side(results: &[Judged]) -> String {
    let mut text = String::from("\n");
    for judged in results {
        let Judged { device, result: Some(result), .. } = judged else { continue };
        let device = &device.name;
        let status = format!("{:?}", result.status);
        let what = match result.status {
            Status::Pass => {
                let writes = result.writes.as_ref().map(|writes| format!(", {writes}")).unwrap_or_default();
                format!("{} elements checked{writes}, {}", result.elements_checked, result.rounds_text())
            }
            _ => result.reason.clone().unwrap_or_default(),
        };
        _ = writeln!(text, "{status:<14} {device}: {what}");
    }
    text
}

impl CheckArgs {
    /// The options given that say something of a shader and nothing of precision cases.
    fn about_shaders(&self) -> Vec<&'static str> {
        let given = &self.given;
        let options = [
            ("--entry", given.entry.is_some()),
            ("--target-env", given.target_env.is_some()),
            ("--strict", given.strict),
            ("--workgroups", given.workgroups.is_some()),
            ("--spec", !given.spec.is_empty()),
            ("--push", given.push.is_some()),
            ("--input", !given.input.is_empty()),
            ("--elements", !given.elements.is_empty()),
            ("--buffer", !given.buffer.is_empty()),
            ("--address", !given.address.is_empty()),
            ("--robustness", given.robustness.is_some()),
            ("--subgroups", given.subgroups.is_some()),
            ("--rounds", given.rounds.is_some()),
            ("--sample", given.sample.is_some()),
            ("--patience", given.patience.is_some()),
            ("--explain", self.explain),
            ("--trace", self.trace),
            ("--no-trace", self.no_trace),
            ("--reduce", self.reduce),
            ("--against", self.against.is_some()),
            ("--mutate", self.mutate.is_some()),
        ];
        options.into_iter().filter(|(_, given)| *given).map(|(option, _)| option).collect()
    }
}

/// A mistake if two of what an option is given several times for are the same: each with its text.
fn once<K>(option: &str, given: &[(K, &str)], same: impl Fn(&K, &K) -> bool) -> Result<(), Failure> {
    for (i, (key, text)) in given.iter().enumerate() {
        if let Some((_, first)) = given.iter().take(i).find(|(other, _)| same(other, key)) {
            return Err(usage(format!("{option} {first} and {option} {text} are for the same: leave one of them out")));
        }
    }
    Ok(())
}

impl GivenArgs {
    /// A mistake if something is said twice. A binding and one of its array are not the same.
    fn each_once(&self, check: &Check<'_>) -> Result<(), Failure> {
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
        once("--input", &inputs.collect::<Result<Vec<_>, CheckError>>()?, same_binding)?;
        let elements = self.elements.iter().map(|text| {
            let to = text.split_once('=').map(|(to, _)| to.parse::<BindingName>()).transpose()?;
            Ok((to, text.as_str()))
        });
        once("--elements", &elements.collect::<Result<Vec<_>, CheckError>>()?, |a, b| match (a, b) {
            (Some(a), Some(b)) => same_binding(a, b),
            (a, b) => a == b,
        })?;
        for (option, pairs) in [("--spec", &self.spec), ("--buffer", &self.buffer), ("--address", &self.address)] {
            let pairs = joined(pairs);
            let pairs: Vec<(&str, &str)> = pairs.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
            once(option, &pairs, |a, b| a == b)?;
        }
        Ok(())
    }

    fn apply(&self, options: &mut Options) -> Result<(), Failure> {
        options.entry = self.entry.clone().or(options.entry.take());
        options.groups = self.workgroups.or(options.groups);
        options.rounds = self.rounds.unwrap_or(options.rounds);
        options.seed = self.seed.unwrap_or(options.seed);
        options.sample = self.sample.or(options.sample);
        options.strict = self.strict;
        options.robustness = self.robustness.unwrap_or(options.robustness);
        options.subgroups = self.subgroups.clone().or(options.subgroups.take());
        if let Some(patience) = self.patience {
            options.limits = options.limits.patient(patience);
        }
        options.specs.extend(self.spec.iter().cloned());
        if let Some(push) = &self.push {
            options.push = Some(push.parse::<Source>()?);
        }
        for (binding, what) in &self.input {
            options.inputs.push((binding.parse::<BindingName>()?, what.parse::<Source>()?));
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
        Ok(())
    }
}

impl OnArgs {
    /// The command line of `assay run` that runs a family of precision cases with the same options.
    ///
    /// # Errors
    /// What is given beside these is about shaders.
    fn of_family(&self, args: &CheckArgs) -> Result<Vec<String>, Failure> {
        let file = args.file.display();
        let unfit = args.about_shaders();
        if !unfit.is_empty() {
            let unfit = unfit.join(", ");
            return Err(usage(format!(
                "{file} is a family of precision cases, and {unfit} are for shaders: `assay run {file}` has what there is for cases \
                 (--budget, --range, --seed and others)"
            )));
        }
        let mut command: Vec<String> = ["assay", "run"].map(str::to_owned).into();
        command.push(file.to_string());
        let out = args.out.as_ref().map(|out| out.display().to_string());
        let isolate = if self.isolate == Isolate::Yes { "yes" } else { "no" };
        let values = [
            ("device", self.device.clone()),
            ("api", self.api.map(|api| api.name().to_owned())),
            ("timeout", Some(self.timeout.to_string())),
            ("isolate", Some(isolate.to_owned())),
            ("seed", args.given.seed.map(|seed| seed.to_string())),
            ("out", out),
        ];
        command.extend(values.into_iter().filter_map(|(option, value)| Some(format!("--{option}={}", value?))));
        command.extend(self.validation.then(|| "--validation".to_owned()));
        Ok(command)
    }

    /// The device that a selector names, through that API.
    fn target(&self, api: Api, selector: Option<&str>) -> Result<Box<dyn Target>, Failure> {
        let limit = Duration::from_secs_f64(self.timeout);
        Ok(match api {
            Api::Wgpu => {
                let (device, have) = run::portable(selector)?;
                Box::new(PortableTarget::new(device, have, limit)?.with_spirv())
            }
            Api::Vulkan | Api::Both => {
                let physical = Instance::new(self.validation)?.select(selector)?;
                Box::new(VulkanTarget::new(&physical, limit, self.validation)?)
            }
        })
    }

    /// What it is run on.
    fn places(&self) -> Result<Vec<Place>, Failure> {
        match self.device.as_deref() {
            Some(run::ALL) => {
                let index = |index: usize| Place { selector: Some(index.to_string()), index: Some(index.to_string()) };
                Ok((0..run::devices()?.len()).map(index).collect())
            }
            selector => Ok(vec![Place { selector: selector.map(str::to_owned), index: None }]),
        }
    }
}

/// A device to check on.
struct Place {
    /// What selects it.
    selector: Option<String>,
    /// Its number in `assay devices`, where all are meant.
    index: Option<String>,
}
