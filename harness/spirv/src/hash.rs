//! A fast hash function for short names, numbers and ids, in the manner of FxHash.
//!
//! It does not resist crafted collisions, which would only slow down the processing of the input
//! that contains them.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher};

/// Hash map keyed by short names, numbers or ids.
pub type FastMap<K, V> = HashMap<K, V, BuildNameHasher>;

/// Hash set of short names, numbers or ids.
pub type FastSet<K> = HashSet<K, BuildNameHasher>;

/// Builds [`NameHasher`]s.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuildNameHasher;

impl BuildHasher for BuildNameHasher {
    type Hasher = NameHasher;

    fn build_hasher(&self) -> NameHasher {
        NameHasher(0)
    }
}

/// Hasher that takes 8 bytes at a time: rotate, exclusive or, multiply.
pub struct NameHasher(u64);

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
        // The hash table uses the top bits as well as the bottom bits of the hash, so both have to
        // be mixed.
        self.0 ^ (self.0 >> 29)
    }
}
