//! Panics of libraries, caught without a trace on the terminal.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f`. Panics of this thread print nothing meanwhile.
///
/// # Errors
/// The message of a panic.
pub(crate) fn caught<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_QUIET.get() {
                print(panic);
            }
        }));
    });
    let before = IS_QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    IS_QUIET.set(before);
    result.map_err(|payload| match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload.downcast::<&str>().map_or_else(|_| "no message".to_owned(), |text| (*text).to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message() {
        assert_eq!(caught(|| 3), Ok(3));
        assert_eq!(caught(|| panic!("not implemented")), Err::<(), _>("not implemented".to_owned()));
        assert_eq!(caught(|| panic!("{} of them", 2)), Err::<(), _>("2 of them".to_owned()));
        assert!(!IS_QUIET.get());
    }
}
