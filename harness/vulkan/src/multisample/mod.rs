//! Copies between a buffer and the samples of an image.
//!
//! Vulkan's copy commands take single-sampled images only. An upload therefore draws the image: for
//! each layer and sample, a triangle over all texels whose fragments cover that sample alone. A
//! download fetches each sample in a compute shader. Both see the image as words without sign,
//! through a view of another format, so that every bit pattern passes unchanged; depths pass as
//! floats.
//!
//! Every upload is read back and compared ([`SampleTransfer::verify`]), so that an image that could
//! not be filled is not mistaken for a wrong result of the shader that reads it.

mod transfer_objects;

use std::sync::Arc;

use ash::vk;
use assay_spirv::tables::ImageFormat;
use gpu_allocator::MemoryLocation;

use self::transfer_objects::{STAGES, TransferObjects};
use crate::buffer_memory::Buffer;
use crate::device::DeviceShared;
use crate::error::Error;
use crate::image_objects::{Image, aspect_of};
use crate::resource::{ImageSpec, TexelFormat};

/// Invocations of a workgroup of the shader that fetches samples.
const LOCAL: u32 = 64;

/// Largest number of workgroups of a download along x; every device takes as many along both axes.
const GROUPS: u32 = 1024;

/// Usage of a buffer that samples are copied from and to.
pub(crate) const BUFFER_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::STORAGE_BUFFER;

/// Returns the usage that the copies need of a multisampled image.
pub(crate) fn image_usage(format: TexelFormat) -> vk::ImageUsageFlags {
    let attachment = match format {
        TexelFormat::Color(_) => vk::ImageUsageFlags::COLOR_ATTACHMENT,
        TexelFormat::Depth32 | TexelFormat::Stencil8 => vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
    };
    attachment | vk::ImageUsageFlags::SAMPLED
}

/// Returns the format through which the copies see a multisampled image: words without sign, of a
/// size that makes it compatible with `format`; or depths.
pub(crate) fn transfer_format(format: TexelFormat) -> Result<TexelFormat, Error> {
    let words = match (format, format.bytes()) {
        (TexelFormat::Depth32, _) => return Ok(format),
        (TexelFormat::Color(_), 1) => ImageFormat::R8ui,
        (TexelFormat::Color(_), 2) => ImageFormat::R16ui,
        (TexelFormat::Color(_), 4) => ImageFormat::R32ui,
        (TexelFormat::Color(_), 8) => ImageFormat::Rg32ui,
        (TexelFormat::Color(_), 16) => ImageFormat::Rgba32ui,
        _ => return Err(Error::invalid(format!("a multisampled image of {}", format.name()))),
    };
    Ok(TexelFormat::Color(words))
}

/// Copies between a buffer of the host and a multisampled image.
pub(crate) struct SampleTransfer {
    objects: TransferObjects,
    spec: ImageSpec,
    /// Mapped buffer with the contents of the image after the upload.
    readback: Buffer,
    /// Contents that were to be uploaded.
    uploaded: Vec<u8>,
}

/// The two directions of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FetchTarget {
    /// The buffer that uploads come from.
    Staging,
    /// The buffer for the comparison with the upload.
    Readback,
}

impl SampleTransfer {
    /// Creates the objects for copies between `staging`, which has [`BUFFER_USAGE`], and `image`.
    /// The owner drops them before both.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if the device has no graphics queue or no such framebuffers.
    pub(crate) fn new(device: &Arc<DeviceShared>, image: &Image, staging: &Buffer) -> Result<Self, Error> {
        let spec = image.spec;
        if !device.family.graphics {
            return Err(
                device.unsupported("multisampled images here: they are filled by draws, and its queue has none")
            );
        }
        let readback = Buffer::new(device, spec.bytes()?, BUFFER_USAGE, MemoryLocation::GpuToCpu)?;
        let objects = TransferObjects::new(device, image, [staging, &readback])?;
        Ok(Self { objects, spec, readback, uploaded: Vec::new() })
    }

    /// Keeps the contents of `staging`, with which the next upload is compared.
    pub(crate) fn keep(&mut self, staging: &Buffer) {
        self.uploaded.clear();
        self.uploaded.extend_from_slice(staging.bytes().unwrap_or_default());
    }

    /// Records the upload from the staging buffer and the fetch of the uploaded samples for the
    /// comparison. Later compute shaders may access the image.
    ///
    /// # Safety
    /// The command buffer is being recorded outside of a render pass. The transfer, its image and
    /// its buffer live until the work is done.
    pub(crate) unsafe fn upload(&self, image: &Image, commands: vk::CommandBuffer) {
        let raw = &self.objects.device.raw;
        let [width, height, _] = self.spec.extent;
        let (drawn, written) = match aspect_of(self.spec.format) {
            vk::ImageAspectFlags::COLOR => {
                (vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT, vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
            }
            _ => (
                vk::PipelineStageFlags::EARLY_FRAGMENT_TESTS | vk::PipelineStageFlags::LATE_FRAGMENT_TESTS,
                vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_READ | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE,
            ),
        };
        let ready = [vk::ImageMemoryBarrier::default()
            .dst_access_mask(written)
            .old_layout(vk::ImageLayout::UNDEFINED)
            .new_layout(vk::ImageLayout::GENERAL)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(image.raw)
            .subresource_range(image.range())];
        let compute = vk::PipelineStageFlags::COMPUTE_SHADER;
        let shader = vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE;
        let done = [vk::MemoryBarrier::default().src_access_mask(written).dst_access_mask(shader)];
        let none = vk::DependencyFlags::empty();
        let top = vk::PipelineStageFlags::TOP_OF_PIPE;
        let area = vk::Rect2D { extent: vk::Extent2D { width, height }, ..Default::default() };
        // SAFETY: by the contract of this function. The draws write every sample, so the old
        // contents may be discarded.
        unsafe {
            raw.cmd_pipeline_barrier(commands, top, drawn, none, &[], &[], &ready);
            for (layer, framebuffer) in (0..).zip(&self.objects.framebuffers) {
                let begin = vk::RenderPassBeginInfo::default()
                    .render_pass(self.objects.render_pass)
                    .framebuffer(*framebuffer)
                    .render_area(area);
                raw.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                self.bind(commands, vk::PipelineBindPoint::GRAPHICS, self.objects.draw, FetchTarget::Staging);
                for sample in 0..self.spec.samples {
                    self.push(commands, [layer, sample, 0]);
                    raw.cmd_draw(commands, 3, 1, 0, 0);
                }
                raw.cmd_end_render_pass(commands);
            }
            // The staging buffer is read by fragments; a download may overwrite it later.
            let fragments = vk::PipelineStageFlags::FRAGMENT_SHADER;
            raw.cmd_pipeline_barrier(commands, drawn | fragments, compute, none, &done, &[], &[]);
            self.fetch(commands, FetchTarget::Readback);
            // The next shader may write the image.
            raw.cmd_pipeline_barrier(commands, compute, compute, none, &[], &[], &[]);
        }
    }

    /// Records the fetch of every sample into a buffer. Earlier writes to the image are visible to
    /// compute shaders.
    ///
    /// # Safety
    /// As for [`SampleTransfer::upload`].
    pub(crate) unsafe fn fetch(&self, commands: vk::CommandBuffer, target: FetchTarget) {
        let bytes = self.readback.size();
        // A storage buffer has less than 2^32 bytes.
        let words = (bytes / 4) as u32;
        let groups = words.div_ceil(LOCAL);
        let (x, y) = (groups.min(GROUPS), groups.div_ceil(GROUPS));
        let samples = (self.uploaded.len() / self.spec.format.bytes()) as u32;
        // SAFETY: by the contract of this function.
        unsafe {
            self.bind(commands, vk::PipelineBindPoint::COMPUTE, self.objects.fetch, target);
            self.push(commands, [words, x * LOCAL, samples]);
            self.objects.device.raw.cmd_dispatch(commands, x, y, 1);
        }
    }

    /// Compares the contents of the image after the upload, read back, with those uploaded. The work
    /// is done.
    ///
    /// # Errors
    /// They differ: the error names the first sample.
    pub(crate) fn verify(&self) -> Result<(), Error> {
        let read = self.readback.bytes().unwrap_or_default();
        let texel = self.spec.format.bytes();
        let pairs = self.uploaded.chunks(texel).zip(read.chunks(texel));
        let Some((index, (uploaded, read))) = pairs.enumerate().find(|(_, (uploaded, read))| uploaded != read) else {
            return Ok(());
        };
        let ([width, height, _], samples) = (self.spec.extent.map(|n| n as usize), self.spec.samples as usize);
        let (at, sample) = (index / samples, index % samples);
        let (x, y, layer) = (at % width, at / width % height, at / width / height);
        let hex = |bytes: &[u8]| bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>();
        Err(Error::Vulkan {
            during: "filling a multisampled image",
            code: format!(
                "sample {sample} of texel ({x}, {y}) in layer {layer}, which holds 0x{} in place of 0x{} ({})",
                hex(read),
                hex(uploaded),
                self.spec.format.name()
            ),
        })
    }

    /// Binds a pipeline and the descriptors for a copy from or to `target`.
    ///
    /// # Safety
    /// As for [`SampleTransfer::upload`].
    unsafe fn bind(
        &self,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline,
        target: FetchTarget,
    ) {
        let (raw, objects) = (&self.objects.device.raw, &self.objects);
        let set = [objects.sets[usize::from(target == FetchTarget::Readback)]];
        // SAFETY: by the contract of this function.
        unsafe {
            raw.cmd_bind_pipeline(commands, point, pipeline);
            raw.cmd_bind_descriptor_sets(commands, point, objects.layout, 0, &set, &[]);
        }
    }

    /// Sets the push constants; `last` are those in which draws and fetches differ.
    ///
    /// # Safety
    /// As for [`SampleTransfer::upload`].
    unsafe fn push(&self, commands: vk::CommandBuffer, last: [u32; 3]) {
        let [width, height, _] = self.spec.extent;
        let bytes = self.spec.format.bytes() as u32;
        // Texels in a word, and words in a texel.
        let (in_word, in_texel) = ((4 / bytes).max(1), (bytes / 4).max(1));
        let words = [width, height, self.spec.samples, in_word, in_texel, last[0], last[1], last[2]];
        let bytes = bytemuck::bytes_of(&words);
        // SAFETY: by the contract of this function; the layout has that many bytes for the stages.
        unsafe { self.objects.device.raw.cmd_push_constants(commands, self.objects.layout, STAGES, 0, bytes) };
    }
}
