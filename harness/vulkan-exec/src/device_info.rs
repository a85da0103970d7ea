//! Description of a Vulkan device for results.

use assay_events::DeviceInfo;
use assay_vulkan::PhysicalDevice;
use std::collections::BTreeMap;

/// Returns the description of a device for results; the schema of `device.json`.
pub fn device_info(physical: &PhysicalDevice) -> DeviceInfo {
    let identity = physical.identity();
    let has = physical.capabilities();
    DeviceInfo {
        name: identity.name.clone(),
        api: "vulkan".to_owned(),
        kind: identity.device_type.to_string().to_ascii_lowercase(),
        vendor_id: identity.vendor_id,
        device_id: identity.device_id,
        uuid: identity.device_uuid.to_string(),
        driver_name: identity.driver_name.clone(),
        driver_info: identity.driver_info.clone(),
        driver_version: identity.driver_version_raw,
        api_version: identity.api_version.to_string(),
        conformance_version: identity.conformance_version.clone(),
        features: has.features.iter().cloned().collect(),
        extensions: has.extensions.iter().cloned().collect(),
        properties: has.properties.iter().map(|(name, value)| (name.clone(), value.to_string())).collect(),
        environment: environment(),
        host_cpu: host_cpu(),
    }
}

/// Returns the variables that affect Mesa's drivers and the loader.
fn environment() -> BTreeMap<String, String> {
    const PREFIXES: [&str; 7] = ["VK_", "MESA_", "LVP_", "LP_", "NIR_", "GALLIUM_", "RADV_"];
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .filter(|(name, _)| PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
        .collect()
}

/// Returns the processor's name from Linux, or the architecture on other systems.
fn host_cpu() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}
