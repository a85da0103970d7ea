//! The floating-point formats of literals: only what reading and writing one takes.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) name: &'static str,
    pub(crate) width: u32,
    pub(crate) exponent_bits: u32,
    pub(crate) fraction_bits: u32,
    nan_only: bool,
}

pub(crate) const F16: Format = Format { name: "f16", width: 16, exponent_bits: 5, fraction_bits: 10, nan_only: false };
pub(crate) const BF16: Format = Format { name: "bf16", width: 16, exponent_bits: 8, fraction_bits: 7, nan_only: false };
pub(crate) const F32: Format = Format { name: "f32", width: 32, exponent_bits: 8, fraction_bits: 23, nan_only: false };
pub(crate) const F64: Format = Format { name: "f64", width: 64, exponent_bits: 11, fraction_bits: 52, nan_only: false };
pub(crate) const F8_E4M3: Format =
    Format { name: "f8e4m3", width: 8, exponent_bits: 4, fraction_bits: 3, nan_only: true };
pub(crate) const F8_E5M2: Format =
    Format { name: "f8e5m2", width: 8, exponent_bits: 5, fraction_bits: 2, nan_only: false };

impl Format {
    pub(crate) fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }
    pub(crate) fn sign_mask(self) -> u64 {
        1 << (self.width - 1)
    }
    pub(crate) fn magnitude_mask(self) -> u64 {
        self.sign_mask() - 1
    }
    pub(crate) fn mask(self) -> u64 {
        self.magnitude_mask() | self.sign_mask()
    }
    pub(crate) fn is_negative(self, bits: u64) -> bool {
        bits & self.sign_mask() != 0
    }
    pub(crate) fn is_denormal(self, bits: u64) -> bool {
        let magnitude = bits & self.magnitude_mask();
        magnitude != 0 && magnitude >> self.fraction_bits == 0
    }
    pub(crate) fn is_finite(self, bits: u64) -> bool {
        let magnitude = bits & self.magnitude_mask();
        if self.nan_only {
            magnitude != self.magnitude_mask()
        } else {
            magnitude >> self.fraction_bits != (1 << self.exponent_bits) - 1
        }
    }
}
