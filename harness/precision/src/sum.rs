//! Sums of products in floating point, over every formula that associativity, commutativity and distributivity reach.

use crate::{
    environment::Environment,
    extremes::corners,
    formula::NodeId,
    real::round,
    span::{Span, Stop},
};
use assay_float::{Dyadic, Enclosure, Rank};
use smallvec::SmallVec;
use std::cell::RefCell;

/// `±a*b*.. ±c*d*.. ..`: signed products of nodes. A product of no factors is one.
#[derive(Clone, Debug)]
pub(crate) struct Sum {
    pub(crate) terms: Vec<Term>,
}

/// A signed product.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) negative: bool,
    pub(crate) factors: SmallVec<[NodeId; 4]>,
}

/// Terms left, and factors left of each: a byte a term, bit 7 for the term, one bit for each of its factors.
type Part = u64;

const PRESENT: u64 = 0x80;

fn term_of(part: Part, index: usize) -> Option<u64> {
    let byte = part >> (8 * index) & 0xff;
    (byte & PRESENT != 0).then_some(byte & !PRESENT)
}

impl Sum {
    /// The sum of products in exact arithmetic.
    pub(crate) fn exact<R: Enclosure>(
        &self,
        node: impl Fn(NodeId) -> Result<R, Stop>,
        constant: impl Fn(Dyadic) -> R,
    ) -> Result<R, Stop> {
        let mut total: Option<R> = None;
        for term in &self.terms {
            let mut product: Option<R> = None;
            for &factor in &term.factors {
                let value = node(factor)?;
                product = Some(product.map_or(value.clone(), |p| p.mul(&value)));
            }
            let product = product.unwrap_or_else(|| constant(Dyadic::ONE));
            let product = if term.negative { product.neg() } else { product };
            total = Some(total.map_or(product.clone(), |t| t.add(&product)));
        }
        Ok(total.expect("a sum has terms"))
    }

    /// The least and the greatest value over all formulas.
    pub(crate) fn range<R: Enclosure>(
        &self,
        node: impl Fn(NodeId) -> Result<Span, Stop>,
        env: &Environment,
        precision: R::Precision,
    ) -> Result<Span, Stop> {
        let mut spans = SmallVec::new();
        for term in &self.terms {
            spans.push(term.factors.iter().map(|&f| node(f)).collect::<Result<_, _>>()?);
        }
        let whole = (0..self.terms.len())
            .map(|i| (PRESENT | ((1 << self.terms[i].factors.len()) - 1)) << (8 * i))
            .fold(0, |a, b| a | b);
        Ranges::<R> { sum: self, spans, env, precision, memo: RefCell::default() }.sum(whole)
    }
}

struct Ranges<'a, R: Enclosure> {
    sum: &'a Sum,
    /// Of every factor of every term.
    spans: SmallVec<[SmallVec<[Span; 4]>; 8]>,
    env: &'a Environment,
    precision: R::Precision,
    memo: RefCell<SmallVec<[(Part, Span); 32]>>,
}

impl<R: Enclosure> Ranges<'_, R> {
    /// The range of part of the sum: over all ways to split it in two sums, and to take common factors out.
    fn sum(&self, part: Part) -> Result<Span, Stop> {
        if let Some(&(_, span)) = self.memo.borrow().iter().find(|(p, _)| *p == part) {
            return Ok(span);
        }
        let present: SmallVec<[usize; 8]> = (0..self.sum.terms.len()).filter(|&i| term_of(part, i).is_some()).collect();
        let mut found: Option<Span> = None;
        let mut include = |span: Span| found = Some(found.map_or(span, |f| f.hull(span)));
        if let [single] = present[..] {
            let product = self.product(single, term_of(part, single).unwrap_or_default())?;
            include(if self.sum.terms[single].negative { product.neg() } else { product });
        } else {
            // The first term always stays on the left: the operands of an addition commute.
            for choice in 0..(1u32 << (present.len() - 1)) - 1 {
                let side = |take: bool| {
                    let taken = |k: usize| (k == 0 || choice >> (k - 1) & 1 == 1) == take;
                    let bytes = present.iter().enumerate().filter(|&(k, _)| taken(k));
                    bytes.fold(0, |p, (_, &i)| p | part & 0xff << (8 * i))
                };
                include(self.add(self.sum(side(true))?, self.sum(side(false))?)?);
            }
            self.factored(part, &present, &mut include)?;
        }
        let span = found.expect("a part has a term");
        self.memo.borrow_mut().push((part, span));
        Ok(span)
    }

    /// The ranges with a common product taken out of all terms.
    fn factored(&self, part: Part, present: &[usize], include: &mut impl FnMut(Span)) -> Result<(), Stop> {
        let first = present[0];
        let mask = term_of(part, first).unwrap_or_default();
        let factors = &self.sum.terms[first].factors;
        // Every non-empty subset of the first term's factors that all other terms have too.
        let mut subset = mask;
        while subset != 0 {
            let mut rest = part & !(subset << (8 * first));
            let shared = present[1..].iter().all(|&i| {
                let mut left = term_of(part, i).unwrap_or_default();
                let mut taken = 0;
                for k in (0..factors.len()).filter(|k| subset >> k & 1 == 1) {
                    let others = &self.sum.terms[i].factors;
                    let Some(same) = (0..others.len()).find(|&j| left >> j & 1 == 1 && others[j] == factors[k]) else {
                        return false;
                    };
                    left &= !(1 << same);
                    taken |= 1 << same;
                }
                rest &= !(taken << (8 * i));
                true
            });
            if shared {
                include(self.mul(self.product(first, subset)?, self.sum(rest)?)?);
            }
            subset = (subset - 1) & mask;
        }
        Ok(())
    }

    /// The range of the product of some factors of a term, in every order; its sign left aside.
    fn product(&self, term: usize, mask: u64) -> Result<Span, Stop> {
        if mask == 0 {
            let one = R::exact(Dyadic::ONE, self.precision).floor_rank(self.env.format)?;
            return Ok(Span::point(one));
        }
        if mask.is_power_of_two() {
            return Ok(self.spans[term][mask.trailing_zeros() as usize]);
        }
        let lowest = mask & mask.wrapping_neg();
        let others = mask & !lowest;
        let mut found: Option<Span> = None;
        // The lowest factor together with any proper subset of the others, times the rest.
        let mut subset = others;
        while subset != 0 {
            let rest = subset;
            let span = self.mul(self.product(term, mask & !rest)?, self.product(term, rest)?)?;
            found = Some(found.map_or(span, |f| f.hull(span)));
            subset = (subset - 1) & others;
        }
        Ok(found.expect("at least two factors"))
    }

    fn add(&self, a: Span, b: Span) -> Result<Span, Stop> {
        self.operation(
            a,
            b,
            |x, y| x.add(y),
            |a, b| {
                let (p, q) = (self.infinite(a), self.infinite(b));
                match p + q {
                    0 if p != 0 => Err(Stop::Anything("infinities of opposite sign may meet, which makes a NaN")),
                    sum => Ok(sum),
                }
            },
        )
    }

    fn mul(&self, a: Span, b: Span) -> Result<Span, Stop> {
        self.operation(
            a,
            b,
            |x, y| x.mul(y),
            |a, b| {
                if Span::ZERO.lo <= a && a <= 0 || Span::ZERO.lo <= b && b <= 0 {
                    return Err(Stop::Anything("an infinity may meet a zero, which makes a NaN"));
                }
                let sign = |r: Rank| if r < 0 { -1 } else { 1 };
                Ok(sign(a) * sign(b))
            },
        )
    }

    /// 1 or -1 for an infinity, 0 for a finite rank.
    fn infinite(&self, rank: Rank) -> i32 {
        i32::from(rank >= self.env.format.infinity()) - i32::from(rank <= self.env.format.neg_infinity())
    }

    /// A correctly rounded operation, monotone in each operand, on spans; `infinite` gives the sign of the infinity that it makes of
    /// infinite operands.
    fn operation(
        &self,
        a: Span,
        b: Span,
        operation: impl Fn(&R, &R) -> R,
        infinite: impl Fn(Rank, Rank) -> Result<i32, Stop>,
    ) -> Result<Span, Stop> {
        let format = self.env.format;
        if a.has_infinity(format) || b.has_infinity(format) {
            if self.env.not_inf {
                return Err(Stop::Anything("an intermediate may overflow, and infinities are assumed not to occur"));
            }
            // A NaN may arise from members within, not only at the corners.
            for (p, q) in [(a, b), (b, a)] {
                if p.has_infinity(format) && q.has_zero() {
                    infinite(format.infinity(), 0).map(drop)?;
                }
            }
        }
        let span = corners(&[a, b], |ranks| {
            if self.infinite(ranks[0]) != 0 || self.infinite(ranks[1]) != 0 {
                let sign = infinite(ranks[0], ranks[1])?;
                return Ok(Span::point(if sign < 0 { format.neg_infinity() } else { format.infinity() }));
            }
            let value = |rank: Rank| R::exact(format.value_of_rank(rank), self.precision);
            let exact = operation(&value(ranks[0]), &value(ranks[1]));
            Ok(round(&exact, self.env, self.env.rounding, self.precision)?)
        })?;
        Ok(if self.env.flush_inside { span.flushed(format) } else { span })
    }
}
