//! What the kernel of a case is called with, and the program that it becomes.

use super::form::{Access, Arrays, Form, IMAGES, INVOCATIONS, Names};
use super::kernel::Writer;
use super::second;
use crate::bytes::name;
use crate::{Lowered, Program};
use assay_check::{BindingName, ImageForm, Kernel, Options, SamplerForm, Source};
use assay_spirv::kernel::{Argument, DescriptorAt, ImageHandle, KernelCall, SamplerHandle};
use assay_spirv::lower::bindless::{Indexing, lower};
use assay_spirv::{Module, Style, assemble, disassemble};
use std::sync::Arc;

/// The bindings of set 1: images, those that are written beside them, samplers, and images with their samplers.
pub(super) const IMAGES_AT: u32 = 0;
pub(super) const OTHERS_AT: u32 = 1;
pub(super) const SAMPLERS_AT: u32 = 2;
pub(super) const SAMPLED_AT: u32 = 3;

/// The handles of images that are written beside others: none is one of theirs.
pub(super) fn others(form: &Form) -> [u64; IMAGES] {
    let taken = form.names.handles(form.wide);
    let names = if form.names == Names::Apart { Names::Upper } else { Names::Apart };
    let others = names.handles(form.wide);
    assert!(others.iter().all(|other| !taken.contains(other)), "names of images are apart");
    others
}

/// What handles name in the form's kernel: with the images' and samplers' states.
struct Named {
    call: KernelCall,
    images: Vec<(BindingName, ImageForm)>,
    samplers: Vec<(BindingName, SamplerForm)>,
    inputs: Vec<(BindingName, Source)>,
}

fn at(binding: u32, element: usize) -> DescriptorAt {
    DescriptorAt { set: 1, binding, element: element as u32 }
}

fn named(binding: u32, element: usize) -> BindingName {
    format!("1.{binding}[{element}]").parse().unwrap_or_else(|_| name(binding))
}

impl Named {
    fn new(form: &Form, arguments: Vec<Argument>) -> Named {
        let call = KernelCall { arguments, ..KernelCall::default() };
        let mut all = Named { call, images: Vec::new(), samplers: Vec::new(), inputs: Vec::new() };
        let handles = form.names.handles(form.wide);
        // Nothing is fetched from a cube: what is read is a storage image.
        let reads = matches!(form.access, Access::Read | Access::Copy) && form.shape.cubes();
        let stored = reads || matches!(form.access, Access::Write | Access::ReadWrite);
        let binding = if form.access.brings_sampler() { SAMPLED_AT } else { IMAGES_AT };
        for (k, handle) in handles.into_iter().enumerate() {
            let image = all.image(form, k, (handle, at(binding, k)), stored);
            let to = if form.access.brings_sampler() { &mut all.call.sampled_images } else { &mut all.call.images };
            to.push(image);
        }
        for (k, handle) in others(form).into_iter().enumerate().filter(|_| form.access == Access::Copy) {
            let image = all.image(form, k + IMAGES, (handle, at(OTHERS_AT, k)), true);
            all.call.images.push(image);
        }
        let binding = match form.access {
            _ if form.access.takes_sampler() => SAMPLERS_AT,
            _ if form.access.brings_sampler() => SAMPLED_AT,
            _ => return all,
        };
        for (k, handle) in handles.into_iter().enumerate() {
            all.samplers.push((named(binding, k), SamplerForm::of(&form.sampler(k))));
            if form.access.takes_sampler() {
                all.call.samplers.push(SamplerHandle { handle, at: at(binding, k) });
            }
        }
        all
    }

    /// An image with its texels; `k` counts on beyond those that are alike, for other texels.
    fn image(&mut self, form: &Form, k: usize, (handle, at): (u64, DescriptorAt), storage: bool) -> ImageHandle {
        let sides = form.shape.sides(k % IMAGES);
        let (along, layers) = sides.split_at(sides.len() - usize::from(form.shape.layered()));
        let name = named(at.binding, at.element as usize);
        let shape = ImageForm {
            size: Some(along.to_vec()),
            layers: layers.first().copied(),
            levels: Some(1),
            format: Some(format!("{:?}", form.format)),
            ..ImageForm::default()
        };
        self.images.push((name.clone(), shape));
        let texels: u32 = sides.iter().product();
        let bytes = (0..texels as usize).flat_map(|texel| second::raw(form.format, k, texel)).collect();
        self.inputs.push((name, Source::Bytes(bytes)));
        ImageHandle { handle, at, dim: form.shape.dim(), arrayed: form.shape.arrayed(), format: form.format, storage }
    }
}

/// The program of a form. A kernel that is not lowered is no shader, with the reason in its place.
pub(super) fn program(form: Form, lowers: bool) -> Program {
    let mut writer = Writer::new(form);
    let mut results = None;
    if let Some(found) = writer.found() {
        results = Some(writer.arguments.len() as u32);
        let words = writer.words();
        let to = writer.buffer(&words, vec![0xa5; INVOCATIONS * 16]);
        let index = writer.index.clone();
        let to = writer.at(&words, &to, &index);
        writer.shader.run(format_args!("OpStore {to} {found} Aligned 16"));
    }
    let Writer { shader, arguments, push, mut inputs, .. } = writer;
    let text = shader.finish();
    let Named { call, images, samplers, inputs: texels } = Named::new(&form, arguments);
    inputs.extend(texels);
    let lowered = |how| -> Result<Vec<u32>, String> {
        let module = Module::parse(assemble(&text).map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
        lower(&module, &call, how).map_err(|e| e.to_string())
    };
    let interface = lowered(Indexing::Switch).and_then(|words| Module::parse(words).map_err(|e| e.to_string()));
    let (text_or_reason, kernel) = match interface {
        Ok(interface) => (text.clone(), Some(Kernel { call: call.clone(), interface: Arc::new(interface) })),
        Err(error) => (format!("not lowered: {error}\n{text}"), None),
    };
    let options = Options {
        groups: Some([2, 1, 1]),
        inputs,
        images,
        samplers,
        push: (!push.is_empty()).then_some(Source::Bytes(padded(push))),
        kernel,
        ..Options::default()
    };
    let program = Program::new(text_or_reason, options).with_second(second::left(form, results));
    if !lowers {
        return program;
    }
    // Indexed where the device can, else with a case for each descriptor.
    let ways: &[Indexing] = match form.arrays {
        Arrays::Fixed => &[Indexing::NonUniform, Indexing::Switch],
        Arrays::Runtime => &[Indexing::Runtime, Indexing::NonUniform, Indexing::Switch],
    };
    let alternatives = ways.iter().map(|how| {
        let words = lowered(*how).and_then(|words| disassemble(&words, Style::default()).map_err(|e| e.to_string()));
        Lowered { text: words.unwrap_or_else(|error| format!("not lowered: {error}")), features: &[], extensions: &[] }
    });
    program.lowered(alternatives.collect())
}

/// Push constants take whole words.
fn padded(mut push: Vec<u8>) -> Vec<u8> {
    push.resize(push.len().next_multiple_of(4), 0xee);
    push
}
