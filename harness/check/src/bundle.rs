//! Reproduction bundles: a directory of small plain files that reproduces a failure on another
//! machine.
//!
//! | file | contents |
//! |---|---|
//! | `README.txt` | description for people |
//! | `bundle.json` | options of the check, and its origin ([`Manifest`]) |
//! | `shader.spvasm` | the module as text with the original ids; this file is read |
//! | `shader.spv` | its words, for other tools |
//! | `original.*` | the source text, if there is one |
//! | `input-SET.BINDING.ELEMENT.hex`, `buffer-NAME.hex`, `push.hex` | memory before the dispatch, as 32-bit words of little-endian memory |
//! | `expected.txt` | permitted set and output of every element |
//! | `naga.spvasm` | naga's translation, for failures through wgpu |
//! | `result.json` | the verdict ([`assay_events::CheckResult`]) |
//! | `device.json` | the device ([`assay_events::DeviceInfo`]) |
//! | `assay-files.json` | files that Assay wrote, which a later check may remove ([`OwnedFiles`]) |

use crate::binding_name::BindingName;
use crate::compare::{Permitted, hex, ranges};
use crate::image_config::image_and_sampler;
use crate::memory_layout::{MemoryContents, path_text};
use crate::options::{BindingSource, Options, robustness};
use crate::shader_source::ending;
use crate::subgroup_control::subgroup_size;
use crate::{
    AddressWord, Check, CheckError, CompileOptions, CompilerRun, DispatchSetup, Expectation, ImageConfig, Mutation,
    SamplerConfig, ShaderSource,
};
use assay_events::{CheckResult, DeviceInfo};
use assay_exec::{Descriptor, SubgroupControl};
use assay_files::{OwnedFiles, input};
use assay_oracle::{Dispatch, Limits, Outcome, Robustness, Slot, Standing};
use assay_precision::Specification;
use assay_spirv::grammar::Version;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Version of the format; raised when an old reader would misread the new one.
pub const SCHEMA: u32 = 3;

/// Version of bundles without later additions, for older readers.
const PLAIN: u32 = 2;

const MANIFEST: &str = "bundle.json";
const SHADER: &str = "shader.spvasm";
const WORDS: &str = "shader.spv";
const EXPECTED: &str = "expected.txt";
/// Expected and actual image and their difference.
const PICTURE: &str = "picture.png";
const RESULT: &str = "result.json";
const ORIGINAL: &str = "original";
const DEVICE: &str = "device.json";
const README: &str = "README.txt";
const PUSH: &str = "push.hex";

/// naga's translation of the shader, if it is included.
pub const TRANSLATION: &str = "naga.spvasm";

/// Largest number of elements of a buffer that `expected.txt` lists.
const LISTED: u64 = 1 << 14;

/// Options of the check, and its origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA`], or an older version that suffices.
    pub schema: u32,
    /// Version of Assay.
    pub version: String,
    /// Specification whose rules were checked.
    pub specification: String,
    /// Command line of the check.
    pub command: Vec<String>,
    /// Name of the shader's file.
    pub name: String,
    /// Name of the entry point.
    pub entry: String,
    /// Workgroups along x, y and z.
    pub workgroups: [u32; 3],
    /// Bits of specialisation constants, in hexadecimal, by `SpecId`.
    pub specialization: BTreeMap<u32, String>,
    /// Values of WGSL's overrides.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, f64>,
    /// Target environment of the original text, if one was given; `shader.spvasm` states its
    /// version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_env: Option<String>,
    /// Run of the compiler that made the module of `original.*`, if an installed one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<CompilerRun>,
    /// Files with the contents of bindings.
    pub inputs: BTreeMap<String, String>,
    /// Properties of images, by binding.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<String, ImageConfig>,
    /// Properties of samplers, by binding.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub samplers: BTreeMap<String, SamplerConfig>,
    /// Types of buffers without a descriptor, by name
    /// ([`AddressedBuffer`](crate::AddressedBuffer)).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub buffers: BTreeMap<String, String>,
    /// Words that hold device addresses: location, and buffer with offset. The files contain the
    /// addresses of the original device.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub addresses: BTreeMap<String, String>,
    /// File with the contents of the push constants.
    pub push: Option<String>,
    /// Patience of the oracle with long-running workgroups ([`Limits::patient`]), as a multiple of
    /// the default.
    #[serde(default = "usual", skip_serializing_if = "is_usual")]
    pub patience: u64,
    /// Robustness of the device to accesses out of bounds, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robustness: Option<String>,
    /// Storage buffer with the recorded subgroup layout, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subgroups: Option<String>,
    /// Required subgroup size, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subgroup_size: Option<u32>,
    /// Set if subgroups must be full.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full_subgroups: bool,
    /// Set if benign races are permitted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub benign_races: bool,
    /// Expected values of the case file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expectations: Vec<Expectation>,
    /// The planted error, if any.
    pub mutation: Option<String>,
}

fn usual() -> u64 {
    1
}

fn is_usual(patience: &u64) -> bool {
    *patience == usual()
}

/// A bundle that was read.
#[derive(Debug)]
pub struct Bundle {
    /// Its manifest.
    pub manifest: Manifest,
    /// The shader.
    pub shader: ShaderSource,
    /// Options of the check.
    pub options: Options,
    /// Result of the original check.
    pub result: CheckResult,
    /// Device of the original check.
    pub device: DeviceInfo,
}

/// Data for a bundle.
#[derive(Clone, Copy, Debug)]
pub struct BundleData<'a> {
    /// The check.
    pub check: &'a Check<'a>,
    /// Its result.
    pub result: &'a CheckResult,
    /// Its device.
    pub device: &'a DeviceInfo,
    /// Inputs of the round.
    pub dispatch: &'a Dispatch,
    /// Permitted sets.
    pub outcome: &'a Outcome,
    /// Output of the device.
    pub output: &'a BTreeMap<Slot, Vec<u8>>,
    /// Command line of the check.
    pub command: &'a [String],
    /// The planted error, if any.
    pub mutation: Option<&'a Mutation>,
}

/// Writes a bundle to a directory, which is created if necessary. The manifest is written last, so
/// a directory with a manifest is complete.
///
/// # Errors
/// [`CheckError::Bundle`]; also if the directory contains files that Assay did not write.
pub fn write(folder: &Path, contents: &BundleData<'_>) -> Result<(), CheckError> {
    let BundleData { check, result, device, dispatch, command, mutation, .. } = *contents;
    let failed = |path: &Path, error: &dyn std::fmt::Display| CheckError::Bundle {
        path: path.to_owned(),
        what: format!("cannot be written: {error}"),
    };
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut save = |name: &str, contents: Vec<u8>| files.push((name.to_owned(), contents));
    let text = check.shader.source.disassemble().map_err(|error| failed(&folder.join(SHADER), &error))?;
    save(SHADER, text.into_bytes());
    let module = &check.shader.source.module;
    save(WORDS, module.words().iter().flat_map(|word| word.to_le_bytes()).collect());
    if let Some(text) = &check.shader.text {
        save(&original(&check.shader.name), text.clone().into_bytes());
    }
    let mut inputs = BTreeMap::new();
    let (mut images, mut samplers) = (BTreeMap::new(), BTreeMap::new());
    for (slot, resource) in &dispatch.bindings {
        let Slot { set, binding, element } = *slot;
        let to = check.setup.name_of(*slot);
        let (image, sampler) = image_and_sampler(resource);
        images.extend(image.map(|image| (to.clone(), image)));
        samplers.extend(sampler.map(|sampler| (to.clone(), sampler)));
        let Some(data) = resource.bytes() else { continue };
        let pointed = check.setup.descriptors.iter().any(|d| d.slot == *slot && d.is_addressed());
        let name = if pointed { format!("buffer-{to}.hex") } else { format!("input-{set}.{binding}.{element}.hex") };
        save(&name, to_hex(data).into_bytes());
        inputs.insert(to, name);
    }
    let push = (!dispatch.push_constants.is_empty()).then(|| PUSH.to_owned());
    if push.is_some() {
        save(PUSH, to_hex(&dispatch.push_constants).into_bytes());
    }
    save(EXPECTED, expected(contents).into_bytes());
    let json = |name: &str, value: Result<String, serde_json::Error>| match value {
        Ok(text) => Ok((text + "\n").into_bytes()),
        Err(error) => Err(failed(&folder.join(name), &error)),
    };
    if let Some(png) = result.picture.as_ref().and_then(|picture| picture.png()) {
        save(PICTURE, png);
    }
    save(RESULT, json(RESULT, serde_json::to_string_pretty(result))?);
    save(DEVICE, json(DEVICE, serde_json::to_string_pretty(device))?);
    let manifest = Manifest {
        schema: match is_plain(check) {
            true => PLAIN,
            false => SCHEMA,
        },
        version: env!("CARGO_PKG_VERSION").into(),
        specification: device.specification().into(),
        command: command.to_vec(),
        name: check.shader.name.clone(),
        entry: check.setup.entry.clone(),
        workgroups: check.setup.groups,
        specialization: check.setup.specs.iter().map(|spec| (spec.id, format!("0x{:x}", spec.bits))).collect(),
        overrides: check.shader.overrides.iter().cloned().collect(),
        target_env: check.shader.target_env.map(|target| target.to_string()),
        compiler: check.shader.compiler.clone(),
        inputs,
        images,
        samplers,
        buffers: check
            .setup
            .buffers
            .iter()
            .map(|(name, form)| (name.clone(), form.by_name(module).to_string()))
            .collect(),
        addresses: check.setup.addresses.iter().map(AddressWord::text).collect(),
        push,
        patience: check.limits.patience(),
        robustness: (check.robustness != Robustness::None).then(|| check.robustness.name().to_owned()),
        subgroups: check.layout.map(|slot| BindingName::from(slot).to_string()),
        subgroup_size: check.subgroup_control.size,
        full_subgroups: check.subgroup_control.full,
        benign_races: check.benign_races,
        expectations: check.expectations.clone(),
        mutation: mutation.map(ToString::to_string),
    };
    let text = readme(&manifest, module.version(), (result, !contents.output.is_empty()), device);
    save(README, text.into_bytes());
    let text = json(MANIFEST, serde_json::to_string_pretty(&manifest))?;
    if text.len() as u64 > MAX_MANIFEST {
        let what = format!("it would have {} bytes, more than the {MAX_MANIFEST} that Assay reads", text.len());
        return Err(failed(&folder.join(MANIFEST), &what));
    }
    save(MANIFEST, text);
    check_free(folder)?;
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let (own, names) = (OwnedFiles::new(folder), files.iter().map(|(name, _)| name));
    own.claim(names).map_err(|error| failed(folder, &error))?;
    files.iter().try_for_each(|(name, contents)| {
        let written = own.create(name).and_then(|mut file| file.write_all(contents));
        written.map_err(|error| failed(&folder.join(name), &error))
    })
}

/// Checks that a bundle can be written to a directory: it does not exist, is empty, or contains a
/// bundle of Assay.
///
/// # Errors
/// [`CheckError::Bundle`] if it contains other files.
pub fn check_free(folder: &Path) -> Result<(), CheckError> {
    OwnedFiles::new(folder)
        .check_whole()
        .map_err(|error| CheckError::Bundle { path: folder.to_owned(), what: format!("cannot be written: {error}") })
}

/// Returns the file name for the source text of a shader.
fn original(shader: &str) -> String {
    format!("{ORIGINAL}.{}", ending(shader))
}

/// Removes the files that are recorded as Assay's, and the directory if it is then empty. Removes
/// nothing if there is no record.
///
/// # Errors
/// [`CheckError::Bundle`] if a file cannot be removed.
pub fn remove(folder: &Path) -> Result<(), CheckError> {
    OwnedFiles::new(folder)
        .remove_all()
        .map_err(|error| CheckError::Bundle { path: folder.to_owned(), what: format!("cannot be removed: {error}") })
}

/// Returns whether an older reader would read the bundle completely.
fn is_plain(check: &Check<'_>) -> bool {
    let usual = check.robustness == Robustness::None && check.layout.is_none() && !check.benign_races;
    usual && check.subgroup_control.is_default() && !check.setup.has_addressed() && check.expectations.is_empty()
}

/// Largest patience that a bundle may request. Bundles come from other people, and with unlimited
/// patience an endless loop would run for ever.
pub const MAX_PATIENCE: u64 = 10;

/// Largest size of a manifest in bytes. The expectations of a case file of
/// [`input::MAX_CASE_BYTES`] bytes may take twice that size here.
const MAX_MANIFEST: u64 = 2 * input::MAX_CASE_BYTES;

/// Largest size of a result, and of a device description, in bytes.
const MAX_DESCRIPTION: u64 = 4 << 20;

/// Returns the `schema` of a manifest; `None` if it has none. Everything else is skipped and uses
/// no memory.
///
/// # Errors
/// The text is not JSON.
fn schema_of(text: &str) -> serde_json::Result<Option<u64>> {
    #[derive(Deserialize)]
    struct Schema {
        schema: u64,
    }
    match serde_json::from_str::<Schema>(text) {
        Ok(Schema { schema }) => Ok(Some(schema)),
        Err(error) if error.is_data() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads a bundle. `patience`, if the user gives it, replaces the bundle's own.
///
/// # Errors
/// [`CheckError::Bundle`]: a file is missing or malformed, the bundle has a newer version, or it
/// requests more than [`MAX_PATIENCE`].
pub fn read(folder: &Path, patience: Option<u64>) -> Result<Bundle, CheckError> {
    let load = |name: &str, limit: u64| -> Result<(PathBuf, String), CheckError> {
        let read = input::resolve_below(folder, Path::new(name))
            .and_then(|path| Ok((input::read_text(&path, limit)?, path)))
            .map(|(text, path)| (path, text));
        let path = folder.join(name);
        read.map_err(|error| CheckError::Bundle { what: format!("cannot be read: {error}"), path })
    };
    let (path, text) = load(MANIFEST, MAX_MANIFEST)?;
    let wrong = |path: &Path, what: String| CheckError::Bundle { path: path.to_owned(), what };
    match schema_of(&text).map_err(|error| wrong(&path, format!("is not valid JSON: {error}")))? {
        Some(schema) if schema > u64::from(SCHEMA) => {
            let what = format!(
                "has bundle format {schema}, but this version of Assay reads formats up to {SCHEMA}; use a newer \
                 version"
            );
            return Err(wrong(&path, what));
        }
        Some(_) => {}
        None => return Err(wrong(&path, "lacks the key `schema`".into())),
    }
    let manifest: Manifest =
        serde_json::from_str(&text).map_err(|error| wrong(&path, format!("is malformed: {error}")))?;
    if manifest.workgroups.contains(&0) {
        return Err(wrong(
            &path,
            format!("`workgroups` is {:?}, but each number must be at least 1", manifest.workgroups),
        ));
    }
    if patience.is_none() && manifest.patience > MAX_PATIENCE {
        let asked = manifest.patience;
        return Err(wrong(
            &path,
            format!(
                "requests {asked} times the default patience, more than the {MAX_PATIENCE} that a bundle may request; \
                 choose it with --patience N"
            ),
        ));
    }
    let (path, text) = load(DEVICE, MAX_DESCRIPTION)?;
    let device: DeviceInfo =
        serde_json::from_str(&text).map_err(|error| wrong(&path, format!("is malformed: {error}")))?;
    // A failure through wgpu is reproduced with the WGSL text.
    let wgsl = Some(format!("{ORIGINAL}.wgsl"))
        .filter(|name| device.api == DeviceInfo::API_WGPU && folder.join(name).is_file());
    let (path, text) = load(wgsl.as_deref().unwrap_or(SHADER), input::MAX_SHADER_BYTES)?;
    // They are constants in the bundle's SPIR-V.
    let overrides = manifest.overrides.iter().filter(|_| wgsl.is_some());
    let specs = overrides.map(|(key, value)| (key.clone(), value.to_string())).collect();
    let shader = ShaderSource::read_with(
        &path.display().to_string(),
        text.as_bytes(),
        &CompileOptions { specs, ..CompileOptions::default() },
    )?;
    let mut options = Options {
        rules: if device.api == DeviceInfo::API_WGPU { Specification::Wgsl } else { Specification::Vulkan },
        entry: Some(manifest.entry.clone()),
        groups: Some(manifest.workgroups),
        specs: manifest.specialization.iter().map(|(id, bits)| (id.to_string(), bits.clone())).collect(),
        rounds: 1,
        expectations: manifest.expectations.clone(),
        // The original check interpreted all invocations.
        fixed: true,
        limits: Limits { invocations: u64::MAX, ..Limits::default().patient(patience.unwrap_or(manifest.patience)) },
        ..Options::default()
    };
    // Several bindings may name the same file, so the limit is on all reads together.
    let remaining = Cell::new(input::MAX_DATA_BYTES);
    let words = |name: &str| -> Result<BindingSource, CheckError> {
        if Path::new(name).components().count() != 1 {
            return Err(wrong(&folder.join(MANIFEST), format!("names `{name}`, which is not a file of the bundle")));
        }
        let (path, text) = load(name, input::MAX_DATA_BYTES)?;
        remaining.set(remaining.get().checked_sub(text.len() as u64).ok_or_else(|| {
            wrong(
                &path,
                format!("is too long: the contents of all bindings together may have {} bytes", input::MAX_DATA_BYTES),
            )
        })?);
        from_hex(&text).map(BindingSource::Bytes).map_err(|line| {
            wrong(&path, format!("line {line}: expected 32-bit words in hexadecimal, and a newline at the end"))
        })
    };
    for (to, name) in &manifest.inputs {
        options.inputs.push((to.parse::<BindingName>()?, words(name)?));
    }
    for (to, image) in &manifest.images {
        options.images.push((to.parse::<BindingName>()?, image.clone()));
    }
    for (to, sampler) in &manifest.samplers {
        options.samplers.push((to.parse::<BindingName>()?, sampler.clone()));
    }
    for (name, form) in &manifest.buffers {
        options.buffers.push((name.clone(), form.parse()?));
    }
    for (place, value) in &manifest.addresses {
        options.addresses.push(AddressWord::parse(place, value)?);
    }
    if let Some(name) = &manifest.robustness {
        options.robustness = Some(robustness(name)?);
    }
    options.subgroups = manifest.subgroups.as_deref().map(str::parse).transpose()?;
    let size = manifest.subgroup_size.map(subgroup_size).transpose()?;
    options.subgroup_control = SubgroupControl { size, full: manifest.full_subgroups };
    options.benign_races = manifest.benign_races;
    options.push = manifest.push.as_deref().map(words).transpose()?;
    // Missing contents would be generated, so all must be present.
    let _warnings = shader.must_be_legal(false)?;
    let setup = DispatchSetup::new(&shader, &options)?;
    let lacks = |d: &&Descriptor| {
        MemoryContents::of(d).is_some() && !options.inputs.iter().any(|(to, _)| to.names(d.slot, d.name.as_deref()))
    };
    let lacking = setup.descriptors.iter().find(lacks).map(Descriptor::label);
    let push = (setup.push.is_some() && options.push.is_none()).then(|| "the push constants".to_owned());
    if let Some(what) = lacking.or(push) {
        return Err(wrong(&folder.join(MANIFEST), format!("lacks the contents of {what}")));
    }
    let (path, text) = load(RESULT, MAX_DESCRIPTION)?;
    let result = serde_json::from_str(&text).map_err(|error| wrong(&path, format!("is malformed: {error}")))?;
    Ok(Bundle { manifest, shader, options, result, device })
}

/// Returns memory as words in hexadecimal, eight in a line. An incomplete last word has fewer
/// digits.
fn to_hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (i, word) in bytes.chunks(4).enumerate() {
        if i > 0 {
            text.push(if i % 8 == 0 { '\n' } else { ' ' });
        }
        for byte in word.iter().rev() {
            _ = write!(text, "{byte:02x}");
        }
    }
    text.push('\n');
    text
}

/// Parses the output of [`to_hex`]. Returns the number of the first invalid line, or of the last if
/// it is not terminated.
fn from_hex(text: &str) -> Result<Vec<u8>, usize> {
    if !text.ends_with('\n') {
        return Err(text.lines().count());
    }
    let mut bytes = Vec::new();
    for (line, words) in text.lines().enumerate() {
        for word in words.split_whitespace() {
            let whole = word.len().is_multiple_of(2) && word.len() <= 8;
            let value = u32::from_str_radix(word, 16).ok().filter(|_| whole).ok_or(line + 1)?;
            bytes.extend_from_slice(&value.to_le_bytes()[..word.len() / 2]);
        }
    }
    Ok(bytes)
}

/// Returns a line for every element, with its permitted set and the device's output.
fn expected(contents: &BundleData<'_>) -> String {
    let mut text = String::from("# element, type: permitted | output of the device\n");
    for descriptor in contents.check.setup.descriptors.iter().filter(|d| d.is_read_back()) {
        let memory = contents.outcome.memory.get(&descriptor.slot);
        let (Some(memory), Some(output), Some(made_of)) =
            (memory, contents.output.get(&descriptor.slot), MemoryContents::of(descriptor))
        else {
            continue;
        };
        _ = writeln!(text, "{}", descriptor.label());
        let mut count = 0;
        made_of.walk_scalars(output.len() as u64, &mut |element, path| {
            count += 1;
            if count > LISTED {
                return;
            }
            let got = element.read(output).unwrap_or(0);
            let scalar = element.scalar;
            let (sets, mark) = match Permitted::of(memory, element.offset, scalar.width()) {
                Some(permitted) => {
                    let sets: Vec<String> = ranges(scalar, &permitted.expected)
                        .into_iter()
                        .map(|[lo, hi]| if lo == hi { lo } else { format!("{lo}..{hi}") })
                        .collect();
                    let mark = match permitted.judge(got) {
                        Standing::Outside => " (not permitted)",
                        Standing::Lenient => " (by a lenient reading only)",
                        Standing::Within | Standing::Open(_) => "",
                    };
                    let sets = if sets.is_empty() { "undetermined".to_owned() } else { sets.join(" ") };
                    (sets, mark)
                }
                None => ("undetermined".to_owned(), ""),
            };
            _ = writeln!(text, "  {} {scalar}: {sets} | {}{mark}", path_text(path), hex(scalar, got));
        });
        if count > LISTED {
            _ = writeln!(text, "  and {} more", count - LISTED);
        }
    }
    text
}

fn readme(
    manifest: &Manifest,
    spirv: Version,
    (result, has_output): (&CheckResult, bool),
    device: &DeviceInfo,
) -> String {
    let mut text = format!(
        "{}: {:?} on {} ({} {})\n{}\n\n",
        manifest.name,
        result.status,
        device.name,
        device.driver_name,
        device.driver_info,
        result.reason.as_deref().unwrap_or_default()
    );
    if let Some(writes) = &result.writes {
        _ = writeln!(text, "The shader {writes}; {}.\n", result.rounds_text());
    }
    for wrong in result.mismatches.iter().filter(|m| !m.is_against_the_specification()) {
        let what = "differs from the value that the case file expects, which the specification may not require";
        _ = writeln!(text, "{}{} {what}; see `expectations` in {MANIFEST}", wrong.buffer, wrong.element);
    }
    for blame in &result.blamed {
        _ = writeln!(text, "wrong instruction: {} at {}", blame.name, blame.place);
    }
    if let Some(mutation) = &manifest.mutation {
        _ = writeln!(text, "An error was planted on purpose: {mutation}. The device is not at fault.");
    }
    let [x, y, z] = manifest.workgroups;
    _ = writeln!(
        text,
        "\nTo reproduce on another machine: assay repro THIS-FOLDER\n\n\
         Without Assay: run {WORDS}, entry point {}, with {x} x {y} x {z} workgroups. Its text is {SHADER}, for\n\
         `assay repro`, and for `spirv-as --preserve-numeric-ids --target-env spv{spirv}` if it knows all names in \
         it.\n\
         The .hex files hold the memory of the bindings before the dispatch, as 32-bit words, little endian. \
         {}{}\n\n\
         Found by Assay {} with: {}",
        manifest.entry,
        match manifest.addresses.len() {
            0 => "",
            _ =>
                "The\nwords that bundle.json lists under `addresses` hold device addresses: replace them by those of \
                 your buffers.\n",
        },
        match has_output {
            true => format!(
                "expected.txt\nlists the values that {} permits afterwards, and the output of the device.",
                manifest.specification
            ),
            false =>
                "The output\nof the device is not known here, so expected.txt lists nothing: the driver ended, or its results \
                 were checked elsewhere."
                    .to_owned(),
        },
        manifest.version,
        shell_words::join(&manifest.command)
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_round_trips_through_text() {
        for len in [0usize, 1, 4, 7, 32, 33, 100] {
            let bytes: Vec<u8> = (0..len).map(|i| (i * 37) as u8).collect();
            assert_eq!(from_hex(&to_hex(&bytes)), Ok(bytes));
        }
        assert_eq!(from_hex("00000000\n0000000g\n"), Err(2));
        assert_eq!(from_hex("000\n"), Err(1));
        assert_eq!(from_hex("0000000000\n"), Err(1));
        assert_eq!(from_hex("00000000\n00"), Err(2), "cut");
    }
}
