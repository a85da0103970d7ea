//! Bounds on the number of scalars that one invocation writes to each binding.
//!
//! They follow from the number of store instructions, each of which an invocation executes once
//! unless it is in a loop, or in a function that is called more than once.

use crate::memory_access::Access;
use crate::repeated_blocks::repeated_blocks;
use crate::written_resources::written_pointers;
use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::module::{BlockIndex, Instruction, Type, TypeId};
use assay_spirv::reflect::EntryPointUses;
use assay_spirv::tables::Op;
use std::collections::BTreeMap;

/// Bounds of an entry point.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoreBounds {
    /// Bounds by binding; `None` for one that an invocation may write without a known bound.
    by_slot: BTreeMap<Slot, Option<StoreBound>>,
}

/// Largest number of elements that one invocation writes to a binding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoreBound {
    /// Scalars of a buffer.
    pub(crate) scalars: u64,
    /// Texels of an image.
    pub(crate) texels: u64,
}

impl StoreBounds {
    /// Finds the bounds of an entry point. A binding that several variables have, or that is written
    /// in a block that an invocation may execute more than once, has no bound; and none has any if a
    /// written address has no known variable.
    pub(crate) fn find(module: &Module, usage: &EntryPointUses) -> StoreBounds {
        StoreBounds { by_slot: bounds(module, usage).unwrap_or_default() }
    }

    /// Returns the bound of a binding, if it is known.
    pub(crate) fn of(&self, slot: Slot) -> Option<StoreBound> {
        *self.by_slot.get(&Slot { element: 0, ..slot })?
    }
}

fn bounds(module: &Module, usage: &EntryPointUses) -> Option<BTreeMap<Slot, Option<StoreBound>>> {
    let repeated = repeated_blocks(module, usage);
    let (mut bounds, mut variables) = (BTreeMap::new(), BTreeMap::new());
    let functions = usage.functions.iter().filter_map(|f| module.functions().get(*f));
    for block in functions.flat_map(|function| function.blocks.clone()).map(BlockIndex) {
        for i in module.instructions_in(module.block(block).instructions.clone()) {
            let accesses = Access::of(module, i);
            if accesses.is_empty() && written_pointers(module, i).next().is_some() {
                return None;
            }
            for access in accesses.into_iter().filter(|access| access.writes) {
                for memory in access.memory? {
                    let Some(slot) = memory.slot else { continue };
                    let is_only = *variables.entry(slot).or_insert(memory.variable) == memory.variable;
                    let more = written(module, i).filter(|_| is_only && !repeated.contains(&block));
                    let known = bounds.entry(slot).or_insert(Some(StoreBound::default()));
                    *known = known.zip(more).map(|(known, more)| StoreBound {
                        scalars: known.scalars.saturating_add(more.scalars),
                        texels: known.texels.saturating_add(more.texels),
                    });
                }
            }
        }
    }
    Some(bounds)
}

/// Returns the number of elements that a writing instruction writes, if it is known.
fn written(module: &Module, i: Instruction<'_>) -> Option<StoreBound> {
    let scalars = |ty| scalars_of(module, ty).map(|scalars| StoreBound { scalars, texels: 0 });
    match i.op? {
        Op::Store => scalars(module.type_of(i.operand(1)?)?),
        Op::CopyMemory => scalars(module.pointer(module.type_of(i.operand(0)?)?)?.1?),
        Op::ImageWrite | Op::ImageTexelPointer => Some(StoreBound { scalars: 0, texels: 1 }),
        op if op.name().starts_with("OpAtomic") => Some(StoreBound { scalars: 1, texels: 0 }),
        _ => None,
    }
}

/// Returns the number of scalars of a type, if it is known.
fn scalars_of(module: &Module, ty: TypeId) -> Option<u64> {
    match module.ty(ty) {
        Type::Bool | Type::Int { .. } | Type::Float { .. } => Some(1),
        Type::Vector { component, count } => Some(scalars_of(module, *component)?.saturating_mul((*count).into())),
        Type::Matrix { column, count } => Some(scalars_of(module, *column)?.saturating_mul((*count).into())),
        Type::Array { element, length } => {
            let length = u64::try_from(module.constant_int(*length)?).ok()?;
            Some(scalars_of(module, *element)?.saturating_mul(length))
        }
        Type::Struct { .. } => {
            let members = module.members(ty).iter();
            members.map(|member| scalars_of(module, *member)).try_fold(0u64, |all, one| Some(all.saturating_add(one?)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_spirv::reflect::static_uses;

    #[test]
    fn stores_outside_of_loops_are_counted() {
        let bounds = |body: &str| {
            let text = format!(
                "struct Pair {{ one: vec3<f32>, two: array<u32, 5> }}
                @group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
                @group(0) @binding(1) var<storage, read_write> pairs: array<Pair>;
                @group(0) @binding(2) var<storage, read_write> count: atomic<u32>;
                @group(0) @binding(3) var image: texture_storage_2d<rgba8unorm, write>;
                fn put(at: u32) {{ numbers[at] = 1u; }}
                @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {{ {body} }}"
            );
            let module = assay_testkit::wgsl(&text);
            let bounds = StoreBounds::find(&module, &static_uses(&module)[0]);
            [0, 1, 2, 3].map(|binding| bounds.of(Slot::new(0, binding)).map(|of| of.scalars + of.texels))
        };
        assert_eq!(bounds("numbers[i] = 1u; if i > 2u { numbers[i + 1u] = numbers[i]; }"), [Some(2), None, None, None]);
        assert_eq!(bounds("pairs[i] = pairs[i + 1u]; pairs[i].one = vec3(1.0);"), [None, Some(11), None, None]);
        assert_eq!(bounds("numbers[atomicAdd(&count, 1u)] = i;"), [Some(1), None, Some(1), None]);
        assert_eq!(bounds("textureStore(image, vec2(i, 0u), vec4(1.0));"), [None, None, None, Some(1)]);
        assert_eq!(bounds("put(i);"), [Some(1), None, None, None]);
        // An invocation may execute these more often.
        assert_eq!(bounds("put(i); put(i + 1u);"), [None; 4]);
        assert_eq!(bounds("for (var k = 0u; k < i; k++) { numbers[k] = 1u; }"), [None; 4]);
    }
}
