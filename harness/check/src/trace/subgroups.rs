//! Operations between the invocations of a subgroup. They are judged in the entry point of a shader, outside its selections and loops:
//! whoever comes there does so once, and with all others that are not gone (SPIR-V specification, Uniform Control Flow: a merge block is
//! uniform if its header is). Which invocations make a subgroup, each of them records; nothing is said of one of which some did not come
//! by.

use super::Reading;
use super::code::{Recorder, builtin};
use super::records::Record;
use super::rows::{Here, start};
use assay_oracle::{Layout, Seat};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::{BlockIndex, ConstructKind, Index};
use assay_spirv::reflect::Usage;
use assay_spirv::tables::{BuiltIn, ExecutionModel, Op};
use std::collections::BTreeSet;

/// Where an invocation records its seat, if it does: the first word of its subgroup and its place there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seats {
    word: u32,
    /// The instruction behind which that is done.
    pub(super) at: usize,
}

/// Whether an operation takes values of other invocations of the subgroup.
pub(super) fn is_between(op: Op) -> bool {
    op.name().starts_with("OpGroupNonUniform")
}

/// Whether invocations come to an instruction of the entry point once and together, if at all.
pub(super) fn is_uniform(module: &Module, usage: &Usage, at: Index) -> bool {
    // Control flow of kernels has no structure.
    let shader = usage.model == Some(ExecutionModel::GLCompute);
    let Some(function) = module.function_at(at).filter(|f| shader && f.id == usage.function) else { return false };
    let Some(block) = module.block_at(at) else { return false };
    let flow = module.flow(function);
    // A header of a selection is inside, and comes before it branches.
    let around = flow.innermost(block).and_then(|innermost| flow.constructs().get(innermost));
    around.is_none_or(|c| c.kind == ConstructKind::Selection && c.header == block && c.parent.is_none())
}

impl Seats {
    /// Recorded from word `next` on.
    pub(super) fn find(module: &Module, usage: &Usage, next: u32) -> Option<Seats> {
        let entry = module.function(usage.function)?.blocks.start;
        Some(Seats { word: next, at: start(module, BlockIndex(entry))?.at })
    }

    /// The first word after them.
    pub(super) fn end(&self) -> u32 {
        self.word + 2
    }

    /// Puts code into the module that records them; the input variables that it reads.
    pub(super) fn record(&self, editor: &mut Editor<'_>, recorder: &Recorder, here: Here) -> [u32; 2] {
        let mut code = Vec::new();
        let variables = [BuiltIn::SubgroupId, BuiltIn::SubgroupLocalInvocationId].map(|which| {
            let variable = builtin(editor, which, recorder.uint);
            (variable, editor.id())
        });
        for (offset, (variable, value)) in (self.word..).zip(variables) {
            code.extend(instruction(Op::Load, &[recorder.uint, value, variable]));
            recorder.word(editor, &mut code, here.base, offset, value);
        }
        editor.after(self.at, &code);
        variables.map(|(variable, _)| variable)
    }
}

impl Reading<'_> {
    /// The invocations in whose subgroup some did not execute an instruction.
    pub(super) fn apart(&self, record: &Record, layout: &Layout) -> BTreeSet<u64> {
        let rows = &self.traced.rows;
        let lanes = self.setup.local.iter().map(|side| *side as usize).product::<usize>().max(1);
        let subgroup = |invocation: u64| {
            let (group, lane) = (invocation as usize / lanes, invocation as usize % lanes);
            (group, layout.seat(group, lanes, lane, self.dispatch.subgroup_size).map(|seat| seat.subgroup))
        };
        let gone = |invocation: &u64| self.word(rows.of(*invocation).start, record.executed) == 0;
        let gone: BTreeSet<_> = (0..rows.invocations).filter(gone).map(subgroup).collect();
        (0..rows.invocations).filter(|invocation| gone.contains(&subgroup(*invocation))).collect()
    }

    /// Which invocations were together; `None` where that is not recorded, or cannot be.
    pub(super) fn layout(&self) -> Option<Layout> {
        let seats = self.traced.seats?;
        let rows = &self.traced.rows;
        let seat = |invocation: u64| {
            let row = rows.of(invocation).start;
            Seat { subgroup: self.word(row, seats.word) as u32, place: self.word(row, seats.word + 1) as u32 }
        };
        let lanes = self.setup.local.iter().map(|side| *side as usize).product();
        Layout::recorded((0..rows.invocations).map(seat).collect(), lanes, self.dispatch.subgroup_size).ok()
    }
}
