//! Inputs of a search as a programmer would choose them: sorted keys, sides of a grid, flags, packed halves,
//! and loops that repeat.

use crate::support::{SyntheticTarget, concluded, wgsl};
use assay_check::{CheckSession, Options};
use assay_events::{CheckResult, Status};

/// Returns the result of a check with the parameters of the search, and these.
fn searched(text: &str) -> (CheckResult, String) {
    let mut session = CheckSession::new(wgsl(text), Options::default());
    session.search(&SyntheticTarget::default(), &|| ()).unwrap();
    let result = concluded(&session, &SyntheticTarget::default());
    let chosen = result.chosen.clone().unwrap_or_default();
    (result, chosen)
}

/// Ranks are places of their own only if no keys are equal.
#[test]
fn keys_that_must_differ_are_sorted_numbers() {
    let (result, chosen) = searched(
        "@group(0) @binding(0) var<storage, read> keys: array<u32>;
        @group(0) @binding(1) var<storage, read_write> ranks: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var rank = 0u;
            for (var i = 0u; i < arrayLength(&keys); i++) {
                if keys[i] < keys[id.x] { rank++; }
            }
            ranks[rank] = id.x * 3u + 1u;
        }",
    );
    assert_eq!((result.status, &*chosen), (Status::Pass, "--input keys=index"), "{result:?}");
}

#[test]
fn sides_of_a_grid_are_those_of_the_dispatch() {
    let (result, chosen) = searched(
        "struct Grid { width: u32, height: u32, scale: f32 }
        var<immediate> grid: Grid;
        @group(0) @binding(0) var<storage, read_write> cells: array<f32>;
        @compute @workgroup_size(16, 4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x >= grid.width || id.y >= grid.height { return; }
            cells[id.y * grid.width + id.x] = f32(id.x * 5u + id.y);
        }",
    );
    assert_eq!((result.status, &*chosen), (Status::Pass, "--push width=32,height=8"), "{result:?}");
    let inputs = result.parameters.as_deref().unwrap();
    assert!(inputs.starts_with("width=32, height=8, scale="), "{inputs}");
}

#[test]
fn a_flag_is_no_size() {
    let (result, chosen) = searched(
        "struct Params { count: u32, doubles: u32 }
        var<immediate> p: Params;
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x >= p.count || p.count < 100u { return; }
            data[id.x] = id.x * 3u + 1u;
            if p.doubles != 0u { data[id.x] *= 2u; }
        }",
    );
    assert_eq!((result.status, &*chosen), (Status::Pass, "--push count=256,doubles=0/1"), "{result:?}");
}

#[test]
fn packed_halves_are_simple_numbers() {
    let (result, chosen) = searched(
        "@group(0) @binding(0) var<storage, read> pairs: array<u32>;
        @group(0) @binding(1) var<storage, read_write> data: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let pair = unpack2x16float(pairs[id.x]);
            data[id.x] = log2(pair.x) * 0.5 + pair.y;
        }",
    );
    assert_eq!(result.status, Status::Pass, "{result:?}");
    assert!(chosen.contains("--input pairs=one-of:939539456,"), "{chosen}: {result:?}");
}

#[test]
fn loops_repeat() {
    let (result, chosen) = searched(
        "struct Params { count: u32, columns: u32 }
        var<immediate> p: Params;
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x >= p.count || p.count < 100u || p.columns < 256u { return; }
            var sum = id.x;
            for (var tile = 0u; tile < p.columns / 256u; tile++) { sum = sum * 3u + tile; }
            data[id.x] = sum;
        }",
    );
    assert_eq!((result.status, &*chosen), (Status::Pass, "--push count=256,columns=1024"), "{result:?}");
    assert!(result.executed.unwrap().loops_without_repetition.is_empty());
}

/// Appended elements, up to a capacity.
#[test]
fn a_counter_begins_at_zero() {
    let (result, chosen) = searched(
        "struct Params { count: u32, capacity: u32 }
        var<immediate> p: Params;
        @group(0) @binding(0) var<storage, read_write> size: atomic<u32>;
        @group(0) @binding(1) var<storage, read_write> list: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x >= p.count || p.count < 100u { return; }
            let at = atomicAdd(&size, 1u);
            if at < p.capacity && at < 256u { list[at] = id.x * 3u + 1u; }
        }",
    );
    assert!(
        chosen.contains("--push count=256,capacity=256") && chosen.contains("--input size@0=0"),
        "{chosen}: {result:?}"
    );
}

/// Offsets of lists lead beyond the list, unless they are small.
#[test]
fn offsets_of_lists_are_small_beside_large_sizes() {
    let (result, chosen) = searched(
        "struct Params { count: u32 }
        var<immediate> p: Params;
        @group(0) @binding(0) var<storage, read> offsets: array<u32>;
        @group(0) @binding(1) var<storage, read> items: array<u32>;
        @group(0) @binding(2) var<storage, read_write> sums: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x >= p.count || p.count < 100u { return; }
            var sum = id.x;
            for (var at = offsets[id.x]; at < offsets[id.x + 1u]; at++) { sum = sum * 5u + items[at]; }
            sums[id.x] = sum;
        }",
    );
    assert_eq!(result.status, Status::Pass, "{result:?}");
    assert!(chosen.contains("--push count=256") && chosen.contains("--input offsets=index"), "{chosen}");
}

/// A stride at which all neighbours lie outside of the grid.
#[test]
fn parameters_of_skipped_code_let_it_run() {
    let steps = "sum = (sum ^ (sum >> 3u)) * 5u + (sum >> 7u);".repeat(4);
    let (result, chosen) = searched(&format!(
        "struct Params {{ size: u32, stride: u32 }}
        var<immediate> p: Params;
        @group(0) @binding(0) var<storage, read> source: array<u32>;
        @group(0) @binding(1) var<storage, read_write> sums: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            if id.x >= p.size || p.size < 100u {{ return; }}
            var sum = source[id.x];
            if id.x + min(p.stride, 9999u) < min(p.size, 256u) {{ {steps} }}
            sums[id.x] = sum * 3u;
        }}"
    ));
    assert_eq!(result.status, Status::Pass, "{result:?}");
    assert!(chosen.contains("stride=1"), "{chosen}");
}

/// A round in which no invocation passes the guard says nothing.
#[test]
fn no_round_is_idle() {
    let (result, chosen) = searched(
        "struct Params { count: u32 }
        var<immediate> p: Params;
        @group(0) @binding(0) var<storage, read_write> data: array<u32, 64>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x >= 64u || p.count > 1000000u { return; }
            data[id.x] = id.x * 3u + p.count;
        }",
    );
    assert_eq!(result.status, Status::Pass, "{result:?}");
    assert!(result.unjudged.is_empty(), "{chosen}: {result:?}");
}
