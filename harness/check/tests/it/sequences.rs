//! Sequences of dispatches: Amber scripts, and case files with several dispatches.

use crate::support::{SyntheticTarget, on_each_driver};
use assay_check::{CheckError, CompileOptions, Options, SequenceRequest, SequenceSession, SessionOutput};
use assay_events::{CheckResult, Status};
use assay_exec::{DispatchOutput, Target};
use assay_testkit::skip;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

/// A shader that multiplies a buffer of four words by a constant with the id 7, and a script that
/// runs it twice.
const TRIPLE: &str = "SHADER compute triple SPIRV-ASM TARGET_ENV spv1.3
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %id
OpExecutionMode %main LocalSize 4 1 1
OpDecorate %id BuiltIn LocalInvocationIndex
OpDecorate %factor SpecId 7
OpDecorate %words ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %data DescriptorSet 0
OpDecorate %data Binding 1
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
%zero = OpConstant %uint 0
%factor = OpSpecConstant %uint 3
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%blocks = OpTypePointer StorageBuffer %block
%elements = OpTypePointer StorageBuffer %uint
%inputs = OpTypePointer Input %uint
%id = OpVariable %inputs Input
%data = OpVariable %blocks StorageBuffer
%main = OpFunction %void None %fn
%entry = OpLabel
%i = OpLoad %uint %id
%p = OpAccessChain %elements %data %zero %i
%x = OpLoad %uint %p
%y = OpIMul %uint %x %factor
OpStore %p %y
OpReturn
OpFunctionEnd
END
";

/// The lines of a script after [`TRIPLE`].
const TWICE: &str = "BUFFER a DATA_TYPE uint32 SIZE 4 SERIES_FROM 1 INC_BY 1
BUFFER nine DATA_TYPE uint32 DATA
  9 18
  27 36
END
PIPELINE compute p
  ATTACH triple
  BIND BUFFER a AS storage DESCRIPTOR_SET 0 BINDING 1
END
RUN p 1 1 1
RUN p 1 1 1
";

/// Returns a script with lines after those of [`TRIPLE`] and [`TWICE`].
fn twice(rest: &str) -> String {
    format!("#!amber\n{TRIPLE}{TWICE}{rest}")
}

/// Reads a file with this name and text.
fn load(name: &str, text: &str) -> Result<SequenceSession, CheckError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    let session = SequenceSession::load(&path, &CompileOptions::default(), Options::default())?;
    let session = session.expect("the file is a sequence");
    session.must_be_valid().map(|()| session)
}

/// Reads a file whose shaders an installed program compiles; `None`, with a line on the terminal,
/// if none is installed.
fn load_compiled(name: &str, text: &str) -> Option<SequenceSession> {
    match load(name, text) {
        Err(error) if error.to_string().contains("none of its compilers is installed") => {
            assert!(std::env::var_os("ASSAY_TEST_ALL_DRIVERS").is_none(), "{error}");
            skip(&error.to_string());
            None
        }
        loaded => Some(loaded.unwrap()),
    }
}

fn run(session: &SequenceSession, target: &dyn Target) -> CheckResult {
    let output = SessionOutput { folder: None, command: &[] };
    let mut result = session.run(target, output, &|_| ()).unwrap();
    session.conclude(&mut result, output).unwrap();
    result
}

/// Runs a sequence on a target without faults.
fn passes(session: &SequenceSession) -> CheckResult {
    let result = run(session, &SyntheticTarget::default());
    assert_eq!(result.status, Status::Pass, "{:?} {:#?}", result.reason, result.mismatches);
    result
}

/// Returns the error of a file, without its folder.
fn refused(name: &str, text: &str) -> String {
    let error = load(name, text).expect_err(text).to_string();
    let at = error.find(name).unwrap_or_else(|| panic!("{error}"));
    error[at..].to_owned()
}

#[test]
fn a_dispatch_starts_from_the_contents_that_the_one_before_left() {
    let session = load("a.amber", &twice("EXPECT a EQ_BUFFER nine\nEXPECT a IDX 4 EQ 18 27\n")).unwrap();
    let result = passes(&session);
    assert_eq!((result.rounds, result.rounds_checked), (2, 2));
    assert_eq!(result.writes.unwrap().falsifiable, 8);
    assert_eq!(result.elements_checked, 8 + 4 + 2);
    assert!(
        result.notes.iter().any(|note| note.starts_with("2 of 2 expectations of the file are met")),
        "{:?}",
        result.notes
    );
}

#[test]
fn a_failing_dispatch_ends_the_sequence_and_is_named() {
    let runs = AtomicU32::new(0);
    let spoil = |output: &mut DispatchOutput| {
        let run = runs.fetch_add(1, Ordering::Relaxed) + 1;
        if run == 2 {
            output.memory.values_mut().for_each(|bytes| bytes[8] ^= 1);
        }
    };
    let session = load("a.amber", &twice("RUN p 1 1 1\nEXPECT a EQ_BUFFER nine\n")).unwrap();
    let result = run(&session, &SyntheticTarget::spoilt(spoil));
    assert_eq!((result.status, runs.load(Ordering::Relaxed)), (Status::Fail, 2));
    let reason = result.reason.unwrap();
    let line = twice("").lines().count();
    assert!(reason.ends_with(&format!("a.amber:{line}: RUN p 1 1 1: 1 of 4 elements is not permitted")), "{reason}");
    let mismatch = &result.mismatches[0];
    assert_eq!((mismatch.round, mismatch.offset, mismatch.got.as_str()), (1, 8, "0x0000001a"));
    assert!(mismatch.is_against_the_specification());
}

#[test]
fn an_expectation_that_is_not_met_does_not_accuse_the_device() {
    let session = load("a.amber", &twice("EXPECT a IDX 0 EQ 10\nRUN p 1 1 1\nEXPECT a IDX 0 EQ 27\n")).unwrap();
    let result = run(&session, &SyntheticTarget::default());
    assert_eq!((result.status, result.fails_only_the_case()), (Status::Fail, true));
    let reason = result.reason.unwrap();
    assert!(
        reason.contains(": EXPECT a IDX 0 EQ: 1 of 1 elements are not as expected; a[0] is 0x00000009"),
        "{reason}"
    );
    assert_eq!((result.rounds_checked, result.elements_failing), (3, 1), "the other steps are judged as well");
    assert_eq!(result.mismatches[0].permitted, [["0x0000000a", "0x0000000a"]]);
}

#[test]
fn commands_of_amber_script_do_what_they_say() {
    let rest = "BUFFER copied DATA_TYPE uint32 SIZE 4 FILL 0
DERIVE_PIPELINE five FROM p
  ATTACH triple ENTRY_POINT main SPECIALIZE 7 AS uint32 5
  SUBGROUP triple
    FULLY_POPULATED off
    VARYING_SIZE off
  END
END
DEVICE_FEATURE shaderInt64
SET ENGINE_DATA fence_timeout_ms 100
COPY a TO copied
RUN TIMED_EXECUTION five 1 1 1 # 45 90 135 180
EXPECT copied EQ_BUFFER nine
EXPECT a IDX 0 EQ 45 90 135 180
EXPECT a IDX 4 NE 91
EXPECT a IDX 4 LT 91
EXPECT a IDX 4 LE 90
EXPECT a IDX 4 GT 0x59
EXPECT a IDX 4 GE 90
EXPECT a IDX 0 TOLERANCE 1 EQ 44
EXPECT a IDX 0 TOLERANCE 10% EQ 49
REPEAT 2
  RUN p 1 1 1
END
EXPECT a IDX 0 EQ 405
BUFFER both DATA_TYPE int32 SIZE 8 SERIES_FROM -4 INC_BY 1
PIPELINE compute part
  ATTACH triple
  BIND BUFFER both AS storage_dynamic DESCRIPTOR_SET 0 BINDING 1 OFFSET 8 DESCRIPTOR_OFFSET 8
END
RUN part 1 1 1
EXPECT both IDX 0 EQ -4 -3 -2 -1 0 3 6 9
";
    let result = passes(&load("a.amber", &twice(rest)).unwrap());
    assert!(result.notes.iter().any(|note| note.starts_with("11 of 11 expectations")), "{:?}", result.notes);
}

#[test]
fn errors_name_the_line_and_the_reason() {
    let line = twice("").lines().count() + 1;
    for (rest, reason) in [
        ("EXPECT b IDX 0 EQ 1\n", "unknown buffer `b`"),
        ("RUN q 1 1 1\n", "unknown pipeline `q`"),
        ("RUN p 1 1\n", "the number of workgroups is missing at the end of the line"),
        ("RUN p 0 1 1\n", "the number of workgroups is 0"),
        ("RUN p DRAW_RECT\n", "`DRAW_RECT` is not a whole number"),
        ("EXPECT a IDX 0 EQ 1.5\n", "`1.5` is not a value of type u32"),
        ("EXPECT a IDX 16 EQ 1\n", "the values go beyond the 16 bytes of `a`"),
        ("EXPECT a RMSE_BUFFER nine TOLERANCE 1\n", "`RMSE_BUFFER` is not supported"),
        ("EXPECT a EQ_HISTOGRAM_EMD_BUFFER nine TOLERANCE 1\n", "is not supported"),
        ("BUFFER a DATA_TYPE uint32 SIZE 4 FILL 0\n", "`a` is declared twice"),
        ("BUFFER b DATA_TYPE word SIZE 4 FILL 0\n", "unknown data type `word`"),
        ("BUFFER b DATA_TYPE uint32 SIZE 1000000000000 FILL 0\n", "the size is 0, or more than"),
        ("BUFFER b DATA_TYPE uint32 SIZE 2 DATA 1 2 3 END\n", "the contents have 12 bytes, and the size is 8"),
        ("REPEAT 1000000\nRUN p 1 1 1\nEND\n", "the repetitions make more than 4096 steps"),
        ("REPEAT 2\nRUN p 1 1 1\n", "END of REPEAT is missing"),
        ("PIPELINE graphics g\nEND\n", "it is not a compute script: it has a graphics pipeline"),
        ("CLEAR p\n", "it is not a compute script"),
        ("IMAGE i FORMAT R8G8B8A8_UNORM DIM_2D WIDTH 4 HEIGHT 4 SAMPLES 0\n", "or the number of samples, is 0"),
        (
            "IMAGE i FORMAT R32_SFLOAT DIM_2D WIDTH 4 HEIGHT 4 SAMPLES 4\nEXPECT i IDX 0 0 SIZE 1 1 EQ_RGB 0 0 0\n",
            "a rectangle of a multisampled image",
        ),
        ("SHADER compute s OPENCL-C\nEND\n", "`OPENCL-C` is not supported"),
        ("DRAW\n", "unknown command `DRAW`"),
        ("SHADER compute s SPIRV-HEX\n0x07230203\n", "END is missing"),
    ] {
        let error = refused("a.amber", &twice(rest));
        let at = error.strip_prefix("a.amber:").and_then(|error| error.split_once(": ")).unwrap();
        let last = line + rest.lines().count();
        assert!((line..=last).contains(&at.0.parse().unwrap()) && at.1.contains(reason), "{error}: {rest}");
    }
    assert!(refused("a.amber", "#!amber\n").contains("a.amber:1: it is not a compute script"));
    let unbound = twice("").replace("  BIND BUFFER a AS storage DESCRIPTOR_SET 0 BINDING 1\n", "");
    assert!(refused("a.amber", &unbound).contains("the shader uses set 0 binding 1, to which nothing is bound"));
}

#[test]
fn nested_structures_are_limited() {
    let mut text = "#!amber\nSTRUCT s0\n  vec4<float> a\nEND\n".to_owned();
    for n in 1..64 {
        text += &format!("STRUCT s{n}\n  s{} a\n  s{} b\nEND\n", n - 1, n - 1);
    }
    let error = refused("a.amber", &(text + "BUFFER b DATA_TYPE s63 SIZE 1 FILL 0\n"));
    assert!(error.contains("the type has more than"), "{error}");
}

#[test]
fn a_planted_error_is_found_in_its_dispatch() {
    let mut session = load("a.amber", &twice("EXPECT a EQ_BUFFER nine\n")).unwrap();
    session.mutation = Some("off-by-one@OpIMul".parse().unwrap());
    session.diagnosis.trace = true;
    on_each_driver(|target| {
        let result = run(&session, target);
        assert_eq!(result.status, Status::Fail, "{:?}", result.reason);
        assert!(result.reason.unwrap().contains("RUN p 1 1 1: 4 of 4 elements are not permitted"));
        assert_eq!((result.rounds_checked, result.blamed[0].name.as_str()), (1, "OpIMul"));
        assert!(result.notes.iter().any(|note| note.contains("this is not a fault of the device")));
    });
    session.mutation = Some("off-by-one@OpISub".parse().unwrap());
    assert!(session.must_be_valid().is_err(), "it applies to no dispatch");
}

#[test]
fn a_sequence_passes_on_drivers() {
    let session = load("a.amber", &twice("EXPECT a EQ_BUFFER nine\n")).unwrap();
    on_each_driver(|target| assert_eq!(run(&session, target).status, Status::Pass));
}

#[test]
fn a_request_has_all_of_a_session() {
    let session = load("a.amber", &twice("EXPECT a EQ_BUFFER nine\nEXPECT a IDX 0 EQ 8\n")).unwrap();
    let text = serde_json::to_string(&session.request()).unwrap();
    let request: SequenceRequest = serde_json::from_str(&text).unwrap();
    let target = SyntheticTarget::default();
    let [here, there] = [&session, &SequenceSession::from_request(request).unwrap()].map(|session| {
        let result = run(session, &target);
        (result.status, result.reason, result.mismatches, result.notes)
    });
    assert_eq!(here, there);
}

#[test]
fn aliased_bindings_are_refused_if_one_is_written() {
    let second = TRIPLE
        .replace(
            "DescriptorSet 0\n",
            "DescriptorSet 0\nOpDecorate %other DescriptorSet 0\nOpDecorate %other Binding 2\n",
        )
        .replace("%main = OpFunction", "%other = OpVariable %blocks StorageBuffer\n%main = OpFunction")
        .replace("%x = OpLoad %uint %p", "%q = OpAccessChain %elements %other %zero %i\n%x = OpLoad %uint %q");
    let bind = "  BIND BUFFER a AS storage DESCRIPTOR_SET 0 BINDING 2\nEND\nRUN";
    let text = format!("#!amber\n{second}{}", TWICE.replace("END\nRUN", bind));
    let error = refused("a.amber", &text);
    assert!(error.contains("`a` is bound to set 0 binding 1 and to set 0 binding 2"), "{error}");
}

const GLSL: &str = "#!amber
SHADER compute fill GLSL
layout(local_size_x = 4, local_size_y = 4) in;
layout(push_constant) uniform Push { vec4 color; float scale; };
layout(set = 0, binding = 0, rgba8) uniform writeonly image2D picture;
layout(set = 0, binding = 1) uniform Block { mat2x3 m; };
layout(set = 1, binding = 0) buffer Out { float sum[]; };
void main() {
    imageStore(picture, ivec2(gl_LocalInvocationID.xy), color * scale);
    if (gl_LocalInvocationIndex == 0) sum[0] = m[0][0] + m[1][2];
}
END
STRUCT constants
  vec4<float> color
  float scale
END
BUFFER push DATA_TYPE constants DATA 0.5 0 1 1 1 END
IMAGE picture FORMAT R8G8B8A8_UNORM DIM_2D WIDTH 4 HEIGHT 4 FILL 0
BUFFER block DATA_TYPE mat2x3<float> STD140 DATA 1 2 3 4 5 6 END
BUFFER result DATA_TYPE float SIZE 1 FILL 0
PIPELINE compute p
  ATTACH fill
  BIND BUFFER push AS push_constant
  BIND BUFFER picture AS storage_image DESCRIPTOR_SET 0 BINDING 0
  BIND BUFFER block AS uniform DESCRIPTOR_SET 0 BINDING 1
  BIND BUFFER result AS storage DESCRIPTOR_SET 1 BINDING 0
END
RUN p 1 1 1
EXPECT picture IDX 0 0 SIZE 4 4 EQ_RGBA 128 0 255 255 TOLERANCE 0.01
EXPECT result IDX 0 EQ 7
";

#[test]
fn images_push_constants_and_uniform_buffers_are_bound() {
    let Some(session) = load_compiled("a.amber", GLSL) else { return };
    passes(&session);
    let wrong = GLSL.replace("EQ_RGBA 128", "EQ_RGBA 0");
    let Some(session) = load_compiled("a.amber", &wrong) else { return };
    let result = run(&session, &SyntheticTarget::default());
    assert_eq!((result.status, result.elements_failing), (Status::Fail, 16));
    assert!(result.reason.unwrap().contains("picture(0, 0).r is 0x"));
}

const VKSCRIPT: &str = "# a comment
[require]
robustBufferAccess

[compute shader]
layout(set = 0, binding = 0) buffer Data { uint data[]; };
layout(set = 1, binding = 2) uniform Block { vec4 scale; };
layout(set = 1, binding = 3) buffer Result { float result; };
layout(push_constant) uniform Push { uint more; };
void main() {
    data[gl_WorkGroupID.x] = data[gl_WorkGroupID.x] + more;
    if (gl_WorkGroupID.x == 0) result = scale.y;
}

[test]
ssbo 0 subdata uint 0 1 2 3
ssbo 1:3 4
uniform ubo 1:2 vec4 0 0.5 2.5 0 0
uniform uint 0 10
compute 3 1 1
probe ssbo uint 0 0 == 11 12 13
uniform uint 0 \\
  100
compute 3 1 1
probe ssbo uint 0:0 4 >= 112 113
tolerance 1%
probe ssbo float 1:3 0 ~= 2.51
";

#[test]
fn commands_of_vkscript_do_what_they_say() {
    let Some(session) = load_compiled("a.vkscript", VKSCRIPT) else { return };
    let result = passes(&session);
    assert_eq!(result.rounds_checked, 2);
    assert!(result.notes.iter().any(|note| note.starts_with("3 of 3 expectations")), "{:?}", result.notes);
    for (line, with, reason) in [
        ("ssbo 1:3 4", "draw rect 0 0 1 1", "`draw` is not a command of a compute script"),
        ("probe ssbo uint 0 0 == 11 12 13", "probe all rgb 0 0 0", "it probes a framebuffer"),
        ("probe ssbo uint 0 0 == 11 12 13", "probe ssbo uint 0 0 == 1 2 3 4", "beyond the 12 bytes"),
        ("tolerance 1%", "tolerance x", "tolerance `x`"),
        ("uniform uint 0 10", "uniform word 0 10", "unknown type `word`"),
        ("[require]", "[fragment shader]", "it has the section [fragment shader]"),
    ] {
        let at = VKSCRIPT.lines().position(|of| of == line).unwrap() + 1;
        let error = refused("a.vkscript", &VKSCRIPT.replacen(line, with, 1));
        assert!(error.starts_with(&format!("a.vkscript:{at}: ")) && error.contains(reason), "{error}");
    }
    assert!(refused("a.amber", "SHADER compute a GLSL\n").contains("a.amber:1: expected a section"));
}

const CASE: &str = "why = \"sums twice\"
[memory.numbers]
type = \"u32\"
data = [1, 2, 3, 4]
[memory.wanted]
type = \"u32\"
data = [21, 22, 23, 24]
[memory.unused]
type = \"f32\"
elements = 3
fill = 0.5

[[dispatch]]
shader = \"add.wgsl\"
workgroups = [1]
bind = { numbers = \"numbers\" }

[[dispatch]]
shader = \"add.wgsl\"
workgroups = [1]
bind = { \"0.0\" = \"numbers\" }

[[expect]]
memory = \"numbers\"
equals = \"wanted\"
[[expect]]
memory = \"numbers\"
range = [1, 3]
value = \"22..23\"
[[expect]]
memory = \"numbers\"
element = 0
value = 20
tolerance = \"5%\"
";

const ADD: &str = "@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) { numbers[i] += 10u; }";

/// Reads a case file beside the shader `add.wgsl`.
fn load_case(text: &str) -> Result<SequenceSession, CheckError> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("add.wgsl"), ADD).unwrap();
    let path = folder.path().join("case.toml");
    fs::write(&path, text).unwrap();
    let session = SequenceSession::load(&path, &CompileOptions::default(), Options::default())?;
    let session = session.expect("the file is a sequence");
    session.must_be_valid().map(|()| session)
}

#[test]
fn a_case_file_can_have_several_dispatches() {
    let session = load_case(CASE).unwrap();
    assert_eq!(session.sequence.why.as_deref(), Some("sums twice"));
    let result = passes(&session);
    assert!(result.notes.iter().any(|note| note.starts_with("3 of 3 expectations")), "{:?}", result.notes);
    let unmet = load_case(&CASE.replace("21, 22", "21, 23")).unwrap();
    let result = run(&unmet, &SyntheticTarget::default());
    assert!(result.fails_only_the_case());
    assert!(result.reason.unwrap().contains("numbers equals wanted: 1 of 4 elements are not as expected; numbers[1]"));
}

#[test]
fn errors_of_a_case_file_name_the_line() {
    for (text, with, line, reason) in [
        ("data = [1, 2, 3, 4]", "data = [1, 2, 3, 'x']", 2, "`x` is not a value of type u32"),
        ("elements = 3", "elements = 0", 8, "the size is 0"),
        ("\"0.0\" = \"numbers\"", "\"0.0\" = \"other\"", 18, "no [memory.other]"),
        ("\"0.0\" = \"numbers\"", "\"0.1\" = \"numbers\"", 18, "to which nothing is bound"),
        ("equals = \"wanted\"", "equals = \"unused\"", 23, "differ in size or type"),
        ("range = [1, 3]", "range = [1, 5]", 26, "elements 1 to 5 of `numbers`, which has 4"),
        ("tolerance = \"5%\"", "tolerance = \"x\"", 30, "tolerance `x`"),
        ("shader = \"add.wgsl\"", "shader = \"none.wgsl\"", 14, "none.wgsl"),
        ("workgroups = [1]", "workgroups = [0]", 13, "each at least 1"),
        ("why = ", "what = ", 1, "unknown field `what`"),
    ] {
        let error = load_case(&CASE.replacen(text, with, 1)).expect_err(with).to_string();
        assert!(error.contains(&format!("case.toml:{line}: ")) && error.contains(reason), "{error}");
    }
}
