//! `gather.*`: the gathers of SPV_QCOM_image_processing3, and the core gather.
//!
//! The cases vary component, address mode, format, border colour, swizzle, size, level, layer and
//! offset of every mode; they include unnormalised coordinates and depth images. One or two of
//! these vary in a group of cases. The core gather runs on every device; the modes of the extension
//! run natively or lowered. Formats are those of SPIR-V, which has no sRGB format. Mirrored repeat
//! with large offsets, a known limitation of devices, has a group name of its own.

mod coordinates;
mod gather_params;
mod gather_reference;

use crate::{Case, CaseSubject, Suite};
use assay_spirv::tables::ImageFormat;
use assay_texture::{AddressMode, BorderColor, GatherMode};
use coordinates::CoordinateClass;
use gather_params::{GatherParams, Offset};

/// The suite.
#[derive(Debug)]
pub(crate) struct Gathers;

impl Suite for Gathers {
    fn name(&self) -> &'static str {
        "gather"
    }

    fn purpose(&self) -> &'static str {
        "gathers of four texels: their positions, order, component, and values beyond the edge"
    }

    fn cases(&self) -> Vec<Case> {
        let mut cases = CaseList { all: Vec::new() };
        for mode in GatherMode::ALL {
            cases.plain(mode);
            cases.address(mode);
            cases.formats(mode);
            cases.borders(mode);
            cases.swizzles(mode);
            cases.sizes(mode);
            cases.layers(mode);
            cases.levels(mode);
            cases.offsets(mode);
            cases.coordinates(mode);
        }
        // Added later, so they come last: the quick budget takes cases by their number.
        for mode in GatherMode::ALL {
            cases.unnormalized(mode);
            cases.depths(mode);
        }
        cases.all
    }
}

/// The document of the modes; the core gather is part of Vulkan.
const CLAUSE: &str = "SPV_QCOM_image_processing3";

/// Formats that can be sampled. 64-bit integer formats are left out, because the results have 32
/// bits.
const FORMATS: [ImageFormat; 39] = {
    use ImageFormat as F;
    [
        F::R8,
        F::Rg8,
        F::Rgba8,
        F::R8Snorm,
        F::Rg8Snorm,
        F::Rgba8Snorm,
        F::R8ui,
        F::Rg8ui,
        F::Rgba8ui,
        F::R8i,
        F::Rg8i,
        F::Rgba8i,
        F::R16,
        F::Rg16,
        F::Rgba16,
        F::R16Snorm,
        F::Rg16Snorm,
        F::Rgba16Snorm,
        F::R16ui,
        F::Rg16ui,
        F::Rgba16ui,
        F::R16i,
        F::Rg16i,
        F::Rgba16i,
        F::R16f,
        F::Rg16f,
        F::Rgba16f,
        F::R32ui,
        F::Rg32ui,
        F::Rgba32ui,
        F::R32i,
        F::Rg32i,
        F::Rgba32i,
        F::R32f,
        F::Rg32f,
        F::Rgba32f,
        F::Rgb10A2,
        F::Rgb10a2ui,
        F::R11fG11fB10f,
    ]
};

struct CaseList {
    all: Vec<Case>,
}

impl CaseList {
    /// Adds a case. The quick budget includes every case whose number in the suite is a multiple of
    /// `one_in`.
    fn add(&mut self, name: String, rule: &'static str, one_in: usize, params: GatherParams) {
        let thinned = !self.all.len().is_multiple_of(one_in);
        let name = params.mode.case_prefix() + &name;
        let core = params.mode == GatherMode::Core;
        let subject = CaseSubject {
            instruction: if core { "OpImageGather" } else { "OpImageGatherQCOM" },
            types: format!("{} of {:?}", params.sampled().name, params.format),
            rule,
            clause: if core { "Vulkan, Texel Gathering" } else { CLAUSE },
        };
        let case = if core {
            Case::core(name, subject, move || params.program(crate::RunPath::Native))
        } else {
            Case::extension(name, subject, move |path| params.program(path))
        };
        self.all.push(case.thinned(thinned).covering(params.covers()));
    }

    /// Every sampled type and component with otherwise plain parameters.
    fn plain(&mut self, mode: GatherMode) {
        for format in [ImageFormat::Rgba32ui, ImageFormat::Rgba32i, ImageFormat::Rgba32f] {
            for component in 0..4 {
                let params = GatherParams { format, component, ..GatherParams::plain(mode) };
                let name = format!("plain.{}.{component}", params.sampled().name);
                self.add(
                    name,
                    "a gather returns the requested component of the mode's four texels, in order",
                    1,
                    params,
                );
            }
        }
    }

    fn address(&mut self, mode: GatherMode) {
        for u in AddressMode::ALL {
            for v in AddressMode::ALL {
                for (size, at) in [([7, 5], CoordinateClass::Inside), ([4, 4], CoordinateClass::Far)] {
                    let params = GatherParams { address: [u, v], size, coordinates: at, ..GatherParams::plain(mode) };
                    let name = format!("address.{u}.{v}.{}", at.name());
                    self.add(
                        name,
                        "the address mode of each axis applies to each texel coordinate separately",
                        3,
                        params,
                    );
                }
            }
        }
    }

    fn formats(&mut self, mode: GatherMode) {
        for format in FORMATS {
            for component in 0..4 {
                let params = GatherParams { format, component, ..GatherParams::plain(mode) };
                let name = format!("format.{}.{component}", format!("{format:?}").to_lowercase());
                let rule = "channels are converted by their format; absent channels are 0, and alpha 1";
                self.add(name, rule, 5, params);
            }
        }
    }

    fn borders(&mut self, mode: GatherMode) {
        use ImageFormat as F;
        for format in [F::Rgba8, F::R8, F::Rg16f, F::Rgb10A2, F::R32f, F::Rgba8ui, F::R32i, F::Rg16ui] {
            for border in BorderColor::ALL {
                for component in 0..4 {
                    let address = [AddressMode::ClampToBorder; 2];
                    let params = GatherParams { format, border, address, component, ..GatherParams::plain(mode) };
                    if border.is_integer() != params.sampled().integer {
                        continue;
                    }
                    let name = format!("border.{}.{}.{component}", border.name(), format!("{format:?}").to_lowercase());
                    let rule = "texels beyond the edge have the border colour in the channels of the format";
                    self.add(name, rule, 7, params);
                }
            }
        }
    }

    fn swizzles(&mut self, mode: GatherMode) {
        for (swizzle, format) in [
            ("bgra", ImageFormat::Rgba8),
            ("abgr", ImageFormat::Rgba32ui),
            ("rrrr", ImageFormat::Rgba16f),
            ("01gb", ImageFormat::Rgba32f),
            ("1r0a", ImageFormat::Rgba16i),
            ("gr10", ImageFormat::Rg32ui),
            ("iari", ImageFormat::Rgba32i),
        ] {
            for component in 0..4 {
                let params = GatherParams { swizzle, format, component, ..GatherParams::plain(mode) };
                let name = format!("swizzle.{swizzle}.{component}");
                self.add(name, "the component is selected after the view's swizzle", 3, params);
            }
        }
        for (swizzle, border) in [("a1gr", BorderColor::IntOpaqueWhite), ("0bba", BorderColor::IntTransparentBlack)] {
            for component in 0..4 {
                let address = [AddressMode::ClampToBorder; 2];
                let params = GatherParams { swizzle, border, address, component, ..GatherParams::plain(mode) };
                let name = format!("swizzle.border.{swizzle}.{component}");
                self.add(name, "the view's swizzle applies to border texels", 3, params);
            }
        }
    }

    fn sizes(&mut self, mode: GatherMode) {
        for size in [[1, 1], [1, 7], [7, 1], [2, 2], [3, 5], [5, 3], [16, 9], [33, 17]] {
            for mode_of_edge in AddressMode::ALL {
                let params = GatherParams { size, address: [mode_of_edge; 2], ..GatherParams::plain(mode) };
                let name = format!("size.{}x{}.{mode_of_edge}", size[0], size[1]);
                self.add(name, "address modes apply to images smaller than the footprint and of any size", 3, params);
            }
        }
    }

    fn layers(&mut self, mode: GatherMode) {
        for (layers, base, shown) in [(1, 0, 1), (2, 0, 2), (5, 0, 5), (5, 2, 2), (6, 5, 1)] {
            for format in [ImageFormat::Rgba32ui, ImageFormat::Rgba16f] {
                let params = GatherParams { layers: Some((layers, base, shown)), format, ..GatherParams::plain(mode) };
                let name = format!("layers.{shown}_from_{base}_of_{layers}.{}", params.sampled().name);
                let rule = "the layer is the nearest one to the coordinate within the view";
                self.add(name, rule, 2, params);
            }
        }
        for mode_of_edge in AddressMode::ALL {
            let params =
                GatherParams { layers: Some((3, 0, 3)), address: [mode_of_edge; 2], ..GatherParams::plain(mode) };
            self.add(format!("layers.address.{mode_of_edge}"), "address modes do not apply to layers", 2, params);
        }
    }

    fn levels(&mut self, mode: GatherMode) {
        for (size, levels, base) in
            [([8, 8], 4, 0), ([8, 8], 4, 1), ([8, 8], 4, 3), ([9, 5], 3, 1), ([9, 5], 3, 2), ([16, 1], 4, 2)]
        {
            for mode_of_edge in [AddressMode::Repeat, AddressMode::ClampToEdge, AddressMode::ClampToBorder] {
                let params = GatherParams {
                    size,
                    levels: (levels, base),
                    address: [mode_of_edge; 2],
                    ..GatherParams::plain(mode)
                };
                let name = format!("levels.{base}_of_{levels}.{}x{}.{mode_of_edge}", size[0], size[1]);
                self.add(name, "texels come from the view's base level", 3, params);
            }
        }
    }

    fn offsets(&mut self, mode: GatherMode) {
        for (kind, place) in [("const", Offset::Constant as fn([i32; 2]) -> Offset), ("run_time", Offset::RunTime)] {
            for offset in [[-8, -8], [7, 7], [-8, 7], [3, -2], [0, 1]] {
                for mode_of_edge in AddressMode::ALL {
                    let params =
                        GatherParams { offset: place(offset), address: [mode_of_edge; 2], ..GatherParams::plain(mode) };
                    let large = mode_of_edge == AddressMode::MirroredRepeat && offset.iter().any(|n| n.abs() > 5);
                    let group = if large { "mirrored_offset" } else { "offset" };
                    let name = format!("{group}.{kind}.{}_{}.{mode_of_edge}", sign(offset[0]), sign(offset[1]));
                    let rule = "the offset applies to all four texels before the address mode";
                    self.add(name, rule, 4, params);
                }
            }
        }
    }

    fn coordinates(&mut self, mode: GatherMode) {
        for at in CoordinateClass::ALL {
            for (mode_of_edge, size) in [
                (AddressMode::Repeat, [8, 8]),
                (AddressMode::ClampToEdge, [7, 5]),
                (AddressMode::MirroredRepeat, [6, 1]),
            ] {
                for linear in [false, true] {
                    // The mode alone determines which texels are gathered, not the filter.
                    let format = if linear { ImageFormat::Rgba8 } else { ImageFormat::Rgba32ui };
                    let params = GatherParams {
                        coordinates: at,
                        address: [mode_of_edge; 2],
                        size,
                        linear,
                        format,
                        ..GatherParams::plain(mode)
                    };
                    let filter = if linear { "linear" } else { "nearest" };
                    let name = format!("at.{}.{mode_of_edge}.{filter}", at.name());
                    self.add(name, at.rule(), 2, params);
                }
            }
        }
    }

    /// Gathers with unnormalised coordinates, which the modes with predefined offsets do not allow.
    fn unnormalized(&mut self, mode: GatherMode) {
        if matches!(mode, GatherMode::Horizontal | GatherMode::Vertical) {
            return;
        }
        for mode_of_edge in [AddressMode::ClampToEdge, AddressMode::ClampToBorder] {
            for at in [CoordinateClass::Inside, CoordinateClass::Beside, CoordinateClass::Far] {
                for size in [[7, 5], [16, 9]] {
                    let params = GatherParams {
                        coordinates: at,
                        address: [mode_of_edge; 2],
                        size,
                        unnormalized: true,
                        ..GatherParams::plain(mode)
                    };
                    let name = format!("unnormalized.{}.{}x{}.{mode_of_edge}", at.name(), size[0], size[1]);
                    self.add(name, "unnormalised coordinates are in texels", 2, params);
                }
            }
        }
    }

    fn depths(&mut self, mode: GatherMode) {
        for mode_of_edge in [AddressMode::Repeat, AddressMode::ClampToEdge, AddressMode::ClampToBorder] {
            for border in [BorderColor::FloatTransparentBlack, BorderColor::FloatOpaqueWhite] {
                if border == BorderColor::FloatOpaqueWhite && mode_of_edge != AddressMode::ClampToBorder {
                    continue;
                }
                let format = ImageFormat::R32f;
                let params = GatherParams {
                    format,
                    address: [mode_of_edge; 2],
                    border,
                    depth: true,
                    ..GatherParams::plain(mode)
                };
                let beyond = if border == BorderColor::FloatOpaqueWhite { ".white" } else { "" };
                let rule = "a gather without comparison from a depth image returns depths";
                self.add(format!("depth.{mode_of_edge}{beyond}"), rule, 2, params);
            }
        }
    }
}

/// A number in a case name: `m8`, `7`.
fn sign(n: i32) -> String {
    if n < 0 { format!("m{}", n.unsigned_abs()) } else { n.to_string() }
}
