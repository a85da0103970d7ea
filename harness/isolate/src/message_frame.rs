//! Framing of messages on the pipes: one line for each message, with its length and a checksum.
//!
//! A line is `0000001f 89abcdef {"say":"beat"}` and a line feed: the length of the JSON text in
//! bytes and its CRC-32, both in hexadecimal. The JSON text contains no line feed. This
//! distinguishes messages from truncated, damaged and foreign output.

use serde::{Serialize, de::DeserializeOwned};
use std::io::{self, BufRead, Read};

/// Largest size of a message of a worker in bytes. The largest are results with many examples, which
/// are far smaller.
pub(crate) const MAX_EVENT_BYTES: u64 = 1 << 24;

/// Largest size of a message to a worker in bytes. The largest is a setup with a shader's words in
/// hexadecimal.
pub(crate) const MAX_ORDER_BYTES: u64 = 1 << 30;

/// Bytes of the length and the checksum with the blanks after them.
const HEADER_BYTES: usize = 18;

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
    #[error("a message that is not understood: {0}")]
    Unknown(serde_json::Error),
}

/// Returns the line of a message.
pub(crate) fn encode(message: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let json = serde_json::to_vec(message)?;
    let mut line = format!("{:08x} {:08x} ", json.len(), crc32fast::hash(&json)).into_bytes();
    line.extend_from_slice(&json);
    line.push(b'\n');
    Ok(line)
}

/// Reads the next message, of at most `limit` bytes; returns `None` at the end.
pub(crate) fn read<T: DeserializeOwned>(from: &mut impl BufRead, limit: u64) -> Result<Option<T>, FrameError> {
    let mut line = Vec::new();
    from.take(limit).read_until(b'\n', &mut line)?;
    match line.pop() {
        None => return Ok(None),
        Some(b'\n') => {}
        Some(_) if line.len() as u64 + 1 == limit => return Err(FrameError::Endless(limit)),
        Some(_) => return Err(FrameError::Half(line.len() + 1)),
    }
    let garbage = || FrameError::Garbage(String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned());
    let (head, json) = line.split_at_checked(HEADER_BYTES).ok_or_else(garbage)?;
    let number = |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u32::from_str_radix(text, 16).ok()
    };
    let (length, sum) = (number(&head[..8]).ok_or_else(garbage)?, number(&head[9..17]).ok_or_else(garbage)?);
    if head[8] != b' ' || head[17] != b' ' {
        return Err(garbage());
    }
    if length as usize != json.len() || sum != crc32fast::hash(json) {
        return Err(FrameError::Damaged);
    }
    serde_json::from_slice(json).map(Some).map_err(FrameError::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_and_every_damage_is_noticed() {
        let line = encode(&vec!["a\nb", "c"]).unwrap();
        let mut twice = [line.as_slice(), &line].concat();
        let mut reader = twice.as_slice();
        for _ in 0..2 {
            assert_eq!(read::<Vec<String>>(&mut reader, MAX_EVENT_BYTES).unwrap().unwrap(), ["a\nb", "c"]);
        }
        assert!(read::<Vec<String>>(&mut reader, MAX_EVENT_BYTES).unwrap().is_none());
        for end in 1..line.len() {
            assert!(
                matches!(read::<Vec<String>>(&mut &line[..end], MAX_EVENT_BYTES), Err(FrameError::Half(n)) if n == end)
            );
        }
        for at in 0..line.len() {
            for bit in 0..8 {
                twice.truncate(line.len());
                twice.copy_from_slice(&line);
                twice[at] ^= 1 << bit;
                // Only the case of hexadecimal digits may change.
                let read = read::<Vec<String>>(&mut twice.as_slice(), MAX_EVENT_BYTES);
                assert!(read.is_err() || twice.eq_ignore_ascii_case(&line), "byte {at}, bit {bit}: {read:?}");
            }
        }
        assert!(matches!(read::<u8>(&mut &b"llvmpipe: hello\n"[..], MAX_EVENT_BYTES), Err(FrameError::Garbage(_))));
        assert!(matches!(read::<u8>(&mut &vec![b'x'; 1 << 25][..], MAX_EVENT_BYTES), Err(FrameError::Endless(_))));
    }
}
