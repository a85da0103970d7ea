//! Costs of the enclosures.

fn main() {}
