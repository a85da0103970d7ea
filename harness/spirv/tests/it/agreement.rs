//! Comparison of the assembler with Debian's `spirv-as`, where installed.
//!
//! The tool is older than the tables: forms that it does not know are counted, but not compared.

use crate::instruction_forms;
use crate::spirv_tools::{run, tools};
use assay_spirv::grammar::INSTRUCTIONS;
use assay_spirv::{Style, assemble, disassemble};

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

#[test]
#[expect(clippy::print_stderr, reason = "how much was compared belongs to the result")]
fn assembler_agrees_with_spirv_as() {
    if !tools() {
        return;
    }
    let mut prelude = assemble(instruction_forms::PRELUDE).unwrap();
    prelude[3] = 30;
    let (mut compared, mut unknown) = (0, 0);
    for instruction in INSTRUCTIONS {
        let extended = instruction_forms::is_extended(instruction);
        let forms = if extended {
            instruction_forms::extended_forms(instruction)
        } else {
            instruction_forms::forms(instruction)
        };
        // All forms in one text; if the tool does not know one of them, the first few one by one.
        let all: Vec<u32> = prelude.iter().copied().chain(forms.iter().flatten().copied()).collect();
        let ours = disassemble(&all, Style::Plain).unwrap();
        let flags = ["--preserve-numeric-ids", "-o", "-", "-"];
        match run("spirv-as", &flags, ours.as_bytes()).unwrap() {
            Ok(theirs) => {
                compared += forms.len();
                assert!(words(&theirs)[5..] == all[5..], "{} is assembled otherwise", instruction.name);
            }
            Err(_) => {
                for form in forms.iter().take(8) {
                    let one: Vec<u32> = prelude.iter().chain(form).copied().collect();
                    let text = disassemble(&one, Style::Plain).unwrap();
                    match run("spirv-as", &flags, text.as_bytes()).unwrap() {
                        Ok(theirs) => {
                            compared += 1;
                            assert!(words(&theirs)[5..] == one[5..], "{text} is assembled otherwise");
                        }
                        Err(_) => unknown += 1,
                    }
                }
            }
        }
    }
    eprintln!("spirv-as: {compared} forms agree, {unknown} are unknown to it");
    assert!(compared > 1_500);
}
