//! All that naga emits for a corpus of compute shaders: it breaks no rule and survives our text.

#[path = "support/corpus.rs"]
mod corpus;

use std::collections::BTreeSet;

use assay_spirv::need::Need;
use assay_spirv::rules::{self, Environment};
use assay_spirv::{Module, Style, assemble, disassemble};

/// Rules that naga 30 breaks: group operations came with SPIR-V 1.3.
const NAGA: [(&str, &str); 1] = [("subgroups as SPIR-V 1.0", "version-or-extension")];

#[test]
fn what_naga_emits_breaks_no_rule_and_survives_text() {
    let modules = corpus::modules();
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
        capabilities.extend(Need::of(&module).items.into_iter().map(|item| item.because));
    }
    assert!(capabilities.contains("capability GroupNonUniformBallot"), "{capabilities:?}");
}
