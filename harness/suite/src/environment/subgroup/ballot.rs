//! Ballots: bit masks with one bit for each invocation, and the operations on such masks.

use super::super::bit_preservation::FloatMode;
use super::subgroup_program::{
    ActiveInvocations, InstructionIds, Participation, SubgroupCase, SubgroupResult, ValueType,
};
use super::vote::{condition, holds};
use super::{U32, distinct, short, subgroup, value_case};
use crate::Case;
use crate::module_builder::ModuleBuilder;

const BALLOT: &[&str] = &["GroupNonUniformBallot"];
const BALLOT_KHR: &[&str] = &["SubgroupBallotKHR"];

/// Test masks. Bits beyond the subgroup's size must be ignored.
const MASKS: [[u32; 4]; 5] = [
    [0x9a3c_5a71, 0x0f1e_2d3c, 0x8000_0001, 0x7654_3210],
    [0xffff_ffff; 4],
    [1, 0, 0, 0x8000_0000],
    [0xffff_fff2, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff],
    [0x5555_5555, 0, 0, 0],
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for participation in [Participation::All, Participation::Few, Participation::Apart] {
        let rule = "exactly the bits of active invocations with a true predicate are set";
        let definitions = [
            words("OpGroupNonUniformBallot", BALLOT, rule, || ballots(false)),
            one(
                "OpGroupNonUniformInverseBallot",
                ValueType::Bool,
                "the result is the invocation's own bit of the mask",
                inverse,
            ),
            SubgroupCase {
                name: "environment.subgroup.ballotbitcount.reduce".into(),
                ..one(
                    "OpGroupNonUniformBallotBitCount",
                    ValueType::Number(U32),
                    "the result is the number of set bits within the subgroup",
                    || counts("Reduce"),
                )
            },
            SubgroupCase {
                name: "environment.subgroup.ballotbitcount.inclusive".into(),
                ..one(
                    "OpGroupNonUniformBallotBitCount",
                    ValueType::Number(U32),
                    "the result is the number of set bits up to and including the invocation's own",
                    || counts("InclusiveScan"),
                )
            },
            SubgroupCase {
                name: "environment.subgroup.ballotbitcount.exclusive".into(),
                ..one(
                    "OpGroupNonUniformBallotBitCount",
                    ValueType::Number(U32),
                    "the result is the number of set bits before the invocation's own",
                    || counts("ExclusiveScan"),
                )
            },
            one(
                "OpGroupNonUniformBallotFindLSB",
                ValueType::Number(U32),
                "the result is the index of the lowest set bit",
                || finds("OpGroupNonUniformBallotFindLSB"),
            ),
            one(
                "OpGroupNonUniformBallotFindMSB",
                ValueType::Number(U32),
                "the result is the index of the highest set bit within the subgroup",
                || finds("OpGroupNonUniformBallotFindMSB"),
            ),
            one(
                "OpGroupNonUniformBallotBitExtract",
                ValueType::Bool,
                "the result is the bit at the given index",
                extracts,
            ),
        ];
        for definition in definitions {
            cases.push(
                SubgroupCase {
                    name: format!("{}{}", definition.name, participation.suffix()),
                    participation,
                    ..definition
                }
                .case(),
            );
        }
    }
    for (builtin, is_in) in MASKS_OF {
        let definition = words(
            "OpVariable",
            BALLOT,
            "the mask has the bits of the invocations whose index compares as its name states",
            move || vec![mask(builtin, is_in)],
        );
        let name = format!("environment.subgroup.{}", builtin.trim_start_matches("Subgroup").to_ascii_lowercase());
        for participation in [Participation::All, Participation::Few] {
            let again = words("OpVariable", BALLOT, definition.subject.rule, move || vec![mask(builtin, is_in)]);
            cases.push(
                SubgroupCase { name: format!("{name}{}", participation.suffix()), participation, ..again }.case(),
            );
        }
    }
    let extension = Some("SPV_KHR_shader_ballot");
    let ballot = words(
        "OpSubgroupBallotKHR",
        BALLOT_KHR,
        "exactly the bits of active invocations with a true predicate are set",
        || ballots(true),
    );
    cases.push(SubgroupCase { extension, ..ballot }.case());
    for value in [ValueType::Number(U32), ValueType::Number(super::Ty::Float { width: 32 })] {
        let first = value_case(
            "OpSubgroupFirstInvocationKHR",
            BALLOT_KHR,
            (value, 1),
            "every invocation gets the value of the first active invocation",
            first,
        );
        let read = value_case(
            "OpSubgroupReadInvocationKHR",
            BALLOT_KHR,
            (value, 1),
            "every invocation gets the value of the invocation with the given index",
            read,
        );
        cases.push(SubgroupCase { extension, ..first }.case());
        cases.push(SubgroupCase { extension, ..read }.case());
    }
    cases
}

type MaskPredicate = fn(u32, u32) -> bool;

/// The built-in masks, with a predicate for the places in the mask of invocation `own`.
const MASKS_OF: [(&str, MaskPredicate); 5] = [
    ("SubgroupEqMask", |place, own| place == own),
    ("SubgroupGeMask", |place, own| place >= own),
    ("SubgroupGtMask", |place, own| place > own),
    ("SubgroupLeMask", |place, own| place <= own),
    ("SubgroupLtMask", |place, own| place < own),
];

fn words(
    spirv: &'static str,
    capabilities: &'static [&'static str],
    rule: &'static str,
    parts: impl Fn() -> Vec<SubgroupResult> + Send + Sync + 'static,
) -> SubgroupCase {
    SubgroupCase {
        name: format!("environment.subgroup.{}", short(spirv)),
        subject: subgroup(spirv, "u32.vec4 <- bool".into(), rule),
        capabilities,
        extension: None,
        version: "1.3",
        participation: Participation::All,
        value: (ValueType::Number(U32), 1),
        bits: distinct,
        mode: FloatMode::None,
        result: (ValueType::Number(U32), 4),
        parts: Box::new(parts),
    }
}

fn one(
    spirv: &'static str,
    result: ValueType,
    rule: &'static str,
    parts: impl Fn() -> Vec<SubgroupResult> + Send + Sync + 'static,
) -> SubgroupCase {
    let subject = subgroup(spirv, format!("{} <- u32.vec4", result.name()), rule);
    SubgroupCase { result: (result, 1), subject, ..words(spirv, BALLOT, rule, parts) }
}

/// A mask of four words with the bits of these places set.
fn bits(places: impl Iterator<Item = u32>) -> Vec<u64> {
    let mut words = vec![0u64; 4];
    places.for_each(|place| words[place as usize / 32] |= 1 << (place % 32));
    words
}

fn is_set(mask: [u32; 4], place: u32) -> bool {
    mask[place as usize / 32] & 1 << (place % 32) != 0
}

fn vector(shader: &mut ModuleBuilder) -> String {
    let u32 = shader.u32();
    shader.vector(&u32, 4)
}

fn constant(shader: &mut ModuleBuilder, mask: [u32; 4]) -> String {
    let ty = vector(shader);
    let parts = mask.map(|word| shader.constant_u32(word));
    shader.declare(&format!("OpConstantComposite {ty} {}", parts.join(" ")))
}

fn ballots(legacy: bool) -> Vec<SubgroupResult> {
    let parts = (0..5).map(|which| {
        SubgroupResult::new(
            move |shader, ids| {
                let ty = vector(shader);
                let condition = condition(shader, ids, which);
                match legacy {
                    true => shader.op(&ty, "OpSubgroupBallotKHR", condition),
                    false => shader.op(&ty, "OpGroupNonUniformBallot", format_args!("{} {condition}", ids.scope)),
                }
            },
            move |active, _| {
                bits(active.members.iter().filter(|(_, (lane, _))| holds(which, *lane)).map(|(place, _)| *place))
            },
        )
    });
    parts.collect()
}

fn mask(builtin: &'static str, is_in: MaskPredicate) -> SubgroupResult {
    SubgroupResult::new(
        move |shader, _| {
            let ty = vector(shader);
            let variable = shader.builtin(builtin, &ty);
            shader.op(&ty, "OpLoad", variable)
        },
        move |active, own| bits((0..active.size).filter(|place| is_in(*place, own))),
    )
}

/// One result for each of [`MASKS`].
fn of_masks(
    write: impl Fn(&mut ModuleBuilder, &InstructionIds, &str) -> String + Copy + Send + Sync + 'static,
    semantics: impl Fn(&ActiveInvocations<'_>, u32, [u32; 4]) -> u64 + Copy + Send + Sync + 'static,
) -> Vec<SubgroupResult> {
    let parts = MASKS.map(|mask| {
        let part = SubgroupResult::new(
            move |shader, ids| {
                let mask = constant(shader, mask);
                write(shader, ids, &mask)
            },
            move |active, own| vec![semantics(active, own, mask)],
        );
        // If bit 0 is not set, a subgroup of one invocation has no bit to find.
        part.for_size_at_least(if mask[0] & 1 == 0 { 2 } else { 1 })
    });
    parts.into()
}

fn inverse() -> Vec<SubgroupResult> {
    of_masks(
        |shader, ids, mask| {
            let bool = shader.bool();
            shader.op(&bool, "OpGroupNonUniformInverseBallot", format_args!("{} {mask}", ids.scope))
        },
        |_, own, mask| u64::from(is_set(mask, own)),
    )
}

fn counts(operation: &'static str) -> Vec<SubgroupResult> {
    of_masks(
        move |shader, ids, mask| {
            let u32 = shader.u32();
            let operands = format!("{} {operation} {mask}", ids.scope);
            shader.op(&u32, "OpGroupNonUniformBallotBitCount", operands)
        },
        move |active, own, mask| {
            let end = match operation {
                "Reduce" => active.size,
                "InclusiveScan" => own + 1,
                _ => own,
            };
            (0..end).filter(|place| is_set(mask, *place)).count() as u64
        },
    )
}

/// Results of `OpGroupNonUniformBallotFindLSB` or `FindMSB` over each mask.
fn finds(spirv: &'static str) -> Vec<SubgroupResult> {
    of_masks(
        move |shader, ids, mask| {
            let u32 = shader.u32();
            shader.op(&u32, spirv, format_args!("{} {mask}", ids.scope))
        },
        move |active, _, mask| {
            let mut set = (0..active.size).filter(|place| is_set(mask, *place));
            let found = if spirv.ends_with("LSB") { set.next() } else { set.next_back() };
            found.map_or(0, u64::from)
        },
    )
}

/// Extracts the bit of the invocation three places further on, cyclically.
fn extracts() -> Vec<SubgroupResult> {
    of_masks(
        |shader, ids, mask| {
            let (bool, u32) = (shader.bool(), shader.u32());
            let [one, three] = [1, 3].map(|n| shader.constant_u32(n));
            let sum = shader.op(&u32, "OpIAdd", format_args!("{} {three}", ids.own));
            let last = shader.op(&u32, "OpISub", format_args!("{} {one}", ids.size));
            let index = shader.op(&u32, "OpBitwiseAnd", format_args!("{sum} {last}"));
            shader.op(&bool, "OpGroupNonUniformBallotBitExtract", format_args!("{} {mask} {index}", ids.scope))
        },
        |active, own, mask| u64::from(is_set(mask, (own + 3) % active.size)),
    )
}

fn first() -> Vec<SubgroupResult> {
    vec![SubgroupResult::new(
        |shader, ids| shader.op(&ids.ty, "OpSubgroupFirstInvocationKHR", &ids.value),
        |active, _| active.members.first_key_value().map(|(_, (_, value))| value.clone()).unwrap_or_default(),
    )]
}

fn read() -> Vec<SubgroupResult> {
    let parts = [0, 1, 3].map(|id: u32| {
        let part = SubgroupResult::new(
            move |shader, ids| {
                let id = shader.constant_u32(id);
                shader.op(&ids.ty, "OpSubgroupReadInvocationKHR", format_args!("{} {id}", ids.value))
            },
            move |active, _| active.value(id),
        );
        part.for_size_at_least((id + 1).next_power_of_two())
    });
    parts.into()
}
