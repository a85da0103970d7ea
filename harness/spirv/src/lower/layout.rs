//! Layout decorations where none may be: taken away, and where a buffer needs them, types of their own for what may have none.

use crate::edit::{Editor, instruction};
use crate::module::{Instruction, Module, Type, TypeId};
use crate::reflect::explicit::{first_layout, forbids_layout, held, layout_of, pointees};
use crate::rules::Facts;
use crate::tables::{Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Parts of a value that are copied one by one; whoever copies more at once from workgroup memory keeps the layout.
const MOST_PARTS: u64 = 4096;

/// The module's words without the layout decorations that its variables' storage classes forbid, for modules from a
/// translator that decorates every array; `None` where there is none to take away.
///
/// A type that something in another storage class points to as well keeps its decorations: that use may need them. Workgroup
/// memory then gets types of its own, and values on their way are put together anew. Where that cannot be (a length that is a
/// specialization constant, a value of very many parts, a decoration that comes through a group) the rule
/// [`LAYOUT_NOT_ALLOWED`](crate::rules::LAYOUT_NOT_ALLOWED) still tells of the variable.
pub fn without_forbidden_layout(module: &Module) -> Option<Vec<u32>> {
    let stripped = stripped(module);
    let parsed = stripped.as_ref().and_then(|words| Module::parse(words.clone()).ok());
    let split = split(parsed.as_ref().unwrap_or(module));
    split.or(stripped)
}

/// Without what no other storage class may need.
fn stripped(module: &Module) -> Option<Vec<u32>> {
    let facts = Facts::new(module);
    let variables = module.instructions().filter(|i| i.op == Some(Op::Variable)).filter_map(|i| {
        let (class, pointee) = module.pointer(module.type_declared(i.result_type()?)?)?;
        pointee.filter(|_| forbids_layout(&facts, class))
    });
    let mut forbidden = held(module, variables);
    // Private and Function permit a layout at most; they never need one.
    use StorageClass::{Function, Private, Workgroup};
    let other = |class| match class {
        Workgroup => !forbids_layout(&facts, class),
        Private | Function => false,
        _ => true,
    };
    for kept in held(module, pointees(module, other)) {
        forbidden.remove(&kept);
    }
    let useless: BTreeSet<usize> = forbidden
        .into_iter()
        .flat_map(|ty| layout_of(module, ty))
        .map(|(target, decorated)| (target, decorated.instruction))
        // Not what a group says: its instruction is about others too.
        .filter(|(target, i)| i.words.get(1) == Some(target))
        .map(|(_, i)| i.at)
        .collect();
    if useless.is_empty() {
        return None;
    }
    let first = module.instructions().next()?.at;
    let kept = module.instructions().filter(|i| !useless.contains(&i.at)).flat_map(|i| i.words.iter().copied());
    Some(module.words()[..first].iter().copied().chain(kept).collect())
}

/// With types of its own for workgroup memory, in place of those with a layout.
fn split(module: &Module) -> Option<Vec<u32>> {
    if !forbids_layout(&Facts::new(module), StorageClass::Workgroup) {
        return None;
    }
    let mut split = Split { editor: Editor::new(module), module, own: BTreeMap::new() };
    let held = held(module, pointees(module, |class| class == StorageClass::Workgroup));
    // In the order of their declarations: what a type holds comes before it.
    for ty in held.into_iter().filter(|ty| first_layout(module, *ty).is_some()) {
        split.declare(ty)?;
    }
    if split.own.is_empty() {
        return None;
    }
    for i in module.instructions() {
        split.rewrite(i)?;
    }
    Some(split.editor.finish())
}

/// Gives workgroup memory types of its own.
struct Split<'a> {
    editor: Editor<'a>,
    module: &'a Module,
    /// The ids of types without a layout, by what they stand for.
    own: BTreeMap<TypeId, u32>,
}

impl Split<'_> {
    fn word(&self, ty: TypeId) -> Option<u32> {
        self.module.type_definition(ty).result()
    }

    /// What a type is in workgroup memory.
    fn inside(&self, ty: TypeId) -> Option<u32> {
        self.own.get(&ty).copied().or_else(|| self.word(ty))
    }

    /// Declares the type without a layout, behind the one with it.
    fn declare(&mut self, ty: TypeId) -> Option<()> {
        let id = self.editor.id();
        let words = match *self.module.ty(ty) {
            Type::Array { element, length } => instruction(Op::TypeArray, &[id, self.inside(element)?, length]),
            Type::Struct { .. } => {
                let members = self.module.members(ty).iter().map(|member| self.inside(*member));
                let operands: Vec<u32> = [Some(id)].into_iter().chain(members).collect::<Option<_>>()?;
                instruction(Op::TypeStruct, &operands)
            }
            _ => return None,
        };
        self.editor.after(self.module.type_definition(ty).at, &words);
        self.own.insert(ty, id);
        Some(())
    }

    /// The type behind a pointer into workgroup memory, if it has got another there.
    fn behind(&self, pointer: TypeId) -> Option<TypeId> {
        match self.module.pointer(pointer)? {
            (StorageClass::Workgroup, Some(pointee)) => self.own.contains_key(&pointee).then_some(pointee),
            _ => None,
        }
    }

    /// The same for the value with that id.
    fn behind_value(&self, pointer: u32) -> Option<TypeId> {
        self.behind(self.module.type_of(pointer)?)
    }

    /// `None` if the instruction moves what cannot be moved.
    fn rewrite(&mut self, i: Instruction<'_>) -> Option<()> {
        let mut words = i.words.to_vec();
        match (i.op, i.words) {
            (Some(Op::TypePointer), &[_, id, class, _]) => {
                if let Some(pointee) = self.module.type_declared(id).and_then(|ty| self.behind(ty)) {
                    words = instruction(Op::TypePointer, &[id, class, self.inside(pointee)?]);
                }
            }
            // A variable may begin as zeros.
            (Some(Op::Variable), &[_, pointer, id, class, initial]) => {
                if let Some(pointee) = self.module.type_declared(pointer).and_then(|ty| self.behind(ty)) {
                    let own = self.inside(pointee)?;
                    let (mut all, zeros) = self.constant_zeros(own, initial)?;
                    all.extend(instruction(Op::Variable, &[pointer, id, class, zeros]));
                    words = all;
                }
            }
            (Some(Op::Load), &[_, of, id, pointer, ref access @ ..]) => {
                if let Some(pointee) = self.behind_value(pointer) {
                    let (own, loaded) = (self.inside(pointee)?, self.editor.id());
                    words = instruction(Op::Load, &[&[own, loaded, pointer], access].concat());
                    self.convert(pointee, loaded, Direction::Out, Some((of, id)), &mut words)?;
                }
            }
            (Some(Op::Store), &[_, pointer, value, ref access @ ..]) => {
                if let Some(pointee) = self.behind_value(pointer) {
                    words.clear();
                    let value = self.convert(pointee, value, Direction::In, None, &mut words)?;
                    words.extend(instruction(Op::Store, &[&[pointer, value], access].concat()));
                }
            }
            (Some(Op::CopyMemory), &[_, target, source, ref access @ ..]) => {
                let (to, from) = (self.behind_value(target), self.behind_value(source));
                if to.is_some() != from.is_some() && access.is_empty() {
                    let pointee = to.or(from)?;
                    let outside = self.word(pointee)?;
                    let (inside, loaded) = (self.inside(pointee)?, self.editor.id());
                    let (of, way) = if from.is_some() { (inside, Direction::Out) } else { (outside, Direction::In) };
                    words = instruction(Op::Load, &[of, loaded, source]);
                    let value = self.convert(pointee, loaded, way, None, &mut words)?;
                    words.extend(instruction(Op::Store, &[target, value]));
                } else if to.is_some() != from.is_some() {
                    return None;
                }
            }
            _ => return Some(()),
        }
        if words != i.words {
            self.editor.replace(i.at, words);
        }
        Some(())
    }

    /// Zeros of a type in a variable's place, where what it begins with is `OpConstantNull`.
    fn constant_zeros(&mut self, own: u32, initial: u32) -> Option<(Vec<u32>, u32)> {
        let null = self.module.definition_of_word(initial)?.op == Some(Op::ConstantNull);
        let id = self.editor.id();
        null.then(|| (instruction(Op::ConstantNull, &[own, id]), id))
    }

    /// A value of a type with a layout as one without, or back; the same id if there is no difference. `result` is what the
    /// instruction that makes it must give, type and id.
    fn convert(
        &mut self,
        ty: TypeId,
        value: u32,
        way: Direction,
        result: Option<(u32, u32)>,
        words: &mut Vec<u32>,
    ) -> Option<u32> {
        let (Some(&own), outside) = (self.own.get(&ty), self.word(ty)?) else { return Some(value) };
        if way == Direction::In && self.module.definition_of_word(value).is_some_and(|i| i.op == Some(Op::ConstantNull))
        {
            return Some(self.editor.null(own));
        }
        if self.parts(ty)? > MOST_PARTS {
            return None;
        }
        let parts: Vec<TypeId> = match *self.module.ty(ty) {
            Type::Array { element, length } => vec![element; self.length(length)? as usize],
            _ => self.module.members(ty).to_vec(),
        };
        let mut operands = Vec::with_capacity(parts.len() + 2);
        for (index, part) in parts.into_iter().enumerate() {
            let of = match way {
                Direction::Out => self.inside(part)?,
                Direction::In => self.word(part)?,
            };
            let id = self.editor.id();
            words.extend(instruction(Op::CompositeExtract, &[of, id, value, index as u32]));
            operands.push(self.convert(part, id, way, None, words)?);
        }
        let (of, id) = result.unwrap_or_else(|| match way {
            Direction::Out => (outside, self.editor.id()),
            Direction::In => (own, self.editor.id()),
        });
        operands.splice(0..0, [of, id]);
        words.extend(instruction(Op::CompositeConstruct, &operands));
        Some(id)
    }

    /// Scalars and vectors in a value; `None` where a length is not known, or the number is too large for one.
    fn parts(&self, ty: TypeId) -> Option<u64> {
        self.parts_once(ty, &mut HashMap::new())
    }

    /// As [`Self::parts`], each type looked at once: a structure of two structures of two structures holds 2^n.
    fn parts_once(&self, ty: TypeId, known: &mut HashMap<TypeId, Option<u64>>) -> Option<u64> {
        if let Some(known) = known.get(&ty) {
            return *known;
        }
        let parts = match *self.module.ty(ty) {
            Type::Array { element, length } => {
                self.length(length).and_then(|length| length.checked_mul(self.parts_once(element, known)?))
            }
            Type::Struct { .. } => {
                let mut members = self.module.members(ty).iter();
                members.try_fold(0u64, |sum, member| sum.checked_add(self.parts_once(*member, known)?))
            }
            _ => Some(1),
        };
        known.insert(ty, parts);
        parts
    }

    fn length(&self, word: u32) -> Option<u64> {
        let constant = self.module.definition_of_word(word)?.op == Some(Op::Constant);
        self.module.constant_int(word).filter(|_| constant).and_then(|n| u64::try_from(n).ok())
    }
}

/// Where a value goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// Into workgroup memory: its type loses the layout.
    In,
    /// Out of it.
    Out,
}
