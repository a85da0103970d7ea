//! Large modules of several kinds, as text, all legal for Vulkan 1.3.

/// Kind of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Only loads, arithmetic and stores.
    Arithmetic,
    /// Images, atomics, barriers, extended instructions, loops, calls, names and decorations.
    Mixed,
    /// Few instructions, but many buffers, each with a structure, a layout and a binding, and many
    /// entry points.
    Interfaces,
}

impl Shape {
    pub(crate) const ALL: [Shape; 3] = [Shape::Arithmetic, Shape::Mixed, Shape::Interfaces];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Shape::Arithmetic => "arithmetic",
            Shape::Mixed => "mixed",
            Shape::Interfaces => "interfaces",
        }
    }

    /// Returns the text of a module with about `bytes` bytes of words.
    pub(crate) fn text(self, bytes: usize) -> String {
        // The divisors are the approximate sizes of the repeated parts.
        match self {
            Shape::Arithmetic => arithmetic((bytes / 614).max(1)),
            Shape::Mixed => mixed((bytes / 596).max(1)),
            Shape::Interfaces => interfaces((bytes / 604).max(1)),
        }
    }
}

const TYPES: &str = "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%float = OpTypeFloat 32\n%bool = OpTypeBool\n\
%u0 = OpConstant %uint 0\n%u1 = OpConstant %uint 1\n%u2 = OpConstant %uint 2\n%u264 = OpConstant %uint 264\n%factor = OpConstant %float 2.5\n\
%array = OpTypeRuntimeArray %float\n%Block = OpTypeStruct %array\n%pointer = OpTypePointer StorageBuffer %Block\n\
%pointer_float = OpTypePointer StorageBuffer %float\n%buffer = OpVariable %pointer StorageBuffer\n";

const LAYOUT: &str = "OpDecorate %buffer DescriptorSet 0\nOpDecorate %buffer Binding 0\nOpDecorate %Block Block\n\
OpDecorate %array ArrayStride 4\nOpMemberDecorate %Block 0 Offset 0\n";

fn arithmetic(functions: usize) -> String {
    let mut text = format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %f0 \"main\" %buffer\n\
         OpExecutionMode %f0 LocalSize 64 1 1\n{LAYOUT}{TYPES}"
    );
    for i in 0..functions {
        text.push_str(&format!("%f{i} = OpFunction %void None %fn\n%l{i} = OpLabel\n"));
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

fn mixed(functions: usize) -> String {
    let mut text = "OpCapability Shader\nOpCapability StorageImageWriteWithoutFormat\nOpCapability GroupNonUniformArithmetic\n\
        %glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel Logical GLSL450\n\
        OpEntryPoint GLCompute %f0 \"main\" %buffer %texture %picture %counter %memory %id\nOpExecutionMode %f0 LocalSize 64 1 1\n"
        .to_owned();
    let mut body = String::new();
    let mut decorations = LAYOUT.to_owned();
    decorations.push_str(
        "OpDecorate %texture DescriptorSet 0\nOpDecorate %texture Binding 1\nOpDecorate %picture DescriptorSet 0\n\
         OpDecorate %picture Binding 2\nOpDecorate %picture NonReadable\nOpDecorate %counter DescriptorSet 0\nOpDecorate %counter Binding 3\n\
         OpDecorate %Counter Block\nOpMemberDecorate %Counter 0 Offset 0\nOpDecorate %id BuiltIn LocalInvocationIndex\n",
    );
    for i in 0..functions {
        text.push_str(&format!("OpName %f{i} \"function_{i}\"\nOpName %sum{i} \"sum\"\n"));
        decorations.push_str(&format!("OpDecorate %sum{i} NoContraction\nOpDecorate %texel{i} RelaxedPrecision\n"));
        // Functions call each other as a tree, so that the entry point reaches all of them.
        let children = (2 * i + 1..=2 * i + 2).filter(|child| *child < functions);
        let calls: String =
            children.map(|child| format!("%called{child} = OpFunctionCall %void %f{child}\n")).collect();
        body.push_str(&format!(
            "%f{i} = OpFunction %void None %fn\n%l{i} = OpLabel\n%local{i} = OpVariable %local_float Function\n\
             {calls}%index{i} = OpLoad %uint %id\n%loaded{i} = OpLoad %sampled %texture\n\
             %fx{i} = OpConvertUToF %float %index{i}\n%at{i} = OpCompositeConstruct %float2 %fx{i} %factor\n\
             %texel{i} = OpImageSampleExplicitLod %float4 %loaded{i} %at{i} Lod %factor\n\
             %root{i} = OpExtInst %float %glsl Sqrt %fx{i}\n%x{i} = OpCompositeExtract %float %texel{i} 0\n\
             %sum{i} = OpFAdd %float %root{i} %x{i}\nOpStore %local{i} %sum{i}\n\
             %atom{i} = OpAccessChain %pointer_uint %counter %u0\n%old{i} = OpAtomicIAdd %uint %atom{i} %u1 %u0 %u1\n\
             OpControlBarrier %u2 %u2 %u264\n%lane{i} = OpGroupNonUniformIAdd %uint %u3 Reduce %old{i}\n\
             %less{i} = OpULessThan %bool %lane{i} %u2\n"
        ));
        body.push_str(&format!(
            "OpSelectionMerge %after{i} None\nOpBranchConditional %less{i} %then{i} %after{i}\n%then{i} = OpLabel\n\
             %image{i} = OpLoad %storage %picture\n%to{i} = OpCompositeConstruct %uint2 %index{i} %lane{i}\n\
             OpImageWrite %image{i} %to{i} %texel{i}\n%shared{i} = OpAccessChain %shared_uint %memory %u1\n\
             OpStore %shared{i} %lane{i}\nOpBranch %after{i}\n%after{i} = OpLabel\n%again{i} = OpLoad %float %local{i}\n\
             %out{i} = OpAccessChain %pointer_float %buffer %u0 %index{i}\nOpStore %out{i} %again{i}\nOpReturn\nOpFunctionEnd\n"
        ));
    }
    text.push_str(&decorations);
    text.push_str(TYPES);
    text.push_str(
        "%u3 = OpConstant %uint 3\n%u16 = OpConstant %uint 16\n%float2 = OpTypeVector %float 2\n%float4 = OpTypeVector %float 4\n\
         %uint2 = OpTypeVector %uint 2\n%local_float = OpTypePointer Function %float\n%image = OpTypeImage %float 2D 0 0 0 1 Unknown\n\
         %sampled = OpTypeSampledImage %image\n%sampled_pointer = OpTypePointer UniformConstant %sampled\n\
         %texture = OpVariable %sampled_pointer UniformConstant\n%storage = OpTypeImage %float 2D 0 0 0 2 Unknown\n\
         %storage_pointer = OpTypePointer UniformConstant %storage\n%picture = OpVariable %storage_pointer UniformConstant\n\
         %Counter = OpTypeStruct %uint\n%counter_pointer = OpTypePointer StorageBuffer %Counter\n\
         %counter = OpVariable %counter_pointer StorageBuffer\n%pointer_uint = OpTypePointer StorageBuffer %uint\n\
         %shared_array = OpTypeArray %uint %u16\n%shared_pointer = OpTypePointer Workgroup %shared_array\n\
         %memory = OpVariable %shared_pointer Workgroup\n%shared_uint = OpTypePointer Workgroup %uint\n\
         %id_pointer = OpTypePointer Input %uint\n%id = OpVariable %id_pointer Input\n",
    );
    text + &body
}

/// Number of buffers that each entry point uses.
const USED: usize = 8;

fn interfaces(entry_points: usize) -> String {
    let mut text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\n".to_owned();
    let (mut modes, mut decorations, mut globals, mut body) =
        (String::new(), String::new(), String::new(), String::new());
    for i in 0..entry_points {
        let used: Vec<String> = (0..USED.min(entry_points)).map(|j| format!("%b{}", (i + j) % entry_points)).collect();
        text.push_str(&format!("OpEntryPoint GLCompute %f{i} \"main_{i}\" %buffer {}\n", used.join(" ")));
        modes.push_str(&format!("OpExecutionMode %f{i} LocalSize 8 8 1\n"));
        decorations.push_str(&format!(
            "OpDecorate %b{i} DescriptorSet {}\nOpDecorate %b{i} Binding {}\nOpDecorate %b{i} NonWritable\nOpDecorate %B{i} Block\n\
             OpDecorate %a{i} ArrayStride 16\nOpMemberDecorate %B{i} 0 Offset 0\nOpMemberDecorate %B{i} 1 Offset 16\n\
             OpMemberDecorate %B{i} 2 Offset 32\n",
            i % 4,
            i / 4 + 1
        ));
        globals.push_str(&format!(
            "%a{i} = OpTypeRuntimeArray %float4\n%B{i} = OpTypeStruct %float4 %uint %a{i}\n%p{i} = OpTypePointer StorageBuffer %B{i}\n\
             %b{i} = OpVariable %p{i} StorageBuffer\n"
        ));
        body.push_str(&format!("%f{i} = OpFunction %void None %fn\n%l{i} = OpLabel\n"));
        for (j, name) in used.iter().enumerate() {
            body.push_str(&format!(
                "%c{i}_{j} = OpAccessChain %pointer_uint {name} %u1\n%v{i}_{j} = OpLoad %uint %c{i}_{j}\n"
            ));
        }
        body.push_str("OpReturn\nOpFunctionEnd\n");
    }
    text.push_str(&modes);
    text.push_str(LAYOUT);
    text.push_str(&decorations);
    text.push_str(TYPES);
    text.push_str("%float4 = OpTypeVector %float 4\n%pointer_uint = OpTypePointer StorageBuffer %uint\n");
    text.push_str(&globals);
    text + &body
}
