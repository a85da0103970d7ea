//! Runs whose coordinator and workers are killed repeatedly until they are done.

use crate::{
    fault_run::{FaultRunArgs, print_line, verify},
    signal,
};
use anyhow::{Context, bail};
use std::{
    fs,
    hash::{BuildHasher, RandomState},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Options of a run that is killed repeatedly.
#[derive(Clone, Debug, clap::Args)]
pub struct ChaosArgs {
    #[command(flatten)]
    run: FaultRunArgs,
    /// Milliseconds between the ends of workers, on average
    #[arg(long, default_value_t = 2_000)]
    workers_live: u64,
    /// Milliseconds between the ends of coordinators, on average
    #[arg(long, default_value_t = 10_000)]
    coordinator_lives: u64,
}

/// Runs, kills and resumes until the run is done, and then checks that every case has its result.
///
/// # Errors
/// A run ended by itself before it was done, or a result is wrong.
pub fn chaos(args: &ChaosArgs) -> anyhow::Result<()> {
    let out = &args.run.out;
    let (mut coordinators, mut workers) = (0, 0);
    let began = Instant::now();
    loop {
        let resume = ["results.jsonl", "results.jsonl.partial"].iter().any(|name| out.join(name).exists());
        let mut child = start(&args.run, resume)?;
        let lives = random_time(args.coordinator_lives);
        let (born, mut next) = (Instant::now(), Instant::now() + random_time(args.workers_live));
        let status = loop {
            thread::sleep(Duration::from_millis(5));
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if born.elapsed() > lives {
                child.kill()?;
                child.wait()?;
                coordinators += 1;
                break None;
            }
            if Instant::now() > next {
                next = Instant::now() + random_time(args.workers_live);
                workers += u64::from(kill_a_worker(&child));
            }
        };
        match status {
            None => {}
            Some(status) if status.success() => break,
            Some(status) => bail!("the run ended by itself: {status}"),
        }
    }
    verify(&args.run, out)?;
    let took = began.elapsed().as_secs_f64();
    let cases = args.run.cases;
    print_line(&format!(
        "{cases} cases, each with one correct result, in {took:.1} s; killed: {coordinators} coordinators, {workers} workers"
    ));
    Ok(())
}

fn start(args: &FaultRunArgs, resume: bool) -> anyhow::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("run").arg("--out").arg(&args.out);
    for (option, value) in [
        ("--cases", u64::from(args.cases)),
        ("--each", u64::from(args.each)),
        ("--seed", args.seed),
        ("--workers", args.workers as u64),
        ("--patience", args.patience),
        ("--memory", args.memory),
    ] {
        command.arg(option).arg(value.to_string());
    }
    if resume {
        command.arg("--resume");
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().context("cannot start the run")
}

/// Returns a random time between zero and twice the average.
fn random_time(average: u64) -> Duration {
    let part = RandomState::new().hash_one(0) % 1_000;
    Duration::from_millis(average * (part * 2) / 1_000)
}

/// Kills one of the coordinator's child processes; returns true if there was one.
fn kill_a_worker(coordinator: &Child) -> bool {
    let parent = format!("PPid:\t{}", coordinator.id());
    let mut children = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        if status.lines().any(|line| line == parent) {
            children.push(pid);
        }
    }
    if children.is_empty() {
        return false;
    }
    let chosen = children[(RandomState::new().hash_one(0) % children.len() as u64) as usize];
    signal::kill(chosen)
}
