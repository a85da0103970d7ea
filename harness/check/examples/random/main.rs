//! Checks random shaders on a device, and reports outcomes, undetermined elements and speed.
//!
//! `cargo run --release -p assay-check --example random -- [--count N] [--first SEED] [--device
//! NAME] [--keep DIR]`
//!
//! A seed gives the same shader on every machine. Shaders that do not pass are written to DIR;
//! `assay check DIR/SEED.wgsl --input 2=-8..8 --reduce --out BUNDLE` examines one.

mod generate;

use assay_check::{Check, CheckError, Options, ShaderSource};
use assay_events::{CheckResult, Status};
use assay_vulkan::Instance;
use assay_vulkan_exec::VulkanTarget;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time limit of a dispatch. Software drivers compile in the first dispatch, which takes long on a
/// busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(1200);

/// Number of shaders between progress reports.
const REPORTED: u64 = 500;

struct Arguments {
    count: u64,
    first: u64,
    device: String,
    keep: Option<PathBuf>,
}

fn arguments() -> Option<Arguments> {
    let mut found = Arguments { count: 1000, first: 0, device: "llvmpipe".to_owned(), keep: None };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let value = args.next()?;
        match arg.as_str() {
            "--count" => found.count = value.parse().ok()?,
            "--first" => found.first = value.parse().ok()?,
            "--device" => found.device = value,
            "--keep" => found.keep = Some(value.into()),
            _ => return None,
        }
    }
    Some(found)
}

/// Totals over all shaders.
#[derive(Debug, Default)]
struct Sum {
    statuses: BTreeMap<Status, u64>,
    refused: BTreeMap<String, u64>,
    checked: u64,
    undetermined: u64,
    instructions: u64,
    oracle: f64,
    device: f64,
    causes: BTreeMap<String, u64>,
}

fn main() -> ExitCode {
    let say = |text: String| drop(writeln!(std::io::stdout(), "{text}"));
    let Some(args) = arguments() else {
        say("expected --count N, --first SEED, --device NAME, --keep DIR".to_owned());
        return ExitCode::from(2);
    };
    let devices = match Instance::new(false).and_then(|instance| instance.devices()) {
        Ok(devices) => devices,
        Err(error) => {
            say(error.to_string());
            return ExitCode::from(4);
        }
    };
    let Some(device) = devices.iter().find(|d| d.identity().name.contains(&args.device)) else {
        say(format!("no {} among the devices", args.device));
        return ExitCode::from(4);
    };
    let target = match VulkanTarget::new(device, TIME_LIMIT, false) {
        Ok(target) => target,
        Err(error) => {
            say(error.to_string());
            return ExitCode::from(4);
        }
    };
    let (next, sum, started) = (AtomicU64::new(0), Mutex::new(Sum::default()), Instant::now());
    let (defects, finished) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(seed) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < args.count) {
                    let seed = args.first + seed;
                    let text = generate::shader(seed);
                    // A panic is a bug in Assay. It is reported with the seed, and the run
                    // continues.
                    let Ok(found) = catch_unwind(AssertUnwindSafe(|| check(seed, &text, &target))) else {
                        say(format!("{seed}: the oracle panicked"));
                        defects.fetch_add(1, Ordering::Relaxed);
                        continue;
                    };
                    let passed = matches!(&found, Ok(result) if result.status == Status::Pass);
                    if let (false, Some(folder)) = (passed, &args.keep) {
                        let kept = std::fs::create_dir_all(folder)
                            .and_then(|()| std::fs::write(folder.join(format!("{seed}.wgsl")), &text));
                        if let Err(error) = kept {
                            say(format!("{}: {error}", folder.display()));
                        }
                    }
                    let done = finished.fetch_add(1, Ordering::Relaxed) + 1;
                    if done.is_multiple_of(REPORTED) {
                        say(format!("{done} of {} after {:.0} s", args.count, started.elapsed().as_secs_f64()));
                    }
                    if let Some(line) = sum.lock().unwrap_or_else(PoisonError::into_inner).add(seed, found) {
                        say(line);
                    }
                }
            });
        }
    });
    let sum = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
    say(format!("{} shaders in {:.0} s: {:?}", args.count, started.elapsed().as_secs_f64(), sum.statuses));
    let share = 100.0 * sum.undetermined as f64 / (sum.checked + sum.undetermined).max(1) as f64;
    say(format!("{} elements checked, {} ({share:.2} %) not determined", sum.checked, sum.undetermined));
    for (cause, elements) in &sum.causes {
        say(format!("    {elements:>10} {cause}"));
    }
    say(format!("oracle {:.1} s ({} instructions), device {:.1} s", sum.oracle, sum.instructions, sum.device));
    for (why, count) in &sum.refused {
        say(format!("refused: {count} {why}"));
    }
    let clean = defects.into_inner() == 0
        && sum.refused.is_empty()
        && sum.statuses.keys().all(|status| *status == Status::Pass);
    if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn check(seed: u64, text: &str, target: &VulkanTarget) -> Result<CheckResult, CheckError> {
    let shader = ShaderSource::read(&format!("{seed}.wgsl"), text.as_bytes())?;
    let reals = ("0.2".parse()?, "-8..8".parse()?);
    let options = Options { rounds: 1, seed, groups: Some([2, 1, 1]), inputs: vec![reals], ..Options::default() };
    Check::new(&shader, &options)?.run(target)
}

impl Sum {
    /// Adds the outcome of a shader. Returns a line to print, if any.
    fn add(&mut self, seed: u64, found: Result<CheckResult, CheckError>) -> Option<String> {
        let result = match found {
            Ok(result) => result,
            Err(error) => {
                let text = error.to_string();
                // The kind of undefined behaviour or the broken rule, without the text that differs
                // from shader to shader.
                let why = match text.rsplit_once("(VUID") {
                    Some((_, rule)) => format!("VUID{}", rule.lines().next().unwrap_or_default()),
                    None => text.lines().next().unwrap_or_default().replacen(&format!("{seed}."), "N.", 1),
                };
                *self.refused.entry(why).or_default() += 1;
                let text: String = text.chars().take(200).collect();
                return Some(format!("{seed}: refused: {text}"));
            }
        };
        *self.statuses.entry(result.status).or_default() += 1;
        self.checked += result.elements_checked;
        self.undetermined += result.elements_undetermined;
        self.instructions += result.instructions;
        self.oracle += result.times.check;
        self.device += result.times.device;
        for open in &result.undetermined {
            *self.causes.entry(open.cause.clone()).or_default() += open.elements;
        }
        (result.status != Status::Pass)
            .then(|| format!("{seed}: {:?} {}", result.status, result.reason.as_deref().unwrap_or_default()))
    }
}
