//! Random results that an implementation may round to.

use std::cmp::Ordering;

/// Random numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n
    }
}

/// The neighbours of `x` with residual `left`, below and above; the number itself if it is a
/// neighbour.
pub(crate) fn neighbours(x: f64, left: f64) -> (f32, f32) {
    let near = x as f32;
    let off = x - f64::from(near);
    match if off == 0.0 { left } else { off }.partial_cmp(&0.0) {
        Some(Ordering::Greater) => (near, near.next_up()),
        Some(Ordering::Less) => (near.next_down(), near),
        _ => (near, near),
    }
}

/// Returns true if a number is smaller than every normal one.
pub(crate) fn is_denormal(x: f64) -> bool {
    x != 0.0 && x.abs() < f64::from(f32::MIN_POSITIVE)
}

/// Either neighbour of a number. A denormal one may be flushed.
pub(crate) fn either(x: f64, random: &mut Random) -> f32 {
    let (below, above) = neighbours(x, 0.0);
    let result = if random.below(2) == 0 { above } else { below };
    if is_denormal(x) && random.below(2) == 0 { 0.0 } else { result }
}

/// A quotient within 2.5 ulp, rounded to either neighbour. Division by a power of two is exact
/// except for underflow.
pub(crate) fn quotient(a: f64, b: f64, random: &mut Random) -> f32 {
    let exact = a / b;
    if b.to_bits() << 12 == 0 {
        return either(exact, random);
    }
    let near = exact as f32;
    // At a power of two, the ulp below.
    let unit = f64::from(near.abs()) - f64::from(near.abs().next_down());
    let off = [-1.5, -0.5, 0.0, 0.5, 1.5][random.below(5)];
    // Plain division where the precision is too low or no bound is stated.
    if near.is_normal() && (1e-37..1e37).contains(&b.abs()) && unit > 1e-44 {
        either(exact + off * unit, random)
    } else {
        either(f64::from(near), random)
    }
}
