//! Texel footprints of gathers.

use assay_spirv::tables::GatherModes;
use std::fmt;

/// The texel relative to which a footprint's offsets count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FootprintOrigin {
    /// The texel that nearest filtering selects: `floor(u)`.
    Nearest,
    /// The texel with the lowest coordinates that linear filtering reads: `floor(u - 1/2)`.
    Linear,
}

impl FootprintOrigin {
    /// Returns the value to subtract from a texel coordinate before rounding down.
    pub fn shift(self) -> f64 {
        match self {
            FootprintOrigin::Nearest => 0.0,
            FootprintOrigin::Linear => 0.5,
        }
    }
}

/// Gather operations: `OpImageGather`, and the modes of `OpImageGatherQCOM`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GatherMode {
    /// `OpImageGather`: the 2 x 2 texels that linear filtering reads.
    Core,
    /// `Gather4x1QCOM`: four texels in a row.
    Row,
    /// `GatherDQCOM`: the neighbours below, right, above and left.
    Diamond,
    /// `GatherH2QCOM`: the columns left and right of the 2 x 2 texels.
    Horizontal,
    /// `GatherV2QCOM`: the rows below and above the 2 x 2 texels.
    Vertical,
}

impl GatherMode {
    /// All gather operations.
    pub const ALL: [GatherMode; 5] =
        [GatherMode::Core, GatherMode::Row, GatherMode::Diamond, GatherMode::Horizontal, GatherMode::Vertical];

    /// Returns the texel relative to which its offsets count.
    pub fn origin(self) -> FootprintOrigin {
        match self {
            GatherMode::Core | GatherMode::Horizontal | GatherMode::Vertical => FootprintOrigin::Linear,
            GatherMode::Row | GatherMode::Diamond => FootprintOrigin::Nearest,
        }
    }

    /// Returns the offsets of the texels from the origin, x to the right and y down, in the order
    /// of the result's components.
    pub fn offsets(self) -> [[i32; 2]; 4] {
        match self {
            GatherMode::Core => [[0, 1], [1, 1], [1, 0], [0, 0]],
            GatherMode::Row => [[0, 0], [1, 0], [2, 0], [3, 0]],
            GatherMode::Diamond => [[0, 1], [1, 0], [0, -1], [-1, 0]],
            GatherMode::Horizontal => [[-1, 1], [2, 1], [2, 0], [-1, 0]],
            GatherMode::Vertical => [[0, 2], [1, 2], [1, -1], [0, -1]],
        }
    }

    /// Returns the mode of `OpImageGatherQCOM`; `None` for the core gather.
    pub fn qcom(self) -> Option<GatherModes> {
        match self {
            GatherMode::Core => None,
            GatherMode::Row => Some(GatherModes::Gather4x1QCOM),
            GatherMode::Diamond => Some(GatherModes::GatherDQCOM),
            GatherMode::Horizontal => Some(GatherModes::GatherH2QCOM),
            GatherMode::Vertical => Some(GatherModes::GatherV2QCOM),
        }
    }

    /// Returns the gather that `word` selects as the last operand of `OpImageGatherQCOM`.
    pub fn from_qcom(word: u32) -> Option<GatherMode> {
        let mode = GatherModes::from_word(word)?;
        GatherMode::ALL.into_iter().find(|known| known.qcom() == Some(mode))
    }

    /// Returns its name in case names: `core`, `4x1`, `d`, `h2`, `v2`.
    pub fn name(self) -> &'static str {
        match self {
            GatherMode::Core => "core",
            GatherMode::Row => "4x1",
            GatherMode::Diamond => "d",
            GatherMode::Horizontal => "h2",
            GatherMode::Vertical => "v2",
        }
    }

    /// Returns the prefix of its case names in the suite `gather`, such as `gather.4x1.`.
    pub fn case_prefix(self) -> String {
        format!("gather.{}.", self.name())
    }
}

impl fmt::Display for GatherMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gather_modes_have_the_words_of_the_grammar() {
        let words: Vec<u32> = GatherMode::ALL.iter().filter_map(|mode| mode.qcom()).map(|mode| mode.word()).collect();
        assert_eq!(words, [0, 1, 2, 3]);
        for mode in GatherMode::ALL {
            assert_eq!(mode.qcom().map(|qcom| GatherMode::from_qcom(qcom.word())), mode.qcom().map(|_| Some(mode)));
        }
        assert_eq!(GatherMode::from_qcom(4), None);
    }

    /// `H2` and `V2` together with the core gather read the 4 x 4 texels around the origin, without
    /// the corners.
    #[test]
    fn linear_gather_modes_form_a_cross() {
        let modes = [GatherMode::Core, GatherMode::Horizontal, GatherMode::Vertical];
        let mut all: Vec<[i32; 2]> = modes.iter().flat_map(|mode| mode.offsets()).collect();
        all.sort_unstable();
        let near = |n: i32| (0..2).contains(&n);
        let cross: Vec<[i32; 2]> =
            (-1..3).flat_map(|x| (-1..3).map(move |y| [x, y])).filter(|[x, y]| near(*x) || near(*y)).collect();
        assert_eq!(all, cross);
    }
}
