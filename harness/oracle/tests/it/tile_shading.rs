//! Tile shading: visible texels, and equivalence of lowered modules.

use crate::support::*;
use assay_oracle::{Dispatch, FaultKind, Image, Limits, Outcome, Program, Resource, RunError, Slot, SpecValues, Tile};
use assay_spirv::Module;
use assay_spirv::tables::{Dim, ImageFormat};
use assay_spirv_lower::tile::{TilePushConstants, lower};
use assay_texture::ImageView;
use std::collections::BTreeMap;

const TEXT: &str = include_str!("../../../spirv-lower/tests/lower/tile.spvasm");

const WIDTH: u32 = 12;
const HEIGHT: u32 = 8;

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn texels(first: u32) -> Resource {
    let data = bytes(&(0..WIDTH * HEIGHT).map(|i| first + i * i % 97).collect::<Vec<_>>());
    let (dim, extent, format) = (Dim::Dim2D, [WIDTH, HEIGHT, 1], ImageFormat::R32ui);
    Resource::Image(Image {
        dim,
        extent,
        layers: 1,
        levels: 1,
        samples: 1,
        format,
        depth: false,
        view: ImageView::ALL,
        data,
    })
}

fn bindings() -> BTreeMap<Slot, Resource> {
    [texels(5), texels(100), words(&[0, 0, 0])].into_iter().zip(0..).map(|(r, i)| (Slot::new(0, i), r)).collect()
}

const TILE: Tile = Tile { offset: [4, 4], size: [5, 4, 1], apron: [2, 1], area: [[1, 0], [10, 7]] };

fn push(area: [[u32; 2]; 2]) -> Vec<u8> {
    let [[x, y], [w, h]] = area;
    bytes(&[x, y, w, h, 3])
}

/// Runs the native module for a tile.
fn native(text: &str, tile: Tile) -> Outcome {
    let program = Program::new(&spirv(text), "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let groups = tile.blocks(program.tile_shading_rate().unwrap());
    let dispatch = Dispatch {
        groups,
        push_constants: push(tile.area),
        bindings: bindings(),
        tile: Some(tile),
        ..Dispatch::default()
    };
    program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn image(outcome: &Outcome, binding: u32) -> Vec<u32> {
    let memory = &outcome.memory[&Slot::new(0, binding)];
    assert_eq!(memory.cells(), []);
    memory.bytes().chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

#[test]
fn a_tile_computes_its_texels_within_the_render_area() {
    let outcome = native(TEXT, TILE);
    assert_eq!(outcome.faults, []);
    let value = |first: u32, x: u32, y: u32| first + (y * WIDTH + x).pow(2) % 97;
    let mut sum = 0u32;
    for (i, found) in (0..).zip(image(&outcome, 0)) {
        let (x, y) = (i % WIDTH, i / WIDTH);
        let inside = (4..9).contains(&x) && (4..7).contains(&y);
        let expected = if inside { (value(5, x, y) + value(100, x - 1, y)) * 3 } else { value(5, x, y) };
        assert_eq!(found, expected, "({x}, {y})");
        sum += if inside { expected } else { 0 };
    }
    // The sizes that the built-ins give follow the sum.
    assert_eq!(exact(&outcome, 2), [sum, 2, 1]);
}

#[test]
fn loads_beyond_the_apron_and_stores_beyond_the_tile_break_a_rule() {
    // Number of accesses that break a rule, and the first one of each instruction.
    let rules = |outcome: &Outcome| {
        let first: Vec<_> = outcome.faults.iter().map(|f| (f.kind, f.detail.clone())).collect();
        (outcome.fault_count, first)
    };
    assert_eq!(rules(&native(TEXT, TILE)).0, 0);
    // Without apron, the left neighbour of the tile's first column may not be loaded.
    let (count, narrow) = rules(&native(TEXT, Tile { apron: [0, 1], ..TILE }));
    assert_eq!((count, narrow.len(), narrow[0].0), (3, 1, FaultKind::Rule));
    let detail = &narrow[0].1;
    assert!(
        detail.contains("VUID-RuntimeSpirv-Coordinate-10713") && detail.contains("a load of texel (3, 4)"),
        "{detail}"
    );
    // Loads stop at the render area whatever the apron is.
    let clamps = "%clamped = OpSelect %uint %has_left %left_x %x";
    assert!(TEXT.contains(clamps));
    let cut = Tile { area: [[4, 0], [7, 7]], ..TILE };
    assert_eq!(rules(&native(TEXT, cut)).0, 0);
    let unclamped = TEXT.replace(clamps, "%clamped = OpCopyObject %uint %left_x");
    assert_eq!(rules(&native(&unclamped, cut)).0, 3);
    // A store may not even go to the apron.
    let stores = "OpImageWrite %target_image %at %stored";
    assert!(TEXT.contains(stores));
    let shifted = TEXT.replace(stores, "OpImageWrite %target_image %left_at %stored");
    let (count, found) = rules(&native(&shifted, TILE));
    let stored: Vec<_> = found.iter().filter(|(kind, _)| *kind == FaultKind::Rule).collect();
    assert!(count >= 3 && stored.len() == 1 && stored[0].1.contains("a store to texel (3, 4)"), "{found:?}");
}

#[test]
fn no_shader_of_tile_shading_runs_outside_a_tile() {
    let program = Program::new(&spirv(TEXT), "main", &SpecValues::new()).unwrap();
    let dispatch = Dispatch { bindings: bindings(), push_constants: push(TILE.area), ..Dispatch::default() };
    let error = program.run(&dispatch, &Limits::default()).unwrap_err();
    assert!(matches!(&error, RunError::Dispatch(what) if what.contains("10743")), "{error}");
}

#[test]
fn lowered_and_native_modules_leave_the_same_memory() {
    let values = TilePushConstants { offset: TILE.offset, size: TILE.size, apron: TILE.apron };
    let expected = native(TEXT, TILE);
    for local_size in [[1, 1, 1], [8, 8, 1], [2, 3, 1], [64, 1, 1]] {
        let lowered = lower(&spirv(TEXT), local_size).unwrap();
        assert_eq!((lowered.rate, lowered.local_size), (Some([2, 2, 1]), local_size));
        let module = Module::parse(lowered.words.clone()).unwrap();
        let program = Program::new(&module, "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(program.workgroup_size(), local_size);
        let dispatch = Dispatch {
            groups: lowered.groups(&values).unwrap(),
            push_constants: lowered.push_constants(&push(TILE.area), &values),
            bindings: bindings(),
            ..Dispatch::default()
        };
        let outcome = program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(outcome.faults, []);
        assert_eq!(outcome.memory, expected.memory, "local size {local_size:?}");
    }
}
