//! The places of a text: its sentences, cells and lines, by a fingerprint each.
//!
//! No text of a document is in this project. A fingerprint is enough to see, where the documents are at hand, that each
//! of their places is spoken for and that none has changed.

/// The sentences, cells and lines of a text, in order, each once. White space counts as one space; what has neither letter nor
/// digit is left out.
pub fn units(text: &str) -> Vec<String> {
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

/// Whether a unit ends between two words.
fn ends(last: &str, next: &str) -> bool {
    let sentence = last.ends_with(['.', ':', ';']) && next.starts_with(char::is_uppercase);
    let markup = ["==", "----", "-", "|"].contains(&next) || next.starts_with("|=");
    sentence || markup || last.starts_with("|=") || last == "----"
}

fn finish(unit: &mut Vec<&str>, all: &mut Vec<String>) {
    let text = unit.join(" ");
    unit.clear();
    if text.contains(char::is_alphanumeric) && !all.contains(&text) {
        all.push(text);
    }
}

/// A unit's fingerprint: eight hexadecimal digits, FNV-1a of 64 bits folded once.
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
    fn a_text_falls_into_sentences_and_cells() {
        let text = "Heading\n\nOne. Two: Three\n| cell | other\n* * *\nOne.\n";
        assert_eq!(units(text), ["Heading", "One.", "Two:", "Three", "| cell", "| other"]);
        assert_eq!(fingerprint(""), "4fd0bfc1");
        assert_ne!(fingerprint("One."), fingerprint("Two:"));
    }
}
