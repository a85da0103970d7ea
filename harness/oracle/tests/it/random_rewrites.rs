//! Rearrangements of chains against a second method: an expression is rewritten by the laws of
//! precise arithmetic, one law after another at random places, and evaluated with either neighbour
//! at every step. Vulkan, "Evaluation of Expressions": "any of the mathematical properties
//! governing the expressions in precise arithmetic".

use crate::support::random_rounding::{Random, either, is_denormal, neighbours, quotient};
use crate::support::*;
use assay_oracle::{Expected, Program, Slot, SpecValues};
use assay_spirv::{Module, Style, disassemble};
use std::cmp::Ordering;
use std::rc::Rc;

const INPUTS: usize = 4;

#[derive(Clone, Debug, PartialEq)]
enum Expr {
    Input(usize),
    Constant(f32),
    Neg(Rc<Expr>),
    Abs(Rc<Expr>),
    Add(Rc<Expr>, Rc<Expr>),
    Mul(Rc<Expr>, Rc<Expr>),
    Div(Rc<Expr>, Rc<Expr>),
    Max(Rc<Expr>, Rc<Expr>),
    /// `x * y + z`.
    Fma(Rc<Expr>, Rc<Expr>, Rc<Expr>),
    /// `x * (1 - a) + y * a`.
    Mix(Rc<Expr>, Rc<Expr>, Rc<Expr>),
    /// The dot product of two vectors of two components.
    Dot(Box<[Rc<Expr>; 4]>),
    Sqrt(Rc<Expr>),
    InverseSqrt(Rc<Expr>),
    Trunc(Rc<Expr>),
    /// `x - y * trunc(x / y)`.
    Rem(Rc<Expr>, Rc<Expr>),
    /// `smoothstep(x, y, z)`.
    Smooth(Rc<Expr>, Rc<Expr>, Rc<Expr>),
    /// The distance of two vectors of two components.
    Distance(Box<[Rc<Expr>; 4]>),
    /// The first component of a vector of two.
    Normalize(Rc<Expr>, Rc<Expr>),
    /// Scaled by a power of two.
    Ldexp(Rc<Expr>, i32),
    /// Stored and loaded again.
    Kept(Rc<Expr>),
}

use Expr::*;

/// The arithmetic of an implementation: rounding as declared, else at random.
struct Arithmetic {
    random: Random,
    rounding: Option<Rounding>,
    /// Set if denormals are flushed. Undeclared: occasionally.
    flushes: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rounding {
    Nearest,
    TowardZero,
}

impl Arithmetic {
    fn new(seed: u64, modes: &[&str]) -> Arithmetic {
        let declared = |mode: &str| modes.contains(&mode);
        let rounding = declared("RoundingModeRTE").then_some(Rounding::Nearest);
        let preserves = declared("DenormPreserve").then_some(false);
        Arithmetic {
            random: Random(seed),
            rounding: rounding.or(declared("RoundingModeRTZ").then_some(Rounding::TowardZero)),
            flushes: preserves.or(declared("DenormFlushToZero").then_some(true)),
        }
    }

    /// The sum of two numbers.
    fn sum(&mut self, x: f64, y: f64) -> f32 {
        let sum = x + y;
        // The exact remainder of the sum in 64 bits.
        let part = sum - x;
        let left = (x - (sum - part)) + (y - part);
        self.rounded(sum, left)
    }

    /// The number `x` with residual `left`, rounded.
    fn rounded(&mut self, x: f64, left: f64) -> f32 {
        let near = x as f32;
        if near.is_infinite() {
            return near;
        }
        let (below, above) = neighbours(x, left);
        let result = match self.rounding {
            Some(Rounding::TowardZero) if x > 0.0 => below,
            Some(Rounding::TowardZero) => above,
            Some(Rounding::Nearest) => {
                let tie = x - f64::from(below) == f64::from(above) - x;
                match left.partial_cmp(&0.0) {
                    Some(Ordering::Greater) if tie => above,
                    Some(Ordering::Less) if tie => below,
                    _ => near,
                }
            }
            None if self.random.below(2) == 0 => below,
            None => above,
        };
        self.flushed(x, result)
    }

    /// The result, or zero if the exact number is denormal.
    fn flushed(&mut self, exact: f64, result: f32) -> f32 {
        if is_denormal(exact) && self.flushes.unwrap_or_else(|| self.random.below(2) == 0) { 0.0 } else { result }
    }

    /// A quotient within its own precision.
    fn quotient(&mut self, x: f64, y: f64) -> f32 {
        let exact = x / y;
        let result = if is_denormal(exact) { exact as f32 } else { quotient(x, y, &mut self.random) };
        self.flushed(exact, result)
    }

    fn product(&mut self, x: f64, y: f64) -> f32 {
        // Exact in 64 bits, unless both parts are tiny.
        self.rounded(x * y, 0.0)
    }
}

/// The values of evaluated expressions.
type KnownValues = Vec<(Rc<Expr>, f32)>;

fn neg(x: &Rc<Expr>) -> Rc<Expr> {
    Rc::new(Neg(x.clone()))
}
fn abs(x: &Rc<Expr>) -> Rc<Expr> {
    Rc::new(Abs(x.clone()))
}
fn add(x: &Rc<Expr>, y: &Rc<Expr>) -> Rc<Expr> {
    Rc::new(Add(x.clone(), y.clone()))
}
fn mul(x: &Rc<Expr>, y: &Rc<Expr>) -> Rc<Expr> {
    Rc::new(Mul(x.clone(), y.clone()))
}
fn div(x: &Rc<Expr>, y: &Rc<Expr>) -> Rc<Expr> {
    Rc::new(Div(x.clone(), y.clone()))
}
fn max(x: &Rc<Expr>, y: &Rc<Expr>) -> Rc<Expr> {
    Rc::new(Max(x.clone(), y.clone()))
}
fn sub(x: &Rc<Expr>, y: &Rc<Expr>) -> Rc<Expr> {
    add(x, &neg(y))
}
fn constant(x: f32) -> Rc<Expr> {
    Rc::new(Constant(x))
}

impl Expr {
    fn parts(&self) -> Vec<&Rc<Expr>> {
        match self {
            Input(_) | Constant(_) => vec![],
            Neg(x) | Abs(x) | Sqrt(x) | InverseSqrt(x) | Trunc(x) | Ldexp(x, _) | Kept(x) => vec![x],
            Add(x, y) | Mul(x, y) | Div(x, y) | Max(x, y) | Rem(x, y) | Normalize(x, y) => vec![x, y],
            Fma(x, y, z) | Mix(x, y, z) | Smooth(x, y, z) => vec![x, y, z],
            Dot(all) | Distance(all) => all.iter().collect(),
        }
    }

    fn size(&self) -> usize {
        1 + self.parts().iter().map(|part| part.size()).sum::<usize>()
    }

    /// Number of summands after multiplying out, as the oracle counts them.
    fn terms(&self) -> usize {
        match self {
            Input(_) | Constant(_) | Sqrt(_) | InverseSqrt(_) | Trunc(_) => 1,
            Neg(x) | Abs(x) | Ldexp(x, _) | Kept(x) => x.terms(),
            Div(x, _) => x.terms(),
            Add(x, y) => x.terms() + y.terms(),
            Mul(x, y) => x.terms() * y.terms(),
            Max(x, y) => x.terms().max(y.terms()),
            _ => self.written_out().terms(),
        }
    }

    /// Number of factors of a summand, as the oracle counts them: a division for each of its
    /// roundings.
    fn degree(&self) -> usize {
        match self {
            Input(_) | Constant(_) | Sqrt(_) | InverseSqrt(_) | Trunc(_) => 1,
            Neg(x) | Abs(x) | Ldexp(x, _) | Kept(x) => x.degree(),
            Div(x, y) => x.degree() + 6 * if y.terms() == 1 { y.degree() } else { 1 },
            Add(x, y) | Max(x, y) => x.degree().max(y.degree()),
            Mul(x, y) => x.degree() + y.degree(),
            _ => self.written_out().degree(),
        }
    }

    /// The formula of the expression.
    fn written_out(&self) -> Rc<Expr> {
        match self {
            Fma(x, y, z) => add(&mul(x, y), z),
            Mix(x, y, a) => add(&mul(x, &add(&constant(1.0), &neg(a))), &mul(y, a)),
            Dot(all) => {
                let [a, b, c, d] = &**all;
                add(&mul(a, c), &mul(b, d))
            }
            Rem(x, y) => sub(x, &mul(y, &Rc::new(Trunc(div(x, y))))),
            Smooth(low, high, x) => {
                let t = div(&sub(x, low), &sub(high, low));
                let below_one = neg(&max(&neg(&t), &constant(-1.0)));
                let t = max(&below_one, &constant(0.0));
                mul(&mul(&t, &t), &sub(&constant(3.0), &mul(&constant(2.0), &t)))
            }
            Distance(all) => {
                let [a, b, c, d] = &**all;
                let (x, y) = (sub(a, c), sub(b, d));
                Rc::new(Sqrt(add(&mul(&x, &x), &mul(&y, &y))))
            }
            Normalize(x, y) => mul(x, &Rc::new(InverseSqrt(add(&mul(x, x), &mul(y, y))))),
            _ => Rc::new(self.clone()),
        }
    }

    /// The results of applying one law of precise arithmetic.
    fn laws(&self) -> Vec<Rc<Expr>> {
        let mut found = Vec::new();
        match self {
            Add(x, y) => {
                found.push(add(y, x));
                if let Add(a, b) = &**x {
                    found.push(add(a, &add(b, y)));
                }
                if let Neg(a) = &**x
                    && let Neg(b) = &**y
                {
                    found.push(neg(&add(a, b)));
                }
                // Takes out common factors.
                let factors = |e: &Rc<Expr>| match &**e {
                    Mul(a, b) => vec![(a.clone(), b.clone()), (b.clone(), a.clone())],
                    Neg(a) => match &**a {
                        Mul(a, b) => vec![(a.clone(), neg(b)), (b.clone(), neg(a))],
                        _ => vec![(a.clone(), constant(-1.0))],
                    },
                    _ => vec![(e.clone(), constant(1.0))],
                };
                for (a, b) in factors(x) {
                    for (c, d) in factors(y) {
                        if a == c {
                            found.push(mul(&a, &add(&b, &d)));
                        }
                    }
                }
                if let (Mul(a, b), Neg(y)) = (&**x, &**y)
                    && let Mul(c, d) = &**y
                    && a == b
                    && c == d
                {
                    found.push(mul(&add(a, c), &add(a, &neg(c))));
                }
                if let (Div(a, b), Div(c, d)) = (&**x, &**y)
                    && b == d
                {
                    found.push(div(&add(a, c), b));
                }
                // Removes cancelling terms.
                if neg(x) == *y || neg(y) == *x {
                    found.push(constant(0.0));
                }
                if **y == Constant(0.0) {
                    found.push(x.clone());
                }
                // A quotient on its own has its own bound.
                if let Div(a, b) = &**x {
                    found.push(add(&mul(a, &div(&constant(1.0), b)), y));
                }
                if let Max(a, b) = &**x {
                    found.push(max(&add(a, y), &add(b, y)));
                }
            }
            Mul(x, y) => {
                found.push(mul(y, x));
                match &**x {
                    Mul(a, b) => found.push(mul(a, &mul(b, y))),
                    Add(a, b) => found.push(add(&mul(a, y), &mul(b, y))),
                    Div(a, b) => {
                        found.push(div(&mul(a, y), b));
                        found.push(mul(a, &div(y, b)));
                    }
                    Neg(a) => found.push(neg(&mul(a, y))),
                    _ => {}
                }
                if let (Abs(a), Abs(b)) = (&**x, &**y) {
                    found.push(abs(&mul(a, b)));
                }
                if **y == Constant(1.0) {
                    found.push(x.clone());
                }
            }
            Div(x, y) => {
                match &**x {
                    Mul(a, b) => found.extend([mul(a, &div(b, y)), mul(&div(a, y), b)]),
                    Add(a, b) => found.push(add(&div(a, y), &div(b, y))),
                    Div(a, b) => found.push(div(a, &mul(b, y))),
                    Neg(a) => found.push(neg(&div(a, y))),
                    _ => {}
                }
                match &**y {
                    Mul(a, b) => found.push(div(&div(x, a), b)),
                    Neg(a) => found.push(neg(&div(x, a))),
                    _ => {}
                }
            }
            Neg(x) => match &**x {
                Neg(a) => found.push(a.clone()),
                Add(a, b) => found.push(add(&neg(a), &neg(b))),
                Mul(a, b) => found.push(mul(&neg(a), b)),
                Div(a, b) => found.extend([div(&neg(a), b), div(a, &neg(b))]),
                _ => {}
            },
            Abs(x) => match &**x {
                Neg(a) => found.push(abs(a)),
                Mul(a, b) => found.push(mul(&abs(a), &abs(b))),
                Div(a, b) => found.push(div(&abs(a), &abs(b))),
                _ => {}
            },
            Max(x, y) => {
                found.push(max(y, x));
                if let (Add(a, b), Add(c, d)) = (&**x, &**y)
                    && b == d
                {
                    found.push(add(&max(a, c), b));
                }
            }
            Ldexp(x, n) => {
                // On its own it is not a product, from which a factor could be taken out.
                if let Add(a, b) = &**x {
                    found.push(add(&Rc::new(Ldexp(a.clone(), *n)), &Rc::new(Ldexp(b.clone(), *n))));
                }
            }
            Kept(x) => found.push(x.clone()),
            Input(_) | Constant(_) | Sqrt(_) | InverseSqrt(_) | Trunc(_) => {}
            Fma(..) | Mix(..) | Dot(_) | Rem(..) | Smooth(..) | Distance(_) | Normalize(..) => {
                found.push(self.written_out());
            }
        }
        found
    }

    /// The expression with one law applied somewhere, if any applies.
    fn rewritten(self: &Rc<Self>, random: &mut Random) -> Rc<Expr> {
        let parts = self.parts();
        if !parts.is_empty() && random.below(3) != 0 {
            let (k, mut j) = (random.below(parts.len()), 0..);
            return self.map(|part| if j.next() == Some(k) { part.rewritten(random) } else { part.clone() });
        }
        let found = self.laws();
        if found.is_empty() { self.clone() } else { found[random.below(found.len())].clone() }
    }

    /// The expression with a function applied to each part.
    fn map(&self, mut f: impl FnMut(&Rc<Expr>) -> Rc<Expr>) -> Rc<Expr> {
        Rc::new(match self {
            Input(_) | Constant(_) => self.clone(),
            Neg(x) => Neg(f(x)),
            Abs(x) => Abs(f(x)),
            Sqrt(x) => Sqrt(f(x)),
            InverseSqrt(x) => InverseSqrt(f(x)),
            Trunc(x) => Trunc(f(x)),
            Rem(x, y) => Rem(f(x), f(y)),
            Smooth(x, y, z) => Smooth(f(x), f(y), f(z)),
            Distance(all) => Distance(Box::new(all.each_ref().map(f))),
            Normalize(x, y) => Normalize(f(x), f(y)),
            Ldexp(x, n) => Ldexp(f(x), *n),
            Kept(x) => Kept(f(x)),
            Add(x, y) => Add(f(x), f(y)),
            Mul(x, y) => Mul(f(x), f(y)),
            Div(x, y) => Div(f(x), f(y)),
            Max(x, y) => Max(f(x), f(y)),
            Fma(x, y, z) => Fma(f(x), f(y), f(z)),
            Mix(x, y, a) => Mix(f(x), f(y), f(a)),
            Dot(all) => Dot(Box::new(all.each_ref().map(f))),
        })
    }

    /// The expression with up to `n` laws applied.
    fn rearranged(self: &Rc<Self>, n: usize, random: &mut Random) -> Rc<Expr> {
        (0..random.below(n)).fold(self.clone(), |expr, _| {
            let next = expr.rewritten(random);
            if next.size() <= 60 { next } else { expr }
        })
    }

    /// The expression with a value in place of each root, whole number and divisor that is a sum.
    /// Each has one value wherever it is used.
    fn settled(self: &Rc<Self>, inputs: &[f32], known: &mut KnownValues, with: &mut Arithmetic) -> Rc<Expr> {
        match &**self {
            Rem(..) | Smooth(..) | Normalize(..) => return self.written_out().settled(inputs, known, with),
            // The length of a difference, which is not multiplied out.
            Distance(all) => {
                let [a, b, c, d] = &**all;
                let [x, y] = [sub(a, c), sub(b, d)].map(|x| x.settled(inputs, known, with).value(inputs, known, with));
                return Rc::new(Sqrt(add(&mul(&x, &x), &mul(&y, &y)))).value(inputs, known, with);
            }
            _ => {}
        }
        let parts = self.map(|part| part.settled(inputs, known, with));
        match &*parts {
            Sqrt(_) | InverseSqrt(_) | Trunc(_) => parts.value(inputs, known, with),
            Div(x, y) if y.terms() > 1 => div(x, &y.value(inputs, known, with)),
            _ => parts,
        }
    }

    /// The value of one arrangement.
    fn value(self: &Rc<Self>, inputs: &[f32], known: &mut KnownValues, with: &mut Arithmetic) -> Rc<Expr> {
        let value = match known.iter().find(|(expr, _)| expr == self) {
            Some((_, value)) => *value,
            None => self.rearranged(8, &mut with.random).evaluate(inputs, known, with),
        };
        known.push((self.clone(), value));
        constant(value)
    }

    /// Evaluates once. `known` has the values of expressions, each of which is computed once.
    fn evaluate(self: &Rc<Self>, inputs: &[f32], known: &mut KnownValues, with: &mut Arithmetic) -> f32 {
        if let Some((_, value)) = known.iter().find(|(expr, _)| expr == self) {
            return *value;
        }
        let mut of = |x: &Rc<Expr>, with: &mut Arithmetic| f64::from(x.evaluate(inputs, known, with));
        let value = match &**self {
            Input(k) => inputs[*k],
            Constant(x) => *x,
            Neg(x) => -of(x, with) as f32,
            Abs(x) => of(x, with).abs() as f32,
            Kept(x) => of(x, with) as f32,
            Fma(..) | Mix(..) | Dot(_) | Rem(..) | Smooth(..) | Distance(_) | Normalize(..) => {
                of(&self.written_out(), with) as f32
            }
            Trunc(x) => of(x, with).trunc() as f32,
            InverseSqrt(x) => {
                let root = of(x, with).sqrt().recip();
                either(root, &mut with.random)
            }
            Max(x, y) => of(x, with).max(of(y, with)) as f32,
            Sqrt(x) => {
                let root = of(x, with).sqrt();
                either(root, &mut with.random)
            }
            Ldexp(x, n) => {
                let scaled = of(x, with) * 2f64.powi(*n);
                with.rounded(scaled, 0.0)
            }
            Mul(x, y) => {
                let (x, y) = (of(x, with), of(y, with));
                with.product(x, y)
            }
            Div(x, y) => {
                let (x, y) = (of(x, with), of(y, with));
                with.quotient(x, y)
            }
            Add(x, y) => match &**x {
                Mul(a, b) if with.random.below(2) == 0 => {
                    let (a, b, c) = (of(a, with), of(b, with), of(y, with));
                    with.sum(a * b, c)
                }
                _ => {
                    let (x, y) = (of(x, with), of(y, with));
                    with.sum(x, y)
                }
            },
        };
        known.push((self.clone(), value));
        value
    }

    /// The expression in WGSL; equal subexpressions are one value.
    fn text(self: &Rc<Self>, known: &mut Vec<Rc<Expr>>, lines: &mut String) -> usize {
        if let Some(k) = known.iter().position(|expr| expr == self) {
            return k;
        }
        let parts: Vec<usize> = self.parts().iter().map(|part| part.text(known, lines)).collect();
        let k = known.len();
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| parts.get(i).copied().unwrap_or_default());
        let expression = match &**self {
            Input(i) => format!("a[i * {INPUTS}u + {i}u]"),
            Constant(x) => format!("{x:?}"),
            Neg(_) => format!("-v{a}"),
            Abs(_) => format!("abs(v{a})"),
            Add(_, y) => match &**y {
                // A negated summand is subtracted.
                Neg(y) => format!("v{a} - v{}", known.iter().position(|expr| expr == y).unwrap_or_default()),
                _ => format!("v{a} + v{b}"),
            },
            Mul(..) => format!("v{a} * v{b}"),
            Div(..) => format!("v{a} / v{b}"),
            Max(..) => format!("max(v{a}, v{b})"),
            Fma(..) => format!("fma(v{a}, v{b}, v{c})"),
            Mix(..) => format!("mix(v{a}, v{b}, v{c})"),
            Dot(_) => format!("dot(vec2(v{a}, v{b}), vec2(v{c}, v{d}))"),
            Sqrt(_) => format!("sqrt(v{a})"),
            InverseSqrt(_) => format!("inverseSqrt(v{a})"),
            Trunc(_) => format!("trunc(v{a})"),
            Rem(..) => format!("v{a} % v{b}"),
            Smooth(..) => format!("smoothstep(v{a}, v{b}, v{c})"),
            Distance(_) => format!("distance(vec2(v{a}, v{b}), vec2(v{c}, v{d}))"),
            Normalize(..) => format!("normalize(vec2(v{a}, v{b})).x"),
            Ldexp(_, n) => format!("ldexp(v{a}, {n})"),
            Kept(_) => format!("kept[i * 16u + {}u]", k % 16),
        };
        if let Kept(_) = &**self {
            lines.push_str(&format!("kept[i * 16u + {}u] = v{a};\n", k % 16));
        }
        lines.push_str(&format!("let v{k} = {expression};\n"));
        known.push(self.clone());
        k
    }
}

/// The operations of random expressions.
#[derive(Clone, Copy, PartialEq)]
enum ExpressionKind {
    SumsOfProducts,
    Quotients,
    Formulas,
}

/// A random expression whose parts occur repeatedly.
fn expression(random: &mut Random, of: ExpressionKind) -> Rc<Expr> {
    let mut made: Vec<Rc<Expr>> = (0..INPUTS).map(|k| Rc::new(Input(k))).collect();
    made.push(constant([0.1, 2.0, 3.0, -0.5][random.below(4)]));
    let kinds = match of {
        ExpressionKind::SumsOfProducts => 19,
        ExpressionKind::Quotients => 21,
        ExpressionKind::Formulas => 25,
    };
    // Longer products of sums are multiplied out in the lenient reading.
    let longest = if random.below(4) == 0 { 40 } else { 8 };
    let steps = 3 + random.below(6);
    for step in 0..steps {
        let n = made.len();
        let pick = |random: &mut Random| if random.below(2) == 0 { n - 1 } else { random.below(n) };
        let [x, y, z, w] = [(); 4].map(|()| made[pick(random)].clone());
        let last = of == ExpressionKind::Formulas && step + 1 == steps;
        let next = match if last { 21 + random.below(4) } else { random.below(kinds) } {
            0..5 => add(&x, &y),
            5..7 => add(&x, &neg(&y)),
            7..11 => mul(&x, &y),
            11 => neg(&x),
            12 => abs(&x),
            13 => max(&x, &y),
            14 => Rc::new(Ldexp(x, random.below(5) as i32 - 2)),
            15 => Rc::new(Kept(x)),
            16 => Rc::new(Fma(x, y, z)),
            17 => Rc::new(Mix(x, y, z)),
            18 => Rc::new(Dot(Box::new([x, y, z, w]))),
            19 => div(&x, &y),
            20 => Rc::new(Sqrt(abs(&x))),
            21 => Rc::new(Rem(x, y)),
            22 => Rc::new(Smooth(constant(-0.75), constant(2.5), x)),
            23 => Rc::new(Distance(Box::new([x, y, z, w]))),
            _ => Rc::new(Normalize(x, y)),
        };
        if next.terms() <= longest && next.degree() <= 64 && next.size() <= 40 {
            made.push(next);
        }
    }
    made.pop().expect("an expression")
}

/// A module with execution modes of 32-bit floats.
fn with_modes(module: &Module, modes: &[&str]) -> Module {
    let text = disassemble(module.words(), Style::Plain).expect("text");
    let mut lines = String::new();
    for line in text.lines() {
        lines.push_str(&format!("{line}\n"));
        if line.trim() == "OpCapability Shader" {
            lines.extend(modes.iter().map(|mode| format!("OpCapability {mode}\n")));
        }
        if let Some((main, _)) = line.split_once("LocalSize") {
            lines.extend(modes.iter().map(|mode| format!("{main} {mode} 32\n")));
        }
    }
    spirv(&lines)
}

/// Compares results of rewritten expressions with the sets. Returns the number of compared results,
/// of undetermined lanes, and of lanes.
fn compare(
    expressions: usize,
    rewrites: usize,
    seed: u64,
    of: ExpressionKind,
    modes: &[&str],
) -> (usize, usize, usize) {
    const LANES: usize = 4;
    let with = &mut Arithmetic::new(seed, modes);
    let (mut inside, mut undetermined, mut lanes) = (0, 0, 0);
    for _ in 0..expressions {
        let expr = expression(&mut with.random, of);
        let values = [0.5f32, 1.0, -1.0, 3.0, 1e-3, -7.25, 0.1, 1.000_000_1, 1234.5, -0.3, 16_777_216.0, -1e-20, 3e18];
        let inputs: Vec<f32> = (0..LANES * INPUTS).map(|_| values[with.random.below(values.len())]).collect();
        let mut lines = String::new();
        let last = expr.text(&mut Vec::new(), &mut lines);
        let text = format!(
            "@group(0) @binding(0) var<storage, read> a: array<f32>;
            @group(0) @binding(1) var<storage, read_write> out: array<f32>;
            @group(0) @binding(2) var<storage, read_write> kept: array<f32>;
            @compute @workgroup_size({LANES})
            fn main(@builtin(local_invocation_index) i: u32) {{ {lines} out[i] = v{last}; }}"
        );
        let module = with_modes(&wgsl(&text), modes);
        let program = Program::new(&module, "main", &SpecValues::new()).expect("a program");
        let buffers = vec![floats(&inputs), floats(&[0.0; LANES]), floats(&[0.0; 16 * LANES])];
        let outcome = run_program(&program, [1; 3], buffers);
        assert_eq!(outcome.faults, []);
        for lane in 0..LANES {
            lanes += 1;
            let expected = word(&outcome, 1, lane);
            let cell = outcome.memory[&Slot::new(0, 1)].cell_at(lane as u64 * 4);
            let lenient = cell.and_then(|cell| cell.lenient.as_deref());
            let open = |set: &Expected| matches!(set, Expected::Undetermined(_));
            if open(&expected) || lenient.is_some_and(open) {
                undetermined += 1;
                continue;
            }
            let inputs = &inputs[lane * INPUTS..][..INPUTS];
            for _ in 0..rewrites {
                let mut known = Vec::new();
                let other = expr.settled(inputs, &mut known, with).rearranged(16, &mut with.random);
                let value = other.evaluate(inputs, &mut known, with);
                // An overflow on the way may give anything.
                if known.iter().any(|(_, value)| !value.is_finite()) {
                    continue;
                }
                let permits = |set: &Expected| set.permits(u64::from(value.to_bits())) == Some(true);
                let permitted = permits(&expected) || lenient.is_some_and(permits);
                assert!(permitted, "{value:e} of {inputs:?} as {other:?} by {text}, {modes:?}: {expected:?}");
                inside += 1;
            }
        }
    }
    (inside, undetermined, lanes)
}

const MODES: [&[&str]; 6] = [
    &[],
    &["RoundingModeRTE"],
    &["RoundingModeRTZ"],
    &["DenormFlushToZero"],
    &["DenormPreserve"],
    &["RoundingModeRTE", "DenormPreserve"],
];

/// Number of expressions; with `ASSAY_FULL` as many as take minutes.
fn many() -> usize {
    if std::env::var_os("ASSAY_FULL").is_some() { 5000 } else { 100 }
}

#[test]
fn every_rewritten_sum_of_products_lies_in_the_set() {
    for (seed, modes) in (1..).zip(MODES) {
        let (inside, undetermined, lanes) = compare(many(), 100, seed, ExpressionKind::SumsOfProducts, modes);
        assert!(inside > 30_000, "{inside} results, {modes:?}");
        assert!(undetermined * 4 < lanes, "{undetermined} of {lanes} undetermined");
    }
}

#[test]
fn every_rewritten_quotient_lies_in_the_set() {
    for (seed, modes) in (11..).zip(MODES) {
        let (inside, undetermined, lanes) = compare(many(), 100, seed, ExpressionKind::Quotients, modes);
        assert!(inside > 30_000, "{inside} results, {modes:?}");
        assert!(undetermined * 4 < lanes, "{undetermined} of {lanes} undetermined");
    }
}

#[test]
fn every_rewritten_formula_lies_in_the_set() {
    for (seed, modes) in (21..).zip(MODES) {
        let (inside, undetermined, lanes) = compare(many(), 100, seed, ExpressionKind::Formulas, modes);
        assert!(inside > 12_000, "{inside} results, {modes:?}");
        // If denormals must be flushed, the lengths of sets are undetermined.
        assert!(undetermined * 5 < lanes * 3, "{undetermined} of {lanes} undetermined");
    }
}
