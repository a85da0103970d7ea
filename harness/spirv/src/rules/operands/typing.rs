//! The types of a module as instructions ask for them, and the type of each value: found once.

use std::fmt::Write;

use super::super::Facts;
use crate::module::{Index, Module, Type, TypeId};
use crate::tables::{Op, StorageClass};

/// Kinds of types, as bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    pub(super) bits: u32,
    /// The kinds in words: what is expected.
    pub(super) text: &'static str,
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
/// Whatever is none of the others: function types, events, ray queries, ..
const OPAQUE: u32 = 1 << 16;
/// Types of extensions that stand in for numbers, vectors or arrays: they are not judged.
const FOREIGN: u32 = 1 << 17;

/// The bits of vectors of scalars.
const fn vector(scalars: u32) -> u32 {
    scalars << 4
}

const SCALARS: u32 = BOOL | SIGNED | UNSIGNED | FLOAT;

impl Class {
    const fn new(bits: u32, text: &'static str) -> Class {
        Class { bits, text }
    }

    pub(super) const BOOL: Class = Class::new(BOOL, "a boolean");
    pub(super) const BOOLS: Class = Class::new(BOOL | vector(BOOL), "a boolean or a vector of them");
    pub(super) const BOOL_VECTOR: Class = Class::new(vector(BOOL), "a vector of booleans");
    pub(super) const INT: Class = Class::new(SIGNED | UNSIGNED, "an integer");
    pub(super) const UNSIGNED: Class = Class::new(UNSIGNED, "an unsigned integer");
    pub(super) const INTS: Class =
        Class::new(SIGNED | UNSIGNED | vector(SIGNED | UNSIGNED), "an integer or a vector of them");
    pub(super) const INTS_OR_BOOLS: Class = Class::new(
        BOOL | SIGNED | UNSIGNED | vector(BOOL | SIGNED | UNSIGNED),
        "an integer, a boolean or a vector of them",
    );
    pub(super) const UNSIGNED_INTS: Class =
        Class::new(UNSIGNED | vector(UNSIGNED), "an unsigned integer or a vector of them");
    pub(super) const INT_OR_UNSIGNED_VECTOR: Class =
        Class::new(SIGNED | UNSIGNED | vector(UNSIGNED), "an integer or a vector of unsigned ones");
    pub(super) const INT_VECTOR: Class = Class::new(vector(SIGNED | UNSIGNED), "a vector of integers");
    pub(super) const UNSIGNED_VECTOR: Class = Class::new(vector(UNSIGNED), "a vector of unsigned integers");
    pub(super) const FLOAT: Class = Class::new(FLOAT, "a float");
    pub(super) const FLOATS: Class = Class::new(FLOAT | vector(FLOAT), "a float or a vector of them");
    pub(super) const FLOAT_VECTOR: Class = Class::new(vector(FLOAT), "a vector of floats");
    pub(super) const NUMBER: Class = Class::new(SIGNED | UNSIGNED | FLOAT, "a number");
    pub(super) const NUMBERS: Class =
        Class::new(SIGNED | UNSIGNED | FLOAT | vector(SIGNED | UNSIGNED | FLOAT), "a number or a vector of them");
    pub(super) const NUMBER_VECTOR: Class = Class::new(vector(SIGNED | UNSIGNED | FLOAT), "a vector of numbers");
    pub(super) const SCALAR: Class = Class::new(SCALARS, "a scalar");
    pub(super) const SCALARS: Class = Class::new(SCALARS | vector(SCALARS), "a scalar or a vector of them");
    pub(super) const VECTOR: Class = Class::new(vector(SCALARS), "a vector");
    pub(super) const MATRIX: Class = Class::new(MATRIX, "a matrix");
    pub(super) const POINTER: Class = Class::new(POINTER, "a pointer");
    pub(super) const STRUCT: Class = Class::new(STRUCT, "a structure");
    pub(super) const IMAGE: Class = Class::new(IMAGE, "an image");
    pub(super) const SAMPLED_IMAGE: Class = Class::new(SAMPLED_IMAGE, "a sampled image");
    pub(super) const SAMPLER: Class = Class::new(SAMPLER, "a sampler");
    pub(super) const OBJECT: Class = Class::new(!VOID, "something other than void");
    /// What `OpBitcast` takes and makes.
    pub(super) const BITS: Class = Class::new(
        SIGNED | UNSIGNED | FLOAT | vector(SIGNED | UNSIGNED | FLOAT) | POINTER,
        "a number, a vector of them or a pointer",
    );
    pub(super) const SELECTED: Class =
        Class::new(SCALARS | vector(SCALARS) | POINTER, "a scalar, a vector or a pointer (before SPIR-V 1.4)");
}

/// What there is to know of a type without looking further.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// One bit.
    class: u32,
    /// Bits of a number, or of a vector's or matrix' elements; 0 of all else.
    pub(super) width: u32,
    /// Components of a vector, columns of a matrix; 1 of all else.
    pub(super) count: u32,
    /// Whether it has a null value.
    pub(super) has_null: bool,
}

impl View {
    /// Whether the type is of an extension, and takes the place of others.
    pub(super) fn is_foreign(self) -> bool {
        self.class & FOREIGN != 0
    }

    pub(super) fn is(self, class: Class) -> bool {
        self.class & (class.bits | FOREIGN) != 0
    }
}

/// No type.
const NONE: u32 = u32::MAX;

/// The types of a module, and of its values.
pub(in super::super) struct Typing {
    views: Vec<View>,
    /// By dense id: the type of the value that it is.
    values: Vec<u32>,
    /// Instructions whose Result Type is no type.
    pub(super) without_type: Vec<Index>,
}

/// What an id is as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Value {
    /// One of this type.
    Of(TypeId),
    /// None: a type, a label, a function, ..
    No(Op),
    /// Nobody knows what makes it.
    Unknown,
}

impl Typing {
    pub(in super::super) fn new(module: &Module) -> Typing {
        let mut views: Vec<View> = Vec::new();
        for (id, ty) in module.types() {
            let view = view(ty, module.members(id), |part| views.get(part.0 as usize).copied());
            views.push(view);
        }
        let mut values = vec![NONE; module.id_count()];
        let mut without_type = Vec::new();
        for instruction in module.instructions() {
            let Some(op) = instruction.op else { continue };
            let info = op.info();
            if !info.has_result_type() {
                continue;
            }
            let [_, word, result, ..] = *instruction.words else { continue };
            match module.type_declared(word) {
                // A function's Result Type is what it returns, not its own.
                Some(ty) if info.has_result() && op != Op::Function => {
                    if let Some(value) = module.id(result).and_then(|id| values.get_mut(id.0 as usize)) {
                        *value = ty.0;
                    }
                }
                Some(_) => {}
                None if module.definition_of_word(word).is_none_or(|made| made.op.is_none()) => {}
                None => without_type.push(instruction.index),
            }
        }
        Typing { views, values, without_type }
    }

    pub(super) fn view(&self, ty: TypeId) -> View {
        self.views.get(ty.0 as usize).copied().unwrap_or(UNKNOWN)
    }

    /// What the id of that word is as a value.
    pub(in super::super) fn value(&self, module: &Module, word: u32) -> Value {
        let Some(id) = module.id(word) else { return Value::Unknown };
        match self.values.get(id.0 as usize) {
            Some(ty) if *ty != NONE => Value::Of(TypeId(*ty)),
            _ => match module.definition(id).and_then(|made| Some((made, made.op?))) {
                // What has a Result Type that is none has been told of.
                Some((made, op)) if op == Op::Function || made.result_type().is_none() => Value::No(op),
                _ => Value::Unknown,
            },
        }
    }
}

/// What is not known may be anything.
const UNKNOWN: View = View { class: FOREIGN, width: 0, count: 1, has_null: true };

/// What a type is, by the views of its parts, which are declared before it.
fn view(ty: &Type, members: &[TypeId], of: impl Fn(TypeId) -> Option<View>) -> View {
    let of = |part: TypeId| of(part).unwrap_or(UNKNOWN);
    let plain = |class, has_null| View { class, width: 0, count: 1, has_null };
    let number = |class, width| View { class, width, count: 1, has_null: true };
    match *ty {
        Type::Void => plain(VOID, false),
        Type::Bool => plain(BOOL, true),
        Type::Int { width, signed } => number(if signed { SIGNED } else { UNSIGNED }, width),
        Type::Float { width, .. } => number(FLOAT, width),
        Type::Vector { component, count } => match of(component) {
            part if part.class & SCALARS != 0 => View { class: vector(part.class), count, ..part },
            // Vectors of pointers are an extension's.
            _ => UNKNOWN,
        },
        Type::Matrix { column, count } => View { class: MATRIX, count, ..of(column) },
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
        Type::Other(_) => UNKNOWN,
    }
}

/// A type in words.
pub(super) fn show(facts: &Facts, ty: TypeId) -> String {
    let mut out = String::new();
    write_type(facts, ty, false, &mut out).expect("writing to a string");
    out
}

/// `behind`: whether a pointer leads here, behind which another is not followed; types do not nest without end.
fn write_type(facts: &Facts, ty: TypeId, behind: bool, out: &mut String) -> std::fmt::Result {
    match *facts.module.ty(ty) {
        Type::Void => write!(out, "void"),
        Type::Bool => write!(out, "bool"),
        Type::Int { width, signed } => write!(out, "{}int{width}", if signed { "" } else { "u" }),
        Type::Float { encoding: Some(encoding), .. } => write!(out, "{encoding}"),
        Type::Float { width, .. } => write!(out, "float{width}"),
        Type::Vector { component, count } => {
            write_type(facts, component, behind, out)?;
            write!(out, "x{count}")
        }
        Type::Matrix { column, count } => {
            write!(out, "matrix of {count} ")?;
            write_type(facts, column, behind, out)
        }
        Type::Image(_) => write!(out, "image"),
        Type::Sampler => write!(out, "sampler"),
        Type::SampledImage { .. } => write!(out, "sampled image"),
        Type::Array { element, .. } | Type::RuntimeArray { element } => {
            write!(out, "array of ")?;
            write_type(facts, element, behind, out)
        }
        Type::Struct { .. } => {
            write!(out, "structure {}", facts.type_word(ty).map_or_else(String::new, |word| facts.name(word)))
        }
        Type::Pointer { .. } if behind => write!(out, "pointer"),
        Type::Pointer { class, pointee: None } => write!(out, "pointer into {class}"),
        Type::Pointer { class, pointee: Some(pointee) } => {
            write!(out, "pointer into {class} to ")?;
            write_type(facts, pointee, true, out)
        }
        Type::Function { .. } => write!(out, "function type"),
        Type::Other(op) => write!(out, "{op}"),
    }
}
