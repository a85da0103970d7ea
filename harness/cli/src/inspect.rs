//! `assay inspect`.

use crate::{
    exit::{self, Failure, WithCode},
    folders, note, print,
};
use assay_spirv::{
    TargetEnv,
    inspect::{Report, Source},
    need::{Have, Need},
};
use assay_vulkan::{Instance, PhysicalDevice};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What `assay inspect --help` says at its end.
pub(crate) const HELP: &str = "\
A file is WGSL if its name ends in .wgsl, SPIR-V words if it starts with the magic number (in either byte order), else
text as spirv-as reads it. No driver is needed: where there is none, nothing is said of devices.

A warning is a breach that is reported and not refused: --strict takes it for a violation.

Exit codes: 0 the module is legal; 1 it violates a rule; 2 the file cannot be read.";

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// SPIR-V words or text, or WGSL
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The report as JSON
    #[arg(long, conflicts_with = "disassemble")]
    json: bool,

    /// The module as text instead of a report
    #[arg(long)]
    disassemble: bool,

    /// Also writes the module here: text if the name ends in .spvasm, else words
    #[arg(long, value_name = "FILE")]
    emit: Option<PathBuf>,

    /// Assemble SPIR-V text for this environment, which decides its version: spv1.0 to spv1.6, vulkan1.0 to vulkan1.4
    ///
    /// Without one a `; Version:` comment at the text's start decides, else it is SPIR-V 1.6.
    #[arg(long, value_name = "ENV")]
    target_env: Option<TargetEnv>,

    /// Take warnings for violations
    #[arg(long)]
    strict: bool,

    /// Only this device: its index in `assay devices`, a part of its name, its UUID, or `lavapipe`
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
}

/// The JSON of `--json`.
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

/// Says what a module declares, needs and violates.
pub(crate) fn inspect(args: &InspectArgs) -> Result<u8, Failure> {
    let name = args.file.display().to_string();
    let source = assay_check::Subject::load_for(&args.file, &mut Vec::new(), args.target_env)?.source;
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
    let need = Need::of(&source.module);
    if args.json {
        let verdicts = devices.iter().map(|(device, have)| {
            let verdict = need.check(have);
            let missing = verdict.missing.iter().map(ToString::to_string).collect();
            DeviceJson { device: device.clone(), may_run: verdict.may_run(), missing }
        });
        let json = Json { report: &report, devices: verdicts.collect() };
        let mut text = serde_json::to_string_pretty(&json).code(exit::INTERNAL)?;
        text.push('\n');
        print(text.as_bytes())?;
    } else {
        print(report.render(&name, &need, &devices).as_bytes())?;
    }
    Ok(code)
}

fn emit(source: &Source, path: &Path) -> Result<(), Failure> {
    let bytes = if path.extension().is_some_and(|e| e == "spvasm") {
        source.disassemble().code(exit::USAGE)?.into_bytes()
    } else {
        source.module.words().iter().flat_map(|word| word.to_le_bytes()).collect()
    };
    folders::write(path, bytes)
}

/// The devices to hold the module against. Without a driver there are none, unless one was asked for.
fn devices(selector: Option<&str>) -> Result<Vec<(String, Have)>, Failure> {
    let found = Instance::new(false).and_then(|instance| instance.devices());
    let devices = match found {
        Ok(devices) => devices,
        Err(error) if selector.is_none() => {
            note(&format!("nothing is said of devices: {error}"));
            return Ok(Vec::new());
        }
        Err(error) => return Err(error.into()),
    };
    let named = |device: &PhysicalDevice| (device.identity().name.clone(), device.capabilities().have());
    match selector {
        None => Ok(devices.iter().map(named).collect()),
        Some(_) => {
            let identities: Vec<_> = devices.iter().map(PhysicalDevice::identity).collect();
            let chosen = assay_vulkan::select(&identities, selector)?;
            Ok(vec![named(&devices[chosen])])
        }
    }
}
