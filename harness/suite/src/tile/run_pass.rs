//! Runs a render pass on a path and builds the result of its case.

use super::compare::{Comparison, WrongSize, WrongValue};
use super::device_pass::{self, PassLowerError};
use super::model::{self, shuffled};
use super::oracle_pass::{self, OracleError};
use super::pass::{Pass, PermittedContents};
use crate::result::program_not_run;
use crate::{Case, RunPath};
use assay_events::{CaseResult, ClassCount, Example, Status, class_names};
use assay_exec::{Descriptor, DispatchRequest, ExecError, PassContents, SubgroupControl, Target, TargetError};
use assay_oracle::{Buffer, Dispatch, Resource, Slot};
use assay_spirv::Module;
use assay_spirv::reflect::DescriptorKind;
use assay_spirv_rules::requirements::Requirements;

/// Outcome of a path.
enum PathOutcome {
    Compared(Comparison),
    /// No comparison took place, with the status and the reason.
    NotCompared(Status, String),
}

impl From<OracleError> for PathOutcome {
    fn from(error: OracleError) -> PathOutcome {
        PathOutcome::NotCompared(Status::InternalError, error.to_string())
    }
}

impl From<WrongSize> for PathOutcome {
    fn from(error: WrongSize) -> PathOutcome {
        PathOutcome::NotCompared(Status::InternalError, error.to_string())
    }
}

impl From<TargetError> for PathOutcome {
    fn from(error: TargetError) -> PathOutcome {
        match error {
            TargetError::Unsupported(what) => PathOutcome::NotCompared(Status::NotSupported, what),
            TargetError::Failed(failure) => PathOutcome::NotCompared(failure.status(), failure.to_string()),
        }
    }
}

/// Local sizes for lowered modules with a shading rate. Any of them must work; the seed selects
/// one.
const LOCAL_SIZES: [[u32; 3]; 4] = [[8, 8, 1], [4, 2, 1], [16, 1, 1], [1, 1, 1]];

/// Runs a pass on a path.
pub(crate) fn run(case: &Case, pass: &Pass, path: RunPath, target: &dyn Target, seed: u64) -> CaseResult {
    let ran = match path {
        RunPath::Native => native(pass, target, seed),
        RunPath::Lowered => lowered(pass, target, seed),
        RunPath::Reference => compare_with_reference(pass, seed),
    };
    match ran {
        Ok(PathOutcome::Compared(comparison)) => result(case, path, comparison, seed),
        Ok(PathOutcome::NotCompared(status, why)) | Err(PathOutcome::NotCompared(status, why)) => {
            program_not_run(case, path, status, why, seed)
        }
        Err(PathOutcome::Compared(comparison)) => result(case, path, comparison, seed),
    }
}

/// Checks that the target meets the modules' requirements.
fn negotiate<'w>(target: &dyn Target, modules: impl Iterator<Item = &'w [u32]>) -> Result<(), PathOutcome> {
    for words in modules {
        let module = Module::parse(words.to_vec());
        let module = module.map_err(|error| PathOutcome::NotCompared(Status::InternalError, error.to_string()))?;
        let requirements = Requirements::of(&module).check(target.capabilities());
        if !requirements.may_run() {
            return Err(PathOutcome::NotCompared(Status::NotSupported, requirements.to_string()));
        }
    }
    Ok(())
}

/// Compares the oracle with the pass's independent reference.
fn compare_with_reference(pass: &Pass, seed: u64) -> Result<PathOutcome, PathOutcome> {
    let permitted = oracle_pass::permitted_in_any_order(pass, pass.tile, seed)?;
    let Some(reference) = &pass.reference else {
        let why = "only the oracle was run: the case has no independent reference to compare it with";
        return Ok(PathOutcome::NotCompared(Status::Undetermined, why.to_owned()));
    };
    let mut comparison = Comparison { tile: pass.tile, ..Comparison::default() };
    comparison.compare(pass, &reference(pass, pass.tile), &permitted, class_names::REFERENCE)?;
    Ok(PathOutcome::Compared(comparison))
}

/// Runs the lowered pass on the device, and the ordinary shader over the whole frame if there is
/// one.
fn lowered(pass: &Pass, target: &dyn Target, seed: u64) -> Result<PathOutcome, PathOutcome> {
    let local = LOCAL_SIZES[(seed % LOCAL_SIZES.len() as u64) as usize];
    let wrong = |error: PassLowerError| PathOutcome::NotCompared(Status::InternalError, error.to_string());
    let modules = device_pass::lowered(pass, local).map_err(wrong)?;
    negotiate(target, modules.iter().map(|module| &module.words[..]))?;
    negotiate(target, pass.full_frame.iter().map(|words| &words[..]))?;
    let permitted = oracle_pass::permitted(pass, pass.tile, seed)?;
    let tiles = shuffled(pass.tiles(pass.tile), seed.wrapping_add(2));
    let (left, frame) = device_pass::run(target, pass, &modules, &tiles)?;
    Ok(PathOutcome::Compared(compare_results(pass, &left, frame.as_ref(), &permitted)?))
}

/// Compares the results of a pass, and those of the ordinary shader, with the permitted ones.
pub(super) fn compare_results(
    pass: &Pass,
    left: &model::PassResults,
    frame: Option<&PassContents>,
    permitted: &PermittedContents,
) -> Result<Comparison, WrongSize> {
    let mut comparison = Comparison { tile: pass.tile, ..Comparison::default() };
    comparison.outside(&left.outside);
    comparison.compare(pass, &left.permitted.contents, permitted, class_names::TEXEL)?;
    if let Some(frame) = frame {
        comparison.compare(pass, frame, permitted, class_names::FULL_FRAME)?;
    }
    Ok(comparison)
}

/// Runs the pass with the extension itself.
fn native(pass: &Pass, target: &dyn Target, seed: u64) -> Result<PathOutcome, PathOutcome> {
    negotiate(target, pass.steps.iter().map(|step| &step.words[..]))?;
    let left = target.run_tile_pass(&pass.native())?;
    if !executes(target)? {
        let why =
            "recorded and submitted but not checked: the device does not execute work (a probe store had no effect)";
        return Ok(PathOutcome::NotCompared(Status::Undetermined, why.to_owned()));
    }
    let [width, height, _] = left.grid.size;
    if [width, height].contains(&0) || left.grid.origin != [0, 0] {
        let why = format!("the device reports an unsupported tile grid: {:?}", left.grid);
        return Ok(PathOutcome::NotCompared(Status::Undetermined, why));
    }
    let permitted = oracle_pass::permitted(pass, [width, height], seed)?;
    let mut comparison = Comparison { tile: [width, height], ..Comparison::default() };
    comparison.compare(pass, &left.contents, &permitted, class_names::TEXEL)?;
    Ok(PathOutcome::Compared(comparison))
}

/// Returns true if the device executes work: it stores a word, which is read back.
fn executes(target: &dyn Target) -> Result<bool, TargetError> {
    const WORD: u32 = 0x5a17_c0de;
    let words = assay_spirv::assemble(include_str!("probe.spvasm"));
    let words = words.map_err(|error| ExecError::Internal(format!("the probe does not assemble: {error}")))?;
    let slot = Slot::new(0, 0);
    let before = Resource::Buffer(Buffer { data: vec![0; 4], address: None });
    let dispatch = Dispatch { groups: [1; 3], bindings: [(slot, before)].into(), ..Dispatch::default() };
    let descriptor = Descriptor {
        slot,
        name: None,
        kind: DescriptorKind::StorageBuffer,
        block: None,
        texels: None,
        compares_depth: false,
        may_be_written: true,
        bytes: 4,
    };
    let output = target.run(&DispatchRequest {
        wgsl: None,
        words: &words,
        entry: "main",
        specs: &[],
        subgroup_control: SubgroupControl::default(),
        descriptors: &[descriptor],
        dispatch: &dispatch,
        allocated: None,
    })?;
    Ok(output.memory.get(&slot).is_some_and(|data| *data == WORD.to_le_bytes()))
}

pub(super) fn result(case: &Case, path: RunPath, comparison: Comparison, seed: u64) -> CaseResult {
    let failing = comparison.failing();
    let Comparison { checked, unchecked, lenient, wrong, picture, tile: _ } = comparison;
    let first = wrong.iter().find_map(|wrongs| wrongs.first.first());
    let (status, reason) = match first {
        Some(first) => (
            Status::Fail,
            Some(format!("wrong values: {failing}; {} is {}, permitted: {}", first.place, first.got, first.permitted)),
        ),
        None if lenient > 0 => {
            (Status::QualityWarning, Some(format!("values permitted only by the lenient reading: {lenient}")))
        }
        None if unchecked > 0 => (Status::Undetermined, Some(format!("undetermined values: {unchecked}"))),
        None if checked == 0 => (Status::Undetermined, Some("nothing was compared".to_owned())),
        None => (Status::Pass, None),
    };
    let example = |wrong: &WrongValue| Example {
        operands: vec![wrong.place.clone()],
        slot: 0,
        scalar: wrong.scalar.map(|scalar| scalar.to_string()),
        got: wrong.got.clone(),
        permitted: vec![[wrong.permitted.clone(), wrong.permitted.clone()]],
        margin: None,
        call: None,
    };
    let classes: Vec<ClassCount> = wrong
        .iter()
        .map(|wrongs| ClassCount {
            status: Status::Fail,
            class: wrongs.class.to_owned(),
            count: wrongs.count,
            examples: wrongs.first.iter().map(example).collect(),
            regions: Vec::new(),
        })
        .collect();
    CaseResult {
        reason,
        inputs_tested: checked,
        inputs_possible: (checked + unchecked).to_string(),
        coverage: format!("{checked} texel channels and buffer words, written or not"),
        failing_inputs: failing,
        warning_inputs: lenient,
        scalars_checked: checked,
        scalars_unchecked: unchecked,
        worst: classes.first().and_then(|class| class.examples.first().cloned()),
        classes,
        picture,
        ..program_not_run(case, path, status, String::new(), seed)
    }
}
