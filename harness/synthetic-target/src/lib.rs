//! A target for tests that returns what the oracle permits, with planted defects.

use assay_events::DeviceInfo;
use assay_exec::{AllocatedDispatch, DispatchOutput, DispatchRequest, Target, TargetError, synthetic_addresses};
use assay_oracle::{AtomicOrder, Dispatch, Limits, Outcome, Program};
use assay_spirv::Module;
use assay_spirv_rules::requirements::{ApiVersion, DeviceCaps};

type Alter<'a> = Box<dyn Fn(&mut Vec<u32>, &mut Dispatch) + Sync + 'a>;
type Spoil<'a> = Box<dyn Fn(&DispatchRequest<'_>, &Outcome, &mut DispatchOutput) + Sync + 'a>;

/// A target that interprets each dispatch in the oracle and returns one of its permitted results.
pub struct SyntheticTarget<'a> {
    info: DeviceInfo,
    caps: DeviceCaps,
    alter: Option<Alter<'a>>,
    spoil: Option<Spoil<'a>>,
}

impl Default for SyntheticTarget<'_> {
    /// Returns a target with the limits of a small device of Vulkan 1.3.
    fn default() -> Self {
        let mut caps = DeviceCaps { api_version: ApiVersion::v1(3), ..DeviceCaps::default() };
        let limits = [
            ("maxComputeWorkGroupSizeX", 1024),
            ("maxComputeWorkGroupSizeY", 1024),
            ("maxComputeWorkGroupSizeZ", 1024),
            ("maxComputeWorkGroupInvocations", 1024),
            ("maxComputeSharedMemorySize", 1 << 15),
            ("subgroupSize", 8),
            ("maxPushConstantsSize", 128),
        ];
        caps.properties.extend(limits.map(|(name, value)| (name.to_owned(), value)));
        caps.features
            .extend(["bufferDeviceAddress", "shaderInt64", "shaderStorageImageMultisample"].map(str::to_owned));
        Self::with_capabilities(caps)
    }
}

impl<'a> SyntheticTarget<'a> {
    /// Returns a target with these capabilities.
    pub fn with_capabilities(caps: DeviceCaps) -> Self {
        let info = DeviceInfo {
            name: "synthetic".to_owned(),
            api: "vulkan".to_owned(),
            kind: "cpu".to_owned(),
            api_version: "1.3.0".to_owned(),
            ..DeviceInfo::default()
        };
        Self { info, caps, alter: None, spoil: None }
    }

    /// Returns a default target whose outputs are changed by `spoil`.
    pub fn spoilt(spoil: impl Fn(&mut DispatchOutput) + Sync + 'a) -> Self {
        Self::default().spoiling(move |_, _, output| spoil(output))
    }

    /// Changes the module and the dispatch before they are interpreted.
    pub fn altering(self, alter: impl Fn(&mut Vec<u32>, &mut Dispatch) + Sync + 'a) -> Self {
        Self { alter: Some(Box::new(alter)), ..self }
    }

    /// Changes the output, with knowledge of the request and of the permitted results.
    pub fn spoiling(self, spoil: impl Fn(&DispatchRequest<'_>, &Outcome, &mut DispatchOutput) + Sync + 'a) -> Self {
        Self { spoil: Some(Box::new(spoil)), ..self }
    }
}

impl Target for SyntheticTarget<'_> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn capabilities(&self) -> &DeviceCaps {
        &self.caps
    }

    fn allocate(&self, request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        Ok(AllocatedDispatch::at(synthetic_addresses(request.descriptors)))
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        let (mut words, mut dispatch) = (request.words.to_vec(), request.dispatch.clone());
        if dispatch.atomic_order == AtomicOrder::Any {
            // A device takes one order, and its atomics find what that order gives.
            dispatch.atomic_order = AtomicOrder::Interpreted;
        }
        if let Some(alter) = &self.alter {
            alter(&mut words, &mut dispatch);
        }
        let module = Module::parse(words).expect("the target receives a valid module");
        let specs = request.specs.iter().map(|spec| (spec.id, spec.bits)).collect();
        let program = Program::new(&module, request.entry, &specs).expect("the oracle interprets the module");
        let outcome = program.run(&dispatch, &Limits::default()).expect("the oracle runs the dispatch");
        let memory = outcome.memory.iter().map(|(slot, memory)| (*slot, memory.bytes().to_vec())).collect();
        let mut output = DispatchOutput { memory, ..DispatchOutput::default() };
        if let Some(spoil) = &self.spoil {
            spoil(request, &outcome, &mut output);
        }
        Ok(output)
    }
}
