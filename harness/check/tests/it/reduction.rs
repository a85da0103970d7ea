//! Tests of reduction.

use crate::support::{SyntheticTarget, on_each_driver, wgsl};
use assay_check::{
    BindingSource, Check, CheckSession, Diagnosis, MutatingTarget, Mutation, Options, ReductionLimits, SessionOutput,
    ShaderSource, bundle, reduce,
};
use assay_events::{CheckResult, DeviceInfo, Status};
use assay_exec::{AllocatedDispatch, DispatchOutput, DispatchRequest, ExecError, Target, TargetError};
use assay_oracle::Robustness;
use assay_spirv_rules::requirements::DeviceCaps;
use std::{cell::Cell, time::Duration};

fn effort(candidates: usize) -> ReductionLimits {
    ReductionLimits { candidates, time: Duration::from_secs(300) }
}

const SHADER: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> other: array<u32>;
@group(0) @binding(2) var<storage, read> table: array<u32>;
fn mix(a: u32, b: u32) -> u32 { return (a ^ b) * 2654435761u; }
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var h = table[id.x];
    for (var i = 0u; i < 4u; i++) {
        h = mix(h, i) + (h >> 3u);
        other[id.x] = h | 5u;
    }
    let sum = h - table[id.x] / 3u;
    data[id.x] = sum;
    if (sum > 100u) { other[id.x] = sum & 0xffu; }
}";

#[test]
fn a_reduced_failure_is_smaller_and_has_the_same_signature() {
    let shader = wgsl(SHADER);
    let mutation: Mutation = "off-by-one@OpISub".parse().unwrap();
    let check = Check::new(&shader, &Options::default()).unwrap();
    let planted = mutation.plant(&shader.source.module, "main").unwrap();
    let target = MutatingTarget::new(SyntheticTarget::default(), planted);
    let mut result = check.run(&target).unwrap();
    check.explain(&mut result, &target, true);
    let reduced = reduce(&check, &result, &target, effort(300)).unwrap();
    let [before, after] = reduced.instructions;
    let text = reduced.shader.source.disassemble().unwrap();
    assert!(after * 4 < before, "{before} to {after}: {text}");
    assert!(!text.contains("OpBranch"), "the loop and the blocks are gone: {text}");
    assert_eq!(reduced.options.groups, Some([1, 1, 1]));
    assert_eq!((reduced.result.status, reduced.result.blamed[0].name.as_str()), (Status::Fail, "OpISub"));
    // The result still fails with the planted error, and passes without it.
    let bytes: Vec<u8> = reduced.shader.source.module.words().iter().flat_map(|w| w.to_le_bytes()).collect();
    let again = ShaderSource::read("again.spv", &bytes).unwrap();
    let again = Check::new(&again, &reduced.options).unwrap();
    assert_eq!(again.run(&target).unwrap().status, Status::Fail);
    assert_eq!(again.run(&SyntheticTarget::default()).unwrap().status, Status::Pass);
}

/// Robustness and the recorded subgroup layout stay in effect in a reduction.
#[test]
fn a_reduction_keeps_robustness_and_subgroup_records() {
    let apart = "@group(0) @binding(0) var<storage> given: array<u32>;
        @group(0) @binding(1) var<storage, read_write> to: array<u32>;
        @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) { to[id.x] = given[id.x * 2u] * 3u + 1u; }";
    let seats = "@group(0) @binding(0) var<storage, read_write> seats: array<array<u32, 3>>;
        @group(0) @binding(1) var<storage, read_write> to: array<u32>;
        @compute @workgroup_size(32) fn main(
            @builtin(global_invocation_id) at: vec3u, @builtin(subgroup_id) id: u32,
            @builtin(subgroup_invocation_id) place: u32, @builtin(subgroup_size) size: u32,
        ) {
            seats[at.x] = array(id, place, size);
            to[at.x] = subgroupMin(to[at.x]);
        }";
    let robust = Options { robustness: Some(Robustness::Access2), ..Options::default() };
    let recorded = Options { subgroups: Some("seats".parse().unwrap()), ..Options::default() };
    for (text, options, mutation) in
        [(apart, robust, "off-by-one@OpIAdd"), (seats, recorded, "off-by-one@OpGroupNonUniformUMin")]
    {
        let shader = wgsl(text);
        let check = Check::new(&shader, &options).unwrap();
        let planted = mutation.parse::<Mutation>().unwrap().plant(&shader.source.module, "main").unwrap();
        on_each_driver(|target| {
            let target = MutatingTarget::new(target, planted.clone());
            let mut result = check.run(&target).unwrap();
            if result.status == Status::NotSupported {
                return;
            }
            assert_eq!(result.status, Status::Fail, "{result:?}");
            check.explain(&mut result, &target, false);
            let reduced = reduce(&check, &result, &target, effort(20)).unwrap();
            assert_eq!(reduced.result.status, Status::Fail);
            assert_eq!(reduced.options.robustness.unwrap_or_default(), options.robustness.unwrap_or_default());
            assert_eq!(reduced.options.subgroups.is_some(), options.subgroups.is_some());
        });
    }
}

/// A function that is called in a loop, with operands from workgroup memory after a barrier,
/// reduces to little.
#[test]
fn a_reduction_removes_loops_calls_and_shared_memory() {
    let shader = wgsl(
        "@group(0) @binding(0) var<storage, read> x: array<u32>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        var<workgroup> s: array<u32, 64>;
        fn f(v: u32) -> u32 { if (v > 5u) { return countOneBits(v); } return v * 3u; }
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) g: vec3u, @builtin(local_invocation_index) i: u32) {
            s[i] = x[g.x];
            workgroupBarrier();
            var a = 0u;
            for (var k = 0u; k < 4u; k++) { a += f(s[(i + k) & 63u]); }
            o[g.x] = a;
        }",
    );
    let mutation: Mutation = "off-by-one@OpBitCount".parse().unwrap();
    let check = Check::new(&shader, &Options::default()).unwrap();
    let planted = mutation.plant(&shader.source.module, "main").unwrap();
    let target = MutatingTarget::new(SyntheticTarget::default(), planted);
    let mut result = check.run(&target).unwrap();
    check.explain(&mut result, &target, false);
    let reduced = reduce(&check, &result, &target, effort(500)).unwrap();
    let text = reduced.shader.source.disassemble().unwrap();
    for gone in ["OpLoopMerge", "OpControlBarrier", "Workgroup", "OpPhi", "OpIAdd"] {
        assert!(!text.contains(gone), "{gone}: {text}");
    }
    assert!(text.contains("OpBitCount") && text.contains("LocalSize 1 1 1") && reduced.instructions[1] < 20, "{text}");
    let bytes = |options: &Options| {
        let sizes = options.inputs.iter().map(|(_, source)| match source {
            BindingSource::Bytes(bytes) => bytes.len(),
            _ => 0,
        });
        sizes.sum::<usize>()
    };
    assert!(bytes(&reduced.options) <= 8, "{:?}", reduced.options.inputs);
}

/// A device that hangs after a number of runs.
struct HangingTarget<T> {
    target: T,
    left: Cell<u32>,
}

impl<T: Target> Target for HangingTarget<T> {
    fn info(&self) -> &DeviceInfo {
        self.target.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        self.target.capabilities()
    }

    fn allocate(&self, request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        self.target.allocate(request)
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                self.target.run(request)
            }
            None => Err(TargetError::Failed(ExecError::Timeout("it does not end".into()))),
        }
    }
}

#[test]
fn a_reduction_stops_after_a_candidate_that_hangs() {
    let shader = wgsl(SHADER);
    let mutation: Mutation = "off-by-one@OpISub".parse().unwrap();
    let check = Check::new(&shader, &Options::default()).unwrap();
    let planted = mutation.plant(&shader.source.module, "main").unwrap();
    let hanging = HangingTarget { target: SyntheticTarget::default(), left: Cell::new(30) };
    let target = MutatingTarget::new(hanging, planted);
    let mut result = check.run(&target).unwrap();
    check.explain(&mut result, &target, false);
    let reduced = reduce(&check, &result, &target, effort(500)).unwrap();
    assert_eq!(reduced.stopped.as_deref(), Some("a candidate ended with Timeout"));
    assert_eq!(reduced.result.status, Status::Fail);
    let none = reduce(&check, &result, &HangingTarget { target, left: Cell::new(0) }, effort(500));
    assert!(none.unwrap_err().to_string().contains("nothing to reduce"));
}

/// A compiler that crashes on a division, and in another way on a shader without a multiplication.
fn crashing_device(shader: &ShaderSource, options: &Options) -> Result<Option<CheckResult>, String> {
    let Ok(check) = Check::new(shader, options) else { return Ok(None) };
    let Ok(result) = check.run(&SyntheticTarget::default()) else { return Ok(None) };
    let text = shader.source.disassemble().map_err(|error| error.to_string())?;
    let crash = |signal: &str| {
        check.not_run(Status::Crash, format!("its process was ended by {signal}, while running round 0"))
    };
    Ok(Some(match (text.contains("OpUDiv"), text.contains("OpIMul")) {
        (true, true) => crash("SIGSEGV"),
        (_, false) => crash("SIGABRT"),
        (false, true) => result,
    }))
}

#[test]
fn a_shader_that_crashes_the_driver_is_reduced() {
    let shader = wgsl(SHADER);
    let mut session = CheckSession::new(shader, Options::default());
    let check = session.check().unwrap();
    let mut result = crashing_device(check.shader, &session.options).unwrap().expect("a result");
    let folder = tempfile::tempdir().unwrap();
    let output = SessionOutput { folder: Some(folder.path()), command: &[] };
    let device = (&DeviceInfo::default(), &crashing_device as _);
    session.reduce_end(&check, &mut result, device, output).unwrap();
    assert_eq!(result.notes, [] as [String; 0], "nobody asked for it");
    drop(check);
    session.diagnosis = Diagnosis { reduce: true, ..Diagnosis::default() };
    let check = session.check().unwrap();
    session.reduce_end(&check, &mut result, device, output).unwrap();
    assert!(result.notes[0].starts_with("reduced from "), "{:?}", result.notes);
    let reduced = bundle::read(&folder.path().join("reduced"), None).unwrap();
    let text = reduced.shader.source.disassemble().unwrap();
    assert!(text.contains("OpUDiv") && text.contains("OpIMul") && !text.contains("OpPhi"), "{text}");
    assert_eq!(crashing_device(&reduced.shader, &reduced.options).unwrap().expect("a result").reason, result.reason);
}

#[test]
fn an_interrupted_reduction_keeps_what_it_has() {
    let mut session = CheckSession::new(wgsl(SHADER), Options::default());
    session.diagnosis = Diagnosis { reduce: true, ..Diagnosis::default() };
    let check = session.check().unwrap();
    let mut result = crashing_device(check.shader, &session.options).unwrap().expect("a result");
    let left = Cell::new(20);
    let run = |shader: &ShaderSource, options: &Options| {
        left.set(left.get() - 1);
        if left.get() == 0 { Err("it was interrupted".to_owned()) } else { crashing_device(shader, options) }
    };
    let folder = tempfile::tempdir().unwrap();
    let output = SessionOutput { folder: Some(folder.path()), command: &[] };
    session.reduce_end(&check, &mut result, (&DeviceInfo::default(), &run), output).unwrap();
    assert_eq!(left.get(), 0, "nothing runs afterwards");
    assert!(result.notes[0].contains("the reduction stopped early: it was interrupted"), "{:?}", result.notes);
    assert!(bundle::read(&folder.path().join("reduced"), None).is_ok());
}

#[test]
fn a_passing_check_is_not_reduced() {
    let shader = wgsl(SHADER);
    let check = Check::new(&shader, &Options::default()).unwrap();
    let target = SyntheticTarget::default();
    let result = check.run(&target).unwrap();
    let error = reduce(&check, &result, &target, effort(50)).unwrap_err().to_string();
    assert!(error.contains("nothing to reduce"), "{error}");
}
