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
