//! Integers and floats of push constants and buffers that the options of a check leave open.
//!
//! A large buffer holds data, and so does one that the shader writes, or that has a run-time array. Its
//! integers outside of arrays are parameters if a branch depends on them: the count of the elements of a
//! list, for example.

use crate::check::Check;
use crate::chosen_parameters::ChosenParameters;
use crate::dispatch_setup::DispatchSetup;
use crate::memory_layout::{Element, PathStep, path_text, runtime_stride, size_with_elements, walk_scalars};
use crate::missing_macros::is_name;
use crate::parameter::width_permits;
use crate::provenance::{DataFlow, FaultSources, Provenance};
use assay_exec::Descriptor;
use assay_oracle::Slot;
use assay_precision::Scalar;
use assay_spirv::reflect::DescriptorKind;
use std::collections::BTreeSet;

/// Largest number of integers, and of floats outside of matrices, in one buffer. Arrays in a larger one hold
/// data.
const PARAMETERS: usize = 128;

/// Largest number of components of a vector.
const COMPONENTS: u64 = 4;

/// Largest number of elements of matrices in one buffer.
const MATRIX_ELEMENTS: usize = 1024;

/// Parts of the names of reciprocals of sizes.
const RECIPROCALS: [&str; 6] = ["inv", "rcp", "texelsize", "texel_size", "pixelsize", "pixel_size"];

/// Value of a reciprocal: an image has 64 texels along an axis.
const RECIPROCAL: f64 = 1.0 / 64.0;

/// An integer or float that the options leave open.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    /// Buffer; `None` for the push constants.
    pub(super) slot: Option<Slot>,
    /// Its name in the notation of the command line.
    pub(super) name: String,
    /// Its name with that of the variable, if only one binding has it: `params.size`, `count`.
    pub(super) shown: String,
    pub(super) element: Element,
    /// Set if it is an element of a matrix.
    pub(super) in_matrix: bool,
    /// Set if it is an integer whose bits the shader takes for a float.
    has_float_bits: bool,
    /// Its value where the floats are small and simple: that of an identity matrix, 0 for the lower
    /// end of an interval, the reciprocal of a usual side of an image for a reciprocal, or else 1.
    pub(super) simple: f64,
}

impl Parameter {
    /// Returns its name in a message.
    pub(super) fn named(&self) -> String {
        match self.slot {
            None => format!("push constant `{}`", self.shown),
            Some(_) => format!("`{}`", self.shown),
        }
    }

    /// Returns an option of the command line that gives it a value.
    pub(super) fn option(&self, value: u32) -> String {
        let option = if self.slot.is_none() { "--push" } else { "--input" };
        format!("{option} {}={}", self.shown, self.scalar_text(value.to_string()))
    }

    /// Returns whether it stands for an integer.
    pub(super) fn is_integer(&self) -> bool {
        matches!(self.element.scalar, Scalar::Int { .. }) && !self.has_float_bits
    }

    /// Returns the text of the scalar that stands for a number.
    fn scalar_text(&self, number: String) -> String {
        match number.parse::<f32>() {
            Ok(float) if self.has_float_bits => float.to_bits().to_string(),
            _ => number,
        }
    }

    /// Gives the parameter a number in place of the one that it has.
    pub(super) fn set(&self, chosen: &mut ChosenParameters, number: String) {
        self.set_text(chosen, self.scalar_text(number));
    }

    /// Gives the parameter a value as a text, in place of the one that it has.
    pub(super) fn set_text(&self, chosen: &mut ChosenParameters, text: String) {
        self.unset(chosen);
        let list = if self.slot.is_some() { &mut chosen.inputs } else { &mut chosen.push };
        list.push((self.name.clone(), text));
    }

    /// Leaves the parameter without a value.
    pub(super) fn unset(&self, chosen: &mut ChosenParameters) {
        let list = if self.slot.is_some() { &mut chosen.inputs } else { &mut chosen.push };
        list.retain(|(name, _)| *name != self.name);
    }

    /// Returns the text of its value, if it has one.
    pub(super) fn text<'c>(&self, chosen: &'c ChosenParameters) -> Option<&'c str> {
        let list = if self.slot.is_some() { &chosen.inputs } else { &chosen.push };
        list.iter().find(|(name, _)| *name == self.name).map(|(_, text)| text.as_str())
    }
}

/// Returns how a fault depends on a parameter.
pub(super) fn provenance(
    check: &Check<'_>,
    sources: &FaultSources,
    Parameter { slot, element, .. }: &Parameter,
) -> Provenance {
    let setup = &check.setup;
    let block = match slot {
        None => setup.push.as_deref(),
        Some(slot) => setup.descriptors.iter().find(|d| d.slot == *slot).and_then(|d| d.block.as_deref()),
    };
    let module = &check.shader.source.module;
    let memory = (*slot, &*slot.map_or_else(Vec::new, |slot| setup.pointees_of(slot)));
    block.map_or(Provenance::Unknown, |block| sources.of(module, memory, block, element.offset))
}

/// Returns the integers and floats that the options leave open.
pub(super) fn open_parameters(check: &Check<'_>) -> Vec<Parameter> {
    let setup = &check.setup;
    let is_open = |slot: Option<Slot>, offset| match slot {
        None => check.push_is_open && !setup.is_set(slot, offset),
        Some(given) => !setup.is_given(given) && !setup.is_set(slot, offset),
    };
    parameters(check, &is_open)
}

/// Returns all integers and floats that are parameters, given or open.
pub(super) fn all_parameters(check: &Check<'_>) -> Vec<Parameter> {
    parameters(check, &|_, _| true)
}

/// Returns the parameters for which `is_listed` returns true, given their buffer and offset.
fn parameters(check: &Check<'_>, is_listed: &dyn Fn(Option<Slot>, u64) -> bool) -> Vec<Parameter> {
    let setup = &check.setup;
    let module = &check.shader.source.module;
    let flow = DataFlow::new(module);
    let (float_bits, branches, counters) = (flow.float_bits(), flow.branch_sources(), flow.counters());
    let mut parameters = Vec::new();
    let mut add = |slot: Option<Slot>, (prefix, variable): (&str, Option<&str>), (block, is_data), bytes| {
        let (mut integers, mut floats, mut matrices, mut counts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        // Parameters that are no elements of arrays, with the paths of their vectors, and the paths of arrays.
        let (mut outside_arrays, mut arrays) = (Vec::new(), BTreeSet::new());
        walk_scalars(block, bytes, &mut |element, steps| {
            let is_member = || steps.iter().all(|step| matches!(step, PathStep::Member(..)));
            let is_integer = matches!(element.scalar, Scalar::Int { .. });
            let memory = (slot, &*slot.map_or_else(Vec::new, |slot| setup.pointees_of(slot)));
            let is_fixed = element.offset < size_with_elements(block, 0);
            let changes = |of: &FaultSources| of.of(module, memory, block, element.offset) == Provenance::Operand;
            let is_counter = is_data && is_fixed && (changes(&counters.increased) || changes(&counters.decreased));
            if is_data && !(is_integer && (is_member() || is_counter)) {
                return;
            }
            let has_float_bits = is_integer
                && element.scalar.width() == 32
                && float_bits.of(module, memory, block, element.offset) == Provenance::Operand;
            let is_integer = is_integer && !has_float_bits;
            let in_matrix = matches!(steps, [.., PathStep::Column(_), PathStep::Index(_)]);
            let (found, most) = match () {
                () if in_matrix => (&mut matrices, MATRIX_ELEMENTS),
                () if is_integer => (&mut integers, PARAMETERS),
                () => (&mut floats, PARAMETERS),
            };
            let is_count = is_data
                && is_integer
                && (is_counter
                    || is_member() && branches.of(module, memory, block, element.offset) == Provenance::Control);
            let (last, whole) = steps.split_last().map_or((None, steps), |(last, whole)| (Some(last), whole));
            // A component of a vector is the last step, as an element of an array of scalars is.
            let is_element = matches!(last, Some(PathStep::Index(COMPONENTS..)));
            arrays.extend(is_element.then(|| path_text(whole)));
            let is_alone =
                !is_data && !in_matrix && !is_element && !whole.iter().any(|step| matches!(step, PathStep::Index(_)));
            if (found.len() <= most || is_count || is_alone) && is_listed(slot, element.offset) {
                let path = path_text(steps);
                let path = if slot.is_none() { path.trim_start_matches('.').to_owned() } else { path };
                // A single value has no path.
                let shown = match variable {
                    Some(variable) => format!("{variable}{path}"),
                    None if path.is_empty() => format!("{prefix}@{}", element.offset),
                    None => format!("{prefix}{path}"),
                };
                let path = if path.is_empty() { format!("@{}", element.offset) } else { path };
                let simple = match steps {
                    [.., PathStep::Column(column), PathStep::Index(row)] => f64::from(column == row),
                    _ if names_one_of(steps, &RECIPROCALS) => RECIPROCAL,
                    _ => f64::from(!names_one_of(steps, &["min"])),
                };
                let name = format!("{prefix}{path}");
                let parameter = Parameter { slot, name, shown, element, in_matrix, has_float_bits, simple };
                counts.extend(is_count.then(|| parameter.clone()));
                outside_arrays.extend(is_alone.then(|| (path_text(whole), parameter.clone())));
                found.push(parameter);
            }
        });
        // The path of a member is that of its structure, which is no array.
        let in_array = |whole: &String, p: &Parameter| p.name.ends_with(']') && arrays.contains(whole);
        outside_arrays.retain(|(whole, parameter)| !in_array(whole, parameter));
        let outside_arrays = outside_arrays.into_iter().map(|(_, parameter)| parameter);
        let (alone_integers, alone_floats): (Vec<_>, Vec<_>) = outside_arrays.partition(Parameter::is_integer);
        let integers = match () {
            () if is_data => counts,
            () if integers.len() > PARAMETERS => alone_integers,
            () => integers,
        };
        let floats = if floats.len() > PARAMETERS { alone_floats } else { floats };
        let limits = [(integers, PARAMETERS), (floats, PARAMETERS), (matrices, MATRIX_ELEMENTS)];
        parameters.extend(limits.into_iter().filter(|(found, most)| found.len() <= *most).flat_map(|(found, _)| found));
    };
    if let Some(push) = &setup.push {
        add(None, ("", None), (push, false), push.size());
    }
    for d in &setup.descriptors {
        let Some(block) = d.block.as_deref() else { continue };
        add(Some(d.slot), (&binding_name(d), own_name(setup, d)), (block, !holds_parameters(d)), d.bytes);
    }
    parameters
}

/// Returns whether the name of the innermost member has one of these parts.
fn names_one_of(steps: &[PathStep<'_>], parts: &[&str]) -> bool {
    let name =
        steps.iter().rev().find_map(|step| if let PathStep::Member(_, name) = step { Some(*name) } else { None });
    let name = name.flatten().unwrap_or_default().to_ascii_lowercase();
    parts.iter().any(|part| name.contains(part))
}

/// Returns a candidate's parameters with the values of those that have one.
pub(super) fn with_values(
    start: &ChosenParameters,
    parameters: &[Parameter],
    values: &[Option<u64>],
) -> ChosenParameters {
    let mut chosen = start.clone();
    for (parameter, value) in parameters.iter().zip(values) {
        let Some(value) = value.filter(|value| width_permits(parameter.element.scalar, *value)) else { continue };
        // The mask of a table with as many slots.
        let is_mask = value.is_power_of_two() && parameter.name.to_ascii_lowercase().contains("mask");
        parameter.set(&mut chosen, (value - u64::from(is_mask)).to_string());
    }
    chosen
}

/// Returns whether a buffer holds parameters rather than data: the shader only reads it, and its size is
/// fixed.
pub(super) fn holds_parameters(d: &Descriptor) -> bool {
    let is_read_only =
        d.kind == DescriptorKind::UniformBuffer || d.kind == DescriptorKind::StorageBuffer && !d.may_be_written;
    is_read_only && d.block.as_deref().is_some_and(|block| runtime_stride(block).is_none())
}

/// Returns the name of a binding's variable, if `--input` takes it for this binding alone.
pub(super) fn own_name<'a>(setup: &DispatchSetup, d: &'a Descriptor) -> Option<&'a str> {
    let name = d.name.as_deref().filter(|name| is_name(name))?;
    let others = setup.descriptors.iter().filter(|other| other.slot != d.slot);
    let is_unique = others.filter_map(|other| other.name.as_deref()).all(|other| other != name);
    is_unique.then_some(name)
}

/// Returns the names of bindings on the command line with those of their variables, if `--input` takes
/// them.
pub(crate) fn variable_names(setup: &DispatchSetup) -> Vec<(String, String)> {
    let named = |d: &Descriptor| Some((binding_name(d), own_name(setup, d)?.to_owned()));
    setup.descriptors.iter().filter_map(named).collect()
}

/// Returns the name of a binding on the command line.
pub(super) fn binding_name(d: &Descriptor) -> String {
    if let Some(name) = d.name.as_ref().filter(|_| d.is_addressed()) {
        return name.clone();
    }
    let Slot { set, binding, element } = d.slot;
    let array = if element == 0 { String::new() } else { format!("[{element}]") };
    format!("{set}.{binding}{array}")
}
