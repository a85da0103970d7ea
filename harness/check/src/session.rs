//! Session of a check: from a file to a result with its diagnosis and bundles.
//!
//! A [`CheckSession`] is data: one process makes it from a file, another may run it
//! ([`CheckSession::request`]). It opens no device, reads no command line and prints nothing.

mod variant_search;

use crate::case_writer::write_case;
use crate::chosen_parameters::AvoidedFault;
use crate::descriptor_arrays::DescriptorArrays;
use crate::mutation_score::ErrorSize;
use crate::parameter_search::{ParameterValues, SEARCH_TIME, search_until, variable_names};
use crate::reduce::reduce_end;
use crate::{
    BindingSource, BundleDestination, CaseFile, Check, CheckError, ChosenParameters, CompileOptions, CompiledShader,
    MutatingTarget, Mutation, Options, ParameterSearch, PlantedError, Reduction, ReductionLimits, RunIsolated,
    SearchExtent, ShaderSource, bundle, reduce, status,
};
use assay_events::{CheckResult, DeviceInfo, Status};
use assay_exec::Target;
use assay_files::input;
use assay_oracle::{AtomicOrder, CauseKind, Place};
use assay_spirv::module::InstructionIndex;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, Instant};

/// Time of a fruitless search from which it is noted beside a verdict that says enough, in seconds.
const LONG_SEARCH: f64 = 1.0;

/// Limits of a reduction.
const REDUCTION_EFFORT: ReductionLimits = ReductionLimits { candidates: 500, time: Duration::from_secs(300) };

/// Subdirectory of a result directory for the bundle of a failure.
pub const BUNDLE_FOLDER: &str = "bundle";

/// Subdirectory of a result directory for the bundle of a reduced failure.
const REDUCED_FOLDER: &str = "reduced";

/// Subdirectory of a result directory for the case file with the parameters that a search chose and
/// the buffers that were derived.
const CASE_FOLDER: &str = "case";

/// Steps after a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// Run an instrumented variant to find the first wrong instruction.
    pub trace: bool,
    /// Derive the first wrong element from its operands.
    pub derive: bool,
    /// Reduce the shader while the same instruction fails in the same way.
    pub reduce: bool,
}

/// A shader with everything that its check needs.
#[derive(Debug)]
pub struct CheckSession {
    /// The shader.
    pub shader: ShaderSource,
    /// Options of the check, with the chosen parameters.
    pub options: Options,
    /// The case file that names the shader, if one does.
    case: Option<CaseFile>,
    /// The error to plant in the module that the device receives, if any.
    pub mutation: Option<Mutation>,
    /// Parameters that a search chose.
    chosen: Option<ChosenParameters>,
    /// A search that found nothing better than the defaults.
    fruitless: Option<SearchExtent>,
    /// Duration of the search, in seconds.
    searched: f64,
    /// Steps after a failure.
    pub diagnosis: Diagnosis,
    /// Set if a variant without the shader's undefined behaviour may be judged in its place.
    pub takes_variants: bool,
}

/// A session in a form that is sent to another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionRequest {
    shader: CompiledShader,
    options: Options,
    case: Option<CaseFile>,
    mutation: Option<Mutation>,
    chosen: Option<ChosenParameters>,
    /// A search that found nothing better than the defaults.
    fruitless: Option<SearchExtent>,
    /// Duration of the search, in seconds.
    searched: f64,
    diagnosis: Diagnosis,
}

/// Names the component at fault for a failure.
pub type Attribution<'a> = &'a dyn Fn(&Check<'_>) -> String;

/// Destination of the files of a session.
#[derive(Clone, Copy, Debug)]
pub struct SessionOutput<'a> {
    /// Result directory, if files are to be written.
    pub folder: Option<&'a Path>,
    /// Command line, for reports.
    pub command: &'a [String],
}

impl CheckSession {
    /// Creates a session for a shader.
    pub fn new(shader: ShaderSource, mut options: Options) -> CheckSession {
        if shader.wgsl().is_some() {
            // They are constants in the module.
            options.specs.clear();
        }
        CheckSession {
            shader,
            options,
            case: None,
            mutation: None,
            chosen: None,
            fruitless: None,
            searched: 0.0,
            diagnosis: Diagnosis::default(),
            takes_variants: true,
        }
    }

    /// Reads and compiles the shader that a case file names, or else `file`. `options` contains the
    /// options of the case file. `compile` needs only what the case file does not state.
    ///
    /// # Errors
    /// As [`ShaderSource::load`], with the line of the case file.
    pub fn load(
        case: Option<CaseFile>,
        file: &Path,
        mut compile: CompileOptions,
        options: Options,
    ) -> Result<CheckSession, CheckError> {
        compile.entry = options.entry.clone();
        compile.specs = options.specs.clone();
        if let Some(case) = &case {
            compile.defines.splice(..0, case.defines.iter().cloned());
            compile.includes.extend(case.includes.iter().cloned());
        }
        let path = case.as_ref().map_or(file, |case| &case.shader);
        let shader = ShaderSource::load(path, &compile).map_err(|error| with_line(case.as_ref(), error))?;
        Ok(CheckSession { case, ..CheckSession::new(shader, options) })
    }

    /// Returns the purpose that the case file states.
    pub fn purpose(&self) -> Option<&str> {
        self.case.as_ref()?.why.as_deref()
    }

    /// Prepares the check.
    ///
    /// # Errors
    /// As [`Check::new`], with the line of the case file.
    pub fn check(&self) -> Result<Check<'_>, CheckError> {
        Check::new(&self.shader, &self.options).map_err(|error| with_line(self.case.as_ref(), error))
    }

    /// Checks that the inputs of the options can be read and fit their bindings. They are the same
    /// in every round.
    ///
    /// # Errors
    /// They cannot, or do not.
    pub fn must_have_inputs(&self, check: &Check<'_>) -> Result<(), CheckError> {
        if !self.options.inputs.is_empty() || self.options.push.is_some() {
            check.setup.dispatch(0)?;
        }
        Ok(())
    }

    /// Searches for parameters if the options leave them open and lead to undefined behaviour or to
    /// few written elements. A case file states its parameters. `on_candidate` is called before each
    /// candidate is interpreted.
    ///
    /// If the shader has undefined behaviour with all parameters that say something, takes a variant without
    /// it ([`variant_search`]). A Pass is a QualityWarning that names the undefined behaviour then.
    ///
    /// # Errors
    /// As [`CheckSession::check`].
    pub fn search(&mut self, limits: &dyn Target, on_candidate: &dyn Fn()) -> Result<(), CheckError> {
        if self.case.is_some() {
            return Ok(());
        }
        let started = Instant::now();
        let end = started + SEARCH_TIME;
        let found = search_until(&self.check()?, &self.options, (limits, on_candidate), (None, end))?;
        let is_variant = self.search_variants(&found, (limits, on_candidate), end)?;
        match found {
            _ if is_variant => {}
            ParameterSearch::NotNeeded => return Ok(()),
            ParameterSearch::NothingBetter(fruitless) if fruitless.candidates <= 1 => return Ok(()),
            ParameterSearch::NothingBetter(fruitless) => self.fruitless = Some(*fruitless),
            ParameterSearch::Found(chosen) => {
                let robust_access = self.access_without_robustness(&chosen, limits)?;
                chosen.apply(&mut self.options)?;
                self.chosen = Some(ChosenParameters { robust_access, ..*chosen });
            }
        }
        self.searched = started.elapsed().as_secs_f64();
        Ok(())
    }

    /// Returns the session in a form that [`CheckSession::from_request`] takes.
    pub fn request(&self) -> SessionRequest {
        SessionRequest {
            shader: self.shader.compiled(),
            options: self.options.clone(),
            case: self.case.clone(),
            mutation: self.mutation.clone(),
            chosen: self.chosen.clone(),
            fruitless: self.fruitless.clone(),
            searched: self.searched,
            diagnosis: self.diagnosis,
        }
    }

    /// As [`CheckSession::request`], with the contents of input files in place of their paths, for
    /// a machine without these files.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn portable_request(&self) -> Result<SessionRequest, CheckError> {
        let mut request = self.request();
        let sources = request.options.inputs.iter_mut().map(|(_, source)| source);
        for source in sources.chain(&mut request.options.push) {
            if let BindingSource::File(path) = source {
                let read = input::read(path, input::MAX_DATA_BYTES);
                let unreadable = |source| CheckError::Unreadable { path: path.clone(), source };
                *source = BindingSource::Bytes(read.map_err(unreadable)?);
            }
        }
        Ok(request)
    }

    /// Returns the session of a request.
    ///
    /// # Errors
    /// As [`ShaderSource::from_compiled`].
    pub fn from_request(request: SessionRequest) -> Result<CheckSession, CheckError> {
        let SessionRequest { shader, options, case, mutation, chosen, fruitless, searched, diagnosis } = request;
        let shader = ShaderSource::from_compiled(shader)?;
        let new = CheckSession::new(shader, options);
        Ok(CheckSession { case, mutation, chosen, fruitless, searched, diagnosis, ..new })
    }

    /// Returns the error to plant and its instruction, if there is one.
    fn planted(&self, check: &Check<'_>) -> Result<Option<(&Mutation, PlantedError)>, CheckError> {
        let Some(mutation) = &self.mutation else { return Ok(None) };
        let planted = mutation.plant(&self.shader.source.module, &check.setup.entry)?;
        Ok(Some((mutation, planted)))
    }

    /// Returns a description of the planted error and its location, if there is one.
    ///
    /// # Errors
    /// The error cannot be planted.
    pub fn planted_description(&self, check: &Check<'_>) -> Result<Option<String>, CheckError> {
        Ok(self.planted(check)?.map(|(mutation, planted)| self.describe_planted(mutation, &planted)))
    }

    fn describe_planted(&self, mutation: &Mutation, planted: &PlantedError) -> String {
        let place = self.shader.location(Place { instruction: InstructionIndex(planted.instruction), line: None });
        let exact = mutation.at_word(planted.word);
        let option = if *mutation == exact { String::new() } else { format!(" (--mutate '{exact}')") };
        format!("planted {mutation} in the module that the device receives, at {place}{option}")
    }

    /// Runs the check on a target and diagnoses a failure.
    ///
    /// `attribution` is set if another component than the driver may be at fault. `preliminary`
    /// receives a failure before each diagnostic step, which may crash the driver or take long.
    ///
    /// # Errors
    /// Mistakes in the input, and files that cannot be written.
    pub fn run(
        &self,
        check: &Check<'_>,
        target: &dyn Target,
        attribution: Option<Attribution<'_>>,
        output: SessionOutput<'_>,
        preliminary: &dyn Fn(&CheckResult),
    ) -> Result<CheckResult, CheckError> {
        let changing = DescriptorArrays::target(&self.shader.source.module, target);
        let target = changing.as_ref().map_or(target, |changing| changing as &dyn Target);
        let mut result = match self.planted(check)? {
            None => self.diagnose(check, target, attribution, output, preliminary),
            // A planted error needs no attribution.
            Some((_, planted)) => {
                let at = InstructionIndex(planted.instruction);
                let mutating = MutatingTarget::new(target, planted);
                self.diagnose(check, &mutating, None, output, preliminary).map(|mut result| {
                    if result.mismatches.is_empty() && result.status.has_verdict() && !check.executes(at, target) {
                        result.notes.push("no invocation executed the instruction with the planted error".to_owned());
                    }
                    result
                })
            }
        }?;
        if let Some(changing) = changing {
            if let (Status::Timeout | Status::DeviceLost, None) = (result.status, result.excused) {
                result.excuse(&changing.change().note());
            }
            result.notes.push(changing.change().note());
        }
        Ok(result)
    }

    /// Returns whether a target has what the module requires.
    ///
    /// # Errors
    /// As [`CheckSession::check`].
    pub fn may_run_on(&self, target: &dyn Target) -> Result<bool, CheckError> {
        let check = self.check()?;
        let changing = DescriptorArrays::target(&self.shader.source.module, target);
        Ok(changing.map_or_else(|| check.may_run_on(target), |changing| check.may_run_on(&changing)))
    }

    fn diagnose(
        &self,
        check: &Check<'_>,
        target: &dyn Target,
        attribution: Option<Attribution<'_>>,
        output: SessionOutput<'_>,
        preliminary: &dyn Fn(&CheckResult),
    ) -> Result<CheckResult, CheckError> {
        let mut result = check.run(target).map_err(|error| self.with_search(error))?;
        if let (Some(folder), false) = (output.folder, result.mismatches.is_empty()) {
            remove_bundles(folder)?;
        }
        measure_mutations(check, &mut result, target);
        let warnings = status::thin_warnings(&result, check.advice_to_vary().as_deref());
        let new = warnings.into_iter().filter(|warning| !result.notes.contains(warning)).collect::<Vec<_>>();
        result.notes.extend(new);
        // A device that was lost gives no records.
        if self.diagnosis.trace && !result.is_meaningful() && result.excused.is_none() {
            preliminary(&result);
            check.check_instructions(&mut result, target);
        }
        let failed = result.status == Status::Fail;
        if failed {
            preliminary(&result);
        }
        if let (Some(attribution), true, false) = (attribution, failed, result.fails_only_the_case()) {
            result.notes.push(attribution(check));
        }
        if self.diagnosis.trace && failed {
            check.explain(&mut result, target, self.diagnosis.derive);
        }
        if let Some(folder) = output.folder
            && matches!(result.status, Status::Fail | Status::QualityWarning)
            && !result.mismatches.is_empty()
        {
            let folder = folder.join(BUNDLE_FOLDER);
            check.write_bundle(&self.destination(&folder, output), &result, target)?;
            let bundle = folder.display();
            result.notes.push(format!("bundle in {bundle}; reproduce with `assay repro {bundle}`"));
        }
        if self.diagnosis.reduce && failed {
            preliminary(&result);
            let note = match reduce(check, &result, target, REDUCTION_EFFORT) {
                Ok(reduced) => {
                    let write =
                        |small: &Check<'_>, to: &BundleDestination<'_>| small.write_bundle(to, &reduced.result, target);
                    self.note_of_reduction(check, &reduced, output, &write)?
                }
                // A failure that cannot be reduced is still reported.
                Err(error) => format!("not reduced: {error}"),
            };
            result.notes.push(note);
        }
        Ok(result)
    }

    /// Reduces the shader, if this is requested, after the driver ended early. `run` checks each
    /// candidate in a process of its own.
    ///
    /// # Errors
    /// Files cannot be written.
    pub fn reduce_end(
        &self,
        check: &Check<'_>,
        result: &mut CheckResult,
        (device, run): (&DeviceInfo, RunIsolated<'_>),
        output: SessionOutput<'_>,
    ) -> Result<(), CheckError> {
        // The module that the device receives has the planted error, the candidates would not. An
        // excused end shows no fault of the driver.
        let is_fault = ended_early(result) && result.excused.is_none();
        if !self.diagnosis.reduce || !is_fault || self.mutation.is_some() {
            return Ok(());
        }
        let note = match reduce_end(check, result, run, REDUCTION_EFFORT) {
            Ok(reduced) => {
                let write = |small: &Check<'_>, to: &BundleDestination<'_>| {
                    small.write_failure_bundle(to, &reduced.result, device)
                };
                self.note_of_reduction(check, &reduced, output, &write)?
            }
            Err(error) => format!("not reduced: {error}"),
        };
        result.notes.push(note);
        Ok(())
    }

    /// Completes the result that a process or a target reported: adds the notes of the session, and
    /// writes the bundle of a driver that ended early and the case file of a search.
    ///
    /// # Errors
    /// Files cannot be written.
    pub fn conclude(
        &self,
        check: &Check<'_>,
        result: &mut CheckResult,
        device: &DeviceInfo,
        output: SessionOutput<'_>,
    ) -> Result<(), CheckError> {
        result.times.search = self.searched;
        let named = self.chosen.as_ref().map(|chosen| chosen.with_names(&variable_names(&check.setup)));
        let chosen = named.as_ref().map(ChosenParameters::listed_options).filter(|options| !options.is_empty());
        let chosen: Vec<String> = self.shader.chosen.iter().cloned().chain(chosen).collect();
        result.chosen = (!chosen.is_empty()).then(|| chosen.join(" "));
        result.parameters = ParameterValues::of(check).map(|values| values.to_string());
        let avoided = self.chosen.as_ref().and_then(ChosenParameters::avoided_fault);
        let fruitless = self.fruitless.as_ref().filter(|_| result.status == Status::Undetermined);
        // The reason may tell the fault, with the subgroup size that leads to it.
        let reason = result.reason.clone().unwrap_or_default();
        let is_new = |fault: &AvoidedFault| fault.details.as_ref().is_none_or(|details| !reason.contains(details));
        let fruitless_fault = || fruitless.and_then(SearchExtent::avoided_fault).filter(is_new);
        let is_thin = |result: &CheckResult| {
            result.status == Status::Undetermined || result.notes.iter().any(|note| note.starts_with("warning"))
        };
        let possible = result.possible_fault.as_ref().filter(|_| result.status == Status::Pass);
        let possible =
            possible.and_then(|fault| AvoidedFault::possible(fault, is_thin(result), result.traced.is_some()));
        let fault = avoided.or_else(fruitless_fault).or(possible);
        let is_mistaken = fault.is_some();
        if let Some(fault) = fault {
            // Other values hardly help where most candidates race.
            let advice = check.advice_to_vary().unwrap_or_default();
            if let Some(reason) = result.reason.as_mut().filter(|_| fruitless.is_some() && !advice.is_empty()) {
                *reason = reason.trim_end_matches(&advice).trim_end_matches("; ").to_owned();
            }
            if self.chosen.as_ref().is_some_and(ChosenParameters::joins_invocations) {
                status::without_benign_race(result);
            }
            status::qualify_by_avoided_fault(result, &fault);
        }
        result.notes.extend(named.as_ref().map(ChosenParameters::note));
        result.notes.extend(named.as_ref().and_then(ChosenParameters::note_on_lengths));
        // The first line may tell it.
        let untold = named.as_ref().filter(|chosen| chosen.other_fault != chosen.extent.outside);
        result.notes.extend(untold.and_then(|chosen| chosen.extent.note_on_arrays()));
        // The time of a long one is printed.
        let is_noted = is_thin(result) || self.searched >= LONG_SEARCH;
        let fruitless_note = |extent| {
            if is_mistaken { format!("{extent} found none that says enough") } else { fruitless_search(extent) }
        };
        result.notes.extend(self.fruitless.as_ref().filter(|_| is_noted).map(fruitless_note));
        if let Some((mutation, planted)) = self.planted(check)? {
            self.note_planted(check, mutation, &planted, result);
        }
        let Some(folder) = output.folder else { return Ok(()) };
        if result.mismatches.is_empty() {
            remove_bundles(folder)?;
        }
        let bundle = folder.join(BUNDLE_FOLDER);
        // The driver ended before the bundle was written, or no element could be compared.
        if ended_early(result) || (result.status == Status::Fail && !bundle.exists()) {
            check.write_failure_bundle(&self.destination(&bundle, output), result, device)?;
        }
        self.write_case(check, &folder.join(CASE_FOLDER), result)
    }

    /// Returns a note of what the search for parameters found, and its duration in seconds.
    pub fn search_note(&self) -> (Option<String>, f64) {
        let note = self.chosen.as_ref().map(ChosenParameters::note);
        (note.or_else(|| self.fruitless.as_ref().map(fruitless_search)), self.searched)
    }

    /// Adds to a refusal for undefined behaviour that a search found no other parameters.
    fn with_search(&self, error: CheckError) -> CheckError {
        match (error, &self.fruitless) {
            (CheckError::Undefined { name, what, mut list }, Some(fruitless)) => {
                list.push(format!("  {fruitless} found no parameters that avoid it"));
                CheckError::Undefined { name, what, list }
            }
            (error, _) => error,
        }
    }

    /// Notes the planted error, and the instructions to try if no checked element shows it.
    fn note_planted(&self, check: &Check<'_>, mutation: &Mutation, planted: &PlantedError, result: &mut CheckResult) {
        let description = self.describe_planted(mutation, planted);
        result.notes.push(format!("{description}; this is not a fault of the device"));
        if result.mismatches.is_empty() && matches!(result.status, Status::Pass | Status::Undetermined) {
            let others = mutation.alternatives(&self.shader.source.module, &check.setup.entry, Some(planted));
            let others = others.map_or_else(
                || "it applies to no other instruction".to_owned(),
                |options| format!("to plant it in another instruction, give {options}"),
            );
            result.notes.push(format!("no checked element leaves its permitted set by the planted error; {others}"));
        }
        // Some reports show only the reason, without the notes.
        result.reason = result.reason.take().map(|reason| format!("{reason}, with {mutation} planted"));
    }

    fn destination<'a>(&'a self, folder: &'a Path, output: SessionOutput<'a>) -> BundleDestination<'a> {
        BundleDestination { folder, command: output.command, mutation: self.mutation.as_ref() }
    }

    /// Writes a case file with the parameters that a search chose and the buffers that were
    /// derived, if there are any, in place of that of an earlier check.
    fn write_case(&self, check: &Check<'_>, folder: &Path, result: &mut CheckResult) -> Result<(), CheckError> {
        bundle::remove(folder)?;
        let setup = &check.setup;
        let why = match &self.chosen {
            Some(chosen) => chosen.note(),
            None if setup.has_derived => "memory behind device addresses follows from the shader".to_owned(),
            None => return Ok(()),
        };
        let (buffers, addresses) = (setup.buffers.clone(), setup.addresses.clone());
        let options = Options { buffers, addresses, ..self.options.clone() };
        if let Some(file) = write_case(folder, &self.shader, &options, &why)? {
            let file = file.display();
            result.notes.push(format!("`assay check {file}` repeats the check with these parameters"));
        }
        Ok(())
    }

    /// Writes the bundle of a reduced shader beside the original one, and returns a note on it.
    fn note_of_reduction(
        &self,
        check: &Check<'_>,
        reduced: &Reduction,
        output: SessionOutput<'_>,
        write: &dyn Fn(&Check<'_>, &BundleDestination<'_>) -> Result<(), CheckError>,
    ) -> Result<String, CheckError> {
        let [before, after] = reduced.instructions;
        let [x, y, z] = reduced.result.workgroups;
        let mut note = format!(
            "reduced from {before} to {after} instructions and {x} x {y} x {z} workgroups, {} candidates tried",
            reduced.tried
        );
        if let Some(reason) = &reduced.stopped {
            note += &format!("; the reduction stopped early: {reason}");
        }
        let Some(folder) = output.folder else { return Ok(note + "; give --out to keep it") };
        let small = Check::new(&reduced.shader, &reduced.options)?;
        // Locates the planted error in the reduced module.
        let (whole, part) = (&self.shader.source.module, &reduced.shader.source.module);
        let planted = |mutation: &Mutation| {
            let planted = mutation.plant(whole, &check.setup.entry)?;
            let anywhere = || Mutation { at: None, ..mutation.clone() };
            Ok::<_, CheckError>(planted.find(part).map_or_else(anywhere, |i| mutation.at_word(i.at)))
        };
        let mutation = self.mutation.as_ref().map(planted).transpose()?;
        let folder = folder.join(REDUCED_FOLDER);
        let to = BundleDestination { folder: &folder, command: output.command, mutation: mutation.as_ref() };
        write(&small, &to)?;
        Ok(note + &format!("; bundle in {}", folder.display()))
    }
}

/// Measures the mutation score of a passing check, in its judged rounds.
fn measure_mutations(check: &Check<'_>, result: &mut CheckResult, target: &dyn Target) {
    let passes = matches!(result.status, Status::Pass | Status::QualityWarning);
    let left_out = |round: &u32| result.unjudged.iter().any(|one| one.round == *round);
    let rounds = (0..check.setup.rounds).filter(|round| !left_out(round)).filter(|_| passes);
    // Stands for the order that the device showed. Where it showed none, the check noticed no error.
    let is_observed = result.undetermined.iter().all(|cause| cause.cause != CauseKind::Order.to_string());
    let dispatch = |round| {
        let mut dispatch = check.dispatch(round, target).ok()?;
        check.put_synthetic_addresses(&mut dispatch);
        if is_observed {
            dispatch.atomic_order = AtomicOrder::Interpreted;
        }
        Some(dispatch)
    };
    let mut dispatches = rounds.filter_map(dispatch);
    let Some(first) = dispatches.next() else { return };
    let rounds = (first, dispatches.collect());
    result.mutations = check.mutation_score(&check.setup, rounds, ErrorSize::Small).score;
}

/// Returns a note on a search that found nothing better than the defaults.
fn fruitless_search(extent: &SearchExtent) -> String {
    format!("{extent} found no parameters that it prefers; realistic ones may say more")
}

/// Returns true if the driver ended before it gave results.
fn ended_early(result: &CheckResult) -> bool {
    result.excused.is_some() || matches!(result.status, Status::Crash | Status::Timeout | Status::DeviceLost)
}

/// Adds the line of the case file to an error.
fn with_line(case: Option<&CaseFile>, error: CheckError) -> CheckError {
    match case {
        Some(case) => case.with_line(error),
        None => error,
    }
}

/// Removes the bundles and the case file of an earlier check from a result directory.
///
/// # Errors
/// They cannot be removed.
pub fn remove_bundles(folder: &Path) -> Result<(), CheckError> {
    [BUNDLE_FOLDER, REDUCED_FOLDER, CASE_FOLDER].iter().try_for_each(|name| bundle::remove(&folder.join(name)))
}

/// Refuses a result directory in which files that Assay did not write have the names of the bundles
/// or of the case file.
///
/// # Errors
/// It contains such files.
pub fn refuse_foreign_bundles(folder: &Path) -> Result<(), CheckError> {
    [BUNDLE_FOLDER, REDUCED_FOLDER, CASE_FOLDER].iter().try_for_each(|name| bundle::check_free(&folder.join(name)))
}
