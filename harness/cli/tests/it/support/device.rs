//! Detection of a device to run on.

use super::assay;

/// Returns true if there is a device; otherwise prints that the test is skipped.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
pub(crate) fn device() -> bool {
    let found = assay(&["devices"]).code == 0;
    if !found {
        assert!(std::env::var_os("ASSAY_TEST_ALL_DRIVERS").is_none(), "a device is expected here");
        eprintln!("skipped: no Vulkan device");
    }
    found
}
