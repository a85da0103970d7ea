//! Checks of shaders, on synthetic targets and on the software drivers.

mod bundles;
mod planted;
mod rounds;
mod support;
