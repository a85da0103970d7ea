//! Tools that make modules, by the number in the header.

/// Registered tools (`spir-v.xml` in the SPIR-V headers), by their numbers.
const TOOLS: [(u32, &str); 28] = [
    (6, "LLVM/SPIR-V Translator"),
    (7, "SPIR-V Tools Assembler"),
    (8, "Glslang"),
    (13, "Shaderc over Glslang"),
    (14, "DXC (spiregg)"),
    (15, "rspirv"),
    (16, "Mesa GLSL-IR/SPIR-V Translator"),
    (17, "SPIR-V Tools Linker"),
    (18, "VKD3D Shader Compiler"),
    (19, "Clay Shader Compiler"),
    (20, "WHLSL Shader Translator"),
    (21, "Clspv"),
    (22, "MLIR SPIR-V Serializer"),
    (23, "Tint"),
    (24, "ANGLE Shader Compiler"),
    (25, "Messiah Shader Compiler"),
    (26, "Xenia Emulator Microcode Translator"),
    (27, "Rust GPU"),
    (28, "Naga"),
    (30, "SpvGenTwo"),
    (31, "Skia SkSL"),
    (32, "Beehive SPIR-V Toolkit"),
    (33, "ShaderWriter"),
    (36, "Taichi"),
    (39, "Nazara ShaderLang Compiler"),
    (40, "Slang"),
    (41, "Zig Compiler"),
    (43, "LLVM SPIR-V Backend"),
];

/// Returns the tool that a header's generator word names, with the version that the tool states;
/// `None` if it is not a registered tool.
pub(crate) fn tool(generator: u32) -> Option<String> {
    let (number, version) = (generator >> 16, generator & 0xffff);
    let (_, name) = TOOLS.iter().find(|(known, _)| *known == number)?;
    Some(format!("{name}, generator version {version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_named_with_their_version() {
        assert_eq!(tool(8 << 16 | 11).as_deref(), Some("Glslang, generator version 11"));
        assert_eq!(tool(0), None);
        assert!(TOOLS.is_sorted_by_key(|(number, _)| *number));
    }
}
