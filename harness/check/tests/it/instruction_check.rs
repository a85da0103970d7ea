//! Check of the instructions by themselves, for shaders whose output may be nearly anything.

use crate::support::{SpoiltRecords, concluded, on_each_driver, wgsl};
use assay_check::{CheckSession, Options, SessionOutput, ShaderSource};
use assay_events::{CheckResult, FaultExclusion, Status, TracedInstructions};
use assay_exec::Target;
use assay_oracle::Slot;
use assay_precision::Specification;
use assay_testkit::Shader;
use assay_vulkan_exec::VulkanTarget;

/// The sine of a large number has no stated precision, so that neither does the output.
const NOISE: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
fn noise(x: f32) -> f32 { return fract(sin(x * 12.5) * 43758.5453); }
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = 0.0;
    for (var k = 0u; k < 3u; k++) {
        sum += noise(f32(id.x * 3u + k) + 100.0) * 0.5;
    }
    data[id.x] = sqrt(sum);
}";

/// Checks a shader, with an error planted if `mutation` names one.
fn checked(text: &str, mutation: Option<&str>, target: &dyn Target) -> CheckResult {
    checked_shader(wgsl(text), mutation, target)
}

fn checked_shader(shader: ShaderSource, mutation: Option<&str>, target: &dyn Target) -> CheckResult {
    let mut session = CheckSession::new(shader, Options { rounds: 1, ..Options::default() });
    session.diagnosis.trace = true;
    session.mutation = mutation.map(|mutation| mutation.parse().unwrap());
    let output = SessionOutput { folder: None, command: &[] };
    session.run(&session.check().unwrap(), target, None, output, &|_| ()).unwrap()
}

#[test]
fn a_shader_with_undetermined_output_passes_by_its_instructions() {
    on_each_driver(|target| {
        let result = checked(NOISE, None, target);
        assert_eq!(result.status, Status::Pass, "{result:?}");
        let traced = result.traced.as_ref().expect("the instructions were recorded");
        assert!(traced.is_meaningful() && result.is_meaningful() && traced.results > 1000, "{traced:?}");
        // The sine itself has no permitted set.
        assert_eq!(traced.instructions, traced.of - 1, "{traced:?}");
        let why = "the output alone says little (none of its elements could have come out wrong)";
        assert!(result.conclusion().ends_with(why), "{result:?}");
    });
}

#[test]
fn a_wrong_instruction_fails_although_the_output_is_undetermined() {
    for mutation in ["ulp:100@Sqrt", "ulp:4@OpFAdd", "off-by-one@OpIAdd"] {
        on_each_driver(|target| {
            let result = checked(NOISE, Some(mutation), target);
            assert_eq!(result.status, Status::Fail, "{mutation}: {result:?}");
            let blamed: Vec<&str> = result.blamed.iter().map(|blame| blame.name.as_str()).collect();
            assert_eq!(blamed, [mutation.split_once('@').unwrap().1], "{mutation}: {result:?}");
            let reason = result.reason.as_deref().unwrap();
            assert!(reason.contains(blamed[0]) && reason.contains("instrumented variant"), "{reason}");
        });
    }
}

/// Mesa computes the selection of -1 and 0 as a conversion of the condition, negated: -0 in place of 0. By
/// the letter of the text, the sign of a zero is free where no mode preserves it.
#[test]
fn a_selected_zero_of_the_other_sign_is_a_doubt() {
    let text = NOISE.replace("data[id.x] = sqrt(sum);", "data[id.x] = sum + select(0.0, -1.0, data[id.x] > 0.0);");
    on_each_driver(|target| {
        let result = checked(&text, None, target);
        let is_mesa = target.info().name.contains("llvmpipe");
        let expected = if is_mesa { Status::QualityWarning } else { Status::Pass };
        assert_eq!(result.status, expected, "{result:?}");
        assert!(result.traced.as_ref().is_some_and(|traced| traced.is_meaningful()), "{result:?}");
    });
}

/// Each round executes one mode, and an error of any is found.
#[test]
fn instructions_of_all_modes_are_checked() {
    let text = NOISE.replace("@compute", "var<immediate> mode: u32;\n@compute").replace(
        "data[id.x] = sqrt(sum);",
        "if mode == 1u { data[id.x] = sqrt(sum); } else { data[id.x] = sum / 3.0; }",
    );
    let options = Options { push_values: vec![("@0".to_owned(), "0/1".to_owned())], rounds: 1, ..Options::default() };
    let judged = |mutation: Option<&str>, target: &dyn Target| {
        let mut session = CheckSession::new(wgsl(&text), options.clone());
        session.diagnosis.trace = true;
        session.mutation = mutation.map(|mutation| mutation.parse().unwrap());
        let output = SessionOutput { folder: None, command: &[] };
        session.run(&session.check().unwrap(), target, None, output, &|_| ()).unwrap()
    };
    on_each_driver(|target| {
        let result = judged(None, target);
        let traced = result.traced.as_ref().expect("the instructions were recorded");
        assert_eq!((result.status, traced.instructions), (Status::Pass, traced.of - 1), "{result:?}");
        for wrong in ["Sqrt", "OpFDiv"] {
            let result = judged(Some(&format!("ulp:100@{wrong}")), target);
            let blamed: Vec<&str> = result.blamed.iter().map(|blame| blame.name.as_str()).collect();
            assert_eq!((result.status, blamed), (Status::Fail, vec![wrong]), "{result:?}");
        }
    });
}

/// The elements of a mode that copies do not stand for those of another, which are undetermined.
#[test]
fn instructions_of_a_mode_with_undetermined_output_are_checked() {
    let text = NOISE.replace("@compute", "var<immediate> mode: u32;\n@compute").replace(
        "data[id.x] = sqrt(sum);",
        "if mode == 1u { data[id.x] = sqrt(sum); } else { data[id.x] = f32(id.x) * 3.0; }",
    );
    let options = Options { push_values: vec![("@0".to_owned(), "0/1".to_owned())], rounds: 2, ..Options::default() };
    on_each_driver(|target| {
        let mut session = CheckSession::new(wgsl(&text), options.clone());
        session.diagnosis.trace = true;
        let output = SessionOutput { folder: None, command: &[] };
        let result = session.run(&session.check().unwrap(), target, None, output, &|_| ()).unwrap();
        assert_eq!(result.writes.as_ref().map(|writes| writes.thin_modes), Some(1), "{result:?}");
        let traced = result.traced.as_ref().expect("the instructions were recorded");
        assert!(result.status == Status::Pass && traced.is_meaningful(), "{result:?}");
    });
}

#[test]
fn a_shader_with_meaningful_output_is_not_instrumented() {
    let text = NOISE.replace("fract(sin(x * 12.5) * 43758.5453)", "x * 12.5");
    on_each_driver(|target| {
        let result = checked(&text, None, target);
        assert_eq!((result.status, &result.traced), (Status::Pass, &None), "{result:?}");
        assert!(result.is_meaningful());
    });
}

/// Through wgpu, naga drops what forbids contraction. A benign race permits no Pass.
#[test]
fn records_that_prove_nothing_are_not_made() {
    let options = [
        Options { rules: Specification::Wgsl, ..Options::default() },
        Options { benign_races: true, ..Options::default() },
    ];
    on_each_driver(|target| {
        for options in &options {
            let mut session = CheckSession::new(wgsl(NOISE), options.clone());
            session.diagnosis.trace = true;
            let output = SessionOutput { folder: None, command: &[] };
            let result = session.run(&session.check().unwrap(), target, None, output, &|_| ()).unwrap();
            assert_eq!((result.status, &result.traced), (Status::Undetermined, &None), "{result:?}");
        }
    });
}

/// The others may have undefined behaviour, but not in a variant with guards, and with atomic accesses if they
/// may observe each other.
#[test]
fn instructions_of_a_dispatch_are_judged_by_a_subset() {
    let options = Options { checked_invocations: Some(64), rounds: 1, ..Options::default() };
    let traced = |text: &str, target: &dyn Target| {
        let mut session = CheckSession::new(wgsl(text), options.clone());
        session.diagnosis.trace = true;
        let output = SessionOutput { folder: None, command: &[] };
        let result = session.run(&session.check().unwrap(), target, None, output, &|_| ()).unwrap();
        (result.status, result.traced.is_some())
    };
    let neighbours = NOISE.replace("data[id.x] = sqrt(sum);", "data[id.x] = sum + data[(id.x + 128u) % 256u];");
    on_each_driver(|target| {
        assert_eq!(traced(NOISE, target), (Status::Pass, true));
        assert_eq!(traced(&neighbours, target), (Status::Pass, true));
        // Guards suffice for the index of the table, but not for the invocations outside of the subset.
        let indexed = neighbours
            .replace("fn noise", "@group(0) @binding(1) var<storage, read> table: array<f32>;\nfn noise")
            .replace("= sum +", "= sum + table[u32(sum * 1e6)] +");
        let mut session = CheckSession::new(wgsl(&indexed), options.clone());
        session.diagnosis.trace = true;
        let output = SessionOutput { folder: None, command: &[] };
        let result = session.run(&session.check().unwrap(), target, None, output, &|_| ()).unwrap();
        assert_eq!(result.possible_fault.as_ref().and_then(|of| of.excluded_by), Some(FaultExclusion::Guards));
        assert!(result.notes.iter().any(|note| note.contains("guards and atomic accesses")), "{result:?}");
    });
}

/// An index or a conversion of a number that is nearly anything may be undefined, but not in a variant
/// with guards. The shader itself runs with robust access.
#[test]
fn instructions_are_judged_with_guards_if_an_index_is_undetermined() {
    let text = NOISE
        .replace("fn noise", "@group(0) @binding(1) var<storage, read> table: array<f32>;\nfn noise")
        .replace("sqrt(sum)", "sqrt(sum) + table[u32(sum * 1e6)]");
    on_each_driver(|target| {
        let result = checked(&text, None, target);
        assert_eq!(result.status, Status::Pass, "{result:?}");
        let fault = result.possible_fault.as_ref().expect("the index is undetermined");
        assert!(
            fault.excluded_by == Some(FaultExclusion::Guards) && fault.place.contains("table[u32(sum * 1e6)]"),
            "{fault:?}"
        );
        let has_guards = |note: &String| note.contains("a variant with guards") && note.contains(&fault.place);
        assert!(result.notes.iter().any(has_guards), "{result:?}");
        assert!(result.notes.iter().any(|note| note.starts_with("ran with robust access")), "{result:?}");
        let traced = result.traced.as_ref().expect("the instructions were recorded");
        // Guards do not count: the product, naga's clamp, the conversion and the sum do.
        assert_eq!(traced.of, checked(NOISE, None, target).traced.unwrap().of + 4, "{traced:?}");
        let result = checked(&text, Some("ulp:100@Sqrt"), target);
        assert_eq!((result.status, result.blamed.len()), (Status::Fail, 1), "{result:?}");
        assert!(result.blamed[0].place.contains("sqrt(sum)"), "{result:?}");
        assert_eq!(checked(NOISE, None, target).possible_fault, None);
    });
}

/// Drivers drop stores of values that they know to be undefined.
#[test]
fn executions_without_a_record_are_not_judged() {
    let spoilt = |inner: &VulkanTarget, by: u32| {
        let spoil = |records: &mut [u8]| {
            for word in records.chunks_exact_mut(4) {
                if (0.6..1.5).contains(&f32::from_le_bytes([word[0], word[1], word[2], word[3]])) {
                    word.copy_from_slice(&by.to_le_bytes());
                }
            }
        };
        checked(NOISE, None, &SpoiltRecords { inner, records: Slot::new(0, 1), spoil })
    };
    on_each_driver(|inner| {
        let dropped = spoilt(inner, 0x7fe1_5bad);
        assert_eq!(dropped.status, Status::Pass, "{dropped:?}");
        let all = checked(NOISE, None, inner).traced.unwrap();
        assert!(dropped.traced.as_ref().unwrap().results < all.results, "{dropped:?}");
        let zeros = spoilt(inner, 0);
        assert_ne!(zeros.status, Status::Pass, "{zeros:?}");
    });
}

/// After a race a record may differ from the operand, but atomic accesses do not race.
#[test]
fn instructions_are_judged_with_atomic_accesses_if_invocations_may_race() {
    let text = NOISE.replace("data[id.x] = sqrt(sum)", "data[u32(sum * 10.0)] = sqrt(sum) + data[id.x]");
    on_each_driver(|target| {
        let result = checked(&text, None, target);
        assert_eq!(result.status, Status::Pass, "{result:?}");
        let fault = result.possible_fault.as_ref().expect("the index is undetermined");
        assert_eq!(fault.excluded_by, Some(FaultExclusion::AtomicAccesses), "{result:?}");
        let has_atomics = |note: &String| note.contains("atomic accesses to memory") && note.contains(&fault.place);
        assert!(result.notes.iter().any(has_atomics), "{result:?}");
        let wrong = checked(&text, Some("ulp:100@Sqrt"), target);
        assert_eq!((wrong.status, wrong.blamed.len()), (Status::Fail, 1), "{wrong:?}");
        assert!(wrong.blamed[0].place.contains("sqrt(sum)"), "{wrong:?}");
    });
}

/// A race that may be a mistake of the shader is the first thing that the verdict tells.
#[test]
fn a_race_that_only_atomic_accesses_exclude_is_named_first() {
    let text = NOISE.replace("data[id.x] = sqrt(sum)", "data[min(u32(sum * 10.0), 255u)] = sqrt(sum) + data[id.x]");
    let mut session = CheckSession::new(wgsl(&text), Options { rounds: 1, ..Options::default() });
    session.diagnosis.trace = true;
    on_each_driver(|target| {
        let result = concluded(&session, target);
        assert_eq!(result.status, Status::QualityWarning, "{result:?}");
        let reason = result.reason.as_deref().unwrap();
        assert!(
            reason.starts_with("Assay cannot rule out a data race at test.wgsl:")
                && reason.contains("with atomic accesses"),
            "{reason}"
        );
        assert!(result.traced.as_ref().is_some_and(TracedInstructions::is_meaningful), "{result:?}");
    });
}

/// Texels have no atomic accesses.
#[test]
fn instructions_are_not_judged_if_invocations_may_race_in_an_image() {
    let text = NOISE
        .replace("fn noise", "@group(0) @binding(1) var image: texture_storage_2d<r32float, read_write>;\nfn noise")
        .replace(
            "data[id.x] = sqrt(sum)",
            "let near = textureLoad(image, vec2(id.x, 0u)).x;
            textureStore(image, vec2(u32(sum * 10.0), 0u), vec4(near));
            data[id.x] = sqrt(sum) + near",
        );
    on_each_driver(|target| {
        for mutation in [Some("ulp:100@Sqrt"), None] {
            let result = checked(&text, mutation, target);
            assert_eq!((result.status, &result.traced), (Status::Undetermined, &None), "{result:?}");
            let fault = result.possible_fault.as_ref().expect("the index is undetermined");
            let proves_nothing = |note: &String| note.contains("would prove nothing") && note.contains(&fault.place);
            assert!(fault.excluded_by.is_none() && result.notes.iter().any(proves_nothing), "{result:?}");
        }
    });
}

/// A module of SPIR-V 1.0 has its buffers in `Uniform`. The records are in `StorageBuffer`, which is there by an
/// extension.
#[test]
fn instructions_of_spirv_1_0_are_checked() {
    let shader = Shader {
        version: "1.0",
        head: "%glsl = OpExtInstImport \"GLSL.std.450\"",
        interface: "%ids",
        local_size: 64,
        buffers: &[("%data", "%fblocks")],
        decorations: "OpDecorate %ids BuiltIn GlobalInvocationId",
        declared: "%uint3 = OpTypeVector %uint 3
            %to_ids = OpTypePointer Input %uint3
            %ids = OpVariable %to_ids Input
            %large = OpConstant %float 1000.5",
        body: "%id = OpLoad %uint3 %ids
            %i = OpCompositeExtract %uint %id 0
            %x = OpConvertUToF %float %i
            %angle = OpFAdd %float %x %large
            %sine = OpExtInst %float %glsl Sin %angle
            %root = OpExtInst %float %glsl Sqrt %sine
            %place = OpAccessChain %pfloat %data %zero %i
            OpStore %place %root",
        ..Shader::DEFAULT
    };
    let text = shader.text().replace("StorageBuffer", "Uniform").replace("block Block", "block BufferBlock");
    for (mutation, status) in [(None, Status::Pass), (Some("ulp:4@OpFAdd"), Status::Fail)] {
        on_each_driver(|target| {
            let shader = ShaderSource::read("old.spvasm", text.as_bytes()).expect("an assembled shader");
            let result = checked_shader(shader, mutation, target);
            assert_eq!(result.status, status, "{result:?}");
            let traced = result.traced.as_ref().expect("the instructions were recorded");
            assert!(traced.is_meaningful(), "{traced:?}");
        });
    }
}
