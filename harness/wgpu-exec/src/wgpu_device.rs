//! Vulkan's devices, found among wgpu's adapters.

use crate::error::{WgpuError, exec_error};
use assay_events::DeviceInfo;
use assay_exec::ExecError;
use assay_vulkan::{Identity, Instance, PhysicalDevice};
use assay_vulkan_exec::device_info;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use wgpu::{Backends, Features, InstanceDescriptor, InstanceFlags};

/// Version of wgpu and of naga.
pub const WGPU_VERSION: &str = "30.0.1";

/// Features that shaders may use; requested if the adapter has them.
const OPTIONAL_FEATURES: Features = Features::SHADER_F16
    .union(Features::SHADER_F64)
    .union(Features::SHADER_INT64)
    .union(Features::SUBGROUP)
    .union(Features::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES)
    .union(Features::FLOAT32_FILTERABLE)
    .union(Features::TEXTURE_FORMAT_16BIT_NORM)
    .union(Features::IMMEDIATES);

/// An adapter of wgpu with its Vulkan device.
#[derive(Clone)]
pub struct WgpuDevice {
    adapter: wgpu::Adapter,
    info: DeviceInfo,
}

/// A device opened through wgpu. Once lost, it stays lost.
#[derive(Clone)]
pub(crate) struct OpenDevice {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    /// Reason for the loss of the device, if it is lost.
    lost: Arc<Mutex<Option<String>>>,
    /// Errors outside error scopes: defects of this program or of wgpu.
    uncaptured: Arc<Mutex<Vec<String>>>,
}

impl WgpuDevice {
    /// Returns the device that a selector names, as in the list of `assay devices`.
    ///
    /// # Errors
    /// There is no such device, or wgpu does not offer it.
    pub fn select(selector: Option<&str>) -> Result<WgpuDevice, WgpuError> {
        let instance = Instance::new(false)?;
        let devices = instance.devices()?;
        let chosen = instance.select(selector)?;
        Self::of(&chosen, &devices)
    }

    /// Returns the device for wgpu's adapter of a Vulkan device, which is one of `all`.
    ///
    /// # Errors
    /// wgpu does not offer it.
    pub fn of(physical: &PhysicalDevice, all: &[PhysicalDevice]) -> Result<WgpuDevice, WgpuError> {
        let adapters = adapters();
        let keys: Vec<DeviceKey> = adapters.iter().map(|adapter| DeviceKey::of_adapter(&adapter.get_info())).collect();
        let devices: Vec<(usize, DeviceKey)> =
            all.iter().map(|device| (device.identity().index, DeviceKey::of_device(device.identity()))).collect();
        let identity = physical.identity();
        let place = matching_adapter(identity.index, &DeviceKey::of_device(identity), &devices, &keys);
        let Some(adapter) = place.and_then(|place| adapters.get(place)) else {
            let adapters = keys.into_iter().map(|key| key.name).collect();
            return Err(WgpuError::NoAdapter { device: identity.to_string(), adapters });
        };
        Ok(WgpuDevice { adapter: adapter.clone(), info: info(physical) })
    }

    /// Returns Vulkan's description of the device, with the API in its name.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Returns true if shaders may use `f16`.
    pub fn has_f16(&self) -> bool {
        self.adapter.features().contains(Features::SHADER_F16)
    }

    /// Returns the features of the adapter that shaders may use.
    pub(crate) fn features(&self) -> Features {
        self.adapter.features() & OPTIONAL_FEATURES
    }

    /// Opens it.
    ///
    /// # Errors
    /// wgpu refuses.
    pub(crate) fn open(&self) -> Result<OpenDevice, WgpuError> {
        let descriptor = wgpu::DeviceDescriptor {
            required_features: self.features(),
            required_limits: self.adapter.limits(),
            ..wgpu::DeviceDescriptor::default()
        };
        let opened = pollster::block_on(self.adapter.request_device(&descriptor));
        let refused = |what: String| WgpuError::Open { device: self.info.name.clone(), what };
        let (device, queue) = opened.map_err(|error| refused(error.to_string()))?;
        let lost: Arc<Mutex<Option<String>>> = Arc::default();
        let told = Arc::clone(&lost);
        device.set_device_lost_callback(move |reason, text| {
            *lock(&told) = Some(format!("{reason:?}: {text}"));
        });
        let uncaptured: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = Arc::clone(&uncaptured);
        // Without a handler, wgpu panics.
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            lock(&told).push(error.to_string());
        }));
        Ok(OpenDevice { device, queue, lost, uncaptured })
    }
}

impl OpenDevice {
    /// Calls `work` within error scopes and returns the first error of wgpu.
    pub(crate) fn with_error_scopes<T>(
        &self,
        during: &str,
        work: impl FnOnce() -> T,
    ) -> Result<T, (wgpu::Error, ExecError)> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let made = work();
        // Scopes are closed in the reverse order.
        let errors = [pollster::block_on(validation.pop()), pollster::block_on(internal.pop())];
        let errors = errors.into_iter().chain([pollster::block_on(memory.pop())]).flatten();
        match errors.into_iter().next() {
            Some(error) => {
                let failure = self.loss(during).unwrap_or_else(|| exec_error(&error, during));
                Err((error, failure))
            }
            None => Ok(made),
        }
    }

    /// Returns the loss of the device, if it is lost.
    pub(crate) fn loss(&self, during: &str) -> Option<ExecError> {
        let lost = lock(&self.lost).clone()?;
        Some(ExecError::DeviceLost(format!("{during}: wgpu: device lost: {lost}")))
    }

    /// Submits commands and waits for them.
    pub(crate) fn run(
        &self,
        commands: wgpu::CommandBuffer,
        limit: Duration,
        during: &str,
    ) -> Result<Duration, ExecError> {
        let started = Instant::now();
        let submitted =
            self.with_error_scopes(during, || self.queue.submit([commands])).map_err(|(_, failure)| failure)?;
        let wait = wgpu::PollType::Wait { submission_index: Some(submitted), timeout: Some(limit) };
        match self.device.poll(wait) {
            Ok(_) => {}
            Err(wgpu::PollError::Timeout) => {
                return Err(ExecError::Timeout(format!("{during}: no result after {} s", limit.as_secs_f64())));
            }
            Err(error) => return Err(ExecError::Internal(format!("{during}: wgpu: {error}"))),
        }
        if let Some(lost) = self.loss(during) {
            return Err(lost);
        }
        match lock(&self.uncaptured).pop() {
            Some(error) => Err(ExecError::Internal(format!("{during}: wgpu: {error}"))),
            None => Ok(started.elapsed()),
        }
    }

    /// Reads a mappable buffer after [`OpenDevice::run`].
    pub(crate) fn read(&self, buffer: &wgpu::Buffer, during: &str, take: impl FnOnce(&[u8])) -> Result<(), ExecError> {
        let (sender, told) = std::sync::mpsc::channel();
        buffer.slice(..).map_async(wgpu::MapMode::Read, move |mapped| _ = sender.send(mapped));
        let polled = self.device.poll(wgpu::PollType::wait_indefinitely());
        if let Some(lost) = self.loss(during) {
            return Err(lost);
        }
        let failed = |what: String| ExecError::Internal(format!("{during}: wgpu: {what}"));
        polled.map_err(|error| failed(error.to_string()))?;
        match told.recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Err(_) => return Err(failed("a mapping was never answered".to_owned())),
        }
        {
            let view = buffer.slice(..).get_mapped_range().map_err(|error| failed(error.to_string()))?;
            take(&view);
        }
        buffer.unmap();
        Ok(())
    }
}

/// Returns every Vulkan adapter in the loader's order, including non-conformant ones such as
/// software drivers.
fn adapters() -> Vec<wgpu::Adapter> {
    let instance = wgpu::Instance::new(InstanceDescriptor {
        backends: Backends::VULKAN,
        flags: InstanceFlags::ALLOW_UNDERLYING_NONCOMPLIANT_ADAPTER,
        ..InstanceDescriptor::new_without_display_handle()
    });
    pollster::block_on(instance.enumerate_adapters(Backends::VULKAN))
}

/// Properties that identify a device in both APIs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DeviceKey {
    name: String,
    vendor: u32,
    device: u32,
    driver: String,
    driver_info: String,
}

impl DeviceKey {
    fn of_device(identity: &Identity) -> DeviceKey {
        DeviceKey {
            name: identity.name.clone(),
            vendor: identity.vendor_id,
            device: identity.device_id,
            driver: identity.driver_name.clone(),
            driver_info: identity.driver_info.clone(),
        }
    }

    fn of_adapter(info: &wgpu::AdapterInfo) -> DeviceKey {
        DeviceKey {
            name: info.name.clone(),
            vendor: info.vendor,
            device: info.device,
            driver: info.driver.clone(),
            driver_info: info.driver_info.clone(),
        }
    }
}

/// Returns the adapter of the device with that index. Among indistinguishable devices, positions
/// correspond.
fn matching_adapter(
    index: usize,
    device: &DeviceKey,
    devices: &[(usize, DeviceKey)],
    adapters: &[DeviceKey],
) -> Option<usize> {
    let place = devices.iter().filter(|(other, key)| *other < index && key == device).count();
    adapters.iter().enumerate().filter(|(_, key)| *key == device).map(|(place, _)| place).nth(place)
}

/// Returns the description of the device for results.
fn info(physical: &PhysicalDevice) -> DeviceInfo {
    let mut info = device_info(physical);
    info.name += ", wgpu";
    info.api = DeviceInfo::API_WGPU.to_owned();
    info.properties.insert("wgpu".to_owned(), WGPU_VERSION.to_owned());
    info
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, device: u32) -> DeviceKey {
        DeviceKey { name: name.into(), vendor: 7, device, driver: "d".into(), driver_info: "1".into() }
    }

    #[test]
    fn devices_are_told_apart_and_twins_by_their_order() {
        let devices = [(0, key("a", 1)), (1, key("b", 1)), (2, key("a", 1)), (3, key("a", 2))];
        // wgpu may list them in another order, and may omit some.
        let adapters = [key("a", 2), key("b", 1), key("a", 1), key("a", 1)];
        let found = |index: usize| matching_adapter(index, &devices[index].1, &devices, &adapters);
        assert_eq!([found(0), found(1), found(2), found(3)], [Some(2), Some(1), Some(3), Some(0)]);
        assert_eq!(matching_adapter(2, &devices[2].1, &devices, &adapters[..3]), None);
        let other_driver = DeviceKey { driver_info: "2".into(), ..key("b", 1) };
        assert_eq!(matching_adapter(1, &devices[1].1, &devices, &[other_driver]), None);
    }

    #[test]
    fn the_version_is_that_of_the_lock_file() {
        let lock = include_str!("../../../Cargo.lock");
        for name in ["wgpu", "naga"] {
            assert!(
                lock.contains(&format!("name = \"{name}\"\nversion = \"{WGPU_VERSION}\"\n")),
                "{name} is not {WGPU_VERSION}"
            );
        }
    }
}
