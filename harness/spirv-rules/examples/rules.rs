//! Generates `RULES.md` of this crate.

fn main() -> std::io::Result<()> {
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/RULES.md"), assay_spirv_rules::rules_document())
}
