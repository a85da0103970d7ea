//! Runs a render pass on a path and builds the result of its case.

use super::compare::{Comparison, Incomplete, WrongValue};
use super::device_pass::{self, DeviceError, LoweredExecutor};
use super::model::{self, shuffled};
use super::oracle_pass::{self, OracleError};
use super::pass::{Pass, PassContents, PermittedContents};
use crate::result::not_run;
use crate::{Case, RunPath};
use assay_check::{Target, TargetError};
use assay_events::{CaseResult, ClassCount, Example, Status, class_names};
use assay_spirv::Module;
use assay_spirv::requirements::Requirements;
use assay_vulkan::{BufferSpec, Device, Dispatch, Error, PipelineDesc};
use std::time::Duration;

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

impl From<Incomplete> for PathOutcome {
    fn from(error: Incomplete) -> PathOutcome {
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
            not_run(case, path, status, why, seed)
        }
        Err(PathOutcome::Compared(comparison)) => result(case, path, comparison, seed),
    }
}

/// Runs `work` with the target's device and returns its result.
fn on_device<T>(
    target: &dyn Target,
    during: &'static str,
    mut work: impl FnMut(&Device, Duration) -> Result<T, Error>,
) -> Result<T, PathOutcome> {
    let mut done = None;
    target.with_device(during, &mut |device, limit| {
        done = Some(work(device, limit)?);
        Ok(())
    })?;
    done.ok_or_else(|| PathOutcome::NotCompared(Status::InternalError, format!("{during}: nothing was done")))
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
    let mut comparison = Comparison::default();
    comparison.compare(pass, &reference(pass, pass.tile), &permitted, class_names::REFERENCE)?;
    Ok(PathOutcome::Compared(comparison))
}

/// Runs the lowered pass on the device, and the ordinary shader over the whole frame if there is
/// one.
fn lowered(pass: &Pass, target: &dyn Target, seed: u64) -> Result<PathOutcome, PathOutcome> {
    let local = LOCAL_SIZES[(seed % LOCAL_SIZES.len() as u64) as usize];
    let wrong = |error: DeviceError| PathOutcome::NotCompared(Status::InternalError, error.to_string());
    let modules = device_pass::lowered(pass, local).map_err(wrong)?;
    negotiate(target, modules.iter().map(|module| &module.words[..]))?;
    negotiate(target, pass.full_frame.iter().map(|words| &words[..]))?;
    let permitted = oracle_pass::permitted(pass, pass.tile, seed)?;
    let tiles = shuffled(pass.tiles(pass.tile), seed.wrapping_add(2));
    let ran = on_device(target, "running the lowered pass", |device, limit| {
        let mut executor = LoweredExecutor::new(device, pass, modules.clone(), limit)?;
        let left = model::run(pass, &tiles, &mut executor)?;
        let frame = match pass.full_frame.is_empty() {
            true => None,
            false => Some(device_pass::full_frame(device, pass, limit)?),
        };
        Ok((left, frame))
    });
    let (left, frame) = ran?;
    Ok(PathOutcome::Compared(compare_results(pass, &left, frame.as_ref(), &permitted)?))
}

/// Compares the results of a pass, and those of the ordinary shader, with the permitted ones.
pub(super) fn compare_results(
    pass: &Pass,
    left: &model::PassResults,
    frame: Option<&PassContents>,
    permitted: &PermittedContents,
) -> Result<Comparison, Incomplete> {
    let mut comparison = Comparison::default();
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
    let ran = on_device(target, "running the tile-shading render pass", |device, limit| {
        Ok((device_pass::native(device, pass, limit)?, executes(device, limit)?))
    });
    let (left, executes) = ran?;
    if !executes {
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
    let mut comparison = Comparison::default();
    let contents = PassContents { attachments: left.attachments, buffers: left.buffers };
    comparison.compare(pass, &contents, &permitted, class_names::TEXEL)?;
    Ok(PathOutcome::Compared(comparison))
}

/// Returns true if the device executes work: it stores a word, which is read back.
fn executes(device: &Device, limit: Duration) -> Result<bool, Error> {
    const WORD: u32 = 0x5a17_c0de;
    let text = include_str!("probe.spvasm");
    let words = assay_spirv::assemble(text).map_err(|error| Error::Invalid { what: error.to_string() })?;
    let pipeline = device.pipeline(&PipelineDesc::new(&words, 1))?;
    let mut slot = device.dispatch_slot(&[BufferSpec::in_out(4)])?;
    slot.write::<u32>(0)?.fill(0);
    slot.submit(&pipeline, &Dispatch::linear(1))?;
    slot.wait(limit)?;
    Ok(slot.read::<u32>(0)? == [WORD])
}

pub(super) fn result(case: &Case, path: RunPath, comparison: Comparison, seed: u64) -> CaseResult {
    let failing = comparison.failing();
    let Comparison { checked, unchecked, lenient, wrong, picture } = comparison;
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
        // The caller, which knows the options of the run, fills this in.
        explain: String::new(),
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
        ..not_run(case, path, status, String::new(), seed)
    }
}
