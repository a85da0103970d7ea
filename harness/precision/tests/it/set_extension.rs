//! Set extension against the union over all members, one by one.

use assay_float::{BF16, F8_E4M3, F8_E5M2, F16, Format, RankRange, Set};
use assay_precision::{Call, Effort, Modes, Op, Operand, Reference, Scalar, Shape, Tightness, synthetic::Random};
use std::collections::BTreeMap;

const MODES: [&[&str]; 8] = [
    &[],
    &["DenormPreserve", "RoundingModeRTE"],
    &["DenormFlushToZero", "RoundingModeRTZ"],
    &["SignedZeroInfNanPreserve"],
    &["SignedZeroInfNanPreserve", "DenormPreserve", "RoundingModeRTE"],
    &["None"],
    &["NSZ", "NotInf"],
    &["NotNaN"],
];

fn modes(names: &[&str]) -> Modes {
    names.iter().fold(Modes::default(), |m, name| m.with(name).expect("a mode"))
}

/// A set of at most this many members around a special value: one to three ranges, sometimes with a
/// NaN.
fn random_set(scalar: Scalar, most: u64, random: &mut Random) -> Set {
    let mut set = Set::empty();
    let Some(f) = scalar.format() else {
        let all = if scalar == Scalar::Bool { 1 } else { u64::MAX >> (64 - scalar.width()) };
        let center = [0, all, all >> 1, random.bits(), 3][random.below(5) as usize] & all;
        for bits in (center..=all).take(1 + random.below(most) as usize) {
            set.insert(RankRange::point(bits.cast_signed()));
        }
        return set;
    };
    let one = f.rank_of_one();
    let quarter = 1 << (f.fraction_bits - 2);
    for _ in 0..1 + random.below(6) / 4 {
        let places = [0, f.min_normal(), one, f.infinity(), one + random.below(40) as i64 * quarter];
        let center = match random.below(8) {
            0 => random.below(f.infinity() as u64) as i64,
            k => places[k as usize % 5],
        };
        let center = if random.below(3) == 0 { -1 - center } else { center };
        let lo = center - random.below(most) as i64;
        let hi = lo + random.below(most) as i64;
        set.insert(RankRange::new(lo.clamp(f.neg_infinity(), f.infinity()), hi.clamp(f.neg_infinity(), f.infinity())));
    }
    // Infinities and NaNs permit anything for most instructions; they are kept rare.
    if !f.has_infinity() || random.below(4) > 0 {
        set.remove(RankRange::new(f.infinity(), f.infinity()));
        set.remove(RankRange::new(f.neg_infinity(), f.neg_infinity()));
        if set.is_empty() {
            set.insert(RankRange::new(0, 3));
        }
    } else if random.below(4) == 0 {
        set.insert_nan();
    }
    set
}

/// Bits of every member; for NaNs those of one NaN.
fn members(set: &Set, scalar: Scalar) -> Vec<u64> {
    let ranks = set.ranges().iter().flat_map(|r| r.lo..=r.hi);
    let bits = ranks.map(|rank| scalar.format().map_or(rank.cast_unsigned(), |f| f.bits(rank)));
    bits.chain(set.has_nan().then(|| scalar.format().map_or(0, Format::nan))).collect()
}

/// Union over all members, in both readings.
fn union(reference: &Reference, slot: usize, sets: &[Vec<u64>]) -> (Set, Set) {
    let (mut usual, mut lenient) = (Set::empty(), Set::empty());
    let mut index = vec![0; sets.len()];
    loop {
        let x: Vec<u64> = index.iter().zip(sets).map(|(&k, s): (&usize, _)| s[k]).collect();
        let one = reference.permitted(slot, &x);
        lenient.union_with(one.lenient.as_ref().map_or(&one.usual, |l| &l.set));
        usual.union_with(&one.usual);
        let Some(next) = (0..index.len()).find(|&i| index[i] + 1 < sets[i].len()) else { return (usual, lenient) };
        index[..next].fill(0);
        index[next] += 1;
    }
}

fn contains(outer: &Set, inner: &Set) -> bool {
    outer.is_anything()
        || !inner.is_anything()
            && (!inner.has_nan() || outer.has_nan())
            && inner.ranges().iter().all(|r| outer.ranges().iter().any(|o| o.lo <= r.lo && r.hi <= o.hi))
}

/// Number of reports of each tightness.
type Tally = BTreeMap<(Op, Tightness), u32>;

/// Compares both methods on random sets for one call.
fn compare(call: &Call, rounds: usize, random: &mut Random, tally: &mut Tally) {
    let reference = call.reference();
    let slots: Vec<Scalar> = call.operand_slots().collect();
    let most = [200, 24, 9][slots.len().clamp(1, 3) - 1];
    for round in 0..rounds {
        let slot = random.below(call.result_slots().count() as u64) as usize;
        let sets: Vec<Set> = slots
            .iter()
            .map(|&s| {
                if random.below(5) == 0 {
                    Set::point(
                        members(&random_set(s, 1, random), s)
                            .first()
                            .map_or(0, |&b| s.format().filter(|f| !f.is_nan(b)).map_or(0, |f| f.rank(b))),
                    )
                } else {
                    random_set(s, if round % 3 == 0 { most } else { most / 2 + 1 }, random)
                }
            })
            .collect();
        let all: Vec<Vec<u64>> = sets.iter().zip(&slots).map(|(set, &s)| members(set, s)).collect();
        let (usual, lenient) = union(&reference, slot, &all);
        let operands: Vec<Operand> = sets.iter().cloned().map(Operand::Set).collect();
        let over = reference.permitted_for_sets(slot, &operands);
        let found = over.permitted;
        let more = found.lenient.as_ref().map_or(&found.usual, |l| &l.set);
        let what = || {
            format!(
                "{} {:?} {} slot {slot} over {sets:?}\n found {found:?}\n union {usual:?}\n lenient {lenient:?}",
                call.op, call.operands, call.modes
            )
        };
        assert!(contains(&found.usual, &usual) && contains(more, &lenient), "not contained: {}", what());
        let same = |a: &Set, b: &Set| match over.tightness {
            Tightness::Union => a == b,
            Tightness::Hull => (a.hull(), a.has_nan(), a.is_anything()) == (b.hull(), b.has_nan(), b.is_anything()),
            Tightness::Enclosure => true,
        };
        assert!(same(&found.usual, &usual) && same(more, &lenient), "not {:?}: {}", over.tightness, what());
        *tally.entry((call.op, over.tightness)).or_default() += 1;
    }
}

/// Number of operand sets for each call: `ASSAY_ROUNDS`, or a small default.
fn rounds() -> usize {
    std::env::var("ASSAY_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(6)
}

fn is_formula(op: Op) -> bool {
    let call =
        Call::new(op, Call::scalars(op)[0], Call::shapes(op)[0], Call::sources(op).last().copied(), Modes::default());
    call.is_ok_and(|c| c.rule().starts_with("inherited"))
}

/// Calls of an instruction in half precision, or in its own type if it has no other.
fn calls(op: Op, names: &[&str]) -> Vec<Call> {
    let scalars = Call::scalars(op);
    let half = Scalar::Float(F16);
    let scalar = if scalars.contains(&half) { half } else { scalars[0] };
    let from = Call::sources(op).iter().copied().filter(|s| *s != scalar);
    let narrow = from.filter(|s| s.width() <= 32).map(Some).chain(Call::sources(op).is_empty().then_some(None));
    narrow.filter_map(|from| Call::new(op, scalar, Call::shapes(op)[0], from, modes(names)).ok()).collect()
}

#[test]
fn direct_rules_over_sets_contain_the_union_and_are_as_tight_as_they_say() {
    let (mut random, mut tally) = (Random::new(1), Tally::new());
    for &op in Op::ALL.iter().filter(|&&op| !is_formula(op)) {
        for names in MODES {
            for call in calls(op, names) {
                compare(&call, rounds(), &mut random, &mut tally);
            }
        }
    }
    // Results that are documented as exact are exact.
    for op in [Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::FMin, Op::NMax, Op::Floor, Op::Exp, Op::Log2, Op::FAbs] {
        assert!(!tally.contains_key(&(op, Tightness::Enclosure)), "{op}: {tally:?}");
    }
    for op in [Op::FOrdLessThan, Op::FUnordEqual, Op::IsNan] {
        assert!(!tally.contains_key(&(op, Tightness::Hull)), "{op}: {tally:?}");
    }
}

#[test]
fn inherited_rules_over_sets_contain_the_union() {
    let (mut random, mut tally) = (Random::new(2), Tally::new());
    for &op in Op::ALL.iter().filter(|&&op| is_formula(op)) {
        for names in &MODES[..4] {
            for call in calls(op, names) {
                compare(&call, rounds().div_ceil(8), &mut random, &mut tally);
            }
        }
    }
}

#[test]
fn rules_of_wgsl_over_sets_contain_the_union() {
    let (mut random, mut tally) = (Random::new(3), Tally::new());
    let wgsl = Op::ALL.iter().flat_map(|&op| calls(op, &[])).filter_map(|call| call.in_wgsl().ok());
    for call in wgsl {
        let rounds = if is_formula(call.op) { 1 } else { rounds() };
        compare(&call, rounds, &mut random, &mut tally);
    }
    assert!(tally.len() > 60, "{tally:?}");
}

/// Conversions to float8 of values within and beyond the range, and sums of products of bfloat16,
/// which have two rules.
#[test]
fn small_formats_over_sets_contain_the_union() {
    let (mut random, mut tally) = (Random::new(4), Tally::new());
    for saturated in [false, true] {
        for names in MODES {
            let modes = Modes { saturated, ..modes(names) };
            for (to, from) in [(F8_E4M3, F8_E5M2), (F8_E4M3, F16), (F8_E5M2, F16)] {
                let from = Some(Scalar::Float(from));
                let call = Call::new(Op::FConvert, Scalar::Float(to), Shape::Scalar, from, modes);
                compare(&call.expect("a conversion"), 8 * rounds(), &mut random, &mut tally);
            }
        }
    }
    assert!(!tally.contains_key(&(Op::FConvert, Tightness::Enclosure)), "{tally:?}");
    for names in MODES {
        let call = Call::new(Op::Dot, Scalar::Float(BF16), Shape::Vector(2), None, modes(names));
        compare(&call.expect("a dot product"), rounds().div_ceil(4), &mut random, &mut tally);
    }
}

/// Integers of the upper half are large unsigned numbers.
#[test]
fn a_range_converted_to_unsigned_integers_keeps_their_order() {
    let (f32, u32) = (Scalar::Float(assay_float::F32), Scalar::Int { width: 32, signed: false });
    let call =
        Call::new(Op::ConvertFToU, u32, assay_precision::Shape::Scalar, Some(f32), Modes::default()).expect("a call");
    let ends = [1f32, 3e9].map(|x| i64::from(x.to_bits()));
    let over = call.reference().permitted_for_sets(0, &[Operand::Set(Set::range(ends[0], ends[1]))]);
    for inside in [1u32, 1000, 2_000_000_000, 3_000_000_000] {
        assert!(over.permitted.usual.contains_rank(i64::from(inside)), "{inside}: {over:?}");
    }
}

/// Close to 1, the error of `Exp` is slightly more than 3 ulp, which `f64` rounds up. The search
/// still ends, with the results of single members and no more.
#[test]
fn exponentials_of_tiny_numbers_are_exact_hulls() {
    for op in [Op::Exp, Op::Exp2] {
        let f32 = Scalar::Float(assay_float::F32);
        let call = Call::new(op, f32, Shape::Scalar, None, Modes::default()).expect("a call");
        let reference = call.reference();
        let [lo, hi] = [1e-37f32, 1e-20].map(|x| i64::from(x.to_bits()));
        let over = reference.permitted_for_sets(0, &[Operand::Set(Set::range(lo, hi))]);
        let ends = [lo, hi].map(|rank| reference.permitted(0, &[rank.cast_unsigned()]).usual.hull().expect("a hull"));
        let hull = over.permitted.usual.hull().expect("a hull");
        assert_eq!((hull.lo, hull.hi), (ends[0].lo.min(ends[1].lo), ends[0].hi.max(ends[1].hi)), "{op}");
        assert_eq!(over.tightness, Tightness::Hull, "{op}");
    }
}

/// Nine ranges of the dividend are one part with less effort, and two ranges of the divisor stay two on either side
/// of zero. The result contains the union all the same.
#[test]
fn a_gap_around_zero_stays_when_parts_are_joined() {
    let call = Call::new(Op::FMod, Scalar::Float(F16), Shape::Scalar, None, Modes::default()).expect("a call");
    let reference = call.reference();
    let (one, binade) = (F16.rank_of_one(), 1 << F16.fraction_bits);
    let mut dividend = Set::empty();
    (0..9).for_each(|k| dividend.insert(RankRange::new(one + k * 100, one + k * 100 + 3)));
    let two = one + binade;
    let mut divisor = Set::range(two, two + 3);
    // The rank of a negative number is one less than the negative rank of its magnitude.
    divisor.insert(RankRange::new(-1 - two - 3, -1 - two));
    let operands = [Operand::Set(dividend.clone()), Operand::Set(divisor.clone())];
    let boxes = [Effort::Search, Effort::Enclose, Effort::Cover].map(|effort| reference.boxes(effort, 0, &operands));
    assert_eq!(boxes, [18, 2, 2]);
    let scalar = Scalar::Float(F16);
    let (usual, lenient) = union(&reference, 0, &[members(&dividend, scalar), members(&divisor, scalar)]);
    for effort in [Effort::Search, Effort::Enclose, Effort::Cover] {
        let found = reference.permitted_for_sets_with(effort, 0, &operands).permitted;
        assert!(contains(&found.usual, &usual), "{effort:?}: {:?}", found.usual);
        let other = found.lenient.map_or(found.usual, |lenient| lenient.set);
        assert!(contains(&other, &lenient), "{effort:?}: {other:?}");
    }
}

/// Less effort also gives a superset of the union, and for ordinary roots one that is hardly wider
/// than that of a search.
#[test]
fn an_enclosure_holds_what_members_permit() {
    let mut random = Random::new(7);
    for (op, least) in [(Op::Sqrt, 55), (Op::Pow, 0), (Op::Sinh, 0), (Op::FMod, 0)] {
        let scalar = Scalar::Float(F16);
        let call = Call::new(op, scalar, assay_precision::Shape::Scalar, None, Modes::default()).expect("a call");
        let reference = call.reference();
        let mut near = 0;
        for _ in 0..60 {
            let ends: Vec<(i64, i64)> = call
                .operands
                .iter()
                .map(|_| {
                    let lo = F16.rank_of_one() + random.below(3 << F16.fraction_bits) as i64;
                    (lo, lo + 8 + random.below(40) as i64)
                })
                .collect();
            let operands: Vec<Operand> = ends.iter().map(|(lo, hi)| Operand::Set(Set::range(*lo, *hi))).collect();
            let of = |effort| reference.permitted_for_sets_with(effort, 0, &operands).permitted.usual;
            let enclosed = of(Effort::Enclose);
            let covered = of(Effort::Cover);
            let holds = |set: &Set, lo, hi| set.is_anything() || set.ranges().iter().any(|e| e.lo <= lo && hi <= e.hi);
            for _ in 0..20 {
                let mut member = |(lo, hi): &(i64, i64)| F16.bits(lo + random.below((hi - lo + 1) as u64) as i64);
                let bits: Vec<u64> = ends.iter().map(&mut member).collect();
                let one = reference.permitted(0, &bits).usual;
                for set in [&enclosed, &covered] {
                    let inside =
                        set.is_anything() || !one.is_anything() && one.ranges().iter().all(|r| holds(set, r.lo, r.hi));
                    assert!(inside, "{op} {operands:?} at {bits:x?}: {one:?} not in {set:?}");
                }
            }
            if op == Op::Sqrt
                && let (Some(a), Some(b)) = (of(Effort::Search).hull(), enclosed.hull())
            {
                let little = 8 + (a.hi - a.lo) / 4;
                near += u32::from(!enclosed.is_anything() && a.lo - b.lo <= little && b.hi - a.hi <= little);
            }
        }
        assert!(near >= least, "{op}: {near}");
    }
}
