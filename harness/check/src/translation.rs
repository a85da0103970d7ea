//! Another translation of a shader, made ready to be held against it: of names and of what it does not use nothing need have survived.

use crate::setup::is_compute;
use crate::subject::{WGSL, overrides};
use crate::{BindingName, Check, CheckError, Options, Subject};
use assay_files::input;
use assay_spirv::Module;
use assay_spirv::reflect::{EntryPoint, Reflection};
use std::path::Path;

/// Reads another translation of what is checked; the `override`s that it has in common with that have the same values.
///
/// # Errors
/// As [`Subject::load_with`].
pub fn load_translation(path: &Path, this: &Check<'_>, options: &Options) -> Result<Subject, CheckError> {
    let name = path.display().to_string();
    let text = input::read_text(path, input::SHADER).ok();
    if !name.ends_with(WGSL) {
        // SPIR-V text is assembled for the environment that the shader is assembled for; words contain NULs, text does not.
        let is_text = text.is_some_and(|text| !text.contains('\0'));
        let target_env = this.subject.target_env.filter(|_| is_text);
        return Subject::load_for(path, &mut Vec::new(), target_env);
    }
    let mut specs = text.map_or_else(Vec::new, |text| common(&given(this, options), &overrides(&text)));
    Subject::load_with(path, &mut specs)
}

/// What is asked of another translation of what is checked, which is given the same. Constants, images and the entry point are named as it
/// names them; what it lacks is left out, as is what dispatches have already.
pub fn options_of_translation(this: &Check<'_>, other: &Subject, options: &Options) -> Options {
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
        sample: options.sample,
        robustness: options.robustness,
        limits: options.limits,
        entry: Some(entry),
        ..Options::default()
    }
}

/// The values that constants of what is checked were given, with the names that these go by.
fn given(this: &Check<'_>, options: &Options) -> Vec<(Vec<String>, String)> {
    let known = match this.subject.wgsl() {
        Some(wgsl) => overrides(wgsl.text),
        None => constants(&this.subject.source.module),
    };
    let of_wgsl = this.subject.overrides.iter().map(|(key, value)| (key.clone(), value.to_string()));
    let all = of_wgsl.chain(options.specs.iter().cloned());
    let named = |(key, value)| (known.iter().find(|names| names.contains(&key)).cloned().unwrap_or(vec![key]), value);
    all.map(named).collect()
}

/// Those of the values that are of a constant among `there`, under the first of its names.
fn common(given: &[(Vec<String>, String)], there: &[Vec<String>]) -> Vec<(String, String)> {
    let named = |names: &[String]| names.iter().find_map(|name| there.iter().find(|there| there.contains(name)));
    given.iter().filter_map(|(names, value)| Some((named(names)?.first()?.clone(), value.clone()))).collect()
}

/// What the specialisation constants of a module go by: their `SpecId`s, and their names.
fn constants(module: &Module) -> Vec<Vec<String>> {
    let constants = Reflection::new(module).spec_constants;
    constants.into_iter().map(|c| [Some(c.spec_id.to_string()), c.name].into_iter().flatten().collect()).collect()
}
