//! Memory by which the invocations of a shader may observe each other.

use crate::instrument::is_uniform;
use crate::memory_access::{Access, AccessPlace, SharedMemory};
use crate::operand_guards::has_guard;
use crate::own_elements::OwnElements;
use assay_oracle::{FaultKind, PossibleFault, Slot};
use assay_spirv::Module;
use assay_spirv::module::Instruction;
use assay_spirv::reflect::static_uses;
use assay_spirv::tables::Op;
use std::collections::BTreeSet;

/// Memory by which invocations may observe each other.
///
/// A compiler may read memory again where it expects no race, so that an operand of an instruction
/// is not the recorded one. That takes memory which the shader both reads and writes, beyond the
/// elements that are an invocation's own.
pub(crate) struct Communication<'a> {
    module: &'a Module,
    /// Memory that the shader reads and writes, without that of which each invocation accesses its own
    /// elements only; `None` if that is not known.
    memory: Option<Vec<SharedMemory>>,
    /// Set if some invocation may not reach a barrier at which others wait.
    may_miss_barrier: bool,
    /// All accesses to memory that several invocations may access.
    accesses: Vec<Access>,
}

impl<'a> Communication<'a> {
    /// Finds the memory of an entry point in a dispatch with `size` invocations along each axis.
    pub(crate) fn find(module: &'a Module, entry: &str, size: [u32; 3]) -> Communication<'a> {
        let usage = static_uses(module).into_iter().find(|usage| usage.name == entry);
        let functions = || usage.iter().flat_map(|usage| &usage.functions).filter_map(|f| module.functions().get(*f));
        let instructions = || functions().flat_map(|function| module.instructions_in(function.instructions.clone()));
        let accesses: Vec<Access> = instructions().flat_map(|i| Access::of(module, i)).collect();
        let own = OwnElements::new(module, instructions(), size);
        let is_own = |access: &Access| match access.place {
            AccessPlace::Pointer(pointer) => own.has_pointer(pointer),
            AccessPlace::Texel(coordinates) => own.has_texel(coordinates),
        };
        // Memory with whether the element is the invocation's own.
        let all = |wanted: fn(&Access) -> bool| -> Option<BTreeSet<(SharedMemory, bool)>> {
            let wanted = accesses.iter().filter(|access| wanted(access));
            let memories: Option<Vec<_>> = wanted.map(|one| Some((one.memory.as_ref()?, is_own(one)))).collect();
            Some(memories?.into_iter().flat_map(|(all, own)| all.iter().map(move |one| (one.clone(), own))).collect())
        };
        let reads_nothing = !accesses.iter().any(|one| one.reads);
        let written = if reads_nothing { Some(BTreeSet::new()) } else { all(|one| one.writes) };
        let memory = all(|one| one.reads).zip(written).map(|(read, written)| {
            let pairs = read.iter().flat_map(|one| written.iter().map(move |other| (one, other)));
            let is_private = |own, (one, other): (&SharedMemory, &SharedMemory)| own && one.variable == other.variable;
            let communicating = pairs.filter(|((one, is_own), (other, other_is_own))| {
                one.overlaps(other) && !is_private(*is_own && *other_is_own, (one, other))
            });
            communicating.flat_map(|((one, _), (other, _))| [one.clone(), other.clone()]).collect()
        });
        let is_barrier = |i: &Instruction<'_>| i.op == Some(Op::ControlBarrier);
        let reach_all = usage.as_ref().is_some_and(|usage| {
            let function = module.functions().iter().find(|function| function.id == usage.function);
            let within = function.into_iter().flat_map(|f| module.instructions_in(f.instructions.clone()));
            let ends = within.filter(|i| matches!(i.op, Some(Op::Return | Op::Unreachable | Op::Kill)));
            ends.count() <= 1 && instructions().filter(is_barrier).all(|i| is_uniform(module, usage, i.index))
        });
        let may_miss_barrier = !reach_all && instructions().any(|i| is_barrier(&i));
        if size == [1; 3] {
            // There is no other invocation.
            return Communication { module, memory: Some(Vec::new()), may_miss_barrier: false, accesses };
        }
        Communication { module, memory, may_miss_barrier, accesses }
    }

    /// Returns the places at which the shader may access a binding; `None` if they are not known.
    pub(crate) fn places_in(&self, slot: Slot) -> Option<Vec<AccessPlace>> {
        let is_there = |memory: &SharedMemory| memory.slot == Some(Slot { element: 0, ..slot });
        let place = |access: &Access| Some((access.memory.as_ref()?.iter().any(is_there), access.place));
        let places: Option<Vec<_>> = self.accesses.iter().map(place).collect();
        Some(places?.into_iter().filter_map(|(is_there, place)| is_there.then_some(place)).collect())
    }

    /// Returns true if some invocation may not reach a barrier at which others wait.
    pub(crate) fn may_miss_barrier(&self) -> bool {
        self.may_miss_barrier
    }

    /// Returns true if an instruction accesses memory by which invocations may observe each other.
    pub(crate) fn is_observed(&self, i: &Instruction<'_>) -> bool {
        Access::of(self.module, *i).iter().any(|access| !self.is_private(access))
    }

    /// Returns true if invocations do not observe each other by the memory of an access.
    fn is_private(&self, access: &Access) -> bool {
        let observes =
            |memory: &SharedMemory| self.memory.as_ref().is_none_or(|all| all.iter().any(|of| of.overlaps(memory)));
        access.memory.as_ref().is_some_and(|all| !all.iter().any(observes))
    }

    /// Returns true if guards exclude all undefined behaviour, because no invocation observes another one.
    pub(crate) fn can_exclude_all(&self) -> bool {
        !self.may_miss_barrier && self.memory.as_ref().is_some_and(Vec::is_empty)
    }

    /// Returns true if guards exclude undefined behaviour of this kind at this instruction.
    pub(crate) fn can_exclude(&self, fault: &PossibleFault) -> bool {
        use FaultKind::{DataRace, OutOfBounds};
        match fault.kind {
            // An access at an unknown place may race, too.
            Some(OutOfBounds | DataRace) => !self.is_observed(&self.module.instruction(fault.at.instruction)),
            None => self.can_exclude_all(),
            Some(kind) => has_guard(kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_oracle::Place;

    #[test]
    fn memory_that_is_read_and_written_lets_invocations_observe_each_other() {
        let excludes_in = |size: [u32; 3], body: &str| {
            let text = format!(
                "@group(0) @binding(0) var<storage, read_write> out: array<f32>;
                @group(0) @binding(1) var<storage, read> x: array<f32>;
                var<workgroup> group_sum: f32;
                var<private> place: u32 = 0u;
                @compute @workgroup_size(8) fn main(
                    @builtin(local_invocation_index) i: u32,
                    @builtin(global_invocation_id) g: vec3<u32>,
                ) {{ {body} }}"
            );
            let module = assay_testkit::wgsl(&text);
            let communication = Communication::find(&module, "main", size);
            let find = |op: Op| module.instructions().rfind(|i| i.op == Some(op)).unwrap().index;
            let excludes = |kind, instruction| {
                communication.can_exclude(&PossibleFault { kind, at: Place { instruction, line: None } })
            };
            let race = Some(FaultKind::OutOfBounds);
            [excludes(None, find(Op::Store)), excludes(race, find(Op::Store)), excludes(race, find(Op::Load))]
        };
        let excludes = |body: &str| excludes_in([64, 1, 1], body);
        assert_eq!(excludes("out[i] = x[i];"), [true; 3]);
        assert_eq!(excludes("out[i] = out[i + 1u];"), [false; 3]);
        assert_eq!(excludes("out[g.x] = out[g.x] + x[i];"), [true; 3]);
        assert_eq!(excludes("let at = i32(g.x); if x[i] > 1 { out[at] = out[at] + x[i]; }"), [true; 3]);
        assert_eq!(excludes("out[g.x] = out[g.x + 1u] + x[i];"), [false, false, true]);
        assert_eq!(excludes("out[g.x] = out[0] + x[i];"), [false, false, true]);
        assert_eq!(excludes("out[0] = out[1] + x[i];"), [true; 3]);
        assert_eq!(excludes("out[place] = 1; place = g.x; out[place] = out[place] + x[i];"), [false, false, true]);
        // The components of a vector keep their places.
        assert_eq!(excludes("let at = vec2(i, g.x); out[at.x] = out[at.x] + x[i];"), [false, false, true]);
        assert_eq!(excludes("let at = vec2(i, g.x); out[at.y] = out[at.y] + x[i];"), [true; 3]);
        assert_eq!(excludes("var at = g.x; out[at] = 1; at += 1u; out[at] = out[at] + x[i];"), [false, false, true]);
        assert_eq!(excludes("out[i] = out[i] + x[i];"), [false, false, true]);
        assert_eq!(excludes("group_sum = x[i]; out[i] = group_sum;"), [false, true, false]);
        assert_eq!(excludes("workgroupBarrier(); out[i] = x[i];"), [true; 3]);
        assert_eq!(excludes("if i == 0 { workgroupBarrier(); } out[i] = x[i];"), [false, true, true]);
        assert_eq!(excludes("if i == 0 { return; } workgroupBarrier(); out[i] = x[i];"), [false, true, true]);
        // An invocation alone observes no other.
        assert_eq!(excludes_in([1; 3], "workgroupBarrier(); out[i] = out[i + 1u];"), [true; 3]);
    }
}
