//! What rules ask about a module, found once.

use std::collections::{BTreeSet, HashSet};

use super::Findings;
use crate::grammar::{Class, Kind};
use crate::module::{Decorated, ImageType, Index, Instruction, Module, Section, Type, TypeId};
use crate::reflect::{self, Mode, Usage};
use crate::tables::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, Op, Scope, StorageClass,
};

/// An entry point with what belongs to it.
pub(super) struct Entry<'a> {
    pub(super) instruction: Instruction<'a>,
    pub(super) usage: Usage,
    pub(super) model: Option<ExecutionModel>,
    pub(super) modes: Vec<Mode>,
}

impl Entry<'_> {
    pub(super) fn mode(&self, mode: ExecutionMode) -> Option<&Mode> {
        self.modes.iter().find(|m| m.mode == Some(mode))
    }
}

/// A module-scope variable.
pub(super) struct Variable<'a> {
    pub(super) instruction: Instruction<'a>,
    pub(super) word: u32,
    pub(super) class: StorageClass,
    /// What it points to, and that without its arrays.
    pub(super) ty: TypeId,
    pub(super) element: TypeId,
}

/// What an `IdScope` operand is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeRole {
    Execution,
    Memory,
    Group,
    Clock,
    CooperativeMatrix,
}

/// A module, and what is known of it.
pub struct Facts<'a> {
    /// The module.
    pub module: &'a Module,
    /// Capabilities that are declared, and those that these declare implicitly.
    pub capabilities: HashSet<Capability>,
    /// Extensions that are declared.
    pub extensions: BTreeSet<String>,
    pub(super) entries: Vec<Entry<'a>>,
    pub(super) variables: Vec<Variable<'a>>,
    /// The storage classes of module-scope variables, and whether some variable is an array.
    classes: HashSet<StorageClass>,
    pub(super) has_arrays: bool,
    /// Whether there is an 8-bit integer type.
    pub(super) has_byte_type: bool,
    pub(super) addressing_model: Option<AddressingModel>,
    /// Entry points that reach each function, by their places.
    reached_by: Vec<Vec<usize>>,
}

impl<'a> Facts<'a> {
    /// Finds what rules ask about.
    pub fn new(module: &'a Module) -> Self {
        let mut capabilities = HashSet::new();
        let declared = module.section(Section::Capabilities).filter_map(|i| Capability::from_word(i.operand(0)?));
        let mut waiting: Vec<Capability> = declared.collect();
        while let Some(capability) = waiting.pop() {
            if capabilities.insert(capability) {
                let row = Kind::Capability.enumerant(capability.word());
                waiting.extend(row.map_or(&[][..], |row| row.capabilities));
            }
        }
        let extensions = module.section(Section::Extensions).map(|i| module.string_at(i, 0)).collect();
        let usages = reflect::usages(module);
        let mut reached_by = vec![Vec::new(); module.functions().len()];
        for (i, usage) in usages.iter().enumerate() {
            for function in &usage.functions {
                reached_by[*function].push(i);
            }
        }
        let instructions = module.section(Section::EntryPoints).filter(|i| i.op == Some(Op::EntryPoint));
        let entries = instructions
            .zip(usages)
            .map(|(instruction, usage)| Entry {
                instruction,
                model: usage.model,
                modes: reflect::modes(module, usage.function),
                usage,
            })
            .collect();
        let variables: Vec<Variable> = module
            .section(Section::Globals)
            .filter_map(|instruction| {
                let word = instruction.result()?;
                let (class, ty) = reflect::variable(module, word)?;
                let (element, _) = reflect::elements(module, ty);
                Some(Variable { instruction, word, class, ty, element })
            })
            .collect();
        let model = module.section(Section::MemoryModel).next();
        Facts {
            module,
            capabilities,
            extensions,
            entries,
            classes: variables.iter().map(|v| v.class).collect(),
            has_arrays: variables.iter().any(|v| v.ty != v.element),
            has_byte_type: module.types().any(|(_, ty)| matches!(ty, Type::Int { width: 8, .. })),
            addressing_model: model.and_then(|i| AddressingModel::from_word(i.operand(0)?)),
            variables,
            reached_by,
        }
    }

    /// Whether a module-scope variable is in a storage class.
    pub(super) fn has_class(&self, class: StorageClass) -> bool {
        self.classes.contains(&class)
    }

    /// Whether a capability is declared, be it implicitly.
    pub fn has(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// The entry points that reach the function in which an instruction stands.
    pub(super) fn entries_at(&self, index: Index) -> impl Iterator<Item = &Entry<'a>> {
        let functions = self.module.functions();
        let after = functions.partition_point(|f| f.instructions.start <= index.0);
        let reached = after.checked_sub(1).and_then(|f| self.reached_by.get(f));
        reached.into_iter().flatten().filter_map(|entry| self.entries.get(*entry))
    }

    /// The first execution model in which an instruction is reached and that `allowed` does not hold for.
    pub(super) fn model_outside(
        &self,
        index: Index,
        allowed: impl Fn(ExecutionModel) -> bool,
    ) -> Option<ExecutionModel> {
        self.entries_at(index).filter_map(|entry| entry.model).find(|model| !allowed(*model))
    }

    /// The entry points that use a module-scope id, statically or through their interface.
    pub(super) fn entries_using(&self, word: u32) -> impl Iterator<Item = &Entry<'a>> {
        let id = self.module.id(word);
        self.entries.iter().filter(move |entry| {
            id.is_some_and(|id| entry.usage.globals.contains(&id)) || entry.usage.interface.contains(&word)
        })
    }

    /// The first execution model whose functions name a module-scope id and that `allowed` does not hold for. An
    /// interface that only lists it does not count: the text speaks of use.
    pub(super) fn static_user_outside(
        &self,
        word: u32,
        allowed: impl Fn(ExecutionModel) -> bool,
    ) -> Option<ExecutionModel> {
        let id = self.module.id(word)?;
        let using = self.entries.iter().filter(|entry| entry.usage.globals.contains(&id));
        using.filter_map(|entry| entry.model).find(|model| !allowed(*model))
    }

    /// The first execution model that uses a module-scope id, or lists it in its interface, and that `allowed` does not hold for.
    pub(super) fn user_outside(&self, word: u32, allowed: impl Fn(ExecutionModel) -> bool) -> Option<ExecutionModel> {
        self.entries_using(word).filter_map(|entry| entry.model).find(|model| !allowed(*model))
    }

    /// Every decoration with the word of the id that it is about, groups resolved.
    pub(super) fn decorated(&self) -> impl Iterator<Item = (u32, Decorated<'a>)> {
        self.module.all_decorations()
    }

    pub(super) fn has_decoration(&self, word: u32, decoration: Decoration) -> bool {
        reflect::has_decoration(self.module, word, decoration)
    }

    pub(super) fn decoration(&self, word: u32, decoration: Decoration) -> Option<u32> {
        reflect::decoration(self.module, word, decoration)
    }

    /// Whether the structure that a type is has a decoration.
    pub(super) fn type_has(&self, ty: TypeId, decoration: Decoration) -> bool {
        self.type_word(ty).is_some_and(|word| self.has_decoration(word, decoration))
    }

    /// The word of the id that declares a type.
    pub(super) fn type_word(&self, ty: TypeId) -> Option<u32> {
        self.module.type_definition(ty).result()
    }

    /// What an id or member is as a built-in.
    pub(super) fn built_in(&self, word: u32) -> Option<BuiltIn> {
        BuiltIn::from_word(self.decoration(word, Decoration::BuiltIn)?)
    }

    pub(super) fn name(&self, word: u32) -> String {
        self.module.names().display(word)
    }

    /// The scopes of an instruction's operands that are constants.
    pub(super) fn scopes(&self, instruction: Instruction) -> Vec<(ScopeRole, Scope)> {
        let Some(op) = instruction.op else { return Vec::new() };
        let mut found = Vec::new();
        // Scopes among memory and image operands, which most instructions do without.
        let plain = match op {
            Op::Load => 4,
            Op::Store | Op::CopyMemory => 3,
            Op::ImageRead => 5,
            Op::ImageWrite => 4,
            _ => 0,
        };
        if instruction.words.len() <= plain {
            return found;
        }
        let mut first = true;
        let _newer = self.module.operands(instruction, |operand| {
            if operand.kind != Kind::IdScope {
                return;
            }
            let role = match op {
                Op::ReadClockKHR => ScopeRole::Clock,
                Op::TypeCooperativeMatrixKHR | Op::TypeCooperativeMatrixNV => ScopeRole::CooperativeMatrix,
                Op::ControlBarrier | Op::ControlBarrierArriveEXT | Op::ControlBarrierWaitEXT if first => {
                    ScopeRole::Execution
                }
                _ if matches!(op.info().class, Class::NonUniform | Class::Group) => ScopeRole::Group,
                _ => ScopeRole::Memory,
            };
            first = false;
            let value = self.module.constant_int(instruction.words[operand.at]);
            let scope = value.and_then(|v| u32::try_from(v).ok()).and_then(Scope::from_word);
            found.extend(scope.map(|scope| (role, scope)));
        });
        found
    }

    /// The memory semantics of an instruction's operands that are constants, in order.
    pub(super) fn semantics(&self, instruction: Instruction) -> Vec<u32> {
        let mut found = Vec::new();
        let _newer = self.module.operands(instruction, |operand| {
            if operand.kind == Kind::IdMemorySemantics {
                let value = self.module.constant_int(instruction.words[operand.at]);
                found.extend(value.and_then(|v| u32::try_from(v).ok()));
            }
        });
        found
    }

    /// Storage class and pointee of the pointer that an operand is.
    pub(super) fn pointer(&self, word: Option<u32>) -> Option<(StorageClass, Option<TypeId>)> {
        self.module.pointer(self.module.type_of(word?)?)
    }

    /// The image type of an operand that is an image, a sampled image or a pointer to one.
    pub(super) fn image(&self, word: Option<u32>) -> Option<ImageType> {
        let ty = self.module.type_of(word?)?;
        let ty = self.module.pointer(ty).map_or(Some(ty), |(_, pointee)| pointee)?;
        reflect::image_type(self.module, ty)
    }

    /// The variable (or parameter, or other origin) that a pointer, or an object loaded through one, comes from.
    pub(super) fn origin(&self, word: u32) -> Option<Instruction<'a>> {
        let mut at = self.module.definition_of_word(word)?;
        // Definitions come before their uses but for phis, which end the walk; the bound is for modules that lie.
        for _ in 0..1_000 {
            let next = match at.op? {
                Op::AccessChain
                | Op::InBoundsAccessChain
                | Op::PtrAccessChain
                | Op::InBoundsPtrAccessChain
                | Op::CopyObject
                | Op::CopyLogical
                | Op::Load
                | Op::SampledImage
                | Op::Image
                | Op::ImageTexelPointer => at.operand(0)?,
                Op::UntypedAccessChainKHR | Op::UntypedInBoundsAccessChainKHR => at.operand(1)?,
                _ => return Some(at),
            };
            at = self.module.definition_of_word(next)?;
        }
        None
    }

    /// The storage class of the variable that an object was loaded from.
    pub(super) fn origin_class(&self, word: Option<u32>) -> Option<StorageClass> {
        let origin = self.origin(word?)?;
        match origin.op? {
            Op::Variable => StorageClass::from_word(origin.operand(0)?),
            _ => Some(self.module.pointer(self.module.type_declared(origin.result_type()?)?)?.0),
        }
    }

    /// Whether an id is made by a constant instruction.
    pub(super) fn is_constant(&self, word: u32) -> bool {
        let op = self.module.definition_of_word(word).and_then(|d| d.op);
        op.is_some_and(|op| op.info().class == Class::ConstantCreation)
    }

    /// Width of the number, or of the vector's components, that a type is.
    pub(super) fn width(&self, ty: TypeId) -> Option<u32> {
        match *self.module.ty(ty) {
            Type::Int { width, .. } | Type::Float { width, .. } => Some(width),
            Type::Vector { component, .. } => self.width(component),
            _ => None,
        }
    }

    /// Whether `ty` or something that it holds directly (not through pointers) has the property.
    pub(super) fn contains(&self, ty: TypeId, wanted: &dyn Fn(&Type) -> bool) -> bool {
        let mut seen = HashSet::new();
        let mut waiting = vec![ty];
        while let Some(ty) = waiting.pop() {
            if !seen.insert(ty) {
                continue;
            }
            if wanted(self.module.ty(ty)) {
                return true;
            }
            match *self.module.ty(ty) {
                Type::Vector { component: inner, .. }
                | Type::Matrix { column: inner, .. }
                | Type::Array { element: inner, .. }
                | Type::RuntimeArray { element: inner }
                | Type::SampledImage { image: inner } => waiting.push(inner),
                Type::Struct { .. } => waiting.extend(self.module.members(ty)),
                _ => {}
            }
        }
        false
    }
}

impl Variable<'_> {
    /// Reports the variable.
    pub(super) fn breaks(&self, found: &mut Findings, message: impl Into<String>) {
        found.at(self.instruction, message);
    }
}
