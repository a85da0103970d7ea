//! Compute entry points of HLSL and Slang, from the text.

use crate::include_search::included_files;
use crate::wgsl_directives::is_name_part;
use std::path::{Path, PathBuf};

/// Returns the names of the compute entry points of an HLSL or Slang text: the functions with
/// `[numthreads(..)]`, in their order. Comments and macros do not count. Of a text of the engine Unity, those
/// that it lists as kernels; without any such function, all that it lists.
pub(crate) fn entry_names(text: &str) -> Vec<String> {
    let text = Directives::of(text).others;
    let (functions, kernels) = (functions(&text), kernels(&text));
    let listed: Vec<String> = functions.iter().filter(|name| kernels.contains(name)).cloned().collect();
    distinct(match (functions.is_empty(), listed.is_empty()) {
        (true, _) => kernels,
        (false, true) => functions,
        (false, false) => listed,
    })
}

/// Returns the names in the directives `#pragma kernel` of a text.
fn kernels(text: &str) -> Vec<String> {
    kernel_directives(text).filter_map(|words| words.split_whitespace().next().map(str::to_owned)).collect()
}

/// Returns what follows `#pragma kernel` in the lines of a text.
fn kernel_directives(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let directive = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("pragma")?;
        directive.trim_start().strip_prefix("kernel")
    })
}

/// Returns the macros, as `NAME=VALUE`, with which a text of the engine Unity compiles a kernel: those of the
/// first directive `#pragma kernel ENTRY NAME=VALUE ..` that agrees with the given ones, and the number of
/// such directives.
pub(crate) fn kernel_macros(text: &str, entry: &str, given: &[String]) -> (Vec<String>, usize) {
    let text = without_comments(text);
    let of_entry = |words: &str| {
        let mut words = words.split_whitespace();
        (words.next() == Some(entry)).then(|| words.map(str::to_owned).collect::<Vec<String>>())
    };
    let variants: Vec<Vec<String>> = kernel_directives(&text).filter_map(of_entry).collect();
    let name = |define: &str| define.split('=').next().unwrap_or_default().to_owned();
    let agrees = |variant: &&Vec<String>| {
        let differs = |define: &String| given.iter().any(|other| name(other) == name(define) && other != define);
        !variant.iter().any(differs)
    };
    let mut macros = variants.iter().find(agrees).cloned().unwrap_or_default();
    macros.retain(|define| !given.contains(define));
    (macros, variants.len())
}

/// Returns the names of the compute entry points of an HLSL or Slang text: its own, those that it
/// declares through macros, or else those of the files that it includes. The variants of a shader
/// are often files with macros and an `#include`.
pub(crate) fn entry_names_with(text: &str, included: &[(PathBuf, String)]) -> Vec<String> {
    let own = entry_names(text);
    if !own.is_empty() {
        return own;
    }
    let texts: Vec<Directives> =
        [text].into_iter().chain(included.iter().map(|(_, text)| &**text)).map(Directives::of).collect();
    let macros: Vec<EntryMacro> =
        texts.iter().flat_map(|text| text.macros.iter().filter_map(|line| EntryMacro::of(line))).collect();
    let used = |text: &Directives| macros.iter().flat_map(|entry| entry.used_in(&text.others)).collect::<Vec<_>>();
    distinct(texts.iter().flat_map(|text| [functions(&text.others), used(text)].concat()))
}

/// Returns the names of the compute entry points of an HLSL or Slang file ([`entry_names_with`]).
pub fn entry_names_of_file(path: &Path, text: &str) -> Vec<String> {
    entry_names_with(text, &included_files(path, text, &[]).files)
}

/// Checks that a text or one of its included files contains the name of an entry point: glslang
/// makes an empty function of an unknown one.
///
/// # Errors
/// None does. The error lists the entry points.
pub(crate) fn must_name_entry(entry: &str, text: &str, included: &[(PathBuf, String)]) -> Result<(), String> {
    let names = |text: &str| text.split(|c| !is_name_part(c)).any(|word| word == entry);
    if names(text) || included.iter().any(|(_, text)| names(text)) {
        return Ok(());
    }
    let has = match &entry_names_with(text, included)[..] {
        [] => String::new(),
        entries => format!("; it has {}", entries.join(", ")),
    };
    Err(format!("no function `{entry}` for the entry point{has}"))
}

/// A text without comments, divided into macros and the rest.
struct Directives {
    /// The lines with `#define`, continued lines joined.
    macros: Vec<String>,
    others: String,
}

impl Directives {
    fn of(text: &str) -> Directives {
        let text = without_comments(text).replace("\\\r\n", " ").replace("\\\n", " ");
        let is_macro = |line: &&str| {
            line.trim_start().strip_prefix('#').is_some_and(|line| line.trim_start().starts_with("define"))
        };
        let (macros, others): (Vec<&str>, Vec<&str>) = text.lines().partition(is_macro);
        Directives { macros: macros.into_iter().map(str::to_owned).collect(), others: others.join("\n") }
    }
}

/// A macro that declares an entry point whose name is one of its parameters.
struct EntryMacro {
    name: String,
    /// Index of the parameter with the name of the entry point.
    parameter: usize,
}

impl EntryMacro {
    /// Returns the macro of a line with `#define`, if it is one.
    fn of(line: &str) -> Option<EntryMacro> {
        let (head, body) = line.split_once("define")?.1.split_once(')')?;
        let (name, parameters) = head.split_once('(')?;
        let declared = functions(body).into_iter().next()?;
        let parameter = parameters.split(',').position(|parameter| parameter.trim() == declared)?;
        Some(EntryMacro { name: name.trim().to_owned(), parameter })
    }

    /// Returns the names of the entry points that a text declares with the macro.
    fn used_in(&self, text: &str) -> Vec<String> {
        let is_whole = |at: &usize| !text[..*at].ends_with(is_name_part);
        let uses = text.match_indices(&*self.name).map(|(at, _)| at).filter(is_whole);
        let after = uses.map(|at| &text[at + self.name.len()..]);
        let arguments = after.filter_map(|after| after.trim_start().strip_prefix('(')?.split_once(')'));
        arguments
            .filter_map(|(arguments, _)| arguments.split(',').nth(self.parameter))
            .map(|name| name.trim().to_owned())
            .collect()
    }
}

/// Parts of the attributes of other stages that have `[numthreads(..)]`.
const OTHER_STAGES: [&str; 4] = ["outputtopology", "\"mesh\"", "\"amplification\"", "\"task\""];

/// Returns the names of the functions with `[numthreads(..)]` in a text without comments, except
/// those of mesh and task shaders.
fn functions(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split("numthreads").collect();
    let names = parts.windows(2).filter_map(|pair| {
        let [before, after] = pair else { return None };
        let (_, mut after) = after.split_once(']')?;
        // The other attributes of the function, before and after this one.
        let mut attributes = before.rsplit(['}', ';']).next().unwrap_or_default().to_owned();
        while let Some(rest) = after.trim_start().strip_prefix('[') {
            let (attribute, rest) = rest.split_once(']')?;
            attributes += attribute;
            after = rest;
        }
        if OTHER_STAGES.iter().any(|mark| attributes.contains(mark)) {
            return None;
        }
        let (declaration, _) = after.split_once('(')?;
        let name = declaration.split_whitespace().last()?;
        name.chars().all(is_name_part).then(|| name.to_owned())
    });
    names.collect()
}

/// Returns names without repetition: a text may declare an entry point once for each value of a
/// macro.
fn distinct(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Returns a text without its comments.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let comment = match rest.as_bytes() {
            [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            _ => {
                kept.push('/');
                rest = &rest[1..];
                continue;
            }
        };
        kept.push(' ');
        rest = &rest[comment..];
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_a_text_of_unity_does_not_list_is_no_kernel() {
        let functions = "[numthreads(8, 1, 1)] void Sum() {}\n[numthreads(8, 1, 1)] void Old() {}\n";
        assert_eq!(entry_names(&format!("#pragma kernel Sum\n// #pragma kernel Old\n{functions}")), ["Sum"]);
        assert_eq!(entry_names(functions), ["Sum", "Old"]);
        assert_eq!(entry_names(&format!("#pragma kernel Other\n{functions}")), ["Sum", "Old"]);
    }

    #[test]
    fn a_kernel_has_the_macros_of_its_directive() {
        let text =
            "#pragma kernel Sum // all\n#pragma kernel FFT SIZE=32 AXIS=x // rows\n#pragma kernel FFT SIZE=256 FLAG\n";
        let macros = |entry: &str, given: &[&str]| {
            let given: Vec<String> = given.iter().map(|define| (*define).to_owned()).collect();
            let (macros, variants) = kernel_macros(text, entry, &given);
            (macros.join(" "), variants)
        };
        assert_eq!(macros("Sum", &[]), (String::new(), 1));
        assert_eq!(macros("FFT", &[]), ("SIZE=32 AXIS=x".to_owned(), 2));
        assert_eq!(macros("FFT", &["SIZE=256"]), ("FLAG".to_owned(), 2));
        assert_eq!(macros("FFT", &["SIZE=8"]), (String::new(), 2));
    }

    #[test]
    fn entry_points_follow_numthreads() {
        let text = "// [numthreads(1, 1, 1)] void old() {}
            [shader(\"compute\")]\n[numthreads(8, 8, 1)]\nvoid blur(uint3 id : SV_DispatchThreadID) {}
            /* [numthreads(1,1,1)] void older() {} */
            [numthreads(64, 1, 1)] void sum() { a / b; }";
        assert_eq!(entry_names(text), ["blur", "sum"]);
        assert_eq!(entry_names("void main() {}"), [""; 0]);
        let unity =
            "#pragma kernel Rain\n#pragma kernel Flow WIDE\n#define SIZE numthreads(8, 8, 1)\n[SIZE] void Rain() {}";
        assert_eq!(entry_names(unity), ["Rain", "Flow"]);
    }

    #[test]
    fn mesh_and_task_shaders_are_not_compute_entry_points() {
        let text = "[outputtopology(\"triangle\")]\n[numthreads(32, 1, 1)] void a() {}
            [numthreads(32, 1, 1)]\n[outputtopology(\"line\")] void b() {}
            [shader(\"mesh\")] [numthreads(1, 1, 1)] void c() {}
            [shader(\"amplification\")] [numthreads(1, 1, 1)] void d() {}
            [numthreads(8, 8, 1)] [shader(\"compute\")] void e() {}";
        assert_eq!(entry_names(text), ["e"]);
    }

    /// As the shaders of a library that also compiles to Metal declare theirs.
    #[test]
    fn entry_points_are_declared_through_macros() {
        let included = "#define BEGIN(type, name, x) \\\n  [numthreads(x, 1, 1)] \\\n  type name(
            #define END )
            #define SQUARE(x) ((x) * (x))";
        let included = [(PathBuf::from("core.h"), included.to_owned())];
        let text = "NOT_BEGIN(void, other, 64)\nBEGIN(void, clear, 64)\nuint3 id : SV_DispatchThreadID END { data[id.x] = SQUARE(2); }";
        assert_eq!(entry_names_with(text, &included), ["clear"]);
        assert_eq!(entry_names_with("void main() {}", &included), [""; 0]);
        assert_eq!(entry_names(&included[0].1), [""; 0]);
    }
}
