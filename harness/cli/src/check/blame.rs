//! Who is at fault where a shader fails through wgpu: naga, which translates it, the driver, or wgpu between them.
//!
//! Two questions tell them apart. Does the SPIR-V that naga makes permit only what the shader permits? That the oracle answers, without a
//! device. Does the driver compute that SPIR-V right if wgpu does not hand it over?

use super::plan::Vulkan;
use crate::exit::Failure;
use assay_check::{
    Check, DeviceWork, Job, Left, Options, Subject, Target, TargetError, Translated, against, options_of_translation,
    translated,
};
use assay_oracle::{Dispatch, Robustness};
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
    if alone.status == Status::Fail {
        match left_open(check, options, &vulkan)? {
            Translated::Wrong => {}
            Translated::Open => {
                return Ok(
                    "naga: it relies on what Vulkan leaves open: by Vulkan's rules the driver may do with the SPIR-V that it makes what \
                           it does",
                );
            }
            Translated::Unknown => {
                return Err("what Vulkan permits of the SPIR-V that naga makes is not determined".to_owned());
            }
        }
    }
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
    let options = Options { rules: Rules::Wgsl, ..options.clone() };
    with_words(check, words, &options, |theirs| {
        let result = against(check, theirs, target).map_err(|error| error.to_string())?;
        Ok(result.status == Status::Fail)
    })
}

/// How what the driver makes of naga's words stands to these, by the rules of Vulkan: no driver promises more.
fn left_open(check: &Check<'_>, options: &Options, driver: &Instead<'_>) -> Result<Translated, String> {
    let options = Options { rules: Rules::Vulkan, robustness: driver.robustness(), ..options.clone() };
    with_words(check, driver.words, &options, |theirs| translated(check, theirs, driver))
}

/// Does something with naga's words as a shader.
fn with_words<R>(
    check: &Check<'_>,
    words: &[u32],
    options: &Options,
    work: impl FnOnce(&Check<'_>) -> Result<R, String>,
) -> Result<R, String> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let subject = Subject::read("naga.spv", &bytes).map_err(|error| error.to_string())?;
    let theirs = options_of_translation(check, &subject, options);
    work(&Check::new(&subject, &theirs).map_err(|error| error.to_string())?)
}

/// A target that is given naga's words instead of the shader's.
struct Instead<'a> {
    inner: &'a dyn Target,
    words: &'a [u32],
}

impl Instead<'_> {
    fn robustness(&self) -> Robustness {
        let has = |names: [&str; 2]| names.iter().all(|name| self.have().features.contains(*name));
        match (has(["robustBufferAccess", "robustImageAccess"]), has(["robustBufferAccess2", "robustImageAccess2"])) {
            (true, true) => Robustness::Access2,
            (true, false) => Robustness::Access,
            (false, _) => Robustness::None,
        }
    }
}

impl Target for Instead<'_> {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn have(&self) -> &Have {
        self.inner.have()
    }

    fn begin(&self, round: u32) {
        self.inner.begin(round);
    }

    fn run(&self, job: &Job<'_>) -> Result<Left, TargetError> {
        // As wgpu opens the device: naga leaves checks to it that it has.
        let dispatch = Dispatch { robustness: self.robustness(), ..job.dispatch.clone() };
        self.inner.run(&Job { wgsl: None, words: self.words, specs: &[], dispatch: &dispatch, ..*job })
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

    /// A device that leaves a function of each element's place.
    struct Leaving<F> {
        info: DeviceInfo,
        have: Have,
        leaves: F,
    }

    impl<F: Fn(u32) -> u32> Target for Leaving<F> {
        fn info(&self) -> &DeviceInfo {
            &self.info
        }

        fn have(&self) -> &Have {
            &self.have
        }

        fn run(&self, job: &Job<'_>) -> Result<Left, TargetError> {
            assert!(job.wgsl.is_none(), "it is given naga's words");
            let left = |bytes: usize| (0..bytes as u32 / 4).flat_map(|i| (self.leaves)(i).to_le_bytes()).collect();
            let memory = job.dispatch.bindings.iter().map(|(slot, resource)| match resource {
                Resource::Buffer(buffer) => (*slot, left(buffer.data.len())),
                other => panic!("{other:?}"),
            });
            Ok(Left { memory: memory.collect::<BTreeMap<_, _>>(), taken: Duration::ZERO })
        }
    }

    fn with_check<R>(text: &str, work: impl FnOnce(&Check<'_>, &Options) -> R) -> R {
        let subject = Subject::read("shader.wgsl", text.as_bytes()).expect("a shader");
        let options = Options { rules: Rules::Wgsl, ..Options::default() };
        work(&Check::new(&subject, &options).expect("ready"), &options)
    }

    fn info() -> DeviceInfo {
        DeviceInfo { api_version: "1.3.0".to_owned(), ..Target::info(&NoDevice::default()).clone() }
    }

    fn leaving<F: Fn(u32) -> u32>(leaves: F) -> Leaving<F> {
        let mut have = Have { api_version: ApiVersion::v1(3), ..Have::default() };
        for limit in ["maxComputeWorkGroupInvocations", "maxComputeSharedMemorySize"] {
            have.properties.insert(limit.to_owned(), 1 << 15);
        }
        for axis in ["X", "Y", "Z"] {
            have.properties.insert(format!("maxComputeWorkGroupSize{axis}"), 1 << 10);
        }
        Leaving { info: info(), have, leaves }
    }

    #[test]
    fn a_driver_that_is_wrong_without_wgpu_is_at_fault_and_one_that_is_right_is_not() {
        for (more, who) in [(0, "at fault: wgpu: the driver is right"), (1, "at fault: the driver: it fails")] {
            let vulkan = || -> Result<Box<dyn Target>, Failure> { Ok(Box::new(leaving(move |i| 2 * i + more))) };
            let told = with_check(SHADER, |check, options| blame(check, options, &info(), &vulkan));
            assert!(told.starts_with(who), "{told}");
        }
        let none = || -> Result<Box<dyn Target>, Failure> { Err(crate::exit::usage("it is gone")) };
        let told = with_check(SHADER, |check, options| blame(check, options, &info(), &none));
        assert_eq!(told, "at fault: not found out: it is gone");
    }

    /// naga writes shifts as they are: of those by more than the width Vulkan says nothing, so that no driver is wrong.
    #[test]
    fn a_driver_is_not_at_fault_for_what_naga_leaves_to_it() {
        let shader = SHADER.replace("id.x * 2u", "5u << (id.x + 30u)");
        let shifted = |i: u32| 5u32.wrapping_shl(i + 30);
        let told = |leaves: fn(u32, u32) -> u32| {
            let vulkan =
                || -> Result<Box<dyn Target>, Failure> { Ok(Box::new(leaving(move |i| leaves(i, shifted(i))))) };
            with_check(&shader, |check, options| blame(check, options, &info(), &vulkan))
        };
        let open = told(|i, right| if i < 2 { right } else { 0 });
        assert!(open.starts_with("at fault: naga: it relies on what Vulkan leaves open"), "{open}");
        // The first two shifts are less than the width.
        let wrong = told(|_, _| 0);
        assert!(wrong.starts_with("at fault: the driver"), "{wrong}");
        assert!(told(|_, right| right).starts_with("at fault: wgpu"));
    }

    #[test]
    fn a_translation_that_changes_the_result_is_told() {
        let words = |text: &str| {
            let subject = Subject::read("other.wgsl", text.as_bytes()).expect("a shader");
            naga_spirv(Given::Wgsl(subject.wgsl().expect("WGSL")), &info()).expect("translated")
        };
        let (same, other) = (words(SHADER), words(&SHADER.replace("2u", "3u")));
        with_check(SHADER, |check, options| {
            assert_eq!(changed(check, options, &same, &leaving(|i| 2 * i)), Ok(false));
            assert_eq!(changed(check, options, &other, &leaving(|i| 2 * i)), Ok(true));
        });
    }
}
