//! Case file of a check: its shader and options in a directory, which [`CaseFile`](crate::CaseFile)
//! reads.

use crate::options::{BindingSource, ONE_OF, Options};
use crate::{CheckError, ImageConfig, ShaderSource};
use assay_case::Mixture;
use assay_files::{OwnedFiles, input};
use assay_oracle::Robustness;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Name of the case file.
const CASE: &str = "case.toml";

/// Largest input that is copied, in bytes.
const MAX_INPUT: u64 = 1 << 28;

/// Writes the case file of a check with its shader and input files to a directory, which is created
/// if necessary. Returns its path; `None` if a case file cannot express the options.
///
/// # Errors
/// [`CheckError::Bundle`]; also if the directory contains files that Assay did not write.
pub fn write_case(
    folder: &Path,
    shader: &ShaderSource,
    options: &Options,
    why: &str,
) -> Result<Option<PathBuf>, CheckError> {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let shader_file = match shader.wgsl() {
        Some(wgsl) => ("shader.wgsl", wgsl.text.as_bytes().to_vec()),
        None => ("shader.spv", shader.source.module.words().iter().flat_map(|word| word.to_le_bytes()).collect()),
    };
    files.push((shader_file.0.to_owned(), shader_file.1));
    let Some(text) = case_text(shader, options, why, &mut files)? else { return Ok(None) };
    files.push((CASE.to_owned(), text.into_bytes()));
    let failed = |path: &Path, error: &dyn std::fmt::Display| CheckError::Bundle {
        path: path.to_owned(),
        what: format!("cannot be written: {error}"),
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let own = OwnedFiles::new(folder);
    own.claim(files.iter().map(|(name, _)| name)).map_err(|error| failed(folder, &error))?;
    for (name, contents) in &files {
        let written = own.create(name).and_then(|mut file| file.write_all(contents));
        written.map_err(|error| failed(&folder.join(name), &error))?;
    }
    Ok(Some(folder.join(CASE)))
}

/// Returns the text of the case file, and adds the input files that it names.
fn case_text(
    shader: &ShaderSource,
    options: &Options,
    why: &str,
    files: &mut Vec<(String, Vec<u8>)>,
) -> Result<Option<String>, CheckError> {
    // Push constants have contents or values of single ones.
    if options.push.is_some() && !options.push_values.is_empty() {
        return Ok(None);
    }
    let mut text = format!("why = {}\nshader = {}\n", quoted(why), quoted(&files[0].0));
    if let Some(entry) = &options.entry {
        _ = writeln!(text, "entry = {}", quoted(entry));
    }
    if let Some(groups) = options.groups {
        _ = writeln!(text, "workgroups = {groups:?}");
    }
    _ = writeln!(text, "rounds = {}\nseed = {}", options.rounds, options.seed);
    if let Some(sample) = options.checked_invocations {
        _ = writeln!(text, "sample = {sample}");
    }
    if let Some(robustness) = options.robustness.filter(|robustness| *robustness != Robustness::None) {
        _ = writeln!(text, "robustness = {}", quoted(robustness.name()));
    }
    if let Some(subgroups) = &options.subgroups {
        _ = writeln!(text, "subgroups = {}", quoted(&subgroups.to_string()));
    }
    if let Some(size) = options.subgroup_control.size {
        _ = writeln!(text, "subgroup_size = {size}");
    }
    if options.subgroup_control.full {
        text += "full_subgroups = true\n";
    }
    if options.benign_races {
        text += "benign_races = true\n";
    }
    let mut contents = |source: &BindingSource| -> Result<String, CheckError> {
        Ok(match source {
            BindingSource::Number(number) => format!("={number}"),
            BindingSource::Index => "index".to_owned(),
            BindingSource::OneOf(numbers) => format!("{ONE_OF}{}", numbers.join(",")),
            BindingSource::Mixture(Mixture::Usual) => "usual".to_owned(),
            BindingSource::Mixture(Mixture::Hard) => "hard".to_owned(),
            BindingSource::Mixture(Mixture::Range(range)) => range.to_string(),
            BindingSource::Bytes(bytes) => added(files, bytes.clone()),
            BindingSource::File(path) => {
                let data = input::read(path, MAX_INPUT)
                    .map_err(|source| CheckError::Unreadable { path: path.clone(), source })?;
                added(files, data)
            }
        })
    };
    if let Some(push) = &options.push {
        _ = writeln!(text, "push = {}", quoted(&contents(push)?));
    }
    let mut inputs = Vec::new();
    for (name, source) in &options.inputs {
        inputs.push((name.to_string(), quoted(&contents(source)?)));
    }
    let overrides = shader.overrides.iter().map(|(name, value)| (name.clone(), quoted(&value.to_string())));
    let specs = options.specs.iter().map(|(name, value)| (name.clone(), quoted(value)));
    let elements = options.elements.iter().map(|(name, elements)| {
        (name.as_ref().map_or_else(|| "*".to_owned(), ToString::to_string), elements.to_string())
    });
    let buffers = options.buffers.iter().map(|(name, buffer)| (name.clone(), quoted(&buffer.to_string())));
    let addresses = options.addresses.iter().map(|word| word.text()).map(|(place, value)| (place, quoted(&value)));
    let mut images: BTreeMap<String, ImageConfig> =
        options.images.iter().map(|(name, image)| (name.to_string(), image.clone())).collect();
    for (name, size) in &options.image_sizes {
        images.entry(name.to_string()).or_default().size = Some(size.clone());
    }
    let table = |kind: &str, name: &str, entries: Result<String, toml::ser::Error>| {
        let entries = entries.map_err(|error| CheckError::option(error.to_string()))?;
        Ok::<_, CheckError>(format!("\n[{kind}.{}]\n{entries}", quoted(name)))
    };
    for (name, image) in &images {
        text += &table("image", name, toml::to_string(image))?;
    }
    for (name, sampler) in &options.samplers {
        text += &table("sampler", &name.to_string(), toml::to_string(sampler))?;
    }
    let push = options.push_values.iter().map(|(name, value)| (name.clone(), quoted(value)));
    let tables: [(&str, Vec<(String, String)>); 6] = [
        ("push", push.collect()),
        ("spec", overrides.chain(specs).collect()),
        ("input", inputs),
        ("elements", elements.collect()),
        ("buffer", buffers.collect()),
        ("address", addresses.collect()),
    ];
    for (table, entries) in tables.iter().filter(|(_, entries)| !entries.is_empty()) {
        _ = writeln!(text, "\n[{table}]");
        for (key, value) in entries {
            _ = writeln!(text, "{} = {value}", quoted(key));
        }
    }
    Ok(Some(text))
}

/// Adds an input file, and returns its name.
fn added(files: &mut Vec<(String, Vec<u8>)>, data: Vec<u8>) -> String {
    let name = format!("input-{}.bin", files.len());
    files.push((name.clone(), data));
    name
}

/// Returns a text as a basic string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CaseFile, CompileOptions, SamplerConfig};
    use assay_exec::SubgroupControl;

    #[test]
    fn a_written_case_file_has_the_options_of_the_check() {
        let folder = tempfile::tempdir().unwrap();
        let text = "override size: u32 = 1;
            @group(0) @binding(0) var<storage, read_write> data: array<u32>;
            @compute @workgroup_size(1) fn main() { data[0] = size; }";
        let compile = CompileOptions { specs: specs_of(3), ..CompileOptions::default() };
        let shader = ShaderSource::read_with("a.wgsl", text.as_bytes(), &compile).unwrap();
        let binding = |name: &str| name.parse().unwrap();
        let picture = ImageConfig { size: Some(vec![9, 9]), swizzle: Some("aaaa".into()), ..ImageConfig::default() };
        let sampler = SamplerConfig { address: Some(vec!["repeat".into()]), ..SamplerConfig::default() };
        let options = Options {
            groups: Some([2, 1, 1]),
            push_values: vec![("ne[0]".to_owned(), "64".to_owned())],
            inputs: vec![
                (binding("0.0"), BindingSource::Index),
                (binding("0.1"), BindingSource::Bytes(vec![7; 4])),
                (binding("0.2.size[0]"), BindingSource::Number("5".to_owned())),
            ],
            elements: vec![(None, 4), (Some(binding("0.0")), 9)],
            images: vec![(binding("0.3[1]"), picture.clone())],
            image_sizes: vec![(binding("0.3[1]"), vec![4, 2])],
            samplers: vec![(binding("0.4"), sampler.clone())],
            seed: 11,
            subgroup_control: SubgroupControl { size: Some(8), full: true },
            benign_races: true,
            ..Options::default()
        };
        let path = write_case(&folder.path().join("case"), &shader, &options, "sizes \"chosen\"").unwrap().unwrap();
        let case = CaseFile::load(&path).unwrap().unwrap();
        assert_eq!(case.why.as_deref(), Some("sizes \"chosen\""));
        let read = case.options;
        assert_eq!((read.groups, read.rounds, read.seed), (options.groups, options.rounds, 11));
        assert_eq!((read.subgroup_control, read.benign_races), (options.subgroup_control, true));
        assert_eq!((read.push_values, read.specs), (options.push_values, specs_of(3)));
        let sizes: Vec<u64> = read.elements.iter().map(|(_, elements)| *elements).collect();
        assert_eq!(sizes, [4, 9]);
        let names: Vec<String> = read.inputs.iter().map(|(name, _)| name.to_string()).collect();
        assert_eq!(names, ["0.0", "0.1", "0.2.size[0]"]);
        assert!(matches!(&read.inputs[0].1, BindingSource::Index));
        assert!(matches!(&read.inputs[1].1, BindingSource::File(path) if std::fs::read(path).unwrap() == [7; 4]));
        assert!(matches!(&read.inputs[2].1, BindingSource::Number(number) if number == "5"));
        assert_eq!(read.images[0].0.to_string(), "0.3[1]");
        assert_eq!(read.images[0].1, ImageConfig { size: Some(vec![4, 2]), ..picture });
        assert_eq!((read.samplers[0].0.to_string(), &read.samplers[0].1), ("0.4".to_owned(), &sampler));
        let both = Options { push: Some(BindingSource::Index), push_values: vec![("a".into(), "1".into())], ..options };
        assert_eq!(write_case(&folder.path().join("none"), &shader, &both, "").unwrap(), None);
    }

    fn specs_of(size: u32) -> Vec<(String, String)> {
        vec![("size".to_owned(), size.to_string())]
    }
}
