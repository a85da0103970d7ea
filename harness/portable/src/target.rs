//! Checks of whole shaders through wgpu: WGSL as written, SPIR-V through naga.

use crate::device::{Open, PortableDevice, lock};
use crate::error::{PortableError, said};
use crate::spirv::{Given, parsed};
use crate::texture;
use assay_check::{Job, Left, Target, TargetError, with_deep_stack};
use assay_oracle::{Resource, Slot};
use assay_runner::{DeviceInfo, Trouble};
use assay_spirv::need::Have;
use assay_spirv::reflect::DescriptorKind;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

/// A device through wgpu.
pub struct PortableTarget {
    device: PortableDevice,
    /// `None` after a loss or a timeout; the device is then reopened.
    open: Mutex<Option<Open>>,
    have: Have,
    time_limit: Duration,
    /// Set if SPIR-V shaders are accepted, through naga's reader.
    spirv: bool,
}

/// The bindings that a shader uses, by group and binding.
type Bound = BTreeSet<(u32, u32)>;

/// A shader in wgpu's form.
struct Shader<'a> {
    source: wgpu::ShaderSource<'a>,
    /// Values of its overrides, by identifier or number.
    overrides: Vec<(String, f64)>,
    bound: Bound,
}

impl PortableTarget {
    /// Opens a device. `have` contains its capabilities as a Vulkan device; wgpu reports its own
    /// further restrictions when it refuses a shader.
    ///
    /// # Errors
    /// wgpu refuses.
    pub fn new(device: PortableDevice, have: Have, time_limit: Duration) -> Result<PortableTarget, PortableError> {
        let open = Mutex::new(Some(device.open()?));
        Ok(PortableTarget { device, open, have, time_limit, spirv: false })
    }

    /// Returns the same target, accepting SPIR-V as well: naga reads it and writes it again for the
    /// driver.
    #[must_use]
    pub fn with_spirv(self) -> PortableTarget {
        PortableTarget { spirv: true, ..self }
    }

    fn open(&self) -> Result<Open, TargetError> {
        let mut held = lock(&self.open);
        if let Some(open) = &*held {
            return Ok(open.clone());
        }
        let opened = self.device.open().map_err(|error| Trouble::Internal(error.to_string()))?;
        Ok(held.insert(opened).clone())
    }

    fn compute(&self, open: &Open, job: &Job<'_>) -> Result<Left, TargetError> {
        // wgpu has naga read and write the shader.
        with_deep_stack(|| self.compute_here(open, job))
    }

    fn compute_here(&self, open: &Open, job: &Job<'_>) -> Result<Left, TargetError> {
        if !job.dispatch.push_constants.is_empty() {
            return Err(TargetError::Lacks("WebGPU has no push constants".to_owned()));
        }
        let Shader { source, overrides, bound } = self.source(job)?;
        let constants: Vec<(&str, f64)> = overrides.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        let module = open
            .watched("reading the shader", || {
                open.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source })
            })
            .map_err(|(error, trouble)| refused(&error, trouble))?;
        let pipeline = open
            .watched("building the pipeline", || {
                open.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: None,
                    layout: None,
                    module: &module,
                    entry_point: Some(job.entry),
                    compilation_options: wgpu::PipelineCompilationOptions {
                        constants: &constants,
                        ..wgpu::PipelineCompilationOptions::default()
                    },
                    cache: None,
                })
            })
            .map_err(|(error, trouble)| refused(&error, trouble))?;
        let held = Held::new(open, job, &bound)?;
        let commands = open
            .watched("recording the dispatch", || {
                let groups = held.groups(open, &pipeline);
                let mut encoder = open.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None });
                {
                    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                    pass.set_pipeline(&pipeline);
                    for (set, group) in &groups {
                        pass.set_bind_group(*set, group, &[]);
                    }
                    let [x, y, z] = job.dispatch.groups;
                    pass.dispatch_workgroups(x, y, z);
                }
                held.copy_back(&mut encoder);
                encoder.finish()
            })
            .map_err(|(error, trouble)| refused(&error, trouble))?;
        let taken = open.run(commands, self.time_limit, "running the shader")?;
        let mut left = Left { memory: BTreeMap::new(), taken };
        for descriptor in job.descriptors.iter().filter(|descriptor| descriptor.is_read_back()) {
            let before = job.dispatch.bindings.get(&descriptor.slot).and_then(bytes);
            let Some(before) = before else { continue };
            let Some(thing) = held.things.get(&descriptor.slot) else {
                // The device never had it, so its contents prove nothing.
                let what = format!("{} is not bound through wgpu, as naga sees no use of it", descriptor.label());
                return Err(TargetError::Lacks(what));
            };
            left.memory.insert(descriptor.slot, thing.read(open, before.len())?);
        }
        Ok(left)
    }

    fn source<'j>(&self, job: &Job<'j>) -> Result<Shader<'j>, TargetError> {
        let lacks = |what: String| TargetError::Lacks(what);
        let (given, source) = match job.wgsl {
            Some(wgsl) => (Given::Wgsl(wgsl), wgpu::ShaderSource::Wgsl(Cow::Borrowed(wgsl.text))),
            None if !self.spirv => {
                return Err(lacks("the program is SPIR-V, which WebGPU does not take".to_owned()));
            }
            None => (Given::Spirv(job.words, job.specs), wgpu::ShaderSource::SpirV(Cow::Borrowed(job.words))),
        };
        let (module, overrides) = parsed(given).map_err(lacks)?;
        let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
        let info = info.map_err(|error| lacks(format!("naga holds the shader for invalid: {}", error.as_inner())))?;
        let entry = module.entry_points.iter().position(|entry| entry.name == job.entry);
        let entry = entry.ok_or_else(|| lacks(format!("naga finds no entry point `{}`", job.entry)))?;
        let uses = info.get_entry_point(entry);
        let bound = module
            .global_variables
            .iter()
            .filter(|(handle, _)| !uses[*handle].is_empty())
            .filter_map(|(_, variable)| variable.binding.as_ref().map(|binding| (binding.group, binding.binding)))
            .collect();
        Ok(Shader { source, overrides, bound })
    }
}

/// Converts wgpu's error for a legal shader. `trouble` is the failure that it appeared as: a
/// validation error behind an internal failure is a limit of WebGPU, everything else a failure.
fn refused(error: &wgpu::Error, trouble: Trouble) -> TargetError {
    match (error, trouble) {
        (wgpu::Error::Validation { .. }, Trouble::Internal(_)) => TargetError::Lacks(format!("wgpu: {}", said(error))),
        (_, Trouble::Internal(what)) => TargetError::Failed(Trouble::Pipeline(what)),
        (_, other) => TargetError::Failed(other),
    }
}

/// Returns the bytes of a binding.
fn bytes(resource: &Resource) -> Option<&[u8]> {
    match resource {
        Resource::Buffer(buffer) => Some(&buffer.data),
        Resource::Image(image) | Resource::CombinedImageSampler(image, _) => Some(&image.data),
        _ => None,
    }
}

/// The bound resources on the device.
struct Held {
    things: BTreeMap<Slot, Thing>,
}

enum Thing {
    Buffer { buffer: wgpu::Buffer, back: Option<wgpu::Buffer> },
    Texture(texture::Made),
    Sampler(wgpu::Sampler),
}

impl Held {
    fn new(open: &Open, job: &Job<'_>, bound: &Bound) -> Result<Held, TargetError> {
        let mut things = BTreeMap::new();
        for descriptor in job.descriptors {
            let slot = descriptor.slot;
            if !bound.contains(&(slot.set, slot.binding)) {
                continue;
            }
            if slot.element != 0 {
                return Err(TargetError::Lacks("WebGPU has no arrays of bindings".to_owned()));
            }
            let Some(resource) = job.dispatch.bindings.get(&slot) else { continue };
            let thing = open.watched("making resources", || made(open, descriptor, resource));
            let thing = thing.map_err(|(error, trouble)| refused(&error, trouble))?;
            things.insert(slot, thing.map_err(TargetError::Lacks)?);
        }
        Ok(Held { things })
    }

    /// Creates a bind group for each set.
    fn groups(&self, open: &Open, pipeline: &wgpu::ComputePipeline) -> Vec<(u32, wgpu::BindGroup)> {
        let sets: BTreeSet<u32> = self.things.keys().map(|slot| slot.set).collect();
        let group = |set: u32| {
            let things = self.things.iter().filter(|(slot, _)| slot.set == set);
            let entries: Vec<wgpu::BindGroupEntry<'_>> = things
                .map(|(slot, thing)| wgpu::BindGroupEntry {
                    binding: slot.binding,
                    resource: match thing {
                        Thing::Buffer { buffer, .. } => buffer.as_entire_binding(),
                        Thing::Texture(made) => wgpu::BindingResource::TextureView(&made.view),
                        Thing::Sampler(sampler) => wgpu::BindingResource::Sampler(sampler),
                    },
                })
                .collect();
            open.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.get_bind_group_layout(set),
                entries: &entries,
            })
        };
        sets.into_iter().map(|set| (set, group(set))).collect()
    }

    fn copy_back(&self, encoder: &mut wgpu::CommandEncoder) {
        for thing in self.things.values() {
            match thing {
                Thing::Buffer { buffer, back: Some(back) } => {
                    encoder.copy_buffer_to_buffer(buffer, 0, back, 0, back.size());
                }
                Thing::Texture(made) => made.copy_back(encoder),
                Thing::Buffer { back: None, .. } | Thing::Sampler(_) => {}
            }
        }
    }
}

impl Thing {
    /// Returns its contents after the dispatch, in the oracle's layout.
    fn read(&self, open: &Open, bytes: usize) -> Result<Vec<u8>, TargetError> {
        const DURING: &str = "reading results";
        let mut memory = Vec::new();
        match self {
            Thing::Buffer { back: Some(back), .. } => {
                open.read(back, DURING, |all| memory.extend_from_slice(&all[..bytes.min(all.len())]))?;
            }
            Thing::Texture(made) => {
                let back = made.back.as_ref().ok_or_else(|| Trouble::Internal("nothing to read back".to_owned()))?;
                open.read(back, DURING, |all| memory = made.unpadded(all))?;
            }
            Thing::Buffer { back: None, .. } | Thing::Sampler(_) => {
                return Err(Trouble::Internal("nothing to read back".to_owned()).into());
            }
        }
        Ok(memory)
    }
}

/// Creates the resource of a binding; the error names the missing functionality of WebGPU.
fn made(open: &Open, descriptor: &assay_check::Descriptor, resource: &Resource) -> Result<Thing, String> {
    use wgpu::BufferUsages as Usage;
    match (descriptor.kind, resource) {
        (DescriptorKind::StorageBuffer | DescriptorKind::UniformBuffer, Resource::Buffer(buffer)) => {
            // Copies cover whole words; bytes after the data are unused.
            let size = (buffer.data.len().next_multiple_of(4) as u64).max(4);
            let storage = descriptor.kind == DescriptorKind::StorageBuffer;
            let usage = if storage { Usage::STORAGE | Usage::COPY_SRC } else { Usage::UNIFORM };
            let describe =
                |usage: Usage| wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
            let made = open.device.create_buffer(&describe(usage | Usage::COPY_DST));
            let mut data = buffer.data.clone();
            data.resize(size as usize, 0);
            open.queue.write_buffer(&made, 0, &data);
            let back = storage.then(|| open.device.create_buffer(&describe(Usage::MAP_READ | Usage::COPY_DST)));
            Ok(Thing::Buffer { buffer: made, back })
        }
        (DescriptorKind::SampledImage | DescriptorKind::StorageImage, Resource::Image(image)) => {
            texture::Made::new(open, descriptor, image).map(Thing::Texture)
        }
        (DescriptorKind::Sampler, Resource::Sampler(sampler)) => texture::sampler(open, sampler).map(Thing::Sampler),
        (kind, _) => Err(format!("WebGPU has no {kind:?}")),
    }
}

impl Target for PortableTarget {
    fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    fn have(&self) -> &Have {
        &self.have
    }

    fn run(&self, job: &Job<'_>) -> Result<Left, TargetError> {
        let open = self.open()?;
        let ran = self.compute(&open, job);
        if let Err(TargetError::Failed(Trouble::DeviceLost(_) | Trouble::Timeout(_))) = ran {
            *lock(&self.open) = None;
        }
        ran
    }
}
