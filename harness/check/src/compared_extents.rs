//! Parameters that the shader compares with the position of an invocation: the sides of a grid.

use crate::built_in::is_built_in;
use crate::provenance::{DataFlow, FaultSources, used};
use assay_spirv::Module;
use assay_spirv::module::{Instruction, Type};
use assay_spirv::tables::{BuiltIn, Op};
use std::collections::BTreeSet;

/// A value with which the shader compares positions of invocations.
pub(crate) struct ComparedExtent {
    /// Memory that the value is computed from.
    pub(crate) sources: FaultSources,
    /// Axis of the position; `None` if vectors are compared, component by component.
    pub(crate) axis: Option<usize>,
}

impl DataFlow<'_> {
    /// Returns the values with which the shader compares components of `GlobalInvocationId` by their order.
    pub(crate) fn compared_extents(&self) -> Vec<ComparedExtent> {
        let module = self.module();
        let functions = module.functions().iter();
        let instructions = functions.flat_map(|f| module.instructions_in(f.instructions.clone()));
        let mut extents = Vec::new();
        for (a, b) in instructions.filter_map(compared) {
            for (position, extent) in [(a, b), (b, a)] {
                let Some(axis) = self.axis_of(position) else { continue };
                let slice = self.slice(vec![extent], used);
                if slice.ids.iter().all(|id| !is_built_in(module, *id, BuiltIn::GlobalInvocationId)) {
                    extents.push(ComparedExtent { sources: FaultSources::of_operand(slice.sources), axis });
                }
            }
        }
        extents
    }

    /// Returns the axis of the position of an invocation from which a value is computed, or that it is a
    /// vector of several; `None` if it is computed from no position, or from components of several axes.
    fn axis_of(&self, value: u32) -> Option<Option<usize>> {
        let module = self.module();
        let ids = self.slice(vec![value], used).ids;
        if !ids.iter().any(|id| is_built_in(module, *id, BuiltIn::GlobalInvocationId)) {
            return None;
        }
        let axes: BTreeSet<usize> = ids.iter().filter_map(|id| component(module, module.definition_of(*id)?)).collect();
        match axes.len() {
            0 => Some(None),
            1 => Some(axes.first().copied()),
            _ => None,
        }
    }
}

/// Returns the operands of an instruction that compares two integers by their order.
fn compared(i: Instruction<'_>) -> Option<(u32, u32)> {
    use Op::{
        SGreaterThan, SGreaterThanEqual, SLessThan, SLessThanEqual, UGreaterThan, UGreaterThanEqual, ULessThan,
        ULessThanEqual,
    };
    let is_order = matches!(
        i.op?,
        SGreaterThan
            | SGreaterThanEqual
            | SLessThan
            | SLessThanEqual
            | UGreaterThan
            | UGreaterThanEqual
            | ULessThan
            | ULessThanEqual
    );
    match i.operands() {
        &[a, b] if is_order => Some((a, b)),
        _ => None,
    }
}

/// Returns the component of a vector that an instruction selects.
fn component(module: &Module, i: Instruction<'_>) -> Option<usize> {
    let (base, index) = match (i.op?, i.operands()) {
        (Op::CompositeExtract, &[base, index]) => (module.type_of(base)?, i64::from(index)),
        (Op::AccessChain | Op::InBoundsAccessChain, &[base, index]) => {
            (module.pointer(module.type_of(base)?)?.1?, module.constant_int(index)?)
        }
        _ => return None,
    };
    matches!(module.ty(base), Type::Vector { .. }).then(|| usize::try_from(index).ok()).flatten()
}
