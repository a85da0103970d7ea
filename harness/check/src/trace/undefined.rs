//! Values that may be undefined, wholly or in part.
//!
//! Each use of such a value may see other bits (SPIR-V specification, `OpUndef`: "Each consumption of Result <id> yields an arbitrary,
//! possibly different bit pattern or abstract value"), so what is recorded of it need not be what an instruction was given. It begins
//! with `OpUndef` and with loads from an invocation's own variables that nothing has certainly been stored to, and goes where values
//! go.

use assay_spirv::Module;
use assay_spirv::module::{Dominance, Index, Instruction};
use assay_spirv::reflect::Usage;
use assay_spirv::tables::{Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// The ids of values that may be undefined, and of variables and pointer parameters that lead to such, in an entry point's functions.
pub(super) fn find(module: &Module, usage: &Usage) -> BTreeSet<u32> {
    let search = Search::new(module, usage);
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

struct Search<'m> {
    module: &'m Module,
    instructions: Vec<Instruction<'m>>,
    /// Stores to the whole of a variable, by that.
    stores: BTreeMap<u32, Vec<Index>>,
    /// By the functions' ids.
    dominance: BTreeMap<u32, Dominance>,
}

impl<'m> Search<'m> {
    fn new(module: &'m Module, usage: &Usage) -> Search<'m> {
        let functions = || usage.functions.iter().filter_map(|f| module.functions().get(*f));
        let instructions: Vec<Instruction<'m>> =
            functions().flat_map(|f| module.instructions_in(f.instructions.clone())).collect();
        let mut stores: BTreeMap<u32, Vec<Index>> = BTreeMap::new();
        for i in instructions.iter().filter(|i| i.op == Some(Op::Store)) {
            stores.entry(i.operand(0).unwrap_or(0)).or_default().push(i.index);
        }
        let dominance = functions().map(|f| (f.id, module.dominance(f))).collect();
        Search { module, instructions, stores, dominance }
    }

    /// What is found because of an instruction, given what is.
    fn step(&self, i: &Instruction<'_>, found: &mut BTreeSet<u32>) {
        let operands = self.module.id_operands(*i);
        let given = operands.iter().any(|id| found.contains(id));
        let undefined = match i.op {
            Some(Op::Undef) => true,
            Some(Op::Load) => given || i.operand(0).is_some_and(|pointer| !self.begun(pointer, i.index)),
            Some(Op::FunctionCall) => {
                for (parameter, given) in self.passed(i) {
                    let empty = self.base(given).is_some() && !self.begun(given, i.index);
                    if empty || found.contains(&given) {
                        found.insert(parameter);
                    }
                    // What is stored there is stored for the caller.
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

    /// The parameters of a called function with what they are given.
    fn passed(&self, call: &Instruction<'_>) -> impl Iterator<Item = (u32, u32)> {
        let called = call.operand(0).and_then(|called| self.module.function(called));
        let body = called.into_iter().flat_map(|f| self.module.instructions_in(f.instructions.clone()));
        let parameters = body.filter(|i| i.op == Some(Op::FunctionParameter)).filter_map(|i| i.result());
        let given: Vec<u32> = call.operands().iter().skip(1).copied().collect();
        parameters.zip(given)
    }

    /// The variable or parameter that a pointer to what an invocation keeps to itself leads into.
    fn base(&self, mut pointer: u32) -> Option<u32> {
        let (class, _) = self.module.pointer(self.module.type_of(pointer)?)?;
        [StorageClass::Function, StorageClass::Private].contains(&class).then_some(())?;
        loop {
            let definition = self.module.definition_of_word(pointer)?;
            match definition.op? {
                Op::Variable | Op::FunctionParameter => return Some(pointer),
                Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => pointer = definition.operand(0)?,
                _ => return None,
            }
        }
    }

    /// Whether something has certainly been stored to all of the variable that a pointer leads into, before an instruction. What
    /// invocations share is memory, which holds some bits or other.
    fn begun(&self, pointer: u32, at: Index) -> bool {
        let Some(base) = self.base(pointer) else {
            let class = self.module.type_of(pointer).and_then(|ty| self.module.pointer(ty)).map(|(class, _)| class);
            return class.is_some_and(|class| ![StorageClass::Function, StorageClass::Private].contains(&class));
        };
        // Of parameters that is asked where they are given.
        let definition = self.module.definition_of_word(base);
        let begins = definition.is_some_and(|d| d.op == Some(Op::FunctionParameter) || d.operand(1).is_some());
        begins || self.stores.get(&base).into_iter().flatten().any(|store| self.comes_first(*store, at))
    }

    /// Whether whoever comes to `at` has come through `first`.
    fn comes_first(&self, first: Index, at: Index) -> bool {
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
