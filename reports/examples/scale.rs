//! Measures the commands that read result directories, at the size of a lab's runs: writes
//! synthetic runs to a directory and times each command.
//!
//! ```text
//! cargo run --release -p assay-reports --example scale -- DIR [CASES]
//! ```

#![expect(clippy::print_stdout, reason = "an example that prints what it measured")]

use assay_events::{
    CaseResult, ClassCount, DeviceInfo, Event, Example, ExampleCall, Profile, RunInfo, RunPart, SCHEMA, Status, Times,
};
use assay_reports::{
    ResultDir,
    diff::{MarginThreshold, diff},
    html::Page,
    merge::merge,
};
use std::{
    error::Error,
    fs,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    time::Instant,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("name a folder to write to")?);
    let cases: usize = arguments.next().map_or(Ok(1_000_000), |text| text.parse())?;
    if folder.exists() {
        return Err(format!("{} is there already: name a new folder", folder.display()).into());
    }
    let paths = ["old1", "old2", "new"].map(|name| folder.join(name));
    timed("written", || {
        write(&paths[0], Some(1), cases, 0.0)?;
        write(&paths[1], Some(2), cases, 0.0)?;
        write(&paths[2], None, cases, 0.01)
    })?;
    let page = folder.join("report.html");
    timed("report", || {
        Page::read(&[ResultDir::open(&paths[2])?], &|_| None)?.write(fs::File::create(&page)?)?;
        println!("{} MiB", fs::metadata(&page)?.len() >> 20);
        Ok(())
    })?;
    let joined = folder.join("old");
    timed("merge", || {
        let parts = [ResultDir::open(&paths[0])?, ResultDir::open(&paths[1])?];
        Ok(merge(&parts, &joined, false).map(|_| ())?)
    })?;
    timed("diff", || {
        let diff = diff(&ResultDir::open(&joined)?, &ResultDir::open(&paths[2])?, MarginThreshold::default())?;
        println!("{}", diff.text(2));
        Ok(())
    })?;
    Ok(())
}

fn timed(what: &str, run: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
    let (started, before) = (Instant::now(), processor());
    run()?;
    let peak = peak().map_or_else(String::new, |kib| format!(", at most {} MiB until now", kib >> 10));
    let busy = processor()
        .zip(before)
        .map_or_else(String::new, |(now, then)| format!(", {:.2} s of the processor", now - then));
    println!("{what}: {:.2} s{busy}{peak}", started.elapsed().as_secs_f64());
    Ok(())
}

/// Returns the processor time of this process in seconds; `None` without `/proc`. Unlike wall time
/// it does not depend on other load.
fn processor() -> Option<f64> {
    /// Clock ticks per second in `/proc/self/stat`.
    const TICKS: f64 = 100.0;
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // The program name, in parentheses, may contain spaces and parentheses itself.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some((fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?) / TICKS)
}

/// Returns the peak resident memory of this process in KiB; `None` without `/proc`.
fn peak() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?.parse().ok()
}

/// Writes a directory of synthetic results. Margins are greater by the factor `1 + more`.
fn write(folder: &Path, part: Option<usize>, cases: usize, more: f64) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let mut file = BufWriter::new(fs::File::create(folder.join("results.jsonl"))?);
    let mine = |i: &usize| part.is_none_or(|part| i % 2 == part - 1);
    let mut run = run((0..cases).filter(mine).count());
    run.part = part.map(|n| RunPart { of: vec![format!("slice:{n}/2")], cases, selection: "0".to_owned() });
    let mut line =
        |event: &Event| -> Result<(), Box<dyn Error>> { Ok(writeln!(file, "{}", serde_json::to_string(event)?)?) };
    line(&Event::RunStarted(Box::new(run)))?;
    for i in (0..cases).filter(mine) {
        line(&Event::CaseFinished(Box::new(case(i, more))))?;
    }
    line(&Event::RunFinished { interrupted: false, wall: 1.0 })
}

fn case(i: usize, more: f64) -> CaseResult {
    let fails = i.is_multiple_of(1_000);
    let operations = ["Exp2", "Sin", "Log", "OpFDiv", "Pow"];
    let operation = operations[i % operations.len()];
    let margin = (i % 997) as f64 / 1_000.0 * (1.0 + more) + if fails { 2.0 } else { 0.0 };
    let example = Example {
        operands: vec!["0x3f9d70a4".to_owned(), "0x40161f7c".to_owned()],
        slot: 0,
        scalar: None,
        got: "0x40161f99".to_owned(),
        permitted: vec![["0x40161f70".to_owned(), "0x40161f7c".to_owned()]],
        margin: Some(margin),
        call: Some(ExampleCall {
            op: operation.to_owned(),
            format: "f32".to_owned(),
            shape: "scalar".to_owned(),
            ..ExampleCall::default()
        }),
    };
    let class = ClassCount {
        status: Status::Fail,
        class: "FewUlp".to_owned(),
        count: 3,
        examples: vec![example.clone()],
        regions: Vec::new(),
    };
    CaseResult {
        name: format!("precision.f32.{}.scalar.variant_{i:07}.constant", operation.to_lowercase()),
        status: if fails { Status::Fail } else { Status::Pass },
        reason: fails.then(|| "3 of 2048 inputs have results that are not permitted".to_owned()),
        instruction: operation.to_owned(),
        types: "f32 <- f32, f32".to_owned(),
        modes: "default".to_owned(),
        source: "constant".to_owned(),
        api: "vulkan".to_owned(),
        path: "native".to_owned(),
        rule: "3 + 2 * |x| ULP".to_owned(),
        clause: "spirvenv-precision-operation".to_owned(),
        inputs_tested: 2_048,
        inputs_possible: "18446744073709551616".to_owned(),
        coverage: "specials, 512 of longer lists, 1472 at random".to_owned(),
        failing_inputs: if fails { 3 } else { 0 },
        warning_inputs: 0,
        scalars_checked: 2_000,
        scalars_unchecked: 48,
        worst: Some(example),
        classes: if fails { vec![class] } else { Vec::new() },
        failed_chunks: Vec::new(),
        growth: Vec::new(),
        profile: (i.is_multiple_of(4)).then(|| Profile {
            operand: "f32".to_owned(),
            worst: (0..128).map(|k| (k % 3 > 0).then_some(0.37)).collect(),
            errors: vec![100; 20],
        }),
        picture: None,
        seed: 0,
        partial: false,
        repeat: None,
        times: Times { wall: 0.01, ..Times::default() },
    }
}

fn run(cases: usize) -> RunInfo {
    RunInfo {
        schema: SCHEMA,
        version: "0.1.0".to_owned(),
        specification: "Vulkan 1.4.360".to_owned(),
        device: DeviceInfo {
            name: "made up".to_owned(),
            api: "vulkan".to_owned(),
            kind: "discrete".to_owned(),
            vendor_id: 1,
            device_id: 1,
            uuid: "00".repeat(16),
            driver_name: "none".to_owned(),
            driver_info: "1.0".to_owned(),
            driver_version: 1,
            api_version: "1.4.0".to_owned(),
            conformance_version: "1.4.0.0".to_owned(),
            host_cpu: "a processor".to_owned(),
            ..DeviceInfo::default()
        },
        budget: "quick".to_owned(),
        seed: 0,
        cases,
        command: vec!["assay".to_owned(), "run".to_owned()],
        settings: Some(Box::default()),
        started: "2026-11-21T03:00:00Z".to_owned(),
        host: String::new(),
        selection: String::new(),
        part: None,
    }
}
