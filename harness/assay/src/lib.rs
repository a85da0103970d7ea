//! Unit tests of compute shaders.
//!
//! A check runs a shader on a Vulkan device and in an interpreter, and compares every scalar of
//! every output with the values that the Vulkan specification permits for it. The test needs no
//! expected values and no tolerances, and it fails with the element, the invocation and the first
//! wrong instruction. The shader is WGSL, SPIR-V, or GLSL, HLSL or Slang if a compiler is installed.
//!
//! ```no_run
//! #[test]
//! fn blur_conforms() -> Result<(), assay::Error> {
//!     let pixels: Vec<f32> = (0..256).map(|n| n as f32).collect();
//!     let check = assay::shader("shaders/blur.wgsl").input("src", &pixels).workgroups([4, 1, 1]);
//!     let Some(outcome) = check.check_or_skip()? else { return Ok(()) };
//!     outcome.assert_conformant();
//!     let blurred: Vec<f32> = outcome.values("dst")?;
//!     assert_eq!(blurred[0], 0.5);
//!     Ok(())
//! }
//! ```
//!
//! The first Vulkan device of the machine runs the shader: a GPU, else a software driver such as
//! lavapipe. [`ShaderCheck::device`] or the environment variable `ASSAY_DEVICE` selects another. The
//! device runs in this process, so a driver that crashes ends the test; `assay check` isolates it.

mod recording_target;

use assay_check::{
    BindingName, BindingSource, CheckError, CheckSession, CompileOptions, Options, SessionOutput, ShaderSource,
};
use assay_events::{CheckResult, DeviceInfo, Status};
use assay_exec::Target;
use assay_oracle::Slot;
use assay_vulkan::Instance;
use assay_vulkan_exec::VulkanTarget;
use bytemuck::{AnyBitPattern, NoUninit};
use recording_target::RecordingTarget;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time limit of a round on the device.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Environment variable that selects the device, as `assay check --device` does.
pub const DEVICE_VARIABLE: &str = "ASSAY_DEVICE";

/// Environment variable with which a missing driver is an error instead of a skip.
pub const REQUIRE_DEVICE_VARIABLE: &str = "ASSAY_REQUIRE_DEVICE";

/// A reason why a shader was not checked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The shader, an input or an option is wrong, or the shader has undefined behaviour with its
    /// inputs.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// No device can be opened.
    #[error("no Vulkan device can be opened: {0}")]
    Device(#[from] assay_vulkan::Error),
    /// A binding has no output, or its size is not a multiple of the size of the element type.
    #[error("{0}")]
    Output(String),
}

/// Text of a shader, or its file.
#[derive(Clone, Debug)]
enum Origin {
    File(PathBuf),
    Text { name: String, text: String },
}

/// A check of a shader, before it runs.
///
/// Inputs without contents hold generated values: moderate ones in the first round, special ones in
/// the second. If the shader has undefined behaviour or writes little with the default sizes, other
/// sizes are searched, unless [`ShaderCheck::without_search`] forbids it.
#[derive(Clone, Debug)]
#[must_use = "a check does nothing until `check` runs it"]
pub struct ShaderCheck {
    origin: Origin,
    compile: CompileOptions,
    options: Options,
    device: Option<String>,
    search: bool,
    /// First mistake in the arguments.
    mistake: Option<String>,
}

/// Begins a check of a shader in a file. The language follows from the file's name and content.
pub fn shader(path: impl AsRef<Path>) -> ShaderCheck {
    ShaderCheck::new(Origin::File(path.as_ref().to_owned()))
}

/// Begins a check of a shader in WGSL or SPIR-V. The language follows from `name`, such as
/// `blur.wgsl`, which is also the name in messages.
pub fn shader_text(name: impl Into<String>, text: impl Into<String>) -> ShaderCheck {
    ShaderCheck::new(Origin::Text { name: name.into(), text: text.into() })
}

impl ShaderCheck {
    fn new(origin: Origin) -> ShaderCheck {
        ShaderCheck {
            origin,
            compile: CompileOptions::default(),
            options: Options::default(),
            device: None,
            search: true,
            mistake: None,
        }
    }

    /// Selects the entry point, which may be omitted if there is only one.
    pub fn entry(mut self, name: impl Into<String>) -> ShaderCheck {
        let name = name.into();
        self.compile.entry = Some(name.clone());
        self.options.entry = Some(name);
        self
    }

    /// Defines a macro of GLSL, HLSL or Slang.
    pub fn define(mut self, name: &str, value: impl std::fmt::Display) -> ShaderCheck {
        self.compile.defines.push(format!("{name}={value}"));
        self
    }

    /// Adds a folder of files that GLSL, HLSL or Slang includes.
    pub fn include(mut self, folder: impl Into<PathBuf>) -> ShaderCheck {
        self.compile.includes.push(folder.into());
        self
    }

    /// Sets the number of workgroups along x, y and z.
    pub fn workgroups(mut self, groups: [u32; 3]) -> ShaderCheck {
        self.options.groups = Some(groups);
        self
    }

    /// Sets the contents of a binding: `SET.BINDING`, `BINDING` of set 0, or the name of its
    /// variable. A run-time array takes its length from the data.
    pub fn input<T: NoUninit>(self, binding: &str, data: &[T]) -> ShaderCheck {
        self.source(binding, BindingSource::Bytes(bytemuck::cast_slice(data).to_vec()))
    }

    /// Sets the contents of a binding as `assay check --input` does: `usual`, `hard`, `index`,
    /// `1.5..2`, a number or a file. The binding may also select scalars: `params.size`.
    pub fn input_from(self, binding: &str, contents: &str) -> ShaderCheck {
        match contents.parse() {
            Ok(source) => self.source(binding, source),
            Err(error) => self.with_mistake(&error),
        }
    }

    fn source(mut self, binding: &str, source: BindingSource) -> ShaderCheck {
        match binding.parse::<BindingName>() {
            Ok(name) => self.options.inputs.push((name, source)),
            Err(error) => return self.with_mistake(&error),
        }
        self
    }

    /// Sets the contents of the push constants.
    pub fn push<T: NoUninit>(mut self, value: &T) -> ShaderCheck {
        self.options.push = Some(BindingSource::Bytes(bytemuck::bytes_of(value).to_vec()));
        self
    }

    /// Sets one push constant, by path (`size[0]`) or byte offset (`@16`).
    pub fn push_value(mut self, name: &str, value: impl std::fmt::Display) -> ShaderCheck {
        self.options.push_values.push((name.to_owned(), value.to_string()));
        self
    }

    /// Sets the length of the run-time array of a binding.
    pub fn elements(mut self, binding: &str, length: u64) -> ShaderCheck {
        match binding.parse::<BindingName>() {
            Ok(name) => self.options.elements.push((Some(name), length)),
            Err(error) => return self.with_mistake(&error),
        }
        self
    }

    /// Sets a specialisation constant by number or name, or an `override` of WGSL.
    pub fn specialize(mut self, constant: &str, value: impl std::fmt::Display) -> ShaderCheck {
        self.options.specs.push((constant.to_owned(), value.to_string()));
        self
    }

    /// Sets the number of rounds, each with other generated inputs [default: 2].
    pub fn rounds(mut self, rounds: u32) -> ShaderCheck {
        self.options.rounds = rounds.max(1);
        self
    }

    /// Sets the seed of generated inputs.
    pub fn seed(mut self, seed: u64) -> ShaderCheck {
        self.options.seed = seed;
        self
    }

    /// Selects the device: index, part of the name, UUID, or `lavapipe`.
    pub fn device(mut self, selector: impl Into<String>) -> ShaderCheck {
        self.device = Some(selector.into());
        self
    }

    /// Keeps the default sizes, also if the shader writes little with them.
    pub fn without_search(mut self) -> ShaderCheck {
        self.search = false;
        self
    }

    fn with_mistake(mut self, error: &CheckError) -> ShaderCheck {
        self.mistake.get_or_insert(error.to_string());
        self
    }

    /// Runs the check.
    ///
    /// # Errors
    /// [`Error::Check`] for mistakes in the shader or its inputs, and for undefined behaviour;
    /// [`Error::Device`] if no device can be opened. Failures of the device are an outcome.
    pub fn check(mut self) -> Result<Outcome, Error> {
        if let Some(mistake) = self.mistake.take() {
            return Err(CheckError::Option(mistake).into());
        }
        self.compile.specs = self.options.specs.clone();
        let shader = match &self.origin {
            Origin::File(path) => ShaderSource::load(path, &self.compile)?,
            Origin::Text { name, text } => ShaderSource::read_with(name, text.as_bytes(), &self.compile)?,
        };
        let mut session = CheckSession::new(shader, self.options);
        // Reports mistakes in the inputs, also where there is no device.
        session.check()?.setup.dispatch(0)?;
        session.diagnosis.trace = true;
        let selector = self.device.or_else(|| std::env::var(DEVICE_VARIABLE).ok());
        let physical = Instance::new(false)?.select(selector.as_deref())?;
        let target = RecordingTarget::new(VulkanTarget::new(&physical, TIME_LIMIT, false)?);
        if self.search {
            session.search(&target, &|| ())?;
        }
        let check = session.check()?;
        let output = SessionOutput { folder: None, command: &[] };
        let mut result = session.run(&check, &target, None, output, &|_| ())?;
        session.conclude(&check, &mut result, target.info(), output)?;
        let memory = target.first_output();
        let read_back = check.setup.descriptors.iter().filter(|descriptor| descriptor.is_read_back());
        let outputs = read_back.filter_map(|descriptor| {
            let bytes = memory.get(&descriptor.slot)?.clone();
            Some(Output { slot: descriptor.slot, variable: descriptor.name.clone(), bytes })
        });
        let outputs = outputs.collect();
        Ok(Outcome { device: target.info().clone(), outputs, result })
    }

    /// Runs the check as [`ShaderCheck::check`]; without any device, says so on standard error, past
    /// the test harness's capture, and returns `None`. If `ASSAY_REQUIRE_DEVICE` is set, a missing
    /// device is an error.
    ///
    /// # Errors
    /// As [`ShaderCheck::check`].
    pub fn check_or_skip(self) -> Result<Option<Outcome>, Error> {
        let name = match &self.origin {
            Origin::File(path) => path.display().to_string(),
            Origin::Text { name, .. } => name.clone(),
        };
        match self.check() {
            Err(Error::Device(error)) if std::env::var_os(REQUIRE_DEVICE_VARIABLE).is_none() => {
                // Nothing can be done if standard error is closed.
                _ = writeln!(std::io::stderr(), "SKIPPED {name}: {error}");
                Ok(None)
            }
            checked => checked.map(Some),
        }
    }
}

/// Output of a binding in the first round.
#[derive(Clone, Debug)]
struct Output {
    slot: Slot,
    variable: Option<String>,
    bytes: Vec<u8>,
}

/// Outcome of a check on a device.
#[derive(Clone, Debug)]
pub struct Outcome {
    device: DeviceInfo,
    outputs: Vec<Output>,
    result: CheckResult,
}

impl Outcome {
    /// Returns the status.
    pub fn status(&self) -> Status {
        self.result.status
    }

    /// Returns true if the device's results are permitted: [`Status::Pass`], or
    /// [`Status::QualityWarning`] for results that only the most lenient reading of the
    /// specification permits, or where the check avoids undefined behaviour of the shader.
    pub fn is_conformant(&self) -> bool {
        matches!(self.result.status, Status::Pass | Status::QualityWarning)
    }

    /// Panics with the report if the results are not known to be permitted: they are wrong, the
    /// device failed or lacks a feature, or nothing could have come out wrong.
    #[track_caller]
    pub fn assert_conformant(&self) {
        assert!(self.is_conformant(), "{}\n{}", self.device.name, self.report());
    }

    /// Returns the report, as `assay check` prints it.
    pub fn report(&self) -> String {
        assay_reports::check_text(&self.result)
    }

    /// Returns the full result.
    pub fn result(&self) -> &CheckResult {
        &self.result
    }

    /// Returns the device.
    pub fn device(&self) -> &DeviceInfo {
        &self.device
    }

    /// Returns the contents of a storage buffer or storage image after the first round, by its
    /// binding or the name of its variable. Rows of images follow each other without gaps.
    ///
    /// # Errors
    /// [`Error::Output`]: no such output exists, or its size is not a multiple of the size of `T`;
    /// [`Error::Check`]: `binding` is not the name of one.
    pub fn values<T: AnyBitPattern>(&self, binding: &str) -> Result<Vec<T>, Error> {
        let name: BindingName = binding.parse()?;
        let named = self.outputs.iter().find(|output| name.names(output.slot, output.variable.as_deref()));
        let output = named.ok_or_else(|| {
            let known = self.outputs.iter().map(|output| match &output.variable {
                Some(variable) => format!("{} ({variable})", BindingName::from(output.slot)),
                None => BindingName::from(output.slot).to_string(),
            });
            let known: Vec<String> = known.collect();
            let known = if known.is_empty() { "the device left none".to_owned() } else { known.join(", ") };
            Error::Output(format!("no output `{binding}`; outputs: {known}"))
        })?;
        let size = size_of::<T>();
        if size == 0 || output.bytes.len() % size != 0 {
            return Err(Error::Output(format!(
                "output `{binding}` has {} bytes, which are not a whole number of elements of {size} bytes",
                output.bytes.len()
            )));
        }
        Ok(output.bytes.chunks_exact(size).map(bytemuck::pod_read_unaligned).collect())
    }

    /// Returns the contents of every output after the first round, by binding.
    pub fn outputs(&self) -> BTreeMap<String, &[u8]> {
        self.outputs
            .iter()
            .map(|output| (BindingName::from(output.slot).to_string(), output.bytes.as_slice()))
            .collect()
    }
}
