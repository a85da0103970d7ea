//! Inputs that `--budget hunt` needs to find planted errors, against uniform sampling.
//!
//! `cargo run --release -p assay-runner --example hunt -- [SEEDS]`
//!
//! Ten two-operand instructions of f32 are computed on the host, each with an error for rare
//! operands. Five errors are sharp: nothing near them is wrong. Five grow towards their region, as
//! errors of approximations do. The search is not told where they are. For each error the table has
//! the chance that a uniformly chosen pair shows it, and how many inputs the search ran until the
//! first failure: the median over the seeds, and how many of them succeeded within 2^23 inputs.

#![expect(clippy::print_stdout, reason = "a tool for a terminal")]

use assay_case::{Budget, Case, Hunt, Inputs};
use assay_precision::Checker;

/// Inputs after which a search is given up.
const LIMIT: u64 = 1 << 23;

/// An error for rare operands.
struct PlantedError {
    case: &'static str,
    description: &'static str,
    /// Binary logarithm of the number of pairs among which one shows the error.
    one_in: i32,
    compute: fn(f32, f32) -> f64,
    /// Error of a result: from 1 on it is wrong, below it grows with this value and is permitted.
    error: fn(f32, f32) -> f64,
}

fn mantissa(x: f32) -> u32 {
    x.to_bits() & 0x7f_ffff
}

fn exponent(x: f32) -> i32 {
    (x.to_bits() >> 23 & 0xff) as i32
}

/// Length of the run of ones at the top of the mantissa.
fn ones(x: f32) -> u32 {
    (mantissa(x) << 9).leading_ones()
}

/// Number of equal bits in the order of magnitude: 32 for equal operands.
fn nearness(x: f32, y: f32) -> f64 {
    f64::from(x.to_bits().abs_diff(y.to_bits()).leading_zeros())
}

fn sharp(wrong: bool) -> f64 {
    f64::from(u8::from(wrong))
}

const ERRORS: [PlantedError; 10] = [
    PlantedError {
        case: "fadd",
        description: "neighbours of opposite sign, near overflow",
        one_in: 38,
        compute: |x, y| f64::from(x + y),
        error: |x, y| sharp(x.to_bits() == (y.to_bits() ^ 0x8000_0000).wrapping_add(1) && exponent(x) >= 252),
    },
    PlantedError {
        case: "fadd",
        description: "all ones plus a power of two 25 binades below",
        one_in: 54,
        compute: |x, y| f64::from(x + y),
        error: |x, y| sharp(mantissa(x) == 0x7f_ffff && mantissa(y) == 0 && exponent(x) - exponent(y) == 25),
    },
    PlantedError {
        case: "fmul",
        description: "both mantissas all ones, product in the lowest binade",
        one_in: 55,
        compute: |x, y| f64::from(x * y),
        error: |x, y| sharp(mantissa(x) & mantissa(y) == 0x7f_ffff && exponent(x * y) == 1),
    },
    PlantedError {
        case: "fsub",
        description: "neighbours in the lowest binade",
        one_in: 40,
        compute: |x, y| f64::from(x - y),
        error: |x, y| sharp(x.to_bits() == y.to_bits().wrapping_add(1) && exponent(x) == 1),
    },
    PlantedError {
        case: "fdiv",
        description: "a power of two by a divisor with one set bit at the end",
        one_in: 46,
        compute: |x, y| f64::from(x / y),
        error: |x, y| sharp(mantissa(x) == 0 && mantissa(y) == 1),
    },
    PlantedError {
        case: "fdiv",
        description: "grows with the leading ones of both mantissas, up to 20",
        one_in: 40,
        compute: |x, y| f64::from(x) / f64::from(y),
        error: |x, y| f64::from(ones(x).min(20) + ones(y).min(20)) / 40.0,
    },
    PlantedError {
        case: "fdiv",
        description: "grows towards negative neighbours above 2^80 with 8 zeros at the end",
        one_in: 40,
        compute: |x, y| f64::from(x) / f64::from(y),
        error: |x, y| {
            let high = f64::from((exponent(x) - 127).clamp(0, 80)) / 80.0;
            let zeros = f64::from(y.to_bits().trailing_zeros().min(8)) / 8.0;
            (nearness(x, y).min(30.0) / 30.0) * (0.4 + 0.3 * high + 0.3 * zeros) * if x < 0.0 { 1.0 } else { 0.9 }
        },
    },
    PlantedError {
        case: "atan2",
        description: "grows towards equal negative operands near overflow",
        one_in: 38,
        compute: |x, y| f64::from(x).atan2(f64::from(y)),
        error: |x, y| {
            let high = f64::from(exponent(x).min(249)) / 249.0;
            nearness(x, y) / 32.0 * high * if x < 0.0 { 1.0 } else { 0.9 }
        },
    },
    PlantedError {
        case: "atan2",
        description: "grows with the zeros at the ends of both operands, up to 20",
        one_in: 40,
        compute: |x, y| f64::from(x).atan2(f64::from(y)),
        error: |x, y| {
            let zeros = |x: f32| x.to_bits().trailing_zeros().min(20);
            f64::from(zeros(x) + zeros(y)) / 40.0
        },
    },
    PlantedError {
        case: "fdiv",
        description: "grows towards two hidden operands, up to 20 equal bits of each",
        one_in: 40,
        compute: |x, y| f64::from(x) / f64::from(y),
        error: |x, y| {
            let equal = |x: f32, to: u32| (x.to_bits() ^ to).leading_zeros().min(20);
            f64::from(equal(x, 0x4049_0fdb) + equal(y, 0xc2f6_e979)) / 40.0
        },
    },
];

/// Returns the number of inputs until the first failure.
fn inputs_until_failure(case: &Case, planted: &PlantedError, seed: u64) -> Option<u64> {
    let inputs = Inputs::new(case, Budget::Hunt, seed, None).expect("no range");
    let mut hunt = Hunt::new(&inputs).expect("two operands of f32");
    let checker = Checker::new(case.call.clone());
    let (mut operands, mut results) = (inputs.operand_columns(), inputs.result_columns());
    let (mut run, mut row, mut margins) = (0, [0; 2], Vec::new());
    for generation in 0.. {
        hunt.fill(generation, &mut operands);
        for index in 0..operands.rows() {
            operands.row(index, &mut row);
            let [x, y] = row.map(|bits| f32::from_bits(bits as u32));
            results.set_row(index, &[u64::from(spoilt(planted, x, y).to_bits())]);
        }
        results.set_rows(operands.rows());
        margins.resize(operands.rows(), 0.0);
        let rows = operands.rows();
        checker.margins(&operands.columns(0, rows), &results.columns(0, rows), &mut margins);
        if let Some(at) = margins.iter().position(|margin| *margin > 1.0) {
            return Some(run + at as u64 + 1);
        }
        hunt.learn(&operands, &margins);
        run += rows as u64;
        if run > LIMIT {
            break;
        }
    }
    None
}

/// Returns the result with its error: whole ulps beyond the rounding, fewer than the instruction
/// permits unless the error is wrong.
fn spoilt(planted: &PlantedError, x: f32, y: f32) -> f32 {
    let (result, error) = ((planted.compute)(x, y) as f32, (planted.error)(x, y));
    if !result.is_finite() || result == 0.0 {
        return result;
    }
    let bound = match planted.case {
        "fdiv" => 2.5,
        "atan2" => 4096.0,
        _ => 1.0,
    };
    let ulps = if error >= 1.0 { bound + 2.0 } else { error * bound - 0.5 };
    f32::from_bits(result.to_bits() + ulps.max(0.0) as u32)
}

fn main() {
    let seeds: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(5);
    let cases = assay_case::load().expect("embedded cases");
    println!("| instruction | error | one in | median inputs | found | uniform over hunt |\n|---|---|---|---|---|---|");
    for planted in &ERRORS {
        let name = format!("precision.f32.{}.scalar.default", planted.case);
        let case = cases.iter().find(|case| case.name == name).expect("a case of this name");
        let mut found: Vec<u64> =
            (0..seeds).map(|seed| inputs_until_failure(case, planted, seed).unwrap_or(u64::MAX)).collect();
        found.sort_unstable();
        let hits = found.iter().filter(|inputs| **inputs < u64::MAX).count();
        let median = found[found.len() / 2];
        let (text, ratio) = match median {
            u64::MAX => ("more than 2^23".to_owned(), "-".to_owned()),
            // Half of the searches by uniform sampling take ln 2 times the inverse chance.
            median => (median.to_string(), format!("{:.1e}", 2f64.powi(planted.one_in) * 0.693 / median as f64)),
        };
        let PlantedError { case, description, one_in, .. } = planted;
        println!("| {case} | {description} | 2^{one_in} | {text} | {hits} of {seeds} | {ratio} |");
    }
}
