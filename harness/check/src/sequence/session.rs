//! Session of a sequence: from a file to a result.

use super::run::SequenceRun;
use super::{Action, NamedMemory, Sequence, Step};
use crate::session::{SessionOutput, remove_bundles};
use crate::{
    Check, CheckError, CompileOptions, CompiledShader, Diagnosis, Mutation, Options, ShaderSource, amber, sequence_file,
};
use assay_events::{CheckResult, Status};
use assay_exec::Target;
use assay_files::input;
use assay_oracle::Robustness;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A sequence with everything that its check needs. It is data, like a
/// [`CheckSession`](crate::CheckSession).
#[derive(Debug)]
pub struct SequenceSession {
    /// The sequence.
    pub sequence: Sequence,
    /// Options of every step: rules, strictness, limits, benign races. Others come from the
    /// sequence.
    pub options: Options,
    /// The error to plant in the first shader to which it applies, if any.
    pub mutation: Option<Mutation>,
    /// Steps after a failure. A sequence is not reduced.
    pub diagnosis: Diagnosis,
}

/// A session in a form that is sent to another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SequenceRequest {
    name: String,
    shaders: Vec<CompiledShader>,
    memories: Vec<NamedMemory>,
    steps: Vec<Step>,
    robustness: Robustness,
    notes: Vec<String>,
    options: Options,
    mutation: Option<Mutation>,
    diagnosis: Diagnosis,
}

impl SequenceSession {
    /// Endings of script files.
    pub const SCRIPT_ENDINGS: [&str; 2] = amber::ENDINGS;

    /// Returns whether a file is a sequence: an Amber script, by its ending, or a case file with
    /// `dispatch`.
    pub fn is_sequence(path: &Path) -> bool {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some(ending) if amber::ENDINGS.contains(&ending) => true,
            Some("toml") => {
                input::read_text(path, input::MAX_CASE_BYTES).is_ok_and(|text| sequence_file::is_sequence_file(&text))
            }
            _ => false,
        }
    }

    /// Returns the shaders that a sequence names, if it is a case file.
    pub fn named_shaders(path: &Path) -> Vec<PathBuf> {
        let text = input::read_text(path, input::MAX_CASE_BYTES).unwrap_or_default();
        sequence_file::named_shaders(path, &text)
    }

    /// Returns whether a file is a script without compute shaders, or with other ones too, which
    /// cannot be run.
    pub fn is_other_script(path: &Path) -> bool {
        let is_script = path.extension().is_some_and(|ending| amber::ENDINGS.iter().any(|of| ending == *of));
        is_script && input::read_text(path, input::MAX_CASE_BYTES).is_ok_and(|text| !amber::is_compute_script(&text))
    }

    /// Reads a file, and compiles its shaders; `None` if it is not a sequence. `compile` needs only
    /// what the file does not state.
    ///
    /// # Errors
    /// The file cannot be read, is invalid, or contains something that is not supported; a shader
    /// does not compile. The error gives the line.
    pub fn load(
        path: &Path,
        compile: &CompileOptions,
        options: Options,
    ) -> Result<Option<SequenceSession>, CheckError> {
        if !SequenceSession::is_sequence(path) {
            return Ok(None);
        }
        let text = input::read_text(path, input::MAX_CASE_BYTES)
            .map_err(|source| CheckError::Unreadable { path: path.to_owned(), source })?;
        let sequence = match path.extension().and_then(|ending| ending.to_str()) {
            Some("toml") => sequence_file::parse(path, &text, compile)?,
            _ => amber::parse(path, &text, compile)?,
        };
        Ok(Some(SequenceSession::new(sequence, options)))
    }

    /// Returns a session without diagnosis.
    pub fn new(sequence: Sequence, options: Options) -> SequenceSession {
        SequenceSession { sequence, options, mutation: None, diagnosis: Diagnosis::default() }
    }

    /// Returns the session in a form that [`SequenceSession::from_request`] takes.
    pub fn request(&self) -> SequenceRequest {
        let Sequence { name, shaders, memories, steps, robustness, notes, .. } = &self.sequence;
        SequenceRequest {
            name: name.clone(),
            shaders: shaders.iter().map(ShaderSource::compiled).collect(),
            memories: memories.clone(),
            steps: steps.clone(),
            robustness: *robustness,
            notes: notes.clone(),
            options: self.options.clone(),
            mutation: self.mutation.clone(),
            diagnosis: self.diagnosis,
        }
    }

    /// Returns the session of a request.
    ///
    /// # Errors
    /// As [`ShaderSource::from_compiled`].
    pub fn from_request(request: SequenceRequest) -> Result<SequenceSession, CheckError> {
        let SequenceRequest { name, shaders, memories, steps, robustness, notes, options, mutation, diagnosis } =
            request;
        let shaders = shaders.into_iter().map(ShaderSource::from_compiled).collect::<Result<_, _>>()?;
        let sequence = Sequence { name, why: None, shaders, memories, steps, robustness, notes };
        Ok(SequenceSession { sequence, options, mutation, diagnosis })
    }

    /// Checks that every dispatch fits its shader and that the planted error applies to one,
    /// without a device.
    ///
    /// # Errors
    /// The first mistake, with its line.
    pub fn must_be_valid(&self) -> Result<(), CheckError> {
        let contents: Vec<&[u8]> = self.sequence.memories.iter().map(|memory| memory.bytes.as_slice()).collect();
        let mut lines = BTreeSet::new();
        for step in &self.sequence.steps {
            // Repeated steps are the same.
            if let (Action::Dispatch(dispatch), true) = (&step.action, lines.insert((step.line, step.text.as_str()))) {
                let options = self.prepare(step, dispatch, &contents, None)?.options;
                let check = Check::new(&self.sequence.shaders[dispatch.shader], &options);
                check.map_err(|error| self.sequence.error(step.line, format!("{}: {error}", step.text)))?;
            }
        }
        self.planted().map(drop)
    }

    /// Runs the sequence on a target, and diagnoses a failure. `preliminary` receives a failure
    /// before the diagnosis, which may crash the driver or take long.
    ///
    /// # Errors
    /// Mistakes in the input, also undefined behaviour of a step, and files that cannot be written.
    pub fn run(
        &self,
        target: &dyn Target,
        output: SessionOutput<'_>,
        preliminary: &dyn Fn(&CheckResult),
    ) -> Result<CheckResult, CheckError> {
        SequenceRun::new(self, target, output, preliminary).run()
    }

    /// Completes the result that a process or a target reported: removes the bundle of an earlier
    /// check, and notes the planted error.
    ///
    /// # Errors
    /// Files cannot be removed.
    pub fn conclude(&self, result: &mut CheckResult, output: SessionOutput<'_>) -> Result<(), CheckError> {
        if let Some(mutation) = &self.mutation {
            result.notes.push(format!(
                "planted {mutation} in the module that the device receives; this is not a fault of the device"
            ));
            result.reason = result.reason.take().map(|reason| format!("{reason}, with {mutation} planted"));
        }
        match output.folder.filter(|_| result.mismatches.is_empty()) {
            Some(folder) => remove_bundles(folder),
            None => Ok(()),
        }
    }

    /// Returns the result of a sequence that a target could not finish.
    pub fn not_run(&self, status: Status, reason: String) -> CheckResult {
        CheckResult {
            rounds: self.sequence.dispatches() as u32,
            notes: self.sequence.notes.clone(),
            ..CheckResult::not_run(self.sequence.name.clone(), status, reason, self.options.seed)
        }
    }
}
