//! Running programs: several at a time on one device, their results in the order of the cases.

use crate::result::{blank, result};
use crate::{Case, Lowered, Program, RunPath, Second, tile};
use assay_check::{Check, CheckError, Job, Left, Placed, Subject, Target, TargetError, made_up};
use assay_oracle::Resource;
use assay_runner::{CaseResult, CheckResult, DeviceInfo, Event, More, Status, panic_message};
use assay_spirv::need::{Have, Need};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, mpsc};
use std::time::{Duration, Instant};

/// How programs are run.
#[derive(Clone, Debug)]
pub struct RunWith {
    /// The path; `None` for the best that there is.
    pub path: Option<RunPath>,
    /// The seed of what programs do not fix themselves.
    pub seed: u64,
    /// Programs that are run at a time.
    pub jobs: usize,
    /// The options with which `assay run` runs a case again in this way: see [`assay_runner::again`].
    pub again: String,
}

/// Programs to be run on a target.
pub struct Programs<'a> {
    /// The cases.
    pub cases: &'a [Case],
    /// What runs them: a device, or [`NoDevice`](crate::NoDevice).
    pub target: &'a (dyn Target + Sync),
    /// How.
    pub with: RunWith,
}

impl More for Programs<'_> {
    fn run(&self, interrupted: &AtomicBool, tell: &mut dyn FnMut(Event) -> ControlFlow<()>) {
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        // A device that is lost takes along whatever else runs on it: who is at fault shows when a case runs alone.
        let alone = RwLock::new(());
        let (sender, results) = mpsc::channel();
        let (next, stopped, alone) = (&next, &stopped, &alone);
        std::thread::scope(|scope| {
            for _ in 0..self.with.jobs.clamp(1, self.cases.len().max(1)) {
                let sender = sender.clone();
                scope.spawn(move || {
                    while !stopped.load(Ordering::Relaxed) && !interrupted.load(Ordering::Relaxed) {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(case) = self.cases.get(index) else { return };
                        let mut result = {
                            let _together = alone.read().unwrap_or_else(PoisonError::into_inner);
                            self.one(case)
                        };
                        if matches!(result.status, Status::DeviceLost | Status::Timeout) && self.with.jobs > 1 {
                            let _alone = alone.write().unwrap_or_else(PoisonError::into_inner);
                            result = self.one(case);
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
                    let started = Event::CaseStarted { name: result.name.clone(), inputs: result.inputs_tested };
                    if tell(started).is_break() || tell(Event::CaseFinished(Box::new(result))).is_break() {
                        stopped.store(true, Ordering::Relaxed);
                        return;
                    }
                }
            }
        });
    }
}

impl Programs<'_> {
    /// Runs one case and says what came of it, on the path asked for or the best one that the target can take.
    pub fn one(&self, case: &Case) -> CaseResult {
        let best = [RunPath::Native, RunPath::Lowered];
        let wanted: &[RunPath] = self.with.path.as_ref().map_or(&best, std::slice::from_ref);
        let mut first: Option<CaseResult> = None;
        for &path in wanted {
            if !case.paths.contains(&path) {
                continue;
            }
            let found = self.on(case, path);
            if found.status != Status::NotSupported {
                return found;
            }
            first = Some(match first {
                // It is the second that decided; without the first, nobody would know why that was tried.
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
            let why = format!("the case has no {path} path: it is core Vulkan, and there is nothing to lower");
            blank(case, path, Status::NotSupported, why, self.with.seed)
        })
    }

    fn on(&self, case: &Case, path: RunPath) -> CaseResult {
        let started = Instant::now();
        // A panic is a defect of the reference or of the suite: it costs this case, not the run.
        let ran = catch_unwind(AssertUnwindSafe(|| match case.pass(path) {
            Some(pass) => pass.map(|pass| tile::run(case, &pass, path, self.target, self.with.seed)),
            None => self.check(case, path).map(|check| result(case, path, check)),
        }));
        let mut found = match ran {
            Ok(Ok(found)) => found,
            // The programs are ours: one that is illegal, undefined or not understood is no driver's fault.
            Ok(Err(error)) => blank(case, path, Status::InternalError, error.to_string(), self.with.seed),
            Err(panic) => {
                let why = format!("the harness panicked: {}", panic_message(&*panic));
                blank(case, path, Status::InternalError, why, self.with.seed)
            }
        };
        found.times.wall = started.elapsed().as_secs_f64();
        for example in found.worst.iter_mut().chain(found.classes.iter_mut().flat_map(|class| &mut class.examples)) {
            example.explain = format!("assay run {}{}", case.name, self.with.again);
        }
        found
    }

    fn check(&self, case: &Case, path: RunPath) -> Result<CheckResult, CheckError> {
        let Some(mut program) = case.program(path) else {
            return Err(CheckError::Option(format!("the case has no {path} path")));
        };
        program.options.seed = self.with.seed;
        let started = Instant::now();
        let subject = Subject::read(&format!("{}.{}", case.name, program.ending), program.text.as_bytes())?;
        program.options.rules = self.target.rules();
        let check = Check::new(&subject, &program.options)?;
        let build = started.elapsed().as_secs_f64();
        let mut found = match path {
            RunPath::Native | RunPath::Lowered if program.lowered.is_empty() => check.run(self.target)?,
            RunPath::Native | RunPath::Lowered => {
                let kernel = program.options.kernel.is_some();
                on_lowered(&check, case, (&program.lowered, kernel), self.target)?
            }
            RunPath::Reference => reference(&check, &program, self.target)?,
        };
        found.times.build = build;
        Ok(found)
    }
}

/// A device that is given the first lowered module that it can run, held against what the module itself means.
fn on_lowered(
    check: &Check<'_>,
    case: &Case,
    (alternatives, kernel): (&[Lowered], bool),
    target: &dyn Target,
) -> Result<CheckResult, CheckError> {
    let mut have = target.have().clone();
    let mut words = Err("no lowered module".to_owned());
    for lowered in alternatives {
        let subject = Subject::read(&format!("{}.lowered.spvasm", case.name), lowered.text.as_bytes())?;
        let _none = subject.must_be_legal(true)?;
        let need = Need::of(&subject.source.module).check(target.have());
        words = match need.may_run() {
            true => Ok(subject.source.module.words().to_vec()),
            false => Err(format!("of the lowered module, {need}")),
        };
        // With the feature it does without come the limits that every device with it has.
        if lowered.features.contains(&"shaderImageGatherExtended")
            && !have.features.contains("shaderImageGatherExtended")
        {
            have.properties.remove("minTexelGatherOffset");
            have.properties.remove("maxTexelGatherOffset");
        }
        have.features.extend(lowered.features.iter().map(|name| (*name).to_owned()));
        have.extensions.extend(lowered.extensions.iter().map(|name| (*name).to_owned()));
        if words.is_ok() {
            break;
        }
    }
    let stand = Stand { target, have, words };
    // No device has what a kernel needs; that is what it is lowered for.
    if kernel { check.hold(&stand) } else { check.run(&stand) }
}

/// A device that another module is given in place of what it is asked to run.
struct Stand<'a> {
    target: &'a dyn Target,
    have: Have,
    /// The module, or what the device lacks for it.
    words: Result<Vec<u32>, String>,
}

impl Target for Stand<'_> {
    fn info(&self) -> &DeviceInfo {
        self.target.info()
    }

    fn have(&self) -> &Have {
        &self.have
    }

    fn place(&self, job: &Job<'_>) -> Result<Placed, TargetError> {
        self.target.place(job)
    }

    fn run(&self, job: &Job<'_>) -> Result<Left, TargetError> {
        match &self.words {
            Ok(words) => self.target.run(&Job { wgsl: None, words, ..*job }),
            Err(lacks) => Err(TargetError::Lacks(lacks.clone())),
        }
    }
}

/// The oracle held against the program's own reference, where it has one.
fn reference(check: &Check<'_>, program: &Program, target: &dyn Target) -> Result<CheckResult, CheckError> {
    let found = check.hold(&SecondTarget { second: program.second.as_ref(), target })?;
    Ok(match found.status {
        Status::NotSupported => CheckResult { status: Status::Undetermined, ..found },
        _ => found,
    })
}

/// In place of a device, a program's second reference; beside that, what a target is.
struct SecondTarget<'a> {
    second: Option<&'a Second>,
    target: &'a dyn Target,
}

impl Target for SecondTarget<'_> {
    fn info(&self) -> &DeviceInfo {
        self.target.info()
    }

    fn have(&self) -> &Have {
        self.target.have()
    }

    fn place(&self, job: &Job<'_>) -> Result<Placed, TargetError> {
        Ok(Placed::at(made_up(job.descriptors)))
    }

    fn run(&self, job: &Job<'_>) -> Result<Left, TargetError> {
        match self.second {
            Some(second) => {
                let mut memory = second(job.dispatch);
                // What it does not speak of stays as it was.
                for descriptor in job.descriptors.iter().filter(|descriptor| descriptor.is_read_back()) {
                    let held = job.dispatch.bindings.get(&descriptor.slot);
                    let bytes = || match held {
                        Some(Resource::Buffer(buffer)) => buffer.data.clone(),
                        Some(Resource::Image(image)) => image.data.clone(),
                        _ => Vec::new(),
                    };
                    memory.entry(descriptor.slot).or_insert_with(bytes);
                }
                Ok(Left { memory, taken: Duration::ZERO })
            }
            None => {
                Err(TargetError::Lacks("the oracle alone: there is no second reference to hold it against".to_owned()))
            }
        }
    }
}
