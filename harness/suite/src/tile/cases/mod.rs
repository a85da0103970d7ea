//! The cases of tile shading, and the builder of their passes.

mod aprons;
mod attachment_access;
mod fragments;
mod memory_order;
mod shading_rates;
mod texel_atomics;
mod tile_programs;

use super::pass::{Pass, PassReference};
use super::shader_text::{DeclaredImage, Fragment, PARAMETERS, TileCover, TileKernel, parameters};
use crate::case::covering;
use crate::{Case, CaseSubject, RunPath};
use assay_check::CheckError;
use assay_exec::{AttachmentRole, ImageAccess, PassAttachment, PassBuffer, PassForm, PassStep, StepStage};
use assay_spirv::tables::ImageFormat;
use assay_texture::TexelFormat;
use attachment_access::FORMATS;

pub(super) fn all() -> Vec<Case> {
    [
        covering(shading_rates::cases(), &["SPV_QCOM_tile_shading/once-per-tile"]),
        attachment_access::cases(),
        texel_atomics::cases(),
        covering(aprons::cases(), &["SPV_QCOM_tile_shading/reach", "SPV_QCOM_tile_shading/apron-content"]),
        covering(memory_order::cases(), &["SPV_QCOM_tile_shading/barriers", "SPV_QCOM_tile_shading/once-per-tile"]),
        tile_programs::cases(),
        covering(fragments::cases(), &["SPV_QCOM_tile_shading/fragment"]),
    ]
    .concat()
}

/// The document that states the requirements.
const CLAUSE: &str = "VK_QCOM_tile_shading";

fn about(instruction: &'static str, types: impl Into<String>, rule: &'static str) -> CaseSubject {
    CaseSubject { instruction, types: types.into(), rule, clause: CLAUSE }
}

/// Width and height of the framebuffer, unscaled.
const FRAME: [u32; 2] = [38, 22];

/// The shader of a step.
enum StepShader {
    Dispatch(TileKernel),
    Draw(Fragment),
}

/// Builder of a pass.
struct PassSpec {
    name: String,
    /// Factor for the sizes.
    scale: u32,
    form: PassForm,
    extent: [u32; 2],
    layers: u32,
    area: [[u32; 2]; 2],
    apron: [u32; 2],
    tile: [u32; 2],
    attachments: Vec<PassAttachment>,
    buffers: Vec<PassBuffer>,
    /// The shader of each step, with a flag for a barrier before it.
    shaders: Vec<(StepShader, bool)>,
    cover: TileCover,
    reference: Option<PassReference>,
}

impl PassSpec {
    /// A framebuffer that tiles do not divide evenly, with a render area inside it that cuts tiles.
    /// Both are larger on the native path, as native tiles are.
    fn new(name: &str, path: RunPath) -> PassSpec {
        let scale = if path == RunPath::Native { 6 } else { 1 };
        let [width, height] = FRAME;
        PassSpec {
            name: name.to_owned(),
            scale,
            form: PassForm::Dynamic,
            extent: [width * scale, height * scale],
            layers: 1,
            area: [[3, 2], [31 * scale, 18 * scale]],
            apron: [0, 0],
            tile: [16, 8],
            attachments: Vec::new(),
            buffers: Vec::new(),
            shaders: Vec::new(),
            cover: TileCover::Rate([2, 2, 1]),
            reference: None,
        }
    }

    /// Sets the render area, unscaled.
    fn set_area(&mut self, [origin, extent]: [[u32; 2]; 2]) {
        self.area = [origin.map(|n| n * self.scale), extent.map(|n| n * self.scale)];
    }

    fn attachment(&mut self, binding: u32, format: TexelFormat, access: ImageAccess, role: AttachmentRole) {
        let texels = (self.extent[0] * self.extent[1] * self.layers) as usize;
        let data = texel_data(format, texels, binding);
        self.attachments.push(PassAttachment { role, format, bindings: vec![(binding, access)], data });
    }

    /// Adds a colour attachment that is a storage image.
    fn storage(&mut self, binding: u32, format: ImageFormat) {
        self.attachment(binding, TexelFormat::Color(format), ImageAccess::Storage, AttachmentRole::Color);
    }

    /// Adds a buffer of words.
    fn words(&mut self, binding: u32, words: &[u32]) {
        let data = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.buffers.push(PassBuffer { binding, data });
    }

    fn kernel(&mut self, declarations: &str, body: impl Into<String>) {
        let kernel = TileKernel { declarations: declarations.to_owned(), body: body.into() };
        self.shaders.push((StepShader::Dispatch(kernel), true));
    }

    /// Adds a draw after a barrier.
    fn draw(&mut self, fragment: Fragment) {
        self.shaders.push((StepShader::Draw(fragment), true));
    }

    /// Adds a draw without a barrier, in rasterization order with the previous one.
    fn draw_in_order(&mut self, fragment: Fragment) {
        self.shaders.push((StepShader::Draw(fragment), false));
    }

    /// The WGSL declarations of the attachments, one for each binding.
    fn declared(&self) -> Vec<DeclaredImage> {
        let (mut declared, mut location) = (Vec::new(), 0);
        for attachment in &self.attachments {
            let known = |format| FORMATS.iter().find(|(_, known, ..)| *known == format);
            let color = known(attachment.memory_format()).map_or(("", "u32"), |(name, _, scalar, _)| (*name, *scalar));
            for &(binding, access) in &attachment.bindings {
                let (name, scalar) = color;
                let (ty, location) = match (access, attachment.format) {
                    (ImageAccess::Storage, _) => (format!("texture_storage_2d<{name}"), Some(location)),
                    (ImageAccess::Sampled, TexelFormat::Depth32) => ("texture_depth_2d".to_owned(), None),
                    (ImageAccess::Sampled, _) => (format!("texture_2d<{scalar}>"), None),
                };
                declared.push(DeclaredImage { binding, scalar, ty, location });
            }
            location += u32::from(attachment.role == AttachmentRole::Color);
        }
        declared
    }

    fn build(mut self) -> Result<Pass, CheckError> {
        self.buffers.push(PassBuffer { binding: PARAMETERS, data: parameters(self.area, self.extent, self.layers) });
        let bindings: Vec<u32> =
            self.attachments.iter().flat_map(|a| a.bindings.iter().map(|(binding, _)| *binding)).collect();
        let texels = match self.cover {
            TileCover::Rate(rate) => rate,
            TileCover::Groups { local, block } => std::array::from_fn(|i| local[i] * block[i]),
        };
        let (name, images) = (&self.name, self.declared());
        let (mut steps, mut full_frame) = (Vec::new(), Vec::new());
        for (shader, barrier) in &self.shaders {
            let (words, stage, frame) = match shader {
                StepShader::Dispatch(kernel) => (
                    kernel.native(name, self.cover, &bindings)?,
                    StepStage::Compute { texels },
                    kernel.full_frame(name, self.tile, self.layers, self.apron)?,
                ),
                StepShader::Draw(fragment) => (
                    fragment.native(name, &images, &bindings)?,
                    StepStage::Fragment { per_tile: fragment.per_tile },
                    fragment.full_frame(name, &images, self.tile, self.apron)?,
                ),
            };
            steps.push(PassStep { words, stage, barrier: *barrier });
            full_frame.push(frame);
        }
        let PassSpec { form, extent, layers, area, apron, tile, attachments, buffers, reference, .. } = self;
        Ok(Pass { form, extent, layers, area, apron, tile, attachments, buffers, steps, full_frame, reference })
    }
}

/// A reproducible pseudorandom number.
fn noise(i: usize, seed: u32) -> u32 {
    let mut x = (i as u32).wrapping_mul(0x9e37_79b9).wrapping_add(seed.wrapping_mul(0x85eb_ca6b) ^ 0x27d4_eb2f);
    x = (x ^ x >> 15).wrapping_mul(0x2c1b_3c6d);
    x = (x ^ x >> 12).wrapping_mul(0x297a_2d39);
    x ^ x >> 15
}

/// Texels of a format: small multiples of 1/4 for floats, any bits for other formats.
fn texel_data(format: TexelFormat, texels: usize, seed: u32) -> Vec<u8> {
    use ImageFormat as F;
    let channels = texels * format.bytes();
    let float = |i: usize| (noise(i, seed) % 256) as f32 * 0.25 + 0.25;
    match format {
        // Depth values between 0 and 1, exact.
        TexelFormat::Depth32 => (0..texels).flat_map(|i| ((noise(i, seed) % 65) as f32 / 64.0).to_le_bytes()).collect(),
        TexelFormat::Stencil8 => (0..texels).map(|i| noise(i, seed) as u8).collect(),
        TexelFormat::Color(F::R32f | F::Rgba32f) => (0..channels / 4).flat_map(|i| float(i).to_le_bytes()).collect(),
        // Half-precision values from 1 to 2.
        TexelFormat::Color(F::Rgba16f) => {
            (0..channels / 2).flat_map(|i| (0x3c00 | (noise(i, seed) % 0x400) as u16).to_le_bytes()).collect()
        }
        // -1 has two encodings; the lower one is left out.
        TexelFormat::Color(F::Rgba8Snorm) => (0..channels)
            .map(|i| match noise(i, seed) as u8 {
                0x80 => 0x81,
                byte => byte,
            })
            .collect(),
        TexelFormat::Color(_) => (0..channels).map(|i| noise(i, seed) as u8).collect(),
    }
}

/// Reads little-endian bytes as words.
fn words_of(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// The little-endian bytes of words.
fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The texels of the render area in all layers: coordinates, layer, and index in an attachment.
fn texels_of(pass: &Pass) -> impl Iterator<Item = ([u32; 2], u32, usize)> {
    let ([[x0, y0], [w, h]], [width, height]) = (pass.area, pass.extent);
    (0..pass.layers).flat_map(move |layer| {
        (y0..y0 + h)
            .flat_map(move |y| (x0..x0 + w).map(move |x| ([x, y], layer, (x + width * (y + height * layer)) as usize)))
    })
}

/// A tile's index, as the shaders' `tile_index` computes it.
fn tile_index(pass: &Pass, [w, h]: [u32; 2], [x, y]: [u32; 2]) -> usize {
    (y / h * pass.extent[0].div_ceil(w) + x / w) as usize
}

/// The first and the last texel that the tile around `at` may change.
fn tile_ends(pass: &Pass, tile: [u32; 2], at: [u32; 2]) -> [[u32; 2]; 2] {
    let [origin, extent] = pass.area;
    let offset: [u32; 2] = std::array::from_fn(|i| at[i] / tile[i] * tile[i]);
    let first = std::array::from_fn(|i| origin[i].max(offset[i]));
    [first, std::array::from_fn(|i| (origin[i] + extent[i]).min(offset[i] + tile[i]) - 1)]
}
