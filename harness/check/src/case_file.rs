//! Case files: a shader with its inputs, options and expected values.

use crate::options::{BindingSource, Expectation, Options, groups, robustness};
use crate::subgroup_control::subgroup_size;
use crate::{AddressWord, CheckError, ImageConfig, SamplerConfig};
use assay_files::input;
use assay_texture::ImageView;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::DeTable;

/// A case of a shader.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CaseFile {
    /// Path of the shader.
    pub shader: PathBuf,
    /// Purpose of the case.
    pub why: Option<String>,
    /// Macros of GLSL, HLSL and Slang, as `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Folders of included files.
    pub includes: Vec<PathBuf>,
    /// Options of the check. Another process gets those of the session.
    #[serde(skip)]
    pub options: Options,
    /// Name of the case file in messages.
    file: String,
    /// Line of each entry, by table and key.
    lines: BTreeMap<String, BTreeMap<String, usize>>,
    /// Line of the shader's path.
    shader_line: usize,
}

/// A table of TOML whose keys have positions.
type Table<T> = BTreeMap<Spanned<String>, T>;

/// Schema of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseToml {
    shader: Spanned<String>,
    why: Option<String>,
    entry: Option<String>,
    #[serde(default)]
    define: BTreeMap<String, TomlValue>,
    #[serde(default)]
    include: Vec<Spanned<String>>,
    workgroups: Option<Spanned<Vec<u32>>>,
    rounds: Option<Spanned<u32>>,
    seed: Option<u64>,
    sample: Option<Spanned<u64>>,
    push: Option<Spanned<PushToml>>,
    robustness: Option<Spanned<String>>,
    subgroups: Option<Spanned<String>>,
    subgroup_size: Option<Spanned<u32>>,
    #[serde(default)]
    full_subgroups: bool,
    #[serde(default)]
    benign_races: bool,
    #[serde(default)]
    spec: Table<TomlValue>,
    #[serde(default)]
    input: Table<TomlValue>,
    #[serde(default)]
    elements: Table<u64>,
    #[serde(default)]
    image: Table<ImageConfig>,
    #[serde(default)]
    sampler: Table<SamplerConfig>,
    #[serde(default)]
    buffer: Table<String>,
    #[serde(default)]
    address: Table<String>,
    #[serde(default)]
    expect: Vec<Spanned<Expectation>>,
}

/// A value of TOML; numbers need not be quoted.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a string, a number, true or false")]
pub(crate) enum TomlValue {
    String(String),
    Whole(i64),
    Real(f64),
    Bool(bool),
}

/// Push constants: their contents, or values of single ones by path or offset.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected contents, or a table of NAME = VALUE")]
enum PushToml {
    Contents(TomlValue),
    Values(BTreeMap<String, TomlValue>),
}

impl TomlValue {
    pub(crate) fn text(&self) -> String {
        match self {
            TomlValue::String(text) => text.clone(),
            TomlValue::Whole(number) => number.to_string(),
            TomlValue::Real(number) => number.to_string(),
            TomlValue::Bool(value) => value.to_string(),
        }
    }
}

impl CaseFile {
    /// Returns whether a text is a case file, not a family of precision cases: it has the key
    /// `shader`.
    pub fn is_case_file(text: &str) -> bool {
        DeTable::parse(text).is_ok_and(|table| table.get_ref().contains_key("shader"))
    }

    /// Reads a case file of at most [`input::MAX_CASE_BYTES`] bytes; `None` for a family of
    /// precision cases. Paths in it are relative to its directory and must be below it.
    ///
    /// # Errors
    /// The file cannot be read or is invalid. The error gives the line.
    pub fn load(path: &Path) -> Result<Option<CaseFile>, CheckError> {
        let text = input::read_text(path, input::MAX_CASE_BYTES)
            .map_err(|source| CheckError::Unreadable { path: path.to_owned(), source })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let file = path.display().to_string();
        let text = Text::new(&file, &text);
        // Parsed only once: the table takes many times the size of the file.
        let table = text.table()?;
        if !table.get_ref().contains_key("shader") {
            return Ok(None);
        }
        CaseFile::from_table(&text, table, folder).map(Some)
    }

    /// Parses the text of a case file.
    ///
    /// # Errors
    /// As [`CaseFile::load`].
    pub fn parse(file: &str, text: &str, folder: &Path) -> Result<CaseFile, CheckError> {
        let text = Text::new(file, text);
        let table = text.table()?;
        CaseFile::from_table(&text, table, folder)
    }

    fn from_table(text: &Text<'_>, table: Spanned<DeTable<'_>>, folder: &Path) -> Result<CaseFile, CheckError> {
        let (file, wrong) = (text.file, |line: usize, what: String| text.wrong(line, what));
        let line = |at: usize| text.line(at);
        let form = CaseToml::deserialize(toml::Deserializer::from(table)).map_err(|error| text.malformed(&error))?;
        let mut lines = BTreeMap::<String, BTreeMap<String, usize>>::new();
        let mut note = |table: &str, key: &str, line: usize| {
            lines.entry(table.to_owned()).or_default().insert(key.to_owned(), line);
        };
        // Values are checked later, when the shader is known.
        let mut noted = |table: &'static str, key: &Spanned<String>| {
            note(table, key.get_ref().trim(), line(key.span().start));
            line(key.span().start)
        };
        let at = |line: usize| move |error: CheckError| wrong(line, error.to_string());
        // A number is a value for all scalars; a string has the form of the command line.
        let source = |value: &TomlValue| match value {
            TomlValue::String(text) => match BindingSource::parse(text, folder) {
                BindingSource::File(path) => match input::resolve_below(folder, &path) {
                    Ok(path) => Ok(BindingSource::File(path)),
                    Err(error) => Err(CheckError::option(error.to_string())),
                },
                other => Ok(other),
            },
            number => Ok(BindingSource::Number(number.text())),
        };
        let mut options = Options { entry: form.entry, ..Options::default() };
        if let Some(given) = form.workgroups {
            let all = given.get_ref().iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            options.groups = Some(groups(&all).map_err(at(line(given.span().start)))?);
        }
        let none =
            |what: &str, span: std::ops::Range<usize>| wrong(line(span.start), format!("`{what}` must be at least 1"));
        if let Some(rounds) = form.rounds {
            options.rounds = *rounds.get_ref();
            (options.rounds > 0).then_some(()).ok_or_else(|| none("rounds", rounds.span()))?;
        }
        options.seed = form.seed.unwrap_or(options.seed);
        if let Some(sample) = form.sample {
            options.checked_invocations = Some(*sample.get_ref()).filter(|sample| *sample > 0);
            options.checked_invocations.ok_or_else(|| none("sample", sample.span()))?;
        }
        if let Some(given) = form.robustness {
            options.robustness = Some(robustness(given.get_ref()).map_err(at(line(given.span().start)))?);
        }
        if let Some(given) = form.subgroups {
            let line = noted("subgroups", &given);
            options.subgroups = Some(given.get_ref().parse().map_err(at(line))?);
        }
        if let Some(given) = form.subgroup_size {
            let size = subgroup_size(*given.get_ref()).map_err(at(line(given.span().start)))?;
            options.subgroup_control.size = Some(size);
        }
        options.subgroup_control.full = form.full_subgroups;
        options.benign_races = form.benign_races;
        for (key, value) in &form.spec {
            noted("spec", key);
            options.specs.push((key.get_ref().clone(), value.text()));
        }
        for (key, value) in &form.input {
            let line = noted("input", key);
            let to = key.get_ref().parse().map_err(at(line))?;
            options.inputs.push((to, source(value).map_err(at(line))?));
        }
        for (key, elements) in &form.elements {
            let line = noted("elements", key);
            let to = if key.get_ref() == "*" { None } else { Some(key.get_ref().parse().map_err(at(line))?) };
            (*elements > 0).then_some(()).ok_or_else(|| none("elements", key.span()))?;
            options.elements.push((to, *elements));
        }
        for (key, image) in form.image {
            let line = noted("image", &key);
            image.image_format().and_then(|_| image.view(ImageView::ALL)).map_err(at(line))?;
            options.images.push((key.get_ref().parse().map_err(at(line))?, image));
        }
        for (key, sampler) in form.sampler {
            let line = noted("sampler", &key);
            sampler.sampler().map_err(at(line))?;
            options.samplers.push((key.get_ref().parse().map_err(at(line))?, sampler));
        }
        for (key, form) in form.buffer {
            let form = form.parse().map_err(at(noted("buffer", &key)))?;
            options.buffers.push((key.into_inner(), form));
        }
        for (key, value) in form.address {
            let word = AddressWord::parse(key.get_ref(), &value).map_err(at(noted("address", &key)))?;
            options.addresses.push(word);
        }
        if let Some(push) = form.push {
            let line = line(push.span().start);
            match push.get_ref() {
                PushToml::Contents(contents) => options.push = Some(source(contents).map_err(at(line))?),
                PushToml::Values(values) => {
                    for (name, value) in values {
                        note("push", name, line);
                        options.push_values.push((name.clone(), value.text()));
                    }
                }
            }
        }
        for (number, expectation) in form.expect.into_iter().enumerate() {
            note("expect", &number.to_string(), line(expectation.span().start));
            options.expectations.push(expectation.into_inner());
        }
        let shader_line = line(form.shader.span().start);
        let shader = input::resolve_below(folder, Path::new(form.shader.get_ref()));
        let shader = shader.map_err(|error| wrong(shader_line, error.to_string()))?;
        let defines = form.define.iter().map(|(name, value)| match value.text() {
            value if value.is_empty() => name.clone(),
            value => format!("{name}={value}"),
        });
        let includes = form.include.iter().map(|folder_of_files| {
            let found = input::resolve_below(folder, Path::new(folder_of_files.get_ref()));
            found.map_err(|error| wrong(line(folder_of_files.span().start), error.to_string()))
        });
        Ok(CaseFile {
            shader,
            shader_line,
            why: form.why,
            defines: defines.collect(),
            includes: includes.collect::<Result<_, _>>()?,
            options,
            file: file.to_owned(),
            lines,
        })
    }

    /// Adds the line of the case file to an error that its options caused, if the line is known.
    pub fn with_line(&self, error: CheckError) -> CheckError {
        match error {
            CheckError::Entry { table, key, what } => match self.lines.get(table).and_then(|lines| lines.get(&key)) {
                Some(&line) => CheckError::CaseFile { file: self.file.clone(), line, what },
                None => CheckError::Option(what),
            },
            CheckError::Unreadable { path, source } if path == self.shader => {
                let what = format!("cannot read {}: {source}", path.display());
                CheckError::CaseFile { file: self.file.clone(), line: self.shader_line, what }
            }
            other => other,
        }
    }
}

/// Text of a case file, with its name and lines for messages.
pub(crate) struct Text<'a> {
    file: &'a str,
    text: &'a str,
    /// Positions of line ends. Counting lines anew for each position would take quadratic time.
    ends: Vec<usize>,
}

impl<'a> Text<'a> {
    pub(crate) fn new(file: &'a str, text: &'a str) -> Text<'a> {
        Text { file, text, ends: text.match_indices('\n').map(|(at, _)| at).collect() }
    }

    pub(crate) fn table(&self) -> Result<Spanned<DeTable<'a>>, CheckError> {
        DeTable::parse(self.text).map_err(|error| self.malformed(&error))
    }

    pub(crate) fn line(&self, at: usize) -> usize {
        self.ends.partition_point(|end| *end < at) + 1
    }

    pub(crate) fn wrong(&self, line: usize, what: String) -> CheckError {
        CheckError::CaseFile { file: self.file.to_owned(), line, what }
    }

    pub(crate) fn malformed(&self, error: &toml::de::Error) -> CheckError {
        /// Longest line that is quoted, in bytes.
        const QUOTED: usize = 60;
        let line = self.line(error.span().map_or(0, |span| span.start));
        let text = self.text.lines().nth(line - 1).unwrap_or_default().trim();
        let message = error.message().replace("expected a string", "expected a string in quotes");
        let quoted = message.starts_with("invalid ") && text.len() <= QUOTED;
        self.wrong(line, if quoted { format!("`{text}`: {message}") } else { message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Check, ShaderSource};
    use assay_exec::SubgroupControl;

    const TEXT: &str = r#"
why = "the sum of what is there"
shader = "sum.wgsl"
workgroups = [4, 2]
rounds = 1
robustness = "access"
subgroups = "0.7"
subgroup_size = 16
full_subgroups = true
benign_races = true
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
    fn a_case_file_sets_the_options_of_the_command_line() {
        let case = CaseFile::parse("a.toml", TEXT, Path::new("folder")).unwrap();
        assert_eq!(case.shader, Path::new("folder/sum.wgsl"));
        assert_eq!((case.options.groups, case.options.rounds), (Some([4, 2, 1]), 1));
        assert_eq!(case.options.robustness, Some(assay_oracle::Robustness::Access));
        assert_eq!(case.options.subgroups, Some("0.7".parse().unwrap()));
        assert_eq!(case.options.subgroup_control, SubgroupControl { size: Some(16), full: true });
        assert!(case.options.benign_races);
        assert_eq!(case.options.specs, [("0".to_owned(), "16".to_owned())]);
        assert_eq!(case.options.inputs[0].1, BindingSource::Index);
        assert_eq!(case.options.inputs[1].1, BindingSource::File(PathBuf::from("folder/table.bin")));
        assert_eq!(case.options.elements, [(None, 64)]);
        assert_eq!(case.options.images[0].1.size, Some(vec![5, 3]));
        assert!(case.options.samplers[0].1.sampler().unwrap().linear);
        assert_eq!(case.options.expectations[0].value, "2016");
        assert_eq!(case.options.buffers[0].1.to_string(), "16*value:f32,next:u64");
        assert_eq!(case.options.addresses[0].text(), ("push@0".to_owned(), "nodes+16".to_owned()));
        assert!(CaseFile::is_case_file(TEXT) && !CaseFile::is_case_file("why = \"x\""));
    }

    #[test]
    fn mistakes_in_case_files_are_reported_with_their_line() {
        let error = |text: &str| CaseFile::parse("a.toml", text, Path::new("")).unwrap_err().to_string();
        assert!(error("shader = \"a\"\nrounds = \"two\"").starts_with("a.toml:2: "));
        assert!(error("shader = \"a\"\n\nround = 2").starts_with("a.toml:3: "));
        assert!(error("shader = \"a\"\nworkgroups = [0]").starts_with("a.toml:2: "));
        assert!(error("shader = \"a\"\n[buffer]\nnodes = \"u32\"").starts_with("a.toml:3: "));
        assert!(error("shader = \"a\"\n[address]\n\"push\" = \"nodes\"").starts_with("a.toml:3: "));
        assert!(error("shader = \"a\"\nrobustness = \"full\"").starts_with("a.toml:2: "));
        assert!(error("shader = \"a\"\nsubgroup_size = 12").starts_with("a.toml:2: "));
        let sampler = error("shader = \"a\"\n[sampler]\nname = { filter = \"cubic\" }");
        assert!(sampler.starts_with("a.toml:3: ") && sampler.contains("nearest, linear"), "{sampler}");
        // An earlier line starts with the key, too.
        assert!(error("shader = \"a\"\n\n[sampler.s]\nfilter = \"cubic\"").starts_with("a.toml:3: "));
        assert!(error("why = \"t\"\nshader = \"a\"\n[image.t]\nformat = \"Rgb\"").starts_with("a.toml:3: "));
        let list = error("shader = \"a\"\n[input]\na = [1, 2]");
        assert!(list.starts_with("a.toml:3: ") && list.contains("a number"), "{list}");
        for none in ["rounds = 0", "sample = 0", "[elements]\na = 0", "[[expect]]\nbindings = \"a\""] {
            let error = error(&format!("shader = \"a\"\n{none}"));
            assert!(error.starts_with(&format!("a.toml:{}: ", 1 + none.lines().count())), "{error}");
        }
    }

    #[test]
    fn entries_that_do_not_fit_the_shader_are_reported_with_their_line() {
        let text = "@group(0) @binding(0) var<storage, read_write> data: array<f32>;
            @group(0) @binding(1) var<storage, read_write> one: u32;
            @group(0) @binding(2) var to: texture_storage_2d<rgba8unorm, write>;
            @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                data[id.x] = 1.0;
                if (id.x == 0u) { one = 2u; }
                textureStore(to, id.xy, vec4(1.0));
            }";
        let shader = ShaderSource::read("a.wgsl", text.as_bytes()).unwrap();
        let error = |case: &str| {
            let case = CaseFile::parse("a.toml", &format!("shader = \"a\"\n\n{case}"), Path::new("")).unwrap();
            case.with_line(Check::new(&shader, &case.options).unwrap_err()).to_string()
        };
        let expect = |binding: &str, element: &str, value: &str| {
            format!("[[expect]]\nbinding = \"{binding}\"\nelement = \"{element}\"\nvalue = \"{value}\"")
        };
        for (case, line, part) in [
            ("[input]\ndata = 1.5\nzz = 2".to_owned(), 5, "no binding `zz`"),
            ("[elements]\nzz = 2".to_owned(), 4, "no run-time array `zz`"),
            ("[elements]\none = 2".to_owned(), 4, "uses set 0 binding 0 (data)"),
            ("[image.zz]\nsize = [1]".to_owned(), 3, "no image `zz`"),
            ("[sampler.to]\nfilter = \"linear\"".to_owned(), 3, "no samplers"),
            ("[spec]\nn = 2".to_owned(), 4, "`n`"),
            ("[address]\n\"data@0\" = \"nodes\"".to_owned(), 4, "no buffer `nodes`"),
            (expect("data", "[2]", "3.1..2.9"), 3, "`3.1..2.9` contains no f32"),
            (expect("data", "[2]", "0..nan"), 3, "`0..nan` contains no f32"),
            (expect("data", "[2]", "two"), 3, "`two` is not a number"),
            (expect("data", "[99]", "1"), 3, "its first is `[0]`"),
            (expect("to", "(0, 0)", "1"), 3, "its first is `(0, 0).r`"),
            (expect("two", "", "1"), 3, "no such binding"),
        ] {
            let error = error(&case);
            assert!(error.starts_with(&format!("a.toml:{line}: ")) && error.contains(part), "{case}: {error}");
        }
    }

    #[test]
    fn paths_outside_the_directory_of_the_case_file_are_refused() {
        for (case, line) in [
            ("why = \"t\"\nshader = \"../../etc/passwd\"", 2),
            ("shader = \"/etc/passwd\"", 1),
            ("shader = \"a\"\n[input]\na = \"../b.bin\"", 3),
            ("shader = \"a\"\npush = \"/dev/zero\"", 2),
        ] {
            let error = CaseFile::parse("a.toml", case, Path::new("folder")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("a.toml:{line}: ")), "{error}");
            assert!(error.contains("only files below folder are read"), "{error}");
        }
        let below = CaseFile::parse("a.toml", "shader = \"sub/a.wgsl\"", Path::new("folder")).unwrap();
        assert_eq!(below.shader, Path::new("folder/sub/a.wgsl"));
    }

    /// Regression test: each expectation walked over all elements and counted lines anew, so 16,384
    /// of them took a minute.
    #[test]
    fn many_expectations_take_linear_time() {
        const COUNT: u32 = 100_000;
        let expect = |i: u32| format!("[[expect]]\nbinding = \"to\"\nelement = \"[{i}]\"\nvalue = \"{i}\"\n");
        let text =
            format!("shader = \"a\"\nworkgroups = [{COUNT}]\n") + &(0..COUNT).rev().map(expect).collect::<String>();
        let case = CaseFile::parse("a.toml", &text, Path::new("")).unwrap();
        let source = "@group(0) @binding(0) var<storage, read_write> to: array<u32>;
            @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) { to[id.x] = id.x; }";
        let shader = ShaderSource::read("a.wgsl", source.as_bytes()).unwrap();
        let check = Check::new(&shader, &case.options).unwrap();
        assert_eq!(check.setup.descriptors[0].bytes, 4 * u64::from(COUNT));
        let mut options = case.options.clone();
        options.expectations[7].element = "[100000]".to_owned();
        let error = case.with_line(Check::new(&shader, &options).unwrap_err()).to_string();
        assert!(error.starts_with("a.toml:31: ") && error.contains("its first is `[0]`"), "{error}");
    }

    #[test]
    fn single_parameters_are_set_by_name_and_by_offset() {
        let text = "struct Params { count: u32, size: vec2<u32>, factor: f32 }
            var<immediate> push: Params;
            @group(0) @binding(0) var<storage, read_write> data: array<f32>;
            @group(0) @binding(1) var<uniform> params: Params;
            @group(0) @binding(2) var<uniform> unused: Params;
            @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                if (id.x < push.count) { data[id.x] = params.factor * f32(push.size.y + params.size.x); }
            }";
        let shader = ShaderSource::read("a.wgsl", text.as_bytes()).unwrap();
        let prepare = |case: &str| {
            let case = CaseFile::parse("a.toml", &format!("shader = \"a\"\n{case}"), Path::new("")).unwrap();
            let check = Check::new(&shader, &case.options).map_err(|error| case.with_line(error).to_string());
            check.map(|check| (check.setup.dispatch(1).unwrap(), check.setup.notes.clone()))
        };
        let (dispatch, notes) = prepare(
            "push = { count = 3, \"size[1]\" = 0x10, \"@16\" = 1.5 }\n[input]\nfactor = 2\nsize = \"5,6\"\n\"0.1@0\" = 7\nunused = 1",
        )
        .unwrap();
        let word = |data: &[u8], at: usize| u32::from_le_bytes(data[at..at + 4].try_into().unwrap());
        let push = &dispatch.push_constants;
        assert_eq!([0, 12, 16].map(|at| word(push, at)), [3, 16, 0x3fc0_0000]);
        let Some(assay_oracle::Resource::Buffer(buffer)) = dispatch.bindings.get(&assay_oracle::Slot::new(0, 1)) else {
            panic!("the shader uses it");
        };
        assert_eq!([0, 8, 12, 16].map(|at| word(&buffer.data, at)), [7, 5, 6, 0x4000_0000]);
        assert_eq!(notes, ["the entry point does not use set 0 binding 2 (unused), so its input has no effect"]);
        for (case, line, part) in [
            ("push = { counts = 3 }", 2, "no scalar `.counts`; there are .count, .size[0], .size[1], .factor"),
            ("push = { count = -3 }", 2, "`-3` is not a value of type u32"),
            ("[input]\n\"params.size[2]\" = 1", 3, "no scalar `.size[2]`"),
            ("[input]\n\"params.size\" = \"data.bin\"", 3, "takes a number"),
            ("[input]\nsize = \"1,2,3\"", 3, "`.size` has 2 scalars, and `1,2,3` are 3 numbers"),
            ("[input]\nparam = 1", 3, "no binding `param`"),
            ("[input]\n\"size[2]\" = \"hard\"", 3, "no scalar `.size[2]`"),
        ] {
            let error = prepare(case).unwrap_err();
            assert!(error.starts_with(&format!("a.toml:{line}: ")) && error.contains(part), "{case}: {error}");
        }
    }

    #[test]
    fn numbers_in_case_files_need_no_quotes() {
        let case = "shader = \"a\"\n[input]\na = 1.5\nb = 2\nc = \"2\"";
        let options = CaseFile::parse("a.toml", case, Path::new("")).unwrap().options;
        let number = |text: &str| BindingSource::Number(text.to_owned());
        let sources: Vec<BindingSource> = options.inputs.into_iter().map(|(_, source)| source).collect();
        assert_eq!(sources, [number("1.5"), number("2"), number("2")]);
        // A file beside the case file takes precedence.
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("2"), "bytes").unwrap();
        let options = CaseFile::parse("a.toml", case, folder.path()).unwrap().options;
        assert_eq!(options.inputs[2].1, BindingSource::File(folder.path().join("2")));
    }
}
