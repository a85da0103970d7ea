//! Undefined behaviour in words.

use crate::Check;
use crate::atomic_failures::element_at;
use crate::chosen_parameters::FaultText;
use crate::fault_kinds::on_one_line;
use crate::instrument;
use crate::memory_access::{Access, SharedMemory};
use crate::open_results::open_operands;
use crate::operand_guards::has_guard;
use crate::provenance::DataFlow;
use crate::selected_access::is_only_selected;
use assay_exec::{Descriptor, Target};
use assay_oracle::{Fault, FaultKind, FaultMemory, Outcome, Place};
use assay_spirv::module::{Instruction, InstructionIndex};
use assay_spirv::tables::{Op, StorageClass};
use std::collections::BTreeSet;

/// Largest number of faults listed.
const FAULTS: usize = 5;

impl Check<'_> {
    /// Returns the first fault on one line.
    pub(crate) fn first_fault(&self, outcome: &Outcome) -> String {
        self.faults(outcome).first().map(|first| on_one_line(first)).unwrap_or_default()
    }

    /// Returns the faults, those first at places that no input changes: they are the shader's own.
    pub(crate) fn ordered_faults<'a>(&self, outcome: &'a Outcome) -> Vec<&'a Fault> {
        let flow = DataFlow::new(&self.shader.source.module);
        let mut faults: Vec<&Fault> = outcome.faults.iter().collect();
        let is_fixed = |fault: &Fault| {
            fault.kind == FaultKind::OutOfBounds && self.has(fault.at) && flow.has_fixed_place(fault.at.instruction)
        };
        faults.sort_by_key(|fault| !is_fixed(fault));
        faults
    }

    /// Returns whether the module of the shader has an instruction, which that of a kernel's call may not.
    fn has(&self, place: Place) -> bool {
        (place.instruction.0 as usize) < self.shader.source.module.len()
    }

    /// Returns the first faults as lines, one of each kind in a line of the source.
    pub(crate) fn faults(&self, outcome: &Outcome) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let is_first = |fault: &&Fault| {
            let binding = fault.memory.map(|memory| match memory {
                FaultMemory::Binding(slot, _) => Some(slot),
                FaultMemory::Workgroup | FaultMemory::Push => None,
            });
            let at = fault.at.line.ok_or(fault.at.instruction);
            seen.insert((at, fault.kind, binding))
        };
        let first = self.ordered_faults(outcome).into_iter().filter(is_first).take(FAULTS);
        let mut lines: Vec<String> = first.map(|fault| self.fault_lines(fault)).collect();
        if let Some(more) = outcome.fault_count.checked_sub(lines.len() as u64).filter(|&more| more > 0) {
            lines.push(format!("  and {more} more"));
        }
        lines
    }

    /// Returns the first fault of a kind on one line, of the first round that has any.
    pub(crate) fn first_fault_of(&self, kind: FaultKind, target: &dyn Target) -> Option<Fault> {
        self.first_in_rounds(target, |outcome| outcome.faults.into_iter().find(|fault| fault.kind == kind))
    }

    /// Returns the first fault that guards and robust access exclude ([`crate::operand_guards`]), of the first
    /// round that has any.
    pub(crate) fn first_guardable_fault(&self, target: &dyn Target) -> Option<Fault> {
        self.first_in_rounds(target, |outcome| outcome.faults.into_iter().find(|fault| has_guard(fault.kind)))
    }

    /// Returns the place of the first possible fault of a kind, of the first round that has any.
    pub(crate) fn first_possible_fault_of(&self, kind: FaultKind, target: &dyn Target) -> Option<Place> {
        let first = |outcome: Outcome| outcome.possible_faults.into_iter().find(|fault| fault.kind == Some(kind));
        self.first_in_rounds(target, first).map(|fault| fault.at)
    }

    /// Returns what is found in the outcome of the first round that has it.
    fn first_in_rounds<T>(&self, target: &dyn Target, find: impl Fn(Outcome) -> Option<T>) -> Option<T> {
        (0..self.setup.rounds).find_map(|round| {
            let mut dispatch = self.dispatch(round, target).ok()?;
            self.put_synthetic_addresses(&mut dispatch);
            dispatch.only = self.chosen_invocations();
            find(self.permitted(&dispatch).ok()?)
        })
    }

    /// Returns the first benign race on one line.
    pub(crate) fn first_benign_race(&self, outcome: &Outcome) -> Option<String> {
        outcome.benign_races.first().map(|race| on_one_line(&self.fault_lines(race)))
    }

    /// Returns a fault as lines.
    fn fault_lines(&self, fault: &Fault) -> String {
        let FaultText { place, what } = self.fault_text(fault);
        format!("  {place}\n    {what}")
    }

    /// Returns a fault in words.
    pub(crate) fn fault_text(&self, fault: &Fault) -> FaultText {
        let [x, y, z] = fault.invocation;
        let place = self.shader.location(fault.at);
        let memory = fault.memory.map_or_else(String::new, |memory| self.accessed(memory));
        let is_selected = self.has(fault.at)
            && fault.kind == FaultKind::OutOfBounds
            && is_only_selected(&self.shader.source.module, fault.at.instruction);
        let selected = if is_selected { SELECTED } else { "" };
        let barriers = match fault.lacks_semantics() {
            true => format!("; {} orders them, too", self.shader.language.memory_barriers()),
            false => String::new(),
        };
        let detail = fault.undefined.and_then(|origin| self.undefined_result(origin));
        let detail = detail.unwrap_or_else(|| fault.detail.clone());
        let other = self.other_accesses(fault);
        let by = format!("invocation {x}, {y}, {z}");
        let by = if detail.starts_with(&by) { String::new() } else { format!(" ({by})") };
        let what = format!("{}{memory}: {detail}{barriers}{other}{by}{selected}", fault.kind);
        FaultText { place, what }
    }

    /// Returns an instruction with an undefined result, its place and the reason, if its text is known.
    fn undefined_result(&self, origin: Place) -> Option<String> {
        let module = &self.shader.source.module;
        let i = self.has(origin).then(|| module.instruction(origin.instruction))?;
        let name = instrument::name(&i);
        let why = open_operands(&i, &name).map_or_else(String::new, |why| format!(" ({why})"));
        Some(format!("the result of {name} at {}{why}", self.shader.location(origin)))
    }

    /// Returns a clause on the lines of a race's other access: those that access the same memory, if
    /// they are few.
    fn other_accesses(&self, fault: &Fault) -> String {
        let Some([_, other_writes]) = fault.writes.filter(|_| self.has(fault.at)) else {
            return String::new();
        };
        let others = self.accesses_like(fault.at.instruction, other_writes);
        // Those without a line are the translator's own, as of zeros in workgroup memory.
        let has_line = |i: &&Instruction<'_>| self.shader.source.position_of(i.at).line.is_some();
        let has_lines = others.iter().any(|i| has_line(&i));
        let mut places: Vec<String> = Vec::new();
        for i in others.iter().filter(|i| has_line(i) || !has_lines) {
            let place = self.shader.location(Place { instruction: i.index, line: None });
            if !places.contains(&place) {
                places.push(place);
            }
        }
        match places.as_slice() {
            [only] if *only == self.shader.location(fault.at) => "; the other access is at the same place".to_owned(),
            [] => String::new(),
            few if few.len() <= OTHER_ACCESSES => format!("; the other access is at {}", few.join(" or ")),
            _ => String::new(),
        }
    }

    /// Returns the instructions that write, or read, the memory that one accesses; those alone that no
    /// barrier in the text parts from it, if there are any. A loop may lead around a barrier.
    fn accesses_like(&self, at: InstructionIndex, writes: bool) -> Vec<Instruction<'_>> {
        let module = &self.shader.source.module;
        let memories = |access: &Access| access.memory.clone().unwrap_or_default();
        let here: Vec<SharedMemory> = Access::of(module, module.instruction(at)).iter().flat_map(memories).collect();
        let overlaps = |access: &Access| {
            let kind = if writes { access.writes } else { access.reads };
            kind && memories(access).iter().any(|there| here.iter().any(|memory| memory.overlaps(there)))
        };
        let reachable = self.program.reachable_instructions();
        let is_other =
            |i: &Instruction<'_>| reachable.contains(&i.index) && Access::of(module, *i).iter().any(overlaps);
        let mut others: Vec<Instruction<'_>> = module.instructions().filter(is_other).collect();
        let barriers = module.instructions().filter(|i| i.op == Some(Op::ControlBarrier)).map(|i| i.index);
        let barriers: Vec<InstructionIndex> = barriers.collect();
        let is_near = |i: &Instruction<'_>| {
            let between = at.min(i.index)..at.max(i.index);
            !barriers.iter().any(|barrier| between.contains(barrier))
        };
        if others.iter().any(is_near) {
            others.retain(is_near);
        }
        others
    }

    /// Returns whether an instruction accesses workgroup memory.
    pub(crate) fn accesses_workgroup(&self, at: Place) -> bool {
        let module = &self.shader.source.module;
        let accesses = if self.has(at) { Access::of(module, module.instruction(at.instruction)) } else { Vec::new() };
        let is_shared = |memory: SharedMemory| {
            let class = module.type_of(memory.variable).and_then(|ty| Some(module.pointer(ty)?.0));
            class == Some(StorageClass::Workgroup)
        };
        accesses.into_iter().filter_map(|access| access.memory).flatten().any(is_shared)
    }

    /// Returns the memory of a fault as part of a sentence.
    fn accessed(&self, memory: FaultMemory) -> String {
        match memory {
            FaultMemory::Workgroup => " on workgroup memory".to_owned(),
            FaultMemory::Push => " on the push constants".to_owned(),
            FaultMemory::Binding(slot, offset) => {
                let descriptor = self.setup.descriptors.iter().find(|d| d.slot == slot);
                let label = descriptor.map_or_else(|| slot.to_string(), Descriptor::label);
                let element = descriptor.and_then(|d| element_at(d, u64::try_from(offset).ok()?));
                format!(" on {label}{}", element.unwrap_or_default())
            }
        }
    }
}

/// Largest number of places of a race's other access that a message names.
const OTHER_ACCESSES: usize = 2;

/// Hint at a faulty access whose value is one alternative of a selection.
const SELECTED: &str = "; the compiler evaluates both alternatives of the selection: choose by `if` instead";
