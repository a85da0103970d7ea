//! Parameters of a gather case, and its program.

use super::coordinates::{COUNT, CoordinateClass, SIDE};
use super::gather_reference;
use crate::bytes::{binding_name, bytes_input};
use crate::module_builder::ModuleBuilder;
use crate::{LoweredModule, Program, RunPath};
use assay_check::{ImageConfig, Options, SamplerConfig};
use assay_oracle::sample::border_bits;
use assay_spirv::tables::ImageFormat;
use assay_spirv::{Module, Style, assemble, disassemble};
use assay_spirv_lower::gather::{GatherStates, lower};
use assay_texture::{AddressMode, BorderColor, GatherMode, ImageView, Sampler};

/// Bindings: the combined image and sampler, the coordinates, the results.
pub(super) const IMAGE: u32 = 0;
pub(super) const COORDINATES: u32 = 1;
pub(super) const RESULTS: u32 = 2;

/// An offset, and its operand kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offset {
    None,
    Constant([i32; 2]),
    RunTime([i32; 2]),
}

impl Offset {
    pub(super) fn value(self) -> [i32; 2] {
        match self {
            Offset::None => [0; 2],
            Offset::Constant(value) | Offset::RunTime(value) => value,
        }
    }
}

/// The offset limits that every device with offsets supports.
pub(super) const LIMITS: (i32, i32) = (-8, 7);

/// Parameters of a case.
#[derive(Clone, Copy, Debug)]
pub(super) struct GatherParams {
    pub(super) mode: GatherMode,
    pub(super) component: u32,
    pub(super) address: [AddressMode; 2],
    pub(super) border: BorderColor,
    pub(super) format: ImageFormat,
    pub(super) size: [u32; 2],
    /// For an array: its number of layers, the view's first layer, and the view's number of layers.
    pub(super) layers: Option<(u32, u32, u32)>,
    /// Number of levels of the image, and the view's first level.
    pub(super) levels: (u32, u32),
    pub(super) swizzle: &'static str,
    pub(super) offset: Offset,
    pub(super) coordinates: CoordinateClass,
    /// Set for a sampler with linear filtering.
    pub(super) linear: bool,
    /// Set if coordinates are in texels.
    pub(super) unnormalized: bool,
    /// Set for a depth image, whose texels are stored as `R32f`.
    pub(super) depth: bool,
}

/// The type of sampled texels.
pub(super) struct SampledType {
    pub(super) name: &'static str,
    pub(super) ty: &'static str,
    pub(super) integer: bool,
}

impl GatherParams {
    pub(super) fn plain(mode: GatherMode) -> GatherParams {
        GatherParams {
            mode,
            component: 0,
            address: [AddressMode::ClampToEdge; 2],
            border: BorderColor::IntTransparentBlack,
            format: ImageFormat::Rgba32ui,
            size: [7, 5],
            layers: None,
            levels: (1, 0),
            swizzle: "rgba",
            offset: Offset::None,
            coordinates: CoordinateClass::Inside,
            linear: false,
            unnormalized: false,
            depth: false,
        }
    }

    /// The statements that the case covers, by its differences from the plain parameters.
    pub(super) fn covers(&self) -> Vec<&'static str> {
        let plain = GatherParams::plain(self.mode);
        let extended = self.mode != GatherMode::Core;
        let mode = match self.mode {
            GatherMode::Core => "SPV_QCOM_image_processing3/mode-core",
            GatherMode::Row => "SPV_QCOM_image_processing3/mode-4x1",
            GatherMode::Diamond => "SPV_QCOM_image_processing3/mode-d",
            GatherMode::Horizontal => "SPV_QCOM_image_processing3/mode-h2",
            GatherMode::Vertical => "SPV_QCOM_image_processing3/mode-v2",
        };
        [
            (true, mode),
            (extended, "SPV_QCOM_image_processing3/lowering"),
            (self.address != plain.address, "SPV_QCOM_image_processing3/address-modes"),
            (self.component > 0 || self.swizzle != plain.swizzle, "SPV_QCOM_image_processing3/component"),
            (self.layers.is_some(), "SPV_QCOM_image_processing3/coordinate-parts"),
            (self.levels != plain.levels, "SPV_QCOM_image_processing3/base-level"),
            (self.offset != Offset::None, "SPV_QCOM_image_processing3/operands"),
            (
                matches!(self.coordinates, CoordinateClass::Centres | CoordinateClass::Edges),
                "SPV_QCOM_image_processing3/ties",
            ),
            (self.coordinates == CoordinateClass::Inside, "SPV_QCOM_image_processing3/origin"),
            (self.depth || self.unnormalized, "SPV_QCOM_image_processing3/sampled-image"),
        ]
        .into_iter()
        .filter_map(|(is, statement)| is.then_some(statement))
        .collect()
    }

    pub(super) fn sampled(&self) -> SampledType {
        let name = format!("{:?}", self.format);
        if !name.ends_with('i') {
            SampledType { name: "f32", ty: "OpTypeFloat 32", integer: false }
        } else if name.ends_with("ui") {
            SampledType { name: "u32", ty: "OpTypeInt 32 0", integer: true }
        } else {
            SampledType { name: "i32", ty: "OpTypeInt 32 1", integer: true }
        }
    }

    pub(super) fn view(&self) -> ImageView {
        let (base_layer, layers) = self.layers.map_or((0, 1), |(_, base, shown)| (base, shown));
        let swizzle = ImageView::swizzle_from(self.swizzle).unwrap_or_default();
        ImageView { base_level: self.levels.1, levels: 1, base_layer, layers, swizzle }
    }

    pub(super) fn sampler(&self) -> Sampler {
        let [u, v] = self.address;
        let border = match (self.border.is_integer(), self.sampled().integer) {
            // Without an explicit border, the colour takes the texels' type.
            (true, false) => BorderColor::FloatTransparentBlack,
            _ => self.border,
        };
        let (linear, unnormalized) = (self.linear, self.unnormalized);
        Sampler { address: [u, v, AddressMode::ClampToEdge], border, linear, unnormalized, ..Sampler::NEAREST }
    }

    /// The states that the lowering requires.
    pub(super) fn states(&self) -> GatherStates {
        let border = |component| border_bits(self.format, &self.view(), self.sampler().border, component);
        GatherStates {
            address: self.address,
            unnormalized: self.unnormalized,
            border: std::array::from_fn(|component| border(component).map_or(0, |bits| bits as u32)),
            offsets: Some(LIMITS),
        }
    }

    /// The size of the level that is gathered from.
    pub(super) fn shown(&self) -> [u32; 2] {
        self.size.map(|n| (n >> self.levels.1).max(1))
    }

    /// Builds the program of a path.
    pub(super) fn program(self, path: RunPath) -> Program {
        let text = self.native();
        let program = Program::new(text.clone(), self.options()).with_reference(gather_reference::gathered(self));
        if path != RunPath::Lowered {
            return program;
        }
        // Lowered with offsets for devices that support them, and with fetches only for the others.
        let alternatives = [Some(LIMITS), None].map(|offsets| {
            let text = match lowered(&text, &GatherStates { offsets, ..self.states() }) {
                Ok(lowered) => lowered,
                // The parser rejects this text with an error that contains these words.
                Err(error) => format!("lowering failed: {error}"),
            };
            LoweredModule { text, features: &FEATURES, extensions: &[EXTENSION] }
        });
        program.with_lowered(alternatives.into())
    }

    fn options(&self) -> Options {
        let [w, h] = self.size;
        let view = self.view();
        let image = ImageConfig {
            size: Some(vec![w, h]),
            layers: self.layers.map(|(layers, ..)| layers),
            levels: Some(self.levels.0),
            samples: None,
            format: Some(format!("{:?}", self.format)),
            base_level: Some(view.base_level),
            view_levels: Some(view.levels),
            base_layer: Some(view.base_layer),
            view_layers: Some(view.layers),
            swizzle: Some(self.swizzle.to_owned()),
        };
        let [dx, dy] = self.offset.value().map(i32::cast_unsigned);
        let layers = self.layers.map_or(1, |(_, _, shown)| shown);
        let coordinates =
            self.coordinates.coordinates(self.shown(), self.unnormalized).into_iter().enumerate().flat_map(
                |(i, [u, v])| {
                    // Layers before the first, fractional ones, and beyond the last.
                    let layer = (i as u32 % (layers + 2)) as f32 - 1.0 + [0.0, 0.3, -0.4][i / 7 % 3];
                    [u.to_bits(), v.to_bits(), layer.to_bits(), 0, dx, dy, 0, 0]
                },
            );
        Options {
            groups: Some([COUNT as u32 / 64, 1, 1]),
            inputs: vec![
                bytes_input(COORDINATES, coordinates.flat_map(u32::to_le_bytes).collect()),
                bytes_input(RESULTS, vec![0xa5; COUNT * 16]),
            ],
            images: vec![(binding_name(IMAGE), image)],
            samplers: vec![(binding_name(IMAGE), SamplerConfig::of(&self.sampler()))],
            // The results are drawn as a square.
            row: Some(SIDE),
            ..Options::default()
        }
    }

    /// The native module as text.
    fn native(&self) -> String {
        let mut shader = ModuleBuilder::new([64, 1, 1]);
        let qcom = self.mode.qcom();
        shader.version("1.5");
        if qcom.is_some() {
            shader.extension("SPV_QCOM_image_processing3");
            shader.capability(match self.mode {
                GatherMode::Row => "ImageGatherLinearQCOM",
                _ => "ImageGatherExtendedModesQCOM",
            });
        }
        let arrayed = self.layers.is_some();
        let u32 = shader.u32();
        let int = shader.int(32, crate::module_builder::SIGNED);
        let float = shader.declare("OpTypeFloat 32");
        let scalar = shader.declare(self.sampled().ty);
        let (words, texels) = (shader.vector(&u32, 4), shader.vector(&scalar, 4));
        let at_type = shader.vector(&float, if arrayed { 3 } else { 2 });
        let image = shader.declare(&format!(
            "OpTypeImage {scalar} 2D {} {} 0 1 Unknown",
            u32::from(self.depth),
            u32::from(arrayed)
        ));
        let both = shader.declare(&format!("OpTypeSampledImage {image}"));
        let image = shader.resource("UniformConstant", &both, IMAGE);
        let all = shader.array(&words, 2 * COUNT as u32, Some(16));
        let block = shader.block(&[(all, 0)], "Block");
        let coordinates = shader.resource("StorageBuffer", &block, COORDINATES);
        let all = shader.array(&words, COUNT as u32, Some(16));
        let block = shader.block(&[(all, 0)], "Block");
        let results = shader.resource("StorageBuffer", &block, RESULTS);
        let [zero, one, two] = [0, 1, 2].map(|n| shader.constant_u32(n));
        let index = shader.global_x();
        let first = shader.op(&u32, "OpIMul", format_args!("{index} {two}"));
        let from = shader.access("StorageBuffer", &words, &coordinates, &[&zero, &first]);
        let place = shader.op(&words, "OpLoad", from);
        let parts: Vec<String> = (0..if arrayed { 3 } else { 2 })
            .map(|k| {
                let word = shader.op(&u32, "OpCompositeExtract", format_args!("{place} {k}"));
                shader.op(&float, "OpBitcast", word)
            })
            .collect();
        let at = shader.op(&at_type, "OpCompositeConstruct", parts.join(" "));
        let sampled = shader.op(&both, "OpLoad", image);
        let component = shader.constant_u32(self.component);
        let pair = shader.vector(&int, 2);
        let operands = match self.offset {
            Offset::None => String::new(),
            Offset::Constant([x, y]) => {
                // SPIR-V does not require the capability here, but without the feature the offset
                // limits are 0.
                shader.capability("ImageGatherExtended");
                let [x, y] = [x, y].map(|n| shader.constant(&int, n));
                let offset = shader.declare(&format!("OpConstantComposite {pair} {x} {y}"));
                format!(" ConstOffset {offset}")
            }
            Offset::RunTime(_) => {
                shader.capability("ImageGatherExtended");
                let second = shader.op(&u32, "OpIAdd", format_args!("{first} {one}"));
                let from = shader.access("StorageBuffer", &words, &coordinates, &[&zero, &second]);
                let second = shader.op(&words, "OpLoad", from);
                let parts = [0, 1].map(|k| {
                    let word = shader.op(&u32, "OpCompositeExtract", format_args!("{second} {k}"));
                    shader.op(&int, "OpBitcast", word)
                });
                format!(" Offset {}", shader.op(&pair, "OpCompositeConstruct", parts.join(" ")))
            }
        };
        let (op, mode) = match qcom {
            None => ("OpImageGather", String::new()),
            Some(mode) => ("OpImageGatherQCOM", format!(" {}", shader.constant_u32(mode.word()))),
        };
        let gathered = shader.op(&texels, op, format_args!("{sampled} {at} {component}{mode}{operands}"));
        // Stored as bits, because stores of floats may change them.
        let bits = match self.sampled().ty {
            "OpTypeInt 32 0" => gathered,
            _ => shader.op(&words, "OpBitcast", gathered),
        };
        let to = shader.access("StorageBuffer", &words, &results, &[&zero, &index]);
        shader.run(format_args!("OpStore {to} {bits}"));
        shader.finish()
    }
}

/// Features of the modes and of offsets.
const FEATURES: [&str; 3] = ["imageGatherLinear", "imageGatherExtendedModes", "shaderImageGatherExtended"];

/// Device extension of the modes.
const EXTENSION: &str = "VK_QCOM_image_processing3";

/// Lowers a module; returns the text of the result.
pub(super) fn lowered(text: &str, states: &GatherStates) -> Result<String, String> {
    let words = assemble(text).map_err(|error| error.to_string())?;
    let module = Module::parse(words).map_err(|error| error.to_string())?;
    let words = lower(&module, states).map_err(|error| error.to_string())?;
    disassemble(&words, Style::default()).map_err(|error| error.to_string())
}
