//! Division of cases among machines.

use std::{fmt, str::FromStr};

/// Method of division.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Division {
    /// By a hash of the case's name: a case stays in its part when other cases are added or
    /// removed.
    Hash,
    /// By the index among the selected cases, in turn: the sizes of parts differ by at most one.
    Slice,
}

/// One of several parts of the selected cases: `hash:2/4`, `slice:1/3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Partition {
    division: Division,
    count: u32,
    number: u32,
}

/// Reason why a text is not a partition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a partition: expected hash:M/N or slice:M/N with M from 1 to N{hint}")]
pub struct PartitionError {
    text: String,
    hint: String,
}

impl Partition {
    /// Returns the number of the part, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// Returns the number of parts.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Returns all parts of the same division, in the order of their numbers.
    pub fn siblings(self) -> impl Iterator<Item = Partition> {
        (1..=self.count).map(move |number| Partition { number, ..self })
    }

    /// Returns true if the case is in this part; `place` is its index among the selected cases.
    pub fn holds(self, name: &str, place: usize) -> bool {
        let key = match self.division {
            Division::Hash => stable_hash(name.as_bytes()),
            Division::Slice => place as u64,
        };
        key % u64::from(self.count) == u64::from(self.number - 1)
    }
}

impl FromStr for Partition {
    type Err = PartitionError;

    fn from_str(text: &str) -> Result<Partition, PartitionError> {
        let error = |hint: &str| PartitionError { text: text.to_owned(), hint: hint.to_owned() };
        let (division, rest) = text.split_once(':').ok_or_else(|| error(""))?;
        let division = match division {
            "hash" => Division::Hash,
            "slice" => Division::Slice,
            _ => return Err(error("")),
        };
        let (number, count) = rest.split_once('/').ok_or_else(|| error(""))?;
        let digits = |text: &str| text.parse::<u32>().map_err(|_| error(""));
        let (number, count) = (digits(number)?, digits(count)?);
        if number == 0 {
            return Err(error("; parts are counted from 1, so add 1 to a number that starts at 0"));
        }
        if number > count {
            return Err(error(&format!("; part {number} of {count} does not exist")));
        }
        Ok(Partition { division, count, number })
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let division = match self.division {
            Division::Hash => "hash",
            Division::Slice => "slice",
        };
        write!(f, "{division}:{}/{}", self.number, self.count)
    }
}

/// Computes a hash that is equal in all versions and on all machines: 64-bit FNV-1a followed by the
/// finalizer of SplitMix64, which makes the low bits depend on the whole text.
pub fn stable_hash(bytes: &[u8]) -> u64 {
    let fnv = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let mut hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, fnv);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_in_one_part_and_parts_are_even() {
        let names: Vec<String> = (0..10_000).map(|i| format!("precision.f32.op{i}.scalar.default")).collect();
        for (text, spread) in [("slice:1/7", 1), ("hash:1/7", 300)] {
            let parts: Vec<Partition> = text.parse::<Partition>().unwrap().siblings().collect();
            let sizes: Vec<usize> = parts
                .iter()
                .map(|part| names.iter().enumerate().filter(|(place, name)| part.holds(name, *place)).count())
                .collect();
            assert_eq!(sizes.iter().sum::<usize>(), names.len());
            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(most - least <= spread, "{text}: {sizes:?}");
        }
    }

    #[test]
    fn the_hash_never_changes() {
        // Labs compare parts of different days, so these values of the first version must not
        // change.
        assert_eq!(stable_hash(b""), 0xf52a_15e9_a9b5_e89b);
        assert_eq!(stable_hash(b"precision.f32.exp2.scalar.default"), 0x2fc6_aad2_4213_b0c1);
    }

    #[test]
    fn parts_are_counted_from_one() {
        for text in ["hash:1/1", "slice:3/4"] {
            assert_eq!(text.parse::<Partition>().unwrap().to_string(), text);
        }
        for wrong in [
            "",
            "hash",
            "hash:1",
            "1/2",
            "hash:0/2",
            "hash:3/2",
            "hash:1/0",
            "hash:-1/2",
            "part:1/2",
            "hash:1/99999999999",
        ] {
            let error = wrong.parse::<Partition>().unwrap_err().to_string();
            assert!(error.contains("expected hash:M/N or slice:M/N"), "{error}");
        }
        assert!("hash:0/4".parse::<Partition>().unwrap_err().to_string().contains("counted from 1"));
    }
}
