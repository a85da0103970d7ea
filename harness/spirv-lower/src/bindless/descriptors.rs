//! Replacement of images and samplers by descriptor numbers, and functions that look them up.

use super::builder::{Builder, Code};
use super::{DescriptorIndexing, LowerError};
use assay_spirv::grammar::Kind;
use assay_spirv::kernel_call::{DescriptorPosition, HandleKind, ImageHandle, KernelCall};
use assay_spirv::module::{ImageType, Instruction, Type, TypeId};
use assay_spirv::tables::{Capability, Dim, FunctionControl, ImageFormat, ImageOperands, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// A binding's array of descriptors, all of one type.
pub(super) struct DescriptorArray {
    pub(super) kind: HandleKind,
    /// For images, the properties that all of them share.
    pub(super) image: Option<ImageProperties>,
    pub(super) count: u32,
    /// Handle and index of each descriptor that has a handle.
    pub(super) elements: Vec<(u64, u32)>,
    /// The variable and the type of an element, once declared.
    pub(super) declared: Option<(u32, u32)>,
}

/// Properties that all images of a binding share.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ImageProperties {
    pub(super) dim: Dim,
    pub(super) arrayed: bool,
    pub(super) storage: bool,
    pub(super) component: ComponentType,
    /// Format of storage images; `Unknown` if they differ.
    pub(super) format: ImageFormat,
}

/// Component type of texels in a shader.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ComponentType {
    Float,
    Int { signed: bool },
}

/// Origin of an image operand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ImageSource {
    /// An image handle, and the sampler handle if it is sampled.
    Image(u32, Option<u32>),
    /// A sampled image handle.
    Sampled(u32),
}

/// An image instruction that becomes a function.
pub(super) struct ImageUse<'m> {
    pub(super) op: Op,
    pub(super) ty: ImageType,
    /// Types of its id operands after the image.
    pub(super) operands: Vec<u32>,
    pub(super) result: u32,
    /// Component type of texels; `None` for queries.
    pub(super) scalar: Option<&'m Type>,
    /// Image operands that are kept.
    pub(super) mask: u32,
    /// Number of components of its coordinate.
    pub(super) coordinate_count: u32,
}

/// Descriptors of all handles, and the functions and results created for them.
pub(super) struct Descriptors {
    pub(super) indexing: DescriptorIndexing,
    width: u32,
    pub(super) arrays: BTreeMap<(u32, u32), DescriptorArray>,
    lookups: BTreeMap<HandleKind, u32>,
    pub(super) helpers: BTreeMap<Vec<u32>, u32>,
    /// Image and sampler of each `OpSampledImage` result.
    pairs: BTreeMap<u32, (u32, u32)>,
    /// Results of `OpImage` on an image from a sampled image handle.
    extracted: BTreeSet<u32>,
}

fn component_type(format: ImageFormat) -> Option<ComponentType> {
    let sampled = format.sampled_type().filter(|sampled| sampled.width == 32)?;
    Some(if sampled.float { ComponentType::Float } else { ComponentType::Int { signed: sampled.signed == Some(true) } })
}

impl Descriptors {
    /// Sorts descriptors into arrays. `width` is the width of a handle.
    pub(super) fn new(call: &KernelCall, indexing: DescriptorIndexing, width: u32) -> Result<Descriptors, LowerError> {
        let refused = |at: DescriptorPosition, what: &str| {
            LowerError::InvalidCall(format!("set {} binding {} element {}: {what}", at.set, at.binding, at.element))
        };
        let mut images = Descriptors {
            indexing,
            width,
            arrays: BTreeMap::new(),
            lookups: BTreeMap::new(),
            helpers: BTreeMap::new(),
            pairs: BTreeMap::new(),
            extracted: BTreeSet::new(),
        };
        let common = |image: &ImageHandle| match component_type(image.format) {
            _ if !matches!(image.dim, Dim::Dim1D | Dim::Dim2D | Dim::Dim3D | Dim::Cube | Dim::Buffer) => {
                Err(refused(image.at, &format!("unsupported dimensionality {}", image.dim.name())))
            }
            None => Err(refused(image.at, &format!("unsupported texel format {:?}", image.format))),
            Some(component) => {
                let ImageHandle { dim, arrayed, storage, format, .. } = *image;
                let format = if storage { format } else { ImageFormat::Unknown };
                Ok(Some(ImageProperties { dim, arrayed, storage, component, format }))
            }
        };
        let all = call.images.iter().map(|i| (HandleKind::Image, i.handle, i.at, common(i)));
        let all = all.chain(call.samplers.iter().map(|s| (HandleKind::Sampler, s.handle, s.at, Ok(None))));
        let all = all.chain(call.sampled_images.iter().map(|i| (HandleKind::SampledImage, i.handle, i.at, common(i))));
        for (kind, handle, at, image) in all {
            let image = image?;
            if at.element >= 1 << 16 || images.arrays.len() >= 1 << 16 {
                return Err(refused(at, "too many descriptors"));
            }
            if width == 32 && handle > u64::from(u32::MAX) {
                return Err(refused(at, "a 64-bit handle under addressing model Physical32"));
            }
            let fresh = || DescriptorArray { kind, image, count: 0, elements: Vec::new(), declared: None };
            let array = images.arrays.entry((at.set, at.binding)).or_insert_with(fresh);
            if let (Some(known), Some(new)) = (&mut array.image, image)
                && (ImageProperties { format: new.format, ..*known }) == new
                && known.format != new.format
            {
                known.format = ImageFormat::Unknown;
            }
            let format = array.image.map_or(ImageFormat::Unknown, |image| image.format);
            if array.kind != kind || array.image != image.map(|image| ImageProperties { format, ..image }) {
                return Err(refused(at, "the descriptors of a binding have different types"));
            }
            array.count = array.count.max(at.element + 1);
            array.elements.push((handle, at.element));
        }
        Ok(images)
    }

    /// Returns the descriptor number of each handle of a kind: the array in the upper half, the
    /// index in the lower half.
    fn descriptor_numbers(&self, kind: HandleKind) -> Vec<(u64, u32)> {
        let arrays = (0u32..).zip(self.arrays.values()).filter(|(_, array)| array.kind == kind);
        arrays
            .flat_map(|(ordinal, array)| array.elements.iter().map(move |(handle, at)| (*handle, ordinal << 16 | at)))
            .collect()
    }

    /// Replaces the conversion of a handle by a call of a function that compares it with all known
    /// handles, and returns the descriptor number. An unknown handle, whose behaviour is undefined,
    /// gives the first descriptor, so that the index is in bounds.
    pub(super) fn convert(
        &mut self,
        builder: &mut Builder<'_>,
        i: Instruction<'_>,
        kind: HandleKind,
        code: &mut Code,
    ) -> Result<(), LowerError> {
        let wrong = || LowerError::at(i, format!("a conversion of a handle, as no {kind} has a handle"));
        let (Some(handle), Some(result)) = (i.operand(0), i.result()) else { return Err(wrong()) };
        let uint = builder.uint(32);
        let lookup = match self.lookups.get(&kind) {
            Some(lookup) => *lookup,
            None => {
                let all = self.descriptor_numbers(kind);
                let Some((_, first)) = all.first() else { return Err(wrong()) };
                let (wide, bool) = (builder.uint(self.width), builder.bool());
                let ty = builder.declare(Op::TypeFunction, &[uint, wide]);
                let mut body = Code::default();
                let lookup = body.op(builder, Op::Function, uint, &[FunctionControl::NONE.0, ty]);
                let given = body.op(builder, Op::FunctionParameter, wide, &[]);
                let label = builder.id();
                body.emit(Op::Label, &[label]);
                let mut found = builder.number(*first);
                for (handle, number) in &all[1..] {
                    let (known, number) = (builder.constant(wide, self.width, *handle), builder.number(*number));
                    let equal = body.op(builder, Op::IEqual, bool, &[given, known]);
                    found = body.op(builder, Op::Select, uint, &[equal, number, found]);
                }
                body.emit(Op::ReturnValue, &[found]);
                body.emit(Op::FunctionEnd, &[]);
                builder.function(&body.words);
                builder.name(lookup, &format!("{}_of_handle", kind.to_string().replace(' ', "_")));
                self.lookups.insert(kind, lookup);
                lookup
            }
        };
        code.op_as(Op::FunctionCall, uint, result, &[lookup, builder.resolve(handle)]);
        Ok(())
    }

    /// Records the image and sampler of an `OpSampledImage`.
    pub(super) fn combine(&mut self, i: Instruction<'_>) -> Result<(), LowerError> {
        match (i.result(), i.operands()) {
            (Some(result), [image, sampler]) if !self.extracted.contains(image) => {
                self.pairs.insert(result, (*image, *sampler));
                Ok(())
            }
            _ => Err(LowerError::at(i, "the image of a sampled image combined with another sampler")),
        }
    }

    /// Replaces the result of an `OpImage`: by the image's own number if an `OpSampledImage`
    /// combined it with a sampler, otherwise by the number of the sampled image.
    pub(super) fn extract_image(&mut self, builder: &mut Builder<'_>, i: Instruction<'_>) -> Result<(), LowerError> {
        let (Some(result), Some(sampled)) = (i.result(), i.operand(0)) else {
            return Err(LowerError::at(i, "an OpImage without an operand"));
        };
        match self.pairs.get(&sampled) {
            Some((image, _)) => builder.replace_id(result, *image),
            None => {
                self.extracted.insert(result);
                builder.replace_id(result, sampled);
            }
        }
        Ok(())
    }

    /// Returns true if an id has no descriptor number of its own: a combined image and sampler, or
    /// the image of a sampled image.
    pub(super) fn lacks_number(&self, word: u32) -> bool {
        self.pairs.contains_key(&word) || self.extracted.contains(&word)
    }

    /// Replaces an image instruction by a call.
    pub(super) fn image_instruction(
        &mut self,
        builder: &mut Builder<'_>,
        i: Instruction<'_>,
        op: Op,
        code: &mut Code,
    ) -> Result<(), LowerError> {
        let module = builder.module;
        let wrong = |what: &str| LowerError::at(i, format!("{op} {what}"));
        let Some(image) = i.operand(0) else { return Err(wrong("without an image")) };
        let ty = |word: u32| module.type_of(word).map(|ty| (ty, module.ty(ty)));
        let image_ty = match ty(image) {
            Some((_, Type::Image(image))) => *image,
            Some((_, Type::SampledImage { image })) => match module.ty(*image) {
                Type::Image(image) => *image,
                _ => return Err(wrong("without an image")),
            },
            _ => return Err(wrong("without an image")),
        };
        let sampled = matches!(ty(image), Some((_, Type::SampledImage { .. }))) || self.extracted.contains(&image);
        let source = match (self.pairs.get(&image), sampled) {
            (Some((image, sampler)), _) => ImageSource::Image(*image, Some(*sampler)),
            (None, true) => ImageSource::Sampled(image),
            (None, false) => ImageSource::Image(image, None),
        };
        let plain = match op {
            Op::ImageQuerySize | Op::ImageQueryLevels => 0,
            Op::ImageRead | Op::ImageFetch | Op::ImageQuerySizeLod => 1,
            op if samples(op) => 1,
            Op::ImageWrite => 2,
            _ => return Err(LowerError::at(i, op.name())),
        };
        let mut ids = i.operands().get(1..=plain).ok_or_else(|| wrong("without its operands"))?.to_vec();
        let said = i.operands().get(1 + plain..).unwrap_or_default();
        let mask = self.mask(said, samples(op)).ok_or_else(|| wrong("with these image operands"))?;
        ids.extend(said.get(1..).unwrap_or_default());
        let components = |ty: TypeId| match *module.ty(ty) {
            Type::Vector { component, count } => (module.ty(component), count),
            _ => (module.ty(ty), 1),
        };
        let texel = match op {
            Op::ImageQuerySize | Op::ImageQuerySizeLod | Op::ImageQueryLevels => None,
            Op::ImageWrite => ids.get(1).and_then(|word| module.type_of(*word)),
            _ => i.result_type().and_then(|ty| module.type_declared(ty)),
        };
        let texel = texel.map(components);
        if texel.is_some_and(|(_, count)| count != 4) {
            return Err(wrong("with texels that are not vectors of 4"));
        }
        let given = ids.first().and_then(|word| module.type_of(*word)).map(components);
        match (op, given) {
            (op, Some((Type::Float { width: 32, .. }, _))) if samples(op) => {}
            (op, _) if samples(op) => return Err(wrong("at coordinates that are not 32-bit floats")),
            (_, None | Some((Type::Int { width: 32, .. }, _))) => {}
            _ => return Err(wrong("at coordinates that are not 32-bit integers")),
        }
        let word = |ty: TypeId| module.type_definition(ty).result().unwrap_or_default();
        let types = ids.iter().map(|id| module.type_of(*id).map(|ty| builder.resolve(word(ty))));
        let operands = types.collect::<Option<Vec<u32>>>().ok_or_else(|| wrong("with operands without a type"))?;
        let result = match i.result_type() {
            Some(ty) => builder.resolve(ty),
            None => builder.void(),
        };
        if op != Op::ImageWrite
            && texel.is_none()
            && !i.result_type().is_some_and(|ty| {
                module.type_declared(ty).is_some_and(|ty| matches!(components(ty).0, Type::Int { width: 32, .. }))
            })
        {
            return Err(wrong("with a result that is not a 32-bit integer"));
        }
        let used = ImageUse {
            op,
            ty: image_ty,
            operands,
            result,
            scalar: texel.map(|(ty, _)| ty),
            mask,
            coordinate_count: given.map_or(0, |(_, n)| n),
        };
        let mut arguments = match source {
            ImageSource::Image(image, sampler) => [Some(image), sampler].into_iter().flatten().collect(),
            ImageSource::Sampled(image) => vec![image],
        };
        arguments.extend(ids);
        let mut operands = vec![self.helper(builder, &used, source).map_err(|what| wrong(&what))?];
        operands.extend(arguments.iter().map(|word| builder.resolve(*word)));
        match i.result() {
            Some(id) => code.op_as(Op::FunctionCall, result, id, &operands),
            None => drop(code.op(builder, Op::FunctionCall, result, &operands)),
        }
        Ok(())
    }

    /// Returns the image operands that are kept: level or gradients when sampling, level of a
    /// fetch. `None` if there are others.
    fn mask(&self, said: &[u32], samples: bool) -> Option<u32> {
        let plain = ImageOperands::NON_PRIVATE_TEXEL.0
            | ImageOperands::VOLATILE_TEXEL.0
            | ImageOperands::SIGN_EXTEND.0
            | ImageOperands::ZERO_EXTEND.0
            | ImageOperands::NONTEMPORAL.0;
        let mask = said.first().copied().unwrap_or(0) & !plain;
        match mask {
            0 => Some(0),
            mask if mask == ImageOperands::LOD.0 => Some(mask),
            mask if mask == ImageOperands::GRAD.0 && samples => Some(mask),
            _ => None,
        }
    }

    /// Returns the variable of an array and the type of its elements, declaring them first if
    /// needed.
    pub(super) fn declared(&mut self, builder: &mut Builder<'_>, at: (u32, u32)) -> Result<(u32, u32), String> {
        let Some(array) = self.arrays.get_mut(&at) else { return Err("without an image".into()) };
        if let Some(declared) = array.declared {
            return Ok(declared);
        }
        let image = array.image.map(|image| (image, image_ty(builder, &image).0));
        let (element, name) = match (array.kind, image) {
            (HandleKind::Image, Some((_, ty))) => (ty, "images"),
            (HandleKind::SampledImage, Some((_, ty))) => {
                (builder.declare(Op::TypeSampledImage, &[ty]), "sampled_images")
            }
            _ => (builder.declare(Op::TypeSampler, &[]), "samplers"),
        };
        let ty = builder.id();
        if self.indexing == DescriptorIndexing::Runtime {
            builder.capability(Capability::RuntimeDescriptorArray);
            builder.global(Op::TypeRuntimeArray, &[element], ty);
        } else {
            let count = builder.number(array.count);
            builder.global(Op::TypeArray, &[element, count], ty);
        }
        let variable = builder.variable(StorageClass::UniformConstant, ty, None);
        builder.bind(variable, at.0, at.1);
        builder.name(variable, name);
        use Capability as C;
        let held = image.map(|(image, _)| (image.dim, image.storage));
        if let Some((image, _)) = image {
            match (image.dim, image.storage) {
                (Dim::Dim1D, false) => builder.capability(C::Sampled1D),
                (Dim::Dim1D, true) => builder.capability(C::Image1D),
                (Dim::Buffer, false) => builder.capability(C::SampledBuffer),
                (Dim::Buffer, true) => builder.capability(C::ImageBuffer),
                (Dim::Cube, false) if image.arrayed => builder.capability(C::SampledCubeArray),
                (Dim::Cube, true) if image.arrayed => builder.capability(C::ImageCubeArray),
                _ => {}
            }
            let format = Kind::ImageFormat.enumerant(image.format.word());
            if format.is_some_and(|format| format.capabilities.contains(&C::StorageImageExtendedFormats)) {
                builder.capability(C::StorageImageExtendedFormats);
            }
        }
        if self.indexing.indexes() {
            builder.capability(C::ShaderNonUniform);
            let [dynamic, apart] = match held {
                Some((Dim::Buffer, true)) => {
                    [C::StorageTexelBufferArrayDynamicIndexing, C::StorageTexelBufferArrayNonUniformIndexing]
                }
                Some((Dim::Buffer, false)) => {
                    [C::UniformTexelBufferArrayDynamicIndexing, C::UniformTexelBufferArrayNonUniformIndexing]
                }
                Some((_, true)) => [C::StorageImageArrayDynamicIndexing, C::StorageImageArrayNonUniformIndexing],
                Some((_, false)) | None => {
                    [C::SampledImageArrayDynamicIndexing, C::SampledImageArrayNonUniformIndexing]
                }
            };
            builder.capability(dynamic);
            builder.capability(apart);
        }
        array.declared = Some((variable, element));
        Ok((variable, element))
    }
}

/// Returns true if an instruction samples an image.
pub(super) fn samples(op: Op) -> bool {
    matches!(op, Op::ImageSampleExplicitLod | Op::ImageSampleProjExplicitLod)
}

/// Returns the type of a binding's images in Vulkan, and the type of their texels' components.
pub(super) fn image_ty(builder: &mut Builder<'_>, image: &ImageProperties) -> (u32, u32) {
    let scalar = match image.component {
        ComponentType::Float => builder.declare(Op::TypeFloat, &[32]),
        ComponentType::Int { signed } => builder.declare(Op::TypeInt, &[32, u32::from(signed)]),
    };
    let sampled = if image.storage { 2 } else { 1 };
    let operands = [scalar, image.dim.word(), 0, u32::from(image.arrayed), 0, sampled, image.format.word()];
    (builder.declare(Op::TypeImage, &operands), scalar)
}
