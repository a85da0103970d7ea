//! The same cases through wgpu: WGSL in, results out, judged by WGSL's rules.
//!
//! Precision cases are written as WGSL ([`shader`]) where WGSL has what they are about; [`translated`] says which, and gives the case
//! the rules of WGSL's text. [`PortableExecutor`] runs them; it stands where the Vulkan executor does. Nothing is passed
//! through: wgpu reads the WGSL, and naga, which it translates it with, is part of what is tested. What results say is therefore
//! about wgpu's implementation of WebGPU *on* a driver.
//!
//! A device is the one that Vulkan lists: [`PortableDevice::of`] finds it again among wgpu's adapters.

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
