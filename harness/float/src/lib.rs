//! Floating-point formats, permitted sets and certified enclosures of real functions.
//!
//! * [`Format`]: a format is data (widths, bias, which encodings are special); bit patterns are `u64`,
//!   right-aligned, and every format has one total order of its patterns, the [`Rank`].
//! * [`Set`]: the set of bit patterns that a rule permits: ordered disjoint ranges of ranks, whether NaN
//!   is a member, and whether anything is.
//! * [`Enclosure`]: an interval with certified ends around one real number, in `f64` ([`Fast`]) or with
//!   as many bits as it takes ([`Big`]). [`decide`] asks a question with the first and goes on to the second until
//!   the answer is certain.

mod decide;
mod dyadic;
mod enclosure;
mod format;
mod set;
mod text;

pub use decide::{Question, decide};
pub use dyadic::Dyadic;
pub use enclosure::{Enclosure, Function, Undecided, big::Big, fast::Fast, fast::kernels};
pub use format::{BF16, F8_E4M3, F8_E5M2, F16, F32, F64, Format, Rank, Specials};
pub use set::{RankRange, Set};
pub use text::{Number, NumberError};
