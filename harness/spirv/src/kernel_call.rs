//! Calls of OpenCL kernels that are interpreted or lowered: arguments, and the images that the
//! handles of `SPV_INTEL_bindless_images` denote. A module determines neither, so the caller
//! supplies both.

use crate::tables::{Dim, ImageFormat};
use std::collections::BTreeSet;

/// Position of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DescriptorPosition {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Index in the binding's array of descriptors.
    pub element: u32,
}

/// Argument for a kernel parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A value in the push constants.
    Value {
        /// Offset of its first byte.
        offset: u32,
    },
    /// A pointer to the first byte of a storage buffer.
    Buffer {
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
    },
}

/// Kind of object that a handle is converted to. Each kind has its own handles: equal numbers of
/// different kinds are different handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HandleKind {
    /// `OpConvertHandleToImageINTEL`.
    Image,
    /// `OpConvertHandleToSamplerINTEL`.
    Sampler,
    /// `OpConvertHandleToSampledImageINTEL`.
    SampledImage,
}

impl std::fmt::Display for HandleKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            HandleKind::Image => "image",
            HandleKind::Sampler => "sampler",
            HandleKind::SampledImage => "sampled image",
        })
    }
}

/// The image that a handle denotes, with or without a sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageHandle {
    /// The handle.
    pub handle: u64,
    /// Its descriptor.
    pub at: DescriptorPosition,
    /// Dimensionality of the image view.
    pub dim: Dim,
    /// Set if the view is an array.
    pub arrayed: bool,
    /// Storage format of a texel; not `Unknown`.
    pub format: ImageFormat,
    /// Set for a storage image or storage texel buffer, which can be written; unset for an image
    /// that is sampled or fetched from.
    pub storage: bool,
}

/// The sampler that a handle denotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplerHandle {
    /// The handle.
    pub handle: u64,
    /// Its descriptor.
    pub at: DescriptorPosition,
}

/// Arguments and handles for a call of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelCall {
    /// Argument of each parameter.
    pub arguments: Vec<Argument>,
    /// Handles of images.
    pub images: Vec<ImageHandle>,
    /// Handles of samplers.
    pub samplers: Vec<SamplerHandle>,
    /// Handles of images with their samplers.
    pub sampled_images: Vec<ImageHandle>,
}

/// An error in a [`KernelCall`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// A handle denotes two descriptors.
    #[error("handle {handle:#x} denotes two {kind}s; use a different handle for each")]
    DuplicateHandle {
        /// Kind of the handle.
        kind: HandleKind,
        /// The handle.
        handle: u64,
    },
    /// A sampled image handle denotes a storage image.
    #[error("sampled image handle {handle:#x} denotes a storage image; use a combined image sampler")]
    StorageImageSampled {
        /// The handle.
        handle: u64,
    },
    /// The format of an image is `Unknown`.
    #[error("handle {handle:#x} denotes an image without a known format")]
    UnknownFormat {
        /// The handle.
        handle: u64,
    },
}

/// A handle that denotes a descriptor.
#[derive(Clone, Copy, Debug)]
pub struct DescriptorHandle {
    /// Kind of the handle.
    pub kind: HandleKind,
    /// The handle.
    pub handle: u64,
    /// The descriptor.
    pub at: DescriptorPosition,
}

impl KernelCall {
    /// Returns every handle.
    pub fn handles(&self) -> impl Iterator<Item = DescriptorHandle> {
        let of = |kind| move |image: &ImageHandle| DescriptorHandle { kind, handle: image.handle, at: image.at };
        let images = self.images.iter().map(of(HandleKind::Image));
        let samplers =
            self.samplers.iter().map(|s| DescriptorHandle { kind: HandleKind::Sampler, handle: s.handle, at: s.at });
        let sampled = self.sampled_images.iter().map(of(HandleKind::SampledImage));
        images.chain(samplers).chain(sampled)
    }

    /// Checks that every handle denotes one object of a suitable kind.
    ///
    /// # Errors
    /// The first handle that does not.
    pub fn check(&self) -> Result<(), CallError> {
        let mut seen = BTreeSet::new();
        for DescriptorHandle { kind, handle, .. } in self.handles() {
            if !seen.insert((kind, handle)) {
                return Err(CallError::DuplicateHandle { kind, handle });
            }
        }
        let unknown = |i: &&ImageHandle| i.format == ImageFormat::Unknown;
        if let Some(image) = self.images.iter().chain(&self.sampled_images).find(unknown) {
            return Err(CallError::UnknownFormat { handle: image.handle });
        }
        match self.sampled_images.iter().find(|i| i.storage) {
            Some(image) => Err(CallError::StorageImageSampled { handle: image.handle }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_of_a_kind_denote_one_object() {
        let at = DescriptorPosition { set: 1, binding: 0, element: 0 };
        let image =
            ImageHandle { handle: 7, at, dim: Dim::Dim2D, arrayed: false, format: ImageFormat::Rgba8, storage: false };
        let call = KernelCall {
            images: vec![image],
            samplers: vec![SamplerHandle { handle: 7, at }],
            sampled_images: vec![image],
            ..KernelCall::default()
        };
        assert_eq!(call.check(), Ok(()));
        let twice = KernelCall { images: vec![image; 2], ..call.clone() };
        assert_eq!(
            twice.check().unwrap_err().to_string(),
            "handle 0x7 denotes two images; use a different handle for each"
        );
        let storage = KernelCall { sampled_images: vec![ImageHandle { storage: true, ..image }], ..call.clone() };
        assert_eq!(storage.check(), Err(CallError::StorageImageSampled { handle: 7 }));
        let unknown = KernelCall { images: vec![ImageHandle { format: ImageFormat::Unknown, ..image }], ..call };
        assert_eq!(unknown.check(), Err(CallError::UnknownFormat { handle: 7 }));
    }
}
