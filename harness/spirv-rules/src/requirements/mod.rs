//! Device requirements of modules, device capabilities, and the comparison of both.

mod block_layout;
mod derivation;
mod derive;
mod float_controls;
mod instructions;
mod limits;
mod rule_list;
mod stages;

pub use rule_list::{REQUIREMENT_RULES, RequirementRule};

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

/// A version of the Vulkan API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
/// [`EnablingCondition::Feature`](assay_spirv::grammar::EnablingCondition::Feature)
/// (`cooperativeMatrixNV`). A component of an array has its axis appended:
/// `maxComputeWorkGroupSizeX`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceCaps {
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

impl DeviceCaps {
    /// Returns true if a `VkBool32` property is set; false if it was not queried.
    pub fn has_property(&self, property: &str) -> bool {
        self.properties.get(property).is_some_and(|value| *value != 0)
    }
}

/// A condition on the value of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PropertyCondition {
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
pub enum DeviceCondition {
    /// Vulkan of this version or newer.
    Api(ApiVersion),
    /// A feature.
    Feature(&'static str),
    /// A device extension.
    Extension(&'static str),
    /// A property.
    Property(&'static str, PropertyCondition),
}

/// A logical expression over conditions on a device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// A single condition.
    Atom(DeviceCondition),
    /// All of these hold; always true if empty.
    All(Vec<Condition>),
    /// At least one of these holds.
    Any(Vec<Condition>),
    /// No device satisfies it, for this reason.
    Unsatisfiable(String),
}

/// A requirement, and the instruction of the module that imposes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequirementItem {
    /// The condition.
    pub expression: Condition,
    /// The part of the module that imposes it: `capability Int8`, `64-bit atomic on %buffer`.
    pub imposed_by: String,
    /// The rule's name in the specification; `None` if it follows from the capability or extension
    /// table.
    pub rule: Option<&'static str>,
    /// Index of the first word of the instruction that imposes it.
    pub at: usize,
}

/// Device requirements of a module, all of which must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// The requirements, in the order of the instructions.
    pub items: Vec<RequirementItem>,
}

/// A requirement that a device does not satisfy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsatisfiedRequirement {
    /// The requirement.
    pub item: RequirementItem,
    /// Alternatives, any one of which would satisfy it.
    pub alternatives: Vec<String>,
}

/// Result of comparing a module's requirements with a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequirementCheck {
    /// The unsatisfied requirements; empty if the module may run.
    pub missing: Vec<UnsatisfiedRequirement>,
}

impl RequirementCheck {
    /// Returns true if the module may run.
    pub fn may_run(&self) -> bool {
        self.missing.is_empty()
    }
}

impl Requirements {
    /// Compares the requirements with a device. An unsatisfied item is left out if satisfying
    /// another unsatisfied item would satisfy it as well: of `capability DenormPreserve` (any
    /// width) and `execution mode DenormPreserve 32`, only the second is reported.
    pub fn check(&self, caps: &DeviceCaps) -> RequirementCheck {
        let lacking: Vec<&RequirementItem> = self.items.iter().filter(|item| !item.expression.holds(caps)).collect();
        let named = lacking.iter().filter(|item| !lacking.iter().any(|other| other.expression.mends(&item.expression)));
        let missing = named.map(|item| UnsatisfiedRequirement {
            item: (*item).clone(),
            alternatives: item.expression.alternatives(caps),
        });
        RequirementCheck { missing: missing.collect() }
    }

    /// Returns every feature that an item mentions. Those that the device supports must be enabled.
    pub fn features(&self) -> BTreeSet<&'static str> {
        self.named(|requirement| match requirement {
            DeviceCondition::Feature(name) => Some(*name),
            DeviceCondition::Api(_) | DeviceCondition::Extension(_) | DeviceCondition::Property(..) => None,
        })
    }

    /// Returns every device extension that an item mentions.
    pub fn extensions(&self) -> BTreeSet<&'static str> {
        self.named(|requirement| match requirement {
            DeviceCondition::Extension(name) => Some(*name),
            DeviceCondition::Api(_) | DeviceCondition::Feature(_) | DeviceCondition::Property(..) => None,
        })
    }

    fn named(&self, name: impl Fn(&DeviceCondition) -> Option<&'static str>) -> BTreeSet<&'static str> {
        let mut names = BTreeSet::new();
        for item in &self.items {
            item.expression.visit(&mut |requirement| names.extend(name(requirement)));
        }
        names
    }
}

impl Condition {
    /// Returns true if the expression holds on a device.
    pub fn holds(&self, caps: &DeviceCaps) -> bool {
        match self {
            Condition::Atom(requirement) => requirement.holds(caps),
            Condition::All(parts) => parts.iter().all(|part| part.holds(caps)),
            Condition::Any(parts) => parts.iter().any(|part| part.holds(caps)),
            Condition::Unsatisfiable(_) => false,
        }
    }

    /// Returns true if `wider` is a disjunction that contains this expression.
    fn mends(&self, wider: &Condition) -> bool {
        match wider {
            Condition::Any(ways) => ways.len() > 1 && ways.contains(self),
            Condition::Atom(_) | Condition::All(_) | Condition::Unsatisfiable(_) => false,
        }
    }

    /// Returns the conditions that would make the expression hold, one text for each alternative.
    /// Conditions that hold already are omitted.
    fn alternatives(&self, caps: &DeviceCaps) -> Vec<String> {
        match self {
            Condition::Atom(requirement) => vec![requirement.lacking(caps)],
            Condition::All(parts) => {
                let lacking =
                    parts.iter().filter(|part| !part.holds(caps)).map(|part| part.alternatives(caps).join(" or "));
                vec![lacking.collect::<Vec<_>>().join(" and ")]
            }
            Condition::Any(parts) => parts.iter().flat_map(|part| part.alternatives(caps)).collect(),
            Condition::Unsatisfiable(why) => vec![why.clone()],
        }
    }

    fn visit(&self, visit: &mut impl FnMut(&DeviceCondition)) {
        match self {
            Condition::Atom(requirement) => visit(requirement),
            Condition::All(parts) | Condition::Any(parts) => parts.iter().for_each(|part| part.visit(visit)),
            Condition::Unsatisfiable(_) => {}
        }
    }
}

impl DeviceCondition {
    /// Returns true if a device satisfies the condition. A property that was not queried does not.
    pub fn holds(&self, caps: &DeviceCaps) -> bool {
        match self {
            DeviceCondition::Api(version) => caps.api_version >= *version,
            DeviceCondition::Feature(name) => caps.features.contains(*name),
            DeviceCondition::Extension(name) => caps.extensions.contains(*name),
            DeviceCondition::Property(name, test) => caps.properties.get(*name).is_some_and(|value| match test {
                PropertyCondition::True => *value != 0,
                PropertyCondition::Bits(bits, _) => value & bits == *bits,
                PropertyCondition::AtLeast(least) => value >= least,
                PropertyCondition::AtMost(most) => value <= most,
                PropertyCondition::OneOf(values) => values.contains(value),
            }),
        }
    }

    fn lacking(&self, caps: &DeviceCaps) -> String {
        match self {
            DeviceCondition::Property(_, PropertyCondition::True) => self.to_string(),
            DeviceCondition::Property(name, _) => match caps.properties.get(*name) {
                Some(value) => format!("{self} (the device has {value})"),
                None => self.to_string(),
            },
            DeviceCondition::Api(_) => format!("{self} (the device has {})", caps.api_version),
            DeviceCondition::Feature(_) | DeviceCondition::Extension(_) => self.to_string(),
        }
    }
}

impl fmt::Display for DeviceCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceCondition::Api(version) => write!(f, "Vulkan {version}"),
            DeviceCondition::Feature(name) => write!(f, "feature {name}"),
            DeviceCondition::Extension(name) => write!(f, "extension {name}"),
            DeviceCondition::Property(name, PropertyCondition::True) => write!(f, "property {name}"),
            DeviceCondition::Property(name, PropertyCondition::Bits(_, bits)) => write!(f, "{bits} in property {name}"),
            DeviceCondition::Property(name, PropertyCondition::AtLeast(least)) => {
                write!(f, "property {name} of at least {least}")
            }
            DeviceCondition::Property(name, PropertyCondition::AtMost(most)) => {
                write!(f, "property {name} of at most {most}")
            }
            DeviceCondition::Property(name, PropertyCondition::OneOf(values)) => {
                let values: Vec<_> = values.iter().map(u64::to_string).collect();
                write!(f, "property {name} of {}", values.join(" or "))
            }
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |f: &mut fmt::Formatter<'_>, parts: &[Condition], word: &str| {
            for (i, part) in parts.iter().enumerate() {
                if i > 0 {
                    write!(f, " {word} ")?;
                }
                match part {
                    Condition::All(inner) | Condition::Any(inner) if inner.len() > 1 => write!(f, "({part})")?,
                    _ => write!(f, "{part}")?,
                }
            }
            Ok(())
        };
        match self {
            Condition::Atom(requirement) => write!(f, "{requirement}"),
            Condition::All(parts) if parts.is_empty() => f.write_str("nothing"),
            Condition::All(parts) => join(f, parts, "and"),
            Condition::Any(parts) => join(f, parts, "or"),
            Condition::Unsatisfiable(why) => f.write_str(why),
        }
    }
}

impl fmt::Display for UnsatisfiedRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} needs {}", self.item.imposed_by, self.alternatives.join(" or "))
    }
}

impl fmt::Display for RequirementCheck {
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
