//! Next element of the call chain of each instance and device.

use ash::vk::{self, Handle as _};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Commands of the next element for an instance.
#[derive(Clone, Copy)]
pub(crate) struct Instance {
    pub(crate) get_proc_addr: crate::GetInstanceProcAddr,
    pub(crate) destroy: Option<vk::PFN_vkDestroyInstance>,
    pub(crate) features: Option<vk::PFN_vkGetPhysicalDeviceFeatures2>,
    pub(crate) properties: Option<vk::PFN_vkGetPhysicalDeviceProperties2>,
}

/// Commands of the next element for a device.
#[derive(Clone, Copy)]
pub(crate) struct Device {
    pub(crate) get_proc_addr: vk::PFN_vkGetDeviceProcAddr,
    pub(crate) destroy: Option<vk::PFN_vkDestroyDevice>,
}

static INSTANCES: Mutex<BTreeMap<usize, Instance>> = Mutex::new(BTreeMap::new());
static DEVICES: Mutex<BTreeMap<usize, Device>> = Mutex::new(BTreeMap::new());

fn lock<T>(map: &Mutex<T>) -> MutexGuard<'_, T> {
    map.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a key that all handles of one instance or device share: the loader's dispatch table,
/// which they point to.
fn key(handle: u64) -> usize {
    if handle == 0 {
        return 0;
    }
    // SAFETY: a dispatchable handle points to an object whose first word is the loader's table.
    unsafe { *(handle as usize as *const usize) }
}

pub(crate) fn instance(handle: vk::Instance) -> Option<Instance> {
    lock(&INSTANCES).get(&key(handle.as_raw())).copied()
}

pub(crate) fn instance_of(handle: vk::PhysicalDevice) -> Option<Instance> {
    lock(&INSTANCES).get(&key(handle.as_raw())).copied()
}

pub(crate) fn device(handle: vk::Device) -> Option<Device> {
    lock(&DEVICES).get(&key(handle.as_raw())).copied()
}

pub(crate) fn add_instance(handle: vk::Instance, next: Instance) {
    lock(&INSTANCES).insert(key(handle.as_raw()), next);
}

pub(crate) fn remove_instance(handle: vk::Instance) -> Option<Instance> {
    lock(&INSTANCES).remove(&key(handle.as_raw()))
}

pub(crate) fn add_device(handle: vk::Device, next: Device) {
    lock(&DEVICES).insert(key(handle.as_raw()), next);
}

pub(crate) fn remove_device(handle: vk::Device) -> Option<Device> {
    lock(&DEVICES).remove(&key(handle.as_raw()))
}
