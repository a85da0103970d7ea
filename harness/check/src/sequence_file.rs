//! Case files with several dispatches over named buffers and images.

use crate::case_file::{Text, TomlValue};
use crate::memory_layout::write_bits;
use crate::options::{groups, robustness};
use crate::scalar_text::scalar_from_text;
use crate::sequence::{
    Action, Comparator, DataLayout, DataScalar, ElementCondition, MAX_CONDITIONS, MAX_MEMORY, MemoryBinding,
    NamedMemory, RequiredSubgroupSize, Sequence, SequenceDispatch, SequencePush, Step,
};
use crate::subgroup_control::subgroup_size;
use crate::{CheckError, CompileOptions, ImageConfig, SamplerConfig, ShaderSource};
use assay_files::input;
use assay_oracle::{Robustness, texel_scalars};
use assay_precision::Scalar;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::DeTable;

/// Schema of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SequenceToml {
    why: Option<String>,
    robustness: Option<Spanned<String>>,
    #[serde(default)]
    memory: BTreeMap<Spanned<String>, MemoryToml>,
    dispatch: Vec<Spanned<DispatchToml>>,
    #[serde(default)]
    expect: Vec<Spanned<ExpectToml>>,
}

/// A buffer, or an image if it has a format.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemoryToml {
    /// Type of a buffer's scalars.
    r#type: Option<String>,
    /// Format of the texels of an image or a texel buffer.
    format: Option<String>,
    /// Size of an image.
    size: Option<Vec<u32>>,
    /// Number of samples of a texel, for a multisampled image.
    samples: Option<u32>,
    /// Number of elements of a buffer.
    elements: Option<u64>,
    fill: Option<TomlValue>,
    data: Option<Vec<TomlValue>>,
    file: Option<String>,
}

/// A dispatch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DispatchToml {
    shader: Spanned<String>,
    entry: Option<String>,
    workgroups: Vec<u32>,
    #[serde(default)]
    spec: BTreeMap<String, TomlValue>,
    push: Option<SequencePushToml>,
    #[serde(default)]
    bind: BTreeMap<String, String>,
    #[serde(default)]
    sampler: BTreeMap<String, SamplerConfig>,
    subgroup_size: Option<u32>,
    #[serde(default)]
    full_subgroups: bool,
}

/// Push constants: the name of a memory, or values of single ones by path or offset.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected the name of a memory, or a table of NAME = VALUE")]
enum SequencePushToml {
    Memory(String),
    Values(BTreeMap<String, TomlValue>),
}

/// An expectation on the contents after the last dispatch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectToml {
    memory: String,
    /// Index of the only element.
    element: Option<u64>,
    /// First element, and the one after the last.
    range: Option<[u64; 2]>,
    value: Option<TomlValue>,
    /// Name of a memory with the expected contents.
    equals: Option<String>,
    tolerance: Option<TomlValue>,
}

/// Returns whether a text is a case file with several dispatches: it has the key `dispatch`.
pub(crate) fn is_sequence_file(text: &str) -> bool {
    DeTable::parse(text).is_ok_and(|table| table.get_ref().contains_key("dispatch"))
}

/// Returns the shaders that a case file with several dispatches names.
pub(crate) fn named_shaders(path: &Path, text: &str) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let form: Option<SequenceToml> = toml::from_str(text).ok();
    let dispatches = form.into_iter().flat_map(|form| form.dispatch);
    dispatches.filter_map(|of| input::resolve_below(folder, Path::new(of.get_ref().shader.get_ref())).ok()).collect()
}

/// Parses a case file with several dispatches, and compiles its shaders. Paths in it are relative
/// to its directory and must be below it.
///
/// # Errors
/// The file is invalid, or a shader does not compile. The error gives the line.
pub(crate) fn parse(path: &Path, text: &str, compile: &CompileOptions) -> Result<Sequence, CheckError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = path.display().to_string();
    let text = Text::new(&name, text);
    let form = SequenceToml::deserialize(toml::Deserializer::from(text.table()?)).map_err(|e| text.malformed(&e))?;
    let at = |line: usize| {
        let text = &text;
        move |what: String| text.wrong(line, what)
    };
    let mut sequence = Sequence {
        name: name.clone(),
        why: form.why,
        shaders: Vec::new(),
        memories: Vec::new(),
        steps: Vec::new(),
        robustness: Robustness::None,
        notes: Vec::new(),
    };
    if let Some(given) = form.robustness {
        let line = text.line(given.span().start);
        sequence.robustness = robustness(given.get_ref()).map_err(|error| at(line)(error.to_string()))?;
    }
    let mut bytes = 0;
    for (name, memory) in form.memory {
        let line = text.line(name.span().start);
        let memory = named_memory(name.into_inner(), memory, folder).map_err(at(line))?;
        bytes += memory.bytes.len() as u64;
        if bytes > MAX_MEMORY {
            return Err(at(line)(format!("the memories have more than {MAX_MEMORY} bytes together")));
        }
        sequence.memories.push(memory);
    }
    let mut shaders: BTreeMap<(String, Option<String>), usize> = BTreeMap::new();
    for dispatch in form.dispatch {
        let line = text.line(dispatch.span().start);
        let dispatch = dispatch.into_inner();
        let key = (dispatch.shader.get_ref().clone(), dispatch.entry.clone());
        let shader = match shaders.get(&key) {
            Some(shader) => *shader,
            None => {
                let wrong = at(text.line(dispatch.shader.span().start));
                let path = input::resolve_below(folder, Path::new(&key.0)).map_err(|error| wrong(error.to_string()))?;
                let options = CompileOptions { entry: key.1.clone(), ..compile.clone() };
                let shader = ShaderSource::load(&path, &options).map_err(|error| wrong(error.to_string()))?;
                sequence.shaders.push(shader);
                shaders.insert(key, sequence.shaders.len() - 1);
                sequence.shaders.len() - 1
            }
        };
        let step = dispatch_step(line, shader, dispatch, &sequence).map_err(at(line))?;
        sequence.steps.push(step);
    }
    let mut conditions = 0;
    for expect in form.expect {
        let line = text.line(expect.span().start);
        let step = expectation(line, expect.into_inner(), &sequence).map_err(at(line))?;
        conditions += step.action.conditions();
        if conditions > MAX_CONDITIONS {
            return Err(at(line)(format!("the expectations have more than {MAX_CONDITIONS} elements together")));
        }
        sequence.steps.push(step);
    }
    Ok(sequence)
}

/// Returns a memory with its contents.
fn named_memory(name: String, form: MemoryToml, folder: &Path) -> Result<NamedMemory, String> {
    let levels = form.size.as_ref().map(|_| 1);
    let samples = form.samples;
    let (sides, format) = (form.size.clone(), form.format.clone());
    let image = ImageConfig { size: sides, levels, samples, format, ..ImageConfig::default() };
    let scalars = match (&form.r#type, &form.format) {
        (Some(name), None) => vec![Scalar::from_name(name).ok_or_else(|| format!("unknown type `{name}`"))?],
        (None, Some(_)) => {
            let format = image.image_format().map_err(|error| error.to_string())?;
            format.and_then(texel_scalars).ok_or_else(|| "this format is not supported".to_owned())?
        }
        _ => return Err(format!("memory `{name}` needs either a type or a format")),
    };
    let mut layout = DataLayout { stride: 0, scalars: Vec::new() };
    for scalar in scalars {
        layout.scalars.push(DataScalar { offset: layout.stride, scalar });
        layout.stride += u64::from(scalar.width() / 8);
    }
    let slices = u64::from(samples.unwrap_or(1));
    let texels =
        form.size.as_ref().map(|sides| sides.iter().fold(slices, |n, side| n.saturating_mul(u64::from(*side))));
    let size = match texels.or(form.elements) {
        Some(elements) => {
            let bytes = elements.checked_mul(layout.stride).filter(|bytes| (1..=MAX_MEMORY).contains(bytes));
            Some(bytes.ok_or_else(|| format!("the size is 0, or more than {MAX_MEMORY} bytes"))?)
        }
        None => None,
    };
    let bits = |index: u64, value: &TomlValue| {
        let scalar = layout.element(index).scalar;
        let text = value.text();
        scalar_from_text(scalar, &text).ok_or_else(|| format!("`{text}` is not a value of type {scalar}"))
    };
    let mut bytes = match (form.data, form.fill, form.file) {
        (Some(data), None, None) => {
            let mut bytes =
                vec![0; (data.len() as u64).div_ceil(layout.scalars.len() as u64) as usize * layout.stride as usize];
            for (index, value) in (0..).zip(&data) {
                let element = layout.element(index);
                write_bits(&mut bytes, element.offset, element.scalar.width(), bits(index, value)?);
            }
            bytes
        }
        (None, Some(fill), None) => {
            let size = size.ok_or("`fill` needs `elements` or `size`")?;
            let each =
                (0..layout.scalars.len() as u64).map(|index| bits(index, &fill)).collect::<Result<Vec<_>, _>>()?;
            let mut bytes = vec![0; size as usize];
            for index in 0..layout.count(size) {
                let element = layout.element(index);
                write_bits(&mut bytes, element.offset, element.scalar.width(), each[index as usize % each.len()]);
            }
            bytes
        }
        (None, None, Some(file)) => {
            let path = input::resolve_below(folder, Path::new(&file)).map_err(|error| error.to_string())?;
            input::read(&path, MAX_MEMORY).map_err(|error| format!("cannot read {}: {error}", path.display()))?
        }
        (None, None, None) => vec![0; size.ok_or("`elements` or `size` is missing")? as usize],
        _ => return Err("only one of `data`, `fill` and `file` can be given".to_owned()),
    };
    match size {
        Some(size) if (bytes.len() as u64) <= size => bytes.resize(size as usize, 0),
        Some(size) => return Err(format!("the contents have {} bytes, and the size is {size}", bytes.len())),
        None if bytes.is_empty() => return Err("the contents are empty".to_owned()),
        None => {}
    }
    Ok(NamedMemory { name, bytes, layout, image })
}

/// Returns the index of a memory.
fn memory(sequence: &Sequence, name: &str) -> Result<usize, String> {
    let found = sequence.memories.iter().position(|memory| memory.name == name);
    found.ok_or_else(|| format!("no [memory.{name}]"))
}

fn dispatch_step(line: usize, shader: usize, form: DispatchToml, sequence: &Sequence) -> Result<Step, String> {
    let wrong = |error: CheckError| error.to_string();
    let workgroups = form.workgroups.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let workgroups = groups(&workgroups).map_err(wrong)?;
    let binding = |(place, name): (&String, &String)| {
        let place = place.parse().map_err(wrong)?;
        Ok::<_, String>(MemoryBinding { place, memory: memory(sequence, name)?, offset: 0, range: None })
    };
    let push = match form.push {
        None => None,
        Some(SequencePushToml::Memory(name)) => Some(SequencePush::Memory(memory(sequence, &name)?)),
        Some(SequencePushToml::Values(values)) => {
            Some(SequencePush::Values(values.into_iter().map(|(path, value)| (path, value.text())).collect()))
        }
    };
    let mut samplers = Vec::new();
    for (place, sampler) in form.sampler {
        sampler.sampler().map_err(wrong)?;
        samplers.push((place.parse().map_err(wrong)?, sampler));
    }
    let size = form.subgroup_size.map(subgroup_size).transpose().map_err(wrong)?;
    let [x, y, z] = workgroups;
    let text = format!("dispatch of {} with {x} x {y} x {z} workgroups", form.shader.get_ref());
    let dispatch = SequenceDispatch {
        shader,
        entry: form.entry,
        workgroups,
        specs: form.spec.into_iter().map(|(key, value)| (key, value.text())).collect(),
        push,
        bindings: form.bind.iter().map(binding).collect::<Result<_, _>>()?,
        samplers,
        subgroup_size: size.map(RequiredSubgroupSize::Of),
        full_subgroups: form.full_subgroups,
    };
    Ok(Step { line, text, action: Action::Dispatch(Box::new(dispatch)) })
}

/// Returns the step of an expectation.
fn expectation(line: usize, form: ExpectToml, sequence: &Sequence) -> Result<Step, String> {
    let at = memory(sequence, &form.memory)?;
    let tolerance = form.tolerance.map(|value| value.text().parse()).transpose()?;
    if let Some(other) = form.equals {
        if form.value.is_some() || form.element.is_some() || form.range.is_some() {
            return Err("`equals` compares whole memories; remove `value`, `element` and `range`".to_owned());
        }
        let expected = memory(sequence, &other)?;
        let [a, b] = [at, expected].map(|index| &sequence.memories[index]);
        if a.bytes.len() != b.bytes.len() || a.layout != b.layout {
            return Err(format!("`{}` and `{other}` differ in size or type", form.memory));
        }
        let text = format!("{} equals {other}", form.memory);
        return Ok(Step { line, text, action: Action::ExpectEqual { memory: at, expected, tolerance } });
    }
    let named = &sequence.memories[at];
    let all = named.layout.count(named.bytes.len() as u64);
    let [first, end] = match (form.element, form.range) {
        (Some(element), None) => [element, element.saturating_add(1)],
        (None, range) => range.unwrap_or([0, all]),
        (Some(_), Some(_)) => return Err("only one of `element` and `range` can be given".to_owned()),
    };
    if first >= end || end > all || end - first > MAX_CONDITIONS as u64 {
        return Err(format!("elements {first} to {end} of `{}`, which has {all}", form.memory));
    }
    let value = form.value.ok_or("`value` or `equals` is missing")?.text();
    let (ends, comparators): (Vec<&str>, &[Comparator]) = match value.split_once("..") {
        Some((low, high)) => (vec![low, high], &[Comparator::GreaterOrEqual, Comparator::LessOrEqual]),
        None => (vec![value.as_str()], &[Comparator::Equal]),
    };
    let mut elements = Vec::new();
    for index in first..end {
        let element = named.layout.element(index);
        for (text, comparator) in ends.iter().zip(comparators) {
            let bits = scalar_from_text(element.scalar, text.trim());
            let bits = bits.ok_or_else(|| format!("`{text}` is not a value of type {}", element.scalar))?;
            let value = match element.scalar {
                Scalar::Float(format) => format.to_f64(bits).to_bits(),
                _ => bits,
            };
            elements.push(ElementCondition {
                offset: element.offset,
                scalar: element.scalar,
                path: named.layout.path(index),
                comparator: *comparator,
                value,
                tolerance,
            });
        }
    }
    let text = format!("{} is {value}", form.memory);
    Ok(Step { line, text, action: Action::Expect { memory: at, elements } })
}
