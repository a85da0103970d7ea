//! Whether there is anything to run on.

use crate::common::assay;

/// Whether there is a device; says so where there is none.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
pub(crate) fn device() -> bool {
    let found = assay(&["devices"]).code == 0;
    if !found {
        assert!(std::env::var_os("ASSAY_TEST_ALL_DRIVERS").is_none(), "a device is expected here");
        eprintln!("skipped: no Vulkan device");
    }
    found
}
