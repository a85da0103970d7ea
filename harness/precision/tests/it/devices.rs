//! Synthetic devices that run through the bulk checker.

use assay_float::{F32, F64, Set};
use assay_precision::{
    Call, CheckCounts, Checker, Column, Modes, Op, Permitted, Scalar, Shape, Verdict,
    synthetic::{Random, conforming, violating},
};

/// Environments in which the devices run.
const MODES: [&[&str]; 12] = [
    &[],
    &["DenormPreserve"],
    &["DenormFlushToZero"],
    &["RoundingModeRTE"],
    &["RoundingModeRTZ"],
    &["SignedZeroInfNanPreserve"],
    &["DenormPreserve", "RoundingModeRTE", "SignedZeroInfNanPreserve"],
    &["DenormFlushToZero", "RoundingModeRTZ"],
    &["None"],
    &["NSZ", "NotInf"],
    &["AllowTransform"],
    // For conversions to float8 only.
    &["SaturatedToLargestFloat8NormalConversionEXT", "SignedZeroInfNanPreserve"],
];

/// Score of a device.
#[derive(Debug, Default)]
pub(crate) struct Score {
    /// Number of results of the conforming device, and of those that were neither passed nor
    /// unchecked.
    pub(crate) conforming: (u64, u64),
    /// Number of results of the violating device, and of those that were neither failed nor, if a
    /// second reading permits them, warned about.
    pub(crate) violating: (u64, u64),
    /// First false verdicts, in words.
    pub(crate) examples: Vec<String>,
}

/// Every row on every type, in one shape each.
pub(crate) fn calls() -> Vec<Call> {
    let mut calls = Vec::new();
    for &op in Op::ALL {
        for &scalar in Call::scalars(op) {
            for (k, names) in MODES.iter().enumerate() {
                let shapes = Call::shapes(op);
                let shape =
                    if matches!(shapes[0], Shape::Scalar) && k % 2 == 0 { shapes[0] } else { shapes[k % shapes.len()] };
                let modes = names.iter().fold(Modes::default(), |m, name| m.with(name).expect("a mode"));
                let sources = Call::sources(op);
                let from = sources.iter().copied().filter(|s| *s != scalar).nth(k % sources.len().max(1));
                let from = from.or_else(|| sources.iter().copied().find(|s| *s != scalar));
                calls.extend(Call::new(op, scalar, shape, from, modes));
            }
        }
    }
    calls
}

/// Runs both devices for this many results of a call.
pub(crate) fn run(call: &Call, results: usize, seed: u64, score: &mut Score) {
    let mut random = Random::new(seed);
    let operands: Vec<Scalar> = call.operand_slots().collect();
    let slots: Vec<Scalar> = call.result_slots().collect();
    let reference = call.reference();
    let mut right = Rows::new(&operands, &slots);
    let mut wrong = Rows::new(&operands, &slots);
    let mut expected = Vec::new();
    while right.len() * slots.len() < results {
        let x: Vec<u64> = operands.iter().map(|&s| random.operand(s)).collect();
        if !call.is_defined(&x) {
            continue;
        }
        let sets: Vec<_> = (0..slots.len()).map(|slot| reference.permitted(slot, &x)).collect();
        let good: Option<Vec<u64>> =
            sets.iter().zip(&slots).map(|(p, &s)| conforming(&p.usual, s, &mut random)).collect();
        let Some(good) = good else {
            score.conforming.1 += 1;
            score.examples.push(format!("{} {:?} {x:x?}: nothing is permitted", call.op, call.modes.names()));
            return;
        };
        right.push(&x, &good);
        // One wrong slot at a time.
        let slot = random.below(slots.len() as u64) as usize;
        for bad in violating(&sets[slot].usual, slots[slot]) {
            let mut got = good.clone();
            got[slot] = bad;
            wrong.push(&x, &got);
            let lenient = permits_leniently(&sets[slot], slots[slot], bad);
            expected.push(if lenient { Verdict::QualityWarning } else { Verdict::Fail });
        }
    }
    let checker = Checker::new(call.clone());
    let counts = right.check(&checker);
    score.conforming.0 += (right.len() * slots.len()) as u64;
    let accused = counts.failing_inputs + counts.warning_inputs;
    if accused > 0 {
        score.conforming.1 += accused;
        score.examples.push(format!("accused: {} {:?} {:?}", call.op, call.modes.names(), counts.examples));
    }
    let counts = wrong.check(&checker);
    let count = |verdict| expected.iter().filter(|v| **v == verdict).count() as u64;
    let missed = expected.len() as u64 - (counts.failing_inputs + counts.warning_inputs).min(expected.len() as u64);
    let confused = counts.failing_inputs.abs_diff(count(Verdict::Fail));
    score.violating.0 += expected.len() as u64;
    score.violating.1 += missed.max(confused);
    if missed.max(confused) > 0 {
        let example = (0..expected.len()).find_map(|row| wrong.only(row, &operands, &slots, &checker, expected[row]));
        let modes = call.modes.names();
        score
            .examples
            .push(format!("missed {missed}, {confused} the wrong verdict: {} {modes:?} {example:x?}", call.op));
    }
}

/// Returns true if the second reading permits a result.
fn permits_leniently(permitted: &Permitted, slot: Scalar, bits: u64) -> bool {
    permitted.lenient.as_ref().is_some_and(|lenient| match slot.format() {
        Some(format) => lenient.set.contains(format, bits),
        None => lenient.set.contains_rank(bits.cast_signed()),
    })
}

/// Number of operands of a [`sweep`]: one group that is decided at once, and one after it.
const SWEPT: u32 = 256;

/// Number of results of a sweep that are made wrong, one at a time.
const PLANTED: u64 = 4;

/// Runs both devices on consecutive operands, as an exhaustive run does. Groups of these are
/// decided at once if no result is worse than an earlier one; both devices therefore start from the
/// counts of the right results. Does nothing unless the call is a function of one `f32`.
pub(crate) fn sweep(call: &Call, seed: u64, score: &mut Score) {
    let operands: Vec<Scalar> = call.operand_slots().collect();
    let slots: Vec<Scalar> = call.result_slots().collect();
    let ([Scalar::Float(F32)], &[slot]) = (&operands[..], &slots[..]) else { return };
    let mut random = Random::new(seed);
    let first = random.operand(operands[0]) & !u64::from(SWEPT - 1);
    let x: Vec<u64> = (first..).take(SWEPT as usize).collect();
    if !x.iter().all(|&x| call.is_defined(&[x])) {
        return;
    }
    let (reference, checker) = (call.reference(), Checker::new(call.clone()));
    let sets: Vec<_> = x.iter().map(|&x| reference.permitted(0, &[x])).collect();
    let good: Option<Vec<u64>> = sets.iter().map(|p| inside(&p.usual, slot, &mut random)).collect();
    let good = good.expect("something is permitted");
    let rows = |results: &[u64]| {
        let mut rows = Rows::new(&operands, &slots);
        x.iter().zip(results).for_each(|(&x, &got)| rows.push(&[x], &[got]));
        rows
    };
    let told = |counts: &CheckCounts, what: &str| {
        format!("{what}: {} {:?} from {first:#x}: {counts:x?}", call.op, call.modes.names())
    };

    let right = rows(&good).check(&checker);
    let mut again = right.next();
    rows(&good).add_to(&checker, &mut again);
    for counts in [&right, &again] {
        score.conforming.0 += u64::from(SWEPT);
        let accused = counts.failing_inputs + counts.warning_inputs;
        if accused > 0 {
            score.conforming.1 += accused;
            score.examples.push(told(counts, "accused in a sweep"));
        }
    }
    for _ in 0..PLANTED {
        let lane = random.below(u64::from(SWEPT)) as usize;
        for bad in violating(&sets[lane].usual, slot) {
            let mut results = good.clone();
            results[lane] = bad;
            let mut counts = right.next();
            rows(&results).add_to(&checker, &mut counts);
            let expected = if permits_leniently(&sets[lane], slot, bad) { (0, 1) } else { (1, 0) };
            score.violating.0 += 1;
            if (counts.failing_inputs, counts.warning_inputs) != expected {
                score.violating.1 += 1;
                score.examples.push(told(&counts, &format!("missed in a sweep, {bad:#x} for {:#x}", x[lane])));
            }
        }
    }
}

/// Random member well inside the longest range of a set, as a good device returns it. `None` if the
/// set is empty.
fn inside(set: &Set, scalar: Scalar, random: &mut Random) -> Option<u64> {
    let range = set.ranges().iter().max_by_key(|range| range.hi.abs_diff(range.lo));
    let Some(range) = range.filter(|_| !set.is_anything()) else { return conforming(set, scalar, random) };
    let length = range.hi.abs_diff(range.lo);
    let rank = range.lo.wrapping_add((length / 4 + random.below(length / 2 + 1)).cast_signed());
    Some(match scalar.format() {
        Some(format) => format.bits(rank),
        None => rank.cast_unsigned(),
    })
}

/// Operands and results, by columns.
struct Rows {
    operands: Vec<Store>,
    results: Vec<Store>,
}

/// One column, in the width of the device's buffer.
enum Store {
    Words(Vec<u32>),
    Wide(Vec<u64>),
}

impl Store {
    fn of(scalar: Scalar) -> Store {
        if scalar.width() > F64.width / 2 { Store::Wide(Vec::new()) } else { Store::Words(Vec::new()) }
    }

    fn push(&mut self, bits: u64) {
        match self {
            Store::Words(words) => words.push(bits as u32),
            Store::Wide(words) => words.push(bits),
        }
    }

    fn column(&self) -> Column<'_> {
        match self {
            Store::Words(words) => Column::Words(words),
            Store::Wide(words) => Column::Wide(words),
        }
    }
}

impl Rows {
    fn new(operands: &[Scalar], results: &[Scalar]) -> Rows {
        let stores = |scalars: &[Scalar]| scalars.iter().map(|&s| Store::of(s)).collect();
        Rows { operands: stores(operands), results: stores(results) }
    }

    fn len(&self) -> usize {
        self.results[0].column().len()
    }

    fn push(&mut self, x: &[u64], got: &[u64]) {
        for (store, &bits) in self.operands.iter_mut().zip(x).chain(self.results.iter_mut().zip(got)) {
            store.push(bits);
        }
    }

    /// Operands and results of a row whose verdict is not the expected one.
    fn only(
        &self,
        row: usize,
        operands: &[Scalar],
        results: &[Scalar],
        checker: &Checker,
        expected: Verdict,
    ) -> Option<(Vec<u64>, Vec<u64>)> {
        let bits = |stores: &[Store]| -> Vec<u64> { stores.iter().map(|s| s.column().get(row)).collect() };
        let (x, got) = (bits(&self.operands), bits(&self.results));
        let mut one = Rows::new(operands, results);
        one.push(&x, &got);
        (!one.check(checker).verdicts.contains_key(&expected)).then_some((x, got))
    }

    fn check(&self, checker: &Checker) -> CheckCounts {
        let mut counts = CheckCounts::default();
        self.add_to(checker, &mut counts);
        counts
    }

    fn add_to(&self, checker: &Checker, counts: &mut CheckCounts) {
        let operands: Vec<Column<'_>> = self.operands.iter().map(Store::column).collect();
        let results: Vec<Column<'_>> = self.results.iter().map(Store::column).collect();
        checker.check(&operands, &results, counts);
    }
}
