//! Accesses in operands that short-circuit evaluation skips.

use assay_spirv::Module;
use assay_spirv::edit::{ComponentKind, Editor, ScalarOrVector, instruction};
use assay_spirv::grammar::InstructionClass;
use assay_spirv::module::Instruction;
use assay_spirv::tables::Op;
use std::collections::{BTreeMap, BTreeSet};

/// A boolean, and the value of it without which a result is not used.
type Condition = (u32, bool);

/// Returns the module's words with index 0 in the accesses that short-circuit evaluation of `?:`,
/// `&&` and `||` skips; `None` if there are none.
///
/// HLSL 2021 evaluates `a[i]` in `i < n ? a[i] : 0` only if `i < n`. glslang follows HLSL 2018: it
/// evaluates both alternatives and selects one, so that the shader may access an element beyond the
/// array. The element with index 0, loaded in its place, reaches no result.
///
/// # Limits
/// The access and the selection are in one block. Other effects of skipped operands remain.
pub fn with_skipped_accesses(module: &Module) -> Option<Vec<u32>> {
    let conditions = conditions_of_use(module);
    let mut editor = Editor::new(module);
    let mut changed = false;
    for access in module.instructions().filter(|i| matches!(i.op, Some(Op::AccessChain | Op::InBoundsAccessChain))) {
        let conditions = access.result().and_then(|chain| conditions.get(&chain));
        // An operand of `&&` that is evaluated after the access does not skip it.
        let is_before = |(id, _): &&Condition| module.definition_of(*id).is_some_and(|i| i.index < access.index);
        let before: Vec<Condition> = conditions.into_iter().flatten().filter(is_before).copied().collect();
        changed |= guard(&mut editor, module, access, &before).is_some();
    }
    changed.then(|| editor.finish())
}

/// Returns for each value of a function the conditions that all its uses have in common.
fn conditions_of_use(module: &Module) -> BTreeMap<u32, BTreeSet<Condition>> {
    let mut all: BTreeMap<u32, BTreeSet<Condition>> = BTreeMap::new();
    // A phi may use a value that is defined after it.
    for phi in module.instructions().filter(|i| i.op == Some(Op::Phi)) {
        module.uses(phi, |used| _ = all.insert(used, BTreeSet::new()));
    }
    // Other uses follow the definition.
    for user in module.functions().iter().flat_map(|f| module.instructions_in(f.instructions.clone())).rev() {
        let of_result = user.result().filter(|_| has_no_effect(&user)).and_then(|result| all.get(&result));
        let inherited = of_result.cloned().unwrap_or_default();
        module.uses(user, |used| {
            let is_same_block = module
                .definition_of(used)
                .is_some_and(|definition| module.block_at(definition.index) == module.block_at(user.index));
            let mut conditions = inherited.clone();
            conditions.extend(condition_of_use(module, &user, used));
            conditions.retain(|_| is_same_block);
            all.entry(used).and_modify(|common| common.retain(|c| conditions.contains(c))).or_insert(conditions);
        });
    }
    all
}

/// Returns the condition under which an instruction uses an operand.
fn condition_of_use(module: &Module, user: &Instruction<'_>, used: u32) -> Option<Condition> {
    let (condition, value) = match (user.op, user.operands()) {
        (Some(Op::Select), [condition, yes, no]) if *condition != used && yes != no => (*condition, used == *yes),
        (Some(Op::LogicalAnd), [first, second]) if first != second && *second == used => (*first, true),
        (Some(Op::LogicalOr), [first, second]) if first != second && *second == used => (*first, false),
        _ => return None,
    };
    // The condition of a vector differs by component.
    (ScalarOrVector::of_value(module, condition)?.count == 1).then_some((condition, value))
}

/// Returns true if an instruction does nothing but compute its result.
fn has_no_effect(i: &Instruction<'_>) -> bool {
    use InstructionClass::{Arithmetic, Bit, Composite, Conversion, RelationalAndLogical};
    let is_access = matches!(i.op, Some(Op::Load | Op::AccessChain | Op::InBoundsAccessChain));
    let class = i.op.map(|op| op.info().class);
    is_access || class.is_some_and(|c| [Arithmetic, Bit, Composite, Conversion, RelationalAndLogical].contains(&c))
}

/// Replaces the dynamic indices of an access by 0 where one of the conditions does not hold; returns
/// `None` if there is nothing to replace.
fn guard(editor: &mut Editor<'_>, module: &Module, access: Instruction<'_>, conditions: &[Condition]) -> Option<()> {
    if conditions.is_empty() {
        return None;
    }
    let (base, indices) = access.operands().split_first()?;
    let mut words = Vec::new();
    let mut operands = vec![access.result_type()?, access.result()?, *base];
    let mut changed = false;
    for index in indices {
        let ty = ScalarOrVector::of_value(module, *index)?;
        let mut guarded = *index;
        if module.constant_int(*index).is_none() && matches!(ty.kind, ComponentKind::Int { .. }) {
            let zero = editor.constant(ty.component, ty.width, 0);
            for (condition, value) in conditions {
                let id = editor.id();
                let [yes, no] = if *value { [guarded, zero] } else { [zero, guarded] };
                words.extend(instruction(Op::Select, &[ty.ty, id, *condition, yes, no]));
                guarded = id;
            }
            changed = true;
        }
        operands.push(guarded);
    }
    words.extend(instruction(access.op?, &operands));
    editor.replace(access.at, words);
    changed.then_some(())
}
