//! Preparation of another translation of a shader for an equivalence check. The translation may
//! have lost names and unused resources.

use crate::shader_source::is_compute;
use crate::wgsl::overrides;
use crate::{BindingName, Check, CheckError, CompileOptions, Language, Options, ShaderSource};
use assay_files::input;
use assay_spirv::Module;
use assay_spirv::reflect::{EntryPoint, Reflection};
use std::path::Path;

/// Reads another translation of the shader, for the same target environment if it is text.
/// `override`s that both have get the same values.
///
/// # Errors
/// As [`ShaderSource::load`].
pub fn load_translation(path: &Path, this: &Check<'_>, options: &Options) -> Result<ShaderSource, CheckError> {
    let bytes = input::read(path, input::MAX_SHADER_BYTES).unwrap_or_default();
    let mut compile = CompileOptions::default();
    match Language::detect(&path.display().to_string(), &bytes) {
        Language::Wgsl => {
            let overrides = std::str::from_utf8(&bytes).map(overrides).unwrap_or_default();
            compile.specs = common(&given(this, options), &overrides);
        }
        Language::SpirvWords => {}
        Language::SpirvText | Language::Glsl | Language::Hlsl | Language::Slang => {
            compile.target_env = this.shader.target_env;
        }
    }
    ShaderSource::load(path, &compile)
}

/// Returns options for another translation of the shader that give it the same inputs. Constants,
/// images and the entry point go by the translation's own names. Options for resources that it
/// lacks are left out.
pub fn translation_options(this: &Check<'_>, other: &ShaderSource, options: &Options) -> Options {
    let module = &other.source.module;
    let reflection = Reflection::new(module);
    let compute: Vec<&EntryPoint> = reflection.entry_points.iter().filter(|entry| is_compute(entry)).collect();
    let entry = match compute[..] {
        [only] => only.name.clone(),
        _ => this.setup.entry.clone(),
    };
    let bindings = || compute.iter().filter(|e| e.name == entry).flat_map(|e| &e.bindings);
    let images = options.images.iter().flat_map(|(to, form)| {
        let meant = this.setup.descriptors.iter().filter(|d| to.names(d.slot, d.name.as_deref())).map(|d| d.slot);
        let there = meant
            .filter(|slot| bindings().any(|b| b.image.is_some() && (b.set, b.binding) == (slot.set, slot.binding)));
        there.map(move |slot| (BindingName::from(slot), form.clone()))
    });
    Options {
        rules: options.rules,
        groups: Some(this.setup.groups),
        specs: common(&given(this, options), &constants(module)),
        images: images.collect(),
        buffers: options.buffers.clone(),
        rounds: options.rounds,
        checked_invocations: options.checked_invocations,
        robustness: options.robustness,
        limits: options.limits,
        entry: Some(entry),
        ..Options::default()
    }
}

/// Returns the values given to the shader's constants, each with all names of its constant.
fn given(this: &Check<'_>, options: &Options) -> Vec<(Vec<String>, String)> {
    let known = match this.shader.wgsl() {
        Some(wgsl) => overrides(wgsl.text),
        None => constants(&this.shader.source.module),
    };
    let of_wgsl = this.shader.overrides.iter().map(|(key, value)| (key.clone(), value.to_string()));
    let all = of_wgsl.chain(options.specs.iter().cloned());
    let named = |(key, value)| (known.iter().find(|names| names.contains(&key)).cloned().unwrap_or(vec![key]), value);
    all.map(named).collect()
}

/// Returns the values whose constant is among `there`, each with the first of its names.
fn common(given: &[(Vec<String>, String)], there: &[Vec<String>]) -> Vec<(String, String)> {
    let named = |names: &[String]| names.iter().find_map(|name| there.iter().find(|there| there.contains(name)));
    given.iter().filter_map(|(names, value)| Some((named(names)?.first()?.clone(), value.clone()))).collect()
}

/// Returns the specialisation constants of a module: for each, its `SpecId` and its name.
fn constants(module: &Module) -> Vec<Vec<String>> {
    let constants = Reflection::new(module).spec_constants;
    constants.into_iter().map(|c| [Some(c.spec_id.to_string()), c.name].into_iter().flatten().collect()).collect()
}
