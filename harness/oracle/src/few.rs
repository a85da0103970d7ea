//! Values that are one of a few patterns, and which decisions say of which.
//!
//! Where the text leaves open what an instruction gives, an implementation decides it once, and all that is computed from
//! the result follows from that. So each such decision has a number, and a value of several patterns is a table: what it
//! is for every combination of alternatives of the decisions that it depends on. Values that depend on the same decision are
//! combined alternative by alternative, and a decision that a value no longer depends on is dropped: with `y` of `x / 16`
//! rounded either way, `x - y * 16 + y * 16` is `x`.

use crate::value::{ALTERNATIVES, Value};
use smallvec::SmallVec;
use std::sync::Arc;

/// How many combinations of alternatives are told apart.
const COMBINATIONS: usize = 64;

/// A decision: its number, and which of its alternatives (at most 8) are left, a bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) number: u64,
    pub(crate) left: u8,
}

/// The number of a decision that nothing else is known to depend on: so are those of what lies in memory, as what is loaded by one
/// invocation may come from another.
const LOOSE: u64 = 0;

impl Choice {
    fn count(self) -> usize {
        self.left.count_ones() as usize
    }

    /// Its alternatives that are left, each alone.
    pub(crate) fn each(self) -> impl Iterator<Item = u8> {
        (0..8).map(|i| 1 << i).filter(move |bit| self.left & bit != 0)
    }
}

/// One of a few patterns (distinct ones: at least two, at most [`ALTERNATIVES`], or one that is exact).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Few {
    choices: SmallVec<[Choice; 2]>,
    /// For every combination, the alternatives of the last choice running fastest.
    patterns: SmallVec<[u64; 8]>,
}

impl Few {
    /// The one pattern.
    fn exact(bits: u64) -> Few {
        Few { choices: SmallVec::new(), patterns: [bits].into_iter().collect() }
    }

    /// A pattern for each alternative of a choice that are left.
    pub(crate) fn of(choice: Choice, patterns: impl IntoIterator<Item = u64>) -> Few {
        Few { choices: [choice].into_iter().collect(), patterns: patterns.into_iter().collect() }
    }

    /// Some patterns, which nothing else is known to go with.
    pub(crate) fn loose(patterns: &[u64]) -> Few {
        let left = u8::MAX >> (8 - patterns.len().clamp(1, ALTERNATIVES));
        Few::of(Choice { number: LOOSE, left }, patterns.iter().copied())
    }

    /// The same without the decisions that it depends on.
    pub(crate) fn loosened(&self) -> Few {
        Few::loose(&self.distinct())
    }

    /// The patterns, ascending.
    pub(crate) fn distinct(&self) -> Vec<u64> {
        let mut all = self.patterns.to_vec();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub(crate) fn is_loose(&self) -> bool {
        self.choices.iter().any(|choice| choice.number == LOOSE)
    }

    /// The same as the result of a decision of its own.
    pub(crate) fn numbered(&self, number: u64) -> Few {
        let all = self.distinct();
        let left = Few::loose(&all).choices[0].left;
        Few::of(Choice { number, left }, all)
    }

    /// Of each decision, the alternatives with which the pattern can be one of these.
    pub(crate) fn left_where(&self, chosen: impl Fn(u64) -> bool) -> Vec<Choice> {
        let mut left: Vec<Choice> = self.choices.iter().map(|choice| Choice { left: 0, ..*choice }).collect();
        for (at, bits) in combinations(&self.choices).zip(&self.patterns) {
            let bits = if chosen(*bits) { &at[..] } else { &[] };
            left.iter_mut().zip(bits).for_each(|(choice, bit)| choice.left |= bit);
        }
        left.retain(|choice| choice.number != LOOSE);
        left
    }

    /// What it is if only these alternatives of a decision are left.
    pub(crate) fn restricted(&self, to: Choice) -> Option<(Value, u64)> {
        let place = self.choices.iter().position(|choice| choice.number == to.number)?;
        let left = self.choices[place].left & to.left;
        if left == 0 || left == self.choices[place].left {
            return None;
        }
        let mut choices = self.choices.clone();
        choices[place].left = left;
        let patterns = combinations(&choices).map(|at| self.pattern(&choices, &at)).collect();
        made(choices, patterns)
    }

    /// The pattern for one combination of choices, all of this one's among them.
    fn pattern(&self, choices: &[Choice], at: &[u8]) -> u64 {
        let place = self.choices.iter().fold(0, |place, own| {
            let bit = choices.iter().position(|choice| choice.number == own.number).map_or(0, |k| at[k]);
            place * own.count() + (own.left & bit.wrapping_sub(1)).count_ones() as usize
        });
        self.patterns.get(place).copied().unwrap_or_default()
    }
}

/// Every combination of alternatives, the last choice running fastest.
fn combinations(choices: &[Choice]) -> impl Iterator<Item = SmallVec<[u8; 4]>> {
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

/// A table as a value, with its register's bits: without the choices that make no difference; `None` with too many patterns.
fn made(mut choices: SmallVec<[Choice; 2]>, mut patterns: SmallVec<[u64; 8]>) -> Option<(Value, u64)> {
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
    let few = Few { choices, patterns };
    match few.distinct()[..] {
        [one] => Some((Value::Bits, one)),
        ref all if all.len() <= ALTERNATIVES => {
            let bits = all[0];
            Some((Value::Few(Arc::new(few)), bits))
        }
        _ => None,
    }
}

/// Operands together, for every combination of alternatives that they may have together.
pub(crate) struct Together {
    choices: SmallVec<[Choice; 2]>,
    rows: Vec<SmallVec<[u64; 4]>>,
}

impl Together {
    /// `None` where they are too many. Where the decisions are too many, but not the patterns, each operand is taken for a decision of its
    /// own.
    pub(crate) fn of(operands: &[Arc<Few>]) -> Option<Together> {
        Together::related(operands).or_else(|| {
            let apart = |few: &Arc<Few>| {
                // The same value is the same choice, which of loose ones only copies are.
                let same = |other: &Arc<Few>| Arc::ptr_eq(other, few) || (!few.is_loose() && other == few);
                let first = operands.iter().position(same).unwrap_or_default();
                if few.choices.is_empty() { few.clone() } else { Arc::new(few.numbered(u64::MAX - first as u64)) }
            };
            let mut together = Together::related(&operands.iter().map(apart).collect::<Vec<_>>())?;
            together.choices.iter_mut().for_each(|choice| choice.number = LOOSE);
            Some(together)
        })
    }

    fn related(operands: &[Arc<Few>]) -> Option<Together> {
        let mut choices: SmallVec<[Choice; 2]> = SmallVec::new();
        for choice in operands.iter().flat_map(|few| &few.choices) {
            match choices.iter().find(|known| known.number == choice.number && choice.number != LOOSE) {
                // Not decided alike: they are of two lanes, of which one may go on without what goes with the other's alternatives.
                Some(known) if known.left != choice.left => return None,
                Some(_) => {}
                None => choices.push(*choice),
            }
        }
        let loose = choices.iter().filter(|choice| choice.number == LOOSE).count();
        let count = choices.iter().try_fold(1usize, |all, choice| all.checked_mul(choice.count()))?;
        if loose > 1 || !(1..=COMBINATIONS).contains(&count) {
            return None;
        }
        let row = |at: SmallVec<[u8; 4]>| operands.iter().map(|few| few.pattern(&choices, &at)).collect();
        let rows = combinations(&choices).map(row).collect();
        Some(Together { rows, choices })
    }

    /// The operands of each combination.
    pub(crate) fn rows(&self) -> &[SmallVec<[u64; 4]>] {
        &self.rows
    }

    /// Results, one for every row, as a value; `None` with too many patterns. What depends on a decision without a number depends on nothing
    /// else that is known.
    pub(crate) fn give(self, results: impl IntoIterator<Item = u64>) -> Option<(Value, u64)> {
        let found = made(self.choices, results.into_iter().collect())?;
        Some(match found {
            (Value::Few(few), bits) if few.is_loose() => (Value::Few(Arc::new(few.loosened())), bits),
            found => found,
        })
    }
}

impl Value {
    /// As a table, with its register's bits; as [`Value::patterns`].
    pub(crate) fn few(&self, bits: u64) -> Result<Arc<Few>, Option<u32>> {
        match self {
            Value::Few(few) => Ok(few.clone()),
            _ => self
                .patterns(bits)
                .map(|all| Arc::new(if let [one] = all[..] { Few::exact(one) } else { Few::loose(&all) })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: u64, patterns: &[u64]) -> Arc<Few> {
        Arc::new(Few::loose(patterns).numbered(number))
    }

    fn combine(operands: &[Arc<Few>], f: impl Fn(&[u64]) -> u64) -> Option<(Value, u64)> {
        let together = Together::of(operands)?;
        let results: Vec<u64> = together.rows().iter().map(|row| f(row)).collect();
        together.give(results)
    }

    fn patterns((value, bits): (Value, u64)) -> Vec<u64> {
        value.patterns(bits).expect("patterns")
    }

    #[test]
    fn what_depends_on_one_decision_goes_together() {
        let (a, b) = (of(1, &[3, 4]), of(2, &[10, 20, 30]));
        assert_eq!(combine(&[a.clone(), a.clone()], |x| x[0] - x[1]), Some((Value::Bits, 0)));
        let sum = combine(&[a.clone(), b.clone()], |x| x[0] + x[1]).expect("six");
        assert_eq!(patterns(sum.clone()), [13, 14, 23, 24, 33, 34]);
        // The sum still goes with both.
        let sum = sum.0.few(0).expect("few");
        let rest = combine(&[sum.clone(), b.clone()], |x| x[0] - x[1]).expect("two");
        assert_eq!(rest.0, Value::Few(a.clone()));
        assert_eq!(combine(&[b, sum, a], |x| x[1] - x[0] - x[2]), Some((Value::Bits, 0)));
    }

    #[test]
    fn decisions_that_are_too_many_are_taken_apart() {
        let bits: Vec<Arc<Few>> = (1..=7).map(|number| of(number, &[0, 1])).collect();
        let any = |x: &[u64]| u64::from(x.iter().any(|bit| *bit != 0));
        let six = combine(&bits[..6], any).expect("two").0.few(0).expect("few");
        assert_eq!(six.choices.len(), 6);
        let seven = combine(&[six, bits[6].clone()], any).expect("two");
        let Value::Few(few) = &seven.0 else { panic!("{seven:?}") };
        assert!(few.is_loose() && patterns(seven) == [0, 1]);
        // Loose ones go with nothing, not even with each other.
        let loose = Arc::new(Few::loose(&[5, 6]));
        let difference = combine(&[loose, Arc::new(Few::loose(&[5, 6, 7]))], |x| x[0].wrapping_sub(x[1])).expect("few");
        assert_eq!(patterns(difference), [0, 1, u64::MAX - 1, u64::MAX]);
        let twins = [Arc::new(Few::loose(&[5, 6])), Arc::new(Few::loose(&[5, 6]))];
        assert_eq!(patterns(combine(&twins, |x| x[0].wrapping_sub(x[1])).expect("few")), [0, 1, u64::MAX]);
        let copies = [twins[0].clone(), twins[0].clone()];
        assert_eq!(combine(&copies, |x| x[0].wrapping_sub(x[1])), Some((Value::Bits, 0)));
        let many = of(9, &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(combine(&[many, of(8, &[0, 8])], |x| x[0] + x[1]), None);
    }

    #[test]
    fn a_decision_that_is_made_restricts() {
        let (a, b) = (of(1, &[3, 4, 5]), of(2, &[0, 10]));
        let Some((Value::Few(sum), _)) = combine(&[a, b], |x| x[0] + x[1]) else { panic!("six") };
        let (value, bits) = sum.restricted(Choice { number: 1, left: 0b110 }).expect("restricted");
        assert_eq!(patterns((value.clone(), bits)), [4, 5, 14, 15]);
        let (value, _) =
            value.few(bits).expect("few").restricted(Choice { number: 1, left: 0b100 }).expect("restricted");
        assert_eq!(patterns((value, 0)), [5, 15]);
        assert_eq!(sum.restricted(Choice { number: 7, left: 1 }), None);
    }

    #[test]
    fn what_one_lane_decided_does_not_restrict_another_lanes_value() {
        // Two lanes meet that decision 1 parted; in the first one, only two alternatives of decision 2 are left.
        let (parts, m) = (of(1, &[0, 1]), of(2, &[3, 4, 5]));
        let (Value::Few(first), _) = m.restricted(Choice { number: 2, left: 0b011 }).expect("restricted") else {
            panic!("two")
        };
        let met = combine(&[parts, first, m], |x| x[1 + x[0] as usize]).expect("few");
        assert_eq!(patterns(met), [3, 4, 5]);
    }
}
