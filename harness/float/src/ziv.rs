//! Ziv's strategy: evaluation with increasing precision until the answer is certain.
//!
//! A question is first evaluated in interval arithmetic with a small working precision. If the
//! intervals are too wide to answer, the precision is increased and the question evaluated again
//! (A. Ziv, "Fast evaluation of elementary mathematical functions with correctly rounded last bit",
//! ACM Transactions on Mathematical Software 17(3), 1991; Muller et al., *Handbook of
//! Floating-Point Arithmetic*, 2nd edition). Ziv's own method tests whether `y - e` and `y + e`
//! round to the same number; [`Enclosure`] generalises the test to comparisons and ranks of
//! intervals.
//!
//! # Limits
//!
//! The strategy ends only if the exact value does not lie on the boundary in question (the Table
//! Maker's Dilemma). Enclosures therefore recognise exact cases: these are points, for which
//! comparisons are decided at once. An exact case that is not recognised panics after the last
//! precision; it never gives a wrong answer.

use crate::{BigEnclosure, Enclosure, F64Enclosure, Undecided};

/// Question about real numbers that can be evaluated at any precision.
pub trait EnclosureQuery {
    /// Type of the answer.
    type Answer;

    /// Answers the question, or reports that the precision does not suffice.
    fn evaluate<R: Enclosure>(&self, precision: R::Precision) -> Result<Self::Answer, Undecided>;
}

/// Working precisions of [`BigEnclosure`] in bits, tried in this order.
///
/// Different numbers that a rule compares (sums of products of values of one format, functions of
/// single values) are expected to differ by far more than the last precision resolves; this is not
/// proved. Equal ones are recognised, because exact cases are points.
const PRECISIONS: [u32; 7] = [96, 192, 400, 1_000, 2_500, 6_000, 20_000];

/// Answer to a question: in `f64` where that suffices, otherwise with as many bits as it takes.
///
/// # Panics
/// Panics if 20,000 bits do not decide the question: an exact case was not recognised, which is a
/// defect of the reference.
pub fn decide<Q: EnclosureQuery>(query: &Q) -> Q::Answer {
    if let Ok(answer) = query.evaluate::<F64Enclosure>(()) {
        return answer;
    }
    PRECISIONS
        .iter()
        .find_map(|&bits| query.evaluate::<BigEnclosure>(bits).ok())
        .expect("an exact case was not recognised: the question stays undecided at every precision")
}
