//! Runs a pass on a device: lowered, tile by tile; as an ordinary shader over the whole frame; and
//! natively.

use super::model::Executor;
use super::pass::{ImageAccess, Pass, PassContents, PermittedContents, StepError, StepStage, groups};
use super::shader_text::FRAME_GROUP;
use assay_oracle::Tile;
use assay_spirv::Module;
use assay_spirv::lower::LowerError;
use assay_spirv::lower::tile::{LoweredTileShader, TilePushConstants, lower};
use assay_spirv::reflect::DescriptorKind;
use assay_vulkan::{
    BindingLayout, Bindings, BufferSpec, Device, Dispatch, DispatchSlot, Error, ImageDim, ImageSpec, ImageView,
    PassRecording, Pipeline, PipelineDesc, Resource, ResourceSpec, TileAttachment, TileBuffer, TilePass,
    TilePassOutput, TileStep,
};
use std::time::Duration;

/// Reason why a device gives no results.
#[derive(Debug, thiserror::Error)]
pub(super) enum DeviceError {
    /// A step is not a valid module.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The lowering does not support the case's module.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// The device does not support the pass, or failed.
    #[error(transparent)]
    Device(#[from] Error),
}

/// Lowers the modules of a pass.
///
/// # Errors
/// A step is not a valid module or cannot be lowered.
pub(super) fn lowered(pass: &Pass, local_size: [u32; 3]) -> Result<Vec<LoweredTileShader>, DeviceError> {
    pass.steps.iter().map(|step| Ok(lower(&pass.compute(step)?, local_size)?)).collect()
}

/// The images and buffers of a pass on a device.
struct BoundResources<'a> {
    device: &'a Device,
    pass: &'a Pass,
    resources: Vec<ResourceSpec>,
    /// The pass's attachment or buffer behind each resource.
    origins: Vec<ResourceOrigin>,
    slot: DispatchSlot,
    limit: Duration,
}

#[derive(Clone, Copy)]
enum ResourceOrigin {
    Attachment(usize, ImageAccess),
    Buffer(usize),
}

impl<'a> BoundResources<'a> {
    fn new(device: &'a Device, pass: &'a Pass, limit: Duration) -> Result<Self, Error> {
        let (mut resources, mut origins) = (Vec::new(), Vec::new());
        for (index, attachment) in pass.attachments.iter().enumerate() {
            let image = ImageSpec { format: attachment.lowered_format(), ..image(pass, index) };
            for &(binding, access) in &attachment.bindings {
                let resource = match access {
                    ImageAccess::Storage => Resource::StorageImage(image),
                    ImageAccess::Sampled => Resource::SampledImage(image),
                };
                resources.push(ResourceSpec { set: 0, binding, element: 0, resource });
                origins.push(ResourceOrigin::Attachment(index, access));
            }
        }
        for (index, buffer) in pass.buffers.iter().enumerate() {
            let resource = Resource::StorageBuffer(BufferSpec::in_out(buffer.data.len()));
            resources.push(ResourceSpec { set: 0, binding: buffer.binding, element: 0, resource });
            origins.push(ResourceOrigin::Buffer(index));
        }
        let slot = device.dispatch_slot_of(&resources)?;
        Ok(BoundResources { device, pass, resources, origins, slot, limit })
    }

    fn pipeline(&self, words: &[u32], push_constants: u32) -> Result<Pipeline, Error> {
        let layout = BindingLayout::of(&self.resources)?;
        let bindings = Bindings::Listed(&layout);
        self.device.pipeline(&PipelineDesc { bindings, push_constants, ..PipelineDesc::new(words, 0) })
    }

    fn run(
        &mut self,
        pipeline: &Pipeline,
        groups: [u32; 3],
        push: &[u8],
        memory: &mut PassContents,
    ) -> Result<(), Error> {
        for (index, origin) in self.origins.iter().enumerate() {
            let data = match *origin {
                ResourceOrigin::Attachment(attachment, _) => &memory.attachments[attachment],
                ResourceOrigin::Buffer(buffer) => &memory.buffers[buffer],
            };
            self.slot.write::<u8>(index)?.copy_from_slice(data);
        }
        self.slot.submit(pipeline, &Dispatch { groups, push_constants: push, clear: None })?;
        self.slot.wait(self.limit)?;
        for (index, origin) in self.origins.iter().enumerate() {
            match *origin {
                ResourceOrigin::Attachment(attachment, ImageAccess::Storage) => {
                    memory.attachments[attachment].copy_from_slice(self.slot.read::<u8>(index)?);
                }
                ResourceOrigin::Attachment(_, ImageAccess::Sampled) => {}
                ResourceOrigin::Buffer(buffer) => memory.buffers[buffer].copy_from_slice(self.slot.read::<u8>(index)?),
            }
        }
        Ok(())
    }
}

fn image(pass: &Pass, attachment: usize) -> ImageSpec {
    let ([width, height], layers) = (pass.extent, pass.layers);
    let (dim, extent, format) = (ImageDim::D2, [width, height, 1], pass.attachments[attachment].format);
    ImageSpec { dim, arrayed: layers > 1, extent, layers, levels: 1, format, view: ImageView::ALL }
}

/// Runs lowered modules on a device.
pub(super) struct LoweredExecutor<'a> {
    bound: BoundResources<'a>,
    steps: Vec<(LoweredTileShader, Pipeline)>,
}

impl<'a> LoweredExecutor<'a> {
    /// Creates the pipelines of a pass from the modules of [`lowered`].
    ///
    /// # Errors
    /// The device does not support them, or failed.
    pub(super) fn new(
        device: &'a Device,
        pass: &'a Pass,
        steps: Vec<LoweredTileShader>,
        limit: Duration,
    ) -> Result<Self, Error> {
        let bound = BoundResources::new(device, pass, limit)?;
        let made = steps.into_iter().map(|step| Ok((bound.pipeline(&step.words, step.push_bytes())?.clone(), step)));
        let steps = made.map(|made: Result<_, Error>| made.map(|(pipeline, step)| (step, pipeline)));
        let steps = steps.collect::<Result<_, _>>()?;
        Ok(LoweredExecutor { bound, steps })
    }
}

impl Executor for LoweredExecutor<'_> {
    type Error = Error;

    fn step(&mut self, step: usize, tile: &Tile, memory: &mut PermittedContents) -> Result<(), Error> {
        let (lowered, pipeline) = &self.steps[step];
        let values = TilePushConstants { offset: tile.offset, size: tile.size, apron: tile.apron };
        let cover = self.bound.pass.steps[step].groups(tile.size);
        let groups = lowered.groups(&values).unwrap_or(cover);
        let push = lowered.push_constants(&[], &values);
        self.bound.run(pipeline, groups, &push, &mut memory.contents)
    }
}

/// Runs the ordinary shaders over the whole frame.
///
/// # Errors
/// The device does not support them, or failed.
pub(super) fn full_frame(device: &Device, pass: &Pass, limit: Duration) -> Result<PassContents, Error> {
    let mut bound = BoundResources::new(device, pass, limit)?;
    let mut memory = pass.contents();
    for words in &pass.full_frame {
        let pipeline = bound.pipeline(words, 0)?;
        let [width, height] = pass.extent;
        let groups = groups([width, height, pass.layers], [FRAME_GROUP, FRAME_GROUP, 1]);
        bound.run(&pipeline, groups, &[], &mut memory)?;
    }
    Ok(memory)
}

/// A step with its pipeline.
enum PreparedStep<'a> {
    /// `texels`: texels of a workgroup; `None` for a shader with a shading rate.
    Dispatch {
        pipeline: Pipeline,
        texels: Option<[u32; 3]>,
    },
    Draw {
        fragment: &'a [u32],
        per_tile: bool,
    },
}

/// Runs the pass natively.
///
/// # Errors
/// The device does not support it, or failed.
pub(super) fn native(device: &Device, pass: &Pass, limit: Duration) -> Result<TilePassOutput, Error> {
    let kind = |access| match access {
        ImageAccess::Storage => DescriptorKind::StorageImage,
        ImageAccess::Sampled => DescriptorKind::SampledImage,
    };
    let attachments: Vec<_> = pass
        .attachments
        .iter()
        .enumerate()
        .map(|(index, attachment)| TileAttachment {
            image: image(pass, index),
            role: attachment.role,
            bindings: attachment.bindings.iter().map(|&(binding, access)| (0, binding, kind(access))).collect(),
            sampler: None,
            data: &attachment.data,
        })
        .collect();
    let buffers: Vec<_> =
        pass.buffers.iter().map(|buffer| TileBuffer { set: 0, binding: buffer.binding, data: &buffer.data }).collect();
    let mut layout: Vec<BindingLayout> = attachments
        .iter()
        .flat_map(|a| a.bindings.iter().map(|&(set, binding, kind)| BindingLayout::new(set, binding, kind, 1)))
        .collect();
    layout.extend(buffers.iter().map(|b| BindingLayout::new(0, b.binding, DescriptorKind::StorageBuffer, 1)));
    let mut made = Vec::new();
    for step in &pass.steps {
        made.push(match step.stage {
            StepStage::Compute { texels } => {
                let bindings = Bindings::Listed(&layout);
                let pipeline = device.pipeline(&PipelineDesc { bindings, ..PipelineDesc::new(&step.words, 0) })?;
                PreparedStep::Dispatch { pipeline, texels: (!is_rated(&step.words)).then_some(texels) }
            }
            StepStage::Fragment { per_tile } => PreparedStep::Draw { fragment: &step.words, per_tile },
        });
    }
    let mut steps = Vec::new();
    for (index, made) in made.iter().enumerate() {
        if index > 0 && pass.steps[index].barrier {
            steps.push(TileStep::Barrier);
        }
        let push_constants: &[u8] = &[];
        steps.push(match made {
            PreparedStep::Dispatch { pipeline, texels: None } => TileStep::DispatchTile { pipeline, push_constants },
            PreparedStep::Dispatch { pipeline, texels: Some(texels) } => {
                TileStep::Cover { pipeline, push_constants, texels: *texels }
            }
            PreparedStep::Draw { fragment, per_tile } => TileStep::Draw { fragment, per_tile: *per_tile },
        });
    }
    let pass = TilePass {
        form: pass.form,
        recording: PassRecording::Primary,
        extent: pass.extent,
        layers: pass.layers,
        area: pass.area,
        apron: pass.apron,
        attachments: &attachments,
        buffers: &buffers,
        steps: &steps,
    };
    device.tile_pass(&pass, limit)
}

/// Returns true if the module declares a shading rate.
fn is_rated(words: &[u32]) -> bool {
    use assay_spirv::tables::ExecutionMode;
    Module::parse(words.to_vec()).is_ok_and(|module| {
        let mut modes = module.section(assay_spirv::module::Section::ExecutionModes);
        modes.any(|i| i.operand(1) == Some(ExecutionMode::TileShadingRateQCOM.word()))
    })
}
