//! Types of image instructions: results, coordinates, texels and image operands.

use super::Constraint::{Bits, Components, Custom, Is, Same};
use super::{A, B, C, Constraint, Operands, R, Signature, TypePath};
use crate::rules::analysis::typing::{IdType, TypeClass};
use crate::rules::image_operands::ids;
use crate::rules::opcode_groups::{TEXELS, WITH_IMAGE_OPERANDS};
use crate::rules::{Check, Facts, Rule, Severity};
use assay_spirv::module::{ImageType, Instruction, Type, TypeId};
use assay_spirv::tables::{Dim, ImageOperands, Op, StorageClass};

impl Operands<'_> {
    /// Image type of an operand that is an image, a sampled image or a pointer to one.
    fn image(&self, operand: u8) -> Option<ImageType> {
        let module = self.facts.module;
        let ty = self.type_at(operand)?;
        let ty = module.pointer(ty).map_or(Some(ty), |(_, pointee)| pointee)?;
        let ty = if let Type::SampledImage { image } = *module.ty(ty) { image } else { ty };
        match module.ty(ty) {
            Type::Image(image) => Some(*image),
            _ => None,
        }
    }
}

/// Number of coordinate components for a Dim, without layer and projection.
fn plane(dim: Option<Dim>) -> Option<u32> {
    match dim? {
        Dim::Dim1D | Dim::Buffer => Some(1),
        Dim::Dim2D | Dim::Rect | Dim::SubpassData => Some(2),
        Dim::Dim3D | Dim::Cube => Some(3),
        _ => None,
    }
}

/// Checks that a coordinate has enough components for its image. `extra` is the number of
/// components for projection, `layers` whether an arrayed image needs a layer.
fn coordinate_problem(operands: &Operands, extra: u32, layers: bool) -> Option<String> {
    let image = operands.image(0)?;
    let view = operands.view(operands.type_at(1)?);
    let layer = u32::from(image.arrayed && layers);
    let asked = plane(image.dim)? + layer + extra;
    let few = !view.is_unconstrained() && view.count < asked;
    few.then(|| format!("Coordinate has {} components, expected at least {asked}", view.count))
}

fn sample_problem(operands: &Operands) -> Option<String> {
    coordinate_problem(operands, 0, true)
}

fn projection_problem(operands: &Operands) -> Option<String> {
    coordinate_problem(operands, 1, true)
}

/// Checks the coordinate of an instruction that does not sample. A cube's layer and face are one
/// component there.
fn texel_problem(operands: &Operands) -> Option<String> {
    let image = operands.image(0)?;
    let fetched = operands.instruction.op == Some(Op::ImageFetch);
    if image.sampled != 0 && fetched != (image.sampled == 1) {
        return Some(format!("the image has Sampled {}", image.sampled));
    }
    coordinate_problem(operands, 0, image.dim != Some(Dim::Cube))
}

fn query_problem(operands: &Operands) -> Option<String> {
    coordinate_problem(operands, 0, false)
}

/// Checks that the components of a texel have the image's Sampled Type. A Sampled Type of `void`
/// permits every type.
fn component_problem(operands: &Operands, texel: TypePath) -> Option<String> {
    let sampled = operands.image(0)?.sampled_type;
    let texel = operands.part(operands.resolve(texel).ok()?, super::PathStep::Element)?;
    let judged = !matches!(operands.facts.module.ty(sampled), Type::Void) && !operands.view(texel).is_unconstrained();
    (texel != sampled && judged).then(|| {
        format!(
            "texel components are {}, the image's Sampled Type is {}",
            operands.show_type(texel),
            operands.show_type(sampled)
        )
    })
}

fn result_component_problem(operands: &Operands) -> Option<String> {
    component_problem(operands, R)
}

fn texel_component_problem(operands: &Operands) -> Option<String> {
    component_problem(operands, C)
}

fn sparse_component_problem(operands: &Operands) -> Option<String> {
    component_problem(operands, R.member(1))
}

/// Checks the component count of a size query: one for each dimension, and one for the layers.
fn query_size_problem(operands: &Operands) -> Option<String> {
    let image = operands.image(0)?;
    let dimensions = if image.dim == Some(Dim::Cube) { 2 } else { plane(image.dim)? };
    let expected = dimensions + u32::from(image.arrayed);
    let view = operands.view(operands.result_type()?);
    let fits = view.is_unconstrained() || view.count == expected;
    (!fits).then(|| format!("Result Type has {} components, expected {expected}", view.count))
}

/// Checks that a texel pointer has storage class Image and points to the image's Sampled Type.
fn texel_pointer_problem(operands: &Operands) -> Option<String> {
    let module = operands.facts.module;
    let (class, to) = module.pointer(operands.result_type()?)?;
    if class != StorageClass::Image {
        return Some(format!("Result Type points into {class}, expected Image"));
    }
    let (_, pointee) = module.pointer(operands.type_at(0)?)?;
    let pointee = pointee?;
    let Type::Image(image) = *module.ty(pointee) else {
        return Some(format!("Image points to {}, expected an image", operands.show_type(pointee)));
    };
    // Vectors of two or four 16-bit floats require `AtomicFloat16VectorNV`.
    let (to, vectors) = (to?, operands.facts.has(assay_spirv::tables::Capability::AtomicFloat16VectorNV));
    (to != image.sampled_type && !vectors).then(|| {
        format!(
            "Result Type points to {}, the image's Sampled Type is {}",
            operands.show_type(to),
            operands.show_type(image.sampled_type)
        )
    })
}

/// Checks that the operand's image type equals the image type of Result Type. They may differ in
/// Depth, which Vulkan ignores.
fn image_mismatch(operands: &Operands) -> Option<String> {
    let module = operands.facts.module;
    let image = |ty: TypeId| match module.ty(ty) {
        Type::SampledImage { image } => assay_spirv::reflect::image_type(module, *image),
        _ => assay_spirv::reflect::image_type(module, ty),
    };
    let (made, given) = (image(operands.result_type()?)?, image(operands.type_at(0)?)?);
    let differs = made != ImageType { depth: made.depth, ..given };
    differs.then(|| "Image Type of the operand and of Result Type differ in more than Depth".to_owned())
}

/// Constraints on a coordinate of sampling: 32-bit floats.
const AT: Constraint = Is(B, TypeClass::FLOATS);
/// Constraints on a coordinate of a fetch, read or write: 32-bit numbers.
const TEXEL_AT: Constraint = Is(B, TypeClass::NUMBERS);
const WIDE: Constraint = Bits(B, &[32]);
const REFERENCE: Constraint = Is(C, TypeClass::FLOAT);
const REFERENCE_WIDTH: Constraint = Bits(C, &[32]);
const FOUR: Constraint = Components(R, 4);
const NUMBERS: Constraint = Is(R, TypeClass::NUMBER_VECTOR);
const SAMPLER: Constraint = Is(A, TypeClass::SAMPLED_IMAGE);
const IMAGE: Constraint = Is(A, TypeClass::IMAGE);
const RESULT: Constraint = Custom(result_component_problem);

static IMAGES: &[Signature] = &[
    Signature {
        ops: &[Op::SampledImage],
        constraints: &[Is(R, TypeClass::SAMPLED_IMAGE), IMAGE, Is(B, TypeClass::SAMPLER), Custom(image_mismatch)],
    },
    Signature { ops: &[Op::Image], constraints: &[Is(R, TypeClass::IMAGE), SAMPLER, Same(R, A.element())] },
    Signature {
        ops: &[Op::ImageSampleImplicitLod],
        constraints: &[SAMPLER, NUMBERS, FOUR, RESULT, AT, WIDE, Custom(sample_problem)],
    },
    Signature {
        ops: &[Op::ImageSampleExplicitLod],
        constraints: &[SAMPLER, NUMBERS, FOUR, RESULT, TEXEL_AT, WIDE, Custom(sample_problem)],
    },
    Signature {
        ops: &[Op::ImageGather],
        constraints: &[SAMPLER, NUMBERS, FOUR, RESULT, AT, WIDE, Custom(sample_problem), Is(C, TypeClass::INT)],
    },
    Signature {
        ops: &[Op::ImageSampleProjImplicitLod, Op::ImageSampleProjExplicitLod],
        constraints: &[SAMPLER, NUMBERS, FOUR, RESULT, AT, WIDE, Custom(projection_problem)],
    },
    Signature {
        ops: &[Op::ImageSampleDrefImplicitLod, Op::ImageSampleDrefExplicitLod],
        constraints: &[
            SAMPLER,
            Is(R, TypeClass::NUMBER),
            RESULT,
            AT,
            WIDE,
            Custom(sample_problem),
            REFERENCE,
            REFERENCE_WIDTH,
        ],
    },
    Signature {
        ops: &[Op::ImageSampleProjDrefImplicitLod, Op::ImageSampleProjDrefExplicitLod],
        constraints: &[
            SAMPLER,
            Is(R, TypeClass::NUMBER),
            RESULT,
            AT,
            WIDE,
            Custom(projection_problem),
            REFERENCE,
            REFERENCE_WIDTH,
        ],
    },
    Signature {
        ops: &[Op::ImageDrefGather],
        constraints: &[SAMPLER, NUMBERS, FOUR, RESULT, AT, WIDE, Custom(sample_problem), REFERENCE, REFERENCE_WIDTH],
    },
    Signature {
        ops: &[Op::ImageFetch],
        constraints: &[IMAGE, NUMBERS, FOUR, RESULT, Is(B, TypeClass::INTS), WIDE, Custom(texel_problem)],
    },
    Signature {
        ops: &[Op::ImageRead],
        constraints: &[IMAGE, Is(R, TypeClass::NUMBERS), RESULT, TEXEL_AT, WIDE, Custom(texel_problem)],
    },
    Signature {
        ops: &[Op::ImageWrite],
        constraints: &[
            IMAGE,
            TEXEL_AT,
            WIDE,
            Custom(texel_problem),
            Is(C, TypeClass::NUMBERS),
            Custom(texel_component_problem),
        ],
    },
    Signature {
        ops: &[Op::ImageTexelPointer],
        constraints: &[
            Is(R, TypeClass::POINTER),
            Is(A, TypeClass::POINTER),
            Custom(texel_pointer_problem),
            Is(B, TypeClass::INTS),
            Is(C, TypeClass::INT),
        ],
    },
    Signature {
        ops: &[Op::ImageQuerySizeLod],
        constraints: &[Is(R, TypeClass::INTS), IMAGE, Is(B, TypeClass::INT), Custom(query_size_problem)],
    },
    Signature { ops: &[Op::ImageQuerySize], constraints: &[Is(R, TypeClass::INTS), IMAGE, Custom(query_size_problem)] },
    Signature {
        ops: &[Op::ImageQueryLod],
        constraints: &[Is(R, TypeClass::FLOAT_VECTOR), Components(R, 2), SAMPLER, AT, Custom(query_problem)],
    },
    Signature { ops: &[Op::ImageQueryLevels, Op::ImageQuerySamples], constraints: &[Is(R, TypeClass::INT), IMAGE] },
    Signature {
        ops: &[
            Op::ImageSparseSampleImplicitLod,
            Op::ImageSparseSampleExplicitLod,
            Op::ImageSparseGather,
            Op::ImageSparseDrefGather,
            Op::ImageSparseSampleDrefImplicitLod,
            Op::ImageSparseSampleDrefExplicitLod,
        ],
        constraints: &[
            SAMPLER,
            Is(R, TypeClass::STRUCT),
            Is(R.member(0), TypeClass::INT),
            Custom(sparse_component_problem),
        ],
    },
    Signature {
        ops: &[Op::ImageSparseFetch, Op::ImageSparseRead],
        constraints: &[
            IMAGE,
            Is(R, TypeClass::STRUCT),
            Is(R.member(0), TypeClass::INT),
            Custom(sparse_component_problem),
        ],
    },
    Signature { ops: &[Op::ImageSparseTexelsResident], constraints: &[Is(R, TypeClass::BOOL), Is(A, TypeClass::INT)] },
];

/// Signature of `OpImageGatherQCOM`. Its result, component and mode have rules of their own.
pub(in super::super) static GATHERED: &[Signature] =
    &[Signature { ops: &[Op::ImageGatherQCOM], constraints: &[SAMPLER, Is(B, TypeClass::FLOAT_VECTOR)] }];

/// Type class and component count that an image operand must have.
fn required_operand(operand: ImageOperands, op: Op, image: &ImageType) -> Option<(TypeClass, Option<u32>)> {
    use ImageOperands as I;
    let texels = TEXELS.contains(&op);
    match operand {
        I::LOD if texels => Some((TypeClass::INT, None)),
        I::BIAS | I::LOD | I::MIN_LOD => Some((TypeClass::FLOAT, None)),
        I::GRAD => Some((TypeClass::FLOATS, plane(image.dim))),
        I::CONST_OFFSET | I::OFFSET => Some((TypeClass::INTS, plane(image.dim))),
        I::SAMPLE => Some((TypeClass::INT, None)),
        _ => None,
    }
}

/// Describes a type mismatch among the image operands of an instruction.
fn image_operand_problem(facts: &Facts, instruction: Instruction) -> Option<String> {
    let operands = Operands::of(facts, instruction)?;
    let image = operands.image(0)?;
    for (bit, word) in ids(facts, instruction) {
        let Some((class, components)) = required_operand(bit, instruction.op?, &image) else { continue };
        let ty = match operands.value(word) {
            IdType::Known(ty) => ty,
            IdType::NotAValue(op) => return Some(format!("an image operand is the result of {op}, expected a value")),
            IdType::Unknown => continue,
        };
        let view = operands.view(ty);
        let fits = view.is(class) && (view.is_unconstrained() || components.is_none_or(|count| view.count == count));
        if !fits {
            let size = components.map_or_else(String::new, |count| format!(" with {count} components"));
            return Some(format!("an image operand is {}, expected {}{size}", operands.show_type(ty), class.text));
        }
    }
    None
}

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "image-operand-types",
        id: "SPIR-V specification, Image Operands: Bias, Lod, Grad, ConstOffset, Offset, Sample, MinLod",
        requirement: "image operands must be scalars or vectors of the required kind; Grad, Offset and ConstOffset must have one component for each dimension",
        severity: Severity::Error,
        check: Check::Instructions(WITH_IMAGE_OPERANDS, |facts, instruction, found| {
            if let Some(problem) = image_operand_problem(facts, instruction) {
                found.report(instruction, problem);
            }
        }),
    },
    Rule {
        name: "image-types",
        id: "SPIR-V specification, Image Instructions: Result Type, Image, Coordinate and Texel",
        requirement: "results, coordinates and texels of image instructions must have the types that the image requires",
        severity: Severity::Error,
        check: Check::Typed(IMAGES),
    },
];
