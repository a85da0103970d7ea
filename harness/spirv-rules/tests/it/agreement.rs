//! Comparison of the assembler and the rules with Debian's `spirv-tools`, where installed.
//!
//! The tools are older than the tables: cases that they do not know are counted, but not compared.

use std::collections::BTreeSet;

use crate::spirv_tools::{run, tools};
use crate::support::cases::cases;
use crate::support::explained::{Judge, why_accepted};
use crate::support::mutate::{Random, mutate_words};
use crate::support::seeds;
use assay_spirv::{Module, assemble};
use assay_spirv_rules::rules::{self, Environment};

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
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
    let seeds = seeds();
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
