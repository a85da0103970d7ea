//! Textures and samplers of the oracle's descriptions, created through wgpu.

use crate::wgpu_device::OpenDevice;
use assay_exec::Descriptor;
use assay_oracle::Image;
use assay_spirv::reflect::DescriptorKind;
use assay_spirv::tables::{Dim, ImageFormat};
use assay_texture::{AddressMode, CompareOp, Sampler};
use wgpu::{TextureFormat, TextureUsages};

/// A texture with its view for shaders and its path back to the host.
pub(crate) struct TextureObjects {
    texture: wgpu::Texture,
    pub(crate) view: wgpu::TextureView,
    /// Buffer for the copy to the host, for a texture that shaders can write.
    pub(crate) back: Option<wgpu::Buffer>,
    levels: Vec<Level>,
    texel: u32,
}

/// One level in memory. Levels follow one another; each consists of layers (or slices), and these
/// of rows.
struct Level {
    size: wgpu::Extent3d,
    /// Bytes of a row without padding.
    row: u32,
    padded: u32,
    /// Byte offset in the buffer for the copy to the host.
    offset: u64,
}

impl Level {
    fn rows(&self) -> u64 {
        u64::from(self.size.height) * u64::from(self.size.depth_or_array_layers)
    }
}

impl TextureObjects {
    /// Creates a texture with these texels; the error names the missing functionality of WebGPU.
    pub(crate) fn new(open: &OpenDevice, descriptor: &Descriptor, image: &Image) -> Result<TextureObjects, String> {
        let storage = descriptor.kind == DescriptorKind::StorageImage;
        if descriptor.kind == DescriptorKind::SampledImage && image.depth {
            // WebGPU copies no data into "Depth32Float", and its other depth formats cannot store
            // the oracle's values.
            return Err("depth textures through wgpu: WebGPU copies no texels into one of Depth32Float, so that it cannot be filled here"
                .to_owned());
        }
        if image.samples > 1 {
            return Err("multisampled textures through wgpu: WebGPU copies no texels into them".to_owned());
        }
        let (format, texel) = format_of(image.format)?;
        let (dimension, shown) = match (image.dim, descriptor.texels.as_ref().is_some_and(|texels| texels.is_arrayed()))
        {
            (Dim::Dim1D, false) => (wgpu::TextureDimension::D1, wgpu::TextureViewDimension::D1),
            (Dim::Dim2D, false) => (wgpu::TextureDimension::D2, wgpu::TextureViewDimension::D2),
            (Dim::Dim2D, true) => (wgpu::TextureDimension::D2, wgpu::TextureViewDimension::D2Array),
            (Dim::Cube, false) => (wgpu::TextureDimension::D2, wgpu::TextureViewDimension::Cube),
            (Dim::Cube, true) => (wgpu::TextureDimension::D2, wgpu::TextureViewDimension::CubeArray),
            (Dim::Dim3D, false) => (wgpu::TextureDimension::D3, wgpu::TextureViewDimension::D3),
            (dim, _) => return Err(format!("WebGPU has no such image ({dim:?})")),
        };
        if !image.view.is_identity() {
            return Err("views of WebGPU do not swizzle".to_owned());
        }
        let mut usage = TextureUsages::COPY_DST | TextureUsages::COPY_SRC;
        usage |= if storage { TextureUsages::STORAGE_BINDING } else { TextureUsages::TEXTURE_BINDING };
        let size = |level: u32| {
            let [width, height, slices] = image.extent_of(level);
            let layered = dimension != wgpu::TextureDimension::D3;
            wgpu::Extent3d { width, height, depth_or_array_layers: if layered { image.layers } else { slices } }
        };
        let texture = open.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: size(0),
            mip_level_count: image.levels,
            sample_count: 1,
            dimension,
            format,
            usage,
            view_formats: &[],
        });
        let (mut levels, mut from, mut offset) = (Vec::new(), 0usize, 0u64);
        for level in 0..image.levels {
            let size = size(level);
            let row = size.width * texel;
            let level_data =
                Level { size, row, padded: row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT), offset };
            let bytes = row as usize * level_data.rows() as usize;
            let data = image.data.get(from..from + bytes).ok_or("the image has fewer texels than its size")?;
            open.queue.write_texture(
                wgpu::TexelCopyTextureInfo {
                    texture: &texture,
                    mip_level: level,
                    origin: wgpu::Origin3d::ZERO,
                    aspect: wgpu::TextureAspect::All,
                },
                data,
                wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: Some(size.height) },
                size,
            );
            from += bytes;
            offset += u64::from(level_data.padded) * level_data.rows();
            levels.push(level_data);
        }
        let view = texture.create_view(&wgpu::TextureViewDescriptor {
            dimension: Some(shown),
            base_mip_level: image.view.base_level,
            // The view of a storage texture has one level.
            mip_level_count: Some(if storage { 1 } else { image.view.levels_of(image.levels) }),
            base_array_layer: image.view.base_layer,
            array_layer_count: Some(image.view.layers_of(image.layers)),
            ..wgpu::TextureViewDescriptor::default()
        });
        let back = storage.then(|| {
            open.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: offset.next_multiple_of(4),
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            })
        });
        Ok(TextureObjects { texture, view, back, levels, texel })
    }

    pub(crate) fn copy_back(&self, encoder: &mut wgpu::CommandEncoder) {
        let Some(back) = &self.back else { return };
        for (level, part) in self.levels.iter().enumerate() {
            encoder.copy_texture_to_buffer(
                wgpu::TexelCopyTextureInfo {
                    texture: &self.texture,
                    mip_level: level as u32,
                    origin: wgpu::Origin3d::ZERO,
                    aspect: wgpu::TextureAspect::All,
                },
                wgpu::TexelCopyBufferInfo {
                    buffer: back,
                    layout: wgpu::TexelCopyBufferLayout {
                        offset: part.offset,
                        bytes_per_row: Some(part.padded),
                        rows_per_image: Some(part.size.height),
                    },
                },
                part.size,
            );
        }
    }

    /// Returns the texels without the padding of rows.
    pub(crate) fn unpadded(&self, all: &[u8]) -> Vec<u8> {
        let mut texels = Vec::new();
        for level in &self.levels {
            for row in 0..level.rows() {
                let start = (level.offset + row * u64::from(level.padded)) as usize;
                texels.extend_from_slice(&all[start..start + level.row as usize]);
            }
        }
        debug_assert!(texels.len().is_multiple_of(self.texel as usize), "whole texels");
        texels
    }
}

/// Returns the format, and the bytes of a texel.
fn format_of(format: ImageFormat) -> Result<(TextureFormat, u32), String> {
    use ImageFormat as I;
    use TextureFormat as T;
    Ok(match format {
        I::Rgba32f => (T::Rgba32Float, 16),
        I::Rgba16f => (T::Rgba16Float, 8),
        I::R32f => (T::R32Float, 4),
        I::Rgba8 => (T::Rgba8Unorm, 4),
        I::Rgba8Snorm => (T::Rgba8Snorm, 4),
        I::Rg32f => (T::Rg32Float, 8),
        I::Rg16f => (T::Rg16Float, 4),
        I::R11fG11fB10f => (T::Rg11b10Ufloat, 4),
        I::R16f => (T::R16Float, 2),
        I::Rgba16 => (T::Rgba16Unorm, 8),
        I::Rgb10A2 => (T::Rgb10a2Unorm, 4),
        I::Rg16 => (T::Rg16Unorm, 4),
        I::Rg8 => (T::Rg8Unorm, 2),
        I::R16 => (T::R16Unorm, 2),
        I::R8 => (T::R8Unorm, 1),
        I::Rgba16Snorm => (T::Rgba16Snorm, 8),
        I::Rg16Snorm => (T::Rg16Snorm, 4),
        I::Rg8Snorm => (T::Rg8Snorm, 2),
        I::R16Snorm => (T::R16Snorm, 2),
        I::R8Snorm => (T::R8Snorm, 1),
        I::Rgba32i => (T::Rgba32Sint, 16),
        I::Rgba16i => (T::Rgba16Sint, 8),
        I::Rgba8i => (T::Rgba8Sint, 4),
        I::R32i => (T::R32Sint, 4),
        I::Rg32i => (T::Rg32Sint, 8),
        I::Rg16i => (T::Rg16Sint, 4),
        I::Rg8i => (T::Rg8Sint, 2),
        I::R16i => (T::R16Sint, 2),
        I::R8i => (T::R8Sint, 1),
        I::Rgba32ui => (T::Rgba32Uint, 16),
        I::Rgba16ui => (T::Rgba16Uint, 8),
        I::Rgba8ui => (T::Rgba8Uint, 4),
        I::R32ui => (T::R32Uint, 4),
        I::Rgb10a2ui => (T::Rgb10a2Uint, 4),
        I::Rg32ui => (T::Rg32Uint, 8),
        I::Rg16ui => (T::Rg16Uint, 4),
        I::Rg8ui => (T::Rg8Uint, 2),
        I::R16ui => (T::R16Uint, 2),
        I::R8ui => (T::R8Uint, 1),
        other => return Err(format!("WebGPU has no format {other:?}")),
    })
}

/// Creates a sampler; the error names the missing functionality of WebGPU.
pub(crate) fn sampler(open: &OpenDevice, sampler: &Sampler) -> Result<wgpu::Sampler, String> {
    if sampler.unnormalized {
        return Err("WebGPU has no unnormalised coordinates".to_owned());
    }
    let address = |mode: AddressMode| {
        Ok(match mode {
            AddressMode::Repeat => wgpu::AddressMode::Repeat,
            AddressMode::MirroredRepeat => wgpu::AddressMode::MirrorRepeat,
            AddressMode::ClampToEdge => wgpu::AddressMode::ClampToEdge,
            AddressMode::ClampToBorder => return Err("samplers of WebGPU have no border".to_owned()),
            AddressMode::MirrorClampToEdge => return Err("WebGPU does not mirror once".to_owned()),
        })
    };
    let [u, v, w] = sampler.address;
    let filter = |linear: bool| if linear { wgpu::FilterMode::Linear } else { wgpu::FilterMode::Nearest };
    let between = |linear: bool| if linear { wgpu::MipmapFilterMode::Linear } else { wgpu::MipmapFilterMode::Nearest };
    Ok(open.device.create_sampler(&wgpu::SamplerDescriptor {
        label: None,
        address_mode_u: address(u)?,
        address_mode_v: address(v)?,
        address_mode_w: address(w)?,
        mag_filter: filter(sampler.linear),
        min_filter: filter(sampler.linear),
        mipmap_filter: between(sampler.mipmap_linear),
        lod_min_clamp: 0.0,
        lod_max_clamp: 1000.0,
        compare: sampler.compare.map(|compare| match compare {
            CompareOp::Never => wgpu::CompareFunction::Never,
            CompareOp::Less => wgpu::CompareFunction::Less,
            CompareOp::Equal => wgpu::CompareFunction::Equal,
            CompareOp::LessOrEqual => wgpu::CompareFunction::LessEqual,
            CompareOp::Greater => wgpu::CompareFunction::Greater,
            CompareOp::NotEqual => wgpu::CompareFunction::NotEqual,
            CompareOp::GreaterOrEqual => wgpu::CompareFunction::GreaterEqual,
            CompareOp::Always => wgpu::CompareFunction::Always,
        }),
        anisotropy_clamp: 1,
        border_color: None,
    }))
}
