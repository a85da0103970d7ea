//! Descriptions, without handles, of the resources that shaders bind: buffers, texel buffers,
//! images and samplers.

use assay_spirv::reflect::DescriptorKind;
pub use assay_texture::{AddressMode, BorderColor, CompareOp, ImageView, Sampler as SamplerSpec, TexelFormat};

use crate::dispatch_slot::{BufferSpec, Role};
use crate::error::Error;

/// One descriptor: its binding and its resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResourceSpec {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Index in the binding's array; 0 for a binding of one descriptor.
    pub element: u32,
    /// The bound resource.
    pub resource: Resource,
}

/// Resource of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resource {
    /// A storage buffer.
    StorageBuffer(BufferSpec),
    /// A uniform buffer.
    UniformBuffer {
        /// Bytes that the shader sees; not zero.
        bytes: usize,
    },
    /// A buffer seen as texels.
    TexelBuffer {
        /// Storage format of a texel.
        format: TexelFormat,
        /// Number of texels; not zero.
        texels: usize,
        /// Set for a storage texel buffer, which can be written; otherwise it is a uniform texel
        /// buffer.
        storage: bool,
    },
    /// An image that the shader reads and writes texel by texel.
    StorageImage(ImageSpec),
    /// An image that is fetched from, or sampled with the sampler of another binding.
    SampledImage(ImageSpec),
    /// An image with its sampler.
    CombinedImageSampler(ImageSpec, SamplerSpec),
    /// A sampler.
    Sampler(SamplerSpec),
    /// A buffer without a descriptor: shaders access it by its device address
    /// ([`DispatchSlot::address`](crate::DispatchSlot::address)). It needs `bufferDeviceAddress`.
    /// Set, binding and element have no meaning.
    Addressed {
        /// Bytes that the shader may access; not zero.
        bytes: usize,
    },
}

impl Resource {
    /// Returns the kind of its descriptor, or `None` for a resource without a descriptor.
    #[must_use]
    pub fn kind(&self) -> Option<DescriptorKind> {
        Some(match self {
            Resource::Addressed { .. } => return None,
            Resource::StorageBuffer(_) => DescriptorKind::StorageBuffer,
            Resource::UniformBuffer { .. } => DescriptorKind::UniformBuffer,
            Resource::TexelBuffer { storage: true, .. } => DescriptorKind::StorageTexelBuffer,
            Resource::TexelBuffer { storage: false, .. } => DescriptorKind::UniformTexelBuffer,
            Resource::StorageImage(_) => DescriptorKind::StorageImage,
            Resource::SampledImage(_) => DescriptorKind::SampledImage,
            Resource::CombinedImageSampler(..) => DescriptorKind::CombinedImageSampler,
            Resource::Sampler(_) => DescriptorKind::Sampler,
        })
    }

    /// Returns the size of its contents in bytes; 0 for a sampler. The contents of an image are
    /// ordered by level, then by layer, then by row, then by texel and sample, without padding.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the size exceeds the address space.
    pub fn bytes(&self) -> Result<usize, Error> {
        match self {
            Resource::StorageBuffer(spec) => Ok(spec.bytes),
            Resource::UniformBuffer { bytes } | Resource::Addressed { bytes } => Ok(*bytes),
            Resource::TexelBuffer { format, texels, .. } => texels
                .checked_mul(format.bytes())
                .ok_or_else(|| Error::invalid(format!("{texels} texels do not fit the address space"))),
            Resource::StorageImage(image)
            | Resource::SampledImage(image)
            | Resource::CombinedImageSampler(image, _) => image.bytes(),
            Resource::Sampler(_) => Ok(0),
        }
    }

    /// Returns the direction in which its contents are transferred.
    pub(crate) fn role(&self) -> Role {
        match self {
            Resource::StorageBuffer(spec) => spec.role,
            Resource::TexelBuffer { storage: true, .. } | Resource::StorageImage(_) | Resource::Addressed { .. } => {
                Role::InOut
            }
            Resource::UniformBuffer { .. }
            | Resource::TexelBuffer { storage: false, .. }
            | Resource::SampledImage(_)
            | Resource::CombinedImageSampler(..)
            | Resource::Sampler(_) => Role::Input,
        }
    }

    pub(crate) fn sampler(&self) -> Option<&SamplerSpec> {
        match self {
            Resource::CombinedImageSampler(_, sampler) | Resource::Sampler(sampler) => Some(sampler),
            Resource::StorageBuffer(_)
            | Resource::UniformBuffer { .. }
            | Resource::TexelBuffer { .. }
            | Resource::StorageImage(_)
            | Resource::SampledImage(_)
            | Resource::Addressed { .. } => None,
        }
    }
}

/// Dimensionality of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of SPIR-V's Dim")]
pub enum ImageDim {
    D1,
    D2,
    D3,
    Cube,
}

/// An image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSpec {
    /// Dimensionality of its view.
    pub dim: ImageDim,
    /// Set if the view is of an array.
    pub arrayed: bool,
    /// Texels of the first level along x, y, z; 1 in directions that the image does not have.
    pub extent: [u32; 3],
    /// Layers of the image. Its view shows one layer, or several if it is of an array; a cube has
    /// six.
    pub layers: u32,
    /// Mip levels of the image, each half as large as the one before.
    pub levels: u32,
    /// Samples of a texel; more than 1 for a multisampled image.
    pub samples: u32,
    /// Storage format of a texel.
    pub format: TexelFormat,
    /// Part of the image that the shader accesses. The view of a storage image shows one level and
    /// does not swizzle components.
    pub view: ImageView,
}

impl ImageSpec {
    /// Returns the texels of a level along x, y, z.
    #[must_use]
    pub fn extent_of(&self, level: u32) -> [u32; 3] {
        self.extent.map(|n| n.checked_shr(level).unwrap_or(0).max(1))
    }

    /// Returns the bytes of all levels, layers and samples.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the size exceeds the address space.
    pub fn bytes(&self) -> Result<usize, Error> {
        self.offset(self.levels)
    }

    /// Returns the byte offset of a level.
    pub(crate) fn offset(&self, level: u32) -> Result<usize, Error> {
        let mut total = 0usize;
        let slices = (self.layers as usize).saturating_mul(self.samples as usize);
        for level in 0..level {
            let texels = self.extent_of(level).into_iter().try_fold(slices, |n, side| n.checked_mul(side as usize));
            let sum = texels.and_then(|n| n.checked_mul(self.format.bytes())).and_then(|n| total.checked_add(n));
            let Some(sum) = sum else {
                return Err(Error::invalid(format!("an image of {:?} texels does not fit memory", self.extent)));
            };
            total = sum;
        }
        Ok(total)
    }
}

/// One binding of a pipeline's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BindingLayout {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Kind of descriptor.
    pub kind: DescriptorKind,
    /// Number of descriptors.
    pub count: u32,
}

impl BindingLayout {
    /// Describes a binding of `count` descriptors.
    #[must_use]
    pub fn new(set: u32, binding: u32, kind: DescriptorKind, count: u32) -> Self {
        Self { set, binding, kind, count }
    }

    /// Returns the layout for the given resources.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a descriptor occurs twice or is missing, or if the descriptors of a
    /// binding differ in kind.
    pub fn of(resources: &[ResourceSpec]) -> Result<Vec<BindingLayout>, Error> {
        let mut sorted: Vec<&ResourceSpec> = resources.iter().collect();
        sorted.sort_by_key(|r| (r.set, r.binding, r.element));
        let mut layout: Vec<BindingLayout> = Vec::new();
        for r in sorted {
            let Some(kind) = r.resource.kind() else { continue };
            let place = format!("set {}, binding {}, descriptor {}", r.set, r.binding, r.element);
            match layout.last_mut().filter(|last| (last.set, last.binding) == (r.set, r.binding)) {
                Some(last) if last.kind != kind => {
                    return Err(Error::invalid(format!("{place} is a {kind:?}, those before it a {:?}", last.kind)));
                }
                Some(last) if r.element == last.count => last.count += 1,
                None if r.element == 0 => layout.push(BindingLayout::new(r.set, r.binding, kind, 1)),
                Some(_) | None => {
                    return Err(Error::invalid(format!("{place} is given twice, or the one before it is missing")));
                }
            }
        }
        Ok(layout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_spirv::tables::ImageFormat;

    fn buffer(set: u32, binding: u32, element: u32) -> ResourceSpec {
        ResourceSpec { set, binding, element, resource: Resource::StorageBuffer(BufferSpec::in_out(4)) }
    }

    #[test]
    fn a_layout_counts_the_descriptors_of_each_binding() {
        let resources = [buffer(1, 0, 0), buffer(0, 3, 1), buffer(0, 3, 0)];
        let kind = DescriptorKind::StorageBuffer;
        assert_eq!(
            BindingLayout::of(&resources).unwrap(),
            [BindingLayout::new(0, 3, kind, 2), BindingLayout::new(1, 0, kind, 1)]
        );
        for wrong in [&[buffer(0, 0, 1)][..], &[buffer(0, 0, 0), buffer(0, 0, 0)], &[buffer(0, 0, 0), buffer(0, 0, 2)]]
        {
            assert!(BindingLayout::of(wrong).is_err());
        }
    }

    #[test]
    fn levels_of_an_image_lie_one_after_the_other() {
        let image = ImageSpec {
            dim: ImageDim::D2,
            arrayed: true,
            extent: [5, 3, 1],
            layers: 2,
            levels: 3,
            samples: 1,
            format: TexelFormat::Color(ImageFormat::Rgba8),
            view: ImageView::ALL,
        };
        assert_eq!([0, 1, 2, 3].map(|l| image.offset(l).unwrap()), [0, 120, 136, 144]);
        assert!(ImageSpec { extent: [u32::MAX; 3], ..image }.bytes().is_err());
    }
}
