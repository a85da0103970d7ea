//! Shaders whose invocations race: a variant executes them one after another.

use crate::support::{SyntheticTarget, concluded, on_each_driver, wgsl};
use assay_check::{Check, CheckSession, Mutation, Options, ShaderSource};
use assay_events::{Status, TracedInstructions};
use assay_exec::DispatchOutput;
use assay_oracle::Slot;
use assay_spirv_lower::{SerialDispatch, with_serial_invocations};
use std::sync::Mutex;

/// Each invocation reads the element that the next one writes.
const RACING: &str = "@group(0) @binding(0) var<storage, read_write> data: array<f32, 256>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        data[id.x] = data[(id.x + 1u) % 256u] * 1.5;
    }";

fn searched(text: &str) -> CheckSession {
    let mut session = CheckSession::new(wgsl(text), Options::default());
    session.search(&SyntheticTarget::default(), &|| ()).unwrap();
    session
}

#[test]
fn a_shader_that_races_is_checked_one_invocation_after_another() {
    let session = searched(RACING);
    let result = concluded(&session, &SyntheticTarget::default());
    assert_eq!(result.status, Status::QualityWarning, "{result:?}");
    let reason = result.reason.as_deref().unwrap();
    assert!(reason.starts_with("data race at test.wgsl:3:9: `data[id.x] = "), "{reason}");
    assert!(
        reason.contains("(data)[1]: invocation 1, 0, 0 writes here what invocation 0, 0, 0 reads")
            && reason.contains("; with invocations executed one after another, 503 of "),
        "{reason}"
    );
    assert!(result.writes.as_ref().is_some_and(|writes| writes.written == 512) && result.is_meaningful(), "{result:?}");
    assert!(
        result.notes.iter().any(|note| note.contains("executes 256 of the 256 invocations one after another")),
        "{result:?}"
    );
    // The session in another process has the variant, too.
    let again = CheckSession::from_request(session.request()).unwrap();
    assert_eq!(concluded(&again, &SyntheticTarget::default()).status, Status::QualityWarning);
}

/// Agents read a trail at places that the permitted sine leaves open, and others write it.
fn agents(trail: &str, read: &str, write: &str) -> CheckSession {
    searched(&format!(
        "@group(0) @binding(0) var{trail};
        @group(0) @binding(1) var<storage, read_write> agents: array<f32>;
        @group(0) @binding(2) var<uniform> size: u32;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            if id.x >= arrayLength(&agents) || size == 0u {{ return; }}
            let angle = fract(abs(sin(agents[id.x] * 12.5)) * 43758.5453);
            let at = min(u32(angle * f32(size)), size - 1u);
            agents[id.x] = angle + {read} * 0.25;
            {write};
        }}"
    ))
}

#[test]
fn texels_that_may_race_are_checked_one_invocation_after_another() {
    let session = agents(
        " trail: texture_storage_2d<r32float, read_write>",
        "textureLoad(trail, vec2(at, 0u)).x",
        "textureStore(trail, vec2(min(id.x, size - 1u), 0u), vec4(angle))",
    );
    let result = concluded(&session, &SyntheticTarget::default());
    assert_eq!(result.status, Status::QualityWarning, "{result:?}");
    let reason = result.reason.as_deref().unwrap();
    assert!(
        reason.contains("data race at test.wgsl:")
            && reason.contains("; with invocations executed one after another, "),
        "{reason}"
    );
}

/// Buffers have atomic accesses, with which the instructions are checked by themselves. Invocations race with
/// most other sizes.
#[test]
fn buffers_that_may_race_are_checked_with_atomic_accesses() {
    let mut session =
        agents("<storage, read_write> trail: array<f32>", "trail[at]", "trail[min(id.x, size - 1u)] = angle");
    session.diagnosis.trace = true;
    on_each_driver(|target| {
        let result = concluded(&session, target);
        assert_eq!(result.status, Status::QualityWarning, "{result:?}");
        assert!(result.traced.as_ref().is_some_and(TracedInstructions::is_meaningful), "{result:?}");
        assert!(result.notes.iter().any(|note| note.contains("guards and atomic accesses")), "{result:?}");
    });
}

#[test]
fn an_error_in_a_shader_that_races_fails() {
    let mutation: Mutation = "ulp:1000@OpFMul".parse().unwrap();
    let mut session = searched(RACING);
    session.mutation = Some(mutation);
    let result = concluded(&session, &SyntheticTarget::default());
    assert_eq!(result.status, Status::Fail, "{result:?}");
}

#[test]
fn a_shader_that_synchronises_has_no_such_variant() {
    let text = "var<workgroup> sum: u32;
        @group(0) @binding(0) var<storage, read_write> data: array<u32, 256>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            sum = id.x;
            workgroupBarrier();
            data[id.x] = data[(id.x + 1u) % 256u] + sum;
        }";
    let session = searched(text);
    let check = session.check().unwrap();
    assert_eq!(check.setup.local, [64, 1, 1]);
    assert!(check.run(&SyntheticTarget::default()).is_err(), "it races");
}

/// The inputs of every invocation are those of the original dispatch.
#[test]
fn inputs_are_those_of_the_original_invocations() {
    let text = "var<private> count: u32 = 7u;
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(4, 2, 3) fn main(
            @builtin(global_invocation_id) global: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>,
            @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
            @builtin(local_invocation_index) index: u32,
        ) {
            count += 1u;
            let at = (global.z * 6u + global.y) * 8u + global.x;
            data[at] = index + 100u * (local.x + 4u * (local.y + 2u * local.z)) + 10000u * dot(group, vec3(1u, 2u, 6u))
                + 1000000u * dot(groups, vec3(1u, 2u, 3u)) + 100000000u * count;
        }";
    let (local, groups) = ([4, 2, 3], [2, 3, 1]);
    let output = |shader: &ShaderSource, groups| {
        let words = Mutex::new(Vec::new());
        let keep = |output: &mut DispatchOutput| words.lock().unwrap().clone_from(&output.memory[&Slot::new(0, 0)]);
        let options = Options { groups: Some(groups), rounds: 1, elements: vec![(None, 200)], ..Options::default() };
        let result = Check::new(shader, &options).unwrap().run(&SyntheticTarget::spoilt(keep)).unwrap();
        assert_eq!(result.status, Status::Pass, "{result:?}");
        words.into_inner().unwrap()
    };
    let original = wgsl(text);
    let serial = with_serial_invocations(&original.source.module, "main", SerialDispatch { local, groups }).unwrap();
    let bytes: Vec<u8> = serial.iter().flat_map(|word| word.to_le_bytes()).collect();
    let serial = ShaderSource::read("serial.spv", &bytes).unwrap();
    serial.must_be_legal(true).unwrap();
    let (original, serial) = (output(&original, groups), output(&serial, [1; 3]));
    assert!(original.len() == 800 && original.iter().any(|byte| *byte > 0), "{original:?}");
    assert_eq!(original, serial);
}
