//! A shader made ready: its entry point, its interface, and what every round of it is given.

use crate::changed::Changed;
use crate::elements::{Contents, Element, read_bits, runtime_stride, size_with, walk};
use crate::options::{Options, Source};
use crate::pointed::{self, Word, is_name, is_pointed};
use crate::texels::Texels;
use crate::{AddressWord, BindingName, CheckError, PointedForm, Subject};
use assay_case::{Mixture, Values};
use assay_files::input;
use assay_oracle::{Buffer, Dispatch, Program, ProgramError, Resource, Robustness, Slot, SpecValues};
use assay_precision::{Rules, Scalar};
use assay_spirv::Module;
use assay_spirv::reflect::{Binding, Count, DescriptorKind, EntryPoint, Reflection, Shape, usages};
use assay_spirv::sampling::{AddressMode, CompareOp, Sampler};
use assay_spirv::tables::{ExecutionModel, Op};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A specialisation constant that has been given a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Its `SpecId`.
    pub id: u32,
    /// Its width in bits; 32 for booleans.
    pub width: u32,
    /// Its bits.
    pub bits: u64,
}

/// A descriptor of the shader's interface.
#[derive(Clone, Debug)]
pub struct Descriptor {
    /// Where.
    pub slot: Slot,
    /// The variable's name.
    pub name: Option<String>,
    /// What kind.
    pub kind: DescriptorKind,
    /// The layout of a buffer's contents.
    pub block: Option<Arc<Shape>>,
    /// The texels of an image or texel buffer.
    pub texels: Option<Texels>,
    /// Whether its sampler, if it has one, compares depths.
    pub compares: bool,
    /// Whether the shader may store to it.
    pub changed: bool,
    /// Bytes of a buffer or of all texels.
    pub bytes: u64,
}

impl Descriptor {
    /// `set 0 binding 1 (sums)`.
    pub fn label(&self) -> String {
        match &self.name {
            Some(name) if is_pointed(self.slot) => format!("buffer {name}"),
            Some(name) => format!("{} ({name})", self.slot),
            None => self.slot.to_string(),
        }
    }

    /// What its memory is made of; `None` of a sampler and of what is not implemented.
    pub fn contents(&self) -> Option<Contents<'_>> {
        let block = self.block.as_deref().map(Contents::Block);
        block.or_else(|| self.texels.as_ref().map(Contents::Texels))
    }

    /// Whether no descriptor of the shader binds it, so that it is reached by its device address only.
    pub fn is_pointed(&self) -> bool {
        is_pointed(self.slot)
    }

    /// Whether the shader may write it and what is left can be read back: a storage buffer, image or texel buffer.
    pub fn is_read_back(&self) -> bool {
        use DescriptorKind as K;
        matches!(self.kind, K::StorageBuffer | K::StorageImage | K::StorageTexelBuffer)
    }
}

/// A shader made ready.
#[derive(Debug)]
pub struct Setup {
    /// Whose accuracy rules hold.
    pub rules: Rules,
    /// Whether the shader is WGSL, and means what WGSL says: by WGSL's rules it does.
    pub(crate) wgsl: bool,
    /// The entry point's name.
    pub entry: String,
    /// Invocations of a workgroup along x, y and z.
    pub local: [u32; 3],
    /// Workgroups.
    pub groups: [u32; 3],
    /// The constants that were given a value.
    pub specs: Vec<Spec>,
    /// What the entry point uses, by slot.
    pub descriptors: Vec<Descriptor>,
    /// The layout of the push constants, if it uses any.
    pub push: Option<Arc<Shape>>,
    /// Rounds with different inputs.
    pub rounds: u32,
    inputs: BTreeMap<Slot, Source>,
    samplers: BTreeMap<Slot, Sampler>,
    push_source: Option<Source>,
    /// Buffers that no descriptor binds, as they were asked for.
    pub(crate) buffers: Vec<(String, PointedForm)>,
    /// The words that hold their addresses, as they were asked for.
    pub(crate) addresses: Vec<AddressWord>,
    words: Vec<Word>,
    /// Bytes of all descriptors, at most [`MAX_BYTES`].
    bytes: u64,
    seed: u64,
}

/// What the rounds generate, in turn, for what nothing else is said of.
const ROUNDS: [Mixture; 2] = [Mixture::Usual, Mixture::Hard];

/// Descriptors of a binding that has as many as the layout says.
const RUNTIME_DESCRIPTORS: u64 = 4;

/// Most bytes of all bindings together. A check takes about ten times as much memory.
const MAX_BYTES: u64 = 1 << 28;

/// Most descriptors of all bindings together, each element of an array of descriptors counted.
const MAX_DESCRIPTORS: u64 = 1 << 14;

impl Setup {
    /// Makes a shader ready.
    ///
    /// # Errors
    /// The options do not fit the shader: what was asked for, and what there is.
    pub fn new(subject: &Subject, options: &Options) -> Result<Setup, CheckError> {
        // A kernel's own module says nothing of descriptors.
        let module = options.kernel.as_ref().map_or(&subject.source.module, |kernel| &*kernel.interface);
        let specs = specs(&Reflection::new(module), &options.specs)?;
        // Sizes may depend on them.
        let specialised = specialised(module, &specs);
        let module = specialised.as_ref().unwrap_or(module);
        let reflection = Reflection::new(module);
        let entry = choose(&reflection, options.entry.as_deref())?;
        let local = entry.workgroup_size.map_or([1; 3], |size| size.size);
        let groups = options.groups.unwrap_or_else(|| default_groups(local));
        let invocations = local.iter().chain(&groups).fold(1u64, |n, &side| n.saturating_mul(u64::from(side)));
        let mut setup = Setup {
            rules: options.rules,
            wgsl: options.rules == Rules::Wgsl && subject.wgsl().is_some(),
            entry: entry.name.clone(),
            local,
            groups,
            specs,
            descriptors: Vec::new(),
            push: entry.push_constants.clone(),
            rounds: options.rounds.max(1),
            inputs: BTreeMap::new(),
            samplers: BTreeMap::new(),
            push_source: options.push.clone(),
            buffers: options.buffers.clone(),
            addresses: options.addresses.clone(),
            words: Vec::new(),
            bytes: 0,
            seed: options.seed,
        };
        let compared = compared(module);
        let sampled =
            |b: &Binding| matches!(b.kind, Some(DescriptorKind::Sampler | DescriptorKind::CombinedImageSampler));
        let filtered = entry.bindings.iter().any(sampled);
        for binding in &entry.bindings {
            setup.add(module, binding, options, (invocations, filtered, compared.contains(&binding.variable)))?;
        }
        let usage = usages(module).into_iter().find(|usage| usage.name == entry.name);
        let changed = usage.map(|usage| Changed::find(module, &usage));
        for descriptor in &mut setup.descriptors {
            descriptor.changed = changed.as_ref().is_none_or(|changed| changed.has(descriptor.slot));
            let named = |b: &&Binding| (b.set, b.binding) == (descriptor.slot.set, descriptor.slot.binding);
            let variables = entry.bindings.iter().filter(named).map(|b| b.variable);
            descriptor.compares = variables.into_iter().any(|variable| compared.contains(&variable));
        }
        setup.take_buffers(options)?;
        setup.take_inputs(options)?;
        setup.take_states(options)?;
        Ok(setup)
    }

    /// A module of the shader, ready to be interpreted.
    ///
    /// # Errors
    /// As [`Program::new`].
    pub(crate) fn program(&self, module: &Module) -> Result<Program, ProgramError> {
        let specs = spec_values(&self.specs);
        match self.wgsl {
            true => Program::of_wgsl(module, &self.entry, &specs),
            false => Program::under(self.rules, module, &self.entry, &specs),
        }
    }

    fn add(
        &mut self,
        module: &Module,
        binding: &Binding,
        options: &Options,
        (invocations, filtered, compared): (u64, bool, bool),
    ) -> Result<(), CheckError> {
        let Some(kind) = binding.kind else {
            let (set, at) = (binding.set, binding.binding);
            return Err(CheckError::option(format!(
                "set {set} binding {at} is of a type that Vulkan has no descriptor for"
            )));
        };
        let count = match binding.count {
            Count::Fixed(count) => count,
            Count::Runtime => RUNTIME_DESCRIPTORS,
        };
        let label_of = |slot: Slot| match &binding.name {
            Some(name) => format!("{slot} ({name})"),
            None => slot.to_string(),
        };
        let first = Slot { set: binding.set, binding: binding.binding, element: 0 };
        // Those of other bindings; two variables may share theirs.
        let known = self.descriptors.len();
        let is_other = |d: &&Descriptor| (d.slot.set, d.slot.binding) != (binding.set, binding.binding);
        let others = self.descriptors.iter().filter(is_other).count() as u64;
        if others.saturating_add(count) > MAX_DESCRIPTORS {
            return Err(CheckError::option(format!(
                "{}: {count} descriptors beside {others} of other bindings, of at most {MAX_DESCRIPTORS} in all that Assay checks",
                label_of(first)
            )));
        }
        if let Some(block) = &binding.block {
            must_be_walkable(&label_of(first), block)?;
        }
        for element in 0..u32::try_from(count).unwrap_or(u32::MAX) {
            let slot = Slot { set: binding.set, binding: binding.binding, element };
            let name = binding.name.clone();
            let wanted = |(to, elements): &(Option<crate::BindingName>, u64)| {
                to.as_ref().is_none_or(|to| to.names(slot, name.as_deref())).then_some(*elements)
            };
            // A binding's own number outranks one for all.
            let own = options.elements.iter().filter(|(to, _)| to.is_some()).find_map(wanted);
            let elements = own.or_else(|| options.elements.iter().find_map(wanted)).unwrap_or(invocations);
            let given = given_bytes(slot, name.as_deref(), options);
            let texels = match &binding.image {
                Some(image) => {
                    let ty = (image, module.ty(image.sampled_type));
                    let mut forms = options.images.iter().rev();
                    let stated = forms.find(|(to, _)| to.names(slot, name.as_deref()));
                    let (key, form) = stated.map(|(to, form)| (to.to_string(), form)).unzip();
                    let key = key.unwrap_or_else(|| slot.to_string());
                    let texels = Texels::new(ty, kind, self.size(), elements, given, (form, filtered, compared));
                    Some(texels.map_err(|what| CheckError::entry("image", key, format!("{slot}: {what}")))?)
                }
                None => None,
            };
            let texel_bytes = texels.as_ref().map_or(0, Texels::bytes);
            let bytes = match (&binding.block, given) {
                (Some(block), Some(bytes)) if runtime_stride(block).is_some() => {
                    if let Some(from) = given_file(slot, name.as_deref(), options) {
                        fits(block, bytes, own, &from)
                            .map_err(|what| CheckError::option(format!("{}: {what}", label_of(slot))))?;
                    }
                    bytes.max(4)
                }
                // A robust device has to bear one that is shorter than its block.
                (Some(block), Some(bytes))
                    if kind == DescriptorKind::UniformBuffer && options.robustness != Robustness::None =>
                {
                    bytes.clamp(4, block.size().max(4))
                }
                (Some(block), given) => {
                    let (least, whole) = (size_with(block, elements.max(1)).max(4), block.padded_size());
                    let whole = if runtime_stride(block).is_some() { least } else { whole.max(least) };
                    // A host may leave out the padding at the end.
                    given.filter(|bytes| (least..whole).contains(bytes)).unwrap_or(whole)
                }
                (None, _) => texel_bytes,
            };
            // Two variables may share a descriptor: the larger one counts. Those of other variables are in order.
            let shared = self.descriptors[..known].binary_search_by_key(&slot, |d| d.slot).ok();
            let already = shared.map_or(0, |at| self.descriptors[at].bytes);
            self.must_fit(&label_of(slot), bytes, already)?;
            self.bytes += bytes.saturating_sub(already);
            match shared.map(|at| &mut self.descriptors[at]) {
                Some(known) if bytes > known.bytes => {
                    (known.bytes, known.block, known.name) = (bytes, binding.block.clone(), name);
                    known.texels = texels;
                }
                Some(_) => {}
                None => {
                    let block = binding.block.clone();
                    self.descriptors.push(Descriptor {
                        slot,
                        name,
                        kind,
                        block,
                        texels,
                        compares: false,
                        changed: true,
                        bytes,
                    });
                }
            }
        }
        self.descriptors.sort_by_key(|d| d.slot);
        Ok(())
    }

    /// Makes sure that a binding of so many bytes, of which some are counted already, fits beside the others.
    fn must_fit(&self, label: &str, bytes: u64, already: u64) -> Result<(), CheckError> {
        let others = self.bytes - already;
        if bytes <= MAX_BYTES - others {
            return Ok(());
        }
        Err(CheckError::option(format!(
            "{label} would have {bytes} bytes beside {others} of other bindings, of at most {MAX_BYTES} in all that Assay checks; \
             dispatch less, or give its array fewer elements with --elements"
        )))
    }

    /// Adds the buffers that only addresses lead to.
    fn take_buffers(&mut self, options: &Options) -> Result<(), CheckError> {
        for (index, (name, form)) in (0..).zip(&options.buffers) {
            if !is_name(name)
                || [pointed::NULL, pointed::PUSH].contains(&name.as_str())
                || self.descriptors.iter().any(|d| d.name.as_ref() == Some(name))
            {
                let what = format!(
                    "buffer `{name}`: its name must be letters, digits and `_`, and that of no other buffer and no variable"
                );
                return Err(CheckError::entry("buffer", name, what));
            }
            let descriptor = form.descriptor(index, name);
            self.must_fit(&descriptor.label(), descriptor.bytes, 0)?;
            self.bytes += descriptor.bytes;
            self.descriptors.push(descriptor);
        }
        if options.push.is_some() && self.push.is_none() {
            return Err(CheckError::option("the shader has no push constants: leave out what they hold"));
        }
        if let Some(push) = &self.push {
            must_be_walkable("the push constants", push)?;
        }
        let push = self.push.as_ref().map(|push| push.size().next_multiple_of(4));
        self.words = pointed::words(&options.addresses, &self.descriptors, push)?;
        Ok(())
    }

    /// Puts the addresses of buffers that no descriptor binds into a dispatch: into their words, and to the buffers.
    pub fn put_addresses(&self, addresses: &BTreeMap<Slot, u64>, dispatch: &mut Dispatch) {
        pointed::put(&self.words, addresses, dispatch);
    }

    /// What a descriptor is named by, for options and files.
    pub(crate) fn name_of(&self, slot: Slot) -> String {
        let pointed = self.descriptors.iter().find(|d| d.slot == slot && d.is_pointed());
        let name = pointed.and_then(|d| d.name.clone());
        name.unwrap_or_else(|| format!("{}.{}[{}]", slot.set, slot.binding, slot.element))
    }

    /// Whether there are buffers that no descriptor binds, so that what is given depends on where they are.
    pub fn has_pointed(&self) -> bool {
        self.descriptors.iter().any(Descriptor::is_pointed)
    }

    /// Invocations along x, y and z.
    fn size(&self) -> [u32; 3] {
        std::array::from_fn(|axis| self.local[axis].saturating_mul(self.groups[axis]))
    }

    /// The descriptors that a name means, which must be of those kinds.
    fn meant(
        &self,
        to: &BindingName,
        (table, what): (&'static str, &str),
        fits: impl Fn(&Descriptor) -> bool,
    ) -> Result<Vec<Slot>, CheckError> {
        let named = self.descriptors.iter().filter(|d| to.names(d.slot, d.name.as_deref()));
        let meant: Vec<Slot> = named.filter(|d| fits(d)).map(|d| d.slot).collect();
        if !meant.is_empty() {
            return Ok(meant);
        }
        let there: Vec<String> = self.descriptors.iter().filter(|d| fits(d)).map(Descriptor::label).collect();
        let there = if there.is_empty() { format!("no {what}s") } else { there.join(", ") };
        Err(CheckError::entry(table, to.to_string(), format!("no {what} `{to}`; the entry point uses {there}")))
    }

    /// The storage buffer that a name means.
    pub(crate) fn records(&self, to: &BindingName) -> Result<Slot, CheckError> {
        let found = self.meant(to, ("subgroups", "storage buffer"), |d| d.kind == DescriptorKind::StorageBuffer)?;
        match found[..] {
            [slot] => Ok(slot),
            _ => {
                let what = format!("`{to}` means several storage buffers: add [N] for one of them");
                Err(CheckError::entry("subgroups", to.to_string(), what))
            }
        }
    }

    fn take_states(&mut self, options: &Options) -> Result<(), CheckError> {
        use DescriptorKind as K;
        for (to, form) in &options.samplers {
            let meant =
                self.meant(to, ("sampler", "sampler"), |d| matches!(d.kind, K::Sampler | K::CombinedImageSampler))?;
            let sampler = form.sampler()?;
            self.samplers.extend(meant.into_iter().map(|slot| (slot, sampler)));
        }
        for (to, _) in &options.images {
            self.meant(to, ("image", "image"), |d| d.texels.is_some())?;
        }
        Ok(())
    }

    /// The sampler of a descriptor in a round: as it was stated, else the plainest in the first round and one that
    /// filters and repeats in the second, where every image that it could meet allows that.
    fn sampler(&self, descriptor: &Descriptor, round: u32) -> Sampler {
        if let Some(stated) = self.samplers.get(&descriptor.slot) {
            return *stated;
        }
        if descriptor.compares {
            return Sampler { compare: Some(CompareOp::LessOrEqual), ..Sampler::NEAREST };
        }
        let images = || self.descriptors.iter().filter(|d| !d.is_read_back()).filter_map(|d| d.texels.as_ref());
        if round.is_multiple_of(2) || !images().all(Texels::is_filtered) {
            return Sampler::NEAREST;
        }
        Sampler { linear: true, address: [AddressMode::Repeat; 3], ..Sampler::NEAREST }
    }

    fn take_inputs(&mut self, options: &Options) -> Result<(), CheckError> {
        for (to, source) in &options.inputs {
            let meant = self.meant(to, ("input", "binding"), |_| true)?;
            self.inputs.extend(meant.into_iter().map(|slot| (slot, source.clone())));
        }
        // Of what else has a size of its own there is nothing to be said.
        let is_sized = |d: &Descriptor| {
            let array = d.block.as_ref().is_some_and(|block| runtime_stride(block).is_some());
            array || matches!(d.kind, DescriptorKind::UniformTexelBuffer | DescriptorKind::StorageTexelBuffer)
        };
        for to in options.elements.iter().filter_map(|(to, _)| to.as_ref()) {
            self.meant(to, ("elements", "run-time array"), is_sized)?;
        }
        Ok(())
    }

    /// Of files that hold fewer elements of a run-time array than there are invocations: how many, for messages.
    pub(crate) fn short_files(&self) -> Vec<String> {
        let invocations = self.size().iter().fold(1u64, |n, side| n.saturating_mul(u64::from(*side)));
        let short = |d: &Descriptor| {
            let Some(Source::File(path)) = self.inputs.get(&d.slot) else { return None };
            let block = d.block.as_deref()?;
            let elements = d.bytes.saturating_sub(size_with(block, 0)) / runtime_stride(block)?.max(1);
            (elements < invocations).then(|| {
                let (label, path) = (d.label(), path.display());
                format!("  {label} has {elements} elements, as {path} is that long; the dispatch has {invocations} invocations")
            })
        };
        self.descriptors.iter().filter_map(short).collect()
    }

    /// The seed of what is generated.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What a round is given, but for addresses ([`Setup::put_addresses`]).
    ///
    /// # Errors
    /// A file that cannot be read or is of the wrong size, a number or range that is none of a scalar's type.
    pub fn dispatch(&self, round: u32) -> Result<Dispatch, CheckError> {
        let mut dispatch = Dispatch { groups: self.groups, ..Dispatch::default() };
        for descriptor in &self.descriptors {
            let sampler = self.sampler(descriptor, round);
            if descriptor.kind == DescriptorKind::Sampler {
                dispatch.bindings.insert(descriptor.slot, Resource::Sampler(sampler));
            }
            let Some(contents) = descriptor.contents() else { continue };
            let given = self.inputs.get(&descriptor.slot);
            let data = match (&descriptor.texels, given) {
                (Some(texels), None) => texels.pattern(round, self.seed),
                _ => self.fill(&descriptor.label(), contents, descriptor.bytes, given, round)?,
            };
            let resource = match &descriptor.texels {
                Some(texels) if descriptor.kind == DescriptorKind::CombinedImageSampler => {
                    Resource::CombinedImageSampler(texels.image(data), sampler)
                }
                Some(texels) => Resource::Image(texels.image(data)),
                None => Resource::Buffer(Buffer { data, address: None }),
            };
            dispatch.bindings.insert(descriptor.slot, resource);
        }
        if let Some(push) = &self.push {
            let bytes = push.size().next_multiple_of(4);
            dispatch.push_constants =
                self.fill("push constants", Contents::Block(push), bytes, self.push_source.as_ref(), round)?;
        }
        Ok(dispatch)
    }

    fn fill(
        &self,
        name: &str,
        contents: Contents<'_>,
        bytes: u64,
        source: Option<&Source>,
        round: u32,
    ) -> Result<Vec<u8>, CheckError> {
        let sized = |data: Vec<u8>, from: &str| match data.len() as u64 {
            len if len == bytes => Ok(data),
            len => Err(CheckError::option(format!("{name}: {bytes} bytes are taken, and {from} has {len}"))),
        };
        let default = Source::Mixture(ROUNDS[round as usize % ROUNDS.len()].clone());
        match source.unwrap_or(&default) {
            Source::File(path) => {
                let data = input::read(path, MAX_BYTES)
                    .map_err(|source| CheckError::Unreadable { path: path.clone(), source })?;
                sized(data, &path.display().to_string())
            }
            Source::Bytes(data) => sized(data.clone(), "what was given"),
            Source::Index => Ok(scalars(contents, bytes, |_, scalar, index| number_bits(scalar, index))),
            Source::Number(text) => {
                let mut wrong = None;
                let data = scalars(contents, bytes, |_, scalar, _| match scalar_from_text(scalar, text) {
                    Some(bits) => bits,
                    None => {
                        wrong.get_or_insert(scalar);
                        0
                    }
                });
                match wrong {
                    Some(scalar) => Err(CheckError::option(format!("{name}: `{text}` is no number of type {scalar}"))),
                    None => Ok(data),
                }
            }
            Source::Mixture(mixture) => {
                let seed = self.seed.wrapping_add(u64::from(round) << 32);
                let mut streams: BTreeMap<String, Values> = BTreeMap::new();
                let mut wrong = None;
                // Integers are often indices: below the number of scalars, most of the time inside.
                let below = bytes / 4;
                let data = scalars(contents, bytes, |_, scalar, index| {
                    let key = scalar.to_string();
                    if !streams.contains_key(&key) {
                        match Values::new(scalar, mixture, &format!("{name} {key}"), seed, below) {
                            Ok(values) => _ = streams.insert(key.clone(), values),
                            Err(error) => _ = wrong.get_or_insert(error),
                        }
                    }
                    streams.get(&key).map_or(0, |values| values.bits(index))
                });
                wrong.map_or(Ok(data), |error| Err(CheckError::option(format!("{name}: {error}"))))
            }
        }
    }
}

/// Makes sure that a block, with one element of a run-time array, has no more bytes and no more parts than can be gone through.
fn must_be_walkable(label: &str, block: &Shape) -> Result<(), CheckError> {
    let name = match block {
        Shape::Struct { name: Some(name), .. } => format!("structure '{name}'"),
        _ => "type".to_owned(),
    };
    for (found, what) in [(block.size(), "bytes"), (block.parts(), "scalars and structures")] {
        if found > MAX_BYTES {
            return Err(CheckError::option(format!(
                "{label}: its {name} has {found} {what}, of at most {MAX_BYTES} that Assay checks"
            )));
        }
    }
    Ok(())
}

/// Bytes of what a binding is filled from, if that has a size of its own.
fn given_bytes(slot: Slot, name: Option<&str>, options: &Options) -> Option<u64> {
    match options.inputs.iter().rev().find(|(to, _)| to.names(slot, name)).map(|(_, source)| source)? {
        Source::File(path) => input::length(path).ok(),
        Source::Bytes(bytes) => Some(bytes.len() as u64),
        Source::Number(_) | Source::Index | Source::Mixture(_) => None,
    }
}

/// The file that a binding is filled from, if it is one.
fn given_file(slot: Slot, name: Option<&str>, options: &Options) -> Option<String> {
    match options.inputs.iter().rev().find(|(to, _)| to.names(slot, name)).map(|(_, source)| source)? {
        Source::File(path) => Some(path.display().to_string()),
        _ => None,
    }
}

/// Whether a block that ends in a run-time array takes so many bytes: whole elements, of which `elements` says how many, if it does.
///
/// # Errors
/// Why not, with the sizes.
fn fits(block: &Shape, bytes: u64, elements: Option<u64>, from: &str) -> Result<(), String> {
    let stride = runtime_stride(block).unwrap_or(1).max(1);
    let head = size_with(block, 0);
    if let Some(elements) = elements {
        let wanted = size_with(block, elements).max(4);
        let said = format!("{elements} elements (--elements) are {wanted} bytes, {from} has {bytes}");
        return if bytes == wanted { Ok(()) } else { Err(said) };
    }
    let after = if head > 0 { format!("{head} bytes and then ") } else { String::new() };
    let takes = format!("it takes {after}whole elements of {stride} bytes");
    match bytes.checked_sub(head).map(|rest| (rest / stride, rest % stride)) {
        None | Some((0, _)) => Err(format!("{takes}, at least one; {from} has {bytes} bytes, too few")),
        Some((_, 0)) => Ok(()),
        Some((whole, rest)) => {
            Err(format!("{takes}; {from} has {bytes} bytes, {rest} more than {whole} elements take"))
        }
    }
}

/// Memory of those contents, every scalar from its number; padding is zero.
pub(crate) fn scalars(
    contents: Contents<'_>,
    bytes: u64,
    mut bits: impl FnMut(Element, Scalar, u64) -> u64,
) -> Vec<u8> {
    let mut data = vec![0u8; bytes as usize];
    let mut index = 0;
    contents.walk(bytes, &mut |element, _| {
        let value = bits(element, element.scalar, index);
        index += 1;
        write_bits(&mut data, element.offset, element.scalar.width(), value);
    });
    data
}

/// Writes `width` bits at an offset, as far as the memory reaches.
pub(crate) fn write_bits(memory: &mut [u8], offset: u64, width: u32, bits: u64) {
    let bytes = bits.to_le_bytes();
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    if let Some(target) = memory.get_mut(start..start.saturating_add(width as usize / 8)) {
        target.copy_from_slice(&bytes[..width as usize / 8]);
    }
    debug_assert!(read_bits(memory, offset, width).is_some());
}

/// A small whole number as bits of a type.
fn number_bits(scalar: Scalar, number: u64) -> u64 {
    match scalar {
        Scalar::Float(format) => format.parse(&number.to_string()).map_or(0, |n| n.bits),
        Scalar::Int { width, .. } => number & (u64::MAX >> (64 - width)),
        Scalar::Bool => number & 1,
    }
}

/// A number of a type: bits (`0x..`), or a number as its type writes it; `None` if it is none.
pub(crate) fn scalar_from_text(scalar: Scalar, text: &str) -> Option<u64> {
    match scalar {
        Scalar::Float(format) => format.parse(text).ok().map(|number| number.bits),
        Scalar::Bool => match text {
            "true" | "1" => Some(1),
            "false" | "0" => Some(0),
            _ => None,
        },
        Scalar::Int { width, signed } => {
            let mask = u64::MAX >> (64 - width);
            let text = text.replace('\u{2212}', "-");
            if let Some(hex) = text.strip_prefix("0x") {
                return u64::from_str_radix(hex, 16).ok().filter(|bits| bits & !mask == 0);
            }
            let value: i128 = text.parse().ok()?;
            let (lo, hi) = if signed { (-1i128 << (width - 1), mask as i128 >> 1) } else { (0, i128::from(mask)) };
            (lo..=hi).contains(&value).then_some(value as u64 & mask)
        }
    }
}

/// The variables of images and samplers that instructions with a depth comparison use.
fn compared(module: &Module) -> BTreeSet<u32> {
    let compares = |op: Op| {
        matches!(
            op,
            Op::ImageSampleDrefImplicitLod
                | Op::ImageSampleDrefExplicitLod
                | Op::ImageSampleProjDrefImplicitLod
                | Op::ImageSampleProjDrefExplicitLod
                | Op::ImageDrefGather
        )
    };
    let uses = module.instructions().filter(|i| i.op.is_some_and(compares));
    let mut words: Vec<u32> = uses.filter_map(|i| i.operand(0)).collect();
    let mut seen = BTreeSet::new();
    let mut variables = BTreeSet::new();
    // As far as the values are loaded in the function that uses them.
    while let Some(word) = words.pop() {
        let Some(definition) = module.definition_of_word(word).filter(|_| seen.insert(word)) else { continue };
        match definition.op {
            Some(Op::SampledImage) => words.extend([0, 1].into_iter().filter_map(|k| definition.operand(k))),
            Some(Op::Image | Op::Load | Op::CopyObject | Op::AccessChain | Op::InBoundsAccessChain) => {
                words.extend(definition.operand(0));
            }
            Some(Op::Variable) => {
                variables.insert(word);
            }
            _ => {}
        }
    }
    variables
}

/// A few workgroups along every axis that the workgroup extends along.
fn default_groups(local: [u32; 3]) -> [u32; 3] {
    match local {
        [_, 1, 1] => [4, 1, 1],
        [_, _, 1] => [2, 2, 1],
        _ => [2, 2, 2],
    }
}

/// Whether it is an entry point that can be dispatched.
pub(crate) fn is_compute(entry: &EntryPoint) -> bool {
    entry.model == Some(ExecutionModel::GLCompute)
}

fn choose<'a>(reflection: &'a Reflection, wanted: Option<&str>) -> Result<&'a EntryPoint, CheckError> {
    let compute: Vec<&EntryPoint> = reflection.entry_points.iter().filter(|entry| is_compute(entry)).collect();
    let names = || compute.iter().map(|e| e.name.as_str()).collect::<Vec<_>>().join(", ");
    match (wanted, &compute[..]) {
        (_, []) => Err(CheckError::option("the module has no entry point for compute (GLCompute)")),
        (None, [only]) => Ok(only),
        (None, _) => Err(CheckError::option(format!(
            "the module has several entry points: choose one of {} with --entry",
            names()
        ))),
        (Some(wanted), all) => all.iter().find(|e| e.name == wanted).copied().ok_or_else(|| {
            CheckError::option(format!("there is no entry point `{wanted}` for compute; there is {}", names()))
        }),
    }
}

/// The constants that were given, with the bits of their values.
fn specs(reflection: &Reflection, given: &[(String, String)]) -> Result<Vec<Spec>, CheckError> {
    let mut specs: Vec<Spec> = Vec::new();
    for (key, text) in given {
        let constant = reflection
            .spec_constants
            .iter()
            .find(|c| c.spec_id.to_string() == *key || c.name.as_deref() == Some(key.as_str()));
        let Some(constant) = constant else {
            let there: Vec<String> = reflection.spec_constants.iter().map(|c| c.spec_id.to_string()).collect();
            let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
            let what = format!("no specialisation constant `{key}`; the module has {there}");
            return Err(CheckError::entry("spec", key, what));
        };
        let mut scalar = Scalar::Int { width: 32, signed: false };
        walk(&constant.shape, constant.shape.size(), &mut |element, _| scalar = element.scalar);
        if matches!(*constant.shape, Shape::Bool) {
            scalar = Scalar::Bool;
        }
        let Some(bits) = scalar_from_text(scalar, text) else {
            let what = format!("specialisation constant {key}: `{text}` is no {scalar}");
            return Err(CheckError::entry("spec", key, what));
        };
        let width = if scalar == Scalar::Bool { 32 } else { scalar.width() };
        specs.retain(|s| s.id != constant.spec_id);
        specs.push(Spec { id: constant.spec_id, width, bits });
    }
    Ok(specs)
}

/// The values as the oracle takes them.
fn spec_values(specs: &[Spec]) -> SpecValues {
    specs.iter().map(|spec| (spec.id, spec.bits)).collect()
}

/// The module with the values as the constants' defaults, for reflection; `None` if none was given.
fn specialised(module: &Module, specs: &[Spec]) -> Option<Module> {
    let given = if specs.is_empty() { None } else { with_values(module, specs) };
    assay_oracle::folded(given.as_ref().unwrap_or(module)).or(given)
}

fn with_values(module: &Module, specs: &[Spec]) -> Option<Module> {
    let mut words = module.words().to_vec();
    for constant in Reflection::new(module).spec_constants {
        let Some(spec) = specs.iter().find(|s| s.id == constant.spec_id) else { continue };
        let definition = module.definition_of_word(constant.id)?;
        match definition.op? {
            Op::SpecConstantTrue | Op::SpecConstantFalse => {
                let op = if spec.bits == 0 { Op::SpecConstantFalse } else { Op::SpecConstantTrue };
                words[definition.at] = words[definition.at] & 0xffff_0000 | op as u32;
            }
            _ => {
                let first = definition.at + 3;
                // A narrow signed literal is stored with its sign.
                let shift = 32u32.saturating_sub(spec.width);
                let signed = matches!(*constant.shape, Shape::Int { signed: true, .. });
                let low = spec.bits as u32;
                words[first] = if signed && shift > 0 { ((low << shift) as i32 >> shift) as u32 } else { low };
                if spec.width > 32 {
                    *words.get_mut(first + 1)? = (spec.bits >> 32) as u32;
                }
            }
        }
    }
    Module::parse(words).ok()
}
