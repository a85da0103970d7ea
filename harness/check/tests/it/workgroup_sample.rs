//! Tests of checks of a subset of the invocations.

use crate::support::{SyntheticTarget, on_each_driver, spoilt, wgsl};
use assay_check::{Check, CheckError, Options};
use assay_events::{CheckResult, Status, WorkgroupSubset};
use assay_oracle::{Limits, Slot};

const SHADER: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    data[id.x] = data[id.x] * 3u + id.x;
}";

/// 64 workgroups, 4 of them checked.
fn options() -> Options {
    let limits = Limits { invocations: 1024, ..Limits::default() };
    Options { groups: Some([16, 4, 1]), checked_invocations: Some(100), rounds: 1, limits, ..Options::default() }
}

fn flat() -> Options {
    Options { groups: Some([64, 1, 1]), ..options() }
}

fn with(result: &CheckResult) -> (Status, Option<WorkgroupSubset>, u64, u64) {
    (result.status, result.sampled, result.elements_checked, result.elements_failing)
}

#[test]
fn a_workgroup_subset_is_checked_and_reported() {
    let shader = wgsl(SHADER);
    let check = Check::new(&shader, &flat()).unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        let sampled = Some(WorkgroupSubset { workgroups: 4, of: 64, invocations: None, elements_beyond: 60 * 32 });
        assert_eq!(with(&result), (Status::Pass, sampled, 4 * 32, 0));
        assert_eq!(result.instructions % 4, 0);
    });
    // A subset as large as the dispatch is the whole dispatch.
    let all = Options { checked_invocations: Some(1 << 20), limits: Limits::default(), ..flat() };
    let result = Check::new(&shader, &all).unwrap();
    on_each_driver(|target| assert_eq!(with(&result.run(target).unwrap()), (Status::Pass, None, 64 * 32, 0)));
}

/// A resource that is only read is not checked with a subset of all workgroups either.
#[test]
fn only_writable_elements_count_as_outside_the_subset() {
    let text = SHADER.replace("data[id.x] * 3u", "given[id.x]").replace(
        "@compute",
        "@group(0) @binding(1) var<storage, read> given: array<u32>;
         @compute",
    );
    let sampled = Some(WorkgroupSubset { workgroups: 4, of: 64, invocations: None, elements_beyond: 60 * 32 });
    assert_eq!(with(&spoilt(&text, &flat(), |_| {})), (Status::Pass, sampled, 4 * 32, 0));
}

#[test]
fn a_failure_in_the_subset_is_confirmed_with_all_workgroups() {
    let spoil = |element: usize| {
        spoilt(SHADER, &flat(), move |output| output.memory.get_mut(&Slot::new(0, 0)).unwrap()[4 * element] ^= 1)
    };
    // The last workgroup is in every subset. The second is in small ones only by chance, and the
    // seed is fixed.
    let result = spoil(63 * 32 + 5);
    assert_eq!((result.status, result.elements_failing, result.elements_checked), (Status::Fail, 1, 64 * 32));
    assert!(result.notes.iter().any(|note| note.contains("all invocations were checked")), "{:?}", result.notes);
    assert_eq!(result.sampled, None);
    assert_eq!(spoil(32 + 5).status, Status::Pass);
}

/// The invocations of a workgroup do not communicate, so that a few of them stand for it.
#[test]
fn some_invocations_of_a_workgroup_are_checked() {
    let few = Options { checked_invocations: Some(16), ..flat() };
    let shader = wgsl(SHADER);
    let check = Check::new(&shader, &few).unwrap();
    let sampled = WorkgroupSubset { workgroups: 1, of: 64, invocations: Some(16), elements_beyond: 64 * 32 - 16 };
    on_each_driver(|target| {
        assert_eq!(with(&check.run(target).unwrap()), (Status::Pass, Some(sampled), 16, 0));
    });
    let spoil = |element: usize| {
        spoilt(SHADER, &few, move |output| output.memory.get_mut(&Slot::new(0, 0)).unwrap()[4 * element] ^= 1)
    };
    // The first and the last invocation of the first workgroup are in every subset.
    for element in [0, 31] {
        let result = spoil(element);
        assert_eq!((result.status, result.elements_failing, result.elements_checked), (Status::Fail, 1, 64 * 32));
    }
    assert_eq!(spoil(32).status, Status::Pass);
    // Invocations that wait for each other are interpreted together.
    let waiting = SHADER.replace("data[id.x] =", "workgroupBarrier(); data[id.x] =");
    let result = spoilt(&waiting, &few, |_| {});
    let sampled = WorkgroupSubset { workgroups: 1, of: 64, invocations: None, elements_beyond: 63 * 32 };
    assert_eq!(with(&result), (Status::Pass, Some(sampled), 32, 0));
}

/// The work of a workgroup is beyond its limit and that of the checked part within it. The limit must not
/// turn a wrong element into an error.
#[test]
fn a_failure_in_a_part_of_a_heavy_workgroup_is_confirmed_with_all_invocations() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var sum = id.x;
            for (var i = 0u; i < 3000u; i++) { sum = sum * 5u + i; }
            data[id.x] = sum;
        }";
    let limits = Limits { work_per_group: 1 << 21, ..Limits::default() };
    let options =
        Options { groups: Some([2, 1, 1]), checked_invocations: Some(16), rounds: 1, limits, ..Options::default() };
    let shader = wgsl(text);
    let whole = Options { checked_invocations: None, ..options.clone() };
    let refused = Check::new(&shader, &whole).unwrap().run(&SyntheticTarget::spoilt(|_| {}));
    assert!(refused.unwrap_err().to_string().contains("endlessly"));
    let spoil = |element: usize| {
        spoilt(text, &options, move |output| output.memory.get_mut(&Slot::new(0, 0)).unwrap()[4 * element] ^= 1)
    };
    let result = spoil(63);
    assert_eq!((result.status, result.elements_failing, result.elements_checked), (Status::Fail, 1, 128));
    let result = spoil(64);
    assert_eq!((result.status, result.elements_checked), (Status::Pass, 16), "the second workgroup is not checked");
}

#[test]
fn a_race_outside_the_subset_is_not_a_device_failure() {
    // A workgroup inside the subset and one outside it write the same words.
    let racy = SHADER.replace("data[id.x] =", "data[select(id.x, id.x % 32u, id.x / 32u == 1u)] =");
    let shader = wgsl(&racy);
    let check = Check::new(&shader, &flat()).unwrap();
    // A device whose output is that of the other workgroup.
    let other = SyntheticTarget::spoilt(|output| output.memory.get_mut(&Slot::new(0, 0)).unwrap()[..32 * 4].fill(7));
    match check.run(&other) {
        Err(error @ CheckError::Undefined { .. }) => assert!(error.to_string().contains("data race"), "{error}"),
        other => panic!("expected a refusal: {other:?}"),
    }
    // Results of atomics are undetermined.
    let counted = SHADER
        .replace("array<u32>", "array<atomic<u32>>")
        .replace("data[id.x] = data[id.x] * 3u + id.x;", "atomicAdd(&data[id.x % 32u], 1u);");
    let shader = wgsl(&counted);
    let check = Check::new(&shader, &flat()).unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert_eq!(result.status, Status::Undetermined, "{result:?}");
        assert_eq!((result.elements_undetermined, result.elements_checked), (32, 0));
    });
}

#[test]
fn a_too_large_dispatch_is_refused_with_its_cost() {
    let shader = wgsl(SHADER);
    let check = Check::new(&shader, &Options { checked_invocations: None, ..options() }).unwrap();
    on_each_driver(|target| {
        let text = check.run(target).unwrap_err().to_string();
        for part in ["2048 invocations, more than the limit of 1024", "instructions", "--sample N"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    });
    // Few invocations, each with many instructions.
    let long = SHADER.replace("* 3u", "* u32(firstLeadingBit(f(id.x)))")
        + "fn f(x: u32) -> u32 {
        var y = x;
        for (var i = 0u; i < 50000u; i++) { y = y * 5u + i; }
        return y;
    }";
    let (shader, limits) = (wgsl(&long), Limits::default());
    let check =
        Check::new(&shader, &Options { checked_invocations: None, groups: Some([8192, 1, 1]), limits, ..options() })
            .unwrap();
    on_each_driver(|target| {
        let text = check.run(target).unwrap_err().to_string();
        for part in [
            "262144 invocations",
            "instructions, estimated from the first workgroup), more than the limit of 2e10",
            "--patience",
            "--sample N",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    });
}
