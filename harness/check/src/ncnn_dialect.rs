//! Shaders of ncnn and of programs built on it, which use macros that ncnn defines when it compiles
//! them: `sfpvec4`, `buffer_ld4`, `psc`.

use crate::missing_macros::{definitions, names};

/// Definitions of the macros. No macro of a build selects other precisions.
const MACROS: &str = include_str!("ncnn_dialect.glsl");

/// Macros of which each shader uses one.
const MACRO_NAMES: [&str; 9] = ["sfp", "sfpvec2", "sfpvec4", "afp", "afpvec2", "afpvec4", "sint8", "sint8vec4", "psc"];

/// Workgroup sizes of a shader that states none and uses one, two or three axes: ncnn sets the size
/// when it makes a pipeline.
const WORKGROUPS: [&str; 3] = [
    "layout(local_size_x = 64) in;\n",
    "layout(local_size_x = 8, local_size_y = 8) in;\n",
    "layout(local_size_x = 4, local_size_y = 4, local_size_z = 4) in;\n",
];

/// Note on a module that was compiled with the macros.
pub(crate) const NOTE: &str = "the text is written for ncnn: its macros were added, in single precision, and a workgroup \
                               size where it states none";

/// Returns the lines that a text of this dialect requires before its own and after; `None` for other
/// texts, and if the text or the given definitions (`NAME=VALUE`) define the macros.
pub(crate) fn additions(text: &str, given: &[String]) -> Option<(&'static str, &'static str)> {
    let is_defined = |name: &str| {
        definitions(text, name).next().is_some() || given.iter().any(|define| define.split('=').next() == Some(name))
    };
    let mut used = text.lines().flat_map(names).filter(|(_, name)| MACRO_NAMES.contains(name));
    let uses_undefined = used.any(|(_, name)| !is_defined(name));
    let uses = |axis: &str| {
        ["GlobalInvocationID", "LocalInvocationID", "WorkGroupID"]
            .iter()
            .any(|id| text.contains(&format!("{id}.{axis}")))
    };
    let workgroup = match () {
        () if text.contains("local_size_") => "",
        () if uses("z") => WORKGROUPS[2],
        () if uses("y") => WORKGROUPS[1],
        () => WORKGROUPS[0],
    };
    uses_undefined.then_some((MACROS, workgroup))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_macros_are_added_where_they_are_used_and_not_defined() {
        let shader = "layout(binding = 0) buffer blob { sfpvec4 data[]; };";
        assert_eq!(additions(shader, &[]), Some((MACROS, WORKGROUPS[0])));
        let in_space = format!("{shader} int x = int(gl_GlobalInvocationID.x), z = int(gl_GlobalInvocationID.z);");
        assert_eq!(additions(&in_space, &[]), Some((MACROS, WORKGROUPS[2])));
        let sized = format!("layout(local_size_x_id = 1) in;\n{shader}");
        assert_eq!(additions(&sized, &[]), Some((MACROS, "")));
        assert_eq!(additions(&format!("#define sfpvec4 vec4\n{shader}"), &[]), None);
        assert_eq!(additions(shader, &["sfpvec4=vec4".to_owned()]), None);
        assert_eq!(additions("buffer blob { float sfps[]; };", &[]), None);
    }
}
