//! Compute shaders in SPIR-V assembly. A test writes only the lines that it is about.

use crate::spirv;
use assay_spirv::Module;

/// A compute shader in assembly, with the entry point `%main`. It declares `%void`, `%fn`, `%bool`,
/// `%uint`, `%int`, `%float`, the words `%zero`, `%one` and `%two`, blocks of floats and words
/// (`%fblocks`, `%ublocks`), and pointers to their elements (`%pfloat`, `%puint`).
pub struct Shader<'a> {
    /// Version of SPIR-V.
    pub version: &'a str,
    /// Capabilities other than `Shader`, extensions and imports.
    pub head: &'a str,
    /// Addressing model and memory model.
    pub memory_model: &'a str,
    /// Variables of the interface other than `inputs` and, from SPIR-V 1.4 on, `buffers`.
    pub interface: &'a str,
    /// Invocations of a workgroup.
    pub local_size: u32,
    /// Execution modes other than the size, then debug names.
    pub modes: &'a str,
    /// Built-in inputs of one word: variable and built-in.
    pub inputs: &'a [(&'a str, &'a str)],
    /// Variables of set 0, bindings from 0 on, and their types.
    pub buffers: &'a [(&'a str, &'a str)],
    /// Decorations other than those of `inputs` and `buffers`.
    pub decorations: &'a str,
    /// Types, constants and variables.
    pub declared: &'a str,
    /// Functions other than `%main`.
    pub functions: &'a str,
    /// The body of `%main` after its label `%entry`, up to the return.
    pub body: &'a str,
}

impl Default for Shader<'_> {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Shader<'_> {
    /// A shader of one invocation that does nothing.
    pub const DEFAULT: Self = Shader {
        version: "1.6",
        head: "",
        memory_model: "Logical GLSL450",
        interface: "",
        local_size: 1,
        modes: "",
        inputs: &[],
        buffers: &[],
        decorations: "",
        declared: "",
        functions: "",
        body: "",
    };

    /// Assembles the shader.
    pub fn module(&self) -> Module {
        spirv(&self.text())
    }

    /// Returns the assembly.
    pub fn text(&self) -> String {
        let Shader { version, head, memory_model, local_size, modes, inputs, buffers, .. } = self;
        let Shader { decorations, declared, functions, body, .. } = self;
        let (mut interface, mut decorated, mut variables) = (self.interface.to_owned(), String::new(), String::new());
        for (variable, built_in) in *inputs {
            interface += &format!(" {variable}");
            decorated += &format!("OpDecorate {variable} BuiltIn {built_in}\n");
            variables += &format!("{variable} = OpVariable %inputs Input\n");
        }
        for (binding, (variable, ty)) in buffers.iter().enumerate() {
            if *version >= "1.4" {
                interface += &format!(" {variable}");
            }
            decorated += &format!("OpDecorate {variable} DescriptorSet 0\nOpDecorate {variable} Binding {binding}\n");
            variables += &format!("{variable} = OpVariable {ty} StorageBuffer\n");
        }
        format!(
            "; Version: {version}
            OpCapability Shader
            {head}
            OpMemoryModel {memory_model}
            OpEntryPoint GLCompute %main \"main\" {interface}
            OpExecutionMode %main LocalSize {local_size} 1 1
            {modes}
            OpDecorate %floats ArrayStride 4
            OpDecorate %words ArrayStride 4
            OpDecorate %fblock Block
            OpDecorate %ublock Block
            OpMemberDecorate %fblock 0 Offset 0
            OpMemberDecorate %ublock 0 Offset 0
            {decorated}
            {decorations}
            %void = OpTypeVoid
            %fn = OpTypeFunction %void
            %bool = OpTypeBool
            %uint = OpTypeInt 32 0
            %int = OpTypeInt 32 1
            %float = OpTypeFloat 32
            %zero = OpConstant %uint 0
            %one = OpConstant %uint 1
            %two = OpConstant %uint 2
            %floats = OpTypeRuntimeArray %float
            %words = OpTypeRuntimeArray %uint
            %fblock = OpTypeStruct %floats
            %ublock = OpTypeStruct %words
            %fblocks = OpTypePointer StorageBuffer %fblock
            %ublocks = OpTypePointer StorageBuffer %ublock
            %pfloat = OpTypePointer StorageBuffer %float
            %puint = OpTypePointer StorageBuffer %uint
            %inputs = OpTypePointer Input %uint
            {declared}
            {variables}
            {functions}
            %main = OpFunction %void None %fn
            %entry = OpLabel
            {body}
            OpReturn
            OpFunctionEnd
            "
        )
    }
}
