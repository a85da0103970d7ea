//! Conversions between words of a buffer and SPIR-V types that preserve the bits.

use super::module_text::ModuleText;
use assay_precision::{Scalar, Type};

const U32: Scalar = Scalar::Int { width: 32, signed: false };

/// For each slot of a buffer, the offset of its column in words, and true for 64-bit scalars.
pub(super) struct ColumnLayout {
    slots: Vec<(u32, bool)>,
}

impl ColumnLayout {
    /// Returns the layout of [`crate::Columns`] with that capacity.
    pub(super) fn new(slots: impl Iterator<Item = Scalar>, capacity: u32) -> ColumnLayout {
        let mut next = 0;
        let place = |scalar: Scalar| {
            let wide = scalar.width() > 32;
            let slot = (next, wide);
            next += if wide { 2 * capacity } else { capacity };
            slot
        };
        ColumnLayout { slots: slots.map(place).collect() }
    }

    /// Returns the id of the index of a slot's (first) word in the row whose index is `row`, and
    /// true for 64-bit scalars.
    fn index(&self, module: &mut ModuleText, slot: usize, row: &str) -> (String, bool) {
        let (offset, wide) = self.slots[slot];
        let base = module.word(offset);
        let row = if wide { module.value("OpIAdd", "%u32", &format!("{row} {row}")) } else { row.to_owned() };
        (module.value("OpIAdd", "%u32", &format!("{base} {row}")), wide)
    }

    /// Returns the offset of a slot's column in words.
    pub(super) fn offset(&self, slot: usize) -> u32 {
        self.slots[slot].0
    }
}

/// Loads one scalar of a row.
pub(super) fn load(module: &mut ModuleText, layout: &ColumnLayout, slot: usize, row: &str, scalar: Scalar) -> String {
    let (index, wide) = layout.index(module, slot, row);
    let low = load_word(module, &index);
    if !wide {
        return from_word(module, scalar, &low);
    }
    let one = module.word(1);
    let index = module.value("OpIAdd", "%u32", &format!("{index} {one}"));
    let high = load_word(module, &index);
    let pair = module.ty(Type::vector(U32, 2));
    let pair = module.value("OpCompositeConstruct", &pair, &format!("{low} {high}"));
    let ty = module.scalar(scalar);
    module.value("OpBitcast", &ty, &pair)
}

/// Stores one scalar of a row.
pub(super) fn store(
    module: &mut ModuleText,
    layout: &ColumnLayout,
    slot: usize,
    row: &str,
    scalar: Scalar,
    value: &str,
) {
    let (index, wide) = layout.index(module, slot, row);
    if !wide {
        let word = to_word(module, scalar, value);
        put(module, &index, &word);
        return;
    }
    let pair = module.ty(Type::vector(U32, 2));
    let pair = module.value("OpBitcast", &pair, value);
    let low = module.value("OpCompositeExtract", "%u32", &format!("{pair} 0"));
    let high = module.value("OpCompositeExtract", "%u32", &format!("{pair} 1"));
    put(module, &index, &low);
    let one = module.word(1);
    let index = module.value("OpIAdd", "%u32", &format!("{index} {one}"));
    put(module, &index, &high);
}

/// Stores a word whose low bits are those of a scalar of at most 32 bits.
pub(super) fn store_word(module: &mut ModuleText, layout: &ColumnLayout, slot: usize, row: &str, word: &str) {
    let (index, _) = layout.index(module, slot, row);
    put(module, &index, word);
}

/// Copies one scalar of a row from the operands to the results, as words.
pub(super) fn copy(
    module: &mut ModuleText,
    from: &ColumnLayout,
    slot: usize,
    to: &ColumnLayout,
    to_slot: usize,
    row: &str,
) {
    let (source, wide) = from.index(module, slot, row);
    let (target, _) = to.index(module, to_slot, row);
    let word = load_word(module, &source);
    put(module, &target, &word);
    if wide {
        let one = module.word(1);
        let source = module.value("OpIAdd", "%u32", &format!("{source} {one}"));
        let target = module.value("OpIAdd", "%u32", &format!("{target} {one}"));
        let word = load_word(module, &source);
        put(module, &target, &word);
    }
}

fn load_word(module: &mut ModuleText, index: &str) -> String {
    let zero = module.word(0);
    let pointer = module.value("OpAccessChain", "%word_ptr", &format!("%operands {zero} {index}"));
    module.value("OpLoad", "%u32", &pointer)
}

fn put(module: &mut ModuleText, index: &str, word: &str) {
    let zero = module.word(0);
    let pointer = module.value("OpAccessChain", "%word_ptr", &format!("%results {zero} {index}"));
    module.line(&format!("OpStore {pointer} {word}"));
}

/// Returns the scalar with the low bits of a word.
fn from_word(module: &mut ModuleText, scalar: Scalar, word: &str) -> String {
    let ty = module.scalar(scalar);
    match scalar {
        Scalar::Bool => {
            let zero = module.word(0);
            module.value("OpINotEqual", &ty, &format!("{word} {zero}"))
        }
        Scalar::Int { width: 32, signed: false } => word.to_owned(),
        // A 16-bit float is extracted as one half of the word, which needs no 16-bit integers.
        Scalar::Float(format) if format.width == 16 => {
            let pair = module.ty(Type::vector(scalar, 2));
            let pair = module.value("OpBitcast", &pair, word);
            module.value("OpCompositeExtract", &ty, &format!("{pair} 0"))
        }
        Scalar::Int { .. } | Scalar::Float(_) if scalar.width() == 32 => module.value("OpBitcast", &ty, word),
        Scalar::Int { width, .. } => {
            let unsigned = Scalar::Int { width, signed: false };
            let narrow = narrow(module, width, word);
            if scalar == unsigned { narrow } else { module.value("OpBitcast", &ty, &narrow) }
        }
        Scalar::Float(format) => {
            let narrow = narrow(module, format.width, word);
            module.value("OpBitcast", &ty, &narrow)
        }
    }
}

/// Returns the unsigned integer of that width with the low bits of a word.
fn narrow(module: &mut ModuleText, width: u32, word: &str) -> String {
    let ty = module.scalar(Scalar::Int { width, signed: false });
    module.value("OpUConvert", &ty, word)
}

/// Returns a word with the bits of a scalar as its low bits; the others are zero.
fn to_word(module: &mut ModuleText, scalar: Scalar, value: &str) -> String {
    match scalar {
        Scalar::Bool => {
            let (zero, one) = (module.word(0), module.word(1));
            module.value("OpSelect", "%u32", &format!("{value} {one} {zero}"))
        }
        Scalar::Int { width: 32, signed: false } => value.to_owned(),
        Scalar::Float(format) if format.width == 16 => {
            let zero = module.constant(scalar, 0);
            let pair = module.ty(Type::vector(scalar, 2));
            let pair = module.value("OpCompositeConstruct", &pair, &format!("{value} {zero}"));
            module.value("OpBitcast", "%u32", &pair)
        }
        Scalar::Int { .. } | Scalar::Float(_) if scalar.width() == 32 => module.value("OpBitcast", "%u32", value),
        Scalar::Int { .. } | Scalar::Float(_) => {
            let unsigned = Scalar::Int { width: scalar.width(), signed: false };
            let ty = module.scalar(unsigned);
            let value = if scalar == unsigned { value.to_owned() } else { module.value("OpBitcast", &ty, value) };
            module.value("OpUConvert", "%u32", &value)
        }
    }
}

/// Returns the value made of its scalars, matrices column by column.
pub(super) fn compose(module: &mut ModuleText, ty: Type, scalars: &[String]) -> String {
    if ty.is_scalar() {
        return scalars[0].clone();
    }
    let id = module.ty(ty);
    if ty.columns == 1 {
        return module.value("OpCompositeConstruct", &id, &scalars.join(" "));
    }
    let column = module.ty(Type::vector(ty.scalar, ty.rows));
    let columns: Vec<String> = scalars
        .chunks(ty.rows as usize)
        .map(|part| module.value("OpCompositeConstruct", &column, &part.join(" ")))
        .collect();
    module.value("OpCompositeConstruct", &id, &columns.join(" "))
}

/// Returns the scalars of a value, in the order of [`compose`].
pub(super) fn decompose(module: &mut ModuleText, ty: Type, value: &str) -> Vec<String> {
    if ty.is_scalar() {
        return vec![value.to_owned()];
    }
    let scalar = module.scalar(ty.scalar);
    let mut scalars = Vec::with_capacity(ty.len());
    for column in 0..ty.columns {
        for row in 0..ty.rows {
            let path = if ty.columns == 1 { format!("{value} {row}") } else { format!("{value} {column} {row}") };
            scalars.push(module.value("OpCompositeExtract", &scalar, &path));
        }
    }
    scalars
}
