//! Cases through wgpu: WGSL in, results out, judged by WGSL's rules.
//!
//! [`to_wgsl`] decides which precision cases WGSL can express, and gives them WGSL's rules;
//! [`shader`] writes them as WGSL. [`WgpuExecutor`] runs them in place of the Vulkan executor.
//! wgpu reads the WGSL and translates it with naga, which is part of the tested system. Results are
//! therefore about wgpu's implementation of WebGPU *on* a driver.
//!
//! The devices are those that Vulkan lists: [`WgpuDevice::of`] finds the corresponding adapter
//! of wgpu.

mod accuracy_document;
mod error;
mod naga_translation;
mod wgpu_device;
mod wgpu_executor;
mod wgpu_target;
mod wgpu_texture;
mod wgsl_shader;

pub use accuracy_document::accuracy_document;
pub use error::WgpuError;
pub use naga_translation::{NagaInput, naga_spirv};
pub use wgpu_device::{WGPU_VERSION, WgpuDevice};
pub use wgpu_executor::WgpuExecutor;
pub use wgpu_target::WgpuTarget;
pub use wgsl_shader::{CaseBuffer, WgpuUnsupported, WgslShader, shader, to_wgsl};
