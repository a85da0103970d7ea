//! Values and sets in words, for derivations.

use crate::span::Span;
use assay_float::{Format, Rank, Set};

/// A value with its bits: `0x3f800000 (1)`.
pub(crate) fn rank(rank: Rank, format: Format) -> String {
    if rank >= format.infinity() {
        return "+inf".into();
    }
    if rank <= format.neg_infinity() {
        return "-inf".into();
    }
    let bits = format.bits(rank);
    format!("{bits:#0width$x} ({:?})", format.to_f64(bits), width = format.width as usize / 4 + 2)
}

pub(crate) fn span(span: Span, format: Format) -> String {
    if span.lo == span.hi {
        rank(span.lo, format)
    } else {
        format!("{} .. {}", rank(span.lo, format), rank(span.hi, format))
    }
}

/// A set of values.
pub(crate) fn set(set: &Set, format: Format) -> String {
    if set.is_anything() {
        return "anything".into();
    }
    let mut parts: Vec<String> = set.ranges().iter().map(|r| span(Span { lo: r.lo, hi: r.hi }, format)).collect();
    if set.has_nan() {
        parts.push("any NaN".into());
    }
    parts.join(", ")
}
