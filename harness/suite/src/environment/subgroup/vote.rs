//! Where invocations are, who is elected, and votes.

use super::super::bits::Mode;
use super::program::{Form, Given, Of, Part, Who, builtin};
use super::{U32, distinct, shape_name, shapes, short, subgroup};
use crate::Case;
use crate::write::Shader;

const BASIC: &[&str] = &["GroupNonUniform"];
const VOTE: &[&str] = &["GroupNonUniformVote"];
const VOTE_KHR: &[&str] = &["SubgroupVoteKHR"];

/// Conditions of an invocation by its local index: what all say, nobody, some, all but one, only one.
const CONDITIONS: [fn(u32) -> bool; 5] =
    [|_| true, |_| false, |lane| lane % 3 == 1, |lane| lane != 13, |lane| lane == 13];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for who in [Who::All, Who::Few, Who::Apart] {
        cases.push(layout(who).case());
        cases.push(
            bools(
                "OpGroupNonUniformElect",
                BASIC,
                None,
                "one invocation is elected, the first that is active",
                who,
                elect,
            )
            .case(),
        );
        cases.push(
            bools("OpGroupNonUniformAll", VOTE, None, "whether all say so", who, || {
                votes("OpGroupNonUniformAll", true)
            })
            .case(),
        );
        cases.push(
            bools("OpGroupNonUniformAny", VOTE, None, "whether any says so", who, || {
                votes("OpGroupNonUniformAny", true)
            })
            .case(),
        );
        for value in shapes().into_iter().filter(|value| who == Who::All || value.1 == 1) {
            let name = format!("environment.subgroup.allequal.{}{}", shape_name(value), who.suffix());
            let form =
                bools("OpGroupNonUniformAllEqual", VOTE, None, "whether all values are the same", who, || equal(false));
            cases.push(Form { name, value, ..form }.case().thinned(who != Who::All));
        }
    }
    cases.push(layout(Who::Rows).case());
    let extension = Some("SPV_KHR_subgroup_vote");
    cases.push(
        bools("OpSubgroupAllKHR", VOTE_KHR, extension, "whether all say so", Who::All, || {
            votes("OpSubgroupAllKHR", false)
        })
        .case(),
    );
    cases.push(
        bools("OpSubgroupAnyKHR", VOTE_KHR, extension, "whether any says so", Who::All, || {
            votes("OpSubgroupAnyKHR", false)
        })
        .case(),
    );
    let form =
        bools("OpSubgroupAllEqualKHR", VOTE_KHR, extension, "whether all say the same", Who::All, || equal(true));
    cases.push(Form { value: (Of::Bool, 1), ..form }.case());
    cases
}

fn bools(
    spirv: &'static str,
    capabilities: &'static [&'static str],
    extension: Option<&'static str>,
    rule: &'static str,
    who: Who,
    parts: fn() -> Vec<Part>,
) -> Form {
    Form {
        name: format!("environment.subgroup.{}{}", short(spirv), who.suffix()),
        about: subgroup(spirv, "bool <- bool".into(), rule),
        capabilities,
        extension,
        version: "1.3",
        who,
        value: (Of::Number(U32), 1),
        bits: distinct,
        mode: Mode::None,
        result: (Of::Bool, 1),
        parts: Box::new(parts),
    }
}

/// What the built-ins say: beside what is recorded, how many subgroups there are.
fn layout(who: Who) -> Form {
    let form = bools(
        "OpVariable",
        BASIC,
        None,
        "each invocation has a place of its own in a subgroup, of as many as are told",
        who,
        || vec![Part::new(|shader, _| builtin(shader, "NumSubgroups"), |team, _| vec![team.count.into()])],
    );
    Form { name: format!("environment.subgroup.layout{}", who.suffix()), result: (Of::Number(U32), 1), ..form }
}

fn elect() -> Vec<Part> {
    vec![Part::new(
        |shader, given| {
            let bool = shader.bool();
            shader.op(&bool, "OpGroupNonUniformElect", &given.scope)
        },
        |team, own| vec![u64::from(team.members.keys().next() == Some(&own))],
    )]
}

/// The index of [`CONDITIONS`] as the shader computes it.
pub(super) fn condition(shader: &mut Shader, given: &Given, which: usize) -> String {
    let (u32, bool) = (shader.u32(), shader.bool());
    let [zero, one, three, thirteen] = [0, 1, 3, 13].map(|n| shader.constant_u32(n));
    let lane = &given.lane;
    // Computed from the index, so that nothing knows it beforehand.
    match which {
        0 => shader.op(&bool, "OpUGreaterThanEqual", format_args!("{lane} {zero}")),
        1 => shader.op(&bool, "OpULessThan", format_args!("{lane} {zero}")),
        2 => {
            let rest = shader.op(&u32, "OpUMod", format_args!("{lane} {three}"));
            shader.op(&bool, "OpIEqual", format_args!("{rest} {one}"))
        }
        3 => shader.op(&bool, "OpINotEqual", format_args!("{lane} {thirteen}")),
        _ => shader.op(&bool, "OpIEqual", format_args!("{lane} {thirteen}")),
    }
}

/// [`CONDITIONS`] of an invocation.
pub(super) fn holds(which: usize, lane: u32) -> bool {
    CONDITIONS.get(which).is_some_and(|condition| condition(lane))
}

fn votes(spirv: &'static str, scoped: bool) -> Vec<Part> {
    let parts = (0..CONDITIONS.len()).map(|which| {
        Part::new(
            move |shader, given| {
                let bool = shader.bool();
                let condition = condition(shader, given, which);
                let scope = if scoped { given.scope.as_str() } else { "" };
                shader.op(&bool, spirv, format_args!("{scope} {condition}"))
            },
            move |team, _| {
                let mut says = team.members.values().map(|(lane, _)| holds(which, *lane));
                vec![u64::from(if spirv.contains("All") { says.all(|yes| yes) } else { says.any(|yes| yes) })]
            },
        )
    });
    parts.collect()
}

/// Values that are the same but where a condition holds, and each its own.
fn equal(legacy: bool) -> Vec<Part> {
    let mut parts: Vec<Part> = (0..CONDITIONS.len())
        .map(|which| {
            Part::new(
                move |shader, given| {
                    let u32 = shader.u32();
                    let condition = condition(shader, given, which);
                    // These two differ also as truth values.
                    let [one, five] = [1, 5].map(|n| shader.constant_u32(n));
                    let index = shader.op(&u32, "OpSelect", format_args!("{condition} {five} {one}"));
                    let value = given.value_at(shader, &index);
                    all_equal(shader, given, &value, legacy)
                },
                move |team, _| {
                    let value = |lane: u32| &team.all[if holds(which, lane) { 5 } else { 1 }];
                    same(team.members.values().map(|(lane, _)| value(*lane).clone()).collect())
                },
            )
        })
        .collect();
    parts.push(Part::new(
        move |shader, given| all_equal(shader, given, &given.value, legacy),
        |team, _| same(team.members.values().map(|(_, value)| value.clone()).collect()),
    ));
    parts
}

fn all_equal(shader: &mut Shader, given: &Given, value: &str, legacy: bool) -> String {
    let bool = shader.bool();
    match legacy {
        true => shader.op(&bool, "OpSubgroupAllEqualKHR", value),
        false => shader.op(&bool, "OpGroupNonUniformAllEqual", format_args!("{} {value}", given.scope)),
    }
}

fn same(values: Vec<Vec<u64>>) -> Vec<u64> {
    vec![u64::from(values.windows(2).all(|pair| pair[0] == pair[1]))]
}
