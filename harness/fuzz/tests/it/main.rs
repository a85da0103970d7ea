//! Tests of random programs against a synthetic device.

mod programs;
