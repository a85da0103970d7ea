//! Device requirements of modules, device capabilities, and the comparison of both.

mod block_layout;
mod derive;
mod float_controls;
mod instructions;
mod limits;
mod rule_list;
mod stages;

pub use rule_list::{NEED_RULES, NeedRule};

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
    /// Returns Vulkan 1.`minor`.
    pub const fn v1(minor: u32) -> Self {
        ApiVersion { major: 1, minor }
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Capabilities of a device, as plain data.
///
/// Names are those of the Vulkan registry. A feature or property is named by its member
/// (`shaderInt8`, `shaderDenormPreserveFloat32`), whichever of the structures that contain it was
/// queried. If the registry uses one name for different features, the name is the `feature` of
/// [`Enabling::Feature`](crate::grammar::Enabling::Feature) (`cooperativeMatrixNV`). A component of
/// an array has its axis appended: `maxComputeWorkGroupSizeX`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Have {
    /// Vulkan version that the device supports, limited by the instance and the application.
    pub api_version: ApiVersion,
    /// Supported features.
    pub features: BTreeSet<String>,
    /// Supported device extensions.
    pub extensions: BTreeSet<String>,
    /// Values of properties and limits: `VkBool32` as 0 or 1, enumerations and bit sets as numbers,
    /// negative numbers in two's complement of 64 bits.
    pub properties: BTreeMap<String, u64>,
}

impl Have {
    /// Returns true if a `VkBool32` property is set; false if it was not queried.
    pub fn is(&self, property: &str) -> bool {
        self.properties.get(property).is_some_and(|value| *value != 0)
    }
}

/// A condition on the value of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Test {
    /// It is `VK_TRUE`.
    True,
    /// All these bits are set; the name is that in the registry.
    Bits(u64, &'static str),
    /// It is at least this.
    AtLeast(u64),
    /// It is at most this.
    AtMost(u64),
    /// It is one of these.
    OneOf(&'static [u64]),
}

/// A single condition on a device.
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

/// A logical expression over conditions on a device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expression {
    /// A single condition.
    One(Requirement),
    /// All of these hold; always true if empty.
    All(Vec<Expression>),
    /// At least one of these holds.
    Any(Vec<Expression>),
    /// No device satisfies it, for this reason.
    Never(String),
}

/// A requirement, and the instruction of the module that imposes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeedItem {
    /// The condition.
    pub expression: Expression,
    /// The part of the module that imposes it: `capability Int8`, `64-bit atomic on %buffer`.
    pub because: String,
    /// The rule's name in the specification; `None` if it follows from the capability or extension
    /// table.
    pub rule: Option<&'static str>,
    /// Index of the first word of the instruction that imposes it.
    pub at: usize,
}

/// Device requirements of a module, all of which must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// The requirements, in the order of the instructions.
    pub items: Vec<NeedItem>,
}

/// A requirement that a device does not satisfy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The requirement.
    pub item: NeedItem,
    /// Alternatives, any one of which would satisfy it.
    pub alternatives: Vec<String>,
}

/// Result of comparing a module's requirements with a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The unsatisfied requirements; empty if the module may run.
    pub missing: Vec<Missing>,
}

impl Verdict {
    /// Returns true if the module may run.
    pub fn may_run(&self) -> bool {
        self.missing.is_empty()
    }
}

impl Need {
    /// Compares the requirements with a device. An unsatisfied item is left out if satisfying
    /// another unsatisfied item would satisfy it as well: of `capability DenormPreserve` (any
    /// width) and `execution mode DenormPreserve 32`, only the second is reported.
    pub fn check(&self, have: &Have) -> Verdict {
        let lacking: Vec<&NeedItem> = self.items.iter().filter(|item| !item.expression.holds(have)).collect();
        let named = lacking.iter().filter(|item| !lacking.iter().any(|other| other.expression.mends(&item.expression)));
        let missing =
            named.map(|item| Missing { item: (*item).clone(), alternatives: item.expression.alternatives(have) });
        Verdict { missing: missing.collect() }
    }

    /// Returns every feature that an item mentions. Those that the device supports must be enabled.
    pub fn features(&self) -> BTreeSet<&'static str> {
        self.named(|requirement| match requirement {
            Requirement::Feature(name) => Some(*name),
            Requirement::Api(_) | Requirement::Extension(_) | Requirement::Property(..) => None,
        })
    }

    /// Returns every device extension that an item mentions.
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
    /// Returns true if the expression holds on a device.
    pub fn holds(&self, have: &Have) -> bool {
        match self {
            Expression::One(requirement) => requirement.holds(have),
            Expression::All(parts) => parts.iter().all(|part| part.holds(have)),
            Expression::Any(parts) => parts.iter().any(|part| part.holds(have)),
            Expression::Never(_) => false,
        }
    }

    /// Returns true if `wider` is a disjunction that contains this expression.
    fn mends(&self, wider: &Expression) -> bool {
        match wider {
            Expression::Any(ways) => ways.len() > 1 && ways.contains(self),
            Expression::One(_) | Expression::All(_) | Expression::Never(_) => false,
        }
    }

    /// Returns the conditions that would make the expression hold, one text for each alternative.
    /// Conditions that hold already are omitted.
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
    /// Returns true if a device satisfies the condition. A property that was not queried does not.
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
                Some(value) => format!("{self} (the device has {value})"),
                None => self.to_string(),
            },
            Requirement::Api(_) => format!("{self} (the device has {})", have.api_version),
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
        // Several instructions may impose the same requirement.
        let mut seen = HashSet::new();
        let missing = self.missing.iter().map(ToString::to_string).filter(|one| seen.insert(one.clone()));
        f.write_str(&missing.collect::<Vec<_>>().join("; "))
    }
}
