//! The interface of a module as a host program needs it: entry points, bindings, push constants,
//! specialisation constants.

pub mod explicit_layout;
mod layout;
mod modes;
mod usage;

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

pub use layout::{Layouts, Member, StructureExtent, TypeLayout};
pub use modes::{ExecutionModeUse, Modes, WorkgroupSize};
pub use usage::{EntryPointUses, static_uses};

use crate::module::{ImageType, Module, Section, Type, TypeId};
use crate::tables::{Decoration, Dim, ExecutionModel, Op, StorageClass};

/// The interface of a module.
#[derive(Clone, Debug)]
pub struct Reflection {
    /// Entry points in order.
    pub entry_points: Vec<EntryPoint>,
    /// Specialisation constants in order.
    pub spec_constants: Vec<SpecConstant>,
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct EntryPoint {
    /// Its name.
    pub name: String,
    /// Its execution model; `None` if the grammar does not define the word.
    pub model: Option<ExecutionModel>,
    /// The raw id of its function.
    pub function: u32,
    /// Its execution modes.
    pub modes: Vec<ExecutionModeUse>,
    /// Its workgroup size, for execution models that have one.
    pub workgroup_size: Option<WorkgroupSize>,
    /// The resources that it statically uses, sorted by set and binding.
    pub bindings: Vec<Binding>,
    /// The push constants that it statically uses.
    pub push_constants: Option<Arc<TypeLayout>>,
    /// Total size in bytes of its workgroup variables, without padding between them.
    pub workgroup_bytes: u64,
}

/// The type of descriptor that a binding requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of VkDescriptorType")]
pub enum DescriptorKind {
    Sampler,
    CombinedImageSampler,
    SampledImage,
    StorageImage,
    UniformTexelBuffer,
    StorageTexelBuffer,
    UniformBuffer,
    StorageBuffer,
    InputAttachment,
    AccelerationStructure,
    Tensor,
}

/// Number of descriptors of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptorCount {
    /// A fixed number.
    Fixed(u64),
    /// The number that the descriptor set layout declares.
    Runtime,
}

/// A resource variable.
#[derive(Clone, Debug)]
pub struct Binding {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the descriptor set.
    pub binding: u32,
    /// The raw id of the variable.
    pub variable: u32,
    /// The variable's debug name; if it has none, as a block without an instance name of GLSL, that of
    /// the block's only member.
    pub name: Option<String>,
    /// Type of descriptor; `None` for types without a descriptor in Vulkan.
    pub kind: Option<DescriptorKind>,
    /// Number of descriptors.
    pub count: DescriptorCount,
    /// Layout of the contents of a buffer.
    pub block: Option<Arc<TypeLayout>>,
    /// Type of an image.
    pub image: Option<ImageType>,
    /// Its storage class.
    pub class: StorageClass,
    /// Set if a decoration forbids stores.
    pub non_writable: bool,
    /// Set if a decoration forbids loads.
    pub non_readable: bool,
}

/// A specialisation constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecConstant {
    /// Its `SpecId`.
    pub spec_id: u32,
    /// Its raw id.
    pub id: u32,
    /// Its debug name.
    pub name: Option<String>,
    /// Its type.
    pub shape: Arc<TypeLayout>,
    /// Bits of its default value; 0 or 1 for booleans.
    pub default: u64,
}

impl Reflection {
    /// Reflects a module.
    pub fn new(module: &Module) -> Reflection {
        let mut layouts = Layouts::new(module);
        let modes = Modes::new(module);
        let usages = static_uses(module);
        let entry_points = usages.iter().map(|usage| entry_point(module, &mut layouts, &modes, usage)).collect();
        let globals = module.section(Section::Globals);
        let spec_constants = globals.filter_map(|i| {
            let id = i.result()?;
            let spec_id = spec_id(module, id)?;
            let default = match (i.op?, i.operands()) {
                (Op::SpecConstantTrue, _) => 1,
                (Op::SpecConstantFalse, _) => 0,
                (Op::SpecConstant, [low]) => u64::from(*low),
                (Op::SpecConstant, [low, high]) => u64::from(*high) << 32 | u64::from(*low),
                _ => return None,
            };
            let shape = layouts.type_layout(module.type_declared(i.result_type()?)?);
            Some(SpecConstant { spec_id, id, name: module.names().of(id), shape, default })
        });
        Reflection { entry_points, spec_constants: spec_constants.collect() }
    }
}

/// Returns the first operand of a decoration of an id.
pub fn decoration(module: &Module, word: u32, wanted: Decoration) -> Option<u32> {
    let found = module.decorations(word).find(|d| d.member.is_none() && d.decoration == Some(wanted))?;
    found.operands.first().copied()
}

/// Returns true if an id has a decoration.
pub fn has_decoration(module: &Module, word: u32, wanted: Decoration) -> bool {
    module.decorations(word).any(|d| d.member.is_none() && d.decoration == Some(wanted))
}

fn spec_id(module: &Module, word: u32) -> Option<u32> {
    decoration(module, word, Decoration::SpecId)
}

fn entry_point(module: &Module, layouts: &mut Layouts, modes: &Modes, usage: &EntryPointUses) -> EntryPoint {
    let mut bindings = Vec::new();
    let mut push_constants = None;
    let mut workgroup_bytes = 0u64;
    for &id in &usage.globals {
        let word = module.raw_id(id);
        let Some((class, ty)) = variable(module, word) else { continue };
        match class {
            StorageClass::PushConstant => push_constants = Some(layouts.type_layout(ty)),
            StorageClass::Workgroup => workgroup_bytes = workgroup_bytes.saturating_add(layouts.type_layout(ty).size()),
            _ => bindings.extend(binding(module, layouts, word, class, ty)),
        }
    }
    bindings.sort_by_key(|b| (b.set, b.binding, b.variable));
    EntryPoint {
        name: usage.name.clone(),
        model: usage.model,
        function: usage.function,
        workgroup_size: modes.workgroup_size(module, usage.function),
        modes: modes.of(usage.function).to_vec(),
        bindings,
        push_constants,
        workgroup_bytes,
    }
}

/// Returns the resource variables that a module declares, used or not, sorted by set and binding.
pub fn declared_bindings(module: &Module) -> Vec<Binding> {
    let mut layouts = Layouts::new(module);
    let words = module.section(Section::Globals).filter_map(|i| i.result());
    let declared = words.filter_map(|word| {
        let (class, ty) = variable(module, word)?;
        binding(module, &mut layouts, word, class, ty)
    });
    let mut bindings: Vec<Binding> = declared.collect();
    bindings.sort_by_key(|b| (b.set, b.binding, b.variable));
    bindings
}

/// Returns storage class and type of a module-scope variable.
pub fn variable(module: &Module, word: u32) -> Option<(StorageClass, TypeId)> {
    let definition = module.definition_of(word)?;
    let class = StorageClass::from_word(definition.operand(0)?)?;
    match definition.op? {
        Op::Variable => Some((class, module.pointer(module.type_of(word)?)?.1?)),
        Op::UntypedVariableKHR => Some((class, module.type_declared(definition.operand(1)?)?)),
        _ => None,
    }
}

/// Returns true if a module-scope variable is a storage image, storage texel buffer, tensor or
/// storage buffer that no decoration makes read-only.
pub fn may_be_written(module: &Module, word: u32) -> bool {
    let Some((class, ty)) = variable(module, word) else { return false };
    let (element, _) = elements(module, ty);
    use DescriptorKind::{StorageBuffer, StorageImage, StorageTexelBuffer, Tensor};
    let (kind, _) = descriptor(module, class, element);
    matches!(kind, Some(StorageImage | StorageTexelBuffer | StorageBuffer | Tensor))
        && !forbids(module, word, element, Decoration::NonWritable)
}

fn binding(module: &Module, layouts: &mut Layouts, word: u32, class: StorageClass, ty: TypeId) -> Option<Binding> {
    let binding = decoration(module, word, Decoration::Binding)?;
    let (element, count) = elements(module, ty);
    let (kind, image) = descriptor(module, class, element);
    let is_block = matches!(kind, Some(DescriptorKind::UniformBuffer | DescriptorKind::StorageBuffer));
    let block = is_block.then(|| layouts.type_layout(element));
    // A block of GLSL or HLSL without an instance has the name of its only member, or its own.
    let name_of_block = || match block.as_deref()? {
        TypeLayout::Struct { name, members, .. } => match members.as_slice() {
            [member] => member.name.clone(),
            _ => name.clone(),
        },
        _ => None,
    };
    Some(Binding {
        set: decoration(module, word, Decoration::DescriptorSet).unwrap_or(0),
        binding,
        variable: word,
        name: module.names().of(word).or_else(name_of_block),
        kind,
        count,
        block,
        image,
        class,
        non_writable: forbids(module, word, element, Decoration::NonWritable),
        non_readable: forbids(module, word, element, Decoration::NonReadable),
    })
}

/// Returns true if the variable, or every member of its block, has the decoration.
fn forbids(module: &Module, word: u32, ty: TypeId, wanted: Decoration) -> bool {
    let members = module.members(ty).len() as u32;
    let declared = module.type_definition(ty).result().unwrap_or_default();
    let said: BTreeSet<u32> =
        module.decorations(declared).filter(|d| d.decoration == Some(wanted)).filter_map(|d| d.member).collect();
    has_decoration(module, word, wanted) || (members > 0 && (0..members).all(|m| said.contains(&m)))
}

/// Returns the innermost element type of nested arrays, and the total number of elements.
pub fn elements(module: &Module, ty: TypeId) -> (TypeId, DescriptorCount) {
    let (mut ty, mut count) = (ty, DescriptorCount::Fixed(1));
    loop {
        match *module.ty(ty) {
            Type::Array { element, length } => {
                let length = module.constant_int(length).and_then(|n| u64::try_from(n).ok()).unwrap_or(1);
                if let DescriptorCount::Fixed(n) = count {
                    count = DescriptorCount::Fixed(n.saturating_mul(length));
                }
                ty = element;
            }
            Type::RuntimeArray { element } => {
                count = DescriptorCount::Runtime;
                ty = element;
            }
            _ => return (ty, count),
        }
    }
}

fn descriptor(module: &Module, class: StorageClass, ty: TypeId) -> (Option<DescriptorKind>, Option<ImageType>) {
    match module.ty(ty) {
        Type::Sampler => (Some(DescriptorKind::Sampler), None),
        Type::SampledImage { image } => {
            let image = image_type(module, *image);
            let buffer = image.is_some_and(|i| i.dim == Some(Dim::Buffer));
            let kind = if buffer { DescriptorKind::UniformTexelBuffer } else { DescriptorKind::CombinedImageSampler };
            (Some(kind), image)
        }
        Type::Image(image) => {
            let kind = match (image.dim, image.sampled) {
                (Some(Dim::SubpassData), _) => DescriptorKind::InputAttachment,
                (Some(Dim::Buffer), 1) => DescriptorKind::UniformTexelBuffer,
                (Some(Dim::Buffer), _) => DescriptorKind::StorageTexelBuffer,
                (_, 1) => DescriptorKind::SampledImage,
                _ => DescriptorKind::StorageImage,
            };
            (Some(kind), Some(*image))
        }
        Type::Struct { .. } => {
            let declared = module.type_definition(ty).result().unwrap_or_default();
            let storage =
                class == StorageClass::StorageBuffer || has_decoration(module, declared, Decoration::BufferBlock);
            (Some(if storage { DescriptorKind::StorageBuffer } else { DescriptorKind::UniformBuffer }), None)
        }
        Type::Other(Op::TypeAccelerationStructureKHR) => (Some(DescriptorKind::AccelerationStructure), None),
        Type::Other(Op::TypeTensorARM) => (Some(DescriptorKind::Tensor), None),
        _ => (None, None),
    }
}

/// Returns the image type of an image or sampled image.
pub fn image_type(module: &Module, ty: TypeId) -> Option<ImageType> {
    match module.ty(ty) {
        Type::Image(image) => Some(*image),
        Type::SampledImage { image } => image_type(module, *image),
        _ => None,
    }
}
