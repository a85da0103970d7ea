//! Conversion between text and words is lossless, and errors state position and reason.

use assay_spirv::{Style, assemble, disassemble};

const SHADER: &str = r#"
; a comment
               OpCapability Shader
               OpCapability Int64
          %glsl = OpExtInstImport "GLSL.std.450"
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main "main \"quoted\" ; \\" %buffer
               OpExecutionMode %main LocalSize 64 1 1
               OpDecorate %buffer DescriptorSet 0
               OpMemberDecorate %block 0 Offset 0x0
       %void = OpTypeVoid
   %function = OpTypeFunction %void
      %float = OpTypeFloat 32
       %long = OpTypeInt 64 1
       %uint = OpTypeInt 32 0
      %block = OpTypeStruct %float
    %pointer = OpTypePointer StorageBuffer %block
     %buffer = OpVariable %pointer StorageBuffer
%pointer_float = OpTypePointer StorageBuffer %float
       %zero = OpConstant %uint 0
        %neg = OpConstant %long -5
        %inf = OpConstant %float 0x1p+128
        %sum = OpSpecConstantOp %uint IAdd %zero %zero
       %main = OpFunction %void None|Pure %function
      %label = OpLabel
     %access = OpAccessChain %pointer_float %buffer %zero
       %load = OpLoad %float %access Volatile|Aligned 4
       %sine = OpExtInst %float %glsl Sin %load
               OpStore %access
                  %sine
               OpSelectionMerge %merge None
               OpSwitch %zero %merge 1 %merge 2 %merge
      %merge = OpLabel
               OpReturn
               OpFunctionEnd
"#;

fn round_trip(words: &[u32]) -> Vec<u32> {
    let text = disassemble(words, Style::Indented).unwrap();
    let again = assemble(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(disassemble(&again, Style::Indented).unwrap(), text, "text is not a fixed point");
    let plain = assemble(&disassemble(words, Style::Plain).unwrap()).unwrap();
    assert_eq!(plain, again);
    again
}

#[test]
fn shader_survives_the_round_trip() {
    let words = assemble(SHADER).unwrap();
    assert_eq!(round_trip(&words), words);
}

#[test]
fn header_comment_is_kept() {
    let mut words = assemble(SHADER).unwrap();
    words[1] = 0x0001_0300;
    words[2] = 0x0008_000a;
    words[3] += 17;
    words[4] = 3;
    assert_eq!(round_trip(&words), words);
    words[1] = 0x0102_0304;
    assert_eq!(round_trip(&words), words);
}

#[test]
fn unknown_words_are_kept_raw() {
    let words = assemble(
        "OpCapability !9999\nOpCapability Shader\n!0x0003fffe !1 !2\n%1 = OpTypeStruct %2 %3\n!0x0002fffd !7\n\
         OpDecorate %1 !77 %1 \"text\" 5 0.5 -1\n%4 = OpTypeFloat 24\nOpReturn !0x12",
    )
    .unwrap();
    assert_eq!(round_trip(&words), words);
    let text = disassemble(&words, Style::Plain).unwrap();
    assert!(text.contains("!0x0003fffe !0x00000001 !0x00000002 ; unknown opcode 65534"), "{text}");
}

#[test]
fn words_that_violate_the_grammar_are_kept_raw() {
    let good = assemble(SHADER).unwrap();
    // Every word is damaged in turn. Nothing may be lost, unless the damage changes an
    // instruction's length.
    for i in 5..good.len() {
        for damage in [0, 1, u32::MAX, 0x8000_0000] {
            let mut words = good.clone();
            words[i] = damage;
            if let Ok(text) = disassemble(&words, Style::Indented) {
                let again = assemble(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
                assert_eq!(again[5..], words[5..], "word {i} = {damage:#x}\n{text}");
            }
        }
    }
}

#[test]
fn errors_state_position_expectation_and_nearest_name() {
    let cases = [
        (
            "OpCapability Shader\n  OpFad",
            "line 2, column 3: expected an instruction, found \"OpFad\"; did you mean 'OpFAdd'?",
        ),
        ("OpCapability Shade", "line 1, column 14: expected Capability, found \"Shade\"; did you mean 'Shader'?"),
        ("%1 = OpTypeInt 32", "line 1, column 18: expected LiteralInteger (Signedness), found the end of the text"),
        (
            "%1 = OpTypeInt 32\n%2 = OpTypeVoid",
            "line 2, column 1: expected LiteralInteger (Signedness), found the next instruction",
        ),
        ("OpTypeVoid", "line 1, column 1: OpTypeVoid has a result: expected '%name =' before it"),
        ("%1 = OpReturn", "line 1, column 1: OpReturn has no result"),
        ("OpName %1 \"abc", "line 1, column 11: string literal has no closing quote"),
        ("OpReturn %1", "line 1, column 10: OpReturn takes no more operands, found \"%1\""),
        (
            "%1 = OpConstant %2 5",
            "line 1, column 20: cannot read the literal: the result type is not a number type declared before",
        ),
        ("OpName %4194303 \"a\"", "line 1, column 8: the id exceeds the limit of 4194302"),
        (
            "%g = OpExtInstImport \"GLSL.std.450\"\n%f = OpTypeFloat 32\n%s = OpExtInst %f %g Sine %f",
            "line 3, column 22: expected an extended instruction, found \"Sine\"; did you mean 'Sin'?",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(assemble(text).unwrap_err().to_string(), expected);
    }
}

#[test]
fn aliases_equal_their_targets() {
    let old = "OpCapability SubgroupBallotKHR\nOpCapability StorageUniformBufferBlock16\nOpMemoryModel PhysicalStorageBuffer64EXT VulkanKHR";
    let new = "OpCapability SubgroupBallotKHR\nOpCapability StorageBuffer16BitAccess\nOpMemoryModel PhysicalStorageBuffer64 Vulkan";
    assert_eq!(assemble(old), assemble(new));
}
