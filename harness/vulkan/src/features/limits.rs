//! Property structures as data, for limits that `ash` has no structures of.
//!
//! Those that are taken are a header and a run of 32-bit words, as the generator makes sure.

use std::collections::BTreeSet;
use std::ffi::c_void;

use ash::vk;

use super::property_tables::PROPERTIES;
use crate::capabilities::PropertyValue;

/// A property structure of the registry.
pub(crate) struct PropertyBlock {
    /// Its `VkStructureType`.
    pub(crate) s_type: i32,
    /// The extensions that define it: any one of them will do.
    pub(crate) extensions: &'static [&'static str],
    /// Its words in order, each with whether it is a `VkBool32`; of a `VkExtent2D` the two axes.
    pub(crate) fields: &'static [(&'static str, bool)],
}

const MAX_WORDS: usize = 8;

/// What a driver writes in place of the structure.
#[repr(C)]
struct Raw {
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

/// The properties of every such structure that an extension of the device defines, by name. The device has Vulkan 1.1.
pub(crate) fn query(
    instance: &ash::Instance,
    device: vk::PhysicalDevice,
    extensions: &BTreeSet<String>,
) -> Vec<(&'static str, PropertyValue)> {
    let blocks = PROPERTIES.iter().filter(|block| block.extensions.iter().any(|e| extensions.contains(*e)));
    let mut found = Vec::new();
    for block in blocks {
        let mut raw = Raw {
            s_type: vk::StructureType::from_raw(block.s_type),
            p_next: std::ptr::null_mut(),
            words: [0; MAX_WORDS],
        };
        let mut properties = vk::PhysicalDeviceProperties2 { p_next: (&raw mut raw).cast(), ..Default::default() };
        // SAFETY: `raw` has the layout of the structure that its sType names (or is longer), the device has an extension
        // that defines it, and it outlives the call. `device` is a handle of this instance.
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
