//! Feature structures as data: one function queries and enables all of them.
//!
//! Every Vulkan feature structure consists of a header and consecutive `VkBool32` values. Its
//! `sType` and the names of its fields therefore describe it, and structures that `ash` does not
//! know (Vulkan 1.4, bfloat16 and others) need no definitions of their own.

mod extension_choice;
mod property_structs;
#[rustfmt::skip]
mod property_tables;
#[rustfmt::skip]
mod feature_tables;

use std::collections::BTreeSet;
use std::ffi::c_void;

use ash::vk;

use extension_choice::choose_extensions;
pub(crate) use extension_choice::is_core;
use feature_tables::{BLOCKS, CORE_1_0};
pub(crate) use property_structs::{PropertyBlock, query as query_limits};

use crate::version::ApiVersion;

/// A feature structure of the registry.
pub(crate) struct FeatureBlock {
    /// The structure's name.
    name: &'static str,
    /// Its `VkStructureType`.
    s_type: i32,
    /// The core version that includes it, if any.
    since: Option<(u32, u32)>,
    /// The core version in which another structure replaces it.
    until: Option<(u32, u32)>,
    /// The extensions that define it; any one of them suffices.
    extensions: &'static [&'static str],
    /// Set if devices are opened with it.
    enable: bool,
    /// Its fields, in order.
    fields: &'static [&'static str],
}

/// A device extension of the registry.
pub(crate) struct Extension {
    /// Its name.
    name: &'static str,
    /// The registry's dependency expression: `+` is and, `,` is or, with parentheses.
    depends: &'static str,
    /// The core version that includes its functionality.
    core: Option<(u32, u32)>,
    /// Set if it is enabled although it has no feature structure.
    bare: bool,
}

/// Features that `Device::open` enables only on request.
///
/// The robustness features make the device check or move accesses that a test wants unchanged. The
/// other features concern memory and objects that this crate does not create, and some of those
/// about descriptors exclude `robustBufferAccess` on some devices.
const OFF_BY_DEFAULT: &[&str] = &[
    "robustBufferAccess",
    "robustBufferAccess2",
    "robustImageAccess",
    "robustImageAccess2",
    "nullDescriptor",
    "protectedMemory",
    "descriptorBindingUniformBufferUpdateAfterBind",
    "descriptorBindingSampledImageUpdateAfterBind",
    "descriptorBindingStorageImageUpdateAfterBind",
    "descriptorBindingStorageBufferUpdateAfterBind",
    "descriptorBindingUniformTexelBufferUpdateAfterBind",
    "descriptorBindingStorageTexelBufferUpdateAfterBind",
    "bufferDeviceAddressCaptureReplay",
    "sparseBinding",
    "sparseResidencyBuffer",
    "sparseResidencyImage2D",
    "sparseResidencyImage3D",
    "sparseResidency2Samples",
    "sparseResidency4Samples",
    "sparseResidency8Samples",
    "sparseResidency16Samples",
    "sparseResidencyAliased",
];

/// Extensions that exclude the features which replace them: "If the pNext chain includes a
/// VkPhysicalDeviceVulkan12Features structure and bufferDeviceAddress is VK_TRUE,
/// ppEnabledExtensionNames must not contain VK_EXT_buffer_device_address"
/// (VUID-VkDeviceCreateInfo-pNext-04748; 03328 excludes VK_KHR_buffer_device_address).
const SUPERSEDED: &[&str] = &["VK_EXT_buffer_device_address"];

const MAX_FIELDS: usize = 60;

/// Memory that the driver reads and writes as the structure.
#[repr(C)]
struct RawFeatures {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    flags: [vk::Bool32; MAX_FIELDS],
}

const _: () = {
    let mut i = 0;
    while i < BLOCKS.len() {
        assert!(BLOCKS[i].fields.len() <= MAX_FIELDS);
        i += 1;
    }
    assert!(CORE_1_0.len() * size_of::<vk::Bool32>() == size_of::<vk::PhysicalDeviceFeatures>());
};

impl FeatureBlock {
    fn raw(&self) -> RawFeatures {
        RawFeatures {
            s_type: vk::StructureType::from_raw(self.s_type),
            p_next: std::ptr::null_mut(),
            flags: [vk::FALSE; MAX_FIELDS],
        }
    }

    fn usable(&self, version: ApiVersion, extensions: &BTreeSet<String>) -> bool {
        let replaced = self.until.is_some_and(|(a, b)| version.at_least(a, b));
        let core = self.since.is_some_and(|(a, b)| version.at_least(a, b));
        !replaced && (core || self.extensions.iter().any(|e| extensions.contains(*e)))
    }
}

/// Structures linked by their `pNext`. The elements do not move after linking.
struct StructChain {
    blocks: Vec<(&'static FeatureBlock, RawFeatures)>,
}

impl StructChain {
    fn new(blocks: impl Iterator<Item = &'static FeatureBlock>) -> Self {
        let mut blocks: Vec<_> = blocks.map(|b| (b, b.raw())).collect();
        let mut next = std::ptr::null_mut();
        for (_, raw) in blocks.iter_mut().rev() {
            raw.p_next = next;
            next = (&raw mut *raw).cast();
        }
        Self { blocks }
    }

    fn head(&mut self) -> *mut c_void {
        self.blocks.first_mut().map_or(std::ptr::null_mut(), |(_, raw)| (&raw mut *raw).cast())
    }
}

/// The features that a device offers, each with the structure that reports it; some names occur in
/// several structures.
#[derive(Clone, Default)]
pub(crate) struct OfferedFeatures(BTreeSet<(&'static str, &'static str)>);

/// The structure of Vulkan 1.0's features.
const CORE: &str = "VkPhysicalDeviceFeatures";

impl OfferedFeatures {
    /// Queries the device with the structures of `version` and `extensions`.
    pub(crate) fn query(
        instance: &ash::Instance,
        device: vk::PhysicalDevice,
        version: ApiVersion,
        extensions: &BTreeSet<String>,
    ) -> Self {
        let mut offered = BTreeSet::new();
        let core = if version.at_least(1, 1) {
            let mut chain = StructChain::new(BLOCKS.iter().filter(|b| b.usable(version, extensions)));
            let mut features = vk::PhysicalDeviceFeatures2 { p_next: chain.head(), ..Default::default() };
            // SAFETY: the chain's elements have the layout of the structures that their sType names
            // (or are longer), each structure belongs to the device's version or an extension it
            // has, and the chain outlives the call.
            unsafe { instance.get_physical_device_features2(device, &mut features) };
            for (block, raw) in &chain.blocks {
                let set = block.fields.iter().zip(raw.flags).filter(|&(_, flag)| flag != vk::FALSE);
                offered.extend(set.map(|(field, _)| (block.name, *field)));
            }
            features.features
        } else {
            // SAFETY: a handle of this instance.
            unsafe { instance.get_physical_device_features(device) }
        };
        let set = CORE_1_0.iter().zip(core_flags(&core)).filter(|&(_, flag)| flag != vk::FALSE);
        offered.extend(set.map(|(field, _)| (CORE, *field)));
        Self(offered)
    }

    /// Returns the names of the features.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.0.iter().map(|(_, field)| (*field).to_owned()).collect()
    }
}

/// The features and extensions with which a device is opened.
pub(crate) struct EnabledFeatures {
    core: vk::PhysicalDeviceFeatures,
    chain: StructChain,
    /// Names of the enabled features.
    pub(crate) names: BTreeSet<String>,
    /// The extensions that these features require, and those without a feature structure.
    pub(crate) extensions: BTreeSet<String>,
}

impl EnabledFeatures {
    /// Chooses every feature of `offered` that matters to compute, except those in `without`.
    /// Features that are off by default are included if `with` contains them.
    pub(crate) fn choose(
        version: ApiVersion,
        offered: &OfferedFeatures,
        extensions: &BTreeSet<String>,
        with: &BTreeSet<String>,
        without: &BTreeSet<String>,
    ) -> Self {
        let wanted = |structure: &'static str, name: &'static str| {
            offered.0.contains(&(structure, name))
                && !without.contains(name)
                && (with.contains(name) || !OFF_BY_DEFAULT.contains(&name))
        };
        let is_usable =
            |extension: &&String| !without.contains(*extension) && !SUPERSEDED.contains(&extension.as_str());
        let extensions: BTreeSet<String> = extensions.iter().filter(is_usable).cloned().collect();
        let mut chosen = choose_extensions(version, &extensions, BTreeSet::new(), |e| e.bare);
        let mut blocks = Vec::new();
        for block in BLOCKS {
            let worth = block.enable
                && block.usable(version, &extensions)
                && block.fields.iter().any(|f| wanted(block.name, f));
            let core = block.since.is_some_and(|(a, b)| version.at_least(a, b));
            if !worth {
                continue;
            }
            if !core {
                let provider = block.extensions.iter().find(|e| extensions.contains(**e));
                let with_it = choose_extensions(version, &extensions, chosen.clone(), |e| provider == Some(&e.name));
                if !provider.is_some_and(|p| with_it.contains(*p)) {
                    continue;
                }
                chosen = with_it;
            }
            blocks.push(block);
        }
        let mut names = BTreeSet::new();
        let mut flag = |structure, name: &'static str| {
            let on = wanted(structure, name);
            if on {
                names.insert(name.to_owned());
            }
            vk::Bool32::from(on)
        };
        let core = core_features(CORE_1_0.map(|name| flag(CORE, name)));
        let mut chain = StructChain::new(blocks.into_iter());
        for (block, raw) in &mut chain.blocks {
            for (name, slot) in block.fields.iter().zip(&mut raw.flags) {
                *slot = flag(block.name, name);
            }
        }
        Self { core, chain, names, extensions: chosen }
    }

    /// Returns the features of Vulkan 1.0, for devices without `vkGetPhysicalDeviceFeatures2`.
    pub(crate) fn core(&self) -> &vk::PhysicalDeviceFeatures {
        &self.core
    }

    /// Returns all features as the head of a chain that borrows `self`.
    pub(crate) fn features2(&mut self) -> vk::PhysicalDeviceFeatures2<'_> {
        vk::PhysicalDeviceFeatures2 { p_next: self.chain.head(), features: self.core, ..Default::default() }
    }
}

fn core_flags(core: &vk::PhysicalDeviceFeatures) -> [vk::Bool32; CORE_1_0.len()] {
    // SAFETY: the structure is exactly this many VkBool32 (checked above), in the registry's order.
    unsafe { std::mem::transmute_copy(core) }
}

fn core_features(flags: [vk::Bool32; CORE_1_0.len()]) -> vk::PhysicalDeviceFeatures {
    // SAFETY: as in `core_flags`.
    unsafe { std::mem::transmute_copy(&flags) }
}

/// Returns true if this program knows the feature.
pub(crate) fn is_known(name: &str) -> bool {
    CORE_1_0.contains(&name) || BLOCKS.iter().any(|b| b.fields.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|n| (*n).to_owned()).collect()
    }

    fn version(minor: u32) -> ApiVersion {
        ApiVersion { major: 1, minor, patch: 0 }
    }

    fn structures(enabled: &EnabledFeatures) -> Vec<&'static str> {
        enabled.chain.blocks.iter().map(|(b, _)| b.name).collect()
    }

    #[test]
    fn an_extension_that_excludes_a_core_feature_is_not_enabled() {
        let block = "VkPhysicalDeviceVulkan12Features";
        let offered = OfferedFeatures([(block, "bufferDeviceAddress")].into());
        let extensions = set(&["VK_EXT_buffer_device_address", "VK_KHR_get_physical_device_properties2"]);
        let none = BTreeSet::new();
        let enabled = EnabledFeatures::choose(version(2), &offered, &extensions, &none, &none);
        assert!(enabled.names.contains("bufferDeviceAddress"), "{:?}", enabled.names);
        assert!(!enabled.extensions.contains("VK_EXT_buffer_device_address"), "{:?}", enabled.extensions);
    }

    #[test]
    fn a_feature_comes_through_the_structure_of_the_devices_version() {
        let extensions = set(&["VK_KHR_shader_float16_int8"]);
        let none = BTreeSet::new();
        for (minor, structure, enabled_extensions) in [
            (2, "VkPhysicalDeviceVulkan12Features", &none),
            (1, "VkPhysicalDeviceShaderFloat16Int8Features", &extensions),
        ] {
            let offered = OfferedFeatures([(CORE, "shaderFloat64"), (structure, "shaderFloat16")].into());
            let enabled = EnabledFeatures::choose(version(minor), &offered, &extensions, &none, &none);
            assert_eq!(structures(&enabled), [structure]);
            assert_eq!(&enabled.extensions, enabled_extensions);
            assert_eq!(enabled.names, set(&["shaderFloat16", "shaderFloat64"]));
            assert_eq!(enabled.core.shader_float64, vk::TRUE);
            assert_eq!(enabled.core.shader_int64, vk::FALSE);
        }
    }

    #[test]
    fn features_can_be_enabled_and_disabled_against_their_defaults() {
        let offered = OfferedFeatures([(CORE, "robustBufferAccess"), (CORE, "shaderInt64")].into());
        let none = BTreeSet::new();
        assert_eq!(EnabledFeatures::choose(version(3), &offered, &none, &none, &none).names, set(&["shaderInt64"]));
        let with = set(&["robustBufferAccess"]);
        let robust = EnabledFeatures::choose(version(3), &offered, &none, &with, &set(&["shaderInt64"]));
        assert_eq!(robust.names, with);
    }

    #[test]
    fn an_extension_brings_what_it_depends_on_or_stays_out() {
        let offered = OfferedFeatures([("VkPhysicalDeviceTileShadingFeaturesQCOM", "tileShading")].into());
        let none = BTreeSet::new();
        let both = set(&["VK_QCOM_tile_shading", "VK_QCOM_tile_properties"]);
        assert_eq!(EnabledFeatures::choose(version(3), &offered, &both, &none, &none).extensions, both);
        let alone = set(&["VK_QCOM_tile_shading"]);
        let enabled = EnabledFeatures::choose(version(3), &offered, &alone, &none, &none);
        assert!(enabled.extensions.is_empty() && enabled.names.is_empty());
    }

    #[test]
    fn a_name_in_two_structures_is_enabled_only_in_the_one_that_offers_it() {
        let both =
            set(&["VK_KHR_cooperative_matrix", "VK_NV_cooperative_matrix2", "VK_EXT_cooperative_matrix_maintenance1"]);
        let offered =
            OfferedFeatures([("VkPhysicalDeviceCooperativeMatrix2FeaturesNV", "cooperativeMatrixReductions")].into());
        let none = BTreeSet::new();
        let enabled = EnabledFeatures::choose(version(3), &offered, &both, &none, &none);
        assert_eq!(structures(&enabled), ["VkPhysicalDeviceCooperativeMatrix2FeaturesNV"]);
    }
}
