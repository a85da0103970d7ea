//! Image reads, writes and queries.

use super::Run;
use super::lanes::Lanes;
use super::memory::address::Target;
use crate::abstract_value::{AbstractValue, FloatSet};
use crate::dispatch::{Image, Robustness};
use crate::float_op::Reading;
use crate::inst::{ImageQuery, Reg, TexelOperands};
use crate::integer::signed;
use crate::memory::ReadValue;
use crate::outcome::{CauseKind, FaultKind};
use crate::pointer::{OBJECT, OUTSIDE, counted};
use crate::residual::value as value_of;
use crate::rule_enforcement::named;
use crate::texel::{ChannelValue, Coding, Texel, written_half};
use crate::ty::{Fmt, Kind, mask};
use assay_spirv::tables::Dim;
use assay_texture::{ComponentSource, ImageView, Swizzle};

/// Largest side of an image that [`Outcome::image_reach`](crate::Outcome::image_reach) asks for: all
/// devices support it (limit `maxImageDimension2D` in Vulkan, "Required Limits": 4096).
const LARGEST_SIDE: u32 = 4096;

/// Offset of a pointer to a texel beyond an image's edge, larger than every object. The next offset
/// marks a texel that the invocation has stored before.
const EDGE: i64 = (OBJECT / 4) as i64;

/// A texel of an image: the object, and its place there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) object: usize,
    pub(super) offset: usize,
    pub(super) texel: Texel,
    pub(super) view: ImageView,
    /// Set if it is read for a filter.
    pub(super) in_filter: bool,
}

/// The reason why there is no texel at some coordinates.
#[derive(Clone, Copy, Debug)]
enum MissingTexel {
    /// Beyond the edge of an object on a robust device. `cause` is for values that robustness
    /// leaves open, `stored` is set if the invocation has stored there before, and `offset` is the
    /// place that a texel buffer would have in memory.
    Beyond { object: usize, cause: u32, stored: bool, offset: i64 },
    /// Unknown, with the cause for values that follow.
    Unknown { cause: u32 },
}

impl From<u32> for MissingTexel {
    fn from(cause: u32) -> MissingTexel {
        MissingTexel::Unknown { cause }
    }
}

/// The kind of access to a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    Load,
    Store,
    Sample,
}

impl<'a> Run<'a> {
    /// The exact bits of a lane's register, or the cause for values that depend on it.
    pub(super) fn decided(&mut self, reg: Reg, lane: usize) -> Result<u64, u32> {
        let column = &self.columns[reg as usize];
        match column.value(lane).clone() {
            AbstractValue::Bits => Ok(column.bits[lane]),
            AbstractValue::Unknown(cause) if self.is_undefined(cause) => Err(self.decided_by(cause, lane)),
            AbstractValue::Unknown(cause) => Err(cause),
            AbstractValue::OneOf(_) | AbstractValue::Float(_) => Err(self.cause(CauseKind::Precision)),
        }
    }

    pub(super) fn image_of(&mut self, image: Reg, lane: usize) -> Result<(usize, &'a Image), u32> {
        let handle = self.decided(image, lane)?;
        let object = self.object_of(handle);
        let found = object.and_then(|object| Some((object, (*self.bindings.images.get(object)?)?)));
        match found {
            Some(found) => Ok(found),
            None => Err(self.fault(FaultKind::OutOfBounds, lane, || "a descriptor that no image is bound to".into())),
        }
    }

    /// The texel at a lane's coordinates.
    fn place(
        &mut self,
        handle: Reg,
        (reg, n): (Reg, u32),
        operands: TexelOperands,
        store: bool,
        lane: usize,
    ) -> Result<Place, MissingTexel> {
        let (object, image) = self.image_of(handle, lane)?;
        let mut at = [0i64; 4];
        for k in 0..n {
            let width = self.program.kinds[(reg + k) as usize].width();
            at[k as usize] = signed(width, self.decided(reg + k, lane)?);
        }
        if let Some((offset, offsets)) = operands.offset {
            // The offset does not apply to the layer, which is the last coordinate.
            for k in 0..n.min(offsets).min(image.axes()) {
                let there = signed(32, self.decided(offset + k, lane)?);
                at[k as usize] += self.offset_within(there, false, lane)?;
            }
        }
        let level = match operands.level {
            Some(level) => self.decided(level, lane)?,
            None => 0,
        };
        // A multisampled image has at most three coordinates.
        if let Some(sample) = operands.sample {
            at[3] = signed(32, self.decided(sample, lane)?);
        }
        self.in_tile(object, at, if store { Touch::Store } else { Touch::Load }, lane)?;
        let texel = Texel::of(image.format);
        let inside = u32::try_from(level).is_ok_and(|level| level < image.levels_shown());
        let has_sample = u32::try_from(at[3]).is_ok_and(|sample| sample < image.samples);
        let index = if inside { index(image, at, level as u32) } else { None };
        // For texel buffers, the weaker guarantee is that of buffers.
        let loose = image.dim == Dim::Buffer && self.dispatch.robustness == Robustness::Access;
        match (index, texel) {
            (Some(index), Some(texel)) => {
                let size = texel.bytes as usize;
                let offset = index as usize * size;
                if loose && !store && self.out_of_bounds.is_near(object, offset..offset + size) {
                    return Err(self.cause(CauseKind::Robustness).into());
                }
                let number = counted(self.columns[handle as usize].bits[lane]).0;
                if let Some(cause) = self.accessed_as((object, number), offset..offset + size, store, lane) {
                    return Err(cause.into());
                }
                Ok(Place { object, offset, texel, view: image.view, in_filter: false })
            }
            _ => {
                if self.dispatch.robustness != Robustness::None {
                    let size = texel.map_or(1, |texel| i64::from(texel.bytes));
                    let offset = at[0].saturating_mul(size);
                    if loose && !store {
                        self.out_of_bounds.load(object, &(offset..offset.saturating_add(size)), image.data.len());
                    }
                    let invocation = self.forks.original(lane) as u32;
                    let stored = self.out_of_bounds.has_stored_texel(object, invocation, at);
                    if store {
                        self.out_of_bounds.store_texel(object, invocation, at);
                    }
                    let cause = self.cause(CauseKind::Robustness);
                    if !inside && !store && self.dispatch.robustness == Robustness::Access {
                        // For a missing level "any values fetched are zero if the
                        // robustImageAccess2 feature is enabled, otherwise are undefined". But
                        // fetches "outside of the checked dimensions will return zero" without it
                        // too.
                        self.readings_differ = true;
                        if self.reading == Reading::Lenient {
                            return Err(cause.into());
                        }
                    }
                    if !has_sample && !store {
                        // Coordinates are out of bounds unless "sample < samples". But "accesses
                        // to image descriptors are bounds checked against the image view
                        // dimensions", which can be read to exclude the sample.
                        self.readings_differ = true;
                        if self.reading == Reading::Lenient {
                            return Err(cause.into());
                        }
                    }
                    return Err(MissingTexel::Beyond { object, cause, stored, offset });
                }
                if self.program.wgsl {
                    // Some texel, or zeros: any previous content.
                    let cause = self.cause(CauseKind::Robustness);
                    return Err(MissingTexel::Beyond { object, cause, stored: true, offset: 0 });
                }
                let extent = image.extent_shown(0);
                match size_with(image, at).filter(|_| level == 0) {
                    Some([texels, ..]) if image.dim == Dim::Buffer => {
                        let bytes = texel.map_or(0, |texel| u64::from(texel.bytes));
                        self.log.note_reach(object, u64::from(texels) * bytes);
                    }
                    Some(size) => self.log.note_image_reach(object, size),
                    None => {}
                }
                let detail = || {
                    let sample = match operands.sample {
                        Some(_) => format!("sample {} of {}, ", at[3], image.samples),
                        None => String::new(),
                    };
                    format!("texel {:?}, {sample}level {level}, of an image of {extent:?}", &at[..n as usize])
                };
                Err(self.fault(FaultKind::OutOfBounds, lane, detail).into())
            }
        }
    }

    /// Notes that a lane's access may lead beyond an image, or to no image.
    fn note_unknown_texel(&mut self, image: Reg, lane: usize) {
        let is_known = matches!(self.columns[image as usize].value(lane), AbstractValue::Bits);
        self.note_possible_fault(if is_known { FaultKind::OutOfBounds } else { FaultKind::Handle });
    }

    /// Checks that a lane may access these texel coordinates. The tile bounds accesses to tile
    /// attachments, also on a robust device.
    pub(super) fn in_tile(&mut self, object: usize, at: [i64; 4], touch: Touch, lane: usize) -> Result<(), u32> {
        let Some(tile) = self.dispatch.tile.filter(|_| self.bindings.attachments.contains(&object)) else {
            return Ok(());
        };
        let [first, end] = tile.reach(touch == Touch::Store);
        let inside = |i: usize| i64::from(first[i]) <= at[i] && at[i] < i64::from(end[i]);
        if inside(0) && inside(1) {
            return Ok(());
        }
        let (what, rule) = match touch {
            Touch::Store => ("a store to", "10713"),
            Touch::Load => ("a load of", "10713"),
            Touch::Sample => ("a sample of", "10714"),
        };
        let [x, y, ..] = at;
        Err(self.fault(FaultKind::Rule, lane, || {
            format!("{}: {what} texel ({x}, {y}) outside {first:?} .. {end:?}", named(rule))
        }))
    }

    /// Checks the texel type that an access to an image without format expects against the bound
    /// images.
    pub(super) fn access_fits(&mut self, image: Reg, lanes: Lanes) {
        let Some(taken) = self.program.unformatted.get(&self.here.instruction).copied() else { return };
        let mut seen = None;
        for l in lanes.iter() {
            let column = &self.columns[image as usize];
            let bits = column.bits[l];
            if *column.value(l) != AbstractValue::Bits || seen == Some(bits) {
                continue;
            }
            seen = Some(bits);
            let object = self.object_of(bits);
            let Some(bound) = object.and_then(|object| *self.bindings.images.get(object)?) else { continue };
            let Some(held) = Texel::of(bound.format).map(|texel| texel.numbers()) else { continue };
            if held != taken {
                self.fault(FaultKind::Rule, l, || {
                    format!(
                        "{}: {taken} of an image of {:?}, which holds {held}",
                        named("unformatted accesses"),
                        bound.format
                    )
                });
            }
        }
    }

    pub(super) fn image_read(
        &mut self,
        (dst, n): (Reg, u32),
        image: Reg,
        coordinates: (Reg, u32),
        operands: TexelOperands,
        lanes: Lanes,
    ) {
        self.access_fits(image, lanes);
        for l in lanes.iter() {
            let place = self.place(image, coordinates, operands, false, l);
            for i in 0..n {
                let (value, bits) = match &place {
                    Ok(place) => self.component(place, i as usize, l),
                    Err(MissingTexel::Beyond { cause, stored: false, .. }) => self.beyond(image, i as usize, *cause, l),
                    // The invocation may read its own store.
                    Err(MissingTexel::Beyond { cause, stored: true, .. } | MissingTexel::Unknown { cause }) => {
                        self.note_unknown_texel(image, l);
                        (AbstractValue::Unknown(*cause), 0)
                    }
                };
                self.columns[(dst + i) as usize].set(l, bits, value);
            }
        }
    }

    /// A component of a texel beyond the edge on a robust device: zero, and for alpha that of a
    /// format without alpha. The weaker guarantee allows 0 and 1 for that, and for a texel buffer
    /// any of its content. A note can be read to allow this for any alpha, which the lenient
    /// reading does.
    fn beyond(&mut self, image: Reg, component: usize, cause: u32, lane: usize) -> (AbstractValue, u64) {
        let Ok((_, image)) = self.image_of(image, lane) else { return (AbstractValue::Unknown(cause), 0) };
        let Some(texel) = Texel::of(image.format) else { return (AbstractValue::Unknown(cause), 0) };
        let weak = self.dispatch.robustness != Robustness::Access2;
        if weak && image.dim == Dim::Buffer {
            return (AbstractValue::Unknown(cause), 0);
        }
        if self.swizzle_is_undefined(image, component) {
            return (AbstractValue::Unknown(self.cause(CauseKind::Unspecified)), 0);
        }
        let has_alpha = texel.channels.len() > 3;
        self.readings_differ |= weak && has_alpha;
        match image.view.component_source(component) {
            ComponentSource::Constant(n) => (AbstractValue::Bits, texel.whole(n)),
            ComponentSource::Texel(3) if weak && (!has_alpha || self.reading == Reading::Lenient) => {
                let kind =
                    if texel.is_integer() { Kind::Int { width: 64, signed: false } } else { Kind::Float(Fmt::F32) };
                self.union(kind, (&AbstractValue::Bits, texel.whole(0)), (&AbstractValue::Bits, texel.whole(1)))
            }
            ComponentSource::Texel(channel) if channel < texel.channels.len() => (AbstractValue::Bits, texel.whole(0)),
            ComponentSource::Texel(channel) => (AbstractValue::Bits, texel.absent(channel)),
        }
    }

    /// Returns true if a view of depths shows an undefined value because a component is
    /// `VK_COMPONENT_SWIZZLE_ONE`: that component, or in the lenient reading "the value of the
    /// texel", all of it.
    pub(super) fn swizzle_is_undefined(&mut self, image: &Image, component: usize) -> bool {
        if !image.depth || self.dispatch.depth_swizzle_one || !image.view.swizzle.contains(&Swizzle::One) {
            return false;
        }
        self.readings_differ = true;
        self.reading == Reading::Lenient || image.view.swizzle.get(component) == Some(&Swizzle::One)
    }

    /// A component of a texel through the view, as a scalar of the shader.
    pub(super) fn component(&mut self, place: &Place, component: usize, lane: usize) -> (AbstractValue, u64) {
        let image = self.bindings.images.get(place.object).copied().flatten();
        if image.is_some_and(|image| self.swizzle_is_undefined(image, component)) {
            return (AbstractValue::Unknown(self.cause(CauseKind::Unspecified)), 0);
        }
        match place.view.component_source(component) {
            ComponentSource::Texel(channel) => self.channel(place, channel, lane),
            ComponentSource::Constant(n) => (AbstractValue::Bits, place.texel.whole(n)),
        }
    }

    /// A channel of a texel as a scalar of the shader.
    fn channel(&mut self, place: &Place, channel: usize, lane: usize) -> (AbstractValue, u64) {
        let Place { object, offset, texel, in_filter, .. } = *place;
        let integer = texel.is_integer();
        let Some(&(first, width)) = texel.channels.get(channel) else {
            return (AbstractValue::Bits, texel.absent(channel));
        };
        let (at, size, shift) = if texel.is_bytewise() {
            (offset + first as usize / 8, width as usize / 8, 0)
        } else {
            (offset, texel.bytes as usize, first)
        };
        if let Some(cause) = self.note_read(object, at, size, lane) {
            return (AbstractValue::Unknown(cause), 0);
        }
        let stored = self.objects[object].bits(at, size);
        let patterns = match self.objects[object].read(at, size) {
            ReadValue::Value(AbstractValue::Bits) => vec![stored],
            ReadValue::Value(AbstractValue::OneOf(few)) => few.distinct(),
            ReadValue::Value(AbstractValue::Unknown(cause)) => return (AbstractValue::Unknown(cause), 0),
            ReadValue::Value(value @ AbstractValue::Float(_)) if texel.coding == Coding::Float && width == 32 => {
                return (value, stored);
            }
            ReadValue::Value(value @ AbstractValue::Float(_)) => match value.patterns(stored) {
                Ok(all) => all,
                Err(_) => return (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0),
            },
            ReadValue::Unwritten => return (AbstractValue::Unknown(self.cause(CauseKind::Uninitialized)), 0),
            ReadValue::Parts => return (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0),
        };
        let lenient = self.reading == Reading::Lenient;
        let kind = if integer { Kind::Int { width: 64, signed: false } } else { Kind::Float(Fmt::F32) };
        let mut union: Option<(AbstractValue, u64)> = None;
        for bits in patterns {
            let bits = bits >> shift & mask(width);
            let ChannelValue { value, bits, readings_differ } = match in_filter {
                true => texel.read_in_filter(channel, bits, lenient),
                false => texel.read(channel, bits, lenient),
            };
            self.readings_differ |= readings_differ;
            union = Some(match union {
                None => (value, bits),
                Some(before) => self.union(kind, (&before.0, before.1), (&value, bits)),
            });
        }
        let (value, bits) = union.unwrap_or_default();
        // Special values in texels may be changed.
        let f32 = assay_float::F32;
        let special = !integer && value == AbstractValue::Bits && (!f32.is_finite(bits) || f32.is_denormal(bits));
        if special { (AbstractValue::Unknown(self.cause(CauseKind::NoRequirement)), 0) } else { (value, bits) }
    }

    pub(super) fn image_write(
        &mut self,
        image: Reg,
        coordinates: (Reg, u32),
        (reg, n): (Reg, u32),
        sample: Option<Reg>,
        lanes: Lanes,
    ) {
        let operands = TexelOperands { sample, ..TexelOperands::default() };
        self.access_fits(image, lanes);
        for l in lanes.iter() {
            let place = match self.place(image, coordinates, operands, true, l) {
                Ok(place) => place,
                // A store beyond the edge writes nothing, but with the weaker guarantee it may
                // change any of a texel buffer.
                Err(MissingTexel::Beyond { object, cause, .. }) => {
                    let of = self.bindings.images.get(object).copied().flatten();
                    if self.dispatch.robustness == Robustness::Access && of.is_some_and(|of| of.dim == Dim::Buffer) {
                        self.objects[object].lost.get_or_insert(cause);
                    }
                    continue;
                }
                Err(MissingTexel::Unknown { cause }) => {
                    self.note_unknown_texel(image, l);
                    if let Ok((object, _)) = self.image_of(image, l) {
                        self.objects[object].lost.get_or_insert(cause);
                    }
                    continue;
                }
            };
            let weak = self.forks.is_weak(l);
            let mut word = Ok(vec![0u64]);
            for (channel, &(first, width)) in place.texel.channels.iter().enumerate() {
                let (value, bits) = if (channel as u32) < n {
                    self.coded(&place, channel, reg + channel as Reg, l)
                } else {
                    (AbstractValue::Unknown(self.cause(CauseKind::Unspecified)), 0)
                };
                if place.texel.is_bytewise() {
                    let kind = stored_kind(&place.texel, width);
                    let at = place.offset + first as usize / 8;
                    self.put(place.object, at, kind, (&value, bits), weak, l);
                    continue;
                }
                // Channels that share bytes: the texel is one value.
                word = word.and_then(|words: Vec<u64>| {
                    let channel = value.patterns(bits)?;
                    let all = words.iter().flat_map(|w| channel.iter().map(move |c| w | c << first));
                    Some(all.collect::<Vec<_>>()).filter(|all| all.len() <= 64).ok_or(None)
                });
            }
            if !place.texel.is_bytewise() {
                let found = word.and_then(|words| AbstractValue::of_patterns(words).ok_or(None));
                let (value, bits) = found.unwrap_or_else(|cause| {
                    (AbstractValue::Unknown(cause.unwrap_or_else(|| self.cause(CauseKind::Precision))), 0)
                });
                let kind = Kind::Int { width: place.texel.bytes as u8 * 8, signed: false };
                self.put(place.object, place.offset, kind, (&value, bits), weak, l);
            }
        }
    }

    /// The bits of a channel for a scalar of the shader.
    fn coded(&mut self, place: &Place, channel: usize, reg: Reg, lane: usize) -> (AbstractValue, u64) {
        let column = &self.columns[reg as usize];
        let (value, bits) = (column.value(lane).clone(), column.bits[lane]);
        let width = place.texel.channels[channel].1;
        if let AbstractValue::Unknown(cause) = value {
            return (AbstractValue::Unknown(cause), 0);
        }
        if place.texel.is_integer() {
            let own = self.program.kinds[reg as usize].width();
            let patterns = value.patterns(bits).ok();
            let wgsl = self.program.wgsl;
            // The converted value of an integer that the format cannot hold is undefined. WGSL
            // takes the nearest one of the format.
            if !wgsl && patterns.iter().flatten().any(|bits| !place.texel.has(width, own, *bits)) {
                return (AbstractValue::Unknown(self.cause(CauseKind::Unspecified)), 0);
            }
            let taken = |bits: &u64| if wgsl { nearest(place.texel.coding, width, own, *bits) } else { *bits };
            let cut = patterns.map(|all| all.iter().map(|bits| taken(bits) & mask(width)).collect());
            return cut
                .and_then(AbstractValue::of_patterns)
                .unwrap_or_else(|| (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0));
        }
        if place.texel.coding == Coding::Float && width == 32 {
            let f32 = assay_float::F32;
            let special =
                value == AbstractValue::Bits && (!f32.is_finite(bits) || f32.is_denormal(bits) || f32.is_zero(bits));
            if special && !f32.is_zero(bits) {
                return (AbstractValue::Unknown(self.cause(CauseKind::NoRequirement)), 0);
            }
            if special {
                // The sign of a zero is unspecified.
                return (self.one_of(&[0, f32.sign_mask()]), 0);
            }
            return (value, bits);
        }
        let floats = value.floats(bits, Fmt::F32).ok();
        // "16float: quantizeToF16(T)" gives an indeterminate value outside the range of the format.
        let bounded = self.program.wgsl && place.texel.coding == Coding::Float;
        let greatest = value_of(Fmt::F16, assay_float::F16.max_finite());
        let beyond = |(lo, hi)| value_of(Fmt::F32, lo) < -greatest || value_of(Fmt::F32, hi) > greatest;
        let beyond = bounded && floats.as_ref().and_then(FloatSet::hull).is_some_and(beyond);
        let nan = beyond || floats.as_ref().is_some_and(|floats| floats.nan);
        let floats = floats.filter(|_| !beyond);
        let is_lenient = self.reading == Reading::Lenient;
        let found = if stored_kind(&place.texel, width) == Kind::Float(Fmt::F16) {
            let written = |lenient| written_half(floats.as_ref()?, lenient);
            self.readings_differ |= written(false) != written(true);
            written(is_lenient).map(|half| {
                half.few().and_then(AbstractValue::of_patterns).unwrap_or_else(|| AbstractValue::of_floats(half))
            })
        } else {
            let written = |lenient| place.texel.written(channel, floats.as_ref()?, lenient);
            self.readings_differ |= written(false) != written(true);
            written(is_lenient).and_then(AbstractValue::of_patterns)
        };
        match found {
            Some(found) => found,
            None if nan => (AbstractValue::Unknown(self.cause(CauseKind::NoRequirement)), 0),
            None => (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0),
        }
    }

    pub(super) fn texel_pointer(
        &mut self,
        dst: Reg,
        image: Reg,
        coordinates: (Reg, u32),
        sample: Option<Reg>,
        lanes: Lanes,
    ) {
        let operands = TexelOperands { sample, ..TexelOperands::default() };
        for l in lanes.iter() {
            let handle = self.columns[image as usize].bits[l];
            let (value, bits) = match self.place(image, coordinates, operands, true, l) {
                Ok(place) => (AbstractValue::Bits, handle / OBJECT * OBJECT + place.offset as u64),
                Err(MissingTexel::Unknown { cause }) if self.log.kind(cause) == CauseKind::Fault => {
                    (AbstractValue::Unknown(cause), OUTSIDE)
                }
                Err(MissingTexel::Beyond { object, stored, offset, .. }) => {
                    let buffer =
                        self.bindings.images.get(object).copied().flatten().is_some_and(|of| of.dim == Dim::Buffer);
                    let offset = match (buffer, stored) {
                        (true, _) => offset.clamp(-EDGE, EDGE),
                        (false, false) => EDGE,
                        (false, true) => EDGE + 1,
                    };
                    (AbstractValue::Bits, (handle / OBJECT * OBJECT).wrapping_add_signed(offset))
                }
                Err(MissingTexel::Unknown { cause }) => (AbstractValue::Unknown(cause), 0),
            };
            self.columns[dst as usize].set(l, bits, value);
        }
    }

    pub(super) fn image_query(&mut self, (dst, n): (Reg, u32), image: Reg, query: ImageQuery, lanes: Lanes) {
        for l in lanes.iter() {
            let answer = self.image_of(image, l).and_then(|(_, image)| {
                Ok(match query {
                    ImageQuery::Levels => [image.levels_shown(), 0, 0, 0],
                    ImageQuery::Samples => [image.samples, 0, 0, 0],
                    ImageQuery::Size { lod, arrayed } => {
                        let level = lod.map_or(Ok(0), |lod| self.decided(lod, l))?;
                        // "If Level of Detail is greater than levelCount, the result is undefined".
                        // The text does not mention levelCount itself, and there is no such level.
                        let level = u32::try_from(level).ok().filter(|level| *level < image.levels_shown());
                        let level = level.ok_or_else(|| self.cause(CauseKind::Unspecified))?;
                        let [x, y, z] = image.extent_shown(level);
                        let cubes = image.layers_shown() / if image.dim == Dim::Cube { 6 } else { 1 };
                        let layers = if arrayed { cubes } else { 0 };
                        match image.dim {
                            Dim::Dim1D | Dim::Buffer => [x, layers, 0, 0],
                            Dim::Dim3D => [x, y, z, 0],
                            _ => [x, y, layers, 0],
                        }
                    }
                })
            });
            for i in 0..n.min(4) {
                let column = &mut self.columns[(dst + i) as usize];
                match answer {
                    Ok(words) => column.set(l, u64::from(words[i as usize]), AbstractValue::Bits),
                    Err(cause) => column.set(l, 0, AbstractValue::Unknown(cause)),
                }
            }
        }
    }
}

/// The integer of `width` bits that is nearest to one of `own` bits.
fn nearest(coding: Coding, width: u32, own: u32, bits: u64) -> u64 {
    if coding == Coding::Sint {
        let [least, most] = [1 << (width - 1), mask(width - 1)].map(|end| signed(width, end));
        return signed(own, bits).clamp(least, most).cast_unsigned();
    }
    bits.min(mask(width))
}

/// The target of an atomic on a texel beyond an image's edge: it "will not modify any memory", and
/// "will return zero values", or the value that the invocation has stored there.
pub(super) fn beyond_edge(image: &Image, offset: i64) -> Option<Target> {
    match offset {
        _ if image.dim == Dim::Buffer => None,
        EDGE => Some(Target::Zero),
        _ => Some(Target::Void),
    }
}

/// The kind of a channel of whole bytes in memory.
fn stored_kind(texel: &Texel, width: u32) -> Kind {
    match (texel.coding, width) {
        (Coding::Float, 32) => Kind::Float(Fmt::F32),
        (Coding::Float, 16) => Kind::Float(Fmt::F16),
        _ => Kind::Int { width: width as u8, signed: false },
    }
}

/// Returns the size of the first mip level with which the texel at `at` exists, in texels along each
/// axis; `None` if no size of at most [`LARGEST_SIDE`] has it.
fn size_with(image: &Image, at: [i64; 4]) -> Option<[u32; 3]> {
    let mut size = (image.view.base_level == 0).then_some(image.extent)?;
    for (side, at) in size.iter_mut().zip(at).take(image.axes() as usize) {
        let needed = u32::try_from(at).ok().filter(|at| *at < LARGEST_SIDE)? + 1;
        *side = needed.max(*side);
    }
    (size != image.extent).then_some(size)
}

/// The index of a sample in an image, from the coordinates of its texel and its number; `None` if
/// there is no such sample.
fn index(image: &Image, at: [i64; 4], level: u32) -> Option<u64> {
    let [w, h, d] = image.extent_shown(level);
    let [a, b, c, sample] = at.map(|n| u32::try_from(n).ok());
    let (x, y, z, layer) = match image.dim {
        Dim::Dim1D | Dim::Buffer => (a?, 0, 0, b?),
        Dim::Dim3D => (a?, b?, c?, 0),
        _ => (a?, b?, 0, c?),
    };
    let sample = sample.filter(|sample| *sample < image.samples)?;
    let inside = x < w && y < h && z < d && layer < image.layers_shown();
    inside.then(|| image.texel_shown(level, layer, [x, y, z]) + u64::from(sample))
}
