//! Example of a project with shaders. Its tests (`tests/shaders.rs`) check them with the `assay`
//! library.

/// WGSL text of a box blur with a radius of 1.
pub const BLUR: &str = include_str!("../shaders/blur.wgsl");
