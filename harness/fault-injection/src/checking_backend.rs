//! The backend that checks the results of a device with faults in another process.

use crate::{Fault, result};
use anyhow::Context;
use assay_case::{Case, Columns};
use assay_events::{DeviceInfo, Event, Status};
use assay_exec::{DispatchRequest, ExecError, Executor, SubgroupControl, Target, TargetError};
use assay_isolate::{EventSender, RemoteDevice, RemoteTarget, Task, WorkerBackend};
use assay_oracle::{Buffer, Dispatch, Resource, Slot};
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows of each case: no multiple of the size of a workgroup.
const ROWS: usize = 100;

/// Faults in a call of the executor.
const OF_THE_EXECUTOR: &[Fault] = &[
    Fault::None,
    Fault::Wrong,
    Fault::Unsupported,
    Fault::Segfault,
    Fault::Killed,
    Fault::Stubborn,
    Fault::Lost,
    Fault::Leak,
];

/// Faults in a call of the target.
const OF_THE_TARGET: &[Fault] = &[
    Fault::Slow,
    Fault::OutOfMemory,
    Fault::Undefined,
    Fault::Abort,
    Fault::Exit,
    Fault::Hang,
    Fault::Orphan,
    Fault::Flood,
];

/// Checks that the results of cases are their operands.
pub struct CheckingBackend {
    device: RemoteDevice,
    /// A case with one operand and one result.
    case: Case,
}

impl CheckingBackend {
    /// Checks the results of a device.
    ///
    /// # Errors
    /// The built-in cases cannot be read.
    pub fn new(device: RemoteDevice) -> anyhow::Result<CheckingBackend> {
        let cases = assay_case::load()?;
        let case = cases.into_iter().find(|case| case.name == "precision.f32.fnegate.scalar.default");
        Ok(CheckingBackend { device, case: case.context("there is no negation")? })
    }

    /// Returns the faults that a device has which is called.
    pub fn faults() -> impl Iterator<Item = Fault> {
        OF_THE_EXECUTOR.iter().chain(OF_THE_TARGET).copied()
    }

    /// Runs a case of this name on the device. Returns true if its results are its operands.
    fn returns_operands(&self, name: &str, fault: Fault) -> Result<bool, ExecError> {
        if OF_THE_TARGET.contains(&fault) {
            return self.dispatch_returns_contents(name, fault).map_err(|error| match error {
                TargetError::Unsupported(reason) => ExecError::Internal(reason),
                TargetError::Failed(error) => error,
            });
        }
        let mut prepared = self.device.build(&Case { name: name.to_owned(), ..self.case.clone() }, ROWS, None)?;
        let mut operands = Columns::new(self.case.call.operand_slots(), ROWS);
        let mut results = Columns::new(self.case.call.result_slots(), ROWS);
        operands.set_rows(ROWS);
        (0..ROWS).for_each(|row| operands.set(0, row, row as u64 + 1));
        prepared.run(&operands, &mut results)?;
        Ok(results.rows() == ROWS && (0..ROWS).all(|row| results.column(0).get(row) == row as u64 + 1))
    }

    /// Runs a dispatch on the device. Returns true if its buffer keeps its contents.
    fn dispatch_returns_contents(&self, name: &str, fault: Fault) -> Result<bool, TargetError> {
        let (slot, data) = (Slot::new(0, 0), (0..=u8::MAX).collect::<Vec<u8>>());
        let bindings = [(slot, Resource::Buffer(Buffer { data: data.clone(), address: None }))].into();
        let dispatch = Dispatch { bindings, ..Dispatch::default() };
        let target = RemoteTarget::new(&self.device, name, |_| "running a shader".to_owned());
        target.begin_round(0, (fault == Fault::Undefined).then_some(crate::EXCUSE));
        let output = target.run(&DispatchRequest {
            wgsl: None,
            words: &[],
            entry: fault.name(),
            specs: &[],
            subgroup_control: SubgroupControl::default(),
            descriptors: &[],
            dispatch: &dispatch,
            allocated: None,
        })?;
        Ok(output.memory.get(&slot) == Some(&data))
    }
}

impl WorkerBackend for CheckingBackend {
    fn device(&self) -> &DeviceInfo {
        self.device.description()
    }

    fn run(&mut self, tasks: &[Task], sender: &EventSender, stop: &AtomicBool) -> Result<(), String> {
        for task in tasks.iter().take_while(|_| !stop.load(Ordering::Relaxed)) {
            let name = &task.name;
            let fault = Fault::of(name).ok_or_else(|| format!("there is no case `{name}`"))?;
            if let Some(missing) = self.device.missing(&Case { name: name.clone(), ..self.case.clone() }) {
                sender.event(&result(name, Status::NotSupported, Some(missing)));
                continue;
            }
            sender.event(&Event::CaseStarted { name: name.clone(), inputs: ROWS as u64 });
            sender.event(&match self.returns_operands(name, fault) {
                Ok(true) => result(name, Status::Pass, None),
                Ok(false) => result(name, Status::Fail, Some("wrong".to_owned())),
                Err(error) => result(name, error.status(), Some(error.to_string())),
            });
        }
        Ok(())
    }
}
