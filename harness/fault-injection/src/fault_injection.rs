//! The backend whose cases misbehave as their names prescribe.

use crate::{Fault, result, result_with_wrong_chunks, signal};
use assay_case::{Case, Columns};
use assay_events::{DeviceInfo, Event, Status};
use assay_exec::{
    CallDescription, DispatchOutput, DispatchRequest, DriverCalls, ExecError, Executor, PreparedCase, Target,
    TargetError,
};
use assay_isolate::{EventSender, Task, WorkerBackend};
use assay_spirv_rules::requirements::DeviceCaps;
use std::{
    hash::{BuildHasher, RandomState},
    io::Write,
    process::{Command, exit},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

/// Reason why a device is not to blame for [`Fault::Undefined`].
pub(crate) const EXCUSE: &str = "the shader may have undefined behaviour at line 7";

/// Runs cases with faults.
#[derive(Debug)]
pub struct FaultInjectionBackend {
    device: DeviceInfo,
    capabilities: DeviceCaps,
    poisoned: bool,
    lost: bool,
}

/// Returns the description of the device.
pub fn device() -> DeviceInfo {
    DeviceInfo {
        name: "a device with injected faults".to_owned(),
        api: "vulkan".to_owned(),
        kind: "other".to_owned(),
        uuid: "00".repeat(16),
        driver_name: "mock".to_owned(),
        driver_info: "1".to_owned(),
        driver_version: 1,
        api_version: "1.3.0".to_owned(),
        conformance_version: "0.0.0.0".to_owned(),
        host_cpu: "any".to_owned(),
        ..DeviceInfo::default()
    }
}

impl Default for FaultInjectionBackend {
    fn default() -> FaultInjectionBackend {
        FaultInjectionBackend { device: device(), capabilities: DeviceCaps::default(), poisoned: false, lost: false }
    }
}

impl WorkerBackend for FaultInjectionBackend {
    fn device(&self) -> &DeviceInfo {
        &self.device
    }

    fn executor(&self) -> Option<&dyn Executor> {
        Some(self)
    }

    fn target(&self) -> Option<&(dyn Target + Sync)> {
        Some(self)
    }

    fn run(&mut self, tasks: &[Task], sender: &EventSender, stop: &AtomicBool) -> Result<(), String> {
        for Task { name, chunks, .. } in tasks {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let fault = Fault::of(name).ok_or_else(|| format!("there is no case `{name}`"))?;
            if fault == Fault::Unsupported {
                sender.event(&result(name, Status::NotSupported, Some("it lacks everything".to_owned())));
                continue;
            }
            sender.event(&Event::CaseStarted { name: name.clone(), inputs: 1 });
            let excuse = (fault == Fault::Undefined).then_some(EXCUSE);
            let call = CallDescription { excuse, ..CallDescription::new("running a shader") };
            let call = sender.begin_call(name, call);
            let (status, reason) = self.inject(fault, name, sender);
            drop(call);
            if fault == Fault::Silent {
                continue;
            }
            let reason = (status != Status::Pass).then(|| reason.to_owned());
            sender.event(&match fault {
                Fault::Spots | Fault::Restless | Fault::Late if !self.lost => {
                    result_with_wrong_chunks(name, fault, chunks.as_deref())
                }
                _ => result(name, status, reason),
            });
        }
        Ok(())
    }
}

/// Time of a slow case.
const SLOW: Duration = Duration::from_millis(100);

const OUT_OF_MEMORY: &str = "VK_ERROR_OUT_OF_DEVICE_MEMORY";

fn sleep_forever() -> ! {
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}

/// Ends this process, or lets it run without an end, as a fault of a driver does.
fn end_process(fault: Fault) -> ! {
    match fault {
        // Rust's own handler catches the first signal and then restores the default.
        Fault::Segfault => loop {
            signal::raise_segfault();
            thread::sleep(Duration::from_millis(1));
        },
        Fault::Killed => {
            signal::kill(std::process::id());
            sleep_forever()
        }
        Fault::Exit => exit(0),
        Fault::Hang => sleep_forever(),
        Fault::Stubborn => {
            _ = ctrlc::set_handler(|| {});
            sleep_forever()
        }
        Fault::Orphan => {
            _ = Command::new("sleep").arg("1000").spawn();
            sleep_forever()
        }
        Fault::Leak => {
            let mut leak: Vec<Vec<u8>> = Vec::new();
            loop {
                // Not zeros: zeroed memory would become resident only when it is written.
                leak.push(vec![leak.len() as u8 | 1; 4 << 20]);
                thread::sleep(Duration::from_millis(1));
            }
        }
        Fault::Flood => {
            let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
            let line = [[b'x'; 99].as_slice(), b"\n"].concat();
            loop {
                _ = out.write_all(&line).and_then(|()| err.write_all(&line));
            }
        }
        _ => std::process::abort(),
    }
}

/// A case of the device's executor: it returns its operands, unless its name prescribes a fault.
struct FaultyCase {
    fault: Fault,
}

impl PreparedCase for FaultyCase {
    fn run(&mut self, operands: &Columns, results: &mut Columns) -> Result<Duration, ExecError> {
        match self.fault {
            Fault::None => {}
            Fault::Lost => return Err(ExecError::DeviceLost("VK_ERROR_DEVICE_LOST".to_owned())),
            Fault::Wrong => results.set_rows(operands.rows()),
            fault => end_process(fault),
        }
        if self.fault != Fault::Wrong {
            results.set_bytes(operands.rows(), &operands.to_bytes());
        }
        Ok(Duration::ZERO)
    }
}

impl Executor for FaultInjectionBackend {
    fn info(&self) -> &DeviceInfo {
        &self.device
    }

    fn missing(&self, case: &Case) -> Option<String> {
        (Fault::of(&case.name) == Some(Fault::Unsupported)).then(|| "it lacks everything".to_owned())
    }

    fn build(&self, case: &Case, _: usize, _: Option<&Columns>) -> Result<Box<dyn PreparedCase>, ExecError> {
        let fault = Fault::of(&case.name).ok_or_else(|| ExecError::Internal(format!("no case `{}`", case.name)))?;
        Ok(Box::new(FaultyCase { fault }))
    }

    fn recover(&self) -> Result<(), ExecError> {
        Ok(())
    }
}

/// Every dispatch leaves the contents of memory, unless its entry point is the name of a fault.
impl Target for FaultInjectionBackend {
    fn info(&self) -> &DeviceInfo {
        &self.device
    }

    fn capabilities(&self) -> &DeviceCaps {
        &self.capabilities
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        match request.entry.parse() {
            Ok(Fault::Slow) => thread::sleep(SLOW),
            Ok(Fault::OutOfMemory) => return Err(ExecError::OutOfMemory(OUT_OF_MEMORY.to_owned()).into()),
            Ok(fault) => end_process(fault),
            Err(error) => return Err(ExecError::Internal(error).into()),
        }
        let bindings = request.dispatch.bindings.iter();
        let memory = bindings.filter_map(|(slot, resource)| Some((*slot, resource.bytes()?.to_vec()))).collect();
        Ok(DispatchOutput { memory, ..DispatchOutput::default() })
    }
}

impl FaultInjectionBackend {
    fn inject(&mut self, fault: Fault, name: &str, sender: &EventSender) -> (Status, &'static str) {
        if self.lost {
            return (Status::Fail, "results after a device loss are wrong");
        }
        match fault {
            Fault::None | Fault::Unsupported | Fault::Silent => {}
            Fault::Spots | Fault::Restless | Fault::Late => {}
            Fault::Warning => return (Status::QualityWarning, "lenient"),
            Fault::Wrong => return (Status::Fail, "wrong"),
            Fault::Invalid => return (Status::InternalError, "VUID-mock"),
            Fault::OutOfMemory => return (Status::Undetermined, OUT_OF_MEMORY),
            Fault::Slow => thread::sleep(SLOW),
            Fault::Segfault
            | Fault::Abort
            | Fault::Undefined
            | Fault::Killed
            | Fault::Exit
            | Fault::Hang
            | Fault::Stubborn
            | Fault::Orphan
            | Fault::Leak
            | Fault::Flood => end_process(fault),
            Fault::Garbage => _ = sender.write_raw(b"llvmpipe: this is no message\n"),
            Fault::Half => {
                _ = sender.write_raw(b"00000100 12345678 {\"say\":\"ev");
                exit(3)
            }
            Fault::Liar => sender.event(&result("mock.pass.none", Status::Pass, None)),
            Fault::Lost => {
                self.lost = true;
                return (Status::DeviceLost, "VK_ERROR_DEVICE_LOST");
            }
            Fault::Flaky => {
                if RandomState::new().hash_one(name).is_multiple_of(10) {
                    return (Status::Fail, "wrong this time");
                }
            }
            Fault::Poison => self.poisoned = true,
            Fault::Poisoned => {
                if self.poisoned {
                    return (Status::Fail, "poisoned");
                }
            }
            Fault::Shaken => {
                if self.poisoned {
                    std::process::abort();
                }
            }
        }
        (Status::Pass, "")
    }
}
