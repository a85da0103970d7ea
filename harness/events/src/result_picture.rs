//! Pictures of results: expected values, actual values, and their difference.

use base64::{Engine, prelude::BASE64_STANDARD};
use image::{ImageEncoder, codecs::png::PngEncoder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest width and height of the part of a result that a picture shows, in texels.
pub const PICTURE_SIDE: usize = 32;

/// Largest number of channels of a texel.
const CHANNELS: usize = 4;

/// Largest size of a picture's PNG in bytes.
pub const PICTURE_BYTES: usize = 64 << 10;

/// A picture of a result that is an image. Its colours distinguish values and have no other
/// meaning.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Picture {
    /// Description: the image, the part shown, and how values became colours.
    pub caption: String,
    /// Texels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Column and row of the first texel in the result. This and the next two are missing in schemas
    /// 1 and 2, whose pictures held colours.
    #[serde(default)]
    pub first: [usize; 2],
    /// Numbers of each texel, at most 4.
    #[serde(default)]
    pub channels: usize,
    /// Type of the numbers.
    #[serde(default)]
    pub number: NumberType,
    /// A permitted value of each texel, row by row, in base 64: its numbers in 4 bytes each, little
    /// endian.
    pub expected: String,
    /// The actual value of each texel, in the same form.
    pub got: String,
    /// One byte for each texel, in base 64: 1 if the actual value is not permitted, else 0.
    pub wrong: String,
    /// The tiles, if the result is an attachment of a pass with tile shading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tiles: Option<PictureTiles>,
}

/// Type of the numbers of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NumberType {
    /// 32-bit floats. Numbers of 64 bits are rounded to them.
    #[default]
    Float,
    /// Signed 32-bit integers.
    Int,
    /// Unsigned 32-bit integers.
    Uint,
}

/// Tiles of an attachment. The grid begins at its first texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct PictureTiles {
    /// Width and height of a tile, not 0.
    pub size: [usize; 2],
    /// Width and height of the apron.
    pub apron: [usize; 2],
    /// Rows of a layer. Layers stand below each other.
    pub layer: usize,
}

/// Squares of the PNG of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PngLayout {
    /// Pixels along the side of a texel.
    pub scale: usize,
    /// Pixels between the parts.
    pub gap: usize,
}

/// Texels of a result as numbers.
#[derive(Clone, Debug, Default)]
pub struct TexelGrid {
    /// Texels in a row.
    pub width: usize,
    /// A permitted value for the channels of each texel, row by row.
    pub expected: Vec<[f64; 4]>,
    /// The actual channels of each texel.
    pub got: Vec<[f64; 4]>,
    /// Set for texels whose actual value is not permitted.
    pub wrong: Vec<bool>,
    /// Channels in use.
    pub channels: usize,
    /// Type of the numbers.
    pub number: NumberType,
    /// As [`Picture::tiles`].
    pub tiles: Option<PictureTiles>,
}

impl TexelGrid {
    /// Returns the picture of the texels. A large result is cropped around the first wrong texel.
    /// Returns `None` if nothing is wrong, or if there is no complete row.
    pub fn picture(&self, what: &str) -> Option<Picture> {
        let first = self.wrong.iter().position(|wrong| *wrong)?;
        let height = self.wrong.len().checked_div(self.width)?;
        // A window with the first wrong texel near its middle, inside the image.
        let window = |at: usize, size: usize| {
            let side = size.min(PICTURE_SIDE);
            (at.saturating_sub(side / 2).min(size - side), side)
        };
        let (x0, width) = window(first % self.width, self.width);
        let (y0, height) = window(first / self.width, height);
        let all = || (y0..y0 + height).flat_map(|y| (x0..x0 + width).map(move |x| x + y * self.width));
        let values = |of: &[[f64; 4]]| -> Vec<[f64; 4]> { all().filter_map(|i| of.get(i).copied()).collect() };
        let (expected, got) = (values(&self.expected), values(&self.got));
        let wrong: Vec<u8> = all().filter_map(|i| self.wrong.get(i)).map(|wrong| u8::from(*wrong)).collect();
        if [expected.len(), got.len(), wrong.len()] != [width * height; 3] {
            return None;
        }
        let channels = self.channels.min(CHANNELS);
        let encoded = |of: &[[f64; CHANNELS]]| {
            let numbers = of.iter().flat_map(|texel| &texel[..channels]);
            BASE64_STANDARD.encode(numbers.flat_map(|number| self.number.to_bytes(*number)).collect::<Vec<u8>>())
        };
        let part = if (width, height) == (self.width, self.wrong.len() / self.width) {
            String::new()
        } else {
            format!(", texels ({x0}, {y0}) to ({}, {})", x0 + width - 1, y0 + height - 1)
        };
        let colours = ColourMap::new(expected.iter().chain(&got));
        Some(Picture {
            caption: format!("{what}{part}; {}", colours.caption()),
            width,
            height,
            first: [x0, y0],
            channels,
            number: self.number,
            expected: encoded(&expected),
            got: encoded(&got),
            wrong: BASE64_STANDARD.encode(wrong),
            tiles: self.tiles,
        })
    }
}

impl NumberType {
    fn to_bytes(self, number: f64) -> [u8; 4] {
        match self {
            NumberType::Float => (number as f32).to_le_bytes(),
            NumberType::Int => (number as i32).to_le_bytes(),
            NumberType::Uint => (number as u32).to_le_bytes(),
        }
    }

    fn value(self, bytes: [u8; 4]) -> f64 {
        match self {
            NumberType::Float => f32::from_le_bytes(bytes).into(),
            NumberType::Int => i32::from_le_bytes(bytes).into(),
            NumberType::Uint => u32::from_le_bytes(bytes).into(),
        }
    }
}

/// Mapping from channels to colours: the smallest value of each channel is dark, the largest
/// bright.
struct ColourMap {
    least: [f64; 4],
    most: [f64; 4],
    /// Set if some value is NaN.
    nan: bool,
}

impl ColourMap {
    fn new<'a>(values: impl Iterator<Item = &'a [f64; 4]>) -> ColourMap {
        let mut colours = ColourMap { least: [f64::INFINITY; 4], most: [f64::NEG_INFINITY; 4], nan: false };
        for value in values {
            colours.nan |= value.iter().any(|n| n.is_nan());
            for (k, n) in value.iter().enumerate().filter(|(_, n)| n.is_finite()) {
                colours.least[k] = colours.least[k].min(*n);
                colours.most[k] = colours.most[k].max(*n);
            }
        }
        colours
    }

    fn varies(&self, k: usize) -> bool {
        self.most[k] > self.least[k]
    }

    /// Returns red, green and blue; magenta for a value with a NaN.
    fn rgb(&self, value: &[f64; 4]) -> [u8; 3] {
        if value.iter().any(|n| n.is_nan()) {
            return [255, 0, 255];
        }
        let level = |k: usize| {
            if !self.varies(k) {
                return 0.0;
            }
            ((value[k] - self.least[k]) / (self.most[k] - self.least[k])).clamp(0.0, 1.0)
        };
        // If only the fourth channel varies, it is drawn in grey; so is a first channel that varies
        // alone.
        let grey = |level: f64| [(32.0 + 223.0 * level) as u8; 3];
        match [0, 1, 2, 3].map(|k| self.varies(k)) {
            [_, false, false, false] => grey(level(0)),
            [false, false, false, true] => grey(level(3)),
            _ => [0, 1, 2].map(|k| (32.0 + 223.0 * level(k)) as u8),
        }
    }

    fn caption(&self) -> String {
        let names = ["red", "green", "blue", "alpha"];
        let range = |k: usize| format!("{} {} to {}", names[k], self.least[k] as f32, self.most[k] as f32);
        let varying: Vec<usize> = (0..4).filter(|k| self.varies(*k)).collect();
        let mut said = match varying.as_slice() {
            [] => "every number the same".to_owned(),
            // The fourth channel is not drawn if one of the first three varies.
            [shown @ .., 3] if !shown.is_empty() => {
                let shown = shown.iter().map(|k| range(*k)).collect::<Vec<_>>().join(", ");
                format!("dark to bright: {shown}; not drawn: {}", range(3))
            }
            all => format!("dark to bright: {}", all.iter().map(|k| range(*k)).collect::<Vec<_>>().join(", ")),
        };
        if self.nan {
            said += "; magenta: NaN";
        }
        said
    }
}

impl Picture {
    /// Encodes a PNG with expected values, actual values and difference side by side, every texel a
    /// square. In the difference, permitted texels are dark and wrong ones red, brighter with the
    /// distance of the two colours. Returns `None` if the parts do not fit each other, or if the
    /// file would be too large.
    pub fn png(&self) -> Option<Vec<u8>> {
        let Picture { width, height, .. } = *self;
        if width == 0 || height == 0 || width.max(height) > PICTURE_SIDE {
            return None;
        }
        let texels = width * height;
        let (expected, got) = (self.values(&self.expected)?, self.values(&self.got)?);
        let wrong = BASE64_STANDARD.decode(&self.wrong).ok()?;
        if [expected.len(), got.len(), wrong.len()] != [texels; 3] {
            return None;
        }
        let map = ColourMap::new(expected.iter().chain(&got));
        let drawn = |of: &[[f64; CHANNELS]]| of.iter().flat_map(|value| map.rgb(value)).collect::<Vec<u8>>();
        let (expected, got) = (drawn(&expected), drawn(&got));
        let difference: Vec<u8> = (0..texels)
            .flat_map(|i| {
                let apart = |k: usize| expected[i * 3 + k].abs_diff(got[i * 3 + k]);
                match wrong[i] {
                    0 => [24; 3],
                    _ => {
                        let most = (0..3).map(apart).max().unwrap_or(0);
                        [160 + (u32::from(most) * 95 / 255) as u8, 32, 32]
                    }
                }
            })
            .collect();
        let PngLayout { scale, gap } = self.layout();
        let (columns, rows) = (3 * width * scale + 2 * gap, height * scale);
        let mut pixels = vec![255u8; columns * rows * 3];
        for (part, colours) in [&expected, &got, &difference].into_iter().enumerate() {
            let left = part * (width * scale + gap);
            for (x, y) in (0..height * scale).flat_map(|y| (0..width * scale).map(move |x| (x, y))) {
                let (from, to) = ((x / scale + y / scale * width) * 3, (left + x + y * columns) * 3);
                pixels[to..to + 3].copy_from_slice(&colours[from..from + 3]);
            }
        }
        let mut png = Vec::new();
        let encoder = PngEncoder::new(&mut png);
        encoder.write_image(&pixels, columns as u32, rows as u32, image::ExtendedColorType::Rgb8).ok()?;
        (png.len() <= PICTURE_BYTES).then_some(png)
    }

    /// Returns the numbers of each texel; `None` if they are not whole texels.
    fn values(&self, text: &str) -> Option<Vec<[f64; CHANNELS]>> {
        if !(1..=CHANNELS).contains(&self.channels) {
            return None;
        }
        let bytes = BASE64_STANDARD.decode(text).ok()?;
        let (numbers, []) = bytes.as_chunks::<4>() else { return None };
        let texels = numbers.chunks_exact(self.channels);
        let value = |texel: &[[u8; 4]]| {
            let mut value = [0.0; CHANNELS];
            value.iter_mut().zip(texel).for_each(|(channel, bytes)| *channel = self.number.value(*bytes));
            value
        };
        texels.remainder().is_empty().then(|| texels.map(value).collect())
    }

    /// Returns the squares of the PNG.
    pub fn layout(&self) -> PngLayout {
        /// Pixels to which a part is scaled.
        const WIDE: usize = 256;
        PngLayout { scale: (WIDE / self.width.max(self.height).max(1)).max(1), gap: 8 }
    }

    /// Returns the PNG as a `data:` URI.
    pub fn data_uri(&self) -> Option<String> {
        self.png().map(|png| format!("data:image/png;base64,{}", BASE64_STANDARD.encode(png)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a ramp in one channel with one wrong texel.
    fn texels(width: usize, height: usize, wrong: usize) -> TexelGrid {
        let expected: Vec<[f64; 4]> = (0..width * height).map(|i| [i as f64, 0.0, 0.0, 1.0]).collect();
        let mut got = expected.clone();
        got[wrong][0] += 3.0;
        let wrong = (0..width * height).map(|i| i == wrong).collect();
        TexelGrid { width, expected, got, wrong, channels: 4, ..TexelGrid::default() }
    }

    fn decoded(png: &[u8]) -> image::RgbImage {
        image::load_from_memory_with_format(png, image::ImageFormat::Png).unwrap().to_rgb8()
    }

    #[test]
    fn three_parts_show_the_wrong_texel() {
        let picture = texels(4, 3, 5).picture("attachment 0").unwrap();
        assert_eq!((picture.width, picture.height), (4, 3));
        assert_eq!(picture.caption, "attachment 0; dark to bright: red 0 to 11");
        let png = decoded(&picture.png().unwrap());
        // Texel (1, 1), 64 pixels for each texel, 8 between the parts.
        assert_eq!(png.dimensions(), (3 * 256 + 16, 192));
        let at = |part: u32, x: u32, y: u32| png.get_pixel(part * 264 + x * 64 + 32, y * 64 + 32).0;
        assert_eq!(at(0, 0, 0), at(1, 0, 0));
        assert_ne!(at(0, 1, 1), at(1, 1, 1));
        assert_eq!(at(1, 1, 1), at(0, 0, 2), "5 + 3 is what texel 8 holds");
        assert_eq!(at(2, 0, 0), [24; 3]);
        assert!(at(2, 1, 1)[0] >= 160 && at(2, 1, 1)[1] < 64);
        assert_eq!(png.get_pixel(257, 5).0, [255; 3], "between the parts");
    }

    #[test]
    fn large_results_are_drawn_around_the_first_wrong_texel() {
        let picture = texels(300, 200, 299 + 100 * 300).picture("image").unwrap();
        assert_eq!((picture.width, picture.height, picture.first), (32, 32, [268, 84]));
        assert!(picture.caption.starts_with("image, texels (268, 84) to (299, 115); "), "{}", picture.caption);
        assert!(picture.png().is_some());
        assert!(picture.data_uri().unwrap().starts_with("data:image/png;base64,iVBOR"));
    }

    #[test]
    fn invalid_grids_and_pictures_give_no_picture() {
        let right = TexelGrid { wrong: vec![false; 12], ..texels(4, 3, 5) };
        assert_eq!(right.picture("image"), None);
        assert_eq!(TexelGrid::default().picture("nothing"), None);
        let picture = texels(4, 3, 5).picture("image").unwrap();
        for spoilt in [
            Picture { expected: "not base 64".into(), ..picture.clone() },
            Picture { width: 5, ..picture.clone() },
            Picture { width: usize::MAX, height: usize::MAX, ..picture.clone() },
            Picture { got: String::new(), ..picture.clone() },
            Picture { channels: 3, ..picture.clone() },
            Picture { channels: 0, ..picture },
        ] {
            assert_eq!(spoilt.png(), None);
        }
    }

    /// Three varying channels leave the fourth undrawn, and the caption states it.
    #[test]
    fn a_caption_says_what_is_drawn() {
        let mut texels = texels(2, 2, 1);
        texels.got[0][3] = 0.5;
        let caption = |texels: &TexelGrid| texels.picture("image").unwrap().caption;
        assert_eq!(caption(&texels), "image; dark to bright: red 0 to 4; not drawn: alpha 0.5 to 1");
        texels.expected.iter_mut().chain(&mut texels.got).for_each(|value| value[0] = 0.0);
        assert_eq!(caption(&texels), "image; dark to bright: alpha 0.5 to 1");
    }

    #[test]
    fn nans_are_magenta_and_infinities_brightest() {
        let mut texels = texels(2, 2, 1);
        texels.got[1] = [f64::NAN; 4];
        texels.got[2] = [f64::INFINITY; 4];
        let picture = texels.picture("image").unwrap();
        assert!(picture.caption.ends_with("; magenta: NaN"), "{}", picture.caption);
        let png = decoded(&picture.png().unwrap());
        let got = |x: u32, y: u32| png.get_pixel(264 + x * 128 + 64, y * 128 + 64).0;
        assert_eq!(got(1, 0), [255, 0, 255]);
        assert_eq!(got(0, 1)[0], 255);
    }

    #[test]
    fn a_picture_keeps_the_numbers() {
        let extremes = [u32::MAX.into(), 0.0, 0.0, 0.0];
        let ends = [-1.0, i32::MIN.into(), 0.0, 0.0];
        for (number, value) in
            [(NumberType::Uint, extremes), (NumberType::Int, ends), (NumberType::Float, [0.1f32.into(); 4])]
        {
            let grid = TexelGrid { number, channels: 2, got: vec![value; 4], ..texels(2, 2, 1) };
            let picture = grid.picture("image").unwrap();
            let kept = picture.values(&picture.got).unwrap();
            assert_eq!(kept[3][..2], value[..2]);
            assert_eq!(kept[3][2..], [0.0; 2]);
        }
    }
}
