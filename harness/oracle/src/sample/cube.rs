//! Selection of cube map faces: "Cube Map Face Selection and Transformations".

use super::select::Reach;
use super::{ACCURACY, QUOTIENT};

/// A position on a face: the face, and the ends of the coordinates along s and t, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FacePosition {
    /// Number of the face, which is its layer: +x, -x, +y, -y, +z, -z.
    pub(crate) face: u32,
    /// Ends of the coordinates along s and t.
    pub(crate) at: [(f64, f64); 2],
}

/// Absolute error of a face coordinate, `(q + 1) / 2`: half the error of the quotient `q`, which is
/// at most 1, and half the rounding of a sum that is at most 2, in any direction.
fn rounding(reach: Reach) -> f64 {
    match reach {
        Reach::Usual => (QUOTIENT + f32::EPSILON as f64) / 2.0,
        Reach::Lenient => (ACCURACY + 2.0 * ACCURACY) / 2.0,
    }
}

/// The positions that a direction within these ranges may select.
///
/// If coordinates have equal magnitude, z "should" come before y, and y before x. "An
/// implementation may choose other rules", so the lenient reading takes any of them. The result is
/// empty if the ranges do not determine the largest coordinate or its sign, and for the zero
/// vector.
pub(crate) fn faces_of(direction: [(f64, f64); 3], reach: Reach) -> Vec<FacePosition> {
    let size = |(lo, hi): (f64, f64)| match (lo <= 0.0, hi >= 0.0) {
        (true, true) => (0.0, hi.max(-lo)),
        (false, _) => (lo, hi),
        (true, false) => (-hi, -lo),
    };
    let sizes = direction.map(size);
    // At least as large as both others, and larger than those that come before it.
    let leads = |k: usize| {
        (0..3).filter(|other| *other != k).all(|other| {
            let (least, most) = (sizes[k].0, sizes[other].1);
            if other > k { least > most } else { least >= most }
        })
    };
    let Some(first) = (0..3).rev().find(|k| leads(*k)).filter(|k| sizes[*k].0 > 0.0) else { return Vec::new() };
    // The leading coordinate is as large as the largest of the others, so an equal one is exact
    // too.
    let tied = |k: &usize| *k == first || (reach == Reach::Lenient && sizes[*k] == sizes[first]);
    (0..3).filter(tied).map(|major| on_face(direction, major, sizes[major], reach)).collect()
}

/// The position on the face of axis `major`, where `least` and `most` bound the magnitude of the
/// direction along it.
fn on_face(direction: [(f64, f64); 3], major: usize, (least, most): (f64, f64), reach: Reach) -> FacePosition {
    let negative = direction[major].1 < 0.0;
    let back = |(lo, hi): (f64, f64)| (-hi, -lo);
    let [x, y, z] = direction;
    let (s, t) = match (major, negative) {
        (0, false) => (back(z), back(y)),
        (0, true) => (z, back(y)),
        (1, false) => (x, z),
        (1, true) => (x, back(z)),
        (_, false) => (x, back(y)),
        (_, true) => (back(x), back(y)),
    };
    let place = |(lo, hi): (f64, f64)| {
        let low = (lo / if lo < 0.0 { least } else { most } + 1.0) / 2.0 - rounding(reach);
        let high = (hi / if hi < 0.0 { most } else { least } + 1.0) / 2.0 + rounding(reach);
        (low, high)
    };
    FacePosition { face: 2 * major as u32 + u32::from(negative), at: [place(s), place(t)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn face_of(direction: [(f64, f64); 3]) -> Option<FacePosition> {
        let found = faces_of(direction, Reach::Usual);
        assert!(found.len() < 2, "{found:?}");
        found.first().copied()
    }

    fn at(direction: [f64; 3]) -> Option<(u32, [f64; 2])> {
        let found = face_of(direction.map(|x| (x, x)))?;
        let middle = found.at.map(|(lo, hi)| {
            assert!(lo < hi && hi - lo < 1e-5);
            ((lo + hi) * 512.0).round() / 1024.0
        });
        Some((found.face, middle))
    }

    #[test]
    fn each_face_is_turned_as_the_table_says() {
        // Halfway to the edge along one axis, a quarter along the other.
        for (direction, face, place) in [
            ([2.0, 0.5, 1.0], 0, [0.25, 0.375]),
            ([-2.0, 0.5, 1.0], 1, [0.75, 0.375]),
            ([0.5, 2.0, 1.0], 2, [0.625, 0.75]),
            ([0.5, -2.0, 1.0], 3, [0.625, 0.25]),
            ([0.5, 1.0, 2.0], 4, [0.625, 0.25]),
            ([0.5, 1.0, -2.0], 5, [0.375, 0.25]),
        ] {
            assert_eq!(at(direction), Some((face, place)), "{direction:?}");
        }
    }

    #[test]
    fn equal_coordinates_select_the_face_of_z_then_y() {
        assert_eq!(at([1.0, 1.0, 1.0]).map(|(face, _)| face), Some(4));
        assert_eq!(at([-1.0, -1.0, 0.5]).map(|(face, _)| face), Some(3));
        assert_eq!(at([1.0, 0.5, -1.0]).map(|(face, _)| face), Some(5));
        assert_eq!(at([0.0; 3]), None);
    }

    #[test]
    fn the_lenient_reading_permits_any_face_of_the_largest_coordinates() {
        let faces = |direction: [f64; 3]| {
            let found = faces_of(direction.map(|x| (x, x)), Reach::Lenient);
            found.into_iter().map(|found| found.face).collect::<Vec<_>>()
        };
        assert_eq!(faces([1.0, 1.0, -1.0]), [0, 2, 5]);
        assert_eq!((faces([1.0, -1.0, 0.5]), faces([1.0, 0.5, 1.0])), (vec![0, 3], vec![0, 4]));
        assert_eq!((faces([1.0, 0.999, 0.5]), faces([0.0; 3])), (vec![0], vec![]));
    }

    #[test]
    fn ranges_that_reach_over_an_edge_mean_no_face() {
        assert_eq!(face_of([(0.9, 1.1), (0.0, 0.0), (1.0, 1.0)]), None);
        assert_eq!(face_of([(-0.1, 0.1), (0.0, 0.0), (0.0, 0.0)]), None);
        let wide = face_of([(2.0, 4.0), (-1.0, -1.0), (0.0, 1.0)]).expect("x is the largest");
        assert_eq!(wide.face, 0);
        let [s, t] = wide.at;
        assert!((s.0 - 0.25).abs() < 1e-6 && (s.1 - 0.5).abs() < 1e-6, "{s:?}");
        assert!((t.0 - 0.625).abs() < 1e-6 && (t.1 - 0.75).abs() < 1e-6, "{t:?}");
    }
}
