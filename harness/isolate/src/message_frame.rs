//! Framing of messages on the pipes: one line for each message, with its length and a checksum, and its
//! data.
//!
//! A line is `0000000e 89abcdef 00000000 00000000 {"say":"beat"}` and a line feed: the length of the JSON
//! text in bytes and its CRC-32, then the same of the data, all in hexadecimal. The JSON text contains no
//! line feed. The data follow the line feed. This distinguishes messages from truncated, damaged and
//! foreign output.

use serde::{Serialize, de::DeserializeOwned};
use std::io::{self, BufRead, Read};

/// Largest size of a message of a worker in bytes. The largest are results with many examples, which
/// are far smaller.
pub(crate) const MAX_EVENT_BYTES: u64 = 1 << 24;

/// Largest size of a message to a worker in bytes. The largest is a setup with a shader's words in
/// hexadecimal.
pub(crate) const MAX_ORDER_BYTES: u64 = 1 << 30;

/// Largest size of the data of a message in bytes. The largest are the contents of a shader's memory.
pub(crate) const MAX_DATA_BYTES: u64 = 1 << 28;

/// Bytes of the lengths and the checksums with the blanks after them.
const HEADER_BYTES: usize = 4 * NUMBER_BYTES;

/// Bytes of a number with the blank after it.
const NUMBER_BYTES: usize = 9;

/// A message, some of which have data that are not sent as JSON.
pub(crate) trait Message: Serialize + DeserializeOwned {
    /// Returns the data.
    fn data(&self) -> &[u8] {
        &[]
    }

    /// Sets the data. Returns false if the message has none.
    fn set_data(&mut self, data: Vec<u8>) -> bool {
        data.is_empty()
    }
}

/// Reason why bytes are not a message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    #[error(transparent)]
    Read(#[from] io::Error),
    #[error("half a message ({0} bytes)")]
    Half(usize),
    #[error("more than {0} bytes without a line feed")]
    Endless(u64),
    #[error("`{0}`, which is no message")]
    Garbage(String),
    #[error("a message that is damaged: its checksum is wrong")]
    Damaged,
    #[error("{0} bytes of data for a message")]
    Data(u32),
    #[error("a message that is not understood: {0}")]
    Unknown(serde_json::Error),
}

/// Returns the line of a message with its data.
pub(crate) fn encode(message: &impl Message) -> Result<Vec<u8>, serde_json::Error> {
    let (json, data) = (serde_json::to_vec(message)?, message.data());
    let sums = [&json, data].map(crc32fast::hash);
    let head = format!("{:08x} {:08x} {:08x} {:08x} ", json.len(), sums[0], data.len(), sums[1]);
    Ok([head.as_bytes(), &json, b"\n", data].concat())
}

/// Reads the next message, of at most `limit` bytes before its data, and data of at most
/// [`MAX_DATA_BYTES`]; returns `None` at the end.
pub(crate) fn read<T: Message>(from: &mut impl BufRead, limit: u64) -> Result<Option<T>, FrameError> {
    let mut line = Vec::new();
    from.by_ref().take(limit).read_until(b'\n', &mut line)?;
    match line.pop() {
        None => return Ok(None),
        Some(b'\n') => {}
        Some(_) if line.len() as u64 + 1 == limit => return Err(FrameError::Endless(limit)),
        Some(_) => return Err(FrameError::Half(line.len() + 1)),
    }
    let garbage = || FrameError::Garbage(String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned());
    let (head, json) = line.split_at_checked(HEADER_BYTES).ok_or_else(garbage)?;
    let number = |bytes: &[u8]| {
        let digits = bytes.strip_suffix(b" ").filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let numbers: Option<Vec<u32>> = head.chunks(NUMBER_BYTES).map(number).collect();
    let [length, sum, data_length, data_sum] = numbers.ok_or_else(garbage)?[..] else { return Err(garbage()) };
    if length as usize != json.len() || sum != crc32fast::hash(json) {
        return Err(FrameError::Damaged);
    }
    let mut message: T = serde_json::from_slice(json).map_err(FrameError::Unknown)?;
    if u64::from(data_length) > MAX_DATA_BYTES {
        return Err(FrameError::Data(data_length));
    }
    let mut data = Vec::new();
    from.by_ref().take(data_length.into()).read_to_end(&mut data)?;
    match data.len() {
        got if got < data_length as usize => Err(FrameError::Half(line.len() + 1 + got)),
        _ if crc32fast::hash(&data) != data_sum => Err(FrameError::Damaged),
        _ if !message.set_data(data) => Err(FrameError::Data(data_length)),
        _ => Ok(Some(message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Sample {
        text: String,
        #[serde(skip)]
        data: Vec<u8>,
    }

    impl Message for Sample {
        fn data(&self) -> &[u8] {
            &self.data
        }

        fn set_data(&mut self, data: Vec<u8>) -> bool {
            self.data = data;
            true
        }
    }

    /// A message without data.
    impl Message for u8 {}

    #[test]
    fn messages_survive_and_every_damage_is_noticed() {
        let sample = Sample { text: "a\nb".to_owned(), data: b"1\n\0".to_vec() };
        let line = encode(&sample).unwrap();
        let mut twice = [line.as_slice(), &line].concat();
        let mut reader = twice.as_slice();
        for _ in 0..2 {
            assert_eq!(read::<Sample>(&mut reader, MAX_EVENT_BYTES).unwrap().unwrap(), sample);
        }
        assert!(read::<Sample>(&mut reader, MAX_EVENT_BYTES).unwrap().is_none());
        for end in 1..line.len() {
            assert!(matches!(read::<Sample>(&mut &line[..end], MAX_EVENT_BYTES), Err(FrameError::Half(n)) if n == end));
        }
        for at in 0..line.len() {
            for bit in 0..8 {
                twice.truncate(line.len());
                twice.copy_from_slice(&line);
                twice[at] ^= 1 << bit;
                // Only the case of hexadecimal digits may change.
                let read = read::<Sample>(&mut twice.as_slice(), MAX_EVENT_BYTES);
                assert!(read.is_err() || twice.eq_ignore_ascii_case(&line), "byte {at}, bit {bit}: {read:?}");
            }
        }
        assert!(matches!(read::<u8>(&mut &b"llvmpipe: hello\n"[..], MAX_EVENT_BYTES), Err(FrameError::Garbage(_))));
        assert!(matches!(read::<u8>(&mut &vec![b'x'; 1 << 25][..], MAX_EVENT_BYTES), Err(FrameError::Endless(_))));
    }

    #[test]
    fn data_of_a_message_without_any_or_of_too_many_bytes_are_refused() {
        let line = String::from_utf8(encode(&7u8).unwrap()).unwrap();
        assert_eq!(read::<u8>(&mut line.as_bytes(), MAX_EVENT_BYTES).unwrap(), Some(7));
        let with_data = format!("{} {:08x} {:08x} 7\nx", &line[..17], 1, crc32fast::hash(b"x"));
        assert!(matches!(read::<u8>(&mut with_data.as_bytes(), MAX_EVENT_BYTES), Err(FrameError::Data(1))));
        let endless = format!("{} ffffffff 00000000 7\n", &line[..17]);
        assert!(matches!(read::<u8>(&mut endless.as_bytes(), MAX_EVENT_BYTES), Err(FrameError::Data(u32::MAX))));
    }
}
