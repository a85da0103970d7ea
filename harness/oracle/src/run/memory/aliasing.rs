//! Aliasing: descriptors that several variables refer to. SPIR-V, "Aliasing".
//!
//! "During the execution of an entry point, behavior is undefined if operations on two distinct
//! memory object declarations dynamically access the same memory locations (..), with at least one
//! of them performing a write, and at least one of the memory object declarations does not have the
//! Aliased decoration". The rules of the OpenCL memory model do not refer to variables, so kernels
//! are not checked.

use crate::outcome::FaultKind;
use crate::program::{Descriptors, Object};
use crate::rule_enforcement::named;
use crate::run::Run;
use std::collections::BTreeMap;
use std::ops::Range;

/// The objects that several variables refer to, at least one of which may write, and not all of
/// which are decorated `Aliased`.
#[derive(Clone, Debug, Default)]
pub(crate) struct AliasedObjects {
    shared: BTreeMap<usize, AliasedObject>,
}

/// One such object.
#[derive(Clone, Debug, Default)]
struct AliasedObject {
    names: Vec<Name>,
    /// For each byte, bit masks of the names by which it was accessed, and by which it was written.
    accessed: Vec<[u64; 2]>,
}

/// A variable's number for the object.
#[derive(Clone, Copy, Debug)]
struct Name {
    number: u64,
    aliased: bool,
    writable: bool,
}

impl AliasedObjects {
    /// Records that a variable refers to an object by a number.
    pub(in crate::run) fn name(&mut self, object: usize, number: u64, declared: &Object) {
        let of = declared.choice.map(|choice| choice.of);
        let stored = !matches!(of, Some(Descriptors::SampledImages | Descriptors::UniformTexelBuffers));
        let name = Name { number, aliased: declared.aliased, writable: declared.writable && stored };
        self.shared.entry(object).or_default().names.push(name);
    }

    /// Drops the objects to which the rule does not apply.
    pub(in crate::run) fn watch(&mut self) {
        self.shared.retain(|_, shared| {
            let any = |test: fn(&Name) -> bool| shared.names.iter().any(test);
            shared.names.len() > 1 && any(|name| name.writable) && any(|name| !name.aliased)
        });
    }

    /// Returns true if the rule applies to no object.
    #[inline]
    pub(in crate::run) fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    /// Records an access, and returns true if it conflicts with an earlier one.
    fn access(&mut self, object: usize, number: u64, bytes: Range<usize>, write: bool) -> bool {
        let Some(AliasedObject { names, accessed }) = self.shared.get_mut(&object) else { return false };
        let Some(own) = names.iter().position(|name| name.number == number) else { return false };
        // Names beyond the last bit share it, and one of them may be the accessing name.
        let bit = |at: usize| 1u64 << at.min(63);
        // Two names conflict unless both are `Aliased`.
        let strangers =
            names.iter().enumerate().filter(|(at, name)| *at != own && !(name.aliased && names[own].aliased));
        let strangers = strangers.fold(0, |all, (at, _)| all | bit(at)) & !bit(own);
        if accessed.len() < bytes.end {
            accessed.resize(bytes.end, [0; 2]);
        }
        let mut met = false;
        for [any, written] in &mut accessed[bytes] {
            met |= if write { *any } else { *written } & strangers != 0;
            *any |= bit(own);
            *written |= if write { bit(own) } else { 0 };
        }
        met
    }
}

impl Run<'_> {
    /// Records that a lane accesses bytes of an object by a variable's number. Returns the cause
    /// for values that depend on it if the behaviour is undefined.
    pub(in crate::run) fn accessed_as(
        &mut self,
        (object, number): (usize, u64),
        bytes: Range<usize>,
        write: bool,
        lane: usize,
    ) -> Option<u32> {
        if self.aliases.is_empty() || !self.aliases.access(object, number, bytes.clone(), write) {
            return None;
        }
        let (access, rule) = (if write { "write" } else { "read" }, named("without Aliased"));
        let detail =
            || format!("{rule}: a {access} of bytes {bytes:?}, which are accessed through another variable too");
        Some(self.fault(FaultKind::Rule, lane, detail))
    }
}
