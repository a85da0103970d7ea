//! The arguments of a case's kernel, and its program.

use super::bindless_params::{ArrayKind, BindlessParams, HandleSpacing, IMAGES, INVOCATIONS, ImageOperation};
use super::bindless_reference;
use super::kernel_builder::KernelBuilder;
use crate::bytes::binding_name;
use crate::{LoweredModule, Program};
use assay_check::{BindingName, BindingSource, ImageConfig, KernelLaunch, Options, SamplerConfig};
use assay_spirv::kernel_call::{Argument, DescriptorPosition, ImageHandle, KernelCall, SamplerHandle};
use assay_spirv::{Module, Style, assemble, disassemble};
use assay_spirv_lower::bindless::{DescriptorIndexing, lower};
use std::sync::Arc;

/// Bindings in set 1: images, images that `Copy` writes, samplers, and combined images and
/// samplers.
pub(super) const IMAGES_AT: u32 = 0;
pub(super) const OTHERS_AT: u32 = 1;
pub(super) const SAMPLERS_AT: u32 = 2;
pub(super) const SAMPLED_AT: u32 = 3;

/// The handles of the images that `Copy` writes; they differ from all others.
pub(super) fn others(params: &BindlessParams) -> [u64; IMAGES] {
    let taken = params.spacing.handles(params.wide);
    let spacing = if params.spacing == HandleSpacing::Apart { HandleSpacing::Upper } else { HandleSpacing::Apart };
    let others = spacing.handles(params.wide);
    assert!(others.iter().all(|other| !taken.contains(other)), "names of images are apart");
    others
}

/// The call of the kernel: the objects that its handles denote, and their contents and states.
struct KernelSetup {
    call: KernelCall,
    images: Vec<(BindingName, ImageConfig)>,
    samplers: Vec<(BindingName, SamplerConfig)>,
    inputs: Vec<(BindingName, BindingSource)>,
}

fn at(binding: u32, element: usize) -> DescriptorPosition {
    DescriptorPosition { set: 1, binding, element: element as u32 }
}

fn named(binding: u32, element: usize) -> BindingName {
    format!("1.{binding}[{element}]").parse().unwrap_or_else(|_| binding_name(binding))
}

impl KernelSetup {
    fn new(params: &BindlessParams, arguments: Vec<Argument>) -> KernelSetup {
        let call = KernelCall { arguments, ..KernelCall::default() };
        let mut all = KernelSetup { call, images: Vec::new(), samplers: Vec::new(), inputs: Vec::new() };
        let handles = params.spacing.handles(params.wide);
        // The lowering has no fetches from cubes, so an image that is read is a storage image.
        let reads = matches!(params.access, ImageOperation::Read | ImageOperation::Copy) && params.shape.cubes();
        let stored = reads || matches!(params.access, ImageOperation::Write | ImageOperation::ReadWrite);
        let binding = if params.access.brings_sampler() { SAMPLED_AT } else { IMAGES_AT };
        for (k, handle) in handles.into_iter().enumerate() {
            let image = all.image(params, k, (handle, at(binding, k)), stored);
            let to = if params.access.brings_sampler() { &mut all.call.sampled_images } else { &mut all.call.images };
            to.push(image);
        }
        for (k, handle) in others(params).into_iter().enumerate().filter(|_| params.access == ImageOperation::Copy) {
            let image = all.image(params, k + IMAGES, (handle, at(OTHERS_AT, k)), true);
            all.call.images.push(image);
        }
        let binding = match params.access {
            _ if params.access.takes_sampler() => SAMPLERS_AT,
            _ if params.access.brings_sampler() => SAMPLED_AT,
            _ => return all,
        };
        for (k, handle) in handles.into_iter().enumerate() {
            all.samplers.push((named(binding, k), SamplerConfig::of(&params.sampler(k))));
            if params.access.takes_sampler() {
                all.call.samplers.push(SamplerHandle { handle, at: at(binding, k) });
            }
        }
        all
    }

    /// Adds an image with its texels; `k` selects the texels, also beyond the number of images.
    fn image(
        &mut self,
        params: &BindlessParams,
        k: usize,
        (handle, at): (u64, DescriptorPosition),
        storage: bool,
    ) -> ImageHandle {
        let sides = params.shape.sides(k % IMAGES);
        let (along, layers) = sides.split_at(sides.len() - usize::from(params.shape.layered()));
        let name = named(at.binding, at.element as usize);
        let shape = ImageConfig {
            size: Some(along.to_vec()),
            layers: layers.first().copied(),
            levels: Some(1),
            format: Some(format!("{:?}", params.format)),
            ..ImageConfig::default()
        };
        self.images.push((name.clone(), shape));
        let texels: u32 = sides.iter().product();
        let bytes = (0..texels as usize).flat_map(|texel| bindless_reference::raw(params.format, k, texel)).collect();
        self.inputs.push((name, BindingSource::Bytes(bytes)));
        ImageHandle {
            handle,
            at,
            dim: params.shape.dim(),
            arrayed: params.shape.arrayed(),
            format: params.format,
            storage,
        }
    }
}

/// Builds the program. If the lowering fails, the text is not a valid module and states the reason.
pub(super) fn program(params: BindlessParams, lowers: bool) -> Program {
    let mut kernel = KernelBuilder::new(params);
    let mut results = None;
    if let Some(found) = kernel.emit() {
        results = Some(kernel.arguments.len() as u32);
        let words = kernel.words();
        let to = kernel.buffer(&words, vec![0xa5; INVOCATIONS * 16]);
        let index = kernel.index.clone();
        let to = kernel.at(&words, &to, &index);
        kernel.shader.run(format_args!("OpStore {to} {found} Aligned 16"));
    }
    let KernelBuilder { shader, arguments, push, mut inputs, .. } = kernel;
    let text = shader.finish();
    let KernelSetup { call, images, samplers, inputs: texels } = KernelSetup::new(&params, arguments);
    inputs.extend(texels);
    let lowered = |how| -> Result<Vec<u32>, String> {
        let module = Module::parse(assemble(&text).map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
        lower(&module, &call, how).map_err(|e| e.to_string())
    };
    let interface =
        lowered(DescriptorIndexing::Switch).and_then(|words| Module::parse(words).map_err(|e| e.to_string()));
    let (text_or_reason, kernel) = match interface {
        Ok(interface) => (text.clone(), Some(KernelLaunch { call: call.clone(), interface: Arc::new(interface) })),
        Err(error) => (format!("lowering failed: {error}\n{text}"), None),
    };
    let options = Options {
        groups: Some([2, 1, 1]),
        inputs,
        images,
        samplers,
        push: (!push.is_empty()).then_some(BindingSource::Bytes(padded(push))),
        kernel,
        ..Options::default()
    };
    let program =
        Program::new(text_or_reason, options).with_reference(bindless_reference::memory_after(params, results));
    if !lowers {
        return program;
    }
    // Dynamic indexing if the device supports it, otherwise a switch over the descriptors.
    let ways: &[DescriptorIndexing] = match params.arrays {
        ArrayKind::Fixed => &[DescriptorIndexing::NonUniform, DescriptorIndexing::Switch],
        ArrayKind::Runtime => {
            &[DescriptorIndexing::Runtime, DescriptorIndexing::NonUniform, DescriptorIndexing::Switch]
        }
    };
    let alternatives = ways.iter().map(|how| {
        let words = lowered(*how).and_then(|words| disassemble(&words, Style::default()).map_err(|e| e.to_string()));
        LoweredModule {
            text: words.unwrap_or_else(|error| format!("lowering failed: {error}")),
            features: &[],
            extensions: &[],
        }
    });
    program.with_lowered(alternatives.collect())
}

/// Pads push constants to whole words.
fn padded(mut push: Vec<u8>) -> Vec<u8> {
    push.resize(push.len().next_multiple_of(4), 0xee);
    push
}
