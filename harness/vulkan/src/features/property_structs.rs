//! Property structures as data, for limits whose structures `ash` does not have.
//!
//! The generator takes only structures that consist of a header and 32-bit words.

use std::collections::BTreeSet;
use std::ffi::c_void;

use ash::vk;

use super::property_tables::PROPERTIES;
use crate::device_capabilities::PropertyValue;

/// A property structure of the registry.
pub(crate) struct PropertyBlock {
    /// Its `VkStructureType`.
    pub(crate) s_type: i32,
    /// The extensions that define it; any one of them suffices.
    pub(crate) extensions: &'static [&'static str],
    /// Names of its words in order, with true for a `VkBool32`. A `VkExtent2D` counts as two words.
    pub(crate) fields: &'static [(&'static str, bool)],
}

const MAX_WORDS: usize = 8;

/// Memory that the driver writes as the structure.
#[repr(C)]
struct RawProperties {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    words: [u32; MAX_WORDS],
}

const _: () = {
    let mut i = 0;
    while i < PROPERTIES.len() {
        assert!(PROPERTIES[i].fields.len() <= MAX_WORDS);
        i += 1;
    }
};

/// Queries every property structure that an extension of the device defines, and returns the
/// properties by name. The device supports Vulkan 1.1.
pub(crate) fn query(
    instance: &ash::Instance,
    device: vk::PhysicalDevice,
    extensions: &BTreeSet<String>,
) -> Vec<(&'static str, PropertyValue)> {
    let blocks = PROPERTIES.iter().filter(|block| block.extensions.iter().any(|e| extensions.contains(*e)));
    let mut found = Vec::new();
    for block in blocks {
        let mut raw = RawProperties {
            s_type: vk::StructureType::from_raw(block.s_type),
            p_next: std::ptr::null_mut(),
            words: [0; MAX_WORDS],
        };
        let mut properties = vk::PhysicalDeviceProperties2 { p_next: (&raw mut raw).cast(), ..Default::default() };
        // SAFETY: `raw` has the layout of the structure that its sType names (or is longer), the
        // device has an extension that defines it, and it outlives the call. `device` is a handle
        // of this instance.
        unsafe { instance.get_physical_device_properties2(device, &mut properties) };
        found.extend(block.fields.iter().zip(raw.words).map(|(&(name, is_bool), word)| {
            let value = if is_bool { PropertyValue::Bool(word != 0) } else { PropertyValue::Number(word.into()) };
            (name, value)
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_needs_name_are_asked_for() {
        let names: BTreeSet<&str> = PROPERTIES.iter().flat_map(|block| block.fields).map(|(name, _)| *name).collect();
        for name in ["maxTileShadingRateX", "maxTileShadingRateY", "cooperativeMatrixSupportedStages"] {
            assert!(names.contains(name), "{name}");
        }
        assert!(PROPERTIES.iter().all(|block| !block.extensions.is_empty()));
    }
}
