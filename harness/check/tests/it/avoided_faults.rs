//! Undefined behaviour of shaders that chosen parameters avoid: the verdict names it.

use crate::support::{SyntheticTarget, concluded, wgsl};
use assay_check::{Check, CheckSession, Options};
use assay_events::{CheckResult, Status};

fn searched(text: &str) -> CheckResult {
    let mut session = CheckSession::new(wgsl(text), Options::default());
    session.search(&SyntheticTarget::default(), &|| ()).unwrap();
    concluded(&session, &SyntheticTarget::default())
}

/// Bodies in tiles, without the barrier before the next tile: a single tile has no race.
const TILES: &str = "const TILE = 64u;
    struct Params { count: u32 }
    @group(0) @binding(0) var<storage, read> bodies: array<u32>;
    @group(0) @binding(1) var<storage, read_write> sums: array<u32>;
    @group(0) @binding(2) var<uniform> params: Params;
    var<workgroup> tile: array<u32, TILE>;
    @compute @workgroup_size(TILE) fn main(
        @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32,
    ) {
        var sum = 0u;
        for (var t = 0u; t < min(params.count, 256u); t += TILE) {
            tile[i] = bodies[t + i];
            workgroupBarrier();
            for (var k = 0u; k < TILE; k++) { sum += tile[k]; }
            // BARRIER
        }
        if id.x < params.count { sums[id.x] = sum + id.x; }
    }";

#[test]
fn a_race_of_other_sizes_is_named() {
    let result = searched(TILES);
    let reason = result.reason.clone().unwrap_or_default();
    assert_eq!(result.status, Status::QualityWarning, "{result:?}");
    assert!(reason.starts_with("data race at test.wgsl:12:"), "{reason}");
    assert!(reason.contains(", which is undefined behaviour, with --input params.count="), "{reason}");
    assert!(reason.contains(" (a barrier may be missing); with the chosen parameters, "), "{reason}");
    let details = " writes here what invocation 63, 0, 0 reads, and nothing orders the two; the other access is at ";
    assert!(reason.contains("\ndata race on workgroup memory: invocation ") && reason.contains(details), "{reason}");
    let ordered = searched(&TILES.replace("// BARRIER", "workgroupBarrier();"));
    assert_eq!(ordered.status, Status::Pass, "{ordered:?}");
}

/// A tile with a border whose width is a parameter: without one, each invocation reads its own element.
#[test]
fn a_race_of_most_parameters_is_named() {
    let text = |barrier: &str| {
        format!(
            "struct Params {{ radius: u32 }}
            @group(0) @binding(0) var<storage, read> source: array<u32>;
            @group(0) @binding(1) var<storage, read_write> sums: array<u32>;
            @group(0) @binding(2) var<uniform> params: Params;
            var<workgroup> tile: array<u32, 64>;
            @compute @workgroup_size(64) fn main(
                @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32,
            ) {{
                tile[i] = source[id.x];
                {barrier}
                sums[id.x] = tile[(i + params.radius % 63u) % 64u] * 3u + id.x;
            }}"
        )
    };
    let result = searched(&text(""));
    let reason = result.reason.clone().unwrap_or_default();
    assert_eq!(result.status, Status::QualityWarning, "{result:?}");
    assert!(reason.starts_with("data race at test.wgsl:11:"), "{reason}");
    assert!(reason.contains(" with the defaults (a barrier may be missing); with the"), "{reason}");
    assert_eq!(searched(&text("workgroupBarrier();")).status, Status::Pass);
}

/// Two reductions without a barrier between them, behind a guard: all parameters that execute them race,
/// and the others say nothing.
#[test]
fn a_race_of_all_parameters_that_say_something_is_named() {
    let result = searched(
        "struct Params { rows: u32 }
        @group(0) @binding(0) var<storage, read> source: array<u32>;
        @group(0) @binding(1) var<storage, read_write> sums: array<u32>;
        @group(0) @binding(2) var<uniform> params: Params;
        var<workgroup> scratch: array<u32, 64>;
        fn sum(value: u32, i: u32) -> u32 {
            scratch[i] = value;
            workgroupBarrier();
            for (var s = 32u; s > 0u; s >>= 1u) {
                if i < s { scratch[i] += scratch[i + s]; }
                workgroupBarrier();
            }
            return scratch[0];
        }
        @compute @workgroup_size(64) fn main(
            @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32,
        ) {
            if params.rows != 7u { return; }
            let mean = sum(source[id.x], i) / 64u;
            sums[id.x] = sum(source[id.x] ^ mean, i) + id.x;
        }",
    );
    let reason = result.reason.clone().unwrap_or_default();
    assert_eq!(result.status, Status::Undetermined, "{result:?}");
    assert!(reason.starts_with("data race at test.wgsl:7:"), "{reason}");
    assert!(reason.contains(" with --input params.rows=7 (a barrier may be missing)\n"), "{reason}");
    assert!(reason.contains("\nwith the defaults, the shader wrote none of"), "{reason}");
}

/// Results that a table of places orders: generated places collide, and those of a permutation do not.
#[test]
fn a_race_at_places_from_data_is_not_named() {
    let result = searched(
        "@group(0) @binding(0) var<storage, read> places: array<u32>;
        @group(0) @binding(1) var<storage, read> source: array<u32>;
        @group(0) @binding(2) var<storage, read_write> sorted: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            sorted[places[id.x] % arrayLength(&sorted)] = source[id.x] * 3u;
        }",
    );
    assert_eq!((result.status, &result.reason), (Status::Pass, &None), "{result:?}");
    assert!(result.notes.iter().any(|note| note.contains("--input places=index")), "{:?}", result.notes);
}

/// The last row of a grid, whose next row is beyond arrays of the usual length.
#[test]
fn the_access_for_which_an_array_is_long_is_named() {
    let result = searched(
        "@group(0) @binding(0) var<storage, read> cells: array<u32>;
        @group(0) @binding(1) var<storage, read_write> sums: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            sums[id.x] = cells[id.x + 16u];
        }",
    );
    let long = "with an element for each invocation, the access at test.wgsl:4:26: `sums[id.x] = cells[id.x + 16u]` is out \
                of bounds, so Assay chose the lengths cells=272; if";
    assert!(result.notes.iter().any(|note| note.contains(long)), "{:?}", result.notes);
}

/// Cells that read their neighbours in place, unless a parameter skips that.
fn in_place(body: &str) -> String {
    format!(
        "struct Params {{ count: u32, paused: u32 }}
        @group(0) @binding(0) var<storage, read_write> cells: array<u32, 256>;
        @group(0) @binding(1) var<uniform> params: Params;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            var sum = cells[id.x];
            {body}
            cells[id.x] = sum * 3u + id.x;
        }}"
    )
}

#[test]
fn a_race_that_parameters_skip_is_named() {
    let text = in_place("for (var k = 1u; k < min(params.count, 64u); k++) { sum += cells[(id.x + k) % 256u]; }");
    let result = searched(&text);
    let reason = result.reason.clone().unwrap_or_default();
    assert_eq!(result.status, Status::QualityWarning, "{result:?}");
    assert!(reason.starts_with("data race at test.wgsl:6:"), "{reason}");
    assert!(reason.contains("; with the chosen parameters, which skip this access, "), "{reason}");
    // Places that depend on a parameter coincide for most of its values, too.
    let strided = searched(&text.replace("+ k) %", "+ k * params.paused) %")).reason.unwrap_or_default();
    assert!(strided.contains(", with the defaults; ") && !strided.contains("skip"), "{strided}");
}

#[test]
fn a_race_in_most_of_the_code_is_avoided_one_invocation_after_another() {
    let steps = "sum = (sum ^ (sum >> 3u)) * 5u + (sum >> 7u) + (sum & 12u);".repeat(4);
    let text = in_place(&format!("if params.paused == 0u {{ sum += cells[(id.x + 1u) % 256u]; {steps} }}"));
    let result = searched(&text);
    let reason = result.reason.clone().unwrap_or_default();
    assert_eq!(result.status, Status::QualityWarning, "{result:?}");
    assert!(reason.starts_with("data race at test.wgsl:7:"), "{reason}");
    let otherwise = "; with invocations executed one after another, ";
    assert!(reason.contains(otherwise) && result.is_meaningful(), "{reason}");
}

#[test]
fn an_access_that_needs_robustness_is_named() {
    let text = |at: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read> cells: array<u32>;
            @group(0) @binding(1) var<storage, read_write> next: array<u32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                next[id.x] = cells[{at}] * 3u + id.x;
            }}"
        )
    };
    let result = searched(&text("id.x - 1u"));
    let reason = result.reason.clone().unwrap_or_default();
    assert_eq!(result.status, Status::QualityWarning, "{result:?}");
    let unless = ", which is undefined behaviour unless the application enables robustness; with robustness, ";
    assert!(reason.starts_with("access out of bounds at test.wgsl:4:") && reason.contains(unless), "{reason}");
    assert_eq!(searched(&text("id.x")).status, Status::Pass);
    // The shader is not to blame for inputs that Assay chose.
    let shifted = "struct Params { shift: u32 }
        @group(0) @binding(0) var cells: texture_2d<u32>;
        @group(0) @binding(1) var<storage, read_write> next: array<u32>;
        @group(0) @binding(2) var<uniform> params: Params;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            next[id.x] = textureLoad(cells, vec2(reverseBits(id.x + 1u) >> min(params.shift, 1u), 0u), 0).x * 3u + id.x;
        }";
    let reason = searched(shifted).reason.unwrap_or_default();
    assert!(reason.contains(" with these inputs, which is undefined behaviour unless"), "{reason}");
}

#[test]
fn a_refusal_for_races_advises_order() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32, 64>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
            data[i] = data[(i + 1u) % 64u];
        }";
    let options = Options { groups: Some([1; 3]), ..Options::default() };
    let shader = wgsl(text);
    let error = Check::new(&shader, &options).unwrap().run(&SyntheticTarget::default()).unwrap_err().to_string();
    let advice =
        "if these inputs are valid, the shader lacks a barrier or an atomic between the two accesses; otherwise";
    assert!(error.contains(advice), "{error}");
}

#[test]
fn no_length_is_advised_before_the_beginning_of_a_buffer() {
    let error = |offset: &str| {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                data[i32(id.x) {offset}] = 1u;
            }}"
        );
        let shader = wgsl(&text);
        Check::new(&shader, &Options::default()).unwrap().run(&SyntheticTarget::default()).unwrap_err().to_string()
    };
    assert!(error("+ 7").contains("--elements data=263"), "{}", error("+ 7"));
    assert!(!error("- 7").contains("--elements data="), "{}", error("- 7"));
}

/// All invocations read an element, and one writes it after a barrier of workgroup memory.
#[test]
fn a_barrier_that_orders_other_memory_is_named() {
    let text = |barrier: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> sums: array<u32>;
            var<workgroup> parts: array<u32, 64>;
            @compute @workgroup_size(64) fn main(
                @builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) i: u32,
            ) {{
                parts[i] = sums[group.x] + i;
                {barrier}
                if i == 0u {{ sums[group.x] = parts[63] * 3u; }}
            }}"
        )
    };
    let run = |barrier: &str| {
        let shader = wgsl(&text(barrier));
        Check::new(&shader, &Options::default()).unwrap().run(&SyntheticTarget::default())
    };
    let error = run("workgroupBarrier();").unwrap_err().to_string();
    let told = " reads, and the barrier between the two orders accesses to other memory alone; \
                storageBarrier(), or textureBarrier() for storage textures orders them, too";
    assert!(error.contains(told), "{error}");
    assert_eq!(run("workgroupBarrier(); storageBarrier();").unwrap().status, Status::Pass);
}

/// A table whose last element has no successor.
#[test]
fn an_access_just_past_the_end_of_an_array_comes_first() {
    let text = |next: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read> table: array<u32, 16>;
            @group(0) @binding(1) var<storage, read> keys: array<u32>;
            @group(0) @binding(2) var<storage, read_write> sums: array<u32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                let i = min(keys[id.x], 15u);
                sums[id.x] = table[i] * 3u + table[{next}];
            }}"
        )
    };
    let result = searched(&text("i + 1u"));
    let reason = result.reason.clone().unwrap_or_default();
    assert_eq!(result.status, Status::QualityWarning, "{result:?}");
    assert!(reason.starts_with("access outside of an array at test.wgsl:6:"), "{reason}");
    assert!(reason.contains("\nout of bounds: index 16 of an array of 16"), "{reason}");
    assert_eq!(searched(&text("min(i + 1u, 15u)")).status, Status::Pass);
    // Any key may be too large: the shader requires small ones.
    let unclamped = searched(&text("keys[id.x]"));
    assert_eq!(unclamped.status, Status::Pass, "{unclamped:?}");
}

/// A table that a parameter selects from.
#[test]
fn an_access_outside_of_an_array_that_a_parameter_avoids_is_a_note() {
    let result = searched(
        "struct Params { count: u32, row: u32 }
        @group(0) @binding(0) var<storage, read> table: array<u32, 8>;
        @group(0) @binding(1) var<storage, read_write> sums: array<u32>;
        @group(0) @binding(2) var<uniform> params: Params;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if params.count < 100u { return; }
            sums[id.x] = table[min(params.row, 99u)] * 3u + id.x;
        }",
    );
    assert_eq!(result.status, Status::Pass, "{result:?}");
    let note = result.notes.iter().find(|note| note.contains("no length of a buffer permits it")).expect("a note");
    assert!(
        note.contains("the access at test.wgsl:7:") && note.contains("out of bounds: index 99 of an array of 8"),
        "{note}"
    );
    assert!(note.contains("params.row=256"), "{note}");
}

/// The race and its other access, and the value behind an undefined decision.
#[test]
fn a_fault_names_the_lines_that_cause_it() {
    let refusal = |text: &str| {
        let shader = wgsl(text);
        let options = Options { groups: Some([1; 3]), ..Options::default() };
        Check::new(&shader, &options).unwrap().run(&SyntheticTarget::default()).unwrap_err().to_string()
    };
    let racing = refusal(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32, 64>;
        var<workgroup> tile: array<u32, 64>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
            tile[i] = i * 3u;
            data[i] = tile[(i + 1u) % 64u];
        }",
    );
    assert!(racing.contains("the other access is at test.wgsl:4:"), "{racing}");
    let itself = refusal(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32, 64>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
            data[i / 2u] = i;
        }",
    );
    assert!(itself.contains("the other access is at the same place"), "{itself}");
    // What no input changes comes first, though it happens last.
    let fixed = refusal(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32, 64>;
        @group(0) @binding(1) var<storage, read> keys: array<u32>;
        @group(0) @binding(2) var<storage, read_write> tile: array<u32, 60>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
            data[i] = keys[keys[i] | 0x1000u];
            tile[i] = i;
        }",
    );
    let [first, second] = ["test.wgsl:6:", "test.wgsl:5:"].map(|place| fixed.find(place).expect("both places"));
    assert!(first < second, "{fixed}");
    assert!(fixed.contains("  the index depends on no input, so other inputs help only if"), "{fixed}");
}
