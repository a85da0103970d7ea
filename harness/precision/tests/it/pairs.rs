//! Rows of pairs of halves, which the checker decides in whole groups.

use assay_float::F16;
use assay_precision::{Call, CheckCounts, Checker, Column, Modes, Op, Scalar, Shape};
use std::collections::BTreeMap;

/// Rows of whole groups and a part of one, with permitted results and some that are not permitted.
#[test]
fn rows_of_pairs_are_counted_and_weighed_as_by_the_certified_evaluation() {
    for op in [Op::FAdd, Op::FDiv, Op::Atan2, Op::FMod, Op::FMax, Op::FOrdLessThan] {
        let call = Call::new(op, Scalar::Float(F16), Shape::Scalar, None, Modes::default()).expect("a call");
        let (checker, reference) = (Checker::new(call.clone()), call.reference());
        for second in [0x3c01u32, 0xc248, 0x0003, 0x7c00] {
            let first: Vec<u32> = (0x3b80..0x3dc5).collect();
            let seconds = vec![second; first.len()];
            let result = |(i, &x): (usize, &u32)| {
                let set = reference.permitted(0, &[x.into(), second.into()]).usual;
                let range = set.ranges().get(i % 2).or(set.ranges().first());
                // A group without a wrong result is decided as a whole.
                let wrong = i64::from(i > 300 && i % 50 == 0);
                let rank = range.map_or(0, |range| range.hi + wrong);
                if op == Op::FOrdLessThan { rank as u32 } else { F16.bits(rank) as u32 }
            };
            let results: Vec<u32> = first.iter().enumerate().map(result).collect();
            let mut counts = CheckCounts::default();
            checker.check(&[Column::Words(&first), Column::Words(&seconds)], &[Column::Words(&results)], &mut counts);
            let (mut verdicts, mut worst) = (BTreeMap::new(), 0f64);
            for (&x, &got) in first.iter().zip(&results) {
                let judgement = reference.judge(0, &[x.into(), second.into()], got.into());
                *verdicts.entry(judgement.verdict).or_insert(0) += 1;
                worst = worst.max(judgement.margin.unwrap_or(0.0));
            }
            let place = format!("{op} with {second:#06x}");
            assert_eq!(counts.verdicts, verdicts, "{place}");
            let found = counts.worst.and_then(|worst| worst.margin).unwrap_or(0.0);
            assert!(found == worst || (worst - found).abs() < 1e-5, "{place}: {found}, not {worst}");
        }
    }
}
