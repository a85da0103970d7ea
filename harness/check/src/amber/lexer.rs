//! Words and lines of a script.

use super::ScriptError;

/// A word: text between spaces, a text in quotes, or one of `,`, `(` and `)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Line, from 1.
    pub(super) line: usize,
}

/// Reader of the words of a script. A `#` begins a comment; a `\` at the end of a line joins it
/// with the next.
pub(super) struct Lexer<'a> {
    rest: &'a str,
    line: usize,
}

/// Returns whether a character separates words.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\x0c' | '\0')
}

/// Returns whether a character is a word of its own.
fn is_mark(c: char) -> bool {
    matches!(c, ',' | '(' | ')')
}

impl<'a> Lexer<'a> {
    /// Returns a lexer of a text whose first line has this number.
    pub(super) fn new(text: &'a str, line: usize) -> Lexer<'a> {
        Lexer { rest: text, line }
    }

    /// Returns the number of the current line.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Returns an error at the current line.
    pub(super) fn error(&self, what: impl Into<String>) -> ScriptError {
        ScriptError { line: self.line, what: what.into() }
    }

    fn skip(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches(is_space);
            if self.rest.starts_with('#') {
                self.rest = &self.rest[self.rest.find('\n').unwrap_or(self.rest.len())..];
            }
            let joined = self.rest.strip_prefix("\\\n").or_else(|| self.rest.strip_prefix("\\\r\n"));
            let Some(next) = joined else { return };
            (self.rest, self.line) = (next, self.line + 1);
        }
    }

    /// Returns the next word of the line; `None` at its end.
    pub(super) fn word(&mut self) -> Option<Word> {
        self.skip();
        let first = self.rest.chars().next().filter(|c| *c != '\n')?;
        let line = self.line;
        if first == '"' {
            let end = self.rest[1..].find(['"', '\n']).map_or(self.rest.len(), |end| end + 1);
            let text = self.rest[1..end].to_owned();
            self.rest = self.rest[end..].strip_prefix('"').unwrap_or(&self.rest[end..]);
            return Some(Word { text, line });
        }
        let end = match is_mark(first) {
            true => 1,
            false => self.rest.find(|c| is_space(c) || is_mark(c) || c == '\n').unwrap_or(self.rest.len()),
        };
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(Word { text: text.to_owned(), line })
    }

    /// Returns the next word of the line without reading it.
    pub(super) fn peek(&mut self) -> Option<Word> {
        let (rest, line) = (self.rest, self.line);
        let word = self.word();
        (self.rest, self.line) = (rest, line);
        word
    }

    /// Reads the next word of the line if it is this one.
    pub(super) fn takes(&mut self, text: &str) -> bool {
        let is_next = self.peek().is_some_and(|word| word.text == text);
        if is_next {
            self.word();
        }
        is_next
    }

    /// Returns the next word of the line.
    ///
    /// # Errors
    /// The line ends; the error names the missing word.
    pub(super) fn expect(&mut self, what: &str) -> Result<Word, ScriptError> {
        self.word().ok_or_else(|| self.error(format!("{what} is missing at the end of the line")))
    }

    /// Reads the next word of the line, which must be this one.
    ///
    /// # Errors
    /// It is another one.
    pub(super) fn must_take(&mut self, text: &str) -> Result<(), ScriptError> {
        match self.word() {
            Some(word) if word.text == text => Ok(()),
            Some(word) => Err(self.error(format!("expected {text}, not `{}`", word.text))),
            None => Err(self.error(format!("{text} is missing at the end of the line"))),
        }
    }

    /// Returns the next word of the line as a number.
    ///
    /// # Errors
    /// It is not a whole number of the type.
    pub(super) fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, ScriptError> {
        let word = self.expect(what)?;
        word.text.parse().map_err(|_| self.error(format!("{what}: `{}` is not a whole number in range", word.text)))
    }

    /// Checks that the line has no further word, and goes to the next line.
    ///
    /// # Errors
    /// It has one.
    pub(super) fn end_line(&mut self) -> Result<(), ScriptError> {
        if let Some(word) = self.word() {
            return Err(self.error(format!("unexpected `{}`", word.text)));
        }
        self.skip_line();
        Ok(())
    }

    /// Goes to the next line.
    pub(super) fn skip_line(&mut self) {
        while self.word().is_some() {}
        if let Some(rest) = self.rest.strip_prefix('\n') {
            (self.rest, self.line) = (rest, self.line + 1);
        }
    }

    /// Returns the next word, also of a later line; `None` at the end of the text.
    pub(super) fn next_word(&mut self) -> Option<Word> {
        loop {
            if let Some(word) = self.word() {
                return Some(word);
            }
            let rest = self.rest.strip_prefix('\n')?;
            (self.rest, self.line) = (rest, self.line + 1);
        }
    }

    /// Returns the text up to the word `END`, which is read, and the number of its first line.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn body(&mut self) -> Result<(&'a str, usize), ScriptError> {
        let start = self.line;
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let whole = |(at, _): &(usize, &str)| {
            !is_part(self.rest[..*at].chars().next_back()) && !is_part(self.rest[at + 3..].chars().next())
        };
        let Some((at, _)) = self.rest.match_indices("END").find(whole) else {
            return Err(self.error("END is missing"));
        };
        let body = &self.rest[..at];
        self.rest = &self.rest[at + 3..];
        self.line += body.matches('\n').count();
        Ok((body, start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_lines_and_comments_are_skipped() {
        let mut lexer = Lexer::new("# head\nBUFFER a \\\n \"b c\" # tail\n(1,2)", 1);
        let words: Vec<(String, usize)> = std::iter::from_fn(|| lexer.next_word()).map(|w| (w.text, w.line)).collect();
        let expected = [("BUFFER", 2), ("a", 2), ("b c", 3), ("(", 4), ("1", 4), (",", 4), ("2", 4), (")", 4)];
        assert_eq!(words, expected.map(|(text, line)| (text.to_owned(), line)));
    }

    #[test]
    fn a_body_ends_at_the_word_end() {
        let mut lexer = Lexer::new("APPEND END_OF\nx\nEND\nRUN", 4);
        assert_eq!(lexer.body().unwrap(), ("APPEND END_OF\nx\n", 4));
        assert_eq!(lexer.next_word().unwrap(), Word { text: "RUN".into(), line: 7 });
        assert_eq!(Lexer::new("no end", 3).body().unwrap_err().line, 3);
    }
}
