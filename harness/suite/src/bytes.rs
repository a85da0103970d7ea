//! Buffer contents, and moves of bytes between buffers: the independent reference of the memory
//! suites.

use assay_check::{AddressWord, AddressedBuffer, BindingName, BindingSource, CheckError, Options};
use assay_exec::addressed_slot;
use assay_oracle::{Dispatch, Resource, Slot};
use std::collections::BTreeMap;

/// Returns a test pattern: neighbouring bytes differ, and about half have the sign bit set.
pub(crate) fn pattern(bytes: u32, seed: u32) -> Vec<u8> {
    (0..bytes).map(|i| (i.wrapping_add(seed).wrapping_mul(0x9d) ^ (i >> 3)).wrapping_add(0x83) as u8).collect()
}

/// Contents of a binding of set 0, as options take them.
pub(crate) fn bytes_input(binding: u32, bytes: Vec<u8>) -> (BindingName, BindingSource) {
    (binding_name(binding), BindingSource::Bytes(bytes))
}

/// The name by which options refer to a binding of set 0.
pub(crate) fn binding_name(binding: u32) -> BindingName {
    let parsed: Result<BindingName, CheckError> = binding.to_string().parse();
    parsed.expect("a number names a binding")
}

/// Adds a buffer that is reached only by its device address, and returns its slot.
///
/// The 64-bit address is at byte `at` of the push constants and points to byte `into` of the
/// buffer.
pub(crate) fn add_addressed_buffer(options: &mut Options, name: &str, bytes: Vec<u8>, (at, into): (u32, u32)) -> Slot {
    let slot = addressed_slot(options.buffers.len() as u32);
    let form: Result<AddressedBuffer, CheckError> = format!("{}*u8", bytes.len()).parse();
    options.buffers.push((name.to_owned(), form.expect("a byte count is a valid buffer description")));
    let word = AddressWord::parse(&format!("push@{at}"), &format!("{name}+{into}"));
    options.addresses.push(word.expect("the address word is well-formed"));
    options.inputs.push((name.parse().expect("a name names a buffer"), BindingSource::Bytes(bytes)));
    slot
}

/// Source of a moved value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MoveSource {
    /// A binding of set 0.
    Binding(u32),
    /// The buffer with this number among those that only an address reaches.
    Pointed(u32),
    Push,
}

/// Copy of an integer from a source to the output, widened or narrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteMove {
    pub(crate) from: MoveSource,
    /// First byte in the source, and size in bytes.
    pub(crate) at: (u32, u32),
    /// First byte in the output, and size in bytes. A larger size extends the value with its sign
    /// (if `signed`) or with zeros; a smaller one keeps the low bytes.
    pub(crate) to: (u32, u32),
    pub(crate) signed: bool,
}

/// Contents of a binding of set 0 before the dispatch.
pub(crate) fn contents_before(dispatch: &Dispatch, binding: u32) -> &[u8] {
    buffer_contents(dispatch, Slot::new(0, binding))
}

fn buffer_contents(dispatch: &Dispatch, slot: Slot) -> &[u8] {
    match dispatch.bindings.get(&slot) {
        Some(Resource::Buffer(buffer)) => &buffer.data,
        _ => &[],
    }
}

/// Returns an independent reference that applies the moves to the buffer at binding `output`. The
/// sources are read as they were before the dispatch.
pub(crate) fn apply_moves(
    output: u32,
    moves: Vec<ByteMove>,
) -> impl Fn(&Dispatch) -> BTreeMap<Slot, Vec<u8>> + Send + Sync + 'static {
    apply_moves_to(Slot::new(0, output), moves)
}

/// As [`apply_moves`], for a buffer in any slot.
pub(crate) fn apply_moves_to(
    output: Slot,
    moves: Vec<ByteMove>,
) -> impl Fn(&Dispatch) -> BTreeMap<Slot, Vec<u8>> + Send + Sync + 'static {
    move |dispatch| {
        let mut memory = buffer_contents(dispatch, output).to_vec();
        for ByteMove { from, at: (at, wide), to: (to, bytes), signed } in &moves {
            let source = match from {
                MoveSource::Binding(binding) => contents_before(dispatch, *binding),
                MoveSource::Pointed(number) => buffer_contents(dispatch, addressed_slot(*number)),
                MoveSource::Push => &dispatch.push_constants,
            };
            let value = source.get(*at as usize..(at + wide) as usize).unwrap_or_default();
            let fill = if *signed && value.last().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
            for i in 0..*bytes as usize {
                if let Some(byte) = memory.get_mut(*to as usize + i) {
                    *byte = value.get(i).copied().unwrap_or(fill);
                }
            }
        }
        [(output, memory)].into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_oracle::Buffer;

    #[test]
    fn byte_moves_extend_and_truncate() {
        let mut dispatch = Dispatch { push_constants: vec![0x80, 1, 2, 3], ..Dispatch::default() };
        let buffer = Buffer { data: vec![9; 8], address: None };
        dispatch.bindings.insert(Slot::new(0, 1), Resource::Buffer(buffer));
        let extend = ByteMove { from: MoveSource::Push, at: (0, 1), to: (0, 2), signed: true };
        let cut = ByteMove { from: MoveSource::Push, at: (1, 2), to: (3, 1), signed: true };
        let memory = apply_moves(
            1,
            vec![extend, cut, ByteMove { from: MoveSource::Push, at: (3, 1), to: (7, 1), signed: false }],
        )(&dispatch);
        assert_eq!(memory[&Slot::new(0, 1)], [0x80, 0xff, 9, 1, 9, 9, 9, 3]);
    }

    #[test]
    fn patterns_differ_from_byte_to_byte_and_by_seed() {
        let bytes = pattern(256, 0);
        assert!(bytes.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(bytes.iter().filter(|byte| **byte >= 0x80).count() > 100);
        assert!(pattern(256, 1).iter().zip(&bytes).filter(|(a, b)| a == b).count() < 16);
    }
}
