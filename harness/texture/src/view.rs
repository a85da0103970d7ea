//! Image views: subresource ranges and component swizzles.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Source of one component of a view (`VkComponentSwizzle`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of VkComponentSwizzle")]
pub enum Swizzle {
    #[default]
    Identity,
    Zero,
    One,
    R,
    G,
    B,
    A,
}

/// Source of a component, with the identity resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ComponentSource {
    /// Channel 0 (red) to 3 (alpha) of the texel.
    Texel(usize),
    /// This integer, 0 or 1.
    Constant(u32),
}

impl Swizzle {
    /// Returns the source of component `component` (0 to 3).
    pub fn component_source(self, component: usize) -> ComponentSource {
        match self {
            Swizzle::Identity => ComponentSource::Texel(component),
            Swizzle::Zero => ComponentSource::Constant(0),
            Swizzle::One => ComponentSource::Constant(1),
            Swizzle::R => ComponentSource::Texel(0),
            Swizzle::G => ComponentSource::Texel(1),
            Swizzle::B => ComponentSource::Texel(2),
            Swizzle::A => ComponentSource::Texel(3),
        }
    }

    /// Returns its letter in a swizzle such as `bgr1`. `component` (0 to 3) is the position of the
    /// letter.
    pub fn letter(self, component: usize) -> char {
        match self.component_source(component) {
            ComponentSource::Texel(channel) => ['r', 'g', 'b', 'a'].get(channel).copied().unwrap_or('?'),
            ComponentSource::Constant(n) => {
                if n == 0 {
                    '0'
                } else {
                    '1'
                }
            }
        }
    }

    /// Returns the swizzle with this letter: `r`, `g`, `b`, `a`, `0`, `1`, or `i` for the identity.
    pub fn from_letter(letter: char) -> Option<Swizzle> {
        Some(match letter {
            'i' => Swizzle::Identity,
            '0' => Swizzle::Zero,
            '1' => Swizzle::One,
            'r' => Swizzle::R,
            'g' => Swizzle::G,
            'b' => Swizzle::B,
            'a' => Swizzle::A,
            _ => return None,
        })
    }
}

/// An image view: a range of levels and layers, and a component swizzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImageView {
    /// Level of the image that is level 0 of the view.
    pub base_level: u32,
    /// Number of levels; [`ImageView::REMAINING`] for all from `base_level` on.
    pub levels: u32,
    /// Layer of the image that is layer 0 of the view.
    pub base_layer: u32,
    /// Number of layers; [`ImageView::REMAINING`] for all from `base_layer` on.
    pub layers: u32,
    /// Swizzles of red, green, blue and alpha.
    pub swizzle: [Swizzle; 4],
}

impl ImageView {
    /// All remaining levels or layers (`VK_REMAINING_MIP_LEVELS`, `VK_REMAINING_ARRAY_LAYERS`).
    pub const REMAINING: u32 = u32::MAX;

    /// View of a whole image.
    pub const ALL: ImageView = ImageView {
        base_level: 0,
        levels: ImageView::REMAINING,
        base_layer: 0,
        layers: ImageView::REMAINING,
        swizzle: [Swizzle::Identity; 4],
    };

    /// Returns the number of levels in a view of an image with `levels` levels.
    pub fn levels_of(&self, levels: u32) -> u32 {
        self.levels.min(levels.saturating_sub(self.base_level))
    }

    /// Returns the number of layers in a view of an image with `layers` layers.
    pub fn layers_of(&self, layers: u32) -> u32 {
        self.layers.min(layers.saturating_sub(self.base_layer))
    }

    /// Returns true if the view is not empty and lies within an image of this many levels and
    /// layers.
    pub fn fits(&self, levels: u32, layers: u32) -> bool {
        let inside = |base: u32, asked: u32, there: u32| {
            base < there
                && asked > 0
                && (asked == ImageView::REMAINING || base.checked_add(asked).is_some_and(|n| n <= there))
        };
        inside(self.base_level, self.levels, levels) && inside(self.base_layer, self.layers, layers)
    }

    /// Returns true if every component is its own channel.
    pub fn is_identity(&self) -> bool {
        (0..4).all(|i| self.swizzle[i].component_source(i) == ComponentSource::Texel(i))
    }

    /// Returns the source of component `component` (0 to 3).
    pub fn component_source(&self, component: usize) -> ComponentSource {
        self.swizzle.get(component).map_or(ComponentSource::Constant(0), |swizzle| swizzle.component_source(component))
    }

    /// Parses a swizzle of four letters; see [`Swizzle::from_letter`].
    pub fn swizzle_from(text: &str) -> Option<[Swizzle; 4]> {
        let all: Vec<Swizzle> = text.chars().map(Swizzle::from_letter).collect::<Option<_>>()?;
        all.try_into().ok()
    }

    /// Returns the swizzle as four letters.
    pub fn swizzle_text(&self) -> String {
        (0..4).map(|i| self.swizzle[i].letter(i)).collect()
    }
}

impl Default for ImageView {
    fn default() -> ImageView {
        ImageView::ALL
    }
}

impl fmt::Display for ImageView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let many = |n: u32| if n == ImageView::REMAINING { "on".to_owned() } else { format!("on, {n}") };
        let (levels, layers) = (many(self.levels), many(self.layers));
        let swizzle = self.swizzle_text();
        write!(f, "levels from {} {levels}; layers from {} {layers}; {swizzle}", self.base_level, self.base_layer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_limited_to_the_image() {
        let part = ImageView { base_level: 1, levels: 2, base_layer: 3, ..ImageView::ALL };
        assert!(ImageView::ALL.fits(1, 1) && part.fits(3, 4) && !part.fits(2, 4) && !part.fits(3, 3));
        assert_eq!((part.levels_of(3), part.layers_of(7), ImageView::ALL.layers_of(7)), (2, 4, 7));
        assert!(!ImageView { levels: 0, ..ImageView::ALL }.fits(1, 1));
    }

    #[test]
    fn swizzles_survive_conversion_to_text() {
        for text in ["bgra", "01ra", "rrrr"] {
            let view = ImageView { swizzle: ImageView::swizzle_from(text).unwrap(), ..ImageView::ALL };
            assert_eq!((view.swizzle_text().as_str(), view.is_identity()), (text, false));
        }
        assert!(ImageView { swizzle: ImageView::swizzle_from("igba").unwrap(), ..ImageView::ALL }.is_identity());
        assert!(ImageView::swizzle_from("rgb").is_none() && ImageView::swizzle_from("rgbx").is_none());
    }
}
