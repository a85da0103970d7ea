//! Tests of the bindless suite: its references against each other, the drivers, planted faults, and
//! kernels that violate rules.

use crate::programs::assert_none;
use crate::support::{EditedModules, line, on_each_driver, run, validator};
use assay_events::{CaseResult, Status};
use assay_exec::Target;
use assay_spirv::Module;
use assay_spirv::edit::instruction;
use assay_spirv::module::Type;
use assay_spirv::tables::Op;
use assay_spirv_rules::inspect::{ModuleSource, Report};
use assay_spirv_rules::requirements::Requirements;
use assay_spirv_rules::rules::{self, Environment};
use assay_suite::{Case, NoDevice, RunPath, all};
use std::collections::BTreeSet;

fn cases() -> Vec<Case> {
    all().into_iter().find(|suite| suite.name() == "bindless").expect("it is one of them").cases()
}

fn named(name: &str) -> Case {
    let name = format!("bindless.{name}");
    cases().into_iter().find(|case| case.name == name).unwrap_or_else(|| panic!("{name} is gone"))
}

/// The cases that SwiftShader fails: `reports/findings/swiftshader-imagequerysize-nonuniform.md`.
fn is_found(name: &str) -> bool {
    name.contains(".size.") && (name.ends_with(".table") || name.contains(".runtime."))
}

#[test]
fn the_oracle_agrees_with_the_independent_reference() {
    let cases = cases();
    let results = run(&cases, &NoDevice::default(), Some(RunPath::Reference));
    assert_eq!(results.len(), cases.len());
    let wrong = |result: &&CaseResult| {
        result.status != Status::Pass || result.scalars_unchecked > 0 || result.path != "reference"
    };
    assert_none(results.iter().filter(wrong).map(line).collect());
}

#[test]
fn the_quick_budget_covers_every_group() {
    let cases = cases();
    let quick: Vec<&Case> = cases.iter().filter(|case| case.quick).collect();
    assert!((350..=400).contains(&quick.len()), "{} of {}", quick.len(), cases.len());
    let groups = |cases: &[&Case]| -> BTreeSet<String> {
        cases.iter().map(|case| case.name.split('.').take(3).collect::<Vec<_>>().join(".")).collect()
    };
    assert_eq!(groups(&quick), groups(&cases.iter().collect::<Vec<_>>()));
}

/// A sample of the cases; the result names the path.
#[test]
fn lowered_kernels_pass_on_the_drivers() {
    const EACH: usize = 17;
    let cases: Vec<Case> = cases().into_iter().step_by(EACH).collect();
    on_each_driver(|target| {
        let (wide, native) =
            (target.capabilities().features.contains("shaderInt64"), target.info().name.contains("llvmpipe"));
        let wrong = |result: &&CaseResult| match result.status {
            Status::Pass | Status::QualityWarning => result.path != "lowered" || result.scalars_checked == 0,
            // 64-bit handles require 64-bit integers.
            Status::NotSupported => wide || !result.name.contains(".p64."),
            Status::Fail => native || !is_found(&result.name),
            _ => true,
        };
        assert_none(run(&cases, target, None).iter().filter(wrong).map(line).collect());
    });
}

#[test]
fn drivers_report_kernels_as_not_supported() {
    let cases = [named("p32.read.2d.table"), named("p64.sample.3d.table")];
    on_each_driver(|target| {
        for result in run(&cases, target, Some(RunPath::Native)) {
            assert_eq!((result.status, result.path.as_str()), (Status::NotSupported, "native"));
            for lacks in ["capability Kernel", "extension SPV_INTEL_bindless_images"] {
                let said = format!("{lacks} needs an API other than Vulkan, which does not list it");
                assert!(line(&result).contains(&said), "{}", line(&result));
            }
        }
        let wide = run(&cases[1..], target, Some(RunPath::Lowered));
        let said = line(&wide[0]);
        assert!(
            wide[0].status == Status::Pass
                || said.contains("in the lowered module, capability Int64 needs feature shaderInt64"),
            "{said}"
        );
        // If no path was requested, the reason covers both paths.
        let best = &run(&cases[1..], target, None)[0];
        let both = ["native: capability", "; lowered: in the lowered module, capability Int64"];
        assert!(best.status == Status::Pass || both.iter().all(|why| line(best).contains(why)), "{}", line(best));
    });
}

/// Returns the module with each instruction changed that belongs to a function whose name starts
/// with `of`.
fn change(module: &Module, of: &str, mut with: impl FnMut(Vec<u32>, Op) -> Vec<u32>) -> Vec<u32> {
    let names = module.names();
    let inside = |i: &assay_spirv::module::Instruction<'_>| {
        module.function_at(i.index).is_some_and(|f| names.of(f.id).is_some_and(|name| name.starts_with(of)))
    };
    let mut words = module.words()[..5].to_vec();
    for i in module.instructions() {
        match i.op {
            Some(op) if inside(&i) => words.extend(with(i.words.to_vec(), op)),
            _ => words.extend(i.words),
        }
    }
    words
}

/// Changes a handle lookup so that each handle except the first and the last gives the next
/// descriptor. Later images are not smaller, so all accesses stay in bounds.
fn next_one(module: &Module, of: &str) -> Vec<u32> {
    // The first operand pair of each select: the descriptor's number.
    let mut numbers = Vec::new();
    change(module, of, |words, op| {
        numbers.extend((op == Op::Select).then(|| words[4]));
        words
    });
    let mut next = numbers.into_iter().skip(1);
    change(module, of, |mut words, op| {
        if op == Op::Select {
            words[4] = next.next().unwrap_or(words[4]);
        }
        words
    })
}

/// Changes the lookup so that it compares the lower half of 64-bit handles only.
fn truncated(module: &Module) -> Vec<u32> {
    let mut ids = module.words()[3]..;
    let uint = module.types().find(|(_, ty)| **ty == Type::Int { width: 32, signed: false });
    let uint = uint.and_then(|(ty, _)| module.type_definition(ty).result()).expect("numbers have 32 bits");
    let (mut given, mut wide, mut cut) = (0, 0, 0);
    let mut half = |words: &mut Vec<u32>, ty: u32, of: u32| {
        let [low, back] = [ids.next().expect("ids"), ids.next().expect("ids")];
        words.extend(instruction(Op::UConvert, &[uint, low, of]));
        words.extend(instruction(Op::UConvert, &[ty, back, low]));
        back
    };
    let mut words = change(module, "image_of_handle", |words, op| match op {
        Op::FunctionParameter => {
            (wide, given) = (words[1], words[2]);
            words
        }
        Op::Label => {
            let mut words = words;
            cut = half(&mut words, wide, given);
            words
        }
        Op::IEqual => {
            let mut before = Vec::new();
            let known = half(&mut before, wide, words[4]);
            before.extend(instruction(Op::IEqual, &[words[1], words[2], cut, known]));
            before
        }
        _ => words,
    });
    words[3] = ids.start;
    words
}

/// Changes the coordinates' axes in the functions that use images. Samples stay valid for any
/// coordinate.
fn axes(module: &Module, from: [u32; 3], to: [u32; 3]) -> Vec<u32> {
    change(module, "OpImage", |mut words, op| {
        if op == Op::VectorShuffle && words[5..] == from {
            words[5..].copy_from_slice(&to);
        }
        words
    })
}

/// Name of a fault in the module for the device, the cases that must detect it, and the change.
type Fault = (&'static str, &'static [&'static str], fn(&Module) -> Vec<u32>);

const FAULTS: [Fault; 7] = [
    ("a divisor left out", &["p32.project.1d.table", "p32.project.2d.argument", "p64.project.3d.table"], |module| {
        change(module, "OpImage", |mut words, op| {
            if op == Op::ImageSampleProjExplicitLod {
                words[0] = words[0] & 0xffff_0000 | Op::ImageSampleExplicitLod as u32;
            }
            words
        })
    }),
    (
        "the next handle",
        &[
            "p32.read.2d.table",
            "p64.read.1d.argument",
            "p32.write.buffer.table",
            "p64.write.3d.argument",
            "p32.read_write.2d_array.table",
            "p64.size.3d.argument",
            "p32.read.from.constant",
            "p64.read.from.bits",
            "p32.read.from.images",
            "p32.read.from.function",
            "p64.sample.names.close.table",
            "p32.read.format.r32f",
        ],
        |module| next_one(module, "image_of_handle"),
    ),
    (
        "the sampler of another handle",
        &["p32.sample.2d.table", "p64.sample.1d.argument", "p32.sampler.3d.constant", "p64.sample.format.rgba16f"],
        |module| next_one(module, "sampler_of_handle"),
    ),
    (
        "the image and sampler of another handle",
        &["p32.sampled.2d.table", "p64.sampled.3d.argument", "p32.taken_out.1d.table"],
        |module| next_one(module, "sampled_image_of_handle"),
    ),
    (
        "handles cut to 32 bits",
        &[
            "p64.read.names.upper.table",
            "p64.write.names.upper.own",
            "p64.read.names.upper.halves",
            "p64.read.names.zero.stride",
        ],
        truncated,
    ),
    (
        "another layer",
        &[
            "p32.sample.2d_array.table",
            "p64.sampled.2d_array.argument",
            "p32.sample.2d_array.argument",
            // For a direction this selects another face.
            "p32.sample.cube.table",
            "p64.sampled.cube.argument",
        ],
        |module| axes(module, [0, 1, 2], [0, 1, 0]),
    ),
    ("an axis for another", &["p32.sample.3d.table", "p64.sample.3d.argument", "p32.sampled.3d.table"], |module| {
        axes(module, [0, 1, 2], [1, 0, 2])
    }),
];

#[test]
fn planted_faults_in_lowered_kernels_are_found() {
    on_each_driver(|target| {
        let wide = target.capabilities().features.contains("shaderInt64");
        let mut missed = Vec::new();
        for (name, cases, fault) in FAULTS {
            for case in cases.iter().filter(|name| wide || !name.starts_with("p64")) {
                let fault = |words: &[u32]| fault(&Module::parse(words.to_vec()).expect("it was sent"));
                let wrong = EditedModules { target, fault: &fault };
                let results = run(&[named(case)], &wrong, Some(RunPath::Lowered));
                if results[0].status != Status::Fail {
                    missed.push(format!("{name}: {}", line(&results[0])));
                }
            }
        }
        assert_none(missed);
    });
}

/// A kernel, a replacement in its text, and the rule that the result violates.
const BROKEN: [(&str, &str, &str, &str); 9] = [
    ("p64.read.2d.table", "OpExtension \"SPV_INTEL_bindless_images\"\n", "", "handle-extension"),
    ("p64.read.2d.table", "OpCapability BindlessImagesINTEL\n", "", "handle-capability"),
    ("p64.read.2d.table", "OpMemoryModel Physical64 OpenCL", "OpMemoryModel Logical OpenCL", "handle-addressing"),
    ("p64.read.2d.table", "OpMemoryModel Physical64 OpenCL", "OpMemoryModel Physical32 OpenCL", "handle-width"),
    ("p32.sample.2d.table", "OpMemoryModel Physical32 OpenCL", "OpMemoryModel Physical64 OpenCL", "handle-width"),
    ("p64.read.2d.table", "OpTypeInt 64 0", "OpTypeInt 64 1", "handle-width"),
    ("p64.read.2d.table", "HandleToImageINTEL", "HandleToSamplerINTEL", "handle-sampler"),
    ("p32.sampled.2d.table", "HandleToSampledImageINTEL", "HandleToImageINTEL", "handle-image"),
    ("p32.sample.2d.table", "HandleToSamplerINTEL", "HandleToSampledImageINTEL", "handle-sampled-image"),
];

#[test]
fn kernels_that_violate_a_rule_are_rejected() {
    for (name, old, new, rule) in BROKEN {
        let text = named(name).program(RunPath::Reference).expect("it is among its paths").text;
        let broken = |text: &str| -> Vec<&str> {
            let module = Module::parse(assay_spirv::assemble(text).expect("it is text")).expect("it is a module");
            rules::violations(&module, Environment::of_module(&module)).iter().map(|v| v.rule.name).collect()
        };
        assert_eq!(broken(&text), [""; 0], "{name}");
        let changed = text.replace(old, new);
        assert_ne!(changed, text, "{name}: {old}");
        assert!(broken(&changed).contains(&rule), "{name}, {rule}: {:?}", broken(&changed));
        let report = Report::new(&ModuleSource::read(changed.as_bytes()).expect("it is a module"));
        assert!(!report.is_legal(), "{name}, {rule}");
    }
}

/// Devices with runtime descriptor arrays get them; the others get fixed arrays.
#[test]
fn runtime_arrays_are_used_where_the_device_supports_them() {
    on_each_driver(|target| {
        let has = target.capabilities().features.contains("runtimeDescriptorArray");
        for name in ["p32.read.runtime.2d", "p32.sample.runtime.cube", "p32.write.runtime.buffer"] {
            let lowered = named(name).program(RunPath::Lowered).expect("it is among its paths").lowered;
            let taken = lowered.iter().find(|one| {
                let words = assay_spirv::assemble(&one.text).unwrap_or_else(|_| panic!("{}", one.text));
                Requirements::of(&Module::parse(words).expect("it is a module")).check(target.capabilities()).may_run()
            });
            let taken = taken.expect("every device supports switches over descriptors");
            assert_eq!(taken.text.contains("OpCapability RuntimeDescriptorArray\n"), has, "{name}");
        }
    });
}

/// spirv-val accepts the lowered modules, with dynamic indices and with switches. The kernels
/// themselves are not checked, because spirv-val may be too old for them.
#[test]
fn the_validator_accepts_lowered_kernels() {
    let mut wrong = Vec::new();
    for case in cases().into_iter().step_by(9) {
        for lowered in case.program(RunPath::Lowered).expect("it is among its paths").lowered {
            let words = assay_spirv::assemble(&lowered.text).unwrap_or_else(|_| panic!("{}", lowered.text));
            if let Some(Err(said)) = validator(&words) {
                wrong.push(format!("{}: {said}", case.name));
            }
        }
    }
    assert_none(wrong);
}
