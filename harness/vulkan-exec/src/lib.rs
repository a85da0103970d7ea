//! The interfaces of devices on Vulkan: [`VulkanExecutor`] computes precision cases row by row,
//! [`VulkanTarget`] runs dispatches and render passes with tile shading.

mod device_info;
mod exec_error;
mod pipeline_cache;
mod resources;
mod tile_pass;
mod vulkan_executor;
mod vulkan_target;
mod workgroup_memory;

pub use device_info::device_info;
pub use vulkan_executor::{VulkanExecutor, VulkanOptions};
pub use vulkan_target::VulkanTarget;
