//! Tests of the gather suite on the drivers, and with planted faults.

use crate::support::{EditedModules, line, on_each_driver, run, validator};
use assay_events::{CaseResult, Status};
use assay_exec::Target;
use assay_spirv::Module;
use assay_spirv::tables::Op;
use assay_suite::{Case, NoDevice, RunPath, all};

fn cases() -> Vec<Case> {
    all().into_iter().find(|suite| suite.name() == "gather").expect("it is one of them").cases()
}

/// The address mode whose texel order SwiftShader gets wrong:
/// `reports/findings/swiftshader-gather-mirror-clamp.md`.
const FOUND: &str = "mirror_clamp_to_edge";

/// Takes every second case; all with `ASSAY_FULL`.
#[test]
fn the_oracle_agrees_with_the_independent_reference() {
    let each = if std::env::var_os("ASSAY_FULL").is_some() { 1 } else { 2 };
    let cases: Vec<Case> = cases().into_iter().step_by(each).collect();
    let results = run(&cases, &NoDevice::default(), Some(RunPath::Reference));
    let wrong = |result: &&CaseResult| result.status != Status::Pass || result.scalars_unchecked > 0;
    let wrong: Vec<String> = results.iter().filter(wrong).map(line).collect();
    assert!(wrong.is_empty(), "{} of {}: {:#?}", wrong.len(), cases.len(), &wrong[..wrong.len().min(20)]);
}

#[test]
fn names_are_unique_and_the_quick_budget_is_a_sample() {
    let cases = cases();
    let names: std::collections::BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len());
    let quick = cases.iter().filter(|case| case.quick).count();
    assert!((200..cases.len() / 2).contains(&quick), "{quick} of {}", cases.len());
}

/// A sample of the cases; the result names the path.
#[test]
fn gathers_pass_on_the_drivers() {
    const EACH: usize = 23;
    let cases: Vec<Case> = cases().into_iter().step_by(EACH).collect();
    on_each_driver(|target| {
        let mut wrong = Vec::new();
        for (case, result) in cases.iter().zip(run(&cases, target, None)) {
            let lowered = case.paths.contains(&RunPath::Lowered);
            let path = if lowered { "lowered" } else { "native" };
            let fine = match result.status {
                Status::Pass | Status::QualityWarning => result.path == path && result.scalars_checked > 0,
                // Some formats and offsets are optional.
                Status::NotSupported => result.name.contains(".format.") || result.name.contains("core.offset."),
                Status::Fail => result.name.contains(FOUND) && path == "native",
                _ => false,
            };
            if !fine {
                wrong.push(line(&result));
            }
        }
        assert!(wrong.is_empty(), "{}: {} of {}: {wrong:#?}", target.info().name, wrong.len(), cases.len());
    });
}

#[test]
fn the_native_path_names_the_missing_feature() {
    let cases: Vec<Case> = cases().into_iter().filter(|case| case.paths.contains(&RunPath::Lowered)).take(3).collect();
    on_each_driver(|target| {
        for result in run(&cases, target, Some(RunPath::Native)) {
            assert_eq!(result.status, Status::NotSupported);
            assert!(line(&result).contains("imageGather"), "{}", line(&result));
        }
    });
}

/// Changes every instruction with this opcode.
fn change(words: &mut Vec<u32>, op: Op, with: impl Fn(&mut Vec<u32>)) {
    let module = Module::parse(words.clone()).expect("it was sent");
    let mut changed = words[..5].to_vec();
    for i in module.instructions() {
        let mut one = i.words.to_vec();
        if i.op == Some(op) {
            with(&mut one);
        }
        changed.extend(one);
    }
    *words = changed;
}

/// The id of an integer constant with this value.
fn constant(words: &[u32], value: i64) -> u32 {
    let module = Module::parse(words.to_vec()).expect("it was sent");
    let found = module.instructions().filter(|i| i.op == Some(Op::Constant));
    let found = found.filter_map(|i| i.result()).find(|id| module.constant_int(*id) == Some(value));
    found.expect("such a constant is there")
}

/// Name of a fault in the module for the device, the cases that must detect it, and the change.
type Fault = (&'static str, &'static [&'static str], fn(&mut Vec<u32>));

const FAULTS: [Fault; 6] = [
    // Inverts the comparisons of the lowered floor, which moves the origin.
    (
        "wrong origin texel",
        &["4x1.plain.u32.0", "d.address.repeat.repeat.sure", "d.levels.1_of_4.8x8.repeat"],
        |words| {
            change(words, Op::FOrdLessThan, |i| i[0] = i[0] & 0xffff_0000 | Op::FOrdGreaterThanEqual as u32);
        },
    ),
    ("swapped components", &["4x1.plain.i32.1", "d.plain.f32.2", "d.swizzle.border.a1gr.0"], |words| {
        let last = Module::parse(words.clone()).expect("it was sent");
        let last = last.instructions().rfind(|i| i.op == Some(Op::CompositeConstruct)).map(|i| i.at);
        let last = last.expect("the result is put together") + 3;
        words.swap(last, last + 2);
    }),
    (
        "clamp for repeat",
        &["d.address.repeat.repeat.sure", "4x1.size.7x1.repeat", "d.at.far.repeat.nearest"],
        |words| {
            // Replaces remainders by quotients, so that coordinates are not wrapped.
            change(words, Op::UMod, |i| i[0] = i[0] & 0xffff_0000 | Op::UDiv as u32);
        },
    ),
    ("another channel", &["4x1.plain.u32.1", "d.format.rgba8i.2", "d.swizzle.bgra.0"], |words| {
        let fetched = Module::parse(words.clone()).expect("it was sent");
        let fetches: Vec<u32> =
            fetched.instructions().filter(|i| i.op == Some(Op::ImageFetch)).filter_map(|i| i.result()).collect();
        change(words, Op::CompositeExtract, |i| {
            if fetches.contains(&i[3]) {
                i[4] ^= 1;
            }
        });
    }),
    (
        "neighbour texel",
        &["4x1.size.33x17.clamp_to_edge", "d.layers.5_from_0_of_5.u32", "d.border.opaque_white.r32i.0"],
        |words| {
            let module = Module::parse(words.clone()).expect("it was sent");
            let value = |word: &u32| {
                let ty = module.definition_of(*word)?.result_type()?;
                Some((ty, module.constant_int(*word)?))
            };
            let ids = module.instructions().filter_map(|i| i.result());
            let ones: Vec<u32> = ids.filter(|id| value(id).is_some_and(|(_, n)| n == 1)).collect();
            let mut first = true;
            let mut changed = words[..5].to_vec();
            for i in module.instructions() {
                let mut word = i.words.to_vec();
                let none = i.words.get(4).and_then(value).filter(|(_, n)| *n == 0);
                if let (Some(Op::IAdd), true, Some((ty, _))) = (i.op, first, none) {
                    let one = ones.iter().find(|one| value(one).is_some_and(|(of, _)| of == ty));
                    word[4] = *one.expect("a one beside the zero");
                    first = false;
                }
                changed.extend(word);
            }
            *words = changed;
        },
    ),
    (
        "wrong layer",
        &["4x1.layers.5_from_0_of_5.u32", "d.layers.2_from_0_of_2.f32", "d.layers.2_from_2_of_5.u32"],
        |words| {
            let none = constant(words, 0);
            change(words, Op::CompositeConstruct, |i| {
                if i.len() == 6 {
                    i[5] = none;
                }
            });
        },
    ),
];

#[test]
fn planted_faults_in_lowered_gathers_are_found() {
    let all = cases();
    on_each_driver(|target| {
        let mut missed = Vec::new();
        for (name, cases, fault) in FAULTS {
            for case in cases {
                let case = all.iter().find(|c| c.name == format!("gather.{case}")).unwrap_or_else(|| panic!("{case}"));
                let fault = |words: &[u32]| {
                    let mut words = words.to_vec();
                    fault(&mut words);
                    words
                };
                let wrong = EditedModules { target, fault: &fault };
                let results = run(std::slice::from_ref(case), &wrong, Some(RunPath::Lowered));
                if results[0].status != Status::Fail {
                    missed.push(format!("{name}: {}", line(&results[0])));
                    continue;
                }
                // The results are drawn as a square.
                let drawn = results[0].picture.as_ref().filter(|picture| [picture.width, picture.height] == [16; 2]);
                if drawn.and_then(|picture| picture.png()).is_none() {
                    missed.push(format!("{name}: {} is not drawn", case.name));
                }
            }
        }
        assert!(missed.is_empty(), "{missed:#?}");
    });
}

/// spirv-val accepts the lowered modules, with offsets and without. The native ones are not
/// checked, because spirv-val may be too old for them.
#[test]
fn the_validator_accepts_lowered_gathers() {
    let lowered = cases().into_iter().filter(|case| case.paths.contains(&RunPath::Lowered)).step_by(41);
    let mut wrong = Vec::new();
    for case in lowered {
        for lowered in case.program(RunPath::Lowered).expect("it is among its paths").lowered {
            let words = assay_spirv::assemble(&lowered.text).expect("it is text");
            if let Some(Err(said)) = validator(&words) {
                wrong.push(format!("{}: {said}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
