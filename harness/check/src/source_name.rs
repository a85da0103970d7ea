//! Names of source files in a module that was compiled from temporary copies.

use assay_spirv::tables::Op;

/// Returns the words of a module with other names of its source files, for locations in messages.
/// `name_of` returns the new name of a file; `None` keeps it.
pub(crate) fn renamed(words: &[u32], name_of: impl Fn(&str) -> Option<String>) -> Vec<u32> {
    /// Words before the first instruction.
    const HEADER: usize = 5;
    let literal = |text: &str| -> Vec<u32> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(text.len() / 4 * 4 + 4, 0);
        bytes.chunks(4).map(|word| word.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte))).collect()
    };
    let text_of = |words: &[u32]| {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0);
        String::from_utf8(bytes.collect()).ok()
    };
    let (header, mut rest) = words.split_at(HEADER.min(words.len()));
    let mut renamed = header.to_vec();
    while let Some(first) = rest.first() {
        let length = (*first as usize >> 16).clamp(1, rest.len());
        let (instruction, after) = rest.split_at(length);
        rest = after;
        let new_name = match instruction {
            [first, _, text @ ..] if first & 0xffff == Op::String as u32 => {
                text_of(text).and_then(|name| name_of(&name))
            }
            _ => None,
        };
        match new_name.map(|name| literal(&name)) {
            Some(name) => {
                renamed.extend([((name.len() as u32 + 2) << 16) | Op::String as u32, instruction[1]]);
                renamed.extend(&name);
            }
            None => renamed.extend(instruction),
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
        let name_of = |name: &str| (name == "/tmp/x").then(|| "a.amber:fill".to_owned());
        assert_eq!(renamed(&words("/tmp/x"), name_of), words("a.amber:fill"));
        assert_eq!(renamed(&words("other"), name_of), words("other"));
    }
}
