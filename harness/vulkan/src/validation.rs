//! The Khronos validation layer: its messages are collected until the caller takes them.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ash::{ext, vk};
use serde::Serialize;

use crate::error::{Error, command_error};

pub(crate) const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Severity of a validation message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Suspicious, not forbidden.
    Warning,
    /// The application broke a rule of the specification, so the driver's behaviour proves nothing.
    Error,
}

/// One message of the validation layer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct ValidationMessage {
    /// Error or warning.
    pub severity: Severity,
    /// Name of the rule, such as `VUID-vkCmdDispatch-groupCountX-00386`; empty if the layer gives
    /// none.
    pub id: String,
    /// The layer's text.
    pub text: String,
}

impl fmt::Display for ValidationMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "validation {severity}: {}", self.text)
    }
}

/// The messages that the callback received.
#[derive(Default)]
pub(crate) struct MessageCollector(Mutex<Vec<ValidationMessage>>);

impl MessageCollector {
    pub(crate) fn take(&self) -> Vec<ValidationMessage> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the messenger's description. It holds a pointer to `self`, which must outlive every
    /// messenger created from it.
    pub(crate) fn messenger_info(self: &Arc<Self>) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(
                vk::DebugUtilsMessageSeverityFlagsEXT::ERROR | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING,
            )
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
            .pfn_user_callback(Some(callback))
            .user_data(Arc::as_ptr(self).cast_mut().cast())
    }
}

/// The messenger of an instance; its owner destroys it before the instance.
pub(crate) struct Messenger {
    functions: ext::debug_utils::Instance,
    handle: vk::DebugUtilsMessengerEXT,
    pub(crate) collector: Arc<MessageCollector>,
}

impl Messenger {
    pub(crate) fn new(
        entry: &ash::Entry,
        instance: &ash::Instance,
        collector: Arc<MessageCollector>,
    ) -> Result<Self, Error> {
        let functions = ext::debug_utils::Instance::new(entry, instance);
        let info = collector.messenger_info();
        // SAFETY: VK_EXT_debug_utils is enabled on the instance, and the collector lives as long as
        // the messenger.
        let handle = unsafe { functions.create_debug_utils_messenger(&info, None) }
            .map_err(command_error("vkCreateDebugUtilsMessengerEXT"))?;
        Ok(Self { functions, handle, collector })
    }

    /// Destroys the messenger.
    ///
    /// # Safety
    /// The instance must still exist, and this must be called at most once.
    pub(crate) unsafe fn destroy(&self) {
        // SAFETY: by the contract of this function.
        unsafe { self.functions.destroy_debug_utils_messenger(self.handle, None) };
    }
}

unsafe extern "system" fn callback(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: `user` is the collector of `messenger_info`, which outlives the messenger; `data` is
    // valid during the call.
    let (collector, data) = unsafe { (user.cast::<MessageCollector>().as_ref(), data.as_ref()) };
    if let (Some(collector), Some(data)) = (collector, data) {
        let text = |p: *const std::ffi::c_char| {
            if p.is_null() {
                String::new()
            } else {
                // SAFETY: the layer's strings are NUL-terminated and valid during the call.
                unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned()
            }
        };
        let severity = if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) {
            Severity::Error
        } else {
            Severity::Warning
        };
        let message = ValidationMessage { severity, id: text(data.p_message_id_name), text: text(data.p_message) };
        collector.0.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }
    vk::FALSE
}
