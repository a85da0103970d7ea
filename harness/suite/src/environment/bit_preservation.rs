//! Bit-preserving operations on special floats: denormals, which the operation must not flush, and
//! negative zeros, infinities and NaNs with payloads, which it may change unless
//! `SignedZeroInfNanPreserve` is declared.
//!
//! Only bit-preserving operations lie between the two buffers of floats.

use super::about;
use super::operand_rows::Ty;
use crate::bytes::{bytes_input, contents_before, pattern};
use crate::module_builder::ModuleBuilder;
use crate::{Case, Program};
use assay_check::Options;
use assay_oracle::Slot;

pub(super) const CLAUSE: &str = "Vulkan environment for SPIR-V, bit-preserving operations";

/// The rule that all these cases test.
pub(super) const RULE: &str = "the operation preserves bits, always for denormals";

/// The statement that all these cases cover.
pub(super) const COVERS: &str = "precision tables/no-flush";

const INPUT: u32 = 0;
const OUTPUT: u32 = 1;

/// Number of elements; each invocation has one. The partner of an invocation has the mirrored
/// index.
const COUNT: u32 = 64;

/// A bit-preserving operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PreservingOp {
    Load,
    CopyObject,
    CopyMemory,
    CopyLogical,
    Select,
    Phi,
    Call,
    Private,
    Workgroup,
    Extract,
    Construct,
    Insert,
    Shuffle,
    ExtractDynamic,
    InsertDynamic,
    Transpose,
}

impl PreservingOp {
    const ALL: [PreservingOp; 16] = [
        PreservingOp::Load,
        PreservingOp::CopyObject,
        PreservingOp::CopyMemory,
        PreservingOp::CopyLogical,
        PreservingOp::Select,
        PreservingOp::Phi,
        PreservingOp::Call,
        PreservingOp::Private,
        PreservingOp::Workgroup,
        PreservingOp::Extract,
        PreservingOp::Construct,
        PreservingOp::Insert,
        PreservingOp::Shuffle,
        PreservingOp::ExtractDynamic,
        PreservingOp::InsertDynamic,
        PreservingOp::Transpose,
    ];

    fn name(self) -> &'static str {
        match self {
            PreservingOp::Load => "load",
            PreservingOp::CopyObject => "copy",
            PreservingOp::CopyMemory => "copy_memory",
            PreservingOp::CopyLogical => "copy_logical",
            PreservingOp::Select => "select",
            PreservingOp::Phi => "phi",
            PreservingOp::Call => "call",
            PreservingOp::Private => "private",
            PreservingOp::Workgroup => "workgroup",
            PreservingOp::Extract => "extract",
            PreservingOp::Construct => "construct",
            PreservingOp::Insert => "insert",
            PreservingOp::Shuffle => "shuffle",
            PreservingOp::ExtractDynamic => "extract_dynamic",
            PreservingOp::InsertDynamic => "insert_dynamic",
            PreservingOp::Transpose => "transpose",
        }
    }

    fn instruction(self) -> &'static str {
        match self {
            PreservingOp::Load | PreservingOp::Private | PreservingOp::Workgroup => "OpLoad",
            PreservingOp::CopyObject => "OpCopyObject",
            PreservingOp::CopyMemory => "OpCopyMemory",
            PreservingOp::CopyLogical => "OpCopyLogical",
            PreservingOp::Select => "OpSelect",
            PreservingOp::Phi => "OpPhi",
            PreservingOp::Call => "OpFunctionCall",
            PreservingOp::Extract => "OpCompositeExtract",
            PreservingOp::Construct => "OpCompositeConstruct",
            PreservingOp::Insert => "OpCompositeInsert",
            PreservingOp::Shuffle => "OpVectorShuffle",
            PreservingOp::ExtractDynamic => "OpVectorExtractDynamic",
            PreservingOp::InsertDynamic => "OpVectorInsertDynamic",
            PreservingOp::Transpose => "OpTranspose",
        }
    }

    fn of_vectors_only(self) -> bool {
        use PreservingOp::{Construct, Extract, ExtractDynamic, Insert, InsertDynamic, Shuffle, Transpose};
        matches!(self, Extract | Construct | Insert | Shuffle | ExtractDynamic | InsertDynamic | Transpose)
    }

    /// Returns the source (element, component) of component `c` of element `i`, for vectors of `n`
    /// components.
    fn source(self, i: u32, c: u32, n: u32) -> (u32, u32) {
        let partner = COUNT - 1 - i;
        match self {
            PreservingOp::Load | PreservingOp::CopyObject | PreservingOp::CopyMemory | PreservingOp::CopyLogical => {
                (i, c)
            }
            PreservingOp::Call | PreservingOp::Private | PreservingOp::Workgroup | PreservingOp::Extract => (i, c),
            PreservingOp::Select | PreservingOp::Phi => (if i.is_multiple_of(2) { i } else { partner }, c),
            PreservingOp::Construct => (i, n - 1 - c),
            PreservingOp::Insert => {
                if c == n - 1 {
                    (partner, 0)
                } else {
                    (i, c)
                }
            }
            PreservingOp::Shuffle | PreservingOp::Transpose => {
                (if c.is_multiple_of(2) { i } else { partner }, n - 1 - c)
            }
            PreservingOp::ExtractDynamic => (i, (i + c) % n),
            PreservingOp::InsertDynamic => {
                if c == i % n {
                    (partner, 0)
                } else {
                    (i, c)
                }
            }
        }
    }
}

/// An execution mode, which may change the permitted results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FloatMode {
    None,
    SignedZeroInfNanPreserve,
    DenormFlushToZero,
}

impl FloatMode {
    pub(super) const ALL: [FloatMode; 3] =
        [FloatMode::None, FloatMode::SignedZeroInfNanPreserve, FloatMode::DenormFlushToZero];

    pub(super) fn suffix(self) -> &'static str {
        match self {
            FloatMode::None => "",
            FloatMode::SignedZeroInfNanPreserve => ".preserving",
            FloatMode::DenormFlushToZero => ".flushing",
        }
    }

    pub(super) fn declare(self, shader: &mut ModuleBuilder, width: u32) {
        let name = match self {
            FloatMode::None => return,
            FloatMode::SignedZeroInfNanPreserve => "SignedZeroInfNanPreserve",
            FloatMode::DenormFlushToZero => "DenormFlushToZero",
        };
        shader.extension("SPV_KHR_float_controls");
        shader.capability(name);
        shader.mode(&format!("{name} {width}"));
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for mode in FloatMode::ALL {
        for (width, wide) in [(16, 4), (32, 4), (64, 2)] {
            for count in [1, wide] {
                for via in PreservingOp::ALL.into_iter().filter(|via| count > 1 || !via.of_vectors_only()) {
                    cases.push(preserved(via, (width, count), mode).thinned(mode != FloatMode::None && width != 32));
                }
            }
            cases.push(constants(width, mode).thinned(mode != FloatMode::None && width != 32));
        }
    }
    cases
}

/// A test pattern of a float format. `number` cycles through all kinds of values in both signs.
pub(super) fn special(ty: Ty, number: u32) -> u64 {
    let width = ty.width();
    let fraction = match width {
        16 => 10,
        32 => 23,
        _ => 52,
    };
    let (sign, unit) = (1 << (width - 1), 1u64 << fraction);
    let (infinity, quiet) = ((sign - 1) / unit * unit, unit >> 1);
    let some = 0x2d9a_53c6_b174_e80f & (quiet - 1);
    let kinds = [
        1,
        unit - 1,
        some,
        unit,
        0,
        infinity,
        infinity | quiet,
        infinity | quiet | some,
        infinity | 1,
        infinity | some,
        // About 1.
        (infinity >> 1) & !(unit - 1) | some,
    ];
    kinds[(number * 5 % 11) as usize] | (u64::from(number / 11 % 2) * sign)
}

/// Test patterns of the format with this width.
pub(super) fn specials(width: u32, count: u32) -> Vec<u64> {
    (0..count).map(|number| special(Ty::Float { width }, number)).collect()
}

/// The bytes of the patterns.
pub(super) fn bytes(patterns: &[u64], width: u32) -> Vec<u8> {
    patterns.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(width as usize / 8)).collect()
}

fn preserved(via: PreservingOp, (width, count): (u32, u32), mode: FloatMode) -> Case {
    let ty = Ty::Float { width };
    let shape = if count == 1 { ty.name() } else { format!("{}vec{count}", ty.name()) };
    let name = format!("environment.bits.{}.{shape}{}", via.name(), mode.suffix());
    let subject = about(via.instruction(), format!("{shape} <- {shape}"), RULE, CLAUSE);
    let case = Case::core(name, subject, move || {
        let mut shader = ModuleBuilder::new([COUNT, 1, 1]);
        mode.declare(&mut shader, width);
        if via == PreservingOp::CopyLogical {
            shader.version("1.4");
        }
        let body = BodyBuilder::new(&mut shader, ty, count);
        body.write(&mut shader, via);
        let size = ty.bytes() * count;
        let mut options = Options { groups: Some([1; 3]), padding: true, ..Options::default() };
        options.inputs.push(bytes_input(INPUT, bytes(&specials(width, COUNT * count), width)));
        options.inputs.push(bytes_input(OUTPUT, pattern(COUNT * size, 0x33)));
        Program::new(shader.finish(), options).with_reference(move |dispatch| {
            let (held, part) = (contents_before(dispatch, INPUT), ty.bytes());
            let all = (0..COUNT).flat_map(|i| (0..count).map(move |c| via.source(i, c, count)));
            let output = all.flat_map(|(i, c)| {
                let at = (i * size + c * part) as usize;
                held[at..at + part as usize].to_vec()
            });
            [(Slot::new(0, OUTPUT), output.collect())].into()
        })
    });
    case.covering([COVERS])
}

/// Types, buffers and indices of a program's body.
struct BodyBuilder {
    count: u32,
    scalar: String,
    /// The type of an element: a scalar or a vector.
    value: String,
    input: String,
    output: String,
    own: String,
    partner: String,
}

impl BodyBuilder {
    fn new(shader: &mut ModuleBuilder, ty: Ty, count: u32) -> BodyBuilder {
        let scalar = ty.declare(shader);
        let value = shader.vector(&scalar, count);
        let array = shader.array(&value, COUNT, Some(ty.bytes() * count));
        let [input, output] = [INPUT, OUTPUT].map(|binding| {
            let block = shader.block(&[(array.clone(), 0)], "Block");
            shader.resource("StorageBuffer", &block, binding)
        });
        let own = shader.global_x();
        let (u32, last) = (shader.u32(), shader.constant_u32(COUNT - 1));
        let partner = shader.op(&u32, "OpISub", format_args!("{last} {own}"));
        BodyBuilder { count, scalar, value, input, output, own, partner }
    }

    /// A pointer to an element, or to one of its components.
    fn place(&self, shader: &mut ModuleBuilder, buffer: &str, element: &str, component: Option<u32>) -> String {
        let zero = shader.constant_u32(0);
        match component.map(|component| shader.constant_u32(component)) {
            Some(component) => shader.access("StorageBuffer", &self.scalar, buffer, &[&zero, element, &component]),
            None => shader.access("StorageBuffer", &self.value, buffer, &[&zero, element]),
        }
    }

    fn load(&self, shader: &mut ModuleBuilder, element: &str) -> String {
        let from = self.place(shader, &self.input, element, None);
        shader.op(&self.value, "OpLoad", from)
    }

    fn component(&self, shader: &mut ModuleBuilder, element: &str, component: u32) -> String {
        let from = self.place(shader, &self.input, element, Some(component));
        shader.op(&self.scalar, "OpLoad", from)
    }

    fn store_component(&self, shader: &mut ModuleBuilder, component: u32, value: &str) {
        let to = self.place(shader, &self.output, &self.own, Some(component));
        shader.run(format_args!("OpStore {to} {value}"));
    }

    /// Emits a test for an even invocation index.
    fn is_even(&self, shader: &mut ModuleBuilder) -> String {
        let (u32, bool) = (shader.u32(), shader.bool());
        let [zero, one] = [0, 1].map(|n| shader.constant_u32(n));
        let bit = shader.op(&u32, "OpBitwiseAnd", format_args!("{} {one}", self.own));
        shader.op(&bool, "OpIEqual", format_args!("{bit} {zero}"))
    }

    /// Emits `(invocation index + more) % count`, the index of a component.
    fn index(&self, shader: &mut ModuleBuilder, more: u32) -> String {
        let (u32, more, mask) = (shader.u32(), shader.constant_u32(more), shader.constant_u32(self.count - 1));
        let sum = shader.op(&u32, "OpIAdd", format_args!("{} {more}", self.own));
        shader.op(&u32, "OpBitwiseAnd", format_args!("{sum} {mask}"))
    }

    fn write(&self, shader: &mut ModuleBuilder, via: PreservingOp) {
        let (value, n) = (self.value.as_str(), self.count);
        let result = match via {
            PreservingOp::Load => self.load(shader, &self.own),
            PreservingOp::CopyObject => {
                let loaded = self.load(shader, &self.own);
                shader.op(value, "OpCopyObject", loaded)
            }
            PreservingOp::CopyMemory => {
                let [to, from] = [&self.output, &self.input].map(|buffer| self.place(shader, buffer, &self.own, None));
                return shader.run(format_args!("OpCopyMemory {to} {from}"));
            }
            PreservingOp::CopyLogical => {
                // Two structure types that differ in their decorations only.
                let [from, to] = [0, 16].map(|offset| shader.structure(&[(value.to_owned(), offset)]));
                let loaded = self.load(shader, &self.own);
                let whole = shader.op(&from, "OpCompositeConstruct", loaded);
                let copy = shader.op(&to, "OpCopyLogical", whole);
                shader.op(value, "OpCompositeExtract", format_args!("{copy} 0"))
            }
            PreservingOp::Select => {
                let (a, b) = (self.load(shader, &self.own), self.load(shader, &self.partner));
                let (even, bool) = (self.is_even(shader), shader.bool());
                let condition = match n {
                    1 => even,
                    _ => {
                        let bools = shader.vector(&bool, n);
                        shader.op(&bools, "OpCompositeConstruct", vec![even; n as usize].join(" "))
                    }
                };
                shader.op(value, "OpSelect", format_args!("{condition} {a} {b}"))
            }
            PreservingOp::Phi => self.phi(shader),
            PreservingOp::Call => {
                let function = shader.declare(&format!("OpTypeFunction {value} {value}"));
                let [name, parameter, start] = std::array::from_fn(|_| shader.label());
                shader.function(format_args!(
                    "{name} = OpFunction {value} None {function}\n{parameter} = OpFunctionParameter {value}\n\
                     {start} = OpLabel\nOpReturnValue {parameter}\nOpFunctionEnd"
                ));
                let loaded = self.load(shader, &self.own);
                shader.op(value, "OpFunctionCall", format_args!("{name} {loaded}"))
            }
            PreservingOp::Private => {
                let variable = shader.variable("Private", value);
                let loaded = self.load(shader, &self.own);
                shader.run(format_args!("OpStore {variable} {loaded}"));
                shader.op(value, "OpLoad", variable)
            }
            PreservingOp::Workgroup => {
                let array = shader.array(value, COUNT, None);
                let variable = shader.variable("Workgroup", &array);
                let loaded = self.load(shader, &self.own);
                let place = shader.access("Workgroup", value, &variable, &[&self.own]);
                shader.run(format_args!("OpStore {place} {loaded}"));
                shader.op(value, "OpLoad", place)
            }
            PreservingOp::Extract => {
                let loaded = self.load(shader, &self.own);
                for c in 0..n {
                    let part = shader.op(&self.scalar, "OpCompositeExtract", format_args!("{loaded} {c}"));
                    self.store_component(shader, c, &part);
                }
                return;
            }
            PreservingOp::Construct => {
                let parts: Vec<String> = (0..n).rev().map(|c| self.component(shader, &self.own, c)).collect();
                shader.op(value, "OpCompositeConstruct", parts.join(" "))
            }
            PreservingOp::Insert => {
                let (whole, part) = (self.load(shader, &self.own), self.component(shader, &self.partner, 0));
                shader.op(value, "OpCompositeInsert", format_args!("{part} {whole} {}", n - 1))
            }
            PreservingOp::Shuffle => {
                let (a, b) = (self.load(shader, &self.own), self.load(shader, &self.partner));
                let parts = (0..n).map(|c| if c % 2 == 0 { n - 1 - c } else { 2 * n - 1 - c }.to_string());
                shader.op(value, "OpVectorShuffle", format_args!("{a} {b} {}", parts.collect::<Vec<_>>().join(" ")))
            }
            PreservingOp::ExtractDynamic => {
                let loaded = self.load(shader, &self.own);
                for c in 0..n {
                    let at = self.index(shader, c);
                    let part = shader.op(&self.scalar, "OpVectorExtractDynamic", format_args!("{loaded} {at}"));
                    self.store_component(shader, c, &part);
                }
                return;
            }
            PreservingOp::InsertDynamic => {
                let (whole, part) = (self.load(shader, &self.own), self.component(shader, &self.partner, 0));
                let at = self.index(shader, 0);
                shader.op(value, "OpVectorInsertDynamic", format_args!("{whole} {part} {at}"))
            }
            PreservingOp::Transpose => {
                let (a, b) = (self.load(shader, &self.own), self.load(shader, &self.partner));
                let pair = shader.vector(&self.scalar, 2);
                let [wide, tall] = [(value, 2), (pair.as_str(), n)]
                    .map(|(column, n)| shader.declare(&format!("OpTypeMatrix {column} {n}")));
                let both = shader.op(&wide, "OpCompositeConstruct", format_args!("{a} {b}"));
                let turned = shader.op(&tall, "OpTranspose", both);
                for c in 0..n {
                    let part = format!("{turned} {} {}", n - 1 - c, c % 2);
                    let part = shader.op(&self.scalar, "OpCompositeExtract", part);
                    self.store_component(shader, c, &part);
                }
                return;
            }
        };
        let to = self.place(shader, &self.output, &self.own, None);
        shader.run(format_args!("OpStore {to} {result}"));
    }

    /// Emits a phi of two values, each loaded in one branch.
    fn phi(&self, shader: &mut ModuleBuilder) -> String {
        let even = self.is_even(shader);
        let [then, other, merge] = std::array::from_fn(|_| shader.label());
        shader.run(format_args!(
            "OpSelectionMerge {merge} None\nOpBranchConditional {even} {then} {other}\n{then} = OpLabel"
        ));
        let a = self.load(shader, &self.own);
        shader.run(format_args!("OpBranch {merge}\n{other} = OpLabel"));
        let b = self.load(shader, &self.partner);
        shader.run(format_args!("OpBranch {merge}\n{merge} = OpLabel"));
        shader.op(&self.value, "OpPhi", format_args!("{a} {then} {b} {other}"))
    }
}

/// A pattern as a hexadecimal float literal of SPIR-V text.
fn literal(bits: u64, width: u32) -> String {
    let (fraction, bias) = match width {
        16 => (10, 15),
        32 => (23, 127),
        _ => (52, 1023),
    };
    let sign = if bits >> (width - 1) & 1 == 1 { "-" } else { "" };
    let exponent = (bits >> fraction & ((1 << (width - 1 - fraction)) - 1)) as i64;
    let significand = bits & ((1 << fraction) - 1) | u64::from(exponent > 0) << fraction;
    let power = exponent.max(1) - bias - i64::from(fraction);
    format!("{sign}0x{significand:x}p{power:+}")
}

/// Constants and specialisation constants, scalars and vectors; one invocation stores them all.
fn constants(width: u32, mode: FloatMode) -> Case {
    /// Number of scalars, and of two-component vectors, for each kind of constant.
    const EACH: u32 = 11;
    let ty = Ty::Float { width };
    let name = format!("environment.bits.constant.{}{}", ty.name(), mode.suffix());
    let subject =
        about("OpConstant", ty.name(), "a constant has the bits of its literal, always for denormals", CLAUSE);
    let case = Case::core(name, subject, move || {
        let patterns = specials(width, 6 * EACH);
        let mut shader = ModuleBuilder::new([1, 1, 1]);
        mode.declare(&mut shader, width);
        let scalar = ty.declare(&mut shader);
        let pair = shader.vector(&scalar, 2);
        let array = shader.array(&scalar, 6 * EACH, Some(ty.bytes()));
        let block = shader.block(&[(array, 0)], "Block");
        let output = shader.resource("StorageBuffer", &block, OUTPUT);
        let zero = shader.constant_u32(0);
        let mut parts = Vec::new();
        let mut next = patterns.iter();
        for (constant, composite) in
            [("OpConstant", "OpConstantComposite"), ("OpSpecConstant", "OpSpecConstantComposite")]
        {
            let mut one = |shader: &mut ModuleBuilder| {
                let bits = next.next().copied().unwrap_or_default();
                shader.declare_new(&format!("{constant} {scalar} {}", literal(bits, width)))
            };
            for _ in 0..EACH {
                parts.push(one(&mut shader));
            }
            for _ in 0..EACH {
                let (a, b) = (one(&mut shader), one(&mut shader));
                let both = shader.declare_new(&format!("{composite} {pair} {a} {b}"));
                for c in 0..2 {
                    parts.push(shader.op(&scalar, "OpCompositeExtract", format_args!("{both} {c}")));
                }
            }
        }
        for (i, part) in (0..).zip(&parts) {
            let place = shader.constant_u32(i);
            let to = shader.access("StorageBuffer", &scalar, &output, &[&zero, &place]);
            shader.run(format_args!("OpStore {to} {part}"));
        }
        let mut options = Options { groups: Some([1; 3]), padding: true, ..Options::default() };
        options.inputs.push(bytes_input(OUTPUT, pattern(6 * EACH * ty.bytes(), 0x33)));
        Program::new(shader.finish(), options)
            .with_reference(move |_| [(Slot::new(0, OUTPUT), bytes(&patterns, width))].into())
    });
    case.covering([COVERS])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_spell_their_patterns() {
        for (bits, text) in [
            (1, "0x1p-149"),
            (0x8000_0000, "-0x0p-149"),
            (0x3f80_0000, "0x800000p-23"),
            (0x7f80_0001, "0x800001p+105"),
            (0xff80_0000, "-0x800000p+105"),
        ] {
            assert_eq!(literal(bits, 32), text);
        }
    }

    #[test]
    fn every_kind_of_value_is_there_with_both_signs() {
        for (width, format) in [(16, assay_float::F16), (32, assay_float::F32), (64, assay_float::F64)] {
            let patterns = specials(width, COUNT);
            for sign in [0, 1] {
                let of_sign = || patterns.iter().filter(|bits| *bits >> (width - 1) == sign);
                assert!(of_sign().filter(|bits| format.is_denormal(**bits)).count() > 4, "{width}");
                assert!(of_sign().any(|bits| format.is_zero(*bits)), "{width}");
                assert!(of_sign().any(|bits| format.is_infinite(*bits)), "{width}");
                for signalling in [false, true] {
                    let is = |bits: &u64| format.is_nan(*bits) && format.is_signalling(*bits) == signalling;
                    assert!(of_sign().any(is), "{width}");
                }
            }
        }
    }
}
