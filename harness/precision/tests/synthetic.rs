//! Synthetic devices against the bulk checker: no false verdict on a device that returns members of the permitted sets, none
//! missed on one that returns the nearest values outside. `cargo run --release -p assay-precision --example synthetic` runs more.

#[path = "support/devices.rs"]
mod devices;

#[test]
fn synthetic_devices_get_the_verdicts_they_deserve() {
    let mut score = devices::Score::default();
    for (seed, call) in devices::calls().iter().enumerate() {
        devices::run(call, 24, seed as u64, &mut score);
    }
    let examples: Vec<String> = score.examples.iter().map(|e| e.chars().take(400).collect()).take(30).collect();
    assert_eq!((score.conforming.1, score.violating.1), (0, 0), "{}", examples.join("\n"));
    assert!(score.conforming.0 > 500_000 && score.violating.0 > 500_000, "{score:?}");
}
