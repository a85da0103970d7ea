//! Variant of a module whose loops a driver is asked not to unroll.
//!
//! Drivers unroll loops with a known number of iterations, and with them the stores that record
//! instructions: a variant may take a hundred times as long to compile as its shader.

use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::tables::Op;

/// `DontUnroll` (SPIR-V, "Loop Control").
const DONT_UNROLL: u32 = 0x2;

/// Returns the module with `DontUnroll` as the only control of each loop; `None` if it has no loop.
/// Each instruction keeps its number.
pub(crate) fn rolled(module: &Module) -> Option<Module> {
    let mut editor = Editor::new(module);
    let mut loops = 0;
    for i in module.instructions().filter(|i| i.op == Some(Op::LoopMerge)) {
        let (Some(merge), Some(continues)) = (i.operand(0), i.operand(1)) else { continue };
        editor.replace(i.at, instruction(Op::LoopMerge, &[merge, continues, DONT_UNROLL]));
        loops += 1;
    }
    (loops > 0).then(|| Module::parse(editor.finish()).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ShaderSource;

    #[test]
    fn loops_are_not_unrolled() {
        let shader = |body: &str| {
            let text = format!(
                "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
                 @compute @workgroup_size(1) fn main() {{ {body} }}"
            );
            ShaderSource::read("test.wgsl", text.as_bytes()).unwrap().source.module
        };
        assert!(rolled(&shader("data[0] = 1u;")).is_none());
        let module = shader("for (var i = 0u; i < 4u; i++) { for (var j = 0u; j < 4u; j++) { data[i] += j; } }");
        let rolled = rolled(&module).unwrap();
        let controls: Vec<Option<u32>> =
            rolled.instructions().filter(|i| i.op == Some(Op::LoopMerge)).map(|i| i.operand(2)).collect();
        assert_eq!(controls, [Some(DONT_UNROLL); 2]);
        assert_eq!(rolled.instructions().count(), module.instructions().count());
    }
}
