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
//!    (distributivity). In the lenient reading of
//!    [`Environment::equal_operands`](crate::Environment) operands with equal values are one node,
//!    and so are those with opposite values, with the sign at the term.
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
    evaluator::{Evaluator, Sign},
    formula::{NodeId, SumOfProducts},
    rank_interval::Stop,
};
use assay_float::{Dyadic, Enclosure};
use smallvec::SmallVec;
use std::cell::RefCell;

/// Subset of a sum: a byte for each term, with bit 7 set if the term is present, and one bit for
/// each of its remaining factors.
type TermSubset = u64;

/// Part of a sum.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PartialSum {
    terms: TermSubset,
    /// Terms whose sign is the opposite of that in the sum, one bit for each.
    opposite: u8,
    /// Terms that may have either sign.
    either: u8,
}

const PRESENT: u64 = 0x80;

/// The present terms, one bit for each.
fn present_bits(part: TermSubset) -> u8 {
    (0..8).filter(|&i| term_of(part, i).is_some()).fold(0, |bits, i| bits | 1 << i)
}

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
        common: impl Fn(NodeId, NodeId) -> Option<Sign>,
    ) -> Result<A::Range, Stop> {
        let mut factors = SmallVec::new();
        for term in &self.terms {
            factors.push(term.factors.iter().map(|&f| node(f)).collect::<Result<_, _>>()?);
        }
        let whole = (0..self.terms.len())
            .map(|i| (PRESENT | ((1 << self.terms[i].factors.len()) - 1)) << (8 * i))
            .fold(0, |a, b| a | b);
        SumEvaluation { sum: self, factors, common, evaluator, memo: RefCell::default() }.sum(PartialSum {
            terms: whole,
            opposite: 0,
            either: 0,
        })
    }
}

type Memo<Range> = RefCell<SmallVec<[(PartialSum, Range); 16]>>;

struct SumEvaluation<'a, A: Evaluator, C: Fn(NodeId, NodeId) -> Option<Sign>> {
    sum: &'a SumOfProducts,
    /// Ranges of every factor of every term.
    factors: SmallVec<[SmallVec<[A::Range; 4]>; 5]>,
    /// Sign with which one node counts as another.
    common: C,
    evaluator: &'a A,
    memo: Memo<A::Range>,
}

impl<A: Evaluator, C: Fn(NodeId, NodeId) -> Option<Sign>> SumEvaluation<'_, A, C> {
    /// Range of a part of the sum: over all splits into two sums, and all common factors.
    fn sum(&self, part: PartialSum) -> Result<A::Range, Stop> {
        if let Some((_, known)) = self.memo.borrow().iter().find(|(p, _)| *p == part) {
            return Ok(known.clone());
        }
        let PartialSum { terms, opposite, either } = part;
        let present: SmallVec<[usize; 8]> =
            (0..self.sum.terms.len()).filter(|&i| term_of(terms, i).is_some()).collect();
        let range = match present[..] {
            [single] => {
                let product = self.product(single, term_of(terms, single).unwrap_or_default())?;
                let is_negative = self.sum.terms[single].negative != (opposite >> single & 1 == 1);
                match (either >> single & 1 == 1, is_negative) {
                    (true, _) => self.evaluator.hull(&product, &self.evaluator.neg(&product)),
                    (false, true) => self.evaluator.neg(&product),
                    (false, false) => product,
                }
            }
            _ => {
                let mut found = RangeHull::none(self.evaluator);
                // The first term always stays on the left, because addition commutes.
                for choice in 0..(1u32 << (present.len() - 1)) - 1 {
                    let side = |take: bool| {
                        let taken = |k: usize| (k == 0 || choice >> (k - 1) & 1 == 1) == take;
                        let bytes = present.iter().enumerate().filter(|&(k, _)| taken(k));
                        let terms = bytes.fold(0, |p, (_, &i)| p | terms & 0xff << (8 * i));
                        let taken = present_bits(terms);
                        PartialSum { terms, opposite: opposite & taken, either: either & taken }
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
    fn factored(&self, part: PartialSum, present: &[usize], found: &mut RangeHull<'_, A>) -> Result<(), Stop> {
        let first = present[0];
        let mask = term_of(part.terms, first).unwrap_or_default();
        // Visits every non-empty subset of the first term's factors. It is used if all other terms
        // contain it.
        let mut subset = mask;
        while subset != 0 {
            for rest in self.without_factors(part, present, subset) {
                found.include(self.evaluator.mul(&self.product(first, subset)?, &self.sum(rest)?)?);
            }
            subset = (subset - 1) & mask;
        }
        Ok(())
    }

    /// The part without a subset of the first present term's factors, taken out of all terms: one
    /// for each choice of the factors that these count as. Empty unless all terms contain them.
    fn without_factors(&self, part: PartialSum, present: &[usize], subset: u64) -> SmallVec<[PartialSum; 1]> {
        let wanted = &self.sum.terms[present[0]].factors;
        let mut rests = SmallVec::from_elem(part, 1);
        for &i in present {
            let own = &self.sum.terms[i].factors;
            for k in (0..wanted.len()).filter(|k| subset >> k & 1 == 1) {
                let without = |rest: PartialSum, (j, sign): (usize, Sign)| PartialSum {
                    terms: rest.terms & !(1 << (j + 8 * i)),
                    opposite: rest.opposite ^ u8::from(sign == Sign::Opposite) << i,
                    either: rest.either | u8::from(sign == Sign::Either) << i,
                };
                let choices = |rest: &PartialSum| -> SmallVec<[(usize, Sign); 2]> {
                    // The first term gives up exactly these factors.
                    if i == present[0] {
                        return SmallVec::from_elem((k, Sign::Same), 1);
                    }
                    let left = term_of(rest.terms, i).unwrap_or_default();
                    let own = own.iter().enumerate().filter(|(j, _)| left >> j & 1 == 1);
                    let mut found: SmallVec<[(usize, Sign); 2]> =
                        own.filter_map(|(j, factor)| Some((j, (self.common)(wanted[k], *factor)?))).collect();
                    // Equal nodes are the same choice.
                    found.dedup_by_key(|(j, _)| self.sum.terms[i].factors[*j]);
                    found
                };
                rests = rests
                    .into_iter()
                    .flat_map(|rest| choices(&rest).into_iter().map(move |one| without(rest, one)))
                    .collect();
            }
        }
        rests
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
