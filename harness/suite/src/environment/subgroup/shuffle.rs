//! Shuffles, broadcasts, quad operations and rotations: instructions that move values between
//! invocations.

use super::super::bit_preservation::{self, FloatMode};
use super::super::operand_rows::Ty;
use super::subgroup_program::{InstructionIds, SubgroupCase, SubgroupResult, ValueType};
use super::{shapes, value_case};
use crate::Case;
use crate::module_builder::ModuleBuilder;

const SHUFFLE: &[&str] = &["GroupNonUniformShuffle"];
const RELATIVE: &[&str] = &["GroupNonUniformShuffleRelative"];
const BALLOT: &[&str] = &["GroupNonUniformBallot"];
const QUAD: &[&str] = &["GroupNonUniformQuad"];
const ROTATE: &[&str] = &["GroupNonUniformRotateKHR"];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for value in shapes() {
        // The quick budget keeps scalars and four-component vectors of a few types.
        let thin = !matches!(value.0.name().as_str(), "u32" | "f32" | "bool" | "u8" | "f16" | "i64");
        let narrow = (value.1 == 1 || value.1 == 4) && !thin;
        let is_float = matches!(value.0, ValueType::Number(Ty::Float { .. }));
        for definition in definitions(value) {
            cases.push(definition.case().thinned(!narrow));
        }
        if is_float && narrow {
            // These operations must not flush denormals either.
            for mode in [FloatMode::None, FloatMode::SignedZeroInfNanPreserve] {
                let special = |case: SubgroupCase| SubgroupCase {
                    name: format!("{}.special{}", case.name, mode.suffix()),
                    bits: bit_preservation::special,
                    mode,
                    ..case
                };
                cases.extend(
                    definitions(value)
                        .into_iter()
                        .map(|definition| special(definition).case().covering([bit_preservation::COVERS])),
                );
            }
        }
    }
    cases
}

fn definitions(value: (ValueType, u32)) -> Vec<SubgroupCase> {
    let rotates = value_case(
        "OpGroupNonUniformRotateKHR",
        ROTATE,
        value,
        "every invocation gets the value of the one `delta` places further on, cyclically",
        rotates,
    );
    let clusters =
        value_case("OpGroupNonUniformRotateKHR", ROTATE, value, "values rotate within each cluster", clusters);
    let dynamic = value_case(
        "OpGroupNonUniformBroadcast",
        BALLOT,
        value,
        "every invocation gets the value of the invocation with the given index",
        dynamic,
    );
    vec![
        value_case(
            "OpGroupNonUniformShuffle",
            SHUFFLE,
            value,
            "every invocation gets the value of the invocation that it selects",
            shuffle,
        ),
        value_case(
            "OpGroupNonUniformShuffleXor",
            SHUFFLE,
            value,
            "every invocation gets the value of the invocation at its own index XOR the mask",
            xor,
        ),
        value_case(
            "OpGroupNonUniformShuffleUp",
            RELATIVE,
            value,
            "every invocation gets the value of the one `delta` places before it",
            up,
        ),
        value_case(
            "OpGroupNonUniformShuffleDown",
            RELATIVE,
            value,
            "every invocation gets the value of the one `delta` places after it",
            down,
        ),
        value_case(
            "OpGroupNonUniformBroadcast",
            BALLOT,
            value,
            "every invocation gets the value of the invocation with the given index",
            broadcast,
        ),
        SubgroupCase { name: format!("{}.dynamic", dynamic.name), version: "1.5", ..dynamic },
        value_case(
            "OpGroupNonUniformBroadcastFirst",
            BALLOT,
            value,
            "every invocation gets the value of the first active invocation",
            first,
        ),
        value_case(
            "OpGroupNonUniformQuadBroadcast",
            QUAD,
            value,
            "every invocation of a quad gets the value of the one with the given index",
            quad,
        ),
        value_case(
            "OpGroupNonUniformQuadSwap",
            QUAD,
            value,
            "invocations of a quad swap values in the given direction",
            swap,
        ),
        SubgroupCase { extension: Some("SPV_KHR_subgroup_rotate"), ..rotates },
        SubgroupCase {
            name: format!("{}.clustered", clusters.name),
            extension: Some("SPV_KHR_subgroup_rotate"),
            ..clusters
        },
    ]
}

/// Emits `INSTRUCTION scope value index`.
fn with(shader: &mut ModuleBuilder, ids: &InstructionIds, spirv: &str, index: &str) -> String {
    shader.op(&ids.ty, spirv, format_args!("{} {} {index}", ids.scope, ids.value))
}

/// Emits `(own * factor + offset) & (size - 1)`: a place in the subgroup.
fn within(shader: &mut ModuleBuilder, ids: &InstructionIds, factor: u32, offset: u32) -> String {
    let u32 = shader.u32();
    let [factor, offset, one] = [factor, offset, 1].map(|n| shader.constant_u32(n));
    let many = shader.op(&u32, "OpIMul", format_args!("{} {factor}", ids.own));
    let sum = shader.op(&u32, "OpIAdd", format_args!("{many} {offset}"));
    let last = shader.op(&u32, "OpISub", format_args!("{} {one}", ids.size));
    shader.op(&u32, "OpBitwiseAnd", format_args!("{sum} {last}"))
}

fn shuffle() -> Vec<SubgroupResult> {
    let parts = [(5, 3), (1, 1), (0, 0), (3, 2)].map(|(factor, offset)| {
        SubgroupResult::new(
            move |shader, ids| {
                let index = within(shader, ids, factor, offset);
                with(shader, ids, "OpGroupNonUniformShuffle", &index)
            },
            move |active, own| active.value((own * factor + offset) % active.size),
        )
    });
    parts.into()
}

fn xor() -> Vec<SubgroupResult> {
    let constant = |mask: u32| {
        let part = SubgroupResult::new(
            move |shader, ids| {
                let mask = shader.constant_u32(mask);
                with(shader, ids, "OpGroupNonUniformShuffleXor", &mask)
            },
            move |active, own| active.value(own ^ mask),
        );
        part.for_size_at_least((mask + 1).next_power_of_two())
    };
    let mut parts: Vec<SubgroupResult> = [1, 2, 3, 4, 7, 16].map(constant).into();
    // The mask that reaches the last place, and one that differs between invocations.
    for (factor, offset) in [(0, u32::MAX), (3, 1)] {
        parts.push(SubgroupResult::new(
            move |shader, ids| {
                let mask = within(shader, ids, factor, offset);
                with(shader, ids, "OpGroupNonUniformShuffleXor", &mask)
            },
            move |active, own| active.value(own ^ ((own * factor).wrapping_add(offset) % active.size)),
        ));
    }
    parts
}

/// Where the source lies outside the subgroup, the result is undefined and the invocation keeps its
/// own value.
fn relative(spirv: &'static str, is_up: bool) -> Vec<SubgroupResult> {
    let parts = [(0, 0), (0, 1), (0, 2), (0, 5), (1, 1), (3, 2)].map(|(factor, offset)| {
        SubgroupResult::new(
            move |shader, ids| {
                let delta = within(shader, ids, factor, offset);
                let found = with(shader, ids, spirv, &delta);
                let (u32, bool) = (shader.u32(), shader.bool());
                let is = if is_up {
                    shader.op(&bool, "OpUGreaterThanEqual", format_args!("{} {delta}", ids.own))
                } else {
                    let sum = shader.op(&u32, "OpIAdd", format_args!("{} {delta}", ids.own));
                    shader.op(&bool, "OpULessThan", format_args!("{sum} {}", ids.size))
                };
                ids.select(shader, &is, &found)
            },
            move |active, own| {
                let delta = (own * factor + offset) % active.size;
                let place = if is_up { own.checked_sub(delta) } else { Some(own + delta).filter(|p| *p < active.size) };
                active.value(place.unwrap_or(own))
            },
        )
    });
    parts.into()
}

fn up() -> Vec<SubgroupResult> {
    relative("OpGroupNonUniformShuffleUp", true)
}

fn down() -> Vec<SubgroupResult> {
    relative("OpGroupNonUniformShuffleDown", false)
}

fn broadcast() -> Vec<SubgroupResult> {
    let parts = [0, 1, 2, 3, 5, 7, 12, 31].map(|id: u32| {
        let part = SubgroupResult::new(
            move |shader, ids| {
                let id = shader.constant_u32(id);
                with(shader, ids, "OpGroupNonUniformBroadcast", &id)
            },
            move |active, _| active.value(id),
        );
        part.for_size_at_least((id + 1).next_power_of_two())
    });
    parts.into()
}

fn dynamic() -> Vec<SubgroupResult> {
    let parts = [0, 3, u32::MAX].map(|offset: u32| {
        SubgroupResult::new(
            move |shader, ids| {
                let id = within(shader, ids, 0, offset);
                with(shader, ids, "OpGroupNonUniformBroadcast", &id)
            },
            move |active, _| active.value(offset % active.size),
        )
    });
    parts.into()
}

fn first() -> Vec<SubgroupResult> {
    vec![SubgroupResult::new(
        |shader, ids| {
            shader.op(&ids.ty, "OpGroupNonUniformBroadcastFirst", format_args!("{} {}", ids.scope, ids.value))
        },
        |active, _| active.members.first_key_value().map(|(_, (_, value))| value.clone()).unwrap_or_default(),
    )]
}

fn quad() -> Vec<SubgroupResult> {
    let parts = [0, 1, 2, 3].map(|index| {
        let part = SubgroupResult::new(
            move |shader, ids| {
                let index = shader.constant_u32(index);
                with(shader, ids, "OpGroupNonUniformQuadBroadcast", &index)
            },
            move |active, own| active.value(own - own % 4 + index),
        );
        part.for_size_at_least(4)
    });
    parts.into()
}

fn swap() -> Vec<SubgroupResult> {
    // A quad is two rows of two: horizontal, vertical and diagonal.
    let parts = [[1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]].into_iter().zip(0..).map(|(partners, direction)| {
        let part = SubgroupResult::new(
            move |shader, ids| {
                let direction = shader.constant_u32(direction);
                with(shader, ids, "OpGroupNonUniformQuadSwap", &direction)
            },
            move |active, own| active.value(own / 4 * 4 + partners[own as usize % 4]),
        );
        part.for_size_at_least(4)
    });
    parts.collect()
}

fn rotates() -> Vec<SubgroupResult> {
    let parts = [0, 1, 2, 3, 7].map(|delta| {
        SubgroupResult::new(
            move |shader, ids| {
                let delta = shader.constant_u32(delta);
                with(shader, ids, "OpGroupNonUniformRotateKHR", &delta)
            },
            move |active, own| active.value((own + delta) % active.size),
        )
    });
    parts.into()
}

fn clusters() -> Vec<SubgroupResult> {
    let parts = [(1, 1), (2, 1), (4, 1), (4, 3), (8, 5), (16, 7), (32, 17)].map(|(size, delta): (u32, u32)| {
        let part = SubgroupResult::new(
            move |shader, ids| {
                let (delta, cluster) = (shader.constant_u32(delta), shader.constant_u32(size));
                with(shader, ids, "OpGroupNonUniformRotateKHR", &format!("{delta} {cluster}"))
            },
            move |active, own| {
                let first = own - own % size;
                active.value(first + (own - first + delta) % size)
            },
        );
        part.for_size_at_least(size)
    });
    parts.into()
}
