//! Forward dataflow analysis of values that may be undefined, wholly or in part.
//!
//! Each use of such a value may see different bits (SPIR-V specification, `OpUndef`: "Each
//! consumption of Result <id> yields an arbitrary, possibly different bit pattern or abstract
//! value"), so its recorded bits need not be those that an instruction used. Sources are `OpUndef`,
//! and loads from an invocation's own variables that no store certainly precedes. The analysis
//! propagates through operands, stores, calls and returns up to a fixed point; a whole variable is
//! marked if any part of it may be undefined.

use assay_spirv::Module;
use assay_spirv::module::{Dominance, Instruction, InstructionIndex};
use assay_spirv::reflect::EntryPointUses;
use assay_spirv::tables::{Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the ids of values that may be undefined, and of variables and pointer parameters that
/// hold such values, in the functions of an entry point.
pub(super) fn find(module: &Module, usage: &EntryPointUses) -> BTreeSet<u32> {
    let search = UndefSearch::new(module, usage);
    let globals = || module.instructions().take_while(|i| i.op != Some(Op::Function));
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        for i in globals().chain(search.instructions.iter().copied()) {
            search.step(&i, &mut found);
        }
        if found.len() == before {
            return found;
        }
    }
}

struct UndefSearch<'m> {
    module: &'m Module,
    instructions: Vec<Instruction<'m>>,
    /// Stores to whole variables, by the variable.
    stores: BTreeMap<u32, Vec<InstructionIndex>>,
    /// Dominance by the ids of functions.
    dominance: BTreeMap<u32, Dominance>,
}

impl<'m> UndefSearch<'m> {
    fn new(module: &'m Module, usage: &EntryPointUses) -> UndefSearch<'m> {
        let functions = || usage.functions.iter().filter_map(|f| module.functions().get(*f));
        let instructions: Vec<Instruction<'m>> =
            functions().flat_map(|f| module.instructions_in(f.instructions.clone())).collect();
        let mut stores: BTreeMap<u32, Vec<InstructionIndex>> = BTreeMap::new();
        for i in instructions.iter().filter(|i| i.op == Some(Op::Store)) {
            stores.entry(i.operand(0).unwrap_or(0)).or_default().push(i.index);
        }
        let dominance = functions().map(|f| (f.id, module.dominance(f))).collect();
        UndefSearch { module, instructions, stores, dominance }
    }

    /// Adds the ids that become undefined through one instruction.
    fn step(&self, i: &Instruction<'_>, found: &mut BTreeSet<u32>) {
        let operands = self.module.id_operands(*i);
        let given = operands.iter().any(|id| found.contains(id));
        let undefined = match i.op {
            Some(Op::Undef) => true,
            Some(Op::Load) => given || i.operand(0).is_some_and(|pointer| !self.is_initialised(pointer, i.index)),
            Some(Op::FunctionCall) => {
                for (parameter, given) in self.arguments(i) {
                    let empty = self.base(given).is_some() && !self.is_initialised(given, i.index);
                    if empty || found.contains(&given) {
                        found.insert(parameter);
                    }
                    // The callee stores to the caller's variable.
                    if found.contains(&parameter) {
                        found.extend(self.base(given));
                    }
                }
                let called = i.operand(0).and_then(|called| self.module.function(called));
                let body = called.into_iter().flat_map(|f| self.module.instructions_in(f.instructions.clone()));
                let mut returned = body.filter(|i| i.op == Some(Op::ReturnValue)).filter_map(|i| i.operand(0));
                returned.any(|value| found.contains(&value))
            }
            Some(Op::Store | Op::CopyMemory | Op::CopyMemorySized | Op::ExtInst) => {
                let copies = matches!(i.op, Some(Op::CopyMemory | Op::CopyMemorySized));
                if given || copies {
                    found.extend(operands.iter().filter_map(|id| self.base(*id)));
                }
                given
            }
            _ => given,
        };
        found.extend(i.result().filter(|_| undefined));
    }

    /// Returns the parameters of a called function, each with its argument.
    fn arguments(&self, call: &Instruction<'_>) -> impl Iterator<Item = (u32, u32)> {
        let called = call.operand(0).and_then(|called| self.module.function(called));
        let body = called.into_iter().flat_map(|f| self.module.instructions_in(f.instructions.clone()));
        let parameters = body.filter(|i| i.op == Some(Op::FunctionParameter)).filter_map(|i| i.result());
        let given: Vec<u32> = call.operands().iter().skip(1).copied().collect();
        parameters.zip(given)
    }

    /// Returns the variable or parameter that a pointer to an invocation's own memory leads into.
    fn base(&self, mut pointer: u32) -> Option<u32> {
        let (class, _) = self.module.pointer(self.module.type_of(pointer)?)?;
        [StorageClass::Function, StorageClass::Private].contains(&class).then_some(())?;
        loop {
            let definition = self.module.definition_of(pointer)?;
            match definition.op? {
                Op::Variable | Op::FunctionParameter => return Some(pointer),
                Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => pointer = definition.operand(0)?,
                _ => return None,
            }
        }
    }

    /// Returns whether a store to the whole variable certainly precedes the instruction `at`.
    /// Shared memory counts as initialised, because its bits are fixed even if they are unknown.
    fn is_initialised(&self, pointer: u32, at: InstructionIndex) -> bool {
        let Some(base) = self.base(pointer) else {
            let class = self.module.type_of(pointer).and_then(|ty| self.module.pointer(ty)).map(|(class, _)| class);
            return class.is_some_and(|class| ![StorageClass::Function, StorageClass::Private].contains(&class));
        };
        // Parameters are examined at the call.
        let definition = self.module.definition_of(base);
        let initialised = definition.is_some_and(|d| d.op == Some(Op::FunctionParameter) || d.operand(1).is_some());
        initialised || self.stores.get(&base).into_iter().flatten().any(|store| self.precedes(*store, at))
    }

    /// Returns whether every path to `at` passes `first`.
    fn precedes(&self, first: InstructionIndex, at: InstructionIndex) -> bool {
        let [a, b] = [first, at].map(|index| self.module.function_at(index).map(|f| f.id));
        let Some(dominance) = a.filter(|_| a == b).and_then(|function| self.dominance.get(&function)) else {
            return false;
        };
        match (self.module.block_at(first), self.module.block_at(at)) {
            (Some(a), Some(b)) if a == b => first < at,
            (Some(a), Some(b)) => dominance.dominates(a, b),
            _ => false,
        }
    }
}
