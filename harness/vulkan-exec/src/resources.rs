//! Vulkan's descriptions of what a dispatch binds.

use assay_exec::{Descriptor, ImageShape};
use assay_oracle::{Dispatch, Image, Resource as Bound, Robustness, Slot};
use assay_spirv::reflect::DescriptorKind;
use assay_spirv::tables::Dim;
use assay_vulkan::{BufferSpec, ImageDim, ImageSpec, Resource, ResourceSpec, SamplerSpec, SpecConstant, TexelFormat};
use std::collections::BTreeSet;

/// Returns the resources that a dispatch binds.
pub(crate) fn resources(descriptors: &[Descriptor], dispatch: &Dispatch) -> Vec<ResourceSpec> {
    let mut resources = Vec::new();
    for descriptor in descriptors {
        let bound = dispatch.bindings.get(&descriptor.slot);
        let sampler = match bound {
            Some(Bound::CombinedImageSampler(_, sampler) | Bound::Sampler(sampler)) => Some(*sampler),
            _ => None,
        };
        let resource = match (bound.and_then(Bound::bytes), &descriptor.texels, descriptor.kind) {
            (_, None, DescriptorKind::Sampler) => Resource::Sampler(sampler.unwrap_or(SamplerSpec::NEAREST)),
            (None, ..) => continue,
            (Some(data), ..) if descriptor.is_addressed() => Resource::Addressed { bytes: data.len() },
            (Some(_), Some(texels), kind) => image_resource(texels, kind, sampler),
            (Some(data), None, DescriptorKind::UniformBuffer) => Resource::UniformBuffer { bytes: data.len() },
            (Some(data), None, _) => Resource::StorageBuffer(BufferSpec::in_out(data.len())),
        };
        let Slot { set, binding, element } = descriptor.slot;
        resources.push(ResourceSpec { set, binding, element, resource });
    }
    resources
}

/// Returns the resource of an image or texel buffer; a combined descriptor includes the sampler.
fn image_resource(texels: &ImageShape, kind: DescriptorKind, sampler: Option<SamplerSpec>) -> Resource {
    let image = texels.without_contents();
    let &Image { extent, layers, levels, samples, view, .. } = image;
    let format = if image.depth { TexelFormat::Depth32 } else { TexelFormat::Color(image.format) };
    let dim = match image.dim {
        Dim::Dim1D | Dim::Buffer => ImageDim::D1,
        Dim::Dim3D => ImageDim::D3,
        Dim::Cube => ImageDim::Cube,
        _ => ImageDim::D2,
    };
    let spec = ImageSpec { dim, arrayed: texels.is_arrayed(), extent, layers, levels, samples, format, view };
    match kind {
        DescriptorKind::StorageImage => Resource::StorageImage(spec),
        DescriptorKind::CombinedImageSampler => {
            Resource::CombinedImageSampler(spec, sampler.unwrap_or(SamplerSpec::NEAREST))
        }
        _ if image.dim == Dim::Buffer => {
            let storage = kind == DescriptorKind::StorageTexelBuffer;
            Resource::TexelBuffer { format, texels: extent[0] as usize, storage }
        }
        _ => Resource::SampledImage(spec),
    }
}

/// Returns the slot of a resource.
pub(crate) fn slot_of(spec: &ResourceSpec) -> Slot {
    Slot { set: spec.set, binding: spec.binding, element: spec.element }
}

/// Returns the value of a specialisation constant.
pub(crate) fn spec_constant(id: u32, width: u32, bits: u64) -> SpecConstant {
    match width {
        8 => SpecConstant::bits8(id, bits as u8),
        16 => SpecConstant::bits16(id, bits as u16),
        64 => SpecConstant::bits64(id, bits),
        _ => SpecConstant::bits32(id, bits as u32),
    }
}

/// Returns the features that a dispatch requires for its robustness, given the kinds of its
/// resources.
pub(crate) fn robustness_features(descriptors: &[Descriptor], robustness: Robustness) -> BTreeSet<String> {
    use DescriptorKind as K;
    let image = |d: &Descriptor| matches!(d.kind, K::StorageImage | K::SampledImage | K::CombinedImageSampler);
    let (any_image, any_buffer) = (descriptors.iter().any(image), descriptors.iter().any(|d| !image(d)));
    let names: &[(&str, bool)] = match robustness {
        Robustness::None => &[],
        Robustness::Access => &[("robustBufferAccess", any_buffer), ("robustImageAccess", any_image)],
        // The features of version 2 require those of version 1.
        Robustness::Access2 => &[
            ("robustBufferAccess", any_buffer),
            ("robustBufferAccess2", any_buffer),
            ("robustImageAccess", any_image),
            ("robustImageAccess2", any_image),
        ],
    };
    names.iter().filter(|(_, wanted)| *wanted).map(|(name, _)| (*name).to_owned()).collect()
}
