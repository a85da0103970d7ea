//! The rules as a document, and which rules of the text are not among them.

use std::fmt::Write;

use super::{GROUPS, RUN_TIME_RULES};

/// Rules of the text that can be checked statically and are not: why, and which (`VUID-StandaloneSpirv-..`).
pub static NOT_CHECKED: &[(&str, &[&str])] = &[
    (
        "graphics pipelines: this project runs compute",
        &[
            "Location-04916",
            "Execution-10584",
            "Execution-10585",
            "Output-10586",
            "Output-10587",
            "Input-10588",
            "Input-10604",
            "OpEntryPoint-08721",
            "OpEntryPoint-08722",
            "ViewportRelativeNV-04672",
            "ViewportRelativeNV-04673",
            "ViewportMaskNV-04674",
        ],
    ),
    (
        "transform feedback: this project runs compute",
        &[
            "Offset-04687",
            "Offset-04689",
            "Offset-04690",
            "Offset-04691",
            "Offset-04692",
            "Offset-04716",
            "XfbBuffer-04693",
            "Stream-04694",
            "XfbBuffer-04696",
            "XfbBuffer-04697",
        ],
    ),
    (
        "data flow in mesh stages: this project runs compute",
        &["MeshEXT-07106", "MeshEXT-07107", "MeshEXT-07108", "MeshEXT-07109", "MeshEXT-07110", "MeshEXT-07111"],
    ),
    (
        "volatile built-ins of ray tracing stages: this project runs compute",
        &["VulkanMemoryModel-04678", "VulkanMemoryModel-04679"],
    ),
    ("tile images, which are not tile attachments", &["TileImageEXT-08723", "None-08724"]),
    (
        "descriptor heaps",
        &["DescriptorHeapEXT-11482", "OpUntypedVariableKHR-11347", "Result-11336", "Result-11337", "Result-11339"],
    ),
    ("graphs of tensors", &["OpGraphInputARM-09931", "OpGraphSetOutputARM-09932"]),
    ("untyped image pointers", &["OpUntypedImageTexelPointerEXT-11416"]),
    ("vectors sized by specialization constants", &["Function-12294"]),
    ("row-major matrices behind physical pointers", &["PhysicalStorageBuffer64-04709"]),
    ("conversions between two micro-scaling encodings", &["OpFConvert-12467"]),
];

/// `RULES.md`: every rule by section, the run-time rules, and what is not checked.
pub fn document() -> String {
    let mut out = String::new();
    write(&mut out).expect("writing to a string");
    out
}

fn write(out: &mut String) -> std::fmt::Result {
    let count = super::all().count();
    writeln!(out, "# Rules of the Vulkan environment for SPIR-V\n")?;
    writeln!(
        out,
        "Written by `cargo run -p assay-spirv --example rules`; a test compares it. {count} rules are checked on a module alone,"
    )?;
    writeln!(
        out,
        "each with a module that breaks it and a nearest one that does not in `tests/rules/`. Features, properties and"
    )?;
    writeln!(out, "versions that a module needs are in `src/need/`, with the rule of each.\n")?;
    for group in GROUPS {
        writeln!(out, "## {}\n\n| rule | asks for | in the text |\n|---|---|---|", capitalised(group.section))?;
        for rule in group.rules {
            writeln!(out, "| {} | {} | {} |", rule.name, rule.says, rule.id)?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "## At run time\n\nNo look at the module shows these; the interpreter and the runner enforce them.\n"
    )?;
    writeln!(out, "| in the text | asks for |\n|---|---|")?;
    for rule in RUN_TIME_RULES {
        writeln!(out, "| {} | {} |", rule.id, rule.says)?;
    }
    writeln!(out, "\n## Not checked\n\n| why | VUID-StandaloneSpirv- |\n|---|---|")?;
    for (why, rules) in NOT_CHECKED {
        writeln!(out, "| {why} | {} |", rules.join(", "))?;
    }
    writeln!(
        out,
        "\nRules of the core specification beyond those above (types of operands, dominance, ..) are spirv-val's."
    )
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
