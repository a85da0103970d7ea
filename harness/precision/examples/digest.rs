//! Digests of permitted sets, a line for each instruction: two builds or architectures whose lines are equal permit
//! the same results, bit for bit, for some operands of each call.
//!
//! `cargo run --release -p assay-precision --example digest`
//!
//! The calls are those of the synthetic devices: every row on every type, each in several modes.

#[path = "../tests/it/devices.rs"]
#[expect(dead_code, reason = "the synthetic devices themselves are not needed")]
mod devices;

use assay_precision::synthetic::Random;
use rayon::prelude::*;
use std::{collections::BTreeMap, io::Write as _, process::ExitCode};

/// Number of operands of a call.
const OPERANDS: u64 = 16;

/// Digest of a call's sets, with their number.
type Digest = (u64, u64);

/// FNV-1a (Fowler, Noll, Vo) over the text of each set.
fn digest(call: &assay_precision::Call) -> Digest {
    let mut random = Random::new(0);
    let slots: Vec<_> = call.operand_slots().collect();
    let reference = call.reference();
    let (mut digest, mut sets) = (0xcbf2_9ce4_8422_2325, 0);
    for _ in 0..OPERANDS {
        let x: Vec<u64> = slots.iter().map(|&slot| random.operand(slot)).collect();
        if !call.is_defined(&x) {
            continue;
        }
        for slot in 0..call.result_slots().count() {
            let text = format!("{x:x?} {:?}", reference.permitted(slot, &x));
            digest = text.bytes().fold(digest, |d: u64, b| (d ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
            sets += 1;
        }
    }
    (digest, sets)
}

fn main() -> ExitCode {
    let calls = devices::calls();
    let digests: Vec<Digest> = calls.par_iter().map(digest).collect();
    let mut lines: BTreeMap<String, Digest> = BTreeMap::new();
    for (call, (digest, sets)) in calls.iter().zip(digests) {
        let line = lines.entry(call.op.to_string()).or_default();
        *line = (line.0.rotate_left(1) ^ digest, line.1 + sets);
    }
    let mut out = std::io::stdout().lock();
    for (instruction, (digest, sets)) in lines {
        if writeln!(out, "{instruction} {sets} sets {digest:016x}").is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
