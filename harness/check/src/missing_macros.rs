//! Values for macros that a build defines and a text does not, and extensions that it does not
//! request.
//!
//! The messages of a compiler lead to the macros: it names an undeclared one, or a line with a
//! syntax error or an `#error`, or a function whose variants all stand under `#if`. The use of a macro in its line tells its kind: a format of an image,
//! a type, or a number. A name may also be undeclared because its declarations stand under `#ifdef`, in
//! the text or in a file that it includes: of several variants, that with the shader's name is taken
//! (`DATA_A_Q6_K` for `dequant_q6_k.comp`), or else the first.

use crate::compute_guards::{declaration_guards, demanded_macro, excluding_macros, selecting_macro};
use std::path::PathBuf;

/// Value of a macro that is a number, as that of an override in WGSL.
pub(crate) const NUMBER: &str = "4";

/// Value of a macro that is a type.
const SCALAR: &str = "float";

/// Value of a macro that is an image format.
const FORMAT: &str = "rgba32f";

/// Value of a macro that qualifies the precision of a variable.
const PRECISION: &str = "highp";

/// Phrases of messages about a name in quotes.
const NAMED: [&str; 5] = [
    "undeclared identifier",
    "undefined identifier",
    "unknown variable",
    "unknown type name",
    "no matching overloaded function",
];

/// Phrases of messages about a line.
const LINES: [&str; 2] = ["syntax error", "unrecognized layout identifier"];

/// Phrase of glslang's message about a word of C++.
const RESERVED: &str = "Reserved word";

/// Phrases of messages about a line in another language.
const FOREIGN: [&str; 2] = [RESERVED, "syntax error"];

/// Phrase of glslang's message about a function whose variants all stand under `#if`.
const WITHOUT_RESULT: &str = "function does not return a value";

/// Phrase of glslang's message about a macro in a condition that must be defined; the name follows.
const CONDITION: &str = "undefined macro in expression not allowed in es profile";

/// A rejected text with the files that it includes.
#[derive(Clone, Copy)]
pub(crate) struct RejectedText<'a> {
    /// Name of the text's file in messages.
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
    /// Included files with their texts.
    pub(crate) files: &'a [(PathBuf, String)],
}

impl<'a> RejectedText<'a> {
    /// Returns the macro without which the compiler reads the line that a message is about, which is
    /// in another language.
    fn excluding_macro(&self, message: &str) -> Option<String> {
        let (text, line) = self.line_of(message)?;
        // A line of a shader with a syntax error rather lacks a macro.
        let is_own = std::ptr::eq(text, self.text);
        excluding_macro(text, line).filter(|_| !is_own || message.contains(RESERVED))
    }

    /// Returns the text of the file that a message is about, with the index of its line.
    fn line_of(&self, message: &str) -> Option<(&'a str, usize)> {
        let included = self.files.iter().filter_map(|(path, text)| Some((path.file_name()?.to_str()?, text.as_str())));
        let mut files = std::iter::once((self.name, self.text)).chain(included);
        files.find_map(|(name, text)| {
            let (before, _) = message.split_once(&format!("{name}:"))?;
            let is_whole = before.is_empty() || before.ends_with(['/', ' ', '\'']);
            Some((text, line_of(message, name)?.checked_sub(1)?)).filter(|_| is_whole)
        })
    }

    /// Returns the names that the text may lack, as a message states: those in quotes, and those in a
    /// line with a syntax error, in which the name of a type is unknown.
    pub(crate) fn lacking_names(&self, message: &str) -> Vec<String> {
        let mut lacking: Vec<String> = Vec::new();
        for message in message.lines() {
            let quoted = NAMED.iter().any(|phrase| message.contains(phrase));
            let quoted = message.split('\'').skip(1).step_by(2).filter(|name| quoted && is_name(name));
            let line = self.line_of(message).and_then(|(text, index)| text.lines().nth(index));
            let line = line.filter(|_| LINES.iter().any(|phrase| message.contains(phrase)));
            let used = line.into_iter().flat_map(names).map(|(_, name)| name).filter(|name| is_name(name));
            for name in quoted.chain(used) {
                if lacking.iter().all(|known| known != name) && self.declarations(name).is_empty() {
                    lacking.push(name.to_owned());
                }
            }
        }
        lacking
    }

    /// Returns the sets of macros that lead to a declaration of a name in the text or an included file.
    fn declarations(&self, name: &str) -> Vec<Vec<String>> {
        let texts = std::iter::once(self.text).chain(self.files.iter().map(|(_, text)| text.as_str()));
        texts.filter(|text| text.contains(name)).flat_map(|text| declaration_guards(text, name)).collect()
    }

    /// Returns the macros of the variant that declares a name: the one with the shader's name, or else
    /// the first. `None` if nothing declares it, or no macro is needed.
    fn variant_with(&self, name: &str) -> Option<Vec<String>> {
        let variants = self.declarations(name);
        let stem = self.name.to_ascii_lowercase();
        let likeness =
            |variant: &&Vec<String>| variant.iter().map(|name| shared_end(&name.to_ascii_lowercase(), &stem)).max();
        // Of equal ones, the first.
        variants.iter().rev().max_by_key(likeness).filter(|_| !variants.iter().any(Vec::is_empty)).cloned()
    }
}

/// Returns the length of the longest end of a name, in whole words, that a text contains.
fn shared_end(name: &str, text: &str) -> usize {
    let words = name.match_indices('_').map(|(at, _)| &name[at + 1..]);
    std::iter::once(name).chain(words).find(|end| end.len() > 1 && text.contains(end)).map_or(0, str::len)
}

/// Returns the macro that keeps a compiler from the line with this index. Headers that shaders share
/// with C++ have its part under `#ifndef SHADER`. The guard of a header is no such macro.
fn excluding_macro(text: &str, line: usize) -> Option<String> {
    let is_guard = |name: &str| definitions(text, name).next().is_some() || name.trim_end_matches('_').ends_with("_H");
    excluding_macros(text, line).into_iter().rev().flatten().find(|name| !is_guard(name))
}

/// Returns definitions (`NAME=VALUE`) of the macros that a rejected text lacks, each once. Macros
/// have names in capital letters.
pub(crate) fn missing_macros(message: &str, rejected: RejectedText<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |name: &str, value: &str| {
        let definition = format!("{name}={value}");
        if !found.contains(&definition) {
            found.push(definition);
        }
    };
    for message in message.lines() {
        let place = rejected.line_of(message);
        let line = place.and_then(|(text, index)| text.lines().nth(index));
        if FOREIGN.iter().any(|phrase| message.contains(phrase))
            && let Some(excluding) = rejected.excluding_macro(message)
        {
            add(&excluding, "1");
        } else if let Some((_, used)) = message.split_once(CONDITION) {
            add(used.trim(), "0");
        } else if let Some(demanded) =
            place.filter(|_| message.contains("#error")).and_then(|(text, index)| demanded_macro(text, index))
        {
            add(&demanded, "1");
        } else if let Some(selecting) =
            place.filter(|_| message.contains(WITHOUT_RESULT)).and_then(|(text, index)| selecting_macro(text, index))
        {
            add(&selecting, "1");
        } else if NAMED.iter().any(|phrase| message.contains(phrase)) {
            for name in message.split('\'').skip(1).step_by(2).filter(|name| is_name(name)) {
                // One of several variants declares it, and nothing else does.
                if let Some(variant) = rejected.variant_with(name) {
                    variant.iter().for_each(|name| add(name, "1"));
                    continue;
                }
                if !is_macro(name) {
                    continue;
                }
                let used = line.and_then(|line| names(line).find(|(_, used)| *used == name).map(|(at, _)| (line, at)));
                match used.map(|(line, at)| value(name, line, at)) {
                    Some(Some(value)) => add(name, &value),
                    Some(None) => {}
                    None => add(name, if name.contains("TYPE") { SCALAR } else { NUMBER }),
                }
            }
        } else if LINES.iter().any(|phrase| message.contains(phrase))
            && let (Some(line), Some((text, _))) = (line, place)
        {
            for line in expansions(line, text) {
                let is_unknown = |name: &str| {
                    is_macro(name)
                        && !declares(text, name)
                        && rejected.declarations(name).iter().all(|guard| !guard.is_empty())
                };
                let is_type = |at: usize, name: &str| line[at + name.len()..].trim_start().starts_with(begins_name);
                let mut previous = None;
                for (at, name) in names(&line) {
                    // The name of a variable may look like a macro: `FLOAT4 X4[]`.
                    let follows_type =
                        previous.replace((at, name)).is_some_and(|(at, name)| is_unknown(name) && is_type(at, name));
                    // As may the name of a block: `buffer BV2 {`.
                    let is_block = line[at + name.len()..].trim_start().starts_with('{');
                    if !is_unknown(name) || is_block || follows_type && !is_type(at, name) {
                        continue;
                    }
                    if let Some(variant) = rejected.variant_with(name) {
                        variant.iter().for_each(|name| add(name, "1"));
                    } else if let Some(value) = value(name, &line, at) {
                        add(name, &value);
                    }
                }
            }
        }
    }
    found
}

/// Replacement of one chosen value of macros by another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Substitution {
    chosen: &'static str,
    other: &'static str,
}

impl Substitution {
    /// The chosen values themselves.
    pub(crate) const NONE: Substitution = Substitution { chosen: NUMBER, other: NUMBER };

    /// Substitutions to try if a text is rejected with the chosen values.
    pub(crate) const OTHERS: [Substitution; 8] = [
        Substitution { chosen: NUMBER, other: "16" },
        Substitution { chosen: NUMBER, other: "64" },
        Substitution { chosen: NUMBER, other: "1" },
        Substitution { chosen: NUMBER, other: "32" },
        Substitution { chosen: SCALAR, other: "vec4" },
        Substitution { chosen: SCALAR, other: "uint" },
        Substitution { chosen: SCALAR, other: "int" },
        Substitution { chosen: SCALAR, other: "vec2" },
    ];

    /// Returns definitions after the substitution. Workgroup sizes in the text keep their values.
    pub(crate) fn apply(self, defines: &[String], text: &str) -> Vec<String> {
        let is_size = |name: &str| {
            let mut lines = text.lines().filter(|line| line.contains("local_size_") || line.contains("numthreads"));
            lines.any(|line| names(line).any(|(_, used)| used == name))
        };
        let replaced = |define: &String| match define.split_once('=') {
            Some((name, value)) if value == self.chosen && !is_size(name) => format!("{name}={}", self.other),
            _ => define.clone(),
        };
        defines.iter().map(replaced).collect()
    }
}

/// Phrase of glslang's message about an extension. One name follows, or several in lines of their
/// own.
const EXTENSION: &str = "required extension not requested:";

/// Returns the extensions of GLSL that a rejected text uses and does not request, each once. Those
/// of a vendor are left out where others do.
pub(crate) fn missing_extensions(message: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, after) in message.match_indices(EXTENSION).map(|(at, phrase)| message.split_at(at + phrase.len())) {
        let words = after.split_whitespace().skip_while(|word| !word.starts_with("GL_"));
        let names: Vec<&str> = words.take_while(|word| word.starts_with("GL_")).collect();
        let is_general = |name: &&str| ["GL_EXT_", "GL_KHR_", "GL_ARB_"].iter().any(|prefix| name.starts_with(prefix));
        let has_general = names.iter().any(is_general);
        for name in names.into_iter().filter(|name| !has_general || is_general(name)) {
            if found.iter().all(|known| known != name) {
                found.push(name.to_owned());
            }
        }
    }
    found
}

/// Returns the value of a macro at a position of a line; `None` for a macro with arguments.
fn value(name: &str, line: &str, at: usize) -> Option<String> {
    let (before, after) = (line[..at].trim_end(), line[at + name.len()..].trim_start());
    let layout = before.rfind("layout").filter(|layout| !before[*layout..].contains(')'));
    if layout.is_some() && before.ends_with(['(', ',']) && after.starts_with([',', ')']) {
        return Some(FORMAT.to_owned());
    }
    if name.contains("PRECISION") {
        return Some(PRECISION.to_owned());
    }
    let is_called = after.starts_with('(');
    if layout.is_none() && (is_called || after.starts_with(begins_name)) {
        let scalar = if name.starts_with("UINT") {
            "uint"
        } else if name.starts_with("INT") {
            "int"
        } else {
            SCALAR
        };
        let is_type = ["FLOAT", "INT", "TYPE", "VEC"].iter().any(|part| name.contains(part));
        let size = name.chars().last().filter(|size| ('2'..='4').contains(size));
        return match size {
            _ if is_called && !is_type => None,
            Some(size) => Some(format!("{}vec{size}", &scalar[..1].replace('f', ""))),
            None => Some(scalar.to_owned()),
        };
    }
    Some(NUMBER.to_owned())
}

/// Returns the number of the line of a file that a message is about: `FILE:12: ..`.
pub(crate) fn line_of(message: &str, name: &str) -> Option<usize> {
    let (_, after) = message.split_once(&format!("{name}:"))?;
    after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn begins_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// Returns the names in a line, with their positions.
pub(crate) fn names(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let parts = line.split(move |c: char| !is_part(c));
    parts.filter(|part| !part.is_empty()).map(move |part| (part.as_ptr() as usize - line.as_ptr() as usize, part))
}

/// Returns a line with the macros that the text defines replaced once by their definitions, except
/// those with arguments: with their first definitions, with their second ones, and so on.
fn expansions(line: &str, text: &str) -> Vec<String> {
    let (mut expansions, mut number) = (Vec::new(), 0);
    loop {
        let (mut expanded, mut end, mut is_last) = (String::new(), 0, true);
        for (at, name) in names(line) {
            let known: Vec<&str> = definitions(text, name).filter(|definition| !definition.starts_with('(')).collect();
            let Some(last) = known.len().checked_sub(1) else { continue };
            expanded += &line[end..at];
            expanded += known[number.min(last)];
            end = at + name.len();
            is_last &= number >= last;
        }
        expansions.push(expanded + &line[end..]);
        if is_last {
            return expansions;
        }
        number += 1;
    }
}

/// Returns the definitions of a macro in a text.
pub(crate) fn definitions<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| {
        let after = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?.trim_start();
        let rest = after.strip_prefix(name)?;
        let ends = rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || c == '(');
        ends.then(|| rest.trim())
    })
}

/// Returns whether a text declares a constant of a name: `const uint NAME = 4`.
fn declares(text: &str, name: &str) -> bool {
    text.lines().filter(|line| line.contains("const ")).any(|line| {
        let declared = names(line).find(|(_, used)| *used == name);
        declared.is_some_and(|(at, _)| line[at + name.len()..].trim_start().starts_with('='))
    })
}

/// Returns whether a text is a name.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(begins_name) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns whether a name has the form of a macro.
pub(crate) fn is_macro(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.len() > 1 && name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(message: &str, text: &str) -> Vec<String> {
        missing_macros(message, RejectedText { name: "a.comp", text, files: &[] })
    }

    #[test]
    fn the_name_of_a_block_is_no_macro() {
        let text = "layout(binding = 1) buffer BV2 {B_TYPE_VEC2 data[];};";
        let found = missing("a.comp:1: '' : syntax error, unexpected IDENTIFIER", text);
        assert_eq!(found, ["B_TYPE_VEC2=vec2"]);
    }

    #[test]
    fn the_part_of_a_header_for_another_language_is_excluded_by_a_macro() {
        let text = "#ifndef STRUCTS_HPP
            #define STRUCTS_HPP
            #define SHADER_SIZE 4
            #ifdef SHADER
            #define T vec3
            #else
            #ifndef STRUCTS_HPP
            typedef float T[3];
            #endif
            typedef float T[4];
            #endif
            typedef int I;
            #endif";
        let typedefs = (0..).zip(text.lines()).filter(|(_, line)| line.contains("typedef"));
        let found: Vec<Option<String>> = typedefs.map(|(at, _)| excluding_macro(text, at)).collect();
        assert_eq!(found, [Some("SHADER".to_owned()), Some("SHADER".to_owned()), None]);
    }

    #[test]
    fn the_macro_of_shaders_is_defined_for_a_header_that_they_share_with_cpp() {
        let header = "#ifdef SHADER\n#define T vec3\n#else\ntypedef float T[3];\n#endif";
        let files = [(PathBuf::from("src/other.h"), String::new()), (PathBuf::from("src/shared.h"), header.to_owned())];
        let text = "#include \"shared.h\"\n#ifndef FAST\nclass x;\n#endif";
        let found = |message: &str| missing_macros(message, RejectedText { name: "a.comp", text, files: &files });
        assert_eq!(found("ERROR: ./src/shared.h:4: 'typedef' : Reserved word."), ["SHADER=1"]);
        assert_eq!(found("ERROR: shared.h:4: '' :  syntax error"), ["SHADER=1"]);
        assert_eq!(found("ERROR: src/unshared.h:4: '' :  syntax error"), [""; 0]);
        assert_eq!(found("ERROR: a.comp:3: 'class' : Reserved word."), ["FAST=1"]);
        assert_eq!(found("ERROR: a.comp:3: '' :  syntax error"), [""; 0]);
    }

    #[test]
    fn a_function_without_a_result_takes_its_first_variant() {
        let text = "float f(float x)
{
#if defined( TRIANGLE )
    return x;
#elif defined( BOX )
    return 1;
#endif
}
float g(float x)
{
}
#ifdef OTHER
#endif";
        let found =
            |line: u32| missing(&format!("ERROR: a.comp:{line}: '' : function does not return a value: f"), text);
        assert_eq!(found(1), ["TRIANGLE=1"]);
        assert_eq!(found(9), [""; 0]);
    }

    #[test]
    fn undeclared_names_in_capitals_are_macros() {
        let message = "glslang rejects it:
            ERROR: it's/a.comp:27: 'MAX_FAULTS' : undeclared identifier
            ERROR: a.comp:28: 'count' : undeclared identifier
            a.hlsl:3:9: error: unknown type name 'VALUE_TYPE'
            a.slang(4): error 30015: undefined identifier 'BANKS'.
            a.comp:30: 'MAX_FAULTS' : undeclared identifier
            a.comp:31: 'CAPITALS' : unknown error";
        assert_eq!(missing(message, ""), ["VALUE_TYPE=float", "BANKS=4", "MAX_FAULTS=4"]);
    }

    #[test]
    fn macros_in_conditions_are_defined() {
        let text = "#if defined(HALF)\n#define FORMAT r16f\n#else\n#error \"unknown format\"\n#endif\n#if FEEDBACK";
        let error = "ERROR: a.comp:4: '#error' : unknown format";
        assert_eq!(missing(error, text), ["HALF=1"]);
        let undefined = format!("ERROR: a.comp:6: 'preprocessor evaluation' : {CONDITION} FEEDBACK ");
        assert_eq!(missing(&undefined, text), ["FEEDBACK=0"]);
        assert_eq!(missing("ERROR: a.comp:6: '#error' : x", text), [""; 0]);
    }

    #[test]
    fn variants_and_other_values_are_tried() {
        let text = "layout(local_size_x = WIDTH) in;\n#ifdef ADD\nfloat total = 1.0;\n#endif\nx = total;";
        let message = "ERROR: a.comp:5: 'total' : undeclared identifier";
        assert_eq!(missing(message, text), ["ADD=1"]);
        let also_without = format!("{text}\nfloat total = 2.0;");
        assert_eq!(missing(message, &also_without), [""; 0]);
        let chosen = ["WIDTH=4", "TILE=4", "TYPE=float", "FORMAT=rgba32f"].map(str::to_owned);
        let with = |substitution: Substitution| substitution.apply(&chosen, text);
        assert_eq!(with(Substitution::NONE), chosen);
        assert_eq!(with(Substitution::OTHERS[0]), ["WIDTH=4", "TILE=16", "TYPE=float", "FORMAT=rgba32f"]);
        assert_eq!(with(Substitution::OTHERS[4]), ["WIDTH=4", "TILE=4", "TYPE=vec4", "FORMAT=rgba32f"]);
    }

    #[test]
    fn the_variant_of_an_included_file_has_the_name_of_the_shader() {
        let types = "#ifndef TYPES\n#define TYPES\n#if defined(DATA_A_F32)\n#define A_TYPE float\n#endif
            #if defined(DATA_A_Q6_K)\n#define A_TYPE block_q6_k\n#endif\n#endif\n#define WIDTH 4";
        let base =
            "#include \"types.comp\"\nbuffer A {A_TYPE data_a[WIDTH];};\n#ifndef B_TYPE\n#error define it\n#endif";
        let files = [("v/types.comp", types), ("v/base.comp", base)];
        let files = files.map(|(name, text)| (PathBuf::from(name), text.to_owned()));
        let found = |message: &str, name: &str| {
            missing_macros(message, RejectedText { name, text: "#include \"base.comp\"", files: &files })
        };
        let syntax = "ERROR: ./v/base.comp:2: '' : syntax error, unexpected IDENTIFIER";
        assert_eq!(found(syntax, "mul_mat_vec_q6_k.comp"), ["DATA_A_Q6_K=1"]);
        assert_eq!(found(syntax, "copy.comp"), ["DATA_A_F32=1"]);
        assert_eq!(found("ERROR: 'v/base.comp:4' : '#error' : define it", "copy.comp"), ["B_TYPE=1"]);
        assert_eq!(found("ERROR: v/other.comp:2: '' : syntax error", "copy.comp"), [""; 0]);
    }

    #[test]
    fn extensions_are_those_that_a_message_names() {
        let message = "glslang rejects it:
            ERROR: a.comp:3: 'uint8_t' : required extension not requested: Possible extensions include:
            GL_AMD_gpu_shader_int16
            GL_EXT_shader_8bit_storage
            GL_EXT_shader_explicit_arithmetic_types
            ERROR: a.comp:4: 'subgroupAdd' : required extension not requested: GL_KHR_shader_subgroup_arithmetic
            ERROR: a.comp:5: 'f' : required extension not requested: GL_NV_gpu_shader5
            ERROR: a.comp:6: 'subgroupAdd' : required extension not requested: GL_KHR_shader_subgroup_arithmetic";
        let found = missing_extensions(message);
        let (storage, arithmetic) = ("GL_EXT_shader_8bit_storage", "GL_EXT_shader_explicit_arithmetic_types");
        assert_eq!(found, [storage, arithmetic, "GL_KHR_shader_subgroup_arithmetic", "GL_NV_gpu_shader5"]);
        assert_eq!(missing_extensions("ERROR: a.comp:5: 'f' : required extension not requested:"), [""; 0]);
    }

    #[test]
    fn the_use_in_a_line_tells_the_kind_of_a_macro() {
        let text = "layout(FORMAT, binding = 0) uniform image2D image;
            buffer Data { A_TYPE data[]; };
            FLOAT4 sum = FLOAT4(0); // KNOWN
            #define KNOWN 1
            const INT3 size = ivec3(1); float x = KNOWN * SIZE;
            float y = UP_DIV(3, 2);
            #define RESULT FLOAT2
            uniform PRECISION sampler2D a; RESULT z;
            FLOAT4 w = FLOAT4(1.0 / FLOAT(n));
            #define DATA HALF4
            #define DATA HALF
            buffer Pairs { DATA X4[]; };";
        let value_at = |line: usize, what: &str| missing(&format!("ERROR: a.comp:{line}: '' :  {what}"), text);
        let syntax = "syntax error, unexpected IDENTIFIER";
        assert_eq!(value_at(1, "unrecognized layout identifier"), ["FORMAT=rgba32f"]);
        assert_eq!(value_at(2, syntax), ["A_TYPE=float"]);
        assert_eq!(value_at(3, syntax), ["FLOAT4=vec4"]);
        assert_eq!(value_at(5, syntax), ["INT3=ivec3", "SIZE=4"]);
        assert_eq!(value_at(6, syntax), [""; 0]);
        assert_eq!(value_at(8, syntax), ["PRECISION=highp", "FLOAT2=vec2"]);
        let called = |name: &str, line: usize| {
            let message = format!("ERROR: a.comp:{line}: '{name}' : no matching overloaded function found");
            missing(&message, text)
        };
        assert_eq!((called("FLOAT4", 3), called("UP_DIV", 6)), (vec!["FLOAT4=vec4".to_owned()], Vec::new()));
        assert_eq!(called("FLOAT", 9), ["FLOAT=float"]);
        assert_eq!(value_at(12, syntax), ["HALF4=vec4", "HALF=float"]);
        assert_eq!(value_at(99, syntax), [""; 0]);
        let text = "layout(constant_id = 0) const uint SIZE = 32;\nshared FLOAT sums[SIZE];";
        let message = format!("ERROR: a.comp:2: '' : {syntax}");
        assert_eq!(missing(&message, text), ["FLOAT=float"]);
    }
}
