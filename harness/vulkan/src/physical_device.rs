//! Physical devices: everything that can be read without opening one.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::sync::Arc;

use ash::vk;

use crate::device_capabilities::{Capabilities, properties_by_name};
use crate::device_properties::{FloatControls, Limits, Properties, RobustAlignment, Subgroup};
use crate::error::{Error, command_error};
use crate::features::{OfferedFeatures, query_limits};
use crate::identity::{DeviceType, Identity, Uuid, driver_version};
use crate::instance::InstanceShared;
use crate::version::ApiVersion;

/// A device as the driver describes it.
#[derive(Clone)]
pub struct PhysicalDevice {
    pub(crate) instance: Arc<InstanceShared>,
    pub(crate) raw: vk::PhysicalDevice,
    identity: Identity,
    capabilities: Capabilities,
    properties: Properties,
    pub(crate) features: OfferedFeatures,
    pub(crate) queue: Option<QueueFamily>,
}

/// The queue family for compute work.
#[derive(Clone, Copy)]
pub(crate) struct QueueFamily {
    pub(crate) index: u32,
    pub(crate) timestamp_bits: u32,
    /// Set if the family also accepts graphics commands.
    pub(crate) graphics: bool,
}

impl PhysicalDevice {
    pub(crate) fn read(instance: &Arc<InstanceShared>, raw: vk::PhysicalDevice, index: usize) -> Result<Self, Error> {
        // SAFETY: `raw` is a handle of this instance, here and in the calls below.
        let base = unsafe { instance.raw.get_physical_device_properties(raw) };
        let api_version = ApiVersion::from_raw(base.api_version);
        let usable = api_version.min(ApiVersion { patch: u32::MAX, ..instance.version });
        // SAFETY: as above.
        let extensions = unsafe { instance.raw.enumerate_device_extension_properties(raw) }
            .map_err(command_error("vkEnumerateDeviceExtensionProperties"))?;
        let extensions: BTreeSet<String> =
            extensions.iter().filter_map(|e| e.extension_name_as_c_str().ok().map(lossy)).collect();

        let mut id = vk::PhysicalDeviceIDProperties::default();
        let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
        let mut maintenance3 = vk::PhysicalDeviceMaintenance3Properties::default();
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut float = vk::PhysicalDeviceFloatControlsProperties::default();
        let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        let has = |minor, extension: &str| {
            usable.at_least(1, 1) && (usable.at_least(1, minor) || extensions.contains(extension))
        };
        let mut maintenance5 = vk::PhysicalDeviceMaintenance5PropertiesKHR::default();
        let mut robustness = vk::PhysicalDeviceRobustness2PropertiesEXT::default();
        let has_driver = has(2, "VK_KHR_driver_properties");
        let has_float = has(2, "VK_KHR_shader_float_controls");
        let has_sizes = has(3, "VK_EXT_subgroup_size_control");
        let has_maintenance5 = has(4, "VK_KHR_maintenance5");
        let has_robustness = usable.at_least(1, 1)
            && ["VK_KHR_robustness2", "VK_EXT_robustness2"].iter().any(|name| extensions.contains(*name));
        if usable.at_least(1, 1) {
            let mut all = vk::PhysicalDeviceProperties2::default()
                .push_next(&mut id)
                .push_next(&mut subgroup)
                .push_next(&mut maintenance3);
            if has_driver {
                all = all.push_next(&mut driver);
            }
            if has_float {
                all = all.push_next(&mut float);
            }
            if has_sizes {
                all = all.push_next(&mut sizes);
            }
            if has_maintenance5 {
                all = all.push_next(&mut maintenance5);
            }
            if has_robustness {
                all = all.push_next(&mut robustness);
            }
            // SAFETY: every structure belongs to the device's version or to an extension that it
            // has.
            unsafe { instance.raw.get_physical_device_properties2(raw, &mut all) };
        }

        // SAFETY: as above.
        let families = unsafe { instance.raw.get_physical_device_queue_family_properties(raw) };
        let queue = (0..)
            .zip(&families)
            .filter(|(_, f)| f.queue_flags.contains(vk::QueueFlags::COMPUTE) && f.queue_count > 0)
            .map(|(index, f)| QueueFamily {
                index,
                timestamp_bits: f.timestamp_valid_bits,
                graphics: f.queue_flags.contains(vk::QueueFlags::GRAPHICS),
            })
            .max_by_key(|f| (f.timestamp_bits > 0, std::cmp::Reverse(f.index)));

        let properties = Properties {
            limits: limits(&base.limits, usable.at_least(1, 1).then_some(maintenance3.max_memory_allocation_size)),
            float_controls: has_float.then(|| FloatControls::from_vk(&float)),
            subgroup: usable.at_least(1, 1).then(|| Subgroup {
                size: subgroup.subgroup_size,
                min_size: if has_sizes { sizes.min_subgroup_size } else { subgroup.subgroup_size },
                max_size: if has_sizes { sizes.max_subgroup_size } else { subgroup.subgroup_size },
                stages: subgroup.supported_stages.as_raw(),
                operations: subgroup.supported_operations.as_raw(),
                required_size_stages: sizes.required_subgroup_size_stages.as_raw(),
                max_workgroup_subgroups: sizes.max_compute_workgroup_subgroups,
                quad_in_all_stages: subgroup.quad_operations_in_all_stages != vk::FALSE,
            }),
            depth_swizzle_one: maintenance5.depth_stencil_swizzle_one_support != vk::FALSE,
            robust_alignment: has_robustness.then_some(RobustAlignment {
                storage: robustness.robust_storage_buffer_access_size_alignment,
                uniform: robustness.robust_uniform_buffer_access_size_alignment,
            }),
        };
        let identity = Identity {
            index,
            name: base.device_name_as_c_str().map(lossy).unwrap_or_default(),
            device_type: DeviceType::from_vk(base.device_type),
            vendor_id: base.vendor_id,
            device_id: base.device_id,
            driver_id: if has_driver { format!("{:?}", driver.driver_id) } else { String::new() },
            driver_name: driver.driver_name_as_c_str().map(lossy).unwrap_or_default(),
            driver_info: driver.driver_info_as_c_str().map(lossy).unwrap_or_default(),
            driver_version: driver_version(base.vendor_id, base.driver_version),
            driver_version_raw: base.driver_version,
            api_version,
            conformance_version: if has_driver {
                let v = driver.conformance_version;
                format!("{}.{}.{}.{}", v.major, v.minor, v.subminor, v.patch)
            } else {
                String::new()
            },
            device_uuid: Uuid(id.device_uuid),
            driver_uuid: Uuid(id.driver_uuid),
        };
        let features = OfferedFeatures::query(&instance.raw, raw, usable, &extensions);
        let mut by_name = properties_by_name(&properties);
        if usable.at_least(1, 1) {
            let limits = query_limits(&instance.raw, raw, &extensions);
            by_name.extend(limits.into_iter().map(|(name, value)| (name.to_owned(), value)));
        }
        let capabilities =
            Capabilities { api_version: usable, features: features.names(), extensions, properties: by_name };
        Ok(Self { instance: instance.clone(), raw, identity, capabilities, properties, features, queue })
    }

    /// Returns name, driver and versions.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns everything that the device offers to shaders, by name.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Returns limits, float controls and subgroup properties, typed.
    #[must_use]
    pub fn properties(&self) -> &Properties {
        &self.properties
    }
}

fn limits(l: &vk::PhysicalDeviceLimits, max_allocation: Option<u64>) -> Limits {
    Limits {
        max_workgroups: l.max_compute_work_group_count,
        max_workgroup_size: l.max_compute_work_group_size,
        max_workgroup_invocations: l.max_compute_work_group_invocations,
        max_shared_memory: l.max_compute_shared_memory_size,
        max_push_constants: l.max_push_constants_size,
        max_storage_buffer_range: l.max_storage_buffer_range.into(),
        max_allocation: max_allocation.filter(|&n| n > 0).unwrap_or(u64::MAX),
        max_storage_buffers: l.max_per_stage_descriptor_storage_buffers,
        max_resources: l.max_per_stage_resources,
        max_sets: l.max_bound_descriptor_sets,
        max_uniform_buffer_range: l.max_uniform_buffer_range.into(),
        max_texel_buffer_elements: l.max_texel_buffer_elements.into(),
        min_storage_buffer_alignment: l.min_storage_buffer_offset_alignment,
        texel_gather_offset: (l.min_texel_gather_offset, l.max_texel_gather_offset.try_into().unwrap_or(i32::MAX)),
        texel_offset: (l.min_texel_offset, l.max_texel_offset.try_into().unwrap_or(i32::MAX)),
        sub_texel_bits: l.sub_texel_precision_bits,
        mipmap_bits: l.mipmap_precision_bits,
        timestamp_period: l.timestamp_period,
    }
}

fn lossy(text: &CStr) -> String {
    text.to_string_lossy().into_owned()
}
