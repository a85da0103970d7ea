//! Sums of products in floating point, over every formula that associativity, commutativity and
//! distributivity reach.
//!
//! # Method
//!
//! Exhaustive enumeration with memoisation over subsets of the sum (dynamic programming). The range
//! of a part of the sum is the hull over
//!
//! 1. every split of its terms into two non-empty parts, which are added (associativity and
//!    commutativity);
//! 2. every product of nodes that all its terms have in common, multiplied by the remaining sum
//!    (distributivity).
//!
//! The range of a product is the hull over every split of its factors into two non-empty products.
//!
//! # Limits
//!
//! At most 8 terms of at most 7 factors each (the encoding of [`TermSubset`]). A common factor is a
//! product of nodes: one that is itself a sum of several terms, `c + d` in `a * c + a * d + b * c +
//! b * d`, is not taken out. The hull treats values between two formulas' results as permitted.
//! Each addition and multiplication rounds; contraction into a fused operation is not modelled
//! here.

use crate::{
    evaluator::Evaluator,
    formula::{NodeId, SumOfProducts},
    rank_interval::Stop,
};
use assay_float::{Dyadic, Enclosure};
use smallvec::SmallVec;
use std::cell::RefCell;

/// Subset of a sum: a byte for each term, with bit 7 set if the term is present, and one bit for
/// each of its remaining factors.
type TermSubset = u64;

const PRESENT: u64 = 0x80;

fn term_of(part: TermSubset, index: usize) -> Option<u64> {
    let byte = part >> (8 * index) & 0xff;
    (byte & PRESENT != 0).then_some(byte & !PRESENT)
}

impl SumOfProducts {
    /// Sum of products in exact arithmetic.
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

    /// Hull of the results of all formulas.
    pub(crate) fn range<A: Evaluator>(
        &self,
        evaluator: &A,
        node: impl Fn(NodeId) -> Result<A::Range, Stop>,
    ) -> Result<A::Range, Stop> {
        let mut factors = SmallVec::new();
        for term in &self.terms {
            factors.push(term.factors.iter().map(|&f| node(f)).collect::<Result<_, _>>()?);
        }
        let whole = (0..self.terms.len())
            .map(|i| (PRESENT | ((1 << self.terms[i].factors.len()) - 1)) << (8 * i))
            .fold(0, |a, b| a | b);
        SumEvaluation { sum: self, factors, evaluator, memo: RefCell::default() }.sum(whole)
    }
}

type Memo<Range> = RefCell<SmallVec<[(TermSubset, Range); 16]>>;

struct SumEvaluation<'a, A: Evaluator> {
    sum: &'a SumOfProducts,
    /// Ranges of every factor of every term.
    factors: SmallVec<[SmallVec<[A::Range; 4]>; 5]>,
    evaluator: &'a A,
    memo: Memo<A::Range>,
}

impl<A: Evaluator> SumEvaluation<'_, A> {
    /// Range of a part of the sum: over all splits into two sums, and all common factors.
    fn sum(&self, part: TermSubset) -> Result<A::Range, Stop> {
        if let Some((_, known)) = self.memo.borrow().iter().find(|(p, _)| *p == part) {
            return Ok(known.clone());
        }
        let present: SmallVec<[usize; 8]> = (0..self.sum.terms.len()).filter(|&i| term_of(part, i).is_some()).collect();
        let range = match present[..] {
            [single] => {
                let product = self.product(single, term_of(part, single).unwrap_or_default())?;
                if self.sum.terms[single].negative { self.evaluator.neg(&product) } else { product }
            }
            _ => {
                let mut found = RangeHull::none(self.evaluator);
                // The first term always stays on the left, because addition commutes.
                for choice in 0..(1u32 << (present.len() - 1)) - 1 {
                    let side = |take: bool| {
                        let taken = |k: usize| (k == 0 || choice >> (k - 1) & 1 == 1) == take;
                        let bytes = present.iter().enumerate().filter(|&(k, _)| taken(k));
                        bytes.fold(0, |p, (_, &i)| p | part & 0xff << (8 * i))
                    };
                    found.include(self.evaluator.add(&self.sum(side(true))?, &self.sum(side(false))?)?);
                }
                self.factored(part, &present, &mut found)?;
                found.range()
            }
        };
        self.memo.borrow_mut().push((part, range.clone()));
        Ok(range)
    }

    /// Adds the formulas in which a common product is taken out of all terms.
    fn factored(&self, part: TermSubset, present: &[usize], found: &mut RangeHull<'_, A>) -> Result<(), Stop> {
        let first = present[0];
        let mask = term_of(part, first).unwrap_or_default();
        // Visits every non-empty subset of the first term's factors. It is used if all other terms
        // contain it.
        let mut subset = mask;
        while subset != 0 {
            if let Some(rest) = self.without_factors(part, present, subset) {
                found.include(self.evaluator.mul(&self.product(first, subset)?, &self.sum(rest)?)?);
            }
            subset = (subset - 1) & mask;
        }
        Ok(())
    }

    /// The part without a subset of the first present term's factors, taken out of all terms.
    /// `None` unless all terms contain them.
    fn without_factors(&self, part: TermSubset, present: &[usize], subset: u64) -> Option<TermSubset> {
        let wanted = &self.sum.terms[present[0]].factors;
        let mut rest = part;
        for &i in present {
            let own = &self.sum.terms[i].factors;
            let mut left = term_of(part, i)?;
            for k in (0..wanted.len()).filter(|k| subset >> k & 1 == 1) {
                // The first term gives up exactly these factors; the other terms give up the first
                // equal ones.
                let same = match i == present[0] {
                    true => k,
                    false => (0..own.len()).find(|&j| left >> j & 1 == 1 && own[j] == wanted[k])?,
                };
                left &= !(1 << same);
                rest &= !(1 << (same + 8 * i));
            }
        }
        Some(rest)
    }

    /// Range of the product of some factors of a term, in every order, without its sign.
    fn product(&self, term: usize, mask: u64) -> Result<A::Range, Stop> {
        if mask == 0 {
            return self.evaluator.constant(Dyadic::ONE);
        }
        if mask.is_power_of_two() {
            return Ok(self.factors[term][mask.trailing_zeros() as usize].clone());
        }
        // The lowest factor with any proper subset of the others, times the remaining factors.
        let others = mask & (mask - 1);
        let mut found = RangeHull::none(self.evaluator);
        let mut rest = others;
        while rest != 0 {
            found.include(self.evaluator.mul(&self.product(term, mask & !rest)?, &self.product(term, rest)?)?);
            rest = (rest - 1) & others;
        }
        Ok(found.range())
    }
}

/// Hull of the ranges so far.
struct RangeHull<'a, A: Evaluator> {
    evaluator: &'a A,
    range: Option<A::Range>,
}

impl<'a, A: Evaluator> RangeHull<'a, A> {
    fn none(evaluator: &'a A) -> Self {
        RangeHull { evaluator, range: None }
    }

    fn include(&mut self, range: A::Range) {
        self.range = Some(match self.range.take() {
            Some(found) => self.evaluator.hull(&found, &range),
            None => range,
        });
    }

    fn range(self) -> A::Range {
        self.range.expect("a sum has a form")
    }
}
