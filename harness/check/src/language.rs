//! Languages of shaders.

use assay_spirv::begins_with_magic;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Language of a shader's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    /// WGSL, compiled by naga.
    Wgsl,
    /// GLSL, compiled by an installed program.
    Glsl,
    /// HLSL, compiled by an installed program.
    Hlsl,
    /// Slang, compiled by an installed program.
    Slang,
    /// SPIR-V text, as `spirv-as` reads it.
    SpirvText,
    /// SPIR-V words.
    SpirvWords,
}

impl Language {
    /// Returns the barriers that order accesses to buffers and to images.
    pub(crate) fn memory_barriers(self) -> &'static str {
        match self {
            Language::Wgsl => "storageBarrier(), or textureBarrier() for storage textures",
            Language::Glsl => "memoryBarrierBuffer() or memoryBarrierImage() before it",
            Language::Hlsl | Language::Slang => "AllMemoryBarrierWithGroupSync()",
            Language::SpirvText | Language::SpirvWords => "the semantics UniformMemory or ImageMemory",
        }
    }

    /// Returns the language of a file: SPIR-V words by the magic number, other languages by the
    /// extension (`.wgsl`, `.comp` and `.glsl` unless they hold SPIR-V text or HLSL, `.hlsl`,
    /// `.compute` of the engine Unity, `.slang`) or, for GLSL, by `#version` in the first
    /// directive. Everything else is SPIR-V text.
    pub fn detect(name: &str, bytes: &[u8]) -> Language {
        match Path::new(name).extension().and_then(|extension| extension.to_str()) {
            Some("wgsl") => Language::Wgsl,
            _ if begins_with_magic(bytes) => Language::SpirvWords,
            Some("comp" | "glsl") if states_numthreads(bytes) => Language::Hlsl,
            Some("comp" | "glsl") if !begins_as_assembly(bytes) => Language::Glsl,
            Some("hlsl" | "compute") => Language::Hlsl,
            Some("slang") => Language::Slang,
            _ if std::str::from_utf8(bytes).is_ok_and(begins_with_version) => Language::Glsl,
            _ => Language::SpirvText,
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Language::Wgsl => "WGSL",
            Language::Glsl => "GLSL",
            Language::Hlsl => "HLSL",
            Language::Slang => "Slang",
            Language::SpirvText => "SPIR-V text",
            Language::SpirvWords => "binary SPIR-V",
        }
    }

    /// Returns true if an installed program compiles it.
    pub fn is_external(self) -> bool {
        match self {
            Language::Glsl | Language::Hlsl | Language::Slang => true,
            Language::Wgsl | Language::SpirvText | Language::SpirvWords => false,
        }
    }
}

/// Returns true if a text begins as `spirv-dis` writes it.
fn begins_as_assembly(bytes: &[u8]) -> bool {
    bytes.starts_with(b"; SPIR-V") || bytes.trim_ascii_start().starts_with(b"OpCapability")
}

/// Returns true for a text with HLSL's attribute of the workgroup size, and without GLSL's layout.
fn states_numthreads(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.contains("[numthreads") && !text.contains("local_size_") && !text.contains("#version")
}

/// Returns true if the first directive of a text is `#version`.
fn begins_with_version(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.next().is_some_and(|line| line.starts_with("#version"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_where_the_extension_does_not() {
        let words = 0x0723_0203u32;
        for (name, bytes, language) in [
            ("a.wgsl", &b"fn"[..], Language::Wgsl),
            ("a.comp", b"void main() {}", Language::Glsl),
            ("a.comp", &words.to_le_bytes(), Language::SpirvWords),
            ("a.spv", &words.to_be_bytes(), Language::SpirvWords),
            ("a.txt", b"// a comment\n\n #version 450\n", Language::Glsl),
            ("a.spvasm", b"OpCapability Shader", Language::SpirvText),
            ("a.asm.comp", b"; SPIR-V\n; Version: 1.0", Language::SpirvText),
            ("a.slang", b"", Language::Slang),
            ("a.cs.hlsl", b"", Language::Hlsl),
            ("a.comp", b"[numthreads(10, 10, 1)]\nvoid main() {}", Language::Hlsl),
            ("a.compute", b"#pragma kernel blur", Language::Hlsl),
            ("a", b"\xff", Language::SpirvText),
        ] {
            assert_eq!(Language::detect(name, bytes), language, "{name}");
        }
    }
}
