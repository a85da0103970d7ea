//! Removal of layout decorations that are not permitted.
//!
//! If a buffer needs the decorations of a type, memory of workgroups and invocations gets a copy of
//! the type without them.

use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::{Instruction, Module, Type, TypeId};
use assay_spirv::reflect::explicit_layout::{
    contained_types, forbids_layout, layout_decorations, outermost_layout_decoration, pointees,
};
use assay_spirv::tables::{Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Largest number of scalars and vectors that a value is split into. A shader that copies a larger
/// value from such memory keeps the layout.
const MAX_PARTS: u64 = 4096;

/// Returns the module's words without the layout decorations that the storage classes of its
/// variables forbid; `None` if there are none to remove. Some translators decorate every array.
///
/// A type keeps its decorations if a pointer in another storage class, which may need them, refers
/// to it. Memory of workgroups, invocations and functions then gets its own types, and loaded and
/// stored values are converted member by member. This is not possible if a length is a specialisation constant, a value has too
/// many members, or a decoration comes from a group. Then the rule `layout-not-allowed` still
/// reports the variable.
pub fn without_forbidden_layout(module: &Module) -> Option<Vec<u32>> {
    let stripped = strip(module);
    let parsed = stripped.as_ref().and_then(|words| Module::parse(words.clone()).ok());
    let split = split(parsed.as_ref().unwrap_or(module));
    split.or(stripped)
}

/// Removes decorations of types that no other storage class may need.
fn strip(module: &Module) -> Option<Vec<u32>> {
    let variables = module.instructions().filter(|i| i.op == Some(Op::Variable)).filter_map(|i| {
        let (class, pointee) = module.pointer(module.type_declared(i.result_type()?)?)?;
        pointee.filter(|_| forbids_layout(module, class))
    });
    let mut forbidden = contained_types(module, variables);
    // Private and Function never require a layout.
    use StorageClass::{Function, Private, Workgroup};
    let other = |class| match class {
        Workgroup => !forbids_layout(module, class),
        Private | Function => false,
        _ => true,
    };
    for kept in contained_types(module, pointees(module, other)) {
        forbidden.remove(&kept);
    }
    let useless: BTreeSet<usize> = forbidden
        .into_iter()
        .flat_map(|ty| layout_decorations(module, ty))
        .map(|(target, decorated)| (target, decorated.instruction))
        // A decoration group may decorate other types too.
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

/// Returns whether memory of a storage class gets its own types.
fn is_split(module: &Module, class: StorageClass) -> bool {
    use StorageClass::{Function, Private, Workgroup};
    matches!(class, Workgroup | Private | Function) && forbids_layout(module, class)
}

/// Declares undecorated types for memory of workgroups and invocations in place of those with a
/// layout.
fn split(module: &Module) -> Option<Vec<u32>> {
    let mut split = TypeSplitter { editor: Editor::new(module), module, undecorated: BTreeMap::new() };
    let held = contained_types(module, pointees(module, |class| is_split(module, class)));
    // In the order of declarations, a type follows the types that it contains.
    for ty in held.into_iter().filter(|ty| outermost_layout_decoration(module, *ty).is_some()) {
        split.declare(ty)?;
    }
    if split.undecorated.is_empty() {
        return None;
    }
    for i in module.instructions() {
        split.rewrite(i)?;
    }
    Some(split.editor.finish())
}

/// Rewrites a module so that memory of workgroups and invocations has its own types.
struct TypeSplitter<'a> {
    editor: Editor<'a>,
    module: &'a Module,
    /// Ids of the types without a layout, by the types that they replace.
    undecorated: BTreeMap<TypeId, u32>,
}

impl TypeSplitter<'_> {
    fn word(&self, ty: TypeId) -> Option<u32> {
        self.module.type_definition(ty).result()
    }

    /// Returns the type that represents `ty` in such memory.
    fn own_type(&self, ty: TypeId) -> Option<u32> {
        self.undecorated.get(&ty).copied().or_else(|| self.word(ty))
    }

    /// Declares the type without a layout after the one with it.
    fn declare(&mut self, ty: TypeId) -> Option<()> {
        let id = self.editor.id();
        let words = match *self.module.ty(ty) {
            Type::Array { element, length } => instruction(Op::TypeArray, &[id, self.own_type(element)?, length]),
            Type::Struct { .. } => {
                let members = self.module.members(ty).iter().map(|member| self.own_type(*member));
                let operands: Vec<u32> = [Some(id)].into_iter().chain(members).collect::<Option<_>>()?;
                instruction(Op::TypeStruct, &operands)
            }
            _ => return None,
        };
        self.editor.insert_after(self.module.type_definition(ty).at, &words);
        self.undecorated.insert(ty, id);
        Some(())
    }

    /// Returns the pointee of a pointer into such memory, if another type represents it there.
    fn replaced_pointee(&self, pointer: TypeId) -> Option<TypeId> {
        match self.module.pointer(pointer)? {
            (class, Some(pointee)) if is_split(self.module, class) => {
                self.undecorated.contains_key(&pointee).then_some(pointee)
            }
            _ => None,
        }
    }

    /// Returns [`Self::replaced_pointee`] for the type of a value.
    fn replaced_pointee_of(&self, pointer: u32) -> Option<TypeId> {
        self.replaced_pointee(self.module.type_of(pointer)?)
    }

    /// Rewrites an instruction; `None` if it copies a value that cannot be converted.
    fn rewrite(&mut self, i: Instruction<'_>) -> Option<()> {
        let mut words = i.words.to_vec();
        match (i.op, i.words) {
            (Some(Op::TypePointer), &[_, id, class, _]) => {
                if let Some(pointee) = self.module.type_declared(id).and_then(|ty| self.replaced_pointee(ty)) {
                    words = instruction(Op::TypePointer, &[id, class, self.own_type(pointee)?]);
                }
            }
            // The initialiser of a variable may be a null constant.
            (Some(Op::Variable), &[_, pointer, id, class, initial]) => {
                if let Some(pointee) = self.module.type_declared(pointer).and_then(|ty| self.replaced_pointee(ty)) {
                    let own = self.own_type(pointee)?;
                    let (mut all, zeros) = self.constant_zeros(own, initial)?;
                    all.extend(instruction(Op::Variable, &[pointer, id, class, zeros]));
                    words = all;
                }
            }
            (Some(Op::Load), &[_, of, id, pointer, ref access @ ..]) => {
                if let Some(pointee) = self.replaced_pointee_of(pointer) {
                    let (own, loaded) = (self.own_type(pointee)?, self.editor.id());
                    words = instruction(Op::Load, &[&[own, loaded, pointer], access].concat());
                    self.convert(pointee, loaded, Direction::Out, Some((of, id)), &mut words)?;
                }
            }
            (Some(Op::Store), &[_, pointer, value, ref access @ ..]) => {
                if let Some(pointee) = self.replaced_pointee_of(pointer) {
                    words.clear();
                    let value = self.convert(pointee, value, Direction::In, None, &mut words)?;
                    words.extend(instruction(Op::Store, &[&[pointer, value], access].concat()));
                }
            }
            (Some(Op::CopyMemory), &[_, target, source, ref access @ ..]) => {
                let (to, from) = (self.replaced_pointee_of(target), self.replaced_pointee_of(source));
                if to.is_some() != from.is_some() && access.is_empty() {
                    let pointee = to.or(from)?;
                    let outside = self.word(pointee)?;
                    let (inside, loaded) = (self.own_type(pointee)?, self.editor.id());
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

    /// Returns a null constant of type `own`, as words and id, if the initialiser `initial` is an
    /// `OpConstantNull`.
    fn constant_zeros(&mut self, own: u32, initial: u32) -> Option<(Vec<u32>, u32)> {
        let null = self.module.definition_of(initial)?.op == Some(Op::ConstantNull);
        let id = self.editor.id();
        null.then(|| (instruction(Op::ConstantNull, &[own, id]), id))
    }

    /// Converts a value between a type with a layout and the one without, and returns its id; the
    /// same id if the types are equal. `result` is the type and id that the last instruction must
    /// define.
    fn convert(
        &mut self,
        ty: TypeId,
        value: u32,
        way: Direction,
        result: Option<(u32, u32)>,
        words: &mut Vec<u32>,
    ) -> Option<u32> {
        let (Some(&own), outside) = (self.undecorated.get(&ty), self.word(ty)?) else { return Some(value) };
        if way == Direction::In && self.module.definition_of(value).is_some_and(|i| i.op == Some(Op::ConstantNull)) {
            return Some(self.editor.null(own));
        }
        if self.parts(ty)? > MAX_PARTS {
            return None;
        }
        let parts: Vec<TypeId> = match *self.module.ty(ty) {
            Type::Array { element, length } => vec![element; self.length(length)? as usize],
            _ => self.module.members(ty).to_vec(),
        };
        let mut operands = Vec::with_capacity(parts.len() + 2);
        for (index, part) in parts.into_iter().enumerate() {
            let of = match way {
                Direction::Out => self.own_type(part)?,
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

    /// Returns the number of scalars and vectors in a type; `None` if a length is not known or the
    /// number overflows.
    fn parts(&self, ty: TypeId) -> Option<u64> {
        self.memoised_parts(ty, &mut HashMap::new())
    }

    /// Computes [`Self::parts`], visiting each type once: n levels of structures with two equal
    /// members have 2^n parts.
    fn memoised_parts(&self, ty: TypeId, known: &mut HashMap<TypeId, Option<u64>>) -> Option<u64> {
        if let Some(known) = known.get(&ty) {
            return *known;
        }
        let parts = match *self.module.ty(ty) {
            Type::Array { element, length } => {
                self.length(length).and_then(|length| length.checked_mul(self.memoised_parts(element, known)?))
            }
            Type::Struct { .. } => {
                let mut members = self.module.members(ty).iter();
                members.try_fold(0u64, |sum, member| sum.checked_add(self.memoised_parts(*member, known)?))
            }
            _ => Some(1),
        };
        known.insert(ty, parts);
        parts
    }

    /// Returns the value of an array length, given as the id of a constant; `None` for a specialisation
    /// constant.
    fn length(&self, id: u32) -> Option<u64> {
        let constant = self.module.definition_of(id)?.op == Some(Op::Constant);
        self.module.constant_int(id).filter(|_| constant).and_then(|n| u64::try_from(n).ok())
    }
}

/// Direction of a conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// Into such memory, to the type without a layout.
    In,
    /// Out of such memory, to the type with a layout.
    Out,
}
