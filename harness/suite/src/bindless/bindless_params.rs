//! Parameters of a case: the images, their handles, and the way in which a kernel obtains a handle.

use super::bindless_reference;
use assay_spirv::tables::{Dim, ImageFormat};
use assay_texture::{AddressMode, BorderColor, Sampler};

/// Number of images to choose from, and of samplers.
pub(super) const IMAGES: usize = 4;

/// Invocations of a dispatch: two workgroups.
pub(super) const INVOCATIONS: usize = 64;

/// Image dimensionalities that kernels can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimensionality {
    Line,
    Plane,
    Volume,
    Lines,
    Planes,
    Texels,
    Cube,
    Cubes,
}

impl Dimensionality {
    /// The dimensionalities of OpenCL images.
    pub(super) const ALL: [Dimensionality; 6] = [
        Dimensionality::Line,
        Dimensionality::Plane,
        Dimensionality::Volume,
        Dimensionality::Lines,
        Dimensionality::Planes,
        Dimensionality::Texels,
    ];
    /// Further dimensionalities, which take the capability Shader.
    pub(super) const CUBES: [Dimensionality; 2] = [Dimensionality::Cube, Dimensionality::Cubes];

    pub(super) fn name(self) -> &'static str {
        match self {
            Dimensionality::Line => "1d",
            Dimensionality::Plane => "2d",
            Dimensionality::Volume => "3d",
            Dimensionality::Lines => "1d_array",
            Dimensionality::Planes => "2d_array",
            Dimensionality::Texels => "buffer",
            Dimensionality::Cube => "cube",
            Dimensionality::Cubes => "cube_array",
        }
    }

    pub(super) fn dim(self) -> Dim {
        match self {
            Dimensionality::Line | Dimensionality::Lines => Dim::Dim1D,
            Dimensionality::Plane | Dimensionality::Planes => Dim::Dim2D,
            Dimensionality::Volume => Dim::Dim3D,
            Dimensionality::Texels => Dim::Buffer,
            Dimensionality::Cube | Dimensionality::Cubes => Dim::Cube,
        }
    }

    pub(super) fn arrayed(self) -> bool {
        matches!(self, Dimensionality::Lines | Dimensionality::Planes | Dimensionality::Cubes)
    }

    /// Returns true if the last side counts layers. The faces of a cube are layers too.
    pub(super) fn layered(self) -> bool {
        self.arrayed() || self.cubes()
    }

    pub(super) fn cubes(self) -> bool {
        matches!(self, Dimensionality::Cube | Dimensionality::Cubes)
    }

    /// The sides of an image in texels, the layers last. Images differ in size, so an access to the
    /// wrong one hits other texels. Each has at least as many texels as there are invocations.
    pub(super) fn sides(self, image: usize) -> Vec<u32> {
        let k = image as u32;
        match self {
            Dimensionality::Line | Dimensionality::Texels => vec![64 + 3 * k],
            Dimensionality::Plane => vec![9 + k, 8 + k],
            Dimensionality::Volume => vec![5 + k, 4, 4 + k],
            Dimensionality::Lines => vec![17 + k, 4 + k],
            Dimensionality::Planes => vec![5 + k, 5, 3 + k],
            Dimensionality::Cube => vec![4 + k, 4 + k, 6],
            Dimensionality::Cubes => vec![3 + k, 3 + k, 12 + 6 * (k % 2)],
        }
    }

    /// Number of components of an OpenCL coordinate: four for three-dimensional coordinates.
    pub(super) fn components(self) -> u32 {
        match self.sides(0).len() as u32 {
            3 => 4,
            n => n,
        }
    }
}

/// The operation on the images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImageOperation {
    /// Each invocation reads a texel.
    Read,
    /// Each invocation writes a texel.
    Write,
    /// Reads a texel and writes it back with its components reversed.
    ReadWrite,
    /// Reads a texel of one image and writes it to another. The handles of both are converted to
    /// different image types.
    Copy,
    /// Samples with a sampler that has a handle of its own.
    Sample,
    /// As `Sample`, with a projective coordinate.
    Project,
    /// Samples through a handle of a combined image and sampler.
    Sampled,
    /// Reads a texel of the image extracted from such a handle.
    Extracted,
    /// Queries the size.
    Size,
}

impl ImageOperation {
    pub(super) const ALL: [ImageOperation; 8] = [
        ImageOperation::Read,
        ImageOperation::Write,
        ImageOperation::ReadWrite,
        ImageOperation::Copy,
        ImageOperation::Sample,
        ImageOperation::Sampled,
        ImageOperation::Extracted,
        ImageOperation::Size,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            ImageOperation::Read => "read",
            ImageOperation::Write => "write",
            ImageOperation::ReadWrite => "read_write",
            ImageOperation::Copy => "copy",
            ImageOperation::Sample => "sample",
            ImageOperation::Project => "project",
            ImageOperation::Sampled => "sampled",
            ImageOperation::Extracted => "taken_out",
            ImageOperation::Size => "size",
        }
    }

    /// Returns true for operations with a sampler.
    pub(super) fn samples(self) -> bool {
        matches!(self, ImageOperation::Sample | ImageOperation::Project | ImageOperation::Sampled)
    }

    /// Returns true if the sampler has a handle of its own.
    pub(super) fn takes_sampler(self) -> bool {
        matches!(self, ImageOperation::Sample | ImageOperation::Project)
    }

    /// Returns true if a handle denotes an image with its sampler.
    pub(super) fn brings_sampler(self) -> bool {
        matches!(self, ImageOperation::Sampled | ImageOperation::Extracted)
    }
}

/// The way in which an invocation obtains its handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HandleSource {
    /// An argument of the kernel, with other arguments before and after it.
    Argument,
    /// A constant of the module.
    Constant,
    /// Loaded from an array at a constant index.
    Memory,
    /// Loaded at an index that is an argument.
    Uniform,
    /// Loaded at an index that differs between invocations.
    Table,
    /// Loaded from an array with one handle for each invocation.
    Own,
    /// Loaded from a member of a structure in an array.
    Member,
    /// Assembled from two halves in memory.
    Halves,
    /// Computed as the first handle plus a multiple of the handles' distance.
    Stride,
    /// Computed as the first handle with some bits flipped.
    Bits,
    /// Selected from two by `OpSelect`.
    Select,
    /// Selected from two by a branch.
    Branch,
    /// Converted in both arms of a branch, whose images meet in a phi.
    Images,
    /// Passed to a function as an image.
    Function,
    /// All handles in a loop, whose texels are summed.
    Loop,
}

impl HandleSource {
    pub(super) const ALL: [HandleSource; 15] = [
        HandleSource::Argument,
        HandleSource::Constant,
        HandleSource::Memory,
        HandleSource::Uniform,
        HandleSource::Table,
        HandleSource::Own,
        HandleSource::Member,
        HandleSource::Halves,
        HandleSource::Stride,
        HandleSource::Bits,
        HandleSource::Select,
        HandleSource::Branch,
        HandleSource::Images,
        HandleSource::Function,
        HandleSource::Loop,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            HandleSource::Argument => "argument",
            HandleSource::Constant => "constant",
            HandleSource::Memory => "memory",
            HandleSource::Uniform => "uniform",
            HandleSource::Table => "table",
            HandleSource::Own => "own",
            HandleSource::Member => "member",
            HandleSource::Halves => "halves",
            HandleSource::Stride => "stride",
            HandleSource::Bits => "bits",
            HandleSource::Select => "select",
            HandleSource::Branch => "branch",
            HandleSource::Images => "images",
            HandleSource::Function => "function",
            HandleSource::Loop => "loop",
        }
    }

    /// The image for an invocation with this selector; for a loop, the first.
    pub(super) fn chosen(self, selector: usize) -> usize {
        match self {
            HandleSource::Argument => 1,
            HandleSource::Constant | HandleSource::Memory => 2,
            HandleSource::Uniform => 3,
            HandleSource::Table
            | HandleSource::Own
            | HandleSource::Member
            | HandleSource::Halves
            | HandleSource::Stride
            | HandleSource::Bits
            | HandleSource::Function => selector,
            HandleSource::Select => [0, 3][selector % 2],
            HandleSource::Branch | HandleSource::Images => [2, 1][selector % 2],
            HandleSource::Loop => 0,
        }
    }
}

/// The distance between the handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HandleSpacing {
    /// 64, like addresses of small objects.
    Apart,
    /// 1.
    Close,
    /// A power of two that affects the upper half only.
    Upper,
    /// The first handle is zero.
    Zero,
}

impl HandleSpacing {
    pub(super) const ALL: [HandleSpacing; 4] =
        [HandleSpacing::Apart, HandleSpacing::Close, HandleSpacing::Upper, HandleSpacing::Zero];

    pub(super) fn name(self) -> &'static str {
        match self {
            HandleSpacing::Apart => "apart",
            HandleSpacing::Close => "close",
            HandleSpacing::Upper => "upper",
            HandleSpacing::Zero => "zero",
        }
    }

    /// The handles, equally spaced. The distance of `Upper` is 2^32 for 64-bit handles and 2^16 for
    /// 32-bit ones.
    pub(super) fn handles(self, wide: bool) -> [u64; IMAGES] {
        let (first, step) = match (self, wide) {
            (HandleSpacing::Apart, true) => (0xfe3a_5c01_8000_1000, 0x40),
            (HandleSpacing::Apart, false) => (0xf000_1000, 0x40),
            (HandleSpacing::Close, true) => (0x1_0000_0000, 1),
            (HandleSpacing::Close, false) => (0x7fff_fffc, 1),
            (HandleSpacing::Upper, true) => (0x1234_5678, 1 << 32),
            (HandleSpacing::Upper, false) => (0x5678, 1 << 16),
            (HandleSpacing::Zero, true) => (0, 0x100_0000_0000),
            (HandleSpacing::Zero, false) => (0, 1),
        };
        std::array::from_fn(|k| first + k as u64 * step)
    }
}

/// The set of samplers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SamplerSet {
    /// One for each of four address modes.
    Edges,
    /// With unnormalised coordinates, clamped to the edge or to the border.
    Unnormalized,
}

/// The descriptor arrays of a lowered kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrayKind {
    /// Arrays with the number of descriptors as their length.
    Fixed,
    /// Runtime arrays, on devices that support them.
    Runtime,
}

/// The address mode of each sampler.
pub(super) const EDGES: [AddressMode; IMAGES] =
    [AddressMode::ClampToEdge, AddressMode::Repeat, AddressMode::MirroredRepeat, AddressMode::ClampToBorder];

/// Parameters of a case.
#[derive(Clone, Copy, Debug)]
pub(super) struct BindlessParams {
    /// Set for 64-bit addresses and handles.
    pub(super) wide: bool,
    pub(super) shape: Dimensionality,
    pub(super) access: ImageOperation,
    pub(super) source: HandleSource,
    pub(super) spacing: HandleSpacing,
    pub(super) format: ImageFormat,
    pub(super) samplers: SamplerSet,
    pub(super) arrays: ArrayKind,
}

impl BindlessParams {
    pub(super) fn plain(wide: bool, access: ImageOperation) -> BindlessParams {
        BindlessParams {
            wide,
            shape: Dimensionality::Plane,
            access,
            source: HandleSource::Table,
            spacing: HandleSpacing::Apart,
            format: ImageFormat::Rgba32ui,
            samplers: SamplerSet::Edges,
            arrays: ArrayKind::Fixed,
        }
    }

    /// Returns true if the kernel sees texels as floats.
    pub(super) fn float(&self) -> bool {
        let numbers = bindless_reference::layout(self.format).numbers;
        matches!(numbers, bindless_reference::NumericFormat::Float | bindless_reference::NumericFormat::Unorm)
    }

    pub(super) fn selector(invocation: usize) -> usize {
        (invocation * 7 + invocation / 5) % IMAGES
    }

    /// The index of an invocation's sampler, which differs from its image's.
    pub(super) fn sampler_index(invocation: usize) -> usize {
        (invocation + invocation / 4 + 1) % IMAGES
    }

    /// The sampler with this index.
    pub(super) fn sampler(&self, number: usize) -> Sampler {
        let border = if self.float() { BorderColor::FloatOpaqueWhite } else { BorderColor::IntOpaqueWhite };
        let unnormalized = self.samplers == SamplerSet::Unnormalized;
        let address = match (unnormalized, number % 2) {
            (false, _) => EDGES[number],
            (true, 0) => AddressMode::ClampToEdge,
            (true, _) => AddressMode::ClampToBorder,
        };
        Sampler { address: [address; 3], border, unnormalized, ..Sampler::NEAREST }
    }

    /// The divisor of an invocation's projective coordinate.
    pub(super) fn divisor(invocation: usize) -> f32 {
        [1.0, 2.0, 0.25, -4.0, -0.5][invocation % 5]
    }

    /// The index of an invocation's image.
    pub(super) fn image(&self, invocation: usize) -> usize {
        self.source.chosen(BindlessParams::selector(invocation))
    }

    /// The texel of an invocation. The invocations of one image have distinct texels; the first or
    /// the last texel is among them. With a sampler it may lie beyond the edge.
    pub(super) fn texel(&self, invocation: usize) -> Vec<i64> {
        let image = self.image(invocation);
        let sides = self.shape.sides(image);
        let number = (invocation * 37 + 11) % INVOCATIONS;
        let all: u32 = sides.iter().product();
        let mut number = match self.source {
            // Within every image.
            HandleSource::Loop => number,
            _ => number + image % 2 * (all as usize - INVOCATIONS),
        };
        let mut at = Vec::new();
        let inner = if self.source == HandleSource::Loop { self.shape.sides(0) } else { sides.clone() };
        for side in &inner {
            at.push((number % *side as usize) as i64);
            number /= *side as usize;
        }
        // A direction always leads to a texel of a face.
        if self.access.samples() && !self.shape.cubes() {
            let layered = usize::from(self.shape.layered());
            for (k, side) in sides.iter().take(sides.len() - layered).enumerate() {
                at[k] += [0, 1, -1][(invocation / 3 + k) % 3] * i64::from(*side);
            }
        }
        at
    }
}

/// A direction to the centre of a face's texel, from the centre of a cube with sides from -1 to 1.
/// Its length varies with the invocation.
pub(super) fn direction(face: i64, [s, t]: [f64; 2], invocation: usize) -> [f32; 3] {
    // From 0 to 1, as face coordinates are; t points down.
    let (s, t) = (2.0 * s - 1.0, 2.0 * t - 1.0);
    let at = match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    };
    at.map(|x| (x * [1.0, 0.5, 3.0, 64.0][invocation / 2 % 4]) as f32)
}
