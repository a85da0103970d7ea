//! What a kernel is called with where it is interpreted or lowered: its arguments, and what the handles of
//! `SPV_INTEL_bindless_images` name. A module says nothing of either, so the caller does.

use crate::tables::{Dim, ImageFormat};
use std::collections::BTreeSet;

/// A descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DescriptorAt {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Place in the binding's array of descriptors.
    pub element: u32,
}

/// What a parameter of a kernel is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A value, from the push constants.
    Value {
        /// Where its first byte stands in them.
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

/// What is converted from a handle. Each kind has names of its own: one number may be a handle of each.
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

/// An image, with or without a sampler, that a handle names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageHandle {
    /// The handle.
    pub handle: u64,
    /// What it names.
    pub at: DescriptorAt,
    /// Dimensionality of the view.
    pub dim: Dim,
    /// Whether the view is of an array.
    pub arrayed: bool,
    /// How a texel is stored; not `Unknown`.
    pub format: ImageFormat,
    /// A storage image or storage texel buffer, which may be written, rather than one that is sampled and fetched from.
    pub storage: bool,
}

/// A sampler that a handle names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplerHandle {
    /// The handle.
    pub handle: u64,
    /// What it names.
    pub at: DescriptorAt,
}

/// What a kernel is called with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelCall {
    /// Of each parameter.
    pub arguments: Vec<Argument>,
    /// Handles of images.
    pub images: Vec<ImageHandle>,
    /// Handles of samplers.
    pub samplers: Vec<SamplerHandle>,
    /// Handles of images with their samplers.
    pub sampled_images: Vec<ImageHandle>,
}

/// Why a call is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// Two descriptors have one name.
    #[error("handle {handle:#x} names two {kind}s; each handle of a kind names one")]
    Twice {
        /// Of what kind.
        kind: HandleKind,
        /// The handle.
        handle: u64,
    },
    /// What is sampled is no storage image.
    #[error("sampled image handle {handle:#x} names a storage image; give it a combined image sampler")]
    SampledStorage {
        /// The handle.
        handle: u64,
    },
    /// A texel is stored somehow.
    #[error("handle {handle:#x} names an image of no known format")]
    Format {
        /// The handle.
        handle: u64,
    },
}

impl KernelCall {
    /// Every handle, with its kind and what it names.
    pub fn handles(&self) -> impl Iterator<Item = (HandleKind, u64, DescriptorAt)> {
        let images = self.images.iter().map(|i| (HandleKind::Image, i.handle, i.at));
        let samplers = self.samplers.iter().map(|s| (HandleKind::Sampler, s.handle, s.at));
        let sampled = self.sampled_images.iter().map(|i| (HandleKind::SampledImage, i.handle, i.at));
        images.chain(samplers).chain(sampled)
    }

    /// Whether each handle names one thing that can be named so.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), CallError> {
        let mut seen = BTreeSet::new();
        for (kind, handle, _) in self.handles() {
            if !seen.insert((kind, handle)) {
                return Err(CallError::Twice { kind, handle });
            }
        }
        let unknown = |i: &&ImageHandle| i.format == ImageFormat::Unknown;
        if let Some(image) = self.images.iter().chain(&self.sampled_images).find(unknown) {
            return Err(CallError::Format { handle: image.handle });
        }
        match self.sampled_images.iter().find(|i| i.storage) {
            Some(image) => Err(CallError::SampledStorage { handle: image.handle }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_names_one_thing_of_a_kind() {
        let at = DescriptorAt { set: 1, binding: 0, element: 0 };
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
            "handle 0x7 names two images; each handle of a kind names one"
        );
        let storage = KernelCall { sampled_images: vec![ImageHandle { storage: true, ..image }], ..call.clone() };
        assert_eq!(storage.check(), Err(CallError::SampledStorage { handle: 7 }));
        let unknown = KernelCall { images: vec![ImageHandle { format: ImageFormat::Unknown, ..image }], ..call };
        assert_eq!(unknown.check(), Err(CallError::Format { handle: 7 }));
    }
}
