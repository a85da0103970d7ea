//! What is known of a panic that was caught.

use std::any::Any;

/// What a panic said, of what `catch_unwind` gives.
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
