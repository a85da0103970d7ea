//! Environment of one evaluation: the combined effect of the modes and of the lists that name the
//! row.

use crate::{Denormals, Modes, Rounding, Specification, lists::Lists};
use assay_float::{F16, Format};

/// Treatment of denormal values of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flush {
    /// All are kept.
    Never,
    /// Each may be kept or flushed to zero.
    May,
    /// Each must be zero.
    Must,
}

impl Flush {
    /// Treatment of denormal results with this declaration, for an instruction that these lists
    /// name.
    pub(crate) fn of_results(lists: Lists, declared: Denormals) -> Flush {
        match declared {
            Denormals::FlushToZero if lists.flush => Flush::Must,
            Denormals::Preserve if lists.preserve => Flush::Never,
            Denormals::Undeclared | Denormals::FlushToZero | Denormals::Preserve => Flush::May,
        }
    }
}

/// Conditions of one evaluation of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Environment {
    /// Specification whose bounds and overflow rules hold.
    pub specification: Specification,
    /// Format of float results and of all intermediate results.
    pub format: Format,
    /// Format in whose ulp, and by whose column, the bounds are stated: `format`, except for
    /// lenient 64-bit and relaxed precision.
    pub bound_format: Format,
    /// Rounding mode of correctly rounded operations.
    pub rounding: Rounding,
    /// Set if denormal operands may be read as zero.
    pub flush_operands: bool,
    /// Treatment of denormal results.
    pub flush_results: Flush,
    /// Set if intermediate results of a formula may be flushed.
    pub flush_inside: bool,
    /// Set if the sign of a zero does not matter.
    pub nsz: bool,
    /// Set if infinite operands and results are assumed not to occur.
    pub not_inf: bool,
    /// Set if NaN operands and results are assumed not to occur.
    pub not_nan: bool,
    /// Set if the flags are declared rather than assumed by default: "if this assumption does not
    /// hold then the operation returns an undefined value".
    pub flags_stated: bool,
    /// Set in the lenient reading of `Sqrt(0)`: its formula divides by zero, so that nothing is
    /// required.
    pub zero_unspecified: bool,
    /// Set in the lenient reading of a variable that a formula names (`t` of `SmoothStep`): each
    /// use may have another value.
    pub separate_uses: bool,
    /// Set in the lenient reading of equivalent formulas: operands with equal values, or with values
    /// that differ in sign, count as one, so that distributivity takes it out of a sum.
    pub equal_operands: bool,
    /// Set in the lenient reading of `Fmin` and `Fmax` of inherited precision: the ends of the real
    /// range in which the last operation of a formula must return, rather than the outermost values
    /// of the format in it.
    pub real_ends: bool,
    /// Set if the ranges of a formula's operations may be covers instead of exact ranges.
    pub coarse: bool,
}

impl Environment {
    /// Environment of an instruction that the given lists name, evaluated in `format`, with
    /// operands in the format `from`.
    ///
    /// Modes name widths of the IEEE 754 encoding ("Only affects instructions operating on a
    /// floating-point type using the IEEE 754 encoding whose component width is Target Width"). An
    /// instruction of another encoding does not keep denormals, and rounds in an
    /// implementation-defined way.
    pub(crate) fn new(modes: &Modes, lists: Lists, format: Format, from: Format) -> Environment {
        let (of_result, of_operands) = (format.is_ieee_754(), from.is_ieee_754());
        let assumed = !(modes.preserve_special && lists.special && (of_result || of_operands));
        let (nsz, not_inf, not_nan) = match modes.fast_math {
            // "If the SPIR-V specifies it explicitly .. then that is used", for every encoding.
            Some(flags) => (flags.nsz, flags.not_inf, flags.not_nan),
            None => (assumed, assumed, assumed),
        };
        let operands_kept = modes.operand_denormals.unwrap_or(modes.denormals) == Denormals::Preserve;
        Environment {
            specification: Specification::Vulkan,
            format,
            bound_format: format,
            rounding: if of_result { modes.rounding } else { Rounding::Undeclared },
            flush_operands: !(operands_kept && lists.preserve && of_operands),
            flush_results: if of_result { Flush::of_results(lists, modes.denormals) } else { Flush::May },
            flush_inside: !(modes.denormals == Denormals::Preserve && of_result),
            nsz,
            not_inf,
            not_nan,
            flags_stated: modes.fast_math.is_some(),
            zero_unspecified: false,
            separate_uses: false,
            equal_operands: false,
            real_ends: false,
            coarse: false,
        }
    }

    /// This environment under another specification. WGSL has no modes: the environment without
    /// declarations is the one that it permits. In addition, its square root of zero is inherited
    /// from a division by zero.
    pub(crate) fn under(self, specification: Specification) -> Environment {
        Environment {
            specification,
            zero_unspecified: self.zero_unspecified || specification == Specification::Wgsl,
            ..self
        }
    }

    /// This environment with denormals kept unless a mode demands that they are flushed.
    pub(crate) fn keeping_denormals(self) -> Environment {
        let flush_results = if self.flush_results == Flush::Must { Flush::Must } else { Flush::Never };
        Environment { flush_operands: false, flush_results, ..self }
    }

    /// This environment with denormals that may be flushed and zeros of either sign.
    pub(crate) fn flushing(self) -> Environment {
        Environment { flush_operands: true, flush_results: Flush::May, nsz: true, ..self }
    }

    /// Returns true if a result that may overflow may be anything. WGSL says this; Vulkan's text
    /// can be read so.
    pub(crate) fn overflow_is_anything(&self) -> bool {
        self.specification == Specification::Wgsl && self.not_inf
    }

    /// Format of the bounds beyond the range of `rule`: the significand of `rule` with the
    /// exponents of `format`. A bound in a narrower format states its precision, not its range.
    pub(crate) fn bound_format_beyond(&self) -> Format {
        let Format { exponent_bits, .. } = self.format;
        Format { exponent_bits, width: 1 + exponent_bits + self.bound_format.fraction_bits, ..self.bound_format }
    }

    /// This environment with bounds in the ulp of another format.
    pub(crate) fn with_bound_format(self, bound_format: Format) -> Environment {
        Environment { bound_format, ..self }
    }

    /// Returns true if the half-precision column applies.
    pub fn half_column(&self) -> bool {
        self.bound_format == F16
    }
}
