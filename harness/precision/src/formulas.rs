//! Formulas of the rows with inherited precision, in the words and the order of the specification's
//! tables.

use crate::{
    formula::{ExactDefinition, Formula, FormulaSize, Node, NodeId, SumOfProducts, Term},
    real_op::RealOp,
};
use assay_float::{Dyadic, Function};
use smallvec::SmallVec;
use std::sync::Arc;

/// Builder of a formula, node by node.
#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
}

impl Builder {
    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn operand(&mut self, index: usize) -> NodeId {
        self.add(Node::Operand(index))
    }

    fn operands(&mut self, range: std::ops::Range<usize>) -> Vec<NodeId> {
        range.map(|i| self.operand(i)).collect()
    }

    fn constant(&mut self, value: i64, exponent: i32) -> NodeId {
        self.add(Node::Constant(Dyadic::int(value).scale(exponent)))
    }

    fn real(&mut self, real: RealOp, operands: &[NodeId]) -> NodeId {
        self.add(Node::Real(real, operands.to_vec()))
    }

    fn inherited(&mut self, formula: Formula, operands: &[NodeId]) -> NodeId {
        self.add(Node::Inherited(Arc::new(formula), operands.to_vec()))
    }

    /// Sum of signed products.
    fn sum(&mut self, terms: &[(bool, &[NodeId])]) -> NodeId {
        let term = |&(negative, factors): &(bool, &[NodeId])| Term { negative, factors: SmallVec::from_slice(factors) };
        self.add(Node::Sum(SumOfProducts { terms: terms.iter().map(term).collect() }))
    }

    /// `(a ± b) / divisor`, and its distributed form `a / divisor ± b / divisor`.
    fn quotient_of_sum(&mut self, a: NodeId, (negative, b): (bool, NodeId), divisor: NodeId) -> NodeId {
        let sum = self.sum(&[(false, &[a]), (negative, &[b])]);
        let whole = self.real(RealOp::Div, &[sum, divisor]);
        let (first, second) = (self.real(RealOp::Div, &[a, divisor]), self.real(RealOp::Div, &[b, divisor]));
        let distributed = self.sum(&[(false, &[first]), (negative, &[second])]);
        self.add(Node::Either(vec![whole, distributed]))
    }

    /// `OpDot` of two vectors, or the product of two scalars.
    fn dot(&mut self, a: &[NodeId], b: &[NodeId]) -> NodeId {
        if let ([a], [b]) = (a, b) {
            return self.sum(&[(false, &[*a, *b])]);
        }
        let formula = sum_of_products(&FormulaSize { components: a.len(), component: 0 });
        self.inherited(formula, &[a, b].concat())
    }

    fn sqrt(&mut self, operand: NodeId) -> NodeId {
        self.inherited(sqrt(&SCALAR), &[operand])
    }

    /// Finishes the formula, whose root is the last node.
    fn done(self, words: &'static str, definition: ExactDefinition) -> Formula {
        Formula {
            words,
            root: self.nodes.len() - 1,
            nodes: self.nodes,
            definition,
            absolute: None,
            zero_is_zero: false,
        }
    }
}

const SCALAR: FormulaSize = FormulaSize { components: 1, component: 0 };

pub(crate) fn rem(_: &FormulaSize) -> Formula {
    remainder("x - y * trunc(x / y)", Node::Trunc, ExactDefinition::RemTrunc)
}

pub(crate) fn modulo(_: &FormulaSize) -> Formula {
    remainder("x - y * floor(x / y)", Node::Floor, ExactDefinition::RemFloor)
}

fn remainder(words: &'static str, integral: fn(NodeId) -> Node, definition: ExactDefinition) -> Formula {
    let mut b = Builder::default();
    let (x, y) = (b.operand(0), b.operand(1));
    let quotient = b.real(RealOp::Div, &[x, y]);
    let whole = b.add(integral(quotient));
    b.sum(&[(false, &[x]), (true, &[y, whole])]);
    b.done(words, definition)
}

/// OpDot and the products of vectors and matrices: the factors of one side, followed by those of
/// the other.
pub(crate) fn sum_of_products(inputs: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let n = inputs.components;
    let products: Vec<[NodeId; 2]> = (0..n).map(|i| [b.operand(i), b.operand(n + i)]).collect();
    let terms: Vec<(bool, &[NodeId])> = products.iter().map(|p| (false, p.as_slice())).collect();
    b.sum(&terms);
    b.done("the sum of x_i * y_i", ExactDefinition::Formula)
}

pub(crate) fn fma(_: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let x = b.operands(0..3);
    b.sum(&[(false, &[x[0], x[1]]), (false, &[x[2]])]);
    b.done("OpFMul followed by OpFAdd", ExactDefinition::Formula)
}

pub(crate) fn sqrt(_: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let (x, one) = (b.operand(0), b.constant(1, 0));
    let inverse = b.real(RealOp::InverseSqrt, &[x]);
    b.real(RealOp::Div, &[one, inverse]);
    Formula { zero_is_zero: true, ..b.done("1.0 / InverseSqrt(x)", ExactDefinition::Function(Function::Sqrt)) }
}

pub(crate) fn pow(_: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let (x, y) = (b.operand(0), b.operand(1));
    let log = b.real(RealOp::Log2, &[x]);
    let product = b.sum(&[(false, &[y, log])]);
    b.real(RealOp::Exp2, &[product]);
    b.done("Exp2(y * Log2(x))", ExactDefinition::Pow)
}

pub(crate) fn radians(_: &FormulaSize) -> Formula {
    scaled(Node::RadiansPerDegree, "x * C, C being pi/180 correctly rounded")
}

pub(crate) fn degrees(_: &FormulaSize) -> Formula {
    scaled(Node::DegreesPerRadian, "x * C, C being 180/pi correctly rounded")
}

fn scaled(factor: Node, words: &'static str) -> Formula {
    let mut b = Builder::default();
    let (x, factor) = (b.operand(0), b.add(factor));
    b.sum(&[(false, &[x, factor])]);
    b.done(words, ExactDefinition::Formula)
}

pub(crate) fn tan(_: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let x = b.operand(0);
    let (sin, cos) = (b.real(RealOp::Sin, &[x]), b.real(RealOp::Cos, &[x]));
    b.real(RealOp::Div, &[sin, cos]);
    b.done("Sin(x) / Cos(x)", ExactDefinition::Function(Function::Tan))
}

/// `Sqrt(1.0 - x * x)`
fn complement(b: &mut Builder, x: NodeId) -> NodeId {
    let one = b.constant(1, 0);
    let difference = b.sum(&[(false, &[one]), (true, &[x, x])]);
    b.sqrt(difference)
}

pub(crate) fn asin(_: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let x = b.operand(0);
    let other = complement(&mut b, x);
    b.real(RealOp::Atan2, &[x, other]);
    b.done("Atan2(x, Sqrt(1.0 - x * x))", ExactDefinition::Function(Function::Asin))
}

pub(crate) fn acos(_: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let x = b.operand(0);
    let other = complement(&mut b, x);
    b.real(RealOp::Atan2, &[other, x]);
    b.done("Atan2(Sqrt(1.0 - x * x), x)", ExactDefinition::Function(Function::Acos))
}

pub(crate) fn sinh(_: &FormulaSize) -> Formula {
    hyperbolic(true, "(Exp(x) - Exp(-x)) * 0.5", Function::Sinh)
}

pub(crate) fn cosh(_: &FormulaSize) -> Formula {
    hyperbolic(false, "(Exp(x) + Exp(-x)) * 0.5", Function::Cosh)
}

fn hyperbolic(negative: bool, words: &'static str, function: Function) -> Formula {
    let mut b = Builder::default();
    let (x, half) = (b.operand(0), b.constant(1, -1));
    let opposite = b.sum(&[(true, &[x])]);
    let (up, down) = (b.real(RealOp::Exp, &[x]), b.real(RealOp::Exp, &[opposite]));
    b.sum(&[(false, &[half, up]), (negative, &[half, down])]);
    b.done(words, ExactDefinition::Function(function))
}

pub(crate) fn tanh(_: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let x = b.operand(0);
    let (sinh, cosh) = (b.inherited(sinh(&SCALAR), &[x]), b.inherited(cosh(&SCALAR), &[x]));
    b.real(RealOp::Div, &[sinh, cosh]);
    b.done("Sinh(x) / Cosh(x)", ExactDefinition::Function(Function::Tanh))
}

pub(crate) fn asinh(_: &FormulaSize) -> Formula {
    inverse_hyperbolic(false, "Log(x + Sqrt(x * x + 1.0))", Function::Asinh)
}

pub(crate) fn acosh(_: &FormulaSize) -> Formula {
    inverse_hyperbolic(true, "Log(x + Sqrt(x * x - 1.0))", Function::Acosh)
}

fn inverse_hyperbolic(negative: bool, words: &'static str, function: Function) -> Formula {
    let mut b = Builder::default();
    let (x, one) = (b.operand(0), b.constant(1, 0));
    let square = b.sum(&[(false, &[x, x]), (negative, &[one])]);
    let root = b.sqrt(square);
    let sum = b.sum(&[(false, &[x]), (false, &[root])]);
    b.real(RealOp::Log, &[sum]);
    b.done(words, ExactDefinition::Function(function))
}

pub(crate) fn atanh(_: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let (x, one, half) = (b.operand(0), b.constant(1, 0), b.constant(1, -1));
    let divisor = b.sum(&[(false, &[one]), (true, &[x])]);
    let quotient = b.quotient_of_sum(one, (false, x), divisor);
    let log = b.real(RealOp::Log, &[quotient]);
    b.sum(&[(false, &[log, half])]);
    b.done("Log((1.0 + x) / (1.0 - x)) * 0.5", ExactDefinition::Function(Function::Atanh))
}

pub(crate) fn length(inputs: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let x = b.operands(0..inputs.components);
    let dot = b.dot(&x, &x);
    b.sqrt(dot);
    b.done("Sqrt(dot(x, x))", ExactDefinition::Formula)
}

pub(crate) fn distance(inputs: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let n = inputs.components;
    let difference: Vec<NodeId> = (0..n)
        .map(|i| {
            let (x, y) = (b.operand(i), b.operand(n + i));
            b.sum(&[(false, &[x]), (true, &[y])])
        })
        .collect();
    b.inherited(length(inputs), &difference);
    b.done("Length(x - y)", ExactDefinition::Formula)
}

pub(crate) fn cross(inputs: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let (j, k) = ((inputs.component + 1) % 3, (inputs.component + 2) % 3);
    let [xj, xk, yj, yk] = [j, k, 3 + j, 3 + k].map(|i| b.operand(i));
    b.sum(&[(false, &[xj, yk]), (true, &[xk, yj])]);
    b.done("OpFSub(OpFMul, OpFMul)", ExactDefinition::Formula)
}

pub(crate) fn normalize(inputs: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let x = b.operands(0..inputs.components);
    let dot = b.dot(&x, &x);
    let inverse = b.real(RealOp::InverseSqrt, &[dot]);
    b.sum(&[(false, &[x[inputs.component], inverse])]);
    b.done("x * InverseSqrt(dot(x, x))", ExactDefinition::Normalized(inputs.component))
}

/// Normalize in WGSL's definition.
pub(crate) fn normalize_by_length(inputs: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let x = b.operands(0..inputs.components);
    let length = b.inherited(length(inputs), &x);
    b.real(RealOp::Div, &[x[inputs.component], length]);
    b.done("x / length(x)", ExactDefinition::Normalized(inputs.component))
}

pub(crate) fn face_forward(inputs: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let n = inputs.components;
    let (incident, reference) = (b.operands(n..2 * n), b.operands(2 * n..3 * n));
    let normal = b.operand(inputs.component);
    let opposite = b.sum(&[(true, &[normal])]);
    let condition = b.dot(&reference, &incident);
    b.add(Node::Select { condition, negative: normal, otherwise: opposite });
    b.done("dot(Nref, I) < 0.0 ? N : -N", ExactDefinition::Formula)
}

pub(crate) fn reflect(inputs: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let n = inputs.components;
    let (x, y, two) = (b.operands(0..n), b.operands(n..2 * n), b.constant(2, 0));
    let c = inputs.component;
    if n == 1 {
        b.sum(&[(false, &[x[0]]), (true, &[two, y[0], x[0], y[0]])]);
    } else {
        let dot = b.dot(&y, &x);
        b.sum(&[(false, &[x[c]]), (true, &[two, dot, y[c]])]);
    }
    b.done("x - 2.0 * dot(y, x) * y", ExactDefinition::Formula)
}

pub(crate) fn refract(inputs: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let n = inputs.components;
    let (incident, normal, eta) = (b.operands(0..n), b.operands(n..2 * n), b.operand(2 * n));
    let (one, zero) = (b.constant(1, 0), b.constant(0, 0));
    let dot = b.dot(&normal, &incident);
    let k = b.sum(&[(false, &[one]), (true, &[eta, eta]), (false, &[eta, eta, dot, dot])]);
    let not_negative = b.add(Node::NotNegative(k));
    let root = b.sqrt(not_negative);
    let (i, n) = (incident[inputs.component], normal[inputs.component]);
    let bent = b.sum(&[(false, &[eta, i]), (true, &[eta, dot, n]), (true, &[root, n])]);
    b.add(Node::Select { condition: k, negative: zero, otherwise: bent });
    b.done(
        "k < 0.0 ? 0.0 : eta * I - (eta * dot(N, I) + Sqrt(k)) * N, \
         k = 1.0 - eta * eta * (1.0 - dot(N, I) * dot(N, I))",
        ExactDefinition::Formula,
    )
}

pub(crate) fn mix(_: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let (x, y, a) = (b.operand(0), b.operand(1), b.operand(2));
    b.sum(&[(false, &[x]), (true, &[x, a]), (false, &[y, a])]);
    b.done("x * (1.0 - a) + y * a", ExactDefinition::Formula)
}

/// Polynomial of `SmoothStep`.
fn polynomial() -> Formula {
    let mut b = Builder::default();
    let (t, three, two) = (b.operand(0), b.constant(3, 0), b.constant(2, 0));
    b.sum(&[(false, &[three, t, t]), (true, &[two, t, t, t])]);
    b.done("t * t * (3.0 - 2.0 * t)", ExactDefinition::Formula)
}

pub(crate) fn smooth_step(_: &FormulaSize) -> Formula {
    let mut b = Builder::default();
    let (low, high, x) = (b.operand(0), b.operand(1), b.operand(2));
    let width = b.sum(&[(false, &[high]), (true, &[low])]);
    let quotient = b.quotient_of_sum(x, (true, low), width);
    let t = b.add(Node::ClampToUnit(quotient));
    b.add(Node::Let(t, Arc::new(polynomial())));
    b.done("t * t * (3.0 - 2.0 * t), t = clamp((x - e0) / (e1 - e0), 0.0, 1.0)", ExactDefinition::Formula)
}
