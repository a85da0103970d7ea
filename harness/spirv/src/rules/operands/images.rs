//! Images: what is sampled, fetched, read and written, and where.

use super::Ask::{Bits, Components, Holds, Is, Same};
use super::typing::{Class, Value};
use super::{A, Ask, B, C, Operands, Place, R, Signature};
use crate::module::{ImageType, Instruction, Type, TypeId};
use crate::rules::image_operands::ids;
use crate::rules::ops::{TEXELS, WITH_IMAGE_OPERANDS};
use crate::rules::{Facts, On, Rule, Severity};
use crate::tables::{Dim, ImageOperands, Op, StorageClass};

impl Operands<'_> {
    /// The image that an operand is, or is sampled from, or points to.
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

/// Components of a coordinate without layer and projection.
fn plane(dim: Option<Dim>) -> Option<u32> {
    match dim? {
        Dim::Dim1D | Dim::Buffer => Some(1),
        Dim::Dim2D | Dim::Rect | Dim::SubpassData => Some(2),
        Dim::Dim3D | Dim::Cube => Some(3),
        _ => None,
    }
}

/// Whether a coordinate has the components that its image asks for.
fn coordinate(operands: &Operands, extra: u32, layers: bool) -> Option<String> {
    let image = operands.image(0)?;
    let view = operands.view(operands.type_at(1)?);
    let layer = u32::from(image.arrayed && layers);
    let asked = plane(image.dim)? + layer + extra;
    let few = !view.is_foreign() && view.count < asked;
    few.then(|| format!("Coordinate has {} components, expected {asked} at least", view.count))
}

fn sampled(operands: &Operands) -> Option<String> {
    coordinate(operands, 0, true)
}

fn projected(operands: &Operands) -> Option<String> {
    coordinate(operands, 1, true)
}

/// Layers and faces of a cube are one number to what is no sampler.
fn texel(operands: &Operands) -> Option<String> {
    let image = operands.image(0)?;
    let fetched = operands.instruction.op == Some(Op::ImageFetch);
    if image.sampled != 0 && fetched != (image.sampled == 1) {
        return Some(format!("the image's Sampled is {}", image.sampled));
    }
    coordinate(operands, 0, image.dim != Some(Dim::Cube))
}

fn queried(operands: &Operands) -> Option<String> {
    coordinate(operands, 0, false)
}

/// What is compared with the components of an image's samples, which a `void` sampled type leaves open.
fn components_of(operands: &Operands, texel: Place) -> Option<String> {
    let sampled = operands.image(0)?.sampled_type;
    let texel = operands.part(operands.find(texel).ok()?, super::Part::Inner)?;
    let judged = !matches!(operands.facts.module.ty(sampled), Type::Void) && !operands.view(texel).is_foreign();
    (texel != sampled && judged).then(|| {
        format!("components are {}, the image's are {}", operands.show_type(texel), operands.show_type(sampled))
    })
}

fn result_components(operands: &Operands) -> Option<String> {
    components_of(operands, R)
}

fn texel_components(operands: &Operands) -> Option<String> {
    components_of(operands, C)
}

fn sparse_components(operands: &Operands) -> Option<String> {
    components_of(operands, R.member(1))
}

/// Sizes have a component for each dimension, and one for layers.
fn size(operands: &Operands) -> Option<String> {
    let image = operands.image(0)?;
    let dimensions = if image.dim == Some(Dim::Cube) { 2 } else { plane(image.dim)? };
    let expected = dimensions + u32::from(image.arrayed);
    let view = operands.view(operands.result_type()?);
    let fits = view.is_foreign() || view.count == expected;
    (!fits).then(|| format!("Result Type has {} components, expected {expected}", view.count))
}

/// A texel pointer points into Image, to the sampled type of what its operand points to.
fn texel_pointer(operands: &Operands) -> Option<String> {
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
    // Pairs and fours of halves are NVIDIA's.
    let (to, vectors) = (to?, operands.facts.has(crate::tables::Capability::AtomicFloat16VectorNV));
    (to != image.sampled_type && !vectors).then(|| {
        format!(
            "Result Type points to {}, the image has {}",
            operands.show_type(to),
            operands.show_type(image.sampled_type)
        )
    })
}

/// Vulkan ignores Depth: the image may differ in it from the image in Result Type, in nothing else.
fn same_image(operands: &Operands) -> Option<String> {
    let module = operands.facts.module;
    let image = |ty: TypeId| match module.ty(ty) {
        Type::SampledImage { image } => crate::reflect::image_type(module, *image),
        _ => crate::reflect::image_type(module, ty),
    };
    let (made, given) = (image(operands.result_type()?)?, image(operands.type_at(0)?)?);
    let differs = made != ImageType { depth: made.depth, ..given };
    differs.then(|| "Image differs from the image in Result Type in more than Depth".to_owned())
}

/// Floats of 32 bits where to sample.
const AT: Ask = Is(B, Class::FLOATS);
/// Numbers of 32 bits where to fetch, read or write.
const TEXEL_AT: Ask = Is(B, Class::NUMBERS);
const WIDE: Ask = Bits(B, &[32]);
const REFERENCE: Ask = Is(C, Class::FLOAT);
const REFERENCE_WIDTH: Ask = Bits(C, &[32]);
const FOUR: Ask = Components(R, 4);
const NUMBERS: Ask = Is(R, Class::NUMBER_VECTOR);
const SAMPLER: Ask = Is(A, Class::SAMPLED_IMAGE);
const IMAGE: Ask = Is(A, Class::IMAGE);
const RESULT: Ask = Holds(result_components);

static IMAGES: &[Signature] = &[
    Signature {
        ops: &[Op::SampledImage],
        asks: &[Is(R, Class::SAMPLED_IMAGE), IMAGE, Is(B, Class::SAMPLER), Holds(same_image)],
    },
    Signature { ops: &[Op::Image], asks: &[Is(R, Class::IMAGE), SAMPLER, Same(R, A.inner())] },
    Signature { ops: &[Op::ImageSampleImplicitLod], asks: &[SAMPLER, NUMBERS, FOUR, RESULT, AT, WIDE, Holds(sampled)] },
    Signature {
        ops: &[Op::ImageSampleExplicitLod],
        asks: &[SAMPLER, NUMBERS, FOUR, RESULT, TEXEL_AT, WIDE, Holds(sampled)],
    },
    Signature {
        ops: &[Op::ImageGather],
        asks: &[SAMPLER, NUMBERS, FOUR, RESULT, AT, WIDE, Holds(sampled), Is(C, Class::INT)],
    },
    Signature {
        ops: &[Op::ImageSampleProjImplicitLod, Op::ImageSampleProjExplicitLod],
        asks: &[SAMPLER, NUMBERS, FOUR, RESULT, AT, WIDE, Holds(projected)],
    },
    Signature {
        ops: &[Op::ImageSampleDrefImplicitLod, Op::ImageSampleDrefExplicitLod],
        asks: &[SAMPLER, Is(R, Class::NUMBER), RESULT, AT, WIDE, Holds(sampled), REFERENCE, REFERENCE_WIDTH],
    },
    Signature {
        ops: &[Op::ImageSampleProjDrefImplicitLod, Op::ImageSampleProjDrefExplicitLod],
        asks: &[SAMPLER, Is(R, Class::NUMBER), RESULT, AT, WIDE, Holds(projected), REFERENCE, REFERENCE_WIDTH],
    },
    Signature {
        ops: &[Op::ImageDrefGather],
        asks: &[SAMPLER, NUMBERS, FOUR, RESULT, AT, WIDE, Holds(sampled), REFERENCE, REFERENCE_WIDTH],
    },
    Signature { ops: &[Op::ImageFetch], asks: &[IMAGE, NUMBERS, FOUR, RESULT, Is(B, Class::INTS), WIDE, Holds(texel)] },
    Signature { ops: &[Op::ImageRead], asks: &[IMAGE, Is(R, Class::NUMBERS), RESULT, TEXEL_AT, WIDE, Holds(texel)] },
    Signature {
        ops: &[Op::ImageWrite],
        asks: &[IMAGE, TEXEL_AT, WIDE, Holds(texel), Is(C, Class::NUMBERS), Holds(texel_components)],
    },
    Signature {
        ops: &[Op::ImageTexelPointer],
        asks: &[
            Is(R, Class::POINTER),
            Is(A, Class::POINTER),
            Holds(texel_pointer),
            Is(B, Class::INTS),
            Is(C, Class::INT),
        ],
    },
    Signature { ops: &[Op::ImageQuerySizeLod], asks: &[Is(R, Class::INTS), IMAGE, Is(B, Class::INT), Holds(size)] },
    Signature { ops: &[Op::ImageQuerySize], asks: &[Is(R, Class::INTS), IMAGE, Holds(size)] },
    Signature {
        ops: &[Op::ImageQueryLod],
        asks: &[Is(R, Class::FLOAT_VECTOR), Components(R, 2), SAMPLER, AT, Holds(queried)],
    },
    Signature { ops: &[Op::ImageQueryLevels, Op::ImageQuerySamples], asks: &[Is(R, Class::INT), IMAGE] },
    Signature {
        ops: &[
            Op::ImageSparseSampleImplicitLod,
            Op::ImageSparseSampleExplicitLod,
            Op::ImageSparseGather,
            Op::ImageSparseDrefGather,
            Op::ImageSparseSampleDrefImplicitLod,
            Op::ImageSparseSampleDrefExplicitLod,
        ],
        asks: &[SAMPLER, Is(R, Class::STRUCT), Is(R.member(0), Class::INT), Holds(sparse_components)],
    },
    Signature {
        ops: &[Op::ImageSparseFetch, Op::ImageSparseRead],
        asks: &[IMAGE, Is(R, Class::STRUCT), Is(R.member(0), Class::INT), Holds(sparse_components)],
    },
    Signature { ops: &[Op::ImageSparseTexelsResident], asks: &[Is(R, Class::BOOL), Is(A, Class::INT)] },
];

/// `OpImageGatherQCOM`; its result, component and mode have rules of their own.
pub(in super::super) static GATHERED: &[Signature] =
    &[Signature { ops: &[Op::ImageGatherQCOM], asks: &[SAMPLER, Is(B, Class::FLOAT_VECTOR)] }];

/// The kind that an image operand has to be of, and how many components it has to have.
fn asked_of(operand: ImageOperands, op: Op, image: &ImageType) -> Option<(Class, Option<u32>)> {
    use ImageOperands as I;
    let texels = TEXELS.contains(&op);
    match operand {
        I::LOD if texels => Some((Class::INT, None)),
        I::BIAS | I::LOD | I::MIN_LOD => Some((Class::FLOAT, None)),
        I::GRAD => Some((Class::FLOATS, plane(image.dim))),
        I::CONST_OFFSET | I::OFFSET => Some((Class::INTS, plane(image.dim))),
        I::SAMPLE => Some((Class::INT, None)),
        _ => None,
    }
}

/// What is wrong with the types of an instruction's image operands.
fn image_operands(facts: &Facts, instruction: Instruction) -> Option<String> {
    let operands = Operands::of(facts, instruction)?;
    let image = operands.image(0)?;
    for (bit, word) in ids(facts, instruction) {
        let Some((class, components)) = asked_of(bit, instruction.op?, &image) else { continue };
        let ty = match operands.value(word) {
            Value::Of(ty) => ty,
            Value::No(op) => return Some(format!("an image operand is made by {op}, expected a value")),
            Value::Unknown => continue,
        };
        let view = operands.view(ty);
        let fits = view.is(class) && (view.is_foreign() || components.is_none_or(|count| view.count == count));
        if !fits {
            let size = components.map_or_else(String::new, |count| format!(" of {count} in all"));
            return Some(format!("an image operand is {}, expected {}{size}", operands.show_type(ty), class.text));
        }
    }
    None
}

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "image-operand-types",
        id: "SPIR-V specification, Image Operands: Bias, Lod, Grad, ConstOffset, Offset, Sample, MinLod",
        says: "image operands are numbers of their kind, gradients and offsets with a component for each dimension",
        severity: Severity::Error,
        on: On::Instructions(WITH_IMAGE_OPERANDS, |facts, instruction, found| {
            if let Some(problem) = image_operands(facts, instruction) {
                found.at(instruction, problem);
            }
        }),
    },
    Rule {
        name: "image-types",
        id: "SPIR-V specification, Image Instructions: Result Type, Image, Coordinate and Texel",
        says: "images are sampled, read and written with coordinates that fit them, and texels of their components",
        severity: Severity::Error,
        on: On::Typed(IMAGES),
    },
];
