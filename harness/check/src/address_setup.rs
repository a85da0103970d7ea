//! Buffers without a descriptor in the setup of a dispatch, and the words that hold their
//! addresses.

use crate::address_flow::{AddressFlow, AddressMemory};
use crate::derived_buffers::{AddressPlace, DerivedBuffers, OpenOptions, derive, pointees_of_words};
use crate::device_address::{self, AddressedLayout, is_buffer_name};
use crate::dispatch_setup::{DispatchSetup, given_bytes, must_be_walkable};
use crate::options::Options;
use crate::written_resources::WrittenResources;
use crate::{AddressWord, AddressedBuffer, BindingName, CheckError};
use assay_exec::{Descriptor, addressed_slot};
use assay_oracle::{Dispatch, Slot};
use assay_spirv::Module;
use assay_spirv::reflect::DescriptorKind;
use assay_spirv::tables::Capability;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Largest number of options that a note lists.
const LISTED: usize = 24;

impl DispatchSetup {
    /// Adds the buffers that have no descriptor: those of the options, and those behind the
    /// addresses that the options leave open.
    pub(crate) fn add_buffers(
        &mut self,
        options: &Options,
        module: &Module,
        written: Option<&WrittenResources>,
    ) -> Result<(), CheckError> {
        for (name, form) in &options.buffers {
            let named = |to: &Option<BindingName>| to.as_ref().is_some_and(|to| to.to_string() == *name);
            let elements = options.elements.iter().find(|(to, _)| named(to)).map(|(_, elements)| *elements);
            let form = elements.map_or_else(|| form.clone(), |elements| form.with_records(elements));
            self.add_buffer(name, form, module)?;
        }
        self.addresses.clone_from(&options.addresses);
        if module.declares(Capability::PhysicalStorageBufferAddresses) && options.kernel.is_none() {
            let flow = AddressFlow::find(module);
            if !options.fixed {
                let open = OpenWords::new(self, options);
                let DerivedBuffers { buffers, addresses } = derive(module, &flow, self.address_places(module), &open);
                self.note_derived(&buffers, &addresses);
                for (name, form) in buffers {
                    self.add_buffer(&name, form, module)?;
                }
                self.addresses.extend(addresses);
            }
            self.words = device_address::resolve(&self.addresses, &self.descriptors, self.push_bytes())?;
            self.find_written(module, &flow, written);
            return Ok(());
        }
        self.words = device_address::resolve(&self.addresses, &self.descriptors, self.push_bytes())?;
        Ok(())
    }

    fn add_buffer(&mut self, name: &str, form: AddressedBuffer, module: &Module) -> Result<(), CheckError> {
        if !is_buffer_name(name)
            || [device_address::NULL, device_address::PUSH].contains(&name)
            || self.descriptors.iter().any(|d| d.name.as_deref() == Some(name))
        {
            let what = format!(
                "buffer `{name}`: the name must consist of letters, digits and `_`, with `.` between the names of \
                 members, and must differ from other buffers and variables"
            );
            return Err(CheckError::entry("buffer", name, what));
        }
        let layout = form.layout(module);
        let layout = layout.map_err(|what| CheckError::entry("buffer", name, format!("buffer `{name}`: {what}")))?;
        let AddressedLayout { block, pointee, bytes, .. } = layout;
        let descriptor = Descriptor {
            slot: addressed_slot(u32::try_from(self.buffers.len()).unwrap_or(u32::MAX)),
            name: Some(name.to_owned()),
            kind: DescriptorKind::StorageBuffer,
            block: Some(block.clone()),
            texels: None,
            compares_depth: false,
            may_be_written: true,
            bytes,
        };
        must_be_walkable(&descriptor.label(), &block)?;
        self.must_fit(&descriptor.label(), descriptor.bytes, 0)?;
        self.bytes += descriptor.bytes;
        self.pointees.insert(descriptor.slot, pointee.into_iter().collect());
        self.descriptors.push(descriptor);
        self.buffers.push((name.to_owned(), form));
        Ok(())
    }

    /// Returns the memory that may hold addresses: push constants, buffers with a descriptor, and
    /// buffers without one whose type is one of the module.
    fn address_places(&self, module: &Module) -> Vec<AddressPlace> {
        let mut places = Vec::new();
        if let Some((block, bytes)) = self.push.clone().zip(self.push_bytes()) {
            let (prefix, memory) = (String::new(), AddressMemory::Push);
            places.push(AddressPlace { name: None, prefix, slot: None, memory, block, has_records: false, bytes });
        }
        for d in &self.descriptors {
            let Some(block) = d.block.clone() else { continue };
            let Slot { set, binding, element } = d.slot;
            let of_type = self.pointees.get(&d.slot).and_then(|pointees| pointees.first());
            let (name, memory) = match of_type {
                Some(pointee) => {
                    (d.name.as_deref().and_then(|name| name.parse().ok()), AddressMemory::Pointee(*pointee))
                }
                None if d.is_addressed() => continue,
                None => (self.name_of_binding(d.slot).parse().ok(), AddressMemory::Binding { set, binding }),
            };
            let Some(name) = name else { continue };
            let variable = d.name.clone().filter(|name| is_buffer_name(name));
            let variable = variable.unwrap_or_else(|| format!("set{set}.{binding}"));
            let is_array = self.descriptors.iter().any(|other| other.slot != d.slot && is_of_binding(other, d.slot));
            let prefix = if is_array { format!("{variable}.{element}") } else { variable };
            let form = self.buffers.iter().find(|(name, _)| d.is_addressed() && Some(name) == d.name.as_ref());
            let has_records = form.is_some_and(|(_, form)| form.layout(module).is_ok_and(|layout| layout.has_records));
            let (slot, bytes) = (Some(d.slot), d.bytes);
            places.push(AddressPlace { name: Some(name), prefix, slot, memory, block, has_records, bytes });
        }
        places
    }

    /// Returns the shortest name of a binding that selects one descriptor.
    fn name_of_binding(&self, slot: Slot) -> String {
        let Slot { set, binding, element } = slot;
        match self.descriptors.iter().any(|other| other.slot != slot && is_of_binding(other, slot)) {
            true => format!("{set}.{binding}[{element}]"),
            false => format!("{set}.{binding}"),
        }
    }

    /// Finds the types behind each buffer without a descriptor, and the buffers that are only read.
    fn find_written(&mut self, module: &Module, flow: &AddressFlow, written: Option<&WrittenResources>) {
        for place in self.address_places(module) {
            let words = pointees_of_words(module, flow, &place);
            for word in &self.words {
                let (from, offset, to) = word.parts();
                if let (true, Some(to), Some(pointees)) = (from == place.slot, to, words.get(&offset)) {
                    self.pointees.entry(to).or_default().extend(pointees);
                }
            }
        }
        let Some(WrittenResources { pointees: written, .. }) = written else { return };
        let known: BTreeSet<u32> = self.pointees.values().flatten().copied().collect();
        // A pointer of unknown origin may lead to any buffer.
        let any = written.iter().any(|pointee| !known.contains(pointee));
        for d in self.descriptors.iter_mut().filter(|d| d.is_addressed()) {
            let pointees = self.pointees.get(&d.slot).filter(|pointees| !pointees.is_empty());
            let is_written = pointees.map_or(!written.is_empty(), |own| !own.is_disjoint(written));
            d.may_be_written = any || is_written;
        }
    }

    /// Notes the derived buffers, as the options that repeat them.
    fn note_derived(&mut self, buffers: &[(String, AddressedBuffer)], addresses: &[AddressWord]) {
        if addresses.is_empty() {
            return;
        }
        self.has_derived = true;
        let buffers = buffers.iter().map(|(name, form)| format!("--buffer {name}={form}"));
        let addresses = addresses.iter().map(|word| word.text()).map(|(place, to)| format!("--address {place}={to}"));
        let options: Vec<String> = buffers.chain(addresses).collect();
        let mut note = "memory behind device addresses follows from the shader:".to_owned();
        options.iter().take(LISTED).for_each(|option| _ = write!(note, " {option}"));
        if let Some(more) = options.len().checked_sub(LISTED).filter(|&more| more > 0) {
            _ = write!(note, " and {more} more, which --out DIR writes to a case file");
        }
        self.notes.push(note);
    }

    /// Puts the device addresses of buffers into a dispatch: into the words that hold them, and
    /// into the buffers.
    pub fn put_addresses(&self, addresses: &BTreeMap<Slot, u64>, dispatch: &mut Dispatch) {
        device_address::put_addresses(&self.words, addresses, dispatch);
    }

    /// Returns the types behind the addresses of a buffer, as raw ids.
    pub(crate) fn pointees_of(&self, slot: Slot) -> Vec<u32> {
        self.pointees.get(&slot).into_iter().flatten().copied().collect()
    }

    /// Returns the name of a descriptor for options and files.
    pub(crate) fn name_of(&self, slot: Slot) -> String {
        let pointed = self.descriptors.iter().find(|d| d.slot == slot && d.is_addressed());
        let name = pointed.and_then(|d| d.name.clone());
        name.unwrap_or_else(|| format!("{}.{}[{}]", slot.set, slot.binding, slot.element))
    }

    /// Returns whether there are buffers without a descriptor, so that inputs depend on device
    /// addresses.
    pub fn has_addressed(&self) -> bool {
        self.descriptors.iter().any(Descriptor::is_addressed)
    }
}

/// Returns whether a descriptor belongs to the binding of a slot.
fn is_of_binding(d: &Descriptor, slot: Slot) -> bool {
    (d.slot.set, d.slot.binding) == (slot.set, slot.binding)
}

/// The options of a check, for a derivation.
struct OpenWords<'a> {
    setup: &'a DispatchSetup,
    options: &'a Options,
    /// Scalars of bindings that the options set.
    set: BTreeSet<(Option<Slot>, u64)>,
    invocations: u64,
}

impl<'a> OpenWords<'a> {
    fn new(setup: &'a DispatchSetup, options: &'a Options) -> OpenWords<'a> {
        // Names of derived buffers are not known yet.
        let inputs = options.inputs.iter().filter_map(|(to, source)| setup.parts(to, source).ok().flatten());
        let values = inputs.flat_map(|parts| parts.values).chain(setup.values.iter().cloned());
        let set = values.map(|value| (value.place, value.offset)).collect();
        let invocations = setup.size().iter().fold(1u64, |n, &side| n.saturating_mul(u64::from(side)));
        OpenWords { setup, options, set, invocations }
    }
}

impl OpenWords<'_> {
    /// Returns whether the options give all contents of a memory.
    fn is_given(&self, place: &AddressPlace) -> bool {
        match (place.slot, &place.name) {
            (None, None) => self.options.push.is_some(),
            (None, Some(_)) => false,
            (Some(slot), _) => {
                let d = self.setup.descriptors.iter().find(|d| d.slot == slot);
                self.options.inputs.iter().any(|(to, _)| to.names(slot, d.and_then(|d| d.name.as_deref())))
            }
        }
    }
}

impl OpenOptions for OpenWords<'_> {
    fn is_set(&self, place: &AddressPlace, offset: u64) -> bool {
        let is_here = |word: &AddressWord| match (&word.place, &place.name) {
            (None, None) => true,
            (Some(to), Some(name)) => match place.slot {
                Some(slot) => {
                    let d = self.setup.descriptors.iter().find(|d| d.slot == slot);
                    to.names(slot, d.and_then(|d| d.name.as_deref()))
                }
                None => to == name,
            },
            _ => false,
        };
        if self.is_given(place) {
            return true;
        }
        let by_word = self.options.addresses.iter().any(|word| is_here(word) && word.offset.abs_diff(offset) < 8);
        let is_derived = place.slot.is_none() && place.name.is_some();
        by_word || !is_derived && [offset, offset + 4].iter().any(|at| self.set.contains(&(place.slot, *at)))
    }

    fn is_taken(&self, name: &str) -> bool {
        [device_address::NULL, device_address::PUSH].contains(&name)
            || self.setup.descriptors.iter().any(|d| d.name.as_deref() == Some(name))
    }

    fn elements(&self, name: &str, header: u64, stride: u64, usual: Option<u64>) -> u64 {
        let own = |to: &Option<BindingName>| to.as_ref().is_some_and(|to| to.to_string() == name);
        let stated = |wanted: &dyn Fn(&Option<BindingName>) -> bool| {
            self.options.elements.iter().find(|(to, _)| wanted(to)).map(|(_, elements)| *elements)
        };
        // The slot is none that a name can select by number.
        let given = given_bytes(addressed_slot(u32::MAX), Some(name), self.options);
        let given = given.map(|bytes| bytes.saturating_sub(header) / stride.max(1)).filter(|elements| *elements > 0);
        let all = usual.or_else(|| stated(&Option::is_none)).unwrap_or(self.invocations);
        stated(&own).or(given).unwrap_or(all).max(1)
    }
}
