//! Random straight-line float programs against independent random evaluations. Each evaluation does
//! what an implementation may do: round to either neighbour at every step, fuse, reorder,
//! distribute, take out common factors. Every result must lie in the computed set.

use crate::support::random_rounding::{Random, either, quotient};
use crate::support::*;
use assay_oracle::{Expected, Program, SpecValues};

#[derive(Clone, Copy, Debug)]
enum Step {
    Input(usize),
    Add(usize, usize),
    Sub(usize, usize),
    Mul(usize, usize),
    Neg(usize),
    Max(usize, usize),
    Min(usize, usize),
    Abs(usize),
    Div(usize, usize),
    Sqrt(usize),
}

const INPUTS: usize = 3;

fn program(random: &mut Random, direct: bool) -> Vec<Step> {
    let mut steps: Vec<Step> = (0..INPUTS).map(Step::Input).collect();
    // Products of longer sums are not multiplied out, which the sampling would do.
    let mut terms = vec![1; INPUTS];
    for _ in 0..8 {
        let n = steps.len();
        // Prefers the latest result, so that chains get long.
        let pick = |random: &mut Random| if random.below(2) == 0 { n - 1 } else { random.below(n) };
        let (a, b) = (pick(random), pick(random));
        steps.push(match random.below(if direct { 11 } else { 14 }) {
            0..3 => Step::Add(a, b),
            3..5 => Step::Sub(a, b),
            5..8 if terms[a] * terms[b] <= 8 => Step::Mul(a, b),
            5..8 => Step::Sub(b, a),
            8 => Step::Neg(a),
            9 => Step::Max(a, b),
            10 => {
                if direct {
                    Step::Min(a, b)
                } else {
                    Step::Abs(a)
                }
            }
            11 | 12 => Step::Div(a, b),
            _ => Step::Sqrt(a),
        });
        terms.push(match steps[n] {
            Step::Add(a, b) | Step::Sub(a, b) => terms[a] + terms[b],
            Step::Mul(a, b) => terms[a] * terms[b],
            Step::Neg(a) => terms[a],
            _ => 1,
        });
    }
    steps
}

fn text(steps: &[Step], lanes: usize) -> String {
    let lines = steps.iter().enumerate().map(|(i, step)| {
        let expression = match step {
            Step::Input(k) => format!("a[i * {INPUTS}u + {k}u]"),
            Step::Add(a, b) => format!("v{a} + v{b}"),
            Step::Sub(a, b) => format!("v{a} - v{b}"),
            Step::Mul(a, b) => format!("v{a} * v{b}"),
            Step::Neg(a) => format!("-v{a}"),
            Step::Max(a, b) => format!("max(v{a}, v{b})"),
            Step::Min(a, b) => format!("min(v{a}, v{b})"),
            Step::Abs(a) => format!("abs(v{a})"),
            Step::Div(a, b) => format!("v{a} / v{b}"),
            Step::Sqrt(a) => format!("sqrt(v{a})"),
        };
        format!("let v{i} = {expression};\n")
    });
    format!(
        "@group(0) @binding(0) var<storage, read> a: array<f32>;
        @group(0) @binding(1) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size({lanes})
        fn main(@builtin(local_invocation_index) i: u32) {{ {} out[i] = v{}; }}",
        lines.collect::<String>(),
        steps.len() - 1
    )
}

/// A sum (`sign` 1) or difference (-1) of two products, or of one and its factor, with the common
/// factor taken out; `None` if there is none.
fn taken_out(steps: &[Step], v: &[f32], (a, b): (usize, usize), sign: f64, random: &mut Random) -> Option<f32> {
    // Two quotients with one divisor: their sum over it.
    if let (Step::Div(x, z), Step::Div(y, w)) = (steps[a], steps[b])
        && z == w
    {
        let inner = either(f64::from(v[x]) + sign * f64::from(v[y]), random);
        return Some(quotient(f64::from(inner), f64::from(v[z]), random));
    }
    let factors = |k: usize| match steps[k] {
        Step::Mul(x, y) => vec![(x, Some(y)), (y, Some(x))],
        _ => vec![(k, None)],
    };
    let other = |factor: Option<usize>| factor.map_or(1.0, |k| f64::from(v[k]));
    let pairs = factors(a).into_iter().flat_map(|one| factors(b).into_iter().map(move |two| (one, two)));
    let ((common, x), (_, y)) =
        pairs.into_iter().find(|((one, x), (two, y))| one == two && (x.is_some() || y.is_some()))?;
    let inner = either(other(x) + sign * other(y), random);
    Some(either(f64::from(v[common]) * f64::from(inner), random))
}

/// The root, if a step is a square or a number that is one.
fn squared(steps: &[Step], v: &[f32], k: usize) -> Option<f32> {
    match steps[k] {
        Step::Mul(x, y) if x == y => Some(v[x]),
        _ => None,
    }
}

/// A difference of two squares as a product of sum and difference, which may be multiplied out
/// again.
fn of_squares(steps: &[Step], v: &[f32], (a, b): (usize, usize), random: &mut Random) -> Option<f32> {
    let (x, y) = (f64::from(squared(steps, v, a)?), f64::from(squared(steps, v, b)?));
    let (sum, difference) = (f64::from(either(x + y, random)), f64::from(either(x - y, random)));
    Some(match random.below(3) {
        0 => {
            let first = either(sum * x, random);
            either(f64::from(first) - f64::from(either(sum * y, random)), random)
        }
        1 => {
            let first = either(difference * x, random);
            either(f64::mul_add(difference, y, f64::from(first)), random)
        }
        _ => either(sum * difference, random),
    })
}

/// One execution as an implementation may do it. `free`: with contraction and rearrangement.
fn sample(steps: &[Step], inputs: &[f32], random: &mut Random, free: bool) -> Option<f32> {
    let mut v: Vec<f32> = Vec::new();
    for step in steps {
        let f = |k: usize| f64::from(v[k]);
        let choice = if free { random.below(3) } else { 0 };
        let taken_out = match *step {
            Step::Add(a, b) if choice == 2 => taken_out(steps, &v, (a, b), 1.0, random),
            Step::Sub(a, b) if choice == 2 => {
                of_squares(steps, &v, (a, b), random).or_else(|| taken_out(steps, &v, (a, b), -1.0, random))
            }
            _ => None,
        };
        let result = match *step {
            _ if taken_out.is_some() => taken_out.unwrap_or_default(),
            Step::Input(k) => inputs[k],
            Step::Add(a, b) => match (steps[a], choice) {
                // Fused.
                (Step::Mul(x, y), 1) => either(f64::mul_add(f(x), f(y), f(b)), random),
                // (x + y) + b as x + (y + b).
                (Step::Add(x, y), 1) => {
                    let inner = either(f(y) + f(b), random);
                    either(f(x) + f64::from(inner), random)
                }
                (Step::Sub(x, y), 1) => {
                    let inner = either(f(b) - f(y), random);
                    either(f(x) + f64::from(inner), random)
                }
                _ => either(f(a) + f(b), random),
            },
            Step::Sub(a, b) => match (steps[b], choice) {
                (Step::Mul(x, y), 1) => either(f64::mul_add(-f(x), f(y), f(a)), random),
                // a - (x + y) as (a - x) - y.
                (Step::Add(x, y), 1) => {
                    let inner = either(f(a) - f(x), random);
                    either(f64::from(inner) - f(y), random)
                }
                _ => either(f(a) - f(b), random),
            },
            Step::Mul(a, b) => match (steps[a], choice) {
                // (x + y) * b as x * b + y * b, the last fused.
                (Step::Add(x, y), 1) => {
                    let first = either(f(x) * f(b), random);
                    either(f64::mul_add(f(y), f(b), f64::from(first)), random)
                }
                // (x / y) * b as (x * b) / y, or as x * (b * (1 / y)).
                (Step::Div(x, y), 1) => {
                    let inner = either(f(x) * f(b), random);
                    quotient(f64::from(inner), f(y), random)
                }
                (Step::Div(x, y), 2) => {
                    let inverse = quotient(1.0, f(y), random);
                    let inner = either(f(b) * f64::from(inverse), random);
                    either(f(x) * f64::from(inner), random)
                }
                // (x * y) * b as x * (y * b).
                (Step::Mul(x, y), 1) => {
                    let inner = either(f(y) * f(b), random);
                    either(f(x) * f64::from(inner), random)
                }
                _ => either(f(a) * f(b), random),
            },
            Step::Neg(a) => -v[a],
            Step::Max(a, b) => v[a].max(v[b]),
            Step::Min(a, b) => v[a].min(v[b]),
            Step::Abs(a) => v[a].abs(),
            Step::Div(a, b) => match (steps[a], steps[b], choice) {
                // (x * y) / b as x * (y / b), (x / y) / b as x / (y * b).
                (Step::Mul(x, y), _, 1) => {
                    let inner = quotient(f(y), f(b), random);
                    either(f(x) * f64::from(inner), random)
                }
                (Step::Div(x, y), _, 1) => {
                    let inner = either(f(y) * f(b), random);
                    quotient(f(x), f64::from(inner), random)
                }
                // a / (x * y) as (a / x) / y.
                (_, Step::Mul(x, y), 2) => {
                    let inner = quotient(f(a), f(x), random);
                    quotient(f64::from(inner), f(y), random)
                }
                _ => quotient(f(a), f(b), random),
            },
            Step::Sqrt(a) => either(f(a).sqrt(), random),
        };
        if !result.is_finite() {
            return None;
        }
        v.push(result);
    }
    v.last().copied()
}

fn compare(programs: usize, samples: usize, seed: u64, direct: bool) -> (usize, usize, usize) {
    const LANES: usize = 4;
    let random = &mut Random(seed);
    let (mut inside, mut undetermined, mut lanes) = (0, 0, 0);
    for _ in 0..programs {
        let steps = program(random, direct);
        let values = [0.5f32, 1.0, -1.0, 3.0, 1e-3, -7.25, 0.1, 1.000_000_1, 1234.5, -0.3, 16_777_216.0];
        let inputs: Vec<f32> = (0..LANES * INPUTS).map(|_| values[random.below(values.len())]).collect();
        let text = text(&steps, LANES);
        let program = Program::new(&wgsl(&text), "main", &SpecValues::new()).expect("a program");
        let outcome = run_program(&program, [1; 3], vec![floats(&inputs), floats(&[0.0; LANES])]);
        assert_eq!(outcome.faults, []);
        for lane in 0..LANES {
            lanes += 1;
            let expected = word(&outcome, 1, lane);
            if matches!(expected, Expected::Undetermined(_)) {
                undetermined += 1;
                continue;
            }
            let inputs = &inputs[lane * INPUTS..][..INPUTS];
            for k in 0..samples {
                let Some(value) = sample(&steps, inputs, random, k % 2 == 1) else { continue };
                let permitted = expected.permits(u64::from(value.to_bits()));
                assert_eq!(permitted, Some(true), "{value:e} of {inputs:?} by {text}: {expected:?}");
                inside += 1;
            }
        }
    }
    (inside, undetermined, lanes)
}

#[test]
fn every_sample_of_sums_and_products_lies_in_the_set() {
    let (inside, undetermined, lanes) = compare(800, 250, 1, true);
    assert!(inside > 600_000, "{inside} samples");
    assert!(undetermined * 20 < lanes, "{undetermined} of {lanes} undetermined");
}

#[test]
fn every_sample_with_quotients_and_roots_lies_in_the_set() {
    let (inside, _, _) = compare(400, 250, 2, false);
    assert!(inside > 150_000, "{inside} samples");
}

/// Checks that every sample of a program of these steps, for random inputs with exponents in that
/// range, lies in its set. Returns the number of samples.
fn sample_one(steps: &[Step], exponents: std::ops::Range<i32>, seed: u64) -> usize {
    let random = &mut Random(seed);
    let mut inside = 0;
    let text = text(steps, 1);
    let program = Program::new(&wgsl(&text), "main", &SpecValues::new()).expect("a program");
    for _ in 0..300 {
        let number = |random: &mut Random| {
            let exponent = exponents.start + random.below(exponents.len()) as i32;
            let fraction = 1.0 + random.below(1 << 23) as f32 / (1 << 23) as f32;
            fraction * 2f32.powi(exponent) * if random.below(2) == 0 { 1.0 } else { -1.0 }
        };
        let inputs = [0; INPUTS].map(|_| number(random));
        let outcome = run_program(&program, [1; 3], vec![floats(&inputs), floats(&[0.0])]);
        let expected = word(&outcome, 1, 0);
        for k in 0..200 {
            let Some(value) = sample(steps, &inputs, random, k % 4 != 0) else { continue };
            match expected.permits(u64::from(value.to_bits())) {
                Some(permitted) => {
                    assert!(permitted, "{value:e} of {inputs:?} by {text}: {expected:?}");
                    inside += 1;
                }
                None => break,
            }
        }
    }
    inside
}

#[test]
fn every_product_of_sums_that_is_a_difference_of_squares_lies_in_the_set() {
    let squares = [Step::Input(0), Step::Input(1), Step::Input(2), Step::Mul(0, 0), Step::Mul(1, 1), Step::Sub(3, 4)];
    assert!(sample_one(&squares, -2..2, 3) > 50_000);
    // With a summand added, and with a factor.
    let added = [&squares[..], &[Step::Add(5, 2)]].concat();
    assert!(sample_one(&added, -1..1, 4) > 50_000);
    let times = [&squares[..], &[Step::Mul(5, 2)]].concat();
    assert!(sample_one(&times, -1..1, 5) > 50_000);
    let fourth = [&squares[..5], &[Step::Mul(3, 3), Step::Mul(4, 4), Step::Sub(5, 6)]].concat();
    assert!(sample_one(&fourth, -1..1, 6) > 50_000);
}

#[test]
fn every_quotient_by_one_divisor_after_another_lies_in_the_set() {
    let by_product = [Step::Input(0), Step::Input(1), Step::Input(2), Step::Mul(1, 2), Step::Div(0, 3)];
    let twice = [Step::Input(0), Step::Input(1), Step::Input(2), Step::Div(0, 1), Step::Div(3, 2)];
    let times = [Step::Input(0), Step::Input(1), Step::Input(2), Step::Mul(0, 1), Step::Div(3, 2)];
    for (seed, steps) in (7..).zip([&by_product, &twice, &times]) {
        assert!(sample_one(steps, -100..100, seed) > 4_000);
        assert!(sample_one(steps, -8..8, seed) > 50_000);
    }
}

/// Lengths, dot products and the like of vectors that are sets: results of a plain evaluation with
/// either neighbour lie inside, and distant values do not.
#[test]
fn functions_of_vectors_of_sets_contain_a_plain_evaluation() {
    let text = "@group(0) @binding(0) var<storage, read> a: array<f32>;
        @group(0) @binding(1) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn main() {
            let v = vec3(a[0], a[1], a[2]) * 0.1;
            let w = vec3(a[2], a[0], a[1]) * 0.3;
            out[0] = length(v); out[1] = distance(v, w); out[2] = normalize(v).x; out[3] = cross(v, w).y;
            out[4] = dot(v, w); out[5] = reflect(v, w).z; out[6] = fma(v.x, w.y, v.z);
        }";
    let program = Program::new(&wgsl(text), "main", &SpecValues::new()).expect("a program");
    let random = &mut Random(5);
    for _ in 0..40 {
        let inputs: Vec<f32> = (0..3).map(|_| random.below(2000) as f32 * 0.0123 - 10.0).collect();
        let outcome = run_program(&program, [1; 3], vec![floats(&inputs), floats(&[0.0; 7])]);
        for _ in 0..50 {
            let mut scaled = |k: usize, by: f32| f64::from(either(f64::from(inputs[k]) * f64::from(by), random));
            let v = [scaled(0, 0.1), scaled(1, 0.1), scaled(2, 0.1)];
            let w = [scaled(2, 0.3), scaled(0, 0.3), scaled(1, 0.3)];
            let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            let apart = [v[0] - w[0], v[1] - w[1], v[2] - w[2]];
            let results = [
                dot(v, v).sqrt(),
                dot(apart, apart).sqrt(),
                v[0] / dot(v, v).sqrt(),
                v[2] * w[0] - v[0] * w[2],
                dot(v, w),
                v[2] - 2.0 * dot(w, v) * w[2],
                v[0] * w[1] + v[2],
            ];
            for (i, result) in results.into_iter().enumerate() {
                let value = either(result, random);
                let size = dot(v, v) + dot(w, w) + 1.0;
                assert!(permits(&outcome, 1, i, value), "{i} of {inputs:?}: {value} not in {:?}", word(&outcome, 1, i));
                let far = (result + 1e-3 * size * size) as f32;
                assert!(!permits(&outcome, 1, i, far), "{i} of {inputs:?}: {far} in {:?}", word(&outcome, 1, i));
            }
        }
    }
}
