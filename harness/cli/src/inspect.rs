//! `assay inspect`: a report on a SPIR-V module.

use crate::{
    common_args::CompileArgs,
    exit::{self, Failure, WithCode},
    note, output_file, print,
};
use assay_check::{CompileOptions, ShaderSource};
use assay_spirv_rules::inspect::{ModuleSource, Report};
use assay_spirv_rules::requirements::{DeviceCaps, Requirements};
use assay_vulkan::{Instance, PhysicalDevice};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// End of `assay inspect --help`.
pub(crate) const HELP: &str = "\
FILE is WGSL (.wgsl), GLSL (.comp, .glsl, or #version in the first line), HLSL (.hlsl, .compute), Slang (.slang), a SPIR-V binary \
if it starts with the magic number (in either byte order), else SPIR-V text as spirv-as reads it. No driver is needed; without one the report names no devices.

A warning is a violation that does not make the module illegal; --strict treats warnings as violations.

Exit codes: 0 the module is legal; 1 it violates a rule; 2 the file cannot be read.";

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Shader
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Print the report as JSON
    #[arg(long, conflicts_with = "disassemble")]
    json: bool,

    /// Print the module as SPIR-V text instead of a report
    #[arg(long)]
    disassemble: bool,

    /// Also write the module to FILE: as text if the name ends in .spvasm, else as a binary
    #[arg(long, value_name = "FILE")]
    emit: Option<PathBuf>,

    /// Entry point of HLSL and Slang [default: the function after `[numthreads(..)]`]
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,

    #[command(flatten)]
    compile: CompileArgs,

    /// Treat warnings as violations
    #[arg(long)]
    strict: bool,

    /// Report on this device only: index in `assay devices`, part of the name, UUID, or `lavapipe`
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
}

/// Output of `--json`.
#[derive(Serialize)]
struct Json<'a> {
    report: &'a Report,
    devices: Vec<DeviceJson>,
}

#[derive(Serialize)]
struct DeviceJson {
    device: String,
    may_run: bool,
    missing: Vec<String>,
}

/// Reports the declarations, requirements and violations of a module.
pub(crate) fn inspect(args: &InspectArgs) -> Result<u8, Failure> {
    let name = args.file.display().to_string();
    let shader =
        ShaderSource::load(&args.file, &CompileOptions { entry: args.entry.clone(), ..args.compile.options() })?;
    if let Some(run) = &shader.compiler {
        note(&format!("compiled by {run}"));
    }
    shader.notes.iter().for_each(|text| note(text));
    let source = shader.source;
    if let Some(path) = &args.emit {
        emit(&source, path)?;
    }
    let report = Report::new(&source);
    let report = if args.strict { report.strict() } else { report };
    let code = if report.is_legal() { exit::OK } else { exit::FAILURES };
    if args.disassemble {
        print(source.disassemble().code(exit::USAGE)?.as_bytes())?;
        return Ok(code);
    }
    let devices = devices(args.device.as_deref())?;
    let requirements = Requirements::of(&source.module);
    if args.json {
        let verdicts = devices.iter().map(|(device, caps)| {
            let verdict = requirements.check(caps);
            let missing = verdict.missing.iter().map(ToString::to_string).collect();
            DeviceJson { device: device.clone(), may_run: verdict.may_run(), missing }
        });
        let json = Json { report: &report, devices: verdicts.collect() };
        let mut text = serde_json::to_string_pretty(&json).code(exit::INTERNAL)?;
        text.push('\n');
        print(text.as_bytes())?;
    } else {
        print(report.render(&name, &requirements, &devices).as_bytes())?;
    }
    Ok(code)
}

/// Writes the module as text or binary, by the file name's extension.
fn emit(source: &ModuleSource, path: &Path) -> Result<(), Failure> {
    let bytes = if path.extension().is_some_and(|e| e == "spvasm") {
        source.disassemble().code(exit::USAGE)?.into_bytes()
    } else {
        source.module.words().iter().flat_map(|word| word.to_le_bytes()).collect()
    };
    output_file::write(path, bytes)
}

/// Returns the devices to report on, with their capabilities.
///
/// # Errors
/// A device was selected but cannot be found. Without `--device`, a missing driver gives no devices
/// and a note.
fn devices(selector: Option<&str>) -> Result<Vec<(String, DeviceCaps)>, Failure> {
    let found = Instance::new(false).and_then(|instance| instance.devices());
    let devices = match found {
        Ok(devices) => devices,
        Err(error) if selector.is_none() => {
            note(&format!("the report names no devices: {error}"));
            return Ok(Vec::new());
        }
        Err(error) => return Err(error.into()),
    };
    let named = |device: &PhysicalDevice| (device.identity().name.clone(), device.capabilities().device_caps());
    match selector {
        None => Ok(devices.iter().map(named).collect()),
        Some(_) => {
            let identities: Vec<_> = devices.iter().map(PhysicalDevice::identity).collect();
            let chosen = assay_vulkan::select(&identities, selector)?;
            Ok(vec![named(&devices[chosen])])
        }
    }
}
