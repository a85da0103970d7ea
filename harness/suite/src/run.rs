//! Runs programs concurrently on one device and reports their results in the order of the cases.

use crate::result::{not_run, program_not_run, result};
use crate::shader_session::{PreparedShader, ShaderOptions, ShaderSession};
use crate::{Case, LoweredModule, Program, Reference, RunPath, ShaderFile, tile};
use assay_check::{Check, CheckError, CheckSession, CompileOptions, SessionOutput, ShaderSource};
use assay_events::{CaseResult, CheckResult, DeviceInfo, Event, Status};
use assay_exec::{AllocatedDispatch, DispatchOutput, DispatchRequest, Target, TargetError, synthetic_addresses};
use assay_oracle::Resource;
use assay_runner::{ProgramRunner, panic_message};
use assay_spirv_rules::requirements::{DeviceCaps, Requirements};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, mpsc};
use std::time::Instant;

/// Settings for running programs.
#[derive(Clone, Debug)]
pub struct ProgramSettings {
    /// The path; `None` selects the best one.
    pub path: Option<RunPath>,
    /// Seed of the inputs that programs do not fix.
    pub seed: u64,
    /// Options of the compilers of the user's shaders.
    pub compile: CompileOptions,
    /// Number of programs that run concurrently.
    pub jobs: usize,
}

/// Reason why a shader was not checked.
enum Unchecked {
    /// It cannot be checked.
    Refused(String),
    /// Assay panicked.
    Panicked(String),
}

impl From<CheckError> for Unchecked {
    fn from(error: CheckError) -> Unchecked {
        Unchecked::Refused(error.to_string())
    }
}

/// Returns a message without the name of the case's file at its beginning: reports show it before
/// the message.
fn without_name<'a>(message: &'a str, case: &str) -> &'a str {
    let file = case.rsplit_once(':').map_or(case, |(file, _entry)| file);
    let rest = [case, file].iter().find_map(|name| message.strip_prefix(name));
    let rest = rest.and_then(|rest| rest.strip_prefix(": ").or_else(|| rest.strip_prefix(' ')));
    rest.unwrap_or(message)
}

/// A set of programs to run on a target.
pub struct ProgramSet<'a> {
    /// The cases.
    pub cases: &'a [Case],
    /// The target: a device, or [`NoDevice`](crate::NoDevice).
    pub target: &'a (dyn Target + Sync),
    /// The settings.
    pub settings: ProgramSettings,
}

impl ProgramRunner for ProgramSet<'_> {
    fn run(&self, interrupted: &AtomicBool, tell: &mut dyn FnMut(Event) -> ControlFlow<()>) {
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        // A lost device fails all programs that run on it, so a case that loses it or times out is
        // run again alone.
        let alone = RwLock::new(());
        let (sender, results) = mpsc::channel();
        let (next, stopped, alone) = (&next, &stopped, &alone);
        std::thread::scope(|scope| {
            for _ in 0..self.settings.jobs.clamp(1, self.cases.len().max(1)) {
                let sender = sender.clone();
                scope.spawn(move || {
                    while !stopped.load(Ordering::Relaxed) && !interrupted.load(Ordering::Relaxed) {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(case) = self.cases.get(index) else { return };
                        let mut result = {
                            let _together = alone.read().unwrap_or_else(PoisonError::into_inner);
                            self.run_case(case)
                        };
                        let unusable = result.case_end().is_some_and(|end| end.leaves_device_unusable());
                        if unusable && self.settings.jobs > 1 {
                            let _alone = alone.write().unwrap_or_else(PoisonError::into_inner);
                            result = self.run_case(case);
                        }
                        if sender.send((index, result)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let (mut waiting, mut at) = (BTreeMap::new(), 0);
            for (index, result) in results {
                waiting.insert(index, result);
                while let Some(result) = waiting.remove(&at) {
                    at += 1;
                    let (name, inputs) = started(&result);
                    if tell(Event::CaseStarted { name, inputs }).is_break() || tell(result).is_break() {
                        stopped.store(true, Ordering::Relaxed);
                        return;
                    }
                }
            }
        });
    }
}

impl ProgramSet<'_> {
    /// Runs one case, and returns the event with its result. A program runs on the requested path,
    /// or on the best path that the target supports.
    pub fn run_case(&self, case: &Case) -> Event {
        match self.settings.path.unwrap_or(RunPath::Native) {
            _ if !case.is_check() => Event::CaseFinished(Box::new(self.run_program(case))),
            RunPath::Native => Event::CheckFinished(Box::new(self.check_shader(case))),
            path => {
                let why = format!("a shader in a file or a random program has no {path} path");
                not_run(case, path, Status::NotSupported, why, self.settings.seed)
            }
        }
    }

    /// Checks a shader of the user or a random program. One that cannot be checked is Undetermined,
    /// and the reason says why.
    fn check_shader(&self, case: &Case) -> CheckResult {
        let seed = self.settings.seed;
        let started = Instant::now();
        let undetermined = |reason: String| CheckResult::not_run(case.name.clone(), Status::Undetermined, reason, seed);
        let ran =
            catch_unwind(AssertUnwindSafe(|| match (case.prepared_shader(), case.shader_file(), case.generate()) {
                (Some(shader), ..) => self.try_check_prepared(shader),
                (None, Some(file), _) => Ok(self.try_check_shader(file)?),
                (None, None, Some(program)) => Ok(self.try_check_generated(case, program)?),
                (None, None, None) => Err(Unchecked::Refused(format!("`{}` is not a shader", case.name))),
            }));
        let ran = ran.unwrap_or_else(|panic| Err(Unchecked::Panicked(panic_message(&*panic).to_owned())));
        let mut result = match ran {
            Ok(result) => CheckResult { name: case.name.clone(), ..result },
            Err(Unchecked::Refused(error)) => {
                let (first, rest) = error.split_once('\n').unwrap_or((&error, ""));
                let mut reason = without_name(first, &case.name).to_owned();
                let mut notes = rest.lines().peekable();
                // The first line announces a list, such as a compiler's errors: its first entry
                // says why, with what stands below it.
                if reason.ends_with(':')
                    && let Some(entry) = notes.next()
                {
                    let indentation = |line: &str| line.len() - line.trim_start().len();
                    let below = notes.next_if(|line| indentation(line) > indentation(entry));
                    let below = below.map_or_else(String::new, |below| format!(": {}", below.trim()));
                    reason = format!("{reason} {}{below}", entry.trim());
                }
                CheckResult { notes: notes.map(str::to_owned).collect(), ..undetermined(reason) }
            }
            Err(Unchecked::Panicked(message)) => {
                let why = format!("the harness panicked: {message}");
                CheckResult { status: Status::InternalError, ..undetermined(why) }
            }
        };
        result.times.wall = started.elapsed().as_secs_f64();
        result
    }

    /// Checks a random program with its own inputs. A failure is traced.
    fn try_check_generated(&self, case: &Case, program: Program) -> Result<CheckResult, CheckError> {
        let Program { text, ending, mut options, .. } = program;
        options.rules = self.target.rules();
        let shader = ShaderSource::read(&format!("{}.{ending}", case.name), text.as_bytes())?;
        let mut session = CheckSession::new(shader, options);
        session.diagnosis.trace = true;
        let output = SessionOutput { folder: None, command: &[] };
        session.run(&session.check()?, self.target, None, output, &|_| ())
    }

    /// Checks a shader of the user that was read and compiled.
    fn try_check_prepared(&self, shader: &PreparedShader) -> Result<CheckResult, Unchecked> {
        match shader {
            PreparedShader::Ready(request) => Ok(ShaderSession::from_request(request.clone())?.run(self.target)?),
            PreparedShader::Refused(reason) => Err(Unchecked::Refused(reason.clone())),
            PreparedShader::Panicked(message) => Err(Unchecked::Panicked(message.clone())),
        }
    }

    fn try_check_shader(&self, file: &ShaderFile) -> Result<CheckResult, CheckError> {
        let options = ShaderOptions { compile: &self.settings.compile, seed: self.settings.seed };
        ShaderSession::load(file, options)?.run(self.target)
    }

    /// Runs a program of a suite on the requested path, or on the best path that the target
    /// supports.
    fn run_program(&self, case: &Case) -> CaseResult {
        let best = [RunPath::Native, RunPath::Lowered];
        let wanted: &[RunPath] = self.settings.path.as_ref().map_or(&best, std::slice::from_ref);
        let mut first: Option<CaseResult> = None;
        for &path in wanted {
            if !case.paths.contains(&path) {
                continue;
            }
            let found = self.run_on(case, path);
            if found.status != Status::NotSupported {
                return found;
            }
            first = Some(match first {
                // The first path's reason is kept: it explains why the second path was tried.
                Some(first) => {
                    let why = |found: &CaseResult| found.reason.clone().unwrap_or_default();
                    let reason = Some(format!("{}: {}; {path}: {}", first.path, why(&first), why(&found)));
                    CaseResult { reason, ..first }
                }
                None => found,
            });
        }
        first.unwrap_or_else(|| {
            let path = wanted.first().copied().unwrap_or(RunPath::Native);
            let why = format!("the case has no {path} path: it uses core Vulkan only, so there is nothing to lower");
            program_not_run(case, path, Status::NotSupported, why, self.settings.seed)
        })
    }

    /// Runs a case on a path. A panic, and a program that is illegal or undefined, is an
    /// InternalError.
    fn run_on(&self, case: &Case, path: RunPath) -> CaseResult {
        let started = Instant::now();
        // A panic is a defect of the oracle or the suite. It fails this case and does not end the
        // run.
        let ran = catch_unwind(AssertUnwindSafe(|| match case.pass(path) {
            Some(pass) => pass.map(|pass| tile::run(case, &pass, path, self.target, self.settings.seed)),
            None => self.check(case, path).map(|check| result(case, path, check)),
        }));
        let mut found = match ran {
            Ok(Ok(found)) => found,
            // The programs are part of Assay, so an illegal, undefined or unsupported one is an
            // internal error, not the driver's fault.
            Ok(Err(error)) => program_not_run(case, path, Status::InternalError, error.to_string(), self.settings.seed),
            Err(panic) => {
                let why = format!("the harness panicked: {}", panic_message(&*panic));
                program_not_run(case, path, Status::InternalError, why, self.settings.seed)
            }
        };
        found.times.wall = started.elapsed().as_secs_f64();
        found
    }

    fn check(&self, case: &Case, path: RunPath) -> Result<CheckResult, CheckError> {
        let Some(mut program) = case.program(path) else {
            return Err(CheckError::Option(format!("the case has no {path} path")));
        };
        program.options.seed = self.settings.seed;
        let started = Instant::now();
        let subject = ShaderSource::read(&format!("{}.{}", case.name, program.ending), program.text.as_bytes())?;
        program.options.rules = self.target.rules();
        let check = Check::new(&subject, &program.options)?;
        let build = started.elapsed().as_secs_f64();
        let mut found = match path {
            RunPath::Native | RunPath::Lowered if program.lowered.is_empty() => check.run(self.target)?,
            RunPath::Native | RunPath::Lowered => {
                let kernel = program.options.kernel.is_some();
                check_lowered(&check, case, (&program.lowered, kernel), self.target)?
            }
            RunPath::Reference => check_reference(&check, &program, self.target)?,
        };
        found.times.build = build;
        Ok(found)
    }
}

/// Returns the name and the number of inputs of a case that has a result.
fn started(result: &Event) -> (String, u64) {
    let name = result.case_end().map_or("", |end| end.name);
    let inputs = if let Event::CaseFinished(result) = result { result.inputs_tested } else { 0 };
    (name.to_owned(), inputs)
}

/// Checks a device that runs a lowered module against the permitted results of the program's own
/// module.
fn check_lowered(
    check: &Check<'_>,
    case: &Case,
    (alternatives, kernel): (&[LoweredModule], bool),
    target: &dyn Target,
) -> Result<CheckResult, CheckError> {
    let mut caps = target.capabilities().clone();
    let mut words = Err("no lowered module".to_owned());
    for lowered in alternatives {
        let subject = ShaderSource::read(&format!("{}.lowered.spvasm", case.name), lowered.text.as_bytes())?;
        let _none = subject.must_be_legal(true)?;
        let requirements = Requirements::of(&subject.source.module).check(target.capabilities());
        words = match requirements.may_run() {
            true => Ok(subject.source.module.words().to_vec()),
            false => Err(format!("in the lowered module, {requirements}")),
        };
        // A device with the replaced feature also has the offset limits that the feature requires.
        if lowered.features.contains(&"shaderImageGatherExtended")
            && !caps.features.contains("shaderImageGatherExtended")
        {
            caps.properties.remove("minTexelGatherOffset");
            caps.properties.remove("maxTexelGatherOffset");
        }
        caps.features.extend(lowered.features.iter().map(|name| (*name).to_owned()));
        caps.extensions.extend(lowered.extensions.iter().map(|name| (*name).to_owned()));
        if words.is_ok() {
            break;
        }
    }
    let stand_in = LoweredTarget { target, caps, words };
    // No Vulkan device meets a kernel's requirements, so these are not checked.
    if kernel { check.run_unconditionally(&stand_in) } else { check.run(&stand_in) }
}

/// A device that runs a lowered module in place of each requested one.
struct LoweredTarget<'a> {
    target: &'a dyn Target,
    caps: DeviceCaps,
    /// The words of the lowered module, or the reason why the device cannot run it.
    words: Result<Vec<u32>, String>,
}

impl Target for LoweredTarget<'_> {
    fn info(&self) -> &DeviceInfo {
        self.target.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        &self.caps
    }

    fn allocate(&self, request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        self.target.allocate(request)
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        match &self.words {
            Ok(words) => self.target.run(&DispatchRequest { wgsl: None, words, ..*request }),
            Err(lacks) => Err(TargetError::Unsupported(lacks.clone())),
        }
    }
}

/// Compares the oracle with the program's independent reference.
fn check_reference(check: &Check<'_>, program: &Program, target: &dyn Target) -> Result<CheckResult, CheckError> {
    let found = check.run_unconditionally(&ReferenceTarget { reference: program.reference.as_ref(), target })?;
    Ok(match found.status {
        Status::NotSupported => CheckResult { status: Status::Undetermined, ..found },
        _ => found,
    })
}

/// A target that answers with the program's independent reference; everything else comes from
/// `target`.
struct ReferenceTarget<'a> {
    reference: Option<&'a Reference>,
    target: &'a dyn Target,
}

impl Target for ReferenceTarget<'_> {
    fn info(&self) -> &DeviceInfo {
        self.target.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        self.target.capabilities()
    }

    fn allocate(&self, request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        Ok(AllocatedDispatch::at(synthetic_addresses(request.descriptors)))
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        match self.reference {
            Some(reference) => {
                let mut memory = reference(request.dispatch);
                // Resources that the reference does not cover keep their contents.
                for descriptor in request.descriptors.iter().filter(|descriptor| descriptor.is_read_back()) {
                    let held = request.dispatch.bindings.get(&descriptor.slot);
                    let bytes = || match held {
                        Some(Resource::Buffer(buffer)) => buffer.data.clone(),
                        Some(Resource::Image(image)) => image.data.clone(),
                        _ => Vec::new(),
                    };
                    memory.entry(descriptor.slot).or_insert_with(bytes);
                }
                Ok(DispatchOutput { memory, ..DispatchOutput::default() })
            }
            None => Err(TargetError::Unsupported(
                "only the oracle was run: the case has no independent reference to compare it with".to_owned(),
            )),
        }
    }
}
