//! The shaders of cases: written in WGSL around a body for one texel, compiled, and raised to tile shading.
//!
//! WGSL has neither tile attachments nor their built-ins: a private variable named after a built-in becomes that input, an image
//! at a binding of an attachment becomes a tile attachment, and the workgroup size a shading rate. Raised modules are what
//! native devices get, what the oracle interprets, and what is lowered.

use assay_check::{CheckError, compile_wgsl};
use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::{Instruction, Section};
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

impl Kernel {
    fn module(&self, name: &str, main: &str) -> Result<Module, CheckError> {
        let Kernel { declarations, body } = self;
        let text = format!("{PRELUDE}\n{declarations}\nfn texel(at: vec2<u32>, layer: u32) {{\n{body}\n}}\n{main}\n");
        let words = compile_wgsl(&text, &format!("{name}.wgsl"))?;
        Module::parse(words).map_err(|error| CheckError::Shader { name: name.to_owned(), what: error.to_string() })
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
                if inside(at) && layer < tile_size.z {{ texel(at, layer); }}
            }}
        }}
    }}
}}"
        );
        let rate = match cover {
            Cover::Rate(rate) => Some(rate),
            Cover::Groups { .. } => None,
        };
        Ok(raise(&self.module(name, &main)?, attachments, rate))
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

/// Width and height of a workgroup of an ordinary shader.
pub(super) const FRAME_GROUP: u32 = 8;

/// Makes tile shading of an ordinary module.
fn raise(module: &Module, attachments: &[u32], rate: Option<[u32; 3]>) -> Vec<u32> {
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
            declare(&mut editor, variable, StorageClass::Input);
            retype_chains(&mut editor, word);
            inputs.push(word);
        } else if class == Some(StorageClass::UniformConstant)
            && bound(Decoration::Binding).is_some_and(|binding| attachments.contains(&binding))
        {
            declare(&mut editor, variable, StorageClass::TileAttachmentQCOM);
        }
    }
    let entry = module.section(Section::EntryPoints).next();
    let function = entry.and_then(|entry| entry.operand(1)).unwrap_or_default();
    editor.add_to_interface(function, &inputs, &[]);
    if let Some([x, y, z]) = rate {
        for mode in module.section(Section::ExecutionModes) {
            if mode.operand(1) == Some(ExecutionMode::LocalSize.word()) {
                let operands = [function, ExecutionMode::TileShadingRateQCOM.word(), x, y, z];
                editor.replace(mode.at, instruction(Op::ExecutionMode, &operands));
            }
        }
    }
    editor.finish()
}

/// Declares a variable again in another class, without initial value, with a pointer type of its own.
fn declare(editor: &mut Editor<'_>, variable: Instruction<'_>, class: StorageClass) {
    let module = editor.module();
    let pointee = variable.result_type().and_then(|ty| module.pointer(module.type_declared(ty)?)?.1);
    let pointee = pointee.and_then(|ty| module.type_definition(ty).result()).unwrap_or_default();
    let pointer = editor.id();
    let mut words = instruction(Op::TypePointer, &[pointer, class.word(), pointee]);
    words.extend(instruction(Op::Variable, &[pointer, variable.result().unwrap_or_default(), class.word()]));
    editor.replace(variable.at, words);
}

/// Pointers into a variable that became an input.
fn retype_chains(editor: &mut Editor<'_>, variable: u32) {
    let module = editor.module();
    for chain in module.instructions().filter(|i| i.op == Some(Op::AccessChain) && i.operand(0) == Some(variable)) {
        let part = chain.result_type().and_then(|ty| module.pointer(module.type_declared(ty)?)?.1);
        let part = part.and_then(|ty| module.type_definition(ty).result()).unwrap_or_default();
        let mut words = chain.words.to_vec();
        words[1] = editor.pointer(StorageClass::Input, part);
        editor.replace(chain.at, words);
    }
}
