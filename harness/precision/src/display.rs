//! Values and sets in words, for derivations.

use crate::{Scalar, rank_interval::RankInterval};
use assay_float::{Format, Rank, RankRange, Set};

/// Value with its bits: `0x3f800000 (1.0)`.
pub(crate) fn rank(rank: Rank, format: Format) -> String {
    let value = value(rank, format);
    if format.infinity() <= rank || rank <= format.neg_infinity() {
        return value;
    }
    format!("{:#0width$x} ({value})", format.bits(rank), width = format.width as usize / 4 + 2)
}

/// Value without its bits: `1.0`, `+inf`. In a format without infinities, "beyond" the largest
/// finite value.
pub(crate) fn value(rank: Rank, format: Format) -> String {
    if !format.has_infinity() && (format.infinity() <= rank || rank <= format.neg_infinity()) {
        let inner = rank.clamp(format.neg_infinity() + 1, format.max_finite());
        return format!("beyond {:?}", format.to_f64(format.bits(inner)));
    }
    if rank >= format.infinity() {
        return "+inf".into();
    }
    if rank <= format.neg_infinity() {
        return "-inf".into();
    }
    format!("{:?}", format.to_f64(format.bits(rank)))
}

pub(crate) fn interval(interval: RankInterval, format: Format) -> String {
    if interval.lo == interval.hi {
        rank(interval.lo, format)
    } else {
        format!("{} .. {}", rank(interval.lo, format), rank(interval.hi, format))
    }
}

/// Set of values in words.
pub(crate) fn set(set: &Set, format: Format) -> String {
    if set.is_anything() {
        return "anything".into();
    }
    let mut parts: Vec<String> =
        set.ranges().iter().map(|r| interval(RankInterval { lo: r.lo, hi: r.hi }, format)).collect();
    if set.has_nan() {
        parts.push("any NaN".into());
    }
    parts.join(", ")
}

/// Set of integers or booleans in words.
pub(crate) fn integers(set: &Set, scalar: Scalar) -> String {
    if set.is_anything() {
        return "anything".into();
    }
    let one = |rank: Rank| match scalar {
        Scalar::Bool => (rank != 0).to_string(),
        _ => rank.to_string(),
    };
    let part = |range: &RankRange| match range.lo == range.hi {
        true => one(range.lo),
        false => format!("{} .. {}", one(range.lo), one(range.hi)),
    };
    set.ranges().iter().map(part).collect::<Vec<_>>().join(", ")
}
