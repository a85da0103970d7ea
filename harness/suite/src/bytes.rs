//! Contents of buffers, and where values go in them: the second reference of suites about memory.

use assay_check::{AddressWord, BindingName, CheckError, Options, PointedForm, Source, pointed_slot};
use assay_oracle::{Dispatch, Resource, Slot};
use std::collections::BTreeMap;

/// Bytes that differ from their neighbours, half of them with the sign bit set.
pub(crate) fn pattern(bytes: u32, seed: u32) -> Vec<u8> {
    (0..bytes).map(|i| (i.wrapping_add(seed).wrapping_mul(0x9d) ^ (i >> 3)).wrapping_add(0x83) as u8).collect()
}

/// A binding of set 0 with those bytes.
pub(crate) fn given(binding: u32, bytes: Vec<u8>) -> (BindingName, Source) {
    (name(binding), Source::Bytes(bytes))
}

/// How options name a binding of set 0.
pub(crate) fn name(binding: u32) -> BindingName {
    let parsed: Result<BindingName, CheckError> = binding.to_string().parse();
    parsed.expect("a number names a binding")
}

/// A buffer that no descriptor binds, of those bytes, whose address lies so many bytes into the push constants: 64 bits, pointing so
/// many bytes into it. Gives its slot.
pub(crate) fn pointed(options: &mut Options, name: &str, bytes: Vec<u8>, (at, into): (u32, u32)) -> Slot {
    let slot = pointed_slot(options.buffers.len() as u32);
    let form: Result<PointedForm, CheckError> = format!("{}*u8", bytes.len()).parse();
    options.buffers.push((name.to_owned(), form.expect("bytes are what a buffer may have")));
    let word = AddressWord::parse(&format!("push@{at}"), &format!("{name}+{into}"));
    options.addresses.push(word.expect("that is how such words are written"));
    options.inputs.push((name.parse().expect("a name names a buffer"), Source::Bytes(bytes)));
    slot
}

/// Where a value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// A binding of set 0.
    Binding(u32),
    /// The buffer of that number that no descriptor binds.
    Pointed(u32),
    Push,
}

/// A value that goes from one place to another, and what becomes of its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) from: From,
    /// First byte, and bytes.
    pub(crate) at: (u32, u32),
    /// First byte in the output, and bytes: more are the sign's or zero, fewer are the lowest.
    pub(crate) to: (u32, u32),
    pub(crate) signed: bool,
}

/// What a binding of set 0 holds before a dispatch.
pub(crate) fn before(dispatch: &Dispatch, binding: u32) -> &[u8] {
    held(dispatch, Slot::new(0, binding))
}

fn held(dispatch: &Dispatch, slot: Slot) -> &[u8] {
    match dispatch.bindings.get(&slot) {
        Some(Resource::Buffer(buffer)) => &buffer.data,
        _ => &[],
    }
}

/// A second reference: all moves, from what was there before, into `output`.
pub(crate) fn moved(
    output: u32,
    moves: Vec<Move>,
) -> impl Fn(&Dispatch) -> BTreeMap<Slot, Vec<u8>> + Send + Sync + 'static {
    moved_to(Slot::new(0, output), moves)
}

/// The same into any buffer.
pub(crate) fn moved_to(
    output: Slot,
    moves: Vec<Move>,
) -> impl Fn(&Dispatch) -> BTreeMap<Slot, Vec<u8>> + Send + Sync + 'static {
    move |dispatch| {
        let mut memory = held(dispatch, output).to_vec();
        for Move { from, at: (at, wide), to: (to, bytes), signed } in &moves {
            let source = match from {
                From::Binding(binding) => before(dispatch, *binding),
                From::Pointed(number) => held(dispatch, pointed_slot(*number)),
                From::Push => &dispatch.push_constants,
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
    fn moves_extend_and_cut() {
        let mut dispatch = Dispatch { push_constants: vec![0x80, 1, 2, 3], ..Dispatch::default() };
        let buffer = Buffer { data: vec![9; 8], address: None };
        dispatch.bindings.insert(Slot::new(0, 1), Resource::Buffer(buffer));
        let extend = Move { from: From::Push, at: (0, 1), to: (0, 2), signed: true };
        let cut = Move { from: From::Push, at: (1, 2), to: (3, 1), signed: true };
        let memory =
            moved(1, vec![extend, cut, Move { from: From::Push, at: (3, 1), to: (7, 1), signed: false }])(&dispatch);
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
