//! Choice of extensions that can be enabled together, by the registry's dependency expressions.

use std::collections::BTreeSet;

use super::Extension;
use super::feature_tables::EXTENSIONS;
use crate::version::ApiVersion;

/// Returns `chosen` and each extension that `want` accepts, with everything that it depends on. An
/// extension is left out if the device lacks it or its dependencies, or if the core version
/// includes it.
pub(crate) fn choose_extensions(
    version: ApiVersion,
    available: &BTreeSet<String>,
    mut chosen: BTreeSet<String>,
    want: impl Fn(&Extension) -> bool,
) -> BTreeSet<String> {
    for extension in EXTENSIONS.iter().filter(|e| want(e)) {
        if is_core(extension.name, version) {
            continue;
        }
        if let Some(needed) = needs(extension.name, version, available) {
            chosen.extend(needed);
        }
    }
    chosen
}

/// Returns true if `extension` is part of the core of `version`.
pub(crate) fn is_core(extension: &str, version: ApiVersion) -> bool {
    let core = EXTENSIONS.iter().find(|e| e.name == extension).and_then(|e| e.core);
    core.is_some_and(|(major, minor)| version.at_least(major, minor))
}

/// Returns the extension with all its dependencies, or `None` if something is missing.
/// Functionality of the core version needs no extension.
fn needs(name: &str, version: ApiVersion, available: &BTreeSet<String>) -> Option<BTreeSet<String>> {
    if let Some(core) = name.strip_prefix("VK_VERSION_") {
        let (major, minor) = core.split_once('_')?;
        return version.at_least(major.parse().ok()?, minor.parse().ok()?).then(BTreeSet::new);
    }
    if is_core(name, version) {
        return Some(BTreeSet::new());
    }
    let known = EXTENSIONS.iter().find(|e| e.name == name).filter(|_| available.contains(name))?;
    let mut all = expression(&mut known.depends.trim(), version, available)?;
    all.insert(name.to_owned());
    Some(all)
}

/// Evaluates terms separated by `+` (and) or `,` (or) from left to right. The registry never mixes
/// the two without parentheses.
fn expression(text: &mut &str, version: ApiVersion, available: &BTreeSet<String>) -> Option<BTreeSet<String>> {
    if text.is_empty() {
        return Some(BTreeSet::new());
    }
    let mut value = term(text, version, available);
    while let Some(operator @ ('+' | ',')) = text.chars().next() {
        *text = &text[1..];
        let right = term(text, version, available);
        value = match (operator, value, right) {
            ('+', Some(mut a), Some(b)) => {
                a.extend(b);
                Some(a)
            }
            ('+', ..) => None,
            // The alternative that needs fewer extensions.
            (_, Some(a), Some(b)) => Some(if b.len() < a.len() { b } else { a }),
            (_, a, b) => a.or(b),
        };
    }
    value
}

fn term(text: &mut &str, version: ApiVersion, available: &BTreeSet<String>) -> Option<BTreeSet<String>> {
    if let Some(rest) = text.strip_prefix('(') {
        *text = rest;
        let value = expression(text, version, available);
        *text = text.strip_prefix(')').unwrap_or(text);
        return value;
    }
    let end = text.find(['+', ',', '(', ')']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    *text = rest;
    needs(name, version, available)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|n| (*n).to_owned()).collect()
    }

    #[test]
    fn expressions_read_as_the_registry_means_them() {
        let version = ApiVersion { major: 1, minor: 2, patch: 0 };
        let all = set(&["VK_KHR_shader_quad_control", "VK_KHR_shader_maximal_reconvergence"]);
        assert_eq!(needs("VK_KHR_shader_quad_control", version, &all), Some(all.clone()));
        assert_eq!(needs("VK_KHR_shader_quad_control", version, &set(&["VK_KHR_shader_quad_control"])), None);
        let old = ApiVersion { major: 1, minor: 1, patch: 0 };
        assert_eq!(needs("VK_KHR_shader_quad_control", old, &all), None, "no memory model");
        let with =
            set(&["VK_KHR_shader_quad_control", "VK_KHR_shader_maximal_reconvergence", "VK_KHR_vulkan_memory_model"]);
        assert_eq!(needs("VK_KHR_shader_quad_control", old, &with), Some(with));
    }

    #[test]
    fn every_expression_of_the_table_is_read_to_its_end() {
        let all: BTreeSet<String> = EXTENSIONS.iter().map(|e| e.name.to_owned()).collect();
        for minor in [1, 4] {
            let version = ApiVersion { major: 1, minor, patch: 0 };
            for extension in EXTENSIONS {
                let mut text = extension.depends;
                expression(&mut text, version, &all);
                assert_eq!(text, "", "{}", extension.name);
            }
        }
    }

    #[test]
    fn a_device_with_everything_gets_all_but_what_its_core_has() {
        let all: BTreeSet<String> = EXTENSIONS.iter().map(|e| e.name.to_owned()).collect();
        let newest = choose_extensions(ApiVersion::NEWEST, &all, BTreeSet::new(), |_| true);
        for extension in EXTENSIONS {
            assert_eq!(newest.contains(extension.name), extension.core.is_none(), "{}", extension.name);
        }
    }
}
