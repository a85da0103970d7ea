//! Inputs and budget of a run.

use crate::atomic_history::AtomicOrder;
use crate::subgroup_layout::SubgroupLayout;
use assay_spirv::kernel_call::KernelCall;
use assay_spirv::tables::{Dim, ImageFormat};
use assay_texture::{ImageView, Sampler};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Values of specialisation constants by `SpecId`: their bits, right-aligned; 0 or 1 for booleans.
pub type SpecValues = BTreeMap<u32, u64>;

/// Address of a descriptor: set, binding, and element of the binding's array (0 if it is not an
/// array).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slot {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Element of the binding's array of descriptors.
    pub element: u32,
}

impl Slot {
    /// The first descriptor of a binding.
    pub const fn new(set: u32, binding: u32) -> Slot {
        Slot { set, binding, element: 0 }
    }
}

impl std::fmt::Display for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "set {} binding {}", self.set, self.binding)?;
        if self.element != 0 { write!(f, " element {}", self.element) } else { Ok(()) }
    }
}

/// A range of buffer memory that a descriptor binds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffer {
    /// Contents before the dispatch, in bytes.
    pub data: Vec<u8>,
    /// Device address of the first byte, if the buffer has one. Results that a program computes
    /// from an address are only as portable as the address; see [`Outcome`](crate::Outcome).
    pub address: Option<u64>,
}

/// An image, or a buffer viewed as texels, that a descriptor binds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Dimensionality of the view; `Dim::Buffer` for a texel buffer.
    pub dim: Dim,
    /// Size of the image's first level in texels along x, y, z; 1 along axes that the image does
    /// not have.
    pub extent: [u32; 3],
    /// Layers of the image. Its view shows 1 unless it is arrayed, and six for each cube.
    pub layers: u32,
    /// Mip levels of the image, each half as large as the one before.
    pub levels: u32,
    /// Samples of a texel; more than 1 for a multisampled image.
    pub samples: u32,
    /// Storage format of a texel; not `Unknown`.
    pub format: ImageFormat,
    /// Set for the depth aspect of a depth format, stored as `R32f`.
    pub depth: bool,
    /// The part of the image that the shader sees.
    pub view: ImageView,
    /// Texels before the dispatch: level by level, then layer by layer, then row by row, without
    /// padding. The samples of a texel follow one another.
    pub data: Vec<u8>,
}

impl Image {
    /// Size of a level of the image in texels along x, y, z.
    pub fn extent_of(&self, level: u32) -> [u32; 3] {
        self.extent.map(|n| n.checked_shr(level).unwrap_or(0).max(1))
    }

    /// Number of axes. The faces of a cube are layers.
    pub fn axes(&self) -> u32 {
        match self.dim {
            Dim::Dim1D | Dim::Buffer => 1,
            Dim::Dim3D => 3,
            _ => 2,
        }
    }

    /// Levels that the view shows.
    pub fn levels_shown(&self) -> u32 {
        self.view.levels_of(self.levels)
    }

    /// Layers that the view shows.
    pub fn layers_shown(&self) -> u32 {
        self.view.layers_of(self.layers)
    }

    /// Size of a level of the view in texels along x, y, z.
    pub fn extent_shown(&self, level: u32) -> [u32; 3] {
        self.extent_of(self.view.base_level.saturating_add(level))
    }

    /// Index in [`Image::data`] of the first sample of a texel, from its position in the view:
    /// level, layer, and x, y, z, all in bounds.
    pub fn texel_shown(&self, level: u32, layer: u32, [x, y, z]: [u32; 3]) -> u64 {
        let [w, h, d] = self.extent_shown(level).map(u64::from);
        let layer = u64::from(self.view.base_layer) + u64::from(layer);
        let slice = u64::from(z) + d * layer;
        let texel = u64::from(x) + w * (u64::from(y) + h * slice);
        self.samples_before(self.view.base_level + level) + texel * u64::from(self.samples)
    }

    /// Number of samples before a level; for a single-sampled image, that of texels.
    pub(crate) fn samples_before(&self, level: u32) -> u64 {
        let slices = u64::from(self.layers) * u64::from(self.samples);
        let of = |level| self.extent_of(level).iter().fold(slices, |n, side| n.saturating_mul(u64::from(*side)));
        (0..level).fold(0, |all, level| u64::saturating_add(all, of(level)))
    }
}

/// A resource that a descriptor binds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Resource {
    /// A uniform or storage buffer.
    Buffer(Buffer),
    /// A storage image, a sampled image or a texel buffer.
    Image(Image),
    /// A sampled image with its sampler.
    CombinedImageSampler(Image, Sampler),
    /// A sampler.
    Sampler(Sampler),
}

impl Resource {
    /// Returns its contents; `None` for a sampler.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Resource::Buffer(buffer) => Some(&buffer.data),
            Resource::Image(image) | Resource::CombinedImageSampler(image, _) => Some(&image.data),
            Resource::Sampler(_) => None,
        }
    }
}

/// The tile of a tile shading dispatch: `VK_QCOM_tile_shading`, "Per-Tile Execution Model" and
/// "Tile Attachments".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Framebuffer coordinates of its first texel: `TileOffsetQCOM`.
    pub offset: [u32; 2],
    /// Its width, height and layers: `TileDimensionQCOM`.
    pub size: [u32; 3],
    /// Distance that loads may go beyond the tile, along x and y: `TileApronSizeQCOM`.
    pub apron: [u32; 2],
    /// Offset and extent of the render area, which bounds every access.
    pub area: [[u32; 2]; 2],
}

impl Tile {
    /// The texels that stores, or else loads, may access: first, and end, along x and y.
    ///
    /// Stores: `max(O_R, O_t) <= c < min(O_R + E_R, O_t + S_t)`. Loads: likewise with the apron
    /// around the tile.
    pub fn reach(&self, store: bool) -> [[u32; 2]; 2] {
        let apron = if store { [0; 2] } else { self.apron };
        let [origin, extent] = self.area;
        let first = std::array::from_fn(|i| origin[i].max(self.offset[i].saturating_sub(apron[i])));
        let end = std::array::from_fn(|i| {
            let tile = self.offset[i].saturating_add(self.size[i]).saturating_add(apron[i]);
            origin[i].saturating_add(extent[i]).min(tile)
        });
        [first, end]
    }

    /// Number of blocks of a shading rate that cover the tile along x, y and z: the invocations of
    /// `vkCmdDispatchTileQCOM`.
    pub fn blocks(&self, rate: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|i| self.size[i].div_ceil(rate[i].max(1)))
    }
}

/// The device's guarantee for accesses beyond the end of buffers and images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Robustness {
    /// No guarantee: such an access is undefined behaviour, a fault of the shader.
    #[default]
    None,
    /// `robustBufferAccess` and `robustImageAccess`: a load returns zero, or from a buffer some of
    /// its contents, or from an image zeros and an alpha of 0 or 1. A store changes the buffer
    /// itself or nothing, and changes no image.
    Access,
    /// `robustBufferAccess2` and `robustImageAccess2`: a load returns zeros (texels with the
    /// defaults for components that their format lacks), or the value that the invocation itself
    /// stored there. A store changes nothing.
    Access2,
}

impl Robustness {
    /// All guarantees with their names in options and case files.
    pub const NAMED: [(&str, Robustness); 3] =
        [("none", Robustness::None), ("access", Robustness::Access), ("access2", Robustness::Access2)];

    /// The name in options and case files.
    pub fn name(self) -> &'static str {
        Robustness::NAMED.into_iter().find(|(_, robustness)| *robustness == self).map_or("", |(name, _)| name)
    }
}

/// Permitted results of an instruction that an interpretation follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FollowedResults {
    /// All of them, so that the outcome tells what the specification permits.
    #[default]
    All,
    /// One of them, near the middle. A result on which the specification places no requirement is what the
    /// host's arithmetic gives, or 0. Every branch is decided, and the outcome tells what a device is likely to
    /// execute. It permits and proves nothing.
    One,
}

/// Effect of bit-preserving operations (loads, stores, copies, selections, phis, calls, composites,
/// shuffles, ..) on floats: Vulkan, "Precision and Operation of SPIR-V Instructions".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Copies {
    /// They preserve bits, as the name says, in both readings.
    #[default]
    Preserve,
    /// The lenient reading follows the letter of the text. `NSZ`, `NotInf` and `NotNaN` are assumed
    /// for these operations too, unless the module states flags or `SignedZeroInfNanPreserve`; with
    /// the latter, bit patterns of NaNs might not be preserved. A zero then has either sign, and an
    /// infinity or a NaN is any float, or any NaN. The dispatch is always run in both readings for
    /// that.
    ///
    /// `OpBitcast` is neither bit-preserving nor listed, so for it they are assumed in spite of
    /// `SignedZeroInfNanPreserve`: of its operand if that is a float, and of its result.
    Assume,
}

/// Limits of Vulkan for `robustBufferAccess2`: the number of bytes that a descriptor's range is
/// rounded up to. Accesses up to there may behave as if they were in bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RobustAlignment {
    /// `robustStorageBufferAccessSizeAlignment`.
    pub storage: u32,
    /// `robustUniformBufferAccessSizeAlignment`.
    pub uniform: u32,
}

impl Default for RobustAlignment {
    /// The largest values that Vulkan permits.
    fn default() -> RobustAlignment {
        RobustAlignment { storage: 4, uniform: 256 }
    }
}

/// Precision of image sampling: limits of Vulkan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Filtering {
    /// `subTexelPrecisionBits`: fraction bits of a coordinate in texels.
    pub sub_texel_bits: u32,
    /// `mipmapPrecisionBits`: fraction bits of a level of detail.
    pub mipmap_bits: u32,
}

impl Default for Filtering {
    /// The least precision that Vulkan requires.
    fn default() -> Filtering {
        Filtering { sub_texel_bits: 4, mipmap_bits: 4 }
    }
}

/// Limits of Vulkan on constant and computed offsets of a lookup, along each axis: the least and
/// the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Offsets {
    /// `minTexelGatherOffset` and `maxTexelGatherOffset`, in texels.
    pub gather: [i32; 2],
    /// `minTexelOffset` and `maxTexelOffset`, in texels.
    pub sample: [i32; 2],
}

impl Default for Offsets {
    /// The limits of every device that takes offsets.
    fn default() -> Offsets {
        Offsets { gather: [-8, 7], sample: [-8, 7] }
    }
}

/// One dispatch.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// Number of workgroups in x, y and z; ignored for a shader with a tile shading rate.
    pub groups: [u32; 3],
    /// Size of a subgroup: a power of two, 1 to 128.
    pub subgroup_size: u32,
    /// `minSubgroupSize` and `maxSubgroupSize`, powers of two: the sizes that subgroups of SPIR-V
    /// 1.6 modules may have instead, unless the layout is known. `None`: all have
    /// [`Dispatch::subgroup_size`].
    pub subgroup_sizes: Option<[u32; 2]>,
    /// The layout of invocations in subgroups.
    pub layout: SubgroupLayout,
    /// The push constants, from offset 0.
    pub push_constants: Vec<u8>,
    /// The resources that the descriptors bind.
    pub bindings: BTreeMap<Slot, Resource>,
    /// The guarantee for accesses out of bounds.
    pub robustness: Robustness,
    /// The rounding of buffer ranges under that guarantee.
    pub robust_alignment: RobustAlignment,
    /// The device's precision of image sampling.
    pub filtering: Filtering,
    /// The device's limits on offsets.
    pub offsets: Offsets,
    /// `depthStencilSwizzleOneSupport`: a depth component swizzled to `VK_COMPONENT_SWIZZLE_ONE` is
    /// 1, else undefined.
    pub depth_swizzle_one: bool,
    /// The reading of bit-preserving operations.
    pub copies: Copies,
    /// Set if `maintenance8` is enabled: `OpSRem` and `OpSMod` of negative operands are defined.
    pub maintenance8: bool,
    /// The tile, for a tile shading dispatch.
    pub tile: Option<Tile>,
    /// The arguments and handles, for a kernel.
    pub kernel: Option<KernelCall>,
    /// The interpreted invocations; `None`: all of them. The effects of the others are not seen: memory
    /// that no interpreted invocation wrote, and the content that atomics leave, is unknown to the
    /// outcome ([`Memory::is_known`](crate::Memory::is_known)), and so are races with other
    /// invocations. With [`AtomicOrder::Interpreted`] atomics leave the content that they would leave
    /// alone.
    pub only: Option<InvocationSubset>,
    /// Order of the atomics that are not ordered among each other.
    pub atomic_order: AtomicOrder,
    /// The permitted results of instructions that are followed.
    pub results: FollowedResults,
    /// Set if benign races are not faults: racing plain stores of one value to one location, which
    /// store that value ([`Outcome::benign_races`](crate::Outcome::benign_races)).
    pub benign_races: bool,
}

impl Default for Dispatch {
    fn default() -> Dispatch {
        Dispatch {
            groups: [1; 3],
            subgroup_size: 32,
            subgroup_sizes: None,
            layout: SubgroupLayout::Unknown,
            push_constants: Vec::new(),
            bindings: BTreeMap::new(),
            robustness: Robustness::None,
            robust_alignment: RobustAlignment::default(),
            filtering: Filtering::default(),
            offsets: Offsets::default(),
            depth_swizzle_one: false,
            copies: Copies::Preserve,
            maintenance8: false,
            tile: None,
            kernel: None,
            only: None,
            atomic_order: AtomicOrder::Any,
            results: FollowedResults::default(),
            benign_races: false,
        }
    }
}

/// A part of the invocations of a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvocationSubset {
    /// Numbers of its workgroups, ascending (counted along x, then y, then z).
    pub workgroups: Vec<u64>,
    /// Local indices of its invocations in each of these workgroups, ascending; `None`: all. Only for a
    /// program with independent invocations
    /// ([`Program::has_independent_invocations`](crate::Program::has_independent_invocations)).
    pub local: Option<Vec<u32>>,
}

impl InvocationSubset {
    /// All invocations of some workgroups.
    pub fn of_workgroups(workgroups: impl Into<Vec<u64>>) -> InvocationSubset {
        InvocationSubset { workgroups: workgroups.into(), local: None }
    }

    /// Returns the number of its invocations, with `size` invocations in a workgroup.
    pub fn invocations(&self, size: u64) -> u64 {
        let each = self.local.as_ref().map_or(size, |local| local.len() as u64);
        each.saturating_mul(self.workgroups.len() as u64)
    }
}

/// The budget of a run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Interpreted invocations; more are refused before anything runs.
    pub invocations: u64,
    /// Interpreter state of one workgroup in bytes; more are refused before anything runs.
    pub state_bytes: u64,
    /// Blocks that one workgroup may execute; beyond that it counts as endless.
    pub blocks_per_group: u64,
    /// Instructions that one workgroup may execute, counted for each invocation; beyond that it
    /// counts as endless. A float instruction counts as 8, one that the precision table evaluates
    /// as 256, and a copy by the number of its scalars, so the limit is a few seconds of any of
    /// them.
    pub work_per_group: u64,
    /// Work of all workgroups together, as [`Outcome::work`](crate::Outcome::work) counts it. A
    /// dispatch that takes more is refused.
    pub work: u64,
    /// Forked lanes that one workgroup may have at the same time.
    pub forks: u32,
    /// Blocks that forked invocations of one workgroup may execute before the workgroup is given
    /// up.
    pub undecided_blocks: u64,
    /// Searches for the extremes of inherited formulas over sets, in units of about a millisecond,
    /// shared equally by the workgroups. After as much time again for enclosures
    /// ([`Effort::Enclose`](assay_precision::Effort::Enclose)), such results are covered, which
    /// takes a small part of a search and may give more, and become undetermined in the end.
    pub searches: u64,
    /// Faults that are kept; further ones are only counted.
    pub faults: usize,
    /// Instructions, counted once for each invocation, from which workgroups run on several
    /// threads. The outcome does not depend on it.
    pub together_from: u64,
    /// Time after which a run is given up. The memory that the shader may write is undetermined then.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            invocations: 1 << 24,
            state_bytes: 2 << 30,
            blocks_per_group: 1 << 22,
            work_per_group: 1 << 29,
            work: u64::MAX,
            forks: 256,
            undecided_blocks: 1 << 16,
            searches: 10_000,
            faults: 64,
            together_from: 1 << 21,
            time: Duration::from_secs(60),
        }
    }
}

impl Limits {
    /// The limits with `times` times the usual work until a workgroup counts as endless.
    pub fn patient(self, times: u64) -> Limits {
        let more = |usual: u64| usual.saturating_mul(times.max(1));
        Limits {
            blocks_per_group: more(self.blocks_per_group),
            work_per_group: more(self.work_per_group),
            undecided_blocks: more(self.undecided_blocks),
            time: Duration::from_secs(more(self.time.as_secs())),
            ..self
        }
    }

    /// The multiple of the usual work that these limits permit.
    pub fn patience(&self) -> u64 {
        (self.work_per_group / Limits::default().work_per_group).max(1)
    }
}
