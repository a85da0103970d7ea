//! The software drivers that tests run on.

use crate::skip_missing;
use std::fmt::Display;

/// Calls `test` with the device of each software driver, found by its name. A missing driver is a
/// missing part of the test.
pub fn on_software_drivers<D, E: Display>(devices: Result<Vec<D>, E>, name: impl Fn(&D) -> &str, test: impl Fn(&D)) {
    let devices = match devices {
        Ok(devices) => devices,
        Err(error) => return skip_missing(&error.to_string()),
    };
    for driver in ["llvmpipe", "SwiftShader"] {
        match devices.iter().find(|device| name(device).contains(driver)) {
            Some(device) => test(device),
            None => skip_missing(&format!("no {driver} among the devices")),
        }
    }
}
