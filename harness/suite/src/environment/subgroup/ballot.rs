//! Ballots: a bit for each invocation, and what is asked of such bits.

use super::super::bits::Mode;
use super::program::{Form, Given, Of, Part, Team, Who};
use super::vote::{condition, holds};
use super::{U32, distinct, of_value, short, subgroup};
use crate::Case;
use crate::write::Shader;

const BALLOT: &[&str] = &["GroupNonUniformBallot"];
const BALLOT_KHR: &[&str] = &["SubgroupBallotKHR"];

/// Bits that are asked: those of no invocation must not count.
const MASKS: [[u32; 4]; 5] = [
    [0x9a3c_5a71, 0x0f1e_2d3c, 0x8000_0001, 0x7654_3210],
    [0xffff_ffff; 4],
    [1, 0, 0, 0x8000_0000],
    [0xffff_fff2, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff],
    [0x5555_5555, 0, 0, 0],
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for who in [Who::All, Who::Few, Who::Apart] {
        let rule = "each active invocation that says so has its bit set, no other";
        let forms = [
            words("OpGroupNonUniformBallot", BALLOT, rule, || ballots(false)),
            one("OpGroupNonUniformInverseBallot", Of::Bool, "whether the own bit is set", inverse),
            Form {
                name: "environment.subgroup.ballotbitcount.reduce".into(),
                ..one(
                    "OpGroupNonUniformBallotBitCount",
                    Of::Number(U32),
                    "how many bits are set, of those that are invocations'",
                    || counts("Reduce"),
                )
            },
            Form {
                name: "environment.subgroup.ballotbitcount.inclusive".into(),
                ..one("OpGroupNonUniformBallotBitCount", Of::Number(U32), "how many bits are set up to the own", || {
                    counts("InclusiveScan")
                })
            },
            Form {
                name: "environment.subgroup.ballotbitcount.exclusive".into(),
                ..one(
                    "OpGroupNonUniformBallotBitCount",
                    Of::Number(U32),
                    "how many bits are set before the own",
                    || counts("ExclusiveScan"),
                )
            },
            one("OpGroupNonUniformBallotFindLSB", Of::Number(U32), "the lowest bit that is set", || {
                finds("OpGroupNonUniformBallotFindLSB")
            }),
            one(
                "OpGroupNonUniformBallotFindMSB",
                Of::Number(U32),
                "the highest bit that is set, of those that are invocations'",
                || finds("OpGroupNonUniformBallotFindMSB"),
            ),
            one("OpGroupNonUniformBallotBitExtract", Of::Bool, "whether the bit that is named is set", extracts),
        ];
        for form in forms {
            cases.push(Form { name: format!("{}{}", form.name, who.suffix()), who, ..form }.case());
        }
    }
    for (builtin, is_in) in MASKS_OF {
        let form =
            words("OpVariable", BALLOT, "the bits of the invocations that compare so with the own place", move || {
                vec![mask(builtin, is_in)]
            });
        let name = format!("environment.subgroup.{}", builtin.trim_start_matches("Subgroup").to_ascii_lowercase());
        for who in [Who::All, Who::Few] {
            let again = words("OpVariable", BALLOT, form.about.rule, move || vec![mask(builtin, is_in)]);
            cases.push(Form { name: format!("{name}{}", who.suffix()), who, ..again }.case());
        }
    }
    let extension = Some("SPV_KHR_shader_ballot");
    let ballot = words(
        "OpSubgroupBallotKHR",
        BALLOT_KHR,
        "each active invocation that says so has its bit set, no other",
        || ballots(true),
    );
    cases.push(Form { extension, ..ballot }.case());
    for value in [Of::Number(U32), Of::Number(super::Ty::Float { width: 32 })] {
        let first = of_value(
            "OpSubgroupFirstInvocationKHR",
            BALLOT_KHR,
            (value, 1),
            "all get the value of the first invocation that is active",
            first,
        );
        let read = of_value(
            "OpSubgroupReadInvocationKHR",
            BALLOT_KHR,
            (value, 1),
            "all get the value of the invocation that is named",
            read,
        );
        cases.push(Form { extension, ..first }.case());
        cases.push(Form { extension, ..read }.case());
    }
    cases
}

type IsIn = fn(u32, u32) -> bool;

/// The built-in masks, and whether a place is in that of an own one.
const MASKS_OF: [(&str, IsIn); 5] = [
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
    parts: impl Fn() -> Vec<Part> + Send + Sync + 'static,
) -> Form {
    Form {
        name: format!("environment.subgroup.{}", short(spirv)),
        about: subgroup(spirv, "u32.vec4 <- bool".into(), rule),
        capabilities,
        extension: None,
        version: "1.3",
        who: Who::All,
        value: (Of::Number(U32), 1),
        bits: distinct,
        mode: Mode::None,
        result: (Of::Number(U32), 4),
        parts: Box::new(parts),
    }
}

fn one(
    spirv: &'static str,
    result: Of,
    rule: &'static str,
    parts: impl Fn() -> Vec<Part> + Send + Sync + 'static,
) -> Form {
    let about = subgroup(spirv, format!("{} <- u32.vec4", result.name()), rule);
    Form { result: (result, 1), about, ..words(spirv, BALLOT, rule, parts) }
}

/// Four words with the bits of the places that are chosen.
fn bits(places: impl Iterator<Item = u32>) -> Vec<u64> {
    let mut words = vec![0u64; 4];
    places.for_each(|place| words[place as usize / 32] |= 1 << (place % 32));
    words
}

fn is_set(mask: [u32; 4], place: u32) -> bool {
    mask[place as usize / 32] & 1 << (place % 32) != 0
}

fn vector(shader: &mut Shader) -> String {
    let u32 = shader.u32();
    shader.vector(&u32, 4)
}

fn constant(shader: &mut Shader, mask: [u32; 4]) -> String {
    let ty = vector(shader);
    let parts = mask.map(|word| shader.constant_u32(word));
    shader.declare(&format!("OpConstantComposite {ty} {}", parts.join(" ")))
}

fn ballots(legacy: bool) -> Vec<Part> {
    let parts = (0..5).map(|which| {
        Part::new(
            move |shader, given| {
                let ty = vector(shader);
                let condition = condition(shader, given, which);
                match legacy {
                    true => shader.op(&ty, "OpSubgroupBallotKHR", condition),
                    false => shader.op(&ty, "OpGroupNonUniformBallot", format_args!("{} {condition}", given.scope)),
                }
            },
            move |team, _| {
                bits(team.members.iter().filter(|(_, (lane, _))| holds(which, *lane)).map(|(place, _)| *place))
            },
        )
    });
    parts.collect()
}

fn mask(builtin: &'static str, is_in: IsIn) -> Part {
    Part::new(
        move |shader, _| {
            let ty = vector(shader);
            let variable = shader.builtin(builtin, &ty);
            shader.op(&ty, "OpLoad", variable)
        },
        move |team, own| bits((0..team.size).filter(|place| is_in(*place, own))),
    )
}

/// A part for each of [`MASKS`] that has a bit for the smallest subgroup.
fn of_masks(
    write: impl Fn(&mut Shader, &Given, &str) -> String + Copy + Send + Sync + 'static,
    means: impl Fn(&Team<'_>, u32, [u32; 4]) -> u64 + Copy + Send + Sync + 'static,
) -> Vec<Part> {
    let parts = MASKS.map(|mask| {
        let part = Part::new(
            move |shader, given| {
                let mask = constant(shader, mask);
                write(shader, given, &mask)
            },
            move |team, own| vec![means(team, own, mask)],
        );
        // The lowest bit of one of them is not the first invocation's.
        part.of_at_least(if mask[0] & 1 == 0 { 2 } else { 1 })
    });
    parts.into()
}

fn inverse() -> Vec<Part> {
    of_masks(
        |shader, given, mask| {
            let bool = shader.bool();
            shader.op(&bool, "OpGroupNonUniformInverseBallot", format_args!("{} {mask}", given.scope))
        },
        |_, own, mask| u64::from(is_set(mask, own)),
    )
}

fn counts(operation: &'static str) -> Vec<Part> {
    of_masks(
        move |shader, given, mask| {
            let u32 = shader.u32();
            let operands = format!("{} {operation} {mask}", given.scope);
            shader.op(&u32, "OpGroupNonUniformBallotBitCount", operands)
        },
        move |team, own, mask| {
            let end = match operation {
                "Reduce" => team.size,
                "InclusiveScan" => own + 1,
                _ => own,
            };
            (0..end).filter(|place| is_set(mask, *place)).count() as u64
        },
    )
}

fn finds(spirv: &'static str) -> Vec<Part> {
    of_masks(
        move |shader, given, mask| {
            let u32 = shader.u32();
            shader.op(&u32, spirv, format_args!("{} {mask}", given.scope))
        },
        move |team, _, mask| {
            let mut set = (0..team.size).filter(|place| is_set(mask, *place));
            let found = if spirv.ends_with("LSB") { set.next() } else { set.next_back() };
            found.map_or(0, u64::from)
        },
    )
}

/// The bit of another place, counted round.
fn extracts() -> Vec<Part> {
    of_masks(
        |shader, given, mask| {
            let (bool, u32) = (shader.bool(), shader.u32());
            let [one, three] = [1, 3].map(|n| shader.constant_u32(n));
            let sum = shader.op(&u32, "OpIAdd", format_args!("{} {three}", given.own));
            let last = shader.op(&u32, "OpISub", format_args!("{} {one}", given.size));
            let index = shader.op(&u32, "OpBitwiseAnd", format_args!("{sum} {last}"));
            shader.op(&bool, "OpGroupNonUniformBallotBitExtract", format_args!("{} {mask} {index}", given.scope))
        },
        |team, own, mask| u64::from(is_set(mask, (own + 3) % team.size)),
    )
}

fn first() -> Vec<Part> {
    vec![Part::new(
        |shader, given| shader.op(&given.ty, "OpSubgroupFirstInvocationKHR", &given.value),
        |team, _| team.members.first_key_value().map(|(_, (_, value))| value.clone()).unwrap_or_default(),
    )]
}

fn read() -> Vec<Part> {
    let parts = [0, 1, 3].map(|id: u32| {
        let part = Part::new(
            move |shader, given| {
                let id = shader.constant_u32(id);
                shader.op(&given.ty, "OpSubgroupReadInvocationKHR", format_args!("{} {id}", given.value))
            },
            move |team, _| team.value(id),
        );
        part.of_at_least((id + 1).next_power_of_two())
    });
    parts.into()
}
