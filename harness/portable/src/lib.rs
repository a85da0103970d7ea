//! Cases through wgpu: WGSL in, results out, judged by WGSL's rules.
//!
//! [`translated`] decides which precision cases WGSL can express, and gives them WGSL's rules;
//! [`shader`] writes them as WGSL. [`PortableExecutor`] runs them in place of the Vulkan executor.
//! wgpu reads the WGSL and translates it with naga, which is part of the tested system. Results are
//! therefore about wgpu's implementation of WebGPU *on* a driver.
//!
//! The devices are those that Vulkan lists: [`PortableDevice::of`] finds the corresponding adapter
//! of wgpu.

mod device;
mod document;
mod error;
mod executor;
mod shader;
mod spirv;
mod target;
mod texture;

pub use device::{PortableDevice, WGPU};
pub use document::accuracy;
pub use error::PortableError;
pub use executor::PortableExecutor;
pub use shader::{Binding, NotPortable, Wgsl, shader, translated};
pub use spirv::{Given, naga_spirv};
pub use target::PortableTarget;
