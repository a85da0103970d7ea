//! Running a render pass on a path, and what came of it.

use super::device::{self, DeviceError, Lowered};
use super::judge::{Incomplete, Verdict, Wrong};
use super::model::{self, shuffled};
use super::pass::{Contents, Pass, Permitted};
use super::reference::{self, ReferenceError};
use crate::result::blank;
use crate::{Case, RunPath};
use assay_check::{Target, TargetError};
use assay_runner::{CaseResult, ClassCount, Example, Status, class};
use assay_spirv::Module;
use assay_spirv::need::Need;
use assay_vulkan::{BufferSpec, Device, Dispatch, Error, PipelineDesc};
use std::time::Duration;

/// What a path came to, but for its verdict.
enum Outcome {
    Judged(Verdict),
    /// Nothing was judged, and why.
    Not(Status, String),
}

impl From<ReferenceError> for Outcome {
    fn from(error: ReferenceError) -> Outcome {
        Outcome::Not(Status::InternalError, error.to_string())
    }
}

impl From<Incomplete> for Outcome {
    fn from(error: Incomplete) -> Outcome {
        Outcome::Not(Status::InternalError, error.to_string())
    }
}

impl From<TargetError> for Outcome {
    fn from(error: TargetError) -> Outcome {
        match error {
            TargetError::Lacks(what) => Outcome::Not(Status::NotSupported, what),
            TargetError::Failed(trouble) => Outcome::Not(trouble.status(), trouble.to_string()),
        }
    }
}

/// The local sizes that lowered modules of a shading rate are given in turn: any must do.
const LOCAL_SIZES: [[u32; 3]; 4] = [[8, 8, 1], [4, 2, 1], [16, 1, 1], [1, 1, 1]];

/// Runs a pass on a path.
pub(crate) fn run(case: &Case, pass: &Pass, path: RunPath, target: &dyn Target, seed: u64) -> CaseResult {
    let ran = match path {
        RunPath::Native => native(pass, target, seed),
        RunPath::Lowered => lowered(pass, target, seed),
        RunPath::Reference => against_second(pass, seed),
    };
    match ran {
        Ok(Outcome::Judged(verdict)) => result(case, path, verdict, seed),
        Ok(Outcome::Not(status, why)) | Err(Outcome::Not(status, why)) => blank(case, path, status, why, seed),
        Err(Outcome::Judged(verdict)) => result(case, path, verdict, seed),
    }
}

/// What work with the target's device gives.
fn on_device<T>(
    target: &dyn Target,
    during: &'static str,
    mut work: impl FnMut(&Device, Duration) -> Result<T, Error>,
) -> Result<T, Outcome> {
    let mut done = None;
    target.with_device(during, &mut |device, limit| {
        done = Some(work(device, limit)?);
        Ok(())
    })?;
    done.ok_or_else(|| Outcome::Not(Status::InternalError, format!("{during}: nothing was done")))
}

/// What the modules need that the target has not.
fn negotiate<'w>(target: &dyn Target, modules: impl Iterator<Item = &'w [u32]>) -> Result<(), Outcome> {
    for words in modules {
        let module = Module::parse(words.to_vec());
        let module = module.map_err(|error| Outcome::Not(Status::InternalError, error.to_string()))?;
        let need = Need::of(&module).check(target.have());
        if !need.may_run() {
            return Err(Outcome::Not(Status::NotSupported, need.to_string()));
        }
    }
    Ok(())
}

/// What the oracle permits against the pass's second reference.
fn against_second(pass: &Pass, seed: u64) -> Result<Outcome, Outcome> {
    let permitted = reference::permitted_in_any_order(pass, pass.tile, seed)?;
    let Some(second) = &pass.second else {
        let why = "the oracle alone: there is no second reference to hold it against";
        return Ok(Outcome::Not(Status::Undetermined, why.to_owned()));
    };
    let mut verdict = Verdict::default();
    verdict.compare(pass, &second(pass, pass.tile), &permitted, class::REFERENCE)?;
    Ok(Outcome::Judged(verdict))
}

/// Lowered, and where there is one the ordinary shader over the whole frame, on the device.
fn lowered(pass: &Pass, target: &dyn Target, seed: u64) -> Result<Outcome, Outcome> {
    let local = LOCAL_SIZES[(seed % LOCAL_SIZES.len() as u64) as usize];
    let wrong = |error: DeviceError| Outcome::Not(Status::InternalError, error.to_string());
    let modules = device::lowered(pass, local).map_err(wrong)?;
    negotiate(target, modules.iter().map(|module| &module.words[..]))?;
    negotiate(target, pass.full_frame.iter().map(|words| &words[..]))?;
    let permitted = reference::permitted(pass, pass.tile, seed)?;
    let tiles = shuffled(pass.tiles(pass.tile), seed.wrapping_add(2));
    let ran = on_device(target, "running the lowered pass", |device, limit| {
        let mut executor = Lowered::new(device, pass, modules.clone(), limit)?;
        let left = model::run(pass, &tiles, &mut executor)?;
        let frame = match pass.full_frame.is_empty() {
            true => None,
            false => Some(device::full_frame(device, pass, limit)?),
        };
        Ok((left, frame))
    });
    let (left, frame) = ran?;
    Ok(Outcome::Judged(verdict(pass, &left, frame.as_ref(), &permitted)?))
}

/// What a run of a pass, and of the ordinary shader, came to.
pub(super) fn verdict(
    pass: &Pass,
    left: &model::Left,
    frame: Option<&Contents>,
    permitted: &Permitted,
) -> Result<Verdict, Incomplete> {
    let mut verdict = Verdict::default();
    verdict.outside(&left.outside);
    verdict.compare(pass, &left.permitted.contents, permitted, class::TEXEL)?;
    if let Some(frame) = frame {
        verdict.compare(pass, frame, permitted, class::FULL_FRAME)?;
    }
    Ok(verdict)
}

/// With the extension itself.
fn native(pass: &Pass, target: &dyn Target, seed: u64) -> Result<Outcome, Outcome> {
    negotiate(target, pass.steps.iter().map(|step| &step.words[..]))?;
    let ran = on_device(target, "running the tile-shading render pass", |device, limit| {
        Ok((device::native(device, pass, limit)?, executes(device, limit)?))
    });
    let (left, executes) = ran?;
    if !executes {
        let why =
            "recorded and submitted, and not judged: the device executes nothing (a store of its own did not arrive)";
        return Ok(Outcome::Not(Status::Undetermined, why.to_owned()));
    }
    let [width, height, _] = left.grid.size;
    if [width, height].contains(&0) || left.grid.origin != [0, 0] {
        let why = format!("the device tells of a grid that is not understood: {:?}", left.grid);
        return Ok(Outcome::Not(Status::Undetermined, why));
    }
    let permitted = reference::permitted(pass, [width, height], seed)?;
    let mut verdict = Verdict::default();
    let contents = Contents { attachments: left.attachments, buffers: left.buffers };
    verdict.compare(pass, &contents, &permitted, class::TEXEL)?;
    Ok(Outcome::Judged(verdict))
}

/// Whether the device does what it is told: stores a word.
fn executes(device: &Device, limit: Duration) -> Result<bool, Error> {
    const WORD: u32 = 0x5a17_c0de;
    let text = include_str!("probe.spvasm");
    let words = assay_spirv::assemble(text).map_err(|error| Error::Invalid { what: error.to_string() })?;
    let pipeline = device.pipeline(&PipelineDesc::new(&words, 1))?;
    let mut slot = device.slot(&[BufferSpec::in_out(4)])?;
    slot.write::<u32>(0)?.fill(0);
    slot.submit(&pipeline, &Dispatch::linear(1))?;
    slot.wait(limit)?;
    Ok(slot.read::<u32>(0)? == [WORD])
}

pub(super) fn result(case: &Case, path: RunPath, verdict: Verdict, seed: u64) -> CaseResult {
    let failing = verdict.failing();
    let Verdict { checked, unchecked, lenient, wrong, picture } = verdict;
    let first = wrong.iter().find_map(|wrongs| wrongs.first.first());
    let (status, reason) = match first {
        Some(first) => (
            Status::Fail,
            Some(format!("{failing} wrong; {} is {}, permitted: {}", first.place, first.got, first.permitted)),
        ),
        None if lenient > 0 => {
            (Status::QualityWarning, Some(format!("{lenient} values that only a lenient reading permits")))
        }
        None if unchecked > 0 => (Status::Undetermined, Some(format!("{unchecked} values are not determined"))),
        None if checked == 0 => (Status::Undetermined, Some("nothing was compared".to_owned())),
        None => (Status::Pass, None),
    };
    let example = |wrong: &Wrong| Example {
        operands: vec![wrong.place.clone()],
        slot: 0,
        scalar: wrong.scalar.map(|scalar| scalar.to_string()),
        got: wrong.got.clone(),
        permitted: vec![[wrong.permitted.clone(), wrong.permitted.clone()]],
        margin: None,
        // How it is run again is said where that is known.
        explain: String::new(),
    };
    let classes: Vec<ClassCount> = wrong
        .iter()
        .map(|wrongs| ClassCount {
            status: Status::Fail,
            class: wrongs.class.to_owned(),
            count: wrongs.count,
            examples: wrongs.first.iter().map(example).collect(),
        })
        .collect();
    CaseResult {
        reason,
        inputs_tested: checked,
        inputs_possible: (checked + unchecked).to_string(),
        coverage: format!("{checked} texels' channels and words, written or not"),
        failing_inputs: failing,
        warning_inputs: lenient,
        scalars_checked: checked,
        scalars_unchecked: unchecked,
        worst: classes.first().and_then(|class| class.examples.first().cloned()),
        classes,
        picture,
        ..blank(case, path, status, String::new(), seed)
    }
}
