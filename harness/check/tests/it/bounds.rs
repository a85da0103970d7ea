//! Interfaces that are too large to be checked are refused, with the binding that is too much.

use crate::support::wgsl;
use assay_check::{Check, DispatchSetup, Options, ShaderSource};

/// A module whose entry point uses arrays of descriptors, of so many elements each, at those
/// bindings.
fn arrays(bindings: &[(u32, u64)]) -> ShaderSource {
    let mut text = String::from(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
         OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n",
    );
    for (i, (binding, _)) in bindings.iter().enumerate() {
        text +=
            &format!("OpName %v{i} \"v{i}\"\nOpDecorate %v{i} DescriptorSet 0\nOpDecorate %v{i} Binding {binding}\n");
    }
    // Names come before decorations.
    let (names, others): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("OpName"));
    let at = others.iter().position(|line| line.starts_with("OpDecorate")).unwrap();
    let mut text = [&others[..at], &names, &others[at..]].concat().join("\n") + "\n";
    text += "%void = OpTypeVoid\n%function = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%block = OpTypeStruct %uint\n\
             %zero = OpConstant %uint 0\n%to_uint = OpTypePointer StorageBuffer %uint\n";
    for (i, (_, count)) in bindings.iter().enumerate() {
        text += &format!(
            "%n{i} = OpConstant %uint {count}\n%a{i} = OpTypeArray %block %n{i}\n\
             %p{i} = OpTypePointer StorageBuffer %a{i}\n%v{i} = OpVariable %p{i} StorageBuffer\n"
        );
    }
    text += "%main = OpFunction %void None %function\n%label = OpLabel\n";
    for i in 0..bindings.len() {
        text += &format!("%x{i} = OpAccessChain %to_uint %v{i} %zero %zero\nOpStore %x{i} %zero\n");
    }
    let text = "; Version: 1.3\n".to_owned() + &text + "OpReturn\nOpFunctionEnd\n";
    ShaderSource::read("arrays.spvasm", text.as_bytes()).unwrap()
}

fn refusal(shader: &ShaderSource, options: &Options) -> String {
    Check::new(shader, options).unwrap_err().to_string()
}

/// Each descriptor was searched for among those before it, without a limit on how many there are.
#[test]
fn arrays_of_descriptors_are_checked_up_to_a_limit() {
    let setup = DispatchSetup::new(&arrays(&[(0, 16_000), (1, 384)]), &Options::default()).unwrap();
    assert_eq!(setup.descriptors.len(), 1 << 14);
    assert!(setup.descriptors.is_sorted_by_key(|d| d.slot));
    let refused = refusal(&arrays(&[(0, 1_000_000_000)]), &Options::default());
    assert!(refused.contains("set 0 binding 0 (v0): 1000000000 descriptors") && refused.contains("16384"), "{refused}");
    let refused = refusal(&arrays(&[(0, 16_000), (1, 385)]), &Options::default());
    assert!(refused.contains("set 0 binding 1 (v1): 385 descriptors beside 16000 of other bindings"), "{refused}");
    // Two variables share the descriptors of their binding.
    let setup = DispatchSetup::new(&arrays(&[(0, 10_000), (0, 16_384), (0, 3)]), &Options::default()).unwrap();
    assert_eq!(setup.descriptors.len(), 1 << 14);
}

fn buffers(words: &[u64]) -> ShaderSource {
    let declared = |(i, words): (usize, &u64)| {
        format!("@group(0) @binding({i}) var<storage, read_write> b{i}: array<u32, {words}>;\n")
    };
    let stored = |i: usize| format!("b{i}[0] = 1u; ");
    wgsl(&format!(
        "{}@compute @workgroup_size(1) fn main() {{ {}}}",
        words.iter().enumerate().map(declared).collect::<String>(),
        (0..words.len()).map(stored).collect::<String>()
    ))
}

/// One of 512 MiB took five gigabytes, and longer than a minute.
#[test]
fn bytes_of_all_bindings_are_checked_up_to_a_limit() {
    let setup = DispatchSetup::new(&buffers(&[1 << 26]), &Options::default()).unwrap();
    assert_eq!(setup.descriptors[0].bytes, 1 << 28);
    for words in [(1 << 26) + 1, 1 << 27, (1 << 29) - 1] {
        let refused = refusal(&buffers(&[words]), &Options::default());
        assert!(
            refused.contains("set 0 binding 0 (b0)") && refused.contains("the limit is 268435456"),
            "{words}: {refused}"
        );
    }
    let refused = refusal(&buffers(&[1 << 25, 1 << 24, (1 << 24) + 1]), &Options::default());
    assert!(
        refused.contains("set 0 binding 2 (b2) would have 67108868 bytes beside 201326592 of other bindings"),
        "{refused}"
    );
    // Buffers that no descriptor binds count, too.
    let buffer = vec![("nodes".to_owned(), format!("{}*u32", (1 << 26) - 1).parse().unwrap())];
    let options = Options { buffers: buffer, ..Options::default() };
    DispatchSetup::new(&buffers(&[1]), &options).unwrap();
    let refused = refusal(&buffers(&[2]), &options);
    assert!(refused.contains("buffer nodes would have 268435452 bytes beside 8 of other bindings"), "{refused}");
}
