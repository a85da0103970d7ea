//! Runs a pass in the oracle: the native modules tile by tile, with each fragment shader lowered to
//! a compute shader.

use super::model::{self, Executor, shuffled};
use super::pass::{Pass, PermittedContents, StepError, step_groups};
use assay_exec::ImageAccess;
use assay_oracle::{
    Buffer, Dispatch, Image, Limits, Memory, Program, ProgramError, Resource, RunError, Slot, SpecValues, Tile,
};
use assay_spirv::Module;
use assay_spirv::tables::Dim;
#[cfg(test)]
use assay_spirv_lower::tile::{LoweredTileShader, TilePushConstants};
use assay_spirv_rules::rules::{self, Environment};
use assay_texture::ImageView;
use std::collections::BTreeMap;

/// Reason why the oracle cannot run a pass, which is a defect of the case.
#[derive(Debug, thiserror::Error)]
pub(super) enum OracleError {
    /// A step cannot be converted to a compute module.
    #[error("step {step}: {error}")]
    Step {
        /// Index of the step.
        step: usize,
        /// Reason.
        error: StepError,
    },
    /// A module violates a validation rule.
    #[error("the module of step {step} is not legal: {what}")]
    Illegal {
        /// Index of the step.
        step: usize,
        /// The first violation.
        what: String,
    },
    /// The oracle does not support a module.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The oracle cannot run a module.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The shader has undefined behaviour.
    #[error("step {step} in the tile at {tile:?}: {what}")]
    Fault {
        /// Index of the step.
        step: usize,
        /// Offset of the tile.
        tile: [u32; 2],
        /// The first fault.
        what: String,
    },
    /// A step starts from contents with several permitted values.
    #[error("step {step} starts from contents with several permitted values")]
    Undetermined {
        /// Index of the step.
        step: usize,
    },
    /// The contents depend on the order of the tiles.
    #[error("the results depend on the order of the tiles")]
    Order,
    /// A store went outside a tile.
    #[error("the oracle stored outside a tile: {0:?}")]
    Outside(model::StrayWrite),
}

/// Computes the permitted contents after a pass for a tile size. The seed determines the order of
/// the tiles.
///
/// # Errors
/// See [`OracleError`].
pub(super) fn permitted(pass: &Pass, size: [u32; 2], seed: u64) -> Result<PermittedContents, OracleError> {
    let left = model::run(pass, &shuffled(pass.tiles(size), seed), &mut Oracle::new(pass)?)?;
    left.outside.first().map_or(Ok(left.permitted), |outside| Err(OracleError::Outside(*outside)))
}

/// As [`permitted`], but checks that two further orders of the tiles give the same contents.
///
/// # Errors
/// See [`OracleError`].
pub(super) fn permitted_in_any_order(pass: &Pass, size: [u32; 2], seed: u64) -> Result<PermittedContents, OracleError> {
    let first = permitted(pass, size, seed)?;
    for other in 1..3 {
        if permitted(pass, size, seed.wrapping_add(other))?.contents != first.contents {
            return Err(OracleError::Order);
        }
    }
    Ok(first)
}

/// Interprets the native modules, and the lowered modules of draws.
pub(super) struct Oracle<'a> {
    pass: &'a Pass,
    programs: Vec<Program>,
}

impl<'a> Oracle<'a> {
    fn new(pass: &'a Pass) -> Result<Self, OracleError> {
        let mut programs = Vec::new();
        for (step, of) in pass.steps.iter().enumerate() {
            let wrong = |error: StepError| OracleError::Step { step, error };
            let native = Module::parse(of.words.clone()).map_err(|error| wrong(error.into()))?;
            let compute = pass.compute(of).map_err(wrong)?;
            for module in [&native, &compute] {
                if let Some(broken) = rules::violations(module, Environment::of_module(module)).first() {
                    return Err(OracleError::Illegal { step, what: broken.to_string() });
                }
            }
            programs.push(Program::new(&compute, "main", &SpecValues::new())?);
        }
        Ok(Oracle { pass, programs })
    }
}

impl Executor for Oracle<'_> {
    type Error = OracleError;

    fn step(&mut self, step: usize, tile: &Tile, memory: &mut PermittedContents) -> Result<(), OracleError> {
        let (pass, program) = (self.pass, &self.programs[step]);
        let groups = match program.tile_shading_rate() {
            Some(_) => [1; 3],
            None => step_groups(&pass.steps[step], tile.size),
        };
        let dispatch = Dispatch { groups, tile: Some(*tile), ..Dispatch::default() };
        interpret(pass, program, dispatch, (step, tile), memory)
    }
}

/// The current images and buffers of a pass.
fn bindings(pass: &Pass, memory: &PermittedContents) -> BTreeMap<Slot, Resource> {
    let mut bindings = BTreeMap::new();
    for (attachment, data) in pass.attachments.iter().zip(&memory.contents.attachments) {
        for (binding, _) in &attachment.bindings {
            let [width, height] = pass.extent;
            let image = Image {
                dim: Dim::Dim2D,
                extent: [width, height, 1],
                layers: pass.layers,
                levels: 1,
                samples: 1,
                format: attachment.memory_format(),
                depth: false,
                data: data.clone(),
                view: ImageView::ALL,
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

/// Runs a program and takes over its results.
fn interpret(
    pass: &Pass,
    program: &Program,
    dispatch: Dispatch,
    (step, tile): (usize, &Tile),
    memory: &mut PermittedContents,
) -> Result<(), OracleError> {
    if memory.attachments.iter().chain(&memory.buffers).any(|cells| !cells.is_empty()) {
        return Err(OracleError::Undetermined { step });
    }
    let dispatch = Dispatch { bindings: bindings(pass, memory), ..dispatch };
    let outcome = program.run(&dispatch, &Limits::default())?;
    if let Some(fault) = outcome.faults.first() {
        let what = format!("{} at {}: {}", fault.kind, fault.at, fault.detail);
        return Err(OracleError::Fault { step, tile: tile.offset, what });
    }
    let cells = |after: &Memory| after.cells().iter().map(|cell| (cell.offset, cell.clone())).collect();
    for (index, attachment) in pass.attachments.iter().enumerate() {
        for (binding, _) in attachment.bindings.iter().filter(|(_, access)| *access == ImageAccess::Storage) {
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

/// Runs lowered modules in the oracle, to plant faults without a device.
#[cfg(test)]
pub(super) struct LoweredOracle<'a> {
    pass: &'a Pass,
    steps: Vec<(LoweredTileShader, Program)>,
}

#[cfg(test)]
impl<'a> LoweredOracle<'a> {
    /// Prepares the lowered modules; `plant` changes the words of each.
    pub(super) fn new(pass: &'a Pass, local_size: [u32; 3], plant: fn(&mut Vec<u32>)) -> Result<Self, OracleError> {
        let lowered = super::device_pass::lowered(pass, local_size).expect("the modules are lowered");
        let mut steps = Vec::new();
        for (step, mut lowered) in lowered.into_iter().enumerate() {
            plant(&mut lowered.words);
            let module = Module::parse(lowered.words.clone());
            let module = module.map_err(|error| OracleError::Step { step, error: error.into() })?;
            let program = Program::new(&module, "main", &SpecValues::new())?;
            steps.push((lowered, program));
        }
        Ok(LoweredOracle { pass, steps })
    }
}

#[cfg(test)]
impl Executor for LoweredOracle<'_> {
    type Error = OracleError;

    fn step(&mut self, step: usize, tile: &Tile, memory: &mut PermittedContents) -> Result<(), OracleError> {
        let (lowered, program) = &self.steps[step];
        let values = TilePushConstants { offset: tile.offset, size: tile.size, apron: tile.apron };
        let cover = step_groups(&self.pass.steps[step], tile.size);
        let groups = lowered.groups(&values).unwrap_or(cover);
        let push_constants = lowered.push_constants(&[], &values);
        let dispatch = Dispatch { groups, push_constants, ..Dispatch::default() };
        interpret(self.pass, program, dispatch, (step, tile), memory)
    }
}
