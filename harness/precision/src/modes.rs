//! Floating-point environment of one instruction.

use std::fmt;

/// Declaration of the entry point for denormals of a width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Denormals {
    /// None: each denormal may be flushed.
    #[default]
    Undeclared,
    /// `DenormFlushToZero`.
    FlushToZero,
    /// `DenormPreserve`.
    Preserve,
}

/// Declaration of the entry point for rounding of a width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// None: implementation-defined, either neighbour.
    #[default]
    Undeclared,
    /// `RoundingModeRTE`.
    Rte,
    /// `RoundingModeRTZ`.
    Rtz,
}

/// SPIR-V's name of [`Modes::saturated`].
pub(crate) const SATURATED: &str = "SaturatedToLargestFloat8NormalConversionEXT";

/// Error: the names do not declare an environment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModesError {
    /// No mode has that name.
    #[error("unknown mode `{name}`; the nearest are {}", nearest.join(", "))]
    Unknown {
        /// The unknown name.
        name: String,
        /// Closest names, best first.
        nearest: Vec<&'static str>,
    },
    /// Two modes cannot be declared together.
    #[error("{first} and {second} exclude each other in a module; name one of them")]
    Exclusive {
        /// One.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
}

/// Flags of `FPFastMathMode`, as declared by a decoration or by `FPFastMathDefault`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "seven independent flags of one SPIR-V mask")]
#[expect(missing_docs, reason = "the names are those of the SPIR-V flags")]
pub struct FastMath {
    pub not_nan: bool,
    pub not_inf: bool,
    pub nsz: bool,
    pub allow_recip: bool,
    pub allow_contract: bool,
    pub allow_reassoc: bool,
    pub allow_transform: bool,
}

/// Floating-point environment of one instruction, as its module declares it.
///
/// Modes are those of the width of the instruction's operands and result. If these differ in width,
/// both widths declare the same modes, except for denormals if [`Modes::operand_denormals`] is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "independent declarations of a SPIR-V module")]
pub struct Modes {
    /// `DenormPreserve`, `DenormFlushToZero`, or neither, for the result's width. For packing and
    /// unpacking halves it is the width of the halves, which are 16-bit values although no type of
    /// the instruction is.
    pub denormals: Denormals,
    /// Declaration for the operands' width if it differs (for packing and unpacking halves, the
    /// width of the singles). Names of modes do not name a width; [`Modes::names`] therefore omits
    /// it.
    pub operand_denormals: Option<Denormals>,
    /// `RoundingModeRTE`, `RoundingModeRTZ`, or neither.
    pub rounding: Rounding,
    /// `SignedZeroInfNanPreserve`.
    pub preserve_special: bool,
    /// Flags of float_controls2 if the module declares any (by decoration or `FPFastMathDefault`).
    /// They replace all assumptions and `preserve_special`, and exclude `no_contraction`.
    pub fast_math: Option<FastMath>,
    /// The `NoContraction` decoration.
    pub no_contraction: bool,
    /// The `RelaxedPrecision` decoration.
    pub relaxed: bool,
    /// The `SaturatedToLargestFloat8NormalConversionEXT` decoration, for conversions to float8
    /// only.
    pub saturated: bool,
}

impl fmt::Display for Modes {
    /// The SPIR-V names, joined by `+`; `default` if nothing is declared.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names();
        if names.is_empty() { f.write_str("default") } else { f.write_str(&names.join("+")) }
    }
}

impl Modes {
    /// All names that [`Modes::with`] takes: execution modes and decorations in SPIR-V's spelling,
    /// and the flags of `FPFastMathMode` (`None` declares the empty set of flags).
    pub const NAMES: [&'static str; 16] = [
        "DenormPreserve",
        "DenormFlushToZero",
        "RoundingModeRTE",
        "RoundingModeRTZ",
        "SignedZeroInfNanPreserve",
        "NoContraction",
        "RelaxedPrecision",
        SATURATED,
        "None",
        "NotNaN",
        "NotInf",
        "NSZ",
        "AllowRecip",
        "AllowContract",
        "AllowReassoc",
        "AllowTransform",
    ];

    /// Environment that all these names declare together (ignoring case; `default` declares
    /// nothing).
    ///
    /// # Errors
    /// Fails if a name is unknown or if two names exclude each other: `DenormPreserve` and
    /// `DenormFlushToZero`, `RoundingModeRTE` and `RoundingModeRTZ`, flags of `FPFastMathMode` with
    /// `NoContraction`, `None` with another flag. Flags of a decoration replace
    /// `SignedZeroInfNanPreserve`, which a module may declare as well; only `FPFastMathDefault`
    /// excludes it (SPV_KHR_float_controls2).
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Modes, ModesError> {
        const FLAGS: std::ops::Range<usize> = 8..Modes::NAMES.len();
        let mut modes = Modes::default();
        let mut given = Vec::new();
        for name in names.into_iter().filter(|name| !name.eq_ignore_ascii_case("default")) {
            let index = Self::NAMES.iter().position(|n| n.eq_ignore_ascii_case(name));
            let added = modes.with(name).zip(index);
            let (next, index) = added.ok_or_else(|| ModesError::Unknown {
                name: name.to_owned(),
                nearest: crate::nearest(name, Self::NAMES.into_iter()),
            })?;
            (modes, _) = (next, given.push(index));
        }
        let flag = given.iter().copied().find(|i| FLAGS.contains(i) && Self::NAMES[*i] != "None");
        let any = given.iter().copied().find(|i| FLAGS.contains(i));
        let named = |name: &str| given.iter().copied().find(|&i| Self::NAMES[i] == name);
        let pairs = [
            (named("DenormPreserve"), named("DenormFlushToZero")),
            (named("RoundingModeRTE"), named("RoundingModeRTZ")),
            (named("NoContraction"), any),
            (named("None"), flag),
        ];
        match pairs.into_iter().find_map(|(first, second)| first.zip(second)) {
            Some((first, second)) => {
                Err(ModesError::Exclusive { first: Self::NAMES[first], second: Self::NAMES[second] })
            }
            None => Ok(modes),
        }
    }

    /// Adds the mode of that name (ignoring case); `None` for an unknown mode.
    ///
    /// `AllowTransform` includes `AllowContract` and `AllowReassoc`, as SPIR-V requires.
    #[must_use]
    pub fn with(mut self, name: &str) -> Option<Modes> {
        let name = Self::NAMES.into_iter().find(|n| n.eq_ignore_ascii_case(name))?;
        let flags = self.fast_math.unwrap_or_default();
        match name {
            "DenormPreserve" => self.denormals = Denormals::Preserve,
            "DenormFlushToZero" => self.denormals = Denormals::FlushToZero,
            "RoundingModeRTE" => self.rounding = Rounding::Rte,
            "RoundingModeRTZ" => self.rounding = Rounding::Rtz,
            "SignedZeroInfNanPreserve" => self.preserve_special = true,
            "NoContraction" => self.no_contraction = true,
            "RelaxedPrecision" => self.relaxed = true,
            SATURATED => self.saturated = true,
            "None" => self.fast_math = Some(flags),
            "NotNaN" => self.fast_math = Some(FastMath { not_nan: true, ..flags }),
            "NotInf" => self.fast_math = Some(FastMath { not_inf: true, ..flags }),
            "NSZ" => self.fast_math = Some(FastMath { nsz: true, ..flags }),
            "AllowRecip" => self.fast_math = Some(FastMath { allow_recip: true, ..flags }),
            "AllowContract" => self.fast_math = Some(FastMath { allow_contract: true, ..flags }),
            "AllowReassoc" => self.fast_math = Some(FastMath { allow_reassoc: true, ..flags }),
            "AllowTransform" => {
                self.fast_math =
                    Some(FastMath { allow_contract: true, allow_reassoc: true, allow_transform: true, ..flags });
            }
            _ => return None,
        }
        Some(self)
    }

    /// Names from which [`Modes::with`] builds this environment.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        match self.denormals {
            Denormals::Undeclared => {}
            Denormals::Preserve => names.push("DenormPreserve"),
            Denormals::FlushToZero => names.push("DenormFlushToZero"),
        }
        match self.rounding {
            Rounding::Undeclared => {}
            Rounding::Rte => names.push("RoundingModeRTE"),
            Rounding::Rtz => names.push("RoundingModeRTZ"),
        }
        let FastMath { not_nan, not_inf, nsz, allow_recip, allow_contract, allow_reassoc, allow_transform } =
            self.fast_math.unwrap_or_default();
        let flags = [
            (self.preserve_special, "SignedZeroInfNanPreserve"),
            (self.no_contraction, "NoContraction"),
            (self.relaxed, "RelaxedPrecision"),
            (self.saturated, SATURATED),
            (self.fast_math == Some(FastMath::default()), "None"),
            (not_nan, "NotNaN"),
            (not_inf, "NotInf"),
            (nsz, "NSZ"),
            (allow_recip, "AllowRecip"),
            (allow_contract && !allow_transform, "AllowContract"),
            (allow_reassoc && !allow_transform, "AllowReassoc"),
            (allow_transform, "AllowTransform"),
        ];
        names.extend(flags.into_iter().filter_map(|(set, name)| set.then_some(name)));
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_that_exclude_each_other_make_no_environment() {
        assert_eq!(Modes::from_names([]), Ok(Modes::default()));
        assert_eq!(Modes::from_names(["default"]), Ok(Modes::default()));
        let both = Modes::from_names(["denormpreserve", "RoundingModeRTE"]).expect("compatible");
        assert_eq!(both.names(), ["DenormPreserve", "RoundingModeRTE"]);
        assert!(Modes::from_names(["AllowTransform", "AllowContract", "NSZ"]).is_ok());
        assert!(Modes::from_names(["SignedZeroInfNanPreserve", "NSZ"]).is_ok(), "an instruction that is decorated");
        for (first, second) in [
            ("DenormPreserve", "DenormFlushToZero"),
            ("RoundingModeRTE", "RoundingModeRTZ"),
            ("NoContraction", "None"),
            ("None", "NotNaN"),
        ] {
            for names in [[first, second], [second, first]] {
                assert_eq!(Modes::from_names(names), Err(ModesError::Exclusive { first, second }));
            }
        }
        let unknown = Modes::from_names(["DenormsPreserve"]).expect_err("unknown");
        assert!(unknown.to_string().contains("DenormPreserve"));
    }

    #[test]
    fn names_round_trip() {
        for name in Modes::NAMES {
            let modes = Modes::default().with(&name.to_lowercase()).expect(name);
            assert_eq!(modes.names(), [name]);
        }
        assert_eq!(Modes::default().with("Fast"), None);
        assert_eq!(Modes::default().to_string(), "default");
    }
}
