//! Validation of lowered modules.

use assay_spirv::Module;
use assay_spirv_rules::rules::{self, Environment};
use assay_testkit::spirv_val;

/// Returns the violations of a module.
pub(crate) fn broken(words: &[u32]) -> Vec<String> {
    let module = Module::parse(words.to_vec()).unwrap();
    rules::violations(&module, Environment::of_module(&module)).iter().map(ToString::to_string).collect()
}

/// Returns the message with which spirv-val rejects a module; `None` if it accepts it or is not
/// installed.
pub(crate) fn refused(words: &[u32], environment: &str) -> Option<String> {
    spirv_val(words, &["--target-env", environment])?.err()
}
