//! Comparison of the bulk checker with the certified evaluation, pair by pair.

use assay_float::Rank;
use assay_precision::{Call, CheckCounts, Checker, Column, Verdict};

/// Number of result columns that a row is checked with.
const CANDIDATES: usize = 7;

/// Pairs that the checker decides together.
const GROUP: usize = 128;

/// Results that were compared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Compared {
    /// Number of results.
    pub(crate) results: u64,
    /// Number of these that are permitted or of which nothing is required.
    pub(crate) permitted: u64,
    /// Number of permitted results that the filter left to the certified evaluation.
    pub(crate) undecided: u64,
}

impl Compared {
    /// Adds the results of another row.
    pub(crate) fn add(&mut self, other: Compared) {
        self.results += other.results;
        self.permitted += other.permitted;
        self.undecided += other.undecided;
    }
}

/// Checks all pairs of these first operands with one second operand, with results at both ends of
/// the permitted set, next to it, and with zeros and NaNs. The verdicts of the bulk checker must be
/// those of the certified evaluation.
///
/// # Errors
/// The first difference.
pub(crate) fn compare_row(call: &Call, checker: &Checker, first: &[u32], second: u32) -> Result<Compared, String> {
    let reference = call.reference();
    let result = call.results[0].scalar;
    let sets: Vec<_> = first.iter().map(|&x| reference.permitted(0, &[x.into(), second.into()]).usual).collect();
    let seconds = vec![second; first.len()];
    let mut compared = Compared::default();
    for candidate in 0..CANDIDATES {
        let bits = |rank: Rank| match result.format() {
            Some(format) => format.bits(rank.clamp(format.neg_infinity(), format.infinity())),
            None => (rank as u64) & (u64::MAX >> (64 - result.width().max(1))),
        };
        let nan = result.format().map_or(1, |format| format.nan());
        let results: Vec<u32> = sets
            .iter()
            .map(|set| {
                let ends = set.hull().map_or((0, 0), |hull| (hull.lo, hull.hi));
                let bits = match candidate {
                    0 => bits(ends.0),
                    1 => bits(ends.1),
                    2 => bits(ends.0 - 1),
                    3 => bits(ends.1 + 1),
                    4 => bits(0),
                    5 => bits(-1),
                    _ => nan,
                };
                bits as u32
            })
            .collect();
        let check = |start: usize, end: usize, mut counts: CheckCounts| {
            let operands = [Column::Words(&first[start..end]), Column::Words(&seconds[start..end])];
            checker.check(&operands, &[Column::Words(&results[start..end])], &mut counts);
            counts
        };
        let expected = |i: usize| match &sets[i] {
            set if set.is_anything() => Verdict::Unchecked,
            set => {
                let held = match result.format() {
                    Some(format) => set.contains(format, results[i].into()),
                    None => set.contains_rank(results[i].into()),
                };
                if held { Verdict::Pass } else { Verdict::Fail }
            }
        };
        let count = |verdict: Verdict| (0..first.len()).filter(|&i| expected(i) == verdict).count() as u64;
        let (passed, unchecked) = (count(Verdict::Pass), count(Verdict::Unchecked));
        // With no margin known, groups are filtered lane by lane, and otherwise as a whole.
        let alone = check(0, first.len(), CheckCounts::default());
        let counts = check(0, first.len(), alone.next());
        for counts in [&alone, &counts] {
            let got = |verdict: Verdict| counts.verdicts.get(&verdict).copied().unwrap_or(0);
            if (got(Verdict::Pass), got(Verdict::Unchecked)) == (passed, unchecked) {
                continue;
            }
            let groups = (0..first.len()).step_by(GROUP).map(|start| (start, first.len().min(start + GROUP)));
            let wrong = groups.flat_map(|(start, end)| {
                let of_group = |counts: &CheckCounts| check(start, end, counts.next()).verdicts;
                let got = of_group(counts);
                let count = |verdict: Verdict| (start..end).filter(|&i| expected(i) == verdict).count() as u64;
                let of = |verdict: Verdict| got.get(&verdict).copied().unwrap_or(0);
                let same = [Verdict::Pass, Verdict::Unchecked].iter().all(|&verdict| of(verdict) == count(verdict));
                (!same).then_some((start, end, got))
            });
            let (start, end, got) = wrong.into_iter().next().unwrap_or((0, first.len(), counts.verdicts.clone()));
            let lanes: Vec<String> = (start..end)
                .map(|i| (i, check(i, i + 1, CheckCounts::default()).verdicts))
                .filter(|(i, verdicts)| expected(*i) <= Verdict::Pass && !verdicts.contains_key(&expected(*i)))
                .map(|(i, verdicts)| {
                    format!("{:#06x} giving {:#06x}: {:?}, not {verdicts:?}", first[i], results[i], expected(i))
                })
                .collect();
            return Err(format!(
                "{} in {} with {second:#06x} from {:#06x}: {got:?} in candidate {candidate}; alone {lanes:?}",
                call.op, call.modes, first[start],
            ));
        }
        compared.results += first.len() as u64;
        compared.permitted += passed + unchecked;
        compared.undecided += counts.certified.saturating_sub(first.len() as u64 - passed - unchecked);
    }
    Ok(compared)
}
