//! Comparison of the assembler, disassembler and rules with Debian's `spirv-tools`, where
//! installed.
//!
//! The tools are older than the tables: cases that they do not know are counted, but not compared.

use crate::support;
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::cases::cases;
use crate::support::explained::{Judge, why_accepted};
use crate::support::mutate::{Random, mutate_words};
use assay_spirv::grammar::INSTRUCTIONS;
use assay_spirv::rules::{self, Environment};
use assay_spirv::{Module, Style, assemble, disassemble};

/// Runs a tool that reads standard input. Returns its output, or its complaint as `Err`; `None` if
/// it is not installed.
fn run(tool: &str, arguments: &[&str], input: &[u8]) -> Option<Result<Vec<u8>, String>> {
    let mut child = Command::new(tool)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    // A tool may stop reading early; its complaint then gives the reason.
    let _closed = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().ok()?;
    if output.status.success() {
        Some(Ok(output.stdout))
    } else {
        Some(Err(String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}

fn tools() -> bool {
    let here = run("spirv-as", &["--version"], b"").is_some();
    if !here {
        assay_testkit::skip_missing("spirv-as is missing");
    }
    here
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[test]
#[expect(clippy::print_stderr, reason = "how much was compared belongs to the result")]
fn assembler_agrees_with_spirv_as() {
    if !tools() {
        return;
    }
    let mut prelude = assemble(support::PRELUDE).unwrap();
    prelude[3] = 30;
    let (mut compared, mut unknown) = (0, 0);
    for instruction in INSTRUCTIONS {
        let extended = support::is_extended(instruction);
        let forms = if extended { support::extended_forms(instruction) } else { support::forms(instruction) };
        // All forms in one text; if the tool does not know one of them, the first few one by one.
        let all: Vec<u32> = prelude.iter().copied().chain(forms.iter().flatten().copied()).collect();
        let ours = disassemble(&all, Style::Plain).unwrap();
        let flags = ["--preserve-numeric-ids", "-o", "-", "-"];
        match run("spirv-as", &flags, ours.as_bytes()).unwrap() {
            Ok(theirs) => {
                compared += forms.len();
                assert!(words(&theirs)[5..] == all[5..], "{} is assembled otherwise", instruction.name);
            }
            Err(_) => {
                for form in forms.iter().take(8) {
                    let one: Vec<u32> = prelude.iter().chain(form).copied().collect();
                    let text = disassemble(&one, Style::Plain).unwrap();
                    match run("spirv-as", &flags, text.as_bytes()).unwrap() {
                        Ok(theirs) => {
                            compared += 1;
                            assert!(words(&theirs)[5..] == one[5..], "{text} is assembled otherwise");
                        }
                        Err(_) => unknown += 1,
                    }
                }
            }
        }
    }
    eprintln!("spirv-as: {compared} forms agree, {unknown} are unknown to it");
    assert!(compared > 1_500);
}

#[test]
#[expect(clippy::print_stderr, reason = "how much was compared belongs to the result")]
fn output_of_spirv_dis_assembles_to_the_same_words() {
    if !tools() {
        return;
    }
    let mut compared = 0;
    for case in cases() {
        let module = assemble(&case.text(false)).unwrap();
        let Ok(text) = run("spirv-dis", &["--raw-id", "-"], &bytes(&module)).unwrap() else { continue };
        let text = String::from_utf8(text).unwrap();
        let again = assemble(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(again[5..], module[5..], "{text}");
        compared += 1;
    }
    eprintln!("spirv-dis: {compared} modules read back");
    assert!(compared > 100);
}

/// Returns true for complaints about features newer than the tool.
fn is_unknown(complaint: &str) -> bool {
    ["Invalid", "not allowed by Vulkan", "requires one of these extensions"].iter().any(|text| complaint.contains(text))
}

#[test]
#[expect(clippy::print_stderr, reason = "how much was compared belongs to the result")]
fn spirv_val_agrees_on_the_cases_of_the_rules() {
    if !tools() {
        return;
    }
    let (mut agreed, mut unknown) = (0, 0);
    let (mut accepted, mut refused) = (BTreeSet::new(), Vec::new());
    for case in cases().iter().filter(|case| case.vulkan) {
        for broken in [true, false] {
            let module = assemble(&case.text(broken)).unwrap();
            let verdict = run("spirv-val", &["--target-env", "vulkan1.3", "-"], &bytes(&module)).unwrap();
            match (broken, verdict) {
                (true, Ok(_)) => {
                    accepted.insert(case.rule.clone());
                }
                (_, Err(complaint)) if is_unknown(&complaint) => unknown += 1,
                (true, Err(_)) | (false, Ok(_)) => agreed += 1,
                (false, Err(complaint)) => refused.push(format!("{}: {complaint}\n", case.rule)),
            }
        }
    }
    eprintln!("spirv-val: {agreed} agree, {unknown} are unknown to it, {} rules are broken unseen", accepted.len());
    assert!(refused.is_empty(), "refused, though no rule is broken: {}", refused.concat());
    // Another version of the tool may detect more; anything that no version explains is an error.
    let unexplained: Vec<_> = accepted.iter().filter(|rule| why_accepted(Judge::SpirvVal, rule).is_none()).collect();
    assert!(unexplained.is_empty(), "accepted, though a rule is broken: {unexplained:?}");
}

#[test]
#[expect(clippy::print_stderr, reason = "how much was compared belongs to the result")]
fn spirv_val_rejects_mutations_that_violate_a_rule() {
    if !tools() {
        return;
    }
    let count = std::env::var("ASSAY_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let seeds = support::seeds();
    let (mut compared, mut accepted) = (0, Vec::new());
    for seed in 0..count {
        let mut random = Random(seed);
        let (_, words) = &seeds[random.below(seeds.len())];
        let words = mutate_words(words, &mut random);
        let Ok(module) = Module::parse(words.clone()) else { continue };
        let broken: BTreeSet<_> = rules::violations(&module, Environment::Vulkan).iter().map(|v| v.rule.name).collect();
        let explained = broken.iter().any(|rule| why_accepted(Judge::SpirvVal, rule).is_some());
        if broken.is_empty() || explained || module.unknown_instructions() > 0 {
            continue;
        }
        compared += 1;
        if run("spirv-val", &["--target-env", "vulkan1.3", "-"], &bytes(&words)).unwrap().is_ok() {
            accepted.push(format!("mutation {seed}: {broken:?}\n"));
        }
    }
    eprintln!("spirv-val: {compared} mutations that break a rule, {} accepted", accepted.len());
    assert!(accepted.is_empty(), "{}", accepted.concat());
}
