//! Texel formats: layout and number formats of channels.

use crate::abstract_value::{ALTERNATIVES, AbstractValue, FloatSet};
use crate::integer::signed;
use crate::program::Numbers;
use crate::residual::RoundedReal;
use crate::sample::ACCURACY;
use crate::ty::{Fmt, mask};
use assay_precision::Scalar;
use assay_spirv::tables::ImageFormat;

/// The number format of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Unorm,
    Snorm,
    Float,
    /// An unsigned float with 5 exponent bits, and this number of fraction bits.
    Small(u32),
    Uint,
    Sint,
}

/// A texel format: size in bytes, and the channels in the order r, g, b, a: first bit, number of
/// bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Texel {
    pub(crate) bytes: u32,
    pub(crate) coding: Coding,
    pub(crate) channels: &'static [(u32, u32)],
}

/// The scalars of a texel in memory, in order: its channels if each occupies whole bytes
/// (normalised ones as integers), else one unsigned integer. `None` for `Unknown`.
pub fn texel_scalars(format: ImageFormat) -> Option<Vec<Scalar>> {
    let texel = Texel::of(format)?;
    if !texel.is_bytewise() {
        return Some(vec![Scalar::Int { width: texel.bytes * 8, signed: false }]);
    }
    let scalar = |width| match (texel.coding, width) {
        (Coding::Float, 16) => Scalar::Float(assay_float::F16),
        (Coding::Float, _) => Scalar::Float(assay_float::F32),
        (Coding::Sint | Coding::Snorm, _) => Scalar::Int { width, signed: true },
        (Coding::Unorm | Coding::Uint | Coding::Small(_), _) => Scalar::Int { width, signed: false },
    };
    Some(texel.channels.iter().map(|(_, width)| scalar(*width)).collect())
}

const ONE: [&[(u32, u32)]; 4] = [&[(0, 8)], &[(0, 16)], &[(0, 32)], &[(0, 64)]];
const TWO: [&[(u32, u32)]; 3] = [&[(0, 8), (8, 8)], &[(0, 16), (16, 16)], &[(0, 32), (32, 32)]];
const FOUR: [&[(u32, u32)]; 3] = [
    &[(0, 8), (8, 8), (16, 8), (24, 8)],
    &[(0, 16), (16, 16), (32, 16), (48, 16)],
    &[(0, 32), (32, 32), (64, 32), (96, 32)],
];

const TENS: &[(u32, u32)] = &[(0, 10), (10, 10), (20, 10), (30, 2)];
const ELEVENS: &[(u32, u32)] = &[(0, 11), (11, 11), (22, 10)];

/// The value of a channel in the shader.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChannelValue {
    pub(crate) value: AbstractValue,
    pub(crate) bits: u64,
    /// Set if the readings of the text differ.
    pub(crate) readings_differ: bool,
}

impl ChannelValue {
    fn exact(bits: u64) -> ChannelValue {
        ChannelValue { value: AbstractValue::Bits, bits, readings_differ: false }
    }
}

impl Texel {
    /// The texel format of an image format; `None` for `Unknown`.
    pub(crate) fn of(format: ImageFormat) -> Option<Texel> {
        use ImageFormat as F;
        let (coding, channels) = match format {
            F::Unknown => return None,
            F::R8 => (Coding::Unorm, ONE[0]),
            F::Rg8 => (Coding::Unorm, TWO[0]),
            F::Rgba8 => (Coding::Unorm, FOUR[0]),
            F::R16 => (Coding::Unorm, ONE[1]),
            F::Rg16 => (Coding::Unorm, TWO[1]),
            F::Rgba16 => (Coding::Unorm, FOUR[1]),
            F::Rgb10A2 => (Coding::Unorm, TENS),
            F::R8Snorm => (Coding::Snorm, ONE[0]),
            F::Rg8Snorm => (Coding::Snorm, TWO[0]),
            F::Rgba8Snorm => (Coding::Snorm, FOUR[0]),
            F::R16Snorm => (Coding::Snorm, ONE[1]),
            F::Rg16Snorm => (Coding::Snorm, TWO[1]),
            F::Rgba16Snorm => (Coding::Snorm, FOUR[1]),
            F::R16f => (Coding::Float, ONE[1]),
            F::Rg16f => (Coding::Float, TWO[1]),
            F::Rgba16f => (Coding::Float, FOUR[1]),
            F::R32f => (Coding::Float, ONE[2]),
            F::Rg32f => (Coding::Float, TWO[2]),
            F::Rgba32f => (Coding::Float, FOUR[2]),
            // The channels have fractions of 6, 6 and 5 bits.
            F::R11fG11fB10f => (Coding::Small(6), ELEVENS),
            F::R8ui => (Coding::Uint, ONE[0]),
            F::Rg8ui => (Coding::Uint, TWO[0]),
            F::Rgba8ui => (Coding::Uint, FOUR[0]),
            F::R16ui => (Coding::Uint, ONE[1]),
            F::Rg16ui => (Coding::Uint, TWO[1]),
            F::Rgba16ui => (Coding::Uint, FOUR[1]),
            F::R32ui => (Coding::Uint, ONE[2]),
            F::Rg32ui => (Coding::Uint, TWO[2]),
            F::Rgba32ui => (Coding::Uint, FOUR[2]),
            F::Rgb10a2ui => (Coding::Uint, TENS),
            F::R64ui => (Coding::Uint, ONE[3]),
            F::R8i => (Coding::Sint, ONE[0]),
            F::Rg8i => (Coding::Sint, TWO[0]),
            F::Rgba8i => (Coding::Sint, FOUR[0]),
            F::R16i => (Coding::Sint, ONE[1]),
            F::Rg16i => (Coding::Sint, TWO[1]),
            F::Rgba16i => (Coding::Sint, FOUR[1]),
            F::R32i => (Coding::Sint, ONE[2]),
            F::Rg32i => (Coding::Sint, TWO[2]),
            F::Rgba32i => (Coding::Sint, FOUR[2]),
            F::R64i => (Coding::Sint, ONE[3]),
        };
        let bits: u32 = channels.iter().map(|(_, bits)| bits).sum();
        Some(Texel { bytes: bits / 8, coding, channels })
    }

    /// The sampled type that a shader must declare for these texels.
    pub(crate) fn numbers(&self) -> Numbers {
        let wide = self.channels.iter().any(|(_, width)| *width == 64);
        match self.coding {
            Coding::Unorm | Coding::Snorm | Coding::Float | Coding::Small(_) => Numbers::Float,
            Coding::Uint => Numbers::Int { wide, signed: false },
            Coding::Sint => Numbers::Int { wide, signed: true },
        }
    }

    /// Returns true if a shader sees integers.
    pub(crate) fn is_integer(&self) -> bool {
        matches!(self.coding, Coding::Uint | Coding::Sint)
    }

    /// Returns true if a channel of `width` bits can hold the integer `bits` of a shader's type
    /// with `own` bits.
    pub(crate) fn has(&self, width: u32, own: u32, bits: u64) -> bool {
        let kept = if self.coding == Coding::Sint { signed(width, bits).cast_unsigned() } else { bits & mask(width) };
        kept & mask(own) == bits
    }

    /// The bits of a whole number in the shader's type.
    pub(crate) fn whole(&self, n: u32) -> u64 {
        if self.is_integer() { u64::from(n) } else { u64::from((n as f32).to_bits()) }
    }

    /// The value that a shader sees for a channel missing from the format: 1 for alpha, else 0.
    pub(crate) fn absent(&self, channel: usize) -> u64 {
        self.whole(u32::from(channel == 3))
    }

    /// Returns true if every channel occupies whole bytes, so that it is a value of its own in
    /// memory.
    pub(crate) fn is_bytewise(&self) -> bool {
        self.channels.iter().all(|(first, bits)| first % 8 == 0 && bits % 8 == 0)
    }

    /// The value of a channel in the shader: exact bits, or either neighbour.
    ///
    /// `lenient`: with an error of [`ACCURACY`] in addition, and zero for denormal numbers of
    /// formats with fewer than 32 bits. The text does not say what the accuracy of a normalised
    /// number is relative to: its value, or the range of the format. Hardware that filters in 16-bit
    /// fixed point repeats the bits of shorter channels, with an error of up to 1.53e-5, which is
    /// about 1 part in 10^5 of the range. An error of half a step would make two codes equal.
    pub(crate) fn read(&self, channel: usize, bits: u64, lenient: bool) -> ChannelValue {
        let (_, width) = self.channels[channel];
        // `steps`: number of steps from 0 to 1.
        let float = |x: f64, exact: bool, steps: f64| {
            let (lo, hi) = RoundedReal::exact(x).neighbours(Fmt::F32);
            if exact {
                return ChannelValue::exact(assay_float::F32.bits(lo));
            }
            let (lo, hi) = if lenient {
                let error = (2.0 * ACCURACY).min(0.499 / steps).max(x.abs() * ACCURACY);
                (
                    RoundedReal::exact(x - error).neighbours(Fmt::F32).1,
                    RoundedReal::exact(x + error).neighbours(Fmt::F32).0,
                )
            } else {
                (lo, hi)
            };
            let (value, bits) = AbstractValue::of_floats(FloatSet::range(Fmt::F32, lo, hi));
            ChannelValue { value, bits, readings_differ: true }
        };
        let signed = crate::integer::signed(width, bits);
        match self.coding {
            Coding::Unorm => {
                let top = mask(width) as f64;
                let x = bits as f64 / top;
                float(x, bits == 0 || bits == mask(width), top)
            }
            Coding::Snorm => {
                let top = mask(width - 1) as f64;
                let x = (signed as f64 / top).max(-1.0);
                float(x, signed == 0 || x.abs() == 1.0, top)
            }
            Coding::Float if width == 32 => ChannelValue::exact(bits),
            Coding::Float => half(bits, lenient),
            // The bits of a half without sign and with a shorter fraction.
            Coding::Small(fraction) => half(bits << (10 - fraction + u32::from(channel == 2)), lenient),
            Coding::Uint => ChannelValue::exact(bits),
            // A set of values keeps their bits, so none may have more than the shader's type.
            Coding::Sint => ChannelValue::exact(signed.cast_unsigned() & mask(if width == 64 { 64 } else { 32 })),
        }
    }

    /// Variant of [`Self::read`] within filtering. The least number of a signed normalised channel
    /// may keep its value: "values less than -1.0 may be used but the result must be clamped before
    /// the value is returned to shaders".
    pub(crate) fn read_in_filter(&self, channel: usize, bits: u64, lenient: bool) -> ChannelValue {
        let (_, width) = self.channels[channel];
        let least = crate::integer::signed(width, bits) as f64 / mask(width - 1) as f64;
        if self.coding != Coding::Snorm || least >= -1.0 {
            return self.read(channel, bits, lenient);
        }
        let (lo, _) = RoundedReal::exact(least).neighbours(Fmt::F32);
        let (_, hi) = RoundedReal::exact(-1.0).neighbours(Fmt::F32);
        let (value, bits) = AbstractValue::of_floats(FloatSet::range(Fmt::F32, lo, hi));
        ChannelValue { value, bits, readings_differ: false }
    }

    /// The possible contents of a channel after a float in this range is written; `None` if they
    /// are too many, or if the format is not handled. `lenient`: zero for denormal numbers of
    /// formats with fewer than 32 bits in addition.
    pub(crate) fn written(&self, channel: usize, floats: &FloatSet, lenient: bool) -> Option<Vec<u64>> {
        let (_, width) = self.channels[channel];
        let (lo, hi) = floats.hull().filter(|_| !floats.nan)?;
        let value = |rank| crate::residual::value(floats.fmt, rank);
        let few = |lo: i64, hi: i64, cut: u64| {
            let all = (lo..=hi).take(ALTERNATIVES + 1).map(|n| n.cast_unsigned() & cut).collect::<Vec<_>>();
            (all.len() <= ALTERNATIVES).then_some(all)
        };
        match self.coding {
            Coding::Unorm => {
                let top = mask(width) as f64;
                let scale = |x: f64| x.clamp(0.0, 1.0) * top;
                few(scale(value(lo)).floor() as i64, scale(value(hi)).ceil() as i64, mask(width))
            }
            Coding::Snorm => {
                let top = mask(width - 1) as f64;
                let scale = |x: f64| x.clamp(-1.0, 1.0) * top;
                few(scale(value(lo)).floor() as i64, scale(value(hi)).ceil() as i64, mask(width))
            }
            Coding::Float if width == 16 => written_half(floats, lenient)?.few(),
            Coding::Small(fraction) => {
                let fraction = fraction - u32::from(channel == 2);
                let (first, last) = (small(fraction, value(lo)).0, small(fraction, value(hi)).1);
                let mut all: Vec<u64> = (first..=last).take(ALTERNATIVES + 1).collect();
                if lenient && first < 1 << fraction && first > 0 {
                    all.push(0);
                }
                (all.len() <= ALTERNATIVES).then_some(all)
            }
            Coding::Float | Coding::Uint | Coding::Sint => None,
        }
    }
}

/// The possible contents of a channel of 16-bit floats after a float in this range is written; `None`
/// if it may be a NaN. `lenient` as for [`Texel::written`].
pub(crate) fn written_half(floats: &FloatSet, lenient: bool) -> Option<FloatSet> {
    let (lo, hi) = floats.hull().filter(|_| !floats.nan)?;
    let neighbours = |rank| RoundedReal::exact(crate::residual::value(floats.fmt, rank)).neighbours(Fmt::F16);
    let ((lo, _), (_, hi)) = (neighbours(lo), neighbours(hi));
    // The sign of a zero is unspecified.
    let flushed = lenient && crate::fast_path::meets_denormals(Fmt::F16, (lo, hi));
    Some(FloatSet { zeros: flushed || (lo <= 0 && hi >= -1), ..FloatSet::range(Fmt::F16, lo, hi) })
}

/// The codes of the unsigned floats with 5 exponent bits next to a number: the greatest that is not
/// above it, and the least that is not below. They are equal for a number of the format. Negative
/// numbers give zero. The successor of the greatest finite number is infinity.
fn small(fraction: u32, x: f64) -> (u64, u64) {
    const BIAS: i32 = 15;
    if x <= 0.0 {
        return (0, 0);
    }
    let infinity = 31u64 << fraction;
    // The exponent of a normal double. Numbers below have the exponent of the denormals.
    let exponent = ((x.to_bits() >> 52) as i32 - 1023).max(1 - BIAS);
    if exponent > BIAS {
        return (infinity - 1, infinity);
    }
    // Scaling by powers of two is exact.
    let steps = x * f64::from(fraction as i32 - exponent).exp2();
    let below = ((exponent + BIAS - 1) as u64) << fraction;
    (below + steps.floor() as u64, below + steps.ceil() as u64)
}

/// The value of a half as a single. `lenient`: a denormal may also be zero.
fn half(bits: u64, lenient: bool) -> ChannelValue {
    let format = assay_float::F16;
    if format.is_nan(bits) {
        return ChannelValue::exact(assay_float::F32.nan());
    }
    let single = u64::from((format.to_f64(bits) as f32).to_bits());
    let denormal = format.is_denormal(bits);
    let flushed = [single, 0, assay_float::F32.sign_mask()];
    let found = AbstractValue::of_patterns(flushed.to_vec()).filter(|_| denormal && lenient);
    let (value, bits) = found.unwrap_or((AbstractValue::Bits, single));
    ChannelValue { value, bits, readings_differ: denormal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_agree_with_the_sum_of_channels() {
        assert_eq!(Texel::of(ImageFormat::Rgba8).map(|t| t.bytes), Some(4));
        assert_eq!(Texel::of(ImageFormat::Rgb10A2).map(|t| (t.bytes, t.is_bytewise())), Some((4, false)));
        assert_eq!(Texel::of(ImageFormat::R11fG11fB10f).map(|t| t.bytes), Some(4));
        assert_eq!(Texel::of(ImageFormat::Rgba32f).map(|t| t.bytes), Some(16));
        assert_eq!(Texel::of(ImageFormat::Unknown), None);
    }

    #[test]
    fn normalised_channels_convert_both_ways() {
        let rgba = Texel::of(ImageFormat::Rgba8).expect("known");
        assert_eq!(rgba.read(0, 255, false), ChannelValue::exact(0x3f80_0000));
        let wide = |format: ImageFormat, bits| Texel::of(format).unwrap().read(0, bits, false).bits;
        assert_eq!(wide(ImageFormat::Rgba8i, 0xfe), 0xffff_fffe);
        assert_eq!(wide(ImageFormat::R64i, u64::MAX), u64::MAX);
        let fifth = rgba.read(0, 51, false);
        let floats = fifth.value.floats(0, Fmt::F32).expect("a set");
        assert!(fifth.readings_differ && floats.set().contains(assay_float::F32, u64::from(0.2f32.to_bits())));
        assert_eq!(floats.hi - floats.lo, 1);
        for bits in 0..=255u64 {
            let found = rgba.read(1, bits, false);
            let floats = found.value.floats(found.bits, Fmt::F32).expect("a set");
            let back = rgba.written(1, &floats, false).expect("few");
            assert!(back.contains(&bits), "{bits}: {back:?}");
        }
        let small = Texel::of(ImageFormat::R11fG11fB10f).expect("known");
        assert_eq!(small.read(0, 0b01111 << 6, false).bits, u64::from(1f32.to_bits()));
        assert_eq!(small.read(2, 0b10000 << 5, false).bits, u64::from(2f32.to_bits()));
    }

    /// A GPU that expands channels to 16 bits by repeating their bits returned these numbers.
    #[test]
    fn expansion_to_16_bits_is_permitted_leniently() {
        for (format, code, got) in [
            (ImageFormat::R8Snorm, 60, 0x3ef1_e1e4u32),
            (ImageFormat::Rgb10A2, 478, 0x3eef_3aef),
            (ImageFormat::Rgb10A2, 142, 0x3e0e_208e),
            (ImageFormat::Rgb10A2, 1, 0x3a80_0080),
        ] {
            let texel = Texel::of(format).expect("known");
            for (lenient, permitted) in [(false, false), (true, true)] {
                let found = texel.read(0, code, lenient);
                let floats = found.value.floats(found.bits, Fmt::F32).expect("a set");
                let holds = floats.set().contains(assay_float::F32, u64::from(got));
                assert_eq!(holds, permitted, "{format:?} {code} {lenient}");
                let next = texel.read(0, code + 1, lenient);
                let next = next.value.floats(next.bits, Fmt::F32).expect("a set");
                assert!(floats.hi < next.lo, "codes stay apart");
            }
        }
    }

    /// Every code converts to its number and back; a number between two neighbours gives both.
    #[test]
    fn floats_without_signs_convert_both_ways() {
        let texel = Texel::of(ImageFormat::R11fG11fB10f).expect("known");
        let number = |channel, code| f64::from(f32::from_bits(texel.read(channel, code, false).bits as u32));
        for (channel, fraction) in [(0, 6), (1, 6), (2, 5)] {
            for code in 0..(31u64 << fraction) - 1 {
                let (x, next) = (number(channel, code), number(channel, code + 1));
                assert_eq!(small(fraction, x), (code, code), "{x}");
                assert_eq!(small(fraction, (x + next) / 2.0), (code, code + 1), "{x} to {next}");
            }
            let most = (31u64 << fraction) - 1;
            assert_eq!(small(fraction, number(channel, most)), (most, most));
            assert_eq!(small(fraction, 65_536.0), (most, most + 1));
            assert_eq!(small(fraction, 65_300.0), (most, most + 1));
            assert_eq!(small(fraction, -1.5), (0, 0));
        }
        let rank = |x: f32| assay_float::F32.rank(u64::from(x.to_bits()));
        let range = |lo, hi| FloatSet::range(Fmt::F32, rank(lo), rank(hi));
        let written = |channel, range| texel.written(channel, &range, false);
        assert_eq!(written(0, range(1.01, 1.01)), Some(vec![15 << 6, (15 << 6) + 1]));
        assert_eq!(written(2, range(1.0, 1.0)), Some(vec![15 << 5]));
        assert_eq!(written(1, range(-3.0, -2.0)), Some(vec![0]));
    }

    /// Floats of 16, 11 and 10 bits, read and written.
    #[test]
    fn denormal_numbers_are_zero_in_the_lenient_reading_only() {
        for (format, step) in [(ImageFormat::Rgba16f, -24), (ImageFormat::R11fG11fB10f, -20)] {
            let texel = Texel::of(format).expect("known");
            let number = u64::from(2f32.powi(step).to_bits());
            let denormal = ChannelValue { readings_differ: true, ..ChannelValue::exact(number) };
            assert_eq!(texel.read(0, 1, false), denormal, "{format:?}");
            assert_eq!(texel.read(0, 1, true).value.patterns(0), Ok(vec![0, number, 1 << 31]), "{format:?}");
            let floats = FloatSet::point(Fmt::F32, number);
            assert_eq!(texel.written(0, &floats, false), Some(vec![1]), "{format:?}");
            let lenient = texel.written(0, &floats, true).expect("few");
            assert!(lenient.contains(&0) && lenient.contains(&1), "{format:?}: {lenient:?}");
        }
    }

    #[test]
    fn many_halves_stay_a_range() {
        let rank = |x: f32| Fmt::F32.format().rank(u64::from(x.to_bits()));
        let half = |bits: u64| Fmt::F16.format().rank(bits);
        let written = written_half(&FloatSet::range(Fmt::F32, rank(-0.1), rank(1.0001)), false).expect("a range");
        // -0.1 lies between 0xae67 and 0xae66, and 1.0001 between 0x3c00 and 0x3c01.
        assert_eq!((written.hull(), written.few()), (Some((half(0xae67), half(0x3c01))), None));
        assert!(written.zeros);
    }

    #[test]
    fn the_least_signed_number_may_be_less_than_minus_one_within_filtering() {
        let texel = Texel::of(ImageFormat::Rgba8Snorm).expect("known");
        let hull = |ChannelValue { value, bits, .. }: ChannelValue| {
            let (lo, hi) = value.floats(bits, Fmt::F32).ok().and_then(|floats| floats.hull()).expect("a range");
            [lo, hi].map(|rank| crate::residual::value(Fmt::F32, rank))
        };
        assert_eq!(
            (hull(texel.read(0, 0x80, false)), hull(texel.read_in_filter(0, 0x81, false))),
            ([-1.0; 2], [-1.0; 2])
        );
        let [lo, hi] = hull(texel.read_in_filter(0, 0x80, false));
        assert!((lo + 128.0 / 127.0).abs() < 1e-6 && hi == -1.0, "{lo} {hi}");
    }
}
