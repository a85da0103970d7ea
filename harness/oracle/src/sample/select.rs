//! Selection of texels, levels and layers from coordinates: every choice that a device may make.
//!
//! A coordinate is scaled and rounded in floating point, so near a boundary it may go to either
//! side. The distance depends on the reading:
//!
//! * *usual*: within [`SLACK`] of the larger of the coordinate and the axis' size, both in texels.
//!   That is two to four ulps of a 32-bit float: one for the product, one for the subtraction, and
//!   as many for a device that wraps before it scales.
//! * *lenient*: a step of `2^-subTexelPrecisionBits` in addition, for devices that keep no more of
//!   a coordinate. The text ties only weights to these bits, and does not say that texels are
//!   selected more finely. Also an error of [`ACCURACY`], which is all that the text requires of
//!   the arithmetic.
//!
//! Layers are rounded in either way that the text permits, and levels of detail like coordinates.
//! Beyond [`GREATEST`] the lenient reading requires nothing.

use super::ACCURACY;
use crate::dispatch::Filtering;
use assay_texture::{AddressMode, FootprintOrigin};

/// Bound on the rounding error of a coordinate, relative to the larger of the coordinate and the
/// axis.
pub const SLACK: f64 = 1.0 / (1u32 << 22) as f64;

/// "The maximum representable magnitude for all floating-point values must be at least 2^32":
/// Vulkan, "Floating-Point Computation". A larger result may be an infinity, which leaves the rest
/// undefined.
pub const GREATEST: f64 = (1u64 << 32) as f64;

/// Distance beyond an edge, in texels, that exceeds every offset: from there all texels of a
/// clamped axis are equal.
const MARGIN: i64 = 1 << 12;

/// The reading that bounds the choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Coordinates have the precision of floating-point arithmetic.
    Usual,
    /// Coordinates have the precision of the device's fraction bits.
    Lenient,
}

/// A coordinate along an axis, and the properties of the axis.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Ends of the coordinate in the units of the shader.
    pub coordinate: (f64, f64),
    /// Number of texels along the axis.
    pub size: u32,
    /// Set if the coordinate is in texels.
    pub unnormalized: bool,
    /// Addressing beyond the edges.
    pub address: AddressMode,
}

/// One choice of texels along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The coordinate of the texel that offsets are relative to; it may lie beyond the edges.
    pub texel: i64,
    /// Ends of the weight of the next texel, for linear filtering.
    pub weight: (f64, f64),
}

impl Axis {
    /// Ends of the coordinate in texels.
    #[inline]
    pub fn scaled(&self) -> (f64, f64) {
        let scale = if self.unnormalized { 1.0 } else { f64::from(self.size) };
        (self.coordinate.0 * scale, self.coordinate.1 * scale)
    }

    /// Returns true if the texel is undetermined: the coordinate exceeds the numbers that a device
    /// must represent, and the axis repeats.
    #[inline]
    pub fn is_lost(&self) -> bool {
        let (lo, hi) = self.scaled();
        matches!(self.address, AddressMode::Repeat | AddressMode::MirroredRepeat) && !is_representable((lo, hi))
    }

    /// Ends of the coordinate in texels, with rounding errors.
    #[inline]
    fn in_texels(&self, origin: FootprintOrigin, reach: Reach, filtering: Filtering) -> (f64, f64) {
        let size = f64::from(self.size);
        let (lo, hi) = self.scaled();
        let rounding = |u: f64| SLACK * u.abs().max(size);
        let slack = |u: f64| match reach {
            // An unnormalised coordinate is floored without being computed.
            Reach::Usual if self.unnormalized && origin == FootprintOrigin::Nearest => 0.0,
            Reach::Usual => rounding(u),
            Reach::Lenient => rounding(u).max(ACCURACY * u.abs()) + fraction(filtering.sub_texel_bits),
        };
        (lo - slack(lo), hi + slack(hi))
    }

    /// The first and the last texel that offsets may be relative to. Far beyond the edges of an
    /// axis that does not repeat, one texel represents all.
    #[inline]
    pub fn texels(&self, origin: FootprintOrigin, reach: Reach, filtering: Filtering) -> (i64, i64) {
        let (lo, hi) = self.in_texels(origin, reach, filtering);
        let near = |u: f64| {
            let texel = floor(u - origin.shift());
            let size = i64::from(self.size);
            match self.address {
                AddressMode::Repeat | AddressMode::MirroredRepeat => texel,
                AddressMode::ClampToEdge | AddressMode::ClampToBorder => texel.clamp(-MARGIN, size + MARGIN),
                AddressMode::MirrorClampToEdge => texel.clamp(-size - MARGIN, size + MARGIN),
            }
        };
        (near(lo), near(hi))
    }

    /// All choices, with the weights of linear filtering; `None` if there are more than `most`.
    pub fn choices(
        &self,
        origin: FootprintOrigin,
        reach: Reach,
        filtering: Filtering,
        most: usize,
    ) -> Option<Vec<Choice>> {
        if self.is_lost() {
            return None;
        }
        let (first, last) = self.texels(origin, reach, filtering);
        if last.checked_sub(first)? >= most as i64 {
            return None;
        }
        let (lo, hi) = self.in_texels(origin, reach, filtering);
        let steps = 1.0 / fraction(filtering.sub_texel_bits);
        let weight = |u: f64, texel: i64| (u - origin.shift() - texel as f64).clamp(0.0, 1.0);
        let choice = |texel: i64| Choice {
            texel,
            weight: ((weight(lo, texel) * steps).floor() / steps, (weight(hi, texel) * steps).ceil() / steps),
        };
        Some((first..=last).map(choice).collect())
    }
}

/// Floor, without the function call that `f64::floor` is on older processors.
#[inline]
fn floor(u: f64) -> i64 {
    let toward_zero = u as i64;
    toward_zero.saturating_sub(i64::from(toward_zero as f64 > u))
}

/// `2^-bits`.
fn fraction(bits: u32) -> f64 {
    1.0 / (1u64 << bits.min(52)) as f64
}

/// Returns true if every device represents all numbers of a range.
#[inline]
pub fn is_representable((lo, hi): (f64, f64)) -> bool {
    lo >= -GREATEST && hi <= GREATEST
}

/// The layers that a coordinate may select, of `layers`: the nearest, and if two are equally near
/// the even one ("preferred") or the later ("alternative"), clamped to the last. "(u,v,w,a) to
/// (i,j,k,l,n) Transformation and Array Layer Selection".
#[inline]
pub fn layers((lo, hi): (f64, f64), layers: u32, reach: Reach) -> (u32, u32) {
    let slack = |a: f64| match reach {
        Reach::Usual => 0.0,
        Reach::Lenient => ACCURACY * a.abs().max(1.0),
    };
    let last = f64::from(layers.saturating_sub(1));
    let least = (lo - slack(lo)).round_ties_even().clamp(0.0, last);
    let most = (hi + slack(hi) + 0.5).floor().clamp(0.0, last);
    (least as u32, most as u32)
}

/// A choice of levels: one, or two with the ends of the weight of the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelChoice {
    /// The level, relative to the first of the view.
    pub level: u32,
    /// Ends of the weight of the next level.
    pub weight: (f64, f64),
}

/// The levels that a level of detail may select, of `levels`; `None` if there are more than `most`.
pub fn levels(
    (lo, hi): (f64, f64),
    levels: u32,
    linear: bool,
    reach: Reach,
    filtering: Filtering,
    most: usize,
) -> Option<Vec<LevelChoice>> {
    let last = levels.saturating_sub(1);
    let clamp = |d: f64| d.clamp(0.0, f64::from(last));
    let slack = |d: f64| match reach {
        Reach::Usual => SLACK * d.abs().max(1.0),
        Reach::Lenient => ACCURACY * d.abs().max(1.0) + fraction(filtering.mipmap_bits),
    };
    let (lo, hi) = (clamp(lo - slack(lo)), clamp(hi + slack(hi)));
    // If two levels are equally near, either may be selected.
    let (first, end) =
        if linear { (lo.floor(), hi.floor()) } else { ((lo - 0.5).ceil().max(0.0), clamp((hi + 0.5).floor())) };
    let (first, end) = (first as u32, (end as u32).max(first as u32));
    if (end - first) as usize >= most {
        return None;
    }
    let steps = 1.0 / fraction(filtering.mipmap_bits);
    let weight = |d: f64, level: u32| (d - f64::from(level)).clamp(0.0, 1.0);
    let choice = |level: u32| {
        let weight = if linear {
            ((weight(lo, level) * steps).floor() / steps, (weight(hi, level) * steps).ceil() / steps)
        } else {
            (0.0, 0.0)
        };
        LevelChoice { level, weight }
    };
    Some((first..=end).map(choice).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILTERING: Filtering = Filtering { sub_texel_bits: 8, mipmap_bits: 8 };

    fn axis(coordinate: f64, size: u32) -> Axis {
        Axis { coordinate: (coordinate, coordinate), size, unnormalized: false, address: AddressMode::Repeat }
    }

    #[test]
    fn centres_are_sure_and_boundaries_are_not() {
        let nearest = |u: f64, reach| axis(u / 8.0, 8).texels(FootprintOrigin::Nearest, reach, FILTERING);
        let linear = |u: f64, reach| axis(u / 8.0, 8).texels(FootprintOrigin::Linear, reach, FILTERING);
        for reach in [Reach::Usual, Reach::Lenient] {
            assert_eq!((nearest(3.5, reach), linear(3.0, reach)), ((3, 3), (2, 2)));
            assert_eq!((nearest(3.0, reach), linear(3.5, reach)), ((2, 3), (2, 3)));
            assert_eq!(nearest(-0.25, reach), (-1, -1));
        }
        // Between the two readings.
        assert_eq!((nearest(3.002, Reach::Usual), nearest(3.002, Reach::Lenient)), ((3, 3), (2, 3)));
        assert_eq!(nearest(3.01, Reach::Lenient), (3, 3));
    }

    #[test]
    fn floor_agrees_with_the_host() {
        for u in [-2.5, -2.0, -1e-9, -0.0, 0.0, 0.999, 7.0, 1e18, -1e18, 1e30, -1e30] {
            assert_eq!(floor(u), u.floor() as i64, "{u}");
        }
    }

    #[test]
    fn weights_are_whole_steps_around_the_fraction() {
        let found = axis(3.2 / 8.0, 8).choices(FootprintOrigin::Linear, Reach::Usual, FILTERING, 4).unwrap();
        assert_eq!(found.len(), 1);
        let Choice { texel, weight: (lo, hi) } = found[0];
        assert!(texel == 2 && lo <= 0.7 && 0.7 <= hi && hi - lo <= 1.0 / 256.0, "{found:?}");
        let tie = axis(3.5 / 8.0, 8).choices(FootprintOrigin::Linear, Reach::Usual, FILTERING, 4).unwrap();
        assert_eq!(tie.iter().map(|c| c.texel).collect::<Vec<_>>(), [2, 3]);
        assert!(tie[0].weight.1 == 1.0 && tie[1].weight.0 == 0.0, "{tie:?}");
    }

    #[test]
    fn far_outside_a_clamped_axis_is_one_texel() {
        for address in AddressMode::ALL {
            let far = Axis { address, ..axis(1e12, 8) };
            let (first, last) = far.texels(FootprintOrigin::Nearest, Reach::Usual, FILTERING);
            let repeats = matches!(address, AddressMode::Repeat | AddressMode::MirroredRepeat);
            assert_eq!(first == last, !repeats, "{address}");
            assert_eq!(far.choices(FootprintOrigin::Nearest, Reach::Usual, FILTERING, 8).is_none(), repeats);
        }
    }

    #[test]
    fn beyond_what_is_representable_a_repeating_axis_is_lost() {
        for (address, lost) in [(AddressMode::Repeat, true), (AddressMode::ClampToEdge, false)] {
            // Numbers that saturate are included.
            for u in [1e10, 1e20, -1e30] {
                let far = Axis { address, ..axis(u, 8) };
                assert_eq!(
                    (far.is_lost(), far.choices(FootprintOrigin::Nearest, Reach::Usual, FILTERING, 8).is_none()),
                    { (lost, lost) }
                );
            }
        }
        assert!(!axis(1e8, 8).is_lost());
    }

    #[test]
    fn unnormalized_coordinates_are_not_rounded_in_the_usual_reading() {
        let texels = |u: f64, origin, reach| Axis { unnormalized: true, ..axis(u, 8) }.texels(origin, reach, FILTERING);
        assert_eq!(texels(3.0, FootprintOrigin::Nearest, Reach::Usual), (3, 3));
        assert_eq!(texels(3.0, FootprintOrigin::Nearest, Reach::Lenient), (2, 3));
        assert_eq!(texels(3.5, FootprintOrigin::Linear, Reach::Usual), (2, 3));
    }

    /// The error is one part in 10^5 of the coordinate where that exceeds a step of the fraction.
    #[test]
    fn the_lenient_reading_asks_for_five_digits() {
        let nearest = |u: f64, reach| axis(u / 8.0, 8).texels(FootprintOrigin::Nearest, reach, FILTERING);
        assert_eq!((nearest(2000.015, Reach::Usual), nearest(2000.015, Reach::Lenient)), ((2000, 2000), (1999, 2000)));
        assert_eq!(nearest(2000.03, Reach::Lenient), (2000, 2000));
    }

    #[test]
    fn layers_and_levels_between_two_are_either() {
        let at = |a: f64, n| layers((a, a), n, Reach::Usual);
        assert_eq!((at(1.4, 4), at(0.5, 4), at(2.5, 4), at(-7.0, 4), at(9.0, 4), at(0.4, 1)), {
            ((1, 1), (0, 1), (2, 3), (0, 0), (3, 3), (0, 0))
        });
        // Both ways of rounding give the later one, or the earlier.
        assert_eq!((at(1.5, 4), at(-0.5, 4), at(1.499_999_9, 4)), ((2, 2), (0, 0), (1, 1)));
        assert_eq!(layers((1.499_999, 1.499_999), 4, Reach::Lenient), (1, 2));
        let level = |d: f64, linear| levels((d, d), 3, linear, Reach::Usual, FILTERING, 4).unwrap();
        let numbers = |found: Vec<LevelChoice>| found.iter().map(|c| c.level).collect::<Vec<_>>();
        assert_eq!(numbers(level(0.5, false)), [0, 1]);
        assert_eq!(numbers(level(0.6, false)), [1]);
        assert_eq!(numbers(level(-3.0, false)), [0]);
        assert_eq!(numbers(level(30.0, false)), [2]);
        let between = level(1.25, true);
        assert_eq!(
            (numbers(between.clone()), between[0].weight),
            (vec![1], (64.0 / 256.0 - 1.0 / 256.0, 65.0 / 256.0))
        );
    }
}
