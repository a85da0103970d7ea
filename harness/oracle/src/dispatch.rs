//! What a program is run with.

use crate::layout::Layout;
use crate::observed::Observed;
use assay_spirv::kernel::KernelCall;
use assay_spirv::sampling::{Sampler, View};
use assay_spirv::tables::{Dim, ImageFormat};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Values of specialisation constants by `SpecId`: their bits, right-aligned; 0 or 1 for booleans.
pub type SpecValues = BTreeMap<u32, u64>;

/// Which descriptor: set, binding, and place in the binding's array (0 where it is none).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Place in the binding's array of descriptors.
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// Its bytes before the dispatch.
    pub data: Vec<u8>,
    /// The device address of its first byte, if it was made with one. What a program computes from an address is
    /// only as portable as the address; see [`Outcome`](crate::Outcome).
    pub address: Option<u64>,
}

/// An image that a descriptor binds, or a buffer seen as texels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Dimensionality of the view; `Dim::Buffer` for a texel buffer.
    pub dim: Dim,
    /// Texels of the image's first level along x, y, z; 1 where the image does not extend.
    pub extent: [u32; 3],
    /// Layers of the image. Its view shows 1 unless it is of an array, six for each cube.
    pub layers: u32,
    /// Mip levels of the image, each half as large as the one before.
    pub levels: u32,
    /// How a texel is stored; not `Unknown`.
    pub format: ImageFormat,
    /// Whether it is of depths, which are stored as `R32f`: a depth format, and the depth aspect of it.
    pub depth: bool,
    /// Which part of it the shader sees.
    pub view: View,
    /// Its texels before the dispatch: level by level, in each layer by layer, in each row by row, without padding.
    pub data: Vec<u8>,
}

impl Image {
    /// Texels of a level of the image along x, y, z.
    pub fn extent_of(&self, level: u32) -> [u32; 3] {
        self.extent.map(|n| n.checked_shr(level).unwrap_or(0).max(1))
    }

    /// Axes that it extends along; a cube's faces are layers.
    pub(crate) fn axes(&self) -> u32 {
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

    /// Texels of a level of the view along x, y, z.
    pub fn extent_shown(&self, level: u32) -> [u32; 3] {
        self.extent_of(self.view.base_level.saturating_add(level))
    }

    /// The number of a texel in [`Image::data`] by its place in the view: level, layer, and x, y, z, all inside.
    pub fn texel_shown(&self, level: u32, layer: u32, [x, y, z]: [u32; 3]) -> u64 {
        let [w, h, d] = self.extent_shown(level).map(u64::from);
        let layer = u64::from(self.view.base_layer) + u64::from(layer);
        let slice = u64::from(z) + d * layer;
        self.texels_before(self.view.base_level + level) + u64::from(x) + w * (u64::from(y) + h * slice)
    }

    /// How many texels come before a level.
    pub(crate) fn texels_before(&self, level: u32) -> u64 {
        let of = |level| {
            self.extent_of(level).iter().fold(u64::from(self.layers), |n, side| n.saturating_mul(u64::from(*side)))
        };
        (0..level).fold(0, |all, level| u64::saturating_add(all, of(level)))
    }
}

/// What a descriptor binds.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// The tile that a dispatch of tile shading runs for: `VK_QCOM_tile_shading`, "Per-Tile Execution Model" and "Tile
/// Attachments".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Framebuffer coordinates of its first texel: `TileOffsetQCOM`.
    pub offset: [u32; 2],
    /// Its width, height and layers: `TileDimensionQCOM`.
    pub size: [u32; 3],
    /// How far loads may go beyond it, along x and y: `TileApronSizeQCOM`.
    pub apron: [u32; 2],
    /// Offset and extent of the render area, which bounds every access.
    pub area: [[u32; 2]; 2],
}

impl Tile {
    /// The texels that may be stored to, or loaded: first, and end, along x and y.
    ///
    /// Stores: `max(O_R, O_t) <= c < min(O_R + E_R, O_t + S_t)`; loads the same with the apron around the tile.
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

    /// How many blocks of a shading rate cover it along x, y and z: the invocations of `vkCmdDispatchTileQCOM`.
    pub fn blocks(&self, rate: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|i| self.size[i].div_ceil(rate[i].max(1)))
    }
}

/// What the device promises for accesses beyond the end of buffers and images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Robustness {
    /// Nothing: such an access is undefined behaviour, a fault of the shader.
    #[default]
    None,
    /// `robustBufferAccess` and `robustImageAccess`: a load gives zero, or of a buffer something of what is in it, of an image zeros
    /// and an alpha of 0 or 1; a store changes the buffer itself or nothing, and no image.
    Access,
    /// `robustBufferAccess2` and `robustImageAccess2`: a load gives zeros, of texels with what their format lacks, or what the
    /// invocation itself stored there; a store changes nothing.
    Access2,
}

impl Robustness {
    /// All of them, each with its name in options and case files.
    pub const NAMED: [(&str, Robustness); 3] =
        [("none", Robustness::None), ("access", Robustness::Access), ("access2", Robustness::Access2)];

    /// Its name in options and case files.
    pub fn name(self) -> &'static str {
        Robustness::NAMED.into_iter().find(|(_, robustness)| *robustness == self).map_or("", |(name, _)| name)
    }
}

/// What bit-preserving operations (loads, stores, copies, selections, phis, calls, composites, shuffles, ..) leave of floats: Vulkan,
/// "Precision and Operation of SPIR-V Instructions".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Copies {
    /// Their bits, as the name says, in both readings.
    #[default]
    Preserve,
    /// In the lenient reading what the letter leaves: `NSZ`, `NotInf` and `NotNaN` are assumed for these operations, too, unless the
    /// module states flags or `SignedZeroInfNanPreserve`, and with the latter bit patterns of NaNs might not be preserved. A zero is
    /// of either sign then; an infinity or a NaN is any float, or any NaN. The dispatch is always run in both readings for that.
    Assume,
}

/// Up to where `robustBufferAccess2` lets accesses beyond the end of a buffer behave as if they were inside: limits of Vulkan, the bytes
/// that a descriptor's range is rounded up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RobustAlignment {
    /// `robustStorageBufferAccessSizeAlignment`.
    pub storage: u32,
    /// `robustUniformBufferAccessSizeAlignment`.
    pub uniform: u32,
}

impl Default for RobustAlignment {
    /// The largest that there may be.
    fn default() -> RobustAlignment {
        RobustAlignment { storage: 4, uniform: 256 }
    }
}

/// How finely a device places samples: limits of Vulkan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Filtering {
    /// `subTexelPrecisionBits`: fraction bits of a coordinate in texels.
    pub sub_texel_bits: u32,
    /// `mipmapPrecisionBits`: fraction bits of a level of detail.
    pub mipmap_bits: u32,
}

impl Default for Filtering {
    /// What every device has.
    fn default() -> Filtering {
        Filtering { sub_texel_bits: 4, mipmap_bits: 4 }
    }
}

/// How far a constant or computed offset may move a lookup, along each axis: limits of Vulkan, the least and the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Offsets {
    /// `minTexelGatherOffset` and `maxTexelGatherOffset`, in texels.
    pub gather: [i32; 2],
    /// `minTexelOffset` and `maxTexelOffset`, in texels.
    pub sample: [i32; 2],
}

impl Default for Offsets {
    /// What every device that takes offsets has.
    fn default() -> Offsets {
        Offsets { gather: [-8, 7], sample: [-8, 7] }
    }
}

/// One dispatch.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// Workgroups in x, y and z; of no meaning for a shader with a tile shading rate.
    pub groups: [u32; 3],
    /// Invocations of a subgroup: a power of two, 1 to 128.
    pub subgroup_size: u32,
    /// `minSubgroupSize` and `maxSubgroupSize`, powers of two: what subgroups of modules of SPIR-V 1.6 may have instead, unless the
    /// layout is known. `None`: all have [`Dispatch::subgroup_size`].
    pub subgroup_sizes: Option<[u32; 2]>,
    /// Which invocations are in which subgroup.
    pub layout: Layout,
    /// The push constants, from offset 0.
    pub push_constants: Vec<u8>,
    /// What the descriptors bind.
    pub bindings: BTreeMap<Slot, Resource>,
    /// What holds beyond the end of buffers.
    pub robustness: Robustness,
    /// How far that reaches.
    pub robust_alignment: RobustAlignment,
    /// What the device says of its filters.
    pub filtering: Filtering,
    /// What the device says of offsets.
    pub offsets: Offsets,
    /// `depthStencilSwizzleOneSupport`: a component of depths that `VK_COMPONENT_SWIZZLE_ONE` shows is 1, else undefined.
    pub depth_swizzle_one: bool,
    /// How bit-preserving operations are read.
    pub copies: Copies,
    /// Whether `maintenance8` is enabled: `OpSRem` and `OpSMod` of negative operands are defined.
    pub maintenance8: bool,
    /// The tile, where the shader is one of tile shading.
    pub tile: Option<Tile>,
    /// Of a kernel, its arguments and what its handles name.
    pub kernel: Option<KernelCall>,
    /// The numbers of the workgroups that are interpreted, ascending (counted along x, then y, then z); `None`: all of them. What
    /// the others do is not seen: memory that none of these wrote, and what atomics leave there, is not known to the outcome
    /// ([`Memory::is_known`](crate::Memory::is_known)), and neither are races with them.
    pub only: Option<Vec<u64>>,
    /// What atomic instructions found, if it is one order of them that is asked about; `None`: any.
    pub observed: Option<Arc<Observed>>,
}

impl Default for Dispatch {
    fn default() -> Dispatch {
        Dispatch {
            groups: [1; 3],
            subgroup_size: 32,
            subgroup_sizes: None,
            layout: Layout::Unknown,
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
            observed: None,
        }
    }
}

/// What a run may cost before it is given up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Invocations that are interpreted; more are refused before anything runs.
    pub invocations: u64,
    /// Bytes of interpreter state for one workgroup; more are refused before anything runs.
    pub state_bytes: u64,
    /// Blocks that one workgroup may execute; after that, it is taken not to end.
    pub blocks_per_group: u64,
    /// Instructions, counted for each invocation, that one workgroup may execute; after that, it is taken not to end. One on floats
    /// counts as 8, one that the precision table is asked for as 256: so this is a few seconds of any of them.
    pub work_per_group: u64,
    /// Alternative executions of undecided branches that one workgroup may have at the same time.
    pub forks: u32,
    /// Blocks that undecided invocations of one workgroup may execute before what they reach is given up.
    pub undecided_blocks: u64,
    /// Searches for the extremes of inherited formulas over sets, each counted with what it costs (about a millisecond), the
    /// workgroups having equal shares. After that such results are enclosed rather than searched for, which costs a small part of
    /// that and may give a little more; of the costliest they are undetermined in the end.
    pub searches: u64,
    /// Faults that are kept; more are counted only.
    pub faults: usize,
    /// Instructions, counted once for each invocation, that make it worth while to run workgroups on several threads. What comes
    /// out does not depend on it.
    pub together_from: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            invocations: 1 << 24,
            state_bytes: 2 << 30,
            blocks_per_group: 1 << 22,
            work_per_group: 1 << 29,
            forks: 256,
            undecided_blocks: 1 << 16,
            searches: 10_000,
            faults: 64,
            together_from: 1 << 21,
        }
    }
}

impl Limits {
    /// Patient: so many times as much until a workgroup is taken not to end.
    pub fn patient(self, times: u64) -> Limits {
        let more = |usual: u64| usual.saturating_mul(times.max(1));
        Limits {
            blocks_per_group: more(self.blocks_per_group),
            work_per_group: more(self.work_per_group),
            undecided_blocks: more(self.undecided_blocks),
            ..self
        }
    }

    /// How many times as patient as usual these are.
    pub fn patience(&self) -> u64 {
        (self.work_per_group / Limits::default().work_per_group).max(1)
    }
}
