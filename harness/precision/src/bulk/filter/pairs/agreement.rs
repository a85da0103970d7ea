//! Agreement of the pair filter with the certified evaluation, result by result.
//!
//! Every instruction of two operands that the filter handles, in every environment that modes can
//! declare, with results at both ends of each permitted interval and next to them, of the wrong
//! sign, zeros, infinities, NaNs and arbitrary ones. `ASSAY_FULL=1` takes whole rows, that is all first
//! operands, with more second operands; `ASSAY_FULL=n` takes every n-th group of these.

use super::*;
use crate::{Call, Column, Denormals, FastMath, Modes, Shape, derivation::Derivation, environment::Environment};
use assay_float::{Rank, Set};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use std::{collections::HashSet, io::Write as _};

/// Results that each pair is judged with.
const RESULTS: usize = 20;

/// Second operands of halves: zeros, both ends of the denormal and normal numbers, powers of two with
/// their neighbours, ends of the range of divisors, infinities and NaNs.
const HALVES: [u32; 30] = [
    0x8000, 0x0000, 0x83ff, 0x0001, 0x3c00, 0x7c00, 0x7e01, 0xc8d3, 0x0400, 0x7bff, 0xfc00, 0x7c01, 0x8001, 0x03ff,
    0x8400, 0xfbff, 0xbc00, 0x3bff, 0x3c01, 0x4000, 0x3fff, 0x4248, 0x0401, 0x7400, 0x7401, 0xfe00, 0x0200, 0x1400,
    0xb555, 0x5bff,
];

/// Exponents of Ldexp.
const EXPONENTS: [i32; 20] =
    [-14, -15, 16, 0, -41, 17, -24, i32::MIN, 1, -1, 15, -25, -26, -13, 8, -200, -201, i32::MAX, -10, -39];

/// Arbitrary bits, equal in every run.
fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Every combination of modes with an effect on one instruction.
fn modes() -> impl Iterator<Item = Modes> {
    let denormals = [Denormals::Undeclared, Denormals::FlushToZero, Denormals::Preserve];
    let roundings = [Rounding::Undeclared, Rounding::Rte, Rounding::Rtz];
    let flags = (0..8).map(|bits| FastMath {
        not_nan: bits & 1 != 0,
        not_inf: bits & 2 != 0,
        nsz: bits & 4 != 0,
        ..FastMath::default()
    });
    let assumptions: Vec<(bool, Option<FastMath>)> =
        [(false, None), (true, None)].into_iter().chain(flags.map(|flags| (false, Some(flags)))).collect();
    denormals.into_iter().flat_map(move |denormals| {
        let assumptions = assumptions.clone();
        roundings.into_iter().flat_map(move |rounding| {
            assumptions.clone().into_iter().map(move |(preserve_special, fast_math)| Modes {
                denormals,
                rounding,
                preserve_special,
                fast_math,
                ..Modes::default()
            })
        })
    })
}

/// Calls of an instruction that the pair filter handles, one for each environment.
fn calls(op: Op) -> Vec<Call> {
    let int = |width, signed| Scalar::Int { width, signed };
    let scalars = [Scalar::Float(F16), int(16, true), int(16, false), int(8, true), int(8, false)];
    let mut environments: HashSet<(Scalar, Environment)> = HashSet::new();
    let all = scalars.into_iter().flat_map(|scalar| {
        let count = if scalar.format().is_some() { usize::MAX } else { 1 };
        modes().take(count).map(move |modes| (scalar, modes))
    });
    let calls = all.filter_map(|(scalar, modes)| Call::new(op, scalar, Shape::Scalar, None, modes).ok());
    calls
        .filter(|call| {
            let reference = call.reference();
            let [slot] = &reference.slots[..] else { return false };
            // Discrete operations of two operands do not round.
            let rounding = match slot.rule {
                ResultRule::Discrete(_) => Rounding::Undeclared,
                _ => slot.env.rounding,
            };
            let environment = Environment { rounding, ..slot.env };
            Filter::new(slot).is_some_and(|filter| filter.is_pair)
                && environments.insert((slot.inputs[0].1, environment))
        })
        .collect()
}

/// Results that were compared.
#[derive(Clone, Copy, Debug, Default)]
struct Comparison {
    results: u64,
    /// Number of results that are permitted or of which nothing is required.
    permitted: u64,
    /// Number of permitted results that the filter did not decide.
    undecided: u64,
    /// Number of margins that were held against the certified ones.
    margins: u64,
    /// Number of these that exceed the certified ones by more than the tolerance of the checker.
    loose: u64,
    /// Groups decided as a whole.
    groups: u64,
}

impl Comparison {
    fn add(&mut self, other: Comparison) {
        self.results += other.results;
        self.permitted += other.permitted;
        self.undecided += other.undecided;
        self.margins += other.margins;
        self.loose += other.loose;
        self.groups += other.groups;
    }
}

/// Results around the ends of a permitted set, and others.
fn candidates(set: &Set, result: Scalar, seed: u64) -> [u32; RESULTS] {
    let mut found = Vec::with_capacity(RESULTS + 12);
    let arbitrary = mixed(seed);
    let mask = u32::MAX >> (32 - result.width().clamp(1, 32));
    match result.format() {
        Some(format) => {
            let bits = |rank: Rank| format.bits(rank.clamp(format.neg_infinity(), format.infinity())) as u32;
            for range in set.ranges() {
                let (lo, hi) = (bits(range.lo), bits(range.hi));
                let inside = range.lo + (arbitrary >> 32) as Rank % (range.hi - range.lo + 1);
                found.extend([lo, hi, bits(range.lo - 1), bits(range.hi + 1), bits(inside), lo ^ 0x8000]);
            }
            found.extend([0, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0xfc01, 0x7bff, 0xfbff, 0x0001, 0x83ff, 0x0400]);
        }
        None => {
            for range in set.ranges() {
                let (lo, hi) = (range.lo as u32, range.hi as u32);
                found.extend([lo, hi, lo.wrapping_sub(1) & mask, (hi + 1) & mask, !lo & mask]);
            }
            found.extend([0, 1, mask, mask >> 1]);
        }
    }
    // The last ones are arbitrary, also for a set of many intervals.
    found.truncate(RESULTS - 1);
    std::array::from_fn(|i| found.get(i).copied().unwrap_or(mixed(seed ^ i as u64) as u32 & mask))
}

/// Judges all results of a group of pairs by both methods.
fn compare_group(call: &Call, slot: &ResultSlot, filter: &Filter, first: &[u32; LANES], second: u32) -> Comparison {
    let disabled = Derivation::disabled();
    let place = |i: usize, got: u32| {
        format!("{} in {} of {:#06x} and {second:#06x} giving {got:#06x}", call.op, call.modes, first[i])
    };
    let operands = |i: usize| [u64::from(first[i]), u64::from(second)];
    let sets: Vec<Set> = (0..LANES).map(|i| slot.evaluate(&operands(i), None, false, &disabled).set).collect();
    let seed = |i: usize| u64::from(first[i]) << 32 | u64::from(second);
    let results: Vec<[u32; RESULTS]> = (0..LANES).map(|i| candidates(&sets[i], slot.result, seed(i))).collect();
    let mut comparison = Comparison::default();
    let seconds = [second; LANES];
    let columns = (0..RESULTS).map(|k| std::array::from_fn::<u32, LANES, _>(|i| results[i][k]));
    for (k, got) in columns.enumerate() {
        let verdict = filter.judge_ordered_pairs([first, &seconds, &got], 77);
        let group = filter.group(&[Column::Words(first), Column::Words(&seconds)], Column::Words(&got), 0, LANES);
        let outcome = filter.judge_pairs(&group).expect("a pair");
        let (mut passed, mut unchecked) = (0, 0);
        for i in 0..LANES {
            let (anything, holds) = (sets[i].is_anything(), slot.holds(&sets[i], got[i].into()));
            unchecked += u64::from(anything);
            passed += u64::from(holds & !anything);
            let (passes, is_unchecked) = (outcome.passes(i), outcome.is_unchecked(i));
            assert!(!is_unchecked || anything, "{}: unchecked, and {:?} is permitted", place(i, got[i]), sets[i]);
            assert!(!passes || (holds && !anything), "{}: passed, and {:?} is permitted", place(i, got[i]), sets[i]);
            comparison.results += 1;
            comparison.permitted += u64::from(anything | holds);
            comparison.undecided += u64::from((anything | holds) & !passes & !is_unchecked);
            if passes && mixed(seed(i) + k as u64).is_multiple_of(32) {
                let margin = outcome.margins[i];
                let certified = slot.evaluate(&operands(i), Some(got[i].into()), false, &disabled).margin;
                let place = place(i, got[i]);
                assert!(margin >= certified.unwrap_or(0.0), "{place}: margin {margin}, certified {certified:?}");
                comparison.margins += 1;
                comparison.loose += u64::from(margin > certified.unwrap_or(0.0) + 1.0 / f64::from(1 << 18));
            }
        }
        let Some(verdict) = verdict else { continue };
        comparison.groups += 1;
        assert_eq!((verdict.counts.passed, verdict.counts.unchecked), (passed, unchecked), "{}", place(0, got[0]));
        // A permitted infinity has no margin.
        let margins = outcome.margins.iter().filter(|margin| **margin <= 1.0 && margin.is_sign_positive());
        assert_eq!(verdict.counts.worst, margins.copied().fold(-1.0, f64::max), "{}", place(0, got[0]));
    }
    comparison
}

/// An instruction in one environment.
struct Subject {
    call: Call,
    slot: ResultSlot,
    filter: Filter,
}

impl Subject {
    fn new(call: Call) -> Subject {
        let slot = call.reference().slots[0].clone();
        let filter = Filter::new(&slot).expect("a filter");
        if let (ResultRule::Formula(formula), Op::Pow) = (&filter.rule, call.op) {
            filter.pow_tables.get_or_init(|| PowTables::new(formula, &filter.env));
        }
        Subject { call, slot, filter }
    }

    /// Second operand of a row; the first ones are special.
    fn second(&self, row: usize) -> u32 {
        let arbitrary = mixed(row as u64) as u32;
        match self.slot.inputs[1].1 {
            Scalar::Int { width: 32, .. } => {
                EXPONENTS.get(row).map_or((arbitrary % 64).wrapping_sub(45), |n| n.cast_unsigned())
            }
            scalar => HALVES.get(row).copied().unwrap_or(arbitrary) & (u32::MAX >> (32 - scalar.width())),
        }
    }

    /// Compares one row: all groups of first operands from `start` with this stride, and those with
    /// zeros and denormals, infinities and NaNs.
    fn compare(&self, row: usize, stride: usize) -> Comparison {
        let groups = (1u32 << self.slot.inputs[0].1.width()) / LANES as u32;
        let special = [0, 7, 247, 248, groups / 2].map(|group| group % groups);
        let mut sum = Comparison::default();
        for group in special.into_iter().chain((0..groups).skip(row % stride).step_by(stride)) {
            let first: [u32; LANES] = std::array::from_fn(|lane| group * LANES as u32 + lane as u32);
            sum.add(compare_group(&self.call, &self.slot, &self.filter, &first, self.second(row)));
        }
        sum
    }
}

/// Holds all included instructions in all environments against the certified evaluation.
fn hold(is_included: impl Fn(Op) -> bool) {
    // `ASSAY_FULL=n` takes every n-th group of the rows.
    let stride = std::env::var("ASSAY_FULL").ok().map(|n| n.parse().unwrap_or(1));
    let rows = if stride.is_some() { 64 } else { 4 };
    let subjects = Op::ALL.iter().filter(|&&op| is_included(op)).flat_map(|&op| calls(op)).map(Subject::new);
    let subjects: Vec<Subject> = subjects.collect();
    assert!(!subjects.is_empty());
    let mut sums = vec![Comparison::default(); subjects.len()];
    for row in 0..rows {
        let compare = |subject: &Subject| subject.compare(row, stride.unwrap_or(1024));
        let found: Vec<Comparison> = subjects.par_iter().map(compare).collect();
        sums.iter_mut().zip(found).for_each(|(sum, found)| sum.add(found));
        if stride.is_some() {
            let all = sums.iter().fold(Comparison::default(), |mut all, &sum| {
                all.add(sum);
                all
            });
            let (subjects, rows) = (subjects.len(), row + 1);
            _ = writeln!(std::io::stderr(), "{subjects} instructions and environments, {rows} rows: {all:?}");
        }
    }
    for (Subject { call, .. }, sum) in subjects.iter().zip(sums) {
        // A filter that decides nothing would be useless and would pass.
        assert!(2 * sum.undecided < sum.permitted, "{} in {}: {sum:?}", call.op, call.modes);
        // Zeros of the other sign, which the certified evaluation also reads denormals as, may give
        // less.
        assert!(4 * sum.loose <= sum.margins, "{} in {}: {sum:?}", call.op, call.modes);
        assert!(sum.groups > 0, "{} in {}: {sum:?}", call.op, call.modes);
    }
}

const INHERITED: [Op; 3] = [Op::Pow, Op::FMod, Op::FRem];
const STATED: [Op; 6] = [Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::Atan2, Op::Ldexp];

#[test]
fn pairs_with_a_stated_bound_pass_as_in_the_certified_evaluation() {
    hold(|op| STATED.contains(&op));
}

#[test]
fn pairs_with_an_inherited_bound_pass_as_in_the_certified_evaluation() {
    hold(|op| INHERITED.contains(&op));
}

#[test]
fn other_pairs_pass_as_in_the_certified_evaluation() {
    hold(|op| !STATED.contains(&op) && !INHERITED.contains(&op));
}
