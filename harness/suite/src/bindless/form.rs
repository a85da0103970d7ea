//! What a case of handles is: which images there are, what they are called, and how a kernel comes by a handle.

use super::second;
use assay_spirv::sampling::{AddressMode, BorderColor, Sampler};
use assay_spirv::tables::{Dim, ImageFormat};

/// Images, and samplers, that there are to choose from.
pub(super) const IMAGES: usize = 4;

/// Invocations of a dispatch: two workgroups.
pub(super) const INVOCATIONS: usize = 64;

/// Dimensionalities that kernels have images of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Line,
    Plane,
    Volume,
    Lines,
    Planes,
    Texels,
    Cube,
    Cubes,
}

impl Shape {
    /// Those that images of OpenCL have.
    pub(super) const ALL: [Shape; 6] =
        [Shape::Line, Shape::Plane, Shape::Volume, Shape::Lines, Shape::Planes, Shape::Texels];
    /// Those that modules with capability Shader have beside them.
    pub(super) const CUBES: [Shape; 2] = [Shape::Cube, Shape::Cubes];

    pub(super) fn name(self) -> &'static str {
        match self {
            Shape::Line => "1d",
            Shape::Plane => "2d",
            Shape::Volume => "3d",
            Shape::Lines => "1d_array",
            Shape::Planes => "2d_array",
            Shape::Texels => "buffer",
            Shape::Cube => "cube",
            Shape::Cubes => "cube_array",
        }
    }

    pub(super) fn dim(self) -> Dim {
        match self {
            Shape::Line | Shape::Lines => Dim::Dim1D,
            Shape::Plane | Shape::Planes => Dim::Dim2D,
            Shape::Volume => Dim::Dim3D,
            Shape::Texels => Dim::Buffer,
            Shape::Cube | Shape::Cubes => Dim::Cube,
        }
    }

    pub(super) fn arrayed(self) -> bool {
        matches!(self, Shape::Lines | Shape::Planes | Shape::Cubes)
    }

    /// Whether the last of its sides counts layers: faces are layers, too.
    pub(super) fn layered(self) -> bool {
        self.arrayed() || self.cubes()
    }

    pub(super) fn cubes(self) -> bool {
        matches!(self, Shape::Cube | Shape::Cubes)
    }

    /// Sides of an image, the layers last: no two images are alike, so that a wrong one shows in where texels lie too. Each has
    /// as many texels as there are invocations, or more.
    pub(super) fn sides(self, image: usize) -> Vec<u32> {
        let k = image as u32;
        match self {
            Shape::Line | Shape::Texels => vec![64 + 3 * k],
            Shape::Plane => vec![9 + k, 8 + k],
            Shape::Volume => vec![5 + k, 4, 4 + k],
            Shape::Lines => vec![17 + k, 4 + k],
            Shape::Planes => vec![5 + k, 5, 3 + k],
            Shape::Cube => vec![4 + k, 4 + k, 6],
            Shape::Cubes => vec![3 + k, 3 + k, 12 + 6 * (k % 2)],
        }
    }

    /// Components of a coordinate, as OpenCL has them: of three, four.
    pub(super) fn components(self) -> u32 {
        match self.sides(0).len() as u32 {
            3 => 4,
            n => n,
        }
    }
}

/// What is done with the images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Each invocation reads a texel.
    Read,
    /// Each invocation writes one.
    Write,
    /// Reads a texel and writes it back, its components in reverse.
    ReadWrite,
    /// Reads one of an image and writes it to another, the handles being told apart by their kind of image alone.
    Copy,
    /// Looks a texel up with a sampler that has a handle of its own.
    Sample,
    /// The same at coordinates that are divided by the last one.
    Project,
    /// Looks a texel up in an image whose handle brings its sampler.
    Sampled,
    /// Reads a texel of the image that such a handle brings.
    TakenOut,
    /// Asks for the size.
    Size,
}

impl Access {
    pub(super) const ALL: [Access; 8] = [
        Access::Read,
        Access::Write,
        Access::ReadWrite,
        Access::Copy,
        Access::Sample,
        Access::Sampled,
        Access::TakenOut,
        Access::Size,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::ReadWrite => "read_write",
            Access::Copy => "copy",
            Access::Sample => "sample",
            Access::Project => "project",
            Access::Sampled => "sampled",
            Access::TakenOut => "taken_out",
            Access::Size => "size",
        }
    }

    /// Whether it looks texels up through a sampler.
    pub(super) fn samples(self) -> bool {
        matches!(self, Access::Sample | Access::Project | Access::Sampled)
    }

    /// Whether the sampler has a handle of its own.
    pub(super) fn takes_sampler(self) -> bool {
        matches!(self, Access::Sample | Access::Project)
    }

    /// Whether handles bring image and sampler together.
    pub(super) fn brings_sampler(self) -> bool {
        matches!(self, Access::Sampled | Access::TakenOut)
    }
}

/// How an invocation comes by its handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// An argument of the kernel, after others.
    Argument,
    /// A constant of the module.
    Constant,
    /// From an array in memory, at a constant place.
    Memory,
    /// At a place that is an argument.
    Uniform,
    /// At a place that differs between invocations.
    Table,
    /// Each invocation has its own in memory.
    Own,
    /// A member of a structure, in an array of structures.
    Member,
    /// Put together from two halves that lie in memory.
    Halves,
    /// The first and a multiple of what is between them.
    Stride,
    /// The first, with other bits.
    Bits,
    /// One of two, by a condition.
    Select,
    /// One of two, by a branch.
    Branch,
    /// Converted on both ways of a branch: it is the images that meet.
    Images,
    /// Handed to a function.
    Function,
    /// All, one after another: texels are added up.
    Loop,
}

impl Pick {
    pub(super) const ALL: [Pick; 15] = [
        Pick::Argument,
        Pick::Constant,
        Pick::Memory,
        Pick::Uniform,
        Pick::Table,
        Pick::Own,
        Pick::Member,
        Pick::Halves,
        Pick::Stride,
        Pick::Bits,
        Pick::Select,
        Pick::Branch,
        Pick::Images,
        Pick::Function,
        Pick::Loop,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Pick::Argument => "argument",
            Pick::Constant => "constant",
            Pick::Memory => "memory",
            Pick::Uniform => "uniform",
            Pick::Table => "table",
            Pick::Own => "own",
            Pick::Member => "member",
            Pick::Halves => "halves",
            Pick::Stride => "stride",
            Pick::Bits => "bits",
            Pick::Select => "select",
            Pick::Branch => "branch",
            Pick::Images => "images",
            Pick::Function => "function",
            Pick::Loop => "loop",
        }
    }

    /// The image that is chosen where an invocation's selector is that; of a loop, the first.
    pub(super) fn chosen(self, selector: usize) -> usize {
        match self {
            Pick::Argument => 1,
            Pick::Constant | Pick::Memory => 2,
            Pick::Uniform => 3,
            Pick::Table | Pick::Own | Pick::Member | Pick::Halves | Pick::Stride | Pick::Bits | Pick::Function => {
                selector
            }
            Pick::Select => [0, 3][selector % 2],
            Pick::Branch | Pick::Images => [2, 1][selector % 2],
            Pick::Loop => 0,
        }
    }
}

/// What images are called: how handles differ from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// By 64, as addresses of small objects would.
    Apart,
    /// By 1.
    Close,
    /// In their upper half alone.
    Upper,
    /// The first is zero.
    Zero,
}

impl Names {
    pub(super) const ALL: [Names; 4] = [Names::Apart, Names::Close, Names::Upper, Names::Zero];

    pub(super) fn name(self) -> &'static str {
        match self {
            Names::Apart => "apart",
            Names::Close => "close",
            Names::Upper => "upper",
            Names::Zero => "zero",
        }
    }

    /// The handles, equally spaced. Only the distance of `Upper` needs 64 bits, or is half of 32.
    pub(super) fn handles(self, wide: bool) -> [u64; IMAGES] {
        let (first, step) = match (self, wide) {
            (Names::Apart, true) => (0xfe3a_5c01_8000_1000, 0x40),
            (Names::Apart, false) => (0xf000_1000, 0x40),
            (Names::Close, true) => (0x1_0000_0000, 1),
            (Names::Close, false) => (0x7fff_fffc, 1),
            (Names::Upper, true) => (0x1234_5678, 1 << 32),
            (Names::Upper, false) => (0x5678, 1 << 16),
            (Names::Zero, true) => (0, 0x100_0000_0000),
            (Names::Zero, false) => (0, 1),
        };
        std::array::from_fn(|k| first + k as u64 * step)
    }
}

/// Which samplers there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Samplers {
    /// One for each way to go on beyond the edge.
    Edges,
    /// With coordinates in texels: clamped, or to a border.
    Unnormalized,
}

/// The arrays of descriptors that a lowered kernel has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrays {
    /// As long as there are descriptors.
    Fixed,
    /// As long as the layout says, where the device has such.
    Runtime,
}

/// The ways to go on beyond the edge, by sampler.
pub(super) const EDGES: [AddressMode; IMAGES] =
    [AddressMode::ClampToEdge, AddressMode::Repeat, AddressMode::MirroredRepeat, AddressMode::ClampToBorder];

/// A case.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// Whether addresses and handles have 64 bits.
    pub(super) wide: bool,
    pub(super) shape: Shape,
    pub(super) access: Access,
    pub(super) pick: Pick,
    pub(super) names: Names,
    pub(super) format: ImageFormat,
    pub(super) samplers: Samplers,
    pub(super) arrays: Arrays,
}

impl Form {
    pub(super) fn plain(wide: bool, access: Access) -> Form {
        Form {
            wide,
            shape: Shape::Plane,
            access,
            pick: Pick::Table,
            names: Names::Apart,
            format: ImageFormat::Rgba32ui,
            samplers: Samplers::Edges,
            arrays: Arrays::Fixed,
        }
    }

    /// Whether texels are floats to the kernel.
    pub(super) fn float(&self) -> bool {
        second::layout(self.format).2 == second::Numbers::Float
            || second::layout(self.format).2 == second::Numbers::Unorm
    }

    pub(super) fn selector(invocation: usize) -> usize {
        (invocation * 7 + invocation / 5) % IMAGES
    }

    /// The sampler of an invocation, which is not the image's number.
    pub(super) fn by(invocation: usize) -> usize {
        (invocation + invocation / 4 + 1) % IMAGES
    }

    /// The sampler with that number.
    pub(super) fn sampler(&self, number: usize) -> Sampler {
        let border = if self.float() { BorderColor::FloatOpaqueWhite } else { BorderColor::IntOpaqueWhite };
        let unnormalized = self.samplers == Samplers::Unnormalized;
        let address = match (unnormalized, number % 2) {
            (false, _) => EDGES[number],
            (true, 0) => AddressMode::ClampToEdge,
            (true, _) => AddressMode::ClampToBorder,
        };
        Sampler { address: [address; 3], border, unnormalized, ..Sampler::NEAREST }
    }

    /// What the coordinates of an invocation are divided by.
    pub(super) fn divisor(invocation: usize) -> f32 {
        [1.0, 2.0, 0.25, -4.0, -0.5][invocation % 5]
    }

    /// The image of an invocation.
    pub(super) fn image(&self, invocation: usize) -> usize {
        self.pick.chosen(Form::selector(invocation))
    }

    /// The texel of an invocation: no two of an image are the same, the first and the last of some are among them. Of samples it may
    /// lie beyond the edge.
    pub(super) fn texel(&self, invocation: usize) -> Vec<i64> {
        let image = self.image(invocation);
        let sides = self.shape.sides(image);
        let number = (invocation * 37 + 11) % INVOCATIONS;
        let all: u32 = sides.iter().product();
        let mut number = match self.pick {
            // Inside every image.
            Pick::Loop => number,
            _ => number + image % 2 * (all as usize - INVOCATIONS),
        };
        let mut at = Vec::new();
        let inner = if self.pick == Pick::Loop { self.shape.sides(0) } else { sides.clone() };
        for side in &inner {
            at.push((number % *side as usize) as i64);
            number /= *side as usize;
        }
        // A direction leads to a face, and not beyond it.
        if self.access.samples() && !self.shape.cubes() {
            let layered = usize::from(self.shape.layered());
            for (k, side) in sides.iter().take(sides.len() - layered).enumerate() {
                at[k] += [0, 1, -1][(invocation / 3 + k) % 3] * i64::from(*side);
            }
        }
        at
    }
}

/// The direction that the middle of a texel of a face lies in: a cube of sides from -1 to 1, seen from its middle. Its length varies.
pub(super) fn direction(face: i64, [s, t]: [f64; 2], invocation: usize) -> [f32; 3] {
    // From 0 to 1, as on the face; t goes down.
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
