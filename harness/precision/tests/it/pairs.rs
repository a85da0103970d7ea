//! The bulk checker on pairs of halves and of 16-bit integers, held against the certified
//! evaluation.

use crate::agreement::{Compared, compare_row};
use assay_float::F16;
use assay_precision::{Call, Checker, Modes, Op, Scalar, Shape};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

/// Instructions of two operands that the pair filter leaves to others.
const UNFILTERED: [Op; 2] = [Op::Distance, Op::Reflect];

/// Instructions of two operands that the pair filter decides.
fn is_paired(call: &Call) -> bool {
    call.operand_slots().count() == 2 && call.result_slots().count() == 1 && call.operands[0].scalar.width() == 16
}

/// Modes with an effect on pairs, one by one and together.
fn modes() -> Vec<Modes> {
    let names: [&[&str]; 12] = [
        &[],
        &["DenormPreserve"],
        &["DenormFlushToZero"],
        &["RoundingModeRTE"],
        &["RoundingModeRTZ"],
        &["SignedZeroInfNanPreserve"],
        &["DenormPreserve", "RoundingModeRTE", "SignedZeroInfNanPreserve"],
        &["DenormFlushToZero", "RoundingModeRTZ", "SignedZeroInfNanPreserve"],
        &["None"],
        &["NotNaN"],
        &["NotInf"],
        &["NSZ"],
    ];
    names.iter().map(|names| names.iter().fold(Modes::default(), |m, name| m.with(name).expect("a mode"))).collect()
}

/// For every instruction of two 16-bit operands in every mode: groups of consecutive first operands
/// of all kinds with second operands of all kinds. `ASSAY_FULL=1` takes every group with more second
/// operands.
#[test]
fn pairs_get_the_verdicts_of_the_certified_evaluation() {
    let full = std::env::var_os("ASSAY_FULL").is_some();
    let scalars =
        [Scalar::Float(F16), Scalar::Int { width: 16, signed: true }, Scalar::Int { width: 16, signed: false }];
    let calls = Op::ALL.iter().flat_map(|&op| {
        scalars.iter().flat_map(move |&scalar| {
            modes().into_iter().filter_map(move |modes| Call::new(op, scalar, Shape::Scalar, None, modes).ok())
        })
    });
    let calls: Vec<Call> = calls.filter(is_paired).collect();
    let steps = if full { 1 } else { 256 };
    let seconds: Vec<u32> = match full {
        true => (0..=0xffff).step_by(997).chain([0x8000, 0x7c00, 0xfc00, 0x7e00, 1, 0x3ff, 0x400, 0x3c00]).collect(),
        false => vec![0x8000, 0x83ff, 0x3c00, 0xc8d3, 0x7c00, 0x7e01],
    };
    let compared = calls.par_iter().map(|call| {
        let checker = Checker::new(call.clone());
        let mut sum = Compared::default();
        for (i, &second) in seconds.iter().enumerate() {
            let second = if call.op == Op::Ldexp { (second % 64).wrapping_sub(40) } else { second };
            // Zeros and denormals, infinities and NaNs, and others.
            let groups = [0x100, 0x1f0].into_iter().chain((i * 41 % steps..512).step_by(steps));
            for group in groups.map(|group| group as u32 * 128) {
                let first: Vec<u32> = (group..group + 128).collect();
                sum.add(
                    compare_row(call, &checker, &first, second).unwrap_or_else(|difference| panic!("{difference}")),
                );
            }
        }
        (call.clone(), sum)
    });
    let compared: Vec<(Call, Compared)> = compared.collect();
    assert!(compared.len() > 200, "{}", compared.len());
    // The filter decides nearly all: one that decides nothing would be useless and would pass.
    for (call, sum) in compared.iter().filter(|(call, _)| !UNFILTERED.contains(&call.op)) {
        assert!(20 * sum.undecided < sum.permitted, "{} in {}: {sum:?}", call.op, call.modes);
    }
}
