//! Run of a sequence: its steps on a target, and the result over all of them.

use super::contents::{ElementCondition, equal_to};
use super::session::SequenceSession;
use super::{Action, MemoryBinding, RequiredSubgroupSize, SequenceDispatch, SequencePush, Step, Tolerance};
use crate::check_run::FinishedRun;
use crate::compare::{Comparison, count_mismatch, hex};
use crate::dispatch_setup::DispatchSetup;
use crate::memory_layout::MemoryContents;
use crate::options::BindingSource;
use crate::session::{BUNDLE_FOLDER, SessionOutput, remove_bundles};
use crate::subgroup_control::subgroup_size;
use crate::{BindingName, BundleDestination, Check, CheckError, MutatingTarget, Options, PlantedError, status};
use assay_events::{BindingWrites, CheckResult, DeviceInfo, Mismatch, Status, UnjudgedRound, Writes, class_names};
use assay_exec::{
    AllocatedDispatch, Descriptor, DispatchOutput, DispatchRequest, SubgroupControl, Target, TargetError,
};
use assay_oracle::Slot;
use assay_spirv::reflect::{Reflection, TypeLayout};
use assay_spirv_rules::requirements::DeviceCaps;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

/// A dispatch, ready for its check.
pub(super) struct PreparedStep {
    /// Options of its check.
    pub(super) options: Options,
    /// Part of a memory at each binding that the shader uses.
    places: BTreeMap<Slot, (usize, Range<usize>)>,
}

/// State of a run over its steps.
pub(super) struct SequenceRun<'a> {
    session: &'a SequenceSession,
    target: &'a dyn Target,
    output: SessionOutput<'a>,
    preliminary: &'a dyn Fn(&CheckResult),
    /// Contents of the memories.
    contents: Vec<Vec<u8>>,
    /// Sum of the results.
    result: CheckResult,
    /// Sum of the mismatches.
    sum: Comparison,
    writes: Vec<BindingWrites>,
    /// Number of dispatches that have begun.
    dispatches: u32,
    expectations: ExpectationCount,
    /// First reason of a dispatch with a QualityWarning.
    warning: Option<String>,
}

/// Number of expectations that were compared.
#[derive(Default)]
struct ExpectationCount {
    met: u64,
    unmet: u64,
    elements: u64,
    /// Description of the first one that is not met.
    first: Option<String>,
}

impl SequenceSession {
    /// Returns the planted error with the shader and the entry point that it changes, if there is
    /// one.
    ///
    /// # Errors
    /// It applies to no dispatch.
    pub(super) fn planted(&self) -> Result<Option<(usize, PlantedError)>, CheckError> {
        let Some(mutation) = &self.mutation else { return Ok(None) };
        let mut first = None;
        for step in &self.sequence.steps {
            let Action::Dispatch(dispatch) = &step.action else { continue };
            let shader = &self.sequence.shaders[dispatch.shader];
            let only = || shader.compute_entry_points().into_iter().next();
            let entry = dispatch.entry.clone().or_else(only).unwrap_or_default();
            match mutation.plant(&shader.source.module, &entry) {
                Ok(planted) => return Ok(Some((dispatch.shader, planted))),
                Err(error) => _ = first.get_or_insert(error),
            }
        }
        Err(first.unwrap_or_else(|| CheckError::option("no dispatch in which to plant an error")))
    }

    /// Applies a dispatch to its shader, with these contents of the memories. Without a target, a
    /// subgroup size of the device is left open.
    pub(super) fn prepare(
        &self,
        step: &Step,
        dispatch: &SequenceDispatch,
        contents: &[&[u8]],
        target: Option<&dyn Target>,
    ) -> Result<PreparedStep, CheckError> {
        let sequence = &self.sequence;
        let wrong = |what: String| sequence.error(step.line, format!("{}: {what}", step.text));
        let at_step = |error: CheckError| wrong(error.to_string());
        let shader = &sequence.shaders[dispatch.shader];
        let required = dispatch.subgroup_size.and_then(|size| match (size, target) {
            (RequiredSubgroupSize::Of(size), _) => Some(size),
            (RequiredSubgroupSize::Least, Some(target)) => of_device(target, "minSubgroupSize"),
            (RequiredSubgroupSize::Greatest, Some(target)) => of_device(target, "maxSubgroupSize"),
            (_, None) => None,
        });
        let reflection = Reflection::new(&shader.source.module);
        let mut options = Options {
            entry: dispatch.entry.clone(),
            groups: Some(dispatch.workgroups),
            specs: specs_of(&reflection, &dispatch.specs),
            rounds: 1,
            robustness: Some(sequence.robustness),
            subgroup_control: SubgroupControl {
                size: required.map(subgroup_size).transpose().map_err(at_step)?,
                full: dispatch.full_subgroups,
            },
            fixed: true,
            ..self.options.clone()
        };
        let views = dispatch.bindings.iter().map(|binding| self.view(binding).map_err(wrong));
        let views = views.collect::<Result<Vec<_>, _>>()?;
        for (binding, (memory, range)) in dispatch.bindings.iter().zip(&views) {
            if is_used(&reflection, dispatch.entry.as_deref(), &binding.place) {
                let bytes = contents[*memory][range.clone()].to_vec();
                options.inputs.push((binding.place.clone(), BindingSource::Bytes(bytes)));
            }
        }
        // The sizes of the bindings follow from the inputs.
        let setup = DispatchSetup::new(shader, &options).map_err(at_step)?;
        options.inputs.clear();
        let mut places = BTreeMap::new();
        for descriptor in setup.descriptors.iter().filter(|descriptor| MemoryContents::of(descriptor).is_some()) {
            let names = |place: &BindingName| place.names(descriptor.slot, descriptor.name.as_deref());
            let found = dispatch.bindings.iter().zip(&views).find(|(binding, _)| names(&binding.place));
            let Some((_, (memory, range))) = found else {
                return Err(wrong(format!("the shader uses {}, to which nothing is bound", descriptor.label())));
            };
            let memory_of = &sequence.memories[*memory];
            if descriptor.texels.is_some() {
                options.images.push((descriptor.slot.into(), memory_of.image.clone()));
            } else if memory_of.image.size.is_some() {
                return Err(wrong(format!("{} is a buffer, and `{}` is an image", descriptor.label(), memory_of.name)));
            }
            let mut bytes = contents[*memory][range.clone()].to_vec();
            if descriptor.texels.is_none() {
                fit(&mut bytes, descriptor.bytes, &descriptor.label(), &memory_of.name).map_err(wrong)?;
            }
            let used = range.start..range.end.min(range.start + bytes.len());
            options.inputs.push((descriptor.slot.into(), BindingSource::Bytes(bytes)));
            places.insert(descriptor.slot, (*memory, used));
        }
        self.refuse_aliases(&setup.descriptors, &places).map_err(wrong)?;
        match (&setup.push, &dispatch.push) {
            (None, _) => {}
            (Some(_), None) => return Err(wrong("the shader has push constants, and the dispatch has none".into())),
            (Some(push), Some(SequencePush::Memory(memory))) => {
                let mut bytes = contents[*memory].to_vec();
                let size = push.size().next_multiple_of(4);
                fit(&mut bytes, size, "the push constants", &sequence.memories[*memory].name).map_err(wrong)?;
                options.push = Some(BindingSource::Bytes(bytes));
            }
            (Some(_), Some(SequencePush::Values(values))) => {
                options.push = Some(BindingSource::Number("0".to_owned()));
                options.push_values.clone_from(values);
            }
        }
        let samplers = dispatch.samplers.iter().filter(|(place, _)| {
            setup.descriptors.iter().any(|descriptor| place.names(descriptor.slot, descriptor.name.as_deref()))
        });
        options.samplers = samplers.cloned().collect();
        Ok(PreparedStep { options, places })
    }

    /// Returns the memory of a binding, and the bytes that it shows.
    fn view(&self, binding: &MemoryBinding) -> Result<(usize, Range<usize>), String> {
        let memory = &self.sequence.memories[binding.memory];
        let (start, all) = (binding.offset, memory.bytes.len() as u64);
        let end = binding.range.map_or(all, |range| start.saturating_add(range));
        if start >= end || end > all {
            return Err(format!("bytes {start} to {end} are not a part of `{}`, which has {all} bytes", memory.name));
        }
        Ok((binding.memory, start as usize..end as usize))
    }

    /// Refuses two bindings that show the same bytes if the shader may write one of them. The
    /// oracle gives each binding memory of its own.
    fn refuse_aliases(
        &self,
        descriptors: &[Descriptor],
        places: &BTreeMap<Slot, (usize, Range<usize>)>,
    ) -> Result<(), String> {
        let written = |slot: &Slot| descriptors.iter().any(|d| d.slot == *slot && d.is_read_back() && d.may_be_written);
        for (i, (slot, (memory, range))) in places.iter().enumerate() {
            for (other, (its_memory, its_range)) in places.iter().skip(i + 1) {
                let overlap = memory == its_memory && range.start < its_range.end && its_range.start < range.end;
                if overlap && (written(slot) || written(other)) {
                    return Err(format!(
                        "`{}` is bound to {slot} and to {other}, and the shader may write it; Assay does not support \
                         aliased bindings",
                        self.sequence.memories[*memory].name
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Returns a limit of the device.
fn of_device(target: &dyn Target, name: &str) -> Option<u32> {
    target.capabilities().properties.get(name).and_then(|size| u32::try_from(*size).ok())
}

/// Returns whether an entry point of the shader uses a binding, of any element.
fn is_used(reflection: &Reflection, entry: Option<&str>, place: &BindingName) -> bool {
    let entries = reflection.entry_points.iter().filter(|of| entry.is_none_or(|entry| of.name == entry));
    let mut bindings = entries.flat_map(|entry| &entry.bindings);
    bindings.any(|binding| place.names_binding(Slot::new(binding.set, binding.binding), binding.name.as_deref()))
}

/// Returns the values of specialisation constants without those for ids that the module does not
/// have, which a pipeline may give. Bits of booleans become their values.
fn specs_of(reflection: &Reflection, given: &[(String, String)]) -> Vec<(String, String)> {
    let value = |(key, text): &(String, String)| {
        let mut constants = reflection.spec_constants.iter();
        let found = constants
            .find(|constant| constant.spec_id.to_string() == *key || constant.name.as_deref() == Some(key.as_str()));
        let Some(constant) = found else {
            let is_id = key.bytes().all(|digit| digit.is_ascii_digit());
            return (!is_id).then(|| (key.clone(), text.clone()));
        };
        let is_bool = matches!(*constant.shape, TypeLayout::Bool);
        let text = match text.strip_prefix("0x").filter(|_| is_bool) {
            Some(digits) => (!digits.bytes().all(|digit| digit == b'0')).to_string(),
            None => text.clone(),
        };
        Some((key.clone(), text))
    };
    given.iter().filter_map(value).collect()
}

/// Cuts the contents of a memory to the size of a block. Up to three bytes of padding are added.
fn fit(bytes: &mut Vec<u8>, size: u64, label: &str, memory: &str) -> Result<(), String> {
    let given = bytes.len() as u64;
    if given.next_multiple_of(4) < size {
        return Err(format!("{label} has {size} bytes, and `{memory}` only {given}"));
    }
    bytes.resize(size as usize, 0);
    Ok(())
}

impl<'a> SequenceRun<'a> {
    pub(super) fn new(
        session: &'a SequenceSession,
        target: &'a dyn Target,
        output: SessionOutput<'a>,
        preliminary: &'a dyn Fn(&CheckResult),
    ) -> SequenceRun<'a> {
        SequenceRun {
            session,
            target,
            output,
            preliminary,
            contents: session.sequence.memories.iter().map(|memory| memory.bytes.clone()).collect(),
            result: session.not_run(Status::Undetermined, String::new()),
            sum: Comparison::default(),
            writes: Vec::new(),
            dispatches: 0,
            expectations: ExpectationCount::default(),
            warning: None,
        }
    }

    /// Runs all steps and returns the result.
    ///
    /// # Errors
    /// As [`SequenceSession::run`].
    pub(super) fn run(mut self) -> Result<CheckResult, CheckError> {
        let started = Instant::now();
        let planted = self.session.planted()?;
        let mut end = None;
        for step in &self.session.sequence.steps {
            match &step.action {
                Action::Dispatch(dispatch) => {
                    end = self.dispatch(step, dispatch, planted.as_ref())?;
                    if end.is_some() {
                        break;
                    }
                }
                Action::Copy { from, to } => self.contents[*to] = self.contents[*from].clone(),
                Action::Write { to, offset, bytes } => {
                    let start = *offset as usize;
                    self.contents[*to][start..start + bytes.len()].copy_from_slice(bytes);
                }
                Action::Expect { memory, elements } => self.expect(step, *memory, elements.iter().map(Cow::Borrowed)),
                Action::ExpectEqual { memory, expected, tolerance } => {
                    self.expect_equal(step, *memory, *expected, *tolerance);
                }
            }
        }
        let mut result = self.total(end);
        result.times.wall = started.elapsed().as_secs_f64();
        Ok(result)
    }

    /// Runs a dispatch. Returns its status and reason if they end the sequence.
    fn dispatch(
        &mut self,
        step: &Step,
        dispatch: &SequenceDispatch,
        planted: Option<&(usize, PlantedError)>,
    ) -> Result<Option<(Status, String)>, CheckError> {
        let session = self.session;
        let at_step = |error: CheckError| session.sequence.error(step.line, format!("{}: {error}", step.text));
        let contents: Vec<&[u8]> = self.contents.iter().map(Vec::as_slice).collect();
        let PreparedStep { options, places } = session.prepare(step, dispatch, &contents, Some(self.target))?;
        let check = Check::new(&session.sequence.shaders[dispatch.shader], &options).map_err(at_step)?;
        let number = self.dispatches;
        self.dispatches += 1;
        let numbered = NumberedTarget { target: self.target, number };
        let mutating = planted.filter(|(shader, _)| *shader == dispatch.shader);
        let mutating = mutating.map(|(_, planted)| MutatingTarget::new(&numbered, planted.clone()));
        let target: &dyn Target = match &mutating {
            Some(mutating) => mutating,
            None => &numbered,
        };
        let FinishedRun { result, output } = check.run_to_output(target).map_err(at_step)?;
        let result = self.diagnose(&check, result, target)?;
        let reason = format!("{}:{}: {}", session.sequence.name, step.line, step.text);
        let ended = match (result.status, &output) {
            (Status::Pass | Status::QualityWarning | Status::Undetermined, Some(output))
                if result.excused.is_none() =>
            {
                for (slot, (memory, range)) in &places {
                    if let Some(bytes) = output.get(slot) {
                        let bytes = &bytes[..range.len().min(bytes.len())];
                        self.contents[*memory][range.start..range.start + bytes.len()].copy_from_slice(bytes);
                    }
                }
                None
            }
            (status, _) => {
                let why = result.reason.as_deref().unwrap_or("no result was judged");
                Some((status, format!("{reason}: {why}")))
            }
        };
        if result.status == Status::QualityWarning && self.warning.is_none() {
            self.warning = Some(format!("{reason}: {}", result.reason.as_deref().unwrap_or_default()));
        }
        self.add(result, number);
        Ok(ended)
    }

    /// Diagnoses a failure, and writes its bundle.
    fn diagnose(
        &self,
        check: &Check<'_>,
        mut result: CheckResult,
        target: &dyn Target,
    ) -> Result<CheckResult, CheckError> {
        let failed = result.status == Status::Fail;
        if let (Some(folder), false) = (self.output.folder, result.mismatches.is_empty()) {
            remove_bundles(folder)?;
        }
        if failed {
            (self.preliminary)(&CheckResult { name: self.result.name.clone(), ..result.clone() });
        }
        if self.session.diagnosis.trace && failed {
            check.explain(&mut result, target, self.session.diagnosis.derive);
        }
        if let (Some(folder), true) = (self.output.folder, failed && !result.mismatches.is_empty()) {
            let folder = folder.join(BUNDLE_FOLDER);
            let mutation = self.session.mutation.as_ref();
            let to = BundleDestination { folder: &folder, command: self.output.command, mutation };
            check.write_bundle(&to, &result, target)?;
            let bundle = folder.display();
            result.notes.push(format!("bundle of this dispatch in {bundle}; reproduce with `assay repro {bundle}`"));
        }
        Ok(result)
    }

    /// Adds the result of a dispatch to the sum.
    fn add(&mut self, step: CheckResult, number: u32) {
        let total = &mut self.result;
        total.excused = step.excused;
        (total.entry, total.workgroups, total.workgroup_size) = (step.entry, step.workgroups, step.workgroup_size);
        total.rounds_checked += step.rounds_checked;
        total.unjudged.extend(step.unjudged.into_iter().map(|one| UnjudgedRound { round: number, ..one }));
        total.elements_checked += step.elements_checked;
        total.elements_undetermined += step.elements_undetermined;
        total.elements_failing += step.elements_failing;
        total.elements_warning += step.elements_warning;
        total.undetermined.extend(step.undetermined);
        total.instructions += step.instructions;
        total.times.build += step.times.build;
        total.times.check += step.times.check;
        total.times.device += step.times.device;
        if step.status == Status::Fail {
            (total.blamed, total.derivation, total.picture) = (step.blamed, step.derivation, step.picture);
        }
        for note in step.notes {
            if !total.notes.contains(&note) {
                total.notes.push(note);
            }
        }
        for theirs in step.writes.into_iter().flat_map(|writes| writes.bindings) {
            match self.writes.iter_mut().find(|ours| ours.binding == theirs.binding) {
                Some(ours) => ours.add(&theirs),
                None => self.writes.push(theirs),
            }
        }
        let mismatches = step.mismatches.into_iter().map(|mismatch| Mismatch { round: number, ..mismatch }).collect();
        self.sum.add(Comparison { mismatches, classes: step.classes, ..Comparison::default() });
    }

    /// Compares elements of a memory with their conditions.
    fn expect<'b>(&mut self, step: &Step, memory: usize, elements: impl Iterator<Item = Cow<'b, ElementCondition>>) {
        let named = &self.session.sequence.memories[memory];
        let (mut compared, mut unmet) = (0, 0);
        let mut first = None;
        for condition in elements {
            compared += 1;
            let got = condition.element().read(&self.contents[memory]);
            if got.is_some_and(|bits| condition.is_met(bits)) {
                continue;
            }
            unmet += 1;
            let scalar = condition.scalar;
            let got = got.map_or_else(String::new, |bits| hex(scalar, bits));
            first.get_or_insert_with(|| format!("{}{} is {got}", named.name, condition.path));
            let before = condition.element().read(&named.bytes).unwrap_or(0);
            let class = (Status::Fail, class_names::EXPECTATION);
            let mismatch = || Mismatch {
                status: Status::Fail,
                round: self.dispatches.saturating_sub(1),
                buffer: named.name.clone(),
                element: condition.path.clone(),
                offset: condition.offset,
                scalar: scalar.to_string(),
                invocation: None,
                before: hex(scalar, before),
                got: got.clone(),
                permitted: vec![condition.ends()],
                class: class_names::EXPECTATION.into(),
                by: "case".into(),
            };
            count_mismatch(&mut self.sum.mismatches, &mut self.sum.classes, class, mismatch);
        }
        self.result.elements_checked += compared;
        self.result.elements_failing += unmet;
        self.expectations.elements += compared;
        match first {
            None => self.expectations.met += 1,
            Some(first) => {
                self.expectations.unmet += 1;
                let place = format!("{}:{}", self.session.sequence.name, step.line);
                let what =
                    format!("{place}: {}: {unmet} of {compared} elements are not as expected; {first}", step.text);
                self.expectations.first.get_or_insert(what);
            }
        }
    }

    fn expect_equal(&mut self, step: &Step, memory: usize, expected: usize, tolerance: Option<Tolerance>) {
        let layout = &self.session.sequence.memories[memory].layout;
        let expected = self.contents[expected].clone();
        self.expect(step, memory, equal_to(layout, &expected, tolerance).map(Cow::Owned));
    }

    /// Returns the result. `end` is the status that ended the sequence early.
    fn total(self, end: Option<(Status, String)>) -> CheckResult {
        let SequenceRun { mut result, sum, writes, expectations, warning, .. } = self;
        let ExpectationCount { met, unmet, elements, first } = expectations;
        let writes = Writes::of(writes);
        let hollow = writes.falsifiable == 0;
        result.writes = Some(writes);
        (result.mismatches, result.classes) = (sum.mismatches, sum.classes);
        let all = met + unmet;
        result.notes.push(match all {
            0 if end.is_some() => "the file's expectations were not reached".to_owned(),
            0 => "the file has no expectation; only the specification was checked".to_owned(),
            _ => format!("{met} of {all} expectations of the file are met ({elements} elements)"),
        });
        (result.status, result.reason) = match (end, first) {
            (Some((status, reason)), _) => (status, Some(reason)),
            (None, Some(first)) => {
                (Status::Fail, Some(format!("{first}, although the specification forbids none of the results")))
            }
            (None, None) if hollow => (Status::Undetermined, Some(status::hollow_reason(&result, None))),
            (None, None) => match warning {
                Some(reason) => (Status::QualityWarning, Some(reason)),
                None => (Status::Pass, None),
            },
        };
        result
    }
}

/// A target for one dispatch of a sequence: its only round has the number of the dispatch.
struct NumberedTarget<'a> {
    target: &'a dyn Target,
    number: u32,
}

impl Target for NumberedTarget<'_> {
    fn info(&self) -> &DeviceInfo {
        self.target.info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        self.target.capabilities()
    }

    fn begin_round(&self, _: u32, excuse: Option<&str>) {
        self.target.begin_round(self.number, excuse);
    }

    fn allocate(&self, request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        self.target.allocate(request)
    }

    fn clear_workgroup_memory(&self) {
        self.target.clear_workgroup_memory();
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        self.target.run(request)
    }
}
