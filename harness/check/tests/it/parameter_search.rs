//! Search for the parameters of a shader whose defaults check little.

use crate::support::{SyntheticTarget, wgsl};
use assay_check::{BindingSource, Check, ChosenParameters, Options, ParameterSearch, ShaderSource, search_parameters};
use assay_events::{CheckResult, Status};
use assay_oracle::Robustness;
use std::cell::Cell;

/// Returns the chosen parameters, and the result of the check with them.
fn searched(text: &str, options: &Options) -> (Option<ChosenParameters>, CheckResult) {
    searched_in(&wgsl(text), options)
}

fn searched_in(shader: &ShaderSource, options: &Options) -> (Option<ChosenParameters>, CheckResult) {
    let target = SyntheticTarget::default();
    let check = Check::new(shader, options).unwrap();
    let candidates = Cell::new(0);
    let found = search_parameters(&check, options, (&target, &|| candidates.set(candidates.get() + 1))).unwrap();
    if let ParameterSearch::Found(chosen) = &found {
        let announced = format!("a search over {} candidate", candidates.get());
        assert!(chosen.note().contains(&announced), "{announced}: {}", chosen.note());
    }
    let again = search_parameters(&check, options, (&target, &|| ())).unwrap();
    assert_eq!(found, again, "the search is deterministic");
    let chosen = match found {
        ParameterSearch::Found(chosen) => Some(*chosen),
        ParameterSearch::NotNeeded | ParameterSearch::NothingBetter(_) => None,
    };
    let mut options = options.clone();
    if let Some(chosen) = &chosen {
        chosen.apply(&mut options).unwrap();
    }
    let check = Check::new(shader, &options).unwrap();
    let result = check.run(&target).unwrap_or_else(|error| check.not_run(Status::Undetermined, error.to_string()));
    (chosen, result)
}

/// Checks that the search makes the shader pass, with at least this share of the elements of the
/// bindings that it writes.
fn passes(text: &str, options: &Options, percent: u64) -> String {
    let (chosen, result) = searched(text, options);
    let chosen = chosen.expect("the defaults check too little").to_string();
    assert_eq!(result.status, Status::Pass, "{chosen}: {result:?}");
    let writes = result.writes.unwrap();
    let elements: u64 = writes.bindings.iter().filter(|of| of.written > 0).map(|of| of.elements).sum();
    assert!(writes.falsifiable * 100 >= elements * percent, "{chosen}: {writes}");
    assert_eq!(result.rounds_checked, options.rounds, "{chosen}");
    chosen
}

#[test]
fn a_guard_with_a_size_lets_invocations_through() {
    let text = "struct Params { n: u32, rows: u32 }
        var<immediate> p: Params;
        @group(0) @binding(0) var<storage, read_write> data: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if (id.x >= p.n * p.rows || p.n < 200u) { return; }
            data[id.x] = data[id.x] * 1.5;
        }";
    let chosen = passes(text, &Options::default(), 90);
    assert!(chosen.starts_with(" --push n="), "{chosen}");
}

/// The strides of machine-learning kernels: one wrong stride is an access out of bounds.
#[test]
fn strides_of_a_kernel_are_found_and_arrays_grow() {
    let text = "struct Params { ne: u32, ne00: u32, ne01: u32, nb00: u32, nb01: u32, offset: u32, scale: f32 }
        var<immediate> p: Params;
        @group(0) @binding(0) var<storage, read> source: array<f32>;
        @group(0) @binding(1) var<storage, read_write> result: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let i = id.x;
            if (i >= p.ne) { return; }
            let row = (i / p.ne00) % p.ne01;
            result[i] = source[p.offset + row * p.nb01 + (i % p.ne00) * p.nb00] * p.scale;
        }";
    passes(text, &Options::default(), 50);
}

/// The options win: the search changes what they leave open.
#[test]
fn given_parameters_are_kept() {
    let text = "struct Params { n: u32, rows: u32 }
        @group(0) @binding(0) var<uniform> p: Params;
        @group(0) @binding(1) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if (id.x < p.n && p.rows == 16u) { data[id.x] = p.n; }
        }";
    let given = |name: &str, value: &str| Options {
        inputs: vec![(name.parse().unwrap(), value.parse().unwrap())],
        ..Options::default()
    };
    let chosen = passes(text, &given("p.n", "100"), 30);
    assert!(chosen.contains("--input 0.0.rows=16") && !chosen.contains("0.0.n="), "{chosen}");
    let (chosen, _) = searched(text, &given("p", "2"));
    assert_eq!(chosen, None);
}

/// The note says why the defaults were not kept.
#[test]
fn a_note_states_the_defect_of_the_defaults_and_the_choice() {
    let text = |body: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
            @group(0) @binding(1) var<uniform> n: u32;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ {body} }}"
        )
    };
    for (body, reason) in [
        (
            "data[id.x + n - n + 4u] = 1u;",
            "with the defaults the shader has undefined behaviour (out of bounds at test.wgsl:3:",
        ),
        (
            "if (n == 64u) { data[id.x] = n; }",
            "with the defaults none of the 512 elements that the shader may write could come out wrong; a search over",
        ),
    ] {
        let note = searched(&text(body), &Options::default()).0.unwrap().note();
        assert!(note.starts_with(reason) && note.contains(" chose --"), "{note}");
    }
}

/// Generated matrices and boxes leave nearly no point in the view of a camera.
#[test]
fn points_lie_in_the_view_of_a_simple_camera() {
    let text = "struct Camera { view: mat4x4<f32>, proj: mat4x4<f32>, box_min: vec4<f32>, box_max: vec4<f32> }
        @group(0) @binding(0) var<uniform> camera: Camera;
        @group(0) @binding(1) var<storage, read> points: array<vec3<f32>>;
        @group(0) @binding(2) var<storage, read_write> data: array<vec4<f32>>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let p = points[id.x];
            if any(p < camera.box_min.xyz) || any(p > camera.box_max.xyz) { return; }
            let q = camera.proj * (camera.view * vec4(p, 1.0));
            if q.z <= 0.0 || q.z >= q.w || any(abs(q.xy) > vec2(q.w)) { return; }
            data[id.x] = vec4(q.xyz / q.w, q.w * 0.5);
        }";
    let chosen = passes(text, &Options::default(), 50);
    let options = ["0.0.view[0][0]=1", "0.0.view[0][1]=0", "0.0.proj[3][3]=1", "0.0.box_min[1]=0", "0.0.box_max[1]=1"];
    assert!(options.iter().all(|option| chosen.contains(option)), "{chosen}");
    let note = searched(text, &Options::default()).0.unwrap().note();
    assert!(
        note.contains("more options, which `assay check --out DIR` writes as a case file") && note.len() < 620,
        "{note}"
    );
}

/// Many shaders initialise workgroup memory from every invocation. Racing stores of different values
/// stay a refusal.
#[test]
fn racing_stores_of_one_value_are_permitted_if_nothing_else_helps() {
    let text = |value: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
            var<workgroup> most: atomic<u32>;
            var<workgroup> first: u32;
            @compute @workgroup_size(64) fn main(
                @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32,
            ) {{
                first = {value};
                workgroupBarrier();
                atomicMax(&most, lane ^ 21u);
                workgroupBarrier();
                data[id.x] = atomicLoad(&most) * 3u + id.x * 5u + first;
            }}"
        )
    };
    let (chosen, result) = searched(&text("7u"), &Options::default());
    let chosen = chosen.expect("every candidate races");
    assert_eq!(chosen.to_string(), " --benign-races");
    assert!(chosen.note().ends_with("; racing stores of one value are undefined behaviour otherwise"), "{chosen}");
    assert_eq!(result.status, Status::QualityWarning, "{result:?}");
    assert!(result.reason.as_ref().unwrap().contains("benign races are undefined behaviour"), "{result:?}");
    let (chosen, result) = searched(&text("lane"), &Options::default());
    assert_eq!((chosen, result.status), (None, Status::Undetermined), "{result:?}");
}

#[test]
fn racing_workgroups_are_reduced_to_one() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32, 64>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) { data[i] = i * 3u; }";
    assert_eq!(passes(text, &Options::default(), 100), " --workgroups 1,1,1");
}

#[test]
fn run_time_arrays_grow_to_what_the_shader_accesses() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            for (var i = 0u; i < 3u; i++) { data[3u * id.x + i] = i; }
        }";
    assert_eq!(passes(text, &Options::default(), 100), " --elements 0.0=768");
    // Length and workgroups are given.
    let options = Options { elements: vec![(None, 700)], groups: Some([4, 1, 1]), ..Options::default() };
    let (chosen, result) = searched(text, &options);
    assert_eq!((chosen, result.status), (None, Status::Undetermined));
    assert!(result.reason.unwrap().contains("out of bounds"));
}

/// The dispatch is a row of 256 invocations; the shader writes four rows.
#[test]
fn images_grow_to_what_the_shader_accesses() {
    let text = "@group(0) @binding(0) var source: texture_2d<f32>;
        @group(0) @binding(1) var result: texture_storage_2d<r32float, write>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let at = vec2(id.x / 4u, id.x % 4u);
            textureStore(result, at, textureLoad(source, at, 0) * 2.0);
        }";
    let chosen = passes(text, &Options::default(), 20);
    assert!(chosen.contains(" --image-size 0.1=256x4"), "{chosen}");
    let fixed =
        Options { image_sizes: vec![("result".parse().unwrap(), vec![300, 4])], rounds: 1, ..Options::default() };
    let (chosen, result) = searched(text, &fixed);
    assert_eq!((chosen, result.status), (None, Status::Pass), "{result:?}");
}

/// Nothing is chosen where the defaults are good, or where no parameter helps.
#[test]
fn parameters_are_kept_unless_others_are_better() {
    let good = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = id.x; }";
    let undefined = "var<immediate> p: u32;
        @group(0) @binding(0) var<storage, read_write> data: array<u32, 4>;
        @compute @workgroup_size(1) fn main() { var at = p | 8u; data[at] = 1u; }";
    for text in [good, undefined] {
        assert_eq!(searched(text, &Options::default()).0, None, "{text}");
    }
}

/// A filter that reads the neighbours of a texel leaves the image at its border, and the buffer of a
/// grid likewise. A write beyond a buffer stays a fault.
#[test]
fn reads_beyond_the_border_of_an_image_get_robustness() {
    let filter = "@group(0) @binding(0) var source: texture_2d<f32>;
        @group(0) @binding(1) var result: texture_storage_2d<r32float, write>;
        @compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let at = vec2<i32>(id.xy);
            textureStore(result, at, textureLoad(source, at - 1, 0) + textureLoad(source, at + 1, 0));
        }";
    assert_eq!(passes(filter, &Options::default(), 20), " --robustness access");
    let without = Options { robustness: Some(Robustness::None), ..Options::default() };
    let (chosen, result) = searched(filter, &without);
    assert_eq!((chosen, result.status), (None, Status::Undetermined));
    let grid = "@group(0) @binding(0) var<storage, read> cells: array<f32>;
        @group(0) @binding(1) var<storage, read_write> result: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            result[id.x] = 0.5 * cells[id.x - 1u] + 0.25 * cells[id.x + 1u];
        }";
    assert!(passes(grid, &Options::default(), 90).starts_with(" --robustness access"));
    let beyond_buffer = "@group(0) @binding(0) var<storage, read_write> data: array<u32, 300>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x + 240u] = 1u; }";
    assert_eq!(searched(beyond_buffer, &Options::default()).0, None);
}

/// FidelityFX passes its constants as integers. Those of the ladder are denormals as floats, with which
/// no invocation writes.
#[test]
fn integers_that_are_taken_for_floats_get_values_of_floats() {
    let text = "struct Params { scale: vec2<u32>, n: u32 }
        var<immediate> p: Params;
        @group(0) @binding(0) var<storage, read_write> data: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let scale = bitcast<vec2<f32>>(p.scale);
            if (id.x >= p.n || scale.x < 1.0 || scale.y < 1.0 || scale.x + scale.y > 1000.0) { return; }
            data[id.x] = data[id.x] * scale.x + scale.y;
        }";
    let chosen = passes(text, &Options::default(), 50);
    let values: Vec<u32> =
        chosen.split("scale[").skip(1).filter_map(|rest| rest.split(['=', ',', ' ']).nth(1)?.parse().ok()).collect();
    assert_eq!(values.len(), 2, "{chosen}");
    assert!(values.iter().all(|bits| f32::from_bits(*bits) >= 1.0), "{chosen}");
}

/// A workgroup of many operations is not endless. Its array has to grow.
#[test]
fn a_heavy_workgroup_is_interpreted_whole() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var sum = 0.0;
            for (var i = 0u; i < 2500u; i++) { sum = max(sum, f32((id.x * 7919u + i * 104729u) % 1000003u) * 0.5); }
            data[id.x + 64u] = sum;
        }";
    let chosen = passes(text, &Options { groups: Some([1; 3]), rounds: 1, ..Options::default() }, 40);
    assert!(chosen.contains("--elements"), "{chosen}");
}

/// All values of the parameter with which the shader writes take more work than a search permits at
/// first.
#[test]
fn heavy_candidates_are_interpreted_at_last() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<f32>;
        @group(0) @binding(1) var<uniform> n: u32;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if (n < 256u || id.x >= n) { return; }
            var sum = 0.0;
            for (var i = 0u; i < min(n, 4096u) * 12u; i++) { sum = max(sum, f32((id.x * 7919u + i * 104729u) % 1000003u) * 0.5); }
            data[id.x] = sum;
        }";
    let chosen = passes(text, &Options { groups: Some([1; 3]), rounds: 1, ..Options::default() }, 20);
    assert!(chosen.ends_with("=256"), "{chosen}");
}

/// A workgroup takes too much work; a few of its invocations do not.
#[test]
fn a_part_of_a_very_heavy_workgroup_is_checked() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<f32>;
        @compute @workgroup_size(16, 16) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let at = id.y * 32u + id.x;
            var sum = 0.0;
            for (var i = 0u; i < 6000u; i++) { sum = max(sum, f32((at * 7919u + i * 104729u) % 1000003u) * 0.5); }
            data[at] = sum;
        }";
    // One search takes seconds.
    let mut options = Options { groups: Some([2, 2, 1]), rounds: 1, ..Options::default() };
    let (shader, target) = (wgsl(text), SyntheticTarget::default());
    let check = Check::new(&shader, &options).unwrap();
    let found = search_parameters(&check, &options, (&target, &|| ())).unwrap();
    let ParameterSearch::Found(chosen) = found else { panic!("a check of all invocations takes minutes") };
    assert!(chosen.to_string().contains("--sample"), "{}", chosen.to_string());
    chosen.apply(&mut options).unwrap();
    let result = Check::new(&shader, &options).unwrap().run(&target).unwrap();
    let part = result.sampled.expect("a part of the invocations");
    let checked = part.workgroups * part.invocations.expect("a part of each workgroup");
    assert_eq!((result.status, part.of, result.elements_checked), (Status::Pass, 4, checked), "{result:?}");
    assert!(result.is_meaningful(), "{result:?}");
}

/// A part of the first workgroup is interpreted, and the array is as long as that one needs. A check of all
/// workgroups would access more.
#[test]
fn an_array_suffices_for_the_checked_part_of_a_heavy_dispatch() {
    let text = "@group(0) @binding(0) var<storage, read> source: array<f32>;
        @group(0) @binding(1) var<storage, read_write> data: array<f32>;
        @compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var sum = 0.0;
            for (var i = 0u; i < 40000u; i++) {
                let at = id.x * 256u + (i & 255u);
                sum = max(max(sum, source[at] * 0.5), source[at ^ 1u] * 0.25);
            }
            data[id.x] = sum;
        }";
    // One search takes seconds.
    let (shader, options) = (wgsl(text), Options { rounds: 1, ..Options::default() });
    let (check, target) = (Check::new(&shader, &options).unwrap(), SyntheticTarget::default());
    let found = search_parameters(&check, &options, (&target, &|| ())).unwrap();
    let ParameterSearch::Found(chosen) = &found else { panic!("the array is too short: {found:?}") };
    let chosen = chosen.to_string();
    assert!(chosen.contains("--workgroups 1,1,1") && chosen.contains("--sample"), "{chosen}");
}

/// The index is the result of a function with several permitted values, so that workgroups may write
/// one element.
#[test]
fn workgroups_that_may_race_are_reduced_to_one() {
    let text = "@group(0) @binding(0) var<storage, read> source: array<f32, 4>;
        @group(0) @binding(1) var<storage, read_write> data: array<f32, 4>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let at = u32(abs(exp(fract(source[id.x & 3u])) * 20.0)) & 3u;
            data[at] = source[id.x & 3u] * 0.5;
        }";
    let (chosen, result) = searched(text, &Options::default());
    let chosen = chosen.expect("workgroups may race").to_string();
    assert!(chosen.contains("--workgroups 1,1,1"), "{chosen}");
    assert_eq!(result.possible_fault, None, "{result:?}");
}

/// All invocations store one value to a variable of the workgroup, and read beyond an image: no other
/// parameter than these two permissions helps, so that the search does not go through the ladder.
#[test]
fn inherent_faults_are_permitted_at_once() {
    let text = "struct Params { a: u32, b: u32, c: u32, d: u32, e: u32, f: u32, g: u32, h: u32 }
        var<immediate> p: Params;
        var<workgroup> is_needed: u32;
        @group(0) @binding(0) var source: texture_2d<f32>;
        @group(0) @binding(1) var<storage, read_write> result: array<f32>;
        @compute @workgroup_size(8, 8) fn main(
            @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) at: u32
        ) {
            is_needed = 1u;
            workgroupBarrier();
            let sum = p.a + p.b + p.c + p.d + p.e + p.f + p.g + p.h;
            let texel = textureLoad(source, vec2<i32>(id.xy) - 2, 0).x;
            result[id.y * 32u + id.x] = texel * f32(is_needed) + f32(sum % 16u);
        }";
    let (chosen, result) = searched(text, &Options::default());
    let chosen = chosen.expect("a race").to_string();
    assert!(chosen.contains("--benign-races") && chosen.contains("--robustness access"), "{chosen}");
    assert_eq!(result.status, Status::QualityWarning, "{result:?}");
}

/// A loop that does not run writes sums of nothing, which are always the same.
#[test]
fn a_loop_count_with_varied_results_is_preferred() {
    let text = "struct Params { count: u32 }
        @group(0) @binding(0) var<uniform> p: Params;
        @group(0) @binding(1) var<storage, read> source: array<f32, 64>;
        @group(0) @binding(2) var<storage, read_write> result: array<vec4<f32>>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var sum = 0.0;
            if (p.count >= 40u && p.count <= 64u) { for (var i = 0u; i < p.count; i++) { sum += source[i] * f32(id.x); } }
            result[id.x] = vec4(sum, sum, sum, 1.0);
        }";
    let chosen = passes(text, &Options::default(), 50);
    assert!(chosen.starts_with(" --input 0.0.count="), "{chosen}");
}

/// A shader that writes one value whatever its inputs are gets a warning, unless it does so by
/// design.
#[test]
fn one_value_in_all_elements_is_a_warning() {
    let warned = |value: &str| {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                data[id.x] = {value};
            }}"
        );
        let (chosen, result) = searched(&text, &Options::default());
        assert_eq!((chosen, result.status), (None, Status::Pass));
        let warning = "warning: the 512 elements that could have come out wrong have one value or keep their old one";
        let warned = result.notes.iter().any(|note| note.starts_with(warning));
        assert_eq!(result.writes.unwrap().is_meaningful(), !warned);
        warned
    };
    assert!(warned("id.x / 4096u"));
    assert!(!warned("7u"));
}

/// The kinds of cells that the shader distinguishes are numbers in its text.
#[test]
fn values_that_the_shader_compares_get_its_constants() {
    let text = "@group(0) @binding(0) var<storage, read> cells: array<f32>;
        @group(0) @binding(1) var<storage, read> source: array<f32>;
        @group(0) @binding(2) var<storage, read_write> result: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if cells[id.x] == -1.0 || cells[id.x] == 37.0 { result[id.x] = source[id.x] * 0.5; }
        }";
    assert_eq!(passes(text, &Options::default(), 50), " --input 0.0=one-of:-1,37");
}

/// A particle's kind is compared with a number, and its position is not.
#[test]
fn members_that_the_shader_compares_get_its_constants() {
    let text = "struct Particle { position: vec2<f32>, kind: u32, id: u32 }
        @group(0) @binding(0) var<storage, read> particles: array<Particle>;
        @group(0) @binding(1) var<storage, read_write> result: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let particle = particles[id.x];
            if particle.kind == 37u && particle.position.x > 2.5 && particle.position.x < 7.0 {
                result[id.x] = particle.position.x * particle.position.y;
            }
        }";
    let chosen = passes(text, &Options::default(), 20);
    assert!(chosen.contains(" --input 0.0.kind=one-of:37,0 --input 0.0=1..8"), "{chosen}");
}

/// A flag turns half of the shader on, and a mode selects one of its parts. The defaults are good,
/// but leave most of it out.
#[test]
fn modes_take_the_constants_that_execute_more() {
    let text = "struct Params { scale: f32, flags: u32, mode: i32 }
        @group(0) @binding(0) var<uniform> p: Params;
        @group(0) @binding(1) var<storage, read_write> result: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let x = f32(id.x) + p.scale;
            var sum = x + x / 3.0 - x * 0.25;
            if p.mode == 1000 { sum += x * 0.5; sum -= x * 0.125; sum *= 3.0; sum += 1.0; }
            if (p.flags & 4096u) == 4096u && p.flags < 8192u { sum -= x / 7.0; sum *= 5.0; sum += 3.0; sum /= x + 2.0; }
            result[id.x] = sum;
        }";
    let (chosen, result) = searched(text, &Options::default());
    let chosen = chosen.expect("the defaults execute too little").to_string();
    assert_eq!(chosen, " --input 0.0.mode=1000 --input 0.0.flags=4096/1");
    let executed = result.executed.unwrap();
    assert!(result.status == Status::Pass && 10 * executed.executed > 9 * executed.instructions, "{executed:?}");
    let flags = BindingSource::Number("8".to_owned());
    let given = Options { inputs: vec![("0.0.flags".parse().unwrap(), flags)], ..Options::default() };
    let (chosen, _) = searched(text, &given);
    assert_eq!(chosen.unwrap().to_string(), " --input 0.0.mode=1000");
}

/// Most of the shader is in a mode in which the other parameters are undefined. They are sought for that
/// mode alone.
#[test]
fn a_mode_of_most_code_gets_parameters_of_its_own() {
    let text = "struct Params { mode: u32, width: u32 }
        @group(0) @binding(0) var<uniform> p: Params;
        @group(0) @binding(1) var<storage, read_write> result: array<u32>;
        @group(0) @binding(2) var<storage, read_write> other: array<u32, 8>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if p.mode == 7u {
                let x = id.x ^ (id.x << 3u) ^ (id.x * 5u) + (id.x >> 2u);
                let y = x * 7u + (x & 12u) - (x | 96u) + (x >> 3u);
                if id.x < 8u { other[id.x * p.width] = x + y; }
                result[id.x] = x * 3u + y;
            } else {
                result[id.x] = id.x + p.mode;
            }
        }";
    let (chosen, result) = searched(text, &Options::default());
    let chosen = chosen.expect("the defaults execute too little").to_string();
    assert_eq!(chosen, " --input 0.0.width=1 --input 0.0.mode=7");
    assert!(result.status == Status::Pass && result.is_meaningful(), "{result:?}");
}

/// One round of each mode together execute the whole shader. A mode that is undefined is left out, and
/// with it its code.
#[test]
fn rounds_take_different_modes() {
    let text = "var<immediate> mode: u32;
        @group(0) @binding(0) var<storage, read_write> data: array<u32, 256>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let x = data[id.x];
            switch mode {
                case 5u: { data[id.x] = (x * 3u) ^ (x >> 5u); }
                case 6u: { data[id.x] = (x * 7u) ^ (x >> 3u) ^ (x << 9u); }
                case 7u: { data[0] = x + id.x; }
                default: { data[id.x] = (x & 255u) + 3u * x; }
            }
        }";
    let (chosen, result) = searched(text, &Options::default());
    let chosen = chosen.expect("the defaults execute too little").to_string();
    assert_eq!(chosen, " --push @0=6/5/1");
    let executed = result.executed.unwrap();
    assert!(result.status == Status::Pass && executed.executed + 6 > executed.instructions, "{executed:?}");
    assert!(executed.executed < executed.instructions, "{executed:?}");
    assert_eq!((result.rounds, result.rounds_checked), (3, 3));
    // What the options set stays.
    let given = Options { push_values: vec![("@0".to_owned(), "5".to_owned())], ..Options::default() };
    let (chosen, result) = searched(text, &given);
    assert_eq!((chosen, result.rounds), (None, 2));
}

/// The size of a grid is a vector of floats, as in many programs for WebGPU.
#[test]
fn floats_that_are_sizes_take_the_values_of_sizes() {
    let text = "@group(0) @binding(0) var<uniform> grid: vec2<f32>;
        @group(0) @binding(1) var<storage, read> before: array<u32>;
        @group(0) @binding(2) var<storage, read_write> after: array<u32>;
        fn cell(x: u32, y: u32) -> u32 { return (y % u32(grid.y)) * u32(grid.x) + x % u32(grid.x); }
        @compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            after[cell(id.x, id.y)] = before[cell(id.x + 1u, id.y)] * 3u + before[cell(id.x, id.y + 1u)];
        }";
    assert_eq!(passes(text, &Options::default(), 90), " --input 0.0[0]=16 --input 0.0[1]=16");
}

/// A guard compares with a number of particles that is a float.
#[test]
fn floats_that_decide_branches_take_the_values_of_sizes() {
    let text = "struct Params { gravity: f32, particles: f32 }
        @group(0) @binding(0) var<uniform> params: Params;
        @group(0) @binding(1) var<storage, read_write> data: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x < u32(params.particles + 0.5) { data[id.x] = data[id.x] + params.gravity; }
        }";
    let chosen = passes(text, &Options::default(), 90);
    assert!(chosen.contains(" --input 0.0.particles=256"), "{chosen}");
}

/// Generated floats are far from 1. Sizes, which have no effect here, would take more candidates.
#[test]
fn simple_floats_are_tried_before_sizes() {
    let text = "struct Params { mass: f32, k: f32, width: u32, height: u32 }
        var<immediate> p: Params;
        @group(0) @binding(0) var<storage, read> source: array<f32>;
        @group(0) @binding(1) var<storage, read_write> result: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if p.width * p.height == id.x + 123456u { return; }
            if abs(p.mass - 1.0) < 0.25 { result[id.x] = source[id.x] * p.k / p.mass; } else { result[id.x] = 0.0; }
        }";
    let (chosen, result) = searched(text, &Options::default());
    let chosen = chosen.expect("all elements are 0");
    assert!(chosen.to_string().contains("--push mass=1,k=1"), "{}", chosen.to_string());
    assert!(result.status == Status::Pass && result.is_meaningful(), "{result:?}");
    let note = chosen.note();
    let candidates: u32 = note.split("a search over ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(candidates <= 12, "{note}");
}

/// Few of the generated floats lie in the range that the shader treats.
#[test]
fn data_of_moderate_size_is_tried() {
    let text = "@group(0) @binding(0) var<storage, read> source: array<f32>;
        @group(0) @binding(1) var<storage, read_write> result: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if source[id.x] > 2.5 && source[id.x] < 7.0 { result[id.x] = source[id.x] * 0.5; }
        }";
    assert!(passes(text, &Options::default(), 50).starts_with(" --input 0.0=1..8"));
}

/// The number 8 of a normalised texel is close to 0 for the shader.
#[test]
fn normalised_texels_do_not_get_small_numbers() {
    let text = "@group(0) @binding(0) var<storage, read> source: array<f32>;
        @group(0) @binding(1) var<storage, read_write> result: array<f32>;
        @group(0) @binding(2) var mask: texture_storage_2d<rgba8unorm, read>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let texel = textureLoad(mask, vec2<u32>(id.x % 8u, id.x / 8u % 8u));
            if source[id.x] > 2.5 && source[id.x] < 7.0 && texel.x > 0.2 { result[id.x] = source[id.x] * 0.5; }
        }";
    let chosen = passes(text, &Options::default(), 30);
    assert_eq!(chosen, " --input 0.0=1..8 --input 0.1=1..8 --image-size 0.2=256x8");
}

/// Only cells that are 0 or 1 have as many neighbours as Conway's rules treat.
#[test]
fn cells_are_alive_or_dead() {
    let text = "@group(0) @binding(0) var<storage, read> before: array<u32>;
        @group(0) @binding(1) var<storage, read_write> after: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var alive = 0u;
            for (var i = 1u; i < 9u; i++) { alive += before[(id.x + i) % 256u]; }
            switch alive {
                case 2u: { after[id.x] = before[id.x]; }
                case 3u: { after[id.x] = 1u; }
                default: { after[id.x] = 0u; }
            }
        }";
    assert_eq!(passes(text, &Options::default(), 90), " --input 0.0=0..1 --input 0.1=0..1");
}

/// The size of the grid and the states of its cells are found one after the other.
#[test]
fn sizes_and_states_of_cells_are_found_together() {
    let text = "@group(0) @binding(0) var<uniform> grid: vec2<f32>;
        @group(0) @binding(1) var<storage, read> before: array<u32>;
        @group(0) @binding(2) var<storage, read_write> after: array<u32>;
        fn cell(x: u32, y: u32) -> u32 { return (y % u32(grid.y)) * u32(grid.x) + x % u32(grid.x); }
        fn alive(x: u32, y: u32) -> u32 { return before[cell(x, y)]; }
        @compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let x = id.x;
            let y = id.y;
            let around = alive(x + 1u, y) + alive(x, y + 1u) + alive(x + 1u, y + 1u) + alive(x + 2u, y)
                + alive(x, y + 2u) + alive(x + 2u, y + 2u) + alive(x + 1u, y + 2u) + alive(x + 2u, y + 1u);
            switch around {
                case 2u: { after[cell(x, y)] = alive(x, y); }
                case 3u: { after[cell(x, y)] = 1u; }
                default: { after[cell(x, y)] = 0u; }
            }
        }";
    let chosen = passes(text, &Options::default(), 90);
    assert!(chosen.contains("0.1=0..1") && chosen.contains("0.0[0]=16"), "{chosen}");
}

/// A constant of one member is not a number of another one's type.
#[test]
fn compared_constants_have_a_companion_that_fits_every_type() {
    let text = "struct Entry { key: atomic<u32>, offset: i32 }
        @group(0) @binding(0) var<storage, read_write> entries: array<Entry>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if atomicLoad(&entries[id.x].key) == 4294967295u { entries[id.x].offset = i32(id.x) + 1; }
            if atomicLoad(&entries[id.x].key) == 4294967294u { entries[id.x].offset = i32(id.x) + 2; }
        }";
    let chosen = passes(text, &Options::default(), 10);
    assert_eq!(chosen, " --input 0.0.key=one-of:4294967294,4294967295,0");
}

/// A sum of numbers that nearly cancel may have any sign, which says little.
#[test]
fn wide_permitted_sets_do_not_count() {
    let text = "@group(0) @binding(0) var<storage, read> source: array<f32>;
        @group(0) @binding(1) var<storage, read_write> result: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let x = exp2(source[id.x]);
            result[id.x] = fma(x, 3.0, x * -3.0);
        }";
    let (_, result) = searched(text, &Options::default());
    let writes = result.writes.unwrap();
    assert!(writes.wide * 2 > writes.falsifiable && !writes.is_meaningful(), "{writes}");
    let warning = "could have come out wrong by a factor of two, less than 5 %";
    assert!(result.notes.iter().any(|note| note.contains(warning)), "{:?}", result.notes);
}

/// Few workgroups write a small part of a wide table. Without a loop, that is all that they may write.
#[test]
fn more_workgroups_write_a_larger_part() {
    let text = |store: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> data: array<u32, 20000>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ {store} }}"
        )
    };
    let looping = text("for (var k = id.x; k < id.x + 1u; k++) { data[k] = k * 5u; }");
    assert_eq!(passes(&looping, &Options::default(), 5), " --workgroups 16,1,1");
    let (chosen, result) = searched(&text("data[id.x] = id.x * 5u;"), &Options::default());
    assert_eq!(chosen, None);
    let writes = result.writes.as_ref().unwrap();
    assert_eq!((writes.elements, writes.written, result.is_meaningful()), (512, 512, true), "{result:?}");
    assert_eq!(result.elements_checked, 40000);
}

/// The count of a list is a parameter, although the list is data and the shader writes it.
#[test]
fn the_count_of_a_list_is_found() {
    let text = "struct List { count: atomic<u32>, items: array<u32, 512> }
        @group(0) @binding(0) var<storage, read_write> list: List;
        @group(0) @binding(1) var<storage, read_write> sums: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let count = atomicLoad(&list.count);
            var sum = 0u;
            for (var i = 16u; i < count; i += 7u) { sum += list.items[i] * (id.x + i); }
            sums[id.x] = sum;
        }";
    assert_eq!(passes(text, &Options::default(), 30), " --input 0.0.count=256");
}

/// Particles index a grid with their positions.
#[test]
fn positions_that_index_a_grid_are_small_numbers() {
    let text = "struct Particle { position: vec2<f32>, mass: f32 }
        @group(0) @binding(0) var<storage, read> particles: array<Particle>;
        @group(0) @binding(1) var<storage, read_write> result: array<f32>;
        @group(0) @binding(2) var<storage, read> cells: array<f32, 64>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let particle = particles[id.x];
            let cell = i32(particle.position.y) * 8 + i32(particle.position.x) - 9;
            result[id.x] = cells[cell] + particle.mass;
        }";
    assert_eq!(passes(text, &Options::default(), 90), " --input 0.0=1..8");
}

/// Particles of a grid whose size is a parameter: neither positions nor the size alone are enough.
#[test]
fn positions_and_the_size_of_their_grid_are_found_together() {
    let text = "struct Particle { position: vec2<f32>, mass: f32 }
        struct Grid { width: i32, height: i32 }
        var<immediate> grid: Grid;
        @group(0) @binding(0) var<storage, read> particles: array<Particle>;
        @group(0) @binding(1) var<storage, read_write> result: array<f32>;
        @group(0) @binding(2) var<storage, read> cells: array<f32, 256>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let particle = particles[id.x];
            let cell = (i32(particle.position.y) - 1) * grid.width + i32(particle.position.x) - grid.height;
            result[id.x] = cells[cell] + particle.mass;
        }";
    let chosen = passes(text, &Options::default(), 90);
    assert!(chosen.contains(" --input 0.0=1..8"), "{chosen}");
}

/// An index in a member behind other members.
#[test]
fn members_that_index_a_buffer_are_found() {
    let text = "struct Spring { rest: vec3<f32>, count: u32, joints: array<u32, 12> }
        @group(0) @binding(0) var<storage, read> springs: array<Spring>;
        @group(0) @binding(1) var<storage, read_write> result: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var sum = 0.0;
            for (var j = 0u; j < springs[id.x].count; j++) { sum += springs[springs[id.x].joints[j]].rest.x; }
            result[id.x] = sum;
        }";
    let chosen = passes(text, &Options::default(), 90);
    assert!(chosen.starts_with(" --input 0.0=1..8"), "{chosen}");
}

/// A scatter is defined if the indices are in bounds and differ.
#[test]
fn buffers_of_indices_count_upwards() {
    let text = "@group(0) @binding(0) var<storage, read> indices: array<u32>;
        @group(0) @binding(1) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            data[indices[id.x]] = id.x * 3u;
        }";
    assert_eq!(passes(text, &Options::default(), 100), " --input 0.0=index");
}

/// Equal strides make invocations race; in a contiguous tensor all sizes and strides but one are 1.
#[test]
fn strides_that_collide_are_told_apart() {
    let text = "struct Params { ne: u32, ne0: u32, ne1: u32, nb0: u32, nb1: u32, nb2: u32 }
        var<immediate> p: Params;
        @group(0) @binding(0) var<storage, read_write> result: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let i = id.x;
            if (i >= p.ne) { return; }
            let i2 = i / (p.ne0 * p.ne1);
            let i1 = (i / p.ne0) % p.ne1;
            result[i % p.ne0 * p.nb0 + i1 * p.nb1 + i2 * p.nb2] = i;
        }";
    passes(text, &Options::default(), 90);
}

/// Floats become 1 where positions are computed from them.
#[test]
fn floats_that_affect_an_index_are_set_to_one() {
    let text = "struct Params { size: u32, scale: f32 }
        @group(0) @binding(0) var<uniform> p: Params;
        @group(0) @binding(1) var<storage, read_write> result: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let at = f32(id.x) * p.scale;
            if (at == f32(id.x) && id.x < p.size) { result[id.x] = p.size; }
        }";
    let chosen = passes(text, &Options::default(), 50);
    assert!(chosen.contains("--input 0.0.scale=1"), "{chosen}");
}

/// An array of which the shader writes only the beginning is shortened, as that of a reduction with
/// one result for each workgroup. Elements after the written ones remain.
#[test]
fn an_array_written_at_its_beginning_is_shortened() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if (id.x < 5u) { data[id.x] = id.x; }
        }";
    let (chosen, result) = searched(text, &Options::default());
    let note = chosen.map(|chosen| chosen.note()).unwrap_or_default();
    assert!(note.contains("--elements 0.0=20"), "{note}: {result:?}");
    let writes = result.writes.unwrap();
    assert_eq!((result.status, writes.elements, writes.written), (Status::Pass, 40, 10));
}

/// Only bindings that the shader may write count.
#[test]
fn read_only_bindings_do_not_count_as_elements() {
    let text = "@group(0) @binding(0) var<storage, read> source: array<u32>;
        @group(0) @binding(1) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            data[id.x] = source[id.x];
        }";
    let writes = searched(text, &Options::default()).1.writes.unwrap();
    assert_eq!((writes.elements, writes.written, writes.bindings.len()), (512, 512, 1));
}

/// A refusal names the parameters behind the first fault.
#[test]
fn a_refusal_names_the_parameter_of_the_index() {
    let text = "struct Params { row: u32, column: u32 }
        var<immediate> p: Params;
        @group(0) @binding(0) var<storage, read_write> data: array<u32, 4>;
        @compute @workgroup_size(1) fn main() { data[p.row | 8u] = p.column; }";
    let reason = searched(text, &Options::default()).1.reason.unwrap();
    let names = "an operand is computed from push constant `row`; try for example --push row=16";
    assert!(reason.contains(names), "{reason}");
}

/// A shader whose only store is guarded by a specialisation constant, and whose size is another
/// one. Both are 0 by default.
const SPECIALISED: &str = "; Version: 1.3
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main \"main\" %id
    OpExecutionMode %main LocalSize 64 1 1
    OpDecorate %id BuiltIn GlobalInvocationId
    OpDecorate %enabled SpecId 3
    OpDecorate %size SpecId 7
    OpDecorate %array ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %data DescriptorSet 0
    OpDecorate %data Binding 0
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %uint3 = OpTypeVector %uint 3
    %zero = OpConstant %uint 0
    %enabled = OpSpecConstantFalse %bool
    %size = OpSpecConstant %uint 0
    %array = OpTypeRuntimeArray %uint
    %block = OpTypeStruct %array
    %to_block = OpTypePointer StorageBuffer %block
    %to_uint = OpTypePointer StorageBuffer %uint
    %to_id = OpTypePointer Input %uint3
    %data = OpVariable %to_block StorageBuffer
    %id = OpVariable %to_id Input
    %main = OpFunction %void None %function
    %start = OpLabel
    %ids = OpLoad %uint3 %id
    %x = OpCompositeExtract %uint %ids 0
    %is_below = OpULessThan %bool %x %size
    %is_active = OpLogicalAnd %bool %enabled %is_below
    OpSelectionMerge %end None
    OpBranchConditional %is_active %then %end
    %then = OpLabel
    %at = OpAccessChain %to_uint %data %zero %x
    OpStore %at %size
    OpBranch %end
    %end = OpLabel
    OpReturn
    OpFunctionEnd
";

#[test]
fn specialisation_constants_that_are_zero_get_a_value() {
    let shader = ShaderSource::read("guard.spvasm", SPECIALISED.as_bytes()).unwrap();
    let (chosen, result) = searched_in(&shader, &Options::default());
    assert_eq!(chosen.expect("the defaults write nothing").to_string(), " --spec 3=true --spec 7=64");
    let writes = result.writes.unwrap();
    assert_eq!((result.status, writes.written), (Status::Pass, 128), "{writes}");
    // A size of 1 stands for one that the application states.
    let of_one = SPECIALISED.replace("OpSpecConstant %uint 0", "OpSpecConstant %uint 1");
    let (chosen, _) = searched_in(&ShaderSource::read("guard.spvasm", of_one.as_bytes()).unwrap(), &Options::default());
    assert_eq!(chosen.expect("the defaults write nothing").to_string(), " --spec 3=true --spec 7=64");
    // A value from the options is kept.
    let options = Options { specs: vec![("7".to_owned(), "20".to_owned())], ..Options::default() };
    let (chosen, result) = searched_in(&shader, &options);
    assert_eq!(chosen.unwrap().to_string(), " --spec 3=true");
    assert_eq!(result.writes.unwrap().written, 40);
}

/// The defaults check an output, but exclude a part of the code.
#[test]
fn specialisation_constants_get_values_with_which_more_is_executed() {
    let text = SPECIALISED.replace(
        "OpSelectionMerge",
        "%at = OpAccessChain %to_uint %data %zero %x
        OpStore %at %x
        OpSelectionMerge",
    );
    let text = text.replace(
        "%at = OpAccessChain %to_uint %data %zero %x
    OpStore %at %size",
        "%square = OpIMul %uint %x %x
        OpStore %at %square",
    );
    let shader = ShaderSource::read("guard.spvasm", text.as_bytes()).unwrap();
    let (chosen, result) = searched_in(&shader, &Options::default());
    let chosen = chosen.expect("the defaults exclude the square");
    assert_eq!(chosen.to_string(), " --spec 3=true --spec 7=16");
    assert!(chosen.note().contains("specialisation constants exclude a part of the shader"), "{}", chosen.note());
    assert_eq!(result.status, Status::Pass, "{result:?}");
}

#[test]
fn arrays_over_which_a_shader_loops_are_short() {
    let text = "struct Light { position: vec4<f32>, colour: vec4<f32> }
        @group(0) @binding(0) var<storage> lights: array<Light>;
        @group(0) @binding(1) var<storage, read_write> result: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var sum = 0.0;
            for (var i = 0u; i < arrayLength(&lights); i++) {
                for (var j = 0u; j < arrayLength(&lights); j++) {
                    sum += distance(lights[i].position, lights[j].colour * f32(id.x));
                }
            }
            result[id.x] = sum;
        }";
    let chosen = searched(text, &Options::default()).0.expect("the defaults take too much work").to_string();
    assert!(chosen.contains("--elements 0.0=4"), "{chosen}");
    let given = Options { elements: vec![(Some("lights".parse().unwrap()), 2)], ..Options::default() };
    let chosen = searched(text, &given).0.map(|chosen| chosen.to_string()).unwrap_or_default();
    assert!(!chosen.contains("--elements 0.0"), "{chosen}");
}

/// A slice of a volume is as long as its rows together.
#[test]
fn strides_of_slices_are_larger_than_sizes() {
    let text = "struct Shape { w: u32, h: u32, c: u32, cstep: u32 }
        var<immediate> p: Shape;
        @group(0) @binding(0) var<storage, read_write> data: array<f32>;
        @compute @workgroup_size(4, 4, 4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if (id.x >= p.w || id.y >= p.h || id.z >= p.c) { return; }
            let i = id.z * p.cstep + id.y * p.w + id.x;
            data[i] = data[i] * 1.5 + 1.0;
        }";
    let chosen = passes(text, &Options::default(), 90);
    assert!(chosen.starts_with(" --push w=8,h=8,c=8,cstep=64"), "{chosen}");
}
