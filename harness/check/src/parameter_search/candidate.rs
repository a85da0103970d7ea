//! Candidates of the search, and their quality.

use crate::check::Check;
use crate::chosen_parameters::ChosenParameters;
use assay_events::{MutationScore, Writes, group_digits};
use assay_oracle::{ExecutedBlocks, FaultKind, Place, Slot};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Expected part of a check that says something about the shader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Judged {
    /// Neither the output nor the instructions.
    #[default]
    Little,
    /// The instructions by themselves: most of the shader is executed and a few elements are written, or
    /// it may be executed after a branch that the oracle does not follow and enough elements are written,
    /// whatever they are; and nothing may be undefined behaviour.
    Instructions,
    /// The output: enough elements could come out wrong ([`Score::ample`]), enough instructions are
    /// executed ([`Score::covered`]), and enough planted errors would be noticed, if that is known.
    Output,
}

/// Quality of a candidate, from the most to the least important property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Score {
    /// Rounds without undefined behaviour.
    pub(super) defined: u32,
    /// The part of the check that says something.
    pub(super) judged: Judged,
    /// If the instructions are judged: tenths of them that are executed, and the logarithm of how many a
    /// workgroup executes, up to what suffices.
    pub(super) instructions: (u64, u32),
    /// Set if enough elements could come out wrong, once grown arrays are as long as the writes.
    pub(super) ample: bool,
    /// Set if some of these elements could come out wrong, and enough instructions were executed
    /// ([`ExecutedInstructions::is_meaningful`]).
    pub(super) covered: bool,
    /// Share of elements that could come out wrong, in thousandths, up to what suffices.
    pub(super) share: u64,
    /// If the instructions are judged: tenths of them that are certainly executed.
    pub(super) certain: u64,
    /// Set if these elements differ in their values ([`Writes::is_varied`]).
    pub(super) varied: bool,
    /// Share of planted errors that would be noticed, in hundredths, up to what suffices
    /// ([`noticed_share`]). Zero if the other properties do not suffice.
    pub(super) noticed: u64,
    /// Set unless some round writes nothing although another does, or, with a value of some parameter for each
    /// round, is too thin ([`Writes::thin_modes`]).
    pub(super) busy: bool,
    /// Written elements that could come out wrong by a factor of two, in these rounds.
    pub(super) narrow: u64,
    /// Faults in the first round that has any.
    pub(super) faults: Reverse<u64>,
    /// If no element could come out wrong: logarithm of the instructions that a workgroup executes.
    /// The instructions by themselves may still say something, in invocations that do not end early.
    pub(super) thorough: u32,
    /// Instructions that some invocation executed.
    pub(super) executed: u64,
    /// Elements that the shader may write.
    pub(super) elements: Reverse<u64>,
}

impl Score {
    /// Returns the share of elements that could come out wrong.
    pub(super) fn exact_share(&self) -> f64 {
        self.narrow as f64 / self.elements.0.max(1) as f64
    }

    /// Returns whether a check with this score says at least what one with the other does.
    pub(super) fn says_no_less(&self, other: &Score) -> bool {
        let says = |score: &Score| {
            let Score { judged, ample, covered, varied, busy, .. } = *score;
            [judged > Judged::Little, ample, covered, varied, score.notices_enough(), busy]
        };
        self.defined >= other.defined
            && self.judged >= other.judged
            && says(self).iter().zip(says(other)).all(|(this, other)| *this || !other)
    }

    /// Returns whether the elements differ in their values, enough planted errors would be noticed, and
    /// each round counts.
    pub(super) fn is_sound(&self) -> bool {
        self.varied && self.notices_enough() && self.busy
    }

    /// Returns whether enough planted errors would be noticed.
    pub(super) fn notices_enough(&self) -> bool {
        self.noticed >= MutationScore::MEANINGFUL
    }

    /// Returns whether this share is at least one in `n`.
    pub(super) fn has_one_in(&self, n: u64) -> bool {
        self.narrow > 0 && self.narrow.saturating_mul(n) >= self.elements.0
    }
}

/// Returns the share of planted errors that would be noticed, in hundredths, up to what suffices. A
/// score that could not be measured suffices.
pub(super) fn noticed_share(score: Option<&MutationScore>) -> u64 {
    let enough = MutationScore::MEANINGFUL;
    score.map_or(enough, |score| score.least_share().min(enough))
}

/// A candidate with its result.
pub(super) struct Candidate {
    pub(super) chosen: ChosenParameters,
    pub(super) score: Score,
    /// Blocks that some invocation executed.
    pub(super) executed: ExecutedBlocks,
    /// Its mutation score, if it was measured.
    pub(super) mutations: Option<MutationScore>,
    /// Kinds of the kept faults.
    pub(super) faults: Vec<FaultKind>,
    /// Set if other parameters are not expected to avoid any of the kept faults.
    pub(super) has_inherent_faults: bool,
    /// Set if it may have undefined behaviour that no variant excludes ([`crate::defined_variant`]).
    pub(super) is_doubtful: bool,
    /// Place of the first fault.
    pub(super) faulty: Option<Place>,
    /// End of the accesses beyond each buffer, in bytes.
    pub(super) reach: BTreeMap<Slot, u64>,
    /// Size of each image that holds the accesses beyond it, in texels.
    pub(super) image_reach: BTreeMap<Slot, [u32; 3]>,
    /// End of the writes to each buffer, in bytes.
    pub(super) written: BTreeMap<Slot, u64>,
    /// Work of a check, estimated from the interpreted workgroups.
    pub(super) work: u64,
}

impl Candidate {
    /// Returns whether it is unknown which planted errors would be noticed: their interpretation takes too
    /// long.
    pub(super) fn is_unmeasured(&self) -> bool {
        self.mutations.as_ref().is_some_and(|score| score.unmeasured.is_some())
    }

    /// Returns the defect of a candidate that is not good, as a clause with the term for a fault.
    pub(super) fn defect(&self, check: &Check<'_>, term: &str) -> String {
        let Score { narrow, executed, elements: Reverse(elements), .. } = self.score;
        match self.faults.first() {
            Some(FaultKind::Endless) => "a workgroup takes more work than a search permits".to_owned(),
            Some(kind) => {
                let at = self.faulty.map_or_else(String::new, |at| format!(" at {}", check.shader.location(at)));
                format!("the shader has {term} ({kind}{at})")
            }
            None if narrow == 0 => {
                format!(
                    "none of the {} elements that the shader may write could come out wrong",
                    group_digits(elements)
                )
            }
            None if !self.score.has_one_in(Writes::MEANINGFUL) => format!(
                "only {} of the {} elements that the shader may write could come out wrong",
                group_digits(narrow),
                group_digits(elements)
            ),
            None if !self.score.covered => {
                format!("the shader executed only {} of its instructions", group_digits(executed))
            }
            None if let Some(score) =
                self.mutations.as_ref().filter(|of| of.least_share() < MutationScore::MEANINGFUL) =>
            {
                format!("{score}, of whatever size")
            }
            None if !self.score.busy => "a round wrote little or nothing".to_owned(),
            None => format!(
                "the {} elements that could come out wrong have one value or keep their old one",
                group_digits(narrow)
            ),
        }
    }
}

pub(super) fn better(one: Candidate, other: Candidate) -> Candidate {
    if other.score > one.score { other } else { one }
}

/// Faults of a candidate that does not fit the shader or the limits.
pub(super) const UNUSABLE: Reverse<u64> = Reverse(u64::MAX);

/// Returns a candidate that does not fit the shader or the limits.
pub(super) fn unusable(chosen: ChosenParameters) -> Candidate {
    let score = Score { faults: UNUSABLE, elements: Reverse(u64::MAX), ..Score::default() };
    let (reach, image_reach, written) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    Candidate {
        chosen,
        score,
        executed: ExecutedBlocks::default(),
        mutations: None,
        faults: Vec::new(),
        has_inherent_faults: false,
        is_doubtful: false,
        faulty: None,
        reach,
        image_reach,
        written,
        work: 0,
    }
}
