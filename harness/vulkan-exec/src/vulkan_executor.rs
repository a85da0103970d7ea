//! Executor for Vulkan devices.

use crate::device_info::device_info;
use crate::exec_error::exec_error;
use crate::resources::spec_constant;
use assay_case::{Case, CaseShader, Columns, OperandSource};
use assay_events::DeviceInfo;
use assay_exec::{ExecError, Executor, PreparedCase};
use assay_spirv_rules::requirements::DeviceCaps;
use assay_vulkan::{
    BufferSpec, Device, Dispatch, DispatchSlot, Error, Instance, PhysicalDevice, Pipeline, PipelineDesc, Severity,
    SpecConstant,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Options for opening a device.
#[derive(Clone, Debug)]
pub struct VulkanOptions {
    /// An index, part of a name, a UUID or `lavapipe`; by default the best device.
    pub device: Option<String>,
    /// Set to load the validation layer, whose errors make a case an `InternalError`.
    pub validation: bool,
    /// Time limit for one dispatch.
    pub time_limit: Duration,
}

impl Default for VulkanOptions {
    fn default() -> VulkanOptions {
        VulkanOptions { device: None, validation: false, time_limit: Duration::from_secs(60) }
    }
}

/// Runs cases on a Vulkan device in this process.
pub struct VulkanExecutor {
    physical: PhysicalDevice,
    device: Mutex<Device>,
    info: DeviceInfo,
    /// Enabled capabilities in the form of the requirements check; equal whenever the device is
    /// reopened.
    caps: DeviceCaps,
    time_limit: Duration,
    /// With validation: locked during calls, so that the layer's messages belong to one case.
    validation: Option<Arc<Mutex<()>>>,
}

/// Contents of result words before the shader writes them, which make unwritten words recognisable.
const UNWRITTEN: u32 = 0xa55a_5aa5;

impl VulkanExecutor {
    /// Opens a device.
    ///
    /// # Errors
    /// No loader, no device, no matching device, or no compute queue; each names the remedy.
    pub fn open(options: &VulkanOptions) -> Result<VulkanExecutor, Error> {
        let instance = Instance::new(options.validation)?;
        let physical = instance.select(options.device.as_deref())?;
        let device = open(&physical)?;
        Ok(VulkanExecutor {
            info: device_info(&physical),
            caps: device.capabilities().device_caps(),
            physical,
            device: Mutex::new(device),
            time_limit: options.time_limit,
            validation: options.validation.then(Arc::default),
        })
    }

    /// Returns the opened device.
    pub fn physical(&self) -> &PhysicalDevice {
        &self.physical
    }

    fn device(&self) -> Device {
        lock(&self.device).clone()
    }
}

fn open(physical: &PhysicalDevice) -> Result<Device, Error> {
    Device::open(physical, &assay_vulkan::DeviceOptions::default())
}

impl Executor for VulkanExecutor {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn missing(&self, case: &Case) -> Option<String> {
        // A case without a module gets its error during building.
        let verdict = case.requirements().ok()?.check(&self.caps);
        (!verdict.may_run()).then(|| verdict.to_string())
    }

    fn build(
        &self,
        case: &Case,
        capacity: usize,
        constants: Option<&Columns>,
    ) -> Result<Box<dyn PreparedCase>, ExecError> {
        let shader = match (case.source, constants) {
            (OperandSource::Constant | OperandSource::SpecConstant, Some(constants)) => {
                CaseShader::constant(case, constants)
            }
            _ => CaseShader::buffer(case, capacity),
        };
        let words = assay_spirv::assemble(&shader.text)
            .map_err(|error| ExecError::Internal(format!("the shader does not assemble: {error}")))?;
        let device = self.device();
        let constants: Vec<SpecConstant> =
            shader.specialization.iter().map(|value| spec_constant(value.id, value.width, value.bits)).collect();
        let description = PipelineDesc { specialization: &constants, ..PipelineDesc::new(&words, 2) };
        let listening = ValidationScope::new(self.validation.as_deref());
        let pipeline = device.pipeline(&description).map_err(|error| match listening.check(&device) {
            Ok(()) => match exec_error(error, "building a pipeline") {
                ExecError::Internal(what) => ExecError::Pipeline(what),
                other => other,
            },
            // A driver does not have to compile a shader to which the layer objects.
            Err(objection) => objection,
        })?;
        listening.check(&device)?;
        Ok(Box::new(VulkanPreparedCase {
            device,
            pipeline,
            shader,
            slot: None,
            time_limit: self.time_limit,
            validation: self.validation.clone(),
        }))
    }

    fn recover(&self) -> Result<(), ExecError> {
        *lock(&self.device) = open(&self.physical).map_err(|error| exec_error(error, "opening the device again"))?;
        Ok(())
    }
}

struct VulkanPreparedCase {
    device: Device,
    pipeline: Pipeline,
    shader: CaseShader,
    /// Created with the first chunk: cases may wait for their turn, and buffers take most memory.
    slot: Option<DispatchSlot>,
    time_limit: Duration,
    validation: Option<Arc<Mutex<()>>>,
}

impl PreparedCase for VulkanPreparedCase {
    fn run(&mut self, operands: &Columns, results: &mut Columns) -> Result<Duration, ExecError> {
        const WHILE: &str = "running a shader";
        let listening = ValidationScope::new(self.validation.as_deref());
        let slot = match &mut self.slot {
            Some(slot) => slot,
            empty => {
                let specs = [
                    BufferSpec::input(size_of_val(operands.words())),
                    BufferSpec::output(size_of_val(results.words())),
                ];
                empty.insert(self.device.dispatch_slot(&specs).map_err(|error| exec_error(error, "making buffers"))?)
            }
        };
        let started = Instant::now();
        let run = |slot: &mut DispatchSlot, results: &mut Columns| -> Result<Duration, Error> {
            slot.write::<u32>(0)?.copy_from_slice(operands.words());
            let dispatch = Dispatch { clear: Some(UNWRITTEN), ..Dispatch::linear(self.shader.groups(operands.rows())) };
            slot.submit(&self.pipeline, &dispatch)?;
            slot.wait(self.time_limit)?;
            results.words_mut().copy_from_slice(slot.read(1)?);
            Ok(started.elapsed())
        };
        let taken = run(slot, results).map_err(|error| exec_error(error, WHILE))?;
        results.set_rows(operands.rows());
        listening.check(&self.device)?;
        Ok(taken)
    }
}

/// Scope during which messages of the validation layer belong to one case.
struct ValidationScope<'a>(Option<MutexGuard<'a, ()>>);

impl ValidationScope<'_> {
    fn new(validation: Option<&Mutex<()>>) -> ValidationScope<'_> {
        ValidationScope(validation.map(lock))
    }

    fn check(&self, device: &Device) -> Result<(), ExecError> {
        if self.0.is_none() {
            return Ok(());
        }
        let messages = device.take_validation_messages();
        match messages.iter().find(|message| message.severity == Severity::Error) {
            Some(message) => Err(ExecError::Internal(message.to_string())),
            None => Ok(()),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
