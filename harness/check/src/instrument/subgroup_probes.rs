//! Probes of operations across the invocations of a subgroup.
//!
//! They are checked in the entry point, outside its selections and loops. There control flow is
//! uniform: an invocation executes the instruction once, together with all others that have not
//! returned (SPIR-V specification, "Uniform Control Flow": a merge block is uniform if its header
//! is). Each invocation records its place in its subgroup. A subgroup in which some invocations did
//! not execute the instruction is not checked.

use super::TraceReader;
use super::emit::{Recorder, builtin};
use super::probes::Probe;
use super::record_layout::{RecordPosition, insertion_point};
use assay_oracle::{SubgroupLayout, SubgroupPosition};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::{BlockIndex, ConstructKind, InstructionIndex};
use assay_spirv::reflect::EntryPointUses;
use assay_spirv::tables::{BuiltIn, Capability, ExecutionModel, Op};
use std::collections::BTreeSet;

/// Place in the row of an invocation's subgroup id; the index in the subgroup and its size follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct SubgroupRecord {
    word: u32,
    /// Word offset of the instruction after which it is recorded.
    pub(super) at: usize,
}

/// Built-ins that an invocation recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubgroupPlace {
    /// `SubgroupId` and `SubgroupLocalInvocationId`.
    pub(crate) position: SubgroupPosition,
    /// `SubgroupSize`.
    pub(crate) size: u32,
}

/// Returns whether a module may read the recorded built-ins.
pub(super) fn has_builtins(module: &Module) -> bool {
    module.declares(Capability::GroupNonUniform)
}

/// Returns whether an operation uses values of other invocations of the subgroup.
pub(super) fn is_subgroup_operation(op: Op) -> bool {
    op.name().starts_with("OpGroupNonUniform")
}

/// Returns whether all invocations that execute an instruction of the entry point do so together,
/// and once.
pub(crate) fn is_uniform(module: &Module, usage: &EntryPointUses, at: InstructionIndex) -> bool {
    // Kernels have unstructured control flow.
    let shader = usage.model == Some(ExecutionModel::GLCompute);
    let Some(function) = module.function_at(at).filter(|f| shader && f.id == usage.function) else { return false };
    let Some(block) = module.block_at(at) else { return false };
    let flow = module.flow(function);
    // The header of a selection belongs to the construct, but is executed before the branch.
    let around = flow.innermost_construct(block).and_then(|innermost| flow.constructs().get(innermost));
    around.is_none_or(|c| c.kind == ConstructKind::Selection && c.header == block && c.parent.is_none())
}

impl SubgroupRecord {
    /// Assigns the words from `next` on.
    pub(super) fn find(module: &Module, usage: &EntryPointUses, next: u32) -> Option<SubgroupRecord> {
        let entry = module.function(usage.function)?.blocks.start;
        Some(SubgroupRecord { word: next, at: insertion_point(module, BlockIndex(entry))?.at })
    }

    /// Returns the first word after them.
    pub(super) fn end(&self) -> u32 {
        self.word + 3
    }

    /// Inserts the code that records it. Returns the input variables that the code reads.
    pub(super) fn record(&self, editor: &mut Editor<'_>, recorder: &Recorder, here: RecordPosition) -> [u32; 3] {
        let mut code = Vec::new();
        let builtins = [BuiltIn::SubgroupId, BuiltIn::SubgroupLocalInvocationId, BuiltIn::SubgroupSize];
        let variables = builtins.map(|which| {
            let variable = builtin(editor, which, recorder.uint);
            (variable, editor.id())
        });
        for (offset, (variable, value)) in (self.word..).zip(variables) {
            code.extend(instruction(Op::Load, &[recorder.uint, value, variable]));
            recorder.word(editor, &mut code, here.base, offset, value);
        }
        editor.insert_after(self.at, &code);
        variables.map(|(variable, _)| variable)
    }
}

impl TraceReader<'_> {
    /// Returns the invocations in whose subgroup some did not execute an instruction.
    pub(super) fn incomplete_subgroups(&self, probe: &Probe, layout: &SubgroupLayout) -> BTreeSet<u64> {
        let rows = &self.instrumented.rows;
        let lanes = self.setup.local.iter().map(|side| *side as usize).product::<usize>().max(1);
        let subgroup = |invocation: u64| {
            let (group, lane) = (invocation as usize / lanes, invocation as usize % lanes);
            (group, layout.seat(group, lanes, lane, self.dispatch.subgroup_size).map(|seat| seat.subgroup))
        };
        let absent = |invocation: &u64| self.word(rows.of_invocation(*invocation).start, probe.executed) == 0;
        let absent: BTreeSet<_> = (0..rows.invocations).filter(absent).map(subgroup).collect();
        (0..rows.invocations).filter(|invocation| absent.contains(&subgroup(*invocation))).collect()
    }

    /// Returns the places of all invocations in their subgroups, by workgroups and local indices;
    /// `None` if they are not recorded.
    pub(crate) fn subgroup_places(&self) -> Option<Vec<SubgroupPlace>> {
        let subgroups = self.instrumented.subgroups?;
        let rows = &self.instrumented.rows;
        let place = |invocation: u64| {
            let row = rows.of_invocation(invocation).start;
            let [subgroup, place, size] = [0, 1, 2].map(|offset| self.word(row, subgroups.word + offset) as u32);
            SubgroupPlace { position: SubgroupPosition { subgroup, place }, size }
        };
        Some((0..rows.invocations).map(place).collect())
    }

    /// Returns the recorded subgroup layout; `None` if it is not recorded, or is impossible.
    pub(super) fn subgroup_layout(&self) -> Option<SubgroupLayout> {
        let positions = self.subgroup_places()?.iter().map(|place| place.position).collect();
        let lanes = self.setup.local.iter().map(|side| *side as usize).product();
        SubgroupLayout::recorded(positions, lanes, self.dispatch.subgroup_size).ok()
    }
}
