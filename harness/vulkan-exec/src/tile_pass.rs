//! Render passes with tile shading on a device that has the extension.

use assay_exec::{AttachmentRole, ImageAccess, PassContents, PassForm, StepStage, TileGrid, TilePass, TilePassOutput};
use assay_spirv::Module;
use assay_spirv::module::Section;
use assay_spirv::reflect::DescriptorKind;
use assay_spirv::tables::ExecutionMode;
use assay_vulkan::{
    BindingLayout, Bindings, Device, Error, ImageDim, ImageSpec, ImageView, PassRecording, Pipeline, PipelineDesc,
    TileAttachment, TileBuffer, TileStep,
};
use std::time::Duration;

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

/// Runs a pass.
///
/// # Errors
/// The device does not support it, or failed.
pub(crate) fn run(device: &Device, pass: &TilePass<'_>, limit: Duration) -> Result<TilePassOutput, Error> {
    let kind = |access| match access {
        ImageAccess::Storage => DescriptorKind::StorageImage,
        ImageAccess::Sampled => DescriptorKind::SampledImage,
    };
    let [width, height] = pass.extent;
    let image = |format| ImageSpec {
        dim: ImageDim::D2,
        arrayed: pass.layers > 1,
        extent: [width, height, 1],
        layers: pass.layers,
        levels: 1,
        samples: 1,
        format,
        view: ImageView::ALL,
    };
    let attachments: Vec<_> = pass
        .attachments
        .iter()
        .map(|attachment| TileAttachment {
            image: image(attachment.format),
            role: role(attachment.role),
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
    for step in pass.steps {
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
    let output = device.tile_pass(
        &assay_vulkan::TilePass {
            form: form(pass.form),
            recording: PassRecording::Primary,
            extent: pass.extent,
            layers: pass.layers,
            area: pass.area,
            apron: pass.apron,
            attachments: &attachments,
            buffers: &buffers,
            steps: &steps,
        },
        limit,
    )?;
    let assay_vulkan::TileGrid { size, apron, origin } = output.grid;
    Ok(TilePassOutput {
        grid: TileGrid { size, apron, origin },
        contents: PassContents { attachments: output.attachments, buffers: output.buffers },
    })
}

fn role(role: AttachmentRole) -> assay_vulkan::AttachmentRole {
    match role {
        AttachmentRole::Color => assay_vulkan::AttachmentRole::Color,
        AttachmentRole::DepthStencil => assay_vulkan::AttachmentRole::DepthStencil,
        AttachmentRole::Input => assay_vulkan::AttachmentRole::Input,
    }
}

fn form(form: PassForm) -> assay_vulkan::PassForm {
    match form {
        PassForm::Objects => assay_vulkan::PassForm::Objects,
        PassForm::Dynamic => assay_vulkan::PassForm::Dynamic,
    }
}

/// Returns whether the module declares a shading rate.
fn is_rated(words: &[u32]) -> bool {
    Module::parse(words.to_vec()).is_ok_and(|module| {
        let mut modes = module.section(Section::ExecutionModes);
        modes.any(|i| i.operand(1) == Some(ExecutionMode::TileShadingRateQCOM.word()))
    })
}
