//! Images: reading, writing and sampling of texels.

use super::{Decoder, Result, Val};
use crate::inst::{ImageQuery, Inst, Level, LookUp, LookUpKind, Offsets, Reg, TexelOperands};
use crate::program::Numbers;
use crate::ty::{Fmt, Kind};
use assay_spirv::module::{ImageType, Instruction, Type};
use assay_spirv::tables::{Dim, ImageFormat, ImageOperands, Op};
use assay_texture::GatherMode;

/// Image operands: registers, and their number where it varies.
#[derive(Clone, Copy, Debug, Default)]
struct DecodedOperands {
    lod: Option<Reg>,
    gradient: bool,
    offset: Option<(Reg, u32)>,
    offsets: Option<(Reg, u32)>,
    sample: Option<Reg>,
}

impl Decoder<'_> {
    pub(super) fn image(&mut self, i: Instruction, op: Op) -> Result {
        if op == Op::ImageTexelPointer {
            return self.texel_pointer(i);
        }
        if let Op::ConvertHandleToImageINTEL | Op::ConvertHandleToSamplerINTEL | Op::ConvertHandleToSampledImageINTEL =
            op
        {
            return self.handle(i, op);
        }
        let image = self.operand(i, 0)?;
        match op {
            Op::ImageRead | Op::ImageFetch => {
                let ty = self.image_type(&image)?;
                let coordinates = self.coordinates(i, &ty)?;
                let operands = self.texel_operands(i, 2, &ty)?;
                self.takes_for(&ty, i.operand(2));
                let dst = self.result(i)?;
                let (dst, n, image) = (dst.reg, dst.n, image.reg);
                self.emit(Inst::ImageRead { dst, n, image, coordinates, operands });
            }
            Op::ImageWrite => {
                let ty = self.image_type(&image)?;
                let coordinates = self.coordinates(i, &ty)?;
                let texel = self.operand(i, 2)?;
                let TexelOperands { level: None, offset: None, sample } = self.texel_operands(i, 3, &ty)? else {
                    return self.unsupported("OpImageWrite to a level or with an offset");
                };
                self.takes_for(&ty, i.operand(3));
                let to = self.word(i, 0)?;
                let first = self.relaxed_texel(to, &texel)?;
                self.emit(Inst::ImageWrite { image: image.reg, coordinates, texel: (first, texel.n), sample });
            }
            Op::SampledImage => {
                let (dst, sampler) = (self.result(i)?.reg, self.operand(i, 1)?.reg);
                self.emit(Inst::SampledImage { dst, image: image.reg, sampler });
            }
            Op::ImageSampleExplicitLod
            | Op::ImageSampleDrefExplicitLod
            | Op::ImageSampleProjExplicitLod
            | Op::ImageSampleProjDrefExplicitLod
            | Op::ImageGather
            | Op::ImageDrefGather
            | Op::ImageGatherQCOM => self.look_up(i, op, &image)?,
            // The image of a sampled image has the same descriptor.
            Op::Image => {
                let dst = self.result(i)?;
                self.emit(Inst::Copy { dst: dst.reg, src: image.reg, n: 1, load: false });
            }
            Op::ImageQuerySize | Op::ImageQuerySizeLod => {
                let arrayed = self.image_type(&image)?.arrayed;
                let lod = if op == Op::ImageQuerySizeLod { Some(self.operand(i, 1)?.reg) } else { None };
                self.query(i, image.reg, ImageQuery::Size { lod, arrayed })?;
            }
            Op::ImageQueryLevels => self.query(i, image.reg, ImageQuery::Levels)?,
            Op::ImageQuerySamples => self.query(i, image.reg, ImageQuery::Samples)?,
            _ => return self.unsupported(op.name()),
        }
        Ok(())
    }

    fn query(&mut self, i: Instruction, image: Reg, query: ImageQuery) -> Result {
        let dst = self.result(i)?;
        self.emit(Inst::ImageQuery { dst: dst.reg, n: dst.n, image, query });
        Ok(())
    }

    /// The type of an image value. Attachments are not implemented, and only two-dimensional
    /// images are multisampled in Vulkan.
    fn image_type(&mut self, image: &Val) -> Result<ImageType> {
        let ty = match *self.module.ty(image.ty) {
            Type::SampledImage { image } => image,
            _ => image.ty,
        };
        match *self.module.ty(ty) {
            Type::Image(ty) if ty.multisampled && ty.dim != Some(Dim::Dim2D) => {
                self.unsupported("a multisampled image that is not two-dimensional")
            }
            Type::Image(ImageType {
                dim: Some(Dim::Dim1D | Dim::Dim2D | Dim::Dim3D | Dim::Cube | Dim::Buffer),
                ..
            }) => {
                let Type::Image(ty) = *self.module.ty(ty) else { return self.invalid("no image") };
                Ok(ty)
            }
            Type::Image(_) => self.unsupported("an image of this dimensionality"),
            _ => self.invalid("this operand is no image"),
        }
    }

    /// Records the texel type that an access expects from an image without a format: its sampled
    /// type, with the signedness that the image operands may state.
    fn takes_for(&mut self, ty: &ImageType, operands: Option<u32>) {
        let operands = ImageOperands(operands.unwrap_or(0));
        let numbers = match *self.module.ty(ty.sampled_type) {
            Type::Float { .. } => Numbers::Float,
            Type::Int { width, signed } => {
                let stated = operands.contains(ImageOperands::SIGN_EXTEND);
                let signed = stated || (signed && !operands.contains(ImageOperands::ZERO_EXTEND));
                Numbers::Int { wide: width == 64, signed }
            }
            // A kernel, whose images have no sampled type.
            _ => return,
        };
        if ty.format == Some(ImageFormat::Unknown) {
            self.unformatted.insert(self.here, numbers);
        }
    }

    /// The integer coordinates: first register, and number of coordinates.
    fn coordinates(&mut self, i: Instruction, ty: &ImageType) -> Result<(Reg, u32)> {
        let coordinates = self.operand(i, 1)?;
        let plain = match ty.dim {
            Some(Dim::Dim1D | Dim::Buffer) => 1,
            Some(Dim::Dim2D) => 2,
            // The third coordinate of a cube is its face.
            _ => 3,
        };
        let needed = plain + u32::from(ty.arrayed && ty.dim != Some(Dim::Cube));
        if coordinates.n < needed {
            return self.invalid(format!("{} coordinates where {needed} are needed", coordinates.n));
        }
        Ok((coordinates.reg, needed))
    }

    /// The image operands from operand `at` on, for an access without a sampler. Refuses operands
    /// that are not implemented.
    fn texel_operands(&mut self, i: Instruction, at: usize, ty: &ImageType) -> Result<TexelOperands> {
        let found = self.image_operands(i, at)?;
        if found.gradient || found.offsets.is_some() {
            return self.unsupported("image operands other than Lod, Offset, ConstOffset and Sample of a texel");
        }
        if ty.multisampled != found.sample.is_some() {
            return self.invalid("the image operand Sample, which multisampled images have, and no others");
        }
        Ok(TexelOperands { level: found.lod, offset: found.offset, sample: found.sample })
    }

    /// The image operands from operand `at` on. Refuses operands that are not implemented.
    fn image_operands(&mut self, i: Instruction, at: usize) -> Result<DecodedOperands> {
        let mut found = DecodedOperands::default();
        let Some(word) = i.operand(at) else { return Ok(found) };
        let mask = ImageOperands(word);
        // The operands of each bit, from the lowest on, follow the mask.
        let mut next = at + 1;
        let mut take = |decoder: &mut Self, bit: ImageOperands| -> Result<Option<Val>> {
            if !mask.contains(bit) {
                return Ok(None);
            }
            next += 1;
            decoder.operand(i, next - 1).map(Some)
        };
        // The scopes among these come last. Accesses to images count as non-private.
        let ignored = ImageOperands::MAKE_TEXEL_AVAILABLE.0
            | ImageOperands::MAKE_TEXEL_VISIBLE.0
            | ImageOperands::NON_PRIVATE_TEXEL.0
            | ImageOperands::VOLATILE_TEXEL.0
            | ImageOperands::NONTEMPORAL.0
            | ImageOperands::SIGN_EXTEND.0
            | ImageOperands::ZERO_EXTEND.0;
        let known = ImageOperands::LOD.0
            | ImageOperands::GRAD.0
            | ImageOperands::CONST_OFFSET.0
            | ImageOperands::OFFSET.0
            | ImageOperands::CONST_OFFSETS.0
            | ImageOperands::SAMPLE.0;
        if mask.0 & !(ignored | known) != 0 {
            return self.unsupported("image operands such as Bias and MinLod");
        }
        found.lod = take(self, ImageOperands::LOD)?.map(|val| val.reg);
        if mask.contains(ImageOperands::GRAD) {
            found.gradient = true;
            take(self, ImageOperands::GRAD)?;
            next += 1;
        }
        let mut take = |decoder: &mut Self, bit: ImageOperands| -> Result<Option<(Reg, u32)>> {
            if !mask.contains(bit) {
                return Ok(None);
            }
            next += 1;
            let val = decoder.operand(i, next - 1)?;
            match decoder.kind(&val) {
                Kind::Int { width: 32, .. } => Ok(Some((val.reg, val.n))),
                _ => decoder.unsupported("offsets and samples that are no integers of 32 bits"),
            }
        };
        let constant = take(self, ImageOperands::CONST_OFFSET)?;
        found.offset = take(self, ImageOperands::OFFSET)?.or(constant);
        found.offsets = take(self, ImageOperands::CONST_OFFSETS)?;
        found.sample = take(self, ImageOperands::SAMPLE)?.map(|(sample, _)| sample);
        Ok(found)
    }

    /// Decodes samples and gathers.
    fn look_up(&mut self, i: Instruction, op: Op, image: &Val) -> Result {
        let ty = self.image_type(image)?;
        if ty.multisampled {
            return self.invalid(format!("{op} of a multisampled image"));
        }
        let gathers = matches!(op, Op::ImageGather | Op::ImageDrefGather | Op::ImageGatherQCOM);
        let projects = matches!(op, Op::ImageSampleProjExplicitLod | Op::ImageSampleProjDrefExplicitLod);
        let cube = ty.dim == Some(Dim::Cube);
        if ty.dim == Some(Dim::Buffer) || (cube && gathers) {
            return self.unsupported(format!("{op} of a cube or buffer"));
        }
        if projects && (cube || ty.arrayed) {
            return self.invalid(format!("{op} of a cube or of an array"));
        }
        let dst = self.result(i)?;
        let mut coordinates = self.coordinates(i, &ty)?;
        // The component after those of the dimensionality: the layer of a cube, or the divisor of
        // the others.
        let given = self.operand(i, 1)?;
        coordinates.1 += u32::from(cube && ty.arrayed) + u32::from(projects);
        if given.n < coordinates.1 {
            return self.invalid(format!("{} coordinates where {} are needed", given.n, coordinates.1));
        }
        if (coordinates.0..coordinates.0 + coordinates.1)
            .any(|reg| self.kinds.get(reg as usize) != Some(&Kind::Float(Fmt::F32)))
        {
            return self.unsupported(format!("{op} at coordinates that are no 32-bit floats"));
        }
        if !matches!(self.kind(&dst), Kind::Float(Fmt::F32) | Kind::Int { width: 32, .. }) {
            return self.unsupported(format!("{op} with components that have not 32 bits"));
        }
        let compares =
            matches!(op, Op::ImageSampleDrefExplicitLod | Op::ImageSampleProjDrefExplicitLod | Op::ImageDrefGather);
        let reference = if compares { Some(self.operand(i, 2)?.reg) } else { None };
        let operands = match op {
            Op::ImageSampleExplicitLod | Op::ImageSampleProjExplicitLod => 2,
            Op::ImageGatherQCOM => 4,
            _ => 3,
        };
        let found = self.image_operands(i, operands)?;
        self.takes_for(&ty, i.operand(operands));
        let offsets = match (found.offset, found.offsets) {
            (None, None) => Offsets::None,
            (Some((reg, n)), None) => Offsets::One(reg, n),
            (None, Some((reg, 8))) if op != Op::ImageGatherQCOM && gathers => Offsets::Four(reg),
            _ => return self.invalid(format!("{op} with these offsets")),
        };
        let kind = if gathers {
            let component = if compares { None } else { Some(self.operand(i, 2)?.reg) };
            let mode = if op == Op::ImageGatherQCOM {
                let word = self.word(i, 3)?;
                let mode = self.constant(word)? as u32;
                GatherMode::from_qcom(mode)
            } else {
                Some(GatherMode::Core)
            };
            let Some(mode) = mode else { return self.invalid("a mode of OpImageGatherQCOM that is none") };
            if found.lod.is_some() || found.gradient {
                return self.unsupported("a gather from a level");
            }
            LookUpKind::Gather { component, mode }
        } else {
            let level = match (found.lod, found.gradient) {
                (Some(lod), false) if self.kinds.get(lod as usize) == Some(&Kind::Float(Fmt::F32)) => Level::Lod(lod),
                (None, true) => Level::Gradient,
                _ => return self.invalid(format!("{op} needs one of Lod and Grad")),
            };
            LookUpKind::Sample(level)
        };
        let divisor = projects.then(|| {
            coordinates.1 -= 1;
            coordinates.0 + coordinates.1
        });
        let (dst, n, image, arrayed) = (dst.reg, dst.n, image.reg, ty.arrayed);
        let look_up = LookUp { dst, n, image, coordinates, arrayed, divisor, reference, offsets, kind };
        self.emit(Inst::LookUp(Box::new(look_up)));
        Ok(())
    }

    fn texel_pointer(&mut self, i: Instruction) -> Result {
        let (image, pointee) = self.pointer(i, 0)?;
        let crate::ty::Layout::Scalar(Kind::Handle) = *pointee.layout else {
            return self.invalid("OpImageTexelPointer of what is no image");
        };
        // A pointer to an image holds its descriptor, like the loaded image.
        let dst = self.result(i)?;
        let coordinates = self.operand(i, 1)?;
        let ty = self.module.pointer(image.ty).and_then(|(_, pointee)| pointee).map(|ty| self.module.ty(ty));
        // For other images, the operand is the constant 0.
        let sample = match ty {
            Some(Type::Image(ty)) if ty.multisampled => Some(self.operand(i, 2)?.reg),
            _ => None,
        };
        let coordinates = (coordinates.reg, coordinates.n);
        self.emit(Inst::TexelPointer { dst: dst.reg, image: image.reg, coordinates, sample });
        Ok(())
    }
}
