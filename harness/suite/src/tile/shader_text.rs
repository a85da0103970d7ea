//! Shaders of the cases: WGSL around a body for one texel, compiled and then converted to tile
//! shading.
//!
//! WGSL has neither tile attachments nor their built-ins. The conversion turns private variables
//! with the names of built-ins into inputs, images at attachments' bindings into tile attachments,
//! the workgroup size into a shading rate, and fragment loads into non-coherent ones. Native
//! devices and the oracle run the converted modules, and the lowering starts from them.

use assay_check::{CheckError, compile_wgsl};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::Section;
use assay_spirv::tables::{BuiltIn, Capability, Decoration, ExecutionMode, Op, StorageClass};

/// Binding of the buffer with the pass's parameters.
pub(super) const PARAMETERS: u32 = 15;

/// A compute shader for the texel `at` of `layer`.
#[derive(Clone, Debug)]
pub(super) struct TileKernel {
    /// Attachments, buffers and functions.
    pub declarations: String,
    /// Statements for one texel.
    pub body: String,
}

/// The way in which a compute shader covers a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TileCover {
    /// By `vkCmdDispatchTileQCOM`, in blocks of this shading rate.
    Rate([u32; 3]),
    /// By `vkCmdDispatch`; each invocation handles a block.
    Groups {
        /// Size of the workgroup.
        local: [u32; 3],
        /// Size of the block.
        block: [u32; 3],
    },
}

impl TileCover {
    fn block(self) -> [u32; 3] {
        match self {
            TileCover::Rate(block) | TileCover::Groups { block, .. } => block,
        }
    }
}

/// A fragment shader for the texel `at` with the centre `position`. It discards the fragment if it
/// sets `discarded`.
#[derive(Clone, Debug)]
pub(super) struct Fragment {
    /// Buffers and functions.
    pub declarations: String,
    /// Statements for one texel: they load from `image` plus binding, and assign to `outputs.color`
    /// plus location.
    pub body: String,
    /// Set if the draw runs for every tile.
    pub per_tile: bool,
    /// Set if fragments that do not belong to the tile are discarded; the specification does not
    /// say where they may lie.
    pub guarded: bool,
    /// Set if loads need not follow rasterization order.
    pub non_coherent: bool,
}

/// An attachment's declaration in WGSL.
#[derive(Clone, Debug)]
pub(super) struct DeclaredImage {
    /// Binding.
    pub binding: u32,
    /// Type of the values: `u32`.
    pub scalar: &'static str,
    /// Image type; for a storage image, up to its access mode.
    pub ty: String,
    /// Location of a storage image's colour attachment; `None` for a sampled image.
    pub location: Option<u32>,
}

impl DeclaredImage {
    fn is_in(&self, text: &str) -> bool {
        let name = format!("image{}", self.binding);
        let rest = |at: usize| text[at + name.len()..].chars().next();
        text.match_indices(&name).any(|(at, _)| !rest(at).is_some_and(|next| next.is_ascii_digit()))
    }
}

/// Declarations common to all shaders.
const PRELUDE: &str = "
struct Parameters { area: vec4<u32>, extent: vec2<u32>, layers: u32 }
@group(0) @binding(15) var<storage, read> parameters: Parameters;
var<private> tile_offset: vec2<u32>;
var<private> tile_size: vec3<u32>;
var<private> tile_apron: vec2<u32>;
// Returns true for a texel that this tile may change.
fn inside(at: vec2<u32>) -> bool {
    return all(at >= parameters.area.xy) && all(at < parameters.area.zw)
        && all(at >= tile_offset) && all(at < tile_offset + tile_size.xy);
}
// The nearest texel in the render area.
fn in_area(at: vec2<i32>) -> vec2<u32> {
    return vec2<u32>(clamp(at, vec2<i32>(parameters.area.xy), vec2<i32>(parameters.area.zw) - vec2<i32>(1)));
}
// The index of this tile in the grid of the whole framebuffer.
fn tile_index() -> u32 {
    let columns = (parameters.extent.x + tile_size.x - 1u) / tile_size.x;
    return tile_offset.y / tile_size.y * columns + tile_offset.x / tile_size.x;
}
// The first and the last texel that this tile may change.
fn tile_first() -> vec2<u32> { return max(parameters.area.xy, tile_offset); }
fn tile_last() -> vec2<u32> { return min(parameters.area.zw, tile_offset + tile_size.xy) - vec2<u32>(1u); }
";

/// Contents of the parameter buffer.
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

impl TileKernel {
    fn module(&self, name: &str, main: &str) -> Result<Module, CheckError> {
        let TileKernel { declarations, body } = self;
        let text = format!("{PRELUDE}\n{declarations}\nfn texel(at: vec2<u32>, layer: u32) {{\n{body}\n}}\n{main}\n");
        module(name, &text)
    }

    /// The native module: runs the body for every texel of the tile that lies in the render area.
    ///
    /// # Errors
    /// The shader does not compile.
    pub(super) fn native(&self, name: &str, cover: TileCover, attachments: &[u32]) -> Result<Vec<u32>, CheckError> {
        let [x, y, z] = cover.block();
        let local = match cover {
            TileCover::Rate(_) => [1, 1, 1],
            TileCover::Groups { local, .. } => local,
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
            TileCover::Rate(rate) => Some(AddedMode::Rate(rate)),
            TileCover::Groups { .. } => None,
        };
        Ok(convert_to_tile_shading(&self.module(name, &main)?, attachments, mode))
    }

    /// An ordinary compute shader with an invocation for every texel of the framebuffer, which
    /// computes its own tile.
    ///
    /// # Errors
    /// The shader does not compile.
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
    /// The output locations that the body assigns to, with their attachments.
    fn outputs<'a>(&self, images: &'a [DeclaredImage]) -> Vec<(u32, &'a DeclaredImage)> {
        let located = images.iter().filter_map(|image| Some((image.location?, image)));
        located.filter(|(location, _)| self.body.contains(&format!("outputs.color{location}"))).collect()
    }

    /// The text of the shader. `written` is the access mode of storage images that are outputs.
    fn text(&self, images: &[DeclaredImage], written: &str, main: &str) -> String {
        let Fragment { declarations, body, .. } = self;
        let outputs = self.outputs(images);
        let mut text =
            format!("{PRELUDE}\n{declarations}\nvar<private> position: vec4<f32>;\nvar<private> discarded: bool;\n");
        for image in images {
            let DeclaredImage { binding, ty, location, .. } = image;
            let is_output = outputs.iter().any(|(_, output)| output.binding == *binding);
            let access = if is_output { written } else { "read" };
            if image.is_in(&format!("{declarations} {body} {main}")) {
                let access = if location.is_some() { format!(", {access}>") } else { String::new() };
                text += &format!("@group(0) @binding({binding}) var image{binding}: {ty}{access};\n");
            }
        }
        if !outputs.is_empty() {
            let member = |(location, image): &(u32, &DeclaredImage)| {
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
    /// The shader does not compile.
    pub(super) fn native(
        &self,
        name: &str,
        images: &[DeclaredImage],
        attachments: &[u32],
    ) -> Result<Vec<u32>, CheckError> {
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
        Ok(convert_to_tile_shading(&module, attachments, Some(AddedMode::Fragment { non_coherent: self.non_coherent })))
    }

    /// An ordinary compute shader with an invocation for every texel of the framebuffer, which
    /// computes its own tile and stores the outputs.
    ///
    /// # Errors
    /// The shader does not compile.
    pub(super) fn full_frame(
        &self,
        name: &str,
        images: &[DeclaredImage],
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
        let store = |(location, image): &(u32, &DeclaredImage)| {
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

/// The execution mode to add to an entry point.
#[derive(Clone, Copy, Debug)]
enum AddedMode {
    /// A shading rate, which replaces the workgroup size.
    Rate([u32; 3]),
    /// A fragment shader's loads.
    Fragment {
        /// Set if loads need not follow rasterization order.
        non_coherent: bool,
    },
}

/// Converts an ordinary module to tile shading.
fn convert_to_tile_shading(module: &Module, attachments: &[u32], mode: Option<AddedMode>) -> Vec<u32> {
    let mut editor = Editor::new(module);
    let capabilities = module.section(Section::Capabilities);
    if let Some(last) = capabilities.last() {
        editor.insert_after(last.at, &instruction(Op::Capability, &[Capability::TileShadingQCOM.word()]));
    }
    editor.extension("SPV_QCOM_tile_shading");
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
            editor.set_storage_class(variable, StorageClass::Input);
            if matches!(mode, Some(AddedMode::Fragment { .. })) {
                editor.annotate(Op::Decorate, &[word, Decoration::Flat.word()]);
            }
            inputs.push(word);
        } else if class == Some(StorageClass::UniformConstant)
            && bound(Decoration::Binding).is_some_and(|binding| attachments.contains(&binding))
        {
            editor.set_storage_class(variable, StorageClass::TileAttachmentQCOM);
        }
    }
    let entry = module.section(Section::EntryPoints).next();
    let function = entry.and_then(|entry| entry.operand(1)).unwrap_or_default();
    editor.add_to_interface(function, &inputs, &[]);
    for of in module.section(Section::ExecutionModes) {
        match (mode, of.operand(1).and_then(ExecutionMode::from_word)) {
            (Some(AddedMode::Rate([x, y, z])), Some(ExecutionMode::LocalSize)) => {
                let operands = [function, ExecutionMode::TileShadingRateQCOM.word(), x, y, z];
                editor.replace(of.at, instruction(Op::ExecutionMode, &operands));
            }
            (Some(AddedMode::Fragment { non_coherent: true }), Some(ExecutionMode::OriginUpperLeft)) => {
                let operands = [function, ExecutionMode::NonCoherentTileAttachmentReadQCOM.word()];
                editor.insert_after(of.at, &instruction(Op::ExecutionMode, &operands));
            }
            _ => {}
        }
    }
    editor.finish()
}
