//! Lookups of texels through a sampler: samples and gathers.
//!
//! [`crate::sample::select`] selects the texels. A result is the union over all choices, component
//! by component. The precision of linear filtering is specified for its weights only. The usual
//! reading computes sums and products of 32-bit floats with weights of the device's fraction bits.
//! The lenient reading permits everything between the texels, with an accuracy of 1 part in 10^5.

mod linear_filter;

use super::Run;
use super::images::{Place, Touch};
use super::lanes::Lanes;
use crate::abstract_value::{AbstractValue, FloatSet};
use crate::dispatch::Image;
use crate::float_op::Reading;
use crate::inst::{Level, LookUp, LookUpKind, Offsets, Reg};
use crate::outcome::{CauseKind, FaultKind};
use crate::pointer::OBJECT;
use crate::residual;
use crate::sample::cube::{FacePosition, faces_of};
use crate::sample::select::{self, Axis, Choice, LevelChoice, Reach};
use crate::sample::{ACCURACY, QUOTIENT, border_bits};
use crate::texel::{Coding, Texel};
use crate::ty::{Fmt, Kind};
use assay_spirv::tables::Dim;
use assay_texture::{AddressMode, ComponentSource, FootprintOrigin, GatherMode, Sampler};

/// Largest number of choices along an axis, of levels, or of layers.
const CHOICES: usize = 4;

/// The common state of the lookups of one lane.
struct Scene<'a> {
    object: usize,
    image: &'a Image,
    texel: Texel,
    sampler: &'a Sampler,
    /// Ends of each coordinate.
    coordinates: Vec<(f64, f64)>,
    /// The first and the last layer.
    layers: (u32, u32),
    /// Ends of the reference of a depth comparison.
    reference: Option<(f64, f64)>,
    /// Offset added to the coordinates of each texel of a gather; for a sample, the first one.
    offsets: [[i64; 3]; 4],
    reach: Reach,
    /// Set if texels are filtered, within a level or between two.
    filters: bool,
    /// The kind of a result's component.
    kind: Kind,
}

impl Scene<'_> {
    /// Addressing beyond the edges of an axis. The faces of a cube clamp to their own texels,
    /// whatever the sampler says.
    fn address(&self, k: usize) -> AddressMode {
        if self.image.dim == Dim::Cube { AddressMode::ClampToEdge } else { self.sampler.address[k] }
    }

    /// Returns true if the result is that of a depth comparison. The comparison replaces the depth
    /// before the view's swizzle, so a view that shows another component, or none, does not show
    /// it.
    fn shows_comparison(&self) -> bool {
        self.reference.is_some() && self.image.view.component_source(0) == ComponentSource::Texel(0)
    }

    /// Ends of the range that a filtered result is clamped to.
    fn bounds(&self) -> (f64, f64) {
        if self.reference.is_some() && self.sampler.linear {
            (0.0, 1.0)
        } else if self.texel.coding == Coding::Snorm {
            (-1.0, f64::INFINITY)
        } else {
            (f64::NEG_INFINITY, f64::INFINITY)
        }
    }
}

/// A texel of an image, by a position that may lie beyond the edges.
#[derive(Clone, Copy)]
struct Spot {
    level: u32,
    layer: u32,
    at: [i64; 3],
}

impl<'a> Run<'a> {
    pub(super) fn sampled_image(&mut self, dst: Reg, image: Reg, sampler: Reg, lanes: Lanes) {
        for l in lanes.iter() {
            let both = self.decided(image, l).and_then(|image| Ok((image, self.decided(sampler, l)?)));
            let (value, bits) = match both {
                // A handle is the number of its object; the part for offsets holds the sampler's
                // number plus one.
                Ok((image, sampler)) => (AbstractValue::Bits, image / OBJECT * OBJECT + sampler / OBJECT + 1),
                Err(cause) => (AbstractValue::Unknown(cause), 0),
            };
            self.columns[dst as usize].set(l, bits, value);
        }
    }

    /// The sampler of a sampled image.
    fn sampler_of(&mut self, sampled: Reg, lane: usize) -> Result<&'a Sampler, u32> {
        let handle = self.decided(sampled, lane)?;
        let number = match handle % OBJECT {
            0 => handle,
            number => (number - 1) * OBJECT,
        };
        let found = self.object_of(number).and_then(|object| *self.bindings.samplers.get(object)?);
        match found {
            Some(found) => Ok(found),
            None => Err(self.fault(FaultKind::OutOfBounds, lane, || "a descriptor that no sampler is bound to".into())),
        }
    }

    pub(super) fn look_up(&mut self, look_up: &LookUp, lanes: Lanes) {
        self.access_fits(look_up.image, lanes);
        for l in lanes.iter() {
            let found = self.looked_up(look_up, l);
            for i in 0..look_up.n {
                let (value, bits) = match &found {
                    Ok(found) => found.get(i as usize).cloned().unwrap_or_default(),
                    Err(cause) => (AbstractValue::Unknown(*cause), 0),
                };
                self.columns[(look_up.dst + i) as usize].set(l, bits, value);
            }
        }
    }

    fn looked_up(&mut self, look_up: &LookUp, lane: usize) -> Result<Vec<(AbstractValue, u64)>, u32> {
        let mut found: Vec<Option<(AbstractValue, u64)>> = Vec::new();
        for scene in self.scenes(look_up, lane)? {
            let one = self.looked_up_in(&scene, look_up, lane)?;
            found.resize(one.len(), None);
            self.gain(&mut found, &scene, |_, component| one[component].clone());
        }
        Ok(found.into_iter().map(Option::unwrap_or_default).collect())
    }

    fn looked_up_in(
        &mut self,
        scene: &Scene<'a>,
        look_up: &LookUp,
        lane: usize,
    ) -> Result<Vec<(AbstractValue, u64)>, u32> {
        let mut found = self.selected(scene, look_up, lane)?;
        if scene.shows_comparison() && scene.sampler.linear {
            // It "may be computed in an implementation-dependent manner which differs from the
            // normal rules of linear filtering", but "must be in the range [0,1]".
            self.readings_differ = true;
            if scene.reach == Reach::Lenient {
                let [zero, one] = [0f32, 1.0].map(|end| assay_float::F32.rank(end.to_bits().into()));
                let any = AbstractValue::of_floats(FloatSet::range(Fmt::F32, zero, one));
                let known = found.iter_mut().filter(|(value, _)| !matches!(value, AbstractValue::Unknown(_)));
                known.for_each(|result| *result = any.clone());
            }
        }
        Ok(found)
    }

    fn selected(&mut self, scene: &Scene<'a>, look_up: &LookUp, lane: usize) -> Result<Vec<(AbstractValue, u64)>, u32> {
        match look_up.kind {
            LookUpKind::Gather { component, mode } => {
                let component = match component {
                    Some(component) => self.decided(component, lane)?,
                    None => 0,
                };
                if component > 3 {
                    let detail =
                        || format!("a gather of component {component}: the behavior is undefined but for 0 to 3");
                    return Err(self.fault(FaultKind::Rule, lane, detail));
                }
                self.gather(scene, component as usize, mode, lane)
            }
            LookUpKind::Sample(level) => {
                let levels = self.levels(scene, level, lane)?;
                let n = if look_up.reference.is_some() { 1 } else { look_up.n as usize };
                if scene.filters {
                    return self.filtered(scene, &levels, n, lane);
                }
                let mut found: Vec<Option<(AbstractValue, u64)>> = vec![None; n];
                for level in levels {
                    for spot in self.spots(scene, level.level, FootprintOrigin::Nearest)? {
                        self.gain(&mut found, scene, |run, component| {
                            run.seen(scene, beside(spot.0, scene.offsets[0]), component, lane)
                        });
                    }
                }
                Ok(found.into_iter().map(Option::unwrap_or_default).collect())
            }
        }
    }

    /// Adds one choice to the union of the others, component by component.
    fn gain(
        &mut self,
        found: &mut [Option<(AbstractValue, u64)>],
        scene: &Scene<'a>,
        mut one: impl FnMut(&mut Self, usize) -> (AbstractValue, u64),
    ) {
        for (component, all) in found.iter_mut().enumerate() {
            let (value, bits) = one(self, component);
            *all = Some(match all.take() {
                None => (value, bits),
                Some(before) => self.union(scene.kind, (&before.0, before.1), (&value, bits)),
            });
        }
    }

    /// The range of a float register.
    fn range(&mut self, reg: Reg, lane: usize) -> Result<(f64, f64), u32> {
        let column = &self.columns[reg as usize];
        let bits = column.bits[lane];
        let value = column.value(lane).clone();
        let found = match value.floats(bits, Fmt::F32) {
            Ok(floats) => floats.hull().filter(|_| !floats.nan),
            Err(u32::MAX) => return Err(self.cause(CauseKind::Precision)),
            Err(cause) => return Err(cause),
        };
        let ends = found.map(|(lo, hi)| (residual::value(Fmt::F32, lo), residual::value(Fmt::F32, hi)));
        match ends {
            Some((lo, hi)) if lo.is_finite() && hi.is_finite() => self.represented((lo, hi)),
            _ => Err(self.cause(CauseKind::NoRequirement)),
        }
    }

    /// Returns the range. The lenient reading requires nothing if a device need not represent it.
    fn represented(&mut self, range: (f64, f64)) -> Result<(f64, f64), u32> {
        if !select::is_representable(range) {
            self.readings_differ = true;
            if self.reading == Reading::Lenient {
                return Err(self.cause(CauseKind::NoRequirement));
            }
        }
        Ok(range)
    }

    /// The lookups to perform: one for each face of a cube that may be selected, else a single one.
    fn scenes(&mut self, look_up: &LookUp, lane: usize) -> Result<Vec<Scene<'a>>, u32> {
        let (object, image) = self.image_of(look_up.image, lane)?;
        let sampler = self.sampler_of(look_up.image, lane)?;
        let Some(texel) = Texel::of(image.format) else { return Err(self.cause(CauseKind::Precision)) };
        self.obey(look_up, image, sampler, &texel, lane)?;
        let reach = match self.reading {
            Reading::Usual => Reach::Usual,
            Reading::Lenient => Reach::Lenient,
        };
        let bordered = image.dim != Dim::Cube && sampler.address.contains(&AddressMode::ClampToBorder);
        if bordered && border_bits(image.format, &image.view, sampler.border, 0).is_none() {
            // "In such cases the value of the texel returned is poison", whether the texel is of
            // the border or not.
            self.readings_differ = true;
            if reach == Reach::Lenient {
                return Err(self.cause(CauseKind::Unspecified));
            }
        }
        let (first, n) = look_up.coordinates;
        let axes = n.saturating_sub(u32::from(look_up.arrayed)).min(3);
        let mut coordinates = (0..axes).map(|k| self.range(first + k, lane)).collect::<Result<Vec<_>, _>>()?;
        let mut layers = (0, 0);
        if look_up.arrayed {
            let range = self.range(first + axes, lane)?;
            let there = image.layers_shown() / if image.dim == Dim::Cube { 6 } else { 1 };
            let choose = |reach| select::layers(range, there, reach);
            self.readings_differ |= choose(Reach::Usual) != choose(Reach::Lenient);
            layers = choose(reach);
        }
        let mut reference = look_up.reference.map(|reg| self.range(reg, lane)).transpose()?;
        if let Some(divisor) = look_up.divisor {
            let by = self.range(divisor, lane)?;
            self.readings_differ = true;
            for range in coordinates.iter_mut().chain(&mut reference) {
                let by = quotient(*range, by, reach).ok_or_else(|| self.cause(CauseKind::NoRequirement))?;
                *range = self.represented(by)?;
            }
        }
        let limited = texel.coding == Coding::Unorm;
        let reference =
            reference.map(|(lo, hi)| if limited { (lo.clamp(0.0, 1.0), hi.clamp(0.0, 1.0)) } else { (lo, hi) });
        let offsets = self.offsets(look_up, image.axes(), lane)?;
        let filters = matches!(look_up.kind, LookUpKind::Sample(_)) && (sampler.linear || sampler.mipmap_linear);
        let kind = self.program.kinds[look_up.dst as usize];
        let scene = |coordinates, layers| Scene {
            object,
            image,
            texel,
            sampler,
            coordinates,
            layers,
            reference,
            offsets,
            reach,
            filters,
            kind,
        };
        if image.dim != Dim::Cube {
            return Ok(vec![scene(coordinates, layers)]);
        }
        let Ok(direction) = <[_; 3]>::try_from(coordinates) else { return Err(self.cause(CauseKind::Precision)) };
        self.readings_differ = true;
        let faces = faces_of(direction, reach);
        if faces.is_empty() || layers.0 != layers.1 {
            return Err(self.cause(CauseKind::Precision));
        }
        let on =
            |FacePosition { face, at }: FacePosition| scene(at.to_vec(), (6 * layers.0 + face, 6 * layers.0 + face));
        Ok(faces.into_iter().map(on).collect())
    }

    /// The offsets added to the coordinates of each texel, including the footprint of a gather.
    fn offsets(&mut self, look_up: &LookUp, axes: u32, lane: usize) -> Result<[[i64; 3]; 4], u32> {
        let mut offsets = [[0; 3]; 4];
        if let LookUpKind::Gather { mode, .. } = look_up.kind {
            offsets = mode.offsets().map(|[x, y]| [i64::from(x), i64::from(y), 0]);
        }
        let gather = matches!(look_up.kind, LookUpKind::Gather { .. });
        match look_up.offsets {
            Offsets::None => {}
            Offsets::One(reg, n) => {
                for k in 0..n.min(axes) {
                    let offset = crate::integer::signed(32, self.decided(reg + k, lane)?);
                    let offset = self.offset_within(offset, gather, lane)?;
                    offsets.iter_mut().for_each(|all| all[k as usize] += offset);
                }
            }
            // These replace the footprint.
            Offsets::Four(reg) => {
                for (reg, offset) in (reg..).step_by(2).zip(&mut offsets) {
                    for k in 0..2 {
                        let there = crate::integer::signed(32, self.decided(reg + k, lane)?);
                        offset[k as usize] = self.offset_within(there, gather, lane)?;
                    }
                }
            }
        }
        Ok(offsets)
    }

    /// Checks the run-time rules on an image, a sampler and an instruction.
    fn obey(
        &mut self,
        look_up: &LookUp,
        image: &Image,
        sampler: &Sampler,
        texel: &Texel,
        lane: usize,
    ) -> Result<(), u32> {
        let offset = look_up.offsets != Offsets::None;
        let compares = look_up.reference.is_some();
        let gathers = matches!(look_up.kind, LookUpKind::Gather { .. });
        let flat = matches!(image.dim, Dim::Dim1D | Dim::Dim2D) && !look_up.arrayed;
        let broken = if texel.is_integer() && (sampler.linear || sampler.mipmap_linear) {
            "VUID-vkCmdDispatch-magFilter-04553: an image of integers is filtered linearly"
        } else if sampler.unnormalized && !flat {
            "VUID-vkCmdDispatch-None-08609: unnormalised coordinates in an image that is neither 1D nor 2D"
        } else if sampler.unnormalized && image.levels_shown() > 1 {
            "VUID-vkCmdDispatch-unnormalizedCoordinates-09635: unnormalised coordinates in an image with levels"
        } else if sampler.unnormalized && compares {
            "VUID-vkCmdDispatch-None-08610: unnormalised coordinates with a depth comparison"
        } else if sampler.unnormalized && look_up.divisor.is_some() {
            "VUID-vkCmdDispatch-None-08610: unnormalised coordinates with a projection"
        } else if sampler.unnormalized && offset && gathers {
            "\"The functions must not use offsets\" (unnormalizedCoordinates): unnormalised coordinates with an offset"
        } else if sampler.unnormalized && offset {
            "VUID-vkCmdDispatch-None-08611: unnormalised coordinates with an offset"
        } else if compares != sampler.compare.is_some() {
            // Only one of the sampler and the instruction compares.
            return Err(self.cause(CauseKind::Unspecified));
        } else {
            return Ok(());
        };
        Err(self.fault(FaultKind::Rule, lane, || broken.into()))
    }

    fn levels(&mut self, scene: &Scene<'a>, level: Level, lane: usize) -> Result<Vec<LevelChoice>, u32> {
        let there = scene.image.levels_shown();
        let first = vec![LevelChoice { level: 0, weight: (0.0, 0.0) }];
        let lod = match level {
            Level::Gradient if there == 1 => return Ok(first),
            Level::Gradient => return Err(self.cause(CauseKind::Precision)),
            Level::Lod(lod) => self.range(lod, lane)?,
        };
        if scene.sampler.unnormalized || there == 1 {
            return Ok(first);
        }
        let filtering = self.dispatch.filtering;
        let choose = |reach| select::levels(lod, there, scene.sampler.mipmap_linear, reach, filtering, CHOICES);
        self.readings_differ |= choose(Reach::Usual) != choose(Reach::Lenient);
        choose(scene.reach).ok_or_else(|| self.cause(CauseKind::Precision))
    }

    /// The texels of a level that offsets may be relative to, with the weights along each axis.
    fn spots(
        &mut self,
        scene: &Scene<'a>,
        level: u32,
        origin: FootprintOrigin,
    ) -> Result<Vec<(Spot, [Choice; 3])>, u32> {
        let filtering = self.dispatch.filtering;
        let extent = scene.image.extent_shown(level);
        let none = [Choice { texel: 0, weight: (0.0, 0.0) }; 3];
        let mut all: Vec<[Choice; 3]> = vec![none];
        for (k, coordinate) in scene.coordinates.iter().enumerate() {
            let axis = Axis {
                coordinate: *coordinate,
                size: extent[k],
                unnormalized: scene.sampler.unnormalized,
                address: scene.address(k),
            };
            self.represented(axis.scaled())?;
            let texels = |reach| axis.texels(origin, reach, filtering);
            self.readings_differ |= texels(Reach::Usual) != texels(Reach::Lenient);
            let Some(choices) = axis.choices(origin, scene.reach, filtering, CHOICES) else {
                return Err(self.cause(CauseKind::Precision));
            };
            all = all.iter().flat_map(|before| choices.iter().map(|choice| with(*before, k, *choice))).collect();
        }
        let (first, last) = scene.layers;
        if (last - first) as usize >= CHOICES {
            return Err(self.cause(CauseKind::Precision));
        }
        let spot = |choices: [Choice; 3], layer| (Spot { level, layer, at: choices.map(|c| c.texel) }, choices);
        Ok((first..=last).flat_map(|layer| all.iter().map(move |choices| spot(*choices, layer))).collect())
    }

    fn gather(
        &mut self,
        scene: &Scene<'a>,
        component: usize,
        mode: GatherMode,
        lane: usize,
    ) -> Result<Vec<(AbstractValue, u64)>, u32> {
        let mut found: Vec<Option<(AbstractValue, u64)>> = vec![None; 4];
        for (spot, _) in self.spots(scene, 0, mode.origin())? {
            self.gain(&mut found, scene, |run, i| run.seen(scene, beside(spot, scene.offsets[i]), component, lane));
        }
        Ok(found.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// A component of a texel in the shader, after the depth comparison if there is one.
    fn seen(&mut self, scene: &Scene<'a>, spot: Spot, component: usize, lane: usize) -> (AbstractValue, u64) {
        let component = if scene.reference.is_some() { 0 } else { component };
        let (value, bits) = self.colour(scene, spot, component, lane);
        let reference = scene.reference.filter(|_| scene.shows_comparison());
        let (Some(reference), Some(compare)) = (reference, scene.sampler.compare) else { return (value, bits) };
        let texel = match hull(&value, bits) {
            Ok(texel) => texel,
            Err(None) => return (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0),
            Err(Some(cause)) => return (AbstractValue::Unknown(cause), 0),
        };
        let orders = [(reference.0, texel.1), (reference.1, texel.0), (reference.0, texel.0)];
        let mut results: Vec<u64> = Vec::new();
        for (a, b) in orders {
            let holds = a.partial_cmp(&b).is_some_and(|order| compare.holds(order));
            results.push(u64::from((holds as u32 as f32).to_bits()));
        }
        if reference.0 <= texel.1 && texel.0 <= reference.1 {
            let holds = compare.holds(std::cmp::Ordering::Equal);
            results.push(u64::from((holds as u32 as f32).to_bits()));
        }
        AbstractValue::of_patterns(results).unwrap_or_default()
    }

    fn colour(&mut self, scene: &Scene<'a>, spot: Spot, component: usize, lane: usize) -> (AbstractValue, u64) {
        let Scene { object, image, texel, sampler, .. } = *scene;
        let extent = image.extent_shown(spot.level);
        let mut at = [0; 3];
        for k in 0..scene.coordinates.len() {
            let beyond = !(0..i64::from(extent[k])).contains(&spot.at[k]);
            if image.dim == Dim::Cube && sampler.linear && beyond {
                // Faces meet there.
                return (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0);
            }
            match scene.address(k).texel(spot.at[k], extent[k]) {
                Some(texel) => at[k] = texel,
                None => return self.border(scene, component),
            }
        }
        let [x, y, z] = at.map(i64::from);
        if let Err(cause) = self.in_tile(object, [x, y, z, 0], Touch::Sample, lane) {
            return (AbstractValue::Unknown(cause), 0);
        }
        let offset = image.texel_shown(spot.level, spot.layer, at) as usize * texel.bytes as usize;
        let place = Place { object, offset, texel, view: image.view, in_filter: scene.filters };
        self.component(&place, component, lane)
    }

    fn border(&mut self, scene: &Scene<'a>, component: usize) -> (AbstractValue, u64) {
        match border_bits(scene.image.format, &scene.image.view, scene.sampler.border, component) {
            Some(bits) if !self.swizzle_is_undefined(scene.image, component) => (AbstractValue::Bits, bits),
            _ => (AbstractValue::Unknown(self.cause(CauseKind::Unspecified)), 0),
        }
    }
}

/// The range of quotients, with the error of the division; `None` if the divisor may be zero.
fn quotient((lo, hi): (f64, f64), by: (f64, f64), reach: Reach) -> Option<(f64, f64)> {
    if by.0 <= 0.0 && by.1 >= 0.0 {
        return None;
    }
    let all = [lo / by.0, lo / by.1, hi / by.0, hi / by.1];
    let (least, most) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), q| (a.min(*q), b.max(*q)));
    let part = if reach == Reach::Lenient { ACCURACY } else { QUOTIENT };
    let slack = |q: f64| q.abs() * part;
    Some((least - slack(least), most + slack(most)))
}

fn beside(spot: Spot, offset: [i64; 3]) -> Spot {
    Spot { at: std::array::from_fn(|k| spot.at[k] + offset[k]), ..spot }
}

fn with(mut choices: [Choice; 3], k: usize, choice: Choice) -> [Choice; 3] {
    choices[k] = choice;
    choices
}

/// The range of a float. The error is the cause of an unknown value, or `None` if there is no
/// range.
fn hull(value: &AbstractValue, bits: u64) -> Result<(f64, f64), Option<u32>> {
    let floats = value.floats(bits, Fmt::F32).map_err(|cause| Some(cause).filter(|c| *c != u32::MAX))?;
    let (lo, hi) = floats.hull().filter(|_| !floats.nan).ok_or(None)?;
    Ok((residual::value(Fmt::F32, lo), residual::value(Fmt::F32, hi)))
}
