//! Functions that replace image instructions: they select a descriptor by its number, and execute
//! the instruction on it.

use super::DescriptorIndexing;
use super::builder::{Builder, Code};
use super::descriptors::{
    ComponentType, DescriptorArray, Descriptors, ImageProperties, ImageSource, ImageUse, image_ty, samples,
};
use assay_spirv::kernel_call::HandleKind;
use assay_spirv::module::{ImageType, Type};
use assay_spirv::tables::{
    Capability, Decoration, Dim, FunctionControl, ImageFormat, ImageOperands, Op, SelectionControl, StorageClass,
};

/// A candidate descriptor: its array, and its index there unless the index is selected at run time.
#[derive(Clone, Copy)]
struct Candidate {
    array: (u32, u32),
    /// Value of the selector for this candidate: the descriptor number or, if the index is selected
    /// at run time, its upper half.
    literal: u32,
    index: Option<u32>,
}

/// A branch to candidates.
struct CandidateBranch {
    /// Label of each candidate; empty if there is only one.
    labels: Vec<u32>,
    /// Label after the candidates; `None` if there is only one.
    merge: Option<u32>,
    /// Index into the array, if it is selected at run time.
    index: Option<u32>,
}

impl Descriptors {
    /// Returns the function for an image instruction. The error completes a message that starts
    /// with the instruction's name.
    pub(super) fn helper(
        &mut self,
        builder: &mut Builder<'_>,
        used: &ImageUse<'_>,
        source: ImageSource,
    ) -> Result<u32, String> {
        let (kind, samplers) = match source {
            ImageSource::Image(_, Some(_)) => (HandleKind::Image, true),
            ImageSource::Image(_, None) => (HandleKind::Image, false),
            ImageSource::Sampled(_) => (HandleKind::SampledImage, false),
        };
        let ImageType { dim, arrayed, .. } = used.ty;
        let mut key = vec![used.op as u32, kind as u32, u32::from(samplers), dim.map_or(u32::MAX, Dim::word)];
        key.extend([u32::from(arrayed), used.result, used.mask]);
        key.extend(&used.operands);
        if let Some(known) = self.helpers.get(&key) {
            return Ok(*known);
        }
        let images = self.candidates(kind, |image| fits(used, samplers, image));
        let samplers = if samplers { self.candidates(HandleKind::Sampler, |_| true) } else { Vec::new() };
        if images.is_empty() {
            return Err("without a handle of a suitable image".into());
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
        code.emit(Op::Label, &[label]);
        let returns = used.op != Op::ImageWrite;
        let result = returns.then(|| {
            let pointer = builder.pointer(StorageClass::Function, used.result);
            code.op(builder, Op::Variable, pointer, &[StorageClass::Function.word()])
        });
        let image = given.remove(0);
        let sampler = if samplers.is_empty() { None } else { Some(given.remove(0)) };
        self.trim_coordinate(builder, used, &mut given, &mut code)?;
        let CandidateBranch { labels, merge, index: image_index } =
            self.branch_to_candidates(builder, &images, image, &mut code);
        for (k, candidate) in images.iter().enumerate() {
            if let Some(label) = labels.get(k) {
                code.emit(Op::Label, &[*label]);
            }
            match sampler {
                None => self.execute(builder, used, (candidate, image_index), None, (&given, result), &mut code)?,
                Some(sampler) => {
                    let CandidateBranch { labels, merge, index } =
                        self.branch_to_candidates(builder, &samplers, sampler, &mut code);
                    for (k, by) in samplers.iter().enumerate() {
                        if let Some(label) = labels.get(k) {
                            code.emit(Op::Label, &[*label]);
                        }
                        self.execute(
                            builder,
                            used,
                            (candidate, image_index),
                            Some((by, index)),
                            (&given, result),
                            &mut code,
                        )?;
                        if let Some(merge) = merge {
                            code.emit(Op::Branch, &[merge]);
                        }
                    }
                    if let Some(merge) = merge {
                        code.emit(Op::Label, &[merge]);
                    }
                }
            }
            if let Some(merge) = merge {
                code.emit(Op::Branch, &[merge]);
            }
        }
        if let Some(merge) = merge {
            code.emit(Op::Label, &[merge]);
        }
        match result {
            Some(result) => {
                let left = code.op(builder, Op::Load, used.result, &[result]);
                code.emit(Op::ReturnValue, &[left]);
            }
            None => code.emit(Op::Return, &[]),
        }
        code.emit(Op::FunctionEnd, &[]);
        builder.function(&code.words);
        builder.name(helper, used.op.name());
        self.helpers.insert(key, helper);
        Ok(helper)
    }

    /// Returns the candidates of a kind: each descriptor or, if arrays are indexed at run time,
    /// each array.
    fn candidates(&self, kind: HandleKind, fits: impl Fn(Option<&ImageProperties>) -> bool) -> Vec<Candidate> {
        let arrays = (0u32..).zip(&self.arrays);
        let arrays = arrays.filter(|(_, (_, array))| array.kind == kind && fits(array.image.as_ref()));
        let candidates = arrays.flat_map(|(ordinal, (at, array))| match self.indexing {
            DescriptorIndexing::Runtime | DescriptorIndexing::NonUniform => {
                vec![Candidate { array: *at, literal: ordinal, index: None }]
            }
            DescriptorIndexing::Switch => {
                let one = |(_, index): &(u64, u32)| Candidate {
                    array: *at,
                    literal: ordinal << 16 | index,
                    index: Some(*index),
                };
                array.elements.iter().map(one).collect()
            }
        });
        let mut candidates: Vec<Candidate> = candidates.collect();
        candidates.sort_by_key(|candidate| candidate.literal);
        candidates.dedup_by_key(|candidate| candidate.literal);
        candidates
    }

    /// Branches to the candidates, if there are several; unknown numbers lead to the first.
    fn branch_to_candidates(
        &self,
        builder: &mut Builder<'_>,
        candidates: &[Candidate],
        number: u32,
        code: &mut Code,
    ) -> CandidateBranch {
        let uint = builder.uint(32);
        let mut selector = number;
        let mut index = None;
        if self.indexing.indexes() {
            let (half, low) = (builder.number(16), builder.number(0xffff));
            let at = code.op(builder, Op::BitwiseAnd, uint, &[number, low]);
            builder.decorate(at, Decoration::NonUniform, &[]);
            index = Some(at);
            if candidates.len() > 1 {
                selector = code.op(builder, Op::ShiftRightLogical, uint, &[number, half]);
            }
        }
        if candidates.len() < 2 {
            return CandidateBranch { labels: Vec::new(), merge: None, index };
        }
        let labels: Vec<u32> = candidates.iter().map(|_| builder.id()).collect();
        let merge = builder.id();
        code.emit(Op::SelectionMerge, &[merge, SelectionControl::NONE.0]);
        let mut operands = vec![selector, labels[0]];
        operands
            .extend(candidates.iter().zip(&labels).skip(1).flat_map(|(candidate, label)| [candidate.literal, *label]));
        code.emit(Op::Switch, &operands);
        CandidateBranch { labels, merge: Some(merge), index }
    }

    /// Drops components of a coordinate that the dimensionality does not have.
    fn trim_coordinate(
        &self,
        builder: &mut Builder<'_>,
        used: &ImageUse<'_>,
        given: &mut [u32],
        code: &mut Code,
    ) -> Result<(), String> {
        if used.coordinate_count == 0 || matches!(used.op, Op::ImageQuerySizeLod) {
            return Ok(());
        }
        // Without a sampler, the coordinates of a cube array count faces.
        let faces = used.ty.dim == Some(Dim::Cube) && !samples(used.op);
        let axes = match used.ty.dim {
            Some(Dim::Dim1D | Dim::Buffer) => 1,
            Some(Dim::Dim2D) => 2,
            _ => 3,
        } + u32::from(used.ty.arrayed && !faces)
            + u32::from(used.op == Op::ImageSampleProjExplicitLod);
        let Some(coordinate) = given.first_mut() else { return Ok(()) };
        let component = if samples(used.op) { builder.declare(Op::TypeFloat, &[32]) } else { builder.uint(32) };
        match used.coordinate_count {
            n if n < axes => return Err(format!("at {n} of {axes} required coordinates")),
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

    /// Loads the descriptor of a candidate.
    fn load(
        &mut self,
        builder: &mut Builder<'_>,
        candidate: &Candidate,
        index: Option<u32>,
        code: &mut Code,
    ) -> Result<(u32, u32), String> {
        let (variable, element) = self.declared(builder, candidate.array)?;
        let at = match candidate.index {
            Some(index) => builder.number(index),
            None => index.unwrap_or_default(),
        };
        let pointer = builder.pointer(StorageClass::UniformConstant, element);
        let pointer = code.op(builder, Op::AccessChain, pointer, &[variable, at]);
        let loaded = code.op(builder, Op::Load, element, &[pointer]);
        if candidate.index.is_none() {
            builder.decorate(pointer, Decoration::NonUniform, &[]);
            builder.decorate(loaded, Decoration::NonUniform, &[]);
        }
        Ok((loaded, element))
    }

    /// Executes the instruction on one descriptor.
    fn execute(
        &mut self,
        builder: &mut Builder<'_>,
        used: &ImageUse<'_>,
        (candidate, index): (&Candidate, Option<u32>),
        sampler: Option<(&Candidate, Option<u32>)>,
        (given, result): (&[u32], Option<u32>),
        code: &mut Code,
    ) -> Result<(), String> {
        let Some(DescriptorArray { kind, image: Some(image), .. }) = self.arrays.get(&candidate.array) else {
            return Err("without an image".into());
        };
        let (kind, image) = (*kind, *image);
        let mut separate = Vec::new();
        let (mut image_id, mut ty) = self.load(builder, candidate, index, code)?;
        if let Some((sampler, index)) = sampler {
            let (by, _) = self.load(builder, sampler, index, code)?;
            ty = builder.declare(Op::TypeSampledImage, &[ty]);
            image_id = code.op(builder, Op::SampledImage, ty, &[image_id, by]);
            separate.push(image_id);
        }
        let fetches = matches!(used.op, Op::ImageRead | Op::ImageFetch);
        let queries = matches!(used.op, Op::ImageQuerySize | Op::ImageQuerySizeLod | Op::ImageQueryLevels);
        if kind == HandleKind::SampledImage && (fetches || queries) {
            let (alone, _) = image_ty(builder, &image);
            image_id = code.op(builder, Op::Image, alone, &[image_id]);
            separate.push(image_id);
        }
        if candidate.index.is_none() {
            separate.iter().for_each(|id| builder.decorate(*id, Decoration::NonUniform, &[]));
        }
        let (_, scalar) = image_ty(builder, &image);
        let texel = builder.vector(scalar, 4);
        let zero = builder.number(0);
        let mut operands = vec![image_id];
        let found = match used.op {
            Op::ImageWrite => {
                if image.format == ImageFormat::Unknown {
                    builder.capability(Capability::StorageImageWriteWithoutFormat);
                }
                let [coordinate, mut value] = *given else { return Err("without its operands".into()) };
                if used.operands.get(1) != Some(&texel) {
                    value = code.op(builder, Op::Bitcast, texel, &[value]);
                }
                code.emit(Op::ImageWrite, &[image_id, coordinate, value]);
                return Ok(());
            }
            Op::ImageRead if image.storage => {
                if image.format == ImageFormat::Unknown {
                    return Err("of storage images of different formats".into());
                }
                let [coordinate] = *given else { return Err("of a level of a storage image".into()) };
                code.op(builder, Op::ImageRead, texel, &[image_id, coordinate])
            }
            Op::ImageRead | Op::ImageFetch if image.dim == Dim::Cube => {
                return Err("of a cube that is not a storage image, as Vulkan does not fetch from cubes".into());
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
            code.emit(Op::Store, &[result, found]);
        }
        Ok(())
    }
}

/// Returns true if the instruction can use the images of an array.
fn fits(used: &ImageUse<'_>, with_sampler: bool, image: Option<&ImageProperties>) -> bool {
    let Some(image) = image else { return false };
    let numbers = matches!(
        (used.scalar, image.component),
        (None, _)
            | (Some(Type::Float { width: 32, .. }), ComponentType::Float)
            | (Some(Type::Int { width: 32, .. }), ComponentType::Int { .. })
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
