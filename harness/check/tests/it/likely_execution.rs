//! Searches for shaders whose branches are undecided: they choose what a device is likely to execute.

use crate::support::{SyntheticTarget, concluded, on_each_driver, wgsl};
use assay_check::{CheckSession, Options};
use assay_events::{CheckResult, Status, TracedInstructions};
use assay_exec::Target;

/// Points beyond a box, whose ends are uniform, are left out. Their places depend on digits of a sine that the
/// specification leaves open.
fn box_of_points(declared: &str, low: &str, high: &str) -> String {
    format!(
        "{declared}
        @group(0) @binding(1) var<storage, read> points: array<f32>;
        @group(0) @binding(2) var<storage, read_write> weights: array<f32>;
        fn place(x: f32) -> f32 {{ return fract(sin(x * 100.0) * 43758.5453) * 60.0; }}
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            let x = place(points[id.x] + 10.0);
            weights[id.x] = x;
            if x < {low} || x >= {high} {{ return; }}
            var sum = x - {low};
            for (var k = 1u; k < 5u; k++) {{
                let near = place(x + f32(k));
                let weight = (near - x) * 0.25 + sum / ({high} - {low});
                sum += max(weight * weight, 0.5) - min(near * 0.125, sum);
                sum = sqrt(abs(sum) + 1.0) * 0.75 + 1.0 / (2.0 + abs(near));
            }}
            weights[id.x] = sum * 0.5;
        }}"
    )
}

fn searched(text: &str) -> CheckSession {
    let mut session = CheckSession::new(wgsl(text), Options { rounds: 1, ..Options::default() });
    session.diagnosis.trace = true;
    session.search(&SyntheticTarget::default(), &|| ()).unwrap();
    session
}

fn must_say_enough(session: &CheckSession, target: &dyn Target) -> CheckResult {
    let result = concluded(session, target);
    assert_eq!(result.status, Status::Pass, "{result:?}");
    assert!(result.traced.as_ref().is_some_and(TracedInstructions::is_meaningful), "{result:?}");
    result
}

/// With generated integers the box is empty or nowhere.
#[test]
fn a_box_that_holds_points_is_found() {
    let declared = "struct Box { low: u32, high: u32 }
        @group(0) @binding(0) var<uniform> inside: Box;";
    let session = searched(&box_of_points(declared, "f32(inside.low)", "f32(inside.high)"));
    on_each_driver(|target| {
        let chosen = must_say_enough(&session, target).chosen.expect("the box is chosen");
        assert!(chosen.contains("inside.high="), "{chosen}");
    });
}

/// Members outside of the array of a large uniform buffer are parameters, although the array is data.
#[test]
fn members_beside_a_large_array_are_parameters() {
    let declared = "struct Box { low: vec3<u32>, high: vec3<u32>, colours: array<vec4<u32>, 64> }
        @group(0) @binding(0) var<uniform> inside: Box;";
    let session = searched(&box_of_points(declared, "f32(inside.low.y)", "f32(inside.high.y)"));
    on_each_driver(|target| {
        let chosen = must_say_enough(&session, target).chosen.expect("the box is chosen");
        let is_side = ["inside.low[1]=", "inside.high[1]="].iter().any(|side| chosen.contains(side));
        assert!(is_side && !chosen.contains("colours"), "{chosen}");
    });
}

/// One invocation in each of many workgroups. The code that is skipped takes floats above a limit.
#[test]
fn floats_of_a_branch_are_varied_for_small_workgroups() {
    let text = "struct Mouse { place: vec2<f32>, motion: vec2<f32> }
        var<immediate> mouse: Mouse;
        @group(0) @binding(0) var field: texture_storage_2d<rgba32float, write>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let distance = length(vec2<f32>(id.xy) - mouse.place);
            if distance < 120.0 && length(mouse.motion) > 40.0 {
                textureStore(field, id.xy, vec4(mouse.motion * 0.05, distance, 1.0));
            }
        }";
    let options = Options { groups: Some([8, 8, 1]), ..Options::default() };
    let mut session = CheckSession::new(wgsl(text), options);
    session.diagnosis.trace = true;
    session.search(&SyntheticTarget::default(), &|| ()).unwrap();
    on_each_driver(|target| {
        let result = concluded(&session, target);
        assert_eq!(result.status, Status::Pass, "{result:?}");
        assert!(result.writes.as_ref().is_some_and(|writes| writes.written == writes.elements), "{result:?}");
        assert!(result.is_meaningful(), "{result:?}");
    });
}
