//! A device that receives changed modules.

use assay_events::DeviceInfo;
use assay_exec::{AllocatedDispatch, DispatchOutput, DispatchRequest, ExecError, Target, TargetError};
use assay_spirv::Module;
use assay_spirv_rules::requirements::DeviceCaps;

/// Change of each module that a device receives.
pub trait ModuleChange {
    /// Returns the words of the changed module.
    ///
    /// # Errors
    /// The change is not possible. That is a defect of Assay.
    fn changed(&self, module: &Module) -> Result<Vec<u32>, String>;

    /// Returns the reason, as a clause, why the end of the driver would not be a fault of the device.
    fn excuse(&self) -> Option<String> {
        None
    }
}

/// A target that runs changed modules. Everything else is passed on to another target.
pub struct ChangingTarget<T, C> {
    inner: T,
    change: C,
    caps: Option<DeviceCaps>,
}

impl<T: Target, C: ModuleChange> ChangingTarget<T, C> {
    /// Changes every module that the target runs.
    pub fn new(inner: T, change: C) -> Self {
        Self { inner, change, caps: None }
    }

    /// Returns the change.
    pub(crate) fn change(&self) -> &C {
        &self.change
    }

    /// Replaces the capabilities: a changed module may need fewer.
    pub(crate) fn with_capabilities(self, caps: DeviceCaps) -> Self {
        Self { caps: Some(caps), ..self }
    }
}

impl<T: Target, C: ModuleChange> Target for ChangingTarget<T, C> {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        self.caps.as_ref().unwrap_or_else(|| self.inner.capabilities())
    }

    fn begin_round(&self, round: u32, excuse: Option<&str>) {
        self.inner.begin_round(round, excuse.or(self.change.excuse().as_deref()));
    }

    fn allocate(&self, request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        self.inner.allocate(request)
    }

    fn clear_workgroup_memory(&self) {
        self.inner.clear_workgroup_memory();
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        let module = Module::parse(request.words.to_vec())
            .map_err(|error| ExecError::Internal(format!("cannot parse the module to change: {error}")))?;
        let words = self.change.changed(&module).map_err(ExecError::Internal)?;
        self.inner.run(&DispatchRequest { wgsl: None, words: &words, ..*request })
    }
}
