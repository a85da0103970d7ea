//! Errors between cases and wgpu.

use assay_exec::ExecError;

/// Reason why a device is not available through wgpu.
#[derive(Debug, thiserror::Error)]
pub enum WgpuError {
    /// No Vulkan device matches.
    #[error(transparent)]
    Vulkan(#[from] assay_vulkan::Error),
    /// wgpu does not offer the device that Vulkan does.
    #[error("wgpu offers no adapter for {device}; it offers {}", list(adapters))]
    NoAdapter {
        /// The device, as Vulkan names it.
        device: String,
        /// The adapters that wgpu offers.
        adapters: Vec<String>,
    },
    /// wgpu has the adapter but cannot open it.
    #[error("wgpu cannot open {device}: {what}")]
    Open {
        /// The device.
        device: String,
        /// Message of wgpu.
        what: String,
    },
}

fn list(adapters: &[String]) -> String {
    if adapters.is_empty() { "none".to_owned() } else { adapters.join(", ") }
}

/// Converts an error of wgpu to the reason why a case has no result; `during` names the activity.
pub(crate) fn exec_error(error: &wgpu::Error, during: &str) -> ExecError {
    let what = format!("{during}: wgpu: {}", message(error));
    match error {
        wgpu::Error::OutOfMemory { .. } => ExecError::OutOfMemory(what),
        wgpu::Error::Validation { .. } | wgpu::Error::Internal { .. } => ExecError::Internal(what),
    }
}

/// Returns wgpu's message in one line.
pub(crate) fn message(error: &wgpu::Error) -> String {
    let text = error.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
