//! Case files: a shader with all that it is run with, and what is expected of it.

use crate::options::{Expectation, Options, Source, groups, robustness};
use crate::{AddressWord, BindingName, CheckError, ImageForm, SamplerForm};
use assay_spirv::sampling::View;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A case of a shader.
#[derive(Clone, Debug)]
pub struct CaseFile {
    /// The shader's file.
    pub shader: PathBuf,
    /// What it is for.
    pub why: Option<String>,
    /// What it is run with.
    pub options: Options,
}

/// The form of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    shader: String,
    why: Option<String>,
    entry: Option<String>,
    workgroups: Option<Vec<u32>>,
    rounds: Option<u32>,
    seed: Option<u64>,
    sample: Option<u64>,
    push: Option<String>,
    robustness: Option<String>,
    subgroups: Option<String>,
    #[serde(default)]
    spec: BTreeMap<String, Value>,
    #[serde(default)]
    input: BTreeMap<String, Value>,
    #[serde(default)]
    elements: BTreeMap<String, u64>,
    #[serde(default)]
    image: BTreeMap<String, ImageForm>,
    #[serde(default)]
    sampler: BTreeMap<String, SamplerForm>,
    #[serde(default)]
    buffer: BTreeMap<String, String>,
    #[serde(default)]
    address: BTreeMap<String, String>,
    #[serde(default)]
    expect: Vec<Expectation>,
}

/// A number may be written as one.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Value {
    String(String),
    Whole(i64),
    Real(f64),
    Bool(bool),
}

impl Value {
    fn text(&self) -> String {
        match self {
            Value::String(text) => text.clone(),
            Value::Whole(number) => number.to_string(),
            Value::Real(number) => number.to_string(),
            Value::Bool(value) => value.to_string(),
        }
    }
}

impl CaseFile {
    /// Whether a file's text is of this form rather than a family of precision cases: it names a shader.
    pub fn is_one(text: &str) -> bool {
        text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("shader"))
    }

    /// Reads a case file. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// It cannot be read, or does not say what it must: with its line.
    pub fn load(path: &Path) -> Result<CaseFile, CheckError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| CheckError::Unreadable { path: path.to_owned(), source })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        CaseFile::parse(&path.display().to_string(), &text, folder)
    }

    /// Reads the text of a case file.
    ///
    /// # Errors
    /// As [`CaseFile::load`].
    pub fn parse(file: &str, text: &str, folder: &Path) -> Result<CaseFile, CheckError> {
        let wrong = |line: usize, what: String| CheckError::CaseFile { file: file.to_owned(), line, what };
        let form: Form = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            wrong(text[..at.min(text.len())].matches('\n').count() + 1, error.message().to_owned())
        })?;
        // What the values mean is known by the shader only; where they stand is found again by their key.
        let line_of = |key: &str| {
            let quoted = format!("\"{key}\"");
            let found = text.lines().position(|line| line.contains(&quoted) || line.trim_start().starts_with(key));
            found.map_or(1, |line| line + 1)
        };
        let source = |text: &str| match text.parse::<Source>() {
            Ok(Source::File(path)) => Ok(Source::File(folder.join(path))),
            other => other,
        };
        let mut options = Options { entry: form.entry, expectations: form.expect, ..Options::default() };
        if let Some(given) = form.workgroups {
            let given = given.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            options.groups = Some(groups(&given).map_err(|error| wrong(line_of("workgroups"), error.to_string()))?);
        }
        options.rounds = form.rounds.unwrap_or(options.rounds);
        options.seed = form.seed.unwrap_or(options.seed);
        options.sample = form.sample;
        options.push = form.push.as_deref().map(source).transpose()?;
        if let Some(given) = form.robustness {
            options.robustness = robustness(&given).map_err(|error| wrong(line_of("robustness"), error.to_string()))?;
        }
        options.subgroups = form.subgroups.as_deref().map(str::parse).transpose()?;
        options.specs = form.spec.iter().map(|(key, value)| (key.clone(), value.text())).collect();
        for (key, value) in &form.input {
            let to: BindingName = key.parse()?;
            options.inputs.push((to, source(&value.text())?));
        }
        for (key, elements) in &form.elements {
            let to = if key == "*" { None } else { Some(key.parse()?) };
            options.elements.push((to, *elements));
        }
        for (key, image) in form.image {
            let at = line_of(&key);
            image.image_format().and_then(|_| image.view(View::ALL)).map_err(|error| wrong(at, error.to_string()))?;
            options.images.push((key.parse()?, image));
        }
        for (key, sampler) in form.sampler {
            sampler.sampler().map_err(|error| wrong(line_of(&key), error.to_string()))?;
            options.samplers.push((key.parse()?, sampler));
        }
        for (key, form) in form.buffer {
            let form = form.parse().map_err(|error: CheckError| wrong(line_of(&key), error.to_string()))?;
            options.buffers.push((key, form));
        }
        for (key, value) in form.address {
            let word = AddressWord::parse(&key, &value).map_err(|error| wrong(line_of(&key), error.to_string()))?;
            options.addresses.push(word);
        }
        Ok(CaseFile { shader: folder.join(form.shader), why: form.why, options })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    const TEXT: &str = r#"
why = "the sum of what is there"
shader = "sum.wgsl"
workgroups = [4, 2]
rounds = 1
robustness = "access"
subgroups = "0.7"
[spec]
0 = 16
[input]
"0.1" = "index"
table = "table.bin"
[elements]
"*" = 64
[image."0.3"]
size = [5, 3]
format = "Rgba8"
base_level = 1
[sampler.clamping]
filter = "linear"
address = ["repeat", "clamp_to_edge"]
[buffer]
nodes = "16*value:f32,next:u64"
[address]
"push@0" = "nodes+16"
[[expect]]
binding = "0.2"
element = ".sum"
value = "2016"
"#;

    #[test]
    fn a_case_fixes_what_the_command_line_can_say() {
        let case = CaseFile::parse("a.toml", TEXT, Path::new("folder")).unwrap();
        assert_eq!(case.shader, Path::new("folder/sum.wgsl"));
        assert_eq!((case.options.groups, case.options.rounds), (Some([4, 2, 1]), 1));
        assert_eq!(case.options.robustness, assay_oracle::Robustness::Access);
        assert_eq!(case.options.subgroups, Some("0.7".parse().unwrap()));
        assert_eq!(case.options.specs, [("0".to_owned(), "16".to_owned())]);
        assert_eq!(case.options.inputs[0].1, Source::Index);
        assert_eq!(case.options.inputs[1].1, Source::File(PathBuf::from("folder/table.bin")));
        assert_eq!(case.options.elements, [(None, 64)]);
        assert_eq!(case.options.images[0].1.size, Some(vec![5, 3]));
        assert!(case.options.samplers[0].1.sampler().unwrap().linear);
        assert_eq!(case.options.expectations[0].value, "2016");
        assert_eq!(case.options.buffers[0].1.to_string(), "16*value:f32,next:u64");
        assert_eq!(case.options.addresses[0].text(), ("push@0".to_owned(), "nodes+16".to_owned()));
        assert!(CaseFile::is_one(TEXT) && !CaseFile::is_one("why = \"x\""));
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        let error = |text: &str| CaseFile::parse("a.toml", text, Path::new("")).unwrap_err().to_string();
        assert!(error("shader = \"a\"\nrounds = \"two\"").starts_with("a.toml:2: "));
        assert!(error("shader = \"a\"\n\nround = 2").starts_with("a.toml:3: "));
        assert!(error("shader = \"a\"\nworkgroups = [0]").starts_with("a.toml:2: "));
        assert!(error("shader = \"a\"\n[buffer]\nnodes = \"u32\"").starts_with("a.toml:3: "));
        assert!(error("shader = \"a\"\n[address]\n\"push\" = \"nodes\"").starts_with("a.toml:3: "));
        assert!(error("shader = \"a\"\nrobustness = \"full\"").starts_with("a.toml:2: "));
        let sampler = error("shader = \"a\"\n[sampler]\nname = { filter = \"cubic\" }");
        assert!(sampler.starts_with("a.toml:3: ") && sampler.contains("nearest, linear"), "{sampler}");
    }
}
