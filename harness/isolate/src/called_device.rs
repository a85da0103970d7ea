//! The device that a worker calls for one on another machine.

use crate::{
    device_call::{DeviceCall, DeviceReply},
    event_sender::EventSender,
    message::{Order, WorkerMessage},
    target_call::{self, TargetCall},
};
use assay_case::Columns;
use assay_exec::{
    AllocatedDispatch, AnnouncedExecutor, AnnouncedTarget, ExecError, Executor, PreparedCase, Target, TargetError,
};
use serde::Serialize;
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

/// A prepared case with its columns.
struct Prepared {
    case: Box<dyn PreparedCase>,
    operands: Columns,
    results: Columns,
}

/// The two interfaces of a device, as far as it can be called.
#[derive(Clone, Copy)]
pub(crate) struct Interfaces<'a> {
    pub(crate) executor: Option<&'a dyn Executor>,
    pub(crate) target: Option<&'a (dyn Target + Sync)>,
}

/// Values by the caller's numbers. Threads share them.
type Numbered<T> = Mutex<HashMap<u64, Arc<T>>>;

/// A device, with the cases and the memory that its caller has not dropped.
#[derive(Default)]
pub(crate) struct CalledDevice {
    cases: Numbered<Mutex<Prepared>>,
    memory: Numbered<AllocatedDispatch>,
}

impl CalledDevice {
    /// Answers a call, and the next ones that arrive, each in a thread of its own: the caller limits their
    /// number. `busy` is set while there are any. Returns the first order that is not a call, or `None`
    /// after the last order.
    pub(crate) fn serve(
        &self,
        first: Order,
        orders: &mpsc::Receiver<Order>,
        (device, sender, busy): (Interfaces<'_>, &EventSender, &AtomicBool),
    ) -> Option<Order> {
        let in_progress = AtomicUsize::new(0);
        thread::scope(|scope| {
            let mut next = Some(first);
            while let Some(Order::Device { number, call, data }) = next {
                in_progress.fetch_add(1, Ordering::SeqCst);
                busy.store(true, Ordering::SeqCst);
                let in_progress = &in_progress;
                scope.spawn(move || {
                    let answer = self.answer(call, &data, device, sender);
                    if let Some((reply, data)) =
                        answer.unwrap_or_else(|error| Some((DeviceReply::Failed(error), Vec::new())))
                    {
                        sender.send(&WorkerMessage::Device { number, reply, data });
                    }
                    if in_progress.fetch_sub(1, Ordering::SeqCst) == 1 {
                        busy.store(false, Ordering::SeqCst);
                    }
                });
                next = orders.recv().ok();
            }
            next
        })
    }

    fn answer(
        &self,
        call: DeviceCall,
        data: &[u8],
        device: Interfaces<'_>,
        sender: &EventSender,
    ) -> Result<Option<(DeviceReply, Vec<u8>)>, ExecError> {
        let executor = || device.executor.ok_or_else(|| internal(NOT_CALLED));
        let reply = match call {
            DeviceCall::Missing { case } => DeviceReply::Missing(executor()?.missing(&case.case()?)),
            DeviceCall::Build { case, prepared, capacity, constants } => {
                let case = case.case()?;
                let constants = constants.map(|rows| {
                    let mut columns = Columns::new(case.call.operand_slots(), rows);
                    columns.set_bytes(rows, data).then_some(columns).ok_or_else(|| internal(WRONG_SIZE))
                });
                let built = AnnouncedExecutor::new(executor()?, sender).build(
                    &case,
                    capacity,
                    constants.transpose()?.as_ref(),
                )?;
                let operands = Columns::new(case.call.operand_slots(), capacity);
                let results = Columns::new(case.call.result_slots(), capacity);
                let made = Arc::new(Mutex::new(Prepared { case: built, operands, results }));
                insert(&self.cases, prepared, made);
                DeviceReply::Built
            }
            DeviceCall::Run { prepared, rows } => {
                let known = get(&self.cases, prepared)?;
                let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                let Prepared { case, operands, results } = &mut *known;
                if !operands.set_bytes(rows, data) {
                    return Err(internal(WRONG_SIZE));
                }
                let time = case.run(operands, results)?;
                return Ok(Some((DeviceReply::Ran(time), results.to_bytes())));
            }
            DeviceCall::Target { case } => {
                let target = device.target.ok_or_else(|| internal(NOT_CALLED))?;
                let data = self.call_target(target, (&case, sender), target_call::from_bytes(data)?)?;
                return Ok(Some((DeviceReply::Target, data)));
            }
            DeviceCall::Drop { number } => {
                remove(&self.cases, number);
                remove(&self.memory, number);
                return Ok(None);
            }
        };
        Ok(Some((reply, Vec::new())))
    }

    /// Calls the target for a case, and returns the binary form of the result.
    fn call_target(
        &self,
        target: &(dyn Target + Sync),
        (case, sender): (&str, &EventSender),
        call: TargetCall,
    ) -> Result<Vec<u8>, ExecError> {
        fn result<T: Serialize>(result: Result<T, TargetError>) -> Result<Vec<u8>, ExecError> {
            target_call::to_bytes(&result)
        }
        let announced = |doing: String| AnnouncedTarget::new(target, sender, case, move |_| doing.clone());
        match call {
            TargetCall::Capabilities => result(Ok(target.capabilities())),
            TargetCall::Allocate { memory, request } => {
                let allocated = request.with(None, |request| announced(String::new()).allocate(request));
                result(allocated.map(|allocated| {
                    let addresses = allocated.addresses.clone();
                    insert(&self.memory, memory, Arc::new(allocated));
                    addresses
                }))
            }
            TargetCall::Run { doing, excuse, memory, request } => {
                let allocated = memory.map(|memory| get(&self.memory, memory)).transpose()?;
                let target = announced(doing);
                target.begin_round(0, excuse.as_deref());
                result(request.with(allocated.as_deref(), |request| target.run(request)))
            }
            TargetCall::ClearWorkgroupMemory => {
                announced(String::new()).clear_workgroup_memory();
                result(Ok(()))
            }
            TargetCall::TilePass(pass) => result(announced(String::new()).run_tile_pass(&pass.pass())),
        }
    }
}

fn insert<T>(numbered: &Numbered<T>, number: u64, value: Arc<T>) {
    numbered.lock().unwrap_or_else(PoisonError::into_inner).insert(number, value);
}

fn get<T>(numbered: &Numbered<T>, number: u64) -> Result<Arc<T>, ExecError> {
    let value = numbered.lock().unwrap_or_else(PoisonError::into_inner).get(&number).cloned();
    value.ok_or_else(|| internal("a number that is not known"))
}

/// The value is dropped after the lock.
fn remove<T>(numbered: &Numbered<T>, number: u64) {
    let value = numbered.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
    drop(value);
}

fn internal(what: &str) -> ExecError {
    ExecError::Internal(what.to_owned())
}

/// A defect of the caller, as the following one.
const NOT_CALLED: &str = "this worker runs nothing of this kind for others";

const WRONG_SIZE: &str = "the rows do not fit the case";
