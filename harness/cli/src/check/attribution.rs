//! Attribution of a failure through wgpu to naga (the translator), the driver, or wgpu.
//!
//! Two tests distinguish them:
//!
//! 1. Equivalence: does naga's SPIR-V permit only results that the shader permits? The oracle
//!    decides this without a device. If not, naga is at fault.
//! 2. Isolation: does the driver return permitted results for naga's SPIR-V without wgpu? If it
//!    does, wgpu is at fault. If it does not, but Vulkan permits its results for that SPIR-V, naga
//!    relies on unspecified behaviour. Otherwise the driver is at fault.

use crate::exit::Failure;
use assay_check::{
    Check, Options, ShaderSource, TranslationVerdict, check_equivalence, check_translation_of_target,
    translation_options,
};
use assay_events::{DeviceInfo, Status};
use assay_exec::{DispatchOutput, DispatchRequest, Target, TargetError};
use assay_oracle::{Dispatch, Robustness};
use assay_precision::Specification;
use assay_spirv_rules::requirements::DeviceCaps;
use assay_wgpu_exec::{NagaInput, naga_spirv};

/// Opens the Vulkan device beneath a device of wgpu.
pub(super) type OpenVulkan<'a> = &'a dyn Fn() -> Result<Box<dyn Target + 'a>, Failure>;

/// Start of a note with an attribution.
pub(super) const AT_FAULT: &str = "at fault: ";

/// Returns the shader as wgpu receives it.
pub(super) fn wgpu_input<'a>(check: &'a Check<'_>) -> NagaInput<'a> {
    match check.shader.wgsl() {
        Some(wgsl) => NagaInput::Wgsl(wgsl),
        None => NagaInput::Spirv(check.shader.source.module.words(), &check.setup.specs),
    }
}

/// Returns a note that names the component at fault; `device` is the device that failed through
/// wgpu.
pub(super) fn attribute(check: &Check<'_>, options: &Options, device: &DeviceInfo, vulkan: OpenVulkan<'_>) -> String {
    let component = find_culprit(check, options, device, vulkan);
    component.map_or_else(|reason| format!("{AT_FAULT}unknown: {reason}"), |component| format!("{AT_FAULT}{component}"))
}

/// Returns the component at fault with the reason.
///
/// # Errors
/// The reason why it cannot be determined.
fn find_culprit(
    check: &Check<'_>,
    options: &Options,
    device: &DeviceInfo,
    vulkan: OpenVulkan<'_>,
) -> Result<&'static str, String> {
    let words = naga_spirv(wgpu_input(check), device)?;
    let vulkan = vulkan().map_err(|failure: Failure| failure.to_string())?;
    let vulkan = NagaTarget { inner: &*vulkan, words: &words };
    match translation_is_wrong(check, options, &words, &vulkan) {
        Ok(true) => return Ok("naga: its SPIR-V permits results that the shader does not permit"),
        Ok(false) => {}
        Err(reason) => return Err(format!("cannot interpret naga's SPIR-V: {reason}")),
    }
    let alone = check.run(&vulkan).map_err(|error| error.to_string())?;
    if alone.status == Status::Fail {
        match permitted_by_vulkan(check, options, &vulkan)? {
            TranslationVerdict::NotPermitted => {}
            TranslationVerdict::Permitted => {
                return Ok(
                    "naga: its SPIR-V relies on behaviour that Vulkan leaves unspecified; the driver's result is allowed for that SPIR-V",
                );
            }
            TranslationVerdict::Unknown => {
                return Err("the results that Vulkan permits for naga's SPIR-V cannot be determined".to_owned());
            }
        }
    }
    match alone.status {
        Status::Pass | Status::QualityWarning => {
            Ok("wgpu: without it, the driver returns permitted results for naga's SPIR-V")
        }
        Status::Fail | Status::Crash | Status::Timeout | Status::DeviceLost => {
            Ok("the driver: it also fails on naga's SPIR-V without wgpu, and Assay finds no error in that SPIR-V")
        }
        status => Err(format!("without wgpu the status is {status:?}: {}", alone.reason.unwrap_or_default())),
    }
}

/// Returns true if naga's SPIR-V permits a result that the shader does not permit under WGSL's
/// rules. Undetermined elements do not count.
fn translation_is_wrong(
    check: &Check<'_>,
    options: &Options,
    words: &[u32],
    target: &dyn Target,
) -> Result<bool, String> {
    let options = Options { rules: Specification::Wgsl, ..options.clone() };
    with_words(check, words, &options, |theirs| {
        let result = check_equivalence(check, theirs, target).map_err(|error| error.to_string())?;
        Ok(result.status == Status::Fail)
    })
}

/// Compares the driver's results for naga's SPIR-V with the results that Vulkan permits for that
/// SPIR-V.
fn permitted_by_vulkan(
    check: &Check<'_>,
    options: &Options,
    driver: &NagaTarget<'_>,
) -> Result<TranslationVerdict, String> {
    let options = Options { rules: Specification::Vulkan, robustness: Some(driver.robustness()), ..options.clone() };
    with_words(check, driver.words, &options, |theirs| check_translation_of_target(check, theirs, driver))
}

/// Calls `work` with a check of naga's SPIR-V.
fn with_words<R>(
    check: &Check<'_>,
    words: &[u32],
    options: &Options,
    work: impl FnOnce(&Check<'_>) -> Result<R, String>,
) -> Result<R, String> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let subject = ShaderSource::read("naga.spv", &bytes).map_err(|error| error.to_string())?;
    let theirs = translation_options(check, &subject, options);
    work(&Check::new(&subject, &theirs).map_err(|error| error.to_string())?)
}

/// Target that runs naga's SPIR-V in place of the shader's own module.
struct NagaTarget<'a> {
    inner: &'a dyn Target,
    words: &'a [u32],
}

impl NagaTarget<'_> {
    /// Returns the strongest robustness that the device offers.
    fn robustness(&self) -> Robustness {
        let has = |names: [&str; 2]| names.iter().all(|name| self.capabilities().features.contains(*name));
        match (has(["robustBufferAccess", "robustImageAccess"]), has(["robustBufferAccess2", "robustImageAccess2"])) {
            (true, true) => Robustness::Access2,
            (true, false) => Robustness::Access,
            (false, _) => Robustness::None,
        }
    }
}

impl Target for NagaTarget<'_> {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        self.inner.capabilities()
    }

    fn begin_round(&self, round: u32, excuse: Option<&str>) {
        self.inner.begin_round(round, excuse);
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        // wgpu enables robustness, and naga omits the checks that the device then makes.
        let dispatch = Dispatch { robustness: self.robustness(), ..request.dispatch.clone() };
        self.inner.run(&DispatchRequest { wgsl: None, words: self.words, specs: &[], dispatch: &dispatch, ..*request })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_oracle::Resource;
    use assay_spirv_rules::requirements::ApiVersion;
    use assay_suite::NoDevice;
    use std::collections::BTreeMap;

    const SHADER: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = id.x * 2u; }";

    /// Device whose output is a function of each element's index.
    struct FakeTarget<F> {
        info: DeviceInfo,
        caps: DeviceCaps,
        output: F,
    }

    impl<F: Fn(u32) -> u32> Target for FakeTarget<F> {
        fn info(&self) -> &DeviceInfo {
            &self.info
        }

        fn capabilities(&self) -> &DeviceCaps {
            &self.caps
        }

        fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
            assert!(request.wgsl.is_none(), "the target receives naga's SPIR-V");
            let output = |bytes: usize| (0..bytes as u32 / 4).flat_map(|i| (self.output)(i).to_le_bytes()).collect();
            let memory = request.dispatch.bindings.iter().map(|(slot, resource)| match resource {
                Resource::Buffer(buffer) => (*slot, output(buffer.data.len())),
                other => panic!("{other:?}"),
            });
            Ok(DispatchOutput { memory: memory.collect::<BTreeMap<_, _>>(), ..DispatchOutput::default() })
        }
    }

    fn with_check<R>(text: &str, work: impl FnOnce(&Check<'_>, &Options) -> R) -> R {
        let subject = ShaderSource::read("shader.wgsl", text.as_bytes()).expect("a shader");
        let options = Options { rules: Specification::Wgsl, ..Options::default() };
        work(&Check::new(&subject, &options).expect("ready"), &options)
    }

    fn info() -> DeviceInfo {
        DeviceInfo { api_version: "1.3.0".to_owned(), ..Target::info(&NoDevice::default()).clone() }
    }

    fn fake_target<F: Fn(u32) -> u32>(output: F) -> FakeTarget<F> {
        let mut caps = DeviceCaps { api_version: ApiVersion::v1(3), ..DeviceCaps::default() };
        for limit in ["maxComputeWorkGroupInvocations", "maxComputeSharedMemorySize"] {
            caps.properties.insert(limit.to_owned(), 1 << 15);
        }
        for axis in ["X", "Y", "Z"] {
            caps.properties.insert(format!("maxComputeWorkGroupSize{axis}"), 1 << 10);
        }
        FakeTarget { info: info(), caps, output }
    }

    #[test]
    fn the_driver_is_at_fault_only_if_it_is_also_wrong_without_wgpu() {
        for (error, expected) in [(0, "at fault: wgpu: without it"), (1, "at fault: the driver: it also fails")] {
            let vulkan = || -> Result<Box<dyn Target>, Failure> { Ok(Box::new(fake_target(move |i| 2 * i + error))) };
            let note = with_check(SHADER, |check, options| attribute(check, options, &info(), &vulkan));
            assert!(note.starts_with(expected), "{note}");
        }
        let none = || -> Result<Box<dyn Target>, Failure> { Err(crate::exit::usage("no such device")) };
        let note = with_check(SHADER, |check, options| attribute(check, options, &info(), &none));
        assert_eq!(note, "at fault: unknown: no such device");
    }

    /// naga translates shifts without a check of the distance. Vulkan does not define shifts by the
    /// width or more, so every result of the driver is permitted for naga's SPIR-V.
    #[test]
    fn the_driver_is_not_at_fault_for_behaviour_that_vulkan_leaves_unspecified() {
        let shader = SHADER.replace("id.x * 2u", "5u << (id.x + 30u)");
        let shifted = |i: u32| 5u32.wrapping_shl(i + 30);
        let note_for = |output: fn(u32, u32) -> u32| {
            let vulkan =
                || -> Result<Box<dyn Target>, Failure> { Ok(Box::new(fake_target(move |i| output(i, shifted(i))))) };
            with_check(&shader, |check, options| attribute(check, options, &info(), &vulkan))
        };
        let unspecified = note_for(|i, right| if i < 2 { right } else { 0 });
        assert!(unspecified.starts_with("at fault: naga: its SPIR-V relies on behaviour"), "{unspecified}");
        // The first two shifts are by less than the width, so these results are wrong.
        let wrong = note_for(|_, _| 0);
        assert!(wrong.starts_with("at fault: the driver"), "{wrong}");
        assert!(note_for(|_, right| right).starts_with("at fault: wgpu"));
    }

    #[test]
    fn a_translation_with_other_results_is_wrong() {
        let words = |text: &str| {
            let subject = ShaderSource::read("other.wgsl", text.as_bytes()).expect("a shader");
            naga_spirv(NagaInput::Wgsl(subject.wgsl().expect("WGSL")), &info()).expect("translated")
        };
        let (same, other) = (words(SHADER), words(&SHADER.replace("2u", "3u")));
        with_check(SHADER, |check, options| {
            assert_eq!(translation_is_wrong(check, options, &same, &fake_target(|i| 2 * i)), Ok(false));
            assert_eq!(translation_is_wrong(check, options, &other, &fake_target(|i| 2 * i)), Ok(true));
        });
    }
}
