//! Mutations of modules and texts, and their invariants: no panic, and lossless round trips.

use assay_spirv::reflect::Reflection;
use assay_spirv::{Module, Style, assemble, disassemble, words_from_bytes};
use assay_spirv_rules::requirements::Requirements;
use assay_spirv_rules::rules::{self, Environment};

/// Random numbers (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Applies all operations of the library to a module, which may be invalid.
pub(crate) fn exercise_words(words: &[u32]) {
    if let Ok(text) = disassemble(words, Style::Plain) {
        let again = assemble(&text).unwrap_or_else(|e| panic!("our own text is refused: {e}\n{text}"));
        // The assembler raises the bound to cover the ids in use, which a damaged header may not.
        assert!(again[4..] == words[4..] && again[..3] == words[..3], "words change by way of text\n{text}");
    }
    let Ok(module) = Module::parse(words.to_vec()) else { return };
    assert!(module.words() == words);
    let _found = rules::violations(&module, Environment::Vulkan);
    let requirements = Requirements::of(&module);
    let _verdict = requirements.check(&assay_spirv_rules::requirements::DeviceCaps::default()).to_string();
    let _shown = Reflection::new(&module);
    for function in module.functions() {
        let flow = module.flow(function);
        for block in flow.order() {
            let _inside = flow.innermost_construct(*block);
        }
    }
}

/// Applies all operations of the library to bytes.
pub(crate) fn exercise_bytes(bytes: &[u8]) {
    if let Ok(words) = words_from_bytes(bytes) {
        exercise_words(&words);
    }
}

/// Assembles a text, and checks that the words survive conversion to text.
pub(crate) fn exercise_text(text: &str) {
    let Ok(words) = assemble(text) else { return };
    exercise_words(&words);
}

/// Returns the start of each instruction, and the end.
fn starts(words: &[u32]) -> Vec<usize> {
    let mut starts = vec![5];
    while let Some(&word) = starts.last().and_then(|at| words.get(*at)) {
        let next = starts[starts.len() - 1] + (word >> 16).max(1) as usize;
        starts.push(next.min(words.len()));
    }
    starts
}

/// Returns a module with one to four changes.
pub(crate) fn mutate_words(seed: &[u32], random: &mut Random) -> Vec<u32> {
    let mut words = seed.to_vec();
    for _ in 0..=random.below(4) {
        change(&mut words, random);
    }
    words
}

/// Makes one change: moves, deletes, copies or extends an instruction, or replaces a word.
pub(crate) fn change(words: &mut Vec<u32>, random: &mut Random) {
    let starts = starts(words);
    let count = starts.len() - 1;
    if count == 0 {
        return;
    }
    let i = random.below(count);
    let (at, end) = (starts[i], starts[i + 1]);
    match random.below(8) {
        0 => drop(words.drain(at..end)),
        1 => {
            let copy = words[at..end].to_vec();
            let to = starts[random.below(count)];
            words.splice(to..to, copy);
        }
        2 => {
            let cut: Vec<u32> = words.drain(at..end).collect();
            let to = if random.below(2) == 0 { at.saturating_sub(cut.len()).max(5) } else { words.len() };
            words.splice(to..to, cut);
        }
        3 => words[random.below(4) + 1] = random.next() as u32,
        4 => {
            let extra = random.next() as u32 % 64;
            words.insert(end, extra);
            words[at] = words[at].wrapping_add(1 << 16);
        }
        _ => {
            let place = at + random.below(end - at);
            words[place] = match random.below(6) {
                0 => random.next() as u32,
                1 => random.below(40) as u32,
                2 => words[place].wrapping_add(1),
                3 => 1 << random.below(32),
                4 => words[random.below(words.len())],
                _ => 4400 + random.below(200) as u32,
            };
        }
    }
}

/// Returns a text with one to four changes: bytes replaced or inserted, parts removed or copied.
pub(crate) fn mutate_text(seed: &str, random: &mut Random) -> String {
    let mut bytes = seed.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        match random.below(5) {
            0 => bytes[at] = b" \n\"%!;|=\\-0aO"[random.below(13)],
            1 => bytes[at] = random.next() as u8,
            2 => drop(bytes.drain(at..(at + random.below(12)).min(bytes.len()))),
            3 => {
                let copy = bytes[at..(at + random.below(60)).min(bytes.len())].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, copy);
            }
            _ => bytes.insert(at, random.next() as u8),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Runs one mutation of each kind.
pub(crate) fn round(seeds: &[(String, Vec<u32>)], random: &mut Random) {
    let (text, words) = &seeds[random.below(seeds.len())];
    exercise_words(&mutate_words(words, random));
    exercise_text(&mutate_text(text, random));
    let mut bytes: Vec<u8> = (0..random.below(200)).map(|_| random.next() as u8).collect();
    if random.below(2) == 0 {
        bytes.splice(0..0, [3, 2, 0x23, 7]);
    }
    exercise_bytes(&bytes);
}
