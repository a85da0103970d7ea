//! Tests that `environment.subgroup.*` and `environment.robustness.*` detect the driver defects
//! that they target.

use crate::programs::assert_none;
use crate::support::{faulty_oracle, instructions, line, on_each_driver, replace, run};
use assay_events::Status;
use assay_exec::{DispatchOutput, Target};
use assay_oracle::Slot;
use assay_spirv::tables::{GroupOperation, Op};
use assay_suite::{Case, all};

fn cases(names: &[&str]) -> Vec<Case> {
    let suite = all().into_iter().find(|suite| suite.name() == "environment").expect("the suite is there");
    let wanted = |case: &Case| names.iter().any(|name| case.name == format!("environment.{name}"));
    let found: Vec<Case> = suite.cases().into_iter().filter(wanted).collect();
    assert_eq!(found.len(), names.len(), "{names:?}");
    found
}

/// Runs cases on a faulty target with each driver's capabilities; none may pass.
fn all_fail(names: &[&str], edit: fn(&mut [u32]), spoil: fn(&DispatchOutput, &mut DispatchOutput)) {
    let cases = cases(names);
    on_each_driver(|target| {
        let spoilt = faulty_oracle(target.capabilities().clone(), edit, spoil);
        let results = run(&cases, &spoilt, None);
        assert_none(results.iter().filter(|result| result.status != Status::Fail).map(line).collect());
    });
}

/// Values that come from the wrong lane are found.
#[test]
fn values_of_wrong_lanes_are_found() {
    all_fail(
        &["subgroup.shuffleup.u32", "subgroup.shuffleup.f32.vec4"],
        |words| replace(words, Op::GroupNonUniformShuffleUp, Op::GroupNonUniformShuffleDown),
        |_, _| {},
    );
    all_fail(
        &["subgroup.shufflexor.u32"],
        |words| replace(words, Op::GroupNonUniformShuffleXor, Op::GroupNonUniformShuffle),
        |_, _| {},
    );
    all_fail(
        &["subgroup.ballotfindlsb"],
        |words| replace(words, Op::GroupNonUniformBallotFindLSB, Op::GroupNonUniformBallotFindMSB),
        |_, _| {},
    );
    all_fail(
        &["subgroup.quadswap.u32", "subgroup.shuffle.bool", "subgroup.broadcast.u32", "subgroup.elect"],
        |_| {},
        |_, left| {
            // Each invocation gets the results of the previous one.
            let results = left.memory.get_mut(&RESULTS).expect("they are there");
            let each = results.len() / 256;
            results.rotate_right(each);
        },
    );
}

const RECORDS: Slot = Slot::new(0, 0);
const RESULTS: Slot = Slot::new(0, 2);

/// Scans without the invocation's own value, and confused minima and maxima, are found.
#[test]
fn wrong_scans_and_operations_are_found() {
    all_fail(
        &["subgroup.iadd.u32.inclusive", "subgroup.bitwisexor.u32.inclusive.few", "subgroup.ballotbitcount.inclusive"],
        |words| {
            instructions(words, |_, words| {
                let scan =
                    words.iter_mut().skip(4).take(1).filter(|word| **word == GroupOperation::InclusiveScan.word());
                scan.for_each(|word| *word = GroupOperation::ExclusiveScan.word());
            });
        },
        |_, _| {},
    );
    all_fail(
        &["subgroup.smin.i32.reduce"],
        |words| replace(words, Op::GroupNonUniformSMin, Op::GroupNonUniformUMin),
        |_, _| {},
    );
    all_fail(
        &["subgroup.umax.u32.reduce"],
        |words| replace(words, Op::GroupNonUniformUMax, Op::GroupNonUniformSMax),
        |_, _| {},
    );
}

/// A layout that contradicts the results, and impossible layouts, are found.
#[test]
fn wrong_layouts_are_found() {
    const RECORD: usize = 12;
    // Exchange the records of two invocations.
    all_fail(
        &["subgroup.shuffle.u32", "subgroup.iadd.u32.inclusive", "subgroup.elect"],
        |_| {},
        |_, left| {
            let records = left.memory.get_mut(&RECORDS).expect("they are there");
            let (one, other) = records.split_at_mut(RECORD);
            one.swap_with_slice(&mut other[..RECORD]);
        },
    );
    for spoil in [
        |_: &DispatchOutput, left: &mut DispatchOutput| {
            left.memory.get_mut(&RECORDS).expect("they are there").copy_within(0..RECORD, RECORD)
        },
        |_: &DispatchOutput, left: &mut DispatchOutput| left.memory.get_mut(&RECORDS).expect("they are there")[7] = 1,
    ] {
        let cases = cases(&["subgroup.layout", "subgroup.iadd.u32.reduce"]);
        on_each_driver(|target| {
            let results = run(&cases, &faulty_oracle(target.capabilities().clone(), |_| {}, spoil), None);
            let told = |result: &&assay_events::CaseResult| {
                result.status == Status::Fail && result.classes.iter().any(|class| class.class == "ImpossibleLayout")
            };
            assert_none(results.iter().filter(|result| !told(result)).map(line).collect());
        });
    }
}

const NEIGHBOUR: Slot = Slot::new(0, 2);
const TARGET: Slot = Slot::new(0, 1);
const LOADED: Slot = Slot::new(0, 4);

/// Out-of-bounds loads that return data of the same or another buffer are found.
#[test]
fn loads_that_reach_other_data_are_found() {
    // Only the strict level forbids returning data of the same buffer.
    all_fail(
        &["robustness.strict.buffer.load.u32", "robustness.strict.buffer.load.u32.vec4"],
        |_| {},
        |before, left| {
            let held = before.memory[&TARGET][0];
            let loaded = left.memory.get_mut(&LOADED).expect("they are there");
            let beyond = loaded.chunks_exact_mut(4).find(|word| word.iter().all(|byte| *byte == 0));
            beyond.expect("something is beyond").fill(held);
        },
    );
    all_fail(
        &[
            "robustness.strict.buffer.load.u32",
            "robustness.loose.buffer.load.u32",
            "robustness.loose.buffer.load.u32.vec2",
        ],
        |_| {},
        |before, left| {
            let other = before.memory[&NEIGHBOUR][0];
            left.memory.get_mut(&LOADED).expect("they are there")[4 * 16..4 * 17].fill(other);
        },
    );
    all_fail(
        &["robustness.loose.image.load.r32ui", "robustness.strict.image.load.rgba32ui"],
        |_| {},
        |_, left| {
            // Replace a texel beyond the edge by one in bounds.
            let loaded = left.memory.get_mut(&LOADED).expect("they are there");
            loaded.copy_within(0..16, 16 * 16);
        },
    );
}

/// As above, for uniform buffers, and for negative indices.
#[test]
fn uniform_and_negative_loads_that_reach_other_data_are_found() {
    // The fifth invocation loads right beyond the end or right before the beginning.
    all_fail(
        &[
            "robustness.strict.uniform.load.u32",
            "robustness.strict.uniform.load.u32.constant",
            "robustness.strict.buffer.load.u32.negative",
        ],
        |_| {},
        // The fill byte of the buffer itself.
        |_, left| left.memory.get_mut(&LOADED).expect("they are there")[4 * 4..5 * 4].fill(0xa5),
    );
    all_fail(
        &[
            "robustness.loose.uniform.load.i32",
            "robustness.loose.uniform.load.u32.constant",
            "robustness.strict.uniform.load.u32",
            "robustness.loose.buffer.load.u32.negative",
            "robustness.strict.buffer.load.u32.negative",
        ],
        |_| {},
        // The fill byte of the neighbouring buffer.
        |_, left| left.memory.get_mut(&LOADED).expect("they are there")[4 * 4..5 * 4].fill(0x3c),
    );
}

/// Out-of-bounds stores that land in another resource or in bounds are found.
#[test]
fn stores_that_reach_other_data_are_found() {
    let loose = [
        "robustness.loose.buffer.store.u32",
        "robustness.loose.buffer.atomic_add.u32",
        "robustness.loose.buffer.store.u32.negative",
        "robustness.loose.image.store.r32ui",
    ];
    all_fail(&loose, |_| {}, |_, left| left.memory.get_mut(&NEIGHBOUR).expect("it is there")[40] ^= 1);
    let strict = [
        "robustness.strict.buffer.store.u32",
        "robustness.strict.buffer.store.u32.negative",
        "robustness.strict.buffer.atomic_exchange.u32",
        "robustness.strict.image.store.r32ui",
    ];
    all_fail(&strict, |_| {}, |_, left| left.memory.get_mut(&TARGET).expect("it is there")[40] ^= 1);
}

/// Pictures show wrong texels of written images and of loaded texels.
#[test]
fn wrong_texels_are_drawn() {
    let cases = cases(&[
        "format.rgba8.store.image",
        "format.r32ui.store.image",
        "format.rgba8.load.image",
        "format.rgba32ui.load.image",
    ]);
    // The texel (5, 3): of the image if the program stores to it, otherwise of the memory with the
    // loaded texels.
    let spoil = |before: &DispatchOutput, left: &mut DispatchOutput| {
        let [image, memory] = [0, 1].map(|binding| Slot::new(0, binding));
        let wrong = if before.memory[&memory] == left.memory[&memory] { image } else { memory };
        let bytes = left.memory.get_mut(&wrong).expect("it is there");
        let texel = bytes.len() / (16 * 18);
        // The fourth byte, so that a 32-bit float in the first channel changes much as well.
        bytes[(3 * 16 + 5) * texel + if texel == 16 { 3 } else { 0 }] ^= 0x48;
    };
    on_each_driver(|target| {
        for result in run(&cases, &faulty_oracle(target.capabilities().clone(), |_| {}, spoil), None) {
            let picture = result.picture.as_ref().unwrap_or_else(|| panic!("{} is not drawn", line(&result)));
            assert_eq!((picture.width, picture.height, result.failing_inputs), (16, 18, 1), "{}", line(&result));
            assert_ne!(picture.expected, picture.got, "{}", line(&result));
            let png = picture.png().unwrap_or_else(|| panic!("{}: no PNG", line(&result)));
            if let Some(folder) = std::env::var_os("ASSAY_TEST_PICTURES") {
                let path = std::path::Path::new(&folder).join(format!("{}.png", result.name));
                std::fs::write(path, png).expect("the folder is there");
            }
        }
    });
}
