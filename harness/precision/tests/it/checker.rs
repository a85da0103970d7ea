//! [`Checker`] with its filter against the certified evaluation of [`Reference`]: equal verdicts
//! for all results.

use assay_float::{F16, F32, Format};
use assay_precision::{Call, CheckCounts, Checker, Column, Modes, Op, Reference, Scalar, Shape, Verdict};

/// Small generator: equal inputs on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Special values, moderate values, and any bits.
    fn operand(&mut self, scalar: Scalar) -> u64 {
        let Scalar::Float(f) = scalar else { return self.next() & (u64::MAX >> (64 - scalar.width())) };
        let one = f.rank_of_one() as u64;
        let specials =
            [0, 1, f.min_normal() as u64 - 1, f.min_normal() as u64, one, f.max_finite() as u64, f.nan(), 2 * one];
        let magnitude = match self.below(8) {
            0 => specials[self.below(specials.len() as u64) as usize],
            1 | 2 => self.next() & f.magnitude_mask(),
            3 => one + self.below(64) - 32,
            _ => one - (2 << f.fraction_bits) + self.below(5 << f.fraction_bits),
        };
        magnitude & f.magnitude_mask() | if self.below(4) == 0 { f.sign_mask() } else { 0 }
    }

    /// A result: a member, an end, a value just outside an end, or any bits.
    fn result(&mut self, reference: &Reference, slot: usize, operands: &[u64], scalar: Scalar) -> u64 {
        let set = reference.permitted(slot, operands).usual;
        let any = self.next() & (u64::MAX >> (64 - scalar.width()));
        let ranges = set.ranges();
        if ranges.is_empty() || self.below(12) == 0 {
            return any;
        }
        let range = ranges[self.below(ranges.len() as u64) as usize];
        let rank = match self.below(6) {
            0 => range.lo - 1,
            1 => range.hi + 1,
            2 => range.lo,
            3 => range.hi,
            _ => range.lo + self.below(range.hi.abs_diff(range.lo) + 1) as i64,
        };
        match scalar {
            Scalar::Float(f) => f.bits(rank.clamp(f.neg_infinity(), f.infinity())),
            Scalar::Int { .. } | Scalar::Bool => rank as u64 & (u64::MAX >> (64 - scalar.width())),
        }
    }
}

fn compare(call: Call, count: usize, random: &mut Random) {
    let reference = call.reference();
    let operand_types: Vec<Scalar> = call.operand_slots().collect();
    let result_types: Vec<Scalar> = call.result_slots().collect();
    let mut operands = vec![Vec::new(); operand_types.len()];
    let mut results = vec![Vec::new(); result_types.len()];
    let mut expected = CheckCounts::default();
    let (mut failing, mut warning, mut worst) = (0, 0, -1f64);
    for _ in 0..count {
        let x: Vec<u64> = operand_types.iter().map(|&t| random.operand(t)).collect();
        if !call.is_defined(&x) {
            continue;
        }
        let mut verdict = Verdict::Unchecked;
        for (slot, &scalar) in result_types.iter().enumerate() {
            let got = random.result(&reference, slot, &x, scalar);
            let judgement = reference.judge(slot, &x, got);
            *expected.verdicts.entry(judgement.verdict).or_default() += 1;
            verdict = verdict.max(judgement.verdict);
            worst = worst.max(judgement.margin.unwrap_or(-1.0));
            results[slot].push(got as u32);
        }
        failing += u64::from(verdict == Verdict::Fail);
        warning += u64::from(verdict == Verdict::QualityWarning);
        x.iter().zip(&mut operands).for_each(|(&bits, column)| column.push(bits as u32));
    }
    let operands: Vec<Column<'_>> = operands.iter().map(|c| Column::Words(c)).collect();
    let results: Vec<Column<'_>> = results.iter().map(|c| Column::Words(c)).collect();
    let mut counts = CheckCounts::default();
    Checker::new(call.clone()).check(&operands, &results, &mut counts);
    let name = format!("{} {:?} {}", call.op, call.operands, call.modes);
    assert_eq!(counts.verdicts, expected.verdicts, "{name}");
    assert_eq!((counts.failing_inputs, counts.warning_inputs), (failing, warning), "{name}");
    let found = counts.worst.and_then(|w| w.margin).unwrap_or(-1.0);
    // The guarantee for small margins is weaker.
    let tolerance = if worst < 0.125 { worst / 32.0 } else { 4e-6 * worst.max(1.0) };
    assert!(found == worst || (found - worst).abs() <= tolerance, "{name}: worst {found}, not {worst}");
}

const MODES: [&[&str]; 9] = [
    &[],
    &["DenormPreserve"],
    &["DenormFlushToZero"],
    &["RoundingModeRTE"],
    &["RoundingModeRTZ"],
    &["SignedZeroInfNanPreserve"],
    &["SignedZeroInfNanPreserve", "DenormPreserve", "RoundingModeRTE"],
    &["None"],
    &["NotNaN", "NotInf"],
];

fn compare_all(format: Format, count: usize, seed: u64) {
    let mut random = Random(seed);
    for &op in Op::ALL {
        for names in MODES {
            let modes = names.iter().fold(Modes::default(), |m, name| m.with(name).expect("a mode"));
            // The first shape and the widest one.
            let shapes = Call::shapes(op);
            for shape in [shapes[0], *shapes.last().expect("a shape")] {
                let heavy = shape != Shape::Scalar && shape == *shapes.last().expect("a shape");
                let count = if heavy { count / 8 } else { count };
                let from = Call::sources(op).iter().copied().find(|s| s.width() <= 32 && s.format() != Some(format));
                if let Ok(call) = Call::new(op, Scalar::Float(format), shape, from, modes) {
                    compare(call, count, &mut random);
                }
            }
        }
    }
}

/// A sum of products within a formula may be exact, if a factor is zero or few bits are set: its
/// hull is then a single value.
#[test]
fn formulas_with_exact_parts_are_judged_the_same_both_ways() {
    let word = |column: &u64| *column as u32;
    for mode in ["DenormPreserve", "SignedZeroInfNanPreserve"] {
        let modes = Modes::default().with(mode).expect("a mode");
        let call = Call::new(Op::Reflect, Scalar::Float(F32), Shape::Vector(2), None, modes).expect("a legal call");
        // y0 may be read as zero; the dot product is then a single product.
        let x = [0xbdf6_240d, 0x8080_0000, 0x807f_fffe, 0xc18c_624f];
        for got in 0x0519_b750_u64..0x0519_b760 {
            let row: Vec<[u32; 1]> = x.iter().chain(&[0, got]).map(|bits| [word(bits)]).collect();
            let columns: Vec<Column<'_>> = row.iter().map(|word| Column::Words(word)).collect();
            let mut counts = CheckCounts::default();
            Checker::new(call.clone()).check(&columns[..4], &columns[4..], &mut counts);
            let expected = [call.judge(&x, &[0, got])[0].verdict, call.judge(&x, &[0, got])[1].verdict];
            assert_eq!(counts.failing_inputs, u64::from(expected.contains(&Verdict::Fail)), "{mode} {got:#x}");
            let passed = expected.iter().filter(|v| **v == Verdict::Pass).count() as u64;
            assert_eq!(counts.verdicts.get(&Verdict::Pass).copied().unwrap_or(0), passed, "{mode} {got:#x}");
        }
    }
}

#[test]
fn single_precision_verdicts_are_the_same_both_ways() {
    compare_all(F32, 64, 1);
}

#[test]
fn half_precision_verdicts_are_the_same_both_ways() {
    compare_all(F16, 64, 2);
}

#[test]
fn conversions_to_integers_are_the_same_both_ways() {
    let mut random = Random(3);
    for (op, signed) in [(Op::ConvertFToS, true), (Op::ConvertFToU, false)] {
        for from in [F16, F32] {
            let int = Scalar::Int { width: 32, signed };
            let call = Call::new(op, int, Shape::Scalar, Some(Scalar::Float(from)), Modes::default());
            compare(call.expect("a legal call"), 2_000, &mut random);
        }
    }
}

/// The filter decides correct results of all kinds: overflows, flushed ones, exact ones.
#[test]
fn right_results_are_left_to_the_certain_way_only_now_and_then() {
    type Device = fn(f32) -> f32;
    let cases: [(Op, Device, &[f32]); 4] = [
        (Op::Exp2, f32::exp2, &[-1e5, -149.0, 0.3, 100.0, 128.0, 500.0, 1e30]),
        (Op::Sqrt, f32::sqrt, &[1e-30, 0.7, 5.0, 1e30]),
        (Op::FNegate, |x| -x, &[-1e30, 1e-40, 0.0, 1e30]),
        (Op::Tanh, |x| f64::from(x).tanh() as f32, &[-50.0, -0.3, 1e-10, 0.6, 9.0, 60.0]),
    ];
    for (op, function, starts) in cases {
        let call = Call::new(op, Scalar::Float(F32), Shape::Scalar, None, Modes::default()).expect("a legal call");
        for start in starts {
            let operands: Vec<u32> = (0..2048).map(|i| start.to_bits() + i).collect();
            let results: Vec<u32> = operands.iter().map(|&x| function(f32::from_bits(x)).to_bits()).collect();
            let mut counts = CheckCounts::default();
            Checker::new(call.clone()).check(&[Column::Words(&operands)], &[Column::Words(&results)], &mut counts);
            assert_eq!(counts.verdicts.get(&Verdict::Fail), None, "{op} {start}");
            assert!(counts.certified <= 64, "{op} {start}: {} of 2048", counts.certified);
        }
    }
}

/// Operands close to which the inherited functions change: ends of domains, overflow, changes of
/// the evaluation.
const EDGES: [f32; 20] = [
    1e-37,
    1e-20,
    1e-7,
    2e-4,
    0.5,
    0.99,
    1.0,
    1.01,
    std::f32::consts::FRAC_PI_2,
    2.0,
    std::f32::consts::PI,
    80.0,
    88.03,
    88.7,
    512.0,
    1024.0,
    4096.0,
    1.8e19,
    1.8446744e19,
    5.9e36,
];

#[test]
fn single_results_at_the_ends_of_inherited_bounds_are_judged_the_same_both_ways() {
    // One result at a time: in a group with others, one undecided result would send all of them to
    // the whole rule.
    let ops = [
        Op::Sqrt,
        Op::Tan,
        Op::Asin,
        Op::Acos,
        Op::Sinh,
        Op::Cosh,
        Op::Tanh,
        Op::Asinh,
        Op::Acosh,
        Op::Atanh,
        Op::Radians,
        Op::Degrees,
    ];
    let mut random = Random(4);
    for op in ops {
        for names in [&[][..], &["DenormPreserve"], &["DenormFlushToZero"], &["RoundingModeRTE"], &["NotNaN", "NotInf"]]
        {
            let modes = names.iter().fold(Modes::default(), |m, name| m.with(name).expect("a mode"));
            let call = Call::new(op, Scalar::Float(F32), Shape::Scalar, None, modes).expect("a legal call");
            let (reference, checker) = (call.reference(), Checker::new(call));
            for k in 0..100 {
                let near = EDGES[k % EDGES.len()].to_bits().wrapping_add(random.below(512) as u32).wrapping_sub(256);
                let any = random.next() as u32;
                let sign = if random.below(2) == 0 { 0 } else { 1 << 31 };
                let x = if k % 2 == 0 { near ^ sign } else { any };
                let set = reference.permitted(0, &[x.into()]).usual;
                let ranges = set.ranges().iter().flat_map(|r| [r.lo - 1, r.lo, r.lo + 1, r.hi - 1, r.hi, r.hi + 1]);
                for rank in ranges.filter(|&rank| F32.neg_infinity() <= rank && rank <= F32.infinity()) {
                    let got = F32.bits(rank);
                    let expected = reference.judge(0, &[x.into()], got).verdict;
                    let mut counts = CheckCounts::default();
                    checker.check(&[Column::Words(&[x])], &[Column::Words(&[got as u32])], &mut counts);
                    assert_eq!(
                        counts.verdicts.into_iter().collect::<Vec<_>>(),
                        [(expected, 1)],
                        "{op} {x:#x} {got:#x}"
                    );
                }
                if set.is_anything() {
                    let mut counts = CheckCounts::default();
                    checker.check(&[Column::Words(&[x])], &[Column::Words(&[any])], &mut counts);
                    assert_eq!(counts.verdicts.into_keys().collect::<Vec<_>>(), [Verdict::Unchecked], "{op} {x:#x}");
                }
            }
        }
    }
}

/// The filter decides a whole group of a sweep at a time: one result at or just beyond an end,
/// among 127 correct ones, gets the verdict that it gets alone.
#[test]
fn one_result_in_a_sweep_is_judged_as_by_itself() {
    let mut random = Random(5);
    for &op in Op::ALL {
        for names in [&[][..], &["DenormPreserve"], &["RoundingModeRTE"], &["SignedZeroInfNanPreserve"]] {
            let modes = names.iter().fold(Modes::default(), |m, name| m.with(name).expect("a mode"));
            let Ok(call) = Call::new(op, Scalar::Float(F32), Shape::Scalar, None, modes) else { continue };
            let mut operands = call.operand_slots();
            let one_single = operands.next() == Some(Scalar::Float(F32)) && operands.next().is_none();
            drop(operands);
            if !one_single || call.result_slots().count() != 1 {
                continue;
            }
            let (reference, checker) = (call.reference(), Checker::new(call));
            for k in 0..8 {
                let near = EDGES[random.below(20) as usize].to_bits().wrapping_add(random.below(512) as u32) - 256;
                let sign = if random.below(2) == 0 { 0 } else { 1 << 31 };
                let start = if k % 2 == 0 { near ^ sign } else { random.next() as u32 & !0xff };
                let operands: Vec<u32> = (0..128).map(|i| start.wrapping_add(i)).collect();
                let middle = |&x: &u32| {
                    let set = reference.permitted(0, &[x.into()]).usual;
                    let range = set.ranges().first().copied();
                    range.map_or(0, |r| F32.bits(r.lo + (r.hi - r.lo) / 2) as u32)
                };
                let mut results: Vec<u32> = operands.iter().map(middle).collect();
                let lane = random.below(128) as usize;
                let x = operands[lane];
                let set = reference.permitted(0, &[x.into()]).usual;
                let mut others: std::collections::BTreeMap<Verdict, u64> = Default::default();
                for i in (0..128).filter(|&i| i != lane) {
                    let (x, got) = (operands[i], results[i]);
                    *others.entry(reference.judge(0, &[x.into()], got.into()).verdict).or_default() += 1;
                }
                let ranks = set.ranges().iter().flat_map(|r| [r.lo - 1, r.lo, r.hi, r.hi + 1]);
                for rank in ranks.filter(|&rank| F32.neg_infinity() <= rank && rank <= F32.infinity()) {
                    results[lane] = F32.bits(rank) as u32;
                    let mut expected = others.clone();
                    *expected.entry(reference.judge(0, &[x.into()], results[lane].into()).verdict).or_default() += 1;
                    // Also at a place after a worse result: a group is only then decided in one
                    // step.
                    let mut counts = CheckCounts::default();
                    let columns = |words: &[u32]| [words.to_vec(), words.to_vec()].concat();
                    let (twice, both) = (columns(&operands), columns(&results));
                    checker.check(&[Column::Words(&twice)], &[Column::Words(&both)], &mut counts);
                    let expected: Vec<_> = expected.into_iter().map(|(verdict, n)| (verdict, 2 * n)).collect();
                    assert_eq!(counts.verdicts.into_iter().collect::<Vec<_>>(), expected, "{op} {names:?} {x:#x}");
                }
            }
        }
    }
}
