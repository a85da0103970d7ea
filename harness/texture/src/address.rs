//! Address modes: the texel selected by a coordinate outside an image.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Wrapping of a texel coordinate outside the image (Vulkan, "Wrapping Operation").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of VkSamplerAddressMode")]
pub enum AddressMode {
    Repeat,
    MirroredRepeat,
    ClampToEdge,
    ClampToBorder,
    MirrorClampToEdge,
}

impl AddressMode {
    /// All address modes.
    pub const ALL: [AddressMode; 5] = [
        AddressMode::Repeat,
        AddressMode::MirroredRepeat,
        AddressMode::ClampToEdge,
        AddressMode::ClampToBorder,
        AddressMode::MirrorClampToEdge,
    ];

    /// Returns the texel that coordinate `i` selects along an axis of `size` texels; `None` for the
    /// border. An axis without texels consists of the border only.
    #[inline]
    pub fn texel(self, i: i64, size: u32) -> Option<u32> {
        let n = i64::from(size);
        if (0..n).contains(&i) {
            return Some(i as u32);
        }
        if n == 0 {
            return None;
        }
        // Reflection at -1/2.
        let mirror = |i: i64| if i < 0 { !i } else { i };
        let texel = match self {
            AddressMode::Repeat => i.rem_euclid(n),
            AddressMode::MirroredRepeat => (n - 1) - mirror(i.rem_euclid(2 * n) - n),
            AddressMode::ClampToEdge => i.clamp(0, n - 1),
            AddressMode::ClampToBorder => return None,
            AddressMode::MirrorClampToEdge => mirror(i).min(n - 1),
        };
        Some(texel as u32)
    }

    /// Returns its name in case names, such as `repeat` or `mirror_clamp_to_edge`.
    pub fn name(self) -> &'static str {
        match self {
            AddressMode::Repeat => "repeat",
            AddressMode::MirroredRepeat => "mirrored_repeat",
            AddressMode::ClampToEdge => "clamp_to_edge",
            AddressMode::ClampToBorder => "clamp_to_border",
            AddressMode::MirrorClampToEdge => "mirror_clamp_to_edge",
        }
    }
}

impl fmt::Display for AddressMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(mode: AddressMode, size: u32) -> Vec<Option<u32>> {
        (-7..8).map(|i| mode.texel(i, size)).collect()
    }

    #[test]
    fn address_modes_wrap_coordinates_outside_three_texels() {
        let some = |all: [u32; 15]| all.map(Some).to_vec();
        assert_eq!(row(AddressMode::Repeat, 3), some([2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]));
        assert_eq!(row(AddressMode::MirroredRepeat, 3), some([0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1]));
        assert_eq!(row(AddressMode::ClampToEdge, 3), some([0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2]));
        assert_eq!(row(AddressMode::MirrorClampToEdge, 3), some([2, 2, 2, 2, 2, 1, 0, 0, 1, 2, 2, 2, 2, 2, 2]));
        let border = row(AddressMode::ClampToBorder, 3);
        assert_eq!(border.iter().flatten().copied().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(border[7], Some(0));
    }

    #[test]
    fn address_modes_stay_inside_for_every_size() {
        for mode in AddressMode::ALL {
            for size in [1, 2, 5, u32::MAX] {
                for i in [i64::from(i32::MIN), -1, 0, i64::from(size), i64::from(u32::MAX), 1 << 40] {
                    assert!(mode.texel(i, size).is_none_or(|texel| texel < size), "{mode} {i} of {size}");
                }
            }
            assert_eq!(mode.texel(0, 0), None);
        }
    }
}
