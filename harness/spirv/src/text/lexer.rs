//! Lexer: splits text into tokens, independently of the grammar.

/// A token of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// The token's text, including quotes.
    pub(super) text: &'a str,
    /// Byte offset in the text.
    pub(super) at: usize,
    /// Set for the first token of a line.
    pub(super) starts_line: bool,
}

/// A string literal without a closing quote; the offset at which it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unterminated(pub(super) usize);

/// Iterates over the tokens of a text.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// Set if no token has been read since the last line break.
    line_start: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Lexer { text, at: 0, line_start: true }
    }

    /// Returns the next token; `None` at the end of the text.
    pub(super) fn next(&mut self) -> Result<Option<Token<'a>>, Unterminated> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                None => return Ok(None),
                Some(b'\n') => self.line_start = true,
                Some(b' ' | b'\t' | b'\r') => {}
                Some(b';') => {
                    while bytes.get(self.at).is_some_and(|&b| b != b'\n') {
                        self.at += 1;
                    }
                    continue;
                }
                Some(_) => break,
            }
            self.at += 1;
        }
        let start = self.at;
        let (mut quoted, mut escaped) = (false, false);
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => quoted = !quoted,
                b' ' | b'\t' | b'\r' | b'\n' | b';' if !quoted => break,
                _ => {}
            }
            self.at += 1;
        }
        if quoted {
            return Err(Unterminated(start));
        }
        let starts_line = std::mem::replace(&mut self.line_start, false);
        Ok(Some(Token { text: &self.text[start..self.at], at: start, starts_line }))
    }
}

/// Returns line and column, both counted from 1, of a byte offset; columns count characters.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    (line, before[start..].chars().count() + 1)
}
