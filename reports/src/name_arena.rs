//! Memory-efficient list of names.

use std::cmp::Ordering;

/// List of names, stored contiguously in one string with end offsets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameArena {
    text: String,
    ends: Vec<usize>,
}

impl NameArena {
    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the name at an index; empty if out of range.
    pub fn get(&self, at: usize) -> &str {
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(at).map_or("", |&end| &self.text[start..end])
    }

    /// Iterates over the names in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        (0..self.len()).map(|at| self.get(at))
    }

    /// Appends a name.
    pub(crate) fn push(&mut self, name: &str) {
        self.text += name;
        self.ends.push(self.text.len());
    }
}

impl<S: AsRef<str>> FromIterator<S> for NameArena {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> NameArena {
        let mut all = NameArena::default();
        for name in names {
            all.push(name.as_ref());
        }
        all.text.shrink_to_fit();
        all.ends.shrink_to_fit();
        all
    }
}

/// Sorted index of a list of names, for look-up by name.
#[derive(Clone, Debug, Default)]
pub struct NameIndex(Vec<u32>);

impl NameIndex {
    /// Builds the index. Names beyond 2^32 - 1 are not found.
    pub fn new(names: &NameArena) -> NameIndex {
        let mut order: Vec<u32> = (0..u32::try_from(names.len()).unwrap_or(u32::MAX)).collect();
        order.sort_unstable_by(|&a, &b| compare(names.get(a as usize), names.get(b as usize)));
        NameIndex(order)
    }

    /// Returns the index of a name.
    pub fn find(&self, names: &NameArena, name: &str) -> Option<usize> {
        let place = self.0.binary_search_by(|&at| compare(names.get(at as usize), name)).ok()?;
        Some(self.0[place] as usize)
    }

    /// Iterates over the indices in the order of the names.
    pub fn order(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|&at| at as usize)
    }
}

/// Compares names as they are written to deqp-runner's files, with the replaced characters
/// ([`crate::deqp`]), then as they are: only equal names compare equal.
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    let plain = |byte: u8| if matches!(byte, b',' | b'\n' | b'\r') { b'_' } else { byte };
    a.bytes().map(plain).cmp(b.bytes().map(plain)).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_in_order_and_found() {
        let list = ["p.z", "", "p.a,b", "p.a^b", "p.a", "p.\u{e4}"];
        let names: NameArena = list.iter().collect();
        assert_eq!(names.iter().collect::<Vec<_>>(), list);
        assert_eq!((names.len(), names.get(3), names.get(6)), (6, "p.a^b", ""));
        let index = NameIndex::new(&names);
        for (at, name) in list.iter().enumerate() {
            assert_eq!(index.find(&names, name), Some(at));
        }
        assert_eq!(index.find(&names, "p.b"), None);
        // A comma is written as `_`, which sorts after `^`.
        let sorted: Vec<&str> = index.order().map(|at| names.get(at)).collect();
        assert_eq!(sorted, ["", "p.a", "p.a^b", "p.a,b", "p.z", "p.\u{e4}"]);
        assert!(NameArena::default().is_empty() && NameIndex::default().find(&names, "").is_none());
    }
}
