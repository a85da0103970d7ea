//! Builder of a new module that keeps the ids of an existing one.

use assay_spirv::MAGIC;
use assay_spirv::Module;
use assay_spirv::edit::instruction;
use assay_spirv::grammar::{Kind, OperandEncoding, Version};
use assay_spirv::module::Instruction;
use assay_spirv::tables::{Capability, Decoration, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Sections of the new module.
pub(super) struct Builder<'a> {
    pub(super) module: &'a Module,
    next: u32,
    /// Replacements of the module's ids: types that have become equal, results that are available
    /// under another id.
    replacements: BTreeMap<u32, u32>,
    /// Results of declarations, by their words without the result.
    declarations: BTreeMap<Vec<u32>, u32>,
    capabilities: BTreeSet<u32>,
    modes: Vec<u32>,
    names: Vec<u32>,
    annotations: Vec<u32>,
    globals: Vec<u32>,
    functions: Vec<u32>,
    /// Module-scope variables, all of which SPIR-V 1.4 and later require in the interface.
    interface: Vec<u32>,
    /// Ids defined in the new module.
    defined: BTreeSet<u32>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(module: &'a Module) -> Builder<'a> {
        Builder {
            module,
            next: module.header().bound,
            replacements: BTreeMap::new(),
            declarations: BTreeMap::new(),
            capabilities: BTreeSet::from([Capability::Shader.word()]),
            modes: Vec::new(),
            names: Vec::new(),
            annotations: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            interface: Vec::new(),
            defined: BTreeSet::new(),
        }
    }

    /// Returns a new id.
    pub(super) fn id(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// Returns the id that replaces an id in the new module; the same id if it is not replaced.
    pub(super) fn resolve(&self, mut word: u32) -> u32 {
        while let Some(other) = self.replacements.get(&word) {
            word = *other;
        }
        word
    }

    /// Replaces `word` by `other` from now on.
    pub(super) fn replace_id(&mut self, word: u32, other: u32) {
        // Resolving `other` first prevents cycles.
        let other = self.resolve(other);
        if other != word {
            self.replacements.insert(word, other);
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

    /// Adds a debug name.
    pub(super) fn name(&mut self, id: u32, name: &str) {
        let mut operands = vec![id];
        operands.extend(text(name));
        self.names.extend(instruction(Op::Name, &operands));
    }

    /// Declares a type without decorations, or a constant. Equal declarations give one id.
    pub(super) fn declare(&mut self, op: Op, operands: &[u32]) -> u32 {
        self.declare_as(op, operands, None)
    }

    /// Declares as [`Builder::declare`] does, but under the id `id` of the old module. If an equal
    /// declaration exists, it replaces `id`.
    pub(super) fn declare_as(&mut self, op: Op, operands: &[u32], id: Option<u32>) -> u32 {
        let key = instruction(op, operands);
        if let Some(known) = self.declarations.get(&key).copied() {
            if let Some(id) = id {
                self.replace_id(id, known);
            }
            return known;
        }
        let id = id.unwrap_or_else(|| self.id());
        self.declarations.insert(key, id);
        self.global(op, operands, id);
        id
    }

    /// Adds a declaration with the result `id`, without looking for equal ones.
    pub(super) fn global(&mut self, op: Op, operands: &[u32], id: u32) {
        let mut all = operands.to_vec();
        all.insert(usize::from(op.info().has_result_type()), id);
        self.globals.extend(instruction(op, &all));
        self.defined.insert(id);
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

    /// Declares a constant of at most 64 bits.
    pub(super) fn constant(&mut self, ty: u32, width: u32, bits: u64) -> u32 {
        let mut operands = vec![ty, bits as u32];
        if width > 32 {
            operands.push((bits >> 32) as u32);
        }
        self.declare(Op::Constant, &operands)
    }

    /// Declares an unsigned constant of 32 bits.
    pub(super) fn number(&mut self, value: u32) -> u32 {
        let uint = self.uint(32);
        self.constant(uint, 32, u64::from(value))
    }

    /// Declares a module-scope variable with the given or a new id.
    pub(super) fn variable(&mut self, class: StorageClass, ty: u32, id: Option<u32>) -> u32 {
        let pointer = self.pointer(class, ty);
        let id = id.unwrap_or_else(|| self.id());
        self.global(Op::Variable, &[pointer, class.word()], id);
        self.interface.push(id);
        id
    }

    /// Decorates a variable with set and binding.
    pub(super) fn bind(&mut self, variable: u32, set: u32, binding: u32) {
        self.decorate(variable, Decoration::DescriptorSet, &[set]);
        self.decorate(variable, Decoration::Binding, &[binding]);
    }

    /// Appends the instructions of a function.
    pub(super) fn function(&mut self, words: &[u32]) {
        self.functions.extend_from_slice(words);
    }

    /// Returns an instruction's words with all ids replaced, except for its result.
    pub(super) fn rewritten(&self, i: Instruction<'_>) -> Vec<u32> {
        let mut words = i.words.to_vec();
        let _newer = self.module.operands(i, |operand| {
            if matches!(operand.kind.info().encoding, OperandEncoding::Id) && operand.kind != Kind::IdResult {
                words[operand.at] = self.resolve(i.words[operand.at]);
            }
        });
        words
    }

    /// Records that a function defines an id.
    pub(super) fn define(&mut self, id: u32) {
        self.defined.insert(id);
    }

    /// Returns true if the new module defines an id.
    pub(super) fn has(&self, id: u32) -> bool {
        self.defined.contains(&id)
    }

    /// Returns the words of the new module. `name`, `function` and `model` are those of its entry
    /// point.
    pub(super) fn finish(self, version: Version, name: &str, function: u32, model: u32) -> Vec<u32> {
        let mut words = vec![MAGIC, version.word(), 0, self.next, 0];
        for capability in &self.capabilities {
            words.extend(instruction(Op::Capability, &[*capability]));
        }
        // Addressing model Logical, memory model GLSL450.
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

/// Returns the words of a string.
fn text(name: &str) -> Vec<u32> {
    let mut bytes = name.as_bytes().to_vec();
    bytes.resize((name.len() + 1).next_multiple_of(4), 0);
    bytes.as_chunks::<4>().0.iter().map(|chunk| u32::from_le_bytes(*chunk)).collect()
}

/// Instructions of a function under construction.
#[derive(Default)]
pub(super) struct Code {
    pub(super) words: Vec<u32>,
}

impl Code {
    /// Appends an instruction with a new result, and returns that.
    pub(super) fn op(&mut self, builder: &mut Builder<'_>, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = builder.id();
        self.op_as(op, ty, id, operands);
        id
    }

    /// Appends an instruction with the result `id`.
    pub(super) fn op_as(&mut self, op: Op, ty: u32, id: u32, operands: &[u32]) {
        let mut all = vec![ty, id];
        all.extend_from_slice(operands);
        self.words.extend(instruction(op, &all));
    }

    /// Appends an instruction without a result.
    pub(super) fn emit(&mut self, op: Op, operands: &[u32]) {
        self.words.extend(instruction(op, operands));
    }
}
