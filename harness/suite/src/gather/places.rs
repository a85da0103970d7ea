//! Where a program gathers.

/// A class of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Places {
    /// A quarter of a texel from every boundary, inside and around the image.
    Sure,
    /// Centres of texels: boundaries where a footprint is placed as linear filtering places it.
    Centres,
    /// Edges between texels: boundaries where it is placed as nearest filtering does.
    Edges,
    /// A few hundredths of a texel beside centres and edges: sure with eight fraction bits.
    Beside,
    /// A few thousandths beside: sure to floating point only.
    Near,
    /// Hundreds of images away.
    Far,
}

/// Places along each axis.
pub(super) const SIDE: usize = 16;

/// Places of a program.
pub(super) const COUNT: usize = SIDE * SIDE;

impl Places {
    pub(super) const ALL: [Places; 6] =
        [Places::Sure, Places::Centres, Places::Edges, Places::Beside, Places::Near, Places::Far];

    pub(super) fn name(self) -> &'static str {
        match self {
            Places::Sure => "sure",
            Places::Centres => "centres",
            Places::Edges => "edges",
            Places::Beside => "beside",
            Places::Near => "near",
            Places::Far => "far",
        }
    }

    pub(super) fn rule(self) -> &'static str {
        match self {
            Places::Sure => "which texel is the origin follows from the coordinate",
            Places::Centres => "at the centre of a texel, the footprint of linear filtering may begin there or before",
            Places::Edges => "at the edge between two texels, either may be the nearest",
            Places::Beside => "a coordinate beside a boundary is on its side of it",
            Places::Near => {
                "only a device that keeps few fraction bits may take a coordinate for the boundary beside it"
            }
            Places::Far => "coordinates far outside are brought inside like all others",
        }
    }

    /// Coordinates of all places, in images of that size; unnormalised ones are in texels.
    pub(super) fn coordinates(self, size: [u32; 2], unnormalized: bool) -> Vec<[f32; 2]> {
        let along = |k: usize, other: usize, size: u32| {
            let n = f64::from(size);
            // From before the first texel to after the last.
            let texel = (-5.0 + k as f64 * (n + 10.0) / (SIDE - 1) as f64).floor();
            let part = [0.25, 0.75][(k + other) % 2];
            let small = |by: f64| [0.5 - by, 0.5 + by, by, 1.0 - by][(k + 2 * other) % 4];
            let u = match self {
                Places::Sure => texel + part,
                Places::Centres => texel + 0.5,
                Places::Edges => texel,
                Places::Beside => texel + small(0.03),
                Places::Near => texel + small(0.002),
                Places::Far => texel + part + n * [-300.0, -101.0, 97.0, 300.0][(k + other) % 4],
            };
            (u / if unnormalized { 1.0 } else { n }) as f32
        };
        let all = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y)));
        all.map(|(x, y)| [along(x, y, size[0]), along(y, x, size[1])]).collect()
    }
}
