//! The cases that a worker prepares and runs for one on another machine.

use crate::{
    device_call::{DeviceCall, DeviceReply},
    event_sender::EventSender,
    message::{Order, WorkerMessage},
};
use assay_case::Columns;
use assay_exec::{AnnouncedExecutor, ExecError, Executor, PreparedCase};
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

/// Prepared cases by their numbers.
#[derive(Default)]
pub(crate) struct PreparedCases(Mutex<HashMap<u64, Arc<Mutex<Prepared>>>>);

impl PreparedCases {
    /// Answers a call, and the next ones that arrive, each in a thread of its own: the caller limits their
    /// number. `busy` is set while there are any. Returns the first order that is not a call, or `None`
    /// after the last order.
    pub(crate) fn serve(
        &self,
        first: Order,
        orders: &mpsc::Receiver<Order>,
        (executor, sender, busy): (Option<&dyn Executor>, &EventSender, &AtomicBool),
    ) -> Option<Order> {
        let in_progress = AtomicUsize::new(0);
        thread::scope(|scope| {
            let mut next = Some(first);
            while let Some(Order::Device { number, call, data }) = next {
                in_progress.fetch_add(1, Ordering::SeqCst);
                busy.store(true, Ordering::SeqCst);
                let in_progress = &in_progress;
                scope.spawn(move || {
                    let answer = self.answer(call, &data, executor, sender);
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
        executor: Option<&dyn Executor>,
        sender: &EventSender,
    ) -> Result<Option<(DeviceReply, Vec<u8>)>, ExecError> {
        let internal = |what: &str| ExecError::Internal(what.to_owned());
        let executor = executor.ok_or_else(|| internal("this worker runs no cases for others"))?;
        let announced = AnnouncedExecutor::new(executor, sender);
        let reply = match call {
            DeviceCall::Missing { case } => DeviceReply::Missing(executor.missing(&case.case()?)),
            DeviceCall::Build { case, prepared, capacity, constants } => {
                let case = case.case()?;
                let constants = constants.map(|rows| {
                    let mut columns = Columns::new(case.call.operand_slots(), rows);
                    columns.set_bytes(rows, data).then_some(columns).ok_or_else(|| internal(WRONG_SIZE))
                });
                let built = announced.build(&case, capacity, constants.transpose()?.as_ref())?;
                let operands = Columns::new(case.call.operand_slots(), capacity);
                let results = Columns::new(case.call.result_slots(), capacity);
                let made = Arc::new(Mutex::new(Prepared { case: built, operands, results }));
                self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(prepared, made);
                DeviceReply::Built
            }
            DeviceCall::Run { prepared, rows } => {
                let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&prepared).cloned();
                let known = known.ok_or_else(|| internal("a case that was not prepared"))?;
                let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                let Prepared { case, operands, results } = &mut *known;
                if !operands.set_bytes(rows, data) {
                    return Err(internal(WRONG_SIZE));
                }
                let time = case.run(operands, results)?;
                return Ok(Some((DeviceReply::Ran(time), results.to_bytes())));
            }
            DeviceCall::Drop { prepared } => {
                let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&prepared);
                drop(known);
                return Ok(None);
            }
        };
        Ok(Some((reply, Vec::new())))
    }
}

/// A defect of the caller.
const WRONG_SIZE: &str = "the rows do not fit the case";
