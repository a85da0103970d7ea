//! Shapes of images and texel buffers.

use assay_oracle::{Image, texel_scalars};
use assay_precision::Scalar;
use serde::{Deserialize, Serialize};

/// Shape of an image or texel buffer: size, format and view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "(Image, bool)", into = "(Image, bool)")]
pub struct ImageShape {
    /// The image without contents.
    image: Image,
    arrayed: bool,
    /// Scalars of a texel in memory.
    scalars: Vec<Scalar>,
}

impl ImageShape {
    /// Returns the shape of an image, whose contents are dropped; `None` if its format is not a
    /// memory format. `arrayed` is set for an array image.
    pub fn new(image: Image, arrayed: bool) -> Option<ImageShape> {
        Some(ImageShape { scalars: texel_scalars(image.format)?, image: Image { data: Vec::new(), ..image }, arrayed })
    }

    /// Returns the image without contents.
    pub fn without_contents(&self) -> &Image {
        &self.image
    }

    /// Returns the image with contents.
    pub fn image(&self, data: Vec<u8>) -> Image {
        Image { data, ..self.image.clone() }
    }

    /// Returns whether it is an array image.
    pub fn is_arrayed(&self) -> bool {
        self.arrayed
    }

    /// Returns the scalars of a texel in memory.
    pub fn scalars(&self) -> &[Scalar] {
        &self.scalars
    }

    /// Returns the size of all levels, layers and samples in bytes, saturating.
    pub fn bytes(&self) -> u64 {
        let texel: u64 = self.scalars.iter().map(|s| u64::from(s.width() / 8)).sum();
        (0..self.image.levels).fold(0, |bytes, level| {
            let sides = self.image.extent_of(level).map(u64::from);
            let slices = u64::from(self.image.layers) * u64::from(self.image.samples);
            let samples = sides.iter().fold(slices, |n, side| n.saturating_mul(*side));
            u64::saturating_add(bytes, samples.saturating_mul(texel))
        })
    }
}

impl TryFrom<(Image, bool)> for ImageShape {
    type Error = &'static str;

    fn try_from((image, arrayed): (Image, bool)) -> Result<ImageShape, &'static str> {
        ImageShape::new(image, arrayed).ok_or("the format of an image is no memory format")
    }
}

impl From<ImageShape> for (Image, bool) {
    fn from(shape: ImageShape) -> (Image, bool) {
        (shape.image, shape.arrayed)
    }
}
