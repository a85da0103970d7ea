//! Finds the known name that a misspelt one most likely means.

/// The name among `known` nearest to `name`, if any is near enough to be meant.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Misspelling more than a third of a name makes another name.
    let limit = (name.chars().count() / 3).clamp(1, 4);
    if name.len() > 100 {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    known
        .filter(|k| k.len().abs_diff(name.len()) <= limit)
        .map(|k| (distance(&lower, &k.to_ascii_lowercase()), k))
        .filter(|(d, _)| *d <= limit)
        .min()
        .map(|(_, k)| k)
}

/// Edits (insert, delete, replace, swap neighbours) that turn one name into the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let replaced = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_is_forgiven_and_another_word_is_not() {
        let known = ["OpFAdd", "OpFSub", "OpStore"];
        assert_eq!(nearest("OpFad", known.into_iter()), Some("OpFAdd"));
        assert_eq!(nearest("opstore", known.into_iter()), Some("OpStore"));
        assert_eq!(nearest("Something", known.into_iter()), None);
    }
}
