//! Sampled images: which texels a device may take, and a reference for gathers that is fast.

pub mod select;

pub use select::{Axis, Choice, LevelChoice, Reach};
