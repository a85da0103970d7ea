//! Floating-point formats, permitted sets and certified enclosures of real functions.
//!
//! * [`Format`]: a format is data (widths, bias, encodings of special values). Bit patterns are
//!   `u64`, right-aligned. Every format has one total order of its patterns, the [`Rank`].
//! * [`Set`]: the set of bit patterns that a rule permits: ordered disjoint ranges of ranks, with
//!   flags for NaN and for anything.
//! * [`Enclosure`]: an interval with certified ends around one real number, in `f64`
//!   ([`F64Enclosure`]) or with any number of bits ([`BigEnclosure`]). [`decide`] answers a
//!   question with increasing precision until the answer is certain (Ziv's strategy).

mod dyadic;
mod enclosure;
mod format;
mod permitted_set;
mod text;
mod ziv;

pub use dyadic::Dyadic;
pub use enclosure::{
    Enclosure, Function, Undecided, big_enclosure::BigEnclosure, f64_enclosure::F64Enclosure,
    f64_enclosure::f64_kernels,
};
pub use format::{BF16, F8_E4M3, F8_E5M2, F16, F32, F64, Format, Rank, Specials};
pub use permitted_set::{RankRange, Set};
pub use text::{Number, NumberError};
pub use ziv::{EnclosureQuery, decide};
