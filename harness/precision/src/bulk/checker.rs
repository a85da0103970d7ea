//! Bulk checker: checks many results at once with the floating-point filter in front of the
//! certified evaluation, and counts the verdicts.

use crate::{
    Call, CheckCounts, Column, Observation, Reference, Scalar, Verdict,
    bulk::filter::{BLOCK, Filter, GroupCounts, LaneGroup, OperandBlock},
    bulk::profile::OperandGroup,
    bulk::simd::arithmetic::LANES,
};
use smallvec::SmallVec;
use std::sync::Arc;

/// Bulk checker for the results of one call. Cheap to share between threads.
///
/// The filter decides most results in groups. A result that it leaves undecided goes to
/// [`Reference::judge`]. The verdicts are those of the certified evaluation, and so is the margin
/// of [`CheckCounts::worst`].
///
/// # Limits
///
/// The result reported as the worst may not be the very worst: a passing result may have a margin
/// greater by at most 2^-18, or by at most a 32nd of it where the margin is below an eighth. Where
/// the bound is inherited and the operands are consecutive, a further 256th of it is added.
#[derive(Clone, Debug)]
pub struct Checker {
    call: Call,
    reference: Arc<Reference>,
    filters: Arc<[Option<Filter>]>,
    /// Type of the first operand, along which the profile of margins is kept.
    first: Option<Scalar>,
}

/// Greatest filter margin that is not examined while the worst margin is `worst`: filter margins
/// may be a little too great.
fn tolerated_margin(worst: f64) -> f64 {
    let least = 1.0 / (1 << 18) as f64;
    if worst < 0.125 { worst + (worst / 32.0).max(least) } else { worst + least }
}

/// Factor by which filter margins of a group with a common bound may be too great even if that
/// bound is as tight as possible.
const OVERESTIMATE: f64 = 1.0 + 1.0 / 256.0;

/// The profile may show exaggerated margins up to this (see [`Profile`]).
const NEGLIGIBLE: f64 = 1.0 / 16.0;

impl Checker {
    /// Checker for one call.
    pub fn new(call: Call) -> Checker {
        let reference = Arc::new(call.reference());
        let filters = reference.slots.iter().map(Filter::new).collect();
        let first = call.operand_slots().next();
        Checker { call, reference, filters, first }
    }

    /// The call that is checked.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Checks every invocation. `operands` has one column for each operand scalar, `results` one
    /// for each result scalar, all of equal length.
    ///
    /// # Panics
    /// Panics if the numbers or lengths of the columns are wrong.
    pub fn check(&self, operands: &[Column<'_>], results: &[Column<'_>], counts: &mut CheckCounts) {
        assert_eq!(operands.len(), self.call.operand_slots().count(), "a column per operand slot");
        assert_eq!(results.len(), self.call.result_slots().count(), "a column per result slot");
        let len = results[0].len();
        assert!(operands.iter().chain(results).all(|c| c.len() == len), "columns of one length");
        let columns = Columns { operands, results, len };
        let mut worst = WorstMargin { margin: counts.worst_margin(), ..WorstMargin::default() };
        for first in (0..len).step_by(BLOCK) {
            let block = self.block(&columns, first);
            for start in (first..len.min(first + BLOCK)).step_by(LANES) {
                let group_counts =
                    block.as_ref().and_then(|s| self.check_group_of_block(s, &columns, first, start, &worst, counts));
                let greatest = group_counts.unwrap_or_else(|| self.check_group(&columns, start, &mut worst, counts));
                worst.groups.push(greatest);
            }
        }
        self.find_worst(&columns, &worst, counts);
    }

    /// Writes the greatest margin of the results of each invocation: negative where nothing is
    /// required of them, infinite where a failing one has no margin. A margin of passing results may
    /// be a little too great.
    ///
    /// # Panics
    /// As [`Checker::check`], and if the length of `margins` is wrong.
    pub fn margins(&self, operands: &[Column<'_>], results: &[Column<'_>], margins: &mut [f32]) {
        let columns = Columns { operands, results, len: margins.len() };
        assert!(operands.iter().chain(results).all(|c| c.len() == columns.len), "columns of one length");
        for (group, margins) in margins.chunks_mut(LANES).enumerate() {
            let start = group * LANES;
            margins.fill(-1.0);
            for (slot, filter) in self.filters.iter().enumerate() {
                let outcome = filter.as_ref().and_then(|s| s.least_margins(&columns.group(s, slot, start)));
                for (lane, margin) in margins.iter_mut().enumerate() {
                    let found = match &outcome {
                        Some(outcome) if outcome.passes(lane) => Some(outcome.margins[lane].abs()),
                        Some(outcome) if outcome.is_unchecked(lane) => None,
                        _ => self.certified_margin(&columns, slot, start + lane),
                    };
                    *margin = found.map_or(*margin, |found| margin.max(found as f32));
                }
            }
        }
    }

    /// Margin of one result by the certified evaluation; `None` if nothing is required of it.
    fn certified_margin(&self, columns: &Columns<'_>, slot: usize, index: usize) -> Option<f64> {
        let (x, got) = columns.row(slot, index);
        let judgement = self.reference.judge(slot, &x, got);
        match judgement.verdict {
            Verdict::Unchecked => None,
            Verdict::Fail => Some(judgement.margin.unwrap_or(f64::INFINITY)),
            Verdict::Pass | Verdict::QualityWarning => Some(judgement.margin.unwrap_or(0.0)),
        }
    }

    /// Quadratic filter for the operands from `first` on, if they form a block of an ordered
    /// sweep.
    fn block(&self, columns: &Columns<'_>, first: usize) -> Option<OperandBlock<'_>> {
        let (&[Column::Words(operands)], [_]) = (columns.operands, columns.results) else { return None };
        self.filters[0].as_ref()?.block(&operands[first..columns.len.min(first + BLOCK)])
    }

    /// Decides a group of a block that contains nothing worse than the worst so far, as nearly
    /// all groups do. Returns the group's greatest filter margin.
    fn check_group_of_block(
        &self,
        block: &OperandBlock<'_>,
        columns: &Columns<'_>,
        first: usize,
        start: usize,
        worst: &WorstMargin,
        counts: &mut CheckCounts,
    ) -> Option<f64> {
        let scalar = self.first?;
        let Column::Words(results) = columns.results[0] else { return None };
        let group = results.get(start..start + LANES)?.first_chunk()?;
        let reported_lane =
            OperandGroup { operands: columns.operands[0], start, count: LANES }.representative_lane(scalar)?;
        let operand = columns.operands[0].get(start);
        // Margins below the worst nearby add nothing to the profile.
        let nearby = counts.profile.greatest(scalar, operand).max(NEGLIGIBLE);
        let overestimates = block.overestimates();
        let least = match overestimates {
            true => (tolerated_margin(worst.margin) * OVERESTIMATE).min(nearby * (1.0 + 1.0 / 64.0)),
            false => tolerated_margin(worst.margin),
        };
        let verdict = block.judge_group((start - first) / LANES, group, reported_lane, least)?;
        counts.inputs += LANES as u64;
        counts.add(Verdict::Pass, verdict.counts.passed);
        counts.add(Verdict::Unchecked, verdict.counts.unchecked);
        let greatest = if overestimates { verdict.counts.worst.min(nearby) } else { verdict.counts.worst };
        counts.profile.add_ordered_group(scalar, operand, verdict.reported_margin, greatest);
        // A margin that was tolerated here must not be examined again in the search for the worst.
        Some(if overestimates { verdict.counts.worst / OVERESTIMATE } else { verdict.counts.worst })
    }

    /// Checks a group of invocations. Returns the greatest filter margin among the results that
    /// passed.
    fn check_group(
        &self,
        columns: &Columns<'_>,
        start: usize,
        worst: &mut WorstMargin,
        counts: &mut CheckCounts,
    ) -> f64 {
        let count = columns.count(start);
        counts.inputs += count as u64;
        // Worst verdict of each invocation of which a result is checked alone.
        let mut verdicts = Vec::new();
        let (mut passed, mut unchecked, mut greatest) = (0, 0, -1f64);
        for slot in 0..columns.results.len() {
            if let Some(group_counts) =
                self.check_ordered_group(columns, slot, start, tolerated_margin(worst.margin), counts)
            {
                passed += group_counts.passed;
                unchecked += group_counts.unchecked;
                greatest = group_counts.worst.max(greatest);
                continue;
            }
            let group = self.filters[slot].as_ref().map(|s| (s, columns.group(s, slot, start)));
            // The first method decides most groups, the whole rule almost all others.
            let by_inner_bound = group.as_ref().and_then(|(filter, group)| {
                let outcome = filter.judge_by_inner_bound(group)?;
                Some((outcome.group_counts(count)?, outcome))
            });
            let (group_counts, outcome) = match (by_inner_bound, &group) {
                (Some((group_counts, outcome)), _) => (Some(group_counts), Some(outcome)),
                (None, Some((filter, group))) => {
                    let outcome = filter.judge_by_rule(group);
                    (outcome.as_ref().and_then(|s| s.group_counts(count)), outcome)
                }
                (None, None) => (None, None),
            };
            if let (Some(group_counts), Some(outcome)) = (group_counts, &outcome) {
                passed += group_counts.passed;
                unchecked += group_counts.unchecked;
                greatest = group_counts.worst.max(greatest);
                if group_counts.worst > worst.margin {
                    let lane = (0..count).find(|&i| outcome.margins[i] == group_counts.worst);
                    worst.set(group_counts.worst, slot, start + lane.unwrap_or_default());
                }
                if let Some(scalar) = self.first {
                    let margin = |lane| if outcome.is_unchecked(lane) { -1.0 } else { outcome.margins[lane] };
                    let group = OperandGroup { operands: columns.operands[0], start, count };
                    counts.profile.add_group(scalar, group, margin, group_counts.worst);
                }
                continue;
            }
            verdicts.resize(count, Verdict::Unchecked);
            for (lane, verdict) in verdicts.iter_mut().enumerate() {
                if let Some(outcome) = &outcome {
                    if outcome.passes(lane) {
                        passed += 1;
                        let margin = outcome.margins[lane];
                        if margin.is_sign_positive() {
                            greatest = margin.max(greatest);
                        }
                        if margin.is_sign_positive() && margin > worst.margin {
                            worst.set(margin, slot, start + lane);
                        }
                        if let Some(scalar) = self.first {
                            counts.profile.add(scalar, columns.operands[0].get(start + lane), margin);
                        }
                        continue;
                    }
                    if outcome.is_unchecked(lane) {
                        unchecked += 1;
                        continue;
                    }
                }
                *verdict = (*verdict).max(self.check_one(columns, slot, start + lane, counts));
            }
            worst.margin = worst.margin.max(counts.worst_margin());
        }
        counts.add(Verdict::Pass, passed);
        counts.add(Verdict::Unchecked, unchecked);
        counts.failing_inputs += verdicts.iter().filter(|v| **v == Verdict::Fail).count() as u64;
        counts.warning_inputs += verdicts.iter().filter(|v| **v == Verdict::QualityWarning).count() as u64;
        greatest
    }

    /// Decides a group of an ordered sweep that contains no margin above `margin`, as nearly all
    /// groups do.
    fn check_ordered_group<'a>(
        &self,
        columns: &Columns<'a>,
        slot: usize,
        start: usize,
        margin: f64,
        counts: &mut CheckCounts,
    ) -> Option<GroupCounts> {
        let scalar = self.first?;
        let filter = self.filters[slot].as_ref()?;
        let count = columns.count(start);
        let reported_lane = OperandGroup { operands: columns.operands[0], start, count }.representative_lane(scalar)?;
        let group = |column: Column<'a>| match column {
            Column::Words(words) => words.get(start..start + LANES)?.first_chunk(),
            Column::Wide(_) => None,
        };
        let results = group(columns.results[slot])?;
        let verdict = match *columns.operands {
            [operands] => filter.judge_ordered(group(operands)?, results, reported_lane)?,
            [first, second] => filter.judge_ordered_pairs([group(first)?, group(second)?, results], reported_lane)?,
            _ => return None,
        };
        if verdict.counts.worst > margin {
            return None;
        }
        let first = columns.operands[0].get(start);
        counts.profile.add_ordered_group(scalar, first, verdict.reported_margin, verdict.counts.worst);
        Some(verdict.counts)
    }

    /// Checks one result with the certified evaluation.
    fn check_one(&self, columns: &Columns<'_>, slot: usize, index: usize, counts: &mut CheckCounts) -> Verdict {
        let (x, got) = columns.row(slot, index);
        let judgement = self.reference.judge(slot, &x, got);
        counts.certified += 1;
        if let (Some(scalar), Some(margin)) = (self.first, judgement.margin) {
            counts.profile.add(scalar, x[0], margin);
        }
        let region = || self.reference.operand_region(slot, &x);
        counts.count(judgement, region, || Observation { operands: x.to_vec(), slot, got, margin: judgement.margin });
        judgement.verdict
    }

    /// Finds the worst of the results that passed the filter, with the certified evaluation.
    fn find_worst(&self, columns: &Columns<'_>, worst: &WorstMargin, counts: &mut CheckCounts) {
        let Some((slot, index)) = worst.at.filter(|_| worst.margin > counts.worst_margin()) else { return };
        self.certify_margin(columns, slot, index, counts);
        // If its filter margin, an upper bound on the certified one, was tight, no other result
        // comes near it. Otherwise others are examined.
        for (group, &margin) in worst.groups.iter().enumerate() {
            if margin <= tolerated_margin(counts.worst_margin().max(0.0)) {
                continue;
            }
            let start = group * LANES;
            for slot in 0..columns.results.len() {
                let filter = self.filters[slot].as_ref();
                let Some(outcome) = filter.and_then(|s| s.least_margins(&columns.group(s, slot, start))) else {
                    continue;
                };
                for lane in (0..columns.count(start)).filter(|&lane| outcome.passes(lane)) {
                    if outcome.margins[lane] > tolerated_margin(counts.worst_margin().max(0.0)) {
                        self.certify_margin(columns, slot, start + lane, counts);
                    }
                }
            }
        }
    }

    /// Evaluates the certified margin of a result that passed.
    fn certify_margin(&self, columns: &Columns<'_>, slot: usize, index: usize, counts: &mut CheckCounts) {
        let (x, got) = columns.row(slot, index);
        let margin = self.reference.judge(slot, &x, got).margin;
        counts.certified += 1;
        counts.keep_worst(margin, || Observation { operands: x.to_vec(), slot, got, margin });
    }
}

/// Columns of one call to [`Checker::check`].
struct Columns<'a> {
    operands: &'a [Column<'a>],
    results: &'a [Column<'a>],
    len: usize,
}

impl Columns<'_> {
    /// Number of invocations in the group from `start` on.
    fn count(&self, start: usize) -> usize {
        LANES.min(self.len - start)
    }

    fn group(&self, filter: &Filter, slot: usize, start: usize) -> LaneGroup {
        filter.group(self.operands, self.results[slot], start, self.count(start))
    }

    /// Operands of an invocation, and one result.
    fn row(&self, slot: usize, index: usize) -> (SmallVec<[u64; 8]>, u64) {
        (self.operands.iter().map(|c| c.get(index)).collect(), self.results[slot].get(index))
    }
}

/// Greatest margin so far, which may come from the filter only.
#[derive(Default)]
struct WorstMargin {
    margin: f64,
    /// Result component and invocation with that margin, if it comes from the filter.
    at: Option<(usize, usize)>,
    /// Greatest filter margin of each group.
    groups: Vec<f64>,
}

impl WorstMargin {
    /// Replaces the worst margin; the caller has checked that the new one is greater.
    fn set(&mut self, margin: f64, slot: usize, index: usize) {
        (self.margin, self.at) = (margin, Some((slot, index)));
    }
}
