//! The shaders of cases: written in WGSL around a body for one texel, compiled, and raised to tile shading.
//!
//! WGSL has neither tile attachments nor their built-ins: a private variable named after a built-in becomes that input, an image
//! at a binding of an attachment becomes a tile attachment, the workgroup size a shading rate, and loads of fragments non-coherent.
//! Raised modules are what native devices get, what the oracle interprets, and what is lowered.

use assay_check::{CheckError, compile_wgsl};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::Section;
use assay_spirv::tables::{BuiltIn, Capability, Decoration, ExecutionMode, Op, StorageClass};

/// The binding of the pass's parameters.
pub(super) const PARAMETERS: u32 = 15;

/// A shader for one texel, `at` of `layer`: attachments and buffers, functions, and the body.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    /// Attachments, buffers and functions.
    pub declarations: String,
    /// What is done for a texel.
    pub body: String,
}

/// How a shader covers a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cover {
    /// With `vkCmdDispatchTileQCOM` in blocks of this shading rate.
    Rate([u32; 3]),
    /// With `vkCmdDispatch`, workgroups of this size, and blocks of this size for each invocation.
    Groups {
        /// The workgroup's size.
        local: [u32; 3],
        /// The block's size.
        block: [u32; 3],
    },
}

impl Cover {
    fn block(self) -> [u32; 3] {
        match self {
            Cover::Rate(block) | Cover::Groups { block, .. } => block,
        }
    }
}

/// A fragment shader for one texel, `at`, whose centre is `position`; it discards the fragment where it sets `discarded`.
#[derive(Clone, Debug)]
pub(super) struct Fragment {
    /// Buffers and functions.
    pub declarations: String,
    /// What is done for a texel: it loads from attachments, `image` and their binding, and assigns to `outputs.color` and the
    /// location.
    pub body: String,
    /// Whether it is drawn for every tile.
    pub per_tile: bool,
    /// Whether fragments that are not the tile's to change are discarded: where those would be is not said.
    pub guarded: bool,
    /// Whether its loads are not held to rasterization order.
    pub non_coherent: bool,
}

/// An attachment as WGSL declares it.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    /// Its binding.
    pub binding: u32,
    /// The type of its values: `u32`.
    pub scalar: &'static str,
    /// Its type, up to how a storage image is accessed.
    pub ty: String,
    /// Of a storage image the location of its colour attachment; `None` for sampled images.
    pub location: Option<u32>,
}

impl Declared {
    fn is_in(&self, text: &str) -> bool {
        let name = format!("image{}", self.binding);
        let rest = |at: usize| text[at + name.len()..].chars().next();
        text.match_indices(&name).any(|(at, _)| !rest(at).is_some_and(|next| next.is_ascii_digit()))
    }
}

/// What every shader has.
const PRELUDE: &str = "
struct Parameters { area: vec4<u32>, extent: vec2<u32>, layers: u32 }
@group(0) @binding(15) var<storage, read> parameters: Parameters;
var<private> tile_offset: vec2<u32>;
var<private> tile_size: vec3<u32>;
var<private> tile_apron: vec2<u32>;
// Whether a texel is this tile's to change.
fn inside(at: vec2<u32>) -> bool {
    return all(at >= parameters.area.xy) && all(at < parameters.area.zw)
        && all(at >= tile_offset) && all(at < tile_offset + tile_size.xy);
}
// The nearest texel of the render area.
fn in_area(at: vec2<i32>) -> vec2<u32> {
    return vec2<u32>(clamp(at, vec2<i32>(parameters.area.xy), vec2<i32>(parameters.area.zw) - vec2<i32>(1)));
}
// This tile's number in the grid of the whole framebuffer.
fn tile_index() -> u32 {
    let columns = (parameters.extent.x + tile_size.x - 1u) / tile_size.x;
    return tile_offset.y / tile_size.y * columns + tile_offset.x / tile_size.x;
}
// The first and the last texel that are this tile's to change.
fn tile_first() -> vec2<u32> { return max(parameters.area.xy, tile_offset); }
fn tile_last() -> vec2<u32> { return min(parameters.area.zw, tile_offset + tile_size.xy) - vec2<u32>(1u); }
";

/// The words of the parameters' buffer.
pub(super) fn parameters(area: [[u32; 2]; 2], extent: [u32; 2], layers: u32) -> Vec<u8> {
    let [[x, y], [width, height]] = area;
    let words = [x, y, x + width, y + height, extent[0], extent[1], layers, 0];
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Compiles a shader.
fn module(name: &str, text: &str) -> Result<Module, CheckError> {
    let words = compile_wgsl(text, &format!("{name}.wgsl"))?;
    Module::parse(words).map_err(|error| CheckError::Shader { name: name.to_owned(), what: error.to_string() })
}

impl Kernel {
    fn module(&self, name: &str, main: &str) -> Result<Module, CheckError> {
        let Kernel { declarations, body } = self;
        let text = format!("{PRELUDE}\n{declarations}\nfn texel(at: vec2<u32>, layer: u32) {{\n{body}\n}}\n{main}\n");
        module(name, &text)
    }

    /// The native module: for every texel of the tile that is in the render area.
    ///
    /// # Errors
    /// It does not compile.
    pub(super) fn native(&self, name: &str, cover: Cover, attachments: &[u32]) -> Result<Vec<u32>, CheckError> {
        let [x, y, z] = cover.block();
        let local = match cover {
            Cover::Rate(_) => [1, 1, 1],
            Cover::Groups { local, .. } => local,
        };
        let [lx, ly, lz] = local;
        let main = format!(
            "@compute @workgroup_size({lx}, {ly}, {lz})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    for (var z = 0u; z < {z}u; z++) {{
        for (var y = 0u; y < {y}u; y++) {{
            for (var x = 0u; x < {x}u; x++) {{
                let at = tile_offset + id.xy * vec2<u32>({x}u, {y}u) + vec2<u32>(x, y);
                let layer = id.z * {z}u + z;
                if inside(at) && layer < parameters.layers {{ texel(at, layer); }}
            }}
        }}
    }}
}}"
        );
        let mode = match cover {
            Cover::Rate(rate) => Some(Mode::Rate(rate)),
            Cover::Groups { .. } => None,
        };
        Ok(raise(&self.module(name, &main)?, attachments, mode))
    }

    /// An ordinary compute shader: an invocation for every texel of the framebuffer, which finds its tile itself.
    ///
    /// # Errors
    /// It does not compile.
    pub(super) fn full_frame(
        &self,
        name: &str,
        tile: [u32; 2],
        layers: u32,
        apron: [u32; 2],
    ) -> Result<Vec<u32>, CheckError> {
        let ([w, h], [ax, ay]) = (tile, apron);
        let main = format!(
            "@compute @workgroup_size({FRAME_GROUP}, {FRAME_GROUP}, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    tile_size = vec3<u32>({w}u, {h}u, {layers}u);
    tile_apron = vec2<u32>({ax}u, {ay}u);
    tile_offset = id.xy / tile_size.xy * tile_size.xy;
    if all(id.xy < parameters.extent) && inside(id.xy) {{ texel(id.xy, id.z); }}
}}"
        );
        Ok(self.module(name, &main)?.into_words())
    }
}

impl Fragment {
    /// The locations that it assigns to, with their attachments.
    fn outputs<'a>(&self, images: &'a [Declared]) -> Vec<(u32, &'a Declared)> {
        let located = images.iter().filter_map(|image| Some((image.location?, image)));
        located.filter(|(location, _)| self.body.contains(&format!("outputs.color{location}"))).collect()
    }

    /// The whole text but for the entry point; `written` is how storage images of outputs are accessed.
    fn text(&self, images: &[Declared], written: &str, main: &str) -> String {
        let Fragment { declarations, body, .. } = self;
        let outputs = self.outputs(images);
        let mut text =
            format!("{PRELUDE}\n{declarations}\nvar<private> position: vec4<f32>;\nvar<private> discarded: bool;\n");
        for image in images {
            let Declared { binding, ty, location, .. } = image;
            let is_output = outputs.iter().any(|(_, output)| output.binding == *binding);
            let access = if is_output { written } else { "read" };
            if image.is_in(&format!("{declarations} {body} {main}")) {
                let access = if location.is_some() { format!(", {access}>") } else { String::new() };
                text += &format!("@group(0) @binding({binding}) var image{binding}: {ty}{access};\n");
            }
        }
        if !outputs.is_empty() {
            let member = |(location, image): &(u32, &Declared)| {
                format!("    @location({location}) color{location}: vec4<{}>,\n", image.scalar)
            };
            let members: String = outputs.iter().map(member).collect();
            text += &format!("struct Outputs {{\n{members}}}\nvar<private> outputs: Outputs;\n");
        }
        text + &format!("fn texel(at: vec2<u32>) {{\n{body}\n}}\n{main}\n")
    }

    /// The native module.
    ///
    /// # Errors
    /// It does not compile.
    pub(super) fn native(&self, name: &str, images: &[Declared], attachments: &[u32]) -> Result<Vec<u32>, CheckError> {
        let guard = if self.guarded { "if !inside(at) { discard; }" } else { "" };
        let discard = if self.body.contains("discarded") { "if discarded { discard; }" } else { "" };
        let (result, end) = match self.outputs(images)[..] {
            [] => ("", ""),
            _ => (" -> Outputs", "return outputs;"),
        };
        let main = format!(
            "@fragment
fn main(@builtin(position) coordinates: vec4<f32>){result} {{
    position = coordinates;
    let at = vec2<u32>(coordinates.xy);
    {guard}
    texel(at);
    {discard}
    {end}
}}"
        );
        let module = module(name, &self.text(images, "read", &main))?;
        Ok(raise(&module, attachments, Some(Mode::Fragment { non_coherent: self.non_coherent })))
    }

    /// An ordinary compute shader: an invocation for every texel of the framebuffer, which finds its tile itself, and stores
    /// what it assigned.
    ///
    /// # Errors
    /// It does not compile.
    pub(super) fn full_frame(
        &self,
        name: &str,
        images: &[Declared],
        tile: [u32; 2],
        apron: [u32; 2],
    ) -> Result<Vec<u32>, CheckError> {
        let ([w, h], [ax, ay]) = (tile, apron);
        let tile = format!(
            "tile_size = vec3<u32>({w}u, {h}u, 1u);
    tile_apron = vec2<u32>({ax}u, {ay}u);
    tile_offset = id.xy / tile_size.xy * tile_size.xy;"
        );
        let tile = if self.per_tile { &tile } else { "" };
        let store = |(location, image): &(u32, &Declared)| {
            format!("    textureStore(image{}, id.xy, outputs.color{location});\n", image.binding)
        };
        let stores: String = self.outputs(images).iter().map(store).collect();
        let main = format!(
            "@compute @workgroup_size({FRAME_GROUP}, {FRAME_GROUP}, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    {tile}
    if any(id.xy < parameters.area.xy) || any(id.xy >= parameters.area.zw) {{ return; }}
    position = vec4<f32>(vec2<f32>(id.xy) + vec2<f32>(0.5), 0.0, 1.0);
    texel(id.xy);
    if discarded {{ return; }}
{stores}}}"
        );
        Ok(module(name, &self.text(images, "read_write", &main))?.into_words())
    }
}

/// Width and height of a workgroup of an ordinary shader.
pub(super) const FRAME_GROUP: u32 = 8;

/// What an entry point of tile shading is given.
#[derive(Clone, Copy, Debug)]
enum Mode {
    /// A shading rate, in place of its workgroup size.
    Rate([u32; 3]),
    /// What its loads are, of a fragment shader.
    Fragment {
        /// Not held to rasterization order.
        non_coherent: bool,
    },
}

/// Makes tile shading of an ordinary module.
fn raise(module: &Module, attachments: &[u32], mode: Option<Mode>) -> Vec<u32> {
    let mut editor = Editor::new(module);
    let capabilities = module.section(Section::Capabilities);
    if let Some(last) = capabilities.last() {
        let mut words = instruction(Op::Capability, &[Capability::TileShadingQCOM.word()]);
        // Nul-terminated, and padded to whole words.
        let mut name = b"SPV_QCOM_tile_shading".to_vec();
        name.resize((name.len() + 1).next_multiple_of(4), 0);
        let name: Vec<u32> = name.chunks(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        words.extend(instruction(Op::Extension, &name));
        editor.after(last.at, &words);
    }
    let mut inputs = Vec::new();
    for variable in module.section(Section::Globals).filter(|i| i.op == Some(Op::Variable)) {
        let word = variable.result().unwrap_or_default();
        let class = variable.operand(0).and_then(StorageClass::from_word);
        let name = module.names().of(word);
        let built_in = match (class, name.as_deref()) {
            (Some(StorageClass::Private), Some("tile_offset")) => Some(BuiltIn::TileOffsetQCOM),
            (Some(StorageClass::Private), Some("tile_size")) => Some(BuiltIn::TileDimensionQCOM),
            (Some(StorageClass::Private), Some("tile_apron")) => Some(BuiltIn::TileApronSizeQCOM),
            _ => None,
        };
        let bound = |wanted| {
            module.decorations(word).find(|d| d.decoration == Some(wanted)).and_then(|d| d.operands.first().copied())
        };
        if let Some(built_in) = built_in {
            editor.annotate(Op::Decorate, &[word, Decoration::BuiltIn.word(), built_in.word()]);
            editor.reclass(variable, StorageClass::Input);
            if matches!(mode, Some(Mode::Fragment { .. })) {
                editor.annotate(Op::Decorate, &[word, Decoration::Flat.word()]);
            }
            inputs.push(word);
        } else if class == Some(StorageClass::UniformConstant)
            && bound(Decoration::Binding).is_some_and(|binding| attachments.contains(&binding))
        {
            editor.reclass(variable, StorageClass::TileAttachmentQCOM);
        }
    }
    let entry = module.section(Section::EntryPoints).next();
    let function = entry.and_then(|entry| entry.operand(1)).unwrap_or_default();
    editor.add_to_interface(function, &inputs, &[]);
    for of in module.section(Section::ExecutionModes) {
        match (mode, of.operand(1).and_then(ExecutionMode::from_word)) {
            (Some(Mode::Rate([x, y, z])), Some(ExecutionMode::LocalSize)) => {
                let operands = [function, ExecutionMode::TileShadingRateQCOM.word(), x, y, z];
                editor.replace(of.at, instruction(Op::ExecutionMode, &operands));
            }
            (Some(Mode::Fragment { non_coherent: true }), Some(ExecutionMode::OriginUpperLeft)) => {
                let operands = [function, ExecutionMode::NonCoherentTileAttachmentReadQCOM.word()];
                editor.after(of.at, &instruction(Op::ExecutionMode, &operands));
            }
            _ => {}
        }
    }
    editor.finish()
}
