//! Values for macros that a build defines and a text does not.
//!
//! The messages of a compiler lead to the macros: it names an undeclared one, or a line with a syntax
//! error. The use of a macro in its line tells its kind: a format of an image, a type, or a number.

/// Value of a macro that is a number, as that of an override in WGSL.
const NUMBER: &str = "4";

/// Value of a macro that is an image format.
const FORMAT: &str = "rgba32f";

/// Value of a macro that qualifies the precision of a variable.
const PRECISION: &str = "highp";

/// Phrases of messages about a name in quotes.
const NAMED: [&str; 4] =
    ["undeclared identifier", "undefined identifier", "unknown type name", "no matching overloaded function"];

/// Phrases of messages about a line.
const LINES: [&str; 2] = ["syntax error", "unrecognized layout identifier"];

/// Returns definitions (`NAME=VALUE`) of the macros that a rejected text lacks, each once. `name` is the
/// text's file in the message. Macros have names in capital letters.
pub(crate) fn missing_macros(message: &str, text: &str, name: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |name: &str, value: &str| {
        let definition = format!("{name}={value}");
        if !found.contains(&definition) {
            found.push(definition);
        }
    };
    for message in message.lines() {
        let line = line_of(message, name).and_then(|number| text.lines().nth(number.checked_sub(1)?));
        if NAMED.iter().any(|phrase| message.contains(phrase)) {
            for name in message.split('\'').skip(1).step_by(2).filter(|name| is_macro(name)) {
                let used = line.and_then(|line| names(line).find(|(_, used)| *used == name).map(|(at, _)| (line, at)));
                match used.map(|(line, at)| value(name, line, at)) {
                    Some(Some(value)) => add(name, &value),
                    Some(None) => {}
                    None => add(name, if name.contains("TYPE") { "float" } else { NUMBER }),
                }
            }
        } else if LINES.iter().any(|phrase| message.contains(phrase))
            && let Some(line) = line
        {
            let line = expanded(line, text);
            for (at, name) in names(&line).filter(|(_, name)| is_macro(name) && definition(text, name).is_none()) {
                if let Some(value) = value(name, &line, at) {
                    add(name, &value);
                }
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
    let begins_name = |c: char| c.is_ascii_alphabetic() || c == '_';
    if layout.is_none() && (is_called || after.starts_with(begins_name)) {
        let scalar = if name.starts_with("UINT") {
            "uint"
        } else if name.starts_with("INT") {
            "int"
        } else {
            "float"
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
fn line_of(message: &str, name: &str) -> Option<usize> {
    let (_, after) = message.split_once(&format!("{name}:"))?;
    after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Returns the names in a line, with their positions.
fn names(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let parts = line.split(move |c: char| !is_part(c));
    parts.filter(|part| !part.is_empty()).map(move |part| (part.as_ptr() as usize - line.as_ptr() as usize, part))
}

/// Returns a line with the macros that the text defines replaced once by their definitions, except
/// those with arguments.
fn expanded(line: &str, text: &str) -> String {
    let (mut expanded, mut end) = (String::new(), 0);
    for (at, name) in names(line) {
        let Some(definition) = definition(text, name).filter(|definition| !definition.starts_with('(')) else {
            continue;
        };
        expanded += &line[end..at];
        expanded += definition;
        end = at + name.len();
    }
    expanded + &line[end..]
}

/// Returns the definition of a macro in a text, the first if there are several.
fn definition<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let after = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?.trim_start();
        let rest = after.strip_prefix(name)?;
        let ends = rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || c == '(');
        ends.then(|| rest.trim())
    })
}

/// Returns whether a name has the form of a macro.
fn is_macro(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.len() > 1 && name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undeclared_names_in_capitals_are_macros() {
        let message = "glslang rejects it:
            ERROR: it's/a.comp:27: 'MAX_FAULTS' : undeclared identifier
            ERROR: a.comp:28: 'count' : undeclared identifier
            a.hlsl:3:9: error: unknown type name 'VALUE_TYPE'
            a.slang(4): error 30015: undefined identifier 'BANKS'.
            a.comp:30: 'MAX_FAULTS' : undeclared identifier
            a.comp:31: 'CAPITALS' : unknown error";
        assert_eq!(missing_macros(message, "", "a.comp"), ["VALUE_TYPE=float", "BANKS=4", "MAX_FAULTS=4"]);
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
            FLOAT4 w = FLOAT4(1.0 / FLOAT(n));";
        let value_at =
            |line: usize, what: &str| missing_macros(&format!("ERROR: a.comp:{line}: '' :  {what}"), text, "a.comp");
        let syntax = "syntax error, unexpected IDENTIFIER";
        assert_eq!(value_at(1, "unrecognized layout identifier"), ["FORMAT=rgba32f"]);
        assert_eq!(value_at(2, syntax), ["A_TYPE=float"]);
        assert_eq!(value_at(3, syntax), ["FLOAT4=vec4"]);
        assert_eq!(value_at(5, syntax), ["INT3=ivec3", "SIZE=4"]);
        assert_eq!(value_at(6, syntax), [""; 0]);
        assert_eq!(value_at(8, syntax), ["PRECISION=highp", "FLOAT2=vec2"]);
        let called = |name: &str, line: usize| {
            let message = format!("ERROR: a.comp:{line}: '{name}' : no matching overloaded function found");
            missing_macros(&message, text, "a.comp")
        };
        assert_eq!((called("FLOAT4", 3), called("UP_DIV", 6)), (vec!["FLOAT4=vec4".to_owned()], Vec::new()));
        assert_eq!(called("FLOAT", 9), ["FLOAT=float"]);
        assert_eq!(value_at(99, syntax), [""; 0]);
    }
}
