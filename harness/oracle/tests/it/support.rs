//! Running shaders in tests, and reading their memory.

pub(crate) mod random_rounding;

use assay_oracle::{
    Buffer, CauseKind, Dispatch, Expected, FaultKind, Image, Limits, Outcome, Program, Resource, Slot, SpecValues,
};
use assay_spirv::Module;
use assay_spirv::tables::{Dim, ImageFormat};
pub(crate) use assay_testkit::{Shader, spirv, wgsl};
use assay_texture::ImageView;

/// A storage buffer of words.
pub(crate) fn words(words: &[u32]) -> Resource {
    Resource::Buffer(Buffer { data: words.iter().flat_map(|w| w.to_le_bytes()).collect(), address: None })
}

/// A two-dimensional image of one level, with a view of all of it.
pub(crate) fn plane(format: ImageFormat, extent: [u32; 3], data: Vec<u8>) -> Resource {
    let (dim, layers, levels, depth, view) = (Dim::Dim2D, 1, 1, false, ImageView::ALL);
    Resource::Image(Image { dim, extent, layers, levels, samples: 1, format, depth, view, data })
}

/// A storage buffer of floats.
pub(crate) fn floats(values: &[f32]) -> Resource {
    words(&values.iter().map(|v| v.to_bits()).collect::<Vec<_>>())
}

/// Runs a module's `main` on buffers of set 0, bindings from 0 on.
pub(crate) fn run(module: &Module, groups: [u32; 3], buffers: Vec<Resource>) -> Outcome {
    let program = Program::new(module, "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    run_program(&program, groups, buffers)
}

/// Runs a program on buffers of set 0, bindings from 0 on.
pub(crate) fn run_program(program: &Program, groups: [u32; 3], buffers: Vec<Resource>) -> Outcome {
    let bindings = buffers.into_iter().zip(0..).map(|(b, i)| (Slot::new(0, i), b)).collect();
    let dispatch = Dispatch { groups, bindings, ..Dispatch::default() };
    program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// The exact words of a binding. Panics on faults and on words that are not exact.
pub(crate) fn exact(outcome: &Outcome, binding: u32) -> Vec<u32> {
    assert_eq!(outcome.faults, []);
    let memory = &outcome.memory[&Slot::new(0, binding)];
    assert_eq!(memory.cells(), [], "causes: {:?}", outcome.causes);
    memory.bytes().chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// The permitted set of word `i` of a binding.
pub(crate) fn word(outcome: &Outcome, binding: u32, i: usize) -> Expected {
    let memory = &outcome.memory[&Slot::new(0, binding)];
    match memory.cell_at(i as u64 * 4) {
        Some(cell) => cell.expected.clone(),
        None => {
            let bytes = &memory.bytes()[i * 4..i * 4 + 4];
            Expected::Exact(u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])))
        }
    }
}

/// The cause why word `i` of a binding is undetermined.
pub(crate) fn cause(outcome: &Outcome, binding: u32, i: usize) -> CauseKind {
    match word(outcome, binding, i) {
        Expected::Undetermined(cause) => outcome.causes[cause as usize].kind,
        other => panic!("determined: {other:?}"),
    }
}

/// Returns true if the float `value` is permitted at word `i`.
pub(crate) fn permits(outcome: &Outcome, binding: u32, i: usize, value: f32) -> bool {
    word(outcome, binding, i).permits(u64::from(value.to_bits())) == Some(true)
}

/// Kind and line of each fault.
pub(crate) fn faults(outcome: &Outcome) -> Vec<(FaultKind, u32)> {
    outcome.faults.iter().map(|f| (f.kind, f.at.line.unwrap_or(0))).collect()
}
