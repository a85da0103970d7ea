//! Conversions to float8 of values beyond the largest finite number of the format.
//!
//! "Out-of-range values and infinity are converted to largest representable finite value with a
//! matching sign if the conversion is decorated with `SaturatedToLargestFloat8NormalConversionEXT`,
//! otherwise they are converted to NaN if the destination type uses the `Float8E4M3EXT` FP encoding
//! or infinity with a matching sign if the destination type uses the `Float8E5M2EXT` FP encoding"
//! (SPV_EXT_float8). Vulkan says "correctly rounded", in either direction. A value less than one
//! ulp beyond the largest finite number, though out of range, may therefore be rounded to that
//! number.

use crate::Call;
use assay_float::{Dyadic, Enclosure, Format, RankRange, Set, Undecided};
use std::cmp::Ordering;

/// Result of values out of range and of infinities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverflowPolicy {
    /// Largest finite number: the conversion is decorated.
    Largest,
    Nan,
    Infinity,
}

/// Reason for which another reading permits the largest finite number for values one ulp or more
/// beyond it.
pub(crate) const ROUNDED_DOWN: &str =
    "SPV_EXT_float8 names the result of a value out of range, the table of Vulkan says correctly rounded, either way";

impl OverflowPolicy {
    /// Policy of a call; `None` except for conversions to float8.
    pub(crate) fn of(call: &Call) -> Option<OverflowPolicy> {
        let format = call.results[0].scalar.format().filter(|format| format.is_float8())?;
        Some(match (call.modes.saturated, format.has_infinity()) {
            (true, _) => OverflowPolicy::Largest,
            (false, false) => OverflowPolicy::Nan,
            (false, true) => OverflowPolicy::Infinity,
        })
    }

    /// The rule in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            OverflowPolicy::Largest => "out of range the largest finite number (SPV_EXT_float8)",
            OverflowPolicy::Nan => "out of range NaN (SPV_EXT_float8)",
            OverflowPolicy::Infinity => "out of range infinity (SPV_EXT_float8)",
        }
    }

    /// Replaces infinities in a set, which represent all values out of range, by the result of the
    /// conversion.
    pub(crate) fn applied(self, mut set: Set, format: Format) -> Set {
        let (infinity, largest) = (format.infinity(), format.max_finite());
        for (out, within) in [(infinity, largest), (format.neg_infinity(), -1 - largest)] {
            if self == OverflowPolicy::Infinity || set.is_anything() || !set.meets(RankRange::point(out)) {
                continue;
            }
            set.remove(RankRange::point(out));
            match self {
                OverflowPolicy::Largest => set.insert(RankRange::point(within)),
                OverflowPolicy::Nan | OverflowPolicy::Infinity => set.insert_nan(),
            }
        }
        set
    }
}

/// Returns true if a number lies one ulp of the largest finite number or more beyond it, where no
/// rounding of it is in range.
pub(crate) fn is_out_of_range<R: Enclosure>(
    exact: &R,
    format: Format,
    precision: R::Precision,
) -> Result<bool, Undecided> {
    let ulp = Dyadic::pow2(format.ulp_exponent(format.max_exponent()));
    let largest = R::exact(format.value_of_rank(format.max_finite()), precision);
    Ok(exact.abs().compare(&largest.add(&R::exact(ulp, precision)))? != Ordering::Less)
}
