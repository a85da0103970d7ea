//! Instructions that hand values from one invocation to another.

use super::super::apply::Ty;
use super::super::bits::{self, Mode};
use super::program::{Form, Given, Of, Part};
use super::{of_value, shapes};
use crate::Case;
use crate::write::Shader;

const SHUFFLE: &[&str] = &["GroupNonUniformShuffle"];
const RELATIVE: &[&str] = &["GroupNonUniformShuffleRelative"];
const BALLOT: &[&str] = &["GroupNonUniformBallot"];
const QUAD: &[&str] = &["GroupNonUniformQuad"];
const ROTATE: &[&str] = &["GroupNonUniformRotateKHR"];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for value in shapes() {
        // One scalar and one vector say nearly all.
        let thin = !matches!(value.0.name().as_str(), "u32" | "f32" | "bool" | "u8" | "f16" | "i64");
        let narrow = (value.1 == 1 || value.1 == 4) && !thin;
        let is_float = matches!(value.0, Of::Number(Ty::Float { .. }));
        for form in forms(value) {
            cases.push(form.case().thinned(!narrow));
        }
        if is_float && narrow {
            // Denormals are not flushed on the way either.
            for mode in [Mode::None, Mode::SignedZeroInfNanPreserve] {
                let special = |form: Form| Form {
                    name: format!("{}.special{}", form.name, mode.suffix()),
                    bits: bits::special,
                    mode,
                    ..form
                };
                cases.extend(forms(value).into_iter().map(|form| special(form).case().covering([bits::COVERS])));
            }
        }
    }
    cases
}

fn forms(value: (Of, u32)) -> Vec<Form> {
    let rotates = of_value(
        "OpGroupNonUniformRotateKHR",
        ROTATE,
        value,
        "each invocation gets the value of the one so many further round",
        rotates,
    );
    let clusters = of_value("OpGroupNonUniformRotateKHR", ROTATE, value, "values go round in each cluster", clusters);
    let dynamic = of_value(
        "OpGroupNonUniformBroadcast",
        BALLOT,
        value,
        "all get the value of the invocation that is named",
        dynamic,
    );
    vec![
        of_value(
            "OpGroupNonUniformShuffle",
            SHUFFLE,
            value,
            "each invocation gets the value of the one that it names",
            shuffle,
        ),
        of_value(
            "OpGroupNonUniformShuffleXor",
            SHUFFLE,
            value,
            "each invocation gets the value of the one at its own place with these bits changed",
            xor,
        ),
        of_value(
            "OpGroupNonUniformShuffleUp",
            RELATIVE,
            value,
            "each invocation gets the value of the one so many before it",
            up,
        ),
        of_value(
            "OpGroupNonUniformShuffleDown",
            RELATIVE,
            value,
            "each invocation gets the value of the one so many after it",
            down,
        ),
        of_value(
            "OpGroupNonUniformBroadcast",
            BALLOT,
            value,
            "all get the value of the invocation that is named",
            broadcast,
        ),
        Form { name: format!("{}.dynamic", dynamic.name), version: "1.5", ..dynamic },
        of_value(
            "OpGroupNonUniformBroadcastFirst",
            BALLOT,
            value,
            "all get the value of the first invocation that is active",
            first,
        ),
        of_value(
            "OpGroupNonUniformQuadBroadcast",
            QUAD,
            value,
            "all of a quad get the value of the invocation that is named",
            quad,
        ),
        of_value("OpGroupNonUniformQuadSwap", QUAD, value, "invocations of a quad swap values along a direction", swap),
        Form { extension: Some("SPV_KHR_subgroup_rotate"), ..rotates },
        Form { name: format!("{}.clustered", clusters.name), extension: Some("SPV_KHR_subgroup_rotate"), ..clusters },
    ]
}

/// `INSTRUCTION scope value index`.
fn with(shader: &mut Shader, given: &Given, spirv: &str, index: &str) -> String {
    shader.op(&given.ty, spirv, format_args!("{} {} {index}", given.scope, given.value))
}

/// A word made of the invocation's place: `(own * factor + offset) & (size - 1)`.
fn within(shader: &mut Shader, given: &Given, factor: u32, offset: u32) -> String {
    let u32 = shader.u32();
    let [factor, offset, one] = [factor, offset, 1].map(|n| shader.constant_u32(n));
    let many = shader.op(&u32, "OpIMul", format_args!("{} {factor}", given.own));
    let sum = shader.op(&u32, "OpIAdd", format_args!("{many} {offset}"));
    let last = shader.op(&u32, "OpISub", format_args!("{} {one}", given.size));
    shader.op(&u32, "OpBitwiseAnd", format_args!("{sum} {last}"))
}

fn shuffle() -> Vec<Part> {
    let parts = [(5, 3), (1, 1), (0, 0), (3, 2)].map(|(factor, offset)| {
        Part::new(
            move |shader, given| {
                let index = within(shader, given, factor, offset);
                with(shader, given, "OpGroupNonUniformShuffle", &index)
            },
            move |team, own| team.value((own * factor + offset) % team.size),
        )
    });
    parts.into()
}

fn xor() -> Vec<Part> {
    let constant = |mask: u32| {
        let part = Part::new(
            move |shader, given| {
                let mask = shader.constant_u32(mask);
                with(shader, given, "OpGroupNonUniformShuffleXor", &mask)
            },
            move |team, own| team.value(own ^ mask),
        );
        part.of_at_least((mask + 1).next_power_of_two())
    };
    let mut parts: Vec<Part> = [1, 2, 3, 4, 7, 16].map(constant).into();
    // The last place, and one that differs from invocation to invocation.
    for (factor, offset) in [(0, u32::MAX), (3, 1)] {
        parts.push(Part::new(
            move |shader, given| {
                let mask = within(shader, given, factor, offset);
                with(shader, given, "OpGroupNonUniformShuffleXor", &mask)
            },
            move |team, own| team.value(own ^ ((own * factor).wrapping_add(offset) % team.size)),
        ));
    }
    parts
}

/// Of what lies beyond the subgroup an invocation keeps its own value: what it is given there is undefined.
fn relative(spirv: &'static str, is_up: bool) -> Vec<Part> {
    let parts = [(0, 0), (0, 1), (0, 2), (0, 5), (1, 1), (3, 2)].map(|(factor, offset)| {
        Part::new(
            move |shader, given| {
                let delta = within(shader, given, factor, offset);
                let found = with(shader, given, spirv, &delta);
                let (u32, bool) = (shader.u32(), shader.bool());
                let is = if is_up {
                    shader.op(&bool, "OpUGreaterThanEqual", format_args!("{} {delta}", given.own))
                } else {
                    let sum = shader.op(&u32, "OpIAdd", format_args!("{} {delta}", given.own));
                    shader.op(&bool, "OpULessThan", format_args!("{sum} {}", given.size))
                };
                given.select(shader, &is, &found)
            },
            move |team, own| {
                let delta = (own * factor + offset) % team.size;
                let place = if is_up { own.checked_sub(delta) } else { Some(own + delta).filter(|p| *p < team.size) };
                team.value(place.unwrap_or(own))
            },
        )
    });
    parts.into()
}

fn up() -> Vec<Part> {
    relative("OpGroupNonUniformShuffleUp", true)
}

fn down() -> Vec<Part> {
    relative("OpGroupNonUniformShuffleDown", false)
}

fn broadcast() -> Vec<Part> {
    let parts = [0, 1, 2, 3, 5, 7, 12, 31].map(|id: u32| {
        let part = Part::new(
            move |shader, given| {
                let id = shader.constant_u32(id);
                with(shader, given, "OpGroupNonUniformBroadcast", &id)
            },
            move |team, _| team.value(id),
        );
        part.of_at_least((id + 1).next_power_of_two())
    });
    parts.into()
}

fn dynamic() -> Vec<Part> {
    let parts = [0, 3, u32::MAX].map(|offset: u32| {
        Part::new(
            move |shader, given| {
                let id = within(shader, given, 0, offset);
                with(shader, given, "OpGroupNonUniformBroadcast", &id)
            },
            move |team, _| team.value(offset % team.size),
        )
    });
    parts.into()
}

fn first() -> Vec<Part> {
    vec![Part::new(
        |shader, given| {
            shader.op(&given.ty, "OpGroupNonUniformBroadcastFirst", format_args!("{} {}", given.scope, given.value))
        },
        |team, _| team.members.first_key_value().map(|(_, (_, value))| value.clone()).unwrap_or_default(),
    )]
}

fn quad() -> Vec<Part> {
    let parts = [0, 1, 2, 3].map(|index| {
        let part = Part::new(
            move |shader, given| {
                let index = shader.constant_u32(index);
                with(shader, given, "OpGroupNonUniformQuadBroadcast", &index)
            },
            move |team, own| team.value(own - own % 4 + index),
        );
        part.of_at_least(4)
    });
    parts.into()
}

fn swap() -> Vec<Part> {
    // Within a quad of two rows of two: across columns, across rows, across both.
    let parts = [[1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]].into_iter().zip(0..).map(|(partners, direction)| {
        let part = Part::new(
            move |shader, given| {
                let direction = shader.constant_u32(direction);
                with(shader, given, "OpGroupNonUniformQuadSwap", &direction)
            },
            move |team, own| team.value(own / 4 * 4 + partners[own as usize % 4]),
        );
        part.of_at_least(4)
    });
    parts.collect()
}

fn rotates() -> Vec<Part> {
    let parts = [0, 1, 2, 3, 7].map(|delta| {
        Part::new(
            move |shader, given| {
                let delta = shader.constant_u32(delta);
                with(shader, given, "OpGroupNonUniformRotateKHR", &delta)
            },
            move |team, own| team.value((own + delta) % team.size),
        )
    });
    parts.into()
}

fn clusters() -> Vec<Part> {
    let parts = [(1, 1), (2, 1), (4, 1), (4, 3), (8, 5), (16, 7), (32, 17)].map(|(size, delta): (u32, u32)| {
        let part = Part::new(
            move |shader, given| {
                let (delta, cluster) = (shader.constant_u32(delta), shader.constant_u32(size));
                with(shader, given, "OpGroupNonUniformRotateKHR", &format!("{delta} {cluster}"))
            },
            move |team, own| {
                let first = own - own % size;
                team.value(first + (own - first + delta) % size)
            },
        );
        part.of_at_least(size)
    });
    parts.into()
}
