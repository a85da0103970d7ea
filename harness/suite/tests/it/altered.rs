//! Devices that execute an altered module, or the module on altered images, are detected.

use crate::programs::assert_none;
use assay_check::{Check, CheckError, ShaderSource};
use assay_events::{CheckResult, Status};
use assay_exec::Target;
use assay_oracle::{Dispatch, Image, Resource, texel_scalars};
use assay_spirv::Module;
use assay_spirv::edit::instruction;
use assay_spirv::tables::{IMAGE_FORMAT, ImageFormat, Op};
use assay_suite::{Case, NoDevice, RunPath, all};
use assay_synthetic_target::SyntheticTarget;

fn cases(suite: &str, wanted: impl Fn(&str) -> bool) -> Vec<Case> {
    let suite = all().into_iter().find(|known| known.name() == suite).expect("the suite is there");
    let cases: Vec<Case> = suite.cases().into_iter().filter(|case| wanted(&case.name)).collect();
    assert!(!cases.is_empty());
    cases
}

fn held(case: &Case, alter: impl Fn(&mut Vec<u32>, &mut Dispatch) + Sync) -> Result<CheckResult, CheckError> {
    let program = case.program(RunPath::Native).or_else(|| case.program(RunPath::Reference)).expect("a program");
    let subject = ShaderSource::read(&format!("x.{}", program.ending), program.text.as_bytes())?;
    let caps = NoDevice::default().capabilities().clone();
    let target = SyntheticTarget::with_capabilities(caps).altering(alter);
    Check::new(&subject, &program.options)?.run_unconditionally(&target)
}

/// The case's name with its status, unless the status is the expected one.
fn unless(expected: Status, case: &Case, alter: impl Fn(&mut Vec<u32>, &mut Dispatch) + Sync) -> Option<String> {
    match held(case, alter) {
        Ok(result) if result.status == expected => None,
        Ok(result) => Some(format!("{} {:?} {:?}", case.name, result.status, result.reason)),
        Err(error) => Some(format!("{}: {error}", case.name)),
    }
}

fn images(dispatch: &mut Dispatch) -> impl Iterator<Item = &mut Image> {
    dispatch.bindings.values_mut().filter_map(|resource| match resource {
        Resource::Image(image) | Resource::CombinedImageSampler(image, _) => Some(image),
        _ => None,
    })
}

fn texel_bytes(format: ImageFormat) -> usize {
    let scalars = texel_scalars(format).expect("images have formats");
    scalars.iter().map(|scalar| scalar.width() as usize / 8).sum()
}

/// Changes the rows of every image of one level.
fn rows(dispatch: &mut Dispatch, mut change: impl FnMut(&mut [u8], usize)) {
    for image in images(dispatch) {
        assert_eq!(image.levels, 1);
        let texels: u32 = image.extent.iter().product::<u32>() * image.layers;
        let texel = image.data.len() / texels as usize;
        let row = image.extent[0] as usize * texel;
        let layer = row * image.extent[1] as usize;
        for layer in image.data.chunks_mut(layer) {
            change(layer, row);
        }
    }
}

/// The first row becomes the last one.
fn rows_upwards(dispatch: &mut Dispatch) {
    rows(dispatch, |layer, row| {
        let upwards: Vec<u8> = layer.rchunks(row).flatten().copied().collect();
        layer.copy_from_slice(&upwards);
    });
}

/// Moves each texel of 16 bytes two columns to the left.
fn two_columns_on(dispatch: &mut Dispatch) {
    rows(dispatch, |layer, row| layer.chunks_mut(row).for_each(|one| one.rotate_left(2 * 16)));
}

/// Every gather has another mode.
fn with_mode(words: &mut Vec<u32>, mode: u32) {
    let module = Module::parse(words.clone()).expect("it was sent");
    let made = module.instructions().find(|i| i.op == Some(Op::ImageGatherQCOM)).expect("a gather is there").words[6];
    let ty = module.definition_of(made).and_then(|i| i.result_type()).expect("a mode is a constant");
    let other = words[3];
    let mut changed = words[..5].to_vec();
    changed[3] += 1;
    for i in module.instructions() {
        let mut one = i.words.to_vec();
        if i.op == Some(Op::ImageGatherQCOM) {
            one[6] = other;
        }
        changed.extend(one);
        if i.result() == Some(made) {
            changed.extend(instruction(Op::Constant, &[ty, other, mode]));
        }
    }
    *words = changed;
}

const MODES: [&str; 4] = ["4x1", "d", "h2", "v2"];

#[test]
fn texels_of_other_places_are_found() {
    let named = |name: &str| cases("gather", |known| known == format!("gather.{name}")).remove(0);
    let mut missed = Vec::new();
    for (number, mode) in (0..).zip(MODES) {
        let case = named(&format!("{mode}.plain.u32.0"));
        missed.extend(unless(Status::Pass, &case, |_, _| {}));
        for other in (0..4).filter(|other| *other != number) {
            missed.extend(unless(Status::Fail, &case, |words, _| with_mode(words, other)));
        }
    }
    let mut fails = |case: &Case, alter: &(dyn Fn(&mut Dispatch) + Sync)| {
        missed.extend(unless(Status::Pass, case, |_, _| {}));
        missed.extend(unless(Status::Fail, case, |_, dispatch| alter(dispatch)));
    };
    for mode in MODES.into_iter().chain(["core"]) {
        fails(&named(&format!("{mode}.plain.u32.0")), &rows_upwards);
        // At a boundary either of two texels may be taken, and no third one.
        for at in ["centres", "edges"] {
            fails(&named(&format!("{mode}.at.{at}.repeat.nearest")), &two_columns_on);
        }
        for base in [0, 2] {
            fails(&named(&format!("{mode}.levels.1_of_4.8x8.repeat")), &|dispatch| {
                images(dispatch).for_each(|image| image.view.base_level = base);
            });
        }
    }
    assert_none(missed);
}

/// Changes the format of images in the module and in the bindings.
fn with_format(words: &mut [u32], dispatch: &mut Dispatch, from: ImageFormat, to: ImageFormat) {
    let mut at = 5;
    while at < words.len() {
        if words[at] & 0xffff == Op::TypeImage as u32 && words[at + 8] == from.word() {
            words[at + 8] = to.word();
        }
        at += (words[at] >> 16) as usize;
    }
    images(dispatch).filter(|image| image.format == from).for_each(|image| image.format = to);
}

/// Formats of texels of 128 and of 64 bits that no other format of the same kind of numbers has as
/// many bits as, but for the sign of an integer as wide as the shader's, which does not show.
const ALONE: [ImageFormat; 5] =
    [ImageFormat::Rgba32f, ImageFormat::Rgba32i, ImageFormat::Rgba32ui, ImageFormat::R64i, ImageFormat::R64ui];

#[test]
fn texels_of_another_format_are_found() {
    let formats: Vec<ImageFormat> = IMAGE_FORMAT
        .iter()
        .filter_map(|f| ImageFormat::from_word(f.value))
        .filter(|f| texel_scalars(*f).is_some())
        .collect();
    // The kind of numbers as a shader sees them, and whether a channel is as wide as the shader's
    // integer: its sign does not show.
    let kind = |format: ImageFormat| {
        let name = format!("{format:?}");
        let (is_integer, is_long) = (name.ends_with('i'), name.contains("64"));
        ((is_integer, is_long), is_integer && (is_long || name.contains("32")))
    };
    let mut missed = Vec::new();
    let mut planted = Vec::new();
    for from in &formats {
        let label = format!("{from:?}").to_ascii_lowercase();
        let cases = cases("environment", |name| {
            ["load", "store"].iter().any(|access| name == format!("environment.format.{label}.{access}.image"))
        });
        assert_eq!(cases.len(), 2, "{label}");
        missed.extend(cases.iter().filter_map(|case| unless(Status::Pass, case, |_, _| {})));
        let like = |to: &&ImageFormat| {
            let (of, other) = (kind(*from), kind(**to));
            to != &from && texel_bytes(**to) == texel_bytes(*from) && of.0 == other.0 && !(of.1 && other.1)
        };
        for to in formats.iter().filter(like) {
            planted.push(*from);
            for case in &cases {
                missed.extend(
                    unless(Status::Fail, case, |words, dispatch| with_format(words, dispatch, *from, *to))
                        .map(|said| format!("{to:?} for {from:?}: {said}")),
                );
            }
        }
    }
    assert_none(missed);
    let left: Vec<ImageFormat> = formats.into_iter().filter(|format| !planted.contains(format)).collect();
    let mut alone = ALONE;
    alone.sort_by_key(|format| format.word());
    assert_eq!(left, alone);
}
