//! Faults in which an instruction changes floats whose bits it must preserve.

use crate::composites;
use assay_spirv::Module;
use assay_spirv::edit::{ComponentKind, Editor, ScalarOrVector, instruction};
use assay_spirv::module::Instruction;
use assay_spirv::tables::Op;

/// A change to some bit patterns of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatChange {
    /// A denormal becomes a zero of its sign.
    Flush,
    /// A negative zero becomes positive.
    PositiveZero,
    /// A NaN becomes the positive quiet NaN without a payload.
    PlainNan,
    /// An infinity becomes the largest finite value of its sign.
    Finite,
}

/// Masks of an IEEE 754 format.
#[derive(Clone, Copy)]
pub(crate) struct Masks {
    sign: u64,
    exponent: u64,
    /// The positive quiet NaN without a payload.
    nan: u64,
}

impl Masks {
    /// Returns the masks of the format with this width; `None` for other widths.
    pub(crate) fn of(width: u32) -> Option<Masks> {
        let fraction = match width {
            16 => 10,
            32 => 23,
            64 => 52,
            _ => return None,
        };
        let sign = 1 << (width - 1);
        let exponent = (sign - 1) >> fraction << fraction;
        Some(Masks { sign, exponent, nan: exponent | 1 << (fraction - 1) })
    }
}

/// Changes floats at every instruction with this opcode: its result if that is a float or a vector
/// of floats, otherwise its first such operand.
pub(crate) fn change_all(module: &Module, change: FloatChange, op: Op) -> Vec<u32> {
    let mut editor = Editor::new(module);
    for i in module.instructions().filter(|i| i.op == Some(op)) {
        if matches!(op, Op::Constant | Op::SpecConstant) {
            constant(&mut editor, &i, change);
        } else if matches!(op, Op::ConstantComposite | Op::SpecConstantComposite) {
            composites::constant(&mut editor, &i, change);
        } else if op == Op::CopyMemory {
            composites::memory(&mut editor, &i, change);
        } else if module.function_at(i.index).is_some() && result(&mut editor, &i, change).is_none() {
            operand(&mut editor, &i, change);
        }
    }
    editor.finish()
}

/// Returns type and masks of a scalar or vector of floats.
fn floats(module: &Module, value: u32) -> Option<(ScalarOrVector, Masks)> {
    let plain = ScalarOrVector::of_value(module, value).filter(|plain| plain.kind == ComponentKind::Float)?;
    Some((plain, Masks::of(plain.width)?))
}

fn constant(editor: &mut Editor<'_>, i: &Instruction<'_>, change: FloatChange) -> Option<()> {
    let words = changed_constant(editor.module(), i, change)?;
    editor.replace(i.at, words);
    Some(())
}

/// Returns the words of a changed constant; `None` if it is not a float.
pub(crate) fn changed_constant(module: &Module, i: &Instruction<'_>, change: FloatChange) -> Option<Vec<u32>> {
    let (plain, masks) = floats(module, i.result()?)?;
    let high = i.operand(1).map_or(0, u64::from);
    let bits = change.apply_to_bits(masks, high << 32 | u64::from(i.operand(0)?));
    let mut words = i.words.to_vec();
    *words.get_mut(3)? = bits as u32;
    if plain.width == 64 {
        *words.get_mut(4)? = (bits >> 32) as u32;
    }
    Some(words)
}

/// Lets the instruction define a new id, and its result as the changed value of that.
fn result(editor: &mut Editor<'_>, i: &Instruction<'_>, change: FloatChange) -> Option<()> {
    let ty = i.result_type()?;
    editor.wrap_result(i, |editor, kept, result| composites::value(editor, ty, change, (kept, result)))
}

/// Replaces the instruction's operand by a changed one.
fn operand(editor: &mut Editor<'_>, i: &Instruction<'_>, change: FloatChange) -> Option<()> {
    let module = editor.module();
    let first = i.words.len() - i.operands().len();
    let new = editor.id();
    // Instructions with a result may take only parts of composites, perhaps none with floats.
    let is_whole = i.result().is_none();
    let (at, mut code) = (first..i.words.len()).find_map(|at| {
        let value = i.words[at];
        let ty = module.definition_of(value)?.result_type()?;
        let of = is_whole || floats(module, value).is_some();
        Some((at, of.then(|| composites::value(editor, ty, change, (value, new)))??))
    })?;
    let mut words = i.words.to_vec();
    words[at] = new;
    code.extend(words);
    editor.replace(i.at, code);
    Some(())
}

impl FloatChange {
    /// Applies the change to one bit pattern.
    pub(crate) fn apply_to_bits(self, Masks { sign, exponent, nan }: Masks, bits: u64) -> u64 {
        let magnitude = bits & (sign - 1);
        match self {
            FloatChange::Flush if bits & exponent == 0 => bits & sign,
            FloatChange::PositiveZero if bits == sign => 0,
            FloatChange::PlainNan if magnitude > exponent => nan,
            FloatChange::Finite if magnitude == exponent => bits - 1,
            _ => bits,
        }
    }

    /// Returns code that defines `result` as the changed value of an id. It works on the bits,
    /// which a compiler may not simplify.
    pub(crate) fn code(
        self,
        editor: &mut Editor<'_>,
        (plain, masks): (ScalarOrVector, Masks),
        value: u32,
        result: u32,
    ) -> Vec<u32> {
        let ScalarOrVector { ty, width, count, .. } = plain;
        let (uint, bool) = (editor.uint(width), editor.bool());
        let (uints, bools) = (editor.vector(uint, count), editor.vector(bool, count));
        let mut constant = |bits: u64| {
            let value = editor.constant(uint, width, bits);
            editor.splat(uints, value, count)
        };
        let Masks { sign, exponent, nan } = masks;
        let (magnitude, all) = (sign - 1, sign | (sign - 1));
        let [zero, one, sign, exponent, magnitude, all, nan] =
            [0, 1, sign, exponent, magnitude, all, nan].map(&mut constant);
        let [bits, part, is, new, chosen] = std::array::from_fn(|_| editor.id());
        // If the comparison of `part` with a constant holds, `new` replaces the bits.
        let (mask, compare, with, made) = match self {
            FloatChange::Flush => (exponent, Op::IEqual, zero, instruction(Op::BitwiseAnd, &[uints, new, bits, sign])),
            FloatChange::PositiveZero => {
                (all, Op::IEqual, sign, instruction(Op::BitwiseXor, &[uints, new, bits, sign]))
            }
            FloatChange::PlainNan => {
                (magnitude, Op::UGreaterThan, exponent, instruction(Op::BitwiseOr, &[uints, new, nan, zero]))
            }
            FloatChange::Finite => (magnitude, Op::IEqual, exponent, instruction(Op::ISub, &[uints, new, bits, one])),
        };
        let code = [
            instruction(Op::Bitcast, &[uints, bits, value]),
            instruction(Op::BitwiseAnd, &[uints, part, bits, mask]),
            instruction(compare, &[bools, is, part, with]),
            made,
            instruction(Op::Select, &[uints, chosen, is, new, bits]),
            instruction(Op::Bitcast, &[ty, result, chosen]),
        ];
        code.concat()
    }
}
