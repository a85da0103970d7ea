//! The loader and the instance.

use std::ffi::CStr;
use std::sync::Arc;

use ash::{ext, khr, vk};

use crate::device_selector::select;
use crate::error::{Error, command_error};
use crate::physical_device::PhysicalDevice;
use crate::validation::{LAYER, MessageCollector, Messenger, ValidationMessage};
use crate::version::ApiVersion;

/// Access to the devices through the loader. It is cheap to clone; the underlying instances are
/// destroyed with the last object created from them.
#[derive(Clone)]
pub struct Instance {
    /// One instance for each of [`VERSIONS`] that some driver accepts.
    shared: Vec<Arc<InstanceShared>>,
    collector: Option<Arc<MessageCollector>>,
}

/// The API versions that instances are created for. Drivers must accept versions newer than their
/// own, but SwiftShader (at least up to 2026) refuses an instance of version 1.4. Its devices come
/// from a second instance.
const VERSIONS: [ApiVersion; 2] = [ApiVersion::NEWEST, ApiVersion { major: 1, minor: 3, patch: 0 }];

pub(crate) struct InstanceShared {
    /// Keeps the loader's library loaded.
    _entry: ash::Entry,
    pub(crate) raw: ash::Instance,
    /// API version of the instance; no device is used beyond it.
    pub(crate) version: ApiVersion,
    messenger: Option<Messenger>,
}

impl Drop for InstanceShared {
    fn drop(&mut self) {
        // SAFETY: everything created from the instance holds an Arc of this, so no such object is
        // left; the messenger is destroyed before the instance, each once.
        unsafe {
            if let Some(messenger) = &self.messenger {
                messenger.destroy();
            }
            self.raw.destroy_instance(None);
        }
    }
}

impl Instance {
    /// Loads the Vulkan loader and its drivers; with `validation`, enables
    /// `VK_LAYER_KHRONOS_validation`.
    ///
    /// # Errors
    /// [`Error::NoLoader`], [`Error::NoValidationLayer`] and [`Error::NoDevice`] (no driver works
    /// here), each with the package to install.
    pub fn new(validation: bool) -> Result<Self, Error> {
        // SAFETY: the loader's own initialisers are the only foreign code that runs here.
        let entry = unsafe { ash::Entry::load() }.map_err(|e| Error::NoLoader { reason: e.to_string() })?;
        // SAFETY: the loader is loaded; this and the calls below read lists from it.
        let loader = unsafe { entry.try_enumerate_instance_version() }
            .map_err(command_error("vkEnumerateInstanceVersion"))?
            .map_or(ApiVersion { major: 1, minor: 0, patch: 0 }, ApiVersion::from_raw);
        if !loader.at_least(1, 1) {
            return Err(Error::NoLoader { reason: format!("it is of version {loader}; 1.1 or later is needed") });
        }
        if validation {
            // SAFETY: as above.
            let layers = unsafe { entry.enumerate_instance_layer_properties() }
                .map_err(command_error("vkEnumerateInstanceLayerProperties"))?;
            if !layers.iter().any(|l| l.layer_name_as_c_str() == Ok(LAYER)) {
                return Err(Error::NoValidationLayer);
            }
        }
        let collector = validation.then(Arc::<MessageCollector>::default);
        let mut shared = Vec::new();
        for version in VERSIONS {
            shared.extend(InstanceShared::new(&entry, version, collector.as_ref())?.map(Arc::new));
        }
        if shared.is_empty() { Err(Error::NoDevice) } else { Ok(Self { shared, collector }) }
    }

    /// Returns every physical device in the loader's order, by which indices select, with
    /// everything that can be read without opening it.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if there is none.
    pub fn devices(&self) -> Result<Vec<PhysicalDevice>, Error> {
        let mut devices: Vec<PhysicalDevice> = Vec::new();
        for shared in &self.shared {
            // SAFETY: the instance is alive.
            let handles = match unsafe { shared.raw.enumerate_physical_devices() } {
                Err(vk::Result::ERROR_INITIALIZATION_FAILED) => Vec::new(),
                other => other.map_err(command_error("vkEnumeratePhysicalDevices"))?,
            };
            // Identical devices of one instance are distinct; a device that a later instance
            // repeats is the same device.
            let known = devices.len();
            for handle in handles {
                let device = PhysicalDevice::read(shared, handle, devices.len())?;
                if !devices[..known].iter().any(|d| d.identity().is_same(device.identity())) {
                    devices.push(device);
                }
            }
        }
        if devices.is_empty() { Err(Error::NoDevice) } else { Ok(devices) }
    }

    /// Returns the device that `selector` names (see [`select`]), or the best one without a
    /// selector.
    ///
    /// # Errors
    /// [`Error::NoMatch`] and [`Error::Ambiguous`] with a list of devices; [`Error::NoDevice`] if
    /// there is none.
    pub fn select(&self, selector: Option<&str>) -> Result<PhysicalDevice, Error> {
        let mut devices = self.devices()?;
        let identities: Vec<_> = devices.iter().map(|d| d.identity()).collect();
        let index = select(&identities, selector)?;
        Ok(devices.swap_remove(index))
    }

    /// Returns the messages of the validation layer since the last call; empty without validation.
    /// They are collected for the instance and all devices opened from it.
    #[must_use]
    pub fn take_validation_messages(&self) -> Vec<ValidationMessage> {
        self.collector.as_ref().map(|c| c.take()).unwrap_or_default()
    }
}

impl InstanceShared {
    /// Creates an instance for `version`; returns `None` if no driver accepts it.
    fn new(
        entry: &ash::Entry,
        version: ApiVersion,
        collector: Option<&Arc<MessageCollector>>,
    ) -> Result<Option<Self>, Error> {
        let mut layers = Vec::new();
        let mut extensions = Vec::new();
        let mut flags = vk::InstanceCreateFlags::empty();
        if extension_names(entry, None)?.iter().any(|n| n == khr::portability_enumeration::NAME) {
            extensions.push(khr::portability_enumeration::NAME.as_ptr());
            flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
        }
        let mut messenger_info;
        let off = vk::FALSE;
        let setting = vk::LayerSettingEXT {
            p_layer_name: LAYER.as_ptr(),
            p_setting_name: c"enable_message_limit".as_ptr(),
            ty: vk::LayerSettingTypeEXT::BOOL32,
            value_count: 1,
            p_values: (&raw const off).cast(),
            ..Default::default()
        };
        let mut settings = vk::LayerSettingsCreateInfoEXT::default().settings(std::slice::from_ref(&setting));
        let application = vk::ApplicationInfo::default()
            .application_name(c"assay")
            .engine_name(c"assay")
            .api_version(version.to_raw());
        let mut info = vk::InstanceCreateInfo::default().flags(flags).application_info(&application);
        if let Some(collector) = collector {
            layers.push(LAYER.as_ptr());
            extensions.push(ext::debug_utils::NAME.as_ptr());
            messenger_info = collector.messenger_info();
            info = info.push_next(&mut messenger_info);
            // By default the layer stops reporting a rule after a few messages, which would hide
            // errors of later cases. It reads its settings even if VK_EXT_layer_settings is not
            // enabled; older loaders refuse to enable it.
            if extension_names(entry, Some(LAYER))?.iter().any(|n| n == ext::layer_settings::NAME) {
                info = info.push_next(&mut settings);
            }
        }
        let info = info.enabled_layer_names(&layers).enabled_extension_names(&extensions);
        // SAFETY: all that `info` points to lives until the call returns; the collector outlives
        // the instance.
        let raw = match unsafe { entry.create_instance(&info, None) } {
            Err(vk::Result::ERROR_INCOMPATIBLE_DRIVER) => return Ok(None),
            other => other.map_err(command_error("vkCreateInstance"))?,
        };
        match collector.map(|c| Messenger::new(entry, &raw, c.clone())).transpose() {
            Ok(messenger) => Ok(Some(Self { _entry: entry.clone(), raw, version, messenger })),
            Err(error) => {
                // SAFETY: no other object was created from the instance.
                unsafe { raw.destroy_instance(None) };
                Err(error)
            }
        }
    }

    pub(crate) fn take_messages(&self) -> Vec<ValidationMessage> {
        self.messenger.as_ref().map(|m| m.collector.take()).unwrap_or_default()
    }
}

fn extension_names(entry: &ash::Entry, layer: Option<&CStr>) -> Result<Vec<std::ffi::CString>, Error> {
    // SAFETY: the loader is loaded, and the layer, if any, is in its list.
    let list = unsafe { entry.enumerate_instance_extension_properties(layer) }
        .map_err(command_error("vkEnumerateInstanceExtensionProperties"))?;
    Ok(list.iter().filter_map(|e| e.extension_name_as_c_str().ok().map(CStr::to_owned)).collect())
}
