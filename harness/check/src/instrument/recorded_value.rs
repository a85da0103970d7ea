//! Layout of recorded values: numbers, booleans, and vectors, matrices, arrays and structures of
//! them.

use super::{fits, scalar_of};
use crate::composite_types::parts;
use assay_precision::Scalar;
use assay_spirv::Module;
use assay_spirv::edit::ScalarOrVector;
use assay_spirv::module::TypeId;

/// Largest number of words of a value with a shadow copy.
pub(super) const MAX_WORDS: u32 = 256;

/// Largest number of words of a value that a probe records: twice the largest matrix.
const MAX_RECORDED_WORDS: u32 = 64;

/// A value, and its place in a row.
#[derive(Clone, Debug)]
pub(super) struct RecordedValue {
    pub(super) id: u32,
    pub(super) layout: ValueLayout,
    /// First word in the row.
    pub(super) word: u32,
}

/// Layout of a value in words.
#[derive(Clone, Debug)]
pub(super) struct ValueLayout {
    /// Id of its type.
    pub(super) ty: u32,
    /// Its scalars, in order.
    pub(super) scalars: Vec<ScalarPart>,
}

/// A scalar of a value.
#[derive(Clone, Debug)]
pub(super) struct ScalarPart {
    /// Indices that lead to it, as in `OpCompositeExtract`.
    pub(super) path: Vec<u32>,
    pub(super) plain: ScalarOrVector,
    /// First word within the value.
    pub(super) word: u32,
}

impl ValueLayout {
    /// Returns the layout of a type; `None` if its values are not composed of numbers and booleans,
    /// or are too large.
    pub(super) fn of(module: &Module, ty: TypeId) -> Option<ValueLayout> {
        words_in(module, ty)?;
        let mut layout = ValueLayout { ty: module.type_definition(ty).result()?, scalars: Vec::new() };
        layout.add(module, ty, &[], &mut 0)?;
        Some(layout)
    }

    /// Returns the layout of the value with this id; `None` if it cannot be recorded.
    pub(super) fn of_value(module: &Module, id: u32) -> Option<ValueLayout> {
        ValueLayout::of(module, module.type_of(id)?).filter(|layout| layout.words() <= MAX_RECORDED_WORDS)
    }

    /// Returns whether a value is a matrix, an array or a structure.
    pub(super) fn is_aggregate(&self, module: &Module) -> bool {
        module.type_declared(self.ty).is_some_and(|ty| ScalarOrVector::of(module, ty).is_none())
    }

    fn add(&mut self, module: &Module, ty: TypeId, path: &[u32], word: &mut u32) -> Option<()> {
        if let Some(types) = parts(module, ty) {
            for (index, ty) in (0..).zip(types) {
                self.add(module, ty, &[path, &[index]].concat(), word)?;
            }
            return Some(());
        }
        let plain = ScalarOrVector::of(module, ty)?;
        self.scalars.push(ScalarPart { path: path.to_vec(), plain, word: *word });
        *word += words_of(&plain);
        Some(())
    }

    /// Returns the size in words.
    pub(super) fn words(&self) -> u32 {
        self.scalars.iter().map(|part| words_of(&part.plain)).sum()
    }
}

impl ScalarPart {
    /// Returns the type of the scalar.
    pub(super) fn scalar(&self) -> Scalar {
        scalar_of(&self.plain)
    }
}

/// Returns the size of a type's values in words; `None` if they are not composed of recordable
/// numbers, or have more than [`MAX_WORDS`].
pub(super) fn words_in(module: &Module, ty: TypeId) -> Option<u32> {
    let mut words = 0;
    count(module, ty, &mut words)?;
    Some(words)
}

/// Adds the size of a type. Stops when the sum is too large, because nested structures can have any
/// size.
fn count(module: &Module, ty: TypeId, words: &mut u32) -> Option<()> {
    match parts(module, ty) {
        Some(types) if types.is_empty() => return None,
        Some(types) => types.into_iter().try_for_each(|ty| count(module, ty, words))?,
        None => *words += words_of(&ScalarOrVector::of(module, ty).filter(|plain| fits(module, plain))?),
    }
    (*words <= MAX_WORDS).then_some(())
}

/// Returns the size of a scalar in words.
fn words_of(plain: &ScalarOrVector) -> u32 {
    plain.width.div_ceil(32)
}
