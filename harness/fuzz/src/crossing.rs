//! Crossings: a computation of one module in place of an operand of another.
//!
//! A computation is a result with instructions that it depends on. Loads, phis, calls and whatever else is no
//! computation of numbers are replaced by values of the other module that have the same type.

use crate::instruction_choice::{chosen_instruction, id_text};
use assay_spirv::Module;
use assay_spirv::edit::{ComponentKind, Editor, ScalarOrVector};
use assay_spirv::grammar::{ExtendedSet, OperandEncoding};
use assay_spirv::module::{Instruction, Section};
use assay_spirv::tables::{Kind, Op};
use fastrand::Rng;
use std::collections::BTreeMap;

/// Longest chain of instructions of a computation.
const MAX_DEPTH: u32 = 6;

/// Returns a module with an operand replaced by a computation of a donor, and a description; `None` if
/// they have no types in common, or the module lacks a value that the computation needs.
pub(crate) fn crossed(module: &Module, donor: &Module, rng: &mut Rng) -> Option<(Vec<u32>, String)> {
    let root = chosen_instruction(donor, rng, |one| is_computation(donor, one))?;
    let shape = shape_of(donor, root.result()?)?;
    let takes = |one: &Instruction<'_>| takes_any_value(one) && places(module, one, shape).next().is_some();
    let user = chosen_instruction(module, rng, takes)?;
    let all: Vec<usize> = places(module, &user, shape).collect();
    let place = rng.choice(all)?;
    let before = module.block(module.block_at(user.index)?).instructions.start..user.index.0;
    // An instruction that merges control flow stands directly before its branch.
    let is_merge = |one: &Instruction<'_>| matches!(one.op, Some(Op::SelectionMerge | Op::LoopMerge));
    let last = module.instructions_in(before.clone()).rev().find(|one| !is_merge(one))?;
    let constants = module.section(Section::Globals).filter(|one| one.op != Some(Op::Undef));
    let values = constants.chain(module.instructions_in(before)).filter_map(|one| one.result()).collect();
    let mut graft =
        Graft { editor: Editor::new(module), module, donor, rng, values, made: BTreeMap::new(), code: Vec::new() };
    let to = graft.value(root.result()?, MAX_DEPTH)?;
    let Graft { mut editor, code, .. } = graft;
    let mut words = user.words.to_vec();
    *words.get_mut(place)? = to;
    editor.insert_after(last.at, &code);
    editor.replace(user.at, words);
    Some((editor.finish(), format!("{} takes {} of the other shader", id_text(&user), id_text(&root))))
}

/// Type of a value, without the ids of its module.
type Shape = (ComponentKind, u32, u32);

fn shape_of(module: &Module, id: u32) -> Option<Shape> {
    ScalarOrVector::of_value(module, id).map(|shape| (shape.kind, shape.width, shape.count))
}

/// Returns the words of an instruction that are ids of values.
fn value_places(module: &Module, one: &Instruction<'_>) -> Vec<usize> {
    let mut places = Vec::new();
    let _newer = module.operands(*one, |operand| {
        let is_id = matches!(operand.kind.info().encoding, OperandEncoding::Id);
        if is_id && !matches!(operand.kind, Kind::IdResult | Kind::IdResultType) {
            places.push(operand.at);
        }
    });
    places
}

/// Returns the operands of an instruction that have this type.
fn places<'a>(module: &'a Module, one: &Instruction<'a>, shape: Shape) -> impl Iterator<Item = usize> + use<'a> {
    let words = one.words;
    let fits = move |place: &usize| shape_of(module, words[*place]) == Some(shape);
    value_places(module, one).into_iter().filter(fits)
}

/// Returns true for an instruction whose operands need not be constants, and that follows the phis and
/// variables of its block.
fn takes_any_value(one: &Instruction<'_>) -> bool {
    let prefixes =
        ["OpPhi", "OpVariable", "OpAccessChain", "OpInBounds", "OpAtomic", "OpGroup", "OpControl", "OpMemory"];
    !prefixes.iter().any(|prefix| one.name().starts_with(prefix))
}

/// Returns true for an instruction whose result depends on numbers alone.
fn is_computation(module: &Module, one: &Instruction<'_>) -> bool {
    let (set, operands) = value_places(module, one)
        .into_iter()
        .map(|place| one.words[place])
        .partition::<Vec<u32>, _>(|id| one.op == Some(Op::ExtInst) && module.extended_set(*id).is_some());
    let is_number = |id: &u32| shape_of(module, *id).is_some();
    let is_glsl = set.iter().all(|id| module.extended_set(*id) == Some(ExtendedSet::Glsl));
    let of_group = ["OpGroup", "OpSubgroup"].iter().any(|prefix| one.name().starts_with(prefix));
    let result = one.result().is_some_and(|id| is_number(&id));
    result && is_glsl && !of_group && !operands.is_empty() && operands.iter().all(is_number)
}

/// A computation of a donor on its way into a module.
struct Graft<'a> {
    editor: Editor<'a>,
    module: &'a Module,
    donor: &'a Module,
    rng: &'a mut Rng,
    /// Values that the computation may take.
    values: Vec<u32>,
    /// New ids by those of the donor.
    made: BTreeMap<u32, u32>,
    code: Vec<u32>,
}

impl Graft<'_> {
    /// Returns the value in the module for one of the donor.
    fn value(&mut self, id: u32, depth: u32) -> Option<u32> {
        if let Some(known) = self.made.get(&id) {
            return Some(*known);
        }
        let definition = self.donor.definition_of(id)?;
        let new = match definition.op? {
            Op::Constant => self.constant(&definition)?,
            _ if depth > 0 && is_computation(self.donor, &definition) && self.rng.u32(..6) > 0 => {
                self.copy(&definition, depth - 1)?
            }
            _ => self.replacement(id)?,
        };
        self.made.insert(id, new);
        Some(new)
    }

    fn constant(&mut self, definition: &Instruction<'_>) -> Option<u32> {
        let shape = shape_of(self.donor, definition.result()?)?;
        let ty = self.ty(shape);
        let bits = |word: usize| u64::from(definition.words.get(word).copied().unwrap_or(0));
        Some(self.editor.constant(ty, shape.1, bits(3) | bits(4) << 32))
    }

    fn copy(&mut self, definition: &Instruction<'_>, depth: u32) -> Option<u32> {
        let mut words = definition.words.to_vec();
        for place in value_places(self.donor, definition) {
            let word = definition.words[place];
            words[place] = match self.donor.extended_set(word) {
                Some(set) => self.import(set)?,
                None => self.value(word, depth)?,
            };
        }
        let shape = shape_of(self.donor, definition.result()?)?;
        let (ty, new) = (self.ty(shape), self.editor.id());
        (words[1], words[2]) = (ty, new);
        self.code.extend(words);
        Some(new)
    }

    /// Returns the id of an instruction set that the module imports.
    fn import(&self, set: ExtendedSet) -> Option<u32> {
        let mut imports = self.module.section(Section::Imports).filter_map(|one| one.result());
        imports.find(|id| self.module.extended_set(*id) == Some(set))
    }

    /// Returns a value of the module with the type of one of the donor.
    fn replacement(&mut self, id: u32) -> Option<u32> {
        let shape = shape_of(self.donor, id)?;
        let fits = |value: &u32| shape_of(self.module, *value) == Some(shape);
        let all: Vec<u32> = self.values.iter().copied().filter(fits).collect();
        self.rng.choice(all)
    }

    fn ty(&mut self, (kind, width, count): Shape) -> u32 {
        let component = match kind {
            ComponentKind::Bool => self.editor.bool(),
            ComponentKind::Int { signed: true } => self.editor.int(width),
            ComponentKind::Int { signed: false } => self.editor.uint(width),
            ComponentKind::Float => self.editor.float(width),
        };
        self.editor.vector(component, count)
    }
}
