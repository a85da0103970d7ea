//! Atomic operations on buffers, workgroup memory and texels: what they leave when many meet, and what they return to one.

use super::about;
use super::apply::Ty;
use super::bits::{self, Mode};
use crate::bytes::{before, given, pattern};
use crate::write::Shader;
use crate::{Case, Program};
use assay_check::Options;
use assay_oracle::Slot;

const CLAUSE: &str = "SPIR-V specification, 3.42.18 atomic instructions";

/// Where the values that are changed lie.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    Buffer,
    Workgroup,
    Image,
}

/// What an operation does to a value: bits of old value, operand and comparator, and width.
type Does = fn(u32, u64, u64, u64) -> u64;

struct Operation {
    name: &'static str,
    spirv: &'static str,
    /// Operands beside pointer, scope and semantics: none, a value, or a value and a comparator with semantics of its own.
    operands: u32,
    /// Signed types only, unsigned only, or both.
    signed: Option<bool>,
    /// Whether the order of operations makes no difference to what they leave.
    commutes: bool,
    does: Does,
}

fn signed(width: u32, bits: u64) -> i64 {
    (bits << (64 - width)).cast_signed() >> (64 - width)
}

const fn operation(
    (name, spirv): (&'static str, &'static str),
    operands: u32,
    signed: Option<bool>,
    commutes: bool,
    does: Does,
) -> Operation {
    Operation { name, spirv, operands, signed, commutes, does }
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

/// Of floats, on numbers whose sums are exact and none of which is a zero.
#[rustfmt::skip]
const FLOATS: [Operation; 4] = [
    operation(("fexchange", "OpAtomicExchange"), 1, None, false, |_, _, b, _| b),
    operation(("fadd", "OpAtomicFAddEXT"), 1, None, false, |w, a, b, _| bits_of(w, float(w, a) + float(w, b))),
    operation(("fmin", "OpAtomicFMinEXT"), 1, None, false, |w, a, b, _| bits_of(w, float(w, a).min(float(w, b)))),
    operation(("fmax", "OpAtomicFMaxEXT"), 1, None, false, |w, a, b, _| bits_of(w, float(w, a).max(float(w, b)))),
];

/// What preserves the bits of floats, also of those that an instruction on numbers may change.
#[rustfmt::skip]
const KEPT: [Operation; 3] = [
    operation(("fload", "OpAtomicLoad"), 0, None, false, |_, a, _, _| a),
    operation(("fstore", "OpAtomicStore"), 1, None, false, |_, _, b, _| b),
    operation(("fexchange", "OpAtomicExchange"), 1, None, false, |_, _, b, _| b),
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = special();
    for home in [Home::Buffer, Home::Workgroup, Home::Image] {
        for operation in &INTEGERS {
            for width in [32, 64] {
                for is_signed in [false, true] {
                    if operation.signed.is_some_and(|wanted| wanted != is_signed) {
                        continue;
                    }
                    let ty = Ty::Int { width, signed: is_signed };
                    cases.push(case(operation, ty, home, false));
                    if operation.commutes {
                        cases.push(case(operation, ty, home, true));
                    }
                }
            }
        }
        for operation in &FLOATS {
            for width in [32, 64] {
                // There are no texels of 64-bit floats.
                if home != Home::Image || width == 32 {
                    cases.push(case(operation, Ty::Float { width }, home, false));
                }
            }
        }
    }
    cases
}

/// Atomics that preserve bits, on special values: [`bits`] says which and under which modes.
fn special() -> Vec<Case> {
    let mut cases = Vec::new();
    for (home, widths) in [(Home::Buffer, &[16, 32, 64][..]), (Home::Workgroup, &[16, 32, 64]), (Home::Image, &[32])] {
        for operation in &KEPT {
            for width in widths.iter().copied() {
                for mode in Mode::ALL {
                    cases.push(of_special(operation, Ty::Float { width }, home, mode));
                }
            }
        }
    }
    cases
}

fn of_special(operation: &'static Operation, ty: Ty, home: Home, mode: Mode) -> Case {
    let name = format!("environment.atomic.{}.{}.{}.special{}", home.name(), operation.name, ty.name(), mode.suffix());
    let about = about(operation.spirv, format!("{0} <- {0}", ty.name()), bits::RULE, bits::CLAUSE);
    let case = Case::core(name, about, move || program(operation, ty, home, Values::Special(mode)));
    case.covering([bits::COVERS]).thinned(ty.width() != 32 || mode == Mode::DenormFlushToZero)
}

const LOCAL: u32 = 64;
const GROUPS: u32 = 4;
const COUNT: u32 = LOCAL * GROUPS;

/// Bindings: the values that are changed (of workgroup memory what they are at first and at last), operands, what is returned.
const VALUES: u32 = 0;
const OPERANDS: u32 = 1;
const RETURNED: u32 = 2;

impl Home {
    fn name(self) -> &'static str {
        match self {
            Home::Buffer => "buffer",
            Home::Workgroup => "workgroup",
            Home::Image => "image",
        }
    }
}

/// Which values are changed, by whom.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    /// Each invocation has its own.
    Own,
    /// The invocations of a workgroup share a few, and what is returned is not looked at.
    Met,
    /// Each has its own, and special floats are among them; the module declares the mode.
    Special(Mode),
}

impl Operation {
    /// Declares what it needs beside the type.
    fn enable(&self, shader: &mut Shader, ty: Ty, home: Home) {
        match (ty, home) {
            (Ty::Int { width: 64, .. }, Home::Image) => {
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

    /// The value, operand or comparator at a place.
    fn bits(&self, ty: Ty, place: u32, which: u32, values: Values) -> u64 {
        match ty {
            _ if matches!(values, Values::Special(_)) => bits::special(ty, place + 7 * which),
            Ty::Float { width } => {
                bits_of(width, f64::from((place * 37 + which * 11) % 64) * 0.25 - 8.125 + f64::from(which) / 16.0)
            }
            Ty::Int { width, .. } => {
                let spread = u64::from(place * 3 + which + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                // Comparators that are right half of the time: what the value is.
                if which == 2 && place.is_multiple_of(2) {
                    self.bits(ty, place, 0, values)
                } else {
                    spread >> (64 - width)
                }
            }
        }
    }
}

/// Of `met`, each workgroup's invocations share a few values, and what is returned is not looked at; else each has its own.
fn case(operation: &'static Operation, ty: Ty, home: Home, met: bool) -> Case {
    let how = if met { "shared" } else { "own" };
    let about = about(
        operation.spirv,
        format!("{0} <- {0}", ty.name()),
        if met { "no change is lost" } else { "what was there is returned, and what comes of it is left" },
        CLAUSE,
    );
    let name = format!("environment.atomic.{}.{}.{}.{how}", home.name(), operation.name, ty.name());
    let values = if met { Values::Met } else { Values::Own };
    Case::core(name, about, move || program(operation, ty, home, values))
}

fn array(shader: &mut Shader, scalar: &str, bytes: u32, binding: u32) -> String {
    let array = shader.array(scalar, COUNT, Some(bytes));
    let block = shader.block(&[(array, 0)], "Block");
    shader.resource("StorageBuffer", &block, binding)
}

fn program(operation: &'static Operation, ty: Ty, home: Home, which: Values) -> Program {
    // Values that invocations share: few, in the same workgroup.
    const SHARED: u32 = 5;
    let (bytes, met) = (ty.bytes(), which == Values::Met);
    let returns = !met && operation.spirv != "OpAtomicStore";
    let mut shader = Shader::new([LOCAL, 1, 1]);
    if let Values::Special(mode) = which {
        mode.declare(&mut shader, ty.width());
    }
    operation.enable(&mut shader, ty, home);
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
    // The place of the value, in all and in the workgroup.
    let few = shader.constant_u32(SHARED);
    let size = shader.constant_u32(LOCAL);
    let within = if met { shader.op(&u32, "OpUMod", format_args!("{local} {few}")) } else { local.clone() };
    let first = shader.op(&u32, "OpIMul", format_args!("{group} {size}"));
    let place = shader.op(&u32, "OpIAdd", format_args!("{first} {within}"));
    let mut workgroup = String::new();
    let mut values = String::new();
    let pointer = match home {
        Home::Buffer => {
            values = array(&mut shader, &scalar, bytes, VALUES);
            shader.access("StorageBuffer", &scalar, &values, &[&zero, &place])
        }
        Home::Workgroup => {
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
        Home::Image => {
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
    let read = |shader: &mut Shader, from: &str| {
        let at = shader.access("StorageBuffer", &scalar, from, &[&zero, &global]);
        shader.op(&scalar, "OpLoad", at)
    };
    let list = match operation.operands {
        0 => String::new(),
        1 => format!(" {}", read(&mut shader, &operands)),
        // The semantics where it is not equal, the value, the comparator.
        _ => {
            let (value, comparator) = (read(&mut shader, &operands), read(&mut shader, &comparators));
            format!(" {zero} {value} {comparator}")
        }
    };
    let scope = if home == Home::Workgroup { &two } else { &one };
    let given_list = format!("{pointer} {scope} {zero}{list}");
    let old = match operation.spirv {
        "OpAtomicStore" => {
            shader.run(format_args!("OpAtomicStore {given_list}"));
            String::new()
        }
        spirv => shader.op(&scalar, spirv, given_list),
    };
    if returns {
        let to = shader.access("StorageBuffer", &scalar, &returned, &[&zero, &global]);
        shader.run(format_args!("OpStore {to} {old}"));
    }
    if home == Home::Workgroup {
        barrier(&mut shader);
        copy(&mut shader, &scalar, ("Workgroup", &workgroup, &[&local]), ("StorageBuffer", &values, &[&zero, &global]));
    }
    let mut options = Options { groups: Some([GROUPS, 1, 1]), ..Options::default() };
    let contents = |number: u32| -> Vec<u8> {
        let bytes = (0..COUNT).flat_map(|place| {
            let bits = operation.bits(ty, place, number, which).to_le_bytes();
            bits.into_iter().take(ty.bytes() as usize)
        });
        bytes.collect()
    };
    options.inputs.push(given(VALUES, contents(0)));
    if operation.operands > 0 {
        options.inputs.push(given(OPERANDS, contents(1)));
    }
    if operation.operands > 1 {
        options.inputs.push(given(RETURNED + 1, contents(2)));
    }
    if returns {
        options.inputs.push(given(RETURNED, pattern(COUNT * bytes, 21)));
    }
    Program::new(shader.finish(), options).with_second(move |dispatch| {
        let bits = |place: u32, number: u32| operation.bits(ty, place, number, which);
        let mut values: Vec<u64> = (0..COUNT).map(|place| bits(place, 0)).collect();
        let mut returned = Vec::new();
        for i in 0..COUNT {
            let place = if met { i / LOCAL * LOCAL + i % LOCAL % SHARED } else { i };
            let old = values[place as usize];
            let new = (operation.does)(ty.width(), old, bits(i, 1), bits(i, 2));
            values[place as usize] = new & (u64::MAX >> (64 - ty.width()));
            returned.push(old);
        }
        let bytes = |values: &[u64]| -> Vec<u8> {
            values.iter().flat_map(|v| v.to_le_bytes().into_iter().take(ty.bytes() as usize)).collect()
        };
        let mut memory = std::collections::BTreeMap::from([(Slot::new(0, VALUES), bytes(&values))]);
        if !before(dispatch, RETURNED).is_empty() {
            memory.insert(Slot::new(0, RETURNED), bytes(&returned));
        }
        memory
    })
}

/// A place: storage class, variable, indices.
type Place<'a> = (&'static str, &'a str, &'a [&'a str]);

fn copy(shader: &mut Shader, scalar: &str, from: Place<'_>, to: Place<'_>) {
    let pointer = shader.access(from.0, scalar, from.1, from.2);
    let value = shader.op(scalar, "OpLoad", pointer);
    let pointer = shader.access(to.0, scalar, to.1, to.2);
    shader.run(format_args!("OpStore {pointer} {value}"));
}

/// Waits for the workgroup; its memory is then seen by all of it.
pub(super) fn barrier(shader: &mut Shader) {
    let (workgroup, semantics) = (shader.constant_u32(2), shader.constant_u32(0x8 | 0x100));
    shader.run(format_args!("OpControlBarrier {workgroup} {workgroup} {semantics}"));
}
