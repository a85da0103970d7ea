//! A module that clears workgroup memory.

/// Smallest workgroup memory of any device (`maxComputeSharedMemorySize`), in words.
const WORKGROUP_MEMORY_WORDS: u32 = 16384 / 4;

/// Number of workgroups for clearing, large enough to reach all processors of most devices.
pub(crate) const CLEARING_GROUPS: u32 = 256;

/// Returns a module that stores zeros to the workgroup memory of workgroups with 64 invocations.
/// The stores are `Volatile`, because nothing reads them.
pub(crate) fn clearing_module() -> Vec<u32> {
    let places: Vec<u32> = (0..WORKGROUP_MEMORY_WORDS / 64).map(|n| n * 64).collect();
    let constants: String = places.iter().map(|n| format!("%n{n} = OpConstant %uint {n}\n")).collect();
    let store = |n: &u32| {
        format!(
            "%k{n} = OpIAdd %uint %i %n{n}\n%p{n} = OpAccessChain %word %shared %k{n}\nOpStore %p{n} %n0 Volatile\n"
        )
    };
    let stores: String = places.iter().map(store).collect();
    let text = format!(
        "; Version: 1.0
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" %at
        OpExecutionMode %main LocalSize 64 1 1
        OpDecorate %at BuiltIn LocalInvocationIndex
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %uint = OpTypeInt 32 0
        %length = OpConstant %uint {WORKGROUP_MEMORY_WORDS}
        {constants}
        %words = OpTypeArray %uint %length
        %all = OpTypePointer Workgroup %words
        %word = OpTypePointer Workgroup %uint
        %input = OpTypePointer Input %uint
        %shared = OpVariable %all Workgroup
        %at = OpVariable %input Input
        %main = OpFunction %void None %fn
        %entry = OpLabel
        %i = OpLoad %uint %at
        {stores}
        OpReturn
        OpFunctionEnd"
    );
    assay_spirv::assemble(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::clearing_module;
    use assay_spirv::Module;
    use assay_spirv_rules::rules::{Environment, violations};

    #[test]
    fn the_module_that_clears_workgroup_memory_is_legal() {
        let module = Module::parse(clearing_module()).expect("a module");
        let found = violations(&module, Environment::of_module(&module));
        assert!(found.is_empty(), "{found:?}");
    }
}
