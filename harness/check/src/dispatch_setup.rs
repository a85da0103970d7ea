//! Setup of a dispatch: entry point, interface, and the inputs of every round.

use crate::default_groups::default_groups;
use crate::device_address::ResolvedWord;
use crate::fixed_lengths::constant_length;
use crate::image_contents::{image_shape, is_filtered, pattern};
use crate::member_contents::MemberContents;
use crate::memory_layout::{MemoryContents, MemoryPart, put_scalars, runtime_stride, size_with_elements, walk_scalars};
use crate::options::{BindingSource, Options};
use crate::parameter::{self, IN_TURN, LIST, ParameterError, ParameterValue, in_round};
use crate::scalar_text::scalar_from_text;
use crate::shader_source::is_compute;
use crate::store_bounds::StoreBounds;
use crate::written_resources::WrittenResources;
use crate::{AddressWord, AddressedBuffer, BindingName, CheckError, ShaderSource};
use assay_case::{MemoryValues, Mixture};
use assay_exec::{Descriptor, ImageShape, SpecValue};
use assay_files::input;
use assay_oracle::{Buffer, Dispatch, Program, ProgramError, Resource, Robustness, Slot, SpecValues};
use assay_precision::{Scalar, Specification};
use assay_spirv::Module;
use assay_spirv::reflect::{
    Binding, DescriptorCount, DescriptorKind, EntryPoint, Reflection, TypeLayout, declared_bindings, static_uses,
};
use assay_spirv::tables::Op;
use assay_texture::{AddressMode, CompareOp, Sampler};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Setup of a shader's dispatches.
#[derive(Debug)]
pub struct DispatchSetup {
    /// Specification whose accuracy rules apply.
    pub rules: Specification,
    /// Set if the shader is WGSL and is interpreted by WGSL's semantics, as under WGSL's rules.
    pub(crate) wgsl: bool,
    /// Name of the entry point.
    pub entry: String,
    /// Invocations of a workgroup along x, y and z.
    pub local: [u32; 3],
    /// Workgroups along x, y and z.
    pub groups: [u32; 3],
    /// Specialisation constants with a value.
    pub specs: Vec<SpecValue>,
    /// Descriptors of the entry point, by slot.
    pub descriptors: Vec<Descriptor>,
    /// Layout of the push constants, if there are any.
    pub push: Option<Arc<TypeLayout>>,
    /// Number of rounds, each with other inputs: those of the options, or more if a parameter has
    /// more values.
    pub rounds: u32,
    inputs: BTreeMap<Slot, BindingSource>,
    samplers: BTreeMap<Slot, Sampler>,
    push_source: Option<BindingSource>,
    /// Values of single scalars, from the options.
    pub(crate) values: Vec<ParameterValue>,
    /// Contents of members of all elements of arrays, from the options.
    members: Vec<MemberContents>,
    /// Notes on options that have no effect.
    pub(crate) notes: Vec<String>,
    /// Buffers without a descriptor, from the options or derived.
    pub(crate) buffers: Vec<(String, AddressedBuffer)>,
    /// Words that hold device addresses, from the options or derived.
    pub(crate) addresses: Vec<AddressWord>,
    /// Addresses in resolved form.
    pub(crate) words: Vec<ResolvedWord>,
    /// Types behind the addresses of each buffer without a descriptor, as raw ids.
    pub(crate) pointees: BTreeMap<Slot, BTreeSet<u32>>,
    store_bounds: StoreBounds,
    /// Set if the shader writes through physical pointers.
    pub(crate) writes_by_address: bool,
    /// Set if buffers were derived.
    pub(crate) has_derived: bool,
    /// Size of all descriptors in bytes, at most [`MAX_BYTES`].
    pub(crate) bytes: u64,
    seed: u64,
}

/// Properties of the dispatch that the size and format of a binding depend on.
#[derive(Clone, Copy)]
struct BindingUsage {
    /// Invocations of the dispatch.
    invocations: u64,
    /// Set if the entry point uses a sampler.
    filtered: bool,
    /// Set if the binding is used in a depth comparison.
    compared: bool,
}

/// Default inputs of the rounds, in turn.
const ROUND_MIXTURES: [Mixture; 2] = [Mixture::Usual, Mixture::Hard];

/// Number of descriptors in a run-time array of them.
pub(crate) const RUNTIME_DESCRIPTORS: u64 = 4;

/// Largest size of all bindings together in bytes. A check uses about ten times as much memory.
pub(crate) const MAX_BYTES: u64 = 1 << 28;

/// Largest number of descriptors of all bindings together. Each element of a descriptor array
/// counts.
const MAX_DESCRIPTORS: u64 = 1 << 14;

impl DispatchSetup {
    /// Applies options to a shader.
    ///
    /// # Errors
    /// The options do not fit the shader.
    pub fn new(shader: &ShaderSource, options: &Options) -> Result<DispatchSetup, CheckError> {
        // The module of a kernel has no descriptors of its own.
        let module = options.kernel.as_ref().map_or(&shader.source.module, |kernel| &*kernel.interface);
        let specs = specs(&Reflection::new(module), &options.specs)?;
        // Sizes may depend on specialisation constants.
        let specialised = specialised(module, &specs);
        let module = specialised.as_ref().unwrap_or(module);
        let reflection = Reflection::new(module);
        let entry = choose_entry_point(&reflection, options.entry.as_deref())?;
        let local = entry.workgroup_size.map_or([1; 3], |size| size.size);
        let groups = options.groups.unwrap_or_else(|| default_groups(module, local));
        let invocations = local.iter().chain(&groups).fold(1u64, |n, &side| n.saturating_mul(u64::from(side)));
        let usage = static_uses(module).into_iter().find(|usage| usage.name == entry.name);
        let store_bounds = usage.as_ref().map_or_else(StoreBounds::default, |usage| StoreBounds::find(module, usage));
        let written = usage.map(|usage| WrittenResources::find(module, &usage));
        let mut setup = DispatchSetup {
            rules: options.rules,
            wgsl: options.rules == Specification::Wgsl && shader.wgsl().is_some(),
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
            values: Vec::new(),
            members: Vec::new(),
            notes: Vec::new(),
            buffers: Vec::new(),
            addresses: Vec::new(),
            words: Vec::new(),
            pointees: BTreeMap::new(),
            store_bounds,
            writes_by_address: written.as_ref().is_none_or(|written| !written.pointees.is_empty()),
            has_derived: false,
            bytes: 0,
            seed: options.seed,
        };
        let compared = depth_compared_variables(module);
        let sampled =
            |b: &Binding| matches!(b.kind, Some(DescriptorKind::Sampler | DescriptorKind::CombinedImageSampler));
        let filtered = entry.bindings.iter().any(sampled);
        for binding in &entry.bindings {
            let usage = BindingUsage { invocations, filtered, compared: compared.contains(&binding.variable) };
            setup.add(module, binding, options, usage)?;
        }
        for descriptor in &mut setup.descriptors {
            descriptor.may_be_written = written.as_ref().is_none_or(|written| written.may_contain(descriptor.slot));
            let named = |b: &&Binding| (b.set, b.binding) == (descriptor.slot.set, descriptor.slot.binding);
            let variables = entry.bindings.iter().filter(named).map(|b| b.variable);
            descriptor.compares_depth = variables.into_iter().any(|variable| compared.contains(&variable));
        }
        setup.add_push_values(options)?;
        setup.add_buffers(options, module, written.as_ref())?;
        setup.add_inputs(options, module)?;
        setup.add_image_configs(options)?;
        setup.rounds = setup.rounds.max(setup.modes());
        Ok(setup)
    }

    /// Returns a program for the oracle.
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
        BindingUsage { invocations, filtered, compared }: BindingUsage,
    ) -> Result<(), CheckError> {
        let Some(kind) = binding.kind else {
            let (set, at) = (binding.set, binding.binding);
            return Err(CheckError::option(format!(
                "set {set} binding {at} has a type that no Vulkan descriptor supports"
            )));
        };
        let count = match binding.count {
            DescriptorCount::Fixed(count) => count,
            DescriptorCount::Runtime => RUNTIME_DESCRIPTORS,
        };
        let label_of = |slot: Slot| match &binding.name {
            Some(name) => format!("{slot} ({name})"),
            None => slot.to_string(),
        };
        let first = Slot { set: binding.set, binding: binding.binding, element: 0 };
        // Descriptors of other bindings: two variables may share a binding.
        let known = self.descriptors.len();
        let is_other = |d: &&Descriptor| (d.slot.set, d.slot.binding) != (binding.set, binding.binding);
        let others = self.descriptors.iter().filter(is_other).count() as u64;
        if others.saturating_add(count) > MAX_DESCRIPTORS {
            return Err(CheckError::option(format!(
                "{}: {count} descriptors beside {others} of other bindings; the limit is {MAX_DESCRIPTORS} in total",
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
            // A number for the binding takes precedence over one for all bindings.
            let own = options.elements.iter().filter(|(to, _)| to.is_some()).find_map(wanted);
            let stated = own.or_else(|| options.elements.iter().find_map(wanted));
            let elements = stated.or_else(|| constant_length(module, binding.variable)).unwrap_or(invocations);
            let given = given_bytes(slot, name.as_deref(), options);
            let texels = match &binding.image {
                Some(image) => {
                    let ty = (image, module.ty(image.sampled_type));
                    let mut forms = options.images.iter().rev();
                    let stated = forms.find(|(to, _)| to.names(slot, name.as_deref()));
                    let (key, form) = stated.map(|(to, form)| (to.to_string(), form.clone())).unzip();
                    let key = key.unwrap_or_else(|| slot.to_string());
                    let mut form = form.unwrap_or_default();
                    let mut sizes = options.image_sizes.iter().rev();
                    if let Some((_, size)) = sizes.find(|(to, _)| to.names(slot, name.as_deref())) {
                        form.size = Some(size.clone());
                    }
                    let texels = image_shape(ty, kind, self.size(), elements, given, (&form, filtered, compared));
                    Some(texels.map_err(|what| CheckError::entry("image", key, format!("{slot}: {what}")))?)
                }
                None => None,
            };
            let texel_bytes = texels.as_ref().map_or(0, ImageShape::bytes);
            let bytes = match (&binding.block, given) {
                (Some(block), Some(bytes)) if runtime_stride(block).is_some() => {
                    if let Some(from) = given_file(slot, name.as_deref(), options) {
                        check_size(block, bytes, own, &from)
                            .map_err(|what| CheckError::option(format!("{}: {what}", label_of(slot))))?;
                    }
                    bytes.max(4)
                }
                // A robust device supports buffers that are shorter than their block.
                (Some(block), Some(bytes))
                    if kind == DescriptorKind::UniformBuffer
                        && options.robustness.unwrap_or_default() != Robustness::None =>
                {
                    bytes.clamp(4, block.size().max(4))
                }
                (Some(block), given) => {
                    let (least, whole) = (size_with_elements(block, elements.max(1)).max(4), block.padded_size());
                    let whole = if runtime_stride(block).is_some() { least } else { whole.max(least) };
                    // The host may omit the padding at the end.
                    given.filter(|bytes| (least..whole).contains(bytes)).unwrap_or(whole)
                }
                (None, _) => texel_bytes,
            };
            // If two variables share a descriptor, the larger one counts. Those of earlier
            // variables are sorted.
            let shared = self.descriptors[..known].binary_search_by_key(&slot, |d| d.slot).ok();
            let already = shared.map_or(0, |at| self.descriptors[at].bytes);
            if let Some(known) = shared.map(|at| &self.descriptors[at]).filter(|known| known.kind != kind) {
                let combines = |kind| {
                    matches!(
                        kind,
                        DescriptorKind::Sampler | DescriptorKind::SampledImage | DescriptorKind::CombinedImageSampler
                    )
                };
                let why = match combines(kind) && combines(known.kind) {
                    true => "combined image samplers behind several variables are not supported",
                    false => "a descriptor has one type (VUID-VkComputePipelineCreateInfo-layout-07990)",
                };
                return Err(CheckError::option(format!(
                    "{slot} is declared as {:?} and as {kind:?}, but {why}; give the variables different bindings",
                    known.kind
                )));
            }
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
                        compares_depth: false,
                        may_be_written: true,
                        bytes,
                    });
                }
            }
        }
        self.descriptors.sort_by_key(|d| d.slot);
        Ok(())
    }

    /// Checks that all bindings fit in the limit if this one has this size. `already` is its size
    /// in the sum so far.
    pub(crate) fn must_fit(&self, label: &str, bytes: u64, already: u64) -> Result<(), CheckError> {
        let others = self.bytes - already;
        if bytes <= MAX_BYTES - others {
            return Ok(());
        }
        Err(CheckError::option(format!(
            "{label} would have {bytes} bytes beside {others} of other bindings; the limit is {MAX_BYTES} in total; \
             dispatch fewer workgroups, or shorten its array with --elements"
        )))
    }

    /// Adds the values of single push constants.
    fn add_push_values(&mut self, options: &Options) -> Result<(), CheckError> {
        if (options.push.is_some() || !options.push_values.is_empty()) && self.push.is_none() {
            return Err(CheckError::option("the shader has no push constants; remove their contents (--push)"));
        }
        if let Some(push) = &self.push {
            must_be_walkable("the push constants", push)?;
        }
        for (path, text) in &options.push_values {
            let Some((block, bytes)) = self.push.as_deref().zip(self.push_bytes()) else { break };
            let found = parameter::values_at(MemoryContents::Block(block), bytes, None, (path, text));
            let found = found.map_err(|what| CheckError::entry("push", path, format!("push constants: {what}")))?;
            self.values.extend(found);
        }
        Ok(())
    }

    /// Returns the largest number of values of one parameter or binding, which serve the rounds in turn.
    pub(crate) fn modes(&self) -> u32 {
        let contents = self.inputs.values().chain(&self.push_source).map(|source| match source {
            BindingSource::Number(text) => text.split(IN_TURN).count(),
            _ => 1,
        });
        self.values.iter().map(ParameterValue::len).chain(contents).max().unwrap_or(1) as u32
    }

    /// Returns the size of the push constants, if there are any.
    pub(crate) fn push_bytes(&self) -> Option<u64> {
        self.push.as_ref().map(|push| push.size().next_multiple_of(4))
    }

    /// Returns the largest number of elements of a descriptor that some workgroups write in a round, if
    /// it is known.
    pub(crate) fn most_written_to(&self, descriptor: &Descriptor, invocations: u64) -> Option<u64> {
        let bound = self.store_bounds.of(descriptor.slot)?;
        let of_texel = descriptor.texels.as_ref().map_or(0, |texels| texels.scalars().len() as u64);
        let each = bound.scalars.saturating_add(bound.texels.saturating_mul(of_texel));
        Some(each.saturating_mul(invocations))
    }

    /// Returns the number of invocations along x, y and z.
    pub(crate) fn size(&self) -> [u32; 3] {
        std::array::from_fn(|axis| self.local[axis].saturating_mul(self.groups[axis]))
    }

    /// Returns the descriptors of the kind `fits` that a name selects.
    fn select(
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

    /// Returns the storage buffer that a name selects for subgroup records.
    pub(crate) fn subgroup_record_slot(&self, to: &BindingName) -> Result<Slot, CheckError> {
        let found = self.select(to, ("subgroups", "storage buffer"), |d| d.kind == DescriptorKind::StorageBuffer)?;
        match found[..] {
            [slot] => Ok(slot),
            _ => {
                let what = format!("`{to}` selects several storage buffers; add [N] to select one of them");
                Err(CheckError::entry("subgroups", to.to_string(), what))
            }
        }
    }

    fn add_image_configs(&mut self, options: &Options) -> Result<(), CheckError> {
        use DescriptorKind as K;
        for (to, form) in &options.samplers {
            let meant =
                self.select(to, ("sampler", "sampler"), |d| matches!(d.kind, K::Sampler | K::CombinedImageSampler))?;
            let sampler = form.sampler()?;
            self.samplers.extend(meant.into_iter().map(|slot| (slot, sampler)));
        }
        let sized = options.image_sizes.iter().map(|(to, _)| to);
        for to in options.images.iter().map(|(to, _)| to).chain(sized) {
            self.select(to, ("image", "image"), |d| d.texels.is_some())?;
        }
        Ok(())
    }

    /// Returns the sampler of a descriptor in a round: the one from the options, otherwise nearest
    /// filtering in even rounds, and linear filtering with repetition in odd rounds if all images
    /// support it.
    fn sampler(&self, descriptor: &Descriptor, round: u32) -> Sampler {
        if let Some(stated) = self.samplers.get(&descriptor.slot) {
            return *stated;
        }
        if descriptor.compares_depth {
            return Sampler { compare: Some(CompareOp::LessOrEqual), ..Sampler::NEAREST };
        }
        // Multisampled images are not filtered.
        let images = || {
            let read_only = self.descriptors.iter().filter(|d| !d.is_read_back());
            read_only.filter_map(|d| d.texels.as_ref()).filter(|texels| texels.without_contents().samples == 1)
        };
        if round.is_multiple_of(2) || !images().all(is_filtered) {
            return Sampler::NEAREST;
        }
        Sampler { linear: true, address: [AddressMode::Repeat; 3], ..Sampler::NEAREST }
    }

    fn add_inputs(&mut self, options: &Options, module: &Module) -> Result<(), CheckError> {
        for (to, source) in &options.inputs {
            match self.select(to, ("input", "binding"), |d| !self.is_scalar_of(to, d)) {
                Ok(meant) => self.inputs.extend(meant.into_iter().map(|slot| (slot, source.clone()))),
                Err(none) => match self.parts(to, source)? {
                    Some(Parts { values, members }) => {
                        self.values.extend(values);
                        self.members.extend(members);
                    }
                    None => self.notes.push(unused_binding(module, to).ok_or(none)?),
                },
            }
        }
        // Other resources have a fixed size.
        let is_sized = |d: &Descriptor| {
            let array = d.block.as_ref().is_some_and(|block| runtime_stride(block).is_some());
            array || matches!(d.kind, DescriptorKind::UniformTexelBuffer | DescriptorKind::StorageTexelBuffer)
        };
        for to in options.elements.iter().filter_map(|(to, _)| to.as_ref()) {
            self.select(to, ("elements", "run-time array"), is_sized)?;
        }
        Ok(())
    }

    /// Returns whether the index of a name is one of an array in a buffer: `counts[1]` is a scalar, unless
    /// `counts` is an array of descriptors. That of `0.2[1]` is always one of a descriptor.
    fn is_scalar_of(&self, name: &BindingName, d: &Descriptor) -> bool {
        let first = |slot: Slot| Slot { element: 0, ..slot };
        let is_array = self.descriptors.iter().any(|o| o.slot != d.slot && first(o.slot) == first(d.slot));
        let key = name.to_string();
        let is_named = !key.starts_with(|c: char| c.is_ascii_digit());
        let path = key.find('[').map(|at| &key[at..]).filter(|_| is_named && !is_array);
        let contents = MemoryContents::of(d);
        path.zip(contents).is_some_and(|(path, contents)| {
            MemberContents::new((contents, d.bytes, d.slot), path, &BindingSource::Index).is_some()
        })
    }

    /// Returns the contents of the scalars in a buffer that a name such as `params.size` selects, or
    /// `size` if one buffer alone has a member of this name; `None` if it names neither.
    ///
    /// # Errors
    /// The buffer has no such scalar, several buffers have such a member, or the source is not a number
    /// of its type, or a file.
    pub(crate) fn parts(&self, name: &BindingName, source: &BindingSource) -> Result<Option<Parts>, CheckError> {
        let key = name.to_string();
        let wrong = |what: String| CheckError::entry("input", key.as_str(), format!("`{key}`: {what}"));
        let mut splits = parameter::splits(&key).map(|(binding, path)| (self.buffers_of(binding), path));
        let (buffers, path) = match splits.find(|(buffers, _)| !buffers.is_empty()) {
            Some(named) => named,
            None => (self.owners_of(&key).map_err(wrong)?, key.as_str()),
        };
        if buffers.is_empty() {
            return Ok(None);
        }
        let text = match source {
            BindingSource::Number(text) => text,
            BindingSource::File(_) | BindingSource::Bytes(_) => {
                let what = "a part of a buffer takes a number, such as 16 or -0.5, one for each round (0/1/2), a range \
                            such as 0..1, `index`, `usual`, `hard` or `one-of:NUMBER,..`";
                return Err(wrong(what.to_owned()));
            }
            // The error names the scalars that there are.
            BindingSource::Index | BindingSource::OneOf(_) | BindingSource::Mixture(_) => "0",
        };
        let mut parts = Parts::default();
        for buffer in buffers {
            let Some(contents) = MemoryContents::of(buffer) else { continue };
            let place = (contents, buffer.bytes, buffer.slot);
            let exact = |path| parameter::values_at(contents, buffer.bytes, Some(buffer.slot), (path, text));
            // The only member of a block may have the name of the binding.
            let members = |path| MemberContents::new(place, path, source);
            match (exact(path), source) {
                (Ok(values), BindingSource::Number(_)) => parts.values.extend(values),
                (Err(what @ ParameterError::Wrong(_)), BindingSource::Number(_)) => {
                    return Err(wrong(format!("{}: {what}", buffer.label())));
                }
                (found, _) => match members(path).or_else(|| members(&key)) {
                    Some(members) => parts.members.push(members),
                    None => _ = found.map_err(|what| wrong(format!("{}: {what}", buffer.label())))?,
                },
            }
        }
        Ok(Some(parts))
    }

    /// Returns the buffers that a name of a binding selects.
    fn buffers_of(&self, binding: &str) -> Vec<&Descriptor> {
        let Ok(binding) = binding.parse::<BindingName>() else { return Vec::new() };
        let named = self.descriptors.iter().filter(|d| binding.names(d.slot, d.name.as_deref()));
        named.filter(|d| d.block.is_some()).collect()
    }

    /// Returns the buffers of the binding whose block has the member with which a path begins.
    ///
    /// # Errors
    /// Several bindings have such a member; a clause that lists them.
    fn owners_of(&self, path: &str) -> Result<Vec<&Descriptor>, String> {
        let owners: Vec<&Descriptor> = self.descriptors.iter().filter(|d| parameter::has_member(d, path)).collect();
        let bindings: BTreeSet<(u32, u32)> = owners.iter().map(|d| (d.slot.set, d.slot.binding)).collect();
        if bindings.len() < 2 {
            return Ok(owners);
        }
        let there: Vec<String> = bindings.iter().map(|(set, binding)| format!("{set}.{binding}.{path}")).collect();
        Err(format!("several buffers have this member; write {}", there.join(" or ")))
    }

    /// Returns whether the options set the scalar at an offset of a buffer, or of the push
    /// constants.
    pub(crate) fn is_set(&self, place: Option<Slot>, offset: u64) -> bool {
        let is_at = |of: &&MemberContents| Some(of.slot) == place;
        self.values.iter().any(|value| (value.place, value.offset) == (place, offset))
            || self.members.iter().filter(is_at).any(|members| self.covers(members, offset))
            || self.words.iter().any(|word| word.covers(place, offset))
    }

    /// Returns whether the contents of members are those of the scalar at an offset.
    fn covers(&self, members: &MemberContents, offset: u64) -> bool {
        let buffer = self.descriptors.iter().find(|d| d.slot == members.slot);
        let Some((buffer, contents)) = buffer.and_then(|d| Some((d, MemoryContents::of(d)?))) else { return false };
        let mut covers = false;
        // A longer buffer holds data, no parameters.
        contents.walk_scalars(buffer.bytes.min(PARAMETER_BYTES), &mut |element, steps| {
            covers |= element.offset == offset && members.covers(steps);
        });
        covers
    }

    /// Returns whether the options fix the length of a run-time array by its contents.
    pub(crate) fn has_given_length(&self, slot: Slot) -> bool {
        matches!(self.inputs.get(&slot), Some(BindingSource::File(_) | BindingSource::Bytes(_)))
    }

    /// Returns whether the options give the contents of a binding.
    pub(crate) fn is_given(&self, slot: Slot) -> bool {
        self.inputs.contains_key(&slot)
    }

    /// Returns notes on input files that are shorter than one element for each invocation.
    pub(crate) fn short_files(&self) -> Vec<String> {
        let invocations = self.size().iter().fold(1u64, |n, side| n.saturating_mul(u64::from(*side)));
        let short = |d: &Descriptor| {
            let Some(BindingSource::File(path)) = self.inputs.get(&d.slot) else { return None };
            let block = d.block.as_deref()?;
            let elements = d.bytes.saturating_sub(size_with_elements(block, 0)) / runtime_stride(block)?.max(1);
            (elements < invocations).then(|| {
                let (label, path) = (d.label(), path.display());
                format!(
                    "  {label}: its length of {elements} follows from the size of {path}; the dispatch has \
                         {invocations} invocations"
                )
            })
        };
        self.descriptors.iter().filter_map(short).collect()
    }

    /// Returns the seed of generated inputs.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the dispatch of a round without device addresses ([`DispatchSetup::put_addresses`]).
    ///
    /// # Errors
    /// A file cannot be read or has the wrong size, or a value does not have the type of its
    /// scalar.
    pub fn dispatch(&self, round: u32) -> Result<Dispatch, CheckError> {
        let mut dispatch = Dispatch { groups: self.groups, ..Dispatch::default() };
        for descriptor in &self.descriptors {
            let sampler = self.sampler(descriptor, round);
            if descriptor.kind == DescriptorKind::Sampler {
                dispatch.bindings.insert(descriptor.slot, Resource::Sampler(sampler));
            }
            let Some(contents) = MemoryContents::of(descriptor) else { continue };
            let given = self.inputs.get(&descriptor.slot);
            let label = descriptor.label();
            let mut data = match (&descriptor.texels, given) {
                (Some(texels), None) => pattern(texels, round, self.seed),
                _ => self.fill(&label, contents, descriptor.bytes, given, round)?,
            };
            for members in self.members.iter().filter(|members| members.slot == descriptor.slot) {
                let part: MemoryPart<'_> = (&mut data, &|steps| members.covers(steps));
                let name = format!("{label}{}", members.text());
                self.generate(&name, contents, part, &members.source, round)?;
            }
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
                self.fill("push constants", MemoryContents::Block(push), bytes, self.push_source.as_ref(), round)?;
        }
        parameter::put(&self.values, round, &mut dispatch);
        Ok(dispatch)
    }

    fn fill(
        &self,
        name: &str,
        contents: MemoryContents<'_>,
        bytes: u64,
        source: Option<&BindingSource>,
        round: u32,
    ) -> Result<Vec<u8>, CheckError> {
        let sized = |data: Vec<u8>, from: &str| match data.len() as u64 {
            len if len == bytes => Ok(data),
            len => Err(CheckError::option(format!("{name}: expected {bytes} bytes, but {from} has {len}"))),
        };
        let default = BindingSource::Mixture(ROUND_MIXTURES[round as usize % ROUND_MIXTURES.len()].clone());
        match source.unwrap_or(&default) {
            BindingSource::File(path) => {
                let data = input::read(path, MAX_BYTES)
                    .map_err(|source| CheckError::Unreadable { path: path.clone(), source })?;
                sized(data, &path.display().to_string())
            }
            BindingSource::Bytes(data) => sized(data.clone(), "the input"),
            generated => {
                let mut data = vec![0; bytes as usize];
                self.generate(name, contents, (&mut data, &|_| true), generated, round)?;
                Ok(data)
            }
        }
    }

    /// Writes the contents of a part of memory that a source without bytes of its own stands for.
    fn generate(
        &self,
        name: &str,
        contents: MemoryContents<'_>,
        part: MemoryPart<'_>,
        source: &BindingSource,
        round: u32,
    ) -> Result<(), CheckError> {
        let bytes = part.0.len() as u64;
        match source {
            // [`DispatchSetup::fill`] copies bytes, and [`DispatchSetup::parts`] refuses them for a part.
            BindingSource::File(_) | BindingSource::Bytes(_) => {}
            BindingSource::Index => put_scalars(contents, part, |_, scalar, index| integer_bits(scalar, index)),
            BindingSource::OneOf(numbers) => {
                let mut wrong = None;
                let seed = self.seed.wrapping_add(u64::from(round) << 32);
                let index = Scalar::Int { width: 32, signed: false };
                let chance = MemoryValues::new(index, &Mixture::Usual, name, seed, numbers.len() as u64);
                let chance = chance.map_err(|error| CheckError::option(format!("{name}: {error}")))?;
                let mut known = ByScalar::default();
                put_scalars(contents, part, |_, scalar, index| {
                    let known: &Vec<u64> = known
                        .get(scalar, || numbers.iter().filter_map(|text| scalar_from_text(scalar, text)).collect());
                    if known.is_empty() {
                        wrong.get_or_insert(scalar);
                        return 0;
                    }
                    known[chance.bits(index) as usize % known.len()]
                });
                if let Some(scalar) = wrong {
                    let numbers = numbers.join(",");
                    return Err(CheckError::option(format!(
                        "{name}: none of `{numbers}` is a number of type {scalar}"
                    )));
                }
            }
            BindingSource::Number(text) => {
                let numbers: Vec<&str> = text.split(LIST).map(|text| in_round(text, round)).collect();
                let mut wrong = None;
                let mut known = ByScalar::default();
                put_scalars(contents, part, |_, scalar, index| {
                    let known: &Vec<u64> = known.get(scalar, || {
                        let bits = |number: &&'_ str| {
                            scalar_from_text(scalar, number).unwrap_or_else(|| {
                                wrong.get_or_insert((scalar, (*number).to_owned()));
                                0
                            })
                        };
                        numbers.iter().map(bits).collect()
                    });
                    known[index as usize % known.len()]
                });
                if let Some((scalar, number)) = wrong {
                    return Err(CheckError::option(format!("{name}: `{number}` is not a number of type {scalar}")));
                }
            }
            BindingSource::Mixture(mixture) => {
                let seed = self.seed.wrapping_add(u64::from(round) << 32);
                let mut streams = ByScalar::default();
                let mut wrong = None;
                // Integers are often used as indices, so most of them are below the number of
                // scalars.
                let below = bytes / 4;
                put_scalars(contents, part, |_, scalar, index| {
                    let stream: &Option<MemoryValues> = streams.get(scalar, || {
                        let values = MemoryValues::new(scalar, mixture, &format!("{name} {scalar}"), seed, below);
                        values.map_err(|error| wrong.get_or_insert(error).clone()).ok()
                    });
                    stream.as_ref().map_or(0, |values| values.bits(index))
                });
                if let Some(error) = wrong {
                    return Err(CheckError::option(format!("{name}: {error}")));
                }
            }
        }
        Ok(())
    }
}

/// A value for each of the few types of scalar of a buffer.
struct ByScalar<T>(Vec<(Scalar, T)>);

impl<T> Default for ByScalar<T> {
    fn default() -> ByScalar<T> {
        ByScalar(Vec::new())
    }
}

impl<T> ByScalar<T> {
    /// Returns the value of a type, which is made the first time.
    fn get(&mut self, scalar: Scalar, make: impl FnOnce() -> T) -> &T {
        let at = self.0.iter().position(|(of, _)| *of == scalar).unwrap_or_else(|| {
            self.0.push((scalar, make()));
            self.0.len() - 1
        });
        &self.0[at].1
    }
}

/// Number of bytes at the beginning of a buffer that may hold parameters.
const PARAMETER_BYTES: u64 = 1 << 16;

/// Contents of parts of buffers.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) values: Vec<ParameterValue>,
    pub(crate) members: Vec<MemberContents>,
}

/// Checks that a block, with one element of a run-time array, is not too large to walk over in
/// bytes and in parts.
pub(crate) fn must_be_walkable(label: &str, block: &TypeLayout) -> Result<(), CheckError> {
    let name = match block {
        TypeLayout::Struct { name: Some(name), .. } => format!("structure '{name}'"),
        _ => "type".to_owned(),
    };
    for (found, what) in [(block.size(), "bytes"), (block.parts(), "scalars and structures")] {
        if found > MAX_BYTES {
            return Err(CheckError::option(format!(
                "{label}: its {name} has {found} {what}; the limit is {MAX_BYTES}"
            )));
        }
    }
    Ok(())
}

/// Returns the note on an input for a binding that the module declares and the entry point does not
/// use; `None` if it declares none of this name.
fn unused_binding(module: &Module, to: &BindingName) -> Option<String> {
    let slot = |b: &Binding| Slot::new(b.set, b.binding);
    let declared = declared_bindings(module);
    let unused = declared.iter().find(|b| to.names(slot(b), b.name.as_deref()))?;
    let name = unused.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    Some(format!("the entry point does not use {}{name}, so its input has no effect", slot(unused)))
}

/// Returns the size of a binding's input, if the input has a size of its own.
pub(crate) fn given_bytes(slot: Slot, name: Option<&str>, options: &Options) -> Option<u64> {
    match options.inputs.iter().rev().find(|(to, _)| to.names(slot, name)).map(|(_, source)| source)? {
        BindingSource::File(path) => input::regular_file_length(path).ok(),
        BindingSource::Bytes(bytes) => Some(bytes.len() as u64),
        BindingSource::Number(_) | BindingSource::Index | BindingSource::OneOf(_) | BindingSource::Mixture(_) => None,
    }
}

/// Returns the input file of a binding, if the input is a file.
fn given_file(slot: Slot, name: Option<&str>, options: &Options) -> Option<String> {
    match options.inputs.iter().rev().find(|(to, _)| to.names(slot, name)).map(|(_, source)| source)? {
        BindingSource::File(path) => Some(path.display().to_string()),
        _ => None,
    }
}

/// Checks that an input of `bytes` bytes fits a block with a run-time array: it must have whole
/// elements, and `elements` of them if that is given.
///
/// # Errors
/// The message gives both sizes.
fn check_size(block: &TypeLayout, bytes: u64, elements: Option<u64>, from: &str) -> Result<(), String> {
    let stride = runtime_stride(block).unwrap_or(1).max(1);
    let head = size_with_elements(block, 0);
    if let Some(elements) = elements {
        let wanted = size_with_elements(block, elements).max(4);
        let said = format!("{elements} elements (--elements) take {wanted} bytes, but {from} has {bytes}");
        return if bytes == wanted { Ok(()) } else { Err(said) };
    }
    let after = if head > 0 { format!("{head} bytes followed by ") } else { String::new() };
    let takes = format!("expected {after}whole elements of {stride} bytes");
    match bytes.checked_sub(head).map(|rest| (rest / stride, rest % stride)) {
        None | Some((0, _)) => Err(format!("{takes}, at least one, but {from} has only {bytes} bytes")),
        Some((_, 0)) => Ok(()),
        Some((whole, rest)) => {
            Err(format!("{takes}, but {from} has {bytes} bytes, {rest} more than {whole} elements take"))
        }
    }
}

/// Returns the bits of a small integer in a type.
fn integer_bits(scalar: Scalar, number: u64) -> u64 {
    match scalar {
        Scalar::Float(format) => format.parse(&number.to_string()).map_or(0, |n| n.bits),
        Scalar::Int { width, .. } => number & (u64::MAX >> (64 - width)),
        Scalar::Bool => number & 1,
    }
}

/// Returns the variables of images and samplers that instructions with a depth comparison use.
fn depth_compared_variables(module: &Module) -> BTreeSet<u32> {
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
    // Only values that are loaded in the function that uses them are traced.
    while let Some(word) = words.pop() {
        let Some(definition) = module.definition_of(word).filter(|_| seen.insert(word)) else { continue };
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

fn choose_entry_point<'a>(reflection: &'a Reflection, wanted: Option<&str>) -> Result<&'a EntryPoint, CheckError> {
    let compute: Vec<&EntryPoint> = reflection.entry_points.iter().filter(|entry| is_compute(entry)).collect();
    let names = || compute.iter().map(|e| e.name.as_str()).collect::<Vec<_>>().join(", ");
    match (wanted, &compute[..]) {
        (_, []) => Err(CheckError::option("the module has no compute entry point (GLCompute)")),
        (None, [only]) => Ok(only),
        (None, _) => Err(CheckError::option(format!(
            "the module has several compute entry points ({}); choose one with --entry",
            names()
        ))),
        (Some(wanted), all) => all.iter().find(|e| e.name == wanted).copied().ok_or_else(|| {
            CheckError::option(format!("no compute entry point `{wanted}`; the module has {}", names()))
        }),
    }
}

/// Resolves the given specialisation constants to bits.
fn specs(reflection: &Reflection, given: &[(String, String)]) -> Result<Vec<SpecValue>, CheckError> {
    let mut specs: Vec<SpecValue> = Vec::new();
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
        walk_scalars(&constant.shape, constant.shape.size(), &mut |element, _| scalar = element.scalar);
        if matches!(*constant.shape, TypeLayout::Bool) {
            scalar = Scalar::Bool;
        }
        let Some(bits) = scalar_from_text(scalar, text) else {
            let what = format!("specialisation constant `{key}`: `{text}` is not a value of type {scalar}");
            return Err(CheckError::entry("spec", key, what));
        };
        let width = if scalar == Scalar::Bool { 32 } else { scalar.width() };
        specs.retain(|s| s.id != constant.spec_id);
        specs.push(SpecValue { id: constant.spec_id, width, bits });
    }
    Ok(specs)
}

/// Converts the values for the oracle.
fn spec_values(specs: &[SpecValue]) -> SpecValues {
    specs.iter().map(|spec| (spec.id, spec.bits)).collect()
}

/// Returns the module with the values as defaults of its constants, for reflection; `None` if none
/// was given.
fn specialised(module: &Module, specs: &[SpecValue]) -> Option<Module> {
    let given = if specs.is_empty() { None } else { with_spec_defaults(module, specs) };
    assay_oracle::folded(given.as_ref().unwrap_or(module)).or(given)
}

fn with_spec_defaults(module: &Module, specs: &[SpecValue]) -> Option<Module> {
    let mut words = module.words().to_vec();
    for constant in Reflection::new(module).spec_constants {
        let Some(spec) = specs.iter().find(|s| s.id == constant.spec_id) else { continue };
        let definition = module.definition_of(constant.id)?;
        match definition.op? {
            Op::SpecConstantTrue | Op::SpecConstantFalse => {
                let op = if spec.bits == 0 { Op::SpecConstantFalse } else { Op::SpecConstantTrue };
                words[definition.at] = words[definition.at] & 0xffff_0000 | op as u32;
            }
            _ => {
                let first = definition.at + 3;
                // A narrow signed literal is stored sign-extended.
                let shift = 32u32.saturating_sub(spec.width);
                let signed = matches!(*constant.shape, TypeLayout::Int { signed: true, .. });
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
