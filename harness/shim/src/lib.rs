//! A Vulkan driver for tests, never installed. It wraps another driver and plants one named fault in the shaders and calls on
//! their way to it. A suite is thus run on a driver that has the defect for which the suite exists, with everything between
//! the suite and the driver as in any run.
//!
//! The loader finds the library by its [`manifest`]. [`DRIVER`] names the wrapped driver's manifest; [`FAULT`] names the
//! [`Fault`]. Without a fault every call reaches the wrapped driver unchanged.
//!
//! Handles are the wrapped driver's own. Only the functions that a fault needs are replaced, so a fault sees no more of a
//! program than its modules and the arguments of single calls.

mod calls;
mod composites;
mod driver;
mod fault;
mod floats;
mod indices;

pub use fault::{Fault, UnknownFault};

use ash::vk;
use std::ffi::{CStr, c_char};
use std::io::Write;
use std::path::Path;

/// The environment variable that holds the path of the wrapped driver's manifest.
pub const DRIVER: &str = "ASSAY_SHIM_DRIVER";

/// The environment variable that holds the name of the fault.
pub const FAULT: &str = "ASSAY_SHIM_FAULT";

/// The environment variable that may hold the path of a file to which a byte is appended for every module and every call that the fault
/// changes. Without a byte in it the fault was nowhere to be planted, and what a run found says nothing of it.
pub const RECORD: &str = "ASSAY_SHIM_RECORD";

/// The library's file name, beside the programs that depend on this crate.
pub const LIBRARY: &str = "libassay_shim.so";

/// The manifest for the library at a path.
pub fn manifest(library: &Path) -> String {
    format!(
        "{{\"file_format_version\": \"1.0.0\", \"ICD\": {{\"library_path\": \"{}\", \"api_version\": \"1.3.0\"}}}}\n",
        library.display()
    )
}

/// Agrees with the loader on a version of their interface, and loads the wrapped driver.
///
/// # Safety
/// `version` is what the loader passes: a number that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdNegotiateLoaderICDInterfaceVersion(version: *mut u32) -> vk::Result {
    match driver::shim() {
        // SAFETY: the wrapped driver's function with the loader's argument.
        Ok(shim) => unsafe { (shim.driver.negotiate)(version) },
        Err(error) => {
            complain(error);
            vk::Result::ERROR_INCOMPATIBLE_DRIVER
        }
    }
}

/// Returns a function of the wrapped driver, or the one that stands in its place.
///
/// # Safety
/// `instance` and `name` are what the loader passes: null or a handle of this driver, and a string.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetInstanceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    let shim = driver::shim().ok()?;
    // SAFETY: the wrapped driver's function with the loader's arguments.
    let own = unsafe { (shim.driver.get_instance)(instance, name) }?;
    // SAFETY: the loader passes a string.
    Some(calls::instead(unsafe { CStr::from_ptr(name) }, own, shim))
}

/// Returns a function of the wrapped driver that takes a physical device, or the one that stands in its place.
///
/// # Safety
/// As of [`vk_icdGetInstanceProcAddr`].
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetPhysicalDeviceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    let shim = driver::shim().ok()?;
    // SAFETY: the wrapped driver's function with the loader's arguments.
    let own = unsafe { (shim.driver.get_physical?)(instance, name) }?;
    // SAFETY: the loader passes a string.
    Some(calls::instead(unsafe { CStr::from_ptr(name) }, own, shim))
}

/// Records that the fault has changed a module or a call.
pub(crate) fn record() {
    let Some(path) = std::env::var_os(RECORD).filter(|path| !path.is_empty()) else { return };
    let file = std::fs::OpenOptions::new().append(true).create(true).open(&path);
    if let Err(error) = file.and_then(|mut file| file.write_all(b".")) {
        complain(format_args!("{}, which {RECORD} names, cannot be written: {error}", path.display()));
    }
}

/// Says why the shim does not work: there is no other way to be heard by whoever runs a test.
#[expect(clippy::print_stderr, reason = "a driver has no other way to say what is wrong with its configuration")]
fn complain(why: impl std::fmt::Display) {
    eprintln!("assay-shim: {why}");
}
