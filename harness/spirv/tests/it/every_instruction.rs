//! Every instruction of the grammar, in each form of its operands, survives conversion from words
//! to text and back without raw words.

use crate::instruction_forms;
use assay_spirv::grammar::INSTRUCTIONS;
use assay_spirv::{Style, assemble, disassemble};

fn check(prelude: &[u32], name: &str, form: &[u32]) {
    let mut words = prelude.to_vec();
    words.extend(form);
    let text = disassemble(&words, Style::Plain).unwrap();
    assert!(!text.contains('!'), "{name} is written raw: {}", text.lines().last().unwrap_or_default());
    let again = assemble(&text).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
    assert!(
        again == words,
        "{name} changes: {}\n{form:x?}\n{:x?}",
        text.lines().last().unwrap_or_default(),
        &again[prelude.len()..]
    );
}

#[test]
fn every_instruction_survives_conversion_to_text() {
    let mut prelude = assemble(instruction_forms::PRELUDE).unwrap();
    prelude[3] = 30;
    let mut count = 0;
    for instruction in INSTRUCTIONS {
        let extended = instruction_forms::is_extended(instruction);
        let forms = if extended {
            instruction_forms::extended_forms(instruction)
        } else {
            instruction_forms::forms(instruction)
        };
        assert!(!forms.is_empty());
        count += forms.len();
        for form in &forms {
            check(&prelude, instruction.name, form);
        }
    }
    for form in instruction_forms::wide_forms() {
        check(&prelude, "a wide literal", &form);
    }
    assert!(count > 5_000, "only {count} forms");
}
