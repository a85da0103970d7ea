//! Runs with injected faults: each failure is attributed to its case, and no result is lost.

mod charge;
mod endless;
mod killed;
