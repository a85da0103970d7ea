//! Images, views and samplers.

use std::sync::Arc;

use ash::vk;
use assay_spirv::tables::ImageFormat;
use assay_texture::{BorderColor, Swizzle};
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};

use crate::buffer_memory::Buffer;
use crate::device::DeviceShared;
use crate::error::{Error, allocation_error};
use crate::multisample::{image_usage, transfer_format};
use crate::resource::{AddressMode, CompareOp, ImageDim, ImageSpec, SamplerSpec, TexelFormat};

/// An image with its memory and a view of it. It is freed on drop; its owner ensures that no work
/// uses it then.
pub(crate) struct Image {
    device: Arc<DeviceShared>,
    pub(crate) spec: ImageSpec,
    /// All aspects that it has.
    pub(crate) aspects: vk::ImageAspectFlags,
    pub(crate) raw: vk::Image,
    pub(crate) view: vk::ImageView,
    allocation: Option<Allocation>,
}

impl Image {
    /// Creates an image that copies can fill, and can read if it is a storage image. The copies of
    /// a multisampled image are those of [`crate::multisample`]. Its contents are undefined.
    pub(crate) fn new(device: &Arc<DeviceShared>, spec: ImageSpec, storage: bool) -> Result<Self, Error> {
        let usage = match (storage, spec.samples > 1) {
            (true, false) => {
                vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST
            }
            (false, false) => vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST,
            (true, true) => vk::ImageUsageFlags::STORAGE | image_usage(spec.format),
            (false, true) => image_usage(spec.format),
        };
        Self::with_usage(device, spec, usage)
    }

    /// Creates an image of the given usage. Its contents are undefined.
    pub(crate) fn with_usage(
        device: &Arc<DeviceShared>,
        spec: ImageSpec,
        usage: vk::ImageUsageFlags,
    ) -> Result<Self, Error> {
        Self::of_aspects(device, spec, usage, aspect_of(spec.format))
    }

    /// Creates an image of the given usage and aspects. If `aspects` contains both depth and
    /// stencil, the image has both, and `spec` describes one of them.
    pub(crate) fn of_aspects(
        device: &Arc<DeviceShared>,
        spec: ImageSpec,
        usage: vk::ImageUsageFlags,
        aspects: vk::ImageAspectFlags,
    ) -> Result<Self, Error> {
        let both = aspects.contains(vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL);
        let format = if both { vk::Format::D32_SFLOAT_S8_UINT } else { vk_format(spec.format)? };
        let (dim, view_type) = dimensions(&spec);
        let cube = spec.dim == ImageDim::Cube;
        let mut flags = if cube { vk::ImageCreateFlags::CUBE_COMPATIBLE } else { vk::ImageCreateFlags::empty() };
        let [width, height, depth] = spec.extent;
        if spec.samples > 1 {
            let seen = ImageSpec { format: transfer_format(spec.format)?, ..spec };
            let seen_as = vk_format(seen.format)?;
            if seen_as != format {
                flags |= vk::ImageCreateFlags::MUTABLE_FORMAT;
            }
            check(device, &seen, seen_as, dim, usage & !vk::ImageUsageFlags::STORAGE, flags)?;
        }
        check(device, &spec, format, dim, usage, flags)?;
        let info = vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(dim)
            .format(format)
            .extent(vk::Extent3D { width, height, depth })
            .mip_levels(spec.levels)
            .array_layers(spec.layers)
            .samples(vk::SampleCountFlags::from_raw(spec.samples))
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage)
            .sharing_mode(vk::SharingMode::EXCLUSIVE)
            .initial_layout(vk::ImageLayout::UNDEFINED);
        let raw_device = &device.raw;
        // SAFETY: the device is alive, here and below, and was asked whether it takes such an
        // image.
        let raw = unsafe { raw_device.create_image(&info, None) };
        let raw = device.check(raw, "vkCreateImage")?;
        // From here on, dropping `image` cleans up.
        let mut image =
            Self { device: device.clone(), spec, aspects, raw, view: vk::ImageView::null(), allocation: None };
        // SAFETY: a live image of this device.
        let requirements = unsafe { raw_device.get_image_memory_requirements(raw) };
        let allocation = device
            .allocator()
            .allocate(&AllocationCreateDesc {
                name: "slot image",
                requirements,
                location: MemoryLocation::GpuOnly,
                linear: false,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            })
            .map_err(allocation_error)?;
        let allocation = image.allocation.insert(allocation);
        // SAFETY: the allocation fits the requirements of the image, is bound once, and outlives it
        // (see `drop`).
        let bound = unsafe { raw_device.bind_image_memory(raw, allocation.memory(), allocation.offset()) };
        device.check(bound, "vkBindImageMemory")?;
        let info = vk::ImageViewCreateInfo::default()
            .image(raw)
            .view_type(view_type)
            .format(format)
            .components(components(&spec))
            .subresource_range(image.shown(aspects));
        // SAFETY: the image is bound to memory and its usage allows views.
        let view = unsafe { raw_device.create_image_view(&info, None) };
        image.view = device.check(view, "vkCreateImageView")?;
        Ok(image)
    }

    /// Creates a view of one aspect.
    pub(crate) fn view_of(&self, aspect: vk::ImageAspectFlags) -> Result<AspectView, Error> {
        let both = self.aspects != aspect;
        let info = vk::ImageViewCreateInfo::default()
            .image(self.raw)
            .view_type(dimensions(&self.spec).1)
            .format(if both { vk::Format::D32_SFLOAT_S8_UINT } else { vk_format(self.spec.format)? })
            .components(components(&self.spec))
            .subresource_range(self.shown(aspect));
        // SAFETY: the image is bound to memory and its usage allows views.
        let raw = unsafe { self.device.raw.create_image_view(&info, None) };
        Ok(AspectView { device: self.device.clone(), raw: self.device.check(raw, "vkCreateImageView")? })
    }

    /// Returns the range of all levels and layers.
    pub(crate) fn range(&self) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange::default()
            .aspect_mask(self.aspects)
            .level_count(self.spec.levels)
            .layer_count(self.spec.layers)
    }

    /// Returns the levels and layers that the view shows, for `aspect`.
    fn shown(&self, aspect: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
        let ImageSpec { levels, layers, view, .. } = self.spec;
        vk::ImageSubresourceRange::default()
            .aspect_mask(aspect)
            .base_mip_level(view.base_level)
            .level_count(view.levels_of(levels))
            .base_array_layer(view.base_layer)
            .layer_count(view.layers_of(layers))
    }

    /// Returns the copies between the image and a buffer of its contents, one for each level.
    pub(crate) fn regions(&self) -> Result<Vec<vk::BufferImageCopy>, Error> {
        self.regions_of(self.aspects)
    }

    /// Returns the copies for one aspect. A texel of each aspect has the size that the format of
    /// `spec` gives.
    pub(crate) fn regions_of(&self, aspect: vk::ImageAspectFlags) -> Result<Vec<vk::BufferImageCopy>, Error> {
        (0..self.spec.levels)
            .map(|level| {
                let [width, height, depth] = self.spec.extent_of(level);
                let layers = vk::ImageSubresourceLayers::default()
                    .aspect_mask(aspect)
                    .mip_level(level)
                    .layer_count(self.spec.layers);
                Ok(vk::BufferImageCopy::default()
                    .buffer_offset(self.spec.offset(level)? as u64)
                    .image_subresource(layers)
                    .image_extent(vk::Extent3D { width, height, depth }))
            })
            .collect()
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: the owner ensures that no work uses the image; view and image are destroyed once,
        // before their memory; null handles are ignored.
        unsafe {
            self.device.raw.destroy_image_view(self.view, None);
            self.device.raw.destroy_image(self.raw, None);
        }
        if let Some(allocation) = self.allocation.take() {
            // The allocator refuses only allocations that are not its own.
            let _freed = self.device.allocator().free(allocation);
        }
    }
}

/// A view of one aspect of an image. Its owner drops it before the image.
pub(crate) struct AspectView {
    device: Arc<DeviceShared>,
    pub(crate) raw: vk::ImageView,
}

impl Drop for AspectView {
    fn drop(&mut self) {
        // SAFETY: the owner ensures that no work uses it.
        unsafe { self.device.raw.destroy_image_view(self.raw, None) };
    }
}

/// Returns the aspect of a format.
pub(crate) fn aspect_of(format: TexelFormat) -> vk::ImageAspectFlags {
    match format {
        TexelFormat::Color(_) => vk::ImageAspectFlags::COLOR,
        TexelFormat::Depth32 => vk::ImageAspectFlags::DEPTH,
        TexelFormat::Stencil8 => vk::ImageAspectFlags::STENCIL,
    }
}

/// A view of a whole buffer as texels. Its owner drops it before the buffer.
pub(crate) struct TexelView {
    device: Arc<DeviceShared>,
    pub(crate) raw: vk::BufferView,
}

impl TexelView {
    pub(crate) fn new(
        device: &Arc<DeviceShared>,
        buffer: &Buffer,
        format: TexelFormat,
        storage: bool,
        bytes: usize,
    ) -> Result<Self, Error> {
        let vk_format = vk_format(format)?;
        let needed = if storage {
            vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER
        } else {
            vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER
        };
        if !format_properties(device, vk_format).buffer_features.contains(needed) {
            return Err(device.unsupported(format!("texel buffers of {} ({needed:?})", format.name())));
        }
        let info = vk::BufferViewCreateInfo::default().buffer(buffer.raw).format(vk_format).range(bytes as u64);
        // SAFETY: the buffer is alive, has the usage, and is a whole number of texels.
        let raw = unsafe { device.raw.create_buffer_view(&info, None) };
        Ok(Self { device: device.clone(), raw: device.check(raw, "vkCreateBufferView")? })
    }
}

impl Drop for TexelView {
    fn drop(&mut self) {
        // SAFETY: the owner ensures that no work uses it.
        unsafe { self.device.raw.destroy_buffer_view(self.raw, None) };
    }
}

/// A sampler.
pub(crate) struct Sampler {
    device: Arc<DeviceShared>,
    pub(crate) raw: vk::Sampler,
}

impl Sampler {
    pub(crate) fn new(device: &Arc<DeviceShared>, spec: &SamplerSpec) -> Result<Self, Error> {
        let unnormalized = spec.unnormalized;
        let clamps =
            spec.address[..2].iter().all(|a| matches!(a, AddressMode::ClampToEdge | AddressMode::ClampToBorder));
        if unnormalized && (!clamps || spec.compare.is_some() || spec.mipmap_linear) {
            return Err(Error::invalid(
                "a sampler with unnormalised coordinates clamps, does not compare, and has no linear mipmap mode",
            ));
        }
        let mirrors = spec.address.contains(&AddressMode::MirrorClampToEdge);
        let offered = device.capabilities.has_feature("samplerMirrorClampToEdge")
            || device.capabilities.has_extension("VK_KHR_sampler_mirror_clamp_to_edge");
        if mirrors && !offered {
            return Err(device.unsupported("samplerMirrorClampToEdge"));
        }
        let filter = if spec.linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
        let mipmap = if spec.mipmap_linear { vk::SamplerMipmapMode::LINEAR } else { vk::SamplerMipmapMode::NEAREST };
        let [u, v, w] = spec.address.map(address_mode);
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(filter)
            .min_filter(filter)
            .mipmap_mode(mipmap)
            .address_mode_u(u)
            .address_mode_v(v)
            .address_mode_w(w)
            .max_lod(if unnormalized { 0.0 } else { vk::LOD_CLAMP_NONE })
            .compare_enable(spec.compare.is_some())
            .compare_op(spec.compare.map_or(vk::CompareOp::NEVER, compare_op))
            .border_color(border_color(spec.border))
            .unnormalized_coordinates(unnormalized);
        // SAFETY: the device is alive, and the rules between the fields are checked above.
        let raw = unsafe { device.raw.create_sampler(&info, None) };
        Ok(Self { device: device.clone(), raw: device.check(raw, "vkCreateSampler")? })
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        // SAFETY: the owner ensures that no work uses it.
        unsafe { self.device.raw.destroy_sampler(self.raw, None) };
    }
}

/// Returns true if images of a format can be filtered linearly.
pub(crate) fn filters_linearly(device: &DeviceShared, format: TexelFormat) -> Result<bool, Error> {
    let features = format_properties(device, vk_format(format)?).optimal_tiling_features;
    Ok(features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR))
}

fn format_properties(device: &DeviceShared, format: vk::Format) -> vk::FormatProperties {
    // SAFETY: the handle is of this instance, which the device keeps alive.
    unsafe { device.instance.raw.get_physical_device_format_properties(device.physical, format) }
}

/// Returns an error if the device does not support such an image.
fn check(
    device: &DeviceShared,
    spec: &ImageSpec,
    format: vk::Format,
    dim: vk::ImageType,
    usage: vk::ImageUsageFlags,
    flags: vk::ImageCreateFlags,
) -> Result<(), Error> {
    let ImageSpec { dim: of, arrayed, extent, layers, levels, samples, format: texel, view } = *spec;
    let name = || format!("a {of:?} image of {} ({usage:?})", texel.name());
    let flat = match of {
        ImageDim::D1 => extent[1] == 1 && extent[2] == 1,
        ImageDim::D2 => extent[2] == 1,
        ImageDim::Cube => extent[2] == 1 && extent[0] == extent[1],
        ImageDim::D3 => !arrayed,
    };
    let shown = view.layers_of(layers);
    let whole = match (of, arrayed) {
        (ImageDim::Cube, false) => shown == 6,
        (ImageDim::Cube, true) => shown > 0 && shown.is_multiple_of(6),
        (ImageDim::D3, false) => layers == 1,
        (_, true) => shown > 0,
        (_, false) => shown == 1,
    };
    let chain = 32 - extent.into_iter().max().unwrap_or(0).leading_zeros();
    if extent.contains(&0) || !flat || !whole || levels == 0 || levels > chain {
        let what = format!("{extent:?} texels, {layers} layers, {levels} levels");
        return Err(Error::invalid(format!("{} cannot have {what}", name())));
    }
    let written = usage.contains(vk::ImageUsageFlags::STORAGE);
    if !view.fits(levels, layers) || written && (!view.is_identity() || view.levels_of(levels) != 1) {
        let what = format!("with {levels} levels and {layers} layers cannot be seen by a view of its {view}");
        return Err(Error::invalid(format!("{} {what}", name())));
    }
    check_samples(device, spec, written)?;
    // SAFETY: as in `format_properties`.
    let limits = unsafe {
        device.instance.raw.get_physical_device_image_format_properties(
            device.physical,
            format,
            dim,
            vk::ImageTiling::OPTIMAL,
            usage,
            flags,
        )
    };
    let limits = match limits {
        Ok(limits) => limits,
        Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED) => return Err(device.unsupported(name())),
        Err(error) => return device.check(Err(error), "vkGetPhysicalDeviceImageFormatProperties"),
    };
    if !limits.sample_counts.contains(vk::SampleCountFlags::from_raw(samples)) {
        let offered = limits.sample_counts.as_raw();
        let offered: Vec<String> =
            (0..7).map(|bit| 1u32 << bit).filter(|n| offered & n != 0).map(|n| n.to_string()).collect();
        return Err(device.unsupported(format!("{} with {samples} samples (only {})", name(), offered.join(", "))));
    }
    let most = limits.max_extent;
    let fits = extent[0] <= most.width && extent[1] <= most.height && extent[2] <= most.depth;
    if !fits || layers > limits.max_array_layers || levels > limits.max_mip_levels {
        return Err(device.unsupported(format!(
            "{} with {extent:?} texels, {layers} layers, {levels} levels (at most {} x {} x {}, {}, {})",
            name(),
            most.width,
            most.height,
            most.depth,
            limits.max_array_layers,
            limits.max_mip_levels
        )));
    }
    Ok(())
}

/// Returns an error if images cannot have that number of samples, or if the device or this crate does
/// not support it for any format.
fn check_samples(device: &DeviceShared, spec: &ImageSpec, written: bool) -> Result<(), Error> {
    let ImageSpec { samples, dim, levels, .. } = *spec;
    if samples == 1 {
        return Ok(());
    }
    if !samples.is_power_of_two() || samples > 64 || dim != ImageDim::D2 || levels != 1 {
        let what = format!("a {dim:?} image of {levels} levels cannot have {samples} samples");
        return Err(Error::invalid(format!("{what}; 2D images of one level can, and the number is 2, 4, .. 64")));
    }
    if samples > 32 {
        return Err(device.unsupported("64 samples here: a draw that fills an image covers at most 32"));
    }
    if written && !device.capabilities.has_feature("shaderStorageImageMultisample") {
        return Err(device.unsupported("multisampled storage images (shaderStorageImageMultisample)"));
    }
    if !device.capabilities.api_version.at_least(1, 1) {
        return Err(
            device.unsupported("multisampled images here: they are filled through views with a usage of Vulkan 1.1")
        );
    }
    Ok(())
}

fn dimensions(spec: &ImageSpec) -> (vk::ImageType, vk::ImageViewType) {
    use vk::{ImageType as T, ImageViewType as V};
    match (spec.dim, spec.arrayed) {
        (ImageDim::D1, false) => (T::TYPE_1D, V::TYPE_1D),
        (ImageDim::D1, true) => (T::TYPE_1D, V::TYPE_1D_ARRAY),
        (ImageDim::D2, false) => (T::TYPE_2D, V::TYPE_2D),
        (ImageDim::D2, true) => (T::TYPE_2D, V::TYPE_2D_ARRAY),
        (ImageDim::D3, _) => (T::TYPE_3D, V::TYPE_3D),
        (ImageDim::Cube, false) => (T::TYPE_2D, V::CUBE),
        (ImageDim::Cube, true) => (T::TYPE_2D, V::CUBE_ARRAY),
    }
}

fn address_mode(mode: AddressMode) -> vk::SamplerAddressMode {
    match mode {
        AddressMode::Repeat => vk::SamplerAddressMode::REPEAT,
        AddressMode::MirroredRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
        AddressMode::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        AddressMode::ClampToBorder => vk::SamplerAddressMode::CLAMP_TO_BORDER,
        AddressMode::MirrorClampToEdge => vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
    }
}

fn border_color(color: BorderColor) -> vk::BorderColor {
    match color {
        BorderColor::FloatTransparentBlack => vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        BorderColor::IntTransparentBlack => vk::BorderColor::INT_TRANSPARENT_BLACK,
        BorderColor::FloatOpaqueBlack => vk::BorderColor::FLOAT_OPAQUE_BLACK,
        BorderColor::IntOpaqueBlack => vk::BorderColor::INT_OPAQUE_BLACK,
        BorderColor::FloatOpaqueWhite => vk::BorderColor::FLOAT_OPAQUE_WHITE,
        BorderColor::IntOpaqueWhite => vk::BorderColor::INT_OPAQUE_WHITE,
    }
}

fn components(spec: &ImageSpec) -> vk::ComponentMapping {
    let [r, g, b, a] = spec.view.swizzle.map(|swizzle| match swizzle {
        Swizzle::Identity => vk::ComponentSwizzle::IDENTITY,
        Swizzle::Zero => vk::ComponentSwizzle::ZERO,
        Swizzle::One => vk::ComponentSwizzle::ONE,
        Swizzle::R => vk::ComponentSwizzle::R,
        Swizzle::G => vk::ComponentSwizzle::G,
        Swizzle::B => vk::ComponentSwizzle::B,
        Swizzle::A => vk::ComponentSwizzle::A,
    });
    vk::ComponentMapping { r, g, b, a }
}

fn compare_op(op: CompareOp) -> vk::CompareOp {
    match op {
        CompareOp::Never => vk::CompareOp::NEVER,
        CompareOp::Less => vk::CompareOp::LESS,
        CompareOp::Equal => vk::CompareOp::EQUAL,
        CompareOp::LessOrEqual => vk::CompareOp::LESS_OR_EQUAL,
        CompareOp::Greater => vk::CompareOp::GREATER,
        CompareOp::NotEqual => vk::CompareOp::NOT_EQUAL,
        CompareOp::GreaterOrEqual => vk::CompareOp::GREATER_OR_EQUAL,
        CompareOp::Always => vk::CompareOp::ALWAYS,
    }
}

/// Returns Vulkan's format for a texel format (Vulkan, "Compatibility Between SPIR-V Image Formats
/// and Vulkan Formats").
pub(crate) fn vk_format(format: TexelFormat) -> Result<vk::Format, Error> {
    use ImageFormat as F;
    let format = match format {
        TexelFormat::Color(format) => format,
        TexelFormat::Depth32 => return Ok(vk::Format::D32_SFLOAT),
        TexelFormat::Stencil8 => return Ok(vk::Format::S8_UINT),
    };
    Ok(match format {
        F::Unknown => return Err(Error::invalid("an image needs a format; `Unknown` is none")),
        F::Rgba32f => vk::Format::R32G32B32A32_SFLOAT,
        F::Rgba16f => vk::Format::R16G16B16A16_SFLOAT,
        F::R32f => vk::Format::R32_SFLOAT,
        F::Rgba8 => vk::Format::R8G8B8A8_UNORM,
        F::Rgba8Snorm => vk::Format::R8G8B8A8_SNORM,
        F::Rg32f => vk::Format::R32G32_SFLOAT,
        F::Rg16f => vk::Format::R16G16_SFLOAT,
        F::R11fG11fB10f => vk::Format::B10G11R11_UFLOAT_PACK32,
        F::R16f => vk::Format::R16_SFLOAT,
        F::Rgba16 => vk::Format::R16G16B16A16_UNORM,
        F::Rgb10A2 => vk::Format::A2B10G10R10_UNORM_PACK32,
        F::Rg16 => vk::Format::R16G16_UNORM,
        F::Rg8 => vk::Format::R8G8_UNORM,
        F::R16 => vk::Format::R16_UNORM,
        F::R8 => vk::Format::R8_UNORM,
        F::Rgba16Snorm => vk::Format::R16G16B16A16_SNORM,
        F::Rg16Snorm => vk::Format::R16G16_SNORM,
        F::Rg8Snorm => vk::Format::R8G8_SNORM,
        F::R16Snorm => vk::Format::R16_SNORM,
        F::R8Snorm => vk::Format::R8_SNORM,
        F::Rgba32i => vk::Format::R32G32B32A32_SINT,
        F::Rgba16i => vk::Format::R16G16B16A16_SINT,
        F::Rgba8i => vk::Format::R8G8B8A8_SINT,
        F::R32i => vk::Format::R32_SINT,
        F::Rg32i => vk::Format::R32G32_SINT,
        F::Rg16i => vk::Format::R16G16_SINT,
        F::Rg8i => vk::Format::R8G8_SINT,
        F::R16i => vk::Format::R16_SINT,
        F::R8i => vk::Format::R8_SINT,
        F::Rgba32ui => vk::Format::R32G32B32A32_UINT,
        F::Rgba16ui => vk::Format::R16G16B16A16_UINT,
        F::Rgba8ui => vk::Format::R8G8B8A8_UINT,
        F::R32ui => vk::Format::R32_UINT,
        F::Rgb10a2ui => vk::Format::A2B10G10R10_UINT_PACK32,
        F::Rg32ui => vk::Format::R32G32_UINT,
        F::Rg16ui => vk::Format::R16G16_UINT,
        F::Rg8ui => vk::Format::R8G8_UINT,
        F::R16ui => vk::Format::R16_UINT,
        F::R8ui => vk::Format::R8_UINT,
        F::R64ui => vk::Format::R64_UINT,
        F::R64i => vk::Format::R64_SINT,
    })
}
