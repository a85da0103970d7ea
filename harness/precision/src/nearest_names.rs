//! Valid names close to a misspelt one.

/// The three valid names closest to a misspelt one, best first, for error messages.
pub fn nearest<'a>(name: &str, valid: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_ascii_lowercase();
    let mut nearest: Vec<&str> = valid.collect();
    nearest.sort_by_key(|candidate| distance(&name, &candidate.to_ascii_lowercase()));
    nearest.truncate(3);
    nearest
}

/// Edit distance of two strings.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
