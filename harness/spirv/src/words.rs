//! Modules as words: the header, followed by instructions.

use crate::grammar::Version;

/// First word of every module.
pub const MAGIC: u32 = 0x0723_0203;

/// Returns true if bytes begin with the magic number, in either byte order.
pub fn begins_with_magic(bytes: &[u8]) -> bool {
    [MAGIC.to_le_bytes(), MAGIC.to_be_bytes()].iter().any(|magic| bytes.starts_with(magic))
}

/// Largest id that a module may use: one less than the universal limit on the id bound, 0x3FFFFF.
pub const MAX_ID: u32 = 0x3f_fffe;

/// Number of words of the header.
pub(crate) const HEADER_WORDS: usize = 5;

/// A module's header without its magic number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Version word.
    pub version: u32,
    /// Generator's number in the upper half, its version in the lower half.
    pub generator: u32,
    /// Id bound: all ids are less than this.
    pub bound: u32,
    /// Reserved, 0.
    pub schema: u32,
}

impl Header {
    /// Returns the version of SPIR-V that the version word denotes.
    pub fn spirv_version(&self) -> Option<Version> {
        Version::from_word(self.version)
    }
}

/// A reason why words cannot be split into a header and instructions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordsError {
    /// The length in bytes is not a multiple of four.
    #[error("{bytes} bytes are not a whole number of words")]
    PartialWord {
        /// Length of the input.
        bytes: usize,
    },
    /// The input has fewer words than a header.
    #[error("a header has 5 words, found {words}")]
    NoHeader {
        /// Length of the input.
        words: usize,
    },
    /// The first word is not the magic number in either byte order.
    #[error("first word is {word:#010x}, expected the magic number 0x07230203 in either byte order")]
    Magic {
        /// The first word.
        word: u32,
    },
    /// An instruction's word count is 0.
    #[error("the instruction at word {at} has 0 words, expected at least 1")]
    Empty {
        /// Index of the instruction's first word.
        at: usize,
    },
    /// The last instruction's word count exceeds the number of remaining words.
    #[error("the instruction at word {at} has {words} words, but only {left} are left")]
    Truncated {
        /// Index of the instruction's first word.
        at: usize,
        /// Its word count.
        words: usize,
        /// Number of remaining words.
        left: usize,
    },
}

/// Returns the words of a module's bytes, in either byte order.
pub fn words_from_bytes(bytes: &[u8]) -> Result<Vec<u32>, WordsError> {
    if !bytes.len().is_multiple_of(4) {
        return Err(WordsError::PartialWord { bytes: bytes.len() });
    }
    let (chunks, _) = bytes.as_chunks::<4>();
    match chunks.first() {
        Some(first) if u32::from_le_bytes(*first) == MAGIC => {
            Ok(chunks.iter().map(|c| u32::from_le_bytes(*c)).collect())
        }
        Some(first) if u32::from_be_bytes(*first) == MAGIC => {
            Ok(chunks.iter().map(|c| u32::from_be_bytes(*c)).collect())
        }
        Some(first) => Err(WordsError::Magic { word: u32::from_le_bytes(*first) }),
        None => Err(WordsError::NoHeader { words: 0 }),
    }
}

/// Splits a module into its header and the words of its instructions.
pub(crate) fn split_header(words: &[u32]) -> Result<(Header, &[u32]), WordsError> {
    match words {
        [word, ..] if *word != MAGIC => Err(WordsError::Magic { word: *word }),
        [_, version, generator, bound, schema, rest @ ..] => {
            Ok((Header { version: *version, generator: *generator, bound: *bound, schema: *schema }, rest))
        }
        _ => Err(WordsError::NoHeader { words: words.len() }),
    }
}

/// Iterates over a module's instructions, each with the index of its first word in the module.
pub(crate) struct Instructions<'a> {
    words: &'a [u32],
    at: usize,
}

impl<'a> Instructions<'a> {
    /// Creates the iterator. `words` is the whole module, including the header.
    pub(crate) fn new(words: &'a [u32]) -> Self {
        Instructions { words, at: HEADER_WORDS }
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Result<(usize, &'a [u32]), WordsError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.words.get(self.at..).filter(|rest| !rest.is_empty())?;
        let (at, count) = (self.at, (rest[0] >> 16) as usize);
        // An error ends the iteration, because the start of the next instruction is unknown.
        self.at = self.words.len();
        if count == 0 {
            return Some(Err(WordsError::Empty { at }));
        }
        let Some(instruction) = rest.get(..count) else {
            return Some(Err(WordsError::Truncated { at, words: count, left: rest.len() }));
        };
        self.at = at + count;
        Some(Ok((at, instruction)))
    }
}

/// Reads a literal string. Returns its text and its number of words; `None` if it is not
/// terminated, not UTF-8 or not padded with zeros.
pub(crate) fn string(words: &[u32]) -> Option<(String, usize)> {
    let mut bytes = Vec::new();
    for (i, word) in words.iter().enumerate() {
        let chunk = word.to_le_bytes();
        if let Some(end) = chunk.iter().position(|&b| b == 0) {
            bytes.extend_from_slice(&chunk[..end]);
            let padded = chunk[end..].iter().all(|&b| b == 0);
            return if padded { Some((String::from_utf8(bytes).ok()?, i + 1)) } else { None };
        }
        bytes.extend_from_slice(&chunk);
    }
    None
}

/// Reads a literal string of a debug instruction (`OpSource`, `OpSourceContinued`, `OpString`).
/// Returns its bytes and its number of words.
///
/// Such a string has no effect on the module's results, and compilers break its rules: glslang 11
/// spoils characters that are not ASCII, and compilers that split a long source text split
/// characters. The string therefore need not be UTF-8, and it may end with its instruction.
pub(crate) fn debug_string(words: &[u32]) -> (Vec<u8>, usize) {
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let end = bytes.iter().position(|byte| *byte == 0);
    bytes.truncate(end.unwrap_or(bytes.len()));
    (bytes, end.map_or(words.len(), |end| end / 4 + 1))
}

/// Appends the words of a literal string: its bytes, a zero, and zeros up to a whole word.
pub(crate) fn push_string(text: &[u8], words: &mut Vec<u32>) {
    let (chunks, rest) = text.as_chunks::<4>();
    words.extend(chunks.iter().map(|c| u32::from_le_bytes(*c)));
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    words.push(u32::from_le_bytes(last));
}
