//! Checks of shaders, on synthetic targets and on the software drivers.

mod rounds;
mod support;
