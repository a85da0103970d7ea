//! Accesses, divisions and conversions in operands that short-circuit evaluation skips.

use assay_spirv::Module;
use assay_spirv::edit::{Editor, ScalarOrVector, instruction};
use assay_spirv::grammar::InstructionClass;
use assay_spirv::module::{Instruction, Merge};
use assay_spirv::tables::{Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// A boolean, and the value of it without which a result is not used.
type Condition = (u32, bool);

/// Returns the module's words without the loads, integer divisions and conversions to integers that
/// short-circuit evaluation of `?:`, `&&` and `||` skips; `None` if there are none.
///
/// HLSL 2021 evaluates `a[i]` in `i < n ? a[i] : 0` only if `i < n`. glslang follows HLSL 2018: it
/// evaluates both alternatives and selects one, so that the shader may access an element beyond the
/// array, or one that another invocation writes, or divide by zero. A branch skips such a load; zero, which
/// reaches no result, takes the place of its value, and the index of its address is 0. So is a float that is
/// converted to an integer, and the divisor of an integer is 1.
///
/// # Limits
/// The access and the selection are in one block. A load in the header of a loop is not skipped, which no
/// block can precede. Other effects of skipped operands remain.
pub fn with_skipped_accesses(module: &Module) -> Option<Vec<u32>> {
    let conditions = conditions_of_use(module);
    let before = |i: &Instruction<'_>| -> Vec<Condition> {
        let of_result = i.result().and_then(|result| conditions.get(&result));
        // An operand of `&&` that is evaluated after the access does not skip it.
        let is_before = |(id, _): &&Condition| module.definition_of(*id).is_some_and(|of| of.index < i.index);
        of_result.into_iter().flatten().filter(is_before).copied().collect()
    };
    let mut editor = Editor::new(module);
    let mut changed = false;
    for i in module.instructions() {
        changed |= guard(&mut editor, module, i, &before(&i)).is_some();
    }
    let mut ends = BTreeMap::new();
    for function in module.functions() {
        let mut line = Vec::new();
        for i in module.instructions_in(function.instructions.clone()) {
            match i.op {
                Some(Op::Line) => line = i.words.to_vec(),
                Some(Op::NoLine | Op::Label) => line.clear(),
                Some(Op::Load) if i.operand(0).is_some_and(|pointer| is_shared(module, pointer)) => {
                    changed |= skip(&mut editor, module, (i, &line), &before(&i), &mut ends).is_some();
                }
                _ => {}
            }
        }
    }
    redirect_phis(&mut editor, module, &ends);
    changed.then(|| editor.finish())
}

/// Returns whether a pointer leads to memory that invocations share.
fn is_shared(module: &Module, pointer: u32) -> bool {
    use StorageClass::{StorageBuffer, Uniform, Workgroup};
    let class = module.type_of(pointer).and_then(|ty| module.pointer(ty));
    class.is_some_and(|(class, _)| matches!(class, StorageBuffer | Uniform | Workgroup))
}

/// Lets a branch skip a load where one of the conditions does not hold. `line` is the source position of the
/// load as an instruction; `ends` has the label with which each divided block ends, by its own label.
fn skip(
    editor: &mut Editor<'_>,
    module: &Module,
    (load, line): (Instruction<'_>, &[u32]),
    conditions: &[Condition],
    ends: &mut BTreeMap<u32, u32>,
) -> Option<()> {
    let block = module.block(module.block_at(load.index)?);
    let (ty, result, pointer) = (load.result_type()?, load.result()?, load.operand(0)?);
    if matches!(block.merge, Some(Merge::Loop { .. })) || conditions.is_empty() {
        return None;
    }
    let bool = editor.bool();
    let mut words = Vec::new();
    let mut all: Option<u32> = None;
    for (condition, value) in conditions {
        let mut holds = *condition;
        if !value {
            holds = editor.id();
            words.extend(instruction(Op::LogicalNot, &[bool, holds, *condition]));
        }
        all = Some(match all {
            None => holds,
            Some(before) => {
                let both = editor.id();
                words.extend(instruction(Op::LogicalAnd, &[bool, both, before, holds]));
                both
            }
        });
    }
    let [loads, after, loaded] = [(); 3].map(|()| editor.id());
    let null = editor.null(ty);
    let from = ends.insert(block.label, after).unwrap_or(block.label);
    words.extend(instruction(Op::SelectionMerge, &[after, 0]));
    words.extend(instruction(Op::BranchConditional, &[all?, loads, after]));
    words.extend(instruction(Op::Label, &[loads]));
    words.extend(line);
    words.extend(instruction(Op::Load, &[&[ty, loaded, pointer], load.operands().get(1..)?].concat()));
    words.extend(instruction(Op::Branch, &[after]));
    words.extend(instruction(Op::Label, &[after]));
    words.extend(instruction(Op::Phi, &[ty, result, loaded, loads, null, from]));
    words.extend(line);
    editor.replace(load.at, words);
    Some(())
}

/// Lets the phis of the blocks that follow divided ones name the labels with which these end.
fn redirect_phis(editor: &mut Editor<'_>, module: &Module, ends: &BTreeMap<u32, u32>) {
    for phi in module.instructions().filter(|i| i.op == Some(Op::Phi)) {
        let mut words = phi.words.to_vec();
        // The result type and the result precede pairs of a value and a label.
        for parent in words.iter_mut().skip(4).step_by(2) {
            *parent = ends.get(parent).copied().unwrap_or(*parent);
        }
        if words != phi.words {
            editor.replace(phi.at, words);
        }
    }
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

/// Returns the bits of each component of the value that replaces an operand where its instruction is
/// skipped; `None` if the operand can stay.
fn replacement(module: &Module, i: &Instruction<'_>, operand: usize) -> Option<u64> {
    let is_constant = module.constant_int(*i.operands().get(operand)?).is_some();
    match i.op? {
        Op::AccessChain | Op::InBoundsAccessChain if operand > 0 && !is_constant => Some(0),
        Op::SDiv | Op::UDiv | Op::SRem | Op::SMod | Op::UMod if operand == 1 && !is_constant => Some(1),
        Op::ConvertFToS | Op::ConvertFToU => Some(0),
        _ => None,
    }
}

/// Replaces operands of an instruction that may be undefined where one of the conditions does not hold
/// ([`replacement`]); returns `None` if there is nothing to replace.
fn guard(editor: &mut Editor<'_>, module: &Module, i: Instruction<'_>, conditions: &[Condition]) -> Option<()> {
    if conditions.is_empty() {
        return None;
    }
    let mut words = Vec::new();
    let mut operands = vec![i.result_type()?, i.result()?];
    let mut changed = false;
    for (k, operand) in i.operands().iter().enumerate() {
        let mut guarded = *operand;
        if let Some(bits) = replacement(module, &i, k) {
            let ty = ScalarOrVector::of_value(module, *operand)?;
            let one = editor.constant(ty.component, ty.width, bits);
            let (bool, other) = (editor.bool(), editor.splat(ty.ty, one, ty.count));
            let booleans = editor.vector(bool, ty.count);
            for (condition, value) in conditions {
                let mut holds = *condition;
                if ty.count > 1 {
                    holds = editor.id();
                    let parts = vec![*condition; ty.count as usize];
                    words.extend(instruction(Op::CompositeConstruct, &[&[booleans, holds], &parts[..]].concat()));
                }
                let id = editor.id();
                let [yes, no] = if *value { [guarded, other] } else { [other, guarded] };
                words.extend(instruction(Op::Select, &[ty.ty, id, holds, yes, no]));
                guarded = id;
            }
            changed = true;
        }
        operands.push(guarded);
    }
    words.extend(instruction(i.op?, &operands));
    changed.then(|| editor.replace(i.at, words))
}
