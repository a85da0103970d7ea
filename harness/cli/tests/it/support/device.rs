//! Detection of a device to run on.

use super::assay;

/// Returns true if there is a device; otherwise prints that the test is skipped.
pub(crate) fn device() -> bool {
    let found = assay(&["devices"]).code == 0;
    if !found {
        assay_testkit::skip_missing("no Vulkan device");
    }
    found
}
