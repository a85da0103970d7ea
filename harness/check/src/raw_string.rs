//! Shader texts that are a raw string literal of C++ (`R"(..)"`), which an application includes in
//! its source.

/// Largest length of the delimiter (C++20, [lex.string]).
const MAX_DELIMITER: usize = 16;

/// Note on such a text.
pub(crate) const NOTE: &str = "the text is a raw string literal of C++; its delimiters were left out";

/// Returns the text in a raw string literal, with blanks in place of the delimiters, so that all
/// positions stay; `None` if the text is none.
pub(crate) fn without_raw_string(text: &str) -> Option<String> {
    let (before, literal) = text.split_once("R\"")?;
    let (delimiter, _) = literal.split_once('(')?;
    let is_delimiter = |c: char| c.is_ascii_graphic() && !matches!(c, '(' | ')' | '\\' | '"');
    if !before.trim().is_empty() || delimiter.len() > MAX_DELIMITER || !delimiter.chars().all(is_delimiter) {
        return None;
    }
    let begin = before.len() + "R\"(".len() + delimiter.len();
    let end = text.rfind(&format!("){delimiter}\"")).filter(|end| *end >= begin)?;
    let after = end + ")\"".len() + delimiter.len();
    if !matches!(text[after..].trim(), "" | ";") {
        return None;
    }
    let blank = |text: &str| text.replace(|c: char| !c.is_whitespace(), " ");
    Some(blank(&text[..begin]) + &text[begin..end] + &blank(&text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_become_blanks() {
        let without = |text: &str| without_raw_string(text);
        assert_eq!(without("R\"(\nfn f() {}\n)\"\n").as_deref(), Some("   \nfn f() {}\n  \n"));
        assert_eq!(without("\nR\"w(a(b)\"c\")w\";").as_deref(), Some("\n    a(b)\"c\"    "));
        for other in ["fn f() {}", "const char* s = R\"(a)\"", "R\"(a)\" + b", "R\"(a", "R\"a b(c)a b\"", "R\"(a)b\""] {
            assert_eq!(without(other), None, "{other}");
        }
    }
}
