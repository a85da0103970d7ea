//! Results that depend on the subgroup layout, which an instrumented run records; subgroup options
//! of the pipeline; benign races.

use crate::support::{SpoiltRecords, on_each_driver, wgsl};
use assay_check::{Check, MutatingTarget, Mutation, Options};
use assay_events::{CheckResult, Status};
use assay_exec::{SubgroupControl, Target};
use assay_oracle::Slot;
use assay_vulkan_exec::VulkanTarget;

/// Adds in subgroups, some invocations of which have returned.
const SUMS: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {
    let x = data[id.x] & 255u;
    if (x & 3u) == 0u { return; }
    data[id.x] = subgroupAdd(x) * 2u + subgroupExclusiveAdd(x);
}";

/// One invocation of each subgroup writes.
const ELECTED: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(32) fn main(
    @builtin(workgroup_id) group: vec3u, @builtin(subgroup_id) subgroup: u32, @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_invocation_id) place: u32,
) {
    if subgroupBroadcastFirst(place) == place { data[group.x * 32u + subgroup] = subgroups * 100u + subgroup; }
}";

const BALLOTS: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<vec4<u32>>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {
    data[id.x] = subgroupBallot((data[id.x].x & 1u) == 0u);
}";

const SHUFFLES: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(32) fn main(
    @builtin(global_invocation_id) id: vec3u, @builtin(subgroup_invocation_id) place: u32,
) {
    let x = data[id.x];
    data[id.x] = subgroupShuffle(x, 3u - (place & 3u)) + subgroupShuffleXor(x, 1u) * 3u + subgroupBroadcastFirst(x);
}";

/// The order of atomics and the layout decide the place of an element.
const APPEND: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> count: atomic<u32>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {
    let sum = subgroupAdd(id.x);
    if subgroupBroadcastFirst(id.x) == id.x { data[atomicAdd(&count, 1u)] = sum; }
}";

/// Selects by a vote: while the layout is unknown, both values are permitted, and nothing is undetermined.
const VOTES: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {
    data[id.x] = select(7u, 9u, subgroupAll(data[id.x] % 9u < 8u));
}";

/// Selects by the result of an atomic: while its order is unknown, both values are permitted, and
/// nothing is undetermined.
const TICKETS: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> count: atomic<u32>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {
    data[id.x] = select(7u, 9u, atomicAdd(&count, 1u) < 5u);
}";

fn options() -> Options {
    Options { rounds: 1, groups: Some([2, 1, 1]), ..Options::default() }
}

/// As [`options`], with a count of zero for [`APPEND`] and [`TICKETS`].
fn options_of(text: &str) -> Options {
    let zeros = ("count".parse().unwrap(), "zeros".parse().unwrap());
    Options { inputs: if [APPEND, TICKETS].contains(&text) { vec![zeros] } else { Vec::new() }, ..options() }
}

#[test]
fn results_are_determined_under_the_layout_of_an_instrumented_run() {
    for (text, note) in [
        (SUMS, "on the subgroup layout"),
        (ELECTED, "on the subgroup layout"),
        (BALLOTS, "on the subgroup layout"),
        (SHUFFLES, "on the subgroup layout"),
        (APPEND, "on the subgroup layout or atomic ordering"),
    ] {
        let shader = wgsl(text);
        let check = Check::new(&shader, &options_of(text)).unwrap();
        on_each_driver(|target| {
            let result = check.run(target).unwrap();
            if result.status == Status::NotSupported {
                return;
            }
            assert_eq!(result.status, Status::Pass, "{text}: {:?}, {:?}", result.reason, result.mismatches);
            assert_eq!(result.elements_undetermined, 0, "{text}: {:?}, {:?}", result.undetermined, result.notes);
            let says = |part: &str| result.notes.iter().any(|note| note.contains(part));
            assert!(says(note) && says("observed in an instrumented run"), "{text}: {:?}", result.notes);
        });
    }
}

#[test]
fn planted_errors_in_layout_dependent_results_are_found() {
    for (text, mutation) in [
        (SUMS, "off-by-one@OpGroupNonUniformIAdd"),
        (ELECTED, "off-by-one@OpIMul"),
        (BALLOTS, "off-by-one@OpGroupNonUniformBallot"),
        (SHUFFLES, "off-by-one@OpGroupNonUniformShuffleXor"),
        (APPEND, "lost-atomic"),
        (VOTES, "negation@OpGroupNonUniformAll"),
        (TICKETS, "negation@OpULessThan"),
    ] {
        let shader = wgsl(text);
        let check = Check::new(&shader, &options_of(text)).unwrap();
        let planted = mutation.parse::<Mutation>().unwrap().plant(&shader.source.module, "main").unwrap();
        on_each_driver(|target| {
            let result = check.run(&MutatingTarget::new(target, planted.clone())).unwrap();
            let caught = matches!(result.status, Status::Fail | Status::NotSupported);
            assert!(caught, "{mutation}: {:?}, {:?}", result.undetermined, result.notes);
        });
    }
}

/// A sign of zero that only the lenient reading of a copy permits leaves nothing else unchecked.
#[test]
fn results_beside_a_lenient_copy_are_determined() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @group(0) @binding(1) var<storage, read> zeros: array<f32>;
        @group(0) @binding(2) var<storage, read_write> copies: array<f32>;
        @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {
            copies[id.x] = zeros[id.x];
            data[id.x] = subgroupAdd(data[id.x] & 255u);
        }";
    let zeros = ("zeros".parse().unwrap(), "zeros".parse().unwrap());
    let shader = wgsl(text);
    let check = Check::new(&shader, &Options { inputs: vec![zeros], ..options() }).unwrap();
    on_each_driver(|target| {
        let spoil = |copies: &mut [u8]| copies[3] = 0x80;
        let result = check.run(&SpoiltRecords { inner: target, records: Slot::new(0, 2), spoil }).unwrap();
        assert!(matches!(result.status, Status::QualityWarning | Status::NotSupported), "{result:?}");
        assert_eq!(result.elements_undetermined, 0, "{result:?}");
    });
}

/// Each invocation records three words: `SubgroupId`, `SubgroupLocalInvocationId`, `SubgroupSize`.
#[test]
fn an_impossible_layout_of_an_instrumented_run_is_a_failure() {
    let shader = wgsl(BALLOTS);
    let check = Check::new(&shader, &options()).unwrap();
    let spoilt = |target: &VulkanTarget, spoil: &dyn Fn(&mut [u8])| -> CheckResult {
        check.run(&SpoiltRecords { inner: target, records: Slot::new(0, 1), spoil }).unwrap()
    };
    on_each_driver(|target| {
        for (byte, value, says) in
            [(12 + 4, 0, "so does invocation 0"), (4, 200, "subgroups have"), (8, 3, "permitted: ")]
        {
            let result = spoilt(target, &|records| records[byte] = value);
            assert_eq!(result.status, Status::Fail, "{says}: {result:?}");
            let [mismatch] = &result.mismatches[..] else { panic!("{:?}", result.mismatches) };
            assert_eq!((mismatch.class.as_str(), mismatch.buffer.as_str()), ("ImpossibleLayout", "subgroup built-ins"));
            assert!(mismatch.got.contains(says), "{says}: {mismatch:?}");
        }
        // A possible layout that is not the one of the results.
        let exchanged = spoilt(target, &|records| (0..4).for_each(|byte| records.swap(4 + byte, 12 + 4 + byte)));
        assert_eq!(exchanged.status, Status::Fail, "{exchanged:?}");
    });
}

/// A store at an index that is nearly anything may have damaged the records.
#[test]
fn an_impossible_layout_of_a_doubtful_shader_accuses_nobody() {
    let text = BALLOTS.replacen('{', "{ wild[u32(sin(f32(id.x) * 1000.0 + 500.0) * 100.0)] = 0u;", 1);
    let shader = wgsl(&format!("@group(0) @binding(1) var<storage, read_write> wild: array<u32>;\n{text}"));
    let check = Check::new(&shader, &options()).unwrap();
    on_each_driver(|target| {
        let spoil = |records: &mut [u8]| records[8] = 3;
        let result = check.run(&SpoiltRecords { inner: target, records: Slot::new(0, 2), spoil }).unwrap();
        assert_ne!(result.status, Status::Fail, "{result:?}");
        assert!(result.notes.iter().any(|note| note.contains("proves nothing")), "{result:?}");
    });
}

#[test]
fn a_shader_that_is_undefined_in_the_observed_layout_is_undetermined() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(8) fn main(
            @builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) place: u32,
        ) { data[select(i, 1000u, i == 1u && place == 1u)] = i; }";
    let shader = wgsl(text);
    let check = Check::new(&shader, &Options { rounds: 1, groups: Some([1; 3]), ..Options::default() }).unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert_eq!((result.status, result.rounds_checked), (Status::Undetermined, 0), "{result:?}");
        let reason = result.reason.as_deref().unwrap();
        assert!(reason.starts_with("the shader has undefined behaviour with subgroups of "), "{reason}");
    });
}

#[test]
fn a_required_subgroup_size_and_full_subgroups_need_the_device() {
    let with = |size, full| Options { subgroup_control: SubgroupControl { size, full }, ..options() };
    let shader = wgsl(BALLOTS);
    on_each_driver(|target| {
        let caps = target.capabilities();
        let size = u32::try_from(caps.properties["subgroupSize"]).unwrap();
        let run = |size, full| Check::new(&shader, &with(size, full)).unwrap().run(target).unwrap();
        let sizes =
            caps.features.contains("subgroupSizeControl") && caps.properties["requiredSubgroupSizeStages"] & 32 != 0;
        let required = run(Some(size), false);
        let expected = if sizes { Status::Pass } else { Status::NotSupported };
        assert_eq!(required.status, expected, "{required:?}");
        let full = run(None, true);
        let expected = if caps.features.contains("computeFullSubgroups") { Status::Pass } else { Status::NotSupported };
        assert_eq!(full.status, expected, "{full:?}");
        let other = run(Some(128), false);
        assert_eq!(other.status, Status::NotSupported, "{other:?}");
        assert!(
            other.reason.as_deref().is_some_and(|reason| reason.starts_with("a subgroup size of 128: ")),
            "{other:?}"
        );
        if caps.features.contains("computeFullSubgroups") {
            let odd = wgsl(&BALLOTS.replace("workgroup_size(32)", "workgroup_size(31)"));
            let refused = Check::new(&odd, &with(None, true)).unwrap().run(target).unwrap_err().to_string();
            assert!(refused.contains("31 is not a multiple of"), "{refused}");
        }
    });
}

#[test]
fn benign_races_are_permitted_on_request_only() {
    let shader = |value: &str| {
        wgsl(&format!(
            "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
            @group(0) @binding(1) var<storage, read_write> flag: u32;
            @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {{
                data[id.x] = id.x * 3u;
                flag = {value};
            }}"
        ))
    };
    let permitting = Options { benign_races: true, ..options() };
    let equal = shader("7u");
    on_each_driver(|target| {
        let result = Check::new(&equal, &permitting).unwrap().run(target).unwrap();
        assert_eq!(result.status, Status::QualityWarning, "{result:?}");
        assert_eq!(result.elements_undetermined, 0, "{result:?}");
        let reason = result.reason.as_deref().unwrap();
        let parts = ["data race on set 0 binding 1 (flag)", "stores the same value", "undefined behaviour"];
        assert!(parts.iter().all(|part| reason.contains(part)), "{reason}");
        let refused = |value: &str, options: &Options| {
            let refused = Check::new(&shader(value), options).unwrap().run(target).unwrap_err().to_string();
            assert!(refused.contains("data race"), "{value}: {refused}");
        };
        refused("7u", &options());
        refused("id.x", &permitting);
        refused("id.x / 32u", &permitting);
        // A racing read is not benign.
        refused("flag", &permitting);
        let planted = "off-by-one@OpIMul".parse::<Mutation>().unwrap().plant(&equal.source.module, "main").unwrap();
        let spoilt = Check::new(&equal, &permitting).unwrap().run(&MutatingTarget::new(target, planted)).unwrap();
        assert_eq!(spoilt.status, Status::Fail, "{spoilt:?}");
        assert!(spoilt.reason.as_deref().is_some_and(|reason| reason.contains("data race")), "{spoilt:?}");
    });
}
