//! Atomic operations on buffers, workgroup memory and texels: the final values under contention,
//! and the returned values without it.

use super::about;
use super::bit_preservation::{self, FloatMode};
use super::operand_rows::Ty;
use crate::bytes::{bytes_input, contents_before, pattern};
use crate::module_builder::ModuleBuilder;
use crate::{Case, Program};
use assay_check::Options;
use assay_oracle::Slot;

const CLAUSE: &str = "SPIR-V specification, 3.42.18 atomic instructions";

/// Storage of the values that the atomics change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtomicStorage {
    Buffer,
    Workgroup,
    Image,
}

/// The new value of an atomic operation, from width, old value, operand and comparator.
type Effect = fn(u32, u64, u64, u64) -> u64;

struct Operation {
    name: &'static str,
    spirv: &'static str,
    /// Number of operands after pointer, scope and semantics: none, a value, or a value and a
    /// comparator (with semantics of its own).
    operands: u32,
    /// `Some(true)` for signed types only, `Some(false)` for unsigned types only.
    signed: Option<bool>,
    /// Set if the final value does not depend on the order of the operations.
    commutes: bool,
    effect: Effect,
}

fn signed(width: u32, bits: u64) -> i64 {
    (bits << (64 - width)).cast_signed() >> (64 - width)
}

const fn operation(
    (name, spirv): (&'static str, &'static str),
    operands: u32,
    signed: Option<bool>,
    commutes: bool,
    effect: Effect,
) -> Operation {
    Operation { name, spirv, operands, signed, commutes, effect }
}

#[rustfmt::skip]
const INTEGERS: [Operation; 13] = [
    operation(("exchange", "OpAtomicExchange"), 1, None, false, |_, _, b, _| b),
    operation(("compareexchange", "OpAtomicCompareExchange"), 2, None, false, |_, a, b, c| if a == c { b } else { a }),
    operation(("iincrement", "OpAtomicIIncrement"), 0, None, true, |_, a, _, _| a.wrapping_add(1)),
    operation(("idecrement", "OpAtomicIDecrement"), 0, None, true, |_, a, _, _| a.wrapping_sub(1)),
    operation(("iadd", "OpAtomicIAdd"), 1, None, true, |_, a, b, _| a.wrapping_add(b)),
    operation(("isub", "OpAtomicISub"), 1, None, true, |_, a, b, _| a.wrapping_sub(b)),
    operation(("and", "OpAtomicAnd"), 1, None, true, |_, a, b, _| a & b),
    operation(("or", "OpAtomicOr"), 1, None, true, |_, a, b, _| a | b),
    operation(("xor", "OpAtomicXor"), 1, None, true, |_, a, b, _| a ^ b),
    operation(("umin", "OpAtomicUMin"), 1, Some(false), true, |_, a, b, _| a.min(b)),
    operation(("umax", "OpAtomicUMax"), 1, Some(false), true, |_, a, b, _| a.max(b)),
    operation(("smin", "OpAtomicSMin"), 1, Some(true), true, |w, a, b, _| if signed(w, a) < signed(w, b) { a } else { b }),
    operation(("smax", "OpAtomicSMax"), 1, Some(true), true, |w, a, b, _| if signed(w, a) > signed(w, b) { a } else { b }),
];

fn float(width: u32, bits: u64) -> f64 {
    if width == 32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) }
}

fn bits_of(width: u32, value: f64) -> u64 {
    if width == 32 { u64::from((value as f32).to_bits()) } else { value.to_bits() }
}

/// Operations on floats. The values have exact sums, and none is zero.
#[rustfmt::skip]
const FLOATS: [Operation; 4] = [
    operation(("fexchange", "OpAtomicExchange"), 1, None, false, |_, _, b, _| b),
    operation(("fadd", "OpAtomicFAddEXT"), 1, None, false, |w, a, b, _| bits_of(w, float(w, a) + float(w, b))),
    operation(("fmin", "OpAtomicFMinEXT"), 1, None, false, |w, a, b, _| bits_of(w, float(w, a).min(float(w, b)))),
    operation(("fmax", "OpAtomicFMaxEXT"), 1, None, false, |w, a, b, _| bits_of(w, float(w, a).max(float(w, b)))),
];

/// Operations that preserve the bits of floats, also of those that arithmetic may change.
#[rustfmt::skip]
const BIT_PRESERVING: [Operation; 3] = [
    operation(("fload", "OpAtomicLoad"), 0, None, false, |_, a, _, _| a),
    operation(("fstore", "OpAtomicStore"), 1, None, false, |_, _, b, _| b),
    operation(("fexchange", "OpAtomicExchange"), 1, None, false, |_, _, b, _| b),
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = special();
    for storage in [AtomicStorage::Buffer, AtomicStorage::Workgroup, AtomicStorage::Image] {
        for operation in &INTEGERS {
            for width in [32, 64] {
                for is_signed in [false, true] {
                    if operation.signed.is_some_and(|wanted| wanted != is_signed) {
                        continue;
                    }
                    let ty = Ty::Int { width, signed: is_signed };
                    cases.push(case(operation, ty, storage, false));
                    if operation.commutes {
                        cases.push(case(operation, ty, storage, true));
                    }
                }
            }
        }
        for operation in &FLOATS {
            for width in [32, 64] {
                // No image format has 64-bit float texels.
                if storage != AtomicStorage::Image || width == 32 {
                    cases.push(case(operation, Ty::Float { width }, storage, false));
                }
            }
        }
    }
    cases
}

/// Bit-preserving atomics on the special values and under the modes of [`bit_preservation`].
fn special() -> Vec<Case> {
    let mut cases = Vec::new();
    for (storage, widths) in [
        (AtomicStorage::Buffer, &[16, 32, 64][..]),
        (AtomicStorage::Workgroup, &[16, 32, 64]),
        (AtomicStorage::Image, &[32]),
    ] {
        for operation in &BIT_PRESERVING {
            for width in widths.iter().copied() {
                for mode in FloatMode::ALL {
                    cases.push(special_case(operation, Ty::Float { width }, storage, mode));
                }
            }
        }
    }
    cases
}

fn special_case(operation: &'static Operation, ty: Ty, storage: AtomicStorage, mode: FloatMode) -> Case {
    let name =
        format!("environment.atomic.{}.{}.{}.special{}", storage.name(), operation.name, ty.name(), mode.suffix());
    let subject =
        about(operation.spirv, format!("{0} <- {0}", ty.name()), bit_preservation::RULE, bit_preservation::CLAUSE);
    let case = Case::core(name, subject, move || program(operation, ty, storage, Values::Special(mode)));
    case.covering([bit_preservation::COVERS]).thinned(ty.width() != 32 || mode == FloatMode::DenormFlushToZero)
}

const LOCAL: u32 = 64;
const GROUPS: u32 = 4;
const COUNT: u32 = LOCAL * GROUPS;

/// Bindings: the changed values (for workgroup memory, its initial and final contents), the
/// operands, the returned values.
const VALUES: u32 = 0;
const OPERANDS: u32 = 1;
const RETURNED: u32 = 2;

impl AtomicStorage {
    fn name(self) -> &'static str {
        match self {
            AtomicStorage::Buffer => "buffer",
            AtomicStorage::Workgroup => "workgroup",
            AtomicStorage::Image => "image",
        }
    }
}

/// The values of a program, and the invocations that change each of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    /// Each invocation has a value of its own.
    Own,
    /// The invocations of a workgroup share a few values, and the returned values are not checked.
    Shared,
    /// Each invocation has a value of its own, special floats included; the module declares the
    /// mode.
    Special(FloatMode),
}

impl Operation {
    /// Declares the capabilities and extensions that the operation requires in addition to the
    /// type's.
    fn enable(&self, shader: &mut ModuleBuilder, ty: Ty, storage: AtomicStorage) {
        match (ty, storage) {
            (Ty::Int { width: 64, .. }, AtomicStorage::Image) => {
                shader.capability("Int64ImageEXT");
                shader.capability("Int64Atomics");
                shader.extension("SPV_EXT_shader_image_int64");
            }
            (Ty::Int { width: 64, .. }, _) => shader.capability("Int64Atomics"),
            (Ty::Float { width }, _) => match self.name {
                "fadd" => {
                    shader.extension("SPV_EXT_shader_atomic_float_add");
                    shader.capability(&format!("AtomicFloat{width}AddEXT"));
                }
                "fmin" | "fmax" => {
                    shader.extension("SPV_EXT_shader_atomic_float_min_max");
                    shader.capability(&format!("AtomicFloat{width}MinMaxEXT"));
                }
                _ => {}
            },
            (Ty::Int { .. }, _) => {}
        }
    }

    /// The value (`which` 0), operand (1) or comparator (2) at a place.
    fn bits(&self, ty: Ty, place: u32, which: u32, values: Values) -> u64 {
        match ty {
            _ if matches!(values, Values::Special(_)) => bit_preservation::special(ty, place + 7 * which),
            Ty::Float { width } => {
                bits_of(width, f64::from((place * 37 + which * 11) % 64) * 0.25 - 8.125 + f64::from(which) / 16.0)
            }
            Ty::Int { width, .. } => {
                let spread = u64::from(place * 3 + which + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                // Half of the comparators equal the value.
                if which == 2 && place.is_multiple_of(2) {
                    self.bits(ty, place, 0, values)
                } else {
                    spread >> (64 - width)
                }
            }
        }
    }
}

/// If `shared` is set, the invocations of a workgroup share a few values, and the returned values
/// are not checked. Otherwise each invocation has a value of its own.
fn case(operation: &'static Operation, ty: Ty, storage: AtomicStorage, shared: bool) -> Case {
    let how = if shared { "shared" } else { "own" };
    let subject = about(
        operation.spirv,
        format!("{0} <- {0}", ty.name()),
        if shared {
            "concurrent atomic operations are all applied"
        } else {
            "an atomic operation returns the old value and stores the new one"
        },
        CLAUSE,
    );
    let name = format!("environment.atomic.{}.{}.{}.{how}", storage.name(), operation.name, ty.name());
    let values = if shared { Values::Shared } else { Values::Own };
    Case::core(name, subject, move || program(operation, ty, storage, values))
}

fn array(shader: &mut ModuleBuilder, scalar: &str, bytes: u32, binding: u32) -> String {
    let array = shader.array(scalar, COUNT, Some(bytes));
    let block = shader.block(&[(array, 0)], "Block");
    shader.resource("StorageBuffer", &block, binding)
}

fn program(operation: &'static Operation, ty: Ty, storage: AtomicStorage, kind: Values) -> Program {
    // Number of values that the invocations of a workgroup share.
    const SHARED: u32 = 5;
    let (bytes, shared) = (ty.bytes(), kind == Values::Shared);
    let returns = !shared && operation.spirv != "OpAtomicStore";
    let mut shader = ModuleBuilder::new([LOCAL, 1, 1]);
    if let Values::Special(mode) = kind {
        mode.declare(&mut shader, ty.width());
    }
    operation.enable(&mut shader, ty, storage);
    let scalar = ty.declare(&mut shader);
    let operands = if operation.operands > 0 { array(&mut shader, &scalar, bytes, OPERANDS) } else { String::new() };
    let comparators =
        if operation.operands > 1 { array(&mut shader, &scalar, bytes, RETURNED + 1) } else { String::new() };
    let returned = if returns { array(&mut shader, &scalar, bytes, RETURNED) } else { String::new() };
    let u32 = shader.u32();
    let [zero, one, two] = [0, 1, 2].map(|n| shader.constant_u32(n));
    let global = shader.global_x();
    let local = shader.builtin_component("LocalInvocationId", 0);
    let group = shader.builtin_component("WorkgroupId", 0);
    // Index of the value within the workgroup, then in the whole dispatch.
    let few = shader.constant_u32(SHARED);
    let size = shader.constant_u32(LOCAL);
    let within = if shared { shader.op(&u32, "OpUMod", format_args!("{local} {few}")) } else { local.clone() };
    let first = shader.op(&u32, "OpIMul", format_args!("{group} {size}"));
    let place = shader.op(&u32, "OpIAdd", format_args!("{first} {within}"));
    let mut workgroup = String::new();
    let mut values = String::new();
    let pointer = match storage {
        AtomicStorage::Buffer => {
            values = array(&mut shader, &scalar, bytes, VALUES);
            shader.access("StorageBuffer", &scalar, &values, &[&zero, &place])
        }
        AtomicStorage::Workgroup => {
            values = array(&mut shader, &scalar, bytes, VALUES);
            let length = shader.constant_u32(LOCAL);
            let memory = shader.declare(&format!("OpTypeArray {scalar} {length}"));
            workgroup = shader.variable("Workgroup", &memory);
            copy(
                &mut shader,
                &scalar,
                ("StorageBuffer", &values, &[&zero, &global]),
                ("Workgroup", &workgroup, &[&local]),
            );
            barrier(&mut shader);
            shader.access("Workgroup", &scalar, &workgroup, &[&within])
        }
        AtomicStorage::Image => {
            let format = match ty {
                Ty::Int { width: 64, signed: true } => "R64i",
                Ty::Int { width: 64, signed: false } => "R64ui",
                Ty::Int { signed: true, .. } => "R32i",
                Ty::Int { signed: false, .. } => "R32ui",
                Ty::Float { .. } => "R32f",
            };
            shader.capability("Image1D");
            let image = shader.declare(&format!("OpTypeImage {scalar} 1D 0 0 0 2 {format}"));
            let variable = shader.resource("UniformConstant", &image, VALUES);
            let ty = shader.pointer("Image", &scalar);
            shader.op(&ty, "OpImageTexelPointer", format_args!("{variable} {place} {zero}"))
        }
    };
    let read = |shader: &mut ModuleBuilder, from: &str| {
        let at = shader.access("StorageBuffer", &scalar, from, &[&zero, &global]);
        shader.op(&scalar, "OpLoad", at)
    };
    let list = match operation.operands {
        0 => String::new(),
        1 => format!(" {}", read(&mut shader, &operands)),
        // Operands: semantics for the unequal case, value, comparator.
        _ => {
            let (value, comparator) = (read(&mut shader, &operands), read(&mut shader, &comparators));
            format!(" {zero} {value} {comparator}")
        }
    };
    let scope = if storage == AtomicStorage::Workgroup { &two } else { &one };
    let operand_list = format!("{pointer} {scope} {zero}{list}");
    let old = match operation.spirv {
        "OpAtomicStore" => {
            shader.run(format_args!("OpAtomicStore {operand_list}"));
            String::new()
        }
        spirv => shader.op(&scalar, spirv, operand_list),
    };
    if returns {
        let to = shader.access("StorageBuffer", &scalar, &returned, &[&zero, &global]);
        shader.run(format_args!("OpStore {to} {old}"));
    }
    if storage == AtomicStorage::Workgroup {
        barrier(&mut shader);
        copy(&mut shader, &scalar, ("Workgroup", &workgroup, &[&local]), ("StorageBuffer", &values, &[&zero, &global]));
    }
    let mut options = Options { groups: Some([GROUPS, 1, 1]), ..Options::default() };
    let contents = |number: u32| -> Vec<u8> {
        let bytes = (0..COUNT).flat_map(|place| {
            let bits = operation.bits(ty, place, number, kind).to_le_bytes();
            bits.into_iter().take(ty.bytes() as usize)
        });
        bytes.collect()
    };
    options.inputs.push(bytes_input(VALUES, contents(0)));
    if operation.operands > 0 {
        options.inputs.push(bytes_input(OPERANDS, contents(1)));
    }
    if operation.operands > 1 {
        options.inputs.push(bytes_input(RETURNED + 1, contents(2)));
    }
    if returns {
        options.inputs.push(bytes_input(RETURNED, pattern(COUNT * bytes, 21)));
    }
    Program::new(shader.finish(), options).with_reference(move |dispatch| {
        let bits = |place: u32, number: u32| operation.bits(ty, place, number, kind);
        let mut values: Vec<u64> = (0..COUNT).map(|place| bits(place, 0)).collect();
        let mut returned = Vec::new();
        for i in 0..COUNT {
            let place = if shared { i / LOCAL * LOCAL + i % LOCAL % SHARED } else { i };
            let old = values[place as usize];
            let new = (operation.effect)(ty.width(), old, bits(i, 1), bits(i, 2));
            values[place as usize] = new & (u64::MAX >> (64 - ty.width()));
            returned.push(old);
        }
        let bytes = |values: &[u64]| -> Vec<u8> {
            values.iter().flat_map(|v| v.to_le_bytes().into_iter().take(ty.bytes() as usize)).collect()
        };
        let mut memory = std::collections::BTreeMap::from([(Slot::new(0, VALUES), bytes(&values))]);
        if !contents_before(dispatch, RETURNED).is_empty() {
            memory.insert(Slot::new(0, RETURNED), bytes(&returned));
        }
        memory
    })
}

/// An element: storage class, variable, indices.
type Element<'a> = (&'static str, &'a str, &'a [&'a str]);

fn copy(shader: &mut ModuleBuilder, scalar: &str, from: Element<'_>, to: Element<'_>) {
    let pointer = shader.access(from.0, scalar, from.1, from.2);
    let value = shader.op(scalar, "OpLoad", pointer);
    let pointer = shader.access(to.0, scalar, to.1, to.2);
    shader.run(format_args!("OpStore {pointer} {value}"));
}

/// Emits a workgroup barrier that makes workgroup memory visible to the whole workgroup.
pub(super) fn barrier(shader: &mut ModuleBuilder) {
    let (workgroup, semantics) = (shader.constant_u32(2), shader.constant_u32(0x8 | 0x100));
    shader.run(format_args!("OpControlBarrier {workgroup} {workgroup} {semantics}"));
}
