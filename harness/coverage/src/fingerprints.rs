//! Fingerprints of the units of a text: its sentences, table cells and lines.
//!
//! This project does not contain the documents' text. Where the documents are available, the
//! fingerprints show that every unit is accounted for and that none has changed.

/// Splits a text into its sentences, table cells and lines, in order and without duplicates. White
/// space is normalised; units without letters and digits are omitted.
pub fn text_units(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut unit: Vec<&str> = Vec::new();
        for word in line.split_whitespace() {
            if unit.last().is_some_and(|last| ends(last, word)) {
                finish(&mut unit, &mut all);
            }
            unit.push(word);
        }
        finish(&mut unit, &mut all);
    }
    all
}

/// Returns true if a unit ends between two words.
fn ends(last: &str, next: &str) -> bool {
    let sentence = last.ends_with(['.', ':', ';']) && next.starts_with(char::is_uppercase);
    let markup = ["==", "----", "-", "|"].contains(&next) || next.starts_with("|=");
    sentence || markup || last.starts_with("|=") || last == "----"
}

/// Adds the words of a unit to the list, and clears them.
fn finish(unit: &mut Vec<&str>, all: &mut Vec<String>) {
    let text = unit.join(" ");
    unit.clear();
    if text.contains(char::is_alphanumeric) && !all.contains(&text) {
        all.push(text);
    }
}

/// Returns a unit's fingerprint: the 64-bit FNV-1a hash, folded to 32 bits, as eight hexadecimal
/// digits.
pub fn fingerprint(unit: &str) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in unit.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    format!("{:08x}", (hash >> 32) as u32 ^ hash as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_into_sentences_and_cells() {
        let text = "Heading\n\nOne. Two: Three\n| cell | other\n* * *\nOne.\n";
        assert_eq!(text_units(text), ["Heading", "One.", "Two:", "Three", "| cell", "| other"]);
        assert_eq!(fingerprint(""), "4fd0bfc1");
        assert_ne!(fingerprint("One."), fingerprint("Two:"));
    }
}
