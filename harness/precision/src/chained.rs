//! Evaluation of formulas in a caller's domain of expressions. An implementation may rearrange the
//! operations of a formula together with the operations that produced its operands, so that callers
//! who track how values were computed need the formula in their own terms.

use crate::{
    algebra::Algebra,
    call::Reference,
    environment::Environment,
    evaluate::Kernel,
    formula::{Formula, Node, NodeId},
    modes::Rounding,
    real::Real,
    span::{Span, Stop},
    spans::{Reading, Spans},
    sum::Sum,
    trace::Trace,
};
use assay_float::{Dyadic, Rank};
use smallvec::SmallVec;

/// Domain of expressions: sums, products and quotients as the caller tracks them.
pub trait Chains {
    /// Expression of a value.
    type Chain: Clone;

    /// Expression of a number.
    fn constant(&self, value: f64) -> Self::Chain;
    /// Expression of any value from `lo` to `hi`, however it was computed.
    fn between(&self, lo: Rank, hi: Rank) -> Self::Chain;
    /// Sum.
    fn add(&self, a: &Self::Chain, b: &Self::Chain) -> Self::Chain;
    /// Product; `None` if it is too long to be tracked.
    fn mul(&self, a: &Self::Chain, b: &Self::Chain) -> Option<Self::Chain>;
    /// Quotient; `None` if it is too long to be tracked, or if the divisor may be zero.
    fn div(&self, a: &Self::Chain, b: &Self::Chain) -> Option<Self::Chain>;
    /// Value with its sign reversed.
    fn neg(&self, a: &Self::Chain) -> Self::Chain;
    /// Either of the two values.
    fn either(&self, a: &Self::Chain, b: &Self::Chain) -> Self::Chain;
    /// Least and greatest rank that the expression may be computed as, in any arrangement; `None`
    /// if unknown.
    fn computed(&self, a: &Self::Chain) -> Option<(Rank, Rank)>;
}

impl Reference {
    /// Returns true if a result scalar is computed by a formula that contains sums or products.
    /// Implementations may rearrange those with the operations that produced its operands and that
    /// use its result.
    pub fn takes_apart(&self, slot: usize) -> bool {
        matches!(&self.slots[slot].kernel, Kernel::Formula(formula) if formula.computes())
    }

    /// Expression of a result scalar whose operands have these expressions (`operands` holds one
    /// for each operand scalar of the call; the formula reads those that
    /// [`Call::inputs`](crate::Call::inputs) lists). `None` if it is unknown, if nothing is
    /// required, or if the instruction has no formula.
    pub fn chained<C: Chains>(&self, slot: usize, chains: &C, operands: &[C::Chain]) -> Option<C::Chain> {
        let slot = &self.slots[slot];
        let Kernel::Formula(formula) = &slot.kernel else { return None };
        // Whether a formula rounds as declared has two readings. Here rounding is left undeclared.
        let env = Environment { coarse: true, rounding: Rounding::Undeclared, ..slot.env };
        let trace = Trace::off();
        let given: SmallVec<[C::Chain; 8]> = slot.inputs.iter().map(|(i, _)| operands[*i].clone()).collect();
        formula.range(&Chained { spans: Spans { env: &env, trace: &trace }, chains }, &given).ok()
    }
}

impl Formula {
    /// Returns true if the formula contains a sum or a product.
    fn computes(&self) -> bool {
        self.nodes.iter().any(|node| match node {
            Node::Sum(sum) => sum.terms.len() > 1 || sum.terms.iter().any(|term| term.factors.len() > 1),
            Node::Inherited(formula, _) | Node::Let(_, formula) => formula.computes(),
            _ => false,
        })
    }
}

/// Evaluator of formulas in a caller's expressions, and in spans for operations that are not sums
/// of products.
struct Chained<'a, C> {
    spans: Spans<'a>,
    chains: &'a C,
}

impl<C: Chains> Chained<'_, C> {
    fn reading(&self, chain: &C::Chain) -> Result<Reading, Stop> {
        let (lo, hi) = self.chains.computed(chain).ok_or(UNKNOWN)?;
        Ok(self.spans.uses(Span { lo, hi }))
    }

    fn readings(&self, chains: &[C::Chain]) -> Result<SmallVec<[Reading; 8]>, Stop> {
        chains.iter().map(|chain| self.reading(chain)).collect()
    }

    fn chain(&self, reading: Reading) -> Result<C::Chain, Stop> {
        let Span { lo, hi } = reading.hull();
        let infinite = Span { lo, hi }.has_infinity(self.spans.env.format);
        if infinite { Err(UNKNOWN) } else { Ok(self.chains.between(lo, hi)) }
    }
}

const UNKNOWN: Stop = Stop::Anything("what an operand may be computed as is not known");

impl<C: Chains> Algebra for Chained<'_, C> {
    type Range = C::Chain;

    fn constant(&self, value: Dyadic) -> Result<C::Chain, Stop> {
        Ok(self.chains.constant(value.to_f64()))
    }

    fn radians_per_degree(&self) -> Result<C::Chain, Stop> {
        self.chain(self.spans.radians_per_degree()?)
    }

    fn degrees_per_radian(&self) -> Result<C::Chain, Stop> {
        self.chain(self.spans.degrees_per_radian()?)
    }

    fn add(&self, a: &C::Chain, b: &C::Chain) -> Result<C::Chain, Stop> {
        Ok(self.chains.add(a, b))
    }

    fn mul(&self, a: &C::Chain, b: &C::Chain) -> Result<C::Chain, Stop> {
        self.chains.mul(a, b).ok_or(UNKNOWN)
    }

    fn neg(&self, a: &C::Chain) -> C::Chain {
        self.chains.neg(a)
    }

    fn hull(&self, a: &C::Chain, b: &C::Chain) -> C::Chain {
        self.chains.either(a, b)
    }

    fn sum(&self, sum: &Sum, node: impl Fn(NodeId) -> Result<C::Chain, Stop>) -> Result<C::Chain, Stop> {
        // Any order will do: an expression represents all of them.
        let mut total: Option<C::Chain> = None;
        for term in &sum.terms {
            let mut product: Option<C::Chain> = None;
            for factor in &term.factors {
                let factor = node(*factor)?;
                product = Some(match product {
                    Some(product) => self.mul(&product, &factor)?,
                    None => factor,
                });
            }
            let product = product.unwrap_or_else(|| self.chains.constant(1.0));
            let product = if term.negative { self.neg(&product) } else { product };
            total = Some(total.map_or_else(|| product.clone(), |total| self.chains.add(&total, &product)));
        }
        total.ok_or(UNKNOWN)
    }

    fn real(&self, real: Real, operands: &[C::Chain]) -> Result<C::Chain, Stop> {
        if let (Real::Div, [a, b]) = (real, operands) {
            return self.chains.div(a, b).ok_or(UNKNOWN);
        }
        self.chain(self.spans.real(real, &self.readings(operands)?)?)
    }

    fn inherited(&self, formula: &Formula, operands: &[C::Chain]) -> Result<C::Chain, Stop> {
        if formula.computes() {
            return formula.range(self, operands);
        }
        self.chain(self.spans.inherited(formula, &self.readings(operands)?)?)
    }

    fn bind(&self, value: &C::Chain, body: &Formula) -> Result<C::Chain, Stop> {
        body.range(self, std::slice::from_ref(value))
    }

    fn integral(&self, operand: &C::Chain, toward_zero: bool) -> Result<C::Chain, Stop> {
        self.chain(self.spans.integral(&self.reading(operand)?, toward_zero)?)
    }

    fn clamp_to_unit(&self, operand: &C::Chain) -> Result<C::Chain, Stop> {
        let reading = self.reading(operand)?;
        let (before, clamped) = (reading.hull(), self.spans.clamp_to_unit(&reading)?);
        if clamped.hull() == before { Ok(operand.clone()) } else { self.chain(clamped) }
    }

    fn not_negative(&self, operand: &C::Chain) -> Result<C::Chain, Stop> {
        self.chain(self.spans.not_negative(&self.reading(operand)?)?)
    }

    fn select(
        &self,
        condition: &C::Chain,
        negative: impl FnOnce() -> Result<C::Chain, Stop>,
        otherwise: impl FnOnce() -> Result<C::Chain, Stop>,
    ) -> Result<C::Chain, Stop> {
        let Span { lo, hi } = self.reading(condition)?.hull();
        match (lo < -1, hi >= -1) {
            (true, true) => Ok(self.hull(&negative()?, &otherwise()?)),
            (true, false) => negative(),
            (false, _) => otherwise(),
        }
    }

    fn settle(&self, _: &Formula, _: NodeId, range: C::Chain) -> Result<C::Chain, Stop> {
        // The caller's domain accounts for the error of a flush.
        Ok(range)
    }
}
