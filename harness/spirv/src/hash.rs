//! A fast hash for short names; nothing here is chosen by an adversary who gains by collisions in more than time spent
//! on his own input.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher};

/// A map by short names, numbers or ids.
pub(crate) type FastMap<K, V> = HashMap<K, V, Names>;

/// The same without values.
pub(crate) type FastSet<K> = HashSet<K, Names>;

/// Builds [`NameHasher`]s.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Names;

impl BuildHasher for Names {
    type Hasher = NameHasher;

    fn build_hasher(&self) -> NameHasher {
        NameHasher(0)
    }
}

/// Eight bytes at a time: rotate, mix in, multiply.
pub(crate) struct NameHasher(u64);

const FACTOR: u64 = 0x517c_c1b7_2722_0a95;

impl NameHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (chunks, rest) = bytes.as_chunks::<8>();
        for chunk in chunks {
            self.add(u64::from_le_bytes(*chunk));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.add(u64::from_le_bytes(last));
    }

    fn write_u8(&mut self, byte: u8) {
        self.add(u64::from(byte));
    }

    fn write_u32(&mut self, word: u32) {
        self.add(u64::from(word));
    }

    fn finish(&self) -> u64 {
        // The table takes its upper bits from the top, its lower from the bottom: both have to be mixed.
        self.0 ^ (self.0 >> 29)
    }
}
