//! Elements that a shader wrote, and those that could have come out wrong.

use crate::group_digits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Elements that a shader wrote, in all rounds. An element that no invocation wrote must keep its
/// value and can fail, but is not a result that the device computed.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Writes {
    /// Elements of the bindings that the shader may write: those that were checked or are
    /// undetermined, but of each binding at most as many as its stores write in all invocations, if
    /// none of them is in a loop.
    pub elements: u64,
    /// Elements that some invocation wrote or may have written, even with an unchanged value.
    pub written: u64,
    /// Written elements for which not every value is permitted. A Pass requires at least one.
    pub falsifiable: u64,
    /// Falsifiable elements whose permitted set, in the usual reading, spans more than a factor of
    /// two, or both signs. They say little.
    #[serde(default, skip_serializing_if = "crate::skip::is_zero")]
    pub wide: u64,
    /// Falsifiable elements that differ from their old value and from the most frequent one at
    /// their place in a record. `None` if that was not counted, or if the shader stores a single
    /// value by design, as one that clears an image does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    /// Rounds with parameters of their own in which elements were written, but fewer than one in
    /// [`Writes::MEANINGFUL`] could have come out wrong by a factor of two.
    #[serde(default, skip_serializing_if = "crate::skip::is_zero")]
    pub thin_modes: u64,
    /// Counts by binding that the shader may write.
    pub bindings: Vec<BindingWrites>,
}

/// Elements of a binding that a shader wrote, in all rounds.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct BindingWrites {
    /// The binding: `set 0 binding 1 (sums)`.
    pub binding: String,
    /// As in [`Writes::elements`].
    pub elements: u64,
    /// As in [`Writes::written`].
    pub written: u64,
    /// As in [`Writes::falsifiable`].
    pub falsifiable: u64,
    /// As in [`Writes::wide`].
    #[serde(default, skip_serializing_if = "crate::skip::is_zero")]
    pub wide: u64,
}

impl BindingWrites {
    /// Adds the counts of another round.
    pub fn add(&mut self, other: &BindingWrites) {
        self.elements += other.elements;
        self.written += other.written;
        self.falsifiable += other.falsifiable;
        self.wide += other.wide;
    }
}

impl Writes {
    /// Adds bindings up.
    pub fn of(bindings: Vec<BindingWrites>) -> Writes {
        let sum = |number: fn(&BindingWrites) -> u64| bindings.iter().map(number).sum();
        let (elements, written) = (sum(|b| b.elements), sum(|b| b.written));
        let (falsifiable, wide) = (sum(|b| b.falsifiable), sum(|b| b.wide));
        Writes { elements, written, falsifiable, wide, distinct: None, thin_modes: 0, bindings }
    }

    /// Returns the number of elements that could have come out wrong by a factor of two.
    pub fn narrow(&self) -> u64 {
        self.falsifiable.saturating_sub(self.wide)
    }

    /// Returns whether a verdict says something about the shader: one in [`Writes::MEANINGFUL`] of
    /// the elements that it may write could have come out wrong by a factor of two, in each mode, and
    /// their values are varied.
    pub fn is_meaningful(&self) -> bool {
        self.narrow() > 0 && Writes::is_enough(self.narrow(), self.elements) && self.is_varied() && self.thin_modes == 0
    }

    /// Returns whether the values of the falsifiable elements differ enough to say something about
    /// the shader: one in [`Writes::MEANINGFUL`] is distinct, or there are only a few.
    pub fn is_varied(&self) -> bool {
        let is_enough = |distinct| distinct > 0 && Writes::is_enough(distinct, self.falsifiable);
        self.falsifiable < Writes::FEW || self.distinct.is_none_or(is_enough)
    }

    /// Returns whether a number of elements is at least one in [`Writes::MEANINGFUL`] of all.
    pub fn is_enough(some: u64, all: u64) -> bool {
        some.saturating_mul(Writes::MEANINGFUL) >= all
    }

    /// Reciprocal of the smallest share of elements on which a meaningful verdict rests: 5 %.
    pub const MEANINGFUL: u64 = 20;

    /// Fewer falsifiable elements are not judged by their values, and fewer written ones are no sign that
    /// the instructions of a shader did much.
    pub const FEW: u64 = 16;
}

impl std::fmt::Display for Writes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Writes { elements, written, falsifiable, wide, bindings, .. } = self;
        let some = bindings.iter().filter(|binding| binding.written > 0).count();
        let (plural, all) = (if *elements == 1 { "" } else { "s" }, bindings.len());
        let bindings = if all == 1 { "binding" } else { "bindings" };
        write!(
            f,
            "wrote {} of {} element{plural} in {some} of {all} {bindings}",
            group_digits(written),
            group_digits(elements)
        )?;
        match falsifiable {
            _ if falsifiable == written => Ok(()),
            0 => write!(f, ", none of which could have come out wrong"),
            _ => write!(f, ", {} of which could have come out wrong", group_digits(falsifiable)),
        }?;
        match wide {
            0 => Ok(()),
            _ => write!(f, "; {} of these may vary by more than a factor of two", group_digits(wide)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_told_with_those_that_could_be_wrong() {
        let binding = |name: &str, elements, written, falsifiable| BindingWrites {
            binding: name.into(),
            elements,
            written,
            falsifiable,
            wide: 0,
        };
        let text = |bindings| Writes::of(bindings).to_string();
        let four =
            vec![binding("a", 12_000, 5, 5), binding("b", 96, 0, 0), binding("c", 96, 0, 0), binding("d", 96, 0, 0)];
        assert_eq!(text(four), "wrote 5 of 12,288 elements in 1 of 4 bindings");
        let some = vec![binding("a", 4, 3, 1), binding("b", 4, 2, 1)];
        assert_eq!(text(some), "wrote 5 of 8 elements in 2 of 2 bindings, 2 of which could have come out wrong");
        let one = vec![binding("a", 1, 1, 0)];
        assert_eq!(text(one), "wrote 1 of 1 element in 1 of 1 binding, none of which could have come out wrong");
        let wide = vec![BindingWrites { wide: 2, ..binding("a", 4, 4, 4) }];
        assert_eq!(
            text(wide),
            "wrote 4 of 4 elements in 1 of 1 binding; 2 of these may vary by more than a factor of two"
        );
    }

    #[test]
    fn a_verdict_needs_varied_values_unless_there_are_few() {
        let writes = |elements, falsifiable, distinct| {
            Writes { elements, written: falsifiable, falsifiable, distinct, ..Writes::default() }.is_meaningful()
        };
        assert!(writes(100, 100, Some(5)) && writes(100, 5, Some(0)) && writes(100, 100, None));
        assert!(!writes(100, 100, Some(4)) && !writes(100, 4, None) && !writes(0, 0, None));
        let wide = Writes { elements: 100, written: 100, falsifiable: 100, wide: 96, ..Writes::default() };
        assert!(!wide.is_meaningful() && wide.narrow() == 4);
    }
}
