//! Formulas of operands that are results themselves, for those who follow how a value came about: an implementation may rearrange
//! the operations of a formula with those that made its operands.

use crate::{
    algebra::Algebra,
    call::Reference,
    environment::Environment,
    evaluate::Kernel,
    formula::{Formula, Node, NodeId},
    real::Real,
    span::{Span, Stop},
    spans::{Reading, Spans},
    sum::Sum,
    trace::Trace,
};
use assay_float::{Dyadic, Rank};
use smallvec::SmallVec;

/// What chains of sums and products are made of and followed as.
pub trait Chains {
    /// How a value came about.
    type Chain: Clone;

    /// A number.
    fn constant(&self, value: f64) -> Self::Chain;
    /// Any value between these, however it came about.
    fn between(&self, lo: Rank, hi: Rank) -> Self::Chain;
    /// The sum.
    fn add(&self, a: &Self::Chain, b: &Self::Chain) -> Self::Chain;
    /// The product; `None` where it is too long to be followed.
    fn mul(&self, a: &Self::Chain, b: &Self::Chain) -> Option<Self::Chain>;
    /// The quotient; `None` where it is too long, or the divisor may be zero.
    fn div(&self, a: &Self::Chain, b: &Self::Chain) -> Option<Self::Chain>;
    /// The value with its sign reversed.
    fn neg(&self, a: &Self::Chain) -> Self::Chain;
    /// Either of the two.
    fn either(&self, a: &Self::Chain, b: &Self::Chain) -> Self::Chain;
    /// All that it may be computed as, in whatever arrangement; `None` where that is not known.
    fn computed(&self, a: &Self::Chain) -> Option<(Rank, Rank)>;
}

impl Reference {
    /// Whether a result scalar is computed by a formula with sums or products in it: what made its operands, and what its result is used
    /// in, may be rearranged with those.
    pub fn takes_apart(&self, slot: usize) -> bool {
        matches!(&self.slots[slot].kernel, Kernel::Formula(formula) if formula.computes())
    }

    /// What the formula of a result scalar makes of operands that came about so (those that [`Call::inputs`](crate::Call::inputs) lists
    /// for it). `None` where that is not known, or nothing is required; of an instruction without formula, too.
    pub fn chained<C: Chains>(&self, slot: usize, chains: &C, operands: &[C::Chain]) -> Option<C::Chain> {
        let slot = &self.slots[slot];
        let Kernel::Formula(formula) = &slot.kernel else { return None };
        // Whether a formula rounds as declared has two readings.
        let env = Environment { coarse: true, ..slot.env };
        let trace = Trace::off();
        let given: SmallVec<[C::Chain; 8]> = slot.inputs.iter().map(|(i, _)| operands[*i].clone()).collect();
        formula.range(&Chained { spans: Spans { env: &env, trace: &trace }, chains }, &given).ok()
    }
}

impl Formula {
    /// Whether there is a sum or a product in it.
    fn computes(&self) -> bool {
        self.nodes.iter().any(|node| match node {
            Node::Sum(sum) => sum.terms.len() > 1 || sum.terms.iter().any(|term| term.factors.len() > 1),
            Node::Inherited(formula, _) => formula.computes(),
            _ => false,
        })
    }
}

/// Evaluates formulas in chains, and in spans what is no sum of products.
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
        // In whatever order: a chain stands for all of them.
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
        // What a step may lose to a flush is the chains' to know.
        Ok(range)
    }
}
