//! A pass in the oracle: the native modules, tile by tile; fragment shaders as the compute shaders that their draws mean.

use super::model::{self, Executor, shuffled};
use super::pass::{Access, Pass, Permitted, StepError};
use assay_oracle::{
    Buffer, Dispatch, Image, Limits, Memory, Program, ProgramError, Resource, RunError, Slot, SpecValues, Tile,
};
use assay_spirv::Module;
#[cfg(test)]
use assay_spirv::lower::tile::{LoweredTile, TileValues};
use assay_spirv::rules::{self, Environment};
use assay_spirv::sampling::View;
use assay_spirv::tables::Dim;
use std::collections::BTreeMap;

/// Why a pass has no reference: the case is wrong.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReferenceError {
    /// A step is no compute module.
    #[error("step {step}: {error}")]
    Step {
        /// Which step.
        step: usize,
        /// Why.
        error: StepError,
    },
    /// A module breaks rules.
    #[error("the module of step {step} is not legal: {what}")]
    Illegal {
        /// Which step.
        step: usize,
        /// The first rule that it breaks.
        what: String,
    },
    /// A module is not understood.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// It cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The shader has undefined behaviour.
    #[error("step {step} in the tile at {tile:?}: {what}")]
    Fault {
        /// Which step.
        step: usize,
        /// The tile's offset.
        tile: [u32; 2],
        /// The first fault.
        what: String,
    },
    /// A step begins with values that are not determined.
    #[error("step {step} begins with values of which several are permitted")]
    Undetermined {
        /// Which step.
        step: usize,
    },
    /// The order of tiles shows.
    #[error("what is left depends on the order of the tiles")]
    Order,
    /// A store went where none may.
    #[error("the reference stored outside a tile: {0:?}")]
    Outside(model::Outside),
}

/// What a pass may leave with tiles of a size, run in an order that a seed chooses.
///
/// # Errors
/// See [`ReferenceError`].
pub(super) fn permitted(pass: &Pass, size: [u32; 2], seed: u64) -> Result<Permitted, ReferenceError> {
    let left = model::run(pass, &shuffled(pass.tiles(size), seed), &mut Oracle::new(pass)?)?;
    left.outside.first().map_or(Ok(left.permitted), |outside| Err(ReferenceError::Outside(*outside)))
}

/// The same in several orders, which must not show.
///
/// # Errors
/// See [`ReferenceError`].
pub(super) fn permitted_in_any_order(pass: &Pass, size: [u32; 2], seed: u64) -> Result<Permitted, ReferenceError> {
    let first = permitted(pass, size, seed)?;
    for other in 1..3 {
        if permitted(pass, size, seed.wrapping_add(other))?.contents != first.contents {
            return Err(ReferenceError::Order);
        }
    }
    Ok(first)
}

/// Runs the native modules; of draws, what they mean.
pub(super) struct Oracle<'a> {
    pass: &'a Pass,
    programs: Vec<Program>,
}

impl<'a> Oracle<'a> {
    fn new(pass: &'a Pass) -> Result<Self, ReferenceError> {
        let mut programs = Vec::new();
        for (step, of) in pass.steps.iter().enumerate() {
            let wrong = |error: StepError| ReferenceError::Step { step, error };
            let native = Module::parse(of.words.clone()).map_err(|error| wrong(error.into()))?;
            let compute = pass.compute(of).map_err(wrong)?;
            for module in [&native, &compute] {
                if let Some(broken) = rules::violations(module, Environment::of(module)).first() {
                    return Err(ReferenceError::Illegal { step, what: broken.to_string() });
                }
            }
            programs.push(Program::new(&compute, "main", &SpecValues::new())?);
        }
        Ok(Oracle { pass, programs })
    }
}

impl Executor for Oracle<'_> {
    type Error = ReferenceError;

    fn step(&mut self, step: usize, tile: &Tile, memory: &mut Permitted) -> Result<(), ReferenceError> {
        let (pass, program) = (self.pass, &self.programs[step]);
        let groups = match program.tile_shading_rate() {
            Some(_) => [1; 3],
            None => pass.steps[step].groups(tile.size),
        };
        let dispatch = Dispatch { groups, tile: Some(*tile), ..Dispatch::default() };
        interpret(pass, program, dispatch, (step, tile), memory)
    }
}

/// The images and buffers of a pass as they stand.
fn bindings(pass: &Pass, memory: &Permitted) -> BTreeMap<Slot, Resource> {
    let mut bindings = BTreeMap::new();
    for (attachment, data) in pass.attachments.iter().zip(&memory.contents.attachments) {
        for (binding, _) in &attachment.bindings {
            let [width, height] = pass.extent;
            let image = Image {
                dim: Dim::Dim2D,
                extent: [width, height, 1],
                layers: pass.layers,
                levels: 1,
                format: attachment.memory_format(),
                depth: false,
                data: data.clone(),
                view: View::ALL,
            };
            bindings.insert(Slot::new(0, *binding), Resource::Image(image));
        }
    }
    for (buffer, data) in pass.buffers.iter().zip(&memory.contents.buffers) {
        let resource = Resource::Buffer(Buffer { data: data.clone(), address: None });
        bindings.insert(Slot::new(0, buffer.binding), resource);
    }
    bindings
}

/// Runs a program and takes over what it left.
fn interpret(
    pass: &Pass,
    program: &Program,
    dispatch: Dispatch,
    (step, tile): (usize, &Tile),
    memory: &mut Permitted,
) -> Result<(), ReferenceError> {
    if memory.attachments.iter().chain(&memory.buffers).any(|cells| !cells.is_empty()) {
        return Err(ReferenceError::Undetermined { step });
    }
    let dispatch = Dispatch { bindings: bindings(pass, memory), ..dispatch };
    let outcome = program.run(&dispatch, &Limits::default())?;
    if let Some(fault) = outcome.faults.first() {
        let what = format!("{} at {}: {}", fault.kind, fault.at, fault.detail);
        return Err(ReferenceError::Fault { step, tile: tile.offset, what });
    }
    let cells = |after: &Memory| after.cells().iter().map(|cell| (cell.offset, cell.clone())).collect();
    for (index, attachment) in pass.attachments.iter().enumerate() {
        for (binding, _) in attachment.bindings.iter().filter(|(_, access)| *access == Access::Storage) {
            let Some(after) = outcome.memory.get(&Slot::new(0, *binding)) else { continue };
            memory.contents.attachments[index] = after.bytes().to_vec();
            memory.attachments[index] = cells(after);
        }
    }
    for (index, buffer) in pass.buffers.iter().enumerate() {
        let Some(after) = outcome.memory.get(&Slot::new(0, buffer.binding)) else { continue };
        memory.contents.buffers[index] = after.bytes().to_vec();
        memory.buffers[index] = cells(after);
    }
    Ok(())
}

/// Runs lowered modules in the oracle, so that faults can be planted without a device.
#[cfg(test)]
pub(super) struct LoweredOracle<'a> {
    pass: &'a Pass,
    steps: Vec<(LoweredTile, Program)>,
}

#[cfg(test)]
impl<'a> LoweredOracle<'a> {
    /// `plant` changes the words of each lowered module.
    pub(super) fn new(pass: &'a Pass, local_size: [u32; 3], plant: fn(&mut Vec<u32>)) -> Result<Self, ReferenceError> {
        let lowered = super::device::lowered(pass, local_size).expect("the modules are lowered");
        let mut steps = Vec::new();
        for (step, mut lowered) in lowered.into_iter().enumerate() {
            plant(&mut lowered.words);
            let module = Module::parse(lowered.words.clone());
            let module = module.map_err(|error| ReferenceError::Step { step, error: error.into() })?;
            let program = Program::new(&module, "main", &SpecValues::new())?;
            steps.push((lowered, program));
        }
        Ok(LoweredOracle { pass, steps })
    }
}

#[cfg(test)]
impl Executor for LoweredOracle<'_> {
    type Error = ReferenceError;

    fn step(&mut self, step: usize, tile: &Tile, memory: &mut Permitted) -> Result<(), ReferenceError> {
        let (lowered, program) = &self.steps[step];
        let values = TileValues { offset: tile.offset, size: tile.size, apron: tile.apron };
        let cover = self.pass.steps[step].groups(tile.size);
        let groups = lowered.groups(&values).unwrap_or(cover);
        let push_constants = lowered.push_constants(&[], &values);
        let dispatch = Dispatch { groups, push_constants, ..Dispatch::default() };
        interpret(self.pass, program, dispatch, (step, tile), memory)
    }
}
