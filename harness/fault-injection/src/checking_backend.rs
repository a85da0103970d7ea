//! The backend that checks the results of a device with faults in another process.

use crate::{Fault, result};
use anyhow::Context;
use assay_case::{Case, Columns};
use assay_events::{DeviceInfo, Event, Status};
use assay_exec::{ExecError, Executor};
use assay_isolate::{EventSender, RemoteDevice, Task, WorkerBackend};
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows of each case: no multiple of the size of a workgroup.
const ROWS: usize = 100;

/// Faults that the executor of the device has. Cases with others run there as a whole.
const CALLED: &[Fault] = &[
    Fault::None,
    Fault::Wrong,
    Fault::Unsupported,
    Fault::OutOfMemory,
    Fault::Slow,
    Fault::Segfault,
    Fault::Abort,
    Fault::Killed,
    Fault::Exit,
    Fault::Hang,
    Fault::Stubborn,
    Fault::Orphan,
    Fault::Lost,
    Fault::Leak,
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

    /// Runs a case of this name on the device. Returns true if its results are its operands.
    fn returns_operands(&self, name: &str) -> Result<bool, ExecError> {
        let mut prepared = self.device.build(&Case { name: name.to_owned(), ..self.case.clone() }, ROWS, None)?;
        let mut operands = Columns::new(self.case.call.operand_slots(), ROWS);
        let mut results = Columns::new(self.case.call.result_slots(), ROWS);
        operands.set_rows(ROWS);
        (0..ROWS).for_each(|row| operands.set(0, row, row as u64 + 1));
        prepared.run(&operands, &mut results)?;
        Ok(results.rows() == ROWS && (0..ROWS).all(|row| results.column(0).get(row) == row as u64 + 1))
    }
}

impl WorkerBackend for CheckingBackend {
    fn device(&self) -> &DeviceInfo {
        self.device.info()
    }

    fn run(&mut self, tasks: &[Task], sender: &EventSender, stop: &AtomicBool) -> Result<(), String> {
        for task in tasks.iter().take_while(|_| !stop.load(Ordering::Relaxed)) {
            let name = &task.name;
            let fault = Fault::of(name).ok_or_else(|| format!("there is no case `{name}`"))?;
            if !CALLED.contains(&fault) {
                self.device.run_there(vec![task.clone()], stop)?;
                continue;
            }
            if let Some(missing) = self.device.missing(&Case { name: name.clone(), ..self.case.clone() }) {
                sender.event(&result(name, Status::NotSupported, Some(missing)));
                continue;
            }
            sender.event(&Event::CaseStarted { name: name.clone(), inputs: ROWS as u64 });
            sender.event(&match self.returns_operands(name) {
                Ok(true) => result(name, Status::Pass, None),
                Ok(false) => result(name, Status::Fail, Some("wrong".to_owned())),
                Err(error) => result(name, error.status(), Some(error.to_string())),
            });
        }
        Ok(())
    }
}
