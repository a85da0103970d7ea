//! Relation of a set of results to the exact union.

/// Relation of a set to the union over all members of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tightness {
    /// The set is the union.
    Union,
    /// The set has the least and greatest member, the NaN and the "anything" of the union. Values
    /// between may be members of the set alone.
    Hull,
    /// The set contains the union.
    Enclosure,
}
