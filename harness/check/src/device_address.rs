//! Buffers without a descriptor, and the words of push constants and buffers that hold their device
//! addresses.
//!
//! The addresses are known once the device has allocated the buffers. They are then put into their
//! words, and the oracle interprets the shader with the same addresses. Only a dispatch without
//! faults runs on the device.

use crate::memory_layout::write_bits;
use crate::{BindingName, CheckError};
use assay_exec::{Descriptor, addressed_slot};
use assay_oracle::{Dispatch, Resource, Slot};
use assay_spirv::reflect::{DescriptorKind, Member, TypeLayout};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Size of an address in bytes.
const ADDRESS_BYTES: u64 = 8;

/// Largest number of records in such a buffer, so that sizes do not overflow.
const MAX_RECORDS: u64 = 1 << 40;

/// Type of a buffer without a descriptor: a number of records, each a structure of scalars with the
/// layout of C. As text: `16*u32,f64` or, with names, `16*value:f32,next:u64`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressedBuffer {
    records: u64,
    /// Name and type of each scalar.
    scalars: Vec<(Option<String>, String)>,
}

impl FromStr for AddressedBuffer {
    type Err = CheckError;

    fn from_str(text: &str) -> Result<AddressedBuffer, CheckError> {
        let wrong = |what: &str| {
            CheckError::option(format!(
                "`{text}`: {what}; expected COUNT*TYPE,TYPE,.. with types i8 to i64, u8 to u64 and f16 to f64, or \
                 NAME:TYPE for each: `16*value:f32,next:u64`"
            ))
        };
        let (records, scalars) = text.split_once('*').ok_or_else(|| wrong("missing `*`"))?;
        let records = records.trim().parse().ok().filter(|n| (1..=MAX_RECORDS).contains(n));
        let records = records.ok_or_else(|| wrong("the count is not a positive number"))?;
        let mut found = Vec::new();
        for scalar in scalars.split(',') {
            let (name, ty) = scalar.split_once(':').map_or((None, scalar), |(name, ty)| (Some(name.trim()), ty));
            let ty = ty.trim();
            scalar_shape(ty).ok_or_else(|| wrong(&format!("unknown type `{ty}`")))?;
            if name.is_some_and(|name| !is_name(name)) {
                return Err(wrong("a name must consist of letters, digits and `_`"));
            }
            found.push((name.map(str::to_owned), ty.to_owned()));
        }
        Ok(AddressedBuffer { records, scalars: found })
    }
}

impl fmt::Display for AddressedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scalar = |(name, ty): &(Option<String>, String)| match name {
            Some(name) => format!("{name}:{ty}"),
            None => ty.clone(),
        };
        write!(f, "{}*{}", self.records, self.scalars.iter().map(scalar).collect::<Vec<_>>().join(","))
    }
}

impl AddressedBuffer {
    /// Returns the layout of the buffer, and its size in bytes.
    fn layout(&self) -> (TypeLayout, u64) {
        let (mut members, mut end, mut align) = (Vec::new(), 0u64, 1);
        for (name, ty) in &self.scalars {
            let Some(shape) = scalar_shape(ty) else { continue };
            let bytes = shape.size();
            let offset = end.next_multiple_of(bytes);
            (end, align) = (offset + bytes, bytes.max(align));
            members.push(Member { name: name.clone(), offset: Some(offset as u32), shape: Arc::new(shape) });
        }
        let stride = end.next_multiple_of(align);
        let record = match &members[..] {
            [Member { name: None, shape, .. }] => shape.clone(),
            _ => Arc::new(TypeLayout::structure(None, members)),
        };
        let array = TypeLayout::Array { element: record, count: None, stride: Some(stride as u32) };
        (array, stride.saturating_mul(self.records))
    }

    /// Returns the buffer as a descriptor in the slot [`addressed_slot`]`(index)`; `index` is its
    /// position in `Options::buffers`.
    pub(crate) fn descriptor(&self, index: u32, name: &str) -> Descriptor {
        let (block, bytes) = self.layout();
        Descriptor {
            slot: addressed_slot(index),
            name: Some(name.to_owned()),
            kind: DescriptorKind::StorageBuffer,
            block: Some(Arc::new(block)),
            texels: None,
            compares_depth: false,
            may_be_written: true,
            bytes,
        }
    }
}

/// Returns whether a text can be the name of a buffer or of a scalar.
pub(crate) fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn scalar_shape(ty: &str) -> Option<TypeLayout> {
    let (kind, width) = ty.split_at_checked(1)?;
    match (kind, width.parse().ok()?) {
        ("u", width @ (8 | 16 | 32 | 64)) => Some(TypeLayout::Int { width, signed: false }),
        ("i", width @ (8 | 16 | 32 | 64)) => Some(TypeLayout::Int { width, signed: true }),
        ("f", width @ (16 | 32 | 64)) => Some(TypeLayout::Float { width, encoding: None }),
        _ => None,
    }
}

/// A 64-bit word that holds an address: `push@0 = nodes+16`, `0.1@8 = nodes`, `nodes@8 = nodes+32`,
/// `nodes@24 = null`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressWord {
    /// Location of the word: a binding or buffer; `None` for the push constants.
    pub(crate) place: Option<BindingName>,
    offset: u64,
    /// Buffer whose address it holds.
    pub(crate) buffer: String,
    /// Offset into that buffer in bytes.
    into: u64,
}

/// Name of the push constants in an [`AddressWord`].
pub(crate) const PUSH: &str = "push";

/// Name of the null address in an [`AddressWord`].
pub(crate) const NULL: &str = "null";

impl AddressWord {
    /// Parses the location and the value.
    ///
    /// # Errors
    /// They do not have the form `PLACE@BYTE` and `BUFFER` or `BUFFER+BYTES`.
    pub fn parse(place: &str, value: &str) -> Result<AddressWord, CheckError> {
        let wrong = |what: &str| {
            CheckError::option(format!(
                "`{place}={value}`: {what}; expected PLACE@BYTE=VALUE, where PLACE is `push`, a binding or a buffer, \
                 and VALUE is BUFFER, BUFFER+BYTES or null: `push@0=nodes+16`"
            ))
        };
        let (name, offset) = place.rsplit_once('@').ok_or_else(|| wrong("missing `@`"))?;
        let number = |text: &str| text.trim().parse::<u64>().ok().filter(|n| *n <= u64::MAX / 4);
        let offset = number(offset).ok_or_else(|| wrong("the byte offset is not a number"))?;
        if !offset.is_multiple_of(4) {
            return Err(wrong("the byte offset is not a multiple of 4"));
        }
        let (buffer, into) = match value.split_once('+') {
            Some((buffer, into)) => {
                (buffer.trim(), number(into).ok_or_else(|| wrong("the offset into the buffer is not a number"))?)
            }
            None => (value.trim(), 0),
        };
        if buffer == NULL && into != 0 {
            return Err(wrong("null cannot have an offset"));
        }
        let place = if name.trim() == PUSH { None } else { Some(name.parse()?) };
        Ok(AddressWord { place, offset, buffer: buffer.to_owned(), into })
    }

    /// Returns location and value in the form of [`AddressWord::parse`].
    pub fn text(&self) -> (String, String) {
        let place = self.place.as_ref().map_or(PUSH.to_owned(), ToString::to_string);
        let into = if self.into == 0 { String::new() } else { format!("+{}", self.into) };
        (format!("{place}@{}", self.offset), format!("{}{into}", self.buffer))
    }
}

/// A word that holds an address, with resolved slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResolvedWord {
    /// Buffer that contains the word; `None` for the push constants.
    place: Option<Slot>,
    offset: u64,
    /// Buffer whose address it holds; `None` for null.
    to: Option<Slot>,
    into: u64,
}

impl ResolvedWord {
    /// Returns whether the word contains the byte at an offset.
    pub(crate) fn covers(&self, place: Option<Slot>, offset: u64) -> bool {
        self.place == place && (self.offset..self.offset + ADDRESS_BYTES).contains(&offset)
    }
}

/// Resolves address words in the shader's interface.
///
/// # Errors
/// A location or a buffer does not exist.
pub(crate) fn resolve(
    given: &[AddressWord],
    descriptors: &[Descriptor],
    push_bytes: Option<u64>,
) -> Result<Vec<ResolvedWord>, CheckError> {
    let mut words = Vec::new();
    for address in given {
        let (place, value) = address.text();
        let wrong =
            |what: String| CheckError::entry("address", place.as_str(), format!("address `{place}={value}`: {what}"));
        let to = descriptors.iter().find(|d| d.is_addressed() && d.name.as_ref() == Some(&address.buffer));
        let to = to.map(|d| d.slot);
        let to = (address.buffer == NULL).then_some(None).or_else(|| to.map(Some)).ok_or_else(|| {
            let there = descriptors.iter().filter(|d| d.is_addressed()).filter_map(|d| d.name.clone());
            let there: Vec<String> = there.collect();
            let there = if there.is_empty() {
                "no buffer is declared".to_owned()
            } else {
                format!("declared: {}", there.join(", "))
            };
            wrong(format!("no buffer `{}` ({there}); declare buffers with --buffer or [buffer]", address.buffer))
        })?;
        let mut push = |bytes: u64, place: Option<Slot>, what: &str| {
            if address.offset + ADDRESS_BYTES > bytes {
                return Err(wrong(format!(
                    "the address at byte {} is outside {what}, which has {bytes} bytes",
                    address.offset
                )));
            }
            words.push(ResolvedWord { place, offset: address.offset, to, into: address.into });
            Ok(())
        };
        match &address.place {
            None => {
                let bytes = push_bytes.ok_or_else(|| wrong("the entry point has no push constants".into()))?;
                push(bytes, None, "the push constants")?;
            }
            Some(name) => {
                let mut found = false;
                for d in descriptors.iter().filter(|d| name.names(d.slot, d.name.as_deref()) && d.block.is_some()) {
                    found = true;
                    push(d.bytes, Some(d.slot), &d.label())?;
                }
                if !found {
                    return Err(wrong(format!("the entry point uses no buffer `{name}`")));
                }
            }
        }
    }
    Ok(words)
}

/// Puts the addresses of buffers into a dispatch: into the words, and into the buffers.
pub(crate) fn put_addresses(words: &[ResolvedWord], addresses: &BTreeMap<Slot, u64>, dispatch: &mut Dispatch) {
    for (slot, address) in addresses {
        if let Some(Resource::Buffer(buffer)) = dispatch.bindings.get_mut(slot) {
            buffer.address = Some(*address);
        }
    }
    for word in words {
        let address = match word.to {
            Some(to) => addresses.get(&to).copied(),
            None => Some(0),
        };
        let Some(address) = address else { continue };
        let memory = match word.place {
            None => Some(&mut dispatch.push_constants),
            Some(slot) => match dispatch.bindings.get_mut(&slot) {
                Some(Resource::Buffer(buffer)) => Some(&mut buffer.data),
                _ => None,
            },
        };
        if let Some(memory) = memory {
            write_bits(memory, word.offset, 64, address.wrapping_add(word.into));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_layout::{path_text, walk_scalars};
    use assay_exec::synthetic_addresses;

    #[test]
    fn records_have_the_layout_of_c() {
        let form: AddressedBuffer = "3*value:f32,next:u64,tag:u8".parse().unwrap();
        assert_eq!(form.to_string(), "3*value:f32,next:u64,tag:u8");
        let (shape, bytes) = form.layout();
        assert_eq!(bytes, 3 * 24);
        let mut found = Vec::new();
        walk_scalars(&shape, bytes, &mut |element, path| found.push((element.offset, path_text(path))));
        let second: Vec<_> = found.iter().skip(3).take(3).map(|(at, path)| (*at, path.as_str())).collect();
        assert_eq!(second, [(24, "[1].value"), (32, "[1].next"), (40, "[1].tag")]);
        assert_eq!("4*u32".parse::<AddressedBuffer>().unwrap().layout().1, 16);
        for wrong in ["", "u32", "0*u32", "2*", "2*u24", "2*f8", "2*a b:u32", "-1*u32", "99999999999999999999*u8"] {
            assert!(wrong.parse::<AddressedBuffer>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn address_words_round_trip_through_text() {
        for (place, value) in [("push@0", "nodes+16"), ("0.1[2]@8", "a"), ("nodes@24", "nodes+48"), ("nodes@0", "null")]
        {
            let word = AddressWord::parse(place, value).unwrap();
            assert_eq!(word.text(), (place.to_owned(), value.to_owned()));
        }
        for (place, value) in
            [("push", "a"), ("push@2", "a"), ("push@x", "a"), ("push@0", "a+x"), ("@0", "a"), ("push@0", "null+8")]
        {
            assert!(AddressWord::parse(place, value).is_err(), "{place}={value}");
        }
    }

    #[test]
    fn addresses_are_put_into_their_words() {
        let descriptor = |index, name: &str| "4*u64".parse::<AddressedBuffer>().unwrap().descriptor(index, name);
        let descriptors = [descriptor(0, "a"), descriptor(1, "b")];
        let given = [AddressWord::parse("push@8", "b+16").unwrap(), AddressWord::parse("a@24", "a").unwrap()];
        let words = resolve(&given, &descriptors, Some(16)).unwrap();
        let mut dispatch = Dispatch { push_constants: vec![0; 16], ..Dispatch::default() };
        for d in &descriptors {
            let buffer = assay_oracle::Buffer { data: vec![0; d.bytes as usize], address: None };
            dispatch.bindings.insert(d.slot, Resource::Buffer(buffer));
        }
        let addresses = synthetic_addresses(&descriptors);
        let [a, b] = [0, 1].map(|i| addresses[&descriptors[i].slot]);
        assert!(b > a + 32);
        put_addresses(&words, &addresses, &mut dispatch);
        assert_eq!(dispatch.push_constants[8..], (b + 16).to_le_bytes());
        let Some(Resource::Buffer(buffer)) = dispatch.bindings.get(&descriptors[0].slot) else { panic!("bound above") };
        assert_eq!((buffer.address, &buffer.data[24..]), (Some(a), &a.to_le_bytes()[..]));
        for (place, value) in [("push@12", "a"), ("a@32", "b"), ("c@0", "a"), ("push@0", "c")] {
            let given = [AddressWord::parse(place, value).unwrap()];
            assert!(super::resolve(&given, &descriptors, Some(16)).is_err(), "{place}={value}");
        }
    }
}
