//! Formulas of inherited precision as data.

use crate::real_op::RealOp;
use assay_float::{Dyadic, Function};
use smallvec::SmallVec;
use std::sync::Arc;

/// Index of a node of a formula.
pub(crate) type NodeId = usize;

/// One operation of a formula.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// An operand of the instruction.
    Operand(usize),
    /// A constant that the format represents exactly.
    Constant(Dyadic),
    /// pi/180, correctly rounded: either neighbour.
    RadiansPerDegree,
    /// 180/pi, correctly rounded: either neighbour.
    DegreesPerRadian,
    /// Sum of products, in every order and with common factors taken out in every way.
    Sum(SumOfProducts),
    /// An operation with a bound of its own.
    Real(RealOp, Vec<NodeId>),
    /// An operation whose bound is itself inherited.
    Inherited(Arc<Formula>, Vec<NodeId>),
    /// `floor`.
    Floor(NodeId),
    /// `trunc`.
    Trunc(NodeId),
    /// `clamp(_, 0.0, 1.0)`.
    ClampToUnit(NodeId),
    /// `condition < 0.0 ? negative : otherwise`.
    Select { condition: NodeId, negative: NodeId, otherwise: NodeId },
    /// Operand of the square root in the branch of a `Select` whose condition is not negative:
    /// members below zero do not occur there.
    NotNegative(NodeId),
    /// Formulas that the algebraic laws make equivalent.
    Either(Vec<NodeId>),
    /// Formula of one variable, bound to one value of the node: `t` in the formula of `SmoothStep`.
    Let(NodeId, Arc<Formula>),
}

/// Definition of the infinitely precise result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExactDefinition {
    /// The formula in exact arithmetic.
    Formula,
    /// This function of the only operand.
    Function(Function),
    /// `x - y * trunc(x / y)`.
    RemTrunc,
    /// `x - y * floor(x / y)`.
    RemFloor,
    /// `x` to the power of `y`.
    Pow,
    /// This component of `x / sqrt(dot(x, x))`. The formula's `1 / sqrt` may be irrational where
    /// the quotient is representable (3 / 3), so that no enclosure of it decides.
    Normalized(usize),
}

/// Formula of an inherited precision with its equivalents.
#[derive(Clone, Debug)]
pub(crate) struct Formula {
    /// The formula in the words of the specification.
    pub(crate) words: &'static str,
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: NodeId,
    pub(crate) definition: ExactDefinition,
    /// Absolute error that is permitted if the formulas give less: `(digits, exponent)` for `digits
    /// * 10^-exponent`.
    pub(crate) absolute: Option<(i64, u32)>,
    /// Set if zero operands give zero by the instruction set, although the formula divides by zero
    /// on the way (`Sqrt`).
    pub(crate) zero_is_zero: bool,
}

/// Sum of signed products of nodes, `±a*b*.. ±c*d*.. ..`. A product without factors is one.
#[derive(Clone, Debug)]
pub(crate) struct SumOfProducts {
    pub(crate) terms: Vec<Term>,
}

/// Signed product.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) negative: bool,
    pub(crate) factors: SmallVec<[NodeId; 4]>,
}

/// Sizes for which a formula is built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormulaSize {
    /// Number of components of each vector operand (1 for scalars), or of products of a sum.
    pub(crate) components: usize,
    /// Index of the result component.
    pub(crate) component: usize,
}

impl Formula {
    /// Returns true if the formula binds a variable that it uses more than once.
    pub(crate) fn binds(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node, Node::Let(..)))
    }

    /// Returns true if two terms of a sum in the formula have different operands as factors. Where
    /// these are equal, they can be taken out.
    pub(crate) fn adds_products_of_operands(&self) -> bool {
        let operands = |term: &Term| -> SmallVec<[usize; 4]> {
            let operand = |factor: &NodeId| match self.nodes[*factor] {
                Node::Operand(operand) => Some(operand),
                _ => None,
            };
            term.factors.iter().filter_map(operand).collect()
        };
        self.nodes.iter().any(|node| match node {
            Node::Sum(sum) => {
                let terms: Vec<_> = sum.terms.iter().map(operands).filter(|operands| !operands.is_empty()).collect();
                terms.iter().any(|term| *term != terms[0])
            }
            Node::Inherited(formula, _) | Node::Let(_, formula) => formula.adds_products_of_operands(),
            _ => false,
        })
    }

    /// A node in words: `Exp(#0)`.
    pub(crate) fn describe(&self, id: NodeId) -> String {
        let list = |ids: &[NodeId]| ids.iter().map(|&i| self.describe(i)).collect::<Vec<_>>().join(", ");
        match &self.nodes[id] {
            Node::Operand(i) => format!("x{i}"),
            Node::Constant(value) => format!("{}", value.to_f64()),
            Node::RadiansPerDegree => "pi/180".into(),
            Node::DegreesPerRadian => "180/pi".into(),
            Node::Sum(sum) => {
                let product = |ids: &[NodeId]| ids.iter().map(|&i| self.describe(i)).collect::<Vec<_>>().join("*");
                let mut text = String::from("(");
                for (i, term) in sum.terms.iter().enumerate() {
                    let sign = match (i, term.negative) {
                        (0, false) => "",
                        (0, true) => "-",
                        (_, false) => " + ",
                        (_, true) => " - ",
                    };
                    text += sign;
                    text += &product(&term.factors);
                }
                text + ")"
            }
            Node::Real(real, operands) => format!("{real:?}({})", list(operands)),
            Node::Inherited(formula, operands) => format!("[{}]({})", formula.words, list(operands)),
            Node::Floor(operand) => format!("floor({})", self.describe(*operand)),
            Node::Trunc(operand) => format!("trunc({})", self.describe(*operand)),
            Node::ClampToUnit(operand) => format!("clamp({}, 0.0, 1.0)", self.describe(*operand)),
            Node::Select { condition, negative, otherwise } => {
                format!(
                    "{} < 0.0 ? {} : {}",
                    self.describe(*condition),
                    self.describe(*negative),
                    self.describe(*otherwise)
                )
            }
            Node::NotNegative(operand) => self.describe(*operand),
            Node::Either(formulas) => self.describe(formulas[0]),
            Node::Let(value, body) => format!("[{}]({})", body.words, self.describe(*value)),
        }
    }
}
