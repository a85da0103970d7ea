//! `compute.*`: hand-written shaders under `shaders/compute/`. Each exercises something that a
//! driver or translator gets wrong. A shader that requires particular inputs has a case file next
//! to it.

use crate::{Case, CaseSubject, Program, Suite};
use assay_check::{CaseFile, Options};
use std::path::Path;

/// The suite.
#[derive(Debug)]
pub(crate) struct Compute;

/// Path under `shaders/compute/`, text of the shader, text of its case file.
const SHADERS: &[(&str, &str, Option<&str>)] = include!(concat!(env!("OUT_DIR"), "/compute.rs"));

impl Suite for Compute {
    fn name(&self) -> &'static str {
        "compute"
    }

    fn purpose(&self) -> &'static str {
        "hand-written shaders: integers, control flow, pointers, layouts, workgroup memory, atomics, images, and complete programs"
    }

    fn cases(&self) -> Vec<Case> {
        SHADERS.iter().map(|&(path, text, file)| case(path, text, file)).collect()
    }
}

fn case(path: &'static str, text: &'static str, file: Option<&'static str>) -> Case {
    let (stem, ending) = path.rsplit_once('.').unwrap_or((path, ""));
    let (group, _) = stem.split_once('/').unwrap_or((stem, ""));
    let subject =
        CaseSubject { instruction: group, types: language(ending).to_owned(), rule: purpose(text), clause: "SPIR-V" };
    let name = format!("compute.{}", stem.replace('/', "."));
    Case::core(name, subject, move || Program::from_text(text, ending, options(path, file)))
}

/// Returns the purpose of a shader: the comment on its first line.
fn purpose(text: &'static str) -> &'static str {
    text.lines().next().unwrap_or_default().trim_start_matches(['/', ';', ' '])
}

fn language(ending: &str) -> &'static str {
    if ending == "wgsl" { "WGSL" } else { "SPIR-V" }
}

/// Returns the options of the case file. A test checks that every case file parses.
fn options(path: &str, file: Option<&str>) -> Options {
    let read = file.and_then(|text| CaseFile::parse(path, text, Path::new("")).ok());
    read.map_or_else(Options::default, |case| case.options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shader_states_its_purpose_and_every_case_file_parses() {
        for (path, text, file) in SHADERS {
            let why = purpose(text);
            assert!(text.starts_with(['/', ';']) && why.len() > 15, "{path} begins with `{why}`");
            assert!(path.ends_with(".wgsl") || path.ends_with(".spvasm"), "{path}");
            let Some(file) = file else { continue };
            let case = CaseFile::parse(path, file, Path::new("shaders/compute/group")).unwrap();
            let shader = Path::new("shaders/compute/group").join(path.rsplit('/').next().unwrap());
            assert_eq!(case.shader, shader, "{path}");
            assert!(case.why.is_some(), "{path}: its case file does not say why");
        }
        let programs = SHADERS.iter().filter(|(path, ..)| path.starts_with("program/")).count();
        assert!(SHADERS.len() >= 150 + programs && programs >= 15, "{} and {programs}", SHADERS.len());
    }
}
