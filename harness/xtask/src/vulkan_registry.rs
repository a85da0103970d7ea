//! The part of the Vulkan registry (`vk.xml`) that the tables of `harness/vulkan` need.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use roxmltree::{Document, Node};

/// Origin of a structure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Provider {
    Core(Version),
    Extension(String),
}

/// Major and minor number.
pub(crate) type Version = (u32, u32);

/// A member of a structure.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) ty: String,
    /// The structure that contained the member earlier, if the registry states it:
    /// `VkPhysicalDevice8BitStorageFeatures`.
    pub(crate) was_in: Option<String>,
    /// The only permitted value, that of the `sType`.
    pub(crate) value: Option<String>,
    /// Set unless the member is an array, a pointer or a bit field.
    pub(crate) is_plain: bool,
}

#[derive(Debug)]
pub(crate) struct Structure {
    pub(crate) alias: Option<String>,
    pub(crate) members: Vec<Member>,
}

#[derive(Debug)]
pub(crate) struct Extension {
    pub(crate) depends: String,
    pub(crate) promoted_to: Option<String>,
    pub(crate) is_device: bool,
}

pub(crate) struct Registry {
    pub(crate) structures: BTreeMap<String, Structure>,
    pub(crate) extensions: BTreeMap<String, Extension>,
    /// Origins of each type.
    pub(crate) providers: BTreeMap<String, Vec<Provider>>,
    /// `VkStructureType`.
    pub(crate) structure_types: BTreeMap<String, i64>,
}

fn children<'a, 'i>(node: Node<'a, 'i>, tag: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| child.has_tag_name(tag))
}

fn is_vulkan(list: Option<&str>) -> bool {
    list.unwrap_or_default().split(',').any(|api| api == "vulkan")
}

fn attribute(node: Node, name: &str) -> Option<String> {
    node.attribute(name).map(str::to_owned)
}

fn required(node: Node, name: &str) -> Result<String> {
    attribute(node, name).with_context(|| format!("a <{}> of the registry has no {name}", node.tag_name().name()))
}

impl Registry {
    /// Parses the text of `vk.xml`.
    pub(crate) fn parse(text: &str) -> Result<Registry> {
        let document = Document::parse(text).context("parsing vk.xml")?;
        let root = document.root_element();
        let mut registry = Registry {
            structures: BTreeMap::new(),
            extensions: BTreeMap::new(),
            providers: BTreeMap::new(),
            structure_types: structure_types(root)?,
        };
        let types = children(root, "types").flat_map(|types| children(types, "type"));
        for node in types.filter(|node| node.attribute("category") == Some("struct")) {
            let members = children(node, "member").map(member).collect::<Result<_>>()?;
            registry.structures.insert(required(node, "name")?, Structure { alias: attribute(node, "alias"), members });
        }
        for feature in children(root, "feature").filter(|node| is_vulkan(node.attribute("api"))) {
            // The registry splits each version into parts (VK_BASE_VERSION_1_1 and others); the
            // number identifies the version.
            let version = version(&required(feature, "number")?)?;
            registry.provides(feature, &Provider::Core(version))?;
        }
        let extensions = children(root, "extensions").flat_map(|list| children(list, "extension"));
        for node in extensions.filter(|node| is_vulkan(node.attribute("supported"))) {
            let name = required(node, "name")?;
            registry.provides(node, &Provider::Extension(name.clone()))?;
            let extension = Extension {
                depends: attribute(node, "depends").unwrap_or_default(),
                promoted_to: attribute(node, "promotedto"),
                is_device: node.attribute("type") == Some("device"),
            };
            registry.extensions.insert(name, extension);
        }
        Ok(registry)
    }

    fn provides(&mut self, node: Node, provider: &Provider) -> Result<()> {
        for ty in children(node, "require").flat_map(|require| children(require, "type")) {
            self.providers.entry(required(ty, "name")?).or_default().push(provider.clone());
        }
        Ok(())
    }

    /// Returns the structure of that name.
    pub(crate) fn structure(&self, name: &str) -> Result<&Structure> {
        self.structures.get(name).with_context(|| format!("the registry has no structure {name}"))
    }

    /// Returns the number of the `sType` of a structure that has one.
    pub(crate) fn s_type(&self, name: &str) -> Result<i64> {
        let value = self.structure(name)?.members.first().and_then(|member| member.value.as_ref());
        let value = value.with_context(|| format!("{name} has no sType"))?;
        self.structure_types.get(value).copied().with_context(|| format!("the registry has no {value}"))
    }

    /// Returns the core versions and extensions that provide a structure under any of its names,
    /// each sorted.
    pub(crate) fn provided_by(&self, name: &str) -> (Vec<Version>, Vec<String>) {
        let aliases = self.structures.iter().filter(|(_, s)| s.alias.as_deref() == Some(name)).map(|(alias, _)| alias);
        let names = std::iter::once(name).chain(aliases.map(String::as_str));
        let (mut core, mut extensions) = (Vec::new(), Vec::new());
        for provider in names.filter_map(|name| self.providers.get(name)).flatten() {
            match provider {
                Provider::Core(version) => core.push(*version),
                Provider::Extension(name) => extensions.push(name.clone()),
            }
        }
        core.sort_unstable();
        extensions.sort_unstable();
        extensions.dedup();
        (core, extensions)
    }
}

/// Reads a member of a structure. `was_in` comes from an `alias` of the form `Structure::member`;
/// `is_plain` means neither a pointer nor an array nor a bit field.
fn member(node: Node) -> Result<Member> {
    let text = |tag| children(node, tag).next().and_then(|child| child.text()).map(str::to_owned);
    let alias = children(node, "name").next().and_then(|name| attribute(name, "alias"));
    let around: String = node.children().filter(Node::is_text).filter_map(|part| part.text()).collect();
    Ok(Member {
        name: text("name").context("a member of the registry has no name")?,
        ty: text("type").context("a member of the registry has no type")?,
        was_in: alias.and_then(|alias| Some(alias.split_once("::")?.0.to_owned())),
        value: attribute(node, "values"),
        is_plain: !around.contains(['*', '[', ':']),
    })
}

fn version(text: &str) -> Result<Version> {
    let (major, minor) = text.split_once('.').with_context(|| format!("version {text:?}"))?;
    Ok((major.parse()?, minor.parse()?))
}

/// Returns `VkStructureType`: the number of each enumerant.
fn structure_types(root: Node) -> Result<BTreeMap<String, i64>> {
    let (mut values, mut aliases) = (BTreeMap::new(), BTreeMap::new());
    let mut take = |node: Node, number: Option<&str>| -> Result<()> {
        let name = required(node, "name")?;
        if let Some(alias) = attribute(node, "alias") {
            aliases.insert(name, alias);
        } else if let Some(value) = node.attribute("value") {
            values.insert(name, value.parse()?);
        } else {
            let number = node.attribute("extnumber").or(number).context("an enumerant without extension number")?;
            let offset: i64 = required(node, "offset")?.parse()?;
            let value = 1_000_000_000 + (number.parse::<i64>()? - 1) * 1000 + offset;
            values.insert(name, if node.attribute("dir") == Some("-") { -value } else { value });
        }
        Ok(())
    };
    for enums in children(root, "enums").filter(|node| node.attribute("name") == Some("VkStructureType")) {
        children(enums, "enum").try_for_each(|node| take(node, None))?;
    }
    let extensions = children(root, "extensions").flat_map(|list| children(list, "extension"));
    for provider in children(root, "feature").chain(extensions) {
        let number = if provider.has_tag_name("extension") { provider.attribute("number") } else { None };
        let enums = children(provider, "require").flat_map(|require| children(require, "enum"));
        for node in enums.filter(|node| node.attribute("extends") == Some("VkStructureType")) {
            take(node, number)?;
        }
    }
    for (name, mut target) in aliases.clone() {
        // Chains of aliases in the registry end.
        for _ in 0..aliases.len() {
            match aliases.get(&target) {
                Some(next) => target = next.clone(),
                None => break,
            }
        }
        match values.get(&target) {
            Some(value) => drop(values.insert(name, *value)),
            None => bail!("{name} is an alias of unknown {target}"),
        }
    }
    Ok(values)
}
