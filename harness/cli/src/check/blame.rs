//! Who is at fault where a shader fails through wgpu: naga, which translates it, the driver, or wgpu between them.
//!
//! Two questions tell them apart. Does the SPIR-V that naga makes permit only what the shader permits? That the oracle answers, without a
//! device. Does the driver compute that SPIR-V right if wgpu does not hand it over?

use super::plan::Vulkan;
use crate::exit::Failure;
use assay_check::{Check, DeviceWork, Job, Left, Options, Subject, Target, TargetError, against};
use assay_portable::{Given, naga_spirv};
use assay_precision::Rules;
use assay_runner::{DeviceInfo, Status};
use assay_spirv::need::Have;

/// How a note begins that says it.
pub(super) const AT_FAULT: &str = "at fault: ";

/// What a shader is to wgpu.
pub(super) fn given<'a>(check: &'a Check<'_>) -> Given<'a> {
    match check.subject.wgsl() {
        Some(wgsl) => Given::Wgsl(wgsl),
        None => Given::Spirv(check.subject.source.module.words(), &check.setup.specs),
    }
}

/// Finds out who is at fault, and says it in a line; `device` is what failed through wgpu.
pub(super) fn blame(check: &Check<'_>, options: &Options, device: &DeviceInfo, vulkan: Vulkan<'_>) -> String {
    let told = judged(check, options, device, vulkan);
    told.map_or_else(|why| format!("{AT_FAULT}not found out: {why}"), |who| format!("{AT_FAULT}{who}"))
}

fn judged(
    check: &Check<'_>,
    options: &Options,
    device: &DeviceInfo,
    vulkan: Vulkan<'_>,
) -> Result<&'static str, String> {
    let words = naga_spirv(given(check), device)?;
    let vulkan = vulkan().map_err(|failure: Failure| failure.to_string())?;
    let vulkan = Instead { inner: &*vulkan, words: &words };
    match changed(check, options, &words, &vulkan) {
        Ok(true) => return Ok("naga: the SPIR-V that it makes gives what the shader does not permit"),
        Ok(false) => {}
        Err(why) => return Err(format!("the SPIR-V that naga makes is not understood: {why}")),
    }
    let alone = check.run(&vulkan).map_err(|error| error.to_string())?;
    match alone.status {
        Status::Pass | Status::QualityWarning => {
            Ok("wgpu: the driver is right on the SPIR-V that naga makes, if it is given it without wgpu")
        }
        Status::Fail | Status::Crash | Status::Timeout | Status::DeviceLost => Ok(
            "the driver: it fails on the SPIR-V that naga makes without wgpu, too, and the oracle finds nothing wrong with that SPIR-V",
        ),
        status => Err(format!("without wgpu it is {status:?}: {}", alone.reason.unwrap_or_default())),
    }
}

/// Whether naga's words give what the shader does not permit, by the rules of WGSL and as far as it is determined.
fn changed(check: &Check<'_>, options: &Options, words: &[u32], target: &dyn Target) -> Result<bool, String> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let subject = Subject::read("naga.spv", &bytes).map_err(|error| error.to_string())?;
    // Names of bindings need not have survived, and constants have their values.
    let theirs = Options {
        inputs: Vec::new(),
        push: None,
        elements: Vec::new(),
        specs: Vec::new(),
        expectations: Vec::new(),
        ..options.clone()
    };
    let theirs = Check::new(&subject, &theirs).map_err(|error| error.to_string())?;
    let result = against(check, &theirs, target).map_err(|error| error.to_string())?;
    Ok(result.status == Status::Fail)
}

/// A target that is given naga's words instead of the shader's, and judged by WGSL's rules all the same.
struct Instead<'a> {
    inner: &'a dyn Target,
    words: &'a [u32],
}

impl Target for Instead<'_> {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn rules(&self) -> Rules {
        Rules::Wgsl
    }

    fn have(&self) -> &Have {
        self.inner.have()
    }

    fn begin(&self, round: u32) {
        self.inner.begin(round);
    }

    fn run(&self, job: &Job<'_>) -> Result<Left, TargetError> {
        self.inner.run(&Job { wgsl: None, words: self.words, specs: &[], ..*job })
    }

    fn with_device(&self, during: &'static str, work: &mut DeviceWork<'_>) -> Result<(), TargetError> {
        self.inner.with_device(during, work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_oracle::Resource;
    use assay_spirv::need::ApiVersion;
    use assay_suite::NoDevice;
    use std::{collections::BTreeMap, time::Duration};

    const SHADER: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = id.x * 2u; }";

    /// A device that computes the shader, and adds something.
    struct Doubling {
        info: DeviceInfo,
        have: Have,
        more: u32,
    }

    impl Target for Doubling {
        fn info(&self) -> &DeviceInfo {
            &self.info
        }

        fn have(&self) -> &Have {
            &self.have
        }

        fn run(&self, job: &Job<'_>) -> Result<Left, TargetError> {
            assert!(job.wgsl.is_none(), "it is given naga's words");
            let doubled =
                |bytes: usize| (0..bytes as u32 / 4).flat_map(|i| (2 * i + self.more).to_le_bytes()).collect();
            let memory = job.dispatch.bindings.iter().map(|(slot, resource)| match resource {
                Resource::Buffer(buffer) => (*slot, doubled(buffer.data.len())),
                other => panic!("{other:?}"),
            });
            Ok(Left { memory: memory.collect::<BTreeMap<_, _>>(), taken: Duration::ZERO })
        }
    }

    fn with_check<R>(work: impl FnOnce(&Check<'_>, &Options) -> R) -> R {
        let subject = Subject::read("shader.wgsl", SHADER.as_bytes()).expect("a shader");
        let options = Options { rules: Rules::Wgsl, ..Options::default() };
        work(&Check::new(&subject, &options).expect("ready"), &options)
    }

    fn info() -> DeviceInfo {
        DeviceInfo { api_version: "1.3.0".to_owned(), ..Target::info(&NoDevice::default()).clone() }
    }

    fn doubling(more: u32) -> Doubling {
        let mut have = Have { api_version: ApiVersion::v1(3), ..Have::default() };
        for limit in ["maxComputeWorkGroupInvocations", "maxComputeSharedMemorySize"] {
            have.properties.insert(limit.to_owned(), 1 << 15);
        }
        for axis in ["X", "Y", "Z"] {
            have.properties.insert(format!("maxComputeWorkGroupSize{axis}"), 1 << 10);
        }
        Doubling { info: info(), have, more }
    }

    #[test]
    fn a_driver_that_is_wrong_without_wgpu_is_at_fault_and_one_that_is_right_is_not() {
        for (more, who) in [(0, "at fault: wgpu: the driver is right"), (1, "at fault: the driver: it fails")] {
            let vulkan = || -> Result<Box<dyn Target>, Failure> { Ok(Box::new(doubling(more))) };
            let told = with_check(|check, options| blame(check, options, &info(), &vulkan));
            assert!(told.starts_with(who), "{told}");
        }
        let none = || -> Result<Box<dyn Target>, Failure> { Err(crate::exit::usage("it is gone")) };
        let told = with_check(|check, options| blame(check, options, &info(), &none));
        assert_eq!(told, "at fault: not found out: it is gone");
    }

    #[test]
    fn a_translation_that_changes_the_result_is_told() {
        let words = |text: &str| {
            let subject = Subject::read("other.wgsl", text.as_bytes()).expect("a shader");
            naga_spirv(Given::Wgsl(subject.wgsl().expect("WGSL")), &info()).expect("translated")
        };
        let (same, other) = (words(SHADER), words(&SHADER.replace("2u", "3u")));
        with_check(|check, options| {
            assert_eq!(changed(check, options, &same, &doubling(0)), Ok(false));
            assert_eq!(changed(check, options, &other, &doubling(0)), Ok(true));
        });
    }
}
