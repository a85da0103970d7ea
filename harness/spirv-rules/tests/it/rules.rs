//! Tests of each rule with two modules: one that breaks only this rule, and a similar one that
//! breaks none.
//!
//! `tests/rules/*.spvasm` contain the cases. A case starts with `;; rule: NAME`. Its lines are
//! added to the matching sections of a small compute shader. Lines with the prefix `?` occur in the
//! broken module only, those with the prefix `=` in the valid module only. Directives:
//!
//! * `;; version: 1.3`: SPIR-V version of both modules
//! * `;; broken version: 1.7`: SPIR-V version of the broken module
//! * `;; also: NAME`: another rule that the broken module inevitably breaks
//! * `;; environment: other`: the modules are not for Vulkan
//!
//! An entry point or execution mode replaces that of the shader. `...` at the end of an entry point
//! denotes all module-scope variables.

use std::collections::{BTreeMap, BTreeSet};

use assay_spirv::{Module, assemble};
use assay_spirv_rules::rules::{self, Environment};
use assay_testkit::spirv;

use crate::support::cases::{Case, cases};

fn broken(case: &Case, broken: bool) -> BTreeSet<&'static str> {
    let text = case.text(broken);
    let words = assemble(&text).unwrap_or_else(|e| panic!("{}: {e}\n{text}", case.rule));
    let module = Module::parse(words).unwrap_or_else(|e| panic!("{}: {e}\n{text}", case.rule));
    let environment = if case.vulkan { Environment::Vulkan } else { Environment::Other };
    rules::violations(&module, environment).iter().map(|v| v.rule.name).collect()
}

#[test]
fn each_case_breaks_exactly_its_rules_and_its_valid_module_breaks_none() {
    let mut failures = Vec::new();
    for case in cases() {
        let mut expected: BTreeSet<&str> = case.also.iter().map(String::as_str).collect();
        expected.insert(&case.rule);
        let found = broken(&case, true);
        if found != expected {
            failures.push(format!(
                "{} (line {}): the broken module breaks {found:?}, expected {expected:?}\n",
                case.rule, case.line
            ));
        }
        let found = broken(&case, false);
        if !found.is_empty() {
            failures.push(format!("{} (line {}): the valid module breaks {found:?}\n", case.rule, case.line));
        }
    }
    assert!(failures.is_empty(), "{}", failures.concat());
}

#[test]
fn every_rule_has_a_case_and_a_unique_name() {
    let mut count: BTreeMap<&str, usize> = rules::all_rules().map(|rule| (rule.name, 0)).collect();
    assert_eq!(count.len(), rules::all_rules().count(), "two rules have the same name");
    for case in cases() {
        *count.get_mut(case.rule.as_str()).unwrap_or_else(|| panic!("no rule is named {}", case.rule)) += 1;
    }
    let without: Vec<_> = count.iter().filter(|(_, n)| **n == 0).map(|(name, _)| name).collect();
    assert!(without.is_empty(), "{} rules without a case: {without:?}", without.len());
}

#[test]
fn module_without_memory_model_is_rejected() {
    let names = |module: &Module| -> Vec<&str> {
        rules::violations(module, Environment::Vulkan).iter().map(|v| v.rule.name).collect()
    };
    assert_eq!(names(&spirv("OpCapability Shader\nOpMemoryModel Logical GLSL450")), [""; 0]);
    assert_eq!(names(&spirv("OpCapability Shader")), ["one-memory-model"]);
    // Without any instruction, the violation is reported after the header.
    let empty = spirv("; only a header");
    assert_eq!(names(&empty), ["one-memory-model"]);
    assert_eq!(rules::violations(&empty, Environment::Vulkan)[0].word_index, 5);
}

#[test]
fn rules_document_is_current() {
    let committed = include_str!("../../RULES.md");
    assert!(committed == assay_spirv_rules::rules_document(), "run `cargo run -p assay-spirv-rules --example rules`");
}

/// Number of rules with each prefix in Vulkan 1.4.360.
const SPECIFICATION_RULES: [(&str, usize); 2] = [("VUID-StandaloneSpirv-", 200), ("VUID-RuntimeSpirv-", 370)];

#[test]
fn every_vuid_has_exactly_one_disposition() {
    let number = |id: &str| id.rsplit('-').next().unwrap_or_default().chars().take(5).collect::<String>();
    for (prefix, expected) in SPECIFICATION_RULES {
        let alone = prefix.contains("Standalone");
        let ours: BTreeSet<String> = rules::all_rules()
            .flat_map(|rule| rule.id.split(&[' ', '(', ')', ','][..]).filter(|_| rule.id.starts_with(prefix)))
            .filter(|word| word.contains('-'))
            .map(number)
            .collect();
        let needs = assay_spirv_rules::requirements::REQUIREMENT_RULES.iter().map(|rule| rule.id);
        let at_run_time = rules::RUN_TIME_RULES.iter().map(|rule| rule.id);
        let others: Vec<String> = needs.chain(at_run_time).filter(|id| id.starts_with(prefix)).map(number).collect();
        let implied = rules::IMPLIED.iter().filter(|_| !alone).map(|(id, _)| number(id));
        let list = if alone { rules::UNCHECKED_STANDALONE } else { rules::UNCHECKED_RUNTIME };
        let unchecked = list.iter().flat_map(|(_, ids)| ids.iter()).map(|id| number(id));
        let mut all: Vec<String> = ours.into_iter().chain(others).chain(implied).chain(unchecked).collect();
        all.sort();
        let twice: Vec<_> = all.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| &pair[0]).collect();
        assert!(twice.is_empty(), "{prefix}: {twice:?}");
        assert_eq!(all.len(), expected, "{prefix}: {all:?}");
    }
}
