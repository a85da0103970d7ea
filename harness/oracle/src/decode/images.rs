//! Images read and written texel by texel.

use super::{Decoder, Result, Val};
use crate::inst::{ImageQuery, Inst, Reg};
use assay_spirv::module::{ImageType, Instruction, Type};
use assay_spirv::tables::{Dim, ImageOperands, Op};

impl Decoder<'_> {
    pub(super) fn image(&mut self, i: Instruction, op: Op) -> Result {
        if op == Op::ImageTexelPointer {
            return self.texel_pointer(i);
        }
        let image = self.operand(i, 0)?;
        match op {
            Op::ImageRead | Op::ImageFetch => {
                let ty = self.image_type(&image)?;
                let coordinates = self.coordinates(i, &ty)?;
                let level = self.level(i, 2)?;
                let dst = self.result(i)?;
                self.emit(Inst::ImageRead { dst: dst.reg, n: dst.n, image: image.reg, coordinates, level });
            }
            Op::ImageWrite => {
                let ty = self.image_type(&image)?;
                let coordinates = self.coordinates(i, &ty)?;
                let texel = self.operand(i, 2)?;
                if self.level(i, 3)?.is_some() {
                    return self.unsupported("OpImageWrite to a level");
                }
                self.emit(Inst::ImageWrite { image: image.reg, coordinates, texel: (texel.reg, texel.n) });
            }
            // The image of a sampled image is the same descriptor.
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

    /// The type of an image value; multisampled images and attachments are not implemented.
    fn image_type(&mut self, image: &Val) -> Result<ImageType> {
        let ty = match *self.module.ty(image.ty) {
            Type::SampledImage { image } => image,
            _ => image.ty,
        };
        match *self.module.ty(ty) {
            Type::Image(ty) if ty.multisampled => self.unsupported("a multisampled image"),
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

    /// The integer coordinates: register and how many count.
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

    /// The level that image operands from operand `at` on name; refuses operands that are not implemented.
    fn level(&mut self, i: Instruction, at: usize) -> Result<Option<Reg>> {
        let Some(word) = i.operand(at) else { return Ok(None) };
        let mask = ImageOperands(word);
        let ignored = ImageOperands::NON_PRIVATE_TEXEL.0
            | ImageOperands::VOLATILE_TEXEL.0
            | ImageOperands::NONTEMPORAL.0
            | ImageOperands::SIGN_EXTEND.0
            | ImageOperands::ZERO_EXTEND.0;
        if mask.0 & !(ignored | ImageOperands::LOD.0) != 0 {
            return self.unsupported("image operands other than Lod");
        }
        if mask.contains(ImageOperands::LOD) { Ok(Some(self.operand(i, at + 1)?.reg)) } else { Ok(None) }
    }

    fn texel_pointer(&mut self, i: Instruction) -> Result {
        let (image, pointee) = self.pointer(i, 0)?;
        let crate::ty::Layout::Scalar(crate::ty::Kind::Handle) = *pointee.layout else {
            return self.invalid("OpImageTexelPointer of what is no image");
        };
        // A pointer to an image holds its descriptor, as the loaded image does.
        let dst = self.result(i)?;
        let coordinates = self.operand(i, 1)?;
        self.emit(Inst::TexelPointer { dst: dst.reg, image: image.reg, coordinates: (coordinates.reg, coordinates.n) });
        Ok(())
    }
}
