//! A module that is written anew, with the ids of the one that it comes from.

use crate::Module;
use crate::edit::instruction;
use crate::grammar::{Category, Kind, Version};
use crate::module::Instruction;
use crate::tables::{Capability, Decoration, Op, StorageClass};
use crate::words::MAGIC;
use std::collections::{BTreeMap, BTreeSet};

/// The parts of the new module.
pub(super) struct Builder<'a> {
    pub(super) module: &'a Module,
    next: u32,
    /// Ids of the module that stand for others now: types that have become equal, values that were looked up.
    same: BTreeMap<u32, u32>,
    /// What was declared, by its words without the result.
    made: BTreeMap<Vec<u32>, u32>,
    capabilities: BTreeSet<u32>,
    modes: Vec<u32>,
    names: Vec<u32>,
    annotations: Vec<u32>,
    globals: Vec<u32>,
    functions: Vec<u32>,
    /// Module-scope variables, all of which an entry point lists from SPIR-V 1.4 on.
    interface: Vec<u32>,
    /// Ids that are declared or made in the new module.
    there: BTreeSet<u32>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(module: &'a Module) -> Builder<'a> {
        Builder {
            module,
            next: module.header().bound,
            same: BTreeMap::new(),
            made: BTreeMap::new(),
            capabilities: BTreeSet::from([Capability::Shader.word()]),
            modes: Vec::new(),
            names: Vec::new(),
            annotations: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            interface: Vec::new(),
            there: BTreeSet::new(),
        }
    }

    /// A new id.
    pub(super) fn id(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// What an id stands for.
    pub(super) fn now(&self, mut word: u32) -> u32 {
        while let Some(other) = self.same.get(&word) {
            word = *other;
        }
        word
    }

    /// From now on the first id stands for the second.
    pub(super) fn stands_for(&mut self, word: u32, other: u32) {
        // What something stands for stands for nothing else then, so that no chain of these is a ring.
        let other = self.now(other);
        if other != word {
            self.same.insert(word, other);
        }
    }

    pub(super) fn capability(&mut self, capability: Capability) {
        self.capabilities.insert(capability.word());
    }

    pub(super) fn mode(&mut self, operands: &[u32]) {
        self.modes.extend(instruction(Op::ExecutionMode, operands));
    }

    pub(super) fn decorate(&mut self, id: u32, decoration: Decoration, operands: &[u32]) {
        let mut all = vec![id, decoration.word()];
        all.extend_from_slice(operands);
        self.annotations.extend(instruction(Op::Decorate, &all));
    }

    pub(super) fn decorate_member(&mut self, id: u32, member: u32, decoration: Decoration, operands: &[u32]) {
        let mut all = vec![id, member, decoration.word()];
        all.extend_from_slice(operands);
        self.annotations.extend(instruction(Op::MemberDecorate, &all));
    }

    /// Gives an id a name for whoever reads the module.
    pub(super) fn name(&mut self, id: u32, name: &str) {
        let mut operands = vec![id];
        operands.extend(text(name));
        self.names.extend(instruction(Op::Name, &operands));
    }

    /// A type without decorations, or a constant; the same again gives the same id.
    pub(super) fn declare(&mut self, op: Op, operands: &[u32]) -> u32 {
        self.declare_as(op, operands, None)
    }

    /// As [`Builder::declare`], with the id that it has in the module, unless it is there already: then that id stands for
    /// the one that is.
    pub(super) fn declare_as(&mut self, op: Op, operands: &[u32], id: Option<u32>) -> u32 {
        let key = instruction(op, operands);
        if let Some(known) = self.made.get(&key).copied() {
            if let Some(id) = id {
                self.stands_for(id, known);
            }
            return known;
        }
        let id = id.unwrap_or_else(|| self.id());
        self.made.insert(key, id);
        self.global(op, operands, id);
        id
    }

    /// A declaration of its own.
    pub(super) fn global(&mut self, op: Op, operands: &[u32], id: u32) {
        let mut all = operands.to_vec();
        all.insert(usize::from(op.info().has_result_type()), id);
        self.globals.extend(instruction(op, &all));
        self.there.insert(id);
    }

    pub(super) fn void(&mut self) -> u32 {
        self.declare(Op::TypeVoid, &[])
    }

    pub(super) fn bool(&mut self) -> u32 {
        self.declare(Op::TypeBool, &[])
    }

    pub(super) fn uint(&mut self, width: u32) -> u32 {
        self.declare(Op::TypeInt, &[width, 0])
    }

    pub(super) fn vector(&mut self, component: u32, count: u32) -> u32 {
        if count == 1 { component } else { self.declare(Op::TypeVector, &[component, count]) }
    }

    pub(super) fn pointer(&mut self, class: StorageClass, to: u32) -> u32 {
        self.declare(Op::TypePointer, &[class.word(), to])
    }

    /// A constant of at most 64 bits.
    pub(super) fn constant(&mut self, ty: u32, width: u32, bits: u64) -> u32 {
        let mut operands = vec![ty, bits as u32];
        if width > 32 {
            operands.push((bits >> 32) as u32);
        }
        self.declare(Op::Constant, &operands)
    }

    /// An unsigned constant of 32 bits.
    pub(super) fn number(&mut self, value: u32) -> u32 {
        let uint = self.uint(32);
        self.constant(uint, 32, u64::from(value))
    }

    /// A variable of module scope, with an id that the module has or a new one.
    pub(super) fn variable(&mut self, class: StorageClass, ty: u32, id: Option<u32>) -> u32 {
        let pointer = self.pointer(class, ty);
        let id = id.unwrap_or_else(|| self.id());
        self.global(Op::Variable, &[pointer, class.word()], id);
        self.interface.push(id);
        id
    }

    /// Puts a variable at a set and binding.
    pub(super) fn bind(&mut self, variable: u32, set: u32, binding: u32) {
        self.decorate(variable, Decoration::DescriptorSet, &[set]);
        self.decorate(variable, Decoration::Binding, &[binding]);
    }

    /// Adds a function's instructions.
    pub(super) fn function(&mut self, words: &[u32]) {
        self.functions.extend_from_slice(words);
    }

    /// An instruction's words with what its ids stand for now; its result stays.
    pub(super) fn rewritten(&self, i: Instruction<'_>) -> Vec<u32> {
        let mut words = i.words.to_vec();
        let _newer = self.module.operands(i, |operand| {
            if matches!(operand.kind.info().category, Category::Id) && operand.kind != Kind::IdResult {
                words[operand.at] = self.now(i.words[operand.at]);
            }
        });
        words
    }

    /// Notes that an id is made in a function.
    pub(super) fn made_in_function(&mut self, id: u32) {
        self.there.insert(id);
    }

    /// Whether an id of the module is in the new one.
    pub(super) fn has(&self, id: u32) -> bool {
        self.there.contains(&id)
    }

    /// The words of the module: `name` and `function` of its entry point.
    pub(super) fn finish(self, version: Version, name: &str, function: u32, model: u32) -> Vec<u32> {
        let mut words = vec![MAGIC, version.word(), 0, self.next, 0];
        for capability in &self.capabilities {
            words.extend(instruction(Op::Capability, &[*capability]));
        }
        // Logical GLSL450.
        words.extend(instruction(Op::MemoryModel, &[0, 1]));
        let mut entry = vec![model, function];
        entry.extend(text(name));
        entry.extend(&self.interface);
        words.extend(instruction(Op::EntryPoint, &entry));
        for part in [self.modes, self.names, self.annotations, self.globals, self.functions] {
            words.extend(part);
        }
        words
    }
}

/// A string's words.
fn text(name: &str) -> Vec<u32> {
    let mut bytes = name.as_bytes().to_vec();
    bytes.resize((name.len() + 1).next_multiple_of(4), 0);
    bytes.as_chunks::<4>().0.iter().map(|chunk| u32::from_le_bytes(*chunk)).collect()
}

/// The instructions of a function that is being written.
#[derive(Default)]
pub(super) struct Code {
    pub(super) words: Vec<u32>,
}

impl Code {
    /// An instruction with a result.
    pub(super) fn op(&mut self, builder: &mut Builder<'_>, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = builder.id();
        self.op_as(op, ty, id, operands);
        id
    }

    /// An instruction whose result has that id.
    pub(super) fn op_as(&mut self, op: Op, ty: u32, id: u32, operands: &[u32]) {
        let mut all = vec![ty, id];
        all.extend_from_slice(operands);
        self.words.extend(instruction(op, &all));
    }

    /// An instruction without a result.
    pub(super) fn run(&mut self, op: Op, operands: &[u32]) {
        self.words.extend(instruction(op, operands));
    }
}
