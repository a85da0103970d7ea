//! Memory consumption of a module relative to its words, on systems that report the peak memory of
//! a process.

use assay_spirv::Module;
use assay_spirv_rules::requirements::Requirements;
use assay_spirv_rules::rules::{self, Environment};

/// Returns a field of `/proc/self/status` in KiB.
fn kibibytes(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.trim_start_matches(':').split_whitespace().next()?.parse().ok())
}

/// Returns the words of a module whose function has `additions` additions.
fn words(additions: u32) -> Vec<u32> {
    let op = |code: u32, words: &[u32]| {
        std::iter::once(code | (words.len() as u32 + 1) << 16).chain(words.iter().copied()).collect::<Vec<_>>()
    };
    let mut all = Vec::with_capacity(additions as usize * 5 + 100);
    all.extend([0x0723_0203, 0x0001_0600, 0, additions + 10, 0]);
    let head = [
        (17, &[1][..]),
        (14, &[0, 1]),
        (19, &[1]),
        (33, &[2, 1]),
        (21, &[3, 32, 0]),
        (43, &[3, 4, 7]),
        (54, &[1, 5, 0, 2]),
        (248, &[6]),
    ];
    head.iter().for_each(|(code, words)| all.extend(op(*code, words)));
    (0..additions).for_each(|i| all.extend([128 | 5 << 16, 3, i + 7, if i == 0 { 4 } else { i + 6 }, 4]));
    all.extend([253 | 1 << 16, 56 | 1 << 16]);
    all
}

#[test]
#[expect(clippy::print_stderr, reason = "the measured memory belongs to the result")]
fn module_takes_at_most_six_times_the_memory_of_its_words() {
    let words = words(1_000_000);
    let size = words.len() as u64 * 4;
    let (Some(before), Some(peak_before)) = (kibibytes("VmRSS"), kibibytes("VmHWM")) else {
        return assay_testkit::skip("this system does not say how much memory a process uses");
    };
    let module = Module::parse(words).unwrap();
    assert!(rules::violations(&module, Environment::Vulkan).is_empty());
    let _need = Requirements::of(&module);
    let peak = kibibytes("VmHWM").unwrap();
    assert!(module.len() > 1_000_000 && peak > peak_before, "{peak_before} {peak}");
    let taken = (peak - before) * 1024 + size;
    eprintln!(
        "{size} bytes of words, {taken} with all that parsing and checking take at most: {:.2} times",
        taken as f64 / size as f64
    );
    assert!(taken <= 6 * size, "{taken} of {size}");
}
