//! Sets that can be derived by hand from the text of the specification.

use assay_float::{BF16, F8_E4M3, F8_E5M2, F16, F32, F64, Format, Set};
use assay_precision::{Call, Modes, Op, Operand, Permitted, Scalar, Shape, Verdict};

fn call(op: Op, format: Format, modes: &[&str]) -> Call {
    let modes = modes.iter().fold(Modes::default(), |m, name| m.with(name).expect("a mode"));
    let shape = if Call::shapes(op).contains(&Shape::Scalar) { Shape::Scalar } else { Call::shapes(op)[0] };
    Call::new(op, Scalar::Float(format), shape, None, modes).expect("a legal call")
}

fn permitted(op: Op, format: Format, modes: &[&str], operands: &[u64]) -> Permitted {
    call(op, format, modes).permitted(operands).remove(0)
}

fn usual(op: Op, operands: &[f32]) -> Set {
    permitted(op, F32, &[], &operands.iter().map(|x| u64::from(x.to_bits())).collect::<Vec<_>>()).usual
}

fn has(set: &Set, value: f32) -> bool {
    set.contains(F32, value.to_bits().into())
}

#[test]
fn exp2_of_an_integer_has_bounds_that_are_values() {
    // 3 + 2 * 3 = 9 ulp of 8.0; ulp at a power of two is the spacing below it.
    let set = usual(Op::Exp2, &[3.0]);
    let ulp = 2f32.powi(-21);
    assert!(has(&set, 8.0 - 9.0 * ulp) && !has(&set, (8.0 - 9.0 * ulp).next_down()));
    assert!(has(&set, 8.0 + 9.0 * ulp) && !has(&set, (8.0 + 9.0 * ulp).next_up()));
}

#[test]
fn a_strict_bound_excludes_the_value_on_it() {
    // log2(2) = 1, absolute error < 2^-21.
    let set = usual(Op::Log2, &[2.0]);
    let bound = 2f32.powi(-21);
    assert!(!has(&set, 1.0 + bound) && has(&set, (1.0 + bound).next_down()));
    assert!(!has(&set, 1.0 - bound) && has(&set, (1.0 - bound).next_up()));
}

#[test]
fn sin_is_bounded_only_within_pi() {
    // The binary32 nearest to pi lies above pi, the binary16 one below.
    assert!(usual(Op::Sin, &[std::f32::consts::PI]).is_anything());
    assert!(!usual(Op::Sin, &[std::f32::consts::PI.next_down()]).is_anything());
    assert!(!permitted(Op::Sin, F16, &[], &[0x4248]).usual.is_anything());
    assert!(usual(Op::Sin, &[1e30]).is_anything());
    let set = usual(Op::Sin, &[1.0]);
    assert!(has(&set, 0.841_471 + 0.000_487) && !has(&set, 0.841_471 + 0.000_489));
    // The text does not clip at one.
    assert!(has(&usual(Op::Sin, &[std::f32::consts::FRAC_PI_2]), 1.0004));
}

/// `x * c + y * c + z * c` is `(x + y + z) * c` by distributivity, which compilers use for constants.
#[test]
fn equal_operands_of_a_dot_product_may_count_as_one() {
    let (x, third) = ([0xbf05_4b25, 0xbf00_0000, 0], 0x3eaa_aaab);
    let call = Call::new(Op::Dot, Scalar::Float(F32), Shape::Vector(3), None, Modes::default()).expect("a call");
    let sets = |other: [u64; 3]| call.permitted(&[x.as_slice(), &other].concat()).remove(0);
    let contains = |set: &Set, got: u64| set.contains(F32, got);
    let factored = 0xbeae_3218;
    // The set of the symbolic formula ends one value before.
    let equal = sets([third; 3]);
    assert!(contains(&equal.usual, factored + 1) && !contains(&equal.usual, factored));
    let lenient = equal.lenient.expect("a lenient reading").set;
    assert!(contains(&lenient, factored) && !contains(&lenient, factored - 1));
    // The sign of a factor does not matter, and neither does that of the other factor.
    let opposite = call.permitted(&[x[0], x[1] ^ 1 << 31, x[2], third, third ^ 1 << 31, third]).remove(0);
    assert!(contains(&opposite.lenient.expect("a lenient reading").set, factored));
    let different = sets([third, third + 1, third + 2]);
    assert!(!different.lenient.is_some_and(|lenient| contains(&lenient.set, factored)));
}

#[test]
fn addition_permits_either_neighbour_unless_a_mode_is_declared() {
    let x = [1.0f32, 2f32.powi(-25)].map(|x| u64::from(x.to_bits()));
    let one = i64::from(1f32.to_bits());
    assert_eq!(permitted(Op::FAdd, F32, &[], &x).usual, Set::range(one, one + 1));
    assert_eq!(permitted(Op::FAdd, F32, &["RoundingModeRTE"], &x).usual, Set::point(one));
    assert_eq!(permitted(Op::FAdd, F32, &["RoundingModeRTZ"], &x).usual, Set::point(one));
}

#[test]
fn flushing_adds_zero_and_nothing_between() {
    let tiny = 0x0000_1000u64;
    let set = permitted(Op::FMul, F32, &[], &[tiny, 1f32.to_bits().into()]).usual;
    assert_eq!(set.ranges().len(), 2);
    assert!(set.contains(F32, tiny) && set.contains(F32, 0) && set.contains(F32, 1 << 31) && !set.contains(F32, 0x800));
    let kept = permitted(Op::FMul, F32, &["DenormPreserve"], &[tiny, 1f32.to_bits().into()]).usual;
    assert_eq!(kept, Set::point(tiny as i64));
    let flushed = permitted(Op::FMul, F32, &["DenormFlushToZero"], &[tiny, 1f32.to_bits().into()]).usual;
    assert_eq!(flushed, Set::range(-1, 0));
}

#[test]
fn a_result_that_rounds_up_to_the_smallest_normal_may_be_flushed() {
    // (1 - 2^-24) * 2^-126
    let x = [1f32.next_down(), f32::MIN_POSITIVE].map(|x| u64::from(x.to_bits()));
    let set = permitted(Op::FMul, F32, &["DenormFlushToZero"], &x).usual;
    assert!(set.contains(F32, 0) && set.contains(F32, f32::MIN_POSITIVE.to_bits().into()));
    assert!(!set.contains(F32, f32::MIN_POSITIVE.next_down().to_bits().into()));
}

#[test]
fn special_operands_are_anything_unless_preserved() {
    let x = [f32::INFINITY, 1.0].map(|x| u64::from(x.to_bits()));
    assert!(permitted(Op::FAdd, F32, &[], &x).usual.is_anything());
    let kept = permitted(Op::FAdd, F32, &["SignedZeroInfNanPreserve"], &x).usual;
    assert_eq!(kept, Set::point(F32.infinity()));
    let opposite = [f32::INFINITY, f32::NEG_INFINITY].map(|x| u64::from(x.to_bits()));
    assert_eq!(permitted(Op::FAdd, F32, &["SignedZeroInfNanPreserve"], &opposite).usual, Set::nans());
    // No GLSL instruction is in the list.
    assert!(permitted(Op::FAbs, F32, &["SignedZeroInfNanPreserve"], &x[..1]).usual.is_anything());
    assert!(!permitted(Op::FAbs, F32, &["None"], &x[..1]).usual.is_anything());
}

#[test]
fn division_by_zero_is_ieee_where_preserved() {
    let x = [1f32, -0.0].map(|x| u64::from(x.to_bits()));
    assert!(permitted(Op::FDiv, F32, &[], &x).usual.is_anything());
    assert_eq!(permitted(Op::FDiv, F32, &["SignedZeroInfNanPreserve"], &x).usual, Set::point(F32.neg_infinity()));
    // A denormal divisor may be flushed; it also lies outside the stated range.
    assert!(permitted(Op::FDiv, F32, &["SignedZeroInfNanPreserve"], &[x[0], 1]).usual.is_anything());
    assert!(usual(Op::FDiv, &[1.0, 2f32.powi(127)]).is_anything());
    assert!(!usual(Op::FDiv, &[1.0, 2f32.powi(126)]).is_anything());
}

#[test]
fn division_has_two_and_a_half_ulp() {
    let third = i64::from((1f32 / 3.0).to_bits());
    // 1/3 lies a third of an ulp below its nearest value.
    assert_eq!(usual(Op::FDiv, &[1.0, 3.0]), Set::range(third - 2, third + 2));
}

#[test]
fn fmod_of_a_value_by_itself_may_be_the_value() {
    let set = usual(Op::FMod, &[3.0, 3.0]);
    assert!(has(&set, 0.0) && has(&set, 3.0));
    // Symmetric about the exact value.
    assert!(has(&set, -3.0) && !has(&set, 3.1));
}

#[test]
fn atan2_of_zeros_is_undefined_and_its_cut_has_two_sides() {
    assert!(usual(Op::Atan2, &[0.0, 0.0]).is_anything());
    let set = usual(Op::Atan2, &[0.0, -1.0]);
    assert!(has(&set, std::f32::consts::PI) && has(&set, -std::f32::consts::PI) && !has(&set, 0.0));
    let strict = permitted(Op::Atan2, F32, &["None"], &[1 << 31, (-1f32).to_bits().into()]).usual;
    assert!(has(&strict, -std::f32::consts::PI) && !has(&strict, std::f32::consts::PI));
}

#[test]
fn asinh_may_overflow_where_the_square_does() {
    assert!(usual(Op::Asinh, &[3e19]).is_anything());
    assert!(!usual(Op::Asinh, &[1e19]).is_anything());
}

#[test]
fn tanh_of_a_tiny_operand_may_be_far_off() {
    let set = usual(Op::Tanh, &[1e-10]);
    assert!(has(&set, 0.0) && has(&set, 1e-10) && has(&set, 2e-7) && has(&set, -2e-7) && !has(&set, 1e-5));
}

#[test]
fn halves_round_either_way_but_round_even_does_not() {
    let two_or_three = usual(Op::Round, &[2.5]);
    assert!(has(&two_or_three, 2.0) && has(&two_or_three, 3.0) && !has(&two_or_three, 2.5));
    let even = usual(Op::RoundEven, &[2.5]);
    assert!(has(&even, 2.0) && !has(&even, 3.0));
    assert!(has(&usual(Op::RoundEven, &[-3.5]), -4.0) && !has(&usual(Op::RoundEven, &[-3.5]), -3.0));
    assert!(has(&usual(Op::Round, &[0.499_999_97]), 0.0) && !has(&usual(Op::Round, &[0.499_999_97]), 1.0));
}

#[test]
fn step_has_two_answers_only_where_a_flush_decides() {
    let zero_or_one = |set: &Set| (has(set, 0.0), has(set, 1.0));
    assert_eq!(zero_or_one(&usual(Op::Step, &[1.0, 2.0])), (false, true));
    assert_eq!(zero_or_one(&usual(Op::Step, &[2.0, 1.0])), (true, false));
    let tiny = f32::from_bits(1);
    assert_eq!(zero_or_one(&usual(Op::Step, &[tiny, 0.0])), (true, true));
}

#[test]
fn fract_of_a_tiny_negative_may_round_to_one() {
    let set = usual(Op::Fract, &[-2f32.powi(-30)]);
    assert!(has(&set, 1.0) && has(&set, 1f32.next_down()) && !has(&set, 0.0));
    assert_eq!(usual(Op::Fract, &[-0.0]), Set::range(-1, 0));
}

#[test]
fn square_root_has_its_formula_and_zero_by_name() {
    let set = usual(Op::Sqrt, &[4.0]);
    assert!(has(&set, 2.0) && set.len().is_some_and(|n| n > 3 && n < 16));
    let zero = permitted(Op::Sqrt, F32, &[], &[0]);
    assert_eq!(zero.usual, Set::range(-1, 0));
    assert!(zero.lenient.is_some_and(|l| l.set.is_anything()));
    // An exactly representable root: the permitted interval is symmetric about it in value.
    let hull = set.hull().unwrap();
    let (lo, hi) = (F32.to_f64(F32.bits(hull.lo)), F32.to_f64(F32.bits(hull.hi)));
    assert!((2.0 - lo).max(hi - 2.0) <= 6.0 * 2f64.powi(-23));
}

#[test]
fn double_precision_has_two_readings() {
    let x = [1f64, 3.0].map(f64::to_bits);
    let both = permitted(Op::FAdd, F64, &["RoundingModeRTE"], &[x[0], 1e-30f64.to_bits()]);
    assert_eq!(both.usual, Set::point(F64.rank(x[0])));
    let third = permitted(Op::FDiv, F64, &[], &x);
    let lenient = third.lenient.expect("a second reading").set;
    assert!(
        lenient.contains(F64, (1.0 / 3.0 + 1e-8f64).to_bits())
            && !third.usual.contains(F64, (1.0 / 3.0 + 1e-8f64).to_bits())
    );
    assert!(!lenient.contains(F64, (1.0 / 3.0 + 1e-6f64).to_bits()));
}

#[test]
fn overflow_under_not_inf_is_a_warning_at_most() {
    let x = [f32::MAX, f32::MAX].map(|x| u64::from(x.to_bits()));
    let both = permitted(Op::FAdd, F32, &[], &x);
    assert_eq!(both.usual, Set::range(F32.max_finite(), F32.infinity()));
    assert!(both.lenient.is_some_and(|l| l.set.is_anything()));
    assert_eq!(call(Op::FAdd, F32, &[]).judge(&x, &[0])[0].verdict, Verdict::QualityWarning);
}

#[test]
fn the_sign_of_zero_binds_where_it_is_preserved() {
    let x = [0f32, -0.0].map(|x| u64::from(x.to_bits()));
    assert_eq!(permitted(Op::FMul, F32, &[], &x).usual, Set::range(-1, 0));
    assert_eq!(permitted(Op::FMul, F32, &["SignedZeroInfNanPreserve"], &x).usual, Set::point(-1));
    // An undeclared rounding mode may be the one in which x - x is -0.
    let same = [x[0], x[0]];
    assert_eq!(permitted(Op::FSub, F32, &["SignedZeroInfNanPreserve"], &same).usual, Set::range(-1, 0));
    assert_eq!(permitted(Op::FSub, F32, &["SignedZeroInfNanPreserve", "RoundingModeRTE"], &same).usual, Set::point(0));
}

#[test]
fn a_packed_word_is_one_result() {
    let call = call(Op::PackHalf2x16, F32, &[]);
    let (one, huge, infinity) = (0x3f80_0000, 0x7f00_0000, 0x7f80_0000);
    // NotInf assumes one component not to occur: nothing is required of the word.
    assert!(call.permitted(&[infinity, one]).iter().all(|part| part.usual.is_anything()));
    // In the usual reading an overflow must give the largest half or infinity. The doubt about it
    // extends to the other half of the word.
    let parts = call.permitted(&[huge, one]);
    assert_eq!(parts[1].usual.len(), Some(1));
    assert!(parts.iter().all(|part| part.lenient.as_ref().unwrap().set.is_anything()));
    assert!(call.permitted(&[one, one]).iter().all(|part| part.usual.len() == Some(1) && part.lenient.is_none()));
}

#[test]
fn declared_rounding_inside_formulas_is_a_doubt() {
    // "Inherited From" extends the denormal modes to the formula and does not mention the rounding
    // modes.
    for (op, x) in [(Op::Acos, 0x3bfd), (Op::Acos, 0x3bff), (Op::Asin, 0x3bff), (Op::Fma, 0x3a01)] {
        let call = call(op, F16, &["RoundingModeRTE"]);
        let operands = [x, 0x3555, 0x3c01];
        let operands = &operands[..call.operands.len()];
        let both = call.permitted(operands).remove(0);
        let lenient = both.lenient.expect("a second reading");
        assert!(lenient.doubt.contains("rounding"), "{op}: {}", lenient.doubt);
        let free = permitted(op, F16, &[], operands);
        let free = free.lenient.map_or(free.usual, |lenient| lenient.set);
        assert_eq!(lenient.set, free, "{op}");
        let hull = free.hull().expect("a range");
        let strict = both.usual.hull().expect("a range");
        assert!(strict.lo > hull.lo || strict.hi < hull.hi, "{op}: the readings differ");
        let end = if strict.lo > hull.lo { hull.lo } else { hull.hi };
        assert_eq!(call.judge(operands, &[F16.bits(end)])[0].verdict, Verdict::QualityWarning, "{op}");
        assert_eq!(call.judge(operands, &[F16.bits(hull.hi + 1)])[0].verdict, Verdict::Fail, "{op}");
    }
    // A single correctly rounded operation has no such doubt.
    let x = [0x3c00, 0x0c00];
    assert_eq!(permitted(Op::FAdd, F16, &["RoundingModeRTE", "SignedZeroInfNanPreserve"], &x).lenient, None);
}

/// The result of a driver, computed by hand with 50 digits: it is off by 3.4022 units of 2^-24. The
/// outermost float that `Exp2` may return is off by 2.598 units, the end of its range by 3.4040.
#[test]
fn the_ends_of_the_range_of_formulas_are_a_doubt() {
    let call = call(Op::Pow, F32, &[]);
    let operands = [0x6580_59cc, 0xba7f_ffff];
    let lenient = call.permitted(&operands).remove(0).lenient.expect("a second reading");
    assert!(lenient.doubt.contains("Fmin and Fmax"), "{}", lenient.doubt);
    for (got, verdict) in [
        (0x3f73_29a1, Verdict::Pass),
        (0x3f73_29a2, Verdict::QualityWarning),
        (0x3f73_29a3, Verdict::Fail),
        (0x3f73_299c, Verdict::Pass),
        (0x3f73_299b, Verdict::Fail),
    ] {
        assert_eq!(call.judge(&operands, &[got])[0].verdict, verdict, "{got:x}");
    }
    // The last operation of a sum of products returns a float.
    let operands = [0x3f80_0001, 0x3f80_0003, 0x3400_0000];
    assert_eq!(permitted(Op::Fma, F32, &[], &operands).lenient, None);
}

#[test]
fn the_subgroup_vote_is_on_truths() {
    let call = Call::new(Op::SubgroupAllEqualKHR, Scalar::Bool, Shape::Scalar, None, Modes::default()).expect("a call");
    assert_eq!(call.operand_slots().collect::<Vec<_>>(), [Scalar::Bool; 2]);
    for (x, equal) in [([0, 0], 1), ([1, 1], 1), ([0, 1], 0), ([1, 0], 0)] {
        assert_eq!(call.permitted(&x).remove(0).usual, Set::point(equal));
    }
    assert!(Call::new(Op::SubgroupAllEqualKHR, Scalar::Float(F32), Shape::Scalar, None, Modes::default()).is_err());
}

#[test]
fn distances_of_all_kinds_of_operands_are_decided() {
    // Sums of very large and very small values, vanishing differences, and squares beyond either
    // end of the format: the exact result of the formula is then far from any intermediate's range,
    // and must still be distinguished from its neighbours.
    for f in [F16, F32, F64] {
        let (one, edge, max) = (f.rank_of_one() as u64, f.min_normal() as u64, f.max_finite() as u64);
        let half = f.rank_of_one() as u64 - (1 << f.fraction_bits);
        let magnitudes = [0, 1, edge - 1, edge, edge + 1, half - 1, half, one - 1, one, one + 1, max - 1, max];
        for names in [&["RoundingModeRTE"][..], &["RoundingModeRTE", "SignedZeroInfNanPreserve"], &["RoundingModeRTZ"]]
        {
            let reference = call(Op::Distance, f, names).reference();
            for (i, a) in magnitudes.into_iter().enumerate() {
                for b in magnitudes.into_iter().skip(i % 3).step_by(3) {
                    for (x, y) in [(a, b), (a, b | f.sign_mask())] {
                        let both = reference.permitted(0, &[x, y]);
                        assert!(!both.usual.is_empty());
                        // The exact distance of equal operands is zero, which must be a member.
                        assert!(x != y || both.usual.contains(f, 0), "{} {x:x}", f.name);
                    }
                }
            }
        }
    }
}

/// "Denormalized floating-point values whose type use the Float8E4M3EXT or Float8E5M2EXT FP
/// Encoding must be preserved during conversions to IEEE 754 binary 16": those of E5M2 are denormal
/// halves too.
#[test]
fn float8_denormals_are_kept_in_conversions_to_halves() {
    for format in [F8_E4M3, F8_E5M2] {
        for (modes, kept) in
            [(&[][..], true), (&["RoundingModeRTE"], true), (&["DenormFlushToZero"], format == F8_E4M3)]
        {
            let modes = modes.iter().fold(Modes::default(), |m, name| m.with(name).expect("a mode"));
            let from = Some(Scalar::Float(format));
            let call = Call::new(Op::FConvert, Scalar::Float(F16), Shape::Scalar, from, modes).expect("a conversion");
            for bits in (1..1u64 << format.fraction_bits).flat_map(|bits| [bits, bits | format.sign_mask()]) {
                let magnitude = format.to_f64(bits).abs();
                let exact =
                    (0..F16.max_finite()).find(|&rank| F16.to_f64(F16.bits(rank)) == magnitude).expect("a half");
                let exact = if bits & format.sign_mask() == 0 { exact } else { -1 - exact };
                let Permitted { usual, lenient } = call.permitted(&[bits]).remove(0);
                if kept {
                    assert_eq!((usual, lenient.is_none()), (Set::point(exact), true), "{bits:#x} {modes}");
                } else {
                    // A mode demands zero for a denormal half.
                    let lenient = lenient.expect("two sentences of the text");
                    assert!(!usual.contains_rank(exact) && lenient.set.contains_rank(exact), "{bits:#x}: {usual:?}");
                }
            }
            // Also over more members than are evaluated one by one.
            let over = call.reference().permitted_for_sets(0, &[Operand::Set(Set::range(1, 60))]).permitted;
            assert_eq!(over.lenient.is_some(), !kept, "{modes}");
        }
    }
}

/// The reported exact result is that of the operands as they are, not of zeros in their place.
#[test]
fn the_exact_result_is_that_of_the_operands_given() {
    let exact = |op, operands: &[u64]| call(op, F32, &[]).explain(operands, None).remove(0).exact;
    assert_eq!(exact(Op::FAdd, &[1, 2]), exact(Op::FAdd, &[2, 1]));
    assert!(exact(Op::FAdd, &[1, 2]).contains("e-45"), "{}", exact(Op::FAdd, &[1, 2]));
    let one = u64::from(1f32.to_bits());
    assert_eq!(exact(Op::FNegate, &[one]), "-1.0");
    assert_eq!(exact(Op::Log, &[one]), "0.0");
}

/// A result that only relaxed precision permits does not have a margin of the ordinary bound.
#[test]
fn results_that_only_relaxed_precision_permits_have_no_margin() {
    let call = call(Op::FAdd, F32, &["RelaxedPrecision"]);
    let bits = |x: f32| u64::from(x.to_bits());
    let judged = |got: f32| call.judge(&[bits(1.001), bits(2.003)], &[bits(got)]).remove(0);
    assert_eq!((judged(3.007).verdict, judged(3.007).margin), (Verdict::Pass, None));
    assert!(judged(3.004).margin.is_some_and(|margin| margin <= 1.0));
    assert_eq!(judged(4.0).verdict, Verdict::Fail);
    assert!(judged(4.0).margin.is_some_and(|margin| margin > 1.0));
}

/// An instruction that only moves a float of relaxed precision leaves the value, or one of the
/// neighbouring halves.
#[test]
fn a_truncated_float_is_between_halves() {
    let bits = |x: f32| u64::from(x.to_bits());
    let point = |x: f32| assay_precision::relaxed::truncated(&Set::range(F32.rank(bits(x)), F32.rank(bits(x))));
    let between = |x: f32, lo: f32, hi: f32| {
        let set = point(x);
        assert!(set.contains(F32, bits(lo)) && set.contains(F32, bits(x)) && set.contains(F32, bits(hi)), "{x}");
        assert!(!set.contains(F32, bits(lo.next_down())) && !set.contains(F32, bits(hi.next_up())), "{x}");
    };
    between(1.0, 1.0, 1.0);
    between(1.000_1, 1.0, 1.0 + 2f32.powi(-10));
    between(-3.1, -3.1015625, -3.099_609_4);
    assert!(point(0.0).contains(F32, 0) && !point(0.0).contains(F32, 1));
    for beyond in [2f32.powi(14), 2f32.powi(-15), f32::INFINITY] {
        assert!(point(beyond).is_anything(), "{beyond}");
    }
    let mut set = Set::range(F32.rank(bits(1.000_1)), F32.rank(bits(1.5)));
    set.union_with(&point(0.0));
    let all = assay_precision::relaxed::truncated(&set);
    assert!(all.contains(F32, bits(1.0)) && all.contains(F32, 0) && !all.contains(F32, bits(0.5)));
    set.insert_nan();
    assert!(assay_precision::relaxed::truncated(&set).is_anything());
}

#[test]
fn the_rule_of_a_relaxed_instruction_states_the_half_column() {
    let rule = |op, modes: &[&str]| call(op, F32, modes).rule();
    assert_eq!(rule(Op::Exp2, &[]), "3 + 2 * |x| ULP");
    let relaxed = "3 + 2 * |x| ULP; RelaxedPrecision: operands may be rounded to the precision of f16; then, as for f16, \
                   1 + 2 * |x| ULP";
    assert_eq!(rule(Op::Exp2, &["RelaxedPrecision"]), relaxed);
    let rounded =
        "correctly rounded; RelaxedPrecision: operands may be rounded to the precision of f16; then, as for f16, 1 ULP";
    assert_eq!(rule(Op::FAdd, &["RelaxedPrecision"]), rounded);
    assert_eq!(
        rule(Op::Tan, &["RelaxedPrecision"]),
        "inherited from Sin(x) / Cos(x); RelaxedPrecision: nothing is required"
    );
    assert_eq!(call(Op::FAdd, F16, &["RelaxedPrecision"]).rule(), "correctly rounded");
}

#[test]
fn smooth_step_uses_one_value_of_t_unless_read_leniently() {
    let call = call(Op::SmoothStep, F16, &[]);
    let operands = [0xbc02, 0x4080, 0xaf64];
    let permitted = &call.permitted(&operands)[0];
    // Each t within the quotient's 2.5 ULP: first one t for all three uses, then one for each use.
    assert_eq!(permitted.usual, Set::range(12_750, 12_766));
    let lenient = permitted.lenient.as_ref().expect("a lenient reading");
    assert_eq!(lenient.set, Set::range(12_745, 12_771));
    let verdict = |bits| call.judge(&operands, &[bits])[0].verdict;
    assert_eq!([12_766, 12_767].map(verdict), [Verdict::Pass, Verdict::QualityWarning]);
    assert_eq!([12_771, 12_772].map(verdict), [Verdict::QualityWarning, Verdict::Fail]);
}

#[test]
fn a_refused_bfloat16_instruction_names_the_extension() {
    let error = Call::new(Op::FmaKHR, Scalar::Float(BF16), Shape::Scalar, None, Modes::default()).expect_err("refused");
    let words = "OpFmaKHR of bf16 is not in Assay's table; it takes f16, f32, f64; SPV_KHR_bfloat16 permits no arithmetic but \
                 OpDot, cooperative matrices and conversions";
    assert_eq!(error.to_string(), words);
}
