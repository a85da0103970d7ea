//! Error bounds that hold for every permitted rearrangement of a floating-point expression.
//!
//! The method is a forward error analysis in the manner of Higham, *Accuracy and Stability of
//! Numerical Algorithms* (2nd edition, sections 3.1 and 4.2), with the bound computed alongside the
//! result. It differs in that the bound depends on the multiplied-out expression only, not on the
//! order of its operations. [`ExprBound`] states and derives the bound.

use crate::monomial::{MonomialKey, SignedTerm};

/// Rounding-error bound of a chain of additions, multiplications and divisions.
///
/// Without `NoContraction` the operations of a chain may be fused, reordered, distributed and
/// factored. Let `x` be the value of the chain in real arithmetic. Every rearrangement gives a
/// result `r` with
///
/// ```text
/// |r - x| <= gamma(k) * S + k * eta * P        gamma(k) = k u / (1 - k u)
/// ```
///
/// * `S` ([`Self::magnitude_sum`]): sum of the magnitudes of the summands, multiplied out.
/// * `k`: largest number of roundings that one summand passes through, `(terms - 1) + (degree -
///   1)`. A divisor counts as many factors as a division has roundings, plus one. A divisor that is
///   a product may be divided by factor by factor, so each of its factors counts on its own.
/// * `u`: relative error of one operation; `eta`: absolute error of one operation by underflow or
///   by a flush. Both are arguments of [`Self::error`].
/// * `P` ([`Self::amplification`]): as `S`, with each factor of magnitude below 1 replaced by 1.
///
/// # Derivation
///
/// One operation gives `(a op b) (1 + d) + e` with `|d| <= c u`, `|e| <= eta` and `d e = 0`
/// (Higham, chapter 2, the model with underflow). `c` is 1, or for a division the number of
/// roundings that it counts as.
///
/// *First term.* Without underflow each summand reaches the result multiplied by factors `1 + d`
/// or, for errors of divisors, `1 / (1 + d)`. Let `c_i` be their constants, whose sum is at most
/// `k`. By the Weierstrass product inequality their product is at least the product of `1 - c_i u`,
/// hence at least `1 - k u`, and at most `1 / (1 - k u)`. It therefore differs from 1 by at most
/// `gamma(k)` (Higham, lemma 3.1, where all `c_i` are 1). Adding up the summands gives `gamma(k)
/// S`.
///
/// *The number `k`.* A summand is a product of at most `degree` factors, which takes `degree - 1`
/// multiplications, and it passes through at most `terms - 1` additions, in any order. Fusing omits
/// roundings. Factoring (`x a + x b` as `x (a + b)`) rounds the product once instead of twice.
///
/// *Second term.* An error `e` of a product is multiplied by the further factors of its summand,
/// and an error of a sum by the factors that the sum is multiplied by. `P` bounds both, since
/// factors below 1 count as 1 in it. The products contribute `(degree - 1) eta P` in total, each
/// summand with its own part of `P`, and the sums `(terms - 1) eta P`. Later roundings amplify an
/// error, but an operation that underflows does not round: of `k` operations, `j` underflow and at
/// most `k - j` round. `j (1 + u)^(k - j)` grows with `j` while `k u < 1/2`, and is `k` for `j =
/// k`. [`Self::error`] is infinite beyond that.
///
/// *Divisors* do not underflow, which is why no term has their square: the caller leaves quotients
/// undetermined if a product of divisors may leave the range in which division has a stated
/// precision ([`Self::divisor_products`]; `2^-126` to `2^126` for single precision). A divisor that
/// is a sum is one factor, and the enclosure of its inverse contains its computed values.
///
/// # Factorings
///
/// Factoring a sum into a product of sums changes nothing of the above if the product, multiplied
/// out, has the same summands again. It has more of them if they cancel: `x^2 - y^2` is `(x + y) (x
/// - y)`, in which `x y` cancels, and whose errors are of the size of `(|x| + |y|)^2`. This takes
/// powers among the summands. Call two summands partners if one is the other times a power of order
/// `n`, with the sign that makes their sum a product, and let `m` be the largest number of partners
/// of one summand ([`Self::partners`]).
///
/// * A product of two sums: a pair of squares `a`, `b` adds cancelling terms of the size `2 sqrt(a
///   b) <= a + b`. `S` grows to at most `(1 + m) S`.
/// * Two powers of order `n`: all their factors are products of linear ones with roots on one
///   circle. `S` grows to at most `(|x| + |y|)^n <= 2^(n - 1) (|x|^n + |y|^n)`.
///
/// A summand that is exactly zero, such as that with which a sum begins, has no partners: `b` is 0,
/// and nothing cancels.
///
/// `F = 2^(n - 2) (1 + m)` is no less than either factor. `k` grows as well: before like terms
/// cancel, a pair of powers has up to `2^n` summands, and a product of two sums `(1 + m)^2`. With
/// partners the bound is therefore, as the cancelling terms consist of the same factors,
///
/// ```text
/// |r - x| <= gamma(k') * F S + k' * eta * F P
/// k' = max(2^(n - 1) terms, (1 + m)^2) - 1 + (degree - 1)
/// ```
///
/// # Rounding of the bound
///
/// The fields and [`Self::error`] are computed in `f64`. After each inexact operation an upper
/// bound is replaced by the next larger number ([`up`]), and a lower bound by the next smaller one
/// ([`down`]), which is at least as far as the rounding error.
///
/// # Limits
///
/// The bound is wider than the text requires, which may hide an error but never reports one
/// falsely, where
///
/// * a divisor counts one rounding more than a division has, for the form `a * (1 / b)`;
/// * the summand with most partners stands for all, and the longest one for all degrees;
/// * two values are taken for one because the ends of their enclosures are equal, or for common
///   factors because more than four are in use ([`FactorSet`]);
/// * hashes of monomials collide ([`MonomialKey`]);
/// * one of several values is meant ([`Self::either`]): each field is the larger one.
///
/// It is narrower than the text permits where
///
/// * factorings are other than differences of squares, or sums and differences of cubes, among the
///   first 8 summands ([`SignedTerm::factors_with`]); of constants, only where
///   [`MonomialKey::of_constant`] sees them;
/// * the quotient of two summands is a sixth power, which is taken for like terms;
/// * powers factor several times in a row (`x^8 - y^8`), which are bounded as powers of order 3;
/// * a product exceeds [`ExpansionLimit`]: its operands are taken as they are computed, and
///   [`Self::truncated`] is set.
///
/// It gives up, so that the value is undetermined, where `k u >= 1/2`, where an arrangement may
/// overflow (the sum of the magnitudes and the error, or with three or more factors `P`, exceed the
/// largest value of the format), where products of divisors leave the range above, and with relaxed
/// precision where [`Self::stays_within`] does not hold. The caller decides all but the first of
/// these (`rearranged` in `run/float.rs`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ExprBound {
    /// Identity of the value: within one lane, equal non-zero ids denote equal values. Zero: no
    /// bound.
    pub(crate) id: u32,
    /// Number of summands after multiplying out.
    pub(crate) terms: u32,
    /// Largest number of factors in one summand. A divisor counts several times; see
    /// [`Self::over`].
    pub(crate) degree: u32,
    /// Ends of an enclosure of the exact value.
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    /// Upper bound on the sum of the summands' magnitudes.
    pub(crate) magnitude_sum: f64,
    /// Upper bound on that sum with each factor of magnitude below 1 replaced by 1.
    pub(crate) amplification: f64,
    /// Factors of a product. Of a leaf, the leaf itself; of a sum, empty.
    pub(crate) factors: FactorSet,
    /// Factors that occur in any of the summands.
    pub(crate) all_factors: FactorSet,
    /// Upper bound on the product of `1/|f|` over the factors `f` with `|f| < 1`. A sum counts as
    /// one factor, its exact value. Infinite if a factor may be zero.
    pub(crate) inverse_small_factors: f64,
    /// Lower bound on the magnitudes of the leaves, apart from leaves that are exactly zero.
    pub(crate) min_leaf: f64,
    /// Upper bounds on two products over the divisors: of those with magnitude above 1, and of the
    /// inverses of those with magnitude below 1.
    pub(crate) divisor_products: (f64, f64),
    /// The first summands; [`Self::known`] gives those in use.
    pub(crate) summands: [SignedTerm; TERMS],
    /// Upper bound on the number of further occurrences of a factor in one summand: its
    /// multiplicity less 1.
    pub(crate) repeats: u32,
    /// Upper bound on the number of other summands that one summand may form a product of sums
    /// with.
    pub(crate) partners: u32,
    /// Set if one of the operations has relaxed precision.
    pub(crate) relaxed: bool,
    /// Set if a part was bounded as it is computed because multiplying out would be too long.
    pub(crate) truncated: bool,
}

/// Hashes of the values that a product is made of, for finding factors that two products may have
/// in common: `x * a + x * b` may be computed as `x * (a + b)`.
///
/// A value is identified by the ends of its magnitude's enclosure, so a value is recognised after
/// another load or a negation. Two values with the same ends are taken for one, which only enlarges
/// the permitted set. A free entry is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FactorSet([u32; 4]);

impl FactorSet {
    const NONE: FactorSet = FactorSet([0; 4]);
    /// More values than the entries hold: any value may be among them.
    const ANY: FactorSet = FactorSet([u32::MAX; 4]);

    fn of(lo: f64, hi: f64) -> FactorSet {
        let (a, b) = (lo.abs().min(hi.abs()), lo.abs().max(hi.abs()));
        let mixed = (a.to_bits() ^ b.to_bits().rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Avoid the hashes that mean a free entry and `ANY`.
        FactorSet([((mixed >> 32) as u32).clamp(1, u32::MAX - 1), 0, 0, 0])
    }

    fn with(self, other: FactorSet) -> FactorSet {
        if self == FactorSet::ANY || other == FactorSet::ANY {
            return FactorSet::ANY;
        }
        let mut all = self.0;
        for factor in other.0.into_iter().filter(|factor| *factor != 0) {
            let Some(free) = all.iter_mut().find(|known| **known == 0 || **known == factor) else {
                return FactorSet::ANY;
            };
            *free = factor;
        }
        FactorSet(all)
    }

    fn count(self) -> u32 {
        self.0.iter().filter(|factor| **factor != 0).count() as u32
    }

    fn share(self, other: FactorSet) -> bool {
        let many = self == FactorSet::ANY || other == FactorSet::ANY;
        many || self.0.iter().any(|factor| *factor != 0 && other.0.contains(factor))
    }
}

/// Number of summands that a bound keeps.
const TERMS: usize = 8;

/// Largest number of summands and factors up to which a product is multiplied out. The factors of a
/// longer product are taken as they are computed.
///
/// The text sets no limit, but one is needed: an iteration such as `z * z + c` has a summand for
/// each of exponentially many paths, and no implementation multiplies it out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpansionLimit {
    terms: u32,
    degree: u32,
}

impl ExpansionLimit {
    /// The longest products that implementations are expected to multiply out.
    pub(crate) const USUAL: ExpansionLimit = ExpansionLimit { terms: TERMS as u32, degree: 64 };

    /// The limit of the lenient reading: `2^(fraction_bits - 4)` summands and factors, at most
    /// `2^12`, and at least those of [`Self::USUAL`]. Beyond that the error bound exceeds the value
    /// in a format with so few fraction bits.
    pub(crate) fn lenient(fraction_bits: u32) -> ExpansionLimit {
        let most = 1 << fraction_bits.saturating_sub(4).min(12);
        ExpansionLimit { terms: ExpansionLimit::USUAL.terms.max(most), degree: ExpansionLimit::USUAL.degree.max(most) }
    }
}

impl ExprBound {
    /// No bound: the bits of the register are an exact value that no operation computed.
    pub(crate) const NONE: ExprBound = ExprBound {
        id: 0,
        terms: 1,
        degree: 1,
        lo: 0.0,
        hi: 0.0,
        magnitude_sum: 0.0,
        amplification: 1.0,
        factors: FactorSet::NONE,
        all_factors: FactorSet::NONE,
        inverse_small_factors: 1.0,
        min_leaf: f64::INFINITY,
        divisor_products: (1.0, 1.0),
        summands: [SignedTerm::ONE; TERMS],
        repeats: 0,
        partners: 0,
        relaxed: false,
        truncated: false,
    };

    /// A value between `lo` and `hi` that is not taken apart.
    pub(crate) fn leaf(lo: f64, hi: f64) -> ExprBound {
        let magnitude_sum = lo.abs().max(hi.abs());
        let key = MonomialKey::of(lo.abs().to_bits() ^ hi.abs().to_bits().rotate_left(29) ^ hi.abs().to_bits());
        let own = SignedTerm { key, positive: hi > 0.0, negative: lo < 0.0, is_leaf: true };
        let mut summands = [SignedTerm::ONE; TERMS];
        summands[0] = own;
        let (amplification, inverse_small_factors) = (magnitude_sum.max(1.0), inverse_if_small(lo, hi));
        let factors = FactorSet::of(lo, hi);
        let min_leaf = if magnitude_sum == 0.0 { f64::INFINITY } else { least(lo, hi) };
        ExprBound {
            lo,
            hi,
            magnitude_sum,
            amplification,
            inverse_small_factors,
            min_leaf,
            factors,
            all_factors: factors,
            summands,
            ..ExprBound::NONE
        }
    }

    /// A constant of the program.
    pub(crate) fn constant(value: f64) -> ExprBound {
        let mut form = ExprBound::leaf(value, value);
        form.summands[0].key = MonomialKey::of_constant(value);
        form
    }

    /// The summands that are kept.
    fn known(&self) -> &[SignedTerm] {
        &self.summands[..(self.terms as usize).min(TERMS)]
    }

    /// Returns true unless it is the result of a sum, a product or a quotient.
    pub(crate) fn is_leaf(&self) -> bool {
        self.terms == 1 && self.degree == 1
    }

    /// Returns true for a leaf without truncation: its bound follows from its value.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_leaf() && !self.truncated
    }

    /// Returns true for a quotient, and for a product with a quotient among its factors.
    pub(crate) fn is_quotient(&self) -> bool {
        self.terms == 1 && self.divisor_products != ExprBound::NONE.divisor_products
    }

    /// Returns true if the sum of both may be computed other than by rounding both and then their
    /// sum, fusing aside.
    ///
    /// That is so if one of them is a sum, or if `distributes` is set and a product among them has
    /// a factor in common with the other, or forms a product of sums with it.
    pub(crate) fn is_rearranged_with(&self, other: &ExprBound, distributes: bool) -> bool {
        let computed = distributes && (!self.is_leaf() || !other.is_leaf());
        let product = || self.summands[0].factors_with(&other.summands[0]);
        self.terms > 1 || other.terms > 1 || (computed && (self.factors.share(other.factors) || product()))
    }

    /// Returns true if both may have a factor in common.
    pub(crate) fn shares_with(&self, other: &ExprBound) -> bool {
        self.all_factors.share(other.all_factors)
    }

    pub(crate) fn neg(self) -> ExprBound {
        ExprBound { id: 0, lo: -self.hi, hi: -self.lo, summands: self.summands.map(SignedTerm::neg), ..self }
    }

    /// The bound of the magnitude.
    pub(crate) fn abs(self) -> ExprBound {
        if self.lo >= 0.0 {
            return self;
        }
        if self.hi <= 0.0 {
            return self.neg();
        }
        let signed = |summand| SignedTerm { positive: true, negative: true, ..summand };
        ExprBound { id: 0, lo: 0.0, hi: self.hi.max(-self.lo), summands: self.summands.map(signed), ..self }
    }

    /// The bound of a value that is one of the two: each field holds for either. Only the summands
    /// of the longer one are kept.
    pub(crate) fn either(self, other: ExprBound) -> ExprBound {
        if self.id != 0 && self.id == other.id {
            return self;
        }
        let longer = if self.terms < other.terms { other } else { self };
        ExprBound {
            id: 0,
            terms: longer.terms,
            degree: self.degree.max(other.degree),
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            magnitude_sum: self.magnitude_sum.max(other.magnitude_sum),
            amplification: self.amplification.max(other.amplification),
            factors: self.factors.with(other.factors),
            all_factors: self.all_factors.with(other.all_factors),
            inverse_small_factors: self.inverse_small_factors.max(other.inverse_small_factors),
            min_leaf: self.min_leaf.min(other.min_leaf),
            divisor_products: (
                self.divisor_products.0.max(other.divisor_products.0),
                self.divisor_products.1.max(other.divisor_products.1),
            ),
            summands: longer.summands,
            repeats: self.repeats.max(other.repeats),
            partners: self.partners.max(other.partners),
            relaxed: self.relaxed || other.relaxed,
            truncated: self.truncated || other.truncated,
        }
    }

    /// The bound of `self`, which a minimum or maximum selects from itself and `other`. The
    /// selection may be moved past a later operation: `max(x, y) + z` may be computed as `max(x +
    /// z, y + z)`, whose error is at most the larger one of both.
    pub(crate) fn selected_over(self, other: ExprBound) -> ExprBound {
        if other.is_leaf() { self } else { ExprBound { lo: self.lo, hi: self.hi, ..self.either(other) } }
    }

    /// The product, or `None` if it is too long to be multiplied out.
    pub(crate) fn checked_mul(self, other: ExprBound, limit: ExpansionLimit) -> Option<ExprBound> {
        (!self.product_is_too_long(&other, limit)).then(|| self.mul(other))
    }

    /// The bound with these summands, the first [`TERMS`] of them, and their largest number of
    /// partners.
    fn of_summands(self, all: impl Iterator<Item = SignedTerm>) -> ExprBound {
        let mut summands = [SignedTerm::ONE; TERMS];
        let mut n = 0;
        for summand in all.take(summands.len()) {
            summands[n] = summand;
            n += 1;
        }
        let together = |one: &SignedTerm| summands[..n].iter().filter(|other| one.factors_with(other)).count() as u32;
        let partners = summands[..n].iter().map(together).max().unwrap_or(0);
        ExprBound { summands, partners: self.partners.max(partners), ..self }
    }

    /// The sum, or the difference if `negative` is set. The difference of one value and itself is
    /// zero.
    pub(crate) fn add(self, other: ExprBound, negative: bool) -> ExprBound {
        let same = self.id != 0 && self.id == other.id;
        let other = if negative { other.neg() } else { other };
        let (mut lo, mut hi) = (down(self.lo + other.lo), up(self.hi + other.hi));
        if same && negative {
            (lo, hi) = (0.0, 0.0);
        }
        ExprBound {
            id: 0,
            terms: self.terms.saturating_add(other.terms),
            degree: self.degree.max(other.degree),
            lo,
            hi,
            magnitude_sum: up(self.magnitude_sum + other.magnitude_sum),
            amplification: up(self.amplification + other.amplification),
            factors: FactorSet::NONE,
            all_factors: self.all_factors.with(other.all_factors),
            inverse_small_factors: inverse_if_small(lo, hi),
            min_leaf: self.min_leaf.min(other.min_leaf),
            divisor_products: (
                self.divisor_products.0.max(other.divisor_products.0),
                self.divisor_products.1.max(other.divisor_products.1),
            ),
            repeats: self.repeats.max(other.repeats),
            partners: self.partners.max(other.partners),
            relaxed: self.relaxed || other.relaxed,
            truncated: self.truncated || other.truncated,
            ..ExprBound::NONE
        }
        .of_summands(self.known().iter().chain(other.known()).copied())
    }

    /// The product. The square of one value is not negative.
    pub(crate) fn mul(self, other: ExprBound) -> ExprBound {
        let corners = [self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi];
        let (mut lo, hi) = corners.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), c| {
            // Zero times infinity is zero: the ends bound finite numbers.
            let c = if c.is_nan() { 0.0 } else { *c };
            (lo.min(c), hi.max(c))
        });
        if self.id != 0 && self.id == other.id {
            lo = lo.max(0.0);
        }
        let all_factors = self.all_factors.with(other.all_factors);
        // If the factors are not all known, any of them may occur again.
        let common = if all_factors == FactorSet::ANY {
            u32::MAX
        } else {
            self.all_factors.count() + other.all_factors.count() - all_factors.count()
        };
        let repeats = common.min(self.degree).min(other.degree);
        let product = ExprBound {
            id: 0,
            terms: self.terms.saturating_mul(other.terms),
            degree: self.degree.saturating_add(other.degree),
            lo: down(lo),
            hi: up(hi),
            magnitude_sum: up(self.magnitude_sum * other.magnitude_sum),
            amplification: up(self.amplification * other.amplification),
            factors: self.factors.with(other.factors),
            all_factors,
            inverse_small_factors: up(self.inverse_small_factors * other.inverse_small_factors),
            min_leaf: self.min_leaf.min(other.min_leaf),
            divisor_products: (
                scaled(self.divisor_products.0, other.divisor_products.0),
                scaled(self.divisor_products.1, other.divisor_products.1),
            ),
            repeats: self.repeats.saturating_add(other.repeats).saturating_add(repeats),
            partners: self.partners.max(other.partners),
            relaxed: self.relaxed || other.relaxed,
            truncated: self.truncated || other.truncated,
            ..ExprBound::NONE
        };
        let mine = self.known().iter();
        product.of_summands(mine.flat_map(|one| other.known().iter().map(|two| one.times(*two))))
    }

    /// The quotient: the product with the inverse of the divisor. `None` if the divisor may be
    /// zero.
    ///
    /// `whole` encloses the divisor as it is computed. The inverse costs as many roundings as a
    /// division (`roundings`), once for each factor of the divisor, because these may be divided by
    /// one after another. A sum that is divided by counts as one factor.
    pub(crate) fn over(self, divisor: &ExprBound, whole: &ExprBound, roundings: u32) -> Option<ExprBound> {
        let (mut lo, mut hi) = (divisor.lo.min(whole.lo), divisor.hi.max(whole.hi));
        if lo <= 0.0 && hi >= 0.0 {
            return None;
        }
        if divisor.terms == 1 {
            // The roundings of the factors are counted in `degree`.
            (lo, hi) = (divisor.lo, divisor.hi);
        }
        let mut inverse = ExprBound::leaf(down(1.0 / hi), up(1.0 / lo));
        if divisor.terms == 1 {
            // The inverse is multiplied by factor by factor: factors above 1 become factors below
            // 1.
            (inverse.amplification, inverse.inverse_small_factors) = (
                divisor.inverse_small_factors.max(inverse.amplification),
                divisor.amplification.max(inverse.inverse_small_factors),
            );
            inverse.summands[0].key = divisor.summands[0].key.inverse();
        }
        inverse.divisor_products = (inverse.inverse_small_factors, inverse.amplification);
        // The factors of a computed divisor are not tracked, so any value may be among them.
        let factors = if divisor.is_leaf() { inverse.factors } else { FactorSet::ANY };
        let degree = (roundings + 1).saturating_mul(if divisor.terms == 1 { divisor.degree } else { 1 });
        Some(self.mul(ExprBound {
            degree,
            factors,
            all_factors: factors,
            min_leaf: divisor.min_leaf,
            relaxed: divisor.relaxed,
            truncated: divisor.truncated,
            ..inverse
        }))
    }

    /// Returns true if the product would be too long to be multiplied out.
    fn product_is_too_long(&self, other: &ExprBound, limit: ExpansionLimit) -> bool {
        let terms = u64::from(self.terms) * u64::from(other.terms);
        let distributes = self.terms > 1 || other.terms > 1;
        (distributes && terms > u64::from(limit.terms)) || self.degree + other.degree > limit.degree
    }

    /// Returns true if the quotient would have too many factors. A sum that is divided by counts as
    /// one factor.
    pub(crate) fn quotient_is_too_long(&self, divisor: &ExprBound, limit: ExpansionLimit) -> bool {
        self.degree + if divisor.terms == 1 { divisor.degree } else { 1 } > limit.degree
    }

    /// Returns true for a product if a partial product may have a magnitude less than this.
    pub(crate) fn may_be_below(&self, magnitude: f64) -> bool {
        self.terms == 1 && self.inverse_small_factors.recip() < magnitude
    }

    /// Returns true if all intermediate results of all arrangements certainly have magnitudes
    /// between `least` and `greatest`. Only products, and sums of leaves of one sign, are decided;
    /// otherwise returns false.
    pub(crate) fn stays_within(&self, least: f64, greatest: f64) -> bool {
        match (self.terms, self.degree) {
            (1, _) => self.inverse_small_factors.recip() >= least && self.amplification <= greatest,
            (_, 1) => {
                // All summands have the sign of the sum: their magnitudes add up to its magnitude.
                let farthest = self.hi.max(-self.lo);
                let one_sign = self.lo > 0.0 || self.hi < 0.0;
                one_sign
                    && self.min_leaf >= least
                    && self.magnitude_sum <= greatest
                    && self.magnitude_sum <= farthest * (1.0 + 1e-12)
            }
            _ => false,
        }
    }

    /// Bound on the error of every arrangement; infinite if `k u >= 1/2`. `unit` is the relative
    /// error of one operation (`u`), and `lost` the amount that one operation may lose to underflow
    /// (`eta`), a power of two. See [`ExprBound`] for the derivation.
    pub(crate) fn error(&self, unit: f64, lost: f64) -> f64 {
        let (sums, products) = (f64::from(self.terms - 1), f64::from(self.degree - 1));
        let (k, more) = if self.partners == 0 {
            (sums + products, 1.0)
        } else {
            // The order of the powers (`n`), 2 or 3, and `1 + m`.
            let order = self.repeats.clamp(1, 2) + 1;
            let group = f64::from(self.partners) + 1.0;
            let summands = (f64::from(self.terms) * f64::from(1 << (order - 1))).max(group * group);
            (summands - 1.0 + products, group * f64::from(1 << (order - 2)))
        };
        let ku = up(k * unit);
        if ku >= 0.5 {
            return f64::INFINITY;
        }
        let gamma = up(ku / down(1.0 - ku));
        // `k` is an integer and `lost` a power of two, so that their product is exact.
        let (rounded, lost) = (scaled(more, self.magnitude_sum), scaled(more, self.amplification) * (k * lost));
        up(up(gamma * rounded) + up(lost))
    }
}

/// The least magnitude between `lo` and `hi`.
fn least(lo: f64, hi: f64) -> f64 {
    if lo <= 0.0 && hi >= 0.0 { 0.0 } else { lo.abs().min(hi.abs()) }
}

/// Upper bound on the inverse of a magnitude between `lo` and `hi`, or 1 if that is more.
fn inverse_if_small(lo: f64, hi: f64) -> f64 {
    let least = least(lo, hi);
    let inverse = least.recip();
    // The inverse of zero, and of a power of two, whose fraction bits are zero, is exact.
    let is_exact = least.to_bits() << 12 == 0;
    if is_exact { inverse.max(1.0) } else { up(inverse).max(1.0) }
}

/// Rounds a result of `f64` arithmetic up.
fn up(x: f64) -> f64 {
    x.next_up()
}

/// Upper bound on the product of two numbers that are not negative; exact if one of them is 1.
fn scaled(x: f64, y: f64) -> f64 {
    if x == 1.0 || y == 1.0 { x * y } else { up(x * y) }
}

/// Rounds a result of `f64` arithmetic down.
fn down(x: f64) -> f64 {
    x.next_down()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_less_itself_is_zero() {
        let x = ExprBound { id: 7, ..ExprBound::leaf(1.0, 2.0) };
        let difference = x.add(x, true);
        assert_eq!((difference.lo, difference.hi), (0.0, 0.0));
        // A later operation may still take the difference apart.
        assert!(difference.magnitude_sum >= 4.0);
        let square = ExprBound { id: 7, ..ExprBound::leaf(-1.0, 2.0) };
        assert!(square.mul(square).lo >= -f64::MIN_POSITIVE);
    }

    #[test]
    fn a_sum_of_squares_that_begins_with_zero_has_no_partners() {
        let squares = |first: f64| {
            let leaves = [1.25, 1.5, 1.75].map(|value| ExprBound::leaf(value, value));
            leaves.into_iter().fold(ExprBound::constant(first), |sum, x| sum.add(x.mul(x), false))
        };
        assert_eq!((squares(0.0).partners, squares(-0.0).partners), (0, 0));
        assert_eq!(squares(-4.0).partners, 3, "each may be x^2 - 2^2");
    }

    #[test]
    fn a_factor_in_common_is_found_however_it_was_loaded() {
        let (x, y) = (ExprBound { id: 1, ..ExprBound::leaf(-3.0, -3.0) }, ExprBound::leaf(0.5, 0.75));
        let a = ExprBound::leaf(0.1, 0.1);
        let product = x.mul(a);
        // The same value from another load, and negated.
        let reloaded = ExprBound::leaf(-3.0, -3.0);
        assert!(
            product.is_rearranged_with(&reloaded.mul(y), true)
                && product.is_rearranged_with(&reloaded.neg().mul(y), true)
        );
        assert!(
            product.is_rearranged_with(&reloaded, true) && a.is_rearranged_with(&product, true),
            "x * a + x is x * (a + 1)"
        );
        assert!(!product.is_rearranged_with(&y.mul(y), true) && !product.is_rearranged_with(&y, true));
        assert!(!x.is_rearranged_with(&reloaded, true), "one operation has nothing to be rearranged with");
        assert!(x.add(y, false).is_rearranged_with(&a, true));
        // Too many factors: not all are kept.
        let long = (4..9).map(|i| ExprBound::leaf(f64::from(i), f64::from(i))).fold(product, ExprBound::mul);
        assert!(long.is_rearranged_with(&y, true));
    }

    #[test]
    fn errors_grow_with_the_chain() {
        let x = ExprBound::leaf(1.0, 1.0);
        let two = x.add(x, false);
        let three = two.add(x, false);
        let unit = f64::from(f32::EPSILON);
        assert!(two.error(unit, 0.0) >= 2.0 * unit && two.error(unit, 0.0) < 2.001 * unit);
        assert!(three.error(unit, 0.0) >= 6.0 * unit && three.error(unit, 0.0) < 6.001 * unit);
        let long = ExprBound { terms: 3, ..x };
        assert_eq!(two.mul(two).checked_mul(long, ExpansionLimit::USUAL), None);
        assert_eq!(two.mul(two).checked_mul(long, ExpansionLimit::lenient(23)).map(|form| form.terms), Some(12));
    }

    /// `error` is not less than the formula in exact arithmetic: `e (1 - k u) >= k u F S + (1 - k
    /// u) k eta F P`, multiplied by `2^114` and computed in integers.
    #[test]
    fn errors_are_not_less_than_the_formula_in_exact_arithmetic() {
        let integer = |x: f64| (x * 2f64.powi(90)) as i128;
        // Without rounding the sum and the products up, the error is too small for each of these.
        let cases = [
            (4, 0, 22, 1.105_599_922_353_953_7, 1.285_820_682_614_184_7),
            (6, 0, 22, 1.142_514_449_722_6, 1.467_932_018_135_249_5),
            (2, 2, 22, 1.049_400_414_645_954_1, 1.261_707_872_603_438_5),
        ];
        for (terms, partners, eta, magnitude_sum, amplification) in cases {
            let form = ExprBound { terms, partners, magnitude_sum, amplification, ..ExprBound::NONE };
            let e = form.error(2f64.powi(-24), 2f64.powi(-eta));
            // With partners: powers of order 2, of which `(1 + m)^2` exceeds `2 terms`.
            let f = i128::from(partners) + 1;
            let k = if partners == 0 { i128::from(terms) } else { f * f } - 1;
            let rest = (1 << 24) - k;
            let least = f * k * (integer(magnitude_sum) + rest * (integer(amplification) >> eta));
            assert!(integer(e) * rest >= least, "{form:?}: {e:e}");
            assert!(integer(e) * rest < least + (least >> 45), "{form:?}: {e:e}");
        }
    }
}
