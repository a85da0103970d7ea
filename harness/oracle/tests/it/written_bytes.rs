//! Bytes that a dispatch wrote: stores, atomics, copies and image stores, also where they are not
//! certain.

use crate::support::*;
use assay_oracle::{Copies, Dispatch, Limits, Outcome, Program, Slot, SpecValues};
use assay_spirv::tables::ImageFormat;
use rayon::ThreadPoolBuilder;

const HEAD: &str = "struct Pair { first: u32, second: u32 }
    @group(0) @binding(0) var<storage, read_write> data: array<f32>;
    @group(0) @binding(1) var<storage, read_write> out: array<u32>;
    @group(0) @binding(2) var<storage, read_write> atomics: array<atomic<u32>>;
    @group(0) @binding(3) var<storage, read_write> pairs: array<Pair>;";

/// Words in each buffer.
const WORDS: u64 = 64;

/// Runs a body with 4 invocations in each of so many workgroups.
fn ran(body: &str, change: impl FnOnce(&mut Dispatch)) -> Outcome {
    let text = format!(
        "{HEAD}\n@compute @workgroup_size(SIZE) fn main(@builtin(global_invocation_id) g: vec3<u32>) {{
             _ = arrayLength(&data) + arrayLength(&out) + arrayLength(&atomics) + arrayLength(&pairs);
             {body}
         }}"
    );
    let mut dispatch = Dispatch { groups: [2, 1, 1], ..Dispatch::default() };
    dispatch.bindings = (0..4).map(|binding| (Slot::new(0, binding), words(&[1; WORDS as usize]))).collect();
    dispatch.bindings.insert(Slot::new(0, 0), floats(&[1.0; WORDS as usize]));
    change(&mut dispatch);
    // A dispatch of one workgroup is one of a single invocation.
    let size = if dispatch.groups == [1; 3] { "1" } else { "4" };
    let module = wgsl(&text.replace("SIZE", size));
    let program = Program::new(&module, "main", &SpecValues::new()).expect("a program");
    let limits = Limits { together_from: 0, ..Limits::default() };
    let threads = ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    let outcome = threads.install(|| program.run(&dispatch, &limits)).expect("it runs");
    assert_eq!(outcome.faults, [], "{body}");
    outcome
}

/// The words of a binding that were written.
fn written(outcome: &Outcome, binding: u32) -> Vec<u64> {
    let memory = &outcome.memory[&Slot::new(0, binding)];
    (0..WORDS).filter(|word| memory.is_written(4 * word, 4)).collect()
}

#[test]
fn stores_are_writes_whatever_they_store() {
    let plain = |_: &mut Dispatch| ();
    let alone = |dispatch: &mut Dispatch| dispatch.groups = [1; 3];
    let many = |dispatch: &mut Dispatch| dispatch.groups = [16, 1, 1];
    assert_eq!(written(&ran("out[2u * g.x] = g.x;", plain), 1), [0, 2, 4, 6, 8, 10, 12, 14]);
    // The value that was there.
    assert_eq!(written(&ran("out[g.x] = out[g.x];", plain), 1), (0..8).collect::<Vec<_>>());
    assert_eq!(written(&ran("out[g.x] = g.x;", many), 1), (0..64).collect::<Vec<_>>());
    // Loads are not.
    assert_eq!(written(&ran("if data[g.x] > 9.0 { out[g.x] = 1u; }", plain), 1), [0; 0]);
    assert_eq!(written(&ran("out[5] = g.x; pairs[3].second = 7u;", alone), 1), [5]);
    // A member of a structure, and a copy of all of it.
    assert_eq!(written(&ran("pairs[3].second = 7u;", alone), 3), [7]);
    assert_eq!(written(&ran("pairs[g.x] = pairs[g.x + 8u];", plain), 3), (0..16).collect::<Vec<_>>());
}

#[test]
fn stores_on_undecided_paths_are_writes() {
    // The sine of 0.5 is between the two.
    let body = "data[g.x + 8u] = sin(0.5 * data[g.x]); if data[g.x + 8u] > 0.47942554 { out[g.x] = 3u; }";
    assert_eq!(written(&ran(body, |_| ()), 1), (0..8).collect::<Vec<_>>());
}

#[test]
fn atomics_are_writes_unless_they_surely_change_nothing() {
    let plain = |_: &mut Dispatch| ();
    assert_eq!(written(&ran("atomicAdd(&atomics[3], g.x);", plain), 2), [3]);
    assert_eq!(written(&ran("_ = atomicLoad(&atomics[g.x]);", plain), 2), [0; 0]);
    let exchange = "_ = atomicCompareExchangeWeak(&atomics[g.x], select(1u, 2u, g.x > 3u), 5u);";
    assert_eq!(written(&ran(exchange, plain), 2), [0, 1, 2, 3]);
    assert_eq!(written(&ran(exchange, |dispatch| dispatch.groups = [1; 3]), 2), [0]);
}

#[test]
fn a_part_of_the_workgroups_writes_its_part() {
    let outcome = ran("out[g.x] = g.x; atomicAdd(&atomics[1], 1u);", |dispatch| {
        dispatch.groups = [16, 1, 1];
        dispatch.only = Some(assay_oracle::InvocationSubset::of_workgroups([0, 7]));
    });
    assert_eq!(written(&outcome, 1), [0, 1, 2, 3, 28, 29, 30, 31]);
    let out = &outcome.memory[&Slot::new(0, 1)];
    assert!(out.is_known(0, 16) && !out.is_known(16, 4));
}

/// A store that may have gone anywhere may have written anything.
#[test]
fn memory_of_which_nothing_is_known_is_written() {
    let body = "data[g.x + 8u] = exp2(60.0 * data[g.x]); out[u32(data[g.x + 8u] * 1e-10) % 64u] = 1u;";
    let outcome = ran(body, |dispatch| dispatch.groups = [1; 3]);
    let out = &outcome.memory[&Slot::new(0, 1)];
    assert_eq!(out.cells().len() as u64, WORDS, "nothing is known of it");
    assert_eq!(written(&outcome, 1), (0..WORDS).collect::<Vec<_>>());
}

/// A lenient reading lets a copy change a NaN, after which another branch may be taken.
#[test]
fn stores_of_the_lenient_reading_count_as_writes() {
    let body = "data[g.x + 8u] = data[g.x]; if bitcast<u32>(data[g.x + 8u]) == 0u { out[g.x] = 3u; }";
    let zeros = |copies: Copies| {
        move |dispatch: &mut Dispatch| {
            dispatch.copies = copies;
            // -0: copied by the letter it may be either zero.
            dispatch.bindings.insert(Slot::new(0, 0), words(&[0x8000_0000; WORDS as usize]));
        }
    };
    assert_eq!(written(&ran(body, zeros(Copies::Preserve)), 1), [0; 0]);
    assert_eq!(written(&ran(body, zeros(Copies::Assume)), 1), (0..8).collect::<Vec<_>>());
}

#[test]
fn texels_are_written_one_by_one() {
    let text = "@group(0) @binding(0) var to: texture_storage_2d<r8uint, write>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
            if i > 1u { textureStore(to, vec2<u32>(i, 1u), vec4<u32>(7u)); }
        }";
    let image = plane(ImageFormat::R8ui, [4, 2, 1], vec![7; 8]);
    let bindings = [(Slot::new(0, 0), image)].into();
    let dispatch = Dispatch { groups: [1; 3], bindings, ..Dispatch::default() };
    let program = Program::new(&wgsl(text), "main", &SpecValues::new()).expect("a program");
    let outcome = program.run(&dispatch, &Limits::default()).expect("it runs");
    let memory = &outcome.memory[&Slot::new(0, 0)];
    let texels: Vec<u64> = (0..8).filter(|texel| memory.is_written(*texel, 1)).collect();
    assert_eq!(texels, [6, 7]);
}
