//! Asking with more precision until the answer is certain.

use crate::{Big, Enclosure, Fast, Undecided};

/// A question about real numbers that can be asked at any precision.
pub trait Question {
    /// What is asked for.
    type Answer;

    /// Answers, or says that the precision does not suffice.
    fn ask<R: Enclosure>(&self, precision: R::Precision) -> Result<Self::Answer, Undecided>;
}

/// Working precisions of [`Big`], in bits, each tried when the one before could not decide. The last is ample: two
/// different numbers that a rule compares (sums of products of values of one format, functions of single values) differ by far
/// more, and equal ones are found equal because exact cases are points.
const PRECISIONS: [u32; 7] = [96, 192, 400, 1_000, 2_500, 6_000, 20_000];

/// The answer to a question, in `f64` where that suffices, else with as many bits as it takes.
///
/// # Panics
/// If 20,000 bits do not decide: an exact case went unrecognised, which is a defect of the reference.
pub fn decide<Q: Question>(question: &Q) -> Q::Answer {
    if let Ok(answer) = question.ask::<Fast>(()) {
        return answer;
    }
    PRECISIONS
        .iter()
        .find_map(|&bits| question.ask::<Big>(bits).ok())
        .expect("an exact case was not recognised: the question stays undecided at every precision")
}
