//! Compilation of WGSL by naga.

use crate::CheckError;
use crate::caught_panic::caught;
use crate::nesting::{too_deep, with_deep_stack};
use crate::wgsl_declarations::undeclared_name;
use crate::wgsl_directives::without_enable_subgroups;
use crate::wgsl_spans::correct_places;
use assay_exec::Wgsl;
use assay_spirv::Module;
use assay_spirv_lower::without_forbidden_layout;
use naga::back::pipeline_constants::process_overrides;
use naga::back::{PipelineConstants, spv};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use std::borrow::Cow;
use std::error::Error as _;
use std::iter;

/// Compiles WGSL by naga to SPIR-V with line information. Layouts that naga adds to workgroup
/// memory are removed ([`without_forbidden_layout`]). `name` is the name in messages.
///
/// # Errors
/// naga's message, which shows the place.
pub fn compile_wgsl(text: &str, name: &str) -> Result<Vec<u32>, CheckError> {
    compile(Wgsl { text, overrides: &[] }, name)
}

pub(crate) fn compile(wgsl: Wgsl<'_>, name: &str) -> Result<Vec<u32>, CheckError> {
    if let Some(what) = too_deep(wgsl.text) {
        return Err(CheckError::Shader { name: name.to_owned(), what });
    }
    with_deep_stack(|| compile_here(wgsl, name))
}

/// Compiles on the current thread.
fn compile_here(wgsl: Wgsl<'_>, name: &str) -> Result<Vec<u32>, CheckError> {
    let text = wgsl.text;
    let refused = |what: String| CheckError::Shader { name: name.to_owned(), what };
    // naga's message without its heading, as ours has one. naga does not support all of WGSL.
    let by_naga =
        |message: String| refused(format!("naga rejects it: {}", message.trim().trim_start_matches("error: ")));
    let parsed = naga::front::wgsl::parse_str(&without_enable_subgroups(text));
    let mut module = parsed.map_err(|error| {
        let message = error.emit_to_string_with_path(text, name);
        let advice = match (placeholder(text), undeclared_name(error.message())) {
            (Some(found), _) => {
                format!("\n`{found}` is a placeholder that an application replaces: write its value in the text")
            }
            (None, Some(found)) => {
                format!("\nif an application adds the declaration of `{found}`, check the text that it compiles")
            }
            (None, None) => String::new(),
        };
        by_naga(message.trim_end().to_owned() + &advice)
    })?;
    correct_places(&mut module);
    let validated = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
    let info = validated.map_err(|error| by_naga(error.emit_to_string_with_path(text, name)))?;
    if module.entry_points.is_empty() {
        return Err(refused("it has no entry point; expected a function with @compute and @workgroup_size".to_owned()));
    }
    let (module, info) = with_overrides(&module, &info, wgsl.overrides).map_err(refused)?;
    let mut options = spv::Options {
        lang_version: (1, 3),
        debug_info: Some(spv::DebugInfo { source_code: text, file_name: name, language: spv::SourceLanguage::WGSL }),
        // The oracle interprets the shader as it is written, except that indices of arrays outside of
        // buffers are clamped: WGSL gives an element for each, and shaders rely on it. wgpu has naga
        // do the same.
        bounds_check_policies: BoundsCheckPolicies { index: BoundsCheckPolicy::Restrict, ..Default::default() },
        force_loop_bounding: false,
        // Only relevant for interfaces between stages, but it would declare the capability.
        use_storage_input_output_16: false,
        // The module must also run on devices without 8-bit arithmetic.
        capabilities: Some(capabilities_except(&[spv::Capability::Int8])),
        ..spv::Options::default()
    };
    options.flags |= spv::WriterFlags::DEBUG;
    // naga's writer panics on some legal shaders, such as one that passes a pointer to an element
    // of an array.
    let written = caught(|| spv::write_vec(&module, &info, &options, None));
    let written = written.map_err(|what| refused(format!("naga panicked while translating it to SPIR-V: {what}")))?;
    let words = written.map_err(|error| refused(error.to_string()))?;
    // naga decorates every array with its stride, which is not allowed in workgroup memory. Invalid
    // words are reported where they are read.
    let legal = Module::parse(words.clone()).ok().and_then(|module| without_forbidden_layout(&module));
    Ok(legal.unwrap_or(words))
}

/// Returns the first placeholder of a template string: `${size}`.
fn placeholder(text: &str) -> Option<&str> {
    let start = text.find("${")?;
    let rest = &text[start..];
    rest.lines().next().and_then(|line| line.find('}')).map(|end| &rest[..=end])
}

/// Returns naga's message about a text that it does not parse, without the place.
pub(crate) fn rejection(text: &str) -> Option<String> {
    if too_deep(text).is_some() {
        return None;
    }
    let parse = || naga::front::wgsl::parse_str(&without_enable_subgroups(text)).err();
    with_deep_stack(parse).map(|error| error.message().to_owned())
}

/// Returns the capabilities that naga may use: all but those in `without`.
pub fn capabilities_except(without: &[spv::Capability]) -> naga::FastHashSet<spv::Capability> {
    let all = (0..CAPABILITIES).filter_map(spv::Capability::from_u32);
    all.filter(|capability| !without.contains(capability)).collect()
}

/// Upper bound on the numbers of capabilities.
const CAPABILITIES: u32 = 1 << 14;

/// Parses a value for an `override`. naga checks that it fits the type.
pub(crate) fn override_value(text: &str) -> Option<f64> {
    let text = text.trim();
    let (digits, sign) = text.strip_prefix('-').map_or((text, 1.0), |rest| (rest, -1.0));
    match text {
        "true" => Some(1.0),
        "false" => Some(0.0),
        _ => match digits.strip_prefix("0x").map(|hex| u32::from_str_radix(hex, 16)) {
            Some(value) => value.ok().map(|value| sign * f64::from(value)),
            None => digits.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| sign * value),
        },
    }
}

/// Returns the names of each `override` of a WGSL text; empty if the text is not WGSL.
pub(crate) fn overrides(text: &str) -> Vec<Vec<String>> {
    if too_deep(text).is_some() {
        return Vec::new();
    }
    let parse = || {
        naga::front::wgsl::parse_str(&without_enable_subgroups(text))
            .map(|module| names_of_overrides(&module).collect())
    };
    with_deep_stack(parse).unwrap_or_default()
}

/// Returns the names of each `override`: the number of its `@id` if it has one, and its identifier.
/// Values are given under the first of them.
fn names_of_overrides(module: &naga::Module) -> impl Iterator<Item = Vec<String>> {
    module.overrides.iter().map(|(_, known)| names_of_override(known).collect())
}

fn names_of_override(known: &naga::Override) -> impl Iterator<Item = String> + use<> {
    [known.id.map(|id| id.to_string()), known.name.clone()].into_iter().flatten()
}

/// Returns values for the `override`s that have neither a default nor a given value, under their
/// first names: true, 4 or 1.5, which suit most sizes, counts and factors. Empty if the text is not
/// WGSL.
pub(crate) fn chosen_overrides(text: &str, given: &[(String, f64)]) -> Vec<(String, f64)> {
    if !text.contains("override") || too_deep(text).is_some() {
        return Vec::new();
    }
    let choose = || {
        let module = naga::front::wgsl::parse_str(&without_enable_subgroups(text)).ok()?;
        let open = module.overrides.iter().map(|(_, known)| known).filter(|known| known.init.is_none());
        let chosen = open.filter_map(|known| {
            let value = match module.types[known.ty].inner.scalar_kind()? {
                naga::ScalarKind::Bool => 1.0,
                naga::ScalarKind::Sint | naga::ScalarKind::Uint => 4.0,
                naga::ScalarKind::Float => 1.5,
                naga::ScalarKind::AbstractInt | naga::ScalarKind::AbstractFloat => return None,
            };
            Some((names_of_override(known).next()?, value))
        });
        Some(chosen.filter(|(name, _)| !given.iter().any(|(key, _)| key == name)).collect())
    };
    with_deep_stack(choose).unwrap_or_default()
}

/// Replaces `override`s by constants, because naga cannot write them as SPIR-V.
///
/// # Errors
/// An `override` has no value or does not exist, or its type does not have the value.
pub fn with_overrides<'a>(
    module: &'a naga::Module,
    info: &'a ModuleInfo,
    overrides: &[(String, f64)],
) -> Result<(Cow<'a, naga::Module>, Cow<'a, ModuleInfo>), String> {
    let known: Vec<String> = names_of_overrides(module).filter_map(|names| names.into_iter().next()).collect();
    if let Some((key, _)) = overrides.iter().find(|(key, _)| !known.contains(key)) {
        let there = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(format!("no override `{key}`; the shader has {there}"));
    }
    let values: PipelineConstants = overrides.iter().cloned().collect();
    process_overrides(module, info, None, &values).map_err(|error| {
        // The innermost cause has the details.
        let causes = iter::successors(error.source(), |&cause| cause.source()).map(ToString::to_string);
        iter::once(format!("overrides: {error}")).chain(causes).collect::<Vec<_>>().join(": ")
    })
}
