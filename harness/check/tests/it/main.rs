//! Checks of shaders, on synthetic targets and on the software drivers.

mod planted;
mod rounds;
mod support;
