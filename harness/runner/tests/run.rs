//! The runner on synthetic devices: correct, wrong, lost, slow and interrupted ones.

use assay_case::{Budget, Case, Columns, NameFilters, Partition};
use assay_events::{CaseResult, DeviceInfo, Event, Reporter, Status};
use assay_exec::{ExecError, Executor, PreparedCase};
use assay_runner::{Plan, PlanError, RunError, RunOptions, Summary, plan, run};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Compute = fn(&[u64]) -> u64;

/// Adds, wrongly where both operands have at least twelve ones at the top of their mantissas: for one
/// pair in 2^24.
fn add_wrongly(row: &[u64]) -> u64 {
    let ones = |bits: u64| (bits as u32) << 9 >> 20 == 0xfff;
    add(row) ^ u64::from(ones(row[0]) && ones(row[1])) << 4
}

/// A device that computes one result for each row with a closure, and fails on request.
#[derive(Default)]
struct FakeDevice {
    info: Option<DeviceInfo>,
    compute: Option<Compute>,
    /// Error when the case of this name is run.
    failure: Option<(&'static str, ExecError)>,
    /// Name of the case whose pipeline it refuses.
    refuses: Option<&'static str>,
    cannot_recover: bool,
    recovered: AtomicUsize,
    built: AtomicUsize,
}

struct FakeKernel {
    compute: Compute,
    failure: Option<ExecError>,
}

impl FakeDevice {
    fn computing(compute: Compute) -> FakeDevice {
        FakeDevice { info: Some(device()), compute: Some(compute), ..FakeDevice::default() }
    }
}

impl Executor for FakeDevice {
    fn info(&self) -> &DeviceInfo {
        self.info.as_ref().expect("every fake has one")
    }

    fn missing(&self, case: &Case) -> Option<String> {
        let requirements = case.requirements().expect("our shaders are modules");
        let lacks =
            requirements.items.iter().find(|item| item.imposed_by.starts_with("execution mode DenormPreserve"))?;
        Some(lacks.expression.to_string())
    }

    fn build(
        &self,
        case: &Case,
        capacity: usize,
        constants: Option<&Columns>,
    ) -> Result<Box<dyn PreparedCase>, ExecError> {
        assert_eq!(constants.is_some(), case.source != assay_case::OperandSource::Buffer);
        assert!(constants.is_none_or(|constants| constants.capacity() == capacity));
        self.built.fetch_add(1, Ordering::SeqCst);
        if self.refuses.is_some_and(|name| name == case.name) {
            return Err(ExecError::Pipeline("VK_ERROR_UNKNOWN".into()));
        }
        let failure = self.failure.as_ref().filter(|(name, _)| *name == case.name).map(|(_, failure)| failure.clone());
        Ok(Box::new(FakeKernel { compute: self.compute.expect("every fake computes"), failure }))
    }

    fn recover(&self) -> Result<(), ExecError> {
        self.recovered.fetch_add(1, Ordering::SeqCst);
        if self.cannot_recover { Err(ExecError::DeviceLost("it is gone".into())) } else { Ok(()) }
    }
}

impl PreparedCase for FakeKernel {
    fn run(&mut self, operands: &Columns, results: &mut Columns) -> Result<Duration, ExecError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        results.set_rows(operands.rows());
        let mut row = vec![0; operands.slots()];
        for index in 0..operands.rows() {
            operands.row(index, &mut row);
            results.set_row(index, &[(self.compute)(&row)]);
        }
        Ok(Duration::from_millis(1))
    }
}

fn device() -> DeviceInfo {
    DeviceInfo {
        name: "fake".into(),
        api: "vulkan".to_owned(),
        kind: "other".into(),
        api_version: "1.1.0".into(),
        ..DeviceInfo::default()
    }
}

fn negate(row: &[u64]) -> u64 {
    row[0] ^ 0x8000_0000
}

fn add(row: &[u64]) -> u64 {
    (f32::from_bits(row[0] as u32) + f32::from_bits(row[1] as u32)).to_bits().into()
}

fn options(budget: Budget) -> RunOptions {
    RunOptions {
        time: None,
        budget,
        seed: 0,
        range: None,
        partition: None,
        jobs: 2,
        command: Vec::new(),
        settings: None,
        started: String::new(),
    }
}

fn planned(device: &FakeDevice, names: &[&str], options: &RunOptions) -> Plan {
    let filters = NameFilters::new(names);
    plan(assay_case::load().unwrap(), &filters, device, options).unwrap()
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Event>>>);

impl Reporter for Log {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.0.lock().unwrap().push(event.clone());
        Ok(())
    }
}

fn results(log: &Log) -> Vec<CaseResult> {
    let events = log.0.lock().unwrap();
    let finished = events.iter().filter_map(|event| match event {
        Event::CaseFinished(result) => Some((**result).clone()),
        _ => None,
    });
    finished.collect()
}

fn ran(device: &FakeDevice, names: &[&str], budget: Budget) -> (Summary, Vec<CaseResult>) {
    let options = options(budget);
    let log = Log::default();
    let plan = planned(device, names, &options);
    let summary = run(&plan, device, &options, &mut [Box::new(log.clone())], &AtomicBool::new(false)).unwrap();
    (summary, results(&log))
}

const NEGATE: &str = "precision.f32.fnegate.scalar.default";
const PRESERVE: &str = "precision.f32.fnegate.scalar.denorm_preserve";
const CONSTANT: &str = "precision.f32.fnegate.scalar.default.constant";

#[test]
fn right_results_pass_and_missing_modes_are_not_supported() {
    let device = FakeDevice::computing(negate);
    let (summary, results) =
        ran(&device, &[NEGATE, PRESERVE, "precision.f32.fnegate.scalar.rounding_mode_rte"], Budget::Quick);
    let names: Vec<(&str, Status)> = results.iter().map(|result| (result.name.as_str(), result.status)).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    // A filter without a wildcard also names the group.
    assert_eq!(names[0], (NEGATE, Status::Pass));
    assert_eq!(names[1], (CONSTANT, Status::Pass));
    let preserve = results.iter().find(|result| result.name == PRESERVE).unwrap();
    assert_eq!(preserve.status, Status::NotSupported);
    assert_eq!(preserve.reason.as_deref(), Some("property shaderDenormPreserveFloat32"));
    assert_eq!((preserve.inputs_tested, preserve.inputs_possible.as_str()), (0, "4294967296"));
    assert!(results[0].inputs_tested >= 1_000 && results[0].inputs_possible == "4294967296");
    assert!(results[0].coverage.starts_with("specials, "), "{}", results[0].coverage);
    assert_eq!(results[0].scalars_checked + results[0].scalars_unchecked, results[0].inputs_tested);
    assert_eq!(summary.statuses.values().sum::<usize>(), 5);
    assert!(!summary.interrupted && summary.scalars_checked > 0);
}

#[test]
fn wrong_results_fail_with_examples_and_the_command_that_explains_them() {
    let (_, results) = ran(
        &FakeDevice::computing(|row| negate(row) ^ 1),
        &["precision.f32.fnegate.scalar.signed_zero_inf_nan_preserve"],
        Budget::Quick,
    );
    let result = &results[0];
    assert_eq!(result.status, Status::Fail);
    assert!(result.failing_inputs > 1_000 && result.reason.as_ref().unwrap().contains("not permitted"));
    let example = &result.classes[0].examples[0];
    let command = example.explain_command().unwrap();
    assert!(
        command
            .starts_with("assay explain OpFNegate --format f32 --shape scalar --mode SignedZeroInfNanPreserve --in 0x")
    );
    assert!(command.ends_with(&format!("--got {}", example.got)) && !example.permitted.is_empty());
}

#[test]
fn all_inputs_are_run_in_chunks() {
    let (summary, results) =
        ran(&FakeDevice::computing(|row| row[0] ^ 0x8000), &["precision.f16.fnegate.scalar.default"], Budget::Sampled);
    assert_eq!((results[0].status, results[0].inputs_tested), (Status::Pass, 65_536));
    assert_eq!(results[0].coverage, "every input");
    // The rest of the group: constants in modules of 64.
    assert_eq!(results.len(), 3);
    assert_eq!(results[1].inputs_tested, 1_024);
    assert_eq!(summary.inputs, 65_536 + 2 * 1_024);
    // Only the device's time can overlap with checking.
    assert!(results.iter().all(|result| (0.0..=result.times.device).contains(&result.times.overlap)));
    assert!(summary.device > 0.0 && summary.overlap <= summary.device);
}

#[test]
fn chunks_that_failed_are_named_and_fail_with_the_same_bits_when_run_again() {
    // Results of every third bit pattern are wrong in one bit; a chunk is a module of 64 constants.
    let first_bit = |row: &[u64]| negate(row) ^ u64::from(row[0].is_multiple_of(3));
    let second_bit = |row: &[u64]| negate(row) ^ (u64::from(row[0].is_multiple_of(3)) << 1);
    let ran = |chunks: Option<&[u64]>, computes: fn(&[u64]) -> u64| {
        let device = FakeDevice::computing(computes);
        let options = options(Budget::Sampled);
        let mut plan = planned(&device, &[CONSTANT], &options);
        plan.cases[0].chunks = chunks.map(<[u64]>::to_vec);
        let log = Log::default();
        run(&plan, &device, &options, &mut [Box::new(log.clone())], &AtomicBool::new(false)).unwrap();
        results(&log).remove(0)
    };
    let whole = ran(None, first_bit);
    assert_eq!(whole.inputs_tested, 1_024);
    assert_eq!(whole.failed_chunks.iter().map(|failed| failed.chunk).collect::<Vec<_>>(), (0..16).collect::<Vec<_>>());
    assert_eq!(whole.failed_chunks.iter().map(|failed| failed.inputs).sum::<u64>(), whole.failing_inputs);
    assert_eq!(ran(None, first_bit).failed_chunks, whole.failed_chunks);
    let part = ran(Some(&[2, 11]), first_bit);
    assert_eq!((part.status, part.inputs_tested, part.partial), (Status::Fail, 128, false));
    assert_eq!(part.failed_chunks, [2, 11].map(|chunk| whole.failed_chunks[chunk].clone()));
    // The same inputs fail, with different bits.
    let other = ran(Some(&[2, 11]), second_bit).failed_chunks;
    for (other, first) in other.iter().zip(&part.failed_chunks) {
        assert_eq!((other.chunk, other.inputs), (first.chunk, first.inputs));
        assert_ne!(other.fingerprint, first.fingerprint);
    }
}

#[test]
fn a_lost_device_is_opened_again_and_costs_one_case() {
    for (failure, status) in [
        (ExecError::DeviceLost("gone".into()), Status::DeviceLost),
        (ExecError::Timeout("slow".into()), Status::Timeout),
    ] {
        let device = FakeDevice { failure: Some((NEGATE, failure)), ..FakeDevice::computing(negate) };
        let (_, results) = ran(&device, &[NEGATE], Budget::Quick);
        assert_eq!(results[0].status, status);
        assert!(results[0].reason.as_ref().unwrap().contains("ended after 0 of"));
        assert_eq!(results[1].status, Status::Pass);
        assert_eq!(device.recovered.load(Ordering::SeqCst), 1);
    }
    let device = FakeDevice {
        failure: Some((NEGATE, ExecError::DeviceLost("gone".into()))),
        cannot_recover: true,
        ..FakeDevice::computing(negate)
    };
    let (_, results) = ran(&device, &[NEGATE], Budget::Quick);
    assert!(results.iter().all(|result| result.status == Status::DeviceLost));
    assert!(results[1].reason.as_ref().unwrap().contains("not run: it is gone"));
}

#[test]
fn execution_errors_become_statuses() {
    for (failure, status) in [
        (ExecError::OutOfMemory("full".into()), Status::Undetermined),
        (ExecError::Internal("validation error: VUID".into()), Status::InternalError),
    ] {
        let device = FakeDevice { failure: Some((NEGATE, failure)), ..FakeDevice::computing(negate) };
        assert_eq!(ran(&device, &[NEGATE], Budget::Quick).1[0].status, status);
        assert_eq!(device.recovered.load(Ordering::SeqCst), 0);
    }
    let device = FakeDevice { refuses: Some(NEGATE), ..FakeDevice::computing(negate) };
    let results = ran(&device, &[NEGATE], Budget::Quick).1;
    assert_eq!((results[0].status, results[0].inputs_tested), (Status::Fail, 0));
    assert_eq!(results[1].status, Status::Pass);
}

#[test]
fn operations_without_stated_precision_are_measured() {
    let (_, results) =
        ran(&FakeDevice::computing(add), &["precision.f32.groupnonuniformfadd.scalar.default"], Budget::Quick);
    assert_eq!(results[0].status, Status::Undetermined);
    assert!(results[0].inputs_tested > 0 && results[0].reason.as_ref().unwrap().contains("measured"));
}

/// Interrupts the run once a case reports progress.
struct InterruptingReporter(Arc<AtomicBool>);

impl Reporter for InterruptingReporter {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if matches!(event, Event::CaseProgress { .. }) {
            self.0.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[test]
fn an_interrupted_case_says_how_far_it_came() {
    let device = FakeDevice::computing(negate);
    let mut options = options(Budget::Sampled);
    // A part of the 2^32 inputs, large enough for several chunks.
    options.range = Some("0..0x01000000".parse().unwrap());
    let plan = planned(&device, &[NEGATE], &options);
    let interrupted = Arc::new(AtomicBool::new(false));
    let log = Log::default();
    let mut reporters: Vec<Box<dyn Reporter>> =
        vec![Box::new(log.clone()), Box::new(InterruptingReporter(Arc::clone(&interrupted)))];
    let summary = run(&plan, &device, &options, &mut reporters, &interrupted).unwrap();
    let results = results(&log);
    assert!(summary.interrupted && results.len() == 1);
    assert!(0 < results[0].inputs_tested && results[0].inputs_tested < 1 << 24);
    assert!(results[0].coverage.contains("; ended after "), "{}", results[0].coverage);
    assert_eq!(
        log.0.lock().unwrap().last().map(|event| matches!(event, Event::RunFinished { interrupted: true, .. })),
        Some(true)
    );
}

struct FullDisk;

impl Reporter for FullDisk {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if matches!(event, Event::CaseFinished(_)) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

#[test]
fn a_reporter_that_cannot_write_ends_the_run() {
    let device = FakeDevice::computing(negate);
    let options = options(Budget::Quick);
    let plan = planned(&device, &["precision.f32.fnegate"], &options);
    let ended = run(&plan, &device, &options, &mut [Box::new(FullDisk)], &AtomicBool::new(false));
    assert!(matches!(ended, Err(RunError::Report(_))));
}

#[test]
fn plans_are_thinned_filtered_and_checked() {
    let device = FakeDevice::computing(negate);
    let mut cases = assay_case::load().unwrap();
    cases.retain(|case| [".fnegate.", ".exp2."].iter().any(|op| case.name.contains(op)));
    let quick = options(Budget::Quick);
    let whole = plan(cases.clone(), &NameFilters::default(), &device, &quick).unwrap();
    assert_eq!(whole.cases.len() + whole.thinned, cases.len());
    // A case that the quick budget leaves out is run if a filter names it.
    let thinned = cases.iter().find(|case| !case.quick).unwrap();
    assert_eq!(planned(&device, &[&thinned.name], &quick).cases.len(), 1);
    let sampled = plan(cases.clone(), &NameFilters::default(), &device, &options(Budget::Sampled)).unwrap();
    assert_eq!((sampled.cases.len(), sampled.thinned), (cases.len(), 0));

    let no_match = plan(cases.clone(), &NameFilters::new(["precision.f32.expp2"]), &device, &quick);
    let Err(PlanError::NoMatch { nearest, .. }) = no_match else { panic!("{no_match:?}") };
    assert!(nearest[0].starts_with("precision.f32.exp"), "{nearest:?}");

    let range = RunOptions { range: Some("0x3f800000..2".parse().unwrap()), ..quick };
    assert!(plan(cases.clone(), &NameFilters::new([NEGATE]), &device, &range).is_ok());
    assert!(matches!(
        plan(cases, &NameFilters::new(["precision.f16.fnegate"]), &device, &range),
        Err(PlanError::Range { .. })
    ));
}

#[test]
fn the_parts_of_a_plan_are_the_plan() {
    let device = FakeDevice::computing(negate);
    let whole = planned(&device, &["precision.f32.fnegate"], &options(Budget::Quick));
    assert_eq!(whole.part, None);
    for division in ["hash:1/3", "slice:1/3"] {
        let partition: Partition = division.parse().unwrap();
        let parts: Vec<Plan> = partition
            .siblings()
            .map(|part| {
                let options = RunOptions { partition: Some(part), ..options(Budget::Quick) };
                planned(&device, &["precision.f32.fnegate"], &options)
            })
            .collect();
        let mut names: Vec<&str> = parts.iter().flat_map(|p| &p.cases).map(|p| p.case.name.as_str()).collect();
        names.sort_unstable();
        let mut all: Vec<&str> = whole.cases.iter().map(|p| p.case.name.as_str()).collect();
        all.sort_unstable();
        assert_eq!(names, all, "{division}");
        let selections: Vec<&str> = parts.iter().map(|p| p.part.as_ref().unwrap().selection.as_str()).collect();
        assert!(selections.iter().all(|s| s == &selections[0]), "parts know that they belong together");
        assert!(parts.iter().all(|p| p.part.as_ref().unwrap().cases == all.len()));
    }
}

/// Runs a search of a second.
fn hunted(device: &FakeDevice, interrupted: bool) -> Option<CaseResult> {
    const ADD: &str = "precision.f32.fadd.scalar.default";
    let options = RunOptions { time: Some(Duration::from_secs(1)), ..options(Budget::Hunt) };
    let log = Log::default();
    let plan = planned(device, &[ADD], &options);
    run(&plan, device, &options, &mut [Box::new(log.clone())], &AtomicBool::new(interrupted)).unwrap();
    results(&log).into_iter().find(|result| result.name == ADD)
}

#[test]
fn a_hunt_finds_a_rare_error_and_says_how_the_margin_grew() {
    let device = FakeDevice::computing(add_wrongly);
    let found = hunted(&device, false).expect("a result");
    assert_eq!((found.status, found.partial), (Status::Fail, false), "{:?}", found.reason);
    assert!(found.coverage.starts_with("hunt: ") && found.failing_inputs > 0, "{}", found.coverage);
    assert!(found.failed_chunks.is_empty(), "its rows cannot be run alone");
    let margins: Vec<f64> = found.growth.iter().filter_map(|step| step.margin).collect();
    assert!(margins.is_sorted() && margins.last().is_some_and(|last| *last > 1.0), "{:?}", found.growth);
    // The search does not depend on the order of the checks. The time ends it sooner or later.
    let again = hunted(&device, false).expect("a result");
    let until = again.inputs_tested.min(found.inputs_tested) - (1 << 15);
    let steps = |of: &CaseResult| of.growth.iter().filter(|step| step.inputs < until).cloned().collect::<Vec<_>>();
    assert_eq!(steps(&again), steps(&found));
}

#[test]
fn a_hunt_ends_with_its_time_or_with_an_interruption() {
    let device = FakeDevice::computing(add);
    let found = hunted(&device, false).expect("a result");
    assert!(found.inputs_tested >= 1 << 15 && found.inputs_tested < 1 << 24, "{}", found.inputs_tested);
    assert_eq!((found.status, found.partial), (Status::Pass, false), "{:?}", found.reason);
    assert_eq!(hunted(&device, true), None);
}
