//! The wrapped driver and the fault, from the environment.

use crate::{DRIVER_VARIABLE, DriverFault, FAULT_VARIABLE, UnknownFault};
use ash::vk;
use libloading::Library;
use std::ffi::{OsString, c_char};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub(crate) type GetProcAddr = unsafe extern "system" fn(vk::Instance, *const c_char) -> vk::PFN_vkVoidFunction;

/// The functions that a driver exports for the loader.
pub(crate) struct Driver {
    pub(crate) negotiate: unsafe extern "system" fn(*mut u32) -> vk::Result,
    pub(crate) get_instance: GetProcAddr,
    pub(crate) get_physical: Option<GetProcAddr>,
    /// Keeps the functions loaded.
    _library: Library,
}

/// The wrapped driver and the planted fault.
pub(crate) struct Shim {
    pub(crate) driver: Driver,
    pub(crate) fault: Option<DriverFault>,
}

/// An error in the configuration of the shim.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShimError {
    #[error("{DRIVER_VARIABLE} is not set: set it to the manifest of the driver to be wrapped")]
    NoDriver,
    #[error("the manifest {path} cannot be read: {why}")]
    Manifest { path: String, why: String },
    #[error("the driver {library}: {source}")]
    Library { library: String, source: libloading::Error },
    #[error("{FAULT_VARIABLE}: {0}")]
    Fault(#[from] UnknownFault),
}

/// Returns the shim of this process, loading it on first use.
pub(crate) fn shim() -> Result<&'static Shim, &'static ShimError> {
    static SHIM: OnceLock<Result<Shim, ShimError>> = OnceLock::new();
    SHIM.get_or_init(load).as_ref()
}

fn load() -> Result<Shim, ShimError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let fault = set(FAULT_VARIABLE).map(|name| name.to_string_lossy().parse()).transpose()?;
    let manifest = PathBuf::from(set(DRIVER_VARIABLE).ok_or(ShimError::NoDriver)?);
    let library = library(&manifest)?;
    // SAFETY: a driver that the loader would load in the same way.
    let driver = unsafe { Driver::load(&library) };
    let driver = driver.map_err(|source| ShimError::Library { library: library.display().to_string(), source })?;
    Ok(Shim { driver, fault })
}

/// Returns the library that a manifest names. A path is relative to the manifest; the system
/// resolves a bare name.
fn library(manifest: &Path) -> Result<PathBuf, ShimError> {
    let wrong = |why: String| ShimError::Manifest { path: manifest.display().to_string(), why };
    let text = std::fs::read(manifest).map_err(|error| wrong(error.to_string()))?;
    let json: serde_json::Value = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    let named = json.pointer("/ICD/library_path").and_then(|path| path.as_str());
    let path = PathBuf::from(OsString::from(named.ok_or_else(|| wrong("it has no ICD.library_path".to_owned()))?));
    let is_name = path.components().count() == 1;
    Ok(if is_name { path } else { manifest.parent().unwrap_or(Path::new("")).join(path) })
}

impl Driver {
    /// Loads a driver.
    ///
    /// # Safety
    /// The library is a Vulkan driver.
    unsafe fn load(library: &Path) -> Result<Driver, libloading::Error> {
        // SAFETY: by the contract of this function, here and below; the exported functions have
        // these types in the loader's interface.
        let library = unsafe { Library::new(library) }?;
        // SAFETY: as above.
        let negotiate = unsafe { *library.get(b"vk_icdNegotiateLoaderICDInterfaceVersion\0")? };
        // SAFETY: as above.
        let get_instance = unsafe { *library.get(b"vk_icdGetInstanceProcAddr\0")? };
        // SAFETY: as above; drivers of older interfaces lack it.
        let get_physical = unsafe { library.get(b"vk_icdGetPhysicalDeviceProcAddr\0") }.ok().map(|symbol| *symbol);
        Ok(Driver { negotiate, get_instance, get_physical, _library: library })
    }
}
