//! Rounding to ranks, compared with a search through all values.

use crate::common::{Random, big, fast};
use assay_float::{BF16, BigEnclosure, Dyadic, Enclosure, F8_E4M3, F8_E5M2, F16, F32, F64, F64Enclosure, Format, Rank};

/// Finite values of a small format in ascending order, without -0, which precedes +0.
fn values(format: Format) -> Vec<(Rank, f64)> {
    let ranks = format.neg_infinity() + 1..=format.max_finite();
    ranks.filter(|&rank| rank != -1).map(|rank| (rank, format.to_f64(format.bits(rank)))).collect()
}

/// Ceiling, floor and nearest rank by their definitions.
fn search(format: Format, values: &[(Rank, f64)], x: f64) -> [Rank; 3] {
    if x == 0.0 {
        return [-1, 0, 0];
    }
    // Ranks around x. The ceiling of a negative number that rounds to zero is -0.
    let above = values.partition_point(|&(_, value)| value < x);
    let ceil = match values.get(above) {
        Some(&(0, _)) => -1,
        Some(&(rank, _)) => rank,
        None => format.infinity(),
    };
    let below = values.partition_point(|&(_, value)| value <= x);
    let floor = if below == 0 { format.neg_infinity() } else { values[below - 1].0 };
    let max = format.to_f64(format.max_finite() as u64);
    let threshold = max + 2f64.powi(format.max_exponent() - format.fraction_bits as i32 - 1);
    let nearest = if x.abs() >= threshold {
        if x > 0.0 { format.infinity() } else { format.neg_infinity() }
    } else if ceil == floor || ceil == format.infinity() {
        floor
    } else if floor == format.neg_infinity() {
        ceil
    } else {
        let (low, high) = (format.to_f64(format.bits(floor)), format.to_f64(format.bits(ceil)));
        let even = |rank: Rank| format.bits(rank).is_multiple_of(2);
        match (x - low).partial_cmp(&(high - x)).unwrap() {
            std::cmp::Ordering::Less => floor,
            std::cmp::Ordering::Greater => ceil,
            std::cmp::Ordering::Equal => {
                if even(floor) {
                    floor
                } else {
                    ceil
                }
            }
        }
    };
    // A zero takes the sign of the number.
    let nearest = if nearest == 0 && x < 0.0 { -1 } else { nearest };
    [ceil, floor, nearest]
}

fn ranks<R: Enclosure>(value: &R, format: Format) -> [Rank; 3] {
    [value.ceil_rank(format).unwrap(), value.floor_rank(format).unwrap(), value.nearest_rank(format).unwrap()]
}

#[test]
fn small_formats_agree_with_a_search() {
    for format in [F8_E4M3, F8_E5M2, F16, BF16] {
        let values = values(format);
        let mut points =
            vec![1e30, 1e39, 3.5e38, 65_536.0, 65_520.0, 464.0, 448.0, 480.0, 512.0, 61_440.0, 57_344.0, 1e300, 5e-324];
        for pair in values.windows(2) {
            let ((_, low), (_, high)) = (pair[0], pair[1]);
            let middle = low + (high - low) / 2.0;
            for x in [low, middle] {
                points.extend([x, x.next_up(), x.next_down()]);
            }
        }
        let (_, max) = *values.last().unwrap();
        let half = 2f64.powi(format.max_exponent() - format.fraction_bits as i32 - 1);
        for x in [max, max + half, max + 2.0 * half, max + 4.0 * half] {
            points.extend([x, x.next_up(), x.next_down()]);
        }
        for x in points.clone() {
            points.push(-x);
        }
        for x in points {
            let expected = search(format, &values, x);
            assert_eq!(ranks(&fast(x), format), expected, "{} {x:e}", format.name);
            assert_eq!(ranks(&big(x, 96), format), expected, "{} {x:e}", format.name);
        }
    }
}

#[test]
fn singles_agree_with_the_host() {
    let mut random = Random::new(20);
    let halfway_max = 2f64.powi(128) - 2f64.powi(103);
    let mut points =
        vec![halfway_max, halfway_max.next_down(), f64::MAX, 1e-46, 2f64.powi(-150), 2f64.powi(-150).next_up()];
    for _ in 0..200_000 {
        let single = f32::from_bits(random.bits() as u32);
        if single.is_finite() {
            let (x, next) = (f64::from(single), f64::from(single.next_up()));
            points.extend([x, x.next_up(), x.next_down(), -x]);
            if next.is_finite() {
                points.extend([(x + next) / 2.0, ((x + next) / 2.0).next_up(), ((x + next) / 2.0).next_down()]);
            }
        }
    }
    for x in points {
        let nearest = x as f32;
        let (ceil, floor) = (
            if f64::from(nearest) >= x { nearest } else { nearest.next_up() },
            if f64::from(nearest) <= x { nearest } else { nearest.next_down() },
        );
        let rank = |x: f32| F32.rank(x.to_bits().into());
        let mut expected = [rank(ceil), rank(floor), rank(nearest)];
        if x == 0.0 {
            expected = [-1, 0, 0];
        }
        assert_eq!(ranks(&fast(x), F32), expected, "{x:e}");
        assert_eq!(ranks(&big(x, 96), F32), expected, "{x:e}");
    }
}

#[test]
fn doubles_round_at_their_middles() {
    let mut random = Random::new(21);
    for _ in 0..50_000 {
        let x = f64::from_bits(random.bits());
        if !x.is_finite() || x == 0.0 || x.abs() == f64::MAX {
            continue;
        }
        let rank = F64.rank(x.to_bits());
        let value = big(x, 200);
        assert_eq!(ranks(&value, F64), [rank; 3]);
        // Half of the distance to the next value away from zero, and more and less.
        let outward = F64.rank((x.to_bits() + 1) & F64.mask());
        let half = value.sub(&big(f64::from_bits(x.to_bits() + 1), 200)).mul(&big(-0.5, 200));
        let middle = value.add(&half);
        let step = half.mul(&big(2f64.powi(-40), 200));
        let even = if x.to_bits().is_multiple_of(2) { rank } else { outward };
        let (low, high) = (rank.min(outward), rank.max(outward));
        assert_eq!(ranks(&middle, F64), [high, low, even]);
        assert_eq!(ranks(&middle.add(&step), F64), [high, low, outward]);
        assert_eq!(ranks(&middle.sub(&step), F64), [high, low, rank]);
    }
    // The thresholds of overflow and of half of the smallest denormal.
    let ulp = Dyadic::pow2(970);
    let edge = big(f64::MAX, 200).add(&BigEnclosure::exact(ulp, 200));
    assert_eq!(ranks(&edge, F64), [F64.infinity(), F64.max_finite(), F64.infinity()]);
    let below = edge.sub(&big(1.0, 2000));
    assert_eq!(ranks(&below, F64), [F64.infinity(), F64.max_finite(), F64.max_finite()]);
    assert_eq!(ranks(&edge.neg(), F64), [F64.neg_infinity() + 1, F64.neg_infinity(), F64.neg_infinity()]);
    let half = BigEnclosure::exact(Dyadic::pow2(-1075), 200);
    assert_eq!(ranks(&half, F64), [1, 0, 0]);
    assert_eq!(ranks(&half.neg(), F64), [-1, -2, -1]);
    assert_eq!(ranks(&BigEnclosure::exact(Dyadic::new(false, 3, -1076), 200), F64), [1, 0, 1]);
    assert_eq!(ranks(&F64Enclosure::exact(Dyadic::new(false, 3, -1076), ()).lower(), F64)[..2], [-1, 0]);
}

#[test]
fn powers_of_two_belong_to_the_binade_below() {
    let check = |x: f64, binade: i32| {
        assert_eq!(big(x, 96).binade(), Ok(binade), "{x:e}");
        assert_eq!(fast(x).binade(), Ok(binade), "{x:e}");
    };
    for e in -1074..1024 {
        let x = 2f64.powi(e.max(-1022)) * 2f64.powi(e.min(-1022) + 1022);
        check(x, e - 1);
        check(-x, e - 1);
        check(x.next_up(), e);
        if e > -1073 {
            check(x.next_down(), e - 1);
        }
    }
    let one = big(1.0, 96);
    assert!(one.sub(&one).binade().is_err() && one.hull(&big(1.5, 96)).binade().is_err());
    assert!(one.hull(&big(-1.0, 96)).binade().is_err() && fast(1.0).hull(&fast(-1.0)).binade().is_err());
    assert!(fast(0.0).binade().is_err());
}

#[test]
fn wide_intervals_are_undecided() {
    let (low, high) = (fast(1.0), fast(1.0f64.next_up()));
    let both = low.hull(&high);
    assert_eq!(both.floor_rank(F32), Ok(F32.rank(1f32.to_bits().into())));
    assert!(both.ceil_rank(F32).is_err() && both.nearest_rank(F64).is_err());
    let zero = fast(0.0).hull(&fast(-1e-300));
    assert!(zero.nearest_rank(F32).is_err() && zero.ceil_rank(F32) == Ok(-1) && zero.floor_rank(F32).is_err());
}

#[test]
fn the_members_of_an_interval_leave_out_open_ends() {
    // Just above one, by less than either precision resolves: one itself is not a member.
    fn check<R: Enclosure>(precision: R::Precision) {
        let exact = |value| R::exact(value, precision);
        let above = exact(Dyadic::ONE).add(&exact(Dyadic::pow2(-10_000)));
        let one = F32.rank_of_one();
        assert_eq!(above.member_ranks(F32), (one + 1, one));
        let wide = above.hull(&exact(Dyadic::int(2)));
        assert_eq!(wide.member_ranks(F32), (one + 1, F32.rank(2f32.to_bits().into())));
        assert_eq!(exact(Dyadic::ZERO).member_ranks(F32), (-1, 0));
    }
    check::<F64Enclosure>(());
    check::<BigEnclosure>(96);
}
