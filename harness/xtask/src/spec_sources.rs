//! The specification sources on disk.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::vulkan_registry::Registry;

/// All inputs of the tables.
pub(crate) struct SpecSources {
    pub(crate) core: CoreGrammar,
    pub(crate) glsl: ExtendedGrammar,
    pub(crate) opencl: ExtendedGrammar,
    pub(crate) enabling: EnablingTable,
    /// `VK_SUBGROUP_FEATURE_*` names with their bits.
    pub(crate) subgroup_bits: BTreeMap<String, u64>,
    pub(crate) registry: Registry,
}

#[derive(Deserialize)]
pub(crate) struct CoreGrammar {
    pub(crate) revision: u32,
    pub(crate) major_version: u8,
    pub(crate) minor_version: u8,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) operand_kinds: Vec<OperandKind>,
}

#[derive(Deserialize)]
pub(crate) struct ExtendedGrammar {
    pub(crate) revision: u32,
    pub(crate) instructions: Vec<Instruction>,
}

#[derive(Deserialize)]
pub(crate) struct Instruction {
    pub(crate) opname: String,
    pub(crate) opcode: u16,
    #[serde(default)]
    pub(crate) class: String,
    #[serde(default)]
    pub(crate) operands: Vec<Operand>,
    #[serde(default)]
    pub(crate) aliases: Vec<String>,
    #[serde(default)]
    pub(crate) capabilities: Vec<String>,
    #[serde(default)]
    pub(crate) extensions: Vec<String>,
    pub(crate) version: Option<String>,
    #[serde(rename = "lastVersion")]
    pub(crate) last_version: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Operand {
    pub(crate) kind: String,
    pub(crate) quantifier: Option<String>,
    #[serde(default)]
    pub(crate) name: String,
}

#[derive(Deserialize)]
pub(crate) struct OperandKind {
    pub(crate) category: String,
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) bases: Vec<String>,
    #[serde(default)]
    pub(crate) enumerants: Vec<Enumerant>,
}

#[derive(Deserialize)]
pub(crate) struct Enumerant {
    pub(crate) enumerant: String,
    pub(crate) value: Value,
    #[serde(default)]
    pub(crate) aliases: Vec<String>,
    #[serde(default)]
    pub(crate) capabilities: Vec<String>,
    #[serde(default)]
    pub(crate) extensions: Vec<String>,
    #[serde(default)]
    pub(crate) parameters: Vec<Operand>,
    pub(crate) version: Option<String>,
    #[serde(rename = "lastVersion")]
    pub(crate) last_version: Option<String>,
}

/// Value of an enumerant: a number in value enumerations, a hexadecimal string in masks.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Number(u32),
    Hexadecimal(String),
}

impl Value {
    pub(crate) fn get(&self) -> Result<u32> {
        match self {
            Value::Number(n) => Ok(*n),
            Value::Hexadecimal(text) => {
                let Some(digits) = text.strip_prefix("0x") else { bail!("enumerant value {text:?} is not 0x..") };
                u32::from_str_radix(digits, 16).with_context(|| format!("enumerant value {text:?}"))
            }
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct EnablingTable {
    pub(crate) source: String,
    pub(crate) capabilities: BTreeMap<String, Vec<EnablingRow>>,
    pub(crate) extensions: BTreeMap<String, Vec<EnablingRow>>,
}

/// One way to enable a capability or extension; exactly one of `version`, `extension`, `feature`,
/// `property` is set.
#[derive(Deserialize)]
pub(crate) struct EnablingRow {
    pub(crate) version: Option<String>,
    pub(crate) extension: Option<String>,
    pub(crate) feature: Option<String>,
    #[serde(rename = "struct")]
    pub(crate) structure: Option<String>,
    pub(crate) alias: Option<String>,
    pub(crate) property: Option<String>,
    pub(crate) member: Option<String>,
    pub(crate) value: Option<String>,
    pub(crate) requires: Option<String>,
}

/// Reads every file that the tables need from `folder`.
pub(crate) fn load(folder: &Path) -> Result<SpecSources> {
    let registry = text(folder, "vk.xml")?;
    Ok(SpecSources {
        core: json(folder, "spirv.core.grammar.json")?,
        glsl: json(folder, "extinst.glsl.std.450.grammar.json")?,
        opencl: json(folder, "extinst.opencl.std.100.grammar.json")?,
        enabling: json(folder, "spirv-enabling.json")?,
        subgroup_bits: subgroup_bits(&registry)?,
        registry: Registry::parse(&registry)?,
    })
}

fn text(folder: &Path, name: &str) -> Result<String> {
    let path = folder.join(name);
    std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
}

fn json<T: for<'de> Deserialize<'de>>(folder: &Path, name: &str) -> Result<T> {
    serde_json::from_str(&text(folder, name)?).with_context(|| format!("parsing {name}"))
}

/// Returns the bits of `VkSubgroupFeatureFlagBits`. An alias names its target, which can precede or
/// follow it.
fn subgroup_bits(registry: &str) -> Result<BTreeMap<String, u64>> {
    let mut bits = BTreeMap::new();
    let mut aliases = Vec::new();
    for tag in registry.split("<enum ").skip(1).filter_map(|rest| rest.split('>').next()) {
        let Some(name) = attribute(tag, "name").filter(|n| n.starts_with("VK_SUBGROUP_FEATURE_")) else { continue };
        if let Some(position) = attribute(tag, "bitpos") {
            bits.insert(name.to_owned(), 1u64 << position.parse::<u32>().context("bitpos of a subgroup feature")?);
        } else if let Some(target) = attribute(tag, "alias") {
            aliases.push((name, target));
        }
    }
    for (name, target) in aliases {
        let Some(&bit) = bits.get(target) else { bail!("{name} is an alias of unknown {target}") };
        bits.insert(name.to_owned(), bit);
    }
    Ok(bits)
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let start = tag.find(&format!("{name}=\""))? + name.len() + 2;
    tag[start..].split('"').next()
}
