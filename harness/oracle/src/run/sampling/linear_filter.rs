//! Linear filtering, within a level and between two: ranges of weighted sums of texels.

use super::{Scene, Spot, beside, hull};
use crate::abstract_value::{AbstractValue, FloatSet};
use crate::outcome::CauseKind;
use crate::residual::RoundedReal;
use crate::run::Run;
use crate::sample::ACCURACY;
use crate::sample::select::{Choice, LevelChoice, Reach};
use crate::ty::Fmt;
use assay_texture::FootprintOrigin;

/// Number of rounding errors in a weighted sum of two values, for each axis: three operations, one
/// of them twice.
const OPERATIONS: f64 = 4.0;

impl<'a> Run<'a> {
    /// Filters linearly, within a level or between two.
    pub(super) fn filtered(
        &mut self,
        scene: &Scene<'a>,
        levels: &[LevelChoice],
        n: usize,
        lane: usize,
    ) -> Result<Vec<(AbstractValue, u64)>, u32> {
        let origin = if scene.sampler.linear { FootprintOrigin::Linear } else { FootprintOrigin::Nearest };
        let mut found: Vec<Option<(AbstractValue, u64)>> = vec![None; n];
        self.readings_differ = true;
        for choice in levels {
            let next = choice.level + 1;
            let here = self.spots(scene, choice.level, origin)?;
            let blend = choice.weight.1 > 0.0 && next < scene.image.levels_shown();
            let beyond = if blend { self.spots(scene, next, origin)? } else { Vec::new() };
            for (component, all) in found.iter_mut().enumerate() {
                let mut range: Option<(f64, f64)> = None;
                let mut more = |(lo, hi): (f64, f64)| {
                    range = Some(range.map_or((lo, hi), |(a, b)| (a.min(lo), b.max(hi))));
                };
                for first in &here {
                    let near = self.square(scene, first, component, lane)?;
                    if beyond.is_empty() {
                        more(near);
                    }
                    for second in &beyond {
                        let far = self.square(scene, second, component, lane)?;
                        let weight = if scene.reach == Reach::Lenient { (0.0, 1.0) } else { choice.weight };
                        more(widened(between(near, far, weight), scene.reach));
                    }
                }
                let Some((lo, hi)) = range else { continue };
                let (least, most) = scene.bounds();
                let (lo, hi) = (lo.clamp(least, most), hi.clamp(least, most));
                let (lo, hi) =
                    (RoundedReal::exact(lo).neighbours(Fmt::F32).0, RoundedReal::exact(hi).neighbours(Fmt::F32).1);
                let (value, bits) = AbstractValue::of_floats(FloatSet::range(Fmt::F32, lo, hi));
                *all = Some(match all.take() {
                    None => (value, bits),
                    Some(before) => self.union(scene.kind, (&before.0, before.1), (&value, bits)),
                });
            }
        }
        Ok(found.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// The range of results of filtering within a level.
    fn square(
        &mut self,
        scene: &Scene<'a>,
        (spot, choices): &(Spot, [Choice; 3]),
        component: usize,
        lane: usize,
    ) -> Result<(f64, f64), u32> {
        let axes = if scene.sampler.linear { scene.coordinates.len() } else { 0 };
        let mut corners = Vec::with_capacity(1 << axes);
        for corner in 0..1usize << axes {
            let step = std::array::from_fn(|k| if k < axes { (corner >> k & 1) as i64 } else { 0 });
            let at = beside(beside(*spot, scene.offsets[0]), step);
            let weightless = (0..axes).any(|k| {
                let (lo, hi) = choices[k].weight;
                scene.reach == Reach::Usual && if step[k] == 1 { hi == 0.0 } else { lo == 1.0 }
            });
            if weightless {
                corners.push(None);
                continue;
            }
            let (value, bits) = self.seen(scene, at, component, lane);
            match hull(&value, bits) {
                Ok(range) => corners.push(Some(range)),
                Err(Some(cause)) => return Err(cause),
                Err(None) => return Err(self.cause(CauseKind::Precision)),
            }
        }
        // Interpolates axis by axis, from the last one.
        for k in (0..axes).rev() {
            let half = 1 << k;
            let weight = if scene.reach == Reach::Lenient { (0.0, 1.0) } else { choices[k].weight };
            corners = (0..half)
                .map(|i| match (corners[i], corners[i + half]) {
                    (Some(a), Some(b)) => Some(widened(between(a, b, weight), scene.reach)),
                    (one, other) => one.or(other),
                })
                .collect();
        }
        Ok(corners.first().copied().flatten().unwrap_or((0.0, 0.0)))
    }
}

/// The interpolated values between two ranges, with a weight in a range.
fn between(a: (f64, f64), b: (f64, f64), (lo, hi): (f64, f64)) -> (f64, f64) {
    let at = |a: f64, b: f64, weight: f64| a * (1.0 - weight) + b * weight;
    (at(a.0, b.0, lo).min(at(a.0, b.0, hi)), at(a.1, b.1, lo).max(at(a.1, b.1, hi)))
}

/// The range widened by the rounding errors of one axis.
fn widened((lo, hi): (f64, f64), reach: Reach) -> (f64, f64) {
    let rounding = match reach {
        Reach::Usual => 1.0 / f64::from(1u32 << 24),
        Reach::Lenient => ACCURACY,
    };
    let error = OPERATIONS * rounding * lo.abs().max(hi.abs());
    (lo - error, hi + error)
}
