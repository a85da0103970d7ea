//! How many inputs a case is run on.

use std::fmt;
use std::str::FromStr;

/// How many inputs a case is run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Budget {
    /// At most a few thousand: the whole audit in minutes. Cases are left out too: what each family says.
    #[default]
    Quick,
    /// 2^24, or all if there are fewer.
    Sampled,
    /// All, where that is at most 2^32; else 2^28.
    Exhaustive,
}

impl Budget {
    /// Every budget, smallest first.
    pub const ALL: [Budget; 3] = [Budget::Quick, Budget::Sampled, Budget::Exhaustive];

    /// How many inputs there may be for all of them to be run.
    pub(crate) const fn complete(self) -> u64 {
        match self {
            Budget::Quick => 1 << 11,
            Budget::Sampled => 1 << 24,
            Budget::Exhaustive => 1 << 32,
        }
    }

    /// How many inputs are run where there are more, for so many result scalars each: the quick budget is one of time, and every
    /// scalar takes its own.
    pub(crate) const fn sample(self, results: usize) -> u64 {
        match self {
            Budget::Quick if results > 8 => 1 << 8,
            Budget::Quick => (1 << 11) / results.next_power_of_two() as u64,
            Budget::Sampled => 1 << 24,
            Budget::Exhaustive => 1 << 28,
        }
    }

    /// How many of them may be specials crossed with specials.
    pub(crate) const fn cross(self, results: usize) -> u64 {
        match self {
            Budget::Quick => 2 * self.sample(results),
            Budget::Sampled => 1 << 20,
            Budget::Exhaustive => 1 << 22,
        }
    }

    /// How many rows a case runs whose operands are constants: each takes part of a module.
    pub(crate) const fn constants(self) -> u64 {
        match self {
            Budget::Quick => 64,
            Budget::Sampled => 1 << 10,
            Budget::Exhaustive => 1 << 14,
        }
    }

    /// `quick`, `sampled`, `exhaustive`.
    pub const fn name(self) -> &'static str {
        match self {
            Budget::Quick => "quick",
            Budget::Sampled => "sampled",
            Budget::Exhaustive => "exhaustive",
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown budget `{0}`: expected quick, sampled or exhaustive")]
pub struct UnknownBudget(String);

impl FromStr for Budget {
    type Err = UnknownBudget;

    fn from_str(name: &str) -> Result<Budget, UnknownBudget> {
        let found = Budget::ALL.into_iter().find(|budget| budget.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| UnknownBudget(name.to_owned()))
    }
}
