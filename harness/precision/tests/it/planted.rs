//! Planted mistakes: each test has a witness input for which a mistaken variant of the rule gives
//! another set than the reference, so that the test fails if the mistake is made. The mistakes are
//! those of other harnesses, and traps of the specification.

use assay_float::{F16, F32, Format, Set};
use assay_precision::{Call, Modes, Op, Scalar, Shape, Verdict};

fn call(op: Op, format: Format, modes: &[&str]) -> Call {
    let modes = modes.iter().fold(Modes::default(), |m, name| m.with(name).expect("a mode"));
    let shape = if Call::shapes(op).contains(&Shape::Scalar) { Shape::Scalar } else { Call::shapes(op)[0] };
    Call::new(op, Scalar::Float(format), shape, None, modes).expect("a legal call")
}

fn bits(x: f32) -> u64 {
    x.to_bits().into()
}

fn usual(op: Op, modes: &[&str], x: &[f32]) -> Set {
    call(op, F32, modes).permitted(&x.iter().map(|&x| bits(x)).collect::<Vec<_>>()).remove(0).usual
}

fn verdict(op: Op, modes: &[&str], x: &[f32], got: u64) -> Verdict {
    call(op, F32, modes).judge(&x.iter().map(|&x| bits(x)).collect::<Vec<_>>(), &[got])[0].verdict
}

#[test]
fn a_tolerance_does_not_grow_from_input_to_input() {
    let reference = call(Op::Exp2, F32, &[]).reference();
    let first = reference.permitted(0, &[bits(0.5)]);
    for x in [120.0f32, -3.0, f32::NAN, 127.9] {
        reference.permitted(0, &[bits(x)]);
        reference.judge(0, &[bits(x)], 0);
    }
    assert_eq!(reference.permitted(0, &[bits(0.5)]), first);
    // In words: 3 + 2 * 0.5 ulp on either side of the irrational sqrt(2), which is eight values,
    // also in the thousandth evaluation.
    assert_eq!(first.usual.len(), Some(8));
}

#[test]
fn a_nan_does_not_pass_because_it_compares_false() {
    let is_too_far = |got: f32, want: f32, error: f32| (got - want).abs() > error;
    assert!(!is_too_far(f32::NAN, 2.0, 1e-6), "the mistake");
    for nan in [f32::NAN.to_bits(), 0x7f80_0001, 0xffff_ffff, 0x7fff_ffff] {
        assert_eq!(verdict(Op::FAdd, &[], &[1.0, 1.0], nan.into()), Verdict::Fail);
        assert_eq!(verdict(Op::Exp2, &[], &[1.0], nan.into()), Verdict::Fail);
        assert_eq!(verdict(Op::Sinh, &[], &[1.0], nan.into()), Verdict::Fail);
    }
}

#[test]
fn any_nan_passes_for_a_nan() {
    for nan in [0x7fc0_0000u64, 0x7f80_0001, 0xffc0_0000, 0xffff_ffff, 0x7fa5_5aa5] {
        let x = [f32::INFINITY, f32::NEG_INFINITY];
        assert_eq!(verdict(Op::FAdd, &["SignedZeroInfNanPreserve"], &x, nan), Verdict::Pass);
    }
}

#[test]
fn zeros_are_neighbours_of_the_least_denormals_of_both_signs() {
    let distance_of_raw_bits = |a: f32, b: f32| a.to_bits().abs_diff(b.to_bits());
    assert!(distance_of_raw_bits(f32::from_bits(1), -f32::from_bits(1)) > 1 << 30, "the mistake");
    // atan2(-tiny, 1) with 4096 ulp reaches across zero.
    let set = call(Op::Atan2, F32, &["None", "DenormPreserve"]).permitted(&[1 << 31 | 1, bits(1.0)]).remove(0).usual;
    assert_eq!(set.ranges().len(), 1);
    assert!(set.contains(F32, 4_000) && set.contains(F32, 1 << 31 | 4_000) && !set.contains(F32, 4_100));
}

#[test]
fn the_reference_is_more_precise_than_the_format() {
    // 2^24 + 1 needs more bits than f32 has: a reference in f32 would take the sum as exact and
    // permit one value.
    let set = usual(Op::FAdd, &[], &[16_777_216.0, 1.0]);
    assert_eq!(set.len(), Some(2));
    assert_eq!((16_777_216.0f32 + 1.0).to_bits(), 16_777_216f32.to_bits(), "the mistake");
    // A fused product whose low half decides: (1 + 2^-23)^2 - (1 + 2^-22) = 2^-46.
    let x = [1.0 + f32::EPSILON, 1.0 + f32::EPSILON, -(1.0 + 2.0 * f32::EPSILON)];
    assert_eq!(usual(Op::FmaKHR, &[], &x), Set::point(bits(2f32.powi(-46)) as i64));
}

#[test]
fn a_result_is_rounded_once() {
    // a + 2^-24 - 2^-70 lies just below a tie of f32. f64 sees the tie, which rounds to even:
    // above.
    let a = 1.0 + f32::EPSILON;
    let (x, y) = (2f32.powi(-12) * (1.0 - f32::EPSILON), 2f32.powi(-12) * (1.0 + f32::EPSILON));
    let twice = (f64::from(x) * f64::from(y) + f64::from(a)) as f32;
    assert!(twice > a, "the mistake");
    assert_eq!(usual(Op::FmaKHR, &["RoundingModeRTE"], &[x, y, a]), Set::point(bits(a) as i64));
}

#[test]
fn the_square_root_of_zero_is_not_the_reciprocal_of_an_infinity() {
    assert!((1.0f32 / (1.0 / 0f32)).to_bits() == 0, "IEEE 754 happens to agree");
    let set = usual(Op::Sqrt, &["None"], &[0.0]);
    assert_eq!(set, Set::point(0));
    assert_eq!(usual(Op::Sqrt, &["None"], &[-0.0]), Set::point(-1));
    assert!(usual(Op::InverseSqrt, &["None"], &[0.0]).is_anything());
    assert!(usual(Op::Length, &[], &[0.0]).contains(F32, 0));
}

#[test]
fn ulp_at_a_power_of_two_is_the_spacing_below() {
    let spacing_above = f32::EPSILON;
    // 1/1 within 2.5 ulp of 1.0, where an ulp is 2^-24: one value above, two below.
    let one = i64::from(1f32.to_bits());
    assert_eq!(usual(Op::FDiv, &[], &[1.0, 1.0]), Set::range(one - 2, one + 1));
    assert!(2.5 * spacing_above >= 2.0 * f32::EPSILON, "the mistake: two values above");
}

#[test]
fn a_flush_is_a_hole_and_not_a_hull() {
    let tiny = 0x0040_0000u64;
    let set = call(Op::FAdd, F32, &[]).permitted(&[tiny, 0]).remove(0).usual;
    assert!(set.contains(F32, tiny) && set.contains(F32, 0) && !set.contains(F32, tiny / 2));
    // This also holds inside a formula: Tanh of this half reads Sinh at the operand and at zero,
    // not at values between.
    let set = call(Op::Tanh, F16, &[]).permitted(&[0x03df]).remove(0).usual;
    assert_eq!(set.hull().map(|h| (h.lo, h.hi)), Some((-4_364, 4_611)));
}

#[test]
fn each_use_of_an_operand_may_flush_on_its_own() {
    // x - x of a denormal: x, 0 and -x.
    let set = call(Op::FSub, F32, &[]).permitted(&[5, 5]).remove(0).usual;
    assert!(set.contains(F32, 5) && set.contains(F32, 0) && set.contains(F32, 1 << 31 | 5));
    let kept = call(Op::FSub, F32, &["DenormPreserve"]).permitted(&[5, 5]).remove(0).usual;
    assert!(!kept.contains(F32, 5));
}

/// FMax is y if x < y, otherwise x. A comparison that reads denormals as zeros finds neither less,
/// and returns one unchanged.
#[test]
fn denormals_may_compare_as_zeros_and_come_back_in_the_lenient_reading() {
    let (less, greater) = (1 << 31 | 9, 1 << 31 | 5);
    let judged = |op, modes: &[&str], x: &[u64], got| call(op, F32, modes).reference().judge(0, x, got).verdict;
    for op in [Op::FMax, Op::NMax, Op::GroupNonUniformFMax] {
        assert_eq!(judged(op, &[], &[less, greater], greater), Verdict::Pass, "{op}");
        assert_eq!(judged(op, &[], &[less, greater], less), Verdict::QualityWarning, "{op}");
        assert_eq!(judged(op, &[], &[greater, less], less), Verdict::QualityWarning, "{op}");
        assert_eq!(judged(op, &["DenormPreserve"], &[less, greater], less), Verdict::Fail, "{op}");
        assert_eq!(judged(op, &["DenormFlushToZero"], &[less, greater], less), Verdict::Fail, "{op}");
        // A normal number is compared by its own value, and so are two normal numbers.
        assert_eq!(judged(op, &[], &[less, bits(1.0)], less), Verdict::Fail, "{op}");
        assert_eq!(judged(op, &[], &[bits(1.0), bits(2.0)], bits(1.0)), Verdict::Fail, "{op}");
    }
    // "-0 compares less than +0", where the sign of zero counts.
    let zeros = [0, 1 << 31];
    assert_eq!(judged(Op::FMax, &["None"], &zeros, 0), Verdict::Pass);
    assert_eq!(judged(Op::FMax, &["None"], &zeros, 1 << 31), Verdict::Fail);
    assert_eq!(judged(Op::FClamp, &["None"], &[0, 1 << 31, bits(0.5)], 1 << 31), Verdict::Fail);
    // Both comparisons of a clamp.
    let clamp = |x: &[u64], got| judged(Op::FClamp, &[], x, got);
    assert_eq!(clamp(&[less, greater, bits(1.0)], less), Verdict::QualityWarning);
    assert_eq!(clamp(&[bits(-1.0), greater, 5], 5), Verdict::QualityWarning);
    assert_eq!(clamp(&[bits(2.0), greater, 5], greater), Verdict::Fail);
}

/// "If this product is too large to be finitely represented": an infinity is too large.
#[test]
fn ldexp_of_an_infinity_is_undefined() {
    let call = call(Op::Ldexp, F32, &["None"]);
    assert!(call.permitted(&[bits(f32::INFINITY), 0x8000_0000]).remove(0).usual.is_anything());
    assert!(call.permitted(&[bits(f32::NEG_INFINITY), 0]).remove(0).usual.is_anything());
    assert!(!call.permitted(&[bits(f32::MAX), 0]).remove(0).usual.is_anything());
}

#[test]
fn instructions_outside_the_lists_keep_their_freedom() {
    // DenormPreserve does not name OpFDiv or Sqrt, DenormFlushToZero does not name FSign or Ldexp.
    let quotient = call(Op::FDiv, F32, &["DenormPreserve"]).permitted(&[5, bits(1.0)]).remove(0).usual;
    assert!(quotient.contains(F32, 0) && quotient.contains(F32, 5));
    let scaled = call(Op::Ldexp, F32, &["DenormFlushToZero"]).permitted(&[5, 0]).remove(0).usual;
    assert!(scaled.contains(F32, 5) && scaled.contains(F32, 0));
    let rounded = call(Op::FMul, F32, &["DenormFlushToZero"]).permitted(&[5, bits(1.0)]).remove(0).usual;
    assert!(!rounded.contains(F32, 5));
}

#[test]
fn the_inherited_interval_is_symmetric_about_the_result_of_the_operation() {
    // Degrees: F has two ends of its own, of which the farther one counts on both sides.
    let set = usual(Op::Degrees, &["RoundingModeRTE"], &[1.0]);
    let hull = set.hull().unwrap();
    let exact = 180.0 / std::f64::consts::PI;
    let (lo, hi) = (F32.to_f64(F32.bits(hull.lo)), F32.to_f64(F32.bits(hull.hi)));
    let error = (exact - lo).max(hi - exact);
    let next = |rank: i64| F32.to_f64(F32.bits(rank));
    assert!(exact - next(hull.lo - 1) > error && next(hull.hi + 1) - exact > error);
}

#[test]
fn a_nested_overflow_may_become_a_nan() {
    // Sinh over Cosh is infinity over infinity for this operand.
    assert!(call(Op::Tanh, F16, &["None"]).permitted(&[0x4c41]).remove(0).usual.is_anything());
    assert!(call(Op::Tanh, F16, &["None"]).permitted(&[0x3c41]).remove(0).usual.len().is_some());
}

#[test]
fn a_divisor_out_of_range_bounds_nothing_even_where_infinities_are_preserved() {
    let mode = &["SignedZeroInfNanPreserve"];
    assert!(usual(Op::FDiv, mode, &[0.0, f32::INFINITY]).is_anything());
    assert!(usual(Op::FDiv, mode, &[f32::INFINITY, 2f32.powi(127)]).is_anything());
    assert_eq!(usual(Op::FDiv, mode, &[f32::INFINITY, 2.0]), Set::point(F32.infinity()));
    // If the sign of zero is arbitrary, the sign of the infinity is too.
    let either = usual(Op::FDiv, &["NSZ"], &[1.0, 0.0]);
    assert!(either.contains_rank(F32.infinity()) && either.contains_rank(F32.neg_infinity()));
}

#[test]
fn no_requirement_beyond_pi_but_one_just_below() {
    for op in [Op::Sin, Op::Cos, Op::Tan] {
        assert!(usual(op, &[], &[3.2]).is_anything());
        assert!(!usual(op, &[], &[0.5]).is_anything());
    }
}

#[test]
fn a_flushed_operand_opens_an_undefined_domain() {
    assert!(usual(Op::Log, &[], &[f32::from_bits(5)]).is_anything());
    assert!(usual(Op::Pow, &[], &[f32::from_bits(5), -1.0]).is_anything());
    assert!(usual(Op::InverseSqrt, &["DenormPreserve"], &[f32::from_bits(5)]).is_anything());
}

#[test]
fn radians_and_degrees_admit_either_neighbour_of_their_constant() {
    for (op, constant) in [(Op::Radians, std::f64::consts::PI / 180.0), (Op::Degrees, 180.0 / std::f64::consts::PI)] {
        let one = [F16.rank_of_one() as u64];
        let set = call(op, F16, &["RoundingModeRTE"]).permitted(&one).remove(0).usual;
        let value = |rank: i64| F16.to_f64(F16.bits(rank));
        let below = (0..F16.infinity()).rev().find(|&rank| value(rank) <= constant).expect("a neighbour");
        // The mistake: only the nearer neighbour counts as the correctly rounded constant, so that
        // one times it is the only permitted result.
        let nearer = if constant - value(below) < value(below + 1) - constant { below } else { below + 1 };
        assert_ne!(set, Set::point(nearer), "{op}");
        assert!(set.contains_rank(below) && set.contains_rank(below + 1), "{op}: {set:?}");
    }
}

#[test]
fn a_divisor_that_may_be_flushed_opens_everything() {
    for names in [&[][..], &["DenormPreserve"], &["SignedZeroInfNanPreserve"]] {
        for op in [Op::FMod, Op::FRem, Op::FDiv] {
            assert!(usual(op, names, &[1.0, f32::from_bits(5)]).is_anything(), "{op} {names:?}");
            assert!(!usual(op, names, &[1.0, 0.75]).is_anything(), "{op} {names:?}");
        }
        // A width between the edges that vanishes when it is flushed.
        let edges = [f32::MIN_POSITIVE, f32::MIN_POSITIVE * 1.5, 0.0];
        assert!(usual(Op::SmoothStep, names, &edges).is_anything(), "{names:?}");
    }
}

#[test]
fn a_union_over_sets_does_not_forget_a_flushed_member_nor_a_turning_point() {
    use assay_precision::Operand;
    let over = |op: Op, names: &[&str], lo: f32, hi: f32| {
        let (lo, hi) = (F32.rank(bits(lo)), F32.rank(bits(hi)));
        call(op, F32, names).reference().permitted_for_sets(0, &[Operand::Set(Set::range(lo, hi))]).permitted.usual
    };
    // The mistakes: only the ends of the operand, and only those of the result.
    let crest = over(Op::Sin, &[], 1.5, 1.65);
    let ends = [1.5f32, 1.65].map(|x| usual(Op::Sin, &[], &[x]).hull().expect("a range").hi);
    assert!(crest.hull().expect("a range").hi > ends[0].max(ends[1]));
    let small = over(Op::FAbs, &[], f32::from_bits(5), 1.0);
    assert!(small.contains(F32, 0) && !over(Op::FAbs, &["DenormPreserve"], f32::from_bits(5), 1.0).contains(F32, 0));
    assert!(over(Op::Log, &[], f32::from_bits(5), 1.0).is_anything());
    assert!(!over(Op::Log, &[], 0.25, 1.0).is_anything());
}
