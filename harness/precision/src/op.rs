//! Names of instructions.

use crate::{instructions::Op, nearest_names::nearest};
use std::fmt;

/// Error: the name is not an instruction of the table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown instruction `{name}`; did you mean {}?", nearest.join(", "))]
pub struct UnknownOp {
    /// The unknown name.
    pub name: String,
    /// Closest names, best first.
    pub nearest: Vec<&'static str>,
}

impl Op {
    /// Returns true for instructions of the extended set GLSL.std.450.
    pub fn is_glsl(self) -> bool {
        self >= Op::Round
    }

    /// Name in case names, in lower case and without `Op`: `fdiv`, `exp2`.
    pub fn case_name(self) -> String {
        let name = self.name();
        let name = if self.is_glsl() { name } else { &name[2..] };
        name.to_ascii_lowercase()
    }

    /// Parses an instruction's name, ignoring case. `Op` may be omitted where that is unambiguous.
    ///
    /// # Errors
    /// Fails for an unknown name, with the closest known names.
    pub fn from_name(name: &str) -> Result<Op, UnknownOp> {
        let same = |candidate: &str| candidate.eq_ignore_ascii_case(name);
        let found =
            Op::ALL.iter().find(|op| same(op.name())).or_else(|| Op::ALL.iter().find(|op| same(&op.case_name())));
        found.copied().ok_or_else(|| UnknownOp {
            name: name.to_owned(),
            nearest: nearest(name, Op::ALL.iter().map(|op| op.name())),
        })
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_without_case_and_near_misses_are_named() {
        assert_eq!(Op::from_name("opfdiv"), Ok(Op::FDiv));
        assert_eq!(Op::from_name("fdiv"), Ok(Op::FDiv));
        assert_eq!(Op::from_name("EXP2"), Ok(Op::Exp2));
        assert_eq!(Op::from_name("Expp2").unwrap_err().nearest[0], "Exp2");
        assert!(Op::ALL.iter().all(|&op| Op::from_name(op.name()) == Ok(op)));
        assert!(Op::ALL.is_sorted() && !Op::AtomicCompareExchangeWeak.is_glsl() && Op::Round.is_glsl());
    }
}
