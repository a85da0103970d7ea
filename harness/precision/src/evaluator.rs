//! Evaluation of formulas: one traversal for every domain of values.

use crate::{
    formula::{Formula, Node, NodeId, SumOfProducts},
    rank_interval::Stop,
    real_op::RealOp,
};
use assay_float::Dyadic;
use smallvec::{SmallVec, smallvec};
use std::cell::RefCell;

/// Sign of a factor in terms of an equal one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Same,
    Opposite,
    /// Members of both are equal, and other members are opposite.
    Either,
}

/// Domain in which formulas are evaluated (an abstract domain in the sense of abstract
/// interpretation). [`IntervalEvaluator`](crate::interval_eval::IntervalEvaluator) gives certified
/// ranges, [`SimdEvaluator`](crate::bulk::simd::SimdEvaluator) inner approximations for many inputs at
/// once.
pub(crate) trait Evaluator {
    /// Results that an operation may return.
    type Range: Clone;

    fn constant(&self, value: Dyadic) -> Result<Self::Range, Stop>;
    /// pi/180: either neighbour.
    fn radians_per_degree(&self) -> Result<Self::Range, Stop>;
    /// 180/pi: either neighbour.
    fn degrees_per_radian(&self) -> Result<Self::Range, Stop>;
    /// Correctly rounded sum.
    fn add(&self, a: &Self::Range, b: &Self::Range) -> Result<Self::Range, Stop>;
    /// Correctly rounded product.
    fn mul(&self, a: &Self::Range, b: &Self::Range) -> Result<Self::Range, Stop>;
    fn neg(&self, a: &Self::Range) -> Self::Range;
    /// Sum of products, in every order and with common factors taken out in every way.
    fn sum(
        &self,
        sum: &SumOfProducts,
        node: impl Fn(NodeId) -> Result<Self::Range, Stop>,
        common: impl Fn(NodeId, NodeId) -> Option<Sign>,
    ) -> Result<Self::Range, Stop>
    where
        Self: Sized,
    {
        sum.range(self, node, common)
    }
    /// Sign with which one operand counts as another, because some of their values are equal up to
    /// it; `None` if they count as different. In the reading of
    /// [`Environment::equal_operands`](crate::Environment) only.
    fn equality(&self, _: &Self::Range, _: &Self::Range) -> Option<Sign> {
        None
    }
    fn hull(&self, a: &Self::Range, b: &Self::Range) -> Self::Range;
    fn real(&self, real: RealOp, operands: &[Self::Range]) -> Result<Self::Range, Stop>;
    fn inherited(&self, formula: &Formula, operands: &[Self::Range]) -> Result<Self::Range, Stop>;
    /// Range of a formula of one variable, each use of which has the same value of `value`. In the
    /// reading of [`Environment::separate_uses`](crate::Environment) each use may have another one.
    fn bind(&self, value: &Self::Range, body: &Formula) -> Result<Self::Range, Stop>;
    /// `trunc` if `toward_zero`, otherwise `floor`.
    fn integral(&self, operand: &Self::Range, toward_zero: bool) -> Result<Self::Range, Stop>;
    /// `clamp(_, 0.0, 1.0)`
    fn clamp_to_unit(&self, operand: &Self::Range) -> Result<Self::Range, Stop>;
    /// Members that are not negative. If there are none, any range.
    fn not_negative(&self, operand: &Self::Range) -> Result<Self::Range, Stop>;
    /// `condition < 0.0 ? negative : otherwise`
    fn select(
        &self,
        condition: &Self::Range,
        negative: impl FnOnce() -> Result<Self::Range, Stop>,
        otherwise: impl FnOnce() -> Result<Self::Range, Stop>,
    ) -> Result<Self::Range, Stop>;
    /// Intermediate result as the next operation may read it: flushed where permitted, and without
    /// overflow where infinities are assumed not to occur.
    fn settle(&self, formula: &Formula, node: NodeId, range: Self::Range) -> Result<Self::Range, Stop>;
    /// Evaluates `f` one level deeper in the derivation, for domains that record one.
    fn nested<T>(&self, f: impl FnOnce() -> T) -> T {
        f()
    }
}

/// One evaluation of a formula.
struct Traversal<'a, A: Evaluator> {
    evaluator: &'a A,
    formula: &'a Formula,
    operands: &'a [A::Range],
    memo: RefCell<SmallVec<[Option<A::Range>; 16]>>,
}

impl Formula {
    /// Hull of the results of all equivalent formulas.
    pub(crate) fn range<A: Evaluator>(&self, evaluator: &A, operands: &[A::Range]) -> Result<A::Range, Stop> {
        Traversal::new(evaluator, self, operands).node(self.root)
    }

    /// Results of some nodes of the formula.
    pub(crate) fn ranges_of<A: Evaluator>(
        &self,
        evaluator: &A,
        operands: &[A::Range],
        nodes: &[NodeId],
    ) -> Result<SmallVec<[A::Range; 8]>, Stop> {
        let traversal = Traversal::new(evaluator, self, operands);
        nodes.iter().map(|&node| traversal.node(node)).collect()
    }
}

impl<'a, A: Evaluator> Traversal<'a, A> {
    fn new(evaluator: &'a A, formula: &'a Formula, operands: &'a [A::Range]) -> Traversal<'a, A> {
        let memo = RefCell::new(smallvec![None; formula.nodes.len()]);
        Traversal { evaluator, formula, operands, memo }
    }

    fn node(&self, id: NodeId) -> Result<A::Range, Stop> {
        if let Some(known) = &self.memo.borrow()[id] {
            return Ok(known.clone());
        }
        let range = self.evaluator.nested(|| self.compute(id))?;
        let range = self.evaluator.settle(self.formula, id, range)?;
        self.memo.borrow_mut()[id] = Some(range.clone());
        Ok(range)
    }

    /// Sign with which a node counts as another one in a sum.
    fn common(&self, a: NodeId, b: NodeId) -> Option<Sign> {
        match (&self.formula.nodes[a], &self.formula.nodes[b]) {
            _ if a == b => Some(Sign::Same),
            (Node::Operand(a), Node::Operand(b)) => self.evaluator.equality(&self.operands[*a], &self.operands[*b]),
            _ => None,
        }
    }

    fn compute(&self, id: NodeId) -> Result<A::Range, Stop> {
        let evaluator = self.evaluator;
        let collect = |operands: &[NodeId]| -> Result<SmallVec<[A::Range; 8]>, Stop> {
            operands.iter().map(|&o| self.node(o)).collect()
        };
        match &self.formula.nodes[id] {
            Node::Operand(i) => Ok(self.operands[*i].clone()),
            Node::Constant(value) => evaluator.constant(*value),
            Node::RadiansPerDegree => evaluator.radians_per_degree(),
            Node::DegreesPerRadian => evaluator.degrees_per_radian(),
            Node::Sum(sum) => evaluator.sum(sum, |id| self.node(id), |a, b| self.common(a, b)),
            Node::Real(real, operands) => evaluator.real(*real, &collect(operands)?),
            Node::Inherited(formula, operands) => evaluator.inherited(formula, &collect(operands)?),
            Node::Floor(operand) => evaluator.integral(&self.node(*operand)?, false),
            Node::Trunc(operand) => evaluator.integral(&self.node(*operand)?, true),
            Node::ClampToUnit(operand) => evaluator.clamp_to_unit(&self.node(*operand)?),
            Node::NotNegative(operand) => evaluator.not_negative(&self.node(*operand)?),
            Node::Select { condition, negative, otherwise } => {
                evaluator.select(&self.node(*condition)?, || self.node(*negative), || self.node(*otherwise))
            }
            Node::Either(formulas) => {
                let mut range = self.node(formulas[0])?;
                for &other in &formulas[1..] {
                    range = evaluator.hull(&range, &self.node(other)?);
                }
                Ok(range)
            }
            Node::Let(value, body) => evaluator.bind(&self.node(*value)?, body),
        }
    }
}
