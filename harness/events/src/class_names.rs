//! Names of the classes of wrong results.

use assay_precision::{FailureClass, nearest};

/// An element that still has its contents from before the dispatch.
pub const UNWRITTEN: &str = "Unwritten";
/// An element that differs from the expectation of the case file.
pub const EXPECTATION: &str = "Expectation";
/// Equivalence check: an element with no permitted value that the case file expects.
pub const NEVER_EXPECTED: &str = "NeverExpected";
/// The values that atomics found fit no order of them.
pub const IMPOSSIBLE_ORDER: &str = "ImpossibleOrder";
/// The recorded layout of subgroups is not possible.
pub const IMPOSSIBLE_LAYOUT: &str = "ImpossibleLayout";
/// Equivalence check: no result of the other translation is permitted.
pub const CHANGED: &str = "Changed";
/// Equivalence check: some results of the other translation are not permitted.
pub const WIDER: &str = "Wider";
/// Render pass: a texel or word that is not permitted.
pub const TEXEL: &str = "Texel";
/// Render pass: a texel or word that differs in the ordinary shader over the whole frame.
pub const FULL_FRAME: &str = "FullFrame";
/// Render pass: a texel or word that differs in the suite's independent reference.
pub const REFERENCE: &str = "Reference";
/// Render pass: a tile changed memory outside itself.
pub const OUTSIDE_TILE: &str = "OutsideTile";

/// Classes of programs.
const OF_PROGRAMS: [&str; 11] = [
    UNWRITTEN,
    EXPECTATION,
    NEVER_EXPECTED,
    IMPOSSIBLE_ORDER,
    IMPOSSIBLE_LAYOUT,
    CHANGED,
    WIDER,
    TEXEL,
    FULL_FRAME,
    REFERENCE,
    OUTSIDE_TILE,
];

/// Checks that `name` is the name of a class, as in
/// [`ClassCount::class`](crate::ClassCount::class).
///
/// # Errors
/// The most similar names, if no class has this name.
pub fn check_class_name(name: &str) -> Result<(), Vec<String>> {
    let results = FailureClass::ALL.map(|class| format!("{class:?}"));
    let all = || OF_PROGRAMS.into_iter().chain(results.iter().map(String::as_str));
    if all().any(|class| class == name) {
        return Ok(());
    }
    Err(nearest(name, all()).into_iter().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_known_and_others_have_near_names() {
        assert_eq!((check_class_name("SignOfZero"), check_class_name("Unwritten")), (Ok(()), Ok(())));
        assert_eq!(check_class_name("fewulps").unwrap_err()[0], "FewUlp");
    }
}
