//! Shaders in GLSL, HLSL and Slang, compiled by programs that are installed on the machine.

use crate::support::{SyntheticTarget, concluded};
use assay_check::{
    Check, CheckError, CheckSession, CompileOptions, MutatingTarget, Mutation, Options, ShaderSource,
    entry_names_of_file,
};
use assay_events::Status;
use std::fs;
use std::path::PathBuf;

const GLSL: &str = "#version 450
#extension GL_GOOGLE_include_directive : enable
#include \"twice.glsl\"
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Data { float data[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    data[i] = twice(data[i]) + float(SUMMAND);
}
";

const INCLUDED: &str = "float twice(float x) {
    return x * 2.0;
}
";

const HLSL: &str = "RWStructuredBuffer<float> data : register(u0);
[numthreads(64, 1, 1)]
void scale(uint3 id : SV_DispatchThreadID) {
    data[id.x] = data[id.x] * 3.0;
}
";

/// Writes files to a folder; returns the path of the first.
fn written(folder: &tempfile::TempDir, files: &[(&str, &str)]) -> PathBuf {
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder.path().join(files[0].0)
}

/// Compiles a file; `None`, with a line on the terminal, if no compiler of its language is
/// installed.
fn compiled(path: &std::path::Path, options: &CompileOptions) -> Option<Result<ShaderSource, String>> {
    match ShaderSource::load(path, options) {
        Err(error @ CheckError::Shader { .. }) if error.to_string().contains("none of its compilers is installed") => {
            let skip =
                if path.extension().unwrap() == "slang" { assay_testkit::skip } else { assay_testkit::skip_missing };
            skip(&error.to_string());
            None
        }
        other => Some(other.map_err(|error| error.to_string())),
    }
}

fn with_summand(folder: &tempfile::TempDir) -> CompileOptions {
    let includes = vec![folder.path().join("include")];
    CompileOptions { defines: vec!["SUMMAND=3".to_owned()], includes, ..CompileOptions::default() }
}

#[test]
fn a_planted_error_in_glsl_is_found_at_its_line_of_the_included_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, &[("a.comp", GLSL), ("include/twice.glsl", INCLUDED)]);
    let Some(shader) = compiled(&path, &with_summand(&folder)) else { return };
    let shader = shader.unwrap();
    let run = shader.compiler.as_ref().expect("a compiler");
    assert!(run.command.contains("-DSUMMAND=3") && run.compiler.contains('('), "{run}");
    let check = Check::new(&shader, &Options::default()).unwrap();
    let device = SyntheticTarget::default();
    let passed = check.run(&device).unwrap();
    assert_eq!(passed.status, Status::Pass, "{:?}", passed.reason);
    assert_eq!(passed.compiler, Some(run.to_string()));
    let mutation: Mutation = "ulp:8@OpFMul".parse().unwrap();
    let planted = mutation.plant(&shader.source.module, "main").unwrap();
    let device = MutatingTarget::new(&device, planted);
    let mut failed = check.run(&device).unwrap();
    assert_eq!(failed.status, Status::Fail);
    check.explain(&mut failed, &device, false);
    let blamed = &failed.blamed.first().expect("an instruction").place;
    assert!(blamed.contains("twice.glsl:2") && blamed.ends_with("`return x * 2.0`"), "{blamed}");
}

#[test]
fn a_mistake_in_glsl_is_reported_with_the_compilers_message() {
    let folder = tempfile::tempdir().unwrap();
    let text = GLSL.replace("= twice(", "= thrice(");
    let path = written(&folder, &[("a.glsl", &text), ("include/twice.glsl", INCLUDED)]);
    let Some(refused) = compiled(&path, &with_summand(&folder)) else { return };
    let refused = refused.unwrap_err();
    assert!(
        refused.contains("a.glsl:8") && refused.contains("'thrice' : no matching overloaded function"),
        "{refused}"
    );
}

#[test]
fn macros_without_a_definition_get_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, &[("a.glsl", GLSL), ("include/twice.glsl", INCLUDED)]);
    let options = CompileOptions { defines: Vec::new(), ..with_summand(&folder) };
    let Some(shader) = compiled(&path, &options) else { return };
    let shader = shader.unwrap();
    assert!(shader.compiler.as_ref().unwrap().command.contains("-DSUMMAND=4"));
    let check = Check::new(&shader, &Options::default()).unwrap();
    let passed = check.run(&SyntheticTarget::default()).unwrap();
    assert_eq!(passed.status, Status::Pass);
    let note = "values that the text leaves open were chosen: --define SUMMAND=4";
    assert!(passed.notes.iter().any(|known| known == note), "{:?}", passed.notes);
}

/// Without a macro, such a file compiles to a shader that writes nothing.
#[test]
fn macros_that_stores_to_images_depend_on_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#version 450\nlayout(local_size_x = 8) in;\n\
                layout(set = 0, binding = 0, r32f) uniform image1D to;\nvoid main() {\n#ifdef FAST\n\
                imageStore(to, int(gl_GlobalInvocationID.x), vec4(2.0));\n#endif\n}\n";
    let path = written(&folder, &[("a.comp", text)]);
    let status = |defines: &[&str]| {
        let defines = defines.iter().map(|name| (*name).to_owned()).collect();
        let options = CompileOptions { defines, ..CompileOptions::default() };
        let shader = compiled(&path, &options)?.unwrap();
        let check = Check::new(&shader, &Options::default()).unwrap();
        let result = check.run(&SyntheticTarget::default()).unwrap();
        Some((result.status, result.reason.unwrap_or_default()))
    };
    let Some((without, reason)) = status(&[]) else { return };
    assert_eq!(without, Status::Undetermined, "{reason}");
    assert!(reason.ends_with("its stores to images depend on macros: try --define FAST=1"), "{reason}");
    assert_eq!(status(&["FAST"]), Some((Status::Pass, String::new())));
}

/// OpenGL's extension for included files is none of Vulkan's, and files may precede the version.
#[test]
fn glsl_of_opengl_that_includes_files_is_compiled() {
    let main = "layout(local_size_x = 64) in;\nlayout(std430, binding = 0) buffer Data { float data[]; };\n\
                void main() { data[gl_GlobalInvocationID.x] = twice(data[gl_GlobalInvocationID.x]) + 1f; }\n";
    for head in [
        "#version 450\n#extension GL_ARB_shading_language_include : require\n#include \"twice.glsl\"\n",
        "#include \"twice.glsl\"\n#version 450\n",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = written(&folder, &[("a.comp", &format!("{head}{main}")), ("twice.glsl", INCLUDED)]);
        let Some(shader) = compiled(&path, &CompileOptions::default()) else { return };
        let shader = shader.unwrap_or_else(|error| panic!("{head}: {error}"));
        assert!(
            shader.notes.iter().any(|note| note.contains("a decimal point in float literals")),
            "{:?}",
            shader.notes
        );
    }
}

/// An application joins files before it compiles them.
#[test]
fn glsl_with_types_of_another_file_is_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let text = "layout(local_size_x = 64) in;\nlayout(std430, binding = 0) buffer Data { Cell cells[]; };\n\
                void main() { cells[gl_GlobalInvocationID.x].mass = wrong; }\n";
    let types = "struct Cell {\n    float mass;\n    Point at;\n};\n";
    let points = "struct Point {\n    float x;\n};\n";
    let path = written(&folder, &[("a.comp", text), ("types.glsl", types), ("b/points.glsl", points)]);
    let Some(rejected) = compiled(&path, &CompileOptions::default()) else { return };
    // The name that no file declares stays, with the line of the text.
    let message = rejected.err().unwrap();
    assert!(message.contains("a.comp:2") || message.contains("a.comp:3"), "{message}");
    fs::write(&path, text.replace("wrong", "2.0")).unwrap();
    let shader = compiled(&path, &CompileOptions::default()).unwrap().unwrap();
    let note = "files that declare names which the text lacks were included: types.glsl (`Cell`), \
                b/points.glsl (`Point`)";
    assert!(shader.notes.iter().any(|known| known == note), "{:?}", shader.notes);
}

/// The engine splits a file into stages and puts definitions in place of a line.
#[test]
fn glsl_of_the_godot_engine_is_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#[vertex]\nnonsense\n#[compute]\n#version 450\n#VERSION_DEFINES\n\
                layout(local_size_x = 64) in;\n\
                layout(set = 0, binding = 0) buffer Data { float data[]; };\n\
                void main() { data[gl_GlobalInvocationID.x] *= 1.5; }\n";
    let path = written(&folder, &[("a.glsl", text)]);
    let Some(shader) = compiled(&path, &CompileOptions::default()) else { return };
    let shader = shader.unwrap();
    let check = Check::new(&shader, &Options::default()).unwrap();
    assert_eq!(check.run(&SyntheticTarget::default()).unwrap().status, Status::Pass);
}

#[test]
fn the_entry_point_of_hlsl_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, &[("a.hlsl", HLSL)]);
    let Some(shader) = compiled(&path, &CompileOptions::default()) else { return };
    let shader = shader.unwrap();
    let check = Check::new(&shader, &Options::default()).unwrap();
    assert_eq!(check.setup.entry, "scale");
    assert_eq!(check.run(&SyntheticTarget::default()).unwrap().status, Status::Pass);
}

/// glslang makes an empty entry point of an unknown name.
#[test]
fn an_unknown_entry_point_of_hlsl_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, &[("a.hlsl", HLSL)]);
    let options = CompileOptions { entry: Some("scales".to_owned()), ..CompileOptions::default() };
    let error = ShaderSource::load(&path, &options).unwrap_err().to_string();
    assert!(error.ends_with("no function `scales` for the entry point; it has scale"), "{error}");
}

#[test]
fn the_entry_point_of_an_included_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, &[("a.hlsl", "#include \"body.hlsli\"\n"), ("body.hlsli", HLSL)]);
    let Some(shader) = compiled(&path, &CompileOptions::default()) else { return };
    assert_eq!(Check::new(&shader.unwrap(), &Options::default()).unwrap().setup.entry, "scale");
    assert_eq!(entry_names_of_file(&path, "#include \"body.hlsli\"\n"), ["scale"]);
}

#[test]
fn registers_of_different_classes_get_bindings_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let hlsl = "cbuffer Factors : register(b0) { float factor; };
        StructuredBuffer<float> source : register(t0);
        RWStructuredBuffer<float> result : register(u0);
        [numthreads(64, 1, 1)] void scale(uint3 id : SV_DispatchThreadID) { result[id.x] = source[id.x] * factor; }";
    let path = written(&folder, &[("a.hlsl", hlsl)]);
    let Some(shader) = compiled(&path, &CompileOptions::default()) else { return };
    let shader = shader.unwrap();
    let check = Check::new(&shader, &Options::default()).unwrap();
    let bindings: Vec<u32> = check.setup.descriptors.iter().map(|descriptor| descriptor.slot.binding).collect();
    assert_eq!(bindings, [0, 100, 300]);
    assert_eq!(check.run(&SyntheticTarget::default()).unwrap().status, Status::Pass);
}

#[test]
fn glsl_of_opengl_with_files_of_its_repository_is_compiled() {
    let folder = tempfile::tempdir().unwrap();
    // No version, no extension for includes, no bindings, a uniform outside of blocks, and a
    // character that is not ASCII.
    let glsl = "// Copyright \u{a9}
        #include \"common/twice.glsl\"
        layout(local_size_x = 64) in;
        layout(std430) buffer Data { float data[]; };
        uniform float summand;
        void main() { data[gl_GlobalInvocationID.x] = twice(data[gl_GlobalInvocationID.x]) + summand; }";
    let path = written(&folder, &[("shaders/a.comp", glsl), ("lib/common/twice.glsl", INCLUDED), (".git/HEAD", "")]);
    let Some(shader) = compiled(&path, &CompileOptions::default()) else { return };
    let shader = shader.unwrap();
    let run = shader.compiler.as_ref().expect("a compiler");
    let included = format!("-I{}", folder.path().join("lib").display());
    assert!(run.command.contains(&included) && run.command.ends_with("a.comp"), "{run}");
    let check = Check::new(&shader, &Options::default()).unwrap();
    assert_eq!(check.run(&SyntheticTarget::default()).unwrap().status, Status::Pass);
    let add = shader.source.module.instructions().find(|i| i.name() == "OpFAdd").unwrap();
    let place = shader.source.position_of(add.at);
    assert_eq!((place.file, place.line), (Some(path.display().to_string()), Some(6)));
}

#[test]
fn glsl_with_a_byte_order_mark_and_names_in_angle_brackets_is_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let glsl = "\u{feff}#version 450
        #include <common/twice.glsl>
        layout(local_size_x = 64) in;
        layout(std430, binding = 0) buffer Data { float data[]; };
        void main() { data[gl_GlobalInvocationID.x] = twice(data[gl_GlobalInvocationID.x]); }";
    let path = written(&folder, &[("shaders/a.comp", glsl), ("lib/common/twice.glsl", INCLUDED), (".git/HEAD", "")]);
    let Some(shader) = compiled(&path, &CompileOptions::default()) else { return };
    let shader = shader.unwrap();
    let multiply = shader.source.module.instructions().find(|i| i.name() == "OpFMul").unwrap();
    assert_eq!(shader.source.position_of(multiply.at).line, Some(2));
    let check = Check::new(&shader, &Options::default()).unwrap();
    assert_eq!(check.run(&SyntheticTarget::default()).unwrap().status, Status::Pass);
}

#[test]
fn binding_points_of_different_classes_get_bindings_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let glsl = "#version 450
        layout(local_size_x = 64) in;
        layout(r32f, binding = 0) uniform readonly image2D source;
        layout(std140, binding = 0) uniform Factors { float factor; };
        layout(std430, binding = 0) buffer Data { float data[]; };
        void main() { data[gl_GlobalInvocationID.x] = imageLoad(source, ivec2(0)).x * factor; }";
    let path = written(&folder, &[("a.comp", glsl)]);
    let Some(shader) = compiled(&path, &CompileOptions::default()) else { return };
    let shader = shader.unwrap();
    let check = Check::new(&shader, &Options::default()).unwrap();
    let bindings: Vec<u32> = check.setup.descriptors.iter().map(|descriptor| descriptor.slot.binding).collect();
    assert_eq!(bindings, [0, 300, 400]);
    assert_eq!(check.run(&SyntheticTarget::default()).unwrap().status, Status::Pass);
}

#[test]
fn macros_around_a_workgroup_size_choose_the_shader() {
    let folder = tempfile::tempdir().unwrap();
    let shader_of = |name: &str, body: &str| {
        format!("#if defined({name})\nlayout(local_size_x = 64) in;\nvoid main() {{ {body} }}\n#endif\n")
    };
    let head = "#version 450\nlayout(std430, binding = 0) buffer Data { uint data[]; };\n";
    let one = format!("{head}{}", shader_of("FILL", "data[gl_GlobalInvocationID.x] = 7u;"));
    let two = format!("{one}{}", shader_of("CLEAR", "data[gl_GlobalInvocationID.x] = 0u;"));
    let path = written(&folder, &[("one.glsl", &one), ("two.glsl", &two)]);
    let Some(only) = compiled(&path, &CompileOptions::default()) else { return };
    assert!(only.unwrap().compiler.unwrap().command.contains("-DFILL"));
    let path = folder.path().join("two.glsl");
    let several = compiled(&path, &CompileOptions::default()).unwrap().unwrap_err();
    let options = "it has several compute shaders; choose one with --define FILL, or --define CLEAR";
    assert!(several.ends_with(options), "{several}");
    let given = CompileOptions { defines: vec!["CLEAR".to_owned()], ..CompileOptions::default() };
    assert!(compiled(&path, &given).unwrap().is_ok());
}

/// A workgroup without any element divides by their number.
#[test]
fn a_division_by_a_number_that_no_input_is_sure_to_change_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Data { uint values[]; };
layout(std430, binding = 1) buffer Averages { uint averages[]; };
layout(std140, binding = 2) uniform Params { uint limit; };
shared uint count;
shared uint total;
void main() {
    if (gl_LocalInvocationIndex == 0) { count = 0; total = 0; }
    barrier();
    if (limit > 100 && gl_LocalInvocationIndex < limit) {
        atomicAdd(count, 1);
        atomicAdd(total, values[gl_GlobalInvocationID.x] & 0xffff);
    }
    barrier();
    uint average = total / count;
    averages[gl_GlobalInvocationID.x] = average + gl_GlobalInvocationID.x;
}
";
    let path = written(&folder, &[("average.comp", text)]);
    let Some(shader) = compiled(&path, &CompileOptions::default()) else { return };
    let mut session = CheckSession::new(shader.unwrap(), Options::default());
    session.search(&SyntheticTarget::default(), &|| ()).unwrap();
    let result = concluded(&session, &SyntheticTarget::default());
    let reason = result.reason.clone().unwrap_or_default();
    assert_eq!(result.status, Status::QualityWarning, "{result:?}");
    assert!(reason.starts_with("integer division at "), "{reason}");
    assert!(reason.contains(":16: `uint average = total / count`, which is undefined behaviour"), "{reason}");
}

#[test]
fn overrides_without_a_default_get_values() {
    let wgsl = "override size: u32; override scale: f32; @id(7) override on: bool;
        @group(0) @binding(0) var<storage, read_write> data: array<f32>;
        @compute @workgroup_size(size) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            data[id.x] = select(0.0, f32(size) * scale, on);
        }";
    let options = CompileOptions { specs: vec![("scale".to_owned(), "3".to_owned())], ..CompileOptions::default() };
    let shader = ShaderSource::read_with("a.wgsl", wgsl.as_bytes(), &options).unwrap();
    let check = Check::new(&shader, &Options::default()).unwrap();
    let passed = check.run(&SyntheticTarget::default()).unwrap();
    assert_eq!(passed.status, Status::Pass);
    let note = "values that the text leaves open were chosen: --spec size=4 --spec 7=1";
    assert!(passed.notes.iter().any(|known| known == note), "{:?}", passed.notes);
}

#[test]
fn a_binding_with_two_types_is_refused() {
    let text = "OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\"
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %Block Block
        OpMemberDecorate %Block 0 Offset 0
        OpDecorate %in DescriptorSet 0
        OpDecorate %in Binding 3
        OpDecorate %out DescriptorSet 0
        OpDecorate %out Binding 3
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %uint = OpTypeInt 32 0
        %zero = OpConstant %uint 0
        %Block = OpTypeStruct %uint
        %to_in = OpTypePointer Uniform %Block
        %to_out = OpTypePointer StorageBuffer %Block
        %uniform_uint = OpTypePointer Uniform %uint
        %storage_uint = OpTypePointer StorageBuffer %uint
        %in = OpVariable %to_in Uniform
        %out = OpVariable %to_out StorageBuffer
        %main = OpFunction %void None %fn
        %entry = OpLabel
        %from = OpAccessChain %uniform_uint %in %zero
        %value = OpLoad %uint %from
        %to = OpAccessChain %storage_uint %out %zero
        OpStore %to %value
        OpReturn
        OpFunctionEnd";
    let shader = ShaderSource::read("a.spvasm", text.as_bytes()).unwrap();
    let error = Check::new(&shader, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("binding 3 is declared as UniformBuffer and as StorageBuffer"), "{error}");
}

#[test]
fn lines_of_slang_come_from_its_debug_information() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, &[("a.slang", HLSL)]);
    let Some(shader) = compiled(&path, &CompileOptions::default()) else { return };
    let shader = shader.unwrap();
    let check = Check::new(&shader, &Options::default()).unwrap();
    assert_eq!(check.run(&SyntheticTarget::default()).unwrap().status, Status::Pass);
    let module = &shader.source.module;
    let multiply = module.instructions().find(|i| i.name() == "OpFMul").unwrap();
    let place = shader.source.position_of(multiply.at);
    assert_eq!(place.line, Some(4), "{place:?}");
    assert!(place.file.as_deref().is_some_and(|file| file.ends_with("a.slang")), "{place:?}");
    assert!(place.text.as_deref().is_some_and(|text| text.contains("* 3.0")), "{place:?}");
}

#[test]
fn options_of_compilers_apply_to_their_languages_only() {
    let define = CompileOptions { defines: vec!["A".to_owned()], ..CompileOptions::default() };
    let error = ShaderSource::read_with("a.spvasm", b"", &define).unwrap_err().to_string();
    assert_eq!(error, "a.spvasm: it is SPIR-V text; --define applies to WGSL, GLSL, HLSL and Slang only");
}

#[test]
fn another_process_gets_the_same_shader() {
    let wgsl = "override scale: f32 = 1.0;
        @group(0) @binding(0) var<storage, read_write> data: array<f32>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] *= scale; }";
    let specs = vec![("scale".to_owned(), "0.1".to_owned())];
    let compile = CompileOptions { specs, ..CompileOptions::default() };
    let text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\n; a comment\n";
    for (name, text, compile) in [("a.wgsl", wgsl, compile), ("a.spvasm", text, CompileOptions::default())] {
        let shader = ShaderSource::read_with(name, text.as_bytes(), &compile).unwrap();
        let sent = serde_json::to_string(&shader.compiled()).unwrap();
        let received = ShaderSource::from_compiled(serde_json::from_str(&sent).unwrap()).unwrap();
        assert_eq!(received.source.module.words(), shader.source.module.words());
        assert_eq!((&received.overrides, &received.text), (&shader.overrides, &shader.text));
        let last = shader.source.module.instructions().last().unwrap().at;
        assert_eq!(received.source.position_of(last).line, shader.source.position_of(last).line);
    }
}

#[test]
fn a_shader_on_which_naga_panics_is_refused_with_a_message() {
    let text = "fn bump(x: ptr<function, u32>) { *x = *x + 1u; }
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var list = array<u32, 2>(1u, 2u);
            bump(&list[id.x & 1u]);
            out[id.x] = list[0];
        }";
    match ShaderSource::read("element.wgsl", text.as_bytes()) {
        Err(CheckError::Shader { what, .. }) => assert!(what.contains("panicked"), "{what}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn parts_of_wgsl_that_an_application_adds_are_named() {
    let error = |text: &str| assay_check::compile_wgsl(text, "part.wgsl").unwrap_err().to_string();
    let found = error("@compute @workgroup_size(${size}) fn main() {}");
    assert!(found.contains("`${size}` is a placeholder that an application replaces"), "{found}");
    let found = error("@compute @workgroup_size(1) fn main() { rays[0].hit = 1u; }");
    assert!(
        found.ends_with(
            "unknown identifier\nif an application adds the declaration of `rays`, check the text that it compiles"
        ),
        "{found}"
    );
}

#[test]
fn wgsl_of_several_files_is_joined() {
    let root = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = root.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    std::fs::create_dir(root.path().join(".git")).unwrap();
    write("buffers.wgsl", "@group(0) @binding(0) var<storage, read_write> data: array<f32>;\n");
    write("math.wgsl", "const FACTOR = 2.0;\nfn scaled(x: f32) -> f32 { return x * FACTOR; }\n");
    let main = "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n\
                data[id.x] = scaled(data[id.x]);\n}\n";
    let file = write("a.wgsl", &format!("#include \"buffers.wgsl\"\n{main}"));
    let shader = ShaderSource::load(&file, &CompileOptions::default()).unwrap();
    assert_eq!(shader.compute_entry_points(), ["main"]);
    assert!(shader.notes[0].contains("buffers.wgsl from line 5"), "{:?}", shader.notes);
    assert!(shader.notes[1].contains("scaled, FACTOR from "), "{:?}", shader.notes);
    let file = write("b.wgsl", &format!("#include \"missing.wgsl\"\n{}", main.replace("scaled", "unknown")));
    let error = ShaderSource::load(&file, &CompileOptions::default()).unwrap_err().to_string();
    assert!(error.contains("`unknown`") && error.contains("missing.wgsl"), "{error}");
}

#[test]
fn wgsl_with_imports_of_modules_is_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let main = "#import engine::{maths::scaled as twice, buffers}
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            buffers::data[id.x] = twice(buffers::data[id.x]) * f32(#{COUNT});
        }";
    let maths = "#define_import_path engine::maths
        #import engine::constants
        fn scaled(x: f32) -> f32 {
            #if FAST == 1
            return x;
            #else
            return x * constants::FACTOR;
            #endif
        }";
    let files = [
        ("src/a.wgsl", main),
        ("src/maths.wgsl", maths),
        ("src/constants.wgsl", "const FACTOR = 2.0;"),
        ("src/buffers.wgsl", "@group(0) @binding(0) var<storage, read_write> data: array<f32>;"),
        (".git/HEAD", ""),
    ];
    let path = written(&folder, &files);
    let with = |defines: &[&str]| {
        let defines = defines.iter().map(ToString::to_string).collect();
        ShaderSource::load(&path, &CompileOptions { defines, ..CompileOptions::default() }).unwrap()
    };
    let products = |shader: &ShaderSource| shader.source.module.instructions().filter(|i| i.name() == "OpFMul").count();
    let shader = with(&[]);
    assert_eq!(products(&shader), 2);
    assert!(shader.notes.iter().any(|note| note.ends_with("were chosen: --define COUNT=4")), "{:?}", shader.notes);
    assert_eq!(products(&with(&["FAST=1", "COUNT=3"])), 1);
}

#[test]
fn a_branch_that_skips_code_names_the_specialisation_constant_of_its_condition() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#version 450
layout(local_size_x = 64) in;
layout(constant_id = 2) const uint K = 0;
layout(binding = 0) buffer Data { uint data[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint sum = i;
    for (uint k = 0; k < K * (i + 1); k++) { sum = sum * 5 + data[(i + k) % 64]; }
    data[i] = sum;
}
";
    let Some(shader) = compiled(&written(&folder, &[("a.comp", text)]), &CompileOptions::default()) else { return };
    let shader = shader.unwrap();
    let check = Check::new(&shader, &Options::default()).unwrap();
    let result = check.run(&SyntheticTarget::default()).unwrap();
    let skipped = result.executed.and_then(|executed| executed.skipped).expect("the loop is not executed");
    assert_eq!(skipped.depends_on, ["the specialisation constant `K`"], "{skipped}");
}

/// glslang loads both alternatives, one of them beyond the array.
#[test]
fn operands_that_hlsl_does_not_need_access_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let hlsl = "RWStructuredBuffer<uint> data : register(u0);
        groupshared uint sums[32];
        [numthreads(64, 1, 1)] void main(uint lane : SV_GroupIndex, uint3 id : SV_DispatchThreadID) {
            if (lane < 32) { sums[lane] = lane * 3; }
            GroupMemoryBarrierWithGroupSync();
            bool is_odd = lane < 32 && (sums[lane] & 1) != 0;
            data[id.x] = (lane >= 32 ? sums[lane - 32] : 7) + (is_odd ? 100 : 0);
        }";
    let path = written(&folder, &[("a.hlsl", hlsl)]);
    let Some(shader) = compiled(&path, &CompileOptions::default()) else { return };
    let shader = shader.unwrap();
    let check = Check::new(&shader, &Options::default()).unwrap();
    assert_eq!(check.run(&SyntheticTarget::default()).unwrap().status, Status::Pass);
    // dxc needs no change.
    let is_glslang = shader.compiler.as_ref().is_some_and(|run| run.compiler.starts_with("glslang"));
    assert_eq!(shader.notes.iter().any(|note| note.contains("as in HLSL 2021")), is_glslang, "{:?}", shader.notes);
}

/// `const` before a uniform does not make it a constant in HLSL. A file of the engine Unity is
/// HLSL.
#[test]
fn uniforms_of_hlsl_may_be_const() {
    let folder = tempfile::tempdir().unwrap();
    let hlsl = "\u{feff}#pragma kernel scale
        #include \"./summand.hlsl\"
        const float factor; // a uniform
        static const int SIZE = 64;
        RWStructuredBuffer<float> data : register(u1);
        [numthreads(SIZE, 1, 1)] void scale(uint3 id : SV_DispatchThreadID) {
            data[id.x] = data[id.x] * factor + summand;
        }";
    let path = written(&folder, &[("a.compute", hlsl), ("summand.hlsl", "const float summand;")]);
    let Some(shader) = compiled(&path, &CompileOptions::default()) else { return };
    let shader = shader.unwrap();
    let check = Check::new(&shader, &Options::default()).unwrap();
    let [uniforms] = &check.setup.descriptors.iter().filter(|d| d.bytes < 256).collect::<Vec<_>>()[..] else {
        panic!("the uniforms have a buffer: {:?}", check.setup.descriptors)
    };
    assert_eq!(uniforms.bytes, 8);
    assert_eq!(check.run(&SyntheticTarget::default()).unwrap().status, Status::Pass);
}

/// A byte order mark in an included file, and an engine's file that is not there.
#[test]
fn included_files_of_engines_may_have_marks_or_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    let hlsl = "#include \"UnityCG.cginc\"
        #include \"/Includes/Factor.hlsl\"
        RWStructuredBuffer<float> data : register(u1);
        [numthreads(64, 1, 1)] void scale(uint3 id : SV_DispatchThreadID) { data[id.x] *= FACTOR; }";
    let included = "\u{feff}static const float FACTOR = 3.0;";
    let path = written(&folder, &[("a.compute", hlsl), ("Includes/Factor.hlsl", included), (".git/HEAD", "")]);
    let Some(shader) = compiled(&path, &CompileOptions::default()) else { return };
    let shader = shader.unwrap();
    let note = "included files were not found, and were left out: UnityCG.cginc";
    assert!(shader.notes.iter().any(|known| known == note), "{:?}", shader.notes);
    let check = Check::new(&shader, &Options::default()).unwrap();
    assert_eq!(check.run(&SyntheticTarget::default()).unwrap().status, Status::Pass);
    let error = compiled(
        &written(&folder, &[("b.compute", &hlsl.replace("FACTOR", "UNITY_FACTOR"))]),
        &CompileOptions::default(),
    );
    assert!(error.unwrap().unwrap_err().contains("UnityCG.cginc"));
}

#[test]
fn shaders_of_ncnn_get_its_macros() {
    let text = "#version 450
layout(constant_id = 0) const uint n = 0;
layout(binding = 0) buffer blob { sfpvec4 data[]; };
layout(push_constant) uniform parameter { uint n; } p;
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= psc(n)) return;
    afpvec4 v = buffer_ld4(data, i);
    buffer_st4(data, i, v * afp(undeclared));
}
";
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, &[("a.comp", text)]);
    let Some(rejected) = compiled(&path, &CompileOptions::default()) else { return };
    // Lines keep their numbers.
    let rejected = rejected.unwrap_err();
    assert!(rejected.contains("a.comp:9") && rejected.contains("undeclared"), "{rejected}");
    let path = written(&folder, &[("a.comp", &text.replace("undeclared", "2.0"))]);
    let shader = compiled(&path, &CompileOptions::default()).unwrap().unwrap();
    let options = Options { push_values: vec![("n".to_owned(), "64".to_owned())], ..Options::default() };
    let check = Check::new(&shader, &options).unwrap();
    assert_eq!(check.setup.local, [64, 1, 1]);
    let result = check.run(&SyntheticTarget::default()).unwrap();
    assert_eq!(result.status, Status::Pass, "{:?}", result.reason);
    assert_eq!(result.writes.unwrap().written, 64 * 4 * 2);
    assert!(result.notes.iter().any(|note| note.contains("written for ncnn")), "{:?}", result.notes);
    // Another shader may use these names.
    let other = "#version 450
layout(local_size_x = 4) in;
#pragma optimize fast
layout(binding = 0) buffer blob { float data[]; };
float psc(float afp) { return afp * 2.0; }
void main() { data[gl_GlobalInvocationID.x] = psc(data[gl_GlobalInvocationID.x]); }
";
    let path = written(&folder, &[("b.comp", other)]);
    let shader = compiled(&path, &CompileOptions::default()).unwrap().unwrap();
    let result = Check::new(&shader, &Options::default()).unwrap().run(&SyntheticTarget::default()).unwrap();
    assert_eq!(result.status, Status::Pass, "{:?}", result.reason);
    assert!(!result.notes.iter().any(|note| note.contains("ncnn")), "{:?}", result.notes);
}

#[test]
fn wave_intrinsics_of_hlsl_may_be_used_twice() {
    let text = "RWStructuredBuffer<uint> data : register(u0);
[numthreads(64, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) {
    uint first = WaveGetLaneCount();
    data[id.x] = data[id.x] + first * WaveGetLaneCount();
}
";
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, &[("a.hlsl", text)]);
    let Some(shader) = compiled(&path, &CompileOptions::default()) else { return };
    let shader = shader.unwrap();
    assert!(assay_spirv_rules::inspect::Report::new(&shader.source).is_legal());
}

/// WGSL: "an invalid memory reference" of a load gives an element of the array, or zero.
#[test]
fn an_index_of_wgsl_that_is_selected_away_is_no_fault() {
    let shader = crate::support::wgsl(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        var<workgroup> part: array<u32, 32>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
            if (i < 32u) { part[i] = data[i] * 3u; }
            workgroupBarrier();
            data[i] = select(7u, part[i], i < 32u);
        }",
    );
    let options = Options { groups: Some([1; 3]), ..Options::default() };
    let result = Check::new(&shader, &options).unwrap().run(&SyntheticTarget::default()).unwrap();
    assert_eq!((result.status, result.rounds_checked), (Status::Pass, 2), "{:?}", result.reason);
}
