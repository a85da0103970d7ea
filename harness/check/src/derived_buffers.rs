//! Buffers behind the device addresses that the options of a check leave open.
//!
//! Every word that the shader uses as an address ([`AddressFlow`]) gets a buffer of its own, with
//! the layout of the type behind the pointer and the name of the word. The buffers may contain
//! further addresses, which are derived in the same way up to a depth, beyond which addresses are
//! null.
//!
//! A structure with pointers to its own type, such as a node of a list or tree, gets a few records,
//! in the order of a heap: the pointers of one record lead to the next records. The last ones lead
//! back to the first records, unless the shader compares the pointer, as a loop to the end of a
//! list does; then they are null.

use crate::BindingName;
use crate::address_flow::{AddressFlow, AddressMemory, AddressUse};
use crate::device_address::{
    AddressWord, AddressedBuffer, AddressedLayout, is_buffer_name, pointee_layout, record_stride,
};
use crate::memory_layout::{PathStep, path_text, runtime_stride, size_with_elements};
use assay_oracle::Slot;
use assay_spirv::Module;
use assay_spirv::reflect::TypeLayout;
use assay_spirv::tables::StorageClass;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Largest number of derived buffers. Words beyond it share the buffers of their type.
const MAX_BUFFERS: usize = 64;

/// Largest number of derived addresses. Words beyond it are left as they are.
const MAX_WORDS: usize = 4096;

/// Largest number of buffers that lead from one to the next.
const MAX_DEPTH: usize = 4;

/// Number of records of a structure with pointers to its own type.
const NODES: u64 = 4;

/// Memory whose addresses are derived.
#[derive(Clone, Debug)]
pub(crate) struct AddressPlace {
    /// Its name in an [`AddressWord`]; `None` for the push constants.
    pub(crate) name: Option<BindingName>,
    /// First part of the names of the buffers behind it.
    pub(crate) prefix: String,
    /// Its slot; `None` for the push constants and for derived buffers.
    pub(crate) slot: Option<Slot>,
    pub(crate) memory: AddressMemory,
    pub(crate) block: Arc<TypeLayout>,
    /// Set if the block is an array of records of the type behind a pointer.
    pub(crate) has_records: bool,
    pub(crate) bytes: u64,
}

/// Derived buffers, and the words that hold their addresses.
#[derive(Clone, Debug, Default)]
pub(crate) struct DerivedBuffers {
    pub(crate) buffers: Vec<(String, AddressedBuffer)>,
    pub(crate) addresses: Vec<AddressWord>,
}

/// Options of a check as far as a derivation depends on them.
pub(crate) trait OpenOptions {
    /// Returns whether the options set the word at an offset of memory.
    fn is_set(&self, place: &AddressPlace, offset: u64) -> bool;

    /// Returns whether another buffer or variable has a name.
    fn is_taken(&self, name: &str) -> bool;

    /// Returns the length of the run-time array, or the number of records, of a buffer that begins
    /// with `header` bytes. `usual` is the default, if it is not that of a run-time array.
    fn elements(&self, name: &str, header: u64, stride: u64, usual: Option<u64>) -> u64;
}

/// A word that holds an address.
#[derive(Debug)]
struct AddressWordUse {
    /// Path to it, for names.
    path: String,
    /// Raw ids of the types behind it. The first one gives the layout of the buffer.
    pointees: Vec<u32>,
    /// Set if the shader compares it.
    is_compared: bool,
    /// Set if the shader adds something to it.
    is_offset: bool,
}

impl AddressWordUse {
    fn pointee(&self) -> u32 {
        self.pointees[0]
    }
}

/// A buffer on the way to a place.
#[derive(Clone)]
struct Ancestor {
    pointee: u32,
    name: String,
}

/// A place in the queue, with the buffers that lead to it: the last one is the place itself.
struct PendingPlace {
    place: AddressPlace,
    ancestors: Vec<Ancestor>,
}

struct Derivation<'a> {
    module: &'a Module,
    flow: &'a AddressFlow,
    options: &'a dyn OpenOptions,
    derived: DerivedBuffers,
    /// Names of the derived buffers by type.
    by_type: BTreeMap<u32, Vec<String>>,
    queue: VecDeque<PendingPlace>,
}

/// Derives the buffers behind the words of some memory.
pub(crate) fn derive(
    module: &Module,
    flow: &AddressFlow,
    places: Vec<AddressPlace>,
    options: &dyn OpenOptions,
) -> DerivedBuffers {
    let queue = places.into_iter().map(|place| PendingPlace { place, ancestors: Vec::new() }).collect();
    let (derived, by_type) = (DerivedBuffers::default(), BTreeMap::new());
    let mut derivation = Derivation { module, flow, options, derived, by_type, queue };
    while let Some(pending) = derivation.queue.pop_front() {
        derivation.derive_words(&pending);
    }
    derivation.derived
}

/// Returns the types behind each word of some memory that holds an address, by offset, as raw ids.
pub(crate) fn pointees_of_words(module: &Module, flow: &AddressFlow, place: &AddressPlace) -> BTreeMap<u64, Vec<u32>> {
    words_of(module, flow, place).into_iter().map(|(offset, word)| (offset, word.pointees)).collect()
}

impl Derivation<'_> {
    fn derive_words(&mut self, PendingPlace { place, ancestors }: &PendingPlace) {
        let words = words_of(self.module, self.flow, place);
        let stride = match &*place.block {
            TypeLayout::Array { stride: Some(stride), .. } if place.has_records => u64::from(*stride).max(1),
            _ => place.bytes.max(1),
        };
        let own = ancestors.last().map(|own| own.pointee);
        let is_link = |word: &AddressWordUse| Some(word.pointee()) == own;
        let links = words.range(..stride).filter(|(_, word)| is_link(word)).count() as u64;
        let records = place.bytes / stride;
        let mut earlier_links = 0;
        for (offset, word) in words {
            // The pointers of the records, in order, lead to records 1, 2, ..
            let next = is_link(&word).then(|| {
                earlier_links += 1;
                offset / stride * links + (earlier_links - 1) % links.max(1) + 1
            });
            if self.derived.addresses.len() >= MAX_WORDS || self.options.is_set(place, offset) {
                continue;
            }
            let ancestor = ancestors.iter().find(|ancestor| ancestor.pointee == word.pointee());
            let to = match (ancestor, next) {
                (Some(own), Some(next)) if next < records || !word.is_compared => {
                    Some((own.name.clone(), next % records.max(1) * stride))
                }
                (Some(ancestor), None) if !word.is_compared => Some((ancestor.name.clone(), 0)),
                (Some(_), _) => None,
                (None, _) if ancestors.len() >= MAX_DEPTH => None,
                (None, _) => self.buffer(place, &word, ancestors).map(|name| (name, 0)),
            };
            let to = to.as_ref().map(|(name, into)| (name.as_str(), *into));
            self.derived.addresses.push(AddressWord::new(place.name.clone(), offset, to));
        }
    }

    /// Returns the name of a buffer for a word, and creates it unless there are too many.
    fn buffer(&mut self, place: &AddressPlace, word: &AddressWordUse, ancestors: &[Ancestor]) -> Option<String> {
        let pointee = word.pointee();
        if self.derived.buffers.len() >= MAX_BUFFERS {
            let known = self.by_type.get(&pointee)?;
            return known.get(self.derived.addresses.len() % known.len()).cloned();
        }
        let name = self.free_name(&place.prefix, &word.path);
        let form = AddressedBuffer::of_type(self.module, pointee, self.records(&name, word));
        let AddressedLayout { block, bytes, has_records, .. } = form.layout(self.module).ok()?;
        let place = AddressPlace {
            name: Some(name.parse().ok()?),
            prefix: name.clone(),
            slot: None,
            memory: AddressMemory::Pointee(pointee),
            block,
            has_records,
            bytes,
        };
        let own = Ancestor { pointee, name: name.clone() };
        let ancestors = ancestors.iter().cloned().chain([own]).collect();
        self.queue.push_back(PendingPlace { place, ancestors });
        self.derived.buffers.push((name.clone(), form));
        self.by_type.entry(pointee).or_default().push(name.clone());
        Some(name)
    }

    /// Returns the number of elements or records of a buffer for a word; `None` for a single
    /// record.
    fn records(&self, name: &str, word: &AddressWordUse) -> Option<u64> {
        let (module, pointee) = (self.module, word.pointee());
        let block = pointee_layout(module, pointee);
        if let Some(stride) = runtime_stride(&block) {
            return Some(self.options.elements(name, size_with_elements(&block, 0), stride, None));
        }
        let memory = AddressMemory::Pointee(pointee);
        let inner = words_in(module, self.flow, memory, (&block, false), block.size());
        let is_node = inner.values().any(|inner| inner.pointee() == pointee);
        let is_structure = matches!(*block, TypeLayout::Struct { .. });
        if !is_node && is_structure && !word.is_offset && !self.flow.indexed.contains(&pointee) {
            return None;
        }
        let stride = u64::from(record_stride(module, pointee, &block));
        Some(self.options.elements(name, 0, stride, is_node.then_some(NODES)))
    }

    /// Returns a name that no other buffer has.
    fn free_name(&self, prefix: &str, path: &str) -> String {
        let is_free = |name: &String| {
            is_buffer_name(name)
                && !self.options.is_taken(name)
                && self.derived.buffers.iter().all(|(known, _)| known != name)
        };
        let usual = if prefix.is_empty() { path.to_owned() } else { format!("{prefix}.{path}") };
        if is_free(&usual) {
            return usual;
        }
        let base = if prefix.is_empty() { format!("push.{path}") } else { usual };
        let numbered = (2..MAX_WORDS).map(|n| format!("{base}_{n}"));
        std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base)
    }
}

fn words_of(module: &Module, flow: &AddressFlow, place: &AddressPlace) -> BTreeMap<u64, AddressWordUse> {
    words_in(module, flow, place.memory, (&place.block, place.has_records), place.bytes)
}

/// Returns the words that hold addresses in memory of `bytes` bytes, by offset.
fn words_in(
    module: &Module,
    flow: &AddressFlow,
    memory: AddressMemory,
    (block, has_records): (&TypeLayout, bool),
    bytes: u64,
) -> BTreeMap<u64, AddressWordUse> {
    let record = match block {
        TypeLayout::Array { element, .. } if has_records => element,
        other => other,
    };
    let mut uses = Vec::new();
    declared_addresses(module, record, &mut Vec::new(), &mut |path, pointee| {
        uses.push(AddressUse { memory, path: path.to_vec(), pointee, is_offset: false });
    });
    let computed = flow.uses.iter().filter(|used| used.memory == memory);
    // Without an offset, the type is that at the beginning of the buffer.
    let (moved, plain): (Vec<&AddressUse>, Vec<&AddressUse>) = computed.partition(|used| used.is_offset);
    uses.extend(plain.into_iter().chain(moved).cloned());
    let mut words: BTreeMap<u64, AddressWordUse> = BTreeMap::new();
    for used in uses {
        let all = has_records.then_some(None);
        let path: Vec<Option<u64>> = all.into_iter().chain(used.path.iter().copied()).collect();
        expand(block, (0, bytes), &path, &mut Vec::new(), &mut |offset, steps| {
            if words.len() >= MAX_WORDS && !words.contains_key(&offset) {
                return;
            }
            let word = words.entry(offset).or_insert_with(|| AddressWordUse {
                path: name_text(steps),
                pointees: Vec::new(),
                is_compared: flow.compares(memory, &used.path),
                is_offset: false,
            });
            word.is_offset |= used.is_offset;
            if !word.pointees.contains(&used.pointee) {
                word.pointees.push(used.pointee);
            }
        });
    }
    words
}

/// Visits the physical pointers that a type declares: the path to each, with `None` for all
/// elements of an array, and the raw id of the type behind it.
fn declared_addresses(
    module: &Module,
    layout: &TypeLayout,
    path: &mut Vec<Option<u64>>,
    visit: &mut dyn FnMut(&[Option<u64>], u32),
) {
    match layout {
        TypeLayout::Pointer { class: StorageClass::PhysicalStorageBuffer, pointee: Some(pointee) } => {
            module.type_definition(*pointee).result().into_iter().for_each(|pointee| visit(path, pointee));
        }
        TypeLayout::Array { element, .. } => {
            path.push(None);
            declared_addresses(module, element, path, visit);
            path.pop();
        }
        TypeLayout::Struct { members, .. } => {
            for (member, number) in members.iter().zip(0..) {
                path.push(Some(number));
                declared_addresses(module, &member.shape, path, visit);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Visits the words of 64 bits to which a path leads, with offset and steps. `None` in the path
/// stands for all elements of an array.
fn expand<'a>(
    layout: &'a TypeLayout,
    (at, end): (u64, u64),
    path: &[Option<u64>],
    steps: &mut Vec<PathStep<'a>>,
    visit: &mut dyn FnMut(u64, &[PathStep<'a>]),
) {
    match (layout, path) {
        (TypeLayout::Struct { members, .. }, [Some(number), rest @ ..]) => {
            let Some(member) = members.get(*number as usize) else { return };
            steps.push(PathStep::Member(*number as usize, member.name.as_deref()));
            expand(&member.shape, (at + member.offset.map_or(0, u64::from), end), rest, steps, visit);
            steps.pop();
        }
        (TypeLayout::Array { element, count, stride }, [index, rest @ ..]) => {
            let stride = stride.map_or(element.size(), u64::from).max(1);
            let fit = end.saturating_sub(at) / stride;
            let all = 0..count.unwrap_or(fit).min(fit);
            let range = index.map_or(all.clone(), |index| index..(index + 1).min(all.end));
            for i in range.take(MAX_WORDS) {
                steps.push(PathStep::Index(i));
                expand(element, (at + i * stride, end), rest, steps, visit);
                steps.pop();
            }
        }
        (TypeLayout::Pointer { .. } | TypeLayout::Int { width: 64, .. }, [])
        | (TypeLayout::Vector { count: 2, .. }, _)
            if at + 8 <= end =>
        {
            visit(at, steps);
        }
        _ => {}
    }
}

/// Returns a path as part of a name: `lights.3.colour`.
fn name_text(steps: &[PathStep<'_>]) -> String {
    let text = path_text(steps).replace('[', ".").replace(']', "");
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
    text.trim_start_matches('.').chars().map(letter).collect()
}
