//! Tests of traces of calls, matrices, structures, images and subgroup operations.

use crate::support::{SyntheticTarget, on_each_driver, on_words, spirv, wgsl};
use assay_check::{Check, MutatingTarget, Mutation, Options, PlantedError, ShaderSource};
use assay_events::{CheckResult, DeviceInfo, Status};
use assay_exec::{DispatchOutput, DispatchRequest, Target, TargetError};
use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::tables::Op;
use assay_spirv_rules::requirements::DeviceCaps;
use assay_testkit::Shader;

/// Plants each of some errors (kind, opcode, index among the instructions with that opcode, part of
/// its source line). On each driver the check then fails, and the trace blames that instruction at
/// that line, and no other. Without an error the shader passes.
fn named(shader: &ShaderSource, options: &Options, errors: &[(&str, Op, usize, &str)]) {
    let check = Check::new(shader, options).unwrap();
    let module = &shader.source.module;
    on_each_driver(|target| {
        let sound = check.run(target).unwrap();
        assert_eq!(sound.status, Status::Pass, "{:?} {:?}", sound.reason, sound.mismatches.first());
        for (kind, op, number, part) in errors {
            let planted = plant(module, kind, *op, *number);
            let target = MutatingTarget::new(target, planted.clone());
            let mut result = check.run(&target).unwrap();
            assert_eq!(result.status, Status::Fail, "{kind}@{op}: {:?}", result.reason);
            check.explain(&mut result, &target, true);
            let blamed: Vec<_> = result.blamed.iter().map(|b| (b.instruction, b.name.as_str())).collect();
            assert_eq!(blamed.len(), 1, "{kind}@{op}: {:?}, {:?}", result.blamed, result.notes);
            assert_eq!(blamed[0].0, planted.instruction, "{kind}@{op}: {blamed:?}");
            let text = shader.text.as_deref().unwrap().lines();
            let lines: Vec<usize> = (1..).zip(text).filter(|(_, line)| line.contains(part)).map(|(n, _)| n).collect();
            let place = &result.blamed[0].place;
            assert!(lines.iter().any(|line| place.contains(&format!(":{line}:"))), "{kind}@{op}: {place}, {lines:?}");
        }
    });
}

/// A device that returns a buffer with a wrong first byte.
struct FirstByteChanged<'a>(&'a dyn Target, Slot);

impl Target for FirstByteChanged<'_> {
    fn info(&self) -> &DeviceInfo {
        self.0.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        self.0.capabilities()
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        let mut output = self.0.run(request)?;
        output.memory.get_mut(&self.1).unwrap()[0] ^= 0x55;
        Ok(output)
    }
}

/// Checks that the trace blames nothing if every instruction is right, and lists the unrecorded
/// instructions.
fn blameless(shader: &ShaderSource, options: &Options, changed: Slot, unseen: &[Op]) {
    let check = Check::new(shader, options).unwrap();
    on_each_driver(|target| {
        let target = FirstByteChanged(target, changed);
        let mut result = check.run(&target).unwrap();
        assert_eq!(result.status, Status::Fail);
        check.explain(&mut result, &target, false);
        assert!(result.blamed.is_empty(), "{:?}", result.blamed);
        let said = result.notes[0].split("does not record: ").nth(1).unwrap_or_default();
        let mut names: Vec<&str> = unseen.iter().map(|op| op.name()).collect();
        names.sort_unstable();
        assert_eq!(said, names.join(", "), "{:?}", result.notes);
    });
}

/// Returns a planted error in the instruction with this index among those with an opcode.
fn plant(module: &Module, kind: &str, op: Op, number: usize) -> PlantedError {
    let i = module.instructions().filter(|i| i.op == Some(op)).nth(number).unwrap();
    format!("{kind}@{}", i.index.0).parse::<Mutation>().unwrap().plant(module, "main").unwrap()
}

/// Returns structures, arrays and matrices, from early and late returns, in nested calls and a
/// loop.
const CALLS: &str = "
struct Pair { sum: vec2<u32>, turn: mat2x2<f32>, list: array<i32, 2> }
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> reals: array<vec2<f32>>;
fn half(x: u32) -> u32 {
    if (x > 100u) { return x >> 2u; }
    return x >> 1u;
}
fn both(x: u32) -> u32 { return half(x) + half(x + 50u); }
fn pair(x: u32, r: f32) -> Pair {
    var list = array<i32, 2>(i32(x), -7);
    list[x % 2u] = 11;
    return Pair(vec2<u32>(half(x), x), mat2x2<f32>(r, 1.0, 0.5, r), list);
}
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = id.x * 5u;
    var sum = both(x);
    for (var i = 0u; i < 2u; i++) {
        let p = pair(x + i, f32(id.x));
        sum += p.sum.x * 3u + p.sum.y + u32(p.list[i]);
        reals[id.x] = p.turn * vec2<f32>(1.0, f32(i));
    }
    data[id.x] = sum;
}";

#[test]
fn a_trace_names_a_call_with_a_wrong_return_value() {
    let errors = [
        ("off-by-one", Op::FunctionCall, 1, "half(x + 50u)"),
        // naga translates a remainder to a call; here it computes an index, which is then out of
        // bounds.
        ("off-by-one", Op::FunctionCall, 2, "list[x % 2u]"),
        ("off-by-one", Op::FunctionCall, 4, "= both(x)"),
        ("ulp:8388608", Op::FunctionCall, 5, "= pair("),
    ];
    named(&wgsl(CALLS), &Options { rounds: 1, ..Options::default() }, &errors);
}

/// Matrices of several sizes.
const MATRICES: &str = "
@group(0) @binding(0) var<storage, read> given: array<mat3x2<f32>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;
@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let m = given[id.x];
    let turned = transpose(m);
    let scaled = m * 3.0;
    let product = turned * scaled;
    let left = product * vec3<f32>(1.0, 2.0, f32(id.x));
    let right = vec2<f32>(1.0, -1.0) * m;
    let size = determinant(product);
    let made = mat2x2<f32>(left.xy, right.zx);
    let parts = modf(made[1].x);
    out[id.x] = vec4<f32>(left.x + right.y, made[0].y * 0.5, parts.whole, parts.fract) + vec4<f32>(select(0.0, 1.0, size > 1e9));
}";

#[test]
fn a_trace_names_instructions_on_matrices_and_structures() {
    let errors = [
        ("ulp:8388608", Op::Load, 1, "let m = given"),
        ("ulp:8388608", Op::Transpose, 0, "= transpose"),
        ("ulp:8388608", Op::MatrixTimesScalar, 0, "= m * 3.0"),
        ("ulp:8388608", Op::MatrixTimesMatrix, 0, "= turned * scaled"),
        ("ulp:8388608", Op::MatrixTimesVector, 0, "= product * "),
        ("ulp:8388608", Op::VectorTimesMatrix, 0, "* m;"),
        ("ulp:8388608", Op::ExtInst, 1, "= modf"),
    ];
    let inputs = vec![("0.0".parse().unwrap(), "1..9".parse().unwrap())];
    named(&wgsl(MATRICES), &Options { rounds: 1, inputs, ..Options::default() }, &errors);
}

/// Types of structures of words.
const STRUCTURES: &str = "%many = OpConstant %uint 0x70000001
%pair = OpTypeStruct %uint %uint
%list = OpTypeArray %pair %two
%zeros = OpConstantNull %list
%makes = OpTypeFunction %list %pair
%locals = OpTypePointer Function %list
%ofpair = OpTypePointer Function %pair";

/// A function that stores a part into a list.
const MAKE_LIST: &str = "%make = OpFunction %list None %makes
%from = OpFunctionParameter %pair
%begin = OpLabel
%kept = OpVariable %locals Function BEGINNING
%first = OpAccessChain %ofpair %kept %zero
OpStore %first %from
%made = OpLoad %list %kept
OpReturnValue %made
OpFunctionEnd";

/// Integer instructions whose results are structures, and compositions and extractions of parts.
const MAKE_STRUCTURES: &str = "%i = OpLoad %uint %id
%place = OpAccessChain %puint %data %zero %i
%x = OpLoad %uint %place
%carry = OpIAddCarry %pair %x %many
%borrow = OpISubBorrow %pair %x %many
%wide = OpUMulExtended %pair %x %many
%signed = OpSMulExtended %pair %x %many
%all = OpCompositeConstruct %list %carry %borrow
%more = OpCompositeInsert %list %wide %all 0
%called = OpFunctionCall %list %make %signed
%low = OpCompositeExtract %uint %more 0 0
%high = OpCompositeExtract %uint %more 0 1
%less = OpCompositeExtract %uint %more 1 0
%back = OpCompositeExtract %pair %called 0
%last = OpCompositeExtract %uint %back 0
%other = OpCompositeExtract %uint %carry 0
%sum = OpIAdd %uint %low %high
%three = OpIMul %uint %sum %less
%four = OpBitwiseXor %uint %three %last
%five = OpIAdd %uint %four %other
OpStore %place %five";

fn structures(beginning: &str) -> ShaderSource {
    spirv(&on_words(16, STRUCTURES, &MAKE_LIST.replace("BEGINNING", beginning), MAKE_STRUCTURES))
}

fn one_workgroup() -> Options {
    Options { rounds: 1, groups: Some([1; 3]), ..Options::default() }
}

#[test]
fn a_trace_names_instructions_with_structure_results() {
    let errors = [
        (Op::IAddCarry, "OpIAddCarry"),
        (Op::ISubBorrow, "OpISubBorrow"),
        (Op::UMulExtended, "OpUMulExtended"),
        (Op::SMulExtended, "OpSMulExtended"),
        (Op::CompositeInsert, "OpCompositeInsert"),
        (Op::FunctionCall, "OpFunctionCall"),
    ];
    let errors = errors.map(|(op, line)| ("off-by-one", op, 0, line));
    named(&structures("%zeros"), &one_workgroup(), &errors);
    // The error changes the first part of the composite.
    named(&structures("%zeros"), &one_workgroup(), &[("off-by-one", Op::CompositeExtract, 3, "%back = ")]);
}

/// Traces an error on a synthetic device.
fn explained(shader: &ShaderSource, options: &Options, kind: &str, op: Op, number: usize) -> CheckResult {
    let check = Check::new(shader, options).unwrap();
    let planted = plant(&shader.source.module, kind, op, number);
    let target = MutatingTarget::new(SyntheticTarget::default(), planted);
    let mut result = check.run(&target).unwrap();
    assert_eq!(result.status, Status::Fail);
    check.explain(&mut result, &target, false);
    result
}

/// A part of a returned value that was never stored may have different bits at each use.
#[test]
fn a_trace_does_not_blame_partly_undefined_values() {
    for (op, number) in [(Op::FunctionCall, 0), (Op::CompositeExtract, 3)] {
        let blamed = |beginning: &str| {
            let result = explained(&structures(beginning), &one_workgroup(), "off-by-one", op, number);
            (result.blamed.iter().map(|blame| blame.name.clone()).collect::<Vec<_>>(), result.notes.join(""))
        };
        assert_eq!(blamed("%zeros").0, [op.name()]);
        let (names, notes) = blamed("");
        assert!(names.is_empty() && notes.contains(op.name()), "{names:?} {notes}");
    }
}

/// Fetches, samples and gathers, and a texel that the shader writes.
const IMAGES: &str = "
@group(0) @binding(0) var image: texture_2d_array<f32>;
@group(0) @binding(1) var one: sampler;
@group(0) @binding(2) var other: sampler;
@group(0) @binding(3) var<storage, read_write> data: array<vec4<f32>>;
@group(0) @binding(4) var numbers: texture_2d<u32>;
@group(0) @binding(5) var texels: texture_storage_2d<r32uint, read_write>;
@compute @workgroup_size(4, 4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = (vec2<f32>(id.xy) + 0.3) / 9.0;
    let layer = id.x & 1u;
    let i = 4u * (id.y * 8u + id.x);
    data[i] = textureSampleLevel(image, one, at, layer, 0.0);
    data[i + 1u] = textureGather(1, image, other, at, layer, vec2(-1, 2));
    data[i + 2u] = vec4<f32>(textureGather(2, numbers, one, at) & vec4<u32>(255u));
    data[i + 3u] = textureLoad(image, id.xy, layer, 0) + vec4<f32>(vec4<u32>(textureDimensions(image), 0, 1));
    textureStore(texels, id.xy, textureLoad(texels, id.xy) + textureDimensions(texels).x);
}";

#[test]
fn a_trace_names_wrong_image_reads() {
    let errors = [
        ("ulp:8388608", Op::ImageSampleExplicitLod, 0, "= textureSampleLevel"),
        ("ulp:8388608", Op::ImageGather, 0, "textureGather(1"),
        ("off-by-one", Op::ImageGather, 1, "textureGather(2"),
        ("ulp:8388608", Op::ImageFetch, 0, "= textureLoad"),
        ("off-by-one", Op::ImageQuerySizeLod, 0, "textureDimensions"),
        ("off-by-one", Op::ImageQuerySize, 0, "textureDimensions(texels)"),
    ];
    let options = Options { rounds: 1, groups: Some([2, 2, 1]), elements: vec![(None, 256)], ..Options::default() };
    named(&wgsl(IMAGES), &options, &errors);
    // The contents of a written image are not known.
    let result = explained(&wgsl(IMAGES), &options, "off-by-one", Op::ImageRead, 0);
    assert!(
        result.blamed.is_empty() && result.notes[0].contains("OpImageRead"),
        "{:?} {:?}",
        result.blamed,
        result.notes
    );
}

/// Structures in workgroup memory.
const SHARED: &str = "
struct Body { at: vec2<u32>, mass: u32 }
var<workgroup> all: array<Body, 32>;
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>,
                                     @builtin(local_invocation_index) i: u32) {
    all[i] = Body(vec2<u32>(i, data[id.x]), i * 7u);
    workgroupBarrier();
    let other = all[(i + 5u) & 31u];
    workgroupBarrier();
    all[(i * 3u) & 31u].mass = other.mass;
    workgroupBarrier();
    data[id.x] = other.at.x + all[i].mass * 3u;
}";

#[test]
fn a_trace_follows_structures_through_workgroup_memory() {
    let errors = [
        ("off-by-one", Op::Load, 3, "let other"),
        ("missing-barrier", Op::ControlBarrier, 1, "workgroupBarrier"),
        ("missing-barrier", Op::ControlBarrier, 3, "workgroupBarrier"),
    ];
    named(&wgsl(SHARED), &Options { rounds: 1, ..Options::default() }, &errors);
}

/// An element beyond a local array is loaded and summed.
#[test]
fn a_trace_does_not_blame_sums_of_values_loaded_out_of_bounds() {
    let text = "
struct All { turn: mat3x3<f32>, squares: array<mat2x2<f32>, 3> }
@group(0) @binding(0) var<storage, read> given: array<All>;
@group(0) @binding(1) var<storage, read_write> out: array<All>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let all = given[id.x];
    var sums: All;
    sums.turn = transpose(all.turn) * 2.0;
    for (var i = 0; i < 3; i++) {
        sums.squares[i] = all.squares[2 - i] + all.squares[i];
        sums.squares[i][1] *= all.turn[0].yz;
    }
    out[id.x] = sums;
}";
    named(&wgsl(text), &Options { rounds: 1, ..Options::default() }, &[("off-by-one", Op::ISub, 0, "2 - i")]);
}

/// An index out of bounds in one array of workgroup memory reaches the next array.
const BEYOND: &str = "
@group(0) @binding(0) var<storage, read> given: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
var<workgroup> before: array<u32, 64>;
var<workgroup> words: array<u32, 64>;
var<workgroup> behind: array<u32, 64>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
    before[i] = 1000u + i;
    behind[i] = 2000u + i;
    workgroupBarrier();
    words[given[i] & 63u] = i;
    workgroupBarrier();
    out[i] = words[given[63u - i] & 63u] + before[63u - i] + behind[63u - i];
}";

/// The load that finds a changed value is not at fault.
#[test]
fn a_trace_does_not_blame_loads_of_memory_overwritten_out_of_bounds() {
    let inputs = vec![("given".parse().unwrap(), "index".parse().unwrap())];
    let options = Options { rounds: 1, groups: Some([1; 3]), inputs, ..Options::default() };
    let errors = [
        ("off-by-one", Op::BitwiseAnd, 0, "words[given[i] & 63u] = i"),
        ("off-by-one", Op::BitwiseAnd, 1, "words[given[63u - i] & 63u]"),
    ];
    named(&wgsl(BEYOND), &options, &errors);
}

/// Subgroup operations after branches and a loop, and in one direction of a branch.
const SUBGROUPS: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> seats: array<array<u32, 3>>;
@group(0) @binding(2) var<storage, read_write> others: array<u32>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>,
                                     @builtin(subgroup_id) subgroup: u32,
                                     @builtin(subgroup_invocation_id) place: u32,
                                     @builtin(subgroup_size) size: u32) {
    seats[id.x] = array<u32, 3>(subgroup, place, size);
    var x = data[id.x] & 255u;
    let all = subgroupAdd(x);
    for (var i = 0u; i < 3u; i++) { x += (x >> 1u) & 7u; }
    let most = subgroupMax(x ^ 5u);
    if ((x & 1u) == 0u) { others[id.x] = subgroupAdd(x); }
    let which = subgroupBallot(x > 90u).x;
    data[id.x] = all * 3u + most + which * 512u;
}";

#[test]
fn a_trace_names_wrong_subgroup_operations() {
    let options = Options { rounds: 1, subgroups: Some(Slot::new(0, 1).into()), ..Options::default() };
    let errors = [
        ("off-by-one", Op::GroupNonUniformIAdd, 0, "let all"),
        ("off-by-one", Op::GroupNonUniformUMax, 0, "let most"),
        ("off-by-one", Op::GroupNonUniformBallot, 0, "let which"),
    ];
    named(&wgsl(SUBGROUPS), &options, &errors);
    blameless(&wgsl(SUBGROUPS), &options, Slot::new(0, 0), &[Op::GroupNonUniformIAdd, Op::Load]);
}

#[test]
fn a_trace_does_not_blame_right_instructions() {
    let one_round = Options { rounds: 1, ..Options::default() };
    blameless(&wgsl(CALLS), &one_round, Slot::new(0, 0), &[]);
    blameless(&wgsl(MATRICES), &one_round, Slot::new(0, 1), &[]);
    blameless(&structures("%zeros"), &one_workgroup(), Slot::new(0, 0), &[Op::Load]);
    blameless(&wgsl(SHARED), &one_round, Slot::new(0, 0), &[Op::Load]);
    let options = Options { groups: Some([2, 2, 1]), elements: vec![(None, 256)], ..Options::default() };
    blameless(&wgsl(IMAGES), &options, Slot::new(0, 3), &[Op::ImageRead]);
}

/// A device with these capabilities that only accepts legal modules.
struct LegalOnlyTarget<'a>(&'a dyn Target, DeviceCaps);

impl Target for LegalOnlyTarget<'_> {
    fn info(&self) -> &DeviceInfo {
        self.0.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        &self.1
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        let bytes: Vec<u8> = request.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        ShaderSource::read("job", &bytes).unwrap().must_be_legal(false).unwrap();
        self.0.run(request)
    }
}

/// A traced product is not fused into a sum. The variant forbids that by a decoration, in the flags
/// of the instruction, or with a default, depending on the shader.
#[test]
fn a_traced_instruction_is_not_contracted_under_any_fast_math_mode() {
    let shader = |capability: &str, mode: &str, decoration: &str| {
        spirv(&Shader {
            head: &format!("{capability}\nOpExtension \"SPV_KHR_float_controls2\""),
            local_size: 4,
            inputs: &[("%id", "LocalInvocationIndex")],
            buffers: &[("%data", "%fblocks")],
            modes: mode,
            decorations: decoration,
            declared: "%mode = OpConstant %uint 0x70000\n%scale = OpConstant %float 2",
            body: "%i = OpLoad %uint %id
                %place = OpAccessChain %pfloat %data %zero %i
                %value = OpLoad %float %place
                %product = OpFMul %float %value %scale
                %sum = OpFAdd %float %product %value
                OpStore %place %sum",
            ..Shader::default()
        })
    };
    let controls = "OpCapability FloatControls2";
    let default = "OpExecutionModeId %main FPFastMathDefault %float %mode";
    let decorated = "OpDecorate %product FPFastMathMode AllowContract|AllowReassoc|AllowTransform";
    for shader in [
        shader("", "", ""),
        shader(controls, "", decorated),
        shader(controls, default, ""),
        shader(controls, default, decorated),
    ] {
        // Exact products and sums: the synthetic device picks any permitted value for each word
        // separately.
        let inputs = vec![("0.0".parse().unwrap(), "=3".parse().unwrap())];
        let options = Options { rounds: 1, groups: Some([1; 3]), inputs, ..Options::default() };
        let check = Check::new(&shader, &options).unwrap();
        let planted = plant(&shader.source.module, "ulp:64", Op::FMul, 0);
        let synthetic = SyntheticTarget::default();
        let mut caps = synthetic.capabilities().clone();
        caps.extensions.insert("VK_KHR_shader_float_controls2".into());
        caps.features.insert("shaderFloatControls2".into());
        caps.properties.insert("shaderSignedZeroInfNanPreserveFloat32".into(), 1);
        let legal = LegalOnlyTarget(&synthetic, caps);
        let target = MutatingTarget::new(&legal, planted.clone());
        let mut result = check.run(&target).unwrap();
        assert_eq!(result.status, Status::Fail, "{:?}", result.reason);
        check.explain(&mut result, &target, true);
        let blamed: Vec<u32> = result.blamed.iter().map(|b| b.instruction).collect();
        assert_eq!(blamed, [planted.instruction], "{:?}, {:?}", result.blamed, result.notes);
    }
}
