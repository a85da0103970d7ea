//! Measures a device: pipeline creation, the latency of a small dispatch, the throughput of a large
//! one.
//!
//!     cargo run --release -p assay-vulkan --example measure -- [DEVICE]
//!
//! DEVICE as `assay run --device` takes it; set MESA_SHADER_CACHE_DISABLE=true to measure
//! compilation.

#![expect(clippy::print_stdout, reason = "a program that prints measurements")]

#[path = "../tests/it/shader.rs"]
mod shader;

use std::time::{Duration, Instant};

use assay_vulkan::{
    BufferSpec, Device, DeviceOptions, Dispatch, DispatchSlot, Error, Instance, Pipeline, PipelineDesc, SpecConstant,
};

const LIMIT: Duration = Duration::from_secs(120);

fn main() -> Result<(), Error> {
    let start = Instant::now();
    let instance = Instance::new(false)?;
    println!("instance: {:.1} ms", milliseconds(start.elapsed()));
    let start = Instant::now();
    let physical = instance.select(std::env::args().nth(1).as_deref())?;
    println!("device list: {:.1} ms", milliseconds(start.elapsed()));
    let start = Instant::now();
    let device = Device::open(&physical, &DeviceOptions::default())?;
    println!("device: {:.1} ms", milliseconds(start.elapsed()));
    println!("{}", device.identity());

    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let another = Device::open(&physical, &DeviceOptions::default())?;
    for (what, first_use) in [("pipeline", false), ("pipeline and its first dispatch", true)] {
        let one = compile(&[&device], 40, first_use)?;
        let two = compile(&[&device, &device], 40, first_use)?;
        let apart = compile(&[&device, &another], 40, first_use)?;
        println!(
            "{what} (Exp2, each one new): {one:.2} ms; on {cores} cores from 2 threads {two:.2} ms, with a device each \
             {apart:.2} ms"
        );
    }

    let exp2 = device.pipeline(&description(&shader::exp2()))?;
    let add = device.pipeline(&description(&shader::add()))?;
    small(&device, &exp2)?;
    for (name, pipeline) in [("Exp2", &exp2), ("add", &add)] {
        large(&device, name, pipeline)?;
    }
    arithmetic(&device)?;
    println!("LP_NUM_THREADS: {}", std::env::var("LP_NUM_THREADS").unwrap_or_else(|_| "not set".into()));
    println!("threads of this process: {}", std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count));
    Ok(())
}

fn description(code: &[u32]) -> PipelineDesc<'_> {
    PipelineDesc { push_constants: 4, ..PipelineDesc::new(code, 2) }
}

/// Returns the milliseconds for each of `count` pipelines that no cache knows, created by one
/// thread for each of `devices`. With `first_use` this includes a dispatch, in which some drivers
/// compile.
fn compile(devices: &[&Device], count: u32, first_use: bool) -> Result<f64, Error> {
    let start = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..)
            .zip(devices)
            .map(|(first, device)| {
                scope.spawn(move || compile_some(device, (first..count).step_by(devices.len()), first_use))
            })
            .collect();
        workers.into_iter().try_for_each(|w| w.join().unwrap_or(Ok(())))
    })?;
    Ok(milliseconds(start.elapsed()) / f64::from(count))
}

fn compile_some(device: &Device, numbers: impl Iterator<Item = u32>, first_use: bool) -> Result<(), Error> {
    let bytes = shader::LOCAL * 4;
    let mut slot = device.dispatch_slot(&[BufferSpec::input(bytes), BufferSpec::output(bytes)])?;
    let code = shader::exp2();
    for number in numbers {
        let values = [SpecConstant::bits32(0, number)];
        let pipeline = device.pipeline(&PipelineDesc { specialization: &values, ..description(&code) })?;
        if first_use {
            run(&mut slot, &pipeline, shader::LOCAL)?;
        }
    }
    Ok(())
}

/// Measures the time from writing 4096 words to reading the results.
fn small(device: &Device, pipeline: &Pipeline) -> Result<(), Error> {
    const WORDS: usize = 4096;
    let mut slot = device.dispatch_slot(&[BufferSpec::input(WORDS * 4), BufferSpec::output(WORDS * 4)])?;
    let mut times = Vec::new();
    for round in 0..200_u32 {
        let start = Instant::now();
        slot.write::<u32>(0)?.fill(round);
        run(&mut slot, pipeline, WORDS)?;
        std::hint::black_box(slot.read::<u32>(1)?.iter().fold(0, |a, b| a ^ b));
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let at = |i: usize| milliseconds(times[i]) * 1e3;
    println!("write, dispatch, read {WORDS} words: median {:.0} us, best {:.0} us", at(100), at(0));
    Ok(())
}

/// Measures the throughput for 2^24 words.
fn large(device: &Device, name: &str, pipeline: &Pipeline) -> Result<(), Error> {
    const WORDS: usize = 1 << 24;
    let mut slot = device.dispatch_slot(&[BufferSpec::input(WORDS * 4), BufferSpec::output(WORDS * 4)])?;
    for (i, word) in (0..).zip(slot.write::<u32>(0)?) {
        // Values from about 1.0 on, which no fast path for special values covers.
        *word = 0x3f80_0000 + i;
    }
    let mut best: Option<assay_vulkan::Timing> = None;
    for _ in 0..5 {
        let timing = run(&mut slot, pipeline, WORDS)?;
        if best.is_none_or(|b| timing.wall < b.wall) {
            best = Some(timing);
        }
    }
    let rate = |time: Duration| WORDS as f64 / time.as_secs_f64() * 1e-9;
    if let Some(best) = best {
        let device = best.device.map_or("no device time".into(), |d| format!("{:.3} by the device's clock", rate(d)));
        println!("{name} of 2^24 words: {:.3} G words/s by wall time, {device}", rate(best.wall));
    }
    Ok(())
}

/// Measures the throughput of dependent integer operations: the device's threads without memory
/// accesses.
fn arithmetic(device: &Device) -> Result<(), Error> {
    const WORDS: usize = 1 << 18;
    const ROUNDS: u32 = 1000;
    let pipeline = device.pipeline(&description(&shader::rounds()))?;
    let mut slot = device.dispatch_slot(&[BufferSpec::input(WORDS * 4), BufferSpec::output(WORDS * 4)])?;
    let push = ROUNDS.to_ne_bytes();
    slot.submit(&pipeline, &Dispatch { groups: shader::groups(WORDS), push_constants: &push, clear: None })?;
    let wall = slot.wait(LIMIT)?.wall.as_secs_f64();
    println!("multiply-add: {:.2} G/s", WORDS as f64 * f64::from(ROUNDS) / wall * 1e-9);
    Ok(())
}

fn run(slot: &mut DispatchSlot, pipeline: &Pipeline, words: usize) -> Result<assay_vulkan::Timing, Error> {
    slot.submit(pipeline, &Dispatch { groups: shader::groups(words), push_constants: &[0; 4], clear: None })?;
    slot.wait(LIMIT)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
