//! How a float came about, as far as its operations may be rearranged.

use crate::symbol::{Key, Summand};

/// The exact value that a chain of sums, products and quotients has in real arithmetic, and how large its parts are.
///
/// Without `NoContraction` the operations of a chain may be fused, reordered, distributed and factored. A result of any such
/// arrangement differs from the exact value `x` by at most `E = gamma(k) * s + k * e * p`: every summand is multiplied by at
/// most `k` rounding errors on its way (`k` = summands - 1 + factors of a summand - 1, a divisor counting as many factors as a
/// division has roundings, and one), `gamma(k) = k u / (1 - k u)`, `s` is
/// the sum of the summands' magnitudes, and each of the operations may lose `e` to underflow or a flush, multiplied at most
/// by the product `p` of the other factors' magnitudes (those above 1). A divisor that is a product may be divided by factor by factor,
/// so its factors count one by one.
///
/// *Products of sums.* A sum whose summands have no power of a value among them is a product of sums only if those,
/// multiplied out, are its summands again, which changes nothing of the above. A difference of two squares (times
/// something in common) is one that has more of them: `x^2 - y^2` is `(x + y) * (x - y)`, in which `x * y` cancels, and
/// whose errors are of the size of `(|x| + |y|)^2`. For a product of two sums, `s` becomes at most `(1 + m) * s`, with
/// `m` the squares of the other sign that a square is together with: what cancels is `2 * sqrt(a * b)` for a pair of
/// squares `a` and `b`, which is at most `a + b`. For two powers of order `n`, all their factors are products of linear
/// ones with roots on one circle, and `(|x| + |y|)^n` is at most `2^(n - 1) * (|x|^n + |y|^n)`. `2^(n - 2) * (1 + m)`
/// is no less than either. Multiplied out again before like terms cancel, each pair of powers has up to `2^n` summands, and a
/// product of two sums `(1 + m)^2`, which is how many sums there may be. Noticed are differences of squares, and sums and
/// differences of cubes, among the first 8 summands; of a constant only where it is easily seen that it is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Form {
    /// Which value it is: values of one lane with the same number are one value. 0: no form.
    pub(crate) id: u32,
    /// Summands of the chain when it is multiplied out.
    pub(crate) terms: u32,
    /// Factors of a summand, at most.
    pub(crate) degree: u32,
    /// The exact value lies between these.
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    /// At least the sum of the summands' magnitudes.
    pub(crate) sum: f64,
    /// At least the same with factors below 1 counted as 1.
    pub(crate) peak: f64,
    /// What a product is made of; of a value that is not rearranged, itself.
    pub(crate) factors: Factors,
    /// What any of the summands is made of.
    pub(crate) among: Factors,
    /// At least what one over the factors below 1 is, multiplied; of a sum, of itself.
    pub(crate) pit: f64,
    /// What it is made of is no less in magnitude than this, but for zeros.
    pub(crate) least: f64,
    /// The same, above 1 and below, of what is divided by.
    pub(crate) divided: (f64, f64),
    /// The summands, the first of them.
    pub(crate) summands: [Summand; TERMS],
    /// How often a factor stands in a summand again, at most.
    pub(crate) again: u32,
    /// With how many others a summand may be a product of sums, at most.
    pub(crate) partners: u32,
    /// Whether any of its operations is one of relaxed precision.
    pub(crate) relaxed: bool,
    /// Whether a part of it was taken as it is computed for being too long.
    pub(crate) cut: bool,
}

/// The values that a product is made of, as far as is needed to tell whether two products may have one in common: `x * a + x * b` may
/// be computed as `x * (a + b)`. A value is known by the magnitudes that it lies between, so that it is found again however it was
/// loaded or negated; two values that lie between the same are taken for one, which only makes more of what is permitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Factors([u32; 4]);

impl Factors {
    const NONE: Factors = Factors([0; 4]);
    /// More than are kept: any value may be among them.
    const MANY: Factors = Factors([u32::MAX; 4]);

    fn of(lo: f64, hi: f64) -> Factors {
        let (a, b) = (lo.abs().min(hi.abs()), lo.abs().max(hi.abs()));
        let mixed = (a.to_bits() ^ b.to_bits().rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Neither "none" nor "many".
        Factors([((mixed >> 32) as u32).clamp(1, u32::MAX - 1), 0, 0, 0])
    }

    fn with(self, other: Factors) -> Factors {
        if self == Factors::MANY || other == Factors::MANY {
            return Factors::MANY;
        }
        let mut all = self.0;
        for factor in other.0.into_iter().filter(|factor| *factor != 0) {
            let Some(free) = all.iter_mut().find(|known| **known == 0 || **known == factor) else {
                return Factors::MANY;
            };
            *free = factor;
        }
        Factors(all)
    }

    fn count(self) -> u32 {
        self.0.iter().filter(|factor| **factor != 0).count() as u32
    }

    fn share(self, other: Factors) -> bool {
        let many = self == Factors::MANY || other == Factors::MANY;
        many || self.0.iter().any(|factor| *factor != 0 && other.0.contains(factor))
    }
}

/// So many summands of a chain are known.
const TERMS: usize = 8;

/// How long a product may become that is multiplied out; of a longer one the factors are taken as they are computed. A limit there
/// must be: an iteration like `z * z + c` has a summand for each of exponentially many paths, and no implementation multiplies it
/// out, though the text would let it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    terms: u32,
    degree: u32,
}

impl Reach {
    /// What implementations may be expected to do at most.
    pub(crate) const USUAL: Reach = Reach { terms: TERMS as u32, degree: 64 };

    /// As far as the errors of so many operations in a format leave something to be said.
    pub(crate) fn lenient(fraction_bits: u32) -> Reach {
        let most = 1 << fraction_bits.saturating_sub(4).min(12);
        Reach { terms: Reach::USUAL.terms.max(most), degree: Reach::USUAL.degree.max(most) }
    }
}

impl Form {
    /// No form: the register's bits are an exact value that no operation made.
    pub(crate) const NONE: Form = Form {
        id: 0,
        terms: 1,
        degree: 1,
        lo: 0.0,
        hi: 0.0,
        sum: 0.0,
        peak: 1.0,
        factors: Factors::NONE,
        among: Factors::NONE,
        pit: 1.0,
        least: f64::INFINITY,
        divided: (1.0, 1.0),
        summands: [Summand::ONE; TERMS],
        again: 0,
        partners: 0,
        relaxed: false,
        cut: false,
    };

    /// A value that is not rearranged, between these.
    pub(crate) fn leaf(lo: f64, hi: f64) -> Form {
        let sum = lo.abs().max(hi.abs());
        let key = Key::of(lo.abs().to_bits() ^ hi.abs().to_bits().rotate_left(29) ^ hi.abs().to_bits());
        let own = Summand { key, positive: hi >= 0.0, negative: lo <= 0.0, plain: true };
        let mut summands = [Summand::ONE; TERMS];
        summands[0] = own;
        let (peak, pit) = (sum.max(1.0), least(lo, hi).recip().max(1.0));
        let factors = Factors::of(lo, hi);
        let least = if sum == 0.0 { f64::INFINITY } else { least(lo, hi) };
        Form { lo, hi, sum, peak, pit, least, factors, among: factors, summands, ..Form::NONE }
    }

    /// A value that the program has as a constant.
    pub(crate) fn constant(value: f64) -> Form {
        let mut form = Form::leaf(value, value);
        form.summands[0].key = Key::of_constant(value);
        form
    }

    /// The summands that are known.
    fn known(&self) -> &[Summand] {
        &self.summands[..(self.terms as usize).min(TERMS)]
    }

    /// Whether it is the result of no sum or product.
    pub(crate) fn is_leaf(&self) -> bool {
        self.terms == 1 && self.degree == 1
    }

    /// Whether it says nothing of how it came about.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_leaf() && !self.cut
    }

    /// Whether it is a quotient, or a product with one.
    pub(crate) fn is_quotient(&self) -> bool {
        self.terms == 1 && self.divided != Form::NONE.divided
    }

    /// Whether a sum with another one may be computed otherwise than by rounding both and then their sum, fusing aside: one of them is a
    /// sum, or (what `distributes`) a product that has a factor in common with the other.
    pub(crate) fn is_rearranged_with(&self, other: &Form, distributes: bool) -> bool {
        let computed = distributes && (!self.is_leaf() || !other.is_leaf());
        let product = || self.summands[0].factors_with(&other.summands[0]);
        self.terms > 1 || other.terms > 1 || (computed && (self.factors.share(other.factors) || product()))
    }

    /// Whether both may have a factor in common.
    pub(crate) fn shares_with(&self, other: &Form) -> bool {
        self.among.share(other.among)
    }

    pub(crate) fn neg(self) -> Form {
        Form { id: 0, lo: -self.hi, hi: -self.lo, summands: self.summands.map(Summand::neg), ..self }
    }

    /// The magnitude.
    pub(crate) fn abs(self) -> Form {
        if self.lo >= 0.0 {
            return self;
        }
        if self.hi <= 0.0 {
            return self.neg();
        }
        let signed = |summand| Summand { positive: true, negative: true, ..summand };
        Form { id: 0, lo: 0.0, hi: self.hi.max(-self.lo), summands: self.summands.map(signed), ..self }
    }

    /// One of the two: what holds for either. Of the summands only those of the longer one are kept.
    pub(crate) fn either(self, other: Form) -> Form {
        if self.id != 0 && self.id == other.id {
            return self;
        }
        let longer = if self.terms < other.terms { other } else { self };
        Form {
            id: 0,
            terms: longer.terms,
            degree: self.degree.max(other.degree),
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            sum: self.sum.max(other.sum),
            peak: self.peak.max(other.peak),
            factors: self.factors.with(other.factors),
            among: self.among.with(other.among),
            pit: self.pit.max(other.pit),
            least: self.least.min(other.least),
            divided: (self.divided.0.max(other.divided.0), self.divided.1.max(other.divided.1)),
            summands: longer.summands,
            again: self.again.max(other.again),
            partners: self.partners.max(other.partners),
            relaxed: self.relaxed || other.relaxed,
            cut: self.cut || other.cut,
        }
    }

    /// This one of two, the other of which is computed as far as the choice: `max(x, y) + z` may be `max(x + z, y + z)`, which is off by
    /// no more than either of these is.
    pub(crate) fn rather_than(self, other: Form) -> Form {
        if other.is_leaf() { self } else { Form { lo: self.lo, hi: self.hi, ..self.either(other) } }
    }

    /// The product, if it is not too long to be multiplied out.
    pub(crate) fn times(self, other: Form, reach: Reach) -> Option<Form> {
        (!self.too_long_with(&other, reach)).then(|| self.mul(other))
    }

    /// The form with the summands, as many of them as are kept, and how many of them go together.
    fn of_summands(self, all: impl Iterator<Item = Summand>) -> Form {
        let mut summands = [Summand::ONE; TERMS];
        let mut n = 0;
        for summand in all.take(summands.len()) {
            summands[n] = summand;
            n += 1;
        }
        let together = |one: &Summand| summands[..n].iter().filter(|other| one.factors_with(other)).count() as u32;
        let partners = summands[..n].iter().map(together).max().unwrap_or(0);
        Form { summands, partners: self.partners.max(partners), ..self }
    }

    /// The sum; `same`: both are one value.
    pub(crate) fn add(self, other: Form, negative: bool) -> Form {
        let same = self.id != 0 && self.id == other.id;
        let other = if negative { other.neg() } else { other };
        let (mut lo, mut hi) = (down(self.lo + other.lo), up(self.hi + other.hi));
        if same && negative {
            (lo, hi) = (0.0, 0.0);
        }
        Form {
            id: 0,
            terms: self.terms.saturating_add(other.terms),
            degree: self.degree.max(other.degree),
            lo,
            hi,
            sum: up(self.sum + other.sum),
            peak: up(self.peak + other.peak),
            factors: Factors::NONE,
            among: self.among.with(other.among),
            pit: least(lo, hi).recip().max(1.0),
            least: self.least.min(other.least),
            divided: (self.divided.0.max(other.divided.0), self.divided.1.max(other.divided.1)),
            again: self.again.max(other.again),
            partners: self.partners.max(other.partners),
            relaxed: self.relaxed || other.relaxed,
            cut: self.cut || other.cut,
            ..Form::NONE
        }
        .of_summands(self.known().iter().chain(other.known()).copied())
    }

    /// The product.
    pub(crate) fn mul(self, other: Form) -> Form {
        let corners = [self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi];
        let (mut lo, hi) = corners.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), c| {
            // Zero times infinity is zero: the bound is that of numbers.
            let c = if c.is_nan() { 0.0 } else { *c };
            (lo.min(c), hi.max(c))
        });
        if self.id != 0 && self.id == other.id {
            lo = lo.max(0.0);
        }
        let among = self.among.with(other.among);
        // Where not all are known, any may stand there again.
        let common =
            if among == Factors::MANY { u32::MAX } else { self.among.count() + other.among.count() - among.count() };
        let again = common.min(self.degree).min(other.degree);
        let product = Form {
            id: 0,
            terms: self.terms.saturating_mul(other.terms),
            degree: self.degree.saturating_add(other.degree),
            lo: down(lo),
            hi: up(hi),
            sum: up(self.sum * other.sum),
            peak: up(self.peak * other.peak),
            factors: self.factors.with(other.factors),
            among,
            pit: up(self.pit * other.pit),
            least: self.least.min(other.least),
            divided: (scaled(self.divided.0, other.divided.0), scaled(self.divided.1, other.divided.1)),
            again: self.again.saturating_add(other.again).saturating_add(again),
            partners: self.partners.max(other.partners),
            relaxed: self.relaxed || other.relaxed,
            cut: self.cut || other.cut,
            ..Form::NONE
        };
        let mine = self.known().iter();
        product.of_summands(mine.flat_map(|one| other.known().iter().map(|two| one.times(*two))))
    }

    /// The quotient: a product with what is one over the divisor, which `whole` says the range of as it is computed. Finding that takes
    /// as many roundings as a division has (`roundings`), for each factor of the divisor if these are divided by one after another.
    /// `None` where the divisor may be zero.
    pub(crate) fn over(self, divisor: &Form, whole: &Form, roundings: u32) -> Option<Form> {
        let (mut lo, mut hi) = (divisor.lo.min(whole.lo), divisor.hi.max(whole.hi));
        if lo <= 0.0 && hi >= 0.0 {
            return None;
        }
        if divisor.terms == 1 {
            // The roundings of its factors are counted.
            (lo, hi) = (divisor.lo, divisor.hi);
        }
        let mut inverse = Form::leaf(down(1.0 / hi), up(1.0 / lo));
        if divisor.terms == 1 {
            // Factor by factor.
            (inverse.peak, inverse.pit) = (divisor.pit.max(inverse.peak), divisor.peak.max(inverse.pit));
            inverse.summands[0].key = divisor.summands[0].key.inverse();
        }
        inverse.divided = (inverse.pit, inverse.peak);
        // What a divisor that is computed has in common with others is not followed.
        let factors = if divisor.is_leaf() { inverse.factors } else { Factors::MANY };
        let degree = (roundings + 1).saturating_mul(if divisor.terms == 1 { divisor.degree } else { 1 });
        Some(self.mul(Form {
            degree,
            factors,
            among: factors,
            least: divisor.least,
            relaxed: divisor.relaxed,
            cut: divisor.cut,
            ..inverse
        }))
    }

    /// Whether a product with another one would be too long to be multiplied out.
    fn too_long_with(&self, other: &Form, reach: Reach) -> bool {
        let terms = u64::from(self.terms) * u64::from(other.terms);
        let distributes = self.terms > 1 || other.terms > 1;
        (distributes && terms > u64::from(reach.terms)) || self.degree + other.degree > reach.degree
    }

    /// Whether a quotient by another one would have too many factors. A sum that is divided by is taken as it is computed.
    pub(crate) fn too_long_over(&self, divisor: &Form, reach: Reach) -> bool {
        self.degree + if divisor.terms == 1 { divisor.degree } else { 1 } > reach.degree
    }

    /// Whether a part of it may be less than this in magnitude, if it is a product.
    pub(crate) fn may_be_below(&self, magnitude: f64) -> bool {
        self.terms == 1 && self.pit.recip() < magnitude
    }

    /// Whether all that any arrangement computes on its way lies between these magnitudes, as far as is easily seen: of products, and of
    /// sums of one sign.
    pub(crate) fn stays_within(&self, least: f64, greatest: f64) -> bool {
        match (self.terms, self.degree) {
            (1, _) => self.pit.recip() >= least && self.peak <= greatest,
            (_, 1) => {
                // Their magnitudes add up to the sum's.
                let farthest = self.hi.max(-self.lo);
                let one_sign = self.lo > 0.0 || self.hi < 0.0;
                one_sign && self.least >= least && self.sum <= greatest && self.sum <= farthest * (1.0 + 1e-12)
            }
            _ => false,
        }
    }

    /// The error of any arrangement: `unit` is the relative error of one operation, `lost` what an operation may lose to
    /// underflow.
    pub(crate) fn error(&self, unit: f64, lost: f64) -> f64 {
        let (sums, products) = (f64::from(self.terms - 1), f64::from(self.degree - 1));
        let (k, more) = if self.partners == 0 {
            (sums + products, 1.0)
        } else {
            // Powers of order 2 and 3 are noticed.
            let order = self.again.clamp(1, 2) + 1;
            let m = f64::from(self.partners) + 1.0;
            let summands = (f64::from(self.terms) * f64::from(1 << (order - 1))).max(m * m);
            (summands - 1.0 + products, m * f64::from(1 << (order - 2)))
        };
        let ku = k * unit;
        if ku >= 0.5 {
            return f64::INFINITY;
        }
        up(up(ku / (1.0 - ku)) * (more * self.sum)) + up(k * lost * (more * self.peak))
    }
}

/// The least magnitude between these.
fn least(lo: f64, hi: f64) -> f64 {
    if lo <= 0.0 && hi >= 0.0 { 0.0 } else { lo.abs().min(hi.abs()) }
}

/// A little more than a result of `f64` arithmetic.
fn up(x: f64) -> f64 {
    x.next_up()
}

/// A product of what is at least 1, or a little more; of 1 the other one.
fn scaled(x: f64, y: f64) -> f64 {
    if x == 1.0 || y == 1.0 { x * y } else { up(x * y) }
}

/// A little less.
fn down(x: f64) -> f64 {
    x.next_down()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_less_itself_is_zero() {
        let x = Form { id: 7, ..Form::leaf(1.0, 2.0) };
        let difference = x.add(x, true);
        assert_eq!((difference.lo, difference.hi), (0.0, 0.0));
        // What comes after may still take it apart.
        assert!(difference.sum >= 4.0);
        let square = Form { id: 7, ..Form::leaf(-1.0, 2.0) };
        assert!(square.mul(square).lo >= -f64::MIN_POSITIVE);
    }

    #[test]
    fn a_factor_in_common_is_found_however_it_was_loaded() {
        let (x, y) = (Form { id: 1, ..Form::leaf(-3.0, -3.0) }, Form::leaf(0.5, 0.75));
        let a = Form::leaf(0.1, 0.1);
        let product = x.mul(a);
        // Loaded once more, and negated.
        let again = Form::leaf(-3.0, -3.0);
        assert!(
            product.is_rearranged_with(&again.mul(y), true) && product.is_rearranged_with(&again.neg().mul(y), true)
        );
        assert!(
            product.is_rearranged_with(&again, true) && a.is_rearranged_with(&product, true),
            "x * a + x is x * (a + 1)"
        );
        assert!(!product.is_rearranged_with(&y.mul(y), true) && !product.is_rearranged_with(&y, true));
        assert!(!x.is_rearranged_with(&again, true), "one operation has nothing to be rearranged with");
        assert!(x.add(y, false).is_rearranged_with(&a, true));
        // Of a long product not all are known.
        let long = (4..9).map(|i| Form::leaf(f64::from(i), f64::from(i))).fold(product, Form::mul);
        assert!(long.is_rearranged_with(&y, true));
    }

    #[test]
    fn errors_grow_with_the_chain() {
        let x = Form::leaf(1.0, 1.0);
        let two = x.add(x, false);
        let three = two.add(x, false);
        let unit = f64::from(f32::EPSILON);
        assert!(two.error(unit, 0.0) >= 2.0 * unit && two.error(unit, 0.0) < 2.001 * unit);
        assert!(three.error(unit, 0.0) >= 6.0 * unit && three.error(unit, 0.0) < 6.001 * unit);
        let long = Form { terms: 3, ..x };
        assert_eq!(two.mul(two).times(long, Reach::USUAL), None);
        assert_eq!(two.mul(two).times(long, Reach::lenient(23)).map(|form| form.terms), Some(12));
    }
}
