//! Fields that results leave out: predicates for `skip_serializing_if` of serde.

/// Returns true for false; serde passes a reference.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

/// Returns true for zero; serde passes a reference.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}
