//! WGSL's rows against its text, transcribed from the specification, and its differences from
//! Vulkan.

use assay_float::{F16, F32, RankRange, Set};
use assay_precision::{Call, Modes, Op, Operand, Scalar, Specification, Spelling, Verdict};

const F: Scalar = Scalar::Float(F32);
const H: Scalar = Scalar::Float(F16);
const I: Scalar = Scalar::Int { width: 32, signed: true };
const U: Scalar = Scalar::Int { width: 32, signed: false };

/// Expression, accuracy for f32, and accuracy for f16 if it differs: "Accuracy of Concrete Floating
/// Point Expressions" of the specification of 19 August 2026, in its order. Nothing here is taken
/// from the table under test.
const TEXT: &[(&[Op], &str, &str, &str)] = &[
    (&[Op::FAdd], "x + y", "correctly rounded", ""),
    (&[Op::FSub], "x - y", "correctly rounded", ""),
    (&[Op::FMul], "x * y", "correctly rounded", ""),
    (&[Op::FDiv], "x / y", "2.5 ULP for |y| in [2^-126, 2^126]", "2.5 ULP for |y| in [2^-14, 2^14]"),
    (&[Op::FRem], "x % y", "inherited from x - y * trunc(x/y)", ""),
    (&[Op::FNegate], "-x", "correctly rounded", ""),
    (&[Op::FOrdEqual], "x == y", "correct result", ""),
    (&[Op::FUnordNotEqual], "x != y", "correct result", ""),
    (&[Op::FOrdLessThan], "x < y", "correct result", ""),
    (&[Op::FOrdLessThanEqual], "x <= y", "correct result", ""),
    (&[Op::FOrdGreaterThan], "x > y", "correct result", ""),
    (&[Op::FOrdGreaterThanEqual], "x >= y", "correct result", ""),
    (&[Op::FAbs], "abs(x)", "correctly rounded", ""),
    (
        &[Op::Acos],
        "acos(x)",
        "the worse of an absolute error of 6.77e-5 and what is inherited from atan2(sqrt(1.0 - x * x), x)",
        "the worse of an absolute error of 3.91e-3 and what is inherited from atan2(sqrt(1.0 - x * x), x)",
    ),
    (&[Op::Acosh], "acosh(x)", "inherited from log(x + sqrt(x * x - 1.0))", ""),
    (
        &[Op::Asin],
        "asin(x)",
        "the worse of an absolute error of 6.81e-5 and what is inherited from atan2(x, sqrt(1.0 - x * x))",
        "the worse of an absolute error of 3.91e-3 and what is inherited from atan2(x, sqrt(1.0 - x * x))",
    ),
    (&[Op::Asinh], "asinh(x)", "inherited from log(x + sqrt(x * x + 1.0))", ""),
    (&[Op::Atan], "atan(x)", "4096 ULP", "5 ULP"),
    (
        &[Op::Atan2],
        "atan2(x, y)",
        "4096 ULP for |x| in [2^-126, 2^126] and y finite and normal",
        "5 ULP for |x| in [2^-14, 2^14] and y finite and normal",
    ),
    (&[Op::Atanh], "atanh(x)", "inherited from log( (1.0 + x) / (1.0 - x) ) * 0.5", ""),
    (&[Op::Ceil], "ceil(x)", "correctly rounded", ""),
    (
        &[Op::FClamp],
        "clamp(x, y, z)",
        "correctly rounded: min(max(x, low), high) or the median of the three; of two subnormal operands of min or max either",
        "",
    ),
    (&[Op::Cos, Op::Sin], "", "absolute error <= 2^-11 inside [-pi, pi]", "absolute error <= 2^-7 inside [-pi, pi]"),
    (&[Op::Cosh], "cosh(x)", "inherited from (exp(x) + exp(-x)) * 0.5", ""),
    (&[Op::Cross], "cross(x, y)", "inherited from (x[i] * y[j] - x[j] * y[i])", ""),
    (&[Op::Degrees], "degrees(x)", "inherited from x * 57.295779513082322865", ""),
    (&[Op::Determinant], "determinant(x)", "infinite ULP", ""),
    (&[Op::Distance], "distance(x, y)", "inherited from length(x - y)", ""),
    (&[Op::Dot], "dot(x, y)", "inherited from sum of `x[i] * y[i]`", ""),
    (&[Op::Exp, Op::Exp2], "", "3 + 2 * |x| ULP", "1 + 2 * |x| ULP"),
    (&[Op::FaceForward], "faceForward(x, y, z)", "inherited from select(-x, x, dot(z, y) < 0.0)", ""),
    (&[Op::Floor], "floor(x)", "correctly rounded", ""),
    (&[Op::Fma], "fma(x, y, z)", "inherited from x * y + z", ""),
    (&[Op::Fract], "fract(x)", "inherited from x - floor(x)", ""),
    (&[Op::FrexpStruct], "frexp(x)", "correctly rounded, when x is zero or normal", ""),
    (&[Op::InverseSqrt], "inverseSqrt(x)", "2 ULP", ""),
    (&[Op::Ldexp], "ldexp(x, y)", "correctly rounded", ""),
    (&[Op::Length], "length(x)", "inherited from sqrt(dot(x, x)), of a scalar sqrt(x*x)", ""),
    (
        &[Op::Log, Op::Log2],
        "",
        "3 ULP outside [0.5, 2.0], absolute error <= 2^-21 inside [0.5, 2.0]",
        "3 ULP outside [0.5, 2.0], absolute error <= 2^-7 inside [0.5, 2.0]",
    ),
    (&[Op::FMax], "max(x, y)", "correctly rounded; of two subnormal operands either", ""),
    (&[Op::FMin], "min(x, y)", "correctly rounded; of two subnormal operands either", ""),
    (&[Op::FMix], "mix(x, y, z)", "inherited from x * (1.0 - z) + y * z", ""),
    (&[Op::ModfStruct], "modf(x)", "correctly rounded", ""),
    (&[Op::Normalize], "normalize(x)", "inherited from x / length(x)", ""),
    (
        &[Op::PackSnorm4x8, Op::PackUnorm4x8, Op::PackSnorm2x16, Op::PackUnorm2x16, Op::PackHalf2x16],
        "",
        "correctly rounded intermediate value, correct result",
        "",
    ),
    (&[Op::Pow], "pow(x, y)", "inherited from exp2(y * log2(x))", ""),
    (&[Op::QuantizeToF16], "quantizeToF16(x)", "correctly rounded", ""),
    (&[Op::Radians], "radians(x)", "inherited from x * 0.017453292519943295474", ""),
    (&[Op::Reflect], "reflect(x, y)", "inherited from x - 2.0 * dot(x, y) * y", ""),
    (
        &[Op::Refract],
        "refract(x, y, z)",
        "inherited from z * x - (z * dot(y, x) + sqrt(k)) * y, k = 1.0 - z * z * (1.0 - dot(y, x) * dot(y, x)); 0.0 if \
         k < 0.0",
        "",
    ),
    (&[Op::RoundEven], "round(x)", "correctly rounded", ""),
    (&[Op::FSign], "sign(x)", "correctly rounded", ""),
    (&[Op::Sinh], "sinh(x)", "inherited from (exp(x) - exp(-x)) * 0.5", ""),
    (
        &[Op::SmoothStep],
        "smoothstep(x, y, z)",
        "inherited from t * t * (3.0 - 2.0 * t), t = clamp((x - edge0) / (edge1 - edge0), 0.0, 1.0)",
        "",
    ),
    (&[Op::Sqrt], "sqrt(x)", "inherited from 1.0 / inverseSqrt(x)", ""),
    (&[Op::Step], "step(x, y)", "correctly rounded", ""),
    (&[Op::Tan], "tan(x)", "inherited from sin(x) / cos(x)", ""),
    (&[Op::Tanh], "tanh(x)", "the worse of an absolute error of 1e-5 and what is inherited from sinh(x) / cosh(x)", ""),
    (&[Op::Trunc], "trunc(x)", "correctly rounded", ""),
    (&[Op::UnpackSnorm4x8, Op::UnpackUnorm4x8, Op::UnpackSnorm2x16, Op::UnpackUnorm2x16], "", "3 ULP", ""),
    (&[Op::UnpackHalf2x16], "unpack2x16float(x)", "correctly rounded", ""),
    // Not in that table: `dot` defines products of matrices ("Arithmetic Expressions"), conversions
    // have a section of their own, integer functions are exact.
    (&[Op::VectorTimesScalar, Op::MatrixTimesScalar], "x * y", "correctly rounded", ""),
    (
        &[Op::VectorTimesMatrix, Op::MatrixTimesVector, Op::MatrixTimesMatrix],
        "x * y",
        "inherited from sum of `x[i] * y[i]`",
        "",
    ),
    (
        &[Op::ConvertFToU, Op::ConvertFToS],
        "T(x)",
        "the value of the result's type closest to truncate(x) that is also representable in the operand's type",
        "",
    ),
    (&[Op::ConvertSToF, Op::ConvertUToF, Op::FConvert], "T(x)", "correctly rounded", ""),
    (
        &[
            Op::SAbs,
            Op::SSign,
            Op::UMin,
            Op::SMin,
            Op::UMax,
            Op::SMax,
            Op::UClamp,
            Op::SClamp,
            Op::FindILsb,
            Op::FindSMsb,
            Op::FindUMsb,
        ],
        "",
        "correct result",
        "",
    ),
];

fn calls(op: Op) -> Vec<Call> {
    let mut calls = Vec::new();
    for &scalar in Call::scalars(op) {
        for &shape in Call::shapes(op) {
            let sources = Call::sources(op);
            let from: Vec<Option<Scalar>> =
                if sources.is_empty() { vec![None] } else { sources.iter().copied().map(Some).collect() };
            let all = from.into_iter().filter_map(|from| Call::new(op, scalar, shape, from, Modes::default()).ok());
            calls.extend(all.filter_map(|call| call.in_wgsl().ok()));
        }
    }
    calls
}

#[test]
fn every_row_says_what_the_specification_says() {
    let mut seen = Vec::new();
    for &(ops, expression, single, half) in TEXT {
        for &op in ops {
            seen.push(op);
            let calls = calls(op);
            assert!(!calls.is_empty(), "{op} has no call");
            for call in calls {
                let is_half = call.results[0].scalar == H;
                let words = if is_half && !half.is_empty() { half } else { single };
                assert_eq!(call.rule(), words, "{op} for {}", call.results[0]);
                let names = ["x", "y", "z"];
                let spelled = op.in_wgsl().expect("a row").expression(&names[..call.operands.len()]);
                assert!(expression.is_empty() || spelled == expression, "{op}: {spelled}, not {expression}");
                assert_eq!(call.specification, Specification::Wgsl);
            }
        }
    }
    for &op in Op::ALL {
        assert_eq!(
            op.in_wgsl().is_ok(),
            seen.contains(&op),
            "{op}: in the table and not in its text, or the other way"
        );
        let why = op.in_wgsl().err().map(|error| error.to_string());
        assert!(why.is_none_or(|why| why.starts_with(&format!("{op} cannot be expressed in WGSL: "))));
    }
}

#[test]
fn names_of_functions_are_those_of_wgsl() {
    let name = |op: Op| match op.in_wgsl() {
        Ok(Spelling::Function(name) | Spelling::Members(name, _)) => name,
        other => panic!("{op}: {other:?}"),
    };
    let pairs = [
        (Op::Cos, "cos"),
        (Op::Sin, "sin"),
        (Op::Exp, "exp"),
        (Op::Exp2, "exp2"),
        (Op::Log, "log"),
        (Op::Log2, "log2"),
        (Op::PackSnorm4x8, "pack4x8snorm"),
        (Op::PackUnorm4x8, "pack4x8unorm"),
        (Op::PackSnorm2x16, "pack2x16snorm"),
        (Op::PackUnorm2x16, "pack2x16unorm"),
        (Op::PackHalf2x16, "pack2x16float"),
        (Op::UnpackSnorm4x8, "unpack4x8snorm"),
        (Op::UnpackUnorm4x8, "unpack4x8unorm"),
        (Op::UnpackSnorm2x16, "unpack2x16snorm"),
        (Op::UnpackUnorm2x16, "unpack2x16unorm"),
        (Op::FindILsb, "firstTrailingBit"),
        (Op::FindSMsb, "firstLeadingBit"),
        (Op::FindUMsb, "firstLeadingBit"),
        (Op::SAbs, "abs"),
        (Op::UClamp, "clamp"),
    ];
    for (op, expected) in pairs {
        assert_eq!(name(op), expected);
    }
}

fn wgsl(op: Op, scalar: Scalar, from: Option<Scalar>) -> Call {
    let shape = Call::shapes(op)[0];
    Call::new(op, scalar, shape, from, Modes::default()).expect("a call").in_wgsl().expect("WGSL has it")
}

fn vulkan(call: &Call) -> Call {
    Call { specification: Specification::Vulkan, ..call.clone() }
}

fn bits(x: f32) -> u64 {
    x.to_bits().into()
}

fn only(call: &Call, x: &[u64]) -> Set {
    call.permitted(x)[0].usual.clone()
}

fn verdict(call: &Call, x: &[u64], got: u64) -> Verdict {
    call.judge(x, &[got])[0].verdict
}

#[test]
fn conversions_to_integers_saturate() {
    let (signed, unsigned) = (wgsl(Op::ConvertFToS, I, Some(F)), wgsl(Op::ConvertFToU, U, Some(F)));
    // The specification's own examples.
    for (x, expected) in [(3.9, 3), (-1.0, 0), (1e20, 4_294_967_040), (-0.5, 0)] {
        assert_eq!(only(&unsigned, &[bits(x)]), Set::point(expected), "{x}");
    }
    for (x, expected) in [(-3.9, -3), (1e20, 2_147_483_520), (-1e20, i32::MIN), (2_147_483_520.0, 2_147_483_520)] {
        assert_eq!(only(&signed, &[bits(x)]), Set::point(i64::from(expected as u32)), "{x}");
    }
    assert!(signed.is_defined(&[bits(1e20)]) && !vulkan(&signed).is_defined(&[bits(1e20)]));
    assert!(only(&signed, &[bits(f32::NAN)]).is_anything() && only(&signed, &[bits(f32::INFINITY)]).is_anything());
    // Every finite half fits an i32; negative ones do not fit a u32.
    assert_eq!(only(&wgsl(Op::ConvertFToU, U, Some(H)), &[0xfbff]), Set::point(0));
    assert_eq!(only(&wgsl(Op::ConvertFToS, I, Some(H)), &[0xfbff]), Set::point(i64::from(-65504i32 as u32)));
}

#[test]
fn clamp_is_defined_for_limits_in_either_order() {
    let clamp = wgsl(Op::FClamp, F, None);
    let x = |x: f32, low: f32, high: f32| [bits(x), bits(low), bits(high)];
    // min(max(0, 3), 1) = 1, and the median of 0, 3, 1 is 1; of 2, 3, 1 they are 1 and 2.
    assert_eq!(only(&clamp, &x(0.0, 3.0, 1.0)), Set::point(bits(1.0) as i64));
    let mut both = Set::point(bits(1.0) as i64);
    both.insert(RankRange::point(bits(2.0) as i64));
    assert_eq!(only(&clamp, &x(2.0, 3.0, 1.0)), both);
    assert!(only(&vulkan(&clamp), &x(2.0, 3.0, 1.0)).is_anything());
    // Any of the subnormal values, or a zero: 5 was clamped to at least 9.
    let tiny = only(&clamp, &[5, 9, bits(1.0)]);
    for rank in [5, 9, 0, -1] {
        assert!(tiny.contains_rank(rank), "{rank}");
    }
    assert!(!tiny.contains_rank(7) && !tiny.contains_rank(bits(1.0) as i64));
    // -1 is raised to the lower of two subnormal limits, and either may be the lesser of these.
    for (got, expected) in [(5, Verdict::Pass), (9, Verdict::Pass), (0, Verdict::Pass), (7, Verdict::Fail)] {
        assert_eq!(verdict(&clamp, &[bits(-1.0), 5, 9], got), expected, "{got}");
    }
    assert_eq!(verdict(&clamp, &[bits(-1.0), 5, 9], bits(-1.0)), Verdict::Fail);
    assert_eq!(verdict(&clamp, &[bits(2.0), 5, 9], 7), Verdict::Fail);
    let integers = wgsl(Op::SClamp, I, None);
    assert_eq!(only(&integers, &[7, 9, 3]), Set::point(3));
    assert_eq!(
        only(&integers, &[u64::from(-7i32 as u32), u64::from(-9i32 as u32), 3]),
        Set::point(i64::from(-7i32 as u32))
    );
    assert!(only(&vulkan(&integers), &[7, 9, 3]).is_anything());
    assert_eq!(only(&wgsl(Op::UClamp, U, None), &[7, 0xffff_ffff, 3]), Set::point(3));
}

#[test]
fn min_and_max_of_two_subnormals_return_either() {
    for op in [Op::FMin, Op::FMax] {
        let call = wgsl(op, F, None);
        for got in [5, 9, 0] {
            assert_eq!(verdict(&call, &[5, 9], got), Verdict::Pass, "{op} {got}");
        }
        assert_eq!(verdict(&call, &[5, 9], 7), Verdict::Fail);
        assert_eq!(
            verdict(&call, &[bits(5.0), bits(9.0)], bits(if op == Op::FMin { 9.0 } else { 5.0 })),
            Verdict::Fail
        );
    }
    assert_eq!(verdict(&vulkan(&wgsl(Op::FMin, F, None)), &[5, 9], 9), Verdict::QualityWarning);
}

#[test]
fn the_absolute_error_counts_where_it_is_worse() {
    // Acos close to one: the inherited error is small, the absolute one is not.
    let (acos, x) = (wgsl(Op::Acos, F, None), 0.999f32);
    let exact = f64::from(x).acos();
    let at = |error: f64| bits((exact + error) as f32);
    assert_eq!(verdict(&acos, &[bits(x)], at(6.7e-5)), Verdict::Pass);
    assert_eq!(verdict(&acos, &[bits(x)], at(-6.7e-5)), Verdict::Pass);
    assert_eq!(verdict(&acos, &[bits(x)], at(9e-5)), Verdict::Fail);
    assert_eq!(verdict(&vulkan(&acos), &[bits(x)], at(6.7e-5)), Verdict::Fail);
    let margin = acos.judge(&[bits(x)], &[at(3.385e-5)])[0].margin.expect("a margin");
    assert!((margin - 0.5).abs() < 0.01, "{margin}");
    let (tanh, x) = (wgsl(Op::Tanh, F, None), 1e-3f32);
    let exact = f64::from(x).tanh();
    for (error, expected) in [(0.99e-5, Verdict::Pass), (1.1e-5, Verdict::Fail)] {
        assert_eq!(verdict(&tanh, &[bits(x)], bits((exact + error) as f32)), expected);
    }
}

#[test]
fn nothing_is_required_where_wgsl_states_no_accuracy() {
    let atan2 = wgsl(Op::Atan2, F, None);
    let least = f32::MIN_POSITIVE;
    for (y, x, free) in [
        (1.0, 1.0, false),
        (0.0, 1.0, true),
        (f32::from_bits(3), 1.0, true),
        (1.0, 0.0, true),
        (1.0, f32::from_bits(3), true),
        (1.0, 2f32.powi(127), true),
        (1.0, 2f32.powi(126), false),
        (least, least, false),
    ] {
        assert_eq!(only(&atan2, &[bits(y), bits(x)]).is_anything(), free, "atan2({y:e}, {x:e})");
    }
    assert!(!only(&vulkan(&atan2), &[bits(0.0), bits(1.0)]).is_anything());
    // A result that may overflow may be anything; an infinity is assumed not to occur; the square
    // root of zero is inherited from a division by zero.
    let add = wgsl(Op::FAdd, F, None);
    assert!(only(&add, &[bits(f32::MAX), bits(f32::MAX)]).is_anything());
    assert!(!only(&vulkan(&add), &[bits(f32::MAX), bits(f32::MAX)]).is_anything());
    assert!(only(&wgsl(Op::Sqrt, F, None), &[0]).is_anything());
    assert!(!only(&wgsl(Op::Sqrt, F, None), &[bits(4.0)]).is_anything());
    let frexp = wgsl(Op::FrexpStruct, F, None);
    assert!(frexp.permitted(&[3]).iter().all(|slot| slot.usual.is_anything()));
    assert_eq!(only(&frexp, &[bits(3.0)]), Set::point(bits(0.75) as i64));
    // Outside binary16 the result is indeterminate; a denormal half may be flushed or kept.
    let quantize = wgsl(Op::QuantizeToF16, F, None);
    assert!(only(&quantize, &[bits(65505.0)]).is_anything());
    assert_eq!(verdict(&quantize, &[bits(2f32.powi(-24))], bits(2f32.powi(-24))), Verdict::Pass);
    assert_eq!(verdict(&quantize, &[bits(2f32.powi(-24))], 0), Verdict::Pass);
}

/// "Other operations are required to preserve subnormal numbers", and conversions are not in the
/// section of those that may flush.
#[test]
fn conversions_keep_denormals() {
    let (widened, narrowed) = (wgsl(Op::FConvert, F, Some(H)), wgsl(Op::FConvert, H, Some(F)));
    let least = bits(2f32.powi(-24));
    let verdicts = |call: &Call, x: u64| [least, 0, bits(1.0), 1].map(|got| verdict(call, &[x], got));
    use Verdict::{Fail, Pass, QualityWarning as Warned};
    assert_eq!(verdicts(&widened, 1), [Pass, Warned, Fail, Fail]);
    assert_eq!(verdicts(&vulkan(&widened), 1)[..2], [Pass, Pass]);
    let halves = |x: u64| [0, 1, 2].map(|got| verdict(&narrowed, &[x], got));
    assert_eq!(halves(least), [Warned, Pass, Fail]);
    // A denormal single lies between zero and the least half.
    assert_eq!(halves(5), [Pass, Pass, Fail]);
    // "If X is zero and of integer scalar type, then XOut has a zero sign bit."
    let minus = 0x8000_0000;
    for (op, from) in [(Op::ConvertSToF, I), (Op::ConvertUToF, U)] {
        let call = wgsl(op, F, Some(from));
        assert_eq!([0, minus, 1].map(|got| verdict(&call, &[0], got)), [Pass, Warned, Fail], "{op}");
        assert_eq!(verdict(&vulkan(&call), &[0], minus), Pass);
        assert_eq!(verdict(&call, &[7], bits(7.0)), Pass);
    }
    // The same property for sets.
    let set = Set::range(0, 3);
    let over = widened.reference().permitted_for_sets(0, &[Operand::Set(set)]).permitted;
    assert!(!over.usual.is_anything() && over.usual.contains_rank(least as i64));
    let all = Set::range(1, 1000);
    let over = widened.reference().permitted_for_sets(0, &[Operand::Set(all)]).permitted;
    assert!(!over.usual.contains_rank(0) && over.lenient.is_some_and(|l| l.set.contains_rank(0)));
}

/// Results that a doubtful text may permit are warnings.
#[test]
fn doubts_of_parts_are_warnings() {
    use Verdict::{Fail, Pass, QualityWarning as Warned};
    let frexp = wgsl(Op::FrexpStruct, F, None);
    let verdicts = |x: u64, got: [u64; 2]| {
        let judged = frexp.judge(&[x], &got);
        [judged[0].verdict, judged[1].verdict]
    };
    assert_eq!([verdicts(0, [0, 0]), verdicts(0, [0, u64::from(-149i32 as u32)])], [[Pass, Pass], [Pass, Warned]]);
    assert_eq!(verdicts(bits(3.0), [bits(0.75), 3]), [Pass, Fail]);
    let over = frexp.reference().permitted_for_sets(1, &[Operand::Set(Set::range(-1, 0))]).permitted;
    assert!(over.lenient.is_some_and(|l| l.set.is_anything()));
    // Each step of x - floor(x) may flush independently.
    let fract = wgsl(Op::Fract, F, None);
    let tiny = u64::from((-f32::from_bits(5)).to_bits());
    assert_eq!([bits(1.0), 0, tiny, tiny + 1].map(|got| verdict(&fract, &[tiny], got)), [Pass, Pass, Warned, Fail]);
    assert_eq!(verdict(&vulkan(&fract), &[tiny], tiny), Fail);
    let denormals = Operand::Set(Set::range(-200, -2));
    let over = fract.reference().permitted_for_sets(0, &[denormals]).permitted;
    assert!(!over.usual.contains_rank(-6) && over.lenient.is_some_and(|l| l.set.contains_rank(-6)));
}

#[test]
fn packing_adds_a_half_and_takes_the_floor() {
    let pack = wgsl(Op::PackSnorm4x8, F, None);
    let at = |x: f32| only(&pack, &[bits(x), 0, 0, 0]);
    let byte = |value: i8| Set::point(i64::from(value as u8));
    // 0.5 - 63.5 is -63, whatever rounds to even.
    assert_eq!([at(0.5), at(-0.5), at(1.0), at(-2.0), at(0.0)], [byte(64), byte(-63), byte(127), byte(-127), byte(0)]);
    assert_eq!(at(0.3), byte(38));
    // The alternative behaviour of GLSL.std.450's instruction is a doubt; a result that neither
    // text permits is a failure.
    let of_minus_half = |got: u64| pack.judge(&[bits(-0.5), 0, 0, 0], &[got, 0, 0, 0])[0].verdict;
    let verdicts = [0xc1, 0xc0, 0xc2].map(of_minus_half);
    assert_eq!(verdicts, [Verdict::Pass, Verdict::QualityWarning, Verdict::Fail]);
    assert!(pack.permitted(&[bits(-0.5), 0, 0, 0])[0].lenient.as_ref().is_some_and(|l| l.doubt.contains("either way")));
    let unpack = wgsl(Op::UnpackSnorm4x8, F, None);
    let one = i64::from(1f32.to_bits());
    let set = only(&unpack, &[0x80]);
    // The ULP of one is that below it: 3 of them reach one value farther from zero, and three
    // closer to zero.
    assert_eq!(set, Set::range(-1 - one - 1, -1 - one + 3));
    let vulkan = only(&vulkan(&unpack), &[0x80]);
    assert_eq!(vulkan, Set::point(-1 - one));
}

#[test]
fn edges_of_smoothstep_may_stand_in_either_order() {
    let call = wgsl(Op::SmoothStep, F, None);
    let x = |a: f32, b: f32, x: f32| [bits(a), bits(b), bits(x)];
    assert_eq!(verdict(&call, &x(1.0, 0.0, 0.25), bits(0.84375)), Verdict::Pass);
    assert_eq!(verdict(&call, &x(1.0, 0.0, 0.25), bits(0.15625)), Verdict::Fail);
    assert!(only(&call, &x(1.0, 1.0, 0.25)).is_anything());
}

#[test]
fn calls_that_wgsl_lacks_are_refused_with_the_reason() {
    let refused = |op: Op, scalar: Scalar, from: Option<Scalar>, modes: &[&str]| {
        let modes = Modes::from_names(modes.iter().copied()).expect("modes");
        let call = Call::new(op, scalar, Call::shapes(op)[0], from, modes).expect("a call");
        call.in_wgsl().expect_err("WGSL has it not").to_string()
    };
    let f64 = Scalar::Float(assay_float::F64);
    assert!(refused(Op::FAdd, f64, None, &[]).ends_with("it has no f64"));
    assert!(refused(Op::FAdd, F, None, &["RoundingModeRTE"]).contains("declares no floating-point modes"));
    assert!(refused(Op::Reflect, F, None, &[]).contains("takes vectors"));
    assert!(refused(Op::FMod, F, None, &[]).contains("rounds down"));
    assert!(refused(Op::SAbs, Scalar::Int { width: 16, signed: true }, None, &[]).contains("i16"));
}
