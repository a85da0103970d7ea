//! Single sentences of the specifications, each with the results on either side of it.

use assay_float::{BF16, F8_E5M2, F16, F32, F64, Format};
use assay_precision::{Call, Denormals, Modes, Op, Scalar, Shape, Verdict};

use Verdict::{Fail, Pass, QualityWarning, Unchecked};

/// What is said of the first result slot, or of that number, for these operands.
fn verdict(op: Op, (to, from): (Format, Format), mode: &str, operands: &[u64], slot: usize, got: u64) -> Verdict {
    let modes = match mode {
        "" => Modes::default(),
        name => Modes::default().with(name).expect("a mode"),
    };
    let from = (op == Op::FConvert).then_some(Scalar::Float(from));
    let call = Call::new(op, Scalar::Float(to), Shape::Scalar, from, modes).expect("a legal call");
    let all = vec![got; call.result_slots().count()];
    call.judge(operands, &all)[slot].verdict
}

fn f32s(op: Op, mode: &str, operands: &[u64], got: u64, expected: Verdict) {
    assert_eq!(verdict(op, (F32, F32), mode, operands, 0, got), expected, "{op} {mode} of {operands:x?}: {got:#x}");
}

const ONE: u64 = 0x3f80_0000;
const INF: u64 = 0x7f80_0000;
const NAN: u64 = 0x7fc0_0000;
const SIGN: u64 = 0x8000_0000;

/// "Only affects instructions operating on a floating-point type using the IEEE 754 encoding whose component width is Target Width"
#[test]
fn modes_are_about_the_ieee_754_encoding() {
    let of = |formats, mode, operand, got| verdict(Op::FConvert, formats, mode, &[operand], 0, got);
    // A result in bfloat16 that is denormal may be flushed, and need not be.
    for mode in ["DenormPreserve", "DenormFlushToZero"] {
        assert_eq!(of((BF16, F32), mode, 0x0001_0000, 0), Pass, "{mode}");
        assert_eq!(of((BF16, F32), mode, 0x0001_0000, 1), Pass, "{mode}");
        assert_eq!(of((BF16, F32), mode, 0x0001_0000, 2), Fail, "{mode}");
    }
    // So may an operand.
    assert_eq!(of((F32, F8_E5M2), "DenormPreserve", 1, 0), Pass);
    assert_eq!(of((F32, F8_E5M2), "DenormPreserve", 1, 0x3780_0000), Pass);
    assert_eq!(of((F64, BF16), "DenormPreserve", 1, 0), Pass);
    // Between two such nothing is declared at all; where one is of the IEEE 754 encoding it is.
    for mode in ["SignedZeroInfNanPreserve", "None"] {
        assert_eq!(of((BF16, F8_E5M2), mode, 0x7c, 0), Unchecked, "{mode}");
        assert_eq!(of((F32, F8_E5M2), mode, 0x7c, 0), Fail, "{mode}");
    }
}

/// The mode of a width is about values of that width: of a packed half, though no type of the instruction has it, about the half; but
/// another reading has it about the types.
#[test]
fn denormals_follow_the_mode_of_their_own_width() {
    use Denormals::{FlushToZero, Preserve, Undeclared};
    let of = |op, to, from: Option<Format>, [denormals, operands]: [Denormals; 2], x, got| {
        let modes = Modes { denormals, operand_denormals: Some(operands), ..Modes::default() };
        let call = Call::new(op, Scalar::Float(to), Shape::Scalar, from.map(Scalar::Float), modes).expect("a call");
        let all = vec![got; call.result_slots().count()];
        call.judge(&vec![x; call.operand_slots().count()], &all)[0].verdict
    };
    let wide = u64::from((1023.0 * 2f32.powi(-24)).to_bits());
    for (modes, unpacked, packed, narrowed) in [
        ([Undeclared, Preserve], [Pass, Pass], [Pass, Pass], [Pass, Pass]),
        ([Preserve, Undeclared], [Pass, QualityWarning], [Pass, QualityWarning], [Pass, Fail]),
        ([FlushToZero, Preserve], [QualityWarning, Pass], [Pass, Pass], [Fail, Pass]),
        ([FlushToZero, FlushToZero], [Fail, Pass], [Pass, Pass], [Fail, Pass]),
        ([Preserve, Preserve], [Pass, Fail], [Pass, Fail], [Pass, Fail]),
    ] {
        let unpack = [wide, 0].map(|got| of(Op::UnpackHalf2x16, F32, None, modes, 0x03ff_03ff, got));
        let pack = [0x3ff, 0].map(|got| of(Op::PackHalf2x16, F32, None, modes, wide, got));
        let narrow = [0x3ff, 0].map(|got| of(Op::FConvert, F16, Some(F32), modes, wide, got));
        assert_eq!((unpack, pack, narrow), (unpacked, packed, narrowed), "{modes:?}");
    }
    // An operand of 16 bits, and a result of 32.
    for (operands, flushed) in [(Undeclared, Pass), (FlushToZero, Pass), (Preserve, Fail)] {
        assert_eq!(of(Op::FConvert, F32, Some(F16), [Undeclared, operands], 0x3ff, 0), flushed, "{operands:?}");
    }
}

/// "min(x, sNaN) = min(sNaN, x) = NaN or x": SPV_EXT_shader_atomic_float_min_max.
#[test]
fn an_atomic_minimum_with_a_signalling_nan_is_either() {
    for (operand, nan) in [(0x7f80_0001, Pass), (NAN, Fail)] {
        let left = |got| verdict(Op::AtomicFMinEXT, (F32, F32), "SignedZeroInfNanPreserve", &[ONE, operand], 1, got);
        assert_eq!((left(ONE), left(NAN), left(operand & 0xff)), (Pass, nan, Fail), "{operand:#x}");
    }
}

/// "The result is the Original Value" and "the denormalized result must be flushed".
#[test]
fn whether_a_flush_touches_what_an_atomic_returns_is_a_doubt() {
    let returned = |got| verdict(Op::AtomicFAddEXT, (F32, F32), "DenormFlushToZero", &[0x0001_16c2, ONE], 0, got);
    assert_eq!((returned(0), returned(0x0001_16c2), returned(1)), (Pass, QualityWarning, Fail));
}

/// "If an IEEE 754 Inf or NaN is created, .. the resulting floating-point value is unspecified."
#[test]
fn a_packed_infinity_is_unspecified() {
    let packed = |high, got| verdict(Op::PackDouble2x32, (F64, F64), "None", &[7, high], 0, got);
    assert_eq!(packed(0x7ff0_0000, 0), Unchecked);
    assert_eq!((packed(0x7fef_ffff, 0x7fef_ffff_0000_0007), packed(0x7fef_ffff, 0)), (Pass, Fail));
}

/// "The bit-level representation of v is preserved", by an instruction for which "the flags NSZ, NotInf, and NotNaN are assumed".
#[test]
fn whether_unpacking_keeps_what_arithmetic_need_not_is_a_doubt() {
    let high = |mode, x, got| verdict(Op::UnpackDouble2x32, (F64, F64), mode, &[x], 1, got);
    let low = |mode, x, got| verdict(Op::UnpackDouble2x32, (F64, F64), mode, &[x], 0, got);
    assert_eq!(
        (high("", 0x7ff0 << 48 | 1, 0x7ff8_0000), high("", 0x7ff0 << 48 | 1, 3)),
        (QualityWarning, QualityWarning)
    );
    assert_eq!(
        (high("None", 0x7ff0 << 48 | 1, 0x7ff8_0000), high("None", 0x7ff0 << 48 | 1, 3)),
        (QualityWarning, Fail)
    );
    assert_eq!((low("", 1, 1), low("", 1, 0), low("", 1, 2)), (Pass, QualityWarning, Fail));
    assert_eq!(low("DenormPreserve", 1, 0), Fail);
    assert_eq!((high("", 1 << 63, 0), high("None", 1 << 63, 0)), (QualityWarning, Fail));
}

/// "The precision of double-precision instructions is at least that of single precision."
#[test]
fn a_rounding_mode_of_64_bits_asks_for_no_less_than_what_is_nearer() {
    let sum = |mode, x: [f64; 2], got| verdict(Op::FAdd, (F64, F64), mode, &x.map(f64::to_bits), 0, got);
    let exact = (1.0f64 + 1e-9).to_bits();
    let of = |got| sum("RoundingModeRTE", [1.0, 1e-9], got);
    assert_eq!(
        (of(exact), of(exact - 1), of(1f64.to_bits()), of(exact + 1)),
        (Pass, QualityWarning, QualityWarning, Fail)
    );
    // What single precision has no range for.
    let modes = Modes::default().with("RoundingModeRTZ").and_then(|modes| modes.with("SignedZeroInfNanPreserve"));
    let call = Call::new(Op::FAdd, Scalar::Float(F64), Shape::Scalar, None, modes.expect("modes")).expect("a call");
    let got = |value: f64| call.judge(&[1e300f64.to_bits(); 2], &[value.to_bits()])[0].verdict;
    assert_eq!((got(2e300), got(f32::MAX.into())), (Pass, Fail));
}

/// "If it is a floating-point type, an ordered-and-equal compare is used."
#[test]
fn all_equal_compares_numbers() {
    for (x, equal) in [([0, SIGN], 1), ([NAN, NAN], 0), ([ONE, ONE], 1), ([ONE, ONE + 1], 0)] {
        f32s(Op::GroupNonUniformAllEqual, "None", &x, equal, Pass);
        f32s(Op::GroupNonUniformAllEqual, "None", &x, 1 - equal, Fail);
    }
}

/// "If Value is positive with a magnitude too large to represent as a 16-bit floating-point value, the result is positive infinity";
/// "the RelaxedPrecision Decoration has no effect on this instruction".
#[test]
fn quantizing_ends_in_infinity() {
    let large = u64::from(1e10f32.to_bits());
    let greatest = u64::from(65_504f32.to_bits());
    for mode in ["SignedZeroInfNanPreserve", "None"] {
        f32s(Op::QuantizeToF16, "None", &[large], INF, Pass);
        f32s(Op::QuantizeToF16, mode, &[large], ONE, if mode == "None" { Fail } else { QualityWarning });
    }
    f32s(Op::QuantizeToF16, "None", &[large], greatest, QualityWarning);
    f32s(Op::QuantizeToF16, "None", &[65_505f32.to_bits().into()], greatest, Pass);
    let near = u64::from(1.0001f32.to_bits());
    f32s(Op::QuantizeToF16, "RelaxedPrecision", &[near], near, Fail);
    f32s(Op::QuantizeToF16, "RelaxedPrecision", &[near], ONE, Pass);
}

/// What GLSL.std.450 names since its revision 13.
#[test]
fn results_of_special_operands_are_those_that_are_named() {
    for (op, x, named) in [
        (Op::Exp, INF, INF),
        (Op::Exp, INF | SIGN, 0),
        (Op::Exp2, INF | SIGN, 0),
        (Op::Log, INF, INF),
        (Op::Log2, INF, INF),
        (Op::Log2, ONE, 0),
        (Op::Sqrt, INF, INF),
        (Op::InverseSqrt, INF, 0),
    ] {
        f32s(op, "None", &[x], named, Pass);
        f32s(op, "None", &[x], 0x33d6_bf95, QualityWarning);
        // By default an infinity is assumed not to occur.
        f32s(op, "", &[x], 0x33d6_bf95, if x == ONE { QualityWarning } else { Unchecked });
    }
    let fraction = |op, x, got| verdict(op, (F32, F32), "None", &[x], 0, got);
    assert_eq!((fraction(Op::ModfStruct, INF | SIGN, SIGN), fraction(Op::ModfStruct, INF, NAN)), (Pass, Fail));
    // "If x = NaN, the result can be any of ±1.0 or ±0.0"; "+0.0 if x = +0.0, and ±0.0 if x = -0.0".
    for (x, got, expected) in [(NAN, ONE, Pass), (NAN, SIGN, Pass), (NAN, NAN, Fail), (0, SIGN, Fail), (SIGN, 0, Pass)]
    {
        f32s(Op::FSign, "None", &[x], got, expected);
    }
    // "0.0 if x < edge; otherwise result is 1.0"
    f32s(Op::Step, "None", &[ONE, NAN], ONE, Pass);
    f32s(Op::Step, "None", &[ONE, NAN], 0, QualityWarning);
    // x - floor(x) is -0 where results are rounded down.
    f32s(Op::Fract, "None", &[ONE | SIGN], SIGN, Pass);
    f32s(Op::Fract, "RoundingModeRTE", &[ONE | SIGN], SIGN, Pass);
}

/// "The largest required magnitude is half of the relative precision less than the value given."
#[test]
fn relaxed_precision_ends_where_it_is_said() {
    let relaxed = |op, x: f32, got: f32| {
        verdict(op, (F32, F32), "RelaxedPrecision", &[x.to_bits().into()], 0, got.to_bits().into())
    };
    assert_eq!((relaxed(Op::Floor, 16_376.0, 1.0), relaxed(Op::Floor, 16_376.5, 1.0)), (Fail, Unchecked));
    // A whole part that truncation may change.
    assert_eq!(relaxed(Op::Modf, 1.9995, 0.999_48), Unchecked);
}
