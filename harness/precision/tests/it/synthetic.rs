//! Synthetic devices against the bulk checker: no false verdict on a device that returns members of
//! the permitted sets, and none missed on one that returns the closest values outside. `cargo run
//! --release -p assay-precision --example synthetic` runs more.

use crate::devices;

/// The rules of WGSL, every row in one or two shapes and types.
#[test]
fn synthetic_devices_get_the_verdicts_that_wgsl_has_for_them() {
    let mut score = devices::Score::default();
    let calls = devices::calls().into_iter().filter_map(|call| call.in_wgsl().ok());
    for (seed, call) in calls.enumerate() {
        devices::run(&call, 96, seed as u64, &mut score);
    }
    let examples: Vec<String> = score.examples.iter().map(|e| e.chars().take(400).collect()).take(30).collect();
    assert_eq!((score.conforming.1, score.violating.1), (0, 0), "{}", examples.join("\n"));
    assert!(score.conforming.0 > 5_000 && score.violating.0 > 5_000, "{score:?}");
}

#[test]
fn synthetic_devices_get_the_verdicts_they_deserve() {
    let mut score = devices::Score::default();
    // A part of the rows and modes in every run. Seven is coprime to the number of modes, so that
    // each row meets several of them.
    for (seed, call) in devices::calls().iter().enumerate().step_by(7) {
        devices::run(call, 48, seed as u64, &mut score);
    }
    let examples: Vec<String> = score.examples.iter().map(|e| e.chars().take(400).collect()).take(30).collect();
    assert_eq!((score.conforming.1, score.violating.1), (0, 0), "{}", examples.join("\n"));
    assert!(score.conforming.0 > 10_000 && score.violating.0 > 10_000, "{score:?}");
}

#[test]
fn synthetic_devices_get_the_verdicts_they_deserve_in_a_sweep() {
    let mut score = devices::Score::default();
    for (seed, call) in devices::calls().iter().enumerate().step_by(5) {
        devices::sweep(call, seed as u64, &mut score);
    }
    let examples: Vec<String> = score.examples.iter().map(|e| e.chars().take(400).collect()).take(30).collect();
    assert_eq!((score.conforming.1, score.violating.1), (0, 0), "{}", examples.join("\n"));
    assert!(score.conforming.0 > 10_000 && score.violating.0 > 100, "{score:?}");
}
