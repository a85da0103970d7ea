//! The rules as a document.

use std::fmt::Write;

use super::not_checked::{IMPLIED, NOT_CHECKED, NOT_CHECKED_OF_CORE, NOT_CHECKED_ON_DEVICES};
use super::{GROUPS, RUN_TIME_RULES, Severity};
use crate::need::NEED_RULES;

/// `RULES.md`: every rule by section, the run-time rules, and what is not checked.
pub fn document() -> String {
    let mut out = String::new();
    write(&mut out).expect("writing to a string");
    out
}

fn write(out: &mut String) -> std::fmt::Result {
    let count = super::all().count();
    let reasons = |list: &[(&str, &[&str])]| list.iter().map(|(_, rules)| rules.len()).sum::<usize>();
    let (alone, on_devices) = (reasons(NOT_CHECKED), reasons(NOT_CHECKED_ON_DEVICES));
    let (needs, run_time, implied) = (NEED_RULES.len(), RUN_TIME_RULES.len(), IMPLIED.len());
    writeln!(
        out,
        "# Rules of the Vulkan environment for SPIR-V

Written by `cargo run -p assay-spirv --example rules`; a test compares it. The text is the appendix of Vulkan 1.4.360.

| what becomes of a rule of the text | how many |
|---|---|
| checked on a module alone, each with a module that breaks it and a nearest one that does not (`tests/rules/`) | {count} |
| a need of the module, held against what a device has (`src/need/`), besides the tables of 204 capabilities and 114 extensions | {needs} |
| data for the interpreter and the runner: only running the shader, or what is bound to it, shows it | {run_time} |
| implied by another one | {implied} |
| not checked, for a stated reason: of `VUID-StandaloneSpirv-` | {alone} |
| not checked, for a stated reason: of `VUID-RuntimeSpirv-` | {on_devices} |
"
    )?;
    writeln!(out, "| section or extension | rules on modules alone |\n|---|---|")?;
    for group in GROUPS {
        writeln!(out, "| {} | {} |", capitalised(group.section), group.rules.len())?;
    }
    writeln!(out)?;
    for group in GROUPS {
        writeln!(out, "## {}\n\n| rule | asks for | in the text |\n|---|---|---|", capitalised(group.section))?;
        for rule in group.rules {
            writeln!(out, "| {} | {} | {} |", rule.name, rule.says, rule.id)?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "## Reported, not refused

A breach of these is a warning; `--strict` refuses the module.

| rule | why it is not refused |
|---|---|"
    )?;
    for rule in super::all() {
        if let Severity::Warning { why } = rule.severity {
            writeln!(out, "| {} | {why} |", rule.name)?;
        }
    }
    writeln!(out)?;
    writeln!(out, "## Of a device\n\nWhat a module needs by these is part of the verdict on it.\n")?;
    writeln!(out, "| in the text | asks for |\n|---|---|")?;
    for rule in NEED_RULES {
        writeln!(out, "| {} | {} |", rule.id, rule.says)?;
    }
    writeln!(
        out,
        "\n## At run time\n\nNo look at the module shows these; who sees to each is in `reports/coverage.md`.\n"
    )?;
    writeln!(out, "| in the text | asks for |\n|---|---|")?;
    for rule in RUN_TIME_RULES {
        writeln!(out, "| {} | {} |", rule.id, rule.says)?;
    }
    writeln!(out, "\n## Implied\n\n| VUID-RuntimeSpirv- | by |\n|---|---|")?;
    for (rule, by) in IMPLIED {
        writeln!(out, "| {rule} | {by} |")?;
    }
    for (prefix, list) in [("VUID-StandaloneSpirv-", NOT_CHECKED), ("VUID-RuntimeSpirv-", NOT_CHECKED_ON_DEVICES)] {
        writeln!(out, "\n## Not checked: {prefix}\n\n| why | which |\n|---|---|")?;
        for (why, rules) in list {
            writeln!(out, "| {why} | {} |", rules.join(", "))?;
        }
    }
    writeln!(
        out,
        "\n## Not checked: the core specification and extensions\n\nWhat is legal by the rules above may break these.\n"
    )?;
    NOT_CHECKED_OF_CORE.iter().try_for_each(|what| writeln!(out, "* {}", capitalised(what)))
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
