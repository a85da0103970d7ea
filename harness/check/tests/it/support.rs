//! Shaders and targets for tests.

use assay_check::{Check, Options, ShaderSource};
use assay_events::{CheckResult, DeviceInfo};
use assay_exec::{AllocatedDispatch, DispatchOutput, DispatchRequest, Target, TargetError, synthetic_addresses};
use assay_oracle::{Limits, Program};
use assay_spirv::Module;
use assay_spirv::requirements::{ApiVersion, DeviceCaps};
use assay_vulkan::Instance;
use assay_vulkan_exec::VulkanTarget;
use std::collections::BTreeMap;
use std::time::Duration;

/// A target that returns a result of the oracle, changed by a closure.
pub(crate) struct Synthetic<F> {
    info: DeviceInfo,
    caps: DeviceCaps,
    spoil: F,
}

impl<F: Fn(&mut DispatchOutput)> Synthetic<F> {
    pub(crate) fn new(spoil: F) -> Self {
        let info = DeviceInfo {
            name: "synthetic".into(),
            api: "vulkan".to_owned(),
            kind: "cpu".into(),
            vendor_id: 0,
            device_id: 0,
            uuid: String::new(),
            driver_name: String::new(),
            driver_info: String::new(),
            driver_version: 0,
            api_version: "1.3.0".into(),
            conformance_version: String::new(),
            features: Vec::new(),
            extensions: Vec::new(),
            properties: BTreeMap::new(),
            environment: BTreeMap::new(),
            host_cpu: String::new(),
        };
        let mut caps = DeviceCaps { api_version: ApiVersion::v1(3), ..DeviceCaps::default() };
        for axis in ["X", "Y", "Z"] {
            caps.properties.insert(format!("maxComputeWorkGroupSize{axis}"), 1024);
        }
        caps.properties.insert("maxComputeWorkGroupInvocations".into(), 1024);
        caps.properties.insert("maxComputeSharedMemorySize".into(), 1 << 15);
        caps.properties.insert("subgroupSize".into(), 8);
        caps.properties.insert("maxPushConstantsSize".into(), 128);
        caps.features.extend(["bufferDeviceAddress", "shaderInt64"].map(str::to_owned));
        Self { info, caps, spoil }
    }
}

impl<F: Fn(&mut DispatchOutput)> Target for Synthetic<F> {
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
        let module = Module::parse(request.words.to_vec()).expect("the target receives a valid module");
        let specs = request.specs.iter().map(|spec| (spec.id, spec.bits)).collect();
        let program = Program::new(&module, request.entry, &specs).expect("the oracle interprets the module");
        let outcome = program.run(request.dispatch, &Limits::default()).expect("the dispatch ran before");
        let memory = outcome.memory.iter().map(|(slot, memory)| (*slot, memory.bytes().to_vec())).collect();
        let mut output = DispatchOutput { memory, duration: Duration::ZERO };
        (self.spoil)(&mut output);
        Ok(output)
    }
}

/// Parses WGSL.
pub(crate) fn wgsl(text: &str) -> ShaderSource {
    ShaderSource::read("test.wgsl", text.as_bytes()).expect("the shaders of these tests compile")
}

/// Returns a SPIR-V shader with a number of invocations, a buffer of words `%data` and the local
/// index `%id`. `declared` and `functions` are added; `%main` is among the functions.
pub(crate) fn on_words(invocations: u32, declared: &str, functions: &str) -> ShaderSource {
    on_words_as("main", invocations, ["", declared], functions)
}

/// As [`on_words`], with a name, and with text before the decorations and before the functions.
pub(crate) fn on_words_as(name: &str, invocations: u32, [names, declared]: [&str; 2], functions: &str) -> ShaderSource {
    let text = format!(
        "OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"{name}\" %id %data
        OpExecutionMode %main LocalSize {invocations} 1 1
        {names}
        OpDecorate %id BuiltIn LocalInvocationIndex
        OpDecorate %words ArrayStride 4
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpDecorate %data DescriptorSet 0
        OpDecorate %data Binding 0
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %uint = OpTypeInt 32 0
        %zero = OpConstant %uint 0
        %words = OpTypeRuntimeArray %uint
        %block = OpTypeStruct %words
        %blocks = OpTypePointer StorageBuffer %block
        %elements = OpTypePointer StorageBuffer %uint
        %inputs = OpTypePointer Input %uint
        %id = OpVariable %inputs Input
        %data = OpVariable %blocks StorageBuffer
        {declared}
        {functions}"
    );
    ShaderSource::read("test.spvasm", text.as_bytes()).unwrap()
}

/// Checks a shader on a target whose output is changed by `spoil`.
pub(crate) fn spoilt(text: &str, options: &Options, spoil: impl Fn(&mut DispatchOutput)) -> CheckResult {
    let shader = wgsl(text);
    Check::new(&shader, options).unwrap().run(&Synthetic::new(spoil)).unwrap()
}

/// Runs `test` on every software driver.
pub(crate) fn on_each_driver(test: impl Fn(&VulkanTarget)) {
    let strict = std::env::var_os("ASSAY_TEST_ALL_DRIVERS").is_some_and(|v| v == "1");
    let skip = |what: &str| {
        assert!(!strict, "{what}");
        skipped(what);
    };
    let devices = match Instance::new(true).or_else(|_| Instance::new(false)).and_then(|i| i.devices()) {
        Ok(devices) => devices,
        Err(error) => return skip(&error.to_string()),
    };
    for name in ["llvmpipe", "SwiftShader"] {
        match devices.iter().find(|d| d.identity().name.contains(name)) {
            Some(device) => test(&VulkanTarget::new(device, Duration::from_secs(60), true).unwrap()),
            None => skip(&format!("no {name} among the devices")),
        }
    }
}

#[expect(clippy::print_stderr, reason = "a skipped test must be visible")]
pub(crate) fn skipped(what: &str) {
    eprintln!("SKIPPED: {what}");
}
