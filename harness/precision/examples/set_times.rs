//! Times of the set extension, the unit of the oracle's `search_cost`.
//!
//! For each instruction and shape in f32: median time of one evaluation over small, wide and mixed
//! sets of all operands, in milliseconds, as a search, as an enclosure and as a cover.

#![expect(clippy::print_stdout, reason = "a program that prints measurements")]

use assay_float::{F32, Set};
use assay_precision::{Call, Effort, Modes, Op, Operand, Scalar};
use std::time::Instant;

/// Evaluations of each kind.
const TIMES: usize = 5;

fn main() {
    println!(
        "{:<22} {:<12} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "instruction", "shape", "narrow", "wide", "mixed", "enclosure", "cover"
    );
    for &op in Op::ALL {
        let scalar = Scalar::Float(F32);
        if !Call::scalars(op).contains(&scalar) || !Call::sources(op).is_empty() {
            continue;
        }
        for &shape in Call::shapes(op) {
            let Ok(call) = Call::new(op, scalar, shape, None, Modes::default()) else { continue };
            if call.operands.iter().any(|operand| operand.scalar.format().is_none()) {
                continue;
            }
            let reference = call.reference();
            let scalars: usize = call.operands.iter().map(|operand| (operand.rows * operand.columns) as usize).sum();
            let one = F32.rank_of_one();
            let operands = |width: &dyn Fn(usize) -> i64| -> Vec<Operand> {
                let range =
                    |i: usize| Operand::Set(Set::range(one + (i as i64) * 1000, one + i as i64 * 1000 + width(i)));
                (0..scalars).map(range).collect()
            };
            let median = |effort, operands: &[Operand]| {
                let mut all: Vec<f64> = (0..TIMES)
                    .map(|_| {
                        let start = Instant::now();
                        std::hint::black_box(reference.permitted_for_sets_with(effort, 0, operands));
                        start.elapsed().as_secs_f64() * 1e3
                    })
                    .collect();
                all.sort_by(f64::total_cmp);
                all[TIMES / 2]
            };
            let (narrow, wide) = (operands(&|_| 3), operands(&|_| 1 << 22));
            let mixed = operands(&|i| if i % 2 == 0 { 0 } else { 1 << 20 });
            println!(
                "{:<22} {:<12} {:>10.3} {:>10.3} {:>10.3} {:>10.3} {:>10.3}",
                op.to_string(),
                format!("{shape:?}"),
                median(Effort::Search, &narrow),
                median(Effort::Search, &wide),
                median(Effort::Search, &mixed),
                median(Effort::Enclose, &wide),
                median(Effort::Cover, &wide)
            );
        }
    }
}
