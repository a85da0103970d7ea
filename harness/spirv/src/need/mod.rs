//! What a module needs of a device, what a device has, and what is missing.

mod derive;
mod float_controls;
mod instructions;
mod layout;
mod limits;
mod rules;
mod stages;

pub use rules::{NEED_RULES, NeedRule};

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

/// A version of the Vulkan API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiVersion {
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

impl ApiVersion {
    /// Vulkan 1.`minor`.
    pub const fn v1(minor: u32) -> Self {
        ApiVersion { major: 1, minor }
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What a device offers, as plain data.
///
/// Names are the registry's. A feature or property is called by its member of its structure (`shaderInt8`,
/// `shaderDenormPreserveFloat32`), whichever of the structures that have it was queried; where the registry gives one
/// name to different things, by the `feature` of [`Enabling::Feature`](crate::grammar::Enabling::Feature)
/// (`cooperativeMatrixNV`). A size in one direction is called by its axis: `maxComputeWorkGroupSizeX`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Have {
    /// The API version that the device supports, the instance and the application allowing it.
    pub api_version: ApiVersion,
    /// Features that are supported.
    pub features: BTreeSet<String>,
    /// Device extensions that are supported.
    pub extensions: BTreeSet<String>,
    /// Properties and limits by value; `VkBool32` as 0 or 1, enumerations and bit sets by number; negative
    /// ones in two's complement of 64 bits.
    pub properties: BTreeMap<String, u64>,
}

impl Have {
    /// Whether a `VkBool32` property is set; not where it could not be asked for.
    pub fn is(&self, property: &str) -> bool {
        self.properties.get(property).is_some_and(|value| *value != 0)
    }
}

/// What a property must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Test {
    /// It is `VK_TRUE`.
    True,
    /// All these bits are set; the name is the registry's.
    Bits(u64, &'static str),
    /// It is at least this.
    AtLeast(u64),
    /// It is at most this.
    AtMost(u64),
    /// It is one of these.
    OneOf(&'static [u64]),
}

/// One thing that a device has or has not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Requirement {
    /// Vulkan of this version or newer.
    Api(ApiVersion),
    /// A feature.
    Feature(&'static str),
    /// A device extension.
    Extension(&'static str),
    /// A property.
    Property(&'static str, Test),
}

/// What must hold on a device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expression {
    /// One thing.
    One(Requirement),
    /// All of these; nothing is needed if there are none.
    All(Vec<Expression>),
    /// Any of these.
    Any(Vec<Expression>),
    /// No device does: why.
    Never(String),
}

/// What must hold, and for which instruction of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeedItem {
    /// What must hold.
    pub expression: Expression,
    /// What in the module asks for it: `capability Int8`, `64-bit atomic on %buffer`.
    pub because: String,
    /// The rule, by its name in the specification, where it is not the capability or extension table.
    pub rule: Option<&'static str>,
    /// Index of the first word of the instruction that asks for it.
    pub at: usize,
}

/// All that a module needs: every item must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// The items, in the order of the instructions.
    pub items: Vec<NeedItem>,
}

/// Something that a device lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The item that does not hold.
    pub item: NeedItem,
    /// Any one of these would mend it.
    pub alternatives: Vec<String>,
}

/// Whether a module may run on a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What is missing; nothing if it may run.
    pub missing: Vec<Missing>,
}

impl Verdict {
    /// Whether the module may run.
    pub fn may_run(&self) -> bool {
        self.missing.is_empty()
    }
}

impl Need {
    /// What of this a device lacks. An item that what another one lacks would mend is not named besides: of
    /// `capability DenormPreserve` (some width) and `execution mode DenormPreserve 32` the second is.
    pub fn check(&self, have: &Have) -> Verdict {
        let lacking: Vec<&NeedItem> = self.items.iter().filter(|item| !item.expression.holds(have)).collect();
        let named = lacking.iter().filter(|item| !lacking.iter().any(|other| other.expression.mends(&item.expression)));
        let missing =
            named.map(|item| Missing { item: (*item).clone(), alternatives: item.expression.alternatives(have) });
        Verdict { missing: missing.collect() }
    }

    /// Every feature that some item names: what to enable where the device has it.
    pub fn features(&self) -> BTreeSet<&'static str> {
        self.named(|requirement| match requirement {
            Requirement::Feature(name) => Some(*name),
            Requirement::Api(_) | Requirement::Extension(_) | Requirement::Property(..) => None,
        })
    }

    /// Every device extension that some item names.
    pub fn extensions(&self) -> BTreeSet<&'static str> {
        self.named(|requirement| match requirement {
            Requirement::Extension(name) => Some(*name),
            Requirement::Api(_) | Requirement::Feature(_) | Requirement::Property(..) => None,
        })
    }

    fn named(&self, name: impl Fn(&Requirement) -> Option<&'static str>) -> BTreeSet<&'static str> {
        let mut names = BTreeSet::new();
        for item in &self.items {
            item.expression.visit(&mut |requirement| names.extend(name(requirement)));
        }
        names
    }
}

impl Expression {
    /// Whether it holds on a device.
    pub fn holds(&self, have: &Have) -> bool {
        match self {
            Expression::One(requirement) => requirement.holds(have),
            Expression::All(parts) => parts.iter().all(|part| part.holds(have)),
            Expression::Any(parts) => parts.iter().any(|part| part.holds(have)),
            Expression::Never(_) => false,
        }
    }

    /// Whether it is one of several things that `wider` could be met by.
    fn mends(&self, wider: &Expression) -> bool {
        match wider {
            Expression::Any(ways) => ways.len() > 1 && ways.contains(self),
            Expression::One(_) | Expression::All(_) | Expression::Never(_) => false,
        }
    }

    /// What would make it hold: one text for each way, of what is not there yet.
    fn alternatives(&self, have: &Have) -> Vec<String> {
        match self {
            Expression::One(requirement) => vec![requirement.lacking(have)],
            Expression::All(parts) => {
                let lacking =
                    parts.iter().filter(|part| !part.holds(have)).map(|part| part.alternatives(have).join(" or "));
                vec![lacking.collect::<Vec<_>>().join(" and ")]
            }
            Expression::Any(parts) => parts.iter().flat_map(|part| part.alternatives(have)).collect(),
            Expression::Never(why) => vec![why.clone()],
        }
    }

    fn visit(&self, visit: &mut impl FnMut(&Requirement)) {
        match self {
            Expression::One(requirement) => visit(requirement),
            Expression::All(parts) | Expression::Any(parts) => parts.iter().for_each(|part| part.visit(visit)),
            Expression::Never(_) => {}
        }
    }
}

impl Requirement {
    /// Whether a device has it. A property that was not queried is not there.
    pub fn holds(&self, have: &Have) -> bool {
        match self {
            Requirement::Api(version) => have.api_version >= *version,
            Requirement::Feature(name) => have.features.contains(*name),
            Requirement::Extension(name) => have.extensions.contains(*name),
            Requirement::Property(name, test) => have.properties.get(*name).is_some_and(|value| match test {
                Test::True => *value != 0,
                Test::Bits(bits, _) => value & bits == *bits,
                Test::AtLeast(least) => value >= least,
                Test::AtMost(most) => value <= most,
                Test::OneOf(values) => values.contains(value),
            }),
        }
    }

    fn lacking(&self, have: &Have) -> String {
        match self {
            Requirement::Property(_, Test::True) => self.to_string(),
            Requirement::Property(name, _) => match have.properties.get(*name) {
                Some(value) => format!("{self} (it is {value})"),
                None => self.to_string(),
            },
            Requirement::Api(_) => format!("{self} (it is {})", have.api_version),
            Requirement::Feature(_) | Requirement::Extension(_) => self.to_string(),
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Requirement::Api(version) => write!(f, "Vulkan {version}"),
            Requirement::Feature(name) => write!(f, "feature {name}"),
            Requirement::Extension(name) => write!(f, "extension {name}"),
            Requirement::Property(name, Test::True) => write!(f, "property {name}"),
            Requirement::Property(name, Test::Bits(_, bits)) => write!(f, "{bits} in property {name}"),
            Requirement::Property(name, Test::AtLeast(least)) => write!(f, "property {name} of at least {least}"),
            Requirement::Property(name, Test::AtMost(most)) => write!(f, "property {name} of at most {most}"),
            Requirement::Property(name, Test::OneOf(values)) => {
                let values: Vec<_> = values.iter().map(u64::to_string).collect();
                write!(f, "property {name} of {}", values.join(" or "))
            }
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |f: &mut fmt::Formatter<'_>, parts: &[Expression], word: &str| {
            for (i, part) in parts.iter().enumerate() {
                if i > 0 {
                    write!(f, " {word} ")?;
                }
                match part {
                    Expression::All(inner) | Expression::Any(inner) if inner.len() > 1 => write!(f, "({part})")?,
                    _ => write!(f, "{part}")?,
                }
            }
            Ok(())
        };
        match self {
            Expression::One(requirement) => write!(f, "{requirement}"),
            Expression::All(parts) if parts.is_empty() => f.write_str("nothing"),
            Expression::All(parts) => join(f, parts, "and"),
            Expression::Any(parts) => join(f, parts, "or"),
            Expression::Never(why) => f.write_str(why),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} needs {}", self.item.because, self.alternatives.join(" or "))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.may_run() {
            return f.write_str("may run");
        }
        // Several instructions may want the same.
        let mut seen = HashSet::new();
        let missing = self.missing.iter().map(ToString::to_string).filter(|one| seen.insert(one.clone()));
        f.write_str(&missing.collect::<Vec<_>>().join("; "))
    }
}
