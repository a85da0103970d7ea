//! Failures are attributed to the case that caused them, and to no other.

use assay_events::{CaseResult, Event, RepeatVerdict, Status};
use assay_fault_injection::{CheckingBackend, Fault, FaultyCases};
use assay_isolate::{Cases, Coordinator, CoordinatorSettings, IsolateError, Launch, RunOutcome, WorkerLimits};
use std::{
    collections::BTreeMap,
    io,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

fn launch(setup: &str) -> Launch {
    Launch {
        program: env!("CARGO_BIN_EXE_assay-fault-injection").into(),
        arguments: vec!["worker".into()],
        setup: setup.into(),
        ..Launch::default()
    }
}

fn settings() -> CoordinatorSettings {
    let limits = WorkerLimits {
        call: Duration::from_secs(20),
        compile: Duration::from_secs(20),
        start: Duration::from_secs(20),
        memory: Some(256 << 20),
        output: 1 << 20,
    };
    CoordinatorSettings { workers: 2, batch: 16, limits, confirm: true }
}

fn hangs(fault: Fault) -> bool {
    matches!(fault, Fault::Hang | Fault::Stubborn | Fault::Orphan)
}

/// Returns settings with time limits that hanging cases soon exceed.
fn impatient() -> CoordinatorSettings {
    let call = Duration::from_millis(700);
    CoordinatorSettings { limits: WorkerLimits { call, compile: call, ..settings().limits }, ..settings() }
}

/// Runs the cases; returns their results, and checks that none was reported twice.
fn run(faults: &[Fault], settings: CoordinatorSettings) -> (Vec<CaseResult>, RunOutcome) {
    run_with(launch(""), faults, settings)
}

/// Returns the command of supervised workers behind these launchers.
fn launch_via(prefixes: &[&[&str]]) -> Launch {
    let via = prefixes.iter().map(|words| words.iter().map(Into::into).collect()).collect();
    Launch { via, arguments: vec!["supervise".into()], ..launch("") }
}

/// Returns the command of workers of this machine that check the results of such workers.
fn launch_checking(prefixes: &[&[&str]]) -> Launch {
    let launch = launch_via(prefixes);
    Launch { check_here: vec![launch.program.clone().into(), "check".into(), "--".into()], ..launch }
}

/// As [`run`], with another command for the workers.
fn run_with(launch: Launch, faults: &[Fault], settings: CoordinatorSettings) -> (Vec<CaseResult>, RunOutcome) {
    let cases = FaultyCases::new(faults.iter().copied());
    let mut results = BTreeMap::new();
    let coordinator = Coordinator::start(launch, settings).unwrap();
    assert_eq!(coordinator.device().driver_name, "mock");
    let mut tell = |event: &Event| {
        let case = match event {
            Event::CaseFinished(case) => (**case).clone(),
            Event::CheckFinished(check) => {
                let (reason, repeat) = (check.reason.clone(), check.repeat.clone());
                CaseResult { reason, repeat, ..CaseResult::not_run(check.name.clone(), check.status, 0) }
            }
            _ => return Ok(()),
        };
        assert!(results.insert(case.name.clone(), case).is_none(), "{event:?} is a second result");
        Ok(())
    };
    let todo = (0..faults.len() as u32).collect();
    let ended = coordinator.run(&cases, todo, &mut tell, &AtomicBool::new(false)).unwrap();
    let names: Vec<&str> = results.keys().map(String::as_str).collect();
    let mut planned: Vec<&str> = cases.names().iter().collect();
    planned.sort();
    assert_eq!(names, planned);
    let in_order = cases.names().iter().map(|name| results[name].clone()).collect();
    (in_order, ended)
}

fn verdict(case: &CaseResult) -> Option<RepeatVerdict> {
    case.repeat.as_ref().map(|repeat| repeat.verdict)
}

fn reason(case: &CaseResult) -> &str {
    case.reason.as_deref().unwrap_or_default()
}

#[test]
fn every_fault_is_charged_to_its_case_and_the_others_pass() {
    for &fault in Fault::ALL {
        let faults = [[Fault::None; 5].as_slice(), &[fault], &[Fault::None; 5]].concat();
        let (results, ended) = run(&faults, if hangs(fault) { impatient() } else { settings() });
        assert!(!ended.interrupted);
        for (case, fault) in results.iter().zip(faults) {
            let repeated = verdict(case);
            assert!(
                fault.permits(case.status, repeated),
                "{} came out as {:?} {repeated:?}: {}",
                case.name,
                case.status,
                reason(case)
            );
        }
    }
}

#[test]
fn reasons_state_the_failure() {
    for (fault, said) in [
        (Fault::Segfault, "its process was ended by SIGSEGV, while running a shader"),
        (Fault::Abort, "its process was ended by SIGABRT"),
        (Fault::Exit, "its process exited with code 0 in the middle of it"),
        (Fault::Hang, "no end within 700ms, so its process was killed, while running a shader"),
        (Fault::Garbage, "it wrote `llvmpipe: this is no message`, which is no message"),
        (Fault::Half, "it wrote half a message (28 bytes)"),
        (Fault::Liar, "a result of case `mock.pass.none`, which it was not assigned"),
        (Fault::Leak, "exceeded the limit of --memory, 256 MiB"),
        (Fault::Flood, "wrote more than 1048576 bytes"),
        (Fault::Silent, "the worker gave no result for it"),
        (Fault::Lost, "VK_ERROR_DEVICE_LOST"),
        (Fault::Undefined, "SIGABRT, while running a shader; the shader may have undefined behaviour at line 7"),
    ] {
        let (results, _) = run(&[fault], if hangs(fault) { impatient() } else { settings() });
        assert!(reason(&results[0]).contains(said), "{fault}: {}", reason(&results[0]));
    }
}

#[test]
fn failures_that_depend_on_other_cases_name_them() {
    for (fault, status) in [(Fault::Poisoned, Status::Fail), (Fault::Shaken, Status::Crash)] {
        let mut faults = [Fault::None; 40];
        (faults[11], faults[37]) = (Fault::Poison, fault);
        let (results, _) = run(&faults, CoordinatorSettings { workers: 1, batch: 64, ..settings() });
        let (case, repeat) = (&results[37], results[37].repeat.as_ref().expect("it was run again"));
        assert_eq!((case.status, repeat.verdict), (status, RepeatVerdict::InCompany), "{}", reason(case));
        assert_eq!(repeat.after, [results[11].name.clone()]);
        assert!(reason(case).contains(&format!("only after {} in the same process, not alone", repeat.after[0])));
        assert_eq!((repeat.runs[0].after, repeat.runs[1].after, repeat.runs[1].status), (37, 0, Status::Pass));
        assert!(results.iter().enumerate().all(|(at, case)| at == 37 || case.status == Status::Pass));
    }
}

#[test]
fn failed_chunks_alone_are_repeated_unless_they_differ() {
    for (fault, verdict, inputs) in [
        // Confirmed by its two failing chunks.
        (Fault::Spots, RepeatVerdict::Same, vec![1_000, 20]),
        // The same chunks fail with other bits, and so does the whole case alone.
        (Fault::Restless, RepeatVerdict::Flaky, vec![1_000, 20, 1_000]),
        // The chunks by themselves pass; the whole case fails in the same way each time.
        (Fault::Late, RepeatVerdict::Same, vec![1_000, 20, 1_000]),
    ] {
        let (results, _) = run(&[Fault::None, fault, Fault::None], settings());
        let (case, repeat) = (&results[1], results[1].repeat.as_ref().expect("it was run again"));
        assert_eq!((case.status, repeat.verdict), (Status::Fail, verdict), "{fault}: {}", reason(case));
        assert_eq!(repeat.runs.iter().map(|run| run.inputs).collect::<Vec<_>>(), inputs, "{fault}");
        assert!(repeat.runs[1..].iter().all(|run| run.after == 0));
        // The reported result is that of the whole case.
        assert_eq!((case.inputs_tested, case.failing_inputs), (1_000, 2), "{fault}");
        assert_eq!(
            reason(case).contains("flaky: wrong in places; rerun alone in a new process: failed with other results"),
            verdict == RepeatVerdict::Flaky
        );
    }
}

#[test]
fn random_faults_are_charged_to_their_cases() {
    let cases = FaultyCases::random(600, 3, 7);
    let faults: Vec<Fault> = cases.names().iter().map(|name| Fault::of(name).unwrap()).collect();
    // Limits are tested one by one above; each takes its time.
    let quick = |fault: &Fault| !hangs(*fault) && !matches!(fault, Fault::Leak | Fault::Flood | Fault::Slow);
    let faults: Vec<Fault> = faults.into_iter().filter(quick).collect();
    let (results, ended) = run(&faults, settings());
    for (case, fault) in results.iter().zip(&faults) {
        assert!(
            fault.permits(case.status, verdict(case)),
            "{} came out as {:?}: {}",
            case.name,
            case.status,
            reason(case)
        );
    }
    assert!(ended.processes > 50, "{ended:?}");
}

#[test]
fn without_confirmation_a_failure_is_run_once() {
    let faults = [Fault::None, Fault::Wrong, Fault::None, Fault::Abort, Fault::None];
    let (results, ended) = run(&faults, CoordinatorSettings { confirm: false, workers: 1, ..settings() });
    let statuses: Vec<Status> = results.iter().map(|case| case.status).collect();
    assert_eq!(statuses, [Status::Pass, Status::Fail, Status::Pass, Status::Crash, Status::Pass]);
    assert!(results.iter().all(|case| case.repeat.is_none()));
    assert_eq!(ended.processes, 2);
}

#[test]
fn externally_killed_cases_end_without_confirmation_too() {
    let faults = [Fault::None, Fault::Killed, Fault::None];
    let (results, ended) = run(&faults, CoordinatorSettings { confirm: false, workers: 1, ..settings() });
    let statuses: Vec<Status> = results.iter().map(|case| case.status).collect();
    assert_eq!(statuses, [Status::Pass, Status::Crash, Status::Pass]);
    assert!(reason(&results[1]).contains("its process was ended by SIGKILL"), "{}", reason(&results[1]));
    // An external signal may not be its fault, so it had further attempts.
    assert!(ended.processes > 3, "{ended:?}");
}

#[test]
fn workers_above_the_memory_limit_before_opening_report_it() {
    let cases = FaultyCases::new([Fault::Hang]);
    let limits = WorkerLimits { memory: Some(1 << 20), ..settings().limits };
    let small = CoordinatorSettings { workers: 1, limits, ..settings() };
    let coordinator = Coordinator::start(launch(""), settings()).unwrap().reconfigure(launch("never"), small);
    let error = coordinator.run(&cases, vec![0], &mut |_| Ok(()), &AtomicBool::new(false)).unwrap_err().to_string();
    assert!(error.contains("cannot open the device: its process exceeded the limit of --memory, 1 MiB"), "{error}");
}

#[test]
fn a_device_that_cannot_be_opened_ends_the_run_with_the_reason() {
    let error = Coordinator::start(launch("refuse"), settings()).err().expect("no device");
    assert!(matches!(&error, IsolateError::Refused(refusal) if refusal.code == 4), "{error}");
    assert!(matches!(Coordinator::start(launch("die"), settings()), Err(IsolateError::Start(_))));
    let missing = Launch { program: "/no/such/binary".into(), ..launch("") };
    assert!(matches!(Coordinator::start(missing, settings()), Err(IsolateError::Spawn(_))));
}

#[test]
fn an_interruption_ends_the_run_and_a_reporter_that_cannot_write_does_too() {
    let cases = FaultyCases::new([Fault::None, Fault::Wrong, Fault::None, Fault::Hang, Fault::None]);
    let interrupted = AtomicBool::new(false);
    let mut results = Vec::new();
    let mut tell = |event: &Event| {
        if let Event::CaseStarted { name, .. } = event
            && Fault::of(name) == Some(Fault::Hang)
        {
            interrupted.store(true, Ordering::Relaxed);
        }
        if let Event::CaseFinished(case) = event {
            results.push((case.name.clone(), case.status, case.partial));
        }
        Ok(())
    };
    let limits = WorkerLimits { call: Duration::from_secs(3), ..settings().limits };
    let one = CoordinatorSettings { workers: 1, limits, ..settings() };
    let coordinator = Coordinator::start(launch(""), one).unwrap();
    let ended = coordinator.run(&cases, (0..5).collect(), &mut tell, &interrupted).unwrap();
    assert!(ended.interrupted);
    // The failure was not confirmed yet: a resumed run runs it again.
    let name = |case: u32| cases.name(case).to_owned();
    results.sort();
    assert_eq!(
        results,
        [(name(0), Status::Pass, false), (name(2), Status::Pass, false), (name(1), Status::Fail, true)]
    );
    let mut full = |_: &Event| Err(io::ErrorKind::StorageFull.into());
    let coordinator = Coordinator::start(launch(""), settings()).unwrap();
    let ended = coordinator.run(&cases, vec![0], &mut full, &AtomicBool::new(false));
    assert!(matches!(ended, Err(IsolateError::Report(_))));
}

/// The supervisor reports how a worker ended, which its launcher cannot tell.
#[test]
fn faults_behind_a_launcher_are_charged_as_on_this_machine() {
    are_charged_as_on_this_machine(&launch_via(&[&["env"]]), Fault::ALL.iter().copied());
}

/// The worker that checks passes on what the supervisor reports.
#[test]
fn faults_of_a_device_whose_results_are_checked_here_are_charged_as_on_this_machine() {
    are_charged_as_on_this_machine(&launch_checking(&[&["env"]]), CheckingBackend::faults());
}

fn are_charged_as_on_this_machine(launch: &Launch, faults: impl IntoIterator<Item = Fault>) {
    for fault in faults {
        let faults = [[Fault::None; 3].as_slice(), &[fault], &[Fault::None; 3]].concat();
        let settings = if hangs(fault) { impatient() } else { settings() };
        let (results, _) = run_with(launch.clone(), &faults, settings);
        for (case, fault) in results.iter().zip(faults) {
            assert!(
                fault.permits(case.status, verdict(case)),
                "{} came out as {:?}: {}",
                case.name,
                case.status,
                reason(case)
            );
        }
    }
    let (results, _) = run_with(launch.clone(), &[Fault::Segfault], settings());
    assert!(reason(&results[0]).contains("its process was ended by SIGSEGV, while running a shader"), "{results:?}");
}

/// The launcher dies all the time, and the workers with it.
#[test]
fn a_lost_link_costs_no_result_and_is_charged_to_no_case() {
    // Confirmations end workers, too, so there are few.
    let faults: Vec<Fault> = (0..50)
        .map(|n| match n % 50 {
            3 => Fault::Wrong,
            _ => Fault::Slow,
        })
        .collect();
    // Less than the slow cases take, and more than a worker takes to start on a busy machine.
    let dying: &[&str] = &["timeout", "--signal=KILL", "1.5"];
    let one_at_a_time = CoordinatorSettings { batch: 4, ..settings() };
    for launch in [launch_via(&[dying]), launch_checking(&[dying])] {
        let (results, ended) = run_with(launch, &faults, one_at_a_time);
        for (case, fault) in results.iter().zip(&faults) {
            assert!(fault.permits(case.status, verdict(case)), "{}: {:?} {}", case.name, case.status, reason(case));
        }
        assert!(ended.processes > 2, "{ended:?}");
        assert!(ended.lost_links[0].count > 1 && ended.lost_links[0].prefix.contains("timeout"), "{ended:?}");
    }
}

#[test]
fn a_launcher_that_reaches_no_worker_is_left_out_or_ends_the_run() {
    let faults = [Fault::None; 20];
    let (results, _) = run_with(launch_via(&[&["false"], &["env"]]), &faults, settings());
    assert!(results.iter().all(|case| case.status == Status::Pass), "{results:?}");
    let error = Coordinator::start(launch_via(&[&["false"]]), settings()).err().expect("no worker").to_string();
    assert_eq!(error, "no link to a worker: `false`: it ended with exit status: 1");
    let error = Coordinator::start(launch_checking(&[&["false"]]), settings()).err().expect("no worker").to_string();
    assert_eq!(error, "no link to a worker: `false`: it ended with exit status: 1; it wrote: the link was closed");
}
