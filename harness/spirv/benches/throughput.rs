//! Bytes a second of each direction, over one large module made of many copies of a compute shader's function.

use std::process::Command;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};

use assay_spirv::need::Need;
use assay_spirv::rules::{self, Environment};
use assay_spirv::{Module, Style, assemble, disassemble};

const HEAD: &str = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\" %buffer\n\
OpExecutionMode %main LocalSize 64 1 1\nOpDecorate %buffer DescriptorSet 0\nOpDecorate %buffer Binding 0\nOpDecorate %Block Block\n\
OpDecorate %array ArrayStride 4\nOpMemberDecorate %Block 0 Offset 0\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
%uint = OpTypeInt 32 0\n%float = OpTypeFloat 32\n%bool = OpTypeBool\n%array = OpTypeRuntimeArray %float\n%Block = OpTypeStruct %array\n\
%pointer = OpTypePointer StorageBuffer %Block\n%pointer_float = OpTypePointer StorageBuffer %float\n\
%buffer = OpVariable %pointer StorageBuffer\n%u0 = OpConstant %uint 0\n%factor = OpConstant %float 2.5\n";

/// A module with so many functions of some thirty instructions.
fn shader(functions: usize) -> String {
    let mut text = HEAD.to_owned();
    for i in 0..functions {
        let name = if i == 0 { "main".to_owned() } else { format!("f{i}") };
        text.push_str(&format!("%{name} = OpFunction %void None %fn\n%l{i} = OpLabel\n"));
        for j in 0..6 {
            text.push_str(&format!(
                "%c{i}_{j} = OpAccessChain %pointer_float %buffer %u0 %u0\n%v{i}_{j} = OpLoad %float %c{i}_{j}\n\
                 %m{i}_{j} = OpFMul %float %v{i}_{j} %factor\n%s{i}_{j} = OpFAdd %float %m{i}_{j} %v{i}_{j}\nOpStore %c{i}_{j} %s{i}_{j}\n"
            ));
        }
        text.push_str("OpReturn\nOpFunctionEnd\n");
    }
    text
}

fn throughput(c: &mut Criterion) {
    let text = shader(20_000);
    let words = assemble(&text).expect("the shader assembles");
    let bytes = words.len() as u64 * 4;
    let module = Module::parse(words.clone()).expect("the shader is a module");

    let mut group = c.benchmark_group("text");
    group.sample_size(10).throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("assemble", |b| b.iter(|| assemble(&text)));
    group.finish();

    let mut group = c.benchmark_group("words");
    group.sample_size(10).throughput(Throughput::Bytes(bytes));
    group.bench_function("parse", |b| b.iter(|| Module::parse(words.clone())));
    let raw: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    group.bench_function("rspirv parse", |b| {
        b.iter(|| {
            let mut loader = rspirv::dr::Loader::new();
            rspirv::binary::parse_bytes(&raw, &mut loader).expect("rspirv reads it");
            loader.module()
        })
    });
    group.bench_function("disassemble", |b| b.iter(|| disassemble(&words, Style::Plain)));
    group.bench_function("rules", |b| b.iter(|| rules::violations(&module, Environment::Vulkan)));
    group.bench_function("need", |b| b.iter(|| Need::of(&module)));
    group.finish();

    let small = shader(1);
    c.bench_function("assemble one small shader", |b| b.iter(|| assemble(&small)));
}

/// Debian's tools on the same module, where they are installed; starting the process counts.
fn tools(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (text, words) = (folder.path().join("a.spvasm"), folder.path().join("a.spv"));
    std::fs::write(&text, shader(20_000)).expect("writing the shader");
    let run = |tool: &str, arguments: &[&std::ffi::OsStr]| {
        Command::new(tool).args(arguments).output().is_ok_and(|o| o.status.success())
    };
    let assemble: [&std::ffi::OsStr; 3] = [text.as_ref(), "-o".as_ref(), words.as_ref()];
    if !run("spirv-as", &assemble) {
        return;
    }
    let size = |path| std::fs::metadata(path).map_or(0, |m| m.len());
    let mut group = c.benchmark_group("tools");
    group.sample_size(10).throughput(Throughput::Bytes(size(&text)));
    group.bench_function("spirv-as", |b| b.iter(|| run("spirv-as", &assemble)));
    group.throughput(Throughput::Bytes(size(&words)));
    group.bench_function("spirv-val", |b| {
        b.iter(|| run("spirv-val", &["--target-env".as_ref(), "vulkan1.3".as_ref(), words.as_ref()]))
    });
    group.finish();
}

criterion_group!(benches, throughput, tools);
criterion_main!(benches);
