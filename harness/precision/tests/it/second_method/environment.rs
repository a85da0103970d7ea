//! Environment around an instruction: the readings of its operands, and the treatment of its
//! result.

use crate::second_method::{
    float8::is_float8,
    lists,
    num::{Index, index},
    rules::{Outcome, rule},
    steps::Env,
    values::Zeros,
};
use assay_float::{F16, F32, F64, Format, Set};
use assay_precision::{Call, Denormals, FastMath, Op, Rounding, Scalar};

/// Treatment of special values by the flags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flags {
    pub(crate) nsz: bool,
    pub(crate) not_inf: bool,
    pub(crate) not_nan: bool,
    /// Set for the lenient reading, for rules that have one here: bfloat16, float8, and formulas
    /// that name an intermediate.
    pub(crate) lenient: bool,
}

impl Flags {
    fn of(call: &Call, lenient: bool) -> Flags {
        match call.modes.fast_math {
            Some(FastMath { nsz, not_inf, not_nan, .. }) => Flags { nsz, not_inf, not_nan, lenient },
            None => {
                let mut formats = call.operand_slots().chain(call.result_slots()).filter_map(Scalar::format);
                let widths = formats.any(ieee_754) || call.op.name().starts_with("Pack");
                let assumed = !(call.modes.preserve_special && lists::specials_bind(call.op) && widths);
                Flags { nsz: assumed, not_inf: assumed, not_nan: assumed, lenient }
            }
        }
    }
}

/// A floating-point operand with the sign of its zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Nan,
    /// Infinities included.
    Number {
        index: Index,
        negative: bool,
    },
    Integer(u64),
}

impl Value {
    pub(crate) fn of(scalar: Scalar, bits: u64) -> Value {
        match scalar {
            Scalar::Float(f) if f.is_nan(bits) => Value::Nan,
            Scalar::Float(f) => Value::Number { index: index(f, bits), negative: bits >> (f.width - 1) == 1 },
            Scalar::Int { .. } | Scalar::Bool => Value::Integer(bits),
        }
    }

    /// Index and sign.
    pub(crate) fn number(self) -> (Index, bool) {
        match self {
            Value::Number { index, negative } => (index, negative),
            Value::Nan | Value::Integer(_) => panic!("a number"),
        }
    }
}

/// Returns true for the IEEE 754 encodings of 16, 32 and 64 bits, to which modes apply.
fn ieee_754(f: Format) -> bool {
    [F16, F32, F64].contains(&f)
}

/// Permitted set of a result slot in the usual reading, or for bfloat16 and float8 in the lenient
/// one. `None` if this method has no rule.
pub(crate) fn permitted(call: &Call, slot: usize, operands: &[u64], lenient: bool) -> Option<Set> {
    if call.op == Op::UnpackDouble2x32 {
        // "The bit-level representation of v is preserved."
        return Some(Set::point((operands[0] >> (32 * slot) & 0xffff_ffff).cast_signed()));
    }
    if !call.op.name().starts_with("Pack") {
        return own(call, slot, operands, lenient);
    }
    // The parts of the word are one result: if one of them is undefined, so is the word.
    let parts = (0..call.results[0].len()).map(|part| own(call, part, operands, lenient));
    let mut parts = parts.collect::<Option<Vec<Set>>>()?;
    Some(if parts.iter().any(Set::is_anything) { Set::anything() } else { parts.swap_remove(slot) })
}

/// Permitted set of a result slot by its own operands.
fn own(call: &Call, slot: usize, operands: &[u64], lenient: bool) -> Option<Set> {
    let flags = Flags::of(call, lenient);
    let preserve = call.modes.denormals == Denormals::Preserve;
    let kept = preserve && lists::preserve_binds(call.op);
    let scalars: Vec<Scalar> = call.operand_slots().collect();
    let result = call.result_slots().nth(slot).unwrap();
    // Every reading of every operand.
    let mut readings: Vec<Vec<u64>> = vec![vec![]];
    for k in crate::second_method::rules::inputs(call, slot) {
        let mut own = vec![operands[k]];
        if let Scalar::Float(f) = scalars[k] {
            let bits = operands[k];
            if ((f.is_nan(bits) && flags.not_nan) || (f.is_infinite(bits) && flags.not_inf))
                && !crate::second_method::rules::defined_for_specials(call)
            {
                return Some(Set::anything());
            }
            // Conversions from float8 to binary16 keep denormals.
            let to_half = is_float8(f) && result == Scalar::Float(F16);
            let flushed = f.is_denormal(bits) && !(kept && ieee_754(f)) && !to_half;
            if flushed || (f.is_zero(bits) && flags.nsz) {
                own.extend([0, 1 << (f.width - 1)]);
            }
        }
        own.dedup();
        readings = readings.into_iter().flat_map(|r| own.iter().map(move |&b| [&r[..], &[b]].concat())).collect();
    }
    readings.sort_unstable();
    readings.dedup();
    let inputs = crate::second_method::rules::inputs(call, slot);
    let format = result.format();
    let mut all = Set::empty();
    for reading in readings {
        let values: Vec<Value> = reading.iter().zip(&inputs).map(|(&b, &k)| Value::of(scalars[k], b)).collect();
        let f = format.or_else(|| scalars[inputs[0]].format());
        let declared = f.is_none_or(ieee_754);
        let rounding = if declared { call.modes.rounding } else { Rounding::Undeclared };
        let env = f.map(|f| Env {
            f,
            flush: !(preserve && declared),
            rounding,
            not_inf: flags.not_inf,
            equal_operands: false,
        });
        let outcome = rule(call, slot, env, flags, &values, &reading)?;
        let set = match (outcome, format) {
            (Outcome::Anything, _) => Set::anything(),
            (Outcome::Bits(set), _) => set,
            (Outcome::Float { values, tiny, zeros }, Some(f)) => {
                finish(call, f, flags, kept && ieee_754(f), values, tiny, zeros)
            }
            (Outcome::Float { .. }, None) => unreachable!(),
        };
        all.union_with(&set);
        if all.is_anything() {
            break;
        }
    }
    Some(all)
}

/// Flushes the result and gives zeros their signs.
fn finish(
    call: &Call,
    f: Format,
    flags: Flags,
    kept: bool,
    mut values: crate::second_method::values::Values,
    tiny: bool,
    mut zeros: Zeros,
) -> Set {
    if values.any || (values.nan && flags.not_nan) {
        return Set::anything();
    }
    let inf = crate::second_method::num::infinity(f);
    if flags.lenient && flags.not_inf && (values.meets(inf, inf) || values.meets(-inf, -inf)) {
        return Set::anything();
    }
    // The set of all values but NaN is not a denormal result that could be flushed.
    let denormal = values.ranges != [(-inf, inf)] && (tiny || values.has_denormal(f));
    if denormal && !kept {
        if call.modes.denormals == Denormals::FlushToZero && lists::flush_binds(call.op) && ieee_754(f) {
            let last = (1 << f.fraction_bits) - 1;
            values.remove(1, last);
            values.remove(-last, -1);
        }
        values.add(0, 0);
        zeros = Zeros::BOTH;
    }
    if flags.nsz {
        zeros = Zeros::BOTH;
    }
    values.set(zeros)
}
