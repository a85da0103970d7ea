//! Variables of built-ins.

use assay_spirv::Module;
use assay_spirv::tables::{BuiltIn, Decoration};

/// Returns whether a variable is decorated as a built-in.
pub(crate) fn is_built_in(module: &Module, variable: u32, which: BuiltIn) -> bool {
    let mut decorations = module.decorations(variable);
    decorations.any(|d| d.decoration == Some(Decoration::BuiltIn) && d.operands.first() == Some(&which.word()))
}
