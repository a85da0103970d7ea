//! Number of inputs of a case.

use std::fmt;
use std::str::FromStr;

/// Number of inputs of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Budget {
    /// At most a few thousand, for a complete audit in minutes. It also leaves out the cases that
    /// each family names.
    #[default]
    Quick,
    /// All inputs up to 2^24; of more, 2^24 are sampled.
    Sampled,
    /// All inputs up to 2^32; of more, 2^28 are sampled.
    Exhaustive,
    /// All inputs up to 2^24; of more, a [`Hunt`](crate::Hunt) searches for the greatest errors.
    Hunt,
}

impl Budget {
    /// Every budget, smallest first.
    pub const ALL: [Budget; 4] = [Budget::Quick, Budget::Sampled, Budget::Exhaustive, Budget::Hunt];

    /// Returns the largest number of inputs that are run completely.
    pub(crate) const fn complete(self) -> u64 {
        match self {
            Budget::Quick => 1 << 11,
            Budget::Sampled | Budget::Hunt => 1 << 24,
            Budget::Exhaustive => 1 << 32,
        }
    }

    /// Returns the number of sampled inputs; each yields `results` scalars. The quick budget limits
    /// time, so it divides its number by that of the scalars.
    pub(crate) const fn sample(self, results: usize) -> u64 {
        match self {
            Budget::Quick if results > 8 => 1 << 8,
            Budget::Quick => (1 << 11) / results.next_power_of_two() as u64,
            Budget::Sampled => 1 << 24,
            Budget::Exhaustive => 1 << 28,
            // The rows from which a hunt starts.
            Budget::Hunt => 1 << 15,
        }
    }

    /// Returns the largest number of rows with special values in all operands.
    pub(crate) const fn cross(self, results: usize) -> u64 {
        match self {
            Budget::Quick => 2 * self.sample(results),
            Budget::Sampled => 1 << 20,
            Budget::Exhaustive => 1 << 22,
            Budget::Hunt => 1 << 14,
        }
    }

    /// Returns the number of rows of a case with constant operands, each of which is a part of a
    /// module.
    pub(crate) const fn constants(self) -> u64 {
        match self {
            Budget::Quick => 64,
            Budget::Sampled | Budget::Hunt => 1 << 10,
            Budget::Exhaustive => 1 << 14,
        }
    }

    /// Returns `quick`, `sampled`, `exhaustive` or `hunt`.
    pub const fn name(self) -> &'static str {
        match self {
            Budget::Quick => "quick",
            Budget::Sampled => "sampled",
            Budget::Exhaustive => "exhaustive",
            Budget::Hunt => "hunt",
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not a budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown budget `{0}`: expected quick, sampled, exhaustive or hunt")]
pub struct UnknownBudget(String);

impl FromStr for Budget {
    type Err = UnknownBudget;

    fn from_str(name: &str) -> Result<Budget, UnknownBudget> {
        let found = Budget::ALL.into_iter().find(|budget| budget.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| UnknownBudget(name.to_owned()))
    }
}
