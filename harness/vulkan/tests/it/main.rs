//! Tests against real drivers, in one program.

mod devices;
mod environment;
mod gather;
mod multisample;
mod resources;
mod shader;
mod tile;
mod tile_draw;
