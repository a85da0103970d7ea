//! Properties of a module that several rules query, computed once.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::branches::Branches;
use super::opcode_cache::OpcodeCache;
use super::structure::{self, StructureViolation};
use super::type_contents::{TypeContents, contents};
use super::typing::Typing;
use assay_spirv::OperandLayout;
use assay_spirv::grammar::InstructionClass;
use assay_spirv::module::{Dominance, ImageType, Instruction, InstructionIndex, Module, Section, Type, TypeId};
use assay_spirv::reflect::{
    self, EntryPointUses, ExecutionModeUse, Layouts, Modes, TypeLayout, WorkgroupSize, explicit_layout,
};
use assay_spirv::tables::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, ImageOperands, Op, StorageClass,
};

/// Returns whether an id is the result of a constant instruction.
pub(crate) fn is_constant(module: &Module, word: u32) -> bool {
    let op = module.definition_of(word).and_then(|d| d.op);
    op.is_some_and(|op| op.info().class == InstructionClass::ConstantCreation)
}

/// An entry point with its static usage, execution modes and workgroup size.
pub(crate) struct EntryPointFacts<'a> {
    pub(crate) instruction: Instruction<'a>,
    pub(crate) usage: EntryPointUses,
    pub(crate) model: Option<ExecutionModel>,
    pub(crate) modes: Vec<ExecutionModeUse>,
    pub(crate) workgroup_size: Option<WorkgroupSize>,
}

impl EntryPointFacts<'_> {
    pub(crate) fn mode(&self, mode: ExecutionMode) -> Option<&ExecutionModeUse> {
        self.modes.iter().find(|m| m.mode == Some(mode))
    }
}

/// A module-scope variable.
pub(crate) struct ModuleVariable<'a> {
    pub(crate) instruction: Instruction<'a>,
    pub(crate) word: u32,
    pub(crate) class: StorageClass,
    /// Type that the variable points to, and that type with all arrays removed.
    pub(crate) ty: TypeId,
    pub(crate) element: TypeId,
}

/// Use of a variable (by its word) by an entry point (by its index).
#[derive(Clone, Copy)]
struct VariableUse {
    variable: u32,
    entry: u32,
    /// A function that the entry point reaches references the variable.
    statically: bool,
    /// The interface of the entry point lists the variable.
    listed: bool,
}

/// Set of capabilities as a bit set over their words.
#[derive(Debug, Default)]
struct Capabilities(Vec<u64>);

impl Capabilities {
    /// Inserts a capability. Returns whether it was absent.
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

/// A module with the properties that rules query.
pub(crate) struct Facts<'a> {
    /// The module.
    pub(crate) module: &'a Module,
    /// Declared capabilities, and those that they declare implicitly.
    capabilities: Capabilities,
    /// Declared extensions.
    pub(crate) extensions: BTreeSet<String>,
    pub(crate) entries: Vec<EntryPointFacts<'a>>,
    pub(crate) variables: Vec<ModuleVariable<'a>>,
    /// Storage classes of variables and of pointer types, without duplicates; and whether a
    /// variable is an array.
    classes: Vec<StorageClass>,
    pub(crate) has_arrays: bool,
    /// True if the module declares an 8-bit integer type.
    pub(crate) has_byte_type: bool,
    /// True if the module declares a 16-bit integer or float type.
    pub(crate) has_narrow_type: bool,
    pub(crate) addressing_model: Option<AddressingModel>,
    /// For each function, the indices of the entry points that reach it.
    reached_by: Vec<Vec<u32>>,
    /// Uses of variables by entry points, sorted by the variable's word, then by entry point.
    users: OnceCell<Vec<VariableUse>>,
    /// Pairs of the word of a structure and the index of a variable of that structure, sorted.
    by_structure: OnceCell<Vec<(u32, u32)>>,
    structures: OnceCell<Vec<(TypeId, Arc<TypeLayout>)>>,
    contents: Vec<TypeContents>,
    typing: OnceCell<Typing>,
    /// Dominance of each function, by its index.
    dominances: Vec<OnceCell<Dominance>>,
    branches: OnceCell<Branches>,
    /// Violations of the rules for structured control flow.
    structure: OnceCell<Vec<StructureViolation>>,
    /// Results of `capability-declared` and `version-or-extension` for each opcode.
    pub(crate) enabling: OpcodeCache,
}

impl<'a> Facts<'a> {
    /// Computes the properties that are not lazy.
    pub(crate) fn new(module: &'a Module) -> Self {
        let mut capabilities = Capabilities::default();
        let declared = module.section(Section::Capabilities).filter_map(|i| Capability::from_word(i.operand(0)?));
        let mut pending: Vec<Capability> = declared.collect();
        while let Some(capability) = pending.pop() {
            if capabilities.insert(capability) {
                pending.extend(capability.implicitly_declared());
            }
        }
        let extensions = module.section(Section::Extensions).map(|i| module.string_at(i, 0)).collect();
        let usages = reflect::static_uses(module);
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
            .map(|(instruction, usage)| EntryPointFacts {
                instruction,
                model: usage.model,
                modes: modes.of(usage.function).to_vec(),
                workgroup_size: modes.workgroup_size(module, usage.function),
                usage,
            })
            .collect();
        let variables: Vec<ModuleVariable> = module
            .section(Section::Globals)
            .filter(|instruction| matches!(instruction.op, Some(Op::Variable | Op::UntypedVariableKHR)))
            .filter_map(|instruction| {
                let word = instruction.result()?;
                let (class, ty) = reflect::variable(module, word)?;
                let (element, _) = reflect::elements(module, ty);
                Some(ModuleVariable { instruction, word, class, ty, element })
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
            by_structure: OnceCell::new(),
            structures: OnceCell::new(),
            contents: contents(module),
            typing: OnceCell::new(),
            dominances: vec![OnceCell::new(); module.functions().len()],
            branches: OnceCell::new(),
            structure: OnceCell::new(),
            enabling: OpcodeCache::default(),
        }
    }

    /// Summaries of the types, and the type of each value.
    pub(crate) fn typing(&self) -> &Typing {
        self.typing.get_or_init(|| Typing::new(self.module))
    }

    /// Dominance in the function with this index.
    pub(crate) fn dominance(&self, function: usize) -> &Dominance {
        self.dominances[function].get_or_init(|| self.module.dominance(&self.module.functions()[function]))
    }

    /// Branches of all functions.
    pub(crate) fn branches(&self) -> &Branches {
        self.branches.get_or_init(|| Branches::new(self.module))
    }

    /// Violations of the rules for structured control flow.
    pub(crate) fn structure(&self) -> &[StructureViolation] {
        self.structure.get_or_init(|| structure::violations(self.module, self.branches()))
    }

    /// Returns whether a variable or a pointer type has this storage class.
    pub(crate) fn has_class(&self, class: StorageClass) -> bool {
        self.classes.contains(&class)
    }

    /// Returns whether a capability is declared, explicitly or implicitly.
    pub(crate) fn has(&self, capability: Capability) -> bool {
        self.capabilities.contains(capability)
    }

    /// Entry points that reach the function containing an instruction.
    pub(crate) fn entries_at(&self, index: InstructionIndex) -> impl Iterator<Item = &EntryPointFacts<'a>> {
        let functions = self.module.functions();
        let after = functions.partition_point(|f| f.instructions.start <= index.0);
        let reached = after.checked_sub(1).and_then(|f| self.reached_by.get(f));
        reached.into_iter().flatten().filter_map(|entry| self.entries.get(*entry as usize))
    }

    /// Returns whether an entry point with MaximallyReconvergesKHR reaches the function containing
    /// an instruction.
    pub(crate) fn reconverges(&self, index: InstructionIndex) -> bool {
        self.entries_at(index).any(|entry| entry.mode(ExecutionMode::MaximallyReconvergesKHR).is_some())
    }

    /// First execution model that reaches an instruction and that `allowed` rejects.
    pub(crate) fn model_outside(
        &self,
        index: InstructionIndex,
        allowed: impl Fn(ExecutionModel) -> bool,
    ) -> Option<ExecutionModel> {
        self.entries_at(index).filter_map(|entry| entry.model).find(|model| !allowed(*model))
    }

    /// The module-scope variable with this word.
    pub(crate) fn variable(&self, word: u32) -> Option<&ModuleVariable<'a>> {
        let index = self.module.definition_of(word)?.index;
        let place = self.variables.binary_search_by_key(&index, |v| v.instruction.index).ok()?;
        self.variables.get(place)
    }

    /// Module-scope variables whose type is the structure with this word, or an array of it.
    pub(crate) fn variables_of(&self, structure: u32) -> impl Iterator<Item = &ModuleVariable<'a>> {
        let all = self.by_structure.get_or_init(|| {
            let places = (0..).zip(&self.variables);
            let mut all: Vec<_> = places.filter_map(|(i, v)| Some((self.type_word(v.element)?, i))).collect();
            all.sort_unstable();
            all
        });
        let start = all.partition_point(|(word, _)| *word < structure);
        let found = all[start..].iter().take_while(move |(word, _)| *word == structure);
        found.filter_map(|(_, place)| self.variables.get(*place as usize))
    }

    fn users(&self, word: u32) -> &[VariableUse] {
        let all = self.users.get_or_init(|| {
            let mut all = Vec::new();
            for (entry, point) in (0..).zip(&self.entries) {
                let used = point.usage.globals.iter().map(|id| self.module.raw_id(*id));
                let user = |variable, statically| VariableUse { variable, entry, statically, listed: !statically };
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

    fn users_if(&self, word: u32, wanted: fn(&VariableUse) -> bool) -> impl Iterator<Item = &EntryPointFacts<'a>> {
        let users = self.users(word).iter().filter(move |user| wanted(user));
        users.filter_map(|user| self.entries.get(user.entry as usize))
    }

    /// Entry points that use a module-scope variable, statically or by their interface.
    pub(crate) fn entries_using(&self, word: u32) -> impl Iterator<Item = &EntryPointFacts<'a>> {
        self.users_if(word, |_| true)
    }

    /// Returns whether the interface of an entry point lists a variable.
    pub(crate) fn is_listed(&self, word: u32) -> bool {
        self.users(word).iter().any(|user| user.listed)
    }

    /// First execution model whose functions reference a module-scope variable and that `allowed`
    /// rejects. A mere listing in the interface does not count, since the VUIDs speak of use.
    pub(crate) fn static_user_outside(
        &self,
        word: u32,
        allowed: impl Fn(ExecutionModel) -> bool,
    ) -> Option<ExecutionModel> {
        let using = self.users_if(word, |user| user.statically);
        using.filter_map(|entry| entry.model).find(|model| !allowed(*model))
    }

    /// First execution model that references a module-scope variable or lists it in its interface,
    /// and that `allowed` rejects.
    pub(crate) fn user_outside(&self, word: u32, allowed: impl Fn(ExecutionModel) -> bool) -> Option<ExecutionModel> {
        self.entries_using(word).filter_map(|entry| entry.model).find(|model| !allowed(*model))
    }

    /// Structures with an explicit layout, that is those of buffers and push constants with
    /// everything that they contain, in declaration order.
    ///
    /// A type that is only the pointee of a pointer type needs no layout: the rules speak of
    /// variables and of objects behind physical pointers.
    pub(crate) fn structures(&self) -> &[(TypeId, Arc<TypeLayout>)] {
        self.structures.get_or_init(|| {
            // Workgroup variables have a layout if their type is a Block.
            let shared = self.has(Capability::WorkgroupMemoryExplicitLayoutKHR);
            let is_laid_out = |variable: &&ModuleVariable| match variable.class {
                StorageClass::Workgroup => shared && self.type_has(variable.ty, Decoration::Block),
                class => explicit_layout::is_explicit(class),
            };
            let variables = self.variables.iter().filter(is_laid_out).map(|variable| variable.ty);
            let held = explicit_layout::contained_types(self.module, variables.chain(self.behind_physical_pointers()));
            let mut layouts = Layouts::new(self.module);
            let is_struct = |ty: &TypeId| matches!(self.module.ty(*ty), Type::Struct { .. });
            held.into_iter().filter(is_struct).map(|ty| (ty, layouts.type_layout(ty))).collect()
        })
    }

    /// Pointee types of the physical pointers that instructions of functions produce.
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

    pub(crate) fn has_decoration(&self, word: u32, decoration: Decoration) -> bool {
        reflect::has_decoration(self.module, word, decoration)
    }

    pub(crate) fn decoration(&self, word: u32, decoration: Decoration) -> Option<u32> {
        reflect::decoration(self.module, word, decoration)
    }

    /// Returns whether a type is a structure with a decoration.
    pub(crate) fn type_has(&self, ty: TypeId, decoration: Decoration) -> bool {
        self.type_word(ty).is_some_and(|word| self.has_decoration(word, decoration))
    }

    /// Word of the id that declares a type.
    pub(crate) fn type_word(&self, ty: TypeId) -> Option<u32> {
        self.module.type_definition(ty).result()
    }

    /// Built-in that an id is decorated with.
    pub(crate) fn built_in(&self, word: u32) -> Option<BuiltIn> {
        BuiltIn::from_word(self.decoration(word, Decoration::BuiltIn)?)
    }

    pub(crate) fn name(&self, word: u32) -> String {
        self.module.names().display(word)
    }

    /// Image operands mask of an instruction.
    pub(crate) fn image_operands(&self, instruction: Instruction) -> Option<ImageOperands> {
        OperandLayout::of(instruction.op?).image_operands(instruction.words).map(ImageOperands)
    }

    /// Storage class and pointee of an operand that is a pointer.
    pub(crate) fn pointer(&self, word: Option<u32>) -> Option<(StorageClass, Option<TypeId>)> {
        self.module.pointer(self.module.type_of(word?)?)
    }

    /// Image type of an operand that is an image, a sampled image or a pointer to one.
    pub(crate) fn image(&self, word: Option<u32>) -> Option<ImageType> {
        let ty = self.module.type_of(word?)?;
        let ty = self.module.pointer(ty).map_or(Some(ty), |(_, pointee)| pointee)?;
        reflect::image_type(self.module, ty)
    }

    /// Definition from which a pointer, or an object loaded through it, is derived: a variable, a
    /// parameter or another instruction that is not a step of the derivation.
    pub(crate) fn origin(&self, word: u32) -> Option<Instruction<'a>> {
        let mut at = self.module.definition_of(word)?;
        // A pointer that was loaded leads to other memory.
        let is_pointer = |i: &Instruction<'_>| {
            let ty = i.result_type().and_then(|word| self.module.type_declared(word));
            ty.is_some_and(|ty| self.module.pointer(ty).is_some())
        };
        // Definitions precede uses except for phis, which end the walk. The bound is for invalid
        // modules.
        for _ in 0..1_000 {
            let next = match at.op? {
                Op::Load if is_pointer(&at) => return Some(at),
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
            at = self.module.definition_of(next)?;
        }
        None
    }

    /// Storage class of the variable that an object was loaded from.
    pub(crate) fn origin_class(&self, word: Option<u32>) -> Option<StorageClass> {
        let origin = self.origin(word?)?;
        match origin.op? {
            Op::Variable => StorageClass::from_word(origin.operand(0)?),
            _ => Some(self.module.pointer(self.module.type_declared(origin.result_type()?)?)?.0),
        }
    }

    /// Returns whether an id is the result of a constant instruction.
    pub(crate) fn is_constant(&self, word: u32) -> bool {
        is_constant(self.module, word)
    }

    /// Width of a number, or of the components of a vector.
    pub(crate) fn width(&self, ty: TypeId) -> Option<u32> {
        match *self.module.ty(ty) {
            Type::Int { width, .. } | Type::Float { width, .. } => Some(width),
            Type::Vector { component, .. } => self.width(component),
            _ => None,
        }
    }

    /// Contents of a type.
    pub(crate) fn contents(&self, ty: TypeId) -> TypeContents {
        self.contents.get(ty.0 as usize).copied().unwrap_or_default()
    }
}
