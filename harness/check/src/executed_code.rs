//! Executed instructions of a check, with the parameters on which a skipping branch depends.

use crate::check::Check;
use crate::parameter_search::parameters_of;
use assay_events::{ExecutedInstructions, SkippedCode};
use assay_oracle::{Coverage, ExecutedBlocks};

/// Returns the executed instructions of the checked shader; `None` if there are none.
pub(crate) fn executed_instructions(check: &Check<'_>, blocks: &ExecutedBlocks) -> Option<ExecutedInstructions> {
    let Coverage { instructions, executed } = check.program.coverage(blocks);
    let skipped = check.program.skipped_code(blocks).map(|skipped| SkippedCode {
        branch: check.shader.location(skipped.branch),
        first: check.shader.location(skipped.first),
        instructions: skipped.instructions,
        depends_on: parameters_of(check, skipped.branch.instruction),
    });
    (executed > 0).then_some(ExecutedInstructions { instructions, executed, skipped })
}
