//! Mutation score of checks: the share of planted errors that they would notice.

use crate::support::{SyntheticTarget, on_each_driver, wgsl};
use assay_check::{CheckSession, MutatingTarget, Mutation, Options, ParameterSearch, SessionOutput, search_parameters};
use assay_events::{CheckResult, MutationScore, PlantedErrors, Status};
use assay_exec::Target;

/// A blend, whose weight decides if the sine has an influence on the output.
const BLEND: &str = "struct Params { weight: f32 }
    @group(0) @binding(0) var<storage, read_write> data: array<f32>;
    @group(0) @binding(1) var<uniform> p: Params;
    @group(0) @binding(2) var<storage, read> source: array<f32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        let x = source[id.x];
        let y = (x * 1.5 + 2.0) * (x - 0.75) * 0.5 + 0.125;
        data[id.x] = x + y * p.weight;
    }";

fn with_weight(weight: &str) -> Options {
    let inputs = vec![("p".parse().unwrap(), weight.parse().unwrap())];
    Options { rounds: 1, inputs, ..Options::default() }
}

fn checked(text: &str, options: Options, target: &dyn Target) -> CheckResult {
    let session = CheckSession::new(wgsl(text), options);
    let output = SessionOutput { folder: None, command: &[] };
    session.run(&session.check().unwrap(), target, None, output, &|_| ()).unwrap()
}

fn warning(result: &CheckResult) -> Option<&String> {
    result.notes.iter().find(|note| note.starts_with("warning: ") && note.contains(" errors planted in "))
}

#[test]
fn an_output_that_depends_on_every_computation_notices_most_errors() {
    let result = checked(BLEND, with_weight("=1"), &SyntheticTarget::default());
    let score = result.mutations.as_ref().unwrap();
    let PlantedErrors { planted, noticed, .. } = score.floats;
    assert!(planted >= 6 && noticed == planted && score.unnoticed.is_empty(), "{score:?}");
    assert!(result.is_meaningful() && warning(&result).is_none(), "{result:?}");
}

/// The errors that the warning names do pass on a device, also with a thousand times their size.
#[test]
fn an_output_that_hides_computations_gets_a_warning() {
    let result = checked(BLEND, with_weight("=0"), &SyntheticTarget::default());
    assert_eq!(result.status, Status::Pass);
    let score = result.mutations.as_ref().unwrap();
    assert!(!score.is_meaningful() && !result.is_meaningful(), "{score:?}");
    let warning = warning(&result).expect("a warning");
    assert!(warning.contains(&score.unnoticed[0]) && warning.contains("try other values of --input"), "{warning}");
    let session = CheckSession::new(wgsl(BLEND), with_weight("=0"));
    let check = session.check().unwrap();
    for unnoticed in &score.unnoticed {
        let option = unnoticed.split_once("--mutate '").unwrap().1.trim_end_matches("')");
        for option in [option.to_owned(), option.replace("1000", "1000000")] {
            let mutation: Mutation = option.parse().unwrap();
            let planted = mutation.plant(&session.shader.source.module, "main").unwrap();
            on_each_driver(|target| {
                let result = check.run(&MutatingTarget::new(target, planted.clone())).unwrap();
                assert_eq!(result.status, Status::Pass, "{option}: {result:?}");
            });
        }
    }
}

/// A shader that only moves values computes nothing in which an error could be planted.
#[test]
fn a_shader_without_judged_computations_has_no_score() {
    let copy = "@group(0) @binding(0) var<storage, read_write> data: array<f32>;
        @group(0) @binding(1) var<storage, read> source: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            data[id.x] = source[id.x];
        }";
    on_each_driver(|target| {
        let of = |text: &str| checked(text, Options { rounds: 1, ..Options::default() }, target);
        let result = of(copy);
        assert_eq!((result.status, &result.mutations), (Status::Pass, &None), "{result:?}");
        assert!(result.is_meaningful());
    });
}

/// The score assumes an order of the atomics, as the check observes one.
#[test]
fn errors_are_noticed_where_the_order_of_atomics_decides_a_value() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @group(0) @binding(1) var<storage, read_write> count: atomic<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let at = atomicAdd(&count, 1u);
            data[at] = (id.x * 3u + 1u) ^ (id.x >> 2u);
        }";
    on_each_driver(|target| {
        let inputs = vec![("count".parse().unwrap(), "=0".parse().unwrap())];
        let result = checked(text, Options { rounds: 1, inputs, ..Options::default() }, target);
        let PlantedErrors { planted, noticed, .. } = result.mutations.as_ref().unwrap().integers;
        assert!(planted >= 4 && noticed == planted, "{:?}", result.mutations);
        assert!(result.status == Status::Pass && result.is_meaningful(), "{result:?}");
    });
}

/// A negated comparison and a wrong integer show, and an error that leads to an access out of bounds
/// shows in the element that is not written.
#[test]
fn errors_in_integers_and_booleans_are_noticed() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32, 64>;
        @group(0) @binding(1) var<storage, read> source: array<u32, 64>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let x = source[id.x];
            data[63u - id.x] = select(x ^ 5u, x & 3u, x > 7u);
        }";
    let options = Options { rounds: 1, groups: Some([1; 3]), ..Options::default() };
    let result = checked(text, options, &SyntheticTarget::default());
    let PlantedErrors { planted, noticed, .. } = result.mutations.as_ref().unwrap().integers;
    assert!(planted >= 4 && noticed == planted, "{:?}", result.mutations);
}

#[test]
fn the_search_prefers_parameters_with_which_errors_are_noticed() {
    let text = "struct Params { size: u32 }
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @group(0) @binding(1) var<uniform> p: Params;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let x = id.x * 3u + 1u;
            let y = (x ^ 21u) * 5u + (x >> 2u);
            data[id.x] = id.x + select(0u, y, p.size > 200u);
        }";
    let (options, target) = (Options { rounds: 1, ..Options::default() }, SyntheticTarget::default());
    let given = CheckSession::new(wgsl(text), options.clone());
    let check = given.check().unwrap();
    let ParameterSearch::Found(chosen) = search_parameters(&check, &options, (&target, &|| ())).unwrap() else {
        panic!("the defaults hide the computations")
    };
    assert!(chosen.note().contains(" errors planted in integer computations, of whatever size"), "{}", chosen.note());
    let before = checked(text, options.clone(), &target).mutations.unwrap();
    let mut options = options;
    chosen.apply(&mut options).unwrap();
    let result = checked(text, options, &target);
    let after = result.mutations.clone().unwrap();
    assert!(!before.is_meaningful() && after.is_meaningful() && result.is_meaningful(), "{before:?} {after:?}");
}

/// Errors whose effects are mostly unknown prove nothing, however few there are.
#[test]
fn a_score_of_unknown_effects_is_not_known() {
    let errors = |planted, noticed, unknown| PlantedErrors { planted, noticed, unknown };
    let score = |floats, integers| MutationScore { floats, integers, ..MutationScore::default() };
    let none = errors(0, 0, 0);
    for (floats, integers, known) in [
        (none, none, true),
        (none, errors(2, 2, 1), true),
        (none, errors(0, 0, 1), false),
        (errors(8, 8, 0), errors(0, 0, 3), true),
        (errors(8, 8, 0), errors(1, 1, 4), false),
        (errors(0, 0, 3), errors(0, 0, 3), false),
    ] {
        let score = score(floats, integers);
        assert_eq!((score.is_known(), score.is_meaningful()), (known, known), "{score:?}");
    }
    assert!(!MutationScore::unmeasured("it takes too long").is_meaningful());
}
