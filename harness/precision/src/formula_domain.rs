//! Evaluation of formulas in a caller's domain of expressions. An implementation may rearrange the
//! operations of a formula together with the operations that produced its operands, so that callers
//! who track how values were computed need the formula in their own terms.

use crate::{
    Reference,
    derivation::Derivation,
    environment::Environment,
    evaluator::{Evaluator, Sign},
    formula::{Formula, Node, NodeId, SumOfProducts},
    interval_eval::{IntervalEvaluator, IntervalSet},
    modes::Rounding,
    rank_interval::{RankInterval, Stop},
    real_op::RealOp,
    result_slot::ResultRule,
};
use assay_float::{Dyadic, Rank};
use smallvec::SmallVec;

/// Domain of expressions: sums, products and quotients as the caller tracks them.
pub trait ExpressionDomain {
    /// Expression of a value.
    type Expression: Clone;

    /// Expression of a number.
    fn constant(&self, value: f64) -> Self::Expression;
    /// Expression of any value from `lo` to `hi`, however it was computed.
    fn between(&self, lo: Rank, hi: Rank) -> Self::Expression;
    /// Sum.
    fn add(&self, a: &Self::Expression, b: &Self::Expression) -> Self::Expression;
    /// Product; `None` if it is too long to be tracked.
    fn mul(&self, a: &Self::Expression, b: &Self::Expression) -> Option<Self::Expression>;
    /// Quotient; `None` if it is too long to be tracked, or if the divisor may be zero.
    fn div(&self, a: &Self::Expression, b: &Self::Expression) -> Option<Self::Expression>;
    /// Value with its sign reversed.
    fn neg(&self, a: &Self::Expression) -> Self::Expression;
    /// Either of the two values.
    fn either(&self, a: &Self::Expression, b: &Self::Expression) -> Self::Expression;
    /// Least and greatest rank that the expression may be computed as, in any arrangement; `None`
    /// if unknown.
    fn computed_ranks(&self, a: &Self::Expression) -> Option<(Rank, Rank)>;
}

impl Reference {
    /// Returns true if a result scalar is computed by a formula that contains sums or products.
    /// Implementations may rearrange those with the operations that produced its operands and that
    /// use its result.
    pub fn is_rearrangeable(&self, slot: usize) -> bool {
        matches!(&self.slots[slot].rule, ResultRule::Formula(formula) if formula.has_arithmetic())
    }

    /// Expression of a result scalar whose operands have these expressions (`operands` holds one
    /// for each operand scalar of the call; the formula reads those that
    /// [`Call::inputs`](crate::Call::inputs) lists). `None` if it is unknown, if nothing is
    /// required, or if the instruction has no formula.
    pub fn expression<C: ExpressionDomain>(
        &self,
        slot: usize,
        domain: &C,
        operands: &[C::Expression],
    ) -> Option<C::Expression> {
        let slot = &self.slots[slot];
        let ResultRule::Formula(formula) = &slot.rule else { return None };
        // Whether a formula rounds as declared has two readings. Here rounding is left undeclared.
        let env = Environment { coarse: true, rounding: Rounding::Undeclared, ..slot.env };
        let derivation = Derivation::disabled();
        let given: SmallVec<[C::Expression; 8]> = slot.inputs.iter().map(|(i, _)| operands[*i].clone()).collect();
        formula
            .range(
                &ExpressionEvaluator { evaluator: IntervalEvaluator { env: &env, derivation: &derivation }, domain },
                &given,
            )
            .ok()
    }
}

impl Formula {
    /// Returns true if the formula contains a sum or a product.
    fn has_arithmetic(&self) -> bool {
        self.nodes.iter().any(|node| match node {
            Node::Sum(sum) => sum.terms.len() > 1 || sum.terms.iter().any(|term| term.factors.len() > 1),
            Node::Inherited(formula, _) | Node::Let(_, formula) => formula.has_arithmetic(),
            _ => false,
        })
    }
}

/// Evaluator of formulas in a caller's expressions, and in intervals for operations that are not
/// sums of products.
struct ExpressionEvaluator<'a, C> {
    evaluator: IntervalEvaluator<'a>,
    domain: &'a C,
}

impl<C: ExpressionDomain> ExpressionEvaluator<'_, C> {
    fn interval_set(&self, expression: &C::Expression) -> Result<IntervalSet, Stop> {
        let (lo, hi) = self.domain.computed_ranks(expression).ok_or(UNKNOWN)?;
        Ok(self.evaluator.values_in_use(RankInterval { lo, hi }))
    }

    fn interval_sets(&self, expressions: &[C::Expression]) -> Result<SmallVec<[IntervalSet; 8]>, Stop> {
        expressions.iter().map(|expression| self.interval_set(expression)).collect()
    }

    /// Returns the hull of a set as an expression without a history. A hull with an infinity is an
    /// error.
    fn expression(&self, interval_set: IntervalSet) -> Result<C::Expression, Stop> {
        let RankInterval { lo, hi } = interval_set.hull();
        let infinite = RankInterval { lo, hi }.has_infinity(self.evaluator.env.format);
        if infinite { Err(UNKNOWN) } else { Ok(self.domain.between(lo, hi)) }
    }
}

const UNKNOWN: Stop = Stop::Anything("what an operand may be computed as is not known");

impl<C: ExpressionDomain> Evaluator for ExpressionEvaluator<'_, C> {
    type Range = C::Expression;

    fn constant(&self, value: Dyadic) -> Result<C::Expression, Stop> {
        Ok(self.domain.constant(value.to_f64()))
    }

    fn radians_per_degree(&self) -> Result<C::Expression, Stop> {
        self.expression(self.evaluator.radians_per_degree()?)
    }

    fn degrees_per_radian(&self) -> Result<C::Expression, Stop> {
        self.expression(self.evaluator.degrees_per_radian()?)
    }

    fn add(&self, a: &C::Expression, b: &C::Expression) -> Result<C::Expression, Stop> {
        Ok(self.domain.add(a, b))
    }

    fn mul(&self, a: &C::Expression, b: &C::Expression) -> Result<C::Expression, Stop> {
        self.domain.mul(a, b).ok_or(UNKNOWN)
    }

    fn neg(&self, a: &C::Expression) -> C::Expression {
        self.domain.neg(a)
    }

    fn hull(&self, a: &C::Expression, b: &C::Expression) -> C::Expression {
        self.domain.either(a, b)
    }

    fn sum(
        &self,
        sum: &SumOfProducts,
        node: impl Fn(NodeId) -> Result<C::Expression, Stop>,
        _: impl Fn(NodeId, NodeId) -> Option<Sign>,
    ) -> Result<C::Expression, Stop> {
        // Any order will do: an expression represents all of them.
        let mut total: Option<C::Expression> = None;
        for term in &sum.terms {
            let mut product: Option<C::Expression> = None;
            for factor in &term.factors {
                let factor = node(*factor)?;
                product = Some(match product {
                    Some(product) => self.mul(&product, &factor)?,
                    None => factor,
                });
            }
            let product = product.unwrap_or_else(|| self.domain.constant(1.0));
            let product = if term.negative { self.neg(&product) } else { product };
            total = Some(total.map_or_else(|| product.clone(), |total| self.domain.add(&total, &product)));
        }
        total.ok_or(UNKNOWN)
    }

    fn real(&self, real: RealOp, operands: &[C::Expression]) -> Result<C::Expression, Stop> {
        if let (RealOp::Div, [a, b]) = (real, operands) {
            return self.domain.div(a, b).ok_or(UNKNOWN);
        }
        self.expression(self.evaluator.real(real, &self.interval_sets(operands)?)?)
    }

    fn inherited(&self, formula: &Formula, operands: &[C::Expression]) -> Result<C::Expression, Stop> {
        if formula.has_arithmetic() {
            return formula.range(self, operands);
        }
        self.expression(self.evaluator.inherited(formula, &self.interval_sets(operands)?)?)
    }

    fn bind(&self, value: &C::Expression, body: &Formula) -> Result<C::Expression, Stop> {
        body.range(self, std::slice::from_ref(value))
    }

    fn integral(&self, operand: &C::Expression, toward_zero: bool) -> Result<C::Expression, Stop> {
        self.expression(self.evaluator.integral(&self.interval_set(operand)?, toward_zero)?)
    }

    fn clamp_to_unit(&self, operand: &C::Expression) -> Result<C::Expression, Stop> {
        let interval_set = self.interval_set(operand)?;
        let (before, clamped) = (interval_set.hull(), self.evaluator.clamp_to_unit(&interval_set)?);
        if clamped.hull() == before { Ok(operand.clone()) } else { self.expression(clamped) }
    }

    fn not_negative(&self, operand: &C::Expression) -> Result<C::Expression, Stop> {
        self.expression(self.evaluator.not_negative(&self.interval_set(operand)?)?)
    }

    fn select(
        &self,
        condition: &C::Expression,
        negative: impl FnOnce() -> Result<C::Expression, Stop>,
        otherwise: impl FnOnce() -> Result<C::Expression, Stop>,
    ) -> Result<C::Expression, Stop> {
        let RankInterval { lo, hi } = self.interval_set(condition)?.hull();
        match (lo < -1, hi >= -1) {
            (true, true) => Ok(self.hull(&negative()?, &otherwise()?)),
            (true, false) => negative(),
            (false, _) => otherwise(),
        }
    }

    fn settle(&self, _: &Formula, _: NodeId, range: C::Expression) -> Result<C::Expression, Stop> {
        // The caller's domain accounts for the error of a flush.
        Ok(range)
    }
}
