//! Number of workgroups of a dispatch that the options leave open.

use crate::built_in::is_built_in;
use assay_spirv::Module;
use assay_spirv::module::Instruction;
use assay_spirv::tables::{BuiltIn, Op};

/// Returns a few workgroups along every axis along which the workgroup extends, and more of small ones. A
/// workgroup of one invocation extends along the axes whose positions the shader uses.
pub(crate) fn default_groups(module: &Module, local: [u32; 3]) -> [u32; 3] {
    let used = if local == [1; 3] { used_axes(module) } else { [false; 3] };
    let axes: [(u32, u32); 3] = match local {
        [1, 1, 1] if used[2] => [(4, 4); 3],
        [1, 1, 1] if used[1] => [(8, 8), (8, 8), (1, 1)],
        [_, 1, 1] => [(4, 64), (1, 1), (1, 1)],
        [_, _, 1] => [(2, 8), (2, 8), (1, 1)],
        _ => [(2, 4); 3],
    };
    std::array::from_fn(|axis| {
        let (least, invocations) = axes[axis];
        least.max(invocations / local[axis].max(1))
    })
}

/// Returns the components of an invocation's and a workgroup's position that the shader selects.
fn used_axes(module: &Module) -> [bool; 3] {
    let selected = module.instructions().flat_map(|i| selected_components(module, i));
    selected.filter(|component| *component < 3).fold([false; 3], |mut used, component| {
        used[component as usize] = true;
        used
    })
}

/// Returns the components of a position that an instruction selects.
fn selected_components(module: &Module, i: Instruction<'_>) -> Vec<u32> {
    let is_position = |pointer: u32| is_position(module, pointer);
    let is_loaded = |value: u32| {
        let load = module.definition_of(value).filter(|definition| definition.op == Some(Op::Load));
        load.and_then(|load| load.operand(0)).is_some_and(is_position)
    };
    match (i.op, i.operands()) {
        (Some(Op::AccessChain | Op::InBoundsAccessChain), &[base, index]) if is_position(base) => {
            module.constant_int(index).and_then(|index| u32::try_from(index).ok()).into_iter().collect()
        }
        (Some(Op::CompositeExtract), &[composite, index]) if is_loaded(composite) => vec![index],
        (Some(Op::VectorShuffle), [first, _, components @ ..]) if is_loaded(*first) => components.to_vec(),
        _ => Vec::new(),
    }
}

/// Returns whether a variable is the position of an invocation or of its workgroup in the dispatch.
fn is_position(module: &Module, variable: u32) -> bool {
    [BuiltIn::GlobalInvocationId, BuiltIn::WorkgroupId].into_iter().any(|of| is_built_in(module, variable, of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workgroup_of_one_invocation_extends_along_the_used_axes() {
        let groups = |size: &str, position: &str| {
            let text = format!(
                "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
                @compute @workgroup_size({size}) fn main(
                    @builtin(global_invocation_id) id: vec3<u32>,
                    @builtin(workgroup_id) group: vec3<u32>,
                ) {{ out[{position}] = 1u; }}"
            );
            let local = size.split(',').map(|side| side.parse().unwrap()).collect::<Vec<u32>>();
            default_groups(&assay_testkit::wgsl(&text), local.try_into().unwrap())
        };
        assert_eq!(groups("1,1,1", "id.x"), [64, 1, 1]);
        assert_eq!(groups("1,1,1", "dot(id.xy, vec2(1u, 64u))"), [8, 8, 1]);
        assert_eq!(groups("1,1,1", "id.x + 64u * group.y"), [8, 8, 1]);
        assert_eq!(groups("1,1,1", "group.z"), [4, 4, 4]);
        assert_eq!(groups("16,1,1", "id.y"), [4, 1, 1]);
        assert_eq!(groups("8,8,1", "id.x"), [2, 2, 1]);
    }
}
