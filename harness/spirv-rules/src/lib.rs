//! Validity of SPIR-V modules, and their requirements on devices.
//!
//! * [`rules`]: validity rules for modules.
//! * [`requirements`]: device requirements of a module, device capabilities, and their comparison.
//! * [`inspect`]: a report on one file, as data and as text.
//! * [`rules_document`]: every rule and its treatment, as `RULES.md`.

pub mod inspect;
pub mod requirements;
pub mod rules;
mod rules_document;

pub use rules_document::rules_document;
