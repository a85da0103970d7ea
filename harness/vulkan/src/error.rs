//! Errors of the crate.

use std::time::Duration;

use ash::vk;
use gpu_allocator::AllocationError;

/// Every error that this crate reports. No input and no answer of a driver causes a panic.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The machine has no Vulkan loader, or it cannot be loaded.
    #[error(
        "cannot load the Vulkan loader ({reason}); install it (Debian, Ubuntu: `apt install libvulkan1 mesa-vulkan-drivers`)"
    )]
    NoLoader {
        /// Message of the dynamic linker.
        reason: String,
    },
    /// The loader found no working driver, or the drivers found no device.
    #[error(
        "no Vulkan device: no driver answered; install one (Debian, Ubuntu: `apt install mesa-vulkan-drivers`, which has \
         lavapipe for machines without a GPU) or check VK_DRIVER_FILES"
    )]
    NoDevice,
    /// Validation was requested, but `VK_LAYER_KHRONOS_validation` is not installed.
    #[error(
        "validation was asked for, but there is no VK_LAYER_KHRONOS_validation: install it (Debian, Ubuntu: \
         `apt install vulkan-validationlayers`) or point VK_ADD_LAYER_PATH at the folder of its manifest \
         (`scripts/setup --tests` makes one)"
    )]
    NoValidationLayer,
    /// A device selector matches nothing.
    #[error(
        "no device matches `{selector}`; it takes an index, part of a name, a UUID or `lavapipe`; present:\n{present}"
    )]
    NoMatch {
        /// The selector as given.
        selector: String,
        /// The present devices, one a line.
        present: String,
    },
    /// A device selector matches several devices.
    #[error("`{selector}` matches several devices; name one by its index or UUID:\n{matches}")]
    Ambiguous {
        /// The selector as given.
        selector: String,
        /// The matching devices, one a line.
        matches: String,
    },
    /// The device lacks a version, queue, feature or limit that the request needs; the text names
    /// it.
    #[error("{device} does not support {what}")]
    NotSupported {
        /// The device's name.
        device: String,
        /// The missing item, in the registry's words.
        what: String,
    },
    /// An argument that no device could accept: a size, name or count.
    #[error("{what}")]
    Invalid {
        /// Description of the problem and of the expected value.
        what: String,
    },
    /// A slot was accessed while the device works on it.
    #[error("the slot is in flight: wait for its submission before touching its buffers")]
    InFlight,
    /// A wait on a slot without a submission.
    #[error("nothing was submitted to the slot, so there is nothing to wait for")]
    NotSubmitted,
    /// The work did not end within the time limit. The device may still be running it, and another
    /// wait is possible.
    #[error("the device did not finish within {limit:?}")]
    Timeout {
        /// The limit that passed.
        limit: Duration,
    },
    /// The device is lost: it, and everything created from it, can only be dropped.
    #[error("the device was lost during {during}; open it again, in a new process to be sure of it")]
    DeviceLost {
        /// The Vulkan command that reported it.
        during: &'static str,
    },
    /// The host or the device ran out of memory.
    #[error("out of {which} memory during {during}; use smaller or fewer buffers")]
    OutOfMemory {
        /// `host` or `device`.
        which: &'static str,
        /// The Vulkan command that failed.
        during: &'static str,
    },
    /// Any other error code of a Vulkan command.
    #[error("{during} failed with {code}")]
    Vulkan {
        /// The Vulkan command.
        during: &'static str,
        /// The `VkResult`, spelled as in the registry if it is known.
        code: String,
    },
}

impl Error {
    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid { what: what.into() }
    }

    /// Returns true if the device is lost or does not respond, so that this process can learn
    /// nothing more from it.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::DeviceLost { .. } | Self::Timeout { .. })
    }
}

/// Turns a `VkResult` into an [`Error`], naming the command.
pub(crate) fn command_error(command: &'static str) -> impl Fn(vk::Result) -> Error {
    move |result| match result {
        vk::Result::ERROR_DEVICE_LOST => Error::DeviceLost { during: command },
        vk::Result::ERROR_OUT_OF_HOST_MEMORY => Error::OutOfMemory { which: "host", during: command },
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
        | vk::Result::ERROR_OUT_OF_POOL_MEMORY
        | vk::Result::ERROR_FRAGMENTED_POOL => Error::OutOfMemory { which: "device", during: command },
        other => Error::Vulkan { during: command, code: format!("{other:?}") },
    }
}

/// Turns an error of the allocator into an [`Error`].
pub(crate) fn allocation_error(error: AllocationError) -> Error {
    const DURING: &str = "vkAllocateMemory";
    match error {
        AllocationError::OutOfMemory => Error::OutOfMemory { which: "device", during: DURING },
        other => Error::Vulkan { during: DURING, code: other.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_become_the_errors_that_callers_tell_apart() {
        let error = |result| command_error("vkQueueSubmit")(result);
        assert!(matches!(error(vk::Result::ERROR_DEVICE_LOST), Error::DeviceLost { during: "vkQueueSubmit" }));
        assert!(error(vk::Result::ERROR_DEVICE_LOST).is_fatal());
        for (result, which) in [
            (vk::Result::ERROR_OUT_OF_HOST_MEMORY, "out of host memory"),
            (vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, "out of device memory"),
        ] {
            assert!(error(result).to_string().starts_with(which));
            assert!(!error(result).is_fatal());
        }
        assert!(matches!(allocation_error(AllocationError::OutOfMemory), Error::OutOfMemory { which: "device", .. }));
        let other = error(vk::Result::ERROR_FEATURE_NOT_PRESENT).to_string();
        assert_eq!(other, "vkQueueSubmit failed with ERROR_FEATURE_NOT_PRESENT");
    }
}
