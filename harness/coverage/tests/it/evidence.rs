//! Tests that the evidence of rows can fail: a module that violates a statement is rejected by a
//! rule of its row, has undefined behaviour, or does not run on a device with fewer features.
//! `harness/cli/tests/it/shim.rs` plants driver faults under cases.

use assay_check::{Check, CheckError, Options, ShaderSource};
use assay_coverage::{Document, DocumentRules, Evidence, Statement, documents};
use assay_shim::DriverFault;
use assay_spirv_rules::inspect::ModuleSource;
use assay_spirv_rules::requirements::{ApiVersion, DeviceCaps, Requirements};
use assay_spirv_rules::rules::{self, Environment};
use assay_suite::NoDevice;
use cases::Case;
use std::collections::BTreeSet;

#[path = "../../../spirv-rules/tests/it/support/cases.rs"]
#[expect(dead_code, reason = "the tests of the rules need more of it")]
mod cases;

/// Visits every statement with its document's name.
fn each_statement(mut visit: impl FnMut(&str, &Statement)) {
    for Document { name, statements, .. } in documents().unwrap_or_else(|error| panic!("{error}")) {
        statements.iter().for_each(|statement| visit(&format!("{name}/{}", statement.id), statement));
    }
}

/// Returns the module that lines describe, in the format of `harness/spirv-rules/tests/rules`.
fn case(name: &str, lines: &str) -> Case {
    cases::read(&format!(";; rule: {name}\n{lines}")).pop().unwrap_or_else(|| panic!("{name}: no lines"))
}

fn source(name: &str, text: &str) -> ModuleSource {
    ModuleSource::read(text.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"))
}

/// Returns the names of the rules that a module violates.
fn broken(name: &str, text: &str) -> BTreeSet<&'static str> {
    let module = source(name, text).module;
    rules::violations(&module, Environment::of_module(&module)).iter().map(|violation| violation.rule.name).collect()
}

fn none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_module_that_violates_a_row_is_rejected_by_a_rule_that_the_row_cites() {
    let rules = DocumentRules::new();
    let mut wrong = Vec::new();
    each_statement(|name, statement| {
        let cited: BTreeSet<&str> = statement.rules.iter().filter_map(|id| rules.name_of(id)).collect();
        for lines in &statement.breaks {
            let case = case(name, lines);
            let found = broken(name, &case.text(true));
            if found.is_disjoint(&cited) {
                wrong.push(format!("{name} cites {cited:?}, but its module violates {found:?}:\n{lines}"));
            }
            let found = broken(name, &case.text(false));
            if !found.is_empty() {
                wrong.push(format!("{name}: the module without the violation violates {found:?}:\n{lines}"));
            }
        }
    });
    none(wrong);
}

/// Rows name modules of rules that violate the row itself; the row cites the rule.
#[test]
fn a_row_cites_the_rule_whose_module_violates_it() {
    let rules = DocumentRules::new();
    let modules = cases::cases();
    let mut wrong = Vec::new();
    each_statement(|name, statement| {
        let cited: BTreeSet<&str> = statement.rules.iter().filter_map(|id| rules.name_of(id)).collect();
        for named in &statement.broken_by {
            let (rule, number) = named.split_once(' ').unwrap_or((named, ""));
            let Some(number) = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1)) else {
                wrong.push(format!("{name}: `{named}` is not a rule and a number from 1"));
                continue;
            };
            let Some(case) = modules.iter().filter(|case| case.rule == rule).nth(number) else {
                wrong.push(format!("{name}: there is no module {named}"));
                continue;
            };
            if !cited.contains(rule) {
                wrong.push(format!("{name} cites {cited:?}, and not {rule}"));
            }
            let found = [true, false].map(|is_broken| broken(name, &case.text(is_broken)).contains(rule));
            if found != [true, false] {
                wrong.push(format!("{name}: {named} broken and kept breaks {found:?}"));
            }
        }
    });
    none(wrong);
}

/// `harness/spirv-rules/tests/it/rules.rs` tests that each of these modules is rejected by its
/// rule.
#[test]
fn every_rule_that_a_row_cites_has_a_module_that_violates_it() {
    let rules = DocumentRules::new();
    let with_modules: BTreeSet<String> = cases::cases().into_iter().map(|case| case.rule).collect();
    let mut wrong = Vec::new();
    each_statement(|name, statement| {
        let cited = statement.rules.iter().filter_map(|id| rules.name_of(id));
        wrong.extend(cited.filter(|rule| !with_modules.contains(*rule)).map(|rule| format!("{name}: {rule}")));
    });
    none(wrong);
}

#[test]
fn a_module_that_violates_a_row_at_run_time_has_undefined_behaviour() {
    let mut wrong = Vec::new();
    each_statement(|name, statement| {
        for lines in &statement.undefined {
            let case = case(name, lines);
            for is_broken in [true, false] {
                let subject = ShaderSource::read("row.spvasm", case.text(is_broken).as_bytes());
                let subject = subject.unwrap_or_else(|error| panic!("{name}: {error}"));
                let options = Options { groups: Some([1; 3]), ..Options::default() };
                let check = Check::new(&subject, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
                let found = check.run_unconditionally(&NoDevice::default()).err();
                if matches!(found, Some(CheckError::Undefined { .. })) != is_broken {
                    wrong.push(format!("{name}, broken: {is_broken}: {found:?}"));
                }
            }
        }
    });
    none(wrong);
}

#[test]
fn a_module_that_violates_a_row_on_a_device_without_features_is_rejected_there() {
    let mut wrong = Vec::new();
    each_statement(|name, statement| {
        for lines in &statement.lacking {
            let case = case(name, lines);
            let missing = |is_broken| -> BTreeSet<String> {
                let text = case.text(is_broken);
                assert_eq!(broken(name, &text), BTreeSet::new(), "{name}");
                let least = DeviceCaps { api_version: ApiVersion { major: 1, minor: 3 }, ..DeviceCaps::default() };
                let verdict = Requirements::of(&source(name, &text).module).check(&least);
                verdict.missing.into_iter().map(|missing| missing.item.imposed_by).collect()
            };
            if missing(true).is_subset(&missing(false)) {
                wrong.push(format!("{name}: nothing is missing for\n{lines}"));
            }
            if !statement.functions.iter().any(|function| function.starts_with("spirv-rules::requirements::")) {
                wrong.push(format!("{name} does not cite what derives the requirements of\n{lines}"));
            }
        }
    });
    none(wrong);
}

/// Each fault is one that the shim implements, and its cases are among those that the row cites.
pub(crate) fn faults_are_planted_under_cases_that_the_row_cites(evidence: &Evidence) {
    let mut wrong = Vec::new();
    each_statement(|name, statement| {
        let cited = evidence.cases_of(name, statement);
        for planted in &statement.faults {
            if let Err(error) = planted.fault.parse::<DriverFault>() {
                wrong.push(format!("{name}: {error}"));
            }
            let unknown = planted.cases.iter().filter(|case| !cited.contains(case.as_str()));
            wrong.extend(
                unknown
                    .map(|case| format!("{name}: {} is planted under {case}, which it does not cite", planted.fault)),
            );
        }
    });
    none(wrong);
}

/// An audit found that the evidence of these rows did not detect violations.
#[test]
fn rows_that_an_audit_found_hollow_have_evidence() {
    const HOLLOW: [&str; 15] = [
        "SPV_KHR_8bit_storage/features",
        "SPV_QCOM_image_processing3/features",
        "SPV_QCOM_image_processing3/sampled-image",
        "SPV_QCOM_tile_shading/makes-available",
        "SPV_QCOM_tile_shading/storage-class",
        "precision tables/bfloat16",
        "SPV_QCOM_image_processing3/component-type",
        "SPV_QCOM_image_processing3/component-range",
        "SPV_QCOM_tile_shading/capability",
        "SPV_QCOM_tile_shading/builtin-stages",
        "SPV_QCOM_tile_shading/rate",
        "precision tables/no-flush",
        "vulkan-environment-for-spirv/capability-refused",
        "vulkan-environment-for-spirv/runtime-arrays",
        "vulkan-environment-for-spirv/array-length",
    ];
    let mut hollow: BTreeSet<&str> = HOLLOW.into();
    each_statement(|name, statement| {
        if !statement.proofs().is_empty() {
            hollow.remove(name);
        }
    });
    assert_eq!(hollow, BTreeSet::new());
}
