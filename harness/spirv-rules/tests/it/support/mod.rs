//! Shared by tests and examples: modules to check, and the expected differences from other
//! validators.

pub(crate) mod cases;
pub(crate) mod corpus;
pub(crate) mod explained;
pub(crate) mod mutate;

/// The examples of `shaders/inspect`.
pub(crate) const EXAMPLES: [&str; 4] = [
    include_str!("../../../../../shaders/inspect/gather_qcom.spvasm"),
    include_str!("../../../../../shaders/inspect/tile_shading_qcom.spvasm"),
    include_str!("../../../../../shaders/inspect/bindless_kernel_intel.spvasm"),
    include_str!("../../../../../shaders/inspect/storage_8bit.spvasm"),
];

/// Returns the seeds of mutations, as text and as words: the cases of the rules and the examples.
pub(crate) fn seeds() -> Vec<(String, Vec<u32>)> {
    let cases = cases::cases().into_iter().flat_map(|case| [case.text(true), case.text(false)]);
    let texts = EXAMPLES.iter().map(|text| (*text).to_owned()).chain(cases);
    texts.map(|text| (text.clone(), assay_spirv::assemble(&text).expect("a seed assembles"))).collect()
}
