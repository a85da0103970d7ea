//! Variants of a shader without the undefined behaviour that it may have.
//!
//! | variant | excludes |
//! |---|---|
//! | guards ([`guarded`]) | all of one invocation: accesses out of bounds, divisions, conversions |
//! | guards and atomic accesses ([`with_atomic_accesses`]) | data races and missed barriers, too |
//!
//! Both run with robust access.

use crate::atomic_accesses::with_atomic_accesses;
use crate::communication::Communication;
use crate::dispatch_setup::DispatchSetup;
use crate::operand_guards::guarded;
use assay_events::FaultExclusion;
use assay_oracle::PossibleFault;
use assay_spirv::Module;
use std::cell::OnceCell;

/// The variants of a shader in a dispatch.
pub(crate) struct DefinedVariants<'a> {
    module: &'a Module,
    setup: &'a DispatchSetup,
    pub(crate) communication: Communication<'a>,
    /// The variant with guards, or the reason why there is none.
    guarded: OnceCell<Result<Module, String>>,
    /// The variant with atomic accesses, too, or the reason why there is none.
    atomic: OnceCell<Result<Module, String>>,
}

impl<'a> DefinedVariants<'a> {
    pub(crate) fn new(module: &'a Module, setup: &'a DispatchSetup) -> DefinedVariants<'a> {
        let communication = Communication::find(module, &setup.entry, setup.size());
        DefinedVariants { module, setup, communication, guarded: OnceCell::new(), atomic: OnceCell::new() }
    }

    /// Returns the means that exclude a possible fault, and all other undefined behaviour that may follow
    /// from it; `None` if there are none.
    pub(crate) fn excluding(&self, fault: &PossibleFault) -> Option<FaultExclusion> {
        self.exclusion(self.communication.can_exclude(fault))
    }

    /// Returns the means that exclude all undefined behaviour; `None` if there are none.
    pub(crate) fn excluding_all(&self) -> Option<FaultExclusion> {
        self.exclusion(self.communication.can_exclude_all())
    }

    fn exclusion(&self, suffices_to_guard: bool) -> Option<FaultExclusion> {
        match suffices_to_guard {
            true => Some(FaultExclusion::Guards),
            false => self.atomic().is_ok().then_some(FaultExclusion::AtomicAccesses),
        }
    }

    /// Returns the variant with these means; without any, fails with the reason.
    ///
    /// # Errors
    /// The shader has no such variant.
    pub(crate) fn variant(&self, by: Option<FaultExclusion>) -> Result<&Module, &String> {
        match by {
            Some(FaultExclusion::Guards) => self.guarded(),
            _ => self.atomic(),
        }
    }

    fn guarded(&self) -> Result<&Module, &String> {
        self.guarded.get_or_init(|| guarded(self.module)).as_ref()
    }

    fn atomic(&self) -> Result<&Module, &String> {
        let setup = self.setup;
        let make = || with_atomic_accesses(self.guarded().map_err(Clone::clone)?, &setup.entry, setup.size());
        self.atomic.get_or_init(make).as_ref()
    }
}
