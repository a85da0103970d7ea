//! Plants random errors in random shaders on a device. Reports how many of the errors that change
//! memory are found, and how often the trace names the instruction.
//!
//! `cargo run --release -p assay-fuzz --example planted -- [--count N] [--first SEED] [--device
//! NAME]`

use assay_check::{Check, MutatingTarget, Mutation, ShaderSource};
use assay_events::{DeviceInfo, Status};
use assay_exec::{DispatchOutput, DispatchRequest, Target, TargetError};
use assay_fuzz::ProgramId;
use assay_oracle::Slot;
use assay_spirv::module::InstructionIndex;
use assay_spirv::tables::Op;
use assay_spirv_rules::requirements::DeviceCaps;
use assay_vulkan::Instance;
use assay_vulkan_exec::VulkanTarget;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Kinds of errors. Floats move by so many representable values that later instructions hardly hide
/// it.
const KINDS: [&str; 7] =
    ["off-by-one", "signedness", "lost-atomic", "missing-barrier", "ulp:64", "ulp:100000", "sign-of-zero"];

/// Time limit of a dispatch. Software drivers compile the instrumented variant in the first
/// dispatch, which takes long on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(1200);

/// Number of instructions tried for a kind.
const TRIES: usize = 16;

/// A device that keeps the output of its last dispatch.
struct RecordingTarget<'a> {
    inner: &'a VulkanTarget,
    left: Mutex<BTreeMap<Slot, Vec<u8>>>,
}

impl Target for &RecordingTarget<'_> {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        self.inner.capabilities()
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        let output = self.inner.run(request)?;
        self.left.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&output.memory);
        Ok(output)
    }
}

/// Outcomes of the errors of a kind.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    planted: u64,
    shown: u64,
    found: u64,
    named: u64,
    others: u64,
}

fn main() -> ExitCode {
    let say = |text: String| drop(writeln!(std::io::stdout(), "{text}"));
    let (mut count, mut first, mut name) = (500, 0, "llvmpipe".to_owned());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let value = args.next().unwrap_or_default();
        match (arg.as_str(), value.parse()) {
            ("--count", Ok(n)) => count = n,
            ("--first", Ok(n)) => first = n,
            ("--device", _) => name = value,
            _ => {
                say("expected --count N, --first SEED, --device NAME".to_owned());
                return ExitCode::from(2);
            }
        }
    }
    let target = Instance::new(false).and_then(|instance| {
        let devices = instance.devices()?;
        let device = devices.iter().find(|d| d.identity().name.contains(&name));
        device.map(|device| VulkanTarget::new(device, TIME_LIMIT, false)).transpose()
    });
    let target = match target {
        Ok(Some(target)) => target,
        other => {
            say(format!(
                "{name}: {}",
                other.map_or_else(|error| error.to_string(), |_| "not among the devices".to_owned())
            ));
            return ExitCode::from(4);
        }
    };
    let (next, sums) = (AtomicU64::new(0), Mutex::new(BTreeMap::<&str, Count>::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(n) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < count) {
                    let seed = first + n;
                    for (kind, one) in plant(seed, &target, &say) {
                        let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
                        let sum = sums.entry(kind).or_default();
                        sum.planted += 1;
                        sum.shown += one.shown;
                        sum.found += one.found;
                        sum.named += one.named;
                        sum.others += one.others;
                    }
                }
            });
        }
    });
    say(format!("{:<16} {:>8} {:>8} {:>8} {:>8} {:>8}", "kind", "planted", "shown", "found", "named", "others"));
    for (kind, sum) in sums.into_inner().unwrap_or_else(PoisonError::into_inner) {
        say(format!(
            "{kind:<16} {:>8} {:>8} {:>8} {:>8} {:>8}",
            sum.planted, sum.shown, sum.found, sum.named, sum.others
        ));
    }
    ExitCode::SUCCESS
}

/// Plants one error of each kind that applies to the shader.
fn plant(seed: u64, target: &VulkanTarget, say: &(dyn Fn(String) + Sync)) -> Vec<(&'static str, Count)> {
    let id = ProgramId { seed: 0, index: seed };
    let program = id.program();
    let read = ShaderSource::read(&format!("{id}.{}", program.ending), program.text.as_bytes());
    let Ok(shader) = read else { return Vec::new() };
    let Ok(check) = Check::new(&shader, &program.options) else { return Vec::new() };
    let recording = RecordingTarget { inner: target, left: Mutex::default() };
    let sound = check.run(&&recording);
    if !matches!(&sound, Ok(result) if result.status == Status::Pass) {
        say(format!("{seed}: without an error it does not pass"));
        return Vec::new();
    }
    let as_it_is = recording.left.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut found = Vec::new();
    let mut rng = fastrand::Rng::with_seed(seed);
    for kind in KINDS {
        // Random instructions, until the kind applies to one.
        let places = shader.source.module.len();
        let planted = (0..TRIES).find_map(|_| {
            let mutation: Mutation = format!("{kind}@{}", rng.usize(..places)).parse().ok()?;
            mutation.plant(&shader.source.module, &check.setup.entry).ok()
        });
        let Some(planted) = planted else { continue };
        let spoilt = MutatingTarget::new(&recording, planted.clone());
        let Ok(mut result) = check.run(&spoilt) else { continue };
        let shown = *recording.left.lock().unwrap_or_else(PoisonError::into_inner) != as_it_is;
        let mut one = Count { shown: shown.into(), ..Count::default() };
        if shown && result.status == Status::Fail {
            one.found = 1;
            check.explain(&mut result, &spoilt, false);
            let blamed: Vec<u32> = result.blamed.iter().map(|blame| blame.instruction).collect();
            one.named = blamed.contains(&planted.instruction).into();
            one.others = blamed.iter().any(|at| *at != planted.instruction).into();
            if one.named == 0 {
                let op = shader.source.module.instruction(InstructionIndex(planted.instruction)).op;
                let op = op.map_or("?", Op::name);
                say(format!(
                    "{seed}: {kind}@{} of {op} is not named: {}",
                    planted.instruction,
                    result.notes.join("; ")
                ));
            }
        } else if shown {
            say(format!("{seed}: {kind}@{}: {:?}", planted.instruction, result.status));
        }
        found.push((kind, one));
    }
    found
}
