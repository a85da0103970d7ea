//! How a float came about, as far as its operations may be rearranged.

/// The exact value that a chain of additions and multiplications has in real arithmetic, and what rearranging it may cost.
///
/// See the crate's documentation: the permitted results of a chain are those of its operations one after another, and all
/// values within `error` of the exact value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Form {
    /// Which value it is: two lanes' values with the same number are one value. 0: no form.
    pub(crate) id: u32,
    /// Operations in the chain; 0: not the result of one (a leaf).
    pub(crate) operations: u16,
    /// Summands, as far as they are counted.
    pub(crate) terms: u16,
    /// Factors of a summand.
    pub(crate) degree: u16,
    /// The exact value lies between these.
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    /// At least the sum of the summands' magnitudes.
    pub(crate) sum: f64,
    /// What flushing may add to the error.
    pub(crate) slack: f64,
}

impl Form {
    /// No form: the register's bits are an exact value that no operation made.
    pub(crate) const NONE: Form =
        Form { id: 0, operations: 0, terms: 1, degree: 1, lo: 0.0, hi: 0.0, sum: 0.0, slack: 0.0 };
}
