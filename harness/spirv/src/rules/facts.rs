//! What rules ask about a module, found once.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::Findings;
use super::capabilities::Opcodes;
use super::contents::{Contents, contents};
use super::operands::Typing;
use super::structure;
use crate::decode::Plan;
use crate::grammar::{Class, Kind};
use crate::module::{BlockIndex, Dominance, ImageType, Index, Instruction, Module, Section, Type, TypeId};
use crate::reflect::{self, Layouts, Mode, Modes, Shape, Usage, WorkgroupSize, explicit};
use crate::tables::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, ImageOperands, Op, StorageClass,
};

/// Whether an id is made by a constant instruction.
pub(super) fn is_constant(module: &Module, word: u32) -> bool {
    let op = module.definition_of_word(word).and_then(|d| d.op);
    op.is_some_and(|op| op.info().class == Class::ConstantCreation)
}

/// An entry point with what belongs to it.
pub(super) struct Entry<'a> {
    pub(super) instruction: Instruction<'a>,
    pub(super) usage: Usage,
    pub(super) model: Option<ExecutionModel>,
    pub(super) modes: Vec<Mode>,
    pub(super) workgroup_size: Option<WorkgroupSize>,
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

/// A variable, by its word, and an entry point, by its place, that names it.
#[derive(Clone, Copy)]
struct User {
    variable: u32,
    entry: u32,
    /// In a function that it reaches.
    statically: bool,
    /// In its interface.
    listed: bool,
}

/// The capabilities of a module, by their words.
#[derive(Debug, Default)]
struct Capabilities(Vec<u64>);

impl Capabilities {
    /// Whether the capability is new.
    fn insert(&mut self, capability: Capability) -> bool {
        let (at, bit) = (capability.word() as usize / 64, 1 << (capability.word() % 64));
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        let new = self.0[at] & bit == 0;
        self.0[at] |= bit;
        new
    }

    fn contains(&self, capability: Capability) -> bool {
        let bits = self.0.get(capability.word() as usize / 64).copied().unwrap_or(0);
        bits >> (capability.word() % 64) & 1 != 0
    }
}

/// A module, and what is known of it.
pub struct Facts<'a> {
    /// The module.
    pub module: &'a Module,
    /// Capabilities that are declared, and those that these declare implicitly.
    capabilities: Capabilities,
    /// Extensions that are declared.
    pub extensions: BTreeSet<String>,
    pub(super) entries: Vec<Entry<'a>>,
    pub(super) variables: Vec<Variable<'a>>,
    /// The storage classes of variables and of pointers' types, each once, and whether some variable is an array.
    classes: Vec<StorageClass>,
    pub(super) has_arrays: bool,
    /// Whether there is an 8-bit integer type.
    pub(super) has_byte_type: bool,
    /// Whether there is a 16-bit number's type.
    pub(super) has_narrow_type: bool,
    pub(super) addressing_model: Option<AddressingModel>,
    /// Entry points that reach each function, by their places.
    reached_by: Vec<Vec<u32>>,
    /// Entry points that use each variable or list it, in the order of the variables' words and then their own.
    users: OnceCell<Vec<User>>,
    /// The word of each structure that variables are of, with their places, in this order.
    of_structure: OnceCell<Vec<(u32, u32)>>,
    structures: OnceCell<Vec<(TypeId, Arc<Shape>)>>,
    contents: Vec<Contents>,
    typing: OnceCell<Typing>,
    /// Dominance in each function, by its place.
    dominances: Vec<OnceCell<Dominance>>,
    /// The branches of all functions, each once: where they lead to, and where from.
    branches: OnceCell<Vec<(BlockIndex, BlockIndex)>>,
    /// What is wrong with the structure of control flow.
    structure: OnceCell<Vec<structure::Broken>>,
    pub(super) opcodes: Opcodes,
}

impl<'a> Facts<'a> {
    /// Finds what rules ask about.
    pub fn new(module: &'a Module) -> Self {
        let mut capabilities = Capabilities::default();
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
                reached_by[*function].push(i as u32);
            }
        }
        let modes = Modes::new(module);
        let instructions = module.section(Section::EntryPoints).filter(|i| i.op == Some(Op::EntryPoint));
        let entries = instructions
            .zip(usages)
            .map(|(instruction, usage)| Entry {
                instruction,
                model: usage.model,
                modes: modes.of(usage.function).to_vec(),
                workgroup_size: modes.workgroup_size(module, usage.function),
                usage,
            })
            .collect();
        let variables: Vec<Variable> = module
            .section(Section::Globals)
            .filter(|instruction| matches!(instruction.op, Some(Op::Variable | Op::UntypedVariableKHR)))
            .filter_map(|instruction| {
                let word = instruction.result()?;
                let (class, ty) = reflect::variable(module, word)?;
                let (element, _) = reflect::elements(module, ty);
                Some(Variable { instruction, word, class, ty, element })
            })
            .collect();
        let mut classes = Vec::new();
        let pointers = module.types().filter_map(|(_, ty)| match ty {
            Type::Pointer { class, .. } => Some(*class),
            _ => None,
        });
        for class in variables.iter().map(|v| v.class).chain(pointers) {
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        let model = module.section(Section::MemoryModel).next();
        Facts {
            module,
            capabilities,
            extensions,
            entries,
            classes,
            has_arrays: variables.iter().any(|v| v.ty != v.element),
            has_byte_type: module.types().any(|(_, ty)| matches!(ty, Type::Int { width: 8, .. })),
            has_narrow_type: module
                .types()
                .any(|(_, ty)| matches!(ty, Type::Int { width: 16, .. } | Type::Float { width: 16, .. })),
            addressing_model: model.and_then(|i| AddressingModel::from_word(i.operand(0)?)),
            variables,
            reached_by,
            users: OnceCell::new(),
            of_structure: OnceCell::new(),
            structures: OnceCell::new(),
            contents: contents(module),
            typing: OnceCell::new(),
            dominances: vec![OnceCell::new(); module.functions().len()],
            branches: OnceCell::new(),
            structure: OnceCell::new(),
            opcodes: Opcodes::default(),
        }
    }

    /// The types as instructions ask for them.
    pub(super) fn typing(&self) -> &Typing {
        self.typing.get_or_init(|| Typing::new(self.module))
    }

    /// Dominance in the function of that place.
    pub(super) fn dominance(&self, function: usize) -> &Dominance {
        self.dominances[function].get_or_init(|| self.module.dominance(&self.module.functions()[function]))
    }

    /// The branches that lead to a block.
    pub(super) fn parents(&self, block: BlockIndex) -> &[(BlockIndex, BlockIndex)] {
        let module = self.module;
        let all = self.branches.get_or_init(|| {
            let mut all = Vec::new();
            for (from, of) in (0..).map(BlockIndex).zip(module.blocks()) {
                all.extend(module.targets(of).into_iter().filter_map(|word| Some((module.block_of(word)?, from))));
            }
            all.sort_unstable();
            all.dedup();
            all
        });
        let rest = &all[all.partition_point(|(to, _)| *to < block)..];
        &rest[..rest.partition_point(|(to, _)| *to == block)]
    }

    /// What is wrong with the structure of control flow.
    pub(super) fn structure(&self) -> &[structure::Broken] {
        self.structure.get_or_init(|| structure::broken(self))
    }

    /// Whether a variable or a pointer's type is in a storage class.
    pub(super) fn has_class(&self, class: StorageClass) -> bool {
        self.classes.contains(&class)
    }

    /// Whether a capability is declared, be it implicitly.
    pub fn has(&self, capability: Capability) -> bool {
        self.capabilities.contains(capability)
    }

    /// The entry points that reach the function in which an instruction stands.
    pub(super) fn entries_at(&self, index: Index) -> impl Iterator<Item = &Entry<'a>> {
        let functions = self.module.functions();
        let after = functions.partition_point(|f| f.instructions.start <= index.0);
        let reached = after.checked_sub(1).and_then(|f| self.reached_by.get(f));
        reached.into_iter().flatten().filter_map(|entry| self.entries.get(*entry as usize))
    }

    /// Whether an entry point that reconverges maximally reaches the function in which an instruction stands.
    pub(super) fn reconverges(&self, index: Index) -> bool {
        self.entries_at(index).any(|entry| entry.mode(ExecutionMode::MaximallyReconvergesKHR).is_some())
    }

    /// The first execution model in which an instruction is reached and that `allowed` does not hold for.
    pub(super) fn model_outside(
        &self,
        index: Index,
        allowed: impl Fn(ExecutionModel) -> bool,
    ) -> Option<ExecutionModel> {
        self.entries_at(index).filter_map(|entry| entry.model).find(|model| !allowed(*model))
    }

    /// The module-scope variable of that word.
    pub(super) fn variable(&self, word: u32) -> Option<&Variable<'a>> {
        let index = self.module.definition_of_word(word)?.index;
        let place = self.variables.binary_search_by_key(&index, |v| v.instruction.index).ok()?;
        self.variables.get(place)
    }

    /// The module-scope variables that are the structure of that word, or arrays of it.
    pub(super) fn variables_of(&self, structure: u32) -> impl Iterator<Item = &Variable<'a>> {
        let all = self.of_structure.get_or_init(|| {
            let places = (0..).zip(&self.variables);
            let mut all: Vec<_> = places.filter_map(|(i, v)| Some((self.type_word(v.element)?, i))).collect();
            all.sort_unstable();
            all
        });
        let start = all.partition_point(|(word, _)| *word < structure);
        let found = all[start..].iter().take_while(move |(word, _)| *word == structure);
        found.filter_map(|(_, place)| self.variables.get(*place as usize))
    }

    fn users(&self, word: u32) -> &[User] {
        let all = self.users.get_or_init(|| {
            let mut all = Vec::new();
            for (entry, point) in (0..).zip(&self.entries) {
                let used = point.usage.globals.iter().map(|id| self.module.word(*id));
                let user = |variable, statically| User { variable, entry, statically, listed: !statically };
                all.extend(used.filter(|word| self.variable(*word).is_some()).map(|word| user(word, true)));
                all.extend(point.usage.interface.iter().map(|word| user(*word, false)));
            }
            all.sort_unstable_by_key(|user| (user.variable, user.entry));
            all.dedup_by(|user, kept| {
                let same = (user.variable, user.entry) == (kept.variable, kept.entry);
                if same {
                    kept.statically |= user.statically;
                    kept.listed |= user.listed;
                }
                same
            });
            all
        });
        let start = all.partition_point(|user| user.variable < word);
        let rest = &all[start..];
        &rest[..rest.partition_point(|user| user.variable == word)]
    }

    fn users_if(&self, word: u32, wanted: fn(&User) -> bool) -> impl Iterator<Item = &Entry<'a>> {
        let users = self.users(word).iter().filter(move |user| wanted(user));
        users.filter_map(|user| self.entries.get(user.entry as usize))
    }

    /// The entry points that use a module-scope variable, statically or through their interface.
    pub(super) fn entries_using(&self, word: u32) -> impl Iterator<Item = &Entry<'a>> {
        self.users_if(word, |_| true)
    }

    /// Whether an interface lists a variable.
    pub(super) fn is_listed(&self, word: u32) -> bool {
        self.users(word).iter().any(|user| user.listed)
    }

    /// The first execution model whose functions name a module-scope variable and that `allowed` does not hold for. An
    /// interface that only lists it does not count: the text speaks of use.
    pub(super) fn static_user_outside(
        &self,
        word: u32,
        allowed: impl Fn(ExecutionModel) -> bool,
    ) -> Option<ExecutionModel> {
        let using = self.users_if(word, |user| user.statically);
        using.filter_map(|entry| entry.model).find(|model| !allowed(*model))
    }

    /// The first execution model that uses a module-scope variable, or lists it in its interface, and that `allowed` does not
    /// hold for.
    pub(super) fn user_outside(&self, word: u32, allowed: impl Fn(ExecutionModel) -> bool) -> Option<ExecutionModel> {
        self.entries_using(word).filter_map(|entry| entry.model).find(|model| !allowed(*model))
    }

    /// The structures that are laid out explicitly, those of buffers and push constants and what they hold, in the order of
    /// their declarations.
    ///
    /// A type that only pointers in a storage class point to is not asked for a layout: the rules speak of variables, and of
    /// the objects behind physical pointers.
    pub(super) fn structures(&self) -> &[(TypeId, Arc<Shape>)] {
        self.structures.get_or_init(|| {
            // Workgroup memory has a layout where its structures are blocks.
            let shared = self.has(Capability::WorkgroupMemoryExplicitLayoutKHR);
            let is_laid_out = |variable: &&Variable| match variable.class {
                StorageClass::Workgroup => shared && self.type_has(variable.ty, Decoration::Block),
                class => explicit::is_explicit(class),
            };
            let variables = self.variables.iter().filter(is_laid_out).map(|variable| variable.ty);
            let held = explicit::held(self.module, variables.chain(self.behind_physical_pointers()));
            let mut layouts = Layouts::new(self.module);
            let is_struct = |ty: &TypeId| matches!(self.module.ty(*ty), Type::Struct { .. });
            held.into_iter().filter(is_struct).map(|ty| (ty, layouts.shape(ty))).collect()
        })
    }

    /// The types that physical pointers point to, as far as an instruction makes such a pointer.
    fn behind_physical_pointers(&self) -> BTreeSet<TypeId> {
        if !self.has_class(StorageClass::PhysicalStorageBuffer) {
            return BTreeSet::new();
        }
        let pointee = |instruction: Instruction| {
            let made = self.module.type_declared(instruction.result_type()?)?;
            let (class, pointee) = self.module.pointer(made)?;
            pointee.filter(|_| class == StorageClass::PhysicalStorageBuffer)
        };
        self.module.section(Section::Functions).filter_map(pointee).collect()
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

    /// The image operands of an instruction.
    pub(super) fn image_operands(&self, instruction: Instruction) -> Option<ImageOperands> {
        Plan::of(instruction.op?).image_operands(instruction.words).map(ImageOperands)
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
        is_constant(self.module, word)
    }

    /// Width of the number, or of the vector's components, that a type is.
    pub(super) fn width(&self, ty: TypeId) -> Option<u32> {
        match *self.module.ty(ty) {
            Type::Int { width, .. } | Type::Float { width, .. } => Some(width),
            Type::Vector { component, .. } => self.width(component),
            _ => None,
        }
    }

    /// What a type is made of.
    pub(super) fn contents(&self, ty: TypeId) -> Contents {
        self.contents.get(ty.0 as usize).copied().unwrap_or_default()
    }
}

impl Variable<'_> {
    /// Reports the variable.
    pub(super) fn breaks(&self, found: &mut Findings, message: impl Into<String>) {
        found.at(self.instruction, message);
    }
}
