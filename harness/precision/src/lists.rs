//! Lists of instructions that must respect an execution mode.

/// Lists in "Precision and Operation of SPIR-V Instructions" that name the instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lists {
    /// Must respect `DenormFlushToZero`.
    pub(crate) flush: bool,
    /// Must respect `DenormPreserve`.
    pub(crate) preserve: bool,
    /// Must respect `SignedZeroInfNanPreserve`.
    pub(crate) special: bool,
}

impl Lists {
    pub(crate) const NONE: Lists = Lists { flush: false, preserve: false, special: false };
    pub(crate) const FLUSH: Lists = Lists { flush: true, ..Lists::NONE };
    pub(crate) const PRESERVE: Lists = Lists { preserve: true, ..Lists::NONE };
    pub(crate) const SPECIAL: Lists = Lists { special: true, ..Lists::NONE };
    pub(crate) const FLUSH_PRESERVE: Lists = Lists { flush: true, preserve: true, special: false };
    pub(crate) const FLUSH_SPECIAL: Lists = Lists { flush: true, preserve: false, special: true };
    pub(crate) const PRESERVE_SPECIAL: Lists = Lists { flush: false, preserve: true, special: true };
    pub(crate) const ALL: Lists = Lists { flush: true, preserve: true, special: true };
}
