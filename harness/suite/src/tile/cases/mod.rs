//! The cases, and what they are made of.

mod access;
mod aprons;
mod atomics;
mod fragment;
mod order;
mod programs;
mod rates;

use super::pass::{Access, Attachment, Buffer, Pass, Second, Stage, Step};
use super::shader::{Cover, Declared, Fragment, Kernel, PARAMETERS, parameters};
use crate::case::covering;
use crate::{About, Case, RunPath};
use access::FORMATS;
use assay_check::CheckError;
use assay_spirv::tables::ImageFormat;
use assay_vulkan::{AttachmentRole, PassForm, TexelFormat};

pub(super) fn all() -> Vec<Case> {
    [
        covering(rates::cases(), &["SPV_QCOM_tile_shading/once-per-tile"]),
        access::cases(),
        atomics::cases(),
        covering(aprons::cases(), &["SPV_QCOM_tile_shading/reach", "SPV_QCOM_tile_shading/apron-content"]),
        covering(order::cases(), &["SPV_QCOM_tile_shading/barriers", "SPV_QCOM_tile_shading/once-per-tile"]),
        programs::cases(),
        covering(fragment::cases(), &["SPV_QCOM_tile_shading/fragment"]),
    ]
    .concat()
}

/// The document.
const CLAUSE: &str = "VK_QCOM_tile_shading";

fn about(instruction: &'static str, types: impl Into<String>, rule: &'static str) -> About {
    About { instruction, types: types.into(), rule, clause: CLAUSE }
}

/// Width and height of frames.
const FRAME: [u32; 2] = [38, 22];

/// What is written of a step.
enum Shader {
    Dispatched(Kernel),
    Drawn(Fragment),
}

/// What a case fixes of its pass; the rest follows.
struct Spec {
    name: String,
    /// What sizes are multiplied with.
    scale: u32,
    form: PassForm,
    extent: [u32; 2],
    layers: u32,
    area: [[u32; 2]; 2],
    apron: [u32; 2],
    tile: [u32; 2],
    attachments: Vec<Attachment>,
    buffers: Vec<Buffer>,
    /// One for each step, and whether there is a barrier before it.
    shaders: Vec<(Shader, bool)>,
    cover: Cover,
    second: Option<Second>,
}

impl Spec {
    /// A frame that no tile divides, and a render area inside it that cuts tiles. Natively both are larger: so are tiles.
    fn new(name: &str, path: RunPath) -> Spec {
        let scale = if path == RunPath::Native { 6 } else { 1 };
        let [width, height] = FRAME;
        Spec {
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
            cover: Cover::Rate([2, 2, 1]),
            second: None,
        }
    }

    /// Sets the render area, of a frame that is not scaled.
    fn set_area(&mut self, [origin, extent]: [[u32; 2]; 2]) {
        self.area = [origin.map(|n| n * self.scale), extent.map(|n| n * self.scale)];
    }

    fn attachment(&mut self, binding: u32, format: TexelFormat, access: Access, role: AttachmentRole) {
        let texels = (self.extent[0] * self.extent[1] * self.layers) as usize;
        let data = texel_data(format, texels, binding);
        self.attachments.push(Attachment { role, format, bindings: vec![(binding, access)], data });
    }

    /// A colour attachment that is a storage image.
    fn storage(&mut self, binding: u32, format: ImageFormat) {
        self.attachment(binding, TexelFormat::Color(format), Access::Storage, AttachmentRole::Color);
    }

    /// A buffer of words.
    fn words(&mut self, binding: u32, words: &[u32]) {
        let data = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.buffers.push(Buffer { binding, data });
    }

    fn kernel(&mut self, declarations: &str, body: impl Into<String>) {
        let kernel = Kernel { declarations: declarations.to_owned(), body: body.into() };
        self.shaders.push((Shader::Dispatched(kernel), true));
    }

    /// A draw, after a barrier.
    fn draw(&mut self, fragment: Fragment) {
        self.shaders.push((Shader::Drawn(fragment), true));
    }

    /// A draw that follows the one before in rasterization order.
    fn draw_in_order(&mut self, fragment: Fragment) {
        self.shaders.push((Shader::Drawn(fragment), false));
    }

    /// The attachments as shaders declare them, once for each binding.
    fn declared(&self) -> Vec<Declared> {
        let (mut declared, mut location) = (Vec::new(), 0);
        for attachment in &self.attachments {
            let known = |format| FORMATS.iter().find(|(_, known, ..)| *known == format);
            let color = known(attachment.memory_format()).map_or(("", "u32"), |(name, _, scalar, _)| (*name, *scalar));
            for &(binding, access) in &attachment.bindings {
                let (name, scalar) = color;
                let (ty, location) = match (access, attachment.format) {
                    (Access::Storage, _) => (format!("texture_storage_2d<{name}"), Some(location)),
                    (Access::Sampled, TexelFormat::Depth32) => ("texture_depth_2d".to_owned(), None),
                    (Access::Sampled, _) => (format!("texture_2d<{scalar}>"), None),
                };
                declared.push(Declared { binding, scalar, ty, location });
            }
            location += u32::from(attachment.role == AttachmentRole::Color);
        }
        declared
    }

    fn build(mut self) -> Result<Pass, CheckError> {
        self.buffers.push(Buffer { binding: PARAMETERS, data: parameters(self.area, self.extent, self.layers) });
        let bindings: Vec<u32> =
            self.attachments.iter().flat_map(|a| a.bindings.iter().map(|(binding, _)| *binding)).collect();
        let texels = match self.cover {
            Cover::Rate(rate) => rate,
            Cover::Groups { local, block } => std::array::from_fn(|i| local[i] * block[i]),
        };
        let (name, images) = (&self.name, self.declared());
        let (mut steps, mut full_frame) = (Vec::new(), Vec::new());
        for (shader, barrier) in &self.shaders {
            let (words, stage, frame) = match shader {
                Shader::Dispatched(kernel) => (
                    kernel.native(name, self.cover, &bindings)?,
                    Stage::Compute { texels },
                    kernel.full_frame(name, self.tile, self.layers, self.apron)?,
                ),
                Shader::Drawn(fragment) => (
                    fragment.native(name, &images, &bindings)?,
                    Stage::Fragment { per_tile: fragment.per_tile },
                    fragment.full_frame(name, &images, self.tile, self.apron)?,
                ),
            };
            steps.push(Step { words, stage, barrier: *barrier });
            full_frame.push(frame);
        }
        let Spec { form, extent, layers, area, apron, tile, attachments, buffers, second, .. } = self;
        Ok(Pass { form, extent, layers, area, apron, tile, attachments, buffers, steps, full_frame, second })
    }
}

/// Numbers that look random and are the same everywhere.
fn noise(i: usize, seed: u32) -> u32 {
    let mut x = (i as u32).wrapping_mul(0x9e37_79b9).wrapping_add(seed.wrapping_mul(0x85eb_ca6b) ^ 0x27d4_eb2f);
    x = (x ^ x >> 15).wrapping_mul(0x2c1b_3c6d);
    x = (x ^ x >> 12).wrapping_mul(0x297a_2d39);
    x ^ x >> 15
}

/// Texels of a format: small whole numbers and quarters for floats, any bits for other formats.
fn texel_data(format: TexelFormat, texels: usize, seed: u32) -> Vec<u8> {
    use ImageFormat as F;
    let channels = texels * format.bytes();
    let float = |i: usize| (noise(i, seed) % 256) as f32 * 0.25 + 0.25;
    match format {
        // Depth within 0 and 1, exactly.
        TexelFormat::Depth32 => (0..texels).flat_map(|i| ((noise(i, seed) % 65) as f32 / 64.0).to_le_bytes()).collect(),
        TexelFormat::Stencil8 => (0..texels).map(|i| noise(i, seed) as u8).collect(),
        TexelFormat::Color(F::R32f | F::Rgba32f) => (0..channels / 4).flat_map(|i| float(i).to_le_bytes()).collect(),
        // Halves from 1 up to 2.
        TexelFormat::Color(F::Rgba16f) => {
            (0..channels / 2).flat_map(|i| (0x3c00 | (noise(i, seed) % 0x400) as u16).to_le_bytes()).collect()
        }
        // -1 has two patterns: the least is left out.
        TexelFormat::Color(F::Rgba8Snorm) => (0..channels)
            .map(|i| match noise(i, seed) as u8 {
                0x80 => 0x81,
                byte => byte,
            })
            .collect(),
        TexelFormat::Color(_) => (0..channels).map(|i| noise(i, seed) as u8).collect(),
    }
}

/// Words of little-endian bytes.
fn words_of(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// Bytes of words, little-endian.
fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The texels of the render area with their index in an attachment, in all layers: x, y, layer, index.
fn texels_of(pass: &Pass) -> impl Iterator<Item = ([u32; 2], u32, usize)> {
    let ([[x0, y0], [w, h]], [width, height]) = (pass.area, pass.extent);
    (0..pass.layers).flat_map(move |layer| {
        (y0..y0 + h)
            .flat_map(move |y| (x0..x0 + w).map(move |x| ([x, y], layer, (x + width * (y + height * layer)) as usize)))
    })
}

/// A tile's number, as the shaders' `tile_index` counts it.
fn tile_index(pass: &Pass, [w, h]: [u32; 2], [x, y]: [u32; 2]) -> usize {
    (y / h * pass.extent[0].div_ceil(w) + x / w) as usize
}

/// The first and the last texel of the tile of a texel that are its to change.
fn tile_ends(pass: &Pass, tile: [u32; 2], at: [u32; 2]) -> [[u32; 2]; 2] {
    let [origin, extent] = pass.area;
    let offset: [u32; 2] = std::array::from_fn(|i| at[i] / tile[i] * tile[i]);
    let first = std::array::from_fn(|i| origin[i].max(offset[i]));
    [first, std::array::from_fn(|i| (origin[i] + extent[i]).min(offset[i] + tile[i]) - 1)]
}
