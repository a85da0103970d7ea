//! Checking many results at once, and counting what comes out.

use crate::{
    Call, FailureClass, Judgement, Profile, Reference, Scalar, Verdict,
    lanes::arithmetic::LANES,
    profile::Lanes,
    screen::{Group, STRETCH, Screen, Settled, Stretch},
};
use smallvec::SmallVec;
use std::{collections::BTreeMap, sync::Arc};

/// One slot of many invocations, in the layout of the device's buffers.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// Scalars of up to 32 bits, right-aligned in a word each.
    Words(&'a [u32]),
    /// 64-bit scalars.
    Wide(&'a [u64]),
}

impl Column<'_> {
    /// The bits of one invocation.
    pub fn get(self, index: usize) -> u64 {
        match self {
            Column::Words(words) => u64::from(words[index]),
            Column::Wide(words) => words[index],
        }
    }

    /// How many invocations.
    pub fn len(self) -> usize {
        match self {
            Column::Words(words) => words.len(),
            Column::Wide(words) => words.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// One result with what it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Bits of all operand slots.
    pub operands: Vec<u64>,
    /// The result slot.
    pub slot: usize,
    /// The bits that the device returned there.
    pub got: u64,
    /// Error over bound, if it is a number.
    pub margin: Option<f64>,
}

impl Sample {
    /// A hash of its bits, the same everywhere and always.
    fn hash(&self) -> u64 {
        let words = self.operands.iter().copied().chain([self.slot as u64, self.got]);
        words.fold(0x9e37_79b9_7f4a_7c15, |hash, word| {
            // A step of SplitMix64 for each word: every bit of it reaches every bit of the hash.
            let mut z = (hash ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        })
    }
}

/// What came out of checking many results: every one counted, the worst and the first few of each class kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Census {
    /// Invocations checked.
    pub inputs: u64,
    /// Result scalars that the quick way left to the certain one: a matter of speed, not of results.
    pub certain: u64,
    /// Result scalars by verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// Inputs (not scalars) with at least one failing scalar.
    pub failing_inputs: u64,
    /// Inputs with at least one quality warning and no failure.
    pub warning_inputs: u64,
    /// Sum of a hash of each failing scalar with its operands: the same for two devices that fail on the same inputs with the
    /// same bits, in whatever order they were checked.
    pub fingerprint: u64,
    /// Failing and warning scalars by class.
    pub classes: BTreeMap<(Verdict, FailureClass), u64>,
    /// The worst of each class, at most [`Census::EXAMPLES`] each, worst first.
    pub examples: BTreeMap<(Verdict, FailureClass), Vec<Sample>>,
    /// The result with the greatest margin.
    pub worst: Option<Sample>,
    /// Where the margins lie along the first operand.
    pub profile: Profile,
}

impl Census {
    /// How many examples of a class are kept.
    pub const EXAMPLES: usize = 8;

    /// An empty one for another part of the same case, which need not weigh what is no worse than the worst of this. So of results whose
    /// margins are as good as the same (see [`Checker`]), the order of parts may decide which is told as the worst.
    pub fn next(&self) -> Census {
        Census { worst: self.worst.clone(), profile: self.profile.next(), ..Census::default() }
    }

    /// Adds what another part of the same case found.
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

    /// Counts so many result scalars.
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

    /// The margin that a result must exceed to become the worst.
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
        // Worst first; a result that is not a number counts as the worst of all.
        let badness = |s: &Sample| s.margin.unwrap_or(f64::INFINITY);
        let at = examples.partition_point(|e| badness(e) >= badness(&sample));
        if at < Census::EXAMPLES {
            examples.insert(at, sample);
            examples.truncate(Census::EXAMPLES);
        }
    }
}

/// Checks results of one call in bulk. Cheap to share between threads.
///
/// Most results are decided quickly, in groups; what the quick way cannot decide for certain goes to
/// [`Reference::judge`]. The verdicts are the same, and the margin of [`Census::worst`] is that result's own; none that passes
/// has one greater by more than 2^-18 or, below an eighth, than a 32nd of it; where the bound is inherited and operands are consecutive, a
/// 256th of it joins.
#[derive(Clone, Debug)]
pub struct Checker {
    call: Call,
    reference: Arc<Reference>,
    screens: Arc<[Option<Screen>]>,
    /// The type of the first operand, along which margins are kept.
    first: Option<Scalar>,
}

/// What a quick margin may be while the worst is this: it may itself be a little too large.
fn tolerated(worst: f64) -> f64 {
    let least = 1.0 / (1 << 18) as f64;
    if worst < 0.125 { worst + (worst / 32.0).max(least) } else { worst + least }
}

/// By how much the quick margins of a group with one bound may be too large where that bound is as near as can be.
const EXAGGERATED: f64 = 1.0 + 1.0 / 256.0;

/// Of margins up to this the profile may show exaggerated ones (see [`Profile`]).
const NEGLIGIBLE: f64 = 1.0 / 16.0;

impl Checker {
    /// A checker for one call.
    pub fn new(call: Call) -> Checker {
        let reference = Arc::new(call.reference());
        let screens = reference.slots.iter().map(Screen::new).collect();
        let first = call.operand_slots().next();
        Checker { call, reference, screens, first }
    }

    /// The call.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Checks every invocation: one column per operand slot, one per result slot, all of the same length.
    ///
    /// # Panics
    /// If the numbers or lengths of the columns are wrong.
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

    /// The stretch of an ordered sweep that begins there, if it is one.
    fn stretch(&self, columns: &Columns<'_>, first: usize) -> Option<Stretch<'_>> {
        let (&[Column::Words(operands)], [_]) = (columns.operands, columns.results) else { return None };
        self.screens[0].as_ref()?.stretch(&operands[first..columns.len.min(first + STRETCH)])
    }

    /// Settles a group of a stretch that holds nothing worse than has been seen, as nearly all do; says its greatest quick margin.
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
        // What is no worse than the worst nearby adds nothing to the profile.
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
        // As tolerated as it was here, it must not be looked at again for the worst.
        Some(if exaggerates { swept.settled.worst / EXAGGERATED } else { swept.settled.worst })
    }

    /// Checks a group of invocations; says the greatest quick margin among those that passed.
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
            // Most groups are settled at a glance, almost all others by the whole rule.
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

    /// Settles a group of an ordered sweep that holds nothing worse than this margin, as nearly all do.
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

    /// Checks one result by the certain way.
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

    /// The worst of those that passed quickly, by the certain way.
    fn find_worst(&self, columns: &Columns<'_>, worst: &Worst, census: &mut Census) {
        let Some((slot, index)) = worst.at.filter(|_| worst.margin > census.worst_margin()) else { return };
        self.weigh(columns, slot, index, census);
        // Where its quick margin was right, which is at least the certain one, nothing comes near it; now and then it is not.
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

    /// The margin of a result that passed, by the certain way.
    fn weigh(&self, columns: &Columns<'_>, slot: usize, index: usize, census: &mut Census) {
        let (x, got) = columns.row(slot, index);
        let margin = self.reference.judge(slot, &x, got).margin;
        census.certain += 1;
        census.keep_worst(margin, || Sample { operands: x.to_vec(), slot, got, margin });
    }
}

/// What is checked in one go.
struct Columns<'a> {
    operands: &'a [Column<'a>],
    results: &'a [Column<'a>],
    len: usize,
}

impl Columns<'_> {
    /// How many invocations the group has that starts there.
    fn count(&self, start: usize) -> usize {
        LANES.min(self.len - start)
    }

    fn group(&self, screen: &Screen, slot: usize, start: usize) -> Group {
        screen.group(self.operands, self.results[slot], start, self.count(start))
    }

    /// The operands of an invocation, and one result.
    fn row(&self, slot: usize, index: usize) -> (SmallVec<[u64; 8]>, u64) {
        (self.operands.iter().map(|c| c.get(index)).collect(), self.results[slot].get(index))
    }
}

/// The greatest margin so far, for a while by the quick way only.
#[derive(Default)]
struct Worst {
    margin: f64,
    /// The result slot and the invocation that have it, if it is a quick one.
    at: Option<(usize, usize)>,
    /// The greatest quick margin in each group.
    groups: Vec<f64>,
}

impl Worst {
    fn raise(&mut self, margin: f64, slot: usize, index: usize) {
        (self.margin, self.at) = (margin, Some((slot, index)));
    }
}
