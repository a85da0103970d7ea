//! Checks of shaders, on synthetic targets and on the software drivers.

mod addresses;
mod bounds;
mod bundles;
mod chains;
mod equivalence;
mod hollow;
mod images;
mod planted;
mod random;
mod reduced;
mod replayed;
mod robust;
mod rounds;
mod sampled;
mod support;
mod traced;
