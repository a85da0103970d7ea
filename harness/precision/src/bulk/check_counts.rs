//! Counts of the verdicts on many results.

use crate::{FailureClass, Judgement, OperandRegion, Profile, Verdict};
use std::collections::{BTreeMap, btree_map::Entry};

/// One result scalar with its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Bits of all operand scalars.
    pub operands: Vec<u64>,
    /// Index of the result component.
    pub slot: usize,
    /// Bits that the device returned.
    pub got: u64,
    /// Error divided by the permitted error, if it is a number.
    pub margin: Option<f64>,
}

impl Observation {
    /// Size of the error. A result without a margin counts as the worst of all.
    fn badness(&self) -> f64 {
        self.margin.unwrap_or(f64::INFINITY)
    }

    /// Key that is least for the simplest operands: those with the fewest set bits.
    fn complexity(&self) -> (u32, &[u64], usize) {
        (self.operands.iter().map(|bits| bits.count_ones()).sum(), &self.operands, self.slot)
    }

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

/// Failing or warning scalars of one class whose operands lie in one region.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionCount {
    /// Number of scalars.
    pub count: u64,
    /// The one with the largest error; among equal errors the one with the simplest operands, which
    /// does not depend on the order in which they were checked.
    pub example: Observation,
}

/// Counts of the verdicts of many results, with the worst examples of each class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckCounts {
    /// Number of checked invocations.
    pub inputs: u64,
    /// Number of result scalars that the filter left to the certified evaluation. This affects
    /// speed only, not verdicts.
    pub certified: u64,
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
    /// Worst results of each class, at most [`CheckCounts::EXAMPLES`] each, worst first.
    pub examples: BTreeMap<(Verdict, FailureClass), Vec<Observation>>,
    /// The same scalars by class and by the region of their operands.
    pub regions: BTreeMap<(Verdict, FailureClass, OperandRegion), RegionCount>,
    /// Result with the greatest margin.
    pub worst: Option<Observation>,
    /// Greatest margins along the first operand.
    pub profile: Profile,
}

impl CheckCounts {
    /// Number of examples that are kept of a class.
    pub const EXAMPLES: usize = 8;

    /// Empty counts for another part of the same case. They start with the worst result of this
    /// part, so that the other part evaluates only margins that exceed it. Among results whose
    /// margins are nearly equal (see [`Checker`]), the order of the parts may therefore decide
    /// which one is reported as the worst.
    pub fn next(&self) -> CheckCounts {
        CheckCounts { worst: self.worst.clone(), profile: self.profile.next(), ..CheckCounts::default() }
    }

    /// Adds the counts of another part of the same case.
    pub fn merge(&mut self, other: &CheckCounts) {
        self.inputs += other.inputs;
        self.certified += other.certified;
        self.failing_inputs += other.failing_inputs;
        self.warning_inputs += other.warning_inputs;
        self.fingerprint = self.fingerprint.wrapping_add(other.fingerprint);
        for (&verdict, count) in &other.verdicts {
            *self.verdicts.entry(verdict).or_default() += count;
        }
        for (&class, count) in &other.classes {
            *self.classes.entry(class).or_default() += count;
        }
        for (&class, observations) in &other.examples {
            for observation in observations {
                self.keep_example(class, || observation.clone());
            }
        }
        for (&region, RegionCount { count, example }) in &other.regions {
            self.count_region(region, *count, example.clone());
        }
        if let Some(worst) = &other.worst {
            self.keep_worst(worst.margin, || worst.clone());
        }
        self.profile.merge(&other.profile);
    }

    /// Counts `count` result scalars.
    pub(crate) fn add(&mut self, verdict: Verdict, count: u64) {
        if count > 0 {
            *self.verdicts.entry(verdict).or_default() += count;
        }
    }

    /// Counts one result scalar. `region` is that of its operands.
    pub(crate) fn count(
        &mut self,
        judgement: Judgement,
        region: impl FnOnce() -> OperandRegion,
        observation: impl Fn() -> Observation,
    ) {
        *self.verdicts.entry(judgement.verdict).or_default() += 1;
        if judgement.verdict == Verdict::Fail {
            self.fingerprint = self.fingerprint.wrapping_add(observation().hash());
        }
        self.keep_worst(judgement.margin, &observation);
        if let Some(class) = judgement.class {
            *self.classes.entry((judgement.verdict, class)).or_default() += 1;
            self.count_region((judgement.verdict, class, region()), 1, observation());
            self.keep_example((judgement.verdict, class), observation);
        }
    }

    fn count_region(&mut self, region: (Verdict, FailureClass, OperandRegion), count: u64, example: Observation) {
        match self.regions.entry(region) {
            Entry::Vacant(entry) => _ = entry.insert(RegionCount { count, example }),
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                known.count += count;
                let order = example.badness().total_cmp(&known.example.badness()).reverse();
                if order.then_with(|| example.complexity().cmp(&known.example.complexity())).is_lt() {
                    known.example = example;
                }
            }
        }
    }

    /// Margin that a result must exceed to become the worst.
    pub(crate) fn worst_margin(&self) -> f64 {
        self.worst.as_ref().and_then(|w| w.margin).unwrap_or(-1.0)
    }

    pub(crate) fn keep_worst(&mut self, margin: Option<f64>, observation: impl FnOnce() -> Observation) {
        if margin.is_some_and(|m| m > self.worst_margin()) {
            self.worst = Some(observation());
        }
    }

    fn keep_example(&mut self, class: (Verdict, FailureClass), observation: impl FnOnce() -> Observation) {
        let examples = self.examples.entry(class).or_default();
        let observation = observation();
        // Worst first.
        let at = examples.partition_point(|e| e.badness() >= observation.badness());
        if at < CheckCounts::EXAMPLES {
            examples.insert(at, observation);
            examples.truncate(CheckCounts::EXAMPLES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_a_region_does_not_depend_on_the_order_of_the_parts() {
        let region = (Verdict::Fail, FailureClass::Wild, OperandRegion::Denormal);
        let seen = |operand, margin| Observation { operands: vec![operand], slot: 0, got: 0, margin };
        let parts = [seen(3, Some(2.0)), seen(5, None), seen(8, Some(f64::INFINITY)), seen(4, None)].map(|example| {
            let mut counts = CheckCounts::default();
            counts.count_region(region, 1, example);
            counts
        });
        for turn in 0..parts.len() {
            let mut counts = CheckCounts::default();
            (0..parts.len()).for_each(|at| counts.merge(&parts[(at + turn) % parts.len()]));
            // Of the three worst, the fewest set bits, then the least bits.
            let expected = RegionCount { count: 4, example: seen(4, None) };
            assert_eq!(counts.regions[&region], expected);
        }
    }
}
