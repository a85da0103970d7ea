//! Lengths of run-time arrays that a shader accesses at constant indices only: counters, and the
//! arguments of indirect draws.

use assay_spirv::Module;
use assay_spirv::module::Type;
use assay_spirv::tables::Op;

/// Returns the length with which all accesses of a shader to the run-time array at the end of a
/// buffer are in bounds; `None` if an index is not constant, or if the shader asks for the length.
/// `variable` is the raw id of the buffer.
pub(crate) fn constant_length(module: &Module, variable: u32) -> Option<u64> {
    let (_, block) = module.pointer(module.type_of(variable)?)?;
    let block = block.filter(|block| matches!(module.ty(*block), Type::Struct { .. }))?;
    let last = module.members(block).len().checked_sub(1)? as i64;
    let functions = module.functions().iter();
    let mut length = 0;
    for i in functions.flat_map(|function| module.instructions_in(function.instructions.clone())) {
        let mut is_used = false;
        module.uses(i, |id| is_used |= id == variable);
        match (i.op?, i.operands()) {
            _ if !is_used => {}
            (Op::AccessChain | Op::InBoundsAccessChain, [base, member, indices @ ..]) if *base == variable => {
                if module.constant_int(*member)? == last {
                    // A specialisation constant may get another value.
                    let index = module.definition_of(*indices.first()?)?;
                    let index = module.constant_int(index.result().filter(|_| index.op == Some(Op::Constant))?)?;
                    let index = u64::try_from(index).ok()?;
                    length = length.max(index.checked_add(1)?);
                }
            }
            _ => return None,
        }
    }
    (length > 0).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_spirv::reflect::Reflection;

    #[test]
    fn only_constant_indices_tell_the_length() {
        let length_of = |body: &str| {
            let text = format!(
                "struct List {{ count: u32, items: array<u32> }}
                @group(0) @binding(0) var<storage, read_write> list: List;
                @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ {body} }}"
            );
            let module = Module::parse(crate::compile_wgsl(&text, "a.wgsl").unwrap()).unwrap();
            let variable = Reflection::new(&module).entry_points[0].bindings[0].variable;
            constant_length(&module, variable)
        };
        assert_eq!(length_of("list.items[2] = 1u; list.items[0] = list.count;"), Some(3));
        assert_eq!(length_of("list.count = 1u;"), None);
        assert_eq!(length_of("list.items[2] = 1u; list.items[id.x] = 2u;"), None);
        assert_eq!(length_of("list.items[2] = arrayLength(&list.items);"), None);
    }
}
