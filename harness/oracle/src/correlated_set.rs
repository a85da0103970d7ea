//! Correlated sets: finite sets of bit patterns whose members are tied to nondeterministic choices.
//!
//! Where the text leaves the result of an instruction open, an implementation chooses it once, and
//! everything computed from the result follows from that choice. Each choice has a number. A value
//! of several patterns is a decision table: its pattern for every combination of alternatives of
//! the choices that it depends on. Values that depend on the same choice are combined alternative
//! by alternative, and a choice that no longer makes a difference is dropped. With `y` either
//! rounding of `x / 16`, `x - y * 16 + y * 16` is `x`.
//!
//! This is a relational abstract domain (Mine, *The Octagon Abstract Domain*, HOSC 19, 2006,
//! surveys them) over finite sets. It is limited to [`COMBINATIONS`] combinations and
//! [`ALTERNATIVES`] patterns. Beyond that the correlation is given up first, then the set.

use crate::abstract_value::{ALTERNATIVES, AbstractValue};
use smallvec::SmallVec;
use std::sync::Arc;

/// Largest number of combinations of alternatives in one table.
const COMBINATIONS: usize = 64;

/// A nondeterministic choice: its number, and its remaining alternatives (at most 8), a bit for
/// each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NondetChoice {
    pub(crate) number: u64,
    pub(crate) remaining: u8,
}

/// The number of an uncorrelated choice: no other value is known to depend on it. Choices of values
/// in memory get it, because a value that one invocation loads may come from another.
const UNCORRELATED: u64 = 0;

impl NondetChoice {
    fn count(self) -> usize {
        self.remaining.count_ones() as usize
    }

    /// The remaining alternatives, each as a set of its own.
    pub(crate) fn each(self) -> impl Iterator<Item = u8> {
        (0..8).map(|i| 1 << i).filter(move |bit| self.remaining & bit != 0)
    }
}

/// A correlated set: one of several distinct patterns (at least two, at most [`ALTERNATIVES`]), or
/// an exact one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CorrelatedSet {
    choices: SmallVec<[NondetChoice; 2]>,
    /// A pattern for every combination of alternatives; those of the last choice vary fastest.
    patterns: SmallVec<[u64; 8]>,
}

impl CorrelatedSet {
    /// One exact pattern.
    fn exact(bits: u64) -> CorrelatedSet {
        CorrelatedSet { choices: SmallVec::new(), patterns: [bits].into_iter().collect() }
    }

    /// A pattern for each remaining alternative of a choice.
    pub(crate) fn of(choice: NondetChoice, patterns: impl IntoIterator<Item = u64>) -> CorrelatedSet {
        CorrelatedSet { choices: [choice].into_iter().collect(), patterns: patterns.into_iter().collect() }
    }

    /// An uncorrelated set.
    pub(crate) fn uncorrelated(patterns: &[u64]) -> CorrelatedSet {
        let remaining = u8::MAX >> (8 - patterns.len().clamp(1, ALTERNATIVES));
        CorrelatedSet::of(NondetChoice { number: UNCORRELATED, remaining }, patterns.iter().copied())
    }

    /// The set without its correlation.
    pub(crate) fn without_correlation(&self) -> CorrelatedSet {
        CorrelatedSet::uncorrelated(&self.distinct())
    }

    /// The distinct patterns, ascending.
    pub(crate) fn distinct(&self) -> Vec<u64> {
        let mut all = self.patterns.to_vec();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub(crate) fn is_uncorrelated(&self) -> bool {
        self.choices.iter().any(|choice| choice.number == UNCORRELATED)
    }

    /// The set as the result of a choice of its own.
    pub(crate) fn numbered(&self, number: u64) -> CorrelatedSet {
        let all = self.distinct();
        let remaining = CorrelatedSet::uncorrelated(&all).choices[0].remaining;
        CorrelatedSet::of(NondetChoice { number, remaining }, all)
    }

    /// For each choice, the alternatives under which the pattern can satisfy `chosen`.
    pub(crate) fn alternatives_where(&self, chosen: impl Fn(u64) -> bool) -> Vec<NondetChoice> {
        let mut remaining: Vec<NondetChoice> =
            self.choices.iter().map(|choice| NondetChoice { remaining: 0, ..*choice }).collect();
        for (at, bits) in combinations(&self.choices).zip(&self.patterns) {
            let bits = if chosen(*bits) { &at[..] } else { &[] };
            remaining.iter_mut().zip(bits).for_each(|(choice, bit)| choice.remaining |= bit);
        }
        remaining.retain(|choice| choice.number != UNCORRELATED);
        remaining
    }

    /// The value once only the alternatives `to` of a choice remain. `None` if the value does not
    /// change, or if none of its alternatives remains.
    pub(crate) fn restricted(&self, to: NondetChoice) -> Option<(AbstractValue, u64)> {
        let place = self.choices.iter().position(|choice| choice.number == to.number)?;
        let remaining = self.choices[place].remaining & to.remaining;
        if remaining == 0 || remaining == self.choices[place].remaining {
            return None;
        }
        let mut choices = self.choices.clone();
        choices[place].remaining = remaining;
        let patterns = combinations(&choices).map(|at| self.pattern(&choices, &at)).collect();
        value_of_table(choices, patterns)
    }

    /// The pattern for one combination of `choices`, which include all choices of this set.
    fn pattern(&self, choices: &[NondetChoice], at: &[u8]) -> u64 {
        let place = self.choices.iter().fold(0, |place, own| {
            let bit = choices.iter().position(|choice| choice.number == own.number).map_or(0, |k| at[k]);
            place * own.count() + (own.remaining & bit.wrapping_sub(1)).count_ones() as usize
        });
        self.patterns.get(place).copied().unwrap_or_default()
    }
}

/// All combinations of alternatives; those of the last choice vary fastest.
fn combinations(choices: &[NondetChoice]) -> impl Iterator<Item = SmallVec<[u8; 4]>> {
    let count: usize = choices.iter().map(|choice| choice.count()).product();
    (0..count).map(move |mut index| {
        let mut at: SmallVec<[u8; 4]> = SmallVec::from_elem(0, choices.len());
        for (bit, choice) in at.iter_mut().zip(choices).rev() {
            *bit = choice.each().nth(index % choice.count()).unwrap_or_default();
            index /= choice.count();
        }
        at
    })
}

/// A table as a value with the bits of its register, without the choices that make no difference.
/// `None` if it has too many patterns.
fn value_of_table(
    mut choices: SmallVec<[NondetChoice; 2]>,
    mut patterns: SmallVec<[u64; 8]>,
) -> Option<(AbstractValue, u64)> {
    let mut place = choices.len();
    let mut inner = 1;
    while place > 0 {
        place -= 1;
        let (count, block) = (choices[place].count(), choices[place].count() * inner);
        let idle = patterns.chunks(block).all(|part| part.chunks(inner).all(|one| one == &part[..inner]));
        if idle {
            patterns = patterns.chunks(block).flat_map(|part| part[..inner].to_vec()).collect();
            choices.remove(place);
        } else {
            inner *= count;
        }
    }
    let few = CorrelatedSet { choices, patterns };
    match few.distinct()[..] {
        [one] => Some((AbstractValue::Bits, one)),
        ref all if all.len() <= ALTERNATIVES => {
            let bits = all[0];
            Some((AbstractValue::OneOf(Arc::new(few)), bits))
        }
        _ => None,
    }
}

/// The operands of one operation, for every combination of their alternatives.
pub(crate) struct JointOperands {
    choices: SmallVec<[NondetChoice; 2]>,
    rows: Vec<SmallVec<[u64; 4]>>,
}

impl JointOperands {
    /// Combines operands; `None` if there are too many combinations. If the choices are too many
    /// but the patterns are not, each operand becomes a choice of its own.
    pub(crate) fn new(operands: &[Arc<CorrelatedSet>]) -> Option<JointOperands> {
        JointOperands::related(operands).or_else(|| {
            let apart = |few: &Arc<CorrelatedSet>| {
                // Equal values are one choice. Uncorrelated values are equal only if they are
                // copies.
                let same =
                    |other: &Arc<CorrelatedSet>| Arc::ptr_eq(other, few) || (!few.is_uncorrelated() && other == few);
                let first = operands.iter().position(same).unwrap_or_default();
                if few.choices.is_empty() { few.clone() } else { Arc::new(few.numbered(u64::MAX - first as u64)) }
            };
            let mut together = JointOperands::related(&operands.iter().map(apart).collect::<Vec<_>>())?;
            together.choices.iter_mut().for_each(|choice| choice.number = UNCORRELATED);
            Some(together)
        })
    }

    fn related(operands: &[Arc<CorrelatedSet>]) -> Option<JointOperands> {
        let mut choices: SmallVec<[NondetChoice; 2]> = SmallVec::new();
        for choice in operands.iter().flat_map(|few| &few.choices) {
            match choices.iter().find(|known| known.number == choice.number && choice.number != UNCORRELATED) {
                // The operands come from two lanes that restricted this choice differently. One of
                // them may continue without values that go with the other's alternatives.
                Some(known) if known.remaining != choice.remaining => return None,
                Some(_) => {}
                None => choices.push(*choice),
            }
        }
        let uncorrelated = choices.iter().filter(|choice| choice.number == UNCORRELATED).count();
        let count = choices.iter().try_fold(1usize, |all, choice| all.checked_mul(choice.count()))?;
        if uncorrelated > 1 || !(1..=COMBINATIONS).contains(&count) {
            return None;
        }
        let row = |at: SmallVec<[u8; 4]>| operands.iter().map(|few| few.pattern(&choices, &at)).collect();
        let rows = combinations(&choices).map(row).collect();
        Some(JointOperands { rows, choices })
    }

    /// The operands of each combination.
    pub(crate) fn rows(&self) -> &[SmallVec<[u64; 4]>] {
        &self.rows
    }

    /// The results, one for every row, as a value; `None` if there are too many patterns. A result
    /// that depends on an uncorrelated choice is uncorrelated.
    pub(crate) fn into_value(self, results: impl IntoIterator<Item = u64>) -> Option<(AbstractValue, u64)> {
        let found = value_of_table(self.choices, results.into_iter().collect())?;
        Some(match found {
            (AbstractValue::OneOf(few), bits) if few.is_uncorrelated() => {
                (AbstractValue::OneOf(Arc::new(few.without_correlation())), bits)
            }
            found => found,
        })
    }
}

impl AbstractValue {
    /// The value as a correlated set. `bits` and errors are those of [`AbstractValue::patterns`].
    pub(crate) fn correlated(&self, bits: u64) -> Result<Arc<CorrelatedSet>, Option<u32>> {
        match self {
            AbstractValue::OneOf(few) => Ok(few.clone()),
            _ => self.patterns(bits).map(|all| {
                Arc::new(if let [one] = all[..] {
                    CorrelatedSet::exact(one)
                } else {
                    CorrelatedSet::uncorrelated(&all)
                })
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: u64, patterns: &[u64]) -> Arc<CorrelatedSet> {
        Arc::new(CorrelatedSet::uncorrelated(patterns).numbered(number))
    }

    fn combine(operands: &[Arc<CorrelatedSet>], f: impl Fn(&[u64]) -> u64) -> Option<(AbstractValue, u64)> {
        let together = JointOperands::new(operands)?;
        let results: Vec<u64> = together.rows().iter().map(|row| f(row)).collect();
        together.into_value(results)
    }

    fn patterns((value, bits): (AbstractValue, u64)) -> Vec<u64> {
        value.patterns(bits).expect("patterns")
    }

    #[test]
    fn values_of_the_same_choice_stay_correlated() {
        let (a, b) = (of(1, &[3, 4]), of(2, &[10, 20, 30]));
        assert_eq!(combine(&[a.clone(), a.clone()], |x| x[0] - x[1]), Some((AbstractValue::Bits, 0)));
        let sum = combine(&[a.clone(), b.clone()], |x| x[0] + x[1]).expect("six");
        assert_eq!(patterns(sum.clone()), [13, 14, 23, 24, 33, 34]);
        // The sum is still tied to both.
        let sum = sum.0.correlated(0).expect("few");
        let rest = combine(&[sum.clone(), b.clone()], |x| x[0] - x[1]).expect("two");
        assert_eq!(rest.0, AbstractValue::OneOf(a.clone()));
        assert_eq!(combine(&[b, sum, a], |x| x[1] - x[0] - x[2]), Some((AbstractValue::Bits, 0)));
    }

    #[test]
    fn values_of_too_many_choices_become_uncorrelated() {
        let bits: Vec<Arc<CorrelatedSet>> = (1..=7).map(|number| of(number, &[0, 1])).collect();
        let any = |x: &[u64]| u64::from(x.iter().any(|bit| *bit != 0));
        let six = combine(&bits[..6], any).expect("two").0.correlated(0).expect("few");
        assert_eq!(six.choices.len(), 6);
        let seven = combine(&[six, bits[6].clone()], any).expect("two");
        let AbstractValue::OneOf(few) = &seven.0 else { panic!("{seven:?}") };
        assert!(few.is_uncorrelated() && patterns(seven) == [0, 1]);
        // Uncorrelated sets are not even tied to each other.
        let uncorrelated = Arc::new(CorrelatedSet::uncorrelated(&[5, 6]));
        let difference =
            combine(&[uncorrelated, Arc::new(CorrelatedSet::uncorrelated(&[5, 6, 7]))], |x| x[0].wrapping_sub(x[1]))
                .expect("few");
        assert_eq!(patterns(difference), [0, 1, u64::MAX - 1, u64::MAX]);
        let twins = [Arc::new(CorrelatedSet::uncorrelated(&[5, 6])), Arc::new(CorrelatedSet::uncorrelated(&[5, 6]))];
        assert_eq!(patterns(combine(&twins, |x| x[0].wrapping_sub(x[1])).expect("few")), [0, 1, u64::MAX]);
        let copies = [twins[0].clone(), twins[0].clone()];
        assert_eq!(combine(&copies, |x| x[0].wrapping_sub(x[1])), Some((AbstractValue::Bits, 0)));
        let many = of(9, &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(combine(&[many, of(8, &[0, 8])], |x| x[0] + x[1]), None);
    }

    #[test]
    fn a_restricted_choice_restricts_the_values_that_depend_on_it() {
        let (a, b) = (of(1, &[3, 4, 5]), of(2, &[0, 10]));
        let Some((AbstractValue::OneOf(sum), _)) = combine(&[a, b], |x| x[0] + x[1]) else { panic!("six") };
        let (value, bits) = sum.restricted(NondetChoice { number: 1, remaining: 0b110 }).expect("restricted");
        assert_eq!(patterns((value.clone(), bits)), [4, 5, 14, 15]);
        let (value, _) = value
            .correlated(bits)
            .expect("few")
            .restricted(NondetChoice { number: 1, remaining: 0b100 })
            .expect("restricted");
        assert_eq!(patterns((value, 0)), [5, 15]);
        assert_eq!(sum.restricted(NondetChoice { number: 7, remaining: 1 }), None);
    }

    #[test]
    fn a_choice_of_one_lane_does_not_restrict_values_of_another() {
        // Two lanes join that choice 1 separated. In the first one, only two alternatives of choice
        // 2 remain.
        let (parts, m) = (of(1, &[0, 1]), of(2, &[3, 4, 5]));
        let (AbstractValue::OneOf(first), _) =
            m.restricted(NondetChoice { number: 2, remaining: 0b011 }).expect("restricted")
        else {
            panic!("two")
        };
        let met = combine(&[parts, first, m], |x| x[1 + x[0] as usize]).expect("few");
        assert_eq!(patterns(met), [3, 4, 5]);
    }
}
