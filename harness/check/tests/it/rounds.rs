//! Tests of rounds: passes, failures and refusals.

use crate::support::{on_each_driver, spoilt, wgsl};
use assay_check::{BindingSource, Check, CheckError, Expectation, Options, ShaderSource};
use assay_events::Status;
use assay_oracle::{Resource, Slot};

const HASH: &str = "
@group(0) @binding(0) var<storage, read_write> hashes: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<u32>;
struct Sizes { multiplier: u32, shift: u32 }
@group(1) @binding(2) var<uniform> sizes: Sizes;
override rounds: u32 = 3u;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var h = hashes[id.x] ^ table[id.x];
    for (var i = 0u; i < 5u; i++) {
        h = (h ^ (h >> (sizes.shift & 31u))) * sizes.multiplier;
    }
    hashes[id.x] = h;
}";

fn hash() -> String {
    HASH.replace("override rounds: u32 = 3u;\n", "")
}

#[test]
fn an_integer_shader_passes_on_every_driver() {
    let text = hash();
    let shader = wgsl(&text);
    let check = Check::new(&shader, &Options { rounds: 3, ..Options::default() }).unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert_eq!((result.status, result.reason.as_deref()), (Status::Pass, None));
        assert_eq!((result.rounds_checked, result.elements_checked), (3, 3 * 256));
    });
}

#[test]
fn one_wrong_bit_is_found_and_reported() {
    let result = spoilt(&hash(), &Options::default(), |output| {
        if let Some(memory) = output.memory.get_mut(&Slot::new(0, 0)) {
            memory[4 * 77 + 2] ^= 0x40;
        }
    });
    assert_eq!((result.status, result.elements_failing, result.elements_checked), (Status::Fail, 2, 512));
    let first = &result.mismatches[0];
    assert_eq!((first.buffer.as_str(), first.element.as_str()), ("set 0 binding 0 (hashes)", "[77]"));
    assert_eq!((first.offset, first.scalar.as_str(), first.class.as_str()), (308, "u32", "Wild"));
    let bits = |text: &str| u32::from_str_radix(&text[2..], 16).unwrap();
    assert_eq!(bits(&first.got) ^ bits(&first.permitted[0][0]), 0x0040_0000);
    assert_eq!(result.mismatches[1].round, 1);
    // A changed input is as wrong as an output.
    let result = spoilt(&hash(), &Options::default(), |output| {
        output.memory.get_mut(&Slot::new(0, 1)).unwrap()[0] ^= 1;
    });
    assert_eq!((result.status, result.elements_failing), (Status::Fail, 2));
}

/// Unchanged inputs are not results: if nothing is required of the outputs, nothing was checked.
#[test]
fn unchanged_inputs_alone_do_not_pass() {
    let text = "@group(0) @binding(0) var<storage, read_write> read_only_in_fact: array<f32>;
        @group(0) @binding(1) var<storage, read> values: array<f32>;
        @group(0) @binding(2) var<storage, read_write> logarithms: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
            logarithms[i] = log(-1.0 - abs(read_only_in_fact[i] + values[i]));
        }";
    let result = spoilt(text, &Options { rounds: 1, groups: Some([1; 3]), ..Options::default() }, |_| {});
    assert_eq!((result.status, result.elements_checked), (Status::Undetermined, 0), "{:?}", result.reason);
}

#[test]
fn missing_output_of_a_device_does_not_pass() {
    let missing: [fn(&mut assay_exec::DispatchOutput); 2] = [
        |output| drop(output.memory.remove(&Slot::new(0, 1))),
        |output| output.memory.get_mut(&Slot::new(0, 0)).unwrap().truncate(8),
    ];
    for (spoil, what) in missing.into_iter().zip(["returned nothing", "returned 8 bytes"]) {
        let result = spoilt(&hash(), &Options::default(), spoil);
        assert_eq!(result.status, Status::InternalError);
        assert!(result.reason.as_deref().unwrap().contains(what), "{:?}", result.reason);
    }
}

#[test]
fn undefined_behaviour_is_an_error_with_its_line() {
    let text = hash().replace("hashes[id.x] = h;", "hashes[id.x + 1u] = h;");
    let shader = wgsl(&text);
    let check = Check::new(&shader, &Options::default()).unwrap();
    on_each_driver(|target| match check.run(target) {
        Err(error @ CheckError::Undefined { .. }) => {
            let text = error.to_string();
            assert!(text.contains("test.wgsl:11:") && text.contains("data race"), "{text}");
        }
        other => panic!("expected a refusal: {other:?}"),
    });
}

#[test]
fn a_module_that_breaks_rules_is_refused() {
    let text = assay_testkit::Shader::default().text().replace("OpExecutionMode %main LocalSize 1 1 1", "");
    let shader = ShaderSource::read("no_size.spvasm", text.as_bytes()).unwrap();
    let error = Check::new(&shader, &Options::default()).unwrap_err();
    assert!(matches!(error, CheckError::Illegal { .. }) && error.to_string().contains("no_size.spvasm"), "{error}");
}

#[test]
fn options_that_do_not_fit_are_reported() {
    let text = hash();
    let shader = wgsl(&text);
    let input = |to: &str, what: &str| Options {
        inputs: vec![(to.parse().unwrap(), what.parse().unwrap())],
        ..Options::default()
    };
    let error = |options: &Options| {
        let made = Check::new(&shader, options).and_then(|check| check.setup.dispatch(0).map(|_| ()));
        made.unwrap_err().to_string()
    };
    assert!(error(&input("3.0", "zeros")).contains("the entry point uses set 0 binding 0 (hashes)"));
    assert!(error(&input("table", "/nonexistent")).contains("/nonexistent"));
    assert!(error(&input("table", "=1.5")).contains("`1.5` is not a number of type u32"));
    assert!(error(&input("table", "-1..5")).contains("number of type u32"));
    let entry = Options { entry: Some("other".into()), ..Options::default() };
    assert!(error(&entry).contains("the module has main"));
    let spec = Options { specs: vec![("7".into(), "1".into())], ..Options::default() };
    assert!(error(&spec).contains("the module has none"));
}

/// Workgroup sizes are computed from specialisation constants, by a scalar, a vector or an
/// execution mode, and buffers follow.
#[test]
fn sizes_follow_specialisation_constants() {
    let made = |size: &str, mode: &str, computed: &str, value: &str| {
        let text = format!(
            "; SPIR-V\n; Version: 1.6\nOpCapability Shader\nOpMemoryModel Logical GLSL450\n\
             OpEntryPoint GLCompute %main \"main\" %data\n{mode}\nOpDecorate %n SpecId 3\nOpDecorate %array ArrayStride 4\n\
             OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\nOpDecorate %data DescriptorSet 0\n\
             OpDecorate %data Binding 0\n{size}%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n\
             %v3 = OpTypeVector %uint 3\n%zero = OpConstant %uint 0\n%one = OpConstant %uint 1\n\
             %n = OpSpecConstant %uint 8\n%more = OpSpecConstantOp %uint IAdd %n %one\n{computed}\n\
             %array = OpTypeRuntimeArray %uint\n%block = OpTypeStruct %array\n%to_block = OpTypePointer StorageBuffer %block\n\
             %to_uint = OpTypePointer StorageBuffer %uint\n%data = OpVariable %to_block StorageBuffer\n\
             %main = OpFunction %void None %fn\n%entry = OpLabel\n%length = OpArrayLength %uint %data 0\n\
             OpReturn\nOpFunctionEnd\n"
        );
        let shader = ShaderSource::read("sizes.spvasm", text.as_bytes()).unwrap();
        let specs = if value.is_empty() { Vec::new() } else { vec![("3".into(), value.into())] };
        let setup = Check::new(&shader, &Options { specs, ..Options::default() }).unwrap().setup;
        let words: u64 = setup.descriptors.iter().map(|descriptor| descriptor.bytes / 4).sum();
        (setup.local, words / setup.groups.iter().map(|n| u64::from(*n)).product::<u64>())
    };
    let built_in = "OpDecorate %size BuiltIn WorkgroupSize\n";
    let scalar = "%size = OpSpecConstantComposite %v3 %more %one %one";
    assert_eq!(made(built_in, "", scalar, ""), ([9, 1, 1], 9));
    assert_eq!(made(built_in, "", scalar, "4"), ([5, 1, 1], 5));
    let vector = "%half = OpSpecConstantComposite %v3 %n %one %n\n%size = OpSpecConstantOp %v3 IAdd %half %half";
    assert_eq!(made(built_in, "", vector, "4"), ([8, 2, 8], 128));
    let mode = "OpExecutionModeId %main LocalSizeId %more %one %one";
    assert_eq!(made("", mode, "", "11"), ([12, 1, 1], 12));
}

#[test]
fn inputs_files_and_sizes_apply_to_the_named_bindings() {
    let text = "@group(0) @binding(0) var<storage, read_write> sum: u32;
                @group(0) @binding(1) var<storage, read> table: array<u32>;
                @compute @workgroup_size(1) fn main() {
                    for (var i = 0u; i < arrayLength(&table); i++) { sum += table[i]; }
                }";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.bin");
    std::fs::write(&path, (0..100u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>()).unwrap();
    let expect = |value: &str| Expectation { binding: "sum".into(), element: String::new(), value: value.into() };
    let options = |expected: &str| Options {
        groups: Some([1, 1, 1]),
        inputs: vec![
            ("sum".parse().unwrap(), "zeros".parse().unwrap()),
            ("0.1".parse().unwrap(), path.to_str().unwrap().parse().unwrap()),
        ],
        expectations: vec![expect(expected)],
        ..Options::default()
    };
    let shader = wgsl(text);
    on_each_driver(|target| {
        for (expected, status) in [("4950", Status::Pass), ("4949", Status::Fail), ("4900..5000", Status::Pass)] {
            let result = Check::new(&shader, &options(expected)).unwrap().run(target).unwrap();
            assert_eq!(result.status, status, "{result:?}");
            if status == Status::Fail {
                assert_eq!(
                    (result.mismatches[0].by.as_str(), result.mismatches[0].got.as_str()),
                    ("case", "0x00001356")
                );
            }
        }
    });
}

#[test]
fn arrays_in_workgroup_memory_have_no_stride() {
    // naga adds a stride to every array. The type of `part` does not occur in a buffer, so its
    // stride can be removed.
    let part = "var<workgroup> part: array<array<u32, 4>, 8>;
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32,
                                             @builtin(global_invocation_id) id: vec3<u32>) {
            part[i / 4u][i % 4u] = data[id.x];
            workgroupBarrier();
            data[id.x] = part[7u - i / 4u][3u - i % 4u];
        }";
    let shader = wgsl(part);
    assert_eq!(shader.must_be_legal(false).unwrap(), [""; 0]);
    let check = Check::new(&shader, &Options { rounds: 1, ..Options::default() }).unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert_eq!(result.status, Status::Pass, "{:?}", result.reason);
    });
    // Here the type also occurs in a buffer, which needs the stride, and whole values are copied.
    let shared = part.replace("data: array<u32>", "data: array<array<u32, 4>>");
    let shared = shared.replace("data[id.x]", "data[id.x / 4u][id.x % 4u]");
    let shared = shared.replace(
        "workgroupBarrier();",
        "workgroupBarrier();
            var own: array<u32, 4> = part[i / 4u];
            own[i % 4u] = own[i % 4u] * 3u;
            workgroupBarrier();
            if i % 4u == 1u { part[i / 4u] = own; }
            workgroupBarrier();",
    );
    let shader = wgsl(&shared);
    assert_eq!(shader.must_be_legal(false).unwrap(), [""; 0]);
    let check = Check::new(&shader, &Options { rounds: 2, ..Options::default() }).unwrap();
    on_each_driver(|target| {
        let result = check.run(target).unwrap();
        assert_eq!(result.status, Status::Pass, "{:?}", result.reason);
        assert_eq!(result.elements_undetermined, 0, "{result:?}");
    });
}

/// A driver that loses signs of zeros in copies follows the letter of the specification only.
#[test]
fn a_lost_sign_of_zero_in_a_copy_is_a_warning() {
    let signs = "@group(0) @binding(0) var<storage, read_write> data: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            data[id.x] = select(0.0, bitcast<f32>(0x80000000u), id.x == 3u);
        }";
    let options = Options { rounds: 1, groups: Some([1; 3]), ..Options::default() };
    let with = |bits: u32| {
        let result = spoilt(signs, &options, |output| {
            output.memory.values_mut().for_each(|memory| memory[12..16].copy_from_slice(&bits.to_le_bytes()));
        });
        let found: Vec<Status> = result.mismatches.iter().map(|mismatch| mismatch.status).collect();
        (result.status, result.elements_failing, result.elements_warning, found)
    };
    assert_eq!(with(0), (Status::QualityWarning, 0, 1, vec![Status::QualityWarning]));
    assert_eq!(with(1), (Status::Fail, 1, 0, vec![Status::Fail]));
}

#[test]
fn numbers_of_a_buffer_are_given_by_index_or_in_turn() {
    let shader = wgsl(
        "@group(0) @binding(0) var<storage, read_write> counts: array<u32, 6>;
        @compute @workgroup_size(1) fn main() { counts[0] += counts[5]; }",
    );
    let contents = |name: &str, numbers: &str| {
        let inputs = vec![(name.parse().unwrap(), BindingSource::Number(numbers.to_owned()))];
        let check = Check::new(&shader, &Options { inputs, ..Options::default() }).unwrap();
        let dispatch = check.setup.dispatch(0).unwrap();
        let Resource::Buffer(buffer) = &dispatch.bindings[&Slot::new(0, 0)] else { panic!("a buffer") };
        let words = buffer.data.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
        words.collect::<Vec<u32>>()
    };
    assert_eq!(contents("counts", "64,0,7"), [64, 0, 7, 64, 0, 7]);
    let usual = contents("counts[5]", "3");
    assert_eq!(usual[5], 3);
    let one = contents("counts[0]", "9");
    assert_eq!((one[0], &one[1..5]), (9, &usual[1..5]));
}
