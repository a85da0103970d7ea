//! A shader that never ends, on a real driver: its worker is killed, and only this case is held
//! responsible.

use assay_events::{Event, RepeatVerdict, Status};
use assay_fault_injection::result;
use assay_isolate::{Cases, Coordinator, CoordinatorSettings, IsolateError, Launch, WorkerLimits};
use std::{sync::atomic::AtomicBool, time::Duration};

const NAMES: [&str; 5] = ["real.ends.0", "real.ends.1", "real.endless.2", "real.ends.3", "real.ends.4"];

struct NamedCases;

impl Cases for NamedCases {
    fn name(&self, case: u32) -> &str {
        NAMES[case as usize]
    }

    fn not_run(&self, case: u32, status: Status, reason: String) -> Event {
        result(self.name(case), status, Some(reason))
    }
}

/// Runs the cases and returns the reason of the endless one. The worker gives up after `own`
/// seconds, the coordinator after `others`.
fn run(own: f64, others: f64) -> Option<String> {
    let launch = Launch {
        program: env!("CARGO_BIN_EXE_assay-fault-injection").into(),
        arguments: vec!["worker".into()],
        setup: serde_json::json!({ "device": "lavapipe", "limit": own }),
        ..Launch::default()
    };
    let call = Duration::from_secs_f64(others);
    let limits = WorkerLimits { call, compile: call, start: Duration::from_secs(60), memory: None, output: 1 << 20 };
    let coordinator =
        match Coordinator::start(launch, CoordinatorSettings { workers: 1, batch: 16, limits, confirm: true }) {
            Err(IsolateError::Refused(refusal)) => {
                assay_testkit::skip_missing(&refusal.to_string());
                return None;
            }
            other => other.expect("workers start"),
        };
    let mut results = Vec::new();
    let mut tell = |event: &Event| {
        if let Event::CaseFinished(case) = event {
            results.push((**case).clone());
        }
        Ok(())
    };
    let ended = coordinator.run(&NamedCases, (0..5).collect(), &mut tell, &AtomicBool::new(false)).unwrap();
    results.sort_by(|a, b| a.name.cmp(&b.name));
    let statuses: Vec<_> = results.iter().map(|case| (case.name.as_str(), case.status)).collect();
    let mut wanted = NAMES.map(|name| (name, if name.contains("endless") { Status::Timeout } else { Status::Pass }));
    wanted.sort_by_key(|(name, _)| *name);
    assert_eq!(statuses, wanted, "{results:?}");
    let endless = results.iter().find(|case| case.name.contains("endless")).unwrap();
    assert_eq!(endless.repeat.as_ref().map(|repeat| repeat.verdict), Some(RepeatVerdict::Same));
    assert!(ended.processes >= 3, "{ended:?}");
    endless.reason.clone()
}

#[test]
fn worker_gives_up_a_shader_that_never_ends() {
    if let Some(reason) = run(1.0, 120.0) {
        assert!(reason.contains("1s") || reason.contains("limit"), "{reason}");
    }
}

#[test]
fn worker_that_does_not_give_up_is_killed() {
    if let Some(reason) = run(3600.0, 2.0) {
        assert!(reason.contains("no end within 2s, so its process was killed, while running a shader"), "{reason}");
    }
}
