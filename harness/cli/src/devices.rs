//! `assay devices`.

use crate::{
    args::DevicesArgs,
    exit::{self, Failure, WithCode},
    print,
};
use assay_vulkan::{Instance, PhysicalDevice};
use std::fmt::Write;

/// Features that decide which cases a device can run, with what they stand for.
const FEATURES: [(&str, &str); 11] = [
    ("shaderFloat16", "16-bit floats"),
    ("shaderFloat64", "64-bit floats"),
    ("shaderInt8", "8-bit integers"),
    ("shaderInt16", "16-bit integers"),
    ("shaderInt64", "64-bit integers"),
    ("storageBuffer8BitAccess", "8-bit storage buffers"),
    ("storageBuffer16BitAccess", "16-bit storage buffers"),
    ("shaderFloatControls2", "float_controls2"),
    ("vulkanMemoryModel", "the Vulkan memory model"),
    ("shaderBFloat16Type", "bfloat16"),
    ("shaderFmaFloat32", "OpFmaKHR"),
];

/// Float-controls properties, given for each width, with the mode that each allows.
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
        let list: Vec<_> = devices.iter().map(assay_runner::device_info).collect();
        let mut text = serde_json::to_string_pretty(&list).code(exit::INTERNAL)?;
        text.push('\n');
        return print(text.as_bytes());
    }
    let text = devices.iter().map(describe).collect::<Vec<_>>().join("\n");
    print(text.as_bytes())
}

/// One device, for people.
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
    let (has, lacks): (Vec<_>, Vec<_>) = FEATURES.iter().partition(|(name, _)| capabilities.has_feature(name));
    let names = |list: &[&(&str, &str)]| list.iter().map(|(_, words)| *words).collect::<Vec<_>>().join(", ");
    line("has", &names(&has));
    line("lacks", &names(&lacks));
    for (property, mode) in CONTROLS {
        let widths = ["16", "32", "64"].into_iter().filter(|width| capabilities.is(&format!("{property}{width}")));
        let widths = widths.map(|width| format!("f{width}")).collect::<Vec<_>>().join(", ");
        line(mode, if widths.is_empty() { "-" } else { &widths });
    }
    text
}
