//! A short run of the fuzzer; `cargo run --release -p assay-spirv-rules --example fuzz -- SECONDS`
//! runs longer.

use crate::support;
use crate::support::mutate::{Random, round};

#[test]
fn mutations_neither_panic_nor_lose_words() {
    let seeds = support::seeds();
    let mut random = Random(7);
    for _ in 0..4_000 {
        round(&seeds, &mut random);
    }
}
