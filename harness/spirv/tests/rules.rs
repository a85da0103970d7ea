//! Every rule, both ways: a module that breaks only it, and the nearest one that does not.
//!
//! `tests/rules/*.spvasm` hold the cases. A case starts with `;; rule: NAME`. Its lines are added to a small compute
//! shader, each to its section; lines with `?` in front stand in the broken module only, those with `=` in the other
//! only. Directives: `;; version: 1.3`, `;; broken version: 1.7`; `;; also: NAME` where breaking the rule cannot but break another;
//! `;; environment: other` for modules that are not for Vulkan. An entry point or execution mode replaces the shader's;
//! `...` at the end of an entry point stands for all module-scope variables.

use std::collections::{BTreeMap, BTreeSet};

use assay_spirv::rules::{self, Environment};
use assay_spirv::{Module, assemble};

mod support;

use support::cases::{Case, cases};

fn broken(case: &Case, broken: bool) -> BTreeSet<&'static str> {
    let text = case.text(broken);
    let words = assemble(&text).unwrap_or_else(|e| panic!("{}: {e}\n{text}", case.rule));
    let module = Module::parse(words).unwrap_or_else(|e| panic!("{}: {e}\n{text}", case.rule));
    let environment = if case.vulkan { Environment::Vulkan } else { Environment::Other };
    rules::violations(&module, environment).iter().map(|v| v.rule.name).collect()
}

#[test]
fn every_rule_is_broken_by_one_module_and_kept_by_the_nearest() {
    let mut failures = Vec::new();
    for case in cases() {
        let mut expected: BTreeSet<&str> = case.also.iter().map(String::as_str).collect();
        expected.insert(&case.rule);
        let found = broken(&case, true);
        if found != expected {
            failures.push(format!("{} (line {}): broken module breaks {found:?}\n", case.rule, case.line));
        }
        let found = broken(&case, false);
        if !found.is_empty() {
            failures.push(format!("{} (line {}): nearest module breaks {found:?}\n", case.rule, case.line));
        }
    }
    assert!(failures.is_empty(), "{}", failures.concat());
}

#[test]
fn every_rule_has_a_case_and_a_name_of_its_own() {
    let mut count: BTreeMap<&str, usize> = rules::all().map(|rule| (rule.name, 0)).collect();
    assert_eq!(count.len(), rules::all().count(), "two rules have one name");
    for case in cases() {
        *count.get_mut(case.rule.as_str()).unwrap_or_else(|| panic!("no rule is named {}", case.rule)) += 1;
    }
    let without: Vec<_> = count.iter().filter(|(_, n)| **n == 0).map(|(name, _)| name).collect();
    assert!(without.is_empty(), "{} rules without a case: {without:?}", without.len());
}

#[test]
fn a_module_without_a_memory_model_is_refused() {
    let module = |text: &str| Module::parse(assemble(text).unwrap()).unwrap();
    let names = |module: &Module| -> Vec<&str> {
        rules::violations(module, Environment::Vulkan).iter().map(|v| v.rule.name).collect()
    };
    assert_eq!(names(&module("OpCapability Shader\nOpMemoryModel Logical GLSL450")), [""; 0]);
    assert_eq!(names(&module("OpCapability Shader")), ["one-memory-model"]);
    // Where nothing stands at all, the place is behind the header.
    let empty = module("; nothing but a header");
    assert_eq!(names(&empty), ["one-memory-model"]);
    assert_eq!(rules::violations(&empty, Environment::Vulkan)[0].at, 5);
}

#[test]
fn the_document_is_current() {
    let committed = include_str!("../RULES.md");
    assert!(committed == rules::document(), "run `cargo run -p assay-spirv --example rules`");
}

/// Rules of Vulkan 1.4.360 for modules alone and for modules on a device.
const OF_THE_TEXT: [(&str, usize); 2] = [("VUID-StandaloneSpirv-", 200), ("VUID-RuntimeSpirv-", 370)];

#[test]
fn no_rule_of_the_text_is_forgotten_and_none_has_two_fates() {
    let number = |id: &str| id.rsplit('-').next().unwrap_or_default().chars().take(5).collect::<String>();
    for (prefix, expected) in OF_THE_TEXT {
        let alone = prefix.contains("Standalone");
        let ours: BTreeSet<String> = rules::all()
            .flat_map(|rule| rule.id.split(&[' ', '(', ')', ','][..]).filter(|_| rule.id.starts_with(prefix)))
            .filter(|word| word.contains('-'))
            .map(number)
            .collect();
        let needs = assay_spirv::need::NEED_RULES.iter().map(|rule| rule.id);
        let at_run_time = rules::RUN_TIME_RULES.iter().map(|rule| rule.id);
        let others: Vec<String> = needs.chain(at_run_time).filter(|id| id.starts_with(prefix)).map(number).collect();
        let implied = rules::IMPLIED.iter().filter(|_| !alone).map(|(id, _)| number(id));
        let list = if alone { rules::NOT_CHECKED } else { rules::NOT_CHECKED_ON_DEVICES };
        let unchecked = list.iter().flat_map(|(_, ids)| ids.iter()).map(|id| number(id));
        let mut all: Vec<String> = ours.into_iter().chain(others).chain(implied).chain(unchecked).collect();
        all.sort();
        let twice: Vec<_> = all.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| &pair[0]).collect();
        assert!(twice.is_empty(), "{prefix}: {twice:?}");
        assert_eq!(all.len(), expected, "{prefix}: {all:?}");
    }
}
