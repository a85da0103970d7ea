//! A target that keeps the output of its first dispatch.

use assay_events::DeviceInfo;
use assay_exec::{AllocatedDispatch, DispatchOutput, DispatchRequest, Target, TargetError};
use assay_oracle::Slot;
use assay_spirv_rules::requirements::DeviceCaps;
use assay_vulkan_exec::VulkanTarget;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Contents of bindings.
type Memory = BTreeMap<Slot, Vec<u8>>;

/// A Vulkan device that keeps the output of its first dispatch.
pub(crate) struct RecordingTarget {
    device: VulkanTarget,
    first: RefCell<Option<Memory>>,
}

impl RecordingTarget {
    pub(crate) fn new(device: VulkanTarget) -> RecordingTarget {
        RecordingTarget { device, first: RefCell::new(None) }
    }

    /// Returns the output of the first dispatch; empty if none succeeded.
    pub(crate) fn first_output(&self) -> Memory {
        self.first.borrow().clone().unwrap_or_default()
    }
}

impl Target for RecordingTarget {
    fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        self.device.capabilities()
    }

    fn begin_round(&self, round: u32, excuse: Option<&str>) {
        self.device.begin_round(round, excuse);
    }

    fn allocate(&self, request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        self.device.allocate(request)
    }

    fn clear_workgroup_memory(&self) {
        self.device.clear_workgroup_memory();
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        let output = self.device.run(request)?;
        self.first.borrow_mut().get_or_insert_with(|| output.memory.clone());
        Ok(output)
    }
}
