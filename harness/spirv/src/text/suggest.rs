//! Suggestions for misspelt names.

/// Returns the name among `known` that is most similar to `name`, if any is similar enough.
pub(super) fn nearest_name<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // A name with more than a third of its characters changed is a different name.
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

/// Returns the optimal string alignment distance: the number of insertions, deletions, replacements
/// and swaps of neighbours that turn one name into the other.
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
    fn only_similar_names_are_suggested() {
        let known = ["OpFAdd", "OpFSub", "OpStore"];
        assert_eq!(nearest_name("OpFad", known.into_iter()), Some("OpFAdd"));
        assert_eq!(nearest_name("opstore", known.into_iter()), Some("OpStore"));
        assert_eq!(nearest_name("Something", known.into_iter()), None);
    }
}
