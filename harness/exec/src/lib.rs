//! The interfaces of devices, which no part of Assay but the backends looks behind.
//!
//! * [`Executor`]: computes the results of precision cases, row by row.
//! * [`Target`]: runs dispatches of a shader, and render passes with tile shading.
//!
//! Backends implement both: `assay-vulkan-exec` on Vulkan, `assay-wgpu-exec` through wgpu; tests
//! have synthetic devices. [`AnnouncedExecutor`] and [`AnnouncedTarget`] announce every call into a
//! driver, so that another process knows which call was in progress when this one ended.

mod announced;
mod descriptor;
mod dispatch_request;
mod dispatch_series;
mod exec_error;
mod executor;
mod image_shape;
mod target;
mod tile_pass;

pub use announced::{AnnouncedExecutor, AnnouncedTarget, CallDescription, DriverCalls};
pub use descriptor::{Descriptor, SpecValue, SubgroupControl, addressed_slot, synthetic_addresses};
pub use dispatch_request::{AllocatedDispatch, DispatchOutput, DispatchRequest, Wgsl};
pub use dispatch_series::{DispatchSeries, SeriesModule, SeriesRequest, SeriesWork};
pub use exec_error::{ExecError, TargetError};
pub use executor::{Executor, PreparedCase};
pub use image_shape::ImageShape;
pub use target::{Target, compile_limit};
pub use tile_pass::{
    AttachmentRole, ImageAccess, PassAttachment, PassBuffer, PassContents, PassForm, PassStep, StepStage, TileGrid,
    TilePass, TilePassOutput,
};
