//! Vulkan devices: negotiation, dispatch and readback.
//!
//! This is the only crate of the project with `unsafe` code. Every failure is an [`Error`] that
//! names the remedy; nothing here prints or panics.
//!
//! ```no_run
//! use std::time::Duration;
//! use assay_vulkan::{BufferSpec, Device, DeviceOptions, Dispatch, Instance, PipelineDesc};
//!
//! # fn main() -> Result<(), assay_vulkan::Error> {
//! # let words: Vec<u32> = Vec::new();
//! let instance = Instance::new(false)?;
//! let physical = instance.select(Some("lavapipe"))?;
//! assert!(physical.capabilities().has_feature("shaderFloat16"));
//! let device = Device::open(&physical, &DeviceOptions::default())?;
//!
//! // A module with two storage buffers (set 0, bindings 0 and 1) and four bytes of push constants.
//! let pipeline = device.pipeline(&PipelineDesc { push_constants: 4, ..PipelineDesc::new(&words, 2) })?;
//!
//! // Two slots: the device works on one while the host checks the other.
//! let bytes = 4096 * 4;
//! let buffers = [BufferSpec::input(bytes), BufferSpec::output(bytes)];
//! let mut slots = [device.dispatch_slot(&buffers)?, device.dispatch_slot(&buffers)?];
//! for (i, slot) in slots.iter_mut().enumerate() {
//!     slot.write::<u32>(0)?.fill(7);
//!     let push = (i as u32).to_ne_bytes();
//!     slot.submit(&pipeline, &Dispatch::linear(4096 / 64).with_push_constants(&push))?;
//! }
//! for slot in &mut slots {
//!     let timing = slot.wait(Duration::from_secs(10))?; // Error::Timeout, Error::DeviceLost are values
//!     let results: &[u32] = slot.read(1)?;
//!     # let _ = (timing, results);
//! }
//! # Ok(())
//! # }
//! ```

mod buffer_memory;
mod device;
mod device_capabilities;
mod device_properties;
mod device_selector;
mod dispatch_commands;
mod dispatch_slot;
mod error;
mod features;
mod identity;
mod image_objects;
mod instance;
mod layout_cache;
mod multisample;
mod physical_device;
mod pipeline;
mod resource;
mod shader_module;
mod slot_objects;
mod tile;
mod validation;
mod version;

pub use device::{Device, DeviceOptions, Staging};
pub use device_capabilities::{Capabilities, PropertyValue};
pub use device_properties::{FloatControls, Independence, Limits, PerWidth, Properties, RobustAlignment, Subgroup};
pub use device_selector::select;
pub use dispatch_slot::{BufferSpec, Dispatch, DispatchSlot, Role, Timing};
pub use error::Error;
pub use identity::{DeviceType, Identity, Uuid};
pub use instance::Instance;
pub use physical_device::PhysicalDevice;
pub use pipeline::{Bindings, Pipeline, PipelineDesc, SpecConstant};
pub use resource::{
    AddressMode, BindingLayout, BorderColor, CompareOp, ImageDim, ImageSpec, ImageView, Resource, ResourceSpec,
    SamplerSpec, TexelFormat,
};
#[doc(hidden)]
pub use tile::Mistake;
pub use tile::{
    AttachmentRole, PassForm, PassRecording, TileAttachment, TileBuffer, TileGrid, TilePass, TilePassOutput, TileStep,
};
pub use validation::{Severity, ValidationMessage};
pub use version::ApiVersion;
