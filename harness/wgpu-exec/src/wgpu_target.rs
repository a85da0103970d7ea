//! Checks of whole shaders through wgpu: WGSL as written, SPIR-V through naga.

use crate::error::{WgpuError, message};
use crate::naga_translation::{NagaInput, parse};
use crate::wgpu_device::{OpenDevice, WgpuDevice, lock};
use crate::wgpu_texture;
use assay_check::{with_deep_stack, without_enable_subgroups};
use assay_events::DeviceInfo;
use assay_exec::{Descriptor, DispatchOutput, DispatchRequest, ExecError, Target, TargetError, compile_limit};
use assay_oracle::{Resource, Slot};
use assay_spirv::reflect::DescriptorKind;
use assay_spirv_rules::requirements::DeviceCaps;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

/// A device through wgpu.
pub struct WgpuTarget {
    device: WgpuDevice,
    /// `None` after a loss or a timeout; the device is then reopened.
    open: Mutex<Option<OpenDevice>>,
    caps: DeviceCaps,
    time_limit: Duration,
    /// Set if SPIR-V shaders are accepted, through naga's reader.
    spirv: bool,
}

/// The bindings that a shader uses, by group and binding.
type UsedBindings = BTreeSet<(u32, u32)>;

/// A shader in wgpu's form.
struct Shader<'a> {
    source: wgpu::ShaderSource<'a>,
    /// Values of its overrides, by identifier or number.
    overrides: Vec<(String, f64)>,
    bound: UsedBindings,
}

impl WgpuTarget {
    /// Opens a device. `caps` contains its capabilities as a Vulkan device; wgpu reports its own
    /// further restrictions when it refuses a shader.
    ///
    /// # Errors
    /// wgpu refuses.
    pub fn new(device: WgpuDevice, caps: DeviceCaps, time_limit: Duration) -> Result<WgpuTarget, WgpuError> {
        let open = Mutex::new(Some(device.open()?));
        Ok(WgpuTarget { device, open, caps, time_limit, spirv: false })
    }

    /// Returns the same target, accepting SPIR-V as well: naga reads it and writes it again for the
    /// driver.
    #[must_use]
    pub fn with_spirv(self) -> WgpuTarget {
        WgpuTarget { spirv: true, ..self }
    }

    fn open(&self) -> Result<OpenDevice, TargetError> {
        let mut resources = lock(&self.open);
        if let Some(open) = &*resources {
            return Ok(open.clone());
        }
        let opened = self.device.open().map_err(|error| ExecError::Internal(error.to_string()))?;
        Ok(resources.insert(opened).clone())
    }

    fn compute(&self, open: &OpenDevice, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        // wgpu has naga read and write the shader.
        with_deep_stack(|| self.compute_here(open, request))
    }

    fn compute_here(&self, open: &OpenDevice, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        if !request.dispatch.push_constants.is_empty() {
            return Err(TargetError::Unsupported("WebGPU has no push constants".to_owned()));
        }
        let Shader { source, overrides, bound } = self.source(request)?;
        let constants: Vec<(&str, f64)> = overrides.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        let module = open
            .with_error_scopes("reading the shader", || {
                open.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source })
            })
            .map_err(|(error, failure)| refusal(&error, failure))?;
        let pipeline = open
            .with_error_scopes("building the pipeline", || {
                open.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: None,
                    layout: None,
                    module: &module,
                    entry_point: Some(request.entry),
                    compilation_options: wgpu::PipelineCompilationOptions {
                        constants: &constants,
                        ..wgpu::PipelineCompilationOptions::default()
                    },
                    cache: None,
                })
            })
            .map_err(|(error, failure)| refusal(&error, failure))?;
        let resources = BoundResources::new(open, request, &bound)?;
        let record = |workgroups: [u32; 3]| {
            let commands = open.with_error_scopes("recording the dispatch", || {
                let groups = resources.groups(open, &pipeline);
                let mut encoder = open.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None });
                {
                    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                    pass.set_pipeline(&pipeline);
                    for (set, group) in &groups {
                        pass.set_bind_group(*set, group, &[]);
                    }
                    let [x, y, z] = workgroups;
                    pass.dispatch_workgroups(x, y, z);
                }
                resources.copy_back(&mut encoder);
                encoder.finish()
            });
            commands.map_err(|(error, failure)| refusal(&error, failure))
        };
        // Some drivers compile a shader only at its first dispatch.
        let compile = open.run(record([0; 3])?, compile_limit(self.time_limit), "compiling the shader")?;
        let duration = open.run(record(request.dispatch.groups)?, self.time_limit, "running the shader")?;
        let mut left = DispatchOutput { memory: BTreeMap::new(), compile, duration };
        for descriptor in request.descriptors.iter().filter(|descriptor| descriptor.is_read_back()) {
            let before = request.dispatch.bindings.get(&descriptor.slot).and_then(Resource::bytes);
            let Some(before) = before else { continue };
            let Some(thing) = resources.resources.get(&descriptor.slot) else {
                // The device never had it, so its contents prove nothing.
                let what = format!("{} is not bound through wgpu, as naga sees no use of it", descriptor.label());
                return Err(TargetError::Unsupported(what));
            };
            left.memory.insert(descriptor.slot, thing.read(open, before.len())?);
        }
        Ok(left)
    }

    fn source<'j>(&self, request: &DispatchRequest<'j>) -> Result<Shader<'j>, TargetError> {
        let lacks = |what: String| TargetError::Unsupported(what);
        let (given, source) = match request.wgsl {
            Some(wgsl) => (NagaInput::Wgsl(wgsl), wgpu::ShaderSource::Wgsl(without_enable_subgroups(wgsl.text))),
            None if !self.spirv => {
                return Err(lacks("the program is SPIR-V, which WebGPU does not take".to_owned()));
            }
            None => (
                NagaInput::Spirv(request.words, request.specs),
                wgpu::ShaderSource::SpirV(Cow::Borrowed(request.words)),
            ),
        };
        let (module, overrides) = parse(given).map_err(lacks)?;
        let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
        let info = info.map_err(|error| lacks(format!("naga holds the shader for invalid: {}", error.as_inner())))?;
        let entry = module.entry_points.iter().position(|entry| entry.name == request.entry);
        let entry = entry.ok_or_else(|| lacks(format!("naga finds no entry point `{}`", request.entry)))?;
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

/// Converts wgpu's error for a legal shader. `failure` is the failure that it appeared as: a
/// validation error behind an internal failure is a limit of WebGPU, everything else a failure.
fn refusal(error: &wgpu::Error, failure: ExecError) -> TargetError {
    match (error, failure) {
        (wgpu::Error::Validation { .. }, ExecError::Internal(_)) => {
            TargetError::Unsupported(format!("wgpu: {}", message(error)))
        }
        (_, ExecError::Internal(what)) => TargetError::Failed(ExecError::Pipeline(what)),
        (_, other) => TargetError::Failed(other),
    }
}

/// The bound resources on the device.
struct BoundResources {
    resources: BTreeMap<Slot, ResourceObject>,
}

enum ResourceObject {
    Buffer { buffer: wgpu::Buffer, back: Option<wgpu::Buffer> },
    Texture(wgpu_texture::TextureObjects),
    Sampler(wgpu::Sampler),
}

impl BoundResources {
    fn new(
        open: &OpenDevice,
        request: &DispatchRequest<'_>,
        bound: &UsedBindings,
    ) -> Result<BoundResources, TargetError> {
        let mut resources = BTreeMap::new();
        for descriptor in request.descriptors {
            let slot = descriptor.slot;
            if !bound.contains(&(slot.set, slot.binding)) {
                continue;
            }
            if slot.element != 0 {
                return Err(TargetError::Unsupported("WebGPU has no arrays of bindings".to_owned()));
            }
            let Some(resource) = request.dispatch.bindings.get(&slot) else { continue };
            let thing = open.with_error_scopes("making resources", || create_resource(open, descriptor, resource));
            let thing = thing.map_err(|(error, failure)| refusal(&error, failure))?;
            resources.insert(slot, thing.map_err(TargetError::Unsupported)?);
        }
        Ok(BoundResources { resources })
    }

    /// Creates a bind group for each set.
    fn groups(&self, open: &OpenDevice, pipeline: &wgpu::ComputePipeline) -> Vec<(u32, wgpu::BindGroup)> {
        let sets: BTreeSet<u32> = self.resources.keys().map(|slot| slot.set).collect();
        let group = |set: u32| {
            let resources = self.resources.iter().filter(|(slot, _)| slot.set == set);
            let entries: Vec<wgpu::BindGroupEntry<'_>> = resources
                .map(|(slot, thing)| wgpu::BindGroupEntry {
                    binding: slot.binding,
                    resource: match thing {
                        ResourceObject::Buffer { buffer, .. } => buffer.as_entire_binding(),
                        ResourceObject::Texture(made) => wgpu::BindingResource::TextureView(&made.view),
                        ResourceObject::Sampler(sampler) => wgpu::BindingResource::Sampler(sampler),
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
        for thing in self.resources.values() {
            match thing {
                ResourceObject::Buffer { buffer, back: Some(back) } => {
                    encoder.copy_buffer_to_buffer(buffer, 0, back, 0, back.size());
                }
                ResourceObject::Texture(made) => made.copy_back(encoder),
                ResourceObject::Buffer { back: None, .. } | ResourceObject::Sampler(_) => {}
            }
        }
    }
}

impl ResourceObject {
    /// Returns its contents after the dispatch, in the oracle's layout.
    fn read(&self, open: &OpenDevice, bytes: usize) -> Result<Vec<u8>, TargetError> {
        const DURING: &str = "reading results";
        let mut memory = Vec::new();
        match self {
            ResourceObject::Buffer { back: Some(back), .. } => {
                open.read(back, DURING, |all| memory.extend_from_slice(&all[..bytes.min(all.len())]))?;
            }
            ResourceObject::Texture(made) => {
                let back = made.back.as_ref().ok_or_else(|| ExecError::Internal("nothing to read back".to_owned()))?;
                open.read(back, DURING, |all| memory = made.unpadded(all))?;
            }
            ResourceObject::Buffer { back: None, .. } | ResourceObject::Sampler(_) => {
                return Err(ExecError::Internal("nothing to read back".to_owned()).into());
            }
        }
        Ok(memory)
    }
}

/// Creates the resource of a binding; the error names the missing functionality of WebGPU.
fn create_resource(open: &OpenDevice, descriptor: &Descriptor, resource: &Resource) -> Result<ResourceObject, String> {
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
            Ok(ResourceObject::Buffer { buffer: made, back })
        }
        (DescriptorKind::SampledImage | DescriptorKind::StorageImage, Resource::Image(image)) => {
            wgpu_texture::TextureObjects::new(open, descriptor, image).map(ResourceObject::Texture)
        }
        (DescriptorKind::Sampler, Resource::Sampler(sampler)) => {
            wgpu_texture::sampler(open, sampler).map(ResourceObject::Sampler)
        }
        (kind, _) => Err(format!("WebGPU has no {kind:?}")),
    }
}

impl Target for WgpuTarget {
    fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        &self.caps
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        let open = self.open()?;
        let ran = self.compute(&open, request);
        if let Err(TargetError::Failed(ExecError::DeviceLost(_) | ExecError::Timeout(_))) = ran {
            *lock(&self.open) = None;
        }
        ran
    }
}
