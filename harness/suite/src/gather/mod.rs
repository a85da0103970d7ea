//! `gather.*`: SPV_QCOM_image_processing3, and the core gather beside it.
//!
//! Every mode with every component, address mode, format, border colour, swizzle, size, level, layer and offset, with unnormalised
//! coordinates, and of depths: one or two of these vary in a group of cases while the others stay plain. The core gather runs
//! everywhere; the modes of the extension run natively or lowered. Images have the formats that SPIR-V names, among which none is
//! sRGB. What devices are known to be excused for (mirrored repeat with large offsets) has names of its own.

mod form;
mod places;
mod second;

use crate::{About, Case, Suite};
use assay_spirv::sampling::{AddressMode, BorderColor, GatherMode};
use assay_spirv::tables::ImageFormat;
use form::{Form, Offset};
use places::Places;

/// The suite.
#[derive(Debug)]
pub(crate) struct Gathers;

impl Suite for Gathers {
    fn name(&self) -> &'static str {
        "gather"
    }

    fn why(&self) -> &'static str {
        "four texels at once: which ones, in which order, of which component, and what they are beyond the edge"
    }

    fn cases(&self) -> Vec<Case> {
        let mut cases = Cases { all: Vec::new() };
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
            cases.places(mode);
        }
        // Behind the others, whose share of the quick budget goes by their number.
        for mode in GatherMode::ALL {
            cases.unnormalized(mode);
            cases.depths(mode);
        }
        cases.all
    }
}

/// The document of the modes; the core gather is Vulkan's own.
const CLAUSE: &str = "SPV_QCOM_image_processing3";

/// Formats that may be sampled, by the names that SPIR-V has for them. Those of 64-bit integers cannot be gathered from with
/// 32-bit results.
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

struct Cases {
    all: Vec<Case>,
}

impl Cases {
    /// Adds a case. Of `quick` ones the quick budget has the first of so many, counted over all cases of the suite.
    fn add(&mut self, name: String, rule: &'static str, one_in: usize, form: Form) {
        let thinned = !self.all.len().is_multiple_of(one_in);
        let name = form.mode.cases() + &name;
        let core = form.mode == GatherMode::Core;
        let about = About {
            instruction: if core { "OpImageGather" } else { "OpImageGatherQCOM" },
            types: format!("{} of {:?}", form.sampled().name, form.format),
            rule,
            clause: if core { "Vulkan, Texel Gathering" } else { CLAUSE },
        };
        let case = if core {
            Case::core(name, about, move || form.program(crate::RunPath::Native))
        } else {
            Case::extension(name, about, move |path| form.program(path))
        };
        self.all.push(case.thinned(thinned).covering(form.covers()));
    }

    /// One of each sampled type and component, all else plain.
    fn plain(&mut self, mode: GatherMode) {
        for format in [ImageFormat::Rgba32ui, ImageFormat::Rgba32i, ImageFormat::Rgba32f] {
            for component in 0..4 {
                let form = Form { format, component, ..Form::plain(mode) };
                let name = format!("plain.{}.{component}", form.sampled().name);
                self.add(name, "the four texels of the mode, in its order, of the component asked for", 1, form);
            }
        }
    }

    fn address(&mut self, mode: GatherMode) {
        for u in AddressMode::ALL {
            for v in AddressMode::ALL {
                for (size, at) in [([7, 5], Places::Sure), ([4, 4], Places::Far)] {
                    let form = Form { address: [u, v], size, places: at, ..Form::plain(mode) };
                    let name = format!("address.{u}.{v}.{}", at.name());
                    self.add(name, "each texel coordinate is brought inside on its own, by its axis' mode", 3, form);
                }
            }
        }
    }

    fn formats(&mut self, mode: GatherMode) {
        for format in FORMATS {
            for component in 0..4 {
                let form = Form { format, component, ..Form::plain(mode) };
                let name = format!("format.{}.{component}", format!("{format:?}").to_lowercase());
                let rule = "a channel is converted as its format says; what a format lacks is 0, and 1 for alpha";
                self.add(name, rule, 5, form);
            }
        }
    }

    fn borders(&mut self, mode: GatherMode) {
        use ImageFormat as F;
        for format in [F::Rgba8, F::R8, F::Rg16f, F::Rgb10A2, F::R32f, F::Rgba8ui, F::R32i, F::Rg16ui] {
            for border in BorderColor::ALL {
                for component in 0..4 {
                    let address = [AddressMode::ClampToBorder; 2];
                    let form = Form { format, border, address, component, ..Form::plain(mode) };
                    if border.is_integer() != form.sampled().integer {
                        continue;
                    }
                    let name = format!("border.{}.{}.{component}", border.name(), format!("{format:?}").to_lowercase());
                    let rule = "beyond the edge is the border's colour, in the channels that the format has";
                    self.add(name, rule, 7, form);
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
                let form = Form { swizzle, format, component, ..Form::plain(mode) };
                let name = format!("swizzle.{swizzle}.{component}");
                self.add(name, "a component is that of the view after its swizzle, texel by texel", 3, form);
            }
        }
        for (swizzle, border) in [("a1gr", BorderColor::IntOpaqueWhite), ("0bba", BorderColor::IntTransparentBlack)] {
            for component in 0..4 {
                let address = [AddressMode::ClampToBorder; 2];
                let form = Form { swizzle, border, address, component, ..Form::plain(mode) };
                let name = format!("swizzle.border.{swizzle}.{component}");
                self.add(name, "texels of the border are swizzled as all others are", 3, form);
            }
        }
    }

    fn sizes(&mut self, mode: GatherMode) {
        for size in [[1, 1], [1, 7], [7, 1], [2, 2], [3, 5], [5, 3], [16, 9], [33, 17]] {
            for mode_of_edge in AddressMode::ALL {
                let form = Form { size, address: [mode_of_edge; 2], ..Form::plain(mode) };
                let name = format!("size.{}x{}.{mode_of_edge}", size[0], size[1]);
                self.add(name, "a footprint larger than the image, and sizes that are no powers of two", 3, form);
            }
        }
    }

    fn layers(&mut self, mode: GatherMode) {
        for (layers, base, shown) in [(1, 0, 1), (2, 0, 2), (5, 0, 5), (5, 2, 2), (6, 5, 1)] {
            for format in [ImageFormat::Rgba32ui, ImageFormat::Rgba16f] {
                let form = Form { layers: Some((layers, base, shown)), format, ..Form::plain(mode) };
                let name = format!("layers.{shown}_from_{base}_of_{layers}.{}", form.sampled().name);
                let rule = "the layer is the nearest to the coordinate, of those that the view has";
                self.add(name, rule, 2, form);
            }
        }
        for mode_of_edge in AddressMode::ALL {
            let form = Form { layers: Some((3, 0, 3)), address: [mode_of_edge; 2], ..Form::plain(mode) };
            self.add(format!("layers.address.{mode_of_edge}"), "address modes do not reach into other layers", 2, form);
        }
    }

    fn levels(&mut self, mode: GatherMode) {
        for (size, levels, base) in
            [([8, 8], 4, 0), ([8, 8], 4, 1), ([8, 8], 4, 3), ([9, 5], 3, 1), ([9, 5], 3, 2), ([16, 1], 4, 2)]
        {
            for mode_of_edge in [AddressMode::Repeat, AddressMode::ClampToEdge, AddressMode::ClampToBorder] {
                let form = Form { size, levels: (levels, base), address: [mode_of_edge; 2], ..Form::plain(mode) };
                let name = format!("levels.{base}_of_{levels}.{}x{}.{mode_of_edge}", size[0], size[1]);
                self.add(name, "texels are of the view's base level", 3, form);
            }
        }
    }

    fn offsets(&mut self, mode: GatherMode) {
        for (kind, place) in [("const", Offset::Constant as fn([i32; 2]) -> Offset), ("run_time", Offset::RunTime)] {
            for offset in [[-8, -8], [7, 7], [-8, 7], [3, -2], [0, 1]] {
                for mode_of_edge in AddressMode::ALL {
                    let form = Form { offset: place(offset), address: [mode_of_edge; 2], ..Form::plain(mode) };
                    let large = mode_of_edge == AddressMode::MirroredRepeat && offset.iter().any(|n| n.abs() > 5);
                    let group = if large { "mirrored_offset" } else { "offset" };
                    let name = format!("{group}.{kind}.{}_{}.{mode_of_edge}", sign(offset[0]), sign(offset[1]));
                    let rule = "an offset moves all four texels, before they are brought inside";
                    self.add(name, rule, 4, form);
                }
            }
        }
    }

    fn places(&mut self, mode: GatherMode) {
        for at in Places::ALL {
            for (mode_of_edge, size) in [
                (AddressMode::Repeat, [8, 8]),
                (AddressMode::ClampToEdge, [7, 5]),
                (AddressMode::MirroredRepeat, [6, 1]),
            ] {
                for linear in [false, true] {
                    // Whatever the filter, which texels are gathered follows from the mode alone.
                    let format = if linear { ImageFormat::Rgba8 } else { ImageFormat::Rgba32ui };
                    let form =
                        Form { places: at, address: [mode_of_edge; 2], size, linear, format, ..Form::plain(mode) };
                    let filter = if linear { "linear" } else { "nearest" };
                    let name = format!("at.{}.{mode_of_edge}.{filter}", at.name());
                    self.add(name, at.rule(), 2, form);
                }
            }
        }
    }

    /// Gathers with unnormalised coordinates, which exclude the modes that are predefined offsets.
    fn unnormalized(&mut self, mode: GatherMode) {
        if matches!(mode, GatherMode::Horizontal | GatherMode::Vertical) {
            return;
        }
        for mode_of_edge in [AddressMode::ClampToEdge, AddressMode::ClampToBorder] {
            for at in [Places::Sure, Places::Beside, Places::Far] {
                for size in [[7, 5], [16, 9]] {
                    let form =
                        Form { places: at, address: [mode_of_edge; 2], size, unnormalized: true, ..Form::plain(mode) };
                    let name = format!("unnormalized.{}.{}x{}.{mode_of_edge}", at.name(), size[0], size[1]);
                    self.add(name, "unnormalised coordinates are in texels", 2, form);
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
                let form = Form { format, address: [mode_of_edge; 2], border, depth: true, ..Form::plain(mode) };
                let beyond = if border == BorderColor::FloatOpaqueWhite { ".white" } else { "" };
                let rule = "a gather from an image of depths without a comparison gives its depths";
                self.add(format!("depth.{mode_of_edge}{beyond}"), rule, 2, form);
            }
        }
    }
}

/// A number in the name of a case: `m8`, `7`.
fn sign(n: i32) -> String {
    if n < 0 { format!("m{}", n.unsigned_abs()) } else { n.to_string() }
}
