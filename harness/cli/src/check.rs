//! `assay check` and `assay repro`.

use crate::{
    args::{Api, Confirm, Isolate, RunArgs},
    exit::{self, Failure, WithCode, usage},
    folders, note, print, run,
};
use assay_check::{
    BindingName, BundleTo, CaseFile, Check, CheckError, Mutating, Mutation, Options, Source, Subject, Target,
    VulkanTarget, against, assignment, bundle, reduce, without_source,
};
use assay_oracle::Place;
use assay_portable::{PortableDevice, PortableTarget};
use assay_precision::Rules;
use assay_reports::{Console, ConsoleOptions, Folder, Shared, Tally};
use assay_runner::{CheckResult, Event, Reporter, RunInfo, SCHEMA, Status, device_info};
use assay_spirv::{Style, module::Index};
use assay_vulkan::{Instance, PhysicalDevice};
use clap::Args;
use jiff::Timestamp;
use std::{
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
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
  Samplers are nearest and clamped in the first round, linear and repeating in
  the second; a case file states other samplers, and other images.

What is checked:
  Every scalar of every storage buffer, storage image and storage texel
  buffer, against the set of values that the specification permits. A shader that breaks a rule, or whose behaviour is
  undefined with its inputs, is refused and no device is given it.
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

    /// Do not ask a device that fails for its intermediate results
    #[arg(long)]
    no_trace: bool,

    /// Make a failure smaller before it is bundled: a shader that still shows the same instruction and the same class
    #[arg(long)]
    reduce: bool,

    /// Check another translation of the shader instead of a device: a file, or `spirv-opt` (run with -O)
    #[arg(long, value_name = "FILE|spirv-opt", conflicts_with_all = ["mutate", "reduce", "sample"])]
    against: Option<PathBuf>,

    /// Plant an error in what the device is given, to see the tool find it
    ///
    /// KIND or KIND@INSTRUCTION; KIND is one of ulp:N, rounding, sign-of-zero, off-by-one, signedness, lost-atomic,
    /// missing-barrier; INSTRUCTION a name (OpFMul, Sqrt), a result (%12), a place in the module, or `last`.
    #[arg(long, value_name = "KIND[@INSTRUCTION]", value_parser = str::parse::<Mutation>)]
    mutate: Option<Mutation>,
}

/// What the shader is given.
#[derive(Debug, Args)]
struct GivenArgs {
    /// The entry point, where there are several
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,

    /// Workgroups along x, y and z
    #[arg(long, value_name = "X,Y,Z", value_parser = assay_check::groups)]
    workgroups: Option<[u32; 3]>,

    /// A specialisation constant by its id or name
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

    /// Rounds, each with other inputs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,

    /// Check what about N invocations write, by whole workgroups, where the dispatch is too large to check all of it
    ///
    /// The device is given the whole dispatch. What workgroups outside the sample do is not seen; of elements that are not
    /// permitted all workgroups are run after all, unless that would take too long.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,

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
}

impl From<CheckError> for Failure {
    fn from(error: CheckError) -> Failure {
        Failure { code: exit::USAGE, error: error.into() }
    }
}

/// Checks a shader.
pub(crate) fn check(args: &CheckArgs) -> Result<u8, Failure> {
    let (shader, mut options) = match is_toml(&args.file) {
        true => {
            if !names_a_shader(&args.file)? {
                return run::run(&args.on.of_family(args));
            }
            let case = CaseFile::load(&args.file)?;
            if let Some(why) = &case.why {
                note(why);
            }
            (case.shader, case.options)
        }
        false => (args.file.clone(), Options::default()),
    };
    args.given.apply(&mut options)?;
    let subject = Subject::load(&shader)?;
    let api = args.on.api.unwrap_or(Api::Vulkan);
    if api != Api::Vulkan && (args.against.is_some() || args.on.validation) {
        return Err(usage("--against and --validation go with --api vulkan"));
    }
    let check = Check::new(&subject, &options)?;
    if let Some(other) = &args.against {
        return translation(&check, other, &options, args);
    }
    let plan = Plan {
        check: &check,
        trace: !args.no_trace || args.explain,
        explain: args.explain,
        reduce: args.reduce,
        mutation: args.mutate.as_ref(),
    };
    // The same shader and inputs, judged by the rules of what it goes through.
    let by_wgsl = Options { rules: Rules::Wgsl, ..options.clone() };
    let portable = Check::new(&subject, &by_wgsl)?;
    if subject.wgsl().is_none() && api != Api::Vulkan {
        note("wgpu is given the SPIR-V as naga reads it, and the driver what naga writes of that");
    }
    let devices = args.on.devices()?;
    let several = devices.len() > 1;
    let mut results = Vec::new();
    for physical in &devices {
        for &api in api.each() {
            let mut folder = args.out.clone();
            if several {
                folder = folder.map(|out| out.join(physical.identity().index.to_string()));
            }
            if args.on.api == Some(Api::Both) {
                folder = folder.map(|out| out.join(api.name()));
            }
            results.push(match api {
                Api::Wgpu => {
                    let plan = Plan { check: &portable, ..plan };
                    let result = plan.on(&args.on.portable(physical)?, folder.as_deref())?;
                    translated(&subject, folder.as_deref(), &result.1, physical)?;
                    result
                }
                Api::Vulkan | Api::Both => plan.on(&args.on.target(physical)?, folder.as_deref())?,
            });
        }
    }
    if results.len() > 1 {
        print(side_by_side(&results).as_bytes())?;
    }
    if api == Api::Both {
        print(between_apis(&results).as_bytes())?;
    }
    Ok(code(&results))
}

/// Puts what naga makes of the WGSL beside the bundle, if there is one.
fn translated(
    subject: &Subject,
    folder: Option<&Path>,
    result: &CheckResult,
    physical: &PhysicalDevice,
) -> Result<(), Failure> {
    let bundle = folder.map(|folder| folder.join("bundle")).filter(|bundle| bundle.is_dir());
    let (Some(bundle), Some(text)) = (bundle, subject.wgsl()) else { return Ok(()) };
    if result.mismatches.is_empty() {
        return Ok(());
    }
    let words = match assay_portable::naga_spirv(text, &device_info(physical)) {
        Ok(words) => words,
        Err(what) => {
            note(&format!("the SPIR-V of the bundle is not written: {}", what.trim()));
            return Ok(());
        }
    };
    let text = assay_spirv::disassemble(&words, Style::Indented).code(exit::INTERNAL)?;
    folders::write(&bundle.join("naga.spvasm"), &text)?;
    note(&format!("what naga makes of the shader for wgpu: {}", bundle.join("naga.spvasm").display()));
    Ok(())
}

/// Which of the two fails, where only one does: results come in pairs.
fn between_apis(results: &[(String, CheckResult, u8)]) -> String {
    let mut text = String::new();
    for pair in results.chunks(2) {
        let [(device, vulkan, _), (_, wgpu, _)] = pair else { continue };
        let what = match (vulkan.status.is_failure(), wgpu.status.is_failure()) {
            (true, false) => "fails through Vulkan only: look at what this translation asks of the driver",
            (false, true) => "fails through wgpu only: look at wgpu and naga, or at what their checks add",
            (true, true) => "fails through both: look at the driver",
            (false, false) => continue,
        };
        _ = writeln!(text, "{device}: {what}");
    }
    text
}

/// The worst of all devices; one that lacks what the shader needs says nothing about the others.
fn code(results: &[(String, CheckResult, u8)]) -> u8 {
    let codes = || results.iter().map(|(_, _, code)| *code);
    let worst = codes().filter(|&code| code != exit::OK && code != exit::NOTHING).max();
    worst.unwrap_or_else(|| if codes().any(|code| code == exit::OK) { exit::OK } else { exit::NOTHING })
}

/// `assay repro`: runs a bundle here.
pub(crate) fn repro(args: &ReproArgs) -> Result<u8, Failure> {
    let bundle = bundle::read(&args.folder)?;
    let check = Check::new(&bundle.subject, &bundle.options)?;
    let mutation = bundle.manifest.mutation.as_deref().map(str::parse::<Mutation>).transpose()?;
    let plan = Plan { check: &check, trace: true, explain: false, reduce: false, mutation: mutation.as_ref() };
    let through = if bundle.device.api == Api::Wgpu.name() { Api::Wgpu } else { Api::Vulkan };
    let api = args.on.api.unwrap_or(through);
    let mut results = Vec::new();
    for physical in args.on.devices()? {
        for &api in api.each() {
            results.push(match api {
                Api::Wgpu => plan.on(&args.on.portable(&physical)?, None)?,
                Api::Vulkan | Api::Both => plan.on(&args.on.target(&physical)?, None)?,
            });
        }
    }
    let was = &bundle.result;
    let mut text = format!("\nin the bundle: {:?} on {}\n", was.status, bundle.device.name);
    for (device, result, _) in &results {
        // The bundle has one round: that of its first element.
        let round = was.mismatches.first().map(|m| m.round);
        let then = was.mismatches.iter().filter(|m| Some(m.round) == round).map(|m| (m.offset, &m.buffer, &m.got));
        let now = result.mismatches.iter().map(|m| (m.offset, &m.buffer, &m.got));
        let what = match (result.status == was.status, then.eq(now)) {
            (true, true) => "it happens here, bit by bit",
            (true, false) => "it happens here, with other values",
            (false, _) => "it does not happen here",
        };
        _ = writeln!(text, "here:          {:?} on {device}: {what}", result.status);
    }
    print(text.as_bytes())?;
    Ok(code(&results))
}

#[derive(Debug, Args)]
pub(crate) struct ReproArgs {
    /// The bundle's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    #[command(flatten)]
    on: OnArgs,
}

/// Whether a file's name is that of a case file.
pub(crate) fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "toml")
}

/// Whether a case file is about a shader, rather than a family of precision cases.
fn names_a_shader(path: &Path) -> Result<bool, Failure> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| usage(format!("cannot read {}: {error}", path.display())))?;
    // What is no TOML at all is reported by the reader of the commoner form.
    Ok(CaseFile::is_one(&text) || text.parse::<toml::Table>().is_err())
}

/// What is done on each device.
#[derive(Clone, Copy)]
struct Plan<'a> {
    check: &'a Check<'a>,
    trace: bool,
    explain: bool,
    reduce: bool,
    mutation: Option<&'a Mutation>,
}

impl Plan<'_> {
    /// One device: its name, what was found, and the exit code that calls for.
    fn on(&self, target: &dyn Target, folder: Option<&Path>) -> Result<(String, CheckResult, u8), Failure> {
        match self.mutation {
            Some(mutation) => {
                let module = &self.check.subject.source.module;
                let planted = mutation.plant(module, &self.check.setup.entry)?;
                let place = Place { instruction: Index(planted.instruction), line: None };
                note(&format!(
                    "planted {mutation} in what the device is given, at {}",
                    self.check.subject.place(place)
                ));
                self.run(&Mutating::new(target, planted), folder)
            }
            None => self.run(target, folder),
        }
    }

    fn run(&self, target: &dyn Target, folder: Option<&Path>) -> Result<(String, CheckResult, u8), Failure> {
        let started = Instant::now();
        // A mistake in the input is said before anything is said of a device.
        let mut result = self.check.run(target)?;
        if self.trace && result.status == Status::Fail {
            self.check.explain(&mut result, target, self.explain);
        }
        let command: Vec<String> =
            std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
        let tally = Shared::new(Tally::new());
        let mut reporters: Vec<Box<dyn Reporter>> = vec![Box::new(tally.clone())];
        if self.reduce && result.status == Status::Fail {
            self.reduced(&mut result, target, folder, &command)?;
        }
        if let Some(folder) = folder {
            if matches!(result.status, Status::Fail | Status::QualityWarning) && !result.mismatches.is_empty() {
                let to = BundleTo { folder: &folder.join("bundle"), command: &command, mutation: self.mutation };
                self.check.bundle(&to, &result, target)?;
                result.notes.push(format!("bundle in {}: assay repro shows it again", to.folder.display()));
            }
            reporters.push(Box::new(Folder::create(folder).code(exit::USAGE)?));
        }
        let shown = ConsoleOptions { threads: 1, folder: folder.map(Path::to_owned), ..ConsoleOptions::default() };
        reporters.push(Box::new(Console::new(anstream::stdout(), shown)));
        let mut tell = |event: &Event| -> Result<(), Failure> {
            reporters.iter_mut().try_for_each(|reporter| reporter.event(event)).code(exit::USAGE)
        };
        tell(&Event::RunStarted(Box::new(RunInfo {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            specification: target.info().specification().to_owned(),
            device: target.info().clone(),
            budget: "check".to_owned(),
            seed: result.seed,
            cases: 1,
            command,
            started: Timestamp::now().to_string(),
            selection: String::new(),
            part: None,
        })))?;
        tell(&Event::CheckFinished(Box::new(result.clone())))?;
        tell(&Event::RunFinished { interrupted: false, wall: started.elapsed().as_secs_f64() })?;
        let code = tally.with(|tally| exit::of_outcome(tally.outcome(), false));
        Ok((target.info().name.clone(), result, code))
    }
}

impl Plan<'_> {
    /// Makes the failure smaller, and writes the smaller one beside the bundle of the whole.
    fn reduced(
        &self,
        result: &mut CheckResult,
        target: &dyn Target,
        folder: Option<&Path>,
        command: &[String],
    ) -> Result<(), Failure> {
        let reduced = match reduce(self.check, result, target, CANDIDATES) {
            Ok(reduced) => reduced,
            // A failure that cannot be made smaller is still a failure, and is reported as one.
            Err(error) => {
                result.notes.push(format!("not reduced: {error}"));
                return Ok(());
            }
        };
        let [before, after] = reduced.instructions;
        let [x, y, z] = reduced.result.workgroups;
        let mut note = format!(
            "reduced from {before} to {after} instructions and {x} x {y} x {z} workgroups, {} candidates tried",
            reduced.tried
        );
        if let Some(folder) = folder {
            let small = Check::new(&reduced.subject, &reduced.options)?;
            // A planted error is known by the result of its instruction, which the smaller module has kept.
            let own = reduced.result.blamed.first().map(|b| b.instruction.to_string());
            let mutation = self.mutation.map(|mutation| Mutation { at: own, ..mutation.clone() });
            let to = BundleTo { folder: &folder.join("reduced"), command, mutation: mutation.as_ref() };
            small.bundle(&to, &reduced.result, target)?;
            note += &format!("; bundle in {}", to.folder.display());
        } else {
            note += "; give --out to have it";
        }
        result.notes.push(note);
        Ok(())
    }
}

/// Candidates that a reduction runs.
const CANDIDATES: usize = 500;

/// `--against`: what another translation may become, held against what this one permits.
fn translation(check: &Check<'_>, other: &Path, options: &Options, args: &CheckArgs) -> Result<u8, Failure> {
    let module = &check.subject.source.module;
    let other = match other.to_str() {
        Some("spirv-opt") => Subject::read("spirv-opt -O", &spirv_opt(&without_source(module))?)?,
        _ => Subject::load(other)?,
    };
    // Names of bindings and entry points need not have survived.
    let theirs = Options { inputs: Vec::new(), push: None, elements: Vec::new(), ..options.clone() };
    let theirs = Check::new(&other, &Options { expectations: Vec::new(), ..theirs })?;
    let physical = args.on.devices()?.into_iter().next();
    let physical = physical.ok_or_else(|| usage("no device to take the subgroup's size from"))?;
    let result = against(check, &theirs, &args.on.target(&physical)?)?;
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
fn side_by_side(results: &[(String, CheckResult, u8)]) -> String {
    let mut text = String::from("\n");
    for (device, result, _) in results {
        let status = format!("{:?}", result.status);
        let what = match result.status {
            Status::Pass => format!("{} elements checked", result.elements_checked),
            _ => result.reason.clone().unwrap_or_default(),
        };
        _ = writeln!(text, "{status:<14} {device}: {what}");
    }
    text
}

impl GivenArgs {
    fn apply(&self, options: &mut Options) -> Result<(), Failure> {
        options.entry = self.entry.clone().or(options.entry.take());
        options.groups = self.workgroups.or(options.groups);
        options.rounds = self.rounds.unwrap_or(options.rounds);
        options.seed = self.seed.unwrap_or(options.seed);
        options.sample = self.sample.or(options.sample);
        options.specs.extend(self.spec.iter().cloned());
        if let Some(push) = &self.push {
            options.push = Some(push.parse::<Source>()?);
        }
        for (binding, what) in &self.input {
            options.inputs.push((binding.parse::<BindingName>()?, what.parse::<Source>()?));
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
    /// What runs a family of precision cases with the same options.
    fn of_family(&self, args: &CheckArgs) -> RunArgs {
        RunArgs {
            filters: vec![args.file.display().to_string()],
            budget: assay_case::Budget::Quick,
            device: self.device.clone(),
            out: None,
            jobs: None,
            timeout: self.timeout,
            seed: args.given.seed.unwrap_or(0),
            range: None,
            partition: None,
            lists: Default::default(),
            validation: self.validation,
            path: None,
            api: self.api.unwrap_or(Api::Vulkan),
            resume: None,
            workers: None,
            // A worker is told the command line, which is not that of a run.
            isolate: Isolate::No,
            confirm: Confirm::Yes,
            memory: None,
            verbose: false,
            quiet: false,
        }
    }

    fn target(&self, physical: &PhysicalDevice) -> Result<VulkanTarget, Failure> {
        Ok(VulkanTarget::new(physical, Duration::from_secs_f64(self.timeout), self.validation)?)
    }

    /// The same device through wgpu.
    fn portable(&self, physical: &PhysicalDevice) -> Result<PortableTarget, Failure> {
        let all = Instance::new(false)?.devices()?;
        let device = PortableDevice::of(physical, &all)?;
        let have = physical.capabilities().have();
        Ok(PortableTarget::new(device, have, Duration::from_secs_f64(self.timeout))?.with_spirv())
    }

    fn devices(&self) -> Result<Vec<PhysicalDevice>, Failure> {
        let instance = Instance::new(self.validation)?;
        match self.device.as_deref() {
            Some("all") => Ok(instance.devices()?),
            selector => Ok(vec![instance.select(selector)?]),
        }
    }
}
