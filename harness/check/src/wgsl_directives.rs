//! Texts that naga refuses although it has what they need: the directive `enable subgroups;` of
//! WGSL, the former name of the address space `immediate`, and native extensions without a directive.

use std::borrow::Cow;
use std::ops::Range;

/// Returns a WGSL text without `subgroups` in its `enable` directives. Blanks take its place, so
/// all positions stay.
pub fn without_enable_subgroups(text: &str) -> Cow<'_, str> {
    let blanks: Vec<Range<usize>> = enable_directives(text).flat_map(|range| blanks_of(text, range)).collect();
    if blanks.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut changed = String::with_capacity(text.len());
    let mut end = 0;
    for range in blanks {
        changed += &text[end..range.start];
        changed.extend(text[range.clone()].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        end = range.end;
    }
    Cow::Owned(changed + &text[end..])
}

/// Returns a WGSL text with the address space `immediate` in place of `push_constant`, its former
/// name. All positions stay.
pub(crate) fn with_immediates(text: Cow<'_, str>) -> Cow<'_, str> {
    const FORMER: &str = "var<push_constant>";
    if text.contains(FORMER) { Cow::Owned(text.replace(FORMER, "var<immediate>    ")) } else { text }
}

/// Returns a WGSL text with `enable` directives for the native extensions that it uses, each of which
/// `rejection` names in turn, and the names of these. Former versions of naga knew no such directives.
/// Lines keep their numbers.
pub(crate) fn with_native_extensions<'a>(
    mut text: Cow<'a, str>,
    rejection: impl Fn(&str) -> Option<String>,
) -> (Cow<'a, str>, Vec<String>) {
    let mut added: Vec<String> = Vec::new();
    while let Some(name) = rejection(&text).and_then(|message| native_extension(&message))
        && !added.contains(&name)
    {
        text = Cow::Owned(format!("{ENABLE} {name}; {text}"));
        added.push(name);
    }
    (text, added)
}

/// Returns the native extension that a message of naga demands. Those of WGSL itself need their
/// directive in every version.
fn native_extension(message: &str) -> Option<String> {
    let name = message.strip_suffix("` enable extension is not enabled")?.strip_prefix("the `")?;
    name.starts_with("wgpu_").then(|| name.to_owned())
}

/// Returns the parts of an `enable` directive to replace by blanks: all of it if it names no other
/// extension.
fn blanks_of(text: &str, directive: Range<usize>) -> Vec<Range<usize>> {
    let names = directive.start + ENABLE.len()..directive.end - 1;
    let mut start = names.start;
    let mut parts = Vec::new();
    for name in text[names].split_inclusive(',') {
        parts.push(start..start + name.len());
        start += name.len();
    }
    let is_subgroups = |part: &Range<usize>| text[part.clone()].trim_end_matches(',').trim() == "subgroups";
    let found: Vec<Range<usize>> = parts.iter().filter(|part| is_subgroups(part)).cloned().collect();
    // A list may end with a comma.
    let others = parts.iter().any(|part| !is_subgroups(part) && !text[part.clone()].trim().is_empty());
    match (found.is_empty(), others) {
        (true, _) => Vec::new(),
        (false, true) => found,
        (false, false) => vec![directive],
    }
}

const ENABLE: &str = "enable";

/// Returns the ranges of the `enable` directives, which stand before all declarations.
fn enable_directives(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += leading_trivia(&text[at..]);
            let word = text[at..].split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
            if !matches!(word, ENABLE | "requires" | "diagnostic") {
                return None;
            }
            let range = at..at + text[at..].find(';')? + 1;
            at = range.end;
            if word == ENABLE {
                return Some(range);
            }
        }
    })
}

/// Returns whether a name may contain a character.
pub(crate) fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length of the blanks and comments at the start of a text.
pub(crate) fn leading_trivia(text: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let blanks = rest.len() - rest.trim_start().len();
        let rest = &rest[blanks..];
        let comment = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else {
            0
        };
        at += blanks + comment;
        if comment == 0 {
            return at;
        }
    }
}

/// Returns the length of the block comment at the start of a text. Block comments nest.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        match rest {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => {
                (depth, at) = (depth - 1, at + 2);
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_directive_becomes_blanks() {
        for (text, expected) in [
            ("enable subgroups;\nfn f() {}", "                 \nfn f() {}"),
            ("// enable subgroups;\nenable f16, subgroups;", "// enable subgroups;\nenable f16,          ;"),
            ("/* a /* b */ */ enable subgroups,f16;", "/* a /* b */ */ enable           f16;"),
            ("diagnostic(off, x);enable\nsubgroups;", "diagnostic(off, x);      \n          "),
            ("enable subgroups_extra;", "enable subgroups_extra;"),
            ("fn f() {} enable subgroups;", "fn f() {} enable subgroups;"),
            ("/*/ enable subgroups;", "/*/ enable subgroups;"),
            ("enable subgroups", "enable subgroups"),
            ("é enable subgroups;", "é enable subgroups;"),
        ] {
            assert_eq!(without_enable_subgroups(text), expected);
        }
    }

    #[test]
    fn naga_compiles_the_former_name_of_an_address_space() {
        let text = "var<push_constant> scale: f32;
            @group(0) @binding(0) var<storage, read_write> data: array<f32>;
            @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                data[id.x] *= scale;
            }";
        let modern = with_immediates(Cow::Borrowed(text));
        assert_eq!(modern.len(), text.len());
        crate::compile_wgsl(&modern, "a.wgsl").unwrap();
    }

    #[test]
    fn native_extensions_get_their_directive() {
        let text = "@group(0) @binding(0) var images: binding_array<texture_2d<f32>, 4>;
            @group(0) @binding(1) var<storage, read_write> sums: array<f32>;
            @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                sums[id.x] = textureLoad(images[1], vec2(0), 0).x;
            }";
        let (whole, added) = with_native_extensions(Cow::Borrowed(text), crate::wgsl::rejection);
        assert_eq!(added, ["wgpu_binding_array"]);
        crate::compile_wgsl(&whole, "a.wgsl").unwrap();
        let (same, added) = with_native_extensions(Cow::Borrowed("const x: f16 = 1h;"), crate::wgsl::rejection);
        assert!(added.is_empty() && same == "const x: f16 = 1h;");
    }

    #[test]
    fn naga_compiles_shaders_without_the_directive() {
        let text = "enable subgroups;
            @group(0) @binding(0) var<storage, read_write> sums: array<u32>;
            @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                sums[id.x] = subgroupAdd(id.x);
            }";
        crate::compile_wgsl(text, "a.wgsl").unwrap();
    }
}
