//! Images and samplers: fetches, samples, comparisons, gathers, queries, and texels that belong to one
//! invocation.

use super::memory::UNKNOWN;
use super::types::{I32, Scalar, Type, U32};
use super::{Generator, Value};
use assay_check::{ImageConfig, SamplerConfig};

/// Dimensions of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dim {
    One,
    Two,
    Three,
    Cube,
}

impl Dim {
    /// Returns the operand of `OpTypeImage`.
    fn name(self) -> &'static str {
        match self {
            Dim::One => "1D",
            Dim::Two => "2D",
            Dim::Three => "3D",
            Dim::Cube => "Cube",
        }
    }

    /// Returns the number of components of a coordinate for a sample, without the layer.
    fn coordinates(self) -> u32 {
        match self {
            Dim::One => 1,
            Dim::Two => 2,
            Dim::Three | Dim::Cube => 3,
        }
    }

    /// Returns the number of components of the size.
    fn axes(self) -> usize {
        match self {
            Dim::One => 1,
            Dim::Two | Dim::Cube => 2,
            Dim::Three => 3,
        }
    }
}

/// A sampled image, or an array of them.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    number: u32,
    variable: String,
    image_type: String,
    scalar: Scalar,
    dim: Dim,
    arrayed: bool,
    /// Number of descriptors; `None` if it is not an array of descriptors.
    descriptors: Option<u32>,
    /// Smallest size of the first level along each axis.
    size: Vec<u32>,
    layers: u32,
    levels: u32,
    /// Variables of the sampler, and of the sampler that compares, for depths.
    sampler: String,
    comparer: Option<String>,
}

/// A storage image, in which each invocation has a column of texels.
#[derive(Clone, Debug)]
pub(super) struct Canvas {
    variable: String,
    image_type: String,
    scalar: Scalar,
    arrayed: bool,
}

/// Texels of a column of a storage image, and layers of an array.
const COLUMN: u32 = 4;
const CANVAS_LAYERS: u32 = 2;

/// Bindings of the sampled images; the samplers and those that compare follow with the same distance.
const PICTURES: u32 = 20;
const SAMPLERS: u32 = 24;
const COMPARERS: u32 = 28;
const CANVAS: u32 = 32;

/// Formats of storage images with the kinds of their scalars.
const CANVAS_FORMATS: [(&str, Scalar); 13] = [
    ("Rgba32f", Scalar::Float(32)),
    ("Rgba16f", Scalar::Float(32)),
    ("R32f", Scalar::Float(32)),
    ("Rgba8", Scalar::Float(32)),
    ("Rgba8Snorm", Scalar::Float(32)),
    ("Rgba32ui", U32),
    ("Rgba16ui", U32),
    ("Rgba8ui", U32),
    ("R32ui", U32),
    ("Rgba32i", I32),
    ("Rgba16i", I32),
    ("Rgba8i", I32),
    ("R32i", I32),
];

impl Generator {
    /// Declares one or two sampled images with their samplers, and perhaps a storage image for this
    /// many invocations.
    pub(super) fn declare_images(&mut self, invocations: u32) {
        for number in 0..self.rng.u32(1..=2) {
            let picture = self.picture(number);
            self.pictures.push(picture);
        }
        if self.chance(2) {
            let (format, scalar) = self.pick(&CANVAS_FORMATS);
            let arrayed = self.chance(3);
            let id = self.scalar_id(scalar);
            let image_type = self.module.declare(&format!("OpTypeImage {id} 2D 0 {} 0 2 {format}", u32::from(arrayed)));
            let variable = self.module.resource("UniformConstant", &image_type, CANVAS);
            let layers = arrayed.then_some(CANVAS_LAYERS);
            let size = Some(vec![invocations, COLUMN]);
            self.images.push((CANVAS, CANVAS.to_string(), ImageConfig { size, layers, ..ImageConfig::default() }));
            self.canvas = Some(Canvas { variable, image_type, scalar, arrayed });
        }
    }

    fn picture(&mut self, number: u32) -> Picture {
        let dim = self.pick(&[Dim::One, Dim::Two, Dim::Two, Dim::Two, Dim::Three, Dim::Cube]);
        let arrayed = matches!(dim, Dim::One | Dim::Two) && self.chance(3);
        let scalar = self.pick(&[Scalar::Float(32), Scalar::Float(32), U32, I32]);
        let is_depth = matches!(dim, Dim::Two | Dim::Cube) && scalar == Scalar::Float(32) && self.chance(2);
        let descriptors = (!is_depth && self.chance(4)).then(|| self.rng.u32(2..=4));
        if dim == Dim::One {
            self.module.capability("Sampled1D");
        }
        let id = self.scalar_id(scalar);
        let [depth, many] = [is_depth, arrayed].map(u32::from);
        let image_type = self.module.declare(&format!("OpTypeImage {id} {} {depth} {many} 0 1 Unknown", dim.name()));
        let variable_type = match descriptors {
            Some(count) => self.module.array(&image_type, count, None),
            None => image_type.clone(),
        };
        let binding = PICTURES + number;
        let variable = self.module.resource("UniformConstant", &variable_type, binding);
        let levels = self.rng.u32(1..=4);
        let layers = if arrayed { self.rng.u32(2..=4) } else { 1 };
        let swizzle =
            self.chance(2).then(|| (0..4).map(|_| self.pick(&['r', 'g', 'b', 'a', 'a', '0', '1'])).collect::<String>());
        let mut smallest = vec![u32::MAX; dim.axes()];
        for element in 0..descriptors.unwrap_or(1) {
            let mut size: Vec<u32> = (0..dim.axes()).map(|_| self.rng.u32(1 << (levels - 1)..=20)).collect();
            if dim == Dim::Cube {
                size[1] = size[0];
            }
            smallest.iter_mut().zip(&size).for_each(|(least, side)| *least = (*side).min(*least));
            let config = ImageConfig {
                size: Some(size),
                layers: arrayed.then_some(layers),
                levels: Some(levels),
                swizzle: swizzle.clone(),
                ..ImageConfig::default()
            };
            let name = if descriptors.is_some() { format!("{binding}[{element}]") } else { binding.to_string() };
            self.images.push((binding, name, config));
        }
        let shown = (scalar, swizzle.is_some());
        let sampler = self.sampler(SAMPLERS + number, shown, false);
        let comparer = is_depth.then(|| self.sampler(COMPARERS + number, shown, true));
        Picture {
            number,
            variable,
            image_type,
            scalar,
            dim,
            arrayed,
            descriptors,
            size: smallest,
            layers,
            levels,
            sampler,
            comparer,
        }
    }

    /// Declares a sampler for an image of a scalar, with or without a swizzle; integers cannot be filtered.
    fn sampler(&mut self, binding: u32, picture: (Scalar, bool), compares: bool) -> String {
        let (scalar, has_swizzle) = picture;
        let is_float = scalar == Scalar::Float(32);
        let modes = ["repeat", "mirrored_repeat", "clamp_to_edge", "mirror_clamp_to_edge", "clamp_to_border"];
        // The colour of the border is undefined in a view with a swizzle.
        let defined = &modes[..if has_swizzle { 4 } else { 5 }];
        let address = (0..3).map(|_| self.pick(defined).to_owned()).collect();
        let colour = self.pick(&["transparent_black", "opaque_black", "opaque_white"]);
        let compare = self.pick(&["never", "less", "equal", "less_or_equal", "greater", "not_equal", "always"]);
        let config = SamplerConfig {
            filter: Some(if is_float && self.chance(4) { "linear" } else { "nearest" }.to_owned()),
            mipmap: Some("nearest".to_owned()),
            address: Some(address),
            border: Some(format!("{}_{colour}", if is_float { "float" } else { "int" })),
            compare: compares.then(|| compare.to_owned()),
            ..SamplerConfig::default()
        };
        self.samplers.push((binding, config));
        let ty = self.module.declare("OpTypeSampler");
        self.module.resource("UniformConstant", &ty, binding)
    }

    /// Adds an instruction of an image. `whole` is set where all invocations are.
    pub(super) fn image(&mut self, whole: bool) {
        if self.canvas.is_some() && self.result.is_none() && self.chance(3) {
            return self.texel();
        }
        let Some(picture) = (!self.pictures.is_empty()).then(|| self.rng.usize(..self.pictures.len())) else {
            return self.operation(whole);
        };
        let picture = self.pictures[picture].clone();
        match self.rng.u32(..8) {
            0 | 1 => self.query(&picture),
            2 | 3 => self.fetch(&picture),
            _ if whole || picture.scalar == Scalar::Float(32) => self.sample(&picture),
            _ => self.fetch(&picture),
        }
    }

    /// Loads an image. The descriptor of an array is chosen by a value that need not be uniform.
    fn loaded(&mut self, picture: &Picture) -> (String, bool) {
        self.used.insert(PICTURES + picture.number);
        let Some(count) = picture.descriptors else {
            let id = self.module.label();
            self.line(&format!("{id} = OpLoad {} {}", picture.image_type, picture.variable));
            return (id, false);
        };
        let names = ["ShaderNonUniform", "SampledImageArrayNonUniformIndexing", "SampledImageArrayDynamicIndexing"];
        for name in names {
            self.module.capability(name);
        }
        self.module.extension("SPV_EXT_descriptor_indexing");
        let index = self.index_below(count);
        let pointer_type = self.module.pointer("UniformConstant", &picture.image_type);
        let [pointer, id] = [0; 2].map(|_| self.module.label());
        self.line(&format!("{pointer} = OpAccessChain {pointer_type} {} {index}", picture.variable));
        self.line(&format!("{id} = OpLoad {} {pointer}", picture.image_type));
        for id in [&pointer, &id] {
            self.module.decorate(format!("{id} NonUniform"));
        }
        (id, true)
    }

    /// Adds a query of a size or of the number of levels.
    fn query(&mut self, picture: &Picture) {
        self.module.capability("ImageQuery");
        let (image, _) = self.loaded(picture);
        if self.chance(4) {
            let id = self.op(&Type::Scalar(U32), "OpImageQueryLevels", image);
            return self.push(id, Type::Scalar(U32), 0);
        }
        let level = self.index_below(picture.levels);
        let scalar = self.pick(&[U32, I32]);
        let ty = scalar.times(picture.dim.axes() as u32 + u32::from(picture.arrayed));
        let id = self.op(&ty, "OpImageQuerySizeLod", format!("{image} {level}"));
        self.push(id, ty, 0);
    }

    /// Adds a texel without a sampler; a cube has none.
    fn fetch(&mut self, picture: &Picture) {
        if picture.dim == Dim::Cube {
            return self.query(picture);
        }
        let (image, _) = self.loaded(picture);
        let level = self.rng.u32(..picture.levels);
        let mut parts: Vec<String> = Vec::new();
        for side in &picture.size {
            parts.push(self.index_below((side >> level).max(1)));
        }
        if picture.arrayed {
            parts.push(self.index_below(picture.layers));
        }
        let coordinate = self.vector_of(U32, &parts);
        let level = self.module.constant_u32(level);
        let ty = picture.scalar.times(4);
        let id = self.op(&ty, "OpImageFetch", format!("{image} {coordinate} Lod {level}"));
        self.push(id, ty, texel_roundings(picture.scalar));
    }

    /// Adds a sample, a comparison or a gather. Nearby texels are permitted, so an integer is only stored.
    fn sample(&mut self, picture: &Picture) {
        let real = Type::Scalar(Scalar::Float(32));
        let compares = picture.comparer.is_some() && self.chance(2);
        let (sampler_variable, first) = match &picture.comparer {
            Some(comparer) if compares => (comparer.clone(), COMPARERS),
            _ => (picture.sampler.clone(), SAMPLERS),
        };
        self.used.insert(first + picture.number);
        let mut parts: Vec<String> = (0..picture.dim.coordinates()).map(|_| self.coordinate()).collect();
        if picture.dim == Dim::Cube && self.chance(4) {
            // A direction to an edge or a corner.
            let length = parts[0].clone();
            for part in &mut parts[1..] {
                if self.chance(2) {
                    part.clone_from(&length);
                } else if self.chance(2) {
                    *part = self.op(&real, "OpFNegate", &length);
                }
            }
        }
        if picture.arrayed {
            parts.push(self.layer());
        }
        let coordinate = self.vector_of(Scalar::Float(32), &parts);
        let reference = compares.then(|| self.coordinate());
        let gathers = picture.dim == Dim::Two && self.chance(3);
        let component = self.rng.u32(..4);
        let component = self.module.constant_u32(component);
        let lod = self.pick(&["0.0", "0.0", "1.0", "2.0", "-1.0"]);
        let lod = self.literal(&real, lod);
        // The instructions that use a sampled image stand in its block.
        let (image, is_varying) = self.loaded(picture);
        let sampler_type = self.module.declare("OpTypeSampler");
        let (sampler, sampled) = (self.module.label(), self.module.label());
        self.line(&format!("{sampler} = OpLoad {sampler_type} {sampler_variable}"));
        let sampled_type = self.module.declare(&format!("OpTypeSampledImage {}", picture.image_type));
        self.line(&format!("{sampled} = OpSampledImage {sampled_type} {image} {sampler}"));
        if is_varying {
            self.module.decorate(format!("{sampled} NonUniform"));
        }
        let four = picture.scalar.times(4);
        let (id, ty) = match (reference, gathers) {
            (Some(reference), true) => {
                (self.op(&four, "OpImageDrefGather", format!("{sampled} {coordinate} {reference}")), four)
            }
            (Some(reference), false) => {
                let text = format!("{sampled} {coordinate} {reference} Lod {lod}");
                (self.op(&real, "OpImageSampleDrefExplicitLod", text), real)
            }
            (None, true) => (self.op(&four, "OpImageGather", format!("{sampled} {coordinate} {component}")), four),
            (None, false) => {
                (self.op(&four, "OpImageSampleExplicitLod", format!("{sampled} {coordinate} Lod {lod}")), four)
            }
        };
        if picture.scalar == Scalar::Float(32) {
            self.push(id, ty, UNKNOWN);
        } else {
            self.results.push(Value { id, ty, roundings: 0 });
        }
    }

    /// Reads or writes a texel of the storage image that belongs to the invocation.
    fn texel(&mut self) {
        let Some(Canvas { variable, image_type, scalar, arrayed }) = self.canvas.clone() else { return };
        self.used.insert(CANVAS);
        let mut parts = vec![self.global_index.clone(), self.index_below(COLUMN)];
        if arrayed {
            parts.push(self.index_below(CANVAS_LAYERS));
        }
        let coordinate = self.vector_of(U32, &parts);
        let ty = scalar.times(4);
        let image = self.module.label();
        if self.chance(3) {
            self.line(&format!("{image} = OpLoad {image_type} {variable}"));
            let id = self.op(&ty, "OpImageRead", format!("{image} {coordinate}"));
            return self.push(id, ty, texel_roundings(scalar));
        }
        let mut texel = self.with_finite(|generator| generator.operand(&ty)).id;
        if scalar != Scalar::Float(32) {
            // A number that the format cannot hold would be undefined.
            let mask = self.literal(&ty, "127");
            texel = self.op(&ty, "OpBitwiseAnd", format!("{texel} {mask}"));
        }
        self.line(&format!("{image} = OpLoad {image_type} {variable}"));
        self.line(&format!("OpImageWrite {image} {coordinate} {texel}"));
    }

    /// Returns a component of a coordinate, inside the image or a few sizes beyond.
    fn coordinate(&mut self) -> String {
        let real = Type::Scalar(Scalar::Float(32));
        if self.chance(3) {
            let inner =
                ["0.015625", "0.265625", "0.484375", "0.984375", "1.015625", "-0.984375", "-0.390625", "1.734375"];
            let constant = if self.chance(8) { self.pick(&["0.0", "0.5", "1.0", "-1.0"]) } else { self.pick(&inner) };
            return self.literal(&real, constant);
        }
        let any = self.operand(&Type::Scalar(I32)).id;
        let mask = self.literal(&Type::Scalar(I32), "127");
        let small = self.op(&Type::Scalar(I32), "OpBitwiseAnd", format!("{any} {mask}"));
        let number = self.op(&real, "OpConvertSToF", small);
        // -1.98 to 1.98, in steps of a 32nd, and never between two texels: both would be permitted.
        let (scale, shift) = (self.literal(&real, "0.03125"), self.literal(&real, "1.984375"));
        let scaled = self.op(&real, "OpFMul", format!("{number} {scale}"));
        self.op(&real, "OpFSub", format!("{scaled} {shift}"))
    }

    /// Returns the number of a layer as a float; beyond the array it selects the first or the last one.
    fn layer(&mut self) -> String {
        let real = Type::Scalar(Scalar::Float(32));
        if self.chance(2) {
            let any = self.operand(&Type::Scalar(U32)).id;
            let opcode = self.pick(&["OpConvertUToF", "OpConvertSToF"]);
            return self.op(&real, opcode, any);
        }
        let layer = self.index_below(8);
        self.op(&real, "OpConvertUToF", layer)
    }

    /// Returns a vector of these components; a scalar for one.
    fn vector_of(&mut self, scalar: Scalar, parts: &[String]) -> String {
        match parts {
            [one] => one.clone(),
            _ => self.op(&scalar.times(parts.len() as u32), "OpCompositeConstruct", parts.join(" ")),
        }
    }
}

/// Returns the roundings of a texel: a denormal may be flushed.
fn texel_roundings(scalar: Scalar) -> u32 {
    if scalar == Scalar::Float(32) { UNKNOWN } else { 0 }
}
