//! Lengths of run-time arrays over which a shader loops.
//!
//! A list of lights or of scene objects has a handful of entries. With the default length, each
//! invocation would loop over hundreds.

use super::Search;
use super::candidate::{Candidate, better};
use super::growth::has_open_length;
use super::open_parameter::binding_name;
use crate::CheckError;
use crate::base_variable::{base_variable, slot_of};
use assay_exec::Descriptor;
use assay_spirv::tables::Op;
use std::collections::BTreeMap;

/// Length of the arrays.
const ENTRIES: u64 = 4;

impl Search<'_> {
    /// Shortens the arrays that the shader only reads and whose length it asks for. All later
    /// candidates begin with these lengths if they improve the first. With robustness, no access shows
    /// that an array is too short.
    pub(super) fn with_short_arrays(&mut self, first: Candidate) -> Result<Candidate, CheckError> {
        let lengths = self.lengths_of_lists();
        if lengths.is_empty() || self.options.robustness.is_some() {
            return Ok(first);
        }
        let mut chosen = first.chosen.clone();
        lengths.iter().for_each(|(name, entries)| _ = chosen.elements.entry(name.clone()).or_insert(*entries));
        let short = self.candidate(chosen)?;
        if short.score > first.score {
            self.sizes.elements.extend(lengths);
        }
        Ok(better(first, short))
    }

    /// Returns the lengths by binding.
    fn lengths_of_lists(&self) -> BTreeMap<String, u64> {
        let module = &self.check.shader.source.module;
        let measured = module.instructions().filter(|i| i.op == Some(Op::ArrayLength));
        let slots: Vec<_> = measured
            .filter_map(|i| base_variable(module, i.operand(0)?))
            .filter_map(|(variable, _)| slot_of(module, variable))
            .collect();
        let is_list = |d: &&Descriptor| {
            slots.contains(&d.slot) && !d.may_be_written && has_open_length(self.check, self.options, d)
        };
        self.check.setup.descriptors.iter().filter(is_list).map(|d| (binding_name(d), ENTRIES)).collect()
    }
}
