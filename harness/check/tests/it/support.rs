//! Shaders and targets for tests.

use assay_check::{Check, Job, Left, Options, Placed, Subject, Target, TargetError, VulkanTarget, made_up};
use assay_oracle::{Limits, Program};
use assay_runner::{CheckResult, DeviceInfo};
use assay_spirv::Module;
use assay_spirv::need::{ApiVersion, Have};
use assay_vulkan::Instance;
use std::collections::BTreeMap;
use std::time::Duration;

/// A target that returns a result of the oracle, changed by a closure.
pub(crate) struct Synthetic<F> {
    info: DeviceInfo,
    have: Have,
    spoil: F,
}

impl<F: Fn(&mut Left)> Synthetic<F> {
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
        let mut have = Have { api_version: ApiVersion::v1(3), ..Have::default() };
        for axis in ["X", "Y", "Z"] {
            have.properties.insert(format!("maxComputeWorkGroupSize{axis}"), 1024);
        }
        have.properties.insert("maxComputeWorkGroupInvocations".into(), 1024);
        have.properties.insert("maxComputeSharedMemorySize".into(), 1 << 15);
        have.properties.insert("subgroupSize".into(), 8);
        have.properties.insert("maxPushConstantsSize".into(), 128);
        have.features.extend(["bufferDeviceAddress", "shaderInt64"].map(str::to_owned));
        Self { info, have, spoil }
    }
}

impl<F: Fn(&mut Left)> Target for Synthetic<F> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn have(&self) -> &Have {
        &self.have
    }

    fn place(&self, job: &Job<'_>) -> Result<Placed, TargetError> {
        Ok(Placed::at(made_up(job.descriptors)))
    }

    fn run(&self, job: &Job<'_>) -> Result<Left, TargetError> {
        let module = Module::parse(job.words.to_vec()).expect("the target receives a valid module");
        let specs = job.specs.iter().map(|spec| (spec.id, spec.bits)).collect();
        let program = Program::new(&module, job.entry, &specs).expect("the oracle interprets the module");
        let outcome = program.run(job.dispatch, &Limits::default()).expect("the dispatch ran before");
        let memory = outcome.memory.iter().map(|(slot, memory)| (*slot, memory.bytes().to_vec())).collect();
        let mut left = Left { memory, taken: Duration::ZERO };
        (self.spoil)(&mut left);
        Ok(left)
    }
}

/// Parses WGSL.
pub(crate) fn wgsl(text: &str) -> Subject {
    Subject::read("test.wgsl", text.as_bytes()).expect("the shaders of these tests compile")
}

/// Returns a SPIR-V shader with a number of invocations, a buffer of words `%data` and the local
/// index `%id`. `declared` and `functions` are added; `%main` is among the functions.
pub(crate) fn on_words(invocations: u32, declared: &str, functions: &str) -> Subject {
    on_words_as("main", invocations, ["", declared], functions)
}

/// As [`on_words`], with a name, and with text before the decorations and before the functions.
pub(crate) fn on_words_as(name: &str, invocations: u32, [names, declared]: [&str; 2], functions: &str) -> Subject {
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
    Subject::read("test.spvasm", text.as_bytes()).unwrap()
}

/// Checks a shader on a target whose output is changed by `spoil`.
pub(crate) fn spoilt(text: &str, options: &Options, spoil: impl Fn(&mut Left)) -> CheckResult {
    let subject = wgsl(text);
    Check::new(&subject, options).unwrap().run(&Synthetic::new(spoil)).unwrap()
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
fn skipped(what: &str) {
    eprintln!("SKIPPED: {what}");
}
