//! Runs a pass on a device without the extension: lowered, tile by tile, and as an ordinary shader
//! over the whole frame.

use super::model::{self, Executor, PassResults};
use super::pass::{Pass, PermittedContents, StepError, groups, step_groups};
use super::shader_text::FRAME_GROUP;
use assay_exec::{
    Descriptor, DispatchSeries, ExecError, ImageAccess, ImageShape, PassContents, SeriesModule, SeriesRequest, Target,
    TargetError,
};
use assay_oracle::{Buffer, Dispatch, Image, Resource, Slot, Tile};
use assay_spirv::reflect::DescriptorKind;
use assay_spirv::tables::Dim;
use assay_spirv_lower::LowerError;
use assay_spirv_lower::tile::{LoweredTileShader, TilePushConstants, lower};
use assay_texture::{ImageView, TexelFormat};

/// Reason why a pass cannot be lowered.
#[derive(Debug, thiserror::Error)]
pub(super) enum PassLowerError {
    /// A step is not a valid module.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The lowering does not support the case's module.
    #[error(transparent)]
    Lower(#[from] LowerError),
}

/// Lowers the modules of a pass.
///
/// # Errors
/// A step is not a valid module or cannot be lowered.
pub(super) fn lowered(pass: &Pass, local_size: [u32; 3]) -> Result<Vec<LoweredTileShader>, PassLowerError> {
    pass.steps.iter().map(|step| Ok(lower(&pass.compute(step)?, local_size)?)).collect()
}

/// Description of running a lowered pass, for errors.
const DURING: &str = "running the lowered pass";

/// Runs the modules of [`lowered`] for each tile, and the ordinary shaders over the whole frame if
/// there are any.
///
/// # Errors
/// The device does not support the modules, or failed.
pub(super) fn run(
    target: &dyn Target,
    pass: &Pass,
    lowered: &[LoweredTileShader],
    tiles: &[Tile],
) -> Result<(PassResults, Option<PassContents>), TargetError> {
    let steps = lowered.iter().map(|step| SeriesModule { words: &step.words, push_constants: step.push_bytes() });
    let frame = pass.full_frame.iter().map(|words| SeriesModule { words, push_constants: 0 });
    let modules: Vec<SeriesModule<'_>> = steps.chain(frame).collect();
    let resources = PassResources::new(pass)?;
    let dispatch = resources.dispatch(&pass.contents(), [1; 3], Vec::new());
    let request =
        SeriesRequest { during: DURING, modules: &modules, descriptors: &resources.descriptors, dispatch: &dispatch };
    let mut done = None;
    target.run_series(&request, &mut |series| {
        let mut executor = LoweredExecutor { resources: &resources, lowered, series };
        let left = model::run(pass, tiles, &mut executor)?;
        let frame = match pass.full_frame.is_empty() {
            true => None,
            false => Some(executor.full_frame()?),
        };
        done = Some((left, frame));
        Ok(())
    })?;
    done.ok_or_else(|| ExecError::Internal(format!("{DURING}: nothing was done")).into())
}

/// The images and buffers of a pass as descriptors.
struct PassResources<'a> {
    pass: &'a Pass,
    descriptors: Vec<Descriptor>,
    /// The pass's attachment or buffer behind each descriptor.
    origins: Vec<ResourceOrigin>,
}

#[derive(Clone, Copy)]
enum ResourceOrigin {
    Attachment(usize),
    Buffer(usize),
}

impl<'a> PassResources<'a> {
    fn new(pass: &'a Pass) -> Result<Self, TargetError> {
        let (mut descriptors, mut origins) = (Vec::new(), Vec::new());
        let mut add = |binding, kind, texels, data: &[u8], origin| {
            descriptors.push(Descriptor {
                slot: Slot::new(0, binding),
                name: None,
                kind,
                block: None,
                texels,
                compares_depth: false,
                may_be_written: kind != DescriptorKind::SampledImage,
                bytes: data.len() as u64,
            });
            origins.push(origin);
        };
        for (index, attachment) in pass.attachments.iter().enumerate() {
            let shape = ImageShape::new(image(pass, index), pass.layers > 1);
            let shape = shape.ok_or_else(|| ExecError::Internal(format!("attachment {index} has no texel format")))?;
            for &(binding, access) in &attachment.bindings {
                let kind = match access {
                    ImageAccess::Storage => DescriptorKind::StorageImage,
                    ImageAccess::Sampled => DescriptorKind::SampledImage,
                };
                add(binding, kind, Some(shape.clone()), &attachment.data, ResourceOrigin::Attachment(index));
            }
        }
        for (index, buffer) in pass.buffers.iter().enumerate() {
            let kind = DescriptorKind::StorageBuffer;
            add(buffer.binding, kind, None, &buffer.data, ResourceOrigin::Buffer(index));
        }
        Ok(PassResources { pass, descriptors, origins })
    }

    /// Returns a dispatch with these contents.
    fn dispatch(&self, contents: &PassContents, groups: [u32; 3], push_constants: Vec<u8>) -> Dispatch {
        let resource = |descriptor: &Descriptor, origin| match (origin, &descriptor.texels) {
            (ResourceOrigin::Attachment(index), Some(texels)) => {
                Resource::Image(texels.image(contents.attachments[index].clone()))
            }
            (ResourceOrigin::Attachment(index), None) => buffer(&contents.attachments[index]),
            (ResourceOrigin::Buffer(index), _) => buffer(&contents.buffers[index]),
        };
        let bound = self.descriptors.iter().zip(&self.origins);
        let bindings = bound.map(|(descriptor, &origin)| (descriptor.slot, resource(descriptor, origin))).collect();
        Dispatch { groups, push_constants, bindings, ..Dispatch::default() }
    }

    /// Runs a module of a series and updates the contents.
    fn run(
        &self,
        (series, module): (&mut dyn DispatchSeries, usize),
        groups: [u32; 3],
        push_constants: Vec<u8>,
        contents: &mut PassContents,
    ) -> Result<(), TargetError> {
        let output = series.run(module, &self.dispatch(contents, groups, push_constants))?;
        let bound = self.descriptors.iter().zip(&self.origins);
        for (descriptor, &origin) in bound.filter(|(descriptor, _)| descriptor.is_read_back()) {
            let missing = || ExecError::Internal(format!("{DURING}: no contents of {}", descriptor.slot));
            let data = output.memory.get(&descriptor.slot).ok_or_else(missing)?;
            match origin {
                ResourceOrigin::Attachment(index) => contents.attachments[index].clone_from(data),
                ResourceOrigin::Buffer(index) => contents.buffers[index].clone_from(data),
            }
        }
        Ok(())
    }
}

fn buffer(data: &[u8]) -> Resource {
    Resource::Buffer(Buffer { data: data.to_vec(), address: None })
}

/// Returns an ordinary image with the texels of an attachment. Stencil becomes `R8ui`, because not
/// every device can sample stencil.
fn image(pass: &Pass, index: usize) -> Image {
    let (attachment, [width, height]) = (&pass.attachments[index], pass.extent);
    Image {
        dim: Dim::Dim2D,
        extent: [width, height, 1],
        layers: pass.layers,
        levels: 1,
        samples: 1,
        format: attachment.memory_format(),
        depth: attachment.format == TexelFormat::Depth32,
        view: ImageView::ALL,
        data: Vec::new(),
    }
}

/// Runs lowered modules in a series of dispatches, in which the modules over the whole frame follow
/// them.
struct LoweredExecutor<'a> {
    resources: &'a PassResources<'a>,
    lowered: &'a [LoweredTileShader],
    series: &'a mut dyn DispatchSeries,
}

impl Executor for LoweredExecutor<'_> {
    type Error = TargetError;

    fn step(&mut self, step: usize, tile: &Tile, memory: &mut PermittedContents) -> Result<(), TargetError> {
        let lowered = &self.lowered[step];
        let values = TilePushConstants { offset: tile.offset, size: tile.size, apron: tile.apron };
        let cover = step_groups(&self.resources.pass.steps[step], tile.size);
        let groups = lowered.groups(&values).unwrap_or(cover);
        let push = lowered.push_constants(&[], &values);
        self.resources.run((&mut *self.series, step), groups, push, &mut memory.contents)
    }
}

impl LoweredExecutor<'_> {
    /// Runs the ordinary shaders over the whole frame.
    fn full_frame(&mut self) -> Result<PassContents, TargetError> {
        let pass = self.resources.pass;
        let mut memory = pass.contents();
        for module in 0..pass.full_frame.len() {
            let [width, height] = pass.extent;
            let groups = groups([width, height, pass.layers], [FRAME_GROUP, FRAME_GROUP, 1]);
            let module = self.lowered.len() + module;
            self.resources.run((&mut *self.series, module), groups, Vec::new(), &mut memory)?;
        }
        Ok(memory)
    }
}
