//! Analyses of modules that several rules query.

mod branches;
pub(crate) mod facts;
mod opcode_cache;
pub(crate) mod structure;
pub(crate) mod type_contents;
pub(crate) mod typing;
