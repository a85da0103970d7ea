//! Name of the source file in a module that was compiled from a temporary copy.

use assay_spirv::tables::Op;

/// Returns the words of a module with another name of its source file, for locations in messages.
pub(crate) fn renamed(words: &[u32], from: &str, to: &str) -> Vec<u32> {
    /// Words before the first instruction.
    const HEADER: usize = 5;
    let literal = |text: &str| -> Vec<u32> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(text.len() / 4 * 4 + 4, 0);
        bytes.chunks(4).map(|word| word.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte))).collect()
    };
    let (from, to) = (literal(from), literal(to));
    let (header, mut rest) = words.split_at(HEADER.min(words.len()));
    let mut renamed = header.to_vec();
    while let Some(first) = rest.first() {
        let length = (*first as usize >> 16).clamp(1, rest.len());
        let (instruction, after) = rest.split_at(length);
        rest = after;
        match instruction {
            [first, id, text @ ..] if first & 0xffff == Op::String as u32 && text == from => {
                renamed.extend([((to.len() as u32 + 2) << 16) | Op::String as u32, *id]);
                renamed.extend(&to);
            }
            other => renamed.extend(other),
        }
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_source_file_is_replaced() {
        let text = |name: &str| format!("OpCapability Shader\nOpMemoryModel Logical GLSL450\n%1 = OpString \"{name}\"");
        let words = |name: &str| assay_spirv::assemble(&text(name)).unwrap();
        assert_eq!(renamed(&words("/tmp/x"), "/tmp/x", "a.amber:fill"), words("a.amber:fill"));
        assert_eq!(renamed(&words("other"), "/tmp/x", "a.amber:fill"), words("other"));
    }
}
