//! Tests that `storage8.*` detects the driver defects that it targets, and that modules with
//! missing capabilities are rejected.

use crate::programs::assert_none;
use crate::support::{faulty_oracle, instructions, line, on_each_driver, replace, run, validator};
use assay_events::Status;
use assay_exec::DispatchOutput;
use assay_oracle::Slot;
use assay_spirv::tables::{Decoration, Op};
use assay_spirv_rules::inspect::{ModuleSource, Report};
use assay_suite::{Case, RunPath, all};

fn cases(wanted: impl Fn(&str) -> bool) -> Vec<Case> {
    let suite = all().into_iter().find(|suite| suite.name() == "storage8").expect("the suite is there");
    suite.cases().into_iter().filter(|case| wanted(&case.name)).collect()
}

/// At least ten times as many cases as the public suite has for compute.
#[test]
fn there_are_at_least_290_cases() {
    assert!(cases(|_| true).len() >= 290, "{}", cases(|_| true).len());
}

/// Runs cases on a faulty target with each driver's capabilities; none may pass.
fn all_fail(wanted: impl Fn(&str) -> bool, edit: fn(&mut [u32]), spoil: fn(&DispatchOutput, &mut DispatchOutput)) {
    let cases = cases(wanted);
    assert!(!cases.is_empty());
    on_each_driver(|target| {
        use assay_exec::Target;
        let spoilt = faulty_oracle(target.capabilities().clone(), edit, spoil);
        let results = run(&cases, &spoilt, None);
        let found = |status: Status| matches!(status, Status::Fail | Status::NotSupported);
        assert_none(results.iter().filter(|result| !found(result.status)).map(line).collect());
        // With 8-bit storage the defect must be found, not only skipped.
        let able = target.capabilities().features.contains("storageBuffer8BitAccess");
        assert_eq!(results.iter().any(|result| result.status == Status::Fail), able);
    });
}

#[test]
fn zero_extension_in_place_of_sign_extension_is_found() {
    all_fail(
        |name| name.contains(".sext_") || name == "storage8.numbers.i8.to_i16.storage_only",
        |words| replace(words, Op::SConvert, Op::UConvert),
        |_, _| {},
    );
}

#[test]
fn sign_extension_in_place_of_zero_extension_is_found() {
    all_fail(
        |name| name.contains(".zext_") || name == "storage8.numbers.u8.to_u16.storage_only",
        |words| replace(words, Op::UConvert, Op::SConvert),
        |_, _| {},
    );
}

/// Odd member offsets that are rounded down are found.
#[test]
fn offsets_that_are_rounded_down_are_found() {
    let odd = |name: &str| {
        let offset = name.rsplit_once(".offset").and_then(|(_, offset)| offset.parse::<u32>().ok());
        // The module states the offset, except for stores by address.
        offset.is_some_and(|offset| offset % 2 == 1) && !name.contains(".address.")
    };
    all_fail(
        odd,
        |words| {
            instructions(words, |op, i| {
                let offset = op == Op::MemberDecorate && i.get(3) == Some(&Decoration::Offset.word());
                if let (true, Some(offset)) = (offset, i.get_mut(4)) {
                    *offset &= !1;
                }
            });
        },
        |_, _| {},
    );
}

/// The output binding of the programs.
const OUTPUT: Slot = Slot::new(0, 1);

/// A byte store that also changes the following byte is found.
#[test]
fn a_neighbour_that_is_overwritten_is_found() {
    all_fail(
        |name| [".store.", ".neighbours.stride", ".members.", ".atomic."].iter().any(|part| name.contains(part)),
        |_| {},
        |before, left| {
            for (slot, left) in &mut left.memory {
                let before = &before.memory[slot];
                let written: Vec<bool> = before.iter().zip(left.iter()).map(|(a, b)| a != b).collect();
                if !written.contains(&true) {
                    continue;
                }
                for at in 1..left.len() {
                    // Only bytes that the program did not write.
                    if written[at - 1] && !written[at] {
                        left[at] ^= 0xff;
                    }
                }
                // If all bytes were written, change the last one.
                if written.iter().all(|written| *written) {
                    let last = left.len() - 1;
                    left[last] ^= 0xff;
                }
            }
        },
    );
}

/// Byte stores as read-modify-write of whole words are found: of several writers of a word, one
/// wins.
#[test]
fn words_that_are_written_back_whole_are_found() {
    all_fail(
        |name| {
            ["stride1.", "stride2.", "stride3."].iter().any(|stride| name.contains(&format!(".neighbours.{stride}")))
        },
        |_| {},
        |before, left| {
            let (before, left) = (&before.memory[&OUTPUT], left.memory.get_mut(&OUTPUT).expect("it is written"));
            for (before, left) in before.chunks(4).zip(left.chunks_mut(4)) {
                let changed: Vec<usize> = (0..left.len()).filter(|i| before[*i] != left[*i]).collect();
                for lost in changed.iter().rev().skip(1) {
                    left[*lost] = before[*lost];
                }
            }
        },
    );
}

/// A module without a required capability is rejected by the rules and by spirv-val; with it, both
/// accept the module.
#[test]
fn modules_that_lack_a_capability_are_rejected() {
    for (name, capability) in [
        ("storage8.load.ssbo.u8.offset3", "StorageBuffer8BitAccess"),
        ("storage8.load.bufferblock.u8.offset3", "UniformAndStorageBuffer8BitAccess"),
        ("storage8.load.ubo.u8vec3.offset1", "UniformAndStorageBuffer8BitAccess"),
        ("storage8.load.push.u8.offset1", "StoragePushConstant8"),
        ("storage8.array.load.push.u8vec4.std140.dynamic", "StoragePushConstant8"),
        ("storage8.convert.ssbo.sext_i8.to32.int8", "Int8"),
        ("storage8.numbers.i8.to_f32", "Int8"),
    ] {
        let case = cases(|known| known == name).pop().unwrap_or_else(|| panic!("{name} is gone"));
        let text = case.program(RunPath::Native).expect("it has one").text;
        let line = format!("OpCapability {capability}\n");
        assert!(text.contains(&line), "{name}");
        for (text, legal) in [(text.clone(), true), (text.replace(&line, ""), false)] {
            let words = assay_spirv::assemble(&text).expect("it is text");
            let report = Report::new(&ModuleSource::read(text.as_bytes()).expect("it is a module"));
            assert_eq!(report.is_legal(), legal, "{name}: {:?}", report.violations);
            assert!(report.violations.iter().all(|v| v.message.contains("8-bit")), "{:?}", report.violations);
            if let Some(said) = validator(&words) {
                assert_eq!(said.is_ok(), legal, "{name} by spirv-val: {said:?}");
            }
        }
    }
}
