//! Values for macros that a build defines and a text does not.

/// Value of a macro that is not a type, as that of an override in WGSL.
const NUMBER: &str = "4";

/// Value of a macro with "TYPE" in its name.
const TYPE: &str = "float";

/// Phrases with which compilers name something undeclared, in quotes, before or after the phrase.
const PHRASES: [&str; 3] = ["undeclared identifier", "undefined identifier", "unknown type name"];

/// Returns definitions (`NAME=VALUE`) of the macros that a compiler's message names as undeclared,
/// each once: names in capital letters, as macros have.
pub(crate) fn missing_macros(message: &str) -> Vec<String> {
    let lines = message.lines().filter(|line| PHRASES.iter().any(|phrase| line.contains(phrase)));
    let mut found: Vec<String> = Vec::new();
    for name in lines.flat_map(|line| line.split('\'').skip(1).step_by(2)).filter(|name| is_macro(name)) {
        let value = if name.contains("TYPE") { TYPE } else { NUMBER };
        let definition = format!("{name}={value}");
        if !found.contains(&definition) {
            found.push(definition);
        }
    }
    found
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
            a.comp:31: 'CAPITALS' : syntax error";
        assert_eq!(missing_macros(message), ["VALUE_TYPE=float", "BANKS=4", "MAX_FAULTS=4"]);
    }
}
