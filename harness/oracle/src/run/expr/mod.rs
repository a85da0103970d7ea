//! Expression bounds ([`crate::expr_bound`]) of results: their construction, expanded formulas,
//! instructions of inherited precision, and vector lengths.

pub(super) mod build;
mod formula;
mod inherited;
mod vector_length;
