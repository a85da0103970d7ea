//! Interned strings.

use std::collections::HashMap;

/// List of distinct strings with their numbers.
#[derive(Debug, Default)]
pub(crate) struct TextTable {
    known: HashMap<String, u32>,
    pub(crate) list: Vec<String>,
}

impl TextTable {
    /// Returns the number of a string, which is added if it is new.
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.known.get(text) {
            return number;
        }
        let number = self.list.len() as u32;
        self.known.insert(text.to_owned(), number);
        self.list.push(text.to_owned());
        number
    }

    /// Returns the string with a number.
    pub(crate) fn get(&self, number: u32) -> &str {
        self.list.get(number as usize).map_or("", String::as_str)
    }
}
