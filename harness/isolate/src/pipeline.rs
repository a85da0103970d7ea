//! A bench that runs cases of the runner on an executor, many at a time.

use crate::{Bench, Teller};
use assay_case::{Case, Columns};
use assay_runner::{DeviceInfo, Executor, Kernel, Plan, Reporter, RunOptions, Trouble};
use std::{collections::HashMap, sync::atomic::AtomicBool, time::Duration};

/// Runs cases of the runner: built ahead, checked while the device computes, as in a single process.
pub struct Pipeline<E> {
    executor: E,
    cases: HashMap<String, Case>,
    options: RunOptions,
}

impl<E: Executor> Pipeline<E> {
    /// One that knows these cases.
    pub fn new(executor: E, cases: impl IntoIterator<Item = Case>, options: RunOptions) -> Pipeline<E> {
        let cases = cases.into_iter().map(|case| (case.name.clone(), case)).collect();
        Pipeline { executor, cases, options }
    }
}

impl<E: Executor> Bench for Pipeline<E> {
    fn device(&self) -> &DeviceInfo {
        self.executor.info()
    }

    fn run(&mut self, cases: &[String], teller: &Teller, stop: &AtomicBool) -> Result<(), String> {
        let known = |name: &String| self.cases.get(name).cloned().ok_or_else(|| format!("there is no case `{name}`"));
        let mut plan = Plan::of(cases.iter().map(known).collect::<Result<Vec<Case>, String>>()?);
        plan.negotiate(&self.executor, self.options.jobs);
        let watched = Watched { executor: &self.executor, teller };
        let mut reporters: [Box<dyn Reporter>; 1] = [Box::new(teller.clone())];
        let ran = assay_runner::run(&plan, &watched, &self.options, &mut reporters, stop);
        ran.map(|_| ()).map_err(|error| error.to_string())
    }
}

/// An executor whose calls into the driver are announced.
struct Watched<'a, E> {
    executor: &'a E,
    teller: &'a Teller,
}

impl<E: Executor> Executor for Watched<'_, E> {
    fn info(&self) -> &DeviceInfo {
        self.executor.info()
    }

    fn missing(&self, case: &Case) -> Option<String> {
        self.executor.missing(case)
    }

    fn build(&self, case: &Case, capacity: usize, constants: Option<&Columns>) -> Result<Box<dyn Kernel>, Trouble> {
        let call = self.teller.enter(&case.name, "building a pipeline");
        let kernel = self.executor.build(case, capacity, constants)?;
        drop(call);
        Ok(Box::new(WatchedKernel { kernel, case: case.name.clone(), teller: self.teller.clone() }))
    }

    /// What comes after a loss is not to be believed: the coordinator ends this process and goes on in another.
    fn recover(&self) -> Result<(), Trouble> {
        Err(Trouble::DeviceLost("a new process opens the device again".to_owned()))
    }
}

struct WatchedKernel {
    kernel: Box<dyn Kernel>,
    case: String,
    teller: Teller,
}

impl Kernel for WatchedKernel {
    fn run(&mut self, operands: &Columns, results: &mut Columns) -> Result<Duration, Trouble> {
        let _call = self.teller.enter(&self.case, "running a shader");
        self.kernel.run(operands, results)
    }
}
