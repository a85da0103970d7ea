//! Opened devices.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocationSizes, AllocatorDebugSettings};

use crate::device_capabilities::Capabilities;
use crate::device_properties::Properties;
use crate::dispatch_slot::{BufferSpec, DispatchSlot};
use crate::error::{Error, allocation_error, command_error};
use crate::features::{EnabledFeatures, is_known};
use crate::identity::{DeviceType, Identity};
use crate::instance::InstanceShared;
use crate::layout_cache::{LayoutCache, LayoutKey, PipelineLayouts};
use crate::physical_device::{PhysicalDevice, QueueFamily};
use crate::pipeline::{Pipeline, PipelineDesc};
use crate::resource::{Resource, ResourceSpec};
use crate::validation::ValidationMessage;

/// Options for opening a device. The default enables every feature and extension of the device that
/// matters to compute, except those that change how memory accesses are compiled
/// (`robustBufferAccess` and related features).
#[derive(Clone, Debug, Default)]
pub struct DeviceOptions {
    /// Features to enable that are off by default, as the registry spells them; an error if the
    /// device lacks one.
    pub with: BTreeSet<String>,
    /// Features and extensions to leave disabled.
    pub without: BTreeSet<String>,
    /// Memory of buffers; by default according to the device's type.
    pub staging: Staging,
}

/// Memory of the buffers that shaders use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Staging {
    /// Device-local with copies on discrete and virtual GPUs, mapped elsewhere.
    #[default]
    Auto,
    /// Always device-local memory, with copies from and to mapped memory around each dispatch.
    Always,
    /// Always in mapped memory.
    Never,
}

/// An opened device with one compute queue. It is cheap to clone and usable from several threads,
/// and is destroyed with the last pipeline or slot created from it.
///
/// lavapipe compiles a shader at its first dispatch, on the single thread of the device's queue.
/// Many small cases therefore run faster on one device for each host thread than on a shared device
/// (`examples/measure.rs` measures the difference).
#[derive(Clone)]
pub struct Device {
    shared: Arc<DeviceShared>,
}

pub(crate) struct DeviceShared {
    pub(crate) raw: ash::Device,
    pub(crate) physical: vk::PhysicalDevice,
    pub(crate) identity: Identity,
    pub(crate) capabilities: Capabilities,
    pub(crate) properties: Properties,
    pub(crate) staged: bool,
    /// Set if memory is allocated such that buffers can have device addresses.
    pub(crate) addresses: bool,
    pub(crate) family: QueueFamily,
    pub(crate) layouts: Mutex<LayoutCache>,
    queue: Mutex<vk::Queue>,
    allocator: ManuallyDrop<Mutex<Allocator>>,
    lost: AtomicBool,
    /// Declared last so that the instance outlives the device.
    pub(crate) instance: Arc<InstanceShared>,
}

impl Drop for DeviceShared {
    fn drop(&mut self) {
        let layouts = std::mem::take(&mut *lock(&self.layouts));
        // SAFETY: pipelines and slots hold an Arc of this, so none is left and no work is in flight
        // (a slot that cannot be awaited keeps its Arc for ever). The allocator frees its memory
        // while the device still exists, and is not used again.
        unsafe {
            layouts.destroy(&self.raw);
            ManuallyDrop::drop(&mut self.allocator);
            self.raw.destroy_device(None);
        }
    }
}

impl Device {
    /// Opens the device.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if it has no compute queue or lacks a feature of `options.with`;
    /// [`Error::Invalid`] for a feature that does not exist; otherwise the driver's error.
    pub fn open(physical: &PhysicalDevice, options: &DeviceOptions) -> Result<Self, Error> {
        let identity = physical.identity().clone();
        let lacks = |what: String| Error::NotSupported { device: identity.name.clone(), what };
        let family = physical.queue.ok_or_else(|| lacks("compute: it has no queue for it".into()))?;
        let offered = physical.capabilities();
        for name in &options.with {
            if !is_known(name) {
                return Err(Error::invalid(format!("`{name}` is not a feature that this program knows")));
            }
            if !offered.has_feature(name) {
                return Err(lacks(format!("the feature {name}")));
            }
        }
        let mut enabled = EnabledFeatures::choose(
            offered.api_version,
            &physical.features,
            &offered.extensions,
            &options.with,
            &options.without,
        );
        if let Some(name) = options.with.iter().find(|n| !enabled.names.contains(*n)) {
            return Err(lacks(format!("enabling {name} in this program")));
        }
        if offered.has_extension("VK_KHR_portability_subset") {
            enabled.extensions.insert("VK_KHR_portability_subset".into());
        }
        let names: Vec<CString> = enabled.extensions.iter().filter_map(|e| CString::new(e.as_str()).ok()).collect();
        let pointers: Vec<_> = names.iter().map(|n| n.as_ptr()).collect();
        let priorities = [1.0];
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(family.index).queue_priorities(&priorities)];
        let capabilities = Capabilities {
            api_version: offered.api_version,
            features: enabled.names.clone(),
            extensions: offered
                .extensions
                .iter()
                .filter(|e| usable(e, &enabled.extensions, offered))
                .cloned()
                .collect(),
            properties: offered.properties.clone(),
        };
        let core = *enabled.core();
        let mut features2;
        let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&pointers);
        if offered.api_version.at_least(1, 1) {
            features2 = enabled.features2();
            info = info.push_next(&mut features2);
        } else {
            info = info.enabled_features(&core);
        }
        let instance = &physical.instance;
        // SAFETY: the handle belongs to this instance; the device reported the extensions and
        // feature structures; everything that `info` points to lives until the call returns.
        let raw = unsafe { instance.raw.create_device(physical.raw, &info, None) }
            .map_err(command_error("vkCreateDevice"))?;
        // SAFETY: the device was created with this queue.
        let queue = unsafe { raw.get_device_queue(family.index, 0) };
        let addresses = capabilities.has_feature("bufferDeviceAddress");
        // Memory blocks grow with use: a worker that runs small cases holds a few megabytes, and
        // large buffers get blocks of their own in any case.
        const MB: u64 = 1 << 20;
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.raw.clone(),
            device: raw.clone(),
            physical_device: physical.raw,
            debug_settings: AllocatorDebugSettings::default(),
            buffer_device_address: addresses,
            allocation_sizes: AllocationSizes::new(4 * MB, 4 * MB)
                .with_max_device_memblock_size(64 * MB)
                .with_max_host_memblock_size(64 * MB),
        });
        let allocator = match allocator {
            Ok(allocator) => ManuallyDrop::new(Mutex::new(allocator)),
            Err(error) => {
                // SAFETY: no other object was created from the device.
                unsafe { raw.destroy_device(None) };
                return Err(allocation_error(error));
            }
        };
        let staged = match options.staging {
            Staging::Auto => matches!(identity.device_type, DeviceType::Discrete | DeviceType::Virtual),
            Staging::Always => true,
            Staging::Never => false,
        };
        let shared = DeviceShared {
            raw,
            physical: physical.raw,
            identity,
            capabilities,
            properties: physical.properties().clone(),
            staged,
            addresses,
            family,
            layouts: Mutex::default(),
            queue: Mutex::new(queue),
            allocator,
            lost: AtomicBool::new(false),
            instance: instance.clone(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(crate) fn shared(&self) -> &Arc<DeviceShared> {
        &self.shared
    }

    /// Returns name, driver and versions.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.shared.identity
    }

    /// Returns the *enabled* capabilities: the enabled features, and the extensions whose shader
    /// functionality may be used (enabled ones, and those included in the core version).
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.shared.capabilities
    }

    /// Returns limits, float controls and subgroup properties, typed.
    #[must_use]
    pub fn properties(&self) -> &Properties {
        &self.shared.properties
    }

    /// Returns true if buffers are copied around each dispatch instead of being mapped.
    #[must_use]
    pub fn is_staged(&self) -> bool {
        self.shared.staged
    }

    /// Creates a compute pipeline. Several threads may call it at once. The driver's compiler runs
    /// without a time limit: only another process can end it.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a description that contradicts itself, [`Error::NotSupported`] for
    /// one that exceeds the device, otherwise the driver's error. The module itself is not checked:
    /// an invalid module is undefined behaviour in the driver, so callers validate modules first
    /// (see also [`Instance::new`](crate::Instance::new)).
    pub fn pipeline(&self, description: &PipelineDesc<'_>) -> Result<Pipeline, Error> {
        Pipeline::new(&self.shared, description)
    }

    /// Creates a dispatch slot of storage buffers. Buffer `i` is bound to set 0, binding `i`.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::NotSupported`] (limits of the device), [`Error::OutOfMemory`].
    pub fn dispatch_slot(&self, buffers: &[BufferSpec]) -> Result<DispatchSlot, Error> {
        let resource = |(binding, &buffer): (u32, &BufferSpec)| ResourceSpec {
            set: 0,
            binding,
            element: 0,
            resource: Resource::StorageBuffer(buffer),
        };
        let resources: Vec<ResourceSpec> = (0..).zip(buffers).map(resource).collect();
        DispatchSlot::new(&self.shared, &resources)
    }

    /// Creates a dispatch slot of any resources, with the sets, bindings and arrays that a shader
    /// declares. The slot's methods identify a resource by its index in `resources`.
    ///
    /// # Errors
    /// As for [`Device::dispatch_slot`]; [`Error::NotSupported`] also for a format or an extent
    /// that the device does not support.
    pub fn dispatch_slot_of(&self, resources: &[ResourceSpec]) -> Result<DispatchSlot, Error> {
        DispatchSlot::new(&self.shared, resources)
    }

    /// Creates a shader module from `code`, destroys it, and returns the messages of the validation
    /// layer. The code may be anything that is at least as long as a header. Use this only with
    /// drivers that store the words without reading them: the behaviour of other drivers is
    /// undefined for an invalid module.
    ///
    /// # Errors
    /// [`Error::Invalid`] for fewer words than a header; the driver's error if it refuses the
    /// module without any message.
    pub fn validate(&self, code: &[u32]) -> Result<Vec<ValidationMessage>, Error> {
        const HEADER: usize = 5;
        if code.len() < HEADER {
            return Err(Error::invalid(format!("{} words are less than the header of a module", code.len())));
        }
        let _earlier = self.take_validation_messages();
        let info = vk::ShaderModuleCreateInfo::default().code(code);
        // SAFETY: the device is alive; the words live until the call returns; a created module is
        // destroyed once.
        let made = unsafe { self.shared.raw.create_shader_module(&info, None) };
        let messages = self.take_validation_messages();
        if let Ok(module) = made {
            // SAFETY: as above.
            unsafe { self.shared.raw.destroy_shader_module(module, None) };
        } else if messages.is_empty() {
            self.shared.check(made, "vkCreateShaderModule")?;
        }
        Ok(messages)
    }

    /// Returns the messages of the validation layer since the last call, for all devices of the
    /// instance; empty without validation.
    #[must_use]
    pub fn take_validation_messages(&self) -> Vec<ValidationMessage> {
        self.shared.instance.take_messages()
    }
}

/// Returns true if shaders may use the functionality of `extension`: it is enabled, or the core
/// version includes it.
fn usable(extension: &str, enabled: &BTreeSet<String>, offered: &Capabilities) -> bool {
    enabled.contains(extension) || crate::features::is_core(extension, offered.api_version)
}

impl DeviceShared {
    pub(crate) fn allocator(&self) -> MutexGuard<'_, Allocator> {
        lock(&self.allocator)
    }

    /// Returns the layouts of a key, creating them on first use.
    pub(crate) fn layout(&self, key: &LayoutKey) -> Result<PipelineLayouts, Error> {
        let mut stages = vk::ShaderStageFlags::COMPUTE;
        if self.capabilities.has_feature("tileShadingFragmentStage") {
            // Dispatches and draws of a pass share their descriptor sets.
            stages |= vk::ShaderStageFlags::FRAGMENT;
        }
        lock(&self.layouts).get(&self.raw, key, stages)
    }

    /// Submits one command buffer.
    pub(crate) fn submit(&self, commands: vk::CommandBuffer, fence: vk::Fence) -> Result<(), Error> {
        self.check_alive("vkQueueSubmit")?;
        let commands = [commands];
        let info = vk::SubmitInfo::default().command_buffers(&commands);
        let queue = lock(&self.queue);
        // SAFETY: the queue is locked; command buffer and fence belong to one slot, which is not in
        // flight.
        let result = unsafe { self.raw.queue_submit(*queue, &[info], fence) };
        self.check(result, "vkQueueSubmit")
    }

    /// Converts a result, and records a loss of the device.
    pub(crate) fn check<T>(&self, result: Result<T, vk::Result>, command: &'static str) -> Result<T, Error> {
        if matches!(result, Err(vk::Result::ERROR_DEVICE_LOST)) {
            self.lost.store(true, Ordering::Relaxed);
        }
        result.map_err(command_error(command))
    }

    /// Returns an error if the device is known to be lost.
    pub(crate) fn check_alive(&self, command: &'static str) -> Result<(), Error> {
        if self.is_lost() { Err(Error::DeviceLost { during: command }) } else { Ok(()) }
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    pub(crate) fn unsupported(&self, what: impl Into<String>) -> Error {
        Error::NotSupported { device: self.identity.name.clone(), what: what.into() }
    }
}

/// Locks a mutex and ignores its poison flag: every change under these locks is one step, so a
/// panic elsewhere leaves the data consistent.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
