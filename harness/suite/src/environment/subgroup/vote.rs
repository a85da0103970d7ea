//! The subgroup layout, elections, and votes.

use super::super::bit_preservation::FloatMode;
use super::subgroup_program::{InstructionIds, Participation, SubgroupCase, SubgroupResult, ValueType, builtin};
use super::{U32, distinct, shape_name, shapes, short, subgroup};
use crate::Case;
use crate::module_builder::ModuleBuilder;

const BASIC: &[&str] = &["GroupNonUniform"];
const VOTE: &[&str] = &["GroupNonUniformVote"];
const VOTE_KHR: &[&str] = &["SubgroupVoteKHR"];

/// Conditions on the local index: true for all, none, some, all but one, and only one.
const CONDITIONS: [fn(u32) -> bool; 5] =
    [|_| true, |_| false, |lane| lane % 3 == 1, |lane| lane != 13, |lane| lane == 13];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for participation in [Participation::All, Participation::Few, Participation::Apart] {
        cases.push(layout(participation).case());
        cases.push(
            bools(
                "OpGroupNonUniformElect",
                BASIC,
                None,
                "exactly the first active invocation is elected",
                participation,
                elect,
            )
            .case(),
        );
        cases.push(
            bools(
                "OpGroupNonUniformAll",
                VOTE,
                None,
                "the result is true if the predicate is true for all active invocations",
                participation,
                || votes("OpGroupNonUniformAll", true),
            )
            .case(),
        );
        cases.push(
            bools(
                "OpGroupNonUniformAny",
                VOTE,
                None,
                "the result is true if the predicate is true for any active invocation",
                participation,
                || votes("OpGroupNonUniformAny", true),
            )
            .case(),
        );
        for value in shapes().into_iter().filter(|value| participation == Participation::All || value.1 == 1) {
            let name = format!("environment.subgroup.allequal.{}{}", shape_name(value), participation.suffix());
            let definition = bools(
                "OpGroupNonUniformAllEqual",
                VOTE,
                None,
                "the result is true if all active invocations have equal values",
                participation,
                || equal(false),
            );
            cases.push(SubgroupCase { name, value, ..definition }.case().thinned(participation != Participation::All));
        }
    }
    cases.push(layout(Participation::Rows).case());
    let extension = Some("SPV_KHR_subgroup_vote");
    cases.push(
        bools(
            "OpSubgroupAllKHR",
            VOTE_KHR,
            extension,
            "the result is true if the predicate is true for all active invocations",
            Participation::All,
            || votes("OpSubgroupAllKHR", false),
        )
        .case(),
    );
    cases.push(
        bools(
            "OpSubgroupAnyKHR",
            VOTE_KHR,
            extension,
            "the result is true if the predicate is true for any active invocation",
            Participation::All,
            || votes("OpSubgroupAnyKHR", false),
        )
        .case(),
    );
    let definition = bools(
        "OpSubgroupAllEqualKHR",
        VOTE_KHR,
        extension,
        "the result is true if the predicate is equal for all active invocations",
        Participation::All,
        || equal(true),
    );
    cases.push(SubgroupCase { value: (ValueType::Bool, 1), ..definition }.case());
    cases
}

fn bools(
    spirv: &'static str,
    capabilities: &'static [&'static str],
    extension: Option<&'static str>,
    rule: &'static str,
    participation: Participation,
    parts: fn() -> Vec<SubgroupResult>,
) -> SubgroupCase {
    SubgroupCase {
        name: format!("environment.subgroup.{}{}", short(spirv), participation.suffix()),
        subject: subgroup(spirv, "bool <- bool".into(), rule),
        capabilities,
        extension,
        version: "1.3",
        participation,
        value: (ValueType::Number(U32), 1),
        bits: distinct,
        mode: FloatMode::None,
        result: (ValueType::Bool, 1),
        parts: Box::new(parts),
    }
}

/// The layout and the number of subgroups.
fn layout(participation: Participation) -> SubgroupCase {
    let definition = bools(
        "OpVariable",
        BASIC,
        None,
        "every invocation has its own index in a subgroup, and the number of subgroups is correct",
        participation,
        || {
            vec![SubgroupResult::new(
                |shader, _| builtin(shader, "NumSubgroups"),
                |active, _| vec![active.count.into()],
            )]
        },
    );
    SubgroupCase {
        name: format!("environment.subgroup.layout{}", participation.suffix()),
        result: (ValueType::Number(U32), 1),
        ..definition
    }
}

fn elect() -> Vec<SubgroupResult> {
    vec![SubgroupResult::new(
        |shader, ids| {
            let bool = shader.bool();
            shader.op(&bool, "OpGroupNonUniformElect", &ids.scope)
        },
        |active, own| vec![u64::from(active.members.keys().next() == Some(&own))],
    )]
}

/// Emits the condition of [`CONDITIONS`] with index `which`.
pub(super) fn condition(shader: &mut ModuleBuilder, ids: &InstructionIds, which: usize) -> String {
    let (u32, bool) = (shader.u32(), shader.bool());
    let [zero, one, three, thirteen] = [0, 1, 3, 13].map(|n| shader.constant_u32(n));
    let lane = &ids.lane;
    // The condition depends on the local index, so that a compiler cannot fold it.
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

/// Evaluates a condition of [`CONDITIONS`].
pub(super) fn holds(which: usize, lane: u32) -> bool {
    CONDITIONS.get(which).is_some_and(|condition| condition(lane))
}

fn votes(spirv: &'static str, scoped: bool) -> Vec<SubgroupResult> {
    let parts = (0..CONDITIONS.len()).map(|which| {
        SubgroupResult::new(
            move |shader, ids| {
                let bool = shader.bool();
                let condition = condition(shader, ids, which);
                let scope = if scoped { ids.scope.as_str() } else { "" };
                shader.op(&bool, spirv, format_args!("{scope} {condition}"))
            },
            move |active, _| {
                let mut says = active.members.values().map(|(lane, _)| holds(which, *lane));
                vec![u64::from(if spirv.contains("All") { says.all(|yes| yes) } else { says.any(|yes| yes) })]
            },
        )
    });
    parts.collect()
}

/// Values that are equal except where a condition holds, and the invocations' own values.
fn equal(legacy: bool) -> Vec<SubgroupResult> {
    let mut parts: Vec<SubgroupResult> = (0..CONDITIONS.len())
        .map(|which| {
            SubgroupResult::new(
                move |shader, ids| {
                    let u32 = shader.u32();
                    let condition = condition(shader, ids, which);
                    // The values at these indices also differ as booleans.
                    let [one, five] = [1, 5].map(|n| shader.constant_u32(n));
                    let index = shader.op(&u32, "OpSelect", format_args!("{condition} {five} {one}"));
                    let value = ids.value_at(shader, &index);
                    all_equal(shader, ids, &value, legacy)
                },
                move |active, _| {
                    let value = |lane: u32| &active.all[if holds(which, lane) { 5 } else { 1 }];
                    same(active.members.values().map(|(lane, _)| value(*lane).clone()).collect())
                },
            )
        })
        .collect();
    parts.push(SubgroupResult::new(
        move |shader, ids| all_equal(shader, ids, &ids.value, legacy),
        |active, _| same(active.members.values().map(|(_, value)| value.clone()).collect()),
    ));
    parts
}

fn all_equal(shader: &mut ModuleBuilder, ids: &InstructionIds, value: &str, legacy: bool) -> String {
    let bool = shader.bool();
    match legacy {
        true => shader.op(&bool, "OpSubgroupAllEqualKHR", value),
        false => shader.op(&bool, "OpGroupNonUniformAllEqual", format_args!("{} {value}", ids.scope)),
    }
}

fn same(values: Vec<Vec<u64>>) -> Vec<u64> {
    vec![u64::from(values.windows(2).all(|pair| pair[0] == pair[1]))]
}
