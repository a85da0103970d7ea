//! Counter-based random numbers: each can be computed without its predecessors, equally on all
//! machines.

/// A stream of 64-bit numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rng(u64);

impl Rng {
    /// Returns the stream for one row of the inputs with that key.
    pub(super) fn new(key: u64, row: u64) -> Rng {
        Rng(mix(key ^ mix(row)))
    }

    /// Returns the next number (SplitMix64).
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Returns a number below `end`, which is not zero.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// Returns a number from `lo` to `hi`, both included.
    pub(super) fn between(&mut self, lo: i64, hi: i64) -> i64 {
        lo + self.below(hi.abs_diff(lo) + 1) as i64
    }

    /// Returns one of the elements.
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Returns a key for a text and a seed.
pub(super) fn key(text: &str, seed: u64) -> u64 {
    text.bytes().fold(mix(seed), |hash, byte| mix(hash ^ u64::from(byte)))
}

fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_never_change() {
        let mut rng = Rng::new(key("f32 <- f32 Exp2", 0), 7);
        assert_eq!([rng.next(), rng.next()], EXPECTED);
        assert!((0..1000).all(|_| rng.between(-3, 3).abs() <= 3));
    }

    const EXPECTED: [u64; 2] = [14_878_098_964_697_639_838, 17_957_804_298_430_113_697];
}
