//! Effects of the float environment on registers: bit-preserving operations, flushes of WGSL, and
//! relaxed precision.

mod bit_preserving;
mod bitcast;
mod relaxed;
mod wgsl_flush;
