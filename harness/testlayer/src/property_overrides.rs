//! Values that the layer reports.

use crate::state;
use ash::vk;
use std::ffi::c_void;

/// Value of `maxApronSize`.
pub const MAX_APRON: u32 = 4;
/// Value of `tileGranularity`.
pub const GRANULARITY: [u32; 2] = [16, 16];
/// Value of `maxTileShadingRate`.
pub const MAX_RATE: [u32; 2] = [8, 8];
/// Width and height of a tile. It has as many layers as the render area.
pub const TILE: [u32; 2] = [96, 64];
/// Value of `maxMemoryAllocationSize` if the driver reports zero: 1 GiB.
const MAX_ALLOCATION: u64 = 1 << 30;

const TILE_SHADING_FEATURES: i32 = 1_000_309_000;
const TILE_SHADING_PROPERTIES: i32 = 1_000_309_001;
const TILE_PROPERTIES_FEATURES: i32 = 1_000_484_000;
const IMAGE_PROCESSING_3_FEATURES: i32 = 1_000_303_000;
const MAINTENANCE_7_FEATURES: i32 = 1_000_562_000;

/// A structure of a chain with flags or words after its header.
#[repr(C)]
struct WordStruct<const N: usize> {
    s_type: vk::StructureType,
    next: *mut c_void,
    words: [u32; N],
}

/// Calls `visit` for every structure of a chain.
///
/// # Safety
/// `next` is a valid chain of Vulkan structures.
unsafe fn visit_structs(mut next: *mut c_void, mut visit: impl FnMut(vk::StructureType, *mut c_void)) {
    while !next.is_null() {
        let at = next;
        let header = next.cast::<vk::BaseOutStructure<'_>>();
        // SAFETY: every structure of a chain begins with its type and a pointer to the next one.
        let (s_type, after) = unsafe { ((*header).s_type, (*header).p_next) };
        next = after.cast();
        visit(s_type, at);
    }
}

/// Writes the words after a structure's header.
///
/// # Safety
/// `at` points to a structure with `N` words after its header.
unsafe fn write_words<const N: usize>(at: *mut c_void, words: [u32; N]) {
    // SAFETY: by the contract of this function.
    unsafe { (*at.cast::<WordStruct<N>>()).words = words };
}

pub(crate) unsafe extern "system" fn features(
    physical: vk::PhysicalDevice,
    features: *mut vk::PhysicalDeviceFeatures2<'_>,
) {
    if let Some(next) = state::instance_of(physical).and_then(|instance| instance.features) {
        // SAFETY: the caller's own arguments.
        unsafe { next(physical, features) }
    }
    // SAFETY: the caller passes a chain; the structures have the sizes that their types say.
    unsafe {
        visit_structs((*features).p_next, |s_type, at| match s_type.as_raw() {
            TILE_SHADING_FEATURES => write_words(at, [vk::TRUE; 14]),
            TILE_PROPERTIES_FEATURES => write_words(at, [vk::TRUE; 1]),
            IMAGE_PROCESSING_3_FEATURES => write_words(at, [vk::TRUE; 3]),
            // Required for passes with commands both inline and in secondary command buffers.
            MAINTENANCE_7_FEATURES => write_words(at, [vk::TRUE; 1]),
            _ if s_type == vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES => {
                // Render passes are recorded with these.
                let core = at.cast::<vk::PhysicalDeviceVulkan13Features<'_>>();
                (*core).dynamic_rendering = vk::TRUE;
                (*core).synchronization2 = vk::TRUE;
            }
            _ => {}
        });
    }
}

pub(crate) unsafe extern "system" fn properties(
    physical: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties2<'_>,
) {
    if let Some(next) = state::instance_of(physical).and_then(|instance| instance.properties) {
        // SAFETY: the caller's own arguments.
        unsafe { next(physical, properties) }
    }
    // SAFETY: the caller passes a chain; the structures have the sizes that their types say.
    unsafe {
        visit_structs((*properties).p_next, |s_type, at| match s_type.as_raw() {
            TILE_SHADING_PROPERTIES => {
                let ([gx, gy], [rx, ry]) = (GRANULARITY, MAX_RATE);
                write_words(at, [MAX_APRON, vk::FALSE, gx, gy, rx, ry]);
            }
            _ if s_type == vk::StructureType::PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES => {
                let limits = at.cast::<vk::PhysicalDeviceMaintenance3Properties<'_>>();
                allocation(&mut (*limits).max_memory_allocation_size);
            }
            _ if s_type == vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES => {
                let limits = at.cast::<vk::PhysicalDeviceVulkan11Properties<'_>>();
                allocation(&mut (*limits).max_memory_allocation_size);
            }
            _ => {}
        });
    }
}

fn allocation(size: &mut u64) {
    if *size == 0 {
        *size = MAX_ALLOCATION;
    }
}

/// Writes the tile properties of a render pass with `layers` layers, whose grid begins at the
/// framebuffer's first texel.
fn tile(layers: u32, apron: [u32; 2], properties: &mut vk::TilePropertiesQCOM<'_>) {
    let [width, height] = TILE;
    properties.tile_size = vk::Extent3D { width, height, depth: layers.max(1) };
    properties.apron_size = vk::Extent2D { width: apron[0], height: apron[1] };
    properties.origin = vk::Offset2D { x: 0, y: 0 };
}

/// Number of layers of a framebuffer, which the command does not tell. Tests of layers use dynamic
/// rendering.
const FRAMEBUFFER_LAYERS: u32 = 1;

pub(crate) unsafe extern "system" fn framebuffer_tiles(
    _device: vk::Device,
    _framebuffer: vk::Framebuffer,
    count: *mut u32,
    properties: *mut vk::TilePropertiesQCOM<'_>,
) -> vk::Result {
    // SAFETY: the caller passes a count, and null or that many structures.
    unsafe {
        if !properties.is_null() && *count > 0 {
            tile(FRAMEBUFFER_LAYERS, [0; 2], &mut *properties);
        }
        *count = 1;
    }
    vk::Result::SUCCESS
}

pub(crate) unsafe extern "system" fn rendering_tiles(
    _device: vk::Device,
    rendering: *const vk::RenderingInfo<'_>,
    properties: *mut vk::TilePropertiesQCOM<'_>,
) -> vk::Result {
    const CREATE_INFO: i32 = 1_000_309_002;
    let mut apron = [0; 2];
    // SAFETY: the caller passes a structure with its chain, and one to be written.
    unsafe {
        visit_structs((*rendering).p_next.cast_mut(), |s_type, at| {
            if s_type.as_raw() == CREATE_INFO {
                // After the header: flags, and the apron's width and height.
                let [_, x, y] = (*at.cast::<WordStruct<3>>()).words;
                apron = [x, y];
            }
        });
        tile((*rendering).layer_count, apron, &mut *properties);
    }
    vk::Result::SUCCESS
}
