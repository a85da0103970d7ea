//! Conversions between integers of all widths, and bitcasts. The `precision` cases cover
//! conversions with floats.

use super::about;
use super::bit_preservation;
use super::operand_rows::{InstructionCase, OperandRow, OperandSource, Ty, plain};
use crate::bytes::{ByteMove, MoveSource, apply_moves, bytes_input, pattern};
use crate::module_builder::ModuleBuilder;
use crate::{Case, Program};
use assay_check::Options;

const CLAUSE: &str = "SPIR-V specification, 3.42.11 conversion instructions";

const WIDTHS: [u32; 4] = [8, 16, 32, 64];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for from in WIDTHS {
        for to in WIDTHS.into_iter().filter(|to| *to != from) {
            for (source_signed, instruction) in
                [(false, "OpUConvert"), (true, "OpUConvert"), (false, "OpSConvert"), (true, "OpSConvert")]
            {
                for operands in [OperandSource::Buffer, OperandSource::Constant] {
                    cases.push(width(from, to, source_signed, instruction, operands));
                }
            }
        }
    }
    for (one, other) in BITCASTS {
        for (from, to) in [(one, other), (other, one)] {
            cases.push(bitcast(from, to, Contents::Ordinary));
            if let Some(width) = narrowest_float(from, to) {
                cases.push(bitcast(from, to, Contents::Special(width)).covering([bit_preservation::COVERS]));
            }
        }
    }
    cases
}

/// Conversion from one width to another. Only the instruction determines the extension; the source
/// type may have either sign.
fn width(from: u32, to: u32, source_signed: bool, instruction: &'static str, operands: OperandSource) -> Case {
    let sign = instruction == "OpSConvert";
    let (source, target) = (Ty::Int { width: from, signed: source_signed }, Ty::Int { width: to, signed: sign });
    let suffix = if operands == OperandSource::Constant { ".constant" } else { "" };
    InstructionCase {
        name: format!(
            "environment.convert.{}.{}.from_{}{suffix}",
            instruction[2..].to_ascii_lowercase(),
            target.name(),
            source.name()
        ),
        subject: about(
            instruction,
            format!("{} <- {}", target.name(), source.name()),
            "widening extends by sign or zeros; narrowing keeps the lowest bits",
            CLAUSE,
        ),
        operands: vec![source],
        results: vec![target],
        shape: 1,
        from: operands,
        write: plain,
        spirv: instruction,
    }
    .case(move || width_rows(from, to, sign))
}

/// Returns rows of a conversion between these widths that extends by the sign or by zeros.
fn width_rows(from: u32, to: u32, sign: bool) -> Vec<OperandRow> {
    let bits = |width: u32| u64::MAX >> (64 - width);
    let values = (0..256u64)
        .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - from)) ^ [0, 1, bits(from)][i as usize % 3]);
    let ends = [0, 1, bits(from) >> 1, (bits(from) >> 1) + 1, bits(from), bits(from) - 1, 0x7f, 0x80, 0xff];
    let row = |value: u64| -> OperandRow {
        let value = value & bits(from);
        let shift = 64 - from;
        let wide = if sign { ((value << shift).cast_signed() >> shift).cast_unsigned() } else { value };
        (vec![value], vec![wide & bits(to)])
    };
    ends.into_iter().chain(values).map(row).collect()
}

/// A scalar or vector type: component type and number of components.
type BitcastType = (Ty, u32);

const fn int(width: u32, count: u32) -> BitcastType {
    (Ty::Int { width, signed: false }, count)
}

const fn float(width: u32, count: u32) -> BitcastType {
    (Ty::Float { width }, count)
}

/// Pairs of types of equal size.
const BITCASTS: [(BitcastType, BitcastType); 16] = [
    (int(32, 1), float(32, 1)),
    (int(64, 1), float(64, 1)),
    (int(16, 1), float(16, 1)),
    (int(32, 1), int(16, 2)),
    (int(32, 1), int(8, 4)),
    (int(32, 2), int(64, 1)),
    (int(32, 2), int(16, 4)),
    (int(64, 1), int(16, 4)),
    (int(64, 2), int(32, 4)),
    (float(32, 1), int(16, 2)),
    (float(32, 1), float(16, 2)),
    (float(64, 1), int(32, 2)),
    (float(64, 1), float(32, 2)),
    (float(64, 1), int(16, 4)),
    (float(64, 2), int(32, 4)),
    (int(16, 1), int(8, 2)),
];

fn bitcast_type_name((ty, count): BitcastType) -> String {
    if count == 1 { ty.name() } else { format!("{}vec{count}", ty.name()) }
}

/// Contents of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contents {
    /// Finite, normal floats, whose bits no instruction may change.
    Ordinary,
    /// Denormals, zeros, infinities and NaNs of the format with this width. Denormals must not be
    /// flushed.
    Special(u32),
}

/// The width of the floats among the two types; the narrower one if both are floats.
fn narrowest_float(from: BitcastType, to: BitcastType) -> Option<u32> {
    let width = |(ty, _): BitcastType| matches!(ty, Ty::Float { .. }).then(|| ty.width());
    width(from).into_iter().chain(width(to)).min()
}

/// Bitcast; the first component holds the lowest bits.
fn bitcast(from: BitcastType, to: BitcastType, contents: Contents) -> Case {
    const COUNT: u32 = 64;
    let (source, target) = (bitcast_type_name(from), bitcast_type_name(to));
    let special = if contents == Contents::Ordinary { "" } else { ".special" };
    let subject = about(
        "OpBitcast",
        format!("{target} <- {source}"),
        "a bitcast keeps the bits; the first component holds the lowest",
        CLAUSE,
    );
    Case::core(format!("environment.convert.bitcast.{target}.from_{source}{special}"), subject, move || {
        let bytes = from.0.bytes() * from.1;
        let mut shader = ModuleBuilder::new([COUNT, 1, 1]);
        // Buffers hold integers, because loads and stores of floats may change NaNs.
        let values = [from, to].map(|(ty, count)| {
            let stored = Ty::Int { width: ty.width(), signed: false };
            let (scalar, stored) = (ty.declare(&mut shader), stored.declare(&mut shader));
            (shader.vector(&scalar, count), shader.vector(&stored, count))
        });
        let mut buffers = Vec::new();
        for (binding, (_, stored)) in values.iter().enumerate() {
            let array = shader.array(stored, COUNT, Some(bytes));
            let block = shader.block(&[(array, 0)], "Block");
            buffers.push(shader.resource("StorageBuffer", &block, binding as u32));
        }
        let (zero, i) = (shader.constant_u32(0), shader.global_x());
        let [(source, source_stored), (target, target_stored)] = &values;
        let pointer = shader.access("StorageBuffer", source_stored, &buffers[0], &[&zero, &i]);
        let mut value = shader.op(source_stored, "OpLoad", pointer);
        for (is, becomes) in [(source_stored, source), (source, target), (target, target_stored)] {
            if is != becomes {
                value = shader.op(becomes, "OpBitcast", value);
            }
        }
        let pointer = shader.access("StorageBuffer", target_stored, &buffers[1], &[&zero, &i]);
        shader.run(format_args!("OpStore {pointer} {value}"));
        let mut options = Options { groups: Some([1; 3]), padding: true, ..Options::default() };
        let contents = match contents {
            Contents::Ordinary => {
                let mut contents = pattern(COUNT * bytes, bytes);
                for unit in contents.chunks_exact_mut(2) {
                    unit[1] = unit[1] & 0x83 | 0x3c;
                }
                contents
            }
            Contents::Special(width) => {
                bit_preservation::bytes(&bit_preservation::specials(width, COUNT * bytes * 8 / width), width)
            }
        };
        options.inputs.push(bytes_input(0, contents));
        options.inputs.push(bytes_input(1, pattern(COUNT * bytes, 0x33)));
        let all =
            ByteMove { from: MoveSource::Binding(0), at: (0, COUNT * bytes), to: (0, COUNT * bytes), signed: false };
        Program::new(shader.finish(), options).with_reference(apply_moves(1, vec![all]))
    })
}
