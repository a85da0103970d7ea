//! Summaries of a module's types and the type of each value, computed once.

use std::fmt::Write;

use assay_spirv::module::{InstructionIndex, Module, Type, TypeId};
use assay_spirv::tables::{Op, StorageClass};

/// Set of kinds of types, as bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeClass {
    pub(crate) bits: u32,
    /// Description of the kinds, for messages.
    pub(crate) text: &'static str,
}

const BOOL: u32 = 1 << 0;
const SIGNED: u32 = 1 << 1;
const UNSIGNED: u32 = 1 << 2;
const FLOAT: u32 = 1 << 3;
const POINTER: u32 = 1 << 8;
const MATRIX: u32 = 1 << 9;
const STRUCT: u32 = 1 << 10;
const ARRAY: u32 = 1 << 11;
const IMAGE: u32 = 1 << 12;
const SAMPLED_IMAGE: u32 = 1 << 13;
const SAMPLER: u32 = 1 << 14;
const VOID: u32 = 1 << 15;
/// All other kinds: function types, events, ray queries and so on.
const OPAQUE: u32 = 1 << 16;
/// Types that satisfy every constraint: types of extensions that represent numbers, vectors or
/// arrays, and unknown types.
const UNCONSTRAINED: u32 = 1 << 17;

/// Bits of vectors whose components have one of these scalar bits.
const fn vector(scalars: u32) -> u32 {
    scalars << 4
}

const SCALARS: u32 = BOOL | SIGNED | UNSIGNED | FLOAT;

impl TypeClass {
    const fn new(bits: u32, text: &'static str) -> TypeClass {
        TypeClass { bits, text }
    }

    pub(crate) const BOOL: TypeClass = TypeClass::new(BOOL, "a boolean");
    pub(crate) const BOOLS: TypeClass = TypeClass::new(BOOL | vector(BOOL), "a boolean or a vector of booleans");
    pub(crate) const BOOL_VECTOR: TypeClass = TypeClass::new(vector(BOOL), "a vector of booleans");
    pub(crate) const INT: TypeClass = TypeClass::new(SIGNED | UNSIGNED, "an integer");
    pub(crate) const UNSIGNED: TypeClass = TypeClass::new(UNSIGNED, "an unsigned integer");
    pub(crate) const INTS: TypeClass =
        TypeClass::new(SIGNED | UNSIGNED | vector(SIGNED | UNSIGNED), "an integer or a vector of integers");
    pub(crate) const INTS_OR_BOOLS: TypeClass = TypeClass::new(
        BOOL | SIGNED | UNSIGNED | vector(BOOL | SIGNED | UNSIGNED),
        "an integer, a boolean or a vector of these",
    );
    pub(crate) const UNSIGNED_INTS: TypeClass =
        TypeClass::new(UNSIGNED | vector(UNSIGNED), "an unsigned integer or a vector of unsigned integers");
    pub(crate) const INT_OR_UNSIGNED_VECTOR: TypeClass =
        TypeClass::new(SIGNED | UNSIGNED | vector(UNSIGNED), "an integer or a vector of unsigned integers");
    pub(crate) const INT_VECTOR: TypeClass = TypeClass::new(vector(SIGNED | UNSIGNED), "a vector of integers");
    pub(crate) const UNSIGNED_VECTOR: TypeClass = TypeClass::new(vector(UNSIGNED), "a vector of unsigned integers");
    pub(crate) const FLOAT: TypeClass = TypeClass::new(FLOAT, "a float");
    pub(crate) const FLOATS: TypeClass = TypeClass::new(FLOAT | vector(FLOAT), "a float or a vector of floats");
    pub(crate) const FLOAT_VECTOR: TypeClass = TypeClass::new(vector(FLOAT), "a vector of floats");
    pub(crate) const NUMBER: TypeClass = TypeClass::new(SIGNED | UNSIGNED | FLOAT, "a number");
    pub(crate) const NUMBERS: TypeClass = TypeClass::new(
        SIGNED | UNSIGNED | FLOAT | vector(SIGNED | UNSIGNED | FLOAT),
        "a number or a vector of numbers",
    );
    pub(crate) const NUMBER_VECTOR: TypeClass =
        TypeClass::new(vector(SIGNED | UNSIGNED | FLOAT), "a vector of numbers");
    pub(crate) const SCALAR: TypeClass = TypeClass::new(SCALARS, "a scalar");
    pub(crate) const SCALARS: TypeClass = TypeClass::new(SCALARS | vector(SCALARS), "a scalar or a vector");
    pub(crate) const VECTOR: TypeClass = TypeClass::new(vector(SCALARS), "a vector");
    pub(crate) const MATRIX: TypeClass = TypeClass::new(MATRIX, "a matrix");
    pub(crate) const POINTER: TypeClass = TypeClass::new(POINTER, "a pointer");
    pub(crate) const STRUCT: TypeClass = TypeClass::new(STRUCT, "a structure");
    pub(crate) const IMAGE: TypeClass = TypeClass::new(IMAGE, "an image");
    pub(crate) const SAMPLED_IMAGE: TypeClass = TypeClass::new(SAMPLED_IMAGE, "a sampled image");
    pub(crate) const SAMPLER: TypeClass = TypeClass::new(SAMPLER, "a sampler");
    pub(crate) const OBJECT: TypeClass = TypeClass::new(!VOID, "a type other than void");
    /// Operands and results of `OpBitcast`.
    pub(crate) const BITS: TypeClass = TypeClass::new(
        SIGNED | UNSIGNED | FLOAT | vector(SIGNED | UNSIGNED | FLOAT) | POINTER,
        "a number, a vector of numbers or a pointer",
    );
    pub(crate) const SELECTED: TypeClass =
        TypeClass::new(SCALARS | vector(SCALARS) | POINTER, "a scalar, a vector or a pointer (before SPIR-V 1.4)");
}

/// Summary of a type that suffices for most constraints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeSummary {
    /// Kind of the type: exactly one bit.
    class: u32,
    /// Width of a number, or of the components of a vector or matrix; 0 for other types.
    pub(crate) width: u32,
    /// Number of components of a vector or of columns of a matrix; 1 for other types.
    pub(crate) count: u32,
    /// True if the type has a null value.
    pub(crate) has_null: bool,
}

impl TypeSummary {
    /// Returns whether the type satisfies every constraint.
    pub(crate) fn is_unconstrained(self) -> bool {
        self.class & UNCONSTRAINED != 0
    }

    pub(crate) fn is(self, class: TypeClass) -> bool {
        self.class & (class.bits | UNCONSTRAINED) != 0
    }
}

/// Marks an id without a type.
const NO_TYPE: u32 = u32::MAX;

/// Summaries of all types, and the types of all values.
pub(crate) struct Typing {
    views: Vec<TypeSummary>,
    /// By dense id, the type of the value. [`NO_TYPE`] if the id is not a value.
    values: Vec<u32>,
    /// Instructions whose Result Type is not a type.
    pub(crate) without_type: Vec<InstructionIndex>,
}

/// Type of the value that an id denotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdType {
    /// A value of this type.
    Known(TypeId),
    /// Not a value, but for example a type, label or function; with the opcode that defines it.
    NotAValue(Op),
    /// The id has no known definition.
    Unknown,
}

impl Typing {
    pub(crate) fn new(module: &Module) -> Typing {
        let mut views: Vec<TypeSummary> = Vec::new();
        for (id, ty) in module.types() {
            let view = view(ty, module.members(id), |part| views.get(part.0 as usize).copied());
            views.push(view);
        }
        let mut values = vec![NO_TYPE; module.id_count()];
        let mut without_type = Vec::new();
        for instruction in module.instructions() {
            let Some(op) = instruction.op else { continue };
            let info = op.info();
            if !info.has_result_type() {
                continue;
            }
            let [_, word, result, ..] = *instruction.words else { continue };
            match module.type_declared(word) {
                // The Result Type of a function is its return type, not its own type.
                Some(ty) if info.has_result() && op != Op::Function => {
                    if let Some(value) = module.dense_id(result).and_then(|id| values.get_mut(id.0 as usize)) {
                        *value = ty.0;
                    }
                }
                Some(_) => {}
                None if module.definition_of(word).is_none_or(|made| made.op.is_none()) => {}
                None => without_type.push(instruction.index),
            }
        }
        Typing { views, values, without_type }
    }

    pub(crate) fn view(&self, ty: TypeId) -> TypeSummary {
        self.views.get(ty.0 as usize).copied().unwrap_or(UNKNOWN_TYPE)
    }

    /// Type of the value that an id denotes.
    pub(crate) fn value(&self, module: &Module, word: u32) -> IdType {
        let Some(id) = module.dense_id(word) else { return IdType::Unknown };
        match self.values.get(id.0 as usize) {
            Some(ty) if *ty != NO_TYPE => IdType::Known(TypeId(*ty)),
            _ => match module.definition(id).and_then(|made| Some((made, made.op?))) {
                // A definition whose Result Type is not a type is checked by result-type.
                Some((made, op)) if op == Op::Function || made.result_type().is_none() => IdType::NotAValue(op),
                _ => IdType::Unknown,
            },
        }
    }
}

/// Unknown types satisfy every constraint.
const UNKNOWN_TYPE: TypeSummary = TypeSummary { class: UNCONSTRAINED, width: 0, count: 1, has_null: true };

/// Summarizes a type from the summaries of its parts, which are declared before it.
fn view(ty: &Type, members: &[TypeId], of: impl Fn(TypeId) -> Option<TypeSummary>) -> TypeSummary {
    let of = |part: TypeId| of(part).unwrap_or(UNKNOWN_TYPE);
    let plain = |class, has_null| TypeSummary { class, width: 0, count: 1, has_null };
    let number = |class, width| TypeSummary { class, width, count: 1, has_null: true };
    match *ty {
        Type::Void => plain(VOID, false),
        Type::Bool => plain(BOOL, true),
        Type::Int { width, signed } => number(if signed { SIGNED } else { UNSIGNED }, width),
        Type::Float { width, .. } => number(FLOAT, width),
        Type::Vector { component, count } => match of(component) {
            part if part.class & SCALARS != 0 => TypeSummary { class: vector(part.class), count, ..part },
            // Vectors of pointers belong to an extension.
            _ => UNKNOWN_TYPE,
        },
        Type::Matrix { column, count } => TypeSummary { class: MATRIX, count, ..of(column) },
        Type::Image(_) => plain(IMAGE, false),
        Type::Sampler => plain(SAMPLER, false),
        Type::SampledImage { .. } => plain(SAMPLED_IMAGE, false),
        Type::Array { element, .. } => plain(ARRAY, of(element).has_null),
        Type::RuntimeArray { .. } => plain(ARRAY, false),
        Type::Struct { .. } => plain(STRUCT, members.iter().all(|member| of(*member).has_null)),
        Type::Pointer { class, .. } => plain(POINTER, class != StorageClass::PhysicalStorageBuffer),
        Type::Function { .. } => plain(OPAQUE, false),
        Type::Other(Op::TypeRayQueryKHR | Op::TypeAccelerationStructureKHR | Op::TypePipe | Op::TypeNamedBarrier) => {
            plain(OPAQUE, false)
        }
        Type::Other(Op::TypeEvent | Op::TypeDeviceEvent | Op::TypeReserveId | Op::TypeQueue) => plain(OPAQUE, true),
        Type::Other(_) => UNKNOWN_TYPE,
    }
}

/// Describes a type for messages.
pub(crate) fn show(module: &Module, ty: TypeId) -> String {
    let mut out = String::new();
    write_type(module, ty, false, &mut out).expect("writing to a string");
    out
}

/// `behind`: the type is a pointee. Pointers in it are not followed further, so the description is
/// finite.
fn write_type(module: &Module, ty: TypeId, behind: bool, out: &mut String) -> std::fmt::Result {
    match *module.ty(ty) {
        Type::Void => write!(out, "void"),
        Type::Bool => write!(out, "bool"),
        Type::Int { width, signed } => write!(out, "{}int{width}", if signed { "" } else { "u" }),
        Type::Float { encoding: Some(encoding), .. } => write!(out, "{encoding}"),
        Type::Float { width, .. } => write!(out, "float{width}"),
        Type::Vector { component, count } => {
            write_type(module, component, behind, out)?;
            write!(out, "x{count}")
        }
        Type::Matrix { column, count } => {
            write!(out, "matrix of {count} ")?;
            write_type(module, column, behind, out)
        }
        Type::Image(_) => write!(out, "image"),
        Type::Sampler => write!(out, "sampler"),
        Type::SampledImage { .. } => write!(out, "sampled image"),
        Type::Array { element, .. } | Type::RuntimeArray { element } => {
            write!(out, "array of ")?;
            write_type(module, element, behind, out)
        }
        Type::Struct { .. } => {
            let word = module.type_definition(ty).result();
            write!(out, "structure {}", word.map_or_else(String::new, |word| module.names().display(word)))
        }
        Type::Pointer { .. } if behind => write!(out, "pointer"),
        Type::Pointer { class, pointee: None } => write!(out, "pointer into {class}"),
        Type::Pointer { class, pointee: Some(pointee) } => {
            write!(out, "pointer into {class} to ")?;
            write_type(module, pointee, true, out)
        }
        Type::Function { .. } => write!(out, "function type"),
        Type::Other(op) => write!(out, "{op}"),
    }
}
