//! Checking many results at once, and counting what comes out.

use crate::{Call, FailureClass, Judgement, Reference, Verdict, lanes::arithmetic::LANES, screen::Screen};
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

/// What came out of checking many results: every one counted, the worst and the first few of each class kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Census {
    /// Invocations checked.
    pub inputs: u64,
    /// Result scalars by verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// Inputs (not scalars) with at least one failing scalar.
    pub failing_inputs: u64,
    /// Inputs with at least one quality warning and no failure.
    pub warning_inputs: u64,
    /// Failing and warning scalars by class.
    pub classes: BTreeMap<(Verdict, FailureClass), u64>,
    /// The worst of each class, at most [`Census::EXAMPLES`] each, worst first.
    pub examples: BTreeMap<(Verdict, FailureClass), Vec<Sample>>,
    /// The result with the greatest margin.
    pub worst: Option<Sample>,
}

impl Census {
    /// How many examples of a class are kept.
    pub const EXAMPLES: usize = 8;

    /// Adds what another part of the same case found.
    pub fn merge(&mut self, other: &Census) {
        self.inputs += other.inputs;
        self.failing_inputs += other.failing_inputs;
        self.warning_inputs += other.warning_inputs;
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
/// [`Reference::judge`]. The verdicts are the same; margins of results that pass are exact for the worst, and
/// [`Census::worst`] is the worst to within 2^-18.
#[derive(Clone, Debug)]
pub struct Checker {
    call: Call,
    reference: Arc<Reference>,
    screens: Arc<[Option<Screen>]>,
}

/// By how much a quick margin may exceed the certain one.
const MARGIN_SLACK: f64 = 1.0 / (1 << 18) as f64;

impl Checker {
    /// A checker for one call.
    pub fn new(call: Call) -> Checker {
        let reference = Arc::new(call.reference());
        let screens = reference.slots.iter().map(Screen::new).collect();
        Checker { call, reference, screens }
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
        for start in (0..len).step_by(LANES) {
            self.check_group(operands, results, start, LANES.min(len - start), census);
        }
    }

    /// Checks `count` invocations from `start` on.
    fn check_group(
        &self,
        operands: &[Column<'_>],
        results: &[Column<'_>],
        start: usize,
        count: usize,
        census: &mut Census,
    ) {
        let mut worst = [Verdict::Unchecked; LANES];
        let (mut passed, mut unchecked) = (0, 0);
        for (slot, &column) in results.iter().enumerate() {
            let screened = self.screens[slot].as_ref().and_then(|s| s.judge(operands, column, start, count));
            for (lane, worst) in worst[..count].iter_mut().enumerate() {
                if let Some(screened) = &screened {
                    if screened.passes(lane) && screened.margins[lane] <= census.worst_margin() + MARGIN_SLACK {
                        passed += 1;
                        *worst = (*worst).max(Verdict::Pass);
                        continue;
                    }
                    if screened.is_unchecked(lane) {
                        unchecked += 1;
                        continue;
                    }
                }
                *worst = (*worst).max(self.check_one(operands, column, slot, start + lane, census));
            }
        }
        census.add(Verdict::Pass, passed);
        census.add(Verdict::Unchecked, unchecked);
        census.inputs += count as u64;
        census.failing_inputs += worst[..count].iter().filter(|v| **v == Verdict::Fail).count() as u64;
        census.warning_inputs += worst[..count].iter().filter(|v| **v == Verdict::QualityWarning).count() as u64;
    }

    /// Checks one result by the certain way.
    fn check_one(
        &self,
        operands: &[Column<'_>],
        column: Column<'_>,
        slot: usize,
        index: usize,
        census: &mut Census,
    ) -> Verdict {
        let x: SmallVec<[u64; 8]> = operands.iter().map(|c| c.get(index)).collect();
        let got = column.get(index);
        let judgement = self.reference.judge(slot, &x, got);
        census.count(judgement, || Sample { operands: x.to_vec(), slot, got, margin: judgement.margin });
        judgement.verdict
    }
}
