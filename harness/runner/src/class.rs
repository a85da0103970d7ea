//! The classes of wrong results, by name.

use assay_precision::{FailureClass, nearest};

/// Of an element: the device left what was there before.
pub const UNWRITTEN: &str = "Unwritten";
/// Of an element: the case file expects something else.
pub const EXPECTATION: &str = "Expectation";
/// No order of atomics explains what they found.
pub const IMPOSSIBLE_ORDER: &str = "ImpossibleOrder";
/// The layout of subgroups that was recorded cannot be.
pub const IMPOSSIBLE_LAYOUT: &str = "ImpossibleLayout";
/// Of another translation: nothing that it may become is permitted.
pub const CHANGED: &str = "Changed";
/// Of another translation: some of what it may become is not permitted.
pub const WIDER: &str = "Wider";
/// Of a render pass: a texel or word that is not permitted.
pub const TEXEL: &str = "Texel";
/// Of a render pass: the same in the ordinary shader over the whole frame.
pub const FULL_FRAME: &str = "FullFrame";
/// Of a render pass: the same in the suite's second reference.
pub const REFERENCE: &str = "Reference";
/// Of a render pass: a tile changed what is outside it.
pub const OUTSIDE_TILE: &str = "OutsideTile";

/// Of programs.
const OF_PROGRAMS: [&str; 10] = [
    UNWRITTEN,
    EXPECTATION,
    IMPOSSIBLE_ORDER,
    IMPOSSIBLE_LAYOUT,
    CHANGED,
    WIDER,
    TEXEL,
    FULL_FRAME,
    REFERENCE,
    OUTSIDE_TILE,
];

/// Of results of instructions, and of elements that are floats.
const OF_RESULTS: [FailureClass; 9] = [
    FailureClass::FlushedIn,
    FailureClass::FlushedOut,
    FailureClass::KeptDenormal,
    FailureClass::RoundingDirection,
    FailureClass::SignOfZero,
    FailureClass::Nan,
    FailureClass::Overflow,
    FailureClass::FewUlp,
    FailureClass::Wild,
];

/// Looks a name of a class up, as [`ClassCount::class`](crate::ClassCount::class) has it.
///
/// # Errors
/// There is none of that name: those near it.
pub fn known(name: &str) -> Result<(), Vec<String>> {
    let results = OF_RESULTS.map(|class| format!("{class:?}"));
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
    fn every_class_is_known_and_others_have_near_names() {
        // Without a place here a new class does not compile.
        let place = |class: FailureClass| match class {
            FailureClass::FlushedIn => 0,
            FailureClass::FlushedOut => 1,
            FailureClass::KeptDenormal => 2,
            FailureClass::RoundingDirection => 3,
            FailureClass::SignOfZero => 4,
            FailureClass::Nan => 5,
            FailureClass::Overflow => 6,
            FailureClass::FewUlp => 7,
            FailureClass::Wild => 8,
        };
        assert_eq!(OF_RESULTS.map(place), std::array::from_fn(|place| place));
        assert_eq!((known("SignOfZero"), known("Unwritten")), (Ok(()), Ok(())));
        assert_eq!(known("fewulps").unwrap_err()[0], "FewUlp");
    }
}
