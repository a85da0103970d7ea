//! Throughput and memory consumption of parsing, checking and writing modules; run by `cargo bench
//! -p assay-spirv-rules`.
//!
//! Measures modules of three kinds and three sizes, together with Debian's `spirv-as` and
//! `spirv-val`, where installed, and `rspirv`. Times are processor times, which depend little on
//! other load of the machine. Names of kinds as arguments select these kinds.
//!
//! Targets: parsing 100 MB/s of words, assembling 20 MB/s of text, rules in at most four times the
//! parsing time, memory at most six times the module.
#![expect(clippy::print_stdout, reason = "a program of its own, run by hand")]

mod shapes;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use assay_spirv::{Module, Style, assemble, disassemble, words_from_bytes};
use assay_spirv_rules::requirements::Requirements;
use assay_spirv_rules::rules::{self, Environment};
use shapes::Shape;

const SIZES: [usize; 3] = [100_000, 1_000_000, 10_000_000];

/// Argument for measuring the memory for one file.
const MEMORY_OF: &str = "--memory-of";

/// Returns the processor time of this thread in seconds; the elapsed time if the system does not
/// report it.
fn processor(start: Instant) -> f64 {
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds: Option<f64> = said.and_then(|said| said.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |n| n / 1e9)
}

/// Returns the processor time of this process's finished children in seconds; the elapsed time if
/// the system does not report it.
fn children(start: Instant) -> f64 {
    let said = std::fs::read_to_string("/proc/self/stat").ok();
    // The fields from the third on follow the name, which may contain anything. Times are in
    // hundredths of seconds.
    let ticks = said.and_then(|said| {
        let fields: Vec<f64> =
            said.rsplit_once(')')?.1.split_whitespace().skip(1).map_while(|f| f.parse().ok()).collect();
        Some(fields.get(12)? + fields.get(13)?)
    });
    ticks.map_or_else(|| start.elapsed().as_secs_f64(), |ticks| ticks / 100.0)
}

/// Returns the average time of a run in seconds, over as many runs as fit into half a second, but
/// at least one.
fn time<T>(used: fn(Instant) -> f64, mut what: impl FnMut() -> T) -> f64 {
    let start = Instant::now();
    let before = used(start);
    let mut runs = 0;
    while runs == 0 || start.elapsed() < Duration::from_millis(500) {
        std::hint::black_box(what());
        runs += 1;
    }
    (used(start) - before) / f64::from(runs)
}

/// Returns a field of `/proc/self/status` in KiB; `None` on systems without it.
fn kibibytes(name: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim_start_matches(':').split_whitespace().next()?.parse().ok()
}

/// Prints the peak memory of reading a module, and of reading and checking it, in multiples of its
/// size.
fn memory_of(path: &str) {
    // Touch the pages of this program first, so that they do not count.
    let warm = Module::parse(assemble(&Shape::Mixed.text(1)).expect("it assembles")).expect("a module");
    std::hint::black_box((rules::violations(&warm, Environment::Vulkan), Requirements::of(&warm)));
    let bytes = std::fs::read(path).expect("the module is there");
    let size = bytes.len() as f64;
    let words = words_from_bytes(&bytes).expect("words");
    drop(bytes);
    // The peak is measured from here on; the file's bytes, already freed, do not count.
    let reset = std::fs::write("/proc/self/clear_refs", "5");
    let (Ok(()), Some(before)) = (reset, kibibytes("VmRSS")) else { return println!("- -") };
    let times = |peak: f64| ((peak - before) * 1024.0 + size) / size;
    let module = Module::parse(words).expect("a module");
    let parsed = kibibytes("VmHWM").expect("it was there before");
    std::hint::black_box((rules::violations(&module, Environment::Vulkan), Requirements::of(&module)));
    let checked = kibibytes("VmHWM").expect("it was there before");
    println!("{:.1} {:.1}", times(parsed), times(checked));
}

/// Measures the memory for a file in a separate process.
fn memory(path: &Path) -> String {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program).arg(MEMORY_OF).arg(path).output().expect("this program starts again");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let (parsed, checked) = said.trim().split_once(' ').unwrap_or(("-", "-"));
    format!("{parsed:>6} {checked:>7}")
}

/// Returns the throughput of a tool in MB/s, including its start; `-` if it is not installed or
/// fails.
fn tool(size: f64, program: &str, arguments: &[&str]) -> String {
    let run = || Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success());
    if run() { format!("{:.1}", size / 1e6 / time(children, run)) } else { "-".to_owned() }
}

fn measure(shape: Shape, size: usize, folder: &Path) {
    let text = shape.text(size);
    let words = assemble(&text).expect("the shader assembles");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let module = Module::parse(words.clone()).expect("the shader is a module");
    let violations = rules::violations(&module, Environment::Vulkan);
    assert!(violations.is_empty(), "{}: {}", shape.name(), violations[0]);

    let text_size = text.len() as f64;
    let size = bytes.len() as f64;
    let rate = |size: f64, seconds: f64| size / 1e6 / seconds;
    let parse = time(processor, || Module::parse(words.clone()));
    let check = time(processor, || rules::violations(&module, Environment::Vulkan));
    let requirements = time(processor, || Requirements::of(&module));
    let show = time(processor, || disassemble(&words, Style::Plain));
    let write = time(processor, || assemble(&text));
    let rspirv = time(processor, || {
        let mut loader = rspirv::dr::Loader::new();
        rspirv::binary::parse_bytes(&bytes, &mut loader).expect("rspirv reads it");
        loader.module()
    });

    let (spv, spvasm) = (folder.join("a.spv"), folder.join("a.spvasm"));
    std::fs::write(&spv, &bytes).expect("writing the module");
    std::fs::write(&spvasm, &text).expect("writing the text");
    let (spv_name, text_name) = (spv.to_string_lossy(), spvasm.to_string_lossy());
    let null = folder.join("out.spv").to_string_lossy().into_owned();
    let spirv_as = tool(text_size, "spirv-as", &["--target-env", "spv1.6", &text_name, "-o", &null]);
    let spirv_val = tool(size, "spirv-val", &["--target-env", "vulkan1.3", &spv_name]);
    println!(
        "{:<11} {:>6.2} {:>7.0} {:>7.0} {:>7.1} {:>7.0} {:>8.0} {:>8.0} {:>9} {:>8.0} {:>9} {}",
        shape.name(),
        size / 1e6,
        rate(size, parse),
        rate(size, check),
        check / parse,
        rate(size, requirements),
        rate(size, show),
        rate(text_size, write),
        spirv_as,
        rate(size, rspirv),
        spirv_val,
        memory(&spv),
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(place) = arguments.iter().position(|argument| argument == MEMORY_OF) {
        return memory_of(arguments.get(place + 1).expect("a file"));
    }
    let wanted: Vec<Shape> =
        Shape::ALL.into_iter().filter(|shape| arguments.iter().any(|argument| argument == shape.name())).collect();
    let wanted = if wanted.is_empty() { Shape::ALL.to_vec() } else { wanted };
    let folder = tempfile::tempdir().expect("a temporary folder");
    println!(
        "MB per second of processor time, of words (assemble, spirv-as: of text; tools include their start); r/p: rules time / parse time; mem: memory / module size\n\n\
         {:<11} {:>6} {:>7} {:>7} {:>7} {:>7} {:>8} {:>8} {:>9} {:>8} {:>9} {:>6} {:>7}",
        "module",
        "MB",
        "parse",
        "rules",
        "r/p",
        "need",
        "disassm",
        "assemble",
        "spirv-as",
        "rspirv",
        "spirv-val",
        "mem",
        "+rules"
    );
    for shape in wanted {
        for size in SIZES {
            measure(shape, size, folder.path());
        }
    }
}
