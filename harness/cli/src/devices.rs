//! `assay devices`: the list of Vulkan devices.

use crate::{
    exit::{self, Failure, WithCode},
    print,
};
use assay_spirv::tables::Capability;
use assay_spirv_rules::requirements::Requirements;
use assay_vulkan::{Instance, PhysicalDevice};
use clap::Args;
use std::fmt::Write;

#[derive(Debug, Args)]
pub(crate) struct DevicesArgs {
    /// Print a JSON array with the contents of device.json for each device
    #[arg(long)]
    pub(crate) json: bool,
}

/// SPIR-V capabilities that decide which cases a device can run, with their meaning.
const CAPABILITIES: [(Capability, &str); 11] = [
    (Capability::Float16, "16-bit floats"),
    (Capability::Float64, "64-bit floats"),
    (Capability::Int8, "8-bit integers"),
    (Capability::Int16, "16-bit integers"),
    (Capability::Int64, "64-bit integers"),
    (Capability::StorageBuffer8BitAccess, "8-bit storage buffers"),
    (Capability::StorageBuffer16BitAccess, "16-bit storage buffers"),
    (Capability::FloatControls2, "float_controls2"),
    (Capability::VulkanMemoryModel, "the Vulkan memory model"),
    (Capability::BFloat16TypeKHR, "bfloat16"),
    (Capability::FMAKHR, "OpFmaKHR"),
];

/// Float-controls properties (one per width) and the mode that each allows.
const CONTROLS: [(&str, &str); 5] = [
    ("shaderDenormPreserveFloat", "DenormPreserve"),
    ("shaderDenormFlushToZeroFloat", "DenormFlushToZero"),
    ("shaderRoundingModeRTEFloat", "RoundingModeRTE"),
    ("shaderRoundingModeRTZFloat", "RoundingModeRTZ"),
    ("shaderSignedZeroInfNanPreserveFloat", "SignedZeroInfNanPreserve"),
];

/// Lists the devices.
pub(crate) fn devices(args: &DevicesArgs) -> Result<u8, Failure> {
    let devices = Instance::new(false)?.devices()?;
    if args.json {
        let list: Vec<_> = devices.iter().map(assay_vulkan_exec::device_info).collect();
        let mut text = serde_json::to_string_pretty(&list).code(exit::INTERNAL)?;
        text.push('\n');
        return print(text.as_bytes());
    }
    let text = devices.iter().map(describe).collect::<Vec<_>>().join("\n");
    print(text.as_bytes())
}

/// Returns a readable description of a device.
fn describe(device: &PhysicalDevice) -> String {
    let (identity, capabilities) = (device.identity(), device.capabilities());
    let bold = anstyle::Style::new().bold();
    let mut text = format!("{}: {bold}{}{bold:#}\n", identity.index, identity.name);
    let mut line = |name: &str, value: &str| _ = writeln!(text, "   {name:<26}{value}");
    line("type", &identity.device_type.to_string());
    line("uuid", &identity.device_uuid.to_string());
    line("driver", format!("{} {}", identity.driver_name, identity.driver_info).trim());
    let conformance = match identity.conformance_version.as_str() {
        "" | "0.0.0.0" => "none claimed",
        claimed => claimed,
    };
    line("Vulkan", &format!("{} (conformance {conformance})", identity.api_version));
    let caps = capabilities.device_caps();
    let supports = |capability: Capability| Requirements::of_capability(capability).check(&caps).may_run();
    let (has, lacks): (Vec<_>, Vec<_>) = CAPABILITIES.iter().partition(|(capability, _)| supports(*capability));
    let names = |list: &[&(Capability, &str)]| list.iter().map(|(_, words)| *words).collect::<Vec<_>>().join(", ");
    line("has", &names(&has));
    line("lacks", &names(&lacks));
    for (property, mode) in CONTROLS {
        let widths = ["16", "32", "64"].into_iter().filter(|width| caps.has_property(&format!("{property}{width}")));
        let widths = widths.map(|width| format!("f{width}")).collect::<Vec<_>>().join(", ");
        line(mode, if widths.is_empty() { "-" } else { &widths });
    }
    text
}
