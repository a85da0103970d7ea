//! Edits of a module's words, for planted errors, instrumentation and lowering.
//!
//! Ids never change, so an instruction can be identified by its result in every variant of a
//! module.

use crate::Module;
use crate::grammar::V1_3;
use crate::module::{Instruction, Section, Type, TypeId};
use crate::tables::{Decoration, Kind, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Encodes an instruction.
pub fn instruction(op: Op, operands: &[u32]) -> Vec<u32> {
    let mut words = vec![(operands.len() as u32 + 1) << 16 | op as u32];
    words.extend_from_slice(operands);
    words
}

/// Collects edits of a module.
pub struct Editor<'a> {
    module: &'a Module,
    next: u32,
    annotations: Vec<u32>,
    globals: Vec<u32>,
    /// Replacements of instructions, by the instruction's first word.
    replaced: BTreeMap<usize, Vec<u32>>,
    after: BTreeMap<usize, Vec<u32>>,
    /// Results of declarations added so far, by their words without the result.
    made: BTreeMap<Vec<u32>, u32>,
}

impl<'a> Editor<'a> {
    /// Creates an editor without edits.
    pub fn new(module: &'a Module) -> Self {
        Self {
            module,
            next: module.words().get(3).copied().unwrap_or(1),
            annotations: Vec::new(),
            globals: Vec::new(),
            replaced: BTreeMap::new(),
            after: BTreeMap::new(),
            made: BTreeMap::new(),
        }
    }

    /// Returns the module before the edits.
    pub fn module(&self) -> &'a Module {
        self.module
    }

    /// Returns a new id.
    pub fn id(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// Returns the raw id of the first declared type that satisfies `fits`.
    fn declared(&self, fits: impl Fn(&Type) -> bool) -> Option<u32> {
        let (ty, _) = self.module.types().find(|(_, ty)| fits(ty))?;
        self.module.type_definition(ty).result()
    }

    /// Declares a type, or another global with a result but no result type. Equal declarations give
    /// one id.
    pub fn declare(&mut self, op: Op, operands: &[u32]) -> u32 {
        let key = instruction(op, operands);
        if let Some(known) = self.made.get(&key) {
            return *known;
        }
        let id = self.id();
        let mut all = vec![id];
        all.extend_from_slice(operands);
        self.globals.extend(instruction(op, &all));
        self.made.insert(key, id);
        id
    }

    /// Returns an unsigned integer type.
    pub fn uint(&mut self, width: u32) -> u32 {
        let known = self.declared(|ty| *ty == Type::Int { width, signed: false });
        known.unwrap_or_else(|| self.declare(Op::TypeInt, &[width, 0]))
    }

    /// Returns a signed integer type.
    pub fn int(&mut self, width: u32) -> u32 {
        let known = self.declared(|ty| *ty == Type::Int { width, signed: true });
        known.unwrap_or_else(|| self.declare(Op::TypeInt, &[width, 1]))
    }

    /// Returns an IEEE 754 floating-point type.
    pub fn float(&mut self, width: u32) -> u32 {
        let known = self.declared(|ty| *ty == Type::Float { width, encoding: None });
        known.unwrap_or_else(|| self.declare(Op::TypeFloat, &[width]))
    }

    /// Returns the boolean type.
    pub fn bool(&mut self) -> u32 {
        self.declared(|ty| *ty == Type::Bool).unwrap_or_else(|| self.declare(Op::TypeBool, &[]))
    }

    /// Returns a vector type; the component type itself for a count of 1.
    pub fn vector(&mut self, component: u32, count: u32) -> u32 {
        if count == 1 {
            return component;
        }
        let known = self.module.type_declared(component).and_then(|of| {
            self.declared(|ty| matches!(*ty, Type::Vector { component, count: n } if (component, n) == (of, count)))
        });
        known.unwrap_or_else(|| self.declare(Op::TypeVector, &[component, count]))
    }

    /// Returns a pointer type. Pointer types of the module are reused, if any is equal.
    pub fn pointer(&mut self, class: StorageClass, pointee: u32) -> u32 {
        let known = self
            .module
            .type_declared(pointee)
            .and_then(|of| self.declared(|ty| *ty == Type::Pointer { class, pointee: Some(of) }));
        known.unwrap_or_else(|| self.declare(Op::TypePointer, &[class.word(), pointee]))
    }

    /// Returns the void type.
    pub fn void(&mut self) -> u32 {
        self.declared(|ty| *ty == Type::Void).unwrap_or_else(|| self.declare(Op::TypeVoid, &[]))
    }

    /// Returns a function type. Types of the module are reused, if any is equal.
    pub fn function_type(&mut self, returns: u32, parameters: &[u32]) -> u32 {
        let module = self.module;
        let is_equal = |i: &Instruction<'_>| {
            i.op == Some(Op::TypeFunction) && i.operands().split_first() == Some((&returns, parameters))
        };
        let known = module.section(Section::Globals).find(is_equal).and_then(|i| i.result());
        known.unwrap_or_else(|| self.declare(Op::TypeFunction, &[&[returns], parameters].concat()))
    }

    /// Returns a constant of type `ty`, which has `width` bits (at most 64).
    pub fn constant(&mut self, ty: u32, width: u32, bits: u64) -> u32 {
        let mut operands = vec![ty, bits as u32];
        if width > 32 {
            operands.push((bits >> 32) as u32);
        }
        let key = instruction(Op::Constant, &operands);
        if let Some(known) = self.made.get(&key) {
            return *known;
        }
        let id = self.id();
        operands.insert(1, id);
        self.globals.extend(instruction(Op::Constant, &operands));
        self.made.insert(key, id);
        id
    }

    /// Returns a constant vector whose components are all `value`; the value itself for a count of
    /// 1.
    pub fn splat(&mut self, vector: u32, value: u32, count: u32) -> u32 {
        if count == 1 {
            return value;
        }
        let id = self.id();
        let mut operands = vec![vector, id];
        operands.extend(vec![value; count as usize]);
        self.globals.extend(instruction(Op::ConstantComposite, &operands));
        id
    }

    /// Returns a boolean constant.
    pub fn boolean(&mut self, ty: u32, value: bool) -> u32 {
        let op = if value { Op::ConstantTrue } else { Op::ConstantFalse };
        let id = self.id();
        self.globals.extend(instruction(op, &[ty, id]));
        id
    }

    /// Returns a null constant; the same id for the same type.
    pub fn null(&mut self, ty: u32) -> u32 {
        let key = instruction(Op::ConstantNull, &[ty]);
        if let Some(known) = self.made.get(&key) {
            return *known;
        }
        let id = self.id();
        self.globals.extend(instruction(Op::ConstantNull, &[ty, id]));
        self.made.insert(key, id);
        id
    }

    /// Returns a constant composite.
    pub fn composite(&mut self, ty: u32, components: &[u32]) -> u32 {
        let id = self.id();
        let mut operands = vec![ty, id];
        operands.extend_from_slice(components);
        self.globals.extend(instruction(Op::ConstantComposite, &operands));
        id
    }

    /// Redeclares a variable in another storage class, without an initialiser and with a pointer
    /// type of its own. Access chains based on it get matching pointer types.
    pub fn set_storage_class(&mut self, variable: Instruction<'_>, class: StorageClass) {
        let module = self.module;
        let word = variable.result().unwrap_or_default();
        let pointee = module.pointee(variable).unwrap_or_default();
        let pointer = self.id();
        let mut words = instruction(Op::TypePointer, &[pointer, class.word(), pointee]);
        words.extend(instruction(Op::Variable, &[pointer, word, class.word()]));
        self.replace(variable.at, words);
        let is_chain = |i: &Instruction<'_>| matches!(i.op, Some(Op::AccessChain | Op::InBoundsAccessChain));
        for chain in module.instructions().filter(|i| is_chain(i) && i.operand(0) == Some(word)) {
            let mut words = chain.words.to_vec();
            words[1] = self.pointer(class, module.pointee(chain).unwrap_or_default());
            self.replace(chain.at, words);
        }
    }

    /// Removes names and decorations of removed ids, and the ids from the interfaces of entry
    /// points.
    pub fn remove_references(&mut self, gone: &BTreeSet<u32>) {
        let module = self.module;
        for section in [Section::Names, Section::Annotations] {
            for i in module.section(section).filter(|i| i.operand(0).is_some_and(|id| gone.contains(&id))) {
                self.replace(i.at, Vec::new());
            }
        }
        for i in module.section(Section::EntryPoints) {
            // The name ends with the first word that has a zero byte.
            let ends = |word: &u32| word.to_le_bytes().contains(&0);
            let Some(name) = i.words.iter().skip(3).position(ends) else { continue };
            let fixed = 3 + name + 1;
            let mut words = i.words.get(..fixed).unwrap_or_default().to_vec();
            words.extend(i.words.get(fixed..).unwrap_or_default().iter().filter(|id| !gone.contains(id)));
            words[0] = (words.len() as u32) << 16 | Op::EntryPoint as u32;
            self.replace(i.at, words);
        }
    }

    /// Declares a module-scope variable.
    pub fn variable(&mut self, pointer: u32, class: StorageClass) -> u32 {
        let id = self.id();
        self.globals.extend(instruction(Op::Variable, &[pointer, id, class.word()]));
        id
    }

    /// Declares that the module uses an extension.
    pub fn extension(&mut self, name: &str) {
        // The string is null-terminated and padded to whole words.
        let mut bytes = name.as_bytes().to_vec();
        bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
        let operands: Vec<u32> = bytes.chunks(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let words = instruction(Op::Extension, &operands);
        let Some(last) = self.module.section(Section::Capabilities).last() else { return };
        let is_added = self.after.get(&last.at).is_some_and(|after| after.windows(words.len()).any(|w| w == words));
        if !is_added && self.module.instructions().all(|i| i.words != words) {
            self.insert_after(last.at, &words);
        }
    }

    /// Declares a storage buffer `{ element[] }` with a set and binding. The storage class comes from an
    /// extension before SPIR-V 1.3.
    pub fn storage_array(&mut self, element: u32, stride: u32, set: u32, binding: u32) -> u32 {
        if self.module.version() < V1_3 {
            self.extension("SPV_KHR_storage_buffer_storage_class");
        }
        let array = self.id();
        self.globals.extend(instruction(Op::TypeRuntimeArray, &[array, element]));
        let block = self.id();
        self.globals.extend(instruction(Op::TypeStruct, &[block, array]));
        self.annotate(Op::Decorate, &[array, Decoration::ArrayStride.word(), stride]);
        self.annotate(Op::Decorate, &[block, Decoration::Block.word()]);
        self.annotate(Op::MemberDecorate, &[block, 0, Decoration::Offset.word(), 0]);
        let pointer = self.id();
        self.globals.extend(instruction(Op::TypePointer, &[pointer, StorageClass::StorageBuffer.word(), block]));
        let variable = self.variable(pointer, StorageClass::StorageBuffer);
        self.annotate(Op::Decorate, &[variable, Decoration::DescriptorSet.word(), set]);
        self.annotate(Op::Decorate, &[variable, Decoration::Binding.word(), binding]);
        variable
    }

    /// Appends a type, constant or variable to the globals added so far. `operands` includes the
    /// result.
    pub fn append_global(&mut self, op: Op, operands: &[u32]) {
        self.globals.extend(instruction(op, operands));
    }

    /// Adds a decoration.
    pub fn annotate(&mut self, op: Op, operands: &[u32]) {
        self.annotations.extend(instruction(op, operands));
    }

    /// Copies the decorations of one id to another.
    pub fn copy_decorations(&mut self, from: u32, to: u32) {
        let module = self.module;
        for decorated in module.decorations(from).filter(|d| d.member.is_none()) {
            let Some(decoration) = decorated.decoration else { continue };
            let mut operands = vec![to, decoration.word()];
            operands.extend_from_slice(decorated.operands);
            self.annotate(Op::Decorate, &operands);
        }
    }

    /// Lets an instruction define a new id, and inserts code after it that defines the
    /// instruction's result. `define` returns that code for the new id and the result. Nothing
    /// changes if it returns `None`, or if the instruction has no result type.
    pub fn wrap_result(
        &mut self,
        i: &Instruction<'_>,
        define: impl FnOnce(&mut Self, u32, u32) -> Option<Vec<u32>>,
    ) -> Option<()> {
        let (new, result) = (self.id(), i.result_type().and(i.result())?);
        let code = define(self, new, result)?;
        let mut words = i.words.to_vec();
        *words.get_mut(2)? = new;
        self.replace(i.at, words);
        self.copy_decorations(result, new);
        self.insert_after(i.at, &code);
        Some(())
    }

    /// Replaces an instruction. An empty replacement removes it.
    pub fn replace(&mut self, at: usize, words: Vec<u32>) {
        self.replaced.insert(at, words);
    }

    /// Inserts words after an instruction, and after all words inserted there before.
    pub fn insert_after(&mut self, at: usize, words: &[u32]) {
        self.after.entry(at).or_default().extend_from_slice(words);
    }

    /// Adds global variables to an entry point's interface. `others`, which are not inputs or
    /// outputs, are added if the version of SPIR-V requires them.
    pub fn add_to_interface(&mut self, function: u32, inputs: &[u32], others: &[u32]) {
        let module = self.module;
        let header = module.version();
        let all = header >= crate::grammar::Version { major: 1, minor: 4 };
        let entry = module.section(Section::EntryPoints).find(|i| i.operand(1) == Some(function));
        let Some(entry) = entry else { return };
        let mut words = entry.words.to_vec();
        let wanted = inputs.iter().chain(if all { others } else { &[] });
        for id in wanted {
            if !entry.operands().get(2..).is_some_and(|rest| rest.contains(id)) {
                words.push(*id);
            }
        }
        words[0] = (words.len() as u32) << 16 | Op::EntryPoint as u32;
        self.replace(entry.at, words);
    }

    /// Returns the edited words.
    pub fn finish(self) -> Vec<u32> {
        self.rebuild(|_| true)
    }

    /// Returns the edited words with `functions` instead of the module's functions, and without the
    /// instructions that `keep` rejects.
    pub fn finish_with(mut self, functions: &[u32], keep: impl Fn(&Instruction<'_>) -> bool) -> Vec<u32> {
        let module = self.module;
        let first = module.functions().first().map_or(u32::MAX, |f| f.instructions.start);
        self.after.clear();
        let mut words = self.rebuild(|i| i.index.0 < first && keep(i));
        words.extend_from_slice(functions);
        words
    }

    fn rebuild(mut self, keep: impl Fn(&Instruction<'_>) -> bool) -> Vec<u32> {
        let module = self.module;
        let start = |section: Section| module.section(section).next().map(|i| i.at);
        let end = module.words().len();
        // The contents of an empty section go to the start of the next one.
        let functions = module
            .functions()
            .first()
            .and_then(|f| module.instructions_in(f.instructions.clone()).next().map(|i| i.at));
        let globals = start(Section::Globals).or(functions).unwrap_or(end);
        let functions = functions.unwrap_or(end);
        let mut words = module.words().get(..5).unwrap_or_default().to_vec();
        if let Some(bound) = words.get_mut(3) {
            *bound = self.next;
        }
        let (annotations, made) = (std::mem::take(&mut self.annotations), std::mem::take(&mut self.globals));
        let (mut annotated, mut declared) = (false, false);
        for instruction in module.instructions() {
            if instruction.at >= globals && !annotated {
                words.extend_from_slice(&annotations);
                annotated = true;
            }
            if instruction.at >= functions && !declared {
                words.extend_from_slice(&made);
                declared = true;
            }
            if !keep(&instruction) {
                continue;
            }
            match self.replaced.get(&instruction.at) {
                Some(replaced) => words.extend_from_slice(replaced),
                None => words.extend_from_slice(instruction.words),
            }
            if let Some(after) = self.after.get(&instruction.at) {
                words.extend_from_slice(after);
            }
        }
        if !annotated {
            words.extend_from_slice(&annotations);
        }
        if !declared {
            words.extend_from_slice(&made);
        }
        words
    }
}

/// Returns `words`, those of an instruction or a changed copy of them, with some of its ids replaced.
pub fn substituted(module: &Module, i: &Instruction<'_>, mut words: Vec<u32>, with: &BTreeMap<u32, u32>) -> Vec<u32> {
    let _newer = module.operands(*i, |operand| {
        if operand.kind == Kind::IdRef
            && let Some(new) = with.get(&i.words[operand.at])
        {
            words[operand.at] = *new;
        }
    });
    words
}

/// A numeric or boolean scalar or vector type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarOrVector {
    /// The raw id of the type.
    pub ty: u32,
    /// The raw id of the component type.
    pub component: u32,
    /// Kind of a component.
    pub kind: ComponentKind,
    /// Width of a component in bits; 1 for booleans.
    pub width: u32,
    /// Number of components.
    pub count: u32,
}

/// Kind of a numeric or boolean component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComponentKind {
    /// A boolean.
    Bool,
    /// An integer.
    Int {
        /// Set if its type is signed.
        signed: bool,
    },
    /// A float.
    Float,
}

impl ScalarOrVector {
    /// Classifies a type; `None` for other types and encodings.
    pub fn of(module: &Module, ty: TypeId) -> Option<ScalarOrVector> {
        let word = |ty: TypeId| module.type_definition(ty).result();
        let (component, count) = match *module.ty(ty) {
            Type::Vector { component, count } => (component, count),
            _ => (ty, 1),
        };
        let (kind, width) = match *module.ty(component) {
            Type::Bool => (ComponentKind::Bool, 1),
            Type::Int { width, signed } => (ComponentKind::Int { signed }, width),
            Type::Float { width, encoding: None } => (ComponentKind::Float, width),
            _ => return None,
        };
        Some(ScalarOrVector { ty: word(ty)?, component: word(component)?, kind, width, count })
    }

    /// Classifies the type of a value, given by its raw id.
    pub fn of_value(module: &Module, word: u32) -> Option<ScalarOrVector> {
        ScalarOrVector::of(module, module.type_of(word)?)
    }
}
