//! Values that can be recorded: numbers and booleans, and vectors, matrices, arrays and structures of them.

use super::{fits, scalar_of};
use crate::composites::parts;
use assay_precision::Scalar;
use assay_spirv::Module;
use assay_spirv::edit::Plain;
use assay_spirv::module::TypeId;

/// Words of a value that is kept somewhere, at most.
pub(super) const MOST_WORDS: u32 = 256;

/// Words of a value that is recorded each time, at most: twice the largest matrix.
const MOST_RECORDED: u32 = 64;

/// A value, and where it is recorded.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) id: u32,
    pub(super) form: Form,
    /// Its first word in the row.
    pub(super) word: u32,
}

/// What a value is made of.
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// The word of its type.
    pub(super) ty: u32,
    /// Its scalars, one after the other.
    pub(super) parts: Vec<Part>,
}

/// A scalar of a value.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The way to it, as `OpCompositeExtract` takes it.
    pub(super) path: Vec<u32>,
    pub(super) plain: Plain,
    /// Its first word among those of the value.
    pub(super) word: u32,
}

impl Form {
    /// Of a type; `None` if its values are not made of numbers and booleans, or too large.
    pub(super) fn of(module: &Module, ty: TypeId) -> Option<Form> {
        words_in(module, ty)?;
        let mut form = Form { ty: module.type_definition(ty).result()?, parts: Vec::new() };
        form.add(module, ty, &[], &mut 0)?;
        Some(form)
    }

    /// Of the value with that id; `None` if it cannot be recorded.
    pub(super) fn of_value(module: &Module, id: u32) -> Option<Form> {
        Form::of(module, module.type_of(id)?).filter(|form| form.words() <= MOST_RECORDED)
    }

    /// Whether its values are neither scalars nor vectors: matrices, arrays, structures.
    pub(super) fn is_aggregate(&self, module: &Module) -> bool {
        module.type_declared(self.ty).is_some_and(|ty| Plain::of(module, ty).is_none())
    }

    fn add(&mut self, module: &Module, ty: TypeId, path: &[u32], word: &mut u32) -> Option<()> {
        if let Some(types) = parts(module, ty) {
            for (index, ty) in (0..).zip(types) {
                self.add(module, ty, &[path, &[index]].concat(), word)?;
            }
            return Some(());
        }
        let plain = Plain::of(module, ty)?;
        self.parts.push(Part { path: path.to_vec(), plain, word: *word });
        *word += words_of(&plain);
        Some(())
    }

    /// The words that it takes.
    pub(super) fn words(&self) -> u32 {
        self.parts.iter().map(|part| words_of(&part.plain)).sum()
    }
}

impl Part {
    /// What it is.
    pub(super) fn scalar(&self) -> Scalar {
        scalar_of(&self.plain)
    }
}

/// The words of a value of a type; `None` of what is not made of recordable numbers, and of more than [`MOST_WORDS`].
pub(super) fn words_in(module: &Module, ty: TypeId) -> Option<u32> {
    let mut words = 0;
    count(module, ty, &mut words)?;
    Some(words)
}

/// Adds the words of a type, and stops where they are too many: structures of structures may have any number.
fn count(module: &Module, ty: TypeId, words: &mut u32) -> Option<()> {
    match parts(module, ty) {
        Some(types) if types.is_empty() => return None,
        Some(types) => types.into_iter().try_for_each(|ty| count(module, ty, words))?,
        None => *words += words_of(&Plain::of(module, ty).filter(|plain| fits(module, plain))?),
    }
    (*words <= MOST_WORDS).then_some(())
}

/// 32-bit words of a scalar.
fn words_of(plain: &Plain) -> u32 {
    plain.width.div_ceil(32)
}
