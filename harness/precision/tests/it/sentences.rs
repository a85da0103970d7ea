//! Single sentences of the specifications, each tested with results on either side of it.

use assay_float::{BF16, F8_E4M3, F8_E5M2, F16, F32, F64, Format};
use assay_precision::{Call, Denormals, Modes, Op, Scalar, Shape, Verdict};

use Verdict::{Fail, Pass, QualityWarning, Unchecked};

/// Verdict on a result component (the first, or `slot`) for these operands.
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
    // A denormal result in bfloat16 may be flushed or kept.
    for mode in ["DenormPreserve", "DenormFlushToZero"] {
        assert_eq!(of((BF16, F32), mode, 0x0001_0000, 0), Pass, "{mode}");
        assert_eq!(of((BF16, F32), mode, 0x0001_0000, 1), Pass, "{mode}");
        assert_eq!(of((BF16, F32), mode, 0x0001_0000, 2), Fail, "{mode}");
    }
    // So may an operand.
    assert_eq!(of((F32, F8_E5M2), "DenormPreserve", 1, 0), Pass);
    assert_eq!(of((F32, F8_E5M2), "DenormPreserve", 1, 0x3780_0000), Pass);
    assert_eq!(of((F64, BF16), "DenormPreserve", 1, 0), Pass);
    // Between two such formats nothing is preserved; if one has the IEEE 754 encoding, it is. Flags
    // apply to every format.
    assert_eq!(of((BF16, F8_E5M2), "SignedZeroInfNanPreserve", 0x7c, 0), Unchecked);
    assert_eq!(of((F32, F8_E5M2), "SignedZeroInfNanPreserve", 0x7c, 0), Fail);
    for to in [BF16, F32] {
        assert_eq!(of((to, F8_E5M2), "None", 0x7c, 0), Fail);
        assert_eq!(of((to, F8_E5M2), "None", 0x80, 0), Fail);
        assert_eq!(of((to, F8_E5M2), "NSZ", 0x80, 0), Pass);
    }
}

/// The mode of a width applies to values of that width. A packed half is such a value, although no
/// type of the instruction has its width; in another reading the mode applies to the types only.
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
    // An operand of 16 bits and a result of 32.
    for (operands, flushed) in [(Undeclared, Pass), (FlushToZero, Pass), (Preserve, Fail)] {
        assert_eq!(of(Op::FConvert, F32, Some(F16), [Undeclared, operands], 0x3ff, 0), flushed, "{operands:?}");
    }
}

/// "Assume parameters and result are not NaN. If this assumption does not hold then the operation returns an undefined value."
#[test]
fn predicates_are_undefined_for_operands_that_flags_exclude() {
    for (op, mode, x) in [(Op::IsNan, "NotNaN", NAN), (Op::IsInf, "NotInf", INF)] {
        let of = |mode, x, got| verdict(op, (F32, F32), mode, &[x], 0, got);
        assert_eq!((of(mode, x, 1), of(mode, x, 0)), (Unchecked, Unchecked), "{op}");
        assert_eq!((of("None", x, 1), of("None", x, 0), of(mode, ONE, 1)), (Pass, Fail, Fail), "{op}");
        // Default assumptions differ: the predicate would otherwise be useless.
        assert_eq!((of("", x, 1), of("", x, 0)), (Pass, QualityWarning), "{op}");
    }
}

/// "fract(±0) = +0."
#[test]
fn the_fraction_of_a_zero_is_positive() {
    for (x, expected) in [(SIGN, Fail), (0, Fail), (SIGN | ONE, Pass)] {
        f32s(Op::Fract, "None", &[x], 0, Pass);
        f32s(Op::Fract, "None", &[x], SIGN, expected);
        f32s(Op::Fract, "NSZ", &[x], SIGN, Pass);
    }
    // The operand may be flushed to a zero of either sign, but the fraction has only one.
    f32s(Op::Fract, "None", &[SIGN | 1], 0, Pass);
    f32s(Op::Fract, "None", &[SIGN | 1], SIGN, Fail);
}

/// "The RelaxedPrecision Decoration only affects the conversion step of the instruction", whose operands "may also be truncated".
#[test]
fn packing_may_be_of_relaxed_precision() {
    let packed = |op, mode, [x, y]: [f32; 2], got: [u64; 2]| {
        let modes = Modes::default().with(mode).expect("a mode");
        let call = Call::new(op, Scalar::Float(F32), Shape::Scalar, None, modes).expect("a call");
        let count = call.result_slots().count();
        let of = |a, b| (0..count).map(|k| if k % 2 == 0 { a } else { b }).collect::<Vec<u64>>();
        call.judge(&of(x.to_bits().into(), y.to_bits().into()), &of(got[0], got[1]))[0].verdict
    };
    let relaxed = |op, x, got| packed(op, "RelaxedPrecision", x, got);
    // From 2^14 on nothing is required.
    assert_eq!(relaxed(Op::PackUnorm2x16, [0.3, 0.7], [19_648, 45_856]), Unchecked);
    assert_eq!(packed(Op::PackUnorm2x16, "None", [0.3, 0.7], [19_648, 45_856]), Fail);
    // 0.1 is between 0.09997559 and 0.10003662 in halves, which times 32767 are 3275.9 and 3277.9;
    // a half may err by 2 there.
    for (got, expected) in [(3277, Pass), (3275, Pass), (3280, Pass), (3270, Fail), (3285, Fail)] {
        assert_eq!(relaxed(Op::PackSnorm2x16, [0.1, 0.0], [got, 0]), expected, "{got}");
        assert_eq!(relaxed(Op::PackSnorm2x16, [-0.1, 0.0], [0x1_0000 - got, 0]), expected, "-{got}");
        let exact = if got == 3277 { Pass } else { Fail };
        assert_eq!(packed(Op::PackSnorm2x16, "None", [0.1, 0.0], [got, 0]), exact, "{got}");
    }
    for (got, expected) in [(127, Pass), (128, Pass), (126, Fail), (129, Fail)] {
        assert_eq!(relaxed(Op::PackUnorm4x8, [0.5, 1.0], [got, 255]), expected, "{got}");
    }
    assert_eq!(
        (relaxed(Op::PackUnorm4x8, [0.0, -3.0], [0, 0]), relaxed(Op::PackUnorm4x8, [0.0, -3.0], [1, 0])),
        (Pass, Fail)
    );
    assert_eq!(relaxed(Op::PackHalf2x16, [1.0001, 3.0], [0x3c02, 0x4200]), Pass);
    assert_eq!(relaxed(Op::PackHalf2x16, [1.0001, 3.0], [0x3c04, 0x4200]), Fail);
}

/// Vulkan does not say which steps of GLSL.std.450's formula round: "round(clamp(c, -1, +1) *
/// 32767.0)".
#[test]
fn declared_rounding_inside_packing_is_a_doubt() {
    let packed = |mode, got| {
        let modes = Modes::default().with(mode).expect("a mode");
        let call = Call::new(Op::PackUnorm2x16, Scalar::Float(F32), Shape::Scalar, None, modes).expect("a call");
        let x = [0x3eff_fdff, 0];
        call.judge(&x, &[got, 0])[0].verdict
    };
    // The product is less than half of the last place below 32766.5.
    assert_eq!((packed("None", 32_766), packed("None", 32_767)), (Pass, Pass));
    assert_eq!((packed("RoundingModeRTZ", 32_766), packed("RoundingModeRTZ", 32_767)), (Pass, QualityWarning));
    assert_eq!(packed("RoundingModeRTZ", 32_765), Fail);
}

/// "Conversions to or from floating-point values with the BFloat16KHR encoding first convert the source value to IEEE754 binary32";
/// they are "correctly rounded with implementation defined rounding mode", and to integers they truncate.
#[test]
fn integers_convert_to_and_from_small_formats() {
    let int = |width, signed| Scalar::Int { width, signed };
    let call = |op, to, from, mode: &str| {
        let modes = if mode.is_empty() { Modes::default() } else { Modes::default().with(mode).expect("a mode") };
        Call::new(op, to, Shape::Scalar, Some(from), modes).expect("a call")
    };
    for mode in ["", "RoundingModeRTE", "RoundingModeRTZ"] {
        let rounded = call(Op::ConvertSToF, Scalar::Float(BF16), int(32, true), mode);
        // 257 lies between 256 and 258.
        for (got, expected) in [(0x437f, Fail), (0x4380, Pass), (0x4381, Pass), (0x4382, Fail)] {
            assert_eq!(rounded.judge(&[257], &[got])[0].verdict, expected, "{mode} {got:#x}");
        }
        assert_eq!(rounded.judge(&[0xffff_fffd], &[0xc040])[0].verdict, Pass);
        assert_eq!(rounded.judge(&[0xffff_fffd], &[0xc041])[0].verdict, Fail);
    }
    for (from, x, whole) in [(BF16, 0xc079, -3i64), (BF16, 0x4d00, 1 << 27), (F8_E4M3, 0x7e, 448), (F8_E5M2, 0xc3, -3)]
    {
        let truncated = call(Op::ConvertFToS, int(32, true), Scalar::Float(from), "");
        let bits = u64::from(whole as u32);
        assert_eq!(truncated.judge(&[x], &[bits])[0].verdict, Pass, "{from:?}");
        assert_eq!(truncated.judge(&[x], &[bits - 1])[0].verdict, Fail, "{from:?}");
    }
    // Values that do not fit must not be sent.
    let narrow = |from, x| call(Op::ConvertFToU, int(8, false), Scalar::Float(from), "").is_defined(&[x]);
    assert!(!narrow(F8_E4M3, 0x7e) && !narrow(F8_E4M3, 0x7f) && !narrow(F8_E5M2, 0x7c) && !narrow(BF16, 0x4380));
    assert!(narrow(F8_E4M3, 0x76) && narrow(F8_E5M2, 0x5b) && narrow(BF16, 0x437f));
}

/// "Out-of-range values and infinity are converted to largest representable finite value with a
/// matching sign if the conversion is decorated with SaturatedToLargestFloat8NormalConversionEXT,
/// otherwise they are converted to NaN if the destination type uses the Float8E4M3EXT FP encoding
/// or infinity with a matching sign if the destination type uses the Float8E5M2EXT FP encoding."
/// Less than an ulp beyond the largest number the result is also "correctly rounded"; from there on
/// that is a doubt.
#[test]
fn float8_conversions_out_of_range_follow_their_saturation_mode() {
    const SATURATED: &str = "SaturatedToLargestFloat8NormalConversionEXT";
    let inf = f32::INFINITY;
    let of = |to, modes: &[&str], x: f32, got| {
        let modes = Modes::from_names(modes.iter().copied()).expect("modes");
        let from = Some(Scalar::Float(F32));
        let call = Call::new(Op::FConvert, Scalar::Float(to), Shape::Scalar, from, modes).expect("a conversion");
        call.judge(&[x.to_bits().into()], &[got])[0].verdict
    };
    for (to, x, verdicts) in [
        (F8_E4M3, 448.0, &[(0x7e, Pass), (0x7d, Fail), (0x7f, Fail)][..]),
        // The encoding of an infinity in IEEE 754's scheme is 256.
        (F8_E4M3, 464.0, &[(0x7e, Pass), (0x7f, Pass), (0xff, Pass), (0x7d, Fail), (0xfe, Fail), (0x78, Fail)]),
        (F8_E4M3, 480f32.next_down(), &[(0x7e, Pass), (0x7f, Pass), (0x7d, Fail)]),
        (F8_E4M3, 480.0, &[(0x7f, Pass), (0xff, Pass), (0x7e, QualityWarning), (0x7d, Fail), (0xfe, Fail)]),
        (F8_E4M3, -1e30, &[(0x7f, Pass), (0xff, Pass), (0xfe, QualityWarning), (0x7e, Fail), (0, Fail)]),
        (F8_E4M3, inf, &[(0x7f, Pass), (0xff, Pass), (0x7e, Fail), (0x78, Fail)]),
        (F8_E4M3, -inf, &[(0x7f, Pass), (0xff, Pass), (0xfe, Fail), (0xf8, Fail)]),
        (F8_E4M3, f32::NAN, &[(0x7f, Pass), (0xff, Pass), (0x7e, Fail), (0x7c, Fail)]),
        (F8_E5M2, 57_344.0, &[(0x7b, Pass), (0x7a, Fail), (0x7c, Fail)]),
        (F8_E5M2, 61_440.0, &[(0x7b, Pass), (0x7c, Pass), (0x7a, Fail), (0x7d, Fail), (0xfc, Fail)]),
        (F8_E5M2, 65_536.0, &[(0x7c, Pass), (0x7b, QualityWarning), (0x7a, Fail), (0x7f, Fail), (0xfc, Fail)]),
        (F8_E5M2, -inf, &[(0xfc, Pass), (0xfb, Fail), (0x7c, Fail), (0xff, Fail)]),
        (F8_E5M2, f32::NAN, &[(0x7d, Pass), (0x7e, Pass), (0xff, Pass), (0x7c, Fail), (0x7b, Fail)]),
    ] {
        for &(got, expected) in verdicts {
            assert_eq!(of(to, &["None"], x, got), expected, "{x} to {}: {got:#x}", to.name);
        }
    }
    for (to, largest, nan) in [(F8_E4M3, 0x7e, 0x7f), (F8_E5M2, 0x7b, 0x7d)] {
        let saturated = |x, got| of(to, &["None", SATURATED], x, got);
        let limit = to.to_f64(largest) as f32;
        for x in [limit, limit.next_up(), 1.05 * limit, 1.2 * limit, f32::MAX, inf] {
            assert_eq!((saturated(x, largest), saturated(-x, largest | 0x80)), (Pass, Pass), "{x}");
            for got in [largest - 1, largest + 1, largest | 0x80, nan] {
                assert_eq!(saturated(x, got), Fail, "{x}: {got:#x}");
            }
        }
        assert_eq!((saturated(f32::NAN, nan), saturated(f32::NAN, largest)), (Pass, Fail));
        assert_eq!((saturated(limit.next_down(), largest), saturated(limit.next_down(), largest - 1)), (Pass, Pass));
        // A NaN that is assumed not to occur may also come from a conversion.
        let assumed = [of(to, &[], 1e6, 0), of(to, &["NotNaN"], 1e6, 0), of(to, &[SATURATED], 1e6, 0)];
        let unsaturated = if to == F8_E4M3 { [Unchecked, Unchecked] } else { [QualityWarning, Fail] };
        assert_eq!((&assumed[..2], assumed[2]), (&unsaturated[..], Fail), "{}", to.name);
    }
    // Modes do not apply to rounding to float8 or to its denormals.
    for mode in ["RoundingModeRTE", "RoundingModeRTZ", "DenormPreserve", "DenormFlushToZero"] {
        let one = |got| of(F8_E4M3, &[mode], 1.0625, got);
        assert_eq!((one(0x38), one(0x39), one(0x37), one(0x3a)), (Pass, Pass, Fail, Fail), "{mode}");
        let least = |got| of(F8_E4M3, &[mode], 2f32.powi(-9), got);
        assert_eq!((least(1), least(0), least(0x80), least(2)), (Pass, Pass, Pass, Fail), "{mode}");
    }
}

/// "This decoration must only be applied to the OpFConvert, OpConvertSToF, or OpConvertUToF instructions with a Result Type that uses an
/// Float8E4M3EXT or Float8E5M2EXT FP encoding."
#[test]
fn only_conversions_to_float8_saturate() {
    let modes = Modes { saturated: true, ..Modes::default() };
    let i32 = Scalar::Int { width: 32, signed: true };
    let f32 = Scalar::Float(F32);
    for (op, to, from, taken) in [
        (Op::FConvert, F8_E4M3, Some(f32), true),
        (Op::ConvertSToF, F8_E5M2, Some(i32), true),
        (Op::FConvert, F16, Some(f32), false),
        (Op::FConvert, BF16, Some(Scalar::Float(F8_E4M3)), false),
        (Op::FAdd, F32, None, false),
    ] {
        let call = Call::new(op, Scalar::Float(to), Shape::Scalar, from, modes);
        let said = call.as_ref().map_or_else(ToString::to_string, |_| String::new());
        let refused = "SaturatedToLargestFloat8NormalConversionEXT decorates no";
        assert_eq!((call.is_ok(), said.contains(refused)), (taken, !taken), "{op} to {}: {said}", to.name);
    }
}

/// "The precision of all instructions on float values with the BFloat16KHR encoding is required to be correctly rounded with implementation
/// defined rounding mode"; by SPV_KHR_bfloat16 "it is implementation-defined whether intermediate values are rounded".
#[test]
fn a_dot_product_of_bfloat16_is_rounded_once() {
    let dot = |x: &[u64], got| {
        let modes = Modes::default().with("None").expect("a mode");
        let shape = Shape::Vector(x.len() as u32 / 2);
        let call = Call::new(Op::Dot, Scalar::Float(BF16), shape, None, modes).expect("a call");
        call.judge(x, &[got])[0].verdict
    };
    let (one, two_56) = (0x3f80, 0x4380);
    // 257 lies between 256 and 258.
    let odd = |got| dot(&[two_56, one, one, one], got);
    assert_eq!((odd(0x4380), odd(0x4381), odd(0x437f), odd(0x4382)), (Pass, Pass, Fail, Fail));
    // 256 + 1 + 1 is 258; rounded twice on the way it is 256 to 260.
    let even = |got| dot(&[two_56, one, one, one, one, one], got);
    assert_eq!([0x437f, 0x4380, 0x4381, 0x4382, 0x4383].map(even), [Fail, QualityWarning, Pass, QualityWarning, Fail]);
    // A product beyond the largest number that another one cancels.
    let large = 0x7f00;
    let back = |got| dot(&[large, large | 0x8000, one, large, large, one], got);
    assert_eq!((back(one), back(0x7f80), back(one + 1)), (Pass, QualityWarning, QualityWarning));
    let infinite = |y, got| dot(&[0x7f80, one, y, one], got);
    assert_eq!((infinite(one, 0x7f80), infinite(0, 0x7fc0), infinite(0, one)), (Pass, Pass, QualityWarning));
}

/// "min(x, sNaN) = min(sNaN, x) = NaN or x": SPV_EXT_shader_atomic_float_min_max.
#[test]
fn an_atomic_minimum_with_a_signalling_nan_is_either() {
    for (operand, nan) in [(0x7f80_0001, Pass), (NAN, Fail)] {
        let left = |got| verdict(Op::AtomicFMinEXT, (F32, F32), "None", &[ONE, operand], 1, got);
        assert_eq!((left(ONE), left(NAN), left(operand & 0xff)), (Pass, nan, Fail), "{operand:#x}");
    }
}

/// "The operation is not a bit-preserving operation and is not one of ..": the source of the text
/// names OpAtomicFAddEXT, OpAtomicFMinEXT and OpAtomicFMaxEXT under `VK_EXT_shader_float_atomic`,
/// which is no extension, so that they are not in the published list.
#[test]
fn preserved_special_values_of_float_atomics_are_a_doubt() {
    let zero = |mode, got| verdict(Op::AtomicFAddEXT, (F32, F32), mode, &[SIGN, SIGN], 1, got);
    let infinite = |mode, got| verdict(Op::AtomicFMaxEXT, (F32, F32), mode, &[ONE, INF], 1, got);
    for (mode, wrong) in [("SignedZeroInfNanPreserve", QualityWarning), ("None", Fail)] {
        assert_eq!((zero(mode, SIGN), zero(mode, 0)), (Pass, wrong), "{mode}");
        assert_eq!((infinite(mode, INF), infinite(mode, ONE)), (Pass, wrong), "{mode}");
    }
    assert_eq!((zero("", 0), infinite("", ONE)), (Pass, Unchecked));
}

/// "The result is the Original Value" and "the denormalized result must be flushed".
#[test]
fn flushing_of_returned_atomic_values_is_a_doubt() {
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
fn special_values_kept_by_unpacking_are_a_doubt() {
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
    // Values beyond the range of single precision.
    let modes = Modes::default().with("RoundingModeRTZ").and_then(|modes| modes.with("SignedZeroInfNanPreserve"));
    let call = Call::new(Op::FAdd, Scalar::Float(F64), Shape::Scalar, None, modes.expect("modes")).expect("a call");
    let got = |value: f64| call.judge(&[1e300f64.to_bits(); 2], &[value.to_bits()])[0].verdict;
    assert_eq!((got(2e300), got(f32::MAX.into())), (Pass, Fail));
    // Its precision is required even beyond its range.
    let single = 2e300f64.to_bits() >> 29 << 29;
    assert_eq!((got(f64::from_bits(single)), got(f64::from_bits(single - 1))), (QualityWarning, Fail));
}

/// "The precision of double-precision instructions is at least that of single precision": relative to the result, however large it is.
#[test]
fn doubles_beyond_the_range_of_singles_have_the_precision_of_singles() {
    let quotient = |x: f64, got: f64| verdict(Op::FDiv, (F64, F64), "", &[x, 3.0].map(f64::to_bits), 0, got.to_bits());
    let root = |x: f64, got: f64| verdict(Op::InverseSqrt, (F64, F64), "", &[x.to_bits()], 0, got.to_bits());
    for x in [1e30, 1e300, f64::MAX] {
        let of = |ulps: f64| quotient(x, x / 3.0 * (1.0 + ulps * 2f64.powi(-24)));
        assert_eq!((of(0.0), of(2.0), of(-2.0), of(6.0), of(-6.0)), (Pass, QualityWarning, QualityWarning, Fail, Fail));
    }
    for x in [1e-30, 1e-200, f64::MIN_POSITIVE] {
        let of = |ulps: f64| root(x, 1.0 / x.sqrt() * (1.0 + ulps * 2f64.powi(-24)));
        assert_eq!((of(0.0), of(1.5), of(-1.5), of(5.0), of(-5.0)), (Pass, QualityWarning, QualityWarning, Fail, Fail));
    }
    // Below them, the last place of a single is 2^-149.
    assert_eq!((root(1e200, 2.0 * 1e-100), root(1e200, 3.0 * 2f64.powi(-149))), (QualityWarning, Fail));
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

/// Results that GLSL.std.450 names since its revision 13.
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
    // x - floor(x) is -0 if results are rounded down.
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
    // An integral part that truncation may change.
    assert_eq!(relaxed(Op::Modf, 1.9995, 0.999_48), Unchecked);
}

/// "SignedZeroInfNanPreserve" beside "NoContraction": an overflow shows, and without it need not.
#[test]
fn an_overflow_shows_where_special_values_are_preserved() {
    let large = u64::from(f32::MAX.to_bits());
    let sum = |mode, got| verdict(Op::FAdd, (F32, F32), mode, &[large, large], 0, got);
    for mode in ["SignedZeroInfNanPreserve", "None"] {
        assert_eq!((sum(mode, INF), sum(mode, large), sum(mode, ONE)), (Pass, Pass, Fail), "{mode}");
    }
    assert_eq!((sum("", INF), sum("", ONE)), (Pass, QualityWarning));
}
