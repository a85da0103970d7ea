//! Buffers without a descriptor, and the words of push constants and buffers that hold their device
//! addresses.
//!
//! The addresses are known once the device has allocated the buffers. They are then put into their
//! words, and the oracle interprets the shader with the same addresses. Only a dispatch without
//! faults runs on the device.

use crate::memory_layout::{runtime_stride, size_with_elements, write_bits};
use crate::{BindingName, CheckError};
use assay_exec::Descriptor;
use assay_oracle::{Dispatch, Resource, Slot};
use assay_spirv::Module;
use assay_spirv::module::{Type, TypeId};
use assay_spirv::reflect::explicit_layout::pointees;
use assay_spirv::reflect::{Layouts, Member, TypeLayout, decoration};
use assay_spirv::tables::{Decoration, StorageClass};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Size of an address in bytes.
const ADDRESS_BYTES: u64 = 8;

/// Largest number of records in such a buffer, so that sizes do not overflow.
const MAX_RECORDS: u64 = 1 << 40;

/// Type of a buffer without a descriptor. As text:
///
/// * `16*u32,f64` or, with names, `16*value:f32,next:u64`: a number of records, each a structure of
///   scalars with the layout of C;
/// * `16*%Nodes`: a type of the module behind physical pointers, by its debug name or its id, with
///   16 elements in its run-time array, or 16 records of it if it has none;
/// * `%Node`: one record of such a type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressedBuffer {
    /// Number of records or elements; `None` for one record of a type of the module.
    records: Option<u64>,
    record: RecordType,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum RecordType {
    /// Name and type of each scalar.
    Scalars(Vec<(Option<String>, String)>),
    /// Debug name or raw id of a type of the module.
    OfModule(String),
}

/// Layout of a buffer without a descriptor.
#[derive(Clone, Debug)]
pub(crate) struct AddressedLayout {
    pub(crate) block: Arc<TypeLayout>,
    /// Raw id of its type, if that is one of the module.
    pub(crate) pointee: Option<u32>,
    /// Set if the block is an array of records of that type.
    pub(crate) has_records: bool,
    pub(crate) bytes: u64,
}

impl FromStr for AddressedBuffer {
    type Err = CheckError;

    fn from_str(text: &str) -> Result<AddressedBuffer, CheckError> {
        let wrong = |what: &str| {
            CheckError::option(format!(
                "`{text}`: {what}; expected COUNT*TYPE,TYPE,.. with types i8 to i64, u8 to u64 and f16 to f64, or \
                 NAME:TYPE for each: `16*value:f32,next:u64`; or a type of the module: `%Node`, `16*%Node`"
            ))
        };
        if let Some(name) = text.trim().strip_prefix('%') {
            return Ok(AddressedBuffer { records: None, record: RecordType::OfModule(name.to_owned()) });
        }
        let (records, scalars) = text.split_once('*').ok_or_else(|| wrong("missing `*`"))?;
        let records = records.trim().parse().ok().filter(|n| (1..=MAX_RECORDS).contains(n));
        let records = Some(records.ok_or_else(|| wrong("the count is not a positive number"))?);
        if let Some(name) = scalars.trim().strip_prefix('%') {
            return Ok(AddressedBuffer { records, record: RecordType::OfModule(name.to_owned()) });
        }
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
        Ok(AddressedBuffer { records, record: RecordType::Scalars(found) })
    }
}

impl fmt::Display for AddressedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.records.map_or(Ok(()), |records| write!(f, "{records}*"))?;
        let scalar = |(name, ty): &(Option<String>, String)| match name {
            Some(name) => format!("{name}:{ty}"),
            None => ty.clone(),
        };
        match &self.record {
            RecordType::Scalars(scalars) => f.write_str(&scalars.iter().map(scalar).collect::<Vec<_>>().join(",")),
            RecordType::OfModule(name) => write!(f, "%{name}"),
        }
    }
}

impl AddressedBuffer {
    /// Returns a buffer of a type of the module, given as raw id.
    pub(crate) fn of_type(module: &Module, pointee: u32, records: Option<u64>) -> AddressedBuffer {
        AddressedBuffer { records, record: RecordType::OfModule(pointee.to_string()) }.by_name(module)
    }

    /// Returns the buffer with the debug name of its type in place of the id, if the name is
    /// unique. Ids change if the text of a module is assembled.
    pub(crate) fn by_name(&self, module: &Module) -> AddressedBuffer {
        let RecordType::OfModule(id) = &self.record else { return self.clone() };
        let name = id.parse().ok().and_then(|id| module.names().of(id)).filter(|name| is_name(name));
        match name.filter(|name| module_types(module, name).len() == 1) {
            Some(name) => AddressedBuffer { record: RecordType::OfModule(name), ..self.clone() },
            None => self.clone(),
        }
    }

    /// Returns the buffer with the id of its type in place of the debug name, which a reduction may
    /// remove.
    pub(crate) fn by_id(&self, module: &Module) -> AddressedBuffer {
        match &self.record {
            RecordType::OfModule(name) => match module_types(module, name)[..] {
                [id] => AddressedBuffer { record: RecordType::OfModule(id.to_string()), ..self.clone() },
                _ => self.clone(),
            },
            RecordType::Scalars(_) => self.clone(),
        }
    }

    /// Returns the buffer with another number of records or elements, if it has a number.
    pub(crate) fn with_records(&self, records: u64) -> AddressedBuffer {
        AddressedBuffer { records: self.records.map(|_| records), ..self.clone() }
    }

    /// Returns the layout of the buffer.
    ///
    /// # Errors
    /// The module has no such type; a phrase.
    pub(crate) fn layout(&self, module: &Module) -> Result<AddressedLayout, String> {
        match &self.record {
            RecordType::Scalars(scalars) => {
                let (block, stride) = scalar_records(scalars);
                let bytes = stride.saturating_mul(self.records.unwrap_or(1));
                Ok(AddressedLayout { block: Arc::new(block), pointee: None, has_records: true, bytes })
            }
            RecordType::OfModule(name) => {
                let pointee = match module_types(module, name)[..] {
                    [pointee] => pointee,
                    [] => {
                        let known: Vec<String> =
                            physical_pointees(module).map(|ty| module.names().display(ty)).collect();
                        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                        return Err(format!(
                            "no physical pointer points to a type `%{name}`; types behind pointers: {known}"
                        ));
                    }
                    _ => return Err(format!("several types are named `%{name}`; give the id")),
                };
                let block = pointee_layout(module, pointee);
                let has_records = self.records.is_some() && runtime_stride(&block).is_none();
                let (block, bytes) = match (self.records, runtime_stride(&block)) {
                    (Some(elements), Some(_)) => {
                        let bytes = size_with_elements(&block, elements);
                        (block, bytes)
                    }
                    (Some(records), None) => {
                        let stride = record_stride(module, pointee, &block);
                        let array = TypeLayout::Array { element: block, count: None, stride: Some(stride) };
                        (Arc::new(array), u64::from(stride).saturating_mul(records))
                    }
                    (None, None) => {
                        let bytes = block.padded_size();
                        (block, bytes)
                    }
                    (None, Some(_)) => {
                        return Err(format!("`%{name}` ends with a run-time array; give its length: `16*%{name}`"));
                    }
                };
                Ok(AddressedLayout { block, pointee: Some(pointee), has_records, bytes: bytes.max(4) })
            }
        }
    }
}

/// Returns an array of records that are laid out as in C, and the size of one.
fn scalar_records(scalars: &[(Option<String>, String)]) -> (TypeLayout, u64) {
    let (mut members, mut end, mut align) = (Vec::new(), 0u64, 1);
    for (name, ty) in scalars {
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
    (TypeLayout::Array { element: record, count: None, stride: Some(stride as u32) }, stride)
}

/// Returns the types behind physical pointers, as raw ids.
fn physical_pointees(module: &Module) -> impl Iterator<Item = u32> {
    let all: BTreeSet<TypeId> = pointees(module, |class| class == StorageClass::PhysicalStorageBuffer).collect();
    all.into_iter().filter_map(|ty| module.type_definition(ty).result())
}

/// Returns the types behind physical pointers that a debug name or an id selects, as raw ids.
fn module_types(module: &Module, name: &str) -> Vec<u32> {
    let id: Option<u32> = name.parse().ok();
    let is_named = |ty: &u32| id.map_or_else(|| module.names().of(*ty).as_deref() == Some(name), |id| id == *ty);
    physical_pointees(module).filter(is_named).collect()
}

/// Returns the layout of a type, given as raw id.
pub(crate) fn pointee_layout(module: &Module, pointee: u32) -> Arc<TypeLayout> {
    let ty = module.type_declared(pointee);
    ty.map_or_else(|| Arc::new(TypeLayout::Opaque), |ty| Layouts::new(module).type_layout(ty))
}

/// Returns the distance of records in bytes: the stride of the pointers to them, or the padded
/// size.
pub(crate) fn record_stride(module: &Module, pointee: u32, layout: &TypeLayout) -> u32 {
    let is_pointer = |ty: &Type| {
        matches!(ty, Type::Pointer { class: StorageClass::PhysicalStorageBuffer, pointee: Some(to) }
            if module.type_definition(*to).result() == Some(pointee))
    };
    let pointers = module.types().filter(|(_, ty)| is_pointer(ty));
    let mut strides = pointers
        .filter_map(|(ty, _)| decoration(module, module.type_definition(ty).result()?, Decoration::ArrayStride));
    let padded = layout.padded_size().next_multiple_of(layout.base_alignment().max(1));
    strides.next().unwrap_or(u32::try_from(padded).unwrap_or(u32::MAX)).max(1)
}

/// Returns whether a text can be the name of a buffer: names of a variable and members, with a
/// point between them.
pub(crate) fn is_buffer_name(text: &str) -> bool {
    let (first, rest) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts = rest.split('.');
    is_name(first) && parts.all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

/// Returns whether a text can be the name of a scalar.
fn is_name(text: &str) -> bool {
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
    pub(crate) offset: u64,
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

    /// Returns the word at an offset of a binding or buffer, or of the push constants, with the
    /// address of a byte of a buffer, or null.
    pub(crate) fn new(place: Option<BindingName>, offset: u64, to: Option<(&str, u64)>) -> AddressWord {
        let (buffer, into) = to.unwrap_or((NULL, 0));
        AddressWord { place, offset, buffer: buffer.to_owned(), into }
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
    /// Returns the buffer that contains the word, `None` for the push constants, its offset, and
    /// the buffer whose address it holds.
    pub(crate) fn parts(&self) -> (Option<Slot>, u64, Option<Slot>) {
        (self.place, self.offset, self.to)
    }

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
    use assay_exec::{addressed_slot, synthetic_addresses};
    use assay_spirv::reflect::DescriptorKind;

    #[test]
    fn records_have_the_layout_of_c() {
        let form: AddressedBuffer = "3*value:f32,next:u64,tag:u8".parse().unwrap();
        assert_eq!(form.to_string(), "3*value:f32,next:u64,tag:u8");
        let AddressedLayout { block: shape, bytes, .. } = form.layout(&module()).unwrap();
        assert_eq!(bytes, 3 * 24);
        let mut found = Vec::new();
        walk_scalars(&shape, bytes, &mut |element, path| found.push((element.offset, path_text(path))));
        let second: Vec<_> = found.iter().skip(3).take(3).map(|(at, path)| (*at, path.as_str())).collect();
        assert_eq!(second, [(24, "[1].value"), (32, "[1].next"), (40, "[1].tag")]);
        assert_eq!("4*u32".parse::<AddressedBuffer>().unwrap().layout(&module()).unwrap().bytes, 16);
        for wrong in ["", "u32", "0*u32", "2*", "2*u24", "2*f8", "2*a b:u32", "-1*u32", "99999999999999999999*u8"] {
            assert!(wrong.parse::<AddressedBuffer>().is_err(), "{wrong}");
        }
    }

    /// Three types behind physical pointers: 3 is a structure with the name Node, 4 one with a
    /// run-time array, 5 an integer.
    fn module() -> Module {
        let text = "OpCapability Shader
            OpCapability PhysicalStorageBufferAddresses
            OpMemoryModel PhysicalStorageBuffer64 GLSL450
            OpName %3 \"Node\"
            OpMemberDecorate %3 0 Offset 0
            OpMemberDecorate %3 1 Offset 8
            OpMemberDecorate %4 0 Offset 0
            OpMemberDecorate %4 1 Offset 16
            OpDecorate %6 ArrayStride 16
            OpDecorate %9 ArrayStride 4
            %1 = OpTypeFloat 32
            %2 = OpTypeVector %1 2
            %3 = OpTypeStruct %1 %2
            %6 = OpTypeRuntimeArray %2
            %4 = OpTypeStruct %1 %6
            %5 = OpTypeInt 32 0
            %7 = OpTypePointer PhysicalStorageBuffer %3
            %8 = OpTypePointer PhysicalStorageBuffer %4
            %9 = OpTypePointer PhysicalStorageBuffer %5";
        Module::parse(assay_spirv::assemble(text).unwrap()).unwrap()
    }

    #[test]
    fn types_of_the_module_give_exact_layouts() {
        let module = module();
        for (text, bytes, elements) in [
            ("%Node", 16, ".0 .1[0] .1[1]"),
            ("2*%3", 32, "[0].0 [0].1[0] [0].1[1] [1].0 [1].1[0] [1].1[1]"),
            ("2*%4", 48, ".0 .1[0][0] .1[0][1] .1[1][0] .1[1][1]"),
            ("3*%5", 12, "[0] [1] [2]"),
        ] {
            let form: AddressedBuffer = text.parse().unwrap();
            assert_eq!(form.to_string(), text);
            let layout = form.layout(&module).unwrap();
            let mut found = Vec::new();
            walk_scalars(&layout.block, layout.bytes, &mut |_, path| found.push(path_text(path)));
            assert_eq!((layout.bytes, found.join(" ")), (bytes, elements.to_owned()), "{text}");
        }
        for (text, why) in
            [("%4", "give its length"), ("%Knot", "types behind pointers: %Node, %4, %5"), ("%1", "%Node")]
        {
            let error = text.parse::<AddressedBuffer>().unwrap().layout(&module).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        let form = AddressedBuffer::of_type(&module, 3, Some(2));
        assert_eq!((form.to_string(), form.by_id(&module).to_string()), ("2*%Node".to_owned(), "2*%3".to_owned()));
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
        let descriptor = |index, name: &str| {
            let layout = "4*u64".parse::<AddressedBuffer>().unwrap().layout(&module()).unwrap();
            Descriptor {
                slot: addressed_slot(index),
                name: Some(name.to_owned()),
                kind: DescriptorKind::StorageBuffer,
                block: Some(layout.block),
                texels: None,
                compares_depth: false,
                may_be_written: true,
                bytes: layout.bytes,
            }
        };
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
