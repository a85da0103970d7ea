//! What can go wrong between here and a device, as values.

use std::time::Duration;

use ash::vk;
use gpu_allocator::AllocationError;

/// Everything that this crate reports as an error. No input and no driver answer makes it panic.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The Vulkan loader is not on this machine, or cannot be loaded.
    #[error(
        "cannot load the Vulkan loader ({reason}); install it (Debian, Ubuntu: `apt install libvulkan1 mesa-vulkan-drivers`)"
    )]
    NoLoader {
        /// What the dynamic linker said.
        reason: String,
    },
    /// The loader found no driver that works, or the drivers no device.
    #[error(
        "no Vulkan device: no driver answered; install one (Debian, Ubuntu: `apt install mesa-vulkan-drivers`, which has \
         lavapipe for machines without a GPU) or check VK_DRIVER_FILES"
    )]
    NoDevice,
    /// Validation was asked for and `VK_LAYER_KHRONOS_validation` is not there.
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
        /// The devices that are there, one a line.
        present: String,
    },
    /// A device selector matches several devices.
    #[error("`{selector}` matches several devices; name one by its index or UUID:\n{matches}")]
    Ambiguous {
        /// The selector as given.
        selector: String,
        /// The devices that match, one a line.
        matches: String,
    },
    /// The device cannot do what was asked: a version, queue, feature or limit is missing, named in the text.
    #[error("{device} does not support {what}")]
    NotSupported {
        /// The device's name.
        device: String,
        /// What it lacks, in the registry's words.
        what: String,
    },
    /// An argument that no device could accept: sizes, names, counts.
    #[error("{what}")]
    Invalid {
        /// What is wrong and what was expected.
        what: String,
    },
    /// A slot was touched while the device works on it.
    #[error("the slot is in flight: wait for its submission before touching its buffers")]
    InFlight,
    /// A wait on a slot to which nothing was submitted.
    #[error("nothing was submitted to the slot, so there is nothing to wait for")]
    NotSubmitted,
    /// The work did not end within the time limit. The device may still be running it; it may be waited for again.
    #[error("the device did not finish within {limit:?}")]
    Timeout {
        /// The limit that passed.
        limit: Duration,
    },
    /// The device is lost: it, and all that was made from it, can only be dropped.
    #[error("the device was lost during {during}; open it again, in a new process to be sure of it")]
    DeviceLost {
        /// The Vulkan command that reported it.
        during: &'static str,
    },
    /// The host or the device has no memory left for this.
    #[error("out of {which} memory during {during}; use smaller or fewer buffers")]
    OutOfMemory {
        /// `host` or `device`.
        which: &'static str,
        /// What was being made.
        during: &'static str,
    },
    /// Any other error code of a Vulkan command.
    #[error("{during} failed with {code}")]
    Vulkan {
        /// The Vulkan command.
        during: &'static str,
        /// The `VkResult`, as the registry spells it where it is known.
        code: String,
    },
}

impl Error {
    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid { what: what.into() }
    }

    /// Whether the device, or this process's hold on it, is gone or stuck: nothing further can be learnt from it here.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::DeviceLost { .. } | Self::Timeout { .. })
    }
}

/// Turns a `VkResult` into an [`Error`], naming the command.
pub(crate) fn during(command: &'static str) -> impl Fn(vk::Result) -> Error {
    move |result| match result {
        vk::Result::ERROR_DEVICE_LOST => Error::DeviceLost { during: command },
        vk::Result::ERROR_OUT_OF_HOST_MEMORY => Error::OutOfMemory { which: "host", during: command },
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
        | vk::Result::ERROR_OUT_OF_POOL_MEMORY
        | vk::Result::ERROR_FRAGMENTED_POOL => Error::OutOfMemory { which: "device", during: command },
        other => Error::Vulkan { during: command, code: format!("{other:?}") },
    }
}

/// The same for the allocator's errors.
pub(crate) fn allocating(error: AllocationError) -> Error {
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
        let error = |result| during("vkQueueSubmit")(result);
        assert!(matches!(error(vk::Result::ERROR_DEVICE_LOST), Error::DeviceLost { during: "vkQueueSubmit" }));
        assert!(error(vk::Result::ERROR_DEVICE_LOST).is_fatal());
        for (result, which) in [
            (vk::Result::ERROR_OUT_OF_HOST_MEMORY, "out of host memory"),
            (vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, "out of device memory"),
        ] {
            assert!(error(result).to_string().starts_with(which));
            assert!(!error(result).is_fatal());
        }
        assert!(matches!(allocating(AllocationError::OutOfMemory), Error::OutOfMemory { which: "device", .. }));
        let other = error(vk::Result::ERROR_FEATURE_NOT_PRESENT).to_string();
        assert_eq!(other, "vkQueueSubmit failed with ERROR_FEATURE_NOT_PRESENT");
    }
}
