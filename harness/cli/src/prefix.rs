//! Command prefixes that start a program on another machine: `ssh board7`.

use std::{ffi::OsString, fmt};

/// Words of a command prefix.
#[derive(Clone, Debug)]
pub(crate) struct Prefix(pub(crate) Vec<OsString>);

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shell_words::join(self.0.iter().map(|word| word.to_string_lossy())))
    }
}

/// Splits a command prefix as a shell does.
pub(crate) fn prefix_words(text: &str) -> Result<Prefix, String> {
    let words = shell_words::split(text).map_err(|error| error.to_string())?;
    if words.is_empty() {
        return Err("expected a command, such as 'ssh board7'".to_owned());
    }
    Ok(Prefix(words.into_iter().map(OsString::from).collect()))
}
