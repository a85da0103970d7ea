//! Edits that remove instructions from a module.

use assay_spirv::Module;
use assay_spirv::edit::{ComponentKind, Editor, ScalarOrVector, substituted};
use assay_spirv::module::{BlockIndex, Instruction, InstructionIndex, TypeId};
use assay_spirv::tables::{Decoration, Kind, Op};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn functions(module: &Module) -> impl Iterator<Item = Instruction<'_>> {
    module.functions().iter().flat_map(|f| module.instructions_in(f.instructions.clone()))
}

/// Replacement for the result of a removed instruction.
pub(super) enum Replacement {
    /// No replacement: the result is not used.
    Nothing,
    /// Zero.
    Zero(ScalarOrVector),
    /// Another value that was computed before it.
    Id(u32),
}

/// Selects instructions with an effect and without a result.
pub(super) fn effects(_: &Module, i: &Instruction<'_>) -> Option<Replacement> {
    matches!(i.op?, Op::Store | Op::CopyMemory | Op::ControlBarrier | Op::MemoryBarrier | Op::AtomicStore)
        .then_some(Replacement::Nothing)
}

/// Selects instructions whose result a constant can replace.
pub(super) fn values(module: &Module, i: &Instruction<'_>) -> Option<Replacement> {
    computed(module, i).map(|(_, plain)| Replacement::Zero(plain))
}

/// Returns the type of an instruction's result, if it is a computed scalar or vector.
fn computed(module: &Module, i: &Instruction<'_>) -> Option<(TypeId, ScalarOrVector)> {
    if matches!(i.op?, Op::Phi | Op::FunctionParameter | Op::Variable | Op::Label | Op::Function) {
        return None;
    }
    let ty = module.type_of(i.result()?)?;
    Some((ty, ScalarOrVector::of(module, ty)?))
}

/// Selects instructions whose result an operand of the same type can replace, or for a load, the
/// value of an earlier store.
pub(super) fn operands(module: &Module, i: &Instruction<'_>) -> Option<Replacement> {
    let (ty, _) = computed(module, i)?;
    let alike = |id: &u32| module.type_of(*id) == Some(ty);
    if i.op != Some(Op::Load) {
        // Constants have been tried already.
        let computed = |id: &u32| module.definition_of(*id).is_some_and(|d| module.function_at(d.index).is_some());
        return module.id_operands(*i).into_iter().filter(computed).find(alike).map(Replacement::Id);
    }
    let root = |mut pointer: u32| {
        while let Some(chain) = module.definition_of(pointer).filter(|d| d.op == Some(Op::AccessChain)) {
            pointer = chain.operand(0)?;
        }
        Some(pointer)
    };
    let function = module.function_at(i.index)?;
    let flow = module.flow(function);
    let block = |at: u32| {
        let mut blocks = function.blocks.clone().map(BlockIndex);
        blocks.find(|block| module.block(*block).instructions.contains(&at))
    };
    let variable = root(i.operand(0)?)?;
    let before = module.instructions_in(function.instructions.start..i.index.0);
    let mut stored = before.filter(|store| store.op == Some(Op::Store)).filter(|store| {
        let known = store.operand(0).and_then(root) == Some(variable) && store.operand(1).as_ref().is_some_and(alike);
        let dominates = || Some(flow.dominates(block(store.index.0)?, block(i.index.0)?));
        known && dominates() == Some(true)
    });
    stored.next_back()?.operand(1).map(Replacement::Id)
}

/// Returns the module without some instructions, whose results are replaced.
pub(super) fn without(module: &Module, some: &[(u32, Replacement)]) -> Option<Vec<u32>> {
    let mut editor = Editor::new(module);
    let mut with = BTreeMap::new();
    let mut gone = BTreeSet::new();
    for (index, replacement) in some {
        let i = module.instruction(InstructionIndex(*index));
        gone.insert(*index);
        let Some(result) = i.result() else { continue };
        match replacement {
            Replacement::Nothing => {}
            Replacement::Zero(plain) => {
                let zeros = vec![0; plain.count as usize];
                with.insert(result, constant(&mut editor, plain, &zeros)?);
            }
            // Instructions come in the order of the module, so the replacement may have been
            // replaced itself.
            Replacement::Id(id) => _ = with.insert(result, with.get(id).copied().unwrap_or(*id)),
        }
    }
    for i in functions(module) {
        if gone.contains(&i.index.0) {
            editor.replace(i.at, Vec::new());
        } else if !with.is_empty() {
            let words = substituted(module, &i, i.words.to_vec(), &with);
            if words != i.words {
                editor.replace(i.at, words);
            }
        }
    }
    editor.remove_references(&with.keys().copied().collect());
    Some(editor.finish())
}

/// Returns a constant with these bits for each component; `None` if the number of components does
/// not match.
pub(super) fn constant(editor: &mut Editor<'_>, plain: &ScalarOrVector, bits: &[u64]) -> Option<u32> {
    let mut components = Vec::new();
    for bits in bits {
        components.push(match plain.kind {
            ComponentKind::Bool => editor.boolean(plain.component, *bits != 0),
            ComponentKind::Int { signed: true } if plain.width < 32 => {
                let shift = 64 - plain.width;
                editor.constant(plain.component, 32, ((*bits << shift) as i64 >> shift) as u64)
            }
            ComponentKind::Int { .. } | ComponentKind::Float => editor.constant(plain.component, plain.width, *bits),
        });
    }
    match (plain.count, &components[..]) {
        (1, [only]) => Some(*only),
        (count, all) if all.len() == count as usize => Some(editor.composite(plain.ty, all)),
        _ => None,
    }
}

/// Returns the module without unused definitions.
pub(super) fn without_unused(module: &Module) -> Vec<u32> {
    // Uses of ids, except by names and decorations.
    let mut used: BTreeMap<u32, usize> = BTreeMap::new();
    for i in module.instructions() {
        let about = matches!(
            i.op,
            Some(Op::Name | Op::MemberName | Op::Decorate | Op::MemberDecorate | Op::DecorateId | Op::EntryPoint)
        );
        if about || i.op == Some(Op::FunctionEnd) {
            continue;
        }
        let result = i.result();
        let _newer = module.operands(i, |operand| {
            let word = i.words[operand.at];
            let names =
                matches!(operand.kind, Kind::IdRef | Kind::IdScope | Kind::IdMemorySemantics | Kind::IdResultType);
            if names && Some(word) != result {
                *used.entry(word).or_default() += 1;
            }
        });
    }
    let entries: BTreeSet<u32> =
        module.section(assay_spirv::module::Section::EntryPoints).filter_map(|i| i.operand(1)).collect();
    let is_used = |id: u32| used.contains_key(&id) || entries.contains(&id);
    // The constant of the workgroup size takes effect without a use.
    let is_builtin = |id: u32| {
        module.definition_of(id).is_some_and(|d| d.op != Some(Op::Variable))
            && module.decorations(id).any(|d| d.decoration == Some(Decoration::BuiltIn))
    };
    let mut gone: BTreeSet<u32> = BTreeSet::new();
    let mut editor = Editor::new(module);
    let mut drop = |editor: &mut Editor<'_>, i: &Instruction<'_>| {
        gone.extend(i.result());
        editor.replace(i.at, Vec::new());
    };
    for function in module.functions() {
        let unused = !is_used(function.id);
        for i in module.instructions_in(function.instructions.clone()) {
            let pure = i.op.is_some_and(has_no_effect);
            if unused
                || matches!(i.op, Some(Op::Line | Op::NoLine))
                || pure && i.result().is_some_and(|id| !is_used(id))
            {
                drop(&mut editor, &i);
            }
        }
    }
    for i in module.section(assay_spirv::module::Section::Globals) {
        if matches!(i.op, Some(Op::Line | Op::NoLine)) || i.result().is_some_and(|id| !is_used(id) && !is_builtin(id)) {
            drop(&mut editor, &i);
        }
    }
    editor.remove_references(&gone);
    editor.finish()
}

/// Returns whether an instruction can be removed if its result is not used.
fn has_no_effect(op: Op) -> bool {
    let name = op.name();
    let effects = ["OpAtomic", "OpFunction", "OpLabel", "OpGroup", "OpSubgroup", "OpImageWrite", "OpExtInst"];
    op == Op::ExtInst || !effects.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::super::instruction_count;
    use super::*;
    use crate::{Check, Options, ShaderSource};

    #[test]
    fn removing_unused_definitions_keeps_the_module_legal() {
        let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
            fn unused(x: u32) -> u32 { return x * 3u; }
            @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                let y = data[id.x] + 1u;
                data[id.x] = 7u;
            }";
        let shader = ShaderSource::read("a.wgsl", text.as_bytes()).unwrap();
        let mut module = Module::parse(shader.source.module.words().to_vec()).unwrap();
        let before = (instruction_count(&module), module.words().len());
        for _ in 0..10 {
            module = Module::parse(without_unused(&module)).unwrap();
        }
        assert!(instruction_count(&module) < before.0 && module.words().len() < before.1);
        let bytes: Vec<u8> = module.words().iter().flat_map(|word| word.to_le_bytes()).collect();
        let small = ShaderSource::read("a.spv", &bytes).unwrap();
        assert_eq!(small.must_be_legal(false).unwrap(), [""; 0]);
        assert!(Check::new(&small, &Options::default()).is_ok());
        assert!(!module.functions().is_empty() && functions(&module).any(|i| i.op == Some(Op::Store)));
    }
}
