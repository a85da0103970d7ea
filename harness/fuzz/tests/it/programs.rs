//! Random programs are reproducible, legal and defined; a planted device error becomes one group.

use assay_check::{Check, ReductionLimits, ShaderSource, reduce};
use assay_events::Status;
use assay_fuzz::{Coverage, FailureSignature, ProgramId, ProgramRange, mutant, preferred};
use assay_spirv::Module;
use assay_spirv::tables::Op;
use assay_suite::Program;
use assay_synthetic_target::SyntheticTarget;
use std::collections::BTreeSet;
use std::time::Duration;

fn source(id: ProgramId, program: &Program) -> ShaderSource {
    let name = format!("{id}.{}", program.ending);
    ShaderSource::read(&name, program.text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{}", program.text))
}

fn programs(seed: u64, count: u64) -> impl Iterator<Item = (ProgramId, Program)> {
    (0..count).map(move |index| ProgramId { seed, index }).map(|id| (id, id.program()))
}

#[test]
fn a_campaign_prefers_programs_that_reach_something_new() {
    let reached = |ids: &[ProgramId]| {
        let mut coverage = Coverage::default();
        let modules = ids.iter().map(|id| source(*id, &id.program()).source.module);
        modules.map(|module| coverage.add(&module)).sum::<usize>()
    };
    let chosen = preferred(3, 400);
    let first: Vec<ProgramId> = (0..400).map(|index| ProgramId { seed: 3, index }).collect();
    assert!(chosen.len() == 400 && chosen.is_sorted() && chosen.iter().all(|id| id.index < 800), "{chosen:?}");
    assert!(reached(&chosen) > reached(&first));
    // Choosing among many more would take minutes.
    let all = preferred(3, 10_000_000);
    assert!(all.len() == 10_000_000 && all.last().unwrap().index == 9_999_999);
}

#[test]
fn seed_and_index_determine_the_program() {
    for (id, program) in programs(3, 20) {
        let again = id.program();
        assert_eq!((&program.text, format!("{:?}", program.options)), (&again.text, format!("{:?}", again.options)));
    }
    let texts: BTreeSet<String> = programs(3, 20).chain(programs(4, 20)).map(|(_, program)| program.text).collect();
    assert_eq!(texts.len(), 40);
}

#[test]
fn names_of_programs_have_one_form() {
    let range = |text: &str| text.parse::<ProgramRange>();
    let names: Vec<String> = range("fuzz.7.3-5").unwrap().programs().map(|id| id.to_string()).collect();
    assert_eq!(names, ["fuzz.7.3", "fuzz.7.4", "fuzz.7.5"]);
    assert_eq!(range("fuzz.7.3").unwrap().programs().count(), 1);
    for bad in ["fuzz.7", "fuzz.7.5-3", "fuzz.07.1", "fuzz.7.+1", "fuzz.7.-1", "fuzz.a.1", "precision.7.1"] {
        assert!(range(bad).unwrap_err().to_string().contains(bad), "{bad}");
    }
}

#[test]
fn programs_are_legal() {
    let mut coverage = Coverage::default();
    for (id, program) in programs(0, 300) {
        let shader = source(id, &program);
        if let Err(error) = shader.must_be_legal(false) {
            panic!("{id}: {error}\n{}", program.text);
        }
        coverage.add(&shader.source.module);
    }
    assert!(coverage.len() > 3000, "{coverage}");
}

fn is_mutant(program: &Program) -> bool {
    program.text.contains("; Mutant of compute.")
}

/// A mutant may be undefined, and is then dropped.
#[test]
fn programs_are_defined_and_determined() {
    let target = SyntheticTarget::default();
    let (mut checked, mut undetermined, mut passed) = (0, 0, 0);
    for (id, program) in programs(1, 60).filter(|(_, program)| !is_mutant(program)) {
        let shader = source(id, &program);
        let check = Check::new(&shader, &program.options).unwrap_or_else(|error| panic!("{id}: {error}"));
        let result = check.run(&target).unwrap_or_else(|error| panic!("{id}: {error}"));
        assert!(matches!(result.status, Status::Pass | Status::NotSupported), "{id}: {:?}", result.reason);
        (checked, undetermined) = (checked + result.elements_checked, undetermined + result.elements_undetermined);
        passed += u32::from(result.status == Status::Pass);
    }
    assert!(passed > 20 && checked > 5000 && undetermined * 100 < checked, "{passed} {checked} {undetermined}");
}

#[test]
fn most_mutants_are_judged() {
    let target = SyntheticTarget::default();
    let (mut mutants, mut judged) = (0, 0);
    for (id, program) in programs(5, 200).filter(|(_, program)| is_mutant(program)) {
        let shader = source(id, &program);
        let result = Check::new(&shader, &program.options).and_then(|check| check.run(&target));
        mutants += 1;
        judged += u32::from(result.is_ok_and(|result| matches!(result.status, Status::Pass | Status::NotSupported)));
    }
    assert!(mutants > 10 && 2 * judged > mutants, "{judged} of {mutants}");
}

#[test]
fn a_planted_device_error_is_found_grouped_and_reduced() {
    let target = SyntheticTarget::default().altering(|words, _| {
        let module = Module::parse(words.clone()).expect("a module");
        for instruction in module.instructions().filter(|instruction| instruction.op == Some(Op::BitwiseXor)) {
            words[instruction.at] = words[instruction.at] & 0xffff_0000 | Op::BitwiseOr as u32;
        }
    });
    let (mut failing, mut groups) = (0, BTreeSet::new());
    for (id, program) in programs(2, 800).filter(|(_, program)| !is_mutant(program)) {
        if failing == 3 {
            break;
        }
        let shader = source(id, &program);
        let Ok(check) = Check::new(&shader, &program.options) else { continue };
        let mut result = check.run(&target).expect("it is defined");
        // Traces of long programs take long. Instrumentation has the instruction, too, and fails with it.
        let has_xor = shader.source.module.instructions().any(|instruction| instruction.op == Some(Op::BitwiseXor));
        if result.status != Status::Fail || result.instructions > 20_000 || !has_xor {
            continue;
        }
        check.explain(&mut result, &target, false);
        let signature = FailureSignature::of(&shader, &result);
        assert!(signature.subject.starts_with("OpBitwiseXor "), "{id}: {signature}");
        failing += 1;
        if failing == 1 {
            let limits = ReductionLimits { candidates: 40, time: Duration::from_secs(60) };
            let small = reduce(&check, &result, &target, limits).expect("a reduction");
            assert!(small.instructions[1] < small.instructions[0], "{id}: {:?}", small.instructions);
            let same = FailureSignature::of(&small.shader, &small.result);
            assert!(same.subject.starts_with("OpBitwiseXor "), "{id}: {same}");
        }
        groups.insert(signature.subject.split(' ').nth(1).map(str::to_owned));
    }
    assert!(failing == 3 && groups.len() < failing, "{failing} {groups:?}");
}

/// A crossing replaces an operand by a computation of the donor, whose operands become values of the shader.
#[test]
fn mutants_contain_computations_of_other_shaders() {
    let shader = |value: &str| {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
                data[id.x] = {value};
            }}"
        );
        ShaderSource::read("shader.wgsl", text.as_bytes()).expect("a shader")
    };
    let (sums, fields) =
        (shader("data[id.x] * 3u + id.x"), shader("extractBits(reverseBits(data[id.x]) + 5u, 3u, 9u)"));
    let mutants: Vec<String> =
        (0..60).filter_map(|index| mutant(&sums, &fields, "sums", ProgramId { seed: 1, index })).collect();
    let again = mutant(&sums, &fields, "sums", ProgramId { seed: 1, index: 0 });
    assert_eq!(again.as_ref(), mutants.first());
    let crossed: Vec<&String> = mutants.iter().filter(|text| text.contains("of the other shader")).collect();
    assert!(crossed.len() > 15, "{}", crossed.len());
    assert!(crossed.iter().any(|text| text.contains("OpBitReverse")), "{crossed:?}");
    for text in crossed {
        let shader = ShaderSource::read("mutant.spvasm", text.as_bytes()).expect("a module");
        shader.must_be_legal(false).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}
