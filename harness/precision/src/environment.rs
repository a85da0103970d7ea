//! The environment of one evaluation: what the modes and the row's lists together allow.

use crate::{Denormals, Modes, Rounding, Rules, table::Lists};
use assay_float::{F16, Format};

/// Whether denormals of some place are flushed to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flush {
    /// They are kept.
    Never,
    /// Each may be kept or flushed.
    May,
    /// Each must be zero.
    Must,
}

/// What holds for one evaluation of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Environment {
    /// Whose bounds hold, and what an overflow permits.
    pub rules: Rules,
    /// The format of float results and of all intermediates.
    pub format: Format,
    /// The format whose ulp and column the bounds are counted in: `format`, but for lenient 64-bit and relaxed precision.
    pub rule: Format,
    /// Effective for correctly rounded operations.
    pub rounding: Rounding,
    /// Whether denormal operands may be read as zero.
    pub flush_operands: bool,
    /// What happens to a denormal result.
    pub flush_results: Flush,
    /// Whether intermediates of a formula may be flushed.
    pub flush_inside: bool,
    /// The sign of a zero is free.
    pub nsz: bool,
    /// Infinite operands and results are assumed not to occur.
    pub not_inf: bool,
    /// NaN operands and results are assumed not to occur.
    pub not_nan: bool,
    /// The flags are stated, not assumed: "if this assumption does not hold then the operation returns an undefined value".
    pub flags_stated: bool,
    /// The lenient reading of `Sqrt(0)`: its formula divides by zero, so that nothing is required.
    pub zero_unspecified: bool,
    /// Whether the ranges of a formula's operations may be covers rather than searched to the last value.
    pub coarse: bool,
}

impl Environment {
    /// The environment of an instruction with those lists, working in `format`, of operands in the format `from`.
    ///
    /// Modes name widths of the IEEE 754 encoding ("Only affects instructions operating on a floating-point type using the IEEE 754
    /// encoding whose component width is Target Width"): what has another keeps no denormals, and rounds as the implementation likes.
    pub(crate) fn new(modes: &Modes, lists: Lists, format: Format, from: Format) -> Environment {
        let (of_result, of_operands) = (format.is_ieee_754(), from.is_ieee_754());
        let assumed = !(modes.preserve_special && lists.special && (of_result || of_operands));
        let (nsz, not_inf, not_nan) = match modes.fast_math {
            // "If the SPIR-V specifies it explicitly .. then that is used", of whatever encoding.
            Some(flags) => (flags.nsz, flags.not_inf, flags.not_nan),
            None => (assumed, assumed, assumed),
        };
        let operands_kept = modes.operand_denormals.unwrap_or(modes.denormals) == Denormals::Preserve;
        Environment {
            rules: Rules::Vulkan,
            format,
            rule: format,
            rounding: if of_result { modes.rounding } else { Rounding::Undeclared },
            flush_operands: !(operands_kept && lists.preserve && of_operands),
            flush_results: if of_result { lists.flush_of_results(modes.denormals) } else { Flush::May },
            flush_inside: !(modes.denormals == Denormals::Preserve && of_result),
            nsz,
            not_inf,
            not_nan,
            flags_stated: modes.fast_math.is_some(),
            zero_unspecified: false,
            coarse: false,
        }
    }

    /// The same by another text. WGSL declares no modes, so that the environment of undeclared modes is what it permits; beyond
    /// that its square root of zero is inherited from a division by zero like any other.
    pub(crate) fn under(self, rules: Rules) -> Environment {
        Environment { rules, zero_unspecified: self.zero_unspecified || rules == Rules::Wgsl, ..self }
    }

    /// The same where denormals are kept unless a mode demands that they are flushed.
    pub(crate) fn keeping_denormals(self) -> Environment {
        let flush_results = if self.flush_results == Flush::Must { Flush::Must } else { Flush::Never };
        Environment { flush_operands: false, flush_results, ..self }
    }

    /// The same where denormals may be flushed, and the sign of a zero is free.
    pub(crate) fn flushing(self) -> Environment {
        Environment { flush_operands: true, flush_results: Flush::May, nsz: true, ..self }
    }

    /// Whether a result that may overflow may be anything: Vulkan's text may be read so, WGSL's says so.
    pub(crate) fn overflow_is_anything(&self) -> bool {
        self.rules == Rules::Wgsl && self.not_inf
    }

    /// What the bounds are counted in beyond the range of `rule`: as many bits, with the exponents of `format`. What is wanted of a wider
    /// format is the precision of a narrower one, not its range.
    pub(crate) fn rule_beyond(&self) -> Format {
        let Format { exponent_bits, .. } = self.format;
        Format { exponent_bits, width: 1 + exponent_bits + self.rule.fraction_bits, ..self.rule }
    }

    /// The same with bounds counted in another format.
    pub(crate) fn with_rule(self, rule: Format) -> Environment {
        Environment { rule, ..self }
    }

    /// Whether the half-precision column applies.
    pub fn half_column(&self) -> bool {
        self.rule == F16
    }
}
