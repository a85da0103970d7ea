//! The functions that use images: they choose a descriptor by its number, and do on it what the kernel does.

use super::Indexing;
use super::builder::{Builder, Code};
use super::images::{Array, Common, Images, Numbers, Source, image_ty, samples};
use crate::kernel::HandleKind;
use crate::module::{ImageType, Type};
use crate::tables::{
    Capability, Decoration, Dim, FunctionControl, ImageFormat, ImageOperands, Op, SelectionControl, StorageClass,
};

/// A descriptor to choose: its array, and its place there where that is known.
#[derive(Clone, Copy)]
struct Choice {
    array: (u32, u32),
    /// What the number, or its upper half where the place is not known, is then.
    literal: u32,
    place: Option<u32>,
}

/// An instruction that uses an image, and becomes a function.
pub(super) struct Use<'m> {
    pub(super) op: Op,
    pub(super) ty: ImageType,
    /// The types of its operands behind the image that are ids.
    pub(super) operands: Vec<u32>,
    pub(super) result: u32,
    /// The scalar of texels; none of queries.
    pub(super) scalar: Option<&'m Type>,
    /// Image operands as far as they are kept.
    pub(super) mask: u32,
    /// Components of its coordinate.
    pub(super) given: u32,
}

impl Images {
    /// The function for a use of an image; `Err` says why there can be none.
    pub(super) fn helper(&mut self, builder: &mut Builder<'_>, used: &Use<'_>, source: Source) -> Result<u32, String> {
        let (kind, samplers) = match source {
            Source::Image(_, Some(_)) => (HandleKind::Image, true),
            Source::Image(_, None) => (HandleKind::Image, false),
            Source::Sampled(_) => (HandleKind::SampledImage, false),
        };
        let ImageType { dim, arrayed, .. } = used.ty;
        let mut key = vec![used.op as u32, kind as u32, u32::from(samplers), dim.map_or(u32::MAX, Dim::word)];
        key.extend([u32::from(arrayed), used.result, used.mask]);
        key.extend(&used.operands);
        if let Some(known) = self.helpers.get(&key) {
            return Ok(*known);
        }
        let images = self.choices(kind, |image| fits(used, samplers, image));
        let samplers = if samplers { self.choices(HandleKind::Sampler, |_| true) } else { Vec::new() };
        if images.is_empty() {
            return Err("where no handle names an image that it could take".into());
        }
        let uint = builder.uint(32);
        let mut parameters = vec![uint; 1 + usize::from(!samplers.is_empty())];
        parameters.extend(&used.operands);
        let mut ty = vec![used.result];
        ty.extend(&parameters);
        let ty = builder.declare(Op::TypeFunction, &ty);
        let mut code = Code::default();
        let helper = code.op(builder, Op::Function, used.result, &[FunctionControl::NONE.0, ty]);
        let mut given: Vec<u32> =
            parameters.iter().map(|ty| code.op(builder, Op::FunctionParameter, *ty, &[])).collect();
        let label = builder.id();
        code.run(Op::Label, &[label]);
        let returns = used.op != Op::ImageWrite;
        let result = returns.then(|| {
            let pointer = builder.pointer(StorageClass::Function, used.result);
            code.op(builder, Op::Variable, pointer, &[StorageClass::Function.word()])
        });
        let image = given.remove(0);
        let sampler = if samplers.is_empty() { None } else { Some(given.remove(0)) };
        self.trim(builder, used, &mut given, &mut code)?;
        let (labels, merge, at) = self.fork(builder, &images, image, &mut code);
        for (k, choice) in images.iter().enumerate() {
            if let Some(label) = labels.get(k) {
                code.run(Op::Label, &[*label]);
            }
            match sampler {
                None => self.leaf(builder, used, (choice, at), None, (&given, result), &mut code)?,
                Some(sampler) => {
                    let (labels, merge, place) = self.fork(builder, &samplers, sampler, &mut code);
                    for (k, by) in samplers.iter().enumerate() {
                        if let Some(label) = labels.get(k) {
                            code.run(Op::Label, &[*label]);
                        }
                        self.leaf(builder, used, (choice, at), Some((by, place)), (&given, result), &mut code)?;
                        if let Some(merge) = merge {
                            code.run(Op::Branch, &[merge]);
                        }
                    }
                    if let Some(merge) = merge {
                        code.run(Op::Label, &[merge]);
                    }
                }
            }
            if let Some(merge) = merge {
                code.run(Op::Branch, &[merge]);
            }
        }
        if let Some(merge) = merge {
            code.run(Op::Label, &[merge]);
        }
        match result {
            Some(result) => {
                let left = code.op(builder, Op::Load, used.result, &[result]);
                code.run(Op::ReturnValue, &[left]);
            }
            None => code.run(Op::Return, &[]),
        }
        code.run(Op::FunctionEnd, &[]);
        builder.function(&code.words);
        builder.name(helper, used.op.name());
        self.helpers.insert(key, helper);
        Ok(helper)
    }

    /// What may be chosen of a kind: each descriptor, or each array where its elements are indexed.
    fn choices(&self, kind: HandleKind, fits: impl Fn(Option<&Common>) -> bool) -> Vec<Choice> {
        let arrays = (0u32..).zip(&self.arrays);
        let arrays = arrays.filter(|(_, (_, array))| array.kind == kind && fits(array.image.as_ref()));
        let choices = arrays.flat_map(|(ordinal, (at, array))| match self.how {
            Indexing::Runtime | Indexing::NonUniform => {
                vec![Choice { array: *at, literal: ordinal, place: None }]
            }
            Indexing::Switch => {
                let one = |(_, place): &(u64, u32)| Choice {
                    array: *at,
                    literal: ordinal << 16 | place,
                    place: Some(*place),
                };
                array.elements.iter().map(one).collect()
            }
        });
        let mut choices: Vec<Choice> = choices.collect();
        choices.sort_by_key(|choice| choice.literal);
        choices.dedup_by_key(|choice| choice.literal);
        choices
    }

    /// Branches to the choices, if there are several, the first being what all other numbers lead to: a label of each, and of
    /// what follows. And the place in an array that is indexed.
    fn fork(
        &self,
        builder: &mut Builder<'_>,
        choices: &[Choice],
        number: u32,
        code: &mut Code,
    ) -> (Vec<u32>, Option<u32>, Option<u32>) {
        let uint = builder.uint(32);
        let mut selector = number;
        let mut place = None;
        if self.how.indexes() {
            let (half, low) = (builder.number(16), builder.number(0xffff));
            let at = code.op(builder, Op::BitwiseAnd, uint, &[number, low]);
            builder.decorate(at, Decoration::NonUniform, &[]);
            place = Some(at);
            if choices.len() > 1 {
                selector = code.op(builder, Op::ShiftRightLogical, uint, &[number, half]);
            }
        }
        if choices.len() < 2 {
            return (Vec::new(), None, place);
        }
        let labels: Vec<u32> = choices.iter().map(|_| builder.id()).collect();
        let merge = builder.id();
        code.run(Op::SelectionMerge, &[merge, SelectionControl::NONE.0]);
        let mut operands = vec![selector, labels[0]];
        operands.extend(choices.iter().zip(&labels).skip(1).flat_map(|(choice, label)| [choice.literal, *label]));
        code.run(Op::Switch, &operands);
        (labels, Some(merge), place)
    }

    /// Drops components of a coordinate that the dimensionality does not have.
    fn trim(
        &self,
        builder: &mut Builder<'_>,
        used: &Use<'_>,
        given: &mut [u32],
        code: &mut Code,
    ) -> Result<(), String> {
        if used.given == 0 || matches!(used.op, Op::ImageQuerySizeLod) {
            return Ok(());
        }
        // What texels of arrays of cubes are read at counts their faces.
        let faces = used.ty.dim == Some(Dim::Cube) && !samples(used.op);
        let axes = match used.ty.dim {
            Some(Dim::Dim1D | Dim::Buffer) => 1,
            Some(Dim::Dim2D) => 2,
            _ => 3,
        } + u32::from(used.ty.arrayed && !faces)
            + u32::from(used.op == Op::ImageSampleProjExplicitLod);
        let Some(coordinate) = given.first_mut() else { return Ok(()) };
        let component = if samples(used.op) { builder.declare(Op::TypeFloat, &[32]) } else { builder.uint(32) };
        match used.given {
            n if n < axes => return Err(format!("at {n} coordinates where {axes} are needed")),
            n if n == axes => {}
            _ if axes == 1 => *coordinate = code.op(builder, Op::CompositeExtract, component, &[*coordinate, 0]),
            _ => {
                let ty = builder.vector(component, axes);
                let mut operands = vec![*coordinate, *coordinate];
                operands.extend(0..axes);
                *coordinate = code.op(builder, Op::VectorShuffle, ty, &operands);
            }
        }
        Ok(())
    }

    /// The descriptor of a choice, loaded.
    fn load(
        &mut self,
        builder: &mut Builder<'_>,
        choice: &Choice,
        place: Option<u32>,
        code: &mut Code,
    ) -> Result<(u32, u32), String> {
        let (variable, element) = self.declared(builder, choice.array)?;
        let at = match choice.place {
            Some(place) => builder.number(place),
            None => place.unwrap_or_default(),
        };
        let pointer = builder.pointer(StorageClass::UniformConstant, element);
        let pointer = code.op(builder, Op::AccessChain, pointer, &[variable, at]);
        let loaded = code.op(builder, Op::Load, element, &[pointer]);
        if choice.place.is_none() {
            builder.decorate(pointer, Decoration::NonUniform, &[]);
            builder.decorate(loaded, Decoration::NonUniform, &[]);
        }
        Ok((loaded, element))
    }

    /// The instruction itself, on one descriptor.
    fn leaf(
        &mut self,
        builder: &mut Builder<'_>,
        used: &Use<'_>,
        (choice, at): (&Choice, Option<u32>),
        sampler: Option<(&Choice, Option<u32>)>,
        (given, result): (&[u32], Option<u32>),
        code: &mut Code,
    ) -> Result<(), String> {
        let Some(Array { kind, image: Some(image), .. }) = self.arrays.get(&choice.array) else {
            return Err("of no image".into());
        };
        let (kind, image) = (*kind, *image);
        let mut apart = Vec::new();
        let (mut what, mut ty) = self.load(builder, choice, at, code)?;
        if let Some((sampler, place)) = sampler {
            let (by, _) = self.load(builder, sampler, place, code)?;
            ty = builder.declare(Op::TypeSampledImage, &[ty]);
            what = code.op(builder, Op::SampledImage, ty, &[what, by]);
            apart.push(what);
        }
        let fetches = matches!(used.op, Op::ImageRead | Op::ImageFetch);
        let queries = matches!(used.op, Op::ImageQuerySize | Op::ImageQuerySizeLod | Op::ImageQueryLevels);
        if kind == HandleKind::SampledImage && (fetches || queries) {
            let (alone, _) = image_ty(builder, &image);
            what = code.op(builder, Op::Image, alone, &[what]);
            apart.push(what);
        }
        if choice.place.is_none() {
            apart.iter().for_each(|id| builder.decorate(*id, Decoration::NonUniform, &[]));
        }
        let (_, scalar) = image_ty(builder, &image);
        let texel = builder.vector(scalar, 4);
        let zero = builder.number(0);
        let mut operands = vec![what];
        let found = match used.op {
            Op::ImageWrite => {
                if image.format == ImageFormat::Unknown {
                    builder.capability(Capability::StorageImageWriteWithoutFormat);
                }
                let [coordinate, mut value] = *given else { return Err("without its operands".into()) };
                if used.operands.get(1) != Some(&texel) {
                    value = code.op(builder, Op::Bitcast, texel, &[value]);
                }
                code.run(Op::ImageWrite, &[what, coordinate, value]);
                return Ok(());
            }
            Op::ImageRead if image.storage => {
                if image.format == ImageFormat::Unknown {
                    return Err("of storage images of different formats".into());
                }
                let [coordinate] = *given else { return Err("of a level of a storage image".into()) };
                code.op(builder, Op::ImageRead, texel, &[what, coordinate])
            }
            Op::ImageRead | Op::ImageFetch if image.dim == Dim::Cube => {
                return Err("of a cube that is no storage image: Vulkan fetches from none".into());
            }
            Op::ImageRead | Op::ImageFetch => {
                operands.extend(&given[..1]);
                if image.dim != Dim::Buffer {
                    operands.extend([ImageOperands::LOD.0, given.get(1).copied().unwrap_or(zero)]);
                }
                code.op(builder, Op::ImageFetch, texel, &operands)
            }
            op @ (Op::ImageSampleExplicitLod | Op::ImageSampleProjExplicitLod) => {
                operands.extend(&given[..1]);
                operands.push(used.mask);
                operands.extend(&given[1..]);
                code.op(builder, op, texel, &operands)
            }
            Op::ImageQueryLevels => {
                builder.capability(Capability::ImageQuery);
                code.op(builder, Op::ImageQueryLevels, used.result, &operands)
            }
            _ => {
                builder.capability(Capability::ImageQuery);
                if image.storage || image.dim == Dim::Buffer {
                    code.op(builder, Op::ImageQuerySize, used.result, &operands)
                } else {
                    operands.push(given.first().copied().unwrap_or(zero));
                    code.op(builder, Op::ImageQuerySizeLod, used.result, &operands)
                }
            }
        };
        let found = match queries || used.result == texel {
            true => found,
            false => code.op(builder, Op::Bitcast, used.result, &[found]),
        };
        if let Some(result) = result {
            code.run(Op::Store, &[result, found]);
        }
        Ok(())
    }
}

/// Whether the images of an array are what an instruction could use.
fn fits(used: &Use<'_>, with_sampler: bool, image: Option<&Common>) -> bool {
    let Some(image) = image else { return false };
    let numbers = matches!(
        (used.scalar, image.numbers),
        (None, _)
            | (Some(Type::Float { width: 32, .. }), Numbers::Float)
            | (Some(Type::Int { width: 32, .. }), Numbers::Int { .. })
    );
    let access = match used.op {
        Op::ImageWrite => image.storage,
        Op::ImageFetch => !image.storage,
        Op::ImageSampleExplicitLod | Op::ImageSampleProjExplicitLod | Op::ImageQueryLevels => {
            !image.storage && image.dim != Dim::Buffer
        }
        _ => !(with_sampler && image.storage),
    };
    Some(image.dim) == used.ty.dim && image.arrayed == used.ty.arrayed && numbers && access
}
