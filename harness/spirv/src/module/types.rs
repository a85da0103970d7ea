//! Types, interned: equal declarations of types that are neither aggregates nor pointers give one
//! type.

use std::collections::HashMap;
use std::ops::Range;

use super::{DenseId, Instruction, InstructionIndex, ModuleErrorKind, NONE};
use crate::tables::{AccessQualifier, Dim, FPEncoding, ImageFormat, Op, StorageClass};

/// Index of a type among all types of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

/// Operands of an `OpTypeImage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageType {
    /// Type of a component of a texel.
    pub sampled_type: TypeId,
    /// Dimensionality; `None` if the grammar does not define the word.
    pub dim: Option<Dim>,
    /// 0: not a depth image, 1: a depth image, 2: unspecified.
    pub depth: u32,
    /// Set if the image has array layers.
    pub arrayed: bool,
    /// Set if the image is multisampled.
    pub multisampled: bool,
    /// 0: known at run time only, 1: used with a sampler, 2: used without one.
    pub sampled: u32,
    /// Texel format; `None` if the grammar does not define the word.
    pub format: Option<ImageFormat>,
    /// Access qualifier, in kernels.
    pub access: Option<AccessQualifier>,
}

/// A type. [`Module::members`](super::Module::members) returns its members or parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the instructions' operands")]
pub enum Type {
    Void,
    Bool,
    Int {
        width: u32,
        signed: bool,
    },
    Float {
        width: u32,
        encoding: Option<FPEncoding>,
    },
    Vector {
        component: TypeId,
        count: u32,
    },
    Matrix {
        column: TypeId,
        count: u32,
    },
    Image(ImageType),
    Sampler,
    SampledImage {
        image: TypeId,
    },
    /// `length` is the raw id of a constant.
    Array {
        element: TypeId,
        length: u32,
    },
    RuntimeArray {
        element: TypeId,
    },
    Struct {
        members: Range<u32>,
    },
    /// `pointee` is `None` for untyped pointers, and for forward pointers without an
    /// `OpTypePointer`.
    Pointer {
        class: StorageClass,
        pointee: Option<TypeId>,
    },
    Function {
        returns: TypeId,
        parameters: Range<u32>,
    },
    /// Any other type; see its declaration.
    Other(Op),
}

#[derive(Debug, Default)]
pub(super) struct Types {
    all: Vec<Type>,
    /// The instruction that first declares each type.
    declarations: Vec<u32>,
    members: Vec<TypeId>,
    interned: HashMap<Type, TypeId>,
    /// The type that each id declares, or `NONE`; ids beyond the end declare none.
    by_id: Vec<u32>,
    /// Nesting depth of each type, not counting pointers.
    depths: Vec<u8>,
}

/// Largest nesting depth: the universal limit for structures, applied to all types here, so that
/// recursion over types is bounded.
const MAX_DEPTH: usize = 255;

impl Types {
    pub(super) fn get(&self, ty: TypeId) -> &Type {
        &self.all[ty.0 as usize]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        self.all.iter().enumerate().map(|(i, ty)| (TypeId(i as u32), ty))
    }

    pub(super) fn declaration(&self, ty: TypeId) -> InstructionIndex {
        InstructionIndex(self.declarations[ty.0 as usize])
    }

    pub(super) fn declared(&self, id: DenseId) -> Option<TypeId> {
        self.by_id.get(id.0 as usize).filter(|ty| **ty != NONE).map(|ty| TypeId(*ty))
    }

    pub(super) fn members(&self, ty: TypeId) -> &[TypeId] {
        match self.get(ty) {
            Type::Struct { members: range } | Type::Function { parameters: range, .. } => {
                &self.members[range.start as usize..range.end as usize]
            }
            _ => &[],
        }
    }

    /// Records a type declaration whose operands conform to the grammar. `id_of` maps raw to dense
    /// ids.
    pub(super) fn declare(
        &mut self,
        instruction: Instruction,
        op: Op,
        id_of: impl Fn(u32) -> Option<DenseId>,
    ) -> Result<(), ModuleErrorKind> {
        let operands = instruction.operands();
        let part = |types: &Types, word: u32| {
            id_of(word).and_then(|id| types.declared(id)).ok_or(ModuleErrorKind::UnknownType { op, id: word })
        };
        let ty = match (op, operands) {
            (Op::TypeForwardPointer, [pointer, class, ..]) => {
                let Some(id) = id_of(*pointer) else { return Ok(()) };
                if let Some(class) = StorageClass::from_word(*class) {
                    self.bind(id, Type::Pointer { class, pointee: None }, instruction.index, false);
                }
                return Ok(());
            }
            (Op::TypeVoid, _) => Type::Void,
            (Op::TypeBool, _) => Type::Bool,
            (Op::TypeInt, [width, signedness, ..]) => Type::Int { width: *width, signed: *signedness != 0 },
            (Op::TypeFloat, [width, rest @ ..]) => {
                Type::Float { width: *width, encoding: rest.first().and_then(|e| FPEncoding::from_word(*e)) }
            }
            (Op::TypeVector, [component, count, ..]) => {
                Type::Vector { component: part(self, *component)?, count: *count }
            }
            (Op::TypeMatrix, [column, count, ..]) => Type::Matrix { column: part(self, *column)?, count: *count },
            (Op::TypeImage, [sampled_type, dim, depth, arrayed, multisampled, sampled, format, rest @ ..]) => {
                Type::Image(ImageType {
                    sampled_type: part(self, *sampled_type)?,
                    dim: Dim::from_word(*dim),
                    depth: *depth,
                    arrayed: *arrayed != 0,
                    multisampled: *multisampled != 0,
                    sampled: *sampled,
                    format: ImageFormat::from_word(*format),
                    access: rest.first().and_then(|a| AccessQualifier::from_word(*a)),
                })
            }
            (Op::TypeSampler, _) => Type::Sampler,
            (Op::TypeSampledImage, [image, ..]) => Type::SampledImage { image: part(self, *image)? },
            (Op::TypeArray, [element, length, ..]) => Type::Array { element: part(self, *element)?, length: *length },
            (Op::TypeRuntimeArray, [element, ..]) => Type::RuntimeArray { element: part(self, *element)? },
            (Op::TypeStruct, members) => Type::Struct { members: self.parts(members, part)? },
            (Op::TypePointer, [class, pointee, ..]) => match StorageClass::from_word(*class) {
                Some(class) => Type::Pointer { class, pointee: Some(part(self, *pointee)?) },
                None => Type::Other(op),
            },
            (Op::TypeUntypedPointerKHR, [class, ..]) => match StorageClass::from_word(*class) {
                Some(class) => Type::Pointer { class, pointee: None },
                None => Type::Other(op),
            },
            (Op::TypeFunction, [returns, parameters @ ..]) => {
                Type::Function { returns: part(self, *returns)?, parameters: self.parts(parameters, part)? }
            }
            _ => Type::Other(op),
        };
        let interns = !matches!(
            ty,
            Type::Array { .. }
                | Type::RuntimeArray { .. }
                | Type::Struct { .. }
                | Type::Pointer { .. }
                | Type::Other(_)
        );
        let depth = self.depth(&ty)?;
        if let Some(id) = instruction.result().and_then(id_of) {
            self.bind(id, ty, instruction.index, interns);
            self.depths.resize(self.all.len(), depth);
        }
        Ok(())
    }

    /// Returns the nesting depth of a new type.
    fn depth(&self, ty: &Type) -> Result<u8, ModuleErrorKind> {
        let of = |part: &TypeId| self.depths.get(part.0 as usize).copied().unwrap_or(0);
        let inner = match ty {
            Type::Array { element, .. } | Type::RuntimeArray { element } => of(element),
            Type::Struct { members } => {
                let members = &self.members[members.start as usize..members.end as usize];
                members.iter().map(of).max().unwrap_or(0)
            }
            _ => return Ok(0),
        };
        inner.checked_add(1).ok_or(ModuleErrorKind::Limit {
            what: "nesting depth of types",
            found: usize::from(inner) + 1,
            limit: MAX_DEPTH,
        })
    }

    fn parts(
        &mut self,
        words: &[u32],
        part: impl Fn(&Types, u32) -> Result<TypeId, ModuleErrorKind>,
    ) -> Result<Range<u32>, ModuleErrorKind> {
        let start = self.members.len() as u32;
        for word in words {
            let member = part(self, *word)?;
            self.members.push(member);
        }
        Ok(start..self.members.len() as u32)
    }

    fn bind(&mut self, id: DenseId, ty: Type, declaration: InstructionIndex, interns: bool) {
        let slot = id.0 as usize;
        if slot >= self.by_id.len() {
            self.by_id.resize(slot + 1, NONE);
        }
        // This completes a forward pointer; types that refer to it keep its `TypeId`.
        if self.by_id[slot] != NONE {
            self.all[self.by_id[slot] as usize] = ty;
            self.declarations[self.by_id[slot] as usize] = declaration.0;
            return;
        }
        if interns && let Some(known) = self.interned.get(&ty) {
            self.by_id[slot] = known.0;
            return;
        }
        let new = TypeId(self.all.len() as u32);
        if interns {
            self.interned.insert(ty.clone(), new);
        }
        self.all.push(ty);
        self.declarations.push(declaration.0);
        self.by_id[slot] = new.0;
    }
}
