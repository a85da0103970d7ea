//! Encoding of pointers to memory objects in 64-bit registers.
//!
//! A pointer is the number of its object times [`OBJECT`], plus the offset in bytes from the first
//! byte. Offsets may be negative: half of the range around an object's first byte belongs to
//! offsets below zero. The largest [`OUTSIDES`] numbers are pointers without an object.

/// Distance of the first bytes of two objects.
pub(crate) const OBJECT: u64 = 1 << 40;

/// Largest distance in bytes by which an index of an array without a length moves a pointer: far
/// beyond the end of every buffer, and still nearer than the next object.
pub(crate) const FAR: i64 = (OBJECT / 4).cast_signed();

/// Returns true if an index moves a pointer by at most [`FAR`].
pub(crate) fn is_near(index: u64, stride: u64) -> bool {
    (-FAR..=FAR).contains(&index.cast_signed().saturating_mul(stride.cast_signed()))
}

/// The number of a pointer's object, and the offset from its first byte, which is negative after an
/// index below zero.
#[inline]
pub(crate) const fn counted(pointer: u64) -> (u64, i64) {
    let number = pointer.saturating_add(OBJECT / 2) / OBJECT;
    (number, pointer.wrapping_sub(number * OBJECT).cast_signed())
}

/// Largest number of objects; greater numbers are not objects.
pub(crate) const OBJECTS: u64 = 1 << 22;

/// The pointer that follows from an index outside its array, if the index is not recorded.
pub(crate) const OUTSIDE: u64 = u64::MAX;

/// Number of pointers without an object, from [`OUTSIDE`] down. Apart from the first one and the
/// two below, each stands for a recorded index.
const OUTSIDES: u64 = 1 << 12;

/// The null pointer of logical addressing, which "will not equal the pointer value formed from any
/// declared object".
pub(crate) const NULL: u64 = OUTSIDE - (OUTSIDES - 1);

/// Result of an access chain on a null pointer. It refers to no memory, and the text does not say
/// whether it equals any pointer.
pub(crate) const FROM_NULL: u64 = NULL + 1;

/// For a pointer without an object, the number of its recorded index, from 1, or 0.
#[inline(always)]
pub(crate) const fn outside(pointer: u64) -> Option<usize> {
    let which = OUTSIDE - pointer;
    if which < OUTSIDES { Some(which as usize) } else { None }
}
