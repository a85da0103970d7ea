//! Texts of HLSL as the installed compilers take them: fxc, the former compiler of HLSL, takes more.

/// Mark at the beginning of a text in UTF-8 that some editors write.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Type that only fxc and dxc know, and its other name, with as many columns.
const LONG: &str = "unsigned int";
const SHORT: &str = "uint        ";

/// Returns the text that a compiler of HLSL gets, if it differs: without a byte order mark, without
/// `const` before uniforms, which glslang takes for constants with the value zero, with `uint` for `unsigned
/// int`, which only fxc and dxc know, with functions for the lengths of buffers ([`with_buffer_lengths`]),
/// and with structures of push constants as constant buffers ([`with_push_constant_buffer`]). Lines keep
/// their numbers.
pub(crate) fn adapted_hlsl(text: &str) -> Option<String> {
    let unmarked = text.trim_start_matches(BYTE_ORDER_MARK);
    let without_const = |line: &str| {
        let is_uniform = line.trim_start().starts_with("const ")
            && line.split("//").next().is_some_and(|code| code.trim_end().ends_with(';') && !code.contains(['=', '(']));
        if is_uniform { line.replacen("const", "     ", 1) } else { line.to_owned() }
    };
    let adapt = |line: &str| with_push_constant_buffer(unmarked, &with_word(&without_const(line), LONG, SHORT)) + "\n";
    let adapted = with_buffer_lengths(unmarked.lines().map(adapt).collect());
    let is_changed = unmarked.len() < text.len() || adapted.trim_end() != unmarked.trim_end();
    is_changed.then_some(adapted)
}

/// Property of a buffer that fxc knows: the number of its elements.
const LENGTH: &str = ".Length";

/// Returns a text in which functions with the names of buffers give their lengths, in place of `name.Length`.
/// Each is defined in the line that declares its buffer.
fn with_buffer_lengths(text: String) -> String {
    if !text.contains(LENGTH) {
        return text;
    }
    let buffers: Vec<(&str, bool)> = text.lines().filter_map(declared_buffer).collect();
    let mut changed: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut line = line.to_owned();
        for (name, _) in &buffers {
            line = with_word(&line, &format!("{name}{LENGTH}"), &format!("assay_length_{name}()"));
        }
        let declared = declared_buffer(&line).map(|(name, is_structured)| {
            let (more, stride) = if is_structured { (", stride", "uint stride; ") } else { ("", "") };
            format!(
                " uint assay_length_{name}() {{ uint length; {stride}{name}.GetDimensions(length{more}); return length; }}"
            )
        });
        line.extend(declared);
        changed.push(line + "\n");
    }
    changed.concat()
}

/// Returns the name of the buffer that a line declares, and whether its elements are structures.
fn declared_buffer(line: &str) -> Option<(&str, bool)> {
    let code = line.split("//").next()?.trim();
    let (ty, rest) = code.strip_suffix(';')?.split_once('<')?;
    let is_structured = ["StructuredBuffer", "RWStructuredBuffer"].contains(&ty.trim());
    let name = rest.rsplit_once('>')?.1.split(':').next()?.trim();
    let is_name = !name.is_empty() && name.chars().all(is_part_of_name);
    (is_name && (is_structured || ["Buffer", "RWBuffer"].contains(&ty.trim()))).then_some((name, is_structured))
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns a line with another text in place of a word.
fn with_word(line: &str, word: &str, other: &str) -> String {
    let (mut rest, mut out) = (line, String::new());
    while let Some((before, after)) = rest.split_once(word) {
        let is_word = !before.ends_with(is_part_of_name) && !after.starts_with(is_part_of_name);
        out.extend([before, if is_word { other } else { word }]);
        rest = after;
    }
    out + rest
}

/// Attribute of push constants in HLSL for Vulkan.
const PUSH_CONSTANT: &str = "[[vk::push_constant]]";

/// Returns a line of a text in which a structure of push constants is a constant buffer: of
/// `[[vk::push_constant]] T name;`, which dxc documents, glslang makes a member of a uniform buffer.
fn with_push_constant_buffer(text: &str, line: &str) -> String {
    let declared = line.split_once(PUSH_CONSTANT).map(|(before, rest)| (before, rest.split_whitespace()));
    match declared.map(|(before, mut words)| (before, words.next(), words.next(), words.next())) {
        Some((before, Some(ty), Some(name), None)) if name.ends_with(';') && text.contains(&format!("struct {ty}")) => {
            format!("{before}{PUSH_CONSTANT} ConstantBuffer<{ty}> {name}")
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsigned_integers_have_their_short_name() {
        let text = "for (unsigned int i = 0; i < n; i++) { unsigned integer; }\n";
        assert_eq!(adapted_hlsl(text), Some(text.replace("unsigned int ", "uint         ")));
        assert_eq!(adapted_hlsl("uint i = 0;\n"), None);
    }

    #[test]
    fn push_constants_are_a_constant_buffer() {
        let text = "struct Push { uint count; };\n[[vk::push_constant]] Push push;\n";
        let buffer = text.replace("] Push push", "] ConstantBuffer<Push> push");
        assert_eq!(adapted_hlsl(text).as_ref(), Some(&buffer));
        let others = ["[[vk::push_constant]] cbuffer Push { uint count; };\n", "[[vk::push_constant]] uint count;\n"];
        for text in others.into_iter().chain([buffer.as_str()]) {
            assert_eq!(adapted_hlsl(text), None, "{text}");
        }
    }

    #[test]
    fn buffers_have_functions_for_their_lengths() {
        let text = "StructuredBuffer<Body> bodies : register(t0); // all\nRWBuffer<float> sums;\nTexture2D<float> picture;\n\
                    if (id.x < bodies.Length && my_bodies.Length < sums.Length && picture.Length) {}\n";
        let adapted = adapted_hlsl(text).unwrap();
        let lines: Vec<&str> = adapted.lines().collect();
        assert_eq!(
            lines[1],
            "RWBuffer<float> sums; uint assay_length_sums() { uint length; sums.GetDimensions(length); return length; }"
        );
        assert_eq!(
            lines[3],
            "if (id.x < assay_length_bodies() && my_bodies.Length < assay_length_sums() && picture.Length) {}"
        );
        assert_eq!(lines.len(), 4);
        assert_eq!(adapted_hlsl("StructuredBuffer<Body> bodies;\n"), None);
    }
}
