//! Elements of buffers and texels that one invocation alone accesses: those at its own global
//! invocation id.

use crate::base_variable::{base_variable, slot_of};
use crate::built_in::is_built_in;
use assay_spirv::Module;
use assay_spirv::edit::ScalarOrVector;
use assay_spirv::module::Instruction;
use assay_spirv::tables::{BuiltIn, Op};
use std::collections::BTreeMap;

/// Instructions through which a value is followed to the global invocation id.
const STEPS: u32 = 16;

/// Axes of the global invocation id that the components of a value are; `None` for any other number.
type Axes = Vec<Option<usize>>;

/// Finder of accesses to an invocation's own elements.
///
/// Elements of an array are its own if all accesses to them have the same component of the global
/// invocation id as index, and the dispatch has several invocations along this axis only. Texels are
/// its own if their coordinates are the components in their order.
pub(crate) struct OwnElements<'a> {
    module: &'a Module,
    /// Values that variables of functions have from their only store, as raw ids; `None` for a variable
    /// that is also written in another way.
    stored: BTreeMap<u32, Option<u32>>,
    /// Axes along which the dispatch has several invocations.
    axes: Vec<usize>,
}

impl<'a> OwnElements<'a> {
    /// Prepares the search among the instructions of an entry point, in a dispatch with `size`
    /// invocations along each axis.
    pub(crate) fn new(
        module: &'a Module,
        instructions: impl Iterator<Item = Instruction<'a>>,
        size: [u32; 3],
    ) -> OwnElements<'a> {
        let mut stored = BTreeMap::new();
        for i in instructions {
            match (i.op, i.operands()) {
                (Some(Op::Store), [pointer, value, ..]) => {
                    let Some((variable, indices)) = base_variable(module, *pointer) else { continue };
                    let whole = indices.is_empty().then_some(*value);
                    stored.entry(variable).and_modify(|known| *known = None).or_insert(whole);
                }
                (Some(Op::Load | Op::AccessChain | Op::InBoundsAccessChain), _) => {}
                // Whatever else takes a pointer may write.
                (_, operands) => {
                    stored.extend(operands.iter().filter_map(|id| Some((base_variable(module, *id)?.0, None))));
                }
            }
        }
        let axes = (0..3).filter(|axis| size[*axis] > 1).collect();
        OwnElements { module, stored, axes }
    }

    /// Returns whether a pointer leads to an element of the invocation's own: of an array that is a
    /// member of a block, or a variable.
    pub(crate) fn has_pointer(&self, pointer: u32) -> bool {
        let Some((variable, indices)) = base_variable(self.module, pointer) else { return false };
        let in_block = usize::from(slot_of(self.module, variable).is_some());
        let (members, rest) = indices.split_at(in_block.min(indices.len()));
        let is_constant = |id: &u32| self.module.constant_int(*id).is_some();
        match (&self.axes[..], rest) {
            ([axis], [index, ..]) => members.iter().all(is_constant) && self.axes_of(*index, STEPS) == [Some(*axis)],
            _ => false,
        }
    }

    /// Returns whether coordinates are those of the invocation's own texel.
    pub(crate) fn has_texel(&self, coordinates: u32) -> bool {
        let components = self.axes_of(coordinates, STEPS);
        self.axes.iter().all(|axis| components.get(*axis) == Some(&Some(*axis)))
    }

    /// Follows the components of a value, through at most `steps` instructions.
    fn axes_of(&self, id: u32, steps: u32) -> Axes {
        let components = ScalarOrVector::of_value(self.module, id).map_or(1, |of| of.count as usize);
        self.known_axes(id, steps).filter(|axes| axes.len() == components).unwrap_or_else(|| vec![None; components])
    }

    /// As [`OwnElements::axes_of`]; `None` if nothing is known of any component.
    fn known_axes(&self, id: u32, steps: u32) -> Option<Axes> {
        let definition = self.module.definition_of(id).filter(|_| steps > 0)?;
        let of = |id: u32| self.axes_of(id, steps - 1);
        let component = |axes: Axes, at: u32| vec![axes.get(at as usize).copied().flatten()];
        Some(match (definition.op?, definition.operands()) {
            (Op::Load, [pointer, ..]) => {
                let (variable, indices) = base_variable(self.module, *pointer)?;
                let whole = if is_built_in(self.module, variable, BuiltIn::GlobalInvocationId) {
                    vec![Some(0), Some(1), Some(2)]
                } else {
                    // A load before the store finds the initial value.
                    let has_initial = self.module.definition_of(variable)?.operand(1).is_some();
                    of(self.stored.get(&variable).copied().flatten().filter(|_| !has_initial)?)
                };
                match indices[..] {
                    [] => whole,
                    [index] => component(whole, u32::try_from(self.module.constant_int(index)?).ok()?),
                    _ => return None,
                }
            }
            (Op::CompositeExtract, [composite, at]) => component(of(*composite), *at),
            (Op::CompositeConstruct, parts) => parts.iter().flat_map(|part| of(*part)).collect(),
            (Op::VectorShuffle, [one, other, at @ ..]) => {
                let both: Axes = of(*one).into_iter().chain(of(*other)).collect();
                at.iter().map(|at| both.get(*at as usize).copied().flatten()).collect()
            }
            // Narrower integers are not different in all invocations.
            (Op::Bitcast | Op::CopyObject | Op::UConvert | Op::SConvert, [value])
                if ScalarOrVector::of_value(self.module, id).is_some_and(|of| of.width >= 32) =>
            {
                of(*value)
            }
            _ => return None,
        })
    }
}
