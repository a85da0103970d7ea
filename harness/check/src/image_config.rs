//! Configuration of images and samplers in case files and bundles.

use crate::CheckError;
use assay_oracle::{Image, Resource};
use assay_spirv::tables::ImageFormat;
use assay_texture::{AddressMode, BorderColor, CompareOp, ImageView, Sampler};
use serde::{Deserialize, Serialize};

/// Properties of an image that do not follow from the shader and the dispatch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImageConfig {
    /// Size of the first mip level, one number for each axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Vec<u32>>,
    /// Number of array layers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers: Option<u32>,
    /// Number of mip levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<u32>,
    /// Number of samples of a texel of a multisampled image [default: 4].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// Format, if the shader does not fix it: a name of SPIR-V, such as `Rgba8` or `R16f`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// First mip level of the view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_level: Option<u32>,
    /// Number of mip levels of the view [default: all remaining ones].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_levels: Option<u32>,
    /// First array layer of the view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_layer: Option<u32>,
    /// Number of array layers of the view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_layers: Option<u32>,
    /// Swizzle: four of `r`, `g`, `b`, `a`, `0`, `1`, and `i` for identity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swizzle: Option<String>,
}

impl ImageConfig {
    /// Returns the properties of an image, without its contents.
    pub fn of(image: &Image) -> ImageConfig {
        let Image { extent, layers, levels, samples, format, view, .. } = image;
        let some = |n: u32| (n != ImageView::REMAINING).then_some(n);
        ImageConfig {
            size: Some(extent.to_vec()),
            layers: Some(*layers),
            levels: Some(*levels),
            samples: (*samples > 1).then_some(*samples),
            format: Some(format!("{format:?}")),
            base_level: Some(view.base_level),
            view_levels: some(view.levels),
            base_layer: Some(view.base_layer),
            view_layers: some(view.layers),
            swizzle: Some(view.swizzle_text()),
        }
    }

    /// Returns the format, if one is given.
    ///
    /// # Errors
    /// The format does not exist.
    pub fn image_format(&self) -> Result<Option<ImageFormat>, CheckError> {
        let Some(name) = &self.format else { return Ok(None) };
        // Formats have small numbers.
        let mut formats = (0..64).filter_map(ImageFormat::from_word);
        match formats.find(|format| format!("{format:?}") == *name) {
            Some(ImageFormat::Unknown) | None => Err(CheckError::option(format!(
                "unknown texel format `{name}`; expected a format such as `Rgba8` or `R32f`"
            ))),
            found => Ok(found),
        }
    }

    /// Returns `view` with the given properties replaced.
    ///
    /// # Errors
    /// The swizzle is invalid.
    pub fn view(&self, view: ImageView) -> Result<ImageView, CheckError> {
        let swizzle = match &self.swizzle {
            None => view.swizzle,
            Some(text) => ImageView::swizzle_from(text).ok_or_else(|| {
                CheckError::option(format!("swizzle `{text}`: expected four of r, g, b, a, 0, 1 and i"))
            })?,
        };
        Ok(ImageView {
            base_level: self.base_level.unwrap_or(view.base_level),
            levels: self.view_levels.unwrap_or(view.levels),
            base_layer: self.base_layer.unwrap_or(view.base_layer),
            layers: self.view_layers.unwrap_or(view.layers),
            swizzle,
        })
    }
}

/// Properties of a sampler; the default is [`Sampler::NEAREST`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SamplerConfig {
    /// Filter within a mip level: `nearest` or `linear`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Filter between mip levels: `nearest` or `linear`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mipmap: Option<String>,
    /// Address mode of each axis: `repeat`, `mirrored_repeat`, `clamp_to_edge`, `clamp_to_border`
    /// or `mirror_clamp_to_edge`. The last one applies to all further axes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Vec<String>>,
    /// Border colour, such as `float_transparent_black` or `int_opaque_white`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub border: Option<String>,
    /// Comparison: `never`, `less`, `equal`, `less_or_equal`, `greater`, `not_equal`,
    /// `greater_or_equal` or `always`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<String>,
    /// Set if coordinates are in texels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unnormalized: Option<bool>,
}

const COMPARE: [(&str, CompareOp); 8] = [
    ("never", CompareOp::Never),
    ("less", CompareOp::Less),
    ("equal", CompareOp::Equal),
    ("less_or_equal", CompareOp::LessOrEqual),
    ("greater", CompareOp::Greater),
    ("not_equal", CompareOp::NotEqual),
    ("greater_or_equal", CompareOp::GreaterOrEqual),
    ("always", CompareOp::Always),
];

impl SamplerConfig {
    /// Returns the properties of a sampler.
    pub fn of(sampler: &Sampler) -> SamplerConfig {
        let filter = |linear: bool| Some(if linear { "linear" } else { "nearest" }.to_owned());
        let compare =
            |op: CompareOp| COMPARE.iter().find(|(_, known)| *known == op).map(|(name, _)| (*name).to_owned());
        SamplerConfig {
            filter: filter(sampler.linear),
            mipmap: filter(sampler.mipmap_linear),
            address: Some(sampler.address.iter().map(ToString::to_string).collect()),
            border: Some(sampler.border.to_string()),
            compare: sampler.compare.and_then(compare),
            unnormalized: Some(sampler.unnormalized),
        }
    }

    /// Returns the sampler.
    ///
    /// # Errors
    /// A name is unknown; the message lists the known ones.
    pub fn sampler(&self) -> Result<Sampler, CheckError> {
        let linear = |text: &Option<String>| match text.as_deref() {
            None => Ok(false),
            Some(text) => choose("filter", text, &[("nearest", false), ("linear", true)]),
        };
        let modes = AddressMode::ALL.map(|mode| (mode.name(), mode));
        let mut address = Sampler::NEAREST.address;
        if let Some(given) = &self.address {
            if given.is_empty() || given.len() > 3 {
                return Err(CheckError::option("`address` must have one to three modes, for u, v and w"));
            }
            for (k, mode) in address.iter_mut().enumerate() {
                *mode = choose("address mode", &given[k.min(given.len() - 1)], &modes)?;
            }
        }
        let borders = BorderColor::ALL.map(|color| (color.to_string(), color));
        let borders: Vec<(&str, BorderColor)> = borders.iter().map(|(name, color)| (name.as_str(), *color)).collect();
        Ok(Sampler {
            linear: linear(&self.filter)?,
            mipmap_linear: linear(&self.mipmap)?,
            address,
            border: self.border.as_deref().map_or(Ok(BorderColor::default()), |t| choose("border", t, &borders))?,
            compare: self.compare.as_deref().map(|text| choose("comparison", text, &COMPARE)).transpose()?,
            unnormalized: self.unnormalized.unwrap_or(false),
        })
    }
}

fn choose<T: Copy>(what: &str, text: &str, all: &[(&str, T)]) -> Result<T, CheckError> {
    all.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| {
        let expected: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        CheckError::option(format!("unknown {what} `{text}`; expected one of {}", expected.join(", ")))
    })
}

/// Returns the properties of a resource's image and sampler.
pub(crate) fn image_and_sampler(resource: &Resource) -> (Option<ImageConfig>, Option<SamplerConfig>) {
    match resource {
        Resource::Image(image) => (Some(ImageConfig::of(image)), None),
        Resource::CombinedImageSampler(image, sampler) => {
            (Some(ImageConfig::of(image)), Some(SamplerConfig::of(sampler)))
        }
        Resource::Sampler(sampler) => (None, Some(SamplerConfig::of(sampler))),
        // Buffers have contents only, and `Resource` is not exhaustive.
        _ => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samplers_round_trip_through_text() {
        let sampler = Sampler {
            linear: true,
            address: [AddressMode::ClampToBorder, AddressMode::MirrorClampToEdge, AddressMode::Repeat],
            border: BorderColor::IntOpaqueWhite,
            compare: Some(CompareOp::GreaterOrEqual),
            ..Sampler::NEAREST
        };
        assert_eq!(SamplerConfig::of(&sampler).sampler().unwrap(), sampler);
        let short: SamplerConfig = toml::from_str("address = [\"repeat\"]\nfilter = \"linear\"").unwrap();
        assert_eq!(short.sampler().unwrap().address, [AddressMode::Repeat; 3]);
        for wrong in ["filter = \"cubic\"", "address = []", "border = \"black\"", "compare = \"<\""] {
            let form: SamplerConfig = toml::from_str(wrong).unwrap();
            assert!(form.sampler().is_err(), "{wrong}");
        }
        assert!(toml::from_str::<SamplerConfig>("filters = \"linear\"").is_err());
    }

    #[test]
    fn image_formats_and_swizzles_are_parsed() {
        let form = |format: &str, swizzle: &str| ImageConfig {
            format: Some(format.into()),
            swizzle: Some(swizzle.into()),
            ..ImageConfig::default()
        };
        let good = form("Rgba8", "bgr1");
        assert_eq!(good.image_format().unwrap(), Some(ImageFormat::Rgba8));
        assert_eq!(good.view(ImageView::ALL).unwrap().swizzle_text(), "bgr1");
        assert!(form("rgba8", "x").image_format().is_err() && form("Unknown", "x").image_format().is_err());
        assert!(form("Rgba8", "rgb").view(ImageView::ALL).is_err());
    }
}
