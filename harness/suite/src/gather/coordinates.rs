//! Coordinates of gathers.

/// A class of coordinates, by their distance from the boundaries between texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CoordinateClass {
    /// A quarter of a texel from every boundary, inside and around the image.
    Inside,
    /// Centres of texels: boundaries of the footprint of linear filtering.
    Centres,
    /// Edges between texels: boundaries of the footprint of nearest filtering.
    Edges,
    /// 0.03 texels from a centre or an edge: decided with 8 fraction bits.
    Beside,
    /// 0.002 texels from a centre or an edge: decided only in floating point.
    Near,
    /// Hundreds of image sizes away.
    Far,
}

/// Number of coordinates along each axis.
pub(super) const SIDE: usize = 16;

/// Number of coordinates in a program.
pub(super) const COUNT: usize = SIDE * SIDE;

impl CoordinateClass {
    pub(super) const ALL: [CoordinateClass; 6] = [
        CoordinateClass::Inside,
        CoordinateClass::Centres,
        CoordinateClass::Edges,
        CoordinateClass::Beside,
        CoordinateClass::Near,
        CoordinateClass::Far,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            CoordinateClass::Inside => "sure",
            CoordinateClass::Centres => "centres",
            CoordinateClass::Edges => "edges",
            CoordinateClass::Beside => "beside",
            CoordinateClass::Near => "near",
            CoordinateClass::Far => "far",
        }
    }

    pub(super) fn rule(self) -> &'static str {
        match self {
            CoordinateClass::Inside => "the coordinate determines the origin texel",
            CoordinateClass::Centres => {
                "at a texel centre, the footprint of linear filtering may start at either adjacent texel"
            }
            CoordinateClass::Edges => "at an edge between two texels, either may be the nearest",
            CoordinateClass::Beside => "a coordinate near a boundary lies on its own side",
            CoordinateClass::Near => "a coordinate may be rounded to a boundary only by the device's fraction bits",
            CoordinateClass::Far => "address modes apply to coordinates at any distance",
        }
    }

    /// The coordinates for images of this size; unnormalised ones are in texels.
    pub(super) fn coordinates(self, size: [u32; 2], unnormalized: bool) -> Vec<[f32; 2]> {
        let along = |k: usize, other: usize, size: u32| {
            let n = f64::from(size);
            // From before the first texel to beyond the last.
            let texel = (-5.0 + k as f64 * (n + 10.0) / (SIDE - 1) as f64).floor();
            let part = [0.25, 0.75][(k + other) % 2];
            let small = |by: f64| [0.5 - by, 0.5 + by, by, 1.0 - by][(k + 2 * other) % 4];
            let u = match self {
                CoordinateClass::Inside => texel + part,
                CoordinateClass::Centres => texel + 0.5,
                CoordinateClass::Edges => texel,
                CoordinateClass::Beside => texel + small(0.03),
                CoordinateClass::Near => texel + small(0.002),
                CoordinateClass::Far => texel + part + n * [-300.0, -101.0, 97.0, 300.0][(k + other) % 4],
            };
            (u / if unnormalized { 1.0 } else { n }) as f32
        };
        let all = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y)));
        all.map(|(x, y)| [along(x, y, size[0]), along(y, x, size[1])]).collect()
    }
}
