//! Modules that naga emits for a corpus of compute shaders: they violate no rule and survive
//! conversion to text.

use std::collections::BTreeSet;

use assay_spirv::{Module, Style, assemble, disassemble};
use assay_spirv_rules::requirements::Requirements;
use assay_spirv_rules::rules::{self, Environment, LAYOUT_NOT_ALLOWED_RULE};

/// Rules that modules of naga 30 violate: group operations were added in SPIR-V 1.3, and arrays in
/// workgroup memory may not have a stride.
const NAGA: [(&str, &str); 7] = [
    ("subgroups as SPIR-V 1.0", "version-or-extension"),
    ("matrix_multiply as SPIR-V 1.0", LAYOUT_NOT_ALLOWED_RULE),
    ("matrix_multiply as SPIR-V 1.3", LAYOUT_NOT_ALLOWED_RULE),
    ("matrix_multiply as SPIR-V 1.4", LAYOUT_NOT_ALLOWED_RULE),
    ("workgroup_memory as SPIR-V 1.0", LAYOUT_NOT_ALLOWED_RULE),
    ("workgroup_memory as SPIR-V 1.3", LAYOUT_NOT_ALLOWED_RULE),
    ("workgroup_memory as SPIR-V 1.4", LAYOUT_NOT_ALLOWED_RULE),
];

#[test]
fn modules_of_naga_are_legal_and_survive_text() {
    let modules = crate::support::corpus::modules();
    assert!(modules.len() > 130, "{}", modules.len());
    let mut capabilities = BTreeSet::new();
    for (name, words) in modules {
        let module = Module::parse(words.clone()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let broken = rules::violations(&module, Environment::Vulkan);
        let names: BTreeSet<&str> = broken.iter().map(|violation| violation.rule.name).collect();
        let expected: Vec<&str> = NAGA.iter().filter(|(of, _)| *of == name).map(|(_, rule)| *rule).collect();
        let shown = || disassemble(&words, Style::Indented).unwrap();
        assert!(names.iter().eq(&expected), "{name}: {broken:?}\n{}", shown());
        let text = disassemble(&words, Style::Plain).unwrap();
        let again = assemble(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(again[5..] == words[5..], "{name}: words change by way of text");
        capabilities.extend(Requirements::of(&module).items.into_iter().map(|item| item.imposed_by));
    }
    assert!(capabilities.contains("capability GroupNonUniformBallot"), "{capabilities:?}");
}
