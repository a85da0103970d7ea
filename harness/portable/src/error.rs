//! What goes wrong between a case and wgpu.

use assay_runner::Trouble;

/// Why there is no device through wgpu.
#[derive(Debug, thiserror::Error)]
pub enum PortableError {
    /// No Vulkan device of that name.
    #[error(transparent)]
    Vulkan(#[from] assay_vulkan::Error),
    /// wgpu does not offer the device that Vulkan does.
    #[error("wgpu offers no adapter for {device}; it offers {}", list(adapters))]
    NoAdapter {
        /// The device, as Vulkan names it.
        device: String,
        /// The adapters that there are.
        adapters: Vec<String>,
    },
    /// wgpu has the adapter and opens no device on it.
    #[error("wgpu cannot open {device}: {what}")]
    Open {
        /// The device.
        device: String,
        /// What wgpu says.
        what: String,
    },
}

fn list(adapters: &[String]) -> String {
    if adapters.is_empty() { "none".to_owned() } else { adapters.join(", ") }
}

/// What an error of wgpu means; `during` says what was being done.
pub(crate) fn trouble(error: &wgpu::Error, during: &str) -> Trouble {
    let what = format!("{during}: wgpu: {}", said(error));
    match error {
        wgpu::Error::OutOfMemory { .. } => Trouble::OutOfMemory(what),
        wgpu::Error::Validation { .. } | wgpu::Error::Internal { .. } => Trouble::Internal(what),
    }
}

/// What wgpu says, in one line.
pub(crate) fn said(error: &wgpu::Error) -> String {
    let text = error.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
