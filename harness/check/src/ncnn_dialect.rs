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

/// Returns a text of this dialect with the macros after its version, and with a workgroup size at its
/// end where it states none. Lines keep their numbers in messages. Returns `None` for other
/// texts, and if the text or the given definitions (`NAME=VALUE`) define the macros.
pub(crate) fn completed(text: &str, given: &[String]) -> Option<String> {
    let is_defined = |name: &str| {
        definitions(text, name).next().is_some() || given.iter().any(|define| define.split('=').next() == Some(name))
    };
    let mut used = text.lines().flat_map(names).filter(|(_, name)| MACRO_NAMES.contains(name));
    if !used.any(|(_, name)| !is_defined(name)) {
        return None;
    }
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
    let is_version = |line: &str| line.trim_start_matches('\u{feff}').trim_start().starts_with("#version");
    let version = text.lines().position(is_version).map_or(0, |version| version + 1);
    let lines: Vec<&str> = text.lines().collect();
    let (before, after) = lines.split_at(version);
    let line = format!("#line {}", version + 1);
    Some([before, &[MACROS, &line], after, &[workgroup]].concat().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_macros_are_added_where_they_are_used_and_not_defined() {
        let shader = "layout(binding = 0) buffer blob { sfpvec4 data[]; };";
        let expected = |workgroup: &str| Some(format!("{MACROS}\n#line 1\n{shader}\n{workgroup}"));
        assert_eq!(completed(shader, &[]), expected(WORKGROUPS[0]));
        let with_version = completed(&format!("#version 450\n{shader}"), &[]).unwrap();
        assert!(with_version.starts_with("#version 450\n//") && with_version.contains("\n#line 2\nlayout"));
        let in_space = format!("{shader} int x = int(gl_GlobalInvocationID.x), z = int(gl_GlobalInvocationID.z);");
        assert!(completed(&in_space, &[]).unwrap().ends_with(WORKGROUPS[2]));
        let sized = format!("layout(local_size_x_id = 1) in;\n{shader}");
        assert!(completed(&sized, &[]).unwrap().ends_with(&format!("{shader}\n")));
        assert_eq!(completed(&format!("#define sfpvec4 vec4\n{shader}"), &[]), None);
        assert_eq!(completed(shader, &["sfpvec4=vec4".to_owned()]), None);
        assert_eq!(completed("buffer blob { float sfps[]; };", &[]), None);
    }
}
