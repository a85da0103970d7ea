//! A Vulkan driver for tests, which is never installed. It wraps another driver and plants one
//! named fault in shaders and calls. A suite thus runs on a driver with the defect that it exists
//! to find, and everything between the suite and the driver is as in any run.
//!
//! The loader finds the library by its [`manifest`]. [`DRIVER_VARIABLE`] gives the wrapped driver's
//! manifest, [`FAULT_VARIABLE`] the [`DriverFault`]. Without a fault every call reaches the wrapped
//! driver unchanged.
//!
//! Handles are those of the wrapped driver. Only the functions that a fault needs are replaced, so
//! a fault sees only the modules and the arguments of single calls.

mod composites;
mod driver;
mod fault;
mod floats;
mod hooks;
mod indices;

pub use fault::{DriverFault, UnknownFault};

use ash::vk;
use std::ffi::{CStr, c_char};
use std::io::Write;
use std::path::Path;

/// Environment variable with the path of the wrapped driver's manifest.
pub const DRIVER_VARIABLE: &str = "ASSAY_SHIM_DRIVER";

/// Environment variable with the name of the fault.
pub const FAULT_VARIABLE: &str = "ASSAY_SHIM_FAULT";

/// Environment variable with the path of a file, to which the shim appends a byte for every module
/// and every call that the fault changes; optional. Without a byte in it, the fault was not planted
/// anywhere, and the results of the run show nothing.
pub const RECORD_VARIABLE: &str = "ASSAY_SHIM_RECORD";

/// The library's file name, next to the programs that depend on this crate.
pub const LIBRARY_FILE: &str = "libassay_shim.so";

/// Returns the manifest for the library at a path.
pub fn manifest(library: &Path) -> String {
    format!(
        "{{\"file_format_version\": \"1.0.0\", \"ICD\": {{\"library_path\": \"{}\", \"api_version\": \"1.3.0\"}}}}\n",
        library.display()
    )
}

/// Agrees with the loader on a version of their interface, and loads the wrapped driver.
///
/// # Safety
/// `version` points to a writable number.
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

/// Returns a function of the wrapped driver, or its replacement.
///
/// # Safety
/// `instance` is null or a handle of this driver, and `name` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetInstanceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    let shim = driver::shim().ok()?;
    // SAFETY: the wrapped driver's function with the loader's arguments.
    let own = unsafe { (shim.driver.get_instance)(instance, name) }?;
    // SAFETY: the loader passes a string.
    Some(hooks::replacement(unsafe { CStr::from_ptr(name) }, own, shim))
}

/// Returns a function of the wrapped driver that takes a physical device, or its replacement.
///
/// # Safety
/// As for [`vk_icdGetInstanceProcAddr`].
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetPhysicalDeviceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    let shim = driver::shim().ok()?;
    // SAFETY: the wrapped driver's function with the loader's arguments.
    let own = unsafe { (shim.driver.get_physical?)(instance, name) }?;
    // SAFETY: the loader passes a string.
    Some(hooks::replacement(unsafe { CStr::from_ptr(name) }, own, shim))
}

/// Records that the fault has changed a module or a call.
pub(crate) fn record() {
    let Some(path) = std::env::var_os(RECORD_VARIABLE).filter(|path| !path.is_empty()) else { return };
    let file = std::fs::OpenOptions::new().append(true).create(true).open(&path);
    if let Err(error) = file.and_then(|mut file| file.write_all(b".")) {
        complain(format_args!("cannot write {}, the path in {RECORD_VARIABLE}: {error}", path.display()));
    }
}

/// Prints why the shim does not work.
#[expect(clippy::print_stderr, reason = "a driver has no other way to say what is wrong with its configuration")]
fn complain(why: impl std::fmt::Display) {
    eprintln!("assay-shim: {why}");
}
