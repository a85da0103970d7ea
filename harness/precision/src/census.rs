//! Bulk checker: checks many results at once with the floating-point filter in front of the
//! certified evaluation, and counts the verdicts.

use crate::{
    Call, FailureClass, Judgement, Profile, Reference, Scalar, Verdict,
    lanes::arithmetic::LANES,
    profile::Lanes,
    screen::{Group, STRETCH, Screen, Settled, Stretch},
};
use smallvec::SmallVec;
use std::{collections::BTreeMap, sync::Arc};

/// Values of one operand or result scalar for many invocations, in the layout of the device's
/// buffers.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// Scalars of up to 32 bits, each right-aligned in a word.
    Words(&'a [u32]),
    /// 64-bit scalars.
    Wide(&'a [u64]),
}

impl Column<'_> {
    /// Bits of one invocation.
    pub fn get(self, index: usize) -> u64 {
        match self {
            Column::Words(words) => u64::from(words[index]),
            Column::Wide(words) => words[index],
        }
    }

    /// Number of invocations.
    pub fn len(self) -> usize {
        match self {
            Column::Words(words) => words.len(),
            Column::Wide(words) => words.len(),
        }
    }

    /// Returns true if there are no invocations.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// One result scalar with its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Bits of all operand scalars.
    pub operands: Vec<u64>,
    /// Index of the result component.
    pub slot: usize,
    /// Bits that the device returned.
    pub got: u64,
    /// Error divided by the permitted error, if it is a number.
    pub margin: Option<f64>,
}

impl Sample {
    /// Hash of the bits, equal on every machine and in every version.
    fn hash(&self) -> u64 {
        let words = self.operands.iter().copied().chain([self.slot as u64, self.got]);
        words.fold(0x9e37_79b9_7f4a_7c15, |hash, word| {
            // One step of SplitMix64 for each word: every bit of it affects every bit of the hash.
            let mut z = (hash ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        })
    }
}

/// Counts of the verdicts of many results, with the worst examples of each class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Census {
    /// Number of checked invocations.
    pub inputs: u64,
    /// Number of result scalars that the filter left to the certified evaluation. This affects
    /// speed only, not verdicts.
    pub certain: u64,
    /// Number of result scalars by verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// Number of inputs (not scalars) with at least one failing scalar.
    pub failing_inputs: u64,
    /// Number of inputs with at least one quality warning and no failure.
    pub warning_inputs: u64,
    /// Sum of a hash of each failing scalar with its operands. Two devices have equal fingerprints
    /// if they fail on the same inputs with the same bits, in whatever order these were checked.
    pub fingerprint: u64,
    /// Number of failing and warning scalars by class.
    pub classes: BTreeMap<(Verdict, FailureClass), u64>,
    /// Worst results of each class, at most [`Census::EXAMPLES`] each, worst first.
    pub examples: BTreeMap<(Verdict, FailureClass), Vec<Sample>>,
    /// Result with the greatest margin.
    pub worst: Option<Sample>,
    /// Greatest margins along the first operand.
    pub profile: Profile,
}

impl Census {
    /// Number of examples that are kept of a class.
    pub const EXAMPLES: usize = 8;

    /// Empty counts for another part of the same case. They start with the worst result of this
    /// part, so that the other part evaluates only margins that exceed it. Among results whose
    /// margins are nearly equal (see [`Checker`]), the order of the parts may therefore decide
    /// which one is reported as the worst.
    pub fn next(&self) -> Census {
        Census { worst: self.worst.clone(), profile: self.profile.next(), ..Census::default() }
    }

    /// Adds the counts of another part of the same case.
    pub fn merge(&mut self, other: &Census) {
        self.inputs += other.inputs;
        self.certain += other.certain;
        self.failing_inputs += other.failing_inputs;
        self.warning_inputs += other.warning_inputs;
        self.fingerprint = self.fingerprint.wrapping_add(other.fingerprint);
        for (&verdict, count) in &other.verdicts {
            *self.verdicts.entry(verdict).or_default() += count;
        }
        for (&class, count) in &other.classes {
            *self.classes.entry(class).or_default() += count;
        }
        for (&class, samples) in &other.examples {
            for sample in samples {
                self.keep_example(class, || sample.clone());
            }
        }
        if let Some(worst) = &other.worst {
            self.keep_worst(worst.margin, || worst.clone());
        }
        self.profile.merge(&other.profile);
    }

    /// Counts `count` result scalars.
    fn add(&mut self, verdict: Verdict, count: u64) {
        if count > 0 {
            *self.verdicts.entry(verdict).or_default() += count;
        }
    }

    /// Counts one result scalar.
    fn count(&mut self, judgement: Judgement, sample: impl Fn() -> Sample) {
        *self.verdicts.entry(judgement.verdict).or_default() += 1;
        if judgement.verdict == Verdict::Fail {
            self.fingerprint = self.fingerprint.wrapping_add(sample().hash());
        }
        self.keep_worst(judgement.margin, &sample);
        if let Some(class) = judgement.class {
            *self.classes.entry((judgement.verdict, class)).or_default() += 1;
            self.keep_example((judgement.verdict, class), sample);
        }
    }

    /// Margin that a result must exceed to become the worst.
    pub(crate) fn worst_margin(&self) -> f64 {
        self.worst.as_ref().and_then(|w| w.margin).unwrap_or(-1.0)
    }

    fn keep_worst(&mut self, margin: Option<f64>, sample: impl FnOnce() -> Sample) {
        if margin.is_some_and(|m| m > self.worst_margin()) {
            self.worst = Some(sample());
        }
    }

    fn keep_example(&mut self, class: (Verdict, FailureClass), sample: impl FnOnce() -> Sample) {
        let examples = self.examples.entry(class).or_default();
        let sample = sample();
        // Worst first. A result without a margin counts as the worst of all.
        let badness = |s: &Sample| s.margin.unwrap_or(f64::INFINITY);
        let at = examples.partition_point(|e| badness(e) >= badness(&sample));
        if at < Census::EXAMPLES {
            examples.insert(at, sample);
            examples.truncate(Census::EXAMPLES);
        }
    }
}

/// Bulk checker for the results of one call. Cheap to share between threads.
///
/// The filter decides most results in groups. A result that it leaves undecided goes to
/// [`Reference::judge`]. The verdicts are those of the certified evaluation, and so is the margin
/// of [`Census::worst`].
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
    screens: Arc<[Option<Screen>]>,
    /// Type of the first operand, along which the profile of margins is kept.
    first: Option<Scalar>,
}

/// Greatest filter margin that is not examined while the worst margin is `worst`: filter margins
/// may be a little too great.
fn tolerated(worst: f64) -> f64 {
    let least = 1.0 / (1 << 18) as f64;
    if worst < 0.125 { worst + (worst / 32.0).max(least) } else { worst + least }
}

/// Factor by which filter margins of a group with a common bound may be too great even if that
/// bound is as tight as possible.
const EXAGGERATED: f64 = 1.0 + 1.0 / 256.0;

/// The profile may show exaggerated margins up to this (see [`Profile`]).
const NEGLIGIBLE: f64 = 1.0 / 16.0;

impl Checker {
    /// Checker for one call.
    pub fn new(call: Call) -> Checker {
        let reference = Arc::new(call.reference());
        let screens = reference.slots.iter().map(Screen::new).collect();
        let first = call.operand_slots().next();
        Checker { call, reference, screens, first }
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
    pub fn check(&self, operands: &[Column<'_>], results: &[Column<'_>], census: &mut Census) {
        assert_eq!(operands.len(), self.call.operand_slots().count(), "a column per operand slot");
        assert_eq!(results.len(), self.call.result_slots().count(), "a column per result slot");
        let len = results[0].len();
        assert!(operands.iter().chain(results).all(|c| c.len() == len), "columns of one length");
        let columns = Columns { operands, results, len };
        let mut worst = Worst { margin: census.worst_margin(), ..Worst::default() };
        for first in (0..len).step_by(STRETCH) {
            let stretch = self.stretch(&columns, first);
            for start in (first..len.min(first + STRETCH)).step_by(LANES) {
                let settled = stretch.as_ref().and_then(|s| self.settle(s, &columns, first, start, &worst, census));
                let greatest = settled.unwrap_or_else(|| self.check_group(&columns, start, &mut worst, census));
                worst.groups.push(greatest);
            }
        }
        self.find_worst(&columns, &worst, census);
    }

    /// Quadratic filter for the operands from `first` on, if they are a stretch of an ordered
    /// sweep.
    fn stretch(&self, columns: &Columns<'_>, first: usize) -> Option<Stretch<'_>> {
        let (&[Column::Words(operands)], [_]) = (columns.operands, columns.results) else { return None };
        self.screens[0].as_ref()?.stretch(&operands[first..columns.len.min(first + STRETCH)])
    }

    /// Decides a group of a stretch that contains nothing worse than the worst so far, as nearly
    /// all groups do. Returns the group's greatest filter margin.
    fn settle(
        &self,
        stretch: &Stretch<'_>,
        columns: &Columns<'_>,
        first: usize,
        start: usize,
        worst: &Worst,
        census: &mut Census,
    ) -> Option<f64> {
        let scalar = self.first?;
        let Column::Words(results) = columns.results[0] else { return None };
        let group = results.get(start..start + LANES)?.first_chunk()?;
        let sample = Lanes { operands: columns.operands[0], start, count: LANES }.sample(scalar)?;
        let operand = columns.operands[0].get(start);
        // Margins below the worst nearby add nothing to the profile.
        let nearby = census.profile.greatest(scalar, operand).max(NEGLIGIBLE);
        let exaggerates = stretch.exaggerates();
        let least = match exaggerates {
            true => (tolerated(worst.margin) * EXAGGERATED).min(nearby * (1.0 + 1.0 / 64.0)),
            false => tolerated(worst.margin),
        };
        let swept = stretch.settle((start - first) / LANES, group, sample, least)?;
        census.inputs += LANES as u64;
        census.add(Verdict::Pass, swept.settled.passed);
        census.add(Verdict::Unchecked, swept.settled.unchecked);
        let greatest = if exaggerates { swept.settled.worst.min(nearby) } else { swept.settled.worst };
        census.profile.add_sweep(scalar, operand, swept.sampled, greatest);
        // A margin that was tolerated here must not be examined again in the search for the worst.
        Some(if exaggerates { swept.settled.worst / EXAGGERATED } else { swept.settled.worst })
    }

    /// Checks a group of invocations. Returns the greatest filter margin among the results that
    /// passed.
    fn check_group(&self, columns: &Columns<'_>, start: usize, worst: &mut Worst, census: &mut Census) -> f64 {
        let count = columns.count(start);
        census.inputs += count as u64;
        let mut verdicts = [Verdict::Unchecked; LANES];
        let (mut passed, mut unchecked, mut greatest) = (0, 0, -1f64);
        for slot in 0..columns.results.len() {
            if let Some(swept) = self.sweep(columns, slot, start, tolerated(worst.margin), census) {
                passed += swept.passed;
                unchecked += swept.unchecked;
                greatest = swept.worst.max(greatest);
                continue;
            }
            let group = self.screens[slot].as_ref().map(|s| (s, columns.group(s, slot, start)));
            // The first method decides most groups, the whole rule almost all others.
            let glanced = group.as_ref().and_then(|(screen, group)| {
                let screened = screen.glance(group)?;
                Some((screened.settled(count)?, screened))
            });
            let (settled, screened) = match (glanced, &group) {
                (Some((settled, screened)), _) => (Some(settled), Some(screened)),
                (None, Some((screen, group))) => {
                    let screened = screen.judge(group);
                    (screened.as_ref().and_then(|s| s.settled(count)), screened)
                }
                (None, None) => (None, None),
            };
            if let (Some(settled), Some(screened)) = (settled, &screened) {
                passed += settled.passed;
                unchecked += settled.unchecked;
                greatest = settled.worst.max(greatest);
                if settled.worst > worst.margin {
                    let lane = (0..count).find(|&i| screened.margins[i] == settled.worst);
                    worst.raise(settled.worst, slot, start + lane.unwrap_or_default());
                }
                if let Some(scalar) = self.first {
                    let margin = |lane| if screened.is_unchecked(lane) { -1.0 } else { screened.margins[lane] };
                    let group = Lanes { operands: columns.operands[0], start, count };
                    census.profile.add_group(scalar, group, margin, settled.worst);
                }
                continue;
            }
            for (lane, verdict) in verdicts[..count].iter_mut().enumerate() {
                if let Some(screened) = &screened {
                    if screened.passes(lane) {
                        passed += 1;
                        let margin = screened.margins[lane];
                        if margin.is_sign_positive() {
                            greatest = margin.max(greatest);
                        }
                        if margin.is_sign_positive() && margin > worst.margin {
                            worst.raise(margin, slot, start + lane);
                        }
                        if let Some(scalar) = self.first {
                            census.profile.add(scalar, columns.operands[0].get(start + lane), margin);
                        }
                        continue;
                    }
                    if screened.is_unchecked(lane) {
                        unchecked += 1;
                        continue;
                    }
                }
                *verdict = (*verdict).max(self.check_one(columns, slot, start + lane, census));
            }
            worst.margin = worst.margin.max(census.worst_margin());
        }
        census.add(Verdict::Pass, passed);
        census.add(Verdict::Unchecked, unchecked);
        census.failing_inputs += verdicts[..count].iter().filter(|v| **v == Verdict::Fail).count() as u64;
        census.warning_inputs += verdicts[..count].iter().filter(|v| **v == Verdict::QualityWarning).count() as u64;
        greatest
    }

    /// Decides a group of an ordered sweep that contains no margin above `margin`, as nearly all
    /// groups do.
    fn sweep(
        &self,
        columns: &Columns<'_>,
        slot: usize,
        start: usize,
        margin: f64,
        census: &mut Census,
    ) -> Option<Settled> {
        let scalar = self.first?;
        let screen = self.screens[slot].as_ref()?;
        let (&[Column::Words(operands)], Column::Words(results)) = (columns.operands, columns.results[slot]) else {
            return None;
        };
        let sample = Lanes { operands: columns.operands[0], start, count: columns.count(start) }.sample(scalar)?;
        let group = |words: &[u32]| words.get(start..start + LANES)?.first_chunk().copied();
        let swept = screen.sweep(&group(operands)?, &group(results)?, sample)?;
        if swept.settled.worst > margin {
            return None;
        }
        census.profile.add_sweep(scalar, operands[start].into(), swept.sampled, swept.settled.worst);
        Some(swept.settled)
    }

    /// Checks one result with the certified evaluation.
    fn check_one(&self, columns: &Columns<'_>, slot: usize, index: usize, census: &mut Census) -> Verdict {
        let (x, got) = columns.row(slot, index);
        let judgement = self.reference.judge(slot, &x, got);
        census.certain += 1;
        if let (Some(scalar), Some(margin)) = (self.first, judgement.margin) {
            census.profile.add(scalar, x[0], margin);
        }
        census.count(judgement, || Sample { operands: x.to_vec(), slot, got, margin: judgement.margin });
        judgement.verdict
    }

    /// Finds the worst of the results that passed the filter, with the certified evaluation.
    fn find_worst(&self, columns: &Columns<'_>, worst: &Worst, census: &mut Census) {
        let Some((slot, index)) = worst.at.filter(|_| worst.margin > census.worst_margin()) else { return };
        self.weigh(columns, slot, index, census);
        // If its filter margin, an upper bound on the certified one, was tight, no other result
        // comes near it. Otherwise others are examined.
        for (group, &margin) in worst.groups.iter().enumerate() {
            if margin <= tolerated(census.worst_margin().max(0.0)) {
                continue;
            }
            let start = group * LANES;
            for slot in 0..columns.results.len() {
                let screen = self.screens[slot].as_ref();
                let Some(screened) = screen.and_then(|s| s.weigh(&columns.group(s, slot, start))) else { continue };
                for lane in (0..columns.count(start)).filter(|&lane| screened.passes(lane)) {
                    if screened.margins[lane] > tolerated(census.worst_margin().max(0.0)) {
                        self.weigh(columns, slot, start + lane, census);
                    }
                }
            }
        }
    }

    /// Evaluates the certified margin of a result that passed.
    fn weigh(&self, columns: &Columns<'_>, slot: usize, index: usize, census: &mut Census) {
        let (x, got) = columns.row(slot, index);
        let margin = self.reference.judge(slot, &x, got).margin;
        census.certain += 1;
        census.keep_worst(margin, || Sample { operands: x.to_vec(), slot, got, margin });
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

    fn group(&self, screen: &Screen, slot: usize, start: usize) -> Group {
        screen.group(self.operands, self.results[slot], start, self.count(start))
    }

    /// Operands of an invocation, and one result.
    fn row(&self, slot: usize, index: usize) -> (SmallVec<[u64; 8]>, u64) {
        (self.operands.iter().map(|c| c.get(index)).collect(), self.results[slot].get(index))
    }
}

/// Greatest margin so far, which may come from the filter only.
#[derive(Default)]
struct Worst {
    margin: f64,
    /// Result component and invocation with that margin, if it comes from the filter.
    at: Option<(usize, usize)>,
    /// Greatest filter margin of each group.
    groups: Vec<f64>,
}

impl Worst {
    fn raise(&mut self, margin: f64, slot: usize, index: usize) {
        (self.margin, self.at) = (margin, Some((slot, index)));
    }
}
