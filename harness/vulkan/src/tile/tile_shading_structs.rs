//! Structures and constants of `VK_QCOM_tile_shading`, which `ash` does not have yet.
//!
//! Each has the name and the layout of the registry; delete them when `ash` has them. The
//! structures of features and properties (`VkPhysicalDeviceTileShadingFeaturesQCOM`,
//! `VkPhysicalDeviceTileShadingPropertiesQCOM`) are queried and enabled as data like all others,
//! see `features`. So is `VkPhysicalDeviceImageProcessing3FeaturesQCOM`, the only structure of
//! `VK_QCOM_image_processing3`.

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;

use ash::vk;

/// `VK_STRUCTURE_TYPE_RENDER_PASS_TILE_SHADING_CREATE_INFO_QCOM`.
const RENDER_PASS_TILE_SHADING_CREATE_INFO: vk::StructureType = vk::StructureType::from_raw(1_000_309_002);
/// `VK_STRUCTURE_TYPE_PER_TILE_BEGIN_INFO_QCOM`.
const PER_TILE_BEGIN_INFO: vk::StructureType = vk::StructureType::from_raw(1_000_309_003);
/// `VK_STRUCTURE_TYPE_PER_TILE_END_INFO_QCOM`.
const PER_TILE_END_INFO: vk::StructureType = vk::StructureType::from_raw(1_000_309_004);
/// `VK_STRUCTURE_TYPE_DISPATCH_TILE_INFO_QCOM`.
const DISPATCH_TILE_INFO: vk::StructureType = vk::StructureType::from_raw(1_000_309_005);

/// `VK_TILE_SHADING_RENDER_PASS_ENABLE_BIT_QCOM`.
pub(super) const ENABLE: u32 = 1;
/// `VK_TILE_SHADING_RENDER_PASS_PER_TILE_EXECUTION_BIT_QCOM`: for secondary command buffers only.
pub(super) const PER_TILE_EXECUTION: u32 = 2;
/// `VK_SUBPASS_DESCRIPTION_TILE_SHADING_APRON_BIT_QCOM`.
pub(super) const APRON: vk::SubpassDescriptionFlags = vk::SubpassDescriptionFlags::from_raw(1 << 8);
/// `VK_ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM`.
pub(super) const ATTACHMENT_READ: vk::AccessFlags2 = vk::AccessFlags2::from_raw(1 << 51);
/// `VK_ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM`.
pub(super) const ATTACHMENT_WRITE: vk::AccessFlags2 = vk::AccessFlags2::from_raw(1 << 52);

/// `VkRenderPassTileShadingCreateInfoQCOM`.
#[repr(C)]
pub(super) struct RenderPassTileShadingCreateInfo {
    s_type: vk::StructureType,
    p_next: *const c_void,
    flags: u32,
    tile_apron_size: vk::Extent2D,
}

impl RenderPassTileShadingCreateInfo {
    pub(super) fn new(flags: u32, [width, height]: [u32; 2]) -> Self {
        let (s_type, p_next) = (RENDER_PASS_TILE_SHADING_CREATE_INFO, std::ptr::null());
        Self { s_type, p_next, flags, tile_apron_size: vk::Extent2D { width, height } }
    }
}

// SAFETY: the registry lets the structure extend this one, and it begins with `sType` and `pNext`.
unsafe impl vk::ExtendsRenderPassCreateInfo2 for RenderPassTileShadingCreateInfo {}
// SAFETY: as above.
unsafe impl vk::ExtendsRenderingInfo for RenderPassTileShadingCreateInfo {}
// SAFETY: as above.
unsafe impl vk::ExtendsCommandBufferInheritanceInfo for RenderPassTileShadingCreateInfo {}

/// `VK_SUBPASS_CONTENTS_INLINE_AND_SECONDARY_COMMAND_BUFFERS_KHR`.
pub(super) const INLINE_AND_SECONDARY: vk::SubpassContents = vk::SubpassContents::from_raw(1_000_451_000);

/// `VkPerTileBeginInfoQCOM`, `VkPerTileEndInfoQCOM` and `VkDispatchTileInfoQCOM`, which consist of
/// a header only.
#[repr(C)]
struct Header {
    s_type: vk::StructureType,
    p_next: *const c_void,
}

impl Header {
    fn new(s_type: vk::StructureType) -> Self {
        Self { s_type, p_next: std::ptr::null() }
    }
}

/// `PFN_vkCmdBeginPerTileExecutionQCOM`, `PFN_vkCmdEndPerTileExecutionQCOM` and
/// `PFN_vkCmdDispatchTileQCOM`.
type Command = unsafe extern "system" fn(vk::CommandBuffer, *const Header);

/// The extension's commands of a device.
pub(super) struct Commands<'a> {
    begin: Command,
    end: Command,
    dispatch: Command,
    _device: PhantomData<&'a ash::Device>,
}

impl<'a> Commands<'a> {
    /// Loads the commands; the error is the name of a command that the device lacks.
    pub(super) fn load(instance: &ash::Instance, device: &'a ash::Device) -> Result<Self, String> {
        let get = |name: &CStr| {
            // SAFETY: a live device of this instance.
            let command = unsafe { instance.get_device_proc_addr(device.handle(), name.as_ptr()) };
            let command = command.ok_or_else(|| name.to_string_lossy().into_owned())?;
            // SAFETY: the command of that name has this type.
            Ok::<_, String>(unsafe { std::mem::transmute::<unsafe extern "system" fn(), Command>(command) })
        };
        Ok(Self {
            begin: get(c"vkCmdBeginPerTileExecutionQCOM")?,
            end: get(c"vkCmdEndPerTileExecutionQCOM")?,
            dispatch: get(c"vkCmdDispatchTileQCOM")?,
            _device: PhantomData,
        })
    }

    /// `vkCmdBeginPerTileExecutionQCOM`.
    ///
    /// # Safety
    /// The command's valid usage.
    pub(super) unsafe fn begin_per_tile_execution(&self, commands: vk::CommandBuffer) {
        // SAFETY: by the contract of this function; the structure lives until the call returns.
        unsafe { (self.begin)(commands, &Header::new(PER_TILE_BEGIN_INFO)) }
    }

    /// `vkCmdEndPerTileExecutionQCOM`.
    ///
    /// # Safety
    /// The command's valid usage.
    pub(super) unsafe fn end_per_tile_execution(&self, commands: vk::CommandBuffer) {
        // SAFETY: as above.
        unsafe { (self.end)(commands, &Header::new(PER_TILE_END_INFO)) }
    }

    /// `vkCmdDispatchTileQCOM`.
    ///
    /// # Safety
    /// The command's valid usage.
    pub(super) unsafe fn dispatch_tile(&self, commands: vk::CommandBuffer) {
        // SAFETY: as above.
        unsafe { (self.dispatch)(commands, &Header::new(DISPATCH_TILE_INFO)) }
    }
}
