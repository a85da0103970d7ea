//! Causes of failures of random programs.

use crate::coverage::operation_text;
use assay_check::ShaderSource;
use assay_events::{CheckResult, Status};
use assay_spirv::module::InstructionIndex;
use std::fmt;

/// Signature of a failure. Failures with equal signatures on one device have probably one cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailureSignature {
    /// Outcome: `Fail`, `Crash` or another status.
    pub status: String,
    /// The first wrong instruction with the types and kinds of its operands, where vectors count as
    /// their scalars; without one, `no traced instruction`, or the reason with `#` for each number.
    pub subject: String,
    /// Class of the first wrong element.
    pub class: String,
}

impl fmt::Display for FailureSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [self.subject.as_str(), self.class.as_str(), if self.status == "Fail" { "" } else { &self.status }];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        f.write_str(&parts.join(", "))
    }
}

impl FailureSignature {
    /// Returns the signature of a failure of this shader.
    pub fn of(shader: &ShaderSource, result: &CheckResult) -> FailureSignature {
        let module = &shader.source.module;
        let blamed = result.blamed.first().map(|blame| InstructionIndex(blame.instruction));
        let blamed = blamed.filter(|index| (index.0 as usize) < module.len());
        let subject = blamed.and_then(|index| operation_text(module, module.instruction(index)));
        let class = result.mismatches.iter().find(|mismatch| mismatch.is_against_the_specification());
        FailureSignature {
            status: format!("{:?}", result.status),
            class: class.map(|mismatch| mismatch.class.clone()).unwrap_or_default(),
            subject: match subject {
                Some(text) => scalars_only(&text),
                None if result.status == Status::Fail && !result.mismatches.is_empty() => {
                    "no traced instruction".to_owned()
                }
                None => {
                    without_numbers(result.reason.as_deref().unwrap_or_default().lines().next().unwrap_or_default())
                }
            },
        }
    }
}

/// Replaces vector and matrix types by their scalars: `u32x4` by `u32`.
fn scalars_only(text: &str) -> String {
    let word = |word: &str| {
        let (bare, comma) = word.strip_suffix(',').map_or((word, ""), |bare| (bare, ","));
        let scalar = bare.split('x').next().unwrap_or(bare);
        let known = scalar == "bool" || scalar.get(1..).is_some_and(|width| width.parse::<u32>().is_ok());
        if known { format!("{scalar}{comma}") } else { word.to_owned() }
    };
    let words: Vec<String> = text.split(' ').map(word).collect();
    // Operands of one kind are one.
    let joined = words.join(" ");
    let Some((head, operands)) = joined.split_once("<- ") else { return joined };
    let mut operands: Vec<&str> = operands.split(", ").collect();
    operands.dedup();
    format!("{head}<- {}", operands.join(", "))
}

/// Replaces each number by `#`.
fn without_numbers(text: &str) -> String {
    let mut result = String::new();
    for c in text.chars() {
        match c {
            // Digits and separators after the first digit belong to one number.
            '0'..='9' | ',' if result.ends_with('#') => {}
            '0'..='9' => result.push('#'),
            _ => result.push(c),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_do_not_depend_on_sizes_and_places() {
        assert_eq!(scalars_only("OpIEqual boolx2 <- u32x2 null, u32x2"), "OpIEqual bool <- u32 null, u32");
        assert_eq!(scalars_only("OpIAdd u32x4 <- u32x4, u32x4"), "OpIAdd u32 <- u32");
        assert_eq!(scalars_only("FrexpStruct structure <- f32x3"), "FrexpStruct structure <- f32");
        assert_eq!(without_numbers("lost at word 1,204 of 3000"), "lost at word # of #");
    }
}
