//! Plans and runs cases; emits events, prints nothing.
